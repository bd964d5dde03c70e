"""How reliably do topics order systems? Variance components of balanced layouts (G-study, D-study).

The G-study estimates variance components of scores of systems on topics, with or without instances
of systems, by expected mean squares. Its D-study gives E rho² and Phi for any numbers of topics and
instances, with intervals (Brennan 2001, doi:10.1007/978-1-4757-3456-0; Urbano, Marrero and Martín,
SIGIR 2013, pp. 393-402).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from steadyrank.compute.random import Rng, block_stream, seed_from
from steadyrank.errors import InputError
from steadyrank.stats.anova.parts import CROSSED, Amount, sums_of_squares
from steadyrank.stats.inputs import check_open_unit, check_scores, complete_topics
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.result import tiny_of
from steadyrank.stats.planning.design import whole_size

N_DRAWS = 20_000

StudyDesign = Literal["topics", "nested"]

DESIGNS: Mapping[StudyDesign, Mapping[str, str]] = {
    "topics": {"system": "s", "topic": "t", "residual": "st"},
    "nested": {
        "system": "s",
        "topic": "t",
        "instance": "si",
        "system_topic": "st",
        "residual": "sti",
    },
}
"""Component to the indices of its effects, by design."""


class Stability(ABC):
    """How reliably numbers of topics and levels order systems (E rho²) and measure them (Phi).

    `variance` holds components, or draws of them, and `indices` the indices of their effects;
    effects without the index "s" are shared by all systems, and do not change differences.
    """

    __slots__ = ()
    variance: dict[str, Any]

    @property
    @abstractmethod
    def indices(self) -> Mapping[str, str]:
        """Component to the indices of its effects."""

    @abstractmethod
    def numbers(self, *at: Any) -> dict[str, float]:
        """Return the number of levels of each index."""

    def e_rho2(self, *at: Any) -> Any:
        """Return the relative stability: system / (system + error of differences)."""
        return self._coefficient(self._error(self.numbers(*at), is_relative=True))

    def phi(self, *at: Any) -> Any:
        """Return the absolute stability: system / (system + error of means)."""
        return self._coefficient(self._error(self.numbers(*at), is_relative=False))

    def topics_for_e_rho2(self, level: float, *at: Any) -> Any:
        """Return the smallest number of topics with E rho² >= level; infinite if there is none."""
        return self._topics_for(level, self.numbers(1, *at), is_relative=True)

    def topics_for_phi(self, level: float, *at: Any) -> Any:
        """Return the smallest number of topics with Phi >= level; infinite if there is none."""
        return self._topics_for(level, self.numbers(1, *at), is_relative=False)

    def _error(self, numbers: Mapping[str, float], *, is_relative: bool) -> Any:
        return sum(
            self.variance[name] / math.prod(numbers[index] for index in own)
            for name, own in self.indices.items()
            if name != "system" and ("s" in own or not is_relative)
        )

    def _coefficient(self, error: Any) -> Any:
        """Return system / (system + error); 0 over 0 is 0, and negative sums count as 0."""
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
        found = np.where(enough, whole_size((once - limit) / np.where(enough, room, 1.0)), np.inf)
        if found.ndim:
            return found
        return int(found) if np.isfinite(found) else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class GStudy(Stability):
    """A G-study of systems × topics, with or without instances; methods are its D-study.

    Coefficients are functions of the number of topics, and of instances if there are any.
    """

    design: StudyDesign = "topics"
    mean_squares: dict[str, float]
    df: dict[str, int]
    raw: dict[str, float]
    """Estimated components, which may be negative."""
    variance: dict[str, Any]
    """Components, negative ones as 0."""
    n_systems: int
    n_topics: int
    n_instances: float = 1
    """Number of instances of each system; the harmonic mean of different numbers."""
    n_runs: int
    n_dropped: int
    """Number of topics omitted because some run lacks them."""

    @property
    def indices(self) -> Mapping[str, str]:
        """Component to its indices."""
        return DESIGNS[self.design]

    def numbers(self, *at: Any) -> dict[str, float]:
        """Return the numbers of levels for n_topics, and n_instances if there are any."""
        return dict(zip("sti", (1.0, *at), strict=False))

    def interval(self, name: str, at: float, *, confidence: float = 0.95) -> Interval:
        """Return the interval of a method: `at` is n_topics, or the level for topics_for_….

        For systems × topics. Exact for E rho² with normal effects (Feldt, Psychometrika 30(3),
        1965); approximate for Phi (Arteaga, Jeyaratnam and Franklin, Communications in Statistics:
        Theory and Methods 11(15), 1982), whose limits are at most those of E rho².
        """
        tail = (1.0 - check_open_unit("confidence", confidence)) / 2.0
        most = self._relative_limit(tail)
        if name.endswith("e_rho2"):
            low, high = self._relative_limit(1.0 - tail), most
        else:
            low, high = (min(self._absolute_limit(p), most) for p in (1.0 - tail, tail))
        if name.startswith("topics_for"):  # the larger the ratio of variances, the fewer topics
            return Interval(topics_for(high, at), topics_for(low, at))
        return Interval(
            *(1.0 if math.isinf(end) else at * end / (1.0 + at * end) for end in (low, high))
        )

    def _relative_limit(self, quantile: float) -> float:
        """Return a limit of system / residual variance.

        MS_s / MS_e times residual / (residual + n system) follows F with m - 1 and (m - 1)(n - 1)
        degrees of freedom.
        """
        m, n = self.n_systems, self.n_topics
        spread = _ratio(self.mean_squares["system"], self.mean_squares["residual"])
        expected = float(special.fdtri(m - 1, (m - 1) * (n - 1), quantile))
        return max(0.0, (spread / expected - 1.0) / n)

    def _absolute_limit(self, quantile: float) -> float:
        """Return a limit of system / (topic + residual) variance."""
        m, n = self.n_systems, self.n_topics
        s, t, e = (self.mean_squares[name] for name in ("system", "topic", "residual"))
        endless = float(special.gammaincinv((m - 1) / 2, quantile)) * 2.0 / (m - 1)
        residual, topic = special.fdtri(m - 1, [(m - 1) * (n - 1), n - 1], quantile).tolist()
        above = s * s - endless * s * e + (endless - residual) * residual * e * e
        below = (m - 1) * endless * s * e + topic * s * t
        return max(0.0, _ratio(above, below) * m / n)


def _ratio(above: float, below: float) -> float:
    """Return a quotient; 0 over 0 is 0, since systems without a difference have no stability."""
    if below == 0.0:
        return math.inf if above > 0.0 else 0.0
    return above / below


def topics_for(ratio: float, level: float) -> float:
    """Return the smallest n with n ratio / (1 + n ratio) >= level; infinite if the ratio is 0."""
    check_open_unit("level", level)
    return int(whole_size(level / (1.0 - level) / ratio)) if ratio > 0.0 else math.inf


def variance_components(scores: ArrayLike) -> GStudy:
    """Return variance components of scores [run, topic] from the two-way mean squares.

    system = (MS_s - MS_e) / n, topic = (MS_t - MS_e) / m, residual = MS_e, with random systems and
    topics. A negative estimate counts as 0; `raw` has it. Topics that a run lacks are omitted.
    """
    matrix, n_dropped = complete_topics(check_scores(scores))
    _check_sizes(*matrix.shape)
    sums = sums_of_squares(matrix - matrix.mean(), CROSSED)
    return _of_sums(sums, matrix.shape, matrix, n_runs=len(matrix), n_dropped=n_dropped)


def nested_components(scores: ArrayLike, systems: Sequence[Any]) -> GStudy:
    """Return components of scores [run, topic] whose runs are instances of systems.

    With n topics and k instances of each system, expected mean squares are

        system        residual + k system_topic + n instance + n k system
        topic         residual + k system_topic + m k topic
        instance      residual + n instance
        system_topic  residual + k system_topic
        residual      residual

    With unequal numbers of instances the mean squares of system, topic and system_topic are k times
    those of the systems' mean scores by topic, k the harmonic mean (method of unweighted means).
    Reference: Brennan 2001, chapter 3; Searle, Casella and McCulloch 1992, section 4.
    """
    matrix, n_dropped = complete_topics(check_scores(scores))
    names, codes = np.unique(np.asarray(systems), return_inverse=True)
    sizes = np.bincount(codes)
    m, n = len(names), matrix.shape[1]
    _check_sizes(m, n, has_instances=len(codes) > m)
    k = m / float((1.0 / sizes).sum())
    centred = matrix - matrix.mean()
    means = np.zeros((m, n))
    np.add.at(means, codes, centred)
    means /= sizes[:, None]
    system, topic, interaction = sums_of_squares(means - means.mean(), CROSSED)
    instance, residual = sums_of_squares(centred - means[codes], CROSSED[:1])
    return _of_sums(
        (k * system, k * topic, instance, k * interaction, residual),
        (m, n, k),
        matrix,
        "nested",
        n_runs=len(codes),
        n_dropped=n_dropped,
    )


def layout_sums(values: np.ndarray, terms: Mapping[str, str], axes: str) -> list[float]:
    """Return sums of squares of terms of a balanced layout; that of the last includes the rest."""
    order = sorted(terms, key=lambda name: len(terms[name]))
    inside = [frozenset(axes.index(index) - len(axes) for index in terms[name]) for name in order]
    # The last term has all axes, including those with one level.
    inside[-1] = frozenset(range(-len(axes), 0))
    found = dict(zip(order, sums_of_squares(values - values.mean(), inside), strict=False))
    return [float(found[name]) for name in terms]


def layout_df(terms: Mapping[str, str], counts: Mapping[str, float]) -> dict[str, int]:
    """Return degrees of freedom of terms of a balanced layout: cells minus those of inner terms.

    >>> layout_df({"system": "s", "topic": "t", "residual": "st"}, {"s": 3, "t": 10})
    {'system': 2, 'topic': 9, 'residual': 18}
    """
    df: dict[str, int] = {}
    for name in sorted(terms, key=lambda name: len(terms[name])):
        inner = sum(df[other] for other in df if set(terms[other]) < set(terms[name]))
        df[name] = round(math.prod(counts[index] for index in terms[name])) - 1 - inner
    return {name: df[name] for name in terms}


def mean_square_loads(indices: Sequence[str], counts: Mapping[str, float]) -> np.ndarray:
    """Return the coefficients of components (columns) in expected mean squares (rows).

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


