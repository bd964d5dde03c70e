"""Tables in files and of other tools: which column holds what, checked, as ids and numbers.

Columns are `query_id`, `doc_id` and `score` or `relevance`, under any of the names that tools give
them. Columns of files, pandas, polars and pyarrow, and lists, become Arrow arrays, whose buffers
hold names end to end as `Ids` does; only a column that Arrow cannot hold (names of mixed types, ids
that are not UTF-8) is walked value by value.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Literal, NoReturn

import numpy as np

from steadyrank.data import PathLike
from steadyrank.data.ids import PADDING, Ids, ids_from_buffer
from steadyrank.data.qrels import LARGEST_GRADE, NOT_A_GRADE, SMALLEST_GRADE, are_grades
from steadyrank.data.run import INFINITE_SCORES, OTHER_RUNS
from steadyrank.data.scores import plain_value
from steadyrank.errors import FormatError, InputError

What = Literal["score", "relevance", "value"]
"""What numbers are: a run's scores, grades, or scores of a measure, which may be missing."""

MISSING = {"", "nan", "na", "null", "none"}

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


def value_names(value: str, present: Iterable[str]) -> tuple[str, ...]:
    """What the column of a run's scores or of grades may be called.

    Grades are scores only for BEIR and ranx: anybody else's are a run's, given by mistake.

    >>> value_names("relevance", ["qid", "docno", "score"])
    ('relevance', 'rel', 'label', 'grade')
    """
    names = VALUE_NAMES[value]
    is_run = value == "relevance" and pick_column(present, ("corpus_id", "q_id")) is None
    return tuple(name for name in names if name != "score") if is_run else names


def check_name(path: PathLike, what: str, name: Any, line: int | None) -> None:
    """Refuse a name that is empty, neither text nor a whole number, or not valid text."""
    if isinstance(name, bool) or not isinstance(name, (str, int)) or name == "":
        raise FormatError(path, f"expected a name as {what}, got {str(name)[:40]!r}", line)
    if isinstance(name, str) and not name.isascii():
        try:
            name.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise FormatError(path, f"the {what} {name[:40]!r} is not valid text", line) from None


def number_in(text: str, *, whole: bool = False) -> float | str:
    """Return the number in a text, or the text; `whole` takes NTCIR's grades, L0, L1, …

    >>> number_in("0.5"), number_in("L2", whole=True), number_in("L2"), number_in("1_0")
    (0.5, 2.0, 'L2', '1_0')
    """
    if whole and text[:1] == "L" and text[1:].isdecimal():
        return float(text[1:])
    try:
        return float(text) if "_" not in text else text
    except ValueError:
        return text


def as_float(value: Any) -> float | None:
    """A number of any type as float64; None of truth values, text, and what no float64 holds."""
    try:
        if isinstance(value, (bool, np.bool_, str, bytes)):
            return None
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def value_problem(number: Any, value: str) -> str:
    """What is wrong with a score or a grade; nothing where all is well."""
    found = as_float(number)
    if found is None or math.isnan(found):
        is_text = isinstance(number, str) and number_in(number) != number
        return f"expected a number as {value}, got {repr(number) if is_text else number!s:.40}"
    is_grade = SMALLEST_GRADE <= found <= LARGEST_GRADE and found.is_integer()
    if value == "relevance" and not is_grade:
        return f"{NOT_A_GRADE}, got {str(number)[:40]}: is this a run?"
    return ""


