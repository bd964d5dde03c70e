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
from typing import Any

import numpy as np

from steadyrank.compute.blas import one_blas_thread
from steadyrank.compute.random import Rng
from steadyrank.errors import InputError
from steadyrank.stats.anova.parts import sums_of_squares
from steadyrank.stats.facets.likelihood import likelihood_of_scores
from steadyrank.stats.interval import Interval
from steadyrank.stats.mixed.search import identified, search
from steadyrank.stats.planning.variance import not_rounding
from steadyrank.stats.planning.variance_facets import (
    central_span,
    mean_square_loads,
    pivotal_components,
)

FACETS = ("judge", "answer", "draw")
"""What scores may have beside systems and topics."""

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
    intervals: dict[str, Interval]
    confounded: dict[str, tuple[str, ...]]
    """Of a component, which others it cannot be separated from: they are in it."""
    unidentified: tuple[str, ...]
    """Components that gaps leave without an estimate."""
    method: str
    """"expected mean squares" or "restricted maximum likelihood"."""
    n_systems: int
    sizes: Sizes
    n_scores: int
    n_missing: int
    confidence: float
    draws: np.ndarray
    """[component, draw]: of the pivotal quantities behind the intervals; may be negative."""

    def total(self, weights: Mapping[str, float]) -> float:
        """A sum of components, each times its weight."""
        return sum(weights.get(name, 0.0) * value for name, value in self.variance.items())

    def interval_of(self, weights: Mapping[str, float]) -> Interval:
        """The interval of such a sum."""
        row = np.array([weights.get(name, 0.0) for name in self.variance])
        drawn = np.maximum(row @ self.draws, 0.0)
        return central_span(drawn, self.total(weights), self.confidence)

    def difference_weights(self, at: Sizes) -> dict[str, float]:
        """What a difference of two systems' means has of each component, judges being a sample."""
        return self._weights(_DIFFERENCE, at, 2.0)

    def mean_weights(self, at: Sizes) -> dict[str, float]:
        """What a system's mean has of each component, about the mean over all."""
        return self._weights(_DIFFERENCE | _LEVEL, at, 1.0)

    def _weights(self, shares: Mapping[str, str], at: Sizes, factor: float) -> dict[str, float]:
        """With what it is confounded with, a component falls as slowly as the slowest of them."""
        numbers = {"t": at.topics, "a": at.answers, "j": at.judges, "d": at.draws}
        first = {name: self.confounded.get(name, (name,))[0] for name in self.variance}
        return {
            name: factor / math.prod(numbers[index] for index in shares[first[name]])
            for name in self.variance
            if first[name] in shares
        }


_DIFFERENCE = {
    "system:topic": "t",
    "answer": "ta",
    "system:judge": "j",
    "system:topic:judge": "tj",
    "answer:judge": "taj",
    "residual": "tajd",
}
"""Components of a difference, and the numbers that they are divided by."""

_LEVEL = {"topic": "t", "judge": "j", "topic:judge": "tj"}
"""What differences do not have: all systems share it."""


def graded_components(
    values: np.ndarray, *, confidence: float = 0.95, rng: Rng = 0
) -> GradedComponents:
    """Components of scores [system, topic, answer, judge, draw], NaN where missing.

    Intervals are generalized pivotal ones, for normal effects (Weerahandi 1993); where scores are
    missing, those of a complete layout of the same components with as few scores in a cell.

    Reference: Brennan 2001, doi:10.1007/978-1-4757-3456-0; Searle, Casella & McCulloch 1992.

    >>> cube = np.array([[[2.0, 3], [4, 4], [5, 4]], [[1.0, 3], [2, 5], [4, 4]]])
    >>> found = graded_components(cube[:, :, None, :, None])
    >>> list(found.variance), found.confounded["residual"]
    (['system', 'topic', 'judge', 'system:topic', 'system:judge', 'topic:judge', 'residual'], \
('system:topic:judge', 'answer:judge', 'residual'))
    """
    values = np.asarray(values, float)
    present = ~np.isnan(values)
    if present.sum() < 2 or values.shape[0] < 2 or values.shape[1] < 2:
        raise InputError(
            "variance components require at least 2 systems and 2 topics with scores, got "
            f"{values.shape[0]} and {values.shape[1]}"
        )
    terms, confounded = terms_of(values.shape)
    shared: Any = {
        "confounded": {name: held for name, held in confounded.items() if len(held) > 1},
        "n_systems": values.shape[0],
        "sizes": _sizes(present),
        "n_scores": int(present.sum()),
        "n_missing": int((~present).sum()),
        "confidence": confidence,
    }
    if present.all():
        return _by_mean_squares(values, terms, shared, rng)
    return _by_likelihood(values, terms, shared, rng)


