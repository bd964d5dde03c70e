"""The built-in collection: docstrings as documents, with topics and judgments.

For anyone who wants to try a study on real text without fetching any: documents are the docstrings
of Python and of packages that steadyrank needs anyhow, as installed; topics are what programmers
look for; judgments name documents as users name functions. What was read is kept in the user's
cache folder, so that only the first call with given versions takes its time.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steadyrank.compute.executors import Progress
from steadyrank.compute.files import write_whole
from steadyrank.data.qrels import Qrels, qrels_from_dict
from steadyrank.data.read.qrels import read_qrels
from steadyrank.errors import SteadyrankError
from steadyrank_lab.retrieval.builtin.docstrings import (
    PACKAGES,
    STANDARD,
    DocstringDocument,
    extract_docstrings,
)

BUILTIN = "builtin"
"""The name of the collection; a folder of this name is ./builtin."""

SCIENTIFIC = ("arrays", "plots", "science", "statistics", "tables")
"""Areas whose topics ask about scientific packages."""

# One more whenever the same packages would give other documents than before.
_FORMAT = 1
_DATA = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A topic in full: what is asked, and what counts as an answer."""

    id: str
    title: str
    description: str
    relevant: str
    """What a document must say to be of grade 2 or 1."""
    area: str
    kind: str
    """How many of the judged documents answer it in full: up to 2 (`single`), up to 9, more."""

    @property
    def origin(self) -> str:
        """Where its answers are: in the `standard` library, or in `scientific` packages."""
        return "scientific" if self.area in SCIENTIFIC else "standard"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BuiltinCollection:
    """Documents, topics and judgments that come with steadyrank.

    Examples
    --------
    >>> import steadyrank as sr
    >>> collection = sr.builtin_collection()
    >>> len(collection.topics), type(collection.qrels).__name__
    (60, 'Qrels')
    """

    documents: Mapping[str, str]
    """Each name with its text: name and signature, then the docstring."""
    topics: Mapping[str, str]
    """Each topic's title."""
    needs: tuple[Need, ...]
    qrels: Qrels
    """Judgments of documents that are there."""
    second_qrels: Qrels
    """What a second judge said of a sample of the same documents."""
    gone: tuple[str, ...]
    """Judged documents that the installed versions do not have."""
    manifest: Mapping[str, Any]
    """Versions, the number of documents of each package, and a digest of all documents."""

    @property
    def topic_info(self) -> Mapping[str, tuple[str, ...]]:
        """What is known about the topics, in their order, as `--topic-info` has it."""
        names = ("origin", "area", "kind")
        return {name: tuple(getattr(need, name) for need in self.needs) for name in names}

    def __repr__(self) -> str:
        return (
            f"<BuiltinCollection: {len(self.documents)} documents, {len(self.topics)} topics, "
            f"{len(self.qrels)} judgments>"
        )


def builtin_collection(*, progress: Progress | None = None) -> BuiltinCollection:
    """The collection that comes with steadyrank: documents, topics and judgments.

    Documents are the docstrings of Python's standard library, numpy, scipy, pandas and matplotlib
    in their installed versions, under public names such as `json.dumps`. They are read from source
    files when this is first called, which takes some seconds, and kept in the user's cache folder
    (where that cannot be written, they are read each time). Other versions have other documents:
    `manifest` says which, and `gone` which judged documents are not among them; these are not in
    `qrels`.

    In `grid` and `shard`, the collection's name is `builtin`.

    Parameters
    ----------
    progress : callable, optional
        Is given (finished, total) of the reading.

    Returns
    -------
    BuiltinCollection
        Documents, topics, judgments, and what they depend on.

    Examples
    --------
    >>> import steadyrank as sr
    >>> len(sr.builtin_collection().topics)
    60
    """
    documents = builtin_documents(progress=progress)
    qrels, gone = _judged("qrels.txt", documents)
    second_qrels, also_gone = _judged("qrels.second.txt", documents)
    needs = builtin_needs()
    return BuiltinCollection(
        documents=documents,
        topics={need.id: need.title for need in needs},
        needs=needs,
        qrels=qrels,
        second_qrels=second_qrels,
        gone=tuple(sorted(gone | also_gone)),
        manifest=_loaded(progress)[1],
    )


