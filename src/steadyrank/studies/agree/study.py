"""`agree`: do the measures agree, and with how many topics and systems?

For authors who report several measures or propose one. Rankings of systems by two measures are
correlated on samples of topics and systems of several sizes. An analysis of variance shows what the
correlation depends on: the measures, the number of topics or the number of systems (Ferro, IIR
2018; TOIS 36(2), 2017). Effect sizes have intervals over other topics and systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from typing import Any, get_args

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.order import scores_in_order
from steadyrank.data.scores import Scores, factor_levels, with_factors
from steadyrank.errors import InputError, check_choice, check_count, warn
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import scores_of
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.agree.correlations import (
    DEFAULT_STRATA,
    LEAST_SYSTEMS,
    RESAMPLES,
    SYSTEM_SIZES,
    TOPIC_SIZES,
    Coefficient,
    Mode,
    Reference,
    Strata,
    component_agreement,
    effect_intervals,
    effects_table,
    fitting_sizes,
    measure_likeness,
    sample_correlations,
)
from steadyrank.studies.agree.result import AgreeResult
from steadyrank.words import by_number, listed

LEAST_RESAMPLES = 20
"""Smallest number of resamples that gives meaningful percentiles."""

MEASURES = ("AP", "P@10", "Rprec", "RBP(p=0.8)", "nDCG", "nDCG@20", "ERR", "Twist")
"""Measures of the paper, the default for runs."""


@data_first
def agree(
    scores: Any,
    qrels: Any = None,
    measures: Iterable[str] | None = None,
    *,
    topic_sizes: Sequence[int] | None = None,
    system_sizes: Sequence[int] | None = None,
    n_samples: int = 100,
    coefficient: Coefficient = "tau",
    confidence: float = 0.95,
    reference: Reference = "both",
    ties: str = "a",
    mode: Mode = "sound",
    strata: Strata | None = None,
    n_interval_samples: int = RESAMPLES,
    factors: str | Sequence[str] | None = None,
    factors_from: str | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
) -> AgreeResult:
    """Correlate all pairs of measures on samples of topics and systems, and analyse the variance.

    For every topic size and system size, samples are drawn without replacement. The h-th draw of
    topics is combined with the h-th draw of systems of every size, the same for all pairs of
    measures. Both tau-b and tau_AP of the two rankings by mean score are computed.

    Parameters
    ----------
    scores, qrels : Scores, or runs and judgments
        Runs and judgments as `evaluate` takes them.
    measures : iterable of str, optional
        Measures to correlate; by default all of the scores, or for runs the paper's eight.
    topic_sizes, system_sizes : sequence of int, optional
        Sizes of the samples; by default those of the paper that are below the size of the data.
    n_samples : int
        Draws of each size.
    coefficient : str
        Coefficient that tables show: "tau" or "tau_ap".
    confidence : float
        Level of the intervals of means over samples.
    reference : str
        Measure of a pair that is the reference of tau_AP, "first" or "second"; "both" averages the
        two directions.
    ties : str
        As in `tau_ap`.
    mode : str
        "sound" gives effect sizes with intervals and no F or p; "paper" the published F and p,
        without intervals.
    strata : str, optional
        Errors that F is taken against in mode "paper": one residual ("none", as published), samples
        for the sizes ("sample"), or each effect's interaction with the subject ("subject"). The
        samples are not independent data under any of them.
    n_interval_samples : int
        Resamples of topics and systems for the intervals of effect sizes; 0 for no intervals.
    factors : str or sequence of str, optional
        Columns of `run_info` that name components of the systems. Measures are also correlated
        within the levels of each, with the component as a factor of the ANOVA (`components`).
    factors_from : str, optional
        Pattern of the components in the runs' names, such as "stop_stemmer_model_…". Runs without a
        level of a component are left out of its levels.
    jobs, scheduler, executor : optional
        Number of threads; address of a Dask scheduler; or any `concurrent.futures.Executor`.
    progress : callable, optional
        Called with (finished, total) blocks of samples.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    AgreeResult
        Correlations per pair of measures and combination of sizes, the ANOVA with omega² and its
        intervals, and the similarity of the rankings of all systems.

    Notes
    -----
    The ANOVA (eq. 1) has samples as subjects, and main effects and two-way interactions of measure
    pair, topic size and system size. All samples are from the same topics and systems, so more of
    them add no information, while F and p become more extreme with `n_samples` for any data. Topics
    without a score of every system on every measure are left out.

    Partial omega² of an effect is df (F - 1) / (df (F - 1) + N), with N correlations in all.

    References
    ----------
    - Ferro (2017). What does affect the correlation among evaluation measures? ACM TOIS 36(2).
      doi:10.1145/3106371

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=10, runs_per_team=2, n_topics=30, depth=100)
    >>> scores = sr.evaluate(track.runs, track.complete, ["AP", "nDCG@10", "P@10"])
    >>> result = sr.agree(scores, topic_sizes=[5, 20], system_sizes=[5, 15], n_samples=20)
    >>> result.tau.shape, [line.df for line in result.anova.sources]
    ((3, 2, 2, 20), [19, 2, 1, 1, 2, 2, 1, 211, 239])
    >>> low, high = result.omega_squared_intervals["tau"]["measure_pair"]
    >>> low <= result.anova.source("measure_pair").omega_squared <= high
    True
    """
    seed = seed_from(rng)
    check_count("n_samples", n_samples, 2)
    check_open_unit("confidence", confidence)
    if n_interval_samples != 0:
        check_count("n_interval_samples", n_interval_samples, LEAST_RESAMPLES)
    _check_choices(coefficient, reference, mode, strata)
    if measures is None and qrels is not None:
        measures = MEASURES
    chosen = scores_in_order(scores_of(scores, qrels, measures, jobs=jobs), runs=True)
    chosen = chosen.ranked().oriented()
    names: tuple[str, ...] = ()
    if factors or factors_from:
        chosen, names = with_factors(chosen, factors, factors_from, has_gaps=True)
    factor_levels(chosen, names)
    labels = _usable_labels(chosen, names)
    values, n_dropped = _complete(chosen)
    n_measures, n_systems, n_topics = values.shape
    sizes = {
        "topic_sizes": fitting_sizes("topic", topic_sizes, TOPIC_SIZES, n_topics, 1),
        "system_sizes": fitting_sizes("system", system_sizes, SYSTEM_SIZES, n_systems, 2),
    }
    likeness = measure_likeness(values, ties=ties)
    for name, tau in zip(chosen.measures, np.diag(likeness.tau), strict=True):
        if np.isnan(tau):
            raise InputError(
                f"{name} gives every system the same mean: there is no ranking to compare"
            )
    pairs = all_pairs(n_measures)
    single = len(pairs) * len(sizes["topic_sizes"]) * len(sizes["system_sizes"]) == 1
    n_interval_samples = 0 if mode == "paper" or single else n_interval_samples
    strata = strata or DEFAULT_STRATA[mode]
    machine: Any = {"jobs": jobs, "scheduler": scheduler, "executor": executor}
    drawing: Any = {**sizes, "n_samples": n_samples, "ties": ties, "reference": reference}
    drawing |= {"seed": seed, **machine}
    tests: Any = {"mode": mode, "strata": strata}
    within = tuple(
        component_agreement(values, name, own, **tests, **drawing) for name, own in labels.items()
    )
    for one in within:
        if one.anovas[coefficient] is None:
            warn(
                f"within levels of {one.component} a measure gives all systems of some sample the "
                "same mean: no effect is estimated; choose larger sizes, or group the levels"
            )
    samples, resampled = sample_correlations(
        values, n_resamples=n_interval_samples, progress=progress, **drawing
    )
    _warn_undefined(samples[coefficient], coefficient, pairs, chosen.measures)
    anovas = {name: effects_table(drawn, mode, strata) for name, drawn in samples.items()}
    return AgreeResult(
        coefficient=coefficient,
        measures=chosen.measures,
        pairs=pairs,
        **sizes,
        n_samples=n_samples,
        n_topics=n_topics,
        n_systems=n_systems,
        n_dropped=n_dropped,
        reference=reference,
        ties=ties,
        confidence=confidence,
        mode=mode,
        strata=strata,
        n_interval_samples=n_interval_samples,
        seed=seed,
        tau=samples["tau"],
        tau_ap=samples["tau_ap"],
        anovas=anovas,
        omega_squared_intervals=effect_intervals(samples, resampled, anovas, confidence),
        likeness=likeness,
        components=within,
    )


def _check_choices(coefficient: Any, reference: Any, mode: Any, strata: Any) -> None:
    check_choice("coefficient", coefficient, get_args(Coefficient))
    check_choice("reference", reference, get_args(Reference))
    check_choice("mode", mode, get_args(Mode))
    check_choice("kind of strata", strata or "none", get_args(Strata))
    if mode == "sound" and strata not in (None, DEFAULT_STRATA[mode]):
        warn(f"strata {strata} choose among the F tests of mode paper; mode sound makes no tests")


def _complete(scores: Scores) -> tuple[np.ndarray, int]:
    """Return the scores of complete topics, and the number of topics dropped."""
    if len(scores.measures) < 2:
        raise InputError(
            f"agreement requires at least two measures, got {', '.join(scores.measures) or 'none'}"
        )
    if len(scores.runs) < 2:
        raise InputError(f"agreement requires at least two systems, got {len(scores.runs)}")
    there = ~np.isnan(scores.values).any(axis=(0, 1))
    dropped = int((~there).sum())
    if dropped == len(there):
        raise InputError("no topic has a score of every system on every measure")
    if dropped:
        warn(
            f"{dropped} of {len(there)} topics {by_number(dropped, 'is', 'are')} left out: some "
            "system has no score there on some measure"
        )
    return np.ascontiguousarray(scores.values[:, :, there]), dropped


def _usable_labels(scores: Scores, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the levels of the runs by factor; "" for runs that are left out of the levels.

    Factors of which fewer than two levels have enough systems are left out, unless all are.
    """
    labels = {name: _large_levels(scores.run_info[name]) for name in names}
    usable = {name: own for name, own in labels.items() if len({*own} - {""}) > 1}
    if names and not usable:
        others = [
            name
            for name, column in scores.run_info.items()
            if name not in (*names, "system") and len({*_large_levels(column)} - {""}) > 1
        ]
        or_use = f", or use {listed(others, 'or')}" if others else ""
        raise InputError(
            f"fewer than two levels of {listed(names, 'and')} have {LEAST_SYSTEMS} systems, which "
            "correlations within a level require: give a column of the run information that "
            f"groups the levels, such as families{or_use}"
        )
    for name, own in labels.items():
        without, n = scores.run_info[name].count(""), len(own)
        small = own.count("") - without
        if name not in usable:
            warn(f"fewer than two levels of {name} have {LEAST_SYSTEMS} systems: it is left out")
        elif without:
            warn(f"{without} of {n} runs have no {name}: left out of its levels")
        if small and name in usable:
            warn(
                f"{small} of {n} runs have a {name} of fewer than {LEAST_SYSTEMS} runs: left out "
                "of its levels"
            )
    return usable


def _large_levels(column: Sequence[str]) -> list[str]:
    counts = Counter(column)
    return [level if counts[level] >= LEAST_SYSTEMS else "" for level in column]


def _warn_undefined(
    samples: np.ndarray, coefficient: str, pairs: np.ndarray, measures: Sequence[str]
) -> None:
    """Warn of samples in which a measure ties all systems, so that no correlation exists."""
    lost = np.isnan(samples)
    if not lost.any():
        return
    by_measure = np.bincount(pairs.ravel(), np.repeat(lost.sum(axis=(1, 2, 3)), 2))
    warn(
        f"{int(lost.sum())} of {lost.size} correlations {coefficient} do not exist, as a "
        f"measure (most often {measures[int(np.argmax(by_measure))]}) gives all sampled "
        "systems the same mean; means ignore them and there is no ANOVA: choose larger sizes, "
        "or omit the measure"
    )
