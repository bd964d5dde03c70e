"""`plan`: how many topics does a test collection require, and how certain is that number?

For builders of test collections, from a variance or from pilot data (Sakai & Shang, EVIA 2016):
topics for one-way ANOVA of m systems, or for a t test or an interval of two; power and smallest
detectable difference of a given number of topics; uncertainty of the pilot's variance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from steadyrank._version import __version__
from steadyrank.data.interop.objects import NO_MEASURE
from steadyrank.data.order import scores_in_order
from steadyrank.data.scores import Scores, cluster_codes, mean_of_present, topic_weights
from steadyrank.errors import InputError, arg, check_choice, check_count, warn
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import scores_of
from steadyrank.measures.names import Measure
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import picked
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.decisions import Decided
from steadyrank.stats.pairs.topic_design import design_effect, effective_topics
from steadyrank.stats.planning.demands import (
    Demands,
    Formula,
    Method,
    check_demands,
    check_positive,
)
from steadyrank.stats.planning.needed_topics import needed_topics
from steadyrank.stats.planning.variance import (
    ASSURANCE,
    SKEWED,
    Pilot,
    assured,
    pair_df,
    pilot_variance,
    warn_if_few_topics,
    warn_if_one_team,
)
from steadyrank.words import counted, level_words

Against = Literal["minimum_difference", "systems", "width", "topics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurePlan:
    """Topics for one measure, their power and smallest difference; NaN or None where undefined."""

    measure: str
    variance: float
    """Variance of a system's scores over topics: given, or V_E of the pilot."""
    difference_variance: float
    """Variance of the differences of two systems, in a paired design."""
    topics: int
    """Number of topics; per system in an unpaired design."""
    power: float
    """Exact power of `topics` for the minimum difference."""
    smallest_difference: float
    """Smallest difference that `topics` detect with power 1 - beta."""
    expected_width: float
    pilot: Pilot | None = None
    topics_assured: int | None = None
    """Topics that suffice with probability `assurance`, by a variance that few pilots
    underestimate; None without a pilot or if topics were given."""
    topics_interval: Interval | None = None
    """Topics at both ends of the variance's interval; None if topics were given."""
    power_interval: Interval | None = None
    """Power at both ends of the variance's interval, if topics were given."""
    design_effect: float | None = None
    """Factor by which the pilot's clusters of topics raise the variance of the plan."""
    topics_clustered: int | None = None
    """Topics in clusters like the pilot's; never fewer than `advised`."""
    clusters: int | None = None
    """Number of clusters of `topics_clustered`, of the pilot's mean size."""
    effective_topics: float | None = None
    """Number of equally weighted topics equivalent to the pilot's weighted ones; None without
    weights."""

    @property
    def advised(self) -> int:
        """Number of topics to build: `topics_assured` if known, else `topics`."""
        return self.topics if self.topics_assured is None else self.topics_assured

    @property
    def assurance(self) -> float | None:
        """Share of pilots whose `topics_assured` reach the power that they promise."""
        return None if self.topics_assured is None else ASSURANCE

    @property
    def is_by_differences(self) -> bool:
        """Whether the plan uses the variance of differences of the pilot's pairs of runs."""
        return self.pilot is not None and self.difference_variance == self.pilot.difference_variance

    @property
    def pilot_interval(self) -> Interval | None:
        """Interval of the variance of the plan: that of differences, or of scores."""
        key = "difference_interval" if self.is_by_differences else "variance_interval"
        return None if self.pilot is None else getattr(self.pilot, key)

    @property
    def pilot_df(self) -> float:
        """Effective degrees of freedom of `pilot_interval`."""
        key = "residual_effective_df" if self.is_by_differences else "effective_df"
        return math.nan if self.pilot is None else getattr(self.pilot, key)

    def row(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        of_pilot = (
            "variance_interval topic_variance residual_variance residual_interval df effective_df "
            "residual_effective_df"
        )
        sizes = ("topics", "runs", "missing")
        return {
            **picked(self, "measure variance topics power smallest_difference"),
            **picked(self, "difference_variance expected_width topics_interval power_interval"),
            **picked(self, "design_effect topics_clustered clusters effective_topics"),
            **{f"pilot_{size}": getattr(self.pilot, f"n_{size}", None) for size in sizes},
            **{key: getattr(self.pilot, key, None) for key in of_pilot.split()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Topics with which a t test detects a difference."""

    measure: str
    runs: tuple[str, str] | None
    """The two runs with this difference, the better first; None for any two runs."""
    difference: float
    variance: float
    """Variance of differences of these runs, or of the pilot's mean pair; of scores if unpaired."""
    topics: int
    topics_assured: int | None
    """Topics with 80 % assurance against the pilot's variance."""
    topics_interval: Interval | None
    """Topics at both ends of the variance's interval, and for two runs of the difference's:
    infinite above if the interval of the difference contains 0."""

    def row(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        better, worse = self.runs or (None, None)
        numbers = picked(self, "difference variance topics topics_interval")
        return {"measure": self.measure, "a": better, "b": worse, **numbers}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanCurve:
    """Numbers of topics, or the power of given ones, against one demand."""

    against: Against
    values: np.ndarray
    measures: tuple[str, ...]
    topics: np.ndarray
    """[measure, value]"""
    power: np.ndarray
    """[measure, value]: exact, at these topics."""


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("studies.plan.view:VIEW.text")
class PlanResult(Framed):
    """The result of `plan`: one plan per measure.

    Examples
    --------
    >>> import steadyrank as sr
    >>> result = sr.plan(variance={"AP": 0.05, "nDCG@10": 0.1}, minimum_difference=0.15, systems=10)
    >>> [(plan.measure, plan.topics) for plan in result.plans]
    [('AP', 71), ('nDCG@10', 140)]
    """

    demands: Demands
    given_topics: int | None
    """Number of topics whose power was requested; None if topics are the answer."""
    confidence: float
    """Level of the intervals of pilot data."""
    plans: tuple[MeasurePlan, ...]
    differences: tuple[Difference, ...] = ()
    """For a pilot alone: topics for the difference of its first two runs, then for others."""

    def caption(self) -> str:
        """Return the caption of a table: aim, design, formula and version."""
        demands = self.demands
        pairing = "paired" if demands.paired else "unpaired"
        family = f" over {demands.comparisons:,} comparisons" if demands.comparisons > 1 else ""
        test = {
            "anova": f"one-way ANOVA of {demands.systems} systems",
            "ttest": f"{pairing} t test of two systems",
            "interval": f"{1 - demands.alpha:.0%} intervals of two systems' difference{family}, "
            f"{pairing}",
        }[demands.method]
        formula = {
            "exact": "exact",
            "nagata": "Nagata's approximation",
            "corrected": "corrected for skewness as in compare, exact power",
        }[demands.formula]
        return f"{self._aim()}; {test}, {formula}; steadyrank {__version__}."

    def _aim(self) -> str:
        demands = self.demands
        rates = f"power {1 - demands.beta:g} at {level_words(demands.alpha, demands.comparisons)}"
        if self.given_topics is not None:
            asked = f"What {counted(self.given_topics, 'topic')} can detect"
            smallest = f"the smallest difference detected with {rates}"
            if demands.minimum_difference is None:
                return f"{asked}: {smallest}"
            return f"{asked}: power for a difference of {demands.minimum_difference:g}, {smallest}"
        if demands.method == "interval":
            return f"Topics for intervals of expected width {demands.width:g}"
        where = "best and worst" if demands.method == "anova" else "two means"
        return f"Topics for a difference of {demands.minimum_difference:g} between {where}, {rates}"

    def curve(
        self, against: Against = "minimum_difference", values: Sequence[float] | None = None
    ) -> PlanCurve:
        """Return topics against minimum differences, systems or widths; or power against topics.

        Default values are around the demand, 2 to 100 systems, or up to twice the planned topics.

        >>> import steadyrank as sr
        >>> result = sr.plan(variance=0.114, minimum_difference=0.15, systems=10)
        >>> result.curve("systems", [2, 5, 10, 20]).topics.tolist()
        [[81, 122, 160, 210]]
        >>> result.curve("topics", [50, 100]).power.round(2).tolist()
        [[0.27, 0.55]]
        """
        check_choice(f"curve of this {self.demands.method} plan", against, self.curves)
        x = self._default_values(against) if values is None else list(values)
        is_count = against in ("systems", "topics")
        check: Any = partial(check_count, least=2) if is_count else check_positive
        checked = [check(against, value) for value in x]
        topics = np.zeros((len(self.plans), len(checked)), np.int64)
        power = np.full(topics.shape, np.nan)
        for i, row in enumerate(self.plans):
            # The formulas take half the variance of differences in paired designs.
            variance = row.difference_variance / 2.0 if self.demands.paired else row.variance
            for j, value in enumerate(checked):
                changed: Any = {} if against == "topics" else {against: value}
                asked = replace(self.demands, **changed)
                topics[i, j] = value if against == "topics" else asked.topics(variance)
                power[i, j] = asked.power(variance, float(topics[i, j]))
        return PlanCurve(
            against=against,
            values=np.array(checked),
            measures=tuple(row.measure for row in self.plans),
            topics=topics,
            power=power,
        )

    @property
    def curves(self) -> tuple[Against, ...]:
        """Demands that this plan has curves against, topics last."""
        if self.demands.method == "interval":
            return ("width",)
        if self.demands.minimum_difference is None:
            return ("minimum_difference",)
        if self.demands.method == "ttest":
            return ("minimum_difference", "topics")
        return ("minimum_difference", "systems", "topics")

    def _default_values(self, against: Against) -> Sequence[float]:
        if against == "systems":
            return range(2, 101)
        if against == "topics":
            last = 2 * max(row.topics for row in self.plans)
            return sorted({round(n) for n in np.linspace(2, last, 100)})
        known = self.demands.width if against == "width" else self.demands.minimum_difference
        if known is None:
            key = "expected_width" if against == "width" else "smallest_difference"
            known = max(getattr(row, key) for row in self.plans)
            if math.isinf(known):  # too few topics for the corrected test
                known = max(row.difference_variance for row in self.plans) ** 0.5
        return [known * factor for factor in np.linspace(0.25, 2.0, 71)]

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per measure; for a pilot alone, one per difference."""
        return [row.row() for row in self.differences or self.plans]


@data_first
def plan(
    scores: Any = None,
    qrels: Any = None,
    measures: str | Sequence[str] | None = None,
    *,
    variance: float | Mapping[str, float] | None = None,
    difference_variance: float | Literal["pilot", "twice"] | None = None,
    minimum_difference: float | None = None,
    systems: int | None = None,
    method: Method | None = None,
    test: Literal["t", "anova"] | None = None,
    formula: Formula | None = None,
    paired: bool | None = None,
    width: float | None = None,
    alpha: float = 0.05,
    beta: float = 0.2,
    decided: Decided | None = None,
    n_topics: int | None = None,
    confidence: float = 0.95,
) -> PlanResult:
    """Compute how many topics a collection requires, per measure, or what given topics detect.

    For pilot data alone: the topics with which a paired t test detects the difference between the
    first two runs, and a grid of differences; and what as many topics as the pilot's detect.

    Parameters
    ----------
    scores : Scores, or runs, optional
        Pilot data: scores, or runs as `evaluate` takes them, with `qrels`. The variance is
        estimated by eq. 1 of Sakai & Shang, with a chi-square interval, the range of topics that
        follows, and the design effect if topics have clusters (`Scores.topic_info`).
    qrels : object, optional
        Judgments of runs.
    measures : str or sequence of str, optional
        Measures of the pilot data; by default all of the scores, or for runs AP (nDCG@10 with
        graded judgments).
    variance : float or mapping, optional
        Instead of pilot data, the variance of a system's scores over topics, for all measures or
        for each.
    difference_variance : float or str, optional
        Variance of differences, which a paired design requires: a number; "pilot", the mean over
        the pilot's pairs of runs, which accounts for topics that are hard for all systems (the
        default with two or more runs); or "twice" the variance, as published, which does not.
    minimum_difference : float, optional
        Difference to detect, between the best and the worst system or between two.
    systems : int, optional
        Number of systems that ANOVA will compare; by default those of the pilot.
    method : str, optional
        "anova": one-way ANOVA of `systems` systems rejects with probability 1 - beta when best and
        worst are `minimum_difference` apart; "ttest", the same for two systems; "interval": the
        1 - alpha interval of a difference has the expected `width`. By default "ttest" for a
        pilot or a variance of differences without `systems`, else "anova".
    test : str, optional
        The method by its name in `compare`: "t" or "anova".
    formula : str
        "corrected": exact power of the paired t test of `compare`, which allows for skewed
        differences (the default for paired t tests of a pilot); "exact" power of the published
        tests (the default otherwise); or the published approximations ("nagata").
    paired : bool, optional
        Whether both systems of a t test or interval have the same topics (default).
    width : float, optional
        Expected full width of an interval.
    alpha, beta : float
        Level, and probability of missing the minimum difference: 1 - power.
    decided : CompareResult, optional
        A result of `compare`: plan for the level that a single comparison has there.
    n_topics : int, optional
        Compute the power and the smallest detectable difference with this many topics instead.
    confidence : float
        Level of the intervals of pilot data.

    Returns
    -------
    PlanResult
        One plan per measure: variance, topics, power, and their intervals; for a pilot alone
        `differences`, the topics by difference.

    Notes
    -----
    One-way ANOVA of m systems on n topics each has power P(F' > F(m - 1, m (n - 1); alpha)), where
    F' is noncentral F with noncentrality n D² / (2 variance) and D the minimum difference: the
    worst case, in which all other systems have the middle score. Assumes normally distributed
    scores with the same variance in all systems, and that the pilot's topics and systems are like
    the future ones.

    References
    ----------
    - Sakai (2016). Topic set size design. Information Retrieval Journal.
      doi:10.1007/s10791-015-9273-z

    Examples
    --------
    >>> result = plan(variance=0.114, minimum_difference=0.15, systems=10)
    >>> result.plans[0].topics, round(result.plans[0].power, 3)
    (160, 0.802)
    >>> import steadyrank as sr
    >>> values = np.random.default_rng(1).random((1, 2, 50)) + [[[0.0], [0.1]]]
    >>> topics = [str(topic) for topic in range(50)]
    >>> pilot = sr.Scores(measures=["AP"], runs=["old", "new"], topics=topics, values=values)
    >>> first = plan(pilot, measures="AP").differences[0]
    >>> first.runs, first.topics
    (('new', 'old'), 179)
    """
    named: Any = [measures] if isinstance(measures, str | Measure) else measures
    has_pilot = scores is not None
    by_pilot = has_pilot and minimum_difference is width is n_topics is None
    is_two = systems is None and (has_pilot or difference_variance is not None)
    chosen = method or ("ttest" if is_two else "anova")
    if test is not None:
        check_choice("test", test, ("t", "anova"))
        if method is not None:
            raise InputError(f"give either {arg('method=')} or {arg('test=')}, not both")
        chosen = "ttest" if test == "t" else "anova"
    of_pilot = systems is None and chosen == "anova" and has_pilot
    is_compared = has_pilot and chosen == "ttest" and paired is not False
    demands = check_demands(
        method=chosen,
        formula=formula or ("corrected" if is_compared else "exact"),
        alpha=alpha,
        beta=beta,
        systems=2 if of_pilot else systems,
        paired=paired,
        minimum_difference=minimum_difference,
        width=width,
        topics=2 if by_pilot else n_topics,
    )
    if decided is not None:
        level = decided.comparison_alpha
        comparisons = len(decided.pairs) if level < alpha else 1
        demands = replace(demands, level=level, comparisons=comparisons)
    check_open_unit("confidence", confidence)
    _check_sources(scores, variance, difference_variance, demands)
    differences: list[Difference] = []
    if scores is None:
        rows = [
            _plan_measure(
                demands, name, own, _of_differences(own, difference_variance), None, n_topics
            )
            for name, own in _given_variances(variance, named).items()
        ]
    else:
        pilot = scores_in_order(scores_of(scores, qrels, named), runs=True)
        demands = replace(demands, systems=len(pilot.runs)) if of_pilot else demands
        n_topics = check_count("topics", len(pilot.topics), least=2) if by_pilot else n_topics
        rows = _plan_pilot(demands, pilot, difference_variance, n_topics, confidence)
        if by_pilot and demands.method == "ttest":
            differences = [each for row in rows for each in _differences(demands, pilot, row)]
    return PlanResult(
        demands=demands,
        given_topics=n_topics,
        confidence=confidence,
        plans=tuple(rows),
        differences=tuple(differences),
    )


def _check_sources(
    scores: Scores | None, variance: Any, difference_variance: Any, demands: Demands
) -> None:
    if scores is not None and variance is not None:
        raise InputError("give either a variance or pilot data to estimate it from, not both")
    if difference_variance is not None and not demands.paired:
        raise InputError(
            f"a variance of differences belongs to a paired design: give {arg('variance=')}, or "
            f"{arg('method', 'ttest')}"
        )
    if difference_variance == "pilot":
        if scores is None:
            raise InputError("difference variance 'pilot' requires pilot data: runs or scores")
    elif difference_variance not in (None, "twice"):
        check_positive("difference_variance", difference_variance)
    elif scores is None and variance is None:
        raise InputError(
            f"give a variance, or pilot data to estimate it: {arg('variance=')}, scores, or runs "
            "and qrels"
        )


def _given_variances(variance: Any, measures: Sequence[str] | None) -> dict[str, float]:
    """Return the variances by measure; NaN if only the variance of differences is known."""
    if not isinstance(variance, Mapping):
        variance = {measures[0] if measures else NO_MEASURE: variance}
    if not variance:
        raise InputError("give the variance of at least one measure")
    return {
        str(name): math.nan if value is None else check_positive(f"variance of {name}", value)
        for name, value in variance.items()
    }


def _plan_pilot(
    demands: Demands,
    scores: Scores,
    difference_variance: Any,
    n_topics: int | None,
    confidence: float,
) -> list[MeasurePlan]:
    rows = []
    for name in scores.measures:
        pilot = pilot_variance(scores.matrix(name), name, confidence=confidence)
        if difference_variance == "pilot" and not pilot.difference_variance > 0.0:
            raise InputError(
                f"{name}: no two runs of the pilot have differences that vary over shared topics: "
                "give the variance of differences"
            )
        differences = _of_differences(pilot.variance, difference_variance, pilot)
        row = _plan_measure(demands, name, pilot.variance, differences, pilot, n_topics)
        rows.append(_with_clusters(row, scores, paired=demands.paired, asked=n_topics is None))
    if not rows:
        raise InputError("name at least one measure")
    first = min(rows, key=lambda row: row.pilot.n_topics if row.pilot else math.inf)
    if first.pilot and first.pilot_interval:
        warn_if_few_topics(
            first.pilot, first.measure, first.pilot_interval, first.topics_interval, confidence
        )
    warn_if_one_team(scores)
    return rows


STEPS = (1.0, 2.0, 5.0)
"""Differences of the grid in each decade."""

AROUND = (1 / 6, 2.0)
"""Limits of the grid, in units of the difference that the pilot's topics detect."""


def _differences(demands: Demands, scores: Scores, row: MeasurePlan) -> list[Difference]:
    """Return the topics for the difference of the first two runs, and for a grid of round ones."""
    first = [_of_first_two(demands, scores, row.measure)] if demands.paired else []
    smallest = row.smallest_difference
    if math.isinf(smallest):  # too few topics for the corrected test: the scale of differences
        smallest = math.sqrt(row.difference_variance)
    decade = 10.0 ** math.floor(math.log10(smallest))
    rounded = [step * decade * factor for factor in (0.1, 1.0, 10.0) for step in STEPS]
    low, high = (smallest * factor for factor in AROUND)
    return [each for each in first if each is not None] + [
        _of_difference(demands, row, float(f"{value:.1g}"))
        for value in rounded
        if low <= value <= high
    ]


def _of_first_two(demands: Demands, scores: Scores, measure: str) -> Difference | None:
    """Return the topics for the difference of the two best means, by the variance of these two.

    None for a single run, and for ties.
    """
    one = scores.select(measures=measure)
    if one.directions[measure] == "lower":
        one = one.oriented()
    means = one.mean()[0]
    best = [int(run) for run in np.argsort(-means, kind="stable")[:2] if not np.isnan(means[run])]
    if len(best) < 2:
        return None
    apart = np.subtract(*one.matrix()[best])
    n_topics = int((~np.isnan(apart)).sum())
    gap = float(means[best[0]] - means[best[1]])
    variance = float(np.nanvar(apart, ddof=1)) if n_topics > 1 else math.nan
    needed = needed_topics(
        gap,
        variance,
        n_topics,
        alpha=demands.comparison_alpha,
        beta=demands.beta,
        variance_df=pair_df(apart[None])[0],
        corrected=demands.formula == "corrected",
    )
    if not np.isfinite(needed.topics):
        return None
    names = (one.runs[best[0]], one.runs[best[1]])
    off = apart[~np.isnan(apart)] - np.nanmean(apart)
    skewness = float((off**3).mean() / (off**2).mean() ** 1.5)
    if abs(skewness) > SKEWED:
        warn(
            f"differences of {names[0]} and {names[1]} are skewed ({skewness:.1f}): the number of "
            "topics may be too small more often than its assurance says"
        )
    ends = (float(needed.low), float(needed.high))
    return Difference(
        measure=measure,
        runs=names,
        difference=gap,
        variance=variance,
        topics=int(needed.topics),
        topics_assured=int(needed.assured),
        topics_interval=Interval(*(int(n) if n < math.inf else n for n in ends)),
    )


def _of_difference(demands: Demands, row: MeasurePlan, difference: float) -> Difference:
    """Return the topics for a difference of any two runs, by the variance of the plan."""
    asked = replace(demands, minimum_difference=difference)
    variance = row.difference_variance if demands.paired else row.variance
    half = 0.5 if demands.paired else 1.0
    ends = row.pilot_interval if row.is_by_differences or not demands.paired else None
    return Difference(
        measure=row.measure,
        runs=None,
        difference=difference,
        variance=variance,
        topics=asked.topics(half * variance),
        topics_assured=None
        if ends is None
        else asked.topics(half * float(assured(variance, row.pilot_df))),
        topics_interval=ends and Interval(*(asked.topics(half * end) for end in ends)),
    )


def _of_differences(own: float, given: Any, pilot: Pilot | None = None) -> float:
    """Return the given variance of differences, or the pilot's; else twice the variance."""
    if given not in (None, "pilot", "twice"):
        return float(given)
    has_pairs = pilot is not None and pilot.difference_variance > 0.0
    return pilot.difference_variance if pilot and has_pairs and given != "twice" else 2.0 * own


def _plan_measure(
    demands: Demands,
    name: str,
    own: float,
    of_differences: float,
    pilot: Pilot | None,
    n_topics: int | None,
) -> MeasurePlan:
    variance = of_differences / 2.0 if demands.paired else own
    n = demands.topics(variance) if n_topics is None else n_topics
    made = MeasurePlan(
        measure=name,
        variance=own,
        difference_variance=of_differences if demands.paired else math.nan,
        topics=n,
        power=demands.power(variance, n),
        smallest_difference=demands.smallest_difference(variance, n),
        expected_width=demands.expected_width(variance, n),
        pilot=pilot,
    )
    return made if pilot is None else _with_pilot(made, demands, pilot, variance, n_topics)


def _with_pilot(
    made: MeasurePlan, demands: Demands, pilot: Pilot, variance: float, n_topics: int | None
) -> MeasurePlan:
    """Return the plan with intervals and the assured number."""
    if variance not in (pilot.variance, pilot.residual_variance):
        return made
    by_residual = variance == pilot.residual_variance
    ends = pilot.residual_interval if by_residual else pilot.variance_interval
    if n_topics is not None:
        if demands.minimum_difference is None:
            return made
        most_power, least_power = (demands.power(end, n_topics) for end in ends)
        return replace(made, power_interval=Interval(least_power, most_power))
    fewest, most = (demands.topics(end) for end in ends)
    needed = demands.topics(float(assured(variance, made.pilot_df)))
    return replace(made, topics_interval=Interval(fewest, most), topics_assured=needed)


def _with_clusters(row: MeasurePlan, scores: Scores, *, paired: bool, asked: bool) -> MeasurePlan:
    """Return the plan with the design effect of the pilot's clusters, if it has any.

    The effect is on differences in a paired design, else on scores. If topics were `asked` for,
    with their number in such clusters.
    """
    weights = topic_weights(scores)
    if weights is not None:
        row = replace(row, effective_topics=effective_topics(weights))
    codes = cluster_codes(scores)
    if codes is None:
        return row
    matrix = scores.matrix(row.measure)
    effect = design_effect(matrix - mean_of_present(matrix.T) if paired else matrix, codes)
    row = replace(row, design_effect=effect)
    if not asked or math.isnan(effect):
        return row
    n_topics = math.ceil(row.advised * max(1.0, effect))
    size = len(codes) / len(np.unique(codes))
    return replace(row, topics_clustered=n_topics, clusters=math.ceil(n_topics / size))
