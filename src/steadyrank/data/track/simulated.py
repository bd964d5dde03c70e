"""`simulated_track`: a TREC-like track of which the truth is known.

For anyone who wants to see whether a study finds what is there: teams, their systems and runs,
topics of all difficulties, graded judgments pooled to a depth, scores on many scales, and the
effects that made them. A system scores a document by a latent value. How far relevant documents
are above the others is the sum of effects of team, system, topic, their interactions and, for
systems that are not deterministic, the instance.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from steadyrank.compute.files import write_whole
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.ids import Ids, join_ids, make_ids
from steadyrank.data.qrels import Qrels, build_qrels
from steadyrank.data.run import Run, build_run
from steadyrank.data.scores import Scores
from steadyrank.data.write import write_qrels, write_track
from steadyrank.errors import InputError, bad_value, check_count, check_number, unknown_name

COLLECTION_SIZE = 1_000_000
_FEWEST_RELEVANT = 3
_LARGEST_RELEVANT_SHARE = 1 / 8
_FEWEST_CANDIDATES = math.ceil(_FEWEST_RELEVANT / _LARGEST_RELEVANT_SHARE)
_CANDIDATES_PER_RANK = 8
_DIGITS = len(str(COLLECTION_SIZE - 1))
_FIRST_TOPIC = 301
_SYSTEMS, _TOPICS = 0, 1

# Shares of a document's noise: of all systems, of a team's runs, and of an instance alone.
_COMMON, _TEAM, _INSTANCE = 0.5, 0.2, 0.05

_RELEVANT_NOISE, _HIGHLY_RELEVANT_BONUS = 1.6, 0.5
"""Of relevant documents: the standard deviation, and how far those of grade 2 are above."""

_RELEVANT_LOG_SD = 1.15
HIGHLY_RELEVANT = 0.25
"""The share of relevant documents that have grade 2."""

# Increasing functions, so that the scale of the scores never changes a ranking, and their decimals:
# four leave the ties that term-weighting systems have on real tracks.
_FAMILIES: tuple[tuple[int, Callable[[np.ndarray], np.ndarray]], ...] = (
    (4, lambda latent: 6 * np.exp(0.35 * latent)),  # term weighting
    (6, lambda latent: 1 / (1 + np.exp(-0.4 - 0.15 * latent))),  # cosine
    (6, lambda latent: 2 * latent - 9),  # logit
    (6, lambda latent: -np.log1p(np.exp(1 - 0.5 * latent))),  # log-probability
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackModel:
    """The population that a simulated track is drawn from.

    The latent value of a non-relevant document is standard normal. That of a relevant one has
    standard deviation 1.6 around the threshold that as many non-relevant documents pass as there
    are relevant ones, plus a signal:

        signal + team + system + topic + team_topic + system_topic + instance + instance_topic

    where every term but the first is normal with mean 0 and the variance of that name; 0.5 more for
    grade 2. The number of relevant documents is log-normal around `relevant_median`. With `team=0`
    and `system=0` all systems are equally good.

    Examples
    --------
    >>> from steadyrank import TrackModel
    >>> TrackModel(system=0.0, team=0.0).topic
    1.1
    """

    signal: float = -1.2
    team: float = 0.1
    system: float = 0.1
    topic: float = 1.1
    team_topic: float = 0.12
    system_topic: float = 0.12
    instance: float = 0.004
    instance_topic: float = 0.03
    relevant_median: float = 50.0

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = check_number(name, getattr(self, name))
            if not math.isfinite(value) or (value < 0.0 and name != "signal"):
                raise bad_value(name, "be a finite number, and a variance at least 0", value)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackDesign:
    """The sizes of a simulated track."""

    n_teams: int
    runs_per_team: int
    n_topics: int
    depth: int
    pool_depth: int
    n_instances: int
    pooled_per_team: int
    n_candidates: int

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            object.__setattr__(self, name, check_count(name, getattr(self, name)))
        limits = {"pool_depth": "depth", "depth": "n_candidates"}
        for small, large in (limits | {"pooled_per_team": "runs_per_team"}).items():
            own, most = getattr(self, small), getattr(self, large)
            if own > most:
                raise InputError(f"{small} must be at most {large}, {most}, got {own}")
        if not _FEWEST_CANDIDATES <= self.n_candidates <= COLLECTION_SIZE:
            raise bad_value(
                "n_candidates",
                f"lie between {_FEWEST_CANDIDATES} and {COLLECTION_SIZE}",
                self.n_candidates,
            )

    @property
    def shape(self) -> tuple[int, int, int]:
        """Teams, systems of a team, instances of a system."""
        return self.n_teams, self.runs_per_team, self.n_instances

    @property
    def n_runs(self) -> int:
        """The number of runs: every instance of every system."""
        return math.prod(self.shape)

    @property
    def is_pooled(self) -> np.ndarray:
        """[run]: whether its documents are judged."""
        pooled = np.zeros(self.shape, bool)
        pooled[:, : self.pooled_per_team] = True
        return pooled.ravel()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrackTruth:
    """What is true of the systems and topics of one simulated track, on the latent scale."""

    model: TrackModel
    design: TrackDesign
    teams: tuple[str, ...]
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    team_effects: np.ndarray
    system_effects: np.ndarray
    """Effect of each system, relative to its team."""
    instance_effects: np.ndarray
    """[system, instance]: effects relative to the system."""
    difficulties: np.ndarray
    """Minus the effect of each topic."""
    n_relevant: np.ndarray
    """Relevant documents of each topic, judged or not."""
    signals: np.ndarray
    """[run, topic]: the sum of all effects."""

    def __repr__(self) -> str:
        return f"<TrackTruth: {len(self.systems)} systems, {len(self.topics)} topics>"

    @property
    def effects(self) -> np.ndarray:
        """The true effect of each system: its own and its team's."""
        teams = np.repeat(self.team_effects, self.design.runs_per_team)
        return np.asarray(teams + self.system_effects)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, as they are written to `truth.json`."""
        held = asdict(self) | {"effects": self.effects}
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in held.items()
        }


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

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write `qrels.txt`, `complete-qrels.txt`, `run-info.csv`, `truth.json`, `runs/NAME.run`.

        Each is written whole or not at all. Scores read back exactly.
        """
        root = Path(folder)
        write_track(root, self.runs, self.qrels)
        write_qrels(self.complete, root / "complete-qrels.txt")
        truth = {**self.truth.to_dict(), "pooled": self.pooled, "seed": self.seed}
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

    A hard topic may be left without a relevant document in the pool. More topics leave the systems
    and the first topics as they are: means over many topics and `complete` judgments are the truth.

    Parameters
    ----------
    n_teams, runs_per_team : int
        Teams, and the systems of each; their runs' `info` names `team` and `system`.
    n_topics : int
        Topics.
    depth : int
        Documents that a run ranks for each topic.
    pool_depth : int
        Documents at these ranks or above by some pooled system are judged.
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
    if n_candidates is None:
        wanted = _CANDIDATES_PER_RANK * check_count("depth", depth)
        n_candidates = min(max(wanted, _FEWEST_CANDIDATES), COLLECTION_SIZE)
    design = TrackDesign(
        n_teams=n_teams,
        runs_per_team=runs_per_team,
        n_topics=n_topics,
        depth=depth,
        pool_depth=pool_depth,
        n_instances=n_instances,
        pooled_per_team=runs_per_team if pooled_per_team is None else pooled_per_team,
        n_candidates=n_candidates,
    )
    model = TrackModel() if model is None else model
    if not isinstance(model, TrackModel):
        raise bad_value("model", "be a TrackModel", model)
    if n_instances == 1:  # A system that always returns the same.
        model = replace(model, instance=0.0, instance_topic=0.0)
    return _draw_track(model, design, seed)


