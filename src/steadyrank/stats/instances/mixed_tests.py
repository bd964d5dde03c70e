"""Systems whose instances differ, tested: mixed models and bootstraps of a pair, and tables of
many.

Sound by default: topics and instances are both random, so the claim is about other topics *and*
other instances. The paper's own tests (Jayasinghe et al. 2015, doi:10.1016/j.ipm.2015.06.005) stand
beside it; where one system is a single run they leave the instances' variance out. In tables whose
rows are systems, those with one run each are compared by the paired t test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.stats.instances.bootstrap import algorithm_two, two_way_bootstrap
from steadyrank.stats.instances.equivalence import t_limits
from steadyrank.stats.instances.systems import Groups, System, SystemPair, pair_of, systems_of
from steadyrank.stats.interval import Interval
from steadyrank.stats.mixed.fit import MixedFit, component_intervals, difference_of, fit
from steadyrank.stats.mixed.model import RESIDUAL, MixedModel, Term
from steadyrank.stats.mixed.two_way import (
    ONE_INSTANCE,
    DfMethod,
    Difference,
    DifferenceTest,
    default_df_method,
    nested_difference,
    two_way_difference,
)
from steadyrank.stats.pairs.result import TOO_FEW, PairTests, model_tests
from steadyrank.stats.run_means import mean_intervals

INSTANCE, TOPIC, SYSTEM_TOPIC = "instance", "topic", "system_topic"
COMPONENTS = (INSTANCE, TOPIC, SYSTEM_TOPIC, RESIDUAL)
"""The variances that a comparison reports."""

FACTOR = "instance factor "
"""Before the name of an instance factor among a model's terms, lest it be called "topic"."""

MANY_TOPICS = 500
"""Above which REML of an unbalanced layout takes its time: its work grows as their cube."""

PAIRED_T = "Student's paired t of two runs, two-sided"

