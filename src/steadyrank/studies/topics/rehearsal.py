"""The kernels of this study on a tiny track, for a first command (`compute.ahead`)."""

from __future__ import annotations

from steadyrank.compute.ahead import Rehearsal
from steadyrank.measures.evaluate import evaluate
from steadyrank.measures.rehearsal import smallest_track
from steadyrank.studies.topics.study import topics

SPLITTING = Rehearsal(
    f"{__name__}:split_two_topics", frozenset({"steadyrank.studies.topics.kernels"})
)


def split_two_topics() -> None:
    """The whole study."""
    topics(evaluate(*smallest_track(), ["AP"]), n_trials=2)
