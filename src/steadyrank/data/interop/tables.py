"""Tables that other tools made: which column holds what, checked and turned into ids and numbers.

Columns are `query_id`, `doc_id` and `score` or `relevance`, under any of the names that other tools
give them. pandas, polars and pyarrow columns, and lists, all become Arrow arrays, whose buffers
hold names end to end as `Ids` does; only a column that Arrow cannot hold (names of mixed types, ids
that are not UTF-8) is walked value by value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from steadyrank.data import PathLike
from steadyrank.data.ids import PADDING, Ids, ids_from_buffer
from steadyrank.errors import FormatError, InputError

# trectools calls the topic's id "query", which in PyTerrier's frames is its text: last.
TOPIC_NAMES = ("query_id", "qid", "q_id", "topic", "query")
DOCUMENT_NAMES = ("doc_id", "docno", "docid", "did", "document", "corpus_id", "doc")

VALUE_NAMES = {
    "score": ("score", "sim"),
    "relevance": ("relevance", "rel", "label", "grade", "score"),
}

RUN_NAMES = ("run", "tag", "name", "system", "model")

LONG_ROLES: Mapping[str, tuple[str, ...]] = {
    "measure": ("measure", "metric"),
    "run": ("run", "name", "system", "model"),
    "topic": ("topic", "qid", "query_id", "q_id", "query"),
    "value": ("value", "score"),
}
"""What the columns of a long table of scores are called."""

_OTHER_THINGS = {"query", "document", "doc", "name", "system", "method", "collection"}
_OTHER_THINGS |= {"benchmark"}
"""Names that mean another thing, such as its text, if another column holds the thing itself."""


def plain_column(name: object) -> str:
    """A column's name as it is looked up: `Query-ID` is query_id."""
    return str(name).strip().lower().replace("-", "_")


def pick_column(present: Iterable[str], names: tuple[str, ...]) -> str | None:
    """The first of `names` that a table has, capitals and hyphens ignored."""
    by_name = {plain_column(column): column for column in present}
    return next((by_name[name] for name in names if name in by_name), None)


def twin_columns(present: Iterable[str], names: tuple[str, ...]) -> list[str]:
    """The columns that `names` are names of the same thing for, the one that is taken first.

    >>> twin_columns(["docno", "score", "doc_id"], DOCUMENT_NAMES)
    ['doc_id', 'docno']
    """
    present = list(present)
    found = pick_column(present, names)
    # Only ranx calls grades scores, and PyTerrier numbers documents in addition to `docno`.
    others = _OTHER_THINGS | ({"score"} if "relevance" in names else set())
    others |= {"docid"} if "docno" in present else set()
    others |= {names[-1]} & {"model"}  # next to a run's name, it is a component of the run
    same = {plain_column(found), *(name for name in names if name not in others)}
    twins = [name for name in present if plain_column(name) in same and name != found]
    return [] if found is None else [*[name for name in present if name == found], *twins]


def one_column(
    where: PathLike,
    present: Iterable[str],
    names: tuple[str, ...],
    cells: Callable[[str], Any],
    line: int | None = None,
) -> str | None:
    """The column that holds one thing; what holds it under another name must be equal.

    `cells` gives what a column holds, `where` and `line` say where that is.
    """
    if not (same := twin_columns(present, names)):
        return None
    found, *twins = same
    for other in twins:
        if plain_column(other) == plain_column(found):
            raise FormatError(where, f"two columns are named {found!r}: rename one", line)
        if cells(other) != cells(found):
            message = f"columns {found!r} and {other!r} name one thing, and differ: remove one"
            raise FormatError(where, message, line)
    return found


def value_names(value: str, present: Iterable[str]) -> tuple[str, ...]:
    """What the column of a run's scores or of grades may be called.

    Grades are scores only for BEIR and ranx: anybody else's are a run's, given by mistake.

    >>> value_names("relevance", ["qid", "docno", "score"])
    ('relevance', 'rel', 'label', 'grade')
    """
    names = VALUE_NAMES[value]
    is_run = value == "relevance" and pick_column(present, ("corpus_id", "q_id")) is None
    return tuple(name for name in names if name != "score") if is_run else names


class BadCell(InputError):
    """A cell is no name or no number; a reader of files knows its line."""

    def __init__(self, where: str, row: int, message: str):
        self.row = row
        super().__init__(f"{where}, row {row}: {message}")


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns of an object of another tool; `kind` is what to call it in errors."""

    kind: str
    columns: tuple[str, ...]
    column: Callable[[str], Any]

    def pick(self, names: tuple[str, ...]) -> str | None:
        """The column under the first of `names` that is there; an error if there are two."""

        return one_column(self.kind, self.columns, names, lambda name: _values(self.column(name)))

    def find(self, names: tuple[str, ...]) -> str:
        """As `pick`, but a column that is not there is an error."""
        found = self.pick(names)
        if found is None:
            expected = " or ".join(map(repr, names))
            there = ", ".join(map(str, self.columns)) or "no columns"
            raise InputError(f"{self.kind}: expected a column {expected}, got {there}")
        return found


def table_of(source: Any) -> Table | None:
    """The columns of a pandas, polars or pyarrow table; None if `source` is no table."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return Table("pandas DataFrame", tuple(source.columns), source.__getitem__)
    # The type is asked: polars' lazy frames work when asked for their columns.
    kind = type(source)
    if hasattr(kind, "columns") or hasattr(kind, "column_names"):
        arrow = _arrow_table(source)
        if arrow is not None:
            return Table(describe_type(source), tuple(arrow.column_names), arrow.column)
    return None


