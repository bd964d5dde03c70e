"""Scores by people and by other judges, checked and aligned before anything is computed.

`judges` and a report both read them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.data.order import order_by_name, places_by_name
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.run_files import judgments_of
from steadyrank.data.read.runs import Runs
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, SteadyrankWarning, bad_value
from steadyrank.measures.evaluate import evaluate
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.judges.agreement import FEWEST
from steadyrank.stats.judges.corrected import JudgedScores
from steadyrank.stats.planning.demands import check_positive
from steadyrank.words import counted, some

UNJUDGED = "topics that nobody judged"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """Settings of the audit of every judge."""

    kin: str | None = None
    kin_near: bool = False
    top: int | None = None
    width: float = 0.1
    minimum_difference: float = 0.05
    power: float = 0.8
    alpha: float = 0.05

    def __post_init__(self) -> None:
        check_open_unit("alpha", self.alpha)
        check_open_unit("power", self.power)
        check_positive("width", self.width)
        check_positive("minimum_difference", self.minimum_difference)

    @property
    def confidence(self) -> float:
        """Level of intervals."""
        return 1.0 - self.alpha


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeInput:
    """One judge: its scores of one measure, and its judgments where these are known."""

    name: str
    scores: Scores
    qrels: Qrels | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Aligned:
    """Scores of people and of one judge on the same runs, by name, and complete topics."""

    scores: JudgedScores
    places: np.ndarray
    """Positions by name of the topics of people, followed by the further topics."""
    n_dropped: int
    """Number of further topics left out."""


def evaluate_judges(
    runs: Runs, human: Any, judges: Mapping[str, Any], *, measure: str, **options: Any
) -> tuple[Scores, Qrels, list[JudgeInput]]:
    """Score the runs by people's judgments and by each judge's."""
    people, to_read = judgments_of(human), runs.keeping()
    inputs = []
    for name, source in judges.items():
        judged = judgments_of(source)
        inputs.append(evaluate_judge(to_read, people, name, judged, measure=measure, **options))
    with warnings.catch_warnings():
        # The judge is meant for topics that people did not judge.
        warnings.filterwarnings("ignore", f".*{UNJUDGED}", SteadyrankWarning)
        return evaluate(to_read, people, measure, **options), people, inputs


def evaluate_judge(
    runs: Runs, people: Qrels, name: str, judged: Qrels, *, measure: str, **options: Any
) -> JudgeInput:
    """Check one judge's judgments against people's, and score the runs by them."""
    check_judgments(name, people, judged)
    with _warned_of(name):
        # A warning about people's judgments has said what grades mean.
        scores = evaluate(runs, judged, measure, rel=1, **options)
    return JudgeInput(name=name, scores=scores, qrels=judged)


@contextmanager
def _warned_of(judge: str) -> Iterator[None]:
    """Begin warnings with the name of the judge."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        yield
    for warning in raised:
        message = warning.message
        text = message if isinstance(message, str) else message.args[0]
        warnings.warn(f"judge {judge}: {text}", warning.category, stacklevel=4)


def check_judgments(judge: str, people: Qrels, judged: Qrels) -> None:
    """Raise an error where judgments say nothing about the judge."""
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
    """Raise an error where people judged too few topics, or the judge lacks some of them."""
    if len(human) < FEWEST:
        raise InputError(
            f"people judged {counted(len(human), 'topic')}: a correction requires at least {FEWEST}"
        )
    known = set(judged)
    lacking = [topic for topic in human if topic not in known]
    if lacking:
        raise InputError(
            f"judge {judge} lacks {len(lacking)} of the {len(human)} topics that people judged "
            f"({some(lacking, 3)}): a judge must have judged all of them"
        )


def scores_of_judges(
    human: Scores, judges: Mapping[str, Scores], measure: str | None
) -> tuple[Scores, list[JudgeInput]]:
    """Return given scores of one measure, by people and by each judge, of the same runs."""
    if measure is None and len(human.measures) == 1:
        measure = human.measures[0]
    if measure is None:
        human.matrix()  # raises an error that asks for a measure
    chosen = human.select(measures=measure)
    chosen.check_higher(chosen.measures[0], "judges")
    inputs = []
    for name, scores in judges.items():
        if not isinstance(scores, Scores):
            raise InputError(f"judge {name}: with scores of people, give Scores of each judge")
        single = len(scores.measures) == 1 and measure not in scores.measures
        of_judge = scores if single else scores.select(measures=measure)
        lacking = [run for run in chosen.runs if run not in set(of_judge.runs)]
        if lacking:
            raise InputError(f"judge {name} has no scores of {some(lacking, 3)}: score all runs")
        check_topics(name, chosen.topics, of_judge.topics)
        inputs.append(JudgeInput(name=name, scores=of_judge.select(runs=chosen.runs)))
    return chosen, inputs


def check_runs(human: Scores, judges: list[JudgeInput], settings: AuditSettings) -> None:
    """Raise an error where judges or runs are too few."""
    if not judges:
        raise InputError("no judge was given: name at least one")
    if len(human.runs) < 2:
        raise InputError(
            "judges are compared by how they rank runs: at least two runs are required, got "
            f"{len(human.runs)}"
        )
    top = settings.top
    if top is not None and not 2 <= top <= len(human.runs):
        raise bad_value("top", f"lie between 2 and the {len(human.runs)} runs", top)


def complete_topics(human: Scores, judges: list[JudgeInput]) -> tuple[tuple[str, ...], int]:
    """Return the topics of people with scores of every run by all, and the number of others."""
    present = _present(human)
    for judge in judges:
        present &= _present(judge.scores)
    topics = tuple(human.topics[t] for t in order_by_name(human.topics))
    kept = tuple(topic for topic in topics if topic in present)
    if len(kept) < FEWEST:
        missing = np.isnan(human.values[0]).sum(axis=1)
        worst = human.runs[int(missing.argmax())]
        raise InputError(
            f"only {len(kept)} of the topics that people judged have scores of every run, and "
            f"a correction requires at least {FEWEST}: {worst} lacks the most; omit it"
        )
    return kept, len(topics) - len(kept)


def _present(scores: Scores) -> set[str]:
    """Return the topics with scores of every run."""
    there = ~np.isnan(scores.values[0]).any(axis=0)
    return {topic for topic, is_there in zip(scores.topics, there, strict=True) if is_there}


def shared_topics(judges: list[JudgeInput]) -> set[str]:
    """Return the topics on which every judge has scores of every run."""
    return set.intersection(*(_present(judge.scores) for judge in judges))


def aligned(
    human: Scores, judge: JudgeInput, topics: tuple[str, ...], population: set[str] | None
) -> Aligned:
    """Return scores of people and of a judge with runs and topics in the same order, by name."""
    runs = [human.runs[r] for r in order_by_name(human.runs)]
    of_people, present = set(human.topics), population
    if present is None:
        present = _present(judge.scores)
    further = [topic for topic in judge.scores.topics if topic not in of_people]
    used = [further[t] for t in order_by_name(further) if further[t] in present]
    return Aligned(
        scores=JudgedScores(
            human=human.select(runs=runs, topics=topics).values[0],
            judge=judge.scores.select(runs=runs, topics=topics).values[0],
            more=judge.scores.select(runs=runs, topics=used).values[0],
        ),
        places=places_by_name([*topics, *used]),
        n_dropped=len(further) - len(used),
    )
