"""The mean differences of a gate and their limits, per measure and segment.

There are four kinds of limits: of paired differences with Student's law corrected for skewness; of
these with one more topic that broke; of the mixed model if a side has several runs; and of bets,
which hold at every look.

A rebuild has a prediction interval: all builds have the same topics, and the mean of a further
build is within m ± t s sqrt(1 + 1/K) of the mean m and the standard deviation s of K builds' means
with probability 1 - alpha, if these are close to normal (K - 1 degrees of freedom).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr, stdtrit

from steadyrank.data.scores import cluster_codes, topic_column, topic_weights
from steadyrank.errors import InputError
from steadyrank.stats.instances.mixed_tests import system_difference
from steadyrank.stats.instances.systems import System, SystemPair
from steadyrank.stats.interval import Interval
from steadyrank.stats.mixed.two_way import ONE_TOPIC
from steadyrank.stats.pairs.betting import sequential_difference
from steadyrank.stats.pairs.decisions import adjust, step_levels
from steadyrank.stats.pairs.result import CONSTANT, NO_DIFFERENCE, TOO_FEW
from steadyrank.stats.pairs.topic_design import MeanDifference, mean_difference, reach_of
from steadyrank.studies.gate.result import ROLES, GateRow, TopicLoss, Verdict

if TYPE_CHECKING:
    from steadyrank.studies.gate.inputs import Pair

MOST_LOSSES = 10
"""Number of topics that a row names."""

FAR_OUT = 5.0
"""A topic is an outlier beyond this many standard deviations of the others."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """The data of one row: the topics of a measure, or of one of its segments."""

    measure: str
    margin: float
    segment: str | None
    topics: tuple[str, ...]
    scores: np.ndarray
    """[baseline or candidate, topic]"""
    runs: tuple[np.ndarray, np.ndarray]
    """[run, topic] of the baseline and of the candidate."""
    places: np.ndarray
    """[topic of the gate]: whether it belongs to this part."""
    lowest: np.ndarray | None
    highest: np.ndarray | None
    clusters: np.ndarray | None
    weights: np.ndarray | None
    reach: float
    """Range from the lowest possible score (0, or below) to the highest in the data."""
    guards_breakage: bool
    order: np.ndarray | None
    """Order of the topics if limits must hold at every look."""
    alpha: float
    lower_is_better: bool
    """Whether all scores here have the other sign than in the files."""

    def fit(self, differences: np.ndarray) -> Fit:
        """Return the mean of the differences and its limits."""
        if max(map(len, self.runs)) > 1:
            return self._mixed()
        observed = mean_difference(
            differences, clusters=self.clusters, weights=self.weights, reach=self.reach
        )
        if observed.flag == TOO_FEW:
            return Fit(observed=observed, guarded=observed)
        if self.order is not None:
            bets = sequential_difference(observed, differences[self.order], alpha=self.alpha)
            return Fit(observed=bets, guarded=bets)
        if not self.guards_breakage:
            return Fit(observed=observed, guarded=observed)
        used = ~np.isnan(differences)
        clusters = None if self.clusters is None else np.append(self.clusters, -1)
        weights = None
        if self.weights is not None:
            weights = np.append(self.weights, self.weights[used & (self.weights > 0.0)].mean())
        guarded = mean_difference(
            np.append(differences, -self.reach), clusters=clusters, weights=weights
        )
        # The added topic is the tail for which the correction for skewness allows.
        return Fit(observed=observed, guarded=replace(guarded, skewness=observed.skewness))

    @property
    def moves(self) -> bool:
        """Whether the grades of unjudged documents change any difference."""
        if self.lowest is None or self.highest is None:
            return False
        return not np.array_equal(self.lowest, self.highest, equal_nan=True)

    def at(self, share: float) -> np.ndarray:
        """Return the differences between the lowest (share 0) and the highest (1) completion.

        A share of the topics, those with the highest differences, are at their highest, and the
        others at their lowest, which maximises the variance for a given sum.
        """
        assert self.lowest is not None
        assert self.highest is not None
        order = np.argsort(-(self.lowest + self.highest), kind="stable")
        found = self.lowest.copy()
        chosen = order[: round(share * len(order))]
        found[chosen] = self.highest[chosen]
        return found

    def mean_at(self, share: float) -> float:
        """Return the mean of these differences."""
        return mean_difference(self.at(share), clusters=self.clusters, weights=self.weights).mean

    def _mixed(self) -> Fit:
        """Return the fit for systems of several runs: topics and runs are random."""
        observed = mixed_difference(self.runs, self.reach)
        if not self.guards_breakage or observed.flag == TOO_FEW:
            return Fit(observed=observed, guarded=observed)
        ends = (np.full((len(self.runs[0]), 1), self.reach), np.zeros((len(self.runs[1]), 1)))
        broken = tuple(np.hstack(both) for both in zip(self.runs, ends, strict=True))
        return Fit(observed=observed, guarded=mixed_difference(broken, self.reach))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The mean difference, and the one of the lower limit."""

    observed: MeanDifference
    guarded: MeanDifference
    """With one more topic at the lowest possible difference if breakage is guarded against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedDifference(MeanDifference):
    """A difference by the mixed model, with Student's limits as in `instances`."""

    def _against(self, sign: float) -> np.ndarray:
        return np.zeros(())


