"""Scores as JSON: pytrec_eval and ir_measures, Elasticsearch's _rank_eval, and logs of evaluations
of language models, where a sample is a topic (lm-eval-harness, Inspect).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from steadyrank.data.interop.frames import check_name, json_rows, one_column, twin_columns
from steadyrank.data.read.json_text import as_text, describe, key_lines, value_of
from steadyrank.data.read.limits import BOM
from steadyrank.data.read.score_cells import Cell, cell_value, scores_of_cells
from steadyrank.data.read.sources import base_name
from steadyrank.data.read.table_rules import tell
from steadyrank.data.scores import Scores
from steadyrank.errors import FormatError
from steadyrank.words import counted

SUMMARY = "all"

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Inspect's verdicts: correct, partial, incorrect, no answer; the values are Inspect's own."""


_SAMPLES = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?\.\w+")
"""The name of a file of lm-eval-harness, which holds the task."""

_LOG = re.compile(rb'\s*\{\s*"(?:metric_score|version|status)"\s*:')


def is_log(head: bytes) -> bool:
    """Whether a file begins as _rank_eval's answers and Inspect's logs do, be it on one line."""
    return _LOG.match(head) is not None


def read_json_scores(path: Path, stream: BinaryIO, measure: str | None) -> Scores:
    """The scores of an opened JSON file that is one value; `measure` names one without a name."""
    content = stream.read().removeprefix(BOM)
    value = value_of(path, content)
    if not isinstance(value, dict):
        expected = "one JSON object, {topic: {measure: value}}"
        raise FormatError(path, f"expected {expected}, got {describe(value)}", 1)
    task: Any = ""
    if isinstance(value.get("details"), dict) and "metric_score" in value:
        cells, tool = _rank_eval(path, value["details"], measure), "_rank_eval"
        _tell_of_failures(path, value["details"], value.get("failures"))
    elif isinstance(value.get("eval"), dict) and "version" in value:
        cells, tool, task = _inspect(path, value), "Inspect", value["eval"].get("task")
    else:
        cells, tool = _nested(path, as_text(content), value), "pytrec_eval"
    task = task if isinstance(task, str) else ""
    return scores_of_cells(path, list(cells), run=base_name(path), tool=tool, task=task)


def _nested(path: Path, text: str, value: dict[str, Any]) -> Iterator[Cell]:
    """Cells of {topic: {measure: value}}, or of {run: {topic: {measure: value}}}."""
    inner = next((row for row in value.values() if isinstance(row, dict) and row), {})
    by_run = any(isinstance(cells, dict) for cells in inner.values())
    runs = value if by_run else {"": value}
    lines = iter(key_lines(text, 3 if by_run else 2))
    for run, topics in runs.items():
        for topic, cells in _objects(path, topics, f"run {run!r}" if run else "the file"):
            for measure, cell in _measures(path, cells, topic):
                line = next(lines, None)
                yield Cell(measure, run, topic, cell_value(path, cell, line), line)


