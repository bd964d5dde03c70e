"""What `grid` and `shard` share: their options, and making, scoring, writing and showing runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from steadyrank.cli import options as opt
from steadyrank.cli.output import Output, check_folders, tell_if_compiling
from steadyrank.errors import InputError

if TYPE_CHECKING:
    from steadyrank.data.scores import Scores
    from steadyrank.present.table import Table
    from steadyrank_lab.retrieval.makers.runs import WrittenRuns


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


def names(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[str] | None:
    """Names between commas, of an option that can be repeated."""
    return [name for value in values for name in split_names(value)] if values else None


source_options = opt.together(
    click.argument("corpus", type=click.Path(), metavar="CORPUS"),
    opt.options(
        {
            "--out DIR": "Write runs/NAME.run and run-info.csv to DIR, keeping runs that are "
            "there.",
            "--topics FILE": (
                "Read topics as id<TAB>text or in TREC's format [default: topics.tsv in CORPUS].",
                opt.ONCE | opt.ANY_FILE,
            ),
            "--qrels FILE": (
                "Score the runs by these judgments [default: qrels.txt in CORPUS].",
                opt.ONCE | opt.ANY_FILE,
            ),
        }
    ),
    opt.measures_option,
    opt.options(
        {
            "--scores scores_file FILE": (
                "Write all scores to FILE (.parquet keeps the components, too).",
                opt.ONCE | opt.WRITTEN_FILE,
            )
        }
    ),
)

keeping_options = opt.together(
    opt.options({"--depth 1.. = 1000": "Rank this many documents for each topic."}),
    opt.missing_options,
)


class Maker(NamedTuple):
    """What makes the runs of a command."""

    score: Callable[..., Scores]
    write: Callable[..., WrittenRuns]
    means: Callable[[Scores, Any], Table]
    """Shows scores as a table, with this number of decimals."""


def make_and_show(
    load: Callable[[], Maker],
    *,
    corpus: str,
    topics: str | None,
    out: str | None,
    scores_file: str | None,
    output: Output,
    **options: Any,
) -> None:
    """Make the runs, and show their scores, or what was written."""
    _check_places(out, output.path, scores_file)
    scoring = {name: options.pop(name) for name in ("qrels", "measures", "missing", "no_relevant")}
    scored = bool(scoring["qrels"] or scoring["measures"] or scores_file)
    if out is None and not scored:
        raise InputError(
            "nothing to make: name a folder for the runs (--out DIR), judgments to score them by "
            "(--qrels FILE), or both"
        )
    given = {key: value for key, value in options.items() if value is not None} | output.machine
    with output.progress("runs") as progress:
        from steadyrank.measures.evaluate import DEFAULT_MEASURES

        maker = load()
        tell_if_compiling(output.quiet)
        given |= {"out": out, "progress": progress}
        if scored:
            scoring["measures"] = scoring["measures"] or DEFAULT_MEASURES
            scores = maker.score(corpus, topics, **scoring, **given)
            if scores_file is not None:
                _keep_scores(scores, scores_file)
            rows, table = _rows_of(scores), maker.means(scores, output.digits)
        else:
            result = maker.write(corpus, topics, **given)
            rows, table = result.rows(), _written(result)
    output.show(_text_of_rows, rows, table=table, out=out)


def _written(result: WrittenRuns) -> Table:
    from steadyrank.present.table import Table, text_rows

    columns = {key: [row[key] for row in result.run_info] for key in result.run_info[0]}
    levels = {key: [*filter(None, dict.fromkeys(names))] for key, names in columns.items()}
    return Table(
        header=["component", "number", "names"],
        rows=text_rows([key, str(len(names)), ", ".join(names)] for key, names in levels.items()),
        n_names=3,
        caption=result.caption(),
    )


def _check_places(out: str | None, output: str | None, scores_file: str | None) -> None:
    """Refuse at once what could not be written in the end."""
    check_folders(scores_file)
    for path in (output, scores_file):
        if out is not None and path is not None and Path(path).absolute() == Path(out).absolute():
            raise InputError(f"{path}: is the folder of --out: name a file")
    if scores_file is not None and Path(scores_file).suffix not in (".csv", ".parquet"):
        raise InputError(f"{scores_file}: scores are written as .csv or .parquet")


def _keep_scores(scores: Scores, scores_file: str) -> None:
    """Write the scores; a CSV has no columns for components, which go into a second file."""
    from steadyrank.compute.files import check_still_there
    from steadyrank.data.write import write_info, write_scores

    path = Path(scores_file)
    check_still_there(path.parent)
    write_scores(scores, scores_file)
    if path.suffix == ".csv":
        info = path.with_name(f"{path.stem}.run-info.csv")
        write_info(info, "run", scores.runs, scores.run_info)


def _rows_of(scores: Scores) -> list[dict[str, Any]]:
    means = scores.mean().T.tolist()
    return [
        {
            "run": run,
            **{key: column[i] for key, column in scores.run_info.items()},
            "mean": dict(zip(scores.measures, means[i], strict=True)),
        }
        for i, run in enumerate(scores.runs)
    ]


def _text_of_rows(
    rows: list[dict[str, Any]],
    form: str,
    *,
    table: Table,
    out: str | None,
    digits: int | None = None,
    **looks: Any,
) -> str:
    """Return the result: a table for people, all runs for programs."""
    from steadyrank.data.write import csv_line
    from steadyrank.present.json import to_json
    from steadyrank.present.table import render

    if form == "json":
        return to_json({"runs": rows, "out": out})
    if form == "csv":
        means = [row.pop("mean", {}) for row in rows]
        header = [*rows[0], *means[0]]
        lines = [
            [*row.values(), *map(repr, mean.values())]
            for row, mean in zip(rows, means, strict=True)
        ]
        return "".join(map(csv_line, [header, *lines]))
    return render(table, form, **looks)