def mixed_difference(runs: tuple[np.ndarray, ...], reach: float) -> MeanDifference:
    """Return second - first [run, topic] with random topics and runs."""
    there = [(~np.isnan(side)).any(axis=0) for side in runs]
    shared = there[0] & there[1]
    if shared.sum() < 2:
        return mean_difference(np.zeros(int(shared.sum())), reach=reach)
    baseline, candidate = (
        System(name=role, runs=tuple(map(str, range(len(kept)))), scores=kept, factors={})
        for role, side in zip(ROLES, runs, strict=True)
        for kept in [side[:, shared][(~np.isnan(side[:, shared])).any(axis=1)]]
    )
    topics = tuple(map(str, np.flatnonzero(shared)))
    found = system_difference(SystemPair(a=candidate, b=baseline, topics=topics, n_dropped=0))
    n = float(len(topics))
    return MixedDifference(
        mean=found.estimate,
        variance=found.standard_error**2,
        df=found.df,
        n_topics=len(topics),
        n_clusters=len(topics),
        effective_topics=n,
        design_effect=1.0,
        skewness=0.0,
        method="mixed",
        draws=n,
        reach=reach,
        flag=TOO_FEW if found.flag == ONE_TOPIC else found.flag,
    )


def make_parts(
    pair: Pair,
    margins: Mapping[str, float],
    *,
    by: str | None,
    guards_breakage: bool,
    order: np.ndarray | None,
    alpha: float,
) -> list[Part]:
    """Return all measures, then all measures of all segments; `order` has each topic's place."""
    scores = pair.scores
    chosen: dict[str | None, np.ndarray] = {None: np.ones(len(scores.topics), bool)}
    if by is not None:
        column = np.array(topic_column(scores, by), object)
        chosen |= {str(segment): column == segment for segment in sorted(set(column))}
    clusters, weights = cluster_codes(scores), topic_weights(scores)
    parts = []
    for segment, topics in chosen.items():
        for measure, margin in margins.items():
            holes = pair.holes.get(measure)
            sign = -1.0 if scores.lower_is_better(measure) else 1.0
            every = sign * scores.matrix(measure)
            first, second = (sign * side.matrix(measure) for side in pair.sides)
            parts.append(
                Part(
                    measure=measure,
                    margin=margin,
                    segment=segment,
                    topics=tuple(np.array(scores.topics, object)[topics]),
                    scores=every[:, topics],
                    runs=(first[:, topics], second[:, topics]),
                    places=topics,
                    lowest=None if holes is None or holes.low is None else holes.low[topics],
                    highest=None if holes is None or holes.high is None else holes.high[topics],
                    clusters=None if clusters is None else clusters[topics],
                    weights=None if weights is None else weights[topics],
                    reach=reach_of(scores.matrix(measure)),
                    guards_breakage=guards_breakage,
                    order=None if order is None else np.argsort(order[topics]),
                    alpha=alpha,
                    lower_is_better=sign < 0.0,
                )
            )
    return parts


def pvalues_of(parts: Sequence[Part], fits: Sequence[Fit]) -> tuple[np.ndarray, np.ndarray]:
    """Return corrected p-values of not being worse by the margin, and of being worse."""
    not_worse, is_segment = _not_worse(parts, fits)
    not_worse[is_segment] = adjust(not_worse[is_segment], "holm")
    worse = adjust([fit.observed.pvalue_below(0.0) for fit in fits], "holm")
    return not_worse, worse


