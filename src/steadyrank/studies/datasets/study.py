"""`datasets`: would other datasets change the leaderboard?

For anyone who reads or publishes a table of systems by datasets: between which ranks each system
may stand if other datasets of this kind, other types of them or other topics had been drawn; who
could be first; and two systems in depth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.leaderboard import Leaderboard
from steadyrank.data.read.leaderboards import read_leaderboard
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import position
from steadyrank.errors import InputError, arg, check_choice, warn
from steadyrank.measures.arguments import data_first
from steadyrank.stats.datasets.aggregates import (
    Aggregate,
    AggregateColumns,
    columns_of,
    completion_ranks,
    dataset_units,
    friedman,
    next_ranks,
    topic_units,
    type_correlation,
    type_weights,
)
from steadyrank.stats.datasets.random_effects import RandomEffects, next_dataset, random_effects
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.fragility import carried, fragility
from steadyrank.stats.pairs.max_t import MaxT, max_t, max_t_level, unit_max_t
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.sign_flips import Flips
from steadyrank.stats.pairs.tests import moments
from steadyrank.stats.pairs.topic_design import Units
from steadyrank.stats.planning.needed_topics import needed_topics
from steadyrank.stats.planning.variance import pair_df
from steadyrank.stats.ranks.correlation import kendall_tau
from steadyrank.stats.run_means import (
    adjusted_means,
    best_first,
    in_order,
    mean_intervals,
    ranks_of,
)
from steadyrank.studies.datasets.result import (
    MEANS,
    DatasetFragility,
    DatasetLead,
    DatasetPair,
    DatasetsResult,
    Drawn,
    GapRow,
    Gaps,
    Influence,
    LeaveOneOut,
)
from steadyrank.words import MOST_NAMES, by_number, counted, some


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Family:
    """Values of the runs, and decisions about all pairs."""

    value: np.ndarray
    interval: np.ndarray
    lead: tuple[int, int]
    """The best run and the next."""
    together: MaxT
    direction: np.ndarray
    """Sign of the mean difference of each pair."""
    n: np.ndarray
    """Draws behind the difference of each pair."""
    n_topics_dropped: int = 0


@data_first
def datasets(
    table: Any,
    measure: str | None = None,
    *,
    aggregate: Aggregate = "mean",
    drawn: Drawn = "datasets",
    gaps: Gaps = "complete",
    types: PathLike | Mapping[str, str] | None = None,
    subsets: Sequence[str] = (),
    a: str | None = None,
    b: str | None = None,
    alpha: float = 0.05,
    n_samples: int = 10_000,
    jobs: int | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
) -> DatasetsResult:
    """Say how far a leaderboard over several datasets can be trusted.

    The pairs that differ significantly come from one family of decisions: all pairs of runs at
    once, by studentized sign flips with stepdown. Rank sets, tiers and the runs that could be first
    come from each run's own pairs, and hold for that run with confidence 1 - alpha.

    Parameters
    ----------
    table : path, paths, pandas.DataFrame, Leaderboard or mapping of Scores
        Scores of runs on datasets. A file or frame is long (columns run or model, dataset or task,
        value or score, and where there are any type and topic) or wide (first column the runs, one
        column per dataset); a folder holds MTEB results, model/revision/task.json; a mapping gives
        the `Scores` of each collection by its name, runs matched by name or by their `system`.
    measure : str, optional
        Which one of the scores of collections, where they have several.
    aggregate : str
        "mean"; "mean-of-types", every type weighing the same; "borda", m - average rank per
        dataset; "wins", the share of the other runs beaten.
    drawn : str
        What is resampled: "datasets"; "types", whole types of datasets; "topics" of these datasets;
        or "both" datasets and topics.
    gaps : str
        Where runs lack datasets: "complete" takes the datasets that every run has; "pairwise"
        compares every two runs on the datasets that both have and ranks runs by least-squares
        means; "zero" gives no points for an absent score, as MTEB's Borda count does.
    types : path or mapping, optional
        The type of each dataset: a CSV with columns dataset and type.
    subsets : sequence of str
        Of a folder of MTEB results, the subsets of a task that count; by default those that every
        model has.
    a, b : str, optional
        Two runs to look at in depth; the two best unless given.
    alpha : float
        Error rate of the whole family.
    n_samples : int
        Sign patterns that are drawn; all are enumerated where there are no more. Of more than a
        million pairs fewer, unless more than 10,000 are asked for.
    jobs : int, optional
        Threads.
    progress : callable, optional
        Is given (finished, total) blocks of sign patterns.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DatasetsResult
        Per run its value, interval, rank and rank set; which runs could be first; and two runs in
        depth (`pair`).

    Notes
    -----
    Datasets count as a sample of the kind of datasets that the leaderboard is about. If they
    are not, no method says what others would show; "types" is the more cautious reading, as
    datasets of one type resemble each other, and with few types little can be shown: with fewer
    than six, nothing at alpha 0.05.

    A dataset's score varies with its topics, too, and that variation is part of the variation
    between datasets: "both" makes the decisions of "datasets", and says of a pair how much of it
    is due to topics.

    References
    ----------
    - Mogstad, Romano, Shaikh & Wilhelm (2024). Inference for ranks with applications to mobility
      across neighbourhoods and academic achievement across countries. Review of Economic Studies.
      doi:10.1093/restud/rdad006

    Examples
    --------
    >>> import pandas as pd, steadyrank as sr
    >>> scores = np.random.default_rng(1).normal(size=(4, 20)) + [[0], [0], [0], [3]]
    >>> frame = pd.DataFrame(scores, index=list("wxyz"), columns=[f"set{k}" for k in range(20)])
    >>> result = sr.datasets(frame, aggregate="borda")
    >>> result.first_names(), result.rank_set.tolist()
    (['z'], [[2, 4], [2, 4], [2, 4], [1, 1]])
    """
    seed = seed_from(rng)
    _check(aggregate, drawn, gaps, alpha, n_samples, a, b)
    given = read_leaderboard(table, types=types, measure=measure, subsets=subsets).in_order()
    given = given.one_way()
    lower_is_better, given = given.lower_is_better, given.oriented()
    if lower_is_better and gaps == "zero" and aggregate in MEANS:
        raise InputError(
            f"{arg('gaps', 'zero')} makes a missing score the best where lower is better: give "
            f"{arg('gaps', 'complete')} or {arg('gaps', 'pairwise')}"
        )
    if len(given.runs) < 2:
        raise InputError(
            f"a leaderboard compares runs: at least two are required, got {len(given.runs)}"
        )
    used = _used(given, gaps, aggregate, drawn)
    pairs = all_pairs(len(used.runs))
    columns = _columns(used, aggregate, gaps)
    flips: Flips = {
        "alpha": alpha,
        "n_samples": n_samples,
        "seed": seed,
        "jobs": jobs,
        "progress": progress,
    }
    family = _decide(used, columns, pairs, drawn, gaps, flips)
    together, value = family.together, family.value
    level = max_t_level(family.n, together.critical, alpha)
    _warn_if_too_few(together, used, drawn, alpha)
    claimed = decisions.claims_of(family.direction, pairs, together.pvalue, value, alpha)
    own_claimed = decisions.own_claims(family.direction, pairs, together.own, value, alpha)
    own = decisions.own_decisions(pairs, own_claimed, value, in_order(value, used.runs))
    wins = decisions.beaten(len(used.runs), pairs, claimed)
    named = (a, b) if a is not None and b is not None else _two_best(used, value)
    pair = named and pair_in_depth(
        used,
        *named,
        significant=lambda i, j: bool(wins[i, j] or wins[j, i]),
        comparison_alpha=0.0 if drawn == "topics" else level,
        n_pairs=len(pairs),
        alpha=alpha,
    )
    has_gaps = bool(np.isnan(given.values).any())
    result = DatasetsResult(
        aggregate=aggregate,
        drawn=drawn,
        gaps=gaps,
        alpha=alpha,
        runs=used.runs,
        datasets=used.datasets,
        types=used.types,
        left_out=tuple(name for name in given.datasets if name not in set(used.datasets)),
        n_missing=int(np.isnan(given.values).sum()),
        n_topics_dropped=family.n_topics_dropped,
        scores=used.values,
        value=value,
        interval=family.interval,
        rank=ranks_of(value),
        own=own,
        rank_set_simultaneous=decisions.rank_sets(wins),
        lead=_lead(family, pairs, own.could_be_first),
        leaders=_leaders(used),
        first_by_types=_first_by_types(used, columns, pairs, drawn, flips),
        next_ranks=next_ranks(used.values, alpha),
        fragility=_leader_fragility(used, columns, value),
        pairs=pairs,
        pvalue_adjusted=together.pvalue,
        significant=claimed != 0,
        comparison_alpha=level,
        n_patterns=together.n_patterns,
        exact=together.exact,
        seed=seed,
        gap_rows=gap_rows(given) if has_gaps else (),
        completion_ranks=_completed(given, aggregate) if has_gaps else None,
        influence=influences(used, columns, aggregate, value),
        type_correlation=_type_correlation(used),
        friedman=None if np.isnan(used.values).any() else friedman(used.values, alpha=alpha),
        pair=pair,
        pair_asked=a is not None,
    )
    return result.with_sign_of_file() if lower_is_better else result


def _lead(family: _Family, pairs: np.ndarray, could_be_first: np.ndarray) -> DatasetLead:
    """The best run and the next, by the next run's own comparisons."""
    first, second = family.lead
    difference = float(family.value[first] - family.value[second])
    limits = difference + family.together.lead_width[0] * [-1.0, 1.0]
    significant = not could_be_first[second]
    agreed = decisions.agreeing_intervals(limits[None], np.array([int(significant)]), math.inf)[0]
    return DatasetLead(first, second, difference, agreed, significant)


