"""`evaluate`: missing topics, names, threads, executors and what it warns about."""

from __future__ import annotations

import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from plain_tables import refused

import steadyrank as sr

QRELS = {"1": {"d1": 1, "d2": 0}, "2": {"d1": 2}, "3": {"d5": 0}}


def run(name="a", **rankings):
    return sr.run_from_dict(rankings or {"1": {"d1": 1.0}}, name=name)


def quietly(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sr.evaluate(*args, **options)


def test_topics_that_a_run_lacks_and_topics_without_relevant_documents():
    qrels = sr.qrels_from_dict(QRELS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = sr.evaluate(run(), qrels, "AP")
    told = [str(w.message) for w in caught]
    assert scores.values.tolist() == [[[1.0, 0.0, 0.0]]]
    assert any("1 run lacks judged topics ('a' lacks 2 of 3): it scores 0" in t for t in told)
    assert any("1 of 3 topics has no relevant document: it scores 0" in t for t in told)
    skipped = quietly(run(), qrels, "AP", missing="skip", no_relevant="skip")
    assert np.array_equal(skipped.values, [[[1.0, np.nan, np.nan]]], equal_nan=True)
    zero = quietly(run(), qrels, "AP", missing="skip")
    assert np.array_equal(zero.values, [[[1.0, np.nan, 0.0]]], equal_nan=True)
    refused(
        "lacks? judged topics.*missing=.zero. or missing=.skip",
        quietly,
        run(),
        qrels,
        "AP",
        missing="error",
    )


def test_topics_that_nobody_judged_are_left_out_and_told():
    qrels = sr.qrels_from_dict({"1": {"d1": 1}})
    with pytest.warns(sr.SteadyrankWarning, match=r"topics that nobody judged \(up to 1\)"):
        scores = sr.evaluate(run(**{"1": {"d1": 1.0}, "9": {"d1": 1.0}}), qrels, "AP")
    assert scores.topics == ("1",)
    refused("no run has any topic of the qrels", quietly, run(**{"q1": {"d1": 1.0}}), qrels, "AP")


def test_wrong_choices_are_named():
    qrels = sr.qrels_from_dict(QRELS)
    for option in ("missing", "no_relevant", "ties", "duplicates", "name_from"):
        with pytest.raises(sr.UnknownNameError):
            quietly(run(), qrels, "AP", **{option: "zeroo"})
    refused("no runs", sr.evaluate, [], qrels, "AP")
    refused("the qrels hold grade 2.*give 3 gains", quietly, run(), qrels, "nDCG(gains=(0,1))@10")
    refused("above max_rel: give max_rel=2", quietly, run(), qrels, "ERR(max_rel=1)@10")


def make_files(folder, n_runs=6):
    rng = np.random.default_rng(7)
    qrels = folder / "qrels.txt"
    qrels.write_text(
        "".join(f"{t} 0 d{d} {rng.integers(-1, 4)}\n" for t in range(20) for d in range(40))
    )
    for r in range(n_runs):
        lines = [
            f"{t} Q0 d{d} 0 {int(rng.integers(0, 30)) / 7!r} team{r % 2}_run{r}\n"
            for t in range(20)
            for d in rng.permutation(90)[: rng.integers(1, 80)]
        ]
        (folder / f"{r}.run").write_text("".join(lines))
    return qrels, sorted(folder.glob("*.run"))


MEASURES = ["AP", "nDCG@10", "nDCG", "ERR@20", "Q", "Twist", "RBP", "Pplus", "Judged@10"]


def test_threads_processes_and_ways_to_read_give_the_same_bytes(tmp_path):
    qrels, runs = make_files(tmp_path)
    results = [quietly(runs, qrels, MEASURES, jobs=jobs) for jobs in (1, 2, 4)]
    read = sr.read_qrels(qrels)
    results.append(quietly(sr.read_runs(runs), read, MEASURES))
    results.append(quietly(list(sr.read_runs(runs)), read, MEASURES))
    with ThreadPoolExecutor(3) as threads:
        results.append(quietly(runs, qrels, MEASURES, executor=threads))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        results.append(quietly(runs, qrels, MEASURES, executor=processes))
    assert len({result.values.tobytes() for result in results}) == 1


def test_a_dask_cluster_gives_the_same_bytes(tmp_path):
    distributed = pytest.importorskip("distributed")
    qrels, runs = make_files(tmp_path)
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False}
    with distributed.LocalCluster(**options, dashboard_address=":0") as cluster:
        scores = quietly(runs, qrels, MEASURES, scheduler=cluster.scheduler_address)
    assert scores.values.tobytes() == quietly(runs, qrels, MEASURES).values.tobytes()


def test_a_scheduler_that_is_not_there_is_an_error_not_a_wait(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    qrels, runs = make_files(tmp_path, 1)
    monkeypatch.setattr("steadyrank.compute.clusters.PATIENCE", 1)
    with pytest.raises(sr.InputError, match="no Dask scheduler answers at"):
        quietly(runs, qrels, "AP", scheduler="tcp://127.0.0.1:9")


def test_progress_counts_every_run(tmp_path):
    qrels, runs = make_files(tmp_path)
    seen = []
    quietly(runs, qrels, "AP", progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i, 6) for i in range(1, 7)]


def test_run_information_reaches_the_scores(tmp_path):
    qrels, runs = make_files(tmp_path)
    scores = quietly(runs, qrels, "AP", team_from=r"^([^_]+)_")
    assert scores.run_info["team"] == ("team0", "team1") * 3
    read = sr.read_runs(runs, system_from=r"_(\w+)")
    assert quietly(read, qrels, "AP").run_info["system"] == tuple(f"run{r}" for r in range(6))


def test_runs_reused_in_memory_are_not_disturbed_by_files_read_in_between(tmp_path):
    qrels, runs = make_files(tmp_path)
    kept = list(sr.read_runs(runs))
    before = [run.scores.copy() for run in kept]
    quietly(runs, qrels, "AP", jobs=1)
    quietly(runs[::-1], qrels, "AP", jobs=1)
    assert all(np.array_equal(run.scores, old) for run, old in zip(kept, before, strict=True))


def test_ties_on_average():
    qrels = sr.qrels_from_dict({"1": {"a": 1}, "2": {"a": 1}})
    tied = run(**{"1": {"a": 1.0, "b": 1.0}, "2": {"a": 2.0, "b": 1.0}})
    assert sr.evaluate(tied, qrels, "AP", ties="average").values.tolist() == [[[0.75, 1.0]]]
    with pytest.raises(sr.InputError, match="Twist has no known expectation"):
        sr.evaluate(tied, qrels, ["AP", "Twist"], ties="average")


GRADED = {"1": {"a": 3, "b": 1, "c": 0}, "2": {"a": 1, "d": 2}}
BINARY = {"1": {"a": 1, "b": 1, "c": 0}, "2": {"a": 1, "d": 1}}
RANKED = {"r": {"1": {"b": 3.0, "a": 2.0, "c": 1.0}, "2": {"a": 2.0, "d": 1.0}}}


def test_a_level_for_all_binary_measures_is_the_one_in_their_names():
    names = ["AP", "P@2", "RR", "nDCG@10", "Q@10", "P(rel=1)@1", "NumRel"]
    scores = sr.evaluate(RANKED, GRADED, names, rel=2)
    assert scores.measures == (
        *("AP(rel=2)", "P(rel=2)@2", "RR(rel=2)"),
        *("nDCG@10", "Q@10", "P(rel=1)@1", "NumRel(rel=2)"),
    )
    by_name = sr.evaluate(RANKED, GRADED, scores.measures)
    np.testing.assert_array_equal(scores.values, by_name.values)
    # The second documents are the only ones of grade 2 or above.
    assert scores.select(measures=["AP(rel=2)", "RR(rel=2)"]).values.ravel().tolist() == [0.5] * 4
    assert sr.evaluate(RANKED, GRADED, "AP", rel=1).measures == ("AP",)
    refused("rel takes a grade of at least 1, got 0", sr.evaluate, RANKED, GRADED, "AP", rel=0)


def test_binary_measures_on_graded_judgments_are_warned_of_once():
    message = "grades go up to 3, and AP and P@10 count grade 1 as relevant: for grade 2 write AP"
    with pytest.warns(sr.SteadyrankWarning) as told:
        sr.evaluate(RANKED, GRADED, ["nDCG@10", "AP", "P@10"])
    assert [str(one.message).startswith(message) for one in told] == [True]


@pytest.mark.filterwarnings("error")
def test_who_says_the_level_is_not_warned():
    sr.evaluate(RANKED, GRADED, ["AP(rel=2)", "nDCG@10", "Q@10", "NumRel", "RBP(graded=True)"])
    sr.evaluate(RANKED, GRADED, "AP", rel=1)
    sr.evaluate(RANKED, BINARY, "AP")
    with pytest.raises(sr.SteadyrankWarning):
        sr.evaluate(RANKED, GRADED, "AP")


def test_the_first_measure_by_default_is_the_one_for_the_judgments():
    assert sr.evaluate(RANKED, BINARY).measures == ("AP", "nDCG@10", "P@10")
    assert sr.evaluate(RANKED, GRADED).measures == ("nDCG@10", "AP", "P@10")


# A user's own measure.


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    qrels = sr.qrels_from_dict(
        {f"{t}": {f"d{d}": int(rng.integers(-1, 3)) for d in range(30)} for t in range(15)}
    )
    rankings = {f"{t}": {f"d{d}": rng.random() for d in range(10, 50)} for t in range(15)}
    return sr.run_from_dict(rankings, name="a"), qrels


def test_a_measure_of_one_s_own_agrees_with_the_built_in_one(data):
    def own(ranked, judged):
        precisions = np.cumsum(ranked > 0) / np.arange(1, len(ranked) + 1)
        score = precisions[ranked > 0].sum() / (judged > 0).sum()
        judged[:] = ranked[:] = 7  # it may scribble on its arguments
        return score

    measure = sr.register_measure("OwnAP", own)
    scores = sr.evaluate(*data, ["AP", "OwnAP", "AP@5", measure @ 5, "nDCG"])
    assert np.allclose(scores.matrix("AP"), scores.matrix("OwnAP"), rtol=0, atol=1e-15)
    assert np.allclose(scores.matrix("AP@5"), scores.matrix("OwnAP@5"), rtol=0, atol=1e-15)
    assert np.array_equal(scores.matrix("nDCG"), sr.evaluate(*data, "nDCG").matrix())


def test_a_name_means_what_was_registered_last(data):
    refused("Later", sr.evaluate, *data, "Later@5")
    for value in (0.25, 0.75):
        sr.register_measure("Later", lambda ranked, judged, value=value: value)
        assert (sr.evaluate(*data, "Later@5").values == value).all()
    assert repr(sr.parse_measure("Later@3")) == "Later@3"
    refused("did you mean 'Later'", sr.parse_measure, "Latr", error=sr.UnknownNameError)


def test_the_grades_handed_over_are_those_of_the_files():
    seen = []

    def spy(ranked, judged):
        seen.append((ranked.tolist(), judged.tolist()))
        return 0.5

    qrels = sr.qrels_from_dict({"1": {"a": 2, "b": -1, "c": 0, "e": 1}, "2": {"a": 0}})
    one = run("r", **{"1": {"x": 9, "b": 8, "a": 7, "c": 6}, "2": {"a": 1}})
    sr.register_measure("Spy", spy)
    scores = quietly(one, qrels, "Spy", no_relevant="skip")
    assert seen == [([0, -1, 2, 0], [2, 1, 0, -1])]
    assert np.array_equal(scores.values[0, 0], [0.5, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    "function", [lambda ranked, judged: None, lambda ranked, judged: 1 / 0, lambda ranked: 1.0]
)
def test_functions_that_give_no_number_are_told(data, function):
    sr.register_measure("Broken", function)
    refused("measure Broken failed: .*must turn", sr.evaluate, *data, "Broken")


@pytest.mark.parametrize("name", ["AP", "map", "ndcg", "P_10", "rbp95", "1st", "a b", "x@5", ""])
def test_names_that_are_taken_or_no_names_are_refused(name):
    with pytest.raises(sr.InputError):
        sr.register_measure(name, lambda ranked, judged: 0.0)
