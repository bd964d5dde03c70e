"""The study of simulated collections on one GPU: samples and statistics stay on the device.

Documents that all runs share are the processor's, to the last bit. Those of independent runs have
the law of `sampler_kernels` and other numbers: a stream of the GPU's own, reproducible on its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from steadyrank.compute.gpu import cupy, gpu_kernels
from steadyrank.errors import InputError, MachineError
from steadyrank.studies.simulate.list_kernels import SIDE_BY_SIDE
from steadyrank.studies.simulate.measures import KINDS
from steadyrank.studies.simulate.sampler_kernels import Cells, Gain
from steadyrank.studies.simulate.shared_kernels import rank_weights
from steadyrank.studies.simulate.sources import SharedDocuments

INDEPENDENT = ("steadyrank.studies.simulate", "simulate.cu")
SHARED = ("steadyrank.studies.simulate", "shared.cu", "--fmad=false")
"""Without fused operations, whose results are not those of the processor."""

THREADS = 256
SHARED_THREADS = 128
COUNTS = 1 << 31
"""Bytes of counts of shared documents that are on the device together."""

N_BINS = 21
LARGEST_FACTORIAL = 1 << 16


class DeviceCells(NamedTuple):
    """Cells and their measure on the device."""

    n_cells: int
    arguments: tuple[Any, ...]
    gain: tuple[Any, ...]


class PairStatistics(NamedTuple):
    """What the statistics of `collection_statistics` are made of, on the host."""

    counts: np.ndarray
    errors: np.ndarray
    zeros: np.ndarray
    taus: np.ndarray
    rank_share: np.ndarray
    rates: np.ndarray
    differences: np.ndarray


def upload(cells: Cells, gain: Gain) -> DeviceCells:
    """Copy cells and measure to the device, with what the kernel would compute again and again."""
    cp = cupy()
    starts = np.asarray(cells.starts, np.int64)
    share, has_others = _shares(cells)
    longest = int(max(cells.depth.max(initial=0), cells.n_relevant.max(initial=0)))
    table = np.concatenate(
        [[0.0], np.cumsum(np.log(np.arange(1.0, min(longest, LARGEST_FACTORIAL) + 2)))]
    )
    arguments = (
        cp.asarray(starts),
        cp.asarray(cells.relevant, np.float64),
        cp.asarray(np.exp(-np.asarray(cells.relevant, np.float64))),
        cp.asarray(share),
        cp.asarray(cells.mingled, np.uint8),
        cp.asarray(cells.n_relevant, np.int64),
        cp.asarray(cells.depth, np.int64),
        cp.asarray(cells.judged, np.int64),
        cp.asarray(has_others, np.uint8),
        cp.asarray(table),
        np.int32(len(table)),
    )
    constants = (
        cp.asarray(gain.cumulated),
        np.float64(gain.per_relevant),
        np.float64(gain.per_other),
        np.float64(gain.constant),
        np.int32(gain.first_only),
        cp.asarray(gain.scale),
        np.int32(gain.base),
    )
    return DeviceCells(len(cells.tail), arguments, constants)


def _shares(cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """Each bin's share of the other documents from it on down; whether a cell has any."""
    others = np.asarray(cells.others, np.float64)
    below, totals = np.empty(len(others)), np.array(cells.tail, np.float64)
    # Sums from the last bin up, cell by cell: a running total from the end, less its value
    # below the cell, would lose digits of small cells after large ones.
    for cell, (start, stop) in enumerate(itertools.pairwise(cells.starts.tolist())):
        below[start:stop] = np.cumsum(others[start:stop][::-1])[::-1] + cells.tail[cell]
        totals[cell] += others[start:stop].sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(below > 0, others / below, 0.0)
    return np.minimum(share, 1.0), totals > 0


