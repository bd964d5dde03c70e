"""`steadyrank battles`: who wins pairwise comparisons?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import FORM, assigned, of_kind, read_tools
from steadyrank.cli.output import Output
from steadyrank.errors import InputError

study_options = opt.options(
    {
        "--ties [half|davidson] = half": "Count a tie as half a win for each model, or fit "
        "Davidson's model of ties.",
        "--position/--no-position": (
            "Control for the advantage of the first place, or not [default: control if the order "
            "of the models varies].",
            {"default": None},
        ),
        "--control F,F,…": "Control for these numbers of both answers, such as length, which is in "
        "length_a and length_b.",
        "--cluster F,F,…": "Compute errors over prompt, voter or both [default: prompt, and voter "
        "if ten or more voted several times].",
        "--fixed [judge]": ("Omit results about other judges.", {"type": click.Choice(["judge"])}),
        "--baseline RUN": "Compare every model with this one only.",
        **opt.ALPHA,
        "--next next_battles N 0.. = 0": "Propose the N battles to run next; CSV then holds these.",
        "--samples n_samples 1.. = 10000": "Draw this many sign patterns.",
    }
)


@subcommand("battles")
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE...")
@study_options
@opt.output_options_of(
    {"--simultaneous": "Also show the ranks that hold for all models simultaneously."}
)
@opt.plot_option("the ranks, or what --plot-kind names,")
@opt.output_options_of({"--plot-kind [ranks|matrix]": "Draw ranks, or shares of wins."})
@opt.describe_option
@opt.digits_option
@opt.reading_options_of(
    {
        **FORM,
        "--column columns NAME=COLUMN ...": "Take model_a, model_b, winner, prompt, judge or a "
        "number such as length_a from this column; repeat for more.",
    }
)
@opt.output_options
def command(
    files: tuple[str, ...],
    columns: tuple[str, ...],
    kind: str | None,
    plot_kind: str | None,
    simultaneous: bool,
    output: Output,
    fixed: str | None,
    **options: Any,
) -> None:
    """Rank models by pairwise comparisons, and show how far the ranking holds.

    FILE has a row per battle with model_a, model_b and winner (model_a, model_b, tie, or the name
    of a model), and any of prompt, judge, length_a and length_b: CSV, JSON lines or Parquet, or
    judgments of AlpacaEval, arena-hard, MT-bench, the Chatbot Arena or ComparIA. Errors are over
    prompts, as battles on one prompt are not independent.
    """
    names = assigned("--column", columns, "NAME=COLUMN, such as winner=vote")
    from steadyrank.studies.battles.study import battles
    from steadyrank.studies.battles.view import VIEW

    found = read_tools(files, kind, columns=names)
    if found is None:
        raise InputError(
            f"{files[0]}: expected battles, with columns model_a, model_b and winner: name other "
            "columns by --column, such as --column winner=vote"
        )
    options |= {"jobs": output.jobs, "rng": output.seed, "fixed": fixed or ()}
    with output.progress("blocks of samples") as progress:
        result = battles(of_kind("Battles", found, files), progress=progress, **options)
    output.show(VIEW.text, result, simultaneous=simultaneous)
    output.draw(result, kind=plot_kind)
