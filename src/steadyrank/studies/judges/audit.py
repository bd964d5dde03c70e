"""A judge audited beside people: tau, kin, decisions, worth, plan."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.errors import InputError, warn
from steadyrank.stats.judges.agreement import (
    Worth,
    bias_of_runs,
    favours_kin,
    topics_for_power,
    topics_for_width,
    welch_pvalue,
    worth_of,
)
from steadyrank.stats.judges.corrected import JudgedScores
from steadyrank.stats.ranks.correlation import bootstrap_tau_interval
from steadyrank.stats.run_means import best_first
from steadyrank.studies.judges.result import Kin, PlanRow, TauOfRuns, names_of
from steadyrank.words import pvalue_words

RARE = 0.01
"""Chance with which random samples of topics are warned of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """What is asked of every judge."""

    kin: str | None = None
    kin_near: bool = False
    top: int | None = None
    width: float = 0.1
    minimum_difference: float = 0.05
    power: float = 0.8
    alpha: float = 0.05

    @property
    def confidence(self) -> float:
        """Of intervals."""
        return 1.0 - self.alpha


def audited(
    judge: str,
    scores: JudgedScores,
    runs: tuple[str, ...],
    settings: AuditSettings,
    *,
    seed: int,
    jobs: int | None,
) -> dict[str, Any]:
    """What is found of a judge's scores beside people's, by the fields of `JudgeResult`."""
    _warn_if_it_tells_nothing(judge, scores)
    worth = worth_of(scores.human, scores.judge, confidence=settings.confidence)
    return {
        "taus": taus_of(scores, settings.top, confidence=settings.confidence, seed=seed, jobs=jobs),
        "bias": bias_of_runs(scores.human, scores.judge, confidence=settings.confidence),
        "worth": worth,
        "kin": None if settings.kin is None else kin_of(scores, runs, settings),
        "plan": plan_of(worth, scores.n + scores.n_more, settings),
        "pvalue_of_sample": sample_pvalue(judge, scores),
    }


def taus_of(
    scores: JudgedScores, top: int | None, *, confidence: float, seed: int, jobs: int | None
) -> tuple[TauOfRuns, ...]:
    """tau and tau_AP of the runs' means by people and judge: all, best half, best `top`."""
    order, n_runs = best_first(scores.human.mean(axis=1)), len(scores.human)
    chosen = {"all": n_runs, "best half": (n_runs + 1) // 2}
    if top is not None:
        chosen[f"best {top}"] = top
    options: Any = {"confidence": confidence, "seed": seed, "jobs": jobs}
    taus = []
    for words, size in chosen.items():
        rows = np.sort(order[:size])
        both = scores.judge[rows], scores.human[rows]
        tau, tau_ap = (
            bootstrap_tau_interval(*both, coefficient=coefficient, **options)
            for coefficient in ("tau", "tau_ap")
        )
        taus.append(TauOfRuns(runs=words, tau=tau, tau_ap=tau_ap))
    return tuple(taus)


def kin_runs(pattern: str, runs: tuple[str, ...]) -> np.ndarray:
    """Which runs are kin to a judge: whether each name matches."""
    try:
        found = re.compile(pattern)
    except re.error as error:
        raise InputError(f"kin {pattern!r}: not a regular expression: {error}") from None
    kin = np.array([found.search(run) is not None for run in runs])
    if not kin.any() or kin.all():
        raise InputError(
            f"kin {pattern!r} matches {'all' if kin.all() else 'none'} of the {len(runs)} runs: "
            "it must match some of them"
        )
    return kin


def kin_of(scores: JudgedScores, runs: tuple[str, ...], settings: AuditSettings) -> Kin:
    """Whether a judge favours the runs that match, among all others or those about as good."""
    pattern = settings.kin or ""
    kin = kin_runs(pattern, runs)
    others = ~kin
    if settings.kin_near:
        means = scores.human.mean(axis=1)
        others &= (means >= means[kin].min()) & (means <= means[kin].max())
        if not others.any():
            raise InputError(
                "no other run has a mean within the range of those that match kin "
                f"{pattern!r}: omit kin_near"
            )
    return Kin(
        pattern=pattern,
        runs=tuple(names_of(runs, kin)),
        others=tuple(names_of(runs, others)),
        near=settings.kin_near,
        test=favours_kin(
            scores.human,
            scores.judge,
            np.flatnonzero(kin),
            np.flatnonzero(others),
            confidence=settings.confidence,
        ),
    )


def plan_of(worth: Worth, n_judged: int, settings: AuditSettings) -> tuple[PlanRow, ...]:
    """Topics of people for an interval of this width, and for a test of this power."""
    width, difference = settings.width, settings.minimum_difference
    return (
        PlanRow(
            goal="width",
            value=width,
            topics=topics_for_width(
                worth, width, n_judged=n_judged, confidence=settings.confidence
            ),
        ),
        PlanRow(
            goal="difference",
            value=difference,
            topics=topics_for_power(
                worth, difference, n_judged=n_judged, alpha=settings.alpha, power=settings.power
            ),
        ),
    )


def sample_pvalue(judge: str, scores: JudgedScores) -> float:
    """Welch's test of the judge's scores, mean over runs, on people's topics against the others."""
    own, others = scores.judge.mean(axis=0), scores.more.mean(axis=0)
    pvalue = welch_pvalue(own, others)
    if pvalue < RARE:
        warn(
            f"by judge {judge}, runs score {own.mean():.3f} on the topics that people judged and "
            f"{others.mean():.3f} on the others ({pvalue_words(pvalue)}): people's topics do not "
            "look like a random sample, without which the correction does not hold",
            stacklevel=5,
        )
    return pvalue


def _warn_if_it_tells_nothing(judge: str, scores: JudgedScores) -> None:
    """A judge that does not tell any two runs apart cannot help."""
    if not np.ptp(scores.everything, axis=0).any():
        warn(
            f"judge {judge} gives all runs the same score on every topic: people's judgments "
            "are used alone",
            stacklevel=6,
        )
