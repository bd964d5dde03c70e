"""`steadyrank grid`: make runs from every combination of components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli.making import (
    check_places,
    keep_scores,
    keeping_options,
    names_option,
    rows_of,
    source_options,
    text_of_rows,
    wants_scores,
)
from steadyrank.cli.options import output_options
from steadyrank.cli.output import (
    choose_format,
    emit,
    progress_bar,
    tell_if_compiling,
    terminal_looks,
    told_on_stderr,
)

if TYPE_CHECKING:
    from steadyrank.data.scores import Scores
    from steadyrank.render.tables import Table

COMPONENTS = ("stop_list", "lexical", "model")


@click.command("grid")
@source_options
@names_option("--stop-lists", "Of none, lucene, snowball, smart, fox, ranksnl, or files.")
@names_option("--lexical", "Of none, krovetz, lovins, porter, english, weakporter, 4grams … 10grams.")  # fmt: skip  # noqa: E501
@names_option("--models", "Such as BM25, PL2 or 'BM25(k1=0.9,b=0.4)'.")
@keeping_options
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, metavar="K",
              help="Table, LaTeX, Markdown: the best K runs; CSV and JSON have all.")  # fmt: skip
@click.option("--digits", type=click.IntRange(0, 15), default=4, show_default=True,
              help="Decimals in tables.")  # fmt: skip
@output_options
def command(
    corpus: str,
    out: str | None,
    topics: str | None,
    qrels: str | None,
    measures: tuple[str, ...],
    scores_file: str | None,
    missing: Any,
    no_relevant: Any,
    store: str | None,
    top: int,
    digits: int,
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Make a run of every combination of stop list, lexical unit and model.

    CORPUS is a file of JSON lines (id, title, text) or of TREC's <DOC>, a folder of
    them or of text files, a folder with docs.jsonl, topics.tsv and qrels.txt, or
    irds:NAME. By default all 6 × 13 × 17 combinations; each run is named
    stoplist_lexical_model. With judgments the runs are scored, and need not be written.
    """
    kind = choose_format(form, output)
    check_places(output, scores_file)
    scored = wants_scores(out, qrels, measures, scores_file, store)
    given = {key: value for key, value in options.items() if value is not None}
    with (
        told_on_stderr(quiet),
        progress_bar("bytes of documents", quiet) as reading,
        progress_bar("runs", quiet) as progress,
    ):
        from steadyrank.measures.evaluate import DEFAULT_MEASURES
        from steadyrank.retrieval.grid import grid, write_grid
        from steadyrank.retrieval.search_kernels import search_eight

        tell_if_compiling(quiet, search_eight)
        given |= {"reading": reading, "progress": progress}
        if scored:
            scores = grid(
                corpus, topics, qrels=qrels, measures=measures or DEFAULT_MEASURES,
                missing=missing, no_relevant=no_relevant, out=out, store=store, **given,
            )  # fmt: skip
            if scores_file is not None:
                keep_scores(scores, scores_file)
            rows = rows_of(scores)
            table = _means(scores, top, digits)
        else:
            result = write_grid(corpus, topics, out=str(out), **given)
            rows, table = result.rows(), _written(result)
    emit(text_of_rows(rows, table, kind, out, terminal_looks(output)), output)


def _means(scores: Scores, top: int, digits: int) -> Table:
    """The best runs, their components apart."""
    from dataclasses import replace

    from steadyrank.render.tables import means_table

    table = means_table(scores, digits=digits)
    info = dict(zip(scores.runs, zip(*scores.run_info.values(), strict=True), strict=True))
    rows = [[*info[row[0]], *row[1:]] for row in table.rows[:top]]
    n_runs = len(scores.runs)
    shown = f"the best {top} of {n_runs} runs" if top < n_runs else f"{n_runs} runs"
    return replace(
        table,
        header=[*scores.run_info, *scores.measures],
        rows=rows,
        best=frozenset((row, column + 2) for row, column in table.best if row < top),
        n_names=len(scores.run_info),
        caption=f"Means over {len(scores.topics)} topics, {shown}.",
    )


def _written(result: Any) -> Table:
    """How many components of each kind were combined."""
    from steadyrank.render.tables import Table

    levels = {name: dict.fromkeys(row[name] for row in result.run_info) for name in COMPONENTS}
    return Table(
        header=["component", "number", "names"],
        rows=[[name, str(len(names)), ", ".join(names)] for name, names in levels.items()],
        n_names=3,
        caption=(
            f"{len(result.runs)} runs on {result.n_topics} topics and {result.n_documents} "
            f"documents in {result.folder}, {result.written} of them made now."
        ),
    )
