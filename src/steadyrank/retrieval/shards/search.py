"""Searching some shards of a collection: which ones (ReDDE), and what they rank.

With statistics of the whole collection a document's score does not depend on its shard, so that
selective search is exhaustive search with the documents of other shards left out. With each
shard's own statistics, shards are searched one by one and merged by score; the central sample
then has statistics of its own, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from steadyrank.data.qrels import JudgedRun
from steadyrank.data.run import Run
from steadyrank.retrieval.engine.index import Index
from steadyrank.retrieval.engine.search import DocumentOrder, run_of_keys, search_all
from steadyrank.retrieval.engine.search_kernels import Wanted
from steadyrank.retrieval.shards import kernels
from steadyrank.retrieval.shards.partition import CentralSample, Partition, Statistics


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FullRankings:
    """Every document that a topic's units find, best first: keys[starts[t]:starts[t + 1]].

    Documents are numbered by their places among all ids.
    """

    starts: np.ndarray
    keys: np.ndarray
    document: np.ndarray


def full_rankings(parts: Iterable[tuple[Index, DocumentOrder]], model: str) -> FullRankings:
    """The rankings of a collection, or of its parts merged by score."""
    lists: list[list[np.ndarray]] = []
    for index, order in parts:
        (ranking,) = search_all(index, [model], depth=max(1, len(order)), order=order)
        lists = lists or [[] for _ in index.topics]
        for n_ranked, keys, merged in zip(ranking.n_ranked, ranking.keys, lists, strict=True):
            merged.append(keys[:n_ranked])
    ordered = [np.sort(np.concatenate(merged))[::-1] for merged in lists]
    keys = np.concatenate(ordered)
    return FullRankings(
        starts=np.concatenate([[0], np.cumsum([*map(len, ordered)])]).astype(np.int64),
        keys=keys,
        document=(keys & np.uint64(0xFFFFFFFF)).astype(np.int32),
    )


def restrict(index: Index, kept: np.ndarray) -> Index:
    """The index of some of the documents, with statistics of its own."""
    number = np.cumsum(kept) - 1
    there = kept[index.document]
    starts = np.concatenate([[0], np.cumsum(there)])[index.starts]
    count = index.count[there]
    occurrences = np.concatenate([[0], np.cumsum(count)])[starts]
    lengths = index.lengths[kept]
    return replace(
        index,
        documents=tuple(compress(index.documents, kept.tolist())),
        lengths=lengths,
        tokens=float(lengths.sum()),
        starts=starts,
        document=number[index.document[there]].astype(np.int32),
        count=count,
        df=np.diff(starts).astype(np.float64),
        cf=np.diff(occurrences).astype(np.float64),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Engine:
    """A collection's index, and how to search it."""

    index: Index
    order: DocumentOrder
    model: str
    statistics: Statistics
    whole: FullRankings
    """Of exhaustive search."""
    wanted: Wanted | None
    """Judged documents, where instances are to be scored."""
    judged: kernels.Judged | None
    """Where they stand in exhaustive search."""

    def part(self, kept: np.ndarray) -> tuple[Index, DocumentOrder]:
        """The index of some documents, which stand where they stood among all ids."""
        return restrict(self.index, kept), DocumentOrder(self.order.ids, self.order.rank[kept])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shards:
    """A partition, documents numbered by their places among all ids, and what it is ranked by."""

    partition: Partition
    rankings: FullRankings
    ranked: kernels.Ranked
    matches: np.ndarray
    """[topic, shard]: documents found."""
    judged: kernels.Judged | None


def make_engine(
    index: Index,
    order: DocumentOrder,
    model: str,
    *,
    statistics: Statistics = "global",
    wanted: Wanted | None = None,
) -> Engine:
    """Search the whole collection, once for all instances."""
    whole = full_rankings([(index, order)], model)
    judged = None if wanted is None else find_judged(whole, wanted, len(order))
    return Engine(
        index=index,
        order=order,
        model=model,
        statistics=statistics,
        whole=whole,
        wanted=wanted,
        judged=judged,
    )


