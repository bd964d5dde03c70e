"""The verdicts of a gate: when it passes, fails, cannot tell, and what it rests on."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import steadyrank as sr
from steadyrank.measures.holes.lists import FAMILIES
from steadyrank.stats.pairs.topic_design import mean_difference
from steadyrank.studies.gate.view import VIEW

pytestmark = pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")


def scores_of(values, name="run", measure="AP", **info):
    topics = [f"t{i}" for i in range(len(values))]
    made = sr.Scores(measures=[measure], runs=[name], topics=topics, values=[[values]])
    return made.with_topic_info(**info)


def pair(differences, **info):
    base = np.random.default_rng(9).uniform(0.3, 0.6, len(differences))
    return scores_of(base, "old", **info), scores_of(base + differences, "new", **info)


def spread(n, mean=0.0, sd=0.1):
    """Symmetric differences with this mean: no skewness, no chance."""
    half = stats.norm.ppf((np.arange(1, n // 2 + 1) - 0.5) / n)
    return sd * np.concatenate([half, -half]) + mean


def judged(*, verdict, **options):
    result = sr.gate(*pair(options.pop("differences"), **options.pop("info", {})), **options)
    assert result.verdict == verdict
    return result


COMMON = {"measures": "AP", "margin": 0.02}


def test_pass_fail_and_cannot_tell():
    passed = judged(verdict="pass", differences=spread(400), **COMMON)
    failed = judged(verdict="fail", differences=spread(400, -0.04), **COMMON)
    unclear = judged(verdict="cannot tell", differences=spread(50), **COMMON)
    assert [r.exit_code() for r in (passed, failed, unclear)] == [0, 3, 4]
    assert [r.exit_code("pass") for r in (passed, failed, unclear)] == [0, 3, 0]
    assert [r.passed for r in (passed, failed, unclear)] == [True, False, False]
    assert [r.exit_code("fail") for r in (passed, failed, unclear)] == [0, 3, 3]
    (row,) = passed.measures
    assert row.candidate - row.baseline == pytest.approx(row.difference)
    assert (row.method, row.design_effect, row.effective_topics) == ("t", 1.0, pytest.approx(400))


def test_limits_are_nearly_students_where_nothing_is_skewed():
    d = spread(100, 0.003)
    (row,) = sr.gate(*pair(d), **COMMON).measures
    expected = stats.ttest_1samp(d, 0).confidence_interval(0.9)
    assert row.interval == pytest.approx((expected.low, expected.high), rel=0.04)
    assert row.interval.low < expected.low < expected.high < row.interval.high
    p = stats.ttest_1samp(d, -0.02, alternative="greater").pvalue
    assert p < row.pvalue_pass < 1.3 * p
    p = stats.ttest_1samp(d, 0.0, alternative="less").pvalue
    assert p <= row.pvalue_fail < 1.2 * p


def test_a_significant_loss_within_the_margin_passes():
    row = judged(verdict="pass", differences=spread(400, -0.005, 0.02), **COMMON).measures[0]
    assert row.pvalue_fail < 0.001


def test_a_loss_beyond_the_margin_that_may_be_chance_is_open():
    row = judged(verdict="cannot tell", differences=spread(30, -0.03, 0.2), **COMMON).measures[0]
    assert row.topics_needed > 30


def test_identical_runs_pass_even_without_a_margin():
    result = judged(verdict="pass", differences=np.zeros(20), measures="AP", margin=0)
    assert result.measures[0].interval == (0.0, 0.0)
    judged(verdict="cannot tell", differences=spread(20), measures="AP", margin=0)


def test_a_constant_change_is_as_certain_as_the_topics_that_show_it(tmp_path):
    """The limits allow for the share of topics that 20 or 400 do not show."""
    for n, verdicts in ((20, ("cannot tell", "cannot tell")), (400, ("fail", "pass"))):
        for loss, verdict in zip((0.03, 0.001), verdicts, strict=True):
            old, new = pair(np.full(n, -loss))
            (row,) = (result := sr.gate(old, new, **COMMON)).measures
            assert result.verdict == verdict
            unseen, reach = 1 - 0.05 ** (1 / n), old.values.max()
            assert result.rare_breakage == pytest.approx(unseen)
            limits = [(1 - unseen) * -loss + unseen * end for end in (-reach, reach)]
            assert row.interval == pytest.approx(limits)
            kept = sr.gate(old, new, history=tmp_path / f"{n}-{loss}", **COMMON).history
            unseen = 1 - (0.05 * 6 / math.pi**2) ** (1 / n)  # the first night's share of alpha
            spent = [(1 - unseen) * -loss + unseen * end for end in (-reach, reach)]
            assert kept.gates[0]["measures"][0]["total_interval"] == pytest.approx(spent)
            if verdict == "cannot tell":
                more = sr.gate(*pair(np.full(row.topics_needed + 5, -loss)), **COMMON)
                fewer = sr.gate(*pair(np.full(row.topics_needed - 5, -loss)), **COMMON)
                assert more.verdict in ("pass", "fail")
                assert fewer.verdict == "cannot tell"


@pytest.mark.parametrize("n", [0, 1, 9, 10])
def test_fewer_than_ten_topics_are_refused(n):
    old, new = pair(spread(12, 0.5, 0.01))
    gaps = np.where(np.arange(12) < n, new.values[0, 0], np.nan)
    options = {"missing": "skip", **COMMON}
    if n == 10:
        assert sr.gate(old, scores_of(gaps, "new"), **options).verdict == "pass"
        return
    with pytest.raises(sr.InputError, match=f"AP: both have scores on {n} topics?, and a gate req"):
        sr.gate(old, scores_of(gaps, "new"), **options)


def test_one_cluster_cannot_tell():
    info = {"cluster": np.zeros(12)}
    result = judged(verdict="cannot tell", differences=spread(12), info=info, **COMMON)
    assert "too few topics for a verdict" in said(result)["gate.verdict"].text
    assert "gate.topics" not in said(result)
    assert result.measures[0].topics_needed is None
    assert result.rare_breakage == pytest.approx(0.95), "as of a single topic"


def said(result):
    """What was found, by ids."""
    return {finding.id: finding for finding in VIEW.findings(result)}


def test_a_fail_says_what_was_tested():
    """Being worse at all; more than the margin is an estimate unless the upper limit is beyond."""
    estimated = "worse; a loss beyond 0.02 is estimated, not shown."
    beyond = "worse, by more than the margin of 0.02."
    for loss, words in ((0.025, estimated), (0.04, beyond)):
        (verdict,) = said(sr.gate(*pair(spread(400, -loss)), **COMMON)).values()
        assert verdict.text.startswith(f"FAIL: AP −{loss:.4f} (95% limits −")
        assert verdict.text.endswith(f": {words}")
        assert verdict.values["difference"] == pytest.approx(-loss)


def test_limits_are_named_with_their_level():
    plain = str(sr.gate(*pair(spread(50)), alpha=0.005, **COMMON))
    assert "AP +0.0000 (99.5% limits −" in plain
    assert plain.count("99.5% limits") == 2, "the column as well"
    kind = np.repeat(["head", "tail"], 40)
    old, new = pair(np.where(kind == "tail", -0.2, 0.3), kind=kind)
    failed = str(sr.gate(old, new, alpha=0.005, by="kind", **COMMON))
    assert "AP, tail −0.2000 (simultaneous 99.5% limits −" in failed


@pytest.mark.parametrize(
    ("mean", "verdict"), [(0.01, "pass"), (-0.035, "fail"), (-0.012, "cannot tell")]
)
def test_a_topic_far_outside_the_others_is_named_whatever_the_verdict(mean, verdict):
    d = spread(300, mean, 0.05)
    d[7] = -0.6
    old, new = scores_of(np.full(300, 0.7), "old"), scores_of(0.7 + d, "new")
    result = sr.gate(old, new, **COMMON)
    assert result.verdict == verdict
    assert said(result)["gate.outlier"].text == "Topic t7 lost 0.60 AP, far more than any other."
    assert result.measures[0].outlier.topic == "t7"
    d[8] = -0.4  # another one is as far outside
    assert "gate.outlier" not in said(sr.gate(old, scores_of(0.7 + d, "new"), **COMMON))
    assert "gate.outlier" not in said(sr.gate(*pair(spread(300, mean, 0.05)), **COMMON))


def test_what_may_be_broken_unseen_is_stated_below_300_topics():
    told = [said(sr.gate(*pair(spread(n)), **COMMON)) for n in (50, 298, 300)]
    words = (
        "Even if none of these topics is broken, up to 5.8% of all topics could be (alpha 0.05)."
    )
    assert told[0]["gate.breakage"].text == words
    assert ["gate.breakage" in found for found in told] == [True, True, False]
    clustered = sr.gate(*pair(spread(400), cluster=np.arange(400) // 8), **COMMON)
    assert clustered.rare_breakage == pytest.approx(1 - 0.05 ** (1 / 50))
    assert said(clustered)["gate.breakage"].text == words
    assert words in str(clustered)


def test_guarding_against_breakage_adds_a_topic():
    """The lower limit is Student's of the topics and one that fell from the highest score to 0."""
    d = spread(400, 0.0, 0.05)
    old, new = pair(d)
    plain, guarded = (sr.gate(old, new, guard_breakage=on, **COMMON) for on in (False, True))
    highest = max(old.values.max(), new.values.max())
    expected = stats.ttest_1samp(np.append(d, -highest), 0).confidence_interval(0.9).low
    low, high = guarded.measures[0].interval
    assert low == pytest.approx(expected, rel=0.02)
    assert low < expected < plain.measures[0].interval.low
    assert high == plain.measures[0].interval.high
    assert guarded.measures[0].pvalue_fail == plain.measures[0].pvalue_fail
    assert guarded.rare_breakage == plain.rare_breakage
    assert (plain.verdict, guarded.verdict) == ("pass", "pass")
    same = sr.gate(old, scores_of(old.values[0, 0], "same"), guard_breakage=True, **COMMON)
    assert same.measures[0].interval.low < 0.0, "a copy may break what is not here"
    few = sr.gate(*pair(spread(50, 0.0, 0.01)), guard_breakage=True, **COMMON)
    assert few.verdict == "cannot tell"
    assert said(few)["gate.breakage"].values["guarded"]


