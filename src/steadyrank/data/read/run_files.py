"""One file of TREC text, Parquet or JSON lines becomes one run; the file is opened once.

A defect that would make results wrong is an error that names file, line and remedy; an
oddity that does not is counted in the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from steadyrank.data.interop.frames import read_columns
from steadyrank.data.read.sources import PathLike, base_name, kind_of, line_of_row, open_bytes
from steadyrank.data.read.trec import Table, read_table
from steadyrank.data.run import (
    DuplicateDocument,
    Duplicates,
    Run,
    build_run,
    check_duplicates,
    duplicate_message,
)
from steadyrank.errors import FormatError, unknown_name

NameFrom = Literal["tag", "file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How runs are to be read; one value that tasks can carry to other processes."""

    name_from: NameFrom = "tag"
    duplicates: Duplicates = "error"
    run_info: PathLike | None = None
    team_from: str | None = None
    system_from: str | None = None

    def __post_init__(self) -> None:
        if self.name_from not in ("tag", "file"):
            raise unknown_name("source of run names", self.name_from, ["tag", "file"])
        check_duplicates(self.duplicates)

    @property
    def about(self) -> dict[str, Any]:
        """What says something about the runs, as `describe_runs` takes it."""
        return {
            "run_info": self.run_info,
            "team_from": self.team_from,
            "system_from": self.system_from,
        }


def load_run(path: Path, reading: Reading, into: Table | None = None, digest: Any = None) -> Run:
    """Read one run without warnings; its oddities stay counted in the run.

    Its columns lie in `into` where that is given, to be used again afterwards. `digest`, an
    object of hashlib, is given the file's bytes.
    """
    with open_bytes(path, digest) as stream:
        kind = kind_of(stream)
        if kind == "text":
            table = read_table(path, stream, is_run=True, into=into)
        else:
            columns = read_columns(path, stream, kind, "score")
    by_tag = reading.name_from == "tag"
    try:
        if kind != "text":
            return build_run(
                columns.name if columns.name and by_tag else base_name(path),
                columns.topics,
                np.arange(len(columns.topics)),
                columns.documents,
                columns.values,
                duplicates=reading.duplicates,
                source=path,
            )
        # Building the run puts its rows into another order.
        line_steps = table.steps()
        return build_run(
            table.tag if by_tag else base_name(path),
            table.topics,
            np.array(table.first_rows),
            table.documents(),
            table.values[: table.n_rows],
            duplicates=reading.duplicates,
            source=path,
            oddities=table.oddities,
            line_steps=line_steps,
        )
    except DuplicateDocument as error:
        where = f" (first on line {line_of_row(path, error.first)})"
        message = duplicate_message(error.topic, error.document, where)
        raise FormatError(path, message, line_of_row(path, error.second)) from None
