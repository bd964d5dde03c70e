"""Is this the same system, built again? A new build beside several that are known to be alike.

For pipelines that would otherwise guess a tolerance. The topics are the same in all builds, so that
only what building changes is random: the mean of a further build lies within m ± t s sqrt(1 + 1/K)
of the mean m and the standard deviation s of K builds' means with probability 1 - alpha, if these
are close to normal (a prediction interval; t has K - 1 degrees of freedom).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import stdtr, stdtrit

from steadyrank.errors import InputError
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.result import CONSTANT
from steadyrank.studies.gate.fits import Part, losses_of
from steadyrank.studies.gate.result import GateRow


def rebuilt_rows(parts: Sequence[Part], alpha: float) -> list[GateRow]:
    """A row per measure and segment; each at its share of alpha, by Bonferroni."""
    return [_row(part, alpha / len(parts), len(parts)) for part in parts]


def _row(part: Part, level: float, n_rows: int) -> GateRow:
    both = ~np.isnan(np.concatenate(part.runs)).any(axis=0)
    if not both.any():
        raise InputError(
            f"{part.measure}: no topic has a score in every build: complete the builds"
        )
    builds, (new,) = (side[:, both].mean(axis=1) for side in part.runs)
    n, mean = len(builds), float(builds.mean())
    error = float(builds.std(ddof=1)) * math.sqrt(1.0 + 1.0 / n)
    if np.ptp(builds) <= CONSTANT:  # rounding alone
        error = 0.0
    difference = float(new) - mean
    tolerance = error * float(stdtrit(n - 1, 1.0 - 0.5 * level))
    pvalue = float(abs(difference) <= CONSTANT)
    if error > 0.0:
        pvalue = min(1.0, n_rows * 2.0 * float(stdtr(n - 1, -abs(difference) / error)))
    is_within = abs(difference) <= max(tolerance, CONSTANT)
    n_topics = int(both.sum())
    return GateRow(
        measure=part.measure,
        margin=tolerance,
        segment=part.segment,
        n_topics=n_topics,
        n_clusters=n_topics,
        effective_topics=float(n_topics),
        design_effect=1.0,
        baseline=mean,
        candidate=float(new),
        difference=difference,
        interval=Interval(-tolerance, tolerance),
        pvalue_pass=math.nan,
        pvalue_fail=pvalue,
        verdict="pass" if is_within else "fail",
        losses=losses_of(part),
        method="rebuild",
    )
