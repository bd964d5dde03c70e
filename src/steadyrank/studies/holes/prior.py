"""The probability that an unjudged document is relevant, and a check of it.

**Evidence.** Features of a document are its best rank, the numbers of runs that retrieve it at any
rank and within the cutoff, and the shares of relevant documents among the others: of its topic, of
the run that ranks it best, and of that run on that topic.

**Prior.** A logistic regression for each grade, given that a document has the grade below, turns
features into probabilities.

**Check.** Judged documents are hidden, and predicted from the others: those that only one run has
within the cutoff, a tenth of the runs at a time, as holes arise. Judged documents leave one thing
open: the judged documents of a run that was not pooled were found by others, its holes by nobody
else. The ratio by which this makes a hole less likely to be relevant is not identified, except that
it is at most 1: it is drawn from 0 to 1. Hidden documents are a mixture of both kinds, and
`found_share` of them were found by others. If all pools are among the runs, this share is 0, the
ratio cancels, and the probabilities need no correction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from steadyrank.data.order import places_by_name
from steadyrank.measures.holes.lists import Lists
from steadyrank.stats.logistic import fit_logistic

FEWEST_VOUCHING = 2
"""Evidence requires another run."""

LEANING = 2.0
"""Number of documents with which a share is shrunk towards that of more documents."""

MOST_FOLDS = 10
LEAST_HIDDEN = 30
"""The check requires at least this many hidden documents."""

CLEARLY_OFF = 0.05
"""A prior fails if its mean probability is off by more than this and by three standard errors."""

CLEARLY_WORSE = 1.02
"""A prior fails if its log loss is more than this times that of a simpler one."""

TOO_DEEP = 2
"""A prior fails if holes are below this times the deepest best rank of judged documents."""

N_BINS = 5


class PooledDocuments(NamedTuple):
    """Documents that some run ranks within the cutoff: one row each."""

    topic: np.ndarray
    grade: np.ndarray
    """-1 for a hole."""
    best_rank: np.ndarray
    n_runs: np.ndarray
    """Number of runs that retrieve it, at any rank."""
    owner: np.ndarray
    """The run that ranks it best; of several, the first by name."""
    n_within: np.ndarray
    """Number of runs that have it within the cutoff."""
    is_evidence: np.ndarray
    """Whether one of `vouching_runs` other than its owner has it within the cutoff."""

    @property
    def is_unique(self) -> np.ndarray:
        """Whether only one run has it within the cutoff."""
        return np.asarray(self.n_within == 1)

    def take(self, rows: np.ndarray) -> PooledDocuments:
        """Return some of the documents."""
        return PooledDocuments(*(column[rows] for column in self))


def make_pool(lists: Lists) -> tuple[PooledDocuments, PooledDocuments]:
    """Return the judged documents within the cutoff, and the open holes."""
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
    pool = PooledDocuments(
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
    """Return [run by name], the runs whose documents within the cutoff are all judged, or all runs.

    What a run with holes shares with others may be judged only since a third run found it: such
    documents are better than most.
    """
    without_holes = np.ones(len(lists.runs), bool)
    without_holes[places_by_name(lists.runs)[lists.open.cells // lists.n_topics]] = False
    return np.asarray(without_holes | (without_holes.sum() < FEWEST_VOUCHING))


class Evidence(NamedTuple):
    """Numbers of judged and of relevant documents."""

    topic: np.ndarray
    """[grade, topic]: judged documents of that grade and above."""
    run: np.ndarray
    """[2, run by name]: judged and relevant documents within the cutoff."""
    cell: np.ndarray
    """[2, run by name, topic]: judged and relevant documents within the cutoff."""


def gather_evidence(lists: Lists, judged: PooledDocuments, top_grade: int) -> Evidence:
    """Count the judged documents that are evidence: those that runs share.

    Such documents are relevant more often than others, and most holes are found by one run only.
    """
    known, n_runs = judged.take(judged.is_evidence), len(lists.runs)
    rows, runs, topics = judged_entries(lists)
    vouching = vouching_runs(lists)
    n_vouching = np.bincount(rows, vouching[runs], minlength=len(judged.topic))
    stay = n_vouching[rows] > vouching[runs]
    relevant = stay & (judged.grade[rows] > 0)
    cells, n_cells = runs * lists.n_topics + topics, n_runs * lists.n_topics
    counts = [np.bincount(cells[chosen], minlength=n_cells) for chosen in (stay, relevant)]
    cell = np.stack(counts).reshape(2, n_runs, -1)
    topic = _reached(known.topic, known.grade, lists.n_topics, top_grade).T
    return Evidence(topic=topic, run=cell.sum(axis=2), cell=cell)


def judged_entries(lists: Lists) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the row of the pool, run by name and topic of judged documents within the cutoff."""
    entries = lists.judged
    within = entries.ranks <= lists.depth
    rows, cells = entries.rows[within], entries.cells[within]
    is_there = np.zeros(len(lists.qrels), bool)
    is_there[rows] = True
    rows = (np.cumsum(is_there) - 1)[rows]  # in the order of the pool
    return rows, places_by_name(lists.runs)[cells // lists.n_topics], cells % lists.n_topics


def features(pool: PooledDocuments, evidence: Evidence, *, inside: bool) -> np.ndarray:
    """Return [grade from 1 on, document, feature]: logs of rank and numbers of runs, and logits.

    All but the number of runs within the cutoff appear a second time for documents that only one
    run has. `inside`: the documents are part of the evidence, and are not counted for themselves.
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
        # Documents that only one run has follow a separate rule.
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
    """Return the share of relevant documents among the others, shrunk towards `towards`."""
    share = (relevant - own_relevant + LEANING * towards) / (judged - own + LEANING)
    return np.asarray(np.clip(share, 1e-3, 1.0 - 1e-3))


def _logit(share: np.ndarray) -> np.ndarray:
    return np.asarray(np.log(share / (1.0 - share)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prior:
    """Probabilities of grades, given features."""

    coefficients: np.ndarray
    """[grade from 1 on, feature]: coefficients of a grade, given the grade below."""
    roots: np.ndarray
    """[grade from 1 on, feature, feature]: square roots of the coefficients' covariances."""
    topic_spread: float = 0.0
    """Standard deviation of the effects of topics, as logits."""
    run_spread: float = 0.0
    """Standard deviation of the effects of runs, as logits."""
    found_share: float = 0.0
    """Share of the hidden documents that are judged because others found them."""
    x: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 0)))
    """[grade from 1 on, hole, feature]"""

    def factor(self, ratio: float) -> float:
        """Return the factor of the probabilities of holes relative to those of hidden documents.

        A document that nobody else found is `ratio` times as likely to be relevant as one that
        others found; hidden documents are a mixture of the two.
        """
        mixture = ratio + self.found_share * (1.0 - ratio)
        return ratio / mixture if mixture > 0.0 else 1.0

    def reach(self, x: np.ndarray) -> np.ndarray:
        """[document, grade from 1 on]: probability of that grade or a higher one."""
        logits = np.einsum("gik,gk->ig", x, self.coefficients)
        return np.asarray(np.cumprod(1.0 / (1.0 + np.exp(-logits)), axis=1))


