"""The demo: files of an example track, and a report on them."""

from __future__ import annotations

import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from steadyrank.compute.executors import default_jobs
from steadyrank.compute.files import write_whole
from steadyrank.compute.kernel_cache import is_kept
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.order import n_ranked
from steadyrank.data.read.run_files import read_qrels
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import Scores
from steadyrank.data.track.shipped import POOL_DEPTH, SHIPPED, shipped_runs
from steadyrank.data.track.simulated import simulated_track
from steadyrank.data.write import write_track
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
"""The name of the second judge on the page."""
SEGMENTS = "origin"
"""The column of the topics' information that defines segments."""


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
    """Write a track and, unless `data_only`, a report on it into the folder `out`.

    The folder gets `qrels.txt`, `runs/`, `run-info.csv` and `report.html`. `data` is "builtin":
    eighteen runs of six teams that come with steadyrank, eight instances of selective search, a
    second judge (`second-judge.txt`) and information about the topics (`topic-info.csv`); or
    "simulated": a track of sixty runs with known truth, drawn with the seed `rng`.
    """
    seed = seed_from(rng)
    if data not in get_args(Data):
        raise unknown_name("data", data, get_args(Data))
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: this is a file: name a folder")
    chosen = tuple(measures) or MEASURES
    helped = nullcontext() if data_only else _compiled_in_parallel(chosen, jobs)
    with warnings.catch_warnings(), helped:
        given: dict[str, Any] = {"run_info": str(folder / "run-info.csv")}
        if data == "builtin":
            given |= _write_builtin(folder)
        else:
            simulated = simulated_track(rng=seed)
            simulated.write(folder)
            given["pool_depth"] = simulated.truth.design.pool_depth
        if data_only:
            return None
        # The second judge judged a sample of the documents, as the page says.
        warnings.filterwarnings("ignore", f"judge {JUDGE}: ", SteadyrankWarning)
        return report(
            [str(folder / "runs")],
            str(folder / "qrels.txt"),
            measures=chosen,
            rel=1,
            budget=budget,
            out=folder / "report.html",
            command=_command(folder, given, chosen, budget, seed),
            jobs=jobs,
            announce=announce,
            progress=progress,
            rng=seed,
            **given,
        )


def _write_builtin(folder: Path) -> dict[str, Any]:
    """Write the track; return the arguments of its report."""
    write_track(folder, shipped_runs(), read_qrels(SHIPPED / "qrels.txt"))
    judge, topics = folder / "second-judge.txt", folder / "topic-info.csv"
    for path in (judge, topics):
        write_whole(path, (SHIPPED / path.name).read_bytes())
    about = {"judges": {JUDGE: str(judge)}, "topic_info": str(topics), "by": SEGMENTS}
    return {"pool_depth": POOL_DEPTH, **about}


@contextmanager
def _compiled_in_parallel(measures: Sequence[str], jobs: int | None) -> Iterator[None]:
    """Let a second process also compile kernels, if none are cached and there are processors.

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
    """Run with few samples the late studies of a report that take long to compile, the last first.

    All processes share the compiled kernels: the report, which begins with the first studies, meets
    this process in the middle. Studies that require only scores get random ones.
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
    qrels = read_qrels(SHIPPED / "qrels.txt")
    holes(runs, qrels, measure=measures[0], **few)
    agree(scores, topic_sizes=[20, 40], system_sizes=[3, 6], **few)
    instances(scores, measure=measures[0], samples_per_instance=20, **few)
    simulate(runs, qrels, measure=measures[0], **few)
    topics(scores, measure=measures[0], n_trials=20, jobs=1)


def _command(
    folder: Path, given: dict[str, Any], measures: Sequence[str], budget: Budget, seed: int
) -> str:
    """Return the command that makes the page again from the files."""
    options = [("--run-info", given["run_info"])]
    options += [("--measure", measure) for measure in measures]
    options += [("--budget", str(budget)), ("--pool-depth", str(given["pool_depth"]))]
    if "judges" in given:
        options.append(("--judge", f"{JUDGE}={given['judges'][JUDGE]}"))
        options += [("--topic-info", given["topic_info"]), ("--by", SEGMENTS)]
    if seed:
        options.append(("--seed", str(seed)))
    data = (str(folder / "qrels.txt"), str(folder / "runs"))
    ending = ("--rel", "1", "--out", "report.html")
    return shlex.join(chain(("steadyrank", "report", *data), *options, ending))
