"""Runs and judgments as tables: Parquet files and JSON lines.

Columns are `query_id`, `doc_id` and `score` or `relevance`, under any of the
names that other tools give them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from steadyrank.data.ids import Ids, make_ids
from steadyrank.data.interop.parquet import arrow_table, broken_parquet, record_batches
from steadyrank.data.oddities import OTHER_RUNS
from steadyrank.data.qrels import LARGEST_GRADE
from steadyrank.data.read.json_text import DISTINCT, RepeatedName
from steadyrank.data.read.limits import BOM
from steadyrank.data.read.sources import Kind, PathLike, open_bytes
from steadyrank.errors import FormatError

if TYPE_CHECKING:
    import pandas as pd

TOPIC_NAMES = ("query_id", "qid", "q_id", "topic", "query")
DOCUMENT_NAMES = ("doc_id", "docno", "docid", "did", "document")
VALUE_NAMES = {
    "score": ("score", "sim"),
    "relevance": ("relevance", "rel", "label", "grade", "score"),
}
RUN_NAMES = ("run", "tag", "name", "system")

_OTHER_THINGS = {"query", "document", "name", "system", "method", "collection", "benchmark"}
"""Names that may also mean something else beside a column that holds the thing: its text, …"""


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows of a file: segment k holds topics[k] from row first_rows[k] on."""

    topics: list[str]
    first_rows: np.ndarray
    documents: Ids
    values: np.ndarray
    name: str = ""
    oddities: dict[str, int] = field(default_factory=dict)
    info: dict[str, str] = field(default_factory=dict)
    n_headers: int = 0
    line_steps: tuple[int, int] = (0, 0)


def first_run_name(path: Path, stream: BinaryIO, kind: Kind) -> str:
    """The run that the first row of an opened Parquet or JSON-lines file names, if any."""
    rows: list[dict[str, Any]] = []
    if kind == "parquet":
        pieces = record_batches(
            path, stream, lambda present: _maybe(pick_column(present, RUN_NAMES))
        )
        first = next(pieces).slice(0, 1)
        cells = {name: column_values(path, first, name) for name in first.schema.names}
        rows = [{name: values[0] for name, values in cells.items()}] if first.num_rows else []
    else:
        rows = [row for _, row in itertools.islice(json_rows(path, stream), 1)]
    name = pick_column(rows[0], RUN_NAMES) if rows else None
    return "" if name is None or rows[0][name] is None else str(rows[0][name])


def _maybe(column: str | None) -> list[str]:
    return [] if column is None else [column]


def pick_column(present: Iterable[str], names: tuple[str, ...]) -> str | None:
    """The first of `names` that a table has, capitals ignored."""
    by_lower = {str(column).lower(): column for column in present}
    return next((by_lower[name] for name in names if name in by_lower), None)


def twin_columns(present: Iterable[str], names: tuple[str, ...]) -> list[str]:
    """The columns that `names` are names of the same thing for, the one that is taken first.

    >>> twin_columns(["docno", "score", "doc_id"], DOCUMENT_NAMES)
    ['doc_id', 'docno']
    """
    present = list(present)
    found = pick_column(present, names)
    # Only ranx calls grades scores, and PyTerrier numbers documents beside their `docno`.
    others = _OTHER_THINGS | ({"score"} if "relevance" in names else set())
    others |= {"docid"} if "docno" in present else set()
    same = {str(found).lower(), *(name for name in names if name not in others)}
    twins = [name for name in present if str(name).lower() in same and name != found]
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
        if str(other).lower() == str(found).lower():
            raise FormatError(where, f"two columns are named {found!r}: rename one", line)
        if cells(other) != cells(found):
            message = f"columns {found!r} and {other!r} name one thing, and differ: remove one"
            raise FormatError(where, message, line)
    return found


