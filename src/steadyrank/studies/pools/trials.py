"""The contributions of teams to the pool, and variances without some teams and topics.

Every run is read once. The ranks of its judged documents and their rows in the judgments suffice to
score it by any subset of the judgments. The largest grade remains that of all judgments, so that
gains do not change. A trial is a set of teams that are left out and an order of the topics; n pilot
topics are the first n topics of this order (Sakai & Shang, EVIA 2016, section 5).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Unpack, get_args

import numpy as np
from scipy import special

from steadyrank.compute.executors import Machine, map_shared
from steadyrank.compute.random import block_stream
from steadyrank.data.order import natural_key
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.run_files import judgments_of
from steadyrank.data.read.runs import ReadingOptions, header_of, read_runs
from steadyrank.data.run import Run
from steadyrank.data.scores import mean_of_present
from steadyrank.errors import InputError, arg, check_choice, check_count, warn
from steadyrank.measures.evaluate import Missing, NoRelevant, report_coverage
from steadyrank.measures.holes.lists import CellEntries, joined_entries
from steadyrank.measures.names import Measure
from steadyrank.measures.scoring import Recipe, find_judged_documents, prepare, score_recipe
from steadyrank.stats.anova.gstudy import variance_components
from steadyrank.stats.interval import Interval
from steadyrank.stats.planning.variance import pooled_variance
from steadyrank.words import counted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """The judgments of a track, their contributors, and their ranks in every run."""

    measures: tuple[str, ...]
    topics: tuple[str, ...]
    runs: tuple[str, ...]
    teams: tuple[str, ...]
    team_of: np.ndarray
    """[run]: the place of its team in `teams`."""
    depth: int
    grades: np.ndarray
    """[judgment]"""
    contributors: np.ndarray
    """[team, judgment]: whether the team has the document within pool depth."""
    best_first: np.ndarray
    """Judgments in the order of the ideal list of each topic."""
    blocks: np.ndarray
    """[topic + 1]: where the judgments of a topic begin and end."""
    relevant: CellEntries
    """Entries of grade 1 and above, which suffice for most measures."""
    judged: CellEntries | None
    """All entries, if some measure requires them."""
    lengths: np.ndarray
    """[run, topic]: number of documents returned, -1 if the run lacks the topic."""
    recipes: tuple[Recipe, ...]
    missing: float
    no_relevant: float
    unjudged: float
    """Share of the documents within pool depth that are unjudged."""

    @property
    def orphans(self) -> np.ndarray:
        """[judgment]: whether no team contributed it."""
        return np.asarray(~self.contributors.any(axis=0))


def kept_judgments(pool: Pool, left_out: Sequence[int]) -> np.ndarray:
    """Return [judgment], whether it is kept: another team contributed it, or no team did."""
    others = np.delete(pool.contributors, np.asarray(left_out, np.int64), axis=0)
    return np.asarray(pool.orphans | others.any(axis=0))


def score_runs(pool: Pool, kept: np.ndarray, runs: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return scores [measure, run, topic] of some runs by the judgments that are kept."""
    in_order = kept[pool.best_first]
    ideal = pool.grades[pool.best_first[in_order]]
    ideal_blocks = _counted(in_order)[pool.blocks]
    few = everything = pool.relevant.only(kept[pool.relevant.rows])
    if pool.judged is not None:
        everything = pool.judged.only(kept[pool.judged.rows])
    grades = pool.grades[few.rows], pool.grades[everything.rows]
    n_topics = len(pool.topics)
    scores = np.empty((len(pool.recipes), len(runs), n_topics))
    for place, run in enumerate(runs):
        cells = slice(run * n_topics, (run + 1) * n_topics + 1)
        for recipe, row in zip(pool.recipes, scores[:, place], strict=True):
            entries = everything if recipe.needs_all else few
            score_recipe(
                recipe,
                (entries.blocks[cells], entries.ranks, grades[recipe.needs_all]),
                pool.lengths[run],
                (ideal_blocks, ideal),
                no_relevant=pool.no_relevant,
                missing=pool.missing,
                out=row,
            )
    return scores


def _counted(flags: np.ndarray) -> np.ndarray:
    """Return how many flags are set before each place, and in total."""
    counts = np.zeros(len(flags) + 1, np.int64)
    np.cumsum(flags, out=counts[1:])
    return counts


