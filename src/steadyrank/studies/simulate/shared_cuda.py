"""Documents that all runs share, on one GPU: the processor's samples, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from steadyrank.compute.gpu import cupy, gpu_kernels
from steadyrank.errors import InputError
from steadyrank.studies.simulate.shared_counts import SIDE_BY_SIDE
from steadyrank.studies.simulate.shared_sums import rank_weights
from steadyrank.studies.simulate.sources import SharedDocuments

SOURCE = ("steadyrank.studies.simulate", "shared.cu", "--fmad=false")
THREADS = 128
COUNTS = 1 << 31
"""Bytes of counts that are on the device together."""

KINDS = ("AP", "nDCG", "P", "R", "Rprec", "RR", "RBP", "ERR", "nERR", "Q", "nG", "IPrec", "Success")
"""In the order of the kernel's own."""


class DeviceLists:
    """Rankings and their measure on the device."""

    def __init__(self, source: SharedDocuments):
        cp, lists, recipe = cupy(), source.lists, source.recipe
        if recipe.kernel not in KINDS:
            raise InputError(f'{recipe.measure} has no kernel for device "cuda": use device="cpu"')
        self.n_cells = len(lists.depth)
        self.n_topics = len(lists.documents) - 1
        self.documents = np.asarray(lists.documents)
        self.bounds = cp.asarray(lists.documents, np.int64)
        self.hashes = cp.asarray(lists.hashes, np.uint64)
        topics = np.repeat(np.arange(self.n_topics, dtype=np.int32), np.diff(lists.documents))
        self.topic_of = cp.asarray(topics)
        self.keys = cp.asarray(source.keys, np.uint64)
        self.ideal = cp.asarray(lists.ideal, np.int64), cp.asarray(lists.grades, np.int32)
        self.rankings = (
            cp.asarray(lists.starts, np.int64),
            cp.asarray(lists.places, np.int32),
            cp.asarray(lists.events, np.int64),
            cp.asarray(lists.at, np.int32),
            cp.asarray(lists.size, np.int32),
            cp.asarray(lists.depth, np.int64),
        )
        self.measure = (
            np.int32(KINDS.index(recipe.kernel)),
            np.int32(min(recipe.cutoff, 2**31 - 1)),
            np.float64(recipe.parameter),
            cp.asarray(recipe.gain, np.float64),
            cp.asarray(rank_weights(recipe, lists)),
        )

    def groups(self, width: int) -> Iterator[tuple[int, int]]:
        """Topics whose counts of `width` samples are on the device together: first and behind."""
        first = 0
        for topic in range(1, self.n_topics + 1):
            behind = self.documents[min(topic + 1, self.n_topics)] - self.documents[first]
            if topic == self.n_topics or behind * width > COUNTS:
                yield first, topic
                first = topic


def sample_shared(lists: DeviceLists, first: int, count: int) -> tuple[Any, Any]:
    """Values [sample, cell] from `first`, a multiple of 64, on; how often nothing was relevant."""
    cp = cupy()
    values = cp.empty((count, lists.n_cells))
    without = cp.zeros(1, np.uint64)
    width = -(-count // SIDE_BY_SIDE) * SIDE_BY_SIDE
    blocks = -(-count // THREADS)
    for low, high in lists.groups(width):
        begin = int(lists.documents[low])
        n_documents, n_own = int(lists.documents[high]) - begin, high - low
        counts = cp.empty((max(1, n_documents), width), np.uint8)
        if n_documents:
            _kernel("draw_counts")(
                (-(-n_documents * (width // 2) // THREADS),),
                (THREADS,),
                (
                    lists.hashes,
                    lists.topic_of,
                    lists.keys,
                    np.int64(begin),
                    np.int64(n_documents),
                    np.int64(first),
                    np.int32(width),
                    counts,
                ),
            )
        relevant, best = cp.empty((n_own, width), np.int32), cp.empty((n_own, width))
        _kernel("ideal_lists")(
            (n_own, blocks),
            (THREADS,),
            (
                lists.bounds,
                *lists.ideal,
                np.int32(low),
                np.int32(count),
                np.int32(width),
                counts,
                *lists.measure,
                relevant,
                best,
                without,
            ),
        )
        _kernel("score_lists")(
            (n_own * (lists.n_cells // lists.n_topics), blocks),
            (THREADS,),
            (
                lists.bounds,
                lists.hashes,
                *lists.ideal,
                *lists.rankings,
                lists.keys,
                np.int32(low),
                np.int32(lists.n_topics),
                np.int32(n_own),
                np.int64(first),
                np.int32(count),
                np.int32(width),
                counts,
                *lists.measure,
                relevant,
                best,
                np.int32(lists.n_cells),
                values,
            ),
        )
    return values, without


def _kernel(name: str) -> Any:
    return gpu_kernels(*SOURCE).get_function(name)
