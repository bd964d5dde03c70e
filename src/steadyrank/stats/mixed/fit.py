"""Linear mixed models with random intercepts, for comparing non-deterministic systems.

Variance components by REML, as in lme4, and tests with Satterthwaite's degrees of freedom, as in
lmerTest, or Kenward and Roger's, as in pbkrtest (Jayasinghe et al. 2015,
doi:10.1016/j.ipm.2015.06.005). Balanced layouts are solved in closed form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from steadyrank.compute.executors import one_blas_thread
from steadyrank.errors import InputError, arg, check_choice
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.interval import Interval, t_test
from steadyrank.stats.mixed.balanced import LayoutStrata, best_of_strata, strata_of
from steadyrank.stats.mixed.general import ModelRows, RowTables, tables_of
from steadyrank.stats.mixed.search import Optimum, identified, maximise, search
from steadyrank.stats.mixed.two_way import METHOD_WORDS, DfMethod, Difference
from steadyrank.stats.pairs.result import CONSTANT, NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE, tiny_of

RESIDUAL = "residual"

Term = ArrayLike | tuple[ArrayLike, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MixedModel:
    """y = X b + sum of Z_k u_k + e, with u_k ~ N(0, s_k² I) and e ~ N(0, s_e² I).

    `random` names the random intercepts: a term is an array of labels, one for each entry of
    `response`, or a tuple of such arrays for the groups that they form together. `fixed` is true
    for the first system. Missing responses are NaN. With `fixed` the coefficients are the second
    system's mean and the difference first minus second; without, the mean alone.
    """

    response: np.ndarray
    random: Mapping[str, Term] = field(kw_only=True)
    fixed: ArrayLike | None = field(default=None, kw_only=True)
    rows: ModelRows = field(init=False, repr=False)
    """The rows that have a response."""

    def __post_init__(self) -> None:
        response = np.asarray(self.response, dtype=np.float64)
        if np.isinf(response).any():
            raise InputError("response holds an infinite value: mark missing ones as NaN")
        if RESIDUAL in self.random:
            raise InputError(f"{RESIDUAL!r} is the name of the error term: rename the random term")
        if response.ndim != 1:
            raise InputError(f"a response has one entry per row, got shape {response.shape}")
        object.__setattr__(self, "response", response)
        object.__setattr__(self, "rows", _rows_of(self))

    @property
    def groups(self) -> dict[str, int]:
        """Number of groups of each random term."""
        return dict(zip(self.random, self.rows.sizes, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResponseScale:
    """Location and standard deviation of the response about the fixed effects."""

    n: int
    means: np.ndarray
    """Means of the first and the second system, or of all rows."""
    centre: float
    spread: float
    tiny: float
    flag: str
    """Why there is no likelihood, or ""."""


def scale_of(model: MixedModel) -> ResponseScale:
    """Return means and spread of the response, with a flag if these determine the result."""
    rows = model.rows
    values = rows.response
    if rows.first is None:
        means = np.array([values.mean() if len(values) else np.nan])
        off = values - means[0]
    else:
        means = np.array([values[rows.first].mean(), values[~rows.first].mean()])
        off = values - np.where(rows.first, *means)
    n, p = values.size, means.size
    spread = float(np.sqrt((off * off).sum() / max(n - p, 1)))
    tiny = tiny_of(values)
    flag = ""
    if n <= p:
        flag = TOO_FEW
    elif spread <= tiny:
        alike = abs(means[0] - (means[1] if p == 2 else 0.0)) <= tiny
        flag = NO_DIFFERENCE if alike else ZERO_VARIANCE
    centre = float(means.mean())
    return ResponseScale(n=n, means=means, centre=centre, spread=spread, tiny=tiny, flag=flag)


def likelihood_of(model: MixedModel, scale: ResponseScale) -> LayoutStrata | RowTables:
    """Return the likelihood of the centred and scaled response: strata if balanced, else tables."""
    rows = replace(model.rows, response=(model.rows.response - scale.centre) / scale.spread)
    return strata_of(rows, scale.tiny / scale.spread) or tables_of(rows)


def _rows_of(model: MixedModel) -> ModelRows:
    """Return labelled rows, without those whose response is missing."""
    present = ~np.isnan(model.response)
    columns = [_labels(name, term, len(present)) for name, term in model.random.items()]
    first = _first(model.fixed, len(present))
    if first is not None:
        first = first[present]
        if first.all() or not first.any():
            raise InputError("both systems require a response that is not missing")
    compact = [_compact(labels[present]) for labels in columns]
    return ModelRows(
        response=model.response[present],
        labels=tuple(labels for labels, _ in compact),
        sizes=tuple(size for _, size in compact),
        first=first,
    )


def _first(fixed: object, n: int) -> np.ndarray | None:
    if fixed is None:
        return None
    first = np.asarray(fixed)
    if first.shape != (n,) or first.dtype != np.bool_:
        raise InputError(
            f"{arg('fixed')} must be true or false for each of the {n} rows, true for the first "
            f"system; got {first.dtype} of shape {first.shape}"
        )
    return first


def _labels(name: str, term: Term, n: int) -> np.ndarray:
    """Return one integer per row for the groups that the factors of a term form together."""
    factors: Sequence[ArrayLike] = term if isinstance(term, tuple) else (term,)
    joint = np.zeros(n, np.int64)
    for factor in factors:
        labels = np.asarray(factor)
        if labels.shape != (n,) or labels.dtype.kind == "f":
            raise InputError(
                f"random term {name!r} must hold a label, not a float, for each of the {n} rows;"
                f" got {labels.dtype} of shape {labels.shape}"
            )
        own, size = _compact(labels)
        joint = _compact(joint * size + own)[0]
    return joint


def _compact(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Return labels as 0, 1, … in their order, and their number; dense labels are not sorted."""
    if labels.size and labels.dtype.kind in "iu":
        low, high = int(labels.min()), int(labels.max())
        if high - low < 4 * labels.size + 1024:
            shifted = labels.astype(np.int64) - low
            seen = np.bincount(shifted) > 0
            if seen.all():
                return shifted, len(seen)
            return (np.cumsum(seen) - 1)[shifted], int(seen.sum())
    values, inverse = np.unique(labels, return_inverse=True)
    return inverse.reshape(-1).astype(np.int64), len(values)


