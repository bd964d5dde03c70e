"""p-values of many data sets at once, for simulations of the tests of non-deterministic systems.

Scores may have any number of leading axes, such as replications or pools of instances. The tests of
a single pair are in `steadyrank.stats.mixed.two_way`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from steadyrank.stats.interval import satterthwaite, t_test
from steadyrank.stats.mixed.two_way import (
    combined_mean_squares,
    default_df_method,
    pooled_squares,
    squares_of,
)
from steadyrank.stats.pairs.result import CONSTANT


def t_pvalues(z: np.ndarray, *, df: float | None = None) -> np.ndarray:
    """Return two-sided p of Student's t of differences [..., topic]; df is N - 1 by default.

    Without variance p is 0, or 1 for a difference of 0.

    >>> t_pvalues(np.array([[0.1, 0.0, 0.3, 0.2], [0.1, 0.1, 0.1, 0.1]])).round(4).tolist()
    [0.1027, 0.0]
    """
    mean, error = means_and_errors(z)
    return _pvalues(mean, error, z.shape[-1] - 1.0 if df is None else df, np.abs(z).max(axis=-1))


def means_and_errors(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard error of differences [..., topic]."""
    n = z.shape[-1]
    mean = z.mean(axis=-1)
    off = z - mean[..., None]
    squares = np.einsum("...n,...n->...", off, off)
    return mean, np.sqrt(squares / (n * (n - 1.0)))


def two_way_pvalues(differences: np.ndarray) -> np.ndarray:
    """Return p of `two_way_difference` for differences [..., instance, topic].

    >>> d = np.array([[0.3, 0.5, 0.1, 0.6], [0.4, 0.5, 0.2, 0.8], [0.2, 0.6, 0.1, 0.7]])
    >>> two_way_pvalues(d).round(5).item()
    0.04292
    """
    if differences.shape[-2] == 1:
        return t_pvalues(differences[..., 0, :])
    return _random_pvalues(differences.mean(axis=(-2, -1)), differences[..., None, :, :])


def nested_pvalues(first: np.ndarray, second: np.ndarray, *, df: float | None = None) -> np.ndarray:
    """Return p of `nested_difference` for two systems [..., instance, topic].

    `df` replaces the degrees of freedom of the test.
    """
    m = first.shape[-2]
    if m == 1:
        return t_pvalues((first - second)[..., 0, :], df=df)
    contrast = first.mean(axis=-2) - second.mean(axis=-2)
    return _random_pvalues(contrast.mean(axis=-1), np.stack([first, second], axis=-3), df=df)


def welch_pvalues(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return p of Welch's t test of the instances' means, which is about these topics only."""
    means = [scores.mean(axis=-1) for scores in (first, second)]
    sizes = [by_instance.shape[-1] for by_instance in means]
    errors = [x.var(axis=-1, ddof=1) / n for x, n in zip(means, sizes, strict=True)]
    df = satterthwaite(errors, [n - 1.0 for n in sizes], without=1.0)
    size = np.maximum(np.abs(means[0]).max(axis=-1), np.abs(means[1]).max(axis=-1))
    return _pvalues(means[0].mean(axis=-1) - means[1].mean(axis=-1), np.sqrt(sum(errors)), df, size)


def _random_pvalues(
    mean: np.ndarray, systems: np.ndarray, *, df: float | None = None
) -> np.ndarray:
    """Return p of a mean difference, given the varying systems [..., system, instance, topic]."""
    n_systems, m, n = systems.shape[-3:]
    own = n_systems * (m - 1)
    free = (own, n - 1, own * (n - 1))
    size = np.abs(systems).max(axis=(-3, -2, -1))
    tiny = np.square(CONSTANT * np.maximum(1.0, size))
    squares = [ss / df for ss, df in zip(squares_of(systems), free, strict=True)]
    pooled = pooled_squares(
        *(np.where(square <= tiny, 0.0, square) for square in squares), free=free
    )
    combined, satterthwaite = combined_mean_squares(
        pooled, free=free, df_method=default_df_method(m)
    )
    error = np.sqrt(n_systems / (m * n) * combined)
    return _pvalues(mean, error, satterthwaite if df is None else df, size)


def _pvalues(mean: Any, error: Any, df: Any, size: Any) -> np.ndarray:
    """Return two-sided p-values; errors and means that are rounding of numbers of `size` are 0."""
    tiny = CONSTANT * np.maximum(1.0, size)
    return np.asarray(t_test(mean, np.where(error <= tiny, 0.0, error), df, tiny)[1])
