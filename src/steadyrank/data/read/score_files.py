"""Scores in files: long CSV or Parquet, with where they come from, and wide CSV.

A wide file is a matrix of one measure, with names on top and in the first column. Some have no
column of names, or no line of them. Taken as they stand, these would lose a system or a topic
without a word, its scores having become names: so whether the first column and the first line hold
names is asked, and what cannot be said is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from steadyrank.data.facets import FACETS, NESTED, facets_of
from steadyrank.data.forms.reading import read_forms
from steadyrank.data.interop.objects import NO_MEASURE
from steadyrank.data.interop.tables import one_column, pick_column
from steadyrank.data.read.csv_files import MISSING, as_meant, check_widths, number, read_csv
from steadyrank.data.read.parquet import coded_names, column_numbers, read_parquet
from steadyrank.data.read.score_tools import (
    LONG_ROLES,
    is_log,
    printed_by,
    read_json_line_scores,
    read_json_scores,
    read_printed,
)
from steadyrank.data.read.sources import PathLike, base_name, head_of, kind_of, open_bytes
from steadyrank.data.scores import (
    AXES,
    CellError,
    Disagreement,
    Scores,
    join_scores,
    plain_value,
    scores_from_cells,
    scores_from_codes,
)
from steadyrank.data.table_rules import (
    Numbered,
    is_heading,
    names_in_front,
    names_rows,
    tell,
    tidy_scores,
)
from steadyrank.data.write.files import INFO, METADATA
from steadyrank.errors import FormatError, InputError, arg, warn
from steadyrank.visible import restored
from steadyrank.words import counted

Held = Literal["names", "scores", "either"]


def read_scores(
    source: PathLike | Sequence[PathLike] | Mapping[str, PathLike],
    *,
    measure: str | None = None,
    runs_in_rows: bool = False,
    form: str | None = None,
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

    Returns
    -------
    Scores
        One value per measure, run and topic; NaN where there is none.

    Notes
    -----
    The first column of a wide file names the topics. Where it holds scores instead, topics are
    numbered 1, 2, … with a warning; a heading such as `topic` says that it holds names.

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
    if not isinstance(source, Mapping):
        paths: Any = source if isinstance(source, (list, tuple)) else [source]
        if (found := read_forms(paths, form=form, measure=measure)) is not None:
            return found.scores
    if isinstance(source, Mapping):
        return _joined(
            [_read_file(Path(path), str(name), runs_in_rows) for name, path in source.items()]
        )
    if isinstance(source, (list, tuple)):
        return _joined([_read_file(Path(path), measure, runs_in_rows) for path in source])
    return _read_file(Path(source), measure, runs_in_rows)  # type: ignore[arg-type]


def _joined(parts: Sequence[Scores]) -> Scores:
    if len(parts) == 1:
        return parts[0]
    numbered = [part.meta.get("numbered") for part in parts]
    if any(numbered):
        _check_numbered(parts, numbered)
    parts = _named_apart(parts)
    try:
        return join_scores(*parts)
    except Disagreement as error:
        raise InputError(
            f"{error}: if the files hold different measures, give the measure of each"
        ) from None


def _named_apart(parts: Sequence[Scores]) -> Sequence[Scores]:
    """The parts, those of tools named by their files where runs of one name are not the same."""
    by_run: dict[str, list[int]] = {}
    for place, part in enumerate(parts):
        if "tool" in part.meta and len(own := set(_systems(part))) == 1:
            by_run.setdefault(own.pop(), []).append(place)
    others = [places for places in by_run.values() if not _agree([parts[i] for i in places])]
    named = {i: base_name(Path(parts[i].meta["source"])) for places in others for i in places}
    if others:
        first = _systems(parts[others[0][0]])[0]
        warn(
            f"{counted(len(named), 'file')} hold different runs of the same name (first "
            f"{first!r}, of {named[others[0][0]]} and {named[others[0][1]]}): they are named "
            "by their files",
            stacklevel=5,
        )
    return [_renamed(part, named[i]) if i in named else part for i, part in enumerate(parts)]


def _systems(part: Scores) -> Sequence[str]:
    """The name of each run without its facets."""
    return part.run_info["system"] if facets_of(part) else part.runs


def _renamed(part: Scores, name: str) -> Scores:
    """The only run, or the only system whose answers the runs are, under another name."""
    if not facets_of(part):
        return replace(part, runs=(name,))
    old = part.run_info["system"][0]
    runs = tuple(name + run.removeprefix(old) for run in part.runs)
    return replace(part, runs=runs).with_run_info(system=[name] * len(runs))


def _agree(parts: Sequence[Scores]) -> bool:
    try:
        join_scores(*parts)
    except Disagreement:
        return False
    return True


def _check_numbered(parts: Sequence[Scores], numbered: Sequence[str | None]) -> None:
    """Refuse to match numbered topics, or runs, with others that have names or are more."""
    (what,) = {kind for kind in numbered if kind}
    sizes = [len(part.topics if what == "topics" else part.runs) for part in parts]
    if not all(numbered) or len(set(sizes)) > 1:
        raise InputError(
            f"the files cannot be joined, as some lack a column that names the {what}: add it "
            "to all of them"
        )


def _read_file(path: Path, measure: str | None, runs_in_rows: bool) -> Scores:
    return tidy_scores(str(path), _read_any(path, measure, runs_in_rows))


def _read_any(path: Path, measure: str | None, runs_in_rows: bool) -> Scores:
    with open_bytes(path) as stream:
        kind = kind_of(stream)
        if kind == "json" or is_log(head_of(stream)):
            return read_json_scores(path, stream, measure)
        if kind == "json lines":
            return read_json_line_scores(path, stream)
        tool = printed_by(stream) if kind == "text" else None
        if tool is not None:
            return read_printed(path, stream, tool)
    if kind == "parquet":
        return _read_parquet(path)
    (_, header), *rows = read_csv(path)
    header = [name.strip() for name in header]
    columns = _long_columns(
        path, header, lambda name: [fields[header.index(name) :][:1] for _, fields in rows]
    )
    if columns is not None:
        return _read_long(path, columns, rows)
    name = measure or NO_MEASURE
    return read_matrix(path, header, rows, measure=name, runs_in_rows=runs_in_rows)


def _long_columns(
    path: Path, header: list[str], cells: Callable[[str], Any]
) -> dict[str, int] | None:
    """Which column holds what, or None where the header is not a long file's."""
    if any(pick_column(header, names) is None for names in LONG_ROLES.values()):
        return None
    found = {role: one_column(path, header, names, cells, 1) for role, names in LONG_ROLES.items()}
    facets = {name: column for name in FACETS if (column := pick_column(header, (name,)))}
    return {role: header.index(str(column)) for role, column in (found | facets).items()}


