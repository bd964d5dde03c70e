"""`agree`: its draws, its correlations against SciPy and a plain tau_AP, its ANOVA, its words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from plain_tables import words
from scipy import stats

import steadyrank as sr
from steadyrank.stats.anova.balanced import anova
from steadyrank.studies.agree.correlations import DRAWS, FACTORS, STRATA, draws, resampled_draws
from steadyrank.studies.agree.view import VIEW

MEASURES = ("AP", "nDCG", "P@10", "odd")
SIZES = {"topic_sizes": [5, 12], "system_sizes": [4, 9, 20]}
PAPER_SOURCES = words(
    "subject measure_pair topic_size system_size measure_pair:topic_size measure_pair:system_size "
    "topic_size:system_size error total"
)


def make_scores(n_systems=24, n_topics=30, seed=0):
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, (n_systems, 1)) + rng.normal(0, 1.5, (n_systems, n_topics))
    likeness = np.array([0.2, 0.3, 0.8, 3.0])[:, None, None]
    raw = quality + likeness * rng.normal(0, 1, (4, n_systems, n_topics))
    values = stats.norm.cdf(raw / 3)
    values[2] = np.round(values[2], 1)
    return sr.Scores(
        measures=MEASURES,
        runs=[f"s{i}" for i in range(n_systems)],
        topics=[f"t{i}" for i in range(n_topics)],
        values=values,
    )


@pytest.fixture(scope="module")
def scores():
    return make_scores()


@pytest.fixture(scope="module")
def result(scores):
    return sr.agree(scores, **SIZES, n_samples=30, rng=3)


@pytest.fixture(scope="module")
def published(scores):
    return sr.agree(scores, **SIZES, n_samples=30, rng=3, mode="paper")


def plain_tau_ap(estimate, reference):
    """The published formula, for rankings without ties."""
    order = np.argsort(-estimate)
    above = [np.mean(reference[order[:i]] > reference[order[i]]) for i in range(1, len(order))]
    return 2 * np.mean(above) - 1


# The design


def test_correlations_are_those_of_the_drawn_topics_and_systems(scores, result):
    """Every sample recomputed by other means, from the documented draws."""
    for t, topics in enumerate(SIZES["topic_sizes"]):
        topic_draws = draws("topics", 30, topics, 30, 3)
        for s, systems in enumerate(SIZES["system_sizes"]):
            system_draws = draws("systems", 24, systems, 30, 3)
            for h in range(0, 30, 9):
                part = scores.values[:, system_draws[h]][:, :, topic_draws[h]]
                means = part.mean(axis=2).round(12)
                for p, (a, b) in enumerate(result.pairs):
                    expected = stats.kendalltau(means[a], means[b]).statistic
                    assert result.tau[p, t, s, h] == pytest.approx(expected, abs=1e-12)
                    if 2 not in (a, b):  # the coarse measure has ties
                        both = plain_tau_ap(means[a], means[b]), plain_tau_ap(means[b], means[a])
                        assert result.tau_ap[p, t, s, h] == pytest.approx(np.mean(both), abs=1e-12)


def test_draws_are_without_replacement_and_fair():
    """1,000 draws of 5 of 12; the chi-square test fails by chance once in 10,000."""
    found = draws("topics", 12, 5, 1000, 0)
    assert found.shape == (1000, 5)
    assert (np.diff(found, axis=1) > 0).all()
    counts = np.bincount(found.ravel(), minlength=12)
    # Within a draw topics exclude each other, which makes counts steadier by 7/11.
    chi_square = ((counts - 5000 / 12) ** 2).sum() / (5000 / 12 * (7 / 12)) * (11 / 12)
    assert stats.chi2.sf(chi_square, 11) > 1e-4
    assert stats.chi2.cdf(chi_square, 11) > 1e-4


def test_a_draw_depends_on_its_size_and_number_alone(scores, result):
    few = sr.agree(scores, topic_sizes=[12], system_sizes=[9], n_samples=7, rng=3)
    np.testing.assert_array_equal(few.tau[:, 0, 0], result.tau[:, 1, 1, :7])
    np.testing.assert_array_equal(few.tau_ap[:, 0, 0], result.tau_ap[:, 1, 1, :7])
    two = sr.agree(scores, measures=["odd", "AP"], **SIZES, n_samples=30, rng=3)
    np.testing.assert_array_equal(two.tau[0], result.tau[result.pair("AP", "odd")])
    other = sr.agree(scores, **SIZES, n_samples=30, rng=4)
    assert (other.tau != result.tau).mean() > 0.5


def same_bytes(one, other):
    return one.omega_squared_intervals == other.omega_squared_intervals and all(
        getattr(one, key).tobytes() == getattr(other, key).tobytes()
        for key in ("tau", "tau_ap", "mean", "interval")
    )


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_same_seed_same_bytes_for_any_jobs(scores, result, jobs):
    assert same_bytes(sr.agree(scores, **SIZES, n_samples=30, rng=3, jobs=jobs), result)


def test_equal_sums_tie_however_they_were_rounded():
    """Scores in tenths whose sums are equal, but not in floating point."""
    rng = np.random.default_rng(1)
    tenths = rng.integers(0, 4, (2, 12, 9))
    assert len(np.unique((tenths / 10).sum(axis=2))) > len(np.unique(tenths.sum(axis=2)))
    found = [
        sr.agree(
            sr.Scores(measures=("a", "b"), runs=range(12), topics=range(9), values=values),
            topic_sizes=[3, 6],
            system_sizes=[5, 10],
            n_samples=20,
        )
        for values in (tenths, tenths / 10, tenths * 1e-5 / 3)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.tau, found[0].tau)
        np.testing.assert_array_equal(other.tau_ap, found[0].tau_ap)


def test_the_reference_of_tau_ap_can_be_chosen(scores, result):
    first, second = (
        sr.agree(scores, **SIZES, n_samples=30, rng=3, coefficient="tau_ap", reference=each)
        for each in ("first", "second")
    )
    np.testing.assert_allclose(0.5 * (first.tau_ap + second.tau_ap), result.tau_ap, atol=1e-15)
    part = scores.values[:, draws("systems", 24, 9, 30, 3)[0]]
    a, b = part[:, :, draws("topics", 30, 5, 30, 3)[0]].mean(axis=2)[:2]
    assert first.tau_ap[0, 0, 1, 0] == pytest.approx(plain_tau_ap(estimate=b, reference=a))
    assert second.tau_ap[0, 0, 1, 0] == pytest.approx(plain_tau_ap(estimate=a, reference=b))


# Cells, ANOVA, rankings


def test_cells_are_means_with_t_intervals(result):
    cells = result.cells()
    assert len(cells) == 6 * 2 * 3
    assert list(cells[0]) == ["measure_a", "measure_b", "topics", "systems", "mean", "interval"]
    by_name = {(c["measure_a"], c["measure_b"], c["topics"], c["systems"]): c for c in cells}
    sample = result.tau[result.pair("odd", "nDCG"), 1, 2]
    cell = by_name["nDCG", "odd", 12, 20]
    assert cell["mean"] == pytest.approx(sample.mean())
    expected = stats.ttest_1samp(sample, 0).confidence_interval(0.95)
    assert cell["interval"] == pytest.approx([expected.low, expected.high])
    frame = result.to_frame()
    assert frame.columns[-2:].tolist() == ["interval_low", "interval_high"]
    assert len(frame) == 36


def test_both_tables_are_the_crossed_model_with_samples_as_subjects(result):
    for name, samples in (("tau", result.tau), ("tau_ap", result.tau_ap)):
        table = result.anovas[name]
        assert [line.source for line in table.sources] == PAPER_SOURCES
        assert [line.df for line in table.sources] == [29, 5, 1, 2, 5, 10, 2, 1025, 1079]
        expected = anova(samples, factors=FACTORS, block="subject")
        assert [line.ss for line in table.sources] == [line.ss for line in expected.sources]
    assert result.anova is result.anovas["tau"]
    assert result.anova.source("measure_pair").omega_squared > 0.14, "one measure is odd"


def test_the_paper_has_its_degrees_of_freedom():
    samples = np.random.default_rng(0).random((28, 7, 10, 100))
    table = anova(samples, factors=FACTORS, block="subject")
    assert [line.df for line in table.sources] == [99, 27, 6, 9, 162, 243, 54, 195_399, 195_999]


def test_rankings_swaps_and_rmse(result):
    tau, tau_ap = result.tau.mean(axis=(1, 2, 3)), result.tau_ap.mean(axis=(1, 2, 3))
    rows = result.ranking()
    assert [row["tau"] for row in rows] == pytest.approx(sorted(tau, reverse=True))
    assert [row["rank_tau"] for row in rows] == list(range(1, 7))
    for row in rows:
        pair = result.pair(row["measure_a"], row["measure_b"])
        assert row["tau_ap"] == pytest.approx(tau_ap[pair])
        assert row["rank_tau_ap"] == (tau_ap >= tau_ap[pair]).sum()
    gaps = (tau - tau.mean()) - (tau_ap - tau_ap.mean())
    assert result.rmse == pytest.approx(np.sqrt((gaps**2).mean()))
    swapped = replace(result, tau_ap=-result.tau)
    assert len(swapped.swaps) == 15
    assert len(replace(result, tau_ap=result.tau + 0.1).swaps) == 0
    assert replace(result, tau_ap=result.tau + 0.1).rmse == pytest.approx(0, abs=1e-12)


def shared_draws(rng, n=28):
    """Correlations without any true effect: the pairs of a sample share its draws, all system sizes
    a draw of topics, all topic sizes a draw of systems. Every draw is of new topics and systems, as
    no study can have it."""
    shape = pairs, topics, systems, subjects = 3, 3, 3, n
    draw = rng.normal(size=(1, topics, 1, subjects)) + rng.normal(size=(1, 1, systems, subjects))
    by_pair = rng.normal(size=(pairs, topics, 1, subjects))
    return draw + by_pair + rng.normal(size=(pairs, 1, systems, subjects)) + rng.normal(size=shape)


@pytest.mark.slow
def test_were_every_draw_of_new_data_only_strata_by_subject_would_hold_the_level():
    """600 studies without an effect: at level .05 between 2.5 and 7.9 % reject (false alarm one in
    300 for each of six effects); one residual, or one for samples, rejects far more or far less."""
    rng = np.random.default_rng(12)
    effects = PAPER_SOURCES[1:7]
    rates = {}
    data = [shared_draws(rng) for _ in range(600)]
    for strata in STRATA:
        tables = [
            anova(each, factors=FACTORS, block="subject", strata=STRATA[strata]) for each in data
        ]
        rates[strata] = {
            name: np.mean([table.source(name).pvalue < 0.05 for table in tables])
            for name in effects
        }
    for name, rate in rates["subject"].items():
        assert 0.025 < rate < 0.079, name
    assert rates["none"]["topic_size"] > 0.15
    assert rates["none"]["topic_size:system_size"] < 0.025
    assert rates["sample"]["measure_pair"] > 0.15


def test_strata_change_tests_but_no_effect_size(scores, published):
    expected = {
        "sample": "error(topic_size:system_size:subject)",
        "subject": "error(subject:topic_size)",
    }
    for strata, against in expected.items():
        other = sr.agree(scores, **SIZES, n_samples=30, rng=3, mode="paper", strata=strata)
        line = other.anova.source("topic_size")
        assert line.tested_against == against
        assert line.omega_squared_raw == pytest.approx(
            published.anova.source("topic_size").omega_squared_raw, rel=1e-9
        )
        assert line.statistic < published.anova.source("topic_size").statistic
        assert VIEW.json(other)["notes"] != VIEW.json(published)["notes"]


# Intervals of effect sizes, and no tests


def exchangeable(seed, n_systems=20, n_topics=25):
    """Four measures of which none is special: no pair agrees more than another, but by chance."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, (n_systems, 1)) + rng.normal(0, 1.5, (n_systems, n_topics))
    values = quality + rng.normal(0, 1.5, (4, n_systems, n_topics))
    return sr.Scores(
        measures=MEASURES, runs=range(n_systems), topics=range(n_topics), values=values
    )


