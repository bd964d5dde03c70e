"""How a result shows itself: one line as `repr`, its tables when printed, HTML in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 60
PRINTED_ROWS = 15
"""Of each table that `print` shows: a result may have several."""

_Result = TypeVar("_Result")


class Framed:
    """A result of rows: `rows` has them as dictionaries, `to_frame` as a pandas frame."""

    __slots__ = ()

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per row."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """The rows as a frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())


def shown_by(
    text: str = "present.table:frame_text", *, listed: bool = False
) -> Callable[[type[_Result]], type[_Result]]:
    """Let a result print as the tables that its command prints; stands below `@dataclass`.

    `text` names the function that makes them, "module:function": it lies above the result and is
    therefore looked up only when something is printed. `listed` functions take several results.
    What the class defines itself stays.
    """

    def printed(self: Any) -> str:
        module, _, function = text.partition(":")
        tables = getattr(import_module(f"steadyrank.{module}"), function)
        text_of = tables([self] if listed else self, "table", most_rows=PRINTED_ROWS)
        return str(text_of).rstrip("\n")

    def decorate(result: type[_Result]) -> type[_Result]:
        for name, method in (("__str__", printed), ("__repr__", _line), ("_repr_html_", _html)):
            if name not in vars(result):
                setattr(result, name, method)
        return result

    return decorate


def _line(self: Any) -> str:
    return f"<{type(self).__name__}: {self.caption()}>"


def _html(self: Any) -> str:
    if hasattr(self, "to_frame"):
        return frame_html(self.to_frame())
    return f"<pre>{escape(str(self))}</pre>"


def frame_html(frame: pd.DataFrame) -> str:
    """The table; of a long one the first and the last rows, and how many there are.

    >>> import pandas as pd
    >>> "&lt;b&gt;" in frame_html(pd.DataFrame({"run": ["<b>"]}))
    True
    """
    import pandas as pd

    return str(
        frame.to_html(
            index=not isinstance(frame.index, pd.RangeIndex),
            max_rows=MOST_ROWS,
            show_dimensions=len(frame) > MOST_ROWS,
            float_format="{:.4g}".format,
        )
    )
