"""The measures that `holes` bounds: weights of ranks, gains, and scores of completions.

Most measures are a sum over the ranking, (sum of weight × gain) / normaliser. They are *linear*
without a normaliser, and *shared* if the normaliser depends only on the topic, so that all runs
share it. The others are *first* (the first relevant document decides), AP, ERR, and *other* ones,
which increase with every grade in the ranking and decrease with every grade in the ideal list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from steadyrank.errors import InputError
from steadyrank.measures.holes.lists import CellEntries, Lists
from steadyrank.measures.names import Measure, parse_measure
from steadyrank.measures.scoring import Recipe, prepare, score_recipe

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
    """Recipe for judged documents only."""
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
