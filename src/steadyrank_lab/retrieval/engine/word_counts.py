"""How often each word occurs in each document: the one matrix that every index comes from.

A collection is read and cut into words once, whatever the number of stop lists, stemmers and
models that follow.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from steadyrank.errors import InputError
from steadyrank.words import counted
from steadyrank_lab.retrieval.engine.collections import Source, read_collection
from steadyrank_lab.retrieval.engine.tokens import plain_words


@dataclass(frozen=True, kw_only=True, eq=False)
class WordCounts:
    """The words of a collection, in order and counted.

    Document i is the words `text[ends[i]:ends[i + 1]]`, numbers of the sorted `words`.
    """

    documents: tuple[str, ...]
    words: tuple[str, ...]
    ends: np.ndarray
    text: np.ndarray

    @cached_property
    def matrix(self) -> sparse.csr_matrix:
        """Occurrences, [document, word]; words ascend within a document."""
        data = np.ones(len(self.text), np.int32), self.text.copy(), self.ends.copy()
        matrix = sparse.csr_matrix(data, shape=(len(self.documents), len(self.words)))
        matrix.sum_duplicates()
        return matrix

    @cached_property
    def by_word(self) -> sparse.csr_matrix:
        """Occurrences, [word, document]; documents ascend within a word."""
        return self.matrix.T.tocsr()

    @cached_property
    def tokens(self) -> tuple[np.ndarray, np.ndarray]:
        """Places in `text` by word: those of word w are entries starts[w]:starts[w + 1]."""
        sizes = np.bincount(self.text, minlength=len(self.words))
        return np.concatenate([[0], np.cumsum(sizes)]), np.argsort(self.text, kind="stable")

    def __repr__(self) -> str:
        sizes = counted(len(self.documents), "document"), counted(len(self.words), "word")
        return f"<WordCounts: {', '.join(sizes)}>"


def count_words(source: Source) -> WordCounts:
    """Count the words of a collection (see `read_collection` for what `source` can be).

    >>> counts = count_words({"d1": "a rose is a rose", "d2": "no thorns"})
    >>> counts
    <WordCounts: 2 documents, 5 words>
    >>> dict(zip(counts.words, counts.matrix.toarray()[0].tolist()))
    {'a': 2, 'is': 1, 'no': 0, 'rose': 2, 'thorns': 0}
    """
    number: defaultdict[bytes, int] = defaultdict()
    number.default_factory = number.__len__
    names: list[str] = []
    texts = [np.empty(0, np.int32)]
    for name, text in read_collection(source):
        words = plain_words(text).split()
        names.append(name)
        texts.append(np.fromiter(map(number.__getitem__, words), np.int32, len(words)))
    if not number:
        raise InputError("the collection holds no words: every document is empty")
    order = sorted(number)
    rank = np.empty(len(order), np.int32)
    rank[[number[word] for word in order]] = np.arange(len(order), dtype=np.int32)
    return WordCounts(
        documents=tuple(names),
        words=tuple(word.decode() for word in order),
        ends=np.cumsum([len(text) for text in texts], dtype=np.int64),
        text=rank[np.concatenate(texts)],
    )
