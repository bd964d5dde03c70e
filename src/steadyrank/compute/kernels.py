"""How every compiled kernel of steadyrank is made, and the machine words they share.

A kernel is called from Python, releases the GIL, so that threads scale, and is kept on disk
(`kernel_cache`). Its parts are called by kernels alone: Numba compiles them where a kernel needs
them, without an entrance from Python and without counting references, which in the innermost loops
would cost more than the work. So a part cannot make arrays; a kernel can. In Python a part is the
plain function that it was.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

from steadyrank.compute.kernel_cache import compiled


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` for use without the GIL, cached on disk where possible."""
    return compiled(function, nogil=True, error_model="numpy")


def part(function: Callable[..., Any]) -> Any:
    """A function that kernels call."""
    return register_jitable(_nrt=False)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """A small part that is copied into the kernels that call it."""
    return register_jitable(_nrt=False, forceinline=True)(function)


def specialised(template: Any, name: str, *, how: Callable[..., Any] = kernel, **names: Any) -> Any:
    """The code of `template` with some global names standing for others, compiled by `how`.

    Numba compiles a call through a global directly, and keeps the result under `name`;
    a kernel handed over as an argument could not be kept between runs.
    """
    namespace = {**template.__globals__, **names}
    function = FunctionType(template.__code__, namespace, name)
    function.__qualname__ = name
    function.__module__ = template.__module__
    return how(function)


WORD = np.uint64
"""Numba promotes int64 with uint64 to float64: word arithmetic needs every operand as WORD."""


@inlined
def load_byte(data, position):
    """One byte of a uint8 array; unlike `data[position]`, never counts from the end."""
    return np.int64(data[WORD(position)])


@inlined
def load_word(data, position):
    """Eight bytes of a uint8 array from `position` on, as one unsigned word, lowest byte first.

    Needs no alignment; the array must reach seven bytes past the last position. LLVM makes one
    instruction of it, as of most functions here.
    """
    at, word = WORD(position), WORD(0)
    for k in range(8):
        word |= WORD(data[at + WORD(k)]) << WORD(8 * k)
    return word


@inlined
def store_word(data, position, word):
    """Write eight bytes into a uint8 array from `position` on."""
    at = WORD(position)
    for k in range(8):
        data[at + WORD(k)] = np.uint8(word >> WORD(8 * k))


def _comparison(how: str) -> Any:
    """64 bytes are one line of memory; LLVM does not vectorise a loop like this."""

    def compare(context: Any, data: Any, position: Any, value: Any) -> Any:
        def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = ir.VectorType(ir.IntType(8), 64)
            array = target.make_array(signature.args[0])(target, builder, arguments[0])
            pointer = builder.gep(array.data, [arguments[1]], source_etype=ir.IntType(8))
            line = builder.load(builder.bitcast(pointer, kind.as_pointer()), align=1, typ=kind)
            nothing, zeros = ir.Constant(kind, ir.Undefined), [0] * 64
            first = builder.insert_element(nothing, arguments[2], ir.IntType(32)(0))
            everywhere = ir.Constant(ir.VectorType(ir.IntType(32), 64), zeros)
            values = builder.shuffle_vector(first, nothing, everywhere)
            return builder.bitcast(builder.icmp_unsigned(how, line, values), ir.IntType(64))

        return types.uint64(data, types.int64, types.uint8), build

    return intrinsic(compare)


bytes_up_to, bytes_equal = _comparison("<="), _comparison("==")
"""Return which of 64 bytes of `data` from a position on are at most, or equal to, a value."""


@inlined
def words_alike(words, position, word, mask):
    """Return which of eight words from `position` on agree with `word` in the bits of `mask`.

    One bit for each of the eight, lowest first.
    """
    at, alike = WORD(position), WORD(0)
    for k in range(8):
        alike |= WORD(((words[at + WORD(k)] ^ word) & mask) == WORD(0)) << WORD(k)
    return alike


@inlined
def count_ones(word):
    """Number of set bits of a word."""
    word = word - ((word >> WORD(1)) & WORD(0x5555555555555555))
    word = (word & WORD(0x3333333333333333)) + ((word >> WORD(2)) & WORD(0x3333333333333333))
    word = (word + (word >> WORD(4))) & WORD(0x0F0F0F0F0F0F0F0F)
    return (word * WORD(0x0101010101010101)) >> WORD(56)


@inlined
def trailing_zeros(word):
    """Number of zero bits below the lowest set bit of a word, 64 where none is set."""
    return count_ones(~word & (word - WORD(1)))


@inlined
def leading_zeros(word):
    """Number of zero bits above the highest set bit of a word."""
    for k in range(6):
        word |= word >> WORD(1 << k)
    return count_ones(~word)


@inlined
def high_product(a, b):
    """The upper 64 bits of the 128-bit product of two words."""
    half, low = WORD(32), WORD(0xFFFFFFFF)
    lowest = (a & low) * (b & low)
    first = (a >> half) * (b & low) + (lowest >> half)
    second = (a & low) * (b >> half) + (first & low)
    return (a >> half) * (b >> half) + (first >> half) + (second >> half)


@inlined
def bits_to_float(bits):
    """The float64 whose IEEE bits are `bits`."""
    return WORD(bits).view(np.float64)


@inlined
def add_bytes(totals, data, positions):
    """Add 64 bytes of a uint8 array from each of some positions on to 64 totals of int32.

    The positions are a tuple; the bytes of all must add up to less than 256.
    """
    for k in range(64):
        together = np.uint8(0)
        for position in positions:
            together = np.uint8(together + data[WORD(position) + WORD(k)])
        totals[k] += np.int32(together)


GOLDEN = WORD(0x9E3779B97F4A7C15)
"""Step of SplitMix64 (Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195): word n of a stream is
`mixed_bits(key + n * GOLDEN)`. A stream's key is such a word, of the seed, the cell and the
replicate, so that a sample's numbers depend on nothing else. Its four operations vectorise."""

FIRST_FACTOR, SECOND_FACTOR = WORD(0xBF58476D1CE4E5B9), WORD(0x94D049BB133111EB)


@inlined
def mixed_bits(word):
    """SplitMix64's finalizer: a bijection of words whose every bit depends on every bit."""
    word = (word ^ (word >> WORD(30))) * FIRST_FACTOR
    word = (word ^ (word >> WORD(27))) * SECOND_FACTOR
    return word ^ (word >> WORD(31))


@inlined
def count_reached(start, shares, out, position):
    """Write how many of some shares of 2**32 each of 64 random numbers reaches, as bytes.

    The numbers are the lower halves of 32 words, `mixed_bits(start + n * GOLDEN)` for n from 1
    on, and then their upper halves. The answer is 0 unless one of them reaches every share.
    """
    at, most = WORD(position), np.uint8(0)
    for n in range(32):
        word = mixed_bits(start + WORD(n + 1) * GOLDEN)
        low, high = np.uint32(word), np.uint32(word >> WORD(32))
        of_low, of_high = np.uint8(0), np.uint8(0)
        for share in shares:
            of_low = np.uint8(of_low + (low >= share))
            of_high = np.uint8(of_high + (high >= share))
        out[at + WORD(n)] = of_low
        out[at + WORD(32 + n)] = of_high
        most = max(most, of_low, of_high)
    return WORD(most == len(shares))
