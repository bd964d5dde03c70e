"""`steadyrank pools`: leave teams out, leave topics out: how safe is the pilot?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.inputs import split_assignment
from steadyrank.cli.options import (
    digits_option,
    measures_option,
    once,
    output_options,
    plot_option,
    qrels_argument,
    reading_options,
    runs_argument,
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
    once(
        "--run-info",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="CSV with the columns run and team.",
    ),
    once(
        "--team-from",
        metavar="REGEX",
        help="Instead: the team is the first group, searched in a run's name.",
    ),
    click.option(
        "--pool-depth",
        type=int,
        default=10,
        show_default=True,
        metavar="N",
        help="Documents of each run that were pooled.",
    ),
    click.option(
        "--trials",
        "n_trials",
        type=int,
        default=10,
        show_default=True,
        metavar="N",
        help="Sets of teams to leave out, for each k.",
    ),
    click.option(
        "--ks",
        metavar="K,K,…",
        callback=_numbers,
        help="Teams to leave out [default: 1 to all but one, at most 15].",
    ),
    click.option(
        "--mode",
        type=click.Choice(["sound", "paper"]),
        default="sound",
        show_default=True,
        help="Ranges of the trials, or also the paper's interval of their mean.",
    ),
    click.option(
        "--pilot-topics",
        metavar="N,N,…",
        callback=_numbers,
        help="Cut the pilot to so many topics, such as 50,25,10 [default: all].",
    ),
)

plan_options = together(
    click.option(
        "--minimum-difference",
        type=float,
        metavar="D",
        help="For topics to build: the difference that they must show.",
    ),
    click.option("--systems", type=int, metavar="M", help="Systems that ANOVA will compare."),
    click.option(
        "--method",
        type=click.Choice(["anova", "ttest", "interval"]),
        default="anova",
        show_default=True,
        help="As in plan.",
    ),
    click.option(
        "--formula",
        type=click.Choice(["exact", "nagata"]),
        default="exact",
        show_default=True,
        help="Exact distributions, or the published approximations.",
    ),
    click.option(
        "--paired/--unpaired",
        default=None,
        help="ttest, interval: do both systems have the same topics? [default: paired]",
    ),
    click.option("--width", type=float, metavar="W", help="interval: its expected full width."),
    click.option(
        "--alpha", type=float, default=0.05, show_default=True, help="Level of significance."
    ),
    click.option(
        "--beta",
        type=float,
        default=0.2,
        show_default=True,
        help="Chance to miss the minimum difference: 1 - power.",
    ),
    click.option(
        "--confidence", type=float, default=0.95, show_default=True, help="Of all intervals."
    ),
)

missing_options = together(
    click.option(
        "--missing",
        type=click.Choice(["zero", "skip", "error"]),
        default="zero",
        show_default=True,
        help="A judged topic that a run lacks.",
    ),
    click.option(
        "--no-relevant",
        type=click.Choice(["zero", "skip"]),
        default="zero",
        show_default=True,
        help="A topic without relevant documents, in pool bias.",
    ),
)

showing_options = together(plot_option("variances against k"), digits_option)


@click.command("pools")
@qrels_argument
@runs_argument
@measures_option
@study_options
@plan_options
@showing_options
@missing_options
@reading_options
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
    the topics that it asks for. Also what each run owes to documents of its own team, and how
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
