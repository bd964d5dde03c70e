"""ANOVA tables as papers print them, and the words that go with them.

The columns are those of Tables 1 and 2 of Ferro 2018. Effect sizes are read by the usual
thresholds (Cohen's, as in Rutherford 2011): 0.14 large, 0.06 medium, 0.01 small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from steadyrank.present.table import Table, render
from steadyrank.stats.anova.balanced import Anova, AnovaSource

POWER = {"observed": "lambda = df F", "omega": "lambda = max(0, df (F − 1))"}

Row = dict[str, Any]


def power_note(table: Anova | None, more: str = "") -> list[str]:
    """What a column of observed power means, where there is one."""
    if table is None or table.power is None:
        return []
    note = (
        f"Power is observed power, {POWER[table.power]}, at alpha {table.alpha:g}: it restates the "
        "p-value and adds nothing."
    )
    return [f"{note} {more}".strip()]


def effect_word(omega_squared: float) -> str:
    """How large an effect is, by omega squared.

    >>> [effect_word(size) for size in (0.2, 0.07, 0.02, 0.001)]
    ['large', 'medium', 'small', 'negligible']
    """
    for least, word in ((0.14, "large"), (0.06, "medium"), (0.01, "small")):
        if omega_squared >= least:
            return word
    return "negligible"


def sized(line: AnovaSource) -> str:
    """An effect's omega squared, and how large that is."""
    return f"{line.omega_squared:.3f}, {effect_word(line.omega_squared)}"


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence, the last one after "and".

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def effects_table(
    table: Anova, limits: Mapping[str, tuple[float, float]], caption: str, digits: int = 4
) -> Table:
    """Effect sizes with their intervals, for a table that has no tests."""
    header = ["source", "SS", "DF", "MS", "omega²", "interval"]
    rows = [
        [
            source_words(line.source),
            figure(line.ss, digits),
            f"{line.df:,}",
            figure(line.ms, digits),
            figure(line.omega_squared, digits),
            interval_text(limits.get(line.source), digits),
        ]
        for line in table.sources
    ]
    return Table(header=header, rows=rows, caption=caption)


def interval_text(limits: tuple[float, float] | None, digits: int) -> str:
    """An interval for a table; nothing where there is none.

    >>> interval_text((0.0, 0.25), 2), interval_text(None, 2)
    ('[0.00, 0.25]', '')
    """
    return "" if limits is None else f"[{limits[0]:.{digits}f}, {limits[1]:.{digits}f}]"


def anova_table(table: Anova, caption: str, digits: int = 4) -> Table:
    """The table as papers print it; the column of powers only where they were asked for."""
    with_power = table.power is not None
    header = ["source", "SS", "DF", "MS", "F", "p", "omega²", *(["power"] if with_power else [])]
    rows = []
    for line in table.sources:
        figures = [figure(x, digits) for x in (line.ms, line.statistic)]
        ends = [figure(line.omega_squared, digits)]
        if with_power:
            ends.append(figure(line.power, digits))
        rows.append(
            [
                source_words(line.source),
                figure(line.ss, digits),
                f"{line.df:,}",
                *figures,
                pvalue_text(line.pvalue),
                *ends,
            ]
        )
    return Table(header=header, rows=rows, caption=caption)


def source_words(source: str) -> str:
    """A source as a table names it.

    >>> source_words("measure_pair:topic_size"), source_words("error(topic:model)")
    ('measure pair × topic size', 'error (topic × model)')
    """
    return source.replace("(", " (").replace(":", " × ").replace("_", " ")


def pvalue_text(value: float) -> str:
    """A p-value; small ones by their order.

    >>> [pvalue_text(p) for p in (0.25, 3.64e-85, 0.0)]
    ['0.2500', '3.64e-85', '< 1e-300']
    """
    if np.isnan(value):
        return ""
    if value < 1e-300:
        return "< 1e-300"
    return f"{value:.4f}" if value >= 1e-4 else f"{value:.2e}"


def figure(value: float, digits: int) -> str:
    """A number for a table; nothing where there is none."""
    if np.isnan(value):
        return ""
    return "infinite" if np.isinf(value) else f"{value:,.{digits}f}"


def with_words(
    answer: list[str], tables: list[Table], notes: list[str], form: str, **looks: Any
) -> str:
    """The answer, tables and notes; in LaTeX all words inside the first caption."""
    if form == "latex":
        # A sentence outside a table would land in the running text of somebody's paper.
        caption = " ".join([*answer, tables[0].caption, *notes])
        tables = [replace(tables[0], caption=caption), *tables[1:]]
        return "\n".join(render(table, "latex") for table in tables)
    gap = "\n" if form == "table" else "\n\n"
    parts = [render(table, form, **looks) for table in tables]  # type: ignore[arg-type]
    after = [gap.join(notes) + "\n"] if notes else []
    return "\n".join([gap.join(answer) + "\n", *parts, *after])


def exact_table(rows: list[Row]) -> Table:
    """Every key with every digit; the two ends of an interval in columns of their own."""
    flat: list[Row] = [
        {
            name: each
            for key, value in row.items()
            for name, each in (
                zip((f"{key}_low", f"{key}_high"), value or (None, None), strict=True)
                if key.endswith("interval")
                else [(key, value)]
            )
        }
        for row in rows
    ]
    header = list(flat[0]) if flat else []
    return Table(header=header, rows=[[_exact(row[key]) for key in header] for row in flat])


def _exact(value: Any) -> str:
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return ""
    return repr(value) if isinstance(value, float) else str(value)
