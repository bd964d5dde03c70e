"""`stability` of graded answers: which share of a difference is the judges', and what to buy next.

For anyone who grades the answers of systems by people or language models (SPEC of the model:
`steadyrank.stats.facets.components`). Components, what a difference of two systems has of each, the
standard error for other numbers of topics, answers and judges, and the judges one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from steadyrank._version import __version__
from steadyrank.data.facets import FACETS, FacetCube, facet_cube, facets_of
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, unknown_name
from steadyrank.notebook import Framed, shown_by
from steadyrank.stats.facets import design
from steadyrank.stats.facets.components import GradedComponents, Sizes, graded_components
from steadyrank.stats.facets.design import Allocation
from steadyrank.stats.facets.judges import JudgeFigures, effective_judges, judge_figures, outlier_of
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.run_means import adjusted_means
from steadyrank.words import counted

MOST_SYSTEMS = 300
"""Whose ranks by each judge are found: their pairs are tested for every judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignRow:
    """What numbers of topics, answers and judges would give."""

    topics: int
    answers: float
    judges: float
    standard_error: float
    standard_error_interval: Interval
    e_rho2: float
    phi: float

    def row(self) -> dict[str, Any]:
        """The keys of the JSON output."""
        return asdict(self) | {"standard_error_interval": self.standard_error_interval}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.stability.facets_view:VIEW.text", listed=True)
