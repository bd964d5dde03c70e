"""`datasets`: would other datasets change the leaderboard?

For anyone who reads or publishes a table of systems by datasets: the possible ranks of each system
for other datasets of this kind, other types of datasets or other topics; who could be first; and
two systems in depth.
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
from steadyrank.stats import datasets as boards
from steadyrank.stats.datasets import Aggregate, AggregateColumns, RandomEffects
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.effects import carried, fragility
from steadyrank.stats.pairs.family import lead_of
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

    pairs: np.ndarray
    value: np.ndarray
    interval: np.ndarray
    together: MaxT
    direction: np.ndarray
    """[pair]: sign of the mean difference."""
    n: np.ndarray
    """[pair]: number of datasets, types or topics in the difference."""
    n_topics_dropped: int = 0

    def own(self, runs: Sequence[str], alpha: float) -> decisions.OwnDecisions:
        """Return what each run's own pairs decide about it."""
        claimed = decisions.own_claims(
            self.direction, self.pairs, self.together.own, self.value, alpha
        )
        return decisions.own_decisions(self.pairs, claimed, self.value, in_order(self.value, runs))


@data_first
def datasets(
    table: Any,
    measure: str | None = None,
    *,
    aggregate: Aggregate = "mean",
    drawn: Drawn = "datasets",
    gaps: Gaps = "complete",
    types: PathLike | Mapping[str, str] | None = None,
    a: str | None = None,
    b: str | None = None,
    alpha: float = 0.05,
    n_samples: int = 10_000,
    jobs: int | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
) -> DatasetsResult:
    """Return how far a leaderboard over several datasets can be trusted.

    The pairs that differ significantly come from one family of decisions about all pairs of runs,
    by studentized sign flips with stepdown. Rank sets, tiers and the runs that could be first come
    from each run's own pairs, and hold for that run with confidence 1 - alpha.

    Parameters
    ----------
    table : path, paths, pandas.DataFrame, Leaderboard or mapping of Scores
        Scores of runs on datasets. A file or frame is long (columns run or model, dataset or task,
        value or score, and where there are any type and topic) or wide (first column the runs, one
        column per dataset); a folder holds MTEB results, model/revision/task.json; a mapping gives
        the `Scores` of each collection by its name, runs matched by name or by their `system`.
    measure : str, optional
        Measure of the collections' scores, where they have several.
    aggregate : str
        "mean"; "mean-of-types", with equal weights of types; "borda", m - average rank per dataset;
        "wins", the share of the other runs beaten.
    drawn : str
        What is resampled: "datasets"; "types", whole types of datasets; "topics" of these datasets;
        or "both" datasets and topics.
    gaps : str
        Where runs lack datasets: "complete" takes the datasets that every run has; "pairwise"
        compares every two runs on the datasets that both have and ranks runs by least-squares
        means; "zero" counts an absent score as 0, as MTEB's Borda count does.
    types : path or mapping, optional
        The type of each dataset: a CSV with columns dataset and type.
    a, b : str, optional
        Two runs to compare in depth; by default the two best.
    alpha : float
        Error rate of the whole family.
    n_samples : int
        Number of sign patterns drawn; all are enumerated where there are no more. With more than a
        million pairs fewer are drawn, unless this is above 10,000.
    jobs : int, optional
        Threads.
    progress : callable, optional
        Called with (finished, total) blocks of sign patterns.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DatasetsResult
        Per run its value, interval, rank and rank set; which runs could be first; and two runs in
        depth (`pair`).

    Notes
    -----
    Datasets are assumed to be a sample of the kind of datasets that the leaderboard is about.
    Otherwise no method says what others would show. Resampling "types" is more cautious, as
    datasets of one type resemble each other; with fewer than six types, no difference can be
    significant at alpha 0.05.

    A dataset's score also varies with its topics, and that variation is part of the variation
    between datasets: "both" makes the decisions of "datasets", and says how much of a pair's
    variation is due to topics.

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
    given = read_leaderboard(table, types=types, measure=measure).in_order()
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
    columns = boards.columns_of(used.values, aggregate, used.types)
    if gaps == "zero":
        columns = replace(columns, values=np.nan_to_num(columns.values, nan=0.0))
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
    if together.least_pvalue > alpha:
        n = len(set(used.types)) if drawn == "types" else len(used.datasets)
        what = "types of datasets" if drawn == "types" else "datasets"
        warn(
            f"{n} {what} have only {counted(together.n_patterns, 'sign pattern')}: no difference "
            f"can be significant at alpha {alpha:g}, so that any run could be first"
        )
    claimed = decisions.claims_of(family.direction, pairs, together.pvalue, value, alpha)
    own = family.own(used.runs, alpha)
    wins = decisions.beaten(len(used.runs), pairs, claimed)
    best = best_first(value)[:2].tolist()
    n_shared = (~np.isnan(used.values[best]).any(axis=0)).sum()
    named = (a, b) if a is not None and b is not None else [used.runs[run] for run in best]
    pair = None
    if a is not None or n_shared >= FEWEST:
        pair = pair_in_depth(
            used,
            *named,
            significant=lambda i, j: bool(wins[i, j] or wins[j, i]),
            comparison_alpha=level if drawn != "topics" and level else alpha / len(pairs),
            alpha=alpha,
        )
    has_gaps, is_complete = bool(np.isnan(given.values).any()), not np.isnan(used.values).any()
    completed = None  # points by rank depend on all runs at once
    if has_gaps and aggregate not in ("borda", "wins"):
        weight = boards.columns_of(given.values, aggregate, given.types).weight
        completed = boards.completion_ranks(given.values, weight)
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
        lead=lead_of(value, (best[0], best[1]), together, own),
        leaders=_leaders(used) if is_complete else {},
        first_by_types=_first_by_types(used, columns, pairs, drawn, flips),
        next_ranks=boards.next_ranks(used.values, alpha),
        fragility=_leader_fragility(used, columns, value),
        pairs=pairs,
        pvalue_adjusted=together.pvalue,
        significant=claimed != 0,
        comparison_alpha=level,
        n_patterns=together.n_patterns,
        exact=together.exact,
        seed=seed,
        gap_rows=gap_rows(given) if has_gaps else (),
        completion_ranks=completed,
        influence=influences(used, columns, aggregate, value),
        friedman=boards.friedman(used.values, alpha=alpha) if is_complete else None,
        pair=pair,
        pair_asked=a is not None,
    )
    return result.with_sign_of_file() if lower_is_better else result


def _leaders(used: Leaderboard) -> dict[Aggregate, str]:
    """Return the best run by each aggregate of complete scores."""
    known: list[Aggregate] = ["mean", "borda"]
    known += ["mean-of-types"] if used.types else []
    leaders: dict[Aggregate, str] = {}
    for name in known:
        columns = boards.columns_of(used.values, name, used.types)
        leaders[name] = used.runs[in_order(columns.values @ columns.weight, used.runs)[0]]
    return leaders


def _first_by_types(
    used: Leaderboard, columns: AggregateColumns, pairs: np.ndarray, drawn: Drawn, flips: Flips
) -> int | None:
    """Return how many runs could be first for other types of datasets; None without types."""
    has_types = len(set(used.types)) > 1 and not np.isnan(columns.values).any()
    if drawn not in ("datasets", "both") or not has_types:
        return None
    family = _by_units(
        boards.dataset_units(columns, used.types), pairs, {**flips, "progress": None}
    )
    return int(family.own(used.runs, flips["alpha"]).could_be_first.sum())


def _leader_fragility(
    used: Leaderboard, columns: AggregateColumns, value: np.ndarray
) -> DatasetFragility | None:
    """Return the fewest datasets without which another run is level with the leader or above."""
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
    """Return the runs and datasets to compare; raise an error where they do not suffice."""
    has_gaps = bool(np.isnan(given.values).any())
    used = complete_datasets(given) if gaps == "complete" and has_gaps else given
    if drawn == "types" or aggregate == "mean-of-types":
        boards.type_weights(used.types, len(used.datasets))
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
        who = lacking_words(gap_rows(given), len(given.runs), len(given.datasets))
        left = len(given.datasets) - len(used.datasets)
        warn(f"{who}; omitted: {counted(left, 'dataset')} that some run lacks")
    return used


def _decide(
    used: Leaderboard,
    columns: AggregateColumns,
    pairs: np.ndarray,
    drawn: Drawn,
    gaps: Gaps,
    flips: Flips,
) -> _Family:
    """Return values and decisions, by the flips that suit what is resampled."""
    if drawn == "topics":
        scores = [used.topic_scores[name] for name in used.datasets]
        if gaps == "zero":
            scores = [np.nan_to_num(one, nan=0.0) for one in scores]
        units, dropped = boards.topic_units(scores, columns.weight)
        return replace(_by_units(units, pairs, flips), n_topics_dropped=dropped)
    groups, values = used.types if drawn == "types" else (), columns.values
    if groups or np.ptp(columns.weight) > 1e-12:
        return _by_units(boards.dataset_units(columns, groups), pairs, flips)
    means, found = adjusted_means(values), moments(values, pairs)
    first, second = best_first(means)[:2].tolist()
    return _Family(
        pairs=pairs,
        value=means,
        interval=mean_intervals(values, 1 - flips["alpha"]),
        together=max_t(values, pairs, leads=[(first, second)], **flips),
        direction=np.sign(found.mean),
        n=found.n,
    )


def _by_units(units: Units, pairs: np.ndarray, flips: Flips) -> _Family:
    value, df = units.value, len(units.share) - len(units.sizes)
    first, second = best_first(value)[:2].tolist()
    return _Family(
        pairs=pairs,
        value=value,
        interval=units.intervals(1 - flips["alpha"]),
        together=unit_max_t(units, pairs, leads=[(first, second)], **flips),
        direction=np.sign(value[pairs[:, 0]] - value[pairs[:, 1]]),
        n=np.full(len(pairs), df + 1),
    )


FEWEST = 2
"""Smallest number of datasets that can be resampled."""


def gap_rows(table: Leaderboard) -> tuple[GapRow, ...]:
    """Return the runs that lack datasets, those that lack most first."""
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
    """Say which runs lack datasets and how many, without a full stop."""
    first, *others = rows
    who = [f"{first.run} ({first.missing} of {n_datasets})"]
    who += [f"{row.run} ({row.missing})" for row in others]
    lack = by_number(len(rows), "lacks", "lack")
    return f"{len(rows):,} of {n_runs:,} runs {lack} datasets: {some(who, most)}"


def complete_datasets(table: Leaderboard) -> Leaderboard:
    """Return the datasets that every run has; raise an error where these are too few."""
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
    """Return the ranking without each dataset, the most different one first."""
    if len(used.datasets) < 3:
        return ()
    rows = []
    for k, name in enumerate(used.datasets):
        kept = np.delete(columns.values, k, axis=1)
        without = adjusted_means(kept)
        if aggregate == "mean-of-types" and not np.isnan(kept).any():
            types = [*used.types[:k], *used.types[k + 1 :]]
            without = kept @ boards.type_weights(types, len(types))
        leader = used.runs[int(best_first(without)[0])]
        tau = kendall_tau(value, without).value if not np.isnan(without).any() else math.nan
        rows.append(Influence(dataset=name, tau=float(tau), leader=leader))
    return tuple(sorted(rows, key=lambda row: (math.isnan(row.tau), row.tau)))


def pair_in_depth(
    table: Leaderboard,
    a: str,
    b: str,
    *,
    significant: Callable[[int, int], bool],
    comparison_alpha: float,
    alpha: float,
) -> DatasetPair:
    """Compare two runs on the datasets that both have."""
    first, second = (position(name, table.runs, "run") for name in (a, b))
    if first == second:
        raise InputError(f"a and b are both {a!r}: name two runs")
    gap = table.values[first] - table.values[second]
    shared = np.flatnonzero(~np.isnan(gap))
    if len(shared) < 2:
        raise InputError(f"{a} and {b} have fewer than two datasets in common")
    names = tuple(table.datasets[k] for k in shared)
    d, error = gap[shared], _topic_errors(table, names, first, second)
    spread = d.var(ddof=1)
    needed = needed_topics(
        d.mean(),
        spread,
        len(d),
        alpha=comparison_alpha,
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
        comparison_alpha=comparison_alpha,
        alpha=alpha,
    )


def _topic_errors(
    table: Leaderboard, names: tuple[str, ...], first: int, second: int
) -> np.ndarray:
    """Return standard errors of the differences over topics; NaN unless every dataset has one."""
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
    """Return the mean difference, its interval, that of the next dataset, and the model if any."""
    if np.isnan(error).any() or not (error > 0.0).any():
        low, high = mean_intervals(d[np.newaxis], confidence)[0]
        ahead = boards.next_dataset(d, confidence=confidence)
        return float(d.mean()), Interval(float(low), float(high)), ahead, None
    effects = boards.random_effects(d, error, confidence=confidence)
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
