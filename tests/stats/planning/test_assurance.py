"""Numbers of topics that will do: by the corrected test, and whatever the luck of the pilot."""

from __future__ import annotations

import bisect
import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

import steadyrank as sr
from steadyrank.errors import InputError
from steadyrank.stats.planning import design
from steadyrank.stats.planning.needed_topics import needed_topics
from steadyrank.stats.planning.variance import ASSURANCE, assured, pair_df


def corrected_limit(n, alpha, skewness=0.0):
    """Standard errors from 0 beyond which the corrected test claims a positive difference."""
    c = stats.t.isf(alpha / 2, n - 1)
    g = max(0.0, 2 * math.sqrt(6 * (n - 2) / (n * (n + 1) * (n + 3))) - skewness)
    return c + g * (2 * c * c + 1) / 6


def power(effect, n, alpha):
    """Of a standardised difference: the normal law of the mean, over that of the deviation."""
    s = np.sqrt(stats.chi2.ppf((np.arange(20_000) + 0.5) / 20_000, n - 1) / (n - 1))
    limit, shift = corrected_limit(n, alpha) * s, math.sqrt(n) * effect
    return float((ndtr(shift - limit) + ndtr(-shift - limit)).mean())


def topics_to_separate(difference, variance, df, **rates):
    n = np.full(np.shape(difference), 2.0)
    asked = {"variance_df": df, "corrected": True, **rates}
    return needed_topics(difference, variance, n, **asked).assured


def needed(effect, alpha=0.05):
    """The smallest number of topics with power .8."""
    return bisect.bisect_left(range(10_000), 0.8, lo=5, key=lambda n: power(effect, n, alpha))


@pytest.mark.parametrize(("effect", "by_student", "corrected"), [(0.5, 34, 38), (0.3, 90, 94)])
def test_the_corrected_test_requires_a_few_topics_more(effect, by_student, corrected):
    asked = {"paired": True}
    assert design.topics_for_range(effect, 0.5, **asked) == by_student
    assert design.topics_for_range(effect, 0.5, corrected=True, **asked) == corrected
    assert needed(effect) == corrected


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 15, 0.05 / 8256])
@pytest.mark.parametrize("effect", [0.11, 0.31, 0.9, 2.5])
def test_it_is_the_power_by_integration(effect, alpha):
    n = needed(effect, alpha)
    for found in (
        design.topics_for_range(effect, 0.5, paired=True, alpha=alpha, corrected=True),
        needed_topics(effect, 1.0, 50, alpha=alpha, corrected=True).topics,
        topics_to_separate(effect, 1.0, math.inf, alpha=alpha),
    ):
        assert found == n
    exact = design.range_power(effect, 0.5, n, paired=True, alpha=alpha, corrected=True)
    assert exact == pytest.approx(power(effect, n, alpha), abs=1e-5)
    least = float(design.smallest_difference(1.0, n, alpha=alpha, corrected=True))
    assert power(least, n, alpha) == pytest.approx(0.8, abs=1e-5)


def test_the_corrected_test_reaches_the_planned_power():
    """20,000 normal samples of 38 topics, skewness as each has it: .8 within .02."""
    z = np.random.default_rng(1).normal(0.5, 1.0, (20_000, 38))
    off = z - z.mean(axis=1, keepdims=True)
    squares = (off**2).sum(axis=1)
    t = z.mean(axis=1) / np.sqrt(squares / (38 * 37))
    skewness = (off**3).sum(axis=1) / squares**1.5
    limits = np.array([corrected_limit(38, 0.05, g) for g in skewness])
    assert (t > limits).mean() == pytest.approx(0.8, abs=0.02)


def test_below_five_topics_nothing_is_claimed():
    assert design.corrected_level(0.05, 4) == 0.0
    assert design.range_power(9.0, 0.1, 4, paired=True, corrected=True) == 0.0
    assert design.smallest_difference(0.1, 4, corrected=True) == math.inf
    assert design.smallest_range(0.1, 4, paired=True, corrected=True) == math.inf
    assert topics_to_separate([9.0, 0.0], 0.1, 20.0).tolist() == [5.0, math.inf]
    assert math.isnan(needed_topics(math.nan, 0.1, 20, corrected=True).topics)


def test_the_formula_is_for_paired_t_tests():
    for other in ({"method": "anova", "systems": 3}, {"method": "ttest", "paired": False}):
        with pytest.raises(InputError, match="corrected formula is for paired t tests"):
            sr.plan(variance=0.1, minimum_difference=0.1, formula="corrected", **other)


# Assurance


