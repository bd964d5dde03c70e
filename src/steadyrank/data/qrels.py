"""`Qrels`: which documents were judged for which topic, and with which grade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from steadyrank.compute.kernels import (
    WORD,
    inlined,
    lean_kernel,
    trailing_zeros,
    words_alike,
)
from steadyrank.data.blocks import group_by_topic, repeated_rows
from steadyrank.data.ids import Ids, make_ids, same_bytes
from steadyrank.errors import InputError, unknown_name

if TYPE_CHECKING:
    import pandas as pd

# A topic's table is a row of buckets of eight slots, one cache line each. A slot holds,
# from the low end: the row within the topic plus one, whether the document is relevant,
# and as many bits of its hash as are left. A full bucket overflows into the next.
BUCKET = 8
ROW_BITS = 24
_ROW = WORD((1 << ROW_BITS) - 1)
_RELEVANT = WORD(1 << ROW_BITS)
_TAG = ~(_ROW | _RELEVANT)


@inlined
def _bucket(code, n_buckets):
    """The bucket of a hash, from its low half: the tag is its high part."""
    return np.int64(((code & WORD(0xFFFFFFFF)) * WORD(n_buckets)) >> WORD(32))


@lean_kernel
def _fill_slots(hashes, grades, blocks, bounds, slots):
    for t in range(len(blocks) - 1):
        low, size = bounds[t], bounds[t + 1] - bounds[t]
        for i in range(blocks[t], blocks[t + 1]):
            slot = BUCKET * _bucket(hashes[i], size // BUCKET)
            while slots[low + slot] != WORD(0):
                slot = (slot + 1) % size
            relevant = _RELEVANT if grades[i] > 0 else WORD(0)
            slots[low + slot] = (hashes[i] & _TAG) | relevant | WORD(i - blocks[t] + 1)


@lean_kernel
def _probe_on(slots, low, high, slot, code):
    """The slot of a document whose own bucket was full, or -1."""
    while slots[low + slot] != WORD(0):
        if (slots[low + slot] ^ code) & _TAG == WORD(0):
            return slot
        slot = (slot + 1) % (high - low)
    return -1


@lean_kernel
def find_judged(
    run_data, run_offsets, run_hashes, start, stop, data, offsets, first, slots, low, high,
    ranks, rows, place,
):  # fmt: skip
    """Where the judged documents of one topic stand in one ranking.

    Looks the run's rows start:stop up in the topic's table slots[low:high]; for each
    hit writes rank and qrels row from `place` on, and returns how many; `ranks` and
    `rows` need room for one more. The bytes are compared only for relevant documents:
    for the others nothing but Judged@k could change, and 39 bits of hash agree by
    chance once in 10^11 look-ups.
    """
    # Whether a document is judged cannot be predicted, so nothing branches on it: every
    # document is written down, and the list's end advanced only where there is a hit.
    n_buckets = (high - low) // BUCKET
    end = place
    for i in range(start, stop):
        code = run_hashes[i]
        bucket = BUCKET * _bucket(code, n_buckets)
        alike = words_alike(slots, low + bucket, code, _TAG)
        slot = bucket + np.int64(trailing_zeros(alike | WORD(1 << BUCKET)))
        hit = np.int64(alike != WORD(0))
        if (alike == WORD(0)) & (slots[low + bucket + BUCKET - 1] != WORD(0)):
            slot = _probe_on(slots, low, high, (bucket + BUCKET) % (high - low), code)
            hit = np.int64(slot >= 0)
        ranks[end] = i - start + 1
        rows[end] = slot
        end += hit
    kept = place
    for j in range(place, end):
        entry = slots[low + rows[j]]
        i, row = start + ranks[j] - 1, first + np.int64(entry & _ROW) - 1
        if entry & _RELEVANT and not same_bytes(
            run_data, run_offsets[i], run_offsets[i + 1], data, offsets[row], offsets[row + 1]
        ):
            continue
        ranks[kept] = ranks[j]
        rows[kept] = row
        kept += 1
    return kept - place


@dataclass(frozen=True, kw_only=True, eq=False)
class Qrels:
    """Judgments: topic `topics[t]` owns rows `blocks[t]` to `blocks[t + 1]`."""

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

    @property
    def sizes(self) -> np.ndarray:
        """Number of judged documents of each topic."""
        return np.diff(self.blocks)

    @cached_property
    def slots(self) -> tuple[np.ndarray, np.ndarray]:
        """One open-addressing table per topic, at most half full: (bounds, slots)."""
        buckets = np.maximum(1, -(-self.sizes * 2 // BUCKET))
        bounds = np.concatenate([[0], np.cumsum(buckets * BUCKET)]).astype(np.int64)
        slots = np.zeros(int(bounds[-1]) + BUCKET, np.uint64)
        slots = slots[-(slots.ctypes.data // 8) % BUCKET :]  # from the start of a cache line
        _fill_slots(self.documents.hashes, self.grades, self.blocks, bounds, slots)
        return bounds, slots

    def judgments(self, topic: str) -> dict[str, int]:
        """The judged documents of one topic with their grades."""
        if topic not in self.position:
            raise unknown_name("topic in the qrels", topic, self.topics)
        t = self.position[topic]
        start, stop = int(self.blocks[t]), int(self.blocks[t + 1])
        names = self.documents.to_list(start, stop)
        return dict(zip(names, self.grades[start:stop].tolist(), strict=True))

    def to_frame(self) -> pd.DataFrame:
        """Columns query_id, doc_id, relevance: one row a judgment."""
        import pandas as pd

        return pd.DataFrame(
            {
                "query_id": np.repeat(np.array(self.topics, dtype=object), self.sizes),
                "doc_id": self.documents.to_list(),
                "relevance": self.grades,
            }
        )


class ContradictingJudgments(InputError):
    """A document has two different grades; the reader turns it into a file's line."""

    def __init__(self, topic: str, document: str, first: int, second: int):
        self.topic, self.document, self.first, self.second = topic, document, first, second
        super().__init__(f"qrels: {contradiction_message(topic, document)}")


def contradiction_message(topic: str, document: str, where: str = "") -> str:
    """What to tell about a document that was judged twice, differently."""
    return (
        f"document {document!r} is judged twice in topic {topic!r}, with different grades"
        f"{where}: remove one of the two lines"
    )


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
            raise ContradictingJudgments(
                topic, documents[row], int(rows[firsts[row]]), int(rows[row])
            )
        odd["judgments repeated with the same grade"] = len(repeats)
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
    """Judgments from nested dictionaries, `{topic: {document: grade}}`.

    >>> qrels_from_dict({"301": {"d1": 2, "d2": 0}}).judgments("301")
    {'d1': 2, 'd2': 0}
    """
    topics = list(judgments)
    sizes = [len(judgments[topic]) for topic in topics]
    documents = make_ids(doc for topic in topics for doc in judgments[topic])
    grades = np.array([g for topic in topics for g in judgments[topic].values()], np.int32)
    first_rows = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if sizes else np.empty(0)
    return build_qrels(topics, first_rows.astype(np.int64), documents, grades)
