"""JSON files that are one value: parsed whole, with the lines of what is wrong in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steadyrank.errors import FormatError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(?P<key>\s*:)?|[{}\[\]]|\n', re.DOTALL)


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


def members_of(path: Path, content: bytes) -> Any:
    """The value of a JSON file, its objects as `Members`, its numbers as floats."""
    return _parsed(path, as_text(content), Members, parse_int=float)


def value_of(path: Path, content: bytes) -> Any:
    """The value of a JSON file, its objects as dictionaries; a name that occurs twice is refused.

    >>> value_of(Path("a.json"), b'{"q1": {"map": 0.5,\\n"map": 1}}')
    Traceback (most recent call last):
        ...
    steadyrank.errors.FormatError: a.json:2: 'map' occurs twice in one object: keep one
    """
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


@dataclass(frozen=True, slots=True)
class Key:
    """The name of a member: as written, its line, and the objects around it by their numbers."""

    written: str
    line: int
    inside: tuple[int, ...]


def _keys(text: str) -> Iterator[Key]:
    """The names of all members in the text's order.

    >>> [(key.written, key.line, key.inside) for key in _keys('{"a": {"b": 1},\\n"c": [2]}')]
    [('"a"', 1, (1,)), ('"b"', 1, (1, 2)), ('"c"', 2, (1,))]
    """
    inside: tuple[int, ...] = ()
    line, opened = 1, 0
    for token in _TOKEN.finditer(text):
        start = token[0][0]
        if start == '"' and token["key"]:
            yield Key(token[0][: -len(token["key"])], line, inside)
        elif start in "{[":
            opened += 1
            inside = (*inside, opened)
        elif start in "}]":
            inside = inside[:-1]
        line += token[0].count("\n")


def key_lines(text: str, depth: int) -> list[int]:
    """The lines of the names at one depth, in order."""
    return [key.line for key in _keys(text) if len(key.inside) == depth]


def _first_repeated(text: str) -> tuple[str, int | None]:
    """The first name that occurs twice in one object, and its line there."""
    seen: set[tuple[int, str]] = set()
    for key in _keys(text):
        name = (key.inside[-1], json.loads(key.written))
        if name in seen:
            return name[1], key.line
        seen.add(name)
    return "a name", None


def describe(value: Any) -> str:
    """What to call a JSON value in an error.

    >>> [describe(value) for value in ([], {}, None, "x", 1.5, True)]
    ['a list', 'an object', 'null', "'x'", '1.5', 'true']
    """
    if isinstance(value, (dict, Members)):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return f"{value!r:.40}"
