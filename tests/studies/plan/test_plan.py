"""`plan`: topics for measures, what the pilot leaves open, and curves."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy.stats import chi2

import steadyrank as sr
from steadyrank.stats.anova.gstudy import variance_components
from steadyrank.stats.pairs.topic_design import design_effect, mean_difference
from steadyrank.stats.planning import design
from steadyrank.stats.planning.variance import pilot_variance, pooled_variance
from steadyrank.studies.plan.view import VIEW

PAPER = {"nG@1": 0.114, "P+": 0.094, "nERR@10": 0.087, "nDCG@10": 0.034, "Q@10": 0.029}


def make_scores(n_runs=6, n_topics=40, seed=0, measures=("AP", "P@10"), team=None):
    rng = np.random.default_rng(seed)
    spread = np.linspace(0.1, 0.2, len(measures))[:, None, None]
    topics = rng.normal(0.4, 1.5 * spread, (len(measures), 1, n_topics))
    values = topics + rng.normal(0.0, spread, (len(measures), n_runs, n_topics))
    return sr.Scores(
        measures=measures,
        runs=[f"run{i}" for i in range(n_runs)],
        topics=[str(t) for t in range(n_topics)],
        values=values,
        run_info={} if team is None else {"team": team},
    )


def test_the_papers_first_column():
    (row,) = sr.plan(variance=0.114, minimum_difference=0.15, systems=10).rows()
    assert (row["measure"], row["variance"], row["topics"]) == ("score", 0.114, 160)
    assert row["power"] == design.range_power(0.15, 0.114, 160, systems=10)
    assert row["smallest_difference"] < 0.15
    assert row["variance_interval"] is row["topics_interval"] is None
    found = sr.plan(variance=PAPER, minimum_difference=0.15, systems=10, formula="nagata")
    assert [row.topics for row in found.plans] == [159, 131, 121, 48, 41]
    assert [row.measure for row in found.plans] == list(PAPER)
    exact = sr.plan(variance=PAPER, minimum_difference=0.15, systems=10)
    assert [row.topics for row in exact.plans] == [160, 132, 122, 49, 42]
    assert all(row.power >= 0.8 for row in exact.plans)
    assert all(0.79 < row.power < 0.8 for row in found.plans)


def test_t_tests_take_twice_the_variance_or_that_of_differences():
    asked = {"minimum_difference": 0.05, "method": "ttest"}
    paired = sr.plan(difference_variance=0.04, **asked).plans[0]
    assert paired.topics == 128
    assert math.isnan(paired.variance)
    assert sr.plan(variance=0.02, **asked).plans[0].topics == 128
    assert sr.plan(variance=0.3, difference_variance=0.04, **asked).plans[0].topics == 128
    unpaired = sr.plan(variance=0.04, paired=False, **asked).plans[0]
    assert unpaired.topics == 253
    assert math.isnan(unpaired.difference_variance)
    assert sr.plan(variance=0.02, formula="nagata", **asked).plans[0].topics == 128


def test_intervals_have_the_width_asked_for():
    found = sr.plan(variance=0.029, method="interval", width=0.1).plans[0]
    assert found.topics == 92
    assert found.expected_width <= 0.1 < design.expected_width(0.029, 91)
    assert math.isnan(found.power)
    with_power = sr.plan(variance=0.029, method="interval", width=0.1, minimum_difference=0.08)
    assert with_power.plans[0].power == design.range_power(0.08, 0.029, 92, paired=True)
    nagata = sr.plan(variance=0.029, method="interval", width=0.1, formula="nagata").plans[0]
    assert nagata.topics == 90
    assert nagata.expected_width > 0.1


def test_what_a_number_of_topics_buys():
    row = sr.plan(variance=0.114, minimum_difference=0.15, systems=10, n_topics=100).plans[0]
    assert row.topics == 100
    assert row.power == design.range_power(0.15, 0.114, 100, systems=10)
    back = sr.plan(variance=0.114, minimum_difference=row.smallest_difference, systems=10)
    assert back.plans[0].topics == 100
    open_ended = sr.plan(variance=0.114, systems=10, n_topics=100)
    assert math.isnan(open_ended.plans[0].power)
    assert open_ended.plans[0].smallest_difference == row.smallest_difference
    width = sr.plan(variance=0.114, method="interval", n_topics=100).plans[0].expected_width
    assert sr.plan(variance=0.114, method="interval", width=width).plans[0].topics == 100


def test_pilot_data_give_the_variance_of_every_measure_and_its_uncertainty():
    scores = make_scores()
    result = sr.plan(scores, minimum_difference=0.1, systems=5)
    for row in result.plans:
        pooled = pooled_variance(scores.matrix(row.measure))
        parts = variance_components(scores.matrix(row.measure)).variance
        assert row.variance == pooled.value
        assert row.pilot.variance_interval == pooled.interval(0.95)
        assert row.pilot.topic_variance == parts["topic"]
        assert row.pilot.residual_variance == parts["residual"]
        assert row.topics == design.topics_for_range(0.1, pooled.value, systems=5)
        low, high = row.topics_interval
        assert low < row.topics < high
        assert high == design.topics_for_range(0.1, pooled.interval()[1], systems=5)
    assert [row.measure for row in result.plans] == ["AP", "P@10"]
    only = sr.plan(scores, measures=["P@10"], minimum_difference=0.1, systems=5)
    assert repr(only.plans) == repr(result.plans[1:])  # NaN differs from itself
    power = sr.plan(scores, minimum_difference=0.1, systems=5, n_topics=30).plans[0]
    assert power.power_interval[0] < power.power < power.power_interval[1]
    assert power.topics_interval is None
    wider = sr.plan(scores, minimum_difference=0.1, systems=5, confidence=0.99).plans[0]
    assert wider.topics_interval[1] > result.plans[0].topics_interval[1]


def test_pilot_pairs_give_the_variance_of_differences():
    scores = make_scores(measures=("AP",))
    asked = {"minimum_difference": 0.05, "method": "ttest", "formula": "exact"}
    doubled = sr.plan(scores, difference_variance="twice", **asked).plans[0]
    paired = sr.plan(scores, **asked).plans[0]
    assert repr(paired) == repr(sr.plan(scores, difference_variance="pilot", **asked).plans[0])
    runs = scores.matrix()
    pairs = [np.var(runs[a] - runs[b], ddof=1) for a in range(6) for b in range(a)]
    assert paired.difference_variance == pytest.approx(np.mean(pairs), rel=1e-12)
    assert doubled.difference_variance == 2 * doubled.variance
    assert paired.topics < doubled.topics
    assert paired.topics_interval[0] < paired.topics < paired.topics_interval[1]
    half = paired.difference_variance / 2
    assert paired.topics == design.topics_for_range(0.05, half, systems=2, paired=True)
    fixed = sr.plan(scores, difference_variance=0.04, **asked).plans[0]
    assert (fixed.topics, fixed.topics_interval) == (128, None)
    interval = sr.plan(scores, method="interval", width=0.1).plans[0]
    assert interval.difference_variance == paired.difference_variance
    # Without pairs there is nothing but the published rule.
    one = sr.plan(scores.select(runs=scores.runs[0]), **asked).plans[0]
    assert one.difference_variance == 2 * one.variance
    assert one.topics_interval[0] < one.topics < one.topics_interval[1]


@pytest.mark.parametrize(
    "asked",
    [
        {"systems": 5},
        {"method": "ttest"},
        {"method": "ttest", "difference_variance": "twice"},
        {"method": "ttest", "paired": False},
    ],
)
def test_the_degrees_of_freedom_told_are_those_of_the_interval(asked):
    """Chi-square quantiles with the table's degrees of freedom give the interval of topics."""
    result = sr.plan(make_scores(measures=("AP",)), minimum_difference=0.1, **asked)
    (row,) = result.plans
    by_pairs = asked == {"method": "ttest"}
    df = row.pilot.residual_effective_df if by_pairs else row.pilot.effective_df
    assert row.pilot_df == df
    paired = result.demands.paired
    used = row.difference_variance / 2 if paired else row.variance
    ends = [used * df / chi2.ppf(p, df) for p in (0.975, 0.025)]
    assert row.topics_interval == tuple(result.demands.topics(end) for end in ends)
    shown = row.row()
    assert shown["residual_effective_df" if by_pairs else "effective_df"] == df


