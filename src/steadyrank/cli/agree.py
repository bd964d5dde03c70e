"""`steadyrank agree`: do the measures agree, at which numbers of topics and systems?"""

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

MEASURES = ("AP", "P@10", "Rprec", "RBP(p=0.8)", "nDCG", "nDCG@20", "ERR", "Twist")
"""The paper's."""


def _sizes(ctx: click.Context, param: click.Parameter, value: str | None) -> list[int] | None:
    if value is None:
        return None
    try:
        return [int(word) for word in value.split(",")]
    except ValueError:
        raise InputError(
            f"{param.opts[0]} {value}: give whole numbers with commas between, such as 10,20,50"
        ) from None


study_options = together(
    click.option(
        "--topic-sizes",
        metavar="10,20,…",
        callback=_sizes,
        help="Topics in a sample [default: 10,20,…,70, as far as there are topics].",
    ),
    click.option(
        "--system-sizes",
        metavar="10,20,…",
        callback=_sizes,
        help="Systems in a sample [default: 10,20,50,75,…,500, likewise].",
    ),
    click.option(
        "--samples",
        "n_samples",
        type=click.IntRange(min=2),
        default=100,
        show_default=True,
        help="Samples of every size.",
    ),
    click.option(
        "--coefficient",
        type=click.Choice(["tau", "tau_ap"]),
        default="tau",
        show_default=True,
        help="Which the tables show; both are computed.",
    ),
    click.option(
        "--reference",
        type=click.Choice(["both", "first", "second"]),
        default="both",
        show_default=True,
        help="Of tau_AP: mean of both directions, or which measure.",
    ),
    click.option(
        "--tau-ap-ties",
        "tau_ap_ties",
        type=click.Choice(["a", "b"]),
        default="a",
        show_default=True,
        help="Ties in tau_AP: unknown orders, or truly equal.",
    ),
    click.option(
        "--mode",
        type=click.Choice(["sound", "paper"]),
        default="sound",
        show_default=True,
        help="Effect sizes with intervals and no tests, or the published F and p.",
    ),
    click.option(
        "--resamples",
        "n_resamples",
        type=click.IntRange(min=0),
        default=100,
        show_default=True,
        help="Resamples of topics and systems for these intervals; 0 for none.",
    ),
    click.option(
        "--strata",
        type=click.Choice(["none", "sample", "subject"]),
        help="Errors that F is taken against in mode paper [default: none, as "
        "published; subject in mode sound, which has no F].",
    ),
    click.option(
        "--power",
        type=click.Choice(["observed", "omega"]),
        help="Add observed power in mode paper: lambda = df F, or df (F - 1) [default: none].",
    ),
    click.option(
        "--level",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help="Level of intervals.",
    ),
)

showing_options = together(
    click.option(
        "--rows",
        type=click.Choice(["anova", "cells", "ranking"]),
        default="anova",
        show_default=True,
        help="What CSV holds.",
    ),
    plot_option(),
    click.option(
        "--figure",
        "drawing",
        type=click.Choice(["sizes", "pairs", "measures"]),
        default="sizes",
        show_default=True,
        help="What to draw: one pair by sizes, all pairs, or measures by likeness.",
    ),
    click.option("--pair", nargs=2, metavar="M M", help="The pair to draw [default: the first]."),
    digits_option,
)


@click.command("agree")
@scores_options
@measures_option
@study_options
@showing_options
@output_options
def command(
    files: tuple[str, ...],
    scores_files: tuple[str, ...],
    measures: tuple[str, ...],
    rows: str,
    plot: str | None,
    drawing: str,
    pair: tuple[str, str] | None,
    digits: int,
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    jobs: int | None,
    scheduler: str | None,
    tau_ap_ties: str,
    topic_sizes: list[int] | None,
    system_sizes: list[int] | None,
    n_samples: int,
    coefficient: Any,
    reference: Any,
    mode: Any,
    n_resamples: int,
    strata: Any,
    power: Any,
    level: float,
    **options: Any,
) -> None:
    """Correlate measures on samples of topics and systems, and see what drives it.

    Takes QRELS RUN... or scores, and at least two measures (the paper's eight, unless given).
    Says which measures rank these systems alike, and how far that depends on the measures,
    the number of topics and the number of systems: effect sizes, with intervals over other
    topics and systems.
    """
    kind = choose_format(form, output)
    check_files(output, plot)
    with (
        told_on_stderr(quiet),
        progress_bar("runs", quiet) as reading,
        progress_bar("blocks of samples", quiet) as progress,
    ):
        tell_if_compiling(quiet)
        scores = load_scores(
            files,
            scores_files,
            measures,
            default_measures=MEASURES,
            progress=reading,
            jobs=jobs,
            scheduler=scheduler,
            **options,
        )
        from steadyrank.data.scores import position
        from steadyrank.studies.agree.study import agree
        from steadyrank.studies.agree.tables import agree_text

        for name in pair or ():
            position(name, scores.measures, "measure")
        result = agree(
            scores,
            topic_sizes=topic_sizes,
            system_sizes=system_sizes,
            n_samples=n_samples,
            coefficient=coefficient,
            confidence=level,
            reference=reference,
            ties=tau_ap_ties,
            mode=mode,
            n_resamples=n_resamples,
            strata=strata,
            power=power,
            jobs=jobs,
            scheduler=scheduler,
            progress=progress,
            rng=seed,
        )
        text = agree_text(result, kind, rows=rows, digits=digits, **terminal_looks(output))
    emit(text, output)
    chosen = {"pair": pair} if drawing == "sizes" and pair else {}
    draw(result, plot, quiet, kind=drawing, **chosen)
