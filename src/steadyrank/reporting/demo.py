"""The demo: files as a user would have them, and the report on them."""

from __future__ import annotations

import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from steadyrank.compute.executors import default_jobs
from steadyrank.compute.files import write_whole
from steadyrank.compute.kernel_cache import is_kept
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.order import n_ranked
from steadyrank.data.read.qrels import read_qrels
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import Scores
from steadyrank.data.track.shipped import POOL_DEPTH, SHIPPED, shipped_runs
from steadyrank.data.track.simulated import simulated_track
from steadyrank.data.write.files import write_track
from steadyrank.errors import InputError, SteadyrankWarning, unknown_name
from steadyrank.reporting.budget import Budget
from steadyrank.reporting.run import ReportResult, report
from steadyrank.studies.agree.study import agree
from steadyrank.studies.holes.study import holes
from steadyrank.studies.instances.study import instances
from steadyrank.studies.material import Told
from steadyrank.studies.simulate.study import simulate
from steadyrank.studies.topics.study import topics

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
    eighteen runs of six teams that come with steadyrank, eight instances of selective search, a
    second judge (`second-judge.txt`) and what is known about the topics (`topic-info.csv`); or
    "simulated", a track of sixty runs whose truth is known (also kept), drawn with the seed `rng`.
    """
    seed = seed_from(rng)
    if data not in get_args(Data):
        raise unknown_name("data", data, get_args(Data))
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: this is a file, and a folder is needed")
    chosen = tuple(measures) or MEASURES
    helped = nullcontext() if data_only else _compiled_beside(chosen, jobs)
    with warnings.catch_warnings(), helped:
        if data == "builtin":
            track = _write_builtin(folder)
        else:
            simulated = simulated_track(rng=seed)
            simulated.write(folder)
            track = _Track(folder=folder, pool_depth=simulated.truth.design.pool_depth)
        if data_only:
            return None
        # The second judge saw a sample of the documents, as the page says in its place.
        warnings.filterwarnings("ignore", f"judge {JUDGE}: ", SteadyrankWarning)
        return report(
            [track.path("runs")],
            track.path("qrels.txt"),
            measures=chosen,
            rel=1,
            budget=budget,
            out=folder / "report.html",
            command=_command(track, chosen, budget, seed),
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


def _write_builtin(folder: Path) -> _Track:
    write_track(folder, shipped_runs(), read_qrels(SHIPPED / "qrels.txt"))
    for name in ("second-judge.txt", "topic-info.csv"):
        write_whole(folder / name, (SHIPPED / name).read_bytes())
    return _Track(
        folder=folder, pool_depth=POOL_DEPTH, judge="second-judge.txt", topic_info="topic-info.csv"
    )


@contextmanager
def _compiled_beside(measures: Sequence[str], jobs: int | None) -> Iterator[None]:
    """Let a second process compile kernels, too, where none are kept and there are processors.

    Compiling is most of a first demo, and Numba compiles one kernel at a time per process.
    """
    if is_kept(n_ranked) or (jobs or default_jobs()) < 2:
        yield
        return
    code = f"from steadyrank.reporting.demo import compile_ahead as go; go({[*measures]!r})"
    quiet: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    helper = subprocess.Popen([sys.executable, "-c", code], **quiet)
    try:
        yield
    finally:
        helper.kill()
        helper.wait()


def compile_ahead(measures: list[str]) -> None:
    """Run studies that take long to compile and that a report comes to late, with few samples.

    What a process compiles is kept for all others. Those that need scores alone have random ones.
    """
    runs, rng = shipped_runs()[-10:], np.random.default_rng(0)
    names = tuple(run.name for run in runs)
    scores = Scores(
        measures=tuple(measures),
        runs=names,
        topics=runs[0].topics,
        values=rng.random((len(measures), len(names), len(runs[0].topics))),
        run_info={"system": tuple(run.info["system"] or run.name for run in runs)},
    )
    few: dict[str, Any] = {"jobs": 1, "n_samples": 20}
    topics(scores, measure=measures[0], n_trials=20, jobs=1)
    qrels = read_qrels(SHIPPED / "qrels.txt")
    simulate(runs, qrels, measure=measures[0], **few)
    instances(scores, measure=measures[0], samples_per_instance=20, **few)
    agree(scores, topic_sizes=[20, 40], system_sizes=[3, 6], **few)
    holes(runs, qrels, measure=measures[0], **few)


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
