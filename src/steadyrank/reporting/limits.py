"""What limits an evaluation most: topics, documents, judgments, instances or measures?

One quantity for all of them: how often two runs come out the other way round when one thing is
changed and everything else stays. Each study that was run has its own figure for it; what was not
studied is named as such.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.data.scores import Scores
from steadyrank.stats.run_means import SAME_MEAN, adjusted_means
from steadyrank.studies.agree.result import AgreeResult
from steadyrank.studies.holes.result import HolesResult
from steadyrank.studies.material import named_systems
from steadyrank.studies.simulate.study import SimulateResult
from steadyrank.studies.topics.result import TopicsResult
from steadyrank.words import listed, percent

ALIKE = 0.8
"""Share of the largest from which on another limits the evaluation about as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How often pairs of runs are reversed when one thing is changed."""

    what: str
    """What was changed, in the plural."""
    share: float
    """Mean over the pairs."""
    how: str
    """Where they are reversed, behind a share of pairs."""


def limits(results: Mapping[str, Any]) -> list[Limit]:
    """What is known, the largest share first."""
    measure = results["compare"][0].measure
    known = [
        limit
        for name, of in _LIMITS.items()
        if name in results and (limit := of(results, measure)) is not None
    ]
    return sorted(known, key=lambda limit: -limit.share)


def limit_words(results: Mapping[str, Any]) -> str:
    """The largest, beside the others, and what was not examined."""
    known = limits(results)
    if not known:
        return ""
    first, *others = known
    share = f"{percent(first.share)} of the pairs of runs change their order {first.how}"
    unknown = [what for what in ALL if what not in {limit.what for limit in known}]
    not_examined = f"; {listed(unknown)} were not examined" if unknown else ""
    if not others:
        return f"{first.what.capitalize()}, of what was examined: {share}{not_examined}."
    beside = listed([f"{percent(limit.share)} {limit.how}" for limit in others])
    close = [limit.what for limit in known if limit.share >= ALIKE * first.share]
    start = listed(close).capitalize() + (", about equally" if len(close) > 1 else "")
    return f"{start}: {share}, against {beside}{not_examined}."


def _of_topics(results: Mapping[str, Any], measure: str) -> Limit | None:
    topics: TopicsResult = results["topics"]
    how = f"on {topics.n_topics:,} other topics"
    return _limit("topics", _mean(topics.predictive), how)


def _of_documents(results: Mapping[str, Any], measure: str) -> Limit | None:
    simulated: SimulateResult = results["simulate"]
    how = f"in simulated document collections{_by(simulated.measure, measure)}"
    return _limit("documents", simulated.error_rate.overall, how)


def _of_judgments(results: Mapping[str, Any], measure: str) -> Limit | None:
    holes: HolesResult = results["holes"]
    how = f"in likely completions of the judgments{_by(holes.measure, measure)}"
    return _limit("judgments", _mean(reversed_by_judgments(holes)), how)


def reversed_by_judgments(holes: HolesResult) -> np.ndarray:
    """Per pair, the share of drawn completions that reverse it; NaN where there is no order."""
    shares = [
        math.nan
        if pair.sign_share is None or abs(pair.difference) <= SAME_MEAN
        else (1.0 - pair.sign_share if pair.difference > 0 else pair.sign_share)
        for pair in holes.pairs
    ]
    return np.array(shares, float)


def _of_instances(results: Mapping[str, Any], measure: str) -> Limit | None:
    share = reversed_by_instances(results["evaluate"])
    return _limit("instances", share, "when single instances of the systems are compared")


def reversed_by_instances(scores: Scores) -> float:
    """How often one instance of a system and one of another contradict the systems' means.

    Mean over the pairs of systems of which one has several instances.
    """
    means = adjusted_means(scores.matrix(scores.measures[0]))
    groups = [means[list(places)] for places in named_systems(scores).values()]
    shares = [
        _contradicted(a, b)
        for i, a in enumerate(groups)
        for b in groups[:i]
        if max(len(a), len(b)) > 1
    ]
    return _mean(np.array(shares, float))


def _contradicted(a: np.ndarray, b: np.ndarray) -> float:
    ahead = float(a.mean() - b.mean())
    if not abs(ahead) > SAME_MEAN:
        return math.nan
    gaps = (a[:, None] - b[None, :]) * math.copysign(1.0, ahead)
    return float(np.mean(gaps < -SAME_MEAN))


def _of_measures(results: Mapping[str, Any], measure: str) -> Limit | None:
    agree: AgreeResult = results["agree"]
    # Of pairs without ties, tau is the share in the same order less that in the other.
    tau = agree.likeness.tau[0, 1:]
    return _limit("measures", _mean((1.0 - tau) / 2.0), "under another of the measures")


def _by(measure: str, ranking: str) -> str:
    """By which measure, where it is not the one that ranks the runs."""
    return "" if measure == ranking else f" (by {measure})"


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def _limit(what: str, share: float, how: str) -> Limit | None:
    return None if math.isnan(share) else Limit(what=what, share=share, how=how)


_LIMITS: Mapping[str, Callable[[Mapping[str, Any], str], Limit | None]] = {
    "topics": _of_topics,
    "simulate": _of_documents,
    "holes": _of_judgments,
    "instances": _of_instances,
    "agree": _of_measures,
}

ALL = ("topics", "documents", "judgments", "instances", "measures")
"""All that a conclusion may depend on."""
