"""`stability` of graded answers: the judges' share of a difference, and what to buy next.

The model of answers that people or language models grade is that of
`steadyrank.stats.facets.components`. The result has components, their shares of a difference of two
systems, its standard error for other numbers of topics, answers and judges, and each judge.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from steadyrank._version import __version__
from steadyrank.data.facets import FACETS, FacetCube, facet_cube, facets_of
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, check_choice
from steadyrank.notebook import Framed, shown_by
from steadyrank.stats.facets import design
from steadyrank.stats.facets.components import GradedComponents, Sizes, graded_components
from steadyrank.stats.facets.judges import JudgeFigures, effective_judges, judge_figures, outlier_of
from steadyrank.stats.facets.pairs import judge_tests
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.run_means import adjusted_means
from steadyrank.words import counted

MOST_JUDGES = 100

VARIED = {
    "judges": ("system:judge", "system:topic:judge", "answer:judge", "residual"),
    "answers": ("answer", "answer:judge", "residual"),
}
"""Components of a difference that other judges, or answers, change."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.stability.facets_view:VIEW.text", listed=True)
class FacetsResult(Framed):
    """The result of `stability` for scores with judges, answers or draws, on one measure.

    Examples
    --------
    >>> import steadyrank as sr
    >>> scores = sr.simulated_facets(n_systems=6, n_topics=40, n_judges=4, rng=1)
    >>> result = sr.stability(scores, facets=["judge"])
    >>> result.standard_error > result.standard_error_fixed
    True
    """

    measure: str
    facets: tuple[str, ...]
    systems: tuple[str, ...]
    graders: tuple[str, ...]
    """Names of the judges, if they are a facet."""
    components: GradedComponents
    planned: GradedComponents
    """Components with the judges' part of a difference as in `compare`, by system: standard errors,
    shares and plans follow from these."""
    d_study: tuple[dict[str, Any], ...]
    """`standard_error` of a difference with its interval, `e_rho2` and `phi` for numbers of
    `topics`, `answers` and `judges`, those of the data first."""
    allocation: design.Allocation
    judges: tuple[JudgeFigures, ...]
    """Figures of each judge, if there are several."""
    effective_judges: float
    """Equivalent number of independent judges; NaN for a single judge."""
    swaps: dict[str, float]
    """Expected share of the pairs that swap with as many other judges, or answers."""
    confidence: float
    seed: int

    @property
    def difference_shares(self) -> dict[str, float]:
        """Shares of the variance of a difference of two systems: topics, judges, answers, rest.

        With one judge, the shares of topics and judges cannot be separated and are NaN.
        """
        shares = design.difference_shares(self.planned, self.planned.sizes)
        both = dict.fromkeys(("topics", "judges"), math.nan)
        return shares | (both if len(self.graders) == 1 else {})

    @property
    def standard_error(self) -> float:
        """Standard error of a difference; topics, answers and judges are samples."""
        return float(self.d_study[0]["standard_error"])

    @property
    def standard_error_interval(self) -> Interval:
        """Interval of the standard error."""
        return Interval(*self.d_study[0]["standard_error_interval"])

    @property
    def standard_error_fixed(self) -> float:
        """Standard error for these judges alone, as in an interval over topics."""
        return design.standard_error(self.planned, self.planned.sizes, fixed=True)

    @property
    def outlier(self) -> JudgeFigures | None:
        """The judge whose order of systems differs significantly from that of the others."""
        return outlier_of(self.judges)

    @property
    def error_correlation(self) -> float:
        """Correlation rho of the judges' errors: L judges are worth L / (1 + (L - 1) rho)."""
        n = len(self.judges)
        return (n / self.effective_judges - 1.0) / (n - 1.0) if n > 1 else math.nan

    def caption(self) -> str:
        """Return sizes, method and intervals, for captions."""
        g = self.components
        gaps = f", {g.n_missing:,} scores missing" if g.n_missing else ""
        return (
            f"{self.measure}, {self.size_words()}{gaps}, all random; {g.method}; "
            f"{self.confidence:.0%} intervals; steadyrank {__version__}."
        )

    def size_words(self, separator: str = " × ", *, all_: bool = True) -> str:
        """Return the numbers of levels of the facets, and of systems and topics with `all_`."""
        at = self.components.sizes
        numbers = {"answer": at.answers, "judge": at.judges, "draw": at.draws}
        numbers = {name: numbers[name] for name in numbers if name in self.facets}
        if all_:
            numbers = {"system": self.components.n_systems, "topic": at.topics} | numbers
        return separator.join(counted(number, name, form=".3g") for name, number in numbers.items())

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per number of topics, answers and judges."""
        return [{"measure": self.measure, **row} for row in self.d_study]


def study_facets(
    scores: Scores,
    measure: str,
    facets: Sequence[str],
    *,
    numbers: Mapping[str, Sequence[int]] | None = None,
    costs: Mapping[str, float] | None = None,
    target: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    jobs: int | None = None,
) -> FacetsResult:
    """Return the result for one measure of scores with these facets.

    `numbers` has further numbers of `topics`, `answers` and `judges` for the D-study.
    """
    for name in facets:
        check_choice("facet", name, FACETS)
        if name not in facets_of(scores):
            raise InputError(f"the scores have no {name}s: give a long table with a column {name}")
    cube = facet_cube(scores, measure, facets)
    means = adjusted_means(cube.matrix)  # raises an error for systems that cannot be separated
    if not np.nanstd(cube.values) > 0.0:
        raise InputError(f"{measure}: every score is the same: there is no variance to split")
    g = graded_components(cube.values, confidence=confidence, rng=seed)
    several, cells = len(cube.judges) > 1, cube.cells
    planned = _with_judges(g, cube) if several else g
    own, asked = g.sizes, numbers or {}
    topics = asked.get("topics") or (2 * own.topics, 4 * own.topics)
    judges = asked.get("judges") or (2 * own.judges, 4 * own.judges) if several else ()
    answers = asked.get("answers") or (2 * own.answers,) if own.answers > 1 else ()
    designs = [
        replace(own, topics=n, answers=k, judges=count)
        for count in dict.fromkeys((own.judges, *judges))
        for k in dict.fromkeys((own.answers, *answers))
        for n in dict.fromkeys((own.topics, *topics))
    ]
    small = several and len(cube.judges) <= MOST_JUDGES
    how: Any = {"confidence": confidence, "seed": seed, "jobs": jobs}
    return FacetsResult(
        measure=measure,
        facets=tuple(facets),
        systems=cube.systems,
        graders=cube.judges if "judge" in facets else (),
        components=g,
        planned=planned,
        d_study=tuple(_design_row(planned, at) for at in designs),
        allocation=design.allocation(planned, target=target, costs=costs),
        judges=judge_figures(cells, cube.judges, **how) if small else (),
        effective_judges=effective_judges(cells) if several else math.nan,
        swaps=dict(_swaps(planned, means)),
        confidence=confidence,
        seed=seed,
    )


def _with_judges(g: GradedComponents, cube: FacetCube) -> GradedComponents:
    """Replace the judges' component by what they add to the variance of tested differences."""
    if "system:judge" not in g.variance:
        return g
    tests = judge_tests(cube.levels, all_pairs(len(cube.systems)))
    added = np.nanmean(tests.standard_error**2 - tests.standard_error_fixed**2)
    own = {"system:judge": float(0.5 * added * g.sizes.judges)}
    return replace(g, variance=g.variance | own)


def _design_row(g: GradedComponents, at: Sizes) -> dict[str, Any]:
    return {
        "topics": int(at.topics),
        "answers": at.answers,
        "judges": at.judges,
        "standard_error": design.standard_error(g, at),
        "standard_error_interval": Interval(
            *map(math.sqrt, g.interval_of(g.difference_weights(at)))
        ),
        "e_rho2": g.e_rho2(at),
        "phi": g.phi(at),
    }


def _swaps(g: GradedComponents, means: np.ndarray) -> Iterable[tuple[str, float]]:
    """Yield the share of pairs that other judges, or other answers, would swap.

    Two draws differ with twice the variance v of one: a pair with difference d swaps with
    probability Phi(-|d| / sqrt(2 v)).
    """
    gaps = np.abs(np.diff(means[all_pairs(len(means))], axis=1))
    weights = g.difference_weights(g.sizes)
    for name, members in VARIED.items():
        v = g.total({part: weights[part] for part in members if part in weights})
        if getattr(g.sizes, name) > 1 and v > 0.0:
            yield name, float(np.nanmean(ndtr(-gaps / math.sqrt(2.0 * v))))