def test_the_added_topic_is_a_cluster_of_mean_weight():
    d = spread(60, 0.0, 0.05)
    clusters, weights = np.arange(60) // 2, np.repeat([1.0, 3.0], 30)
    info = {"cluster": clusters, "weight": weights}
    (row,) = sr.gate(*pair(d, **info), guard_breakage=True, **COMMON).measures
    old, new = pair(d)
    lowest = -max(old.values.max(), new.values.max())
    fit = mean_difference(
        np.append(d, lowest), clusters=np.append(clusters, 99), weights=np.append(weights, 2.0)
    )
    skewness = mean_difference(d, clusters=clusters, weights=weights).skewness
    assert row.interval.low == pytest.approx(replace(fit, skewness=skewness).interval(0.05).low)


def broken(rng, n, share):
    """Scores of a baseline, and of a change that ruins this share of all topics."""
    base = rng.beta(2, 2, n)
    after = np.clip(base + rng.normal(0, 0.02, n), 0, 1)
    return scores_of(base, "old"), scores_of(np.where(rng.random(n) < share, 0.0, after), "new")


@pytest.mark.slow
def test_rare_breakage_seldom_passes_a_guarded_gate():
    """3% of the topics are ruined, a loss of .015: half again the margin.

    Without the guard a gate passes if none is among the topics, .97^50 = .22 of the time at least.
    With it .05 may pass; bands of a false alarm in 10,000.
    """
    rng, n_trials, options = np.random.default_rng(3), 400, {"measures": "AP", "margin": 0.01}
    pairs = [broken(rng, 50, 0.03) for _ in range(n_trials)]
    plain, guarded = (
        sum(sr.gate(*sides, guard_breakage=on, **options).verdict == "pass" for sides in pairs)
        for on in (False, True)
    )
    assert stats.binom(n_trials, 0.97**50).cdf(plain) > 1e-4
    assert stats.binom(n_trials, 0.05).sf(guarded - 1) > 1e-4
    # A harmless change passes with as many topics as the gate says.
    needed = sr.gate(*broken(rng, 50, 0.0), guard_breakage=True, **options).measures[0]
    harmless = [broken(rng, needed.topics_needed, 0.0) for _ in range(100)]
    passed = sum(
        sr.gate(*sides, guard_breakage=True, **options).verdict == "pass" for sides in harmless
    )
    assert passed >= 70


