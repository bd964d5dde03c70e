"""Searching some shards of a collection: which ones (ReDDE, Rank-S), and what they rank.

With statistics of the whole collection a document's score does not depend on its shard, so that
selective search is exhaustive search with the documents of other shards left out. With each
shard's own statistics, shards are searched one by one and merged by score; the central sample
then has its own statistics. Rankings hold all documents found, best first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from steadyrank.data.qrels import JudgedRun
from steadyrank_lab.retrieval.engine.index import Index, restrict
from steadyrank_lab.retrieval.engine.search import (
    DocumentOrder,
    JudgedPlaces,
    Rankings,
    Wanted,
    search_all,
)
from steadyrank_lab.retrieval.engine.shards import CentralSample, Partition, Statistics

LEAST_VOTE = 1e-4
"""The smallest vote of a document that Rank-S counts."""


def full_rankings(parts: Iterable[tuple[Index, DocumentOrder]], model: str) -> Rankings:
    """Return the rankings of a collection, or of its parts merged by score."""
    found: list[Rankings] = []
    for index, order in parts:
        found += search_all(index, [model], depth=max(1, len(order)), order=order)
    topics, order = found[0].topics, found[0].order
    lists = [
        np.concatenate([part.keys[part.starts[t] : part.starts[t + 1]] for part in found])
        for t in range(len(topics))
    ]
    return Rankings(
        topics=topics,
        starts=np.concatenate([[0], np.cumsum([*map(len, lists)])]).astype(np.int64),
        keys=np.concatenate([np.sort(keys)[::-1] for keys in lists]),
        order=DocumentOrder(order.ids, np.arange(len(order.ids))),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Engine:
    """A collection's index, and how to search it."""

    index: Index
    order: DocumentOrder
    model: str
    statistics: Statistics
    whole: Rankings
    """The rankings of exhaustive search."""
    wanted: Wanted | None
    """Judged documents, if instances are to be scored."""

    def part(self, kept: np.ndarray) -> tuple[Index, DocumentOrder]:
        """Return the index of some documents, with their places among all ids."""
        return restrict(self.index, kept), DocumentOrder(self.order.ids, self.order.rank[kept])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shards:
    """A partition, documents numbered by their places among all ids, and what it is ranked by."""

    partition: Partition
    rankings: Rankings
    shard: np.ndarray
    """The shard of each document in the rankings."""
    judged: JudgedPlaces | None

    def is_searched(self, chosen: np.ndarray) -> np.ndarray:
        """Mark the entries of the rankings whose shards are chosen for their topics."""
        return chosen[self.rankings.topic, self.shard]


def make_engine(
    index: Index,
    order: DocumentOrder,
    model: str,
    *,
    statistics: Statistics = "global",
    wanted: Wanted | None = None,
) -> Engine:
    """Search the whole collection, once for all instances."""
    return Engine(
        index=index,
        order=order,
        model=model,
        statistics=statistics,
        whole=full_rankings([(index, order)], model),
        wanted=wanted,
    )


def make_shards(engine: Engine, partition: Partition) -> Shards:
    """Make a partition of the index's documents ready to be searched."""
    rankings = engine.whole
    if engine.statistics == "shard" and partition.n_shards > 1:
        in_use = np.flatnonzero(partition.sizes)
        rankings = full_rankings(
            (engine.part(partition.shard_of == shard) for shard in in_use), engine.model
        )
    shard_of = np.empty_like(partition.shard_of)
    shard_of[engine.order.rank] = partition.shard_of
    return Shards(
        partition=replace(partition, shard_of=shard_of),
        rankings=rankings,
        shard=shard_of[rankings.document],
        judged=None if engine.wanted is None else rankings.places(engine.wanted),
    )


def choose_shards(
    engine: Engine,
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
    rankings = shards.rankings
    if engine.statistics == "shard":
        rankings = full_rankings([engine.part(csi.member[engine.order.rank])], engine.model)
    rankings = rankings.select(csi.member[rankings.document], csi_depth)
    shard = shards.partition.shard_of[rankings.document]
    place = np.arange(len(shard)) - rankings.starts[rankings.topic]
    votes = np.ones(len(shard))
    if decay is not None:
        votes = rankings.scores * decay ** -(first_exponent + place).astype(np.float64)
        votes[votes < LEAST_VOTE] = 0.0
    n_shards = shards.partition.n_shards
    cell = rankings.topic * n_shards + shard
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


def all_shards(shards: Shards) -> np.ndarray:
    """Choose every shard for every topic: exhaustive search."""
    return np.ones((len(shards.rankings.topics), shards.partition.n_shards), np.bool_)


def merged(shards: Shards, chosen: np.ndarray, *, depth: int) -> Rankings:
    """Return the merged rankings of the chosen shards."""
    return shards.rankings.select(shards.is_searched(chosen), depth)


def judge(shards: Shards, chosen: np.ndarray, *, depth: int) -> JudgedRun:
    """Return where judged documents are among those of the chosen shards."""
    rankings, judged = shards.rankings, shards.judged
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
