"""The ranks of judged and unjudged documents in every run, and the measures that `holes` bounds.

A *hole* is a document that some run retrieves for a judged topic and that has no judgment. A
measure with a cutoff depends on the holes at or above it (*open* holes, which the arrays hold one
by one); deeper holes can still enter the ideal list, and are only counted. Holes of a topic are
ordered by their hashes, so that the random number of a document depends neither on the order of
files nor on that of lines.

Most measures are a sum over the ranking, (sum of weight × gain) / normaliser. They are *linear*
without a normaliser, and *shared* if the normaliser depends only on the topic, so that all runs
share it. The others are *first* (the first relevant document decides), AP, ERR, and *other* ones,
which increase with every grade in the ranking and decrease with every grade in the ideal list.
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
from steadyrank.errors import InputError
from steadyrank.measures.evaluate import report_coverage
from steadyrank.measures.names import Measure, parse_measure
from steadyrank.measures.scoring import Recipe, find_judged_documents, prepare, score_recipe

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
    open: CellEntries
    """Unjudged documents at ranks up to `depth`."""
    hole_blocks: np.ndarray
    """[topic + 1]: bounds of the open holes of each topic."""
    documents: Ids
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
    judged: tuple[np.ndarray, np.ndarray, np.ndarray]
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
    """Number the distinct holes by topic; ids whose hashes agree are the same document."""
    n_topics = len(qrels.topics)
    sizes = np.concatenate([np.diff(part.blocks) for part in parts])
    cell = np.repeat(np.arange(len(sizes)), sizes)
    topic = (cell % n_topics).astype(np.int32)
    hashes, ranks = (np.concatenate([getattr(p, k) for p in parts]) for k in ("hashes", "ranks"))
    order = np.argsort(hashes)
    order = order[np.argsort(topic[order], kind="stable")]
    is_new = np.ones(len(order), bool)
    is_new[1:] = np.diff(hashes[order]).astype(bool) | np.diff(topic[order]).astype(bool)
    place = np.empty(len(order), np.int64)
    place[order] = np.cumsum(is_new) - 1
    within, is_open = ranks <= depth, np.zeros(int(is_new.sum()), bool)
    is_open[place[within]] = True
    of_topic = topic[order][is_new]
    n_open, n_deeper = (
        np.bincount(of_topic[some], minlength=n_topics) for some in (is_open, ~is_open)
    )
    rows = (np.cumsum(is_open) - 1)[place[within]]
    return Lists(
        qrels=qrels,
        runs=tuple(part.run.name for part in parts),
        depth=depth,
        lengths=np.stack([part.lengths for part in parts]),
        judged=joined_entries([part.judged for part in parts]),
        open=CellEntries(
            np.searchsorted(cell[within], np.arange(len(sizes) + 1)), ranks[within], rows
        ),
        hole_blocks=np.concatenate([[0], np.cumsum(n_open)]).astype(np.int64),
        documents=_named(parts, rows, int(is_open.sum())),
        n_deeper=n_deeper.astype(np.int64),
        hole_runs=np.bincount(place, minlength=len(is_open))[is_open],
    )


def _named(parts: Sequence[_RunHoles], rows: np.ndarray, n_holes: int) -> Ids:
    """Return the ids of the open holes, each from the first run that has it."""
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
    """Return the judgments with the documents of each topic in the order of their hashes."""
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


BoundFamily = Literal["linear", "shared", "first", "AP", "ERR", "other"]

FAMILIES: dict[str, BoundFamily] = {
    "P": "linear",
    "RBP": "linear",
    "SetP": "linear",
    "NumRelRet": "linear",
    "nDCG": "shared",
    "R": "shared",
    "SetR": "shared",
    "nG": "shared",
    "RR": "first",
    "Success": "first",
    "AP": "AP",
    "ERR": "ERR",
    "nERR": "other",
    "Q": "other",
    "SetF": "other",
    "SetAP": "other",
}

EXACT = ("linear", "shared", "first")
"""Families for which some completion attains the bounds, both of runs and of pairs."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HoledMeasure:
    """A measure, prepared for one set of judgments and all their completions."""

    measure: Measure
    recipe: Recipe
    condensed: Recipe
    family: BoundFamily
    top_grade: int
    """Largest grade in a completion."""

    @property
    def is_exact(self) -> bool:
        """Whether all bounds are attained by some completion."""
        return self.family in EXACT

    @property
    def has_exact_runs(self) -> bool:
        """Whether the bounds of runs are attained."""
        return self.family != "other"

    @property
    def depth(self) -> int:
        """Number of ranks that it depends on."""
        return int(self.recipe.cutoff)

    @property
    def gains(self) -> np.ndarray:
        """[grade]: factor of a document's weight."""
        grades = np.arange(self.top_grade + 1)
        counted = grades >= self.level
        if self.measure.name in ("nDCG", "nG", "RBP", "ERR"):
            return np.where(counted, self.recipe.gain[: len(grades)], 0.0)
        return counted.astype(np.float64)

    @property
    def level(self) -> int:
        """Lowest relevant grade; the recipe of a count does not hold it."""
        level = self.measure.parameter("rel")
        return level if isinstance(level, int) else 1

    def weights(self, ranks: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return the weight of each document, by its rank and the length of its ranking."""
        name, inside = self.measure.name, ranks <= self.depth
        if name == "P":
            weights = np.full(len(ranks), 1.0 / self.depth)
        elif name == "SetP":
            weights = 1.0 / lengths
        elif name == "RBP":
            p = self.recipe.parameter
            weights = (1.0 - p) * p ** (ranks - 1.0)
        elif name in ("nDCG", "nG"):
            weights = 1.0 / np.log2(ranks + 1.0)
        elif name in ("RR", "ERR", "AP", "nERR", "Q"):
            weights = 1.0 / ranks
        else:
            weights = np.ones(len(ranks))
        return np.where(inside, weights, 0.0)

    def ideal_sums(self, n_documents: int) -> np.ndarray:
        """Return [n]: the normaliser of n documents of gain 1; empty if it is n itself."""
        if self.measure.name not in ("nDCG", "nG"):
            return np.empty(0)
        most = min(self.depth, n_documents)
        return np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(most) + 2.0))])


def parse_holed(measure: str | Measure, max_grade: int) -> HoledMeasure:
    """Return the measure, prepared; raise an error if there are no bounds for it."""
    parsed = parse_measure(measure)
    if parsed.parameter("judged_only"):
        raise InputError(
            f"{parsed}: remove judged_only; holes always reports scores of judged documents as well"
        )
    if parsed.name not in FAMILIES or parsed.parameter("relative"):
        raise InputError(
            f"{parsed} has no bounds over missing judgments: choose from {', '.join(FAMILIES)}"
        )
    if max_grade < 1:
        raise InputError(
            "no judged document is relevant, so there is no grade to assign to unjudged ones"
        )
    condensed = parsed if parsed.name == "NumRelRet" else parsed(judged_only=True)
    return HoledMeasure(
        measure=parsed,
        recipe=prepare(parsed, max_grade),
        condensed=prepare(condensed, max_grade),
        family=FAMILIES[parsed.name],
        top_grade=max_grade,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rankings:
    """Documents that can count in some completion, by rank, and the ideal lists without holes."""

    lists: Lists
    entries: CellEntries
    """Rows of judgments; those of open holes follow, from the number of judgments on."""
    n_graded: np.ndarray
    """[topic, grade from 1 on]: number of judged documents."""

    def judged(self) -> Rankings:
        """Return the rankings without holes, for usual and condensed scores."""
        no_holes = replace(self.lists, hole_blocks=np.zeros_like(self.lists.hole_blocks))
        judged = self.entries.only(self.entries.rows < len(self.lists.qrels))
        return replace(self, entries=judged, lists=no_holes)

    def countable(self) -> Rankings:
        """Return only the holes and the relevant documents within the cutoff."""
        qrels = self.lists.qrels
        some = np.concatenate([qrels.grades > 0, np.ones(self.lists.n_open, bool)])
        stay = some[self.entries.rows] & (self.entries.ranks <= self.lists.depth)
        return replace(self, entries=self.entries.only(stay))

    def scores(
        self, recipe: Recipe, grades: np.ndarray, *, ideal: np.ndarray | None = None
    ) -> np.ndarray:
        """Return scores [run, topic] with these grades of the open holes."""
        lists = self.lists
        all_grades = np.concatenate([lists.qrels.grades, grades]).astype(np.int32)
        entry_grades = all_grades[self.entries.rows]
        counts = self.n_graded + _counts(
            lists.topic_of_hole, grades if ideal is None else ideal, *self.n_graded.shape
        )
        best_first = _ideal_lists(counts)
        n_topics = lists.n_topics
        values = np.empty(lists.lengths.shape)
        for r, row in enumerate(values):
            cells = slice(r * n_topics, (r + 1) * n_topics + 1)
            score_recipe(
                recipe,
                (self.entries.blocks[cells], self.entries.ranks, entry_grades),
                lists.lengths[r],
                best_first,
                no_relevant=0.0,
                missing=0.0,
                out=row,
            )
        return values


def _ideal_lists(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return blocks and grades of the ideal lists, best first, each with a final grade 0."""
    n_topics, top = counts.shape
    sizes = np.column_stack([counts[:, ::-1], np.ones(n_topics, counts.dtype)])
    grades = np.tile(np.arange(top, -1, -1, dtype=np.int32), n_topics)
    blocks = np.concatenate([[0], np.cumsum(sizes.sum(axis=1))])
    return blocks, np.repeat(grades, sizes.ravel())


def make_rankings(lists: Lists, top_grade: int) -> Rankings:
    """Return the rankings of all runs."""
    judged, qrels = lists.judged, lists.qrels
    cells = np.concatenate([judged.cells, lists.open.cells])
    ranks = np.concatenate([judged.ranks, lists.open.ranks])
    rows = np.concatenate([judged.rows.astype(np.int64), lists.open.rows + len(qrels)])
    # Both halves are sorted, so that a stable sort is fast.
    order = np.argsort(cells * (int(ranks.max(initial=0)) + 1) + ranks, kind="stable")
    blocks = np.searchsorted(cells[order], np.arange(lists.lengths.size + 1))
    topic = np.repeat(np.arange(lists.n_topics), qrels.sizes)
    return Rankings(
        lists=lists,
        entries=CellEntries(blocks, ranks[order], rows[order]),
        n_graded=_counts(topic, qrels.grades, lists.n_topics, top_grade),
    )


def _counts(topics: np.ndarray, grades: np.ndarray, n_topics: int, top_grade: int) -> np.ndarray:
    """Return [topic, grade from 1 on]: number of documents."""
    some = grades > 0
    keys = topics[some] * top_grade + grades[some] - 1
    return np.bincount(keys, minlength=n_topics * top_grade).reshape(n_topics, top_grade)