def test_topics_needed_settle_it():
    """With so many topics of the same spread, an equal candidate passes in 80% of the cases."""
    row = judged(verdict="cannot tell", differences=spread(50, 0.001), **COMMON).measures[0]
    rng = np.random.default_rng(1)
    sd = spread(50).std(ddof=1)
    d = rng.normal(0.0, sd, (20_000, row.topics_needed))
    low = stats.ttest_1samp(d, 0, axis=1).confidence_interval(0.9).low
    assert (low > -0.02).mean() == pytest.approx(0.8, abs=0.012)  # 4 standard errors


def test_every_measure_must_pass():
    good, bad = spread(400), spread(400, -0.05)
    base = np.full(400, 0.5)
    both = [
        sr.Scores(
            measures=["AP", "P@5"],
            runs=[name],
            topics=range(400),
            values=np.stack([base + add * good, base + add * bad])[:, None],
        )
        for name, add in (("old", 0), ("new", 1))
    ]
    result = sr.gate(*both, measures={"AP": 0.02, "P@5": None}, margin=0.01)
    assert [(row.measure, row.margin, row.verdict) for row in result.measures] == [
        ("AP", 0.02, "pass"),
        ("P@5", 0.01, "fail"),
    ]
    assert result.verdict == "fail"
    assert "fails by Holm over two tests" in str(result)
    assert said(result)["gate.verdict"].values["measure"] == "P@5"
    wide = sr.gate(*both, measures={"AP": 0.02, "P@5": 0.2})
    assert wide.verdict == "pass"


def test_fails_on_several_measures_are_corrected():
    """p is below .03 by Student's law: alone it fails, with another measure at .5 it does not."""
    d = spread(40, 0.0, 0.1)
    d += stats.t.ppf(0.03, 39) * d.std(ddof=1) / math.sqrt(40)
    assert sr.gate(*pair(d), measures="AP", margin=0).verdict == "fail"
    base = np.full(40, 0.5)
    both = [
        sr.Scores(
            measures=["AP", "RR"],
            runs=[name],
            topics=range(40),
            values=np.stack([base + add * d, base + add * spread(40)])[:, None],
        )
        for name, add in (("old", 0), ("new", 1))
    ]
    result = sr.gate(*both, measures=["AP", "RR"], margin=0)
    assert result.verdict == "cannot tell"
    alone = sr.gate(*pair(d), measures="AP", margin=0).measures[0].pvalue_fail
    assert 0.03 < alone < 0.045
    assert result.measures[0].pvalue_fail == pytest.approx(2 * alone, rel=0.01)


