"""One comparison of two systems, from their scores to everything that `instances` reports."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from steadyrank.errors import SteadyrankWarning
from steadyrank.stats.equivalence import EquivalenceTest, equivalence_test, t_limits
from steadyrank.stats.instance_power import Claim, InstanceVariances
from steadyrank.stats.mixed_model import RESIDUAL, MixedModel
from steadyrank.stats.posterior import Posterior, posterior
from steadyrank.studies.equivalence import Layout, Settling, harmonic_mean, settling
from steadyrank.studies.instance_results import InstancesResult, Mode
from steadyrank.studies.instance_systems import SystemPair
from steadyrank.studies.instance_tests import (
    INSTANCE,
    NOT_KNOWN,
    SYSTEM_TOPIC,
    Difference,
    Inflation,
    bootstrap_pvalues,
    groups_of_instances,
    inflation_of,
    mixed_difference,
    mixed_model,
    paper_test,
    topic_differences,
    variance_intervals,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What every comparison of one call has in common."""

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


def compare_pair(pair: SystemPair, measure: str, settings: Settings) -> InstancesResult:
    """Every figure about two systems."""
    model = mixed_model(pair, settings.factors)
    found = mixed_difference(pair, model, settings.factors)
    paper, interval = _paper(pair, model, found, settings)
    sampled = bootstrap_pvalues(
        pair, settings.factors, n_samples=settings.n_samples,
        samples_per_instance=settings.samples_per_instance, mode=settings.mode,
        seed=settings.seed, jobs=settings.jobs,
    )  # fmt: skip
    test = equivalence_test(
        found.estimate, found.standard_error, df=found.df, delta=settings.delta,
        alpha=settings.alpha,
    )  # fmt: skip
    spans = variance_intervals(pair, model, level=1.0 - settings.alpha)
    z = topic_differences(pair)
    return InstancesResult(
        measure=measure,
        pair=pair,
        mode=settings.mode,
        alpha=settings.alpha,
        difference=found.estimate,
        standard_error=found.standard_error,
        df=found.df,
        interval=interval,
        effect_size=_ratio(found.estimate, math.sqrt(found.variances[RESIDUAL])),
        effect_size_paired=_ratio(float(z.mean()), float(z.std(ddof=1))),
        pvalue={"mixed": found.pvalue, "mixed_paper": paper}
        | {name: value for name, (value, _) in sampled.items()},
        pvalue_error={name: error for name, (_, error) in sampled.items()},
        variance=found.variances,
        variance_interval=spans,
        factor_variance=found.factor_variances,
        inflation=_inflation(pair, found, spans, settings),
        posterior=_posterior(pair, model, settings) if settings.posterior else None,
        equivalence=test,
        settling=_settling(pair, found, test, settings),
        flag=found.flag,
        df_method=found.df_method,
        method=found.method,
        n_samples=settings.n_samples,
        samples_per_instance=settings.samples_per_instance,
        seed=settings.seed,
    )


def _ratio(value: float, scale: float) -> float:
    return value / scale if scale > 0.0 else math.nan


def _paper(
    pair: SystemPair, model: MixedModel, found: Difference, settings: Settings
) -> tuple[float, tuple[float, float]]:
    """The paper's p-value, and the interval of the test that the mode decides by."""
    level = 1.0 - settings.alpha
    sound = t_limits(found.estimate, found.standard_error, found.df, level)
    if max(len(pair.a.runs), len(pair.b.runs)) == 1:
        # A single observation of each cell: eq. (9) is not identified.
        return math.nan, sound
    paper, pvalue = paper_test(pair, model if not settings.factors else mixed_model(pair))
    if settings.mode == "sound":
        return pvalue, sound
    error = float(paper.standard_errors[-1])
    return pvalue, t_limits(float(paper.estimates[-1]), error, paper.n - 1, level)


def _inflation(
    pair: SystemPair,
    found: Difference,
    spans: dict[str, tuple[float, float]],
    settings: Settings,
) -> Inflation | None:
    """None where instances are single or their variance is unknown."""
    if math.isnan(found.variances[INSTANCE]) or math.isnan(found.variances[SYSTEM_TOPIC]):
        return None
    return inflation_of(pair, found, NOT_KNOWN if settings.factors else spans[INSTANCE])


def _posterior(pair: SystemPair, model: MixedModel, settings: Settings) -> Posterior:
    drawn = posterior(
        model, level=1.0 - settings.alpha, n_draws=settings.n_draws, seed=settings.seed,
        jobs=settings.jobs,
    )  # fmt: skip
    if not drawn.converged and not drawn.flag:
        warnings.warn(
            f"the posterior of {pair.a.name} − {pair.b.name} has not converged after "
            f"{drawn.n_draws} draws: ask for more (--draws)",
            SteadyrankWarning,
            stacklevel=5,
        )
    return drawn


def _settling(
    pair: SystemPair, found: Difference, test: EquivalenceTest, settings: Settings
) -> dict[Claim, Settling]:
    """What would settle the claims that are open: equivalence only of what lies inside."""
    if not found.standard_error > 0.0:
        return {}
    is_worse = test.interval[1] < -test.delta
    is_open: dict[Claim, bool] = {
        "non_inferior": not test.non_inferior and not is_worse,
        "equivalent": not test.equivalent and abs(found.estimate) < test.delta,
    }
    layout = _layout(pair, found, settings.factors)
    return {
        claim: settling(
            layout, claim, difference=found.estimate, delta=test.delta, alpha=test.alpha
        )
        for claim, wanted in is_open.items()
        if wanted
    }


def _layout(pair: SystemPair, found: Difference, factors: tuple[str, ...]) -> Layout:
    """Sizes and variances; with instance factors the largest groups count as instances.

    The mean of a group varies by what its instances share and, among its own, by the rest.
    """
    parts = np.nan_to_num([found.variances[k] for k in (INSTANCE, SYSTEM_TOPIC, RESIDUAL)])
    instance, system_topic, residual = parts.tolist()
    varied = [system for system in (pair.a, pair.b) if len(system.runs) > 1]
    sizes = tuple(len(system.runs) for system in varied) or (1,)
    if not varied:
        # All that is known is the topics' variance: there is nothing to tell it apart from.
        system_topic, residual = residual, 0.0
    elif factors:
        groups = tuple(groups_of_instances(system, factors) for system in varied)
        m, g, n = harmonic_mean(sizes), harmonic_mean(groups), len(pair.topics)
        residual *= g / m
        averaged = (g * system_topic + residual) / n
        instance = max(0.0, found.standard_error**2 * g / len(sizes) - averaged)
        sizes = groups
    return Layout(
        design=pair.design,
        topics=len(pair.topics),
        instances=sizes,
        variances=InstanceVariances(
            instance=instance, system_topic=system_topic, residual=residual
        ),
    )
