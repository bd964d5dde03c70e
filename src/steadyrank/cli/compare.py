"""`steadyrank compare`: who beats whom, how surely, by how much."""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import Inputs, load_scores, scores_options
from steadyrank.cli.options import (
    STRICTLY_BETWEEN_0_AND_1,
    alpha_option,
    check_level,
    choice_option,
    count_option,
    digits_option,
    mode_option,
    output_options,
)
from steadyrank.cli.output import Output, emit, terminal_looks

TESTS = ["t", "wilcoxon", "sign", "randomization", "bootstrap", "tukey", "randomized-tukey"]


@subcommand("compare")
@scores_options
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
    inputs: Inputs,
    output: Output,
    audit: bool,
    digits: int,
    seed: int,
    jobs: int | None,
    scheduler: str | None,
    test: Any,
    alpha: float,
    n_samples: int,
    **options: Any,
) -> None:
    """Compare runs by paired tests, corrected for their number.

    Takes QRELS RUN... or --scores FILE, and one measure. With several measures, shows how
    well each tells the runs apart. The tests speak of other topics, not of other
    documents, judgments or instances of the runs.
    """
    check_level("--alpha", alpha)
    scores = load_scores(inputs, quiet=output.quiet, jobs=jobs, scheduler=scheduler)
    from steadyrank.studies.compare.audit import audit_tests
    from steadyrank.studies.compare.power import discriminative_power
    from steadyrank.studies.compare.study import compare
    from steadyrank.studies.compare.tables import audit_text, compare_text, power_text

    form, looks = output.format, terminal_looks(output)
    common: Any = {"alpha": alpha, "n_samples": n_samples, "jobs": jobs, "rng": seed}
    if audit:
        text = audit_text(audit_tests(scores, alpha=alpha, rng=seed), form, **looks)
    elif len(scores.measures) > 1:
        powers = discriminative_power(scores, test=test, **common)
        text = power_text(powers, form, **looks)
    else:
        result = compare(scores, test=test, **common, **options)
        text = compare_text(result, form, digits=digits, **looks)
    emit(text, output.path)
