"""JSON by Python's own `json`: one value per file, or an object per line.

Runs and judgments are `{topic: {document: score}}` (BEIR, ranx, pytrec_eval) or rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from steadyrank.data.ids import make_ids
from steadyrank.data.interop.tables import Rows, check_name, value_problem
from steadyrank.data.qrels import are_grades
from steadyrank.data.read.sources import data_lines
from steadyrank.data.read.streams import BOM
from steadyrank.data.run import INFINITE_SCORES
from steadyrank.errors import FormatError

CUT_OFF = "cut_off"
"""Code of errors that a file has which was not copied whole."""


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
    return _parsed(path, as_text(content), _distinct)


def as_text(content: bytes) -> str:
    """The text of a JSON file; bytes that are no UTF-8 stay what they are."""
    return content.decode("utf-8", "surrogateescape")


def _parsed(path: Path, text: str, make_object: Any, **options: Any) -> Any:
    try:
        return json.loads(text, object_pairs_hook=make_object, **options)
    except json.JSONDecodeError as error:
        place = f"{error.msg} at column {error.colno}"
        raise FormatError(path, f"not JSON: {place}", error.lineno, code=CUT_OFF) from None
    except RepeatedName as error:
        raise FormatError(path, str(error)) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"not JSON: {error}") from None


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
    """The rows of an opened JSON file, `value` being score or relevance.

    Errors name the topic and the document of a defect.
    """
    text = as_text(stream.read().removeprefix(BOM))
    topics = _parsed(path, text, Members, parse_int=float)
    if not isinstance(topics, Members):
        expected = f"one JSON object, {{topic: {{document: {value}}}}}"
        raise FormatError(path, f"expected {expected}, got {describe(topics)}")
    if not topics:
        raise FormatError(path, "empty: no topics")
    seen: set[str] = set()
    for topic, documents in topics:
        check_name(path, "topic", topic, None)
        if not isinstance(documents, Members):
            got = f"{describe(documents)} for topic {topic[:40]!r}"
            raise FormatError(path, f"expected {{document: {value}}}, got {got}")
        if topic in seen:
            raise FormatError(path, f"topic {topic!r} occurs twice: keep one")
        seen.add(topic)
        for document, number in () if _are_sound(documents, value) else documents:
            check_name(path, "document", document, None)
            if isinstance(number, Members):
                message = f"expected a number as {value}, got an object: give a file for each run"
                raise FormatError(path, message)
            if problem := value_problem(number, value):
                at = f"(document {document[:40]!r} of topic {topic[:40]!r})"
                raise FormatError(path, f"{problem} {at}")
    rows = [entry for _, documents in topics for entry in documents]
    if not rows:
        raise FormatError(path, "empty: no topic has a document")
    values = np.array([number for _, number in rows])
    sizes = [len(documents) for _, documents in topics]
    return Rows(
        [topic for topic, _ in topics],
        np.cumsum([0, *sizes[:-1]]),
        make_ids([document for document, _ in rows]),
        values,
        oddities={INFINITE_SCORES: int(np.isinf(values).sum())},
    )


def _are_sound(documents: Members, value: str) -> bool:
    """Whether the entries of a topic need not be examined one by one."""
    names, numbers = [name for name, _ in documents], [number for _, number in documents]
    if "" in names or not "".join(names).isascii() or {*map(type, numbers)} != {float}:
        return False
    found = np.array(numbers, np.float64)
    return not np.isnan(found).any() and (value == "score" or bool(are_grades(found).all()))


def json_rows(path: Path, stream: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of an opened file of JSON lines, each with the number of its line."""
    for number, text in data_lines(stream):
        try:
            row = DISTINCT.decode(text.decode("utf-8", "surrogatepass"))
        except RepeatedName as error:
            raise FormatError(path, str(error), number) from None
        except (ValueError, RecursionError) as error:
            message = f"not a JSON object: {error}"
            raise FormatError(path, message, number, code=CUT_OFF) from None
        if not isinstance(row, dict):
            raise FormatError(path, f"expected a JSON object, got {str(row)[:40]}", number)
        yield number, row
