"""What the studies of a report work on: scores, and where there are some the runs behind them.

`steadyrank.reporting.inputs` reads all of it before any study starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from steadyrank.data.battles import Battles
from steadyrank.data.leaderboard import Leaderboard
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.run_files import Reading
from steadyrank.data.read.runs import Runs
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError
from steadyrank.measures.check import CheckResult
from steadyrank.measures.evaluate import Missing, NoRelevant, Ties
from steadyrank.stats.instances.systems import Groups, systems_of
from steadyrank.stats.run_means import adjusted_means, best_first

MOST_COMPARED = 300
"""Largest number of runs compared pair by pair; of more runs the best are compared."""

NO_RUNS = "requires the runs and the judgments; a table of scores was given"

Told = Callable[[str, int, int], None]
"""Called with a description of the work, how much of it is finished, and how much there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a report, without data, budget and paths."""

    test: str = "t"
    """Test of `compare`."""
    correction: str | None = None
    baseline: str | None = None
    alpha: float = 0.05
    delta: float = 0.01
    minimum_difference: float = 0.05
    pool_depth: int = 10
    factors: tuple[str, ...] = ()
    instance_factors: tuple[str, ...] = ()
    topic_info: PathLike | None = None
    cluster_from: str | None = None
    drawn: str = "datasets"
    """What `datasets` resamples of a leaderboard."""
    aggregate: str = "mean"
    by: str | None = None
    """The column of the topics' information that cuts them into segments."""
    rel: int | None = None
    missing: Missing = "zero"
    no_relevant: NoRelevant = "zero"
    ties: Ties = "trec_eval"
    reading: Reading = field(default_factory=Reading)
    runs_in_rows: bool = False
    lower_is_better: tuple[str, ...] = ()
    higher_is_better: tuple[str, ...] = ()
    """Measures, or datasets, whose direction was given."""
    form: str | None = None
    """The form of files of scores, where their content does not say it."""
    seed: int = 0

    def flat(self) -> dict[str, Any]:
        """Return all settings by name, including those of reading runs."""
        return {
            key: value
            for setting in fields(self)
            for key, value in (
                asdict(self.reading).items()
                if setting.name == "reading"
                else [(setting.name, getattr(self, setting.name))]
            )
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where the work is done, and who is told about it; nothing on the page depends on it."""

    jobs: int | None = None
    scheduler: str | None = None
    store: Path | None = None
    told: Told | None = None

    def progress(self, what: str) -> Callable[[int, int], None] | None:
        """Return a callback for a piece of work that begins now."""
        told = self.told
        if told is None:
            return None
        told(what, 0, 1)  # The first part may take long: kernels compile.
        return lambda finished, total: told(what, finished, total)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that went into a report."""

    role: str
    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Material:
    """All that studies work on."""

    scores: Scores
    settings: Settings
    runs: Runs | None = None
    """In the order of the scores; None where scores were given instead."""
    qrels: Qrels | None = None
    check: CheckResult | None = None
    judge_scores: Mapping[str, Scores] = field(default_factory=dict)
    """Other judges, each with its scores by the first measure."""
    judge_qrels: Mapping[str, Qrels] = field(default_factory=dict)
    """Their judgments, where they are known."""
    battles: Battles | None = None
    """Battles of pairs of models, where these were given; `scores` then has win rates."""
    leaderboard: Leaderboard | None = None
    """Scores by dataset, where these were given; `scores` then has datasets for topics."""
    graded: Scores | None = None
    """The scores with their judges, answers and draws, of which `scores` are the means."""
    read_as: str = ""
    """How files of a tool were read, in a line."""
    own_names: Mapping[str, str] = field(default_factory=dict)
    """Names in the files of runs that were renamed."""
    files: tuple[SourceFile, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    """Warnings about the data, in sentences."""

    @property
    def unit(self) -> str:
        """What the scores are by: "topic", "dataset", or "prompt" of battles."""
        if self.battles is not None:
            return "prompt"
        return "topic" if self.leaderboard is None else "dataset"

    @property
    def measure(self) -> str:
        """The first measure, by which runs are ranked."""
        return self.scores.measures[0]

    @property
    def order(self) -> list[int]:
        """Positions of the runs, best mean first."""
        means = adjusted_means(self.scores.select(measures=self.measure).oriented().matrix())
        return [int(run) for run in best_first(means)]

    @property
    def compared(self) -> Scores:
        """The scores of the runs that are compared pair by pair, in the order of the scores."""
        if len(self.scores.runs) <= MOST_COMPARED:
            return self.scores
        chosen = set(self.order[:MOST_COMPARED])
        if self.settings.baseline is not None:
            chosen.add(self.scores.runs.index(self.settings.baseline))
        best = sorted(chosen)
        return self.scores.select(runs=[self.scores.runs[run] for run in best])

    @property
    def more_than_topics(self) -> str:
        """Why a study of topics alone would be overconfident; "" without facets."""
        graded = "judges or answers add error that topics do not reduce: see stability --facets"
        return "" if self.graded is None else graded

    @property
    def compared_graded(self) -> Scores:
        """The scores of the runs that are compared, with judges and answers if there are any."""
        if self.graded is None:
            return self.compared
        chosen, graded = set(self.compared.runs), self.graded
        of_run = zip(graded.runs, graded.run_info["system"], strict=True)
        runs = [run for run, system in of_run if system in chosen]
        graded = graded.select(runs=runs, topics=self.scores.topics)
        return graded.with_topic_info(**self.scores.topic_info)

    def n_levels(self, facet: str) -> int:
        """Return the number of judges, answers or draws; 1 where scores have no such facet."""
        held = () if self.graded is None else self.graded.run_info.get(facet, ())
        return max(1, len(set(held)))

    @property
    def compared_runs(self) -> Runs:
        """The runs that are compared; raises an error where only scores were given."""
        if self.runs is None:
            raise InputError(NO_RUNS)
        names = set(self.compared.runs)
        return self.runs.at([r for r, name in enumerate(self.scores.runs) if name in names])


def named_teams(scores: Scores) -> set[str]:
    """Return the teams that run information names."""
    return set(scores.run_info.get("team", ())) - {""}


def named_systems(scores: Scores) -> Groups:
    """Return the systems that run information names, and their runs."""
    return systems_of(scores) if "system" in scores.run_info else {}