def broken_parquet(path: PathLike, error: Exception) -> FormatError:
    """The error for a file that Arrow cannot read."""
    reason = " ".join(str(error).split())[:200]
    return FormatError(path, f"broken Parquet data ({reason}): write it again")


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns of a file or of another tool's object: Arrow's, pandas' or lists."""

    where: PathLike
    """The file, or what to call the object in errors."""
    header: tuple[str, ...]
    columns: Sequence[Any]
    lines: Sequence[int] | None = None
    """On which line of a file each row stands; in Parquet, which has none, the row's number."""
    is_csv: bool = False
    """Whether cells are texts, of which numbers have yet to be read."""
    metadata: Mapping[bytes, bytes] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns), ()) if self.lines is None else self.lines)

    def error(self, row: int | None, message: str) -> InputError:
        """The error for a row, with its line; of the header without a row."""
        if self.lines is not None:
            line = self.lines[row] if row is not None else 1 if self.is_csv else None
            return FormatError(self.where, message, line)
        return InputError(f"{self.where}{'' if row is None else f', row {row}'}: {message}")

    def find(self, names: tuple[str, ...]) -> int | None:
        """The place of the column under the first of `names` that is there.

        What holds the same thing under another name must be equal.
        """
        if not (same := twin_columns(self.header, names)):
            return None
        found, *twins = same
        for other in twins:
            places = [k for k, name in enumerate(self.header) if name in (found, other)]
            pairs = list(zip(*map(self.cells, places[:2]), strict=True))
            if plain_column(other) == plain_column(found):
                both = [row for row, pair in enumerate(pairs) if None not in pair]
                row = both[0] if both and not self.is_csv else None
                raise self.error(row, f"two columns are named {other!r}: rename one")
            if differing := [row for row, (a, b) in enumerate(pairs) if a != b]:
                message = f"columns {found!r} and {other!r} name one thing, and differ: remove one"
                raise self.error(differing[0], message)
        return self.header.index(found)

    def need(self, names: tuple[str, ...]) -> int:
        """Return what `find` does; raise an error if there is no such column."""
        if (found := self.find(names)) is None:
            raise self.lacks(names[0])
        return found

    def lacks(self, name: str, remedy: str = "") -> InputError:
        """The error for a column that is not there."""
        got = ", ".join(self.header)[:200] or "no columns"
        row = 0 if self.lines and not self.is_csv else None
        return self.error(row, f"expected a column {name!r}, got {got}{remedy}")

    def cells(self, place: int) -> list[Any]:
        """A column as Python's values."""
        column = self.columns[place]
        if isinstance(column, list):
            return column
        array = _arrow(column)
        if array is None:
            return list(column)
        try:
            values = array.to_pylist()
        except (ValueError, OverflowError) as error:  # no UTF-8, or dates beyond all years
            raise broken_parquet(self.where, error) from None
        if not self.is_csv:
            return list(values)
        return [cell.decode("utf-8", "surrogateescape") for cell in values]

    def distinct(self, place: int) -> tuple[list[Any], np.ndarray]:
        """The values of a column in their order of appearance, and which of them each row has."""
        column = self.columns[place]
        if not isinstance(column, list):
            import pyarrow as pa

            column = _arrow(column)
            if column is not None and not pa.types.is_nested(column.type):
                coded = _whole(column).dictionary_encode(null_encoding="encode")
                kept = replace(self, columns=[coded.dictionary])
                return kept.cells(0), coded.indices.to_numpy(zero_copy_only=False)
            column = self.cells(place)
            if isinstance(column[0], (list, dict)):
                self._refuse_name(0, column[0], "run")
        places = {cell: code for code, cell in enumerate(dict.fromkeys(column))}
        return [*places], np.array([places[cell] for cell in column], np.intp)

    def names(self, place: int, what: str) -> Any:
        """A column of names as an Arrow array of bytes, without gaps or empty names.

        Names are text, bytes of objects, or whole numbers; of other tools' measures and runs,
        whatever `str` makes a name of. `what` they name is said where one is wrong.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        array = _arrow(self.columns[place])
        try:
            if array is not None and is_text(array.type):
                if "binary" in str(array.type) and self.lines is not None and not self.is_csv:
                    self._refuse_name(0, self.cells(place)[0], what)  # bytes may be no text
                array.validate(full=True)  # Arrow takes any bytes for text
            elif array is not None and pa.types.is_integer(array.type):
                array = array.cast(pa.string())
            else:
                cells = enumerate(self.cells(place) if array is None else array.to_pylist())
                raw = [self._encoded(row, cell, what) for row, cell in cells]
                array = pa.array(raw, pa.large_binary())
        except pa.ArrowInvalid as error:
            raise broken_parquet(self.where, error) from None
        array = _whole(array.cast(pa.large_binary()))
        lengths = pc.fill_null(pc.binary_length(array), 0).to_numpy(zero_copy_only=False)
        if len(bad := np.flatnonzero(lengths == 0)):
            row = int(bad[0])
            self._refuse_name(row, self.cells(place)[row], what)
        return array

    def _encoded(self, row: int, cell: Any, what: str) -> bytes | None:
        if isinstance(cell, bytes):
            return cell
        if (
            cell is None
            or type(cell).__name__ == "NAType"
            or (isinstance(cell, float) and cell != cell)
        ):
            return None
        is_whole = isinstance(cell, (int, np.integer)) and not isinstance(cell, bool)
        is_free = self.lines is None and what not in ("topic", "document")
        if not (isinstance(cell, str) or is_whole or is_free):
            self._refuse_name(row, cell, what)
        try:
            return str(cell).encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            self._refuse_name(row, cell, what)

    def _refuse_name(self, row: int, cell: Any, what: str) -> NoReturn:
        shown = repr(str(cell)[:40]) if self.lines is not None else f"{cell!r:.40}"
        is_half = isinstance(cell, str) and cell != ""
        message = f"expected a name as {what}, got {shown}"
        raise self.error(row, f"the {what} {shown} is not valid text" if is_half else message)

    def labels(self, place: int, what: str) -> tuple[tuple[str, ...], np.ndarray]:
        """A column's names in their order of appearance, and which of them each row has."""
        column = self.columns[place]
        if self.is_csv and isinstance(column, list) and all(column):  # texts, and none is empty
            names, codes = self.distinct(place)
        else:
            names, codes = distinct_names(self.names(place, what))
        return tuple(names), codes.astype(np.intp)

    def numbers(self, place: int, what: What) -> np.ndarray:
        """A column of numbers as float64; NaN where a value is missing."""
        values = self._plain_numbers(place, what)
        if values is None or not _are_sound(values, what):
            cells = enumerate(self.cells(place))
            values = np.array([self._number(row, cell, what) for row, cell in cells], np.float64)
        return values

    def _plain_numbers(self, place: int, what: What) -> np.ndarray | None:
        """The numbers of a column of Arrow's, or None where some cells are no plain numbers."""
        column = self.columns[place]
        if self.lines is not None and isinstance(column, list):
            return None
        import pyarrow as pa
        import pyarrow.compute as pc

        array = _arrow(column)
        try:
            if self.is_csv:
                array = array.cast(pa.large_string())
                if what == "value":
                    missing = pa.array(sorted(MISSING), pa.large_string())
                    absent = pc.is_in(pc.utf8_lower(array), value_set=missing)
                    array = pc.if_else(absent, pa.scalar(None, pa.large_string()), array)
                array = array.cast(pa.float64())
        except pa.ArrowInvalid:
            return None
        kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
        if array is None or not any(is_kind(array.type) for is_kind in kinds):
            return None
        return np.array(_whole(array).to_numpy(zero_copy_only=False), np.float64)

    def _number(self, row: int, cell: Any, what: What) -> float:
        if what != "value":
            number = number_in(cell, whole=what == "relevance") if self.is_csv else cell
            if problem := value_problem(number, what):
                raise self.error(row, problem)
            return float(number)
        if cell is None or type(cell).__name__ == "NAType":
            return math.nan
        if self.is_csv and cell.lower() in MISSING:
            return math.nan
        number = as_float(plain_value(cell) if self.is_csv else cell)
        if number is None or math.isinf(number):
            raise self.error(row, f"expected a score, got {cell!r:.40}")
        return number


