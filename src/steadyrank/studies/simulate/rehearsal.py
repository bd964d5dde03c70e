"""The kernels of this study on a tiny track, for a first command (`compute.ahead`)."""

from __future__ import annotations

import numpy as np

from steadyrank.compute.executors import workers
from steadyrank.measures.names import Measure, parse_measures
from steadyrank.measures.rehearsal import smallest_track
from steadyrank.measures.scoring import prepare
from steadyrank.stats.pairs.difference_bins import shifted_sums
from steadyrank.stats.pairs.tests import means_and_errors
from steadyrank.stats.ranks.correlation import pairwise_tau_and_tau_ap, taus_against
from steadyrank.studies.simulate.list_kernels import RankingArrays
from steadyrank.studies.simulate.shared_lists import shared_lists
from steadyrank.studies.simulate.sources import SharedDocuments
from steadyrank.studies.simulate.statistics import error_rate, significance_rates


def sample_one_document(measure: str) -> None:
    """Draw one ranking: most of the study's compile time, and without what comes before."""
    whole, places = np.arange(2), np.zeros(1, np.int32)
    lists = RankingArrays(
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
    (parsed,) = parse_measures(measure)
    recipe = prepare(parsed, 1)
    documents = SharedDocuments(lists, recipe, np.zeros(1, np.uint64))
    with workers(jobs=1) as pool:
        documents.fill(np.empty((1, 1)), 0, pool)


def correlate_two_runs() -> None:
    """Compare the order of two runs with that of one collection."""
    taus_against(np.arange(2.0), np.ones((1, 2)), jobs=1)


def correlate_two_measures() -> None:
    """The same, and compare the orders of two runs by two measures."""
    correlate_two_runs()
    pairwise_tau_and_tau_ap(np.arange(4.0).reshape(2, 2))


def rate_two_runs() -> None:
    """Test the difference of two runs in two collections."""
    simulated = np.arange(4.0).reshape(2, 2)
    errors = np.ones((1, 2), np.float32)
    shifted_sums(simulated, simulated[0], np.empty(2), np.empty(2))
    means_and_errors(np.arange(8.0).reshape(2, 2, 2), errors.reshape(2, 1))
    significance_rates(simulated, errors, 2, jobs=1)
    error_rate(simulated[0], simulated)


def list_two_topics() -> None:
    """Find out which documents matter."""
    runs, qrels = smallest_track()
    shared_lists(runs, qrels, prepare(Measure("AP"), 1), topics=qrels.topics, jobs=1)
