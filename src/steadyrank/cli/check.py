"""`steadyrank check`: what is wrong or odd with files, and what they can answer."""

from __future__ import annotations

import warnings
from typing import Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import FORM, hold_scores, is_leaderboard, read_tools
from steadyrank.cli.output import Output, tell_if_compiling
from steadyrank.errors import InputError


@subcommand("check")
@click.argument("files", type=click.Path(), nargs=-1, metavar="[QRELS RUN... | PATH...]")
@opt.reading_options_of(FORM)
@opt.name_option
@opt.names_option
@opt.output_options
def command(files: tuple[str, ...], kind: str | None, output: Output, **reading: Any) -> None:
    """Check files before computing with them.

    For runs and judgments, shows for each run the topics that it lacks and those that nobody
    judged, its depth, the share of judged documents at 10 and 100, and tied scores; then what is
    wrong or odd. Exits with code 2 if something would make results wrong. For scores of any tool,
    shows what was read, what is missing, and which commands answer which questions.
    """
    if hold_scores(files, kind):
        _show_holdings(files, kind, output)
        return
    if len(files) < 2:
        raise InputError("give QRELS and at least one RUN, or the scores of a tool")
    qrels, *runs = files
    # Warnings of reading are among the results.
    with warnings.catch_warnings(), output.progress("runs") as progress:
        warnings.simplefilter("ignore")
        from steadyrank.measures.check import check

        tell_if_compiling(output.quiet)
        result = check(runs, qrels, jobs=output.jobs, progress=progress, **reading)
    from steadyrank.studies.check.view import VIEW

    output.show(VIEW.text, result)
    if not result.is_sound:
        click.get_current_context().exit(2)


def _show_holdings(files: tuple[str, ...], kind: str | None, output: Output) -> None:
    from steadyrank.data.read.leaderboards import read_leaderboard
    from steadyrank.data.read.score_files import read_scores
    from steadyrank.studies.check.view import HELD, holdings

    data: Any
    if (found := read_tools(files, kind)) is not None:
        data, said = found.data, found.said.removeprefix("read as ")
    else:
        data = read_leaderboard(list(files)) if is_leaderboard(files) else read_scores(files)
        said = f"{type(data).__name__}{repr(data).partition(':')[2][:-1]}"
    output.show(HELD.text, holdings(data, said, files))
