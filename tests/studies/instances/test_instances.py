"""`instances` against R's lme4, closed forms, scipy, and tracks whose truth is known."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest
from golden_cases import golden
from mixed_layouts import of_array
from plain_tables import columns
from scipy import stats

import steadyrank as sr
from steadyrank.stats.instances.bootstrap import algorithm_two, two_way_bootstrap
from steadyrank.stats.instances.mixed_tests import mixed_model
from steadyrank.stats.mixed.fit import MixedModel, component_intervals, fit
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.studies.instances.view import VIEW

QUICK = {"n_samples": 200, "samples_per_instance": 50, "posterior": False}


def scores_of(systems, measures=("AP",), **info):
    """Scores of systems {name: [instance, topic]}, and columns about their runs."""
    matrix = np.concatenate([np.atleast_2d(rows) for rows in systems.values()])
    labels = [name for name, rows in systems.items() for _ in np.atleast_2d(rows)]
    runs = [
        f"{name}.{i}" for name, rows in systems.items() for i in range(len(np.atleast_2d(rows)))
    ]
    return sr.Scores(
        measures=measures,
        runs=runs,
        topics=[str(t) for t in range(matrix.shape[1])],
        values=[matrix] * len(measures),
        run_info={"system": labels, **info},
    )


def golden_scores(name):
    """The rows of an lme4 case as scores, missing cells NaN; the later system is R's first."""
    given = golden(name)["inputs"]
    topics = sorted(set(given["topic"]))
    systems = {}
    for system in sorted(set(given["system"]), reverse=True):
        rows = [
            (i, t, y)
            for s, i, t, y in zip(
                given["system"], given["instance"], given["topic"], given["y"], strict=True
            )
            if s == system
        ]
        labels = list(dict.fromkeys(i for i, _, _ in rows))
        matrix = np.full((len(labels), len(topics)), np.nan)
        for i, t, y in rows:
            matrix[labels.index(i), topics.index(t)] = y
        systems[system] = matrix
    return systems


def drawn(m, n, *, instance=0.02, system_topic=0.08, residual=0.06, mean=0.0, seed=0):
    """Scores [instance, topic] about `mean`."""
    rng = np.random.default_rng(seed)
    return (
        mean
        + instance * rng.normal(size=(m, 1))
        + system_topic * rng.normal(size=n)
        + residual * rng.normal(size=(m, n))
    )


def said(result):
    """Findings by what they are about, each said once."""
    made = VIEW.findings(result)
    assert len({finding.id for finding in made}) == len(made)
    return {finding.id.removeprefix("instances."): finding for finding in made}


def compared(systems, **options):
    first, second = systems
    return sr.instances(scores_of(systems), a=first, b=second, **{**QUICK, **options})


def test_differences_to_a_deterministic_system_as_by_r():
    case = golden("twoway_random_difference")
    expected, close = case["expected"], case["tolerance"]
    d = np.array(case["inputs"]["d"]).reshape(5, 12)
    baseline = np.linspace(0.2, 0.7, 12)
    result = compared({"a": d + baseline, "b": baseline})
    assert result.design == "crossed"
    assert result.difference == pytest.approx(expected["estimate"], rel=close)
    assert result.standard_error == pytest.approx(expected["closed_form"]["se"], rel=1e-9)
    assert result.df == pytest.approx(expected["closed_form"]["df"], rel=1e-9)
    assert result.pvalue["mixed"] == pytest.approx(expected["p"], rel=close)
    named = {"system_topic": "t", "instance": "i", "residual": "Residual"}
    for ours, theirs in named.items():
        assert result.variance[ours] == pytest.approx(expected["var_reml"][theirs], rel=close)
    assert math.isnan(result.variance["topic"])
    assert result.effect_size == pytest.approx(
        expected["estimate"] / math.sqrt(expected["var_reml"]["Residual"]), rel=close
    )


