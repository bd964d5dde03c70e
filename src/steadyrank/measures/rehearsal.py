"""The kernels of scoring on a track of two documents, for a first command (`compute.ahead`)."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from steadyrank.compute.ahead import Rehearsal
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.rehearsal import RANKING, two_documents
from steadyrank.data.run import Run
from steadyrank.measures.evaluate import DEFAULT_MEASURES, evaluate
from steadyrank.measures.names import parse_measures
from steadyrank.measures.scoring import find_judged_documents, prepare, score_topics

SCORING = Rehearsal(
    f"{__name__}:score_two_documents",
    frozenset({"steadyrank.data.qrels", "steadyrank.measures.scoring"}),
)

EVALUATING = Rehearsal(
    f"{__name__}:evaluate_one_file",
    frozenset({*SCORING.modules, *RANKING.modules, "steadyrank.data.read.lines"}),
)


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


def score_two_documents() -> None:
    """Look two documents up in the judgments and score them by the default measures."""
    runs, qrels = smallest_track()
    recipes = [prepare(measure, 1) for measure in parse_measures(DEFAULT_MEASURES)]
    score_topics(find_judged_documents(runs[0], qrels, relevant_only=True), qrels, recipes)


def evaluate_one_file() -> None:
    """Read a run and judgments from files, and score it."""
    with tempfile.TemporaryDirectory() as scratch:
        run, qrels = Path(scratch, "run.txt"), Path(scratch, "qrels.txt")
        run.write_text("1 Q0 d 1 1.5 run\n")
        qrels.write_text("1 0 d 1\n")
        evaluate([run], qrels, jobs=1)