NOT_KNOWN = (math.nan, math.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inflation:
    """By how much the variance of the mean is too small where instances are averaged away."""

    factor: float
    interval: Interval


def mixed_model(pair: SystemPair, factors: Sequence[str] = ()) -> MixedModel:
    """The sound model: on differences to a single run, or with instances nested in systems.

    d[m, n] = delta + a[m] + u[n] + e[m, n], or y = system + topic + system topic + instance + e.
    Instance factors stand in place of the instance, each nested in those before it; a term for the
    instance stays where several instances share all factors.
    """
    if pair.design == "crossed":
        d = pair.differences()
        instance, topic = (index.reshape(-1) for index in np.indices(d.shape))
        random = _instance_terms([pair.varied], factors, instance)
        return MixedModel(d.reshape(-1), random={**random, SYSTEM_TOPIC: topic})
    y, first, instance, topic = _rows(pair)
    instance += np.where(first, 0, len(pair.a.runs))
    random = _instance_terms([pair.a, pair.b], factors, instance)
    return MixedModel(y, random={**random, TOPIC: topic, SYSTEM_TOPIC: (first, topic)}, fixed=first)


def mixed_difference(pair: SystemPair, model: MixedModel, factors: Sequence[str]) -> Difference:
    """The sound test: closed form where the layout is balanced, REML elsewhere; of `COMPONENTS`.

    Kenward and Roger's adjustment where a system that varies has few instances, or few groups by
    the first instance factor; Satterthwaite's degrees of freedom elsewhere.
    """
    df_method = default_df_method(fewest_draws(pair, factors))
    if pair.balanced and not factors:
        return _closed(pair, model, df_method)
    fitted = fit(model, df_method=df_method)
    variances = dict.fromkeys(COMPONENTS, math.nan) | {
        name: value for name, value in fitted.variances.items() if name in COMPONENTS
    }
    by_factor = {
        name.removeprefix(FACTOR): value
        for name, value in fitted.variances.items()
        if name.startswith(FACTOR)
    }
    if by_factor:
        own = fitted.variances.get(INSTANCE, 0.0)
        variances[INSTANCE] = sum(np.nan_to_num(list(by_factor.values())).tolist()) + own
    return difference_of(fitted, variances=variances, factor_variances=by_factor)


def fewest_draws(pair: SystemPair, factors: Sequence[str]) -> int:
    """Independent draws of the system that varies with the fewest: instances, or their groups."""
    varied = [system for system in (pair.a, pair.b) if len(system.runs) > 1]
    if factors:
        return min((groups_of_instances(system, factors) for system in varied), default=1)
    return min((len(system.runs) for system in varied), default=1)


def paper_test(pair: SystemPair, model: MixedModel) -> tuple[MixedFit, float]:
    """Eq. (9) as printed and its p-value, on the number of observations less one.

    Crossed: the single run is replicated for every instance, which both then share. Nested:
    instances within systems. `model` is the sound one, which is the same in that case.
    """
    if pair.design == "crossed":
        y, first, instance, topic = _rows(pair, replicate=True)
        terms: dict[str, Term] = {INSTANCE: instance, TOPIC: topic, SYSTEM_TOPIC: (first, topic)}
        model = MixedModel(y, random=terms, fixed=first)
    fitted = fit(model)
    if fitted.flag:
        return fitted, float(fitted.pvalue[-1])
    return fitted, float(2.0 * special.stdtr(fitted.n - 1, -abs(fitted.statistic[-1])))


def bootstrap_pvalues(
    pair: SystemPair,
    factors: Sequence[str],
    *,
    n_samples: int,
    samples_per_instance: int,
    mode: str,
    seed: int,
    jobs: int | None,
) -> dict[str, tuple[float, float]]:
    """p-value and its Monte Carlo error of Algorithm 2 and of the two-way bootstrap."""
    answers = {"bootstrap": NOT_KNOWN}
    if pair.design == "crossed":
        one = algorithm_two(
            pair.differences(), n_samples=samples_per_instance, mode=mode, seed=seed, jobs=jobs
        )
        answers["bootstrap"] = (one.pvalue, one.pvalue_error)
    a, b = (_drawn_together(system, factors) for system in (pair.a, pair.b))
    two = two_way_bootstrap(a, b, n_samples=n_samples, seed=seed, jobs=jobs)
    answers["two_way_bootstrap"] = (two.pvalue, two.pvalue_error)
    return answers


def variance_intervals(pair: SystemPair, model: MixedModel, *, level: float) -> dict[str, Interval]:
    """Profile likelihood intervals of the model's variances; none with one instance."""
    if max(len(pair.a.runs), len(pair.b.runs)) == 1:
        return {}
    return component_intervals(model, confidence=level)


def inflation_of(pair: SystemPair, difference: Difference, interval: Interval) -> Inflation:
    """1 + N s_a² / (M s_u² + s_e²), at the estimate and at both ends of the interval of s_a².

    The variance of the mean difference over what a test of instance-averaged topic scores takes
    it for. Without spread it is 1. With unequal numbers of instances M is their harmonic mean;
    with instance factors N s_a² / M is what the standard error holds beyond topics and residual.
    """
    varied = [len(system.runs) for system in (pair.a, pair.b) if len(system.runs) > 1]
    n, m = len(pair.topics), harmonic_mean(varied)
    rest = m * difference.variances[SYSTEM_TOPIC] + difference.variances[RESIDUAL]

    def factor(instance: float) -> float:
        return 1.0 + n * instance / rest if rest > 0.0 else 1.0

    instance = difference.variances[INSTANCE]
    if difference.factor_variances:
        beyond = difference.standard_error**2 * m / len(varied) - rest / n
        instance = max(0.0, beyond)
    return Inflation(
        factor=factor(instance), interval=Interval(factor(interval.low), factor(interval.high))
    )


def groups_of_instances(system: System, factors: Sequence[str]) -> int:
    """How many groups a system's instances form by the first factor, the largest."""
    return len(set(system.factors[factors[0]]))


def topic_differences(pair: SystemPair) -> np.ndarray:
    """a - b by topic, each system's instances averaged."""
    difference: np.ndarray = mean_of_present(pair.a.scores.T) - mean_of_present(pair.b.scores.T)
    return difference


def balanced_test(pair: SystemPair, df_method: DfMethod | None = None) -> DifferenceTest:
    """The rules of the balanced layout, which need no fit."""
    df_method = df_method or default_df_method(fewest_draws(pair, ()))
    if pair.design == "crossed":
        return two_way_difference(pair.differences(), df_method=df_method)
    return nested_difference(pair.a.scores, pair.b.scores, df_method=df_method)


def harmonic_mean(sizes: Sequence[int]) -> float:
    """Of numbers of instances: what unequal ones are worth.

    >>> harmonic_mean([2, 6])
    3.0
    """
    return len(sizes) / sum(1.0 / size for size in sizes)


def _closed(pair: SystemPair, model: MixedModel, df_method: DfMethod) -> Difference:
    """The rules of the balanced layout; only the topics' own variance needs the model."""
    variances = dict.fromkeys(COMPONENTS, math.nan)
    test = balanced_test(pair, df_method)
    if pair.design == "nested":
        variances[TOPIC] = fit(model).variances[TOPIC]
    named = {INSTANCE: "instance", SYSTEM_TOPIC: "topic", RESIDUAL: "residual"}
    variances |= {ours: test.variances[theirs] for ours, theirs in named.items()}
    single = max(len(pair.a.runs), len(pair.b.runs)) == 1
    return replace(test, variances=variances, method=PAIRED_T if single else test.method)


def _rows(
    pair: SystemPair, *, replicate: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scores of both systems in rows, whether they are a's, their instance and topic.

    With `replicate` a single run gets a row wherever the other system has a score.
    """
    a, b = pair.a.scores, pair.b.scores
    if replicate:
        shape = pair.varied.scores.shape
        absent = np.isnan(pair.varied.scores)
        a, b = (np.where(absent, np.nan, np.broadcast_to(y, shape)) for y in (a, b))
    first = np.repeat([True, False], [a.size, b.size])
    index = np.concatenate([np.indices(y.shape).reshape(2, -1) for y in (a, b)], axis=1)
    return np.concatenate([a.reshape(-1), b.reshape(-1)]), first, index[0], index[1]


def _instance_terms(
    systems: Sequence[System], factors: Sequence[str], instance: np.ndarray
) -> dict[str, np.ndarray]:
    """Labels a row of each instance factor within those before it, or of the instance alone."""
    terms: dict[str, np.ndarray] = {}
    labels = _nested_labels(systems, factors)
    for depth, factor in enumerate(factors):
        terms[FACTOR + factor] = labels[depth][instance]
    if not factors or labels[-1].max() + 1 < len(labels[-1]):
        terms[INSTANCE] = instance
    return terms


def _nested_labels(systems: Sequence[System], factors: Sequence[str]) -> list[np.ndarray]:
    """For each factor, the group of every instance: those alike in it and all before it."""
    groups = []
    for depth in range(1, len(factors) + 1):
        keys = [
            (place, *(system.factors[factor][i] for factor in factors[:depth]))
            for place, system in enumerate(systems)
            for i in range(len(system.runs))
        ]
        number = {key: code for code, key in enumerate(dict.fromkeys(keys))}
        groups.append(np.array([number[key] for key in keys]))
    return groups


def _drawn_together(system: System, factors: Sequence[str]) -> np.ndarray:
    """What a bootstrap draws: instances, or means over the largest groups that they nest in."""
    if not factors or len(system.runs) == 1:
        return system.scores
    groups = _nested_labels([system], factors[:1])[0]
    members = [system.scores[groups == code] for code in range(groups.max() + 1)]
    return np.stack([mean_of_present(each.T) for each in members])


METHOD = "mixed model with random topics and instances"


def has_instances(scores: Scores) -> bool:
    """Whether run information names a system of which there are several runs."""
    systems = [system for system in scores.run_info.get("system", ()) if system]
    return len(set(systems)) < len(systems)


def averaged(matrix: np.ndarray, groups: Groups) -> np.ndarray:
    """Scores [system, topic]: means over the instances that have the topic."""
    return np.stack([mean_of_present(matrix[places].T) for places in groups.values()])


def instance_sds(matrix: np.ndarray, groups: Groups) -> np.ndarray:
    """Standard deviation of the instances' means over topics, one per system; NaN of one run."""
    means = [mean_of_present(matrix[places]) for places in groups.values()]
    return np.array([np.std(each, ddof=1) if len(each) > 1 else np.nan for each in means])


def scores_by_system(scores: Scores) -> Scores:
    """Scores of systems: by topic the means over their instances.

    `meta` says how many instances each system has (`n_instances`), and how far the means of
    these lie apart (`instance_sd`, by measure).
    """
    groups = systems_of(scores)
    names = tuple(groups)
    values = np.stack([averaged(scores.matrix(measure), groups) for measure in scores.measures])
    spread = {
        measure: dict(zip(names, instance_sds(scores.matrix(measure), groups), strict=True))
        for measure in scores.measures
    }
    # How far ties could move the mean of a run says little about that of several.
    meta = {key: value for key, value in scores.meta.items() if key != "tie_bounds"}
    sizes = {name: len(places) for name, places in groups.items()}
    return Scores(
        measures=scores.measures,
        runs=names,
        topics=scores.topics,
        values=values,
        run_info={"system": names},
        meta={**meta, "n_instances": sizes, "instance_sd": spread},
        directions=scores.directions,
    )


def system_tests(scores: Scores, measure: str, groups: Groups, pairs: np.ndarray) -> PairTests:
    """The mixed model's test of each pair of systems."""
    names, matrix = list(groups), averaged(scores.matrix(measure), groups)
    rows = []
    for first, second in pairs.tolist():
        n = int((~np.isnan(matrix[first]) & ~np.isnan(matrix[second])).sum())
        if n < 2:
            rows.append((n, *[np.nan] * 5, TOO_FEW))
            continue
        a, b = ((names[place], groups[names[place]]) for place in (first, second))
        rows.append((n, *_tested(pair_of(scores, measure, a=a, b=b))))
    return model_tests(rows, METHOD)


def _tested(pair: SystemPair) -> tuple[float, float, float, float, float, str]:
    """Difference, standard error, degrees of freedom, t, p and flag of one pair."""
    test = system_difference(pair)
    return test.estimate, test.standard_error, test.df, test.statistic, test.pvalue, test.flag


def system_difference(pair: SystemPair) -> Difference:
    """The sound test of one pair: closed form where the layout is balanced, REML elsewhere.

    Where only the numbers of runs differ and topics are many, mean squares give the same.
    """
    if pair.balanced:
        test: Difference = balanced_test(pair)
    elif pair.n_missing == 0 and len(pair.topics) > MANY_TOPICS:
        test = nested_difference(pair.a.scores, pair.b.scores)
    else:
        test = mixed_difference(pair, mixed_model(pair), ())
    # Two single runs are compared by the paired t test: nothing to flag in a table of runs.
    return replace(test, flag="") if test.flag == ONE_INSTANCE else test


def system_mean_intervals(matrix: np.ndarray, groups: Groups, level: float) -> np.ndarray:
    """Intervals [system, 2] of the means over topics and instances, for one system at a time."""
    return np.array([_mean_interval(matrix[places], level) for places in groups.values()])


def _mean_interval(scores: np.ndarray, level: float) -> tuple[float, float]:
    """Of one system [instance, topic]: both random, as in its comparisons."""
    if len(scores) == 1:
        low, high = mean_intervals(scores, level)[0].tolist()
        return low, high
    mean = crossed_mean(scores.T)
    if mean is None:
        return np.nan, np.nan
    return t_limits(mean.estimate, mean.standard_error, mean.df, level)


def crossed_mean(scores: np.ndarray) -> Difference | None:
    """The mean of scores [topic, instance], both random; None of fewer than two of either."""
    there = ~np.isnan(scores)
    scores = scores[there.any(axis=1)][:, there.any(axis=0)]
    if min(scores.shape) < 2:
        return None
    if not np.isnan(scores).any():
        return two_way_difference(scores.T)
    topic, instance = (index.ravel() for index in np.indices(scores.shape))
    model = MixedModel(scores.ravel(), random={"instance": instance, "topic": topic})
    return difference_of(fit(model, df_method=default_df_method(scores.shape[1])))
