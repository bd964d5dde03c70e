"""Two equal systems graded by several judges: differences [trial, judge, topic].

The variances are about those of five language models that graded summaries of news.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bench.levels.pvalues import below
from steadyrank.data.levels import levels_of
from steadyrank.stats.facets.pairs import judge_tests
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.stats.pairs.result import all_pairs
from steadyrank_lab.papers.jayasinghe2015.pvalues import t_pvalues, two_way_pvalues

TOPIC, JUDGE, RESIDUAL = 0.22, 0.12, 0.97
"""Variances of a difference: twice system:topic, system:judge and the residual."""

MISSING = 0.05


def differences(
    stream: np.random.Generator,
    n_trials: int,
    *,
    n_topics: int,
    n_judges: int,
    judge: float = JUDGE,
    topic: float = TOPIC,
) -> np.ndarray:
    parts = (
        (topic, (n_trials, 1, n_topics)),
        (judge, (n_trials, n_judges, 1)),
        (RESIDUAL, (n_trials, n_judges, n_topics)),
    )
    return np.asarray(sum(np.sqrt(v) * stream.standard_normal(shape) for v, shape in parts))


DRAWS = {f"{n} judges": partial(differences, n_judges=n) for n in (2, 3, 5, 10)} | {
    "5 judges, none of their own": partial(differences, n_judges=5, judge=0.0),
    "5 judges, topics alike": partial(differences, n_judges=5, topic=0.0),
}


def judges_random(data: Any, levels: Sequence[float], seed: int) -> np.ndarray:
    """Return the p-values of the mixed model with random topics and judges, complete grades."""
    return below(two_way_pvalues(data), levels)


def systems(
    stream: np.random.Generator,
    n_trials: int,
    *,
    n_topics: int,
    n_judges: int,
    judge: float = JUDGE / 2,
    n_systems: int = 8,
) -> np.ndarray:
    """Return grades [trial, system, topic, judge] of equal systems."""
    shape = (n_trials, n_systems, n_topics, n_judges)
    parts = (
        (TOPIC / 2, (*shape[:3], 1)),
        (judge, (n_trials, n_systems, 1, n_judges)),
        (RESIDUAL / 2, shape),
    )
    return np.asarray(sum(np.sqrt(v) * stream.standard_normal(of) for v, of in parts))


FAMILIES = {f"{n} judges": partial(systems, n_judges=n) for n in (3, 5, 10)} | {
    "5 judges, none of their own": partial(systems, n_judges=5, judge=0.0)
}


def any_pair(cells: np.ndarray, seed: int) -> float:
    """Return the smallest p of all pairs, corrected by Holm as in `compare`."""
    tests = judge_tests(levels_of(cells), all_pairs(len(cells)))
    return float(np.fmax(adjust(tests.pvalue, "holm"), tests.pvalue_own).min())


def over_topics(data: Any, levels: Sequence[float], seed: int) -> np.ndarray:
    """Return the p-values of the paired t test of topics' means over judges."""
    return below(t_pvalues(data.mean(axis=1)), levels)


def with_gaps(d: np.ndarray, seed: int) -> float:
    """Return the p-values of two systems with grades missing at random."""
    gaps = np.random.default_rng(seed).random(d.shape) < MISSING
    first = np.where(gaps, np.nan, d).T
    both = np.stack([first, np.where(np.isnan(first), np.nan, 0.0)])
    tests = judge_tests(levels_of(both), all_pairs(2))
    return float(max(tests.pvalue[0], tests.pvalue_own[0]))