def test_the_papers_crossed_model_as_by_lme4():
    systems, expected = golden_scores("lmm_crossed_small"), golden("lmm_crossed_small")["expected"]
    systems["D"] = systems["D"][:1]
    result = compared(systems)
    assert result.n_instances == {"a": 5, "b": 1}
    assert result.pvalue["mixed_paper"] == pytest.approx(expected["p_obs_minus_1"][1], rel=1e-4)
    # The crossed model is the paired t test of averaged topics, and the sound one is not.
    means = systems["R"].mean(axis=0) - systems["D"][0]
    assert expected["p_satterthwaite"][1] == pytest.approx(
        stats.ttest_1samp(means, 0.0).pvalue, rel=1e-5
    )
    assert result.pvalue["mixed"] > result.pvalue["mixed_paper"]


@pytest.mark.parametrize("name", ["lmm_nested_small", "lmm_unbal_small"])
def test_two_non_deterministic_systems_as_by_lme4(name):
    expected = golden(name)["expected"]
    systems = golden_scores(name)
    result = compared(systems)
    assert result.design == "nested"
    assert list(result.n_instances.values()) == [len(rows) for rows in systems.values()]
    assert result.difference == pytest.approx(expected["fixef"][1], rel=1e-4)
    few = name == "lmm_unbal_small"
    assert result.df_method == ("kenward-roger" if few else "satterthwaite")
    error = expected["se_KR" if few else "se"][1]
    assert result.standard_error == pytest.approx(error, rel=1e-4)
    df = expected["df_KR" if few else "df_satterthwaite"][1]
    assert result.df == pytest.approx(df, rel=1e-3)
    pvalue = expected["p_KR" if few else "p_satterthwaite"][1]
    assert result.pvalue["mixed"] == pytest.approx(pvalue, rel=1e-3)
    assert result.pvalue["mixed_paper"] == pytest.approx(expected["p_obs_minus_1"][1], rel=1e-3)
    assert math.isnan(result.pvalue["bootstrap"])
    named = {"system_topic": "s:t", "topic": "t", "instance": "i", "residual": "Residual"}
    for ours, theirs in named.items():
        assert result.variance[ours] == pytest.approx(expected["var_reml"][theirs], rel=1e-3)
    half = stats.t.isf(0.025, result.df) * error
    assert result.interval[1] - result.difference == pytest.approx(half, rel=1e-3)
    assert result.pair.balanced == (name == "lmm_nested_small")
    assert result.pair.n_missing == (0 if result.pair.balanced else 100 - 80)


def test_a_singular_fit_of_lme4():
    expected = golden("lmm_singular")["expected"]
    result = compared(golden_scores("lmm_singular"))
    assert result.difference == pytest.approx(expected["fixef"][1], rel=1e-6)
    assert result.standard_error == pytest.approx(expected["se"][1], rel=1e-3)
    # Four instances each: pbkrtest's degrees of freedom, which lmerTest's 7.0 are not.
    adjusted = golden("kenward_roger")["expected"]["lmm_singular"]
    assert result.df == pytest.approx(adjusted["df_kr"], rel=1e-3)
    assert result.variance["instance"] == 0.0
    assert result.inflation.factor == 1.0


@pytest.mark.parametrize("m_b", [1, 6])
def test_closed_form_is_restricted_maximum_likelihood(m_b):
    systems = {"a": drawn(6, 30, mean=0.02, seed=1), "b": drawn(m_b, 30, seed=2)}
    result = compared(systems)
    assert "closed form" in result.method
    found = fit(mixed_model(result.pair))
    assert result.standard_error == pytest.approx(found.standard_errors[-1], rel=1e-9)
    assert result.df == pytest.approx(found.df[-1], rel=1e-9)
    assert result.pvalue["mixed"] == pytest.approx(found.pvalue[-1], rel=1e-9)
    for name, value in found.variances.items():
        assert result.variance[name] == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize(("m_a", "m_b", "missing"), [(5, 1, 0), (5, 4, 0), (5, 1, 3), (4, 4, 5)])