NULL_SIZES = {"topic_sizes": [5, 10, 20], "system_sizes": [5, 10, 15]}


@pytest.mark.slow
def test_more_samples_change_no_statement_of_the_sound_mode():
    """Twelve sets of exchangeable measures, 10 and 1,000 samples: published p-values of the pair
    fall below 1e-6 on nearly all, and by subject, too; the sound mode says the same both times."""
    few, many = (
        [sr.agree(exchangeable(seed), **NULL_SIZES, n_samples=n, rng=1) for seed in range(12)]
        for n in (10, 1000)
    )
    for strata in ("none", "subject"):
        pvalues = [
            anova(each.tau, factors=FACTORS, block="subject", strata=STRATA[strata])
            .source("measure_pair")
            .pvalue
            for each in many
        ]
        assert sum(p < 1e-6 for p in pvalues) >= 9, strata
    for one, other in zip(few, many, strict=True):
        for result in (one, other):
            # Nothing differs, and the interval says so in every set.
            assert result.limits["measure_pair"][0] == 0.0
            assert result.limits["measure_pair:topic_size"][0] == 0.0
            assert "measure_pair" in said_by(result)["agree.unshown"].values["effects"]
        low, high = one.limits["measure_pair"]
        assert low <= other.anova.source("measure_pair").omega_squared <= high
    # What more samples take from the width is their own error, not that of the data.
    widths = [
        np.mean([np.ptp(each.limits["measure_pair"]) for each in kind]) for kind in (few, many)
    ]
    assert 0.6 < widths[1] / widths[0] < 1.1


