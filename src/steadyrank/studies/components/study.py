"""`components`: which component of a grid of systems matters, by how much?

For whoever has runs of every combination of components (stop list, stemmer, model, …): an analysis
of variance with topics as blocks splits the scores into what each component and their interplay
contribute, and Tukey's test says which of a component's choices differ (Ferro and Silvello,
SIGIR 2016 and JASIST 69(2), 2018).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from steadyrank._version import __version__
from steadyrank.data.order import scores_in_order
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, SteadyrankWarning, unknown_name
from steadyrank.notebook import shown_by
from steadyrank.stats.anova.balanced import Anova, Power, anova, crossed_strata
from steadyrank.stats.anova.main_effects import MainEffect, tukey_main_effect
from steadyrank.stats.anova.parts import balanced_layout
from steadyrank.stats.anova.unbalanced import type_three
from steadyrank.stats.inputs import check_open_unit
from steadyrank.words import by_number

if TYPE_CHECKING:
    import pandas as pd

Mode = Literal["sound", "paper"]
Strata = Literal["none", "topic"]

DEFAULT_STRATA: Mapping[Mode, Strata] = {"sound": "topic", "paper": "none"}

Unbalanced = Literal["refuse", "type3"]

BLOCK = "topic"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.components.tables:components_text", listed=True)
class ComponentsResult:
    """What `components` found on one measure."""

    measure: str
    factors: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    """Factor to its levels."""
    n_runs: int
    n_replicates: int
    """Runs of each combination of levels; 0 where they differ in it."""
    n_topics: int
    n_dropped: int
    """Topics left out because some run has no score there."""
    mode: Mode
    strata: Strata
    confidence: float
    anova: Anova
    main_effects: Mapping[str, MainEffect]
    """Factor to Tukey's test of its levels."""
    type_three: bool = False
    """Whether the grid is unbalanced, and sums of squares are of type III."""

    def ordered_levels(self, factor: str) -> list[tuple[str, float]]:
        """Levels of a factor and their means, the best first."""
        if factor not in self.factors:
            raise unknown_name("factor", factor, self.factors)
        means = self.main_effects[factor].means
        order = np.argsort(-means, kind="stable")
        return [(self.levels[factor][i], float(means[i])) for i in order]

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary a source of variation."""
        return self.anova.rows()

    def caption(self) -> str:
        """What a table of this result must say."""
        sizes = " × ".join(f"{len(self.levels[name])} {name}" for name in self.factors)
        dropped = f" ({self.n_dropped} dropped)" if self.n_dropped else ""
        runs = f"{self.n_runs} runs" + (
            f" ({self.n_replicates} of each combination)" if self.n_replicates > 1 else ""
        )
        sums = "unbalanced, type III sums of squares; " if self.type_three else ""
        return (
            f"{self.measure} of {runs}: {sizes}; {self.n_topics} topics{dropped} as blocks; {sums}"
            f"steadyrank {__version__}."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row a source of variation."""
        return self.anova.to_frame()

    def __repr__(self) -> str:
        shares = ", ".join(
            f"{name} {self.anova.source(name).omega_squared:.3f}" for name in self.factors
        )
        return f"<ComponentsResult: {self.measure}, omega squared: {shares}>"


def components(
    scores: Scores,
    *,
    factors: str | Sequence[str],
    measure: str | None = None,
    interactions: int | None = None,
    mode: Mode = "sound",
    strata: Strata | None = None,
    unbalanced: Unbalanced = "refuse",
    power: Power | None = None,
    confidence: float = 0.95,
) -> ComponentsResult:
    """Analyse the variance of one measure by columns of `run_info`, with topics as blocks.

    Parameters
    ----------
    scores : Scores
    factors : str or sequence of str
        Columns that name the components; runs that agree in all of them are replicates.
    measure : str, optional
        Needed where there are several.
    interactions : int, optional
        Factors in the largest interaction; all unless given.
    mode : str
        "paper" tests effects as published, against one residual.
    strata : str, optional
        Test each effect against its interaction with topics ("topic"), which speaks of other
        topics, or against one residual ("none"), as if there were no topics but these. By mode
        unless given.
    unbalanced : str
        "refuse" grids in which some combination of levels occurs more often than another, or take
        them with type III sums of squares ("type3"; needs statsmodels), tested against one
        residual.
    power : str, optional
        Adds observed power, "observed" or "omega".
    confidence : float
        Of Tukey's tests and intervals.

    Notes
    -----
    Effect sizes are the same for both strata. Topics that some run lacks are left out.

    Examples
    --------
    >>> import numpy as np, steadyrank as sr
    >>> runs = [f"{stop}-{stem}" for stop in ("none", "smart") for stem in ("none", "porter")]
    >>> values = np.random.default_rng(0).random((1, 4, 20)) / 2
    >>> values[0, 1::2] += 0.2
    >>> scores = sr.Scores(measures=("AP",), runs=runs, topics=range(20), values=values,
    ...     run_info={"stop_list": ["none", "none", "smart", "smart"],
    ...               "stemmer": ["none", "porter", "none", "porter"]})
    >>> result = sr.components(scores, factors=["stop_list", "stemmer"])
    >>> [line.source for line in result.anova.sources][:4]
    ['topic', 'stop_list', 'stemmer', 'stop_list:stemmer']
    >>> result.anova.source("stemmer").pvalue < 0.001
    True
    """
    names = _check_factors(scores, factors, interactions)
    _check_choices(mode, strata)
    check_open_unit("confidence", confidence)
    if unbalanced not in get_args(Unbalanced):
        raise unknown_name("way with unbalanced data", str(unbalanced), get_args(Unbalanced))
    scores = scores_in_order(scores)
    chosen, matrix = _matrix(scores, measure)
    there = ~np.isnan(matrix).any(axis=0)
    n_dropped = _tell_dropped(there)
    levels = _levels(scores, names)
    n_replicates = _n_replicates(scores, levels)
    type_three = unbalanced == "type3" and not n_replicates
    if strata is None:
        strata = "none" if type_three else DEFAULT_STRATA[mode]
    effects = _effects(names, interactions)
    analyse = _type_three if type_three else _balanced
    table, mains = analyse(scores, matrix[:, there], names, effects, strata, power, confidence)
    return ComponentsResult(
        measure=chosen,
        factors=names,
        levels=levels,
        n_runs=len(scores.runs),
        n_replicates=n_replicates,
        n_topics=int(there.sum()),
        n_dropped=n_dropped,
        mode=mode,
        strata=strata,
        confidence=confidence,
        anova=table,
        main_effects=mains,
        type_three=type_three,
    )