class Topic(NamedTuple):
    """A topic as the model draws it."""

    difficulty: float
    n_relevant: int
    n_highly_relevant: int


def draw_topic(model: TrackModel, n_candidates: int, rng: np.random.Generator) -> Topic:
    """A topic's difficulty, and how many documents are relevant to it."""
    difficulty = float(rng.normal(0.0, math.sqrt(model.topic)))
    drawn = model.relevant_median * math.exp(_RELEVANT_LOG_SD * rng.standard_normal())
    most = int(n_candidates * _LARGEST_RELEVANT_SHARE)
    n_relevant = round(min(max(drawn, _FEWEST_RELEVANT), most))
    return Topic(difficulty, n_relevant, int(rng.binomial(n_relevant, HIGHLY_RELEVANT)))


def draw_grades(topic: Topic, n_candidates: int, rng: np.random.Generator) -> np.ndarray:
    """A grade for each candidate: 0, 1 or 2, wherever they stand."""
    grades = np.zeros(n_candidates, np.int32)
    relevant = rng.choice(n_candidates, topic.n_relevant, replace=False)
    grades[relevant] = 1
    grades[relevant[: topic.n_highly_relevant]] = 2
    return grades


def draw_effects(
    variances: tuple[float, float, float], design: TrackDesign, rng: np.random.Generator
) -> list[np.ndarray]:
    """Effects of teams, of systems and of instances, as arrays that add up to one per run."""
    shapes = [(*design.shape[:k], *(1,) * (3 - k)) for k in (1, 2, 3)]
    return [
        rng.normal(0.0, math.sqrt(variance), shape)
        for shape, variance in zip(shapes, variances, strict=True)
    ]


