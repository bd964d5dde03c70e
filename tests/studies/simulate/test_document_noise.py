"""Which share of a difference's variance over topics is noise of documents: equations 6 and 7.

Jayasinghe et al. 2015 model repeated observations per system and topic; simulated collections
are the repetitions.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import steadyrank as sr
from bench.coverage.worlds import fresh_collection, quiet
from steadyrank.cli import run
from steadyrank.stats.pairs.tests import paired_t

N_SAMPLES = 3000


@pytest.fixture(scope="module")
def track():
    return sr.simulated_track(n_teams=4, runs_per_team=1, n_topics=20, depth=60, pool_depth=60)


@pytest.fixture(scope="module")
def result(track):
    with quiet():
        return sr.simulate(track.runs, track.complete, n_samples=N_SAMPLES, rng=1)


def test_equation_6_is_the_paired_t_test(track):
    """statsmodels 0.15: score ~ system + topic by ordinary least squares, two systems."""
    smf = pytest.importorskip("statsmodels.formula.api")
    matrix = sr.evaluate(track.runs, track.complete, "AP").matrix()[:2]
    places = np.indices(matrix.shape).reshape(2, -1)
    table = pd.DataFrame({"score": matrix.ravel(), "system": places[0], "topic": places[1]})
    fit = smf.ols("score ~ C(system) + C(topic)", table).fit()
    test = paired_t(matrix, np.array([[1, 0]]))
    assert fit.tvalues["C(system)[T.1]"] == pytest.approx(test.statistic[0])
    assert fit.pvalues["C(system)[T.1]"] == pytest.approx(test.pvalue[0])
    n = matrix.shape[1]
    assert fit.bse["C(system)[T.1]"] == pytest.approx(np.sqrt(2 * fit.mse_resid / n))


def test_the_noise_is_the_mean_over_topics_of_the_variance_over_collections(track, result):
    """Topic by topic, simulated alone: equation 7's residual, by one-way analysis of variance.

    Variances of 3,000 samples are within 2.6 % of their own; the sum over 20 topics leaves the
    mean difference's within 10 %.
    """
    values = []
    with quiet():
        for topic in result.topics:
            alone = sr.qrels_from_dict({topic: dict(track.complete.judgments(topic))})
            one = sr.simulate(track.runs, alone, n_samples=N_SAMPLES, rng=1)
            values.append(one.simulated)
    cube = np.stack(values)  # [topic, sample, run]
    np.testing.assert_allclose(cube.mean(axis=0), result.simulated, atol=1e-12)
    first, second = np.triu_indices(4, 1)
    by_topic = cube[..., first] - cube[..., second]
    noise = by_topic.var(axis=1, ddof=1).mean(axis=0)
    observed = (result.raw[first] - result.raw[second]).var(axis=1, ddof=1)
    np.testing.assert_allclose(result.document_share, noise / observed, rtol=0.1)


@pytest.mark.parametrize(
    ("model", "about"),
    [
        (sr.TrackModel(), 0.36),
        (sr.TrackModel(team=0, system=0.005, team_topic=0.02, system_topic=0.02), 0.78),
    ],
    ids=["spread", "close"],
)
def test_the_share_is_that_of_fresh_collections(model, about):
    """Three tracks: the median pair's share within .15 of the truth, which is known."""
    said, true = [], []
    for seed in range(3):
        drawn = sr.simulated_track(
            n_teams=8, runs_per_team=1, n_topics=40, depth=60, pool_depth=60, model=model, rng=seed
        )
        with quiet():
            found = sr.simulate(drawn.runs, drawn.complete, n_samples=1000, rng=1)
        said.append(np.median(found.document_share))
        rng = np.random.default_rng(seed)
        fresh = np.stack([fresh_collection(drawn.truth, rng) for _ in range(40)])
        first, second = np.triu_indices(8, 1)
        gaps = fresh[:, first] - fresh[:, second]  # [collection, pair, topic]
        noise = gaps.var(axis=0, ddof=1).mean(axis=1)
        true.append(np.median(noise / gaps.var(axis=2, ddof=1).mean(axis=0)))
    assert np.mean(said) == pytest.approx(np.mean(true), abs=0.15)
    assert np.mean(true) == pytest.approx(about, abs=0.1)


def test_equal_runs_have_no_share_and_the_command_tells_it(track, tmp_path, capsys):
    twin = sr.run_from_dict(
        {topic: dict(track.runs[0].ranking(topic)) for topic in track.runs[0].topics}, name="twin"
    )
    with quiet():
        same = sr.simulate([track.runs[0], twin], track.complete, n_samples=50)
    assert np.isnan(same.document_share).all()
    track.write(tmp_path)
    data = [str(tmp_path / "complete-qrels.txt"), str(tmp_path / "runs")]
    assert run(["simulate", *data, "--samples", "200", "--quiet", "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert all(0 < pair["document_share"] < 1.5 for pair in pairs)
    assert run(["simulate", *data, "--samples", "200", "--quiet"]) == 0
    assert "document noise" in capsys.readouterr().out
