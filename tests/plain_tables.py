"""Tables of many short cases, and checks of many figures at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from steadyrank.errors import InputError


def words(text: str) -> list[str]:
    """The words of a text, which hold no spaces."""
    return text.split()


def columns(text: str, n: int = 2) -> list[tuple[str, ...]]:
    """The words of a text as rows of n."""
    return list(zip(*[iter(text.split())] * n, strict=True))


def refused(message: str, call: Callable[..., Any], *args: Any, error: Any = InputError, **options):
    """A call is answered by an error with this message."""
    with pytest.raises(error, match=message):
        call(*args, **options)


def close(found: Any, expected: Any, names: str | Iterable[str] = "", **tolerance: Any) -> None:
    """Attributes are those of another object, or of a mapping; `names` has those to look at.

    "ours=theirs" where the two differ in name.
    """
    listed = names.split() if isinstance(names, str) else list(names)
    for name in listed or list(expected):
        ours, _, theirs = name.partition("=")
        has_keys = isinstance(expected, dict)
        value = expected[theirs or ours] if has_keys else getattr(expected, theirs or ours)
        assert getattr(found, ours) == pytest.approx(value, **tolerance), name
