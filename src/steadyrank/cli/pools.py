"""`steadyrank pools`: leave teams out, leave topics out: how safe is the pilot?"""

from __future__ import annotations

from typing import Any

from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import names_files, runs_only_options
from steadyrank.cli.options import (
    digits_option,
    measures_option,
    missing_option,
    mode_option,
    no_relevant_option,
    number_option,
    numbers_option,
    output_options,
    planning_options,
    plot_option,
    pool_depth_option,
    reading_options,
    team_options,
    together,
)
from steadyrank.cli.output import (
    Output,
    draw,
    emit,
    progress_bar,
    tell_if_compiling,
    terminal_looks,
)
from steadyrank.errors import InputError

NO_SCORES = (
    "pools removes judgments and scores the runs again, so it requires the runs and the "
    "judgments themselves: give QRELS RUN... instead of scores"
)


study_options = together(
    pool_depth_option,
    number_option(
        "--trials", "N", "Leave out N random sets of teams for each k.", "n_trials", default=10
    ),
    numbers_option(
        "--ks",
        metavar="K,K,…",
        help="Leave out this many teams [default: 1 to all but one, at most 15].",
    ),
    mode_option("Report ranges of the trials, or also the paper's interval of their mean."),
    numbers_option(
        "--pilot-topics",
        metavar="N,N,…",
        help="Cut the pilot to this many topics, such as 50,25,10 [default: all].",
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
@runs_only_options(NO_SCORES)
@measures_option
@study_options
@showing_options
@reading
@output_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    output: Output,
    digits: int,
    seed: int,
    **options: Any,
) -> None:
    """Leave out teams and topics, and show what the pilot would have said.

    Removes the unique documents of k teams from the judgments, scores the other runs again, and
    estimates the variance on which plan is based; with --minimum-difference and --systems, also the
    topics that it requires. Also shows what each run owes to documents that only its own team
    found, and how similarly measures rank the runs. CSV holds the variances, JSON everything.
    """
    if names_files(measures):
        raise InputError(NO_SCORES)
    tell_if_compiling(output.quiet)
    from steadyrank.studies.pools.study import pools
    from steadyrank.studies.pools.tables import pools_text

    with (
        progress_bar("runs read", output.quiet) as reading,
        progress_bar("blocks of trials", output.quiet) as progress,
    ):
        result = pools(
            list(runs),
            qrels,
            measures=measures or ("AP",),
            reading=reading,
            progress=progress,
            rng=seed,
            **options,
        )
    looks = terminal_looks(output)
    emit(pools_text(result, output.format, digits=digits, **looks), output.path)
    draw(result, output)
