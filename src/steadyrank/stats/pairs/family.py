"""One family of decisions about rows of values, and how often such a family is wrong.

The rows are ranked by their means over units, such as strengths of models over prompts. The rule is
that of `compare`: corrected t, max-t by sign flips of units, and each row's own comparisons.

An audit takes the scores as the population: topics are drawn from it with replacement, and the
decisions about all pairs are made again, under three hypotheses. With the means *as observed* a
claim is false if its direction is wrong. With the runs of each *tier* at one mean a claim within a
tier is false, and with *all* runs at one mean every claim is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Unpack

import numpy as np

from steadyrank.compute.random import block_stream
from steadyrank.data.scores import position
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.max_t import MaxT, max_t, max_t_level, max_t_pvalues
from steadyrank.stats.pairs.result import all_pairs, pairs_with
from steadyrank.stats.pairs.sign_flips import Flips
from steadyrank.stats.pairs.tests import in_threads, paired_t
from steadyrank.stats.run_means import in_order, ranks_of


class Lead(NamedTuple):
    """The best row against the next, by the comparisons of the next row alone."""

    first: int
    second: int
    difference: float
    interval: np.ndarray
    """[2]; 0 is outside exactly where `significant`, where the next row could not be first."""
    significant: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Family(decisions.Placed):
    """Decisions about all pairs of rows (`runs`), or about all rows and a baseline."""

    runs: tuple[str, ...]
    alpha: float
    baseline: str | None
    values: np.ndarray
    """[row, unit]: the values of which all decisions are made."""
    rank: np.ndarray
    order: list[int]
    """Places of the rows, the best first; equal ones in the order of their names."""
    own: decisions.OwnDecisions | None
    """What each row's own comparisons decide about it; None with a baseline."""
    rank_set_simultaneous: np.ndarray
    """[row, 2]: the ranks that the decisions about all pairs leave to the rows."""
    letters: tuple[str, ...]
    """Rows that share a letter are not significantly different; empty with a baseline."""
    lead: Lead | None
    """The two best rows; None with a baseline."""
    pairs: np.ndarray
    """[pair, 2]: places of the two rows."""
    difference: np.ndarray
    interval: np.ndarray
    """[pair, 2]; 0 is outside exactly where `significant`. NaN where a limit is not bounded."""
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    significant: np.ndarray
    comparison_alpha: float
    """Level of one comparison that the first step of the correction amounts to."""
    n_patterns: int
    """Sign patterns behind the null distribution; 0 for two rows, which have Student's."""
    exact: bool
    """Whether these are all sign patterns."""
    seed: int

    def parts(self) -> dict[str, Any]:
        """Return the fields by name, for a result that has more of them."""
        return {field.name: getattr(self, field.name) for field in fields(Family)}

    def pair_rows(self, **columns: np.ndarray) -> Iterator[dict[str, Any]]:
        """Return one dictionary per pair, with more columns in front."""
        keys = ("difference", "interval", "pvalue", "pvalue_adjusted", "significant")
        columns |= {key: getattr(self, key) for key in keys}
        names, values = np.array(self.runs, object), [own.tolist() for own in columns.values()]
        for row in zip(*names[self.pairs].T.tolist(), *values, strict=True):
            yield dict(zip(("a", "b", *columns), row, strict=True))

    def method_words(self) -> str:
        """How pairs were decided."""
        if not self.n_patterns:
            return "corrected t"
        flips = "all sign patterns" if self.exact else f"{self.n_patterns:,} sign flips"
        against = f"all against {self.baseline}" if self.baseline else "all pairs"
        return f"corrected t, max-t over {len(self.pairs):,} comparisons, {against}, {flips}"


def family_of(
    values: np.ndarray, names: Sequence[str], baseline: str | None = None, **flips: Unpack[Flips]
) -> Family:
    """Return the decisions about rows of values [row, unit] without gaps."""
    m, alpha, means = len(names), flips.get("alpha", 0.05), values.mean(axis=1)
    pairs = all_pairs(m) if baseline is None else pairs_with(m, position(baseline, names, "model"))
    order = in_order(means, names)
    leads = [] if baseline is not None else [(order[0], order[1])]
    together, tests = max_t(values, pairs, leads=leads, **flips), paired_t(values, pairs)
    direction = np.sign(tests.difference)
    claimed = decisions.claims_of(direction, pairs, together.pvalue, means, alpha)
    by_row = decisions.own_claims(direction, pairs, together.own, means, alpha)
    own = decisions.own_decisions(pairs, by_row, means, order)
    wins = decisions.beaten(m, pairs, claimed)
    limits = tests.difference[:, None] + together.width * [-1.0, 1.0]
    letters = decisions.compact_letters(wins | wins.T, np.array(order)) if leads else ()
    return Family(
        runs=tuple(names),
        alpha=alpha,
        baseline=baseline,
        values=values,
        rank=ranks_of(means),
        order=order,
        own=own if leads else None,
        rank_set_simultaneous=decisions.rank_sets(wins),
        letters=tuple(letters or ()),
        lead=lead_of(means, leads[0], together, own) if leads else None,
        pairs=pairs,
        difference=tests.difference,
        interval=decisions.agreeing_intervals(limits, claimed, math.inf),
        pvalue=tests.pvalue,
        pvalue_adjusted=together.pvalue,
        significant=claimed != 0,
        comparison_alpha=max_t_level(tests.n, together.critical, alpha),
        n_patterns=together.n_patterns,
        exact=together.exact,
        seed=flips.get("seed", 0),
    )


def lead_of(
    means: np.ndarray, two: tuple[int, int], together: MaxT, own: decisions.OwnDecisions
) -> Lead:
    """Return the two best rows, with limits that agree with whether the second could be first."""
    first, second = two
    difference = float(means[first] - means[second])
    limits = difference + together.lead_width[0] * [-1.0, 1.0]
    significant = not own.could_be_first[second]
    agreed = decisions.agreeing_intervals(limits[None], np.array([int(significant)]), math.inf)[0]
    return Lead(first, second, difference, agreed, significant)


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
            pvalue = decisions.adjust(paired_t(drawn, pairs).pvalue, correction)
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
