"""`steadyrank report`: all studies that the data support, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.again import same_command
from steadyrank.cli.command import OutputFile, subcommand
from steadyrank.cli.compare import CORRECTIONS, TESTS
from steadyrank.cli.inputs import Inputs, qrels_and_runs, score_files, scores_options
from steadyrank.cli.judges import judge_option, named_files
from steadyrank.cli.output import Output, bars, check_folders, emit, tell, tell_if_compiling
from steadyrank.errors import InputError

PAGE = "report.html"
PAGES = (".html", ".htm")

report_options = opt.together(
    opt.reading_option(
        "--datasets",
        metavar="TABLE",
        type=click.Path(exists=True, allow_dash=True),
        help="Report on a leaderboard instead: scores of runs on several datasets.",
    ),
    click.option(
        "--out",
        metavar="FILE",
        type=OutputFile(),
        show_default=PAGE,
        help="Write the page to FILE (.html), whole or not at all; -o FILE.html does the same.",
    ),
    click.option("--force", is_flag=True, help="Write the page also to a FILE of another kind."),
    click.option(
        "--budget",
        metavar="TIME",
        default="2m",
        help="Plan for this much time, such as 90s, 2m or 1h; more time means more samples.",
    ),
    opt.samples_option("Draw N samples in every study, whatever the budget.", "n_samples"),
    click.option("--title", metavar="TEXT", help="Give the page this title."),
    click.option(
        "--names",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="Show runs under the names in FILE, which has two columns: the name of the run or its "
        "file, and the name to show.",
    ),
    opt.number_option("--top", "N", "Show this many rows of each table at first.", default=25),
    opt.store_option,
)

study_options = opt.together(
    opt.choice_option(
        "--test", TESTS, "Compare each pair of runs by this test.", default="t", show_default=True
    ),
    opt.choice_option(
        "--correction", CORRECTIONS, "Correct for multiple comparisons [default: as in compare]."
    ),
    click.option("--baseline", metavar="RUN", help="Compare every run with this one only."),
    opt.alpha_option(
        type=opt.STRICTLY_BETWEEN_0_AND_1,
        help="Test and compute intervals at this level of significance.",
    ),
    opt.number_option(
        "--delta",
        None,
        "Set the margin of equivalence for systems with instances.",
        type=float,
        default=0.01,
    ),
    opt.minimum_difference_option("Plan topics to show this difference.", default=0.05),
    opt.pool_depth_option,
    judge_option("Correct and audit another judge, with this name and these judgments."),
    opt.columns_option(
        "--factors",
        "Take the components from these run-info columns [default: those that make a full grid].",
    ),
    opt.columns_option(
        "--instance-factors", "Nest instances in these run-info columns, largest first."
    ),
    opt.topic_options,
    click.option(
        "--by", metavar="COLUMN", help="Show the segments by this column of --topic-info, too."
    ),
)


@subcommand("report")
@scores_options
@report_options
@study_options
@opt.output_options
def command(
    inputs: Inputs,
    output: Output,
    out: str | None,
    force: bool,
    judge_files: tuple[str, ...],
    seed: int,
    datasets: str | None,
    **options: Any,
) -> None:
    """Run every study that the data support, and write one page about all of them.

    Takes QRELS RUN... or scores, or --datasets TABLE for a leaderboard. The first measure ranks the
    runs. The page requires no network, and for every study that it omits it says what would make
    that study possible. The findings are also printed, the most interesting first.
    """
    out, path = _places(out, output)
    check_folders(out)
    if not (
        force or out.lower().endswith(PAGES) or (Path(out).exists() and not Path(out).is_file())
    ):
        raise InputError(f"--out {out}: name a page that ends in .html, or add --force")
    sources = _sources(inputs, datasets)
    with bars(output.quiet) as progress:
        from steadyrank.studies.topics.kernels import count_reversals

        if datasets or inputs.scores_files:
            tell_if_compiling(output.quiet)
        else:
            tell_if_compiling(output.quiet, count_reversals)
        from steadyrank.reporting.run import report, report_text

        result = report(
            **sources,
            judges=named_files("--judge", judge_files),
            out=out,
            command=same_command("--out", PAGE),
            announce=None if output.quiet else tell,
            progress=progress,
            rng=seed,
            runs_in_rows=inputs.runs_in_rows,
            **inputs.reading,
            **options,
        )
    emit(report_text(result, "table" if path != output.path else output.format), path)


def _places(out: str | None, output: Output) -> tuple[str, str | None]:
    """Where the page goes, and where what was found: -o FILE.html names the page."""
    if output.path is None or not output.path.lower().endswith(PAGES):
        return out or PAGE, output.path
    if out is not None:
        raise InputError(f"-o {output.path} and --out {out} both name the page: give one of them")
    return output.path, None


def _sources(inputs: Inputs, datasets: str | None) -> dict[str, Any]:
    """Runs and qrels, or scores, and the names of measures; or a table of datasets."""
    if datasets is not None:
        if inputs.files or inputs.has_scores:
            raise InputError("give either --datasets TABLE or QRELS RUN... or scores, not both")
        return {"datasets": datasets}
    files = score_files(inputs)
    if files is None:
        qrels, runs = qrels_and_runs(inputs.files, "two RUNs")
        return {"runs": runs, "qrels": qrels, "measures": inputs.measures}
    if isinstance(files, dict):
        return {"scores": files, "measures": ()}
    return {"scores": files[0] if len(files) == 1 else files, "measures": inputs.measures}
