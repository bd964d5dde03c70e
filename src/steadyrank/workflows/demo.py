"""The demo: a simulated track, evaluated as a user's own would be."""

from __future__ import annotations

from collections.abc import Sequence

from steadyrank.data.scores import Scores
from steadyrank.data.simulated import simulated_track
from steadyrank.data.sources import PathLike
from steadyrank.measures.evaluate import DEFAULT_MEASURES, evaluate


def demo(
    *,
    out: PathLike | None = None,
    measures: Sequence[str] = (),
    data_only: bool = False,
    jobs: int | None = None,
    rng: int = 0,
) -> Scores | None:
    """Simulate a track, keep it in `out` if given, and evaluate it unless `data_only`."""
    track = simulated_track(rng=rng)
    if out is not None:
        track.write(out)
    if data_only:
        return None
    return evaluate(track.runs, track.qrels, measures or DEFAULT_MEASURES, jobs=jobs)
