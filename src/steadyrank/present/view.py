"""Views: the findings of a study, and its tables as columns over exact rows.

Terminal, CSV, JSON, LaTeX, Markdown, HTML, notebook and page all render the same `View`, so that
each column has one title and each fact one sentence. The subject of a view is a result or a tuple
of results (several measures).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from steadyrank._version import __version__
from steadyrank.data.write import frame_csv
from steadyrank.errors import InputError
from steadyrank.notebook import frame_of
from steadyrank.present import cells, json
from steadyrank.present.run_names import names_shown
from steadyrank.present.table import Cell, Table, escape_latex, exact_csv, with_words
from steadyrank.visible import escaped
from steadyrank.words import enough_digits, filled, minus_signs

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a study: a stable id, one short sentence, and its numbers."""

    id: str
    """Such as "lead.significant" or "topics.needed"; it is unique within an output."""
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", minus_signs(self.text))


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption of a verdict that another assumption would change."""

    finding: Finding
    weight: float
    """The share of rows that would enter or leave the top; above 1 if another row would lead, or if
    nothing is known about the other assumption."""


def weakest(assumptions: Iterable[Assumption | None]) -> Assumption | None:
    """Return the assumption that matters most for the verdict; of several the first."""
    known = [one for one in assumptions if one is not None]
    return max(known, key=lambda one: one.weight, default=None)


Form = str | Callable[[Row], Cell]
"""The format of a cell: "name"; "score", "plain" and "change" (with `digits` decimals); "percent",
"pvalue", "count", "size", "yes"; a format of Python; "row", for the one in the row's `form`; or a
function of the row."""

When = str | Callable[[Any], bool]
"""When a column is shown: "always"; "known", if some row has a value; "varies", if rows differ; or
a function of the subject."""


@dataclass(frozen=True, slots=True)
class Col:
    """A column over exact rows. Two keys, or one whose value is a pair, are an interval."""

    key: str | tuple[str, str]
    title: str | None = None
    """By default the key; `{name}` is an attribute of the subject, as in `filled`."""
    form: Form = "score"
    when: When = "always"
    about: str | Callable[[Any], str] = ""
    """The explanation of the column in the caption of a page."""
    star: str = ""
    """Key of the condition that adds an asterisk, such as "significant"."""
    spread: str = ""
    """Key of a deviation that is shown after the number, if it is known."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The key, or those of both ends of an interval."""
        return self.key if isinstance(self.key, tuple) else (self.key,)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """A table: exact rows, which CSV and frames show unchanged, and columns that format them."""

    id: str
    """Unique on a page."""
    rows: Callable[[Any], Iterable[Row]]
    columns: tuple[Col, ...] | Callable[[Any], tuple[Col, ...]]
    caption: str | Callable[[Any], str] = ""
    """A text is filled as titles are."""
    shown: Callable[[Any, Any], Iterable[Row]] = lambda subject, rows: rows
    """Which rows are shown, in which order."""
    when: Callable[[Any], bool] = lambda subject: True
    best: str | Callable[[Any], str | Sequence[str]] = ""
    """Key or keys whose highest value is set in bold; after a minus, the lowest."""
    marks: Callable[[Any, Row], str] = lambda subject, row: ""
    """The superscript of the column `marked`."""
    marked: str = ""
    n_names: int = 1
    """Number of name columns at the front; at least all columns there with the form "name"."""
    opened: int = 25
    """Number of rows that a page shows at first."""
    printed: Callable[[Any], int | None] = lambda subject: None
    """Number of rows that a command prints; 0 for a table of pages only, None for all rows."""
    most: int = cells.MOST_ROWS
    """Number of rows on a page, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The texts of a section of a page that do not depend on the data."""

    title: str
    question: str
    means: str
    means_not: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSpec:
    """A figure of a section, which the study's `plots` draws."""

    id: str
    caption: str
    kind: str
    of: Callable[[Any], Any] = lambda subject: subject
    """The result that is drawn."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further options of `plot`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The findings and tables of a study."""

    words: Words | None = None
    """None if no report has a section of the study."""
    findings: Callable[[Any], Sequence[Finding]]
    """The most important first: a terminal prints three."""
    tables: tuple[TableSpec, ...]
    fields: Callable[[Any], dict[str, Any]]
    """The keys of the JSON output except findings; an iterator becomes an array of any length."""
    figure: FigureSpec | Callable[[Any], FigureSpec | None] | None = None
    """The figure of its section."""
    csv: str | Callable[[Any], str] = ""
    """Id of the table whose exact rows CSV holds; by default the first."""
    options: tuple[str, ...] = ()
    """Fields of the subject that can be set when it is shown, such as the K of "top K"."""
    describe: Callable[[Any], str] | None = None
    """A paragraph for a paper: what was compared, how, and what was found."""

    def made(
        self,
        subject: Any,
        *,
        digits: int | None = None,
        page: bool = False,
        only: Sequence[str] = (),
    ) -> list[Table]:
        """Return the tables with rows; on a page, captions explain the columns."""
        return [
            table
            for spec in self.tables
            if (not only or spec.id in only) and spec.when(subject)
            for table in [make_table(spec, subject, digits=digits, page=page)]
            if table.rows
        ]

    def text(
        self,
        subject: Any,
        form: str,
        *,
        digits: int | None = None,
        csv: str = "",
        describe: bool = False,
        **looks: Any,
    ) -> str:
        """Return the view in one of the output formats; `looks` are those of tables, and `options`.

        `csv` is the id of the table for CSV; with `describe` a paragraph for a paper ends the text.
        """
        chosen = {option: looks.pop(option) for option in self.options if option in looks}
        if chosen:
            subject = replace(subject, **chosen)
        if form == "json":
            return "".join(json.json_pieces(self.json(subject, describe=describe)))
        if form == "csv":
            return exact_csv(self._csv_rows(subject, csv))
        findings = [finding.text for finding in self.findings(subject)[:MOST_FINDINGS]]
        text = with_words(findings, self.made(subject, digits=digits), [], form, **looks)
        return self.described(text, subject, form) if describe else text

    def described(self, text: str, subject: Any, form: str) -> str:
        """Return the text followed by the paragraph for a paper."""
        paragraph = escaped(names_shown().text(self.paragraph(subject)))
        if form == "html":
            paragraph = f"<p>{escape(paragraph)}</p>"
        return f"{text}\n{escape_latex(paragraph) if form == 'latex' else paragraph}\n"

    def paragraph(self, subject: Any) -> str:
        """Return the paragraph for a paper, with the program's version."""
        if self.describe is None:
            raise InputError("this result has no paragraph for a paper: omit describe")
        return f"{minus_signs(self.describe(subject))} [steadyrank {__version__}]"

    def pieces(self, subject: Any, form: str, *, describe: bool = False) -> Iterator[str]:
        """Yield parts of the JSON text, or of CSV as a frame writes it."""
        if form == "json":
            yield from json.json_pieces(self.json(subject, describe=describe))
            return
        rows = iter(self._csv_rows(subject))
        for place, part in enumerate(iter(lambda: list(itertools.islice(rows, json.PART)), [])):
            yield frame_csv(frame_of(part), header=place == 0)

    def _csv_rows(self, subject: Any, wanted: str = "") -> Iterable[Row]:
        wanted = wanted or resolved(self.csv, subject) or self.tables[0].id
        return next(spec for spec in self.tables if spec.id == wanted).rows(subject)

    def json(self, subject: Any, *, describe: bool = False) -> dict[str, Any]:
        """Return the keys of the JSON output: the fields, the findings and the version."""
        keys = {**self.fields(subject), "version": __version__}
        keys |= {"findings": keys.get("findings", findings_json(self.findings(subject)))}
        return keys | ({"description": self.paragraph(subject)} if describe else {})


