"""What other tools hand over, as runs, judgments and scores.

For anyone who comes with frames of PyTerrier or trectools, with ranx or ir_measures
objects, or with pytrec_eval's dictionaries. Objects are known by their shape: no
library is imported that the caller has not imported already.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from steadyrank.data.facets import FACETS
from steadyrank.data.ids import Ids, make_ids
from steadyrank.data.interop.tables import (
    DOCUMENT_NAMES,
    LONG_ROLES,
    RUN_NAMES,
    TOPIC_NAMES,
    Table,
    describe_type,
    distinct_names,
    ids_of,
    is_named_tuple,
    number_column,
    table_of,
    table_of_items,
    text_column,
    value_names,
)
from steadyrank.data.qrels import NOT_A_GRADE, Qrels, are_grades, build_qrels
from steadyrank.data.run import (
    INFINITE_SCORES,
    Duplicates,
    Run,
    build_run,
    check_duplicates,
    oddity_warning,
    topic_names,
)
from steadyrank.data.scores import Scores, own_numbers, scores_from_cells
from steadyrank.data.table_rules import tidy_scores
from steadyrank.errors import InputError, arg, warn

NO_MEASURE = "score"
"""The measure of scores that do not say it, as of a wide table."""

DEFAULT_NAME = "run"
"""The name of a run that neither the caller nor the object names."""

_RUN_OF_SCORES = LONG_ROLES["run"]
_MEASURE_NAMES = LONG_ROLES["measure"]
_CELL_NAMES = LONG_ROLES["value"]

_TABLES = "a pandas, polars or pyarrow table"
_ACCEPTED = {
    "score": f"a Run, {_TABLES}, a ranx Run, a trectools TrecRun, "
    "{topic: {document: score}} or named tuples such as ir_measures.ScoredDoc",
    "relevance": f"a Qrels, {_TABLES}, a ranx Qrels, a trectools TrecQrel, "
    "{topic: {document: grade}} or named tuples such as ir_measures.Qrel",
    "value": f"Scores, {_TABLES} of measure, run, topic and value, "
    "{topic: {measure: value}}, or named tuples such as ir_measures.Metric",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """Rows as `build_run` and `build_qrels` take them, and what they came in."""

    kind: str
    topics: list[str]
    first_rows: np.ndarray
    documents: Ids
    values: np.ndarray
    name: str | None = None

    def place(self, row: int) -> str:
        """Where a row stands, for an error's message."""
        segment = int(np.searchsorted(self.first_rows, row, side="right")) - 1
        names = f"topic {self.topics[segment]!r}, document {self.documents[row]!r}"
        return f"{self.kind}, row {row} ({names})"


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
    rows = _rows(source, "score", named=name is not None)
    bad = np.flatnonzero(np.isnan(rows.values))
    if len(bad):
        raise InputError(f"{rows.place(int(bad[0]))}: the score is NaN, so its rank is undefined")
    run = build_run(
        name or rows.name or DEFAULT_NAME,
        rows.topics,
        rows.first_rows,
        rows.documents,
        rows.values,
        duplicates=duplicates,
        oddities={INFINITE_SCORES: int(np.isinf(rows.values).sum())},
    )
    return run, rows.kind


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
    rows = _rows(source, "relevance", named=True)
    grades = rows.values
    bad = np.flatnonzero(~are_grades(grades))
    if len(bad):
        where = rows.place(int(bad[0]))
        raise InputError(f"{where}: {NOT_A_GRADE}, got {grades[bad[0]]}: is this a run?")
    qrels = build_qrels(rows.topics, rows.first_rows, rows.documents, grades)
    _warn(rows.kind, qrels.oddities)
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
    return tidy_scores(table.kind, _scores_of_table(table, name))


