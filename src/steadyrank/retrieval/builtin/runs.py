"""Runs on the built-in collection: those whose best ten documents were judged.

Eighteen systems of six teams, as different as the grid has them: models, stemmers, n-grams, stop
lists, and which words of a topic they take. For anyone who wants a track with teams on real text.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from steadyrank.compute.executors import Progress
from steadyrank.data.run import Run
from steadyrank.retrieval.builtin.collection import (
    builtin_data_file,
    builtin_digest,
    builtin_documents,
    builtin_topics,
)
from steadyrank.retrieval.engine.index import Index, build_index
from steadyrank.retrieval.engine.search import search
from steadyrank.retrieval.engine.word_counts import WordCounts, count_words

POOL_DEPTH = 10
"""How many documents of each run and topic were judged."""


def builtin_runs(*, depth: int = 1000, progress: Progress | None = None) -> tuple[Run, ...]:
    """The runs that the judgments of the built-in collection were pooled from.

    `info` says each run's team, stop list, stemmer or n-gram, model, and the fields of the topic
    that it searched for. With other versions of the packages a few documents differ, so that some
    of the best ten may be unjudged.

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
    pooled = systems()
    runs = []
    for done, system in enumerate(pooled, start=1):
        runs.append(_run(system, depth))
        if progress is not None:
            progress(done, len(pooled))
    return tuple(runs)


def systems() -> list[dict[str, str]]:
    """What each of the pooled runs is made of, under the names of run information."""
    text = builtin_data_file("systems.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def builtin_counts() -> WordCounts:
    """The words of the documents, counted once per process."""
    return _counted(builtin_digest())


@cache
def _counted(digest: str) -> WordCounts:
    return count_words(builtin_documents())


def index_of(system: Mapping[str, str]) -> Index:
    """The index that a system searches, made once per process."""
    return _index(builtin_digest(), system["field"], system["stop_list"], system["lexical"])


@cache
def _index(digest: str, fields: str, stop_list: str, unit: str) -> Index:
    topics = builtin_topics(fields.split("+"))
    return build_index(_counted(digest), topics, stop_list=stop_list, unit=unit)


def _run(system: Mapping[str, str], depth: int) -> Run:
    run = search(index_of(system), system["model"], depth=depth, name=system["run"])
    return replace(run, info={name: text for name, text in system.items() if name != "run"})
