"""Find the ranks of judged and unjudged documents in every run, reading each run once.

A *hole* is a document that some run retrieves for a judged topic and that has no judgment. A
measure with a cutoff depends on the holes at or above it (*open* holes, which the arrays hold one
by one); deeper holes can still enter the ideal list, and are only counted. Holes of a topic are
ordered by their hashes, so that the random number of a document depends neither on the order of
files nor on that of lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.data.ids import Ids, join_ids
from steadyrank.data.order import qrels_in_order
from steadyrank.data.qrels import Qrels, build_qrels
from steadyrank.data.read.runs import ReadingOptions, header_of, read_runs
from steadyrank.data.run import Run
from steadyrank.measures.evaluate import report_coverage
from steadyrank.measures.scoring import find_judged_documents

Missing = Literal["zero", "error"]


class CellEntries(NamedTuple):
    """Documents of all runs by cell, a run and a topic.

    Those of run r and topic t are entries `blocks[c]` to `blocks[c + 1]`, with c = r × topics + t.
    """

    blocks: np.ndarray
    ranks: np.ndarray
    rows: np.ndarray
    """Position among the judgments, or among the open holes."""

    @property
    def cells(self) -> np.ndarray:
        """The cell of each entry."""
        return np.repeat(np.arange(len(self.blocks) - 1), np.diff(self.blocks))

    def only(self, stay: np.ndarray) -> CellEntries:
        """Return the entries selected by a mask; their ranks do not change."""
        blocks = np.concatenate([[0], np.cumsum(stay)])[self.blocks]
        return CellEntries(blocks, self.ranks[stay], self.rows[stay])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lists:
    """Judgments, holes, and their ranks in every run."""

    qrels: Qrels
    runs: tuple[str, ...]
    depth: int
    """Number of ranks that the measure depends on."""
    lengths: np.ndarray
    """[run, topic]: documents returned, -1 if the run lacks the topic."""
    judged: CellEntries
    """Judged documents at any rank."""
    open: CellEntries
    """Unjudged documents at ranks up to `depth`."""
    hole_blocks: np.ndarray
    """[topic + 1]: bounds of the open holes of each topic."""
    documents: Ids
    """[open hole]"""
    n_deeper: np.ndarray
    """[topic]: number of holes that no run ranks within `depth`."""
    hole_runs: np.ndarray
    """[open hole]: number of runs that retrieve it, at any rank."""

    @property
    def n_topics(self) -> int:
        """Number of judged topics."""
        return len(self.qrels.topics)

    @property
    def n_open(self) -> int:
        """Number of open holes of all topics."""
        return int(self.hole_blocks[-1])

    @property
    def n_holes(self) -> np.ndarray:
        """[topic]: number of all holes, open or deeper."""
        return np.asarray(np.diff(self.hole_blocks) + self.n_deeper)

    @property
    def topic_of_hole(self) -> np.ndarray:
        """[open hole]: position of its topic."""
        return np.repeat(np.arange(self.n_topics), np.diff(self.hole_blocks))

    @property
    def unjudged_share(self) -> np.ndarray:
        """[run]: share of unjudged documents within `depth`, all topics together."""
        within = np.clip(self.lengths, 0, self.depth).sum(axis=1)
        per_cell = np.diff(self.open.blocks).reshape(self.lengths.shape)
        return np.asarray(per_cell.sum(axis=1) / np.maximum(within, 1))


class _RunHoles(NamedTuple):
    run: Run
    """The run without its documents."""
    judged: tuple[np.ndarray, np.ndarray, np.ndarray]
    """Blocks, ranks and rows of the judged documents."""
    blocks: np.ndarray
    """[topic + 1]: bounds of the unjudged documents of each topic."""
    ranks: np.ndarray
    hashes: np.ndarray
    names: Ids
    """Ids of the unjudged documents within the depth, in order."""
    lengths: np.ndarray
    unknown: int


def read_lists(
    runs: Any,
    qrels: Qrels,
    *,
    depth: int,
    missing: Missing = "zero",
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **reading_options: Unpack[ReadingOptions],
) -> Lists:
    """Read the runs, and find their unjudged documents."""
    to_read = read_runs(runs, **reading_options)
    parts = to_read.map(
        partial(_part_of, qrels=qrels, depth=depth),
        jobs=jobs,
        scheduler=scheduler,
        executor=executor,
        progress=progress,
    )
    to_read.check_headers([part.run for part in parts])
    lacking = [(part.run.name, int((part.lengths < 0).sum())) for part in parts]
    unknown = [part.unknown for part in parts]
    report_coverage(lacking, unknown, qrels, missing, may_skip=False)
    return _assembled(parts, qrels, depth)


def find_lists(runs: Sequence[Run], qrels: Qrels, *, depth: int) -> Lists:
    """Return the lists of runs in memory, without warnings about missing topics."""
    return _assembled([_part_of(run, qrels=qrels, depth=depth) for run in runs], qrels, depth)


def _part_of(run: Run, *, qrels: Qrels, depth: int) -> _RunHoles:
    judged = find_judged_documents(run, qrels)
    position = {topic: t for t, topic in enumerate(run.topics)}
    places = np.array([position.get(topic, -1) for topic in qrels.topics], np.int64)
    lengths = judged.lengths
    # Rows of the run by topic of the qrels, without the judged ones.
    known = np.maximum(lengths, 0)
    first = np.concatenate([[0], np.cumsum(known)])
    topic = np.repeat(np.arange(len(places)), known)
    rank = np.arange(first[-1]) - first[topic] + 1
    unjudged = np.ones(first[-1], bool)
    owner = np.repeat(np.arange(len(places)), np.diff(judged.blocks))
    unjudged[first[owner] + judged.ranks - 1] = False
    rows = run.blocks[places[topic]] + rank - 1
    rank, rows, topic = rank[unjudged], rows[unjudged], topic[unjudged]
    return _RunHoles(
        run=header_of(run),
        judged=(judged.blocks, judged.ranks, judged.rows),
        blocks=np.searchsorted(topic, np.arange(len(places) + 1)),
        ranks=rank.astype(np.int32),
        hashes=run.documents.hashes[rows],
        names=run.documents.take(rows[rank <= depth]),
        lengths=lengths,
        unknown=len(set(run.topics) - qrels.position.keys()),
    )


def _assembled(parts: Sequence[_RunHoles], qrels: Qrels, depth: int) -> Lists:
    topics = [_holes_of(parts, t, depth) for t in range(len(qrels.topics))]
    counts = np.array([len(topic.n_runs) for topic in topics], np.int64)
    hole_blocks = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    holes = joined_entries(
        [_open_part(part, r, topics, hole_blocks) for r, part in enumerate(parts)]
    )
    return Lists(
        qrels=qrels,
        runs=tuple(part.run.name for part in parts),
        depth=depth,
        lengths=np.stack([part.lengths for part in parts]),
        judged=joined_entries([part.judged for part in parts]),
        open=holes,
        hole_blocks=hole_blocks,
        documents=_named(parts, holes.rows, int(hole_blocks[-1])),
        n_deeper=np.array([topic.n_deeper for topic in topics], np.int64),
        hole_runs=np.concatenate([topic.n_runs for topic in topics]).astype(np.int64),
    )


class _TopicHoles(NamedTuple):
    rows: list[np.ndarray]
    """[run]: number of the open hole of each unjudged document within the depth."""
    n_runs: np.ndarray
    n_deeper: int


def _holes_of(parts: Sequence[_RunHoles], t: int, depth: int) -> _TopicHoles:
    """Return the distinct holes of one topic; ids whose hashes agree are the same document."""
    spans = [slice(part.blocks[t], part.blocks[t + 1]) for part in parts]
    hashes = np.concatenate([part.hashes[at] for part, at in zip(parts, spans, strict=True)])
    ranks = np.concatenate([part.ranks[at] for part, at in zip(parts, spans, strict=True)])
    distinct, place, n_runs = np.unique(hashes, return_inverse=True, return_counts=True)
    is_open = np.zeros(len(distinct), bool)
    is_open[place[ranks <= depth]] = True
    number = np.cumsum(is_open) - 1
    ends = np.cumsum([at.stop - at.start for at in spans])[:-1]
    within = [
        rows[r <= depth]
        for rows, r in zip(np.split(number[place], ends), np.split(ranks, ends), strict=True)
    ]
    return _TopicHoles(within, n_runs[is_open], int((~is_open).sum()))


def _named(parts: Sequence[_RunHoles], rows: np.ndarray, n_holes: int) -> Ids:
    """Return the ids of the open holes, each from the first run that has it.

    `rows` holds the hole of each unjudged document within the depth, in the order of their names.
    """
    first = np.empty(n_holes, np.int64)
    first[rows[::-1]] = np.arange(len(rows))[::-1]
    order = np.argsort(first)
    starts = np.cumsum([0, *(len(part.names) for part in parts)])
    bounds = np.searchsorted(first[order], starts)
    found = [
        part.names.take(first[order[a:b]] - start)
        for part, start, a, b in zip(parts, starts, bounds, bounds[1:], strict=False)
    ]
    return join_ids(found).take(np.argsort(order))


def _open_part(
    part: _RunHoles, r: int, topics: Sequence[_TopicHoles], hole_blocks: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = [topic.rows[r] + hole_blocks[t] for t, topic in enumerate(topics)]
    blocks = np.concatenate([[0], np.cumsum([len(one) for one in rows])]).astype(np.int64)
    ranks = [
        part.ranks[part.blocks[t] : part.blocks[t + 1]][: len(one)] for t, one in enumerate(rows)
    ]
    return blocks, np.concatenate(ranks), np.concatenate(rows).astype(np.int64)


def joined_entries(parts: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> CellEntries:
    """Join the blocks, ranks and rows of several runs."""
    firsts = np.cumsum([0, *(len(ranks) for _, ranks, _ in parts)], dtype=np.int64)
    blocks = [part[0][:-1] + first for part, first in zip(parts, firsts, strict=False)]
    return CellEntries(
        np.concatenate([*blocks, firsts[-1:]]),
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
    )


def by_document(qrels: Qrels) -> Qrels:
    """Return the judgments with the documents of each topic in the order of their hashes.

    The rounding of sums over documents then does not depend on the order in the file.
    """
    topic = np.repeat(np.arange(len(qrels.topics)), qrels.sizes)
    order = np.lexsort((qrels.documents.hashes, topic))
    return replace(qrels, documents=qrels.documents.take(order), grades=qrels.grades[order])


def joined_qrels(first: Qrels, second: Qrels) -> Qrels:
    """Return the union of two sets of judgments; grades of shared documents must agree."""
    both = (first, second)
    starts = np.concatenate([first.blocks[:-1], second.blocks[:-1] + len(first)])
    documents = join_ids([one.documents for one in both])
    joined = build_qrels(
        [*first.topics, *second.topics],
        starts,
        documents,
        np.concatenate([one.grades for one in both]).astype(np.float64),
    )
    return qrels_in_order(replace(joined, source=first.source, oddities={}))
