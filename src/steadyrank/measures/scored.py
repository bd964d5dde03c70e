"""Scores, whatever a study was given: scores, a file or frame of them, or runs and judgments."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from steadyrank.data.facets import averaged_facets
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError
from steadyrank.measures.evaluate import evaluate
from steadyrank.measures.names import Measure

NO_MEASURE = "score"
"""The measure of scores that do not say it, as of a wide table."""

DEFAULT_MEASURE = "AP"
"""What studies of runs and judgments take unless told otherwise, in Python and on the command."""


def scores_of(
    data: Any,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    jobs: int | None = None,
    has_facets: bool = False,
) -> Scores:
    """The scores of these measures: `data` itself, or the evaluation of its runs by `qrels`.

    Means over judges, answers and draws, unless the study `has_facets` of its own.
    """
    if qrels is None:
        data = _written(data)
    if isinstance(data, Scores):
        held: Scores = data if has_facets else averaged_facets(data)
        if qrels is not None:
            by_name = f"; a measure is given by name, as measure={str(qrels)!r}"
            more = by_name if isinstance(qrels, str | Measure) else ""
            raise InputError(f"give either scores, or runs and qrels, not both{more}")
        if measures is None:
            return held
        names = [measures] if isinstance(measures, str | Measure) else measures
        if not isinstance(names, Iterable):
            raise InputError(f"expected a measure's name, got {measures!r}")
        return held.select(measures=[str(name) for name in names])
    if qrels is None:
        raise InputError("give scores, or runs and, second, qrels")
    if isinstance(data, Run) and isinstance(qrels, Run):
        raise InputError("give scores, or all runs in one list and, second, qrels; got two runs")
    return evaluate(data, qrels, DEFAULT_MEASURE if measures is None else measures, jobs=jobs)


def _written(data: Any) -> Any:
    """The scores in a file or a frame; anything else stays."""
    if isinstance(data, str | PathLike) and not Path(data).is_dir():
        from steadyrank.data.read.score_files import read_scores

        return read_scores(data)
    if not hasattr(data, "columns"):
        return data
    from steadyrank.data.interop.objects import as_scores

    return as_scores(_long(data) if type(data).__module__.startswith("pandas") else data)


def _long(frame: Any) -> Any:
    """A wide pandas frame, with topics down and runs across, as a long one; a long one stays."""
    from steadyrank.data.interop.tables import TOPIC_NAMES

    named = [name for name in frame.columns if str(name).lower() in TOPIC_NAMES]
    wide = frame.set_index(named[0]) if named else frame
    is_wide = "value" not in frame.columns and len(wide.select_dtypes("number").columns)
    if not is_wide or len(wide.select_dtypes("number").columns) < len(wide.columns):
        return frame
    wide = wide.rename_axis(index="topic", columns="run")
    return wide.stack().rename("value").reset_index().assign(measure=NO_MEASURE)