def test_the_sound_mode_has_no_pvalue_anywhere(scores, result, published):
    shown = VIEW.json(result)
    for rows in (shown["anova"], *shown["anovas"].values()):
        assert [row["source"] for row in rows] == PAPER_SOURCES
        for row in rows:
            assert np.isnan([row["f"], row["pvalue"]]).all()
            assert row["tested_against"] is None
            is_effect = row["source"] in PAPER_SOURCES[1:7]
            assert (row["omega_squared_interval"] is not None) == is_effect
    assert "significan" not in " ".join(shown["answer"] + shown["notes"])
    assert (published.n_interval_samples, published.limits) == (0, {})
    assert VIEW.json(published)["anova"][1]["omega_squared_interval"] is None
    assert published.anova.source("measure_pair").pvalue < 0.05
    with pytest.warns(sr.SteadyrankWarning, match="mode sound makes no tests"):
        plain = sr.agree(scores, **SIZES, n_samples=30, rng=3, strata="none")
    assert np.isnan(plain.anova.source("measure_pair").pvalue)


def plain_resamples(scores, n_resamples, seed):
    """tau-b [pair, topic size, system size, resample, draw] by SciPy, from the documented draws."""
    n_systems, n_topics = scores.values.shape[1:]
    shape = (6, 2, 3, n_resamples * DRAWS)
    found = np.empty(shape)
    for t, topics in enumerate(SIZES["topic_sizes"]):
        topic_draws = resampled_draws("topics", n_topics, topics, n_resamples, seed)
        for s, systems in enumerate(SIZES["system_sizes"]):
            system_draws = resampled_draws("systems", n_systems, systems, n_resamples, seed)
            for k in range(shape[-1]):
                part = scores.values[:, system_draws[k]][:, :, topic_draws[k]]
                means = part.mean(axis=2).round(12)
                found[:, t, s, k] = [
                    stats.kendalltau(means[a], means[b]).statistic
                    for a in range(4)
                    for b in range(a + 1, 4)
                ]
    return found.reshape(*shape[:3], n_resamples, DRAWS)


