"""What `check` found, as a table of runs and a list of findings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from steadyrank.measures.check import DEPTHS, CheckResult
from steadyrank.present.cells import name, number, percent, without_constant
from steadyrank.present.json import to_json
from steadyrank.present.table import Cell, Table, render, text_rows, with_words
from steadyrank.words import counted


def check_text(result: CheckResult, form: str, **looks: Any) -> str:
    """The result in one of the output formats; CSV holds the runs alone."""
    if form == "json":
        return to_json({**asdict(result), "sound": result.is_sound})
    runs = _runs_table(result, exact=form == "csv")
    if form == "csv":
        return render(runs, form)
    if not result.findings:
        return with_words([], [runs], ["Nothing wrong, nothing odd."], form, **looks)
    return with_words([], [runs, _findings_table(result)], [], form, **looks)


def _runs_table(result: CheckResult, *, exact: bool) -> Table:
    """A row per run; what is the same for all is said once, but in `exact` columns."""
    shares = [f"judged@{depth}" for depth in DEPTHS]
    header = ["run", "topics", "missing", "unjudged topics", "depth", *shares, "tied"]
    cells = [
        [
            name(row.run),
            *(number(count, "d") for count in (row.topics, row.missing, row.unknown)),
            Cell(
                f"{row.shallowest}–{row.deepest}"
                if row.shallowest < row.deepest
                else str(row.deepest)
            ),
            *map(percent, (*row.judged, row.tied)),
        ]
        for row in result.runs
    ]
    header, rows, same = without_constant(header, cells) if not exact else (header, cells, "")
    judged = f"{counted(result.n_judgments, 'judgment')} of {counted(result.n_topics, 'topic')}."
    return Table(header=header, rows=rows, caption=f"{judged} {same}".strip())


def _findings_table(result: CheckResult) -> Table:
    wrong = sum(finding.level == "wrong" for finding in result.findings)
    return Table(
        header=["", "where", "what"],
        rows=text_rows([f.level, f.where, f.what] for f in result.findings),
        n_names=3,
        best=frozenset((i, 0) for i, f in enumerate(result.findings) if f.level == "wrong"),
        caption=f"{wrong} wrong, {len(result.findings) - wrong} odd.",
    )
