"""Random numbers that depend on what they are for, not on when they are drawn.

Work is cut into fixed blocks of replicates. The numbers of a block depend on the seed,
the purpose and the block alone, so that threads, order and resuming change nothing.
"""

from __future__ import annotations

import hashlib
import secrets

import numpy as np

from steadyrank.errors import InputError, bad_value

Rng = int | np.integer | np.random.Generator | None
"""What functions take as `rng`: a seed, a generator to draw one from, or None for a fresh one."""

BLOCK = 256
"""Replicates that share a stream."""

_SEED_BITS = 63


def seed_from(rng: Rng) -> int:
    """The seed that everything random in a call depends on, and that its result records.

    An integer is the seed itself. From a generator 63 bits are drawn, so that two generators give
    two seeds and a second call with the same one gives a third. None asks the operating system.

    >>> generator = np.random.default_rng(1)
    >>> seed_from(7), seed_from(generator) == seed_from(generator)
    (7, False)
    """
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**_SEED_BITS))
    if rng is None:
        return secrets.randbits(_SEED_BITS)
    # Python counts True as an integer, but it is not meant as a seed.
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool):
        return int(rng)
    raise bad_value(
        "rng",
        "be an integer seed, a numpy.random.Generator or None",
        rng,
        "give a whole number such as rng=1, numpy.random.default_rng(...), or None for a fresh "
        "seed",
    )


def block_stream(seed: int, purpose: str, block: int) -> np.random.Generator:
    """The generator of one block of one purpose: Philox, keyed by seed, purpose and block.

    >>> a, b = block_stream(1, "signs", 7), block_stream(1, "signs", 7)
    >>> float(a.random()) == float(b.random())
    True
    """
    words = hashlib.sha256(f"{seed}/{purpose}/{block}".encode(errors="surrogatepass")).digest()
    return np.random.Generator(np.random.Philox(key=np.frombuffer(words, np.uint64, 2)))


def blocks_of(n_samples: int, size: int = BLOCK) -> list[tuple[int, int, int]]:
    """(block, first, stop): which replicates each block holds.

    >>> blocks_of(600)
    [(0, 0, 256), (1, 256, 512), (2, 512, 600)]
    """
    starts = range(0, n_samples, size)
    if len(starts) > 1_000_000:  # the list would fill the memory
        raise InputError(f"{n_samples:,} samples are too many: draw at most {size * 1_000_000:,}")
    return [(i, first, min(first + size, n_samples)) for i, first in enumerate(starts)]
