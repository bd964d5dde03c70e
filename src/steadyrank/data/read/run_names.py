"""Names that somebody chose for runs: from a mapping, or from a file of two columns."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from steadyrank.data.read.sources import PathLike, base_name
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, arg, unknown_name


def read_names(names: Mapping[str, str] | PathLike) -> dict[str, str]:
    """Name of a run, or of its file, to the name that is shown; no two may look the same."""
    if isinstance(names, Mapping):
        chosen, where = {str(run): str(name) for run, name in names.items()}, "names"
    else:
        chosen, where = dict(_lines(Path(names))), f"{arg('names')} {names}"
    twice = [name for name, count in Counter(chosen.values()).items() if count > 1]
    if twice:
        raise InputError(
            f"{where}: two runs would both be shown as {twice[0]!r}: give each its own name"
        )
    return chosen


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Two columns between tabs, commas or, where there are neither, the first blank."""
    where = f"{arg('names')} {path}"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{where}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{where}: not UTF-8 text: save the file as UTF-8") from None
    met: set[str] = set()
    for place, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        columns = [column.strip() for column in _columns(line)]
        if len(columns) != 2 or not all(columns):
            raise InputError(
                f"{where}:{place}: expected two columns, the name of a run or of its file and "
                f"the name to show, got {len(columns)} columns"
            )
        if columns[0] in met:
            raise InputError(f"{where}:{place}: {columns[0]!r} occurs twice: keep one")
        met.add(columns[0])
        yield columns[0], columns[1]


def _columns(line: str) -> list[str]:
    if "\t" in line:
        return line.split("\t")
    return next(csv.reader([line])) if "," in line else line.split(maxsplit=1)


def file_names(path: PathLike) -> set[str]:
    """What a run may be called by its file: its path, its name, and that without endings."""
    path = Path(path)
    return {str(path), path.name, base_name(path), path.name.partition(".")[0]}


def chosen_names(
    names: Mapping[str, str], runs: Sequence[tuple[str, PathLike | None]]
) -> list[str | None]:
    """Return the chosen name of each run, found by its name or its file; None if there is none."""
    keys = [{run} if path is None else {run, *file_names(path)} for run, path in runs]
    for name in names:
        if not any(name in known for known in keys):
            known = [run for run, _ in runs]
            raise unknown_name("run", name, known, where=f"in {arg('names')}")
    chosen = [next((names[key] for key in names if key in known), None) for known in keys]
    taken = Counter(name or run for name, (run, _) in zip(chosen, runs, strict=True))
    for given in chosen:
        if given is not None and taken[given] > 1:
            raise InputError(
                f"{arg('names')}: two runs would be shown as {given!r}: give each its own name"
            )
    return chosen


def with_chosen_names(scores: Scores, names: Mapping[str, str] | PathLike | None) -> Scores:
    """The scores with runs under the names that somebody chose, all exchanged at once."""
    if names is None:
        return scores
    chosen = chosen_names(read_names(names), runs_with_files(scores))
    runs = (name or run for name, run in zip(chosen, scores.runs, strict=True))
    return replace(scores, runs=tuple(runs))


def runs_with_files(scores: Scores) -> list[tuple[str, PathLike | None]]:
    """The runs of scores, each with the file that it was read from, where that is known."""
    files = scores.meta.get("files", {})
    return [(run, files.get(run)) for run in scores.runs]


def run_called(name: str | None, scores: Scores) -> str | None:
    """The run of that name, or else the one whose file has it; any other name as it is."""
    if name is None or name in scores.runs:
        return name
    there = [run for run, path in runs_with_files(scores) if path and name in file_names(path)]
    return there[0] if len(there) == 1 else name
