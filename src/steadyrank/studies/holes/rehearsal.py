"""How far imputed scores miss: the study rehearsed on runs whose judgments are complete.

Of the runs without holes, as large a part as has holes in the data is taken as if it had not been
pooled: what it alone found is hidden, the prior is fitted on the rest, and imputed scores are held
against the true ones. Misses that are larger than the spread of the completions, be it for effects
of runs and topics that the prior lacks or for its own error, widen the intervals of the study by
the root mean square of miss / spread, times what a t distribution with as many degrees of freedom
as there were rehearsals is wider than a normal one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri, stdtrit

from steadyrank.compute.random import block_stream
from steadyrank.data.order import order_by_name
from steadyrank.studies.holes.completions import Completions, draw_completions
from steadyrank.studies.holes.evidence import features, gather_evidence, make_pool
from steadyrank.studies.holes.lists import Entries, Lists
from steadyrank.studies.holes.measures import HoledMeasure
from steadyrank.studies.holes.prior_check import check_prior
from steadyrank.studies.holes.scoring import make_rankings

N_REHEARSALS = 5
N_COMPLETIONS = 100
FEWEST_RUNS = 4
"""Runs without holes below which nothing can be rehearsed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What imputing scores that are known says about intervals."""

    n_scores: int = 0
    """Imputed scores that were held against known ones."""
    held: float = math.nan
    """Share of their intervals, not widened, that held the known score."""
    scale: float = 1.0
    """What the study's intervals are widened by."""


def rehearse(
    lists: Lists, measure: HoledMeasure, *, confidence: float, jobs: int | None, seed: int
) -> Rehearsal:
    """Hide, impute and compare, a few times; nothing where too few runs are without holes."""
    n_open = np.diff(lists.open.blocks).reshape(lists.lengths.shape).sum(axis=1)
    pooled = order_by_name(lists.runs)
    pooled = pooled[n_open[pooled] == 0]
    if len(pooled) < FEWEST_RUNS:
        return Rehearsal()
    share = 1.0 - len(pooled) / len(lists.runs)
    n_hidden = min(max(round(share * len(pooled)), 1), len(pooled) - 2)
    misses: list[np.ndarray] = []
    held: list[np.ndarray] = []
    for turn in range(N_REHEARSALS):
        stream = block_stream(seed, "holes rehearsal", turn)
        hidden = stream.permutation(pooled)[:n_hidden]
        rehearsed = _imputed_and_known(lists, measure, np.sort(pooled), hidden, jobs, seed)
        if rehearsed is not None:
            drawn, places, truth = rehearsed
            low, high = drawn.intervals(confidence)[places].T
            means = drawn.means[:, places]
            spread = means.std(axis=0, ddof=1)
            moves = spread > 0.0
            misses.append((truth - means.mean(axis=0))[moves] / spread[moves])
            held.append(((low <= truth) & (truth <= high))[moves])
    ratio = np.concatenate([np.empty(0), *misses])
    if not len(ratio):
        return Rehearsal()
    # Runs of one rehearsal miss together: it counts as one observation of their spread.
    tail = (1.0 + confidence) / 2.0
    uncertain = float(stdtrit(len(misses), tail) / ndtri(tail))
    return Rehearsal(
        n_scores=len(ratio),
        held=float(np.concatenate(held).mean()),
        scale=max(1.0, uncertain * math.sqrt((ratio**2).mean())),
    )


