"""Scores that tools print: one cell after another, each with the line on which it stands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steadyrank.data.read.json_text import describe
from steadyrank.data.scores import CellError, Scores, scores_from_cells
from steadyrank.errors import FormatError


@dataclass(frozen=True, slots=True)
class Cell:
    """One score of a run on a topic; `run` is empty where a file does not name its run."""

    measure: str
    run: str
    topic: str
    value: float
    line: int | None


def scores_of_cells(
    path: Path, cells: Sequence[Cell], *, run: str, tool: str, task: str = ""
) -> Scores:
    """The cube of the cells; those that name no run belong to `run`.

    The items of several tasks may have the same numbers: a `task` is part of their names.
    """
    if not cells:
        raise FormatError(path, "empty: no scores of single topics")
    try:
        scores = scores_from_cells(
            [cell.measure for cell in cells],
            [cell.run or run for cell in cells],
            [f"{task}/{cell.topic}" if task else cell.topic for cell in cells],
            [cell.value for cell in cells],
            meta={"source": str(path), "tool": tool},
        )
    except CellError as error:
        raise FormatError(path, str(error), cells[error.row].line) from None
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
