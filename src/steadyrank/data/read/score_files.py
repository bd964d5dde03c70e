"""Scores in files: long tables, with where they come from, and wide CSV.

Columns say by their headings what they hold; no cell decides. A long table names the topic, the
value and the run or the measure of each row. A wide one is a matrix of one measure: its first
heading says whether rows are topics or runs, and a heading that does not is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.data.forms.form import Source
from steadyrank.data.forms.reading import form_of, read_forms
from steadyrank.data.forms.search import SUMMARY
from steadyrank.data.interop.objects import NO_MEASURE, long_scores
from steadyrank.data.interop.tables import DOCUMENT_NAMES, LONG_ROLES, Table, pick_column
from steadyrank.data.read.sources import PathLike, base_name, kind_of, open_bytes
from steadyrank.data.read.tables import as_meant, csv_table, json_table, parquet_table
from steadyrank.data.scores import AXES, Disagreement, Scores, join_scores, plain_value
from steadyrank.data.table_rules import is_blank, names_rows, tell_of_index, tidy_scores
from steadyrank.data.write import INFO, METADATA
from steadyrank.errors import FormatError, InputError, arg
from steadyrank.visible import restored


def read_scores(
    source: PathLike | Sequence[PathLike] | Mapping[str, PathLike],
    *,
    measure: str | None = None,
    runs_in_rows: bool = False,
    form: str | None = None,
    lower_is_better: str | Iterable[str] = (),
    higher_is_better: str | Iterable[str] = (),
) -> Scores:
    """Read scores that another tool, or steadyrank itself, has written.

    Names of measures are labels here, taken as they are. Empty or nan is missing.

    Parameters
    ----------
    source : path, sequence or mapping of paths
        A file is long (columns measure, run, topic, value; PyTerrier's name, qid, measure, value),
        as CSV, Parquet or JSON lines; or wide CSV: topics down, runs across, one measure; or what a
        tool printed: `trec_eval -q`, `ir_measures --by_query`, NTCIREVAL, pytrec_eval's dictionary
        as JSON, Elasticsearch's `_rank_eval`; or a file, folder or glob of an evaluation tool
        such as Inspect or lm-eval-harness. Packed or not. Several wide files make a cube:
        `{"AP": "ap.csv", "RR": "rr.csv"}`; a list of files is joined (`join_scores`).
    measure : str, optional
        Names the measure of a wide file.
    runs_in_rows : bool
        Whether a wide file has runs down and topics across.
    form : str, optional
        The form of an evaluation tool's files, such as "inspect", where their content does not
        say it.
    lower_is_better, higher_is_better : str or sequence of str
        Measures whose direction is neither in the files nor clear by name, or wrong there.

    Returns
    -------
    Scores
        One value per measure, run and topic; NaN where there is none.

    Notes
    -----
    The first heading of a wide file says what its rows are: `topic` (or `qid`, or nothing) topics,
    `run` (or `system`, `model`) runs. Any other heading is refused unless `runs_in_rows` is given.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import steadyrank as sr
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ap.csv"
    >>> _ = file.write_text("topic,bm25,dense\\n301,0.3,0.4\\n302,0.1,0.2\\n")
    >>> sr.read_scores(file, measure="AP")
    <Scores: 1 measure × 2 runs × 2 topics>
    """
    if isinstance(source, (Mapping, list, tuple)) and not source:
        raise InputError("no score files were named")
    if isinstance(source, Mapping):
        parts = [_read_file(path, str(name), runs_in_rows) for name, path in source.items()]
    else:
        paths: Any = source if isinstance(source, (list, tuple)) else [source]
        tables = []
        if form is None and len(paths) > 1:
            known = {p: Path(p).is_file() and form_of(Source(Path(p))) is None for p in paths}
            tables = [path for path, is_table in known.items() if is_table]
        tools = [path for path in paths if path not in tables]
        found = read_forms(tools, form=form, measure=measure) if tools else None
        parts = [] if found is None else [found.scores]
        parts += [_read_file(p, measure, runs_in_rows) for p in (tables if found else paths)]
    scores = _joined(parts)
    return scores.directed(lower=lower_is_better, higher=higher_is_better)


def _joined(parts: Sequence[Scores]) -> Scores:
    try:
        return parts[0] if len(parts) == 1 else join_scores(*parts)
    except Disagreement as error:
        raise InputError(
            f"{error}: if the files hold different measures, give the measure of each"
        ) from None


def _read_file(path: PathLike, measure: str | None, runs_in_rows: bool) -> Scores:
    where = Path(path)
    if (found := read_forms([where], measure=measure)) is not None:
        return found.scores
    with open_bytes(where) as stream:
        kind = kind_of(stream)
        if kind == "json":  # which only the caller knows to hold scores
            return read_forms([where], form="pytrec-eval", measure=measure).scores  # type: ignore[union-attr]
        make = {"parquet": parquet_table, "json lines": json_table, "text": csv_table}
        table = make[kind](where, stream)
    if is_long(table.header):
        return tidy_scores(str(where), _long_scores(table, measure))
    if kind == "text":
        return tidy_scores(str(where), _matrix(table, measure or NO_MEASURE, runs_in_rows))
    missing = (n for n in ("measure", "topic", "value") if not _holds(table.header, n))
    raise table.lacks(next(missing, "run"))


def _holds(header: Sequence[str], role: str) -> bool:
    return pick_column(header, LONG_ROLES[role]) is not None


def is_long(header: Sequence[str]) -> bool:
    """Whether columns are those of a long table of scores."""
    named = _holds(header, "run") or _holds(header, "measure")
    is_ranking = pick_column(header, DOCUMENT_NAMES) is not None
    return named and _holds(header, "topic") and _holds(header, "value") and not is_ranking


def _long_scores(table: Table, measure: str | None) -> Scores:
    """A value per row; what no column names is one measure, or the file's run."""
    sizes: dict[str, int] = {}
    own: dict[str, Any] = {}

    def meant(labels: Sequence[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
        sizes.update(zip(AXES, map(len, labels), strict=True))
        own.update(_own_metadata(table, sizes))
        if METADATA in table.metadata:
            labels = [tuple(map(restored, names)) for names in labels]
        return as_meant(labels) if table.is_csv else labels

    run = base_name(Path(table.where))
    scores = long_scores(table, measure or NO_MEASURE, run, meant)
    about = {key: own.get(key, {}) for key in INFO} if own else {}
    scores = replace(scores, meta=own.get("meta", {"source": str(table.where)}), **about)
    # ir_measures, which names no run, prints its means as well.
    topics = [name for name in scores.topics if name != SUMMARY]
    is_printed = topics and table.find(LONG_ROLES["run"]) is None
    return scores.select(topics=topics) if is_printed else scores


def _own_metadata(table: Table, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return the metadata that `write_scores` wrote; empty for other tools' files."""
    text = table.metadata.get(METADATA, b"{}")
    try:
        own = json.loads(text)
        sound = isinstance(own.get("meta", {}), dict) and all(
            isinstance(column, list) and len(column) == sizes[axis]
            for key, axis in INFO.items()
            for column in own.get(key, {}).values()
        )
    except (ValueError, RecursionError, AttributeError):
        sound = False
    if not sound:
        raise FormatError(table.where, "its steadyrank metadata are damaged: write the file again")
    return dict(own)


def _matrix(table: Table, measure: str, runs_in_rows: bool) -> Scores:
    naming, across = _places(table, runs_in_rows)
    runs_in_rows = runs_in_rows or names_rows(table.header[naming]) == "runs"
    if not len(table):
        raise table.error(None, "empty: a header but no scores")
    named, codes = table.labels(naming, "run" if runs_in_rows else "topic")
    down = [named[code] for code in codes]
    values = np.stack([table.numbers(place, "value") for place in across])
    names = as_meant([[table.header[place] for place in across], down])
    runs, topics = reversed(names) if runs_in_rows else names
    values = (values.T if runs_in_rows else values)[np.newaxis]
    meta = {"source": str(table.where)}
    try:
        return Scores(measures=(measure,), runs=runs, topics=topics, values=values, meta=meta)
    except InputError as error:
        raise FormatError(table.where, error.args[0]) from None


def _places(table: Table, runs_in_rows: bool) -> tuple[int, list[int]]:
    """Return the columns of names and of scores; an error if no heading says what the rows are."""
    header = table.header
    if len(header) < 2:
        what = "topics" if runs_in_rows else "runs"
        message = f"expected a header of {what}, got {', '.join(header)[:200]!r}"
        raise FormatError(table.where, message, 1)
    if "" in header[1:]:
        column = header.index("", 1) + 1
        raise FormatError(table.where, f"column {column} has no name: name or remove it", 1)
    kinds = [names_rows(heading) for heading in header]
    naming = 1 if is_blank(header[0]) and kinds[1] else 0
    if naming:
        tell_of_index(table.where, header[0], header[1])
    kind = kinds[naming]
    if kind == "topics" and runs_in_rows:
        omit = f"omit {arg('runs_in_rows')}, or rename it"
        message = f"column {header[naming]!r} names topics: {omit}"
        raise FormatError(table.where, message, 1)
    is_number = plain_value(header[naming]) is not None
    are_numbers = all(plain_value(name) is not None for name in header[1:])
    if is_blank(header[naming]) and are_numbers and not runs_in_rows:
        raise FormatError(
            table.where,
            f"columns are named by numbers, such as {header[1]!r}, and the first heading, "
            f"{header[0]!r}, does not say what the rows are: name it 'run' if the columns are "
            "topics, or 'topic' if they are runs",
            1,
        )
    if not (kind or is_blank(header[naming]) or (runs_in_rows and not is_number)):
        raise FormatError(
            table.where,
            f"the first heading, {header[0]!r}, does not say what the rows are: name it 'topic', "
            f"or 'run' where each row is a run (or give {arg('runs_in_rows=')}); if it is a run "
            "itself, put a column of topics before it",
            1,
        )
    twins = [k for k, own in enumerate(kinds) if k > naming and own == kind == "topics"]
    if kind == "runs":
        twins = [k for k, own in enumerate(kinds) if k > naming and own]
    for twin in twins:
        if kinds[twin] != kind or table.cells(twin) != table.cells(naming):
            pair = f"columns {header[naming]!r} and {header[twin]!r}"
            message = f"{pair} name one thing, and differ: remove one"
            if kinds[twin] != kind:
                message = f"{pair} name runs and topics: call the column of scores 'value'"
            raise FormatError(table.where, message, 1)
    return naming, [k for k in range(naming + 1, len(header)) if k not in twins]
