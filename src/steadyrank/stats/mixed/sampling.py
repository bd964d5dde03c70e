"""How the posterior of a mixed model is sampled, and what the draws are worth.

On a balanced layout the deviance is a sum of df log(eigenvalue) + SS / eigenvalue over strata. On
any other layout such a sum, with effective df and SS fitted to a few hundred exact evaluations, is
so close that its draws need little correction: a balanced stand-in, cheap enough to sample from
without end. What is left is corrected by `posterior`.

Split R-hat and effective sample sizes with ranks in place of values are those of Vehtari et al.
2021 (doi:10.1214/20-BA1221). Draws come as [chain, draw].
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import fft, special

from steadyrank.compute.kernels import kernel, part
from steadyrank.errors import InputError, arg, unknown_name
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.interval import Interval
from steadyrank.stats.mixed.balanced import LayoutStrata
from steadyrank.stats.mixed.general import RowTables
from steadyrank.stats.mixed.search import Likelihood, Optimum
from steadyrank.stats.run_means import average_ranks

TAILS = (0.05, 0.95)


def hpd_interval(draws: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """The shortest interval between two draws that are round(confidence n) places apart in order.

    Of equally short ones the lowest, as in R's coda. Assumes a law with one peak: where there are
    two, the interval also spans what lies between. Any shape of draws; NaN among them gives NaN.

    Reference: Chen and Shao 1999, doi:10.1080/10618600.1999.10474802.

    >>> hpd_interval([0.0, 1.0, 1.1, 1.2, 1.3, 5.0, 9.0], confidence=0.4)
    Interval(low=1.0, high=1.3)
    """
    check_open_unit("confidence", confidence)
    ordered = np.sort(np.asarray(draws, dtype=np.float64).reshape(-1))
    n = len(ordered)
    if n < 2:
        raise InputError(f"an interval requires two draws or more, got {n}")
    if np.isnan(ordered[-1]):
        return Interval(float("nan"), float("nan"))
    gap = max(1, min(n - 1, round(n * confidence)))
    start = int(np.argmin(ordered[gap:] - ordered[:-gap]))
    return Interval(float(ordered[start]), float(ordered[start + gap]))


def split_rhat(draws: ArrayLike) -> float:
    """Spread of all half chains together over that within them; 1 when they agree.

    The larger of two figures, from normal scores of the draws' ranks and from those of the
    distances to the median, so that chains must agree in place and in spread. Below 1.01 is good;
    it cannot see what all chains miss. NaN for constant draws or fewer than four a chain.

    Reference: Vehtari et al. 2021, doi:10.1214/20-BA1221.

    >>> chains = np.random.default_rng(0).normal(size=(4, 500))
    >>> split_rhat(chains) < 1.01 < split_rhat(chains + np.arange(4)[:, None])
    True
    """
    halves = _halves(draws)
    if halves.shape[1] < 2 or not np.ptp(halves) > 0.0:
        return float("nan")
    folded = np.abs(halves - np.median(halves))
    return max(_rhat(_normal_scores(halves)), _rhat(_normal_scores(folded)))


def effective_sample_size(draws: ArrayLike, *, kind: str = "bulk") -> float:
    """How many independent draws would say as much.

    `bulk` is about the middle (normal scores of ranks), `tail` about the 5% and the 95% quantile
    (the smaller of both), `mean` of the mean itself. Sums autocorrelations as far as Geyer's
    monotone sequence goes. Do not read the bulk figure as that of an interval's ends. All draws
    if they are constant, NaN below four a chain.

    Reference: Vehtari et al. 2021, doi:10.1214/20-BA1221; Geyer 1992, doi:10.1214/ss/1177011137.

    >>> chains = np.random.default_rng(0).normal(size=(4, 1000))
    >>> 3500 < effective_sample_size(chains) < 4500
    True
    """
    halves = _halves(draws)
    if kind == "bulk":
        return _ess(_normal_scores(halves))
    if kind == "mean":
        return _ess(halves)
    if kind == "tail":
        whole = np.asarray(draws, dtype=np.float64)
        return min(_ess((halves <= np.quantile(whole, tail)).astype(np.float64)) for tail in TAILS)
    raise unknown_name("kind of effective sample size", kind, ("bulk", "tail", "mean"))


def _halves(draws: ArrayLike) -> np.ndarray:
    """Each chain cut in two; the middle draw of an odd number is left out."""
    chains = np.asarray(draws, dtype=np.float64)
    if chains.ndim != 2:
        raise InputError(
            f"{arg('draws')} must be a matrix [chain, draw], got {chains.ndim} dimensions"
        )
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, chains.shape[1] - half :]])


def _normal_scores(draws: np.ndarray) -> np.ndarray:
    rank = average_ranks(draws.ravel()).reshape(draws.shape)
    return np.asarray(special.ndtri((rank - 0.375) / (draws.size + 0.25)))


def _rhat(draws: np.ndarray) -> float:
    n = draws.shape[1]
    between = n * draws.mean(axis=1).var(ddof=1)
    within = draws.var(axis=1, ddof=1).mean()
    return float(np.sqrt((between / within + n - 1.0) / n))


def _ess(draws: np.ndarray) -> float:
    m, n = draws.shape
    if n < 2:
        return float("nan")
    if not np.ptp(draws) > 0.0:
        return float(draws.size)
    covariance = _autocovariance(draws).mean(axis=0)
    within = covariance[0] * n / (n - 1.0)
    total = covariance[0] + (draws.mean(axis=1).var(ddof=1) if m > 1 else 0.0)
    correlation = 1.0 - (within - covariance) / total
    correlation[0] = 1.0
    pairs = correlation[: n - n % 2].reshape(-1, 2).sum(axis=1)[: max(1, (n - 2) // 2)]
    ends = np.flatnonzero(pairs < 0.0)
    # The pair that turns negative is left out, but for its even lag if that is still positive.
    kept = int(ends[0]) if len(ends) else len(pairs) - 1
    sums = np.minimum.accumulate(pairs[:kept])
    time = -1.0 + 2.0 * float(sums.sum()) + max(float(correlation[2 * kept]), 0.0)
    return draws.size / max(time, 1.0 / float(np.log10(draws.size)))


def _autocovariance(draws: np.ndarray) -> np.ndarray:
    """Of each chain, at lags 0 to n - 1, with divisor n."""
    n = draws.shape[1]
    centred = draws - draws.mean(axis=1, keepdims=True)
    size = fft.next_fast_len(2 * n, real=True)
    spectrum = fft.rfft(centred, size, axis=1)
    return np.asarray(fft.irfft(spectrum * spectrum.conj(), size, axis=1)[:, :n] / n)


FIRST_ROUND, FARTHEST = 150, 6.0
"""Evaluations around the maximum, and how many standard deviations they may lie off."""

ROUNDS = ((0.5, 150), (0.7, 150), (0.85, 150))
"""How flat the stand-in is made before its draws are evaluated, and how many there are."""

RELEVANT = 10.0
"""Evaluations whose deviance is so much above the least count half in the fit."""

WIDE = 3.0
"""A slice's width in units of the conditional standard deviation at the maximum."""

