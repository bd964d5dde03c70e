"""Loops of `density_kernels` over 64 samples, written as vectors.

Numba's own loops take as many numbers at a time as words fit into a register, although most of the
numbers here are halves.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from steadyrank.compute.random_kernels import FIRST_FACTOR, GOLDEN, SECOND_FACTOR

AT_ONCE = 16
"""Samples that fit into a processor's registers."""

_HALVES = ir.VectorType(ir.IntType(32), AT_ONCE)
_WORDS = ir.VectorType(ir.IntType(64), AT_ONCE)
_NUMBERS = ir.VectorType(ir.DoubleType(), AT_ONCE)


def splat(builder: Any, value: Any, vector: Any) -> Any:
    """A vector with `value` in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    lane = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(lane, undefined, zeros)


def _all(vector: Any, value: float) -> Any:
    return ir.Constant(vector, [value] * AT_ONCE)


class _Lanes:
    """Arrays from which 16 numbers are loaded at a time."""

    def __init__(self, target: Any, builder: Any, signature: Any, arguments: Any):
        self.builder = builder
        self._data = {
            i: target.make_array(kind)(target, builder, argument).data
            for i, (kind, argument) in enumerate(zip(signature.args, arguments, strict=True))
            if isinstance(kind, types.Array)
        }

    def _pointer(self, number: int, start: Any, vector: Any) -> Any:
        data, kind = self._data[number], vector.element
        pointer = self.builder.gep(data, [start], source_etype=kind)
        return self.builder.bitcast(pointer, vector.as_pointer())

    def load(self, number: int, start: Any, vector: Any = _HALVES) -> Any:
        return self.builder.load(self._pointer(number, start, vector), align=4, typ=vector)

    def store(self, number: int, start: Any, value: Any) -> None:
        self.builder.store(value, self._pointer(number, start, value.type), align=4)


def _place(number: int) -> Any:
    return ir.Constant(ir.IntType(64), number)


@intrinsic
def order_one(
    context: Any,
    relevant: Any,
    others: Any,
    row: Any,
    halves: Any,
    above: Any,
    tilt: Any,
    higher: Any,
    kept: Any,
) -> Any:
    """Write how many others stand above a bin's only relevant document, in 64 samples.

    These are the ones above the bin and those in it that a random half puts before the document.
    Also write how many relevant documents a sample has in the bin, but none where several are
    among others.
    """

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = _Lanes(target, builder, signature, arguments)
        lean = builder.fmul(arguments[5], ir.Constant(ir.DoubleType(), -(2.0**32)))
        for start in map(_place, range(0, 64, AT_ONCE)):
            here = lanes.load(1, builder.add(arguments[2], start))
            place, rest = _slot(builder, lanes.load(3, start), here, 0)
            below = builder.sub(here, place)
            size = builder.fadd(builder.sitofp(here, _NUMBERS), _all(_NUMBERS, 2.0))
            off = builder.sitofp(builder.sub(below, place), _NUMBERS)
            off = builder.fmul(splat(builder, lean, _NUMBERS), off)
            turned = builder.fcmp_ordered("<", builder.fmul(rest, size), off)
            before = builder.select(turned, below, place)
            lanes.store(6, start, builder.add(lanes.load(4, start), before))
            documents = lanes.load(0, builder.add(arguments[2], start))
            several = builder.icmp_unsigned(">", documents, _all(_HALVES, 1))
            alone = builder.icmp_unsigned("==", here, _all(_HALVES, 0))
            in_a_row = builder.or_(builder.not_(several), alone)
            lanes.store(7, start, builder.select(in_a_row, documents, _all(_HALVES, 0)))
        return target.get_dummy_value()

    arrays = (relevant, others, types.int64, halves, above, types.float64, higher, kept)
    return types.void(*arrays), build


def _slot(builder: Any, half: Any, others: Any, n: int) -> tuple[Any, Any]:
    """One of the slots among some others and n documents; and what is left of the random half."""
    slots = builder.zext(builder.add(others, _all(_HALVES, n + 1)), _WORDS)
    product = builder.mul(builder.zext(half, _WORDS), slots)
    slot = builder.trunc(builder.lshr(product, _all(_WORDS, 32)), _HALVES)
    return slot, builder.uitofp(builder.trunc(product, _HALVES), _NUMBERS)


@intrinsic
def order_groups(
    context: Any,
    start: Any,
    streams: Any,
    relevant: Any,
    others: Any,
    above_relevant: Any,
    above_others: Any,
    tilts: Any,
    entries: Any,
    higher: Any,
    ranks: Any,
) -> Any:
    """Put two or more relevant documents of a bin in order, in 16 groups from `start` on.

    How many others are above document i of a group goes into `higher`, how many documents into
    `ranks`, from entries[i] on; no group has more documents than there are such entries. The law
    of each is right to all orders of the tilt, their joint law to the first.
    """

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = _Lanes(target, builder, signature, arguments)
        start, most = arguments[0], signature.args[7].count
        n, m = lanes.load(2, start), lanes.load(3, start)
        marks, rest = _marks(builder, lanes.load(1, start, _WORDS), n, m, most)
        turned = _turned(builder, marks, rest, n, m, lanes.load(6, start, _NUMBERS))
        for i, mark in enumerate(marks):
            here = builder.icmp_unsigned("<", _all(_HALVES, i), n)
            before = builder.select(turned, builder.sub(m, mark), mark)
            last = builder.sub(n, _all(_HALVES, i + 1))
            above = builder.select(turned, last, _all(_HALVES, i))
            before, above = (
                builder.select(here, number, _all(_HALVES, 0)) for number in (before, above)
            )
            high = builder.add(lanes.load(5, start), before)
            rank = builder.add(builder.add(lanes.load(4, start), above), high)
            place = builder.add(builder.extract_value(arguments[7], i), start)
            lanes.store(8, place, high)
            lanes.store(9, place, rank)
        return target.get_dummy_value()

    arrays = (streams, relevant, others, above_relevant, above_others, tilts)
    return types.void(types.int64, *arrays, entries, higher, ranks), build


def _mixed(builder: Any, words: Any) -> Any:
    """`mixed_bits`."""
    for shift, factor in ((30, FIRST_FACTOR), (27, SECOND_FACTOR)):
        words = builder.xor(words, builder.lshr(words, _all(_WORDS, shift)))
        words = builder.mul(words, _all(_WORDS, int(factor)))
    return builder.xor(words, builder.lshr(words, _all(_WORDS, 31)))


def _marks(builder: Any, streams: Any, n: Any, others: Any, most: int) -> tuple[list[Any], Any]:
    """How many others are above each of two or more documents in order, and a random rest.

    Documents are put anywhere among the others and those before them, one by one. How many others
    are above: the slot, less the documents above that. Those that there are not are far below.
    """
    halves = []
    for step in range(most // 2):
        steps = _all(_WORDS, step * int(GOLDEN) % 2**64)
        word = _mixed(builder, builder.add(streams, steps))
        halves.append(builder.trunc(word, _HALVES))
        halves.append(builder.trunc(builder.lshr(word, _all(_WORDS, 32)), _HALVES))
    first, rest = _slot(builder, halves[0], others, 0)
    marks = [first]
    for i in range(1, most):
        slot, _ = _slot(builder, halves[i], others, i)
        mark = slot
        for j, other in enumerate(marks):
            place = builder.add(other, _all(_HALVES, j))
            above = builder.icmp_unsigned("<", place, slot)
            mark = builder.sub(mark, builder.zext(above, _HALVES))
        if i >= 2:
            there = builder.icmp_unsigned("<", _all(_HALVES, i), n)
            mark = builder.select(there, mark, _all(_HALVES, 1 << 30))
        for j, other in enumerate(marks):
            lower = builder.icmp_unsigned("<", mark, other)
            marks[j] = builder.select(lower, mark, other)
            mark = builder.select(lower, other, mark)
        marks.append(mark)
    return marks, rest


def _turned(builder: Any, marks: Any, rest: Any, n: Any, others: Any, tilts: Any) -> Any:
    """Whether the order of a group is turned upside down, for its tilt."""
    ranks = _all(_HALVES, 0)
    for i, mark in enumerate(marks):
        here = builder.icmp_unsigned("<", _all(_HALVES, i), n)
        rank = builder.add(mark, _all(_HALVES, i + 1))
        ranks = builder.add(ranks, builder.select(here, rank, _all(_HALVES, 0)))
    slots = builder.add(builder.add(others, n), _all(_HALVES, 1))
    lean = builder.sub(builder.mul(n, slots), builder.shl(ranks, _all(_HALVES, 1)))
    lean = builder.fmul(tilts, builder.sitofp(lean, _NUMBERS))
    lean = builder.fmul(lean, _all(_NUMBERS, -(2.0**32)))
    size = builder.sitofp(slots, _NUMBERS)
    return builder.fcmp_ordered("<", builder.fmul(rest, size), lean)
