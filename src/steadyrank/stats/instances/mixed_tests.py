"""Tests of systems with several instances: mixed models and bootstraps of a pair, and tables.

By default topics and instances are both random, so that claims are about other topics *and* other
instances. The tests of the paper (Jayasinghe et al. 2015, doi:10.1016/j.ipm.2015.06.005) are
available as well; if one system is a single run, they omit the variance between instances. In
tables of systems, two single runs are compared by the paired t test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import harmonic_mean

import numpy as np
from scipy import special

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.stats.instances.bootstrap import algorithm_two, two_way_bootstrap
from steadyrank.stats.instances.systems import Groups, System, SystemPair, pair_of
from steadyrank.stats.interval import Interval, t_limits
from steadyrank.stats.mixed.fit import RESIDUAL, MixedFit, MixedModel, Term, difference_of, fit
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

FACTOR = "instance factor "
"""Prefix of instance factors among a model's terms, since a factor may be called "topic"."""

MANY_TOPICS = 500
"""Number of topics above which systems without missing scores are compared by mean squares."""

PAIRED_T = "Student's paired t of two runs, two-sided"

NOT_KNOWN = (math.nan, math.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inflation:
    """Factor by which averaging over instances underestimates the variance of the mean."""

    factor: float
    interval: Interval


def mixed_model(pair: SystemPair, factors: Sequence[str] = ()) -> MixedModel:
    """Return the sound model: of differences to a single run, or with instances within systems.

    Instance factors replace the instance, each nested in the previous ones; a term for the instance
    remains if several instances share all factors.
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
    """Return the sound test: in closed form for balanced layouts, otherwise by REML.

    Kenward and Roger's adjustment is used if a system that varies has few instances, or few groups
    by the first instance factor; otherwise Satterthwaite's degrees of freedom.
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
    """Return the fewest independent draws of a varying system: instances, or groups of them."""
    varied = [system for system in (pair.a, pair.b) if len(system.runs) > 1]
    draws = (set(system.factors[factors[0]]) if factors else system.runs for system in varied)
    return min(map(len, draws), default=1)


def paper_test(pair: SystemPair, model: MixedModel) -> tuple[MixedFit, float]:
    """Return eq. (9) as printed and its p-value, with one df less than observations.

    If crossed, the single run is replicated for every instance; if nested, instances are within
    systems, and the model is the sound `model`.
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
    """Return p-value and Monte Carlo error of Algorithm 2 and of the two-way bootstrap."""
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


def inflation_of(pair: SystemPair, difference: Difference, interval: Interval) -> Inflation:
    """Return 1 + N s_a² / (M s_u² + s_e²), at the estimate and at both limits of s_a².

    1 without variance. With unequal numbers of instances M is their harmonic mean; with instance
    factors N s_a² / M is what the standard error has beyond topics and residual.
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


def balanced_test(pair: SystemPair, df_method: DfMethod | None = None) -> DifferenceTest:
    """Return the test of a balanced layout in closed form."""
    df_method = df_method or default_df_method(fewest_draws(pair, ()))
    if pair.design == "crossed":
        return two_way_difference(pair.differences(), df_method=df_method)
    return nested_difference(pair.a.scores, pair.b.scores, df_method=df_method)


def _closed(pair: SystemPair, model: MixedModel, df_method: DfMethod) -> Difference:
    """Return the test in closed form; only the variance of topics requires the model."""
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
    """Return scores of both systems in rows, whether they are a's, their instances and topics.

    With `replicate` a single run gets a row for every score of the other system.
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
    """Return labels of rows by each instance factor within the previous ones, or by instance."""
    terms: dict[str, np.ndarray] = {}
    labels = _nested_labels(systems, factors)
    for depth, factor in enumerate(factors):
        terms[FACTOR + factor] = labels[depth][instance]
    if not factors or labels[-1].max() + 1 < len(labels[-1]):
        terms[INSTANCE] = instance
    return terms


def _nested_labels(systems: Sequence[System], factors: Sequence[str]) -> list[np.ndarray]:
    """Return for each factor the group of every instance: equal in it and all previous factors."""
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
    """Return the units of a bootstrap: instances, or means over groups by the first factor."""
    if not factors or len(system.runs) == 1:
        return system.scores
    groups = _nested_labels([system], factors[:1])[0]
    members = [system.scores[groups == code] for code in range(groups.max() + 1)]
    return np.stack([mean_of_present(each.T) for each in members])


METHOD = "mixed model with random topics and instances"


def has_instances(scores: Scores) -> bool:
    """Return whether run information names a system with several runs."""
    systems = [system for system in scores.run_info.get("system", ()) if system]
    return len(set(systems)) < len(systems)


def averaged(matrix: np.ndarray, groups: Groups) -> np.ndarray:
    """Return scores [system, topic]: means over the instances that have the topic."""
    return np.stack([mean_of_present(matrix[places].T) for places in groups.values()])


def instance_sds(matrix: np.ndarray, groups: Groups) -> np.ndarray:
    """Return the standard deviation of the instances' means by system; NaN for one run."""
    means = [mean_of_present(matrix[places]) for places in groups.values()]
    return np.array([np.std(each, ddof=1) if len(each) > 1 else np.nan for each in means])


def system_tests(scores: Scores, measure: str, groups: Groups, pairs: np.ndarray) -> PairTests:
    """Return the mixed model's test of each pair of systems."""
    names, matrix = list(groups), averaged(scores.matrix(measure), groups)
    rows = []
    for first, second in pairs.tolist():
        n = int((~np.isnan(matrix[first]) & ~np.isnan(matrix[second])).sum())
        if n < 2:
            rows.append((n, *[np.nan] * 5, TOO_FEW))
            continue
        a, b = ((names[place], groups[names[place]]) for place in (first, second))
        test = system_difference(pair_of(scores, measure, a=a, b=b))
        figures = (test.estimate, test.standard_error, test.df, test.statistic, test.pvalue)
        rows.append((n, *figures, test.flag))
    return model_tests(rows, METHOD)


def system_difference(pair: SystemPair) -> Difference:
    """Return the sound test of a pair: in closed form for balanced layouts, otherwise by REML.

    If only the numbers of runs differ and there are many topics, mean squares give the same result.
    """
    if pair.balanced:
        test: Difference = balanced_test(pair)
    elif pair.n_missing == 0 and len(pair.topics) > MANY_TOPICS:
        test = nested_difference(pair.a.scores, pair.b.scores)
    else:
        test = mixed_difference(pair, mixed_model(pair), ())
    # Two single runs are compared by the paired t test, which needs no flag.
    return replace(test, flag="") if test.flag == ONE_INSTANCE else test


def system_mean_intervals(matrix: np.ndarray, groups: Groups, level: float) -> np.ndarray:
    """Return intervals [system, 2] of means over random topics and instances, each for one."""
    intervals = np.full((len(groups), 2), np.nan)
    for interval, places in zip(intervals, groups.values(), strict=True):
        if len(places) == 1:
            interval[:] = mean_intervals(matrix[places], level)[0]
        elif mean := crossed_mean(matrix[places].T):
            interval[:] = t_limits(mean.estimate, mean.standard_error, mean.df, level)
    return intervals


def crossed_mean(scores: np.ndarray) -> Difference | None:
    """Test the mean of scores [topic, instance], both random; None for fewer than two of either."""
    there = ~np.isnan(scores)
    scores = scores[there.any(axis=1)][:, there.any(axis=0)]
    if min(scores.shape) < 2:
        return None
    if not np.isnan(scores).any():
        return two_way_difference(scores.T)
    topic, instance = (index.ravel() for index in np.indices(scores.shape))
    model = MixedModel(scores.ravel(), random={"instance": instance, "topic": topic})
    return difference_of(fit(model, df_method=default_df_method(scores.shape[1])))
