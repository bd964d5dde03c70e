"""`Run`: what one system returned, topic by topic, in trec_eval's order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from steadyrank.data.ids import Ids, make_ids
from steadyrank.data.order import group_by_topic, rank_blocks, repeated_rows
from steadyrank.errors import InputError, arg, check_choice, unknown_name
from steadyrank.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from steadyrank.data.frames import Tool

Duplicates = Literal["error", "first", "best"]
LONG_LINES = "lines with more fields than expected, the rest ignored"
OTHER_TAGS = "lines whose tag differs from the first"
OTHER_RUNS = "rows whose run differs from the first"
INFINITE_SCORES = "infinite scores"
REPEATED_DOCUMENTS = "repeated documents dropped"
REPEATED_JUDGMENTS = "judgments repeated with the same grade"

_ADVICE: Mapping[str, str] = {
    OTHER_TAGS: "the first tag names the run",
    OTHER_RUNS: "the first one names the run",
    INFINITE_SCORES: "they rank first or last",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """A run: for each topic one contiguous block of documents, best first.

    Topic `topics[t]` owns rows `blocks[t]` to `blocks[t + 1]` of `documents` and `scores`.
    Documents are ordered by score descending, then by id descending as bytes, whatever the file's
    rank column said.

    Examples
    --------
    >>> import steadyrank as sr
    >>> run = sr.run_from_dict({"301": {"d1": 2.0, "d2": 3.0}}, name="mine")
    >>> run.name, run.ranking("301")
    ('mine', [('d2', 3.0), ('d1', 2.0)])
    """

    name: str
    topics: tuple[str, ...]
    blocks: np.ndarray
    documents: Ids
    scores: np.ndarray
    source: Path | None = None
    info: Mapping[str, str] = field(default_factory=dict)
    """What is known about the run: `team`, `system`, factors."""
    oddities: Mapping[str, int] = field(default_factory=dict)
    """What reading it found odd, counted."""
    line_steps: tuple[int, int] = (0, 0)
    """How often scores fall and rise from line to line, near the top of a file of TREC text."""

    @property
    def scores_rise(self) -> bool:
        """Whether lines are in the opposite order of their scores, as distances would be."""
        falling, rising = self.line_steps
        return rising > 10 and rising > 9 * falling

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"<Run {self.name!r}: {len(self.topics)} topics, {len(self)} documents>"

    def ranking(self, topic: str) -> list[tuple[str, float]]:
        """The documents of one topic with their scores, best first."""
        if topic not in self.topics:
            raise unknown_name("topic", topic, self.topics, where=f"in run {self.name!r}")
        t = self.topics.index(topic)
        start, stop = int(self.blocks[t]), int(self.blocks[t + 1])
        names = self.documents.to_list(start, stop)
        return list(zip(names, self.scores[start:stop].tolist(), strict=True))

    def __new__(cls, *rankings: Any, **columns: Any) -> Run:
        """Answer who gives rankings: these become a run elsewhere."""
        if rankings:
            raise TypeError(f"{cls.__name__} holds columns: `sr.as_run(...)` makes one of rankings")
        return object.__new__(cls)

    def rename(self, name: str) -> Run:
        """Return the run under another name."""
        return replace(self, name=name)

    def to_frame(self, *, columns: Tool = "steadyrank") -> pd.DataFrame:
        """A row a document, under the column names that a tool expects."""
        from steadyrank.data.frames import run_frame

        return run_frame(self, columns=columns)


SCORES_RISE = (
    "scores rise from line to line, but larger is better: if they are distances or ranks, negate "
    "them"
)
"""What is wrong with a run whose scores rise."""


class RepeatedDocument(InputError):
    """A document is in two rows of a topic; the reader turns rows into a file's lines."""

    def __init__(self, who: str, what: str, remedy: str, rows: tuple[int, int]):
        self.what, self.remedy, self.rows = what, remedy, rows
        super().__init__(f"{who}: {what}: {remedy}")


def check_duplicates(duplicates: str) -> None:
    """Refuse an unknown way to treat duplicates."""
    choices = get_args(Duplicates)
    check_choice("way to treat duplicates", duplicates, choices)


def build_run(
    name: str,
    topics: list[str],
    first_rows: np.ndarray,
    documents: Ids,
    scores: np.ndarray,
    *,
    duplicates: Duplicates = "error",
    source: Path | None = None,
    info: Mapping[str, str] | None = None,
    oddities: Mapping[str, int] | None = None,
    line_steps: tuple[int, int] = (0, 0),
) -> Run:
    """A run from rows in file order: segment k holds topics[k] from row first_rows[k] on."""
    check_duplicates(duplicates)
    odd = {key: count for key, count in (oddities or {}).items() if count}
    names, blocks, order = group_by_topic(topics, first_rows, len(scores))
    if order is not None:
        documents, scores = documents.take(order), scores[order]
    firsts = repeated_rows(documents, blocks)
    if len(firsts):
        rows = np.arange(len(scores)) if order is None else order
        kept = _settle_duplicates(name, names, blocks, documents, scores, firsts, rows, duplicates)
        odd[REPEATED_DOCUMENTS] = len(scores) - len(kept)
        blocks = np.searchsorted(kept, blocks)
        documents, scores = documents.take(kept), scores[kept]
    rank_blocks(documents, scores, blocks)
    return Run(
        name=name,
        topics=tuple(names),
        blocks=blocks,
        documents=documents,
        scores=scores,
        source=source,
        info=info or {},
        oddities=odd,
        line_steps=line_steps,
    )


