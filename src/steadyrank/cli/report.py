"""`steadyrank report`: all studies that the data support, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import OutputFile, same_command, subcommand
from steadyrank.cli.compare import CORRECTIONS, TESTS
from steadyrank.cli.inputs import (
    Inputs,
    are_mteb_folders,
    is_leaderboard,
    judge_option,
    named_files,
    qrels_and_runs,
    score_files,
    scores_options,
)
from steadyrank.cli.output import Output, bars, check_folders, emit, tell, tell_if_compiling
from steadyrank.errors import InputError

PAGE = "report.html"
PAGES = (".html", ".htm")

report_options = opt.together(
    opt.reading_options_of(
        {
            "--datasets TABLE": (
                "Report on a leaderboard instead: scores of runs on several datasets.",
                {"type": click.Path(exists=True, allow_dash=True)},
            )
        }
    ),
    opt.options(
        {
            "--out FILE": (
                "Write the page to FILE (.html), whole or not at all; -o FILE.html does the same.",
                {"type": OutputFile(), "show_default": PAGE},
            ),
            "--budget TIME = 2m": "Plan for this much time, such as 45s or 2m; below a minute, "
            "studies draw fewer samples.",
            "--samples n_samples N 2..": "Draw N samples in every study, whatever the budget.",
            "--title TEXT": "Give the page this title.",
            **opt.STORE,
        }
    ),
)

study_options = opt.together(
    opt.options(
        {
            f"--test [{'|'.join(TESTS)}] = t": "Compare each pair of runs by this test.",
            f"--correction [{'|'.join(CORRECTIONS)}]": "Correct for multiple comparisons [default: "
            "as in compare].",
            "--baseline RUN": "Compare every run with this one only.",
            "--alpha (0,1) = 0.05": "Test and compute intervals at this level of significance.",
            "--delta = 0.01": "Set the margin of equivalence for systems with instances.",
            "--minimum-difference D = 0.05": "Plan topics to show this difference.",
            **opt.POOL_DEPTH,
        }
    ),
    judge_option("Correct and audit another judge, with this name and these judgments."),
    opt.options(
        {
            "--factors F,F,…": "Take the components from these run-info columns [default: those "
            "that make a full grid].",
            "--instance-factors F,F,…": "Nest instances in these run-info columns, largest first.",
        }
    ),
    opt.topic_options,
    opt.options(
        {
            "--by COLUMN": "Also show the segments by this column of --topic-info.",
            "--drawn [datasets|types] = datasets": "Resample datasets of the leaderboard, or whole "
            "types of them.",
            "--aggregate [mean|mean-of-types|borda|wins] = mean": "Rank the runs of the "
            "leaderboard by this.",
        }
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
    judge_files: tuple[str, ...],
    datasets: str | None,
    **options: Any,
) -> None:
    """Run every study that the data support, and write one page about all of them.

    Takes QRELS RUN... or scores, or --datasets TABLE for a leaderboard. The first measure ranks the
    runs. The page requires no network. For every study that it omits, it says which data that study
    requires. The findings are also printed, the most interesting first.
    """
    out, path = _places(out, output)
    check_folders(out)
    if not out.lower().endswith(PAGES) and (Path(out).is_file() or not Path(out).exists()):
        raise InputError(f"--out {out}: name a file that ends in .html")
    sources = _sources(inputs, datasets)
    with bars(output.quiet) as progress:
        from steadyrank.studies.topics.levels import count_reversals

        if datasets or inputs.scores_files:
            tell_if_compiling(output.quiet)
        else:
            tell_if_compiling(output.quiet, count_reversals)
        from steadyrank.reporting.run import report, report_text

        result = report(
            **sources,
            rel=opt.given_level(),
            judges=named_files("--judge", judge_files),
            out=out,
            command=same_command("--out", PAGE),
            announce=None if output.quiet else tell,
            progress=progress,
            rng=output.seed,
            **output.machine,
            runs_in_rows=inputs.runs_in_rows,
            form=inputs.kind,
            lower_is_better=inputs.directions["lower_is_better"],
            higher_is_better=inputs.directions["higher_is_better"],
            **inputs.reading,
            **options,
        )
    emit(report_text(result, "table" if path != output.path else output.format), path)


def _places(out: str | None, output: Output) -> tuple[str, str | None]:
    """Return the paths of the page and of the findings; -o FILE.html names the page."""
    if output.path is None or not output.path.lower().endswith(PAGES):
        return out or PAGE, output.path
    if out is not None:
        raise InputError(f"-o {output.path} and --out {out} both name the page: give one of them")
    return output.path, None


def _sources(inputs: Inputs, datasets: str | None) -> dict[str, Any]:
    """Return runs and qrels, or scores, and the names of measures; or a table of datasets."""
    if datasets is not None:
        if inputs.files or inputs.has_scores:
            raise InputError("give either --datasets TABLE or QRELS RUN... or scores, not both")
        return {"datasets": datasets}
    files = score_files(inputs)
    if files is None:
        qrels, runs = qrels_and_runs(inputs.files, "two RUNs")
        return {"runs": runs, "qrels": qrels, "measures": inputs.measures}
    if opt.is_given("missing") and inputs.reading["missing"] != "skip":
        how = f"evaluate --scores FILE --missing {inputs.reading['missing']} -o FILLED.csv"
        raise InputError(f"a report omits empty cells of scores: fill them first, with {how}")
    if isinstance(files, dict):
        return {"scores": files, "measures": ()}
    source: Any = files[0] if len(files) == 1 else files
    if inputs.is_by_content and (is_leaderboard(files) or are_mteb_folders(files, inputs.kind)):
        return {"datasets": source}
    return {"scores": source, "measures": inputs.measures}
