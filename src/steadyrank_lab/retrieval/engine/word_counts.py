"""How often each word occurs in each document: the one matrix that every index comes from.

A collection is read and cut into words once, whatever the number of stop lists, stemmers and
models that follow; the counts can be kept in a folder.

Words met so far stand end to end in one array of bytes, and a hash table finds them. Each knows its
last pair (word, count): if that is one of this document's, the count rises, else there is a new
pair. Transposing the matrix twice sorts the words of each document.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.compute.kernels import WORD, bytes_up_to, inlined, kernel, load_byte, trailing_zeros
from steadyrank.compute.stores import Arrays, open_store
from steadyrank.data.ids import PADDING, copy_id, same_bytes
from steadyrank.data.read.sources import CHUNK
from steadyrank.errors import InputError
from steadyrank.words import counted
from steadyrank_lab.retrieval.engine.collections import (
    Document,
    Source,
    collection_digest,
    read_collection,
)
from steadyrank_lab.retrieval.engine.tokens import plain_words

_BLOCK = "counts"
_WORDS_ARE = 1  # to be raised whenever `tokens` cuts text otherwise


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WordCounts:
    """Documents x words, by rows: the words of document i are entries starts[i]:starts[i + 1].

    `words` are sorted; `word` ascends within a document.
    """

    documents: tuple[str, ...]
    words: tuple[str, ...]
    starts: np.ndarray
    word: np.ndarray
    count: np.ndarray

    def __repr__(self) -> str:
        sizes = counted(len(self.documents), "document"), counted(len(self.words), "word")
        return f"<WordCounts: {', '.join(sizes)}>"


def count_words(
    source: Source, *, cache: str | os.PathLike[str] | None = None, progress: Progress | None = None
) -> WordCounts:
    """Count the words of a collection (see `read_collection` for what `source` can be).

    With `cache`, a folder, the counts are kept there and read back the next time; a folder that
    holds the counts of another collection is refused, and so is a file that has changed.

    >>> counts = count_words({"d1": "a rose is a rose", "d2": "no thorns"})
    >>> counts
    <WordCounts: 2 documents, 5 words>
    >>> {counts.words[w]: int(c) for w, c in zip(counts.word[:3], counts.count[:3])}
    {'a': 2, 'is': 1, 'rose': 2}
    """
    if not isinstance(source, (str, os.PathLike, Mapping)):
        source = list(source)
    if cache is None:
        return _count(read_collection(source, progress=progress))
    settings = {"holds": "word counts", "words": _WORDS_ARE, "digest": collection_digest(source)}
    store = open_store(cache, settings)
    kept = store.load(_BLOCK)
    if kept is not None:
        return _unpacked(kept)
    counts = _count(read_collection(source, progress=progress))
    store.save(_BLOCK, _packed(counts))
    return counts


@functools.lru_cache(maxsize=1)
def words_first(counts: WordCounts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same matrix by words: (starts, document, count), documents ascending; kept for one
    collection, since every index of it begins here.
    """
    return _transposed(counts.starts, counts.word, counts.count, len(counts.words))


def _count(documents: Iterable[Document]) -> WordCounts:
    names: list[str] = []
    words = _Words()
    ends = [np.zeros(1, np.int64)]
    pairs = [np.empty((2, 0), np.int32)]
    for data in _batches(documents, names):
        new_ends, new_pairs = words.count(data)
        ends.append(new_ends)
        pairs.append(new_pairs)
    if words.n_pairs == 0:
        raise InputError("the collection holds no words: every document is empty")
    word, count = np.concatenate(pairs, axis=1)
    return _sorted(tuple(names), words.texts(), np.concatenate(ends), word, count)


def _batches(documents: Iterable[Document], names: list[str]) -> Iterator[bytes]:
    """Plain words of about CHUNK bytes a time, each document closed; their ids into `names`."""
    batch: list[bytes] = []
    size = 0
    for name, text in documents:
        plain = plain_words(text)
        names.append(name)
        batch.append(plain)
        size += len(plain) + 1
        if size >= CHUNK:
            yield b"\n".join([*batch, b""])
            batch, size = [], 0
    if batch:
        yield b"\n".join([*batch, b""])


