"""Inputs of any size for several benchmarks: scores from effects, grids of components."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

import steadyrank as sr


def made_scores(
    n_runs: int, n_topics: int, measures: Sequence[str] = ("AP",), *, seed: int = 0
) -> sr.Scores:
    """Return scores from normal effects of runs, topics and interaction, between 0 and 1."""
    rng = np.random.default_rng(seed)
    base = (
        0.4 * rng.normal(size=(n_runs, 1))
        + 1.1 * rng.normal(size=(1, n_topics))
        + 0.7 * rng.normal(size=(n_runs, n_topics))
        - 1.0
    )
    values = np.empty((len(measures), n_runs, n_topics))
    for m in range(len(measures)):
        values[m] = 1 / (1 + np.exp(-base - 0.3 * rng.normal(size=base.shape)))
    return sr.Scores(
        values=values,
        runs=[f"run{r:04d}" for r in range(n_runs)],
        topics=[f"t{t:05d}" for t in range(n_topics)],
        measures=list(measures),
    )


def write_grid_info(path: Path, runs: Sequence[str], levels: dict[str, int]) -> None:
    """Return the components of each run: every combination once."""
    combinations = product(*(range(n) for n in levels.values()))
    lines = [",".join(["run", *levels])]
    for run, places in zip(runs, combinations, strict=True):
        parts = (f"{name}{place}" for name, place in zip(levels, places, strict=True))
        lines.append(",".join([run, *parts]))
    path.write_text("\n".join(lines) + "\n", "utf-8")
