"""`steadyrank simulate`: would another document collection change the table?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import one_measure_option, run_study, runs_only_options
from steadyrank.cli.output import Output, tell_if_compiling
from steadyrank.errors import InputError
from steadyrank.words import listed

NO_SCORES = (
    "simulate resamples documents, so it requires the runs and the judgments themselves: give "
    "QRELS RUN... instead of scores"
)


def _word_or(number: type[int] | type[float], *words: str) -> Any:
    """Make the callback of an option that takes one of several words, or a number."""
    kind = "whole number" if number is int else "number"

    def convert(
        ctx: click.Context, param: click.Parameter, value: str | None
    ) -> str | int | float | None:
        if value is None or value in words:
            return value
        try:
            return number(value)
        except ValueError:
            message = f"{value!r} is neither a {kind} nor {listed(words, 'or')}."
            raise click.BadParameter(message, ctx, param) from None

    return convert


def _part(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    try:
        part, n_parts = map(int, value.split("/"))
    except ValueError:
        message = f"{value!r} is not a part: write I/N, such as 3/20."
        raise click.BadParameter(message, ctx, param) from None
    return part, n_parts


study_options = opt.together(
    one_measure_option(
        "simulate",
        "AP",
        NO_SCORES,
        "Simulate AP (default), nDCG, P@k, R@k, Rprec, RR, RBP, ERR, nERR, Q or Success@k; "
        "AP(rel=2) counts grades of at least 2 as relevant.",
    ),
    opt.options(
        {
            "--documents [shared|independent]": (
                "Resample one collection that all runs rank, or the scores of each run separately, "
                "as in the paper.",
                {
                    "show_default": "shared; independent with --mode paper, --denominator or "
                    "another --model"
                },
            ),
            "--mode [sound|paper] = sound": "Use sound defaults, or the paper's.",
            "--model [bootstrap|kde] = bootstrap": "Resample documents, or sample scores from "
            "kernel densities of each run.",
            "--samples n_samples 1.. = 10000": "Simulate this many collections.",
            "--depth retrieved|N": (
                "Rank this many documents in a simulated ranking.",
                {
                    "callback": _word_or(int, "retrieved"),
                    "show_default": "retrieved; 1000 with --mode paper",
                },
            ),
            "--bandwidth scott|silverman|robust|NUMBER = scott": (
                "Set the kernel bandwidth.",
                {"callback": _word_or(float, "scott", "silverman", "robust")},
            ),
            "--kernel [gaussian|epanechnikov|triangular|uniform] = gaussian": "Use this kernel; "
            "the bandwidth is its standard deviation.",
            "--denominator [judged|sampled|poisson]": (
                "Divide AP, R@k and nDCG of independent runs by this number of relevant documents.",
                {"show_default": "poisson; judged with --mode paper"},
            ),
            "--score-source [score|rank] = score": "Use scores, with ties broken at random, or "
            "ranks instead.",
            **opt.ALPHA,
            "--bins n_bins N 2.. = 21": "Show error rates in N bins of the difference.",
            "--bin-width W float = 0.01": "Set the width of these bins, such as 1 for percentages.",
            "--device = cpu": (
                "Sample on this device.",
                {"type": click.Choice(["cpu"]), "hidden": True, "expose_value": False},
            ),
            **opt.STORE,
            "--part I/N": (
                "Compute only the I-th of N shares of the samples and keep it in --store DIR, for "
                "job arrays; the command without --part then adds up all shares.",
                {"callback": _part},
            ),
        }
    ),
)

showing_options = opt.together(
    opt.plot_option("error rates, or what --plot-kind names,"),
    opt.output_options_of(
        {
            "--plot-kind [error_rate|topics|ranks] = error_rate": "Draw error rates, the best run "
            "by topic, or ranks."
        }
    ),
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
    qrels: str, runs: tuple[str, ...], output: Output, plot_kind: str, **options: Any
) -> None:
    """Simulate other document collections and test whether the ranking survives.

    Resamples the documents of each topic with their grades, the same for all runs, and compares
    means and t tests with the observed ones; predicts ranks and tau for a second collection. With
    --documents independent the scores of each run are sampled separately, without grades, and the
    binary version of nDCG is simulated and named as such. The results are about other documents,
    not about other topics or judgments. CSV holds one row per run, JSON everything.
    """
    if options["part"] is not None and options["store"] is None:
        raise InputError("--part requires --store DIR, the folder of all parts")
    if options["part"] is not None and output.plot is not None:
        raise InputError("--part computes only samples: omit --plot, or draw without --part")
    from steadyrank.studies.simulate.shared_lists import outline

    tell_if_compiling(output.quiet, outline)
    from steadyrank.studies.simulate.study import simulate
    from steadyrank.studies.simulate.view import PART_VIEW, VIEW

    result = run_study(simulate, runs, qrels, output, "blocks of samples", **options)
    if options["part"] is not None:
        output.show(PART_VIEW.text, result)
        return
    output.show(VIEW.text, result)
    output.draw(result, kind=plot_kind)
