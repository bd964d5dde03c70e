"""The intervals that `compare` prints beside its decisions, and of which kind they are.

Each test has its own, at the level that the correction leaves to a single comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import stdtrit

from steadyrank.errors import warn
from steadyrank.stats.pairs import resampled
from steadyrank.stats.pairs.intervals import bootstrap_intervals, t_intervals
from steadyrank.stats.pairs.result import TOO_FEW, PairTests
from steadyrank.stats.pairs.skewed import limits_of
from steadyrank.studies.compare.correcting import Corrected
from steadyrank.studies.compare.result import IntervalKind
from steadyrank.studies.compare.tested import CompareSettings, Tested

FEW_TOPICS = 20
"""Below, percentile and BCa intervals are too short."""


def pair_intervals(
    one: Tested, corrected: Corrected, settings: CompareSettings
) -> tuple[np.ndarray, str]:
    """Limits of the differences [pair, 2], and of which kind these are."""
    tests, matrix, pairs, level = one.tests, one.matrix, one.pairs, corrected.level
    if settings.interval is not None:
        _warn_if_too_short(settings.interval, matrix.shape[1])
        return _asked_intervals(one, settings.interval, level, settings)
    if corrected.together is not None:
        return _careful_limits(tests, corrected.together.reach), "simultaneous, max-t"
    if tests.half_width is not None:
        sides = tests.half_width[:, None] * [-1.0, 1.0]
        return tests.difference[:, None] + sides, "simultaneous, Tukey"
    drawn: Any = {"alpha": level, "design": one.design, **settings.resampling}
    plain = one.design.is_plain
    robust, of_units = ("", "") if plain else (", robust standard errors", f" of {one.design.noun}")
    own: dict[str, tuple[Callable[[], np.ndarray], str]] = {
        "t": (lambda: _model_limits(tests, level), f"Student's t{robust}"),
        "wilcoxon": (
            lambda: resampled.hodges_lehmann_limits(matrix, pairs, alpha=level),
            "Hodges–Lehmann, of the pseudomedian",
        ),
        "sign": (
            lambda: resampled.median_limits(matrix, pairs, alpha=level),
            "of the median of the non-zero differences",
        ),
        "randomization": (
            lambda: resampled.flip_limits(matrix, pairs, **drawn),
            f"inverted randomization test{of_units}",
        ),
        "bootstrap": (
            lambda: resampled.bootstrap_t_limits(
                matrix, pairs, alternative=settings.alternative, **drawn
            ),
            f"studentized bootstrap{of_units}",
        ),
        "mixed": (lambda: _model_limits(tests, level), "of the mixed model"),
    }
    few = not plain and one.n_units < 2
    limits_of, words = own["t" if few else settings.test]
    return limits_of(), f"{words}{_together(corrected.correction, corrected.n_comparisons)}"


def _careful_limits(tests: PairTests, reach: np.ndarray) -> np.ndarray:
    """So many standard errors off."""
    assert tests.standard_error is not None  # t tests have them
    limits = limits_of(tests.difference, tests.standard_error, reach)
    limits[tests.flag == TOO_FEW] = np.nan
    return limits


def _model_limits(tests: PairTests, level: float) -> np.ndarray:
    """difference ± t(df) standard errors."""
    assert tests.standard_error is not None  # t tests and those by a model have both
    with np.errstate(invalid="ignore"):
        half_width = stdtrit(tests.df, 1.0 - 0.5 * level) * tests.standard_error
    half_width = np.where(tests.standard_error == 0.0, 0.0, half_width)
    return np.stack([tests.difference - half_width, tests.difference + half_width], axis=1)


def _asked_intervals(
    one: Tested, kind: IntervalKind, level: float, settings: CompareSettings
) -> tuple[np.ndarray, str]:
    words = "as requested, not of the test: may disagree with its decisions"
    if level == 0.0:
        return np.tile([-np.inf, np.inf], (len(one.pairs), 1)), words
    if kind == "t":
        limits = t_intervals(one.matrix, one.pairs, confidence=1 - level)
        return limits, f"Student's t ({words})"
    how: Any = {"kind": kind, "confidence": 1 - level, **settings.resampling}
    return bootstrap_intervals(one.matrix, one.pairs, **how), f"{kind} bootstrap ({words})"


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
