"""What a notebook shows of a result: its frame as an HTML table, names escaped, not too long."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 60


def frame_html(frame: pd.DataFrame, *, index: bool = False) -> str:
    """The table; of a long one the first and the last rows, and how many there are.

    >>> import pandas as pd
    >>> "&lt;b&gt;" in frame_html(pd.DataFrame({"run": ["<b>"]}))
    True
    """
    shown = frame.to_html(
        index=index,
        max_rows=MOST_ROWS,
        show_dimensions=len(frame) > MOST_ROWS,
        float_format="{:.4g}".format,
    )
    return str(shown)
