"""What `compare` does where topics come in clusters or have weights.

Tests, intervals, the correction over all pairs and the intervals of means, each with whole clusters
as what was drawn. Scores that are missing leave the t test alone, pair by pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.data.scores import Scores, cluster_codes, mean_of_present, topic_weights
from steadyrank.errors import InputError
from steadyrank.stats.pairs.cluster_resampling import (
    cluster_bootstrap,
    cluster_max_t,
    cluster_randomization,
)
from steadyrank.stats.pairs.clustered import design_effect, mean_difference
from steadyrank.stats.pairs.max_t import MaxT
from steadyrank.stats.pairs.result import PairTests
from steadyrank.stats.pairs.topic_design import ClusterSums, TopicDesign, cluster_t, linearised
from steadyrank.stats.selection import expected_means

if TYPE_CHECKING:
    from steadyrank.studies.compare.tested import Settings

TESTS = ("t", "randomization", "bootstrap")
"""Those that clustered or weighted topics have."""


def topic_design(scores: Scores) -> TopicDesign:
    """How the topics were drawn, as far as their information says."""
    return TopicDesign(clusters=cluster_codes(scores), weights=topic_weights(scores))


def check_clustered(settings: Settings, *, is_by_system: bool, has_gaps: bool) -> None:
    """Refuse what takes topics for independent draws that count the same."""
    what = "clustered or weighted topics"
    if is_by_system:
        raise InputError(
            f"systems with several runs are compared by a mixed model, which has no {what}: "
            'compare run by run with by="run"'
        )
    if settings.test not in TESTS:
        raise InputError(f"test {settings.test} has no {what}: choose from {', '.join(TESTS)}")
    if settings.mode == "paper" or settings.interval is not None:
        which = "mode paper" if settings.mode == "paper" else f"interval {settings.interval}"
        raise InputError(f"{which} resamples single topics and does not support {what}: omit it")
    if has_gaps and (settings.test != "t" or settings.correction == "maxt"):
        which = "correction maxt" if settings.test == "t" else f"test {settings.test}"
        raise InputError(
            f"{which} of {what} requires a score of every run on every topic: use test t with "
            'correction holm, or missing="zero"'
        )


def clustered_tests(
    matrix: np.ndarray,
    pairs: np.ndarray,
    design: TopicDesign,
    units: ClusterSums | None,
    settings: Settings,
) -> PairTests:
    """The test of the settings; `check_clustered` refuses those that there are none of."""
    base = cluster_t(matrix, pairs, design)
    if settings.test == "t" or units is None or len(units.share) < 2:
        return base
    if settings.test == "randomization":
        return cluster_randomization(units, pairs, base, **settings.resampling)
    alternative = settings.alternative
    return cluster_bootstrap(units, pairs, base, alternative=alternative, **settings.resampling)


def clustered_max_t(
    family: Sequence[tuple[ClusterSums | None, PairTests]], pairs: np.ndarray, drawn: Any
) -> MaxT:
    """One correction for the tests of several measures: `pairs` go through all of their rows."""
    units = [own for own, _ in family if own is not None and len(own.share) > 1]
    if len(units) < len(family):
        raise InputError(
            "correction maxt flips the signs of whole clusters: it requires at least two, and "
            "a score of every run on every topic; use correction holm"
        )
    errors = [tests.standard_error for _, tests in family if tests.standard_error is not None]
    stacked = replace(units[0], sums=np.concatenate([own.sums for own in units]))
    return cluster_max_t(stacked, pairs, np.concatenate(errors), **drawn)


def design_figures(matrix: np.ndarray, design: TopicDesign) -> dict[str, Any]:
    """How topics were drawn, and what clusters do to the variance of a difference."""
    figures: dict[str, Any] = {"effective_topics": design.effective_topics}
    if design.clusters is not None:
        rows = matrix - mean_of_present(matrix.T)
        effect = design_effect(rows, design.clusters, design.weights)
        figures |= {"n_clusters": design.n_clusters, "design_effect": effect}
    return figures


def robust_means(
    matrix: np.ndarray,
    design: TopicDesign,
    units: ClusterSums | None,
    means: np.ndarray,
    level: float,
) -> dict[str, Any]:
    """Intervals and expectations of means; nothing is expected where scores are missing."""
    fits = [
        mean_difference(row, clusters=design.clusters, weights=design.weights) for row in matrix
    ]
    limits = np.array([fit.student_interval(level) for fit in fits])
    # Where scores are missing, the interval is about the adjusted mean, not about a run's own.
    limits += means[:, None] - np.array([[fit.mean] for fit in fits])
    expected = np.full(len(means), np.nan)
    if units is not None:
        expected = expected_means(linearised(units)).mean
        shift = expected - means
        limits += np.stack([np.minimum(shift, 0.0), np.maximum(shift, 0.0)], axis=1)
    return {"mean_interval": limits, "expected_mean": expected}
