"""`steadyrank datasets`: would other datasets change the leaderboard?"""

from __future__ import annotations

from typing import Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.inputs import DIRECTIONS, FORM, READING, WAYS, assigned, of_kind, read_tools
from steadyrank.cli.output import Output, tell_if_compiling
from steadyrank.errors import InputError

table_options = opt.together(
    click.argument("tables", type=click.Path(), nargs=-1, metavar="[TABLE... | PATH...]"),
    opt.reading_options_of(
        {
            **FORM,
            **DIRECTIONS,
            "--collection collections NAME=QRELS,RUNS ...": "Evaluate the runs of a collection, "
            "systems matched by name; repeat for each.",
            "--datasets types FILE": (
                "Read the types of datasets from a CSV with columns dataset and type.",
                opt.ONCE | opt.INPUT_FILE,
            ),
        }
    ),
    opt.missing_options,
    opt.ties_option,
    opt.run_options,
    opt.measures_option,
)

study_options = opt.options(
    {
        "--aggregate [mean|mean-of-types|borda|wins] = mean": "Rank the runs by this aggregate "
        "over datasets.",
        "--drawn [datasets|types|topics|both] = datasets": "Resample datasets, whole types of "
        "them, topics, or datasets and topics.",
        "--gaps [complete|pairwise|zero] = complete": "Use the datasets that every run has, "
        "compare pairs on those that both have, or count a missing score as 0.",
        "--a RUN": "Examine this run in depth [default: the best].",
        "--b RUN": "Compare it with this one [default: the second].",
        **opt.ALPHA,
        "--samples n_samples 1.. = 10000": "Draw this many sign patterns.",
    }
)


@subcommand("datasets")
@table_options
@study_options
@opt.plot_option("the ranks")
@opt.describe_option
@opt.digits_option
@opt.output_options
def command(
    tables: tuple[str, ...],
    collections: tuple[str, ...],
    measures: tuple[str, ...],
    kind: str | None,
    output: Output,
    **options: Any,
) -> None:
    """Show how far a leaderboard over several datasets can be trusted.

    Takes tables of scores (long: run or model, dataset or task, value or score, and where there are
    any type and topic; wide: first column the runs), a folder of MTEB results, or collections. The
    rank intervals hold for all runs simultaneously. They are about other datasets of the same kind.
    """
    tell_if_compiling(output.quiet)
    reading = {name: options.pop(name) for name in READING if name in options}
    lower, higher = (options.pop(way) for way in WAYS)
    from steadyrank.studies.datasets.study import datasets
    from steadyrank.studies.datasets.view import VIEW

    source: Any = _sources(tables, collections)
    if len(measures) > 1:
        raise InputError(f"datasets ranks runs by a single measure, got {', '.join(measures)}")
    if collections:
        source = _evaluated(source, measures, reading, output)
    else:
        found = read_tools(tables, kind, *measures, by_dataset=True)
        source = source if found is None else of_kind("Leaderboard", found, tables)
    if lower or higher:
        from steadyrank.data.read.leaderboards import read_leaderboard

        table = read_leaderboard(source)
        source = table.directed(lower=lower, higher=higher)
    options |= {"jobs": output.jobs, "rng": output.seed}
    with output.progress("blocks of samples") as progress:
        result = datasets(source, progress=progress, **options)
    output.show(VIEW.text, result)
    output.draw(result)


def _sources(tables: tuple[str, ...], collections: tuple[str, ...]) -> Any:
    """Return the tables, or the files of each collection by its name."""
    if bool(tables) == bool(collections):
        raise InputError("give either TABLE... or --collection NAME=QRELS,RUNS for each collection")
    if tables:
        return list(tables)
    given = assigned("--collection", collections, "NAME=QRELS,RUNS")
    files = {name: [part for part in paths.split(",") if part] for name, paths in given.items()}
    for name, parts in files.items():
        if len(parts) < 2:
            raise InputError(f"--collection {name}={given[name]}: write NAME=QRELS,RUNS")
    return files


def _evaluated(
    files: dict[str, list[str]], measures: tuple[str, ...], reading: dict[str, Any], output: Output
) -> Any:
    from steadyrank.measures.evaluate import evaluate

    scores = {}
    for name, (qrels, *runs) in files.items():
        with output.progress(f"runs of {name}") as progress:
            reading |= {"progress": progress, **output.machine}
            scores[name] = evaluate(runs, qrels, measures or ("nDCG@10",), **reading)
    return scores