def test_clusters_widen_the_limits():
    d = np.repeat(spread(80, 0.0, 0.05), 5)
    clusters = np.repeat(np.arange(80), 5)
    alone = judged(verdict="pass", differences=d, measures="AP", margin=0.006)
    result = judged(
        verdict="cannot tell",
        differences=d,
        info={"cluster": clusters},
        measures="AP",
        margin=0.006,
    )
    row = result.measures[0]
    assert (row.n_clusters, result.n_clusters, row.method) == (80, 80, "CR1")
    assert row.design_effect == pytest.approx(5, rel=0.02)
    widths = [r.measures[0].interval.high - r.measures[0].interval.low for r in (result, alone)]
    assert widths[0] / widths[1] == pytest.approx(math.sqrt(5), rel=0.05)


def test_weights_make_means_weighted():
    d = np.concatenate([np.full(30, 0.1), np.full(30, -0.1)]) + spread(60, 0.0, 0.01)
    weights = np.repeat([9, 1], 30)
    result = sr.gate(*pair(d, weight=weights), **COMMON)
    row = result.measures[0]
    assert result.is_weighted
    assert row.difference == pytest.approx(np.average(d, weights=weights))
    assert row.candidate - row.baseline == pytest.approx(row.difference)
    assert row.effective_topics == pytest.approx(300**2 / (30 * 81 + 30))


def test_a_segment_may_fail_the_candidate():
    d = np.concatenate([spread(360, 0.01, 0.05), spread(40, -0.1, 0.05)])
    kind = ["head"] * 360 + ["tail"] * 40
    assert sr.gate(*pair(d, kind=kind), **COMMON).verdict == "pass"
    result = sr.gate(*pair(d, kind=kind), by="kind", **COMMON)
    assert result.verdict == "fail"
    assert [(row.segment, row.verdict) for row in result.segments] == [
        ("head", "pass"),
        ("tail", "fail"),
    ]
    head = result.segments[0]
    expected = stats.ttest_1samp(d[:360], 0).confidence_interval(0.95)
    assert head.interval == pytest.approx((expected.low, expected.high), rel=0.015)


def test_a_segment_that_cannot_tell_holds_nothing_up():
    d = np.concatenate([spread(400, 0.0, 0.05), spread(4, 0.0, 0.3)])
    result = sr.gate(*pair(d, kind=["head"] * 400 + ["tail"] * 4), by="kind", **COMMON)
    assert [row.verdict for row in result.segments] == ["pass", "cannot tell"]
    assert result.verdict == "pass"


def test_order_of_topics_changes_no_number():
    old, new = pair(np.random.default_rng(0).normal(0, 0.1, 60), kind=np.arange(60) % 3)
    turned = new.select(topics=list(new.topics)[::-1])
    first = sr.gate(old, new, by="kind", **COMMON)
    assert sr.gate(old, turned, by="kind", **COMMON).rows() == first.rows()


QRELS = {str(t): {f"d{i}": int(i < 2) for i in range(6)} for t in range(60)}


def ranked(*documents):
    return {topic: {doc: 9.0 - i for i, doc in enumerate(documents)} for topic in QRELS}


def test_unjudged_documents_may_turn_the_verdict():
    baseline, candidate = ranked("d0", "d5"), ranked("new", "d5")
    result = sr.gate({"a": baseline}, {"b": candidate}, QRELS, measures="P@2", margin=0.1)
    row = result.measures[0]
    assert (result.verdict, result.exit_code(), row.verdict) == ("holes", 4, "holes")
    assert (row.difference, row.lowest, row.highest) == (-0.5, -0.5, 0.0)
    assert (row.bounds, row.n_unjudged, row.is_certain) == ("exact", 60, False)
    found = said(result)
    values = found["gate.verdict"].values
    assert (values["verdict"], values["lowest"], values["highest"]) == ("holes", -0.5, 0.0)
    assert found["gate.verdict"].text == (
        "HOLES: P@2 −0.5000, but between −0.5000 and +0.0000 once 60 unjudged documents are judged."
    )
    assert f"fail with 0%, {row.sweep[-1].verdict} with 97%" in found["gate.prior"].text
    assert found["gate.unjudged"].text.startswith("Judge first: new (topic ")
    assert len(row.judge_first) == 10
    assert {ask.document for ask in row.judge_first} == {"new"}


def test_no_option_makes_a_pass_of_a_candidate_that_is_worse():
    """Holes and cannot tell have an option each; of the other one nothing changes."""
    holes = sr.gate(
        {"a": ranked("d0", "d5")}, {"b": ranked("new", "d5")}, QRELS, measures="P@2", margin=0.1
    )
    assert holes.measures[0].pvalue_fail < 0.001
    assert [holes.exit_code(on_holes=way) for way in ("pass", "fail", "ask", None)] == [4, 3, 4, 4]
    assert holes.exit_code("pass") == holes.exit_code("fail") == 4
    better = sr.gate(
        {"a": ranked("new", "d5")}, {"b": ranked("d0", "d5")}, QRELS, measures="P@2", margin=0
    )
    assert better.verdict == "holes"
    assert [better.exit_code(on_holes=way) for way in ("pass", "fail", "ask")] == [0, 3, 4]
    assert not better.passed
    worse = judged(verdict="cannot tell", differences=spread(400, -0.019, 0.1), **COMMON)
    assert worse.measures[0].pvalue_fail < 0.01
    assert [worse.exit_code(way) for way in ("pass", "fail", None)] == [4, 3, 4]
    assert worse.exit_code(on_holes="pass") == 4


