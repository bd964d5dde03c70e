"""Variance components of graded answers: systems, topics, judges, answers and draws.

The score of system i on topic j, answer k, judge l and draw r is m + s_i + t_j + st_ij + a_k(ij) +
g_l + sg_il + tg_jl + stg_ijl + ag_kl(ij) + e, with answers nested in system and topic, and draws in
everything. Components are estimated by expected mean squares for complete layouts, by restricted
maximum likelihood otherwise, and by moments if there are too many judges for a likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.compute.executors import one_blas_thread
from steadyrank.compute.random import Rng
from steadyrank.errors import InputError
from steadyrank.stats.anova.gstudy import (
    Stability,
    central_span,
    layout_df,
    layout_sums,
    mean_square_loads,
    mean_squares_of,
    pivotal_components,
    solved_components,
)
from steadyrank.stats.facets.likelihood import FacetLikelihood
from steadyrank.stats.interval import Interval
from steadyrank.stats.mixed.search import identified, search

AXES = "stajd"
"""Axes of scores: system, topic, answer, judge, draw."""

INDICES: Mapping[str, str] = {
    "system": "s",
    "topic": "t",
    "judge": "j",
    "system:topic": "st",
    "answer": "sta",
    "system:judge": "sj",
    "topic:judge": "tj",
    "system:topic:judge": "stj",
    "answer:judge": "staj",
    "residual": "stajd",
}
"""Component to the indices that its effects have."""

EXACT, LIKELIHOOD, MOMENTS = (
    "expected mean squares",
    "restricted maximum likelihood",
    "method of moments",
)

MOST_BYTES = 500_000_000
"""Largest memory of the likelihood of an incomplete layout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Numbers of topics, of answers per topic, of judges, and of draws per grade."""

    topics: float
    answers: float = 1
    judges: float = 1
    draws: float = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradedComponents(Stability):
    """Variance components of scores [system, topic, answer, judge, draw]."""

    variance: dict[str, Any]
    """Identified components, negative ones as 0."""
    raw: dict[str, float]
    """Estimates, which may be negative."""
    confounded: dict[str, tuple[str, ...]]
    """Component to all components that it includes because they cannot be separated."""
    unidentified: tuple[str, ...]
    """Components that cannot be estimated because of missing scores."""
    method: str
    n_systems: int
    sizes: Sizes
    n_missing: int
    confidence: float
    draws: np.ndarray  # [component, draw]: pivotal draws for the intervals; may be negative

    def total(self, weights: Mapping[str, float]) -> float:
        """Return the weighted sum of components."""
        return float(sum(weights.get(name, 0.0) * own for name, own in self.variance.items()))

    def interval_of(self, weights: Mapping[str, float]) -> Interval:
        """Return the interval of a weighted sum of components."""
        drawn = np.array([weights.get(name, 0.0) for name in self.variance]) @ self.draws
        return central_span(np.maximum(drawn, 0.0), self.total(weights), self.confidence)

    @property
    def intervals(self) -> dict[str, Interval]:
        """Interval of each component."""
        return {name: self.interval_of({name: 1.0}) for name in self.variance}

    def first(self, name: str) -> str:
        """Return the first of the components that a component includes."""
        return self.confounded.get(name, (name,))[0]

    @property
    def indices(self) -> Mapping[str, str]:
        """Component to the indices of the first component that it includes."""
        return {name: INDICES[self.first(name)] for name in self.variance}

    def numbers(self, *at: Any) -> dict[str, float]:
        """Return the number of levels of each index."""
        sizes = at[-1]
        return dict(
            zip(AXES, (1, sizes.topics, sizes.answers, sizes.judges, sizes.draws), strict=True)
        )

    def difference_weights(self, at: Sizes) -> dict[str, float]:
        """Return the weight of each component in a difference of two systems; judges are random."""
        numbers = self.numbers(at)
        return {
            name: 2.0 / math.prod(numbers[index] for index in own)
            for name, own in self.indices.items()
            if name != "system" and "s" in own
        }


def graded_components(
    values: np.ndarray, *, confidence: float = 0.95, rng: Rng = 0
) -> GradedComponents:
    """Return components of scores [system, topic, answer, judge, draw], NaN where missing.

    Intervals are generalized pivotal ones, for normal effects (Weerahandi 1993); if scores are
    missing, those of a complete layout of the same components with the mean number per cell.

    Reference: Brennan 2001, doi:10.1007/978-1-4757-3456-0; Searle, Casella & McCulloch 1992.
    """
    values = np.asarray(values, float)
    present = ~np.isnan(values)
    if min(present.any(axis=(1, 2, 3, 4)).sum(), present.any(axis=(0, 2, 3, 4)).sum()) < 2:
        raise InputError("variance components require at least 2 systems and 2 topics with scores")
    terms, confounded = terms_of(values.shape)
    m, n, *places = values.shape
    size = 24 * m * n * (math.prod(places) ** 2 + 2 * places[1] ** 2) + 24 * (m * places[1]) ** 2
    method = EXACT if present.all() else LIKELIHOOD if size < MOST_BYTES else MOMENTS
    by = {EXACT: _by_mean_squares, LIKELIHOOD: _by_likelihood, MOMENTS: _by_moments}
    raw, draws = by[method](values, terms, rng)
    return GradedComponents(
        variance={name: max(0.0, value) for name, value in raw.items()},
        raw=raw,
        confounded={name: held for name, held in confounded.items() if len(held) > 1},
        unidentified=tuple(name for name in terms if name not in raw),
        method=method,
        n_systems=values.shape[0],
        sizes=_sizes(present),
        n_missing=int((~present).sum()),
        confidence=confidence,
        draws=draws,
    )


def terms_of(shape: Sequence[int]) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return the indices with several levels of each component, and its confounded components.

    >>> terms_of((3, 10, 1, 4, 1))[0]["system:judge"], list(terms_of((3, 10, 5, 1, 1))[0])
    ('sj', ['system', 'topic', 'system:topic', 'residual'])
    """
    varied = [axis for axis, size in zip(AXES, shape, strict=True) if size > 1]
    held: dict[str, list[str]] = {}
    for name, indices in INDICES.items():
        if key := "".join(index for index in indices if index in varied):
            held.setdefault(key, []).append(name)  # without indices: part of the mean
    whole = "".join(varied)
    named = {("residual" if key == whole else names[0]): key for key, names in held.items()}
    return named, {name: tuple(held[key]) for name, key in named.items()}


