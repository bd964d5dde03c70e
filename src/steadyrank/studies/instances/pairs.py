"""One comparison of two systems, from their scores to everything that `instances` reports."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from steadyrank.errors import arg, warn
from steadyrank.stats.instances.equivalence import equivalence_test
from steadyrank.stats.instances.mixed_tests import (
    INSTANCE,
    SYSTEM_TOPIC,
    Inflation,
    bootstrap_pvalues,
    inflation_of,
    mixed_difference,
    mixed_model,
    paper_test,
    topic_differences,
    variance_intervals,
)
from steadyrank.stats.instances.systems import SystemPair
from steadyrank.stats.interval import Interval, t_limits
from steadyrank.stats.mixed.model import RESIDUAL, MixedModel
from steadyrank.stats.mixed.posterior import Posterior, posterior
from steadyrank.stats.mixed.two_way import Difference
from steadyrank.studies.instances.result import InstancesResult, Mode


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
    comparisons: int = 1
    """In the table: for its intervals to hold at once, each has its share of alpha."""
    margin_correction: str = "holm"
    """As in `InstancesTable`."""

    @property
    def share(self) -> float:
        """Each comparison's part of alpha, by Bonferroni."""
        return self.alpha / self.comparisons

    @property
    def margin_share(self) -> float:
        """The same of claims about the margin; all of alpha where they are tested one by one."""
        return self.share if self.margin_correction == "holm" else self.alpha


def compare_pair(pair: SystemPair, measure: str, settings: Settings) -> InstancesResult:
    """Every figure about two systems."""
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
    limits = t_limits(estimate, error, df, 1.0 - 2.0 * settings.margin_share)
    spans = variance_intervals(pair, model, level=1.0 - settings.alpha)
    z = topic_differences(pair)
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
    """The paper's p-value, and the interval of the test that the mode decides by."""
    level = 1.0 - settings.share
    sound = t_limits(difference.estimate, difference.standard_error, difference.df, level)
    if max(len(pair.a.runs), len(pair.b.runs)) == 1:
        # A single observation of each cell: eq. (9) is not identified.
        return math.nan, sound
    paper, pvalue = paper_test(pair, model if not settings.factors else mixed_model(pair))
    if settings.mode == "sound":
        return pvalue, sound
    error = float(paper.standard_errors[-1])
    return pvalue, t_limits(float(paper.estimates[-1]), error, paper.n - 1, level)


def _inflation(
    pair: SystemPair, difference: Difference, spans: dict[str, Interval], settings: Settings
) -> Inflation | None:
    """None where instances are single or their variance is unknown."""
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
