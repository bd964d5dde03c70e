"""`instances`: compare non-deterministic systems, and show that they are equivalent.

For rerankers with a seed, approximate indexes, sampled collections: whether a difference holds for
other topics *and* other instances, and whether two systems differ by less than a margin (Jayasinghe
et al. 2015, doi:10.1016/j.ipm.2015.06.005). Differences, equivalences and non-inferiorities are one
family each; a sweep, whose settings have an order, tests the margin from the largest setting down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, permutations
from typing import Any, Literal, get_args

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.order import scores_in_order
from steadyrank.data.read.run_info import run_called
from steadyrank.data.scores import Scores, mean_of_present, measure_of
from steadyrank.errors import InputError, arg, check_choice, unknown_column, unknown_name, warn
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import scores_of
from steadyrank.stats.inputs import check_samples
from steadyrank.stats.instances.equivalence import check_alpha, check_delta, equivalence_test
from steadyrank.stats.instances.mixed_tests import (
    INSTANCE,
    SYSTEM_TOPIC,
    Inflation,
    bootstrap_pvalues,
    inflation_of,
    mixed_difference,
    mixed_model,
    paper_test,
)
from steadyrank.stats.instances.systems import (
    Groups,
    SystemPair,
    check_one_system,
    group_named,
    pair_of,
    settings_of,
    systems_of,
    warn_about_structure,
)
from steadyrank.stats.interval import Interval, t_limits
from steadyrank.stats.mixed.fit import RESIDUAL, MixedModel, component_intervals
from steadyrank.stats.mixed.posterior import Posterior, posterior
from steadyrank.stats.mixed.two_way import Difference
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.studies.instances.result import FamilyMember, InstancesResult, InstancesTable, Mode

__all__ = ["InstancesResult", "InstancesTable", "instances"]

Named = tuple[str, list[int]]
"""A system or setting, and the positions of its runs."""

MarginCorrection = Literal["holm", "fixed sequence", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of all comparisons of one call."""

    delta: float
    alpha: float
    mode: Mode
    factors: tuple[str, ...]
    posterior: bool
    n_samples: int
    samples_per_instance: int
    n_draws: int
    jobs: int | None
    seed: int
    comparisons: int = 1
    margin_correction: MarginCorrection = "holm"

    @property
    def share(self) -> float:
        """Level of each comparison's interval, by Bonferroni's correction."""
        return self.alpha / self.comparisons


