"""The rule of order by its definitions, a pair and a pattern at a time: what kernels are held
against."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq


def adverse(g, n):
    """Skewness g of a mean of n draws, against the claim and two standard errors worse."""
    return max(0.0, -g + 2 * math.sqrt(6 * (n - 2) / (n * (n + 1) * (n + 3))))


def reach(c, g, n):
    """Standard errors to the limit of a claim at c."""
    return c + adverse(g, n) * (2 * c * c + 1) / 6


def corrected(t, g, n):
    """The c whose limit lies |t| away, found by bisection; 0 where every limit is farther."""
    if math.isinf(t):
        return math.inf
    if abs(t) <= reach(0.0, g, n):
        return 0.0
    return brentq(lambda c: reach(c, g, n) - abs(t), 0.0, abs(t) + 1.0, xtol=1e-14)


def floor_of(variances):
    """Four times the tenth percentile of the positive ones."""
    positive = [v for v in variances if v > 0]
    return 4 * float(np.percentile(positive, 10)) if len(variances) > 1 and positive else 0.0


def of_scores(scores, signs):
    """t of every ordered pair [i, j] (0 or less: i is no better), corrected, its error, skewness of
    the mean, and under each pattern the flipped t [pattern, i, j]."""
    m, n = scores.shape
    z = scores[:, None] - scores[None]
    mean, e = z.mean(axis=2), z - z.mean(axis=2, keepdims=True)
    squares, cubes = (e**2).sum(axis=2), (e**3).sum(axis=2)
    added = floor_of(squares[np.triu_indices(m, 1)] / (n - 1)) if m > 2 else 0.0
    squares = squares + added
    with np.errstate(invalid="ignore", divide="ignore"):
        error, g = np.sqrt(squares / (n * (n - 1))), cubes / squares**1.5
        t = mean / error
        sums = np.einsum("sk,ijk->sij", signs, e)
        flipped = sums / n / np.sqrt((squares - sums**2 / n) / (n * (n - 1)))
    star = np.zeros((m, m))
    for i, j in np.argwhere(mean > 0):
        star[i, j] = corrected(t[i, j], g[i, j], n)
    return star, error, g, np.where(np.isnan(flipped), 0.0, flipped)


def stepdown(observed, null, family, alpha):
    """Of hypotheses "i is better than j": those that are rejected; the first critical value, and
    that of the step that decides each."""
    in_play, rejected, decided = list(family), [], {}
    first = None
    place = math.floor(alpha * (len(null) + 1) + 1e-9)
    while True:
        largest = np.sort(np.max([null[:, i, j] for i, j in in_play], axis=0))[::-1]
        critical = largest[place - 1] if place else math.inf
        first = critical if first is None else first
        new = [(i, j) for i, j in in_play if observed[i, j] * (1 - 1e-12) > critical]
        decided |= dict.fromkeys(new or in_play, critical)
        if not new:
            return set(rejected), first, decided
        rejected += new
        in_play = [pair for pair in in_play if pair not in new]


def adjusted(observed, null, family):
    """p-values of a stepdown of one hypothesis at a time."""
    left = sorted(family, key=lambda pair: -observed[pair])
    pvalue, largest = {}, 0.0
    while left:
        most = np.max([null[:, i, j] for i, j in left], axis=0)
        count = (most >= observed[left[0]] * (1 - 1e-12)).sum()
        largest = max(largest, (1 + count) / (1 + len(null)))
        pvalue[left.pop(0)] = min(1.0, largest)
    return pvalue


def ordered(n_runs):
    """All ordered pairs."""
    return [(i, j) for i in range(n_runs) for j in range(n_runs) if i != j]


def own(n_runs, run):
    """Those of one run."""
    return [pair for pair in ordered(n_runs) if run in pair]
