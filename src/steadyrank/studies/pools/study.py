"""`pools`: how reliable is the variance of a pilot? Leave out teams and topics.

Would fewer teams, whose documents would be missing from the pool, and fewer topics have given the
same variance, and the same number of topics (Sakai & Shang, EVIA 2016)? And how much of each run's
score is due to documents that only its team contributed?
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, Unpack, get_args

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Machine, Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.runs import ReadingOptions
from steadyrank.data.scores import mean_of_present
from steadyrank.errors import InputError, check_choice, check_number, unknown_name
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import Missing, NoRelevant
from steadyrank.measures.names import Measure, parse_measures
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import picked
from steadyrank.stats.inputs import check_counts, check_open_unit, named_quantiles
from steadyrank.stats.interval import Interval
from steadyrank.stats.planning.demands import Demands, Formula, Method, check_demands
from steadyrank.stats.planning.design import check_rates
from steadyrank.stats.planning.variance import Pilot, pilot_variance
from steadyrank.studies.pools.trials import (
    Estimates,
    Pool,
    Trial,
    draw_trials,
    kept_judgments,
    mean_and_interval,
    pilot_subsets,
    read_pool,
    run_trials,
    score_runs,
)
from steadyrank.words import counted

Number = TypeVar("Number", int, float)

MOST_TEAMS = 15
"""Most teams that are left out by default, as in the paper's figures."""

QUANTILES = (0.025, 0.25, 0.5, 0.75, 0.975)

SLACK = 1e-12
"""An interval misses the reference only by more than this rounding error."""


Mode = Literal["sound", "paper"]