@data_first
def instances(
    scores: Any,
    qrels: Any = None,
    measure: str | None = None,
    *,
    a: str | None = None,
    b: str | None = None,
    sweep: str | None = None,
    delta: float = 0.01,
    alpha: float = 0.05,
    instance_factors: Sequence[str] = (),
    posterior: bool = True,
    mode: Mode = "sound",
    n_samples: int = 10_000,
    samples_per_instance: int = 1000,
    n_draws: int = 4000,
    progress: Progress | None = None,
    jobs: int | None = None,
    rng: Rng = 0,
) -> InstancesResult | InstancesTable:
    """Compare systems whose runs are instances of them (`run_info["system"]`).

    A system with one run counts as deterministic. Among the p-values, `mixed` has random topics and
    instances with Satterthwaite's degrees of freedom, or Kenward and Roger's with fewer than five
    instances; `mixed_paper` and `bootstrap` (only against a single run) are the paper's, and too
    small where instances differ and are few; `two_way_bootstrap` resamples topics and instances.

    Parameters
    ----------
    scores, qrels : Scores, or runs and judgments
        Runs and judgments as `evaluate` takes them.
    measure : str, optional
        Required where the scores have several; for runs AP by default, or nDCG@10 if graded.
    a, b : str, optional
        Compare these two systems; one of them with every other system if only one is given; all
        pairs if none is.
    sweep : str, optional
        A numeric column of `run_info`: compare the runs of each setting (of system `a`, if given)
        with `b`, a system or a setting, and test the margin from the largest setting down.
    delta : float
        Margin of equivalence and non-inferiority, by two one-sided t tests and by the posterior's
        shortest interval of level 1 - alpha.
    alpha : float
        Level of the tests.
    instance_factors : sequence of str
        Columns of `run_info`, each nested in the one before, that say how instances were drawn,
        such as sample, partition, csi.
    posterior : bool
        Whether to sample the posterior, which takes seconds where instances lack topics.
    mode : str
        "paper" tests by `mixed_paper`, and gives bootstrap p-values as count / B.
    n_samples : int
        Number of resamples of the two-way bootstrap.
    samples_per_instance : int
        Number of resamples of each instance, by Algorithm 2.
    n_draws : int
        Number of draws of the posterior.
    progress : callable, optional
        Called with (finished, total) comparisons.
    jobs, rng : optional
        Threads; a seed, a `Generator` or None.

    Returns
    -------
    InstancesResult or InstancesTable
        For two systems an `InstancesResult`: difference, interval, p-values, variances, posterior
        and equivalence. For several comparisons an `InstancesTable` of such results.

    Notes
    -----
    With several comparisons, differences, equivalences and non-inferiorities are each corrected by
    Holm's method over all of them, and intervals are simultaneous (Bonferroni). The model assumes
    effects that are close to normal, with the same variances for both systems.

    With d[m, n] = delta + a[m] + u[n] + e[m, n] the difference of instance m to the other system on
    topic n, the mean over M instances and N topics has variance s_a²/M + s_u²/N + s_e²/(M N).

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(
    ...     n_teams=2, runs_per_team=1, n_instances=5, n_topics=20, depth=50, pool_depth=25
    ... )
    >>> scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    >>> result = sr.instances(scores, a="team1-s1", b="team2-s1", posterior=False)
    >>> result.design, result.n_instances, list(result.pvalue)
    ('nested', {'a': 5, 'b': 5}, ['mixed', 'mixed_paper', 'bootstrap', 'two_way_bootstrap'])
    """
    seed = seed_from(rng)
    factors = (instance_factors,) if isinstance(instance_factors, str) else tuple(instance_factors)
    settings = Settings(
        delta=delta,
        alpha=alpha,
        mode=mode,
        factors=factors,
        posterior=posterior,
        n_samples=n_samples,
        samples_per_instance=samples_per_instance,
        n_draws=n_draws,
        jobs=jobs,
        seed=seed,
    )
    scores = scores_of(scores, qrels, measure, jobs=jobs)
    name = _check(scores, measure, settings)
    scores = scores_in_order(scores)
    systems = systems_of(scores)
    a, b = run_called(a, scores), run_called(b, scores)
    if sweep is None:
        pairs, values = _pairs(systems, a, b), None
    else:
        pairs, values = _swept(scores, systems, sweep, a, b)
    used = {system: places for pair in pairs for system, places in pair}
    if not factors:
        warn_about_structure(scores, used, ignored=() if sweep is None else (sweep,))
    # The paper tests each setting of a sweep without a correction.
    of_sweep: MarginCorrection = "fixed sequence" if mode == "sound" else "none"
    correction: MarginCorrection = "holm" if sweep is None else of_sweep
    settings = replace(settings, comparisons=len(pairs), margin_correction=correction)
    comparisons: list[InstancesResult] = []
    for first, second in pairs:
        chosen = pair_of(scores, name, a=first, b=second, factors=factors)
        comparisons.append(compare_pair(chosen, name, settings))
        if progress is not None:
            progress(len(comparisons), len(pairs))
    _warn_about_paper(comparisons, settings)
    if sweep is None and a is not None and b is not None:
        return comparisons[0]
    return InstancesTable(
        measure=name,
        baseline=pairs[0][1][0] if len({second for _, (second, _) in pairs}) == 1 else None,
        sweep=sweep,
        settings=values,
        comparisons=tuple(as_family(comparisons, correction=correction)),
        alpha=alpha,
        delta=delta,
        mode=mode,
        margin_correction=correction,
    )


def _check(scores: Scores, measure: str | None, settings: Settings) -> str:
    """Check the settings that do not depend on systems; return the measure's name."""
    check_delta(settings.delta)
    check_alpha(settings.alpha)
    check_samples(settings.n_samples)
    check_samples(settings.samples_per_instance)
    check_choice("mode", settings.mode, get_args(Mode))
    for factor in settings.factors:
        if factor not in scores.run_info:
            raise unknown_column(factor, "run information", scores.run_info)
    chosen = measure_of(scores, measure)
    scores.check_higher(chosen, "instances")
    return chosen