def _leaders(used: Leaderboard) -> dict[Aggregate, str]:
    """The best run by each aggregate, where no score is missing."""
    if np.isnan(used.values).any():
        return {}
    known: list[Aggregate] = ["mean", "borda"]
    known += ["mean-of-types"] if used.types else []
    made = {name: columns_of(used.values, name, used.types) for name in known}
    values = {name: columns.values @ columns.weight for name, columns in made.items()}
    return {name: used.runs[in_order(value, used.runs)[0]] for name, value in values.items()}


def _first_by_types(
    used: Leaderboard, columns: AggregateColumns, pairs: np.ndarray, drawn: Drawn, flips: Flips
) -> int | None:
    """How many runs could be first for other types of datasets."""
    if drawn not in ("datasets", "both") or len(set(used.types)) < 2:
        return None
    if np.isnan(columns.values).any():
        return None
    silent: Flips = {**flips, "progress": None}
    family = _by_units(dataset_units(columns, used.types), pairs, silent)
    order = in_order(family.value, used.runs)
    claimed = decisions.own_claims(
        family.direction, pairs, family.together.own, family.value, flips["alpha"]
    )
    own = decisions.own_decisions(pairs, claimed, family.value, order)
    return int(own.could_be_first.sum())


def _leader_fragility(
    used: Leaderboard, columns: AggregateColumns, value: np.ndarray
) -> DatasetFragility | None:
    """The fewest datasets without which another run is level with the leader or above it."""
    leader, *others = best_first(value).tolist()
    pairs = np.array([(leader, other) for other in others])
    fewest = fragility(columns.values, pairs, columns.weight)
    if not (fewest > 0).any():
        return None
    least = int(np.argmin(np.where(fewest > 0, fewest, len(used.datasets) + 1)))
    rival = others[least]
    units = carried(columns.values[leader] - columns.values[rival], columns.weight).units
    names = [used.datasets[unit] for unit in units]
    return DatasetFragility(len(names), used.runs[rival], names)


