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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadyrank.compute.files import write_whole
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.ids import Ids, join_ids, make_ids
from steadyrank.data.qrels import Qrels, build_qrels
from steadyrank.data.run import Run, build_run
from steadyrank.data.write.files import write_qrels, write_track
from steadyrank.errors import InputError, arg, bad_value, check_count
from steadyrank.notebook import Exhibit, made_frame, shown_by

if TYPE_CHECKING:
    import pandas as pd

COLLECTION_SIZE = 1_000_000
_FEWEST_RELEVANT = 3
_LARGEST_RELEVANT_SHARE = 1 / 8
_FEWEST_CANDIDATES = math.ceil(_FEWEST_RELEVANT / _LARGEST_RELEVANT_SHARE)
_CANDIDATES_PER_RANK = 8
_DIGITS = len(str(COLLECTION_SIZE - 1))
_FIRST_TOPIC = 301
_SYSTEMS, _TOPICS = 0, 1

_VARIANCES = "team system topic team_topic system_topic instance instance_topic"
_SHARES = "common_noise team_noise instance_noise highly_relevant_share"
_KINDS = (
    ("finite number", -math.inf, math.inf, "signal highly_relevant_bonus"),
    ("variance of at least 0", 0.0, math.inf, _VARIANCES),
    ("share between 0 and 1", 0.0, 1.0, _SHARES),
    ("number above 0", 5e-324, math.inf, "relevant_noise relevant_median relevant_log_sd"),
)
"""Kinds of parameters of a model: in words, with limits and names."""

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

    The latent value of a non-relevant document is standard normal. That of a relevant
    one has standard deviation `relevant_noise` around the threshold that as many
    non-relevant documents pass as there are relevant ones, plus a signal:

        signal + team + system + topic + team_topic + system_topic
               + instance + instance_topic (+ highly_relevant_bonus for grade 2)

    where every term but the first and last is normal with mean 0 and the variance of
    that name. The noise of a document is shared: by all systems to `common_noise` of
    its variance, by the runs of a team to `team_noise`; `instance_noise` is an
    instance's own and the rest is the system's. The number of relevant documents is
    log-normal. With `team=0` and `system=0` all systems are equally good.

    Examples
    --------
    >>> from steadyrank import TrackModel
    >>> model = TrackModel(system=0.0, team=0.0)
    >>> model.system, model.deterministic().instance
    (0.0, 0.0)
    """

    signal: float = -1.2
    team: float = 0.1
    system: float = 0.1
    topic: float = 1.1
    team_topic: float = 0.12
    system_topic: float = 0.12
    instance: float = 0.004
    instance_topic: float = 0.03
    common_noise: float = 0.5
    team_noise: float = 0.2
    instance_noise: float = 0.05
    relevant_noise: float = 1.6
    relevant_median: float = 50.0
    relevant_log_sd: float = 1.15
    highly_relevant_share: float = 0.25
    highly_relevant_bonus: float = 0.5

    def __post_init__(self) -> None:
        for kind, low, high, names in _KINDS:
            for name in names.split():
                value = getattr(self, name)
                is_number = isinstance(value, (int, float, np.number)) and math.isfinite(value)
                if not is_number or not low <= value <= high:
                    raise bad_value(name, f"be a {kind}", value)
        if self.system_noise < 0:
            raise InputError(
                f"{arg('common_noise')}, {arg('team_noise')} and {arg('instance_noise')} add up "
                f"to {1 - self.system_noise:.6g}: they are shares of one variance, at most 1"
            )

    @property
    def system_noise(self) -> float:
        """The share of a document's noise that is a system's own."""
        # Rounded, so that shares which add up to one in decimals do so in binary.
        return round(1 - self.common_noise - self.team_noise - self.instance_noise, 12)

    @property
    def interaction(self) -> float:
        """The variance of a run's signal on a topic that neither system nor topic explains."""
        return self.team_topic + self.system_topic + self.instance + self.instance_topic

    def deterministic(self) -> TrackModel:
        """Return the population without anything that differs between instances."""
        return replace(self, instance=0.0, instance_topic=0.0, instance_noise=0.0)


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
    n_highly_relevant: np.ndarray
    """Documents of grade 2 among these."""
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
        design = asdict(self.design)
        # In files the number of instances keeps its former name.
        names = ["instances" if key == "n_instances" else key for key in design]
        arrays = "team_effects system_effects effects instance_effects difficulties n_relevant"
        return {
            "model": asdict(self.model),
            "design": dict(zip(names, design.values(), strict=True)),
            **{name: list(getattr(self, name)) for name in ("teams", "systems", "topics")},
            **{
                name: getattr(self, name).tolist()
                for name in (*arrays.split(), "n_highly_relevant", "signals")
            },
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
    return _draw_track(model.deterministic() if n_instances == 1 else model, design, seed)


class Topic(NamedTuple):
    """A topic as the model draws it."""

    difficulty: float
    n_relevant: int
    n_highly_relevant: int


def draw_topic(model: TrackModel, n_candidates: int, rng: np.random.Generator) -> Topic:
    """A topic's difficulty, and how many documents are relevant to it."""
    difficulty = float(rng.normal(0.0, math.sqrt(model.topic)))
    drawn = model.relevant_median * math.exp(model.relevant_log_sd * rng.standard_normal())
    most = int(n_candidates * _LARGEST_RELEVANT_SHARE)
    n_relevant = round(min(max(drawn, _FEWEST_RELEVANT), most))
    n_highly = int(rng.binomial(n_relevant, model.highly_relevant_share))
    return Topic(difficulty=difficulty, n_relevant=n_relevant, n_highly_relevant=n_highly)


def draw_grades(topic: Topic, n_candidates: int, rng: np.random.Generator) -> np.ndarray:
    """A grade for each candidate: 0, 1 or 2, wherever they stand."""
    grades = np.zeros(n_candidates, np.int32)
    relevant = rng.choice(n_candidates, topic.n_relevant, replace=False)
    grades[relevant] = 1
    grades[relevant[: topic.n_highly_relevant]] = 2
    return grades


def draw_effects(
    variances: tuple[float, float, float], design: TrackDesign, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Effects of teams, of systems and of instances, as arrays that add up to one per run."""
    n_teams, n_systems, n_instances = design.shape
    shapes = ((n_teams, 1, 1), (n_teams, n_systems, 1), (n_teams, n_systems, n_instances))
    team, system, instance = (
        rng.normal(0.0, math.sqrt(variance), shape)
        for shape, variance in zip(shapes, variances, strict=True)
    )
    return team, system, instance


def draw_latents(
    model: TrackModel,
    design: TrackDesign,
    grades: np.ndarray,
    signals: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """The value of every document to every run: [team, system, instance, document].

    Noise is standard normal, and shared as the model says.
    """
    n_teams, n_systems, n_instances = design.shape
    latents = np.zeros((*design.shape, design.n_candidates))
    for shape, share in (
        ((n_teams, n_systems, n_instances), model.instance_noise),
        ((n_teams, n_systems, 1), model.system_noise),
        ((n_teams, 1, 1), model.team_noise),
        ((1, 1, 1), model.common_noise),
    ):
        if share > 0:
            part = rng.standard_normal((*shape, design.n_candidates))
            part *= math.sqrt(share)
            latents += part
    relevant = np.flatnonzero(grades)
    lift = signals[..., None] + threshold(len(relevant), design.n_candidates)
    bonus = np.where(grades[relevant] == 2, model.highly_relevant_bonus, 0.0)
    latents[..., relevant] = model.relevant_noise * latents[..., relevant] + lift + bonus
    return latents


def threshold(n_relevant: int, n_candidates: int) -> float:
    """The latent value that as many non-relevant documents pass as there are relevant ones.

    Signals count from here, so that topics with few relevant documents are not hard
    for that reason alone, and the number of candidates hardly matters.
    """
    return NormalDist().inv_cdf(1 - n_relevant / n_candidates)


class _Systems(NamedTuple):
    """What is drawn of systems before any topic."""

    effects: tuple[np.ndarray, np.ndarray, np.ndarray]
    """Effects of teams, systems and instances: [team, system, instance]."""
    families: np.ndarray
    """[run]: place of the family of score scales."""
    shifts: np.ndarray
    """[run]: position of the scores on the family's scale."""


class _Ranked(NamedTuple):
    """One topic: its documents, and how every run ranked them.

    Documents are places in `documents`, whose ids decrease: of two documents with the same score
    the one with the lower place ranks first.
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
    """[document, team]: whether the team brought the document into the pool."""


def _draw_track(model: TrackModel, design: TrackDesign, seed: int) -> SimulatedTrack:
    words = track_stream(seed).integers(2**32, size=4).tolist()

    def stream(kind: int, index: int) -> np.random.Generator:
        """The random numbers of one part of the track, whatever the other parts draw."""
        return np.random.default_rng(np.random.SeedSequence(words, spawn_key=(kind, index)))

    systems = _draw_systems(model, design, stream(_SYSTEMS, 0))
    ranked = [
        _draw_ranked(model, design, systems, stream(_TOPICS, t)) for t in range(design.n_topics)
    ]
    width = len(str(design.n_teams))
    teams = [f"team{k:0{width}d}" for k in range(1, design.n_teams + 1)]
    team, system, instance = systems.effects
    difficulties, n_relevant, n_highly = map(np.array, zip(*(r.topic for r in ranked), strict=True))
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
        n_highly_relevant=n_highly,
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
    latents = draw_latents(model, design, grades, signals, rng).reshape(design.n_runs, -1)
    retrieved = np.argpartition(latents, -design.depth, axis=1)[:, -design.depth :]
    # In the order of the documents first, which a stable sort by score then keeps in ties.
    retrieved.sort(axis=1)
    scores = _scores(np.take_along_axis(latents, retrieved, axis=1), systems, rng)
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


def _scores(latents: np.ndarray, systems: _Systems, rng: np.random.Generator) -> np.ndarray:
    """Scores on each run's own scale, whose position and width differ by topic."""
    shared = rng.standard_normal()
    own = rng.standard_normal((2, len(latents), 1))
    placed = latents * np.exp(0.15 * own[1]) + 0.4 * (systems.shifts[:, None] + shared + own[0])
    scores = np.empty_like(latents)
    for code, (decimals, of_latent) in enumerate(_FAMILIES):
        rows = systems.families == code
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
    """Judgments of each topic's chosen documents, in the order of their ids."""
    pairs = list(zip(ranked, chosen, strict=True))
    documents = join_ids([one.documents.take(rows) for one, rows in pairs])
    grades = np.concatenate([one.grades[rows] for one, rows in pairs])
    first_rows = np.cumsum([0, *map(len, chosen[:-1])])
    return build_qrels(list(topics), first_rows, documents, grades)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class TrueMeans(Exhibit):
    """The expected average precision of each system, by simulation over fresh topics.

    Examples
    --------
    >>> import steadyrank as sr
    >>> truth = sr.simulated_track(n_teams=2, runs_per_team=1, n_topics=2, n_candidates=1000).truth
    >>> means = sr.true_means(truth, n_topics=100)
    >>> means.to_frame().columns.tolist()
    ['system', 'mean', 'standard_error']
    """

    systems: tuple[str, ...]
    values: np.ndarray
    """[system, topic]: average precision on topics common to all systems."""
    seed: int = 0
    """The `rng` that draws the same topics again."""

    def caption(self) -> str:
        """Over how many topics the means are."""
        return f"{len(self.systems)} systems over {self.values.shape[1]:,} topics"

    @property
    def means(self) -> np.ndarray:
        """The expected average precision of each system."""
        return np.asarray(self.values.mean(axis=1))

    @property
    def standard_errors(self) -> np.ndarray:
        """The simulation's error of each mean; that of a difference is far smaller."""
        return np.asarray(self.values.std(axis=1, ddof=1) / math.sqrt(self.values.shape[1]))

    def to_frame(self) -> pd.DataFrame:
        """Columns system, mean, standard_error: one row per system."""
        return made_frame(
            {
                "system": list(self.systems),
                "mean": self.means,
                "standard_error": self.standard_errors,
            }
        )


def true_means(truth: TrackTruth, *, n_topics: int = 2000, rng: Rng = 0) -> TrueMeans:
    """The expected average precision of each system under complete judgments.

    The expectation is over the population of topics, interactions, instances and document noise,
    for rankings cut at the track's depth. It depends on a system by its effect alone, so all
    systems see the same topics and the same noise: systems come out in the order of their effects,
    and differences are far more exact than the means. Of the non-relevant documents only the ranks
    matter; their number above each relevant one is drawn exactly, from the order statistics of a
    uniform sample. Ties that rounding makes in the runs' scores are left out of account.

    Parameters
    ----------
    truth : TrackTruth
        Of a `SimulatedTrack`.
    n_topics : int
        Topics to simulate.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    TrueMeans
        Expected AP of every system, and its values over the simulated topics.

    Examples
    --------
    >>> from steadyrank.data.track.simulated import simulated_track
    >>> truth = simulated_track(n_teams=2, runs_per_team=2, n_topics=2, n_candidates=1000).truth
    >>> means = true_means(truth, n_topics=100).means
    >>> bool((means.argsort() == truth.effects.argsort()).all())
    True
    """
    seed = seed_from(rng)
    count, generator = check_count("n_topics", n_topics, 2), track_stream(seed)
    columns = [_average_precisions(truth, generator) for _ in range(count)]
    return TrueMeans(systems=truth.systems, values=np.stack(columns, axis=1), seed=seed)


def track_stream(seed: int) -> np.random.Generator:
    """The generator of a seed; numpy's own takes none below 0."""
    if seed < 0:
        raise bad_value("rng", "be a seed of at least 0 for a simulated track", seed)
    return np.random.default_rng(seed)


def _average_precisions(truth: TrackTruth, rng: np.random.Generator) -> np.ndarray:
    """Average precision of every system on one fresh topic."""
    model, design = truth.model, truth.design
    topic = draw_topic(model, design.n_candidates, rng)
    signal = model.signal - topic.difficulty + rng.normal(0.0, math.sqrt(model.interaction))
    relevant = model.relevant_noise * rng.standard_normal(topic.n_relevant)
    relevant[: topic.n_highly_relevant] += model.highly_relevant_bonus
    relevant += threshold(topic.n_relevant, design.n_candidates) + signal
    values = np.sort(relevant)[::-1] + truth.effects[:, None]
    # The probability that a standard normal variable is above each value.
    scaled = (values / math.sqrt(2.0)).ravel().tolist()
    tails = 0.5 * np.fromiter(map(math.erfc, scaled), np.float64, values.size)
    # The smallest of the other documents' probabilities, in order: uniform order statistics.
    others = design.n_candidates - topic.n_relevant
    sums = np.cumsum(rng.standard_exponential(min(design.depth, others)))
    smallest = sums / (sums[-1] + rng.standard_gamma(others + 1 - len(sums)))
    above = np.searchsorted(smallest, tails.reshape(values.shape))
    order = np.arange(1, topic.n_relevant + 1)
    precisions = np.where(above + order <= design.depth, order / (above + order), 0.0)
    return np.asarray(precisions.sum(axis=1) / topic.n_relevant)