def _pairs(systems: Groups, a: str | None, b: str | None) -> list[tuple[Named, Named]]:
    for name in (a, b):
        if name is not None:
            group_named(name, systems)
    if a is not None and a == b:
        raise InputError(f"a and b are both {a!r}: name two systems")
    if len(systems) < 2:
        raise InputError(
            f"there is only one system, {next(iter(systems))!r}: a comparison requires two"
        )
    pairs = combinations(systems, 2) if a is None and b is None else permutations(systems, 2)
    return [
        ((first, systems[first]), (second, systems[second]))
        for first, second in pairs
        if a in (None, first) and b in (None, second)
    ]


def _swept(
    scores: Scores, systems: Groups, factor: str, a: str | None, b: str | None
) -> tuple[list[tuple[Named, Named]], tuple[str, ...]]:
    """Return each setting of a column with the baseline, a system or one of the settings."""
    if b is None:
        raise InputError(
            f"a sweep over {factor} requires a baseline: name a system or setting as b"
        )
    among = range(len(scores.runs)) if a is None else group_named(a, systems)
    outside = set(systems[b]) if b in systems else set()
    of_value = settings_of(scores, factor, among=[run for run in among if run not in outside])
    chosen = b.removeprefix(f"{factor}=")
    if b in systems:
        baseline = (b, systems[b])
    elif chosen in of_value:
        baseline = (f"{factor}={chosen}", of_value.pop(chosen))
    else:
        raise unknown_name(f"system or {factor}", b, [*systems, *of_value])
    if not of_value:
        raise InputError(f"no run but those of {b} has a value in the column {factor}")
    named = {f"{factor}={value}": places for value, places in of_value.items()}
    for setting, places in (*named.items(), baseline):
        check_one_system(scores, setting, places)
    return [(setting, baseline) for setting in named.items()], tuple(of_value)


def compare_pair(pair: SystemPair, measure: str, settings: Settings) -> InstancesResult:
    """Return all figures about two systems."""
    model = mixed_model(pair, settings.factors)
    difference = mixed_difference(pair, model, settings.factors)
    paper, interval = _paper(pair, model, difference, settings)
    sampled = bootstrap_pvalues(
        pair,
        settings.factors,
        n_samples=settings.n_samples,
        samples_per_instance=settings.samples_per_instance,
        mode=settings.mode,
        seed=settings.seed,
        jobs=settings.jobs,
    )
    estimate, error, df = difference.estimate, difference.standard_error, difference.df
    test = equivalence_test(estimate, error, df=df, delta=settings.delta, alpha=settings.alpha)
    margin_share = settings.share if settings.margin_correction == "holm" else settings.alpha
    limits = t_limits(estimate, error, df, 1.0 - 2.0 * margin_share)
    several = max(len(pair.a.runs), len(pair.b.runs)) > 1
    spans = component_intervals(model, confidence=1.0 - settings.alpha) if several else {}
    z = mean_of_present(pair.a.scores.T) - mean_of_present(pair.b.scores.T)
    return InstancesResult(
        measure=measure,
        pair=pair,
        mode=settings.mode,
        alpha=settings.alpha,
        difference=estimate,
        standard_error=error,
        df=df,
        interval=interval,
        effect_size=_ratio(estimate, math.sqrt(difference.variances[RESIDUAL])),
        effect_size_paired=_ratio(float(z.mean()), float(z.std(ddof=1))),
        pvalue={"mixed": difference.pvalue, "mixed_paper": paper}
        | {name: value for name, (value, _) in sampled.items()},
        pvalue_error={name: error for name, (_, error) in sampled.items()},
        variance=difference.variances,
        variance_interval=spans,
        factor_variance=difference.factor_variances,
        inflation=_inflation(pair, difference, spans, settings),
        posterior=_posterior(pair, model, settings) if settings.posterior else None,
        equivalence=replace(test, interval=limits),
        flag=difference.flag,
        df_method=difference.df_method,
        method=difference.method,
        n_samples=settings.n_samples,
        samples_per_instance=settings.samples_per_instance,
        seed=settings.seed,
    )


