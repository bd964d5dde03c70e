"""`steadyrank gate`: may this change ship?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import split_assignment
from steadyrank.cli.output import Output, check_folders, emit, hush_matplotlib, tell_if_compiling
from steadyrank.errors import InputError

if TYPE_CHECKING:
    from steadyrank.data.scores import Scores
    from steadyrank.studies.gate.result import GateResult

DEFAULT_MEASURES = ("nDCG@10",)


@subcommand("gate")
@click.argument("files", type=click.Path(), nargs=-1, metavar="QRELS BASELINE CANDIDATE")
@opt.measures_option
@opt.options(
    {
        "--margin float": "Accept a loss of this much on measures without -m M=MARGIN.",
        "--by COLUMN": "Check the segments by this column of --topic-info, too.",
        **opt.ALPHA,
        "--unjudged [bounded|not-relevant] = bounded": "Report holes where unjudged documents "
        "could change the verdict, or count them as not relevant.",
        "--guard-breakage": "Allow for one more topic at the lowest possible difference in the "
        "lower limits.",
        "--unsure [pass|fail]": "Exit as if the gate had passed or failed where the verdict is "
        "undecided.",
        "--history DIR": "Record this gate in DIR, and show how the differences recorded there add "
        "up.",
    }
)
@opt.output_options_of(
    {
        "--summary FILE": (
            "Write a Markdown summary to FILE, for a pull request.",
            opt.WRITTEN_FILE,
        ),
        "--junit FILE": (
            "Write a JUnit test report to FILE, for continuous integration.",
            opt.WRITTEN_FILE,
        ),
    }
)
@opt.reading_options_of(
    {
        "--scores scores_files FILE ...": (
            "Read scores instead of runs; the arguments are then the names BASELINE CANDIDATE. "
            "Repeat to join files; of two without names, the first is the baseline's.",
            opt.ANY_FILE,
        )
    }
)
@opt.plot_option("differences and margins")
@opt.digits_option
@opt.ties_option
@opt.missing_option("error", "zero", "skip")
@opt.no_relevant_option()
@opt.reading_options
@opt.topic_options
@opt.output_options
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    unsure: Any,
    summary: str | None,
    junit: str | None,
    scores_files: tuple[str, ...],
    output: Output,
    **options: Any,
) -> None:
    """Decide whether a candidate may replace a baseline: pass, fail, or cannot tell.

    BASELINE and CANDIDATE are runs, or scores written by `evaluate -o FILE.parquet`. The
    candidate passes if it is worse by less than the margin on every measure (-m nDCG@10=.01
    gives each its own). Exit code: 0 pass, 3 fail, 4 cannot tell or holes in the judgments.
    """
    check_folders(summary, junit)
    margins = _margins(measures or DEFAULT_MEASURES)
    tell_if_compiling(output.quiet)
    from steadyrank.studies.gate.study import gate
    from steadyrank.studies.gate.view import VIEW, junit_xml, summary_markdown

    sides = _sides(files, scores_files)
    result = gate(*sides, measures=margins, jobs=output.jobs, **options)
    if summary is not None:
        emit(summary_markdown(result), summary)
    if junit is not None:
        emit(junit_xml(result, unsure), junit)
    _draw_history(result, output.quiet)
    output.draw(result)
    output.show(VIEW.text, result)
    click.get_current_context().exit(result.exit_code(unsure))


def _margins(measures: tuple[str, ...]) -> dict[str, float | None]:
    """The margins of -m M=MARGIN; None where -m names none."""
    margins: dict[str, float | None] = {}
    for name, text in map(split_assignment, measures):
        if name in margins:
            raise InputError(f"-m {name} is given twice: give it once")
        try:
            margins[name] = None if text is None else float(text)
        except ValueError:
            raise InputError(f"-m {name}={text}: the margin must be a number") from None
    return margins


def _sides(files: tuple[str, ...], scores_files: tuple[str, ...]) -> tuple[Any, Any, Any]:
    """Baseline, candidate and judgments."""
    if not scores_files:
        if len(files) != 3:
            raise InputError(f"give QRELS, BASELINE and CANDIDATE, got {len(files)} files")
        qrels, baseline, candidate = files
        return baseline, candidate, qrels
    from steadyrank.data.facets import averaged_facets
    from steadyrank.data.read.score_files import read_scores

    both = files or scores_files
    if len(both) == 2 and both[0] == both[1]:
        raise InputError("the candidate and the baseline are the same run: name another")
    if not files and len(scores_files) == 2:
        return read_scores(scores_files[0]), read_scores(scores_files[1]), None
    if len(files) != 2:
        raise InputError(f"with --scores give the names BASELINE CANDIDATE, got {len(files)}")
    scores: Scores = averaged_facets(read_scores(scores_files))
    baseline_scores, candidate_scores = (scores.select(runs=name) for name in files)
    return baseline_scores, candidate_scores, None


def _draw_history(result: GateResult, quiet: bool) -> None:
    if result.history is None:
        return
    from steadyrank.present.figures import own_style, save_figure
    from steadyrank.studies.plotting import plot

    hush_matplotlib(quiet)
    with own_style():
        save_figure(plot(result.history), Path(result.history.folder) / "history.svg")
