"""Does a non-deterministic system differ from another? Tests with random topics and instances.

For balanced layouts, in which every instance has every topic: tests in closed form that keep their
level although instances differ in mean effectiveness. Degrees of freedom are Satterthwaite's, or
with fewer than five instances Kenward and Roger's. Mean squares are pooled as in REML: a component
that would be negative is 0. For missing cells use `steadyrank.stats.mixed.fit.fit`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.errors import InputError
from steadyrank.stats.anova.parts import CROSSED, Amount, Axes, sums_of_squares
from steadyrank.stats.interval import satterthwaite, t_test
from steadyrank.stats.pairs.result import NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE, tiny_of

DfMethod = Literal["satterthwaite", "kenward-roger"]

FEW_INSTANCES = 5
"""Below this number, the variance between instances is poorly known: then the default is Kenward
and Roger's adjustment, which includes the uncertainty of a component that is estimated at 0."""

METHOD_WORDS = {
    "satterthwaite": "Satterthwaite's degrees of freedom",
    "kenward-roger": "Kenward and Roger's adjustment",
}

Free = tuple[float, float, float]
"""Degrees of freedom of instances, topics and residual."""

NESTED: tuple[Axes, ...] = tuple(map(frozenset, ((-3,), (-3, -2), (-1,), (-3, -1))))
"""The terms of [system, instance, topic]: systems, their instances, topics, systems × topics."""

ONE_INSTANCE, ONE_TOPIC = "one_instance", "one_topic"
"""Flags: with one instance or one topic the test is only about that one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The mean difference of two systems, tested with random instances and topics."""

    estimate: float
    standard_error: float
    df: float
    statistic: float
    pvalue: float
    variances: dict[str, float]
    """Variances of instances, of topics (of the difference, or system by topic) and of the
    residual; NaN if not identified."""
    factor_variances: dict[str, float] = field(default_factory=dict)
    """Variance of each instance factor, within the one before it; their sum is the instance's."""
    flag: str
    """"", ONE_INSTANCE, ONE_TOPIC, or a flag of `steadyrank.stats.pairs.result`."""
    df_method: str
    """"satterthwaite" or "kenward-roger"; "exact" if there is only one mean square."""
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceTest(Difference):
    """A test in closed form, with its mean squares."""

    instance: Amount
    topic: Amount
    error: Amount
    dropped: tuple[str, ...]


def two_way_difference(
    differences: ArrayLike, *, df_method: DfMethod | None = None
) -> DifferenceTest:
    """Test the mean of differences [instance, topic] to a deterministic system.

    d[m, n] = delta + a[m] + u[n] + e[m, n] with random effects. The mean has variance
    (MSa + MSu - MSe) / (M N), with (MSa + MSu - MSe)² / (MSa²/(M-1) + MSu²/(N-1) +
    MSe²/((M-1)(N-1))) degrees of freedom; `pooled_squares` says which components REML drops. By
    Satterthwaite's method the variance is then MSu / (M N) on N - 1, MSa / (M N) on M - 1, or
    without both the total mean square / (M N) on M N - 1 degrees of freedom; by Kenward and Roger's
    (the default with fewer than five instances) the first formula with pooled mean squares. With
    one instance it is the paired t test.

    Reference: Satterthwaite 1946, doi:10.2307/3002019; Kenward & Roger 1997, doi:10.2307/2533558;
    Jayasinghe et al. 2015, doi:10.1016/j.ipm.2015.06.005.
    """
    d = _complete("differences", differences)
    m, n = d.shape
    return _test(
        float(d.mean()),
        squares_of(d[None]),
        (m - 1, n - 1, (m - 1) * (n - 1)),
        n_systems=1,
        instances=m,
        tiny=tiny_of(d),
        df_method=df_method or default_df_method(m),
        method="two-way random effects on differences",
    )