def ends_of(values: Sequence[Number]) -> tuple[Number, Number] | None:
    """Return the smallest and the largest of several values; None for fewer than two."""
    return (min(values), max(values)) if len(values) > 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOut:
    """The variance of one measure with k teams left out and a number of pilot topics."""

    measure: str
    k: int
    pilot_topics: int
    variances: tuple[float, ...]
    """V_E of each trial; NaN if it cannot be estimated."""
    topics_left: tuple[int, ...]
    """Number of topics of each trial on which the remaining runs score."""
    interval: Interval | None
    """The paper's Student interval for the mean over trials. None for a single trial and in sound
    mode, since trials over sets of the same teams are not independent samples."""
    is_exhaustive: bool
    """Whether the trials are all sets of k teams."""
    paired_variances: tuple[float, ...]
    """Half the mean variance of differences over pairs of runs, for each trial; NaN for one run."""
    topics_needed: int | None = None
    """Topics for the mean; None without a minimum difference or width."""
    topics_interval: tuple[int | None, int | None] | None = None
    """Topics for both ends of the paper's interval; None for an end that is not above 0."""
    topics_each: tuple[int | None, ...] = ()
    """Topics for each trial."""

    @property
    def known(self) -> list[float]:
        """The variances that could be estimated."""
        return [variance for variance in self.variances if not math.isnan(variance)]

    @property
    def mean(self) -> float:
        """Mean variance over the trials."""
        return float(mean_of_present(np.array(self.known)))

    @property
    def quantiles(self) -> dict[str, float]:
        """Quantiles of the trials."""
        return named_quantiles(np.array(self.known), QUANTILES)

    @property
    def extent(self) -> tuple[float, float] | None:
        """Smallest and largest variance of the trials, a range and not a confidence interval."""
        return ends_of(self.known)

    @property
    def topics_extent(self) -> tuple[int, int] | None:
        """Fewest and most topics of the trials."""
        return ends_of([size for size in self.topics_each if size is not None])

    def row(self) -> dict[str, Any]:
        """Return the keys of the JSON output."""
        return picked(
            self,
            "measure k pilot_topics variances mean interval range=extent quantiles topics_needed "
            "topics_needed_range=topics_extent topics_needed_interval=topics_interval "
            "topics_needed_each=topics_each topics_left exhaustive=is_exhaustive paired_variances",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The best estimate, with all teams and all topics on which some run scores."""

    measure: str
    variance: float
    variance_interval: Interval
    """Chi-square interval for other topics."""
    n_topics: int
    topics_needed: int | None
    topics_interval: Interval | None
    """Topics for both ends of the interval of the variance."""
    first_miss: dict[int, int | None]
    """Smallest k whose interval misses the variance, by the number of pilot topics, as in the
    paper. Empty in sound mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolBias:
    """The effect of documents that only a run's team contributed to the pool on its score."""

    run: str
    team: str
    measure: str
    score: float
    """Mean over topics."""
    score_without: float
    """Mean over topics without the team's unique documents in the judgments."""
    unique: int
    """Number of judged documents that no other team has within pool depth."""
    unique_relevant: int

    @property
    def change(self) -> float:
        """score_without - score."""
        return self.score_without - self.score


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.pools.view:VIEW.text")
class PoolsResult(Framed):
    """The result of `pools`: variances without k teams, and pool bias.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=2, n_topics=20, depth=50, pool_depth=10)
    >>> result = sr.pools(track.runs, track.qrels, measures="nDCG@10")
    >>> result.ks, result.cell("nDCG@10", 1).is_exhaustive
    ((1, 2), True)
    """

    measures: tuple[str, ...]
    teams: tuple[str, ...]
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    pool_depth: int
    n_trials: int
    ks: tuple[int, ...]
    pilot_topics: tuple[int, ...]
    confidence: float
    seed: int
    mode: Mode
    """"paper" has the paper's intervals over trials, "sound" only ranges."""
    demands: Demands | None
    n_judgments: int
    n_orphans: int
    """Number of judgments that no team contributed within pool depth; they are always kept."""
    n_unique: int
    """Number of judgments that only one team contributed."""
    references: tuple[Reference, ...]
    leave_out: tuple[LeaveOut, ...]
    drawn: tuple[Trial, ...]
    """The trials, k = 0 first."""
    bias: tuple[PoolBias, ...]

    def cell(self, measure: str, k: int, pilot_topics: int | None = None) -> LeaveOut:
        """Return the estimates of one measure and k, by default with the most pilot topics."""
        size = max(self.pilot_topics) if pilot_topics is None else pilot_topics
        for row in self.leave_out:
            if (row.measure, row.k, row.pilot_topics) == (str(measure), k, size):
                return row
        if str(measure) not in self.measures:
            raise unknown_name("measure", str(measure), self.measures)
        raise InputError(f"there is no estimate of k = {k} with {size} pilot topics")

    def caption(self) -> str:
        """Return sizes and seed, for captions."""
        return (
            f"{counted(len(self.runs), 'run')} of {counted(len(self.teams), 'team')}, "
            f"{counted(len(self.topics), 'topic')}, pool depth {self.pool_depth}, "
            f"{counted(self.n_trials, 'trial')}, seed {self.seed}; "
            f"steadyrank {__version__}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per measure, k and number of pilot topics, as in the JSON output."""
        return [row.row() for row in self.leave_out]


@data_first
def pools(
    runs: Any,
    qrels: Any,
    measures: str | Measure | Iterable[str | Measure] = ("AP",),
    *,
    pool_depth: int = 10,
    n_trials: int = 10,
    ks: Sequence[int] | None = None,
    pilot_topics: Sequence[int] | None = None,
    minimum_difference: float | None = None,
    systems: int | None = None,
    method: Method = "anova",
    formula: Formula = "exact",
    paired: bool | None = None,
    width: float | None = None,
    alpha: float = 0.05,
    beta: float = 0.2,
    confidence: float = 0.95,
    mode: Mode = "sound",
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    reading: Progress | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
    **reading_options: Unpack[ReadingOptions],
) -> PoolsResult:
    """Estimate how the variance of a pilot depends on its teams and topics.

    In each trial, k teams are left out, and their unique contributions are removed from the
    judgments: documents that at least one of them and no remaining team has within `pool_depth`.
    The remaining runs are scored again, topics on which all of them score 0 are dropped, and V_E is
    estimated. In addition: the change of every run's score without the unique documents of its
    team.

    Parameters
    ----------
    runs, qrels : object
        As in `evaluate`. Teams are those of the runs (`info["team"]`), `run_info` or `team_from`.
    measures : str, Measure or iterable of them
    pool_depth : int
        Depth to which runs were pooled.
    n_trials : int
        Number of sets of k teams that are left out; all sets if there are no more.
    ks : sequence of int, optional
        Numbers of teams to leave out: by default from 1 to the number of teams less one, at most
        15.
    pilot_topics : sequence of int, optional
        Numbers of pilot topics, nested in each trial.
    minimum_difference, systems, method, formula, paired, width, alpha, beta : optional
        As in `plan`, to compute the topics that each variance requires: V_E for ANOVA and unpaired
        designs, the paired variance of the remaining runs for paired ones.
    confidence : float
        Level of the intervals.
    mode : str
        "paper" adds Student's interval over trials and the first k whose interval misses the
        variance with all teams.
    missing, no_relevant : str
        As in `evaluate`.
    jobs, scheduler, executor : optional
        As in `evaluate`.
    reading, progress : callable, optional
        Called with (finished, total) runs read and blocks of trials.
    rng : int, Generator or None
        Seed.
    **reading_options : optional
        `name_from`, `duplicates`, `run_info`, `team_from`, `system_from` and `names`, as in
        `read_runs`.

    Returns
    -------
    PoolsResult
        For each measure, k and number of pilot topics the variances of all trials (`cell`), the
        reference with all teams, and pool bias.

    Notes
    -----
    Trials over sets of the same teams are not independent samples, least of all if all sets are
    used, so each k has the range of its trials and their quantiles. All runs are assumed to have
    been pooled. The result does not apply to teams unlike these.

    References
    ----------
    - Sakai & Shang (2016). On estimating variances for topic set size design. EVIA.
    - Zobel (1998). How reliable are the results of large-scale information retrieval experiments?
      SIGIR. doi:10.1145/290941.291014

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=6, runs_per_team=2, n_topics=20, depth=50, pool_depth=10)
    >>> result = sr.pools(track.runs, track.qrels, measures="nDCG@10", pilot_topics=[20, 10])
    >>> result.ks, len(result.leave_out)
    ((1, 2, 3, 4, 5), 12)
    >>> best, one_team = result.cell("nDCG@10", 0), result.cell("nDCG@10", 5)
    >>> len(best.variances), len(one_team.variances), one_team.is_exhaustive
    (1, 6, True)
    """
    seed = seed_from(rng)
    parsed = parse_measures(measures)
    demands = _demands(
        minimum_difference=minimum_difference,
        systems=systems,
        method=method,
        formula=formula,
        paired=paired,
        width=width,
        alpha=alpha,
        beta=beta,
    )
    check_open_unit("confidence", confidence)
    check_choice("mode", mode, get_args(Mode))
    check_counts("n_trials", n_trials, lowest=1)
    workers: Machine = {"jobs": jobs, "scheduler": scheduler, "executor": executor}
    machine: Machine = {**workers, "progress": progress}
    pool = read_pool(
        runs,
        qrels,
        parsed,
        depth=pool_depth,
        missing=missing,
        no_relevant=no_relevant,
        machine={**workers, "progress": reading},
        **reading_options,
    )
    left_out = _ks(ks, len(pool.teams))
    sizes = _sizes(pilot_topics, len(pool.topics))
    full = score_runs(pool, np.ones(len(pool.grades), bool), range(len(pool.runs)))
    pilots = _pilots(pool, full, confidence)
    drawn = draw_trials(
        len(pool.teams), len(pool.topics), left_out, n_trials, sizes=sizes, seed=seed
    )
    estimates = run_trials(pool, drawn, sizes, **machine)
    student = confidence if mode == "paper" else None
    cells = _with_topics(_summaries(pool, drawn, estimates, sizes, student), demands)
    unique = [~kept_judgments(pool, [team]) for team in range(len(pool.teams))]
    return PoolsResult(
        measures=pool.measures,
        teams=pool.teams,
        runs=pool.runs,
        topics=pool.topics,
        pool_depth=pool_depth,
        n_trials=n_trials,
        ks=left_out,
        pilot_topics=sizes,
        confidence=confidence,
        seed=seed,
        mode=mode,
        demands=demands,
        n_judgments=len(pool.grades),
        n_orphans=int(pool.orphans.sum()),
        n_unique=int(sum(rows.sum() for rows in unique)),
        references=tuple(
            _reference(name, pilot, cells, demands)
            for name, pilot in zip(pool.measures, pilots, strict=True)
        ),
        leave_out=tuple(cells),
        drawn=tuple(drawn),
        bias=tuple(_bias(pool, full, unique)),
    )


def _demands(**asked: Any) -> Demands | None:
    """Return the demands on a plan; None without any."""
    check_rates(check_number("alpha", asked["alpha"]), check_number("beta", asked["beta"]))
    silent = asked["method"] == "anova" and all(
        asked[key] is None for key in ("minimum_difference", "systems", "paired", "width")
    )
    return None if silent else check_demands(**asked)


def _ks(ks: Sequence[int] | None, n_teams: int) -> tuple[int, ...]:
    if ks is None:
        return tuple(range(1, min(n_teams - 1, MOST_TEAMS) + 1))
    checked = check_counts("ks", ks, lowest=1)
    if max(checked) >= n_teams:
        raise InputError(
            f"at most {n_teams - 1} of {n_teams} teams can be left out, got {max(checked)}"
        )
    return tuple(sorted(checked))


def _sizes(pilot_topics: Sequence[int] | None, n_topics: int) -> tuple[int, ...]:
    if n_topics < 2:
        raise InputError("a variance over topics requires at least two topics; the qrels have one")
    if pilot_topics is None:
        return (n_topics,)
    checked = check_counts("pilot_topics", pilot_topics, lowest=2)
    if max(checked) > n_topics:
        raise InputError(
            f"at most {n_topics} pilot topics are possible, the topics of the qrels, got "
            f"{max(checked)}"
        )
    return tuple(sorted(checked, reverse=True))


def _summaries(
    pool: Pool,
    drawn: Sequence[Trial],
    estimates: Estimates,
    sizes: Sequence[int],
    confidence: float | None,
) -> list[LeaveOut]:
    """Return a cell for each measure, number of pilot topics and k; intervals with a level."""
    by_k: dict[int, list[int]] = {}
    for place, trial in enumerate(drawn):
        by_k.setdefault(trial.k, []).append(place)
    cells = []
    for m, measure in enumerate(pool.measures):
        for s, size in enumerate(sizes):
            for k, places in by_k.items():
                # With all teams and all topics, every trial is the same.
                some = places[:1] if k == 0 and size == len(pool.topics) else places
                variances = estimates.variance[some, m, s].tolist()
                interval = mean_and_interval(variances, confidence=confidence or 0.95)[1]
                cells.append(
                    LeaveOut(
                        measure=measure,
                        k=k,
                        pilot_topics=size,
                        variances=tuple(variances),
                        topics_left=tuple(estimates.n_topics[some, m, s].tolist()),
                        interval=interval if confidence else None,
                        is_exhaustive=drawn[places[0]].is_exhaustive,
                        paired_variances=tuple(estimates.paired_variance[some, m, s].tolist()),
                    )
                )
    return cells


def _pilots(pool: Pool, full: np.ndarray, confidence: float) -> list[Pilot]:
    """Return V_E by measure, with all teams."""
    pilots = []
    for name, matrix in zip(pool.measures, full, strict=True):
        (topics,) = pilot_subsets(matrix, np.arange(matrix.shape[1]), [matrix.shape[1]])
        chosen = np.ascontiguousarray(matrix[:, topics])
        pilots.append(pilot_variance(chosen, name, confidence=confidence))
    return pilots


def _reference(
    name: str, pilot: Pilot, cells: Sequence[LeaveOut], demands: Demands | None
) -> Reference:
    paired = demands is not None and demands.paired
    needed, *ends = topics_for_all(demands, pilot_variances(pilot, paired))
    known: Any = ends
    return Reference(
        measure=name,
        variance=pilot.variance,
        variance_interval=pilot.variance_interval,
        n_topics=pilot.n_topics,
        topics_needed=needed,
        topics_interval=None if demands is None else Interval(*known),
        first_miss=_first_misses(name, pilot.variance, cells),
    )


def _first_misses(
    measure: str, variance: float, cells: Sequence[LeaveOut]
) -> dict[int, int | None]:
    """Return the smallest k whose interval misses the variance, by the number of pilot topics."""
    firsts: dict[int, int | None] = {}
    for cell in cells:
        if cell.measure == measure and cell.k > 0 and cell.interval is not None:
            known = firsts.setdefault(cell.pilot_topics, None)
            if known is None and misses(cell.interval, variance):
                firsts[cell.pilot_topics] = cell.k
    return firsts


def misses(interval: Interval | None, value: float) -> bool:
    """Whether there is an interval that does not contain a value.

    >>> misses((0.1, 0.2), 0.3), misses((0.1, 0.2), 0.15), misses(None, 0.3)
    (True, False, False)
    """
    if interval is None:
        return False
    slack = SLACK * max(1.0, abs(value))
    return not interval[0] - slack <= value <= interval[1] + slack


def _bias(pool: Pool, full: np.ndarray, unique: Sequence[np.ndarray]) -> list[PoolBias]:
    """Return the scores of every run with and without the unique documents of its team."""
    without = np.empty_like(full)
    for team, own in enumerate(unique):
        members = np.flatnonzero(pool.team_of == team)
        without[:, members] = score_runs(pool, ~own, members)
    there = ~np.isnan(full) & ~np.isnan(without)
    relevant = [int((pool.grades[own] > 0).sum()) for own in unique]
    return [
        PoolBias(
            run=run,
            team=pool.teams[team],
            measure=measure,
            score=float(mean_of_present(full[m, r, there[m, r]])),
            score_without=float(mean_of_present(without[m, r, there[m, r]])),
            unique=int(unique[team].sum()),
            unique_relevant=relevant[team],
        )
        for m, measure in enumerate(pool.measures)
        for r, (run, team) in enumerate(zip(pool.runs, pool.team_of.tolist(), strict=True))
    ]


def _with_topics(cells: Sequence[LeaveOut], demands: Demands | None) -> list[LeaveOut]:
    """Return the cells with the topics that their variances require."""
    if demands is None:
        return list(cells)
    planned = [_planned(cell, demands.paired) for cell in cells]
    asked = [v for by_trial, mean, ends in planned for v in (mean, *(ends or ()), *by_trial)]
    topics = dict(zip(asked, topics_for_all(demands, asked), strict=True))
    return [
        replace(
            cell,
            topics_needed=topics.get(mean),
            topics_interval=(topics[ends[0]], topics[ends[1]]) if ends else None,
            topics_each=tuple(map(topics.get, by_trial)),
        )
        for cell, (by_trial, mean, ends) in zip(cells, planned, strict=True)
    ]


def _planned(cell: LeaveOut, paired: bool) -> tuple[tuple[float, ...], float, Interval | None]:
    """Return the variances that determine topics: by trial, their mean, and an interval.

    For paired designs it is the paired variance, as in `plan`, or V_E if one run remains; there is
    no published interval for it.
    """
    if not paired:
        return cell.variances, cell.mean, cell.interval
    both = zip(cell.paired_variances, cell.variances, strict=True)
    by_trial = tuple(own if own > 0.0 else score for own, score in both)
    return by_trial, mean_and_interval(by_trial)[0], None


def pilot_variances(pilot: Pilot, paired: bool) -> tuple[float, float, float]:
    """Return the variance that determines topics, as in `plan`, and the ends of its interval."""
    if paired and pilot.residual_variance > 0.0:
        return (pilot.residual_variance, *pilot.residual_interval)
    return (pilot.variance, *pilot.variance_interval)


def topics_for_all(demands: Demands | None, variances: Sequence[float]) -> list[int | None]:
    """Return the topics that each variance requires; None if it is not above 0, or without demands.

    Topics grow with the variance: if two variances require the same number, so do all between them.
    """
    if demands is None:
        return [None] * len(variances)
    order = sorted({v for v in variances if v > 0.0})
    known: dict[float, int] = {}

    def fill(first: int, last: int) -> None:
        for place in (first, last):
            if order[place] not in known:
                known[order[place]] = demands.topics(order[place])
        if known[order[first]] == known[order[last]]:
            known.update(dict.fromkeys(order[first:last], known[order[first]]))
        elif last - first > 1:
            middle = (first + last) // 2
            fill(first, middle)
            fill(middle, last)

    if order:
        fill(0, len(order) - 1)
    return [known.get(v) for v in variances]
