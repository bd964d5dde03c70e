"""The order of topics and runs that studies work in: by name, numbers in names by their size.

In which order lines stand in a file, or files on a command line, says nothing about systems.
Random numbers meet topics and runs by their place, and sums are rounded in the order in which
they are taken: with an order of our own, neither can change a result.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steadyrank.data.qrels import Qrels
from steadyrank.data.scores import Scores

_NUMBERS = re.compile(r"([0-9]+)")

_Part = str | tuple[int, str]


def natural_key(name: str) -> tuple[list[_Part], str]:
    """What sorts names as people do: 2 before 10, and 02 beside 2.

    >>> sorted(["10", "2", "t10", "t9", "02"], key=natural_key)
    ['02', '2', '10', 't9', 't10']
    """
    parts: list[_Part] = list(_NUMBERS.split(name))
    # Numbers by their digits: int refuses very long ones.
    for place in range(1, len(parts), 2):
        digits = str(parts[place]).lstrip("0")
        parts[place] = (len(digits), digits)
    return parts, name


def order_by_name(names: Sequence[str]) -> np.ndarray:
    """Where the names stand, smallest name first.

    >>> order_by_name(["b10", "b9", "a"]).tolist()
    [2, 1, 0]
    """
    return np.array(_places_in_order(tuple(names)), np.int64)


@functools.lru_cache(maxsize=32)
def _places_in_order(names: tuple[str, ...]) -> list[int]:
    """Where the names stand; the same judgments are met again with every run that is scored."""
    keys = [natural_key(name) for name in names]
    return sorted(range(len(names)), key=keys.__getitem__)


def places_by_name(names: Sequence[str]) -> np.ndarray:
    """The place of each name among all of them, which `order_by_name` inverts.

    >>> places_by_name(["c", "a", "b"]).tolist()
    [2, 0, 1]
    """
    return np.asarray(np.argsort(order_by_name(names)))


def scores_in_order(scores: Scores, *, runs: bool = False) -> Scores:
    """The scores with topics in order; runs too, for results that do not list them."""
    topics = order_by_name(scores.topics)
    rows = order_by_name(scores.runs) if runs else np.arange(len(scores.runs))
    if _is_sorted(topics) and _is_sorted(rows):
        return scores
    return scores.select(
        topics=[scores.topics[t] for t in topics], runs=[scores.runs[r] for r in rows]
    )


def qrels_in_order(qrels: Qrels) -> Qrels:
    """The judgments with topics in order."""
    order = order_by_name(qrels.topics)
    if _is_sorted(order):
        return qrels
    owner = np.repeat(np.argsort(order), qrels.sizes)
    rows = np.argsort(owner, kind="stable")
    return replace(
        qrels,
        topics=tuple(qrels.topics[t] for t in order),
        blocks=np.concatenate([[0], np.cumsum(qrels.sizes[order])]).astype(np.int64),
        documents=qrels.documents.take(rows),
        grades=qrels.grades[rows],
    )


def _is_sorted(order: np.ndarray) -> bool:
    return bool((np.diff(order) > 0).all())
