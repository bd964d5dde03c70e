"""The tests of non-deterministic systems on many data sets at once, for simulations.

The same p-values as `stats.mixed.two_way` and the paired t test, with any number of leading
axes: replications, pools of instances, single instances. Scores must be complete.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from steadyrank.stats.mixed.pooling import combined_mean_squares, default_df_method, pooled_squares
from steadyrank.stats.pairs.result import CONSTANT


def t_pvalues(z: np.ndarray, *, df: float | None = None) -> np.ndarray:
    """Two-sided p of Student's t of differences [..., topic], on N - 1 degrees of freedom or `df`.

    Without spread p is 0, or 1 where there is no difference either.

    >>> t_pvalues(np.array([[0.1, 0.0, 0.3, 0.2], [0.1, 0.1, 0.1, 0.1]])).round(4).tolist()
    [0.1027, 0.0]
    """
    mean, error = means_and_errors(z)
    return _pvalues(mean, error, z.shape[-1] - 1.0 if df is None else df, np.abs(z).max(axis=-1))


def means_and_errors(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of differences [..., topic], and its standard error."""
    n = z.shape[-1]
    mean = z.mean(axis=-1)
    off = z - mean[..., None]
    squares = np.einsum("...n,...n->...", off, off)
    return mean, np.sqrt(squares / (n * (n - 1.0)))


def two_way_pvalues(differences: np.ndarray) -> np.ndarray:
    """p of `stats.mixed.two_way.two_way_difference`, of differences [..., instance, topic].

    >>> d = np.array([[0.3, 0.5, 0.1, 0.6], [0.4, 0.5, 0.2, 0.8], [0.2, 0.6, 0.1, 0.7]])
    >>> two_way_pvalues(d).round(5).item()
    0.04292
    """
    if differences.shape[-2] == 1:
        return t_pvalues(differences[..., 0, :])
    mean = differences.mean(axis=(-2, -1))
    squares = _mean_squares(differences, systems=1)
    return _random_pvalues(mean, squares, [differences])


def nested_pvalues(first: np.ndarray, second: np.ndarray, *, df: float | None = None) -> np.ndarray:
    """p of `stats.mixed.two_way.nested_difference`, of two systems [..., instance, topic].

    On `df` degrees of freedom, if given, in place of its own.
    """
    m = first.shape[-2]
    if m == 1:
        return t_pvalues((first - second)[..., 0, :], df=df)
    contrast = first.mean(axis=-2) - second.mean(axis=-2)
    one, two = _mean_squares(first, systems=2), _mean_squares(second, systems=2)
    by_topic = 0.5 * m * contrast.var(axis=-1, ddof=1)
    squares = (one[0] + two[0], by_topic, one[2] + two[2])
    return _random_pvalues(contrast.mean(axis=-1), squares, [first, second], df=df)


def welch_pvalues(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """p of Welch's t test on the instances' means over topics: blind to other topics."""
    means = [scores.mean(axis=-1) for scores in (first, second)]
    errors = [by_instance.var(axis=-1, ddof=1) / by_instance.shape[-1] for by_instance in means]
    total = errors[0] + errors[1]
    with np.errstate(invalid="ignore"):
        parts = [
            e**2 / (by_instance.shape[-1] - 1.0)
            for e, by_instance in zip(errors, means, strict=True)
        ]
        df = np.where(total > 0.0, total**2 / (parts[0] + parts[1]), 1.0)
    size = np.maximum(np.abs(means[0]).max(axis=-1), np.abs(means[1]).max(axis=-1))
    return _pvalues(means[0].mean(axis=-1) - means[1].mean(axis=-1), np.sqrt(total), df, size)


def _mean_squares(scores: np.ndarray, *, systems: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of instances, topics and the rest, [...]; of `systems` alike, those of one of them."""
    m, n = scores.shape[-2:]
    by_instance, by_topic = scores.mean(axis=-1), scores.mean(axis=-2)
    mean = by_topic.mean(axis=-1)
    rest = scores - by_instance[..., None] - by_topic[..., None, :] + mean[..., None, None]
    instance = n * np.square(by_instance - mean[..., None]).sum(axis=-1) / (systems * (m - 1))
    topic = m * np.square(by_topic - mean[..., None]).sum(axis=-1) / (n - 1)
    error = np.square(rest).sum(axis=(-2, -1)) / (systems * (m - 1) * (n - 1))
    return instance, topic, error


def _random_pvalues(
    mean: np.ndarray,
    squares: tuple[np.ndarray, np.ndarray, np.ndarray],
    systems: Sequence[np.ndarray],
    *,
    df: float | None = None,
) -> np.ndarray:
    """p of a mean difference from the mean squares of the systems that vary."""
    m, n = systems[0].shape[-2:]
    own = len(systems) * (m - 1)
    free = (own, n - 1, own * (n - 1))
    size = np.max([np.abs(scores).max(axis=(-2, -1)) for scores in systems], axis=0)
    tiny = np.square(CONSTANT * np.maximum(1.0, size))
    pooled = pooled_squares(
        *(np.where(square <= tiny, 0.0, square) for square in squares), free=free
    )
    combined, satterthwaite = combined_mean_squares(
        pooled, free=free, df_method=default_df_method(m)
    )
    error = np.sqrt(len(systems) / (m * n) * combined)
    return _pvalues(mean, error, satterthwaite if df is None else df, size)


def _pvalues(
    mean: np.ndarray, error: np.ndarray, df: np.ndarray | float, size: np.ndarray
) -> np.ndarray:
    tiny = CONSTANT * np.maximum(1.0, size)
    sure = error <= tiny
    t = np.abs(mean) / np.where(sure, 1.0, error)
    pvalue = np.minimum(1.0, 2.0 * special.stdtr(df, -t))
    return np.asarray(np.where(sure, (np.abs(mean) <= tiny).astype(float), pvalue))
