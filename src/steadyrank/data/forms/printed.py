"""Readers of scores that tools of retrieval print: a cell per line, or nested JSON.

trec_eval -q prints measure, topic and value, and names its run in a line `runid`; ir_measures
--by_query prints topic, measure and value, and so does NTCIREVAL, with an equals sign behind the
measure. Lines of the topic `all` hold summaries, which are left out. JSON comes from pytrec_eval
and Elasticsearch's _rank_eval.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from steadyrank.data.forms.form import Cell, Recognises, Source
from steadyrank.data.interop.tables import check_name
from steadyrank.data.read.json_files import as_text, describe, key_lines
from steadyrank.data.read.sources import open_bytes
from steadyrank.data.read.streams import BOM
from steadyrank.data.read.tables import is_missing
from steadyrank.data.scores import plain_value
from steadyrank.words import counted

SUMMARY = "all"

_TEXTS = ("runid", "relstring")
"""What trec_eval prints in addition to numbers."""

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
"""NTCIREVAL's names of measures that have another name here."""


def is_printed_by(tool: str) -> Recognises:
    """Recognises what a tool prints by its first line."""
    return lambda source: _tool(next(iter(source.first_fields), [])) == tool


def _tool(first: list[str]) -> str:
    """The tool that printed a file that begins with these fields; empty if none did."""
    if first[1:2] == ["#"] or (len(first) == 3 and first[1].endswith("=")):
        return "NTCIREVAL"
    if len(first) != 3:
        return ""
    name, other, value = first
    is_number = plain_value(value) is not None or is_missing(value)
    if _TREC_EVAL_NAME.fullmatch(name) and (is_number or name in _TEXTS):
        return "trec_eval"
    if is_number and other == SUMMARY:
        return "trec_eval"
    is_measure = is_number and _MEASURE_NAME.fullmatch(other) and not is_missing(other)
    return "ir_measures" if is_measure else ""


def trec_eval(source: Source) -> Iterator[Cell]:
    """Scores that `trec_eval -q` prints; a line `runid`, behind its block, names the run."""
    cells: list[Cell] = []
    ended, run = False, ""
    for line, (measure, topic, value) in _rows(source, ("measure", "topic", "value")):
        if topic == SUMMARY:
            ended = True
            run = value if measure == "runid" else run
            continue
        if ended:
            yield from (replace(cell, run=run) for cell in cells)
            cells, ended, run = [], False, ""
        if measure not in _TEXTS:
            cells.append(Cell(measure, "", topic, source.number(value, line), line))
    yield from (replace(cell, run=run) for cell in cells)
    _refuse_summaries(source, "trec_eval with -q")


def ir_measures(source: Source) -> Iterator[Cell]:
    """Scores that `ir_measures --by_query` prints."""
    for line, (topic, measure, value) in _rows(source, ("topic", "measure", "value")):
        if topic != SUMMARY:
            yield Cell(measure, "", topic, source.number(value, line), line)
    _refuse_summaries(source, "ir_measures with --by_query")


def ntcireval(source: Source) -> Iterator[Cell]:
    """Scores that NTCIREVAL prints; lines with a hash count documents."""
    for line, (topic, printed, value) in _rows(source, ("topic", "measure", "value")):
        name, at, cutoff = printed.removesuffix("=").partition("@")
        measure = _NTCIR_NAMES.get(name, name) + at + cutoff.lstrip("0")
        if topic != SUMMARY:
            yield Cell(measure, "", topic, source.number(value, line), line)


def _rows(source: Source, roles: tuple[str, str, str]) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line, which must be those of these roles."""
    for line, fields in source.fields:
        if fields[1:2] == ["#"]:
            continue
        if len(fields) != 3:
            expected = f"{roles[0]}, {roles[1]} and {roles[2]}"
            raise source.error(f"expected {expected}, got {len(fields)} fields", line)
        if "" in fields[:2]:
            empty = roles[fields.index("")]
            raise source.error(f"expected the name of a {empty}, got an empty field", line)
        yield line, fields


def _refuse_summaries(source: Source, call: str) -> None:
    if all(SUMMARY in fields for _, fields in source.fields):
        raise source.error(f"holds only summaries: run {call}")


def pytrec_eval(source: Source) -> Iterator[Cell]:
    """Cells of {topic: {measure: value}}, or of {run: {topic: {measure: value}}}."""
    value = source.value
    if not isinstance(value, dict):
        expected = "one JSON object, {topic: {measure: value}}"
        raise source.error(f"expected {expected}, got {describe(value)}", 1)
    inner = next((row for row in value.values() if isinstance(row, dict) and row), {})
    by_run = any(isinstance(cells, dict) for cells in inner.values())
    runs = value if by_run else {"": value}
    for topics in runs.values():
        if isinstance(topics, dict):
            _check_measures(source, topics)
    with open_bytes(source.path) as stream:
        text = as_text(stream.read().removeprefix(BOM))
    lines = iter(key_lines(text, 3 if by_run else 2))
    for run, topics in runs.items():
        within = f"run {run!r}" if run else "the file"
        for topic, cells in _members(source, topics, "topic", f" in {within}"):
            for measure, cell in _members(source, cells, "measure", f" for topic {topic[:40]!r}"):
                line = next(lines, None)
                yield Cell(measure, run, topic, source.number(cell, line), line)


def _check_measures(source: Source, topics: dict[str, Any]) -> None:
    """Refuse documents where measures are expected: all topics have the same measures."""
    rows = [row for row in topics.values() if isinstance(row, dict)]
    names = [name for row in rows for name in row]
    known = any(_TREC_EVAL_NAME.fullmatch(n) or _MEASURE_NAME.fullmatch(n) for n in names)
    if not known and any(row.keys() != rows[0].keys() for row in rows):
        message = "topics hold different names, as documents of a run do: is this a run? Of scores"
        raise source.error(f"{message}, give every topic the same measures, null if missing")


def _members(source: Source, value: Any, what: str, where: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        inside = "{topic: {measure: value}}" if what == "topic" else "{measure: value}"
        raise source.error(f"expected {inside}, got {describe(value)}{where}")
    for name, inner in value.items():
        check_name(source.path, what, name, None)
        yield name, inner


def rank_eval(source: Source) -> Iterator[Cell]:
    """Answers of Elasticsearch's _rank_eval: a request is a topic; its details name the metric."""
    details = source.need(source.value, "details", dict)
    for topic, answer in _members(source, details, "topic", " in the details"):
        if not isinstance(answer, dict) or "metric_score" not in answer:
            got = f"{describe(answer)} for request {topic[:40]!r}"
            raise source.error(f"expected an object with a metric_score, got {got}")
        metric = answer.get("metric_details")
        name = next(iter(metric), None) if isinstance(metric, dict) else None
        value = source.number(answer["metric_score"], None, f"of request {topic[:40]!r}")
        yield Cell(source.measure or name or "metric_score", "", topic, value)
    failures = source.value.get("failures")
    if isinstance(failures, dict) and failures:
        there = counted(len(details.keys() | failures.keys()), "request")
        failed = f"{len(failures)} of {there} failed (first {next(iter(failures))!r})"
        source.found.notes.append(f"{failed}: send them again")
