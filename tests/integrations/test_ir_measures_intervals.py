"""Intervals for `ir_measures.calc_aggregate`, beside steadyrank's."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import steadyrank as sr
from tests.integrations.readme import failures_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ir_measures = pytest.importorskip("ir_measures")
    from integrations.ir_measures_intervals.intervals import Aggregate, calc_aggregate

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def track():
    return sr.simulated_track(n_teams=2, runs_per_team=1, n_topics=20, depth=40, pool_depth=20)


def test_the_readme_runs():
    assert failures_of("ir_measures_intervals") == 0


def test_intervals_are_those_of_steadyrank(track):
    measures = [ir_measures.AP, ir_measures.nDCG @ 10, ir_measures.NumRet]
    qrels = track.qrels.to_frame(columns="ir_measures")
    frames = [run.to_frame(columns="ir_measures") for run in track.runs]
    found = [calc_aggregate(measures, qrels, frame, confidence=0.9) for frame in frames]
    for frame, each in zip(frames, found, strict=True):
        plain = ir_measures.calc_aggregate(measures, qrels, frame)
        assert calc_aggregate(measures, qrels, frame) == plain
        assert {measure: each[measure].value for measure in measures} == plain
        assert each[ir_measures.NumRet] == Aggregate(plain[ir_measures.NumRet], None, None)
    # Topics take the place of datasets: the same intervals of the same means.
    for measure in measures[:2]:
        scores = sr.evaluate(track.runs, track.qrels, str(measure), ties="float32")
        table = pd.DataFrame(scores.values[0], index=scores.runs, columns=scores.topics)
        # Topics in which no run has a relevant document count as 0 in both.
        expected = sr.datasets(table, alpha=0.1).interval
        np.testing.assert_allclose([each[measure][1:] for each in found], expected, atol=1e-12)


def test_one_topic_has_no_interval():
    qrels, run = {"1": {"d1": 1}}, {"1": {"d1": 1.0}}
    found = calc_aggregate([ir_measures.AP], qrels, run, confidence=0.95)
    assert found[ir_measures.AP] == Aggregate(1.0, None, None)
