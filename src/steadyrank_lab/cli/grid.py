"""`steadyrank grid`: make runs from every combination of components."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.words import counted
from steadyrank_lab.cli.make_runs import (
    Maker,
    keeping_options,
    make_and_show,
    names,
    source_options,
)

if TYPE_CHECKING:
    from steadyrank.data.scores import Scores
    from steadyrank.present.table import Table


@subcommand("grid")
@source_options
@opt.options(
    {
        "--stop-lists A,B,… ...": (
            "Combine these stop lists: none, lucene, snowball, smart, fox, ranksnl, or files.",
            {"callback": names},
        ),
        "--lexical A,B,… ...": (
            "Combine these lexical units: none, krovetz, lovins, porter, english, weakporter, "
            "4grams … 10grams.",
            {"callback": names},
        ),
        "--models A,B,… ...": (
            "Combine these models, such as BM25, PL2 or 'BM25(k1=0.9,b=0.4)'.",
            {"callback": names},
        ),
    }
)
@keeping_options
@opt.output_options_of(
    {
        "--top K 1.. = 20": "Show the best K runs in tables, LaTeX and Markdown; CSV and JSON "
        "have all."
    }
)
@opt.digits_option
@opt.output_options
def command(top: int, **options: Any) -> None:
    """Make a run for every combination of stop list, lexical unit and model.

    CORPUS is a file of JSON lines (id, title, text) or of TREC's <DOC>, a folder of
    them, a folder with docs.jsonl, topics.tsv and qrels.txt, irds:NAME, or builtin. By
    default all 6 × 13 × 17 combinations; each run is named stoplist_lexical_model. With
    judgments the runs are scored, and need not be written.
    """
    make_and_show(partial(_maker, top), **options)


def _maker(top: int) -> Maker:
    from steadyrank_lab.retrieval.makers.grid import grid, write_grid

    return Maker(grid, write_grid, partial(_means, top))


def _means(top: int, scores: Scores, digits: int | None) -> Table:
    from dataclasses import replace

    from steadyrank.present.cells import name
    from steadyrank.studies.evaluate.view import scores_table

    table = scores_table(scores, digits=digits)
    info = dict(zip(scores.runs, zip(*scores.run_info.values(), strict=True), strict=True))
    rows = [[*map(name, info[row[0].text]), *row[1:]] for row in table.rows[:top]]
    n_runs = len(scores.runs)
    which = f"the best {top} of {n_runs} runs" if top < n_runs else counted(n_runs, "run")
    return replace(
        table,
        header=[*scores.run_info, *scores.measures],
        rows=rows,
        best=frozenset((row, column + 2) for row, column in table.best if row < top),
        n_names=len(scores.run_info),
        caption=f"Means over {counted(len(scores.topics), 'topic')}, {which}.",
    )
