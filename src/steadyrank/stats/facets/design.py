"""The error of a difference of two systems, and whether to add topics, answers or judges.

The variance of a difference is 2 (st/n + a/(nK) + sg/L + stg/(nL) + ag/(nKL) + e/(nKLR)), with n
topics, K answers, L judges and R draws; effects that all systems share cancel. The judges' part
sg/L does not fall with topics, so that no number of topics reaches some targets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from steadyrank.errors import InputError, bad_value, check_number
from steadyrank.stats.facets.components import GradedComponents, Sizes
from steadyrank.stats.planning.design import whole_size

PARTS = {"system:topic": "topics", "answer": "answers", "system:judge": "judges"}
"""Component to the facet whose share it is; the others fall with every number."""

MOST_ANSWERS, MOST_JUDGES = 20, 200
"""Largest numbers that an allocation tries."""

PRICED = ("topic", "answer", "judge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """Numbers of topics, answers and judges, with their cost and their standard error."""

    topics: int
    answers: int
    judges: int
    standard_error: float
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """Numbers of topics, answers and judges for a target."""

    doubled: dict[str, float]
    """Standard error with twice the topics, answers or judges."""
    target: float | None
    """Requested standard error."""
    costs: dict[str, float] | None
    topics_needed: float | None = None
    """Number of topics with these judges and answers; infinite if none reaches the target."""
    judges_needed: int | None = None
    """Fewest judges with which some number of topics reaches the target."""
    cheapest: Purchase | None = None
    """The cheapest numbers, if costs are known."""


def standard_error(g: GradedComponents, at: Sizes, *, fixed: bool = False) -> float:
    """Return the standard error of a difference; with judges `fixed`, only about these judges."""
    weights = g.difference_weights(at)
    return math.sqrt(g.total(weights | ({"system:judge": 0.0} if fixed else {})))


def difference_shares(g: GradedComponents, at: Sizes) -> dict[str, float]:
    """Return the shares of topics, judges, answers and the rest in the variance of a difference.

    Confounded components count for the first of them: with one answer, for topics.
    """
    weights = g.difference_weights(at)
    shares = dict.fromkeys(("topics", "judges", "answers", "rest"), 0.0)
    total = g.total(weights) or 1.0
    for name, weight in weights.items():
        shares[PARTS.get(g.first(name), "rest")] += weight * g.variance[name] / total
    return shares


def topics_for(g: GradedComponents, at: Sizes, target: float) -> float:
    """Return the fewest topics with this standard error, given answers and judges; may be inf."""
    once, limit = (standard_error(g, replace(at, topics=n)) ** 2 for n in (1, math.inf))
    room = target**2 - limit
    if room <= 0.0:
        return math.inf
    return int(whole_size((once - limit) / room))


def allocation(
    g: GradedComponents, *, target: float | None = None, costs: Mapping[str, float] | None = None
) -> Allocation:
    """Return the effect of doubling each number, and numbers for a target, cheapest if possible.

    `costs` are those of one topic, one answer of one system, and one grade by one judge; n topics
    with K answers of each of m systems and L judges cost n (topic + m K (answer + L judge)).
    """
    own, known = g.sizes, None if costs is None else _checked_costs(costs)
    if target is not None and not check_number("target", target) > 0.0:
        raise bad_value("target", "be a standard error above 0", target)
    # Other numbers of answers and judges require data with several of them.
    judges = range(1, MOST_JUDGES + 1) if "system:judge" in g.variance else ()
    answers = range(1, MOST_ANSWERS + 1) if own.answers > 1 else ()
    grown = ["topics", *(["answers"] if answers else []), *(["judges"] if judges else [])]
    doubled = {
        name: standard_error(g, replace(own, **{name: 2 * getattr(own, name)})) for name in grown
    }
    if target is None:
        return Allocation(doubled=doubled, target=None, costs=known)
    tried = [
        replace(own, answers=k, judges=judged)
        for k in answers or (round(own.answers),)
        for judged in judges or (round(own.judges),)
    ]
    bought = [] if known is None else [_purchase(g, at, target, known) for at in tried]
    enough = (k for k in judges if topics_for(g, replace(own, judges=k), target) < math.inf)
    return Allocation(
        doubled=doubled,
        target=target,
        costs=known,
        topics_needed=topics_for(g, own, target),
        judges_needed=next(enough, None),
        cheapest=min(filter(None, bought), key=lambda one: one.cost, default=None),
    )


def _checked_costs(costs: Mapping[str, float]) -> dict[str, float]:
    for name, cost in costs.items():
        if name not in PRICED:
            raise InputError(f"costs are of {', '.join(PRICED)}, got {name!r}")
        if not check_number(f"cost of {name}", cost) >= 0.0:
            raise InputError(f"the cost of {name} must be at least 0, got {cost!r}")
    if not any(costs.values()):
        raise InputError("all costs are 0: give some of topic, answer and judge a cost")
    return {name: float(costs.get(name, 0.0)) for name in PRICED}


def _purchase(
    g: GradedComponents, at: Sizes, target: float, costs: Mapping[str, float]
) -> Purchase | None:
    """Return the fewest topics that reach the target, with their cost, or None."""
    n = max(2.0, topics_for(g, at, target))
    if not math.isfinite(n):
        return None
    graded = at.answers * (costs["answer"] + at.judges * at.draws * costs["judge"])
    return Purchase(
        topics=int(n),
        answers=int(at.answers),
        judges=int(at.judges),
        standard_error=standard_error(g, replace(at, topics=n)),
        cost=n * (costs["topic"] + g.n_systems * graded),
    )
