"""The model behind a simulated track: what is true of its systems and topics.

For anyone who tests a statistical study against a known answer. A system scores a
document by a latent value; how far relevant documents stand above the others is
the sum of effects of team, system, topic, their interactions and, for systems
that are not deterministic, the instance.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadyrank.compute.random import Rng, seed_from
from steadyrank.errors import InputError, arg, bad_value, check_count
from steadyrank.notebook import Exhibit, shown_by

if TYPE_CHECKING:
    import pandas as pd

COLLECTION_SIZE = 1_000_000
_FEWEST_RELEVANT = 3
_LARGEST_RELEVANT_SHARE = 1 / 8
_FEWEST_CANDIDATES = math.ceil(_FEWEST_RELEVANT / _LARGEST_RELEVANT_SHARE)
_CANDIDATES_PER_RANK = 8

_KINDS = (
    ("finite number", -math.inf, math.inf, "signal highly_relevant_bonus"),
    (
        "variance of at least 0",
        0.0,
        math.inf,
        "team system topic team_topic system_topic instance instance_topic",
    ),
    (
        "share between 0 and 1",
        0.0,
        1.0,
        "common_noise team_noise instance_noise highly_relevant_share",
    ),
    ("number above 0", 5e-324, math.inf, "relevant_noise relevant_median relevant_log_sd"),
)
"""What the parameters of a model are: in words, by their limits, and which."""


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
        """The same population without anything that differs between instances."""
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


def default_candidates(depth: int) -> int:
    """How many documents of a topic a run of this depth chooses from, by default."""
    wanted = _CANDIDATES_PER_RANK * check_count("depth", depth)
    return min(max(wanted, _FEWEST_CANDIDATES), COLLECTION_SIZE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrackTruth:
    """What is true of the systems and topics of one simulated track, on the latent scale."""

    model: TrackModel
    design: TrackDesign
    teams: tuple[str, ...]
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    team_effects: np.ndarray
    """One for each team."""
    system_effects: np.ndarray
    """One for each system: how far it stands above its team."""
    instance_effects: np.ndarray
    """[system, instance]: how far an instance stands above its system."""
    difficulties: np.ndarray
    """One for each topic: the topic's effect with its sign turned."""
    n_relevant: np.ndarray
    """One for each topic: the relevant documents that exist, judged or not."""
    n_highly_relevant: np.ndarray
    """One for each topic: those of grade 2 among them."""
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
        # In files the number of instances keeps the name that it has had.
        names = ["instances" if key == "n_instances" else key for key in design]
        lists = "teams systems topics"
        arrays = "team_effects system_effects effects instance_effects difficulties n_relevant"
        return {
            "model": asdict(self.model),
            "design": dict(zip(names, design.values(), strict=True)),
            **{name: list(getattr(self, name)) for name in lists.split()},
            **{name: getattr(self, name).tolist() for name in arrays.split()},
            "n_highly_relevant": self.n_highly_relevant.tolist(),
            "signals": self.signals.tolist(),
        }


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
        import pandas as pd

        return pd.DataFrame(
            {"system": self.systems, "mean": self.means, "standard_error": self.standard_errors}
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
