"""Runs on the built-in collection: those whose best ten documents were judged.

Eighteen systems of six teams, as different as the grid has them: models, stemmers, n-grams, stop
lists, and which words of a topic they take. For whoever wants a track with teams on real text.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import replace

from steadyrank.compute.executors import Progress
from steadyrank.data.run import Run
from steadyrank.retrieval.builtin.collection import (
    builtin_data_file,
    builtin_documents,
    builtin_topics,
)
from steadyrank.retrieval.engine.index import build_index
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
    systems = list(_systems())
    counts = count_words(builtin_documents())
    runs = []
    for done, system in enumerate(systems, start=1):
        runs.append(_run(counts, system, depth))
        if progress is not None:
            progress(done, len(systems))
    return tuple(runs)


def _systems() -> Iterator[dict[str, str]]:
    text = builtin_data_file("systems.csv").read_text("utf-8")
    yield from csv.DictReader(text.splitlines())


def _run(counts: WordCounts, system: Mapping[str, str], depth: int) -> Run:
    topics = builtin_topics(system["field"].split("+"))
    index = build_index(counts, topics, stop_list=system["stop_list"], unit=system["lexical"])
    run = search(index, system["model"], depth=depth, name=system["run"])
    return replace(run, info={name: text for name, text in system.items() if name != "run"})