def test_the_interval_of_the_residual_covers_it():
    # 1,500 pilots of 8 runs × 20 topics: .95 -/+ .03 is 5.3 standard errors.
    rng = np.random.default_rng(21)
    scores = rng.normal(0, 0.3, (1500, 1, 20)) + rng.normal(0, 0.1, (1500, 8, 20))
    found = np.array([pilot_variance(each, "AP").residual_interval for each in scores])
    assert 0.92 < np.mean((found[:, 0] <= 0.01) & (found[:, 1] >= 0.01)) < 0.98


def test_missing_cells_unequal_topics_and_one_run():
    values = make_scores(measures=("AP",)).values.copy()
    values[0, 0, :15] = np.nan
    values[0, 3, 30:] = np.nan
    scores = sr.Scores(
        measures=("AP",),
        runs=[f"r{i}" for i in range(6)],
        topics=[str(t) for t in range(40)],
        values=values,
    )
    row = sr.plan(scores, minimum_difference=0.1, systems=5).plans[0]
    parts = [each[~np.isnan(each)] for each in values[0]]
    pooled = sum(((x - x.mean()) ** 2).sum() for x in parts) / sum(len(x) - 1 for x in parts)
    assert row.variance == pytest.approx(pooled, rel=1e-12)
    assert (row.pilot.n_missing, row.pilot.df) == (25, 6 * 40 - 25 - 6)
    one = sr.plan(scores.select(runs="r1"), minimum_difference=0.1, systems=5).plans[0]
    assert one.variance == pytest.approx(np.var(values[0, 1], ddof=1), rel=1e-12)
    assert math.isnan(one.pilot.residual_variance)
    assert one.pilot.effective_df <= 39