def fit_prior(training: PooledDocuments, evidence: Evidence, top_grade: int) -> Prior:
    """Fit logistic regressions by Newton's method, with topics as clusters."""
    x = features(training, evidence, inside=True)
    fits = []
    for grade in range(1, top_grade + 1):
        used = training.grade >= grade - 1
        reached = training.grade[used] >= grade
        fits.append(fit_logistic(x[grade - 1, used], reached, training.topic[used]))
    coefficients, roots = (np.stack(column) for column in zip(*fits, strict=True))
    return Prior(coefficients=coefficients, roots=roots)


class Bin(NamedTuple):
    """Hidden documents of similar probabilities."""

    predicted: float
    observed: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorCheck:
    """Check of the prior on hidden judged documents."""

    n_hidden: int
    predicted: float = math.nan
    """Mean predicted probability of relevance."""
    observed: float = math.nan
    """Share of relevant documents."""
    standard_error: float = math.nan
    """Standard error of predicted - observed with topics as clusters."""
    log_loss: float = math.nan
    """Log loss of the grades per document."""
    log_loss_run: float = math.nan
    """Log loss of Fröbe et al.'s run-based prior: the run's other judged documents of the topic."""
    log_loss_pool: float = math.nan
    """Log loss of their pool-based prior: all other judged documents of the topic."""
    bins: tuple[Bin, ...] = ()
    seen_share: float = 0.0
    """Share of judged documents among those that only one run has, at the ranks of holes."""
    found_share: float = 0.0
    """Share of the hidden documents that are judged because others found them."""
    failure: str = ""
    """Reason why the prior is rejected; empty if it passes."""


