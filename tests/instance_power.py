"""Exact power and level of tests of systems with instances, for normal effects, by integration.

For the two-way random and the nested test of `stats.mixed.two_way`, approximate degrees of freedom
and dropped components included, and for tests that average instances.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import special

from steadyrank.stats.mixed.two_way import combined_mean_squares, default_df_method, pooled_squares

BELOW, ABOVE = 4, 20
"""Points at which a mean square is taken below the residual's, and above it."""

BELOW_ONE = 1.0 - 2.0**-53
"""The largest chance whose quantile is finite."""


def power(components, topics, instances, *, design="crossed", difference=0.0, alpha=0.05):
    """The chance that N topics and M instances, of each system that varies, show a difference.

    `components` are the variances "instance", "system_topic" and "residual". The mean squares are
    independent, E(MS) chi²(df) / df, and independent of the mean: the chance is integrated over all
    three, to some .0005.
    """
    systems = 2 if design == "nested" else 1
    residual = components["residual"]
    expected = (
        topics * components["instance"] + residual,
        instances * components["system_topic"] + residual,
        residual,
    )
    own = systems * (instances - 1)
    free = (own, topics - 1, own * (topics - 1))
    total = expected[0] + expected[1] - residual
    if total == 0.0:
        return float(difference != 0.0)
    spread, df, weight = _estimates(expected, free, total, default_df_method(instances))
    inverse, values = _critical_values(0.5 * alpha)
    critical = spread * np.interp(1.0 / df, inverse, values)
    shift = difference / math.sqrt(systems * total / (topics * instances))
    chance = special.ndtr(shift - critical) + special.ndtr(-shift - critical)
    return float(min(1.0, (weight * chance).sum()))


def _estimates(expected, free, total, df_method):
    """Estimates of the standard error over the true one, their degrees of freedom, and weights.

    [residual, instance, topic]. A component is dropped where its mean square is not above the
    residual's: the integrand jumps there, so that each side has separate nodes.
    """
    chance, weight = _legendre(8 if free[2] < 200 else 4)
    error = expected[2] * 2.0 * special.gammaincinv(0.5 * free[2], chance) / free[2]
    instance, own = _around(error, expected[0], free[0])
    topic, others = _around(error, expected[1], free[1])
    squares = pooled_squares(
        instance[:, :, None], topic[:, None, :], error[:, None, None], free=free
    )
    combined, df = combined_mean_squares(squares, free=free, df_method=df_method)
    weights = weight[:, None, None] * own[:, :, None] * others[:, None, :]
    return np.sqrt(combined / total), df, weights


def _around(error, expected, df):
    """A mean square below and above each residual one, and weights, [residual, node]."""
    # Without any variance the mean square is 0, as the residual's, and never above it.
    cut = error / expected if expected > 0.0 else np.full_like(error, np.inf)
    share = special.gammainc(0.5 * df, 0.5 * df * cut)[:, None]
    (low, low_weight), (high, high_weight) = _legendre(BELOW), _legendre(ABOVE)
    chance = np.concatenate([share * low, share + (1.0 - share) * high], axis=1)
    weight = np.concatenate([share * low_weight, (1.0 - share) * high_weight], axis=1)
    quantile = special.gammaincinv(0.5 * df, np.minimum(chance, BELOW_ONE))
    return expected * 2.0 * quantile / df, weight


@lru_cache(maxsize=16)
def _legendre(size):
    """Nodes and weights on (0, 1)."""
    x, weight = np.polynomial.legendre.leggauss(size)
    return 0.5 * (1.0 + x), 0.5 * weight


@lru_cache(maxsize=16)
def _critical_values(tail):
    """t's quantile at 1 - tail, against 1 / df."""
    inverse = np.linspace(0.0, 1.0, 4001)
    values = np.empty_like(inverse)
    values[0] = -special.ndtri(tail)
    values[1:] = -special.stdtrit(1.0 / inverse[1:], tail)
    return inverse, values


def exact_rates(n_instances, n_topics, components, *, design="crossed", difference=0.0):
    """How often tests at .05 reject, by the names of `experiments.TESTS`: level or power.

    A test that averages instances divides by sqrt(M s_u² + s_e²) what varies by
    sqrt(N s_a² + M s_u² + s_e²): its t is that factor too large.
    """
    options = {"design": design, "difference": difference}

    def averaged(instances, df):
        return averaged_rate(components, n_topics, instances, df, **options)

    rates = {
        "mixed": power(components, n_topics, n_instances, **options),
        "t_on_means": averaged(n_instances, n_topics - 1.0),
    }
    if design == "crossed":
        rates["mixed_paper"] = averaged(n_instances, 2.0 * n_instances * n_topics - 1.0)
        rates["t_single"] = averaged(1, n_topics - 1.0)
    return rates


def averaged_rate(components, n, m, df, *, design, difference):
    """P(|T| > critical value), T from topics' means over m instances; t taken on `df`."""
    by_topic = m * components["system_topic"] + components["residual"]
    whole = n * components["instance"] + by_topic
    error = math.sqrt((2 if design == "nested" else 1) * whole / (m * n))
    critical = special.stdtrit(df, 0.975) * math.sqrt(by_topic / whole)
    x, weight = np.polynomial.legendre.leggauss(64)
    spread = np.sqrt(2.0 * special.gammaincinv(0.5 * (n - 1), 0.5 * (1.0 + x)) / (n - 1))
    shift = difference / error
    chance = special.ndtr(shift - critical * spread) + special.ndtr(-shift - critical * spread)
    return float(0.5 * weight @ chance)
