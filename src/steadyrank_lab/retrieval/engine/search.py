"""`search`: what a model ranks first, for every topic of an index.

Scores are sums over the units of a topic in the index's order, rounded to 32 bits as trec_eval
keeps them; documents of equal score stand in trec_eval's order, ids descending as bytes. A
document is ranked if it holds one of the topic's units, whatever its score. One pass over the
postings serves eight models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from steadyrank.data.ids import Ids, make_ids
from steadyrank.data.qrels import JudgedRun, Qrels
from steadyrank.data.run import Run
from steadyrank.errors import check_count
from steadyrank_lab.retrieval.engine import search_kernels
from steadyrank_lab.retrieval.engine.index import Index
from steadyrank_lab.retrieval.engine.models import Model, parse_model, weights_kernel
from steadyrank_lab.retrieval.engine.simd_scores import EIGHT

DEPTH = 1000
FEW = 3
"""Models that are served faster one by one than together."""


@dataclass(frozen=True, slots=True, eq=False)
class DocumentOrder:
    """The ids of a collection in ascending order, and each document's place among them."""

    ids: Ids
    rank: np.ndarray

    def __len__(self) -> int:
        return len(self.rank)


def order_documents(documents: Sequence[str]) -> DocumentOrder:
    """Where each document stands among all, ids compared as bytes.

    >>> order_documents(["d2", "d10", "d1"]).rank.tolist()
    [2, 1, 0]
    """
    raw = [document.encode("utf-8", "surrogateescape") for document in documents]
    order = sorted(range(len(raw)), key=raw.__getitem__)
    rank = np.empty(len(raw), np.uint32)
    rank[order] = np.arange(len(raw), dtype=np.uint32)
    return DocumentOrder(make_ids(raw[i] for i in order), rank)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelRanking:
    """The best documents of every topic by one model.

    The upper half of a key is the score, the lower half the document's place among all ids;
    `keys[topic, :n_ranked[topic]]` are in any order.
    """

    model: Model
    topics: tuple[str, ...]
    keys: np.ndarray
    n_ranked: np.ndarray
    order: DocumentOrder

    def to_run(self, name: str) -> Run:
        """As a run; topics without documents are left out."""
        blocks = np.concatenate([[0], np.cumsum(self.n_ranked)]).astype(np.int64)
        keys = np.empty(int(blocks[-1]), np.uint64)
        for topic, (start, stop) in enumerate(pairwise(blocks.tolist())):
            keys[start:stop] = np.sort(self.keys[topic, : stop - start])[::-1]
        return run_of_keys(keys, blocks, self.topics, self.order, name=name)

    def judged(self, wanted: search_kernels.Wanted) -> JudgedRun:
        """Where judged documents stand."""
        return JudgedRun(
            *search_kernels.find_ranks(self.keys, self.n_ranked, wanted, len(self.order))
        )


def run_of_keys(
    keys: np.ndarray, blocks: np.ndarray, topics: Sequence[str], order: DocumentOrder, *, name: str
) -> Run:
    """A run of sorted keys, those of topic t being keys[blocks[t]:blocks[t + 1]]."""
    present = np.flatnonzero(np.diff(blocks))
    return Run(
        name=name,
        topics=tuple(topics[topic] for topic in present.tolist()),
        blocks=np.append(blocks[present], blocks[-1]),
        documents=order.ids.take((keys & np.uint64(0xFFFFFFFF)).astype(np.int64)),
        scores=scores_of_keys(keys),
    )


def scores_of_keys(keys: np.ndarray) -> np.ndarray:
    """The scores in the upper halves of keys, as float64."""
    bits = (keys >> np.uint64(32)).astype(np.uint32)
    positive = bits >= np.uint32(1 << 31)
    flips = np.where(positive, np.uint32(1 << 31), np.uint32(0xFFFFFFFF))
    return (bits ^ flips).view(np.float32).astype(np.float64)


def search(
    index: Index, model: str | Model = "BM25", *, depth: int = DEPTH, name: str | None = None
) -> Run:
    """The `depth` best documents of every topic by one model, as a run."""
    (ranking,) = search_all(index, [model], depth=depth)
    return ranking.to_run(name or ranking.model.name)


def search_all(
    index: Index,
    models: Iterable[str | Model],
    *,
    depth: int = DEPTH,
    order: DocumentOrder | None = None,
) -> Iterator[ModelRanking]:
    """The rankings by each of several models, in their order; eight are computed together.

    `order` is that of the index's documents, for whoever searches many indexes of them.
    """
    check_count("depth", depth)
    chosen = [parse_model(model) for model in models]
    order = order_documents(index.documents) if order is None else order
    weights = prepare_weights(index)
    # No topic has more documents than the collection.
    shape = (len(index.topics), max(1, min(depth, len(index.documents))))
    for group in _groups(chosen):
        keys = np.empty((len(group), *shape), np.uint64)
        n_ranked = np.empty((len(group), shape[0]), np.int64)
        searching = search_kernels.search_one if len(group) == 1 else search_kernels.search_eight
        searching(
            weights.terms,
            weights.postings,
            weights.table(group),
            order.rank,
            len(group),
            keys,
            n_ranked,
        )
        for model, its_keys, its_sizes in zip(group, keys, n_ranked, strict=True):
            yield ModelRanking(
                model=model, topics=index.topics, keys=its_keys, n_ranked=its_sizes, order=order
            )


