"""Results as JSON: one object, unrounded numbers, null for missing numbers."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

import numpy as np

from steadyrank.visible import HIDDEN

PART = 10_000
"""Number of rows that become text at a time."""


def picked(result: Any, keys: str) -> dict[str, Any]:
    """Return attributes of a result, whose names are separated by blanks.

    `key=path` renames an attribute, or an attribute of an attribute.

    >>> picked(1 + 2j, "real i=imag one=real.real")
    {'real': 1.0, 'i': 2.0, 'one': 1.0}
    """
    pairs = (key.partition("=") for key in keys.split())
    return {key: attrgetter(path or key)(result) for key, _, path in pairs}


def rows_of(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one dictionary per row of columns, which are arrays or sequences.

    >>> rows_of({"run": ["a", "b"], "rank": range(1, 3)})
    [{'run': 'a', 'rank': 1}, {'run': 'b', 'rank': 2}]
    """
    values = (own.tolist() if hasattr(own, "tolist") else own for own in columns.values())
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def to_json(value: Any) -> str:
    """Return JSON text, with null for NaN and infinity."""
    return _dumped(value) + "\n"


def json_pieces(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield parts of the JSON text; an iterator becomes an array of any length.

    >>> "".join(json_pieces({"n": 2, "rows": iter([{"p": 0.5}, {"p": float("nan")}])}))
    '{"n": 2, "rows": [{"p": 0.5}, {"p": null}]}\\n'
    """
    yield from _pieces(value)
    yield "\n"


def _pieces(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield "{"
        for place, (key, item) in enumerate(value.items()):
            yield f"{', ' * (place > 0)}{_dumped(str(key))}: "
            yield from _pieces(item)
        yield "}"
    elif isinstance(value, Iterator):
        yield "["
        for place, part in enumerate(iter(lambda: list(itertools.islice(value, PART)), [])):
            yield ", " * (place > 0) + _dumped(part)[1:-1]
        yield "]"
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        yield "["
        for place, item in enumerate(value):
            yield ", " * (place > 0)
            yield from _pieces(item)
        yield "]"
    else:
        yield _dumped(value)


def _dumped(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        text = json.dumps(_clean(value), ensure_ascii=False, allow_nan=False)
    # A byte that is not UTF-8 is a surrogate in Python, which JSON escapes.
    return HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(item) for item in value]
    if isinstance(value, np.ndarray):
        return _clean(value.tolist())
    if isinstance(value, np.generic):
        return _clean(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
