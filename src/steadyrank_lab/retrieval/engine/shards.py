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
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy import sparse

from steadyrank.compute.random import block_stream
from steadyrank.errors import InputError, arg, bad_value, check_choice, check_count
from steadyrank.words import counted
from steadyrank_lab.retrieval.engine.word_counts import WordCounts

Distance = Literal["cosine", "kl"]
Statistics = Literal["global", "shard"]
Selection = Literal["redde", "rank-s"]

ITERATIONS = 5
SMOOTHING = 0.1
"""Weight of the background in a document's language model, for the distance kl."""


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
    distance: Distance = "cosine"
    random_shards: bool = False
    statistics: Statistics = "global"

    def __post_init__(self) -> None:
        rates = self.sample_rate
        rates = (rates,) if isinstance(rates, (int, float)) else tuple(rates)
        object.__setattr__(self, "sample_rate", tuple(map(float, rates)))
        for what in ("shards", "cluster_samples", "partitions", "csi", "top_shards", "csi_depth"):
            check_count(what, getattr(self, what))
        if self.top_shards > self.shards:
            raise InputError(
                f"cannot search {self.top_shards} of {self.shards} shards: lower "
                f"{arg('top_shards')}"
            )
        self._check_shares()
        check_choice("kind of statistics", self.statistics, get_args(Statistics))
        check_choice("distance", self.distance, get_args(Distance))
        check_choice("selection of shards", self.selection, get_args(Selection))
        if not 1.0 < self.decay < math.inf:
            raise bad_value("decay", "be a number above 1", self.decay)
        if self.first_exponent not in (0, 1):
            raise bad_value("first_exponent", "be 0 or 1", self.first_exponent)

    def _check_shares(self) -> None:
        rates = self.sample_rate
        for what, share in (*(("sample_rate", r) for r in rates), ("sample", self.cluster_share)):
            if not 0.0 < share <= 1.0:
                raise bad_value(what, "be above 0 and at most 1", share)
        if not rates or len(set(rates)) < len(rates):
            raise InputError(f"name at least one {arg('sample_rate')}, and each once")

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Vectors:
    """Documents as bags of words, [document, word].

    Values are counts for the distance kl; for cosine (1 + ln tf) ln(N / df), of unit length.
    """

    distance: Distance
    matrix: sparse.csr_matrix

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return int(self.matrix.shape[0])


