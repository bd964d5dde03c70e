"""The rankings of all runs over one numbering of documents: what `shared_kernels` samples.

For each topic the documents of all runs, and the relevant ones that no run retrieved, are
numbered once. A ranking is kept down to its last document that can matter: below the last
relevant one, or where no simulated ranking still has room, nothing does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import pdtr

from steadyrank.compute.executors import Progress
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.runs import header_of, read_runs
from steadyrank.data.run import Run
from steadyrank.measures.scoring import NO_CUTOFF, Recipe, find_judged_documents, score_topics
from steadyrank.studies.simulate import list_kernels
from steadyrank.studies.simulate.list_kernels import RankingArrays
from steadyrank.studies.simulate.profiles import (
    Depth,
    RunNotes,
    ScoreSource,
    in_order_of_names,
    is_constant,
    relevant_ranks,
    topic_rows,
)

NEVER = 2.0**-64
"""Chance of a simulated ranking to need documents beyond those that are kept."""


class SharedLists(NamedTuple):
    """The rankings of a simulation whose documents all runs share; runs are by name."""

    lists: RankingArrays
    notes: RunNotes
    raw: np.ndarray
    """[run, topic]: the measure of the rankings as they are, as `evaluate` has it."""


def shared_lists(
    runs: Any,
    qrels: Qrels,
    recipe: Recipe,
    *,
    topics: Sequence[str],
    depth: Depth = "retrieved",
    score_source: ScoreSource = "score",
    jobs: int | None = None,
    progress: Progress | None = None,
) -> SharedLists:
    """The rankings of every run on every topic of `topics`, for one measure.

    Documents of equal score stand in random order, unless ranks are taken for scores.
    """
    wanted = np.array([qrels.position[topic] for topic in topics], np.int64)
    by_score = score_source == "score"
    horizon = documents_needed(recipe.cutoff)

    def one(run: Run) -> _RunLists:
        starts, stops = topic_rows(run, topics)
        judged = find_judged_documents(run, qrels, relevant_only=True)
        blocks, ranks, grades = relevant_ranks(judged, qrels, wanted, recipe.level)
        kept, events = np.empty(len(starts), np.int64), np.zeros(len(starts) + 1, np.int64)
        at, size = np.empty(len(ranks), np.int32), np.empty(len(ranks), np.int32)
        n = list_kernels.outline(
            run.scores,
            starts,
            stops,
            blocks,
            ranks,
            grades,
            horizon,
            by_score,
            kept,
            events,
            at,
            size,
        )
        rows = np.repeat(starts - _bounds(kept)[:-1], kept) + np.arange(kept.sum())
        return _RunLists(
            header_of(run),
            stops - starts,
            np.diff(blocks),
            by_score and is_constant(run.scores, starts, stops),
            score_topics(judged, qrels, [recipe])[0, wanted],
            kept,
            run.documents.hashes[rows],
            events,
            at[:n],
            size[:n],
        )

    parts = read_runs(runs).map(one, jobs=jobs, progress=progress)
    return _joined(_gainful(qrels, wanted, recipe.level), depth, parts)


def documents_needed(cutoff: int) -> int:
    """Documents of a ranking that fill the top `cutoff` of every simulated one.

    >>> documents_needed(10) < 100, documents_needed(NO_CUTOFF) == NO_CUTOFF
    (True, True)
    """
    if cutoff > 10_000:
        return NO_CUTOFF
    # So many documents have a Poisson number of copies, of which fewer than `cutoff` are rare.
    numbers = np.arange(cutoff, 3 * cutoff + 200)
    return int(numbers[np.argmax(pdtr(cutoff - 1, numbers) < NEVER)])


class _RunLists(NamedTuple):
    run: Run
    lengths: np.ndarray
    n_relevant: np.ndarray
    constant: bool
    raw: np.ndarray
    kept: np.ndarray
    """[topic]: documents of its ranking that are kept."""
    hashes: np.ndarray
    events: np.ndarray
    at: np.ndarray
    size: np.ndarray


class _Gainful(NamedTuple):
    """The judged documents that count, topic by topic, best first."""

    blocks: np.ndarray
    hashes: np.ndarray
    grades: np.ndarray


def _gainful(qrels: Qrels, wanted: np.ndarray, level: int) -> _Gainful:
    rows = [
        np.flatnonzero(qrels.grades[qrels.blocks[t] : qrels.blocks[t + 1]] >= level)
        + qrels.blocks[t]
        for t in wanted
    ]
    best_first = [own[np.argsort(-qrels.grades[own], kind="stable")] for own in rows]
    together = np.concatenate([np.zeros(0, np.int64), *best_first])
    return _Gainful(
        _bounds([len(own) for own in rows]),
        qrels.documents.hashes[together],
        qrels.grades[together].astype(np.int32),
    )


def _bounds(sizes: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _joined(gainful: _Gainful, depth: Depth, given: list[_RunLists]) -> SharedLists:
    parts, notes = in_order_of_names(given)
    lengths = np.concatenate([part.lengths for part in parts])
    starts = _bounds(np.concatenate([part.kept for part in parts]))
    documents, hashes, places = _numbered(gainful, parts, starts)
    offsets = _bounds([len(part.at) for part in parts])
    events = [part.events[1:] + offset for part, offset in zip(parts, offsets[:-1], strict=True)]
    lists = RankingArrays(
        documents=documents,
        hashes=hashes,
        ideal=gainful.blocks,
        grades=gainful.grades,
        starts=starts,
        places=places,
        events=np.concatenate([[0], *events]).astype(np.int64),
        at=np.concatenate([part.at for part in parts]),
        size=np.concatenate([part.size for part in parts]),
        depth=lengths if depth == "retrieved" else np.full(len(lengths), depth, np.int64),
    )
    return SharedLists(lists, notes, np.stack([part.raw for part in parts]))


def _numbered(
    gainful: _Gainful, parts: list[_RunLists], starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each topic's documents begin, the hashes of all, and the rankings by number."""
    n_topics = len(gainful.blocks) - 1
    places = np.empty(starts[-1], np.int32)
    own = [_bounds(part.kept) for part in parts]
    by_topic = []
    for t in range(n_topics):
        listed = [gainful.hashes[gainful.blocks[t] : gainful.blocks[t + 1]]]
        targets = [np.empty(len(listed[0]), np.int32)]
        for r, part in enumerate(parts):
            cell = r * n_topics + t
            listed.append(part.hashes[own[r][t] : own[r][t + 1]])
            targets.append(places[starts[cell] : starts[cell + 1]])
        by_topic.append(_number_topic(listed, targets))
    bounds = _bounds([len(hashes) for hashes in by_topic])
    return bounds, np.concatenate([np.zeros(0, np.uint64), *by_topic]), places


def _number_topic(listed: list[np.ndarray], targets: list[np.ndarray]) -> np.ndarray:
    """Write the numbers of documents into the targets; the hashes in the order of the numbers."""
    room = 1 << (2 * sum(map(len, listed)) + 1).bit_length()
    slots, numbers = np.zeros(room, np.uint64), np.full(room, -1, np.int32)
    known = 0
    for hashes, places in zip(listed, targets, strict=True):
        known = list_kernels.number_documents(hashes, slots, numbers, known, places)
    filled = numbers >= 0
    in_order = np.empty(known, np.uint64)
    in_order[numbers[filled]] = slots[filled]
    return in_order
