"""A ranx `Report` and its runs as steadyrank's scores, and the ranks that each run may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import steadyrank as sr


def to_scores(report: Any, runs: Sequence[Any]) -> sr.Scores:
    """Scores by metric, run and query that `ranx.compare` left in the runs of its report."""
    topics = list(runs[0].scores[report.metrics[0]])
    values = [
        [[run.scores[metric].get(topic, np.nan) for topic in topics] for run in runs]
        for metric in report.metrics
    ]
    return sr.Scores(measures=report.metrics, runs=report.model_names, topics=topics, values=values)


def with_ranks(report: Any, runs: Sequence[Any]) -> dict[str, pd.DataFrame]:
    """For each metric a frame, best run first: mean, rank, rank low and high, tier."""
    scores = to_scores(report, runs)
    frames = {}
    for metric in report.metrics:
        # Every two runs are compared on the same queries, corrected over all pairs.
        found = sr.compare(scores, measure=metric, alpha=report.max_p)
        low, high = found.rank_set.T
        columns = {"run": found.runs, "mean": found.mean, "rank": found.rank}
        frame = pd.DataFrame({**columns, "low": low, "high": high, "tier": found.tier})
        frames[metric] = frame.sort_values("rank", ignore_index=True)
    return frames
