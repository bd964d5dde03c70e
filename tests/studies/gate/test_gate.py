"""The verdicts of a gate: when it passes, fails, cannot tell, and what it rests on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import steadyrank as sr
from steadyrank.studies.gate.sentences import verdict_sentence

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
    assert [r.exit_code("fail") for r in (passed, failed, unclear)] == [0, 3, 3]
    (row,) = passed.measures
    assert row.candidate - row.baseline == pytest.approx(row.difference)
    assert (row.method, row.design_effect, row.effective_topics) == ("t", 1.0, pytest.approx(400))


def test_limits_are_nearly_students_where_nothing_is_skewed():
    d = spread(100, 0.003)
    (row,) = sr.gate(*pair(d), **COMMON).measures
    expected = stats.ttest_1samp(d, 0).confidence_interval(0.9)
    assert row.interval == pytest.approx((expected.low, expected.high), rel=0.03)
    assert row.interval.low < expected.low < expected.high < row.interval.high
    p = stats.ttest_1samp(d, -0.02, alternative="greater").pvalue
    assert p < row.pvalue_pass < 1.2 * p
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
    judged(verdict="fail", differences=np.full(20, -0.03), **COMMON)
    judged(verdict="pass", differences=np.full(20, -0.02 + 1e-9), **COMMON)


def test_one_topic_cannot_tell():
    result = judged(verdict="cannot tell", differences=np.array([0.3]), **COMMON)
    assert "too few topics for a verdict (1 topic)" in verdict_sentence(result)
    assert result.measures[0].topics_needed is None


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
    assert "over two tests, Holm" in verdict_sentence(result)
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
    assert 0.03 < alone < 0.04
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
    assert widths[0] / widths[1] == pytest.approx(math.sqrt(5), rel=0.04)


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
    assert head.interval == pytest.approx((expected.low, expected.high), rel=0.01)


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
    assert (row.bounds, row.n_unjudged) == ("exact", 60)
    assert "unjudged documents could change the verdict" in verdict_sentence(result)
    taken = sr.gate(
        {"a": baseline},
        {"b": candidate},
        QRELS,
        measures="P@2",
        margin=0.1,
        unjudged="not-relevant",
    )
    assert (taken.verdict, taken.measures[0].highest) == ("fail", 0.0)


def test_holes_that_change_nothing_leave_the_verdict():
    worse = sr.gate(
        {"a": ranked("d0", "d1", "new")},
        {"b": ranked("d4", "d5", "new")},
        QRELS,
        measures="P@3",
        margin=0.1,
    )
    assert (worse.verdict, worse.measures[0].lowest) == ("fail", worse.measures[0].highest)
    outer = sr.gate(
        {"a": ranked("d0", "new")}, {"b": ranked("new", "d0")}, QRELS, measures="nDCG@2", margin=0.1
    )
    assert outer.measures[0].bounds == "outer"
    assert outer.verdict == "holes"
    deep = sr.gate(
        {"a": ranked("d0", "new")}, {"b": ranked("d0", "d2")}, QRELS, measures="AP", margin=0
    )
    assert (deep.measures[0].bounds, deep.measures[0].n_unjudged > 0) == ("outer", True)
    assert deep.measures[0].lowest < deep.measures[0].difference
    unknown = sr.gate(
        {"a": ranked("d0", "new")}, {"b": ranked("d0", "d2")}, QRELS, measures="RR", margin=0
    )
    assert (unknown.measures[0].lowest, unknown.measures[0].bounds) == (None, None)


def test_a_kept_baseline_finds_its_ranking_again(tmp_path):
    qrels, old, new = tmp_path / "qrels.txt", tmp_path / "old.run", tmp_path / "new.run"
    qrels.write_text("".join(f"q{t} 0 d0 1\nq{t} 0 d1 0\n" for t in range(6)))
    for path, documents in ((old, ("d0", "new")), (new, ("new", "d0"))):
        lines = [
            f"q{t} Q0 {d} 1 {9 - place} {path.stem}\n"
            for t in range(6)
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
    assert "whether they could change the verdict is unknown" in str(lost)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"measures": "AP"}, "no margin for AP: state the acceptable loss with margin="),
        ({"measures": "AP", "margin": -0.1}, "margin must be a number of at least 0, got -0.1"),
        ({"measures": {"AP": math.nan}}, "margin must be a number of at least 0, got nan for AP"),
        ({"measures": [], "margin": 0.1}, "no measures were named"),
        ({"measures": "RR", "margin": 0.1}, "unknown measure 'RR'"),
        ({**COMMON, "alpha": 0.5}, "alpha must lie between 0 and 0.5"),
        ({**COMMON, "by": "kind"}, "'kind' requires information about the topics"),
        ({**COMMON, "unjudged": "maybe"}, "unknown way to treat unjudged documents 'maybe'"),
    ],
)
def test_bad_arguments(options, complaint):
    with pytest.raises(sr.InputError, match=complaint):
        sr.gate(*pair(spread(20)), **options)


def test_bad_pairs():
    old, new = pair(spread(20))
    with pytest.raises(sr.InputError, match="the candidate and the baseline are the same run"):
        sr.gate(old, old, **COMMON)
    with pytest.raises(sr.InputError, match="the candidate lacks 1 topic of the other .*'t19'"):
        sr.gate(old, new.select(topics=new.topics[:-1]), **COMMON)
    with pytest.raises(sr.InputError, match="the baseline lacks 1 topic of the other"):
        sr.gate(old.select(topics=new.topics[1:]), new, **COMMON)
    gap = scores_of(np.where(np.arange(20) == 3, np.nan, 0.5), "gap")
    with pytest.raises(sr.InputError, match="only one of the two has a score on topic 't3'"):
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


def test_it_prints_and_is_drawn():
    result = sr.gate(*pair(spread(60), kind=np.arange(60) % 2), by="kind", **COMMON)
    assert str(result).startswith("CANNOT TELL: AP +0.0000")
    assert repr(result).startswith("<GateResult: cannot tell: new against old on 1 measure")
    assert list(result.to_frame()["segment"][1:]) == ["0", "1"]
    assert len(sr.plot(result).axes) == 1


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
    expected = direct.confidence_interval(0.9)
    assert history.gates[-1]["measures"][0]["total_interval"] == pytest.approx(expected, abs=2e-4)
    assert history.gates[0]["date"] == "2023-11-14T22:13:20+00:00"
    assert not results[0].history.drifted()
    assert "Drift: since the first baseline" in str(results[-1])
    assert "−0.03" in str(results[-1])
    assert len(history.to_frame()) == 4
    assert len(sr.plot(history).axes) == 1
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
