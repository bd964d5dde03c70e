"""Summarise docs/evidence/*.csv: tables and pictures of levels.md, coverage.md, battles.md.

    python -m bench.levels > docs/evidence/levels.csv
    python -m bench.coverage > docs/evidence/coverage.csv
    python -m bench.levels.battles > docs/evidence/battles.csv
    python docs/make_evidence.py

The tables go between `<!-- evidence: NAME -->` and `<!-- end -->` of the pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steadyrank.present.figures import svg_text

DOCS = Path(__file__).parent
COLOURS = {"error": "#D55E00", "fine": "#0072B2", "cautious": "#999999"}


def levels() -> pd.DataFrame:
    """Return the counted levels, one row per test, data, number of topics and level."""
    return pd.read_csv(DOCS / "evidence" / "levels.csv")


def coverage() -> pd.DataFrame:
    """Return the counted coverages, one row per interval and setting."""
    return pd.read_csv(DOCS / "evidence" / "coverage.csv")


def levels_table(rows: pd.DataFrame) -> str:
    """Return one line per section: what the tests did at level .05."""
    rows = rows[(rows.level == 0.05) & ~rows.verdict.str.contains("not its null")]
    lines = ["section", "tests", "settings", "exceed .05", "below .05", "highest rate"]
    cells = []
    for section, own in rows.groupby("section", sort=False):
        sound = own[own["mode"] == "sound"]
        top = sound.loc[sound.rate.idxmax()] if len(sound) else own.loc[own.rate.idxmax()]
        # Papers' modes and uncorrected tests are counted, and do not represent the section.
        highest = f"{_share(top.rate)}: {top.test}, {top.data}, {top.topics} topics"
        counts = [int((own.verdict == kind).sum()) for kind in ("exceeds", "below")]
        cells.append([section, own.test.nunique(), len(own), *counts, highest])
    return _markdown(lines, cells)


def coverage_table(rows: pd.DataFrame) -> str:
    """Return one line per study: how many settings miss the nominal coverage."""
    cells = []
    for study, own in rows.groupby("study", sort=False):
        counts = [int((own.verdict == kind).sum()) for kind in ("short", "wide")]
        low = own.loc[(own.covered - own.nominal).idxmin()]
        lowest = f"{_share(low.covered)}: {low.interval}, {low.setting}"
        cells.append([study, own.interval.nunique(), len(own), *counts, lowest])
    lines = ["study", "intervals", "settings", "short", "wide", "lowest coverage"]
    return _markdown(lines, cells)


def battles() -> pd.DataFrame:
    """Return the counts of `battles`, one row per design and size."""
    return pd.read_csv(DOCS / "evidence" / "battles.csv")


def battles_table(rows: pd.DataFrame) -> str:
    """Return one line per design and size."""
    chosen = rows.itertuples()
    cells = [
        [
            _battle_words(row),
            row.models,
            row.prompts,
            row.trials,
            *map(_share, (row.independent, row.any_claim, row.all_held, row.pair_held)),
        ]
        for row in chosen
    ]
    lines = ["battles", "models", "prompts", "experiments", "independent", "any claim"]
    return _markdown([*lines, "all held", "pair held"], cells)


def _battle_words(row: Any) -> str:
    more = [
        *(["no prompt effects"] if row.prompt_sd == 0 else []),
        *([f"{row.ties:.0%} ties"] if row.ties else []),
        *([f"{row.voters} voters"] if row.voters else []),
    ]
    return ", ".join([row.design, *more])


def levels_figure(rows: pd.DataFrame) -> Figure:
    """Return rates of false claims at level .05, a line per section."""
    rows = rows[(rows.level == 0.05) & ~rows.verdict.str.contains("not its null")]
    figure = Figure(figsize=(7.2, 6.2), layout="constrained")
    ax = figure.subplots()
    kinds = {"exceeds": "error", "not shown to exceed": "fine", "below": "cautious"}
    _dots(ax, rows, "section", rows.rate, rows.verdict.map(kinds))
    ax.axvline(0.05, color="black", linewidth=0.8, linestyle="--")
    ax.set_xlabel("rate of false claims at level .05 (hollow: a paper's own mode)")
    ax.set_xscale("symlog", linthresh=0.1)
    ax.set_xticks([0, 0.02, 0.05, 0.1, 0.2, 0.5, 1], ["0", ".02", ".05", ".1", ".2", ".5", "1"])
    return figure


def coverage_figure(rows: pd.DataFrame) -> Figure:
    """Return the coverage of intervals with a nominal .95, a line per study."""
    rows = rows[rows.nominal == 0.95]
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    ax = figure.subplots()
    kinds = {"short": "error", "not shown to miss": "fine", "wide": "cautious"}
    _dots(ax, rows, "study", rows.covered, rows.verdict.map(kinds))
    ax.axvline(0.95, color="black", linewidth=0.8, linestyle="--")
    ax.set_xlabel("share of 95% intervals that covered the truth")
    return figure


def _dots(ax: Axes, rows: pd.DataFrame, line: str, values: pd.Series, kinds: pd.Series) -> None:
    lines = list(dict.fromkeys(rows[line]))
    places = rows[line].map(lines.index) + (rows.groupby(line).cumcount() % 7 - 3) / 12
    hollow = rows["mode"] == "paper" if "mode" in rows else rows[line] == ""
    for kind, colour in COLOURS.items():
        for is_hollow in (False, True):
            own = (kinds == kind) & (hollow == is_hollow)
            face = "none" if is_hollow else colour
            ax.scatter(values[own], places[own], s=9, facecolors=face, edgecolors=colour, lw=0.7)
    ax.set_yticks(range(len(lines)), [str(name).partition(":")[0] for name in lines], fontsize=7)
    ax.invert_yaxis()
    ax.grid(axis="x", alpha=0.3)


def _share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0") if value < 1.0 else "1.000"


def _markdown(header: list[str], rows: Iterable[list[object]]) -> str:
    ruler = ["---" if name in (header[0], header[-1]) else "---:" for name in header]
    lines = [header, ruler, *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def filled(text: str, name: str, table: str) -> str:
    """Return the text of a page with this table between its marks."""
    pattern = rf"(<!-- evidence: {name} -->\n)(.*?)(<!-- end -->)"
    made, n_places = re.subn(pattern, lambda m: f"{m[1]}\n{table}\n\n{m[3]}", text, flags=re.DOTALL)
    if n_places != 1:
        raise ValueError(f"{name}: expected one place for the table, found {n_places}")
    return made


TABLES = {
    "levels": (levels, levels_table),
    "coverage": (coverage, coverage_table),
    "battles": (battles, battles_table),
}
FIGURES = {"levels": (levels, levels_figure), "coverage": (coverage, coverage_figure)}


def main() -> None:
    """Write the pages and the pictures."""
    for name, (rows, table) in TABLES.items():
        page = DOCS / f"{name}.md"
        page.write_text(filled(page.read_text("utf-8"), name, table(rows())), "utf-8")
    for name, (rows, figure) in FIGURES.items():
        drawn = figure(rows())
        path = DOCS / "images" / f"{name}.svg"
        path.write_text(svg_text(drawn), "utf-8")


if __name__ == "__main__":
    main()
