"""`plan`: how many topics does a test collection require, and how certain is that number?

For builders of test collections, from a variance or from pilot data (Sakai & Shang, EVIA 2016):
topics for one-way ANOVA of m systems, or for a t test or an interval of two; power and smallest
detectable difference of a given number of topics; uncertainty of the pilot's variance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from steadyrank.data.interop.objects import NO_MEASURE
from steadyrank.data.order import scores_in_order
from steadyrank.data.scores import Scores, cluster_codes, mean_of_present, topic_weights
from steadyrank.errors import InputError, arg, check_choice, warn
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import scores_of
from steadyrank.measures.names import Measure
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.decisions import Decided
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import moments
from steadyrank.stats.pairs.topic_design import design_effect, effective_topics
from steadyrank.stats.planning.demands import (
    Demands,
    Formula,
    Method,
    check_demands,
    check_positive,
    check_whole,
)
from steadyrank.stats.planning.design import topics_for_range
from steadyrank.stats.planning.needed_topics import needed_topics
from steadyrank.stats.planning.variance import (
    SKEWED,
    Pilot,
    assured,
    pair_df,
    pilot_variance,
    warn_if_few_topics,
    warn_if_one_team,
)
from steadyrank.studies.plan.result import Difference, MeasurePlan, PlanResult

DifferenceVariance = Literal["pilot", "twice"]


@data_first
def plan(
    scores: Any = None,
    qrels: Any = None,
    measures: str | Sequence[str] | None = None,
    *,
    measure: str | None = None,
    variance: float | Mapping[str, float] | None = None,
    difference_variance: float | DifferenceVariance | str | None = None,
    minimum_difference: float | None = None,
    systems: int | None = None,
    method: Method | None = None,
    test: Literal["t", "anova"] | None = None,
    formula: Formula | None = None,
    paired: bool | None = None,
    width: float | None = None,
    alpha: float = 0.05,
    beta: float = 0.2,
    comparisons: int = 1,
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
    measures, measure : str or sequence of str, optional
        Measures of the pilot data; by default all of the scores, or for runs AP (nDCG@10 with
        graded judgments).
    variance : float or mapping, optional
        Instead of pilot data, the variance of a system's scores over topics, for all measures or
        for each.
    difference_variance : float or str, optional
        Variance of differences, which a paired design requires: a number; "pilot", the mean over
        the pilot's pairs of runs, which accounts for topics that are hard for all systems (the
        default with two or more runs); a percentile of them such as "95%", as Webber, Moffat &
        Zobel (2008) plan; or "twice" the variance, as published, which does not account for them.
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
    comparisons : int
        Number of t tests or intervals over which alpha is controlled, by Bonferroni's correction.
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
    >>> first = plan(pilot, measure="AP", test="t").differences[0]
    >>> first.runs, first.topics
    (('new', 'old'), 179)
    """
    named: Any = measures if measure is None else measure
    named = [named] if isinstance(named, str | Measure) else named
    has_pilot = scores is not None
    by_pilot = has_pilot and minimum_difference is width is n_topics is None
    chosen = _method(method, test, systems, paired=has_pilot or difference_variance is not None)
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
        comparisons=comparisons,
    )
    if decided is not None:
        demands = replace(demands, level=decided.comparison_alpha)
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
        n_topics = check_whole("topics", len(pilot.topics)) if by_pilot else n_topics
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


def _method(method: Any, test: Any, systems: Any, *, paired: bool) -> Any:
    """Return the method that is named, itself or by its test.

    By default, the t test if there are `paired` data and no number of systems.
    """
    if test is not None:
        check_choice("test", test, ("t", "anova"))
        if method is not None:
            raise InputError(f"give either {arg('method=')} or {arg('test=')}, not both")
        return "ttest" if test == "t" else "anova"
    return method or ("ttest" if paired and systems is None else "anova")


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
    if difference_variance == "pilot" or _percentile(difference_variance) is not None:
        if scores is None:
            raise InputError(
                f"difference variance {difference_variance!r} requires pilot data: QRELS RUN... or "
                "scores"
            )
    elif difference_variance not in (None, "twice"):
        check_positive("difference_variance", difference_variance)
    elif scores is None and variance is None:
        raise InputError(
            f"give a variance, or pilot data to estimate it: {arg('variance=')}, scores, or runs "
            "and qrels"
        )


def _percentile(given: Any) -> float | None:
    """Return the share that a text such as "95%" names; None for anything else.

    >>> _percentile("95%"), _percentile("pilot"), _percentile(0.02)
    (0.95, None, None)
    """
    if not isinstance(given, str) or not given.endswith("%"):
        return None
    try:
        share = float(given[:-1]) / 100.0
    except ValueError:
        share = math.nan
    if not 0.0 < share < 1.0:
        raise InputError(f"{given!r} is not a percentile such as 95%")
    return share


def _given_differences(scores: Scores, measure: str, given: Any) -> Any:
    """Return the variance of differences at the given percentile, or what else was given.

    The percentile is over all pairs of runs, each on its shared topics.
    """
    share = _percentile(given)
    if share is None:
        return given
    matrix = np.ascontiguousarray(scores.matrix(measure))
    found = moments(matrix, all_pairs(len(matrix)))
    variances = np.square(found.sd[found.n > 1])
    value = float(np.quantile(variances, share)) if len(variances) else 0.0
    if not value > 0.0:
        raise InputError(f"{measure}: {_NO_PAIRS}")
    return value


_NO_PAIRS = (
    "no two runs of the pilot have differences that vary over shared topics: give the variance of "
    "differences"
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
            raise InputError(f"{name}: {_NO_PAIRS}")
        given = _given_differences(scores, name, difference_variance)
        differences = _of_differences(pilot.variance, given, pilot)
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
    """Return the plan with intervals, the assured number, and the topics of a two-way analysis."""
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
    made = replace(
        made,
        topics_interval=Interval(fewest, most),
        topics_assured=demands.topics(float(assured(variance, made.pilot_df))),
    )
    if by_residual or demands.minimum_difference is None or not pilot.residual_variance > 0.0:
        return made
    two_way = topics_for_range(
        demands.minimum_difference,
        pilot.residual_variance,
        systems=demands.systems,
        paired=True,
        alpha=demands.comparison_alpha,
        beta=demands.beta,
    )
    return replace(made, topics_two_way=two_way)


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
