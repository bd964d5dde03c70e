"""Runs on the built-in collection: those whose best ten documents were judged.

Eighteen systems of six teams differ in models, stemmers, n-grams, stop lists, and in the words of a
topic that they search for. Instances of two selective search systems are for `instances` and
`components` (Jayasinghe et al., IP&M 2015, section 5): each searches some of the shards into which
the documents are clustered, and every instance is another clustering and another central sample.
They were not pooled, so that some of their best documents are unjudged.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from steadyrank.compute.executors import Progress
from steadyrank.data.run import Run
from steadyrank.data.track.shipped import POOL_DEPTH as POOL_DEPTH
from steadyrank_lab.retrieval.builtin.collection import DATA, builtin_documents, builtin_topics
from steadyrank_lab.retrieval.engine.index import Index, build_index
from steadyrank_lab.retrieval.engine.search import order_documents, search
from steadyrank_lab.retrieval.engine.shard_search import (
    choose_shards,
    make_engine,
    make_shards,
    merged,
)
from steadyrank_lab.retrieval.engine.shards import central_sample, make_vectors, topical_shards
from steadyrank_lab.retrieval.engine.tokens import stop_words
from steadyrank_lab.retrieval.engine.word_counts import WordCounts, count_words


def builtin_runs(*, depth: int = 1000, progress: Progress | None = None) -> tuple[Run, ...]:
    """Return the runs that the judgments of the built-in collection were pooled from.

    `info` says each run's team, stop list, stemmer or n-gram, model, and the fields of the topic
    that it searched for.

    Parameters
    ----------
    depth : int
        Documents per topic.
    progress : callable, optional
        Is given (finished, total) runs.

    Returns
    -------
    tuple of Run
        Eighteen runs of six teams.

    Examples
    --------
    >>> import steadyrank as sr
    >>> runs = sr.builtin_runs(depth=10)
    >>> len(runs), len({run.info["team"] for run in runs})
    (18, 6)
    """
    pooled, runs = systems(), []
    for done, system in enumerate(pooled, start=1):
        run = search(_index_of(system), system["model"], depth=depth, name=system["run"])
        info = {name: text for name, text in system.items() if name != "run"}
        runs.append(replace(run, info=info))
        if progress is not None:
            progress(done, len(pooled))
    return tuple(runs)


def systems() -> list[dict[str, str]]:
    """Return what each of the pooled runs is made of, under the names of run information."""
    text = (DATA / "systems.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def builtin_counts() -> WordCounts:
    """Return the words of the documents, counted once per process."""
    return count_words(builtin_documents())


@cache
def _index(fields: str, stop_list: str, unit: str) -> Index:
    topics = builtin_topics(fields.split("+"))
    return build_index(builtin_counts(), topics, stop_list=stop_list, unit=unit)


def _index_of(system: Mapping[str, str]) -> Index:
    return _index(system["field"], system["stop_list"], system["lexical"])


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
    (8, ['okapi_14_shards', 'okapi_8_shards'])
    """
    ranker = next(system for system in systems() if system["run"] == RANKER)
    order = order_documents(builtin_counts().documents)
    engine = make_engine(_index_of(ranker), order, ranker["model"])
    vectors = make_vectors(builtin_counts(), without=stop_words("lucene"))
    clustered: Any = {"n_shards": SHARDS, "sample_share": CLUSTER_SHARE}
    made = [
        make_shards(engine, topical_shards(vectors, **clustered, sample=number))
        for number in range(N_INSTANCES)
    ]
    runs = []
    for searched in SEARCHED:
        system = f"okapi_{searched}_shards"
        info = {"team": TEAM, "system": system, "shards": str(searched)}
        for number, shards in enumerate(made):
            sample = central_sample(shards.partition, rate=SAMPLE_RATE, sample=number)
            chosen = choose_shards(shards, sample, csi_depth=CSI_DEPTH, top_shards=searched)
            run = merged(shards, chosen, depth=depth).to_run(f"{system}_{number + 1}")
            runs.append(replace(run, info=info))
    return tuple(runs)
