"""`steadyrank components`: which component of a grid matters, by how much?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import Inputs, load_scores, scores_options
from steadyrank.cli.output import Output
from steadyrank.errors import InputError

study_options = opt.together(
    opt.columns_option(
        "--factors", "Take the components from these run-info columns.", required=True
    ),
    opt.number_option(
        "--interactions",
        "K",
        "Include interactions of at most K factors [default: all].",
        type=click.IntRange(min=1),
    ),
    opt.mode_option("Choose the default of --strata: topic (sound), or none as published (paper)."),
    opt.choice_option(
        "--strata",
        ["none", "topic"],
        "Test against one residual, as published, or against interactions with topics "
        "[default: topic; none in mode paper or for an unbalanced grid].",
    ),
    opt.choice_option(
        "--unbalanced",
        ["refuse", "type3"],
        "Refuse a grid with gaps, or compute type III sums of squares.",
        default="refuse",
    ),
    opt.power_option("Add observed power: lambda = df F, or df (F - 1) [default: none]."),
    opt.level_option(
        "Compute Tukey's tests and intervals at this level of confidence.", "confidence"
    ),
)

showing_options = opt.together(opt.plot_option("means with HSD intervals"), opt.digits_option)


@subcommand("components")
@scores_options
@study_options
@showing_options
@opt.output_options
def command(
    inputs: Inputs,
    output: Output,
    digits: int,
    seed: int,
    jobs: int | None,
    scheduler: str | None,
    confidence: float,
    **options: Any,
) -> None:
    """Analyse the variance of a grid of runs by component, with topics as blocks.

    Takes QRELS RUN... or scores, and --run-info FILE, whose columns give the components of each
    run. Every combination must occur equally often, unless --unbalanced type3 is given. CSV holds
    the ANOVA table.
    """
    opt.check_level("--level", confidence)
    scores = load_scores(inputs, quiet=output.quiet, jobs=jobs, scheduler=scheduler)
    if output.plot is not None and len(scores.measures) > 1:
        raise InputError(f"{output.plot}: a figure shows one measure: name it with -m")
    from steadyrank.studies.components.study import components
    from steadyrank.studies.components.view import VIEW

    asked: Any = {"confidence": confidence, **options}
    results = [components(scores, measure=name, **asked) for name in scores.measures]
    output.show(VIEW.text, results, digits=digits)
    output.draw(results[0])