def _are_sound(values: np.ndarray, what: What) -> bool:
    if what == "value":
        return not np.isinf(values).any()
    return not np.isnan(values).any() and (what == "score" or bool(are_grades(values).all()))


def _arrow(column: Any) -> Any:
    import pyarrow as pa

    try:
        if not isinstance(column, (pa.Array, pa.ChunkedArray)):
            column = pa.array(column, from_pandas=True)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError):
        return None
    return column


def _whole(array: Any) -> Any:
    return array.combine_chunks() if hasattr(array, "combine_chunks") else array


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of text or of bytes."""
    return str(kind).removeprefix("large_").removesuffix("_view") in ("string", "binary")


def distinct_names(column: Any) -> tuple[list[str], np.ndarray]:
    """The names of a column of bytes in order of first appearance, and each row's code."""
    encoded = column.dictionary_encode()
    names = [name.decode("utf-8", "surrogateescape") for name in encoded.dictionary.to_pylist()]
    return names, encoded.indices.to_numpy(zero_copy_only=False)


def ids_of(column: Any) -> Ids:
    """The names of a column of bytes as ids, copied in one go."""
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(column) + 1, 8 * column.offset)
    raw = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]] if data else np.empty(0, np.uint8)
    return ids_from_buffer(np.append(raw, np.zeros(PADDING, np.uint8)), bounds - bounds[0])


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a run or of judgments: segment k holds topics[k] from row first_rows[k] on."""

    topics: list[str]
    first_rows: np.ndarray
    documents: Ids
    values: np.ndarray
    name: str = ""
    oddities: dict[str, int] = field(default_factory=dict)
    info: dict[str, str] = field(default_factory=dict)
    line_steps: tuple[int, int] = (0, 0)
    line_of: Callable[[int], int] | None = None
    """On which line of the file a row stands; None in nested JSON."""


def rows_of_table(table: Table, value: What) -> Rows:
    """Topics, documents and numbers of a table that names them; ranks replace scores."""
    topic, document = (table.need(names) for names in (TOPIC_NAMES, DOCUMENT_NAMES))
    number = table.find(value_names(value, table.header))
    by_rank = number is None and value == "score"
    number = table.find(("rank",)) if by_rank else number
    if number is None:
        is_run = value == "relevance" and pick_column(table.header, ("score",)) is not None
        raise table.lacks(value, ": is this a run?" if is_run else "")
    if not len(table):
        raise table.error(None, "empty: no rows")
    topics, documents = table.names(topic, "topic"), table.names(document, "document")
    values = table.numbers(number, value)
    values = -values if by_rank else values
    names, codes = distinct_names(topics)
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    run, others = _run_of(table)
    odd = {OTHER_RUNS: others, INFINITE_SCORES: int(np.isinf(values).sum())}
    return Rows(
        [names[code] for code in codes[starts].tolist()],
        starts,
        ids_of(documents),
        values,
        run,
        odd if value == "score" else {},
        line_of=None if table.lines is None else table.lines.__getitem__,
    )


def _run_of(table: Table) -> tuple[str, int]:
    """A run's name as a table has it, and how many rows have another."""
    column = table.find(RUN_NAMES)
    if column is None:
        return "", 0
    names, codes = table.distinct(column)
    known = [code for code, name in enumerate(names) if name not in (None, "")]
    if not known:
        return "", 0
    first = int(np.argmax(np.isin(codes, known)))
    name = names[codes[first]]
    if table.lines is not None:
        check_name(table.where, "run", name, table.lines[first])
    return str(name), int((np.isin(codes, known) & (codes != codes[first])).sum())


