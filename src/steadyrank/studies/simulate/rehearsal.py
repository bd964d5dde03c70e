"""The kernels of this study on a tiny track, for a first command (`compute.ahead`)."""

from __future__ import annotations

import numpy as np

from steadyrank.compute.ahead import Rehearsal
from steadyrank.measures.names import Measure
from steadyrank.measures.rehearsal import smallest_track
from steadyrank.studies.simulate.measures import make_gain
from steadyrank.studies.simulate.sampler_kernels import sample_cells
from steadyrank.studies.simulate.score_bins import Cells
from steadyrank.studies.simulate.study import simulate

SAMPLING = Rehearsal(
    f"{__name__}:sample_one_cell", frozenset({"steadyrank.studies.simulate.sampler_kernels"})
)

SIMULATING = Rehearsal(
    f"{__name__}:simulate_two_topics",
    frozenset(
        {
            "steadyrank.stats.pairs.difference_bins",
            "steadyrank.stats.ranks.kernels",
            "steadyrank.studies.simulate.profile_kernels",
        }
    ),
)


def sample_one_cell() -> None:
    """Draw one ranking: half of the study's compile time, and without what comes before."""
    weights, counts = np.ones(1), np.ones(1, np.int64)
    cells = Cells(
        starts=np.arange(2),
        relevant=weights,
        others=weights,
        mingled=np.zeros(1, np.bool_),
        tail=weights,
        n_relevant=counts,
        depth=3 * counts,
        judged=counts,
    )
    gain = make_gain(Measure("AP"), "poisson", cells, longest=3)
    sample_cells(cells, 0, np.uint64(0), 0, gain, np.empty((1, 1)))


def simulate_two_topics() -> None:
    """The whole study."""
    runs, qrels = smallest_track()
    simulate(runs, qrels, n_samples=2, jobs=1, rng=0)
