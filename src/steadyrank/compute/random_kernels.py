"""Random words inside kernels, as a function of what they are for.

SplitMix64 (Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195): word n of a stream is
`mixed_bits(key + n * GOLDEN)`. A stream's key is such a word, of the seed, the cell and
the replicate, so that a sample's numbers depend on nothing else. Four operations on a word
vectorise, which a generator with ten rounds, or one with a state, does not do as well.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import WORD, inlined

GOLDEN = WORD(0x9E3779B97F4A7C15)
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
