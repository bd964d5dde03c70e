"""`steadyrank pools`: leave teams out, leave topics out: how safe is the pilot?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import split_assignment
from steadyrank.cli.options import (
    digits_option,
    measures_option,
    missing_option,
    mode_option,
    no_relevant_option,
    output_options,
    plot_option,
    pool_depth_option,
    qrels_argument,
    reading_options,
    runs_argument,
    team_options,
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
from steadyrank.cli.planning_options import planning_options
from steadyrank.errors import InputError

NO_SCORES = (
    "pools takes judgments away and scores the runs again, so it needs the runs and the judgments "
    "themselves: give QRELS RUN... instead of scores"
)


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> list[int] | None:
    """Whole numbers between commas."""
    if value is None:
        return None
    try:
        return [int(text) for text in value.split(",") if text.strip()]
    except ValueError:
        message = f"{value!r} is not a list of whole numbers such as 50,25,10."
        raise click.BadParameter(message, ctx, param) from None


def _refuse_scores(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise InputError(NO_SCORES)


study_options = together(
    click.option("--scores", hidden=True, expose_value=False, callback=_refuse_scores),
    pool_depth_option,
    click.option(
        "--trials",
        type=int,
        default=10,
        metavar="N",
        help="Leave N random sets of teams out, for each k.",
    ),
    click.option(
        "--ks",
        metavar="K,K,…",
        callback=_numbers,
        help="Leave this many teams out [default: 1 to all but one, at most 15].",
    ),
    mode_option("Report ranges of the trials, or also the paper's interval of their mean."),
    click.option(
        "--pilot-topics",
        metavar="N,N,…",
        callback=_numbers,
        help="Cut the pilot to so many topics, such as 50,25,10 [default: all].",
    ),
    planning_options,
)

reading = together(
    missing_option("zero", "skip", "error"),
    no_relevant_option(", in pool bias"),
    reading_options,
    team_options,
)
showing_options = together(plot_option("variances against k"), digits_option)


@subcommand("pools")
@qrels_argument
@runs_argument
@measures_option
@study_options
@showing_options
@reading
@output_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    plot: str | None,
    digits: int,
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Leave teams and topics out, and see what the pilot would have said.

    Takes the unique documents of k teams out of the judgments, scores the other runs again,
    and estimates the variance that plan builds on; with --minimum-difference and --systems,
    the topics that it requires. Also what each run owes to documents of its own team, and how
    alike measures rank runs. CSV holds the variances, JSON everything.
    """
    kind = choose_format(form, output)
    if any(path for _, path in map(split_assignment, measures)):
        raise InputError(NO_SCORES)
    check_files(output, plot)
    with (
        told_on_stderr(quiet),
        progress_bar("runs read", quiet) as reading,
        progress_bar("blocks of trials", quiet) as progress,
    ):
        tell_if_compiling(quiet)
        from steadyrank.studies.pools.study import pools
        from steadyrank.studies.pools.tables import pools_text

        result = pools(
            list(runs),
            qrels,
            measures=measures or ("AP",),
            reading=reading,
            progress=progress,
            rng=seed,
            **options,
        )
        text = pools_text(result, kind, digits=digits, **terminal_looks(output))
    emit(text, output)
    draw(result, plot, quiet)
