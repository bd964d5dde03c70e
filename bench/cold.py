"""The first command after an installation: what fresh processes with empty kernel caches take.

    python -m bench.cold [--before COMMIT] [--turns 3] [--tables] [evaluate compare ...]

Each command runs in a new process, whose kernel cache is a new folder, and then again with
the cache that it left. Wall and processor seconds are the least of some turns; a commit to compare
with runs in turns with this tree, in a separate worktree, and must print the same bytes.
`--tables` has the processor seconds that each kernel and each part takes to compile, without those
of the parts that it calls.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parents[1]
N_RUNS, N_TOPICS, DEPTH, JUDGED = 20, 50, 100, 120
ANSWERS = ("--format", "json", "--quiet")

COMMANDS = {
    "evaluate": ["evaluate", "qrels.txt", "runs/team0_run00.txt", "runs/team1_run01.txt", *ANSWERS],
    "compare": ["compare", "qrels.txt", "runs/team0_run00.txt", "runs/team1_run01.txt", *ANSWERS],
    "simulate": ["simulate", "qrels.txt", "runs", *ANSWERS],
    "demo": ["demo", "--quiet"],
    "report": ["report", "qrels.txt", "runs", "--out", "report.html", "--quiet"],
}


@dataclass(frozen=True, slots=True)
class Taken:
    """The time of a process, and a digest of its output."""

    wall: float
    processor: float
    answer: str


def write_track(folder: Path) -> None:
    """Write runs of five teams, and judgments, as TREC text."""
    rng = np.random.default_rng(0)
    (folder / "runs").mkdir(parents=True)
    relevant = rng.random((N_TOPICS, JUDGED)) < 0.2
    with open(folder / "qrels.txt", "w") as out:
        for t, grades in enumerate(relevant * rng.integers(1, 3, relevant.shape)):
            out.writelines(f"{301 + t} 0 doc-{d} {grade}\n" for d, grade in enumerate(grades))
    for r in range(N_RUNS):
        name = f"team{r % 5}_run{r:02d}"
        with open(folder / "runs" / f"{name}.txt", "w") as out:
            for t in range(N_TOPICS):
                scores = rng.normal(size=2 * JUDGED)
                scores[:JUDGED] += (0.5 + 0.05 * r) * relevant[t]
                for rank, d in enumerate(np.argsort(-scores)[:DEPTH], 1):
                    out.write(f"{301 + t} Q0 doc-{d} {rank} {scores[d]:.6f} {name}\n")


def timed(tree: Path, command: list[str], folder: Path, cache: Path) -> Taken:
    """Run a command of a tree in a new process that keeps its kernels in `cache`."""
    environment = _environment(tree, cache)
    words = [sys.executable, "-c", "from steadyrank.cli import main; main()", *command]
    with tempfile.TemporaryFile() as printed:
        started = time.perf_counter()
        child = subprocess.Popen(words, cwd=folder, env=environment, stdout=printed)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        answer = printed.read()
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} left with {child.returncode} in {tree}")
    digest = hashlib.sha256(answer).hexdigest()[:12]
    return Taken(wall, usage.ru_utime + usage.ru_stime, digest)


_UNUSUAL = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
"""Compile the byte code, as in an installed package."""


def _environment(tree: Path, cache: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _UNUSUAL}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(HERE)]),
        "NUMBA_CACHE_DIR": str(cache),
    }


def first_and_second(tree: Path, name: str, track: Path) -> tuple[Taken, Taken]:
    """Return the time of a command with an empty cache, then with the filled one."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, cache = Path(scratch, "track"), Path(scratch, "cache")
        shutil.copytree(track, folder)
        cache.mkdir()
        first = timed(tree, COMMANDS[name], folder, cache)
        return first, timed(tree, COMMANDS[name], folder, cache)


