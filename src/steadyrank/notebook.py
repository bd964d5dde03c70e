"""How a result shows itself: as its command's tables, in a paper, in a notebook, as a figure.

`shown_by` gives all of this to a result's class: one line as `repr`, its tables when printed, a
frame of its rows, LaTeX, Markdown and HTML, and its plot. `Exhibit` and `Framed` have the same
methods for whoever reads types.
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
"""Of each table in a notebook."""
PRINTED_ROWS = 15
"""Of each table that `print` shows: a result may have several."""

ENDS = ("interval", "range", "rank_set", "completion_ranks")
"""How keys end that have two limits."""

_Result = TypeVar("_Result")


class Exhibit:
    """A result whose tables go into a paper; `shown_by` says how these are made."""

    __slots__ = ()

    if TYPE_CHECKING:

        def _text(self, form: str, **options: Any) -> str: ...

    def to_latex(self, **options: Any) -> str:
        """Booktabs tables with captions, ready to paste; options as those of `to_markdown`."""
        return self._text("latex", **options)

    def to_markdown(self, **options: Any) -> str:
        """Markdown tables with captions below; `digits` and what else the command has."""
        return self._text("markdown", **options)

    def to_html(self, **options: Any) -> str:
        """HTML tables with captions; options as those of `to_markdown`."""
        return self._text("html", **options)

    def to_csv(
        self, path: str | PathLike[str] | None = None, *, index: bool = False, **options: Any
    ) -> str | None:
        """CSV as the command writes it: returned, or written to a file; it never has an index."""
        if index:
            errors = import_module("steadyrank.errors")
            raise errors.InputError("the CSV of a result has no index: omit index")
        text = self._text("csv", **options)
        if path is None:
            return text
        import_module("steadyrank.compute.files").write_whole(path, [text])
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return what the command prints as JSON; missing numbers are None."""
        found: dict[str, Any] = json.loads(self._text("json"))
        return found

    def summary(self) -> str:
        """What was found, in the sentences that the command prints above its tables, if any."""
        above, rule, _ = self._text("table", most_rows=1).partition("──")
        said = above.rpartition("\n\n")[0] if rule else above
        return said.strip() or str(self)

    def plot(self, **options: Any) -> Figure:
        """The result drawn, as `steadyrank.plot` draws it, with its options."""
        draw = import_module("steadyrank.studies.plotting").plot
        figure: Figure = draw(self, **options)
        return figure

    def _repr_html_(self) -> str:
        return self._text("html", most_rows=MOST_ROWS)


class Framed(Exhibit):
    """A result of rows: `rows` has them as dictionaries, `to_frame` as a pandas frame."""

    __slots__ = ()

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per row."""
        raise NotImplementedError  # Every result that is framed has rows of its own.

    def to_frame(self) -> pd.DataFrame:
        """The rows as a frame, an interval as its two ends in columns of their own."""
        return frame_of(self.rows())


def _whole_name(module: str) -> str:
    """Return the name to import: modules of other packages are given with their package."""
    return module if module.startswith("steadyrank") else f"steadyrank.{module}"


def shown_by(
    text: str = "present.table:frame_text", *, listed: bool = False
) -> Callable[[type[_Result]], type[_Result]]:
    """Let a result show itself by the tables that its command prints; stands below `@dataclass`.

    `text` names the function that makes them, "module:function" or "module:VIEW.text": it lies
    above the result and is therefore looked up only when something is shown. `listed` functions
    take several results. What the class defines itself stays.
    """

    def texts(self: Any, form: str, **options: Any) -> str:
        module, _, function = text.partition(":")
        tables = attrgetter(function)(import_module(_whole_name(module)))
        names = import_module("steadyrank.present.run_names")
        with names.shown_as(names.names_of(self)):
            return str(tables([self] if listed else self, form, **options))

    def printed(self: Any) -> str:
        return texts(self, "table", most_rows=PRINTED_ROWS).rstrip("\n")

    def describe(self: Any) -> str:
        """A paragraph for a paper: what was compared, how, and what was found."""
        view = import_module(_whole_name(text.partition(":")[0])).VIEW
        return str(view.paragraph([self] if listed else self))

    def decorate(result: type[_Result]) -> type[_Result]:
        if text.endswith((".view:VIEW.text", ":compare_text")):
            result.describe = describe  # type: ignore[attr-defined]
        for name, method in (("_text", texts), ("__str__", printed), ("__repr__", _line)):
            # What every object has gives way; what a class or its bases define stays.
            if getattr(result, name, None) in (None, getattr(object, name, None)):
                setattr(result, name, method)
        return result

    return decorate


def _line(self: Any) -> str:
    return f"<{type(self).__name__}: {self.caption()}>"


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a frame of scalars, as `flat` has them."""
    return made_frame([flat(row) for row in rows])


def made_frame(data: Any) -> pd.DataFrame:
    """A frame, also of names that are not UTF-8: these are columns of Python's strings."""
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
    """A row of scalars: nested keys joined by underscores, intervals as their two ends.

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
