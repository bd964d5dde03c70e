"""Topics and judgments by name: from ir_datasets, or from a file of topics.

`irds:vaswani` is the dataset `vaswani` of the package ir_datasets (extra
`steadyrank[ir]`), which fetches what it needs. Topic files are tab-separated, or
TREC's with their `<top>`, `<num>` and `<title>`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from steadyrank.data.interop.objects import as_qrels
from steadyrank.data.interop.tables import TOPIC_NAMES
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.sources import PathLike, open_bytes
from steadyrank.data.read.streams import inner_mark
from steadyrank.errors import FormatError, InputError, MachineError, unknown_name

PREFIX = "irds:"
_HEADER_TEXTS = ("text", "query", "title")

# Tags that matter; any tag ends the field before it. TREC-4 has no titles, the
# microblog tracks have queries instead.
_TOP = re.compile(r"<top>", re.IGNORECASE)

# Neither pattern may look at a place twice, or long files of blanks or open tags take for ever.
_LINE_OF_TOP = re.compile(r"^[^\S\n]*<top>", re.IGNORECASE | re.MULTILINE)
_TAG = re.compile(r"<(/?)(\w[\w-]*)(?![\w-])[^<>]*>")
_TITLES = ("title", "query", "desc")

_LABELS = {
    "num": re.compile(r"^\s*number\s*:", re.IGNORECASE),
    "title": re.compile(r"^\s*topic\s*:", re.IGNORECASE),
    "desc": re.compile(r"^\s*description\s*:?", re.IGNORECASE),
}


def is_dataset(source: object) -> bool:
    """Whether a name is a dataset of ir_datasets."""
    return isinstance(source, str) and source.startswith(PREFIX)


def load_qrels(dataset: str) -> Qrels:
    """The judgments of a dataset of ir_datasets, such as `irds:vaswani`."""
    held = load_dataset(dataset, "qrels")
    judgments = _fetched(dataset, "judgments", held.qrels_iter())
    try:
        return as_qrels(judgments)
    except InputError as error:
        raise InputError(f"{dataset}: {error}") from None


def load_topics(dataset: str) -> dict[str, str]:
    """The topics of a dataset of ir_datasets: each id with its default text or title."""
    held = load_dataset(dataset, "queries")
    queries = _fetched(dataset, "topics", held.queries_iter())
    return {str(query.query_id): _text_of(query) for query in queries}


def read_topics(source: PathLike) -> dict[str, str]:
    """Topics, each id with its text.

    Parameters
    ----------
    source : path
        `irds:DATASET`, or a file, plain or gzip: with lines `id<TAB>text`, or TREC's: `<top>`,
        `<num> Number: 301`, `<title>`, closed or not, on one line or several. Without a title the
        description is taken.

    Returns
    -------
    dict of str
        Topic to text.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "topics.txt"
    >>> _ = file.write_text("<top>\\n<num> Number: 301\\n<title> organized crime\\n</top>\\n")
    >>> read_topics(file)
    {'301': 'organized crime'}
    """
    if is_dataset(source):
        return load_topics(os.fspath(source))
    path = Path(source)
    text = _decoded(path)
    is_trec = _LINE_OF_TOP.search(text) is not None
    topics: dict[str, str] = {}
    lines: dict[str, int] = {}
    for line, name, title in _trec_topics(path, text) if is_trec else _tab_topics(path, text):
        if name in topics:
            message = f"topic {name!r} occurs twice (first on line {lines[name]}): remove one"
            raise FormatError(path, message, line)
        topics[name], lines[name] = title, line
    if not topics:
        raise FormatError(path, "empty: expected lines of id<TAB>text, or TREC topics")
    return topics


def load_dataset(dataset: str, part: str) -> Any:
    """A dataset of ir_datasets that has docs, queries or qrels, whichever `part` says."""
    try:
        import ir_datasets
    except ImportError:
        raise MachineError(
            f"{dataset} needs ir_datasets, which is not installed: pip install 'steadyrank[ir]'"
        ) from None
    name = dataset.removeprefix(PREFIX)
    try:
        held = ir_datasets.load(name)
    except KeyError:
        raise unknown_name("dataset", name, ir_datasets.registry, where="of ir_datasets") from None
    if not getattr(held, f"has_{part}")():
        what = {"qrels": "judgments", "queries": "topics", "docs": "documents"}[part]
        others = [other for other in ir_datasets.registry if other.startswith(f"{name}/")]
        also = f": try one of its parts, such as {PREFIX}{others[0]}" if others else ""
        raise InputError(f"{PREFIX}{name} has no {what}{also}")
    return held


def _fetched(dataset: str, what: str, records: Iterable[Any]) -> list[Any]:
    """The records, downloaded if need be; whatever goes wrong there, in one line."""
    try:
        return list(records)
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise MachineError(f"{dataset}: ir_datasets could not give its {what}: {reason}") from error


def _text_of(query: Any) -> str:
    return str(query.default_text() if hasattr(query, "default_text") else query[1])


def _decoded(path: Path) -> str:
    with open_bytes(path) as stream:
        raw = stream.read()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:  # as the topics of the first tracks are
        text = raw.decode("latin-1")
    if (place := text.find("\n\ufeff")) >= 0:
        raise inner_mark(path, text.count("\n", 0, place) + 2)
    return text.replace("\r\n", "\n")


def _tab_topics(path: Path, text: str) -> Iterator[tuple[int, str, str]]:
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip() or content.startswith("#"):
            continue
        if "\r" in content:
            message = "a carriage return inside a line: convert the file's line endings to newlines"
            raise FormatError(path, message, line)
        name, _, title = map(str.strip, content.partition("\t"))
        if line == 1 and name.lower() in TOPIC_NAMES and title.lower() in _HEADER_TEXTS:
            continue
        if not name or not title:
            raise FormatError(path, f"expected id<TAB>text, got {content[:40]!r}", line)
        yield line, name, title


def _trec_topics(path: Path, text: str) -> Iterator[tuple[int, str, str]]:
    starts = [match.start() for match in _TOP.finditer(text)]
    line = text.count("\n", 0, starts[0]) + 1
    for start, stop in pairwise([*starts, len(text)]):
        topic = text[start:stop]
        fields = _fields(topic)
        name = fields.get("num", "")
        if not name or len(name.split()) > 1:
            got = f"got {name[:40]!r}" if name else "got none"
            raise FormatError(path, f"expected a topic with <num> and a number, {got}", line)
        title = next((fields[tag] for tag in _TITLES if fields.get(tag)), None)
        if title is None:
            raise FormatError(path, f"topic {name!r} has no <title> and no <desc>", line)
        yield line, name, title
        line += topic.count("\n")


def _fields(topic: str) -> dict[str, str]:
    """The text behind each opening tag up to the next tag, its label and line breaks gone."""
    tags = list(_TAG.finditer(topic))
    ends = [match.start() for match in tags[1:]] + [len(topic)]
    fields: dict[str, str] = {}
    for match, end in zip(tags, ends, strict=True):
        closing, tag = match.group(1), match.group(2).lower()
        content = topic[match.end() : end]
        if tag in _LABELS:
            content = _LABELS[tag].sub("", content)
        if not closing:
            fields.setdefault(tag, " ".join(content.split()))
    return fields
