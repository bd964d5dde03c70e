"""Scores that other tools print: one cell after another, each with the line on which it stands.

trec_eval -q prints measure, topic and value, and names its run in a line `runid`; ir_measures
--by_query prints topic, measure and value, and so does NTCIREVAL, with an equals sign behind the
measure. Lines of the topic `all` hold summaries, which are left out. JSON comes from pytrec_eval,
ir_measures, Elasticsearch's _rank_eval, and from logs of evaluations of language models, where a
sample is a topic (lm-eval-harness, Inspect).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

from steadyrank.data.facets import FACETS
from steadyrank.data.interop.tables import one_column, twin_columns
from steadyrank.data.read.columns import check_name
from steadyrank.data.read.csv_files import is_missing, number
from steadyrank.data.read.json_files import as_text, describe, json_rows, key_lines, value_of
from steadyrank.data.read.limits import BOM
from steadyrank.data.read.sources import base_name, data_lines
from steadyrank.data.scores import CellError, Scores, plain_value, scores_from_cells
from steadyrank.data.table_rules import is_heading, tell
from steadyrank.errors import FormatError
from steadyrank.words import counted, listed

Tool = Literal["trec_eval", "ir_measures", "NTCIREVAL"]
SUMMARY = "all"

_TEXTS = ("runid", "relstring")
"""What trec_eval prints beside numbers."""

_TREC_EVAL_NAME = re.compile(
    r"runid|relstring|num_\w+|(gm_)?(map|bpref)|map_cut_\d+|Rprec(_mult_[\d.]+)?|recip_rank"
    r"|iprec_at_recall_[\d.]+|(relative_)?P_\d+|recall_\d+|infAP|utility|11pt_avg|binG|G"
    r"|R?ndcg|ndcg_(rel|cut_\d+)|success_\d+|set_\w+|rbp(_resid)?|unj_\d+|yaap|prefs_\w+"
)

_MEASURE_NAME = re.compile(r"[A-Za-z]\w*(\(.*\))?(@[\d.]+)?")

_NTCIR_NAMES = {"Q-measure": "Q", "P-plus": "Pplus", "Hit": "Success"}
"""What NTCIREVAL calls the measures that have another name here."""

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Inspect's verdicts: correct, partial, incorrect, no answer; the values are Inspect's own."""

_SAMPLES = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?\.\w+")
"""The name of a file of lm-eval-harness, which holds the task."""

_LOG = re.compile(rb'\s*\{\s*"(?:metric_score|version|status)"\s*:')

