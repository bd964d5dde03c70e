"""Sign patterns of flips: all patterns for few topics, random ones for many, and their negatives.

Patterns come in blocks that depend only on the seed, so that results do not depend on threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypedDict

import numpy as np

from steadyrank.compute.executors import Progress, one_blas_thread, stream_in_order, workers
from steadyrank.compute.random import block_stream, blocks_of

Block = tuple[int, int, int]
"""Number, first and last + 1 of a block of patterns."""

USUAL, FEWEST_DRAWN, WORK, SIGNS = 10_000, 500, 5 * 10**9, 5 * 10**8
"""Default and smallest number of random patterns; largest numbers of statistics and of signs."""

ALWAYS_ENUMERATED = 16
"""Number of topics up to which all sign patterns are used, whatever `n_samples` is."""


class Draws(TypedDict, total=False):
    """Options of flips: level, number of patterns, seed and number of threads."""

    alpha: float
    n_samples: int
    seed: int
    jobs: int | None


class Flips(Draws, total=False):
    """As `Draws`, with a progress callback."""

    progress: Progress | None


class Taken(NamedTuple):
    """Counts over all patterns of signs."""

    pvalue: np.ndarray
    """(1 + count) / (1 + patterns)."""
    kept: list[Any]
    """Return value of `count` for each block, in order."""
    n_patterns: int
    """Number of all patterns if `exact`, otherwise of drawn ones."""
    exact: bool


def over_patterns(
    n_signs: int,
    count: Callable[[np.ndarray, np.ndarray], Any],
    size: int,
    *,
    n_pairs: int,
    flips: Flips,
) -> Taken:
    """Return counts [size] over all patterns and their negatives, computed block by block.

    `count` takes patterns [pattern, sign] and an array of counts, to which it adds the counts of
    these patterns and of their negatives; what it returns is kept.
    """
    seed, jobs, progress = flips.get("seed", 0), flips.get("jobs"), flips.get("progress")
    exact, n_taken = patterns_of(n_signs, flips.get("n_samples", USUAL), n_pairs)

    def one_block(block: Block) -> tuple[np.ndarray, Any]:
        counts = np.zeros(size, np.int64)
        return counts, count(signs_of_block(seed, block, n_signs, exact), counts)

    total, kept = np.zeros(size, np.int64), []
    with one_blas_thread(), workers(jobs=jobs) as threads:
        blocks = blocks_of(n_taken)
        for counts, answer in stream_in_order(one_block, blocks, threads, progress=progress):
            total += counts
            kept.append(answer)
    counted = 2 * n_taken
    return Taken((1.0 + total) / (1.0 + counted), kept, counted if exact else n_taken, exact)


def patterns_of(n_topics: int, n_samples: int, n_pairs: int = 1) -> tuple[bool, int]:
    """Return whether all sign patterns are used, and their number; negatives count as well.

    All patterns are used if half of them are at most `n_samples`, and up to 16 topics: then the
    seed is irrelevant. More than 500,000 pairs, or more than 50,000 topics, would take minutes:
    they have fewer patterns, down to 500, unless `n_samples` exceeds the usual 10,000.

    >>> patterns_of(8, 10_000), patterns_of(50, 10_000), patterns_of(50, 10_000, 12_500_000)
    ((True, 128), (False, 10000), (False, 500))
    """
    affordable = max(FEWEST_DRAWN, min(WORK // max(1, n_pairs), SIGNS // max(1, n_topics)))
    if n_samples <= USUAL:
        n_samples = min(n_samples, affordable)
    half = 2 ** (min(n_topics, 62) - 1)
    few = n_topics <= ALWAYS_ENUMERATED and half <= 8 * affordable
    return (True, half) if few or half <= n_samples else (False, n_samples)


def sign_patterns(seed: int, block: Block, n_topics: int, purpose: str = "signs") -> np.ndarray:
    """Return the random signs of a block of replicates, [replicate, topic], -1.0 or 1.0."""
    number, first, stop = block
    rows, width = stop - first, -(-n_topics // 8)
    drawn = block_stream(seed, purpose, number).bytes(rows * width)
    packed = np.frombuffer(drawn, np.uint8).reshape(rows, width)
    bits = np.unpackbits(packed, axis=1, count=n_topics)
    return np.asarray(bits.astype(np.float64) * 2.0 - 1.0)


def signs_of_block(seed: int, block: Block, n_topics: int, exact: bool) -> np.ndarray:
    """Return random signs [pattern, topic], or if `exact` the patterns with these numbers.

    The last sign of the latter is 1: their negatives are the other half of all patterns.
    """
    if not exact:
        return sign_patterns(seed, block, n_topics, "largest t")
    _, first, stop = block
    bits = ~(np.arange(first, stop)[:, None] >> np.arange(n_topics)) & 1
    return np.asarray(bits * 2.0 - 1.0)


def order_statistic(largest: np.ndarray, alpha: float) -> float:
    """Return the floor(alpha (B + 1))-th largest of B maxima; infinite if there is none."""
    # Rounding must not push alpha (B + 1) below a whole number.
    place = math.floor(alpha * (len(largest) + 1) + 1e-9)
    if place < 1 or not len(largest):
        return math.inf
    return float(np.partition(largest, len(largest) - place)[len(largest) - place])
