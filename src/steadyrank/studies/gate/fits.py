"""The mean differences of a gate and their limits, per measure and segment.

There are four kinds of limits: of paired differences with Student's law corrected for skewness; of
these with one more topic that broke; of the mixed model if a side has several runs; and of bets,
which hold at every look.

A rebuild has a prediction interval: all builds have the same topics, and the mean of a further
build is within m ± t s sqrt(1 + 1/K) of the mean m and the standard deviation s of K builds' means
with probability 1 - alpha, if these are close to normal (K - 1 degrees of freedom).

A verdict is certain if it is the same within the bounds of `measures.holes`, in which a document
has one grade for both rankings. For different systems and deep rankings it rarely is. Grades are
then drawn from a logistic law in the logarithm of a document's best rank, fitted on the judged
documents of both rankings. Unjudged documents are relevant less often than judged ones, to an
unknown extent: the probabilities are multiplied by several ratios. A verdict that is the same for
all ratios holds; otherwise it is "holes".
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from steadyrank.compute.random import block_stream
from steadyrank.data.qrels import Qrels
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores, cluster_codes, topic_column, topic_weights
from steadyrank.errors import InputError
from steadyrank.measures.holes.bounds import Ask, difference_bounds, documents_to_judge
from steadyrank.measures.holes.lists import (
    HoledMeasure,
    Lists,
    by_document,
    find_lists,
    make_rankings,
    parse_holed,
)
from steadyrank.measures.names import parse_measures
from steadyrank.measures.scoring import prepare
from steadyrank.stats.instances.mixed_tests import system_difference
from steadyrank.stats.instances.systems import System, SystemPair
from steadyrank.stats.interval import Interval
from steadyrank.stats.logistic import rank_law
from steadyrank.stats.mixed.two_way import ONE_TOPIC
from steadyrank.stats.pairs.betting import sequential_difference
from steadyrank.stats.pairs.decisions import adjust, step_levels
from steadyrank.stats.pairs.result import CONSTANT, NO_DIFFERENCE, TOO_FEW
from steadyrank.stats.pairs.topic_design import MeanDifference, mean_difference, reach_of
from steadyrank.studies.gate.result import ROLES, GateRow, Outlook, TopicLoss, Verdict

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


RATIOS = (0.0, 0.1, 0.3, 1.0)
"""Factors of the probabilities of judged documents at the same rank."""

N_COMPLETIONS = 10
"""Number of completions for each ratio."""

N_BETWEEN = 64
"""Most steps from the lowest to the highest completion; fewer topics are steps of one topic."""

N_ASKED = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasureHoles:
    """The unjudged documents of a measure, and the bounds of its differences."""

    lists: Lists
    measure: HoledMeasure | None
    """None if no bounds are known."""
    low: np.ndarray | None = None
    """[topic]: lowest candidate - baseline over all completions."""
    high: np.ndarray | None = None
    """[topic]: highest candidate - baseline over all completions."""
    is_exact: bool = True
    reach: np.ndarray | None = None
    """[document, grade from 1 on]: probability by the law at ratio 1; None without a law."""

    @property
    def n_unjudged(self) -> int:
        """Number of unjudged documents that one of the rankings has above the cutoff."""
        return self.lists.n_open

    @property
    def share(self) -> float:
        """Share of the baseline's documents above the cutoff that are unjudged."""
        return float(self.lists.unjudged_share[0])

    def relevant_share(self, ratio: float) -> float:
        """Return the expected share of relevant documents among the unjudged ones."""
        assert self.reach is not None
        assert self.measure is not None
        level = min(max(self.measure.level, 1), self.measure.top_grade)
        return ratio * float(self.reach[:, level - 1].mean()) if len(self.reach) else 0.0

    def completed(self, ratio: float, seed: int) -> Iterator[np.ndarray]:
        """Yield the differences [topic] of drawn completions."""
        assert self.reach is not None
        assert self.measure is not None
        recipe = self.measure.recipe
        rankings = make_rankings(self.lists, self.measure.top_grade)
        rankings = rankings if recipe.needs_all else rankings.countable()
        for number in range(N_COMPLETIONS):
            # All ratios use the same uniform numbers: a larger ratio adds relevant documents.
            uniform = block_stream(seed, "gate holes", number).random(len(self.reach))
            grades = (uniform[:, None] < ratio * self.reach).sum(axis=1).astype(np.int32)
            first, second = rankings.scores(recipe, grades)
            yield second - first

    def to_judge(self) -> tuple[Ask, ...]:
        """Return the documents whose grades can change the difference most."""
        if self.measure is None:
            return ()
        pair = np.array([[False, True], [True, False]])
        reach = np.full((self.lists.n_open, self.measure.top_grade), 0.5)
        if self.reach is not None:
            reach = np.mean(RATIOS) * self.reach
        return documents_to_judge(self.lists, self.measure, pair, reach, N_ASKED)


class Look(NamedTuple):
    """The verdict on one row, and its dependence on unjudged documents."""

    verdict: Verdict
    how: Literal["bounded", "prior", "not-relevant"] = "not-relevant"
    is_certain: bool = False
    sweep: tuple[Outlook, ...] = ()


