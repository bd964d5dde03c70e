"""In which format a result is written: as --format says, or as the name of its file ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from steadyrank.errors import InputError

FORMATS = ("table", "csv", "json", "latex", "markdown", "html")

TEXT = ".txt"
"""Says nothing about a format: whatever is written is text."""

BY_SUFFIX = {
    TEXT: "table",
    ".csv": "csv",
    ".json": "json",
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
    ".htm": "html",
    ".parquet": "parquet",
    ".tsv": "tsv",
}
OF_SOME = (".parquet", ".tsv")
"""Suffixes that a command must say it has (`also_writes`)."""
FIGURES = (".svg", ".png", ".pdf", ".eps", ".jpg", ".jpeg")

_Function = TypeVar("_Function", bound=Callable[..., Any])


def also_writes(*suffixes: str) -> Callable[[_Function], _Function]:
    """Let a command write files that not every command writes; stands below its output options."""

    def decorate(function: _Function) -> _Function:
        function.__dict__["suffixes"] = suffixes
        return function

    return decorate


def suffixes_of(function: Callable[..., Any]) -> list[str]:
    """The suffixes of the files that a command writes its result to."""
    own = getattr(function, "suffixes", ())
    return [suffix for suffix in BY_SUFFIX if suffix in own or suffix not in OF_SOME]


def choose_format(
    form: str | None, output: str | None, suffixes: Sequence[str], *, draws: bool
) -> str:
    """The format asked for, or the one that the name of the output file says.

    `draws` is whether the command has --plot.

    >>> choose_format(None, "table.tex", [".tex"], draws=False)
    'latex'
    """
    suffix = Path(output).suffix.lower() if output else ""
    by_name = BY_SUFFIX[suffix] if suffix in suffixes else None
    if suffix in FIGURES or (suffix and by_name is None and (form is None or suffix in OF_SOME)):
        figures = ", and draw figures with --plot FILE" if draws else ""
        raise InputError(
            f"-o {output}: name a file that ends in {_listed(suffixes)} for the result{figures}"
        )
    if form and by_name and suffix != TEXT and form != by_name:
        raise InputError(
            f"-o {output}: the name says {by_name}, but --format says {form}: omit --format, "
            "or name another file"
        )
    return form or by_name or "table"


def _listed(suffixes: Sequence[str]) -> str:
    names = [suffix for suffix in suffixes if suffix != ".htm"]
    return f"{', '.join(names[:-1])} or {names[-1]}"