def scores_in_table(source: Any, measure: str | None = None) -> Scores | None:
    """Return the scores in a table or in columns of numbers; None for other objects.

    A long table names topic and run; its values have one column, or one per measure. A wide one,
    of `measure`, has topics down, in a column or in the index of pandas, and runs across. Columns
    without a table are `scores_in_columns`.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"topic": [1, 2], "bm25": [0.1, 0.3], "splade": [0.2, 0.6]})
    >>> scores_in_table(frame, "AP").mean()
    array([[0.2, 0.4]])
    """
    table = table_of(source)
    if table is None:
        return scores_in_columns(source, measure)
    if table.pick(DOCUMENT_NAMES) is not None:
        return None
    run, value = table.pick(_RUN_OF_SCORES), table.pick(_CELL_NAMES)
    if table.pick(_MEASURE_NAMES) is not None and value is not None:
        return tidy_scores(table.kind, _scores_of_table(table, None))
    topic = table.pick(TOPIC_NAMES)
    has_index = hasattr(source, "rename_axis") and source.index.nlevels == 1
    if topic is None and has_index and (run is None or source.index.name is not None):
        return scores_in_table(source.rename_axis(index="topic").reset_index(), measure)
    if topic is None:
        return None
    if value is not None:
        columns = {measure or NO_MEASURE: value}
    else:
        columns = {str(name): name for name in table.columns if name not in (topic, run, *FACETS)}
    if not columns or (run is None and value is not None):
        return None
    try:
        cells = [number_column(table.column(c), f"{table.kind}, {c}") for c in columns.values()]
    except InputError:
        return None
    n, topics = len(columns), _labels(table, topic)
    across = [str(name) for name in columns for _ in topics]
    if run is None:
        measures, runs = [measure or NO_MEASURE] * len(across), across
    else:
        measures, runs = across, _labels(table, run, any_object=True) * n
    held = {name: own for name in FACETS if (own := table.pick((name,))) is not None}
    facets = {name: _labels(table, own, any_object=True) * n for name, own in held.items()}
    found = _scores(measures, runs, topics * n, np.concatenate(cells), table.kind, facets)
    return tidy_scores(table.kind, found)


def scores_in_columns(source: Any, measure: str | None = None) -> Scores | None:
    """Return the scores in a matrix [run, topic], or in `{run: numbers}`; None for other objects.

    Topics are numbered from 1; of pandas' Series, their indexes name them.

    >>> scores_in_columns({"bm25": [0.1, 0.3], "splade": [0.2, 0.6]}).mean()
    array([[0.2, 0.4]])
    >>> scores_in_columns(np.array([[0.1, 0.3], [0.2, 0.6]])).runs
    ('run1', 'run2')
    """
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
    """The single runs of what studies may be given, with their names where a dictionary names them.

    A run, several, or some by name; a list of named tuples is one run, not many. Nothing is read
    or converted yet.

    >>> [name for name, _ in single_runs({"a": {"q1": {"d": 1}}, "b": {"q1": {"d": 2}}})]
    ['a', 'b']
    """
    if isinstance(runs, Mapping) and not holds_one_run(runs):
        yield from ((str(name), run) for name, run in runs.items())
        return
    for run in _runs_in_table(runs) if holds_one_run(runs) else _several(runs):
        yield None, run


def _runs_in_table(source: Any) -> list[Any]:
    """The parts of a table by the runs that a column names; other objects are one run."""
    table = table_of(source)
    column = None if table is None else table.pick(RUN_NAMES)
    if table is None or column is None or table.pick(DOCUMENT_NAMES) is None:
        return [source]
    names = _labels(table, column, any_object=True)
    if len(found := dict.fromkeys(names)) < 2:
        return [source]
    rows = {name: [row for row, own in enumerate(names) if own == name] for name in found}
    if hasattr(source, "iloc"):
        return [source.iloc[own] for own in rows.values()]
    return [source.take(own) if hasattr(source, "take") else source[own] for own in rows.values()]


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


def _rows(source: Any, value: str, *, named: bool) -> _Rows:
    """The rows of any object that holds a run (value "score") or judgments ("relevance")."""
    library = _library(source)
    if library == "ranx":
        return _rows_of_ranx(source, value)
    table = table_of(_trectools_frame(source, value) if library == "trectools" else source)
    if table is None and isinstance(source, Mapping):
        return _rows_of_dict(source, value)
    table = _items(source) if table is None else table
    if table is None:
        raise _refused(source, value)
    return _rows_of_table(table, value, named=named)


def _items(source: Any) -> Table | None:
    if isinstance(source, (str, bytes)) or not isinstance(source, Iterable):
        return None
    return table_of_items(source)


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


def _rows_of_table(table: Table, value: str, *, named: bool) -> _Rows:
    wanted = (TOPIC_NAMES, DOCUMENT_NAMES, value_names(value, table.columns))
    columns = [table.find(names) for names in wanted]
    topics, documents = (
        text_column(table.column(column), f"{table.kind}, column {column!r}")
        for column in columns[:2]
    )
    if len(topics) == 0:
        raise InputError(f"{table.kind}: empty: no rows")
    names, codes = distinct_names(topics)
    starts = np.append(0, np.flatnonzero(np.diff(codes)) + 1)
    where = f"{table.kind}, column {columns[2]!r}"
    return _Rows(
        kind=table.kind,
        topics=[names[code] for code in codes[starts].tolist()],
        first_rows=starts,
        documents=ids_of(documents),
        values=number_column(table.column(columns[2]), where),
        name=None if named else _only_name(table),
    )


