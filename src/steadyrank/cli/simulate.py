"""`steadyrank simulate`: would another document collection change the table?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import one_measure_option, runs_only_options
from steadyrank.cli.output import Output, progress_bar, tell_if_compiling

NO_SCORES = (
    "simulate resamples documents, so it requires the runs and the judgments themselves: give "
    "QRELS RUN... instead of scores"
)


def _word_or(number: type[int] | type[float], *words: str) -> Any:
    """A callback of an option that takes one of a few words, or a number."""
    kind = "whole number" if number is int else "number"

    def convert(
        ctx: click.Context, param: click.Parameter, value: str | None
    ) -> str | int | float | None:
        if value is None or value in words:
            return value
        try:
            return number(value)
        except ValueError:
            message = f"{value!r} is neither a {kind} nor one of {', '.join(words)}."
            raise click.BadParameter(message, ctx, param) from None

    return convert


study_options = opt.together(
    one_measure_option(
        "simulate",
        "AP",
        NO_SCORES,
        "Simulate AP (default), nDCG, P@k, R@k, Rprec, RR, RBP, ERR, nERR, Q or Success@k; "
        "AP(rel=2) counts grades of at least 2 as relevant.",
    ),
    opt.choice_option(
        "--documents",
        ["shared", "independent"],
        "Resample one collection that all runs rank, or the scores of each run separately, as "
        "in the paper.",
        show_default="shared; independent with --mode paper, --model kde or --denominator",
    ),
    opt.mode_option("Use sound defaults, or the paper's."),
    opt.choice_option(
        "--model",
        ["bootstrap", "kde"],
        "Resample documents, or sample scores from kernel densities of each run.",
        default="bootstrap",
    ),
    opt.count_option("--samples", "n_samples", 10_000, "Simulate this many collections."),
    click.option(
        "--depth",
        metavar="retrieved|N",
        callback=_word_or(int, "retrieved"),
        show_default="retrieved; 1000 with --mode paper",
        help="Rank this many documents in a simulated ranking.",
    ),
    click.option(
        "--bandwidth",
        metavar="scott|silverman|robust|NUMBER",
        callback=_word_or(float, "scott", "silverman", "robust"),
        default="scott",
        help="Set the kernel bandwidth.",
    ),
    opt.choice_option(
        "--denominator",
        ["judged", "sampled", "poisson"],
        "Divide AP, R@k and nDCG of independent runs by this number of relevant documents.",
        show_default="poisson; judged with --mode paper",
    ),
    opt.choice_option(
        "--score-source",
        ["score", "rank"],
        "Use scores, with ties broken at random, or ranks in place of scores.",
        default="score",
    ),
    opt.alpha_option(type=opt.STRICTLY_BETWEEN_0_AND_1),
    opt.choice_option(
        "--device",
        ["cpu", "cuda"],
        "Sample on this device; both draw the same shared documents, but use different random "
        "streams for independent ones.",
        default="cpu",
    ),
    opt.store_option,
)

showing_options = opt.together(
    opt.output_option(
        "--top",
        type=click.IntRange(min=1),
        metavar="K",
        help="Show the probability that each run is among the top K [default: 3].",
    ),
    opt.plot_option("error rates"),
    opt.digits_option,
)


@subcommand("simulate")
@runs_only_options(NO_SCORES)
@study_options
@showing_options
@opt.missing_option("zero", "error")
@opt.no_relevant_option()
@opt.reading_options
@opt.output_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    output: Output,
    top: int | None,
    digits: int,
    seed: int,
    **options: Any,
) -> None:
    """Simulate other document collections and see whether the ranking survives.

    Resamples the documents of each topic with their grades, the same for all runs, and compares
    means and t tests with the observed ones; ranks and tau are predicted for a second collection.
    With --documents independent the scores of each run are sampled separately and have no grades:
    for nDCG, its binary version is simulated and named as such. The results are about other
    documents, not about other topics or judgments. CSV holds one row per run, JSON everything.
    """
    _check_top(runs, top)
    from steadyrank.studies.simulate.list_kernels import outline

    tell_if_compiling(output.quiet, outline)
    from steadyrank.studies.simulate.study import simulate
    from steadyrank.studies.simulate.view import VIEW

    with (
        progress_bar("runs read", output.quiet) as reading,
        progress_bar("blocks of samples", output.quiet) as progress,
    ):
        result = simulate(
            list(runs), qrels, reading=reading, progress=progress, rng=seed, **options
        )
    output.show(VIEW.text, result, top=top, digits=digits)
    output.draw(result)


def _check_top(runs: tuple[str, ...], top: int | None) -> None:
    """Refuse at once what would otherwise fail after hours of sampling."""
    if top is not None:
        from steadyrank.data.read.sources import find_files
        from steadyrank.studies.simulate.view import top_columns

        top_columns(top, len(find_files(runs)))
