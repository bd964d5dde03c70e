"""Run information: a CSV with a `run` column and any of `team`, `system`, factors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from steadyrank.data.read.csv_cells import armed, as_written, read_csv
from steadyrank.data.read.sources import PathLike
from steadyrank.errors import FormatError, SteadyrankWarning, unknown_name
from steadyrank.words import counted


def read_run_info(path: PathLike, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """The rows of a run-information file for the runs in `names`."""
    path = Path(path)
    rows = _read_rows(path)
    missing = [name for name in names if name not in rows]
    if missing and len(missing) == len(names):
        raise unknown_name(f"run in {path}", missing[0], rows)
    if missing:
        shown = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        who = counted(len(missing), "run has", "runs have")
        warnings.warn(f"{path}: {who} no row ({shown})", SteadyrankWarning, stacklevel=4)
    return {name: rows.get(name, {}) for name in names}


def _read_rows(path: Path) -> dict[str, dict[str, str]]:
    (_, header), *numbered = read_csv(path, delimiter=",")
    if not as_written([header, *(fields for _, fields in numbered)]):
        header = [armed(name) for name in header]
        numbered = [(line, [armed(text) for text in fields]) for line, fields in numbered]
    if "run" not in header:
        raise FormatError(path, f"expected a column 'run', got {', '.join(header)[:200]!r}", 1)
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise FormatError(path, f"two columns are named {twice!r}: rename one", 1)
    rows: dict[str, dict[str, str]] = {}
    for line, fields in numbered:
        if len(fields) != len(header):
            raise FormatError(path, f"expected {len(header)} columns, got {len(fields)}", line)
        row = dict(zip(header, fields, strict=True))
        name = row.pop("run")
        if not name:
            raise FormatError(path, "expected the name of a run, got none", line)
        if name in rows:
            raise FormatError(path, f"run {name!r} has a second row", line)
        rows[name] = row
    return rows
