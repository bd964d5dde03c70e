"""Run information: a CSV with a `run` column and any of `team`, `system`, factors."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Sequence
from pathlib import Path

from steadyrank._wording import counted
from steadyrank.data.sources import PathLike, open_bytes
from steadyrank.errors import FormatError, SteadyrankWarning, unknown_name


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
    with open_bytes(path) as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="")
        reader = csv.reader(text)
        header = next(reader, [])
        if "run" not in header:
            raise FormatError(path, f"expected a column 'run', got {', '.join(header)!r}", 1)
        rows: dict[str, dict[str, str]] = {}
        for fields in reader:
            if not fields:
                continue
            if len(fields) != len(header):
                message = f"expected {len(header)} columns, got {len(fields)}"
                raise FormatError(path, message, reader.line_num)
            row = dict(zip(header, fields, strict=True))
            name = row.pop("run")
            if name in rows:
                raise FormatError(path, f"run {name!r} has a second row", reader.line_num)
            rows[name] = row
    return rows
