"""`stability`: how stable is this collection, and how many topics would make it so?

Generalizability theory (Brennan 2001; Urbano, Marrero & Martín, SIGIR 2013): a G-study divides the
variance of scores into systems, topics, instances and the rest; a D-study says how well n topics,
and k instances, rank the systems (E rho²) and measure them (Phi).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.facets import averaged_facets, facets_of
from steadyrank.data.order import scores_in_order
from steadyrank.data.scores import Scores, measure_of
from steadyrank.errors import InputError, arg, bad_value, check_number, warn
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import scores_of
from steadyrank.notebook import Framed, shown_by
from steadyrank.stats.anova.gstudy import (
    N_DRAWS,
    GStudy,
    PivotalDraws,
    nested_components,
    pivotal_draws,
    variance_components,
)
from steadyrank.stats.inputs import check_open_unit, complete_topics
from steadyrank.stats.instances.systems import systems_of
from steadyrank.stats.interval import Interval
from steadyrank.studies.stability.facets import FacetsResult, study_facets
from steadyrank.words import counted

LEVELS = (0.8, 0.9, 0.95)
"""Default levels of stability."""

INSTANCES = (1, 2, 5, 10)
"""Default numbers of instances, in addition to those of the systems."""

FEWEST, MOST = 3, 300
"""Fewest systems that remain if one is left out, and most of which each is left out."""

LARGE_CHANGE = 0.1
"""Change of E rho² by one system that is reported, as is one above half its interval's width."""