SWEEPS = 10
"""Updates of each parameter, on average, between two draws."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surrogate:
    """Strata whose deviance is, or resembles, that of a layout.

    Parameters are the standard deviations of the identified terms, signed, and the logarithm of
    the residual one.
    """

    layout: np.ndarray
    """Degrees of freedom and sum of squares, [stratum, 2]."""
    loads: np.ndarray
    """[stratum, parameter]."""
    prior_scale: float
    widths: np.ndarray
    """First guess at a slice's width, for each parameter."""

    def draw(self, generator: np.random.Generator, state: np.ndarray, n: int) -> np.ndarray:
        """`n` draws, each some sweeps after the last; `state` is where to start, and moves."""
        draws = np.empty((n, state.size))
        updates = SWEEPS * state.size
        slice_draws(
            generator, state, self.widths, self.layout, self.loads, self.prior_scale, updates, draws
        )
        return draws

    def log_likelihood(self, states: np.ndarray) -> np.ndarray:
        """Of each state, but for a constant, and without the prior."""
        spread = _parameters_squared(states) @ self.loads.T
        terms = np.log(spread) @ self.layout[:, 0] + (1.0 / spread) @ self.layout[:, 1]
        return np.asarray(-0.5 * terms)


def exact_surrogate(
    strata: LayoutStrata, free: np.ndarray, prior_scale: float, widths: np.ndarray
) -> Surrogate:
    """Of a balanced layout: its own strata."""
    return Surrogate(
        layout=np.ascontiguousarray(np.stack([strata.df, strata.squares], axis=1)),
        loads=np.ascontiguousarray(strata.loads[:, free]),
        prior_scale=prior_scale,
        widths=widths,
    )


