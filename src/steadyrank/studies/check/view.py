"""What `check` says: errors in runs and judgments, or what other files hold and can answer."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from steadyrank.data.facets import averaged_facets, facets_of
from steadyrank.data.leaderboard import Leaderboard
from steadyrank.data.scores import Scores
from steadyrank.measures.check import DEPTHS, CheckResult
from steadyrank.notebook import Exhibit, shown_by
from steadyrank.present.table import Cell
from steadyrank.present.view import Col, Finding, Row, TableSpec, View, Words
from steadyrank.studies.material import NO_RUNS
from steadyrank.studies.part import Findings, Front, part_of
from steadyrank.words import counted, listed, number_word


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

FEWEST_TOPICS = 10
"""Topics that a gate requires."""


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("studies.check.view:HELD.text")
class Holdings(Exhibit):
    """What files hold: their measures, and the questions that they can answer."""

    said: str
    """Kind, form and size, in words."""
    measures: tuple[Row, ...]
    """Of each measure, or dataset of a leaderboard, its name, direction, sizes and range."""
    questions: tuple[Row, ...]
    """Questions, the commands that answer them, or what these require."""


def holdings(data: Any, said: str, files: Sequence[str]) -> Holdings:
    """Return what was read from these files, and the commands that take them."""
    if isinstance(data, Scores):
        means = averaged_facets(data)
        measures = zip(means.measures, means.values, strict=True)
        held = [_held(name, data.directions[name], values) for name, values in measures]
        questions = list(_of_scores(data, files))
    elif isinstance(data, Leaderboard):
        columns = zip(data.datasets, data.values.T, strict=True)
        held = [_held(name, data.directions[name], values[:, None]) for name, values in columns]
        requires = "" if len(data.runs) > 1 and len(data.datasets) > 1 else "two runs and datasets"
        questions = [
            _asked("Would other datasets change the leaderboard?", requires, "datasets", *files),
            _asked("Everything on one page?", requires, "report", *files),
        ]
    else:
        is_battles = type(data).__name__ == "Battles"
        command = ["battles", *files] if is_battles else ["evaluate", *files, "RUN..."]
        question = "Which model wins?" if is_battles else "How good are my runs?"
        held, questions = [], [_asked(question, "", *command)]
    return Holdings(said=said, measures=tuple(held), questions=tuple(questions))


def _held(name: str, better: str, values: np.ndarray) -> Row:
    values = values[:, ~np.isnan(values).all(axis=0)]  # other topics are of other measures
    known = values[~np.isnan(values)]
    return {
        "name": name,
        "better": better,
        "runs": int((~np.isnan(values)).any(axis=1).sum()),
        "cells": values.size,
        "missing": values.size - known.size,
        "lowest": float(known.min()) if known.size else float("nan"),
        "highest": float(known.max()) if known.size else float("nan"),
    }


def _asked(question: str, requires: str, command: str, *words: str) -> Row:
    line = shlex.join(["steadyrank", command, *words]).replace("'RUN...'", "RUN...")
    return {"question": question, "command": "" if requires else line, "requires": requires}


def _of_scores(scores: Scores, files: Sequence[str]) -> Iterator[Row]:
    """The questions that scores by topic answer, and what they lack for others."""
    systems = dict.fromkeys(scores.run_info.get("system", scores.runs))
    ranked = [name for name, way in scores.directions.items() if way in ("higher", "lower")]
    named = ["-m", ranked[0]] if len(scores.measures) > 1 and ranked else []
    pair = "" if len(systems) > 1 else "a second run"
    unclear = "" if ranked else "a measure whose direction is known (--lower-is-better NAME)"
    pair = pair or unclear
    yield _asked("Which run is best, and could another be?", pair, "compare", *files, *named)
    few = pair or ("" if len(scores.topics) >= FEWEST_TOPICS else f"{FEWEST_TOPICS} topics")
    both = [word for file in files for word in ("--scores", file)]
    names = [*systems][:2]
    margin = [f"{name}=0.01" for name in ranked[:1]]
    gate = [*both, *names, "-m", *margin]
    yield _asked("May the second run replace the first?", few, "gate", *gate)
    yield _asked("Would other topics change the order?", pair, "topics", *files, *named)
    yield _asked("How many topics should the next test have?", pair, "plan", *files, *named)
    facets = [f"{name}s" for name in facets_of(scores)]
    also = f" And {listed(facets)}?" if facets else ""
    yield _asked(f"How reliable are the scores?{also}", pair, "stability", *files, *named)
    more = pair or ("" if len(ranked) > 1 else "a second measure")
    yield _asked("Do the measures rank alike?", more, "agree", *files)
    yield _asked("Everything on one page?", pair, "report", *files)
    if "judge" not in facets_of(scores):
        yield _asked("Do graders agree?", "a column judge with two graders", "stability")
    yield _asked("What do unjudged documents change?", "judgments and runs: QRELS RUN...", "holes")


def _held_findings(result: Holdings) -> list[Finding]:
    said = [Finding("check.held", f"{result.said}.", {})]
    n_open = sum(row["better"] == "unknown" for row in result.measures)
    if n_open:
        text = (
            f"The direction of {counted(n_open, 'measure')} is unknown: give --lower-is-better or "
            "--higher-is-better."
        )
        said.append(Finding("check.unknown", text, {"n_unknown": n_open}))
    n, total = (sum(row[key] for row in result.measures) for key in ("missing", "cells"))
    if n:
        text = f"{n:,} of {total:,} scores are missing."
        said.append(Finding("check.missing", text, {"n_missing": n, "n_cells": total}))
    return said


MEASURES = TableSpec(
    id="held",
    rows=lambda result: list(result.measures),
    columns=(
        Col("name", "measure", "name"),
        Col("better", "better if", "name"),
        *(Col(key, form="count") for key in ("runs", "cells", "missing")),
        *(Col(key, form="plain") for key in ("lowest", "highest")),
    ),
)
QUESTIONS = TableSpec(
    id="questions",
    rows=lambda result: [
        {"question": row["question"], "command": row["command"] or f"requires {row['requires']}"}
        for row in result.questions
    ],
    columns=(Col("question", form="name"), Col("command", form="name")),
    n_names=2,
)
HELD = View(findings=_held_findings, tables=(MEASURES, QUESTIONS), fields=asdict, csv="questions")
