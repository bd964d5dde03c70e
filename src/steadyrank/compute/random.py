"""Random numbers that depend on what they are for, not on when they are drawn.

Work is cut into fixed blocks of replicates. The numbers of a block depend on the seed,
the purpose and the block alone, so that threads, order and resuming change nothing.
"""

from __future__ import annotations

import hashlib

import numpy as np

BLOCK = 256
"""Replicates that share a stream."""


def block_stream(seed: int, purpose: str, block: int) -> np.random.Generator:
    """The generator of one block of one purpose: Philox, keyed by seed, purpose and block.

    >>> a, b = block_stream(1, "signs", 7), block_stream(1, "signs", 7)
    >>> float(a.random()) == float(b.random())
    True
    """
    words = hashlib.sha256(f"{seed}/{purpose}/{block}".encode()).digest()
    key = np.frombuffer(words[:16], np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


def blocks_of(n_samples: int, size: int = BLOCK) -> list[tuple[int, int, int]]:
    """(block, first, stop): which replicates each block holds.

    >>> blocks_of(600)
    [(0, 0, 256), (1, 256, 512), (2, 512, 600)]
    """
    starts = range(0, n_samples, size)
    return [(i, first, min(first + size, n_samples)) for i, first in enumerate(starts)]