NO_RESIDUAL = "no_residual_variance"
"""Flag of a fit whose effects explain every row: the likelihood has no maximum, only a limit."""

HIGHEST = 1e12
"""Variance, relative to the response's, above which a profile counts as flat."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixedFit:
    """A fitted mixed model. Arrays have one entry for each coefficient."""

    coefficients: tuple[str, ...]
    """("mean",), or ("second", "difference"): the second system's mean, and first minus second."""
    estimates: np.ndarray
    standard_errors: np.ndarray
    df: np.ndarray
    statistic: np.ndarray
    pvalue: np.ndarray
    covariance: np.ndarray
    """Covariance of the coefficients, adjusted if the method is Kenward and Roger's."""
    variances: dict[str, float]
    log_likelihood: float
    """Restricted, as lme4 reports it; infinite without residual variance."""
    converged: bool
    dropped: tuple[str, ...]
    unidentified: tuple[str, ...]
    """Terms whose variance cannot be estimated (one group, one group per row, the groups of an
    earlier term, or no residual): they are omitted, and the fit is only about these levels."""
    groups: dict[str, int]
    n: int
    n_missing: int
    flag: str
    """"", NO_RESIDUAL, or a flag of `stats.pairs.result`."""
    df_method: DfMethod
    method: str


def fit(model: MixedModel, *, df_method: DfMethod = "satterthwaite") -> MixedFit:
    """Estimate a mixed model by restricted maximum likelihood.

    A coefficient with variance f(v) has 2 f² / (g'Ag) degrees of freedom, g the gradient of f and A
    twice the inverse Hessian of the deviance in the variances v that are not at 0 (Satterthwaite),
    or those of `_kenward_roger`, which Satterthwaite's replace without residual variance.

    Reference: Bates et al. 2015, doi:10.18637/jss.v067.i01; Kuznetsova et al. 2017,
    doi:10.18637/jss.v082.i13; Kenward & Roger 1997, doi:10.2307/2533558.
    """
    check_choice("df_method", df_method, METHOD_WORDS)
    scale = scale_of(model)
    if scale.flag:
        return _degenerate(model, scale, df_method)
    likelihood = likelihood_of(model, scale)
    best, free = best_fit(likelihood)
    if not best.bounded:
        df_method = "satterthwaite"
    if df_method == "satterthwaite":
        covariance, df = best.covariance, _satterthwaite(best)
    else:
        with one_blas_thread():
            covariance, df = _kenward_roger(likelihood, best, free)
    variances = best.variances * scale.spread**2
    # At the search's floor the residual variance counts as 0.
    variances[-1] *= best.bounded
    variances[np.setdiff1d(np.arange(len(variances)), free)] = np.nan
    value = best.value + (scale.n - len(df)) * 2.0 * float(np.log(scale.spread))
    estimates = best.estimates * scale.spread
    estimates[0] += scale.centre
    return _fitted(
        model,
        scale.n,
        estimates=estimates,
        df=df,
        covariance=covariance * scale.spread**2,
        variances=variances,
        log_likelihood=-0.5 * value if best.bounded else np.inf,
        converged=best.converged,
        flag="" if best.bounded else NO_RESIDUAL,
        df_method=df_method,
        how="balanced layout" if isinstance(likelihood, LayoutStrata) else "any layout",
    )


