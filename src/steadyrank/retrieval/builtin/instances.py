"""Instances of systems on the built-in collection: selective search, which varies when rebuilt.

For anyone who wants to try `instances` and `components` on real text (Jayasinghe et al., IP&M 2015,
section 5). Two systems search only some of the shards into which the documents are clustered;
every instance is another clustering and another central sample. None of them was pooled, so some
of their best documents are unjudged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from steadyrank.data.run import Run
from steadyrank.retrieval.builtin.runs import builtin_counts, index_of, systems
from steadyrank.retrieval.engine.search import order_documents
from steadyrank.retrieval.engine.stop_lists import stop_words
from steadyrank.retrieval.shards.partition import (
    Partition,
    central_sample,
    make_vectors,
    topical_shards,
)
from steadyrank.retrieval.shards.search import (
    Engine,
    Shards,
    choose_shards,
    make_engine,
    make_shards,
    run_of,
)

TEAM = "selective"
RANKER = "okapi_long"
"""The pooled run whose ranking is searched in part."""
SEARCHED = (8, 14)
"""Shards that a system searches for each topic, of all."""
SHARDS = 20
N_INSTANCES = 4
CSI_DEPTH = 50
CLUSTER_SHARE = 0.1
SAMPLE_RATE = 0.05


def builtin_instances(*, depth: int = 1000) -> tuple[Run, ...]:
    """Instances of two selective search systems on the built-in collection.

    They search eight and fourteen of twenty topical shards, in four instances each. `info` says
    each run's team, its `system`, and how many `shards` that searches. The instances are the same
    whenever they are made. They were not pooled.

    Parameters
    ----------
    depth : int
        Documents per topic.

    Returns
    -------
    tuple of Run
        Eight runs, four of each system.

    Examples
    --------
    >>> import steadyrank as sr
    >>> instances = sr.builtin_instances(depth=10)
    >>> len(instances), sorted({run.info["system"] for run in instances})
    (8, ['okapi_s14', 'okapi_s8'])
    """
    ranker = next(system for system in systems() if system["run"] == RANKER)
    order = order_documents(builtin_counts().documents)
    engine = make_engine(index_of(ranker), order, ranker["model"])
    partitions = [make_shards(engine, partition) for partition in _partitions()]
    return tuple(
        _run(engine, shards, number, searched, depth)
        for searched in SEARCHED
        for number, shards in enumerate(partitions)
    )


def _partitions() -> Iterator[Partition]:
    """The shards of each instance, which all systems share."""
    vectors = make_vectors(builtin_counts(), without=stop_words("lucene"))
    for number in range(N_INSTANCES):
        yield topical_shards(
            vectors, n_shards=SHARDS, sample_share=CLUSTER_SHARE, seed=0, sample=number, partition=0
        )


def _run(engine: Engine, shards: Shards, number: int, searched: int, depth: int) -> Run:
    system = f"okapi_s{searched}"
    sample = central_sample(shards.partition, rate=SAMPLE_RATE, seed=0, sample=number)
    chosen = choose_shards(engine, shards, sample, csi_depth=CSI_DEPTH, top_shards=searched)
    run = run_of(engine, shards, chosen, depth=depth, name=f"{system}_{number + 1}")
    return replace(run, info={"team": TEAM, "system": system, "shards": str(searched)})
