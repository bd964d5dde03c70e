"""`steadyrank components`: which component of a grid matters, by how much?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.inputs import load_scores, scores_options
from steadyrank.cli.options import (
    check_level,
    columns_option,
    digits_option,
    measures_option,
    output_options,
    plot_option,
    together,
)
from steadyrank.cli.output import (
    check_files,
    choose_format,
    draw,
    emit,
    progress_bar,
    tell_if_compiling,
    terminal_looks,
    told_on_stderr,
)
from steadyrank.errors import InputError

study_options = together(
    columns_option(
        "--factors", "Columns of the run information that name the components.", required=True
    ),
    click.option(
        "--interactions",
        type=click.IntRange(min=1),
        metavar="K",
        help="Of at most K factors [default: all].",
    ),
    click.option(
        "--mode",
        type=click.Choice(["sound", "paper"]),
        default="sound",
        show_default=True,
        help="Choose the default of --strata: topic, or none as published.",
    ),
    click.option(
        "--strata",
        type=click.Choice(["none", "topic"]),
        help="Test against one residual, as published, or against interactions with "
        "topics [default: topic; none in mode paper or an unbalanced grid].",
    ),
    click.option(
        "--unbalanced",
        type=click.Choice(["refuse", "type3"]),
        default="refuse",
        show_default=True,
        help="Refuse a grid with gaps, or take type III sums of squares.",
    ),
    click.option(
        "--power",
        type=click.Choice(["observed", "omega"]),
        help="Add observed power: lambda = df F, or df (F - 1) [default: none].",
    ),
    click.option(
        "--level",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help="Of Tukey's tests.",
    ),
)

showing_options = together(plot_option("means with HSD intervals"), digits_option)


@click.command("components")
@scores_options
@measures_option
@study_options
@showing_options
@output_options
def command(
    files: tuple[str, ...],
    scores_files: tuple[str, ...],
    measures: tuple[str, ...],
    plot: str | None,
    digits: int,
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    factors: tuple[str, ...],
    interactions: int | None,
    mode: Any,
    strata: Any,
    unbalanced: Any,
    power: Any,
    level: float,
    **options: Any,
) -> None:
    """Analyse the variance of a grid of runs by their components, with topics as blocks.

    Takes QRELS RUN... or scores, and --run-info FILE, whose columns say of which components
    each run is made. Every combination must be there equally often, unless --unbalanced type3
    is given. CSV holds the ANOVA table.
    """
    kind = choose_format(form, output)
    check_level("--level", level)
    check_files(output, plot)
    with told_on_stderr(quiet), progress_bar("runs", quiet) as progress:
        tell_if_compiling(quiet)
        scores = load_scores(files, scores_files, measures, progress=progress, **options)
        if plot is not None and len(scores.measures) > 1:
            raise InputError(f"{plot}: a figure shows one measure: name it with -m")
        from steadyrank.studies.components.study import components
        from steadyrank.studies.components.tables import components_text

        results = [
            components(
                scores,
                factors=factors,
                measure=name,
                interactions=interactions,
                mode=mode,
                strata=strata,
                unbalanced=unbalanced,
                power=power,
                confidence=level,
            )
            for name in scores.measures
        ]
        text = components_text(results, kind, digits=digits, **terminal_looks(output))
    emit(text, output)
    draw(results[0], plot, quiet)
