"""What a file holds, by its content, and `read`, which reads it whichever kind it is."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from steadyrank.data.battles import Battles
from steadyrank.data.forms.form import Source
from steadyrank.data.forms.pairs import Columns, battles_of_columns
from steadyrank.data.forms.reading import files_below, form_of, read_forms
from steadyrank.data.interop.tables import (
    DOCUMENT_NAMES,
    VALUE_NAMES,
    pick_column,
    plain_column,
    table_of,
)
from steadyrank.data.leaderboard import Leaderboard
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.datasets import is_dataset
from steadyrank.data.read.run_files import read_qrels
from steadyrank.data.read.runs import Runs, read_runs
from steadyrank.data.read.score_files import is_long, read_scores
from steadyrank.data.read.sources import PathLike, data_lines, head_of, kind_of, open_bytes
from steadyrank.data.read.streams import is_readable, is_stream
from steadyrank.data.read.tables import column_names, header_of, names_documents
from steadyrank.data.scores import Scores
from steadyrank.data.table_rules import is_blank, names_rows
from steadyrank.errors import FormatError, InputError

Role = Literal["runs", "qrels"]

GRADES = {*VALUE_NAMES["relevance"]} - {"score"}


def read(
    path: PathLike, *, form: str | None = None
) -> Scores | Leaderboard | Battles | Runs | Qrels:
    """Read a file, a folder or a glob, whichever kind of data it holds.

    Parameters
    ----------
    path : path
        Scores, battles, runs or judgments, in any form that `read_scores`, `read_leaderboard`,
        `read_runs` or `read_qrels` takes.
    form : str, optional
        The form of a tool's files, such as "inspect", where their content does not say it.

    Returns
    -------
    Scores, Leaderboard, Battles, Runs or Qrels
        What the files hold. One score per run and dataset is a `Leaderboard`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import steadyrank as sr
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "data.txt"
    >>> _ = file.write_text("301 0 d1 1\\n301 0 d2 0\\n")
    >>> sr.read(file)
    <Qrels: 1 topics, 2 judgments>
    """
    if is_dataset(path):
        return read_qrels(path)
    if (found := read_forms([path], form=form)) is not None:
        return found.data
    files = files_below(Path(path))
    if all(holds_scores(file, has_qrels=True) for file in files):
        return read_scores(files)
    roles = {role_of_file(file) for file in files}
    if roles == {"runs"}:
        return read_runs(path)
    if roles == {"qrels"} and len(files) == 1:
        return read_qrels(files[0])
    with open_bytes(files[0]) as stream:
        if head_of(stream).strip() in (b"", b"{}", b"[]"):
            raise FormatError(files[0], "empty: no scores, runs or judgments")
    if len(files) > 1:
        raise InputError(f"{path}: the files hold different things: read those of one kind")
    raise FormatError(
        files[0], "may be scores, a run or judgments: call read_scores, read_run or read_qrels"
    )


def holds_scores(path: Path, has_qrels: bool) -> bool:
    """Whether a file has a score per measure, run and topic, and not a ranking."""
    if not is_readable(path) or path.is_dir():
        return False
    source = Source(path)
    if (form := form_of(source)) is not None:
        # AutoJudge's ranking of systems has the columns of a run.
        is_ranking = form.name == "autojudge" and len(source.first_fields[0]) == 6
        return form.holds == "scores" and not is_ranking
    with open_bytes(path) as stream:
        kind = kind_of(stream)
        if kind == "parquet":
            return is_long(column_names(path, stream))
        if kind == "json lines":
            return b'"measure"' in head_of(stream) or not has_qrels
        if kind == "json":
            return not has_qrels
        if names_documents(stream):
            return False
        header = header_of(stream)
    if len(header) > 1 and (is_long(header) or is_blank(header[0]) or names_rows(header[0])):
        return True
    return len(" ".join(header).split()) != 6 and not has_qrels


def role_of_file(source: PathLike) -> Role | None:
    """Return whether a path holds runs or judgments; None if its first line does not say."""
    path = Path(source)
    if is_dataset(source) or is_stream(path):
        return "qrels" if is_dataset(source) else None
    if path.is_dir() or (not path.exists() and glob.has_magic(str(path))):
        return "runs"
    try:
        with open_bytes(path) as stream:
            kind = kind_of(stream)
            line = next((line for _, line in data_lines(stream) if kind == "text"), b"")
            names: Iterable[str] = column_names(path, stream) if kind == "parquet" else ()
        if kind == "json lines":
            names = Source(path).keys
    except (InputError, OSError, ValueError):
        return None  # Whoever reads the file will say what is wrong with it.
    fields = line.decode("utf-8", "replace").lower().split()
    if len(fields) == 6:
        return "runs"
    if len(fields) == 4 and re.fullmatch(r"-?\d+", fields[-1]):
        return "qrels"
    return role_of_columns(names or ",".join(fields).split(","))


def role_of_columns(columns: Iterable[str]) -> Role | None:
    """Return whether columns are those of judgments or of a run; None if neither."""
    names = {plain_column(name) for name in columns}
    if names & GRADES:
        return "qrels"
    # BEIR and ranx also call grades scores.
    is_run = "score" in names and names.isdisjoint(("corpus_id", "q_id", "run_id", "measure"))
    return "runs" if is_run and pick_column(names, DOCUMENT_NAMES) else None


def read_battles(
    source: Any, *, columns: Mapping[str, str] | None = None, form: str | None = None
) -> Battles:
    """Return battles as they are, or those of a frame, of a file or of several."""
    if isinstance(source, Battles):
        return source
    table = table_of(source)
    if table is not None:
        held: Columns = {name: table.cells(k) for k, name in enumerate(table.header)}
        return battles_of_columns("the table", held, dict(columns or {}))
    paths = [source] if isinstance(source, (str, os.PathLike)) else [*source]
    found = read_forms(paths, form=form, columns=columns)
    if found is None or not isinstance(found.data, Battles):
        said = "" if found is None else f" {found.said}:"
        raise InputError(
            f"{paths[0]}:{said} expected battles, with columns model_a, model_b and winner; name "
            "others with columns"
        )
    return found.data