def test_small_pilots_and_single_teams_are_told():
    with pytest.warns(
        sr.SteadyrankWarning, match="only 10 topics: the variance of AP .* topics needed from"
    ):
        sr.plan(make_scores(n_topics=10), minimum_difference=0.1, systems=5)
    with pytest.warns(sr.SteadyrankWarning, match="are of one team"):
        sr.plan(make_scores(team=["a"] * 6), minimum_difference=0.1, systems=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sr.plan(make_scores(team=["a", "b"] * 3), minimum_difference=0.1, systems=5)


def test_curves_are_plans_for_other_demands():
    result = sr.plan(variance=PAPER, minimum_difference=0.15, systems=10)
    by_difference = result.curve("minimum_difference", [0.1, 0.15, 0.2])
    assert by_difference.topics.shape == (5, 3)
    assert by_difference.topics[:, 1].tolist() == [row.topics for row in result.plans]
    other = sr.plan(variance=PAPER, minimum_difference=0.1, systems=10)
    assert by_difference.topics[:, 0].tolist() == [row.topics for row in other.plans]
    by_systems = result.curve("systems")
    assert by_systems.values.tolist() == list(range(2, 101))
    assert np.all(np.diff(by_systems.topics, axis=1) >= 0)
    assert by_systems.topics[:, 8].tolist() == by_difference.topics[:, 1].tolist()
    by_topics = result.curve("topics")
    assert np.all(np.diff(by_topics.power, axis=1) >= -1e-12)
    assert by_topics.values[-1] == 2 * 160
    assert np.all(np.diff(result.curve().topics, axis=1) <= 0)
    width = sr.plan(variance=0.029, method="interval", n_topics=92).curve("width", [0.1])
    assert width.topics.tolist() == [[92]]


def test_curves_that_a_plan_does_not_have():
    result = sr.plan(variance=0.1, minimum_difference=0.1, method="ttest")
    with pytest.raises(sr.UnknownNameError, match="unknown curve of this ttest plan 'systems'"):
        result.curve("systems")
    with pytest.raises(sr.InputError, match="minimum_difference must be a number above 0, got -1"):
        result.curve("minimum_difference", [-1])
    with pytest.raises(sr.InputError, match="topics must be a whole number of at least 2, got 2.5"):
        result.curve("topics", [2.5])


REFUSED = [
    ({}, "give a variance, or pilot data"),
    ({"variance": 0.0}, "variance of score must be a number above 0, got 0.0"),
    ({"variance": math.nan}, "must be a number above 0, got nan"),
    ({"variance": "0.1"}, "must be a number, got '0.1'"),
    ({"variance": {}}, "at least one measure"),
    ({"variance": 0.1, "minimum_difference": 0}, "minimum_difference must be a number above 0"),
    ({"variance": 0.1, "minimum_difference": None}, "specify the minimum difference"),
    ({"variance": 0.1, "systems": None}, "specify the number of systems"),
    ({"variance": 0.1, "systems": 1}, "systems must be a whole number of at least 2, got 1"),
    ({"variance": 0.1, "alpha": 0}, "alpha must lie strictly between 0 and 1"),
    ({"variance": 0.1, "beta": 0.99}, "no more than alpha"),
    ({"variance": 0.1, "n_topics": 1}, "n_topics must be a whole number of at least 2"),
    ({"variance": 0.1, "width": 0.1}, "a width is planned by method interval"),
    ({"variance": 0.1, "paired": True}, "one-way ANOVA has no pairs"),
    ({"variance": 0.1, "difference_variance": 0.1}, "belongs to a paired design"),
    ({"variance": 0.1, "difference_variance": "pilot", "method": "ttest"}, "requires pilot data"),
    ({"variance": 0.1, "method": "interval"}, "specify the width"),
    ({"variance": 0.1, "method": "annova"}, "unknown method 'annova': did you mean 'anova'"),
    ({"variance": 0.1, "formula": "exakt"}, "did you mean 'exact'"),
    ({"variance": 0.1, "formula": "nagata", "beta": 0.3}, "no published coefficients.*exact"),
]


@pytest.mark.filterwarnings("ignore:10 systems are ignored")
@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_nonsense_is_refused_with_a_remedy(options, message):
    with pytest.raises(sr.InputError, match=message):
        sr.plan(**{"minimum_difference": 0.1, "systems": 10, **options})


def test_pilots_without_a_variance_are_refused():
    flat = sr.Scores(
        measures=("AP",), runs=("a", "b"), topics=("1", "2", "3"), values=[[[0.5] * 3, [0.2] * 3]]
    )
    with pytest.raises(sr.InputError, match="AP: the variance is 0, as every run scores the same"):
        sr.plan(flat, minimum_difference=0.1, systems=2)
    with pytest.raises(
        sr.InputError, match="AP: a variance requires .* two topics: a pilot requires more"
    ):
        sr.plan(flat.select(topics="1"), minimum_difference=0.1, systems=2)
    with pytest.raises(sr.InputError, match="not both"):
        sr.plan(flat, variance=0.1, minimum_difference=0.1, systems=2)
    with pytest.raises(sr.UnknownNameError, match="unknown measure 'nDCG'"):
        sr.plan(make_scores(), measures=["nDCG"], minimum_difference=0.1, systems=2)
    parallel = sr.Scores(
        measures=("AP",),
        runs=("a", "b"),
        topics=("1", "2", "3"),
        values=[[[0.1, 0.2, 0.5], [0.2, 0.3, 0.6]]],
    )
    with pytest.raises(sr.InputError, match="give the variance of differences"):
        sr.plan(parallel, method="ttest", difference_variance="pilot", minimum_difference=0.1)


def test_systems_of_a_t_test_are_two():
    with pytest.warns(sr.SteadyrankWarning, match="10 systems are ignored: ttest is for two"):
        result = sr.plan(variance=0.1, minimum_difference=0.1, method="ttest", systems=10)
    assert result.demands.systems == 2


def test_plans_are_instant(least_seconds):
    scores = sr.Scores(
        measures=("AP",),
        runs=[str(r) for r in range(50)],
        topics=[str(t) for t in range(7000)],
        values=np.random.default_rng(5).random((1, 50, 7000)),
    )
    assert least_seconds(lambda: sr.plan(scores, minimum_difference=0.1, systems=10)) < 1.0
    assert least_seconds(lambda: sr.plan(variance=1e9, minimum_difference=0.1, systems=10)) < 0.5
    result = sr.plan(variance=1e9, minimum_difference=0.1, systems=10)
    assert result.plans[0].topics > 1e12
    assert result.plans[0].power >= 0.8


def test_text_says_what_was_planned_and_what_to_mind():
    result = sr.plan(make_scores(), minimum_difference=0.1, systems=5)
    text = VIEW.text(result, "table")
    assert "one-way ANOVA of 5 systems, exact" in text
    (finding,) = VIEW.findings(result)
    row = result.plans[0]
    assert row.topics < row.topics_assured < row.topics_interval[1]
    assert text.startswith(
        f"{row.topics_assured} topics will do with 80% assurance ({row.topics} if the pilot's "
        "variance is exact): power 0.8 for a difference of 0.1 in AP."
    )
    assert finding.id == "plan.topics"
    assert finding.values["topics_interval"] == row.topics_interval
    nagata = sr.plan(variance=PAPER, minimum_difference=0.15, systems=10, formula="nagata")
    assert r"nG@1 & 0.114 & 159 & 0.799 \\" in VIEW.text(nagata, "latex", digits=3)
    assert "| Q@10 | 0.029 | 41 |" in VIEW.text(nagata, "markdown", digits=3)
    unpaired = sr.plan(variance=0.1, minimum_difference=0.1, method="ttest", paired=False)
    assert "is per system" in VIEW.text(unpaired, "table")
    given = sr.plan(variance=0.1, minimum_difference=0.1, systems=5, n_topics=50)
    (finding,) = VIEW.findings(given)
    assert (finding.id, finding.values["power"]) == ("plan.detectable", given.plans[0].power)
    assert VIEW.text(given, "table").startswith("50 topics detect a difference of 0.1 in score")
    assert result.to_frame()["topics"].tolist() == [row.topics for row in result.plans]


# Pilots whose topics come in clusters: design effects, and the topics that follow

CLUSTERS = np.repeat(np.arange(40), [2, 3, 4, 3] * 10)


def pilot(share, seed=0, n_runs=6):
    """Differences of runs of which this share of the variance is the cluster's."""
    rng = np.random.default_rng(seed)
    own = rng.normal(0, math.sqrt(1 - share), (n_runs, len(CLUSTERS)))
    own += rng.normal(0, math.sqrt(share), (n_runs, 40))[:, CLUSTERS]
    values = 0.5 + 0.1 * own + rng.normal(0, 0.1, len(CLUSTERS))
    topics = [f"t{i}" for i in range(len(CLUSTERS))]
    runs = [f"r{i}" for i in range(n_runs)]
    made = sr.Scores(measures=["AP"], runs=runs, topics=topics, values=[values])
    return made.with_topic_info(cluster=CLUSTERS)


DEMANDS = {"method": "ttest", "minimum_difference": 0.03}


def test_the_effect_on_differences_is_that_of_all_pairs():
    matrix = pilot(0.5).matrix()
    fits = [
        mean_difference(matrix[i] - matrix[j], clusters=CLUSTERS)
        for i in range(6)
        for j in range(i)
    ]
    plain = sum(fit.variance / fit.design_effect for fit in fits)
    expected = sum(fit.variance for fit in fits) / plain
    row = sr.plan(pilot(0.5), **DEMANDS).plans[0]
    assert row.design_effect == pytest.approx(expected, rel=1e-9)
    assert row.design_effect != pytest.approx(design_effect(matrix, CLUSTERS), rel=1e-3)


def test_the_effect_is_near_the_true_one():
    """1 + rho (mean squared size / mean size - 1); over 30 pilots within 4 standard errors."""
    sizes = np.bincount(CLUSTERS)
    truth = 1 + 0.5 * ((sizes**2).mean() / sizes.mean() - 1)
    effects = [sr.plan(pilot(0.5, seed), **DEMANDS).plans[0].design_effect for seed in range(30)]
    assert np.mean(effects) == pytest.approx(truth, abs=4 * np.std(effects) / math.sqrt(30))


def test_topics_and_clusters_follow():
    alone = sr.plan(pilot(0.5).select(topics=None), **DEMANDS).plans[0]
    row = sr.plan(pilot(0.5), **DEMANDS).plans[0]
    assert row.topics == alone.topics
    assert row.topics_clustered == math.ceil(row.topics_assured * row.design_effect)
    assert row.clusters == math.ceil(row.topics_clustered / 3)
    given = sr.plan(pilot(0.5), n_topics=100, **DEMANDS).plans[0]
    assert (given.topics_clustered, given.clusters) == (None, None)
    assert given.design_effect == row.design_effect
    text = str(sr.plan(pilot(0.5), **DEMANDS))
    assert "clustered topics" in text
    assert f"{row.topics_clustered} in {row.clusters} clusters (design effect" in text


def test_clusters_by_chance_save_no_topics():
    effects = [sr.plan(pilot(0.0, seed), **DEMANDS).plans[0] for seed in range(8)]
    lucky = min(effects, key=lambda row: row.design_effect)
    assert lucky.design_effect < 1
    assert lucky.topics_clustered == lucky.topics_assured > lucky.topics


def test_pilots_without_clusters_have_no_effect():
    row = sr.plan(make_scores(), **DEMANDS).plans[0]
    assert (row.design_effect, row.topics_clustered, row.clusters) == (None, None, None)


def test_what_weights_leave_of_the_topics_is_said():
    """Simulated variances of plain and of weighted means have the ratio that the note says."""
    weights = np.r_[np.full(10, 100.0), np.ones(110)]
    plain = pilot(0.0)
    weighted = plain.with_topic_info(weight=weights)
    row = sr.plan(weighted, **DEMANDS).plans[0]
    assert row.topics == sr.plan(plain, **DEMANDS).plans[0].topics
    assert sr.plan(plain, **DEMANDS).plans[0].effective_topics is None
    scores = np.random.default_rng(1).normal(size=(20_000, 120))
    means = [scores.mean(axis=1), np.average(scores, axis=1, weights=weights)]
    ratio = np.var(means[1]) / np.var(means[0])
    assert 120 / row.effective_topics == pytest.approx(ratio, rel=0.05)
    said = f"120 weighted topics are worth {row.effective_topics:.1f}: weighted means require"
    assert said in str(sr.plan(weighted, **DEMANDS))
