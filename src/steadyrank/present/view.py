"""What a study says and shows, described once: findings, and tables as columns over exact rows.

A study has one `View`. Terminal, CSV, JSON, LaTeX, Markdown, HTML, notebook and page are renderings
of it, so that a column has one title and a fact one sentence wherever it stands. What a view is
about, its subject, is a result or a tuple of results (several measures).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from steadyrank._version import __version__
from steadyrank.compute.executors import Progress
from steadyrank.data.write.csv import frame_csv
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
    """Something that a study has to say: a stable id, one short sentence, the numbers behind it."""

    id: str
    """Such as "lead.significant" or "topics.needed": within one output it appears once."""
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", minus_signs(self.text))


@dataclass(frozen=True, slots=True)
class Assumption:
    """What a verdict rests on, said where another assumption would change it."""

    finding: Finding
    weight: float
    """The share of the rows whose place at the top would change; above 1 where another row would
    lead, or where nothing is known about the other assumption."""


def weakest(assumptions: Iterable[Assumption | None]) -> Assumption | None:
    """The one that changes the verdict most; of several the first."""
    known = [one for one in assumptions if one is not None]
    return max(known, key=lambda one: one.weight, default=None)


Form = str | Callable[[Row], Cell]
"""How a cell is shown: "name"; "score", "plain" and "change" (as many decimals as `digits`);
"percent", "pvalue", "count", "size", "yes"; a format of Python's; "row", for the one that the
row's `form` names; or a function of the row."""

When = str | Callable[[Any], bool]
"""Whether a column is shown: "always"; "known", where some row has a value; "varies", where rows
differ; or a question to the subject."""


@dataclass(frozen=True, slots=True)
class Col:
    """A column over exact rows. Two keys, or one whose value is a pair, are an interval."""

    key: str | tuple[str, str]
    title: str | None = None
    """The key unless given; `{name}` stands for an attribute of the subject, as in `filled`."""
    form: Form = "score"
    when: When = "always"
    about: str | Callable[[Any], str] = ""
    """What it is, for the caption of a page; a terminal has no room for it."""
    star: str = ""
    """Key of what is told by an asterisk behind the figure, such as "significant"."""
    spread: str = ""
    """Key of a deviation that stands behind the figure, where it is known."""

    @property
    def keys(self) -> tuple[str, ...]:
        """One, or both ends."""
        return self.key if isinstance(self.key, tuple) else (self.key,)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """A table: exact rows, which CSV and frames take as they are, and how columns show them."""

    id: str
    """Unique on a page."""
    rows: Callable[[Any], Iterable[Row]]
    columns: tuple[Col, ...] | Callable[[Any], tuple[Col, ...]]
    caption: str | Callable[[Any], str] = ""
    """A text is filled as titles are."""
    shown: Callable[[Any, Any], Iterable[Row]] = lambda subject, rows: rows
    """Which rows are shown, in which order; exact rows stay as they are."""
    when: Callable[[Any], bool] = lambda subject: True
    best: str | Callable[[Any], str | Sequence[str]] = ""
    """Key whose highest value is set in bold, or several; the lowest of a key behind a minus."""
    marks: Callable[[Any, Row], str] = lambda subject, row: ""
    """What stands raised behind the figure of `marked`."""
    marked: str = ""
    n_names: int = 1
    """Columns at the front that hold names; more where more of the form "name" stand there."""
    opened: int = 25
    """Rows that a page opens at first."""
    printed: Callable[[Any], int | None] = lambda subject: None
    """How many rows, the first, a command prints; 0 leaves the table to pages, None prints all."""
    most: int = cells.MOST_ROWS
    """Rows on a page; of more, the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a section of a page says whatever the data are."""

    title: str
    question: str
    means: str
    means_not: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSpec:
    """A figure of a section, named by its kind: drawing it is the business of `plots`."""

    id: str
    caption: str
    kind: str
    of: Callable[[Any], Any] = lambda subject: subject
    """The result that is drawn."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What `plot` takes besides the kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All that a study says and shows of a subject."""

    words: Words | None = None
    """None where no report has a section of it."""
    findings: Callable[[Any], Sequence[Finding]]
    """The most important first: a terminal prints three."""
    tables: tuple[TableSpec, ...]
    fields: Callable[[Any], dict[str, Any]]
    """The promised keys of the JSON output, which the view's findings complete; an iterator for
    rows of which there may be millions."""
    figure: FigureSpec | Callable[[Any], FigureSpec | None] | None = None
    """The one of its section; `plot` draws more kinds."""
    csv: str | Callable[[Any], str] = ""
    """Id of the table whose exact rows CSV holds; the first unless given."""
    options: tuple[str, ...] = ()
    """Fields of the subject that whoever shows it may set, such as the K of a "top K"."""
    describe: Callable[[Any], str] | None = None
    """A paragraph for a paper: what was compared and how, and what was found, with numbers."""

    def made(
        self,
        subject: Any,
        *,
        digits: int | None = None,
        page: bool = False,
        only: Sequence[str] = (),
    ) -> list[Table]:
        """The tables that have something to show; on a page with what their columns mean."""
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
        """The view in one of the output formats; `looks` are those of tables, and `options`.

        `csv` is the id of another table that CSV is to hold; with `describe` a paragraph for a
        paper ends the text.
        """
        asked = {option: looks.pop(option) for option in self.options if option in looks}
        if asked:
            subject = replace(subject, **asked)
        if form == "json":
            return "".join(json.json_pieces(self.json(subject, describe=describe)))
        if form == "csv":
            return exact_csv(self._csv_rows(subject, csv))
        said = [finding.text for finding in self.findings(subject)[:MOST_FINDINGS]]
        text = with_words(said, self.made(subject, digits=digits), [], form, **looks)
        return self.described(text, subject, form) if describe else text

    def described(self, text: str, subject: Any, form: str) -> str:
        """The text with the paragraph for a paper behind it."""
        paragraph = escaped(names_shown().text(self.paragraph(subject)))
        if form == "html":
            paragraph = f"<p>{escape(paragraph)}</p>"
        return f"{text}\n{escape_latex(paragraph) if form == 'latex' else paragraph}\n"

    def paragraph(self, subject: Any) -> str:
        """What `describe` has to say, and by which program."""
        if self.describe is None:
            raise InputError("this result has no paragraph for a paper: omit describe")
        return f"{minus_signs(self.describe(subject))} [steadyrank {__version__}]"

    def pieces(
        self,
        subject: Any,
        form: str,
        *,
        progress: Progress | None = None,
        total: int = 0,
        describe: bool = False,
    ) -> Iterator[str]:
        """JSON, or CSV as a frame writes it, some of the text at a time; of `total` rows."""
        finished = 0

        def done(n_rows: int) -> None:
            nonlocal finished
            finished = min(finished + n_rows, total)
            if progress is not None:
                progress(finished, total)

        if form == "json":
            yield from json.json_pieces(self.json(subject, describe=describe), done)
            return
        rows = iter(self._csv_rows(subject))
        for place, part in enumerate(iter(lambda: list(itertools.islice(rows, json.PART)), [])):
            done(len(part))
            yield frame_csv(frame_of(part), header=place == 0)

    def _csv_rows(self, subject: Any, wanted: str = "") -> Iterable[Row]:
        wanted = wanted or asked(self.csv, subject) or self.tables[0].id
        return next(spec for spec in self.tables if spec.id == wanted).rows(subject)

    def json(self, subject: Any, *, describe: bool = False) -> dict[str, Any]:
        """The promised keys, all findings, unless the keys have some of their own, the version."""
        keys = {**self.fields(subject), "version": __version__}
        keys |= {"findings": keys.get("findings", findings_json(self.findings(subject)))}
        return keys | ({"description": self.paragraph(subject)} if describe else {})