def _settle_duplicates(
    name: str,
    topics: list[str],
    blocks: np.ndarray,
    documents: Ids,
    scores: np.ndarray,
    firsts: np.ndarray,
    rows: np.ndarray,
    duplicates: Duplicates,
) -> np.ndarray:
    """The rows that stay: of each document its first row, or its best-scored one."""
    repeats = np.flatnonzero(firsts >= 0)
    if duplicates == "error":
        # The repeat that stands earliest in the file, which is what a reader looks for.
        row = repeats[np.argmin(rows[repeats])]
        topic = topics[int(np.searchsorted(blocks, row, side="right")) - 1]
        raise RepeatedDocument(
            f"run {name!r}",
            f"document {documents[row]!r} occurs twice in topic {topic!r}",
            f"remove one, or keep the first ({arg('duplicates', 'first')}) or the best "
            f"({arg('duplicates', 'best')})",
            (int(rows[firsts[row]]), int(rows[row])),
        )
    if duplicates == "first":
        return np.flatnonzero(firsts < 0)
    documents_of = np.where(firsts < 0, np.arange(len(scores)), firsts)
    order = np.lexsort((-scores, documents_of))  # of equal scores the first row stays in front
    return np.sort(order[np.unique(documents_of[order], return_index=True)[1]])


def as_numbers(values: Iterable[Any], what: str) -> np.ndarray:
    """Values as float64; an error that shows the first one that is no number."""
    items = list(values)
    try:
        found = np.array(items).reshape(len(items))
        if found.dtype.kind in "biuf":
            return found.astype(np.float64)
        if not any(value is None or isinstance(value, (str, bytes)) for value in items):
            return np.array(items, np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    bad = next((v for v in items if not isinstance(v, (int, float, np.number))), items[0])
    raise InputError(f"expected a number as {what}, got {bad!r}")


def topic_names(nested: Mapping[Any, Mapping[Any, Any]], what: str) -> list[str]:
    """The topics of {topic: {document: score or grade}} as text, of which no two are the same."""
    for topic, documents in nested.items() if isinstance(nested, Mapping) else [("", nested)]:
        if not isinstance(documents, Mapping):
            got = f"{type(documents).__name__}{f' for topic {topic!r}' if topic != '' else ''}"
            raise InputError(f"expected {{topic: {{document: {what}}}}}, got {got}")
    first: dict[str, Any] = {}
    for topic in nested:
        if (other := first.setdefault(str(topic), topic)) is not topic:
            message = f"topic {topic} is there twice, as {other!r} and as {topic!r}: keep one"
            raise InputError(message)
    return list(first)


def rows_of_dict(
    nested: Mapping[Any, Mapping[Any, Any]], what: str
) -> tuple[list[str], np.ndarray, Ids, np.ndarray]:
    """Topics, their first rows, documents and values of {topic: {document: score or grade}}."""
    names = topic_names(nested, what)
    sizes = [len(documents) for documents in nested.values()]
    return (
        names,
        np.cumsum([0, *sizes], dtype=np.int64)[:-1],
        make_ids(document for documents in nested.values() for document in documents),
        as_numbers((v for documents in nested.values() for v in documents.values()), what),
    )


def run_from_dict(
    rankings: Mapping[str, Mapping[str, float]], *, name: str, duplicates: Duplicates = "error"
) -> Run:
    """A run from nested dictionaries.

    Parameters
    ----------
    rankings : mapping
        `{topic: {document: score}}`.
    name : str
        The run's.
    duplicates : str
        As in `read_run`.

    Returns
    -------
    Run
        The run, its documents ranked.

    Examples
    --------
    >>> run_from_dict({"301": {"d1": 2.0, "d2": 3.0}}, name="demo").ranking("301")
    [('d2', 3.0), ('d1', 2.0)]
    """
    names, first_rows, documents, scores = rows_of_dict(rankings, "score")
    if np.isnan(scores).any():
        raise InputError(f"run {name!r}: a score is NaN, so its rank is undefined")
    return build_run(name, names, first_rows, documents, scores, duplicates=duplicates)


def counted_oddity(what: str, count: int) -> str:
    """How often something odd was seen.

    >>> counted_oddity(INFINITE_SCORES, 1), counted_oddity(OTHER_TAGS, 2)
    ('1 infinite score', '2 lines whose tag differs from the first')
    """
    return counted(count, re.sub("(line|row|score|document|judgment)s", r"\1", what, count=1), what)


def oddity_warning(what: str, count: int) -> str:
    """Return the oddities, each with what was done about it.

    >>> oddity_warning(INFINITE_SCORES, 2)
    '2 infinite scores (they rank first or last)'
    """
    advice = f" ({_ADVICE[what]})" if what in _ADVICE else ""
    return counted_oddity(what, count) + advice