def mean_squares_of(
    sums: Sequence[Any], df: Mapping[str, int], values: np.ndarray
) -> dict[str, float]:
    """Return mean squares by name; those that are only rounding are 0."""
    amounts = (
        Amount.rounded(float(ss), own, tiny_of(values))
        for ss, own in zip(sums, df.values(), strict=True)
    )
    return {name: amount.ms for name, amount in zip(df, amounts, strict=True)}


def solved_components(loads: np.ndarray, squares: Mapping[str, float]) -> dict[str, float]:
    """Return the components that solve the equations of expected mean squares."""
    solved = np.linalg.solve(loads, np.array(list(squares.values())))
    # Differences of mean squares that agree to the last digits are only rounding.
    solved[np.abs(solved) <= 1e-14 * max(squares.values())] = 0.0
    return dict(zip(squares, solved.tolist(), strict=True))


def _of_sums(
    sums: Sequence[Any],
    sizes: Sequence[float],
    values: np.ndarray,
    design: StudyDesign = "topics",
    *,
    n_runs: int,
    n_dropped: int,
) -> GStudy:
    """Return the G-study of sums of squares; `sizes` are systems, topics and instances."""
    terms, counts = DESIGNS[design], dict(zip("sti", sizes, strict=False))
    df = layout_df(terms, counts)
    if design == "nested":  # numbers of instances may be unequal
        own = n_runs - int(sizes[0])
        df |= {"instance": own, "residual": own * (int(sizes[1]) - 1)}
    squares = mean_squares_of(sums, df, values)
    raw = solved_components(mean_square_loads(list(terms.values()), counts), squares)
    k = counts.get("i", 1)
    return GStudy(
        design=design,
        mean_squares=squares,
        df=df,
        raw=raw,
        variance={name: max(0.0, value) for name, value in raw.items()},
        n_systems=int(sizes[0]),
        n_topics=int(sizes[1]),
        n_instances=int(k) if float(k).is_integer() else k,
        n_runs=n_runs,
        n_dropped=n_dropped,
    )


