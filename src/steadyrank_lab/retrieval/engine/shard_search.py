"""Searching some shards of a collection: which ones (ReDDE, Rank-S), and what they rank.

With statistics of the whole collection a document's score does not depend on its shard, so that
selective search is exhaustive search with the documents of other shards left out. With each
shard's own statistics, shards are searched one by one and merged by score; the central sample
then has statistics of its own, too. In the kernels a ranking is a list of documents, best first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import compress, pairwise
from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import WORD, kernel
from steadyrank.data.qrels import JudgedRun
from steadyrank.data.run import Run
from steadyrank_lab.retrieval.engine.index import Index
from steadyrank_lab.retrieval.engine.search import (
    DocumentOrder,
    run_of_keys,
    scores_of_keys,
    search_all,
)
from steadyrank_lab.retrieval.engine.search_kernels import Wanted
from steadyrank_lab.retrieval.engine.shards import CentralSample, Partition, Statistics

LEAST_VOTE = 1e-4
"""Of a document, by Rank-S: its authors stop there."""


class RankedDocuments(NamedTuple):
    """Full rankings: topic t's documents, best first, are entries starts[t]:starts[t + 1]."""

    starts: np.ndarray
    document: np.ndarray
    shard: np.ndarray


class JudgedPlaces(NamedTuple):
    """Judged documents in full rankings: those of topic t are entries starts[t]:starts[t + 1].

    `topic[t]` is its place among the rankings or -1; `place` says how many documents stand
    above, ascending within a topic, and `row` is the judgment's.
    """

    topic: np.ndarray
    starts: np.ndarray
    place: np.ndarray
    row: np.ndarray


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
    judged: JudgedPlaces | None
    """Where they stand in exhaustive search."""

    def part(self, kept: np.ndarray) -> tuple[Index, DocumentOrder]:
        """The index of some documents, which stand where they stood among all ids."""
        return restrict(self.index, kept), DocumentOrder(self.order.ids, self.order.rank[kept])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shards:
    """A partition, documents numbered by their places among all ids, and what it is ranked by."""

    partition: Partition
    rankings: FullRankings
    ranked: RankedDocuments
    matches: np.ndarray
    """[topic, shard]: documents found."""
    judged: JudgedPlaces | None


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
    judged = None if wanted is None else find_places(whole, wanted, len(order))
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
            judged = find_places(rankings, engine.wanted, len(engine.order))
    shard_of = np.empty_like(partition.shard_of)
    shard_of[engine.order.rank] = partition.shard_of
    ranked = RankedDocuments(rankings.starts, rankings.document, shard_of[rankings.document])
    shape = (len(engine.index.topics), partition.n_shards)
    topics = np.repeat(np.arange(shape[0]), np.diff(ranked.starts))
    cells = np.bincount(topics * shape[1] + ranked.shard, minlength=shape[0] * shape[1])
    return Shards(
        partition=replace(partition, shard_of=shard_of),
        rankings=rankings,
        ranked=ranked,
        matches=cells.reshape(shape),
        judged=judged,
    )


def find_places(rankings: FullRankings, wanted: Wanted, n_documents: int) -> JudgedPlaces:
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
    return JudgedPlaces(
        wanted.topic, np.array(starts, np.int64), np.concatenate(places), np.concatenate(rows)
    )


def choose_shards(
    engine: Engine,
    shards: Shards,
    csi: CentralSample,
    *,
    csi_depth: int,
    top_shards: int,
    decay: float | None = None,
) -> np.ndarray:
    """ReDDE, or Rank-S where there is a `decay`: [topic, shard], 1 for the shards to search.

    A shard's worth is its number of documents among the `csi_depth` best of the central sample,
    times the number of documents that each of its sampled ones stands for. By Rank-S a document
    votes with its score, divided by `decay` for every one above it, and votes below `LEAST_VOTE`
    do not count (Kulkarni, Tigelaar, Hiemstra & Callan 2012, doi:10.1145/2396761.2396833). Shards
    worth nothing are not searched; where the sample finds nothing for a topic, none is.
    """
    ranked, keys = shards.ranked, shards.rankings.keys
    if engine.statistics == "shard":
        sampled = full_rankings([engine.part(csi.member[engine.order.rank])], engine.model)
        its_shards = shards.partition.shard_of[sampled.document]
        ranked, keys = RankedDocuments(sampled.starts, sampled.document, its_shards), sampled.keys
    votes, firsts = np.empty((2, *shards.matches.shape), np.int64)
    _vote(ranked, csi.member, csi_depth, votes, firsts)
    chosen = np.empty(shards.matches.shape, np.uint8)
    scale = shards.partition.sizes / np.maximum(csi.sizes, 1)
    if decay is not None:
        worth = _decaying_votes(ranked, keys, csi.member, csi_depth, decay, shards.matches.shape[1])
        # As whole numbers in the order of their worth, 0 for none, so that one kernel marks both.
        votes = np.searchsorted(np.unique(np.append(worth, 0.0)), worth)
        scale = np.ones_like(scale)
    _mark_chosen(votes, firsts, scale, top_shards, chosen)
    return chosen


