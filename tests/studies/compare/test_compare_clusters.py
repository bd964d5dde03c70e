"""`compare` and `topics` on clustered and weighted topics."""

from __future__ import annotations

import json

import numpy as np
import pytest
import statsmodels.api as sm
from test_compare import assert_one_family

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.stats.pairs.topic_design import mean_difference
from steadyrank.stats.planning.reversal import predictive_rate


def cluster_scores(n_clusters=24, seed=1, n_runs=4, measures=("AP",), lead=0.06):
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(n_clusters), np.resize([1, 2, 5], n_clusters))
    n = len(clusters)
    values = rng.uniform(0.2, 0.7, (1, 1, n)) + rng.normal(0, 0.05, (len(measures), n_runs, n))
    values += rng.normal(0, 0.05, (len(measures), n_runs, n_clusters))[:, :, clusters]
    values += lead * np.arange(n_runs)[:, None]
    return sr.Scores(
        measures=measures,
        runs=[f"run{r}" for r in range(n_runs)],
        topics=[f"c{c}_{t}" for t, c in enumerate(clusters)],
        values=values,
    ).with_topic_info(cluster=clusters)


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap"])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_figure_comes_from_one_clustered_family(test, weighted):
    scores = cluster_scores()
    if weighted:
        weight = np.random.default_rng(3).uniform(0.5, 4, len(scores.topics))
        scores = scores.with_topic_info(weight=weight)
    result = sr.compare(scores, test=test)
    assert_one_family(result)
    assert (result.n_clusters, result.effective_topics is not None) == (24, weighted)
    weights = weight if weighted else None
    for p, (a, b) in enumerate(result.pairs):
        z = result.scores[a] - result.scores[b]
        fit = mean_difference(z, clusters=np.array(scores.topic_info["cluster"]), weights=weights)
        assert result.difference[p] == pytest.approx(fit.mean)
        assert np.diff(result.pair_means[p])[0] == pytest.approx(-fit.mean)
    assert result.mean == pytest.approx(np.average(result.scores, axis=1, weights=weights))


def test_clusters_widen_what_topics_alone_would_claim():
    scores = cluster_scores(lead=0.02)
    plain = sr.compare(scores.with_topic_info(cluster=scores.topics))
    clustered = sr.compare(scores)
    width = clustered.interval[:, 1] - clustered.interval[:, 0]
    assert (width > plain.interval[:, 1] - plain.interval[:, 0]).all()
    assert clustered.design_effect > 1.5
    z = clustered.scores[0] - clustered.scores[1]
    fit = sm.OLS(z, np.ones(len(z))).fit()
    assert plain.pvalue[0] == pytest.approx(float(fit.pvalues[0]))


def test_one_topic_per_cluster_and_equal_weights_are_nothing_new():
    scores = cluster_scores(n_clusters=30, n_runs=2)
    alone = scores.with_topic_info(cluster=scores.topics, weight=[2] * len(scores.topics))
    plain = sr.Scores(
        measures=scores.measures, runs=scores.runs, topics=scores.topics, values=scores.values
    )
    one, other = sr.compare(alone), sr.compare(plain)
    for key in ("difference", "pvalue", "interval", "mean", "smallest_difference"):
        assert getattr(one, key) == pytest.approx(getattr(other, key), rel=1e-8), key


def test_missing_scores_leave_the_t_test_pair_by_pair():
    scores = cluster_scores()
    values = scores.values.copy()
    values[0, 0, :6] = np.nan
    gaps = sr.Scores(
        measures=scores.measures,
        runs=scores.runs,
        topics=scores.topics,
        values=values,
        topic_info=scores.topic_info,
    )
    result = sr.compare(gaps)
    assert (result.correction, result.n[0]) == ("holm", len(scores.topics) - 6)
    assert_one_family(result)
    z = values[0, 0] - values[0, 1]
    fit = mean_difference(z, clusters=np.array(scores.topic_info["cluster"]))
    assert result.difference[0] == pytest.approx(fit.mean)
    for options in ({"test": "bootstrap"}, {"correction": "maxt"}):
        with pytest.raises(sr.InputError, match="requires a score of every run on every topic"):
            sr.compare(gaps, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "wilcoxon"}, "test wilcoxon has no clustered or weighted topics: choose from t,"),
        ({"test": "tukey"}, "test tukey has no clustered"),
        ({"test": "bootstrap", "mode": "paper"}, "mode paper resamples single topics"),
    ],
)
def test_what_takes_topics_for_independent_is_refused(options, message):
    with pytest.raises(sr.InputError, match=message):
        sr.compare(cluster_scores(), **options)


def test_systems_with_instances_are_refused():
    scores = cluster_scores().with_run_info(system=["a", "a", "b", "b"])
    with pytest.raises(sr.InputError, match="mixed model, which has no clustered"):
        sr.compare(scores)
    assert sr.compare(scores, by="run").row_word == "run"


