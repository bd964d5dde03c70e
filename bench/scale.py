"""Every study at full size, through the command: time and peak memory, the table of docs/scale.md.

    pip install -e . && python -m bench.scale [--only compare] [--jobs N]

Inputs are made first, outside the time, in a temporary folder or in the one that --keep names. Each
command then runs in a new process: seconds on the wall, processor seconds, and the largest
resident memory. Kernels that were never compiled are compiled within the time, so a first run
of this script also measures that.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import steadyrank as sr
from bench._inputs import made_scores, write_grid_info

MEASURES = ("AP", "P@10", "Rprec", "RBP", "nDCG", "nDCG@20", "ERR@20", "RR", "R@1000")
GRID = {"stop": 6, "stem": 6, "model": 119}
"""Runs of the large grid: 4,284 systems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Return a command line; words starting with `@` are files of the input folder."""

    size: str
    words: str
    inputs: str


CASES = {
    "check": Case(
        size="126 runs × 50 topics × 1,000 documents",
        inputs="covid",
        words="check @qrels.txt @runs",
    ),
    "evaluate": Case(
        size="the same, 9 measures",
        inputs="covid",
        words="evaluate @qrels.txt @runs " + " ".join(f"-m {m}" for m in MEASURES),
    ),
    "report": Case(
        size="the same, every study",
        inputs="covid",
        words="report @qrels.txt @runs --run-info @run-info.csv -m nDCG@10 -m AP --out @page.html",
    ),
    "report, scores": Case(
        size="500 runs × 1,000 topics, scores alone",
        inputs="leaderboard",
        words="report --scores @scores.parquet --out @page.html",
    ),
    "pools": Case(
        size="126 runs × 50 topics × 1,000 documents, leaving out 1 to 15 teams",
        inputs="covid",
        words="pools @qrels.txt @runs --run-info @run-info.csv -m AP --pool-depth 100",
    ),
    "simulate": Case(
        size="110 runs × 249 topics × 10,000 collections, 274 million samples",
        inputs="robust",
        words="simulate @qrels.txt @runs -m AP --samples 10000",
    ),
    "simulate, nDCG@10": Case(
        size="the same",
        inputs="robust",
        words="simulate @qrels.txt @runs -m nDCG@10 --samples 10000",
    ),
    "simulate, independent runs": Case(
        size="the same",
        inputs="robust",
        words="simulate @qrels.txt @runs --samples 10000 --documents independent",
    ),
    "simulate, densities": Case(
        size="the same",
        inputs="robust",
        words="simulate @qrels.txt @runs --samples 10000 --model kde",
    ),
    "topics": Case(
        size="110 runs × 249 topics, 10,000 splits",
        inputs="robust",
        words="topics @qrels.txt @runs -m AP --trials 10000",
    ),
    "compare": Case(
        size="50 runs × 7,000 topics, t", inputs="marco", words="compare --scores @scores.parquet"
    ),
    "compare, randomized Tukey": Case(
        size="the same, 10,000 samples",
        inputs="marco",
        words="compare --scores @scores.parquet --test randomized-tukey",
    ),
    "compare, bootstrap": Case(
        size="the same, 10,000 samples",
        inputs="marco",
        words="compare --scores @scores.parquet --test bootstrap",
    ),
    "stability": Case(
        size="50 runs × 7,000 topics", inputs="marco", words="stability --scores @scores.parquet"
    ),
    "plan": Case(
        size="50 runs × 7,000 topics",
        inputs="marco",
        words="plan --scores @scores.parquet --minimum-difference 0.01 --systems 50",
    ),
    "agree": Case(
        size="4,284 systems × 50 topics × 9 measures",
        inputs="grid",
        words="agree --scores @scores.parquet",
    ),
    "components": Case(
        size="4,284 systems × 50 topics × 9 measures, 6 × 6 × 119",
        inputs="grid",
        words="components --scores @scores.parquet --run-info @info.csv --factors stop,stem,model",
    ),
    "instances": Case(
        size="2 systems × 100 instances × 150 topics",
        inputs="instances",
        words="instances --scores @scores.parquet --run-info @info.csv --a A --b B",
    ),
    "grid": Case(
        size="1,326 systems × 60 topics on 11,738 documents",
        inputs="none",
        words="grid builtin -m AP -m nDCG@10",
    ),
}


def make_track(folder: Path, **sizes: int) -> None:
    sr.simulated_track(**sizes).write(folder)


def make_grid(folder: Path) -> None:
    scores = made_scores(4284, 50, MEASURES)
    sr.write_scores(scores, folder / "scores.parquet")
    write_grid_info(folder / "info.csv", scores.runs, GRID)


def make_instances(folder: Path) -> None:
    scores = made_scores(200, 150)
    sr.write_scores(scores, folder / "scores.parquet")
    rows = [f"{run},{'AB'[place // 100]}" for place, run in enumerate(scores.runs)]
    (folder / "info.csv").write_text("\n".join(["run,system", *rows]) + "\n", "utf-8")


INPUTS: dict[str, Callable[[Path], None]] = {
    "covid": lambda folder: make_track(
        folder, n_teams=42, runs_per_team=3, n_topics=50, depth=1000, pool_depth=100
    ),
    "robust": lambda folder: make_track(
        folder, n_teams=22, runs_per_team=5, n_topics=249, depth=1000, pool_depth=100
    ),
    "marco": lambda folder: sr.write_scores(made_scores(50, 7000), folder / "scores.parquet"),
    "leaderboard": lambda folder: sr.write_scores(
        made_scores(500, 1000), folder / "scores.parquet"
    ),
    "grid": make_grid,
    "instances": make_instances,
    "none": lambda folder: None,
}


def command(case: Case, folder: Path, jobs: int | None) -> list[str]:
    words = [
        str(folder / word[1:]) if word.startswith("@") else word for word in case.words.split()
    ]
    many = ["--jobs", str(jobs)] if jobs else []
    return [sys.executable, "-m", "steadyrank", *words, "--quiet", *many]


LAUNCHER = """
import json, os, sys, time
started = time.perf_counter()
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(pid, 0)
wall = time.perf_counter() - started
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps([wall, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e9]))
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Small parent process, since a process first counts its parent's memory."""


