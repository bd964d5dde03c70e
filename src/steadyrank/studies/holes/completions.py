"""Completions drawn from the prior, their intervals and tests, and a check of these.

Every hole (unjudged document) has one grade for all runs. The coefficients of the prior and the
effects of topics and runs are drawn for each completion. Tests are combined by Rubin's rules
("Multiple Imputation for Nonresponse in Surveys", 1987): T = W + (1 + 1/B) × between, with the
degrees of freedom of Barnard & Rubin (Biometrika 86(4), 1999, doi:10.1093/biomet/86.4.948).

The study is rehearsed on runs whose judgments are complete. A share of them, as large as the share
of runs with holes, is treated as not pooled: the documents that they alone found are hidden, the
prior is fitted on the rest, and imputed scores are compared with the true ones. If errors exceed
the spread of the completions, the intervals of the study are widened by the root mean square of
error / spread, times the ratio of a t quantile, with one degree of freedom per rehearsal, to the
normal one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, ndtri, stdtr, stdtrit

from steadyrank.compute.executors import Progress, map_in_order, workers
from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.data.order import order_by_name
from steadyrank.measures.holes.lists import (
    CellEntries,
    HoledMeasure,
    Lists,
    Rankings,
    make_rankings,
)
from steadyrank.measures.scoring import Recipe
from steadyrank.stats.pairs.result import CONSTANT
from steadyrank.studies.holes.prior import PooledDocuments, Prior, check_prior, make_pool

BLOCK = 20
"""Number of completions that share a stream of random numbers."""

N_REHEARSALS = 5
N_COMPLETIONS = 100
FEWEST_RUNS = 4
"""A rehearsal requires at least this many runs without holes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Completions:
    """Mean scores of drawn completions."""

    means: np.ndarray
    """[completion, run]: mean over topics."""
    within: np.ndarray
    """[run, run]: variance of the mean difference within a completion, mean over completions."""
    n_topics: int
    scale: float = 1.0
    """Factor that widens the spread of completions."""

    def intervals(self, confidence: float) -> np.ndarray:
        """[run, 2]: quantiles of the mean scores over completions, widened by the scale."""
        tail = (1.0 - confidence) / 2.0
        ends, mean = np.quantile(self.means, [tail, 1.0 - tail], axis=0), self.means.mean(axis=0)
        return np.asarray((mean + self.scale * (ends - mean)).T)

    def sign_share(self, pairs: np.ndarray) -> np.ndarray:
        """[pair]: share of completions in which the first is above the second; ties count half."""
        a, b = (self.means[:, runs] for runs in pairs.T)
        return np.asarray(((a > b) + 0.5 * (a == b)).mean(axis=0))

    def pvalues(self, pairs: np.ndarray) -> np.ndarray:
        """[pair]: p-values of the paired t test, by Rubin's rules."""
        a, b = pairs.T
        return rubin_pvalues(
            self.means[:, a] - self.means[:, b], self.within[a, b], self.n_topics, self.scale
        )


def rubin_pvalues(
    estimates: np.ndarray, within: np.ndarray, n: int, scale: float = 1.0
) -> np.ndarray:
    """Return two-sided p-values of estimates [completion, pair] with n - 1 degrees of freedom.

    The variance between completions is multiplied by `scale`².
    """
    n_completions = len(estimates)
    between = scale**2 * (1.0 + 1.0 / n_completions) * estimates.var(axis=0, ddof=1)
    mean, total = estimates.mean(axis=0), within + between
    with np.errstate(divide="ignore", invalid="ignore"):
        missing = between / total
        observed = n / (n + 2.0) * (n - 1.0) * (1.0 - missing)
        df = 1.0 / (missing**2 / (n_completions - 1.0) + 1.0 / observed)
        p = np.minimum(1.0, 2.0 * stdtr(df, -np.abs(mean) / np.sqrt(total)))
    same = total <= CONSTANT**2
    return np.where(same, np.where(np.abs(mean) <= CONSTANT, 1.0, 0.0), p)