def test_exchanging_the_systems_changes_signs_alone(m_a, m_b, missing):
    rng = np.random.default_rng(1)
    systems = {"a": drawn(m_a, 20, seed=3), "b": drawn(m_b, 20, mean=0.01, seed=4)}
    systems["a"].flat[rng.choice(systems["a"].size, missing, replace=False)] = np.nan
    forth = compared(systems)
    back = compared(dict(reversed(systems.items())))
    assert back.difference == pytest.approx(-forth.difference, rel=1e-6)
    assert back.interval == pytest.approx([-forth.interval[1], -forth.interval[0]], rel=1e-5)
    for kind in ("mixed", "mixed_paper"):
        assert back.pvalue[kind] == pytest.approx(forth.pvalue[kind], rel=1e-5)
    assert back.variance == pytest.approx(forth.variance, rel=1e-4, nan_ok=True)
    assert back.equivalence.pvalue_equivalence == pytest.approx(
        forth.equivalence.pvalue_equivalence, rel=1e-5
    )
    assert back.effect_size_paired == pytest.approx(-forth.effect_size_paired)


def test_two_single_runs_are_a_paired_t_test():
    systems = {"a": drawn(1, 25, mean=0.03, seed=5), "b": drawn(1, 25, seed=6)}
    result = compared(systems, posterior=True)
    expected = stats.ttest_rel(systems["a"][0], systems["b"][0])
    assert result.pvalue["mixed"] == pytest.approx(expected.pvalue, rel=1e-10)
    assert result.interval == pytest.approx(tuple(expected.confidence_interval()), rel=1e-10)
    assert math.isnan(result.pvalue["mixed_paper"])
    assert 0.0 < result.pvalue["bootstrap"] <= 1.0
    z = systems["a"][0] - systems["b"][0]
    assert result.effect_size_paired == pytest.approx(z.mean() / z.std(ddof=1))
    assert result.effect_size == pytest.approx(result.effect_size_paired)
    assert math.isnan(result.variance["instance"])
    assert result.inflation is None
    assert said(result)["scope"].text in str(result)
    # With a flat mean and 1/s² the posterior of a mean is t about it.
    assert result.posterior.pvalue[-1] == pytest.approx(expected.pvalue, rel=0.1)


def test_bootstraps_are_those_of_stats():
    systems = {"a": drawn(5, 20, mean=0.02, seed=7), "b": drawn(1, 20, seed=8)}
    options = {"n_samples": 400, "samples_per_instance": 60, "rng": 9}
    d = systems["a"] - systems["b"]
    for mode in ("sound", "paper"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sr.SteadyrankWarning)
            result = compared(systems, mode=mode, **options)
        one = algorithm_two(d, n_samples=60, mode=mode, seed=9)
        assert result.pvalue["bootstrap"] == one.pvalue
        assert result.pvalue_error["bootstrap"] == one.pvalue_error
    two = two_way_bootstrap(systems["a"], systems["b"], n_samples=400, seed=9)
    assert result.pvalue["two_way_bootstrap"] == two.pvalue


def test_the_variance_that_averaging_leaves_out():
    systems = {"a": drawn(4, 30, instance=0.04, seed=10), "b": drawn(1, 30, seed=11)}
    result = compared(systems)
    v = result.variance
    expected = 1 + 30 * v["instance"] / (4 * v["system_topic"] + v["residual"])
    assert result.inflation.factor == pytest.approx(expected)
    low, high = result.inflation.interval
    assert 1.0 <= low < expected < high
    d = systems["a"] - systems["b"]
    averaged = d.mean(axis=0).std(ddof=1) / math.sqrt(30)
    assert result.standard_error**2 / averaged**2 == pytest.approx(expected, rel=1e-9)
    assert f"by a factor of {expected:.2f} [{low:.2f}, " in said(result)["inflation"].text