def make_shards(engine: Engine, partition: Partition) -> Shards:
    """A partition of the index's documents made ready to be searched."""
    rankings, judged = engine.whole, engine.judged
    if engine.statistics == "shard" and partition.n_shards > 1:
        in_use = np.flatnonzero(partition.sizes)
        rankings = full_rankings(
            (engine.part(partition.shard_of == shard) for shard in in_use), engine.model
        )
        if engine.wanted is not None:
            judged = find_judged(rankings, engine.wanted, len(engine.order))
    shard_of = np.empty_like(partition.shard_of)
    shard_of[engine.order.rank] = partition.shard_of
    ranked = kernels.Ranked(rankings.starts, rankings.document, shard_of[rankings.document])
    matches = np.empty((len(engine.index.topics), partition.n_shards), np.int64)
    kernels.count_matches(ranked, matches)
    return Shards(
        partition=replace(partition, shard_of=shard_of),
        rankings=rankings,
        ranked=ranked,
        matches=matches,
        judged=judged,
    )


def find_judged(rankings: FullRankings, wanted: Wanted, n_documents: int) -> kernels.Judged:
    """Where judged documents stand in full rankings; those that are not there are left out."""
    position = np.full(n_documents, -1, np.int64)
    starts, places, rows = [0], [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    for t, topic in enumerate(wanted.topic.tolist()):
        mine = slice(wanted.starts[t], wanted.starts[t + 1])
        ranking = rankings.document[:0]
        if topic >= 0:
            ranking = rankings.document[rankings.starts[topic] : rankings.starts[topic + 1]]
        position[ranking] = np.arange(len(ranking))
        place = position[wanted.id_rank[mine]]
        position[ranking] = -1
        order = np.argsort(place, kind="stable")[(place < 0).sum() :]
        places.append(place[order])
        rows.append(wanted.row[mine][order])
        starts.append(starts[-1] + len(order))
    return kernels.Judged(
        wanted.topic, np.array(starts, np.int64), np.concatenate(places), np.concatenate(rows)
    )


def choose_shards(
    engine: Engine, shards: Shards, csi: CentralSample, *, csi_depth: int, top_shards: int
) -> np.ndarray:
    """ReDDE: [topic, shard], 1 for the shards to search.

    A shard's worth is its number of documents among the `csi_depth` best of the central sample,
    times the number of documents that each of its sampled ones stands for. Shards worth nothing
    are not searched; where the sample finds nothing for a topic, none is.
    """
    ranked = shards.ranked
    if engine.statistics == "shard":
        sampled = full_rankings([engine.part(csi.member[engine.order.rank])], engine.model)
        its_shards = shards.partition.shard_of[sampled.document]
        ranked = kernels.Ranked(sampled.starts, sampled.document, its_shards)
    votes, firsts = np.empty((2, *shards.matches.shape), np.int64)
    kernels.vote(ranked, csi.member, csi_depth, votes, firsts)
    chosen = np.empty(shards.matches.shape, np.uint8)
    scale = shards.partition.sizes / np.maximum(csi.sizes, 1)
    kernels.choose_shards(votes, firsts, scale, top_shards, chosen)
    return chosen


def all_shards(shards: Shards) -> np.ndarray:
    """Every shard for every topic: exhaustive search."""
    return np.ones(shards.matches.shape, np.uint8)


def run_of(engine: Engine, shards: Shards, chosen: np.ndarray, *, depth: int, name: str) -> Run:
    """The merged ranking of the chosen shards."""
    n_topics = len(engine.index.topics)
    kept = np.empty(n_topics * min(depth, len(engine.order)) + 1, np.int64)
    blocks = np.empty(n_topics + 1, np.int64)
    kernels.keep_chosen(shards.ranked, chosen, depth, kept, blocks)
    keys = shards.rankings.keys[kept[: blocks[-1]]]
    return run_of_keys(keys, blocks, engine.index.topics, engine.order, name=name)


def judge(shards: Shards, chosen: np.ndarray, *, depth: int) -> JudgedRun:
    """Where the judged documents stand among those of the chosen shards."""
    judged = kernels.ranks_in_chosen(shards.ranked, shards.judged, chosen, shards.matches, depth)
    return JudgedRun(*judged)