def measured(words: list[str]) -> tuple[float, float, float]:
    """Return wall seconds, processor seconds, and peak gigabytes."""
    with tempfile.TemporaryFile("w+") as err:
        made = subprocess.run(
            [sys.executable, "-S", "-c", LAUNCHER, *words], stdout=subprocess.PIPE, stderr=err
        )
        err.seek(0)
        if made.returncode:
            sys.exit(f"{' '.join(words)}: {err.read()}")
    wall, processors, peak = json.loads(made.stdout.splitlines()[-1])
    return wall, processors, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose names begin with this")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--keep", type=Path, help="a folder for the inputs, to be used again")
    given = parser.parse_args()
    names = [name for name in CASES if name.startswith(given.only)]
    with tempfile.TemporaryDirectory() as temporary:
        root = given.keep or Path(temporary)
        print("| command | size | wall | processors | peak memory |\n|---|---|---:|---:|---:|")
        for name in names:
            case = CASES[name]
            folder = root / case.inputs
            if not folder.exists():
                folder.mkdir(parents=True)
                INPUTS[case.inputs](folder)
            words = command(case, folder, given.jobs)
            wall, cpu, peak = measured(words)
            pages = [Path(word).stat().st_size / 1e6 for word in words if word.endswith(".html")]
            size = case.size + "".join(f"; a page of {page:.2f} MB" for page in pages)
            print(f"| `{name}` | {size} | {wall:.1f} s | {cpu:.1f} s | {peak:.2f} GB |", flush=True)


if __name__ == "__main__":
    main()