LONG_ROLES: Mapping[str, tuple[str, ...]] = {
    "measure": ("measure", "metric"),
    "run": ("run", "name", "system"),
    "topic": ("topic", "qid", "query_id", "q_id"),
    "value": ("value", "score"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One score of a run on a topic; `run` is empty where a file does not name its run."""

    measure: str
    run: str
    topic: str
    value: float
    line: int | None
    facets: Mapping[str, str] = field(default_factory=dict)
    """Of data.facets: which answer it is, who judged it."""


def scores_of_cells(
    path: Path, cells: Sequence[Cell], *, run: str, tool: str, task: str = ""
) -> Scores:
    """The cube of the cells; those that name no run belong to `run`.

    The items of several tasks may have the same numbers: a `task` is part of their names.
    """
    if not cells:
        raise FormatError(path, "empty: no scores of single topics")
    there = dict.fromkeys(name for cell in cells for name in cell.facets)
    lacking = [cell.line for cell in cells if "judge" not in cell.facets]
    if lacking and "judge" in there:
        raise FormatError(path, "expected the name of a judge, as other lines have it", lacking[0])
    try:
        scores = scores_from_cells(
            [cell.measure for cell in cells],
            [cell.run or run for cell in cells],
            [f"{task}/{cell.topic}" if task else cell.topic for cell in cells],
            [cell.value for cell in cells],
            facets={name: [cell.facets.get(name, "") for cell in cells] for name in there},
            meta={"source": str(path), "tool": tool},
        )
    except CellError as error:
        raise FormatError(path, error.args[0], cells[error.row].line) from None
    return scores.with_topic_info(task=[task] * len(scores.topics)) if task else scores


def cell_value(
    path: Path, value: Any, line: int | None, where: str = "", *, may_be_truth: bool = True
) -> float:
    """A JSON value as a score: a number, or a truth value where it may be; null is missing."""
    if value is None:
        return math.nan
    if isinstance(value, (int, float)) and (may_be_truth or not isinstance(value, bool)):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isinf(number):
            return number
    raise FormatError(path, f"expected a score{where}, got {describe(value)}", line)


def printed_by(stream: BinaryIO) -> Tool | None:
    """Which tool printed an opened text file, by its first line; None if neither did."""
    first = next((fields for _, fields in _lines(stream) if fields), [])
    stream.seek(0)
    if first[1:2] == ["#"] or (len(first) == 3 and first[1].endswith("=")):
        return "NTCIREVAL"
    if len(first) != 3:
        return None
    name, other, value = first
    is_number = plain_value(value) is not None or is_missing(value)
    if _TREC_EVAL_NAME.fullmatch(name) and (is_number or name in _TEXTS):
        return "trec_eval"
    if is_number and other == SUMMARY:
        return "trec_eval"
    if is_heading(name):  # as in a table of two runs, the second of which has a number for a name
        return None
    if is_number and _MEASURE_NAME.fullmatch(other) and not is_missing(other):
        return "ir_measures"
    return None


def read_printed(path: Path, stream: BinaryIO, tool: Tool) -> Scores:
    """The scores of an opened file that a tool printed."""
    cells = _cells(path, stream, tool)
    if not cells and tool != "NTCIREVAL":
        option = "-q" if tool == "trec_eval" else "--by_query"
        raise FormatError(path, f"holds only summaries: run {tool} with {option}")
    return scores_of_cells(path, cells, run=base_name(path), tool=tool)


def _cells(path: Path, stream: BinaryIO, tool: Tool) -> list[Cell]:
    """All cells; those of a block belong to the run that its `runid` names, behind them."""
    cells: list[Cell] = []
    first, ended, run = 0, False, ""
    for line, fields in _lines(stream):
        if tool == "NTCIREVAL" and fields[1:2] == ["#"]:
            continue  # how many documents there are
        measure, topic, value = _roles(path, fields, line, tool)
        if topic == SUMMARY:
            ended = True
            run = value if measure == "runid" else run
            continue
        if ended:
            _name(cells, first, run)
            first, ended, run = len(cells), False, ""
        if measure not in _TEXTS:
            cells.append(Cell(measure, "", topic, number(path, value, line), line))
    _name(cells, first, run)
    return cells


def _name(cells: list[Cell], first: int, run: str) -> None:
    """Let the cells from `first` on belong to a run."""
    cells[first:] = [replace(cell, run=run) for cell in cells[first:]]


def _roles(path: Path, fields: list[str], line: int, tool: Tool) -> tuple[str, str, str]:
    roles = ("measure", "topic", "value")
    if tool != "trec_eval":
        roles = ("topic", "measure", "value")
    if len(fields) != len(roles):
        raise FormatError(path, f"expected {listed(roles)}, got {len(fields)} fields", line)
    found = dict(zip(roles, fields, strict=True))
    if empty := next((role for role in roles[:2] if not found[role]), None):
        raise FormatError(path, f"expected the name of a {empty}, got an empty field", line)
    measure = _ntcir_name(found["measure"]) if tool == "NTCIREVAL" else found["measure"]
    return measure, found["topic"], found["value"]


def _ntcir_name(printed: str) -> str:
    """The name of a measure that NTCIREVAL prints, its cutoff without zeros in front.

    >>> _ntcir_name("MSnDCG@0010="), _ntcir_name("Q-measure="), _ntcir_name("Hit@0005=")
    ('MSnDCG@10', 'Q', 'Success@5')
    """
    name, at, cutoff = printed.removesuffix("=").partition("@")
    return _NTCIR_NAMES.get(name, name) + at + cutoff.lstrip("0")


def _lines(stream: BinaryIO) -> Iterator[tuple[int, list[str]]]:
    """Lines with their fields, between tabs if there are any; comments and blank lines skipped."""
    for line, raw in data_lines(stream):
        text = raw.decode("utf-8", "surrogateescape").strip()
        cells = text.split("\t") if "\t" in text else text.split()
        yield line, [cell.strip() for cell in cells]


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
    if isinstance(failures, dict) and failures:
        there = counted(len(details.keys() | failures.keys()), "request")
        first = next(iter(failures))
        tell(path, f"{len(failures)} of {there} failed (first {first!r}): send them again")


def _inspect(path: Path, log: dict[str, Any]) -> Iterator[Cell]:
    """A topic per sample, a measure per scorer; epochs of a sample are answers."""
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise FormatError(
            path, "a log without samples: log the samples, or give the log that holds them"
        )
    model = log["eval"].get("model")
    cells: list[Cell] = []
    run = model if isinstance(model, str) else ""
    failed = 0
    for place, sample in enumerate(samples, start=1):
        where = f" in sample {place}"
        if not isinstance(sample, dict) or "id" not in sample:
            raise FormatError(path, f"expected an object with an id{where}, got {describe(sample)}")
        check_name(path, "sample", sample["id"], None)
        failed += bool(sample.get("error"))
        scores = None if sample.get("error") else sample.get("scores")
        for scorer, score in (scores if isinstance(scores, dict) else {}).items():
            verdict = score.get("value") if isinstance(score, dict) else None
            for measure, value in _verdicts(scorer, verdict):
                number = cell_value(path, value, None, where)
                epoch = {"answer": str(sample.get("epoch", ""))}
                cells.append(Cell(measure, run, str(sample["id"]), number, None, epoch))
    if failed:
        tell(
            path, f"{failed} of {counted(len(samples), 'sample')} ended in an error: retry the log"
        )
    if log.get("status", "success") != "success":
        ended = f"ended with status {log['status']!r} after {counted(len(samples), 'sample')}"
        tell(path, f"the evaluation {ended}: retry the log")
    yield from _answers(cells)


def _answers(cells: Sequence[Cell]) -> list[Cell]:
    """Cells of one measure and topic told apart as answers, in their order; single ones as such."""
    seen: dict[tuple[str, str, str], list[str]] = {}
    numbered = []
    for cell in cells:
        given = seen.setdefault((cell.measure, cell.run, cell.topic), [])
        label = cell.facets.get("answer", "")
        given.append(label if label and label not in given else str(len(given) + 1))
        numbered.append(replace(cell, facets={"answer": given[-1]}))
    if all(len(given) == 1 for given in seen.values()):
        return [replace(cell, facets={}) for cell in cells]
    return numbered


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
    if samples:
        cells = _answers(cells)  # a document that was answered several times has as many lines
    else:
        cells = [cell for cell in cells if cell.topic != SUMMARY]
    tool = "lm-eval-harness" if samples else "ir_measures"
    return scores_of_cells(path, cells, run=run, tool=tool, task=named[1] if named else "")


def _long_columns(path: Path, row: dict[str, Any], line: int) -> dict[str, str | None]:
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
    facets = {name: str(row[name]) for name in FACETS if row.get(name) is not None}
    if "judge" in facets:
        check_name(path, "judge", row["judge"], line)
    return Cell(str(named["measure"]), str(run), str(named["topic"]), value, line, facets)


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
