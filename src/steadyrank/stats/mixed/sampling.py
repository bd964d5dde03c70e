"""Sampling from the posterior of a mixed model, and diagnostics of the draws.

On a balanced layout the deviance is a sum of df log(eigenvalue) + SS / eigenvalue over strata. For
any other layout such a sum, with effective df and SS fitted to a few hundred exact evaluations, is
a close approximation, from which it is cheap to sample; `posterior` corrects the draws. Split R-hat
and effective sample sizes follow Vehtari et al. 2021 (doi:10.1214/20-BA1221).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import fft, special

from steadyrank.compute.kernels import kernel, part
from steadyrank.errors import InputError, arg
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.interval import Interval
from steadyrank.stats.mixed.balanced import LayoutStrata
from steadyrank.stats.mixed.general import RowTables
from steadyrank.stats.mixed.search import Likelihood, Optimum
from steadyrank.stats.run_means import average_ranks


def hpd_interval(draws: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """Return the shortest interval between sorted draws that are round(confidence n) apart.

    The lowest of equally short ones, as in R's coda; any shape of draws; NaN if any is NaN.
    Reference: Chen and Shao 1999, doi:10.1080/10618600.1999.10474802.
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
    """Return split R-hat: the spread of all half chains together over that within them.

    The larger of two values, from normal scores of the draws' ranks and of the distances to the
    median. NaN for constant draws or fewer than four per chain (Vehtari et al. 2021).
    """
    halves = _halves(draws)
    if halves.shape[1] < 2 or not np.ptp(halves) > 0.0:
        return float("nan")
    folded = np.abs(halves - np.median(halves))
    return max(_rhat(_normal_scores(halves)), _rhat(_normal_scores(folded)))


def effective_sample_size(draws: ArrayLike) -> float:
    """Return the bulk effective sample size: the equivalent number of independent draws.

    Autocorrelations of normal scores of ranks, summed over Geyer's monotone sequence. All draws if
    they are constant, NaN for fewer than four per chain.

    Reference: Vehtari et al. 2021, doi:10.1214/20-BA1221; Geyer 1992, doi:10.1214/ss/1177011137.
    """
    return _ess(_normal_scores(_halves(draws)))


def _halves(draws: ArrayLike) -> np.ndarray:
    """Return both halves of each chain, without the middle draw of an odd number."""
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
    # The first negative pair is omitted, except its even lag if that is positive.
    kept = int(ends[0]) if len(ends) else len(pairs) - 1
    sums = np.minimum.accumulate(pairs[:kept])
    time = -1.0 + 2.0 * float(sums.sum()) + max(float(correlation[2 * kept]), 0.0)
    return draws.size / max(time, 1.0 / float(np.log10(draws.size)))


def _autocovariance(draws: np.ndarray) -> np.ndarray:
    """Return the autocovariance of each chain at lags 0 to n - 1, with divisor n."""
    n = draws.shape[1]
    centred = draws - draws.mean(axis=1, keepdims=True)
    size = fft.next_fast_len(2 * n, real=True)
    spectrum = fft.rfft(centred, size, axis=1)
    return np.asarray(fft.irfft(spectrum * spectrum.conj(), size, axis=1)[:, :n] / n)


FIRST_ROUND, FARTHEST = 150, 6.0
"""Number of evaluations around the maximum, and their largest distance in standard deviations."""

ROUNDS = ((0.5, 150), (0.7, 150), (0.85, 150))
"""Factor that flattens the approximation before it is sampled, and number of draws, per round."""

RELEVANT = 10.0
"""Excess of the deviance over the smallest one at which an evaluation's residual counts half."""

WIDE = 3.0
"""Width of a slice in units of the conditional standard deviation at the maximum."""

