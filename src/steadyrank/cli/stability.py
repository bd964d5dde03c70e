"""`steadyrank stability`: how stable is this collection, by generalizability theory?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.inputs import load_scores, scores_options
from steadyrank.cli.options import (
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
    click.option("--topics", metavar="N,N,…", help="Other numbers of topics to look at."),
    click.option(
        "--levels",
        metavar="L,L,…",
        default="0.8,0.9,0.95",
        show_default=True,
        help="Levels of stability to find topics for.",
    ),
    click.option(
        "--facet",
        metavar="COLUMN",
        default="auto",
        show_default=True,
        help="Third facet: a column of --run-info whose values all systems have, such as "
        "assessor; auto: the runs of a system are its instances; none.",
    ),
    click.option(
        "--instances", metavar="K,K,…", help="Numbers of instances to look at [default: 1,2,5,10]."
    ),
    click.option(
        "--confidence", type=float, default=0.95, show_default=True, help="Of the intervals."
    ),
)


@click.command("stability")
@scores_options
@measures_option
@study_options
@plot_option("coefficients against topics")
@digits_option
@output_options
def command(
    files: tuple[str, ...],
    scores_files: tuple[str, ...],
    measures: tuple[str, ...],
    topics: str | None,
    levels: str,
    facet: str,
    instances: str | None,
    confidence: float,
    plot: str | None,
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
    that levels of either need. Where --run-info or --system-from say that runs are instances
    of systems, these are a third facet, and both depend on their number too. CSV holds the
    coefficients by number of topics and instances.
    """
    kind = choose_format(form, output)
    check_files(output, plot)
    wanted: dict[str, Any] = {
        "n_topics": [] if topics is None else _numbers("--topics", topics, int),
        "levels": _numbers("--levels", levels, float),
        "n_instances": None if instances is None else _numbers("--instances", instances, int),
    }
    with told_on_stderr(quiet), progress_bar("runs", quiet) as progress:
        tell_if_compiling(quiet)
        scores = load_scores(files, scores_files, measures, progress=progress, **options)
        from steadyrank.studies.plan.tables import stability_text
        from steadyrank.studies.stability.study import StabilityTable, stability

        results = [
            stability(scores, measure=name, facet=facet, confidence=confidence, rng=seed, **wanted)
            for name in scores.measures
        ]
        text = stability_text(results, kind, digits=digits, **terminal_looks(output))
    emit(text, output)
    draw(results[0] if len(results) == 1 else StabilityTable(results=tuple(results)), plot, quiet)


def _numbers(option: str, text: str, kind: type[int] | type[float]) -> list[Any]:
    try:
        return [kind(part) for part in text.split(",") if part.strip()]
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        raise InputError(f"{option} {text}: give {what} with commas between") from None
