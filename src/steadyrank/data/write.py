"""Runs and judgments as TREC text, which every evaluation tool reads, and scores as CSV or Parquet.

Scores are written so that they read back to the last bit and ids byte by byte; the same data make
the same bytes, packed or not. What the format cannot hold is refused.

A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, and names of runs
and topics come from anywhere. Such names are written behind an apostrophe, and characters that
would act on a terminal or are no text by their codes (`steadyrank.visible`), in every CSV file
alike; what reads CSV undoes both: a run `=x` stays `=x` on the way out and back.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.compute.files import is_unfinished, sweep, whole_file, write_whole
from steadyrank.data import PathLike
from steadyrank.data.ids import Ids
from steadyrank.data.provenance import with_hashes
from steadyrank.data.qrels import Qrels
from steadyrank.data.run import Run
from steadyrank.data.scores import AXES, Scores
from steadyrank.errors import InputError, unknown_name, warn
from steadyrank.visible import is_hidden, restored, reversible
from steadyrank.words import counted

if TYPE_CHECKING:
    import pandas as pd

# Spreadsheets in Japanese or Chinese treat the wide forms alike.
_STARTS = "[=+@\\t\\r\\n\uff1d\uff0b\uff0d\uff20-]"
_FORMULA = re.compile(_STARTS)
_DEFUSED = re.compile(f"'+{_STARTS}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-](?:inf|nan)?")
_QUOTED = re.compile('[",\\r\\n]|^[ \\t]|[ \\t]$')


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would compute the cell; a plain number or a lone sign is no formula."""
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def defused(text: str) -> str:
    """The text behind an apostrophe if it would be a formula, or look like one so written."""
    text = reversible(text)
    return f"'{text}" if is_formula(text) or _DEFUSED.match(text) else text


def as_written(rows: Iterable[Iterable[str]]) -> bool:
    """Whether names must be taken as they are: steadyrank writes no formula, and no control."""
    return any(is_formula(name) or is_hidden(name) for row in rows for name in row)


def armed(text: str) -> str:
    """What `defused` made of a text, undone."""
    return restored(text[1:] if _DEFUSED.match(text) else text)


def csv_cell(text: str) -> str:
    """One cell, defused, and quoted where need be."""
    text = defused(text)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def csv_line(cells: Iterable[str]) -> str:
    """One line of a CSV file."""
    return (",".join(map(csv_cell, cells)) or '""') + "\n"


def frame_csv(frame: pd.DataFrame, *, header: bool = True) -> str:
    """A frame as CSV, its texts and column names defused."""
    safe = frame.rename(columns=defused)
    for name, kind in safe.dtypes.items():
        if kind.kind not in "biufc":
            safe[name] = [defused(cell) if isinstance(cell, str) else cell for cell in safe[name]]
    return safe.to_csv(index=False, header=header, lineterminator="\n")


_SPACE = 32

