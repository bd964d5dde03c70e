"""How often does a whole family of tests claim something where there is nothing to claim?

For anyone who wonders whether a level holds on scores like these. The runs are given equal means,
topics are drawn with replacement, and the decisions about all pairs are made again: every claim is
false. What differs from the level is what skewed differences and few topics do to the family.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steadyrank.compute.random import block_stream
from steadyrank.stats.pairs import kernels
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.stats.pairs.max_t import order_statistic
from steadyrank.stats.pairs.result import CONSTANT, ZERO_VARIANCE
from steadyrank.stats.pairs.skewed import careful_t
from steadyrank.stats.pairs.tests import in_threads, moments, paired_t

FLIPS = 199
"""Of each experiment: a test by 199 flips has the level of one by thousands, and is less sure."""

EXPERIMENTS, FEWEST = 400, 100
WORK = 5e9
"""Statistics that are computed at most, in some seconds: larger families have fewer experiments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyAudit:
    """In which share of experiments with equal runs a family of tests claimed a difference."""

    nominal: float
    any_claim: float
    n_experiments: int

    @property
    def error(self) -> float:
        """Monte Carlo standard error of the share."""
        return math.sqrt(self.any_claim * (1.0 - self.any_claim) / self.n_experiments)


def audit_family(
    scores: np.ndarray,
    pairs: np.ndarray,
    *,
    correction: str,
    alpha: float = 0.05,
    careful: bool = True,
    n_topics: int | None = None,
    n_experiments: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
) -> FamilyAudit:
    """Audit the t tests of `pairs` with their correction, on complete scores [run, topic].

    >>> scores = np.random.default_rng(1).normal(size=(5, 40))
    >>> pairs = np.array([[0, 1], [0, 2], [1, 2], [3, 4]])
    >>> audit_family(scores, pairs, correction="maxt", n_experiments=100).any_claim < 0.1
    True
    """
    centred = scores - scores.mean(axis=1, keepdims=True)
    size = scores.shape[1] if n_topics is None else n_topics
    per_experiment = len(pairs) * (FLIPS if correction == "maxt" else 10)
    affordable = int(WORK / max(1, per_experiment))
    n = n_experiments or max(FEWEST, min(EXPERIMENTS, affordable))

    def claims(experiment: int) -> bool:
        stream = block_stream(seed, "family audit", experiment)
        drawn = np.ascontiguousarray(centred[:, stream.integers(0, scores.shape[1], size)])
        if correction == "maxt":
            return _max_t_claims(drawn, pairs, alpha, careful, stream)
        pvalue = adjust(paired_t(drawn, pairs).pvalue, correction)
        return bool((pvalue <= alpha).any())

    found = in_threads(claims, range(n), jobs=jobs)
    return FamilyAudit(nominal=alpha, any_claim=sum(found) / n, n_experiments=n)


def _max_t_claims(
    scores: np.ndarray, pairs: np.ndarray, alpha: float, careful: bool, stream: np.random.Generator
) -> bool:
    """Whether the first step of max-t rejects anything; later steps follow only if it does."""
    found, n = moments(scores, pairs), scores.shape[1]
    if (found.flag == ZERO_VARIANCE).any():
        return bool(alpha >= 1.0 / (1.0 + FLIPS))
    tested = found.flag == ""
    sd, mean = found.sd[tested], found.mean[tested]
    t = mean / sd * math.sqrt(n)
    t = careful_t(t, found.skewness[tested], np.asarray(n)) if careful else np.abs(t)
    largest, weight = np.empty(FLIPS), 1.0 / (sd * math.sqrt(n * (n - 1.0)))
    signs = stream.integers(0, 2, (n, FLIPS)) * 2.0 - 1.0
    sums = (scores - scores.mean(axis=1, keepdims=True)) @ signs
    kernels.largest_of_sums(sums, pairs[tested], weight, largest)
    limit = order_statistic(largest, alpha, FLIPS)
    observed = t / np.sqrt(n - 1.0 + np.square(t))
    return bool((observed * (1.0 - CONSTANT) >= limit).any())