def sample_on_device(cells: DeviceCells, key: np.uint64, first: int, count: int) -> tuple[Any, Any]:
    """Values [replicate, cell] of replicates from `first` on; how many were truncated."""
    cp = cupy()
    values = cp.empty((count, cells.n_cells))
    truncated = cp.zeros(1, np.uint64)
    _kernel(INDEPENDENT, "sample_cells")(
        (cells.n_cells, -(-count // THREADS)),
        (THREADS,),
        (
            *cells.arguments,
            *cells.gain,
            np.uint64(key),
            np.int64(first),
            np.int32(count),
            np.int32(cells.n_cells),
            values,
            truncated,
        ),
    )
    return values, truncated


def _kernel(source: tuple[str, ...], name: str) -> Any:
    return gpu_kernels(*source).get_function(name)


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
    blocks = -(-count // SHARED_THREADS)
    for low, high in lists.groups(width):
        begin = int(lists.documents[low])
        n_documents, n_own = int(lists.documents[high]) - begin, high - low
        counts = cp.empty((max(1, n_documents), width), np.uint8)
        if n_documents:
            _kernel(SHARED, "draw_counts")(
                (-(-n_documents * (width // 2) // SHARED_THREADS),),
                (SHARED_THREADS,),
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
        _kernel(SHARED, "ideal_lists")(
            (n_own, blocks),
            (SHARED_THREADS,),
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
        _kernel(SHARED, "score_lists")(
            (n_own * (lists.n_cells // lists.n_topics), blocks),
            (SHARED_THREADS,),
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


class DeviceSamples:
    """Means [sample, run] and standard errors [pair, sample] of all samples, on the device."""

    def __init__(self, n_samples: int, raw: np.ndarray):
        cp = cupy()
        n_runs, self.n_topics = raw.shape
        self.n_pairs = n_runs * (n_runs - 1) // 2
        try:
            self.means = cp.empty((n_samples, n_runs))
            self.errors = cp.empty((self.n_pairs, n_samples), np.float32)
        except cp.cuda.memory.OutOfMemoryError:
            raise MachineError(
                f"{self.n_pairs} pairs of runs times {n_samples} samples do not fit on the "
                "GPU: draw fewer samples, or use device cpu"
            ) from None
        self.raw = cp.asarray(raw)

    def take(self, values: Any, first: int) -> tuple[Any, Any]:
        """Take in the values [replicate, cell] of samples from `first` on.

        Returns the sums over them of each cell's difference from its raw value, and of its
        square.
        """
        cp = cupy()
        count, n_runs = len(values), len(self.raw)
        matrices = values.reshape(count, n_runs, self.n_topics)
        means = matrices.mean(axis=2)
        self.means[first : first + count] = means
        off = matrices - self.raw
        sums = off.sum(axis=0), (off * off).sum(axis=0)
        if self.n_topics < 2:
            self.errors[:, first : first + count] = np.inf
            return sums
        centred = matrices - means[:, :, None]
        gram = cp.matmul(centred, centred.transpose(0, 2, 1))
        if self.n_pairs:
            _kernel(INDEPENDENT, "standard_errors")(
                (n_runs - 1, count),
                (min(THREADS, 32 * -(-n_runs // 32)),),
                (
                    centred,
                    gram,
                    np.int32(n_runs),
                    np.int32(self.n_topics),
                    np.int32(count),
                    np.int64(self.errors.shape[1]),
                    np.int64(first),
                    self.errors,
                ),
            )
        return sums

    def block(self, part: slice) -> dict[str, np.ndarray]:
        """Means and standard errors of some samples, to be kept."""
        return {"means": self.means[part].get(), "errors": self.errors[:, part].T.get()}

    def restore(self, block: dict[str, np.ndarray], first: int) -> None:
        """Take in means and standard errors that were kept."""
        cp = cupy()
        part = slice(first, first + len(block["means"]))
        self.means[part] = cp.asarray(block["means"])
        self.errors[:, part] = cp.asarray(block["errors"]).T

    def statistics(self, pairs: np.ndarray, critical: float, place: int) -> PairStatistics:
        """The counts behind the four comparisons."""
        cp = cupy()
        n_samples, n_runs = self.means.shape
        counts, errors = (cp.empty((n_samples, N_BINS), np.int32) for _ in range(2))
        agreement, ties, zeros = (cp.empty(n_samples, np.int64) for _ in range(3))
        ranks = cp.zeros((n_runs, n_runs), np.uint64)
        raw = self.raw.mean(axis=1)
        _kernel(INDEPENDENT, "compare_rankings")(
            (n_samples,),
            (128,),
            (raw, self.means, np.int32(n_runs), counts, errors, agreement, ties, zeros, ranks),
        )
        rates, differences = cp.zeros(self.n_pairs), cp.zeros((2, self.n_pairs))
        if self.n_pairs:
            by_run = cp.ascontiguousarray(self.means.T)
            overall = by_run.mean(axis=1)
            centre = overall[pairs[:, 0]] - overall[pairs[:, 1]]
            _kernel(INDEPENDENT, "pair_rates")(
                (self.n_pairs,),
                (THREADS,),
                (
                    by_run,
                    self.errors,
                    cp.asarray(pairs, np.int32),
                    centre,
                    np.int64(n_samples),
                    np.float64(critical),
                    np.int64(place),
                    rates,
                    differences,
                    np.int32(self.n_pairs),
                ),
            )
        raw_host = cp.asnumpy(raw)
        tied_raw = sum(
            int(n) * (int(n) - 1) // 2 for n in np.unique(raw_host, return_counts=True)[1]
        )
        whole = self.n_pairs - tied_raw
        with np.errstate(divide="ignore", invalid="ignore"):
            taus = cp.asnumpy(agreement) / np.sqrt(
                float(whole) * (self.n_pairs - cp.asnumpy(ties).astype(np.float64))
            )
        return PairStatistics(
            counts=cp.asnumpy(counts).astype(np.int64),
            errors=cp.asnumpy(errors).astype(np.int64),
            zeros=cp.asnumpy(zeros),
            taus=taus,
            rank_share=cp.asnumpy(ranks).astype(np.float64) / n_samples,
            rates=cp.asnumpy(rates),
            differences=cp.asnumpy(differences),
        )
