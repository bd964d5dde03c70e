"""What a gate compares: files of other tools, systems that vary, and builds of one system."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.stats.interval import t_limits
from steadyrank.stats.mixed.two_way import nested_difference
from steadyrank.studies.gate.view import VIEW

N = 40
TOPICS = [f"q{i}" for i in range(N)]
RNG = np.random.default_rng(5)
OLD = RNG.uniform(0.2, 0.8, N).round(4)
NEW = (OLD + RNG.normal(0.0, 0.02, N)).round(4)


def scores_of(values, name, **info):
    """Scores [run, topic] of AP, one run or several."""
    rows = np.atleast_2d(values)
    runs = [name] if len(rows) == 1 else [f"{name}{k}" for k in range(len(rows))]
    topics = [f"q{i}" for i in range(rows.shape[1])]
    made = sr.Scores(measures=["AP"], runs=runs, topics=topics, values=rows[None])
    return made.with_run_info(**info)


def rank_eval(path, values):
    details = {
        topic: {"metric_score": value, "metric_details": {"dcg": {"dcg": value}}}
        for topic, value in zip(TOPICS, values.tolist(), strict=True)
    }
    path.write_text(json.dumps({"metric_score": 0.5, "details": details, "failures": {}}))


def wide(path, values):
    rows = zip(TOPICS, values, strict=True)
    path.write_text("topic,sys\n" + "".join(f"{t},{v}\n" for t, v in rows))


def inspect(path, values):
    """Two epochs of each sample, which are averaged."""
    samples = [
        {"id": topic, "epoch": epoch, "scores": {"match": {"value": value + sign * 0.1}}}
        for topic, value in zip(TOPICS, values.tolist(), strict=True)
        for epoch, sign in ((1, -1), (2, 1))
    ]
    log = {"version": 2, "status": "success", "eval": {"model": path.stem}, "samples": samples}
    path.write_text(json.dumps(log))


@pytest.mark.parametrize(
    ("write", "suffix"), [(rank_eval, "json"), (wide, "csv"), (inspect, "json")]
)
def test_scores_of_other_tools_need_no_judgments(tmp_path, write, suffix):
    files = [tmp_path / f"{name}.{suffix}" for name in ("old", "new")]
    for path, values in zip(files, (OLD, NEW), strict=True):
        write(path, values)
    (row,) = sr.gate(*files, margin=0.02).measures
    (expected,) = sr.gate(scores_of(OLD, "a"), scores_of(NEW, "b"), margin=0.02).measures
    assert row.n_topics == N
    assert row.interval == pytest.approx(expected.interval, abs=1e-12)
    assert row.verdict == expected.verdict == "pass"


def test_which_measure_is_meant(tmp_path):
    both = [tmp_path / name for name in ("old.txt", "new.txt")]
    for path in both:
        lines = [
            f"{m}\t{t}\t{v}\n"
            for m in ("map", "recip_rank")
            for t, v in zip(TOPICS, OLD, strict=True)
        ]
        path.write_text("".join(lines))
    with pytest.raises(sr.InputError, match=r"both hold 2 measures \(map and recip_rank\): name"):
        sr.gate(*both, margin=0.1)
    assert sr.gate(*both, measures="map", margin=0.1).measures[0].measure == "map"
    rank_eval(tmp_path / "other.json", NEW)
    with pytest.raises(sr.InputError, match="they share no measure"):
        sr.gate(both[0], tmp_path / "other.json", margin=0.1)
    with pytest.raises(sr.InputError, match="each measure requires margin"):
        sr.gate(*both)


def test_a_run_without_judgments_is_refused(tmp_path):
    for name in ("old.run", "new.run"):
        (tmp_path / name).write_text("q1 Q0 d1 1 2.0 tag\nq1 Q0 d2 2 1.0 tag\n")
    with pytest.raises(sr.InputError, match="runs require judgments: give qrels, or"):
        sr.gate(tmp_path / "old.run", tmp_path / "new.run", margin=0.1)


def test_answers_of_one_system_are_averaged():
    """As readers that know repetitions give them: the k-th answers have nothing in common."""
    spread = RNG.normal(0.0, 0.3, (3, N))
    spread -= spread.mean(axis=0)
    info = {"system": ["a"] * 3, "answer": ["1", "2", "3"]}
    many = scores_of(OLD + spread, "a", **info)
    result = sr.gate(many, scores_of(NEW, "b"), margin=0.02)
    (expected,) = sr.gate(scores_of(OLD, "a"), scores_of(NEW, "b"), margin=0.02).measures
    assert result.measures[0].interval == pytest.approx(expected.interval, abs=1e-12)
    assert (result.baseline, result.n_runs) == ("a", (1, 1))
    other = scores_of(OLD + spread, "a", **info | {"system": ["a", "a", "b"]})
    with pytest.raises(sr.InputError, match="hold 2 runs: give the scores of one run, or of the"):
        sr.gate(other, scores_of(NEW, "b"), margin=0.02)


@pytest.mark.parametrize(("n_old", "n_new"), [(4, 6), (5, 5), (1, 5), (3, 1)])
def test_systems_that_vary_have_the_limits_of_the_mixed_model(tmp_path, n_old, n_new):
    """Those of `instances`, at a confidence of 1 - 2 alpha; files of a folder are the runs."""
    rng = np.random.default_rng(n_old)
    folders = [tmp_path / name for name in ("old", "new")]
    cubes = []
    for folder, n_runs, level in zip(folders, (n_old, n_new), (OLD, NEW), strict=True):
        folder.mkdir()
        effects = rng.normal(0.0, 0.03, (n_runs, 1)) + rng.normal(0.0, 0.05, (n_runs, N))
        cubes.append((level + effects).round(6))
        for k, values in enumerate(cubes[-1]):
            wide(folder / f"run{k}.csv", values)
    result = sr.gate(*folders, margin=0.05)
    (row,) = result.measures
    systems = ["b"] * n_old + ["a"] * n_new
    every = scores_of(np.concatenate(cubes), "r", system=systems)
    expected = sr.instances(every, a="a", b="b", delta=0.05)
    assert row.difference == pytest.approx(expected.difference, rel=1e-6)
    assert row.interval == pytest.approx(expected.equivalence.interval, rel=1e-6)
    assert row.pvalue_pass == pytest.approx(expected.equivalence.pvalue_non_inferiority, rel=1e-5)
    assert (row.method, result.n_runs, result.baseline) == ("mixed", (n_old, n_new), "old")
    assert f"topics and runs ({n_new} and {n_old}) are random" in str(result)
    guarded = sr.gate(*folders, margin=0.05, guard_breakage=True).measures[0]
    assert guarded.interval.low < row.interval.low
    assert guarded.interval.high == row.interval.high


def test_unequal_numbers_of_runs_on_many_topics():
    """Mean squares agree with REML, which they stand in for above 500 topics."""
    rng, n = np.random.default_rng(3), 501
    topic = rng.uniform(0.3, 0.7, n)
    cubes = [
        topic
        + rng.normal(0.0, 0.05, n)
        + rng.normal(0.0, 0.02, (n_runs, 1))
        + rng.normal(0.0, 0.05, (n_runs, n))
        for n_runs in (5, 8)
    ]
    sides = [
        scores_of(cube, name, system=[name] * len(cube))
        for cube, name in zip(cubes, ("old", "new"), strict=True)
    ]
    (row,) = sr.gate(*sides, margin=0.05).measures
    fewer = [side.select(topics=side.topics[:500]) for side in sides]
    (reml,) = sr.gate(*fewer, margin=0.05).measures
    fit = nested_difference(cubes[1][:, :500], cubes[0][:, :500])
    limits = t_limits(fit.estimate, fit.standard_error, fit.df, 0.9)
    assert limits == pytest.approx(reml.interval, abs=2e-4), "of limits that are .04 apart"
    assert row.interval == pytest.approx(reml.interval, abs=1e-3)


def test_runs_of_systems_that_vary(tmp_path):
    """A folder of TREC runs per side is as good as a list of them."""
    qrels = {topic: {"d0": 1, "d1": 0} for topic in TOPICS}
    sides = []
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        runs = []
        for k in range(3):
            first = np.random.default_rng(k + len(name)).random(N) < 0.8
            order = [("d0", "d1") if top else ("d1", "d0") for top in first]
            lines = [
                f"{topic} Q0 {doc} {rank} {9 - rank} tag\n"
                for topic, docs in zip(TOPICS, order, strict=True)
                for rank, doc in enumerate(docs)
            ]
            (tmp_path / name / f"{k}.run").write_text("".join(lines))
            runs.append(tmp_path / name / f"{k}.run")
        sides.append(runs)
    options = {"measures": "RR", "margin": 0.1}
    by_folder = sr.gate(tmp_path / "old", tmp_path / "new", qrels, **options)
    by_list = sr.gate(*sides, qrels, name_from="file", **options)
    assert by_folder.measures[0].interval == by_list.measures[0].interval
    assert by_folder.n_runs == (3, 3)


def test_a_side_that_varies_takes_neither_clusters_nor_weights():
    info = {"system": ["a", "a"]}
    many = scores_of(np.stack([OLD, OLD + 0.01]), "a", **info).with_topic_info(weight=["2"] * N)
    with pytest.raises(sr.InputError, match="a side with several runs takes topics as they are"):
        sr.gate(many, scores_of(NEW, "b"), margin=0.1)


def builds(means, n_topics=N):
    """Builds whose means over the topics are these."""
    spread = np.linspace(-0.1, 0.1, n_topics)
    return scores_of(np.asarray(means)[:, None] + spread, "b", system=["old"] * len(means))


def test_a_rebuild_lies_where_a_further_build_would():
    means = np.array([0.50, 0.51, 0.49, 0.505, 0.495])
    reach = stats.t.ppf(0.975, 4) * means.std(ddof=1) * math.sqrt(1 + 1 / 5)
    for off, verdict in ((0.99, "pass"), (1.01, "fail"), (-1.01, "fail")):
        new = scores_of(means.mean() + off * reach + np.linspace(-0.1, 0.1, N), "new")
        result = sr.gate(builds(means), new, rebuild=True)
        (row,) = result.measures
        assert (result.verdict, row.method) == (verdict, "rebuild")
        assert row.margin == pytest.approx(reach)
        assert row.interval == pytest.approx((-reach, reach))
        assert len(sr.plot(result).axes) == 1
        assert row.pvalue_fail == pytest.approx(
            2 * stats.t.sf(abs(off) * reach / (means.std(ddof=1) * math.sqrt(1.2)), 4)
        )
        told = VIEW.findings(result)
        assert [finding.id for finding in told] == ["gate.verdict"]
        assert f"±{reach:.4f}, the tolerance of a further build (5 builds)" in told[0].text
    same = sr.gate(
        builds([0.5, 0.5]), scores_of(0.5 + np.linspace(-0.1, 0.1, N), "n"), rebuild=True
    )
    assert same.verdict == "pass"
    other = sr.gate(
        builds([0.5, 0.5]), scores_of(0.5 + np.linspace(-0.1, 0.2, N), "n"), rebuild=True
    )
    assert other.verdict == "fail", "builds that never differ allow for no difference"


def test_rebuilds_are_recognised_at_their_level():
    """Of 400 new builds of the same system, alpha fail; bands of a false alarm in 10,000."""
    rng, n_trials = np.random.default_rng(2), 400
    failed = 0
    for _ in range(n_trials):
        *old, mean = rng.normal(0.5, 0.01, 5)
        new = scores_of(mean + np.linspace(-0.1, 0.1, N), "n")
        failed += sr.gate(builds(old), new, rebuild=True).verdict == "fail"
    law = stats.binom(n_trials, 0.05)
    assert law.sf(failed - 1) > 1e-4
    assert law.cdf(failed) > 1e-4


@pytest.mark.parametrize(
    ("baseline", "options", "complaint"),
    [
        (scores_of(OLD, "a"), {}, "rebuild requires at least 2 builds as the baseline and one as"),
        (builds([0.5, 0.6]), {"margin": 0.1}, "rebuild takes its tolerance from the builds: omit"),
        (builds([0.5, 0.6]), {"sequential": True}, "sequential cannot be combined with rebuild"),
    ],
)
def test_bad_rebuilds(baseline, options, complaint):
    with pytest.raises(sr.InputError, match=complaint):
        sr.gate(baseline, scores_of(NEW, "b"), rebuild=True, **options)


def graded(folder, name, **levels):
    """A long table of one system by judges: {judge: (level, difference)}."""
    rng = np.random.default_rng(3)
    topics = rng.normal(0.5, 0.1, 60)
    rows = ["measure,run,topic,judge,value"]
    for judge, (level, difference) in levels.items():
        grades = topics + level + difference + 0.02 * rng.normal(size=60)
        rows += [f"grade,m,t{t},{judge},{grade}" for t, grade in enumerate(grades)]
    path = folder / f"{name}.csv"
    path.write_text("\n".join(rows))
    return path


def test_a_candidate_graded_by_the_lenient_judge_alone_is_not_better(tmp_path):
    old = graded(tmp_path, "old", severe=(-0.1, 0.0), lenient=(0.1, 0.0))
    new = graded(tmp_path, "new", lenient=(0.1, -0.03))
    with pytest.warns(sr.SteadyrankWarning, match="left out: severe"):
        result = sr.gate(old, new, measures={"grade": 0.01})
    assert result.measures[0].difference == pytest.approx(-0.03, abs=0.01)
    assert (result.verdict, result.judges) == ("fail", ("lenient",))
    assert "by lenient alone" in str(result)
    other = graded(tmp_path, "other", third=(0.1, -0.03))
    with pytest.raises(sr.InputError, match="no judge graded both"):
        sr.gate(old, other, measures={"grade": 0.01})


def test_sides_by_several_judges_say_whose_view_it_is(tmp_path):
    old = graded(tmp_path, "old", severe=(-0.1, 0.0), lenient=(0.1, 0.0))
    new = graded(tmp_path, "new", severe=(-0.1, 0.0), lenient=(0.1, 0.0))
    result = sr.gate(old, new, measures={"grade": 0.01})
    assert result.verdict == "pass"
    assert "about the judges lenient and severe alone" in str(result)


def written(path, values, topics=None):
    names = [f"t{i}" for i in range(len(values))] if topics is None else topics
    rows = [f"{t},{'' if np.isnan(v) else v}\n" for t, v in zip(names, values, strict=True)]
    path.write_text(f"topic,{path.stem}\n" + "".join(rows))
    return path


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
def test_empty_cells_and_absent_topics_are_zero_left_out_or_refused(tmp_path):
    """30 of 100 topics of the candidate are empty, or not in its file at all."""
    base = np.random.default_rng(3).uniform(0.3, 0.7, 100)
    after = base + np.random.default_rng(4).normal(0.005, 0.01, 100)
    gaps = np.where(np.arange(100) < 30, np.nan, after)
    old = written(tmp_path / "old.csv", base)
    names = [f"t{i}" for i in range(100)]
    candidates = (
        written(tmp_path / "new.csv", gaps),
        written(tmp_path / "shorter.csv", after[30:], names[30:]),
    )
    common = {"measures": "score", "margin": 0.01}
    for new in candidates:
        with pytest.raises(sr.InputError, match=r"candidate lacks scores on 30 topics \('t0'\)"):
            sr.gate(old, new, **common)
        zero = sr.gate(old, new, missing="zero", **common).measures[0]
        assert (zero.n_topics, zero.verdict) == (100, "fail")
        expected = np.mean(np.where(np.arange(100) < 30, 0, after) - base)
        assert zero.difference == pytest.approx(expected)
        skip = sr.gate(old, new, missing="skip", **common).measures[0]
        assert (skip.n_topics, skip.verdict) == (70, "pass")
        assert skip.difference == pytest.approx(np.mean((after - base)[30:]))
    both = written(tmp_path / "both.csv", np.where(np.arange(100) < 30, np.nan, base))
    with pytest.raises(sr.InputError, match=r"the baseline lacks scores on 30 topics \('t0'\)"):
        sr.gate(both, candidates[0], **common)


def test_files_of_scores_may_be_given_names(tmp_path):
    base = np.random.default_rng(3).uniform(0.3, 0.7, 40)
    old, new = written(tmp_path / "old.csv", base), written(tmp_path / "new.csv", base + 0.01)
    result = sr.gate(f"x={old}", f"y={new}", margin=0.01)
    assert (result.baseline, result.candidate) == ("x", "y")
    with pytest.raises(sr.InputError, match="are the same run"):
        sr.gate(f"x={old}", f"y={old}", margin=0.01)


def test_runs_of_three_columns_are_runs(tmp_path):
    """Topic, document and score look like topic, measure and value, as ir_measures prints them."""
    qrels = {f"q{t}": {"d1": 1, "d2": 0} for t in range(20)}
    for name, order in (("old.txt", ("d1", "d2")), ("new.txt", ("d2", "d1"))):
        lines = [f"{t} {d} {1 - place / 2}\n" for t in qrels for place, d in enumerate(order)]
        (tmp_path / name).write_text("".join(lines))
    result = sr.gate(tmp_path / "old.txt", tmp_path / "new.txt", qrels, "nDCG@10", margin=0.01)
    assert (result.verdict, result.measures[0].baseline) == ("fail", 1.0)
    printed = "".join(f"q{t}\tnDCG@10\t1.0\n" for t in range(20))
    (tmp_path / "printed.txt").write_text(printed)
    kept = sr.gate(tmp_path / "printed.txt", tmp_path / "new.txt", qrels, "nDCG@10", margin=0.01)
    assert kept.measures[0].difference == result.measures[0].difference


def test_rebuilds_have_ten_topics_and_a_new_build(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "builds").mkdir()
    for k in range(3):
        written(tmp_path / "builds" / f"b{k}.csv", rng.uniform(0.4, 0.6, 9))
    new = written(tmp_path / "new.csv", rng.uniform(0.4, 0.6, 9))
    with pytest.raises(sr.InputError, match="9 topics, and a gate requires at least 10"):
        sr.gate(tmp_path / "builds", new, measures="score", rebuild=True)
    with pytest.raises(sr.InputError, match="the candidate is one of the runs of the baseline"):
        sr.gate(tmp_path / "builds", tmp_path / "builds" / "b1.csv", rebuild=True)


@pytest.mark.parametrize("margin", [1.0, 2])
def test_a_margin_that_no_loss_exceeds_is_refused(tmp_path, margin):
    base = np.random.default_rng(3).uniform(0.3, 0.7, 40)
    old, new = written(tmp_path / "old.csv", base), written(tmp_path / "new.csv", base / 2)
    with pytest.raises(sr.InputError, match=f"a margin of {margin:g} excludes no loss of score"):
        sr.gate(old, new, margin=margin)
    grades = [written(tmp_path / f"{n}.csv", base * by) for n, by in (("a", 5), ("b", 4.9))]
    assert sr.gate(*grades, margin=margin).verdict == "pass"


def test_a_history_keeps_its_judges(tmp_path):
    old = graded(tmp_path, "old", severe=(-0.1, 0.0), lenient=(0.1, 0.0))
    new = graded(tmp_path, "new", severe=(-0.1, 0.01), lenient=(0.1, 0.0))
    how = {"measures": {"grade": 0.03}, "history": tmp_path / "nights"}
    sr.gate(old, new, **how)
    sr.gate(old, new, **how)
    fewer = graded(tmp_path, "fewer", lenient=(0.1, 0.0))
    with (
        pytest.warns(sr.SteadyrankWarning, match="left out: severe"),
        pytest.raises(sr.InputError, match="this history began with different judges"),
    ):
        sr.gate(old, fewer, **how)


# Two models of an arena: shares of wins with prompts as units


def duel(**how):
    return sr.simulated_battles(
        2, **{"n_prompts": 60, "strengths": [0.4, 0.0], "prompt_sd": 0.5, **how}
    )


def test_the_share_of_wins_is_that_of_the_battles():
    found = duel(rng=1)
    result = sr.gate("m2", "m1", found, margin=0.05)
    row = result.measures[0]
    # Both orders on every prompt: the expected share is the observed one.
    assert row.measure == "win rate"
    assert row.candidate == pytest.approx(found.win_rates()[0], abs=1e-3)
    assert row.baseline + row.candidate == pytest.approx(1.0)
    assert result.n_topics == 60


def test_limits_are_those_of_the_mean_over_prompts():
    found = duel(n_prompts=400, rng=2)
    row = sr.gate("m2", "m1", found, margin=0.05).measures[0]
    first = np.where(found.a == 0, found.outcome, 1.0 - found.outcome)
    codes, names = found.codes("prompt")
    by_prompt = 2.0 * np.bincount(codes, first) / np.bincount(codes) - 1.0
    half = 1.65 * by_prompt.std(ddof=1) / np.sqrt(len(names))
    low, high = row.interval
    assert (high - low) / 2 == pytest.approx(half, rel=0.05)


@pytest.mark.parametrize(
    ("strength", "verdict", "code"),
    [(1.0, "pass", 0), (-1.0, "fail", 3), (-0.05, "cannot tell", 4)],
)
def test_verdicts_and_exit_codes(tmp_path, capsys, strength, verdict, code):
    found = duel(strengths=[strength, 0.0], rng=3)
    assert sr.gate("m2", "m1", found, margin=0.05).verdict == verdict
    frame = found.to_frame()
    frame["winner"] = frame.pop("outcome").map({1.0: "model_a", 0.0: "model_b"})
    frame.to_csv(tmp_path / "b.csv", index=False)
    given = ["gate", tmp_path / "b.csv", "m2", "m1", "--margin", ".05", "--quiet"]
    assert run(list(map(str, given))) == code
    assert "win rate" in capsys.readouterr().out


def test_third_models_tell_two_apart():
    star = sr.simulated_battles(3, 80, design="star", strengths=[0.0, 1.0, -1.0], rng=4)
    assert sr.gate("m3", "m2", star, margin=0.05).verdict == "pass"


def test_equal_models_fail_rarely():
    """60 experiments at .05: more than 9 failures occur in 0.1%."""
    worse = sum(
        sr.gate("m1", "m2", duel(strengths=[0.0, 0.0], rng=seed), margin=0.0).verdict == "fail"
        for seed in range(60)
    )
    assert worse <= 9


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(sr.UnknownNameError, match="unknown model 'm9'"):
        sr.gate("m9", "m1", duel(), margin=0.05)
    apart = sr.Battles.from_rows([*"xxuu"] * 5, [*"yyvv"] * 5, [1, 0, 1, 0] * 5)
    with (
        pytest.warns(sr.SteadyrankWarning),
        pytest.raises(sr.InputError, match="do not connect x and u"),
    ):
        sr.gate("x", "u", apart, margin=0.05)
