"""`steadyrank reproduce`: a paper's tables and figures, beside the published ones."""

from __future__ import annotations

import logging
import shlex
from typing import Any

import click

from steadyrank.cli.inputs import load_scores, scores_options, split_assignment
from steadyrank.cli.options import measures_option, output_options, together
from steadyrank.cli.output import (
    check_folders,
    choose_format,
    emit,
    progress_bar,
    tell_if_compiling,
    terminal_looks,
    told_on_stderr,
)
from steadyrank.errors import InputError, unknown_name

NAMES = ("yang2018", "lin2005", "ferro2018", "jayasinghe2015", "sakai2016")
"""As in `steadyrank.papers.reproduce.PAPERS`, which is heavy to import."""

NOT_OF_RESULT = frozenset({"out", "output", "form", "quiet", "jobs", "scheduler"})
"""Options that change nothing on the page."""


def _paper(ctx: click.Context, param: click.Parameter, value: str) -> str:
    if value not in NAMES:
        raise unknown_name("paper", value, NAMES)
    return value


budget_options = together(
    click.option(
        "--out",
        metavar="DIR",
        type=click.Path(file_okay=False),
        help="Folder for index.html, tables (CSV, LaTeX), figures (SVG), claims.json.",
    ),
    click.option(
        "--budget",
        type=click.Choice(["small", "full"]),
        default="full",
        show_default=True,
        help="All of it, or a quick look.",
    ),
    click.option(
        "--samples",
        type=click.IntRange(min=2),
        metavar="N",
        help="Samples, trials or splits, instead of the budget's.",
    ),
)


@click.command("reproduce")
@click.argument("paper", metavar="PAPER", callback=_paper)
@scores_options
@measures_option
@budget_options
@output_options
def command(
    paper: str,
    files: tuple[str, ...],
    scores_files: tuple[str, ...],
    runs_in_rows: bool,
    measures: tuple[str, ...],
    out: str | None,
    budget: str,
    samples: int | None,
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    jobs: int | None,
    scheduler: str | None,
    **options: Any,
) -> None:
    """Make a paper's tables and figures again, beside the published ones.

    PAPER is yang2018, lin2005, ferro2018, jayasinghe2015 or sakai2016. On built-in data, or on
    QRELS RUN... or scores of your own. Prints what must agree with the paper and whether it does;
    a claim that does not hold on other data is a finding. Open DIR/index.html for the rest.
    """
    kind = choose_format(form, output)
    check_folders(output)
    if quiet:
        # What matplotlib has to say about its caches goes through logging, not warnings.
        logging.getLogger("matplotlib").setLevel(logging.ERROR)
    with told_on_stderr(quiet), progress_bar(paper, quiet) as progress:
        tell_if_compiling(quiet)
        data = _data(files, scores_files, runs_in_rows, measures, options)
        from steadyrank.papers.output import reproduction_text
        from steadyrank.papers.reproduce import reproduce

        made = reproduce(
            paper,
            out=out,
            n_samples=samples,
            budget=budget,
            jobs=jobs,
            progress=progress,
            rng=seed,
            command=spelled_command(click.get_current_context()),
            **data,
        )
        text = reproduction_text(made, kind, **terminal_looks(output))
    emit(text, output)


def _data(
    files: tuple[str, ...],
    scores_files: tuple[str, ...],
    runs_in_rows: bool,
    measures: tuple[str, ...],
    options: dict[str, Any],
) -> dict[str, Any]:
    """What `reproduce` takes for these arguments: scores, runs and judgments, or nothing."""
    if scores_files or any(path for _, path in map(split_assignment, measures)):
        scores = load_scores(files, scores_files, measures, runs_in_rows=runs_in_rows, **options)
        return {"scores": scores}
    if len(files) == 1:
        raise InputError("give QRELS and at least one RUN, or --scores FILE, or neither")
    if not files:
        for name in ("run_info", "team_from", "system_from"):
            if options[name]:
                shown = name.replace("_", "-")
                raise InputError(f"--{shown} describes runs: give QRELS RUN... or --scores FILE")
        return {"measures": measures}
    return {"runs": list(files[1:]), "qrels": files[0], "measures": measures, **options}


def spelled_command(ctx: click.Context) -> str:
    """The command that makes the same page: arguments and options that were given."""
    words = ["steadyrank", str(ctx.info_name)]
    for param in ctx.command.params:
        name = str(param.name)
        given = ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if not given or name in NOT_OF_RESULT:
            continue
        value = ctx.params[name]
        several = list(value) if isinstance(value, tuple) else [value]
        if isinstance(param, click.Argument):
            words += [str(each) for each in several]
        elif isinstance(param, click.Option) and param.is_flag:
            words += [param.opts[-1]]
        else:
            words += [word for each in several for word in (param.opts[0], str(each))]
    return f"{shlex.join(words)} --out DIR"
