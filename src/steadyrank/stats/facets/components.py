"""What graded answers vary by: the components of systems, topics, judges, answers and draws.

For anyone whose systems answer differently each time, or are graded by a few language models: a
score of system i on topic j, answer k, judge l and draw r is m + s_i + t_j + st_ij + a_k(ij) + g_l
+ sg_il + tg_jl + stg_ijl + ag_kl(ij) + e, answers nested in system and topic, draws in everything.
Components by expected mean squares where every cell is there, by restricted maximum likelihood
(`steadyrank.stats.facets.likelihood`) where not; by moments, at the cost of reading the scores,
where the judges are too many for a likelihood. What the layout cannot separate is named.
Instances of systems, their own or shared by all, are the same study with one facet more.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.compute.blas import one_blas_thread
from steadyrank.compute.random import Rng, block_stream, seed_from
from steadyrank.errors import InputError
from steadyrank.stats.anova.parts import CROSSED, sums_of_squares
from steadyrank.stats.facets.likelihood import FacetLikelihood
from steadyrank.stats.inputs import check_open_unit, check_scores
from steadyrank.stats.interval import Interval
from steadyrank.stats.mixed.search import identified, search
from steadyrank.stats.planning.variance import not_rounding

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

N_DRAWS = 20_000
"""Pivotal draws: an end of a 95 % interval then stands at 2.5 ± .1 % of its law."""

FacetDesign = Literal["nested", "crossed"]

EXACT, LIKELIHOOD, MOMENTS = (
    "expected mean squares",
    "restricted maximum likelihood",
    "method of moments",
)

MOST_BYTES = 500_000_000
"""That the likelihood of a layout with gaps may take."""


class Stability(ABC):
    """How well numbers of topics and levels order systems (E rho²) and measure them (Phi).

    `variance` are components, or draws of them, and `indices` what the effects of each have; what
    all systems share, without "s", moves their means, and not their differences.
    """

    __slots__ = ()
    variance: dict[str, Any]

    @property
    @abstractmethod
    def indices(self) -> Mapping[str, str]:
        """Component to the indices of its effects."""

    @abstractmethod
    def numbers(self, *at: Any) -> dict[str, float]:
        """How many levels of each index there are."""

    def e_rho2(self, *at: Any) -> Any:
        """Relative stability: system / (system + what may change the order)."""
        return self._coefficient(self._error(self.numbers(*at), is_relative=True))

    def phi(self, *at: Any) -> Any:
        """Absolute stability: system / (system + all that may change a mean score)."""
        return self._coefficient(self._error(self.numbers(*at), is_relative=False))

    def topics_for_e_rho2(self, level: float, *at: Any) -> Any:
        """The smallest number of topics with E rho² >= level; infinite where there is none."""
        return self._topics_for(level, self.numbers(1, *at), is_relative=True)

    def topics_for_phi(self, level: float, *at: Any) -> Any:
        """The smallest number of topics with Phi >= level; infinite where there is none."""
        return self._topics_for(level, self.numbers(1, *at), is_relative=False)

    def _error(self, numbers: Mapping[str, float], *, is_relative: bool) -> Any:
        return sum(
            self.variance[name] / math.prod(numbers[index] for index in own)
            for name, own in self.indices.items()
            if name != "system" and ("s" in own or not is_relative)
        )

    def _coefficient(self, error: Any) -> Any:
        """system / (system + error); 0 over 0 counts as 0, and sums below 0 as 0."""
        signal = np.maximum(self.variance.get("system", np.nan), 0.0)
        total = signal + np.maximum(error, 0.0)
        found = np.where(total > 0.0, signal / np.where(total > 0.0, total, 1.0), 0.0)
        return found if found.ndim else float(found)

    def _topics_for(self, level: float, numbers: dict[str, float], *, is_relative: bool) -> Any:
        odds = (1.0 - check_open_unit("level", level)) / level
        once, limit = (
            self._error(numbers | {"t": n}, is_relative=is_relative) for n in (1.0, math.inf)
        )
        room = odds * np.maximum(self.variance.get("system", np.nan), 0.0) - limit
        enough = room > 0.0
        # A size that only rounding put above a whole number is that number.
        needed = np.ceil((once - limit) / np.where(enough, room, 1.0) * (1.0 - 1e-12))
        found = np.where(enough, np.maximum(1.0, needed), np.inf)
        if found.ndim:
            return found
        return int(found) if np.isfinite(found) else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetComponents(Stability):
    """The G-study of systems × topics × instances; coefficients are of (n_topics, n_instances)."""

    design: FacetDesign
    facet: str
    """What instances are called: `instance`, `assessor`, …"""
    mean_squares: dict[str, float]
    df: dict[str, int]
    raw: dict[str, float]
    """Components as the mean squares give them; may be negative."""
    variance: dict[str, Any]
    """Components, negative ones as 0."""
    n_systems: int
    n_topics: int
    n_instances: float
    """Of each system; their harmonic mean where systems have different numbers."""
    n_runs: int
    n_dropped: int
    """Topics left out because some run lacks them."""

    @property
    def indices(self) -> Mapping[str, str]:
        """Component to its indices; one system's instances are told by both."""
        return facet_terms(self.design, self.facet)

    def numbers(self, *at: Any) -> dict[str, float]:
        """Of n_topics and n_instances."""
        return {"s": 1.0, "t": at[0], "i": at[1]}


