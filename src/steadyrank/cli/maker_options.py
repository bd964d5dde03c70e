"""Options of the commands that make runs: the collection, what is kept, and lists of names."""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli.options import (
    count_option,
    folder_option,
    measures_option,
    missing_options,
    once,
    together,
)


def split_names(text: str) -> list[str]:
    """Names between commas; commas in parentheses belong to a name.

    >>> split_names("BM25(k1=0.9,b=0.4),PL2")
    ['BM25(k1=0.9,b=0.4)', 'PL2']
    """
    names, depth, start = [], 0, 0
    for place, character in enumerate(text + ","):
        depth += (character == "(") - (character == ")")
        if character == "," and (depth <= 0 or place == len(text)):
            names.append(text[start:place].strip())
            start = place + 1
    return [name for name in names if name]


def names_option(flag: str, help: str) -> Any:
    """An option that takes names between commas, and can be repeated."""

    def collect(
        ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
    ) -> list[str] | None:
        return [name for value in values for name in split_names(value)] if values else None

    return click.option(flag, multiple=True, callback=collect, metavar="A,B,…", help=help)


source_options = together(
    click.argument("corpus", type=click.Path(), metavar="CORPUS"),
    folder_option(
        "--out", help="Write runs/NAME.run and run-info.csv to DIR, keeping runs that are there."
    ),
    once(
        "--topics",
        metavar="FILE",
        type=click.Path(),
        help="Read topics as id<TAB>text or in TREC's format [default: topics.tsv in CORPUS].",
    ),
    once(
        "--qrels",
        metavar="FILE",
        type=click.Path(),
        help="Score the runs by these judgments [default: qrels.txt in CORPUS].",
    ),
    measures_option,
    once(
        "--scores",
        "scores_file",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        help="Write all scores to FILE (.parquet keeps the components, too).",
    ),
)

keeping_options = together(
    count_option("--depth", "depth", 1000, "Rank this many documents for each topic."),
    missing_options,
    folder_option("--store", help="Keep finished scores in DIR and resume from them."),
    folder_option("--cache", help="Keep the collection's word counts in DIR for the next time."),
)
