"""`steadyrank stability`: how stable is this collection, by generalizability theory?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.inputs import load_scores, scores_options
from steadyrank.cli.options import measures_option, output_options
from steadyrank.cli.output import (
    choose_format,
    emit,
    progress_bar,
    tell_if_compiling,
    terminal_looks,
    told_on_stderr,
)
from steadyrank.errors import InputError


@click.command("stability")
@scores_options
@measures_option
@click.option("--topics", metavar="N,N,…", help="Other numbers of topics to look at.")
@click.option(
    "--levels",
    metavar="L,L,…",
    default="0.8,0.9,0.95",
    show_default=True,
    help="Levels of stability to find topics for.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option(
    "--digits", type=click.IntRange(0, 15), default=4, show_default=True, help="Decimals in tables."
)
@output_options
def command(
    files: tuple[str, ...],
    scores_file: str | None,
    measures: tuple[str, ...],
    topics: str | None,
    levels: str,
    confidence: float,
    digits: int,
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Split the variance of scores into systems, topics and the rest.

    Takes QRELS RUN... or --scores FILE. E rho² says how well the topics order systems like
    these, Phi how well they measure them; both for other numbers of topics, and the topics
    that levels of either need. CSV holds the coefficients by number of topics.
    """
    kind = choose_format(form, output)
    sizes = [] if topics is None else _numbers("--topics", topics, int)
    wanted = _numbers("--levels", levels, float)
    with told_on_stderr(quiet), progress_bar("runs", quiet) as progress:
        tell_if_compiling(quiet)
        scores = load_scores(files, scores_file, measures, progress=progress, **options)
        from steadyrank.render.plans import stability_text
        from steadyrank.studies.stability import stability

        results = [
            stability(scores, measure=name, topics=sizes, levels=wanted, confidence=confidence)
            for name in scores.measures
        ]
        text = stability_text(results, kind, digits=digits, **terminal_looks(output))
    emit(text, output)


def _numbers(option: str, text: str, kind: type[int] | type[float]) -> list[Any]:
    try:
        return [kind(part) for part in text.split(",") if part.strip()]
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        raise InputError(f"{option} {text}: give {what} with commas between") from None
