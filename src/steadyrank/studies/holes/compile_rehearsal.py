"""The kernels of this study on a tiny track, for a first command (`compute.ahead`)."""

from __future__ import annotations

from steadyrank.measures.rehearsal import smallest_track
from steadyrank.studies.holes.study import holes


def bound_two_runs(measure: str) -> None:
    """The whole study."""
    runs, qrels = smallest_track()
    holes(runs, qrels, measure=measure, n_samples=2, jobs=1)