MOST_FINDINGS = 3
"""Number of findings that a command prints before its tables; JSON and pages have all."""


def findings_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return the findings for JSON."""
    return [{"id": f.id, "text": f.text, "values": dict(f.values)} for f in findings]


def make_table(
    spec: TableSpec, subject: Any, *, digits: int | None = None, page: bool = False
) -> Table:
    """Return the table of a spec, with the columns that apply to its rows and the subject.

    Numbers have 4 decimals unless `digits` is given; means that rank runs have more if different
    means would look equal.
    """
    rows = list(spec.shown(subject, spec.rows(subject)))
    most = spec.most if page else spec.printed(subject)
    most = len(rows) if most is None else most
    kept = [col for col in resolved(spec.columns, subject) if _is_shown(col, subject, rows)]
    bold = resolved(spec.best, subject)
    ranked = [bold] if isinstance(bold, str) else bold
    ranking = [key.removeprefix("-") for key in ranked]
    decimals = [_digits(col, rows[:most], ranking) if digits is None else digits for col in kept]
    shown = [
        [_cell(col, row, d, page) for col, d in zip(kept, decimals, strict=True)] for row in rows
    ]
    caption = resolved(spec.caption, subject)
    if isinstance(spec.caption, str):
        caption = _filled(spec.caption, subject)
    if page:
        about = [_about(col, subject) for col in kept if col.about]
        caption = " ".join(filter(None, [caption, *about]))
    places = {key: j for j, col in enumerate(kept) for key in col.keys}
    header = [_title(col, subject) for col in kept]
    table = cells.table(spec.id, caption, header, shown, shown=spec.opened, most=most)
    marks = {
        (i, places[spec.marked]): mark
        for i, row in enumerate(rows[: len(table.rows)])
        if spec.marked in places and (mark := spec.marks(subject, row))
    }
    named = next((j for j, col in enumerate(kept) if col.form != "name"), len(kept))
    best = frozenset(cell for key in ranked for cell in _best(key, rows, places))
    return replace(table, n_names=max(spec.n_names, named), marks=marks, best=best)


def _digits(col: Col, rows: Sequence[Row], ranking: Sequence[str]) -> int:
    if col.form not in ("score", "plain") or col.key not in ranking:
        return cells.DIGITS
    return enough_digits(row[col.keys[0]] for row in rows if _is_known(row.get(col.keys[0])))


def resolved(value: Any, subject: Any) -> Any:
    """Return a value of a spec, which may be a function of the subject."""
    return value(subject) if callable(value) else value


def _best(key: str, rows: Sequence[Row], places: Mapping[str, int]) -> list[tuple[int, int]]:
    column = key.removeprefix("-")
    values = [row[column] for row in rows] if column in places else []
    first = max if column == key else min
    best = first((value for value in values if _is_known(value)), default=None)
    return [(i, places[column]) for i, value in enumerate(values) if value == best is not None]


def _is_shown(col: Col, subject: Any, rows: Sequence[Row]) -> bool:
    if callable(col.when):
        return col.when(subject)
    if col.when == "known":
        return any(_is_known(row.get(key)) for row in rows for key in col.keys)
    if col.when == "varies":
        return len({tuple(row.get(key) for key in col.keys) for row in rows}) > 1
    return True


def _is_known(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_is_known, value))
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def _title(col: Col, subject: Any) -> str:
    return _filled(col.keys[0].replace("_", " ") if col.title is None else col.title, subject)


def _filled(text: str, subject: Any) -> str:
    """Fill a text with attributes of the subject, or of the first of several results."""
    return filled(text, subject[0] if isinstance(subject, (tuple, list)) else subject)


def literal(title: str) -> str:
    """Return a title whose braces are shown unchanged."""
    return title.replace("{", "{{").replace("}", "}}")


def _about(col: Col, subject: Any) -> str:
    """Return the title and explanation of a column; d and W/T/L are not capitalized."""
    title = _title(col, subject)
    title = title.capitalize() if title.islower() and len(title) > 1 else title
    return f"{title}: {resolved(col.about, subject)}."


def _cell(col: Col, row: Row, digits: int, page: bool) -> Cell:
    if callable(col.form):
        return col.form(row)
    form = row["form"] if col.form == "row" else col.form
    value = [row.get(key) for key in col.key] if isinstance(col.key, tuple) else row.get(col.key)
    if isinstance(value, (tuple, list)):
        return _interval(list(value), form, digits, page)
    if form in _FORMS:
        cell = _FORMS[form](value)
    else:
        shape = _format(form, digits)
        cell = (cells.signed if shape.startswith("+") else cells.number)(value, shape)
        if col.spread and _is_known(row.get(col.spread)):
            cell = replace(cell, text=f"{cell.text} ± {row[col.spread]:{shape}}")
    return replace(cell, text=f"{cell.text}*") if col.star and row[col.star] else cell


def _interval(ends: list[Any], form: str, digits: int, page: bool) -> Cell:
    if form == "size":
        return cells.size_interval(ends if all(map(_is_known, ends)) else None)
    # One limit may be unknown: it is not bounded, or beyond the measure's range.
    is_any = any(map(_is_known, ends))
    known = [math.nan if end is None else end for end in ends] if is_any else None
    shape = _format(form, digits)
    if page:
        return cells.span(known, shape)
    return (cells.signed_interval if shape.startswith("+") else cells.interval)(known, shape)


def _format(form: str, digits: int) -> str:
    forms = {"score": f"z,.{digits}f", "plain": f".{digits}f", "change": f"+z.{digits}f"}
    return forms.get(form, form)


_FORMS: Mapping[str, Callable[[Any], Cell]] = {
    "name": lambda value: cells.name("–" if value is None else str(value)),
    "percent": lambda value: cells.percent(math.nan if value is None else value),
    "pvalue": lambda value: cells.pvalue(math.nan if value is None else value),
    "count": cells.whole,
    "size": cells.size,
    "yes": lambda value: cells.name("yes" if value else "no"),
}