def read_pool(
    runs: Any,
    qrels: Any,
    measures: Sequence[Measure],
    *,
    depth: int,
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    machine: Machine | None = None,
    **reading_options: Unpack[ReadingOptions],
) -> Pool:
    """Read judgments and runs, and find the contributions of teams within pool depth."""
    check_count("pool_depth", depth)
    check_choice("way to treat missing topics", missing, get_args(Missing))
    check_choice(
        "way to treat topics without relevant documents", no_relevant, get_args(NoRelevant)
    )
    judged = judgments_of(qrels)
    if len(judged) == 0:
        raise InputError("the qrels hold no judgments")
    to_read = read_runs(runs, **reading_options)
    recipes = tuple(prepare(measure, judged.max_grade) for measure in measures)
    everything = any(recipe.needs_all for recipe in recipes)
    part_of = partial(_judged_part, qrels=judged, depth=depth, everything=everything)
    parts = to_read.map(part_of, **(machine or {}))
    headers = [part.run for part in parts]
    to_read.check_headers(headers)
    names = [header.name for header in headers]
    lacking = [
        (name, int((part.lengths < 0).sum())) for name, part in zip(names, parts, strict=True)
    ]
    report_coverage(lacking, (part.unknown for part in parts), judged, missing)
    teams, team_of = _teams(names, [row.get("team", "") for row in to_read.info(headers)])
    contributors = np.zeros((len(teams), len(judged)), bool)
    for part, team in zip(parts, team_of, strict=True):
        contributors[team, part.contributed] = True
    entries = joined_entries([(part.blocks, part.ranks, part.rows) for part in parts])
    owner = np.repeat(np.arange(len(judged.topics)), judged.sizes)
    within = sum(part.within for part in parts)
    pool = Pool(
        measures=tuple(str(recipe.measure) for recipe in recipes),
        topics=judged.topics,
        runs=tuple(names),
        teams=teams,
        team_of=team_of,
        depth=depth,
        grades=judged.grades,
        contributors=contributors,
        best_first=np.lexsort((-judged.grades, owner)),
        blocks=judged.blocks,
        relevant=entries.only(judged.grades[entries.rows] > 0) if everything else entries,
        judged=entries if everything else None,
        lengths=np.stack([part.lengths for part in parts]),
        recipes=recipes,
        missing=0.0 if missing == "zero" else np.nan,
        no_relevant=0.0 if no_relevant == "zero" else np.nan,
        unjudged=1.0 - sum(len(part.contributed) for part in parts) / within if within else 0.0,
    )
    _report_pool(pool)
    return pool


class _RunPart(NamedTuple):
    run: Run
    """The run without its documents."""
    blocks: np.ndarray
    ranks: np.ndarray
    rows: np.ndarray
    lengths: np.ndarray
    contributed: np.ndarray
    """Judgments that it has within pool depth."""
    within: int
    """Number of its documents within pool depth on judged topics, judged or not."""
    unknown: int
    """Number of its topics without judgments."""


def _judged_part(run: Run, *, qrels: Qrels, depth: int, everything: bool) -> _RunPart:
    judged = find_judged_documents(run, qrels)
    stay = np.ones(len(judged.rows), bool) if everything else qrels.grades[judged.rows] > 0
    return _RunPart(
        run=header_of(run),
        blocks=_counted(stay)[judged.blocks],
        ranks=judged.ranks[stay],
        rows=judged.rows[stay],
        lengths=judged.lengths,
        contributed=judged.rows[judged.ranks <= depth],
        within=int(np.clip(judged.lengths, 0, depth).sum()),
        unknown=len(set(run.topics) - qrels.position.keys()),
    )


def _teams(names: Sequence[str], known: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray]:
    if not any(known):
        raise InputError(
            "no run has a team: give run information with the columns run and team "
            f"({arg('run_info=')}), or a regular expression whose first group is the team in a "
            f"run's name ({arg('team_from=')})"
        )
    alone = [name for name, team in zip(names, known, strict=True) if not team]
    if alone:
        who = counted(len(alone), "run has", "runs have")
        warn(f"{who} no team, such as {alone[0]!r}: each counts as a team")
    own = [team or name for name, team in zip(names, known, strict=True)]
    # The teams that are drawn must not depend on the order of runs.
    places = {team: i for i, team in enumerate(sorted(set(own), key=natural_key))}
    if len(places) == 1:
        raise InputError(
            f"all runs are of one team, {own[0]!r}: leaving out teams requires at least two"
        )
    return tuple(places), np.array([places[team] for team in own], np.int64)


def _report_pool(pool: Pool) -> None:
    """Warn if the pool depth does not fit the judgments."""
    orphans = float(pool.orphans.mean())
    if orphans > 0.5:
        warn(
            f"{orphans:.0%} of the judged documents are not in the top {pool.depth} of any run, "
            "and are kept in all trials: is the pool depth right?"
        )
    if pool.unjudged > 0.5:
        warn(
            f"{pool.unjudged:.0%} of the documents within the top {pool.depth} are unjudged: "
            "is the pool depth right, and were all runs pooled?"
        )