def _objects(path: Path, value: Any, where: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        got = f"{describe(value)} in {where}"
        raise FormatError(path, f"expected {{topic: {{measure: value}}}}, got {got}")
    for name, inner in value.items():
        check_name(path, "topic", name, None)
        yield name, inner


def _measures(path: Path, cells: Any, topic: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(cells, dict):
        got = f"{describe(cells)} for topic {topic[:40]!r}"
        raise FormatError(path, f"expected {{measure: value}}, got {got}")
    for name, value in cells.items():
        check_name(path, "measure", name, None)
        yield name, value


def _rank_eval(path: Path, details: dict[str, Any], measure: str | None) -> Iterator[Cell]:
    """A topic per request; the metric names itself in the details of each."""
    for topic, answer in _objects(path, details, "the details"):
        if not isinstance(answer, dict) or "metric_score" not in answer:
            got = f"{describe(answer)} for request {topic[:40]!r}"
            raise FormatError(path, f"expected an object with a metric_score, got {got}")
        metric = answer.get("metric_details")
        name = next(iter(metric), None) if isinstance(metric, dict) else None
        value = cell_value(path, answer["metric_score"], None, f" of request {topic[:40]!r}")
        yield Cell(measure or name or "metric_score", "", topic, value, None)


def _tell_of_failures(path: Path, details: dict[str, Any], failures: Any) -> None:
    """Say how many requests have no score, as they failed."""
    if isinstance(failures, dict) and failures:
        there = counted(len(details.keys() | failures.keys()), "request")
        first = next(iter(failures))
        tell(path, f"{len(failures)} of {there} failed (first {first!r}): send them again")


def _inspect(path: Path, log: dict[str, Any]) -> Iterator[Cell]:
    """A topic per sample, a measure per scorer; epochs of a sample are averaged."""
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise FormatError(
            path, "a log without samples: log the samples, or give the log that holds them"
        )
    model = log["eval"].get("model")
    values: dict[tuple[str, str], list[float]] = {}
    failed = 0
    for number, sample in enumerate(samples, start=1):
        where = f" in sample {number}"
        if not isinstance(sample, dict) or "id" not in sample:
            raise FormatError(path, f"expected an object with an id{where}, got {describe(sample)}")
        check_name(path, "sample", sample["id"], None)
        failed += bool(sample.get("error"))
        scores = None if sample.get("error") else sample.get("scores")
        for scorer, score in (scores if isinstance(scores, dict) else {}).items():
            verdict = score.get("value") if isinstance(score, dict) else None
            for measure, value in _verdicts(scorer, verdict):
                cell = cell_value(path, value, None, where)
                values.setdefault((measure, str(sample["id"])), []).append(cell)
    if failed:
        tell(
            path, f"{failed} of {counted(len(samples), 'sample')} ended in an error: retry the log"
        )
    if log.get("status", "success") != "success":
        ended = f"ended with status {log['status']!r} after {counted(len(samples), 'sample')}"
        tell(path, f"the evaluation {ended}: retry the log")
    run = model if isinstance(model, str) else ""
    for (measure, topic), cells in values.items():
        yield Cell(measure, run, topic, float(np.mean(cells)), None)


def _verdicts(scorer: str, verdict: Any) -> Iterator[tuple[str, Any]]:
    """The measures of one scorer: itself, or one per member of what it found."""
    members = verdict.items() if isinstance(verdict, dict) else [("", verdict)]
    for name, value in members:
        measure = f"{scorer}/{name}" if name else scorer
        yield measure, _GRADES.get(value, value) if isinstance(value, str) else value


def read_json_line_scores(path: Path, stream: BinaryIO) -> Scores:
    """The scores of an opened file of JSON lines: ir_measures, lm-eval-harness, or a long table."""
    cells: list[Cell] = []
    samples = False
    columns: dict[str, str | None] = {}
    known: Set[str] | None = None
    for line, row in json_rows(path, stream):
        samples = samples or ("doc_id" in row and "measure" not in row)
        if samples:
            cells += _sample(path, row, line)
            continue
        if row.keys() != known:
            columns = _long_columns(path, row, line)
            twins = any(len(twin_columns(row, names)) > 1 for names in LONG_ROLES.values())
            known = None if twins else row.keys()
        cells.append(_long_row(path, row, columns, line))
    # lm-eval-harness says which model it was by the folder alone.
    named = _SAMPLES.fullmatch(base_name(path)) if samples else None
    run = path.absolute().parent.name if named else base_name(path)
    if not samples:
        cells = [cell for cell in cells if cell.topic != SUMMARY]
    tool = "lm-eval-harness" if samples else "ir_measures"
    return scores_of_cells(path, cells, run=run, tool=tool, task=named[1] if named else "")


LONG_ROLES: Mapping[str, tuple[str, ...]] = {
    "measure": ("measure", "metric"),
    "run": ("run", "name", "system"),
    "topic": ("topic", "qid", "query_id", "q_id"),
    "value": ("value", "score"),
}


def _long_columns(path: Path, row: dict[str, Any], line: int) -> dict[str, str | None]:
    """Which column of a row holds what; a run may be missing."""
    columns = {
        role: one_column(path, row, names, row.get, line) for role, names in LONG_ROLES.items()
    }
    for role in ("measure", "topic", "value"):
        if columns[role] is None:
            got = ", ".join(row)[:200]
            raise FormatError(path, f"expected a column {role!r}, got {got}", line)
    return columns


def _long_row(
    path: Path, row: dict[str, Any], columns: Mapping[str, str | None], line: int
) -> Cell:
    named = {role: row[str(columns[role])] for role in ("measure", "topic")}
    run = row[columns["run"]] if columns["run"] is not None else ""
    for role, name in (*named.items(), *((("run", run),) if run != "" else ())):
        check_name(path, role, name, line)
    value = cell_value(path, row[str(columns["value"])], line)
    return Cell(str(named["measure"]), str(run), str(named["topic"]), value, line)


def _sample(path: Path, row: dict[str, Any], line: int) -> list[Cell]:
    """The metrics of one of lm-eval-harness's samples, those of a filter under its name."""
    if "doc_id" not in row:
        raise FormatError(path, f"expected a column 'doc_id', got {', '.join(row)[:200]}", line)
    check_name(path, "sample", row["doc_id"], line)
    named = row.get("metrics")
    metrics = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    filtered = row.get("filter", "none")
    suffix = "" if filtered in ("none", None) else f",{filtered}"
    numbers = [(name, row.get(name)) for name in metrics]
    cells = [
        Cell(f"{name}{suffix}", "", str(row["doc_id"]), cell_value(path, value, line), line)
        for name, value in numbers
        if isinstance(value, (bool, int, float))
    ]
    if not cells:
        got = json.dumps(named)[:80]
        raise FormatError(path, f"expected metrics with a number for this sample, got {got}", line)
    return cells