def _decaying_votes(
    ranked: RankedDocuments,
    keys: np.ndarray,
    member: np.ndarray,
    depth: int,
    decay: float,
    n_shards: int,
) -> np.ndarray:
    """[topic, shard]: sums of what documents of the sample vote, by Rank-S."""
    worth = np.zeros((len(ranked.starts) - 1, n_shards))
    for topic, (start, stop) in enumerate(pairwise(ranked.starts.tolist())):
        places = start + np.flatnonzero(member[ranked.document[start:stop]])[:depth]
        votes = scores_of_keys(keys[places]) * decay ** -np.arange(len(places), dtype=np.float64)
        votes[votes < LEAST_VOTE] = 0.0
        worth[topic] = np.bincount(ranked.shard[places], votes, minlength=n_shards)
    return worth


def all_shards(shards: Shards) -> np.ndarray:
    """Every shard for every topic: exhaustive search."""
    return np.ones(shards.matches.shape, np.uint8)


def run_of(engine: Engine, shards: Shards, chosen: np.ndarray, *, depth: int, name: str) -> Run:
    """The merged ranking of the chosen shards."""
    n_topics = len(engine.index.topics)
    kept = np.empty(n_topics * min(depth, len(engine.order)) + 1, np.int64)
    blocks = np.empty(n_topics + 1, np.int64)
    _keep_chosen(shards.ranked, chosen, depth, kept, blocks)
    keys = shards.rankings.keys[kept[: blocks[-1]]]
    return run_of_keys(keys, blocks, engine.index.topics, engine.order, name=name)


def judge(shards: Shards, chosen: np.ndarray, *, depth: int) -> JudgedRun:
    """Where the judged documents stand among those of the chosen shards."""
    judged = _ranks_in_chosen(shards.ranked, shards.judged, chosen, shards.matches, depth)
    return JudgedRun(*judged)


@kernel
def _vote(ranked, member, depth, votes, firsts):
    """How many of a topic's first `depth` documents in the sample each shard has.

    `firsts` are the ranks, among the sample's, of each shard's first one.
    """
    for t in range(len(ranked.starts) - 1):
        votes[t] = 0
        firsts[t] = depth
        documents = ranked.document[ranked.starts[t] : ranked.starts[t + 1]]
        shards = ranked.shard[ranked.starts[t] : ranked.starts[t + 1]]
        n = 0
        for i in range(len(documents)):
            if member[WORD(documents[i])]:
                shard = shards[i]
                votes[t, shard] += 1
                firsts[t, shard] = min(firsts[t, shard], n)
                n += 1
                if n == depth:
                    break


@kernel
def _mark_chosen(votes, firsts, scale, n_chosen, chosen):
    """Mark the shards with the most votes times `scale`; without votes, none.

    Of two that are equal, the one whose document stands first in the sample's ranking.
    """
    for t in range(len(votes)):
        chosen[t] = 0
        for _ in range(n_chosen):
            best, most = -1, 0.0
            for s in range(len(scale)):
                worth = votes[t, s] * scale[s]
                if chosen[t, s] or worth == 0.0 or worth < most:
                    continue
                if worth > most or firsts[t, s] < firsts[t, best]:
                    best, most = s, worth
            if best < 0:
                break
            chosen[t, best] = 1


@kernel
def _keep_chosen(ranked, chosen, depth, kept, blocks):
    """The entries of the rankings whose shards are chosen, at most `depth` a topic."""
    n = 0
    for t in range(len(ranked.starts) - 1):
        blocks[t] = n
        for i in range(ranked.starts[t], ranked.starts[t + 1]):
            if n - blocks[t] == depth:
                break
            kept[n] = i
            n += np.int64(chosen[t, ranked.shard[i]])
    blocks[len(ranked.starts) - 1] = n


@kernel
def _ranks_in_chosen(ranked, judged, chosen, matches, depth):
    """Where judged documents stand among those of the chosen shards, as a `JudgedRun` has it.

    Nothing below the last judged document of a topic is looked at.
    """
    n_topics = len(judged.topic)
    blocks, lengths = np.zeros(n_topics + 1, np.int64), np.full(n_topics, -1, np.int64)
    ranks, rows = np.empty(len(judged.row), np.int32), np.empty(len(judged.row), np.int32)
    n = 0
    for t in range(n_topics):
        topic = judged.topic[t]
        length = 0
        if topic >= 0:
            for s in range(matches.shape[1]):
                length += np.int64(chosen[topic, s]) * matches[topic, s]
        if length > 0:
            lengths[t] = min(length, depth)
            mine = chosen[topic]
            shards = ranked.shard[ranked.starts[topic] : ranked.starts[topic + 1]]
            above, i = 0, 0
            for j in range(judged.starts[t], judged.starts[t + 1]):
                place = judged.place[j]
                while i < place:
                    above += np.int64(mine[WORD(shards[i])])
                    i += 1
                if above >= depth:
                    break
                if mine[WORD(shards[place])]:
                    ranks[n] = above + 1
                    rows[n] = judged.row[j]
                    n += 1
        blocks[t + 1] = n
    return blocks, ranks[:n], rows[:n], lengths