def _ratio(value: float, scale: float) -> float:
    return value / scale if scale > 0.0 else math.nan


def _paper(
    pair: SystemPair, model: MixedModel, difference: Difference, settings: Settings
) -> tuple[float, Interval]:
    """Return the paper's p-value, and the interval of the test of the mode."""
    level = 1.0 - settings.share
    sound = t_limits(difference.estimate, difference.standard_error, difference.df, level)
    if max(len(pair.a.runs), len(pair.b.runs)) == 1:
        # With a single observation of each cell, eq. (9) is not identified.
        return math.nan, sound
    paper, pvalue = paper_test(pair, model if not settings.factors else mixed_model(pair))
    if settings.mode == "sound":
        return pvalue, sound
    error = float(paper.standard_errors[-1])
    return pvalue, t_limits(float(paper.estimates[-1]), error, paper.n - 1, level)


def _inflation(
    pair: SystemPair, difference: Difference, spans: dict[str, Interval], settings: Settings
) -> Inflation | None:
    """Return how much averaging instances understates the variance; None where it is unknown."""
    if any(math.isnan(difference.variances[name]) for name in (INSTANCE, SYSTEM_TOPIC)):
        return None
    unknown = Interval(math.nan, math.nan)
    return inflation_of(pair, difference, unknown if settings.factors else spans[INSTANCE])


def _posterior(pair: SystemPair, model: MixedModel, settings: Settings) -> Posterior:
    drawn = posterior(
        model,
        confidence=1.0 - settings.alpha,
        n_draws=settings.n_draws,
        seed=settings.seed,
        jobs=settings.jobs,
    )
    if not drawn.converged and not drawn.flag:
        warn(
            f"the posterior of {pair.a.name} − {pair.b.name} has not converged after "
            f"{drawn.n_draws} draws: draw more ({arg('n_draws=')})"
        )
    return drawn


def _warn_about_paper(results: Sequence[InstancesResult], settings: Settings) -> None:
    """Warn by how much the paper's test of a pair understates the variance, for the worst pair."""
    known = [
        (result.inflation.factor, result.inflation.interval, f"{result.a} − {result.b}")
        for result in results
        if result.design == "crossed" and result.inflation is not None
    ]
    if settings.mode != "paper" or not known:
        return
    factor, (low, high), pair = max(known, key=lambda worst: worst[0])
    interval = f" ({1 - settings.alpha:.0%} interval {low:.2f} to {high:.2f})"
    warn(
        "mode paper omits the variance between instances from the standard error: the variance of "
        f"{pair} is {factor:.2f} times the assumed one"
        f"{'' if math.isnan(low) else interval}; mode sound includes it"
    )


def adjusted_in_sequence(pvalues: Sequence[float]) -> np.ndarray:
    """Adjust p-values of hypotheses tested from the last to the first, until one is not rejected.

    NaN stops the tests.

    >>> adjusted_in_sequence([0.01, 0.2, 0.03]).tolist()
    [0.2, 0.2, 0.03]
    """
    adjusted: np.ndarray = np.maximum.accumulate(np.asarray(pvalues, float)[::-1])[::-1]
    return adjusted


def as_family(
    results: Sequence[InstancesResult], *, correction: MarginCorrection
) -> list[InstancesResult]:
    """Return the comparisons of one table with adjusted p-values and decisions."""
    tests = [result.equivalence for result in results]
    adjusted: Callable[[list[float]], np.ndarray] = partial(adjust, method=correction)
    if correction == "fixed sequence":
        adjusted = adjusted_in_sequence
    columns = (
        adjust([result.headline_pvalue for result in results]),
        adjusted([test.pvalue_equivalence for test in tests]),
        adjusted([test.pvalue_non_inferiority for test in tests]),
    )
    rows = zip(results, tests, *(column.tolist() for column in columns), strict=True)
    return [
        replace(
            result,
            family=FamilyMember(
                size=len(results),
                pvalue_adjusted=difference,
                pvalue_equivalence_adjusted=equivalence,
                pvalue_non_inferiority_adjusted=inferiority,
            ),
            equivalence=replace(
                test, equivalent=equivalence < result.alpha, non_inferior=inferiority < result.alpha
            ),
        )
        for result, test, difference, equivalence, inferiority in rows
    ]
