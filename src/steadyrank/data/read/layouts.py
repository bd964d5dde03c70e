"""Which columns a text file of runs or judgments has; its first lines say so, not its name.

TREC's run (six columns) and qrels (four), the three columns of BEIR's qrels, with their header,
and of MS MARCO's runs; comment lines may come first, and may hold what ir_metadata says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from steadyrank.data.interop.frames import DOCUMENT_NAMES, TOPIC_NAMES, VALUE_NAMES
from steadyrank.data.read import lines
from steadyrank.data.read.limits import BOM
from steadyrank.errors import FormatError

_LONGEST_PIECE = 1 << 16
LONGEST_OPENING = 1 << 20
"""Bytes of comments and blank lines in which the first line with fields is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The columns of a text file, as the kernel and as people know them."""

    code: int
    is_run: bool
    fields: str
    shortest: int
    """Bytes of the shortest line with so many fields; bounds the rows of a chunk."""

    @property
    def n_fields(self) -> int:
        """How many columns there are."""
        return len(self.fields.split())


RUN = Layout(code=lines.RUN, is_run=True, fields="topic Q0 document rank score tag", shortest=12)
QRELS = Layout(code=lines.QRELS, is_run=False, fields="topic iteration document grade", shortest=8)
SHORT_RUN = Layout(code=lines.THREE_COLUMNS, is_run=True, fields="topic document score", shortest=6)
SHORT_QRELS = Layout(
    code=lines.THREE_COLUMNS, is_run=False, fields="topic document grade", shortest=6
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a text file begins: its comments, its layout, and the header if it has one."""

    comments: Sequence[str]
    layout: Layout
    first: Sequence[str]
    """The fields of the first line that is no comment."""
    header: Sequence[str] = ()
    start: int = 0
    stop: int = 0
    """The bytes of the header."""


def read_opening(stream: BinaryIO, *, is_run: bool) -> Opening:
    """The beginning of an opened text file, which stands at its own beginning again."""
    comments: list[str] = []
    start, stop, line = 0, 0, b""
    while piece := stream.readline(_LONGEST_PIECE):
        line = piece.removeprefix(BOM) if start == 0 else piece
        content = line.strip()
        stop = start + len(piece)
        if content and not content.startswith(b"#"):
            break
        if start > LONGEST_OPENING:
            line = b""
            break  # The rest is the kernel's, which is faster at finding nothing.
        if content:
            comments.append(content.decode("utf-8", "surrogateescape"))
        start, line = stop, b""
    stream.seek(0)
    fields = line.decode("utf-8", "surrogateescape").split()
    short, whole = (SHORT_RUN, RUN) if is_run else (SHORT_QRELS, QRELS)
    if _is_header(fields, is_run):
        return Opening(
            comments=comments, layout=short, first=fields, header=fields, start=start, stop=stop
        )
    is_short = len(fields) == 3 and _is_number(fields[2])
    return Opening(comments=comments, layout=short if is_short else whole, first=fields)


def _is_number(text: str) -> bool:
    """Whether a field may be a score; without one, three fields are a line that was cut."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def first_tag(stream: BinaryIO) -> str:
    """The tag of the first line of an opened run file; nothing where it has none."""
    opening = read_opening(stream, is_run=True)
    return opening.first[-1] if len(opening.first) == RUN.n_fields else ""


def is_of_run(fields: Sequence[str]) -> bool:
    """Whether a line can only be one of a TREC run, which read as judgments has ranks for grades.

    >>> is_of_run("301 Q0 d1 1 9.5 bm25".split()), is_of_run("301 Q0 d1 1".split())
    (True, False)
    """
    return len(fields) >= RUN.n_fields and fields[1].upper() == "Q0" and _is_number(fields[4])


def _is_header(fields: Sequence[str], is_run: bool) -> bool:
    """Whether the three fields of a line name the columns: query-id, corpus-id, score.

    >>> _is_header(["query-id", "corpus-id", "score"], False), _is_header(["q1", "d1", "1"], False)
    (True, False)
    """
    if len(fields) != 3:
        return False
    values = (*VALUE_NAMES["score"], "rank") if is_run else VALUE_NAMES["relevance"]
    topic, document, value = (field.lower().replace("-", "_") for field in fields)
    return topic in TOPIC_NAMES and document in (*DOCUMENT_NAMES, "corpus_id") and value in values


def scores_of_short_run(
    path: Path, values: np.ndarray, topics: Sequence[str], firsts: Sequence[int], opening: Opening
) -> np.ndarray:
    """The third column of a run as scores: MS MARCO's runs have ranks there, others scores.

    A header says which. Without one, numbers that are not all whole, or never rise within a
    topic, are scores; whole numbers that count up from 0 or 1 are ranks; the rest is refused.
    """
    if opening.header:
        return -values if opening.header[2].lower() == "rank" else values
    if (values != np.floor(values)).any():
        return values
    new = [k == 0 or topics[k] != topics[k - 1] for k in range(len(topics))]
    starts = np.zeros(len(values), bool)
    starts[[row for row, is_new in zip(firsts, new, strict=True) if is_new]] = True
    steps = np.diff(values)[~starts[1:]]
    if (steps > 0).all() and np.isin(values[starts], (0, 1)).all():
        return -values
    if (steps <= 0).all():
        return values
    raise FormatError(
        path,
        "the third column may hold ranks or scores: name it 'rank' or 'score' in a header "
        "(query-id, corpus-id, score), or write TREC's six columns",
        1,
    )