def _read_long(path: Path, columns: dict[str, int], rows: Numbered) -> Scores:
    width = max(columns.values()) + 1
    for line, fields in rows:
        if len(fields) < width:
            raise FormatError(path, f"expected {width} columns, got {len(fields)}", line)
    if not rows:
        raise FormatError(path, "empty: no scores")
    named = [*AXES, *(name for name in FACETS if name in columns)]
    names = [[fields[columns[axis]] for _, fields in rows] for axis in named]
    for axis, column in zip(named, names, strict=True):
        if "" in column and axis not in NESTED:
            line = rows[column.index("")][0]
            raise FormatError(path, f"expected the name of a {axis}, got an empty cell", line)
    place = columns["value"]
    values = [number(path, fields[place], line) for line, fields in rows]
    measures, runs, topics, *more = as_meant(names)
    facets = dict(zip(named[len(AXES) :], more, strict=True))
    meta = come_from(path)
    try:
        return scores_from_cells(measures, runs, topics, values, facets=facets, meta=meta)
    except CellError as error:
        raise FormatError(path, error.args[0], rows[error.row][0]) from None


def _read_parquet(path: Path) -> Scores:
    table = read_parquet(path)
    columns = _long_columns(path, table.column_names, table.column)
    if columns is None:
        expected = ", ".join(names[0] for names in LONG_ROLES.values())
        got = ", ".join(table.column_names)[:200]
        raise FormatError(path, f"expected columns {expected}, got {got}")
    coded = [coded_names(path, table, columns[axis], axis) for axis in AXES]
    labels, codes = zip(*coded, strict=True)
    if METADATA in (table.schema.metadata or {}):
        labels = tuple(tuple(map(restored, names)) for names in labels)
    values = column_numbers(path, table, columns["value"])
    own = _own_metadata(path, table, dict(zip(AXES, map(len, labels), strict=True)))
    if any(name in columns for name in FACETS):
        return _faceted_parquet(path, table, columns, coded, values)
    try:
        scores = scores_from_codes(labels, codes, values, meta=own.get("meta", come_from(path)))
    except CellError as error:
        raise FormatError(path, error.args[0], error.row + 1) from None
    info = {key: own.get(key, {}) for key in INFO}
    return replace(scores, **info)


def _faceted_parquet(
    path: Path, table: Any, columns: dict[str, int], coded: Sequence[Any], values: np.ndarray
) -> Scores:
    """With columns of facets, the rows are named one by one."""
    of_facets = {
        name: coded_names(path, table, columns[name], name) for name in FACETS if name in columns
    }
    axes = [[names[code] for code in codes.tolist()] for names, codes in coded]
    facets = {
        name: [names[code] for code in codes.tolist()] for name, (names, codes) in of_facets.items()
    }
    try:
        return scores_from_cells(
            axes[0], axes[1], axes[2], values, facets=facets, meta=come_from(path)
        )
    except CellError as error:
        raise FormatError(path, error.args[0], error.row + 1) from None