def component_intervals(model: MixedModel, *, confidence: float = 0.95) -> dict[str, Interval]:
    """Return the profile likelihood interval of each variance: values with 2 log LR below chi²(1).

    NaN for components that are not identified and in degenerate fits. Reference: Bates et al. 2015,
    doi:10.18637/jss.v067.i01.
    """
    check_open_unit("confidence", confidence)
    scale, names = scale_of(model), [*model.random, RESIDUAL]
    intervals = dict.fromkeys(names, Interval(np.nan, np.nan))
    if scale.flag:
        return intervals
    likelihood = likelihood_of(model, scale)
    best, free = best_fit(likelihood)
    if not best.bounded:
        return intervals
    profile = _Profile(likelihood=likelihood, free=free, best=best, last=best.variances)
    threshold = float(np.sqrt(special.chdtri(1.0, 1.0 - confidence)))
    with one_blas_thread():
        for k in free.tolist():
            profile.last = best.variances
            low, high = _profile_limits(profile, k, threshold)
            intervals[names[k]] = Interval(low * scale.spread**2, high * scale.spread**2)
    return intervals


def best_fit(likelihood: LayoutStrata | RowTables) -> tuple[Optimum, np.ndarray]:
    """Return the maximum of the likelihood, and which variances are identified."""
    if isinstance(likelihood, LayoutStrata):
        free = identified(likelihood)
        return best_of_strata(likelihood, free), free
    with one_blas_thread():
        free = identified(likelihood)
        return maximise(likelihood, free), free


def _fitted(
    model: MixedModel,
    n: int,
    *,
    estimates: np.ndarray,
    df: np.ndarray,
    covariance: np.ndarray,
    variances: np.ndarray,
    converged: bool,
    flag: str,
    df_method: DfMethod,
    how: str,
    log_likelihood: float,
) -> MixedFit:
    """Return a fit of n rows with tests of its coefficients; unidentified `variances` are NaN."""
    errors = np.sqrt(np.diag(covariance))
    tiny = CONSTANT * np.maximum(1.0, np.abs(estimates[0]))
    statistic, pvalue = t_test(estimates, errors, df, tiny)
    if errors[-1] == 0.0:
        flag = NO_DIFFERENCE if abs(estimates[-1]) <= tiny else ZERO_VARIANCE
    named = dict(zip([*model.random, RESIDUAL], variances.tolist(), strict=True))
    return MixedFit(
        coefficients=coefficient_names(len(estimates)),
        estimates=estimates,
        standard_errors=errors,
        df=df,
        statistic=statistic,
        pvalue=pvalue,
        covariance=covariance,
        variances=named,
        log_likelihood=log_likelihood,
        converged=converged and not np.isnan(df[errors > 0.0]).any(),
        dropped=tuple(name for name in model.random if named[name] == 0.0),
        unidentified=tuple(name for name, value in named.items() if np.isnan(value)),
        groups=model.groups,
        n=n,
        n_missing=model.response.size - n,
        flag=flag,
        df_method=df_method,
        method="linear mixed model, restricted maximum likelihood, "
        f"{how}; {METHOD_WORDS[df_method]}, two-sided",
    )


def difference_of(fitted: MixedFit, **changes: Any) -> Difference:
    """Return the test of a fit's last coefficient; `changes` replace fields."""
    figures: dict[str, Any] = {
        "estimate": float(fitted.estimates[-1]),
        "standard_error": float(fitted.standard_errors[-1]),
        "df": float(fitted.df[-1]),
        "statistic": float(fitted.statistic[-1]),
        "pvalue": float(fitted.pvalue[-1]),
        "variances": fitted.variances,
        "flag": fitted.flag,
        "df_method": fitted.df_method,
        "method": fitted.method,
    }
    return Difference(**figures | changes)


def _degenerate(model: MixedModel, scale: ResponseScale, df_method: DfMethod) -> MixedFit:
    """Return the fit of a response without variance, or of too few rows."""
    p, few = len(scale.means), scale.flag == TOO_FEW
    nothing, estimates = np.nan if few else 0.0, scale.means
    if p == 2:
        estimates = np.array([scale.means[1], scale.means[0] - scale.means[1]])
    return _fitted(
        model,
        scale.n,
        estimates=estimates,
        df=np.full(p, np.nan),
        covariance=np.full((p, p), nothing),
        variances=np.full(len(model.random) + 1, nothing),
        log_likelihood=np.nan if few else np.inf,
        converged=True,
        flag=scale.flag,
        df_method=df_method,
        how="nothing to estimate",
    )


