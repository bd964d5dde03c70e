"""`Runs`: runs that are not yet read, and how to read them, said once; they come in here.

For every study that takes runs: files, globs, folders, `Run` objects, and what other tools call a
run. A pass opens each file once and lets it go again, so memory does not grow with their number;
several passes can share what was read, up to a bound.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, TypeVar, overload

import numpy as np

from steadyrank.compute.clusters import worker_name
from steadyrank.compute.executors import (
    Progress,
    is_elsewhere,
    map_in_order,
    stream_in_order,
    workers,
)
from steadyrank.data.ids import PADDING, Ids
from steadyrank.data.interop.objects import DEFAULT_NAME, converted_run, single_runs
from steadyrank.data.read.run_files import NameFrom, Reading, first_name, load_run
from steadyrank.data.read.run_info import (
    check_rows,
    chosen_names,
    describe_run,
    describe_runs,
    read_names,
    read_run_rows,
)
from steadyrank.data.read.sources import PathLike, base_name, find_files, matching_files
from steadyrank.data.read.streams import digest_of, given_limit, is_stream, limited_by
from steadyrank.data.read.trec import Lines, spare_table
from steadyrank.data.run import SCORES_RISE, Duplicates, Run, oddity_warning
from steadyrank.errors import InputError, MachineError, warn
from steadyrank.words import counted, some

Answer = TypeVar("Answer")

MEMORY = "<memory>"
"""Stands for the file of a run that was not read from one."""

MOST_KEPT = 1 << 30
"""Bytes of runs that several passes share: about 25 million retrieved documents."""

_NOTHING: Any = {
    "topics": (),
    "blocks": np.zeros(1, np.int64),
    "documents": Ids(np.empty(0, np.uint8), np.zeros(1, np.int64), np.empty(0, np.uint64)),
    "scores": np.empty(0),
}


class ReadingOptions(TypedDict, total=False):
    """The keyword arguments of `read_runs` that studies hand on to it."""

    name_from: NameFrom | None
    duplicates: Duplicates | None
    run_info: PathLike | None
    team_from: str | None
    system_from: str | None
    names: Mapping[str, str] | PathLike | None


def read_run(
    path: PathLike,
    *,
    name: str | None = None,
    name_from: NameFrom = "tag",
    duplicates: Duplicates = "error",
) -> Run:
    """Read one run.

    Parameters
    ----------
    path : path
        TREC text, three columns, CSV with a header such as `qid,docno,score`, JSON `{topic:
        {document: score}}`, JSON lines or Parquet, packed (gzip, xz, bzip2, zstd) or not.
    name : str, optional
        The run's name, instead of the one in the file.
    name_from : str
        The run's name is its "tag" column, or the "file"'s name without `.gz`.
    duplicates : str
        A document that occurs twice in a topic is an "error", or the "first" line or the "best"
        score is kept.

    Returns
    -------
    Run
        The run, its documents ranked.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import steadyrank as sr
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.run"
    >>> _ = file.write_text("301 Q0 d1 1 0.5 mine\\n301 Q0 d2 2 0.7 mine\\n")
    >>> sr.read_run(file).ranking("301")
    [('d2', 0.7), ('d1', 0.5)]
    """
    run = load_run(Path(path), Reading(name_from=name_from, duplicates=duplicates))
    warn_oddities([run])
    return run if name is None else run.rename(name)


def read_runs(
    runs: Any,
    *,
    name_from: NameFrom | None = None,
    duplicates: Duplicates | None = None,
    run_info: PathLike | None = None,
    team_from: str | None = None,
    system_from: str | None = None,
    names: Mapping[str, str] | PathLike | None = None,
) -> Runs:
    """Say once how runs are to be read; they are read when they are needed.

    Every study takes the `Runs` that this returns. What a study is given in their place (a
    path, a list, a frame) it hands to this function, together with the arguments from
    `name_from` to `names`.

    Parameters
    ----------
    runs
        File names, globs, folders, `Run` objects, what `as_run` takes, or a list of them; a
        dictionary gives them names, as "NAME=FILE" does. A file that is named twice counts once.
        For `Runs`, options given here replace earlier ones.
    name_from
        "tag" (unless said otherwise) names a run by its tag column, "file" by its file's name
        without `.gz`. Files whose runs share a tag are named by their files, with a warning.
    duplicates
        A document that occurs twice in a topic is an "error" (unless said otherwise), or the
        "first" line or the "best" score is kept.
    run_info
        A CSV file about the runs: a column `run`, and any of `team`, `system` and factors.
    team_from, system_from
        Regular expressions whose first group, searched in a run's name, is its team or system.
    names
        What to call runs: a mapping from their names, or those of their files, or a file of two
        columns.

    Returns
    -------
    Runs
        Iterating over them reads each file once and yields `Run` objects.

    Examples
    --------
    >>> import steadyrank as sr
    >>> runs = sr.read_runs({"bm25_a": {"301": {"d1": 2.0}}}, team_from="^([^_]+)_")
    >>> runs
    <Runs: 1 to read>
    >>> [(run.name, run.info["team"]) for run in runs]
    [('bm25_a', 'bm25')]
    """
    said: ReadingOptions = {
        "name_from": name_from,
        "duplicates": duplicates,
        "run_info": run_info,
        "team_from": team_from,
        "system_from": system_from,
        "names": names,
    }
    if isinstance(runs, Runs):
        reading = make_reading(said, runs.reading)
        if reading == runs.reading:
            return runs
        again = tuple(replace(source, reading=reading, kept=None) for source in runs.sources)
        # Names that were chosen before have been given already.
        naming = reading if names is not None else replace(reading, names=None)
        return Runs(sources=_named_apart(again, naming), reading=reading)
    reading = make_reading(said)
    sources = _named_apart(tuple(_sources(runs, reading)), reading)
    if not sources:
        raise InputError("no runs to evaluate")
    return Runs(sources=sources, reading=reading)


class KeptRuns:
    """What several passes over the same runs share: runs up to a bound, digests of all files."""

    def __init__(self, memory: int):
        self.memory = memory
        self.runs: dict[int, Run] = {}
        """By the identity of what was read, which sources hold on to."""
        self.digests: dict[Path, str] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[KeptRuns], tuple[int]]:
        return KeptRuns, (0,)  # Another process reads for itself.

    def offer(self, given: Any, run: Run) -> None:
        """Keep a copy of the run if it still fits: its own columns may be used again."""
        documents = run.documents
        columns = (run.scores, run.blocks, documents.hashes, documents.offsets)
        size = sum(column.nbytes for column in columns) + int(documents.offsets[-1]) + PADDING
        with self._lock:
            if size > self.memory:
                return
            self.memory -= size
        self.runs[id(given)] = _compact(run)


def _compact(run: Run) -> Run:
    documents = run.documents
    data = documents.data[: int(documents.offsets[-1]) + PADDING].copy()
    ids = Ids(data, documents.offsets.copy(), documents.hashes.copy())
    return replace(run, documents=ids, scores=run.scores.copy())


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that another process is to read, by its whole path and the content it must have."""

    path: Path
    digest: str
    limit: int | None = None
    """What `max_input` was given here."""

    def check(self) -> None:
        """Refuse the file of that path on another machine unless it is the same."""
        if not self.digest:
            return  # Reading it here failed, and will there, with an error that says why.
        if not self.path.exists():
            raise MachineError(
                f"{self.path}: {worker_name()} does not see this file: put the runs where all "
                "workers can read them"
            )
        if _digest(self.path) != self.digest:
            raise MachineError(
                f"{self.path}: {worker_name()} has another file of that name: give all workers "
                "the same files"
            )


