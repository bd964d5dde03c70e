"""Whether the prior may impute: judged documents are hidden, and predicted from the others.

Hidden are the judged documents that one run alone has within the cutoff, a tenth of the runs at a
time, as holes arise.

One thing no judged document can tell: of a run that was not pooled, the judged documents are those
that somebody else found, and the holes those that nobody did. How much less likely to be relevant
a document is for that, its ratio, is not identified, but for its sign: it is drawn from 0 to 1.
Hidden documents are a mixture of both kinds, of which `found_share` of them were found by others:
where all pools are among the runs it is 0, the ratio cancels, and the chances stand as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from steadyrank.data.order import places_by_name
from steadyrank.studies.holes.evidence import Pool, features, gather_evidence, judged_entries
from steadyrank.studies.holes.lists import Lists
from steadyrank.studies.holes.prior import Prior, fit_prior

MOST_FOLDS = 10
LEAST_HIDDEN = 30
"""Hidden documents below which nothing can be said about the prior."""

CLEARLY_OFF = 0.05
"""A mean chance that misses by more than this, and by three standard errors, is not calibrated."""

CLEARLY_WORSE = 1.02
"""A log loss above this times that of a simpler prior is not worth the trouble."""

TOO_DEEP = 2
"""Holes below this times the deepest best rank of judged documents are unlike any of them."""

N_BINS = 5


class Bin(NamedTuple):
    """Hidden documents of similar chances."""

    predicted: float
    observed: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorCheck:
    """What hiding judged documents says about the prior."""

    n_hidden: int
    predicted: float = math.nan
    """Mean chance of being relevant."""
    observed: float = math.nan
    """Share that was relevant."""
    standard_error: float = math.nan
    """Of their difference, topics being clusters."""
    log_loss: float = math.nan
    """Of the grades, per document; so are the next two."""
    log_loss_run: float = math.nan
    """Fröbe et al.'s run-based prior: grades of the run's other judged documents of the topic."""
    log_loss_pool: float = math.nan
    """Their pool-based prior: grades of all other judged documents of the topic."""
    bins: tuple[Bin, ...] = ()
    seen_share: float = 0.0
    """Of the documents that one run alone has, where holes are: judged, as others found them."""
    found_share: float = 0.0
    """Of the hidden documents: judged because somebody else found them."""
    failure: str = ""
    """Why the prior is refused; nothing where it passes."""

    @property
    def passed(self) -> bool:
        """Whether the prior may impute."""
        return not self.failure


def check_prior(
    judged: Pool, holes: Pool, lists: Lists, top_grade: int
) -> tuple[Prior | None, PriorCheck]:
    """Fit the prior, hide what single runs brought, and see whether it predicts that."""
    hidden, reach, by_run, by_pool = _predict_hidden(judged, lists, top_grade)
    y = judged.grade[hidden]
    if len(lists.runs) == 1:
        return None, PriorCheck(
            n_hidden=0, failure="with a single run there is nothing to check it on"
        )
    if len(hidden) < LEAST_HIDDEN or not 0 < (y > 0).sum() < len(y):
        failure = (
            f"only {len(hidden)} judged documents ({int((y > 0).sum())} relevant) are those of a "
            "single run"
        )
        return None, PriorCheck(n_hidden=len(hidden), failure=failure)
    chance, relevant = reach[:, 0], y > 0
    seen = seen_share(judged, holes)
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
        found_share=_found_share(judged.take(hidden), first_holes(lists), seen),
    )
    check = _judge(check, judged, holes)
    if not check.passed:
        return None, check
    fitted = fit_prior(judged, gather_evidence(lists, judged, top_grade), top_grade)
    topic_spread = _spread(relevant, chance, judged.topic[hidden])
    run_spread = _spread(relevant, chance, judged.owner[hidden])
    return replace(
        fitted, topic_spread=topic_spread, run_spread=run_spread, found_share=check.found_share
    ), check


def _judge(check: PriorCheck, judged: Pool, holes: Pool) -> PriorCheck:
    """The same check, with the reason why the prior is refused, if there is one."""
    deepest = int(judged.best_rank.max())
    if len(holes.best_rank) and np.median(holes.best_rank) > TOO_DEEP * deepest:
        return replace(
            check,
            failure=(
                f"half of the unjudged documents are below rank {np.median(holes.best_rank):.0f}, "
                f"no judged one below {deepest}"
            ),
        )
    off = check.predicted - check.observed
    if abs(off) > CLEARLY_OFF and abs(off) > 3.0 * check.standard_error:
        return replace(
            check,
            failure=(
                f"it predicts {check.predicted:.0%} of the hidden documents to be relevant, and "
                f"{check.observed:.0%} are"
            ),
        )
    simpler = min(check.log_loss_run, check.log_loss_pool)
    if check.log_loss > CLEARLY_WORSE * simpler:
        return replace(
            check,
            failure=(
                f"its log loss is {check.log_loss:.3f}, that of a simpler prior {simpler:.3f}"
            ),
        )
    return check


def _predict_hidden(
    judged: Pool, lists: Lists, top_grade: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows that are hidden in some fold, with chances by the prior, by their run, by the pool."""
    unique = np.flatnonzero(judged.is_unique)
    n_folds = min(MOST_FOLDS, len(lists.runs))
    # What one run alone has is no evidence, and no fold hides anything else.
    evidence = gather_evidence(lists, judged, top_grade)
    by_run = _reached_by_run(judged, lists, top_grade)
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
    """[place, grade]: how many documents reach the grade."""
    return np.stack(
        [np.bincount(place[grade >= g], minlength=n_places) for g in range(top_grade + 1)], axis=1
    )


