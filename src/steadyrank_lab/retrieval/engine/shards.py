"""Partitions of a collection into shards, by topic or at random, and samples of the shards.

Topical shards (Kulkarni & Callan, CIKM 2010, doi:10.1145/1871437.1871497): k-means on a sample
of the documents, then every document to the nearest centroid. A central sample index holds a
fixed rate of every shard's documents. All that is random depends on the seed and on the numbers
of sample, partition and central sample alone.

Documents and centroids are compared by products of sparse and dense matrices.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy import sparse

from steadyrank.compute.random import block_stream
from steadyrank.errors import InputError, arg, bad_value, check_choice, check_count
from steadyrank.words import counted
from steadyrank_lab.retrieval.engine.word_counts import WordCounts

Selection = Literal["redde", "rank-s"]

ITERATIONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardDesign:
    """How shards are made, sampled and chosen, and how many times."""

    shards: int = 50
    sample_rate: tuple[float, ...] = (0.01,)
    """Share of a shard's documents in a central sample: one rate, or several."""
    cluster_samples: int = 2
    partitions: int = 5
    """Partitions by each cluster sample."""
    csi: int = 10
    """Central samples of each partition and rate."""
    cluster_share: float = 0.01
    """Share of the documents in a cluster sample."""
    top_shards: int = 5
    csi_depth: int = 50
    selection: Selection = "redde"
    decay: float = 50.0
    """The factor by which a document's vote falls with each rank, by Rank-S."""
    first_exponent: int = 0
    """The exponent of that factor for the best document: 0 or 1."""
    random_shards: bool = False

    def __post_init__(self) -> None:
        given = self.sample_rate
        rates = (given,) if isinstance(given, (int, float)) else tuple(given)
        object.__setattr__(self, "sample_rate", tuple(map(float, rates)))
        for what in ("shards", "cluster_samples", "partitions", "csi", "top_shards", "csi_depth"):
            check_count(what, getattr(self, what))
        if self.top_shards > self.shards:
            raise InputError(
                f"cannot search {self.top_shards} of {self.shards} shards: lower "
                f"{arg('top_shards')}"
            )
        for what, share in (*(("sample_rate", r) for r in rates), ("sample", self.cluster_share)):
            if not 0.0 < share <= 1.0:
                raise bad_value(what, "be above 0 and at most 1", share)
        if not rates or len(set(rates)) < len(rates):
            raise InputError(f"name at least one {arg('sample_rate')}, and each once")
        check_choice("selection of shards", self.selection, get_args(Selection))
        if not 1.0 < self.decay < math.inf:
            raise bad_value("decay", "be a number above 1", self.decay)
        if self.first_exponent not in (0, 1):
            raise bad_value("first_exponent", "be 0 or 1", self.first_exponent)

    @property
    def system(self) -> str:
        """What run information calls the system."""
        return "random" if self.random_shards else "topical"

    @property
    def instances(self) -> list[tuple[float, int]]:
        """(rate, csi) of the instances that share a partition."""
        return [(rate, csi) for rate in self.sample_rate for csi in range(self.csi)]

    def info(self, sample: int, partition: int, rate: float, csi: int) -> dict[str, str]:
        """Return what run information says of an instance; numbers from 1 on."""
        return {
            "system": self.system,
            "rate": repr(rate),
            "sample": str(sample + 1),
            "partition": str(partition + 1),
            "csi": str(csi + 1),
        }


def make_vectors(counts: WordCounts, *, without: Collection[str] = ()) -> sparse.csr_matrix:
    """Return documents by words, (1 + ln tf) ln(N / df) of unit length, without a stop list's."""
    is_kept = ~np.isin(np.array(counts.words, object), list(without))
    matrix = counts.matrix[:, np.flatnonzero(is_kept)].astype(np.float64)
    df = np.maximum(np.bincount(matrix.indices, minlength=matrix.shape[1]), 1)
    matrix.data = (1.0 + np.log(matrix.data)) * np.log(len(counts.documents) / df)[matrix.indices]
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    matrix.data /= np.repeat(np.where(norms > 0, norms, 1.0), np.diff(matrix.indptr))
    return matrix.astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partition:
    """The shard of each document."""

    shard_of: np.ndarray
    n_shards: int

    @property
    def sizes(self) -> np.ndarray:
        """Documents of each shard."""
        return np.bincount(self.shard_of, minlength=self.n_shards)


