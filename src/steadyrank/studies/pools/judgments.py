"""Who brought which judgment into the pool, and what runs score without some of them.

For `pools`: every run is read once. What is kept of it, the ranks of its judged documents and
their rows in the judgments, scores it again under any part of the judgments. The largest grade
stays that of all of them, so that no gain changes because a judgment goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Unpack, get_args

import numpy as np

from steadyrank.compute.executors import Machine
from steadyrank.data.order import natural_key
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.qrels import judgments_of
from steadyrank.data.read.runs import ReadingOptions, header_of, known_options, read_runs
from steadyrank.data.run import Run
from steadyrank.errors import InputError, check_choice, warn
from steadyrank.measures.evaluate import Missing, NoRelevant, report_missing, report_unknown
from steadyrank.measures.names import Measure
from steadyrank.measures.scoring import Recipe, find_judged_documents, prepare, score_recipe
from steadyrank.words import counted

WORD_BITS = 64

NO_TEAMS = (
    "no run has a team: give run information with the columns run and team (run_info=), or "
    "a regular expression whose first group is the team in a run's name (team_from=)"
)


class Entries(NamedTuple):
    """Judged documents of all runs: those of run r and topic t are entries `blocks[c]` to
    `blocks[c + 1]`, with c = r × topics + t.
    """

    blocks: np.ndarray
    ranks: np.ndarray
    rows: np.ndarray
    """Of the judgments."""
    grades: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """The judgments of a track, their contributors, and where every run has them."""

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
    """[word, judgment]: a bit for each team that has the document within pool depth."""
    best_first: np.ndarray
    """Judgments in the order of the ideal list of each topic."""
    blocks: np.ndarray
    """[topic + 1]: where the judgments of a topic begin and end."""
    relevant: Entries
    """Of grade 1 and above, all that most measures look at."""
    judged: Entries | None
    """All of them, where some measure looks at the others too."""
    lengths: np.ndarray
    """[run, topic]: documents returned, -1 where the run lacks the topic."""
    recipes: tuple[Recipe, ...]
    missing: float
    no_relevant: float
    unjudged: float
    """Share of the documents within pool depth that were not judged."""

    @property
    def orphans(self) -> np.ndarray:
        """[judgment]: whether nobody contributed it."""
        return np.asarray(~self.contributors.any(axis=0))

    def runs_without(self, left_out: Sequence[int]) -> np.ndarray:
        """Places of the runs whose teams are not left out."""
        return np.flatnonzero(~np.isin(self.team_of, np.asarray(left_out, np.int64)))


def kept_judgments(pool: Pool, left_out: Sequence[int]) -> np.ndarray:
    """[judgment]: whether it stays when these teams never took part.

    It goes if some of them and no other team contributed it; what nobody contributed stays.
    """
    remaining = ~team_bits(left_out, len(pool.contributors))
    kept = pool.orphans
    for word, others in zip(pool.contributors, remaining, strict=True):
        kept |= (word & others) != 0
    return kept


def team_bits(teams: Sequence[int], n_words: int) -> np.ndarray:
    """[word]: a set of teams, a bit each.

    >>> team_bits([0, 2, 64], 2).tolist()
    [5, 1]
    """
    words = np.zeros(n_words, np.uint64)
    for team in teams:
        words[team // WORD_BITS] |= np.uint64(1 << (team % WORD_BITS))
    return words


def score_runs(pool: Pool, kept: np.ndarray, runs: Sequence[int] | np.ndarray) -> np.ndarray:
    """Scores [measure, run, topic] of some runs, by the judgments that are kept."""
    in_order = kept[pool.best_first]
    ideal = pool.grades[pool.best_first[in_order]]
    ideal_blocks = _counted(in_order)[pool.blocks]
    few = _some_entries(pool.relevant, kept[pool.relevant.rows])
    everything = few
    if pool.judged is not None:
        everything = _some_entries(pool.judged, kept[pool.judged.rows])
    n_topics = len(pool.topics)
    scores = np.empty((len(pool.recipes), len(runs), n_topics))
    for place, run in enumerate(runs):
        cells = slice(run * n_topics, (run + 1) * n_topics + 1)
        for recipe, row in zip(pool.recipes, scores[:, place], strict=True):
            entries = everything if recipe.needs_all else few
            score_recipe(
                recipe,
                (entries.blocks[cells], entries.ranks, entries.grades),
                pool.lengths[run],
                (ideal_blocks, ideal),
                no_relevant=pool.no_relevant,
                missing=pool.missing,
                out=row,
            )
    return scores


def _counted(flags: np.ndarray) -> np.ndarray:
    """How many flags are set before each place, and in all."""
    counts = np.zeros(len(flags) + 1, np.int64)
    np.cumsum(flags, out=counts[1:])
    return counts


def _some_entries(entries: Entries, stay: np.ndarray) -> Entries:
    blocks = _counted(stay)[entries.blocks]
    return Entries(blocks, entries.ranks[stay], entries.rows[stay], entries.grades[stay])


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
    """Read judgments and runs, and find out who contributed what within pool depth."""
    _check(depth, missing, no_relevant)
    judged = judgments_of(qrels)
    if len(judged) == 0:
        raise InputError("the qrels hold no judgments")
    to_read = read_runs(runs, **known_options(reading_options))
    recipes = tuple(prepare(measure, judged.max_grade) for measure in measures)
    everything = any(recipe.needs_all for recipe in recipes)
    part_of = partial(_judged_part, qrels=judged, depth=depth, everything=everything)
    parts = to_read.map(part_of, **(machine or {}))
    headers = [part.run for part in parts]
    to_read.check_headers(headers)
    _report(parts, judged, missing)
    names = [header.name for header in headers]
    teams, team_of = _teams(names, [row.get("team", "") for row in to_read.info(headers)])
    entries = _joined(parts, judged.grades)
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
        contributors=_contributors(parts, team_of, len(teams), len(judged)),
        best_first=np.lexsort((-judged.grades, owner)),
        blocks=judged.blocks,
        relevant=_some_entries(entries, entries.grades > 0) if everything else entries,
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
    """Its name and notes alone."""
    blocks: np.ndarray
    ranks: np.ndarray
    rows: np.ndarray
    lengths: np.ndarray
    contributed: np.ndarray
    """Judgments that it has within pool depth."""
    within: int
    """Documents that it has within pool depth on judged topics, judged or not."""
    unknown: int
    """Topics that nobody judged."""


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


def _joined(parts: Sequence[_RunPart], grades: np.ndarray) -> Entries:
    firsts = np.cumsum([0, *(len(part.rows) for part in parts)], dtype=np.int64)
    blocks = [part.blocks[:-1] + first for part, first in zip(parts, firsts, strict=False)]
    rows = np.concatenate([part.rows for part in parts])
    ranks = np.concatenate([part.ranks for part in parts])
    return Entries(np.concatenate([*blocks, firsts[-1:]]), ranks, rows, grades[rows])


def _contributors(
    parts: Sequence[_RunPart], team_of: np.ndarray, n_teams: int, n_judgments: int
) -> np.ndarray:
    words = np.zeros((-(-n_teams // WORD_BITS), n_judgments), np.uint64)
    for part, team in zip(parts, team_of.tolist(), strict=True):
        words[team // WORD_BITS, part.contributed] |= np.uint64(1 << (team % WORD_BITS))
    return words


def _teams(names: Sequence[str], known: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray]:
    """The teams by name, and each run's; a run without a team is its own."""
    if not any(known):
        raise InputError(NO_TEAMS)
    alone = [name for name, team in zip(names, known, strict=True) if not team]
    if alone:
        who = counted(len(alone), "run has", "runs have")
        warn(f"{who} no team, first {alone[0]!r}: each counts as a team")
    own = [team or name for name, team in zip(names, known, strict=True)]
    # Which teams are drawn must not depend on the order of runs.
    places = {team: i for i, team in enumerate(sorted(set(own), key=natural_key))}
    if len(places) == 1:
        raise InputError(
            f"all runs are of one team, {own[0]!r}: leaving teams out requires at least two"
        )
    return tuple(places), np.array([places[team] for team in own], np.int64)


