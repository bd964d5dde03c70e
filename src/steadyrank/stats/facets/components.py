"""What graded answers vary by: the components of systems, topics, judges, answers and draws.

For anyone whose systems answer differently each time, or are graded by a few language models: a
score of system i on topic j, answer k, judge l and draw r is m + s_i + t_j + st_ij + a_k(ij) + g_l
+ sg_il + tg_jl + stg_ijl + ag_kl(ij) + e, answers nested in system and topic, draws in everything.
Components by expected mean squares where every cell is there, by restricted maximum likelihood
(`steadyrank.stats.facets.likelihood`) where not. What the layout cannot separate is named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steadyrank.compute.blas import one_blas_thread
from steadyrank.compute.memory import check_memory
from steadyrank.compute.random import Rng
from steadyrank.errors import InputError
from steadyrank.stats.anova.parts import sums_of_squares
from steadyrank.stats.facets.likelihood import FacetLikelihood
from steadyrank.stats.interval import Interval
from steadyrank.stats.mixed.search import identified, search
from steadyrank.stats.planning.variance import not_rounding
from steadyrank.stats.planning.variance_facets import (
    central_span,
    mean_square_loads,
    pivotal_components,
)

AXES = "stajd"
"""System, topic, answer, judge, draw: the axes of scores."""

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

SHARED = ("topic", "judge", "topic:judge")
"""What all systems share: it moves their means, and not their differences."""

EXACT = "expected mean squares"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Numbers of topics, of answers to each, of judges, and of draws of each grade."""

    topics: float
    answers: float = 1
    judges: float = 1
    draws: float = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradedComponents:
    """Variance components of scores [system, topic, answer, judge, draw]."""

    variance: dict[str, float]
    """Those that the layout identifies, negative ones as 0."""
    raw: dict[str, float]
    """As expected mean squares give them; may be negative."""
    confounded: dict[str, tuple[str, ...]]
    """Of a component, which others it cannot be separated from: they are in it."""
    unidentified: tuple[str, ...]
    """Components that gaps leave without an estimate."""
    method: str
    n_systems: int
    sizes: Sizes
    n_missing: int
    confidence: float
    draws: np.ndarray
    """[component, draw]: of the pivotal quantities behind the intervals; may be negative."""

    def total(self, weights: Mapping[str, float]) -> float:
        """A sum of components, each times its weight."""
        return sum(weights.get(name, 0.0) * value for name, value in self.variance.items())

    def interval_of(self, weights: Mapping[str, float]) -> Interval:
        """The interval of such a sum."""
        drawn = np.array([weights.get(name, 0.0) for name in self.variance]) @ self.draws
        return central_span(np.maximum(drawn, 0.0), self.total(weights), self.confidence)

    @property
    def intervals(self) -> dict[str, Interval]:
        """Of each component."""
        return {name: self.interval_of({name: 1.0}) for name in self.variance}

    def first(self, name: str) -> str:
        """What a component is called for: the one of those in it that falls most slowly."""
        return self.confounded.get(name, (name,))[0]

    def difference_weights(self, at: Sizes) -> dict[str, float]:
        """What a difference of two systems' means has of each component, judges being a sample."""
        weights = self.mean_weights(at)
        return {name: 2.0 * w for name, w in weights.items() if self.first(name) not in SHARED}

    def mean_weights(self, at: Sizes) -> dict[str, float]:
        """What a system's mean has of each component, about its own true mean."""
        numbers = {"s": 1.0, "t": at.topics, "a": at.answers, "j": at.judges, "d": at.draws}
        return {
            name: 1.0 / math.prod(numbers[index] for index in INDICES[self.first(name)])
            for name in self.variance
            if name != "system"
        }


def graded_components(
    values: np.ndarray, *, confidence: float = 0.95, rng: Rng = 0
) -> GradedComponents:
    """Components of scores [system, topic, answer, judge, draw], NaN where missing.

    Intervals are generalized pivotal ones, for normal effects (Weerahandi 1993); where scores are
    missing, those of a complete layout of the same components with as few scores in a cell.

    Reference: Brennan 2001, doi:10.1007/978-1-4757-3456-0; Searle, Casella & McCulloch 1992.

    >>> cube = np.array([[[2.0, 3], [4, 4], [5, 4]], [[1.0, 3], [2, 5], [4, 4]]])
    >>> found = graded_components(cube[:, :, None, :, None])
    >>> list(found.variance)[3:], found.confounded["system:topic"]
    (['system:topic', 'system:judge', 'topic:judge', 'residual'], ('system:topic', 'answer'))
    """
    values = np.asarray(values, float)
    present = ~np.isnan(values)
    if min(present.any(axis=(1, 2, 3, 4)).sum(), present.any(axis=(0, 2, 3, 4)).sum()) < 2:
        raise InputError("variance components require at least 2 systems and 2 topics with scores")
    terms, confounded = terms_of(values.shape)
    if present.all():
        raw, draws = _by_mean_squares(values, terms, rng)
    else:
        raw, draws = _by_likelihood(values, terms, rng)
    return GradedComponents(
        variance={name: max(0.0, value) for name, value in raw.items()},
        raw=raw,
        confounded={name: held for name, held in confounded.items() if len(held) > 1},
        unidentified=tuple(name for name in terms if name not in raw),
        method=EXACT if present.all() else "restricted maximum likelihood",
        n_systems=values.shape[0],
        sizes=_sizes(present),
        n_missing=int((~present).sum()),
        confidence=confidence,
        draws=draws,
    )


