"""`Qrels`: which documents were judged for which topic, and with which grade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, kernel, words_alike
from steadyrank.data.ids import Ids, same_bytes
from steadyrank.data.order import group_by_topic, repeated_rows
from steadyrank.data.run import REPEATED_JUDGMENTS, RepeatedDocument, rows_of_dict
from steadyrank.errors import InputError, unknown_name

if TYPE_CHECKING:
    import pandas as pd

    from steadyrank.data.frames import Tool

SMALLEST_GRADE, LARGEST_GRADE = -5, 100
"""What lies outside is a score of a run; gains of 2^grade must stay finite as well."""

NOT_A_GRADE = f"expected a whole number from {SMALLEST_GRADE} to {LARGEST_GRADE} as grade"


def are_grades(values: np.ndarray) -> np.ndarray:
    """Return which of the numbers are valid grades."""
    inside = (values >= SMALLEST_GRADE) & (values <= LARGEST_GRADE)
    return np.asarray(inside & (values == np.floor(values)))


# A topic's table is a row of buckets of eight slots, one cache line each. A slot holds the
# row within the topic plus one in its low bits, and bits of the document's hash above. A
# full bucket overflows into the next.
BUCKET = 8
ROW_BITS = 24
_ROW = WORD((1 << ROW_BITS) - 1)
_TAG = ~_ROW


@inlined
def _bucket(code, n_buckets):
    """The bucket of a hash, from its low half: the tag is its high part."""
    return np.int64(((code & WORD(0xFFFFFFFF)) * WORD(n_buckets)) >> WORD(32))


@inlined
def _next_slot(slot, size):
    return slot + 1 if slot + 1 < size else 0


@kernel
def _fill_slots(hashes, blocks, bounds, slots):
    for t in range(len(blocks) - 1):
        low, size = bounds[t], bounds[t + 1] - bounds[t]
        for i in range(blocks[t], blocks[t + 1]):
            slot = BUCKET * _bucket(hashes[i], size // BUCKET)
            while slots[low + slot] != WORD(0):
                slot = _next_slot(slot, size)
            slots[low + slot] = (hashes[i] & _TAG) | WORD(i - blocks[t] + 1)


@inlined
def judged_row(text, begin, end, code, data, offsets, first, slots, low, high):
    """The row of a document, text[begin:end], in the qrels, or -1 if it is not judged."""
    size = high - low
    slot = BUCKET * _bucket(code, size // BUCKET)
    alike = words_alike(slots, low + slot, code, _TAG)
    if alike == WORD(0) and slots[low + slot + BUCKET - 1] == WORD(0):
        return np.int64(-1)
    while slots[low + slot] != WORD(0):
        if (slots[low + slot] ^ code) & _TAG == WORD(0):
            row = first + np.int64(slots[low + slot] & _ROW) - 1
            if same_bytes(text, begin, end, data, offsets[row], offsets[row + 1]):
                return row
        slot = _next_slot(slot, size)
    return np.int64(-1)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRun:
    """Where a run's judged documents stand, for the topics of the qrels.

    The judged (or only the relevant) documents of topic t are entries `blocks[t]` to
    `blocks[t + 1]` of `ranks` and `rows` (of the qrels). `lengths[t]` is the length of the
    ranking, or -1 where the run lacks the topic.
    """

    blocks: np.ndarray
    ranks: np.ndarray
    rows: np.ndarray
    lengths: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class Qrels:
    """Judgments: topic `topics[t]` owns rows `blocks[t]` to `blocks[t + 1]`.

    Examples
    --------
    >>> import steadyrank as sr
    >>> qrels = sr.qrels_from_dict({"301": {"d1": 1, "d2": 0}, "302": {"d1": 2}})
    >>> qrels.topics, qrels.judgments("302")
    (('301', '302'), {'d1': 2})
    """

    topics: tuple[str, ...]
    blocks: np.ndarray
    documents: Ids
    grades: np.ndarray
    source: Path | None = None
    oddities: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.grades)

    def __repr__(self) -> str:
        return f"<Qrels: {len(self.topics)} topics, {len(self)} judgments>"

    @cached_property
    def position(self) -> dict[str, int]:
        """Index of each topic."""
        return {topic: t for t, topic in enumerate(self.topics)}

    @cached_property
    def max_grade(self) -> int:
        """The largest grade of the whole file, at least 0."""
        return max(0, int(self.grades.max(initial=0)))

    @cached_property
    def ideal(self) -> np.ndarray:
        """Every topic's grades sorted from the best down, in the topics' blocks."""
        order = np.lexsort((-self.grades, np.repeat(np.arange(len(self.topics)), self.sizes)))
        return np.ascontiguousarray(self.grades[order])

    @cached_property
    def best_grades(self) -> np.ndarray:
        """The largest grade of each topic; a topic without judgments has one below all."""
        best = np.full(len(self.topics), SMALLEST_GRADE - 1, np.int32)
        judged = self.sizes > 0
        best[judged] = self.ideal[self.blocks[:-1][judged]]
        return best

    @property
    def sizes(self) -> np.ndarray:
        """Number of judged documents of each topic."""
        return np.diff(self.blocks)

    @cached_property
    def relevant_rows(self) -> np.ndarray:
        """The rows of grade 1 and above."""
        return np.flatnonzero(self.grades >= 1)

    @cached_property
    def relevant(self) -> Qrels:
        """The documents of grade 1 and above alone: few, side by side, and quickly looked up."""
        return replace(
            self,
            blocks=np.searchsorted(self.relevant_rows, self.blocks),
            documents=self.documents.take(self.relevant_rows),
            grades=self.grades[self.relevant_rows],
        )

    @cached_property
    def slots(self) -> tuple[np.ndarray, np.ndarray]:
        """Where each topic's table begins, and the tables: open addressing, a quarter full."""
        buckets = np.maximum(1, -(-self.sizes * 4 // BUCKET))
        bounds = np.concatenate([[0], np.cumsum(buckets * BUCKET)]).astype(np.int64)
        slots = np.zeros(int(bounds[-1]) + BUCKET, np.uint64)
        slots = slots[-(slots.ctypes.data // 8) % BUCKET :]  # from the start of a cache line
        _fill_slots(self.documents.hashes, self.blocks, bounds, slots)
        return bounds, slots

    def judgments(self, topic: str) -> dict[str, int]:
        """The judged documents of one topic with their grades."""
        if topic not in self.position:
            raise unknown_name("topic", topic, self.topics, where="in the qrels")
        t = self.position[topic]
        start, stop = int(self.blocks[t]), int(self.blocks[t + 1])
        names = self.documents.to_list(start, stop)
        return dict(zip(names, self.grades[start:stop].tolist(), strict=True))

    def to_frame(self, *, columns: Tool = "steadyrank") -> pd.DataFrame:
        """A row a judgment, under the column names that a tool expects."""
        from steadyrank.data.frames import qrels_frame

        return qrels_frame(self, columns=columns)


def build_qrels(
    topics: list[str],
    first_rows: np.ndarray,
    documents: Ids,
    grades: np.ndarray,
    *,
    source: Path | None = None,
    oddities: Mapping[str, int] | None = None,
) -> Qrels:
    """Judgments from rows in file order: segment k holds topics[k] from first_rows[k] on."""
    bad = np.flatnonzero(~are_grades(grades))
    if len(bad):
        raise InputError(f"{NOT_A_GRADE}, got {grades[bad[0]]}: is this a run?")
    odd = {key: count for key, count in (oddities or {}).items() if count}
    names, blocks, order = group_by_topic(topics, first_rows, len(grades))
    rows = np.arange(len(grades)) if order is None else order
    if order is not None:
        documents, grades = documents.take(order), grades[order]
    firsts = repeated_rows(documents, blocks)
    if len(firsts):
        repeats = np.flatnonzero(firsts >= 0)
        contrary = repeats[grades[repeats] != grades[firsts[repeats]]]
        if len(contrary):
            row = contrary[np.argmin(rows[contrary])]
            topic = names[int(np.searchsorted(blocks, row, side="right")) - 1]
            raise RepeatedDocument(
                "qrels",
                f"document {documents[row]!r} is judged twice in topic {topic!r}, with different "
                "grades",
                "remove one of the two lines",
                (int(rows[firsts[row]]), int(rows[row])),
            )
        odd[REPEATED_JUDGMENTS] = len(repeats)
        kept = np.flatnonzero(firsts < 0)
        blocks = np.searchsorted(kept, blocks)
        documents, grades = documents.take(kept), grades[kept]
    if len(blocks) > 1 and np.diff(blocks).max() >= 1 << ROW_BITS:
        raise InputError(f"a topic has {np.diff(blocks).max()} judgments: more than 16 million")
    return Qrels(
        topics=tuple(names),
        blocks=blocks,
        documents=documents,
        grades=grades.astype(np.int32),
        source=source,
        oddities=odd,
    )


def qrels_from_dict(judgments: Mapping[str, Mapping[str, int]]) -> Qrels:
    """Judgments from nested dictionaries.

    Parameters
    ----------
    judgments : mapping
        `{topic: {document: grade}}`.

    Returns
    -------
    Qrels
        The judgments.

    Examples
    --------
    >>> qrels_from_dict({"301": {"d1": 2, "d2": 0}}).judgments("301")
    {'d1': 2, 'd2': 0}
    """
    return build_qrels(*rows_of_dict(judgments, "grade"))