def terms_of(shape: Sequence[int]) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Component to its indices of more than one level, and what each is confounded with.

    >>> terms_of((3, 10, 1, 4, 1))[0]["system:judge"], list(terms_of((3, 10, 5, 1, 1))[0])
    ('sj', ['system', 'topic', 'system:topic', 'residual'])
    """
    varied = {axis for axis, size in zip(AXES, shape, strict=True) if size > 1}
    held: dict[str, list[str]] = {}
    for name, indices in INDICES.items():
        key = "".join(index for index in indices if index in varied)
        if key:  # what one judge does to all is in the mean
            held.setdefault(key, []).append(name)
    whole = "".join(axis for axis in AXES if axis in varied)
    named = {("residual" if key == whole else names[0]): key for key, names in held.items()}
    return named, {name: tuple(held[key]) for name, key in named.items()}


def _sizes(present: np.ndarray) -> Sizes:
    """Numbers of levels; of answers and draws harmonic means where they differ."""
    answers = present.any(axis=(3, 4)).sum(axis=2)
    draws = present.sum(axis=4)
    answers, draws = answers[answers > 0], draws[draws > 0]
    return Sizes(
        topics=present.shape[1],
        answers=_plain(len(answers) / float((1.0 / answers).sum())),
        judges=present.shape[3],
        draws=_plain(len(draws) / float((1.0 / draws).sum())),
    )


def _plain(number: float) -> float:
    return int(number) if float(number).is_integer() else number


def _by_mean_squares(
    values: np.ndarray, terms: Mapping[str, str], shared: dict[str, Any], rng: Rng
) -> GradedComponents:
    squares, df = _mean_squares(values, terms)
    counts = dict(zip(AXES, values.shape, strict=True))
    loads = mean_square_loads(list(terms.values()), counts)
    solved = np.linalg.solve(loads, np.array(list(squares.values())))
    scale = 1e-14 * max(squares.values())
    raw = {
        name: value if abs(value) > scale else 0.0
        for name, value in zip(terms, solved.tolist(), strict=True)
    }
    draws = pivotal_components(loads, squares, df, rng=rng)
    variance = {name: max(0.0, value) for name, value in raw.items()}
    return GradedComponents(
        variance=variance,
        raw=raw,
        intervals=_spans(draws, variance, shared["confidence"]),
        unidentified=(),
        method="expected mean squares",
        draws=draws,
        **shared,
    )


def _mean_squares(
    values: np.ndarray, terms: Mapping[str, str]
) -> tuple[dict[str, float], dict[str, int]]:
    centred = values - values.mean()
    order = sorted(terms, key=lambda name: len(terms[name]))
    axes = [frozenset(AXES.index(index) - len(AXES) for index in terms[name]) for name in order]
    # Axes of one level are in no term, and count as samples would: they are summed over below.
    sums = sums_of_squares(centred, [*axes[:-1], frozenset(range(-len(AXES), 0))])[:-1]
    df = _degrees(terms, dict(zip(AXES, values.shape, strict=True)))
    squares = {
        name: not_rounding(float(total), df[name], values) / df[name]
        for name, total in zip(order, sums, strict=True)
    }
    return {name: squares[name] for name in terms}, {name: df[name] for name in terms}


def _degrees(terms: Mapping[str, str], counts: Mapping[str, int]) -> dict[str, int]:
    """Degrees of freedom of each component's mean square in a complete layout."""
    df: dict[str, int] = {}
    for name in sorted(terms, key=lambda name: len(terms[name])):
        inner = [other for other in df if set(terms[other]) < set(terms[name])]
        df[name] = math.prod(counts[index] for index in terms[name]) - 1 - sum(df[k] for k in inner)
    return df


