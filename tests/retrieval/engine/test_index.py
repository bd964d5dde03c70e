"""Counts of words and indexes against dictionaries built word by word."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyrank.errors import InputError, UnknownNameError
from steadyrank_lab.retrieval.engine.index import build_index
from steadyrank_lab.retrieval.engine.lexical import UNITS, lexical_units, map_units, stem_words
from steadyrank_lab.retrieval.engine.tokens import split_words, stop_words
from steadyrank_lab.retrieval.engine.word_counts import count_words

# Words that share stems and n-grams, repeat n-grams, and stop words.
_TEXT = """
    the of and bank banks banked banking banana bananas anan nationally nation nations national
    running runs run is a i élan élans größe aaaaaaa aaaaaaaaaaaa river rivers 1990s
"""
VOCABULARY = _TEXT.split()
texts = st.lists(st.sampled_from(VOCABULARY), max_size=15).map(" ".join)


def by_hand(text, stop_list, unit):
    """The units of a text, straight from the definition."""
    words = [word for word in split_words(text) if word not in stop_words(stop_list)]
    if not unit.endswith("grams"):
        return stem_words(words, unit)
    n = int(unit.removesuffix("grams"))
    grams = ([w[i : i + n] for i in range(len(w) - n + 1)] if len(w) > n else [w] for w in words)
    return [gram for group in grams for gram in group]


def check(collection, topics, stop_list, unit):
    index = build_index(
        count_words(collection), topics, stop_list=stop_list, unit=unit, positions=True
    )
    documents = {name: Counter(by_hand(text, stop_list, unit)) for name, text in collection.items()}
    queries = {name: Counter(by_hand(text, stop_list, unit)) for name, text in topics.items()}
    everywhere = set().union(*documents.values())
    used = sorted(everywhere & set().union(*queries.values()))

    assert index.documents == tuple(collection)
    assert index.topics == tuple(topics)
    assert index.units == tuple(used)
    assert index.lengths.tolist() == [sum(units.values()) for units in documents.values()]
    assert index.tokens == sum(index.lengths)
    postings = [
        [(i, units[unit]) for i, units in enumerate(documents.values()) if unit in units]
        for unit in used
    ]
    assert np.diff(index.starts).tolist() == index.df.tolist() == [len(p) for p in postings]
    assert index.document.tolist() == [i for p in postings for i, _ in p]
    assert index.count.tolist() == [tf for p in postings for _, tf in p]
    assert index.cf.tolist() == [sum(tf for _, tf in p) for p in postings]
    for q, units in enumerate(queries.values()):
        known = {used.index(unit): qtf for unit, qtf in units.items() if unit in everywhere}
        assert list(index.query(q).items()) == sorted(known.items())
    in_order = [
        [used.index(unit) if unit in everywhere else -1 for unit in by_hand(text, stop_list, unit)]
        for text in topics.values()
    ]
    assert [query.tolist() for query in index.queries] == in_order
    placed = [by_hand(text, stop_list, unit) for text in collection.values()]
    assert index.positions.tolist() == [
        place
        for unit in used
        for units in placed
        for place, other in enumerate(units)
        if other == unit
    ]


@pytest.mark.parametrize("unit", UNITS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_indexes_as_dictionaries_have_them(unit, data):
    documents = data.draw(st.lists(texts, min_size=1, max_size=8))
    topics = data.draw(st.lists(texts, min_size=1, max_size=4))
    stop_list = data.draw(st.sampled_from(["none", "lucene", "smart"]))
    collection = {f"d{i}": text for i, text in enumerate([*documents, "a word"])}
    check(collection, {f"t{i}": text for i, text in enumerate(topics)}, stop_list, unit)


def test_many_documents():
    rng = np.random.default_rng(3)
    collection = {f"d{i}": " ".join(rng.choice(VOCABULARY, 12)) for i in range(300)}
    for unit in ("none", "porter", "4grams"):
        check(collection, {"1": "banks of the river", "2": "national élan"}, "lucene", unit)


def test_a_topic_of_stop_words_or_unknown_words_is_empty():
    counts = count_words({"d1": "river bank", "d2": ""})
    index = build_index(counts, {"1": "the", "2": "bank", "3": "money"}, stop_list="lucene")
    assert [query.tolist() for query in index.queries] == [[], [0], [-1]]
    assert index.units == ("bank",)
    assert repr(index) == "<Index: 2 documents, 3 topics, 1 units, 1 postings>"


def test_a_collection_of_stop_words_alone():
    index = build_index(count_words({"d1": "the of"}), {"1": "the river"}, stop_list="lucene")
    assert (index.units, index.tokens, index.lengths.tolist()) == ((), 0.0, [0.0])
    assert index.starts.tolist() == [0]
    assert [query.tolist() for query in index.queries] == [[-1]]
    assert len(index.document) == len(index.df) == len(index.cf) == 0


def test_a_stop_list_of_ones_own(write):
    path = write("stop.txt", "river\n")
    check({"d1": "river bank", "d2": "river"}, {"1": "the river bank"}, str(path), "none")


def test_ngrams_within_words():
    assert lexical_units(["banana", "ana", "a", "größen"], "4grams") == [
        ["bana", "anan", "nana"],
        ["ana"],
        ["a"],
        ["größ", "röße", "ößen"],
    ]
    found = map_units(("aaaaaa", "baaaa"), frozenset(["aaaa"]), "4grams")
    assert found.units == ("aaaa",)
    assert found.word.tolist() == [0, 0, 0, 1]
    assert found.offset.tolist() == [0, 1, 2, 1]
    assert found.total.tolist() == [3, 2]


def test_mistakes():
    counts = count_words({"d1": "river bank"})
    with pytest.raises(UnknownNameError, match="unknown lexical unit '11grams'"):
        build_index(counts, {"1": "river"}, unit="11grams")
    with pytest.raises(UnknownNameError, match="unknown stop list 'smarts'"):
        build_index(counts, {"1": "river"}, stop_list="smarts")
    with pytest.raises(InputError, match="there are no topics"):
        build_index(counts, {})
    with pytest.raises(InputError, match="topic '1': expected its text, got None"):
        build_index(counts, {"1": None})


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


def check_counts(collection):
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
    check_counts({f"d{i}": text for i, text in enumerate(texts)})


def test_many_words():
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(1, 90))) for _ in range(3000)]
    check_counts({f"d{i}": " ".join(rng.choices(words, k=rng.randint(0, 60))) for i in range(300)})


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