def draw_latents(
    design: TrackDesign, grades: np.ndarray, signals: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The value of every document to every run: [team, system, instance, document]."""
    n_teams, n_systems, n_instances = design.shape
    latents = np.zeros((*design.shape, design.n_candidates))
    instance = _INSTANCE if n_instances > 1 else 0.0
    for shape, share in (
        ((n_teams, n_systems, n_instances), instance),
        ((n_teams, n_systems, 1), round(1 - _COMMON - _TEAM - instance, 12)),
        ((n_teams, 1, 1), _TEAM),
        ((1, 1, 1), _COMMON),
    ):
        if share > 0:
            part = rng.standard_normal((*shape, design.n_candidates))
            part *= math.sqrt(share)
            latents += part
    relevant = np.flatnonzero(grades)
    lift = signals[..., None] + threshold(len(relevant), design.n_candidates)
    bonus = np.where(grades[relevant] == 2, _HIGHLY_RELEVANT_BONUS, 0.0)
    latents[..., relevant] = _RELEVANT_NOISE * latents[..., relevant] + lift + bonus
    return latents


def threshold(n_relevant: int, n_candidates: int) -> float:
    """Return the value that as many non-relevant documents exceed as there are relevant ones.

    Signals count from here: topics with few relevant documents are not hard for that reason alone.
    """
    return NormalDist().inv_cdf(1 - n_relevant / n_candidates)


class _Ranked(NamedTuple):
    """One topic: its documents, and how every run ranked them."""

    topic: Topic
    documents: Ids
    grades: np.ndarray
    signals: np.ndarray
    rankings: np.ndarray
    """[run, rank]"""
    scores: np.ndarray
    """[run, rank]"""
    contributed: np.ndarray
    """[document, team]: whether the team brought the document into the pool."""


def _draw_track(model: TrackModel, design: TrackDesign, seed: int) -> SimulatedTrack:
    words = track_stream(seed).integers(2**32, size=4).tolist()

    def stream(kind: int, index: int) -> np.random.Generator:
        """The random numbers of one part of the track, whatever the other parts draw."""
        return np.random.default_rng(np.random.SeedSequence(words, spawn_key=(kind, index)))

    first = stream(_SYSTEMS, 0)
    effects = draw_effects((model.team, model.system, model.instance), design, first)
    n_systems, n = effects[1].size, design.n_instances
    families = np.repeat(first.permutation(np.arange(n_systems) % len(_FAMILIES)), n)
    scales = families, np.repeat(first.standard_normal(n_systems), n)
    ranked = [
        _draw_ranked(model, design, sum(effects), scales, stream(_TOPICS, t))
        for t in range(design.n_topics)
    ]
    width = len(str(design.n_teams))
    teams = [f"team{k:0{width}d}" for k in range(1, design.n_teams + 1)]
    team, system, instance = effects
    difficulties, n_relevant, _ = map(np.array, zip(*(r.topic for r in ranked), strict=True))
    truth = TrackTruth(
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
        signals=np.stack([one.signals for one in ranked], axis=1),
    )
    runs = tuple(_build_runs(truth, ranked))
    judged = [np.flatnonzero(one.contributed.any(axis=1))[::-1] for one in ranked]
    relevant = [np.flatnonzero(one.grades)[::-1] for one in ranked]
    found = zip(ranked, judged, strict=True)
    return SimulatedTrack(
        runs=runs,
        qrels=_build_qrels(truth.topics, ranked, judged),
        complete=_build_qrels(truth.topics, ranked, relevant),
        truth=truth,
        contributors=np.concatenate([one.contributed[rows] for one, rows in found]),
        pooled=tuple(runs[r].name for r in np.flatnonzero(design.is_pooled)),
        seed=seed,
    )


def _draw_ranked(
    model: TrackModel,
    design: TrackDesign,
    effects: Any,
    scales: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
) -> _Ranked:
    topic = draw_topic(model, design.n_candidates, rng)
    numbers = rng.choice(COLLECTION_SIZE, design.n_candidates, replace=False, shuffle=False)
    grades = draw_grades(topic, design.n_candidates, rng)
    variances = (model.team_topic, model.system_topic, model.instance_topic)
    interactions = sum(draw_effects(variances, design, rng))
    signals = np.asarray(model.signal - topic.difficulty + effects + interactions)
    latents = draw_latents(design, grades, signals, rng).reshape(design.n_runs, -1)
    retrieved = np.argpartition(latents, -design.depth, axis=1)[:, -design.depth :]
    # In the order of the documents first, which a stable sort by score then keeps in ties.
    retrieved.sort(axis=1)
    scores = _scores(np.take_along_axis(latents, retrieved, axis=1), *scales, rng)
    order = np.argsort(-scores, axis=1, kind="stable")
    rankings = np.take_along_axis(retrieved, order, axis=1)
    pooled = design.is_pooled
    teams = np.repeat(np.arange(design.n_teams), design.n_runs // design.n_teams)
    contributed = np.zeros((design.n_candidates, design.n_teams), bool)
    contributed[rankings[pooled, : design.pool_depth], teams[pooled, None]] = True
    # All have one width, so that numbers and ids sort alike.
    ids = make_ids(f"SIM-{n:0{_DIGITS}}" for n in sorted(numbers.tolist(), reverse=True))
    ordered = np.take_along_axis(scores, order, axis=1)
    return _Ranked(topic, ids, grades, signals.ravel(), rankings, ordered, contributed)


def _scores(
    latents: np.ndarray, families: np.ndarray, shifts: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Scores on each run's own scale, whose position and width differ by topic."""
    shared = rng.standard_normal()
    own = rng.standard_normal((2, len(latents), 1))
    placed = latents * np.exp(0.15 * own[1]) + 0.4 * (shifts[:, None] + shared + own[0])
    scores = np.empty_like(latents)
    for code, (decimals, of_latent) in enumerate(_FAMILIES):
        rows = families == code
        scores[rows] = np.round(of_latent(placed[rows]), decimals)
    return scores


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
    pairs = list(zip(ranked, chosen, strict=True))
    documents = join_ids([one.documents.take(rows) for one, rows in pairs])
    grades = np.concatenate([one.grades[rows] for one, rows in pairs])
    first_rows = np.cumsum([0, *map(len, chosen[:-1])])
    return build_qrels(list(topics), first_rows, documents, grades)


def track_stream(seed: int) -> np.random.Generator:
    """The generator of a seed; numpy's own takes none below 0."""
    if seed < 0:
        raise bad_value("rng", "be a seed of at least 0 for a simulated track", seed)
    return np.random.default_rng(seed)


COMPONENTS: Mapping[str, tuple[float, str]] = {
    "system": (0.05, "s"),
    "topic": (0.07, "t"),
    "judge": (0.36, "j"),
    "system:topic": (0.08, "st"),
    "answer": (0.03, "sta"),
    "system:judge": (0.06, "sj"),
    "topic:judge": (0.18, "tj"),
    "system:topic:judge": (0.2, "stj"),
    "answer:judge": (0.08, "staj"),
    "residual": (0.2, "stajd"),
}
"""Variances, much as five language models graded summaries of news, and axes of the effects."""


def simulated_facets(
    *,
    n_systems: int = 8,
    n_topics: int = 50,
    n_judges: int = 5,
    n_answers: int = 1,
    n_draws: int = 1,
    components: Mapping[str, float] | None = None,
    means: Sequence[float] | None = None,
    missing: float = 0.0,
    rng: Rng = 0,
) -> Scores:
    """Scores of systems on topics by judges, with answers and draws, normal effects.

    Parameters
    ----------
    n_systems, n_topics, n_judges, n_answers, n_draws : int
        How many of each.
    components : mapping, optional
        Variances that differ from the defaults: of `system`, `topic`, `judge`, `system:topic`,
        `answer`, `system:judge`, `topic:judge`, `system:topic:judge`, `answer:judge`, `residual`.
    means : sequence of float, optional
        The true means of the systems, instead of random ones.
    missing : float
        Share of the scores that are missing, at random.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    Scores
        One measure, `grade`; `run_info` has system, judge, answer and draw, `meta` the truth.

    Examples
    --------
    >>> import steadyrank as sr
    >>> scores = sr.simulated_facets(n_systems=3, n_topics=10, n_judges=4, n_answers=2)
    >>> scores.values.shape, sorted(scores.run_info)
    ((1, 24, 10), ['answer', 'judge', 'system'])
    """
    numbers = (n_systems, n_topics, n_answers, n_judges, n_draws)
    sizes = dict(zip("stajd", numbers, strict=True))
    for name, size in zip(
        ("systems", "topics", "answers", "judges", "draws"), numbers, strict=True
    ):
        check_count(f"the number of {name}", size)
    for name in components or ():
        if name not in COMPONENTS:
            raise unknown_name("component", name, COMPONENTS)
    if not 0.0 <= check_number("missing", missing) < 1.0:
        raise bad_value("missing", "be a share of at least 0 and below 1", missing)
    seed = seed_from(rng)
    stream = np.random.default_rng(seed)
    truth = {name: own[0] for name, own in COMPONENTS.items()} | dict(components or {})
    values = np.full(numbers, 3.0)
    for name, (_, axes) in COMPONENTS.items():
        shape = [size if axis in axes else 1 for axis, size in sizes.items()]
        effects = stream.normal(size=shape) * np.sqrt(truth[name])
        if name == "system" and means is not None:
            effects = np.reshape(np.asarray(means, float) - 3.0, shape)
        values = values + effects
    values[stream.random(values.shape) < missing] = np.nan
    places = np.indices((n_systems, n_answers, n_judges, n_draws)).reshape(4, -1)
    letters = {"system": "s", "answer": "", "judge": "j", "draw": ""}
    columns = {
        name: tuple(f"{letter}{place + 1}" for place in own)
        for (name, letter), own in zip(letters.items(), places, strict=True)
        if name == "system" or own.any()
    }
    return Scores(
        measures=("grade",),
        runs=tuple("/".join(parts) for parts in zip(*columns.values(), strict=True)),
        topics=tuple(f"t{topic + 1}" for topic in range(n_topics)),
        values=values.transpose(0, 2, 3, 4, 1).reshape(1, -1, n_topics),
        run_info=columns,
        meta={"components": truth, "seed": seed},
    )
