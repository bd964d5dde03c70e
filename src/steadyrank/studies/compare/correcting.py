"""Families of tests and their corrections, and the settings of a call.

A family is the pairs of a measure, or of all its segments. Warnings say what a family cannot show
with the data given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.data.levels import Levels
from steadyrank.errors import InputError, warn
from steadyrank.stats.facets.pairs import JudgedTests
from steadyrank.stats.instances.systems import Groups
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.stats.pairs.max_t import MaxT, max_t, max_t_level, unit_max_t
from steadyrank.stats.pairs.result import PairTests
from steadyrank.stats.pairs.topic_design import PLAIN, TopicDesign, Units, cluster_sums
from steadyrank.stats.run_means import SAME_MEAN, in_order
from steadyrank.studies.compare.result import Correction, Mode, Test
from steadyrank.studies.compare.wording import SIMULTANEOUS
from steadyrank.words import counted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corrected:
    """The corrected tests of one measure, or of one segment."""

    correction: Correction
    adjusted: np.ndarray
    """[pair]: adjusted p-values."""
    own: np.ndarray
    """[pair, 2]: p-values adjusted in the family of the pair's first row, and of its second."""
    level: float
    """Level of one comparison at the first step; 0 where no difference could be significant."""
    step_level: np.ndarray
    """[pair]: level of each comparison at the step that decides it."""
    width: np.ndarray | None
    """[pair, 2]: distances from a difference down and up to its simultaneous limits; None where
    limits follow from `level`."""
    lead_width: np.ndarray | None
    """[2]: distances for the best row and the next, in the family of the next row's pairs."""
    n_patterns: int
    exact: bool
    n_comparisons: int
    n_segments: int


def default_correction(test: str, n_pairs: int, mode: Mode) -> Correction:
    """Return the correction for a test and a family; for one pair, max-t is the corrected t."""
    if test in SIMULTANEOUS:
        return "none"
    return "maxt" if test == "t" and (n_pairs > 1 or mode == "sound") else "holm"


def corrected_family(family: Sequence[Tested], settings: CompareSettings) -> list[Corrected]:
    """Correct all tests of a family: those of one measure, or of its segments."""
    pvalues = np.concatenate([one.tests.pvalue for one in family])
    chosen = settings.correction or default_correction(settings.test, len(pvalues), settings.mode)
    if settings.correction is None and not all(one.is_flipped for one in family):
        chosen = "holm" if chosen == "maxt" else chosen
    size = int((~np.isnan(pvalues)).sum())
    _warn_if_too_few_samples(settings, chosen, size, family[0].tests.n_samples)
    tested = {one.segment for one in family if not np.isnan(one.tests.pvalue).all()}
    parts = _by_pvalues(family, pvalues, chosen, settings)
    if chosen == "maxt":  # not for segments, which share no topic whose sign could be flipped
        parts = (_by_flips(one, settings) for one in family)
    shared: Any = {"correction": chosen, "n_comparisons": size, "n_segments": max(1, len(tested))}
    return [Corrected(**shared, **part) for part in parts]


def _by_flips(one: Tested, settings: CompareSettings) -> dict[str, Any]:
    together = _max_t(one, settings)
    level = max_t_level(one.n_drawn, together.critical, settings.alpha)
    if together.least_pvalue > settings.alpha:
        drawn = counted(one.n_units, one.design.noun.removesuffix("s"))
        warn(
            f"{drawn} have only {together.n_patterns} sign patterns: no difference can be "
            f"significant at alpha {settings.alpha:g}; correction holm has no such limit, but "
            "assumes normal differences"
        )
    return {
        "adjusted": np.where(one.tests.n < 2, np.nan, together.pvalue),
        "own": together.own,
        "level": level,
        "step_level": np.full(len(one.pairs), level),
        "width": together.width,
        "lead_width": None if one.lead is None else together.lead_width[0],
        "n_patterns": together.n_patterns,
        "exact": together.exact,
    }


def _by_pvalues(
    family: Sequence[Tested], pvalues: np.ndarray, chosen: str, settings: CompareSettings
) -> Iterator[dict[str, Any]]:
    # Tukey's tests hold for all pairs of the runs, as Bonferroni's level does.
    assumed = "bonferroni" if settings.test in SIMULTANEOUS else chosen
    levels = decisions.step_levels(pvalues, assumed, settings.alpha)
    ends = np.cumsum([len(one.pairs) for one in family])[:-1]
    parts = (np.split(each, ends) for each in (pvalues, adjust(pvalues, chosen), levels))
    for one, alone, adjusted, step_level in zip(family, *parts, strict=True):
        also = one.tests.own_pvalue  # the pair's p-value alone must also show the difference
        yield {
            "adjusted": adjusted if also is None else np.fmax(adjusted, also),
            "own": decisions.own_pvalues(alone, one.pairs, len(one.rows), chosen),
            "level": decisions.comparison_alpha(pvalues, assumed, settings.alpha),
            "step_level": step_level,
            "width": None,
            "lead_width": None,
            "n_patterns": 0,
            "exact": False,
        }