def lower_levels(parts: Sequence[Part], fits: Sequence[Fit], alpha: float) -> list[float]:
    """Return the level of each lower limit.

    For a segment it is the level of the step that decides whether it passes, so that no row that
    passes has a limit beyond the margin.
    """
    not_worse, is_segment = _not_worse(parts, fits)
    levels = np.full(len(parts), alpha)
    levels[is_segment] = step_levels(not_worse[is_segment], "holm", alpha)
    return [float(level) for level in levels]


def _not_worse(parts: Sequence[Part], fits: Sequence[Fit]) -> tuple[np.ndarray, np.ndarray]:
    """Return p-values of not being worse by the margin, and which rows are segments."""
    pvalues = [
        fit.guarded.pvalue_above(-part.margin) for part, fit in zip(parts, fits, strict=True)
    ]
    return np.array(pvalues), np.array([part.segment is not None for part in parts])


def verdicts_of(parts: Sequence[Part], fits: Sequence[Fit], alpha: float) -> list[Verdict]:
    """Return pass, fail or cannot tell for each part."""
    verdicts: list[Verdict] = []
    for part, fit, not_worse, worse in zip(parts, fits, *pvalues_of(parts, fits), strict=True):
        # If no topic has changed, the candidate passes with a margin of 0.
        if not_worse < alpha or fit.guarded.flag == NO_DIFFERENCE:
            verdicts.append("pass")
        elif worse < alpha and fit.observed.mean < -part.margin:
            verdicts.append("fail")
        else:
            verdicts.append("cannot tell")
    return verdicts


def means_of(part: Part) -> tuple[float, float]:
    """Return the means of both runs over the topics that both have."""
    both = ~np.isnan(part.scores).any(axis=0)
    weights = None if part.weights is None else part.weights[both]
    if not (both.any() if weights is None else weights.any()):
        return math.nan, math.nan
    first, second = np.average(part.scores[:, both], axis=1, weights=weights).tolist()
    return first, second


def losses_of(part: Part) -> tuple[TopicLoss, ...]:
    """Return the topics that lost most, the worst first."""
    change = part.scores[1] - part.scores[0]
    lost = np.flatnonzero(change < 0.0)
    worst = lost[np.argsort(change[lost], kind="stable")][:MOST_LOSSES]
    first, second = part.scores[:, worst].tolist()
    names = [part.topics[place] for place in worst]
    return tuple(map(TopicLoss, names, first, second, change[worst].tolist()))


def outlier_of(part: Part) -> TopicLoss | None:
    """Return the topic that lost most if it is an outlier.

    Its loss must exceed the margin, FAR_OUT standard deviations of the other differences from their
    mean, and twice the largest of them.
    """
    change = part.scores[1] - part.scores[0]
    change = change[~np.isnan(change)]
    if len(change) < 3:
        return None
    worst = int(np.argmin(change))
    loss, others = -float(change[worst]), np.delete(change, worst)
    far = FAR_OUT * float(others.std(ddof=1)) - float(others.mean())
    if loss <= max(part.margin, CONSTANT, far, 2.0 * float(np.abs(others).max())):
        return None
    return losses_of(part)[0]


def rebuilt_rows(parts: Sequence[Part], alpha: float) -> list[GateRow]:
    """Return one row per measure and segment, corrected by Bonferroni's method."""
    return [_rebuilt_row(part, alpha / len(parts), len(parts)) for part in parts]


def _rebuilt_row(part: Part, level: float, n_rows: int) -> GateRow:
    both = ~np.isnan(np.concatenate(part.runs)).any(axis=0)
    if not both.any():
        raise InputError(
            f"{part.measure}: no topic has a score in every build: complete the builds"
        )
    builds, (new,) = (side[:, both].mean(axis=1) for side in part.runs)
    n, mean = len(builds), float(builds.mean())
    error = float(builds.std(ddof=1)) * math.sqrt(1.0 + 1.0 / n)
    if np.ptp(builds) <= CONSTANT:  # a rounding error
        error = 0.0
    difference = float(new) - mean
    tolerance = error * float(stdtrit(n - 1, 1.0 - 0.5 * level))
    pvalue = float(abs(difference) <= CONSTANT)
    if error > 0.0:
        pvalue = min(1.0, n_rows * 2.0 * float(stdtr(n - 1, -abs(difference) / error)))
    is_within = abs(difference) <= max(tolerance, CONSTANT)
    n_topics = int(both.sum())
    row = GateRow(
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
        outlier=outlier_of(part),
        method="rebuild",
    )
    return row.with_sign_of_file() if part.lower_is_better else row
