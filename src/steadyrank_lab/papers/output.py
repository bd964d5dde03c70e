"""A reproduction as a page and as files: tables as CSV and LaTeX, figures as SVG, claims as JSON.

A folder gets all of them or none; the same reproduction gives the same bytes. Claims that do not
hold are findings like those that do.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from steadyrank.compute.files import write_whole
from steadyrank.data.read.sources import PathLike
from steadyrank.errors import InputError
from steadyrank.present.json import to_json
from steadyrank.present.page import Page, Section, page_html
from steadyrank.present.table import Cell, Table, render, text_rows, to_csv, to_latex
from steadyrank.visible import visible
from steadyrank_lab.papers.model import Claim, Exhibit, Reproduction, page_table, summary

INDEX, CLAIMS = "index.html", "claims.json"
"""The page, and the file that tells a folder of a reproduction from any other."""

WIDTH = 100
"""Width of a table that is not shown in a terminal."""


def reproduction_json(reproduction: Reproduction) -> dict[str, Any]:
    """Claims, tables with every digit, and where they come from."""
    return {
        "paper": reproduction.paper,
        "reference": reproduction.reference,
        "data": reproduction.data,
        "settings": dict(reproduction.settings),
        "claims": _counted(reproduction.claims),
        "missed": list(reproduction.missed),
        "exhibits": [_exhibit_json(exhibit) for exhibit in reproduction.exhibits],
    }


def _counted(claims: tuple[Claim, ...]) -> dict[str, int]:
    names = {"hold": True, "do_not_hold": False, "cannot_tell": None}
    return {name: sum(c.holds is value for c in claims) for name, value in names.items()}


def _exhibit_json(exhibit: Exhibit) -> dict[str, Any]:
    keys = ("id", "text", "published", "detail", "holds", "verdict", "why")
    return {
        "id": exhibit.id,
        "title": exhibit.title,
        "command": exhibit.command,
        "explanation": exhibit.explanation,
        "claims": [{key: getattr(claim, key) for key in keys} for claim in exhibit.claims],
        "tables": [
            {
                "id": table.id,
                "caption": table.caption,
                "header": list(table.header),
                "rows": [[_value(cell) for cell in row] for row in table.rows],
            }
            for table in exhibit.tables
        ],
        "figures": [{"id": figure.id, "caption": figure.caption} for figure in exhibit.figures],
    }


def _value(cell: Cell) -> float | str | None:
    return cell.text if cell.value is None and cell.text not in ("–", "") else cell.value


def digest_of(exhibits: Iterable[Exhibit]) -> str:
    """Return a checksum of the figures that exhibits show."""
    shown = [
        [[claim.id, claim.text, claim.detail, claim.verdict] for claim in exhibit.claims]
        + [[cell.text for cell in row] for table in exhibit.tables for row in table.rows]
        for exhibit in exhibits
    ]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


def reproduction_text(reproduction: Reproduction, form: str, **looks: Any) -> str:
    """Return the claims in one of the output formats; JSON holds all exhibits."""
    if form == "json":
        return to_json(reproduction_json(reproduction))
    table = claims_table(reproduction, details=form != "table")
    if form == "table":
        shown = render(wrapped(table, WIDTH), form, **looks)
        return f"{shown}\n{visible(textwrap.fill(table.caption, WIDTH))}\n"
    return render(table, form, **looks)


def claims_table(reproduction: Reproduction, *, details: bool = False) -> Table:
    """Return a row a claim; with `details` also ours, the published figures, and why it fails."""
    rows = []
    for exhibit in reproduction.exhibits:
        for claim in exhibit.claims or (Claim(text=exhibit.explanation, holds=None),):
            more = [claim.detail, claim.published, claim.why if claim.holds is False else ""]
            rows.append([exhibit.id, claim.verdict, claim.text, *(more if details else ())])
    more_columns = ("figures", "published", "why") if details else ()
    return Table(
        header=["exhibit", "outcome", "claim", *more_columns],
        rows=text_rows(rows),
        caption=f"{reproduction.reference} Data: {reproduction.data}. "
        f"Claims: {summary(reproduction.claims)}.",
        n_names=6,
    )


def wrapped(table: Table, width: int) -> Table:
    """Return the table for a terminal so wide: long claims go on in rows of their own."""
    texts = [[cell.text for cell in row] for row in table.rows]
    names = zip(*(row[:-1] for row in (table.header, *texts)), strict=True)
    left = max(30, width - 1 - sum(max(map(len, column)) + 3 for column in names))
    rows: list[list[str]] = []
    for *first, claim in texts:
        lines = textwrap.wrap(claim, left) or [""]
        rows += [[*first, lines[0]], *([*[""] * len(first), line] for line in lines[1:])]
    return replace(table, rows=text_rows(rows), caption="")


def reproductions_text(made: Sequence[Reproduction], form: str, **looks: Any) -> str:
    """Several papers in one of the output formats: how many claims hold; JSON holds everything."""
    if form == "json":
        return to_json({"papers": [reproduction_json(one) for one in made]})
    return render(_papers_table(made), form, **looks)


def _papers_table(made: Sequence[Reproduction]) -> Table:
    header = ("paper", "exhibits", "claims", "hold", "fail", "open", "digest")
    rows = (
        (
            one.paper,
            len(one.exhibits),
            len(one.claims),
            *_counted(one.claims).values(),
            str(one.settings.get("digest", "")),
        )
        for one in made
    )
    return page_table("papers", "Claims of the papers, and whether they hold", header, rows)


def papers_index(made: Sequence[Reproduction], *, command: str = "") -> dict[str, str]:
    """Return the files above the folders of papers: a page, and a list."""
    sections = tuple(
        Section(
            id=one.paper,
            title=one.paper,
            question=one.reference,
            answer=(f"{summary(one.claims)}: {one.paper}/index.html".capitalize(),),
            means=f"Made from {one.data}.",
            tables=(_claims_of(one.paper, one.claims),),
            is_open=False,
        )
        for one in made
    )
    page = Page(
        title="Reproduced papers",
        subtitle="Each claim, table and figure, ours and the published one",
        lead=(f"{summary([claim for one in made for claim in one.claims])}.",),
        sections=(
            Section(id="all", title="All papers", question="", tables=(_papers_table(made),)),
            *sections,
        ),
        command=command,
    )
    listed = json.loads(reproductions_text(made, "json")) | {"files": [INDEX, CLAIMS]}
    return {INDEX: page_html(page), CLAIMS: to_json(listed)}


def reproduction_page(reproduction: Reproduction, *, command: str = "") -> Page:
    """Return the page: a section for each exhibit, its claims first."""
    lead = [f"Claims: {summary(reproduction.claims)}.", f"Made from {reproduction.data}."]
    lead += [
        f"{_title(exhibit)} {claim.verdict}: {claim.text.rstrip('.')}"
        + (f" ({claim.why})." if claim.holds is False and claim.why else ".")
        for exhibit in reproduction.exhibits
        for claim in exhibit.claims
        if not claim.holds
    ]
    missed = [
        Section(id=f"missed-{k}", title=f"Not reproduced ({k})", question="", why_not=words)
        for k, words in enumerate(reproduction.missed, 1)
    ]
    return Page(
        title=f"{reproduction.paper}, reproduced",
        subtitle=reproduction.reference,
        lead=tuple(lead),
        sections=(*map(_section, reproduction.exhibits), *missed),
        provenance=(_settings(reproduction),),
        command=command,
    )


def _section(exhibit: Exhibit) -> Section:
    head: dict[str, Any] = {"title": _title(exhibit), "question": exhibit.title}
    head["id"] = f"exhibit-{exhibit.id}"
    if not (exhibit.tables or exhibit.figures or exhibit.claims):
        return Section(**head, why_not=exhibit.explanation)
    answer = [f"Claims: {summary(exhibit.claims)}."] if exhibit.claims else []
    answer += [f"Command: {exhibit.command}"] if exhibit.command else []
    claims = (_claims_of(exhibit.id, exhibit.claims),) if exhibit.claims else ()
    return Section(
        **head,
        answer=tuple(answer),
        means=exhibit.explanation,
        figures=exhibit.figures,
        tables=(*claims, *exhibit.tables),
    )


def _title(exhibit: Exhibit) -> str:
    return exhibit.id.replace("-", " ").capitalize()


def _claims_of(name: str, claims: Iterable[Claim]) -> Table:
    caption = "Claims and whether they hold"
    rows = [(claim.text, claim.published, claim.detail, claim.outcome) for claim in claims]
    header = ("claim", "published", "here", "outcome")
    return page_table(f"{name}-claims", caption, header, rows)


def _settings(reproduction: Reproduction) -> Table:
    known = {"data": reproduction.data, **reproduction.settings}
    rows = [(name, _in_words(value)) for name, value in known.items()]
    return page_table("settings", "What this page was made from", ("setting", "value"), rows)


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_in_words(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_in_words, value))
    return str(value)


def reproduction_files(reproduction: Reproduction, *, command: str = "") -> dict[str, str]:
    """Names of files and what they hold; `claims.json` lists them all."""
    files = {INDEX: page_html(reproduction_page(reproduction, command=command))}
    for exhibit in reproduction.exhibits:
        for table in exhibit.tables:
            files[f"{table.id}.csv"] = to_csv(_plain(table, exact=True))
            files[f"{table.id}.tex"] = to_latex(_plain(table, exact=False))
        for figure in exhibit.figures:
            files[f"{figure.id}.svg"] = f"{figure.svg}\n"
    listed = {**reproduction_json(reproduction), "files": [*files, CLAIMS]}
    return {**files, CLAIMS: to_json(listed)}


def _plain(table: Table, *, exact: bool) -> Table:
    """Return a table as files have it, the columns before the first of numbers being names."""
    numbers = [
        j for row in table.rows for j, cell in enumerate(row) if isinstance(cell.value, float)
    ]
    rows = text_rows((_exact(cell) if exact else cell.text for cell in row) for row in table.rows)
    return replace(table, rows=rows, n_names=max(1, min(numbers, default=len(table.header))))


def _exact(cell: Cell) -> str:
    if isinstance(cell.value, float):
        return f"{cell.value:.0f}" if cell.value.is_integer() else repr(cell.value)
    return str(_value(cell) or "")


def write_reproduction(files: Mapping[str, str], folder: PathLike) -> None:
    """Put the files into a folder, all or none; files of an earlier reproduction go.

    A folder that holds something else is refused.
    """
    root = Path(folder)
    earlier = check_folder(root)
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".reproduce-", dir=root) as place:
        # Everything is on the disk before the first file takes its place.
        for name, text in files.items():
            write_whole(Path(place) / name, text)
        for name in files:
            (Path(place) / name).replace(root / name)
    for name in earlier - set(files):
        (root / name).unlink(missing_ok=True)


def check_folder(folder: PathLike) -> set[str]:
    """Return the files of a reproduction in a folder; a folder with other files is refused."""
    root = Path(folder)
    if root.exists() and not root.is_dir():
        raise InputError(f"{root}: expected a folder, got a file")
    # Files of a reproduction that was killed on its way are no others.
    if not root.exists() or all(path.name.startswith(".reproduce-") for path in root.iterdir()):
        return set()
    try:
        claims = json.loads((root / CLAIMS).read_text(encoding="utf-8"))
        listed = {str(name) for name in claims["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            f"{root}: the folder holds other files: name a new one, or empty it"
        ) from None
    return {name for name in listed if Path(name).name == name}
