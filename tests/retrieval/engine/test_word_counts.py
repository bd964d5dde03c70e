"""Counts of words against dictionaries, and the folder that keeps them."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyrank.errors import InputError
from steadyrank_lab.retrieval.engine.tokens import split_words
from steadyrank_lab.retrieval.engine.word_counts import count_words

TEXT = st.text(st.sampled_from("abAB \n.éθ0" + "\U0001d4d0"), max_size=30)


def as_dictionaries(counts):
    """The counts as {document: {word: count}}; checks the order on the way."""
    out = {}
    for i, name in enumerate(counts.documents):
        row = counts.matrix[i]
        assert (np.diff(row.indices) > 0).all()
        names = [counts.words[w] for w in row.indices]
        out[name] = dict(zip(names, row.data.tolist(), strict=True))
    return out


def check(collection):
    expected = {name: dict(Counter(split_words(text))) for name, text in collection.items()}
    if not any(expected.values()):
        with pytest.raises(InputError, match="the collection holds no words"):
            count_words(collection)
        return
    counts = count_words(collection)
    assert as_dictionaries(counts) == expected
    assert list(counts.words) == sorted({word for words in expected.values() for word in words})
    for name, text, start, end in zip(
        counts.documents, collection.values(), counts.ends, counts.ends[1:], strict=False
    ):
        assert [counts.words[w] for w in counts.text[start:end]] == split_words(text), name


@settings(deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=12))
def test_counts_as_dictionaries_have_them(texts):
    check({f"d{i}": text for i, text in enumerate(texts)})


def test_many_words():
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(1, 90))) for _ in range(3000)]
    check({f"d{i}": " ".join(rng.choices(words, k=rng.randint(0, 60))) for i in range(300)})


def test_the_same_matrix_by_words_and_where_each_word_is():
    counts = count_words({"d1": "b a b", "d2": "", "d3": "c b"})
    assert counts.by_word.toarray().tolist() == counts.matrix.toarray().T.tolist()
    assert counts.by_word is counts.by_word
    starts, tokens = counts.tokens
    assert [tokens[a:b].tolist() for a, b in zip(starts, starts[1:], strict=False)] == [
        [1],
        [0, 2, 4],
        [3],
    ]
