"""`steadyrank agree`: do the measures agree, at which numbers of topics and systems?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import Inputs, load_scores, scores_options
from steadyrank.cli.options import (
    choice_option,
    count_option,
    digits_option,
    level_option,
    mode_option,
    numbers_option,
    output_option,
    output_options,
    plot_option,
    power_option,
    together,
)
from steadyrank.cli.output import Output, draw, emit, progress_bar, terminal_looks

"""The paper's."""


study_options = together(
    numbers_option(
        "--topic-sizes",
        metavar="10,20,…",
        help="Sample this many topics [default: 10,20,…,70, as far as there are topics].",
    ),
    numbers_option(
        "--system-sizes",
        metavar="10,20,…",
        help="Sample this many systems [default: 10,20,50,75,…,500, as far as there are systems].",
    ),
    count_option("--samples", "n_samples", 100, "Draw this many samples of every size.", least=2),
    choice_option(
        "--coefficient",
        ["tau", "tau_ap"],
        "Show this rank correlation in tables; both are computed.",
        default="tau",
    ),
    choice_option(
        "--reference",
        ["both", "first", "second"],
        "Average both directions of tau_AP, or use this measure of each pair as the reference.",
        default="both",
    ),
    choice_option(
        "--tau-ap-ties",
        ["a", "b"],
        "Treat ties in tau_AP as unknown orders (a), or as equal ranks (b).",
        default="a",
    ),
    mode_option("Report effect sizes with intervals and no tests, or the published F and p."),
    count_option(
        "--resamples",
        "n_interval_samples",
        100,
        "Resample topics and systems this often for these intervals; 0 for none.",
        least=0,
    ),
    choice_option(
        "--strata",
        ["none", "sample", "subject"],
        "Take F against these errors in mode paper [default: none, as published; subject in mode "
        "sound, which has no F].",
    ),
    power_option("Add observed power in mode paper: lambda = df F, or df (F - 1) [default: none]."),
    level_option("Compute intervals at this level of confidence.", "confidence"),
)

showing_options = together(
    output_option(
        "--rows",
        type=click.Choice(["anova", "cells", "ranking"]),
        default="anova",
        help="Write these rows as CSV.",
    ),
    plot_option(),
    output_option(
        "--figure",
        "drawing",
        type=click.Choice(["sizes", "pairs", "measures"]),
        default="sizes",
        help="Draw one pair by sizes, all pairs, or the measures by their similarity.",
    ),
    output_option(
        "--pair", nargs=2, metavar="M M", help="Draw this pair of measures [default: the first]."
    ),
    digits_option,
)


@subcommand("agree")
@scores_options
@study_options
@showing_options
@output_options
def command(
    inputs: Inputs,
    output: Output,
    rows: str,
    drawing: str,
    pair: tuple[str, str] | None,
    digits: int,
    seed: int,
    jobs: int | None,
    scheduler: str | None,
    tau_ap_ties: str,
    **options: Any,
) -> None:
    """Correlate measures on samples of topics and systems, and show what drives the correlation.

    Takes QRELS RUN... or scores, and at least two measures (by default the paper's eight). Shows
    which measures rank these systems alike, and how far that depends on the measures, the number of
    topics and the number of systems: effect sizes, with intervals over other topics and systems.
    """
    machine: Any = {"jobs": jobs, "scheduler": scheduler}
    from steadyrank.data.scores import position
    from steadyrank.studies.agree.study import MEASURES, agree
    from steadyrank.studies.agree.tables import agree_text

    scores = load_scores(inputs, quiet=output.quiet, default_measures=MEASURES, **machine)
    for name in pair or ():
        position(name, scores.measures, "measure")
    with progress_bar("blocks of samples", output.quiet) as progress:
        result = agree(scores, ties=tau_ap_ties, progress=progress, rng=seed, **machine, **options)
    looks = terminal_looks(output)
    emit(agree_text(result, output.format, rows=rows, digits=digits, **looks), output.path)
    chosen = {"pair": pair} if drawing == "sizes" and pair else {}
    draw(result, output, kind=drawing, **chosen)