def _sizes(present: np.ndarray) -> Sizes:
    """Return numbers of levels; harmonic means of unequal numbers of answers and draws."""
    numbers = []
    for counts in (present.any(axis=(3, 4)).sum(axis=2), present.sum(axis=4)):
        mean = 1.0 / float((1.0 / counts[counts > 0]).mean())
        numbers.append(round(mean) if math.isclose(mean, round(mean)) else mean)
    _, n_topics, _, n_judges, _ = present.shape
    return Sizes(topics=n_topics, answers=numbers[0], judges=n_judges, draws=numbers[1])


def _by_mean_squares(
    values: np.ndarray, terms: Mapping[str, str], rng: Rng
) -> tuple[dict[str, float], np.ndarray]:
    """Return the components that solve the equations, and pivotal draws."""
    counts = dict(zip(AXES, values.shape, strict=True))
    df, loads = layout_df(terms, counts), mean_square_loads(list(terms.values()), counts)
    squares = mean_squares_of(layout_sums(values, terms, AXES), df, values)
    return solved_components(loads, squares), pivotal_components(loads, squares, df, rng=rng)


def _by_likelihood(
    values: np.ndarray, terms: Mapping[str, str], rng: Rng
) -> tuple[dict[str, float], np.ndarray]:
    """Return the components of largest likelihood, and draws as for a complete layout."""
    names = (*(name for name in terms if name != "residual"), "residual")
    spread = float(np.nanstd(values)) or 1.0
    centred = (values - np.nanmean(values)) / spread
    with one_blas_thread():
        likelihood = FacetLikelihood(centred, names)
        free = identified(likelihood)
        solved = _by_mean_squares(_filled(centred), terms, rng)[0]
        start = np.zeros(len(names))
        start[free] = [max(solved[names[place]], 1e-3) for place in free]
        variances, converged = search(likelihood, free, start, scoring_steps=0)
    if not converged:
        raise InputError("the variance components could not be estimated from these scores")
    known = {names[place]: float(variances[place]) * spread**2 for place in free.tolist()}
    raw = {name: known[name] for name in terms if name in known}
    return raw, _as_if_complete(values, terms, raw, rng)


