"""Scores that other tools print: one cell after another, each with the line on which it stands.

trec_eval -q prints measure, topic and value, and names its run in a line `runid`; ir_measures
--by_query prints topic, measure and value, and so does NTCIREVAL, with an equals sign behind the
measure. Lines of the topic `all` hold summaries, which are left out. JSON comes from pytrec_eval
and Elasticsearch's _rank_eval.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

from steadyrank.data.read.columns import check_name
from steadyrank.data.read.csv_files import is_missing, number
from steadyrank.data.read.json_files import as_text, describe, key_lines, value_of
from steadyrank.data.read.limits import BOM
from steadyrank.data.read.sources import base_name, data_lines
from steadyrank.data.scores import CellError, Scores, plain_value, scores_from_cells
from steadyrank.data.table_rules import tell
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

_MEASURE_NAME = re.compile(
    r"(P|R|AP|RR|MAP|MRR|Rprec|Bpref|infAP|IPrec|n?DCG|s?DCG|n?ERR|ERR_IA|nERR_IA|RBP|n?RBP|NRBP"
    r"|nNRBP|INST|INSQ|BPM|SDCG|NERR\d+|Accuracy|Compat|Judged|Success|Set[PRF]|SetAP|SetRelP"
    r"|Num(Q|Ret|Rel|RelRet)|alpha_n?DCG|α_n?DCG|[AP]P?_IA|STREC)(\(.*\))?(@[\d.]+)?",
    re.IGNORECASE,
)
"""The measures of ir_measures."""

_NTCIR_NAMES = {"Q-measure": "Q", "P-plus": "Pplus", "Hit": "Success"}
"""What NTCIREVAL calls the measures that have another name here."""

_LOG = re.compile(rb'\s*\{\s*"metric_score"\s*:')


@dataclass(frozen=True, slots=True)
class Cell:
    """One score of a run on a topic; `run` is empty where a file does not name its run."""

    measure: str
    run: str
    topic: str
    value: float
    line: int | None


def scores_of_cells(path: Path, cells: Sequence[Cell], *, run: str, tool: str) -> Scores:
    """The cube of the cells; those that name no run belong to `run`."""
    if not cells:
        raise FormatError(path, "empty: no scores of single topics")
    try:
        return scores_from_cells(
            [cell.measure for cell in cells],
            [cell.run or run for cell in cells],
            [cell.topic for cell in cells],
            [cell.value for cell in cells],
            meta={"source": str(path), "tool": tool},
        )
    except CellError as error:
        raise FormatError(path, error.args[0], cells[error.row].line) from None


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
    """Whether a file begins as _rank_eval's answers do, be it on one line."""
    return _LOG.match(head) is not None


def read_json_scores(path: Path, stream: BinaryIO, measure: str | None) -> Scores:
    """The scores of an opened JSON file that is one value; `measure` names one without a name."""
    content = stream.read().removeprefix(BOM)
    value = value_of(path, content)
    if not isinstance(value, dict):
        expected = "one JSON object, {topic: {measure: value}}"
        raise FormatError(path, f"expected {expected}, got {describe(value)}", 1)
    if isinstance(value.get("details"), dict) and "metric_score" in value:
        cells, tool = _rank_eval(path, value["details"], measure), "_rank_eval"
        _tell_of_failures(path, value["details"], value.get("failures"))
    else:
        cells, tool = _nested(path, as_text(content), value), "pytrec_eval"
    return scores_of_cells(path, list(cells), run=base_name(path), tool=tool)


def _nested(path: Path, text: str, value: dict[str, Any]) -> Iterator[Cell]:
    """Cells of {topic: {measure: value}}, or of {run: {topic: {measure: value}}}."""
    inner = next((row for row in value.values() if isinstance(row, dict) and row), {})
    by_run = any(isinstance(cells, dict) for cells in inner.values())
    runs = value if by_run else {"": value}
    for topics in runs.values():
        if isinstance(topics, dict):
            _check_measures(path, topics)
    lines = iter(key_lines(text, 3 if by_run else 2))
    for run, topics in runs.items():
        for topic, cells in _objects(path, topics, f"run {run!r}" if run else "the file"):
            for measure, cell in _measures(path, cells, topic):
                line = next(lines, None)
                yield Cell(measure, run, topic, cell_value(path, cell, line), line)


def _check_measures(path: Path, topics: dict[str, Any]) -> None:
    """Refuse documents in the place of measures, which every topic has by the same names."""
    rows = [row for row in topics.values() if isinstance(row, dict)]
    names = [name for row in rows for name in row]
    known = any(_TREC_EVAL_NAME.fullmatch(n) or _MEASURE_NAME.fullmatch(n) for n in names)
    if not known and any(row.keys() != rows[0].keys() for row in rows):
        message = "topics hold different names, as documents of a run do: is this a run? Of scores"
        raise FormatError(path, f"{message}, give every topic the same measures, null if missing")


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