def _own_metadata(path: Path, table: Any, sizes: Mapping[str, int]) -> dict[str, Any]:
    """What `write_scores` has put beside the columns; nothing in other tools' files."""
    text = (table.schema.metadata or {}).get(METADATA, b"{}")
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
        raise FormatError(path, "its steadyrank metadata are damaged: write the file again")
    return dict(own)


def read_matrix(
    path: Path, header: list[str], rows: Numbered, *, measure: str, runs_in_rows: bool
) -> Scores:
    """A matrix of scores: topics down and runs across, or the other way round."""
    across = [name.strip() for name in header]
    _check_shape(path, across, rows, runs_in_rows)
    across, rows, runs_in_rows = _laid_out(path, across, rows, runs_in_rows)
    values = np.array([[number(path, text, line) for text in row[1:]] for line, row in rows])
    down = [fields[0].strip() for _, fields in rows]
    meta = come_from(path)
    if _is_line_of_scores(across, down, values):
        raise FormatError(path, _no_header(runs_in_rows), 1)
    held = _first_column(across, down, values, runs_in_rows)
    if held == "either":
        raise FormatError(path, _unclear(across[0], runs_in_rows), 1)
    if held == "scores":
        first = [number(path, text, line) for text, (line, _) in zip(down, rows, strict=True)]
        values = np.column_stack([first, values])
        down = [f"{'run' if runs_in_rows else ''}{k}" for k in range(1, len(rows) + 1)]
        what = "runs" if runs_in_rows else "topics"
        warn(_numbered(path, across[0], down, what), stacklevel=5)
        meta["numbered"] = what
    else:
        across = across[1:]
        if "" in down:
            line = rows[down.index("")][0]
            raise FormatError(path, "expected a name in the first column, got an empty cell", line)
    across, down = as_meant([across, down])
    numbered = sum(map(str.isdecimal, down))
    if not runs_in_rows and all(map(str.isdecimal, across)) and numbered < len(down) / 2:
        warn(
            f"{path}: the columns are numbers, as topics are, and most rows are not: if runs "
            f"stand in rows, give {arg('runs_in_rows=')}",
            stacklevel=5,
        )
    runs, topics = (down, across) if runs_in_rows else (across, down)
    try:
        return Scores(
            measures=(measure,),
            runs=tuple(runs),
            topics=tuple(topics),
            values=(values if runs_in_rows else values.T)[np.newaxis],
            meta=meta,
        )
    except InputError as error:
        raise FormatError(path, error.args[0]) from None


def _laid_out(
    path: Path, header: list[str], rows: Numbered, runs_in_rows: bool
) -> tuple[list[str], Numbered, bool]:
    """The table with its column of names in front, and whether runs stand in rows."""
    named = {
        kind: [k for k, text in enumerate(header) if names_rows(text) == kind]
        for kind in ("topics", "runs")
    }
    # A run may be called run, but then there are numbers below.
    texts = [
        k
        for k in named["runs"]
        if k == 0 or not any(plain_value(row[k].strip()) for _, row in rows)
    ]
    naming = texts if 0 in texts else named["topics"] or texts
    header, rows = names_in_front(path, header, rows, naming)
    held = names_rows(header[0])
    if held == "topics" and runs_in_rows:
        message = f"the first column, {header[0]!r}, names topics: omit runs_in_rows, or rename it"
        raise FormatError(path, message, 1)
    if held == "runs" and not runs_in_rows:
        tell(path, f"the first column, {header[0]!r}, names runs: read as with runs_in_rows")
    return header, rows, runs_in_rows or held == "runs"


def _check_shape(path: Path, header: list[str], rows: Numbered, runs_in_rows: bool) -> None:
    if len(header) < 2:
        what = "topics" if runs_in_rows else "runs"
        got = f"{', '.join(header)[:200]!r}"
        raise FormatError(path, f"expected a header of {what}, got {got}", 1)
    if not all(header[1:]):
        column = header.index("", 1) + 1
        raise FormatError(path, f"column {column} has no name: name or remove it", 1)
    check_widths(path, header, rows)
    if not rows:
        raise FormatError(path, "empty: a header but no scores")


