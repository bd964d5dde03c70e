"""What a ranking needs to know: where the topics' units occur, and how long documents are.

The index of a stop list and a lexical unit is the product X U of the word counts X with the map U
from words to units, in which stopped words have no units; lengths are X (U 1). Only the columns
that topics use are formed. Positions count the units of a document that remain, from 0 on.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from steadyrank.errors import InputError
from steadyrank_lab.retrieval.engine.lexical import UnitMap, map_units
from steadyrank_lab.retrieval.engine.tokens import split_words, stop_words
from steadyrank_lab.retrieval.engine.word_counts import WordCounts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Index:
    """The postings of the units that topics use, for one stop list and one lexical unit.

    The postings of unit u are entries starts[u]:starts[u + 1] of `document` (ascending) and
    `count` (tf). Every unit has at least one posting. `lengths` and `tokens` count all units, those
    that no topic uses included.
    """

    documents: tuple[str, ...]
    lengths: np.ndarray
    tokens: float
    units: tuple[str, ...]
    starts: np.ndarray
    document: np.ndarray
    count: np.ndarray
    df: np.ndarray
    cf: np.ndarray
    topics: tuple[str, ...]
    queries: tuple[np.ndarray, ...]
    """The units of each topic in its order, -1 for a unit that occurs in no document."""
    positions: np.ndarray | None = None
    """Positions in their document of all occurrences, in the order of the postings, if wanted."""

    def __repr__(self) -> str:
        return (
            f"<Index: {len(self.documents)} documents, {len(self.topics)} topics, "
            f"{len(self.units)} units, {len(self.document)} postings>"
        )

    def query(self, topic: int) -> dict[int, int]:
        """Return the units of a topic that occur, ascending, and how often the topic has each."""
        return dict(sorted(Counter(self.queries[topic][self.queries[topic] >= 0].tolist()).items()))


def stretches(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return starts[0], starts[0] + 1, …, sizes[0] numbers; then those from starts[1] on; ….

    >>> stretches(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    return np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())


def build_index(
    counts: WordCounts,
    topics: Mapping[str, str],
    *,
    stop_list: str = "none",
    unit: str = "none",
    positions: bool = False,
) -> Index:
    """Return the index of a collection for some topics, {id: text}.

    `stop_list` is one of STOP_LISTS or a file, `unit` one of UNITS. Topics' words are stopped and
    brought to units like documents' words. Models of term dependence require `positions`.

    >>> from steadyrank_lab.retrieval.engine.word_counts import count_words
    >>> counts = count_words({"d1": "the river banks", "d2": "a bank, the bank"})
    >>> index = build_index(counts, {"1": "The banks"}, stop_list="lucene", unit="porter")
    >>> index.units, index.document.tolist(), index.count.tolist(), index.lengths.tolist()
    (('bank',), [0, 1], [1, 2], [2.0, 2.0])
    """
    stopped = stop_words(stop_list)
    split = _split_topics(topics)
    used = map_units(counts.words, frozenset(word for words in split for word in words), unit)
    queries = [
        [unit for word in words if word not in stopped for unit in used.of_topics[word]]
        for words in split
    ]
    weight = np.where([word in stopped for word in counts.words], 0, used.total)
    asked = np.zeros(len(used.units), np.bool_)
    asked[[unit for query in queries for unit in query]] = True
    kept = asked[used.unit] & (weight[used.word] > 0)
    used = replace(used, unit=used.unit[kept], word=used.word[kept], offset=used.offset[kept])
    shape = len(used.units), len(counts.words)
    units = sparse.csr_matrix((np.ones_like(used.unit), (used.unit, used.word)), shape=shape)
    postings = units @ counts.by_word
    postings.sort_indices()
    lengths = (counts.matrix @ weight).astype(np.float64)
    df = np.diff(postings.indptr)
    present = np.flatnonzero(df)
    place = np.full(len(df) + 1, -1, np.int64)
    place[present] = np.arange(len(present))
    return Index(
        documents=counts.documents,
        lengths=lengths,
        tokens=float(lengths.sum()),
        units=tuple(used.units[u] for u in present),
        starts=np.append(postings.indptr[present], postings.nnz).astype(np.int64),
        document=postings.indices,
        count=postings.data,
        df=df[present].astype(np.float64),
        cf=np.asarray(postings.sum(axis=1), np.float64).ravel()[present],
        topics=tuple(topics),
        queries=tuple(place[np.array(query, np.int64)] for query in queries),
        positions=_positions(counts, used, weight) if positions else None,
    )


def _split_topics(topics: Mapping[str, str]) -> list[tuple[str, ...]]:
    if not topics:
        raise InputError("there are no topics: an index holds only what topics use")
    for name, text in topics.items():
        if not isinstance(text, str):
            raise InputError(f"topic {name!r}: expected its text, got {text!r}")
    return [_split(text) for text in topics.values()]


@functools.lru_cache(maxsize=4096)
def _split(text: str) -> tuple[str, ...]:
    return tuple(split_words(text))


def _positions(counts: WordCounts, used: UnitMap, weight: np.ndarray) -> np.ndarray:
    """Return the positions of units in documents, by unit, document and position.

    `weight` is the number of units of each word, 0 where it is stopped.
    """
    through = np.concatenate([[0], np.cumsum(weight[counts.text])])
    lengths = np.diff(counts.ends)
    before = through[:-1] - np.repeat(through[counts.ends[:-1]], lengths)
    starts, by_word = counts.tokens
    sizes = starts[used.word + 1] - starts[used.word]
    token = by_word[stretches(starts[used.word], sizes)]
    position = before[token] + np.repeat(used.offset, sizes)
    # Tokens are in the order of documents.
    order = np.lexsort(
        (position, np.searchsorted(counts.ends, token, "right"), np.repeat(used.unit, sizes))
    )
    return position[order]
