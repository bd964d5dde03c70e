"""`pools`: against dictionaries and sets, the golden figures, and what must hold for any track."""

from __future__ import annotations

import itertools
import json
import math
import statistics
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from golden_cases import golden
from scipy import stats

import steadyrank as sr
from steadyrank.measures.names import parse_measures
from steadyrank.stats.planning.demands import check_demands
from steadyrank.studies.pools.study import topics_for_all
from steadyrank.studies.pools.trials import (
    kept_judgments,
    mean_and_interval,
    pilot_subsets,
    read_pool,
    score_runs,
    team_subsets,
)
from steadyrank.studies.pools.view import VIEW

DEPTH = 6
"""Less deep than the pool was: some judgments have no contributor here."""

MEASURES = [
    "AP",
    "nDCG@10",
    "P@5",
    "RR",
    "ERR@10",
    "nERR@10",
    "Q@10",
    "Pplus",
    "nG@1",
    "Twist",
    "RBP(graded=True)",
    "Judged@10",
    "OwnShare",
]


def own_share(ranked, judged):
    return (ranked[:10] > 0).sum() / len(judged)


@pytest.fixture(scope="module")
def track():
    """Five teams of two runs, one of which lacks topics."""
    sr.register_measure("OwnShare", own_share)
    made = sr.simulated_track(
        n_teams=5, runs_per_team=2, n_topics=12, depth=40, pool_depth=10, rng=3
    )
    whole = made.runs[3]
    rows = {topic: dict(whole.ranking(topic)) for topic in whole.topics[:-2]}
    short = replace(sr.run_from_dict(rows, name=whole.name), info=whole.info)
    return replace(made, runs=(*made.runs[:3], short, *made.runs[4:]))


