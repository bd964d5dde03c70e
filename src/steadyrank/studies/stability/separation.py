"""Whether topics, and assessors, can still separate the best runs.

**Topics**: a pair of runs that could be first is separable if a paired t test on these topics would
find the observed difference with a power of .8, at the level of a single comparison among all
pairs. No two of these runs differ significantly, so few pairs are separable, or none; the number of
topics that half of the pairs require says how much is lacking.

**Assessors**: the order of documents by another assessor's grades is ranked as a run by these
judgments. Runs above it agree with the judgments better than another person does: comparisons
between them depend on this one assessor.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from steadyrank.compute.memory import check_pairs
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.qrels import judgments_of
from steadyrank.data.run import run_from_dict
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, SteadyrankWarning
from steadyrank.measures.evaluate import evaluate
from steadyrank.measures.names import parse_measure
from steadyrank.measures.ties import has_expectation
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.decisions import Decided
from steadyrank.stats.pairs.max_t import max_t, max_t_level
from steadyrank.stats.pairs.result import all_pairs, pairs_with
from steadyrank.stats.pairs.tests import moments, paired_t
from steadyrank.stats.planning.design import smallest_difference, topics_for_range
from steadyrank.stats.run_means import SAME_MEAN, adjusted_means, in_order

POWER = 0.8
PAIR_BYTES = 400
"""Memory for a pair of runs, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """The pairs of runs that could be first and that a test on these topics would separate."""

    runs: tuple[str, ...]
    """Runs that could be first, best first."""
    n_pairs: int
    n_separable: int
    topics_needed: float
    """Number of topics for half of the pairs; infinite if their differences are 0, NaN if only one
    run could be first."""
    comparison_alpha: float
    """Level of a single comparison."""

    @property
    def share(self) -> float:
        """Share of separable pairs; NaN if only one run could be first."""
        return self.n_separable / self.n_pairs if self.n_pairs else math.nan


def separation(decided: Decided, n_topics: int) -> Separation | None:
    """Return how far decisions about all pairs separate the best; None with a baseline."""
    first = np.asarray(decided.could_be_first)
    inside = first[decided.pairs].all(axis=1)
    least = decided.smallest_difference[inside]
    n = int(first.sum())
    if not n or len(least) != math.comb(n, 2) or np.isnan(least).any():
        return None
    # In units of the smallest difference that is found, which is 0 for a pair without spread.
    reached = np.abs(decided.difference[inside]) / np.maximum(least, SAME_MEAN)
    median = np.sort(reached)[len(reached) // 2] if len(reached) else math.nan
    best = [run for run in np.argsort(-decided.mean, kind="stable") if first[run]]
    return Separation(
        runs=tuple(decided.runs[run] for run in best),
        n_pairs=int(inside.sum()),
        n_separable=int((reached >= 1.0).sum()),
        topics_needed=_topics_needed(float(median), n_topics, decided.comparison_alpha),
        comparison_alpha=decided.comparison_alpha,
    )


def _topics_needed(reached: float, n_topics: int, alpha: float) -> float:
    """Return the topics for a difference of `reached` times the smallest one that is found."""
    if not reached > SAME_MEAN or alpha <= 0.0:
        return math.nan if math.isnan(reached) else math.inf
    effect = reached * float(
        smallest_difference(1.0, n_topics, alpha=alpha, power=POWER, corrected=True)
    )
    return topics_for_range(effect, 0.5, paired=True, alpha=alpha, beta=1.0 - POWER, corrected=True)


def decide(runs: tuple[str, ...], matrix: np.ndarray, alpha: float, seed: int) -> Decided:
    """Return decisions about all pairs by studentized sign flips."""
    check_pairs(len(runs), PAIR_BYTES)
    pairs, means = all_pairs(len(runs)), adjusted_means(matrix)
    found, together = moments(matrix, pairs), max_t(matrix, pairs, alpha=alpha, seed=seed)
    level = max_t_level(found.n, together.critical, alpha)
    claimed = decisions.own_claims(np.sign(found.mean), pairs, together.own, means, alpha)
    own = decisions.own_decisions(pairs, claimed, means, in_order(means, runs))
    least = np.full(len(pairs), math.inf)
    if level > 0.0:
        least = smallest_difference(found.sd, found.n, alpha=level, power=POWER, corrected=True)
    made = SimpleNamespace(
        runs=runs,
        pairs=pairs,
        comparison_alpha=level,
        could_be_first=own.could_be_first,
        difference=found.mean,
        smallest_difference=least,
        mean=means,
    )
    return cast(Decided, made)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessorRank:
    """The rank of the order of documents by another assessor's grades among the runs."""

    judge: str
    mean: float
    """Mean score over all orders of documents with the same grade."""
    rank: int
    n_runs: int
    """Number of runs without this order."""
    n_topics: int
    """Number of topics that both assessors judged."""
    above: tuple[str, ...]
    """Runs with a higher mean on these topics, best first."""
    significantly_above: tuple[str, ...]
    """Those significantly above, by paired t tests with Holm's correction over all runs."""


def assessor_ranks(
    scores: Scores, measure: str, qrels: Any, judges: Mapping[str, Any], alpha: float
) -> tuple[AssessorRank, ...]:
    """Return the rank of each judge's order among the runs on the common topics."""
    if not has_expectation(parse_measure(measure)):
        raise InputError(
            f"{measure} has no known mean over the orders of documents of the same grade: omit the "
            "judges, or choose another measure"
        )
    judged = judgments_of(qrels)
    return tuple(
        _assessor_rank(name, scores, measure, judged, judgments_of(source), alpha)
        for name, source in judges.items()
    )


def _assessor_rank(
    name: str, scores: Scores, measure: str, qrels: Qrels, other: Qrels, alpha: float
) -> AssessorRank:
    shared = [topic for topic in scores.topics if topic in other.position]
    if len(shared) < 2:
        raise InputError(
            f"judge {name} judged {len(shared)} of the {len(scores.topics)} topics: comparing its "
            "order of documents with runs requires at least two"
        )
    order = run_from_dict({topic: other.judgments(topic) for topic in shared}, name=name)
    with warnings.catch_warnings():  # they repeat those about the runs
        warnings.simplefilter("ignore", SteadyrankWarning)
        by_topic = evaluate([order], qrels, measure, ties="average").select(topics=shared)
    matrix = np.concatenate([scores.select(topics=shared).matrix(measure), by_topic.matrix()])
    matrix[-1, np.isnan(matrix[:-1]).all(axis=0)] = np.nan  # topics without a score of any run
    n_runs, means = len(scores.runs), adjusted_means(matrix)
    tests = paired_t(matrix, pairs_with(n_runs + 1, n_runs))
    shown = (decisions.adjust(tests.pvalue, "holm") <= alpha) & (tests.difference > 0.0)
    above = [r for r in np.argsort(-means, kind="stable") if means[r] > means[-1] + SAME_MEAN]
    return AssessorRank(
        judge=name,
        mean=float(means[-1]),
        rank=1 + len(above),
        n_runs=n_runs,
        n_topics=len(shared),
        above=tuple(scores.runs[run] for run in above),
        significantly_above=tuple(scores.runs[run] for run in above if shown[run]),
    )