def check_prior(
    judged: PooledDocuments, holes: PooledDocuments, lists: Lists, top_grade: int
) -> tuple[Prior | None, PriorCheck]:
    """Fit the prior, and check it on hidden documents of single runs; None if it is rejected."""
    if len(lists.runs) == 1:
        return None, PriorCheck(n_hidden=0, failure="a single run allows no check")
    hidden, reach, by_run, by_pool = _predict_hidden(judged, lists, top_grade)
    y = judged.grade[hidden]
    if len(hidden) < LEAST_HIDDEN or not 0 < (y > 0).sum() < len(y):
        failure = (
            f"only {len(hidden)} judged documents ({int((y > 0).sum())} relevant) were found by a "
            "single run"
        )
        return None, PriorCheck(n_hidden=len(hidden), failure=failure)
    chance, relevant = reach[:, 0], y > 0
    seen, documents = seen_share(judged, holes), judged.take(hidden)
    # Above the first hole of a run all its documents are judged, and others found as many of them
    # as elsewhere. From there on, only documents that others found are judged.
    found = np.where(documents.best_rank >= first_holes(lists)[documents.owner], 1.0, seen)
    sums = np.bincount(judged.topic[hidden], relevant - chance, minlength=lists.n_topics)
    check = PriorCheck(
        n_hidden=len(hidden),
        predicted=float(chance.mean()),
        observed=float(relevant.mean()),
        standard_error=float(np.sqrt((sums**2).sum()) / len(hidden)),
        log_loss=_log_loss(reach, y),
        log_loss_run=_log_loss(by_run, y),
        log_loss_pool=_log_loss(by_pool, y),
        bins=_bins(chance, relevant),
        seen_share=seen,
        found_share=float(found.mean()),
    )
    check = replace(check, failure=_failure(check, judged, holes))
    if check.failure:
        return None, check
    evidence = gather_evidence(lists, judged, top_grade)
    return replace(
        fit_prior(judged, evidence, top_grade),
        topic_spread=_spread(relevant, chance, judged.topic[hidden]),
        run_spread=_spread(relevant, chance, judged.owner[hidden]),
        found_share=check.found_share,
        x=features(holes, evidence, inside=False),
    ), check


def _failure(check: PriorCheck, judged: PooledDocuments, holes: PooledDocuments) -> str:
    deepest = int(judged.best_rank.max())
    middle = np.median(holes.best_rank) if len(holes.best_rank) else 0
    if middle > TOO_DEEP * deepest:
        return (
            f"half of the unjudged documents are below rank {middle:.0f}, "
            f"no judged one below {deepest}"
        )
    off = abs(check.predicted - check.observed)
    if off > CLEARLY_OFF and off > 3.0 * check.standard_error:
        return (
            f"it predicts that {check.predicted:.0%} of the hidden documents are relevant, and "
            f"{check.observed:.0%} are"
        )
    simpler = min(check.log_loss_run, check.log_loss_pool)
    if check.log_loss > CLEARLY_WORSE * simpler:
        return f"its log loss is {check.log_loss:.3f}, that of a simpler prior {simpler:.3f}"
    return ""