SWEEPS = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surrogate:
    """Strata whose deviance equals or approximates that of a layout.

    Parameters are the standard deviations of the identified terms, signed, and the logarithm of
    the residual one.
    """

    layout: np.ndarray
    """Degrees of freedom and sum of squares, [stratum, 2]."""
    loads: np.ndarray  # [stratum, parameter]
    prior_scale: float
    widths: np.ndarray

    def draw(self, generator: np.random.Generator, state: np.ndarray, n: int) -> np.ndarray:
        """Return `n` draws, each some sweeps after the last; updates `state`."""
        draws = np.empty((n, state.size))
        updates = SWEEPS * state.size
        slice_draws(
            generator, state, self.widths, self.layout, self.loads, self.prior_scale, updates, draws
        )
        return draws

    def log_likelihood(self, states: np.ndarray) -> np.ndarray:
        """Return the log likelihood of each state, up to a constant, without the prior."""
        spread = _parameters_squared(states) @ self.loads.T
        terms = np.log(spread) @ self.layout[:, 0] + (1.0 / spread) @ self.layout[:, 1]
        return np.asarray(-0.5 * terms)


def exact_surrogate(
    strata: LayoutStrata, free: np.ndarray, prior_scale: float, widths: np.ndarray
) -> Surrogate:
    """Return the strata of a balanced layout."""
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
    """Return an approximation for any layout, fitted in rounds.

    Draws from the last approximation, flattened, are evaluated exactly. Effective df and SS are
    non-negative, so that it is a proper distribution if the posterior is.
    """
    start, widths = peak
    loads = _pseudo_strata(tables, free)
    far = generator.standard_t(4.0, (FIRST_ROUND, start.size))
    # Farther away the tables lose precision; later rounds do not sample there.
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
    """Return the maximum in the sampler's parameters, and initial widths of slices."""
    variances = best.variances[free]
    slopes = likelihood.slopes(best.variances)
    gradient, curvature = slopes.gradient[free], np.diag(slopes.hessian)[free]
    sds = np.sqrt(variances)
    precision = 0.5 * (4.0 * variances * curvature + 2.0 * gradient)
    precision[-1] = 0.5 * (4.0 * variances[-1] ** 2 * curvature[-1])
    precision = np.maximum(precision, 1.0 / prior_scale**2)
    start = np.append(sds[:-1], 0.5 * np.log(variances[-1]))
    return start, WIDE / np.sqrt(precision)


def variances_of(states: np.ndarray, free: np.ndarray, n_terms: int) -> np.ndarray:
    """Return variances from the sampler's parameters [state, parameter], 0 if not identified."""
    variances = np.zeros((len(states), n_terms + 1))
    variances[:, free] = _parameters_squared(states)
    return variances


def _parameters_squared(states: np.ndarray) -> np.ndarray:
    """Return variances from signed standard deviations and the logarithm of the residual one."""
    return np.concatenate([states[:, :-1] ** 2, np.exp(2.0 * states[:, -1:])], axis=1)


def _deviances(tables: RowTables, states: np.ndarray, free: np.ndarray) -> np.ndarray:
    variances = variances_of(states, free, tables.n_terms)
    return np.array([tables.point(row).value for row in variances])


def _pseudo_strata(tables: RowTables, free: np.ndarray) -> np.ndarray:
    """Return the loads of the strata that the layout would have if it were balanced.

    For the smallest, harmonic mean and largest size of groups. Term l contributes to the eigenvalue
    of term k if its groups are contained in those of k, and to that of two terms' common stratum if
    in those of one.
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
    """Return the non-negative df and SS with which the strata's deviances fit `values` best."""
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


@part
def _log_density(
    state: np.ndarray, layout: np.ndarray, loads: np.ndarray, prior_scale: float
) -> float:
    """Return the log density of the parameters, with half-Cauchy priors, up to a constant."""
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
    """Advance `state` by `updates` random coordinates per draw, and write each draw.

    The state is s_1, …, s_K, signed, and log s_e. A stratum's eigenvalue is `loads` times the
    variances, residual last. Updates are reversible with respect to exp(-deviance / 2) times
    half-Cauchy priors, and coordinates are drawn independently (Neal 2003).
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
            # Dividing the steps at random between both sides keeps the update reversible.
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
        # Assigning a row would make Numba compile code for error messages.
        for i in range(size):
            draws[draw, i] = state[i]
