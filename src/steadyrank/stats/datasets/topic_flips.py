"""These datasets, other topics: all pairs at once by flips of topics within their datasets.

For collections whose scores by topic are known. Datasets are strata: each keeps its weight, and the
variance of a difference is the sum of those of the datasets' means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from scipy.special import stdtrit

from steadyrank.errors import InputError
from steadyrank.stats.datasets import kernels
from steadyrank.stats.datasets.flips import PAIRS_AT_ONCE, Flipped, flipped, smallest_error
from steadyrank.stats.pairs.max_t import Flips, MaxT
from steadyrank.stats.pairs.tests import slices


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Strata:
    """Datasets with their topics' scores, complete, and the weight of each dataset's mean."""

    scores: tuple[np.ndarray, ...]
    """[run, topic] of each dataset."""
    weight: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Topics of each dataset."""
        return np.array([scores.shape[1] for scores in self.scores], np.float64)

    @property
    def value(self) -> np.ndarray:
        """One per run: the weighted mean of the datasets' means."""
        return np.asarray(self.means @ self.weight)

    @property
    def means(self) -> np.ndarray:
        """[run, dataset]"""
        return np.stack([scores.mean(axis=1) for scores in self.scores], axis=1)


def strata_of(topic_scores: Sequence[np.ndarray], weight: np.ndarray) -> tuple[Strata, int]:
    """Complete topics of each dataset, and how many topics were left out as some run lacks them."""
    kept = [scores[:, ~np.isnan(scores).any(axis=0)] for scores in topic_scores]
    if any(scores.shape[1] < 2 for scores in kept):
        raise InputError(
            "resampling topics requires two topics of every dataset that all runs have"
        )
    dropped = sum(old.shape[1] - new.shape[1] for old, new in zip(topic_scores, kept, strict=True))
    return Strata(scores=tuple(kept), weight=weight), dropped


def topic_max_t(strata: Strata, pairs: np.ndarray, **flips: Unpack[Flips]) -> MaxT:
    """`max_t` with topics resampled within datasets, which stay."""
    pairs = np.ascontiguousarray(pairs)
    value, sizes = strata.value, strata.sizes
    difference = value[pairs[:, 0]] - value[pairs[:, 1]]
    squares, skewness = _squares_and_skewness(strata, pairs)
    error = _errors(strata, squares)
    squares[:, error <= smallest_error(difference)] = 0.0
    centred = [np.ascontiguousarray((s - s.mean(axis=1)[:, None]).T) for s in strata.scores]
    ends = np.cumsum(sizes).astype(int)

    def sums_of(signs: np.ndarray) -> tuple[np.ndarray, ...]:
        parts = np.split(signs, ends[:-1], axis=1)
        return (np.stack([p @ c for p, c in zip(parts, centred, strict=True)], axis=1),)

    def statistics(ordered: np.ndarray, rows: np.ndarray, sums: np.ndarray) -> np.ndarray:
        out = np.empty((len(sums), len(ordered)))
        kernels.topic_statistics(sums, ordered, squares[:, rows], sizes, strata.weight, out)
        return out

    observed = Flipped(
        difference=difference,
        error=error,
        skewness=skewness,
        n_draws=float(1.0 / (strata.weight**2 / sizes).sum()),
        n_signs=int(ends[-1]),
        sums=sums_of,
        statistics=statistics,
    )
    return flipped(observed, pairs, **flips)


def _errors(strata: Strata, squares: np.ndarray) -> np.ndarray:
    """Standard errors of the weighted differences, of squares [dataset, pair]."""
    n = strata.sizes
    return np.asarray(np.sqrt(strata.weight**2 / (n * (n - 1.0)) @ squares))


def topic_intervals(strata: Strata, confidence: float) -> np.ndarray:
    """Welch's intervals [run, 2] of the values, for one run at a time."""
    n = strata.sizes
    spread = np.stack([scores.var(axis=1, ddof=1) for scores in strata.scores], axis=1)
    parts = strata.weight**2 * spread / n
    variance = parts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = variance**2 / (parts**2 / (n - 1.0)).sum(axis=1)
    df = np.where(variance > 0.0, df, 1.0)
    half = stdtrit(df, 0.5 + 0.5 * confidence) * np.sqrt(variance)
    return np.stack([strata.value - half, strata.value + half], axis=1)


def _squares_and_skewness(strata: Strata, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[dataset, pair]: sums of squares of the pairs' centred differences; and the skewness that
    these give the weighted mean difference of each pair."""
    squares, cubes = np.empty((2, len(strata.scores), len(pairs)))
    for k, scores in enumerate(strata.scores):
        centred = scores - scores.mean(axis=1)[:, None]
        for part in slices(len(pairs), max(1, PAIRS_AT_ONCE * 64 // scores.shape[1])):
            first, second = pairs[part].T
            off = centred[first] - centred[second]
            squares[k, part], cubes[k, part] = (off**2).sum(axis=1), (off**3).sum(axis=1)
    share = (strata.weight / strata.sizes)[:, None]
    total = (share**2 * squares).sum(axis=0)
    return squares, (share**3 * cubes).sum(axis=0) / np.where(total > 0.0, total, 1.0) ** 1.5