def _check(
    aggregate: Any, drawn: Any, gaps: Any, alpha: Any, n_samples: Any, a: Any, b: Any
) -> None:
    check_choice("aggregate", aggregate, get_args(Aggregate))
    check_choice("resampling", drawn, get_args(Drawn))
    check_choice("treatment of gaps", gaps, get_args(Gaps))
    check_open_unit("alpha", alpha)
    check_samples(n_samples)
    if (a is None) != (b is None):
        raise InputError(f"a pair has two runs: name both {arg('a=')} and {arg('b=')}")


def _used(given: Leaderboard, gaps: Gaps, aggregate: Aggregate, drawn: Drawn) -> Leaderboard:
    """The runs and datasets that the study works on; refused where they do not suffice."""
    has_gaps = bool(np.isnan(given.values).any())
    used = complete_datasets(given) if gaps == "complete" and has_gaps else given
    if drawn == "types" or aggregate == "mean-of-types":
        type_weights(used.types, len(used.datasets))
    if drawn in ("topics", "both") and not used.has_topics:
        raise InputError(
            f"{arg('drawn', drawn)} requires scores per topic: give a column topic, or collections"
        )
    if drawn == "topics" and aggregate in ("borda", "wins"):
        raise InputError(
            f"{arg('drawn', 'topics')} takes {arg('aggregate', 'mean')} or "
            f"{arg('aggregate', 'mean-of-types')}: points by {aggregate} are ranks of means, "
            "which topics do not add up to"
        )
    if drawn != "topics" and len(used.datasets) < 2:
        raise InputError(f"resampling datasets requires at least two, got {len(used.datasets)}")
    if drawn == "types" and len(set(used.types)) < 2:
        raise InputError("resampling types requires at least two types of datasets, got one")
    if (
        gaps == "pairwise"
        and has_gaps
        and (drawn in ("types", "topics") or aggregate == "mean-of-types")
    ):
        raise InputError(
            f"{arg('gaps', 'pairwise')} compares every two runs on the datasets that both have, "
            f"with equal weights: use {arg('gaps', 'complete')} or {arg('gaps', 'zero')} for "
            "types or topics"
        )
    if used is not given:
        _warn_of_left_out(given, used)
    return used


