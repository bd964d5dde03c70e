"""What is corrected together: the settings of a call, tests not yet corrected, and one correction.

A family are the pairs of a measure, of all measures, or of all segments. And what a family cannot
show with these data, said before anybody reads its table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.data.levels import Levels
from steadyrank.errors import InputError, warn
from steadyrank.stats.facets.pairs import JudgedDecisions, JudgedTests, judged_decisions
from steadyrank.stats.instances.systems import Groups
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.stats.pairs.max_t import MaxT, could_be_first, max_t, max_t_level
from steadyrank.stats.pairs.result import PairTests
from steadyrank.stats.pairs.topic_design import PLAIN, TopicDesign, Units, cluster_sums
from steadyrank.stats.pairs.unit_max_t import unit_max_t
from steadyrank.stats.run_means import adjusted_means
from steadyrank.studies.compare.result import (
    SIMULTANEOUS,
    Alternative,
    Correction,
    Family,
    IntervalKind,
    Mode,
    Test,
)
from steadyrank.words import counted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corrected:
    """What the correction of a family makes of the tests of one measure."""

    correction: Correction
    adjusted: np.ndarray
    level: float
    """Of one comparison alone; 0 where no difference could be significant."""
    together: MaxT | None
    first: np.ndarray | None
    """Which rows could be the best; None where only the decisions say so."""
    n_comparisons: int
    n_measures: int
    n_segments: int
    judged: JudgedDecisions | None = None
    """Of systems by judge: their decisions, limits and ranks."""


def default_correction(test: str, baseline: str | None, n_pairs: int) -> Correction:
    """What suits the test and the family."""
    if test in SIMULTANEOUS:
        return "none"
    return "maxt" if test == "t" and baseline is None and n_pairs > 1 else "holm"


def corrected_family(family: Sequence[Tested], settings: CompareSettings) -> list[Corrected]:
    """The correction over all tests of a family, one part per measure."""
    pvalues = np.concatenate([one.tests.pvalue for one in family])
    chosen = settings.correction or default_correction(
        settings.test, settings.baseline, len(pvalues)
    )
    if (
        chosen == "maxt"
        and settings.correction is None
        and not all(one.is_flipped for one in family)
    ):
        chosen = "holm"
    size = int((~np.isnan(pvalues)).sum())
    together = _max_t(family, settings) if chosen == "maxt" else None
    if together is not None:
        adjusted = together.pvalue
        level = _max_t_level(family, together, settings.alpha)
    else:
        adjusted = adjust(pvalues, chosen)
        # Tukey's tests hold for all pairs of the runs: Bonferroni's level does, too.
        assumed = "bonferroni" if settings.test in SIMULTANEOUS else chosen
        level = decisions.comparison_alpha(pvalues, assumed, settings.alpha)
    _warn_if_too_few_samples(settings, chosen, size, family[0].tests.n_samples)
    if together is not None:
        noun = family[0].design.noun.removesuffix("s")
        _warn_if_too_few_topics(together, counted(family[0].n_units, noun), settings.alpha)
    tested = {one.segment for one in family if not np.isnan(one.tests.pvalue).all()}
    n_segments = max(1, len(tested))
    ends = np.cumsum([len(one.pairs) for one in family])[:-1]
    parts = np.split(adjusted, ends)
    judged = _judged(family, chosen, settings.alpha)
    return [
        Corrected(
            correction=chosen,
            adjusted=part if own is None else own.pvalue_adjusted,
            judged=own,
            level=level,
            together=together and _part_of(together, part, place, len(one.rows), ends),
            first=_first(one, part, place, together, settings),
            n_comparisons=size,
            n_measures=len({one.measure for one in family}),
            n_segments=n_segments,
        )
        for place, (one, part, own) in enumerate(zip(family, parts, judged, strict=True))
    ]


def _judged(
    family: Sequence[Tested], correction: str, alpha: float
) -> Sequence[JudgedDecisions | None]:
    """The decisions of systems by judge; None where rows are compared by other tests."""
    tests = [one.judged.tests for one in family if one.judged is not None and one.judged.decides]
    if not tests:
        return [None] * len(family)
    means = [one.judged.levels.means for one in family if one.judged is not None]
    return judged_decisions(tests, means, alpha, correction)


def _part_of(together: MaxT, pvalue: np.ndarray, place: int, n_rows: int, ends: np.ndarray) -> MaxT:
    """What a correction over several measures says of one of them."""
    return replace(
        together,
        pvalue=pvalue,
        critical=np.split(together.critical, ends)[place],
        reach=np.split(together.reach, ends)[place],
        first=together.first[place * n_rows : (place + 1) * n_rows],
    )


def _first(
    one: Tested, adjusted: np.ndarray, place: int, together: MaxT | None, settings: CompareSettings
) -> np.ndarray | None:
    """Which runs could be the best, by flips whatever the test of the pairs is.

    Of systems, of topics with gaps in clusters and with a baseline only the decisions say so.
    """
    n_rows = len(one.rows)
    if n_rows < 3:
        return None  # one pair is one question, and its test has answered it
    if together is not None and settings.baseline is None:
        return together.first[place * n_rows : (place + 1) * n_rows]
    is_about_first = settings.baseline is None and settings.asks_for_first
    if not is_about_first or one.by_model or one.segment is not None:
        return None
    flips: Any = {"alpha": settings.alpha, **settings.resampling}
    if not one.design.is_plain:
        return _max_t_of_clusters([one], one.pairs, flips).first if one.is_flipped else None
    means = adjusted_means(one.matrix)
    claimed = decisions.claims(one.tests, one.pairs, adjusted, means, settings.alpha)
    candidates = np.logical_not(decisions.beaten(n_rows, one.pairs, claimed).any(axis=0))
    return could_be_first(one.matrix, candidates, careful=settings.mode == "sound", **flips)


def _max_t(family: Sequence[Tested], settings: CompareSettings) -> MaxT:
    """Of several measures together: each has rows of its own, and all share a topic's sign."""
    n_rows = len(family[0].rows)
    pairs = np.concatenate([one.pairs + n_rows * place for place, one in enumerate(family)])
    drawn: Any = {"alpha": settings.alpha, **settings.resampling, "progress": settings.progress}
    if family[0].design.is_plain:
        matrix = np.concatenate([one.matrix for one in family])
        return max_t(matrix, pairs, careful=settings.mode == "sound", **drawn)
    return _max_t_of_clusters(family, pairs, drawn)


