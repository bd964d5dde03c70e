"""Where so few holes matter to a pair of runs on a topic that all their completions can be tried.

For AP and ERR, whose bounds of pairs are outer ones otherwise. How many holes are few is settled by
the work that trying takes, all pairs together: the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from steadyrank.studies.holes import few_kernels
from steadyrank.studies.holes.measures import HoledMeasure
from steadyrank.studies.holes.scoring import Rankings

MOST_HOLES = 12
MOST_WORK = 1e9
"""Documents looked at in all completions of all pairs and topics: a few seconds."""


class FewHoles(NamedTuple):
    """What it takes to try all completions of pairs and topics with few holes."""

    blocks: np.ndarray
    ranks: np.ndarray
    rows: np.ndarray
    gains: np.ndarray
    n_judged: int
    hole_blocks: np.ndarray
    n_cell_holes: np.ndarray
    """[cell]"""
    n_holes: np.ndarray
    """[topic]: of all runs, at any rank."""
    relevant: np.ndarray
    """[topic]: judged."""
    top: float
    is_ratio: bool
    most: int = MOST_HOLES

    def counts(self, pairs: np.ndarray) -> np.ndarray:
        """[pair, topic]: holes that either run has; where one alone has too many, those."""
        out = np.empty((len(pairs), len(self.hole_blocks) - 1), np.int64)
        few_kernels.count_holes(
            self.blocks,
            self.rows,
            self.n_judged,
            self.hole_blocks,
            self.n_cell_holes,
            pairs,
            self.most,
            out,
        )
        return out

    def work(self, pairs: np.ndarray) -> np.ndarray:
        """[holes]: documents to look at where so many holes matter."""
        counts = self.counts(pairs)
        few = counts <= self.most
        cells = pairs[:, :, None] * counts.shape[1] + np.arange(counts.shape[1])
        lengths = np.diff(self.blocks)[cells].sum(axis=1)
        documents = np.bincount(counts[few], lengths[few], minlength=self.most + 1)
        return np.asarray(documents * 2.0 ** np.arange(self.most + 1))

    def settle(self, pairs: np.ndarray, largest: np.ndarray) -> np.ndarray:
        """Lower the largest differences [pair, topic] to those attained: [pair] whether all are."""
        counts = self.counts(pairs)
        few_kernels.try_all(
            self.blocks,
            self.ranks,
            self.rows,
            self.gains,
            self.n_judged,
            self.hole_blocks,
            pairs,
            counts,
            self.most,
            self.n_holes,
            self.relevant,
            self.top,
            self.is_ratio,
            largest,
        )
        return np.asarray((counts <= self.most).all(axis=1))


def find_few(
    rankings: Rankings, measure: HoledMeasure, relevant: np.ndarray, tasks: Sequence[np.ndarray]
) -> FewHoles:
    """Few are the more holes, the less work there is; `tasks` are all pairs, in parts."""
    lists = rankings.lists
    entries = rankings.entries
    judged_gains = np.where(lists.qrels.grades > 0, measure.gains[lists.qrels.grades], 0.0)
    gains = np.concatenate([judged_gains, np.zeros(lists.n_open)])[entries.rows]
    stay = (gains > 0.0) | (entries.rows >= len(lists.qrels))
    countable = rankings.only(stay & (entries.ranks <= measure.depth)).entries
    few = FewHoles(
        blocks=countable.blocks,
        ranks=countable.ranks,
        rows=countable.rows,
        gains=gains[stay & (entries.ranks <= measure.depth)],
        n_judged=len(lists.qrels),
        hole_blocks=lists.hole_blocks,
        n_cell_holes=np.diff(lists.open.blocks),
        n_holes=lists.n_holes,
        relevant=relevant,
        top=float(measure.gains.max()),
        is_ratio=measure.family == "AP",
    )
    work = np.sum([few.work(pairs) for pairs in tasks], axis=0)
    return few._replace(most=int(np.searchsorted(np.cumsum(work), MOST_WORK, side="right")) - 1)
