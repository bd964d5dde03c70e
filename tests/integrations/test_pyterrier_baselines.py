"""Several baselines: each as in PyTerrier's own experiment, corrected together."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from tests.integrations.readme import failures_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pt = pytest.importorskip("pyterrier")
    from integrations.pyterrier_baselines.baselines import Experiment

import steadyrank as sr

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def data():
    track = sr.simulated_track(n_teams=4, runs_per_team=1, n_topics=30, depth=30, pool_depth=15)
    systems = {run.name: run.to_frame(columns="pyterrier") for run in track.runs}
    qids = track.qrels.topics
    topics = pd.DataFrame({"qid": qids, "query": [f"query {qid}" for qid in qids]})
    return systems, topics, track.qrels.to_frame(columns="pyterrier")


def test_the_readme_runs():
    assert failures_of("pyterrier_baselines") == 0


def test_each_baseline_is_as_alone_and_all_are_corrected_together(data):
    systems, *_ = data
    measures, baselines = ["map", "P_5"], list(systems)[:2]
    ours = Experiment(*data, measures, baselines=baselines).set_index("name")
    for name in baselines:
        alone = pt.Experiment(*data, measures, baseline=name).set_index("name")
        for measure in measures:
            for column in ("+", "-", "p-value"):
                np.testing.assert_allclose(
                    ours[f"{measure} {name} {column}"].astype(float),
                    alone[f"{measure} {column}"].astype(float),
                )
    for measure in measures:
        # Two baselines and two others: five comparisons, of which the first two share one.
        pvalues = ours[[f"{measure} {name} p-value" for name in baselines]].to_numpy(float)
        family = np.append(pvalues[1:, 0], pvalues[2:, 1])
        adjusted = sorted(_holm(family))
        corrected = ours[[f"{measure} {name} p-value corrected" for name in baselines]]
        found = corrected.to_numpy(float)
        np.testing.assert_allclose(sorted(np.append(found[1:, 0], found[2:, 1])), adjusted)
        rejected = ours[[f"{measure} {name} reject" for name in baselines]].to_numpy(bool)
        np.testing.assert_array_equal(rejected, np.nan_to_num(found, nan=1.0) <= 0.05)


def _holm(pvalues):
    m, order = len(pvalues), np.argsort(pvalues)
    steps = np.maximum.accumulate((m - np.arange(m)) * np.asarray(pvalues)[order])
    return np.minimum(1.0, steps)


def test_an_unknown_baseline_is_refused(data):
    with pytest.raises(ValueError, match="unknown baseline 'bm52'"):
        Experiment(*data, ["map"], baselines=["bm52"])
