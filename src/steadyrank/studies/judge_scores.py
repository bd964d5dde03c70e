"""Scores by another judge than people, held against people's before anything is computed.

`judges` and a report both read them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.data.qrels import Qrels
from steadyrank.data.read.runs import Runs
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError
from steadyrank.measures.evaluate import evaluate
from steadyrank.stats.judges.agreement import FEWEST
from steadyrank.words import counted, some


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeInput:
    """One judge: its scores of one measure, and its judgments where there are some."""

    name: str
    scores: Scores
    qrels: Qrels | None = None


def evaluate_judge(
    runs: Runs, people: Qrels, name: str, judged: Qrels, *, measure: str, **options: Any
) -> JudgeInput:
    """Score the runs by one judge's judgments, after these were held against people's."""
    check_judgments(name, people, judged)
    with warned_of(name):
        # What grades mean was said of people's judgments.
        scores = evaluate(runs, judged, measure, rel=1, **options)
    return JudgeInput(name=name, scores=scores, qrels=judged)


@contextmanager
def warned_of(judge: str) -> Iterator[None]:
    """Warnings say which judge they are about."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        yield
    for warning in raised:
        message = warning.message
        text = message if isinstance(message, str) else message.args[0]
        warnings.warn(f"judge {judge}: {text}", warning.category, stacklevel=4)


def check_judgments(judge: str, people: Qrels, judged: Qrels) -> None:
    """Refuse judgments of which nothing can be learnt about the judge."""
    check_topics(judge, people.topics, judged.topics)
    for who, qrels in (("people", people), (f"judge {judge}", judged)):
        grades = np.unique(qrels.grades)
        if len(grades) < 2:
            raise InputError(
                f"{who} gave all documents the grade {', '.join(map(str, grades)) or 'none'}: "
                "judgments that never differ say nothing about runs"
            )
    shared = (people.judgments(t).keys() & judged.judgments(t).keys() for t in people.topics)
    if not any(shared):
        topic = people.topics[0]
        mine, theirs = (next(iter(q.judgments(topic)), "none") for q in (people, judged))
        raise InputError(
            f"judge {judge} and people judged no document in common: do the ids match "
            f"({mine!r} and {theirs!r} in topic {topic!r})?"
        )


def check_topics(judge: str, human: tuple[str, ...], judged: tuple[str, ...]) -> None:
    """Refuse too few topics of people, and a judge that lacks some of them."""
    if len(human) < FEWEST:
        raise InputError(
            f"people judged {counted(len(human), 'topic')}: a correction requires at least {FEWEST}"
        )
    known = set(judged)
    lacking = [topic for topic in human if topic not in known]
    if lacking:
        raise InputError(
            f"judge {judge} lacks {len(lacking)} of the {len(human)} topics that people judged "
            f"({some(lacking, 3)}): it must have judged them all, to be compared with people"
        )


def scores_of_judges(
    human: Scores, judges: Mapping[str, Scores], measure: str | None
) -> tuple[Scores, list[JudgeInput]]:
    """Scores that were made elsewhere: one measure, and the same runs."""
    if measure is None and len(human.measures) == 1:
        measure = human.measures[0]
    if measure is None:
        human.matrix()  # says that one must be named
    chosen = human.select(measures=measure)
    inputs = []
    for name, scores in judges.items():
        if not isinstance(scores, Scores):
            raise InputError(f"judge {name}: beside scores of people, give Scores of each judge")
        single = len(scores.measures) == 1 and measure not in scores.measures
        of_judge = scores if single else scores.select(measures=measure)
        lacking = [run for run in chosen.runs if run not in set(of_judge.runs)]
        if lacking:
            raise InputError(f"judge {name} has no scores of {some(lacking, 3)}: score all runs")
        check_topics(name, chosen.topics, of_judge.topics)
        inputs.append(JudgeInput(name=name, scores=of_judge.select(runs=chosen.runs)))
    return chosen, inputs
