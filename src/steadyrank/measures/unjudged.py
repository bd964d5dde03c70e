"""How far could documents that nobody judged move the difference of two runs?

For anyone who compares runs on judgments that are not complete. An unjudged document may have any
grade, the same in both rankings. Only documents that a measure sees, those above its cutoff in one
of the rankings, are completed.

AP is S / R with S the sum over relevant documents of (relevant documents up to it) / rank. That
number lies between what is judged relevant there and the same with all unjudged documents above,
so that the difference of two S is bounded by a sum over relevant documents, and for a given number
of relevant ones among the unjudged by their largest terms. All numbers are tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.data.qrels import Qrels
from steadyrank.data.run import Run
from steadyrank.measures.scoring import Recipe, find_judged_documents

LINEAR = ("P", "RBP")
"""Measures that are weighted sums of gains: a document's weight depends on its rank alone."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DifferenceBounds:
    """The lowest and the highest difference of each topic, whatever grades unjudged ones have."""

    low: np.ndarray
    high: np.ndarray
    is_exact: bool
    """Whether completions attain them; else no completion lies beyond them."""
    n_documents: int
    """Unjudged documents that one of the runs ranks above the cutoff, over all topics."""


@dataclass(frozen=True, slots=True, eq=False)
class _Unjudged:
    """Documents without a grade: the topic of each, and its rank in both runs; 0 where in none."""

    topic: np.ndarray
    first_rank: np.ndarray
    second_rank: np.ndarray


def difference_bounds(
    first: Run, second: Run, qrels: Qrels, recipe: Recipe, differences: np.ndarray
) -> DifferenceBounds | None:
    """Bounds of second - first on every topic of the qrels; None where no method is known.

    `differences` are those with unjudged documents as not relevant. P@k and RBP are linear:
    their bounds are difference + sum of min(0, w) g and of max(0, w) g over the unjudged documents,
    where w is a document's weight in the second ranking less that in the first and g the largest
    gain. nDCG divides by an ideal list that grows with the completion: its numerator has these
    bounds, its denominator lies between the ideal of the judged documents and that with all others
    at the largest grade, and a quotient of extremes bounds every completion. AP: as above.
    """
    documents = _unjudged_documents(first, second, qrels, recipe.cutoff)
    n_documents = len(documents.topic)
    if n_documents == 0:
        low = high = differences
        return DifferenceBounds(low=low, high=high, is_exact=True, n_documents=0)
    if recipe.measure.name in LINEAR:
        low, high = _moves(documents, recipe, len(qrels.topics))
        low, high = differences + low, differences + high
    elif recipe.measure.name == "nDCG":
        low, high = _ndcg_bounds(documents, qrels, recipe, differences)
    elif recipe.measure.name == "AP":
        low, high = _precision_bounds((first, second), documents, qrels, recipe, differences)
    else:
        return None
    is_exact = recipe.measure.name in LINEAR
    return DifferenceBounds(low=low, high=high, is_exact=is_exact, n_documents=n_documents)


def unjudged_share(run: Run, qrels: Qrels, cutoff: int) -> float:
    """The share of the documents of a run above the cutoff, over all topics, that have no grade."""
    lengths = find_judged_documents(run, qrels).lengths
    n_ranked = int(np.minimum(np.maximum(lengths, 0), cutoff).sum())
    return len(_unjudged_of(run, qrels, cutoff)[0]) / max(n_ranked, 1)


def _unjudged_documents(first: Run, second: Run, qrels: Qrels, cutoff: int) -> _Unjudged:
    parts = [_unjudged_of(run, qrels, cutoff) for run in (first, second)]
    topics, ranks, hashes = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    # Within a topic, 64 bits of hash are the document.
    order = np.lexsort((hashes, topics))
    same = (np.diff(topics[order]) == 0) & (np.diff(hashes[order]) == 0)
    number = np.empty(len(order), np.int64)
    number[order] = np.concatenate([[0], np.cumsum(~same)]) if len(order) else order
    n_documents = int(number.max(initial=-1)) + 1
    topic = np.zeros(n_documents, np.int64)
    topic[number] = topics
    both = np.zeros((2, n_documents), np.int64)
    is_second = np.arange(len(ranks)) >= len(parts[0][0])
    both[is_second.astype(int), number] = ranks
    return _Unjudged(topic, both[0], both[1])


