"""The intervals that `compare` prints beside its decisions, and of which kind they are.

Each test has its own, at the level that the correction leaves to a single comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.special import stdtrit

from steadyrank.errors import warn
from steadyrank.stats.pairs import inverted
from steadyrank.stats.pairs.cluster_resampling import cluster_bootstrap_limits, cluster_flip_limits
from steadyrank.stats.pairs.intervals import bootstrap_intervals, t_intervals
from steadyrank.stats.pairs.max_t import MaxT
from steadyrank.stats.pairs.result import TOO_FEW, PairTests
from steadyrank.stats.pairs.skewed import limits_of
from steadyrank.stats.pairs.tests import moments
from steadyrank.stats.pairs.topic_design import ClusterSums
from steadyrank.studies.compare.result import Test

IntervalKind = Literal["t", "percentile", "bca", "studentized"]
Alternative = Literal["two-sided", "greater"]

FEW_TOPICS = 20
"""Below, percentile and BCa intervals are too short."""


def pair_intervals(
    matrix: np.ndarray,
    pairs: np.ndarray,
    tests: PairTests,
    *,
    test: Test,
    kind: IntervalKind | None,
    correction: str,
    level: float,
    together: MaxT | None,
    alternative: Alternative,
    n_comparisons: int,
    units: ClusterSums | None,
    n_samples: int,
    jobs: int | None,
    seed: int,
) -> tuple[np.ndarray, str]:
    """Limits of the differences [pair, 2], and of which kind these are.

    `n_comparisons` are corrected together, those of other measures among them.
    """
    if kind is not None:
        _warn_if_too_short(kind, matrix.shape[1])
        return _asked_intervals(matrix, pairs, kind, level, n_samples, jobs, seed)
    if together is not None:
        limits = _careful_limits(matrix, pairs, tests, together.reach)
        return limits, "simultaneous, max-t"
    if tests.half_width is not None:
        sides = tests.half_width[:, None] * [-1.0, 1.0]
        return tests.difference[:, None] + sides, "simultaneous, Tukey"
    resampled: Any = {"n_samples": n_samples, "seed": seed, "jobs": jobs}
    if tests.standard_error is not None and test != "mixed":
        limits, words = _robust_limits(tests, pairs, units, test, level, alternative, resampled)
        return limits, f"{words}{_together(correction, n_comparisons)}"
    own: dict[str, tuple[Callable[[], np.ndarray], str]] = {
        "t": (lambda: t_intervals(matrix, pairs, confidence=1 - level), "Student's t"),
        "wilcoxon": (
            lambda: inverted.hodges_lehmann_limits(matrix, pairs, alpha=level),
            "Hodges–Lehmann, of the pseudomedian",
        ),
        "sign": (
            lambda: inverted.median_limits(matrix, pairs, alpha=level),
            "of the median of the non-zero differences",
        ),
        "randomization": (
            lambda: inverted.flip_limits(matrix, pairs, alpha=level, **resampled),
            "inverted randomization test",
        ),
        "bootstrap": (
            lambda: inverted.bootstrap_t_limits(
                matrix, pairs, alpha=level, alternative=alternative, **resampled
            ),
            "studentized bootstrap",
        ),
        "mixed": (lambda: _model_limits(tests, level), "of the mixed model"),
    }
    limits_of, words = own[test]
    return limits_of(), f"{words}{_together(correction, n_comparisons)}"


def _careful_limits(
    matrix: np.ndarray, pairs: np.ndarray, tests: PairTests, reach: np.ndarray
) -> np.ndarray:
    """So many standard errors off: those of the tests where they have their own."""
    error = tests.standard_error
    limits = limits_of(
        tests.difference, moments(matrix, pairs).standard_error if error is None else error, reach
    )
    limits[tests.flag == TOO_FEW] = np.nan
    return limits


def _robust_limits(
    tests: PairTests,
    pairs: np.ndarray,
    units: ClusterSums | None,
    test: Test,
    level: float,
    alternative: Alternative,
    resampled: Any,
) -> tuple[np.ndarray, str]:
    """Limits where topics are clustered or weighted, by the test's own way to draw them."""
    if test == "t" or units is None or len(units.share) < 2:
        return _model_limits(tests, level), "Student's t, robust standard errors"
    if test == "randomization":
        limits = cluster_flip_limits(units, pairs, alpha=level, **resampled)
        return limits, f"inverted randomization test of {units.noun}"
    limits = cluster_bootstrap_limits(
        units, pairs, tests, alpha=level, alternative=alternative, **resampled
    )
    return limits, f"studentized bootstrap of {units.noun}"


def _model_limits(tests: PairTests, level: float) -> np.ndarray:
    """difference ± t(df) standard errors."""
    assert tests.standard_error is not None  # tests by a model have both
    half_width = stdtrit(tests.df, 1.0 - 0.5 * level) * tests.standard_error
    half_width = np.where(tests.standard_error == 0.0, 0.0, half_width)
    return np.stack([tests.difference - half_width, tests.difference + half_width], axis=1)


def _asked_intervals(
    matrix: np.ndarray,
    pairs: np.ndarray,
    kind: IntervalKind,
    level: float,
    n_samples: int,
    jobs: int | None,
    seed: int,
) -> tuple[np.ndarray, str]:
    words = "as requested, not of the test: may disagree with its decisions"
    if level == 0.0:
        return np.tile([-np.inf, np.inf], (len(pairs), 1)), words
    if kind == "t":
        limits = t_intervals(matrix, pairs, confidence=1 - level)
        return limits, f"Student's t ({words})"
    limits = bootstrap_intervals(
        matrix, pairs, kind=kind, confidence=1 - level, n_samples=n_samples, seed=seed, jobs=jobs
    )
    return limits, f"{kind} bootstrap ({words})"


def _together(correction: str, n_comparisons: int) -> str:
    """What the correction makes of intervals at its level."""
    if n_comparisons == 1 or correction == "none":
        return "" if n_comparisons == 1 else ", one at a time"
    return ", selected (false coverage rate)" if correction == "bh" else ", simultaneous"


def _warn_if_too_short(kind: str, n_topics: int) -> None:
    if kind in ("percentile", "bca") and n_topics < FEW_TOPICS:
        warn(
            f"{kind} bootstrap intervals are too short with {n_topics} topics: use studentized "
            f"or t below {FEW_TOPICS}",
            stacklevel=5,
        )