def compile_seconds(tree: Path, name: str, track: Path) -> dict[str, tuple[int, float]]:
    """Return the number and the seconds of compilations per kernel, from a new process."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, cache = Path(scratch, "track"), Path(scratch, "cache")
        shutil.copytree(track, folder)
        cache.mkdir()
        words = [sys.executable, "-m", "bench.cold", "--record", "table.json", *COMMANDS[name]]
        environment = _environment(tree, cache)
        subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
        return {
            kernel: (count, seconds)
            for kernel, count, seconds in json.loads((folder / "table.json").read_text())
        }


def record(place: Path, command: list[str]) -> None:
    """Run a command in this process and write the compile time of each kernel."""
    import numba.core.event as events

    own: dict[str, list[float]] = collections.defaultdict(list)

    class Recorder(events.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            stack.append([time.thread_time(), 0.0])

        def on_end(self, event: Any) -> None:
            started, inside = stack.pop()
            seconds = time.thread_time() - started
            function = event.data["dispatcher"].py_func
            own[f"{function.__module__}.{function.__qualname__}"].append(seconds - inside)
            if stack:
                stack[-1][1] += seconds

    stack: list[list[float]] = []
    events.register("numba:compile", Recorder())
    from steadyrank.cli import run

    code = run(command)
    rows = [[name, len(seconds), sum(seconds)] for name, seconds in own.items()]
    place.write_text(json.dumps(sorted(rows, key=lambda row: -row[2])))
    raise SystemExit(code)


@contextlib.contextmanager
def worktree(commit: str) -> Iterator[Path]:
    """Yield the tree of a commit in a temporary worktree."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch, "before")
        git = ["git", "-C", str(HERE), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def compare_trees(trees: dict[str, Path], name: str, track: Path, turns: int) -> None:
    """Print one command's seconds in each tree, cold and warm, least of the turns."""
    takes: dict[tuple[str, str], list[Taken]] = collections.defaultdict(list)
    for _ in range(turns):
        for label, tree in trees.items():
            first, second = first_and_second(tree, name, track)
            takes[label, "cold"].append(first)
            takes[label, "warm"].append(second)
    for (label, state), taken in sorted(takes.items(), key=lambda item: item[0][1]):
        wall = min(turn.wall for turn in taken)
        processor = min(turn.processor for turn in taken)
        print(f"{name:10} {state:5} {label:7} {wall:7.2f} s wall {processor:7.2f} s processor")
    answers = {turn.answer for taken in takes.values() for turn in taken}
    print(f"{name:10} {'the same bytes' if len(answers) == 1 else f'{len(answers)} answers'}")


def print_table(name: str, trees: dict[str, Path], track: Path) -> None:
    """Print compile seconds per kernel of one command, the dearest first."""
    tables = {label: compile_seconds(tree, name, track) for label, tree in trees.items()}
    kernels = sorted(
        {kernel for table in tables.values() for kernel in table},
        key=lambda kernel: -max(table.get(kernel, (0, 0.0))[1] for table in tables.values()),
    )
    totals = {label: sum(row[1] for row in table.values()) for label, table in tables.items()}
    print(f"\n{name}: seconds to compile, number of compilations")
    print(
        "  ".join(
            f"{label:>6} {total:6.2f} {len(tables[label]):3}" for label, total in totals.items()
        )
    )
    for kernel in kernels[:40]:
        cells = [tables[label].get(kernel, (0, 0.0)) for label in trees]
        print("  ".join(f"{seconds:13.3f} {count:3}" for count, seconds in cells), f" {kernel}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commands", nargs="*", metavar="COMMAND", default=list(COMMANDS))
    parser.add_argument("--before", metavar="COMMIT")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--tables", action="store_true", help="compile seconds per kernel instead")
    if sys.argv[1:2] == ["--record"]:
        record(Path(sys.argv[2]), sys.argv[3:])
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        track = Path(stack.enter_context(tempfile.TemporaryDirectory()), "track")
        write_track(track)
        trees = {"now": HERE}
        if options.before:
            trees = {"before": stack.enter_context(worktree(options.before)), **trees}
        for name in options.commands:
            if options.tables:
                print_table(name, trees, track)
            else:
                compare_trees(trees, name, track, options.turns)


if __name__ == "__main__":
    main()
