"""What other tools hand over, as runs, judgments and scores.

For anyone who comes with frames of PyTerrier or trectools, with ranx or ir_measures
objects, or with pytrec_eval's dictionaries. Objects are known by their shape: no
library is imported that the caller has not imported already.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from steadyrank.data.facets import FACETS, NESTED
from steadyrank.data.ids import make_ids
from steadyrank.data.interop.tables import (
    DOCUMENT_NAMES,
    LONG_ROLES,
    RUN_NAMES,
    TOPIC_NAMES,
    Rows,
    Table,
    What,
    describe_type,
    ids_of,
    is_named_tuple,
    rows_of_table,
    table_of,
    table_of_items,
)
from steadyrank.data.qrels import Qrels, build_qrels
from steadyrank.data.run import (
    INFINITE_SCORES,
    OTHER_RUNS,
    Duplicates,
    Run,
    build_run,
    check_duplicates,
    oddity_warning,
    topic_names,
)
from steadyrank.data.scores import (
    AXES,
    CellError,
    Scores,
    own_numbers,
    scores_from_cells,
    scores_from_codes,
)
from steadyrank.data.table_rules import tidy_scores
from steadyrank.errors import InputError, arg, warn

NO_MEASURE = "score"
"""The measure of scores that do not say it, as of a wide table."""

DEFAULT_NAME = "run"
"""The name of a run that neither the caller nor the object names."""

_TABLES = "a pandas, polars or pyarrow table"
_ACCEPTED = {
    "score": f"a Run, {_TABLES}, a ranx Run, a trectools TrecRun, "
    "{topic: {document: score}} or named tuples such as ir_measures.ScoredDoc",
    "relevance": f"a Qrels, {_TABLES}, a ranx Qrels, a trectools TrecQrel, "
    "{topic: {document: grade}} or named tuples such as ir_measures.Qrel",
    "value": f"Scores, {_TABLES} of measure, run, topic and value, "
    "{topic: {measure: value}}, or named tuples such as ir_measures.Metric",
}


def as_run(source: Any, *, name: str | None = None, duplicates: Duplicates = "error") -> Run:
    """A run from what another tool gave: a table, an object, nested dictionaries, records.

    Ranks are ignored: scores decide, and ties go as in trec_eval.

    Parameters
    ----------
    source : object
        A pandas, polars or pyarrow table with the columns of ir_measures (`query_id, doc_id,
        score`), PyTerrier (`qid, docno, score`), ranx (`q_id, doc_id, score`) or trectools (`query,
        docid, score, system`); a run of ranx or trectools; a dictionary `{topic: {document:
        score}}`; or named tuples such as `ir_measures.ScoredDoc`.
    name : str, optional
        The run's; else what the object calls it, else "run".
    duplicates : str
        A document that occurs twice in a topic is an "error", or the "first" line or the "best"
        score is kept.

    Returns
    -------
    Run
        The run, its documents ranked.

    Examples
    --------
    >>> as_run({"301": {"d1": 2.0, "d2": 3.0}}, name="bm25").ranking("301")
    [('d2', 3.0), ('d1', 2.0)]
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"qid": [301, 301], "docno": ["d1", "d2"], "score": [0.5, 0.7]})
    >>> as_run(frame)
    <Run 'run': 1 topics, 2 documents>
    """
    run, kind = converted_run(source, name=name, duplicates=duplicates)
    if not isinstance(source, Run):
        _warn(kind, run.oddities)
    return run


def converted_run(source: Any, *, name: str | None, duplicates: Duplicates) -> tuple[Run, str]:
    """As `as_run`, without warnings: the run, its oddities counted, and what it came in."""
    if isinstance(source, Run):
        return source if name is None else source.rename(name), "Run"
    check_duplicates(duplicates)
    kind, rows = _rows(source, "score")
    if name is None and rows.oddities.get(OTHER_RUNS):
        raise InputError(
            f"{kind}: its rows are of {rows.name!r} and other runs: give one run at a time, or say "
            f"{arg('name=')} if the column does not name runs"
        )
    run = build_run(
        name or rows.name or DEFAULT_NAME,
        rows.topics,
        rows.first_rows,
        rows.documents,
        rows.values,
        duplicates=duplicates,
        oddities={INFINITE_SCORES: int(np.isinf(rows.values).sum())},
    )
    return run, kind


def run_from_frame(frame: Any, *, name: str | None = None) -> Run:
    """Return the run in a frame with columns of topics, documents and scores.

    Parameters
    ----------
    frame : pandas, polars or pyarrow table
        Columns as in `as_run`, or `query`, `doc` and `score`.
    name : str, optional
        The run's; else what a column calls it, else "run".

    Returns
    -------
    Run
        The run, its documents ranked.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"query": ["1", "1"], "doc": ["a", "b"], "score": [0.5, 0.7]})
    >>> run_from_frame(frame, name="bm25").ranking("1")
    [('b', 0.7), ('a', 0.5)]
    """
    return as_run(frame, name=name)


def as_qrels(source: Any) -> Qrels:
    """Judgments from what another tool gave; as `as_run`, with grades instead of scores.

    Parameters
    ----------
    source : object
        As in `as_run`. Tables have a column `relevance`, `label`, `rel` or `grade`, or `score`
        together with ranx's `q_id`. Grades are whole numbers.

    Returns
    -------
    Qrels
        The judgments.

    Examples
    --------
    >>> as_qrels({"301": {"d1": 1, "d2": 0}}).judgments("301")
    {'d1': 1, 'd2': 0}
    """
    if isinstance(source, Qrels):
        return source
    kind, rows = _rows(source, "relevance")
    qrels = build_qrels(rows.topics, rows.first_rows, rows.documents, rows.values)
    _warn(kind, qrels.oddities)
    return qrels


def as_scores(source: Any, *, name: str | None = None, measure: str | None = None) -> Scores:
    """Scores that another tool computed, topic by topic.

    Names of measures are taken as they are. NaN is missing.

    Parameters
    ----------
    source : object
        A long table (`measure, run, topic, value`; PyTerrier's `name, qid, measure, value` of
        `pt.Experiment(..., perquery=True)`; or run, topic and a column per measure), a wide one
        with topics down and runs across, a NumPy array [run, topic], `{run: numbers}`, what
        `ir_measures.iter_calc` and `calc` return, or pytrec_eval's `{topic: {measure: value}}`,
        alone or by run.
    name : str, optional
        The run's, where the object does not say which run it is about.
    measure : str, optional
        The measure's, where the object does not say which measure it is about.

    Returns
    -------
    Scores
        One value per measure, run and topic.

    Examples
    --------
    >>> as_scores({"301": {"map": 0.25}, "302": {"map": 0.75}}, name="bm25").mean()
    array([[0.5]])
    """
    if isinstance(source, Scores):
        return source
    if name is None and (scores := scores_in_table(source, measure)) is not None:
        return scores
    table = table_of(source)
    if table is None and isinstance(source, Mapping):
        return tidy_scores("dictionary", _scores_of_dict(source, name))
    if table is None:
        table = _items(getattr(source, "per_query", source))
    if table is None:
        raise _refused(source, "value")
    run = table.find(LONG_ROLES["run"])
    if table.find(LONG_ROLES["measure"]) is None:
        raise table.lacks(
            "measure", ": PyTerrier gives it with perquery=True" if run is not None else ""
        )
    scores = long_scores(table, NO_MEASURE, "" if run is not None else _given(name))
    return tidy_scores(str(table.where), scores if run is None else _renamed(scores, name))


def long_scores(
    table: Table,
    measure: str,
    run: str,
    as_meant: Callable[[Sequence[tuple[str, ...]]], Sequence[tuple[str, ...]]] = tuple,
    **options: Any,
) -> Scores:
    """The scores of a table with one in each row, of this measure or run where no column says it.

    `as_meant` makes names of what was written in their place.
    """
    columns = {role: table.find(names) for role, names in LONG_ROLES.items()}
    found = {name: place for name in FACETS if (place := table.find((name,))) is not None}
    facets = {name: k for name, k in found.items() if any(c is not None for c in table.cells(k))}
    if not len(table):
        raise table.error(None, "empty: no scores")
    values = table.numbers(table.need(LONG_ROLES["value"]), "value")
    default = {"measure": measure, "run": run}
    nobody = np.zeros(len(table), np.intp)
    coded = [
        ((default[axis],), nobody) if place is None else table.labels(place, axis)
        for axis, place in ((axis, columns[axis]) for axis in AXES)
    ]
    labels, codes = zip(*coded, strict=True)
    labels = as_meant(labels)
    try:
        if not facets:
            return scores_from_codes(labels, codes, values, **options)
        axes = [[names[k] for k in own] for names, own in zip(labels, codes, strict=True)]
        more = {name: _facet(table, name, place) for name, place in facets.items()}
        return scores_from_cells(axes[0], axes[1], axes[2], values, facets=more, **options)
    except CellError as error:
        raise table.error(error.row, error.args[0]) from None


def _facet(table: Table, name: str, place: int) -> list[str]:
    cells = ["" if cell is None else cell for cell in table.cells(place)]
    return list(map(str, cells)) if name in NESTED and "" in cells else _labels(table, place, name)


def _labels(table: Table, place: int, what: str) -> list[str]:
    names, codes = table.labels(place, what)
    return [names[code] for code in codes.tolist()]


def scores_in_table(source: Any, measure: str | None = None) -> Scores | None:
    """Return the scores in a table or in columns of numbers; None for other objects."""
    table = table_of(source)
    if table is None:
        return scores_in_columns(source, measure)
    if table.find(DOCUMENT_NAMES) is not None:
        return None
    run, value = table.find(LONG_ROLES["run"]), table.find(LONG_ROLES["value"])
    topic = table.find(TOPIC_NAMES)
    if value is not None and table.find(LONG_ROLES["measure"]) is not None:
        scores = long_scores(table, NO_MEASURE, "" if run is not None else _given(None))
        return tidy_scores(str(table.where), scores)
    has_index = hasattr(source, "rename_axis") and source.index.nlevels == 1
    if topic is None and has_index and (run is None or source.index.name is not None):
        return scores_in_table(source.rename_axis(index="topic").reset_index(), measure)
    if topic is None or (run is None and value is not None):
        return None
    if value is not None:
        return tidy_scores(str(table.where), long_scores(table, measure or NO_MEASURE, ""))
    named = [
        k for k, name in enumerate(table.header) if k not in (topic, run) and name not in FACETS
    ]
    try:
        cells = [table.numbers(place, "value") for place in named]
    except InputError:
        return None
    if not named:
        return None
    n, topics = len(named), _labels(table, topic, "topic")
    across = [table.header[place] for place in named for _ in topics]
    if run is None:
        measures, runs = [measure or NO_MEASURE] * len(across), across
    else:
        measures, runs = across, _labels(table, run, "run") * n
    held = {name: own for name in FACETS if (own := table.find((name,))) is not None}
    facets = {name: _labels(table, own, name) * n for name, own in held.items()}
    found = scores_from_cells(measures, runs, topics * n, np.concatenate(cells), facets=facets)
    return tidy_scores(str(table.where), found)


def scores_in_columns(source: Any, measure: str | None = None) -> Scores | None:
    """Return the scores in a matrix [run, topic] or `{run: numbers}`; None for other objects."""
    is_matrix = isinstance(source, np.ndarray) and source.ndim == 2
    shape = source.shape if is_matrix else (0, 0)
    if is_matrix or (isinstance(source, (list, tuple)) and numbers_in(source[:1]) is None):
        source = {f"run{place}": row for place, row in enumerate(source, start=1)}
    if is_matrix and shape[0] > shape[1]:
        warn(
            f"the array has {shape[0]} rows, which are runs, and {shape[1]} columns, which are "
            "topics: give array.T if it is the other way round"
        )
    if not isinstance(source, Mapping) or not source:
        return None
    columns = {str(name): numbers_in(column) for name, column in source.items()}
    if any(column is None for column in columns.values()):
        return None
    cells = [
        (run, topic, value)
        for run, column in columns.items()
        for topic, value in (column or {}).items()
    ]
    runs, topics, values = zip(*cells, strict=True)
    labels = [measure or NO_MEASURE] * len(runs)
    return tidy_scores("the scores", _scores(labels, runs, topics, list(values), "the scores"))


def numbers_in(column: Any) -> dict[str, float] | None:
    """Return the numbers of a list, a vector or a Series by topic; None for other objects.

    >>> numbers_in([0.5, None, 1]), numbers_in(["a.run"])
    ({'1': 0.5, '2': nan, '3': 1.0}, None)
    """
    if not (isinstance(column, (list, tuple)) or getattr(column, "ndim", 0) == 1):
        return None
    first = next(iter(column), "")
    if not (first is None or isinstance(first, (Real, np.bool_))):
        return None
    topics = column.index if hasattr(column, "items") else range(1, len(column) + 1)
    found = dict(zip(map(str, topics), own_numbers(list(column)).tolist(), strict=True))
    if len(found) < len(column):
        raise InputError("the index has a topic twice: keep one score of each topic")
    return found


def single_runs(runs: Any) -> Iterator[tuple[str | None, Any]]:
    """The single runs of what studies are given, with names where a dictionary names them."""
    if isinstance(runs, Mapping) and not holds_one_run(runs):
        yield from ((str(name), run) for name, run in runs.items())
        return
    for run in _runs_in_table(runs) if holds_one_run(runs) else _several(runs):
        yield None, run


def _runs_in_table(source: Any) -> list[Any]:
    table = table_of(source)
    column = None if table is None else table.find(RUN_NAMES)
    if table is None or column is None or table.find(DOCUMENT_NAMES) is None:
        return [source]
    names, codes = table.labels(column, "run")
    if len(names) < 2:
        return [source]
    rows = [np.flatnonzero(codes == code) for code in range(len(names))]
    if hasattr(source, "iloc"):
        return [source.iloc[own] for own in rows]
    return [source.take(own) if hasattr(source, "take") else source[own] for own in rows]


def _several(runs: Any) -> Iterable[Any]:
    if not isinstance(runs, Iterable):
        raise _refused(runs, "score")
    iterator = iter(runs)
    first = next(iterator, None)
    if first is None:
        return []
    rest = itertools.chain([first], iterator)
    # Several passes may want the records, and an iterator gives them once.
    return [list(rest)] if is_named_tuple(first) else rest


def holds_one_run(source: Any) -> bool:
    """Whether an object is one run or file name, although it may be iterable."""
    if isinstance(source, Mapping):
        documents = next(iter(source.values()), None)
        return isinstance(documents, Mapping) and not any(
            isinstance(value, Mapping) for value in itertools.islice(documents.values(), 1)
        )
    if isinstance(source, (Run, str, os.PathLike)) or _library(source) in ("ranx", "trectools"):
        return True
    return table_of(source) is not None


def _rows(source: Any, value: What) -> tuple[str, Rows]:
    library = _library(source)
    if library == "ranx":
        return _rows_of_ranx(source, value)
    table = table_of(_trectools_frame(source, value) if library == "trectools" else source)
    if table is None and isinstance(source, Mapping):
        topic_names(source, "score" if value == "score" else "grade")
        contents = list(source.values())
        return _rows_of_lists("dictionary", list(source), contents, value)
    table = _items(source) if table is None else table
    if table is None:
        raise _refused(source, value)
    return str(table.where), rows_of_table(table, value)


def _items(source: Any) -> Table | None:
    is_text = isinstance(source, (str, bytes)) or not isinstance(source, Iterable)
    return None if is_text else table_of_items(source)


def _library(source: Any) -> str:
    return type(source).__module__.partition(".")[0]


def _refused(source: Any, value: str) -> InputError:
    got = describe_type(source)
    if isinstance(source, (str, os.PathLike)):
        reader = {"score": "read_run", "relevance": "read_qrels", "value": "read_scores"}[value]
        got = f"{os.fspath(source)!r}: {reader} reads files"
    elif hasattr(source, "collect"):
        got = f"{got}: collect() it first"
    elif hasattr(source, "compute"):
        got = f"{got}: compute() it first"
    return InputError(f"expected {_ACCEPTED[value]}; got {got}")


def _rows_of_ranx(source: Any, value: What) -> tuple[str, Rows]:
    expected = "Run" if value == "score" else "Qrels"
    if type(source).__name__ != expected:
        raise _refused(source, value)
    # Four times as fast as to_dict, which looks every document up again.
    topics, contents = source.get_query_ids(), source.get_doc_ids_and_scores()
    kind, rows = _rows_of_lists(f"ranx {expected}", topics, contents, value)
    return kind, replace(rows, name=source.name or "")


def _trectools_frame(source: Any, value: str) -> Any:
    attribute = "run_data" if value == "score" else "qrels_data"
    if not hasattr(source, attribute):
        raise _refused(source, value)
    frame = getattr(source, attribute)
    if frame is None:
        raise InputError(f"{describe_type(source)}: empty: no file was read into it")
    return frame


def _rows_of_lists(
    kind: str, topics: list[Any], contents: Sequence[Mapping[Any, Any]], value: What
) -> tuple[str, Rows]:
    """Rows from one mapping a topic; a topic without documents stays, unlike in a table."""
    if not topics:
        raise InputError(f"{kind}: empty: no topics")
    columns = [[*itertools.chain(*contents)], [*itertools.chain(*(c.values() for c in contents))]]
    names = Table(f"{kind}, topics", ("topic",), [topics]).names(0, "topic")
    held = Table(kind, ("document", "value"), columns)
    documents = ids_of(held.names(0, "document")) if columns[0] else make_ids([])
    firsts = np.cumsum([0, *map(len, contents[:-1])])
    found = [raw.decode("utf-8", "surrogateescape") for raw in names.to_pylist()]
    return kind, Rows(found, firsts, documents, held.numbers(1, value))


def _warn(kind: str, oddities: Mapping[str, int]) -> None:
    for what, count in oddities.items():
        warn(f"{kind}: {oddity_warning(what, count)}")


def _scores_of_dict(source: Mapping[Any, Any], name: str | None) -> Scores:
    """From {topic: {measure: value}}, or {run: {topic: {measure: value}}}."""
    inner = [cells for row in source.values() if isinstance(row, Mapping) for cells in row.values()]
    by_run = bool(inner) and all(isinstance(cells, Mapping) for cells in inner)
    nested = source if by_run else {_given(name): source}
    rows: list[tuple[str, str, str, Any]] = []
    for run, topics in nested.items():
        for topic, cells in topics.items() if isinstance(topics, Mapping) else [(run, topics)]:
            if not isinstance(cells, Mapping):
                raise _refused(source, "value")
            if str(topic) != topic and str(topic) in topics:
                raise InputError(f"topic {topic} is there twice, as text and as number: keep one")
            rows.extend((str(m), str(run), str(topic), value) for m, value in cells.items())
    measures, runs, names, values = zip(*rows, strict=True) if rows else ((),) * 4
    scores = _scores(measures, runs, names, list(values), "dictionary")
    return _renamed(scores, name) if by_run else scores


def _scores(
    measures: Sequence[str], runs: Sequence[str], topics: Sequence[str], values: Any, where: str
) -> Scores:
    if not measures:
        raise InputError(f"{where}: empty: no scores")
    numbers = Table(where, ("value",), [list(values)]).numbers(0, "value")
    return scores_from_cells(measures, runs, topics, numbers)


def _given(name: str | None) -> str:
    if name is None:
        raise InputError(f"the scores do not say which run they belong to: say {arg('name=')}")
    return name


def _renamed(scores: Scores, name: str | None) -> Scores:
    if name is None:
        return scores
    if len(scores.runs) > 1:
        raise InputError(f"one name, {name!r}, for {len(scores.runs)} runs: omit it")
    return replace(scores, runs=(name,))
