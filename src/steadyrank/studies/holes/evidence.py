"""What is known of the documents that runs rank within the cutoff, and of those judged among them.

Features of a document are its best rank, how many runs retrieve it at any rank and within the
cutoff, and the shares of relevant documents among the others: of its topic, of the run that ranks
it best, and of that run on that topic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.data.order import places_by_name
from steadyrank.studies.holes.lists import Lists


class Pool(NamedTuple):
    """Documents that some run ranks within the cutoff: one row each."""

    topic: np.ndarray
    grade: np.ndarray
    """-1 of a hole."""
    best_rank: np.ndarray
    n_runs: np.ndarray
    """That retrieve it, at any rank."""
    owner: np.ndarray
    """The run that ranks it best; of several, the first by name."""
    n_within: np.ndarray
    """Runs that have it within the cutoff."""
    is_evidence: np.ndarray
    """Whether a run that vouches (see `vouching_runs`), other than its owner, has it there too."""

    @property
    def is_unique(self) -> np.ndarray:
        """Whether one run alone has it within the cutoff."""
        return np.asarray(self.n_within == 1)

    def take(self, rows: np.ndarray) -> Pool:
        """Some of the documents."""
        return Pool(*(column[rows] for column in self))


FEWEST_VOUCHING = 2
"""One run alone cannot vouch for its own documents."""


def make_pool(lists: Lists) -> tuple[Pool, Pool]:
    """The judged documents within the cutoff, and the open holes."""
    n_judged = len(lists.qrels)
    within = lists.judged.ranks <= lists.depth
    judged_rows = lists.judged.rows[within].astype(np.int64)
    rows = np.concatenate([judged_rows, lists.open.rows + n_judged])
    ranks = np.concatenate([lists.judged.ranks[within], lists.open.ranks])
    cells = np.concatenate([lists.judged.cells[within], lists.open.cells])
    n_runs = len(lists.runs)
    by_name = places_by_name(lists.runs)[cells // lists.n_topics]
    count = np.bincount(rows)
    distinct = np.flatnonzero(count)
    best = np.full(len(count), np.iinfo(np.int64).max)
    np.minimum.at(best, rows, ranks.astype(np.int64) * n_runs + by_name)
    best_rank, owner = np.divmod(best[distinct], n_runs)
    vouching = vouching_runs(lists)
    n_vouching = np.bincount(rows[vouching[by_name]], minlength=len(count))[distinct]
    retrieved = np.concatenate(
        [np.bincount(lists.judged.rows, minlength=n_judged), lists.hole_runs]
    )
    topic = np.repeat(np.arange(lists.n_topics), lists.qrels.sizes)
    grades = np.concatenate([np.maximum(lists.qrels.grades, 0), np.full(lists.n_open, -1)])
    pool = Pool(
        topic=np.concatenate([topic, lists.topic_of_hole])[distinct],
        grade=grades[distinct],
        best_rank=best_rank,
        n_runs=retrieved[distinct],
        owner=owner,
        n_within=count[distinct],
        is_evidence=n_vouching > vouching[owner],
    )
    return pool.take(distinct < n_judged), pool.take(distinct >= n_judged)


def vouching_runs(lists: Lists) -> np.ndarray:
    """[run by name]: those whose documents within the cutoff are all judged, or else all runs.

    What a run has in common with a run that was pooled is judged. What it has in common with others
    is judged if it was pooled itself, and otherwise only if yet another run found it: such
    documents are better than most, and counting them would flatter the runs with holes.
    """
    without_holes = np.ones(len(lists.runs), bool)
    without_holes[places_by_name(lists.runs)[lists.open.cells // lists.n_topics]] = False
    return (
        without_holes if without_holes.sum() >= FEWEST_VOUCHING else np.ones(len(lists.runs), bool)
    )


class Evidence(NamedTuple):
    """How many judged documents there are, and how many of them are relevant."""

    topic: np.ndarray
    """[grade, topic]: judged documents of that grade and above."""
    run: np.ndarray
    """[2, run by name]: within the cutoff; so is the next."""
    cell: np.ndarray
    """[2, run by name, topic]"""


def gather_evidence(lists: Lists, judged: Pool, top_grade: int) -> Evidence:
    """Counts over the judged documents that another run vouches for.

    Holes are mostly of one run alone. What a run shares with others looks better than what it has
    alone; only if all evidence is of shared documents is it alike for documents that are judged,
    hidden and not judged.
    """
    known, n_runs = judged.take(judged.is_evidence), len(lists.runs)
    rows, runs, topics = judged_entries(lists)
    vouching = vouching_runs(lists)
    n_vouching = np.bincount(rows, vouching[runs], minlength=len(judged.topic))
    stay = n_vouching[rows] > vouching[runs]
    cell = np.stack(
        [
            np.bincount(
                (runs * lists.n_topics + topics)[chosen], minlength=n_runs * lists.n_topics
            ).reshape(n_runs, -1)
            for chosen in (stay, stay & (judged.grade[rows] > 0))
        ]
    )
    topic = np.stack(
        [
            np.bincount(known.topic[known.grade >= grade], minlength=lists.n_topics)
            for grade in range(top_grade + 1)
        ]
    )
    return Evidence(topic=topic, run=cell.sum(axis=2), cell=cell)


def judged_entries(lists: Lists) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row of the pool, run by name and topic of each judged document within the cutoff."""
    entries = lists.judged
    within = entries.ranks <= lists.depth
    rows, cells = entries.rows[within], entries.cells[within]
    is_there = np.zeros(len(lists.qrels), bool)
    is_there[rows] = True
    rows = (np.cumsum(is_there) - 1)[rows]  # in the order of the pool
    return rows, places_by_name(lists.runs)[cells // lists.n_topics], cells % lists.n_topics


LEANING = 2.0
"""Documents' worth by which a share of few documents leans towards that of more."""


def features(pool: Pool, evidence: Evidence, *, inside: bool) -> np.ndarray:
    """[grade from 1 on, document, feature]: logs of rank and numbers of runs, shares as logits.

    Runs are those that retrieve it at any rank, and within the cutoff; all features but the last
    stand twice, the second time for documents that one run alone has. Shares are those of the
    topic (of the grade, among documents of the grade below), and of relevant documents of the run
    that ranks the document best, and of that run on the topic. `inside` says that the documents are
    part of the evidence: none is evidence for itself.
    """
    counts = inside & pool.is_evidence
    own = counts & (pool.grade > 0)
    overall = _total_share(evidence.topic[0].sum(), evidence.topic[1].sum())
    judged, relevant = evidence.run[:, pool.owner]
    run = _leaning(judged, relevant, counts, own, overall)
    judged, relevant = evidence.cell[:, pool.owner, pool.topic]
    cell = _leaning(judged, relevant, counts, own, run)
    given = [np.ones(len(pool.topic)), np.log(pool.best_rank), np.log(pool.n_runs)]
    by_grade = []
    for grade in range(1, len(evidence.topic)):
        below, above = evidence.topic[grade - 1], evidence.topic[grade]
        own_below, own_above = counts & (pool.grade >= grade - 1), counts & (pool.grade >= grade)
        total = _total_share(below.sum(), above.sum())
        topic = _leaning(below[pool.topic], above[pool.topic], own_below, own_above, total)
        common = np.stack([*given, *map(_logit, (topic, run, cell))], axis=1)
        # What one run alone has follows a rule of its own.
        alone = common * pool.is_unique[:, None]
        by_grade.append(np.concatenate([common, np.log(pool.n_within)[:, None], alone], axis=1))
    return np.stack(by_grade)


def _total_share(judged: int, relevant: int) -> float:
    return float((relevant + 0.5) / (judged + 1.0))


def _leaning(
    judged: np.ndarray,
    relevant: np.ndarray,
    own: np.ndarray,
    own_relevant: np.ndarray,
    towards: np.ndarray | float,
) -> np.ndarray:
    """The share of relevant documents among the others; one of few leans towards that of more."""
    share = (relevant - own_relevant + LEANING * towards) / (judged - own + LEANING)
    return np.asarray(np.clip(share, 1e-3, 1.0 - 1e-3))


def _logit(share: np.ndarray) -> np.ndarray:
    return np.asarray(np.log(share / (1.0 - share)))
