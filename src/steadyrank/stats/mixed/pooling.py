"""Which mean squares of topics × instances are pooled, and how many degrees of freedom are left?

For the tests of `stats.mixed.two_way`, one by one or many at once: the rules by which REML
estimates the components of a balanced layout (a component that would be negative is 0), and both
approximations of the degrees of freedom that rest on them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

DfMethod = Literal["satterthwaite", "kenward-roger"]

FEW_INSTANCES = 5
"""Below this many, the variance between instances is hardly known: Kenward and Roger's adjustment
is the default, which keeps the uncertainty of a component that is estimated at 0."""

METHOD_WORDS = {
    "satterthwaite": "Satterthwaite's degrees of freedom",
    "kenward-roger": "Kenward and Roger's adjustment",
}

Free = tuple[float, float, float]
"""Degrees of freedom of instances, of topics and of the residual."""


class PooledSquares(NamedTuple):
    """Mean squares as REML takes them: those of dropped components equal the residual's."""

    instance: np.ndarray
    topic: np.ndarray
    residual: np.ndarray
    has_instance: np.ndarray
    """Whether the variance between instances is estimated above 0."""
    has_topic: np.ndarray


def default_df_method(instances: float) -> DfMethod:
    """Kenward and Roger's below `FEW_INSTANCES`, Satterthwaite's from there on."""
    return "kenward-roger" if instances < FEW_INSTANCES else "satterthwaite"


def pooled_squares(
    instance: np.ndarray, topic: np.ndarray, residual: np.ndarray, *, free: Free
) -> PooledSquares:
    """Pool mean squares that do not exceed the residual's, the smallest first.

    REML maximises over eigenvalues of which none is below the residual's. The smaller of both mean
    squares is pooled with the residual's unless it is above it, and then the other unless that is
    above the pool, which may be less than the residual's mean square was (Thompson, Annals of
    Mathematical Statistics 33(1), 1962).

    >>> one, both = np.array(0.2), np.array(0.9)
    >>> pooled = pooled_squares(one, both, np.array(1.0), free=(4, 4, 16))
    >>> float(pooled.residual.round(4)), bool(pooled.has_instance), bool(pooled.has_topic)
    (0.84, False, True)
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
    """Mean square of the estimate and its degrees of freedom, [2, ...].

    The estimate has mean square c = MSa + MSu - MSe, of pooled mean squares. Satterthwaite's
    degrees of freedom take a component at 0 as known: c² / (MSa²/fa + MSu²/fu + MSe²/fe), or
    the one mean square's own that is left, or all where none is. Kenward and Roger's are the first
    formula throughout; the adjustment of the standard error is 0 where a layout is balanced.

    >>> left = pooled_squares(np.array(0.8), np.array(3.0), np.array(1.0), free=(2, 9, 18))
    >>> for method in ("satterthwaite", "kenward-roger"):
    ...     print(combined_mean_squares(left, free=(2, 9, 18), df_method=method).round(3).tolist())
    [3.0, 9.0]
    [3.0, 5.869]
    """
    parts = (squares.instance, squares.topic, squares.residual)
    combined = squares.instance + squares.topic - squares.residual
    spread = sum(part**2 / df for part, df in zip(parts, free, strict=True))
    with np.errstate(invalid="ignore"):
        df = np.where(combined > 0.0, combined**2 / spread, sum(free))
    if df_method == "satterthwaite":
        one = np.where(squares.has_instance, free[0], free[1])
        several = squares.has_instance & squares.has_topic
        none = ~(squares.has_instance | squares.has_topic)
        df = np.where(several, df, np.where(none, sum(free), one))
    return np.stack([combined, df])
