"""`simulated_track`: a TREC-like track of which the truth is known.

For anyone who wants to see whether a study finds what is there: teams, their systems
and their runs, topics of all difficulties, graded judgments pooled to a depth,
scores on many scales, and the effects that made them (`track_model`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from steadyrank.compute.files import write_whole
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.ids import Ids, join_ids, make_ids
from steadyrank.data.qrels import Qrels, build_qrels
from steadyrank.data.run import Run, build_run
from steadyrank.data.track.model import (
    COLLECTION_SIZE,
    Topic,
    TrackDesign,
    TrackModel,
    TrackTruth,
    default_candidates,
    draw_effects,
    draw_grades,
    draw_latents,
    draw_topic,
    track_stream,
)
from steadyrank.data.write.files import write_qrels, write_track
from steadyrank.errors import bad_value

_DIGITS = len(str(COLLECTION_SIZE - 1))
_FIRST_TOPIC = 301
_SYSTEMS, _TOPICS = 0, 1


# Increasing functions, so that the scale of the scores never changes a ranking, and their decimals:
# four leave the ties that term-weighting systems have on real tracks.
_FAMILIES: tuple[tuple[int, Callable[[np.ndarray], np.ndarray]], ...] = (
    (4, lambda latent: 6 * np.exp(0.35 * latent)),  # term weighting
    (6, lambda latent: 1 / (1 + np.exp(-0.4 - 0.15 * latent))),  # cosine
    (6, lambda latent: 2 * latent - 9),  # logit
    (6, lambda latent: -np.log1p(np.exp(1 - 0.5 * latent))),  # log-probability
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimulatedTrack:
    """Runs, pooled judgments, and the truth behind them.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=2, n_topics=5, depth=50, pool_depth=10)
    >>> len(track.runs), track.teams[:2], len(track.qrels.topics)
    (6, ('team1', 'team2'), 5)
    """

    runs: tuple[Run, ...]
    qrels: Qrels
    """The documents that were pooled, with their grades."""
    complete: Qrels
    """Every relevant document, found or not; whatever it does not list is not relevant."""
    truth: TrackTruth
    contributors: np.ndarray
    """[judgment, team]: whether a pooled run of the team had the document in its top."""
    pooled: tuple[str, ...]
    """The names of the runs that were pooled."""
    seed: int
    """The `rng` that draws the same track again."""

    def __repr__(self) -> str:
        return (
            f"<SimulatedTrack: {len(self.runs)} runs of {len(self.teams)} teams, "
            f"{len(self.qrels.topics)} topics, {len(self.qrels)} judgments>"
        )

    @property
    def teams(self) -> tuple[str, ...]:
        """The teams, in the order of the columns of `contributors`."""
        return self.truth.teams

    def write(self, folder: str | os.PathLike[str], *, compress: bool = False) -> None:
        """Write the track as TREC files, each whole or not at all.

        Makes `qrels.txt`, `complete-qrels.txt`, `run-info.csv`, `truth.json` and
        `runs/NAME.run` (`.run.gz` with `compress`). Scores read back exactly.
        """
        root = Path(folder)
        write_track(root, self.runs, self.qrels, compress=compress)
        write_qrels(self.complete, root / "complete-qrels.txt")
        truth = {**self.truth.to_dict(), "pooled": list(self.pooled), "seed": self.seed}
        write_whole(root / "truth.json", json.dumps(truth, indent=1) + "\n")


def simulated_track(
    *,
    n_teams: int = 20,
    runs_per_team: int = 3,
    n_topics: int = 50,
    depth: int = 1000,
    pool_depth: int = 100,
    n_instances: int = 1,
    pooled_per_team: int | None = None,
    n_candidates: int | None = None,
    model: TrackModel | None = None,
    rng: Rng = 0,
) -> SimulatedTrack:
    """A TREC-like track drawn from a known model.

    A hard topic may be left without a relevant document in the pool. More topics leave the first
    ones as they are.

    Parameters
    ----------
    n_teams, runs_per_team : int
        Teams, and the systems of each; their runs' `info` names `team` and `system`.
    n_topics : int
        Topics.
    depth : int
        Documents that a run ranks for each topic.
    pool_depth : int
        Judged are the documents among the top so many of some pooled system.
    n_instances : int
        Runs of each system: more than one if it is not deterministic.
    pooled_per_team : int, optional
        Systems of each team that are pooled, from the first; all unless given.
    n_candidates : int, optional
        Documents to rank for a topic; eight times `depth` unless given.
    model : TrackModel, optional
        Effects and noise; the defaults resemble the ad hoc tracks of TREC.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    SimulatedTrack
        Runs, judgments of the pool (`qrels`), complete ones (`complete`), and the effects behind
        them (`truth`).

    Examples
    --------
    >>> track = simulated_track(n_teams=3, runs_per_team=2, n_topics=5, depth=50, pool_depth=10)
    >>> track.runs[0], track.runs[0].info
    (<Run 'team1-s1': 5 topics, 250 documents>, {'team': 'team1', 'system': 'team1-s1'})
    >>> bool(track.contributors.any(axis=1).all())
    True
    """
    seed = seed_from(rng)
    design = TrackDesign(
        n_teams=n_teams,
        runs_per_team=runs_per_team,
        n_topics=n_topics,
        depth=depth,
        pool_depth=pool_depth,
        n_instances=n_instances,
        pooled_per_team=runs_per_team if pooled_per_team is None else pooled_per_team,
        n_candidates=default_candidates(depth) if n_candidates is None else n_candidates,
    )
    population = TrackModel() if model is None else model
    if not isinstance(population, TrackModel):
        raise bad_value("model", "be a TrackModel", model)
    if design.n_instances == 1:
        population = population.deterministic()
    return _draw_track(population, design, seed)


class _Systems(NamedTuple):
    """What a system is before any topic is asked."""

    effects: tuple[np.ndarray, np.ndarray, np.ndarray]
    """Of teams, systems and instances: [team, system, instance]."""
    families: np.ndarray
    """[run]"""
    shifts: np.ndarray
    """[run]: where its scores lie on the family's scale."""