def is_builtin(source: object) -> bool:
    """Whether a name stands for the built-in collection.

    >>> is_builtin("builtin"), is_builtin("./builtin")
    (True, False)
    """
    return isinstance(source, str) and source == BUILTIN


def builtin_documents(*, progress: Progress | None = None) -> Mapping[str, str]:
    """The documents of the built-in collection, each name with its text."""
    return _loaded(progress)[0]


def builtin_digest() -> str:
    """A checksum of the documents."""
    return str(_loaded(None)[1]["digest"])


def builtin_qrels() -> Qrels:
    """The judgments of the built-in collection, of documents that are there."""
    return _judged("qrels.txt", builtin_documents())[0]


def builtin_needs() -> tuple[Need, ...]:
    """The topics of the built-in collection in full."""
    lines = builtin_data_file("topics.jsonl").read_text("utf-8").splitlines()
    return tuple(Need(**json.loads(line)) for line in lines)


def builtin_data_file(name: str) -> Path:
    """A file that comes with the collection."""
    return _DATA / name


def _judged(file: str, documents: Mapping[str, str]) -> tuple[Qrels, set[str]]:
    """Judgments of documents that are there, and the names of the others."""
    qrels = read_qrels(_DATA / file)
    judged = {topic: qrels.judgments(topic) for topic in qrels.topics}
    gone = {name for grades in judged.values() for name in grades if name not in documents}
    there = {
        topic: {name: grade for name, grade in grades.items() if name not in gone}
        for topic, grades in judged.items()
    }
    return (qrels_from_dict(there) if gone else qrels), gone


_Loaded = tuple[Mapping[str, str], Mapping[str, Any]]
_kept: dict[str, _Loaded] = {}


def _loaded(progress: Progress | None) -> _Loaded:
    """Documents and manifest, read once a process."""
    versions = installed_versions()
    key = hashlib.blake2b(json.dumps(versions).encode(), digest_size=8).hexdigest()
    if key not in _kept:
        _kept[key] = _read_or_make(versions, f"docstrings-{key}.zlib", progress)
    return _kept[key]


def installed_versions() -> dict[str, str]:
    """What the documents depend on: versions, and the system, as some modules are of one only."""
    own = {"format": str(_FORMAT), "system": sys.platform, STANDARD: platform.python_version()}
    return own | {package: _version(package) for package in PACKAGES}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def cache_folder() -> Path | None:
    """Where the user's programs keep what they can make again; None where there is no home."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "steadyrank"


def _read_or_make(versions: dict[str, str], file: str, progress: Progress | None) -> _Loaded:
    folder = cache_folder()
    kept = None if folder is None else _read_cache(folder / file)
    if kept is None:
        kept = extract_docstrings(progress=progress)
        if folder is not None:
            _write_cache(folder / file, kept)
    documents = {document.id: f"{document.title}\n{document.text}" for document in kept}
    return documents, _manifest(documents, versions)


def _read_cache(path: Path) -> list[DocstringDocument] | None:
    """What was kept; None where nothing was, or what is there is damaged."""
    try:
        content = zlib.decompress(path.read_bytes())  # which has a checksum of its own
        return [DocstringDocument(*row) for row in json.loads(content)] or None
    except (OSError, ValueError, TypeError, zlib.error):
        return None


def _write_cache(path: Path, documents: list[DocstringDocument]) -> None:
    """Keep the documents for the next time, where that is possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, zlib.compress(json.dumps(documents).encode(), 3))
    except (OSError, SteadyrankError):
        return  # read-only or full: then it is read from the sources each time


def _manifest(documents: Mapping[str, str], versions: dict[str, str]) -> dict[str, Any]:
    counts = Counter(map(_package, documents))
    return {
        "format": _FORMAT,
        "system": versions["system"],
        "versions": {name: versions[name] for name in (STANDARD, *PACKAGES)},
        "documents": {name: counts[name] for name in (STANDARD, *PACKAGES)},
        "digest": hashlib.blake2b(json.dumps(documents).encode(), digest_size=16).hexdigest(),
    }


def _package(name: str) -> str:
    top = name.partition(".")[0]
    return top if top in PACKAGES else STANDARD


def builtin_topics(fields: Iterable[str]) -> dict[str, str]:
    """Each topic's text of the fields of `Need` that are named, one after the other."""
    names = list(fields)
    return {need.id: " ".join(getattr(need, name) for name in names) for need in builtin_needs()}