def _unjudged_of(run: Run, qrels: Qrels, cutoff: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Topic, rank and hash of the documents of one run that have no grade."""
    judged = find_judged_documents(run, qrels)
    place = {topic: t for t, topic in enumerate(run.topics)}
    of_run = np.array([place.get(topic, -1) for topic in qrels.topics], np.int64)
    depths = np.minimum(np.maximum(judged.lengths, 0), cutoff)
    topics = np.repeat(np.arange(len(depths)), depths)
    ends = np.cumsum(depths)
    ranks = np.arange(len(topics)) - np.repeat(ends - depths, depths) + 1
    owner = np.repeat(np.arange(len(depths)), np.diff(judged.blocks))
    above = judged.ranks <= depths[owner]
    is_open = np.ones(len(topics), bool)
    is_open[(ends - depths)[owner[above]] + judged.ranks[above] - 1] = False
    rows = run.blocks[of_run[topics[is_open]]] + ranks[is_open] - 1
    return topics[is_open], ranks[is_open], run.documents.hashes[rows]


def _moves(documents: _Unjudged, recipe: Recipe, n_topics: int) -> tuple[np.ndarray, np.ndarray]:
    """By how much unjudged documents can move each topic's sum down and up."""
    weight = _weights(documents.second_rank, recipe) - _weights(documents.first_rank, recipe)
    gain = float(recipe.gain.max(initial=0.0)) if recipe.measure.name != "P" else 1.0
    down, up = np.minimum(weight, 0.0) * gain, np.maximum(weight, 0.0) * gain
    return tuple(np.bincount(documents.topic, part, n_topics) for part in (down, up))  # type: ignore[return-value]


def _weights(ranks: np.ndarray, recipe: Recipe) -> np.ndarray:
    """The weight of a rank; 0 for the documents that a run does not rank."""
    there = ranks > 0
    if recipe.measure.name == "P":
        return there / recipe.cutoff
    if recipe.measure.name == "RBP":
        p = recipe.parameter
        return np.where(there, (1.0 - p) * p ** (np.maximum(ranks, 1) - 1.0), 0.0)
    return np.where(there, 1.0 / np.log2(np.maximum(ranks, 1) + 1.0), 0.0)


def _ndcg_bounds(
    documents: _Unjudged, qrels: Qrels, recipe: Recipe, differences: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    n_topics = len(qrels.topics)
    nothing = np.zeros(n_topics, np.int64)
    more = np.bincount(documents.topic, minlength=n_topics)
    least, most = (_ideal(qrels, recipe, n_best) for n_best in (nothing, more))
    down, up = _moves(documents, recipe, n_topics)
    low = _quotient(differences * least + down, most, least)
    high = _quotient(differences * least + up, least, most)
    # No completion changes a topic that has no unjudged document: no rounding may either.
    touched = more > 0
    return (
        np.where(touched, np.clip(low, -1.0, 1.0), differences),
        np.where(touched, np.clip(high, -1.0, 1.0), differences),
    )


def _quotient(numerator: np.ndarray, above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The numerator over `above` where it is positive, over `below` where it is negative.

    Where nothing judged is relevant the smaller ideal is 0, and the quotient without bound.
    """
    ideal = np.where(numerator > 0.0, above, below)
    quotient = np.where(numerator == 0.0, 0.0, np.copysign(np.inf, numerator))
    np.divide(numerator, ideal, out=quotient, where=ideal > 0.0)
    return quotient


def _ideal(qrels: Qrels, recipe: Recipe, n_best: np.ndarray) -> np.ndarray:
    """DCG of the ideal list with so many further documents of the largest gain on its top."""
    n_topics = len(qrels.topics)
    owner = np.repeat(np.arange(n_topics), qrels.sizes)
    rank = np.arange(len(owner)) - np.repeat(qrels.blocks[:-1], qrels.sizes) + 1
    rank = rank + n_best[owner]
    gain = recipe.gain[np.clip(qrels.ideal, 0, len(recipe.gain) - 1)]
    gain = np.where((qrels.ideal > 0) & (rank <= recipe.cutoff), gain, 0.0)
    judged = np.bincount(owner, gain / np.log2(rank + 1.0), n_topics)
    depth = np.minimum(n_best, recipe.cutoff)
    discounts = 1.0 / np.log2(np.arange(int(depth.max(initial=0))) + 2.0)
    totals = np.concatenate([[0.0], np.cumsum(discounts)])
    return np.asarray(judged + float(recipe.gain.max(initial=0.0)) * totals[depth])


def _precision_bounds(
    runs: tuple[Run, Run],
    documents: _Unjudged,
    qrels: Qrels,
    recipe: Recipe,
    differences: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest difference in AP, second - first, on every topic."""
    owner = np.repeat(np.arange(len(qrels.topics)), qrels.sizes)
    relevant = np.flatnonzero(qrels.grades >= recipe.level)
    topics = np.concatenate([owner[relevant], documents.topic])
    is_open = np.arange(len(topics)) >= len(relevant)
    terms = []
    for run, holes in zip(runs, (documents.first_rank, documents.second_rank), strict=True):
        judged = find_judged_documents(run, qrels)
        known = np.zeros(len(owner), np.int64)  # where the run lacks a document
        known[judged.rows] = judged.ranks
        ranks = np.concatenate([known[relevant], holes])
        terms.append(_terms(ranks, topics, is_open, recipe.cutoff))
    (first_least, first_most), (second_least, second_most) = terms
    n_relevant = np.bincount(owner[relevant], minlength=len(qrels.topics))
    high = _largest(second_most - first_least, topics, is_open, n_relevant)
    low = -_largest(first_most - second_least, topics, is_open, n_relevant)
    low = np.minimum(np.clip(low, -1.0, 1.0), differences)
    high = np.maximum(np.clip(high, -1.0, 1.0), differences)
    # No completion changes a topic that has no unjudged document: no rounding may either.
    touched = np.bincount(documents.topic, minlength=len(qrels.topics)) > 0
    return np.where(touched, low, differences), np.where(touched, high, differences)


def _terms(
    ranks: np.ndarray, topics: np.ndarray, is_open: np.ndarray, cutoff: int
) -> tuple[np.ndarray, np.ndarray]:
    """What documents add to S of one run if they are relevant: at least, and at most."""
    there = np.flatnonzero((ranks > 0) & (ranks <= cutoff))
    order = there[np.lexsort((ranks[there], topics[there]))]
    starts = np.searchsorted(topics[order], topics[order])
    holes, known = is_open[order].astype(np.int64), (~is_open[order]).astype(np.int64)
    open_above, known_above = (_before(part, starts) for part in (holes, known))
    least, most = np.zeros((2, len(ranks)))
    least[order] = (known_above + 1) / ranks[order]
    most[order] = (known_above + 1 + open_above) / ranks[order]
    return least, most


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