def _by_likelihood(
    values: np.ndarray, terms: Mapping[str, str], shared: dict[str, Any], rng: Rng
) -> GradedComponents:
    names = (*(name for name in terms if name != "residual"), "residual")
    spread = float(np.nanstd(values))
    centred = (values - np.nanmean(values)) / (spread or 1.0)
    with one_blas_thread():
        likelihood = likelihood_of_scores(centred, names)
        free = identified(likelihood)
        start = _start(centred, terms, names, free)
        variances, converged = search(likelihood, True, free, start, scoring_steps=0)
    if not converged:
        raise InputError("the variance components could not be estimated from these scores")
    known = dict(zip(names, (variances * spread**2).tolist(), strict=True))
    variance = {name: known[name] for name in terms if names.index(name) in set(free.tolist())}
    draws = _draws_with_gaps(values, variance, terms, rng)
    return GradedComponents(
        variance=variance,
        raw=variance,
        intervals=_spans(draws, variance, shared["confidence"]),
        unidentified=tuple(name for name in terms if name not in variance),
        method="restricted maximum likelihood",
        draws=draws,
        **shared,
    )


def _draws_with_gaps(
    values: np.ndarray, variance: Mapping[str, float], terms: Mapping[str, str], rng: Rng
) -> np.ndarray:
    """Pivotal draws of a complete layout with these components and as few scores in a cell."""
    known = {name: terms[name] for name in variance}
    counts = dict(zip(AXES, values.shape, strict=True))
    there = float((~np.isnan(values)).mean())
    loads = mean_square_loads(list(known.values()), counts)
    own = [name != "residual" for name in known]
    loads[:, own] *= there
    df = _degrees(known, counts)
    scores = round(there * values.size)
    df["residual"] = max(1, scores - 1 - sum(df[name] for name in df if name != "residual"))
    squares = dict(zip(known, loads @ np.array(list(variance.values())), strict=True))
    return pivotal_components(loads, squares, {name: df[name] for name in known}, rng=rng)


def _spans(
    draws: np.ndarray, variance: Mapping[str, float], confidence: float
) -> dict[str, Interval]:
    """The interval of each component, from 0 on."""
    return {
        name: central_span(np.maximum(draw, 0.0), value, confidence)
        for draw, (name, value) in zip(draws, variance.items(), strict=True)
    }


def _start(
    values: np.ndarray, terms: Mapping[str, str], names: Sequence[str], free: np.ndarray
) -> np.ndarray:
    """The components by mean squares, missing scores as those of the same topic and judge."""
    filled = values.copy()
    for axes in ((0, 2, 4), (0, 1, 2, 4), (0, 1, 2, 3, 4)):
        gaps = np.isnan(filled)
        if not gaps.any():
            break
        there = (~gaps).sum(axis=axes, keepdims=True)
        total = np.where(gaps, 0.0, filled).sum(axis=axes, keepdims=True)
        means = np.where(there > 0, total / np.maximum(there, 1), np.nan)
        filled = np.where(gaps, means, filled)
    squares, _ = _mean_squares(filled, terms)
    loads = mean_square_loads(list(terms.values()), dict(zip(AXES, values.shape, strict=True)))
    solved = dict(zip(terms, np.linalg.solve(loads, list(squares.values())), strict=True))
    start = np.zeros(len(names))
    start[free] = [max(float(solved[names[place]]), 1e-3) for place in free]
    return start