def _check_factors(
    scores: Scores, factors: str | Sequence[str], interactions: Any
) -> tuple[str, ...]:
    names = (factors,) if isinstance(factors, str) else tuple(factors)
    if not names or len(set(names)) < len(names):
        raise InputError(f"give at least one factor, each once, got {', '.join(names) or 'none'}")
    if not scores.run_info:
        raise InputError(
            "nothing is known about the runs: give a table of their components with run_info=, or "
            "add columns with scores.with_run_info"
        )
    for name in names:
        if name not in scores.run_info:
            raise unknown_name("factor", name, scores.run_info)
        if name == BLOCK:
            raise InputError(f"a factor cannot be named {BLOCK!r}, which is the block: rename it")
        if "" in scores.run_info[name]:
            run = scores.runs[scores.run_info[name].index("")]
            raise InputError(f"run {run!r} has no {name}: fill it in, or leave the run out")
    if interactions is not None and interactions < 1:
        raise InputError(f"interactions must be at least 1 (main effects only), got {interactions}")
    return names


def _check_choices(mode: Any, strata: Any) -> None:
    if mode not in get_args(Mode):
        raise unknown_name("mode", str(mode), get_args(Mode))
    if strata is not None and strata not in get_args(Strata):
        raise unknown_name("kind of strata", str(strata), get_args(Strata))


def _matrix(scores: Scores, measure: str | None) -> tuple[str, np.ndarray]:
    matrix = scores.matrix(measure)
    return (scores.measures[0] if measure is None else str(measure)), matrix


def _tell_dropped(there: np.ndarray) -> int:
    dropped = int((~there).sum())
    if len(there) - dropped < 2:
        raise InputError(
            f"an analysis needs at least 2 topics that every run has, got {len(there) - dropped} "
            f"of {len(there)}"
        )
    if dropped:
        warnings.warn(
            f"{dropped} of {len(there)} topics {by_number(dropped, 'is', 'are')} left out: some "
            "run has no score there",
            SteadyrankWarning,
            stacklevel=3,
        )
    return dropped


def _levels(scores: Scores, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Factor to its levels, in the order of appearance."""
    found = {name: tuple(dict.fromkeys(scores.run_info[name])) for name in names}
    for name, levels in found.items():
        if len(levels) < 2:
            raise InputError(f"every run has the same {name} ({levels[0]!r}): leave the factor out")
    return found


def _n_replicates(scores: Scores, levels: Mapping[str, tuple[str, ...]]) -> int:
    """Runs of each combination; 0 where the grid is unbalanced."""
    counts = Counter(zip(*(scores.run_info[name] for name in levels), strict=True))
    balanced = len(counts) == prod(map(len, levels.values())) and len(set(counts.values())) == 1
    return next(iter(counts.values())) if balanced else 0


Analysed = tuple[Anova, dict[str, MainEffect]]


def _balanced(
    scores: Scores,
    matrix: np.ndarray,
    names: tuple[str, ...],
    effects: list[str],
    strata: Strata,
    power: Power | None,
    confidence: float,
) -> Analysed:
    layout = balanced_layout({name: scores.run_info[name] for name in names})
    table = anova(
        matrix[layout.index],
        factors=[*names, None, BLOCK],
        effects=effects,
        block=BLOCK,
        strata=crossed_strata(BLOCK, names) if strata == "topic" else (),
        power=power,
    )
    return table, {name: tukey_main_effect(table, name, confidence=confidence) for name in names}


def _type_three(
    scores: Scores,
    matrix: np.ndarray,
    names: tuple[str, ...],
    effects: list[str],
    strata: Strata,
    power: Power | None,
    confidence: float,
) -> Analysed:
    if strata != "none":
        raise InputError(
            f'strata {strata} need a balanced grid: take strata="none" with unbalanced="type3"'
        )
    n_runs, n_topics = matrix.shape
    columns: dict[str, Any] = {name: np.repeat(scores.run_info[name], n_topics) for name in names}
    columns[BLOCK] = np.tile(np.arange(n_topics), n_runs)
    return type_three(
        matrix.reshape(-1),
        columns,
        effects=effects,
        block=BLOCK,
        power=power,
        confidence=confidence,
    )


def _effects(names: tuple[str, ...], interactions: int | None) -> list[str]:
    """Main effects, then interactions of two, three, … factors."""
    most = len(names) if interactions is None else min(interactions, len(names))
    return [":".join(some) for size in range(1, most + 1) for some in combinations(names, size)]
