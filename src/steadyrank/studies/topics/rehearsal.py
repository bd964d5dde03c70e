"""The kernels of this study on a tiny track, for a first command (`compute.ahead`)."""

from __future__ import annotations

import numpy as np

from steadyrank.data.scores import Scores
from steadyrank.studies.topics.study import topics


def split_two_topics() -> None:
    """The whole study."""
    values = np.array([[[0.5, 0.25], [0.75, 1.0]]])
    scores = Scores(measures=("AP",), runs=("a", "b"), topics=("1", "2"), values=values)
    topics(scores, n_trials=2)