def study(track, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        return sr.pools(track.runs, track.qrels, **{"pool_depth": DEPTH, **options})


def plain_reduced(track, left_out):
    """The judgments, {topic: {document: grade}}, without what only these teams contributed."""
    theirs, others = set(), set()
    for run in track.runs:
        tops = {(t, doc) for t in run.topics for doc, _ in run.ranking(t)[:DEPTH]}
        (theirs if run.info["team"] in left_out else others).update(tops)
    unique = theirs - others
    return {
        topic: {
            doc: grade
            for doc, grade in track.qrels.judgments(topic).items()
            if (topic, doc) not in unique
        }
        for topic in track.qrels.topics
    }


def plain_scores(track, left_out, runs, measures=MEASURES, missing="zero"):
    """[measure][run][topic] by `evaluate` on rewritten judgments; lost topics score 0."""
    top = track.qrels.max_grade
    frozen = [f"{m[:-3]}(max_rel={top})@10" if m in ("ERR@10", "nERR@10") else m for m in measures]
    frozen = [f"RBP(graded=True,max_rel={top})" if m.startswith("RBP") else m for m in frozen]
    judgments = {t: rows for t, rows in plain_reduced(track, left_out).items() if rows}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        scores = sr.evaluate(runs, sr.qrels_from_dict(judgments), frozen, missing=missing)
    places = {topic: t for t, topic in enumerate(scores.topics)}
    return [
        [
            [float(row[places[t]]) if t in places else 0.0 for t in track.qrels.topics]
            for row in matrix
        ]
        for matrix in scores.values
    ]


def plain_variance(matrix, order, size):
    """V_E over the first `size` topics of the order on which some run scores."""
    alive = [t for t in order if any(row[t] != 0.0 for row in matrix)][:size]
    squares, df = 0.0, 0
    for row in matrix:
        values = [row[t] for t in alive]
        mean = statistics.fmean(values)
        squares += math.fsum((value - mean) ** 2 for value in values)
        df += len(values) - 1
    return squares / df, len(alive)


def test_every_variance_is_that_of_dictionaries_and_sets(track):
    result = study(track, measures=MEASURES, n_trials=4, pilot_topics=[12, 7, 3], rng=5)
    places = dict.fromkeys((0, *result.ks), 0)
    for trial in result.drawn:
        b = places[trial.k]
        places[trial.k] += 1
        left_out = {result.teams[team] for team in trial.left_out}
        runs = [run for run in track.runs if run.info["team"] not in left_out]
        matrices = plain_scores(track, left_out, runs)
        for measure, matrix in zip(MEASURES, matrices, strict=True):
            for size in result.pilot_topics:
                cell = result.cell(measure, trial.k, size)
                if trial.k == 0 and size == 12 and b > 0:
                    assert len(cell.variances) == 1
                    continue
                variance, n_topics = plain_variance(matrix, trial.topic_order.tolist(), size)
                assert cell.variances[b] == pytest.approx(variance, rel=1e-12)
                assert cell.topics_left[b] == n_topics
    assert places == {0: 4, 1: 4, 2: 4, 3: 4, 4: 4}
    assert any(left < 12 for left in result.cell("nG@1", 4).topics_left), "a topic should be lost"
    assert 0 < result.n_orphans < result.n_judgments


@pytest.mark.parametrize("left_out", [(), (0,), (1, 3), (0, 2, 3, 4)])
def test_scores_are_those_of_rewritten_judgments_to_the_last_bit(track, left_out):
    with pytest.warns(sr.SteadyrankWarning, match="lacks? judged topics"):
        pool = read_pool(track.runs, track.qrels, parse_measures(MEASURES), depth=DEPTH)
    names = {pool.teams[team] for team in left_out}
    runs = [run for run in track.runs if run.info["team"] not in names]
    found = score_runs(
        pool, kept_judgments(pool, left_out), np.flatnonzero(~np.isin(pool.team_of, left_out))
    )
    np.testing.assert_array_equal(found, plain_scores(track, names, runs))


def test_pool_bias_is_that_of_dictionaries_and_sets(track):
    result = study(track, measures=MEASURES, n_trials=2)
    full = plain_scores(track, set(), track.runs)
    rows = {(row.measure, row.run): row for row in result.bias}
    assert len(rows) == len(MEASURES) * len(track.runs)
    lost = 0.0
    for r, run in enumerate(track.runs):
        team = run.info["team"]
        without = plain_scores(track, {team}, [run])
        everything, rest = plain_reduced(track, set()), plain_reduced(track, {team})
        unique = [grade for t in rest for doc, grade in everything[t].items() if doc not in rest[t]]
        for m, measure in enumerate(MEASURES):
            row = rows[measure, run.name]
            assert row.team == team
            assert row.score == pytest.approx(statistics.fmean(full[m][r]), rel=1e-12)
            assert row.score_without == pytest.approx(statistics.fmean(without[m][0]), rel=1e-12)
            assert row.change == row.score_without - row.score
            assert (row.unique, row.unique_relevant) == (len(unique), sum(g > 0 for g in unique))
        lost += rows["P@5", run.name].change
    assert lost < 0.0
    assert result.n_unique == sum({row.team: row.unique for row in result.bias}.values())


def test_contributors_are_those_that_the_simulation_drew():
    made = sr.simulated_track(n_teams=70, runs_per_team=1, n_topics=3, depth=12, pool_depth=5)
    pool = read_pool(made.runs, made.qrels, parse_measures("AP"), depth=5)
    assert pool.contributors.shape == (len(made.teams), len(made.qrels))
    rng = np.random.default_rng(0)
    for k in (1, 20, 69):
        left_out = rng.choice(70, k, replace=False)
        remaining = np.setdiff1d(np.arange(70), left_out)
        expected = made.contributors[:, remaining].any(axis=1)
        np.testing.assert_array_equal(kept_judgments(pool, left_out.tolist()), expected)


def test_no_teams_left_out_is_what_plan_says():
    made = sr.simulated_track(n_teams=4, runs_per_team=2, n_topics=25, depth=50, pool_depth=20)
    asked = {"minimum_difference": 0.1, "systems": 5}
    result = sr.pools(made.runs, made.qrels, measures=["AP", "RR"], pool_depth=20, **asked)
    plan = sr.plan(sr.evaluate(made.runs, made.qrels, ["AP", "RR"]), **asked)
    for planned, reference in zip(plan.plans, result.references, strict=True):
        best = result.cell(planned.measure, 0)
        assert best.variances == (planned.variance,)
        assert best.mean == reference.variance == planned.variance
        assert best.interval is None
        assert best.topics_needed == reference.topics_needed == planned.topics
        assert reference.variance_interval == planned.pilot.variance_interval
        assert reference.n_topics == 25


def judged_track(rankings, judgments):
    """Runs of one topic-by-documents table each: {(team, run): {topic: [documents]}}."""
    runs = [
        replace(
            sr.run_from_dict(
                {t: {d: -float(i) for i, d in enumerate(ds)} for t, ds in topics.items()}, name=run
            ),
            info={"team": team},
        )
        for (team, run), topics in rankings.items()
    ]
    return runs, sr.qrels_from_dict(judgments)


def test_a_team_without_unique_documents_takes_nothing_away():
    same = {"1": ["a", "b", "c"], "2": ["a", "x", "b"], "3": ["x", "y", "a"]}
    rankings = {
        ("A", "a1"): same,
        ("B", "b1"): same,
        ("C", "c1"): {"1": ["b", "z", "a"], "2": ["y", "a", "b"], "3": ["a", "z", "x"]},
    }
    runs, qrels = judged_track(rankings, {t: {"a": 1, "b": 2, "x": 0} for t in "123"})
    result = sr.pools(runs, qrels, measures="AP", pool_depth=3, ks=[1])
    bias = {row.run: row for row in result.bias}
    assert bias["a1"].unique == bias["b1"].unique == 0
    assert bias["a1"].change == bias["b1"].change == 0.0
    full = sr.evaluate(runs, qrels, "AP").matrix()
    # Sets of one team in order: without A, without B.
    for b, rest in ((0, [1, 2]), (1, [0, 2])):
        expected = sum(np.var(full[rest], axis=1, ddof=1)) / 2
        assert result.cell("AP", 1).variances[b] == pytest.approx(expected, rel=1e-12)


def test_judgments_that_nobody_contributed_stay():
    rankings = {
        ("A", "a1"): {"1": ["own", "deep"], "2": ["own", "deep"]},
        ("B", "b1"): {"1": ["other", "deep"], "2": ["deep", "other"]},
    }
    runs, qrels = judged_track(rankings, {t: {"own": 1, "deep": 1, "never": 1} for t in "12"})
    pool = read_pool(runs, qrels, parse_measures("AP"), depth=1)
    kept = dict(
        zip(qrels.documents.to_list(3, 6), kept_judgments(pool, [0])[3:].tolist(), strict=True)
    )
    assert kept == {"own": False, "deep": True, "never": True}
    # In topic 1 nobody has "deep" at rank 1; in topic 2 only B has it.
    assert kept_judgments(pool, [1]).tolist() == [True, True, True, True, False, True]


def test_the_largest_grade_stays_though_its_documents_go():
    """Without team A no grade 3 is left, and ERR still divides by 2^3."""
    rankings = {
        ("A", "a1"): {t: ["best", "good"] for t in "123"},
        ("B", "b1"): {"1": ["good", "x"], "2": ["x", "good"], "3": ["x", "y"]},
    }
    runs, qrels = judged_track(rankings, {t: {"best": 3, "good": 1} for t in "123"})
    result = sr.pools(runs, qrels, measures="ERR", pool_depth=1, ks=[1])
    cell = result.cell("ERR", 1)
    assert cell.variances[0] == pytest.approx(np.var([1 / 8, 1 / 16], ddof=1))
    assert cell.topics_left == (2, 3), "topic 3 is lost with A, and A's grade 3 stays without B"


def test_what_is_left_of_hopeless_trials():
    """Team B alone scores on no topic: there is no variance, and the others stand."""
    rankings = {
        ("A", "a1"): {"1": ["a", "b"], "2": ["x", "a"], "3": ["x", "y"]},
        ("B", "b1"): {t: ["x", "y"] for t in "123"},
        ("C", "c1"): {"1": ["x", "a"], "2": ["a", "x"], "3": ["a"]},
    }
    runs, qrels = judged_track(rankings, {t: {"a": 1, "x": 0, "y": 0} for t in "123"})
    result = sr.pools(
        runs, qrels, measures="AP", pool_depth=2, ks=[2], minimum_difference=0.2, systems=3
    )
    cell = result.cell("AP", 2)
    assert [math.isnan(v) for v in cell.variances] == [False, True, False]
    assert cell.topics_left == (3, 0, 2)
    assert cell.mean == pytest.approx(np.mean([cell.variances[0], cell.variances[2]]))
    assert cell.variances[0] == pytest.approx(np.var([0.5, 1.0, 1.0], ddof=1)), "one run, m' = 1"
    assert cell.topics_each[1] is None
    assert cell.topics_needed == check_demands(minimum_difference=0.2, systems=3).topics(cell.mean)
    assert all(math.isnan(v) for v in cell.paired_variances), "one run has no pairs"
    shown = json.loads(VIEW.text(result, "json"))
    assert shown["leave_out"][1]["variances"][1] is None
    assert "–" not in VIEW.text(result, "csv")


def test_missing_topics_may_be_left_out_of_the_variance(track):
    result = study(track, measures=["AP"], missing="skip", ks=[1], n_trials=5)
    for b, trial in enumerate(t for t in result.drawn if t.k == 1):
        left_out = {result.teams[team] for team in trial.left_out}
        runs = [run for run in track.runs if run.info["team"] not in left_out]
        (matrix,) = plain_scores(track, left_out, runs, ["AP"], missing="skip")
        kept = np.array(matrix)[
            :, [any(x > 0 for x in column) for column in zip(*matrix, strict=True)]
        ]
        squares = np.nansum((kept - np.nanmean(kept, axis=1, keepdims=True)) ** 2)
        df = (~np.isnan(kept)).sum() - len(kept)
        assert result.cell("AP", 1).variances[b] == pytest.approx(squares / df, rel=1e-12)


# Intervals, percentiles, topics


def test_the_golden_interval_over_trials():
    case = golden("leave_k_out_ci")
    mean, interval = mean_and_interval(case["inputs"]["variances"])
    assert mean == pytest.approx(case["expected"]["mean"], abs=case["tolerance"])
    assert interval == pytest.approx(case["expected"]["ci"], abs=case["tolerance"])


def test_intervals_leave_out_what_is_not_there():
    values = [0.1, math.nan, 0.3, 0.2]
    mean, interval = mean_and_interval(values, confidence=0.9)
    known = [0.1, 0.3, 0.2]
    expected = stats.t.interval(0.9, 2, np.mean(known), stats.sem(known))
    assert (mean, *interval) == pytest.approx((0.2, *expected))
    assert mean_and_interval([0.1, math.nan]) == (0.1, None)
    mean, interval = mean_and_interval([math.nan])
    assert math.isnan(mean)
    assert interval is None


def said(result):
    """The findings by id, each of which stands there once, and briefly."""
    found = VIEW.findings(result)
    assert len({finding.id for finding in found}) == len(found)
    assert max(len(finding.text) for finding in found) <= 120
    return {finding.id: finding for finding in found}


def test_sound_trials_have_ranges_and_no_intervals(track):
    """Sets of the same teams overlap, or are all there are: no sample to infer from."""
    asked = {"minimum_difference": 0.15, "systems": 10}
    result = study(track, measures=["AP", "RR"], pilot_topics=[12, 5], **asked)
    assert result.mode == "sound"
    for cell in result.leave_out:
        assert cell.interval is cell.topics_interval is None
        if len(cell.variances) > 1:
            assert cell.extent == (min(cell.variances), max(cell.variances))
            assert cell.topics_extent == (min(cell.topics_each), max(cell.topics_each))
            assert cell.topics_extent[0] <= cell.topics_needed <= cell.topics_extent[1]
        else:
            assert cell.extent is cell.topics_extent is None
    assert all(reference.first_miss == {} for reference in result.references)
    found = said(result)
    assert list(found)[:4] == ["pools.owed", "pools.unique", "pools.variance", "pools.range"]
    owed = [row for row in result.bias if row.measure == "AP"]
    worst = min(owed, key=lambda row: row.change)
    assert found["pools.owed"].values["run"] == worst.run
    assert f"a run loses at most {-worst.change:.4f} AP ({worst.run}" in found["pools.owed"].text
    ranges = [result.cell("AP", k).extent for k in (1, 4)]
    assert found["pools.range"].values == {"measure": "AP", "k": [1, 4], "ranges": ranges}
    reference = result.references[0]
    values = found["pools.variance"].values
    assert (values["measure"], values["variance"]) == ("AP", reference.variance)
    assert values["topics_needed"] == reference.topics_needed
    assert found["pools.unique"].values == VIEW.json(result)["judgments"]
    paper = study(track, measures=["AP", "RR"], pilot_topics=[12, 5], mode="paper", **asked)
    assert [cell.variances for cell in paper.leave_out] == [
        cell.variances for cell in result.leave_out
    ]
    first = paper.references[0].first_miss[12]
    assert said(paper)["pools.first_miss"].values == {"measure": "AP", "k": first, "n_teams": 5}
    with pytest.raises(sr.UnknownNameError, match="unknown mode 'papers'"):
        study(track, mode="papers")


def test_paired_designs_take_the_paired_variance_as_plan_does():
    made = sr.simulated_track(n_teams=4, runs_per_team=2, n_topics=25, depth=50, pool_depth=20)
    asked = {"minimum_difference": 0.1, "method": "ttest"}
    result = study(made, measures=["AP"], ks=[1], **asked)
    scores = sr.evaluate(made.runs, made.qrels, ["AP"])
    (planned,) = sr.plan(scores, formula="exact", **asked).plans
    (reference,) = result.references
    best = result.cell("AP", 0)
    assert best.paired_variances == pytest.approx((planned.pilot.residual_variance,), rel=1e-12)
    assert best.topics_needed == reference.topics_needed == planned.topics
    assert reference.topics_interval == planned.topics_interval
    demands = check_demands(**asked)
    for trial in (trial for trial in result.drawn if trial.k == 1):
        (team,) = trial.left_out
        rest = [run for run in made.runs if run.info["team"] != result.teams[team]]
        matrix = np.array(plain_scores(made, {result.teams[team]}, rest, ["AP"])[0])
        matrix = matrix[:, (matrix != 0).any(axis=0)]
        pairs = itertools.combinations(matrix, 2)
        paired = np.mean([np.var(a - b, ddof=1) for a, b in pairs]) / 2
        assert result.cell("AP", 1).paired_variances[team] == pytest.approx(paired, rel=1e-9)
        assert result.cell("AP", 1).topics_each[team] == demands.topics(paired)


def test_quantiles_and_intervals_are_of_the_variances(track):
    result = study(track, measures=["AP", "RR"], confidence=0.8, pilot_topics=[12, 5], mode="paper")
    for cell in result.leave_out:
        values = list(cell.variances)
        assert cell.mean == pytest.approx(np.mean(values))
        assert cell.quantiles["0.5"] == pytest.approx(np.median(values))
        assert cell.quantiles["0.975"] == pytest.approx(np.quantile(values, 0.975))
        if len(values) > 1:
            expected = stats.t.interval(0.8, len(values) - 1, np.mean(values), stats.sem(values))
            assert cell.interval == pytest.approx(expected)
    for reference in result.references:
        for size, first in reference.first_miss.items():
            beside = [
                k
                for k in result.ks
                for low, high in [result.cell(reference.measure, k, size).interval]
                if not low <= reference.variance <= high
            ]
            assert first == min(beside, default=None)
    assert any(k for reference in result.references for k in reference.first_miss.values())


@pytest.mark.parametrize(
    "asked",
    [
        {"minimum_difference": 0.1, "systems": 10},
        {"minimum_difference": 0.15, "systems": 10, "formula": "nagata"},
        {"minimum_difference": 0.1, "method": "ttest", "paired": False},
        {"width": 0.1, "method": "interval"},
    ],
)
def test_topics_of_many_variances_are_those_of_each(asked):
    demands = check_demands(**asked)
    rng = np.random.default_rng(1)
    variances = [*rng.uniform(0.03, 0.04, 40).tolist(), 0.2, 0.2, 1e-9]
    assert topics_for_all(demands, variances) == [demands.topics(v) for v in variances]
    assert topics_for_all(demands, [math.nan, 0.0, -1.0]) == [None, None, None]
    assert topics_for_all(demands, []) == []
    assert topics_for_all(None, variances) == [None] * len(variances)


def test_the_papers_third_table_has_its_topics(track):
    asked = {"minimum_difference": 0.15, "systems": 10, "formula": "nagata"}
    result = study(track, measures=["AP"], pilot_topics=[12, 6], mode="paper", **asked)
    demands = check_demands(**asked)
    for cell in result.leave_out:
        assert cell.topics_needed == demands.topics(cell.mean)
        assert list(cell.topics_each) == [demands.topics(v) for v in cell.variances]
        if cell.interval:
            ends = [demands.topics(end) if end > 0 else None for end in cell.interval]
            assert list(cell.topics_interval) == ends
    assert all(cell.topics_needed is None for cell in study(track).leave_out)


# What is drawn


def test_sets_of_teams_are_all_there_are_or_different_ones():
    for n_teams, k, trials in ((4, 2, 6), (4, 3, 10), (5, 1, 5)):
        found = team_subsets(n_teams, k, trials, seed=0)
        assert found == list(itertools.combinations(range(n_teams), k))
    found = team_subsets(16, 15, 10, seed=0)
    assert len(set(found)) == 10
    assert all(len(set(teams)) == 15 and max(teams) < 16 for teams in found)
    assert team_subsets(16, 15, 14, seed=0)[:10] == found
    assert team_subsets(16, 15, 10, seed=1) != found


def test_every_team_is_left_out_alike():
    """Each team's count is binomial(4000, 3/10): all ten within 4 sd, false alarm below 0.001."""
    counts = np.zeros(10)
    for seed in range(40):
        for teams in team_subsets(10, 3, 100, seed=seed):
            counts[list(teams)] += 1
    assert np.abs(counts - 1200).max() < 4 * math.sqrt(4000 * 0.3 * 0.7)


def test_pilot_topics_are_nested_and_alive():
    rng = np.random.default_rng(0)
    for _ in range(50):
        matrix = rng.random((3, 20)) * (rng.random((3, 20)) < 0.4)
        matrix[0, 0] = np.nan
        sizes = [20, 12, 5, 2]
        found = pilot_subsets(matrix, rng.permutation(20), sizes)
        alive = set(np.flatnonzero(np.nansum(matrix, axis=0) > 0).tolist())
        assert set(found[0].tolist()) == alive
        for size, larger, smaller in zip(sizes[1:], found, found[1:], strict=False):
            assert set(smaller.tolist()) <= set(larger.tolist())
            assert len(smaller) == min(size, len(alive))


def test_the_same_seed_gives_the_same_bytes(track):
    options = {
        "measures": ["AP", "Twist"],
        "n_trials": 6,
        "pilot_topics": [12, 6],
        "minimum_difference": 0.2,
        "systems": 4,
    }
    first = VIEW.text(study(track, rng=7, jobs=1, **options), "json")
    assert VIEW.text(study(track, rng=7, jobs=3, **options), "json") == first
    with ProcessPoolExecutor(1) as elsewhere:
        assert VIEW.text(study(track, rng=7, executor=elsewhere, **options), "json") == first
    assert VIEW.text(study(track, rng=8, jobs=1, **options), "json") != first


def test_other_questions_leave_a_trial_as_it_is(track):
    few = study(track, measures=["AP"], n_trials=3, ks=[2], pilot_topics=[6])
    more = study(track, measures=["RR", "AP"], n_trials=8, ks=[1, 2], pilot_topics=[12, 6])
    assert more.cell("AP", 2, 6).variances[:3] == few.cell("AP", 2, 6).variances
    assert more.cell("AP", 0, 6).variances[:3] == few.cell("AP", 0, 6).variances


# Results


def test_the_result_prints_and_becomes_a_frame(track):
    result = study(track, measures=["AP", "RR"], pilot_topics=[12, 6])
    assert repr(result) == f"<PoolsResult: {result.caption()}>"
    frame = result.to_frame()
    assert len(frame) == 2 * 2 * 5
    assert VIEW.json(result)["teams_left_out"][0] == {"k": 1, "teams": ["team1"]}
    with pytest.raises(sr.UnknownNameError, match="did you mean 'AP'"):
        result.cell("Ap", 1)
    with pytest.raises(sr.InputError, match="no estimate of k = 9 with 12 pilot topics"):
        result.cell("AP", 9)


def test_figures_have_a_panel_a_measure_and_a_line_a_pilot(track):
    result = study(track, measures=["AP", "RR", "P@5", "nDCG@10"], pilot_topics=[12, 6])
    panels = [ax for ax in sr.plot(result).axes if ax.axison]
    assert len(panels) == 4
    for ax, measure in zip(panels, result.measures, strict=True):
        assert ax.get_ylabel() == f"variance of {measure}"
        assert len(ax.containers) == 2
        for size, line in zip(result.pilot_topics, ax.containers, strict=True):
            cells = [result.cell(measure, k, size) for k in (0, *result.ks)]
            assert line.lines[0].get_ydata().tolist() == [cell.mean for cell in cells]
            ends = np.array(line.lines[2][0].get_segments())[1:, :, 1]
            np.testing.assert_allclose(ends, [cell.extent for cell in cells[1:]])
    paper = study(track, measures=["RR"], mode="paper")
    (line,) = sr.plot(paper).axes[0].containers
    ends = np.array(line.lines[2][0].get_segments())[1:, :, 1]
    np.testing.assert_allclose(ends, [paper.cell("RR", k).interval for k in paper.ks])
    with pytest.raises(sr.UnknownNameError, match="unknown measure"):
        sr.plot(result, measure="R")


# Refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ks": [5]}, "at most 4 of 5 teams can be left out, got 5"),
        ({"ks": [1, 1]}, "ks: name at least one, and none twice"),
        ({"pool_depth": 1.5}, "pool_depth must be a whole number of at least 1, got 1.5"),
        ({"n_trials": 0}, "n_trials must be whole numbers of at least 1, got 0"),
        (
            {"pilot_topics": [13]},
            "at most 12 pilot topics are possible, the topics of the qrels, got 13",
        ),
        ({"pilot_topics": [1]}, "pilot_topics must be whole numbers of at least 2"),
        ({"minimum_difference": 0.1}, "specify the number of systems"),
        ({"missing": "error"}, "1 run lacks judged topics"),
        ({"missing": "nil"}, "unknown way to treat missing topics"),
        ({"team_from": "^team"}, "has no group"),
        ({"team_from": "^(team)"}, "all runs are of one team, 'team'"),
    ],
)
def test_what_cannot_be_is_refused(track, options, message):
    with pytest.raises(sr.InputError, match=message.replace("^", "\\^").replace("(", "\\(")):
        study(track, **options)


