"""`steadyrank compare`: who beats whom, how surely, by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import Inputs, judge_option, load_graded, note_judges, scores_options
from steadyrank.cli.output import Output, emit
from steadyrank.errors import InputError, arg

if TYPE_CHECKING:
    from steadyrank.data.scores import Scores

TESTS = ["t", "wilcoxon", "sign", "randomization", "bootstrap", "tukey", "randomized-tukey"]
UNPAIRED = ["welch"]
CORRECTIONS = ["none", "holm", "bh", "bonferroni", "maxt"]

PAIR_BYTES = 500
"""Bytes of memory per pair, at most: nine million pairs took 2.8 GB."""

test_options = opt.options(
    {
        f"--test [{'|'.join(TESTS + UNPAIRED)}] = t": "Compare each pair of runs by this test; "
        "systems with several runs by a mixed model; welch for runs on different topics.",
        f"--correction [{'|'.join(CORRECTIONS)}]": "Correct for multiple comparisons [default: "
        "maxt for t tests; none for the Tukey tests; otherwise holm].",
        **opt.ALPHA,
        "--baseline RUN": "Compare every run with this one only.",
        "--by run|system|COLUMN": "Show one row per run, or per system with its runs as instances "
        "[default: system where --system-from or --run-info name a system with several runs]; or "
        "also compare the runs in the segments by this column of --topic-info.",
        "--fixed [judge]": (
            "Compare for these judges only, not for others like them [default: fewer than three "
            "judges are fixed, more are a sample].",
            {"type": click.Choice(["judge"])},
        ),
        "--samples n_samples 1.. = 10000": "Draw this many samples in resampling tests and in "
        "maxt.",
        "--mode [sound|paper] = sound": "Correct t for skewness and compute resampling p-values as "
        "(1 + count) / (1 + B); or take Student's t and the papers' count / B.",
    }
)

other_questions = opt.options(
    {"--audit": "Check which tests, and which family of tests, hold their level on these scores."}
)

showing_options = opt.together(
    opt.output_options_of(
        {"--simultaneous": "Also show the ranks that hold for all runs simultaneously."}
    ),
    opt.plot_option("the differences, or what --plot-kind names, by the first measure,"),
    opt.output_options_of(
        {
            "--plot-kind [intervals|topics|ranks] = intervals": "Draw differences to the best run "
            "or the baseline, those of one pair by topic, or ranks."
        }
    ),
    opt.describe_option,
    opt.digits_option,
)

NOT_AUDITED = ("by", "fixed", "topic_info", "cluster_from")
"""Options of comparisons that the audit does not have."""


@subcommand("compare")
@scores_options
@judge_option(
    "Also evaluate the runs by these judgments, which makes judges a facet; repeat for more."
)
@test_options
@opt.topic_options
@other_questions
@showing_options
@opt.output_options
def command(
    inputs: Inputs,
    output: Output,
    audit: bool,
    plot_kind: str,
    simultaneous: bool,
    judge_files: tuple[str, ...],
    **options: Any,
) -> None:
    """Compare runs by paired tests, corrected for multiple comparisons.

    Takes QRELS RUN... or --scores FILE, and one measure or several: the table has runs down and
    measures across, with marks of significance. The tests generalise to other topics, not to other
    documents or judgments; with one row per system also to other instances, and with three or more
    judges (--judge, or a column judge of --scores) also to other judges. Clusters of topics are
    resampled as a whole, and topic weights make the means weighted ones.
    """
    scores = load_graded(inputs, output, judge_files)
    options |= {"jobs": output.jobs, "rng": output.seed}
    if audit:
        if output.plot is not None:
            raise InputError("--audit has no figure: omit --plot")
        _audit(scores, output, options)
        return
    from steadyrank.studies.compare.study import compare
    from steadyrank.studies.compare.view import compare_text, pairs_text

    options["fixed"] = options["fixed"] or ()
    systems = () if options["by"] == "run" else scores.run_info.get("system", ())
    rows = {own or run for own, run in zip(systems or scores.runs, scores.runs, strict=True)}
    _check_pairs(len(rows), len(scores.measures), options["baseline"])
    with output.progress("blocks of samples") as progress:
        result = compare(scores, progress=progress, **options)
    if output.format in ("csv", "json"):
        emit(pairs_text(result, output.format, describe=output.describe), output.path)
    else:
        output.show(compare_text, result, simultaneous=simultaneous)
    output.draw(result, kind=plot_kind)


def _check_pairs(n_rows: int, n_measures: int, baseline: str | None) -> None:
    """Refuse more pairs than memory holds."""
    from steadyrank.compute.memory import check_memory

    few = (n_rows - 1) * n_measures
    pairs = few if baseline else few * n_rows // 2
    instead = "give a --baseline, or fewer runs or measures"
    check_memory(PAIR_BYTES * pairs, f"{pairs:,} pairs", instead)


def _audit(scores: Scores, output: Output, options: dict[str, Any]) -> None:
    """Show which tests hold their level."""
    from steadyrank.data.facets import averaged_facets
    from steadyrank.studies.compare.audit import audit_tests
    from steadyrank.studies.compare.study import compare
    from steadyrank.studies.compare.view import audit_text

    note_judges(scores)
    scores = averaged_facets(scores)
    for name in NOT_AUDITED:
        if options[name] is not None:
            raise InputError(f"--audit is about all pairs of runs: omit {arg(name)}")
    taken = {name: options[name] for name in ("alpha", "correction", "baseline", "rng", "jobs")}
    result = audit_tests(scores, **taken)
    compared = compare(scores, by="run", **taken) if output.format == "json" else None
    output.show(audit_text, result, compared=compared)