def _reached_by_run(judged: Pool, lists: Lists, top_grade: int) -> np.ndarray:
    """[run by name and topic, grade]: the same of what each run has within the cutoff."""
    rows, runs, topics = judged_entries(lists)
    cells = runs * lists.n_topics + topics
    return _reached(cells, judged.grade[rows], len(lists.runs) * lists.n_topics, top_grade)


def _shares(reached: np.ndarray) -> np.ndarray:
    """[place, grade from 1 on]: share of documents that reach it, with one more of each grade."""
    smoothed = reached + np.arange(reached.shape[1], 0, -1.0)
    return np.asarray(smoothed[:, 1:] / smoothed[:, :1])


def seen_share(judged: Pool, holes: Pool) -> float:
    """Of the documents that one run alone has, at the ranks where holes are, the share judged.

    Somebody else must have found these. The larger the share, the more it says of a hole that
    nobody else found it.
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
    """[run by name]: the rank of its first hole on any topic."""
    first = np.full(len(lists.runs), np.iinfo(np.int64).max)
    runs = places_by_name(lists.runs)[lists.open.cells // lists.n_topics]
    np.minimum.at(first, runs, lists.open.ranks)
    return first


def _found_share(hidden: Pool, first_hole: np.ndarray, seen: float) -> float:
    """The share of the hidden documents that somebody else than the given runs found.

    Above the first hole of a run all its documents are judged, whoever found them: as many as
    elsewhere were found by others. From there on, only what others found is judged.
    """
    below = hidden.best_rank >= first_hole[hidden.owner]
    return float(np.where(below, 1.0, seen).mean())


def _rank_place(pool: Pool) -> np.ndarray:
    """A number for each run and rank; below rank 32, for each run and octave of ranks."""
    octave = 32 + np.floor(np.log2(np.maximum(pool.best_rank, 32))).astype(np.int64)
    return np.asarray(pool.owner * 96 + np.where(pool.best_rank < 32, pool.best_rank, octave))


def _log_loss(reach: np.ndarray, grade: np.ndarray) -> float:
    """Mean of -log(chance of the grade that a document has)."""
    edges = np.concatenate([np.ones((len(reach), 1)), reach, np.zeros((len(reach), 1))], axis=1)
    rows = np.arange(len(reach))
    chance = edges[rows, grade] - edges[rows, grade + 1]
    return float(-np.log(np.maximum(chance, 1e-12)).mean())


def _bins(chance: np.ndarray, relevant: np.ndarray) -> tuple[Bin, ...]:
    """Chances against shares, in bins of equal size."""
    parts = np.array_split(np.argsort(chance, kind="stable"), N_BINS)
    return tuple(
        Bin(float(chance[rows].mean()), float(relevant[rows].mean()), len(rows))
        for rows in parts
        if len(rows)
    )


def _spread(relevant: np.ndarray, chance: np.ndarray, group: np.ndarray) -> float:
    """How far groups lie above or below their chances beyond what independent documents would.

    By moments: the sum of residuals of a group has variance V + spread² V², V = sum of p (1 - p).
    """
    n = int(group.max(initial=-1)) + 1
    residual = np.bincount(group, relevant - chance, minlength=n)
    variance = np.bincount(group, chance * (1.0 - chance), minlength=n)
    spread = float((residual**2 - variance).sum() / np.maximum((variance**2).sum(), 1e-12))
    return float(np.sqrt(min(max(spread, 0.0), 4.0)))
