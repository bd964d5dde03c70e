"""`topics`: splits against plain loops, theory against its formulas, and what users are told."""

from __future__ import annotations

import math
import warnings
from dataclasses import fields

import numpy as np
import pytest
from scipy.stats import norm, ttest_rel
from scipy.stats import t as student

import steadyrank as sr
from steadyrank.compute.random import block_stream
from steadyrank.stats.planning import design
from steadyrank.studies.topics.levels import AGREE, REVERSED, TIED, TRIALS_A_BLOCK, count_splits
from steadyrank.studies.topics.study import needed_figure
from steadyrank.studies.topics.view import VIEW


def make_scores(n_runs=6, n_topics=30, seed=0, gap=0.02):
    rng = np.random.default_rng(seed)
    topics = rng.beta(1, 3, n_topics)
    steps = gap * np.arange(n_runs)[:, None]
    return as_scores(np.clip(topics + steps + rng.normal(0, 0.1, (n_runs, n_topics)), 0, 1))


def as_scores(values):
    values = np.asarray(values, float)
    return sr.Scores(
        measures=("AP",),
        runs=[f"run{i}" for i in range(len(values))],
        topics=[str(t) for t in range(values.shape[1])],
        values=values[None],
    )


def orders(n_topics, trials, seed):
    """The random orders of the topics, a block of trials at a time."""
    blocks = [
        block_stream(seed, "topic splits", block).permuted(
            np.tile(np.arange(n_topics), (TRIALS_A_BLOCK, 1)), axis=1
        )
        for block in range(-(-trials // TRIALS_A_BLOCK))
    ]
    return np.concatenate(blocks)[:trials]


def plain_counts(values, sizes, trials, seed, both=False):
    """[trial, size, kind, bin], one pair at a time, in whole hundredths where scores are such."""
    found = np.zeros((trials, len(sizes), 3, 21), int)
    for trial, order in enumerate(orders(values.shape[1], trials, seed)):
        for s, n in enumerate(sizes):
            for a in range(len(values)):
                for b in range(a + 1, len(values)):
                    z = values[a] - values[b]
                    d = [math.fsum(z[order[:n]]) / n, math.fsum(z[order[-n:]]) / n]
                    tied = min(map(abs, d)) <= 1e-12
                    kind = TIED if tied else REVERSED if d[0] * d[1] < 0 else AGREE
                    for side in d if both else d[:1]:
                        found[trial, s, kind, min(20, int(round(abs(side) / 0.01, 9)))] += 1
    return found


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(("n_runs", "n_topics"), [(2, 11), (5, 20), (9, 30)])
def test_splits_are_those_of_plain_loops(n_runs, n_topics, both):
    values = make_scores(n_runs, n_topics, seed=n_runs).matrix()
    sizes = [1, 3, n_topics // 2]
    binning = "both" if both else "first"
    found = count_splits(values, sizes, n_trials=40, binning=binning, seed=7)
    np.testing.assert_array_equal(found, plain_counts(values, sizes, 40, 7, both))


def test_ties_and_edges_of_bins_survive_rounding():
    """Scores in tenths: many exact ties, and differences of exactly .01, .02, … at ten topics."""
    values = np.random.default_rng(0).integers(0, 4, (6, 24)) / 10
    sizes = [1, 2, 5, 10, 12]
    found = count_splits(values, sizes, n_trials=50, seed=1)
    np.testing.assert_array_equal(found, plain_counts(values, sizes, 50, 1))
    assert found[:, :, TIED].sum() > 100
    result = sr.topics(as_scores(values), sizes=sizes, n_trials=50, rng=1)
    ties = sum(level.ties.sum() for level in result.levels)
    assert ties == found[:, :, TIED].sum()
    # A reordering of the runs changes which is first of a pair, and nothing else.
    shuffled = count_splits(values[[3, 0, 5, 1, 4, 2]], sizes, n_trials=50, seed=1)
    np.testing.assert_array_equal(found, shuffled)


def test_sets_are_disjoint_and_every_topic_is_as_likely_as_any_other():
    """Run 1 beats run 0 on one topic only: it is in the first set of size n with chance n / T."""
    n_topics, trials, n = 12, 4000, 4
    for topic in range(n_topics):
        values = np.zeros((2, n_topics))
        values[1, topic] = 1.0
        found = count_splits(values, [n], n_trials=trials, seed=3)[:, 0].sum(axis=0)
        in_first = found[TIED, 20]
        # Five standard deviations on each of 12: false alarm 7e-6.
        assert abs(in_first - trials / 3) < 5 * math.sqrt(trials * 2 / 9)
        assert found[TIED].sum() == trials, "in one set it is, so the other has a tie"


def test_one_set_at_half_is_the_other_ones_complement():
    values = make_scores(4, 20).matrix()
    found = count_splits(values - values.mean(axis=1, keepdims=True), [10], n_trials=200, seed=0)
    assert found[:, :, AGREE].sum() == 0, "equal means: what one half gains, the other loses"


def assert_same(one, other):
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name in ("levels", "variances", "needed"):
            pairs = zip(a, b, strict=True) if field.name == "levels" else [(a, b)]
            for first, second in pairs:
                assert_same(first, second)
        elif field.name == "fit" and a is not None:
            assert_same(a, b)
        else:
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("jobs", [2, 5])
def test_threads_change_nothing(jobs):
    scores = make_scores()
    assert_same(sr.topics(scores, jobs=jobs, n_trials=300), sr.topics(scores, jobs=1, n_trials=300))


def test_levels_of_percentages_are_those_of_shares():
    shares = make_scores()
    percent = as_scores(100 * shares.matrix())
    of_shares, of_percent = (sr.topics(scores, n_trials=50) for scores in (shares, percent))
    assert [level.name for level in of_percent.levels][:2] == ["0.00–1.00", "1.00–2.00"]
    for one, other in zip(of_shares.levels, of_percent.levels, strict=True):
        assert (one.pairs, 100 * one.low) == (other.pairs, pytest.approx(other.low))
        np.testing.assert_array_equal(one.count, other.count)
        np.testing.assert_array_equal(one.reversed, other.reversed)


def test_fewer_trials_are_the_first_ones_and_sizes_do_not_change_splits():
    values = make_scores().matrix()
    many = count_splits(values, [3, 7, 15], n_trials=200)
    np.testing.assert_array_equal(count_splits(values, [3, 7, 15], n_trials=77), many[:77])
    np.testing.assert_array_equal(count_splits(values, [7], n_trials=200), many[:, [1]])
    assert not np.array_equal(count_splits(values, [3, 7, 15], n_trials=200, seed=1), many)


def test_rates_and_fits_follow_from_the_counts():
    scores = make_scores(8, 60)
    result = sr.topics(scores, n_trials=200, rng=5)
    counts = count_splits(scores.matrix(), result.sizes, n_trials=200, seed=5)
    for place, level in enumerate(result.levels):
        mine = counts[:, :, :, place]
        total, wrong = mine.sum(axis=(0, 2)), mine[:, :, REVERSED].sum(axis=0)
        np.testing.assert_array_equal(level.count, total)
        np.testing.assert_array_equal(level.reversed, wrong)
        seen = total > 0
        np.testing.assert_allclose(level.empirical[seen], wrong[seen] / total[seen])
        assert np.isnan(level.empirical[~seen]).all()
        assert (level.fit is not None) <= ((level.empirical > 0).sum() >= 3)
        if level.fit is not None:
            fitted = level.fit.b1 * np.exp(-level.fit.b2 * np.array(result.sizes))
            np.testing.assert_allclose(level.fit.residuals, level.empirical - fitted)
    assert result.further_sizes == (60, 120)


def test_monte_carlo_errors_cover_the_spread_between_studies():
    """Rates of 300 studies of 100 splits of the same topics: within 20 %.

    Two families of like runs: their pairs are reversed together, and errors of independent pairs
    would be far too small.
    """
    families = np.repeat(make_scores(2, 40).matrix(), 6, axis=0)
    values = families + np.random.default_rng(0).normal(0, 0.02, families.shape)
    studies = [count_splits(values, [5, 8], n_trials=100, seed=seed) for seed in range(300)]
    rates = np.array(
        [s[:, :, REVERSED, :6].sum(axis=0) / s[..., :6].sum(axis=(0, 2)) for s in studies]
    )
    scores = as_scores(values)
    claimed, binomial = [], []
    for seed in range(20):
        levels = sr.topics(scores, sizes=[5, 8], n_trials=100, rng=seed).levels[:6]
        claimed.append([level.empirical_error for level in levels])
        binomial.append([np.sqrt(lv.empirical * (1 - lv.empirical) / lv.count) for lv in levels])
    spread = rates.std(axis=0, ddof=1).T
    np.testing.assert_allclose(np.mean(claimed, axis=0), spread, rtol=0.2)
    assert (spread[1:] > 1.5 * np.mean(binomial, axis=0)[1:]).all()


@pytest.mark.slow
def test_splits_of_normal_data_reverse_as_eq_8_says():
    """Two runs, a known difference, 4,000 topic sets, one split each: |z| < 4.5, alarm 6e-5.

    Given one topic set its halves are not independent; over topic sets they are.
    """
    rng = np.random.default_rng(0)
    studies, n_topics, sizes = 4_000, 24, [2, 5, 12]
    for gap in (0.0, 0.05, 0.12):
        topics = rng.normal(0, 0.3, (studies, 1, n_topics))
        values = topics + rng.normal(0, 0.15, (studies, 2, n_topics))
        values[:, 0] += gap
        found = sum(count_splits(v, sizes, n_trials=1, jobs=1)[0] for v in values)
        rate = found[:, REVERSED].sum(axis=1) / studies
        wrong = norm.cdf(-gap / np.sqrt(2 * 0.15**2 / np.array(sizes)))
        expected = 2 * wrong * (1 - wrong)
        assert found[:, TIED].sum() == 0
        error = np.sqrt(expected * (1 - expected) / studies)
        assert (np.abs(rate - expected) < 4.5 * error).all()


def test_theory_of_a_pair_is_its_formulas():
    scores = make_scores(4, 25)
    for row in sr.topics(scores, n_trials=10).rows():
        a, b = (scores.matrix()[scores.runs.index(row[key])] for key in "ab")
        va, vb, vz = (np.var(x, ddof=1) for x in (a, b, a - b))
        assert row["covariance"] == pytest.approx(np.cov(a, b)[0, 1])
        assert row["variance"] == pytest.approx(vz)
        d = np.mean(a - b)
        wrong, apart = (norm.cdf(-abs(d) / np.sqrt(v / 25)) for v in (vz, va + vb))
        assert row["difference"] == pytest.approx(d)
        assert row["error_rate"] == pytest.approx(2 * wrong * (1 - wrong))
        assert row["error_rate_independent"] == pytest.approx(2 * apart * (1 - apart))
        assert row["approximation"] == pytest.approx(0.5 * np.exp(-2 / np.pi * d * d * 25 / vz))
        assert row["predictive"] == pytest.approx(norm.cdf(-abs(d) / np.sqrt(2 * vz / 25)))
        assert row["predictive_limit"] == pytest.approx(norm.cdf(-abs(d) / np.sqrt(vz / 25)))
        # All six pairs are tested together: Bonferroni's level.
        exact = design.topics_for_range(abs(d), vz / 2, paired=True, alpha=0.05 / 6)
        needed, (low, high) = row["topics_needed"], row["topics_needed_interval"]
        if ttest_rel(a, b).pvalue < 0.05:
            assert low <= needed == exact <= high
        else:
            assert needed is high is None
            assert low < exact


def test_theory_of_a_level_is_the_mean_over_its_pairs():
    scores = make_scores(8, 60)
    result = sr.topics(scores, n_trials=10, sizes=[10, 30, 500])
    rows = result.rows()
    assert sum(level.pairs for level in result.levels) == len(rows)
    for place, level in enumerate(result.levels):
        assert (level.low, level.high) == (place / 100, (place + 1) / 100 if place < 20 else np.inf)
        mine = [row for row in rows if level.low <= abs(row["difference"]) < level.high]
        assert level.pairs == len(mine)
        if not mine:
            assert np.isnan(level.variance)
            assert np.isnan(level.error_rate).all()
            continue
        assert level.variance == pytest.approx(np.mean([row["variance"] / 60 for row in mine]))
        both = [(row["variance_a"] + row["variance_b"]) / 60 for row in mine]
        assert level.variance_independent == pytest.approx(np.mean(both))
        z = [abs(r["difference"]) / np.sqrt(r["variance"] / np.array(result.sizes)) for r in mine]
        wrong = norm.cdf(-np.array(z))
        expected = (2 * wrong * (1 - wrong)).mean(axis=0)
        np.testing.assert_allclose(level.error_rate, expected, rtol=1e-9)
        np.testing.assert_allclose(
            level.predictive, norm.cdf(-np.array(z) / np.sqrt(2)).mean(axis=0), rtol=1e-9
        )
        assert np.isnan(level.empirical[2]), "500 topics cannot be split off 60"
        assert level.count[2] == 0
    assert result.further_sizes == (60, 120, 500)


def test_missing_scores_leave_pairs_and_splits():
    values = make_scores(4, 30).matrix().copy()
    values[0, :6] = np.nan
    values[1, 4:8] = np.nan
    with pytest.warns(sr.SteadyrankWarning, match="8 of 30 topics lack scores of some run"):
        result = sr.topics(as_scores(values), n_trials=20, sizes=[5, 11, 15])
    assert (result.n_topics, result.n_complete, result.n_dropped) == (30, 22, 8)
    assert [row["n"] for row in result.rows()] == [22, 24, 24, 26, 26, 30]
    counts = count_splits(values[:, 8:], [5, 11], n_trials=20)
    for place, level in enumerate(result.levels):
        np.testing.assert_array_equal(level.count[:2], counts.sum(axis=(0, 2))[:, place])
        assert level.count[2] == 0
    assert "(8 omitted from the splits)" in result.caption()


def test_no_common_topic_leaves_theory_alone():
    values = np.full((3, 10), np.nan)
    rng = np.random.default_rng(0)
    values[0, :6], values[1, 6:], values[2] = rng.random(6), rng.random(4), rng.random(10)
    with pytest.warns(sr.SteadyrankWarning, match="there are no splits"):
        result = sr.topics(as_scores(values))
    assert all(level.count.sum() == 0 and level.fit is None for level in result.levels)
    row = result.rows()[0]
    assert (row["n"], row["flag"], row["topics_needed"]) == (0, "too_few_topics", None)
    assert math.isnan(row["predictive"])
    assert not math.isnan(result.rows()[1]["predictive"])
    assert "too few for an estimate" in result.sentence("run0", "run1")
    assert sum(level.pairs for level in result.levels) == 2


def test_odd_pairs_are_flagged():
    base = 0.9 * np.random.default_rng(0).random(20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = sr.topics(as_scores([base, base, base + 0.1]), n_trials=20)
    same, constant, _ = result.told()
    assert (same["flag"], same["error_rate"], same["predictive"]) == ("no_difference", 0.5, 0.5)
    assert same["topics_needed"] is None
    assert same["topics_needed_interval"] == (None, None)
    assert needed_figure(same) == "none"
    assert (constant["flag"], constant["error_rate"], constant["predictive"]) == (
        "zero_variance",
        0.0,
        0.0,
    )
    # Below five topics the corrected test claims nothing.
    assert (constant["topics_needed"], constant["topics_needed_interval"]) == (5, (5, 5))
    assert [finding.id for finding in result.of_pair("run0", "run1")] == ["topics.no_order"]
    (certain,) = result.of_pair("run0", "run2")
    assert (certain.id, certain.values["expected_reversal"]) == ("topics.reversal", 0.0)
    assert "on every topic." in certain.text
    first, tenth = result.levels[0], result.levels[10]
    assert (first.ties == first.count).all()
    assert (tenth.reversed == 0).all()
    assert (tenth.count == 2 * 20).all()


def test_the_answer_in_words():
    """Two runs, t = 1 on 50 topics: Student's law at .65, the constant of a typical table."""
    z = np.random.default_rng(0).normal(size=50)
    z = 0.02 + (z - z.mean()) / z.std(ddof=1) * math.sqrt(0.02)
    base = np.linspace(0.2, 0.8, 50)
    result = sr.topics(as_scores([base, base + z]), n_trials=10)
    assert result.leaders == ("run1", "run0")
    expected = (
        "On 50 new topics, run1 falls below run0 with probability about 26%. Showing its lead with "
        "power 0.8 at alpha 0.05 requires 530 topics (80% assurance)."
    )
    reversal, needed = VIEW.findings(result)
    assert (reversal.id, needed.id) == ("topics.reversal", "topics.needed")
    assert reversal.values["expected_reversal"] == pytest.approx(student.cdf(-0.65, 49))
    assert needed.values["topics_needed"] is None
    assert needed.values["topics_needed_interval"] == (52, None)
    assert result.sentence() == result.sentence("run0", "run1") == expected
    surer = sr.topics(as_scores([base, base + z + 0.06]), n_trials=10)
    # By SciPy's noncentral t law and root finder, t = 4 on 50 topics.
    (row,) = surer.told()
    assert row["topics_assured"] == 39
    assert (row["topics_needed"], row["topics_needed_interval"]) == (31, (16, 120))
    assert row["significant"]
    assert [finding.id for finding in VIEW.findings(surer)] == ["topics.reversal"], (
        "what these topics show, they show"
    )


def test_the_pairs_that_swap_are_counted_as_selected():
    """Equal runs: on other topics half of the pairs swap, whatever their differences here."""
    rng = np.random.default_rng(4)
    here, there = rng.normal(0, 0.1, (2, 40, 30))
    result = sr.topics(as_scores(here), n_trials=10)
    a, b = result.pairs.T
    ahead, again = (m.mean(axis=1)[a] - m.mean(axis=1)[b] for m in (here, there))
    truth = np.mean(ahead * again < 0)
    assert truth - result.expected_reversal.mean() < 0.15 < truth - result.predictive.mean()
    count = int((result.expected_reversal > 0.05).sum())
    assert count != int((result.predictive > 0.05).sum())
    said = VIEW.findings(result)[-1]
    assert said.id == "topics.pairs"
    assert said.values == {"reversed": count, "pairs": len(a), "target": 0.05}
    assert f"{count} of {len(a):,} pairs would be reversed" in VIEW.text(result, "table")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trials": 0}, "n_trials must be a whole number of at least 1, got 0"),
        ({"sizes": []}, "sizes: name at least one"),
        ({"sizes": [0, 5]}, "sizes must be whole numbers of at least 1"),
        ({"binning": "second"}, "unknown binning 'second'"),
        ({"measure": "PA"}, "unknown measure 'PA'"),
        ({"jobs": 0}, "jobs must be a whole number of at least 1"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises(sr.InputError, match=message):
        sr.topics(make_scores(), **options)


def test_bad_scores_are_refused():
    with pytest.raises(sr.InputError, match="at least two are required"):
        sr.topics(as_scores([[0.1, 0.2]]))
    with pytest.raises(sr.InputError, match="a single topic has no variance"):
        sr.topics(as_scores([[0.1], [0.2]]))
    two = sr.Scores(
        measures=("AP", "P@10"),
        runs=("a", "b"),
        topics=("1", "2"),
        values=np.random.default_rng(0).random((2, 2, 2)),
    )
    with pytest.raises(sr.InputError, match="name one of the measures AP, P@10"):
        sr.topics(two)
    assert sr.topics(two, measure="P@10", n_trials=5).measure == "P@10"


def test_topics_needed_are_for_the_family_that_decides():
    scores = make_scores(18, 50)
    family = sr.topics(scores, n_trials=10)
    decided = sr.compare(scores)
    uncorrected = sr.compare(scores, correction="none")
    alone = sr.topics(scores, n_trials=10, decided=uncorrected)
    assert (family.comparisons, family.comparison_alpha) == (153, decided.comparison_alpha)
    assert family.significant.tolist() == decided.significant.tolist()
    given = sr.topics(scores, n_trials=10, decided=decided)
    assert given.needed.topics.tolist() == family.needed.topics.tolist()
    assert given.significant.tolist() == family.significant.tolist()
    assert (alone.comparisons, alone.comparison_alpha) == (1, 0.05)
    assert (family.needed.topics > alone.needed.topics).all()
    assert "at alpha 0.05 over 153 comparisons requires" in family.sentence()
    assert alone.test_words().endswith("at alpha 0.05")
    assert alone.significant.sum() > family.significant.sum()
    against = sr.topics(scores, n_trials=10, decided=sr.compare(scores, baseline="run0"))
    assert against.comparisons == 17
    assert alone.comparison_alpha > against.comparison_alpha > family.comparison_alpha
    for p, (a, b) in enumerate(family.pairs.tolist()):
        assert family.pair(a, b) == family.pair(b, a) == p
    with pytest.raises(sr.InputError, match="'run1' is one run: name two"):
        family.sentence("run1", "run1")
    with pytest.raises(sr.UnknownNameError, match="did you mean 'run0'"):
        family.sentence("rum0", "run2")


def test_a_pair_that_may_be_equal_has_no_interval_and_one_number_for_readers():
    rng = np.random.default_rng(4)
    base = rng.random(50)
    close = base + rng.normal(0.001, 0.1, 50)
    result = sr.topics(as_scores([base, close]), n_trials=10)
    (row,) = result.rows()
    low, high = row["topics_needed_interval"]
    assert row["topics_needed"] is high is None
    (told,) = result.told()
    assert low < told["topics_assured"]
    assert f"requires {needed_figure(told)} topics (80% assurance)." in result.sentence()
    frame = result.to_frame()
    assert frame["topics_needed_interval_low"].tolist() == [low]
    assert frame["topics_needed_interval_high"].isna().all()
