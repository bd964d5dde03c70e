"""Document ids as one column: their bytes end to end, and an integer for each.

The integer of an id is a 64-bit hash of its bytes. It is the same in every run
and every qrels file, so files can be read in parallel without a shared table;
where a result depends on two ids being equal, the bytes are compared as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, kernel, load_word, part, store_word
from steadyrank.errors import InputError

PADDING = 64
"""Spare bytes behind the last id or line: kernels read up to 64 bytes at a time."""

_MULTIPLIER = WORD(0x9E3779B97F4A7C15)
_FINISHER = WORD(0xD6E8FEB86659FD93)


@inlined
def low_bytes(word, count):
    """The first `count` bytes of a little-endian word, the rest zero."""
    if count >= 8:
        return word
    if count <= 0:
        return WORD(0)
    return word & ((WORD(1) << WORD(8 * count)) - WORD(1))


@inlined
def first_bytes(data, start, length):
    """The first eight of `length` bytes as a word, zeros behind them."""
    return low_bytes(load_word(data, start), length)


@inlined
def _mix(state, word):
    state = (state ^ word) * _MULTIPLIER
    return state ^ (state >> WORD(32))


@inlined
def copy_id(data, start, end, out, target):
    """Copy data[start:end] to out[target:], padding included, and return its hash."""
    state = WORD(end - start)
    position = start
    while True:
        low, high = load_word(data, position), load_word(data, position + 8)
        store_word(out, target, low)
        store_word(out, target + 8, high)
        state = _mix(state, low_bytes(low, end - position))
        state = _mix(state, low_bytes(high, end - position - 8))
        position += 16
        target += 16
        if position >= end:
            return (state * _FINISHER) ^ (state >> WORD(29))


@inlined
def hash_id(data, start, end):
    """The hash that `copy_id` returns, without a copy."""
    state = WORD(end - start)
    position = start
    while True:
        low, high = load_word(data, position), load_word(data, position + 8)
        state = _mix(state, low_bytes(low, end - position))
        state = _mix(state, low_bytes(high, end - position - 8))
        position += 16
        if position >= end:
            return (state * _FINISHER) ^ (state >> WORD(29))


@kernel
def hash_ids(data, offsets):
    """One hash for each id of a column."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(hashes)):
        hashes[i] = hash_id(data, offsets[i], offsets[i + 1])
    return hashes


@inlined
def same_bytes(a, a_start, a_end, b, b_start, b_end):
    """Whether two stretches of bytes are equal."""
    if a_end - a_start != b_end - b_start:
        return False
    while a_start + 8 <= a_end:
        if load_word(a, a_start) != load_word(b, b_start):
            return False
        a_start += 8
        b_start += 8
    rest = a_end - a_start
    return low_bytes(load_word(a, a_start), rest) == low_bytes(load_word(b, b_start), rest)


@part
def bytes_above(data, a, a_end, b, b_end):
    """Whether data[a:a_end] sorts after data[b:b_end], byte by byte (as C's strcmp does)."""
    while a < a_end and b < b_end:
        if data[a] != data[b]:
            return data[a] > data[b]
        a += 1
        b += 1
    return a < a_end


@kernel
def gather(data, offsets, rows, out, out_offsets):
    """Copy the ids at `rows` end to end into `out`, and their bounds into `out_offsets`."""
    end = out_offsets[0]
    for i in range(len(rows)):
        start = offsets[rows[i]]
        length = offsets[rows[i] + 1] - start
        for k in range(0, length, 8):
            store_word(out, end + k, load_word(data, start + k))
        end += length
        out_offsets[i + 1] = end


@dataclass(frozen=True, slots=True, eq=False)
class Ids:
    """A column of ids: id i is `data[offsets[i]:offsets[i + 1]]`, its integer `hashes[i]`."""

    data: np.ndarray
    offsets: np.ndarray
    hashes: np.ndarray

    def __len__(self) -> int:
        return len(self.hashes)

    def __getitem__(self, row: int) -> str:
        return self.raw(row).decode("utf-8", "surrogateescape")

    def raw(self, row: int) -> bytes:
        """The bytes of one id."""
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()

    def to_list(self, start: int = 0, stop: int | None = None) -> list[str]:
        """The ids from row `start` to `stop`, decoded."""
        stop = len(self) if stop is None else stop
        return [self[row] for row in range(start, stop)]

    def take(self, rows: np.ndarray) -> Ids:
        """The ids at `rows`, in that order."""
        size = int((self.offsets[rows + 1] - self.offsets[rows]).sum())
        offsets = np.zeros(len(rows) + 1, np.int64)
        data = np.zeros(size + PADDING, np.uint8)
        gather(self.data, self.offsets, rows, data, offsets)
        return Ids(data, offsets, self.hashes[rows])


def make_ids(values: Iterable[str | bytes]) -> Ids:
    """A column from Python strings."""
    raw: list[Any] = list(values)
    try:
        joined = "".join(raw).encode("ascii")  # a letter is a byte: much faster than one by one
    except (TypeError, UnicodeEncodeError):
        raw = [_encoded(value) for value in raw]
        joined = b"".join(raw)
    offsets = np.zeros(len(raw) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw)), out=offsets[1:])
    data = np.frombuffer(bytearray(joined + bytes(PADDING)), np.uint8)
    return ids_from_buffer(data, offsets)


def join_ids(columns: Sequence[Ids]) -> Ids:
    """Columns end to end as one."""
    parts = [column.data[column.offsets[0] : column.offsets[-1]] for column in columns]
    starts = np.cumsum([0, *map(len, parts)])
    ends = [
        column.offsets[1:] - column.offsets[0] + start
        for column, start in zip(columns, starts, strict=False)
    ]
    return Ids(
        np.concatenate([*parts, np.zeros(PADDING, np.uint8)]),
        np.concatenate([np.zeros(1, np.int64), *ends]),
        np.concatenate([np.empty(0, np.uint64), *(column.hashes for column in columns)]),
    )


def _encoded(value: str | bytes) -> bytes:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise InputError(f"expected text as document id, got {value!r}")
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise InputError(f"the document id {value!r} is not valid text") from None


def ids_from_buffer(data: np.ndarray, offsets: np.ndarray) -> Ids:
    """A column over bytes that are already end to end, PADDING bytes to spare."""
    return Ids(data, offsets, hash_ids(data, offsets))