def _max_t(one: Tested, settings: CompareSettings) -> MaxT:
    drawn: Any = {
        "alpha": settings.alpha,
        **settings.resampling,
        "progress": settings.progress,
        "leads": [] if one.lead is None else [one.lead],
        "careful": settings.mode == "sound",
    }
    if one.design.is_plain:
        return max_t(one.matrix, one.pairs, **drawn)
    units = one.units
    if units is None or one.n_units < 2:
        raise InputError(
            "correction maxt flips the signs of whole clusters: it requires at least two, and "
            "a score of every run on every topic; use correction holm"
        )
    return unit_max_t(units, one.pairs, is_centred=False, **drawn)


def _warn_if_too_few_samples(
    settings: CompareSettings, correction: str, size: int, n_samples: int | None
) -> None:
    """Warn where no resampled p-value, 1 / (1 + B) or more, or count / B, is small enough."""
    corrects = settings.test not in SIMULTANEOUS and correction in ("holm", "bonferroni")
    if n_samples is None or not corrects or size / (1 + n_samples) < settings.alpha:
        return
    small = "small enough" if settings.mode == "sound" else "small enough but 0"
    warn(
        f"{n_samples} samples cannot give p-values {small} for {correction} over {size} "
        f"comparisons: take more than {math.ceil(size / settings.alpha)} samples, correction bh, "
        "or randomized-tukey"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareSettings:
    """Settings of all comparisons of one call."""

    test: Test = "t"
    correction: Correction | None = None
    alpha: float = 0.05
    baseline: str | None = None
    mode: Mode = "sound"
    n_samples: int = 10_000
    jobs: int | None = None
    seed: int = 0
    progress: Progress | None = None
    """Called with (finished, total) blocks of sign patterns of the correction."""
    fixed: tuple[str, ...] = ()
    """Facets whose levels are not a sample; only "judge" can be fixed."""

    @property
    def resampling(self) -> dict[str, Any]:
        """Return the options of resampling tests and intervals."""
        return {"n_samples": self.n_samples, "seed": self.seed, "jobs": self.jobs}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """Scores of systems by several judges, and the tests by these judges."""

    judges: tuple[str, ...]
    cells: np.ndarray
    """[system, topic, judge]."""
    shown: np.ndarray
    """[system, topic]: scores on the scale of the grades, which say who is ahead on a topic."""
    levels: Levels
    is_fixed: bool
    """Whether tests are about these judges alone, and not about others."""
    decides: bool
    """Whether `tests` decide; otherwise, tests of the means over judges do."""
    tests: JudgedTests
    random: JudgedTests
    """Tests of the same pairs with random judges."""
    every: JudgedTests
    """Tests of all pairs with random judges."""

    @property
    def scale(self) -> float:
        """Return the range of the grades, which no difference of means exceeds."""
        return float(np.nanmax(self.cells) - np.nanmin(self.cells))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tested:
    """The tests of one measure before correction."""

    measure: str
    segment: str | None = None
    """The segment that the topics are from; None for all topics."""
    rows: tuple[str, ...]
    """Names of the runs, or of the systems."""
    topics: tuple[str, ...]
    matrix: np.ndarray
    """[row, topic]: the scores that the tests use."""
    means: np.ndarray
    """[row]: means; least-squares means where scores are missing."""
    n_topics: int
    n_dropped: int
    pairs: np.ndarray
    tests: PairTests
    instances: np.ndarray | None = None
    """[run, topic]: scores of the systems' instances."""
    groups: Groups | None = None
    judges: tuple[str, ...] = ()
    """Names of the judges, where these are known."""
    judged: Judged | None = None
    """The grades of several judges; None with fewer than two."""
    design: TopicDesign = PLAIN
    baseline: str | None = None

    @property
    def lead(self) -> tuple[int, int] | None:
        """Return the best row and the next, or the next below where several share first place."""
        order = in_order(self.means, self.rows)
        if self.baseline is not None or len(order) < 2:
            return None
        below = [row for row in order if self.means[order[0]] - self.means[row] > SAME_MEAN]
        return order[0], (below or order[1:])[0]

    @property
    def by_model(self) -> bool:
        """Whether a model with random instances or judges made the tests."""
        return self.groups is not None or (self.judged is not None and self.judged.decides)

    @property
    def units(self) -> Units | None:
        """Return the clusters, or weighted topics; None where a score is missing."""
        return None if np.isnan(self.matrix).any() else cluster_sums(self.matrix, self.design)

    @property
    def is_flipped(self) -> bool:
        """Whether signs can be flipped: clusters must be complete, and two or more."""
        return self.design.is_plain or (self.n_units > 1 and self.units is not None)

    @property
    def n_drawn(self) -> np.ndarray:
        """[pair]: number of clusters, or of topics where these are not clustered."""
        if self.design.is_plain or np.isnan(self.matrix).any():
            return self.tests.n
        return np.full(len(self.pairs), self.n_units)

    @property
    def n_units(self) -> int:
        """Return the number of clusters, or of topics where these are not clustered."""
        return self.design.n_clusters or self.matrix.shape[1]
