"""The whole study: against evaluate, a known truth, and itself under other circumstances.

What is particular to shared documents is in `test_shared_documents`; here it is the paper's model
unless a test asks for both.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from golden_cases import golden
from plain_sampler import average_precision, plain_samples
from scipy.stats import gaussian_kde

import steadyrank as sr
from steadyrank.errors import InputError, SteadyrankWarning
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.simulate import blocks as sample_blocks
from steadyrank.studies.simulate.profiles import NUMBER, ROBUST, SCOTT, SILVERMAN, bandwidth_of

N_SAMPLES = 1300
"""Two blocks and a bit."""


@pytest.fixture(scope="module")
def track():
    return sr.simulated_track(n_teams=3, runs_per_team=2, n_topics=15, depth=80, pool_depth=40)


@pytest.fixture(scope="module", params=["independent", "shared"])
def result(track, request):
    return study(track, documents=request.param)


def again(track, result, **options):
    """The study of a result under other circumstances."""
    return study(track, documents=result.documents, **options)


def study(track, **options):
    options = {
        "documents": "independent",
        "n_samples": N_SAMPLES,
        "no_relevant": "skip",
        "rng": 3,
        **options,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteadyrankWarning)
        return sr.simulate(track.runs, track.qrels, **options)


def assert_same(one, other):
    for name in ("simulated", "cell_mean", "cell_sd", "raw", "rank_share", "raw_pvalue"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    assert one.significance.rate.tobytes() == other.significance.rate.tobytes()
    assert one.rank_correlation.taus.tobytes() == other.rank_correlation.taus.tobytes()
    assert one.error_rate.errors.tolist() == other.error_rate.errors.tolist()
    assert one.truncated == other.truncated
    assert one.without_relevant == other.without_relevant


@pytest.mark.parametrize(
    "measure", ["AP", "AP(rel=2)", "P@10", "R@20", "RR", "RR@5", "Success@3", "RBP(p=0.9)"]
)
def test_raw_values_are_those_of_evaluate(track, measure):
    found = study(track, measure=measure, n_samples=10, no_relevant="zero")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteadyrankWarning)
        scores = sr.evaluate(track.runs, track.qrels, measure)
    np.testing.assert_allclose(found.raw, scores.values[0], atol=1e-12)
    assert found.runs == scores.runs


def test_raw_ndcg_has_binary_gains(track):
    binary = sr.qrels_from_dict(
        {
            topic: {doc: int(grade >= 1) for doc, grade in judged.items()}
            for topic, judged in grades_of(track.qrels).items()
        }
    )
    found = study(track, measure="nDCG@10", n_samples=10, no_relevant="zero")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteadyrankWarning)
        scores = sr.evaluate(track.runs, binary, "nDCG@10")
    np.testing.assert_allclose(found.raw, scores.values[0], atol=1e-12)
    assert found.measure == "binary nDCG@10 (grade ≥ 1)"


@pytest.mark.parametrize(
    ("measure", "rel", "name"),
    [
        ("AP", None, "AP"),
        ("AP", 2, "AP(rel=2)"),
        ("AP(rel=2)", None, "AP(rel=2)"),
        ("AP(rel=2)", 2, "AP(rel=2)"),
        ("P(rel=2)@10", None, "P(rel=2)@10"),
        ("RBP(p=0.9)", 2, "RBP(p=0.9,rel=2)"),
        ("Success@3", None, "Success@3"),
        ("ndcg_cut_10", None, "binary nDCG@10 (grade ≥ 1)"),
        ("nDCG(dcg='exp-log2')", 2, "binary nDCG(dcg='exp-log2') (grade ≥ 2)"),
        (sr.parse_measure("nDCG@5"), 2, "binary nDCG@5 (grade ≥ 2)"),
    ],
)
def test_a_measure_keeps_its_name_only_if_it_is_that_measure(track, measure, rel, name):
    found = study(track, measure=measure, rel=rel, n_samples=10)
    assert found.measure == name
    assert name in found.caption()


@pytest.mark.parametrize("top", [1, 2])
def test_with_one_grade_of_relevant_documents_ndcg_is_itself(track, top):
    grades = {
        topic: {doc: top * int(grade >= 1) for doc, grade in judged.items()}
        for topic, judged in grades_of(track.qrels).items()
    }
    qrels = sr.qrels_from_dict(grades)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteadyrankWarning)
        found = sr.simulate(
            track.runs, qrels, measure="nDCG@10", documents="independent", n_samples=10
        )
        scores = sr.evaluate(track.runs, qrels, "nDCG@10")
    assert found.measure == "nDCG@10"
    np.testing.assert_allclose(found.raw, scores.values[0], atol=1e-12)


def test_relevant_from_a_grade_on(track):
    named, given = (
        study(track, n_samples=50, **options)
        for options in ({"measure": "AP(rel=2)"}, {"measure": "AP", "rel": 2})
    )
    assert_same(named, given)
    higher, lower = (study(track, measure="nDCG@10", rel=k, n_samples=50) for k in (2, None))
    assert not np.array_equal(higher.raw, lower.raw)
    with pytest.raises(InputError, match="contradict each other"):
        study(track, measure="AP(rel=2)", rel=1)
    with pytest.raises(InputError, match="rel takes a grade of at least 1, got 0"):
        study(track, measure="nDCG@10", rel=0)


def test_modes_and_what_takes_precedence_over_them(track):
    sound, paper = study(track, n_samples=50), study(track, n_samples=50, mode="paper")
    assert (sound.mode, sound.depth, sound.denominator) == ("sound", "retrieved", "poisson")
    assert (paper.mode, paper.depth, paper.denominator) == ("paper", 1000, "judged")
    assert_same(paper, study(track, n_samples=50, depth=1000, denominator="judged"))
    given = study(track, n_samples=50, mode="paper", depth="retrieved", denominator="poisson")
    assert_same(given, sound)
    with pytest.raises(InputError, match="mode"):
        study(track, mode="fast")


@pytest.mark.parametrize("measure", ["AP", "R@20", "nDCG@10"])
def test_the_sound_denominator_shifts_means_less_than_the_papers(
    measure, builtin_runs, builtin_collection
):
    """On the built-in collection: fewer relevant documents than judged lower a value, more of them
    do not raise it where the denominator grows with them and never falls."""
    shift = {}
    for denominator in ("poisson", "judged"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SteadyrankWarning)
            found = sr.simulate(
                builtin_runs,
                builtin_collection.qrels,
                measure=measure,
                denominator=denominator,
                documents="independent",
                n_samples=500,
                no_relevant="skip",
            )
        shift[denominator] = float((found.simulated_mean - found.raw_mean).mean())
    assert abs(shift["poisson"]) < 0.01
    assert shift["judged"] < -0.015


def grades_of(qrels):
    frame = qrels.to_frame()
    return {
        topic: dict(zip(part["doc_id"], part["relevance"], strict=True))
        for topic, part in frame.groupby("query_id", sort=False)
    }


def test_sums_agree(result):
    np.testing.assert_allclose(result.simulated_mean, result.cell_mean.mean(axis=1), rtol=1e-12)
    within = (result.cell_sd**2).sum(axis=1) / len(result.topics) ** 2
    # Topics are independent, so the variance of a mean is the mean of variances over n: a
    # variance of 1,300 samples is within 20 % of its mean in all but one study of 10^6.
    np.testing.assert_allclose(result.simulated.var(axis=0, ddof=1), within, rtol=0.2)
    np.testing.assert_allclose(result.rank_share.sum(axis=1), 1.0)
    assert result.top_probability(len(result.runs)).tolist() == pytest.approx([1.0] * 6)


def test_threads_change_nothing_but_another_seed_does(track, result):
    for jobs in (1, 2, 5):
        assert_same(again(track, result, jobs=jobs), result)
    with ThreadPoolExecutor(3) as threads:
        assert_same(again(track, result, executor=threads), result)
    assert not np.array_equal(again(track, result, rng=4).simulated, result.simulated)


def test_fewer_samples_are_the_first_ones(track, result):
    few = again(track, result, n_samples=700)
    np.testing.assert_array_equal(few.simulated, result.simulated[:700])


def test_a_large_study_may_use_a_file(track, result, monkeypatch):
    monkeypatch.setattr(sample_blocks, "IN_MEMORY", 0)
    assert_same(again(track, result), result)


def test_a_store_takes_up_where_it_stopped(track, result, tmp_path):
    store = tmp_path / "store"
    assert_same(
        again(track, result, store=store, n_samples=700), again(track, result, n_samples=700)
    )
    (store / "samples-000000.block").unlink()
    kept = (store / "samples-000001.block").stat().st_mtime_ns
    assert_same(again(track, result, store=store), result)
    before = {path.name: path.stat().st_mtime_ns for path in store.iterdir()}
    assert before["samples-000001.block"] != kept, "the first study's last block was half full"
    assert_same(again(track, result, store=store), result)
    assert before == {path.name: path.stat().st_mtime_ns for path in store.iterdir()}


@pytest.mark.parametrize(
    "options",
    [
        {"rng": 9},
        {"measure": "P@10"},
        {"model": "kde"},
        {"depth": 50},
        {"mode": "paper"},
        {"denominator": "judged"},
        {"rel": 2},
        {"documents": "shared"},
    ],
)
def test_a_store_refuses_other_settings(track, tmp_path, options):
    study(track, store=tmp_path / "store", n_samples=20)
    with pytest.raises(InputError, match="different settings"):
        study(track, store=tmp_path / "store", **{"n_samples": 20, **options})


PROGRAM = """
import sys, warnings, numpy as np
import steadyrank as sr
warnings.simplefilter("ignore")
track = sr.simulated_track(n_teams=4, runs_per_team=3, n_topics=30, depth=100, pool_depth=50)
found = sr.simulate(
    track.runs, track.qrels, n_samples=2_500, no_relevant="skip", store=sys.argv[1], jobs=1,
    progress=lambda done, total: (print(done, flush=True), sys.stdin.readline()),
)
sys.stdout.write(found.simulated.tobytes().hex()[:1000] + " " + str(found.cell_sd.sum()))
"""


def test_killed_and_started_again_gives_the_same_bytes(tmp_path):
    def start(folder, stdin=subprocess.DEVNULL):
        command = [sys.executable, "-c", PROGRAM, str(tmp_path / folder)]
        return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True)

    undisturbed, _ = start("whole").communicate(timeout=600)
    victim = start("killed", stdin=subprocess.PIPE)  # waits after its first block
    assert victim.stdout is not None
    victim.stdout.readline()
    victim.send_signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
    victim.communicate()
    n_kept = len(list((tmp_path / "killed").glob("*.block")))
    assert 0 < n_kept < 5
    resumed, _ = start("killed").communicate(timeout=600)
    assert resumed.splitlines()[-1] == undisturbed.splitlines()[-1]
    assert len(resumed.splitlines()) < len(undisturbed.splitlines())


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(track, result, forked_workers):
    distributed = pytest.importorskip("distributed")
    with (
        forked_workers(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        victim = next(iter(cluster.workers.values()))
        killed = []

        def kill_one(done, total):
            if not killed:
                killed.append(done)
                os.kill(victim.pid, signal.SIGKILL)

        found = again(track, result, scheduler=client.scheduler.address, progress=kill_one)
        assert killed
        assert_same(found, result)


def test_bandwidths():
    case = golden("kde_bandwidth")
    x = np.array(case["inputs"]["x"])
    expected = case["expected"]
    assert bandwidth_of(x, SCOTT, 0.0) == pytest.approx(expected["bw_scipy_scott"], rel=1e-10)
    assert bandwidth_of(x, SILVERMAN, 0.0) == pytest.approx(
        expected["bw_scipy_silverman"], rel=1e-10
    )
    for rule, method in ((SCOTT, "scott"), (SILVERMAN, "silverman")):
        theirs = math.sqrt(gaussian_kde(x, method).covariance[0, 0])
        assert bandwidth_of(x, rule, 0.0) == pytest.approx(theirs, rel=1e-12)
    middle = np.median(np.abs(x - np.median(x))) / 0.6745
    assert bandwidth_of(x, ROBUST, 0.0) == pytest.approx(middle * (4 / 30) ** 0.2, rel=1e-12)
    mostly = np.array([1.0, 1.0, 1.0, 1.0, 3.0])
    assert bandwidth_of(mostly, ROBUST, 0.0) == pytest.approx(2.0 * (4 / 15) ** 0.2, rel=1e-12)
    assert bandwidth_of(x, NUMBER, 0.5) == 0.5
    for flat in (np.array([1.0]), np.array([2.0, 2.0]), np.array([np.inf, 1.0])):
        assert bandwidth_of(flat, SCOTT, 0.0) == 0.0


def test_denominators_golden():
    case = golden("ap_denominators")
    inputs, expected = case["inputs"], case["expected"]
    ranks = np.flatnonzero(inputs["labels"]) + 1
    sampled = len(ranks)
    total = expected["sum_precision"]
    assert average_precision(ranks, 1) == pytest.approx(total)
    for base, name in (
        (max(inputs["R"], sampled), "ap_judged"),
        (sampled, "ap_sampled"),
        (sampled + inputs["unretrieved_sim"], "ap_poisson"),
    ):
        assert average_precision(ranks, base) == pytest.approx(expected[name])


@pytest.mark.parametrize("denominator", ["judged", "poisson"])
def test_known_truth(denominator):
    """Collections drawn from a known law: does one of them foretell how AP varies over all?

    Relevant scores N(1.5, 1), Poisson(30) of them, others N(0, 1), 500 documents; 30 relevant
    documents at least ("judged"), or Poisson(10) that are not retrieved ("poisson"). The mean
    bootstrap deviation over 40 collections is within 12 % of the true one (its own standard
    error is below 3 %), as is the one of densities.
    """
    rng = np.random.default_rng(8)

    def unretrieved(n):
        return max(0, 30 - n) if denominator == "judged" else int(rng.poisson(10))

    def collection():
        n = int(rng.poisson(30))
        return rng.normal(1.5, 1, n), rng.normal(size=500 - n)

    truth = []
    for _ in range(3000):
        relevant, others = collection()
        order = np.argsort(-np.concatenate([relevant, others]))
        ranks = np.flatnonzero(order < len(relevant)) + 1
        truth.append(average_precision(ranks, len(relevant) + unretrieved(len(relevant))))
    for model in ("bootstrap", "kde"):
        deviations = []
        for _ in range(40):
            relevant, others = collection()
            run = {f"r{i}": float(x) for i, x in enumerate(relevant)}
            run |= {f"n{i}": float(x) for i, x in enumerate(others)}
            grades = {f"r{i}": 1 for i in range(len(relevant))}
            grades |= {f"u{i}": 1 for i in range(unretrieved(len(relevant)))}
            runs = [sr.run_from_dict({"1": run}, name=name) for name in "ab"]
            qrels = sr.qrels_from_dict({"1": grades})
            found = sr.simulate(runs, qrels, model=model, denominator=denominator, n_samples=600)
            deviations.append(found.cell_sd.mean())
        assert np.mean(deviations) == pytest.approx(np.std(truth), rel=0.12)


def test_one_cell_of_the_study_follows_the_witness(track):
    """Mean of a cell of the study within 4.5 standard errors of the sampler that sorts."""
    result = study(track)
    rng = np.random.default_rng(1)
    topic = result.topics[2]
    run = track.runs[1]
    grades = grades_of(track.qrels)[topic]
    scores = dict(run.ranking(topic))
    relevant = np.array([s for doc, s in scores.items() if grades.get(doc, 0) >= 1])
    others = np.array([s for doc, s in scores.items() if grades.get(doc, 0) < 1])
    judged = sum(grade >= 1 for grade in grades.values())
    theirs = plain_samples(relevant, others, 3000, rng, judged=judged, denominator="poisson")
    error = math.hypot(theirs.std() / 3000**0.5, result.cell_sd[1, 2] / N_SAMPLES**0.5)
    assert abs(theirs.mean() - result.cell_mean[1, 2]) < 4.5 * error


def test_raw_decisions_are_the_t_test(track, result):
    from scipy.stats import ttest_rel

    for (a, b), pvalue in zip(all_pairs(len(result.runs)), result.raw_pvalue, strict=True):
        assert pvalue == pytest.approx(ttest_rel(result.raw[a], result.raw[b]).pvalue)
    assert 0 <= result.decision_agreement <= 1
    assert [row["rank"] for row in result.rows()] == list(range(1, 7))
    assert list(result.to_frame()["run"]) == [row["run"] for row in result.rows()]


def test_missing_topics_and_runs_of_unequal_depth():
    qrels = sr.qrels_from_dict({"1": {"a": 1}, "2": {"b": 1, "c": 1}, "3": {"x": 0}})
    one = sr.run_from_dict({"1": {"a": 2.0, "z": 1.0}, "2": {"b": 1.0}}, name="one")
    two = sr.run_from_dict({"1": {"z": 2.0}}, name="two")
    with (
        pytest.warns(SteadyrankWarning, match="lacks? judged topics"),
        pytest.warns(SteadyrankWarning, match="no relevant document: left out"),
    ):
        found = sr.simulate([one, two], qrels, n_samples=50, no_relevant="skip")
    assert found.topics == ("1", "2")
    assert not found.cell_mean[1].any()
    assert found.none_relevant == 2
    judged = sr.qrels_from_dict({"1": {"a": 1}, "2": {"b": 1}})
    with pytest.raises(InputError, match="lacks? judged topics"):
        sr.simulate([one, two], judged, n_samples=50, missing="error")
    with pytest.raises(InputError, match="topic ids"):
        sr.simulate([one], sr.qrels_from_dict({"q1": {"a": 1}}), n_samples=10)


def test_a_run_without_real_scores_is_told(track):
    flat = sr.run_from_dict(
        {
            t: dict.fromkeys([d for d, _ in track.runs[0].ranking(t)], 1.0)
            for t in track.runs[0].topics
        },
        name="flat",
    )
    with pytest.warns(SteadyrankWarning, match='score_source="rank"'):
        sr.simulate([flat, track.runs[1]], track.qrels, n_samples=20)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "ERR@10"}, "cannot be simulated"),
        ({"measure": "AP@10"}, "without a cutoff"),
        ({"measure": "nDCG(gains=(0,1,3))@10"}, "gains"),
        ({"documents": "own"}, "way to draw documents"),
        ({"documents": "shared", "model": "kde"}, 'documents="independent"'),
        ({"documents": "shared", "denominator": "judged"}, 'documents="independent"'),
        ({"documents": "shared", "measure": "nDCG@10", "rel": 2}, "takes no rel"),
        ({"documents": "shared", "measure": "Bpref"}, "cannot be simulated"),
        ({"documents": "shared", "measure": "AP(judged_only=True)"}, "without judged_only"),
        ({"model": "bayes"}, "model"),
        ({"kernel": "uniform"}, "kernel uniform belongs to model kde"),
        ({"model": "kde", "kernel": "cosine"}, "kernel"),
        ({"depth": 0}, "depth"),
        ({"bandwidth": "wide"}, "bandwidth"),
        ({"bandwidth": -1.0}, "bandwidth"),
        ({"n_samples": 0}, "n_samples"),
        ({"alpha": 1.5}, "alpha"),
        ({"denominator": "none"}, "denominator"),
        ({"score_source": "file"}, "score source"),
        ({"missing": "skip"}, "missing topics"),
    ],
)
def test_bad_settings_are_refused(track, options, message):
    with pytest.raises(InputError, match=message):
        study(track, **{"n_samples": 10, **options})


def test_one_topic_and_one_run_are_defined():
    qrels = sr.qrels_from_dict({"1": {"a": 1, "b": 1}})
    runs = [
        sr.run_from_dict({"1": {"a": 3.5, "c": 2.0, "b": 1.0}}, name="one"),
        sr.run_from_dict({"1": {"c": 3.5, "d": 2.0, "b": 1.0}}, name="two"),
    ]
    found = sr.simulate(runs, qrels, n_samples=50)
    assert found.significance.rate.tolist() == [0.0]
    assert np.isnan(found.raw_pvalue).all()
    alone = sr.simulate(runs[:1], qrels, n_samples=50)
    assert alone.rank_share.tolist() == [[1.0]]
    assert np.isnan(alone.rank_correlation.mean)
    assert np.isnan(alone.raw_significant_share)