def fitted_surrogate(
    tables: RowTables,
    free: np.ndarray,
    prior_scale: float,
    peak: tuple[np.ndarray, np.ndarray],
    generator: np.random.Generator,
) -> Surrogate:
    """Of any layout, fitted in rounds: draws from the last stand-in, flattened, are evaluated.

    `peak` is what `start_and_widths` says. Effective df and SS are non-negative, so that the
    stand-in is a proper law like the layout's.
    """
    start, widths = peak
    loads = _pseudo_strata(tables, free)
    far = generator.standard_t(4.0, (FIRST_ROUND, start.size))
    # Further out the tables lose their digits, and the rounds that follow do not go there.
    states = start + widths / WIDE * np.clip(far, -FARTHEST, FARTHEST)
    values = _deviances(tables, states, free)
    for flatness, n in ROUNDS:
        layout = flatness * _fitted_layout(loads, states, values)
        flat = Surrogate(layout=layout, loads=loads, prior_scale=prior_scale, widths=widths)
        more = flat.draw(generator, start.copy(), n)
        states = np.concatenate([states, more])
        values = np.concatenate([values, _deviances(tables, more, free)])
    layout = _fitted_layout(loads, states, values)
    return Surrogate(layout=layout, loads=loads, prior_scale=prior_scale, widths=widths)


