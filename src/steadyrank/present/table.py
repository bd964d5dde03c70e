"""Tables, and how they are written for terminals, CSV, LaTeX, Markdown and HTML.

A table has ready texts (`cells` has the usual formats) and says which cells are best. Pages show
the same tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from steadyrank.data.write import csv_cell, csv_line, frame_csv
from steadyrank.notebook import flat
from steadyrank.present.run_names import RunNames, names_shown
from steadyrank.visible import escaped
from steadyrank.words import exact, typeset

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    text: str
    value: float | str | None = None
    """The exact value, by which the cell is sorted and copied; None if missing or equal to text."""
    hover: str = ""
    """The tooltip."""
    link: str = ""
    """The id of something on the page."""


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
    """(row, column) to the superscript of the cell."""
    label: str = ""
    """The label of the table in LaTeX."""
    n_names: int = 1
    """Number of columns at the front that hold names; the others hold numbers."""
    filter_by: tuple[int, ...] = ()
    """Columns by which a page can filter rows."""
    picks: int | None = None
    """Column with the names of runs that the reader of a page can select for comparison."""
    shown: int = 25
    """Number of rows that a page shows at first."""


def emphasised(table: Table, row: int, column: int, text: str, bold: str) -> str:
    """Return the text of a cell, bold if it is the best of its column."""
    return bold.format(text) if (row, column) in table.best else text


def widest_mark(table: Table, column: int) -> int:
    """Return the length of the longest mark in a column."""
    return max((len(mark) for (_, j), mark in table.marks.items() if j == column), default=0)


def text_rows(rows: Iterable[Iterable[str]]) -> list[list[Cell]]:
    """Return rows of cells with these texts."""
    return [[Cell(text) for text in row] for row in rows]


def to_csv(table: Table) -> str:
    """Return CSV; cells that a spreadsheet would compute begin with an apostrophe."""
    rows = [[cell.text for cell in row] for row in table.rows]
    return "".join(map(csv_line, [table.header, *rows]))


def to_markdown(table: Table) -> str:
    """Return a pipe table with the best in bold and the caption below."""
    marks = {place: f"<sup>{_escape_markdown(mark)}</sup>" for place, mark in table.marks.items()}
    rows = [
        [
            emphasised(table, i, j, _escape_markdown(cell.text), "**{}**") + marks.get((i, j), "")
            for j, cell in enumerate(row)
        ]
        for i, row in enumerate(table.rows)
    ]
    header = [_escape_markdown(text) for text in table.header]
    lines = [header, ["---:" if j >= table.n_names else "---" for j in range(len(header))], *rows]
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{body}\n\n{_escape_markdown(table.caption)}\n" if table.caption else body + "\n"


_MARKDOWN = str.maketrans({special: f"\\{special}" for special in "\\|`*_<>[]&~$"})


def _escape_markdown(text: str) -> str:
    return escaped(" ".join(text.split())).translate(_MARKDOWN)


COLUMN_WIDTH = 48
"""Width of a table, in characters, that fits one of a page's two columns."""