def _first_column(
    header: Sequence[str], cells: Sequence[str], others: np.ndarray, runs_in_rows: bool
) -> Held:
    """Whether the first column holds names, or scores as the other columns do.

    Names are whatever has a known heading, is not a number, or does not lie where the scores lie,
    as 301 does not among scores from 0 to 1. Where it does, fractions and repeated numbers are
    scores, and whole numbers in order, or among fractions, are names.
    """
    column = None if is_heading(header[0]) else _numbers(cells)
    if column is None or not _lie_among(column, others):
        return "names"
    is_whole, is_distinct = _is_whole(column), len(np.unique(column)) == len(column)
    if runs_in_rows and is_distinct and not is_whole:
        # Runs may be named by a parameter: 0.1, 0.2, 0.5 under a word, beside numbers of topics.
        if _numbers(header[:1]) is None and _numbers(header[1:]) is not None:
            return "names"
        return "either" if _rises(column) else "scores"
    if _in_unit(others):
        plain = all(text.strip().isdigit() for text in cells)
        return "names" if is_whole and is_distinct and plain else "scores"
    if is_whole and is_distinct:
        fractions = not _is_whole(_known(others))
        return "names" if fractions or _are_in_order(cells, column) else "either"
    if len(column) > 1 and np.ptp(column) == 0:
        return "scores"
    # Sorted, fractions may be names such as 31.1, 31.2, and whole numbers names with one twice.
    return "either" if (np.diff(column) >= 0).all() else "scores"


def _is_line_of_scores(header: Sequence[str], cells: Sequence[str], others: np.ndarray) -> bool:
    """Whether the first line is no header but scores.

    Names can be numbers too: whole ones of topics, and fractions of runs that are named by a
    parameter, which rise under a word that is not one of the names below it.
    """
    line = None if is_heading(header[0]) else _numbers(header[1:])
    if line is None or not _lie_among(line, others):
        return False
    corner = _numbers(header[:1])
    if _is_whole(line) and len(np.unique(line)) == len(line):
        counts = not _in_unit(others) and _is_whole(_known(others))
        return (
            corner is not None
            and counts
            and not _are_in_order(header, np.concatenate([corner, line]))
        )
    return corner is not None or (_numbers(cells) is None and not _rises(line))


def _are_in_order(texts: Sequence[str], values: np.ndarray) -> bool:
    """Whether whole numbers come as names do: upwards, sorted as text, or one after another."""
    as_text = all(a < b for a, b in pairwise(texts))
    return _rises(values) or as_text or np.ptp(values) + 1 == len(values)


def _numbers(cells: Sequence[str]) -> np.ndarray | None:
    """Those of the cells that are not missing, or None if some are no numbers or all missing."""
    texts = [cell.strip() for cell in cells if cell.strip().lower() not in MISSING]
    values = [plain_value(text) for text in texts]
    if any(value is None for value in values):
        return None
    known = _known(np.array(values, np.float64))
    return known if len(known) else None


def _known(values: np.ndarray) -> np.ndarray:
    return np.asarray(values[~np.isnan(values)])


def _is_whole(values: np.ndarray) -> bool:
    return bool((values == np.round(values)).all())


def _rises(values: np.ndarray) -> bool:
    return bool((np.diff(values) > 0).all())


def _in_unit(scores: np.ndarray) -> bool:
    """Whether the scores are of a measure from 0 to 1, as nearly all are."""
    known = _known(scores)
    return bool(len(known) and known.min() >= 0 and known.max() <= 1)


def _lie_among(values: np.ndarray, scores: np.ndarray) -> bool:
    """Whether the values could be scores of the same measure."""
    known = _known(scores)
    if not len(known):
        return False
    low, high = (0.0, 1.0) if _in_unit(scores) else (known.min(), known.max())
    # One system may do better or worse than all others, but on no other scale.
    room = 0.0 if _in_unit(scores) else high - low
    return bool(values.min() >= low - room and values.max() <= high + room)


def _numbered(path: Path, heading: str, names: Sequence[str], what: str) -> str:
    one = what[:-1]
    return (
        f"{path}: the first column, {heading!r}, holds scores, so no column names the {what}: "
        f"they are numbered {names[0]} to {names[-1]}; if it holds {what}, name it {one!r}"
    )


def _unclear(heading: str, runs_in_rows: bool) -> str:
    one = "run" if runs_in_rows else "topic"
    return (
        f"the first column, {heading!r}, may hold {one}s or scores: name it {one!r} if it holds "
        f"{one}s, or put a column of {one}s before it"
    )


def _no_header(runs_in_rows: bool) -> str:
    down, across = ("run", "topics") if runs_in_rows else ("topic", "runs")
    return (
        f"the first line holds scores, not the names of {across}: add a header above it, or, "
        f"if these are names, name the first column {down!r}"
    )


def come_from(path: Path) -> dict[str, Any]:
    """What is known of scores that a file does not say more about."""
    return {"source": str(path)}
