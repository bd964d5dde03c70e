"""The demo: files as a user would have them, and the report on them."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.sources import PathLike
from steadyrank.data.track.simulated import simulated_track
from steadyrank.data.write.files import write_info, write_qrels, write_track
from steadyrank.errors import InputError, SteadyrankWarning, unknown_name
from steadyrank.reporting.budget import Budget
from steadyrank.reporting.run import ReportResult, report
from steadyrank.studies.material import Told
from steadyrank_lab.retrieval.builtin.collection import builtin_collection
from steadyrank_lab.retrieval.builtin.runs import POOL_DEPTH, builtin_instances, builtin_runs

Data = Literal["builtin", "simulated"]

MEASURES = ("nDCG@10", "AP", "P@10", "RR")
BUDGET = "45s"
JUDGE = "second"
"""What the page calls the second judge."""
SEGMENTS = "origin"
"""The column of the topics' information by which runs are compared in segments."""


def demo(
    *,
    out: PathLike = "steadyrank-demo",
    data: Data = "builtin",
    measures: Sequence[str] = (),
    budget: Budget = BUDGET,
    data_only: bool = False,
    jobs: int | None = None,
    announce: Callable[[str], None] | None = None,
    progress: Told | None = None,
    rng: Rng = 0,
) -> ReportResult | None:
    """Write a track into the folder `out` and, unless `data_only`, a report on it beside.

    The folder gets `qrels.txt`, `runs/`, `run-info.csv` and `report.html`. `data` is "builtin":
    eighteen runs of six teams on the collection that comes with steadyrank, eight instances of
    selective search, a second judge (`second-judge.txt`) and what is known about the topics
    (`topic-info.csv`); or "simulated", a track of sixty runs whose truth is known (also kept),
    drawn with the seed `rng`.
    """
    seed = seed_from(rng)
    if data not in get_args(Data):
        raise unknown_name("data", data, get_args(Data))
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: this is a file, and a folder is needed")
    if data == "builtin":
        track = _write_builtin(folder, progress)
    else:
        simulated = simulated_track(rng=seed)
        simulated.write(folder)
        track = _Track(folder=folder, pool_depth=simulated.truth.design.pool_depth)
    if data_only:
        return None
    with warnings.catch_warnings():
        # The second judge saw a sample of the documents, as the page says in its place.
        warnings.filterwarnings("ignore", f"judge {JUDGE}: ", SteadyrankWarning)
        return report(
            [track.path("runs")],
            track.path("qrels.txt"),
            measures=measures or MEASURES,
            rel=1,
            budget=budget,
            out=folder / "report.html",
            command=_command(track, measures or MEASURES, budget, seed),
            jobs=jobs,
            announce=announce,
            progress=progress,
            rng=seed,
            **track.arguments,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Track:
    """Files of a track, and what a report takes beside runs and judgments."""

    folder: Path
    pool_depth: int
    judge: str = ""
    """The file of a second judge."""
    topic_info: str = ""

    def path(self, name: str) -> str:
        return str(self.folder / name)

    @property
    def arguments(self) -> dict[str, Any]:
        """As the library takes them."""
        given: dict[str, Any] = {
            "run_info": self.path("run-info.csv"),
            "pool_depth": self.pool_depth,
        }
        if self.judge:
            given["judges"] = {JUDGE: self.path(self.judge)}
        if self.topic_info:
            given |= {"topic_info": self.path(self.topic_info), "by": SEGMENTS}
        return given


def _write_builtin(folder: Path, progress: Told | None) -> _Track:
    collection = builtin_collection(progress=_progress_of(progress, "docstrings"))
    runs = (*builtin_runs(progress=_progress_of(progress, "searches")), *builtin_instances())
    write_track(folder, runs, collection.qrels)
    write_qrels(collection.second_qrels, folder / "second-judge.txt")
    write_info(folder / "topic-info.csv", "topic", collection.topics, collection.topic_info)
    return _Track(
        folder=folder, pool_depth=POOL_DEPTH, judge="second-judge.txt", topic_info="topic-info.csv"
    )


def _progress_of(progress: Told | None, what: str) -> Progress | None:
    if progress is None:
        return None
    progress(what, 0, 1)
    return lambda finished, total: progress(what, finished, total)


def _command(track: _Track, measures: Sequence[str], budget: Budget, seed: int) -> str:
    """The command that makes the page again from the files, its options in the command's order."""
    options = [("--run-info", track.path("run-info.csv"))]
    options += [("--measure", measure) for measure in measures]
    options += [("--budget", str(budget)), ("--pool-depth", str(track.pool_depth))]
    if track.judge:
        options.append(("--judge", f"{JUDGE}={track.path(track.judge)}"))
    if track.topic_info:
        options += [("--topic-info", track.path(track.topic_info)), ("--by", SEGMENTS)]
    if seed:
        options.append(("--seed", str(seed)))
    options.append(("--rel", "1"))
    data = (track.path("qrels.txt"), track.path("runs"))
    words = chain(("steadyrank", "report", *data), *options, ("--out", "report.html"))
    return shlex.join(words)
