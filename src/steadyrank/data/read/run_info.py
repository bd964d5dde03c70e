"""What is known about runs and topics, and the names that somebody chose for runs.

Information comes from a CSV file or from a part of the names. A file about runs has a column `run`
and any of `team`, `system` and factors, one about topics a column `topic` and any of `cluster`,
`weight` and segments. Unlike a run without a team, a topic without a row is refused: no weight,
cluster or segment can be made up for it.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from steadyrank.data.read.sources import PathLike, base_name
from steadyrank.data.read.tables import check_widths, read_texts
from steadyrank.data.scores import Scores
from steadyrank.errors import FormatError, InputError, arg, check_pattern, unknown_name, warn
from steadyrank.words import by_number, counted, some

InfoRows = Mapping[str, Mapping[str, str]]
"""Rows of an information file by the names of runs or of topics."""


def describe_runs(
    names: Sequence[str],
    *,
    run_info: PathLike | None = None,
    team_from: str | None = None,
    system_from: str | None = None,
) -> dict[str, Mapping[str, str]]:
    """What is known about each run, from a table or from its name."""
    rows = read_run_rows(run_info)
    described = {
        name: describe_run(name, rows, team_from=team_from, system_from=system_from)
        for name in names
    }
    check_rows(run_info, rows, names)
    return described


def describe_run(
    name: str, rows: InfoRows, *, team_from: str | None, system_from: str | None
) -> Mapping[str, str]:
    """What is known about one run; its row takes precedence over its name."""
    patterns = {"team": team_from, "system": system_from}
    of_name = {
        column: first_group(f"{column}_from", pattern, name)
        for column, pattern in patterns.items()
        if pattern is not None
    }
    return {**of_name, **rows.get(name, {})}


def describe_scores(
    scores: Scores,
    *,
    run_info: PathLike | None = None,
    team_from: str | None = None,
    system_from: str | None = None,
) -> Scores:
    """The scores with what is known about their runs."""
    info = describe_runs(
        scores.runs, run_info=run_info, team_from=team_from, system_from=system_from
    )
    return scores.with_run_info(**info_columns([info[run] for run in scores.runs]))


def info_columns(rows: Sequence[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Rows about runs or topics as columns; empty where a row says nothing."""
    columns = dict.fromkeys(key for row in rows for key in row)
    return {key: tuple(row.get(key, "") for row in rows) for key in columns}


def first_group(option: str, pattern: str, name: str) -> str:
    """The first group of a regular expression searched in a name; the name itself if none."""
    match = check_pattern(option, pattern).search(name)
    if match is None:
        return name
    if not match.groups():
        told = f"{arg(option)} {pattern!r} has no group: put the part that you want in parentheses"
        raise InputError(told, code="value")
    return match.group(1) or name


def check_rows(path: PathLike | None, rows: InfoRows, names: Sequence[str]) -> None:
    """Refuse a file that is about other runs; warn of runs without a row."""
    missing = [name for name in names if name not in rows]
    if path is None or not missing:
        return
    if len(missing) == len(names):
        raise unknown_name("run", missing[0], rows, where=f"in {Path(path)}")
    who = counted(len(missing), "run has", "runs have")
    warn(f"{Path(path)}: {who} no row ({some(missing, 3)})", stacklevel=5)


def read_run_rows(path: PathLike | None) -> InfoRows:
    """The rows of a run-information file; none where no file is named."""
    return {} if path is None else read_rows(Path(path), "run")


def read_rows(path: Path, axis: str) -> dict[str, dict[str, str]]:
    """The rows of a CSV with a column of the names of runs or of topics, by these names."""
    header, numbered = read_texts(path, delimiter=",")
    if axis not in header:
        raise FormatError(path, f"expected a column {axis!r}, got {', '.join(header)[:200]!r}", 1)
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise FormatError(path, f"two columns are named {twice!r}: rename one", 1)
    rows: dict[str, dict[str, str]] = {}
    check_widths(path, header, numbered)
    for line, fields in numbered:
        row = dict(zip(header, fields, strict=True))
        if not header[0]:
            del row[""]  # an index, as pandas writes it
        name = row.pop(axis)
        if not name:
            raise FormatError(path, f"expected the name of a {axis}, got an empty cell", line)
        if name in rows:
            raise FormatError(path, f"{axis} {name!r} has a second row: keep one", line)
        rows[name] = row
    return rows


def describe_topics(
    scores: Scores, *, topic_info: PathLike | None = None, cluster_from: str | None = None
) -> Scores:
    """The scores with what is known about their topics; a file takes precedence over names."""
    if topic_info is None and cluster_from is None:
        return scores
    columns = dict(scores.topic_info)
    if cluster_from is not None:
        columns["cluster"] = tuple(
            first_group("cluster_from", cluster_from, topic) for topic in scores.topics
        )
    if topic_info is not None:
        columns |= _columns_of_file(Path(topic_info), scores.topics)
    return replace(scores, topic_info=columns)


def _columns_of_file(path: Path, topics: Sequence[str]) -> dict[str, tuple[str, ...]]:
    rows = read_rows(path, "topic")
    missing = [topic for topic in topics if topic not in rows]
    if missing and len(missing) == len(topics):
        raise unknown_name("topic", missing[0], rows, where=f"in {path}")
    if missing:
        who = counted(len(missing), "topic has", "topics have")
        add = by_number(len(missing), "it", "them")
        raise InputError(f"{path}: {who} no row ({some(missing, 3)}): add {add}")
    return info_columns([rows[topic] for topic in topics])


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
    if "," in line and "\t" not in line:
        return next(csv.reader([line]))
    return line.split("\t") if "\t" in line else line.split(maxsplit=1)


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
            told = f"{arg('names')}: two runs would be shown as {given!r}: give each its own name"
            raise InputError(told)
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
