"""`steadyrank agree`: do the measures agree, at which numbers of topics and systems?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import Inputs, load_scores, scores_options
from steadyrank.cli.output import Output, progress_bar

study_options = opt.together(
    opt.numbers_option(
        "--topic-sizes",
        metavar="10,20,…",
        help="Sample this many topics [default: 10,20,…,70, as far as there are topics].",
    ),
    opt.numbers_option(
        "--system-sizes",
        metavar="10,20,…",
        help="Sample this many systems [default: 10,20,50,75,…,500, as far as there are systems].",
    ),
    opt.count_option(
        "--samples", "n_samples", 100, "Draw this many samples of every size.", least=2
    ),
    opt.choice_option(
        "--coefficient",
        ["tau", "tau_ap"],
        "Show this rank correlation in tables; both are computed.",
        default="tau",
    ),
    opt.choice_option(
        "--reference",
        ["both", "first", "second"],
        "Average both directions of tau_AP, or use this measure of each pair as the reference.",
        default="both",
    ),
    opt.choice_option(
        "--tau-ap-ties",
        ["a", "b"],
        "Treat ties in tau_AP as unknown orders (a), or as equal ranks (b).",
        default="a",
    ),
    opt.mode_option("Report effect sizes with intervals and no tests, or the published F and p."),
    opt.count_option(
        "--resamples",
        "n_interval_samples",
        100,
        "Resample topics and systems this often for these intervals; 0 for none.",
        least=0,
    ),
    opt.choice_option(
        "--strata",
        ["none", "sample", "subject"],
        "Take F against these errors in mode paper [default: none, as published; subject in mode "
        "sound, which has no F].",
    ),
    opt.power_option(
        "Add observed power in mode paper: lambda = df F, or df (F - 1) [default: none]."
    ),
    opt.level_option("Compute intervals at this level of confidence.", "confidence"),
)

showing_options = opt.together(
    opt.output_option(
        "--rows",
        type=click.Choice(["anova", "cells", "ranking"]),
        default="anova",
        help="Write these rows as CSV.",
    ),
    opt.plot_option(),
    opt.output_option(
        "--figure",
        "drawing",
        type=click.Choice(["sizes", "pairs", "measures"]),
        default="sizes",
        help="Draw one pair by sizes, all pairs, or the measures by their similarity.",
    ),
    opt.output_option(
        "--pair", nargs=2, metavar="M M", help="Draw this pair of measures [default: the first]."
    ),
    opt.digits_option,
)


@subcommand("agree")
@scores_options
@study_options
@showing_options
@opt.output_options
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
    from steadyrank.studies.agree.view import ROWS, VIEW

    scores = load_scores(inputs, quiet=output.quiet, default_measures=MEASURES, **machine)
    for name in pair or ():
        position(name, scores.measures, "measure")
    with progress_bar("blocks of samples", output.quiet) as progress:
        result = agree(scores, ties=tau_ap_ties, progress=progress, rng=seed, **machine, **options)
    output.show(VIEW.text, result, csv=ROWS[rows], digits=digits)
    chosen = {"pair": pair} if drawing == "sizes" and pair else {}
    output.draw(result, kind=drawing, **chosen)