def _arrow_table(source: Any) -> Any:
    import pyarrow as pa

    if hasattr(type(source), "to_arrow"):  # polars: its stream has types that Arrow cannot decode
        source = source.to_arrow()
    elif hasattr(type(source), "__arrow_c_stream__"):
        source = pa.table(source)
    return source if isinstance(source, pa.Table) else None


def table_of_items(items: Iterable[Any]) -> Table | None:
    """The fields of named tuples as columns; None if the first item is no named tuple."""
    iterator = iter(items)
    first = next(iterator, None)
    if first is None:
        raise InputError(f"{describe_type(items)}: empty: no rows")
    if not is_named_tuple(first):
        return None
    rows = [first, *iterator]
    kind = f"{type(first).__name__} items"

    def column(name: str) -> list[Any]:
        try:
            return list(map(attrgetter(name), rows))
        except AttributeError:
            row = next(i for i, item in enumerate(rows) if not hasattr(item, name))
            got = type(rows[row]).__name__
            raise InputError(f"{kind}, row {row}: expected a field {name!r}, got {got}") from None

    return Table(kind, first._fields, column)


def is_named_tuple(item: Any) -> bool:
    """Whether an item has named fields, as ir_measures' and ir_datasets' records do."""
    return isinstance(item, tuple) and hasattr(item, "_fields")


def describe_type(source: Any) -> str:
    """What to call an object in an error: `polars DataFrame`, `list`."""
    kind = type(source)
    library = kind.__module__.partition(".")[0]
    return kind.__name__ if library == "builtins" else f"{library} {kind.__name__}"


def text_column(column: Any, where: str, *, any_object: bool = False) -> Any:
    """A column of names as an Arrow array of bytes without gaps or empty names.

    Names are text, bytes or whole numbers; `any_object` takes whatever `str` makes a
    name of. `where` opens the error's message.
    """
    import pyarrow as pa

    array = _arrow(column)
    if array is not None and pa.types.is_integer(array.type):
        array = array.cast(pa.string())
    if array is None or not (is_text(array.type) or pa.types.is_null(array.type)):
        values = enumerate(_values(column))
        raw = [_encoded(value, where, row, any_object) for row, value in values]
        array = pa.array(raw, pa.large_binary())
    array = _whole(array.cast(pa.large_binary()))
    _check_names(array, where)
    return array


def _arrow(column: Any) -> Any:
    """The column as an Arrow array, or None where Arrow has no type for what it holds."""
    import pyarrow as pa

    try:
        if not isinstance(column, (pa.Array, pa.ChunkedArray)):
            column = pa.array(column, from_pandas=True)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError):
        return None
    return column


def _values(column: Any) -> list[Any]:
    """A column's cells as Python values."""
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


def _whole(array: Any) -> Any:
    return array.combine_chunks() if hasattr(array, "combine_chunks") else array


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of text or of bytes."""
    return str(kind).removeprefix("large_").removesuffix("_view") in ("string", "binary")


def _encoded(value: Any, where: str, row: int, any_object: bool) -> bytes | None:
    if isinstance(value, bytes):
        return value
    if _is_missing(value):
        return None
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not (isinstance(value, str) or whole or any_object):
        got = f"{value!s:.40} ({type(value).__name__})"
        raise BadCell(where, row, f"expected a name or a whole number, got {got}")
    try:
        return str(value).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise BadCell(where, row, f"{value!r} is not valid text") from None


def _is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN or pandas.NA, which must not be compared."""
    return (
        value is None
        or type(value).__name__ == "NAType"
        or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))
    )


def _check_names(array: Any, where: str) -> None:
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.binary_length(array), 0).to_numpy(zero_copy_only=False)
    bad = np.flatnonzero(lengths == 0)
    if len(bad):
        missing = "missing" if array[int(bad[0])].as_py() is None else "empty"
        raise BadCell(where, int(bad[0]), f"the name is {missing}")


def distinct_names(column: Any) -> tuple[list[str], np.ndarray]:
    """The names of a text column in order of first appearance, and each row's code."""
    encoded = column.dictionary_encode()
    names = [name.decode("utf-8", "surrogateescape") for name in encoded.dictionary.to_pylist()]
    return names, encoded.indices.to_numpy(zero_copy_only=False)


def ids_of(column: Any) -> Ids:
    """The names of a text column as ids, copied in one go."""
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(column) + 1, 8 * column.offset)
    raw = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]] if data else np.empty(0, np.uint8)
    return ids_from_buffer(np.append(raw, np.zeros(PADDING, np.uint8)), bounds - bounds[0])


def number_column(column: Any, where: str) -> np.ndarray:
    """A column of numbers as float64, NaN where a value is missing."""
    import pyarrow as pa

    array = _arrow(column)
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
    if array is not None and any(is_kind(array.type) for is_kind in numeric):
        return np.array(_whole(array).to_numpy(zero_copy_only=False), np.float64)
    numbers = [_number(value, where, row) for row, value in enumerate(_values(column))]
    return np.array(numbers, np.float64)


def _number(value: Any, where: str, row: int) -> float:
    if _is_missing(value):
        return np.nan
    try:
        if isinstance(value, (bool, np.bool_, str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        got = f"{value!s:.40} ({type(value).__name__})"
        raise BadCell(where, row, f"expected a number, got {got}") from None