def test_teams_must_be_known(track):
    nameless = [replace(run, info={}) for run in track.runs]
    with pytest.raises(sr.InputError, match="no run has a team: give run information"):
        study(replace(track, runs=nameless))
    by_name = study(replace(track, runs=nameless), team_from="^([^-]+)-")
    assert by_name.teams == track.teams
    assert VIEW.json(by_name) == VIEW.json(study(track))
    some = [*track.runs[:8], *nameless[8:]]
    with (
        pytest.warns(sr.SteadyrankWarning, match="lacks? judged topics"),
        pytest.warns(sr.SteadyrankWarning, match="2 runs have no team, such as 'team5-s1'"),
    ):
        result = sr.pools(some, track.qrels, pool_depth=DEPTH, ks=[1])
    assert result.teams == (*track.teams[:4], "team5-s1", "team5-s2")


def test_a_pool_depth_that_does_not_fit_is_told():
    made = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=8, depth=60, pool_depth=20)
    with pytest.warns(sr.SteadyrankWarning, match="of the judged documents are not in the top 2"):
        sr.pools(made.runs, made.qrels, pool_depth=2, ks=[1])
    with pytest.warns(sr.SteadyrankWarning, match="documents within the top 60 are unjudged"):
        sr.pools(made.runs, made.qrels, pool_depth=60, ks=[1])


@pytest.mark.filterwarnings("ignore:2 runs")
def test_a_measure_without_variance_is_refused():
    rankings = {(team, team): {t: ["a"] for t in "12"} for team in "AB"}
    runs, qrels = judged_track(rankings, {t: {"a": 1} for t in "12"})
    with pytest.raises(sr.InputError, match="RR: the variance is 0"):
        sr.pools(runs, qrels, measures="RR")
    with pytest.raises(sr.InputError, match="requires at least two topics; the qrels have one"):
        sr.pools(runs, sr.qrels_from_dict({"1": {"a": 1}}), measures="RR")
    with pytest.raises(sr.InputError, match="no run has any topic of the qrels"):
        sr.pools(runs, sr.qrels_from_dict({"7": {"a": 1}, "8": {"a": 1}}))
    with pytest.raises(sr.InputError, match="the qrels hold no judgments"):
        sr.pools(runs, sr.qrels_from_dict({}))