def _check(depth: int, missing: str, no_relevant: str) -> None:
    whole = isinstance(depth, (int, np.integer)) and not isinstance(depth, bool)
    if not whole or depth < 1:
        raise InputError(f"pool depth must be a whole number of at least 1, got {depth!r}")
    check_choice("way to treat missing topics", missing, get_args(Missing))
    check_choice(
        "way to treat topics without relevant documents", no_relevant, get_args(NoRelevant)
    )


def _report(parts: Sequence[_RunPart], qrels: Qrels, missing: Missing) -> None:
    """Say, in counts, what was done about files that do not quite fit together."""
    n_topics = len(qrels.topics)
    lacking = [(part.run.name, int((part.lengths < 0).sum())) for part in parts]
    if all(count == n_topics for _, count in lacking):
        raise InputError(
            "no run has any topic of the qrels: do the topic ids match (qrels: "
            f"{qrels.topics[0]!r})?"
        )
    report_missing(lacking, n_topics, missing)
    report_unknown(part.unknown for part in parts)


def _report_pool(pool: Pool) -> None:
    """A pool depth that does not fit the judgments makes the whole study say too little."""
    orphans = float(pool.orphans.mean())
    if orphans > 0.5:
        warn(
            f"{orphans:.0%} of the judged documents are within the top {pool.depth} of no run, "
            "and stay whichever team is left out: is the pool depth right?"
        )
    if pool.unjudged > 0.5:
        warn(
            f"{pool.unjudged:.0%} of the documents within the top {pool.depth} were not judged: "
            "is the pool depth right, and were all runs pooled?"
        )