def table_of(source: Any) -> Table | None:
    """The columns of a pandas, polars or pyarrow table; None if `source` is no table."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        columns = [source.iloc[:, k] for k in range(source.shape[1])]
        return Table("pandas DataFrame", tuple(map(str, source.columns)), columns)
    # The type is asked: polars' lazy frames work when asked for their columns.
    kind, arrow = type(source), source
    if not (hasattr(kind, "columns") or hasattr(kind, "column_names")):
        return None
    import pyarrow as pa

    if hasattr(kind, "to_arrow"):  # polars: its stream has types that Arrow cannot decode
        arrow = source.to_arrow()
    elif hasattr(kind, "__arrow_c_stream__"):
        arrow = pa.table(source)
    if not isinstance(arrow, pa.Table):
        return None
    return Table(describe_type(source), tuple(arrow.column_names), arrow.columns)


def table_of_items(items: Iterable[Any]) -> Table | None:
    """The fields of named tuples as columns; None if the first item is no named tuple."""
    rows = list(items)
    if not rows:
        raise InputError(f"{describe_type(items)}: empty: no rows")
    if not is_named_tuple(rows[0]):
        return None
    kind, fields = f"{type(rows[0]).__name__} items", rows[0]._fields
    for row, item in enumerate(rows):
        if lacking := [name for name in fields if not hasattr(item, name)]:
            got = type(item).__name__
            raise InputError(f"{kind}, row {row}: expected a field {lacking[0]!r}, got {got}")
    return Table(kind, fields, [list(map(attrgetter(name), rows)) for name in fields])


def is_named_tuple(item: Any) -> bool:
    """Whether an item has named fields, as ir_measures' and ir_datasets' records do."""
    return isinstance(item, tuple) and hasattr(item, "_fields")


def describe_type(source: Any) -> str:
    """What to call an object in an error: `polars DataFrame`, `list`."""
    kind = type(source)
    library = kind.__module__.partition(".")[0]
    return kind.__name__ if library == "builtins" else f"{library} {kind.__name__}"
