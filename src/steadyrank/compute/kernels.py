"""How every compiled kernel of steadyrank is made, and the machine words they share.

A kernel is called from Python, releases the GIL, so that threads scale, and is kept on disk
(`kernel_cache`). Its parts are called by kernels alone: Numba compiles them where a kernel needs
them, without an entrance from Python and without counting references, which in the innermost loops
would cost more than the work. So a part cannot make arrays; a kernel can. In Python a part is the
plain function that it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic, register_jitable

from steadyrank.compute.kernel_cache import compiled
from steadyrank.errors import MachineError

BYTES = ir.VectorType(ir.IntType(8), 64)
"""64 bytes side by side: a line of memory."""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` for use without the GIL, cached on disk where possible."""
    if numba.config.DISABLE_JIT:
        raise MachineError(
            "the kernels require Numba's compiler, which NUMBA_DISABLE_JIT turns off: unset "
            "that variable"
        )
    return compiled(function, nogil=True, error_model="numpy")


lean_kernel = kernel


def part(function: Callable[..., Any]) -> Any:
    """A function that kernels call."""
    return register_jitable(_nrt=False)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """A small part that is copied into the kernels that call it."""
    return register_jitable(_nrt=False, forceinline=True)(function)


def specialised(
    template: Any, name: str, *, how: Callable[..., Any] = lean_kernel, **names: Any
) -> Any:
    """The code of `template` with some global names standing for others, compiled by `how`.

    Numba compiles a call through a global directly, and keeps the result under `name`;
    a kernel handed over as an argument could not be kept between runs.
    """
    namespace = {**template.__globals__, **names}
    function = FunctionType(template.__code__, namespace, name)
    function.__qualname__ = name
    function.__module__ = template.__module__
    return how(function)


@intrinsic
def load_word(context: Any, data: Any, position: Any) -> Any:
    """Eight bytes of a uint8 array from `position` on, as one unsigned word.

    Needs no alignment; the array must reach seven bytes past the last position.
    """

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _word_pointer(target, builder, signature, arguments)
        return builder.load(pointer, align=1, typ=ir.IntType(64))

    return types.uint64(data, types.int64), build


@intrinsic
def load_byte(context: Any, data: Any, position: Any) -> Any:
    """One byte of a uint8 array; unlike `data[position]`, never counts from the end."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = target.make_array(signature.args[0])(target, builder, arguments[0])
        pointer = builder.gep(array.data, [arguments[1]], source_etype=ir.IntType(8))
        return builder.zext(builder.load(pointer, typ=ir.IntType(8)), ir.IntType(64))

    return types.int64(data, types.int64), build


@intrinsic
def store_word(context: Any, data: Any, position: Any, word: Any) -> Any:
    """Write eight bytes into a uint8 array from `position` on."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _word_pointer(target, builder, signature, arguments)
        builder.store(arguments[2], pointer, align=1)
        return target.get_dummy_value()

    return types.void(data, types.int64, types.uint64), build


