"""A second collection of documents: against the formula in plain NumPy, and against the truth."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, rankdata

import steadyrank as sr
from bench import documents
from bench.coverage.worlds import fresh_collection, quiet
from steadyrank.cli import run
from steadyrank.compute.random import block_stream
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.studies.simulate.statistics import kept_share, predict, second_collections
from steadyrank.studies.simulate.view import VIEW

RAW = np.array([0.31, 0.30, 0.29, 0.30, 0.20])


def simulated_means(n_samples=300, n_runs=5, seed=0):
    """Means around those at hand; errors are partly common, as with shared documents."""
    rng = np.random.default_rng(seed)
    error = rng.normal(0, 0.02, (n_samples, 1)) + rng.normal(0, 0.01, (n_samples, n_runs))
    return RAW[:n_runs] + error


def plain_kept(S):
    m = S.shape[1]
    Xb = S.mean(axis=0)
    E = 1.05 * (S - Xb)
    s2 = np.mean([((e - e.mean()) ** 2).sum() / (m - 1) for e in E])
    return 1.0 if m <= 3 else max(0.0, 1 - (m - 3) / (m - 1) * s2 / Xb.var(ddof=1))


def plain_second_collections(S, seed):
    """Z = M + A (Xb - M) + sqrt(A) e1 + e2, row by row."""
    A, Xb = plain_kept(S), S.mean(axis=0)
    M, E = Xb.mean(), 1.05 * (S - Xb)
    rows = []
    for block in range(-(-len(S) // 256)):
        size = min(256, len(S) - 256 * block)
        stream = block_stream(seed, "second collection", block)
        here, there = stream.integers(len(S), size=(2, size))
        rows += [M + A * (Xb - M) + A**0.5 * E[i] + E[j] for i, j in zip(here, there, strict=True)]
    return np.array(rows)


@pytest.mark.parametrize("n_runs", [2, 3, 4, 5])
def test_second_collections_follow_the_formula(n_runs):
    simulated = simulated_means(n_runs=n_runs)
    ours = np.concatenate(list(second_collections(simulated, seed=7)))
    np.testing.assert_allclose(ours, plain_second_collections(simulated, 7), rtol=1e-12)
    assert kept_share(simulated) == pytest.approx(plain_kept(simulated))
    assert (kept_share(simulated) == 1.0) == (n_runs <= 3)


def test_runs_that_lie_apart_by_chance_alone_have_no_order_to_keep():
    simulated = np.random.default_rng(1).normal(0, 0.1, (50, 40))
    assert kept_share(simulated) == plain_kept(simulated) == 0.0


def test_ranks_tau_and_swaps_are_those_of_the_second_collections():
    simulated = simulated_means()
    found = predict(RAW, simulated, seed=3)
    drawn = plain_second_collections(simulated, 3)
    ranks = rankdata(-drawn, method="min", axis=1)
    shares = [[np.mean(ranks[:, run] == rank) for rank in range(1, 6)] for run in range(5)]
    np.testing.assert_allclose(found.rank_share, shares)
    np.testing.assert_allclose(found.first, np.mean(ranks == 1, axis=0))
    taus = [kendalltau(RAW, each).statistic for each in drawn]
    np.testing.assert_allclose(found.tau.taus, taus)
    assert found.tau.interval == pytest.approx(np.quantile(taus, [0.025, 0.975]))
    for swap, (a, b) in zip(found.swap, itertools.combinations(range(5), 2), strict=True):
        if RAW[a] == RAW[b]:
            assert np.isnan(swap)  # no order to change
        else:
            turned = (RAW[a] - RAW[b]) * (drawn[:, a] - drawn[:, b]) < 0
            assert swap == pytest.approx(turned.mean())
    assert found.swap_share == pytest.approx(np.nanmean(found.swap))


def test_without_ties_tau_is_one_less_twice_the_share_of_swaps():
    simulated = simulated_means()[:, [0, 1, 2, 4]]
    found = predict(RAW[[0, 1, 2, 4]], simulated, seed=3)
    assert found.tau.mean == pytest.approx(1 - 2 * found.swap_share)


@pytest.fixture(scope="module")
def track():
    return sr.simulated_track(n_teams=6, runs_per_team=1, n_topics=10, depth=50, pool_depth=50)


def said(track, runs=None, **options):
    return sr.simulate(runs or track.runs, track.complete, n_samples=600, rng=5, **options)


def test_threads_stores_and_the_order_of_runs_change_nothing(track, tmp_path):
    plain = said(track, jobs=1)
    sr.simulate(track.runs, track.complete, n_samples=300, rng=5, store=tmp_path / "store")
    others = [said(track, jobs=3), said(track, store=tmp_path / "store")]
    for other in others:
        for field in ("rank_share", "swap"):
            ours, theirs = (getattr(found.prediction, field) for found in (plain, other))
            assert ours.tobytes() == theirs.tobytes()
        assert other.prediction.tau.taus.tobytes() == plain.prediction.tau.taus.tobytes()
    backwards = said(track, runs=track.runs[::-1])
    assert backwards.prediction.rank_share[::-1].tobytes() == plain.prediction.rank_share.tobytes()
    np.testing.assert_array_equal(backwards.above[::-1, ::-1], plain.above)


def test_all_that_is_said_of_another_collection_is_the_prediction(track):
    result = said(track)
    found, out = result.prediction, json.loads(VIEW.text(result, "json"))
    prediction = out["prediction"]
    assert prediction["tau"] == {"mean": found.tau.mean, "interval": list(found.tau.interval)}
    assert prediction["first"] == out["top_probability"]["1"] == found.first.tolist()
    assert prediction["rank_interval"] == out["rank_interval"] == found.rank_interval.tolist()
    assert prediction["swap_share"] == found.swap_share
    named = {(pair["a"], pair["b"]): pair["swap"] for pair in prediction["pairs"]}
    assert list(named) == list(itertools.combinations(result.runs, 2))
    for (a, b), swap in named.items():
        one, other = result.runs.index(a), result.runs.index(b)
        above = result.above[one, other]
        is_ahead = result.raw_mean[one] > result.raw_mean[other]
        assert (1 - above if is_ahead else above) == pytest.approx(swap)
    # The paper's own figures are of the collections around the one at hand.
    assert out["rank_correlation"]["mean"] == result.rank_correlation.mean > found.tau.mean


def test_the_papers_model_predicts_nothing(track):
    for options in ({"mode": "paper"}, {"mode": "paper", "documents": "shared"}, {"model": "kde"}):
        result = sr.simulate(track.runs, track.complete, n_samples=20, **options)
        assert result.prediction is None
        assert json.loads(VIEW.text(result, "json"))["prediction"] is None
        assert VIEW.text(result, "table").startswith("In 20 simulated collections")


def test_another_first_place_by_simulated_means_is_said(track):
    result = said(track)
    leader, last = int(np.argmax(result.raw_mean)), int(np.argmin(result.raw_mean))
    assert result.other_first is None
    assert "By simulated means" not in VIEW.text(result, "table")
    turned = result.simulated.copy()
    turned[:, [leader, last]] = turned[:, [last, leader]]
    other = replace(result, simulated=turned)
    sentence = f"By simulated means {result.runs[last]} is first, not {result.runs[leader]}."
    assert other.other_first == result.runs[last]
    assert sentence in VIEW.text(other, "table")


@pytest.mark.slow
@pytest.mark.parametrize("track", documents.TRACKS)
def test_predictions_hold_what_fresh_collections_show(track):
    """Six tracks of known truth (`bench.documents`; figures of 24 are in docs/forecasts.md).

    A track's coverage of differences has a standard deviation of .03, that of tau's interval .08
    and the error of tau's mean .12: bands are four standard errors wide on either side.
    """
    for figures in documents.table(20, 6, track=track).values():
        truth, second, shared = (figures[model] for model in ("truth", "second", "shared"))
        assert 0.89 < second["difference holds fresh"][0] < 0.99
        assert second["rank holds fresh"][0] > 0.94
        assert second["tau holds fresh"][0] > 0.79
        assert abs(second["tau"][0] - truth["tau"][0]) < 0.2
        # Simulated collections, which scatter around the one at hand, do not.
        assert shared["difference holds fresh"][0] < 0.87
        assert shared["tau"][0] > second["tau"][0]


# Which share of a difference's variance over topics is noise of documents: equations 6 and 7 of
# Jayasinghe et al. 2015; simulated collections are the repeated observations.

N_SAMPLES = 3000


@pytest.fixture(scope="module")
def small():
    return sr.simulated_track(n_teams=4, runs_per_team=1, n_topics=20, depth=60, pool_depth=60)


@pytest.fixture(scope="module")
def result(small):
    with quiet():
        return sr.simulate(small.runs, small.complete, n_samples=N_SAMPLES, rng=1)


def test_equation_6_is_the_paired_t_test(small):
    """statsmodels 0.15: score ~ system + topic by ordinary least squares, two systems."""
    smf = pytest.importorskip("statsmodels.formula.api")
    matrix = sr.evaluate(small.runs, small.complete, "AP").matrix()[:2]
    places = np.indices(matrix.shape).reshape(2, -1)
    table = pd.DataFrame({"score": matrix.ravel(), "system": places[0], "topic": places[1]})
    fit = smf.ols("score ~ C(system) + C(topic)", table).fit()
    test = paired_t(matrix, np.array([[1, 0]]))
    assert fit.tvalues["C(system)[T.1]"] == pytest.approx(test.statistic[0])
    assert fit.pvalues["C(system)[T.1]"] == pytest.approx(test.pvalue[0])
    n = matrix.shape[1]
    assert fit.bse["C(system)[T.1]"] == pytest.approx(np.sqrt(2 * fit.mse_resid / n))


def test_the_noise_is_the_mean_over_topics_of_the_variance_over_collections(small, result):
    """Topic by topic, simulated alone: equation 7's residual, by one-way analysis of variance.

    Variances of 3,000 samples are within 2.6 % of their own; the sum over 20 topics leaves the
    mean difference's within 10 %.
    """
    values = []
    with quiet():
        for topic in result.topics:
            alone = sr.qrels_from_dict({topic: dict(small.complete.judgments(topic))})
            one = sr.simulate(small.runs, alone, n_samples=N_SAMPLES, rng=1)
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


def test_equal_runs_have_no_share_and_the_command_tells_it(small, tmp_path, capsys):
    twin = sr.run_from_dict(
        {topic: dict(small.runs[0].ranking(topic)) for topic in small.runs[0].topics}, name="twin"
    )
    with quiet():
        same = sr.simulate([small.runs[0], twin], small.complete, n_samples=50)
    assert np.isnan(same.document_share).all()
    small.write(tmp_path)
    data = [str(tmp_path / "complete-qrels.txt"), str(tmp_path / "runs")]
    assert run(["simulate", *data, "--samples", "200", "--quiet", "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert all(0 < pair["document_share"] < 1.5 for pair in pairs)
    assert run(["simulate", *data, "--samples", "200", "--quiet"]) == 0
    assert "document noise" in capsys.readouterr().out
