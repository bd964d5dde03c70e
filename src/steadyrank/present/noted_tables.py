"""Tables with notes below, and numbers, intervals and exact rows in their cells."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from steadyrank.present.table import Table, render


def with_notes(tables: list[Table], notes: list[str], form: str, **looks: Any) -> str:
    """Tables and, below, what a reader must know; in LaTeX inside the first caption."""
    if form == "latex":
        # A sentence outside a table would land in the running text of somebody's paper.
        first = replace(tables[0], caption=" ".join([tables[0].caption, *notes]))
        return "\n".join(render(table, "latex") for table in [first, *tables[1:]])
    gap = "\n" if form == "table" else "\n\n"
    parts = [render(table, form, **looks) for table in tables]  # type: ignore[arg-type]
    return "\n".join([*parts, *([gap.join(notes) + "\n"] if notes else [])])


def figure_text(value: float | None, form: str) -> str:
    """A number for a table; a dash where there is none, and "none" where no number does."""
    if value is None or math.isnan(value):
        return "–"
    return "none" if math.isinf(value) else format(value, form)


def span_text(ends: tuple[float, float] | None, form: str) -> str:
    """An interval for a table."""
    if ends is None:
        return "–"
    return f"[{figure_text(ends[0], form)}, {figure_text(ends[1], form)}]"


def exact_rows_table(rows: list[dict[str, Any]]) -> Table:
    """Every key with every digit; the two ends of an interval in columns of their own."""
    flat = [_flat(row) for row in rows]
    header = list(dict.fromkeys(key for row in flat for key in row))
    return Table(header=header, rows=[[row.get(key, "") for key in header] for row in flat])


def _flat(row: dict[str, Any]) -> dict[str, str]:
    cells: dict[str, str] = {}
    for key, value in row.items():
        if key.endswith("_interval"):
            for end, each in zip(("low", "high"), value or (None, None), strict=True):
                cells[f"{key}_{end}"] = _exact(each)
        else:
            cells[key] = _exact(value)
    return cells


def _exact(value: Any) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return repr(value) if isinstance(value, float) else str(value)
