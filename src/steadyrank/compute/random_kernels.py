"""Random words inside kernels, as a function of what they are for.

SplitMix64 (Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195): word n of a stream is
`mixed_bits(key + n * GOLDEN)`. A stream's key is itself such a word, of the seed, the cell and
the replicate, so that a sample's numbers depend on nothing else. Four operations on a word
vectorise, which a generator with ten rounds, or one with a state, does not do as well.
"""

from __future__ import annotations

from steadyrank.compute.kernels import WORD, inlined

GOLDEN = WORD(0x9E3779B97F4A7C15)


@inlined
def mixed_bits(word):
    """SplitMix64's finalizer: a bijection of words whose every bit depends on every bit."""
    word = (word ^ (word >> WORD(30))) * WORD(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> WORD(27))) * WORD(0x94D049BB133111EB)
    return word ^ (word >> WORD(31))