def test_the_degrees_of_freedom_of_a_pair():
    """Those of normal values for flat differences, fewer for long tails; on its own topics."""
    rng = np.random.default_rng(2)
    z = np.stack([rng.uniform(-1, 1, 40), rng.standard_t(2, 40), np.full(40, 0.2)])
    z[1, :7] = np.nan
    kurtosis = stats.kurtosis(z[1, 7:])
    expected = [39.0, 2 / (2 / 32 + kurtosis / 33)]
    assert kurtosis > 0
    np.testing.assert_allclose(pair_df(z)[:2], expected)
    assert math.isnan(pair_df(np.array([[0.1, math.nan]]))[0])
    np.testing.assert_allclose(assured(2.0, 24.0), 2.0 * 24 / stats.chi2.ppf(0.1, 24))


@pytest.mark.parametrize("n_topics", [15, 25])
def test_four_of_five_pilots_promise_no_too_much(n_topics):
    """Known truth: differences that are normal, or as skewed and long-tailed as those of AP.

    2,000 pilots each. By the pilot's own variance half are enough at most; with assurance .8 and
    more, .9 where differences are normal.
    """
    rng = np.random.default_rng(n_topics)
    laws = {
        "normal": (rng.normal(size=(2000, n_topics)), 1.0),
        "long tails": (rng.standard_t(6, (2000, n_topics)), 1.5),
        "skewed": (rng.gamma(9.0, 1.0, (2000, n_topics)), 9.0),
    }
    for name, (z, truth) in laws.items():
        required = topics_to_separate(0.4 * truth**0.5, truth, math.inf)
        variance, df = z.var(axis=1, ddof=1), pair_df(z)
        found = needed_topics(0.4 * truth**0.5, variance, n_topics, variance_df=df, corrected=True)
        enough = (found.assured >= required).mean()
        assert (found.topics >= required).mean() < 0.53, name
        assert enough + 0.02 >= ASSURANCE, (name, enough)
        assert name != "normal" or enough == pytest.approx(0.9, abs=0.025)


def pilot(n_runs=6, n_topics=30, seed=3):
    rng = np.random.default_rng(seed)
    values = 0.5 + 0.03 * np.arange(n_runs)[:, None] + rng.normal(0, 0.1, (1, n_runs, n_topics))
    names = [f"run{r}" for r in range(n_runs)]
    topics = [str(t) for t in range(n_topics)]
    return sr.Scores(measures=["AP"], runs=names, topics=topics, values=values)


def test_the_plan_of_a_pilot_leads_with_the_assured_number():
    scores = pilot()
    (row,) = sr.plan(scores, minimum_difference=0.05).plans
    upper = row.pilot.residual_variance * row.pilot_df / stats.chi2.ppf(0.1, row.pilot_df)
    assert row.topics == needed(0.05 / row.difference_variance**0.5)
    assert row.topics_assured == needed(0.05 / (2 * upper) ** 0.5)
    assert (row.assurance, row.advised) == (0.8, row.topics_assured)
    (known,) = sr.plan(variance=0.02, minimum_difference=0.05, method="ttest").plans
    assert (known.topics_assured, known.assurance, known.advised) == (None, None, known.topics)
    (given,) = sr.plan(scores, minimum_difference=0.05, n_topics=40).plans
    assert given.topics_assured is None


def test_one_question_has_one_number():
    """The first two runs' topics, and the detectable difference, at the family of `compare`."""
    scores = pilot()
    decided = sr.compare(scores)
    planned = sr.plan(scores, decided=decided)
    studied = sr.topics(scores, decided=decided, n_trials=10)
    first, *_ = planned.differences
    (row,) = studied.told([studied.pair(*(studied.runs.index(run) for run in first.runs))])
    assert first.topics_assured == row["topics_assured"]
    z = np.subtract(*scores.matrix()[[scores.runs.index(run) for run in first.runs]])
    level = decided.comparison_alpha
    by_hand = topics_to_separate(z.mean(), z.var(ddof=1), pair_df(z[None])[0], alpha=level)
    assert first.topics_assured == by_hand
    sds = np.array([np.subtract(*scores.matrix()[pair]).std(ddof=1) for pair in decided.pairs])
    least = design.smallest_difference(sds, 30, alpha=level, corrected=True)
    assert planned.plans[0].smallest_difference == pytest.approx(design.detectable(least))


def test_skewed_differences_are_told():
    scores = pilot(2, 60)
    values = np.array(scores.values)
    values[0, 1] = values[0, 0] + 0.01 + 0.02 * np.random.default_rng(0).gamma(0.3, 1.0, 60)
    skewed = sr.Scores(measures=["AP"], runs=scores.runs, topics=scores.topics, values=values)
    with pytest.warns(sr.SteadyrankWarning, match="are skewed"):
        sr.plan(skewed)


@pytest.mark.filterwarnings("ignore:the pilot has only 4 topics")
def test_a_pilot_too_small_for_the_corrected_test_says_so():
    result = sr.plan(pilot(3, 4))
    assert result.plans[0].smallest_difference == math.inf
    assert "4 topics detect nothing: below 5 topics no difference is claimed." in str(result)
    assert result.differences[0].topics >= 5
    assert np.isfinite(result.curve().values).all()
    assert result.rows()[0]["topics"] == result.differences[0].topics