def _by_moments(
    values: np.ndarray, terms: dict[str, str], rng: Rng
) -> tuple[dict[str, float], np.ndarray]:
    """Return components by the method of moments, for any pattern of missing scores.

    In the expected sum of squared group totals, each over its number of scores, the coefficient of
    a component is the number of pairs of scores in a group that share one of its effects (Gao &
    Owen 2017, doi:10.1214/17-EJS1236).
    """
    there, centred = ~np.isnan(values), np.nan_to_num(values - np.nanmean(values))

    def sums(of: np.ndarray, key: str) -> np.ndarray:
        out = tuple(place for place, axis in enumerate(AXES) if axis not in key)
        return np.asarray(of.sum(axis=out, keepdims=True, dtype=float))

    squares, loads = [], []
    for key in ("", *terms.values()):
        n = np.maximum(sums(there, key), 1.0)
        squares.append(float((sums(centred, key) ** 2 / n).sum()))
        shared = (sums(sums(there, key + own) ** 2, key) / n for own in terms.values())
        loads.append([float(each.sum()) for each in shared])
    left, right = np.array(loads[1:]) - loads[0], np.array(squares[1:]) - squares[0]
    kept: list[int] = []
    for place in (len(terms) - 1, *range(len(terms) - 1)):
        chosen = sorted([*kept, place])
        part = left[:, chosen] / np.abs(left[:, chosen]).max(axis=0)
        kept = chosen if np.linalg.matrix_rank(part, 1e-9) == len(chosen) else kept
    found = np.linalg.lstsq(left[:, kept], right, rcond=None)[0]
    raw = {list(terms)[place]: float(own) for place, own in zip(kept, found, strict=True)}
    return raw, _as_if_complete(values, terms, raw, rng)


def _as_if_complete(
    values: np.ndarray, terms: Mapping[str, str], raw: Mapping[str, float], rng: Rng
) -> np.ndarray:
    """Return pivotal draws of a complete layout with the mean number of scores per cell."""
    own, counts = {name: terms[name] for name in raw}, dict(zip(AXES, values.shape, strict=True))
    df, loads = layout_df(own, counts), mean_square_loads(list(own.values()), counts)
    there = float((~np.isnan(values)).mean())
    loads[:, [name != "residual" for name in raw]] *= there
    others = sum(count for name, count in df.items() if name != "residual")
    df["residual"] = max(1, round(there * values.size) - 1 - others)
    components = np.maximum(list(raw.values()), 0.0)
    squares = dict(zip(raw, loads @ components, strict=True))
    return pivotal_components(loads, squares, df, rng=rng)


def _filled(values: np.ndarray) -> np.ndarray:
    """Replace missing scores by the mean of the same topic and judge, the topic, or all."""
    for axes in ((0, 2, 4), (0, 2, 3, 4), (0, 1, 2, 3, 4)):
        gaps = np.isnan(values)
        there = (~gaps).sum(axis=axes, keepdims=True)
        total = np.where(gaps, 0.0, values).sum(axis=axes, keepdims=True)
        means = np.where(there > 0, total / np.maximum(there, 1), np.nan)
        values = np.where(gaps, means, values)
    return values