class _Words:
    """The words met so far, and the table that finds them."""

    def __init__(self) -> None:
        self.arena = np.empty(CHUNK, np.uint8)
        self.offsets = np.zeros(1, np.int64)
        self.hashes = np.empty(0, np.uint64)
        self.pair_of = np.empty(0, np.int64)
        self.slots = np.empty(0, np.int32)
        self.state = np.zeros(2, np.int64)

    @property
    def n_pairs(self) -> int:
        return int(self.state[PAIRS])

    def count(self, data: bytes) -> tuple[np.ndarray, np.ndarray]:
        """The pairs of a batch (words above, counts below), and each document's last of them."""
        most = len(data) // 2 + 1  # a word is followed by a blank, or by the document's end
        self._make_room(most, len(data))
        before = self.n_pairs
        ends = np.empty(data.count(b"\n"), np.int64)
        pairs = np.empty((2, most), np.int32)
        padded = np.frombuffer(data + bytes(PADDING), np.uint8)
        count_batch(
            padded,
            len(data),
            self.arena,
            self.offsets,
            self.hashes,
            self.slots,
            self.pair_of,
            pairs[0],
            pairs[1],
            ends,
            self.state,
        )
        return ends, pairs[:, : self.n_pairs - before].copy()

    def texts(self) -> list[str]:
        """All words, in the order in which they were met."""
        bounds = self.offsets[: int(self.state[WORDS]) + 1].tolist()
        raw = self.arena[: bounds[-1]].tobytes()
        return [raw[a:b].decode() for a, b in zip(bounds, bounds[1:], strict=False)]

    def _make_room(self, n_words: int, n_bytes: int) -> None:
        known = int(self.state[WORDS])
        self.arena = _grown(self.arena, int(self.offsets[known]) + n_bytes + PADDING)
        self.offsets = _grown(self.offsets, known + n_words + 1)
        self.hashes = _grown(self.hashes, known + n_words)
        self.pair_of = _grown(self.pair_of, known + n_words)
        if len(self.slots) < 2 * (known + n_words):
            size = 1 << (4 * (known + n_words)).bit_length()
            self.slots = np.full(size, -1, np.int32)
            fill_slots(self.hashes, known, self.slots)


