"""What a comparison cannot show with these data, said before anybody reads its table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from steadyrank.errors import warn
from steadyrank.stats.pairs.max_t import MaxT
from steadyrank.stats.pairs.result import PairTests
from steadyrank.stats.run_means import connected_runs
from steadyrank.studies.compare.result import SIMULTANEOUS

if TYPE_CHECKING:
    from steadyrank.studies.compare.tested import Settings


def warn_about_family(
    tests: PairTests,
    settings: Settings,
    correction: str,
    size: int,
    together: MaxT | None,
    drawn: str,
) -> None:
    """Too few samples, or too few topics, for anything in this family to be significant.

    `drawn` says how many topics or clusters there are, in words.
    """
    _warn_if_too_few_samples(settings, correction, size, tests.n_samples)
    if together is not None:
        _warn_if_too_few_topics(together, drawn, settings.alpha)


def _warn_if_too_few_samples(
    settings: Settings, correction: str, size: int, n_samples: int | None
) -> None:
    """A resampled p-value is 1 / (1 + B) or more, or, by count / B, 0 where no sample counted."""
    corrects = settings.test not in SIMULTANEOUS and correction in ("holm", "bonferroni")
    if n_samples is None or not corrects or size / (1 + n_samples) < settings.alpha:
        return
    problem = (
        "cannot give p-values small enough"
        if settings.mode == "sound"
        else "give p-values of 0, which pass any correction, or none that are small enough,"
    )
    warn(
        f"{n_samples} samples {problem} for {correction} over {size} comparisons: take more than "
        f"{math.ceil(size / settings.alpha)} samples, correction bh, or randomized-tukey",
        stacklevel=7,
    )


def _warn_if_too_few_topics(together: MaxT, drawn: str, alpha: float) -> None:
    """`drawn`: how many topics, or clusters of topics, there are to flip."""
    if 1.0 / (1.0 + together.n_patterns) > alpha:
        warn(
            f"{drawn} have only {together.n_patterns} sign patterns: no difference can "
            f"be significant at alpha {alpha:g}; correction holm has no such limit, but assumes "
            "normal differences",
            stacklevel=7,
        )


def warn_if_unlinked(matrix: np.ndarray, names: Sequence[str]) -> None:
    """Runs that share no topic, not even through others, have no order."""
    if not np.isnan(matrix).any():
        return
    groups = connected_runs(matrix)
    if len(groups) > 1:
        smallest, *_, largest = sorted(groups, key=len)
        warn(
            f"{names[smallest[0]]} shares no topic with {names[largest[0]]}, not "
            "even through other runs: the order of such runs reflects different topics, and "
            "nothing is claimed about them",
            stacklevel=6,
        )