def draw_completions(
    rankings: Rankings,
    recipe: Recipe,
    prior: Prior,
    holes: PooledDocuments,
    *,
    n_samples: int,
    jobs: int | None = None,
    progress: Progress | None = None,
    seed: int = 0,
) -> Completions:
    """Draw grades for all open holes, `n_samples` times, and score all runs."""
    n_runs, n_topics = rankings.lists.lengths.shape
    countable = rankings if recipe.needs_all else rankings.countable()

    def block(part: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
        number, first, stop = part
        stream = block_stream(seed, "holes", number)
        means, within = np.empty((stop - first, n_runs)), np.zeros((n_runs, n_runs))
        for row in means:
            grades = draw_grades(prior, holes, (n_runs, n_topics), stream)
            scores = countable.scores(recipe, grades)
            row[:] = scores.mean(axis=1)
            within += _variances_of_differences(scores)
        return means, within

    with workers(jobs=jobs) as threads:
        parts = map_in_order(block, blocks_of(n_samples, BLOCK), threads, progress=progress)
    means, within = zip(*parts, strict=True)
    return Completions(
        means=np.concatenate(means), within=np.sum(within, axis=0) / n_samples, n_topics=n_topics
    )


def draw_grades(
    prior: Prior, holes: PooledDocuments, shape: tuple[int, int], stream: np.random.Generator
) -> np.ndarray:
    """Return one completion: the grades of all open holes."""
    n_runs, n_topics = shape
    normals = stream.standard_normal(prior.coefficients.shape)
    coefficients = prior.coefficients + np.einsum("gij,gj->gi", prior.roots, normals)
    # A random logit moves probabilities towards 1/2; a steeper one keeps their means, to 1%.
    coefficients[0] *= np.sqrt(1.0 + 0.346 * (prior.topic_spread**2 + 2.0 * prior.run_spread**2))
    topics = prior.topic_spread * stream.standard_normal(n_topics)
    # All runs with holes may differ from those whose documents were judged.
    runs = prior.run_spread * (stream.standard_normal(n_runs) + stream.standard_normal())
    # The ratio is unknown, but at most 1: being found by nobody else is no sign of relevance.
    factor = prior.factor(stream.random())
    effects = topics[holes.topic] + runs[holes.owner]
    uniform = stream.random(len(effects)) / factor if factor > 0.0 else np.ones(len(effects))
    logits = np.einsum("gk,gik->gi", coefficients, prior.x)
    logits[0] += effects
    reach = np.cumprod(expit(logits), axis=0)  # probabilities of at least grades 1, 2, …
    return np.asarray((uniform < reach).sum(axis=0, dtype=np.int32))


def _variances_of_differences(scores: np.ndarray) -> np.ndarray:
    """Return [run, run], the variance of the mean difference over topics."""
    n = scores.shape[1]
    centred = scores - scores.mean(axis=1, keepdims=True)
    gram = centred @ centred.T
    squares = np.diag(gram)
    spread = np.maximum(squares[:, None] + squares[None, :] - 2.0 * gram, 0.0)
    return np.asarray(spread / (n * max(n - 1, 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """Check of intervals by imputing known scores."""

    n_scores: int = 0
    """Number of imputed scores that were compared with known ones."""
    held: float = math.nan
    """Share of their intervals, before widening, that contain the known score."""
    scale: float = 1.0
    """Factor that widens the study's intervals."""


def rehearse(
    lists: Lists, measure: HoledMeasure, *, confidence: float, jobs: int | None, seed: int
) -> Rehearsal:
    """Hide, impute and compare scores in a few rehearsals, if enough runs are without holes."""
    n_open = np.diff(lists.open.blocks).reshape(lists.lengths.shape).sum(axis=1)
    pooled = order_by_name(lists.runs)
    pooled = pooled[n_open[pooled] == 0]
    if len(pooled) < FEWEST_RUNS:
        return Rehearsal()
    share = 1.0 - len(pooled) / len(lists.runs)
    n_hidden = min(max(round(share * len(pooled)), 1), len(pooled) - 2)
    misses, held = list[np.ndarray](), list[np.ndarray]()
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
    # The errors of one rehearsal are dependent: it counts as one observation.
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
    """Return completions, places of hidden runs, and true means; None if the prior is rejected."""
    is_hidden = _hidden_documents(lists, runs, hidden)
    rehearsed, grades = _with_holes(lists, runs, is_hidden), lists.qrels.grades[is_hidden]
    rankings = make_rankings(rehearsed, measure.top_grade)
    judged, holes = make_pool(rehearsed)
    prior, _ = check_prior(judged, holes, rehearsed, measure.top_grade)
    if prior is None:
        return None
    drawn = draw_completions(
        rankings, measure.recipe, prior, holes, n_samples=N_COMPLETIONS, jobs=jobs, seed=seed
    )
    truth = rankings.scores(measure.recipe, np.maximum(grades, 0).astype(np.int32)).mean(axis=1)
    places = np.searchsorted(runs, np.sort(hidden))
    return drawn, places, truth[places]


def _pool_depths(lists: Lists) -> np.ndarray:
    """Return [run], the rank down to which all its documents are judged on every topic."""
    judged = lists.judged
    cells = judged.cells
    place = np.arange(len(cells)) - judged.blocks[cells]
    unbroken = np.bincount(cells, judged.ranks == place + 1, minlength=lists.lengths.size)
    unbroken = unbroken.reshape(lists.lengths.shape)
    whole = unbroken >= lists.lengths
    return np.asarray(np.where(whole, np.iinfo(np.int32).max, unbroken).min(axis=1))


def _hidden_documents(lists: Lists, runs: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Return [judgment], whether only hidden runs have it in their pool."""
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
    """Return the lists of some runs in which some judged documents are holes."""
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


def _chosen(
    entries: CellEntries, cells: np.ndarray, stay: np.ndarray, number: np.ndarray
) -> CellEntries:
    """Return the entries of some cells that stay, with new row numbers."""
    counts = np.bincount(entries.cells[stay], minlength=len(entries.blocks) - 1)[cells]
    stay = stay & np.isin(entries.cells, cells)
    return CellEntries(
        np.concatenate([[0], np.cumsum(counts)]),
        entries.ranks[stay],
        number[entries.rows[stay]].astype(entries.rows.dtype),
    )