KEYS = "topics instances e_rho2 e_rho2_interval phi phi_interval"
LEVEL_KEYS = "level e_rho2 phi instances e_rho2_interval phi_interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """Both coefficients of a number of topics, or the topics that they require for a level."""

    e_rho2: float
    e_rho2_interval: Interval
    phi: float
    phi_interval: Interval
    topics: Any = None
    level: Any = None
    """Level of stability, for numbers of topics, which are infinite if none reaches it."""
    instances: float | None = None

    def row(self) -> dict[str, Any]:
        """Return the keys of the JSON output."""
        keys = KEYS if self.level is None else LEVEL_KEYS
        row = {key: getattr(self, key) for key in keys.split()}
        return {key: value for key, value in row.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOneOut:
    """The coefficients for the collection's topics without each of the systems."""

    e_rho2: tuple[float, float]
    phi: tuple[float, float]
    system: str
    """System whose removal changes E rho² most."""
    e_rho2_without: float
    phi_without: float
    carried: bool
    """Whether this change is above 0.1, or above half the width of the interval of E rho²."""


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("studies.stability.view:VIEW.text", listed=True)
class StabilityResult(Framed):
    """The result of `stability` on one measure: variance components, E rho² and Phi.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    >>> result = sr.stability(scores)
    >>> 0.0 <= result.phi <= result.e_rho2 <= 1.0
    True
    """

    measure: str
    components: GStudy
    """The G-study."""
    confidence: float
    coefficients: tuple[Coefficients, ...]
    """The D-study: first for the collection, then for other requested numbers."""
    topics_needed: tuple[Coefficients, ...]
    leave_one_out: LeaveOneOut | None = None
    """The coefficients without each system, for 4 to 300 systems."""
    seed: int = 0
    """Seed of the draws for intervals, if systems have instances."""

    @property
    def e_rho2(self) -> float:
        """Relative stability of the collection."""
        return self.coefficients[0].e_rho2

    @property
    def phi(self) -> float:
        """Absolute stability of the collection."""
        return self.coefficients[0].phi

    @property
    def variance_share(self) -> dict[str, float]:
        """Share of each component in their sum."""
        total = sum(self.components.variance.values())
        return {name: value / total for name, value in self.components.variance.items()}

    @property
    def instances(self) -> tuple[float, ...]:
        """Numbers of instances of the D-study, the collection's first; none without them."""
        numbers = dict.fromkeys(own.instances for own in self.coefficients)
        return tuple(number for number in numbers if number is not None)

    def d_study(
        self, n_topics: Sequence[int], n_instances: Sequence[float] = ()
    ) -> tuple[Coefficients, ...]:
        """Return coefficients of all combinations of numbers of topics and instances.

        Without `n_instances`, the number is that of the collection.
        """
        known = _interval_source(self.components, self.seed)
        numbers = n_instances or _numbers(self.components, [])
        sizes = [_check_size("topics", n) for n in n_topics]
        return tuple(_both(known, k, self.confidence, topics=n) for n in sizes for k in numbers)

    def caption(self) -> str:
        """Return sizes, model and intervals, for captions."""
        g = self.components
        dropped = f" ({g.n_dropped} dropped)" if g.n_dropped else ""
        sizes = f"{self.measure}, {g.n_systems} systems × {g.n_topics} topics{dropped}"
        sure = f"{self.confidence:.0%} intervals"
        if g.design == "topics":
            return (
                f"{sizes}, both random; {sure}, by Feldt for E rho² and by Arteaga et al. for Phi; "
                f"steadyrank {__version__}."
            )
        return (
            f"{sizes} × {counted(g.n_instances, 'instance', form='.3g')} (of each system), all "
            f"random; {sure} by {N_DRAWS:,} generalized pivotal draws, seed {self.seed}; "
            f"steadyrank {__version__}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the D-study: one row per number of topics."""
        return [{"measure": self.measure, **own.row()} for own in self.coefficients]


@data_first
def stability(
    scores: Any,
    qrels: Any = None,
    measure: str | None = None,
    *,
    n_topics: Sequence[int] = (),
    levels: Sequence[float] = LEVELS,
    n_instances: Sequence[int] | None = None,
    facets: Sequence[str] | None = None,
    n_answers: Sequence[int] = (),
    n_judges: Sequence[int] = (),
    costs: Mapping[str, float] | None = None,
    target: float | None = None,
    confidence: float = 0.95,
    jobs: int | None = None,
    rng: Rng = 0,
) -> StabilityResult | FacetsResult:
    """G-study and D-study of one measure, systems and topics crossed, with or without instances.

    E rho² = system / (system + residual / n) says how well n topics reproduce the order of systems,
    Phi = system / (system + (topic + residual) / n) how well they reproduce their scores.

    If runs are instances of systems (`run_info["system"]`), these are a third facet: E rho² =
    system / (system + system_topic / n + instance / k + residual / (n k)), and the error of Phi has
    topic / n in addition.

    Parameters
    ----------
    scores, qrels : Scores, or runs and judgments
        Runs and judgments as in `evaluate`.
    measure : str, optional
        Required if the scores have several measures; for runs AP, or nDCG@10 if graded.
    n_topics : sequence of int
        Further numbers of topics.
    levels : sequence of float
        Levels of stability that require topics.
    n_instances : sequence of int, optional
        Further numbers of instances; 1, 2, 5 and 10 unless given.
    facets : sequence of str, optional
        Those of `judge`, `answer` and `draw` that are components; by default all that have several
        levels. () uses means over all of them.
    n_answers, n_judges : sequence of int
        Further numbers of answers and judges, if these are facets.
    costs : mapping, optional
        Costs of one `topic`, one `answer` of a system and one grade by a `judge`.
    target : float, optional
        Standard error of a difference of two systems to plan for.
    confidence : float
        Level of the intervals, which assume normal effects.
    jobs : int, optional
        Number of threads.
    rng : int, Generator or None
        Seed of the draws for intervals with instances or facets.

    Returns
    -------
    StabilityResult or FacetsResult
        Variance components, E rho² and Phi with intervals, and the topics that each level requires;
        with `facets`, each component's share of a difference of two systems, its standard error,
        and the judges one by one.

    Notes
    -----
    Systems, topics and instances are random samples: the result is about other systems like these.
    It is low for close systems and high if one system is far from all others, as `leave_one_out`
    shows. Negative components count as 0 in coefficients, with a warning.
    Topics that some run lacks are left out.

    References
    ----------
    - Brennan (2001). Generalizability theory. Springer. doi:10.1007/978-1-4757-3456-0
    - Urbano, Marrero & Martín (2013). On the measurement of test collection reliability. SIGIR.
      doi:10.1145/2484028.2484038

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=4, runs_per_team=2, n_topics=30, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    >>> result = stability(scores, levels=[0.95])
    >>> list(result.components.variance)
    ['system', 'topic', 'residual']
    """
    seed = seed_from(rng)
    scores = scores_of(scores, qrels, measure, has_facets=True)
    name = measure_of(scores, measure)
    scores = scores_in_order(scores, runs=True).select(measures=name).oriented()
    check_open_unit("confidence", confidence)
    several = (name for name in facets_of(scores) if len(set(scores.run_info[name])) > 1)
    chosen = tuple(several if facets is None else facets)
    if chosen:
        given = {"topics": n_topics, "answers": n_answers, "judges": n_judges}
        return study_facets(
            scores,
            name,
            chosen,
            numbers={what: [_check_size(what, n) for n in ns] for what, ns in given.items()},
            costs=costs,
            target=target,
            confidence=confidence,
            seed=seed,
            jobs=jobs,
        )
    if costs is not None or target is not None or n_answers or n_judges:
        raise InputError(
            "costs, targets and numbers of answers and judges require scores with judges or answers"
        )
    scores = averaged_facets(scores)
    for level in levels:
        check_open_unit("level", check_number("level", level))
    sizes = [_check_size("topics", size) for size in n_topics]
    asked = None if n_instances is None else [_check_size("instances", k) for k in n_instances]
    matrix, systems = scores.matrix(name), _systems_by_run(scores)
    g = _components(matrix, systems)
    if not any(g.mean_squares.values()):
        raise InputError(f"{name}: every score is the same: there is no variance to split")
    _warn_of_negative(name, g)
    known, numbers = _interval_source(g, seed), _numbers(g, asked)
    own = _both(known, numbers[0], confidence, topics=g.n_topics)
    half_width = (own.e_rho2_interval[1] - own.e_rho2_interval[0]) / 2.0
    return StabilityResult(
        measure=name,
        components=g,
        confidence=confidence,
        coefficients=tuple(
            _both(known, k, confidence, topics=n) for n in [g.n_topics, *sizes] for k in numbers
        ),
        topics_needed=tuple(
            _both(known, k, confidence, level=level) for k in numbers for level in levels
        ),
        leave_one_out=_leave_one_out(matrix, systems, g, half_width),
        seed=seed,
    )


def _systems_by_run(scores: Scores) -> list[str]:
    """Return the system of each run: the run itself if no system is known to have several."""
    systems = list(scores.runs)
    groups = systems_of(scores) if "system" in scores.run_info else {}
    if len(groups) == 1 < len(systems):
        raise InputError(
            f"all {len(systems)} runs are of one system, {next(iter(groups))}: stability compares "
            "systems; correct the column system, or omit it to treat every run as a system"
        )
    if len(groups) < len(systems):
        for name, places in groups.items():
            for place in places:
                systems[place] = name
    return systems


def _components(matrix: np.ndarray, systems: Sequence[str]) -> GStudy:
    """Return the G-study of scores [run, topic], with instances if a system has several runs."""
    if len(set(systems)) == len(systems):
        return variance_components(matrix)
    return nested_components(matrix, systems)


def _leave_one_out(
    matrix: np.ndarray, systems: Sequence[str], whole: GStudy, half_width: float
) -> LeaveOneOut | None:
    """Return the coefficients without each system; None for fewer than four systems or too many.

    `whole` are the components of all systems, `half_width` is that of the interval of their E rho².
    """
    names = list(dict.fromkeys(systems))
    if not FEWEST < len(names) <= MOST:
        return None
    complete, column = complete_topics(matrix)[0], np.asarray(systems)
    at, pairs = (whole.n_topics, whole.n_instances), np.full((len(names), 2), np.nan)
    for pair, name in zip(pairs, names, strict=True):
        g = _components(complete[column != name], column[column != name].tolist())
        if g.design == whole.design:  # others have several runs, too
            pair[:] = g.e_rho2(*at), g.phi(*at)
    if np.isnan(pairs).all():
        return None
    change = np.abs(pairs[:, 0] - whole.e_rho2(*at))
    worst = int(np.nanargmax(change))
    lows, highs = np.nanmin(pairs, axis=0).tolist(), np.nanmax(pairs, axis=0).tolist()
    return LeaveOneOut(
        e_rho2=(lows[0], highs[0]),
        phi=(lows[1], highs[1]),
        system=names[worst],
        e_rho2_without=float(pairs[worst, 0]),
        phi_without=float(pairs[worst, 1]),
        carried=bool(change[worst] > min(LARGE_CHANGE, half_width)),
    )


def _check_size(what: str, size: Any) -> int:
    if not check_number(what, size) >= 1 or size % 1 != 0:
        raise bad_value(what, "be whole numbers of at least 1", size)
    return int(size)


def _warn_of_negative(measure: str, g: GStudy) -> None:
    below = [f"{name} (−{-value:.3g})" for name, value in g.raw.items() if value < 0.0]
    if below:
        warn(
            f"{measure}: negative estimates count as 0: {', '.join(below)}; such components "
            "are too small to be estimated here"
        )


def _numbers(g: GStudy, asked: Sequence[int] | None) -> list[Any]:
    """Return numbers of instances, the systems' first; [None] without instances."""
    if g.design == "nested":
        return list(dict.fromkeys([g.n_instances, *(INSTANCES if asked is None else asked)]))
    if asked:
        raise InputError(
            "numbers of instances require systems with several runs each: give run information "
            f"with a column system ({arg('run_info=')}), or {arg('system_from=')}"
        )
    return [None]


def _interval_source(g: GStudy, seed: int) -> GStudy | PivotalDraws:
    """Return what computes intervals: mean squares in closed form, or draws."""
    return pivotal_draws(g, rng=seed) if g.design == "nested" else g


def _both(
    known: GStudy | PivotalDraws, n_instances: Any, confidence: float, **size: float
) -> Coefficients:
    """Return both coefficients of a number of `topics`, or topics for a `level`, with intervals."""
    g = known.components if isinstance(known, PivotalDraws) else known
    at: Any = (*size.values(), *([] if n_instances is None else [n_instances]))
    figures: dict[str, Any] = {"instances": n_instances, **size}
    for name in ("e_rho2", "phi"):
        method = f"topics_for_{name}" if "level" in size else name
        figures[name] = getattr(g, method)(*at)
        figures[f"{name}_interval"] = known.interval(method, *at, confidence=confidence)
    return Coefficients(**figures)