def plain_deviations(drawn, n_samples):
    """Resamples' means less their mean, [.., resample]; of the variance among them, the part that
    draws within a resample explain is cut to that of `n_samples` draws."""
    n_draws = drawn.shape[-1]
    means = drawn.mean(axis=-1)
    total = means.var(axis=-1, ddof=1).sum()
    within = drawn.var(axis=-1, ddof=1).mean(axis=-1).sum() / n_draws
    wanted = max(total - within, 0) + within * n_draws / n_samples
    return (means - means.mean(axis=-1, keepdims=True)) * np.sqrt(min(1, wanted / total))


def test_intervals_are_those_of_the_resampled_draws(scores):
    """Everything recomputed from the documented draws: SciPy's tau, and plain means of cells."""
    n_samples, n = 30, 20
    found = sr.agree(scores, **SIZES, n_samples=n_samples, rng=3, n_interval_samples=n)
    drawn = plain_resamples(scores, n, 3)
    table, cells = found.anova, found.tau.mean(axis=3)
    pairs = drawn[..., ::2] - drawn[..., 1::2]
    squares = np.array([[np.var(pairs[..., b, i]) for i in range(2)] for b in range(n)])
    errors = table.source("error").ms * np.exp(
        plain_deviations(squares / squares.mean(), n_samples / 2)
    )
    effects = {
        "measure_pair": lambda x: x.mean(axis=(1, 2)) - x.mean(axis=(0, 1, 2)),
        "topic_size": lambda x: x.mean(axis=(0, 2)) - x.mean(axis=(0, 1, 2)),
        "topic_size:system_size": lambda x: (
            x.mean(axis=0)
            - x.mean(axis=(0, 2))[:, None]
            - x.mean(axis=(0, 1))[None]
            + x.mean(axis=(0, 1, 2))
        ),
    }
    for name, effect in effects.items():
        moved = effect(cells)[..., None] + plain_deviations(effect(drawn), n_samples)
        line = table.source(name)
        surplus = (moved.reshape(-1, n) ** 2).mean(axis=0) - line.df * errors / table.n
        shares = np.clip(surplus, 0, None) / (np.clip(surplus, 0, None) + errors)
        high = max(np.quantile(shares, 0.975), line.omega_squared)
        expected = max(0, 2 * line.omega_squared - high), high
        assert found.limits[name] == pytest.approx(expected, rel=1e-9, abs=1e-12), name


