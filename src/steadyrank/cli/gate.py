"""`steadyrank gate`: may this change ship?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import DIRECTIONS, WAYS, split_assignment
from steadyrank.cli.output import Output, check_folders, emit, tell_if_compiling
from steadyrank.errors import InputError
from steadyrank.words import counted

if TYPE_CHECKING:
    from steadyrank.data.scores import Scores
    from steadyrank.studies.gate.result import GateResult


@subcommand("gate")
@click.argument("files", type=click.Path(), nargs=-1, metavar="[QRELS] BASELINE CANDIDATE")
@opt.measures_option
@opt.rel_option
@opt.options(
    {
        "--margin float": "Accept a loss of this much on measures without -m M=MARGIN.",
        "--by COLUMN": "Also check the segments by this column of --topic-info.",
        **opt.ALPHA,
        "--guard-breakage": "Lower the limits as if one more topic had the lowest possible "
        "difference.",
        "--rebuild": "Test whether CANDIDATE is another build of the system in the folder "
        "BASELINE: the builds' differences replace the margin.",
        "--sequential": "Take topics one after another in the random order of --seed, or of a "
        "column order of --topic-info, with limits that hold at every look.",
        "--unsure [pass|fail]": "Exit as if the gate had passed or failed if it cannot tell. A "
        "candidate that is significantly worse never passes this way.",
        "--on-holes [pass|fail|ask]": "Exit as if the gate had passed or failed if the verdict is "
        "holes; ask exits 4, as by default.",
        "--history DIR": "Record this gate in DIR, and show how the differences recorded there add "
        "up.",
        "--show": "Show the gates recorded in --history DIR, without a new one.",
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
            "Read scores instead of runs; BASELINE and CANDIDATE are then names of runs or "
            "systems. Repeat to join files; without names, the first of two files is the "
            "baseline's.",
            opt.ANY_FILE,
        ),
        **DIRECTIONS,
    }
)
@opt.plot_option("differences and margins")
@opt.digits_option
@opt.ties_option
@opt.missing_option("error", "zero", "skip")
@opt.no_relevant_option()
@opt.names_option
@opt.reading_options
@opt.info_options("run", opt.RUN_COLUMNS, "system")
@opt.topic_options
@opt.output_options_with("line")
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    unsure: Any,
    on_holes: Any,
    summary: str | None,
    junit: str | None,
    scores_files: tuple[str, ...],
    show: bool,
    run_info: str | None,
    system_from: str | None,
    output: Output,
    **options: Any,
) -> None:
    """Decide whether a candidate may replace a baseline: pass, fail, or cannot tell.

    BASELINE and CANDIDATE are runs, or scores of any tool, which need no QRELS; or a folder of runs
    each for systems that vary. With a file of battles for QRELS they are the names of two models,
    or of two interleaved rankings, compared by their win rates. The candidate passes if it is worse
    by less than the margin on every measure (-m nDCG@10=.01 sets the margin of one measure). Exit
    code: 0 pass, 3 fail, 4 cannot tell or holes in the judgments.
    """
    check_folders(summary, junit)
    if show:
        _show_history(options["history"], files, output)
        return
    margins = _margins(measures)
    tell_if_compiling(output.quiet)
    from steadyrank.studies.gate.study import gate
    from steadyrank.studies.gate.view import gate_text, junit_xml, summary_markdown

    ways = {way: options.pop(way) for way in WAYS}
    about = {"run_info": run_info, "system_from": system_from}
    sides = _sides(files, scores_files, about, ways)

    def publish(result: GateResult) -> None:
        """Write all files; only then is the gate recorded in the history."""
        if summary is not None:
            emit(_earlier_steps(summary) + summary_markdown(result), summary)
        if junit is not None:
            emit(junit_xml(result, unsure, on_holes), junit)
        output.draw(result)
        output.show(gate_text, result)

    options |= {"jobs": output.jobs, "rng": output.seed, "publish": publish}
    result = gate(*sides, measures=margins or None, **options)
    click.get_current_context().exit(result.exit_code(unsure, on_holes))


def _show_history(folder: str | None, files: tuple[str, ...], output: Output) -> None:
    if folder is None or files:
        raise InputError("--show requires --history DIR and no files")
    from steadyrank.studies.gate.history import read_history
    from steadyrank.studies.gate.view import history_text

    history = read_history(folder)
    output.draw(history)  # refused: it has no figure
    output.show(history_text, history)


def _earlier_steps(summary: str) -> str:
    """Return what the summary of a GitHub step holds already; another gate is appended to it."""
    place = Path(summary)
    if summary != os.environ.get("GITHUB_STEP_SUMMARY") or not place.is_file():
        return ""
    text = place.read_text("utf-8", "replace")
    return f"{text}\n" if text else ""


def _margins(measures: tuple[str, ...]) -> dict[str, float | None]:
    """Return the margins of -m M=MARGIN; None for a measure without a margin."""
    margins: dict[str, float | None] = {}
    given = map(split_assignment, measures)
    for name, text in ((name, text) for one, text in given for name in opt.at_given_level([one])):
        if name in margins:
            raise InputError(f"-m {name} is given twice: give it once")
        try:
            margins[name] = None if text is None else float(text)
        except ValueError:
            raise InputError(f"-m {name}={text}: the margin must be a number") from None
    return margins


def _sides(
    files: tuple[str, ...],
    scores_files: tuple[str, ...],
    about: dict[str, str | None],
    ways: dict[str, Any],
) -> tuple[Any, Any, Any]:
    if any(about.values()) and not (scores_files and files):
        raise InputError(
            "--run-info and --system-from apply only to --scores FILE with the names BASELINE "
            "CANDIDATE of systems: give these, or a folder of runs each"
        )
    if any(ways.values()) and (not scores_files or not files):
        raise InputError(
            "--lower-is-better and --higher-is-better are about --scores FILE: give it, and the "
            "names BASELINE CANDIDATE"
        )
    if not scores_files:
        if len(files) not in (2, 3):
            raise InputError(
                "give QRELS, BASELINE and CANDIDATE, or the scores of both, got "
                f"{counted(len(files), 'file')}"
            )
        *qrels, baseline, candidate = files
        return baseline, candidate, qrels[0] if qrels else None
    from steadyrank.data.facets import averaged_facets
    from steadyrank.data.read.run_info import describe_scores
    from steadyrank.data.read.score_files import read_scores

    both = files or scores_files
    if len(both) == 2 and both[0] == both[1]:
        raise InputError("the candidate and the baseline are the same run: name another")
    if not files and len(scores_files) == 2:
        return *scores_files, None
    if len(files) != 2:
        raise InputError(f"with --scores give the names BASELINE CANDIDATE, got {len(files)}")
    scores = describe_scores(averaged_facets(read_scores(scores_files, **ways)), **about)
    first, second = _named(scores, files[0]), _named(scores, files[1])
    if set(first.runs) & set(second.runs):
        raise InputError("the candidate is one of the runs of the baseline: name another")
    # Topics that only other runs of the file have are left out.
    both_sides = scores.select(runs=[*first.runs, *second.runs])
    is_there = (both_sides.values == both_sides.values).any(axis=(0, 1))
    topics = [topic for topic, known in zip(scores.topics, is_there, strict=True) if known]
    return first.select(topics=topics), second.select(topics=topics), None


def _named(scores: Scores, name: str) -> Scores:
    """Return the run of this name, or the runs of the system of this name."""
    systems = scores.run_info.get("system", ())
    runs = [run for run, system in zip(scores.runs, systems, strict=False) if system == name]
    return scores.select(runs=runs if runs and name not in scores.runs else name)
