"""What `topics` says of a pair of runs: whether it is reversed, and how many topics would show it.

A number of topics always comes with its interval; where only a lower bound is known, or no number
exists, that is said instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steadyrank.stats.pairs.result import NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE
from steadyrank.words import MISSING, at_least, percent, size

SHOWN = "significant"
"""In place of a number of topics that would show a difference, where these topics do."""

CONFIDENCE = 0.95
"""Of the intervals of numbers of topics."""


def pair_words(row: Mapping[str, Any], measure: str, test: str) -> str:
    """What a second experiment may do to a pair, and what it takes to show the difference."""
    a, b, gap, n = row["a"], row["b"], row["difference"], row["n"]
    if row["flag"] == TOO_FEW:
        return f"{a} and {b} share {n} topics: too few to say anything."
    if row["flag"] == NO_DIFFERENCE or gap == 0.0:
        return (
            f"{a} and {b} have the same mean {measure} on {n} topics: there is no order to reverse."
        )
    if gap < 0:
        a, b = b, a
    start = f"{a} is above {b} by {abs(gap):.4f} mean {measure} on {n} topics. "
    if row["flag"] == ZERO_VARIANCE:
        return f"{start}The difference is the same on every topic: nothing reverses it."
    chance = percent(row["expected_reversal"])
    shown = "" if row["significant"] else f" To show it, {test} requires {needed_words(row)}."
    return f"{start}A replication on {n} new topics reverses it with probability {chance}.{shown}"


def needed_words(row: Mapping[str, Any]) -> str:
    """The topics that a pair requires: a number with its interval, a lower bound, or none.

    >>> needed_words({"topics_needed": 81, "topics_needed_interval": (24, 8404)})
    '81 topics (95% interval 24 to 8,404)'
    >>> needed_words({"topics_needed": None, "topics_needed_interval": (51, None)})
    'at least 51 topics (95% confidence; no upper limit, as the true difference may be 0)'
    >>> needed_words({"topics_needed": None, "topics_needed_interval": (None, None)})
    'no number of topics'
    """
    needed, (low, high) = row["topics_needed"], row["topics_needed_interval"]
    sure = f"{CONFIDENCE:.0%}"
    if low is None:
        return "no number of topics"
    if needed is None:
        limit = f"{sure} confidence; no upper limit, as the true difference may be 0"
        return f"{at_least(low)} topics ({limit})"
    return f"{size(needed)} topics ({sure} interval {size(low)} to {size(high)})"


def needed_figure(row: Mapping[str, Any]) -> str:
    """The same for a cell of a table.

    >>> row = {"flag": "", "significant": False, "topics_needed_interval": (24, 8404)}
    >>> needed_figure(row | {"topics_needed": 81})
    '81 (24 to 8,404)'
    >>> needed_figure(row | {"topics_needed": None, "topics_needed_interval": (51, None)})
    'at least 51'
    """
    if row["significant"]:
        return SHOWN
    needed, (low, high) = row["topics_needed"], row["topics_needed_interval"]
    if low is None:
        return MISSING if row["flag"] == TOO_FEW else "none"
    return at_least(low) if needed is None else f"{size(needed)} ({size(low)} to {size(high)})"
