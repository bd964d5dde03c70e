"""The kernels of this study on a tiny track, for a first command (`compute.ahead`)."""

from __future__ import annotations

import numpy as np

from steadyrank.data.scores import Scores
from steadyrank.studies.instances.study import instances


def compare_two_systems() -> None:
    """The whole study: three instances of one system against the single run of another."""
    values = np.sin(np.arange(1.0, 25.0) ** 2).reshape(1, 4, 6) ** 2
    scores = Scores(
        measures=("AP",),
        runs=("a1", "a2", "a3", "b"),
        topics=tuple("123456"),
        values=values,
        run_info={"system": ("a", "a", "a", "b")},
    )
    instances(scores, n_samples=2, n_draws=100, jobs=1)
