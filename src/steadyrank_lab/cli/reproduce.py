"""`steadyrank reproduce`: a paper's tables and figures, with the published values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import same_command, subcommand
from steadyrank.cli.output import Output, tell, tell_if_compiling
from steadyrank.errors import InputError, check_choice

if TYPE_CHECKING:
    from steadyrank_lab.papers.model import Reproduction

PAPERS = {
    "yang2018": ("Yang, Zhang & Song, SIGIR 2018", "would another document collection change it?"),
    "lin2005": ("Lin & Hauptmann, SIGIR 2005", "how often do other topics reverse a difference?"),
    "ferro2018": ("Ferro, IIR 2018", "do the measures agree, on how many topics and systems?"),
    "jayasinghe2015": (
        "Jayasinghe et al., IP&M 2015",
        "how to compare systems that answer differently every time?",
    ),
    "sakai2016": ("Sakai & Shang, EVIA 2016", "how safe is a pilot's variance?"),
}
"""Citation and question of each paper; the names are those of `papers.reproduce.PAPERS`."""


def _paper(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        check_choice("paper", value, PAPERS)
    return value


def _listed(papers: Mapping[str, tuple[str, str]], form: str, **looks: Any) -> str:
    from steadyrank.present.json import to_json
    from steadyrank.present.table import Table, render, text_rows

    header = ("paper", "published", "question")
    rows = [(name, *about) for name, about in papers.items()]
    if form == "json":
        return to_json({"papers": [dict(zip(header, row, strict=True)) for row in rows]})
    caption = "Give one of these: steadyrank reproduce PAPER."
    return render(
        Table(header=header, rows=text_rows(rows), caption=caption, n_names=3), form, **looks
    )


@subcommand("reproduce")
@click.argument("paper", metavar="[PAPER]", callback=_paper, required=False)
@opt.options(
    {
        "--all all_papers": "Reproduce all papers; with --out, into a folder each, with an index.",
        "--out DIR": "Write index.html, tables (CSV, LaTeX), figures (SVG) and claims.json to DIR.",
        "--budget [small|full] = full": "Take a quick look, or run everything.",
    }
)
@opt.output_options
def command(
    paper: str | None, output: Output, all_papers: bool, out: str | None, budget: str
) -> None:
    """Reproduce a paper's tables and figures, with the published values.

    PAPER is yang2018, lin2005, ferro2018, jayasinghe2015 or sakai2016; without one they are listed.
    Uses built-in data; each exhibit names the command that does the same with yours. Prints the
    claims that must agree with the paper: whether each holds, fails, or is open within its Monte
    Carlo error or for lack of data. Open DIR/index.html for the rest.
    """
    if all_papers and paper is not None:
        raise InputError("--all makes every paper: omit PAPER")
    if paper is None and not all_papers:
        output.show(_listed, PAPERS)
        return
    from steadyrank_lab.papers.output import (
        papers_index,
        reproduction_text,
        reproductions_text,
        write_reproduction,
    )
    from steadyrank_lab.papers.reproduce import reproduce

    options: dict[str, Any] = {"budget": budget, "jobs": output.jobs, "rng": output.seed}
    options["command"] = same_command("--out", "DIR")
    tell_if_compiling(output.quiet)
    if paper is not None:
        with output.progress(paper) as progress:
            made = reproduce(paper, out=out, progress=progress, **options)
        output.show(reproduction_text, made)
        return
    known: list[Reproduction] = []
    if out is not None:  # refused before the work, if it holds something else
        write_reproduction(papers_index(known), out)
    for name in PAPERS:
        place = None if out is None else f"{out}/{name}"
        if not output.quiet:
            tell(f"{name} ({len(known) + 1} of {len(PAPERS)})")
        with output.progress(name) as progress:
            known.append(reproduce(name, out=place, progress=progress, **options))
        if out is not None:
            write_reproduction(papers_index(known, command=options["command"]), out)
    output.show(reproductions_text, known)
