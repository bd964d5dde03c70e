"""What study commands work on: QRELS RUN..., or scores that another tool computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli.options import missing_options, run_options, together
from steadyrank.errors import InputError

if TYPE_CHECKING:
    from steadyrank.data.scores import Scores

LARGEST_SCORE = 1e100
"""Squares of larger ones would be infinite."""

scores_options = together(
    click.argument("files", type=click.Path(), nargs=-1, metavar="[QRELS RUN...]"),
    click.option(
        "--scores",
        "scores_files",
        metavar="FILE",
        type=click.Path(),
        multiple=True,
        help="Scores instead of runs: long or wide CSV, or Parquet; repeat to join.",
    ),
    click.option("--runs-in-rows", is_flag=True, help="Wide CSV with runs down, topics across."),
    missing_options,
    run_options,
)


def load_scores(
    files: tuple[str, ...],
    scores_files: tuple[str, ...],
    measures: tuple[str, ...],
    *,
    runs_in_rows: bool,
    default_measures: tuple[str, ...] = ("AP",),
    **options: Any,
) -> Scores:
    """The scores that the arguments of a study command stand for."""
    named = [split_assignment(measure) for measure in measures]
    if scores_files or any(path for _, path in named):
        if files:
            raise InputError("give either QRELS RUN... or scores, not both")
        scores = _read(scores_files, named, runs_in_rows)
        _check_size(scores)
        from steadyrank.data.read.run_info import describe_scores

        about = ("run_info", "team_from", "system_from")
        return describe_scores(scores, **{key: options.get(key) for key in about})
    if len(files) < 2:
        raise InputError("give QRELS and at least one RUN, or --scores FILE")
    from steadyrank.measures.evaluate import evaluate

    return evaluate(list(files[1:]), files[0], measures or default_measures, **options)


def split_assignment(text: str) -> tuple[str, str | None]:
    """NAME and FILE of `NAME=FILE`, split at the first = outside parentheses.

    >>> split_assignment("AP(rel=2)=ap.csv"), split_assignment("AP(rel=2)")
    (('AP(rel=2)', 'ap.csv'), ('AP(rel=2)', None))
    """
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "=" and depth == 0:
            return text[:place], text[place + 1 :]
    return text, None


def files_by_measure(named: Sequence[tuple[str, str | None]]) -> dict[str, str]:
    """The files of `-m NAME=FILE`; refused where one name has two, of which one would be lost."""
    files: dict[str, str] = {}
    for name, path in named:
        if path is None:
            continue
        if name in files:
            raise InputError(
                f"-m {name} names two files: join them with --scores {files[name]} --scores {path} "
                f"-m {name}"
            )
        files[name] = path
    return files


def _read(
    scores_files: tuple[str, ...], named: list[tuple[str, str | None]], runs_in_rows: bool
) -> Scores:
    from steadyrank.data.read.score_files import DEFAULT_MEASURE, read_scores

    files = files_by_measure(named)
    if not scores_files:
        if len(files) < len(named):
            bare = next(name for name, path in named if path is None)
            raise InputError(f"-m {bare} names no file: write -m {bare}=FILE for each measure")
        return read_scores(files, runs_in_rows=runs_in_rows)
    if files:
        raise InputError("give either --scores FILE or -m NAME=FILE, not both")
    label = named[0][0] if len(named) == 1 else None
    scores = read_scores(scores_files, measure=label, runs_in_rows=runs_in_rows)
    if not named or scores.measures == (label or DEFAULT_MEASURE,):
        return scores
    return scores.select(measures=[name for name, _ in named])


def _check_size(scores: Scores) -> None:
    """Refuse what no measure is, and what no variance can be computed of."""
    import numpy as np

    if (np.abs(scores.values) > LARGEST_SCORE).any():
        raise InputError(f"a score is beyond ±{LARGEST_SCORE:g}: are these scores of a measure?")