def _check_sizes(n_systems: int, n_topics: int, *, has_instances: bool = True) -> None:
    if n_systems < 2 or n_topics < 2 or not has_instances:
        instances = "" if has_instances else ", and a system with at least 2 runs"
        raise InputError(
            "variance components require at least 2 systems, 2 topics that all runs have"
            f"{instances}; got {n_systems} systems and {n_topics} topics: omit runs that lack "
            "topics, or score missing topics as 0"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PivotalDraws:
    """Draws of the components' generalized pivotal quantities, and intervals.

    An expected mean square is SS / U with U from chi-square, so draws of U give draws of the
    components, and of any function of them.
    """

    components: GStudy
    drawn: GStudy

    def interval(self, name: str, *at: Any, confidence: float = 0.95) -> Interval:
        """Return the approximate interval of a method such as e_rho2, for normal effects."""
        estimate = getattr(self.components, name)(*at)
        return central_span(getattr(self.drawn, name)(*at), estimate, confidence)


def pivotal_draws(g: GStudy, *, n_draws: int = N_DRAWS, rng: Rng = 0) -> PivotalDraws:
    """Return draws of the components by the distributions of their sums of squares.

    Reference: Weerahandi 1993, doi:10.1080/01621459.1993.10476355; Hannig, Iyer and Patterson 2006,
    doi:10.1198/016214505000000736. Coverage: docs/stability.md.
    """
    counts = {"s": g.n_systems, "t": g.n_topics, "i": g.n_instances}
    loads = mean_square_loads(list(g.indices.values()), counts)
    draws = pivotal_components(loads, g.mean_squares, g.df, n_draws=n_draws, rng=rng)
    drawn = replace(g, variance=dict(zip(g.df, draws, strict=True)))
    return PivotalDraws(components=g, drawn=drawn)


def pivotal_components(
    loads: np.ndarray,
    mean_squares: Mapping[str, float],
    df: Mapping[str, int],
    *,
    n_draws: int = N_DRAWS,
    rng: Rng = 0,
) -> np.ndarray:
    """Return draws [component, draw], given mean squares; they may be negative."""
    stream = block_stream(seed_from(rng), "pivotal", 0)
    sums = np.array([mean_squares[name] * df[name] for name in df])
    chances = stream.chisquare(np.array(list(df.values()))[:, None], (len(sums), n_draws))
    return np.asarray(np.linalg.solve(loads, sums[:, None] / chances))


def central_span(draws: np.ndarray, estimate: float, confidence: float) -> Interval:
    """Return the central interval of the draws, widened to include the estimate."""
    tail = (1.0 - check_open_unit("confidence", confidence)) / 2.0
    last = len(draws) - 1
    places = round(tail * last), round((1.0 - tail) * last)
    low, high = np.partition(draws, places)[list(places)]
    return Interval(min(float(low), estimate), max(float(high), estimate))
