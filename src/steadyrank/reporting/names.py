"""Names that somebody chose for runs: from a mapping, or from a file of two columns."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from steadyrank.errors import InputError, unknown_name
from steadyrank.studies.material import Material


def read_names(names: Mapping[str, str] | str | os.PathLike[str]) -> dict[str, str]:
    """Name of a run, or of its file, to the name that is shown; no two may look the same."""
    if isinstance(names, Mapping):
        chosen, where = {str(run): str(name) for run, name in names.items()}, "names"
    else:
        chosen, where = dict(_lines(Path(names))), str(names)
    twice = [name for name, count in Counter(chosen.values()).items() if count > 1]
    if twice:
        raise InputError(
            f"{where}: two runs would both be shown as {twice[0]!r}: give each its own name"
        )
    return chosen


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Two columns between tabs, commas or, where there are neither, the first blank."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text: save the file as UTF-8") from None
    met: set[str] = set()
    for place, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        columns = [column.strip() for column in _columns(line)]
        if len(columns) != 2 or not all(columns):
            raise InputError(
                f"{path}:{place}: expected two columns, the name of a run or of its file and "
                f"the name to show, got {len(columns)} columns"
            )
        if columns[0] in met:
            raise InputError(f"{path}:{place}: {columns[0]!r} occurs twice: keep one")
        met.add(columns[0])
        yield columns[0], columns[1]


def _columns(line: str) -> list[str]:
    if "\t" in line:
        return line.split("\t")
    return next(csv.reader([line])) if "," in line else line.split(maxsplit=1)


def chosen_names(names: Mapping[str, str], material: Material) -> dict[str, str]:
    """The runs' own names to those chosen; a run may be known by the name of its file."""
    if not names:
        return {}
    known = {key: run for run, keys in _keys(material) for key in keys}
    for key in names:
        if key not in known:
            raise unknown_name("run", key, material.scores.runs)
    shown = {known[key]: name for key, name in names.items()}
    for run in material.scores.runs:
        if run not in shown and run in shown.values():
            raise InputError(f"a run would be shown as {run!r}, which is the name of another run")
    return shown


def _keys(material: Material) -> Iterator[tuple[str, set[str]]]:
    """By what each run may be called: its name, its file, its file without endings."""
    runs = material.scores.runs
    files: list[Any] = [] if material.runs is None else list(material.runs.files)
    paths = files if len(files) == len(runs) else [None] * len(runs)
    for run, path in zip(runs, paths, strict=True):
        of_file = set() if path is None else {str(path), path.name, path.name.partition(".")[0]}
        yield run, {run, *of_file}
