"""A ranx report goes on in steadyrank with ranx's own figures."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import steadyrank as sr
from tests.integrations.readme import failures_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ranx = pytest.importorskip("ranx")
    from integrations.ranx_report.ranx_report import to_scores, with_ranks

# ranx compiles what it computes with for half a minute, once.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_the_readme_runs():
    assert failures_of("ranx_report") == 0


def test_scores_and_decisions_are_those_of_the_report():
    rng = np.random.default_rng(4)
    topics = [f"q{i}" for i in range(25)]
    qrels = ranx.Qrels({topic: {"d0": 1} for topic in topics})

    def run_of(name, noise):
        ranked = {t: {f"d{k}": float(-k + noise * rng.normal()) for k in range(8)} for t in topics}
        return ranx.Run(ranked, name=name)

    runs = [run_of("steady", 0.1), run_of("noisy", 3.0), run_of("worse", 9.0)]
    report = ranx.compare(qrels, runs=runs, metrics=["mrr"], max_p=0.05)
    scores = to_scores(report, runs)
    expected = [[report.results[name]["mrr"] for name in report.model_names]]
    np.testing.assert_allclose(scores.mean(), expected, rtol=0, atol=1e-12)
    t_tests = sr.compare(scores, correction="none").to_frame()
    for row in t_tests.itertuples():
        assert row.pvalue == pytest.approx(report.comparisons[row.a, row.b]["mrr"]["p_value"])
    frame = with_ranks(report, runs)["mrr"]
    assert frame["run"].tolist() == ["steady", "noisy", "worse"]
    compared = sr.compare(scores)
    order = [compared.runs.index(name) for name in frame["run"]]
    np.testing.assert_array_equal(frame[["low", "high"]], compared.rank_set[order])
    assert frame["tier"].tolist() == compared.tier[order].tolist()