def start_and_widths(
    likelihood: Likelihood, best: Optimum, free: np.ndarray, prior_scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """The maximum in the sampler's parameters, and how far its density reaches along each."""
    variances = best.variances[free]
    slopes = likelihood.slopes(best.variances, True)
    gradient, curvature = slopes.gradient[free], np.diag(slopes.hessian)[free]
    sds = np.sqrt(variances)
    precision = 0.5 * (4.0 * variances * curvature + 2.0 * gradient)
    precision[-1] = 0.5 * (4.0 * variances[-1] ** 2 * curvature[-1])
    precision = np.maximum(precision, 1.0 / prior_scale**2)
    start = np.append(sds[:-1], 0.5 * np.log(variances[-1]))
    return start, WIDE / np.sqrt(precision)


def variances_of(states: np.ndarray, free: np.ndarray, n_terms: int) -> np.ndarray:
    """From the sampler's parameters [state, parameter] to variances, 0 where not identified."""
    variances = np.zeros((len(states), n_terms + 1))
    variances[:, free] = _parameters_squared(states)
    return variances


def _parameters_squared(states: np.ndarray) -> np.ndarray:
    """Variances, from signed standard deviations and the logarithm of the residual one."""
    return np.concatenate([states[:, :-1] ** 2, np.exp(2.0 * states[:, -1:])], axis=1)


def _deviances(tables: RowTables, states: np.ndarray, free: np.ndarray) -> np.ndarray:
    variances = variances_of(states, free, tables.n_terms)
    return np.array([tables.point(row, True).value for row in variances])


def _pseudo_strata(tables: RowTables, free: np.ndarray) -> np.ndarray:
    """Loads of the strata that the layout would have if it were balanced.

    Term l adds to the eigenvalue of term k if its groups lie within k's, and to that of two terms'
    common stratum if they lie within one of both; groups are of least, mean or largest size.
    """
    terms = free[:-1]
    # Column k: which terms lie within term k.
    own = tables.within[np.ix_(terms, terms)]
    patterns = [np.zeros(len(terms), dtype=bool), *own.T]
    patterns += [a | b for a, b in combinations(own.T, 2)]
    counts = [tables.group_sizes[k] for k in terms.tolist()]
    sizes = np.array([(rows.min(), 1.0 / np.mean(1.0 / rows), rows.max()) for rows in counts])
    loads = [
        np.append(pattern * size, 1.0) for pattern in patterns for size in sizes.reshape(-1, 3).T
    ]
    return np.unique(np.array(loads), axis=0)


def _fitted_layout(loads: np.ndarray, states: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Non-negative df and SS with which the strata's deviances agree best with `values`."""
    spread = _parameters_squared(states) @ loads.T
    columns = np.concatenate([np.log(spread), 1.0 / spread], axis=1)
    weight = 1.0 / (1.0 + (values - values.min()) / RELEVANT) ** 2
    root = np.sqrt(weight)[:, None]
    columns = root * (columns - weight @ columns / weight.sum())
    target = root[:, 0] * (values - weight @ values / weight.sum())
    scale = np.sqrt((columns**2).sum(axis=0))
    weights, _ = scipy.optimize.nnls(columns / scale, target)
    return np.ascontiguousarray((weights / scale).reshape(2, -1).T)


OUTWARD = 200
"""Steps that a slice may grow to each side."""


@part
def _log_density(
    state: np.ndarray, layout: np.ndarray, loads: np.ndarray, prior_scale: float
) -> float:
    """Of the parameters, with half-Cauchy priors, but for a constant."""
    last = state.size - 1
    residual = np.exp(2.0 * state[last])
    total = 0.0
    for stratum in range(layout.shape[0]):
        spread = loads[stratum, last] * residual
        for k in range(last):
            spread += loads[stratum, k] * state[k] * state[k]
        total -= 0.5 * (layout[stratum, 0] * np.log(spread) + layout[stratum, 1] / spread)
    for k in range(last):
        ratio = state[k] / prior_scale
        total -= np.log(1.0 + ratio * ratio)
    return total


@kernel
def slice_draws(
    generator: np.random.Generator,
    state: np.ndarray,
    widths: np.ndarray,
    layout: np.ndarray,
    loads: np.ndarray,
    prior_scale: float,
    updates: int,
    draws: np.ndarray,
) -> None:
    """Advance `state` by `updates` random coordinates a draw, and write each draw.

    The state is s_1, …, s_K, signed, and log s_e. `layout` [stratum, 2] holds degrees of freedom
    and sums of squares; a stratum's eigenvalue is `loads` times the variances, residual last. Each
    update leaves the law exp(-deviance / 2) times half-Cauchy priors unchanged and is reversible,
    and so is their sequence, the coordinates being drawn independently (Neal 2003).
    """
    size = state.size
    for draw in range(draws.shape[0]):
        here = _log_density(state, layout, loads, prior_scale)
        for _ in range(updates):
            k = int(generator.random() * size)
            level = here - generator.standard_exponential()
            old = state[k]
            low = old - widths[k] * generator.random()
            high = low + widths[k]
            # Splitting the steps at random between both sides keeps the update reversible.
            left = int(OUTWARD * generator.random())
            right = OUTWARD - left
            state[k] = low
            while left > 0 and _log_density(state, layout, loads, prior_scale) > level:
                low -= widths[k]
                left -= 1
                state[k] = low
            state[k] = high
            while right > 0 and _log_density(state, layout, loads, prior_scale) > level:
                high += widths[k]
                right -= 1
                state[k] = high
            while True:
                state[k] = low + (high - low) * generator.random()
                here = _log_density(state, layout, loads, prior_scale)
                # The interval closes on the old value, at the latest where no density is known.
                if here >= level or state[k] == old:
                    break
                if state[k] < old:
                    low = state[k]
                else:
                    high = state[k]
        # Numba's assignment of a row brings in how it prints shapes that do not fit.
        for i in range(size):
            draws[draw, i] = state[i]
