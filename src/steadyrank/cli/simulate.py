"""`steadyrank simulate`: would another document collection change the table?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.inputs import split_assignment
from steadyrank.cli.options import (
    complete_measure,
    digits_option,
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


def _one_measure(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str:
    if any(path for _, path in map(split_assignment, values)):
        raise InputError(NO_SCORES)
    if len(values) > 1:
        raise InputError(
            f"simulate takes one measure at a time, got {', '.join(values)}: call it once for each"
        )
    return values[0] if values else "AP"


def _refuse_scores(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise InputError(NO_SCORES)


study_options = together(
    click.option(
        "-m",
        "--measure",
        multiple=True,
        callback=_one_measure,
        metavar="M",
        shell_complete=complete_measure,
        help="AP (default), P@k, R@k, RR, RBP, Success@k, or nDCG in its binary "
        "version; relevant from grade 2 on: AP(rel=2), nDCG(rel=2)@10.",
    ),
    click.option(
        "--mode",
        type=click.Choice(["sound", "paper"]),
        default="sound",
        show_default=True,
        help="Use sound defaults, or the paper's.",
    ),
    click.option("--scores", hidden=True, expose_value=False, callback=_refuse_scores),
    click.option(
        "--model",
        type=click.Choice(["bootstrap", "kde"]),
        default="bootstrap",
        show_default=True,
        help="Draw a run's scores again, or from smooth densities.",
    ),
    click.option(
        "--samples",
        "n_samples",
        type=click.IntRange(min=1),
        default=10_000,
        show_default=True,
        help="Simulated collections.",
    ),
    click.option(
        "--depth",
        metavar="retrieved|N",
        callback=_word_or(int, "retrieved"),
        show_default="retrieved; 1000 with --mode paper",
        help="Documents of a simulated ranking.",
    ),
    click.option(
        "--bandwidth",
        metavar="scott|silverman|robust|NUMBER",
        callback=_word_or(float, "scott", "silverman", "robust"),
        default="scott",
        show_default=True,
        help="Kernel bandwidth.",
    ),
    click.option(
        "--denominator",
        type=click.Choice(["judged", "sampled", "poisson"]),
        show_default="poisson; judged with --mode paper",
        help="Relevant documents that AP, R@k and nDCG divide by.",
    ),
    click.option(
        "--score-source",
        type=click.Choice(["score", "rank"]),
        default="score",
        show_default=True,
        help="rank: for runs whose scores mean nothing.",
    ),
    click.option(
        "--alpha",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.05,
        show_default=True,
        help="Level of the t tests.",
    ),
    click.option(
        "--device",
        type=click.Choice(["cpu", "cuda"]),
        default="cpu",
        show_default=True,
        help="Device to sample on; CPU and GPU use different random streams.",
    ),
    click.option(
        "--store",
        metavar="DIR",
        type=click.Path(file_okay=False),
        help="Keep finished samples in DIR, and take up where it stopped.",
    ),
)

missing_options = together(
    click.option(
        "--missing",
        type=click.Choice(["zero", "error"]),
        default="zero",
        show_default=True,
        help="A judged topic that a run lacks.",
    ),
    click.option(
        "--no-relevant",
        type=click.Choice(["zero", "skip"]),
        default="zero",
        show_default=True,
        help="A topic without relevant documents.",
    ),
)

showing_options = together(
    click.option(
        "--top",
        type=click.IntRange(min=1),
        metavar="K",
        help="Show how likely each run is among the top K [default: 3].",
    ),
    plot_option("error rates"),
    digits_option,
)


@click.command("simulate")
@qrels_argument
@runs_argument
@study_options
@showing_options
@missing_options
@reading_options
@output_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    top: int | None,
    plot: str | None,
    digits: int,
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Simulate other document collections and see whether the ranking survives.

    Resamples each run's relevant and other documents, topic by topic, and compares
    means, ranks and t tests with the real ones. Simulated documents have no grades: of
    nDCG the binary version is simulated, and called so. Speaks of other documents, not
    of other topics or judgments. CSV holds one row per run, JSON everything.
    """
    kind = choose_format(form, output)
    check_files(output, plot)
    _check_top(runs, top)
    with (
        told_on_stderr(quiet),
        progress_bar("runs read", quiet) as reading,
        progress_bar("blocks of samples", quiet) as progress,
    ):
        from steadyrank.studies.simulate.sampler_kernels import sample_cells
        from steadyrank.studies.simulate.study import simulate
        from steadyrank.studies.simulate.tables import simulate_text

        tell_if_compiling(quiet, sample_cells)
        result = simulate(
            list(runs), qrels, reading=reading, progress=progress, rng=seed, **options
        )
        text = simulate_text(result, kind, top=top, digits=digits, **terminal_looks(output))
    emit(text, output)
    draw(result, plot, quiet)


def _check_top(runs: tuple[str, ...], top: int | None) -> None:
    """Refuse at once what would otherwise fail after hours of sampling."""
    if top is not None:
        from steadyrank.data.read.sources import find_files
        from steadyrank.studies.simulate.tables import top_columns

        top_columns(top, len(find_files(runs)))
