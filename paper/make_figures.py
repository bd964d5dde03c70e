"""Draw the figures of paper.md.

python paper/make_figures.py [FOLDER]

`rank_sets.png` is a simulated track, whose true order is known; `levels.png` draws the rates of
docs/evidence/families.csv, so that figure and documentation have the same numbers.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import steadyrank as sr

PAPER = Path(__file__).parent
LEVELS = PAPER.parent / "docs" / "evidence" / "families.csv"
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"


def simulated() -> tuple[sr.CompareResult, list[int]]:
    """A comparison of the runs of a simulated track, and the true rank of each."""
    track = sr.simulated_track(n_teams=20, runs_per_team=1, n_topics=50, depth=100, pool_depth=100)
    scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    result = sr.compare(scores)
    many = sr.simulated_track(n_teams=20, runs_per_team=1, n_topics=1000, depth=100, pool_depth=100)
    means = sr.evaluate(many.runs, many.complete, "AP").mean()[0]
    of_system = dict(zip(track.truth.systems, means, strict=True))
    return result, [1 + int((means > of_system[run]).sum()) for run in result.runs]


def rank_sets() -> Figure:
    """Observed rank, true rank and rank set of each run."""
    result, true_rank = simulated()
    figure = Figure(figsize=(5.2, 3.6), layout="constrained")
    ax = figure.subplots()
    order = np.argsort(result.rank, kind="stable")
    for row, run in enumerate(order):
        ax.plot(result.rank_set[run], [row, row], color=BLUE, linewidth=2)
        ax.plot(result.rank[run], row, "o", color="black", markersize=4)
        ax.plot(true_rank[run], row, "D", color=ORANGE, markersize=5, fillstyle="none")
    ax.set_yticks(range(len(order)), [result.runs[run] for run in order], fontsize=7)
    ax.invert_yaxis()
    ax.set_xticks([1, 5, 10, 15, 20])
    ax.set_xlabel("rank by mean AP: observed (dot), true (diamond), rank set (line)", fontsize=8)
    ax.grid(axis="x", alpha=0.3)
    return figure


def level_rows(text: str) -> list[tuple[str, int, list[float]]]:
    """Return the rows of the families on asymmetric scores: data, topics, the five rates."""
    rows = list(csv.reader(text.splitlines()))[1:]
    return [(name, int(n), [float(x) for x in rates]) for name, n, *rates in rows]


def levels() -> Figure:
    """Any false claim among all pairs of 25 runs, by three corrections, on scores made equal."""
    rows = [row for row in level_rows(LEVELS.read_text("utf-8")) if row[0][0].isupper()]
    figure = Figure(figsize=(5.2, 4.6), layout="constrained")
    ax = figure.subplots()
    places = np.arange(len(rows))
    drawn = (("sign flips of t", 0, ORANGE, "s"), ("Holm's t tests", 2, GREEN, "^"))
    for label, column, colour, marker in (*drawn, ("default (corrected t)", 1, BLUE, "o")):
        rates = [rates[column] for _, _, rates in rows]
        ax.plot(rates, places, marker, color=colour, markersize=4, label=label)
    ax.axvline(0.05, color="black", linewidth=0.8, linestyle="--")
    units = ["tasks" if name.startswith("MTEB") else "topics" for name, _, _ in rows]
    labels = [f"{name}: {n} {unit}" for (name, n, _), unit in zip(rows, units, strict=True)]
    ax.set_yticks(places, labels, fontsize=6)
    ax.invert_yaxis()
    ax.set_xlim(0.0, None)
    ax.set_xlabel("any false claim among 300 pairs (nominal: .05)", fontsize=8)
    ax.tick_params(axis="x", labelsize=7)
    ax.legend(fontsize=7, frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    ax.grid(alpha=0.3)
    return figure


FIGURES = {"rank_sets": rank_sets, "levels": levels}


def make(folder: Path) -> None:
    """Draw all of them into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        draw().savefig(folder / f"{name}.png", dpi=160, metadata={"Software": None})


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else PAPER / "figures")
