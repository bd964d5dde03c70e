"""The common commands of two revisions, side by side: ratios, not seconds.

    .ci/benchmark main            or: python -m bench.ratios OLD/src NEW/src

Both revisions run on the same files with the same libraries, turn by turn, each in a new process
after one that compiles; compared is processor time. Above 1, the new revision takes longer.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import steadyrank as sr

COMMANDS = {
    "start (`--version`)": "--version",
    "evaluate, 24 runs × 60 topics": "evaluate qrels.txt runs -m AP -m nDCG@10",
    "compare, 276 pairs, max-t": "compare --scores scores.parquet -m AP",
    "compare, randomization": "compare --scores scores.parquet -m AP --test randomization",
    "simulate, 1,000 collections": "simulate qrels.txt runs -m nDCG@10 --samples 1000",
    "topics": "topics --scores scores.parquet -m AP",
    "holes": "holes qrels.txt runs -m nDCG@10",
}
NOTED = 1.10
"""Ratios above this are marked."""


def write_inputs(folder: Path) -> None:
    track = sr.simulated_track(n_teams=12, runs_per_team=2, n_topics=60, depth=200, rng=1)
    track.write(folder)
    scores = sr.evaluate(track.runs, track.qrels, ["AP"], no_relevant="skip")
    sr.write_scores(scores, folder / "scores.parquet")


def processor_seconds(source: Path, command: str, folder: Path) -> float:
    """Return the processor time of a command and its children."""
    before = os.times()
    subprocess.run(
        [sys.executable, "-m", "steadyrank", *command.split(), *quiet(command)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(source.resolve()), "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = os.times()
    return (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )


def quiet(command: str) -> list[str]:
    return [] if command.startswith("--") else ["--quiet"]


def measured(old: Path, new: Path, command: str, folder: Path, turns: int) -> list[float]:
    """Return the ratio of each turn, both revisions one after the other."""
    for source in (old, new):
        processor_seconds(source, command, folder)
    pairs = []
    for turn in range(turns):
        both = [(old, new), (new, old)][turn % 2]
        taken = {source: processor_seconds(source, command, folder) for source in both}
        pairs.append(taken[new] / taken[old])
    return pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    started = time.monotonic()
    print("| command | ratio | quartiles | |\n|---|---:|---:|---|")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_inputs(folder)
        for name, command in COMMANDS.items():
            ratios = measured(given.old, given.new, command, folder, given.turns)
            low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
            mark = "slower" if low > NOTED else "faster" if high < 1 / NOTED else ""
            print(f"| {name} | {middle:.2f} | {low:.2f} to {high:.2f} | {mark} |", flush=True)
    print(
        f"\nProcessor time of this revision over that of the base, median of {given.turns} turns; "
        f"marked where three quarters of the turns differ by more than 10 %. "
        f"{time.monotonic() - started:.0f} s in all."
    )


if __name__ == "__main__":
    main()
