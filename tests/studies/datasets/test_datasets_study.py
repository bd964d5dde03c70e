"""Would other datasets change it? Ranks, gaps, types, topics and pairs of a leaderboard."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

import steadyrank as sr
from steadyrank.stats.pairs.max_t import max_t
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.datasets.view import VIEW
from steadyrank.words import size

TYPES = dict(zip("abcdefghijkl", "RRRRSSSCCPPX", strict=True))
MORE_TYPES = dict(zip("abcdefghijkl", "RRRSSCCPPXYZ", strict=True))
LONG = "_of_a_long_name" * 4


def frame(n_runs=5, names="abcdefghijkl", seed=1, gap=1.0, long_names=False):
    rng = np.random.default_rng(seed)
    values = 0.5 + 0.1 * rng.normal(size=(n_runs, len(names)))
    values += 0.1 * gap * np.arange(n_runs)[::-1, None]
    runs = [f"r{i}" + LONG * long_names for i in range(n_runs)]
    return pd.DataFrame(values, index=runs, columns=list(names))


def collections(n_runs=4, sizes=(20, 25, 15, 18, 22), seed=2):
    rng = np.random.default_rng(seed)
    runs = [f"r{i}" for i in range(n_runs)]
    made = {}
    for k, n in enumerate(sizes):
        values = rng.normal(0.05 * np.arange(n_runs)[::-1], 0.03, n_runs)[:, None]
        values = values + rng.normal(size=n) * 0.2 + rng.normal(size=(n_runs, n)) * 0.1
        made[f"c{k}"] = sr.Scores(measures=["AP"], runs=runs, topics=range(n), values=[values])
    return made


def found(result):
    """Findings by what they are about, each said once."""
    made = VIEW.findings(result)
    assert len({finding.id for finding in made}) == len(made)
    assert all(finding.text.endswith(".") for finding in made)
    return {finding.id.removeprefix("datasets."): finding for finding in made}


def test_decisions_are_those_of_max_t_and_all_that_is_said_follows_them():
    table = frame()
    result = sr.datasets(table, rng=3)
    flips = max_t(table.to_numpy(), all_pairs(5), seed=3)
    np.testing.assert_array_equal(result.pvalue_adjusted, flips.pvalue)
    np.testing.assert_allclose(result.value, table.mean(axis=1))
    assert (result.significant == (flips.pvalue <= 0.05)).all()
    beaten = np.zeros(5, int)
    for (i, j), differs in zip(result.pairs, result.significant, strict=True):
        beaten[j if result.value[i] > result.value[j] else i] += differs
    assert (result.rank_set_simultaneous[:, 0] == 1 + beaten).all()
    assert result.told_apart_share == result.significant.mean()
    # Ranks by each run's own pairs: the p-values of its side.
    better, worse = np.zeros((2, 5), int)
    for (i, j), own in zip(result.pairs.tolist(), flips.own <= 0.05, strict=True):
        ahead = result.value[i] > result.value[j]
        for run, claimed, leads in ((i, own[0], ahead), (j, own[1], not ahead)):
            better[run] += claimed and not leads
            worse[run] += claimed and leads
    assert result.rank_set.tolist() == np.stack([1 + better, 5 - worse], axis=1).tolist()
    assert result.could_be_first.tolist() == (better == 0).tolist()
    assert (better >= beaten).all()


def test_rank_sets_and_neighbours_of_runs_far_apart_are_single():
    result = sr.datasets(frame(gap=9.0))
    assert result.rank_set.tolist() == [[k, k] for k in range(1, 6)]
    assert (result.adjacent_not_told_apart, result.told_apart_share) == (0, 1.0)
    first = found(result)["first"]
    assert first.text == "With 95% confidence r0 is the best of these runs."
    assert first.values == {"runs": ["r0"], "alpha": 0.05}
    assert found(result)["pairs"].text == (
        "100% of 10 pairs of runs differ significantly; of 4 pairs of neighbours in the ranking, 4."
    )


def test_the_order_of_rows_and_columns_changes_nothing():
    table = frame(7)
    other = table.sample(frac=1, random_state=4).sample(frac=1, axis=1, random_state=5)
    for options in ({}, {"aggregate": "borda"}, {"drawn": "types", "types": MORE_TYPES}):
        one, two = (VIEW.json(sr.datasets(t, **options)) for t in (table, other))
        assert json.dumps(one) == json.dumps(two)


def test_wins_are_borda_in_another_unit():
    borda, wins = (sr.datasets(frame(), aggregate=name) for name in ("borda", "wins"))
    np.testing.assert_allclose(borda.value, 4 * wins.value)
    np.testing.assert_array_equal(borda.rank_set, wins.rank_set)


def test_percent_scores_have_the_decisions_of_shares():
    shares, percent = sr.datasets(frame()), sr.datasets(100 * frame())
    np.testing.assert_array_equal(shares.rank_set, percent.rank_set)


# Types


def test_types_are_flipped_as_a_whole_and_few_patterns_enumerated():
    result = sr.datasets(frame(gap=9.0), drawn="types", types=MORE_TYPES)
    assert (result.exact, result.n_patterns, result.n_units) == (True, 2**7, 7)
    assert result.told_apart_share == 1.0
    assert "about other types of datasets" in result.caption()


def test_too_few_types_can_show_nothing_and_it_is_said():
    five = sr.datasets(frame(gap=9.0), drawn="types", types=TYPES)
    assert five.can_be_significant, "one of 32 patterns is 1/33"
    few = {name: "P" if kind == "X" else kind for name, kind in TYPES.items()}
    with pytest.warns(sr.SteadyrankWarning, match="4 types of datasets have only 16 sign patterns"):
        result = sr.datasets(frame(gap=9.0), drawn="types", types=few)
    assert not result.can_be_significant
    assert result.could_be_first.all()
    assert found(result)["too_few"].values == {"n_units": 4, "n_patterns": 16, "alpha": 0.05}
    assert str(result).startswith(found(result)["too_few"].text)
    assert "no run can be ruled out as the best" in found(result)["first"].text


def test_one_type_only_and_no_types_are_refused():
    with pytest.raises(sr.InputError, match="at least two types of datasets, got one"):
        sr.datasets(frame(), drawn="types", types=dict.fromkeys(TYPES, "R"))
    with pytest.raises(sr.InputError, match="type of every dataset"):
        sr.datasets(frame(), aggregate="mean-of-types")
    one = sr.datasets(frame(), aggregate="mean-of-types", types=dict.fromkeys(TYPES, "R"))
    np.testing.assert_allclose(one.value, sr.datasets(frame()).value)


def test_the_mean_of_types_weighs_types_the_same():
    table = frame()
    result = sr.datasets(table, aggregate="mean-of-types", types=TYPES)
    by_type = table.T.groupby(TYPES).mean().mean()
    np.testing.assert_allclose(result.value, by_type)


# Topics


def test_topics_of_these_datasets():
    table = collections()
    result = sr.datasets(table, drawn="topics")
    means = np.array([scores.mean()[0] for scores in table.values()])
    np.testing.assert_allclose(result.value, means.mean(axis=0))
    assert "these datasets with other topics" in result.caption()
    assert result.pair.effects is not None
    with pytest.raises(sr.InputError, match="points by borda are ranks of means"):
        sr.datasets(table, drawn="topics", aggregate="borda")
    with pytest.raises(sr.InputError, match="requires scores per topic"):
        sr.datasets(frame(), drawn="topics")


def test_datasets_vary_with_their_topics():
    """Resampling datasets covers the noise of topics: "both" makes the same decisions."""
    table = collections(sizes=[20] * 8)
    one, both = (sr.datasets(table, drawn=how) for how in ("datasets", "both"))
    np.testing.assert_array_equal(one.pvalue_adjusted, both.pvalue_adjusted)
    assert "other datasets of this kind with other topics" in both.caption()


def test_topics_that_a_run_lacks_are_counted():
    table = collections()
    values = table["c1"].values.copy()
    values[0, 2, 7] = np.nan
    table["c1"] = sr.Scores(
        measures=["AP"], runs=table["c1"].runs, topics=table["c1"].topics, values=values
    )
    assert sr.datasets(table, drawn="topics").n_topics_dropped == 1


# Gaps


def with_gaps():
    table = frame(6)
    table.loc["r5", ["a", "b", "c"]] = np.nan
    table.loc["r1", ["c", "d"]] = np.nan
    return table


def test_runs_that_cost_datasets_are_named_first():
    with pytest.warns(sr.SteadyrankWarning, match=r"2 of 6 runs lack datasets: r5 \(3 of 12\)"):
        result = sr.datasets(with_gaps())
    assert result.left_out == ("a", "b", "c", "d")
    assert [(row.run, row.missing, row.kept_without) for row in result.gap_rows] == [
        ("r5", 3, 10),
        ("r1", 2, 12),
    ]
    assert str(result).startswith("2 of 6 runs lack datasets: r5 (3 of 12) and r1 (2); the 8 that")
    assert found(result)["gaps"].values == {"gaps": "complete", "n_missing": 5, "n_lacking": 2}
    assert {table.id for table in VIEW.made(result)} >= {"dataset-leaderboard", "dataset-gaps"}
    assert result.completion_ranks.shape == (6, 2)


def test_zero_gives_no_points():
    table = with_gaps()
    points = (6 - table.rank(ascending=False)).fillna(0.0).mean(axis=1)
    result = sr.datasets(table, aggregate="borda", gaps="zero")
    np.testing.assert_allclose(result.value, points)
    assert result.left_out == ()
    assert result.completion_ranks is None
    np.testing.assert_allclose(
        sr.datasets(table, gaps="zero").value, table.fillna(0.0).mean(axis=1)
    )


def test_pairs_are_compared_on_what_both_have():
    table = with_gaps()
    result = sr.datasets(table, gaps="pairwise")
    np.testing.assert_array_equal(
        result.pvalue_adjusted, max_t(table.to_numpy(), all_pairs(6)).pvalue
    )
    assert result.friedman is None
    with pytest.raises(sr.InputError, match="with equal weights"):
        sr.datasets(table, gaps="pairwise", drawn="types", types=TYPES)


def test_a_model_with_one_score_is_named_where_it_costs_everything():
    table = frame(4)
    table.loc["r3", list("bcdefghijkl")] = np.nan
    table.loc["r2", "a"] = np.nan
    with pytest.raises(sr.InputError, match="omit r3, without which 11 would remain"):
        sr.datasets(table)
    result = sr.datasets(table, gaps="pairwise")
    assert result.rank_set[3].tolist() == [1, 4]


def test_a_dataset_where_all_are_equal_and_identical_runs():
    table = frame()
    table["a"] = 0.5
    table.loc["r4"] = table.loc["r3"]
    result = sr.datasets(table)
    assert result.rank[3] == result.rank[4]
    place = next(p for p, pair in enumerate(result.pairs.tolist()) if pair == [3, 4])
    assert result.pvalue_adjusted[place] == 1.0


# Pairs


def test_a_pair_in_depth_without_topics_is_students():
    table = frame(gap=0.2)
    pair = sr.datasets(table, a="r2", b="r0").pair
    d = table.loc["r2"] - table.loc["r0"]
    from scipy import stats

    np.testing.assert_allclose(pair.per_dataset, d)
    assert pair.difference == pytest.approx(d.mean())
    assert pair.interval == pytest.approx(tuple(stats.ttest_1samp(d, 0).confidence_interval()))
    half = stats.t.ppf(0.975, 11) * d.std() * math.sqrt(13 / 12)
    assert pair.prediction_interval == pytest.approx((d.mean() - half, d.mean() + half))
    assert pair.effects is None
    assert pair.row()["tau2"] is None
    left = pair.leave_one_out[4]
    assert (left.dataset, left.difference) == ("e", pytest.approx(d.drop("e").mean()))


def test_a_pair_in_depth_with_topics_is_a_meta_analysis():
    table = collections()
    pair = sr.datasets(table, drawn="topics", a="r0", b="r1").pair
    gaps = [scores.values[0, 0] - scores.values[0, 1] for scores in table.values()]
    errors = [gap.std(ddof=1) / math.sqrt(len(gap)) for gap in gaps]
    np.testing.assert_allclose(pair.error, errors)
    from steadyrank.stats.datasets import random_effects

    expected = random_effects([gap.mean() for gap in gaps], errors)
    assert pair.difference == pytest.approx(expected.difference)
    assert pair.interval == pytest.approx(expected.interval)
    assert pair.row()["tau2"] == pytest.approx(expected.tau2)


def test_without_names_the_pair_is_the_two_best():
    result = sr.datasets(frame(gap=5.0))
    assert (result.pair.a, result.pair.b) == ("r0", "r1")
    assert not result.pair_asked
    with pytest.raises(sr.InputError, match="name both"):
        sr.datasets(frame(), a="r0")
    with pytest.raises(sr.UnknownNameError, match="unknown run 'r9'"):
        sr.datasets(frame(), a="r0", b="r9")
    with pytest.raises(sr.InputError, match="both 'r0'"):
        sr.datasets(frame(), a="r0", b="r0")


def test_influence_is_the_ranking_without_each_dataset():
    table = frame(6, gap=0.3)
    result = sr.datasets(table)
    taus = {row.dataset: row for row in result.influence}
    for name in table.columns:
        without = table.drop(columns=name).mean(axis=1)
        expected = sr.kendall_tau(table.mean(axis=1), without).value
        assert taus[name].tau == pytest.approx(expected)
        assert taus[name].leader == without.idxmax()
    assert [row.tau for row in result.influence] == sorted(row.tau for row in result.influence)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aggregate": "median"}, "unknown aggregate 'median'"),
        ({"drawn": "documents"}, "unknown resampling 'documents'"),
        ({"gaps": "ignore"}, "unknown treatment of gaps"),
        ({"alpha": 1.5}, "alpha"),
    ],
)
def test_what_does_not_exist_is_refused(options, message):
    with pytest.raises(sr.InputError, match=message):
        sr.datasets(frame(), **options)


def test_one_run_or_one_dataset_is_no_leaderboard():
    with pytest.raises(sr.InputError, match="at least two are required, got 1"):
        sr.datasets(frame(1))
    with pytest.raises(sr.InputError, match="requires at least two, got 1"):
        sr.datasets(frame(3, "a"))


# What is printed


def test_a_significant_pair_and_an_open_one_are_said_as_such():
    clear, close = (sr.datasets(frame(gap=gap)) for gap in (9.0, 0.0))
    assert (
        found(clear)["needed"].text == "r0 and r1 differ significantly in the family of all pairs."
    )
    open_ = found(close)["needed"]
    assert math.isinf(close.pair.datasets_needed_interval[1])
    assert open_.values["significant"] is False
    needed = size(close.pair.datasets_assured)
    assert open_.text.endswith(
        f"among all pairs; {needed} datasets would show it, with 80% assurance."
    )


def test_a_pair_that_was_asked_for_comes_first_and_with_its_table():
    asked, unasked = sr.datasets(frame(), a="r0", b="r1"), sr.datasets(frame())
    for result, first in ((asked, "datasets.pair"), (unasked, "datasets.verdict")):
        findings = VIEW.findings(result)
        assert findings[0].id == first
        assert all(finding.text in str(result) for finding in findings[:3])
        assert not any(finding.text in str(result) for finding in findings[3:])
    assert found(asked)["pair"].values["difference"] == asked.pair.difference
    assert found(asked)["wins"].values["wins"] == (asked.pair.per_dataset > 0).sum()
    shown = {result: [table.id for table in VIEW.made(result)] for result in (asked, unasked)}
    assert shown[asked] == [*shown[unasked][:1], "dataset-pair", *shown[unasked][1:]]
    assert [table.id for table in VIEW.made(unasked, page=True)] == shown[asked]
    printed, paged = (VIEW.made(unasked, page=page)[-1] for page in (False, True))
    assert (len(printed.rows), len(paged.rows)) == (10, 12)
    assert printed.caption.endswith("The first 10 of 12 rows.")


def test_figures_name_the_best_and_count_the_rest():
    result = sr.datasets(frame(60, gap=0.05, long_names=True), n_samples=500)
    (ax,) = sr.plot(result).axes
    assert len(ax.get_yticklabels()) == 30
    assert "30 more runs below" in ax.get_xlabel()
    firsts = int(result.could_be_first.sum())
    drawn = sum(bool(result.could_be_first[i]) for i in result.order[:30])
    assert f"{firsts - drawn or 'none'} of them could be first" in ax.get_xlabel()
    (ax,) = sr.plot(result, kind="forest").axes
    assert [label.get_text() for label in ax.get_yticklabels()][-2:] == [
        "mean over datasets",
        "next dataset",
    ]


@pytest.mark.slow
def test_thousands_of_models_are_told_in_seconds():
    """Two million pairs; it takes seconds, and took minutes where each row counted them."""
    import time

    values = np.random.default_rng(0).normal(0.5, 0.1, (2000, 20))
    runs = [f"m{i}" for i in range(2000)]
    table = pd.DataFrame(values, index=runs, columns=[f"d{k}" for k in range(20)])
    seen = []
    started = time.process_time()
    result = sr.datasets(table, n_samples=500, progress=lambda *done: seen.append(done))
    assert len(result.rows()) == 2000
    assert len(seen) > 1
    assert time.process_time() - started < 60
