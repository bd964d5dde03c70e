"""Tables for LaTeX, with booktabs: ready to paste, whatever names hold."""

from __future__ import annotations

from collections.abc import Iterable

from steadyrank.present.cell_table import Cell, Table, emphasised, widest_mark
from steadyrank.visible import escaped
from steadyrank.words import typeset

COLUMN_WIDTH = 48
"""Characters of a table that one of a page's two columns has room for."""

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
    """Text that LaTeX prints as it is, two hyphens as two.

    >>> print(escape_latex("50% a_b--c"))
    50\\% a\\_b-{}-c
    """
    # LaTeX makes a dash of two hyphens.
    line = escaped(" ".join(text.split())).replace("--", "-\x00-").replace("--", "-\x00-")
    return line.translate(_LATEX).replace("\x00", "{}")


def _latex_mark(mark: str) -> str:
    """What stands raised: daggers are raised already where they stand in text."""
    return mark.replace("†", r"$\dagger$").replace("‡", r"$\ddagger$")


def to_latex(table: Table) -> str:
    """A booktabs table, ready to paste; marks stand in columns of their own, digits below digits.

    Needs the package booktabs.
    """
    marked = {column for _, column in table.marks}
    columns = range(table.n_names, len(table.header))
    kinds = "l" * table.n_names + "".join("r@{}l" if j in marked else "r" for j in columns)
    label = [rf"\label{{{table.label}}}"] if table.label else []
    # With a star it spans both columns of a page, and is the same where there is one.
    place = "table*" if table.label and _latex_width(table) > COLUMN_WIDTH else "table"
    lines = [
        rf"\begin{{{place}}}",
        r"\centering",
        rf"\caption{{{escape_latex(table.caption)}}}",
        *label,
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        *_latex_groups(table, marked),
        _latex_line(_latex_head(table, j, j in marked) for j in range(len(table.header))),
        r"\midrule",
        *(_latex_row(table, i, marked) for i in range(len(table.rows))),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\end{{{place}}}",
    ]
    return "\n".join(lines) + "\n"


def _latex_width(table: Table) -> int:
    """Characters of the widest line, as it prints; raised ones are half as wide."""
    texts = [list(table.header), *([cell.text for cell in row] for row in table.rows)]
    widths = [max(map(len, column)) + 2 for column in zip(*texts, strict=True)]
    raised = sum(widest_mark(table, column) for column in range(len(widths)))
    return sum(widths) + raised // 2


def _latex_line(cells: Iterable[str]) -> str:
    line = " & ".join(cells)
    # Behind the end of a row, LaTeX takes a bracket or a star for an option of that end.
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"


def _latex_head(table: Table, column: int, is_marked: bool) -> str:
    text = escape_latex(table.header[column])
    return rf"\multicolumn{{2}}{{c}}{{{text}}}" if is_marked else text


def _latex_groups(table: Table, marked: set[int]) -> list[str]:
    if not table.groups:
        return []
    place, column, cells, rules = table.n_names, table.n_names + 1, [""] * table.n_names, ""
    for text, size in table.groups:
        width = size + sum(j in marked for j in range(place, place + size))
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escape_latex(text)}}}")
        rules += rf"\cmidrule(lr){{{column}-{column + width - 1}}}"
        place, column = place + size, column + width
    return [_latex_line(cells), rules]


def _signed(cell: Cell) -> str:
    """What a cell shows; before a number a minus, which is no hyphen."""
    is_number = isinstance(cell.value, int | float)
    return typeset(cell.text[:1]) + cell.text[1:] if is_number else cell.text


def _latex_row(table: Table, row: int, marked: set[int]) -> str:
    cells = []
    for j, cell in enumerate(table.rows[row]):
        text = escape_latex(_signed(cell))
        cells.append(emphasised(table, row, j, text, r"\textbf{{{}}}", r"\underline{{{}}}"))
        mark = _latex_mark(table.marks.get((row, j), ""))
        if j in marked:
            cells.append(rf"\textsuperscript{{{mark}}}" if mark else "")
    return _latex_line(cells)
