"""`steadyrank reproduce`: a paper's tables and figures, with the published values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import same_command, subcommand
from steadyrank.cli.inputs import Inputs, load_scores, qrels_and_runs, scores_options
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


budget_options = opt.options(
    {
        "--all all_papers": "Reproduce all papers; with --out, into a folder each, with an index.",
        "--list list_papers": "List the papers, as does the command without one.",
        "--out DIR": "Write index.html, tables (CSV, LaTeX), figures (SVG) and claims.json to DIR.",
        "--budget [small|full] = full": "Take a quick look, or run everything.",
        "--samples n_samples N 2..": "Draw N samples, trials or splits instead of the budget's "
        "number.",
        "--score-source [score|rank] = score": "Simulate scores, or ranks instead of scores "
        "(yang2018).",
    }
)


@subcommand("reproduce")
@click.argument("paper", metavar="[PAPER]", callback=_paper, required=False)
@scores_options
@budget_options
@opt.output_options
def command(
    paper: str | None,
    inputs: Inputs,
    output: Output,
    list_papers: bool,
    all_papers: bool,
    out: str | None,
    **options: Any,
) -> None:
    """Reproduce a paper's tables and figures, with the published values.

    PAPER is yang2018, lin2005, ferro2018, jayasinghe2015 or sakai2016. Uses built-in data, or QRELS
    RUN... or scores of your own. Prints the claims that must agree with the paper: whether each
    holds, fails, or is open within its Monte Carlo error or for lack of data; a claim that fails on
    other data is a finding. Open DIR/index.html for the rest.
    """
    if list_papers or (paper is None and not all_papers):
        output.show(_listed, PAPERS)
        return
    if all_papers and (paper is not None or inputs.files or inputs.has_scores):
        raise InputError("--all makes every paper from built-in data: omit PAPER and files")
    data = _data(inputs, output)
    from steadyrank_lab.papers.output import (
        papers_index,
        reproduction_text,
        reproductions_text,
        write_reproduction,
    )
    from steadyrank_lab.papers.reproduce import reproduce

    options |= data | {"jobs": output.jobs, "rng": output.seed}
    options["command"] = same_command("--out", "DIR")
    tell_if_compiling(output.quiet)
    if not all_papers:
        with output.progress(paper or "") as progress:
            made = reproduce(paper or "", out=out, progress=progress, **options)
        output.show(reproduction_text, made)
        return
    known: list[Reproduction] = []
    source = options.pop("score_source")
    if out is not None:  # refused before the work, if it holds something else
        write_reproduction(papers_index(known), out)
    for name in PAPERS:
        place = None if out is None else f"{out}/{name}"
        own = {"score_source": source} if name == "yang2018" else {}
        if not output.quiet:
            tell(f"{name} ({len(known) + 1} of {len(PAPERS)})")
        with output.progress(name) as progress:
            known.append(reproduce(name, out=place, progress=progress, **options, **own))
        if out is not None:
            write_reproduction(papers_index(known, command=options["command"]), out)
    output.show(reproductions_text, known)


def _data(inputs: Inputs, output: Output) -> dict[str, Any]:
    """Return what `reproduce` takes for these arguments: scores, runs and judgments, or nothing."""
    if inputs.has_scores:
        return {"scores": load_scores(inputs, output)}
    if not inputs.files:
        for name in ("run_info", "team_from", "system_from"):
            if inputs.reading[name]:
                option = name.replace("_", "-")
                raise InputError(f"--{option} describes runs: give QRELS RUN... or --scores FILE")
        return {"measures": inputs.measures}
    qrels, runs = qrels_and_runs(inputs.files)
    return {"runs": runs, "qrels": qrels, "measures": inputs.measures, **inputs.reading}
