"""Which signs are flipped: all patterns of few topics, or random ones of many, and their negatives.

Patterns come in blocks that depend on the seed alone, so that threads change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypedDict

import numpy as np

from steadyrank.compute.blas import one_blas_thread
from steadyrank.compute.executors import Progress, stream_in_order, workers
from steadyrank.compute.random import blocks_of
from steadyrank.stats.pairs.resampled import Block, sign_patterns

USUAL, FEWEST_DRAWN, WORK, SIGNS = 10_000, 500, 5 * 10**9, 5 * 10**8
"""Patterns that are drawn unless asked otherwise, the fewest, and at most how many statistics to
compute and signs to draw."""

ALWAYS_ENUMERATED = 16
"""Topics up to which all sign patterns are taken, however few samples are asked for."""


class Draws(TypedDict, total=False):
    """How signs are flipped: the level, the patterns to draw, their seed, and threads."""

    alpha: float
    n_samples: int
    seed: int
    jobs: int | None


class Flips(Draws, total=False):
    """The same, and who is to know how far it is."""

    progress: Progress | None


class Taken(NamedTuple):
    """Counts over all patterns of signs."""

    pvalue: np.ndarray
    """(1 + count) / (1 + patterns)."""
    kept: list[Any]
    """What was kept of each block, in order."""
    n_patterns: int
    """All there are, or those that were drawn."""
    exact: bool


def over_patterns(
    n_signs: int,
    count: Callable[[np.ndarray, np.ndarray], Any],
    size: int,
    *,
    n_pairs: int,
    flips: Flips,
) -> Taken:
    """Counts [size] over all patterns and their negatives, a block at a time.

    `count` is given patterns [pattern, sign], adds what it counts of these and of their negatives,
    and returns what is kept.
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
    """Whether all sign patterns are taken, and how many are; each counts with its negative.

    All where half of them are no more than samples to draw, and up to 16 topics, so that the seed
    is irrelevant. More than 500,000 pairs, or more than 50,000 topics, would take minutes: they
    have fewer patterns, down to 500, unless more than the usual 10,000 are asked for.

    >>> patterns_of(8, 10_000), patterns_of(50, 10_000), patterns_of(50, 10_000, 12_500_000)
    ((True, 128), (False, 10000), (False, 500))
    """
    affordable = max(FEWEST_DRAWN, min(WORK // max(1, n_pairs), SIGNS // max(1, n_topics)))
    if n_samples <= USUAL:
        n_samples = min(n_samples, affordable)
    half = 2 ** (min(n_topics, 62) - 1)
    few = n_topics <= ALWAYS_ENUMERATED and half <= 8 * affordable
    return (True, half) if few or half <= n_samples else (False, n_samples)


def signs_of_block(seed: int, block: Block, n_topics: int, exact: bool) -> np.ndarray:
    """Random signs [pattern, topic], or those of the patterns with these numbers, of which the
    last sign is 1: their negatives are the other half of all."""
    if not exact:
        return sign_patterns(seed, block, n_topics, "largest t")
    _, first, stop = block
    bits = ~(np.arange(first, stop)[:, None] >> np.arange(n_topics)) & 1
    return np.asarray(bits * 2.0 - 1.0)


def order_statistic(largest: np.ndarray, alpha: float) -> float:
    """The floor(alpha (B + 1))-th largest of B maxima; infinite where there is none."""
    # Rounding must not push alpha (B + 1) below a whole number.
    place = math.floor(alpha * (len(largest) + 1) + 1e-9)
    if place < 1 or not len(largest):
        return math.inf
    return float(np.partition(largest, len(largest) - place)[len(largest) - place])
