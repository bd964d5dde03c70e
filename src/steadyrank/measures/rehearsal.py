"""The kernels of scoring on a track of two documents, for a first command (`compute.ahead`)."""

from __future__ import annotations

import numpy as np

from steadyrank.data.qrels import Qrels
from steadyrank.data.read.rehearsal import two_documents
from steadyrank.data.run import Run
from steadyrank.measures.evaluate import DEFAULT_MEASURES
from steadyrank.measures.names import parse_measures
from steadyrank.measures.scoring import find_judged_documents, prepare, score_topics


def smallest_track() -> tuple[list[Run], Qrels]:
    """Two runs with one document on each of two topics, made without reading or ranking any."""
    topics = ("1", "2")
    documents, blocks = two_documents()
    grades = np.ones(2, np.int32)
    qrels = Qrels(topics=topics, blocks=blocks, documents=documents, grades=grades)
    runs = [
        Run(name=name, topics=topics, blocks=blocks, documents=documents, scores=np.ones(2))
        for name in ("a", "b")
    ]
    return runs, qrels


def score_two_documents(*measures: str) -> None:
    """Look two documents up in the judgments and score them by some measures."""
    runs, qrels = smallest_track()
    recipes = [prepare(measure, 1) for measure in parse_measures(measures or DEFAULT_MEASURES)]
    score_topics(find_judged_documents(runs[0], qrels, relevant_only=True), qrels, recipes)
