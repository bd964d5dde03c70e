"""Does a non-deterministic system differ from another, beyond its topics and its instances?

For anyone who has every instance on every topic: the tests that keep their level although instances
differ in mean effectiveness, in closed form. Instances and topics are both random; degrees of
freedom are Satterthwaite's, or with fewer than five instances Kenward and Roger's. With missing
cells use `steadyrank.stats.mixed.fit.fit`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from steadyrank.errors import InputError
from steadyrank.stats.anova.parts import Amount
from steadyrank.stats.mixed.pooling import (
    METHOD_WORDS,
    DfMethod,
    combined_mean_squares,
    default_df_method,
    pooled_squares,
)
from steadyrank.stats.pairs.result import CONSTANT, NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE

ONE_INSTANCE, ONE_TOPIC = "one_instance", "one_topic"
"""Flags: with one instance or one topic the test is about that one alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceTest:
    """The mean difference of two systems, tested with instances and topics random."""

    estimate: float
    standard_error: float
    df: float
    statistic: float
    pvalue: float
    instance: Amount
    topic: Amount
    error: Amount
    variances: dict[str, float]
    """Of instances, of topics (of the difference, or system by topic) and of the residual."""
    dropped: tuple[str, ...]
    """Components that REML estimates at 0."""
    n_instances: int
    n_topics: int
    flag: str
    """"", ONE_INSTANCE, ONE_TOPIC, or a flag of `steadyrank.stats.pairs.result`."""
    df_method: str
    """"satterthwaite" or "kenward-roger"; "exact" where one mean square is all that there is."""
    method: str


def two_way_difference(
    differences: ArrayLike, *, df_method: DfMethod | None = None
) -> DifferenceTest:
    """Test the mean of differences [instance, topic] to a deterministic system.

    d[m, n] = delta + a[m] + u[n] + e[m, n], all random. The mean has variance
    (MSa + MSu - MSe) / (M N), with (MSa + MSu - MSe)² / (MSa²/(M-1) + MSu²/(N-1) +
    MSe²/((M-1)(N-1))) degrees of freedom. Components are estimated by REML: the smaller of MSa and
    MSu, where it is not above MSe, is pooled with it, and then the other where it is not above that
    pool. By Satterthwaite the variance is then MSu / (M N) on N - 1, MSa / (M N) on M - 1, or
    without both the total mean square / (M N) on M N - 1. Kenward and Roger keep the uncertainty of
    a component at 0: the first formula, with pooled mean squares. Assumes that effects are close to
    normal. With one instance it is the paired t test, which is about that instance alone.

    `df_method` is by default Kenward and Roger's with fewer than five instances, else
    Satterthwaite's; where no component is at 0 both agree.

    Reference: Satterthwaite 1946, doi:10.2307/3002019; Kenward & Roger 1997, doi:10.2307/2533558;
    Jayasinghe et al. 2015, doi:10.1016/j.ipm.2015.06.005.

    >>> d = [[0.3, 0.5, 0.1, 0.6], [0.4, 0.5, 0.2, 0.8], [0.2, 0.6, 0.1, 0.7]]
    >>> test = two_way_difference(d)
    >>> round(test.standard_error, 5), round(test.df, 4), round(test.pvalue, 5)
    (0.12693, 3.1631, 0.04292)
    """
    d = _complete("differences", differences)
    m, n = d.shape
    by_instance, by_topic = d.mean(axis=1), d.mean(axis=0)
    mean = float(d.mean())
    rest = d - by_instance[:, None] - by_topic + mean
    tiny = CONSTANT * max(1.0, float(np.abs(d).max()))
    return _test(
        mean,
        df_method or default_df_method(m),
        _mean_square(n * _squares(by_instance - mean), m - 1, tiny),
        _mean_square(m * _squares(by_topic - mean), n - 1, tiny),
        _mean_square(_squares(rest), (m - 1) * (n - 1), tiny),
        shape=(m, n),
        factor=1.0,
        tiny=tiny,
        method="two-way random effects on differences",
    )


