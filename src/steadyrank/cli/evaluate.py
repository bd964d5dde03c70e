"""`steadyrank evaluate`: scores of every run on every topic."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from steadyrank.cli.options import (
    measures_option,
    missing_options,
    output_options,
    qrels_argument,
    run_options,
    runs_argument,
)
from steadyrank.cli.output import (
    choose_format,
    emit,
    progress_bar,
    tell_if_compiling,
    terminal_looks,
    told_on_stderr,
)


@click.command("evaluate")
@qrels_argument
@runs_argument
@measures_option
@click.option("--per-topic", is_flag=True, help="Table, LaTeX, Markdown: every topic, not means.")
@click.option("--wide", is_flag=True, help="CSV of one measure: topics down, runs across.")
@click.option(
    "--digits",
    type=click.IntRange(0, 15),
    default=4,
    show_default=True,
    help="Decimals in tables; CSV and JSON have all.",
)
@missing_options
@run_options
@output_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_topic: bool,
    wide: bool,
    digits: int,
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Score runs against judgments, with trec_eval's order and ties.

    QRELS is a TREC qrels file; each RUN a TREC run, a glob or a folder of them
    (plain, gzip, Parquet or JSON lines). A table shows means, best first; CSV and
    JSON hold every topic; -o FILE.parquet keeps the files' hashes and settings too.
    """
    with told_on_stderr(quiet), progress_bar("runs", quiet) as progress:
        from steadyrank.measures.evaluate import DEFAULT_MEASURES, evaluate

        tell_if_compiling(quiet)
        scores = evaluate(
            list(runs),
            qrels,
            measures or DEFAULT_MEASURES,
            tie_bounds=True,
            progress=progress,
            **options,
        )
    if output is not None and output.endswith(".parquet"):
        from steadyrank.compute.files import check_still_there
        from steadyrank.data.read.score_files import write_scores

        check_still_there(Path(output).parent)
        write_scores(scores, output)
        return
    kind = choose_format(form, output)
    emit(_text(scores, kind, per_topic, wide, digits, terminal_looks(output)), output)


def _text(
    scores: Any, form: str, per_topic: bool, wide: bool, digits: int, looks: dict[str, Any]
) -> str:
    from steadyrank.data.read.score_files import long_csv, wide_csv
    from steadyrank.present.json import scores_json, to_json
    from steadyrank.present.score_tables import means_table, ties_sentence, topics_table
    from steadyrank.present.table import render

    if form == "json":
        return to_json(scores_json(scores))
    if form == "csv":
        return wide_csv(scores) if wide else long_csv(scores)
    table = (topics_table if per_topic else means_table)(scores, digits=digits)
    table = replace(
        table, caption=f"{table.caption} {ties_sentence(scores, digits=digits)}".strip()
    )
    return render(table, form, **looks)
