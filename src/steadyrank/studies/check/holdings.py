"""What files of scores, battles or judgments hold, and which questions they can answer."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from steadyrank.data.facets import averaged_facets, facets_of
from steadyrank.data.leaderboard import Leaderboard
from steadyrank.data.scores import Scores
from steadyrank.notebook import Exhibit, shown_by
from steadyrank.present.view import Col, Finding, TableSpec, View
from steadyrank.words import counted, listed

FEWEST_TOPICS = 10
"""Topics that a gate requires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureHeld:
    """A measure, or a dataset of a leaderboard."""

    name: str
    better: str
    """"higher", "lower", "neither" or "unknown"."""
    runs: int
    cells: int
    missing: int
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about these files: the command that answers it, or what it requires."""

    question: str
    command: str
    requires: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("studies.check.holdings:VIEW.text")
class Holdings(Exhibit):
    """What files hold: their measures, and the questions that they can answer."""

    said: str
    """Kind, form and size, in words."""
    measures: tuple[MeasureHeld, ...]
    questions: tuple[Question, ...]


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


def _held(name: str, better: str, values: np.ndarray) -> MeasureHeld:
    values = values[:, ~np.isnan(values).all(axis=0)]  # other topics are of other measures
    known = values[~np.isnan(values)]
    return MeasureHeld(
        name=name,
        better=better,
        runs=int((~np.isnan(values)).any(axis=1).sum()),
        cells=values.size,
        missing=values.size - known.size,
        lowest=float(known.min()) if known.size else float("nan"),
        highest=float(known.max()) if known.size else float("nan"),
    )


def _asked(question: str, requires: str, command: str, *words: str) -> Question:
    line = shlex.join(["steadyrank", command, *words]).replace("'RUN...'", "RUN...")
    return Question(question=question, command="" if requires else line, requires=requires)


def _of_scores(scores: Scores, files: Sequence[str]) -> Iterator[Question]:
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


def _findings(result: Holdings) -> list[Finding]:
    said = [Finding("check.held", f"{result.said}.", {})]
    n_open = sum(row.better == "unknown" for row in result.measures)
    if n_open:
        text = (
            f"The direction of {counted(n_open, 'measure')} is unknown: give --lower-is-better or "
            "--higher-is-better."
        )
        said.append(Finding("check.unknown", text, {"n_unknown": n_open}))
    lost = [row for row in result.measures if row.missing]
    if lost:
        n, total = sum(row.missing for row in lost), sum(row.cells for row in result.measures)
        text = f"{n:,} of {total:,} scores are missing."
        said.append(Finding("check.missing", text, {"n_missing": n, "n_cells": total}))
    return said


MEASURES = TableSpec(
    id="held",
    rows=lambda result: [asdict(row) for row in result.measures],
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
        {"question": row.question, "command": row.command or f"requires {row.requires}"}
        for row in result.questions
    ],
    columns=(Col("question", form="name"), Col("command", form="name")),
    n_names=2,
)
VIEW = View(findings=_findings, tables=(MEASURES, QUESTIONS), fields=asdict, csv="questions")