def nested_difference(
    first: ArrayLike, second: ArrayLike, *, df_method: DfMethod | None = None
) -> DifferenceTest:
    """Test the difference of two systems, each with M instances [instance, topic] of its own.

    y[s, m, n] = system + topic[n] + (system topic)[s, n] + instance[s, m] + e: the difference of
    means has variance 2 (MSi + MSst - MSe) / (M N), with 2 (M-1), N - 1 and 2 (M-1)(N-1) degrees
    of freedom of the mean squares, pooled as in `two_way_difference`. The topics' own effects
    cancel: this is REML with topics as blocks, and with random topics wherever their variance is
    above 0. `df_method` and references as there. Assumes that both systems vary alike. For unequal
    numbers of instances use `steadyrank.stats.mixed.fit.fit`.

    >>> first = [[0.1, 0.6, 0.4, 0.8], [0.2, 0.7, 0.3, 0.9]]
    >>> test = nested_difference(first, [[0.1, 0.5, 0.4, 0.7], [0.1, 0.6, 0.3, 0.8]])
    >>> round(test.estimate, 4), test.n_instances, test.dropped
    (0.0625, 2, ('instance', 'topic'))
    """
    a, b = _complete("first", first), _complete("second", second)
    if a.shape != b.shape:
        raise InputError(
            f"both systems require the same numbers of instances and topics, got {a.shape} and "
            f"{b.shape}; fit a mixed model instead"
        )
    both = np.stack([a, b])
    m, n = a.shape
    by_instance, by_topic = both.mean(axis=2), both.mean(axis=1)
    means = both.mean(axis=(1, 2))
    rest = both - by_instance[:, :, None] - by_topic[:, None, :] + means[:, None, None]
    contrast = by_topic[0] - by_topic[1]
    tiny = CONSTANT * max(1.0, float(np.abs(both).max()))
    return _test(
        float(contrast.mean()),
        df_method or default_df_method(m),
        _mean_square(n * _squares(by_instance - means[:, None]), 2 * (m - 1), tiny),
        _mean_square(0.5 * m * _squares(contrast - contrast.mean()), n - 1, tiny),
        _mean_square(_squares(rest), 2 * (m - 1) * (n - 1), tiny),
        shape=(m, n),
        factor=2.0,
        tiny=tiny,
        method="instances nested in two systems, topics crossed",
    )


def _complete(name: str, values: ArrayLike) -> np.ndarray:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(f"{name} must be a matrix [instance, topic], got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError(
            f"{name} must be complete and finite; with missing cells fit a mixed model"
        )
    return matrix


def _squares(values: np.ndarray) -> float:
    return float((values * values).sum())


def _mean_square(ss: float, df: int, tiny: float) -> Amount:
    """A mean square that is nothing but rounding counts as 0."""
    return Amount(ss if df and ss > tiny**2 * df else 0.0, df)


def _test(
    estimate: float,
    df_method: DfMethod,
    instance: Amount,
    topic: Amount,
    error: Amount,
    *,
    shape: tuple[int, int],
    factor: float,
    tiny: float,
    method: str,
) -> DifferenceTest:
    combined, df, dropped = _combined(instance, topic, error, df_method)
    standard_error = float(np.sqrt(factor * combined / (shape[0] * shape[1])))
    flag = {(True, True): TOO_FEW, (True, False): ONE_INSTANCE, (False, True): ONE_TOPIC}.get(
        (instance.df == 0, topic.df == 0), ""
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = float(np.float64(estimate) / standard_error)
    pvalue = float(2.0 * special.stdtr(df, -abs(statistic)))
    if standard_error == 0.0:
        same = abs(estimate) <= tiny
        flag, pvalue = (NO_DIFFERENCE, 1.0) if same else (ZERO_VARIANCE, 0.0)
        statistic = float("nan") if same else float(np.copysign(np.inf, estimate))
    return DifferenceTest(
        estimate=estimate,
        standard_error=standard_error,
        df=df,
        statistic=statistic,
        pvalue=pvalue,
        instance=instance,
        topic=topic,
        error=error,
        variances=_variances(instance, topic, error, dropped, shape),
        dropped=dropped,
        n_instances=shape[0],
        n_topics=shape[1],
        flag=flag,
        df_method=df_method if error.df else "exact",
        method=f"{method}, closed form; {METHOD_WORDS[df_method]}, two-sided",
    )


def _combined(
    instance: Amount, topic: Amount, error: Amount, df_method: DfMethod
) -> tuple[float, float, tuple[str, ...]]:
    """The mean square of the estimate, its degrees of freedom, and the components dropped."""
    if error.df == 0:
        left = topic if topic.df else instance
        return left.ms, left.df or float("nan"), ()
    free = (instance.df, topic.df, error.df)
    squares = pooled_squares(*(np.array(part.ms) for part in (instance, topic, error)), free=free)
    combined, df = combined_mean_squares(squares, free=free, df_method=df_method).tolist()
    kept = {"instance": squares.has_instance, "topic": squares.has_topic}
    return combined, df, tuple(name for name, there in kept.items() if not there)


def _variances(
    instance: Amount, topic: Amount, error: Amount, dropped: tuple[str, ...], shape: tuple[int, int]
) -> dict[str, float]:
    """Components from the mean squares; those of dropped ones are pooled with the error's.

    With one instance (or topic) the topics' (instances') mean square is all that there is: their
    own variance and the residual's are not told apart.
    """
    named = {"instance": instance, "topic": topic}
    if error.df == 0:
        left = topic if topic.df else instance
        return {"instance": float("nan"), "topic": float("nan"), "residual": left.ms}
    pool = [error, *(named[name] for name in dropped)]
    residual = sum(part.ss for part in pool) / sum(part.df for part in pool)
    others = {"instance": shape[1], "topic": shape[0]}
    variances = {
        name: 0.0 if name in dropped else (part.ms - residual) / others[name]
        for name, part in named.items()
    }
    return {**variances, "residual": residual}
