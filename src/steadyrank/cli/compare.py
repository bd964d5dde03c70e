"""`steadyrank compare`: who beats whom, how surely, by how much."""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.inputs import load_scores, scores_options
from steadyrank.cli.options import check_level, digits_option, measures_option, output_options
from steadyrank.cli.output import (
    choose_format,
    emit,
    progress_bar,
    tell_if_compiling,
    terminal_looks,
    told_on_stderr,
)

TESTS = ["t", "wilcoxon", "sign", "randomization", "bootstrap", "tukey", "randomized-tukey"]


@click.command("compare")
@scores_options
@measures_option
@click.option(
    "--test",
    type=click.Choice(TESTS),
    default="t",
    show_default=True,
    help="The test of each pair.",
)
@click.option(
    "--correction",
    type=click.Choice(["none", "holm", "bh", "bonferroni", "maxt"]),
    help="Correct for many comparisons [default: maxt for t tests of all pairs of three or more "
    "runs; none for the Tukey tests; else holm].",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of significance.",
)
@click.option("--baseline", metavar="RUN", help="Compare every run with this one only.")
@click.option(
    "--interval",
    type=click.Choice(["t", "percentile", "bca", "studentized"]),
    help="Kind of interval of the differences [default: the test's own, simultaneous].",
)
@click.option(
    "--samples",
    "n_samples",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Samples of the resampling tests and sign flips of maxt.",
)
@click.option(
    "--mode",
    type=click.Choice(["sound", "paper"]),
    default="sound",
    show_default=True,
    help="Resampling p-values as (1 + count) / (1 + B), or as the papers' count / B.",
)
@click.option(
    "--alternative",
    type=click.Choice(["two-sided", "greater"]),
    default="two-sided",
    show_default=True,
    help="Of the bootstrap test: one-sided on request.",
)
@click.option("--audit", is_flag=True, help="Which test holds its level on these scores?")
@digits_option
@output_options
def command(
    files: tuple[str, ...],
    scores_files: tuple[str, ...],
    measures: tuple[str, ...],
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    jobs: int | None,
    scheduler: str | None,
    audit: bool,
    digits: int,
    test: Any,
    correction: str | None,
    alpha: float,
    baseline: str | None,
    interval: str | None,
    n_samples: int,
    mode: Any,
    alternative: Any,
    **options: Any,
) -> None:
    """Compare runs by paired tests, corrected for their number.

    Takes QRELS RUN... or --scores FILE, and one measure. With several measures, shows how
    well each tells the runs apart. The tests speak of other topics, not of other
    documents, judgments or instances of the runs.
    """
    kind = choose_format(form, output)
    check_level("--alpha", alpha)
    with told_on_stderr(quiet), progress_bar("runs", quiet) as progress:
        tell_if_compiling(quiet)
        scores = load_scores(
            files,
            scores_files,
            measures,
            progress=progress,
            jobs=jobs,
            scheduler=scheduler,
            **options,
        )
        from steadyrank.studies.compare.audit import audit_tests
        from steadyrank.studies.compare.study import compare, discriminative_power
        from steadyrank.studies.compare.tables import audit_text, compare_text, power_text

        looks = terminal_looks(output)
        common: Any = {"alpha": alpha, "n_samples": n_samples, "jobs": jobs, "rng": seed}
        if audit:
            text = audit_text(audit_tests(scores, alpha=alpha, rng=seed), kind, **looks)
        elif len(scores.measures) > 1:
            powers = discriminative_power(scores, test=test, **common)
            text = power_text(powers, kind, **looks)
        else:
            chosen: Any = {
                "test": test,
                "correction": correction,
                "interval": interval,
                "alternative": alternative,
            }
            result = compare(scores, baseline=baseline, mode=mode, **chosen, **common)
            text = compare_text(result, kind, digits=digits, **looks)
    emit(text, output)
