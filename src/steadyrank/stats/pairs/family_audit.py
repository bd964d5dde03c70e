"""How often does a whole family of tests make a false claim, on scores like these?

The scores are the population: topics are drawn from it with replacement, and the decisions about
all pairs are made again, under three hypotheses. With the means *as observed* a claim is false if
its direction is wrong. With the runs of each *tier* at one mean a claim within a tier is false, and
with *all* runs at one mean every claim is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steadyrank.compute.random import block_stream
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.stats.pairs.max_t import max_t_pvalues
from steadyrank.stats.pairs.sign_flips import Flips
from steadyrank.stats.pairs.tests import in_threads, paired_t

FLIPS = 199
"""Flips per experiment: with 199 a test has the same level as with thousands, and less power."""

ERROR, FEWEST, MOST = 0.01, 200, 2500
"""Sufficient Monte Carlo error of a share; smallest and largest number of experiments."""

WORK = 3e10
"""Largest number of statistics, about a minute; larger families have fewer experiments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseClaims:
    """Claims of a family under one hypothesis, over many experiments."""

    share: float
    """Share of experiments with a false claim."""
    standard_error: float
    """Monte Carlo error of the share."""
    false_claims: float
    """Mean number per experiment."""
    claims: float
    """Mean number per experiment, true ones included."""
    n_experiments: int

    def exceeds(self, level: float) -> bool:
        """Return whether the share is above a level by more than its Monte Carlo error."""
        return self.share > level + 2.0 * self.standard_error


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyAudit:
    """False claims of one family of tests under three hypotheses."""

    nominal: float
    observed: FalseClaims
    """Means are as observed: claims in the wrong direction."""
    tiers_equal: FalseClaims | None
    """Runs of one tier have one mean: claims within a tier; None without tiers."""
    all_equal: FalseClaims | None
    """All runs have one mean: any claim; None if not requested."""


def audit_family(
    scores: np.ndarray,
    pairs: np.ndarray,
    *,
    correction: str,
    tier: np.ndarray | None = None,
    alpha: float = 0.05,
    asks_all: bool = True,
    n_topics: int | None = None,
    n_experiments: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
) -> FamilyAudit:
    """Audit the t tests of `pairs` with their correction, on complete scores [run, topic].

    The error of each share is at most .01; `asks_all` requests `all_equal`.
    """
    means = scores.mean(axis=1)
    n_truths = 1 + asks_all + (tier is not None)
    size = scores.shape[1] if n_topics is None else n_topics
    work = len(pairs) * (FLIPS if correction == "maxt" else 10) * n_truths
    most = max(FEWEST, min(MOST, int(WORK / max(1, work))))

    def claims(drawn: np.ndarray, stream: np.random.Generator) -> np.ndarray:
        if correction == "maxt":
            own_seed = int(stream.integers(2**62))
            flips: Flips = {"n_samples": FLIPS, "seed": own_seed, "jobs": 1}
            pvalue = max_t_pvalues(drawn, pairs, **flips)
        else:
            pvalue = adjust(paired_t(drawn, pairs).pvalue, correction)
        gap = drawn.mean(axis=1)
        lead = np.sign(gap[pairs[:, 0]] - gap[pairs[:, 1]])
        return np.where(np.nan_to_num(pvalue, nan=1.0) <= alpha, lead, 0.0)

    def experiment(number: int, truth: np.ndarray) -> tuple[int, int]:
        stream = block_stream(seed, "family audit", number)
        topics = stream.integers(0, scores.shape[1], size)
        drawn = np.ascontiguousarray((scores - (means - truth)[:, None])[:, topics])
        claimed = claims(drawn, stream)
        ahead = np.sign(truth[pairs[:, 0]] - truth[pairs[:, 1]])
        return int(((claimed != 0) & (claimed != ahead)).sum()), int((claimed != 0).sum())

    def counted(truth: np.ndarray) -> FalseClaims:
        found: list[tuple[int, int]] = []
        target = n_experiments or FEWEST
        while True:
            more = range(len(found), target)
            found += in_threads(lambda number: experiment(number, truth), more, jobs=jobs)
            summed = _summed(np.array(found))
            needed = math.ceil(summed.share * (1.0 - summed.share) / ERROR**2)
            target = min(most, needed)
            if n_experiments or len(found) >= target:
                return summed

    within = None
    if tier is not None:
        by_tier = np.bincount(tier, means) / np.maximum(1, np.bincount(tier))
        within = counted(by_tier[tier])
    return FamilyAudit(
        nominal=alpha,
        observed=counted(means),
        tiers_equal=within,
        all_equal=counted(np.zeros(len(means))) if asks_all else None,
    )


def _summed(found: np.ndarray) -> FalseClaims:
    n, wrong = len(found), found[:, 0]
    share = float((wrong > 0).mean())
    return FalseClaims(
        share=share,
        # Not 0 where no experiment, or every one, has a false claim.
        standard_error=math.sqrt((share + 0.5 / n) * (1.0 - share + 0.5 / n) / n),
        false_claims=float(wrong.mean()),
        claims=float(found[:, 1].mean()),
        n_experiments=n,
    )
