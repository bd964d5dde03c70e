"""What trec_eval -q and ir_measures --by_query print, read as scores.

trec_eval prints measure, topic and value, and names its run in a line `runid`; ir_measures prints
topic, measure and value. Lines of the topic `all` hold summaries, which are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Literal

from steadyrank.data.read.limits import BOM
from steadyrank.data.read.score_cells import Cell, scores_of_cells
from steadyrank.data.read.score_matrices import is_missing, number, plain_value
from steadyrank.data.read.sources import base_name
from steadyrank.data.read.table_rules import is_heading
from steadyrank.data.scores import Scores
from steadyrank.errors import FormatError
from steadyrank.words import listed

Tool = Literal["trec_eval", "ir_measures"]

SUMMARY = "all"

_TEXTS = ("runid", "relstring")
"""What trec_eval prints beside numbers."""

_TREC_EVAL_NAME = re.compile(
    r"runid|relstring|num_\w+|(gm_)?(map|bpref)|map_cut_\d+|Rprec(_mult_[\d.]+)?|recip_rank"
    r"|iprec_at_recall_[\d.]+|(relative_)?P_\d+|recall_\d+|infAP|utility|11pt_avg|binG|G"
    r"|R?ndcg|ndcg_(rel|cut_\d+)|success_\d+|set_\w+|rbp(_resid)?|unj_\d+|yaap|prefs_\w+"
)
_MEASURE_NAME = re.compile(r"[A-Za-z]\w*(\(.*\))?(@[\d.]+)?")


def printed_by(stream: BinaryIO) -> Tool | None:
    """Which tool printed an opened text file, by its first line; None if neither did."""
    first = next((fields for _, fields in _lines(stream) if fields), [])
    stream.seek(0)
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
    if not cells:
        option = "-q" if tool == "trec_eval" else "--by_query"
        raise FormatError(path, f"holds only summaries: run {tool} with {option}")
    return scores_of_cells(path, cells, run=base_name(path), tool=tool)


def _cells(path: Path, stream: BinaryIO, tool: Tool) -> list[Cell]:
    """All cells; those of a block belong to the run that its `runid` names, behind them."""
    cells: list[Cell] = []
    first, ended, run = 0, False, ""
    for line, fields in _lines(stream):
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
    """Measure, topic and value of a line."""
    roles = ("measure", "topic", "value")
    if tool == "ir_measures":
        roles = ("topic", "measure", "value")
    if len(fields) != len(roles):
        raise FormatError(path, f"expected {listed(roles)}, got {len(fields)} fields", line)
    found = dict(zip(roles, fields, strict=True))
    for role in roles[:2]:
        if not found[role]:
            raise FormatError(path, f"expected the name of a {role}, got an empty field", line)
    return found["measure"], found["topic"], found["value"]


def _lines(stream: BinaryIO) -> Iterator[tuple[int, list[str]]]:
    """Lines with their fields, between tabs if there are any; comments and blank lines skipped."""
    for line, raw in enumerate(stream, start=1):
        content = raw.removeprefix(BOM) if line == 1 else raw
        text = content.decode("utf-8", "surrogateescape").strip()
        if text and not text.startswith("#"):
            cells = text.split("\t") if "\t" in text else text.split()
            yield line, [cell.strip() for cell in cells]