def test_each_open_verdict_needs_an_option_of_its_own():
    """One measure cannot tell, the other has holes."""
    holes = sr.gate(
        {"a": ranked("new", "d5")}, {"b": ranked("d0", "d5")}, QRELS, measures="P@2", margin=0
    )
    unclear = judged(verdict="cannot tell", differences=spread(50), **COMMON)
    both = replace(unclear, measures=(*unclear.measures, *holes.measures))
    assert both.exit_code("pass") == both.exit_code(on_holes="pass") == both.exit_code() == 4
    assert both.exit_code("pass", "pass") == 0
    assert both.exit_code("pass", "ask") == 4
    assert both.exit_code("fail", "pass") == both.exit_code("pass", "fail") == 3


@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "RR", "ERR", "Q", "RBP(p=0.8)"])
def test_a_copy_of_the_baseline_passes_whatever_the_grades(measure):
    documents = [f"u{i}" for i in range(12)] + ["d0", "d5"]
    both = ranked(*documents[::2], "d1", *documents[1::2])
    result = sr.gate({"a": both}, {"b": dict(both)}, QRELS, measures=measure, margin=0)
    row = result.measures[0]
    assert (result.verdict, row.lowest, row.highest, row.is_certain) == ("pass", 0.0, 0.0, True)
    assert row.unjudged == "bounded"
    text = said(result)["gate.verdict"].text
    assert text.endswith(
        f"is excluded, whatever the grades of {row.n_unjudged} unjudged documents."
    )


def deep_pair(rng, *, swapped, n_topics=60, depth=40):
    """A ranking, and the same with swapped neighbours; a third of the documents are judged."""
    qrels, old, new = {}, {}, {}
    for topic in range(n_topics):
        order = [f"d{i}" for i in range(depth)]
        chance = 1 / (1 + np.arange(depth)) ** 0.5
        seen = rng.random(depth) < 0.35
        grades = rng.random(depth) < chance
        qrels[str(topic)] = {d: int(g) for d, g, s in zip(order, grades, seen, strict=True) if s}
        qrels[str(topic)] |= {"known": 1}
        moved = list(order)
        for i in np.flatnonzero(rng.random(depth - 1) < swapped):
            moved[i], moved[i + 1] = moved[i + 1], moved[i]
        for side, documents in ((old, order), (new, moved)):
            side[str(topic)] = {doc: float(depth - i) for i, doc in enumerate(documents)}
    return qrels, old, new


def test_bounds_make_small_changes_certain_and_a_prior_decides_the_others():
    rng = np.random.default_rng(2)
    qrels, old, new = deep_pair(rng, swapped=0.05)
    small = sr.gate({"a": old}, {"b": new}, qrels, measures="AP", margin=0.05)
    assert (small.verdict, small.measures[0].is_certain) == ("pass", True)
    qrels, old, new = deep_pair(rng, swapped=0.6)
    large = sr.gate({"a": old}, {"b": new}, qrels, measures="AP", margin=0.05)
    row = large.measures[0]
    assert (large.verdict, row.is_certain, row.unjudged) == ("pass", False, "prior")
    assert [one.ratio for one in row.sweep] == [0.0, 0.1, 0.3, 1.0]
    shares = [one.share for one in row.sweep]
    assert shares == sorted(shares)
    assert row.sweep[0].difference == row.difference
    text = said(large)["gate.prior"].text
    n = f"{row.n_unjudged:,} unjudged documents"
    assert text == f"This holds if up to {shares[-1]:.0%} of the {n} are relevant."


def test_the_law_of_the_rank_gives_the_chances_that_judged_documents_have():
    """Chances of holes, against the shares of relevant documents that were drawn."""
    qrels, old, new = deep_pair(np.random.default_rng(4), swapped=0.6, n_topics=300)
    row = sr.gate({"a": old}, {"b": new}, qrels, measures="AP", margin=0.001).measures[0]
    chance = 1 / (1 + np.arange(40)) ** 0.5
    assert row.sweep[-1].share == pytest.approx(chance.mean(), abs=0.02)
    assert row.sweep[1].share == pytest.approx(0.1 * row.sweep[-1].share)


CUTOFFS = {"P": "P@5", "R": "R@5", "nG": "nG@1", "Success": "Success@3"}


@pytest.mark.parametrize("name", [*FAMILIES, "AP(rel=2)", "P(rel=2)@5", "Bpref"])
def test_every_measure_is_looked_at_by_its_own_bounds_and_grades(name):
    measure = CUTOFFS.get(name, name)
    qrels, old, new = deep_pair(np.random.default_rng(5), swapped=0.6, n_topics=30, depth=12)
    for topic, judged_there in qrels.items():
        judged_there["d3"] = int(topic) % 3  # a second grade
    margin = 1.5 if measure == "NumRelRet" else 0.01
    row = sr.gate({"a": old}, {"b": new}, qrels, measures=measure, margin=margin).measures[0]
    if measure in ("Bpref", "Judged"):  # grades of unjudged documents do not count
        assert (row.lowest, row.is_certain, row.sweep) == (None, None, ())
        return
    assert row.lowest <= row.difference <= row.highest
    # At the first rank of these lists every judged document is relevant: no law.
    assert row.is_certain or len(row.sweep) == (0 if name == "nG" else 4)
    assert all(0.0 <= one.share <= 1.0 for one in row.sweep)
    assert all(row.lowest <= one.difference <= row.highest for one in row.sweep)


