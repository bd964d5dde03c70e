"""How probable is a difference between two systems, given the data? Posterior of a mixed model.

Gives a probability or a shortest interval instead of a test (Jayasinghe et al. 2015,
doi:10.1016/j.ipm.2015.06.005). The coefficients are integrated out: only the standard deviations
are sampled, and then the coefficients exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

from steadyrank.compute.executors import map_in_order, one_blas_thread, workers
from steadyrank.compute.random import block_stream
from steadyrank.errors import bad_value
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.mixed.balanced import LayoutStrata
from steadyrank.stats.mixed.fit import (
    NO_RESIDUAL,
    RESIDUAL,
    MixedModel,
    ResponseScale,
    best_fit,
    coefficient_names,
    likelihood_of,
    scale_of,
)
from steadyrank.stats.mixed.general import RowTables
from steadyrank.stats.mixed.sampling import (
    WIDE,
    Surrogate,
    effective_sample_size,
    exact_surrogate,
    fitted_surrogate,
    hpd_interval,
    split_rhat,
    start_and_widths,
    variances_of,
)
from steadyrank.stats.pairs.result import NO_DIFFERENCE, ZERO_VARIANCE

CHAINS = 4
FEWEST_DRAWS = 100
WARM_UP = 50

CORRECTED_WARM_UP = 10
LARGEST_RHAT, SMALLEST_ESS = 1.01, 400.0

METHOD = (
    "posterior of a linear mixed model: flat coefficients, half-Cauchy(sd(y)) standard deviations,"
    " 1/s² residual variance; marginal slice sampling"
)

EXTENSIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """Draws from the posterior of a mixed model; arrays have one entry per coefficient."""

    coefficients: tuple[str, ...]
    mean: np.ndarray
    sd: np.ndarray
    hpd: np.ndarray
    pvalue: np.ndarray
    """2 min(P(b <= 0), P(b >= 0))."""
    confidence: float
    components: tuple[str, ...] = ()
    draws: np.ndarray
    """Coefficients, [chain, draw, coefficient]."""
    deviation_draws: np.ndarray
    """Standard deviations, [chain, draw, component]."""
    rhat: dict[str, float] = field(default_factory=dict)
    bulk_ess: dict[str, float] = field(default_factory=dict)
    acceptance: float
    """Share of proposals that the exact likelihood accepted; 1 on a balanced layout."""
    converged: bool
    n_draws: int
    seed: int
    flag: str
    """"", or why there are no draws, as for `fit`."""
    method: str = METHOD


def posterior(
    model: MixedModel,
    *,
    confidence: float = 0.95,
    n_draws: int = 4000,
    target_ess: float = 3000.0,
    seed: int = 0,
    jobs: int | None = None,
) -> Posterior:
    """Sample the posterior of a mixed model.

    Priors: flat on the coefficients, half-Cauchy with scale sd(y) on the standard deviation of
    each random term, 1/s² on the residual variance. Four chains are extended until every parameter
    has split R-hat below 1.01 and a bulk effective sample size of `target_ess`, at most to eight
    times `n_draws`; `converged` says whether R-hat and an effective size of 400 were reached. Draws
    depend on the seed, not on `jobs`. Reference: Gelman 2006, doi:10.1214/06-BA117A.
    """
    check_open_unit("confidence", confidence)
    if n_draws < FEWEST_DRAWS:
        raise bad_value("n_draws", f"be at least {FEWEST_DRAWS}", n_draws)
    scale = scale_of(model)
    with one_blas_thread():
        sampler = scale.flag or _sampler(model, scale, seed)
        if isinstance(sampler, str):
            return _degenerate(scale, sampler, confidence, seed)
        how: Any = {"confidence": confidence, "seed": seed, "jobs": jobs}
        step = -(-n_draws // CHAINS)
        return _sampled(model, scale, sampler, step=step, target=target_ess, **how)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sampler:
    """A likelihood, the approximation that is sampled, and the starting point of chains."""

    likelihood: LayoutStrata | RowTables
    free: np.ndarray
    surrogate: Surrogate
    start: np.ndarray
    widths: np.ndarray
    offset: np.ndarray
    """Difference of the coefficients due to centring, in units of the response's spread."""

    def log_weight(self, state: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return log(exact / approximate density), and mean and covariance of coefficients."""
        variances = variances_of(state[None], self.free, self.likelihood.n_terms)[0]
        try:
            point = self.likelihood.point(variances)
        except np.linalg.LinAlgError:
            # Variances of so different sizes that no digit is left have negligible density.
            return -np.inf, np.zeros(self.offset.size), np.eye(self.offset.size)
        approximate = self.surrogate.log_likelihood(state[None])[0]
        return -0.5 * point.value - approximate, point.estimates, point.covariance


def _sampler(model: MixedModel, scale: ResponseScale, seed: int) -> _Sampler | str:
    """Return the data of the chains, or the flag of an improper posterior."""
    likelihood = likelihood_of(model, scale)
    best, free = best_fit(likelihood)
    if not best.bounded:
        return NO_RESIDUAL
    prior_scale = float(np.nanstd(model.response, ddof=1)) / scale.spread
    start, widths = start_and_widths(likelihood, best, free, prior_scale)
    if isinstance(likelihood, LayoutStrata):
        surrogate = exact_surrogate(likelihood, free, prior_scale, widths)
    else:
        design = block_stream(seed, "posterior design", 0)
        surrogate = fitted_surrogate(likelihood, free, prior_scale, (start, widths), design)
    offset = np.zeros(scale.means.size)
    offset[0] = scale.centre / scale.spread
    return _Sampler(
        likelihood=likelihood,
        free=free,
        surrogate=surrogate,
        start=start,
        widths=widths,
        offset=offset,
    )


class _Chain:
    """One chain, which can be extended."""

    def __init__(self, sampler: _Sampler, seed: int, number: int) -> None:
        self.sampler = sampler
        self.generator = block_stream(seed, "posterior", number)
        reach = sampler.widths / WIDE
        self.state = sampler.start + 2.0 * reach * self.generator.standard_normal(reach.size)
        self.accepted = self.proposed = 0
        self.states = np.empty((0, reach.size))
        self.coefficients = self.means = self.below = np.empty((0, sampler.offset.size))
        sampler.surrogate.draw(self.generator, self.state, WARM_UP)
        if isinstance(sampler.likelihood, RowTables):
            self.weighed = sampler.log_weight(self.state)
            self._corrected(CORRECTED_WARM_UP)
            self.accepted = self.proposed = 0

    def extend(self, n: int) -> None:
        """Append `n` draws."""
        if isinstance(self.sampler.likelihood, LayoutStrata):
            states, means, covariances = self._exact(self.sampler.likelihood, n)
        else:
            states, means, covariances = self._corrected(n)
        normal = self.generator.standard_normal((*means.shape, 1))
        coefficients = means + (np.linalg.cholesky(covariances) @ normal)[:, :, 0]
        sds = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
        below = special.ndtr(-(means + self.sampler.offset) / sds)
        self.states = np.concatenate([self.states, states])
        self.coefficients = np.concatenate([self.coefficients, coefficients])
        self.means = np.concatenate([self.means, means])
        self.below = np.concatenate([self.below, below])

    def _exact(self, strata: LayoutStrata, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw from the likelihood of a balanced layout."""
        states = self.sampler.surrogate.draw(self.generator, self.state, n)
        variances = variances_of(states, self.sampler.free, strata.n_terms)
        covariances = np.tensordot(variances @ strata.fixed_loads.T, strata.fixed_shapes, 1)
        self.accepted, self.proposed = self.accepted + n, self.proposed + n
        return states, np.tile(strata.estimates, (n, 1)), covariances

    def _corrected(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw proposals from the approximation, and accept them by the ratio of weights."""
        states, p = np.empty((n, self.state.size)), self.sampler.offset.size
        means, covariances = np.empty((n, p)), np.empty((n, p, p))
        for i in range(n):
            proposal = self.sampler.surrogate.draw(self.generator, self.state.copy(), 1)[0]
            weighed = self.sampler.log_weight(proposal)
            if -self.generator.standard_exponential() < weighed[0] - self.weighed[0]:
                self.state, self.weighed = proposal, weighed
                self.accepted += 1
            states[i], (_, means[i], covariances[i]) = self.state, self.weighed
        self.proposed += n
        return states, means, covariances


def _sampled(
    model: MixedModel,
    scale: ResponseScale,
    sampler: _Sampler,
    *,
    confidence: float,
    seed: int,
    step: int,
    target: float,
    jobs: int | None,
) -> Posterior:
    """Extend chains by `step` draws each until the diagnostics are good; return the posterior."""
    components = tuple([*model.random, RESIDUAL][k] for k in sampler.free.tolist())
    names = coefficient_names(sampler.offset.size)
    with workers(jobs=jobs) as threads:
        chains = map_in_order(lambda k: _Chain(sampler, seed, k), range(CHAINS), threads)
        for _ in range(EXTENSIONS):
            map_in_order(lambda chain: chain.extend(step), chains, threads)
            coefficients = np.stack([chain.coefficients for chain in chains])
            states = np.stack([chain.states for chain in chains])
            sds = np.concatenate([np.abs(states[:, :, :-1]), np.exp(states[:, :, -1:])], axis=2)
            every = np.moveaxis(np.concatenate([coefficients, sds], axis=2), 2, 0)
            rhat, ess = list(map(split_rhat, every)), list(map(effective_sample_size, every))
            if max(rhat) < LARGEST_RHAT and min(ess) >= target:
                break
    below, means = (
        np.concatenate([getattr(chain, name) for chain in chains]).mean(axis=0)
        for name in ("below", "means")
    )
    draws = (coefficients + sampler.offset) * scale.spread
    shortest = [hpd_interval(own, confidence=confidence) for own in np.moveaxis(draws, 2, 0)]
    return Posterior(
        coefficients=names,
        mean=(means + sampler.offset) * scale.spread,
        sd=draws.std(axis=(0, 1), ddof=1),
        hpd=np.array(shortest),
        pvalue=2.0 * np.minimum(below, 1.0 - below),
        confidence=confidence,
        components=components,
        draws=draws,
        deviation_draws=sds * scale.spread,
        rhat=dict(zip((*names, *components), rhat, strict=True)),
        bulk_ess=dict(zip((*names, *components), ess, strict=True)),
        acceptance=sum(chain.accepted for chain in chains) / sum(c.proposed for c in chains),
        converged=max(rhat) < LARGEST_RHAT and min(ess) > SMALLEST_ESS,
        n_draws=draws.shape[0] * draws.shape[1],
        seed=seed,
        flag="",
    )


def _degenerate(scale: ResponseScale, flag: str, confidence: float, seed: int) -> Posterior:
    """Return a point mass at the estimates if the response has no variance, otherwise NaN."""
    known = flag in (NO_DIFFERENCE, ZERO_VARIANCE)
    means = scale.means
    if means.size == 2:
        means = np.array([means[1], means[0] - means[1]])
    at = means if known else np.full(means.size, np.nan)
    certain = np.where(np.abs(means) <= scale.tiny, 1.0, 0.0)
    return Posterior(
        coefficients=coefficient_names(means.size),
        mean=at,
        sd=np.zeros(means.size) if known else at,
        hpd=np.stack([at, at], axis=1),
        pvalue=certain if known else at,
        confidence=confidence,
        draws=np.empty((CHAINS, 0, means.size)),
        deviation_draws=np.empty((CHAINS, 0, 0)),
        acceptance=float("nan"),
        converged=known,
        n_draws=0,
        seed=seed,
        flag=flag,
    )