def find_holes(runs: tuple[Run, Run], qrels: Qrels, scores: Scores) -> dict[str, MeasureHoles]:
    """Return the unjudged documents by measure; in `scores` they count as not relevant."""
    judged, lists, found = by_document(qrels), dict[int, Lists](), {}
    for name in scores.measures:
        (parsed,) = parse_measures(name)
        measure = None
        if parsed.name != "Judged":  # Judged@k does not depend on grades
            with contextlib.suppress(InputError):
                measure = parse_holed(parsed, judged.max_grade)
        depth = int(prepare(parsed, judged.max_grade).cutoff)
        if depth not in lists:
            lists[depth] = find_lists(runs, judged, depth=depth)
        found[name] = _bounded(lists[depth], measure, np.subtract(*scores.matrix(name)[::-1]))
    return found


def _bounded(lists: Lists, measure: HoledMeasure | None, differences: np.ndarray) -> MeasureHoles:
    if measure is None:
        known = differences if lists.n_open == 0 else None
        return MeasureHoles(lists=lists, measure=None, low=known, high=known)
    low, high, is_exact = difference_bounds(make_rankings(lists, measure.top_grade), measure)
    # The observed differences are a completion, also with rounding errors.
    return MeasureHoles(
        lists=lists,
        measure=measure,
        low=np.minimum(low, differences),
        high=np.maximum(high, differences),
        is_exact=is_exact,
        reach=rank_law(lists, measure.top_grade),
    )


def look_at(
    parts: Sequence[Part],
    fits: Sequence[Fit],
    holes: Mapping[str, MeasureHoles],
    *,
    alpha: float,
    seed: int,
) -> list[Look]:
    """Return the verdicts, and what unjudged documents could change about them."""
    own = verdicts_of(parts, fits, alpha)
    looks: list[Look] = []
    for part, verdict, is_certain in zip(
        parts, own, _certain(parts, fits, own, alpha), strict=True
    ):
        has_law = part.lowest is not None and holes[part.measure].reach is not None
        how: Any = "bounded" if is_certain else "prior" if has_law else "not-relevant"
        looks.append(Look(verdict, how, is_certain))
    return _swept(parts, fits, holes, looks, alpha, seed)


def _certain(
    parts: Sequence[Part], fits: Sequence[Fit], own: Sequence[Verdict], alpha: float
) -> list[bool]:
    """Return for each part whether its verdict is the same for all completions."""
    certain = [part.lowest is not None for part in parts]
    moving = [i for i, part in enumerate(parts) if part.moves]
    n_steps = min(N_BETWEEN, max(len(part.topics) for part in parts))
    for share in (0.0, 1.0, *np.linspace(0.0, 1.0, n_steps + 1)[1:-1]):
        if not any(certain[i] for i in moving):
            break
        there = list(fits)
        for i in moving:
            there[i] = parts[i].fit(parts[i].at(share))
        turned = zip(certain, own, verdicts_of(parts, there, alpha), strict=True)
        certain = [is_certain and verdict == other for is_certain, verdict, other in turned]
    return certain


def _swept(
    parts: Sequence[Part],
    fits: Sequence[Fit],
    holes: Mapping[str, MeasureHoles],
    looks: list[Look],
    alpha: float,
    seed: int,
) -> list[Look]:
    """Add the verdicts by the law at all ratios; a verdict is "holes" if these differ."""
    asked = [i for i, look in enumerate(looks) if look.how == "prior"]
    outlooks: list[list[Outlook]] = [[] for _ in parts]
    for ratio in RATIOS if asked else ():
        there, drawn = list(fits), dict[str, np.ndarray]()
        for i in asked if ratio else ():
            name = parts[i].measure
            if name not in drawn:
                drawn[name] = np.array(list(holes[name].completed(ratio, seed)))
            there[i] = _pooled(parts[i], drawn[name][:, parts[i].places])
        verdicts = verdicts_of(parts, there, alpha)
        for i in asked:
            share = holes[parts[i].measure].relevant_share(ratio)
            outlooks[i].append(Outlook(ratio, share, there[i].observed.mean, verdicts[i]))
    return [
        look._replace(
            verdict="holes" if len({one.verdict for one in outlook}) > 1 else look.verdict,
            sweep=tuple(outlook),
        )
        for look, outlook in zip(looks, outlooks, strict=True)
    ]


def _pooled(part: Part, completions: np.ndarray) -> Fit:
    """Return the pooled fit of several completions [completion, topic]."""
    differences = np.where(np.isnan(part.scores).any(axis=0), np.nan, completions)
    if part.order is not None:  # limits at every look require a single sequence
        return part.fit(differences.mean(axis=0))
    fits = [part.fit(row) for row in differences]
    return replace(
        fits[0],
        observed=_by_rubin([fit.observed for fit in fits]),
        guarded=_by_rubin([fit.guarded for fit in fits]),
    )


def _by_rubin(fits: Sequence[MeanDifference]) -> MeanDifference:
    """Pool by Rubin's rules: variance within completions plus (1 + 1 / B) times that between."""
    varied = [fit for fit in fits if not fit.flag] or fits[:1]
    means = np.array([fit.mean for fit in fits])
    between = (1.0 + 1.0 / len(fits)) * float(means.var(ddof=1))
    return replace(
        varied[0],
        mean=float(means.mean()),
        variance=float(np.mean([fit.variance for fit in fits])) + between,
        skewness=float(np.mean([fit.skewness for fit in varied])),
    )
