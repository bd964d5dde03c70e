"""The kernels of this study on a tiny track, for a first command (`compute.ahead`)."""

from __future__ import annotations

import numpy as np

from steadyrank.compute.ahead import Rehearsal
from steadyrank.compute.executors import workers
from steadyrank.measures.names import Measure
from steadyrank.measures.rehearsal import smallest_track
from steadyrank.measures.scoring import prepare
from steadyrank.stats.ranks.correlation import taus_against
from steadyrank.studies.simulate.shared_counts import Lists
from steadyrank.studies.simulate.sources import SharedDocuments
from steadyrank.studies.simulate.study import simulate

SAMPLING = Rehearsal(
    f"{__name__}:sample_one_document",
    frozenset(
        {"steadyrank.studies.simulate.shared_counts", "steadyrank.studies.simulate.shared_kernels"}
    ),
)

CORRELATING = Rehearsal(
    f"{__name__}:correlate_two_runs", frozenset({"steadyrank.stats.ranks.kernels"})
)

SIMULATING = Rehearsal(
    f"{__name__}:simulate_two_topics",
    frozenset(
        {"steadyrank.stats.pairs.difference_bins", "steadyrank.studies.simulate.list_kernels"}
    ),
)


def sample_one_document() -> None:
    """Draw one ranking: most of the study's compile time, and without what comes before."""
    whole, places = np.arange(2), np.zeros(1, np.int32)
    lists = Lists(
        documents=whole,
        hashes=np.ones(1, np.uint64),
        ideal=whole,
        grades=np.ones(1, np.int32),
        starts=whole,
        places=places,
        events=whole,
        at=places,
        size=np.ones(1, np.int32),
        depth=np.ones(1, np.int64),
    )
    documents = SharedDocuments(lists, prepare(Measure("AP"), 1), np.zeros(1, np.uint64))
    with workers(jobs=1) as pool:
        documents.fill(np.empty((1, 1)), 0, pool)


def correlate_two_runs() -> None:
    """Compare the order of two runs with that of one collection."""
    taus_against(np.arange(2.0), np.ones((1, 2)), jobs=1)


def simulate_two_topics() -> None:
    """The whole study."""
    runs, qrels = smallest_track()
    simulate(runs, qrels, n_samples=2, jobs=1, rng=0)
