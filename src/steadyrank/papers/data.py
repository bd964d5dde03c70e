"""What a paper's exhibits are made from: runs with judgments, or scores.

Every reproduction takes a `PaperData`. `paper_data` makes it from what the user gives,
`builtin_data` where nothing is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.data.order import scores_in_order
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.qrels import judgments_of
from steadyrank.data.read.run_info import describe_scores
from steadyrank.data.read.runs import ReadingOptions, known_options, make_reading, read_runs
from steadyrank.data.read.score_files import read_scores
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError
from steadyrank.measures.evaluate import evaluate

GRID_MEASURES = ("AP", "P@10", "Rprec", "RBP(p=0.8)", "nDCG", "nDCG@20", "ERR", "Twist")
"""Those of Ferro 2018."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PaperData:
    """Runs with judgments, or scores, and what they are in words."""

    words: str
    runs: tuple[Run, ...] | None = None
    qrels: Qrels | None = None
    given: Scores | None = None
    """Scores that came without runs."""
    measures: tuple[str, ...] = ()
    """Those that the user asked for; empty for the paper's."""
    scoring: Mapping[str, Any] = field(default_factory=dict)
    """How `evaluate` treats missing topics and ties."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What else tells these data from others, to be kept with what is made of them."""

    @property
    def has_teams(self) -> bool:
        """Whether the runs are here and have teams."""
        return self.runs is not None and all(run.info.get("team") for run in self.runs)

    def scores(
        self, measures: Sequence[str], *, jobs: int | None = None, progress: Progress | None = None
    ) -> Scores:
        """The scores as they came, or of the runs by the user's measures, else by these."""
        if self.given is not None:
            return self.given
        chosen = self.measures or measures
        return evaluate(
            list(self.runs or ()), self.qrels, chosen, jobs=jobs, progress=progress, **self.scoring
        )


def paper_data(
    runs: Any = None,
    qrels: Any = None,
    *,
    scores: Scores | PathLike | Sequence[PathLike] | None = None,
    measures: Iterable[str] = (),
    scoring: Mapping[str, Any] = MappingProxyType({}),
    jobs: int | None = None,
    progress: Progress | None = None,
    **reading_options: Unpack[ReadingOptions],
) -> PaperData | None:
    """The user's data, or None where there are none."""
    if (runs is None) != (qrels is None):
        raise InputError("give runs and qrels together, or scores, or nothing for built-in data")
    if scores is not None:
        if runs is not None:
            raise InputError("give either runs and qrels or scores, not both")
        given = scores if isinstance(scores, Scores) else read_scores(scores)
        given = scores_in_order(describe_scores(given, **make_reading(reading_options).about))
        return with_measures(PaperData(words=_scores_words(given), given=given), measures)
    if runs is None:
        return None
    judged = judgments_of(qrels)
    loaded = tuple(read_runs(runs, jobs=jobs, progress=progress, **known_options(reading_options)))
    return PaperData(
        words=f"{len(loaded)} runs on {len(judged.topics)} judged topics",
        runs=loaded,
        qrels=judged,
        measures=tuple(map(str, measures)),
        scoring=scoring,
    )


def with_measures(data: PaperData, measures: Iterable[str]) -> PaperData:
    """The same data by the measures asked for, if any are."""
    names = tuple(map(str, measures))
    if not names:
        return data
    given = data.given if data.given is None else data.given.select(measures=names)
    return replace(data, measures=names, given=given)


def _scores_words(scores: Scores) -> str:
    measures = ", ".join(scores.measures[:8]) + (", …" if len(scores.measures) > 8 else "")
    return f"scores of {len(scores.runs)} runs on {len(scores.topics)} topics ({measures})"


def without_empty(scores: Scores, measure: str) -> Scores:
    """One measure's scores, without the runs and topics that have none of it."""
    there = ~np.isnan(scores.matrix(measure))
    runs, topics = there.any(axis=1), there.any(axis=0)
    return scores.select(
        measures=measure,
        runs=[name for name, known in zip(scores.runs, runs, strict=True) if known],
        topics=[name for name, known in zip(scores.topics, topics, strict=True) if known],
    )
