"""`steadyrank compare`: who beats whom, how surely, by how much."""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import load_scores, scores_options
from steadyrank.cli.options import (
    STRICTLY_BETWEEN_0_AND_1,
    alpha_option,
    check_level,
    choice_option,
    count_option,
    digits_option,
    measures_option,
    mode_option,
    output_options,
)
from steadyrank.cli.output import (
    choose_format,
    emit,
    progress_bar,
    tell_if_compiling,
    terminal_looks,
    told_on_stderr,
)

TESTS = ["t", "wilcoxon", "sign", "randomization", "bootstrap", "tukey", "randomized-tukey"]


@subcommand("compare")
@scores_options
@measures_option
@choice_option("--test", TESTS, "Compare each pair of runs by this test.", default="t")
@choice_option(
    "--correction",
    ["none", "holm", "bh", "bonferroni", "maxt"],
    "Correct for multiple comparisons [default: maxt for t tests of all pairs of three or more "
    "runs; none for the Tukey tests; otherwise holm].",
)
@alpha_option(type=STRICTLY_BETWEEN_0_AND_1)
@click.option("--baseline", metavar="RUN", help="Compare every run with this one only.")
@choice_option(
    "--interval",
    ["t", "percentile", "bca", "studentized"],
    "Compute intervals of the differences this way [default: the test's own, simultaneous].",
)
@count_option(
    "--samples", "n_samples", 10_000, "Draw this many samples in resampling tests and in maxt."
)
@mode_option("Compute resampling p-values as (1 + count) / (1 + B), or as the papers' count / B.")
@choice_option(
    "--alternative",
    ["two-sided", "greater"],
    "Test this alternative; one-sided for the bootstrap test only.",
    default="two-sided",
)
@click.option("--audit", is_flag=True, help="Check which tests hold their level on these scores.")
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
            text = power_text(powers, kind, test=test, alpha=alpha, **looks)
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