BLOCK = 8
"""Number of trials of a task."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """The teams that are left out, and the order of topics."""

    k: int
    left_out: tuple[int, ...]
    topic_order: np.ndarray
    is_exhaustive: bool
    """Whether the trials of this k are all sets of k teams."""


class Estimates(NamedTuple):
    """The estimates of all trials: arrays [trial, measure, number of pilot topics]."""

    variance: np.ndarray
    paired_variance: np.ndarray
    """Half the variance of differences, mean over the pairs of runs: the two-way residual."""
    n_topics: np.ndarray
    """Number of remaining topics, at most the number of pilot topics."""


def team_subsets(n_teams: int, k: int, n_trials: int, *, seed: int) -> list[tuple[int, ...]]:
    """Return random different sets of k teams; all sets if there are at most `n_trials`.

    >>> team_subsets(3, 2, 10, seed=0)
    [(0, 1), (0, 2), (1, 2)]
    """
    if math.comb(n_teams, k) <= n_trials:
        return list(itertools.combinations(range(n_teams), k))
    stream = block_stream(seed, "teams left out", k)
    subsets: dict[tuple[int, ...], None] = {}
    while len(subsets) < n_trials:
        drawn = stream.choice(n_teams, k, replace=False, shuffle=False)
        subsets[tuple(sorted(drawn.tolist()))] = None
    return list(subsets)


def draw_trials(
    n_teams: int,
    n_topics: int,
    ks: Sequence[int],
    n_trials: int,
    *,
    sizes: Sequence[int],
    seed: int,
) -> list[Trial]:
    """Return the trials of every k, from k = 0 on, for which only the topics differ."""
    trials = []
    for k in (0, *ks):
        subsets = team_subsets(n_teams, k, n_trials, seed=seed)
        exhaustive = math.comb(n_teams, k) <= n_trials
        if k == 0 and min(sizes) < n_topics:
            subsets = subsets * n_trials
        for number, left_out in enumerate(subsets):
            order = block_stream(seed, f"pilot topics of k = {k}", number).permutation(n_topics)
            trials.append(
                Trial(k=k, left_out=left_out, topic_order=order, is_exhaustive=exhaustive)
            )
    return trials


def run_trials(
    pool: Pool, trials: Sequence[Trial], sizes: Sequence[int], **machine: Unpack[Machine]
) -> Estimates:
    """Score the remaining runs of every trial again and estimate the variances."""
    tasks = [(trials[at : at + BLOCK], tuple(sizes)) for at in range(0, len(trials), BLOCK)]
    parts = map_shared(_block, pool, tasks, **machine)
    variance, paired, n_topics = np.concatenate(parts, axis=1)
    return Estimates(variance, paired, n_topics.astype(np.int64))


def _block(pool: Pool, task: tuple[Sequence[Trial], tuple[int, ...]]) -> np.ndarray:
    """[estimate, trial, measure, number of pilot topics]"""
    trials, sizes = task
    return np.stack([_one_trial(pool, trial, sizes) for trial in trials], axis=1)


def _one_trial(pool: Pool, trial: Trial, sizes: Sequence[int]) -> np.ndarray:
    kept = kept_judgments(pool, trial.left_out)
    runs = np.flatnonzero(~np.isin(pool.team_of, np.array(trial.left_out, np.int64)))
    scores = score_runs(pool, kept, runs)
    estimates = np.full((3, len(scores), len(sizes)), np.nan)
    for m, matrix in enumerate(scores):
        for s, topics in enumerate(pilot_subsets(matrix, trial.topic_order, sizes)):
            chosen = np.ascontiguousarray(matrix[:, topics])
            variances = variance_or_nan(chosen), paired_variance_or_nan(chosen)
            estimates[:, m, s] = (*variances, len(topics))
    return estimates


def pilot_subsets(matrix: np.ndarray, order: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
    """Return nested topics of scores [run, topic], up to `size` for each size.

    Topics on which no run scores are left out.

    >>> [topics.tolist() for topics in pilot_subsets(np.eye(4)[:3], np.array([3, 2, 0, 1]), [3, 1])]
    [[0, 1, 2], [2]]
    """
    alive = (np.nan_to_num(matrix) != 0.0).any(axis=0)
    left = order[alive[order]]
    # They are sorted, so that the same topics give the same sums.
    return [np.sort(left[:size]) for size in sizes]


def variance_or_nan(scores: np.ndarray) -> float:
    """Return V_E of scores [run, topic]; NaN if no run has two topics."""
    try:
        return pooled_variance(scores).value
    except InputError:
        return math.nan


def paired_variance_or_nan(scores: np.ndarray) -> float:
    """Return the residual of the two-way layout, as in `plan`; NaN without pairs."""
    complete = scores[:, ~np.isnan(scores).any(axis=0)]
    if min(complete.shape) < 2:
        return math.nan
    return float(variance_components(complete).variance["residual"])


def mean_and_interval(
    values: Sequence[float], *, confidence: float = 0.95
) -> tuple[float, Interval | None]:
    """Return the mean over the trials and Student's interval: mean ± t(n - 1) sd / sqrt(n).

    Trials without a value are left out; the interval is None for fewer than two values.

    >>> mean, interval = mean_and_interval([0.112, 0.118, 0.109])
    >>> round(mean, 3), [round(end, 4) for end in interval]
    (0.113, [0.1016, 0.1244])
    """
    known = np.array([value for value in values if not math.isnan(value)])
    mean = float(mean_of_present(known))
    n = len(known)
    if n < 2:
        return mean, None
    quantile = float(special.stdtrit(n - 1, 0.5 + 0.5 * confidence))
    half_width = quantile * float(known.std(ddof=1)) / math.sqrt(n)
    return mean, Interval(mean - half_width, mean + half_width)
