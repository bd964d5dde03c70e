"""The fewest datasets that carry a first place, against all subsets of a small leaderboard."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import steadyrank as sr

RUNS = [f"run{i}" for i in range(5)]
TYPES = [0, 0, 0, 1, 1, 2, 2, 2]


def columns_of(scores, aggregate):
    """What the aggregate averages [run, dataset], and the weights of the datasets."""
    weight = np.ones(8)
    if aggregate == "mean-of-types":
        weight = 1.0 / np.array([TYPES.count(kind) for kind in TYPES])
    if aggregate in ("borda", "wins"):
        return len(RUNS) - stats.rankdata(-scores, axis=0), weight
    return scores, weight


@pytest.mark.parametrize("aggregate", ["mean", "mean-of-types", "borda", "wins"])
def test_the_fewest_of_all_subsets_of_datasets(aggregate):
    rng = np.random.default_rng(6)
    for _ in range(6):
        scores = rng.random((5, 8)) + np.linspace(0.25, 0.0, 5)[:, None]
        rows = [
            {"run": run, "dataset": f"d{j}", "type": f"t{TYPES[j]}", "value": scores[i, j]}
            for i, run in enumerate(RUNS)
            for j in range(8)
        ]
        result = sr.datasets(pd.DataFrame(rows), aggregate=aggregate, n_samples=200)
        columns, weight = columns_of(scores, aggregate)
        leader = RUNS.index(result.runs[result.order[0]])
        lead = (columns[leader] - np.delete(columns, leader, axis=0)) * weight
        lead = lead[lead.sum(axis=1) > 1e-9]
        if not len(lead):
            assert result.fragility is None
            continue
        least = next(
            k
            for k in range(1, 9)
            if any(
                (np.delete(lead, dropped, axis=1).sum(axis=1) <= 1e-9).any()
                for dropped in itertools.combinations(range(8), k)
            )
        )
        assert result.fragility.n == least
        dropped = [int(name[1:]) for name in result.fragility.datasets]
        rival = columns[leader] - columns[RUNS.index(result.fragility.rival)]
        assert np.delete(rival * weight, dropped).sum() <= 1e-9
