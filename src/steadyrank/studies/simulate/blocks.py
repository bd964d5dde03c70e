"""Draw the values of all cells, block by block, and summarise them: here, or on a cluster.

Values come from the scores of each run, drawn separately (Yang, Zhang & Song 2018), or from a new
collection that all runs rank. A block is some hundreds of simulated collections. Little of it is
kept: mean scores, standard errors of the differences of all pairs, and two sums per cell. With a
store, a study that was stopped continues where it stopped.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steadyrank.compute.executors import (
    Progress,
    as_finished,
    is_elsewhere,
    map_in_order,
    one_blas_thread,
    workers,
)
from steadyrank.compute.random import block_stream
from steadyrank.compute.stores import Store
from steadyrank.data.qrels import Qrels
from steadyrank.errors import MachineError
from steadyrank.measures.names import Measure
from steadyrank.measures.scoring import Recipe
from steadyrank.stats.pairs.difference_bins import shifted_sums
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import means_and_errors, slices
from steadyrank.studies.simulate import statistics
from steadyrank.studies.simulate.measures import Denominator, make_gain, raw_values, simulated_name
from steadyrank.studies.simulate.profiles import RunNotes, ScoreProfiles, joined_bins
from steadyrank.studies.simulate.result import SimulatePart
from steadyrank.studies.simulate.sampler_kernels import Cells, Gain, sample_cells
from steadyrank.studies.simulate.shared_kernels import make_scratch, scoring_of, shared_kernel
from steadyrank.studies.simulate.shared_lists import SIDE_BY_SIDE, RankingArrays, SharedLists

TASKS = 16
"""Parts into which the cells of a block are divided."""

LARGEST_BLOCK = 512
"""Most samples of each cell that are in memory together."""

BLOCK_VALUES = 1 << 24
"""Approximate most values of a block (128 MiB)."""

REPLICATES = 16
"""Samples whose tests are computed together: they fit into the processor's cache."""

IN_MEMORY = 1 << 29
"""Most bytes of standard errors in memory; larger arrays are in a temporary file."""