def spelled_model(model: Model) -> str:
    """A model as text that `parse_model` reads back to the last bit.

    >>> spelled_model(parse_model("LGD(c=0.1)"))
    'LGD(c=0.1)'
    """
    given = ",".join(f"{key}={value!r}" for key, value in model.parameters.items())
    return f"{model.name}({given})" if given else model.name


def _groups(models: list[Model]) -> Iterator[list[Model]]:
    while models:
        size = EIGHT if len(models) > FEW else 1
        yield models[:size]
        models = models[size:]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """The distinct pairs of tf and length of each unit, of which a model makes weights."""

    terms: search_kernels.Terms
    postings: search_kernels.Postings
    statistics: tuple[Any, ...]
    """What `fill_weights` takes after the terms and before a model's parameters."""

    def column(self, model: Model) -> np.ndarray:
        """The weights of every row of every term by one model."""
        column = np.empty(int(self.terms.rows[-1]))
        unit, rows = self.terms.unit, self.terms.rows
        weights_kernel(model.name)(unit, rows, *self.statistics, model.numbers, column)
        return column

    def table(self, models: Sequence[Model]) -> np.ndarray:
        """The weights by several models, those of a row side by side."""
        if len(models) == 1:
            return self.column(models[0])
        columns = np.zeros((EIGHT, int(self.terms.rows[-1])))
        for column, model in zip(columns, models, strict=False):
            column[:] = self.column(model)
        return np.ascontiguousarray(columns.T).ravel()


def prepare_weights(index: Index) -> Weights:
    """Find what the postings of an index have in common."""
    lengths, length_code = np.unique(index.lengths, return_inverse=True)
    seen = np.full((search_kernels.SHARED_COUNTS, len(lengths)), -1, np.int64)
    row = np.empty(len(index.document), np.int32)
    row_posting = np.empty(len(index.document), np.int64)
    unit_rows = np.empty(len(index.units) + 1, np.int64)
    n_rows = search_kernels.number_rows(
        index.starts, index.document, index.count, length_code, seen, row, row_posting, unit_rows
    )
    example = row_posting[:n_rows]
    terms, unit, count = _terms(index)
    n_documents = float(len(index.documents))
    # Documents, tokens, mean length.
    collection = (n_documents, index.tokens, index.tokens / max(n_documents, 1.0))
    tf, dl = index.count[example].astype(np.float64), index.lengths[index.document[example]]
    return Weights(
        terms=search_kernels.Terms(
            starts=index.query_starts,
            term=terms,
            unit=unit,
            rows=np.concatenate([[0], np.cumsum(np.diff(unit_rows)[unit])]).astype(np.int64),
        ),
        postings=search_kernels.Postings(starts=index.starts, document=index.document, row=row),
        statistics=(count, unit_rows, tf, dl, index.df, index.cf, collection),
    )


def _terms(index: Index) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The term of each entry of the topics, and each term's unit and number of occurrences."""
    pairs = np.stack([index.query_unit.astype(np.int64), index.query_count.astype(np.int64)])
    if not pairs.size:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    distinct, terms = np.unique(pairs, axis=1, return_inverse=True)
    return (
        terms.reshape(-1).astype(np.int64),
        np.ascontiguousarray(distinct[0]),
        distinct[1].astype(np.float64),
    )


def find_wanted(
    qrels: Qrels, topics: Sequence[str], order: DocumentOrder, *, relevant_only: bool = True
) -> search_kernels.Wanted:
    """The judged documents of a collection, topic by topic; others can never be retrieved."""
    place = {order.ids.raw(i): i for i in range(len(order))}
    position = {topic: q for q, topic in enumerate(topics)}
    raw = qrels.documents.raw
    id_rank = np.array([place.get(raw(row), -1) for row in range(len(qrels))], np.int64)
    kept = (id_rank >= 0) & ((qrels.grades > 0) | (not relevant_only))
    return search_kernels.Wanted(
        topic=np.array([position.get(topic, -1) for topic in qrels.topics], np.int64),
        starts=np.concatenate([[0], np.cumsum(kept)])[qrels.blocks],
        id_rank=id_rank[kept],
        row=np.flatnonzero(kept).astype(np.int32),
    )