def terms_of(shape: Sequence[int]) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Component to its indices of more than one level, and what each is confounded with.

    >>> terms_of((3, 10, 1, 4, 1))[0]["system:judge"], list(terms_of((3, 10, 5, 1, 1))[0])
    ('sj', ['system', 'topic', 'system:topic', 'residual'])
    """
    varied = [axis for axis, size in zip(AXES, shape, strict=True) if size > 1]
    held: dict[str, list[str]] = {}
    for name, indices in INDICES.items():
        if key := "".join(index for index in indices if index in varied):
            held.setdefault(key, []).append(name)  # what one judge does to all is in the mean
    whole = "".join(varied)
    named = {("residual" if key == whole else names[0]): key for key, names in held.items()}
    return named, {name: tuple(held[key]) for name, key in named.items()}


def _sizes(present: np.ndarray) -> Sizes:
    """Numbers of levels; of answers and draws harmonic means where they differ."""
    numbers = []
    for counts in (present.any(axis=(3, 4)).sum(axis=2), present.sum(axis=4)):
        mean = 1.0 / float((1.0 / counts[counts > 0]).mean())
        numbers.append(round(mean) if math.isclose(mean, round(mean)) else mean)
    _, n_topics, _, n_judges, _ = present.shape
    return Sizes(topics=n_topics, answers=numbers[0], judges=n_judges, draws=numbers[1])


def _layout(shape: Sequence[int], terms: Mapping[str, str]) -> tuple[np.ndarray, dict[str, int]]:
    """Loads of components in expected mean squares, and degrees of freedom of these."""
    counts = dict(zip(AXES, shape, strict=True))
    df: dict[str, int] = {}
    for name in sorted(terms, key=lambda name: len(terms[name])):
        inner = sum(df[other] for other in df if set(terms[other]) < set(terms[name]))
        df[name] = math.prod(counts[index] for index in terms[name]) - 1 - inner
    loads = mean_square_loads(list(terms.values()), counts)
    return loads, {name: df[name] for name in terms}


def _mean_squares(values: np.ndarray, terms: Mapping[str, str]) -> dict[str, float]:
    order = sorted(terms, key=lambda name: len(terms[name]))
    axes = [frozenset(AXES.index(index) - len(AXES) for index in terms[name]) for name in order]
    # The last has all axes, those of one level among them.
    axes[-1] = frozenset(range(-len(AXES), 0))
    sums = dict(zip(order, sums_of_squares(values - values.mean(), axes), strict=False))
    df = _layout(values.shape, terms)[1]
    return {name: not_rounding(float(sums[name]), df[name], values) / df[name] for name in terms}


def _by_mean_squares(
    values: np.ndarray, terms: Mapping[str, str], rng: Rng
) -> tuple[dict[str, float], np.ndarray]:
    """The components that solve the equations, and pivotal draws of them."""
    squares, (loads, df) = _mean_squares(values, terms), _layout(values.shape, terms)
    solved = np.linalg.solve(loads, np.array(list(squares.values())))
    # Differences of mean squares that agree to the last digits are nothing but rounding.
    solved[np.abs(solved) <= 1e-14 * max(squares.values())] = 0.0
    raw = dict(zip(terms, solved.tolist(), strict=True))
    return raw, pivotal_components(loads, squares, df, rng=rng)


def _by_likelihood(
    values: np.ndarray, terms: Mapping[str, str], rng: Rng
) -> tuple[dict[str, float], np.ndarray]:
    """The components of largest likelihood, and draws as if the layout were complete."""
    names = (*(name for name in terms if name != "residual"), "residual")
    m, n, *places = values.shape
    room = 24 * m * n * (math.prod(places) ** 2 + 2 * places[1] ** 2)
    many = f"components of {places[1]} judges who graded different answers"
    check_memory(room, many, "keep the judges with the most grades")
    spread = float(np.nanstd(values)) or 1.0
    centred = (values - np.nanmean(values)) / spread
    with one_blas_thread():
        likelihood = FacetLikelihood(centred, names)
        free = identified(likelihood)
        solved = _by_mean_squares(_filled(centred), terms, rng)[0]
        start = np.zeros(len(names))
        start[free] = [max(solved[names[place]], 1e-3) for place in free]
        variances, converged = search(likelihood, True, free, start, scoring_steps=0)
    if not converged:
        raise InputError("the variance components could not be estimated from these scores")
    known = {names[place]: float(variances[place]) * spread**2 for place in free.tolist()}
    raw = {name: known[name] for name in terms if name in known}
    loads, df = _layout(values.shape, {name: terms[name] for name in raw})
    there = float((~np.isnan(values)).mean())
    loads[:, [name != "residual" for name in raw]] *= there
    others = sum(count for name, count in df.items() if name != "residual")
    df["residual"] = max(1, round(there * values.size) - 1 - others)
    squares = dict(zip(raw, loads @ np.array(list(raw.values())), strict=True))
    return raw, pivotal_components(loads, squares, df, rng=rng)


def _filled(values: np.ndarray) -> np.ndarray:
    """Missing scores as the mean of those of the same topic and judge, topic, or all."""
    for axes in ((0, 2, 4), (0, 2, 3, 4), (0, 1, 2, 3, 4)):
        gaps = np.isnan(values)
        there = (~gaps).sum(axis=axes, keepdims=True)
        total = np.where(gaps, 0.0, values).sum(axis=axes, keepdims=True)
        means = np.where(there > 0, total / np.maximum(there, 1), np.nan)
        values = np.where(gaps, means, values)
    return values