class FacetsResult(Framed):
    """What `stability` found of scores with judges, answers or draws, on one measure.

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
    components: GradedComponents
    difference_shares: dict[str, float]
    """Of the variance of a difference of two systems' means: topics, judges, answers, the rest."""
    standard_error: float
    """Of a difference, topics, answers and judges being samples."""
    standard_error_interval: Interval
    standard_error_fixed: float
    """The same about these judges and no others, as an interval over topics alone has it."""
    d_study: tuple[DesignRow, ...]
    """The numbers at hand first."""
    allocation: Allocation
    judges: tuple[JudgeFigures, ...]
    """One by one; none of a single judge."""
    effective_judges: float
    """Independent judges that these are worth; NaN of a single judge."""
    swaps: dict[str, float]
    """Expected share of the pairs that change their order with as many other judges, or answers."""
    confidence: float
    seed: int

    @property
    def shortfall(self) -> float:
        """How many times too short an interval over topics alone is."""
        return self.standard_error / self.standard_error_fixed if self.standard_error_fixed else 1.0

    @property
    def outlier(self) -> JudgeFigures | None:
        """The judge who orders the systems least like the others, if topics show that."""
        return outlier_of(self.judges)

    @property
    def error_correlation(self) -> float:
        """rho of the judges' errors, with which L judges are worth L / (1 + (L - 1) rho)."""
        n = len(self.judges)
        return (n / self.effective_judges - 1.0) / (n - 1.0) if n > 1 else math.nan

    def caption(self) -> str:
        """What a table of this result must say: sizes, method, intervals, version."""
        g = self.components
        sizes = [counted(g.n_systems, "system"), *size_words(g.sizes, self.facets)]
        gaps = f", {g.n_missing:,} scores missing" if g.n_missing else ""
        return (
            f"{self.measure}, {' × '.join(sizes)}{gaps}, all random; {g.method}; "
            f"{self.confidence:.0%} intervals; steadyrank {__version__}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per number of topics, answers and judges."""
        return [{"measure": self.measure, **row.row()} for row in self.d_study]


def size_words(sizes: Sizes, facets: Iterable[str]) -> list[str]:
    """Numbers of topics, and of answers, judges and draws where these are facets.

    >>> size_words(Sizes(topics=95, judges=5), ["judge"])
    ['95 topics', '5 judges']
    """
    numbers = {"answer": sizes.answers, "judge": sizes.judges, "draw": sizes.draws}
    words = [counted(sizes.topics, "topic")]
    return words + [counted(numbers[name], name, form=".3g") for name in numbers if name in facets]


def study_facets(
    scores: Scores,
    measure: str,
    facets: Sequence[str],
    *,
    n_topics: Sequence[int] = (),
    n_answers: Sequence[int] = (),
    n_judges: Sequence[int] = (),
    costs: Mapping[str, float] | None = None,
    target: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    jobs: int | None = None,
) -> FacetsResult:
    """The result of one measure of scores with these facets."""
    cube = _checked_cube(scores, measure, facets)
    if not np.nanstd(cube.values) > 0.0:
        raise InputError(f"{measure}: every score is the same: there is no variance to split")
    g = graded_components(cube.values, confidence=confidence, rng=seed)
    own = g.sizes
    several = len(cube.judges) > 1 and len(cube.systems) <= MOST_SYSTEMS
    cells = cube.cells
    figures: tuple[JudgeFigures, ...] = ()
    if several:
        figures = judge_figures(cells, cube.judges, alpha=1 - confidence, seed=seed, jobs=jobs)
    return FacetsResult(
        measure=measure,
        facets=tuple(facets),
        systems=cube.systems,
        components=g,
        difference_shares=design.difference_shares(g, own),
        standard_error=design.standard_error(g, own),
        standard_error_interval=design.standard_error_interval(g, own),
        standard_error_fixed=design.standard_error(g, own, fixed=True),
        d_study=tuple(_design_row(g, at) for at in _designs(g, n_topics, n_answers, n_judges)),
        allocation=design.allocation(g, target=target, costs=costs),
        judges=figures,
        effective_judges=effective_judges(cells) if len(cube.judges) > 1 else math.nan,
        swaps=_swaps(g, cube),
        confidence=confidence,
        seed=seed,
    )


def _checked_cube(scores: Scores, measure: str, facets: Sequence[str]) -> FacetCube:
    for name in facets:
        if name not in FACETS:
            raise unknown_name("facet", name, FACETS)
        if name not in facets_of(scores):
            raise InputError(
                f"the scores have no {name}s: give a long table with a column {name}, or find it "
                f"in the runs' names (--facet-from '(?P<{name}>...)')"
            )
    return facet_cube(scores, measure, facets)


def _designs(
    g: GradedComponents, n_topics: Sequence[int], n_answers: Sequence[int], n_judges: Sequence[int]
) -> list[Sizes]:
    """The numbers at hand, and all combinations of those asked for."""
    own = g.sizes
    topics = [own.topics, *(n_topics or (2 * own.topics, 4 * own.topics))]
    answers: list[float] = [own.answers]
    if own.answers > 1:
        answers += n_answers or [2 * round(own.answers)]
    judges: list[float] = [own.judges]
    if "system:judge" in g.variance:
        judges += n_judges or [2 * own.judges, 4 * own.judges]
    return [
        replace(own, topics=n, answers=k, judges=count)
        for count in dict.fromkeys(judges)
        for k in dict.fromkeys(answers)
        for n in dict.fromkeys(topics)
    ]


def _design_row(g: GradedComponents, at: Sizes) -> DesignRow:
    return DesignRow(
        topics=int(at.topics),
        answers=at.answers,
        judges=at.judges,
        standard_error=design.standard_error(g, at),
        standard_error_interval=design.standard_error_interval(g, at),
        e_rho2=design.e_rho2(g, at),
        phi=design.phi(g, at),
    )


def _swaps(g: GradedComponents, cube: FacetCube) -> dict[str, float]:
    """How many pairs a fresh draw of judges, or of answers, would turn, all else staying.

    Two draws of what varies differ with twice its variance v: a pair with difference d turns with
    probability Phi(-|d| / sqrt(2 v)).
    """
    means = adjusted_means(cube.matrix)
    pairs = all_pairs(len(means))
    gaps = np.abs(means[pairs[:, 0]] - means[pairs[:, 1]])
    weights = g.difference_weights(g.sizes)
    varied: dict[str, tuple[str, ...]] = {
        "judges": ("system:judge", "system:topic:judge", "answer:judge", "residual"),
        "answers": ("answer", "answer:judge", "residual"),
    }
    found = {}
    for name, members in varied.items():
        if name == "answers" and g.sizes.answers <= 1:
            continue
        if name == "judges" and "system:judge" not in g.variance:
            continue
        v = g.total({part: weights[part] for part in members if part in weights})
        if v > 0.0:
            found[name] = float(np.nanmean(ndtr(-gaps / math.sqrt(2.0 * v))))
    return found