def test_paper_mode_decides_by_the_paper_and_warns():
    topics = np.random.default_rng(9).normal(0.4, 0.2, 30)
    systems = {
        "a": topics + drawn(4, 30, instance=0.04, seed=10),
        "b": topics + drawn(1, 30, seed=11),
    }
    sound = compared(systems)
    with pytest.warns(sr.SteadyrankWarning, match=r"from the standard error: the variance of a"):
        paper = compared(systems, mode="paper")
    assert paper.headline_pvalue == paper.pvalue["mixed_paper"] == sound.pvalue["mixed_paper"]
    assert sound.headline_pvalue == sound.pvalue["mixed"]
    assert np.diff(paper.interval) < np.diff(sound.interval)
    assert paper.variance == pytest.approx(sound.variance, nan_ok=True)
    assert paper.equivalence == sound.equivalence
    averaged = (systems["a"] - systems["b"]).mean(axis=0)
    half = stats.t.isf(0.025, 239) * averaged.std(ddof=1) / math.sqrt(30)
    assert np.diff(paper.interval)[0] == pytest.approx(2 * half, rel=1e-9)


def test_nested_paper_mode_does_not_warn_and_uses_all_observations():
    systems = {"a": drawn(4, 20, seed=12), "b": drawn(4, 20, seed=13)}
    result = compared(systems, mode="paper")
    found = fit(mixed_model(result.pair))
    expected = 2 * stats.t.sf(abs(found.statistic[-1]), 159)
    assert result.headline_pvalue == pytest.approx(expected, rel=1e-9)


def test_missing_topics_and_instances():
    a, b = drawn(5, 12, seed=14), drawn(3, 12, mean=0.3, seed=15)
    a[:, 0] = np.nan
    b[1, 3] = np.nan
    b[2] = np.nan
    result = compared({"a": a, "b": b})
    assert result.n_instances == {"a": 5, "b": 2}
    assert (result.n_topics, result.pair.n_dropped, result.pair.n_missing) == (11, 1, 1)
    assert result.pair.topics == tuple(str(t) for t in range(1, 12))
    rows = [
        (y, s, f"{s}{i}", t)
        for s, matrix in enumerate((a, b[:2]))
        for i, row in enumerate(matrix)
        for t, y in enumerate(row)
        if t > 0 and not np.isnan(y)
    ]
    y, system, instance, topic = (np.array(column) for column in zip(*rows, strict=True))
    random = {"i": instance, "t": topic, "st": (system, topic)}
    model = MixedModel(y, random=random, fixed=system == 0)
    found = fit(model, df_method="kenward-roger")
    assert result.df_method == "kenward-roger"
    assert result.pvalue["mixed"] == pytest.approx(found.pvalue[1], rel=1e-9)


