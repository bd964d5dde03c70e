"""`search`: what a model ranks first, for every topic of an index.

Scores are sums over the units of a topic in the index's order, rounded to 32 bits as trec_eval
keeps them; documents of equal score are in trec_eval's order, ids descending as bytes. A document
is ranked if it holds one of the topic's units, whatever its score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from steadyrank.data.ids import Ids, make_ids
from steadyrank.data.qrels import JudgedRun, Qrels
from steadyrank.data.run import Run
from steadyrank.errors import check_count
from steadyrank_lab.retrieval.engine.dependence import dependence_scores
from steadyrank_lab.retrieval.engine.index import Index, stretches
from steadyrank_lab.retrieval.engine.models import DEPENDENCE, Model, Occurrences, parse_model

DEPTH = 1000
TOGETHER = 6
"""Models that are computed at once: more need more memory."""

_SIGN, _HALF, _LOW = np.uint32(1 << 31), np.uint64(32), np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True, eq=False)
class DocumentOrder:
    """The ids of a collection in ascending order, and each document's place among them."""

    ids: Ids
    rank: np.ndarray

    def __len__(self) -> int:
        return len(self.rank)


def order_documents(documents: Sequence[str]) -> DocumentOrder:
    """Return the place of each document among all, ids compared as bytes.

    >>> order_documents(["d2", "d10", "d1"]).rank.tolist()
    [2, 1, 0]
    """
    raw = [document.encode("utf-8", "surrogateescape") for document in documents]
    order = sorted(range(len(raw)), key=raw.__getitem__)
    rank = np.empty(len(raw), np.uint64)
    rank[order] = np.arange(len(raw), dtype=np.uint64)
    return DocumentOrder(make_ids(raw[i] for i in order), rank)


class Wanted(NamedTuple):
    """The judged documents to look for: topic t has entries starts[t]:starts[t + 1].

    `topic[t]` is its place among the rankings, or -1; `document` (a place among all ids) and `row`
    (of the qrels) are those of the documents.
    """

    topic: np.ndarray
    starts: np.ndarray
    document: np.ndarray
    row: np.ndarray


class JudgedPlaces(NamedTuple):
    """Judged documents that are ranked, those of topic t in entries starts[t]:starts[t + 1].

    `topic[t]` is its place among the rankings or -1; `place` says how many documents are above,
    ascending within a topic, and `row` is the judgment's.
    """

    topic: np.ndarray
    starts: np.ndarray
    place: np.ndarray
    row: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rankings:
    """The documents of topic t, best first, are keys[starts[t]:starts[t + 1]].

    The upper half of a key is the score, the lower half the document's place among all ids.
    """

    topics: tuple[str, ...]
    starts: np.ndarray
    keys: np.ndarray
    order: DocumentOrder

    @property
    def document(self) -> np.ndarray:
        """Places of the documents among all ids."""
        return (self.keys & _LOW).astype(np.int32)

    @property
    def scores(self) -> np.ndarray:
        """The scores in the upper halves of the keys."""
        bits = (self.keys >> _HALF).astype(np.uint32)
        return np.where(bits & _SIGN, bits ^ _SIGN, ~bits).view(np.float32).astype(np.float64)

    @property
    def topic(self) -> np.ndarray:
        """The number of each entry's topic."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.starts))

    def select(self, kept: np.ndarray, depth: int) -> Rankings:
        """Return the entries that `kept` marks, at most `depth` of a topic."""
        before = np.concatenate([[0], np.cumsum(kept)])
        kept = kept & (before[1:] - before[self.starts[self.topic]] <= depth)
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        return Rankings(topics=self.topics, starts=starts, keys=self.keys[kept], order=self.order)

    def to_run(self, name: str) -> Run:
        """Return a run; topics without documents are left out."""
        present = np.flatnonzero(np.diff(self.starts))
        return Run(
            name=name,
            topics=tuple(self.topics[topic] for topic in present.tolist()),
            blocks=np.append(self.starts[present], self.starts[-1]),
            documents=self.order.ids.take((self.keys & _LOW).astype(np.int64)),
            scores=self.scores,
        )

    def places(self, wanted: Wanted) -> JudgedPlaces:
        """Return where judged documents are; those that are not ranked are left out."""
        place_of = np.full(len(self.order), -1, np.int64)
        documents = self.document
        starts, places, rows = [0], [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        for topic, start, stop in zip(wanted.topic, wanted.starts, wanted.starts[1:], strict=False):
            ranking = documents[:0]
            if topic >= 0:
                ranking = documents[self.starts[topic] : self.starts[topic + 1]]
            place_of[ranking] = np.arange(len(ranking))
            place = place_of[wanted.document[start:stop]]
            place_of[ranking] = -1
            order = np.argsort(place, kind="stable")[np.count_nonzero(place < 0) :]
            places.append(place[order])
            rows.append(wanted.row[start:stop][order])
            starts.append(starts[-1] + len(order))
        return JudgedPlaces(
            wanted.topic, np.array(starts, np.int64), np.concatenate(places), np.concatenate(rows)
        )

    def judged(self, wanted: Wanted) -> JudgedRun:
        """Return where judged documents are, as scoring takes it."""
        found = self.places(wanted)
        lengths = np.append(np.diff(self.starts), 0)[wanted.topic]
        lengths = np.where(lengths > 0, lengths, -1)
        return JudgedRun(found.starts, (found.place + 1).astype(np.int32), found.row, lengths)


def search(
    index: Index, model: str | Model = "BM25", *, depth: int = DEPTH, name: str | None = None
) -> Run:
    """Return the `depth` best documents of every topic by one model, as a run."""
    (ranking,) = search_all(index, [model], depth=depth)
    return ranking.to_run(name or parse_model(model).name)


def search_all(
    index: Index,
    models: Iterable[str | Model],
    *,
    depth: int = DEPTH,
    order: DocumentOrder | None = None,
) -> Iterator[Rankings]:
    """Yield the rankings by each of several models, in their order.

    `order` is that of the index's documents, for whoever searches many indexes of them.
    """
    check_count("depth", depth)
    chosen = [parse_model(model) for model in models]
    order = order_documents(index.documents) if order is None else order
    matches = _match(index)
    for first in range(0, len(chosen), TOGETHER):
        group = chosen[first : first + TOGETHER]
        weights = np.stack([model.weights(matches.occurrences) for model in group], axis=1)
        best: list[list[np.ndarray]] = [[] for _ in group]
        for topic, (documents, adds) in enumerate(matches.topics):
            scores = adds @ weights
            for k, model in enumerate(group):
                if model.name in DEPENDENCE:
                    scores[:, k] += dependence_scores(index, topic, model)[documents]
            keys = np.sort(_keys(scores.T, order.rank[documents]), axis=1)[:, : -depth - 1 : -1]
            for mine, row in zip(best, keys, strict=True):
                mine.append(row)
        for rows in best:
            yield Rankings(
                topics=index.topics,
                starts=np.concatenate([[0], np.cumsum([*map(len, rows)])]).astype(np.int64),
                keys=np.concatenate(rows),
                order=order,
            )


def _keys(scores: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Return numbers that are in the order of scores in 32 bits, then of ranks; -0 is 0."""
    bits = (scores.astype(np.float32) + np.float32(0.0)).view(np.uint32)
    ordered = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    return (ordered.astype(np.uint64) << _HALF) | rank


