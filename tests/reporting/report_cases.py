"""Data of every kind that a report can be about, by the name of the case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from written import WrittenPage

import steadyrank as sr

ALL = ("AP", "RR", "P@10", "nDCG@10")
LONG = "run{}_with_a_name_as_long_as_those_of_a_real_track"

SHAPES = {
    "hundred": (100, 25, 2),
    "two": (2, 30, 2),
    "three": (3, 30, 2),
    "one measure": (9, 30, 1),
    "four measures": (9, 30, 4),
}
"""Runs, topics and measures, where they are not nine, 30 and two."""

SPREADS = {"close": 0.004, "hundred": 0.03}
"""Standard deviation of the runs' true means, where it is not 0.04."""

OF_SCORES = ("close", "apart", "gaps", "broken", *SHAPES)

ALL_CASES = (
    *OF_SCORES,
    *("equal", "systems of apart", "systems of gaps", "one system", "baseline", "datasets"),
    *("track", "instances and judges", "graded", "two judges", "demo"),
)


def scores_of(case: str) -> sr.Scores:
    rng = np.random.default_rng(8)
    n_runs, n_topics, n_measures = SHAPES.get(case, (9, 30, 2))
    true = 0.4 + rng.normal(0, SPREADS.get(case, 0.04), (n_measures, n_runs, 1))
    difficulty = rng.beta(1, 3, n_topics) * (1.0 if case == "gaps" else 0.3)
    values = true + rng.normal(0, 0.1, (n_runs, n_topics)) + difficulty
    if case == "gaps":
        values[:, rng.random((n_runs, n_topics)) < 0.15] = np.nan
        hard = np.argsort(np.nanmean(values[0], axis=0))[: n_topics // 2]
        values[:, 4, hard] = np.nan  # this run has the easy topics only
    if case == "broken":
        values[:, 2] = rng.random(n_topics) * 0.01
    if case == "equal":
        values[:] = values[:, :1]
    return sr.Scores(
        measures=ALL[:n_measures],
        runs=[LONG.format(i) for i in range(n_runs)],
        topics=[f"t{t:03}" for t in range(n_topics)],
        values=values,
    )


def leaderboard(n_runs: int = 30, n_datasets: int = 12) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    values = rng.normal(0.5, 0.05, (n_runs, n_datasets)) + rng.normal(0, 0.05, (n_runs, 1))
    runs = [f"model_{i:02d}" for i in range(n_runs)]
    return pd.DataFrame(values, index=runs, columns=[f"set{k}" for k in range(n_datasets)])


@dataclass(frozen=True)
class Made:
    """A report, and its page as it was written."""

    result: sr.ReportResult
    page: WrittenPage

    def finding(self, id: str) -> Any:
        """The one finding of that id."""
        (found,) = [one for one in self.result.findings if one.id == id]
        return found

    @property
    def said(self) -> set[str]:
        return {one.id for one in self.result.findings}


def _systems(case: str) -> sr.Scores:
    scores = scores_of(case)
    return scores.with_run_info(system=[f"s{i % 4}" for i in range(len(scores.runs))])


def options(case: str) -> dict[str, Any]:
    """What `report` takes, of every case but "demo", whose data are fixtures."""
    if case == "track":
        track = sr.simulated_track(n_teams=9, runs_per_team=3, n_topics=15, depth=40, pool_depth=15)
        return {"runs": track.runs, "qrels": track.qrels, "measures": ["AP", "P@5"]}
    if case == "instances and judges":
        track = sr.simulated_track(
            n_teams=4, runs_per_team=1, n_instances=2, n_topics=12, depth=40, pool_depth=20
        )
        judges = {"other": track.complete}
        return {
            "runs": track.runs,
            "qrels": track.qrels,
            "judges": judges,
            "measures": ["AP", "P@5"],
        }
    if case == "graded":
        return {
            "scores": sr.simulated_facets(
                n_systems=6, n_topics=30, n_judges=4, n_answers=2, missing=0.02, rng=1
            )
        }
    if case == "two judges":
        return {"scores": sr.simulated_facets(n_systems=3, n_topics=20, n_judges=2, rng=2)}
    if case == "datasets":
        return {"datasets": leaderboard()}
    if case.startswith("systems"):
        return {"scores": _systems(case.removeprefix("systems of ") or "apart")}
    if case == "one system":
        scores = scores_of("apart")
        return {"scores": scores.with_run_info(system=["s"] * len(scores.runs))}
    if case == "baseline":
        return {"scores": scores_of("apart"), "baseline": LONG.format(3)}
    return {"scores": scores_of(case)}