def topical_shards(
    vectors: sparse.csr_matrix,
    *,
    n_shards: int,
    sample_share: float = 0.01,
    iterations: int = ITERATIONS,
    seed: int = 0,
    sample: int = 0,
    partition: int = 0,
) -> Partition:
    """Shards of documents that are alike: k-means on a sample, all documents to the nearest.

    The sample depends on (seed, sample), the centroids' first documents on (seed, sample,
    partition). A cluster that loses all its documents starts again from one of the sample. A
    document that shares no word with the sample goes to a random shard.
    """
    n_documents = vectors.shape[0]
    chosen = draw_sample(n_documents, sample_share, seed=seed, sample=sample)
    rng = block_stream(seed, f"partitions of sample {sample}", partition)
    waiting = rng.permutation(chosen)
    elsewhere = rng.integers(n_shards, size=n_documents, dtype=np.int32)
    shared = vectors[:, np.unique(vectors[chosen].indices)]

    def nearest(documents: np.ndarray, members: np.ndarray, cluster: np.ndarray) -> np.ndarray:
        places, shape = (cluster, np.arange(len(members))), (n_shards, len(members))
        belongs = sparse.csr_matrix((np.ones(len(members)), places), shape=shape)
        sums = (belongs @ shared[members]).toarray().T
        norms = np.sqrt((sums**2).sum(axis=0))
        mine = shared[documents]
        alike = mine @ (sums / np.where(norms > 0, norms, 1.0)).astype(np.float32)
        best = np.argmax(alike, axis=1).astype(np.int32)
        return np.where(np.diff(mine.indptr) > 0, best, elsewhere[documents])

    members, cluster = waiting[:n_shards], np.arange(n_shards, dtype=np.int32)
    n_used = n_shards
    for _ in range(iterations):
        cluster = nearest(chosen, members, cluster)
        empty = np.flatnonzero(np.bincount(cluster, minlength=n_shards) == 0)
        again = waiting[np.arange(n_used, n_used + len(empty)) % len(waiting)]
        n_used += len(empty)
        members = np.concatenate([chosen, again])
        cluster = np.concatenate([cluster, empty.astype(np.int32)])
    shard_of = nearest(np.arange(n_documents), members, cluster)
    return Partition(shard_of=shard_of, n_shards=n_shards)


def draw_sample(n_documents: int, sample_share: float, *, seed: int, sample: int) -> np.ndarray:
    """Return the documents, in ascending order, of which clusters are made."""
    rng = block_stream(seed, "samples to cluster", sample)
    return np.sort(rng.choice(n_documents, math.ceil(sample_share * n_documents), replace=False))


def check_sample(n_documents: int, design: ShardDesign) -> None:
    """Refuse a cluster sample without a document for every shard."""
    if design.shards > n_documents:
        documents = counted(n_documents, "document")
        raise InputError(f"{documents} cannot make {design.shards} shards: make fewer")
    size = math.ceil(design.cluster_share * n_documents)
    if size < design.shards and not design.random_shards:
        need = math.ceil(design.shards / n_documents * 1000) / 1000
        raise InputError(
            f"a sample of {counted(size, 'document')} ({design.cluster_share:g} of {n_documents}) "
            f"cannot make {design.shards} shards: cluster at least {need:g} of them "
            f"({arg('cluster_share=')}), or make fewer shards"
        )


def random_shards(
    n_documents: int, *, n_shards: int, seed: int = 0, sample: int = 0, partition: int = 0
) -> Partition:
    """Shards of equal size, at random."""
    rng = block_stream(seed, f"random shards of sample {sample}", partition)
    shard_of = (rng.permutation(n_documents) % n_shards).astype(np.int32)
    return Partition(shard_of=shard_of, n_shards=n_shards)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CentralSample:
    """A central sample index: which documents it holds, and how many of each shard."""

    member: np.ndarray
    sizes: np.ndarray


def central_sample(
    part: Partition,
    *,
    rate: float,
    seed: int = 0,
    sample: int = 0,
    partition: int = 0,
    csi: int = 0,
) -> CentralSample:
    """Return a rate of every shard's documents, at least one.

    A sample of a higher rate holds those of lower rates: they share their random order.
    """
    quota = np.minimum(part.sizes, np.maximum(1, np.rint(rate * part.sizes))).astype(np.int64)
    rng = block_stream(seed, f"central samples of partition {partition} of sample {sample}", csi)
    order = rng.permutation(len(part.shard_of))
    by_shard = order[np.argsort(part.shard_of[order], kind="stable")]
    place = np.arange(len(order)) - np.repeat(np.cumsum(part.sizes) - part.sizes, part.sizes)
    member = np.empty(len(order), np.bool_)
    member[by_shard] = place < np.repeat(quota, part.sizes)
    return CentralSample(member=member, sizes=quota)