def pick_all(
    path: Path, present: Iterable[str], value: str, line: int | None, cells: Callable[[str], Any]
) -> list[str]:
    """The columns of topics, documents and values; an error if one is not there."""
    present = list(present)
    found = []
    for names in (TOPIC_NAMES, DOCUMENT_NAMES, VALUE_NAMES[value]):
        column = one_column(path, present, names, cells, line)
        if column is None:
            got = ", ".join(map(str, present))[:200]
            message = f"expected a column {names[0]!r}, got {got}"
            raise FormatError(path, message, line)
        found.append(column)
    return found


def spare_columns(present: Iterable[str], value: str) -> list[str]:
    """Columns of a run or of judgments that hold what another holds, under another name."""
    present = list(present)
    roles = (TOPIC_NAMES, DOCUMENT_NAMES, VALUE_NAMES[value], RUN_NAMES)
    return [column for names in roles for column in twin_columns(present, names)[1:]]


def read_parquet(path: Path) -> Any:
    """A Parquet file, plain or gzip, as an Arrow table."""
    with open_bytes(path) as stream:
        return arrow_table(path, stream)


def read_parquet_frame(path: Path) -> pd.DataFrame:
    """A Parquet file as a pandas frame, its index as pandas has left it there."""
    import pyarrow as pa

    table = read_parquet(path)
    try:
        table.validate(full=True)  # text that is no UTF-8 would be found much later
        frame: pd.DataFrame = table.to_pandas()
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise broken_parquet(path, error) from None
    return frame


def column_values(path: Path, table: Any, column: str | int) -> list[Any]:
    """A column of a Parquet file as Python values."""
    try:
        return list(table.column(column).to_pylist())
    except (ValueError, OverflowError) as error:  # text that is no UTF-8, dates beyond all years
        raise broken_parquet(path, error) from None


def coded_names(
    path: Path, table: Any, column: int, what: str
) -> tuple[tuple[str, ...], np.ndarray]:
    """A column's names in their order of appearance, and which of them each row has.

    Millions of rows have thousands of names: only these become Python's own.
    """
    import pyarrow as pa

    cells = table.column(column)
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not (is_text or pa.types.is_integer(kind)):
        for row, name in enumerate(column_values(path, table, column), start=1):
            check_name(path, what, name, row)
        return (), np.empty(0, np.intp)
    try:
        whole = cells.cast(pa.large_string() if is_text else kind).combine_chunks()
        encoded = whole.dictionary_encode()
        names = encoded.dictionary.to_pylist()
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise broken_parquet(path, error) from None
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
    firsts = np.empty(len(names) + 1, np.intp)
    firsts[codes[::-1]] = np.arange(len(codes), 0, -1)  # of equal places the last one counts
    if encoded.null_count:
        check_name(path, what, None, int(firsts[-1]))
    for name, row in zip(names, firsts.tolist(), strict=False):
        check_name(path, what, name, row)
    return tuple(map(str, names)), codes


def column_numbers(path: Path, table: Any, column: int) -> np.ndarray:
    """A column of scores as float64, NaN where there is none; an error that names the row."""
    import pyarrow as pa

    cells = table.column(column)
    if pa.types.is_floating(cells.type) or pa.types.is_integer(cells.type):
        numbers: np.ndarray = cells.to_numpy().astype(np.float64)
        if np.isinf(numbers).any():
            row = int(np.argmax(np.isinf(numbers)))
            raise FormatError(path, f"expected a score, got {str(numbers[row])!r}", row + 1)
        return numbers
    values = column_values(path, table, column)
    for row, value in enumerate(values, start=1):
        if value is not None:
            raise FormatError(path, f"expected a score, got {str(value)[:40]!r}", row)
    return np.full(len(values), np.nan)


def check_name(path: Path, what: str, name: Any, line: int | None) -> None:
    """Refuse what is no name: nothing, neither text nor a whole number, or half a letter."""
    if isinstance(name, bool) or not isinstance(name, (str, int)) or name == "":
        raise FormatError(path, f"expected a name as {what}, got {str(name)[:40]!r}", line)
    if isinstance(name, str) and not name.isascii():
        try:
            name.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise FormatError(path, f"the {what} {name[:40]!r} is not valid text", line) from None