def _grown(array: np.ndarray, size: int) -> np.ndarray:
    """The array, or its content in one that is at least twice as long."""
    if size <= len(array):
        return array
    larger = np.empty(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


def _sorted(
    documents: tuple[str, ...],
    words: list[str],
    starts: np.ndarray,
    word: np.ndarray,
    count: np.ndarray,
) -> WordCounts:
    """The counts with words in alphabetical order, ascending in each document."""
    order = sorted(range(len(words)), key=words.__getitem__)
    rank = np.empty(len(words), np.int32)
    rank[order] = np.arange(len(words), dtype=np.int32)
    by_word = _transposed(starts, rank[word], count, len(words))
    starts, word, count = _transposed(*by_word, len(documents))
    return WordCounts(
        documents=documents,
        words=tuple(words[i] for i in order),
        starts=starts,
        word=word,
        count=count,
    )


def _transposed(
    starts: np.ndarray, column: np.ndarray, count: np.ndarray, n_columns: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    column_starts = np.zeros(n_columns + 1, np.int64)
    rows, counts = np.empty(len(column), np.int32), np.empty(len(column), np.int32)
    transpose(starts, column, np.ascontiguousarray(count), column_starts, rows, counts)
    return column_starts, rows, counts


_NAMES, _COLUMNS = ("documents", "words"), ("starts", "word", "count")


def _packed(counts: WordCounts) -> Arrays:
    """Names, none of which holds a line end, as bytes."""
    joined = ("\n".join(getattr(counts, key)).encode("utf-8", "surrogatepass") for key in _NAMES)
    names = {key: np.frombuffer(raw, np.uint8) for key, raw in zip(_NAMES, joined, strict=True)}
    return names | {key: getattr(counts, key) for key in _COLUMNS}


def _unpacked(arrays: Arrays) -> WordCounts:
    joined = (arrays[key].tobytes().decode("utf-8", "surrogatepass") for key in _NAMES)
    documents, words = (tuple(names.split("\n")) for names in joined)
    return WordCounts(documents=documents, words=words, **{key: arrays[key] for key in _COLUMNS})


BLANK, END_OF_DOCUMENT = 32, 10

WORDS, PAIRS = range(2)
"""Where the counters, over all batches, stand in a kernel's `state`."""


@inlined
def _word_end(data, position):
    while True:
        separators = bytes_up_to(data, position, BLANK)
        if separators != WORD(0):
            return position + np.int64(trailing_zeros(separators))
        position += 64


@inlined
def _slot_of(slots, hashes, offsets, arena, hashed, start, end):
    """The slot that holds the word arena[start:end], or the free one where it belongs."""
    mask = len(slots) - 1
    slot = np.int64(hashed & WORD(mask))
    while True:
        word = slots[slot]
        if word < 0:
            return slot
        if hashes[word] == hashed and same_bytes(
            arena, start, end, arena, offsets[word], offsets[word + 1]
        ):
            return slot
        slot = (slot + 1) & mask


@kernel
def count_batch(
    data, end, arena, offsets, hashes, slots, pair_of, pair_word, pair_count, pair_ends, state
):
    """Count the words of the documents in data[:end], each closed by END_OF_DOCUMENT.

    Words stand end to end in `arena`, word w from offsets[w] to offsets[w + 1]. Pairs (word,
    count) are numbered over all batches: `pair_of[w]` is the last one of word w, `pair_ends`
    receives the number behind the last one of each document. The arrays must have room for as
    many words and pairs as `data` can hold, and `slots` (a power of two) for twice the words.
    """
    n_words, n_pairs = state[WORDS], state[PAIRS]
    base = first = n_pairs
    document = 0
    position = 0
    while position < end:
        byte = load_byte(data, position)
        if byte == END_OF_DOCUMENT:
            pair_ends[document] = n_pairs
            document += 1
            first = n_pairs
            position += 1
        elif byte == BLANK:
            position += 1
        else:
            start = position
            position = _word_end(data, position)
            # The word is copied behind the known ones, where it stays only if it is new.
            target = offsets[n_words]
            stop = target + position - start
            hashed = copy_id(data, start, position, arena, target)
            slot = _slot_of(slots, hashes, offsets, arena, hashed, target, stop)
            word = np.int64(slots[slot])
            if word < 0:
                word = n_words
                slots[slot] = word
                hashes[word] = hashed
                offsets[word + 1] = stop
                pair_of[word] = -1
                n_words += 1
            pair = pair_of[word]
            if pair < first:  # of an earlier document, or none
                pair = n_pairs
                pair_of[word] = pair
                pair_word[pair - base] = word
                pair_count[pair - base] = 0
                n_pairs += 1
            pair_count[pair - base] += 1
    state[WORDS], state[PAIRS] = n_words, n_pairs


@kernel
def fill_slots(hashes, n_words, slots):
    """Place words, all different, into empty slots."""
    mask = len(slots) - 1
    for word in range(n_words):
        slot = np.int64(hashes[word] & WORD(mask))
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word


@kernel
def transpose(starts, column, count, column_starts, rows, counts):
    """The same matrix by columns; `column_starts` (one longer than columns) starts as zeros.

    Rows come out ascending within a column, so that transposing twice sorts each row.
    """
    n_columns = len(column_starts) - 1
    for pair in range(len(column)):
        column_starts[column[pair] + 1] += 1
    for j in range(n_columns):
        column_starts[j + 1] += column_starts[j]
    for i in range(len(starts) - 1):
        for pair in range(starts[i], starts[i + 1]):
            place = column_starts[column[pair]]
            column_starts[column[pair]] += 1
            rows[place] = i
            counts[place] = count[pair]
    for j in range(n_columns, 0, -1):
        column_starts[j] = column_starts[j - 1]
    column_starts[0] = 0