class _Ranked(NamedTuple):
    """One topic: its documents, and how every run ranked them.

    Documents are positions in `documents`, whose ids fall: of two documents with the same
    score the one that stands first here ranks first.
    """

    topic: Topic
    documents: Ids
    grades: np.ndarray
    signals: np.ndarray
    rankings: np.ndarray
    """[run, rank]"""
    scores: np.ndarray
    """[run, rank]"""
    contributed: np.ndarray
    """[document, team]: which teams brought each document into the pool."""


def _draw_track(model: TrackModel, design: TrackDesign, seed: int) -> SimulatedTrack:
    words = track_stream(seed).integers(2**32, size=4).tolist()
    systems = _draw_systems(model, design, _stream(words, _SYSTEMS, 0))
    ranked = [
        _draw_ranked(model, design, systems, _stream(words, _TOPICS, t))
        for t in range(design.n_topics)
    ]
    truth = _truth(model, design, systems, ranked)
    runs = tuple(_build_runs(truth, ranked))
    judged = [np.flatnonzero(one.contributed.any(axis=1))[::-1] for one in ranked]
    relevant = [np.flatnonzero(one.grades)[::-1] for one in ranked]
    return SimulatedTrack(
        runs=runs,
        qrels=_build_qrels(truth.topics, ranked, judged),
        complete=_build_qrels(truth.topics, ranked, relevant),
        truth=truth,
        contributors=np.concatenate(
            [one.contributed[rows] for one, rows in zip(ranked, judged, strict=True)]
        ),
        pooled=tuple(runs[r].name for r in np.flatnonzero(design.is_pooled)),
        seed=seed,
    )


def _stream(words: list[int], kind: int, index: int) -> np.random.Generator:
    """The random numbers of one part of the track, whatever the other parts draw."""
    return np.random.default_rng(np.random.SeedSequence(words, spawn_key=(kind, index)))


def _draw_systems(model: TrackModel, design: TrackDesign, rng: np.random.Generator) -> _Systems:
    effects = draw_effects((model.team, model.system, model.instance), design, rng)
    n_systems = effects[1].size
    families = rng.permutation(np.arange(n_systems) % len(_FAMILIES))
    shifts = rng.standard_normal(n_systems)
    n = design.n_instances
    return _Systems(effects, np.repeat(families, n), np.repeat(shifts, n))


