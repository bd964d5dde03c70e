"""Searching some shards of a collection: which ones (ReDDE, Rank-S), and what they rank.

Statistics are those of the whole collection, so that a document's score does not depend on its
shard: selective search is exhaustive search with the documents of other shards left out. Rankings
hold all documents found, best first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steadyrank.data.qrels import JudgedRun
from steadyrank_lab.retrieval.engine.index import Index
from steadyrank_lab.retrieval.engine.search import (
    DocumentOrder,
    JudgedPlaces,
    Rankings,
    Wanted,
    search_all,
)
from steadyrank_lab.retrieval.engine.shards import CentralSample, Partition

LEAST_VOTE = 1e-4
"""The smallest vote of a document that Rank-S counts."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Engine:
    """The rankings of exhaustive search."""

    order: DocumentOrder
    rankings: Rankings
    """Documents numbered by their places among all ids."""
    document: np.ndarray
    """The document of each entry."""
    topic: np.ndarray
    judged: JudgedPlaces | None
    """Where judged documents are, if instances are to be scored."""


def make_engine(
    index: Index, order: DocumentOrder, model: str, *, wanted: Wanted | None = None
) -> Engine:
    """Search the whole collection, once for all instances."""
    (found,) = search_all(index, [model], depth=max(1, len(order)), order=order)
    by_place = DocumentOrder(order.ids, np.arange(len(order.ids)))
    whole = Rankings(topics=found.topics, starts=found.starts, keys=found.keys, order=by_place)
    return Engine(
        order=order,
        rankings=whole,
        document=whole.document,
        topic=whole.topic,
        judged=None if wanted is None else whole.places(wanted),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shards:
    """A partition of the documents by their places among all ids, and the shard of each entry."""

    engine: Engine
    partition: Partition
    shard: np.ndarray

    def is_searched(self, chosen: np.ndarray) -> np.ndarray:
        """Mark the entries of the rankings whose shards are chosen for their topics."""
        return chosen[self.engine.topic, self.shard]


def make_shards(engine: Engine, partition: Partition) -> Shards:
    """Make a partition of the index's documents ready to be searched."""
    shard_of = np.empty_like(partition.shard_of)
    shard_of[engine.order.rank] = partition.shard_of
    by_place = replace(partition, shard_of=shard_of)
    return Shards(engine=engine, partition=by_place, shard=shard_of[engine.document])


def choose_shards(
    shards: Shards,
    csi: CentralSample,
    *,
    csi_depth: int,
    top_shards: int,
    decay: float | None = None,
    first_exponent: int = 0,
) -> np.ndarray:
    """Choose shards by ReDDE, or by Rank-S if there is a `decay`: marks, [topic, shard].

    A shard's worth is its number of documents among the `csi_depth` best of the central sample,
    times the number of documents that each of its sampled ones represents. By Rank-S a document
    votes with its score, divided by `decay` for every one above it and `first_exponent` times
    more, and votes below `LEAST_VOTE` do not count (Kulkarni, Tigelaar, Hiemstra & Callan
    2012, doi:10.1145/2396761.2396833). If two shards are worth the same, the one with
    the best document comes first. Shards worth nothing are not searched; where the sample finds
    nothing for a topic, none is.
    """
    whole = shards.engine
    rankings = whole.rankings.select(csi.member[whole.document], csi_depth)
    topic, shard = rankings.topic, shards.partition.shard_of[rankings.document]
    place = np.arange(len(shard)) - rankings.starts[topic]
    votes = np.ones(len(shard))
    if decay is not None:
        votes = rankings.scores * decay ** -(first_exponent + place).astype(np.float64)
        votes[votes < LEAST_VOTE] = 0.0
    n_shards = shards.partition.n_shards
    cell = topic * n_shards + shard
    shape, size = (len(rankings.topics), n_shards), len(rankings.topics) * n_shards
    worth = np.bincount(cell, votes, minlength=size).reshape(shape)
    if decay is None:
        worth *= shards.partition.sizes / np.maximum(csi.sizes, 1)
    firsts = np.full(size, csi_depth)
    firsts[cell[::-1]] = place[::-1]
    best = np.lexsort((firsts.reshape(shape), -worth), axis=1)[:, :top_shards]
    chosen = np.zeros(shape, np.bool_)
    np.put_along_axis(chosen, best, True, axis=1)
    return chosen & (worth > 0.0)


def merged(shards: Shards, chosen: np.ndarray, *, depth: int) -> Rankings:
    """Return the merged rankings of the chosen shards."""
    return shards.engine.rankings.select(shards.is_searched(chosen), depth)


def judge(shards: Shards, chosen: np.ndarray, *, depth: int) -> JudgedRun:
    """Return where judged documents are among those of the chosen shards."""
    rankings, judged = shards.engine.rankings, shards.engine.judged
    assert judged is not None
    searched = shards.is_searched(chosen)
    above = np.concatenate([[0], np.cumsum(searched)])
    topic = np.repeat(judged.topic, np.diff(judged.starts))
    entry = rankings.starts[topic] + judged.place
    rank = above[entry + 1] - above[rankings.starts[topic]]
    found = searched[entry] & (rank <= depth)
    lengths = np.append(np.minimum(np.diff(above[rankings.starts]), depth), 0)[judged.topic]
    return JudgedRun(
        np.concatenate([[0], np.cumsum(found)])[judged.starts],
        rank[found].astype(np.int32),
        judged.row[found],
        np.where(lengths > 0, lengths, -1),
    )