def facet_terms(design: FacetDesign, facet: str) -> dict[str, str]:
    """Component to its indices, instances nested in systems or crossed with them."""
    if design == "nested":
        return {"system": "s", "topic": "t", facet: "si", "system_topic": "st", "residual": "sti"}
    shared = {"system": "s", "topic": "t", facet: "i", "system_topic": "st"}
    return shared | {f"system_{facet}": "si", f"topic_{facet}": "ti", "residual": "sti"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PivotalDraws:
    """Draws of the components' generalized pivotal quantities, and the intervals they give.

    An expected mean square is SS / U with U from chi-square, so draws of U turn into draws of the
    components, and these into draws of whatever depends on them. An interval lies between their
    quantiles, and is widened to the estimate where that fell outside, since a negative component
    is 0 in the estimate but only a small error in a draw.
    """

    components: FacetComponents
    drawn: FacetComponents
    """The same with draws for variances."""

    def interval(self, name: str, *at: Any, confidence: float = 0.95) -> Interval:
        """Of e_rho2, phi, topics_for_e_rho2 or topics_for_phi; for normal effects, approximate."""
        estimate = getattr(self.components, name)(*at)
        return central_span(getattr(self.drawn, name)(*at), estimate, confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Numbers of topics, of answers to each, of judges, and of draws of each grade."""

    topics: float
    answers: float = 1
    judges: float = 1
    draws: float = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradedComponents(Stability):
    """Variance components of scores [system, topic, answer, judge, draw]."""

    variance: dict[str, Any]
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
        return float(sum(weights.get(name, 0.0) * own for name, own in self.variance.items()))

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

    @property
    def indices(self) -> Mapping[str, str]:
        """Component to the indices of what it is called for."""
        return {name: INDICES[self.first(name)] for name in self.variance}

    def numbers(self, *at: Any) -> dict[str, float]:
        """Of sizes."""
        sizes = at[-1]
        return dict(
            zip(AXES, (1, sizes.topics, sizes.answers, sizes.judges, sizes.draws), strict=True)
        )

    def difference_weights(self, at: Sizes) -> dict[str, float]:
        """What a difference of two systems' means has of each component, judges being a sample."""
        numbers = self.numbers(at)
        return {
            name: 2.0 / math.prod(numbers[index] for index in own)
            for name, own in self.indices.items()
            if name != "system" and "s" in own
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
    method = EXACT if present.all() else LIKELIHOOD if _is_small(values.shape) else MOMENTS
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


def _layout(
    shape: Sequence[int], terms: Mapping[str, str], axes: str = AXES
) -> tuple[np.ndarray, dict[str, int]]:
    """Loads of components in expected mean squares, and degrees of freedom of these."""
    counts = dict(zip(axes, shape, strict=True))
    df: dict[str, int] = {}
    for name in sorted(terms, key=lambda name: len(terms[name])):
        inner = sum(df[other] for other in df if set(terms[other]) < set(terms[name]))
        df[name] = math.prod(counts[index] for index in terms[name]) - 1 - inner
    loads = mean_square_loads(list(terms.values()), counts)
    return loads, {name: df[name] for name in terms}


def _mean_squares(
    values: np.ndarray, terms: Mapping[str, str], names: str = AXES
) -> dict[str, float]:
    order = sorted(terms, key=lambda name: len(terms[name]))
    axes = [frozenset(names.index(index) - len(names) for index in terms[name]) for name in order]
    # The last has all axes, those of one level among them.
    axes[-1] = frozenset(range(-len(names), 0))
    sums = dict(zip(order, sums_of_squares(values - values.mean(), axes), strict=False))
    df = _layout(values.shape, terms, names)[1]
    return {name: not_rounding(float(sums[name]), df[name], values) / df[name] for name in terms}


def _solved(loads: np.ndarray, squares: Mapping[str, float]) -> dict[str, float]:
    """The components that solve the equations of expected mean squares."""
    solved = np.linalg.solve(loads, np.array(list(squares.values())))
    # Differences of mean squares that agree to the last digits are nothing but rounding.
    solved[np.abs(solved) <= 1e-14 * max(squares.values())] = 0.0
    return dict(zip(squares, solved.tolist(), strict=True))


def _by_mean_squares(
    values: np.ndarray, terms: Mapping[str, str], rng: Rng
) -> tuple[dict[str, float], np.ndarray]:
    """The components that solve the equations, and pivotal draws of them."""
    squares, (loads, df) = _mean_squares(values, terms), _layout(values.shape, terms)
    return _solved(loads, squares), pivotal_components(loads, squares, df, rng=rng)


def _by_likelihood(
    values: np.ndarray, terms: Mapping[str, str], rng: Rng
) -> tuple[dict[str, float], np.ndarray]:
    """The components of largest likelihood, and draws as if the layout were complete."""
    names = (*(name for name in terms if name != "residual"), "residual")
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
    return raw, _as_if_complete(values, terms, raw, rng)


def _is_small(shape: Sequence[int]) -> bool:
    m, n, *places = shape
    inner = math.prod(places) ** 2 + 2 * places[1] ** 2
    return 24 * m * n * inner + 24 * (m * places[1]) ** 2 < MOST_BYTES


def _by_moments(
    values: np.ndarray, terms: dict[str, str], rng: Rng
) -> tuple[dict[str, float], np.ndarray]:
    """The components that solve the equations of sums of squares within groups, whatever the gaps.

    The sum of squared group totals, each over its number of scores, is expected to hold a component
    as often as scores of the same group share an effect of it. On complete scores these are the
    expected mean squares. Reference: Gao & Owen 2017, doi:10.1214/17-EJS1236.
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
    """Pivotal draws of a complete layout of these components with as few scores in a cell."""
    loads, df = _layout(values.shape, {name: terms[name] for name in raw})
    there = float((~np.isnan(values)).mean())
    loads[:, [name != "residual" for name in raw]] *= there
    others = sum(count for name, count in df.items() if name != "residual")
    df["residual"] = max(1, round(there * values.size) - 1 - others)
    components = np.maximum(list(raw.values()), 0.0)
    squares = dict(zip(raw, loads @ components, strict=True))
    return pivotal_components(loads, squares, df, rng=rng)


def _filled(values: np.ndarray) -> np.ndarray:
    """Missing scores as the mean of those of the same topic and judge, topic, or all."""
    for axes in ((0, 2, 4), (0, 2, 3, 4), (0, 1, 2, 3, 4)):
        gaps = np.isnan(values)
        there = (~gaps).sum(axis=axes, keepdims=True)
        total = np.where(gaps, 0.0, values).sum(axis=axes, keepdims=True)
        means = np.where(there > 0, total / np.maximum(there, 1), np.nan)
        values = np.where(gaps, means, values)
    return values


def nested_components(
    scores: ArrayLike, systems: Sequence[Any], *, facet: str = "instance"
) -> FacetComponents:
    """Components of scores [run, topic] where the runs of a system are its own instances.

    With n topics and k instances of each system, expected mean squares are

        system        residual + k system_topic + n instance + n k system
        topic         residual + k system_topic + m k topic
        instance      residual + n instance
        system_topic  residual + k system_topic
        residual      residual

    and the components are what solves these for the mean squares found. With unequal numbers of
    instances the upper mean squares are k times those of the systems' mean scores by topic, k the
    harmonic mean: every system counts once, and the equations hold without change (method of
    unweighted means). A system with a single run helps with the upper mean squares. Topics that a
    run lacks are left out for all.

    Assumes that instances of all systems vary alike. Reference: Brennan 2001,
    doi:10.1007/978-1-4757-3456-0, chapter 3; Searle, Casella and McCulloch 1992, section 4.

    >>> scores = [[0.2, 0.5, 0.7], [0.3, 0.6, 0.9], [0.1, 0.2, 0.7], [0.0, 0.1, 0.7]]
    >>> g = nested_components(scores, ["a", "a", "b", "b"])
    >>> {name: round(g.variance[name], 4) for name in ("system", "topic", "instance")}
    {'system': 0.0208, 'topic': 0.0875, 'instance': 0.005}
    """
    matrix, n_dropped = _complete_topics(check_scores(scores))
    names, codes = np.unique(np.asarray(systems), return_inverse=True)
    sizes = np.bincount(codes)
    m, n, own = len(names), matrix.shape[1], len(codes) - len(names)
    _check_sizes(m, n, own > 0, "a system with at least 2 runs")
    k = m / float((1.0 / sizes).sum())
    centred = matrix - matrix.mean()
    means = np.zeros((m, n))
    np.add.at(means, codes, centred)
    means /= sizes[:, None]
    system, topic, interaction = sums_of_squares(means - means.mean(), CROSSED)
    instance, residual = sums_of_squares(centred - means[codes], CROSSED[:1])
    sums = {
        "system": (k * system, m - 1),
        "topic": (k * topic, n - 1),
        facet: (instance, own),
        "system_topic": (k * interaction, (m - 1) * (n - 1)),
        "residual": (residual, own * (n - 1)),
    }
    squares = {
        name: not_rounding(float(total), df, matrix) / df for name, (total, df) in sums.items()
    }
    df = {name: df for name, (_, df) in sums.items()}
    return _facet_components("nested", facet, squares, df, (m, n, k), len(codes), n_dropped)


def crossed_components(scores: ArrayLike, *, facet: str = "instance") -> FacetComponents:
    """Components of scores [system, topic, instance]: the same instances for every system.

    The expected mean square of an effect is the sum of all components whose indices contain its
    own, each times the number of scores behind one of its effects; for systems, residual +
    k system_topic + n system_instance + n k system. `facet` names the components. Topics that lack
    a score are left out.

    Reference: Brennan 2001, doi:10.1007/978-1-4757-3456-0, chapter 3; Cornfield and Tukey 1956,
    doi:10.1214/aoms/1177728067.

    >>> by_assessor = [[[0.2, 0.3], [0.5, 0.5], [0.9, 0.9]], [[0.1, 0.1], [0.2, 0.4], [0.7, 0.6]]]
    >>> g = crossed_components(by_assessor, facet="assessor")
    >>> list(g.variance)[3:]
    ['system_topic', 'system_assessor', 'topic_assessor', 'residual']
    """
    cube = np.asarray(scores, np.float64)
    if cube.ndim != 3:
        raise InputError(f"expected scores [system, topic, instance], got {cube.ndim} dimensions")
    m, all_topics, k = cube.shape
    flat, n_dropped = _complete_topics(
        check_scores(cube.transpose(0, 2, 1).reshape(m * k, all_topics))
    )
    n = flat.shape[1]
    _check_sizes(m, n, k > 1, f"2 levels of {facet}")
    cube = flat.reshape(m, k, n).transpose(0, 2, 1)
    terms = facet_terms("crossed", facet)
    squares, df = _mean_squares(cube, terms, "sti"), _layout(cube.shape, terms, "sti")[1]
    return _facet_components("crossed", facet, squares, df, (m, n, k), m * k, n_dropped)


def mean_square_loads(indices: Sequence[str], counts: Mapping[str, float]) -> np.ndarray:
    """The coefficients of components (columns) in expected mean squares (rows), all random.

    >>> mean_square_loads(["s", "t", "st"], {"s": 4, "t": 10, "j": 3}).tolist()
    [[30.0, 0.0, 3.0], [0.0, 12.0, 3.0], [0.0, 0.0, 3.0]]
    """
    return np.array(
        [
            [
                float(math.prod(counts[index] for index in counts if index not in inner))
                if set(outer) <= set(inner)
                else 0.0
                for inner in indices
            ]
            for outer in indices
        ]
    )


def pivotal_components(
    loads: np.ndarray,
    mean_squares: Mapping[str, float],
    df: Mapping[str, int],
    *,
    n_draws: int = N_DRAWS,
    rng: Rng = 0,
) -> np.ndarray:
    """Draws [component, draw] by the laws of the sums of squares; they may be negative."""
    stream = block_stream(seed_from(rng), "pivotal", 0)
    sums = np.array([mean_squares[name] * df[name] for name in df])
    chances = stream.chisquare(np.array(list(df.values()))[:, None], (len(sums), n_draws))
    return np.asarray(np.linalg.solve(loads, sums[:, None] / chances))


def pivotal_draws(g: FacetComponents, *, n_draws: int = N_DRAWS, rng: Rng = 0) -> PivotalDraws:
    """Draws of the components by the laws of their sums of squares, for normal effects.

    Reference: Weerahandi 1993, doi:10.1080/01621459.1993.10476355; Hannig, Iyer and Patterson
    2006, doi:10.1198/016214505000000736. In 1,500 or more simulated studies of each of 10 designs,
    some with unequal numbers of instances, 95 % intervals of both coefficients cover 94 to 96.5 %;
    with exponential effects, 73 to 80 %.
    """
    counts = {"s": g.n_systems, "t": g.n_topics, "i": g.n_instances}
    loads = mean_square_loads(list(g.indices.values()), counts)
    draws = pivotal_components(loads, g.mean_squares, g.df, n_draws=n_draws, rng=rng)
    drawn = replace(g, variance=dict(zip(g.df, draws, strict=True)))
    return PivotalDraws(components=g, drawn=drawn)


def _facet_components(
    design: FacetDesign,
    facet: str,
    squares: dict[str, float],
    df: dict[str, int],
    sizes: tuple[int, int, float],
    n_runs: int,
    n_dropped: int,
) -> FacetComponents:
    m, n, k = sizes
    loads = mean_square_loads(list(facet_terms(design, facet).values()), {"s": m, "t": n, "i": k})
    raw = _solved(loads, squares)
    return FacetComponents(
        design=design,
        facet=facet,
        mean_squares=squares,
        df=df,
        raw=raw,
        variance={name: max(0.0, value) for name, value in raw.items()},
        n_systems=m,
        n_topics=n,
        n_instances=int(k) if float(k).is_integer() else k,
        n_runs=n_runs,
        n_dropped=n_dropped,
    )


def _complete_topics(matrix: np.ndarray) -> tuple[np.ndarray, int]:
    """Scores [run, topic] on the topics that all runs have, and how many others there are."""
    complete = ~np.isnan(matrix).any(axis=0)
    return matrix[:, complete], int((~complete).sum())


def _check_sizes(n_systems: int, n_topics: int, has_instances: bool, instances: str) -> None:
    if n_systems < 2 or n_topics < 2 or not has_instances:
        raise InputError(
            "variance components require at least 2 systems, 2 topics that all runs have, and "
            f"{instances}; got {n_systems} systems and {n_topics} topics: omit runs that lack "
            "topics, or score missing topics as 0"
        )


def central_span(draws: np.ndarray, estimate: float, confidence: float) -> Interval:
    """The central interval of the draws, with the estimate in it."""
    tail = (1.0 - check_open_unit("confidence", confidence)) / 2.0
    last = len(draws) - 1
    places = round(tail * last), round((1.0 - tail) * last)
    low, high = np.partition(draws, places)[list(places)]
    return Interval(min(float(low), estimate), max(float(high), estimate))
