"""The built-in collection: docstrings as documents, with topics and judgments.

For anyone who wants to try a study on real text without fetching any: documents are docstrings of
Python and of four packages, topics are what programmers look for, and judgments name documents as
users name functions. All are files in this folder; the judgments are in the demo's track.
"""

from __future__ import annotations

import functools
import json
import lzma
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steadyrank.data.qrels import Qrels
from steadyrank.data.read.run_files import read_qrels
from steadyrank.data.track.shipped import SHIPPED

BUILTIN = "builtin"
"""The name of the collection; a folder of this name is ./builtin."""

SCIENTIFIC = ("arrays", "plots", "science", "statistics", "tables")
"""Areas whose topics ask about scientific packages."""

DATA = Path(__file__).parent
"""The folder of the documents, topics and systems."""


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
    second_qrels: Qrels
    """What a second judge said of a sample of the same documents."""
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


def builtin_collection() -> BuiltinCollection:
    """Return the collection that comes with steadyrank: documents, topics and judgments.

    Documents are the docstrings of Python's standard library, numpy, scipy, pandas and matplotlib
    in the versions that `manifest` names, under public names such as `json.dumps`. They are the
    same on every machine. In `grid` and `shard`, the collection's name is `builtin`.

    Returns
    -------
    BuiltinCollection
        Documents, topics and judgments.

    Examples
    --------
    >>> import steadyrank as sr
    >>> len(sr.builtin_collection().topics)
    60
    """
    needs = builtin_needs()
    return BuiltinCollection(
        documents=builtin_documents(),
        topics={need.id: need.title for need in needs},
        needs=needs,
        qrels=builtin_qrels(),
        second_qrels=read_qrels(SHIPPED / "second-judge.txt"),
        manifest=json.loads((DATA / "manifest.json").read_text("utf-8")),
    )


def is_builtin(source: object) -> bool:
    """Return whether a name is that of the built-in collection.

    >>> is_builtin("builtin"), is_builtin("./builtin")
    (True, False)
    """
    return isinstance(source, str) and source == BUILTIN


@functools.cache
def builtin_documents() -> Mapping[str, str]:
    """Return the documents of the built-in collection, each name with its text."""
    documents: dict[str, str] = json.loads(
        lzma.decompress((DATA / "documents.json.xz").read_bytes())
    )
    return documents


def builtin_qrels() -> Qrels:
    """Return the judgments of the built-in collection."""
    return read_qrels(SHIPPED / "qrels.txt")


def builtin_needs() -> tuple[Need, ...]:
    """Return the topics of the built-in collection in full."""
    lines = (DATA / "topics.jsonl").read_text("utf-8").splitlines()
    return tuple(Need(**json.loads(line)) for line in lines)


def builtin_topics(fields: Iterable[str]) -> dict[str, str]:
    """Each topic's text of the fields of `Need` that are named, one after the other."""
    names = list(fields)
    return {need.id: " ".join(getattr(need, name) for name in names) for need in builtin_needs()}
