"""Random words inside kernels, as a function of what they are for.

SplitMix64 (Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195): word n of a stream is
`mixed_bits(key + n * GOLDEN)`. A stream's key is itself such a word, of the seed, the cell and
the replicate, so that a sample's numbers depend on nothing else. Four operations on a word
vectorise, which a generator with ten rounds, or one with a state, does not do as well.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from steadyrank.compute.kernels import BYTES, WORD, byte_pointer, inlined, splat

GOLDEN = WORD(0x9E3779B97F4A7C15)
FIRST_FACTOR, SECOND_FACTOR = WORD(0xBF58476D1CE4E5B9), WORD(0x94D049BB133111EB)

_WORDS = ir.VectorType(ir.IntType(64), 32)
_HALVES = ir.VectorType(ir.IntType(32), 64)


@inlined
def mixed_bits(word):
    """SplitMix64's finalizer: a bijection of words whose every bit depends on every bit."""
    word = (word ^ (word >> WORD(30))) * FIRST_FACTOR
    word = (word ^ (word >> WORD(27))) * SECOND_FACTOR
    return word ^ (word >> WORD(31))


@intrinsic
def count_reached(context: Any, start: Any, shares: Any, out: Any, position: Any) -> Any:
    """Write how many of some shares of 2**32 each of 64 random numbers reaches, as bytes.

    The numbers are the lower halves of 32 words, `mixed_bits(start + n * GOLDEN)` for n from 1
    on, and then their upper halves. The answer is 0 unless one of them reaches every share.
    """

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        halves = builder.bitcast(_mixed_words(builder, arguments[0]), _HALVES)
        reached, together = None, ir.Constant(BYTES, [0] * 64)
        for i in range(len(signature.args[1])):
            share = splat(builder, builder.extract_value(arguments[1], i), _HALVES)
            reached = builder.icmp_unsigned(">=", halves, share)
            together = builder.add(together, builder.zext(reached, BYTES))
        # A word has its lower half first.
        order = ir.Constant(_HALVES, [*range(0, 64, 2), *range(1, 64, 2)])
        together = builder.shuffle_vector(together, ir.Constant(BYTES, ir.Undefined), order)
        array = target.make_array(signature.args[2])(target, builder, arguments[2])
        builder.store(together, byte_pointer(builder, array, arguments[3]), align=1)
        return builder.bitcast(reached, ir.IntType(64))

    return types.uint64(types.uint64, shares, out, types.int64), build


@intrinsic
def count_exceeded(
    context: Any, halves: Any, shares: Any, start: Any, counts: Any, position: Any
) -> Any:
    """Add to 64 counts how many of four shares of 2**32 each of 64 random numbers exceeds.

    The shares are entries of an array of uint32 from `start` on, in order. The answer is 0 unless
    one of the numbers exceeds them all.
    """

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def vector_at(number: int, place: Any) -> Any:
            array = target.make_array(signature.args[number])(target, builder, arguments[number])
            pointer = builder.gep(array.data, [place], source_etype=ir.IntType(32))
            return builder.bitcast(pointer, _HALVES.as_pointer())

        numbers = builder.load(vector_at(0, ir.Constant(ir.IntType(64), 0)), align=4, typ=_HALVES)
        array = target.make_array(signature.args[1])(target, builder, arguments[1])
        row = vector_at(3, arguments[4])
        together, exceeded = builder.load(row, align=4, typ=_HALVES), None
        for i in range(4):
            place = builder.add(arguments[2], ir.Constant(ir.IntType(64), i))
            pointer = builder.gep(array.data, [place], source_etype=ir.IntType(32))
            share = splat(builder, builder.load(pointer, typ=ir.IntType(32)), _HALVES)
            exceeded = builder.icmp_unsigned(">", numbers, share)
            together = builder.add(together, builder.zext(exceeded, _HALVES))
        builder.store(together, row, align=4)
        return builder.bitcast(exceeded, ir.IntType(64))

    return types.uint64(halves, shares, types.int64, counts, types.int64), build


@intrinsic
def which_exceed(context: Any, counts: Any, position: Any, limit: Any) -> Any:
    """Which of 64 numbers of uint32 from `position` on exceed a limit: one bit each."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = target.make_array(signature.args[0])(target, builder, arguments[0])
        pointer = builder.gep(array.data, [arguments[1]], source_etype=ir.IntType(32))
        pointer = builder.bitcast(pointer, _HALVES.as_pointer())
        numbers = builder.load(pointer, align=4, typ=_HALVES)
        limits = splat(builder, arguments[2], _HALVES)
        return builder.bitcast(builder.icmp_unsigned(">", numbers, limits), ir.IntType(64))

    return types.uint64(counts, types.int64, types.uint32), build


def _mixed_words(builder: Any, start: Any) -> Any:
    """`mixed_bits` of the 32 words after `start`, side by side."""

    def all_of(value: int) -> Any:
        return ir.Constant(_WORDS, [value] * 32)

    def folded(words: Any, shift: int) -> Any:
        return builder.xor(words, builder.lshr(words, all_of(shift)))

    steps = ir.Constant(_WORDS, [n * int(GOLDEN) % 2**64 for n in range(1, 33)])
    words = builder.add(splat(builder, start, _WORDS), steps)
    words = builder.mul(folded(words, 30), all_of(int(FIRST_FACTOR)))
    words = builder.mul(folded(words, 27), all_of(int(SECOND_FACTOR)))
    return folded(words, 31)
