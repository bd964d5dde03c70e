"""All pairs at once where every estimate is the sum of two means: flips of both kinds of topics.

The topics of people and those of the judge alone are independent samples. Under the hypothesis of
no difference the signs of either may be flipped, so the largest t of all pairs has the same null
distribution by flips as with one sample (`steadyrank.stats.pairs.max_t`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.compute.random import blocks_of
from steadyrank.stats.judges import kernels
from steadyrank.stats.judges.corrected import CorrectedParts
from steadyrank.stats.pairs.kernels import step_counts
from steadyrank.stats.pairs.max_t import (
    VALUES_AT_ONCE,
    MaxT,
    enumerates_all,
    order_statistic,
    signs_of_block,
)
from steadyrank.stats.pairs.resampled import Block
from steadyrank.stats.pairs.result import CONSTANT
from steadyrank.stats.pairs.tests import in_threads, moments


def two_part_max_t(
    parts: CorrectedParts,
    pairs: np.ndarray,
    statistic: np.ndarray,
    *,
    places: np.ndarray,
    alpha: float,
    n_samples: int,
    seed: int,
    jobs: int | None = None,
) -> MaxT:
    """Adjusted p-values and critical values of the observed `statistic` of each pair.

    `places` says which columns of a pattern of signs are the topics of the first part, then of the
    second: random numbers meet topics by their names. Infinite statistics (differences without
    spread) are rejected, and NaN (no difference at all) never.
    """
    family = _family(parts, pairs, statistic)
    n_topics = len(places)
    exact = enumerates_all(n_topics, n_samples)
    blocks = blocks_of(2**n_topics if exact else n_samples)
    own, further = (_centred_columns(part) for part in (parts.residual, parts.followed))

    def count(block: Block) -> tuple[np.ndarray, np.ndarray]:
        signs = signs_of_block(seed, block, n_topics, exact)[:, places]
        sums = signs[:, : len(own)] @ own, signs[:, len(own) :] @ further
        counts, largest = np.zeros(len(family.place), np.int64), np.empty(len(signs))
        at_once = max(1, VALUES_AT_ONCE // max(1, len(family.place)))
        for first in range(0, len(signs), at_once):
            some = slice(first, first + at_once)
            values = np.empty((len(signs[some]), len(family.place)))
            family.fill(sums[0][some], sums[1][some], values)
            step_counts(values, family.observed, counts, largest[some])
        return counts, largest

    answers = in_threads(count, blocks, jobs=jobs)
    counts = np.sum([counts for counts, _ in answers], axis=0)
    largest = np.concatenate([largest for _, largest in answers])
    n_patterns = len(largest) // 2 if exact else len(largest)
    if exact:
        # Statistics of one-sided hypotheses change with a flip of all signs: both count, by half.
        counts = counts / 2.0
    pvalue = np.ones(len(pairs))
    stepped = np.maximum.accumulate((1.0 + counts) / (1.0 + n_patterns))
    pvalue[family.place] = np.minimum(1.0, stepped)
    limit = order_statistic(largest, alpha, n_patterns)
    return MaxT(
        pvalue=pvalue, critical=np.full(len(pairs), limit), n_patterns=n_patterns, exact=exact
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Family:
    """The tested pairs from the largest statistic down, the better run first."""

    place: np.ndarray
    """Which pair each is."""
    pairs: np.ndarray
    observed: np.ndarray
    sizes: tuple[float, float]
    """Topics of both parts."""
    squares: tuple[np.ndarray, np.ndarray]
    """Sums of squared centred differences of both parts."""
    tiny: np.ndarray
    """Variances up to here are rounding."""

    def fill(self, own: np.ndarray, further: np.ndarray, values: np.ndarray) -> None:
        """The statistics [pattern, pair] of sums of signed scores [pattern, run]."""
        kernels.two_part_t(own, further, self.pairs, *self.squares, *self.sizes, self.tiny, values)


def _family(parts: CorrectedParts, pairs: np.ndarray, statistic: np.ndarray) -> _Family:
    tested = np.flatnonzero(~np.isnan(statistic))
    size = np.abs(statistic[tested])
    order = np.lexsort((tested, -size))
    place = tested[order]
    better = np.where((statistic < 0.0)[:, None], pairs[:, ::-1], pairs)[place]
    n, n_more = float(parts.residual.shape[1]), float(parts.followed.shape[1])
    own = moments(parts.residual, better).sd ** 2 * (n - 1.0)
    further = moments(parts.followed, better).sd ** 2 * (n_more - 1.0)
    spread = own / n**2 + further / n_more**2
    return _Family(
        place=place,
        pairs=np.ascontiguousarray(better),
        observed=size[order] * (1.0 - CONSTANT),
        sizes=(n, n_more),
        squares=(own, further),
        tiny=np.maximum(CONSTANT * spread, CONSTANT**2),
    )


def _centred_columns(part: np.ndarray) -> np.ndarray:
    """[topic, run]"""
    return np.ascontiguousarray((part - part.mean(axis=1, keepdims=True)).T)