class _Matches(NamedTuple):
    """The postings of all terms, and of each topic its documents and a matrix that adds weights.

    A term is a unit with its number of occurrences in a topic. Row i, column p of the matrix is 1
    where posting p is of the topic's document i.
    """

    occurrences: Occurrences
    topics: list[tuple[np.ndarray, sparse.csr_matrix]]


def _match(index: Index) -> _Matches:
    queries = [index.query(topic) for topic in range(len(index.topics))]
    place = {
        term: k for k, term in enumerate(sorted({t for query in queries for t in query.items()}))
    }
    units, counts = np.array([*place], np.int64).reshape(-1, 2).T
    sizes = np.diff(index.starts)[units]
    posting = stretches(index.starts[units], sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    document = index.document[posting]
    topics = []
    for query in queries:
        terms = np.array([place[term] for term in query.items()], np.int64)
        columns = stretches(starts[terms], sizes[terms])
        by_document = np.argsort(document[columns], kind="stable")
        columns = columns[by_document]
        found, first = np.unique(document[columns], return_index=True)
        ends = np.append(first, len(columns))
        shape = len(found), len(posting)
        adds = sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape=shape)
        topics.append((found, adds))
    return _Matches(
        Occurrences(
            tf=index.count[posting].astype(np.float64),
            dl=index.lengths[document],
            df=np.repeat(index.df[units], sizes),
            cf=np.repeat(index.cf[units], sizes),
            qtf=np.repeat(counts.astype(np.float64), sizes),
            n_documents=float(len(index.documents)),
            tokens=index.tokens,
        ),
        topics,
    )


def find_wanted(
    qrels: Qrels, topics: Sequence[str], order: DocumentOrder, *, relevant_only: bool = True
) -> Wanted:
    """Return the judged documents of a collection by topic; others can never be retrieved."""
    place = {order.ids.raw(i): i for i in range(len(order))}
    position = {topic: q for q, topic in enumerate(topics)}
    raw = qrels.documents.raw
    document = np.array([place.get(raw(row), -1) for row in range(len(qrels))], np.int64)
    kept = (document >= 0) & ((qrels.grades > 0) | (not relevant_only))
    return Wanted(
        topic=np.array([position.get(topic, -1) for topic in qrels.topics], np.int64),
        starts=np.concatenate([[0], np.cumsum(kept)])[qrels.blocks],
        document=document[kept],
        row=np.flatnonzero(kept).astype(np.int32),
    )