MOST_FINDINGS = 3
"""That a command prints before its tables; JSON and pages have all."""


def findings_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """As the JSON output has them."""
    return [{"id": f.id, "text": f.text, "values": dict(f.values)} for f in findings]


def make_table(
    spec: TableSpec, subject: Any, *, digits: int | None = None, page: bool = False
) -> Table:
    """The table that a spec describes, with the columns that its rows and the subject call for.

    With 4 `digits` unless given, or as many as it takes to tell the means apart that rank runs.
    """
    rows = list(spec.shown(subject, spec.rows(subject)))
    most = spec.most if page else spec.printed(subject)
    most = len(rows) if most is None else most
    columns = asked(spec.columns, subject)
    kept = [col for col in columns if _is_shown(col, subject, rows)]
    bold = asked(spec.best, subject)
    ranked = [bold] if isinstance(bold, str) else bold
    ranking = [key.removeprefix("-") for key in ranked]
    decimals = [_digits(col, rows[:most], ranking) if digits is None else digits for col in kept]
    shown = [
        [_cell(col, row, d, page) for col, d in zip(kept, decimals, strict=True)] for row in rows
    ]
    caption = asked(spec.caption, subject)
    if isinstance(spec.caption, str):
        caption = _filled(spec.caption, subject)
    if page:
        about = [_about(col, subject) for col in kept if col.about]
        caption = " ".join(filter(None, [caption, *about]))
    places = {key: j for j, col in enumerate(kept) for key in col.keys}
    table = cells.table(
        spec.id,
        caption,
        [_title(col, subject) for col in kept],
        shown,
        shown=spec.opened,
        most=most,
    )
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


def asked(value: Any, subject: Any) -> Any:
    """What a spec says of a subject, where it depends on it."""
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
    """With attributes of the subject; of several results, of the first."""
    return filled(text, subject[0] if isinstance(subject, (tuple, list)) else subject)


def literal(title: str) -> str:
    """A title that is shown as it is, whatever braces the names in it have."""
    return title.replace("{", "{{").replace("}", "}}")


def _about(col: Col, subject: Any) -> str:
    """What a column is, behind its title; d and W/T/L stay as they are."""
    title = _title(col, subject)
    title = title.capitalize() if title.islower() and len(title) > 1 else title
    return f"{title}: {col.about(subject) if callable(col.about) else col.about}."


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
    # One limit alone is told: the other is not bounded, or lies beyond the measure's range.
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
