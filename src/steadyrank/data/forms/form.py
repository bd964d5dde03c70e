"""A form of file, a file that is read, and the cells that a reader yields.

A reader says for each score which run, topic and measure it belongs to, and leaves it to
`assembly` to make scores, a leaderboard, judgments or battles of all cells of all files.
"""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from steadyrank.data.read.json_files import CUT_OFF, as_text, describe, json_rows, value_of
from steadyrank.data.read.sources import base_name, data_lines, head_of, kind_of, open_bytes
from steadyrank.data.read.streams import BOM, check_taken, is_file, largest_unfolded, open_again
from steadyrank.data.read.tables import check_widths, column_names, is_missing, read_csv
from steadyrank.data.scores import plain_value
from steadyrank.errors import FormatError

Holds = Literal["scores", "means", "battles", "judgments"]
Record = Mapping[str, Any]

NUMBERED = ""
"""The answer of a cell whose place among those of its topic is all that is known of it."""

NO_SCORES = "no_scores"
"""Code of the error for a file of a form that holds no scores: a folder may hold it."""

FIRST_LINES = 200
"""Lines of a text that are looked at to say what it is."""

_KEY = re.compile(rb'"([^"\\\n]{1,60})"\s*:')
_DEFLATE, _ZSTD = zipfile.ZIP_DEFLATED, 93


@dataclass(frozen=True, slots=True)
class Cell:
    """One score; `run` is empty where only the file's name can name it."""

    measure: str
    run: str
    topic: str
    value: float
    line: int | None = None
    dataset: str = ""
    answer: str | None = None
    """None if a second value for the same cell is an error."""
    judge: str = ""


@dataclass(frozen=True, slots=True)
class Grade:
    """What somebody thinks of a document for a topic."""

    topic: str
    document: str
    value: float
    judge: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """One form: its name for `--form`, what to call it, how it is known, and its reader."""

    name: str
    title: str
    holds: Holds
    recognises: Recognises
    read: Callable[[Source], Iterable[Any]]
    run: str = "model"
    topic: str = "sample"
    answer: str = "answer"
    """What the tool calls runs, topics, and several answers to one."""


Recognises = Callable[["Source"], bool]


@dataclass(slots=True)
class _Bag:
    directions: dict[str, bool] = field(default_factory=dict)
    """Measure to whether lower is better, where the file says so."""
    settings: dict[str, str] = field(default_factory=dict)
    """What may tell this file's run from others of its name."""
    notes: list[str] = field(default_factory=list)
    """What the reader left out, or wants to be known."""


