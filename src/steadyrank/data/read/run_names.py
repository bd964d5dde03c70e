"""Names of runs that share one: found in the first lines of their files, before any is read.

Many files say nothing useful in their tag column ("run", "Anserini"), and two runs of one name
would overwrite each other. These are then named by their files.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from steadyrank.data.interop.frames import first_run_name
from steadyrank.data.read.layouts import first_tag
from steadyrank.data.read.sources import base_name, kind_of, open_bytes
from steadyrank.errors import InputError, SteadyrankWarning
from steadyrank.words import counted


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
        _warn(shared, names, apart)
    return apart


def first_name(path: Path) -> str:
    """What a file calls its run, by its first line; nothing where it does not say or is broken."""
    try:
        with open_bytes(path) as stream:
            kind = kind_of(stream)
            if kind == "text":
                return first_tag(stream)
            return "" if kind == "json" else first_run_name(path, stream, kind)
    except (InputError, OSError):
        return ""  # Whoever reads the file will say what is wrong with it.


def _shared(names: Mapping[Path, str]) -> list[Path]:
    counts = Counter(names.values())
    return [path for path, name in names.items() if counts[name] > 1]


def _path_name(path: Path, others: Sequence[Path]) -> str:
    """The end of a file's path that no other file has, with its folders."""
    folders = path.absolute().parts[:-1]
    for depth in range(1, len(folders) + 1):
        end = folders[-depth:]
        same = [o for o in others if o.absolute().parts[:-1][-depth:] == end]
        if len([o for o in same if base_name(o) == base_name(path)]) == 1:
            return "/".join([*end, base_name(path)])
    return path.name  # a.run and a.run.gz in one folder


def _warn(shared: Sequence[Path], names: Mapping[Path, str], apart: Mapping[Path, str]) -> None:
    first = names[shared[0]]
    where = [apart[path] for path in shared if names[path] == first]
    who = counted(len(shared), "run")
    message = (
        f"{who} have the same names as others (first {first!r}, of {where[0]} and {where[1]}): "
        "they are named by their files"
    )
    warnings.warn(message, SteadyrankWarning, stacklevel=4)
