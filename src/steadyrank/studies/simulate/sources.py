"""Where simulated values come from: each run's own scores, or documents that all runs share."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from steadyrank.compute.executors import map_in_order
from steadyrank.measures.scoring import Recipe
from steadyrank.stats.pairs.tests import slices
from steadyrank.studies.simulate import shared_kernels
from steadyrank.studies.simulate.sampler_kernels import Cells, Gain, sample_cells, sample_densities
from steadyrank.studies.simulate.shared_counts import SIDE_BY_SIDE, Lists
from steadyrank.studies.simulate.shared_sums import scoring_of

TASKS = 16
"""Parts into which the cells of a block are cut."""


class Source(Protocol):
    """What draws the values of a block."""

    def fill(self, values: np.ndarray, first: int, pool: Executor) -> int:
        """Fill values[cell, sample - first]; how many draws were odd, in the source's own sense."""


@dataclass(frozen=True, slots=True, eq=False)
class IndependentRuns:
    """Every run's scores, drawn apart (Yang, Zhang & Song 2018)."""

    cells: Cells
    gain: Gain
    key: np.uint64

    def fill(self, values: np.ndarray, first: int, pool: Executor) -> int:
        """Odd are draws with more relevant documents than their ranking is deep."""

        def some(part: slice) -> int:
            return int(
                sample_cells(self.cells, part.start, self.key, first, self.gain, values[part])
            )

        return _in_parts(some, len(values), pool)


@dataclass(frozen=True, slots=True, eq=False)
class SmoothedRuns:
    """Every run's kernel densities, drawn apart."""

    cells: Cells
    """Fine pieces, which a GPU draws from."""
    gain: Gain
    key: np.uint64
    joined: Cells
    """The same in fewer bins."""
    tilt: np.ndarray
    """Of each of these."""

    def fill(self, values: np.ndarray, first: int, pool: Executor) -> int:
        """Odd are draws with more relevant documents than their ranking is deep."""

        def some(part: slice) -> int:
            return sample_densities(
                self.joined, self.tilt, part.start, self.key, first, self.gain, values[part]
            )

        return _in_parts(some, len(values), pool)


@dataclass(frozen=True, slots=True, eq=False)
class SharedDocuments:
    """One new collection for all runs: `shared_kernels`."""

    lists: Lists
    recipe: Recipe
    keys: np.ndarray
    """[topic]"""

    def fill(self, values: np.ndarray, first: int, pool: Executor) -> int:
        """Odd are topics without a relevant document in a sample."""
        sample = shared_kernels.shared_kernel(self.recipe.kernel)
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
                    shared_kernels.make_scratch(self.lists),
                    values,
                )
            )

        return _in_parts(some, len(self.keys) * chunks, pool)


def _in_parts(some: Callable[[slice], int], n: int, pool: Executor) -> int:
    return sum(map_in_order(some, slices(n, -(-n // TASKS)), pool))