def read_json_lines(path: Path, stream: BinaryIO, value: str) -> Columns:
    """The rows of an opened file of JSON lines, `value` being score or relevance."""
    topics, documents, values, numbers = [], [], [], []
    wanted: list[str] = []
    name: str | None = None
    known: Set[str] | None = None
    labels: list[Any] = []
    spare: list[str] = []
    for number, row in json_rows(path, stream):
        if spare or row.keys() != known:
            wanted, known = pick_all(path, row, value, number, row.get), row.keys()
            name = one_column(path, row, RUN_NAMES, row.get, number)
            spare = spare_columns(row, value)
        labels.append(row[name] if name else None)
        topics.append(row[wanted[0]])
        documents.append(row[wanted[1]])
        values.append(row[wanted[2]])
        numbers.append(number)
    return _checked(path, topics, documents, values, value, numbers, labels)


def run_name(
    path: Path, names: list[Any], lines: Iterable[int], before: str = ""
) -> tuple[str, int]:
    """A run's name as a table has it, and how many rows have another; `before` stood further up."""
    rows = (
        (name, line) for name, line in zip(names, lines, strict=False) if name not in (None, "")
    )
    if not before:
        first, line = next(rows, ("", 0))
        if first == "":
            return "", 0
        check_name(path, "run", first, line)
        before = str(first)
    return before, sum(str(name) != before for name, _ in rows)


def json_rows(path: Path, stream: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of an opened file of JSON lines, each with the number of its line."""
    for number, text in enumerate(stream, start=1):
        text = text.removeprefix(BOM) if number == 1 else text
        if not text.strip() or text.lstrip().startswith(b"#"):
            continue
        try:
            row = DISTINCT.decode(text.decode("utf-8", "surrogatepass"))
        except RepeatedName as error:
            raise FormatError(path, str(error), number) from None
        except (ValueError, RecursionError) as error:
            raise FormatError(path, f"not a JSON object: {error}", number) from None
        if not isinstance(row, dict):
            raise FormatError(path, f"expected a JSON object, got {str(row)[:40]}", number)
        yield number, row


def _is_number(value: Any) -> bool:
    """Whether a cell holds a number that float64 can hold; NaN is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return not math.isnan(float(value))
    except OverflowError:
        return False


def value_problem(number: Any, value: str) -> str:
    """What is wrong with a score or a grade; nothing where all is well."""
    if not _is_number(number):
        return f"expected a number as {value}, got {str(number)[:40]}"
    if value == "relevance" and not (abs(number) <= LARGEST_GRADE and number == int(number)):
        message = f"expected a whole number as relevance, at most {LARGEST_GRADE}"
        return f"{message}, got {str(number)[:40]}"
    return ""


def check_cells(
    path: Path,
    topics: list[Any],
    documents: list[Any],
    values: list[Any],
    value: str,
    lines: Sequence[int],
) -> None:
    """Refuse what is no name or no number, with its line."""
    for line, topic, document, number in zip(lines, topics, documents, values, strict=True):
        for what, name in (("topic", topic), ("document", document)):
            check_name(path, what, name, line)
        problem = value_problem(number, value)
        if problem:
            raise FormatError(path, problem, line)


def _checked(
    path: Path,
    topics: list[Any],
    documents: list[Any],
    values: list[Any],
    value: str,
    lines: Sequence[int],
    labels: list[Any],
) -> Columns:
    """Names as text, values as numbers; anything else is an error with its line."""
    if not topics:
        raise FormatError(path, "empty: no rows")
    check_cells(path, topics, documents, values, value, lines)
    name, others = run_name(path, labels, lines)
    return Columns(
        [str(topic) for topic in topics],
        np.arange(len(topics)),
        make_ids(str(document) for document in documents),
        np.array(values, np.float64),
        name,
        {OTHER_RUNS: others if value == "score" else 0},
    )