def _imputed_and_known(
    lists: Lists,
    measure: HoledMeasure,
    runs: np.ndarray,
    hidden: np.ndarray,
    jobs: int | None,
    seed: int,
) -> tuple[Completions, np.ndarray, np.ndarray] | None:
    """Completions, the places of hidden runs in them and their true means; None where the prior is
    refused.
    """
    is_hidden = _hidden_documents(lists, runs, hidden)
    rehearsed, grades = _with_holes(lists, runs, is_hidden), lists.qrels.grades[is_hidden]
    rankings = make_rankings(rehearsed, measure.top_grade)
    judged, holes = make_pool(rehearsed)
    prior, _ = check_prior(judged, holes, rehearsed, measure.top_grade)
    if prior is None:
        return None
    evidence = gather_evidence(rehearsed, judged, measure.top_grade)
    drawn = draw_completions(
        rankings,
        measure.recipe,
        prior,
        holes,
        features(holes, evidence, inside=False),
        n_samples=N_COMPLETIONS,
        jobs=jobs,
        seed=seed,
    )
    truth = rankings.scores(measure.recipe, np.maximum(grades, 0).astype(np.int32)).mean(axis=1)
    places = np.searchsorted(runs, np.sort(hidden))
    return drawn, places, truth[places]


def _pool_depths(lists: Lists) -> np.ndarray:
    """[run]: down to which rank all its documents are judged, on every topic."""
    judged = lists.judged
    cells = judged.cells
    place = np.arange(len(cells)) - judged.blocks[cells]
    unbroken = np.bincount(cells, judged.ranks == place + 1, minlength=lists.lengths.size)
    unbroken = unbroken.reshape(lists.lengths.shape)
    whole = unbroken >= lists.lengths
    return np.asarray(np.where(whole, np.iinfo(np.int32).max, unbroken).min(axis=1))


def _hidden_documents(lists: Lists, runs: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """[judgment]: whether hidden runs have it within the cutoff, and no pool of the others."""
    judged = lists.judged
    run = judged.cells // lists.n_topics
    others = np.setdiff1d(runs, hidden)
    pooled = np.isin(run, others) & (judged.ranks <= _pool_depths(lists)[run])
    theirs = np.isin(run, hidden) & (judged.ranks <= lists.depth)
    marked = np.zeros(len(lists.qrels), bool)
    marked[judged.rows[theirs]] = True
    marked[judged.rows[pooled]] = False
    return marked


def _with_holes(lists: Lists, runs: np.ndarray, is_hidden: np.ndarray) -> Lists:
    """The lists of some runs, in which some judged documents are holes."""
    qrels, judged = lists.qrels, lists.judged
    blocks = np.concatenate([[0], np.cumsum(is_hidden)])[qrels.blocks]
    cells = (runs[:, None] * lists.n_topics + np.arange(lists.n_topics)).ravel()
    number = np.where(is_hidden, np.cumsum(is_hidden), np.cumsum(~is_hidden)) - 1
    hole = is_hidden[judged.rows]
    ours = np.isin(judged.cells // lists.n_topics, runs)
    return replace(
        lists,
        qrels=replace(
            qrels,
            blocks=qrels.blocks - blocks,
            documents=qrels.documents.take(np.flatnonzero(~is_hidden)),
            grades=qrels.grades[~is_hidden],
        ),
        runs=tuple(lists.runs[r] for r in runs),
        lengths=lists.lengths[runs],
        judged=_chosen(judged, cells, ~hole, number),
        open=_chosen(judged, cells, hole & (judged.ranks <= lists.depth), number),
        hole_blocks=blocks,
        documents=qrels.documents.take(np.flatnonzero(is_hidden)),
        n_deeper=np.zeros_like(lists.n_deeper),
        hole_runs=np.bincount(number[judged.rows[hole & ours]], minlength=int(blocks[-1])),
    )


def _chosen(entries: Entries, cells: np.ndarray, stay: np.ndarray, number: np.ndarray) -> Entries:
    """The entries of some cells that stay, with new numbers of their rows."""
    counts = np.bincount(entries.cells[stay], minlength=len(entries.blocks) - 1)[cells]
    stay = stay & np.isin(entries.cells, cells)
    return Entries(
        np.concatenate([[0], np.cumsum(counts)]),
        entries.ranks[stay],
        number[entries.rows[stay]].astype(entries.rows.dtype),
    )
