"""The grades that people and a judge gave to the same documents."""

from __future__ import annotations

import warnings

import numpy as np

from steadyrank.data.qrels import Qrels
from steadyrank.errors import SteadyrankWarning
from steadyrank.stats.judges.agreement import COEFFICIENTS, Agreement, agreement_over_topics
from steadyrank.stats.ranks.kappa import confusion_counts, kappa_of_counts
from steadyrank.studies.judges.result import Confusion


def confusion_of(
    judge: str, people: Qrels, judged: Qrels, topics: tuple[str, ...], confidence: float
) -> Confusion:
    """Counts of the grades of documents that both judged, and coefficients of agreement."""
    grades = [_grades_of_both(people, judged, topic) for topic in topics]
    levels = np.unique(np.concatenate([both.ravel() for both in grades]))
    counts = np.stack([confusion_counts(both[0], both[1], levels) for both in grades])
    is_relevant = [both > 0 for both in grades]
    binary = np.array([False, True])
    relevant = np.stack([confusion_counts(both[0], both[1], binary) for both in is_relevant])
    same_scale = people.max_grade == judged.max_grade
    if not same_scale:
        warnings.warn(
            f"judge {judge} grades up to {judged.max_grade}, people up to {people.max_grade}: "
            "the scales differ, so coefficients of grades are omitted; map its grades with "
            "judge_grades=",
            SteadyrankWarning,
            stacklevel=4,
        )
    coefficients: dict[str, Agreement | None] = {
        name: agreement_over_topics(counts, coefficient, confidence=confidence)
        if same_scale
        else None
        for name, coefficient in COEFFICIENTS.items()
    }
    coefficients["kappa_relevant"] = agreement_over_topics(
        relevant, kappa_of_counts, confidence=confidence
    )
    return Confusion(
        grades=tuple(levels.tolist()),
        counts=counts.sum(axis=0),
        n_documents=int(counts.sum()),
        same_scale=same_scale,
        coefficients=coefficients,
    )


def _grades_of_both(people: Qrels, judged: Qrels, topic: str) -> np.ndarray:
    """[2, document]: grades of the documents that both judged, in people's order."""
    mine, theirs = people.judgments(topic), judged.judgments(topic)
    shared = [document for document in mine if document in theirs]
    return np.array([[by[document] for document in shared] for by in (mine, theirs)], int)