def test_a_certain_verdict_is_that_of_every_completion():
    """Random completions, and the most extreme ones, of gates that are certain."""
    rng, n_certain = np.random.default_rng(6), 0
    for swapped in (0.05, 0.1, 0.2, 0.4):
        qrels, old, new = deep_pair(rng, swapped=swapped)
        options = {"measures": "AP", "margin": 0.02}
        result = sr.gate({"a": old}, {"b": new}, qrels, **options)
        row = result.measures[0]
        n_certain += row.is_certain
        for share in (0.05, 0.3, 0.9):
            made = {
                topic: {doc: int(rng.random() < share) for doc in old[topic]} | judged
                for topic, judged in qrels.items()
            }
            there = sr.gate({"a": old}, {"b": new}, made, **options)
            assert row.lowest <= there.measures[0].difference <= row.highest
            assert there.verdict == result.verdict or not row.is_certain
    assert n_certain >= 2


def sparsely_judged(n_judged, depth=4):
    """60 queries, this many documents of each ranking judged, the relevant one among them."""
    qrels = {f"q{t}": {f"d{i}": int(i == 0) for i in range(n_judged)} for t in range(60)}
    order = [f"d{i}" for i in range(depth)]
    old = {
        topic: dict(zip(order[-1:] + order[:-1], range(depth, 0, -1), strict=True))
        for topic in qrels
    }
    new = {topic: dict(zip(order, range(depth, 0, -1), strict=True)) for topic in qrels}
    return {"old": old}, {"new": new}, qrels


def test_sparse_judgments_get_a_verdict_and_one_line():
    """Where relevant documents alone are named nothing says how likely others are relevant."""
    options = {"measures": "nDCG@4", "margin": 0.01}
    deep = sr.gate(*sparsely_judged(2), **options)
    assert (deep.verdict, deep.measures[0].unjudged, deep.measures[0].unjudged_share) == (
        "holes",
        "prior",
        0.5,
    )
    sparse = sr.gate(*sparsely_judged(1), **options)
    row = sparse.measures[0]
    assert (sparse.verdict, row.unjudged, row.unjudged_share) == ("pass", "not-relevant", 0.75)
    told = said(sparse)["gate.unjudged"]
    words = "nDCG@4: 75% of the baseline's documents are unjudged and count as not relevant"
    assert told.text.startswith(words)
    assert row.lowest < row.difference
    both = sr.gate(*sparsely_judged(2), measures={"nDCG@4": 0.01, "P@2": 0.5, "Bpref": 0.01})
    assert [r.unjudged for r in both.measures] == ["prior", "prior", "not-relevant"]
    assert [r.unjudged_share for r in both.measures] == [0.5, 0.5, 0.5]
    assert not any("count as not relevant" in finding.text for finding in VIEW.findings(both))
    assert list(sparse.to_frame().columns) == list(deep.to_frame().columns)
    assert not {"unjudged", "unjudged_share", "sweep"} & set(sparse.to_frame().columns)


def test_holes_that_change_nothing_leave_the_verdict():
    worse = sr.gate(
        {"a": ranked("d0", "d1", "new")},
        {"b": ranked("d4", "d5", "new")},
        QRELS,
        measures="P@3",
        margin=0.1,
    )
    assert (worse.verdict, worse.measures[0].lowest) == ("fail", worse.measures[0].highest)
    assert worse.measures[0].is_certain
    text = said(worse)["gate.verdict"].text
    assert text.endswith("the margin of 0.1, whatever the grades of 60 unjudged documents.")
    turned = sr.gate(
        {"a": ranked("d0", "new", "d5")},
        {"b": ranked("new", "d0", "d5")},
        QRELS,
        measures="nDCG@3",
        margin=0.1,
    )
    assert (turned.measures[0].bounds, turned.verdict) == ("exact", "holes")


def test_unjudged_documents_below_the_cutoff_lengthen_the_ideal_list():
    """Bounds of nDCG@2 over all grades of six documents, two of which stand below the cutoff."""
    topics = list(QRELS)
    old, new = ranked("d0", "new", "deep", "low"), ranked("other", "d1", "low", "deep")
    holes = ["new", "other", "deep", "low"]
    row = sr.gate({"a": old}, {"b": new}, QRELS, measures="nDCG@2", margin=0.1).measures[0]
    seen = []
    for grades in itertools.product((0, 1), repeat=4):
        made = {topics[0]: QRELS[topics[0]] | dict(zip(holes, grades, strict=True))}
        runs = {"a": {topics[0]: old[topics[0]]}, "b": {topics[0]: new[topics[0]]}}
        seen.append(np.subtract(*sr.evaluate(runs, made, "nDCG@2").values[0, ::-1, 0]))
    assert (row.lowest, row.highest) == pytest.approx((min(seen), max(seen)))


