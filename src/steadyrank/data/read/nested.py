"""Runs and judgments as one JSON object, `{topic: {document: score}}`: BEIR, ranx, pytrec_eval.

A kernel reads plain files as fast as TREC text. All others, and all defects, go through
Python's own `json`, which is slower and says what is wrong and where.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from steadyrank.data.ids import PADDING, Ids, make_ids
from steadyrank.data.interop.frames import Columns, check_name, value_problem
from steadyrank.data.oddities import INFINITE_SCORES
from steadyrank.data.qrels import LARGEST_GRADE
from steadyrank.data.read import nested_kernels
from steadyrank.data.read.json_text import Members, as_text, describe, key_lines, members_of
from steadyrank.data.read.limits import BOM
from steadyrank.data.read.sources import open_bytes
from steadyrank.errors import FormatError

TOPICS, DOCUMENTS = 1, 2
"""How deep the names of topics and of documents stand."""


def read_nested(path: Path, stream: BinaryIO, value: str) -> Columns:
    """The rows of an opened JSON file, `value` being score or relevance."""
    content = stream.read().removeprefix(BOM)
    columns = _read_plain(content) or _read_any(path, content, value)
    _check_topics(path, content, columns.topics)
    if len(columns.values) == 0:
        raise FormatError(path, "empty: no topic has a document")
    if value == "relevance":
        _check_grades(path, content, columns.values)
    columns.oddities[INFINITE_SCORES] = int(np.isinf(columns.values).sum())
    return columns


def line_of_document(path: Path, row: int) -> int:
    """The line of the document that stands at `row`, counted over all topics."""
    with open_bytes(path) as stream:
        return key_lines(as_text(stream.read().removeprefix(BOM)), DOCUMENTS)[row]


def _read_plain(content: bytes) -> Columns | None:
    """The columns of a file without escapes and defects; None of any other."""
    rows, topics = content.count(b":"), content.count(b"{")
    values, hashes = np.empty(rows), np.empty(rows, np.uint64)
    offsets = np.zeros(rows + 1, np.int64)
    ids = np.empty(len(content) + PADDING, np.uint8)
    segments, hard = np.empty((topics, 3), np.int64), np.empty((rows, 3), np.int64)
    state = np.zeros(3, np.int64)
    data = np.frombuffer(content + bytes(PADDING), np.uint8)
    is_plain = nested_kernels.parse_nested(
        data, len(content), values, hashes, offsets, ids, segments, hard, state
    )
    if not is_plain:
        return None
    n_rows, n_topics, n_hard = state.tolist()
    for row, start, stop in hard[:n_hard].tolist():
        values[row] = float(content[start:stop])
    firsts, starts, stops = segments[:n_topics].T
    return Columns(
        [as_text(content[a:b]) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)],
        firsts.copy(),
        Ids(ids[: offsets[n_rows] + PADDING], offsets[: n_rows + 1], hashes[:n_rows]),
        values[:n_rows],
    )


def _read_any(path: Path, content: bytes, value: str) -> Columns:
    """The same by Python's own `json`; what is wrong is an error with its line."""
    topics = members_of(path, content)
    if not isinstance(topics, Members):
        expected = f"one JSON object, {{topic: {{document: {value}}}}}"
        raise FormatError(path, f"expected {expected}, got {describe(topics)}", 1)
    text = as_text(content)
    lines = key_lines(text, TOPICS)
    for (topic, documents), line in zip(topics, lines, strict=True):
        check_name(path, "topic", topic, line)
        if not isinstance(documents, Members):
            got = f"{describe(documents)} for topic {topic[:40]!r}"
            raise FormatError(path, f"expected {{document: {value}}}, got {got}", line)
    rows = [entry for _, documents in topics for entry in documents]
    _check_rows(path, text, rows, value)
    sizes = [len(documents) for _, documents in topics]
    return Columns(
        [topic for topic, _ in topics],
        np.cumsum([0, *sizes[:-1]]),
        make_ids(document for document, _ in rows),
        np.array([number for _, number in rows], np.float64),
    )


def _check_rows(path: Path, text: str, rows: list[tuple[str, Any]], value: str) -> None:
    lines = key_lines(text, DOCUMENTS)
    for (document, number), line in zip(rows, lines, strict=False):
        check_name(path, "document", document, line)
        if isinstance(number, Members):
            message = f"expected a number as {value}, got an object: give a file for each run"
            raise FormatError(path, message, line)
        problem = value_problem(number, value)
        if number != number and value == "score":
            problem = "the score is NaN, so its rank is undefined"
        if problem:
            raise FormatError(path, problem, line)


def _check_topics(path: Path, content: bytes, topics: list[str]) -> None:
    """Refuse a topic that occurs twice: which of the two was meant, nobody can say."""
    if not topics:
        raise FormatError(path, "empty: no topics")
    if len(set(topics)) == len(topics):
        return
    place = next(k for k, topic in enumerate(topics) if topic in topics[:k])
    line = key_lines(as_text(content), TOPICS)[place]
    raise FormatError(path, f"topic {topics[place]!r} occurs twice: keep one", line)


def _check_grades(path: Path, content: bytes, grades: np.ndarray) -> None:
    bad = np.flatnonzero((grades != np.floor(grades)) | (np.abs(grades) > LARGEST_GRADE))
    if len(bad):
        row = int(bad[0])
        line = key_lines(as_text(content), DOCUMENTS)[row]
        raise FormatError(path, value_problem(float(grades[row]), "relevance"), line)
