"""What `judges` works on: scores by people and by each judge, and the grades behind them.

Everything that can be wrong between two sets of judgments is found here, before anything is
computed.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steadyrank.data.order import order_by_name, places_by_name
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.qrels import judgments_of
from steadyrank.data.read.runs import Runs
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, SteadyrankWarning, arg, bad_value, check_choice
from steadyrank.measures.evaluate import evaluate
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.judges.agreement import FEWEST
from steadyrank.stats.judges.corrected import JudgedScores
from steadyrank.stats.planning.demands import check_positive
from steadyrank.studies.judge_scores import JudgeInput, evaluate_judge


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """What is asked of every judge."""

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
        """Of intervals."""
        return 1.0 - self.alpha


Grades = Mapping[int, int]
"""From a judge's grade to people's."""

UNJUDGED = "topics that nobody judged"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Aligned:
    """Scores of people and of one judge on the same runs, by name, and complete topics."""

    scores: JudgedScores
    places: np.ndarray
    """Of the topics of people, then of the further ones, among all of these by name."""
    n_dropped: int
    """Further topics that were left out."""


def evaluate_judges(
    runs: Runs,
    human: Any,
    judges: Mapping[str, Any],
    *,
    measure: str,
    judge_grades: Grades | Mapping[str, Grades] | None,
    **options: Any,
) -> tuple[Scores, Qrels, list[JudgeInput]]:
    """Score the runs by people's judgments and by each judge's."""
    people = judgments_of(human)
    to_read = runs.keeping()
    inputs = [
        evaluate_judge(
            to_read,
            people,
            name,
            mapped_grades(judgments_of(source), name, judge_grades, judges),
            measure=measure,
            **options,
        )
        for name, source in judges.items()
    ]
    with warnings.catch_warnings():
        # Topics that people did not judge are what a judge is for.
        warnings.filterwarnings("ignore", f".*{UNJUDGED}", SteadyrankWarning)
        return evaluate(to_read, people, measure, **options), people, inputs


def mapped_grades(
    qrels: Qrels,
    judge: str,
    judge_grades: Grades | Mapping[str, Grades] | None,
    judges: Mapping[str, Any],
) -> Qrels:
    """The judgments with the grades that a mapping gives them; as they are without one."""
    mapping = _mapping_of(judge, judge_grades, judges)
    if not mapping:
        return qrels
    occurring = np.unique(qrels.grades).tolist()
    unknown = [grade for grade in occurring if grade not in mapping]
    if unknown:
        raise InputError(
            f"judge {judge} gives grade {unknown[0]}, of which {arg('judge_grades')} says "
            f"nothing: map every grade of {', '.join(map(str, occurring))}"
        )
    new = np.array([mapping[grade] for grade in occurring], np.int32)
    return replace(qrels, grades=new[np.searchsorted(occurring, qrels.grades)])


def _mapping_of(
    judge: str, judge_grades: Grades | Mapping[str, Grades] | None, judges: Mapping[str, Any]
) -> Grades:
    by_judge: dict[str, Grades] = {}
    for_all: dict[int, int] = {}
    for key, value in (judge_grades or {}).items():
        if isinstance(value, Mapping):
            by_judge[str(key)] = value
        else:
            for_all[int(key)] = int(value)
    for name in by_judge:
        check_choice("judge", name, judges)
    return by_judge.get(judge, for_all)


def check_runs(human: Scores, judges: list[JudgeInput], settings: AuditSettings) -> None:
    """Refuse what no audit can be about."""
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
    """Topics of people on which every run has its scores, by name, and how many have not."""
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
    there = ~np.isnan(scores.values[0]).any(axis=0)
    return {topic for topic, is_there in zip(scores.topics, there, strict=True) if is_there}


def shared_topics(judges: list[JudgeInput]) -> set[str]:
    """Topics on which every judge has its scores: a population of all judges."""
    return set.intersection(*(_present(judge.scores) for judge in judges))


def aligned(
    human: Scores, judge: JudgeInput, topics: tuple[str, ...], population: set[str] | None = None
) -> Aligned:
    """Runs and topics of people and of a judge in the same order, by name."""
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