def _draw_ranked(
    model: TrackModel, design: TrackDesign, systems: _Systems, rng: np.random.Generator
) -> _Ranked:
    topic = draw_topic(model, design.n_candidates, rng)
    numbers = rng.choice(COLLECTION_SIZE, design.n_candidates, replace=False, shuffle=False)
    grades = draw_grades(topic, design.n_candidates, rng)
    variances = (model.team_topic, model.system_topic, model.instance_topic)
    interactions = sum(draw_effects(variances, design, rng))
    signals = np.asarray(model.signal - topic.difficulty + sum(systems.effects) + interactions)
    latents = draw_latents(model, design, grades, signals, rng)
    rankings, scores = _rank(latents.reshape(design.n_runs, -1), design.depth, systems, rng)
    pooled = design.is_pooled
    teams = np.repeat(np.arange(design.n_teams), design.n_runs // design.n_teams)
    contributed = np.zeros((design.n_candidates, design.n_teams), bool)
    contributed[rankings[pooled, : design.pool_depth], teams[pooled, None]] = True
    # Of one width, so that numbers and ids sort alike.
    ids = make_ids(f"SIM-{n:0{_DIGITS}}" for n in sorted(numbers.tolist(), reverse=True))
    return _Ranked(topic, ids, grades, signals.ravel(), rankings, scores, contributed)


def _rank(
    latents: np.ndarray, depth: int, systems: _Systems, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The documents that each run returns, best first, and the scores it reports."""
    retrieved = np.argpartition(latents, -depth, axis=1)[:, -depth:]
    # In the order of the documents first, which a stable sort by score then keeps in ties.
    retrieved.sort(axis=1)
    scores = _scores(np.take_along_axis(latents, retrieved, axis=1), systems, rng)
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.take_along_axis(retrieved, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _scores(latents: np.ndarray, systems: _Systems, rng: np.random.Generator) -> np.ndarray:
    """Scores on each run's own scale, whose place and width differ by topic."""
    shared = rng.standard_normal()
    own = rng.standard_normal((2, len(latents), 1))
    shifts = 0.4 * (systems.shifts[:, None] + shared + own[0])
    placed = latents * np.exp(0.15 * own[1]) + shifts
    scores = np.empty_like(latents)
    for code, (decimals, of_latent) in enumerate(_FAMILIES):
        rows = systems.families == code
        scores[rows] = np.round(of_latent(placed[rows]), decimals)
    return scores


def _truth(
    model: TrackModel, design: TrackDesign, systems: _Systems, ranked: list[_Ranked]
) -> TrackTruth:
    width = len(str(design.n_teams))
    teams = [f"team{k:0{width}d}" for k in range(1, design.n_teams + 1)]
    team, system, instance = systems.effects
    difficulties, n_relevant, n_highly = map(np.array, zip(*(r.topic for r in ranked), strict=True))
    return TrackTruth(
        model=model,
        design=design,
        teams=tuple(teams),
        systems=tuple(f"{k}-s{j}" for k in teams for j in range(1, design.runs_per_team + 1)),
        topics=tuple(str(_FIRST_TOPIC + t) for t in range(len(ranked))),
        team_effects=team.ravel(),
        system_effects=system.ravel(),
        instance_effects=instance.reshape(-1, design.n_instances),
        difficulties=difficulties,
        n_relevant=n_relevant,
        n_highly_relevant=n_highly,
        signals=np.stack([one.signals for one in ranked], axis=1),
    )


def _build_runs(truth: TrackTruth, ranked: list[_Ranked]) -> Iterator[Run]:
    design = truth.design
    first_rows = np.arange(design.n_topics) * design.depth
    for r in range(design.n_runs):
        s, i = divmod(r, design.n_instances)
        system = truth.systems[s]
        name = system if design.n_instances == 1 else f"{system}-i{i + 1}"
        documents = join_ids([one.documents.take(one.rankings[r]) for one in ranked])
        scores = np.concatenate([one.scores[r] for one in ranked])
        run = build_run(name, list(truth.topics), first_rows, documents, scores)
        yield replace(run, info={"team": truth.teams[s // design.runs_per_team], "system": system})


def _build_qrels(
    topics: tuple[str, ...], ranked: list[_Ranked], chosen: Sequence[np.ndarray]
) -> Qrels:
    """Judgments of each topic's chosen documents, in the order of their ids."""
    pairs = list(zip(ranked, chosen, strict=True))
    documents = join_ids([one.documents.take(rows) for one, rows in pairs])
    grades = np.concatenate([one.grades[rows] for one, rows in pairs])
    first_rows = np.cumsum([0, *map(len, chosen[:-1])])
    return build_qrels(list(topics), first_rows, documents, grades)