def _only_name(table: Table) -> str | None:
    """The run that a table's rows belong to, where a column says so."""
    column = table.pick(RUN_NAMES)
    if column is None:
        return None
    where = f"{table.kind}, column {column!r}"
    names, _ = distinct_names(text_column(table.column(column), where, any_object=True))
    if len(names) > 1:
        raise InputError(
            f"{where}: names {len(names)} runs ({names[0]!r}, {names[1]!r}, …): give one run at a "
            f"time, or say {arg('name=')} if the column does not name runs"
        )
    return names[0]


def _rows_of_ranx(source: Any, value: str) -> _Rows:
    expected = "Run" if value == "score" else "Qrels"
    if type(source).__name__ != expected:
        raise _refused(source, value)
    # Four times as fast as to_dict, which looks every document up again.
    topics, contents = source.get_query_ids(), source.get_doc_ids_and_scores()
    documents = [list(content.keys()) for content in contents]
    values = [list(content.values()) for content in contents]
    return _rows_of_lists(f"ranx {expected}", topics, documents, values, source.name)


def _trectools_frame(source: Any, value: str) -> Any:
    attribute = "run_data" if value == "score" else "qrels_data"
    if not hasattr(source, attribute):
        raise _refused(source, value)
    frame = getattr(source, attribute)
    if frame is None:
        raise InputError(f"{describe_type(source)}: empty: no file was read into it")
    return frame


def _rows_of_dict(source: Mapping[Any, Any], value: str) -> _Rows:
    topic_names(source, "score" if value == "score" else "grade")
    documents = [list(documents) for documents in source.values()]
    values = [list(documents.values()) for documents in source.values()]
    return _rows_of_lists("dictionary", list(source), documents, values)


def _rows_of_lists(
    kind: str,
    topics: list[Any],
    documents: list[list[Any]],
    values: list[list[Any]],
    name: str | None = None,
) -> _Rows:
    """Rows from one list a topic; a topic without documents stays, unlike in a table."""
    if not topics:
        raise InputError(f"{kind}: empty: no topics")
    names = text_column(topics, f"{kind}, topics")
    flat = text_column(list(itertools.chain(*documents)), f"{kind}, documents")
    return _Rows(
        kind=kind,
        topics=[raw.decode("utf-8", "surrogateescape") for raw in names.to_pylist()],
        first_rows=np.cumsum([0, *map(len, documents[:-1])]),
        documents=ids_of(flat) if len(flat) else make_ids([]),
        values=number_column(list(itertools.chain(*values)), f"{kind}, values"),
        name=name,
    )


def _warn(kind: str, oddities: Mapping[str, int]) -> None:
    for what, count in oddities.items():
        message = f"{kind}: {oddity_warning(what, count)}"
        warn(message)


def _scores_of_table(table: Table, name: str | None) -> Scores:
    run = table.pick(_RUN_OF_SCORES)
    if run is not None and table.pick(_MEASURE_NAMES) is None:
        raise InputError(
            f"{table.kind}: expected columns measure, run, topic and value, got "
            f"{', '.join(map(str, table.columns))}: PyTerrier gives them with perquery=True"
        )
    measures = _labels(table, table.find(_MEASURE_NAMES), any_object=True)
    topics = _labels(table, table.find(TOPIC_NAMES))
    runs = [_given(name)] * len(topics) if run is None else _labels(table, run)
    column = table.find(_CELL_NAMES)
    where = f"{table.kind}, column {column!r}"
    held = {name: own for name in FACETS if (own := table.pick((name,))) is not None}
    facets = {name: _labels(table, own, any_object=True) for name, own in held.items()}
    scores = _scores(measures, runs, topics, table.column(column), where, facets)
    return scores if run is None else _renamed(scores, name)


def _labels(table: Table, column: str, *, any_object: bool = False) -> list[str]:
    where = f"{table.kind}, column {column!r}"
    names, codes = distinct_names(text_column(table.column(column), where, any_object=any_object))
    return [names[code] for code in codes.tolist()]


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
    measures: Sequence[str],
    runs: Sequence[str],
    topics: Sequence[str],
    values: Any,
    where: str,
    facets: Mapping[str, Sequence[str]] | None = None,
) -> Scores:
    if not measures:
        raise InputError(f"{where}: empty: no scores")
    numbers = number_column(values, where)
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        row = int(infinite[0])
        raise InputError(f"{where}, row {row}: expected a score, got {numbers[row]}")
    return scores_from_cells(measures, runs, topics, numbers, facets=facets)


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
