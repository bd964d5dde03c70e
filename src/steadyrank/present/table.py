"""One table for terminal, CSV, LaTeX, Markdown and a page: what its cells show, and which are best.

Whoever makes a table decides on digits (`cells` has the usual ones), whoever prints it on the
looks. A page shows the same table with what only a page has: numbers behind its rows, and rows
that open on a click.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from steadyrank.data.read.csv_cells import csv_line
from steadyrank.present.visible import escaped, for_terminal
from steadyrank.words import exact


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table: what is shown, what it sorts and copies by, and what hovering tells.

    `link` is the id of something on the page. A `value` of None is a missing number, or a text
    that stands for itself.
    """

    text: str
    value: float | str | None = None
    hover: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drilldown:
    """The numbers behind a table's rows: one list of `names` for each row, best first when shown.

    Row i of the table opens `values[i]`, the figures of `names` (the runs of a topic, say).
    """

    names: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    title: str
    """With `{row}` for the row's first cell: "Runs on topic {row}"."""
    header: tuple[str, str] = ("run", "score")
    """What stands above the names and above their figures."""
    digits: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells under a header."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    id: str = ""
    """Unique on its page."""
    best: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    """(row, column) of the cells to set in bold."""
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """(row, column) to what stands raised behind the cell."""
    n_names: int = 1
    """How many columns, from the first, are names and stand to the left; the rest are figures."""
    wrapped: bool = False
    """Whether line breaks in cells are meant, for a terminal; elsewhere they are a name's own."""
    drilldown: Drilldown | None = None
    shown: int = 25
    """Rows that are open at first on a page; the others open on a click, and print."""


def text_rows(rows: Iterable[Iterable[str]]) -> list[list[Cell]]:
    """Cells of ready texts."""
    return [[Cell(text) for text in row] for row in rows]


def to_csv(table: Table) -> str:
    """Comma-separated, header first; what a spreadsheet would compute, behind an apostrophe."""
    rows = [[cell.text for cell in row] for row in table.rows]
    return "".join(map(csv_line, [table.header, *rows]))


def to_markdown(table: Table) -> str:
    """A pipe table with the best in bold and the caption below."""
    rows = [
        [
            _bold_markdown(_escape_markdown(cell.text), (i, j) in table.best)
            + _raised(table, i, j, "<sup>{}</sup>")
            for j, cell in enumerate(row)
        ]
        for i, row in enumerate(table.rows)
    ]
    header = [_escape_markdown(text) for text in table.header]
    lines = [header, ["---:" if j >= table.n_names else "---" for j in range(len(header))], *rows]
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{body}\n\n{_escape_markdown(table.caption)}\n" if table.caption else body + "\n"


def _raised(table: Table, row: int, column: int, form: str) -> str:
    mark = table.marks.get((row, column), "")
    return form.format(mark) if mark else ""


def _bold_markdown(text: str, bold: bool) -> str:
    return f"**{text}**" if bold else text


_MARKDOWN = str.maketrans({special: f"\\{special}" for special in "\\|`*_<>[]&~$"})


def _escape_markdown(text: str) -> str:
    return escaped(" ".join(text.split())).translate(_MARKDOWN)


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "×": r"$\times$",
        "−": "$-$",
        "±": r"$\pm$",
        "†": r"$^\dagger$",
        "‡": r"$^\ddagger$",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return escaped(" ".join(text.split())).translate(_LATEX)


def _bold_latex(text: str, bold: bool) -> str:
    return rf"\textbf{{{text}}}" if bold else text


def to_latex(table: Table) -> str:
    """A booktabs table, ready to paste."""
    rows = [
        " & ".join(
            _bold_latex(escape_latex(cell.text), (i, j) in table.best)
            + _raised(table, i, j, r"\textsuperscript{{{}}}")
            for j, cell in enumerate(row)
        )
        + r" \\"
        for i, row in enumerate(table.rows)
    ]
    head = " & ".join(escape_latex(text) for text in table.header) + r" \\"
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(table.caption)}}}",
        rf"\begin{{tabular}}{{{'l' * table.n_names}{'r' * (len(table.header) - table.n_names)}}}",
        r"\toprule",
        head,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _shown(table: Table, text: str) -> str:
    """A cell for a terminal: in one line, unless the table was wrapped into several."""
    lines = text.split("\n") if table.wrapped else [text]
    return "\n".join(map(escaped, lines))


