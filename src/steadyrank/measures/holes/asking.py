"""Which unjudged documents to judge next: those that can still change most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.measures.holes.bound_kernels import sum_changes
from steadyrank.measures.holes.bounds import ideal_by_judged
from steadyrank.measures.holes.lists import Lists
from steadyrank.measures.holes.measures import HoledMeasure


class Ask(NamedTuple):
    """A document whose judgment would help, and how much."""

    topic: str
    document: str
    value: float


def documents_to_judge(
    lists: Lists, measure: HoledMeasure, undecided: np.ndarray, reach: np.ndarray, n: int
) -> tuple[Ask, ...]:
    """The n documents that can still change most; `undecided` [run, run] says which pairs count.

    A document's value is the sum over undecided pairs of |w_A - w_B| × the spread of its gain by
    the prior, over the topic's normaliser and the number of topics: about how far a pair's
    difference is uncertain because of it (Carterette, Allan & Sitaraman, SIGIR 2006,
    doi:10.1145/1148170.1148219). reach [hole, grade from 1 on] are chances. Documents of equal
    value stand by topic, then by id.
    """
    if lists.n_open == 0 or n == 0:
        return ()
    values = _values(lists, measure, undecided) * _spreads(measure, reach)
    least = np.sort(values)[-min(n, len(values))]
    topic, chosen = lists.topic_of_hole, np.flatnonzero((values > 0.0) & (values >= least))
    order = sorted((-values[i], topic[i], lists.documents[i]) for i in chosen.tolist())
    return tuple(Ask(lists.qrels.topics[t], name, float(-value)) for value, t, name in order[:n])


def _spreads(measure: HoledMeasure, reach: np.ndarray) -> np.ndarray:
    """[hole]: standard deviation of its gain."""
    steps = np.diff(measure.gains)
    mean = reach @ steps
    square = reach @ np.diff(measure.gains**2)
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))


def _values(lists: Lists, measure: HoledMeasure, undecided: np.ndarray) -> np.ndarray:
    """[hole]: the sum of |w_A - w_B| over undecided pairs, a mean over topics."""
    holes = lists.open
    weights = measure.weights(holes.ranks, lists.lengths.ravel()[holes.cells])
    order = np.argsort(holes.rows, kind="stable")
    blocks = np.searchsorted(holes.rows[order], np.arange(lists.n_open + 1))
    sums = sum_changes(blocks, (holes.cells // lists.n_topics)[order], weights[order], undecided)
    return np.asarray(
        sums / (lists.n_topics * ideal_by_judged(lists, measure)[lists.topic_of_hole])
    )