def _warn_of_left_out(given: Leaderboard, used: Leaderboard) -> None:
    who = lacking_words(gap_rows(given), len(given.runs), len(given.datasets))
    left = len(given.datasets) - len(used.datasets)
    warn(f"{who}; omitted: {counted(left, 'dataset')} that some run lacks", stacklevel=5)


def _columns(used: Leaderboard, aggregate: Aggregate, gaps: Gaps) -> AggregateColumns:
    columns = columns_of(used.values, aggregate, used.types)
    if gaps != "zero":
        return columns
    return AggregateColumns(values=np.nan_to_num(columns.values, nan=0.0), weight=columns.weight)


def _decide(
    used: Leaderboard,
    columns: AggregateColumns,
    pairs: np.ndarray,
    drawn: Drawn,
    gaps: Gaps,
    flips: Flips,
) -> _Family:
    """Values and decisions, by the flips that suit what is resampled."""
    if drawn == "topics":
        return _by_topics(used, columns.weight, pairs, gaps, flips)
    groups = used.types if drawn == "types" else ()
    equal = np.ptp(columns.weight) <= 1e-12 and not groups
    if equal:
        return _by_equal_datasets(columns.values, pairs, flips)
    return _by_units(dataset_units(columns, groups), pairs, flips)


def _by_equal_datasets(values: np.ndarray, pairs: np.ndarray, flips: Flips) -> _Family:
    means, found = adjusted_means(values), moments(values, pairs)
    first, second = (int(run) for run in best_first(means)[:2])
    return _Family(
        value=means,
        interval=mean_intervals(values, 1 - flips["alpha"]),
        lead=(first, second),
        together=max_t(values, pairs, leads=[(first, second)], **flips),
        direction=np.sign(found.mean),
        n=found.n,
    )


def _by_topics(
    used: Leaderboard, weight: np.ndarray, pairs: np.ndarray, gaps: Gaps, flips: Flips
) -> _Family:
    scores = [used.topic_scores[name] for name in used.datasets]
    if gaps == "zero":
        scores = [np.nan_to_num(one, nan=0.0) for one in scores]
    units, dropped = topic_units(scores, weight)
    return replace(_by_units(units, pairs, flips), n_topics_dropped=dropped)


def _by_units(units: Units, pairs: np.ndarray, flips: Flips) -> _Family:
    value, df = units.value, len(units.share) - len(units.sizes)
    first, second = (int(run) for run in best_first(value)[:2])
    return _Family(
        value=value,
        interval=units.intervals(1 - flips["alpha"]),
        lead=(first, second),
        together=unit_max_t(units, pairs, leads=[(first, second)], **flips),
        direction=np.sign(value[pairs[:, 0]] - value[pairs[:, 1]]),
        n=np.full(len(pairs), df + 1),
    )