def test_a_kept_baseline_finds_its_ranking_again(tmp_path):
    qrels, old, new = tmp_path / "qrels.txt", tmp_path / "old.run", tmp_path / "new.run"
    qrels.write_text("".join(f"q{t} 0 d0 1\nq{t} 0 d1 0\n" for t in range(12)))
    for path, documents in ((old, ("d0", "new")), (new, ("new", "d0"))):
        lines = [
            f"q{t} Q0 {d} 1 {9 - place} {path.stem}\n"
            for t in range(12)
            for place, d in enumerate(documents)
        ]
        path.write_text("".join(lines))
    kept = tmp_path / "baseline.parquet"
    sr.write_scores(sr.evaluate(old, qrels, "AP"), kept)
    options = {"measures": "AP", "margin": 0.1}
    again, fresh = sr.gate(kept, new, qrels, **options), sr.gate(old, new, qrels, **options)
    assert (again.verdict, again.is_ranking_lost) == ("holes", False)
    assert again.rows() == fresh.rows()
    old.write_text(old.read_text().replace("new", "other"))
    lost = sr.gate(kept, new, qrels, **options)
    assert (lost.is_ranking_lost, lost.measures[0].lowest) == (True, None)
    assert "gate.ranking_lost" in said(lost)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"measures": "AP"}, "AP requires margin, the loss"),
        ({"measures": "AP", "margin": -0.1}, "margin must be a number of at least 0, got -0.1"),
        ({"measures": {"AP": math.nan}}, "margin must be a number of at least 0, got nan for AP"),
        ({**COMMON, "alpha": 0.5}, "alpha must lie between 0 and 0.5"),
        ({**COMMON, "by": "kind"}, "'kind' requires information about the topics"),
    ],
)
def test_bad_arguments(options, complaint):
    with pytest.raises(sr.InputError, match=complaint):
        sr.gate(*pair(spread(20)), **options)


def test_bad_pairs():
    old, new = pair(spread(20))
    with pytest.raises(sr.InputError, match="the candidate and the baseline are the same run"):
        sr.gate(old, old, **COMMON)
    with pytest.raises(sr.InputError, match=r"the candidate lacks scores on 1 topic \('t19'\)"):
        sr.gate(old, new.select(topics=new.topics[:-1]), **COMMON)
    with pytest.raises(sr.InputError, match="the baseline lacks scores on 1 topic"):
        sr.gate(old.select(topics=new.topics[1:]), new, **COMMON)
    gap = scores_of(np.where(np.arange(20) == 3, np.nan, 0.5), "gap")
    with pytest.raises(sr.InputError, match="the candidate lacks scores on 1 topic \\('t3'"):
        sr.gate(old, gap, **COMMON)
    assert sr.gate(old, gap, missing="skip", **COMMON).measures[0].n_topics == 19
    with pytest.raises(sr.InputError, match="hold 2 runs: give the scores of one run"):
        sr.gate(sr.join_scores(old, new), new, **COMMON)
    with pytest.raises(sr.InputError, match="runs require judgments"):
        sr.gate({"a": ranked("d0")}, {"b": ranked("d1")}, **COMMON)
    with pytest.raises(sr.InputError, match="no document of the candidate is judged"):
        sr.gate({"a": ranked("d0")}, {"b": ranked("x0")}, QRELS, **COMMON)
    with pytest.raises(sr.InputError, match="the candidate has no topic of the qrels"):
        sr.gate({"a": ranked("d0")}, {"b": {"q1": {"d0": 1.0}}}, QRELS, **COMMON)


def test_scores_read_in_another_way_are_refused():
    run, other = {"a": ranked("d0", "d5")}, {"b": ranked("d0", "d4")}
    kept = sr.evaluate(run, QRELS, "AP", ties="float32")
    with pytest.raises(sr.InputError, match='evaluated with ties="float32", the candidate with'):
        sr.gate(kept, other, QRELS, **COMMON)
    kept = sr.evaluate(run, QRELS, "AP")
    assert sr.gate(kept, other, QRELS, **COMMON).verdict == "pass"
    with pytest.raises(sr.InputError, match='missing="zero", the candidate with missing="skip"'):
        sr.gate(kept, other, QRELS, missing="skip", **COMMON)


