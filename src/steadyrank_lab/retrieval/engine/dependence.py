"""Term dependence: sequential and full (Metzler & Croft, SIGIR 2005, doi:10.1145/1076034.1076115).

A score is a sum over cliques of a topic's terms: single terms, terms in a row that occur in this
order side by side, and sets of terms that occur together within a window, in any order. Each clique
counts like a term with a language model of Dirichlet smoothing; what is the same for all documents
is left out. SDM takes pairs of neighbours, FDM all stretches and all sets of up to `most` terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from steadyrank.errors import InputError
from steadyrank_lab.retrieval.engine.index import Index
from steadyrank_lab.retrieval.engine.models import Model

_DOCUMENT = 32  # bits of a place below the number of its document


def dependence_scores(index: Index, topic: int, model: Model) -> np.ndarray:
    """Return, for every document, what cliques of several terms and its length add to its score."""
    weights, mu = model.parameters, model.parameters["mu"]
    scores = np.zeros(len(index.documents))
    total = weights["terms"] * sum(index.query(topic).values())
    for kind, places in _cliques(index, topic, model):
        documents, tf = np.unique(places >> _DOCUMENT, return_counts=True)
        if len(places):
            scores[documents] += weights[kind] * np.log2(
                1.0 + tf * index.tokens / (mu * len(places))
            )
            total += weights[kind]
    return scores + total * np.log2(mu / (index.lengths + mu))


def _cliques(index: Index, topic: int, model: Model) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the cliques of several terms: of which kind, and all their places."""
    query, full = index.queries[topic].tolist(), model.name == "FDM"
    places = {unit: unit_places(index, unit) for unit in set(query) if unit >= 0}
    most = int(model.parameters["most"]) if full else 2
    window = int(model.parameters["window"])
    sets: dict[tuple[int, ...], None] = {}
    for size in range(2, most + 1):
        for start in range(len(query) - size + 1):
            row = query[start : start + size]
            if min(row) >= 0:
                yield "ordered", in_a_row([places[unit] for unit in row])
                sets[tuple(sorted(set(row)))] = None
    for chosen in _together(places, most) if full else sets:
        if len(chosen) > 1:
            yield "unordered", in_window([places[unit] for unit in chosen], window * len(chosen))


def _together(places: dict[int, np.ndarray], most: int) -> Iterator[tuple[int, ...]]:
    """Yield the sets of up to `most` units that some document holds."""
    held = {unit: np.unique(found >> _DOCUMENT) for unit, found in sorted(places.items())}
    sets: dict[tuple[int, ...], np.ndarray] = {
        (unit,): documents for unit, documents in held.items()
    }
    for _ in range(most - 1):
        larger = {
            (*chosen, unit): np.intersect1d(documents, held[unit], assume_unique=True)
            for chosen, documents in sets.items()
            for unit in held
            if unit > chosen[-1]
        }
        sets = {chosen: documents for chosen, documents in larger.items() if len(documents)}
        yield from sets


def unit_places(index: Index, unit: int) -> np.ndarray:
    """Return all places of a unit, ascending: the document's number, then the position in it."""
    if index.positions is None:
        raise InputError("SDM and FDM require positions: build_index(..., positions=True)")
    mine = slice(index.starts[unit], index.starts[unit + 1])
    end = int(index.count[: index.starts[unit + 1]].sum())
    document = np.repeat(index.document[mine].astype(np.int64), index.count[mine])
    return (document << _DOCUMENT) + index.positions[end - len(document) : end]


def in_a_row(places: Sequence[np.ndarray]) -> np.ndarray:
    """Return where units follow each other: the places of the first one.

    >>> in_a_row([np.array([0, 5, 9]), np.array([1, 8, 10])]).tolist()
    [0, 9]
    """
    found = places[0]
    for step, others in enumerate(places[1:], start=1):
        found = found[np.isin(found + step, others)]
    return found


def in_window(places: Sequence[np.ndarray], width: int) -> np.ndarray:
    """Return where all units have occurred within the last `width` places, ending with one of them.

    >>> in_window([np.array([0, 20]), np.array([3, 11])], 8).tolist()
    [3]
    """
    found = []
    for mine in places:
        is_near = np.ones(len(mine), np.bool_)
        for others in places:
            last = np.searchsorted(others, mine, side="right") - 1
            is_near &= (last >= 0) & (mine - others[last] < width)
        found.append(mine[is_near])
    return np.concatenate(found)
