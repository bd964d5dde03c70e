"""What a ranking needs to know: where the topics' units occur, and how long documents are.

The index of a stop list and a lexical unit is the product X U of the word counts X with the map U
from words to units, in which stopped words have no units; lengths are X (U 1). Only the columns
that topics use are formed, so that an index costs one pass over the counts. The postings of a unit
are those of its words added up; a bit for each document says which have any, and reading the bits
in order sorts them.
"""

from __future__ import annotations

import bisect
import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from steadyrank.compute.kernels import WORD, kernel, trailing_zeros
from steadyrank.errors import InputError
from steadyrank_lab.retrieval.engine.lexical import UnitMap, map_units
from steadyrank_lab.retrieval.engine.tokens import split_words, stop_words
from steadyrank_lab.retrieval.engine.word_counts import WordCounts, words_first


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Index:
    """The postings of the units that topics use, for one stop list and one lexical unit.

    The postings of unit u are entries starts[u]:starts[u + 1] of `document` (ascending) and
    `count` (tf); the units of topic q are entries query_starts[q]:query_starts[q + 1] of
    `query_unit` (ascending) and `query_count` (qtf). Every unit has at least one posting; a
    topic none of whose units occur in the collection has an empty stretch. `lengths` and `tokens`
    count all units, those that no topic uses included.
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
    query_starts: np.ndarray
    query_unit: np.ndarray
    query_count: np.ndarray

    def __repr__(self) -> str:
        return (
            f"<Index: {len(self.documents)} documents, {len(self.topics)} topics, "
            f"{len(self.units)} units, {len(self.document)} postings>"
        )


def build_index(
    counts: WordCounts, topics: Mapping[str, str], *, stop_list: str = "none", unit: str = "none"
) -> Index:
    """The index of a collection for some topics, {id: text}.

    `stop_list` is one of STOP_LISTS or a file, `unit` one of UNITS. Topics' words are stopped and
    brought to units like documents' words.

    >>> from steadyrank_lab.retrieval.engine.word_counts import count_words
    >>> counts = count_words({"d1": "the river banks", "d2": "a bank, the bank"})
    >>> index = build_index(counts, {"1": "The banks"}, stop_list="lucene", unit="porter")
    >>> index.units, index.document.tolist(), index.count.tolist(), index.lengths.tolist()
    (('bank',), [0, 1], [1, 2], [2.0, 2.0])
    """
    stopped = stop_words(stop_list)
    queries = _split_topics(topics)
    used = map_units(counts.words, frozenset(word for query in queries for word in query), unit)
    asked = [_units_of_query(query, stopped, used) for query in queries]
    is_stopped = _is_stopped(counts.words, stopped)
    lengths = np.empty(len(counts.documents))
    weight = np.where(is_stopped, 0, used.total).astype(np.int32)
    weighted_lengths(counts.starts, counts.word, counts.count, weight, lengths)
    starts, document, count = _postings(counts, used, is_stopped, _is_asked(asked, used))
    df = np.diff(starts)
    present = np.flatnonzero(df)
    place = np.full(len(df), -1, np.int64)
    place[present] = np.arange(len(present))
    query_starts, query_unit, query_count = _queries(asked, place)
    total = np.concatenate([[0.0], np.cumsum(count, dtype=np.float64)])  # exact below 2^53
    return Index(
        documents=counts.documents,
        lengths=lengths,
        tokens=float(lengths.sum()),
        units=tuple(used.units[u] for u in present),
        starts=np.append(starts[present], starts[-1]),
        document=document,
        count=count,
        df=df[present].astype(np.float64),
        cf=np.diff(total[starts])[present],
        topics=tuple(topics),
        query_starts=query_starts,
        query_unit=query_unit,
        query_count=query_count,
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


def _units_of_query(
    query: tuple[str, ...], stopped: frozenset[str], used: UnitMap
) -> list[tuple[int, int]]:
    """The units of a topic and how often it has them, in ascending order."""
    kept = (word for word in query if word not in stopped)
    return sorted(Counter(unit for word in kept for unit in used.of_topics[word]).items())


def _is_stopped(words: tuple[str, ...], stopped: frozenset[str]) -> np.ndarray:
    mask = np.zeros(len(words), np.bool_)
    for word in stopped:
        place = bisect.bisect_left(words, word)
        if place < len(words) and words[place] == word:
            mask[place] = True
    return mask


def _is_asked(asked: list[list[tuple[int, int]]], used: UnitMap) -> np.ndarray:
    mask = np.zeros(len(used.units), np.bool_)
    mask[[unit for query in asked for unit, _ in query]] = True
    return mask


def _postings(
    counts: WordCounts, used: UnitMap, is_stopped: np.ndarray, is_asked: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    kept = is_asked[used.unit] & ~is_stopped[used.word]
    unit, word, times = used.unit[kept], used.word[kept], used.times[kept]
    word_starts, by_word, word_count = words_first(counts)
    most = int((word_starts[word + 1] - word_starts[word]).sum())
    starts = np.zeros(len(used.units) + 1, np.int64)
    document, count = np.empty(most, np.int32), np.empty(most, np.int32)
    n_documents = len(counts.documents)
    merge_postings(
        word_starts,
        by_word,
        word_count,
        np.searchsorted(unit, np.arange(len(starts))),
        word,
        times,
        np.zeros(n_documents, np.int32),
        np.zeros(n_documents // 64 + 1, np.uint64),
        starts,
        document,
        count,
    )
    return starts, document[: starts[-1]].copy(), count[: starts[-1]].copy()


def _queries(
    asked: list[list[tuple[int, int]]], place: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The topics' units, those left out that occur in no document."""
    known = [[(int(place[u]), qtf) for u, qtf in query if place[u] >= 0] for query in asked]
    starts = np.concatenate([[0], np.cumsum([len(query) for query in known])]).astype(np.int64)
    pairs = np.array([pair for query in known for pair in query], np.int32).reshape(-1, 2)
    return starts, np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


@kernel
def weighted_lengths(starts, word, count, weight, lengths):
    """Units of each document; `weight` is how many a word stands for, 0 where it is stopped."""
    for document in range(len(starts) - 1):
        length = 0
        for pair in range(starts[document], starts[document + 1]):
            length += count[pair] * weight[word[pair]]
        lengths[document] = length


@kernel
def merge_postings(
    word_starts,
    document,
    count,
    unit_starts,
    unit_word,
    times,
    sums,
    marks,
    starts,
    documents,
    counts,
):
    """The postings of each unit, from those of its words.

    Entry e says that a unit occurs times[e] times in the word unit_word[e]. `sums` (one for each
    document) and `marks` (one bit for each document) start as zeros and end so: a set bit says
    that the document has the unit, and the bits in order give the documents in order.
    """
    end = 0
    for unit in range(len(unit_starts) - 1):
        for entry in range(unit_starts[unit], unit_starts[unit + 1]):
            word = unit_word[entry]
            for posting in range(word_starts[word], word_starts[word + 1]):
                number = np.int64(document[posting])
                sums[number] += count[posting] * times[entry]
                marks[number >> 6] |= WORD(1) << WORD(number & 63)
        if unit_starts[unit] < unit_starts[unit + 1]:
            for block in range(len(marks)):
                bits = marks[block]
                marks[block] = WORD(0)
                while bits != WORD(0):
                    number = 64 * block + np.int64(trailing_zeros(bits))
                    bits &= bits - WORD(1)  # without its lowest one
                    documents[end] = number
                    counts[end] = sums[number]
                    sums[number] = 0
                    end += 1
        starts[unit + 1] = end
