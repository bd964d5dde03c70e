"""Scores of every run under any completion: grades for the open holes, beside those judged."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steadyrank.measures.scoring import Recipe, score_recipe
from steadyrank.studies.holes.lists import Entries, Lists


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rankings:
    """Documents that can count in some completion, by rank, and the ideal lists without holes."""

    lists: Lists
    entries: Entries
    """Rows of the judgments, then, from their number on, of the open holes."""
    n_graded: np.ndarray
    """[topic, grade from 1 on]: judged documents."""

    def judged(self) -> Rankings:
        """The rankings without holes: what is scored as usual, or condensed."""
        no_holes = replace(self.lists, hole_blocks=np.zeros_like(self.lists.hole_blocks))
        return replace(self.only(self.entries.rows < len(self.lists.qrels)), lists=no_holes)

    def countable(self) -> Rankings:
        """The rankings without what counts in no completion: all but holes and relevant documents
        within the cutoff.
        """
        qrels = self.lists.qrels
        some = np.concatenate([qrels.grades > 0, np.ones(self.lists.n_open, bool)])
        return self.only(some[self.entries.rows] & (self.entries.ranks <= self.lists.depth))

    def only(self, stay: np.ndarray) -> Rankings:
        """The rankings of the entries that stay, at the ranks that they have."""
        blocks = np.concatenate([[0], np.cumsum(stay)])[self.entries.blocks]
        entries = Entries(blocks, self.entries.ranks[stay], self.entries.rows[stay])
        return replace(self, entries=entries)

    def scores(
        self, recipe: Recipe, grades: np.ndarray, *, ideal: np.ndarray | None = None
    ) -> np.ndarray:
        """Scores [run, topic] where the open holes have these grades.

        `ideal` has the grades that the ideal lists count, if not the same.
        """
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
    """Blocks and grades of the ideal lists, best first, a document of grade 0 at the end of each.

    The last one is for measures that make sense where nothing is relevant.
    """
    n_topics, top = counts.shape
    sizes = np.column_stack([counts[:, ::-1], np.ones(n_topics, counts.dtype)])
    grades = np.tile(np.arange(top, -1, -1, dtype=np.int32), n_topics)
    blocks = np.concatenate([[0], np.cumsum(sizes.sum(axis=1))])
    return blocks, np.repeat(grades, sizes.ravel())


def make_rankings(lists: Lists, top_grade: int) -> Rankings:
    """The rankings of all runs."""
    judged, qrels = lists.judged, lists.qrels
    cells = np.concatenate([judged.cells, lists.open.cells])
    ranks = np.concatenate([judged.ranks, lists.open.ranks])
    rows = np.concatenate([judged.rows.astype(np.int64), lists.open.rows + len(qrels)])
    # Both halves are in order, which a stable sort of one key makes use of.
    order = np.argsort(cells * (int(ranks.max(initial=0)) + 1) + ranks, kind="stable")
    blocks = np.searchsorted(cells[order], np.arange(lists.lengths.size + 1))
    topic = np.repeat(np.arange(lists.n_topics), qrels.sizes)
    return Rankings(
        lists=lists,
        entries=Entries(blocks, ranks[order], rows[order]),
        n_graded=_counts(topic, qrels.grades, lists.n_topics, top_grade),
    )


def _counts(topics: np.ndarray, grades: np.ndarray, n_topics: int, top_grade: int) -> np.ndarray:
    """[topic, grade from 1 on]: documents."""
    some = grades > 0
    keys = topics[some] * top_grade + grades[some] - 1
    return np.bincount(keys, minlength=n_topics * top_grade).reshape(n_topics, top_grade)