def _predict_hidden(
    judged: PooledDocuments, lists: Lists, top_grade: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return hidden rows, with probabilities by the prior, by their run and by the pool."""
    unique = np.flatnonzero(judged.is_unique)
    n_folds = min(MOST_FOLDS, len(lists.runs))
    # Folds hide documents of a single run, which are no evidence.
    evidence = gather_evidence(lists, judged, top_grade)
    entry_rows, runs, topics = judged_entries(lists)
    n_cells, cells = len(lists.runs) * lists.n_topics, runs * lists.n_topics + topics
    by_run = _reached(cells, judged.grade[entry_rows], n_cells, top_grade)
    parts: list[tuple[np.ndarray, ...]] = []
    for fold in range(n_folds):
        rows = unique[judged.owner[unique] % n_folds == fold]
        kept = np.ones(len(judged.topic), bool)
        kept[rows] = False
        training = judged.take(kept)
        if len(rows) == 0 or not len(training.grade):
            continue
        prior = fit_prior(training, evidence, top_grade)
        hidden = judged.take(rows)
        pool = _shares(_reached(training.topic, training.grade, lists.n_topics, top_grade))
        cells = hidden.owner * lists.n_topics + hidden.topic
        run = _shares(by_run - _reached(cells, hidden.grade, len(by_run), top_grade))
        reach = prior.reach(features(hidden, evidence, inside=False))
        parts.append((rows, reach, run[cells], pool[hidden.topic]))
    if not parts:
        none = np.empty((0, top_grade))
        return np.empty(0, np.int64), none, none, none
    rows, reach, run, pool = (np.concatenate(column) for column in zip(*parts, strict=True))
    return rows, reach, run, pool


def _reached(place: np.ndarray, grade: np.ndarray, n_places: int, top_grade: int) -> np.ndarray:
    """Return [place, grade], the number of documents that reach the grade."""
    return np.stack(
        [np.bincount(place[grade >= g], minlength=n_places) for g in range(top_grade + 1)], axis=1
    )


def _shares(reached: np.ndarray) -> np.ndarray:
    """Return [place, grade from 1 on], the share that reaches it, with one more of each grade."""
    smoothed = reached + np.arange(reached.shape[1], 0, -1.0)
    return np.asarray(smoothed[:, 1:] / smoothed[:, :1])


def seen_share(judged: PooledDocuments, holes: PooledDocuments) -> float:
    """Return the share of judged documents among those of a single run, at the ranks of holes.

    The larger it is, the more informative it is that nobody else found a hole.
    """
    ours, theirs = judged.take(judged.is_unique), holes.take(holes.is_unique)
    if not len(theirs.topic):
        return 0.0
    place = {"judged": _rank_place(ours), "holes": _rank_place(theirs)}
    n = 1 + max(int(keys.max(initial=0)) for keys in place.values())
    seen, unseen = (np.bincount(place[key], minlength=n) for key in ("judged", "holes"))
    shares = seen / np.maximum(seen + unseen, 1)
    return float((shares * unseen).sum() / unseen.sum())


def first_holes(lists: Lists) -> np.ndarray:
    """Return [run by name], the rank of its first hole on any topic."""
    first = np.full(len(lists.runs), np.iinfo(np.int64).max)
    runs = places_by_name(lists.runs)[lists.open.cells // lists.n_topics]
    np.minimum.at(first, runs, lists.open.ranks)
    return first


def _rank_place(pool: PooledDocuments) -> np.ndarray:
    """Return a number for each run and rank; below rank 32, for each run and octave of ranks."""
    octave = 32 + np.floor(np.log2(np.maximum(pool.best_rank, 32))).astype(np.int64)
    return np.asarray(pool.owner * 96 + np.where(pool.best_rank < 32, pool.best_rank, octave))


def _log_loss(reach: np.ndarray, grade: np.ndarray) -> float:
    edges = np.concatenate([np.ones((len(reach), 1)), reach, np.zeros((len(reach), 1))], axis=1)
    rows = np.arange(len(reach))
    chance = edges[rows, grade] - edges[rows, grade + 1]
    return float(-np.log(np.maximum(chance, 1e-12)).mean())


def _bins(chance: np.ndarray, relevant: np.ndarray) -> tuple[Bin, ...]:
    """Return probabilities and shares in bins of equal size."""
    parts = np.array_split(np.argsort(chance, kind="stable"), N_BINS)
    return tuple(
        Bin(float(chance[rows].mean()), float(relevant[rows].mean()), len(rows))
        for rows in parts
        if len(rows)
    )


def _spread(relevant: np.ndarray, chance: np.ndarray, group: np.ndarray) -> float:
    """Return the standard deviation of the effects of groups by the method of moments.

    The sum of residuals of a group has variance V + spread² V², with V = sum of p (1 - p).
    """
    n = int(group.max(initial=-1)) + 1
    residual = np.bincount(group, relevant - chance, minlength=n)
    variance = np.bincount(group, chance * (1.0 - chance), minlength=n)
    spread = float((residual**2 - variance).sum() / np.maximum((variance**2).sum(), 1e-12))
    return float(np.sqrt(min(max(spread, 0.0), 4.0)))