def _warn_if_too_few(together: MaxT, used: Leaderboard, drawn: Drawn, alpha: float) -> None:
    if together.least_pvalue <= alpha:
        return
    n = len(set(used.types)) if drawn == "types" else len(used.datasets)
    what = "types of datasets" if drawn == "types" else "datasets"
    warn(
        f"{n} {what} have only {counted(together.n_patterns, 'sign pattern')}: no difference can "
        f"be significant at alpha {alpha:g}, so that any run could be first"
    )


def _two_best(used: Leaderboard, value: np.ndarray) -> tuple[str, str] | None:
    """The two runs with the best values, unless they share too little to be compared."""
    first, second = (int(run) for run in best_first(value)[:2])
    shared = ~np.isnan(used.values[first] - used.values[second])
    return (used.runs[first], used.runs[second]) if shared.sum() >= FEWEST else None


def _completed(given: Leaderboard, aggregate: Aggregate) -> np.ndarray | None:
    """Ranks over all completions, of the means; points by rank depend on all runs at once."""
    if aggregate in ("borda", "wins"):
        return None
    return completion_ranks(given.values, columns_of(given.values, aggregate, given.types).weight)


def _type_correlation(used: Leaderboard) -> float:
    if not used.types or np.isnan(used.values).any():
        return math.nan
    return type_correlation(used.values, used.types)


FEWEST = 2
"""Datasets without which nothing can be resampled."""


def gap_rows(table: Leaderboard) -> tuple[GapRow, ...]:
    """Runs that lack datasets, those that lack most first."""
    absent = np.isnan(table.values)
    missing = absent.sum(axis=1)
    order = [int(i) for i in np.lexsort((np.arange(len(missing)), -missing)) if missing[i]]
    rows, left = [], np.ones(len(missing), bool)
    for i in order:
        left[i] = False
        kept = int((~absent[left].any(axis=0)).sum()) if left.any() else absent.shape[1]
        rows.append(GapRow(run=table.runs[i], missing=int(missing[i]), kept_without=kept))
    return tuple(rows)


def lacking_words(
    rows: Sequence[GapRow], n_runs: int, n_datasets: int, *, most: int = MOST_NAMES
) -> str:
    """Who lacks datasets, and how many, without an end of the sentence."""
    first, *others = rows
    who = [f"{first.run} ({first.missing} of {n_datasets})"]
    who += [f"{row.run} ({row.missing})" for row in others]
    lack = by_number(len(rows), "lacks", "lack")
    return f"{len(rows):,} of {n_runs:,} runs {lack} datasets: {some(who, most)}"


def complete_datasets(table: Leaderboard) -> Leaderboard:
    """The datasets that every run has; refused where these are too few."""
    whole = ~np.isnan(table.values).any(axis=0)
    if whole.sum() < FEWEST:
        rows = gap_rows(table)
        best = next((row for row in rows if row.kept_without >= FEWEST), rows[-1])
        names = [row.run for row in rows[: rows.index(best) + 1]]
        raise InputError(
            f"{counted(int(whole.sum()), 'dataset has', 'datasets have')} a score of every run, "
            f"of {len(table.datasets)}: give {arg('gaps', 'pairwise')} or {arg('gaps', 'zero')}, "
            f"or omit {some(names)}, without which {best.kept_without} would remain"
        )
    return table.take(datasets=np.flatnonzero(whole).tolist())


def influences(
    used: Leaderboard, columns: AggregateColumns, aggregate: Aggregate, value: np.ndarray
) -> tuple[Influence, ...]:
    """The ranking without each dataset, the most different one first."""
    if len(used.datasets) < 3:
        return ()
    rows = []
    for k, name in enumerate(used.datasets):
        kept = np.delete(np.arange(len(used.datasets)), k)
        without = _values_of(columns.values[:, kept], used, kept, aggregate)
        leader = used.runs[int(best_first(without)[0])]
        tau = kendall_tau(value, without).value if not np.isnan(without).any() else math.nan
        rows.append(Influence(dataset=name, tau=float(tau), leader=leader))
    return tuple(sorted(rows, key=lambda row: (math.isnan(row.tau), row.tau)))