def test_no_intervals_where_none_are_asked_for_or_none_can_be(scores):
    without = sr.agree(scores, **SIZES, n_samples=5, n_interval_samples=0)
    assert without.limits == {}
    shown = VIEW.json(without)
    assert "interval" not in " ".join(shown["answer"] + shown["notes"]).lower()
    assert not said_by(without)["agree.effects"].values["omega_squared_interval"]
    whole = sr.agree(scores, topic_sizes=[30], system_sizes=[24], n_samples=5)
    assert whole.anova.flag == "zero_variance"
    assert whole.limits == {}


# Likeness on all the data


def test_likeness_is_that_of_all_systems_and_topics(scores, result):
    means = scores.mean().round(12)
    for a in range(4):
        for b in range(4):
            expected = stats.kendalltau(means[a], means[b]).statistic
            assert result.likeness.tau[a, b] == pytest.approx(expected, abs=1e-12)
    order = result.likeness.order.tolist()
    assert sorted(order) == [0, 1, 2, 3]
    assert abs(order.index(0) - order.index(1)) == 1, "the two most alike stand together"
    assert 3 in (order[0], order[-1]), "the odd one stands at an end"


def said_by(result):
    findings = VIEW.findings(result)
    assert all(len(finding.text) <= 110 for finding in findings)
    assert len({finding.id for finding in findings}) == len(findings)
    return {finding.id: finding for finding in findings}


def test_findings_hold_the_numbers_of_their_sentences(result):
    said, tau = said_by(result), result.likeness.tau
    assert list(said)[:4] == ["agree.nearest", "agree.odd", "agree.trend", "agree.effects"]
    assert said["agree.nearest"].values == {"measures": ["AP", "nDCG"], "tau": tau[0, 1]}
    odd = said["agree.odd"].values
    assert (odd["measure"], odd["tau"]) == ("odd", max(tau[3, :3]))
    trend = said["agree.trend"].values
    assert trend["topics"] == [min(result.topic_sizes), max(result.topic_sizes)]
    assert trend["mean"] == pytest.approx([result.tau[:, 0].mean(), result.tau[:, 1].mean()])
    effects, (low, high) = said["agree.effects"], result.limits["measure_pair"]
    size = result.anova.source("measure_pair").omega_squared
    assert effects.values["omega_squared"]["measure_pair"] == size
    assert effects.values["omega_squared_interval"] == result.limits
    assert f"{size:.3f} [{low:.3f}, {high:.3f}] (large)" in effects.text
    both = said["agree.coefficients"].values
    assert both["tau"] == pytest.approx(result.tau.mean())
    assert both["tau_ap"] == pytest.approx(result.tau_ap.mean())
    assert (both["rmse"], both["n_swaps"]) == (result.rmse, len(result.swaps))


# Odd data and wrong input


def test_usual_sizes_are_cut_to_what_the_data_have(scores):
    with pytest.warns(sr.SteadyrankWarning) as told:
        found = sr.agree(scores, n_samples=3)
    assert (found.topic_sizes, found.system_sizes) == ((10, 20), (10, 20))
    texts = [str(each.message) for each in told]
    assert texts == [
        "there are 30 topics: of the usual topic sizes 10, 20, 30, 40, 50, 60, 70 only 10, 20 fit",
        "there are 24 systems: of the usual system sizes 10, 20, 50, 75, 100, 125, 150, 200, 250, "
        "500 only 10, 20 fit",
    ]
    small = scores.select(runs=scores.runs[:6])
    with pytest.warns(sr.SteadyrankWarning, match="only 6 systems: every sample takes them all"):
        found = sr.agree(small, topic_sizes=[5, 10], n_samples=3)
    assert found.system_sizes == (6,)
    assert np.isnan(found.anova.source("system_size").statistic)