def _max_t_of_clusters(family: Sequence[Tested], pairs: np.ndarray, drawn: Any) -> MaxT:
    """With the signs of whole clusters flipped; `pairs` go through the rows of all measures."""
    units = [one.units for one in family if one.is_flipped]
    if len(units) < len(family) or units[0] is None:
        raise InputError(
            "correction maxt flips the signs of whole clusters: it requires at least two, and "
            "a score of every run on every topic; use correction holm"
        )
    sums = [own.sums for own in units if own is not None]
    errors = [one.tests.standard_error for one in family if one.tests.standard_error is not None]
    together = replace(units[0], sums=np.concatenate(sums))
    return unit_max_t(together, pairs, is_centred=False, errors=np.concatenate(errors), **drawn)


def _max_t_level(family: Sequence[Tested], together: MaxT, alpha: float) -> float:
    n, critical = np.concatenate([one.n_drawn for one in family]), together.critical
    if not family[0].design.is_plain and (n > 1).any():
        # In standard errors of the tests the limit differs a little from pair to pair.
        critical = np.full(len(n), np.median(critical[n > 1]))
    return max_t_level(n, critical, alpha)


def _warn_if_too_few_samples(
    settings: CompareSettings, correction: str, size: int, n_samples: int | None
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
        stacklevel=6,
    )


def _warn_if_too_few_topics(together: MaxT, drawn: str, alpha: float) -> None:
    """`drawn`: how many topics, or clusters of topics, there are to flip."""
    if 1.0 / (1.0 + together.n_patterns) > alpha:
        warn(
            f"{drawn} have only {together.n_patterns} sign patterns: no difference can "
            f"be significant at alpha {alpha:g}; correction holm has no such limit, but assumes "
            "normal differences",
            stacklevel=6,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareSettings:
    """What all comparisons of one call have in common."""

    test: Test = "t"
    correction: Correction | None = None
    alpha: float = 0.05
    baseline: str | None = None
    interval: IntervalKind | None = None
    alternative: Alternative = "two-sided"
    mode: Mode = "sound"
    family: Family = "measure"
    n_samples: int = 10_000
    jobs: int | None = None
    seed: int = 0
    progress: Progress | None = None
    """Called with the numbers of finished and of all blocks of sign patterns of the correction."""
    fixed: tuple[str, ...] = ()
    """Facets that are no sample: only "judge"."""
    asks_for_first: bool = True
    """Whether to find out which runs could be the best, which takes flips under any test."""

    @property
    def resampling(self) -> dict[str, Any]:
        """How resampling tests and intervals draw."""
        return {"n_samples": self.n_samples, "seed": self.seed, "jobs": self.jobs}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """Scores of systems by several judges, and what these are for the tests."""

    judges: tuple[str, ...]
    cells: np.ndarray
    """[system, topic, judge]."""
    levels: Levels
    is_fixed: bool
    """Whether tests are about these judges alone, and not about others."""
    decides: bool
    """Whether `tests` decide; else those of the means over judges, which all judges graded."""
    tests: JudgedTests
    random: JudgedTests
    """The same with judges random, whose errors stand beside those of fixed judges."""

    @property
    def scale(self) -> float:
        """How far two grades lie apart at most: no difference of means is larger."""
        return float(np.nanmax(self.cells) - np.nanmin(self.cells))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tested:
    """The tests of one measure, not yet corrected."""

    measure: str
    segment: str | None = None
    """The segment that the topics are from; None where they are all."""
    rows: tuple[str, ...]
    """Runs, or systems."""
    topics: tuple[str, ...]
    matrix: np.ndarray
    """Scores [row, topic] that the tests use."""
    n_topics: int
    n_dropped: int
    pairs: np.ndarray
    tests: PairTests
    instances: np.ndarray | None = None
    """Scores [run, topic] of the systems' instances."""
    groups: Groups | None = None
    judges: tuple[str, ...] = ()
    """Who graded, where it is known."""
    judged: Judged | None = None
    """What judges have graded, where there are several."""
    design: TopicDesign = PLAIN

    @property
    def by_model(self) -> bool:
        """Whether a model with random instances or judges made the tests."""
        return self.groups is not None or (self.judged is not None and self.judged.decides)

    @property
    def units(self) -> Units | None:
        """What is drawn where topics are clustered or weighted; None where a score is missing."""
        return None if np.isnan(self.matrix).any() else cluster_sums(self.matrix, self.design)

    @property
    def is_flipped(self) -> bool:
        """Whether signs can be flipped: of clusters, those of two or more that are complete."""
        return self.design.is_plain or (self.n_units > 1 and not np.isnan(self.matrix).any())

    @property
    def n_drawn(self) -> np.ndarray:
        """Of each pair: the clusters, or the topics, that are drawn."""
        if self.design.is_plain or np.isnan(self.matrix).any():
            return self.tests.n
        return np.full(len(self.pairs), self.n_units)

    @property
    def n_units(self) -> int:
        """Clusters, or topics where these are not clustered."""
        return self.design.n_clusters or self.matrix.shape[1]
