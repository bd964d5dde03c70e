"""Return scores from any input of a study: scores, a file or frame, or runs and judgments."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from steadyrank.data.facets import averaged_facets, tidy_judges
from steadyrank.data.interop.objects import as_scores
from steadyrank.data.interop.tables import table_of
from steadyrank.data.read.run_files import judgments_of
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError
from steadyrank.measures.arguments import label_of
from steadyrank.measures.evaluate import default_measures, evaluate
from steadyrank.measures.names import Measure


def scores_of(
    data: Any,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    jobs: int | None = None,
    has_facets: bool = False,
) -> Scores:
    """Return the scores of these measures: `data` itself, or its runs evaluated with `qrels`.

    Scores are averaged over judges, answers and draws, unless the study `has_facets`.
    """
    if qrels is None:
        data = _written(data, measures)
    if isinstance(data, Scores):
        held: Scores = tidy_judges(data) if has_facets else averaged_facets(data)
        if qrels is not None:
            raise InputError("give either scores, or runs and qrels, not both")
        if measures is None:
            return held
        names = [measures] if isinstance(measures, str | Measure) else measures
        if not isinstance(names, Iterable):
            raise InputError(f"expected a measure's name, got {measures!r}")
        return held.select(measures=[str(name) for name in names])
    if qrels is None:
        raise InputError("pass either scores, or runs and qrels")
    if isinstance(data, Run) and isinstance(qrels, Run):
        raise InputError("got two runs: pass either scores, or a list of runs and qrels")
    if measures is None:
        qrels = judgments_of(qrels)
        measures = default_measures(qrels)[0]
    return evaluate(data, qrels, measures, jobs=jobs)


def may_be_scores(data: Any) -> bool:
    """Return whether data without qrels are scores, or a file that may hold scores."""
    is_path = isinstance(data, str | PathLike) and not Path(data).is_dir()
    return is_path or isinstance(data, Scores)


def _written(data: Any, measures: Any) -> Any:
    """Return the scores in a file or table; raise an error if a table holds none."""
    if may_be_scores(data) and not isinstance(data, Scores):
        from steadyrank.data.read.score_files import read_scores

        return read_scores(data, measure=label_of(measures))
    return as_scores(data) if table_of(data) is not None else data
