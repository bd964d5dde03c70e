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
from typing import Any

import numpy as np

from steadyrank.data.facets import FACETS
from steadyrank.data.ids import Ids, make_ids
from steadyrank.data.interop.tables import (
    DOCUMENT_NAMES,
    RUN_NAMES,
    TOPIC_NAMES,
    VALUE_NAMES,
    Table,
    describe_type,
    distinct_names,
    ids_of,
    is_named_tuple,
    number_column,
    table_of,
    table_of_items,
    text_column,
)
from steadyrank.data.qrels import LARGEST_GRADE, Qrels, build_qrels
from steadyrank.data.run import (
    INFINITE_SCORES,
    Duplicates,
    Run,
    build_run,
    check_duplicates,
    oddity_warning,
    topic_names,
)
from steadyrank.data.scores import Scores, scores_from_cells
from steadyrank.data.table_rules import tidy_scores
from steadyrank.errors import InputError, arg, warn

NO_MEASURE = "score"
"""The measure of scores that do not say it, as of a wide table."""

DEFAULT_NAME = "run"
"""The name of a run that neither the caller nor the object names."""

_RUN_OF_SCORES = ("run", "name", "system")
_MEASURE_NAMES = ("measure", "metric")
_CELL_NAMES = ("value", "score")

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


def as_qrels(source: Any) -> Qrels:
    """Judgments from what another tool gave; as `as_run`, with grades instead of scores.

    Parameters
    ----------
    source : object
        As in `as_run`. Tables have a column `relevance`, `label`, `rel` or `grade`, or `score`
        beside ranx's `q_id`. Grades are whole numbers.

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
    with np.errstate(invalid="ignore"):
        whole = (grades == np.floor(grades)) & (np.abs(grades) <= LARGEST_GRADE)
    bad = np.flatnonzero(~whole)
    if len(bad):
        message = f"expected a whole number as grade, at most {LARGEST_GRADE}"
        raise InputError(f"{rows.place(int(bad[0]))}: {message}, got {grades[bad[0]]}")
    qrels = build_qrels(rows.topics, rows.first_rows, rows.documents, grades)
    _warn(rows.kind, qrels.oddities)
    return qrels


def as_scores(source: Any, *, name: str | None = None) -> Scores:
    """Scores that another tool computed, topic by topic.

    Names of measures are taken as they are. NaN is missing.

    Parameters
    ----------
    source : object
        A long table (`measure, run, topic, value`; PyTerrier's `name, qid, measure, value` of
        `pt.Experiment(..., perquery=True)`), a wide one with topics down and runs across, what
        `ir_measures.iter_calc` and `calc` return, or pytrec_eval's `{topic: {measure: value}}`,
        alone or by run.
    name : str, optional
        The run's, where the object does not say which run it is about.

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
    if name is None and (scores := scores_in_table(source)) is not None:
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
    """The scores in a table that is long, or wide and then of `measure`; None of anything else.

    A wide one has topics down, in a column or in the index of pandas, and runs across.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"topic": [1, 2], "bm25": [0.1, 0.3], "splade": [0.2, 0.6]})
    >>> scores_in_table(frame, "AP").mean()
    array([[0.2, 0.4]])
    """
    table = table_of(source)
    if table is None or table.pick(DOCUMENT_NAMES) is not None:
        return None
    if table.pick(_MEASURE_NAMES) is not None and table.pick(_CELL_NAMES) is not None:
        return tidy_scores(table.kind, _scores_of_table(table, None))
    topic = table.pick(TOPIC_NAMES)
    if topic is None and hasattr(source, "rename_axis") and source.index.nlevels == 1:
        return scores_in_table(source.rename_axis(index="topic").reset_index(), measure)
    runs = [name for name in table.columns if name != topic]
    if topic is None or not runs or table.pick(("value",)) is not None:
        return None
    try:
        values = [number_column(table.column(run), f"{table.kind}, {run}") for run in runs]
    except InputError:
        return None
    names, n = _labels(table, topic), len(runs)
    labels = [measure or NO_MEASURE] * (n * len(names))
    across = [str(run) for run in runs for _ in names]
    cells = _scores(labels, across, names * n, np.concatenate(values), table.kind)
    return tidy_scores(table.kind, cells)


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
    for run in [runs] if holds_one_run(runs) else _several(runs):
        yield None, run


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
    """Whether an object, although it may be iterable, stands for one run or file name."""
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
    wanted = VALUE_NAMES[value]
    if value == "relevance" and table.pick(("q_id",)) is None:
        # Only ranx calls grades scores; anybody else's are a run's, given by mistake.
        wanted = tuple(name for name in wanted if name != "score")
    columns = [table.find(names) for names in (TOPIC_NAMES, DOCUMENT_NAMES, wanted)]
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
