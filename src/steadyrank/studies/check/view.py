"""Sentences, tables and the section of `check`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from steadyrank.measures.check import DEPTHS, CheckResult
from steadyrank.present.table import Cell
from steadyrank.present.view import Col, Finding, TableSpec, View, Words
from steadyrank.studies.material import NO_RUNS
from steadyrank.studies.part import Findings, Front, part_of
from steadyrank.words import counted, number_word


def findings(result: CheckResult) -> list[Finding]:
    """Return the numbers of errors and oddities; the table lists them."""
    n_wrong = sum(found.level == "wrong" for found in result.findings)
    n_odd = len(result.findings) - n_wrong
    errors = f"{counted(n_wrong, 'error')}: results would be wrong" if n_wrong else "No errors"
    odd = counted(n_odd, "oddity", "oddities") if n_odd else "nothing odd"
    text = f"{errors}; {odd} in the files."
    return [Finding("check.files", text, {"n_wrong": n_wrong, "n_odd": n_odd})]


def _run_rows(result: CheckResult) -> list[dict[str, Any]]:
    return [
        {
            "run": row.run,
            "topics": row.topics,
            "missing": row.missing,
            "unjudged topics": row.unknown,
            "depth": "–".join(map(str, sorted({row.shallowest, row.deepest}))),
            **dict(zip(SHARES, row.judged, strict=True)),
            "tied": row.tied,
        }
        for row in result.runs
    ]


SHARES = tuple(f"judged@{depth}" for depth in DEPTHS)
FOUND = TableSpec(
    id="findings",
    rows=lambda result: [asdict(found) for found in result.findings],
    columns=tuple(Col(key, form="name") for key in ("level", "where", "what")),
    best=lambda result: "" if result.is_sound else "level",
    n_names=3,
)
RUNS = TableSpec(
    id="runs-checked",
    rows=_run_rows,
    columns=(
        Col("run", form="name"),
        *(Col(key, form="count") for key in ("topics", "missing", "unjudged topics")),
        Col("depth", form=lambda row: Cell(row["depth"], float(row["depth"].rpartition("–")[2]))),
        *(Col(key, form="percent", about="share among the first documents") for key in SHARES),
        Col("tied", form="percent", about="share of documents whose score another one has"),
    ),
    caption=lambda result: (
        f"{counted(result.n_judgments, 'judgment')} of {counted(result.n_topics, 'topic')}; grades "
        + ", ".join(f"{grade} ({count:,})" for grade, count in result.grades.items())
        + "."
    ),
    opened=10,
)


def fields(result: CheckResult) -> dict[str, Any]:
    """Return the keys of the JSON output."""
    found = [
        {
            **row,
            "id": f"check.{row['level']}.{place}",
            "text": f"{row['where']}: {row['what']}",
            "values": {},
        }
        for place, row in enumerate(FOUND.rows(result), start=1)
    ]
    grades = [{"grade": grade, "count": count} for grade, count in result.grades.items()]
    return {**asdict(result), "grades": grades, "findings": found, "sound": result.is_sound}


VIEW = View(
    words=Words(
        title="The files",
        question="What is wrong or odd with these files?",
        means=(
            "Findings marked wrong would make results wrong; check odd ones before you draw "
            "conclusions."
        ),
        means_not="Files without findings may have incomplete judgments or incomparable runs.",
    ),
    findings=findings,
    tables=(FOUND, RUNS),
    csv="runs-checked",
    fields=fields,
)


def _front(result: CheckResult, findings: Findings) -> Front:
    wrong = [found for found in result.findings if found.level == "wrong"]
    if not wrong:
        return Front()
    more = "" if len(wrong) == 1 else f" (and {number_word(len(wrong) - 1)} more)"
    text = f"Results may be wrong: {wrong[0].where}: {wrong[0].what}{more}."
    return Front(cautions=(Finding("check.wrong", text, {"n_wrong": len(wrong)}),))


PART = part_of(
    VIEW,
    run=lambda job: job.material.check,
    is_read=True,
    front=_front,
    why_not=lambda material: (
        "" if material.runs is not None else f"{NO_RUNS}: there are no files of runs to check"
    ),
)
