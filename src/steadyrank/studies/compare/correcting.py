"""One correction over a family of tests: pairs of a measure, of all, or of segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtr

from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.corrections import adjust
from steadyrank.stats.pairs.max_t import MaxT, max_t
from steadyrank.studies.compare.caveats import warn_about_family
from steadyrank.studies.compare.clustering import clustered_max_t
from steadyrank.studies.compare.result import SIMULTANEOUS, Correction
from steadyrank.studies.compare.tested import Settings, Tested
from steadyrank.words import counted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corrected:
    """What the correction of a family makes of the tests of one measure."""

    correction: Correction
    adjusted: np.ndarray
    level: float
    """Of one comparison alone; 0 where no difference could be significant."""
    together: MaxT | None
    n_comparisons: int
    n_measures: int
    n_segments: int


def default_correction(test: str, baseline: str | None, n_pairs: int) -> Correction:
    """What suits the test and the family."""
    if test in SIMULTANEOUS:
        return "none"
    return "maxt" if test == "t" and baseline is None and n_pairs > 1 else "holm"


def corrected_family(family: Sequence[Tested], settings: Settings) -> list[Corrected]:
    """The correction over all tests of a family, one part per measure."""
    pvalues = np.concatenate([one.tests.pvalue for one in family])
    chosen = settings.correction or default_correction(
        settings.test, settings.baseline, len(pvalues)
    )
    if chosen == "maxt" and settings.correction is None and not _may_flip(family):
        chosen = "holm"
    together = _max_t(family, settings) if chosen == "maxt" else None
    adjusted = adjust(pvalues, chosen) if together is None else together.pvalue
    if together is not None:
        level = _max_t_level(family, together, settings.alpha)
    else:
        # Tukey's tests hold for all pairs of the runs: Bonferroni's level does, too.
        assumed = "bonferroni" if settings.test in SIMULTANEOUS else chosen
        level = decisions.comparison_alpha(pvalues, assumed, settings.alpha)
    size = int((~np.isnan(pvalues)).sum())
    first = family[0]
    drawn = counted(first.n_units, "topic" if first.design.clusters is None else "cluster")
    warn_about_family(first.tests, settings, chosen, size, together, drawn)
    tested = {one.segment for one in family if not np.isnan(one.tests.pvalue).all()}
    n_segments = max(1, len(tested))
    ends = np.cumsum([len(one.pairs) for one in family])[:-1]
    parts = np.split(adjusted, ends)
    limits = np.split(adjusted if together is None else together.critical, ends)
    return [
        Corrected(
            correction=chosen,
            adjusted=part,
            level=level,
            together=None if together is None else replace(together, pvalue=part, critical=limit),
            n_comparisons=size,
            n_measures=len({one.measure for one in family}),
            n_segments=n_segments,
        )
        for part, limit in zip(parts, limits, strict=True)
    ]


def _may_flip(family: Sequence[Tested]) -> bool:
    """Whether signs of topics or clusters can be flipped: of clusters, only complete ones."""
    return all(one.design.is_plain or (one.units is not None and one.n_units > 1) for one in family)


def _max_t(family: Sequence[Tested], settings: Settings) -> MaxT:
    """Of several measures together: each has rows of its own, and all share a topic's sign."""
    n_rows = len(family[0].rows)
    pairs = np.concatenate([one.pairs + n_rows * place for place, one in enumerate(family)])
    drawn: Any = {"alpha": settings.alpha, **settings.resampling, "progress": settings.progress}
    if family[0].design.is_plain:
        return max_t(np.concatenate([one.matrix for one in family]), pairs, **drawn)
    return clustered_max_t([(one.units, one.tests) for one in family], pairs, drawn)


def _max_t_level(family: Sequence[Tested], together: MaxT, alpha: float) -> float:
    n = np.concatenate([one.n_drawn for one in family])
    usable = n > 1
    if not usable.any() or np.isinf(together.critical[usable][0]):
        return 0.0
    size, critical = n[usable][0], together.critical[usable][0]
    if not family[0].design.is_plain:
        # In standard errors of the tests the limit differs a little from pair to pair.
        critical = np.median(together.critical[usable])
    level = float(2.0 * stdtr(size - 1.0, -critical))
    return level if level < 1.0 else alpha  # no two runs differ at all: nothing to correct
