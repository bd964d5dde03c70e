"""Scores side by side: sums of one document by up to eight models, added and compared at once.

Eight numbers of 64 bits are one line of the cache, and one register of the widest kind.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from steadyrank.compute.kernels import WORD, inlined

EIGHT = 8
"""Models that one pass over the postings serves."""


@intrinsic
def ordered_bits(context: Any, score: Any) -> Any:
    """A score rounded to 32 bits, as an integer with the same order; -0 is 0."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rounded = builder.fptrunc(arguments[0], ir.FloatType())
        rounded = builder.fadd(rounded, ir.Constant(ir.FloatType(), 0.0))
        bits = builder.bitcast(rounded, ir.IntType(32))
        negative = builder.ashr(bits, ir.Constant(ir.IntType(32), 31))
        flips = builder.or_(negative, ir.Constant(ir.IntType(32), 0x80000000))
        return builder.zext(builder.xor(bits, flips), ir.IntType(64))

    return types.uint64(types.float64), build


@intrinsic
def score_of_bits(context: Any, bits: Any) -> Any:
    """The score whose ordered bits are these."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        short = builder.trunc(arguments[0], ir.IntType(32))
        positive = builder.ashr(short, ir.Constant(ir.IntType(32), 31))
        flips = builder.or_(builder.not_(positive), ir.Constant(ir.IntType(32), 0x80000000))
        rounded = builder.bitcast(builder.xor(short, flips), ir.FloatType())
        return builder.fpext(rounded, ir.DoubleType())

    return types.float64(types.uint64), build


def _eight(target: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    """A pointer to eight numbers of an array of float64 from `place` on."""
    held = target.make_array(kind)(target, builder, array)
    pointer = builder.gep(held.data, [place], source_etype=ir.DoubleType())
    return builder.bitcast(pointer, ir.VectorType(ir.DoubleType(), EIGHT).as_pointer())


@intrinsic
def add_eight(context: Any, sums: Any, place: Any, table: Any, row: Any) -> Any:
    """Add eight numbers of `table` from `row` on to those of `sums` from `place` on."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(ir.DoubleType(), EIGHT)
        to = _eight(target, builder, signature.args[0], arguments[0], arguments[1])
        of = _eight(target, builder, signature.args[2], arguments[2], arguments[3])
        old = builder.load(to, align=8, typ=vector)
        more = builder.load(of, align=8, typ=vector)
        builder.store(builder.fadd(old, more), to, align=8)
        return target.get_dummy_value()

    return types.void(sums, types.uint64, table, types.uint64), build


@intrinsic
def eight_above(context: Any, sums: Any, place: Any, limits: Any) -> Any:
    """Which of eight sums from `place` on are above their limits: one bit each, lowest first."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(ir.DoubleType(), EIGHT)
        zero = ir.Constant(ir.IntType(64), 0)
        held = _eight(target, builder, signature.args[0], arguments[0], arguments[1])
        bound = _eight(target, builder, signature.args[2], arguments[2], zero)
        above = builder.fcmp_ordered(
            ">", builder.load(held, align=8, typ=vector), builder.load(bound, align=8, typ=vector)
        )
        return builder.zext(builder.bitcast(above, ir.IntType(8)), ir.IntType(64))

    return types.uint64(sums, types.int64, limits), build


@inlined
def add_one(sums: Any, place: Any, table: Any, row: Any) -> None:
    """What `add_eight` does, for a single model."""
    sums[place] += table[row]


@inlined
def one_above(sums: Any, place: Any, limits: Any) -> Any:
    """What `eight_above` says, for a single model."""
    return WORD(sums[place] > limits[0])
