"""What a cluster costs, measured on a local one, and what 1,000 processors would do with it.

    pip install -e '.[dask]' && python -m bench.cluster [--workers 2]

Measures what Dask takes for an empty task, for a megabyte of results and for the study's data; what
a block of `simulate` takes on one processor, and what comes before and after the blocks. From these
it predicts the time on this cluster, runs the study to compare, and prints a plan for larger ones.
"""

from __future__ import annotations

import argparse
import math
import pickle
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from unittest import mock

import numpy as np

import steadyrank as sr
from steadyrank.compute.executors import shared
from steadyrank.studies.simulate import blocks as sample_blocks
from steadyrank.studies.simulate.blocks import LARGEST_BLOCK

RUNS, TOPICS, DEPTH = 110, 249, 1000
FEW, MANY = 1, 4
"""Numbers of blocks of the two studies whose difference is the cost of a block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Measured seconds."""

    task: float
    """Seconds of an empty task, from submission to result."""
    megabyte: float
    """Seconds to send a task's result to the client."""
    data: float
    """Seconds to send the study's data to one worker."""
    block: float
    """Seconds of 512 simulated collections on one processor."""
    summary: float
    """Seconds per block in the client, after all have arrived."""
    fixed: float
    """Seconds in the client for the runs' profiles and other constant work."""

    def predicted(self, blocks: int, workers: int) -> float:
        """Return the predicted seconds; the client handles one task at a time."""
        coming_in = blocks * (self.task + megabytes() * self.megabyte)
        computing = math.ceil(blocks / workers) * self.block
        handing_out = self.data * math.log2(1 + workers)  # workers pass the data on
        last = self.task + megabytes() * self.megabyte
        waiting = max(coming_in, computing + last)
        return self.fixed + handing_out + waiting + blocks * self.summary


def megabytes() -> float:
    """Return the size of a block: means, standard errors of all pairs, two sums for each cell."""
    pairs = math.comb(RUNS, 2)
    return (LARGEST_BLOCK * (8 * RUNS + 4 * pairs) + 16 * RUNS * TOPICS) / 1e6


def wall(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def nothing(number: int) -> int:
    return number


def arrived(study: sample_blocks.Sampling) -> int:
    return study.n_samples


def zeros(number: int, size: int) -> np.ndarray:
    return np.full(size // 8, float(number))


def gather(executor: Executor, function: Callable[..., object], tasks: int, *args: object) -> None:
    futures = {executor.submit(function, number, *args) for number in range(tasks)}
    for future in as_completed(futures):
        future.result()


def per_task(executor: Executor, tasks: int = 3000) -> float:
    gather(executor, nothing, 200)
    return wall(lambda: gather(executor, nothing, tasks)) / tasks


def per_megabyte(executor: Executor, tasks: int = 20, size: int = 12_000_000) -> float:
    """Return the seconds per task with results of a block's size."""
    gather(executor, zeros, 4, size)
    empty = wall(lambda: gather(executor, zeros, tasks, 8))
    return max(0.0, wall(lambda: gather(executor, zeros, tasks, size)) - empty) / (
        tasks * size / 1e6
    )


def simulated(track: sr.SimulatedTrack, blocks: int, **where: object) -> float:
    samples = blocks * LARGEST_BLOCK
    drawn: dict[str, object] = {"documents": "independent", "n_samples": samples, **where}
    return wall(lambda: sr.simulate(track.runs, track.qrels, **drawn))  # type: ignore[arg-type]


def sent(track: sr.SimulatedTrack, executor: Executor) -> sample_blocks.Sampling:
    """Return the data that a study sends to its workers."""
    values: list[sample_blocks.Sampling] = []
    with mock.patch.object(
        sample_blocks, "shared", lambda pool, value: (values.append(value), shared(pool, value))[1]
    ):
        simulated(track, FEW, executor=executor)
    return values[0]


def measure(track: sr.SimulatedTrack, executor: Executor, study: sample_blocks.Sampling) -> Costs:
    data = wall(lambda: executor.submit(arrived, shared(executor, study)).result())
    simulated(track, FEW, jobs=1)
    few, many = simulated(track, FEW, jobs=1), simulated(track, MANY, jobs=1)
    # All of the difference is computed by workers but the summary, which is timed by itself.
    summary = summary_seconds(track)
    block = (many - few) / (MANY - FEW) - summary
    return Costs(
        task=per_task(executor),
        megabyte=per_megabyte(executor),
        data=data,
        block=block,
        summary=summary,
        fixed=few - FEW * (block + summary),
    )


def summary_seconds(track: sr.SimulatedTrack) -> float:
    """Return the seconds to read a block and sum up, from a study whose blocks are in a store."""
    with tempfile.TemporaryDirectory() as folder:
        taken = []
        for blocks in (FEW, MANY):
            store = f"{folder}/{blocks}"
            simulated(track, blocks, store=store)
            taken.append(simulated(track, blocks, store=store, jobs=1))
    return (taken[1] - taken[0]) / (MANY - FEW)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    from distributed import LocalCluster

    track = sr.simulated_track(
        n_teams=RUNS // 5, runs_per_team=5, n_topics=TOPICS, depth=DEPTH, pool_depth=100
    )
    with (
        LocalCluster(
            n_workers=given.workers, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        cluster.get_client() as client,
    ):
        executor = client.get_executor()
        study = sent(track, executor)
        costs = measure(track, executor, study)
        size = len(pickle.dumps(study, protocol=5)) / 1e6
        print("| what | seconds |\n|---|---:|")
        print(f"| an empty task | {costs.task:.5f} |")
        print(f"| a megabyte of results | {costs.megabyte:.5f} |")
        print(f"| a block's result, {megabytes():.1f} MB | {megabytes() * costs.megabyte:.3f} |")
        print(f"| the data to a worker, {size:.0f} MB | {costs.data:.2f} |")
        print(f"| a block of {LARGEST_BLOCK} collections, one processor | {costs.block:.2f} |")
        print(f"| a block in the summary, in the client | {costs.summary:.3f} |")
        print(f"| before and after all blocks, in the client | {costs.fixed:.2f} |")
        blocks = 4 * given.workers
        simulated(track, given.workers, executor=executor)  # workers load their kernels
        found = simulated(track, blocks, executor=executor)
    expected = costs.predicted(blocks, given.workers)
    print(
        f"\n{blocks} blocks on {given.workers} workers: {found:.1f} s, predicted {expected:.1f} s"
    )
    counts = (1, 10, 100, 1000)
    print("\n| simulated collections | blocks | " + " | ".join(f"{p:,}" for p in counts) + " |")
    print("|---:|---:|" + "---:|" * len(counts))
    for samples in (10_000, 100_000, 1_000_000):
        blocks = math.ceil(samples / LARGEST_BLOCK)
        cells = " | ".join(f"{costs.predicted(blocks, p):,.0f} s" for p in counts)
        print(f"| {samples:,} | {blocks:,} | {cells} |")
    together = costs.predicted(math.ceil(10_000 / LARGEST_BLOCK), 20)
    print(f"| 50 studies of 10,000, 20 workers each | 1,000 | | | | {together:,.0f} s |")


if __name__ == "__main__":
    main()
