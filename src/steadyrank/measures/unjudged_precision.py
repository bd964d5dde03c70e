"""How far could documents that nobody judged move the difference of two average precisions?

AP is S / R with S the sum over relevant documents of (relevant documents up to it) / rank. That
number lies between what is judged relevant there and the same with all unjudged documents above,
so that the difference of two S is bounded by a sum over relevant documents, and for a given number
of relevant ones among the unjudged by their largest terms. All numbers are tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.data.qrels import JudgedRun, Qrels
from steadyrank.measures.scoring import Recipe


@dataclass(frozen=True, slots=True, eq=False)
class _Terms:
    """What documents add to S of one run if they are relevant: at least, and at most."""

    least: np.ndarray
    most: np.ndarray


def precision_bounds(
    judged: tuple[JudgedRun, JudgedRun],
    topic: np.ndarray,
    ranks: tuple[np.ndarray, np.ndarray],
    qrels: Qrels,
    recipe: Recipe,
) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest difference, second - first, on every topic of the qrels.

    `topic` and `ranks` are those of the unjudged documents, a rank being 0 where a run lacks one.
    """
    owner = np.repeat(np.arange(len(qrels.topics)), qrels.sizes)
    relevant = np.flatnonzero(qrels.grades >= recipe.level)
    topics = np.concatenate([owner[relevant], topic])
    is_open = np.arange(len(topics)) >= len(relevant)
    first, second = (
        _terms(
            np.concatenate([_ranks_of(run, relevant, len(owner)), holes]),
            topics,
            is_open,
            recipe.cutoff,
        )
        for run, holes in zip(judged, ranks, strict=True)
    )
    n_relevant = np.bincount(owner[relevant], minlength=len(qrels.topics))
    high = _largest(second.most - first.least, topics, is_open, n_relevant)
    low = -_largest(first.most - second.least, topics, is_open, n_relevant)
    return np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0)


def _ranks_of(run: JudgedRun, rows: np.ndarray, n_rows: int) -> np.ndarray:
    """The ranks of these documents of the qrels; 0 where the run lacks one."""
    ranks = np.zeros(n_rows, np.int64)
    ranks[run.rows] = run.ranks
    return np.asarray(ranks[rows])


def _terms(ranks: np.ndarray, topics: np.ndarray, is_open: np.ndarray, cutoff: int) -> _Terms:
    there = np.flatnonzero((ranks > 0) & (ranks <= cutoff))
    order = there[np.lexsort((ranks[there], topics[there]))]
    starts = np.searchsorted(topics[order], topics[order])
    holes, known = is_open[order].astype(np.int64), (~is_open[order]).astype(np.int64)
    open_above, known_above = (_before(part, starts) for part in (holes, known))
    least, most = np.zeros((2, len(ranks)))
    least[order] = (known_above + 1) / ranks[order]
    most[order] = (known_above + 1 + open_above) / ranks[order]
    return _Terms(least, most)


def _before(counts: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Of how many it is true before each entry of its topic, which begins at `starts`."""
    total = np.concatenate([[0], np.cumsum(counts)])
    return np.asarray(total[:-1] - total[starts])


def _largest(
    terms: np.ndarray, topics: np.ndarray, is_open: np.ndarray, n_relevant: np.ndarray
) -> np.ndarray:
    """The largest (sum of terms) / R of each topic over the choices of relevant open documents."""
    known = np.bincount(topics[~is_open], terms[~is_open], len(n_relevant))
    best = np.divide(known, n_relevant, out=np.zeros(len(known)), where=n_relevant > 0)
    holes = np.flatnonzero(is_open)
    order = holes[np.lexsort((-terms[holes], topics[holes]))]
    own = topics[order]
    starts = np.searchsorted(own, own)
    total = np.concatenate([[0.0], np.cumsum(terms[order])])
    sums = known[own] + total[1:] - total[starts]
    chosen = np.arange(len(own)) - starts + 1
    np.maximum.at(best, own, sums / (n_relevant[own] + chosen))
    return np.asarray(best)
