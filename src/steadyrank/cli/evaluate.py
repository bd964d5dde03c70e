"""`steadyrank evaluate`: scores of every run on every topic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.formats import also_writes
from steadyrank.cli.output import Output, emit, progress_bar, tell_if_compiling
from steadyrank.errors import InputError


@subcommand("evaluate")
@opt.qrels_argument
@opt.runs_argument
@opt.measures_option
@opt.output_option(
    "--per-topic",
    "-q",
    is_flag=True,
    help="Show every topic instead of means in tables, LaTeX and Markdown; in trec_eval's format, "
    "show them before the summary.",
)
@opt.output_option(
    "--wide", is_flag=True, help="Write CSV of one measure with topics down and runs across."
)
@opt.output_option(
    "--by",
    type=click.Choice(["run", "system"]),
    default="run",
    help="Show one row per run, or per system: means over its runs, which --run-info or "
    "--system-from name.",
)
@opt.digits_option
@opt.ties_option
@opt.missing_options
@opt.run_options
@opt.topic_options
@opt.output_options_with("trec_eval")
@also_writes(".parquet")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_topic: bool,
    wide: bool,
    by: str,
    digits: int,
    output: Output,
    seed: int,
    **options: Any,
) -> None:
    """Score runs against judgments, with trec_eval's ordering and tie breaking.

    QRELS is a file of judgments; each RUN a run, a glob or a folder of them (TREC text, three
    columns, JSON, JSON lines or Parquet; packed or not). A table shows means, best first; CSV and
    JSON hold every topic; -o FILE.parquet also keeps the files' hashes and the settings. --format
    trec_eval [-q] prints what trec_eval -c prints, with --missing skip what it prints without -c.
    """
    if output.format == "trec_eval" and options["no_relevant"] == "skip":
        raise InputError("trec_eval skips no judged topics: omit --no-relevant skip")
    with progress_bar("runs", output.quiet) as progress:
        from steadyrank.measures.evaluate import evaluate

        by_measures = measures or _default_measures(output.format)
        tell_if_compiling(output.quiet)
        scores = evaluate(
            list(runs),
            qrels,
            by_measures,
            tie_bounds=output.format != "trec_eval",
            progress=progress,
            **options,
        )
    if by == "system":
        from steadyrank.stats.instances.pair_tests import scores_by_system

        scores = scores_by_system(scores)
    if output.path is not None and output.format == "parquet":
        from steadyrank.compute.files import check_still_there
        from steadyrank.data.read.score_files import write_scores

        check_still_there(Path(output.path).parent)
        write_scores(scores, output.path)
        return
    if output.format == "trec_eval":
        from steadyrank.present.trec_eval import trec_eval_text

        text = trec_eval_text(scores, per_topic=per_topic, official=not measures)
        emit(text, output.path, exact=True)
        return
    output.show(_text, scores, per_topic=per_topic, wide=wide, digits=digits)


def _default_measures(form: str) -> Sequence[str]:
    from steadyrank.measures.evaluate import DEFAULT_MEASURES
    from steadyrank.present.trec_eval import OFFICIAL_MEASURES

    return OFFICIAL_MEASURES if form == "trec_eval" else DEFAULT_MEASURES


def _text(scores: Any, form: str, *, wide: bool, **looks: Any) -> str:
    from steadyrank.data.read.score_files import long_csv, wide_csv
    from steadyrank.present.json import scores_json, to_json
    from steadyrank.present.score_tables import scores_text

    if form == "json":
        return to_json(scores_json(scores))
    if form == "csv":
        return wide_csv(scores) if wide else long_csv(scores)
    return scores_text(scores, form, **looks)
