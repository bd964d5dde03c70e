"""What limits an evaluation most: topics, documents, judgments, judges, instances or measures?

One quantity for all of them: the probability that a pair of runs is ordered otherwise in one fresh
draw of one thing, everything else staying as it is; its mean over the pairs is the share of pairs
to expect. Ties in the draw count half, and pairs without an order are left out. What has no section
on the page is named as not examined.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.data.scores import Scores
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.run_means import SAME_MEAN, adjusted_means
from steadyrank.studies.holes.result import HolesResult
from steadyrank.studies.judges.result import JudgesResult
from steadyrank.studies.material import named_systems
from steadyrank.studies.simulate.study import SimulateResult
from steadyrank.studies.topics.result import TopicsResult
from steadyrank.words import listed, percent

ALIKE = 0.8
"""Share of the largest from which on another limits the evaluation about as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How likely a pair of runs is ordered otherwise in a fresh draw of one thing."""

    what: str
    """What was drawn, in the plural."""
    share: float
    """Mean over the pairs."""
    how: str
    """What was drawn, behind the share."""


def limits(results: Mapping[str, Any]) -> list[Limit]:
    """What is known, the largest share first."""
    known = [
        Limit(what=what, share=share, how=how)
        for what, (study, of) in _LIMITS.items()
        if study in results
        for share, how in [of(results)]
        if not math.isnan(share)
    ]
    return sorted(known, key=lambda limit: -limit.share)


def limit_words(results: Mapping[str, Any]) -> str:
    """The largest, beside the others, and what was not examined."""
    known = limits(results)
    if not known:
        return ""
    first, *others = known
    share = f"{percent(first.share)} of the pairs of runs change their order {first.how}"
    if len(results["compare"][0].runs) == 2:
        share = f"the two runs change their order with probability {percent(first.share)} "
        share += first.how
    unknown = [what for what, (study, _) in _LIMITS.items() if study not in results]
    not_examined = f"; {listed(unknown)} were not examined" if unknown else ""
    if not others:
        return f"{first.what.capitalize()}, of what was examined: {share}{not_examined}."
    beside = listed([f"{percent(limit.share)} {limit.how}" for limit in others])
    close = [limit.what for limit in known if limit.share >= ALIKE * first.share]
    start = listed(close).capitalize() + (", about equally" if len(close) > 1 else "")
    return f"{start}: {share}, against {beside}{not_examined}."


def _of_topics(results: Mapping[str, Any]) -> tuple[float, str]:
    topics: TopicsResult = results["topics"]
    has_order = np.abs(topics.variances.difference) > SAME_MEAN
    share = _mean(topics.expected_reversal[has_order])
    return share, f"on {topics.n_topics:,} other topics"


def _of_documents(results: Mapping[str, Any]) -> tuple[float, str]:
    simulated: SimulateResult = results["simulate"]
    share = math.nan if simulated.prediction is None else simulated.prediction.swap_share
    return share, f"in a second document collection{_by(simulated.measure, results)}"


def _of_judgments(results: Mapping[str, Any]) -> tuple[float, str]:
    holes: HolesResult = results["holes"]
    how = f"in a likely completion of the judgments{_by(holes.measure, results)}"
    return _mean(reversed_by_judgments(holes)), how


def reversed_by_judgments(holes: HolesResult) -> np.ndarray:
    """Per pair, the share of drawn completions that reverse it; NaN where there is no order."""
    shares = [
        math.nan
        if pair.sign_share is None or abs(pair.difference) <= SAME_MEAN
        else (1.0 - pair.sign_share if pair.difference > 0 else pair.sign_share)
        for pair in holes.pairs
    ]
    return np.array(shares, float)


def _of_judges(results: Mapping[str, Any]) -> tuple[float, str]:
    """People's order on their topics, against that of one judge on the same."""
    found: JudgesResult = results["judges"]
    shares = [
        _turned(found.human.difference, judge.on_human_topics.difference) for judge in found.judges
    ]
    return _mean(np.array(shares)), "by another judge"


def _of_instances(results: Mapping[str, Any]) -> tuple[float, str]:
    return reversed_by_instances(results["evaluate"]), "with another instance of each system"


def reversed_by_instances(scores: Scores) -> float:
    """How often two systems, an instance of each, are ordered otherwise by two other instances.

    Mean over the pairs of systems of which one has several instances.
    """
    means = adjusted_means(scores.matrix(scores.measures[0]))
    groups = [means[list(places)] for places in named_systems(scores).values()]
    shares = [
        _contradicted(a, b) for a, b in itertools.combinations(groups, 2) if max(len(a), len(b)) > 1
    ]
    return _mean(np.array(shares, float))


def _contradicted(a: np.ndarray, b: np.ndarray) -> float:
    """Over all draws of an instance of each and of another of each: are they ordered otherwise?

    A system with one instance has the same one again. With signs s[i, j] of the differences, it is
    the mean of (1 - s[i, j] s[k, l]) / 2 over i other than k and j other than l.
    """
    signs = _signs(a[:, None] - b[None, :])
    if not signs.any():
        return math.nan
    again, n = signs.sum() ** 2, 1
    for axis, size in enumerate(signs.shape):
        if size > 1:
            n *= size * (size - 1)
            again -= (signs.sum(axis=1 - axis) ** 2).sum()
    if min(signs.shape) > 1:
        again += (signs**2).sum()  # taken off twice
    return float(0.5 - 0.5 * again / n)


def _of_measures(results: Mapping[str, Any]) -> tuple[float, str]:
    scores: Scores = results["evaluate"]
    first, *others = (_differences(scores, measure) for measure in scores.measures)
    share = _mean(np.array([_turned(first, other) for other in others]))
    n = len(scores.measures)
    return share, f"under another of the {n} measures" if n > 2 else f"by {scores.measures[-1]}"


def _differences(scores: Scores, measure: str) -> np.ndarray:
    """Of the means of all pairs of runs."""
    means = adjusted_means(scores.matrix(measure))
    a, b = all_pairs(len(means)).T
    return np.asarray(means[a] - means[b])


def _turned(here: np.ndarray, there: np.ndarray) -> float:
    """Share of the pairs with an order here that have the other one there."""
    has_order = (np.abs(here) > SAME_MEAN) & ~np.isnan(there)
    return _mean(0.5 - 0.5 * (_signs(here) * _signs(there))[has_order])


def _signs(differences: np.ndarray) -> np.ndarray:
    """1, -1, or 0 for equal means."""
    return np.where(np.abs(differences) > SAME_MEAN, np.sign(differences), 0.0)


def _by(measure: str, results: Mapping[str, Any]) -> str:
    """By which measure, where it is not the one that ranks the runs."""
    return "" if measure == results["compare"][0].measure else f" (by {measure})"


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


_LIMITS: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], tuple[float, str]]]] = {
    "topics": ("topics", _of_topics),
    "documents": ("simulate", _of_documents),
    "missing judgments": ("holes", _of_judgments),
    "judges": ("judges", _of_judges),
    "instances": ("instances", _of_instances),
    "measures": ("agree", _of_measures),
}
"""All that a conclusion may depend on: the study that examines it, and its share."""
