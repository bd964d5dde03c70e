"""The inner loops of Algorithm 2: resamples of topics, drawn with replacement.

A block of resamples is drawn in three passes, which the compiler vectorises: random words, the
positions that they select, and the sums of the entries there. An entry consists of a difference and
its square, so that one load and one addition serve both sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from steadyrank.compute.kernels import WORD, kernel, part
from steadyrank.compute.random_kernels import GOLDEN, mixed_bits

TOGETHER = 16
"""Number of resamples whose positions are drawn together: they fit into the fastest cache."""

ABREAST = 8
"""Number of independent sums, so that an addition need not wait for the previous one."""

FEW_TOPICS = 256
"""Up to this number of topics 32 random bits give two positions, exact to 2^-32."""

LOWER = WORD(0xFFFFFFFF)
HALF = WORD(32)


def words_of(n_topics: int) -> int:
    """Return the number of words, of two positions each, of a resample; a multiple of 4."""
    return -(-n_topics // ABREAST) * (ABREAST // 2)


@intrinsic
def add_entries(
    context: Any,
    entries: Any,
    positions: Any,
    first: Any,
    n_words: Any,
    sums: Any,
    squares: Any,
    at: Any,
) -> Any:
    """Add up the entries at the positions in `n_words` words from `first` on.

    A word holds two positions, in units of one number; an entry is two numbers. The sum of the
    entries' first numbers is written to sums[at], that of their second ones to squares[at].
    """

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def data(k: int) -> Any:
            return target.make_array(signature.args[k])(target, builder, arguments[k]).data

        word, real = ir.IntType(64), ir.DoubleType()
        entry = ir.VectorType(real, 2)
        start = builder.gep(data(1), [arguments[2]], source_etype=word)
        zero = ir.Constant(entry, [0.0, 0.0])
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(ABREAST)]
        steps = builder.udiv(arguments[3], word(ABREAST // 2))
        with cgutils.for_range(builder, steps) as loop:
            begin = builder.mul(loop.index, word(ABREAST // 2))
            for k in range(ABREAST // 2):
                place = builder.gep(start, [builder.add(begin, word(k))], source_etype=word)
                both = builder.load(place, typ=word)
                lower, upper = builder.and_(both, word(0xFFFFFFFF)), builder.lshr(both, word(32))
                for position, total in zip((lower, upper), totals[2 * k :], strict=False):
                    pointer = builder.gep(data(0), [position], source_etype=real)
                    pointer = builder.bitcast(pointer, entry.as_pointer())
                    value = builder.load(pointer, align=8, typ=entry)
                    builder.store(builder.fadd(builder.load(total, typ=entry), value), total)
        parts = [builder.load(total, typ=entry) for total in totals]
        while len(parts) > 1:
            parts = [builder.fadd(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        for k, out in enumerate((4, 5)):
            pointer = builder.gep(data(out), [arguments[6]], source_etype=real)
            builder.store(builder.extract_element(parts[0], ir.IntType(32)(k)), pointer)
        return target.get_dummy_value()

    index = types.int64
    return types.void(entries, positions, index, index, sums, squares, index), build


@part
def _draw_words(key, words):
    state = key
    for k in range(words.size):
        words[k] = mixed_bits(state)
        state += GOLDEN


@part
def _draw_positions(n_topics, words, positions):
    """Draw two positions per random word: each half, as a fraction, times the number of topics."""
    n = WORD(n_topics) & LOWER
    for k in range(positions.size):
        word = words[k]
        positions[k] = (((word >> HALF) * n >> HALF) | ((word & LOWER) * n & ~LOWER)) << WORD(1)


@part
def _draw_pairs(n_topics, words, positions):
    """Draw four positions per random word: the remaining fraction of each half gives another."""
    n = WORD(n_topics) & LOWER
    half = positions.size // 2
    for k in range(half):
        word = words[k]
        upper, lower = (word >> HALF) * n, (word & LOWER) * n
        positions[k] = ((upper >> HALF) | ((upper & LOWER) * n & ~LOWER)) << WORD(1)
        positions[half + k] = ((lower >> HALF) | ((lower & LOWER) * n & ~LOWER)) << WORD(1)


@part
def _fill_up(n_topics, n_words, positions):
    """Fill up each resample with the position of the entry 0, 0."""
    nothing = WORD(2 * n_topics)
    for first in range(0, positions.size, n_words):
        last = first + n_topics // 2
        if n_topics % 2:
            positions[last] = (positions[last] & LOWER) | (nothing << HALF)
            last += 1
        for k in range(last, first + n_words):
            positions[k] = nothing | (nothing << HALF)


@kernel
def sums_at(entries, positions, n_words, sums, squares):
    """Write sums over the entries at each resample's positions, which take `n_words` words."""
    for k in range(sums.size):
        add_entries(entries, positions, k * n_words, n_words, sums, squares, k)


@kernel
def turn_to_t(sums, squares, n_topics, shift, largest):
    """Turn sums of resampled centred differences into t*, in place.

    A resample without variance has t* = ±inf, or 0 if its mean is 0.
    """
    n = float(n_topics)
    for k in range(sums.size):
        mean = sums[k] / n
        spread = squares[k] - n * mean * mean
        centre = mean - shift
        t = centre * np.sqrt(n * (n - 1.0) / spread)
        if spread <= 1e-12 * squares[k] or spread <= n * (1e-12 * largest) ** 2:
            t = 0.0 if abs(centre) <= 1e-12 * largest else np.copysign(np.inf, centre)
        sums[k] = t


@kernel
def drawn_positions(key, place, block, n_topics, n_words, words, positions):
    """Write the positions of a block of resamples, which depend on key, instance and block."""
    stream = mixed_bits(WORD(key) ^ mixed_bits(WORD(place + 1) * GOLDEN))
    state = mixed_bits(stream + WORD(block + 1) * GOLDEN)
    size = TOGETHER * n_words
    if n_topics <= FEW_TOPICS:
        _draw_words(state, words[: size // 2])
        _draw_pairs(n_topics, words, positions[:size])
    else:
        _draw_words(state, words[:size])
        _draw_positions(n_topics, words, positions[:size])
    _fill_up(n_topics, n_words, positions[:size])


@kernel
def extreme_counts(key, first, instances, shifts, recentred, limit, two_sided, room, results):
    """Count how many t* of each instance's resamples, from number `first` on, reach the limit.

    `instances` are the arrays of `bootstrap.Instances`; `room` is memory for words and positions
    of a block, and for the sums and squares of the resamples of one instance. `results` receive the
    counts and the sums of the resample means; with `recentred` their mean is the shift. The random
    numbers of a resample depend on the key, the instance's position and the resample's number;
    `first` begins a block.
    """
    places, n_topics, entries, largest = instances
    words, positions, sums, squares = room
    counts, totals = results
    size = sums.size
    for m in range(places.size):
        n = n_topics[m]
        n_words = -(-n // ABREAST) * (ABREAST // 2)
        for begin in range(0, size, TOGETHER):
            block = (first + begin) // TOGETHER
            drawn_positions(key, places[m], block, n, n_words, words, positions)
            end = min(begin + TOGETHER, size)
            sums_at(entries[m], positions, n_words, sums[begin:end], squares[begin:end])
        total = 0.0
        for k in range(size):
            total += sums[k]
        totals[m] = total / n
        turn_to_t(sums, squares, n, totals[m] / size if recentred else shifts[m], largest[m])
        count = 0
        for k in range(size):
            count += (abs(sums[k]) if two_sided else sums[k]) >= limit
        counts[m] = count