def _values_of(
    values: np.ndarray, used: Leaderboard, kept: np.ndarray, aggregate: Aggregate
) -> np.ndarray:
    if np.isnan(values).any():
        return adjusted_means(values)
    if aggregate != "mean-of-types":
        return np.asarray(values.mean(axis=1))
    return np.asarray(values @ type_weights([used.types[k] for k in kept], len(kept)))


def pair_in_depth(
    table: Leaderboard,
    a: str,
    b: str,
    *,
    significant: Callable[[int, int], bool],
    comparison_alpha: float,
    n_pairs: int,
    alpha: float,
) -> DatasetPair:
    """What the datasets that both have say of two runs."""
    first, second = (position(name, table.runs, "run") for name in (a, b))
    if first == second:
        raise InputError(f"a and b are both {a!r}: name two runs")
    gap = table.values[first] - table.values[second]
    shared = np.flatnonzero(~np.isnan(gap))
    if len(shared) < 2:
        raise InputError(f"{a} and {b} have fewer than two datasets in common")
    names = tuple(table.datasets[k] for k in shared)
    d, error = gap[shared], _topic_errors(table, names, first, second)
    level = comparison_alpha or alpha / n_pairs
    spread = d.var(ddof=1)
    needed = needed_topics(
        d.mean(),
        spread,
        len(d),
        alpha=level,
        confidence=1 - alpha,
        variance_df=pair_df(d[None])[0] if spread > 0.0 else math.inf,
        corrected=True,
    )
    mean, interval, prediction, effects = _together(d, error, 1 - alpha)
    low, high = float(needed.low), float(needed.high)
    return DatasetPair(
        a=a,
        b=b,
        datasets=names,
        per_dataset=d,
        error=error,
        difference=mean,
        interval=interval,
        prediction_interval=prediction,
        effects=effects,
        leave_one_out=_leave_one_out(names, d, error, 1 - alpha),
        significant=significant(first, second),
        datasets_needed=float(needed.topics) if math.isfinite(high) else math.inf,
        datasets_needed_interval=Interval(low, high),
        datasets_assured=float(needed.assured),
        comparison_alpha=level,
        alpha=alpha,
    )


def _topic_errors(
    table: Leaderboard, names: tuple[str, ...], first: int, second: int
) -> np.ndarray:
    """Standard errors of the differences over topics; NaN unless known for every dataset."""
    errors = np.full(len(names), np.nan)
    for k, name in enumerate(names):
        if name not in table.topic_scores:
            return np.full(len(names), np.nan)
        gap = table.topic_scores[name][first] - table.topic_scores[name][second]
        gap = gap[~np.isnan(gap)]
        if len(gap) > 1:
            errors[k] = gap.std(ddof=1) / math.sqrt(len(gap))
    return errors if not np.isnan(errors).any() else np.full(len(names), np.nan)


def _together(
    d: np.ndarray, error: np.ndarray, confidence: float
) -> tuple[float, Interval, Interval, RandomEffects | None]:
    """Mean difference, its interval, that of the next dataset, and the model where there is one."""
    if np.isnan(error).any() or not (error > 0.0).any():
        low, high = mean_intervals(d[np.newaxis], confidence)[0]
        ahead = next_dataset(d, confidence=confidence)
        return float(d.mean()), Interval(float(low), float(high)), ahead, None
    effects = random_effects(d, error, confidence=confidence)
    return effects.difference, effects.interval, effects.prediction, effects


def _leave_one_out(
    names: tuple[str, ...], d: np.ndarray, error: np.ndarray, confidence: float
) -> tuple[LeaveOneOut, ...]:
    if len(d) < 3:
        return ()
    rows = []
    for k, name in enumerate(names):
        mean, interval, _, _ = _together(np.delete(d, k), np.delete(error, k), confidence)
        rows.append(LeaveOneOut(dataset=name, difference=mean, interval=interval))
    return tuple(rows)
