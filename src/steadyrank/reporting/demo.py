"""The demo: files as a user would have them, and the report on them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.sources import PathLike
from steadyrank.data.track.simulated import simulated_track
from steadyrank.data.write.files import write_track
from steadyrank.errors import InputError, unknown_name
from steadyrank.reporting.budget import Budget
from steadyrank.reporting.run import ReportResult, report
from steadyrank.retrieval.builtin.collection import builtin_collection
from steadyrank.retrieval.builtin.runs import POOL_DEPTH, builtin_runs
from steadyrank.studies.material import Told

Data = Literal["builtin", "simulated"]

MEASURES = ("nDCG@10", "AP", "P@10", "RR")
BUDGET = "45s"


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
    eighteen runs of six teams on the collection that comes with steadyrank; or "simulated", a
    track of sixty runs whose truth is known (also kept), drawn with the seed `rng`.
    """
    seed = seed_from(rng)
    if data not in get_args(Data):
        raise unknown_name("data", data, get_args(Data))
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: a file stands where the folder should be")
    if data == "builtin":
        collection = builtin_collection(progress=_progress_of(progress, "docstrings"))
        runs = builtin_runs(progress=_progress_of(progress, "searches"))
        write_track(folder, runs, collection.qrels)
        depth = POOL_DEPTH
    else:
        track = simulated_track(rng=seed)
        track.write(folder)
        depth = track.truth.design.pool_depth
    if data_only:
        return None
    return report(
        [str(folder / "runs")],
        str(folder / "qrels.txt"),
        run_info=str(folder / "run-info.csv"),
        measures=measures or MEASURES,
        budget=budget,
        pool_depth=depth,
        out=folder / "report.html",
        command=_command(folder, measures or MEASURES, budget, depth, seed),
        jobs=jobs,
        announce=announce,
        progress=progress,
        rng=seed,
    )


def _progress_of(progress: Told | None, what: str) -> Progress | None:
    if progress is None:
        return None
    progress(what, 0, 1)
    return lambda finished, total: progress(what, finished, total)


def _command(folder: Path, measures: Sequence[str], budget: Budget, depth: int, seed: int) -> str:
    """The command that makes the page again from the files."""
    qrels, runs, run_info = (str(folder / name) for name in ("qrels.txt", "runs", "run-info.csv"))
    options = [("--run-info", run_info), *(("--measure", measure) for measure in measures)]
    options += [("--budget", str(budget)), ("--pool-depth", str(depth))]
    options += [("--seed", str(seed))] if seed else []
    words = chain(("steadyrank", "report", qrels, runs), *options, ("--out", "report.html"))
    return shlex.join(words)