MISTAKEN = {
    b"{": "JSON lines",
    b"[{": "JSON",
    b"[[": "JSON",
    b"PAR1": "Parquet",
    b"BZh": "bzip2",
    b"\xef\xbb\xbf": "a byte-order mark",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
"""First bytes by which readers, ours among them, know files that are not TREC text."""

METADATA = b"steadyrank"

INFO = {"run_info": "run", "topic_info": "topic"}
"""What is known about runs and topics, and along which axis it stands."""


def write_run(run: Run, path: PathLike) -> None:
    """Write a run as TREC text, whole or not at all.

    Parameters
    ----------
    run : Run
        Lines are `topic Q0 document rank score name`, best first, ranks from 1. A topic without
        documents leaves no line, which is warned of.
    path : path
        Packed if the name ends in `.gz`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from steadyrank.data.run import run_from_dict
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "bm25.run"
    >>> write_run(run_from_dict({"301": {"d1": 2.0, "d2": 3.0}}, name="bm25"), file)
    >>> print(file.read_text(), end="")
    301 Q0 d2 1 3.0 bm25
    301 Q0 d1 2 2.0 bm25
    """
    content = run_text(run)
    empty = int((np.diff(run.blocks) == 0).sum())
    if empty:
        what = counted(empty, "topic without documents leaves", "topics without documents leave")
        message = f"run {run.name!r}: {what} no line"
        warn(message, stacklevel=3)
    _write(path, content)


def write_qrels(qrels: Qrels, path: PathLike) -> None:
    """Write judgments as TREC text, whole or not at all.

    Parameters
    ----------
    qrels : Qrels
        Lines are `topic 0 document grade`.
    path : path
        Packed if the name ends in `.gz`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from steadyrank.data.qrels import qrels_from_dict
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> write_qrels(qrels_from_dict({"301": {"d1": 1, "d2": 0}}), file)
    >>> print(file.read_text(), end="")
    301 0 d1 1
    301 0 d2 0
    """
    _write(path, qrels_text(qrels))


def write_track(
    folder: PathLike, runs: Sequence[Run], qrels: Qrels, *, compress: bool = False
) -> None:
    """Write runs and judgments as TREC files: qrels.txt, runs/NAME.run and run-info.csv."""
    root = Path(folder)
    suffix = ".run.gz" if compress else ".run"
    _make_run_folder(root / "runs", {run.name + suffix for run in runs})
    for run in runs:
        write_run(run, root / "runs" / (run.name + suffix))
    write_qrels(qrels, root / "qrels.txt")
    columns = dict.fromkeys(name for run in runs for name in run.info)
    info = {name: [run.info.get(name, "") for run in runs] for name in columns}
    write_info(root / "run-info.csv", "run", [run.name for run in runs], info)


def write_info(
    path: PathLike, axis: str, names: Iterable[str], columns: Mapping[str, Sequence[str]]
) -> None:
    """Write what is known about runs or topics, a column each, as --run-info and --topic-info read
    it; `axis` is "run" or "topic".
    """
    rows = zip(names, *columns.values(), strict=True)
    write_whole(path, map(csv_line, [[axis, *columns], *rows]))


def _make_run_folder(folder: Path, names: set[str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{folder}: this is a file, and a folder is needed") from None
    sweep(folder)
    found = (path.name for path in folder.iterdir())
    others = sorted(name for name in found if name not in names and not is_unfinished(name))
    if others:
        raise InputError(
            f"{folder} already holds {others[0]!r}, which is not a run of this track: "
            "choose another folder"
        )


def _write(path: PathLike, content: bytes) -> None:
    # Without a time stamp, so that the same data make the same bytes.
    packed = Path(path).name.endswith(".gz")
    write_whole(path, gzip.compress(content, 6, mtime=0) if packed else content)


def run_text(run: Run) -> bytes:
    """The lines of a run's TREC file."""
    what = f"run {run.name!r}"
    _check_name(run.name, f"{what}: its name", "rename it with run.rename(...)")
    _check(run, what)
    documents, scores = _as_characters(run.documents), run.scores.tolist()
    tail = f" {_characters(run.name)}\n"
    lines: list[str] = []
    for topic, (first, stop) in zip(run.topics, pairwise(run.blocks.tolist()), strict=True):
        head = f"{_characters(topic)} Q0 "
        rows = zip(documents[first:stop], count(1), scores[first:stop], strict=False)
        lines += [f"{head}{name} {rank} {score!r}{tail}" for name, rank, score in rows]
    return "".join(lines).encode("latin-1")


def qrels_text(qrels: Qrels) -> bytes:
    """The lines of a qrels file."""
    _check(qrels, "qrels")
    empty = np.flatnonzero(qrels.sizes == 0)
    if len(empty):
        # Left out, the topic would no longer count in any mean.
        topic = qrels.topics[int(empty[0])]
        raise InputError(f"qrels: topic {topic!r} has no judgments, which TREC text cannot say")
    documents = _as_characters(qrels.documents)
    grades = qrels.grades.tolist()
    lines = []
    for topic, (first, stop) in zip(qrels.topics, pairwise(qrels.blocks.tolist()), strict=True):
        head = f"{_characters(topic)} 0 "
        lines += [f"{head}{documents[row]} {grades[row]}\n" for row in range(first, stop)]
    return "".join(lines).encode("latin-1")


def _characters(name: str) -> str:
    """A name's bytes, each as one character, so that lines of any bytes join as text."""
    return name.encode("utf-8", "surrogateescape").decode("latin-1")


def _as_characters(documents: Ids) -> list[str]:
    """All ids, each byte as one character: decoded once and cut, not decoded one by one."""
    bounds = documents.offsets.tolist()
    text = documents.data[: bounds[-1]].tobytes().decode("latin-1")
    return [text[start:stop] for start, stop in pairwise(bounds)]


def _check(held: Run | Qrels, what: str) -> None:
    """Refuse what TREC text cannot hold: it would read back as something else, or not at all."""
    if not len(held):
        raise InputError(f"{what}: empty: there is nothing to write")
    for topic in held.topics:
        _check_name(topic, f"{what}: topic {topic!r}", "rename it")
        if topic.startswith("#"):
            raise InputError(f"{what}: topic {topic!r} would read back as a comment: rename it")
    _check_start(held, what)
    _check_documents(held, what)


def _check_name(name: str, what: str, remedy: str) -> None:
    raw = name.encode("utf-8", "surrogateescape")
    if not raw:
        raise InputError(f"{what} is empty, which TREC text cannot hold: {remedy}")
    if min(raw) <= _SPACE:
        odd = "white space or a control character"
        raise InputError(f"{what} has {odd} in it, which TREC text cannot hold: {remedy}")


def _check_start(held: Run | Qrels, what: str) -> None:
    sizes = np.diff(held.blocks)
    first = held.topics[int(np.flatnonzero(sizes)[0])]
    raw = first.encode("utf-8", "surrogateescape")
    for start, kind in MISTAKEN.items():
        if raw.startswith(start):
            message = f"topic {first!r} would make the file look like {kind}"
            raise InputError(f"{what}: {message}: rename it")


def _check_documents(held: Run | Qrels, what: str) -> None:
    offsets = held.documents.offsets
    odd = np.flatnonzero(held.documents.data[offsets[0] : offsets[-1]] <= _SPACE)
    empty = np.flatnonzero(np.diff(offsets) == 0)
    if not len(odd) and not len(empty):
        return
    if len(empty):
        row = int(empty[0])
    else:
        row = int(np.searchsorted(offsets, offsets[0] + odd[0], side="right")) - 1
    topic = held.topics[int(np.searchsorted(held.blocks, row, side="right")) - 1]
    where = f"{what}: document {held.documents[row]!r} of topic {topic!r}"
    _check_name(held.documents[row], where, "rename it")


def write_scores(scores: Scores, path: PathLike, *, wide: bool = False) -> None:
    """Write scores whole or not at all: Parquet if the name ends so, else CSV.

    Parameters
    ----------
    scores : Scores
    path : path
        Parquet keeps what is known about runs and topics, and the version, settings and hashes of
        the files behind it.
    wide : bool
        Whether to write one measure with topics down and runs across.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import steadyrank as sr
    >>> scores = sr.Scores(measures=["AP"], runs=["a"], topics=["301"], values=[[[0.5]]])
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> sr.write_scores(scores, file)
    >>> file.read_text().splitlines()
    ['measure,run,topic,value', 'AP,a,301,0.5']
    """
    path = Path(path)
    if path.suffix == ".parquet":
        _write_parquet(scores, path)
    elif path.suffix in (".csv", ".txt", ""):
        write_whole(path, wide_csv(scores) if wide else long_csv(scores))
    else:
        raise unknown_name("kind of score file", path.suffix, [".csv", ".parquet"])


def long_csv(scores: Scores) -> str:
    """Return one line per cell: measure,run,topic,value; numbers in full, missing ones empty."""
    from steadyrank.data.facets import facets_of

    measures, runs, topics = (list(map(csv_cell, names)) for names in scores.labels)
    facets = [name for name in facets_of(scores) if all(scores.run_info[name])]
    if facets:
        columns = [scores.run_info[name] for name in (*facets, "system")]
        runs = [",".join(map(csv_cell, cells)) for cells in zip(*columns, strict=True)]
    lines = [",".join(["measure", *facets, "run,topic,value\n"])]
    for measure, matrix in zip(measures, scores.values, strict=True):
        for run, row in zip(runs, matrix.tolist(), strict=True):
            cells = zip(topics, row, strict=True)
            lines += [f"{measure},{run},{topic},{_text(value)}\n" for topic, value in cells]
    return "".join(lines)


def wide_csv(scores: Scores) -> str:
    """One measure: one line per topic, one column per run."""
    if len(scores.measures) != 1:
        raise InputError(
            f"a wide file holds one measure, not {', '.join(scores.measures)}: choose one, or "
            "write the long format"
        )
    columns = zip(scores.topics, scores.values[0].T.tolist(), strict=True)
    rows = (csv_line([topic, *map(_text, column)]) for topic, column in columns)
    return csv_line(["topic", *scores.runs]) + "".join(rows)


def _text(value: float) -> str:
    return "" if value != value else repr(value)


def _write_parquet(scores: Scores, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    own: dict[str, Any] = {"meta": with_hashes(scores.meta)}
    own |= {key: getattr(scores, key) for key in INFO}
    places = np.indices(scores.values.shape, dtype=np.int32).reshape(3, -1)
    names = {
        axis: pa.DictionaryArray.from_arrays(place, list(map(reversible, labels)))
        for axis, place, labels in zip(AXES, places, scores.labels, strict=True)
    }
    table = pa.table({**names, "value": pa.array(scores.values.ravel())})
    table = table.replace_schema_metadata({METADATA: json.dumps(own).encode()})
    with whole_file(path) as temporary:
        pq.write_table(table, temporary, write_page_checksum=True)
