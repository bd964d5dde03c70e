"""The best of many runs was picked by the scores that it is praised for: what to expect instead.

The highest mean is too high, the more so the more runs there are and the closer they lie. An
empirical Bayes estimate learns from all runs how far true means lie apart, and from that how much
of the leader's lead is likely to stay on new topics (Robbins 1956; Efron 2016,
doi:10.1093/biomet/asv068).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from steadyrank.stats.pairs.tests import moments
from steadyrank.stats.run_means import adjusted_means, mean_intervals

ATOMS = 160
"""Points that the distribution of true means is made of."""

STEPS = 40
"""Of the EM algorithm, stopped early."""

SMOOTHING = 0.5
"""Standard deviation of what the estimated distribution is smoothed by, in standard errors of a
mean: maximum likelihood puts all its weight on a few points, as if these were known."""

FEWEST_RUNS = 3
"""Below, there is nothing to learn how far runs lie apart from: means are left as they are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpectedMeans:
    """What runs are expected to score on new topics of the same difficulty."""

    mean: np.ndarray
    """One per run; NaN for a run without scores."""
    atoms: np.ndarray
    posterior: np.ndarray
    """[run, atom]: where each run's true mean is likely to lie; rows of 0 where unknown."""


def expected_means(scores: np.ndarray) -> ExpectedMeans:
    """Posterior means of the runs, given the distribution of true means that all of them suggest.

    Model: adjusted mean of run i = true mean + N(0, s² / n_i), s² the residual of run + topic; the
    true means come from a distribution on a grid, estimated by maximum likelihood (EM). Unlike
    shrinking towards a normal distribution, one broken run or a long tail of poor ones leaves
    the others' estimates alone.

    >>> scores = np.random.default_rng(1).normal(size=(20, 25))
    >>> best = int(adjusted_means(scores).argmax())
    >>> bool(expected_means(scores).mean[best] < adjusted_means(scores)[best])
    True
    """
    means = adjusted_means(scores)
    known = ~np.isnan(means)
    atoms, posterior = np.zeros(ATOMS), np.zeros((len(means), ATOMS))
    variance = _error_variance(scores, means)
    if known.sum() < FEWEST_RUNS or not variance > 0.0 or np.ptp(means[known]) == 0.0:
        return ExpectedMeans(mean=means, atoms=atoms, posterior=posterior)
    n = (~np.isnan(scores)).sum(axis=1)[known]
    low, high = means[known].min(), means[known].max()
    error = float(np.sqrt(variance / n.mean()))
    atoms = np.linspace(low - 2.0 * error, high + 2.0 * error, ATOMS)
    off = means[known][:, None] - atoms
    likelihood = np.exp(-0.5 * off * off * n[:, None] / variance)
    weight = ((low <= atoms) & (atoms <= high)).astype(np.float64)
    if not weight.any():
        # Runs that are nearly tied may all lie between two atoms: then these two.
        weight = (np.abs(atoms - 0.5 * (low + high)) <= atoms[1] - atoms[0]).astype(np.float64)
    for _ in range(STEPS):
        weight = _shares(likelihood, weight).mean(axis=0)
    gaps = (atoms[:, None] - atoms) / (SMOOTHING * error)
    posterior[known] = _shares(likelihood, np.exp(-0.5 * gaps * gaps) @ weight)
    expected = np.where(known, posterior @ atoms, np.nan)
    return ExpectedMeans(mean=expected, atoms=atoms, posterior=posterior)


def _shares(likelihood: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Posterior shares of the atoms for each run."""
    share = likelihood * weight
    total = share.sum(axis=1, keepdims=True)
    # A run with very few topics may lie where no atom is likely: then all are, as weighted.
    known = total > 0.0
    return np.asarray(np.where(known, share / np.where(known, total, 1.0), weight / weight.sum()))


def intervals_as_picked(
    scores: np.ndarray, confidence: float, expected: ExpectedMeans | None = None
) -> np.ndarray:
    """t intervals [run, 2] of the runs' means, one at a time, that allow for how runs were picked.

    Student's interval around the mean, and the same around what is expected of the run on new
    topics, together: the leader's reaches further down, the last one's further up. For a run that
    nobody picked it is a little wide.

    >>> low, high = intervals_as_picked(np.array([[0.1, 0.2, 0.3], [0.3, 0.4, 0.2]]), 0.95)[0]
    >>> round(float(low), 4), round(float(high), 4)
    (-0.0484, 0.4484)
    """
    low, high = mean_intervals(scores, confidence).T
    shift = (expected or expected_means(scores)).mean - adjusted_means(scores)
    return np.stack([low + np.minimum(shift, 0.0), high + np.maximum(shift, 0.0)], axis=1)


def _error_variance(scores: np.ndarray, means: np.ndarray) -> float:
    """The residual mean square of the model run + topic."""
    off = scores - means[:, None]
    present = ~np.isnan(off)
    per_topic = present.sum(axis=0)
    topic = np.where(present, off, 0.0).sum(axis=0) / np.maximum(per_topic, 1)
    residual = np.where(present, off - topic, 0.0)
    df = present.sum() - (per_topic > 0).sum() - present.any(axis=1).sum() + 1
    return float((residual**2).sum() / df) if df > 0 else float("nan")


def kept_order(scores: np.ndarray, pairs: np.ndarray, expected: ExpectedMeans) -> np.ndarray:
    """Chance that the first run of each pair has the higher mean on as many new topics.

    Over what `expected` says of the two true means, and over the new topics, with the variance
    of the pair's differences. Never further from a coin's chance than for a flat prior,
    Φ(difference / sqrt(2 v / n)), which is taken where there are two runs.
    """
    found = moments(scores, pairs)
    mean, error = found.mean, found.standard_error
    with np.errstate(divide="ignore", invalid="ignore"):
        chances = ndtr(mean / (np.sqrt(2.0) * error))
    chances[(mean == 0.0) & (error == 0.0)] = 0.5
    if not expected.posterior.any():
        return np.asarray(chances)
    # On an equal grid the difference of two means has 2 G - 1 values.
    n_atoms = len(expected.atoms)
    gaps = (expected.atoms[1] - expected.atoms[0]) * np.arange(1 - n_atoms, n_atoms)
    for place, (a, b) in enumerate(pairs.tolist()):
        if error[place] > 0.0:
            share = np.correlate(expected.posterior[a], expected.posterior[b], "full")
            picked, plain = share @ ndtr(gaps / error[place]), chances[place]
            chances[place] = min(picked, plain) if plain > 0.5 else max(picked, plain)
    return np.asarray(chances)