_LATEX = str.maketrans(
    {special: f"\\{special}" for special in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "|": r"\textbar{}",
        "–": "--",
        "…": r"\ldots{}",
        "×": r"$\times$",
        "−": "$-$",
        "±": r"$\pm$",
        "∞": r"$\infty$",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "†": r"$^\dagger$",
        "‡": r"$^\ddagger$",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)


def escape_latex(text: str) -> str:
    """Escape a text for LaTeX; two hyphens stay two hyphens.

    >>> print(escape_latex("50% a_b--c"))
    50\\% a\\_b-{}-c
    """
    # LaTeX would turn two hyphens into a dash.
    line = escaped(" ".join(text.split())).replace("--", "-\x00-").replace("--", "-\x00-")
    return line.translate(_LATEX).replace("\x00", "{}")


def to_latex(table: Table) -> str:
    """Return a LaTeX table, which requires the package booktabs; marks are separate columns."""
    marked = {column for _, column in table.marks}
    columns = range(table.n_names, len(table.header))
    kinds = "l" * table.n_names + "".join("r@{}l" if j in marked else "r" for j in columns)
    label = [rf"\label{{{table.label}}}"] if table.label else []
    # With a star the table spans both columns of a page.
    place = "table*" if table.label and _latex_width(table) > COLUMN_WIDTH else "table"
    lines = [
        rf"\begin{{{place}}}",
        r"\centering",
        rf"\caption{{{escape_latex(table.caption)}}}",
        *label,
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        _latex_line(
            rf"\multicolumn{{2}}{{c}}{{{escape_latex(text)}}}"
            if j in marked
            else escape_latex(text)
            for j, text in enumerate(table.header)
        ),
        r"\midrule",
        *(_latex_row(table, i, marked) for i in range(len(table.rows))),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\end{{{place}}}",
    ]
    return "\n".join(lines) + "\n"


def _latex_width(table: Table) -> int:
    """Return the width of the table in characters; superscripts are half as wide."""
    texts = [list(table.header), *([cell.text for cell in row] for row in table.rows)]
    widths = [max(map(len, column)) + 2 for column in zip(*texts, strict=True)]
    raised = sum(widest_mark(table, column) for column in range(len(widths)))
    return sum(widths) + raised // 2


def _latex_line(cells: Iterable[str]) -> str:
    line = " & ".join(cells)
    # After the end of a row, LaTeX reads a bracket or a star as an option.
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"


def _signed(cell: Cell) -> str:
    """Return the text of a cell; a number has a minus sign instead of a hyphen."""
    is_number = isinstance(cell.value, int | float)
    return typeset(cell.text[:1]) + cell.text[1:] if is_number else cell.text


def _latex_row(table: Table, row: int, marked: set[int]) -> str:
    cells = []
    for j, cell in enumerate(table.rows[row]):
        text = escape_latex(_signed(cell))
        cells.append(emphasised(table, row, j, text, r"\textbf{{{}}}"))
        mark = table.marks.get((row, j), "")
        if j in marked:  # a superscript, as daggers in text are already
            mark = mark.replace("†", r"$\dagger$").replace("‡", r"$\ddagger$")
            cells.append(rf"\textsuperscript{{{mark}}}" if mark else "")
    return _latex_line(cells)


def to_html(table: Table, *, most_rows: int | None = None) -> str:
    """Return a table for a notebook, in ASCII, with the caption first."""
    first, last = _kept(len(table.rows), most_rows)
    rows = [_html_row(table, i) for i in range(len(table.rows)) if not first <= i < last]
    if first < last:
        more = f'<tr><td colspan="{len(table.header)}">… {last - first} more</td></tr>'
        rows.insert(first, more)
    heads = (
        f'<th style="{_side(table, column)}">{_escape_html(text)}</th>'
        for column, text in enumerate(table.header)
    )
    head = f"<tr>{''.join(heads)}</tr>"
    caption = (
        f'<caption style="text-align: left">{_escape_html(table.caption)}</caption>\n'
        if table.caption
        else ""
    )
    body = "\n".join(rows)
    text = f"<table>\n{caption}<thead>\n{head}\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
    # References work whatever encoding is declared.
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _escape_html(text: str) -> str:
    return escape(escaped(" ".join(text.split())))


def _side(table: Table, column: int) -> str:
    side = "left" if column < table.n_names else "right"
    return f"text-align: {side}; padding: 0 0.5em"


def _html_row(table: Table, row: int) -> str:
    cells = ""
    for j, cell in enumerate(table.rows[row]):
        text = _escape_html(cell.text)
        text = emphasised(table, row, j, text, "<strong>{}</strong>")
        if widest := widest_mark(table, j):  # digits are aligned by blanks after shorter marks
            mark = table.marks.get((row, j), "")
            blanks = "&nbsp;" * (2 * (widest - len(mark)))
            text += f"<sup>{_escape_html(mark)}{blanks}</sup>"
        cells += f'<td style="{_side(table, j)}">{text}</td>'
    return f"<tr>{cells}</tr>"


def to_terminal(table: Table, *, colour: bool = False, most_rows: int | None = None) -> str:
    """Return a table for the terminal, as wide as necessary, with at most `most_rows` rows."""
    from rich.cells import cell_len

    header = [(escaped(name), _BOLD) for name in table.header]
    rows = [header, *_terminal_rows(table, most_rows)]
    widths = [max(cell_len(row[j][0]) for row in rows) for j in range(len(header))]
    drawn = []
    for row in rows:
        cells = []
        for j, ((text, style), width) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (width - cell_len(text))
            shown = f"\x1b[{style}m{text}\x1b[0m" if colour and style and text else text
            cells.append(blanks + shown if j >= table.n_names else shown + blanks)
        drawn.append("   ".join(cells).rstrip())
    rule = "─" * (sum(widths) + 3 * (len(widths) - 1))
    text = "".join(f" {line}\n" if line else "\n" for line in [drawn[0], rule, *drawn[1:]])
    body = text.strip("\n")
    return f"{body}\n\n{escaped(table.caption)}\n" if table.caption else f"{body}\n"


_BOLD = "1"
"""ANSI code."""


def _terminal_rows(table: Table, most_rows: int | None) -> Iterator[list[tuple[str, str]]]:
    """Yield the texts of each row's cells with their ANSI codes."""
    first, last = _kept(len(table.rows), most_rows)
    for i, row in enumerate(table.rows):
        if i == first < last:
            yield [(f"… {last - first} more", ""), *[("", "")] * (len(row) - 1)]
        if not first <= i < last:
            yield [_terminal_cell(table, i, j, cell) for j, cell in enumerate(row)]


def _terminal_cell(table: Table, row: int, column: int, cell: Cell) -> tuple[str, str]:
    text, place = escaped(cell.text), (row, column)
    if widest := widest_mark(table, column):
        text += f" {table.marks.get(place, '')}".ljust(widest + 1)
    return text, _BOLD if place in table.best else ""


def _kept(n_rows: int, most_rows: int | None) -> tuple[int, int]:
    """Return the first and the last row to omit, so that the first three quarters are shown."""
    if most_rows is None or n_rows <= most_rows:
        return n_rows, n_rows
    first = 3 * most_rows // 4
    return first, n_rows - (most_rows - first - 1)


def render(table: Table, form: str, *, colour: bool = False, most_rows: int | None = None) -> str:
    """Return the table in one of the text formats; HTML and terminals show `most_rows` rows.

    Except in CSV, names of runs are as `names_shown` has them.
    """
    if form == "csv":
        return to_csv(table)
    table = _with_names(table, names_shown())
    if form == "latex":
        return to_latex(table)
    if form == "markdown":
        return to_markdown(table)
    if form == "html":
        return to_html(table, most_rows=most_rows)
    return to_terminal(table, colour=colour, most_rows=most_rows)


def _with_names(table: Table, names: RunNames) -> Table:
    """Return the table with names of runs as they are currently shown."""
    if not names.shown:
        return table
    rows = [
        [
            replace(cell, text=names.cell(cell.text))
            if j < table.n_names or isinstance(cell.value, str)
            else cell
            for j, cell in enumerate(row)
        ]
        for row in table.rows
    ]
    header = [names.cell(text) for text in table.header]
    return replace(table, rows=rows, header=header, caption=names.text(table.caption))


def with_words(
    answer: Sequence[str], tables: Sequence[Table], notes: Sequence[str], form: str, **looks: Any
) -> str:
    """Return the answer, tables and notes; in LaTeX all sentences are in the first caption."""
    names = names_shown()
    legend = names.legend("CSV and JSON have them in full")
    answer = [names.text(text) for text in answer]
    notes = [*([legend] if legend else []), *(names.text(text) for text in notes)]
    if form == "latex":
        # A sentence outside the table would become part of a paper's text.
        shown = [_with_names(table, names) for table in tables]
        caption = " ".join([*answer, shown[0].caption, *notes])
        first = replace(shown[0], caption=caption)
        return "\n".join(to_latex(table) for table in [first, *shown[1:]])
    if form == "html":
        answer, notes = (
            [f"<p>{_escape_html(text)}</p>" for text in texts] for texts in (answer, notes)
        )
    else:
        answer, notes = (list(map(escaped, texts)) for texts in (answer, notes))
    gap = "\n" if form in ("table", "html") else "\n\n"
    parts = [render(table, form, **looks) for table in tables]
    before, after = ([gap.join(words) + "\n"] if words else [] for words in (answer, notes))
    return "\n".join([*before, *parts, *after])


def frame_text(result: Any, form: str, **looks: Any) -> str:
    """Return the frame of a result without a command, with its caption."""
    import pandas as pd

    frame: pd.DataFrame = result.to_frame()
    frame = frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index()
    if form == "csv":
        return frame_csv(frame)
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


def exact_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return CSV with all keys and digits; an interval is two columns.

    >>> exact_csv([{"run": "=x", "p": 0.5, "interval": (0.25, None)}])
    "run,p,interval_low,interval_high\\n'=x,0.5,0.25,\\n"
    """
    scalars = [flat(row) for row in rows]
    header = list(dict.fromkeys(key for row in scalars for key in row))
    text_cell = cache(csv_cell)  # names recur
    lines = [csv_line(header)]
    for row in scalars:
        cells = (
            exact(value)
            if value is None or isinstance(value, int | float)
            else text_cell(str(value))
            for value in map(row.get, header)
        )
        lines.append((",".join(cells) or '""') + "\n")
    return "".join(lines)