def _digest(path: Path) -> str:
    try:
        return digest_of(path)
    except OSError:
        return ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """One run that is not yet read: a file, another tool's object, or a `Run`."""

    given: Any
    reading: Reading
    name: str | None = None
    """The user's name, or the file's name if several runs share a tag."""
    is_called: bool = False
    """Whether the user calls it so."""
    own: str = ""
    """What the run was called before somebody chose a name: run information is about that."""
    kept: KeptRuns | None = None
    sent: SentFile | None = None
    """Path for another process; None if this process must read the file."""

    def read(self) -> Run:
        """Return a copy of the run."""
        with self.opened() as run:
            return run if isinstance(self.given, Run) else _compact(run)

    @contextlib.contextmanager
    def opened(self) -> Iterator[Run]:
        """The run, whose columns last as long as the block."""
        if self.kept is not None and id(self.given) in self.kept.runs:
            yield self.kept.runs[id(self.given)]
        elif isinstance(self.given, Path):
            if self.sent is not None:
                self.sent.check()
            with spare_table() as table:
                run = self._loaded(self.given, table)
                if self.kept is not None:
                    self.kept.offer(self.given, run)
                yield run
        else:
            run, _ = converted_run(self.given, name=self.name, duplicates=self.reading.duplicates)
            if self.kept is not None and not isinstance(self.given, Run):
                self.kept.offer(self.given, run)
            yield run

    def for_elsewhere(self) -> Source:
        """Return the source as another process can read it, whatever its working folder."""
        if not isinstance(self.given, Path):
            return self
        if is_stream(self.given):
            return replace(self, given=self.read())
        known = self.kept.digests.get(self.given) if self.kept is not None else None
        digest = known or _digest(self.given)
        return replace(self, sent=SentFile(self.given.absolute(), digest, given_limit()))

    def _loaded(self, path: Path, table: Lines) -> Run:
        digest = None if self.kept is None or path in self.kept.digests else hashlib.sha256()
        place, limit = (path, None) if self.sent is None else (self.sent.path, self.sent.limit)
        with limited_by(limit):
            run = replace(load_run(place, self.reading, table, digest), source=path)
        if self.kept is not None and digest is not None:
            self.kept.digests[path] = digest.hexdigest()
        return run if self.name is None else run.rename(self.name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Runs:
    """Runs that are not yet read, with how to read them; made by `read_runs`.

    Iterating reads them one after the other, a few ahead in parallel, and yields `Run` objects in
    the order given. Two runs of the same name are an error, unless files can name them; oddities of
    the files are warned of when all have been read. `len` counts the runs, an index reads one of
    them, a slice is `Runs` again, and `list` holds all in memory.

    Examples
    --------
    >>> import steadyrank as sr
    >>> runs = sr.read_runs({"a": {"1": {"d1": 2.0}}, "b": {"1": {"d2": 1.0}}})
    >>> len(runs), runs[1].name, [run.name for run in runs]
    (2, 'b', ['a', 'b'])
    """

    sources: tuple[Source, ...]
    reading: Reading
    kept: KeptRuns | None = None

    def __len__(self) -> int:
        return len(self.sources)

    def __repr__(self) -> str:
        return f"<Runs: {len(self)} to read>"

    @overload
    def __getitem__(self, place: int) -> Run: ...
    @overload
    def __getitem__(self, place: slice) -> Runs: ...
    def __getitem__(self, place: int | slice) -> Run | Runs:
        if isinstance(place, slice):
            return replace(self, sources=self.sources[place])
        rows = read_run_rows(self.reading.run_info)
        return self._described(self.sources[place].read(), rows, self.own_names())

    def __iter__(self) -> Iterator[Run]:
        rows, own = read_run_rows(self.reading.run_info), self.own_names()
        headers: dict[str, Run] = {}
        with workers() as pool:
            for run in stream_in_order(Source.read, self.sources, pool):
                _note_name(header_of(run), headers)
                yield self._described(run, rows, own)
        self._warn_oddities([*headers.values()])
        check_rows(self.reading.run_info, rows, [own.get(name, name) for name in headers])

    @property
    def files(self) -> list[Path]:
        """The files among the runs."""
        return [source.given for source in self.sources if isinstance(source.given, Path)]

    @property
    def digests(self) -> Mapping[Path, str]:
        """SHA-256 of the files that were read, where runs are kept."""
        return {} if self.kept is None else self.kept.digests

    def at(self, places: Sequence[int]) -> Runs:
        """Some of the runs."""
        return replace(self, sources=tuple(self.sources[place] for place in places))

    def keeping(self, memory: int | None = None) -> Runs:
        """Return the runs; what is read of files is kept for later passes, up to `memory` bytes.

        Beyond that (a gigabyte unless given), files are read again in every pass.
        """
        kept = KeptRuns(MOST_KEPT if memory is None else memory)
        sources = tuple(replace(source, kept=kept) for source in self.sources)
        return replace(self, sources=sources, kept=kept)

    def map(
        self,
        function: Callable[[Run], Answer],
        *,
        jobs: int | None = None,
        scheduler: str | None = None,
        executor: Executor | None = None,
        progress: Progress | None = None,
    ) -> list[Answer]:
        """One pass: what a function makes of every run, which it must not hold on to."""
        with workers(jobs=jobs, scheduler=scheduler, executor=executor) as pool:
            one = partial(_applied, function=function)
            return map_in_order(one, self._sent_to(pool), pool, progress=progress)

    def _sent_to(self, pool: Executor) -> list[Source]:
        if not is_elsewhere(pool):
            return list(self.sources)
        with ThreadPoolExecutor() as threads:
            return list(threads.map(Source.for_elsewhere, self.sources))

    def check_headers(self, headers: Sequence[Run]) -> None:
        """After a pass, with every run's header: names must differ, oddities are warned of."""
        seen: dict[str, Run] = {}
        for run in headers:
            _note_name(run, seen)
        self._warn_oddities(headers)

    def info(self, headers: Sequence[Run]) -> list[Mapping[str, str]]:
        """What is known about each run, from itself, its name or the run information."""
        own = self.own_names()
        names = [own.get(run.name, run.name) for run in headers]
        known = describe_runs(names, **self.reading.about)
        return [{**run.info, **known[name]} for run, name in zip(headers, names, strict=True)]

    def own_names(self) -> dict[str, str]:
        """Names that somebody chose to what the runs were called before."""
        return {str(source.name): source.own for source in self.sources if source.own}

    def _described(
        self, run: Run, rows: Mapping[str, Mapping[str, str]], own: Mapping[str, str]
    ) -> Run:
        by_name = {"team_from": self.reading.team_from, "system_from": self.reading.system_from}
        about = describe_run(own.get(run.name, run.name), rows, **by_name)
        return replace(run, info={**run.info, **about})

    def _warn_oddities(self, headers: Sequence[Run]) -> None:
        # Whoever gives a `Run` that was never in a file has been warned when it was made.
        warn_oddities(
            [
                run
                for source, run in zip(self.sources, headers, strict=True)
                if run.source is not None or not isinstance(source.given, Run)
            ]
        )


def _applied(source: Source, *, function: Callable[[Run], Answer]) -> Answer:
    with source.opened() as run:
        return function(run)


def _note_name(run: Run, seen: dict[str, Run]) -> None:
    """Two runs under one name would overwrite each other."""
    if run.name in seen:
        first = seen[run.name].source or MEMORY
        remedy = "rename one, or give it as NAME=FILE, or runs as {name: run}"
        raise InputError(
            f"{run.source or MEMORY}: the run is named {run.name!r}, as is {first}: {remedy}"
        )
    seen[run.name] = run


def header_of(run: Run) -> Run:
    """The run's name and notes alone, so that thousands of runs do not stay in memory."""
    return replace(run, **_NOTHING)


def warn_oddities(runs: Sequence[Run]) -> None:
    """One warning per kind of oddity, counted over all runs."""
    kinds = dict.fromkeys(what for run in runs for what in run.oddities)
    for what in kinds:
        odd = [run for run in runs if what in run.oddities]
        count = sum(run.oddities[what] for run in odd)
        first = str(odd[0].source or f"run {odd[0].name!r}")
        where = first if len(odd) == 1 else f"{len(odd)} runs, first {first}"
        message = f"{where}: {oddity_warning(what, count)}"
        warn(message, stacklevel=5)
    if rising := [str(run.source or f"run {run.name!r}") for run in runs if run.scores_rise]:
        warn(f"{some(rising, 3)}: {SCORES_RISE}", stacklevel=5)


def _named_apart(sources: tuple[Source, ...], reading: Reading) -> tuple[Source, ...]:
    """The sources, with the names that were chosen, and for those files whose runs share one."""
    by_tag = reading.name_from == "tag"
    if reading.names:
        known = [_name_and_file(one, by_tag) for one in sources]
        sources = tuple(
            source if name is None else replace(source, name=name, is_called=True, own=own)
            for source, name, (own, _) in zip(
                sources, chosen_names(reading.names, known), known, strict=True
            )
        )
    free = [s.given for s in sources if isinstance(s.given, Path) and not s.is_called]
    names = names_apart(free, by_tag=by_tag)
    return tuple(
        replace(source, name=names.get(source.given))
        if isinstance(source.given, Path) and not source.is_called
        else source
        for source in sources
    )


def _name_and_file(source: Source, by_tag: bool) -> tuple[str, Path | None]:
    if isinstance(source.given, Path):
        tag = source.name or (first_name(source.given) if by_tag else "")
        return tag or base_name(source.given), source.given
    return str(source.name or getattr(source.given, "name", DEFAULT_NAME)), None


def make_reading(said: ReadingOptions, before: Reading | None = None) -> Reading:
    """How to read: what is said now, else what was said before."""
    changes: dict[str, Any] = {key: value for key, value in said.items() if value is not None}
    if "names" in changes:
        changes["names"] = read_names(changes["names"])
    return replace(before or Reading(), **changes)


def _sources(runs: Any, reading: Reading) -> Iterator[Source]:
    files: set[Path] = set()
    for name, run in single_runs(runs):
        if not isinstance(run, (str, os.PathLike)):
            yield Source(given=run, name=name, is_called=name is not None, reading=reading)
            continue
        if name is None and isinstance(run, str):
            name, run = split_name(run)
        paths = find_files(run)
        if name is not None:
            if len(paths) > 1:
                raise InputError(f"{name}={run}: a name is for one run, got {len(paths)} files")
            yield Source(given=paths[0], name=name, is_called=True, reading=reading)
            continue
        for path in paths:
            if path not in files:
                files.add(path)
                yield Source(given=path, reading=reading)


def split_name(text: str) -> tuple[str | None, str]:
    """NAME and FILE of NAME=FILE; no name where the whole is a file, or a glob that finds some."""
    name, _, file = text.partition("=")
    if not (name and file) or "/" in name or os.path.lexists(text):
        return None, text
    if glob.has_magic(text) and matching_files(Path(text)):
        return None, text
    return name, file


def names_apart(paths: Sequence[Path], *, by_tag: bool) -> dict[Path, str]:
    """Names for those files whose runs would bear the name of another; one warning for all."""
    if len(paths) < 2:
        return {}
    names = {path: (first_name(path) if by_tag else "") or base_name(path) for path in paths}
    shared = _shared(names)
    if not shared:
        return {}
    apart = {path: base_name(path) for path in shared}
    clashing = _shared({**names, **apart})
    # Files of one name in several folders: as much of their paths as it takes.
    apart |= {path: _path_name(path, clashing) for path in clashing}
    if by_tag:
        first = names[shared[0]]
        where = [apart[path] for path in shared if names[path] == first]
        warn(
            f"{counted(len(shared), 'run')} have the same names as others (first {first!r}, of "
            f"{where[0]} and {where[1]}): they are named by their files",
            stacklevel=4,
        )
    return apart


def _shared(names: Mapping[Path, str]) -> list[Path]:
    counts = Counter(names.values())
    return [path for path, name in names.items() if counts[name] > 1]


def _path_name(path: Path, others: Sequence[Path]) -> str:
    folders = path.absolute().parts[:-1]
    for depth in range(1, len(folders) + 1):
        end = folders[-depth:]
        same = [o for o in others if o.absolute().parts[:-1][-depth:] == end]
        if len([o for o in same if base_name(o) == base_name(path)]) == 1:
            return "/".join([*end, base_name(path)])
    return path.name  # a.run and a.run.gz in one folder
