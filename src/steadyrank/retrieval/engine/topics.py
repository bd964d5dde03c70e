"""What topics ask for, as text: titles, and for whoever wants longer queries, the other fields."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from steadyrank.data.read import datasets
from steadyrank.data.read.sources import PathLike, open_bytes
from steadyrank.errors import FormatError, InputError, check_choice
from steadyrank.retrieval.builtin.collection import builtin_topics, is_builtin
from steadyrank.retrieval.engine.tokens import decoded

TOPIC_FIELDS = ("title", "desc", "narr")
_IRDS_FIELDS = {"title": "title", "desc": "description", "narr": "narrative"}
_BUILTIN_FIELDS = {"title": "title", "desc": "description", "narr": "relevant"}

_TOP = re.compile(r"<top>", re.IGNORECASE)
_FIELD = r"<{}\b[^<>]*>\s*(?:(?:topic|description|narrative)\s*:)?([^<]*)"


def read_topics(
    source: PathLike | Mapping[str, str], *, fields: Iterable[str] = ("title",)
) -> dict[str, str]:
    """Topics, each id with its text: from a file `id<TAB>text`, TREC's topics, `irds:NAME`, or
    `builtin`.

    `fields` are those of TREC's topics whose text is taken: title, desc and narr. A topic file of
    tabs has titles only.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "topics.txt"
    >>> _ = file.write_text(
    ...     "<top>\\n<num> Number: 301\\n<title> crime\\n<desc> Description:\\nWho?\\n</top>\\n"
    ... )
    >>> read_topics(file), read_topics(file, fields=["title", "desc"])
    ({'301': 'crime'}, {'301': 'crime Who?'})
    """
    if isinstance(source, Mapping):
        return {str(name): text for name, text in source.items()}
    fields = tuple(fields)
    for field in fields:
        check_choice("topic field", field, TOPIC_FIELDS)
    if not fields:
        raise InputError(f"name at least one topic field of {', '.join(TOPIC_FIELDS)}")
    if is_builtin(source):
        return builtin_topics(_BUILTIN_FIELDS[field] for field in fields)
    titles = datasets.read_topics(source)
    if fields == ("title",):
        return titles
    if datasets.is_dataset(source):
        return _dataset_topics(os.fspath(source), fields)
    return dict(zip(titles, _trec_texts(Path(source), fields), strict=True))


def _dataset_topics(dataset: str, fields: tuple[str, ...]) -> dict[str, str]:
    import ir_datasets  # it is there: it gave the titles

    names = [_IRDS_FIELDS[field] for field in fields]
    queries: Iterable[Any] = ir_datasets.load(dataset.removeprefix(datasets.PREFIX)).queries_iter()
    topics = {}
    for query in queries:
        lacking = [name for name in names if not hasattr(query, name)]
        if lacking:
            raise InputError(f"{dataset}: its topics have no {lacking[0]}: use title alone")
        topics[str(query.query_id)] = " ".join(getattr(query, name) for name in names)
    return topics


def _trec_texts(path: Path, fields: tuple[str, ...]) -> Iterable[str]:
    """The fields of each topic in a file that `read_topics` could read."""
    with open_bytes(path) as stream:
        text = decoded(stream.read())
    starts = [match.start() for match in _TOP.finditer(text)]
    if not starts:
        raise FormatError(path, "topics of id<TAB>text have no desc or narr: use title alone")
    for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
        matches = (re.search(_FIELD.format(field), text[start:stop], re.I) for field in fields)
        yield " ".join(" ".join(match[1].split()) for match in matches if match)
