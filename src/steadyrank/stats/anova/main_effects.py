"""Which levels of a factor differ: Tukey's honest differences after an analysis of variance.

For anyone who saw in the table that a factor matters and asks which of its levels are apart: one
statement for all pairs of levels together, and intervals around the means that do not overlap
exactly where two levels differ, as papers on components of retrieval systems draw them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.errors import check_choice
from steadyrank.stats.anova.balanced import NAN, ROUNDING, Anova
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.pairs import studentized_range
from steadyrank.stats.pairs.result import all_pairs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MainEffect:
    """The levels of one factor, and Tukey's honest differences between them."""

    factor: str
    means: np.ndarray
    """One for each level."""
    n: int
    """Observations of a level."""
    pairs: np.ndarray
    """[pair, 2]: positions of two levels."""
    difference: np.ndarray
    """First minus second."""
    interval: np.ndarray
    """[pair, 2]: of the difference; they hold for all pairs together."""
    statistic: np.ndarray
    """The studentised range q."""
    pvalue: np.ndarray
    confidence: float
    half_width: float
    """Of the intervals to draw around the means: two levels differ where theirs do not overlap."""

    @property
    def significant(self) -> np.ndarray:
        """Which pairs differ, with this confidence in all together."""
        return np.asarray(self.pvalue < 1.0 - self.confidence)


def tukey_main_effect(table: Anova, factor: str, *, confidence: float = 0.95) -> MainEffect:
    """Tukey's test of all pairs of levels of a factor, on the error that its F is tested against.

    q = |difference of two level means| / sqrt(MS(error) / n), n observations a level; p is the
    chance that the studentised range of k means with the error's degrees of freedom exceeds q.
    Intervals around the means are half as wide as those of differences. Do not read it where the
    factor interacts strongly: its levels then differ one way here and another there.

    Reference: Tukey 1949, doi:10.2307/3001913; Hochberg and Tamhane 1987.

    >>> from steadyrank.stats.anova.balanced import anova
    >>> table = anova([[.3, .5, .2, .6], [.2, .4, .2, .4], [.1, .2, .1, .3]],
    ...               factors=["system", "topic"], block="topic", effects=["system"])
    >>> tukey_main_effect(table, "system").pvalue.round(4).tolist()
    [0.0948, 0.0029, 0.0427]
    """
    check_open_unit("confidence", confidence)
    mains = {name: means for name, means in table.means.items() if ":" not in name}
    check_choice("main effect", factor, mains)
    means = mains[factor]
    n, against = table.n // means.size, table.source(factor).tested_against
    if not against:
        return compared_levels(factor, means, n=n, scale=NAN, df=1, confidence=confidence)
    error = table.source(against)
    scale = float(np.sqrt(error.ms / n))
    return compared_levels(factor, means, n=n, scale=scale, df=error.df, confidence=confidence)


def compared_levels(
    factor: str, means: np.ndarray, *, n: int, scale: np.ndarray | float, df: int, confidence: float
) -> MainEffect:
    """Tukey's test of all pairs of level means; `scale`, one or of each pair, is what q divides by.

    Without scale (0) means that differ by more than rounding are certain to differ.
    """
    pairs = all_pairs(means.size)
    difference = means[pairs[:, 0]] - means[pairs[:, 1]]
    scale = np.broadcast_to(scale, difference.shape)
    width = scale
    if np.isnan(scale).any() or not scale.size:
        statistic = pvalue = np.full(difference.shape, NAN)
    elif (scale > 0.0).all():
        statistic = np.abs(difference) / scale
        pvalue = studentized_range.survival_many(statistic, means.size, df)
        width = studentized_range.critical_value(1.0 - confidence, means.size, df) * scale
    else:
        differs = np.abs(difference) > ROUNDING * np.abs(means).max()
        statistic, pvalue = np.where(differs, np.inf, 0.0), np.where(differs, 0.0, 1.0)
    return MainEffect(
        factor=factor,
        means=means,
        n=n,
        pairs=pairs,
        difference=difference,
        interval=np.stack([difference - width, difference + width], axis=1),
        statistic=statistic,
        pvalue=pvalue,
        confidence=confidence,
        half_width=float(width.max()) / 2.0 if width.size else NAN,
    )