def test_replicates_of_a_single_run_stand_only_where_an_instance_does():
    a, b = drawn(4, 10, seed=16), drawn(1, 10, seed=17)
    a[2, 5] = np.nan
    result = compared({"a": a, "b": b})
    system, instance, topic = np.indices((2, 4, 10)).reshape(3, -1)
    y = np.stack([a, np.where(np.isnan(a), np.nan, np.broadcast_to(b, a.shape))]).reshape(-1)
    random = {"i": instance, "t": topic, "st": (system, topic)}
    found = fit(MixedModel(y, random=random, fixed=system == 0))
    assert found.n == 78
    expected = 2 * stats.t.sf(abs(found.statistic[1]), 77)
    assert result.pvalue["mixed_paper"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("m_b", [1, 8])
def test_posterior_and_intervals_belong_to_the_same_model(m_b):
    systems = {"a": drawn(8, 40, mean=0.02, seed=18), "b": drawn(m_b, 40, seed=19)}
    result = compared(systems, posterior=True, alpha=0.1)
    assert result.posterior.confidence == 0.9
    assert result.posterior.mean[-1] == pytest.approx(result.difference, abs=2e-3)
    width = result.interval[1] - result.interval[0]
    assert result.hpd == pytest.approx(result.interval, abs=0.12 * width)
    spans = component_intervals(mixed_model(result.pair), confidence=0.9)
    assert result.variance_interval == spans
    low, high = spans["residual"]
    assert low < result.variance["residual"] < high


def test_recovery_of_a_tracks_known_variances():
    """Latent signals of a simulated track: its model's own variances, each within its band.

    Mean squares are chi-square; the bands hold all but one in 100,000 of their estimates on
    2 (M - 1), N - 1 and 2 (M - 1)(N - 1) degrees of freedom.
    """
    small = {"depth": 10, "pool_depth": 5, "n_candidates": 30}
    track = sr.simulated_track(
        n_teams=2, runs_per_team=1, n_instances=12, n_topics=60, **small, rng=3
    )
    truth, model = track.truth, track.truth.model
    scores = sr.Scores(
        measures=["signal"],
        runs=[run.name for run in track.runs],
        topics=truth.topics,
        values=[truth.signals],
        run_info={"system": [run.info["system"] for run in track.runs]},
    )
    a, b = truth.systems
    result = sr.instances(scores, a=a, b=b, **QUICK)
    m, n = 12, 60
    system_topic = model.team_topic + model.system_topic
    error = model.instance_topic
    squares = {
        "instance": (n * model.instance + error, 2 * (m - 1), n),
        "system_topic": (m * system_topic + error, n - 1, m),
    }
    for name, (expected, df, others) in squares.items():
        found = others * result.variance[name] + result.variance["residual"]
        low, high = stats.chi2.ppf([5e-6, 1 - 5e-6], df) / df
        assert low < found / expected < high
    low, high = stats.chi2.ppf([5e-6, 1 - 5e-6], 2 * (m - 1) * (n - 1)) / (2 * (m - 1) * (n - 1))
    assert low < result.variance["residual"] / error < high
    effects = (truth.team_effects + truth.system_effects).tolist()
    assert result.difference == pytest.approx(
        effects[0] - effects[1], abs=4.9 * result.standard_error
    )


@pytest.mark.parametrize(
    ("mean", "delta", "expected"),
    [
        (0.0, 0.05, "a is within 0.05 of b"),
        (0.1, 0.05, "a is better than b by 0.05 or more"),
        (-0.1, 0.05, "a is worse than b by more than 0.05"),
        (0.05, 0.05, "a is not worse than b by 0.05"),
        (0.0, 0.002, "Whether a is worse than b by 0.002 is undecided"),
    ],
)
def test_the_margin_in_words(mean, delta, expected):
    base = drawn(1, 60, system_topic=0.1, seed=20)
    noise = drawn(8, 60, instance=0.003, system_topic=0.03, residual=0.02, seed=21)
    systems = {"a": base + noise - noise.mean() + mean, "b": base}
    result = compared(systems, delta=delta)
    found = said(result)
    assert found["margin"].text.startswith(expected)
    assert found["margin"].values["equivalent"] == result.equivalence.equivalent
    assert found["difference"].values["significant"] == result.significant


def many(n_systems=4, m=4, n=15, seed=30):
    rng = np.random.default_rng(seed)
    topics = rng.normal(0.4, 0.1, n)
    return {
        f"s{k}": topics + drawn(m, n, mean=0.03 * k, residual=0.03, seed=seed + k)
        for k in range(n_systems)
    }


def test_tables_of_pairs_are_corrected_by_holm():
    systems = many()
    table = sr.instances(scores_of(systems), **QUICK)
    assert isinstance(table, sr.InstancesTable)
    pairs = [(found.a, found.b) for found in table.comparisons]
    assert pairs == columns("s0 s1 s0 s2 s0 s3 s1 s2 s1 s3 s2 s3")
    alone = sr.instances(scores_of(systems), a="s1", b="s3", **QUICK)
    assert isinstance(alone, sr.InstancesResult)
    assert table.comparisons[4].pvalue == pytest.approx(alone.pvalue, nan_ok=True)
    raw = [found.pvalue["mixed"] for found in table.comparisons]
    np.testing.assert_allclose(table.pvalue_adjusted, adjust(raw, "holm"))
    assert table.baseline is None
    decided = said(table)["decided"]
    equal = [found.equivalence.equivalent for found in table.comparisons]
    assert decided.values["n_different"] == table.significant.sum()
    assert decided.values["n_within"] == sum(equal)
    assert decided.values["n_inconclusive"] == (~table.significant & ~np.array(equal)).sum()
    clearest = said(table)["clearest"].values
    assert clearest["pvalue_adjusted"] == table.pvalue_adjusted.min()
    means = said(table)["systems"].values["means"]
    assert said(table)["systems"].values["best"] == max(means, key=means.get)
    assert len(table.to_frame()) == 6


def test_tables_against_one_system():
    scores = scores_of(many())
    against = sr.instances(scores, b="s2", **QUICK)
    pairs = [(found.a, found.b) for found in against.comparisons]
    assert pairs == columns("s0 s2 s1 s2 s3 s2")
    assert against.baseline == "s2"
    assert "systems" not in said(against)  # not all pairs were compared
    of = sr.instances(scores, a="s2", **QUICK)
    assert [found.b for found in of.comparisons] == ["s0", "s1", "s3"]
    assert of.baseline is None
    paper = sr.instances(scores, b="s2", mode="paper", **QUICK)
    np.testing.assert_allclose(
        paper.pvalue_adjusted, adjust([f.pvalue["mixed_paper"] for f in paper.comparisons], "holm")
    )


def swept(means, *, m=6, n=60, baseline=0.0, numbers=None):
    """Scores with a column rate: settings 1, 2, … with these differences to the baseline."""
    rng = np.random.default_rng(40)
    topics = rng.normal(0.4, 0.1, n)
    systems = {"full": topics[None] + baseline}
    for k, mean in enumerate(means, start=1):
        noise = drawn(m, n, instance=0.001, system_topic=0.01, residual=0.01, seed=40 + k)
        systems[f"at{k}"] = topics + noise - noise.mean() + mean
    labels = numbers or [str(k) for k in range(1, len(means) + 1)]
    rates = ["", *(label for label in labels for _ in range(m))]
    names = ["full", *("sampled" for _ in range(m * len(means)))]
    return scores_of(systems, rate=rates).with_run_info(system=names)


def test_a_sweep_finds_the_smallest_setting_that_will_do():
    scores = swept([-0.1, -0.03, 0.0, 0.002])
    table = sr.instances(scores, b="full", sweep="rate", delta=0.01, **QUICK)
    assert table.settings == ("1", "2", "3", "4")
    assert [found.a for found in table.comparisons] == ["rate=1", "rate=2", "rate=3", "rate=4"]
    passing = [found.equivalence.non_inferior for found in table.comparisons]
    assert passing == [False, False, True, True]
    assert table.smallest_non_inferior == "3"
    direct = scores.matrix()[13:19] - scores.matrix()[0]
    assert table.comparisons[2].difference == pytest.approx(direct.mean())


def test_a_sweep_goes_from_the_largest_down():
    scores = swept([-0.1, 0.0, -0.1, 0.0])
    sound = sr.instances(scores, b="full", sweep="rate", **QUICK)
    assert sound.smallest_non_inferior == "4"
    assert said(sound)["sweep_alone"].values["passing"][0] == "2"
    with pytest.warns(sr.SteadyrankWarning, match="mode paper"):
        paper = sr.instances(scores, b="full", sweep="rate", mode="paper", **QUICK)
    assert paper.smallest_non_inferior == "2"
    none = sr.instances(swept([-0.1, -0.1]), b="full", sweep="rate", **QUICK)
    assert none.smallest_non_inferior is None


def test_a_sweep_against_one_of_its_settings_in_the_order_of_numbers():
    scores = swept([0.0, -0.05, 0.0], numbers=["10%", "0.5%", "4%"])
    for name in ("4%", "rate=4%"):
        table = sr.instances(scores, b=name, sweep="rate", a="sampled", **QUICK)
        assert table.settings == ("0.5%", "10%")
        assert table.baseline == "rate=4%"
        assert {found.design for found in table.comparisons} == {"nested"}


def nested_systems(seed=50):
    """Two samples × three partitions × two instances of each of two systems, 15 topics."""
    rng = np.random.default_rng(seed)
    shape = (2, 2, 3, 2, 15)
    y = (
        rng.normal(0.4, 0.1, 15)
        + 0.03 * rng.normal(size=(2, 2, 1, 1, 1))
        + 0.02 * rng.normal(size=(2, 2, 3, 1, 1))
        + 0.01 * rng.normal(size=(2, 2, 3, 2, 1))
        + 0.02 * rng.normal(size=(2, 1, 1, 1, 15))
        + 0.02 * rng.normal(size=shape)
    )
    sample, partition, csi = (index.reshape(-1) for index in np.indices((2, 3, 2)))
    info = {
        "sample": [f"s{k}" for k in sample] * 2,
        "partition": [f"p{k}" for k in partition] * 2,
        "csi": [f"c{k}" for k in csi] * 2,
    }
    return y, scores_of({"a": y[0].reshape(12, 15), "b": y[1].reshape(12, 15)}, **info)


def test_instances_that_nest_in_samples_and_partitions():
    y, scores = nested_systems()
    factors = ["sample", "partition", "csi"]
    result = sr.instances(scores, a="a", b="b", instance_factors=factors, **QUICK)
    axes = ("system", "sample", "partition", "csi", "topic")
    random = {
        "sample": ("system", "sample"),
        "partition": ("system", "sample", "partition"),
        "csi": ("system", "sample", "partition", "csi"),
        "topic": "topic",
        "system_topic": ("system", "topic"),
    }
    found = fit(of_array(y, axes=axes, random=random, fixed="system"))
    assert result.pvalue["mixed"] == pytest.approx(found.pvalue[1], rel=1e-8)
    assert result.factor_variance == pytest.approx(
        {name: found.variances[name] for name in factors}, rel=1e-6, abs=1e-12
    )
    assert result.variance["instance"] == pytest.approx(sum(result.factor_variance.values()))
    with pytest.warns(sr.SteadyrankWarning, match=r"share values of sample \(2 values\), part"):
        flat = sr.instances(scores, a="a", b="b", **QUICK)
    assert flat.pvalue["mixed_paper"] == pytest.approx(result.pvalue["mixed_paper"])
    grouped = y.mean(axis=(2, 3))
    two = two_way_bootstrap(grouped[0], grouped[1], n_samples=200, seed=0)
    assert result.pvalue["two_way_bootstrap"] == two.pvalue
    rows = {row["component"]: row for row in VIEW.tables[1].rows([result])}
    total = sum(result.variance[part] for part in ("instance", "system_topic", "residual"))
    for factor in factors:
        assert rows[f"· {factor}"]["variance"] == result.factor_variance[factor]
        assert rows[f"· {factor}"]["share"] == result.factor_variance[factor] / total


def test_factors_that_do_not_tell_instances_apart_leave_a_term_for_them():
    y, scores = nested_systems()
    result = sr.instances(scores, a="a", b="b", instance_factors="sample", **QUICK)
    axes = ("system", "sample", "instance", "topic")
    random = {
        "sample": ("system", "sample"),
        "instance": ("system", "sample", "instance"),
        "topic": "topic",
        "system_topic": ("system", "topic"),
    }
    found = fit(of_array(y.reshape(2, 2, 6, 15), axes=axes, random=random, fixed="system"))
    assert result.pvalue["mixed"] == pytest.approx(found.pvalue[1], rel=1e-8)
    total = found.variances["sample"] + found.variances["instance"]
    assert result.variance["instance"] == pytest.approx(total, rel=1e-6)


def test_structured_instances_against_a_single_run():
    y, _ = nested_systems()
    d = y[0] - y[1, 0, 0, 0]
    sample, partition = (index.reshape(-1) for index in np.indices((2, 3, 2))[:2])
    info = {"sample": [*sample, ""], "partition": [*partition, ""]}
    scores = scores_of({"a": y[0].reshape(12, 15), "b": y[1, 0, 0, 0]}, **info)
    factors = ["sample", "partition"]
    result = sr.instances(scores, a="a", b="b", instance_factors=factors, delta=0.001, **QUICK)
    axes = ("sample", "partition", "csi", "topic")
    random = {"sample": "sample", "partition": axes[:2], "instance": axes[:3], "topic": "topic"}
    found = fit(of_array(d, axes=axes, random=random))
    assert result.pvalue["mixed"] == pytest.approx(found.pvalue[0], rel=1e-8)
    rest = result.variance["system_topic"] + result.variance["residual"] / 12
    assert result.inflation.factor == pytest.approx(result.standard_error**2 * 15 / rest)


def test_columns_that_only_number_the_instances_are_no_structure():
    systems = {"a": drawn(4, 10, seed=60), "b": drawn(4, 10, seed=61)}
    info = {"seed": [*"0123", *"0123"], "engine": [*"xxxx", *"yyyy"], "team": [*"ttuu", *"ttuu"]}
    sr.instances(scores_of(systems, **info), a="a", b="b", **QUICK)


def test_identical_systems_and_constant_differences():
    base = drawn(3, 10, seed=62)
    same = compared({"a": base, "b": base.copy()})
    assert (same.difference, same.pvalue["mixed"]) == (0.0, 1.0)
    flat = compared({"a": np.full((3, 10), 0.5), "b": np.full((3, 10), 0.25)}, posterior=True)
    assert (flat.difference, flat.pvalue["mixed"]) == (0.25, 0.0)
    assert flat.flag == "zero_variance"
    assert flat.equivalence.non_inferior
    assert "+0.2500 for all scores" in said(flat)["difference"].text
    equal = compared({"a": np.full((3, 10), 0.5), "b": np.full((1, 10), 0.5)}, posterior=True)
    assert (equal.flag, equal.pvalue["mixed"]) == ("no_difference", 1.0)
    assert "have the same scores" in said(equal)["difference"].text
    assert equal.equivalence.equivalent
    for result in (same, flat, equal):
        json.loads(VIEW.text([result], "json"))
        VIEW.text([result], "table")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "papre"}, "unknown mode 'papre': did you mean 'paper'"),
        ({"n_samples": 0}, "n_samples must be a whole number of at least 1"),
        ({"sweep": "rate", "b": "s1"}, "there is no column 'rate' in the run information"),
        ({"sweep": "kind", "b": "s1"}, "'low' is not a number, and without an order"),
        ({"sweep": "size", "b": "s9"}, "unknown system or size 's9'"),
        ({"sweep": "size", "b": "s1"}, "size=1 has runs of several systems"),
        ({"sweep": "size", "b": "s1", "a": "s1"}, "no run but those of s1 has a value"),
    ],
)
def test_nonsense_is_refused_with_a_remedy(options, message):
    systems = many(3, 2)
    scores = scores_of(systems, kind=["low"] * 6, size=["1"] * 6)
    with pytest.raises(sr.InputError, match=message):
        sr.instances(scores, **{**QUICK, **options})


def test_data_that_cannot_be_compared_are_refused():
    with pytest.raises(sr.InputError, match="a column system .* or a pattern"):
        sr.instances(
            sr.Scores(measures=["AP"], runs=["x", "y"], topics=["1"], values=[[[0.1], [0.2]]])
        )
    with pytest.raises(sr.InputError, match="share 1 topic with a AP: .* at least two"):
        compared({"a": drawn(3, 1), "b": drawn(2, 1)})
    with pytest.raises(sr.InputError, match="there is only one system, 'a'"):
        sr.instances(scores_of({"a": drawn(3, 5)}))
    scores = scores_of({"a": drawn(3, 5), "b": drawn(3, 5)}, measures=("AP", "RR"))
    with pytest.raises(sr.InputError, match="name one of the measures AP, RR"):
        sr.instances(scores, a="a", b="b")


def test_a_run_without_a_system_is_its_own():
    scores = scores_of({"a": drawn(3, 8, seed=1), "b": drawn(1, 8, seed=2)})
    scores = scores.with_run_info(system=["a", "a", "a", ""])
    assert sr.instances(scores, a="a", b="b.0", **QUICK).n_instances == {"a": 3, "b": 1}
