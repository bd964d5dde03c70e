"""Scores, whatever a study was given: scores as they are, or runs and judgments to evaluate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError
from steadyrank.measures.evaluate import evaluate
from steadyrank.measures.names import Measure

DEFAULT_MEASURE = "AP"
"""What studies of runs and judgments take unless told otherwise, in Python and on the command."""


def scores_of(
    data: Any,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    jobs: int | None = None,
) -> Scores:
    """The scores of these measures: `data` itself, or the evaluation of its runs by `qrels`."""
    if isinstance(data, Scores):
        if qrels is not None:
            by_name = f"; a measure is given by name, as measure={str(qrels)!r}"
            more = by_name if isinstance(qrels, str | Measure) else ""
            raise InputError(f"give either scores, or runs and qrels, not both{more}")
        if measures is None:
            return data
        names = [measures] if isinstance(measures, str | Measure) else measures
        if not isinstance(names, Iterable):
            raise InputError(f"expected a measure's name, got {measures!r}")
        return data.select(measures=[str(name) for name in names])
    if qrels is None:
        raise InputError("give scores, or runs and, second, qrels")
    if isinstance(data, Run) and isinstance(qrels, Run):
        raise InputError("give scores, or all runs in one list and, second, qrels; got two runs")
    return evaluate(data, qrels, DEFAULT_MEASURE if measures is None else measures, jobs=jobs)
