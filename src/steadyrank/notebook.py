"""How results are shown: printed, in notebooks, as LaTeX, Markdown, HTML, CSV, frames and figures.

`Exhibit` and `Framed` are the base classes of results; the decorator `shown_by` says which function
makes a result's tables.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from operator import attrgetter
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MOST_ROWS = 60
"""Number of rows of each table in a notebook."""
PRINTED_ROWS = 15
"""Number of rows of each table that `print` shows."""

ENDS = ("interval", "range", "rank_set", "completion_ranks")
"""Endings of keys whose value is a pair of limits."""

_Result = TypeVar("_Result")


class Exhibit:
    """A result with tables; `shown_by` says how these are made."""

    __slots__ = ()

    if TYPE_CHECKING:

        def _text(self, form: str, **options: Any) -> str: ...

    def to_latex(self, **options: Any) -> str:
        """Return booktabs tables with captions; options as in `to_markdown`."""
        return self._text("latex", **options)

    def to_markdown(self, **options: Any) -> str:
        """Return Markdown tables with captions; options are `digits` and others of the command."""
        return self._text("markdown", **options)

    def to_html(self, **options: Any) -> str:
        """Return HTML tables with captions; options as in `to_markdown`."""
        return self._text("html", **options)

    def to_csv(self, path: str | PathLike[str] | None = None, **options: Any) -> str | None:
        """Return the CSV of the command, or write it to a file."""
        text = self._text("csv", **options)
        if path is None:
            return text
        import_module("steadyrank.compute.files").write_whole(path, [text])
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON output of the command as a dictionary; missing numbers are None."""
        found: dict[str, Any] = json.loads(self._text("json"))
        return found

    def summary(self) -> str:
        """Return the sentences that the command prints above its tables, if any."""
        above, rule, _ = self._text("table", most_rows=1).partition("──")
        sentences = above.rpartition("\n\n")[0] if rule else above
        return sentences.strip() or str(self)

    def plot(self, **options: Any) -> Figure:
        """Draw the result as `steadyrank.plot` does, with the same options."""
        draw = import_module("steadyrank.studies.plotting").plot
        figure: Figure = draw(self, **options)
        return figure

    def _repr_html_(self) -> str:
        return self._text("html", most_rows=MOST_ROWS)


class Framed(Exhibit):
    """A result with rows: `rows` returns them as dictionaries, `to_frame` as a pandas frame."""

    __slots__ = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per row."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a frame, with two columns for the ends of each interval."""
        return frame_of(self.rows())


def _module(name: str) -> Any:
    """Import a module of steadyrank, or of another package whose name begins with steadyrank."""
    return import_module(name if name.startswith("steadyrank") else f"steadyrank.{name}")


def shown_by(
    text: str = "present.table:frame_text", *, listed: bool = False
) -> Callable[[type[_Result]], type[_Result]]:
    """Show a result by the tables of its command; comes directly below `@dataclass`.

    `text` names the function that makes the tables, as "module:function" or "module:VIEW.text";
    its module is imported when something is shown. `listed` functions take a list of results.
    Methods that the class defines are kept.
    """

    def texts(self: Any, form: str, **options: Any) -> str:
        module, _, function = text.partition(":")
        tables = attrgetter(function)(_module(module))
        names = import_module("steadyrank.present.run_names")
        with names.shown_as(names.names_of(self)):
            return str(tables([self] if listed else self, form, **options))

    def printed(self: Any) -> str:
        return texts(self, "table", most_rows=PRINTED_ROWS).rstrip("\n")

    def describe(self: Any) -> str:
        """Return a paragraph for a paper: what was compared, how, and what was found."""
        view = _module(text.partition(":")[0]).VIEW
        return str(view.paragraph([self] if listed else self))

    def decorate(result: type[_Result]) -> type[_Result]:
        if text.endswith((".view:VIEW.text", ":compare_text")):
            result.describe = describe  # type: ignore[attr-defined]
        for name, method in (("_text", texts), ("__str__", printed), ("__repr__", _line)):
            # Methods of the class and its bases are kept, but not those of `object`.
            if getattr(result, name, None) in (None, getattr(object, name, None)):
                setattr(result, name, method)
        return result

    return decorate


def _line(self: Any) -> str:
    return f"<{type(self).__name__}: {self.caption()}>"


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a frame of the rows, made flat by `flat`."""
    return made_frame([flat(row) for row in rows])


def made_frame(data: Any) -> pd.DataFrame:
    """Return a frame; names that are not UTF-8 are in columns of dtype object."""
    import pandas as pd

    try:
        return pd.DataFrame(data)
    except UnicodeEncodeError:
        frame = pd.DataFrame(data, dtype=object)
        for name in frame:
            with contextlib.suppress(UnicodeEncodeError):
                frame[name] = frame[name].infer_objects()
        return frame


def flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a row of scalars: nested keys joined by underscores, intervals as two columns.

    Longer sequences, such as the values of every trial, are left out.

    >>> flat({"p": {"t": 0.5}, "interval": (1, 2), "trials": [3, 4, 5]})
    {'p_t': 0.5, 'interval_low': 1, 'interval_high': 2}
    """
    cells: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            cells |= flat(value, f"{prefix}{key}_")
        elif key.endswith(ENDS) or hasattr(value, "low"):
            low, high = value if value is not None else (None, None)
            cells |= {f"{prefix}{key}_low": low, f"{prefix}{key}_high": high}
        elif not isinstance(value, tuple | list):
            cells[prefix + key] = value
    return cells
