"""The test of segment × run, against Welch's t and a plain loop over all sign patterns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from steadyrank.stats.pairs.topic_design import TopicDesign
from steadyrank.stats.segments import FEWEST, segment_interaction


def test_two_runs_in_two_segments_are_welchs_t():
    rng = np.random.default_rng(1)
    scores = rng.normal(0.5, 0.1, (2, 30))
    segments = np.repeat([0, 1], [10, 20])
    test = segment_interaction(scores, segments, n_samples=99)
    d = scores[0] - scores[1]
    welch = stats.ttest_ind(d[:10], d[10:], equal_var=False)
    assert test.statistic[0, 0] == pytest.approx(welch.statistic)
    assert test.deviation[0, 0] == pytest.approx((d[:10].mean() - d[10:].mean()) / 2)
    assert test.statistic[:, 1] == pytest.approx(-test.statistic[:, 0])


def plain_statistics(leads, segments):
    """[run, segment]: means in a segment less elsewhere, every segment with its own variance."""
    t = []
    for row in leads:
        cells = [row[segments == s] for s in np.unique(segments)]
        sizes = np.array([len(cell) for cell in cells])
        means = np.array([cell.mean() for cell in cells])
        variances = np.array([cell.var(ddof=1) / len(cell) for cell in cells])
        line = []
        for s in range(len(cells)):
            others = np.arange(len(cells)) != s
            share = sizes[others] / sizes[others].sum()
            error = np.sqrt(variances[s] + (share**2 * variances[others]).sum())
            line.append((means[s] - share @ means[others]) / error)
        t.append(line)
    return np.array(t)


def test_adjusted_pvalues_are_those_of_all_sign_patterns():
    rng = np.random.default_rng(5)
    scores = rng.normal(0.5, 0.1, (3, 15))
    scores[0, :5] += 0.2
    segments = np.repeat([3, 7, 9], 5)
    test = segment_interaction(scores, segments, n_samples=2**14)
    leads = scores - scores.mean(axis=0)
    observed = plain_statistics(leads, segments)
    assert test.statistic == pytest.approx(observed)
    centred = leads - leads.mean(axis=1, keepdims=True)
    # A pattern and its opposite have the same |t|: the first sign is +.
    patterns = [(1, *rest) for rest in itertools.product((-1, 1), repeat=14)]
    largest = np.array([np.abs(plain_fast(centred * s)).max() for s in np.array(patterns)])
    for r, s in itertools.product(range(3), range(3)):
        count = 2 * (largest >= abs(observed[r, s]) * (1 - 1e-9)).sum()
        assert test.pvalue[r, s] == pytest.approx((1 + count) / (1 + 2**15))
    assert (test.exact, test.n_patterns, test.tested.tolist()) == (True, 2**15, [3, 7, 9])


def plain_fast(leads):
    """As `plain_statistics` for three segments of five topics."""
    cells = leads.reshape(3, 3, 5)
    means, variances = cells.mean(axis=2), cells.var(axis=2, ddof=1) / 5
    elsewhere = (means.sum(axis=1, keepdims=True) - means) / 2
    spread = (variances.sum(axis=1, keepdims=True) - variances) / 4
    return (means - elsewhere) / np.sqrt(variances + spread)


def test_clusters_keep_their_sign_and_widen_the_error():
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(20), 4)
    scores = rng.normal(0, 0.05, (2, 80)) + rng.normal(0, 0.1, (2, 20))[:, clusters]
    segments = (clusters < 10).astype(int)
    plain = segment_interaction(scores, segments, n_samples=499)
    clustered = segment_interaction(scores, segments, TopicDesign(clusters=clusters), n_samples=499)
    means = (scores[0] - scores[1]).reshape(20, 4).mean(axis=1)
    welch = stats.ttest_ind(means[10:], means[:10], equal_var=False)
    assert clustered.statistic[0, 0] == pytest.approx(welch.statistic)
    assert abs(clustered.statistic[0, 0]) < abs(plain.statistic[0, 0])


@pytest.mark.parametrize("sizes", [(20, 1), (40,), (3, 3, 3)])
def test_too_few_segments_have_no_test(sizes):
    segments = np.repeat(np.arange(len(sizes)), sizes)
    test = segment_interaction(np.random.default_rng(0).normal(size=(2, len(segments))), segments)
    assert np.isnan(test.pvalue_of_any)
    assert test.tested.tolist() == []


def test_small_segments_and_missing_topics_are_left_out():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(2, 30))
    segments = np.repeat([0, 1, 2], [FEWEST - 1, 13, 13])
    scores[0, 29] = np.nan
    test = segment_interaction(scores, segments, n_samples=99)
    kept = slice(FEWEST - 1, 29)
    alone = segment_interaction(scores[:, kept], segments[kept], n_samples=99)
    assert (test.tested.tolist(), test.n_topics) == ([1, 2], 25)
    assert test.pvalue.tolist() == alone.pvalue.tolist()


def test_identical_runs_and_equal_leads_have_p_one():
    scores = np.tile(np.random.default_rng(0).normal(size=20), (3, 1))
    scores[1] += 0.1
    test = segment_interaction(scores, np.repeat([0, 1], 10), n_samples=99)
    assert test.pvalue_of_any == 1.0


def test_the_level_holds_where_segments_differ_in_size_and_spread():
    """At level .05, 200 trials: 20 or fewer with a chance of all but .1 %."""
    segments, wrong = np.repeat([0, 1, 2], [40, 12, 6]), 0
    for trial in range(200):
        rng = np.random.default_rng(trial)
        scores = rng.normal(0, 1, (3, 58)) * np.array([0.5, 1.0, 3.0])[segments]
        wrong += segment_interaction(scores, segments, n_samples=499).pvalue_of_any <= 0.05
    assert wrong <= 20
