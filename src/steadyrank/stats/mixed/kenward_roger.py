"""How far may a coefficient be trusted whose variance was itself estimated from few groups?

For mixed models with a handful of instances: the covariance and the degrees of freedom of Kenward
and Roger (Biometrics 53(3), 1997, doi:10.2307/2533558), for one coefficient at a time, as pbkrtest
has them. Unlike Satterthwaite's as lmerTest has them they rest on expected information, and hold
the uncertainty of every component that the layout identifies, of those estimated at 0 too.
"""

from __future__ import annotations

import numpy as np

from steadyrank.stats.mixed.search import Likelihood, Optimum


def kenward_roger(
    likelihood: Likelihood, best: Optimum, free: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Adjusted covariance of the estimates, and degrees of freedom of each.

    With Φ = (X'V⁻¹X)⁻¹, W twice the inverse expected information of the `free` variances, and
    V = sum of v_k V_k, the covariance is Φ + 2 Φ (sum of W_kl X'V⁻¹ V_k P V_l V⁻¹X) Φ. A single
    coefficient with variance f(v) has 2 f² / (g'Wg) degrees of freedom, g the gradient of f: in
    one dimension the paper's moments come to this, and its scaling of F to 1. Φ is the REML
    estimate's; without residual variance there is no information, and callers must not ask.
    """
    slopes = likelihood.slopes(best.variances, True)
    spread = _variances_of_variances(slopes.fisher[np.ix_(free, free)])
    inner = np.einsum("kl,klij->ij", spread, slopes.leverage[np.ix_(free, free)])
    covariance = best.covariance + 2.0 * best.covariance @ inner @ best.covariance
    gradients = np.diagonal(slopes.covariance_slopes, axis1=1, axis2=2)[free]
    noise = np.einsum("kj,kl,lj->j", gradients, spread, gradients)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = 2.0 * np.diag(best.covariance) ** 2 / noise
    return covariance, np.where(df > 0.0, df, np.nan)


def _variances_of_variances(fisher: np.ndarray) -> np.ndarray:
    """Twice the inverse of the deviance's expected information, scaled to a unit diagonal first."""
    scale = np.sqrt(np.diag(fisher))
    units = np.outer(scale, scale)
    inverse: np.ndarray = 2.0 * np.linalg.inv(fisher / units) / units
    return inverse