@pytest.mark.parametrize("n_clusters", [1, 2, 3])
def test_very_few_clusters_break_nothing(n_clusters):
    scores = cluster_scores(n_clusters=n_clusters).with_topic_info()
    if n_clusters == 3:
        with pytest.warns(sr.SteadyrankWarning, match="3 clusters have only 8 sign patterns"):
            result = sr.compare(scores)
        return
    result = sr.compare(scores, correction="holm")
    assert "cluster" in str(result)
    if n_clusters == 1:
        assert set(result.flag) == {"too_few_topics"}


def test_topics_of_weight_zero_have_no_part():
    scores = cluster_scores()
    weight = [0.0, *[1.0] * (len(scores.topics) - 1)]
    with pytest.warns(sr.SteadyrankWarning, match="1 topic has weight 0 and takes no part"):
        result = sr.compare(scores.with_topic_info(weight=weight))
    assert result.n_topics == len(scores.topics) - 1


def test_order_of_topics_and_threads_change_no_byte():
    scores = cluster_scores()
    turned = scores.select(topics=scores.topics[::-1])
    for test in ("t", "bootstrap"):
        one = sr.compare(scores, test=test, jobs=1).to_frame().to_csv()
        assert one == sr.compare(turned, test=test, jobs=3).to_frame().to_csv()


def test_the_command_takes_information_and_names(tmp_path, capsys):
    scores = cluster_scores()
    path, info = tmp_path / "ap.csv", tmp_path / "topics.csv"
    sr.write_scores(scores.with_topic_info(), path)
    rows = zip(scores.topics, scores.topic_info["cluster"], strict=True)
    info.write_text("topic,cluster\r\n" + "".join(f"{t},{c}\r\n" for t, c in rows))
    printed = []
    for options in (["--topic-info", str(info)], ["--cluster-from", r"^c(\d+)_"]):
        assert run(["compare", "--scores", str(path), *options, "--format", "json"]) == 0
        printed.append(json.loads(capsys.readouterr().out))
    assert printed[0] == printed[1]
    assert printed[0]["n_clusters"] == 24
    assert run(["compare", "--scores", str(path), "--cluster-from", r"^c(\d+)_"]) == 0
    text = capsys.readouterr().out
    assert "64 topics in 24 clusters" in text
    assert f"design effect {printed[0]['design_effect']:.2f}" in text
    assert run(["compare", "--scores", str(path), "--audit", "--topic-info", str(info)]) == 2
    assert "omit --topic-info" in capsys.readouterr().err


def test_topics_counts_topics_that_are_clustered_alike():
    scores = cluster_scores(lead=0.02)
    result = sr.topics(scores, n_trials=50)
    n, codes = len(scores.topics), np.array(scores.topic_info["cluster"])
    for p, (a, b) in enumerate(result.pairs):
        fit = mean_difference(scores.matrix()[a] - scores.matrix()[b], clusters=codes)
        assert result.variances.variance[p] == pytest.approx(n * fit.variance)
        expected = predictive_rate(fit.mean, n * fit.variance, n)
        assert result.predictive[p] == pytest.approx(expected)
    assert result.n_clusters == 24
    assert "64 topics in 24 clusters (other topics alike)" in str(result)
    plain = sr.topics(scores.with_topic_info(cluster=scores.topics), n_trials=50)
    assert (result.predictive > plain.predictive).all()
    known = np.isfinite(plain.needed.topics)
    assert (result.needed.topics[known] > plain.needed.topics[known]).mean() > 0.5


def test_single_clusters_and_equal_weights_change_nothing_in_topics():
    scores = cluster_scores(n_clusters=30, n_runs=3)
    plain = sr.Scores(
        measures=scores.measures, runs=scores.runs, topics=scores.topics, values=scores.values
    )
    alone = plain.with_topic_info(cluster=scores.topics, weight=[3] * len(scores.topics))
    one, other = sr.topics(alone, n_trials=20), sr.topics(plain, n_trials=20)
    for key in ("predictive", "error_rate", "error_rate_independent", "expected_reversal"):
        assert getattr(one, key) == pytest.approx(getattr(other, key), rel=1e-7), key
    assert one.needed.topics.tolist() == other.needed.topics.tolist()


def test_splits_keep_clusters_whole():
    from steadyrank.studies.topics.levels import _orders

    clusters = np.array([5, 5, 5, 2, 9, 9, 2, 2, 7])
    orders = _orders(np.random.default_rng(0), 200, 9, clusters)
    assert (np.sort(orders, axis=1) == np.arange(9)).all()
    changes = (np.diff(clusters[orders], axis=1) != 0).sum(axis=1)
    assert set(changes) == {3}
    first = clusters[orders[:, 0]]
    assert {int(c) for c in first} == {2, 5, 7, 9}


def test_weighted_topics_have_weighted_differences_in_topics():
    scores = cluster_scores()
    weight = np.random.default_rng(5).uniform(0.5, 3, len(scores.topics))
    result = sr.topics(scores.with_topic_info(weight=weight), n_trials=20)
    codes = np.array(scores.topic_info["cluster"])
    fit = mean_difference(scores.matrix()[0] - scores.matrix()[1], clusters=codes, weights=weight)
    assert result.variances.difference[0] == pytest.approx(fit.mean)
    assert result.is_weighted