def make_vectors(
    counts: WordCounts, *, distance: Distance = "cosine", without: Collection[str] = ()
) -> Vectors:
    """Return the documents as vectors of their words, without those of a stop list."""
    check_choice("distance", distance, get_args(Distance))
    is_kept = ~np.isin(np.array(counts.words, object), list(without))
    matrix = counts.matrix[:, np.flatnonzero(is_kept)].astype(np.float64)
    if distance == "cosine":
        df = np.maximum(np.bincount(matrix.indices, minlength=matrix.shape[1]), 1)
        matrix.data = (1.0 + np.log(matrix.data)) * np.log(len(counts.documents) / df)[
            matrix.indices
        ]
        norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
        matrix.data /= np.repeat(np.where(norms > 0, norms, 1.0), np.diff(matrix.indptr))
    return Vectors(distance=distance, matrix=matrix.astype(np.float32))


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
    vectors: Vectors,
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
    partition). A cluster that loses all its documents starts again from one of the sample.
    """
    chosen = draw_sample(vectors.n_documents, sample_share, seed=seed, sample=sample)
    rng = block_stream(seed, f"partitions of sample {sample}", partition)
    waiting = rng.permutation(chosen)
    elsewhere = rng.integers(n_shards, size=vectors.n_documents, dtype=np.int32)
    used = np.unique(vectors.matrix[chosen].indices)
    bags = _Bags(vectors.distance, vectors.matrix, vectors.matrix[:, used])
    members, cluster = waiting[:n_shards], np.arange(n_shards, dtype=np.int32)
    n_used = n_shards
    for _ in range(iterations):
        cluster = bags.nearest(chosen, bags.sums(members, cluster, n_shards), elsewhere)
        empty = np.flatnonzero(np.bincount(cluster, minlength=n_shards) == 0)
        again = waiting[np.arange(n_used, n_used + len(empty)) % len(waiting)]
        n_used += len(empty)
        members = np.concatenate([chosen, again])
        cluster = np.concatenate([cluster, empty.astype(np.int32)])
    everything = np.arange(vectors.n_documents)
    nearest = bags.nearest(everything, bags.sums(members, cluster, n_shards), elsewhere)
    return Partition(shard_of=nearest, n_shards=n_shards)


class _Bags(NamedTuple):
    """Documents, and their words that the sample has."""

    distance: Distance
    whole: sparse.csr_matrix
    shared: sparse.csr_matrix

    def sums(self, members: np.ndarray, cluster: np.ndarray, n_shards: int) -> np.ndarray:
        """Return the sums of clusters' members, [word, cluster]."""
        places = (cluster, np.arange(len(members)))
        shape = (n_shards, len(members))
        belongs = sparse.csr_matrix((np.ones(len(members)), places), shape=shape)
        return (belongs @ self.shared[members]).toarray().T

    def nearest(self, documents: np.ndarray, sums: np.ndarray, elsewhere: np.ndarray) -> np.ndarray:
        """Return the nearest cluster of each document.

        A document that shares no word with any cluster goes where `elsewhere` says.
        """
        shared = self.shared[documents]
        if self.distance == "cosine":
            norms = np.sqrt((sums**2).sum(axis=0))
            alike = shared @ (sums / np.where(norms > 0, norms, 1.0)).astype(np.float32)
        else:
            shared, alike = self._divergence(shared, documents, sums)
        nearest = np.argmax(alike, axis=1).astype(np.int32)
        return np.where(np.diff(shared.indptr) > 0, nearest, elsewhere[documents])

    def _divergence(
        self, shared: sparse.csr_matrix, documents: np.ndarray, sums: np.ndarray
    ) -> tuple[sparse.csr_matrix, np.ndarray]:
        """Return the words shared, and how alike documents and clusters are in the manner of KL.

        The sum over shared words of p_c log(p_d / (s p_b)) + p_d log(p_c / (s p_b)), where p_c is
        the share of the word in the cluster, p_b its mean over clusters, and p_d the document's
        share of the word mixed with `SMOOTHING` s of p_b.
        """
        totals = sums.sum(axis=0)
        shares = sums / np.where(totals > 0, totals, 1.0)
        background = shares.mean(axis=1)
        in_use = np.flatnonzero(background > 0)  # an emptied cluster may leave words to nobody
        shared, shares, floor = shared[:, in_use], shares[in_use], SMOOTHING * background[in_use]
        logs = np.log(np.where(shares > 0, shares, floor[:, None]) / floor[:, None])
        lengths = np.asarray(self.whole[documents].sum(axis=1), np.float64).ravel()
        share = shared.data / np.repeat(lengths, np.diff(shared.indptr))
        mixed = (1.0 - SMOOTHING) * share + floor[shared.indices]
        of_shares, of_logs = shared.astype(np.float64), shared.astype(np.float64)
        of_shares.data, of_logs.data = np.log(mixed / floor[shared.indices]), mixed
        return shared, of_shares @ shares + of_logs @ logs


def draw_sample(n_documents: int, sample_share: float, *, seed: int, sample: int) -> np.ndarray:
    """Return the documents, in ascending order, of which clusters are made."""
    size = sample_size(n_documents, sample_share)
    rng = block_stream(seed, "samples to cluster", sample)
    return np.sort(rng.choice(n_documents, size, replace=False))


def sample_size(n_documents: int, sample_share: float) -> int:
    """Return the size of a cluster sample."""
    return math.ceil(sample_share * n_documents)


def check_sample(n_documents: int, design: ShardDesign) -> None:
    """Refuse a cluster sample without a document for every shard."""
    if design.shards > n_documents:
        documents = counted(n_documents, "document")
        raise InputError(f"{documents} cannot make {design.shards} shards: make fewer")
    size = sample_size(n_documents, design.cluster_share)
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
