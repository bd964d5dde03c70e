"""What a difference of two systems varies by, and what is best bought next.

The variance of a difference is 2 (st/n + a/(nK) + sg/L + stg/(nL) + ag/(nKL) + e/(nKLR)), with n
topics, K answers, L judges and R draws; what topics and judges do to all systems alike cancels.
The judges' part sg/L does not fall with topics, so that there are targets which no number of topics
reaches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from scipy.special import stdtrit

from steadyrank.errors import InputError, check_number
from steadyrank.stats.facets.components import GradedComponents, Sizes
from steadyrank.stats.interval import Interval

PARTS = {"system:topic": "topics", "answer": "answers", "system:judge": "judges"}
"""Whose share of a difference a component is; the rest falls with everything."""

MOST_ANSWERS, MOST_JUDGES = 20, 200
"""Numbers that an allocation tries."""

PRICED = ("topic", "answer", "judge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """Numbers of topics, answers and judges, what they cost, and the standard error they give."""

    topics: int
    answers: int
    judges: int
    standard_error: float
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """What to buy next."""

    doubled: dict[str, float]
    """The standard error with twice the topics, answers or judges."""
    target: float | None
    """The standard error that is wanted."""
    costs: dict[str, float] | None
    topics_needed: float | None
    """With these judges and answers; infinite where no number reaches the target."""
    judges_needed: int | None
    """The fewest with which some number of topics reaches the target."""
    cheapest: Purchase | None
    """By the costs, where some are given."""


def standard_error(g: GradedComponents, at: Sizes, *, fixed: bool = False) -> float:
    """Of the difference of two systems; with judges `fixed`, about these judges and no others."""
    return math.sqrt(g.total(_weights(g, at, fixed)))


def standard_error_interval(g: GradedComponents, at: Sizes, *, fixed: bool = False) -> Interval:
    """The interval of the same."""
    low, high = g.interval_of(_weights(g, at, fixed))
    return Interval(math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0)))


def _weights(g: GradedComponents, at: Sizes, fixed: bool) -> dict[str, float]:
    weights = g.difference_weights(at)
    return {name: w for name, w in weights.items() if not fixed or name != "system:judge"}


def difference_shares(g: GradedComponents, at: Sizes) -> dict[str, float]:
    """Of the variance of a difference: what topics, judges and answers have, and the rest.

    What is confounded counts for the first of its components: with one answer, topics have both.
    """
    weights = g.difference_weights(at)
    shares = dict.fromkeys(("topics", "judges", "answers", "rest"), 0.0)
    total = g.total(weights)
    for name, weight in weights.items():
        first = g.confounded.get(name, (name,))[0]
        share = weight * g.variance[name] / total if total > 0.0 else 0.0
        shares[PARTS.get(first, "rest")] += share
    return shares


def e_rho2(g: GradedComponents, at: Sizes) -> float:
    """Relative stability: system / (system + what may change the order)."""
    return _stability(g, 0.5 * g.total(g.difference_weights(at)))


def phi(g: GradedComponents, at: Sizes) -> float:
    """Absolute stability: system / (system + all that may change a mean score)."""
    return _stability(g, g.total(g.mean_weights(at)))


def _stability(g: GradedComponents, error: float) -> float:
    signal = g.variance["system"]
    return signal / (signal + error) if signal + error > 0.0 else 0.0


def topics_for(g: GradedComponents, at: Sizes, target: float) -> float:
    """The fewest topics with this standard error, answers and judges as given; maybe infinite."""
    once, limit = (g.total(_weights(g, replace(at, topics=n), False)) for n in (1, math.inf))
    room = target**2 - limit
    if room <= 0.0:
        return math.inf
    return max(1, math.ceil((once - limit) / room * (1.0 - 1e-12)))


def allocation(
    g: GradedComponents, *, target: float | None = None, costs: Mapping[str, float] | None = None
) -> Allocation:
    """What doubling each number buys, and how a target is reached, at the least cost if known.

    `costs` are of one topic, of one answer of one system, and of one grade by one judge; n topics
    with K answers of each of m systems and L judges cost n (topic + m K (answer + L judge)).
    """
    own = g.sizes
    if target is not None and not check_number("target", target) > 0.0:
        raise InputError(f"target must be a standard error above 0, got {target!r}")
    known = None if costs is None else _checked_costs(costs)
    doubled = {
        name: standard_error(g, replace(own, **{name: 2 * getattr(own, name)}))
        for name in ("topics", "answers", "judges")
        if name == "topics" or _can_grow(g, name)
    }
    reached: dict[str, Any] = {"topics_needed": None, "judges_needed": None, "cheapest": None}
    if target is not None:
        enough = (
            k
            for k in range(1, MOST_JUDGES + 1)
            if math.isfinite(topics_for(g, replace(own, judges=k), target))
        )
        reached["topics_needed"] = topics_for(g, own, target)
        reached["judges_needed"] = next(enough, None) if _can_grow(g, "judges") else None
        reached["cheapest"] = None if known is None else _cheapest(g, target, known)
    return Allocation(doubled=doubled, target=target, costs=known, **reached)


def _can_grow(g: GradedComponents, what: str) -> bool:
    """Whether the data say what more answers, or judges, would change."""
    if what == "answers":
        return g.sizes.answers > 1
    return "system:judge" in g.variance


def _checked_costs(costs: Mapping[str, float]) -> dict[str, float]:
    for name, cost in costs.items():
        if name not in PRICED:
            raise InputError(f"costs are of {', '.join(PRICED)}, got {name!r}")
        if not check_number(f"cost of {name}", cost) >= 0.0:
            raise InputError(f"the cost of {name} must be at least 0, got {cost!r}")
    if not any(costs.values()):
        raise InputError("all costs are 0: give some of topic, answer and judge a cost")
    return {name: float(costs.get(name, 0.0)) for name in PRICED}


def _cheapest(g: GradedComponents, target: float, costs: Mapping[str, float]) -> Purchase | None:
    """Over all numbers of judges and answers that the data say something about."""
    judges = range(1, MOST_JUDGES + 1) if _can_grow(g, "judges") else (round(g.sizes.judges),)
    answers = range(1, MOST_ANSWERS + 1) if _can_grow(g, "answers") else (1,)
    best: Purchase | None = None
    for k in answers:
        for own in judges:
            at = Sizes(topics=1, answers=k, judges=own, draws=g.sizes.draws)
            n = topics_for(g, at, target)
            if not math.isfinite(n):
                continue
            n = max(2, int(n))
            graded = k * (costs["answer"] + own * g.sizes.draws * costs["judge"])
            cost = n * (costs["topic"] + g.n_systems * graded)
            if best is None or cost < best.cost * (1.0 - 1e-12):
                error = standard_error(g, replace(at, topics=n))
                best = Purchase(topics=n, answers=k, judges=own, standard_error=error, cost=cost)
    return best


def judges_to_halve(n_judges: int, confidence: float = 0.95) -> int:
    """Judges with which an interval over judges is half as wide as with these.

    An interval over L judges is t(L - 1) sqrt(sg / L) wide on either side.

    >>> [judges_to_halve(n) for n in (2, 3, 5)]
    [3, 5, 13]
    """

    def width(n: int) -> float:
        return float(stdtrit(n - 1.0, 0.5 + 0.5 * confidence)) / math.sqrt(n)

    wanted, n = width(n_judges) / 2.0, n_judges
    while width(n) > wanted * (1.0 + 1e-3):
        n += 1
    return n