def nested_difference(
    first: ArrayLike, second: ArrayLike, *, df_method: DfMethod | None = None
) -> DifferenceTest:
    """Test the difference of two systems, each with different instances [instance, topic].

    y[s, m, n] = system + topic[n] + (system topic)[s, n] + instance[s, m] + e: with h = 1 / M1 +
    1 / M2 the difference of means has variance h (MSi + MSd - MSe) / N, where MSd is the variance
    of the topics' differences over h, and instances and residuals are pooled over both systems:
    M1 + M2 - 2, N - 1 and (M1 + M2 - 2)(N - 1) degrees of freedom, pooled as in
    `two_way_difference`. With equal numbers of instances this is REML. With unequal ones REML also
    uses the little that the topics' sums say about system × topic; for few topics use `mixed.fit`.
    """
    both = [_complete("first", first), _complete("second", second)]
    if both[0].shape[1] != both[1].shape[1]:
        raise InputError(
            f"both systems require the same topics, got {both[0].shape} and {both[1].shape}"
        )
    n, share = both[0].shape[1], sum(1.0 / len(y) for y in both)
    d = both[0].mean(axis=0) - both[1].mean(axis=0)
    within = [sums_of_squares(y - y.mean(axis=0), CROSSED[:1]) for y in both]
    instance, error = (sum(parts) for parts in zip(*within, strict=True))
    own = sum(len(y) - 1 for y in both)
    return _test(
        float(d.mean()),
        (instance, np.square(d - d.mean()).sum() / share, error),
        (own, n - 1, own * (n - 1)),
        n_systems=2,
        instances=2.0 / share,
        tiny=max(map(tiny_of, both)),
        df_method=df_method or default_df_method(min(map(len, both))),
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


Squares = tuple[Any, Any, Any]
"""Sums of squares of instances, of topics (of differences, or systems × topics) and the rest."""


def squares_of(systems: np.ndarray) -> Squares:
    """Return sums of squares of [..., system, instance, topic]; one system holds differences."""
    if systems.shape[-3] == 1:
        d = systems[..., 0, :, :]
        instance, topic, rest = sums_of_squares(d - d.mean(axis=(-2, -1), keepdims=True), CROSSED)
        return instance, topic, rest
    centred = systems - systems.mean(axis=(-3, -2, -1), keepdims=True)
    _, instance, _, topic, rest = sums_of_squares(centred, NESTED)
    return instance, topic, rest


def _test(
    estimate: float,
    squares: Squares,
    free: tuple[int, int, int],
    *,
    n_systems: int,
    instances: float,
    tiny: float,
    df_method: DfMethod,
    method: str,
) -> DifferenceTest:
    """Test a difference, given sums of squares and the (harmonic mean) number of instances.

    Squares that are only rounding count as 0.
    """
    instance, topic, error = (
        Amount.rounded(float(ss), df, tiny) for ss, df in zip(squares, free, strict=True)
    )
    n = topic.df + 1
    combined, df, dropped = _combined(instance, topic, error, df_method)
    standard_error = float(np.sqrt(n_systems * combined / (instances * n)))
    flag = {(True, True): TOO_FEW, (True, False): ONE_INSTANCE, (False, True): ONE_TOPIC}.get(
        (instance.df == 0, topic.df == 0), ""
    )
    statistic, pvalue = t_test(np.float64(estimate), standard_error, df, tiny)
    if standard_error == 0.0:
        flag = NO_DIFFERENCE if abs(estimate) <= tiny else ZERO_VARIANCE
    return DifferenceTest(
        estimate=estimate,
        standard_error=standard_error,
        df=df,
        statistic=float(statistic),
        pvalue=float(pvalue),
        instance=instance,
        topic=topic,
        error=error,
        variances=_variances(instance, topic, error, dropped, (instances, n)),
        dropped=dropped,
        flag=flag,
        df_method=df_method if error.df else "exact",
        method=f"{method}, closed form; {METHOD_WORDS[df_method]}, two-sided",
    )


def _combined(
    instance: Amount, topic: Amount, error: Amount, df_method: DfMethod
) -> tuple[float, float, tuple[str, ...]]:
    """Return the mean square of the estimate, its degrees of freedom, and dropped components."""
    if error.df == 0:
        left = topic if topic.df else instance
        return left.ms, left.df or float("nan"), ()
    free = (instance.df, topic.df, error.df)
    squares = pooled_squares(*(np.array(part.ms) for part in (instance, topic, error)), free=free)
    combined, df = combined_mean_squares(squares, free=free, df_method=df_method).tolist()
    kept = {"instance": squares.has_instance, "topic": squares.has_topic}
    return combined, df, tuple(name for name, there in kept.items() if not there)


def _variances(
    instance: Amount, topic: Amount, error: Amount, dropped: tuple[str, ...], shape: Sequence[float]
) -> dict[str, float]:
    """Return components from the mean squares; those of dropped ones are pooled with the error's.

    With one instance (or topic) there is only the topics' (instances') mean square: their variance
    and the residual's cannot be separated.
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


class PooledSquares(NamedTuple):
    """Mean squares pooled as in REML: those of dropped components equal the residual's."""

    instance: np.ndarray
    topic: np.ndarray
    residual: np.ndarray
    has_instance: np.ndarray
    """Whether the variance between instances is estimated above 0."""
    has_topic: np.ndarray


def default_df_method(instances: float) -> DfMethod:
    """Return Kenward and Roger's method below `FEW_INSTANCES`, otherwise Satterthwaite's."""
    return "kenward-roger" if instances < FEW_INSTANCES else "satterthwaite"


def pooled_squares(
    instance: np.ndarray, topic: np.ndarray, residual: np.ndarray, *, free: Free
) -> PooledSquares:
    """Pool mean squares that do not exceed the residual's, the smallest first.

    REML maximises over eigenvalues, none of which is below the residual's. The smaller of both mean
    squares is pooled with the residual's unless it exceeds it, and then the other unless it exceeds
    the pool (Thompson, Annals of Mathematical Statistics 33(1), 1962).
    """
    instance_first = instance <= topic
    least, other = np.minimum(instance, topic), np.maximum(instance, topic)
    own = np.where(instance_first, free[0], free[1])
    one_pooled = (least * own + residual * free[2]) / (own + free[2])
    all_pooled = (instance * free[0] + topic * free[1] + residual * free[2]) / sum(free)
    has_least = least > residual
    has_other = has_least | (other > one_pooled)
    left = np.where(has_least, residual, np.where(has_other, one_pooled, all_pooled))
    has_instance = np.where(instance_first, has_least, has_other)
    has_topic = np.where(instance_first, has_other, has_least)
    return PooledSquares(
        np.where(has_instance, instance, left),
        np.where(has_topic, topic, left),
        left,
        has_instance,
        has_topic,
    )


def combined_mean_squares(squares: PooledSquares, *, free: Free, df_method: DfMethod) -> np.ndarray:
    """Return the mean square of the estimate and its degrees of freedom, [2, ...].

    c = MSa + MSu - MSe with pooled mean squares has c² / (MSa²/fa + MSu²/fu + MSe²/fe) degrees of
    freedom. Satterthwaite's treat a component at 0 as known: they are those of the one remaining
    mean square, or all if none remains; Kenward and Roger's always follow the formula.
    """
    combined = squares.instance + squares.topic - squares.residual
    parts = (squares.instance, squares.topic, -squares.residual)
    df = satterthwaite(parts, free, without=sum(free))
    if df_method == "satterthwaite":
        one = np.where(squares.has_instance, free[0], free[1])
        several = squares.has_instance & squares.has_topic
        none = ~(squares.has_instance | squares.has_topic)
        df = np.where(several, df, np.where(none, sum(free), one))
    return np.stack([combined, df])
