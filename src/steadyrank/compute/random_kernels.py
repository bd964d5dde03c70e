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
