"""JSON by Python's own `json`: one value per file or an object per line, and the lines of defects.

Runs and judgments are `{topic: {document: score}}` (BEIR, ranx, pytrec_eval) or rows. Lines are
looked for where something is wrong, as that takes longer than reading.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from steadyrank.data.ids import Ids, make_ids
from steadyrank.data.interop.tables import Rows, check_name, value_problem
from steadyrank.data.qrels import are_grades
from steadyrank.data.read.sources import data_lines, open_bytes
from steadyrank.data.read.streams import BOM
from steadyrank.data.run import INFINITE_SCORES
from steadyrank.errors import FormatError, InputError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(?P<key>\s*:)?|[{}\[\]]|\n', re.DOTALL)

TOPICS, DOCUMENTS = 1, 2
"""How deep the names of topics and of documents stand."""


class RepeatedName(ValueError):
    """A name that occurs twice in one object, of which nobody can say which was meant."""


def _distinct(members: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(members)
    if len(made) < len(members):
        name = next(name for k, (name, _) in enumerate(members) if name in dict(members[:k]))
        raise RepeatedName(f"{name!r} occurs twice in one object: keep one")
    return made


DISTINCT = json.JSONDecoder(object_pairs_hook=_distinct)
"""Refuses names that occur twice; made once, as `json.loads` is slower at each call."""


class Members(list[tuple[str, Any]]):
    """A JSON object as its members in order, so that a name that occurs twice is seen."""


def value_of(path: Path, content: bytes) -> Any:
    """The value of a JSON file; a name that occurs twice in an object is refused."""
    text = as_text(content)
    try:
        return _parsed(path, text, _distinct)
    except RepeatedName:
        name, line = _first_repeated(text)
        raise FormatError(path, f"{name!r} occurs twice in one object: keep one", line) from None


def as_text(content: bytes) -> str:
    """The text of a JSON file; bytes that are no UTF-8 stay what they are."""
    return content.decode("utf-8", "surrogateescape")


def _parsed(path: Path, text: str, make_object: Any, **options: Any) -> Any:
    try:
        return json.loads(text, object_pairs_hook=make_object, **options)
    except json.JSONDecodeError as error:
        place = f"{error.msg} at column {error.colno}"
        raise FormatError(path, f"not JSON: {place}", error.lineno) from None
    except RepeatedName:
        raise
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"not JSON: {error}") from None


def _keys(text: str) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """The names of all members: as written, their lines, and the objects around them, numbered.

    >>> list(_keys('{"a": {"b": 1},\\n"c": [2]}'))
    [('"a"', 1, (1,)), ('"b"', 1, (1, 2)), ('"c"', 2, (1,))]
    """
    inside: tuple[int, ...] = ()
    line, opened = 1, 0
    for token in _TOKEN.finditer(text):
        start = token[0][0]
        if start == '"' and token["key"]:
            yield token[0][: -len(token["key"])], line, inside
        elif start in "{[":
            opened += 1
            inside = (*inside, opened)
        elif start in "}]":
            inside = inside[:-1]
        line += token[0].count("\n")


def key_lines(text: str, depth: int) -> list[int]:
    """The lines of the names at one depth, in order."""
    return [line for _, line, inside in _keys(text) if len(inside) == depth]


def _first_repeated(text: str) -> tuple[str, int | None]:
    """The first name that occurs twice in one object, and its line there."""
    seen: set[tuple[int, str]] = set()
    for written, line, inside in _keys(text):
        name = (inside[-1], json.loads(written))
        if name in seen:
            return name[1], line
        seen.add(name)
    return "a name", None


def describe(value: Any) -> str:
    """What to call a JSON value in an error."""
    if isinstance(value, (dict, Members)):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return f"{value!r:.40}"


def read_nested(path: Path, stream: BinaryIO, value: str) -> Rows:
    """The rows of an opened JSON file, `value` being score or relevance."""
    text = as_text(stream.read().removeprefix(BOM))
    return _read_sound(path, text, value) or _read_any(path, text, value)


def _read_sound(path: Path, text: str, value: str) -> Rows | None:
    """The rows of a file in which nothing is wrong and no name occurs twice; None of any other."""
    try:
        topics = json.loads(text, object_pairs_hook=_distinct, parse_int=float)
        names = [*chain.from_iterable(topics.values())]
        numbers = [*chain.from_iterable(ranking.values() for ranking in topics.values())]
        "".join(topics).encode("utf-8", "surrogateescape")  # fails where half a letter stands
        documents = make_ids(names)
    except (ValueError, RecursionError, AttributeError, TypeError, InputError):
        return None
    values = np.array(numbers)
    if {*map(type, numbers)} != {float} or "" in topics or "" in names or np.isnan(values).any():
        return None
    if value == "relevance" and not are_grades(values).all():
        return None
    return _columns(path, [*topics], [*map(len, topics.values())], documents, values)


def _read_any(path: Path, text: str, value: str) -> Rows:
    """Return the rows of any file; defects are errors with their lines."""
    topics = _parsed(path, text, Members, parse_int=float)
    if not isinstance(topics, Members):
        expected = f"one JSON object, {{topic: {{document: {value}}}}}"
        raise FormatError(path, f"expected {expected}, got {describe(topics)}", 1)
    _check_topics(path, text, topics, value)
    rows = [entry for _, documents in topics for entry in documents]
    _check_rows(path, text, rows, value)
    return _columns(
        path,
        [topic for topic, _ in topics],
        [len(documents) for _, documents in topics],
        make_ids(document for document, _ in rows),
        np.array([number for _, number in rows]),
    )


def _columns(
    path: Path, topics: list[str], sizes: list[int], documents: Ids, values: np.ndarray
) -> Rows:
    odd = {INFINITE_SCORES: int(np.isinf(values).sum())}
    firsts, line_of = np.cumsum([0, *sizes[:-1]]), partial(_line_of_document, path)
    return Rows(topics, firsts, documents, values, oddities=odd, line_of=line_of)


def _line_of_document(path: Path, row: int) -> int:
    """Return the line of the document at `row`, counted over all topics."""
    with open_bytes(path) as stream:
        return key_lines(as_text(stream.read().removeprefix(BOM)), DOCUMENTS)[row]


def _check_topics(path: Path, text: str, topics: Members, value: str) -> None:
    """Refuse what is no topic, and one that occurs twice: which was meant, nobody can say."""
    if not topics:
        raise FormatError(path, "empty: no topics")
    seen: set[str] = set()
    for (topic, documents), line in zip(topics, key_lines(text, TOPICS), strict=True):
        check_name(path, "topic", topic, line)
        if not isinstance(documents, Members):
            got = f"{describe(documents)} for topic {topic[:40]!r}"
            raise FormatError(path, f"expected {{document: {value}}}, got {got}", line)
        if topic in seen:
            raise FormatError(path, f"topic {topic!r} occurs twice: keep one", line)
        seen.add(topic)


def _check_rows(path: Path, text: str, rows: list[tuple[str, Any]], value: str) -> None:
    """Refuse what is no document and no number; whole numbers alone are grades."""
    if not rows:
        raise FormatError(path, "empty: no topic has a document")
    for (document, number), line in zip(rows, key_lines(text, DOCUMENTS), strict=False):
        check_name(path, "document", document, line)
        if isinstance(number, Members):
            message = f"expected a number as {value}, got an object: give a file for each run"
            raise FormatError(path, message, line)
        problem = value_problem(number, value)
        if number != number and value == "score":
            problem = "the score is NaN, so its rank is undefined"
        if problem:
            raise FormatError(path, problem, line)


def json_rows(path: Path, stream: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of an opened file of JSON lines, each with the number of its line."""
    for number, text in data_lines(stream):
        try:
            row = DISTINCT.decode(text.decode("utf-8", "surrogatepass"))
        except RepeatedName as error:
            raise FormatError(path, str(error), number) from None
        except (ValueError, RecursionError) as error:
            raise FormatError(path, f"not a JSON object: {error}", number) from None
        if not isinstance(row, dict):
            raise FormatError(path, f"expected a JSON object, got {str(row)[:40]}", number)
        yield number, row