def test_steps_add_up_in_the_history(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    folder = tmp_path / "history"
    rng = np.random.default_rng(4)
    base = rng.uniform(0.4, 0.6, 300)
    versions = [scores_of(base - 0.008 * i + rng.normal(0, 0.01, 300), f"v{i}") for i in range(5)]
    results = [
        sr.gate(old, new, history=folder, **COMMON)
        for old, new in zip(versions, versions[1:], strict=False)
    ]
    assert [result.verdict for result in results] == ["pass"] * 4
    history = results[-1].history
    assert [gate["candidate"] for gate in history.gates] == ["v1", "v2", "v3", "v4"]
    totals = [gate["measures"][0]["total"] for gate in history.gates]
    assert totals == pytest.approx([-0.008, -0.016, -0.024, -0.032], abs=0.003)
    direct = stats.ttest_1samp(versions[4].matrix()[0] - versions[0].matrix()[0], 0)
    level = 0.05 * 6 / (math.pi * 4) ** 2
    assert history.gates[-1]["level"] == pytest.approx(level)
    expected = direct.confidence_interval(1 - 2 * level)
    assert history.gates[-1]["measures"][0]["total_interval"] == pytest.approx(expected, abs=2e-4)
    assert history.gates[0]["date"] == "2023-11-14T22:13:20+00:00"
    assert not results[0].history.drifted()
    drift = said(results[-1])["gate.drift"]
    assert drift.text.startswith("Drift since 2023-11-14: AP −0.03")
    assert drift.text.endswith("the level is that of all 4 gates.")
    assert drift.values["measures"][0]["total"] == totals[-1]
    assert drift.text in str(results[-1])
    assert len(history.to_frame()) == 4
    again = sr.gate(versions[0], versions[1], history=tmp_path / "other", **COMMON)
    assert again.history.gates[0] == results[0].history.gates[0], "same seed, same bytes"


def test_a_history_of_other_topics_or_with_broken_lines_is_refused(tmp_path):
    sr.gate(*pair(spread(40)), history=tmp_path, **COMMON)
    with pytest.raises(sr.InputError, match="this history began with different topics"):
        sr.gate(*pair(spread(20)), history=tmp_path, **COMMON)
    with open(tmp_path / "history.jsonl", "a") as stream:
        stream.write('{"date": 1}\n')
    with pytest.raises(
        sr.FormatError, match=r"history.jsonl:2: this line is not an entry of a gate"
    ):
        sr.gate(*pair(spread(40)), history=tmp_path, **COMMON)
    (tmp_path / "file").write_text("")
    with pytest.raises(sr.InputError, match="this is a file: name a folder"):
        sr.gate(*pair(spread(40)), history=tmp_path / "file", **COMMON)


END_TOGETHER = """
import os, signal, sys
import numpy as np, steadyrank as sr
from steadyrank.compute.files import locked
from steadyrank.studies.gate.history import LOCK

folder = sys.argv[1]
base = np.random.default_rng(0).uniform(0.3, 0.6, 20)

def gate(name):
    old, new = (
        sr.Scores(measures=["AP"], runs=[run], topics=range(20), values=[[values]])
        for run, values in (("old", base), (name, base + 0.1))
    )
    sr.gate(old, new, measures="AP", margin=0.02, history=folder)

lock_is_held, held = os.pipe()
wait, go = os.pipe()
holder = os.fork()
signal.alarm(60)
if not holder:
    os.close(go)
    with locked(os.path.join(folder, LOCK)):
        os.write(held, b".")
        signal.pause()
os.close(held)
assert os.read(lock_is_held, 1)
children = []
for i in range(6):
    children.append(os.fork())
    if not children[-1]:
        signal.alarm(60)
        os.close(go)
        os.read(wait, 1)
        gate(f"v{i}")
        os._exit(0)
os.close(go)
print(*(os.waitid(os.P_PID, c, os.WEXITED | os.WNOHANG) for c in children[:1]))
os.kill(holder, signal.SIGKILL)
print(sum(os.waitpid(child, 0)[1] for child in children))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_six_gates_that_end_together_lose_no_line(tmp_path):
    """Beside a process that is killed while it holds the lock: the system frees it."""
    command = [sys.executable, "-c", END_TOGETHER, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "0"], "a gate waits while another writes; all end well"
    lines = (tmp_path / "history.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["candidate"] for line in lines) == sorted(
        f"v{i}" for i in range(6)
    )


@pytest.mark.slow
def test_families_of_measures_and_segments_keep_their_level():
    """Equal candidates on three measures and four segments fail at alpha, and segments that are
    worse by the margin are called passed at alpha; a false alarm once in 10,000 times.
    """
    n_trials, topics = 300, [f"t{i}" for i in range(80)]
    rng = np.random.default_rng(12)
    measures = {"AP": 0.0, "RR": 0.0, "P@5": 0.0}
    failed, passed = 0, 0
    for _ in range(n_trials):
        own = rng.normal(0, 0.1, (3, 80)) + rng.normal(0, 0.1, 80)
        sides = [
            sr.Scores(
                measures=[*measures], runs=[name], topics=topics, values=(0.5 + add * own)[:, None]
            ).with_topic_info(kind=np.arange(80) % 4)
            for name, add in (("old", 0), ("new", 1))
        ]
        result = sr.gate(*sides, measures=measures, by="kind")
        failed += result.verdict == "fail"
        passed += any(row.verdict == "pass" for row in result.segments)
    law = stats.binom(n_trials, 0.05)
    assert law.sf(failed - 1) > 1e-4
    assert law.sf(passed - 1) > 1e-4


def test_a_segment_that_passes_has_its_limit_above_the_margin():
    """Passes of segments are decided stepdown: the limit is that of the step."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        d = np.concatenate([rng.normal(0.02, 0.02, 40), rng.normal(0.0, 0.11, 60)])
        kind = ["a"] * 40 + ["b"] * 60
        result = sr.gate(*pair(d, kind=kind), measures="AP", margin=0.025, by="kind")
        for row in result.segments:
            assert (row.interval.low > -0.025) == (row.pvalue_pass < 0.05)
