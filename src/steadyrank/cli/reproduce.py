"""`steadyrank reproduce`: a paper's tables and figures, beside the published ones."""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import same_command, subcommand
from steadyrank.cli.inputs import Inputs, load_scores, qrels_and_runs, scores_options
from steadyrank.cli.output import Output, hush_matplotlib, tell_if_compiling
from steadyrank.errors import InputError, check_choice

NAMES = ("yang2018", "lin2005", "ferro2018", "jayasinghe2015", "sakai2016")
"""As in `steadyrank.papers.reproduce.PAPERS`, which is heavy to import."""


def _paper(ctx: click.Context, param: click.Parameter, value: str) -> str:
    check_choice("paper", value, NAMES)
    return value


budget_options = opt.options(
    {
        "--out DIR": "Write index.html, tables (CSV, LaTeX), figures (SVG) and claims.json to DIR.",
        "--budget [small|full] = full": "Take a quick look, or run everything.",
        "--samples n_samples N 2..": "Draw N samples, trials or splits instead of the budget's "
        "number.",
    }
)


@subcommand("reproduce")
@click.argument("paper", metavar="PAPER", callback=_paper)
@scores_options
@budget_options
@opt.output_options
def command(paper: str, inputs: Inputs, output: Output, **options: Any) -> None:
    """Reproduce a paper's tables and figures, beside the published ones.

    PAPER is yang2018, lin2005, ferro2018, jayasinghe2015 or sakai2016. Uses built-in data, or QRELS
    RUN... or scores of your own. Prints the claims that must agree with the paper and whether they
    do; a claim that does not hold on other data is a finding. Open DIR/index.html for the rest.
    """
    hush_matplotlib(output.quiet)
    data = _data(inputs, output)
    from steadyrank.papers.output import reproduction_text
    from steadyrank.papers.reproduce import reproduce

    tell_if_compiling(output.quiet)
    with output.progress(paper) as progress:
        made = reproduce(
            paper,
            jobs=output.jobs,
            progress=progress,
            rng=output.seed,
            command=same_command("--out", "DIR"),
            **options,
            **data,
        )
    output.show(reproduction_text, made)


def _data(inputs: Inputs, output: Output) -> dict[str, Any]:
    """What `reproduce` takes for these arguments: scores, runs and judgments, or nothing."""
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
