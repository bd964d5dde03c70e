"""Samples of all cells, block by block, and their statistics: here, or on a cluster.

A block is some hundreds of simulated collections. What is kept of it is small: mean scores,
standard errors of all pairs' differences, and two sums for each cell. A store takes up again
where it stopped.
"""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from steadyrank.compute.blas import one_blas_thread
from steadyrank.compute.executors import Progress, as_finished, is_elsewhere, map_in_order, workers
from steadyrank.compute.stores import Store
from steadyrank.errors import MachineError
from steadyrank.stats.pairs.difference_bins import N_BINS, WIDTH, shifted_sums
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import means_and_errors, slices
from steadyrank.studies.simulate import statistics
from steadyrank.studies.simulate.prediction import Prediction
from steadyrank.studies.simulate.result import SimulatePart
from steadyrank.studies.simulate.sources import TASKS, SampleSource

LARGEST_BLOCK = 512
"""Samples of every cell that are in memory together, at most."""

BLOCK_VALUES = 1 << 24
"""Values that a block holds, about, at most: 128 MiB."""

REPLICATES = 16
"""Samples whose tests are computed together: they stay in the processor's cache."""

IN_MEMORY = 1 << 29
"""Bytes of standard errors that are held in memory; more lie in a temporary file."""

SampleBlock = dict[str, np.ndarray]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sampling:
    """All that a block of samples depends on, but its number."""

    source: SampleSource
    """Draws the values of every cell."""
    raw: np.ndarray
    """[run, topic]"""
    n_samples: int
    n_bins: int = N_BINS
    """Of the error rate."""
    bin_width: float = WIDTH

    @property
    def block(self) -> int:
        """Samples of a block: a function of the data alone, as sums are taken block by block."""
        return min(LARGEST_BLOCK, max(1, BLOCK_VALUES // (64 * max(1, self.raw.size))) * 64)

    @property
    def n_blocks(self) -> int:
        """How many blocks the samples make."""
        return -(-self.n_samples // self.block)

    @property
    def n_pairs(self) -> int:
        """Unordered pairs of runs."""
        return math.comb(len(self.raw), 2)

    def samples_of(self, number: int) -> slice:
        """The samples of a block."""
        return slice(number * self.block, min((number + 1) * self.block, self.n_samples))


class Sampled:
    """What is known of all samples, filled in block by block, in any order."""

    def __init__(self, study: Sampling, errors: np.ndarray):
        n_runs = len(study.raw)
        self.means: np.ndarray = np.empty((study.n_samples, n_runs))
        """[sample, run]"""
        self.errors = errors
        """[pair, sample]: standard errors of mean differences."""
        self.shift = np.zeros(study.raw.shape)
        """[run, topic]: sum over samples of the difference from the raw value."""
        self.squares = np.zeros(study.raw.shape)
        self.odd = 0
        """What the source counts."""
        self._study = study
        self._early: dict[int, SampleBlock] = {}
        self._next = 0

    def take(self, number: int, block: SampleBlock) -> None:
        """Take a finished block in."""
        samples = self._study.samples_of(number)
        self.means[samples] = block["means"]
        self.errors[:, samples] = block["errors"].T
        self.odd += int(block["odd"])
        # Floating-point sums depend on their order: blocks wait for those before them.
        self._early[number] = {key: block[key] for key in ("shift", "squares")}
        while self._next in self._early:
            sums = self._early.pop(self._next)
            self.shift += sums["shift"]
            self.squares += sums["squares"]
            self._next += 1


def block_name(number: int) -> str:
    """Under which name a store keeps a block."""
    return f"samples-{number:06d}"


def kept_block(study: Sampling, store: Store | None, number: int) -> SampleBlock | None:
    """A block that the store has, if it holds all its samples."""
    block = None if store is None else store.load(block_name(number))
    samples = study.samples_of(number)
    # The last block of a shorter study is not a whole one.
    if block is None or len(block["means"]) != samples.stop - samples.start:
        return None
    return block


def _blocks(
    study: Sampling,
    store: Store | None,
    numbers: Sequence[int],
    progress: Progress | None,
    **machine: Any,
) -> Iterator[tuple[int, SampleBlock, bool]]:
    """Some blocks as they are there, and whether each was computed now: those kept come first.

    The others are computed one after the other by all threads, or spread over a cluster, and kept.
    """
    missing = []
    for number in numbers:
        block = kept_block(study, store, number)
        if block is None:
            missing.append(number)
        else:
            yield number, block, False
    done = len(numbers) - len(missing)
    with workers(**machine) as pool:
        finished: Iterable[tuple[int, SampleBlock]] = (
            as_finished(_block_there, study, missing, pool)
            if is_elsewhere(pool)
            else ((number, compute_block(study, number, pool)) for number in missing)
        )
        for number, block in finished:
            if store is not None:
                store.save(block_name(number), block)
            yield number, block, True
            done += 1
            if progress is not None:
                progress(done, len(numbers))


def _block_there(study: Sampling, number: int) -> SampleBlock:
    with workers(jobs=1) as here:
        return compute_block(study, number, here)


def compute_block(study: Sampling, number: int, pool: Executor) -> SampleBlock:
    """Draw the samples of one block and sum them up."""
    samples = study.samples_of(number)
    n_samples, n_cells = samples.stop - samples.start, study.raw.size
    n_runs, n_topics = study.raw.shape
    values = np.empty((n_cells, n_samples))
    shift, squares, flat = np.empty(n_cells), np.empty(n_cells), study.raw.ravel()

    def add_up(part: slice) -> None:
        shifted_sums(values[part], flat[part], shift[part], squares[part])

    means = np.empty((n_samples, n_runs))
    errors = np.empty((n_samples, study.n_pairs), np.float32)

    def test(part: slice) -> None:
        matrices = np.ascontiguousarray(values[:, part].T).reshape(-1, n_runs, n_topics)
        means[part] = means_and_errors(matrices, errors[part])
        if n_topics < 2:
            errors[part] = np.inf  # One topic has no variance: no pair is significant.

    with one_blas_thread():
        odd = study.source.fill(values, samples.start, pool)
        map_in_order(add_up, slices(n_cells, -(-n_cells // TASKS)), pool)
        map_in_order(test, slices(n_samples, REPLICATES), pool)
    return {
        "means": means,
        "errors": errors,
        "shift": shift.reshape(study.raw.shape),
        "squares": squares.reshape(study.raw.shape),
        "odd": np.array(odd),
    }


@contextlib.contextmanager
def _room_for(shape: tuple[int, int]) -> Iterator[np.ndarray]:
    """An array of float32, in memory or, if large, in a temporary file."""
    if 4 * math.prod(shape) <= IN_MEMORY:
        yield np.empty(shape, np.float32)
        return
    with tempfile.TemporaryFile() as file:
        _reserve(file.fileno(), 4 * math.prod(shape))
        yield np.memmap(file, np.float32, "w+", shape=shape)


def _reserve(file: int, size: int) -> None:
    """Take all of a file's room now: a disk that is full later would end the process."""
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file, 0, size)
    except OSError as error:
        raise MachineError(
            f"{tempfile.gettempdir()}: {size / 1e9:.1f} GB of temporary space are not "
            f"available here ({error.strerror}): set TMPDIR to another folder, or draw fewer "
            "samples"
        ) from None


class Summary(NamedTuple):
    """All that is told about the samples of a study."""

    means: np.ndarray
    """[sample, run]"""
    shift: np.ndarray
    """[run, topic]: sum over samples of the difference from the raw value."""
    squares: np.ndarray
    odd: int
    """What the source of the samples counts."""
    correlation: statistics.CollectionCorrelation
    errors: statistics.ErrorRate
    rates: statistics.SignificanceRates
    rank_share: np.ndarray
    prediction: Prediction | None = None


def summarise(
    study: Sampling,
    store: Store | None,
    *,
    alpha: float,
    jobs: int | None = None,
    progress: Progress | None = None,
    **machine: Any,
) -> Summary:
    """Sample and summarise on this machine's processors or on a cluster."""
    raw, n_topics = study.raw.mean(axis=1), study.raw.shape[1]
    with _room_for((study.n_pairs, study.n_samples)) as errors:
        sampled, numbers = Sampled(study, errors), range(study.n_blocks)
        for number, block, _ in _blocks(study, store, numbers, progress, jobs=jobs, **machine):
            sampled.take(number, block)
        means = sampled.means
        rates = statistics.significance_rates(means, errors, n_topics, alpha=alpha, jobs=jobs)
    return Summary(
        means=means,
        shift=sampled.shift,
        squares=sampled.squares,
        odd=sampled.odd,
        correlation=statistics.rank_correlation(raw, means, jobs=jobs),
        errors=statistics.error_rate(raw, means, n_bins=study.n_bins, bin_width=study.bin_width),
        rates=rates,
        rank_share=statistics.rank_shares(means),
    )


def fill_store(
    study: Sampling,
    store: Store,
    part: tuple[int, int],
    *,
    progress: Progress | None = None,
    **machine: Any,
) -> SimulatePart:
    """Compute the blocks of one part that the store lacks: every n-th block, from the i-th on."""
    numbers = range(part[0] - 1, study.n_blocks, part[1])
    blocks = _blocks(study, store, numbers, progress, **machine)
    n_computed = sum(is_new for _, _, is_new in blocks)
    left = [n for n in range(study.n_blocks) if not store.has(block_name(n))]
    return SimulatePart(
        part=part[0],
        n_parts=part[1],
        n_blocks=study.n_blocks,
        n_computed=n_computed,
        n_kept=len(numbers) - n_computed,
        n_left=len(left),
    )


def in_given_order(summary: Summary, given: np.ndarray) -> Summary:
    """A summary of runs by name as one of the runs as they were given: given[0] comes first."""
    at = np.empty((len(given), len(given)), np.int64)
    first, second = all_pairs(len(given)).T
    at[first, second] = at[second, first] = np.arange(len(first))
    pairs = at[given[first], given[second]]
    prediction = summary.prediction
    if prediction is not None:
        prediction = replace(
            prediction, rank_share=prediction.rank_share[given], swap=prediction.swap[pairs]
        )
    return summary._replace(
        means=np.ascontiguousarray(summary.means[:, given]),
        shift=summary.shift[given],
        squares=summary.squares[given],
        rates=replace(
            summary.rates,
            rate=summary.rates.rate[pairs],
            rate_error=summary.rates.rate_error[pairs],
        ),
        rank_share=summary.rank_share[given],
        prediction=prediction,
    )