def to_terminal(
    table: Table, *, width: int | None = None, colour: bool = False, most_rows: int | None = None
) -> str:
    """A table for the terminal, drawn by rich; plain text where colour is off.

    Of a table with more than `most_rows` the middle is left out.
    """
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for j, name in enumerate(table.header):
        drawn.add_column(
            Text(escaped(name)),
            justify="right" if j >= table.n_names else "left",
            no_wrap=True,
            overflow="fold",
        )
    first, last = _kept(len(table.rows), most_rows)
    for i, row in enumerate(table.rows):
        if first <= i < last:
            if i == first:
                drawn.add_row(f"… {last - first} more")
            continue
        drawn.add_row(
            *(
                Text(
                    _shown(table, cell.text) + _raised(table, i, j, " {}"),
                    style="bold" if (i, j) in table.best else "",
                )
                for j, cell in enumerate(row)
            )
        )
    longest_mark = max(map(len, table.marks.values()), default=-1) + 1
    texts = [[cell.text for cell in row] for row in table.rows]
    needed = 1 + sum(
        max(cell_len(line) for text in column for line in _shown(table, text).split("\n"))
        + 3
        + longest_mark
        for column in zip(table.header, *texts, strict=True)
    )
    out = io.StringIO()
    console = Console(
        file=out,
        width=max(width or 80, needed),
        force_terminal=colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
    )
    console.print(drawn)
    lines = [line.rstrip() for line in out.getvalue().split("\n")]
    body = "\n".join(lines).strip("\n") + "\n"
    return f"{body}\n{for_terminal(table.caption)}\n" if table.caption else body


def _kept(n_rows: int, most_rows: int | None) -> tuple[int, int]:
    """The rows from which and up to which a table leaves out its middle: most of the end goes."""
    if most_rows is None or n_rows <= most_rows:
        return n_rows, n_rows
    first = 3 * most_rows // 4
    return first, n_rows - (most_rows - first - 1)


def render(
    table: Table,
    form: str,
    *,
    width: int | None = None,
    colour: bool = False,
    most_rows: int | None = None,
) -> str:
    """The table in one of the text formats; `most_rows` in a terminal."""
    if form == "csv":
        return to_csv(table)
    if form == "latex":
        return to_latex(table)
    if form == "markdown":
        return to_markdown(table)
    return to_terminal(table, width=width, colour=colour, most_rows=most_rows)


def with_words(
    answer: Sequence[str], tables: Sequence[Table], notes: Sequence[str], form: str, **looks: Any
) -> str:
    """The answer, tables and notes; in LaTeX all words inside the first caption."""
    if form == "latex":
        # A sentence outside a table would land in the running text of somebody's paper.
        caption = " ".join([*answer, tables[0].caption, *notes])
        first = replace(tables[0], caption=caption)
        return "\n".join(to_latex(table) for table in [first, *tables[1:]])
    gap = "\n" if form == "table" else "\n\n"
    parts = [render(table, form, **looks) for table in tables]
    before, after = ([gap.join(words) + "\n"] if words else [] for words in (answer, notes))
    return "\n".join([*before, *parts, *after])


def frame_text(result: Any, form: str, **looks: Any) -> str:
    """The frame of a result that has no command of its own, under its caption."""
    import pandas as pd

    frame = result.to_frame()
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    is_name = [not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    table = Table(
        header=[_short(name) for name in frame.columns],
        rows=text_rows(map(_short, row) for row in frame.itertuples(index=False)),
        n_names=[*is_name, False].index(False),
        caption=result.caption(),
    )
    return render(table, form, **looks)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def exact_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Every key with every digit; the two ends of an interval in columns of their own."""
    flat = [_flat(row) for row in rows]
    header = list(dict.fromkeys(key for row in flat for key in row))
    cells = text_rows((exact(row.get(key)) for key in header) for row in flat)
    return Table(header=header, rows=cells)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if key.endswith("interval"):
            flat[f"{key}_low"], flat[f"{key}_high"] = value or (None, None)
        else:
            flat[key] = value
    return flat
