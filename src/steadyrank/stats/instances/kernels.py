"""The inner loops of Algorithm 2: resamples of topics, drawn with replacement.

A block of resamples is drawn in three passes: random words, the positions that they select, and the
sums of the entries there. An entry consists of a difference and its square.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import GOLDEN, WORD, kernel, mixed_bits, part

TOGETHER = 16
"""Number of resamples whose positions are drawn together: they fit into the fastest cache."""

ABREAST = 8
"""Number of independent sums of a resample, which are added up last."""

FEW_TOPICS = 256
"""Up to this number of topics 32 random bits give two positions, exact to 2^-32."""

LOWER = WORD(0xFFFFFFFF)
HALF = WORD(32)


def words_of(n_topics: int) -> int:
    """Return the number of words, of two positions each, of a resample; a multiple of 4."""
    return -(-n_topics // ABREAST) * (ABREAST // 2)


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
    one = WORD(1)
    for k in range(sums.size):
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
        b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = 0.0
        for w in range(k * n_words, (k + 1) * n_words, ABREAST // 2):
            i, j = positions[w] & LOWER, positions[w] >> HALF
            a0, b0 = a0 + entries[i], b0 + entries[i + one]
            a1, b1 = a1 + entries[j], b1 + entries[j + one]
            i, j = positions[w + 1] & LOWER, positions[w + 1] >> HALF
            a2, b2 = a2 + entries[i], b2 + entries[i + one]
            a3, b3 = a3 + entries[j], b3 + entries[j + one]
            i, j = positions[w + 2] & LOWER, positions[w + 2] >> HALF
            a4, b4 = a4 + entries[i], b4 + entries[i + one]
            a5, b5 = a5 + entries[j], b5 + entries[j + one]
            i, j = positions[w + 3] & LOWER, positions[w + 3] >> HALF
            a6, b6 = a6 + entries[i], b6 + entries[i + one]
            a7, b7 = a7 + entries[j], b7 + entries[j + one]
        sums[k] = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7))
        squares[k] = ((b0 + b1) + (b2 + b3)) + ((b4 + b5) + (b6 + b7))


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
def extreme_counts(key, first, instances, shifts, recentred, limit, room, results):
    """Count how many t* of each instance's resamples, from number `first` on, reach the limit.

    `room` is memory for words and positions of a block, and for the sums and squares of one
    instance's resamples. `results` receive the counts and the sums of the resample means; with
    `recentred` their mean is the shift. `first` begins a block.
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
            count += abs(sums[k]) >= limit
        counts[m] = count
