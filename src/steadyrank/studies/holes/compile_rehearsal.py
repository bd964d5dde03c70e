"""The kernels of this study on a tiny track, for a first command (`compute.ahead`)."""

from __future__ import annotations

from steadyrank.compute.ahead import Rehearsal
from steadyrank.measures.rehearsal import smallest_track
from steadyrank.studies.holes.study import holes

BOUNDING = Rehearsal(
    f"{__name__}:bound_two_runs",
    frozenset(
        f"steadyrank.studies.holes.{name}"
        for name in ("bound_kernels", "few_kernels", "kernels", "share_kernels")
    ),
)


def bound_two_runs() -> None:
    """The whole study, by the measure that has the most kernels."""
    runs, qrels = smallest_track()
    holes(runs, qrels, measure="AP", n_samples=2, jobs=1)