def coefficient_names(p: int) -> tuple[str, ...]:
    """Return the names of one or two coefficients."""
    return ("mean",) if p == 1 else ("second", "difference")


def _satterthwaite(best: Optimum) -> np.ndarray:
    """Return 2 f² / var(f) for each coefficient's variance f; its limit without residual."""
    inside = best.variances > 0.0
    inside[-1] = True
    slopes = np.diagonal(best.covariance_slopes, axis1=1, axis2=2)[inside]
    spread = np.einsum("kj,kl,lj->j", slopes, best.uncertainty[np.ix_(inside, inside)], slopes)
    with np.errstate(divide="ignore", invalid="ignore"):
        df: np.ndarray = 2.0 * np.diag(best.covariance) ** 2 / spread
    return np.where(df > 0.0, df, np.nan)


def _kenward_roger(
    likelihood: LayoutStrata | RowTables, best: Optimum, free: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return adjusted covariance and degrees of freedom of the estimates, as in pbkrtest.

    With Φ = (X'V⁻¹X)⁻¹, W twice the inverse expected information of the `free` variances (also of
    those at 0), and V = sum of v_k V_k, the covariance is Φ + 2 Φ (sum of W_kl X'V⁻¹ V_k P V_l
    V⁻¹X) Φ. A coefficient with variance f(v) has 2 f² / (g'Wg) degrees of freedom, g the gradient
    of f: in one dimension the paper's moments reduce to this, and its scaling of F to 1.
    """
    slopes = likelihood.slopes(best.variances)
    fisher = slopes.fisher[np.ix_(free, free)]
    # Scaled to a unit diagonal first: components differ by orders of magnitude.
    scale = np.sqrt(np.diag(fisher))
    units = np.outer(scale, scale)
    spread = 2.0 * np.linalg.inv(fisher / units) / units
    inner = np.einsum("kl,klij->ij", spread, slopes.leverage[np.ix_(free, free)])
    covariance = best.covariance + 2.0 * best.covariance @ inner @ best.covariance
    gradients = np.diagonal(slopes.covariance_slopes, axis1=1, axis2=2)[free]
    noise = np.einsum("kj,kl,lj->j", gradients, spread, gradients)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = 2.0 * np.diag(best.covariance) ** 2 / noise
    return covariance, np.where(df > 0.0, df, np.nan)


@dataclass(slots=True, kw_only=True, eq=False)
class _Profile:
    """The profile of a likelihood: its maximum with one component fixed."""

    likelihood: LayoutStrata | RowTables
    free: np.ndarray
    best: Optimum
    last: np.ndarray

    def rise(self, k: int, value: float) -> float:
        """Return the square root of the increase of the deviance with component k at `value`."""
        start = self.last.copy()
        start[k] = value
        others = self.free[self.free != k]
        self.last, _ = search(self.likelihood, others, start, scoring_steps=0)
        rise = self.likelihood.point(self.last).value - self.best.value
        return float(np.sqrt(max(rise, 0.0)))


def _profile_limits(profile: _Profile, k: int, threshold: float) -> tuple[float, float]:
    """Return the values of component k, below and above its estimate, with this rise."""

    def excess(log_value: float) -> float:
        return profile.rise(k, float(np.exp(log_value))) - threshold

    def limit(low: float, high: float) -> float:
        # As a function of the logarithm the profile is nearly linear.
        log_limit = scipy.optimize.brentq(excess, np.log(low), np.log(high), xtol=1e-7)
        return float(np.exp(log_limit))

    best, low = profile.best.variances, 0.0
    top = max(float(best[k]), 1e-3 * float(best[-1]))
    if k == len(best) - 1 or (best[k] > 0.0 and profile.rise(k, 0.0) > threshold):
        inner, outer = float(best[k]), float(best[k]) / 4.0
        while profile.rise(k, outer) < threshold:
            inner, outer = outer, outer / 4.0
        low = limit(outer, inner)
    profile.last = best
    inner, outer = top, 4.0 * top
    while profile.rise(k, inner) > threshold:
        inner, outer = inner / 4.0, inner
    while profile.rise(k, outer) < threshold:
        inner, outer = outer, 4.0 * outer
        if outer > HIGHEST:
            return low, np.inf
    return low, limit(inner, outer)
