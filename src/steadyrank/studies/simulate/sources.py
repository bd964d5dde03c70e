"""Where simulated values come from: each run's own scores, or documents that all runs share.

The first is the paper's reading (Yang, Zhang & Song 2018), the second a new collection that all
runs rank. A setup makes runs ready for one of them, and its source draws the values of a block.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from steadyrank.compute.executors import map_in_order
from steadyrank.compute.random import block_stream
from steadyrank.data.qrels import Qrels
from steadyrank.measures.scoring import Recipe
from steadyrank.stats.pairs.tests import slices
from steadyrank.studies.simulate.list_kernels import SIDE_BY_SIDE, RankingArrays
from steadyrank.studies.simulate.measures import (
    Denominator,
    SimulatedMeasure,
    make_gain,
    raw_values,
)
from steadyrank.studies.simulate.profile_kernels import joined_bins
from steadyrank.studies.simulate.profiles import RunNotes, ScoreProfiles
from steadyrank.studies.simulate.sampler_kernels import Cells, Gain, sample_cells, sample_densities
from steadyrank.studies.simulate.shared_kernels import make_scratch, scoring_of, shared_kernel
from steadyrank.studies.simulate.shared_lists import SharedLists

TASKS = 16
"""Parts into which the cells of a block are cut."""


@dataclass(frozen=True, slots=True, eq=False)
class IndependentRuns:
    """Every run's scores, drawn apart (Yang, Zhang & Song 2018): `sampler_kernels`."""

    cells: Cells
    gain: Gain
    key: np.uint64
    smooth: tuple[Cells, np.ndarray] | None = None
    """The same densities in fewer bins, and the tilt of each."""

    def fill(self, values: np.ndarray, first: int, pool: Executor) -> int:
        """Odd are draws with more relevant documents than their ranking is deep."""

        def some(part: slice) -> int:
            how = int(part.start), self.key, first, self.gain, values[part]
            if self.smooth is None:
                return sample_cells(self.cells, *how)
            bins, tilt = self.smooth
            return sample_densities(bins, tilt, *how)

        return _in_parts(some, len(values), pool)


@dataclass(frozen=True, slots=True, eq=False)
class SharedDocuments:
    """One new collection for all runs: `shared_kernels`."""

    lists: RankingArrays
    recipe: Recipe
    keys: np.ndarray
    """[topic]"""

    def fill(self, values: np.ndarray, first: int, pool: Executor) -> int:
        """Odd are topics without a relevant document in a sample."""
        sample = shared_kernel(self.recipe.kernel)
        scoring = scoring_of(self.recipe, self.lists)
        chunks = -(-values.shape[1] // SIDE_BY_SIDE)

        def some(part: slice) -> int:
            return int(
                sample(
                    self.lists,
                    self.keys,
                    part.start,
                    part.stop,
                    first,
                    scoring,
                    make_scratch(self.lists),
                    values,
                )
            )

        return _in_parts(some, len(self.keys) * chunks, pool)


SampleSource = IndependentRuns | SharedDocuments
"""What fills values[cell, sample - first] of a block; how many draws were odd, in its own sense."""


def _in_parts(some: Callable[[slice], int], n: int, pool: Executor) -> int:
    return sum(map_in_order(some, slices(n, -(-n // TASKS)), pool))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setup:
    """What a simulation samples, and what was odd about it; runs are by name."""

    source: SampleSource
    measure: str
    """What is simulated, by its name."""
    raw: np.ndarray
    """[run, topic]: of the rankings as they are."""
    notes: RunNotes
    graded_measure: str | None = None
    graded: np.ndarray | None = None
    """[run, topic]: the graded measure, where its binary version is simulated."""
    plain: int = 0
    fingerprint: str
    """A digest of all that the samples depend on."""


def shared_setup(found: SharedLists, recipe: Recipe, topics: Sequence[str], seed: int) -> Setup:
    """One new collection for all runs, whose documents keep their grades."""
    return Setup(
        source=SharedDocuments(found.lists, recipe, topic_keys(seed, topics)),
        measure=str(recipe.measure),
        raw=found.raw,
        notes=found.notes,
        fingerprint=_fingerprint(found.lists, found.notes, topics),
    )


def topic_keys(seed: int, topics: Sequence[str]) -> np.ndarray:
    """Of the counts of each topic's documents: topics meet random numbers by name."""
    streams = (block_stream(seed, f"documents of topic {topic}", 0) for topic in topics)
    return np.array([stream.integers(2**64, dtype=np.uint64) for stream in streams], np.uint64)


def independent_setup(
    profiles: ScoreProfiles,
    asked: SimulatedMeasure,
    qrels: Qrels,
    topics: Sequence[str],
    seed: int,
    *,
    denominator: Denominator,
    is_smooth: bool,
) -> Setup:
    """The scores of every run's relevant and other documents, without grades."""
    gain = make_gain(asked.measure, denominator, profiles.cells, longest=profiles.longest)
    key = block_stream(seed, "simulated collections", 0).integers(2**64, dtype=np.uint64)
    smooth = joined_bins(profiles.cells) if is_smooth else None
    columns = [*profiles.cells, *(() if smooth is None else (*smooth[0], smooth[1]))]
    return Setup(
        source=IndependentRuns(profiles.cells, gain, key, smooth),
        measure=asked.name_on(qrels),
        raw=_raw(profiles, gain),
        notes=profiles.notes,
        graded_measure=None if profiles.graded is None else str(asked.measure),
        graded=profiles.graded,
        plain=profiles.plain,
        fingerprint=_fingerprint(columns, profiles.notes, topics),
    )


def _raw(profiles: ScoreProfiles, gain: Gain) -> np.ndarray:
    judged = profiles.cells.judged[: len(profiles.blocks[0]) - 1]
    runs = zip(profiles.ranks, profiles.blocks, strict=True)
    return np.stack([raw_values(ranks, blocks, judged, gain) for ranks, blocks in runs])


def _fingerprint(columns: Sequence[np.ndarray], notes: RunNotes, topics: Sequence[str]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for column in columns:
        digest.update(np.ascontiguousarray(column).tobytes())
    names = [*(run.name for run in notes.runs), *topics]
    digest.update("\0".join(names).encode(errors="surrogatepass"))
    return digest.hexdigest()