def _word_pointer(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = target.make_array(signature.args[0])(target, builder, arguments[0])
    pointer = builder.gep(array.data, [arguments[1]], source_etype=ir.IntType(8))
    return builder.bitcast(pointer, ir.IntType(64).as_pointer())


READS_FILES = os.name == "posix"
"""Whether kernels can read files: elsewhere the call has another name."""


@intrinsic
def read_file(context: Any, number: Any, data: Any, position: Any, count: Any) -> Any:
    """Read up to `count` bytes of an open file, by its number, into a uint8 array.

    Returns how many, 0 at the end of the file, or -1 for an error; POSIX's `read`.
    """

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        if not READS_FILES:
            return ir.Constant(word, -1)
        array = target.make_array(signature.args[1])(target, builder, arguments[1])
        pointer = builder.gep(array.data, [arguments[2]], source_etype=ir.IntType(8))
        pointer = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(word, [ir.IntType(32), pointer.type, word])
        read = get_or_insert_function(builder.module, kind, "read")
        file = builder.trunc(arguments[0], ir.IntType(32))
        return builder.call(read, [file, pointer, arguments[3]])

    return types.int64(types.int64, data, types.int64, types.int64), build


@intrinsic
def bytes_up_to(context: Any, data: Any, position: Any, limit: Any) -> Any:
    """Which of the 64 bytes from `position` on are at most `limit`: one bit each, lowest first."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _compare_64(target, builder, signature, arguments, "<=")

    return types.uint64(data, types.int64, types.uint8), build


@intrinsic
def bytes_equal(context: Any, data: Any, position: Any, value: Any) -> Any:
    """Which of the 64 bytes from `position` on equal `value`: one bit each, lowest first."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _compare_64(target, builder, signature, arguments, "==")

    return types.uint64(data, types.int64, types.uint8), build


def _compare_64(target: Any, builder: Any, signature: Any, arguments: Any, how: str) -> Any:
    array = target.make_array(signature.args[0])(target, builder, arguments[0])
    pointer = byte_pointer(builder, array, arguments[1])
    block = builder.load(pointer, align=1, typ=BYTES)
    limits = splat(builder, arguments[2], BYTES)
    return builder.bitcast(builder.icmp_unsigned(how, block, limits), ir.IntType(64))


@intrinsic
def bytes_within(context: Any, data: Any, position: Any, form: Any) -> Any:
    """Whether 16 bytes from `position` on are what `form`, an array of 32 bytes, allows.

    Exclusive or with its first 16 must leave no more than the other 16 say.
    """

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        half = ir.VectorType(ir.IntType(8), 16)

        def load(k: int, place: Any) -> Any:
            array = target.make_array(signature.args[k])(target, builder, arguments[k])
            pointer = builder.gep(array.data, [place], source_etype=ir.IntType(8))
            return builder.load(builder.bitcast(pointer, half.as_pointer()), align=1, typ=half)

        left = builder.xor(load(0, arguments[1]), load(2, ir.Constant(ir.IntType(64), 0)))
        above = builder.icmp_unsigned(">", left, load(2, ir.Constant(ir.IntType(64), 16)))
        bits = builder.bitcast(above, ir.IntType(16))
        return builder.icmp_unsigned("==", bits, ir.Constant(ir.IntType(16), 0))

    return types.boolean(data, types.int64, form), build


def byte_pointer(builder: Any, array: Any, position: Any) -> Any:
    """Where 64 bytes of a uint8 array begin."""
    pointer = builder.gep(array.data, [position], source_etype=ir.IntType(8))
    return builder.bitcast(pointer, BYTES.as_pointer())


@intrinsic
def add_bytes(context: Any, totals: Any, data: Any, positions: Any) -> Any:
    """Add 64 bytes of a uint8 array from each of some positions on to 64 totals of int32.

    The positions are a tuple; the bytes of all must add up to less than 256. LLVM does not find
    this by itself: in a loop it takes as many bytes at a time as totals fit into a register.
    """

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = target.make_array(signature.args[1])(target, builder, arguments[1])
        together = ir.Constant(BYTES, [0] * 64)
        for i in range(len(signature.args[2])):
            pointer = byte_pointer(builder, array, builder.extract_value(arguments[2], i))
            together = builder.add(together, builder.load(pointer, align=1, typ=BYTES))
        wide = ir.VectorType(ir.IntType(32), 64)
        out = target.make_array(signature.args[0])(target, builder, arguments[0])
        pointer = builder.bitcast(out.data, wide.as_pointer())
        before = builder.load(pointer, align=4, typ=wide)
        builder.store(builder.add(before, builder.zext(together, wide)), pointer, align=4)
        return target.get_dummy_value()

    return types.void(totals, data, positions), build


@intrinsic
def words_alike(context: Any, words: Any, position: Any, word: Any, mask: Any) -> Any:
    """Which of eight words from `position` on agree with `word` in the bits of `mask`.

    One bit for each of the eight, lowest first.
    """

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = target.make_array(signature.args[0])(target, builder, arguments[0])
        vector = ir.VectorType(ir.IntType(64), 8)
        pointer = builder.gep(array.data, [arguments[1]], source_etype=ir.IntType(64))
        pointer = builder.bitcast(pointer, vector.as_pointer())
        block = builder.load(pointer, align=8, typ=vector)
        differing = builder.xor(block, splat(builder, arguments[2], vector))
        differing = builder.and_(differing, splat(builder, arguments[3], vector))
        alike = builder.icmp_unsigned("==", differing, ir.Constant(vector, [0] * 8))
        return builder.zext(builder.bitcast(alike, ir.IntType(8)), ir.IntType(64))

    return types.uint64(words, types.int64, types.uint64, types.uint64), build


def splat(builder: Any, value: Any, vector: Any) -> Any:
    """A vector with `value` in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    lane = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(lane, undefined, zeros)


@intrinsic
def trailing_zeros(context: Any, word: Any) -> Any:
    """Number of zero bits below the lowest set bit of a word, 64 where none is set."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), build


@intrinsic
def count_ones(context: Any, word: Any) -> Any:
    """Number of set bits of a word."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@intrinsic
def leading_zeros(context: Any, word: Any) -> Any:
    """Number of zero bits above the highest set bit of a non-zero word."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), build


@intrinsic
def bytes_reversed(context: Any, word: Any) -> Any:
    """The word with its eight bytes in the opposite order."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bswap(arguments[0])

    return types.uint64(types.uint64), build


@intrinsic
def high_product(context: Any, a: Any, b: Any) -> Any:
    """The upper 64 bits of the 128-bit product of two words."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), build


@intrinsic
def bits_to_float(context: Any, bits: Any) -> Any:
    """The float64 whose IEEE bits are `bits`."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), build


WORD = np.uint64
"""Numba promotes int64 with uint64 to float64: word arithmetic needs every operand as WORD."""
