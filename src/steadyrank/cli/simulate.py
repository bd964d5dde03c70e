"""`steadyrank simulate`: would another document collection change the table?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import one_measure_option, runs_only_options
from steadyrank.cli.options import (
    STRICTLY_BETWEEN_0_AND_1,
    alpha_option,
    choice_option,
    count_option,
    digits_option,
    missing_option,
    mode_option,
    no_relevant_option,
    output_option,
    output_options,
    plot_option,
    reading_options,
    store_option,
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

NO_SCORES = (
    "simulate draws other documents, so it needs the runs and the judgments themselves: "
    "give QRELS RUN... instead of scores"
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


study_options = together(
    one_measure_option(
        "simulate",
        "AP",
        NO_SCORES,
        "Simulate AP (default), nDCG, P@k, R@k, Rprec, RR, RBP, ERR, nERR, Q or Success@k; "
        "relevant from grade 2 on: AP(rel=2).",
    ),
    choice_option(
        "--documents",
        ["shared", "independent"],
        "Draw one new collection that all runs rank, or each run's scores apart, as the paper.",
        show_default="shared; independent with --mode paper, --model kde or --denominator",
    ),
    mode_option("Use sound defaults, or the paper's."),
    choice_option(
        "--model",
        ["bootstrap", "kde"],
        "Resample documents, or sample scores from kernel densities of each run.",
        default="bootstrap",
    ),
    count_option("--samples", "n_samples", 10_000, "Simulate this many collections."),
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
    choice_option(
        "--denominator",
        ["judged", "sampled", "poisson"],
        "Divide AP, R@k and nDCG of independent runs by this number of relevant documents.",
        show_default="poisson; judged with --mode paper",
    ),
    choice_option(
        "--score-source",
        ["score", "rank"],
        "Break ties of scores at random, or take ranks for scores.",
        default="score",
    ),
    alpha_option(type=STRICTLY_BETWEEN_0_AND_1),
    choice_option(
        "--device",
        ["cpu", "cuda"],
        "Sample on this device: the same shared documents on either; of independent ones, CPU and "
        "GPU use different random streams.",
        default="cpu",
    ),
    store_option,
)

showing_options = together(
    output_option(
        "--top",
        type=click.IntRange(min=1),
        metavar="K",
        help="Show how likely each run is among the top K [default: 3].",
    ),
    plot_option("error rates"),
    digits_option,
)


@subcommand("simulate")
@runs_only_options(NO_SCORES)
@study_options
@showing_options
@missing_option("zero", "error")
@no_relevant_option()
@reading_options
@output_options
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

    Resamples the documents of each topic, the same for all runs and with their grades,
    and compares means, ranks and t tests with the real ones. With --documents
    independent each run's scores are drawn apart and have no grades: of nDCG the binary
    version is simulated, and called so. Speaks of other documents, not of other topics
    or judgments. CSV holds one row per run, JSON everything.
    """
    _check_top(runs, top)
    from steadyrank.studies.simulate.list_kernels import outline
    from steadyrank.studies.simulate.rehearsal import CORRELATING, SAMPLING
    from steadyrank.studies.simulate.study import simulate
    from steadyrank.studies.simulate.tables import simulate_text

    tell_if_compiling(output.quiet, outline, [SAMPLING, CORRELATING])
    with (
        progress_bar("runs read", output.quiet) as reading,
        progress_bar("blocks of samples", output.quiet) as progress,
    ):
        result = simulate(
            list(runs), qrels, reading=reading, progress=progress, rng=seed, **options
        )
    looks = terminal_looks(output)
    emit(simulate_text(result, output.format, top=top, digits=digits, **looks), output.path)
    draw(result, output)


def _check_top(runs: tuple[str, ...], top: int | None) -> None:
    """Refuse at once what would otherwise fail after hours of sampling."""
    if top is not None:
        from steadyrank.data.read.sources import find_files
        from steadyrank.studies.simulate.tables import top_columns

        top_columns(top, len(find_files(runs)))