def test_topics_that_a_system_lacks_are_left_out_and_counted(scores):
    values = scores.values.copy()
    values[1, 3, 7] = np.nan
    with pytest.warns(sr.SteadyrankWarning, match="1 of 30 topics is left out"):
        found = sr.agree(replace(scores, values=values), **SIZES, n_samples=4)
    kept = scores.select(topics=[name for name in scores.topics if name != "t7"])
    assert same_bytes(found, sr.agree(kept, **SIZES, n_samples=4))
    assert (found.n_dropped, found.n_topics) == (1, 29)
    assert "29 topics (1 dropped)" in found.caption()


def test_samples_without_an_order_are_left_out_and_told():
    rng = np.random.default_rng(0)
    values = rng.random((3, 8, 10))
    values[2] = rng.random((8, 10)) > 0.9
    scores = sr.Scores(measures=("a", "b", "rare"), runs=range(8), topics=range(10), values=values)
    with pytest.warns(sr.SteadyrankWarning, match="most often rare.* there is no ANOVA"):
        found = sr.agree(scores, topic_sizes=[1, 5], system_sizes=[2, 3], n_samples=20)
    assert found.anova is None
    assert found.anovas["tau_ap"] is not None
    assert np.isfinite(found.mean[found.pair("a", "b")]).all()
    lost = np.isnan(found.tau[found.pair("a", "rare"), 0, 0])
    assert 0 < lost.sum() < 20
    assert found.mean[1, 0, 0] == pytest.approx(np.nanmean(found.tau[1, 0, 0]))
    for form in ("table", "json", "csv", "latex", "markdown"):
        assert VIEW.text(found, form)


def test_a_single_pair_at_single_sizes_has_no_table(scores):
    one = scores.select(measures=["AP", "nDCG"])
    found = sr.agree(one, topic_sizes=[30], system_sizes=[24], n_samples=3)
    assert found.anova is None
    assert found.interval[0, 0, 0] == pytest.approx([found.mean[0, 0, 0]] * 2)
    several = sr.agree(one, topic_sizes=[5], system_sizes=[4, 8], n_samples=3)
    assert np.isnan(several.anova.source("measure_pair").statistic)
    assert several.anova.source("system_size").df == 1
    assert VIEW.text(several, "table")


def test_a_measure_agrees_perfectly_with_a_copy_of_itself(scores):
    copy = sr.Scores(
        measures=("AP", "copy"),
        runs=scores.runs,
        topics=scores.topics,
        values=np.stack([scores.values[0], 2 * scores.values[0]]),
    )
    found = sr.agree(copy, **SIZES, n_samples=5)
    assert (found.tau == 1.0).all()
    assert (found.tau_ap == 1.0).all()
    assert found.anova.flag == "zero_variance"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"system_sizes": [50]}, "system size 50 exceeds the 24 systems of the data"),
        ({"system_sizes": [1]}, "system sizes must be whole numbers of at least 2, got 1"),
        ({"topic_sizes": [2.5]}, "topic sizes must be whole numbers of at least 1, got 2.5"),
        ({"topic_sizes": [5, 5]}, "each once, got 5, 5"),
        ({"topic_sizes": []}, "at least one topic size"),
        ({"confidence": 1.0}, "confidence must lie strictly between 0 and 1"),
        ({"strata": "samples"}, "did you mean 'sample'"),
        ({"reference": "AP"}, "unknown reference"),
        ({"ties": "c"}, "unknown treatment of ties"),
        ({"measures": ["AP", "nDGC"]}, "did you mean 'nDCG'"),
        ({"mode": "papers"}, "did you mean 'paper'"),
    ],
)
def test_wrong_input_is_refused_by_name(scores, options, message):
    with pytest.raises(sr.InputError, match=message):
        sr.agree(scores, **{**SIZES, "n_samples": 3, **options})


def test_measures_without_a_ranking_are_refused(scores):
    values = scores.values.copy()
    values[3] = 0.5
    with pytest.raises(sr.InputError, match="odd gives every system the same mean"):
        sr.agree(replace(scores, values=values), **SIZES)
    with pytest.raises(sr.InputError, match="at least two systems"):
        sr.agree(scores.select(runs="s0"))
    values = np.full(scores.values.shape, np.nan)
    with pytest.raises(sr.InputError, match="no topic has a score of every system"):
        sr.agree(replace(scores, values=values))


def test_pairs_are_found_in_either_order(result):
    assert result.pair("odd", "AP") == result.pair("AP", "odd") == 2
    assert result.pair_name(2) == "AP – odd"
    with pytest.raises(sr.UnknownNameError, match="unknown measure 'ap'"):
        result.pair("ap", "odd")
    with pytest.raises(sr.InputError, match="requires two measures, got 'AP' twice"):
        result.pair("AP", "AP")