class Source:
    """A file that is read: its kind, the keys of its first record, and what it holds."""

    def __init__(
        self, path: Path, measure: str | None = None, columns: Mapping[str, str] | None = None
    ):
        self.path, self.measure = path, measure
        self.columns = columns or {}
        """Role of each column of battles to its name in the file."""
        self.found = _Bag()
        self.form: Form | None = None

    @cached_property
    def kind(self) -> str:
        """`zip`, `json`, `json lines`, `csv`, `text` or `parquet`, by the first bytes."""
        if is_file(self.path):
            with open_again(self.path) as raw:
                if raw.read(4) == b"PK\x03\x04":
                    return "zip"
        with open_bytes(self.path) as stream:
            kind, head = kind_of(stream), head_of(stream).lstrip()
        if head.startswith(b"["):
            return "json"
        return "csv" if kind == "text" and b"," in head.partition(b"\n")[0] else kind

    @cached_property
    def value(self) -> Any:
        """The value of a JSON file."""
        if self.kind == "zip":
            raise self.error("a zip archive, which files of this form are not")
        with open_bytes(self.path) as stream:
            content = stream.read().removeprefix(BOM)
        try:
            return value_of(self.path, content)
        except FormatError as error:
            raise self._cut_off(error) from None

    @cached_property
    def lines(self) -> list[tuple[int | None, dict[str, Any]]]:
        """The records of a file: of JSON lines, of a JSON list, or of CSV, each with its line."""
        try:
            if self.kind == "csv":
                (_, header), *rows = read_csv(self.path)
                names = [name.strip() for name in header]
                check_widths(self.path, names, rows)
                return [(line, dict(zip(names, row, strict=True))) for line, row in rows]
            if self.kind in ("json lines", "text"):
                with open_bytes(self.path) as stream:
                    return [*json_rows(self.path, stream)]
        except FormatError as error:
            raise self._cut_off(error) from None
        if not isinstance(self.value, list):
            return [(1, self.record(self.value))]
        return [(None, self.record(row, f"entry {i}")) for i, row in enumerate(self.value, start=1)]

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The names of the columns of a CSV file."""
        _, cells = next(read_csv(self.path))
        return tuple(name.strip() for name in cells)

    @cached_property
    def fields(self) -> list[tuple[int, list[str]]]:
        """The lines of a text, each with its number: between tabs if it has any, or blanks."""
        return self._first_fields(None)

    @cached_property
    def first_fields(self) -> list[list[str]]:
        """The first lines of a text, which say what it is."""
        is_text = self.kind in ("csv", "text")
        return [fields for _, fields in self._first_fields(FIRST_LINES)] if is_text else []

    def _first_fields(self, most: int | None) -> list[tuple[int, list[str]]]:
        found = []
        with open_bytes(self.path) as stream:
            for line, raw in islice(data_lines(stream), most):
                text = raw.decode("utf-8", "surrogateescape").strip()
                cells = text.split("\t") if "\t" in text else text.split()
                found.append((line, [cell.strip() for cell in cells]))
        return found

    @cached_property
    def keys(self) -> Set[str]:
        """The names in the first record, or at the beginning of a file that breaks off."""
        if self.kind == "csv":
            return set(self.header)
        if self.kind == "zip":
            return {name.partition("/")[0] for name in self.members}
        if self.kind == "parquet":
            with open_bytes(self.path) as stream:
                return {*column_names(self.path, stream)}
        if self.kind not in ("json", "json lines"):
            return set()
        with open_bytes(self.path) as stream:
            head = head_of(stream)
            first = stream.readline().removeprefix(BOM)
        try:
            found = json.loads(first) if self.kind == "json lines" else self.value
        except (ValueError, RecursionError, FormatError):
            found = None
        if isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, dict):
            return found.keys()
        return {as_text(name) for name in _KEY.findall(head)}

    @property
    def name(self) -> str:
        """The file's name without its ending, to call a run that nothing else names."""
        return base_name(self.path)

    def error(
        self, message: str, line: int | None = None, *, code: str | None = None
    ) -> FormatError:
        """An error that names file, line and form."""
        title = f"{self.form.title}: " if self.form else ""
        return FormatError(self.path, title + message, line, code=code)

    def _cut_off(self, error: FormatError) -> FormatError:
        said = str(error).partition(": ")[2]
        remedy = ": if the file was cut off, copy it again" if error.code == CUT_OFF else ""
        return self.error(said + remedy, error.line)

    def record(self, value: Any, where: str = "", line: int | None = None) -> dict[str, Any]:
        """A JSON value that must be an object."""
        if not isinstance(value, dict):
            at = f" as {where}" if where else ""
            raise self.error(f"expected an object{at}, got {describe(value)}", line)
        return value

    def need(
        self, record: Any, key: str, kind: type[Any], line: int | None = None, *, remedy: str = ""
    ) -> Any:
        """A member of a record that must be there and of that type."""
        value = self.record(record, line=line).get(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            words = {str: "text", list: "a list", dict: "an object", bool: "true or false"}
            got = f", got {describe(value)}" if key in record else ", which is not there"
            more = f": {remedy}" if remedy else ""
            expected = f"expected {words.get(kind, kind.__name__)} as {key!r}{got}"
            raise self.error(expected + more, line)
        return value

    def id_of(self, record: Record, key: str, line: int | None = None) -> str:
        """A name: text that is not empty, or a whole number."""
        value = record.get(key)
        if isinstance(value, bool) or not isinstance(value, (str, int)) or str(value).strip() == "":
            got = f"got {describe(value)}" if key in record else "which is not there"
            raise self.error(f"expected a name as {key!r}, {got}", line)
        return str(value)

    def score_of(self, record: Record, key: str, line: int | None = None) -> float:
        """A score that must be there, if only as null."""
        if key not in record:
            raise self.error(f"expected a score as {key!r}, which is not there", line)
        return self.number(record[key], line, key)

    def number(self, value: Any, line: int | None = None, where: str = "") -> float:
        """A score: a number, a truth value, or text that is a number; nothing is missing."""
        if value is None or (isinstance(value, str) and is_missing(value.strip())):
            return math.nan
        read = plain_value(value.strip()) if isinstance(value, str) else value
        if isinstance(read, (int, float)):
            try:
                found = float(read)
            except OverflowError:
                found = math.inf
            if not math.isinf(found):
                return found
        at = f" as {where}" if where else ""
        raise self.error(f"expected a score{at}, got {describe(value)}", line)

    @cached_property
    def members(self) -> dict[str, zipfile.ZipInfo]:
        """The members of a zip archive by name."""
        try:
            with open_again(self.path) as raw, zipfile.ZipFile(raw) as packed:
                return {info.filename: info for info in packed.infolist()}
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise self.error(f"a broken zip archive ({error}): copy the file again") from None

    def member(self, name: str) -> Any:
        """The JSON value of a member of a zip archive, deflate or zstd."""
        info = self.members[name]
        largest = largest_unfolded(self.path.stat().st_size)
        try:
            with open_again(self.path) as raw:
                if info.compress_type == _ZSTD:
                    import pyarrow as pa  # Python's own zipfile has no zstd before 3.14.

                    raw.seek(info.header_offset + 26)
                    sizes = raw.read(4)
                    skipped = int.from_bytes(sizes[:2], "little")
                    raw.seek(skipped + int.from_bytes(sizes[2:], "little"), io.SEEK_CUR)
                    packed = pa.BufferReader(raw.read(info.compress_size))
                    content = pa.CompressedInputStream(packed, "zstd").read(largest + 1)
                else:
                    with zipfile.ZipFile(raw) as archive, archive.open(info) as stream:
                        content = stream.read(largest + 1)
        except (zipfile.BadZipFile, OSError, EOFError, zlib.error, ValueError) as error:
            raise self.error(f"{name} cannot be unpacked ({error}): copy the file again") from None
        except (NotImplementedError, RuntimeError):
            message = f"{name} is packed in a way that is not known here"
            raise self.error(f"{message}: inspect log convert --to json") from None
        check_taken(self.path, len(content))
        if len(content) > largest:
            raise self.error(f"{name} unfolds to too much: if you trust it, raise max_input")
        return value_of(Path(f"{self.path}/{name}"), content)


def numbers_in(record: Record, *, but: Iterable[str] = ()) -> Iterator[tuple[str, Any]]:
    """The members of a record that are numbers or nothing, except some."""
    skipped = {*but}
    for name, value in record.items():
        if name not in skipped and (value is None or isinstance(value, (bool, int, float))):
            yield name, value