SampleBlock = dict[str, np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class IndependentRuns:
    """The scores of each run, drawn separately (Yang, Zhang & Song 2018): `sampler_kernels`."""

    cells: Cells
    gain: Gain
    key: np.uint64
    smooth: tuple[Cells, np.ndarray] | None = None
    """These densities in fewer bins, and the tilt of each bin."""

    def fill(self, values: np.ndarray, first: int, pool: Executor) -> int:
        """Fill a block; count draws with more relevant documents than their ranking is deep."""

        def some(part: slice) -> int:
            how = int(part.start), self.key, first, self.gain, values[part]
            cells, tilt = self.smooth or (self.cells, None)
            return sample_cells(cells, tilt, *how)

        return _in_parts(some, len(values), pool)


@dataclass(frozen=True, slots=True, eq=False)
class SharedDocuments:
    """One new collection for all runs: `shared_kernels`."""

    lists: RankingArrays
    recipe: Recipe
    keys: np.ndarray

    def fill(self, values: np.ndarray, first: int, pool: Executor) -> int:
        """Fill a block; count topics without a relevant document in a sample."""
        sample = shared_kernel(self.recipe.kernel)
        scoring = scoring_of(self.recipe, self.lists)
        chunks = -(-values.shape[1] // SIDE_BY_SIDE)

        def some(part: slice) -> int:
            scratch, items = make_scratch(self.lists), (part.start, part.stop)
            return int(sample(self.lists, self.keys, *items, first, scoring, scratch, values))

        return _in_parts(some, len(self.keys) * chunks, pool)


SampleSource = IndependentRuns | SharedDocuments
"""Fills values[cell, sample - first] of a block, and counts the special cases among the draws."""


def _in_parts(some: Callable[[slice], int], n: int, pool: Executor) -> int:
    return sum(map_in_order(some, slices(n, -(-n // TASKS)), pool))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sampling:
    """What the samples are drawn from, and facts about the runs, which are sorted by name."""

    source: SampleSource
    n_samples: int
    measure: str
    raw: np.ndarray
    """[run, topic]: the measure of the observed rankings."""
    notes: RunNotes
    plain: int = 0
    fingerprint: str
    """Digest of everything that the samples depend on."""

    @property
    def block(self) -> int:
        """Samples of a block; depends on the data alone, since sums are taken block by block."""
        return min(LARGEST_BLOCK, max(1, BLOCK_VALUES // (64 * max(1, self.raw.size))) * 64)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.n_samples // self.block)

    @property
    def n_pairs(self) -> int:
        """Number of unordered pairs of runs."""
        return math.comb(len(self.raw), 2)

    def samples_of(self, number: int) -> slice:
        """Return the samples of a block."""
        return slice(number * self.block, min((number + 1) * self.block, self.n_samples))


def shared_sampling(
    found: SharedLists, recipe: Recipe, topics: Sequence[str], seed: int, *, n_samples: int
) -> Sampling:
    """Prepare one new collection for all runs, whose documents keep their grades."""
    return Sampling(
        n_samples=n_samples,
        source=SharedDocuments(found.lists, recipe, topic_keys(seed, topics)),
        measure=str(recipe.measure),
        raw=found.raw,
        notes=found.notes,
        fingerprint=_fingerprint(found.lists, found.notes, topics),
    )


def topic_keys(seed: int, topics: Sequence[str]) -> np.ndarray:
    """Return the key of the document counts of each topic; it depends on the topic's name alone."""
    streams = (block_stream(seed, f"documents of topic {topic}", 0) for topic in topics)
    return np.array([stream.integers(2**64, dtype=np.uint64) for stream in streams], np.uint64)


def independent_sampling(
    profiles: ScoreProfiles,
    asked: tuple[Measure, int],
    qrels: Qrels,
    topics: Sequence[str],
    seed: int,
    *,
    denominator: Denominator,
    is_smooth: bool,
    n_samples: int,
) -> Sampling:
    """Prepare the scores of each run's relevant and other documents, without grades."""
    gain = make_gain(asked[0], denominator, profiles.cells, longest=profiles.longest)
    key = block_stream(seed, "simulated collections", 0).integers(2**64, dtype=np.uint64)
    smooth = joined_bins(profiles.cells) if is_smooth else None
    columns = [*profiles.cells, *(() if smooth is None else (*smooth[0], smooth[1]))]
    judged = profiles.cells.judged[: len(profiles.blocks[0]) - 1]
    runs = zip(profiles.ranks, profiles.blocks, strict=True)
    return Sampling(
        n_samples=n_samples,
        source=IndependentRuns(profiles.cells, gain, key, smooth),
        measure=simulated_name(*asked, qrels),
        raw=np.stack([raw_values(ranks, blocks, judged, gain) for ranks, blocks in runs]),
        notes=profiles.notes,
        plain=profiles.plain,
        fingerprint=_fingerprint(columns, profiles.notes, topics),
    )


def _fingerprint(columns: Sequence[np.ndarray], notes: RunNotes, topics: Sequence[str]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for column in columns:
        digest.update(np.ascontiguousarray(column).tobytes())
    names = [*(run.name for run in notes.runs), *topics]
    digest.update("\0".join(names).encode(errors="surrogatepass"))
    return digest.hexdigest()


def block_name(number: int) -> str:
    """Return the name of a block in a store."""
    return f"samples-{number:06d}"


def _blocks(
    study: Sampling,
    store: Store | None,
    numbers: Sequence[int],
    progress: Progress | None,
    **machine: Any,
) -> Iterator[tuple[int, SampleBlock, bool]]:
    """Yield blocks as they become available, and whether each was computed now; kept ones first."""
    missing = []
    for number in numbers:
        block = None if store is None else store.load(block_name(number))
        samples = study.samples_of(number)
        # The last block of a shorter study is not complete.
        if block is not None and len(block["means"]) == samples.stop - samples.start:
            yield number, block, False
        else:
            missing.append(number)
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
    """Draw and sum the samples of one block."""
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
def _array(shape: tuple[int, int]) -> Iterator[np.ndarray]:
    """An array of float32, in memory or, if large, in a temporary file."""
    size = 4 * math.prod(shape)
    if size <= IN_MEMORY:
        yield np.empty(shape, np.float32)
        return
    with tempfile.TemporaryFile() as file:
        if hasattr(os, "posix_fallocate"):
            # Reserve all space now: a disk that is full later would end the process.
            try:
                os.posix_fallocate(file.fileno(), 0, size)
            except OSError as error:
                raise MachineError(
                    f"{tempfile.gettempdir()}: {size / 1e9:.1f} GB of temporary space are not "
                    f"available ({error.strerror}): set TMPDIR to another folder, or draw fewer "
                    "samples"
                ) from None
        yield np.memmap(file, np.float32, "w+", shape=shape)


def summarise(
    study: Sampling,
    store: Store | None,
    *,
    alpha: float,
    n_bins: int,
    bin_width: float,
    jobs: int | None = None,
    progress: Progress | None = None,
    **machine: Any,
) -> dict[str, Any]:
    """Sample on this machine's processors or on a cluster; return fields of the result."""
    raw, n_topics = study.raw.mean(axis=1), study.raw.shape[1]
    means: np.ndarray = np.empty((study.n_samples, len(raw)))
    shift, squares = np.zeros((2, *study.raw.shape))  # of differences from the observed values
    odd, summed, numbers = 0, 0, range(study.n_blocks)
    waiting: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    with _array((study.n_pairs, study.n_samples)) as errors:
        for number, block, _ in _blocks(study, store, numbers, progress, jobs=jobs, **machine):
            samples = study.samples_of(number)
            means[samples], errors[:, samples] = block["means"], block["errors"].T
            odd += int(block["odd"])
            # Floating-point sums depend on their order: blocks wait for those before them.
            waiting[number] = block["shift"], block["squares"]
            while summed in waiting:
                more_shift, more_squares = waiting.pop(summed)
                shift += more_shift
                squares += more_squares
                summed += 1
        rates = statistics.significance_rates(means, errors, n_topics, alpha=alpha, jobs=jobs)
    n = study.n_samples
    off = np.maximum(squares - shift**2 / n, 0.0)
    return {
        "simulated": means,
        "cell_mean": study.raw + shift / n,
        "cell_sd": np.sqrt(off / (n - 1)) if n > 1 else np.full(shift.shape, np.nan),
        "odd": odd,
        "rank_correlation": statistics.rank_correlation(raw, means, jobs=jobs),
        "error_rate": statistics.error_rate(raw, means, n_bins=n_bins, bin_width=bin_width),
        "significance": rates,
        "rank_share": statistics.rank_shares(means),
        "prediction": None,
    }


def fill_store(
    study: Sampling,
    store: Store,
    part: tuple[int, int],
    *,
    progress: Progress | None = None,
    **machine: Any,
) -> SimulatePart:
    """Compute the blocks of part i of n that the store lacks: every n-th block from the i-th on."""
    numbers = range(part[0] - 1, study.n_blocks, part[1])
    blocks = _blocks(study, store, numbers, progress, **machine)
    n_computed = sum(is_new for _, _, is_new in blocks)
    return SimulatePart(
        part=part[0],
        n_parts=part[1],
        n_blocks=study.n_blocks,
        n_computed=n_computed,
        n_kept=len(numbers) - n_computed,
        n_left=sum(not store.has(block_name(number)) for number in range(study.n_blocks)),
    )


def in_given_order(found: dict[str, Any], given: np.ndarray) -> dict[str, Any]:
    """Return the summary with the runs in the order in which they were given, not by name."""
    at = np.empty((len(given), len(given)), np.int64)
    first, second = all_pairs(len(given)).T
    at[first, second] = at[second, first] = np.arange(len(first))
    pairs = at[given[first], given[second]]
    rates, prediction = found["significance"], found["prediction"]
    if prediction is not None:
        prediction = replace(
            prediction, rank_share=prediction.rank_share[given], swap=prediction.swap[pairs]
        )
    return found | {
        "simulated": np.ascontiguousarray(found["simulated"][:, given]),
        "significance": replace(rates, rate=rates.rate[pairs], rate_error=rates.rate_error[pairs]),
        "prediction": prediction,
        **{key: found[key][given] for key in ("cell_mean", "cell_sd", "rank_share")},
    }
