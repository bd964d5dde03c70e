"""`components`: which component of a grid of systems matters, by how much?

For anyone who has runs of every combination of components (stop list, stemmer, model, …): an
analysis of variance with topics as blocks says how much each component and their interactions
contribute, and Tukey's test which of a component's levels differ (Ferro and Silvello, SIGIR 2016
and JASIST 69(2), 2018).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any, Literal, get_args

import numpy as np

from steadyrank._version import __version__
from steadyrank.data.order import scores_in_order
from steadyrank.data.scores import factor_levels, measure_of, with_factors
from steadyrank.errors import InputError, check_choice, warn
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import scores_of
from steadyrank.notebook import Framed, shown_by
from steadyrank.stats.anova.balanced import (
    Anova,
    MainEffect,
    anova,
    crossed_strata,
    tukey_main_effect,
)
from steadyrank.stats.anova.parts import balanced_layout
from steadyrank.stats.inputs import check_open_unit, complete_topics
from steadyrank.words import by_number, counted

Mode = Literal["sound", "paper"]
Strata = Literal["none", "topic"]

DEFAULT_STRATA: Mapping[Mode, Strata] = {"sound": "topic", "paper": "none"}

BLOCK = "topic"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.components.view:VIEW.text", listed=True)
class ComponentsResult(Framed):
    """The analysis of one measure: the ANOVA table, and the means of all levels.

    Examples
    --------
    >>> import numpy as np, steadyrank as sr
    >>> scores = sr.Scores(measures=["AP"], runs=["a", "b"], topics=["1", "2", "3"],
    ...     values=np.random.default_rng(0).random((1, 2, 3)),
    ...     run_info={"stemmer": ["none", "porter"]})
    >>> result = sr.components(scores, factors="stemmer")
    >>> result.factors, [line.df for line in result.anova.sources]
    (('stemmer',), [2, 1, 2, 5])
    """

    measure: str
    factors: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    """Factor to its levels."""
    n_runs: int
    n_replicates: int
    """Number of runs per combination of levels."""
    n_topics: int
    n_dropped: int
    """Number of topics left out because some run has no score there."""
    mode: Mode
    strata: Strata
    confidence: float
    anova: Anova
    main_effects: Mapping[str, MainEffect]
    """Factor to Tukey's test of its levels."""
    lower_is_better: bool = False

    def ordered_levels(self, factor: str) -> list[tuple[str, float]]:
        """Return the levels of a factor and their means, the best first."""
        check_choice("factor", factor, self.factors)
        means = self.main_effects[factor].means
        order = np.argsort(means if self.lower_is_better else -means, kind="stable")
        return [(self.levels[factor][i], float(means[i])) for i in order]

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per source of variation."""
        return self.anova.rows()

    def caption(self) -> str:
        """Return the caption of a table: measure, runs, factors, topics, version."""
        sizes = " × ".join(
            f"{name} ({counted(len(self.levels[name]), 'level')})" for name in self.factors
        )
        dropped = f" ({self.n_dropped} dropped)" if self.n_dropped else ""
        runs = counted(self.n_runs, "run") + (
            f" ({self.n_replicates} of each combination)" if self.n_replicates > 1 else ""
        )
        return (
            f"{self.measure} of {runs}: {sizes}; {counted(self.n_topics, 'topic')}{dropped} as "
            f"blocks; steadyrank {__version__}."
        )


@data_first
def components(
    scores: Any,
    qrels: Any = None,
    measure: str | None = None,
    *,
    factors: str | Sequence[str] | None = None,
    factors_from: str | None = None,
    mode: Mode = "sound",
    strata: Strata | None = None,
    confidence: float = 0.95,
) -> ComponentsResult:
    """Analyse the variance of one measure by columns of `run_info`, with topics as blocks.

    Parameters
    ----------
    scores, qrels : Scores, or runs and judgments
        Runs and judgments as `evaluate` takes them.
    measure : str, optional
        Required where the scores have several; for runs AP by default, or nDCG@10 if graded.
    factors : str or sequence of str
        Columns that name the components; runs that agree in all of them are replicates.
    factors_from : str, optional
        Pattern of the components in the runs' names, such as "stop_stemmer_model_…".
    mode : str
        "paper" tests effects as published, against one residual.
    strata : str, optional
        Test each effect against its interaction with topics ("topic"), which is about other
        topics, or against one residual ("none"), which is about these topics alone. The default
        depends on the mode.
    confidence : float
        Level of Tukey's tests and intervals.

    Returns
    -------
    ComponentsResult
        The analysis of variance (`anova`), and per factor the means of its levels with Tukey's
        intervals (`main_effects`).

    Notes
    -----
    Every combination of levels must occur equally often. Effect sizes are the same for both strata.
    Topics that some run lacks are left out.

    References
    ----------
    - Ferro & Silvello (2016). A general linear mixed models approach to study system component
      effects. SIGIR. doi:10.1145/2911451.2911530

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
    scores = scores_of(scores, qrels, measure)
    scores, names = with_factors(scores, factors, factors_from)
    if BLOCK in names:
        raise InputError(f"a factor cannot be named {BLOCK!r}, which is the block: rename it")
    check_choice("mode", mode, get_args(Mode))
    check_choice("kind of strata", "none" if strata is None else strata, get_args(Strata))
    check_open_unit("confidence", confidence)
    scores = scores_in_order(scores)
    chosen = measure_of(scores, measure)
    matrix, n_dropped = complete_topics(scores.matrix(chosen))
    _tell_dropped(matrix.shape[1], n_dropped)
    levels = factor_levels(scores, names)
    columns = {name: scores.run_info[name] for name in names}
    strata = strata or DEFAULT_STRATA[mode]
    sizes = range(1, len(names) + 1)
    table = anova(
        matrix[balanced_layout(columns).index],
        factors=[*names, None, BLOCK],
        effects=[":".join(some) for size in sizes for some in combinations(names, size)],
        block=BLOCK,
        strata=crossed_strata(BLOCK, names) if strata == "topic" else (),
    )
    return ComponentsResult(
        measure=chosen,
        factors=names,
        levels=levels,
        n_runs=len(scores.runs),
        n_replicates=n_replicates_of(list(columns.values())),
        n_topics=matrix.shape[1],
        n_dropped=n_dropped,
        mode=mode,
        strata=strata,
        confidence=confidence,
        anova=table,
        main_effects={
            name: tukey_main_effect(table, name, confidence=confidence) for name in names
        },
        lower_is_better=scores.lower_is_better(chosen),
    )


def _tell_dropped(left: int, dropped: int) -> None:
    whole = left + dropped
    if left < 2:
        raise InputError(
            f"an analysis requires at least 2 topics that every run has, got {left} of {whole}"
        )
    if dropped:
        warn(
            f"{dropped} of {whole} topics {by_number(dropped, 'is', 'are')} left out: some run has "
            "no score there"
        )


def n_replicates_of(columns: Sequence[Sequence[str]]) -> int:
    """Return the number of runs per combination of levels; 0 where it varies."""
    counts = Counter(zip(*columns, strict=True))
    full = prod(len(set(column)) for column in columns)
    balanced = len(counts) == full and len(set(counts.values())) == 1
    return next(iter(counts.values())) if balanced else 0
