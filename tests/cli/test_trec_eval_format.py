"""`evaluate --format trec_eval`: byte for byte what trec_eval prints."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from commanding import call, refused

import steadyrank as sr
from steadyrank.present.trec_eval import trec_eval_text

GRADES = {"1": {"a": 1, "b": 0}, "2": {"a": 0, "c": 2}, "10": {"b": 1}}
RUN = {"1": {"a": 1.0, "b": 2.0}, "2": {"a": 3.0, "c": 1.0, "d": 2.0}, "10": {"b": 0.5}}
OTHER = {"1": {"a": 3.0, "b": 2.0}, "2": {"c": 3.0}, "10": {"a": 1.0, "b": 0.5}}


@pytest.fixture
def files(write):
    """Judgments and two runs as TREC text."""
    write("qrels.txt", "".join(f"{t} 0 {d} {g}\n" for t, x in GRADES.items() for d, g in x.items()))
    for name, run in (("one", RUN), ("two", OTHER)):
        lines = (f"{t} Q0 {d} 1 {s} {name}\n" for t, x in run.items() for d, s in x.items())
        path = write(f"{name}.run", "".join(lines))
    return path.parent


# What trec_eval prints; the values are those of pytrec-eval-terrier 0.5.11.
WANTED = ("map", "Rprec", "recip_rank", "P_5", "recall_5", "ndcg", "ndcg_cut_10", "success_1")
TREC_NAMES = {"map", "Rprec", "recip_rank", "P.5", "recall.5", "ndcg", "ndcg_cut.10", "success.1"}


def as_trec_eval(run, *, per_topic, level=1):
    """What trec_eval prints, from pytrec_eval's values and trec_eval's format strings."""
    evaluator = pytrec_eval.RelevanceEvaluator(GRADES, TREC_NAMES, relevance_level=level)
    found = evaluator.evaluate(run)
    topics = sorted(found)
    lines = [
        "%-22s\t%s\t%6.4f\n" % (name, topic, found[topic][name])  # noqa: UP031
        for topic in (topics if per_topic else [])
        for name in WANTED
    ]
    for name in WANTED:
        mean = sum(found[topic][name] for topic in topics) / len(topics)
        lines.append("%-22s\t%s\t%6.4f\n" % (name, "all", mean))  # noqa: UP031
    return "".join(lines)


@pytest.mark.parametrize("per_topic", [False, True])
def test_evaluate_prints_what_trec_eval_prints(capsys, files, per_topic):
    measures = [word for name in reversed(WANTED) for word in ("-m", name)]
    words = ["--format", "trec_eval", *measures, *(["-q"] if per_topic else [])]
    code, out, _ = call(capsys, "evaluate", files / "qrels.txt", files / "one.run", *words)
    assert code == 0
    assert out == as_trec_eval(RUN, per_topic=per_topic)


@pytest.mark.parametrize("words", ["evaluate --format trec_eval --rel 2", "trec_eval -l 2 -c"])
def test_a_level_is_trec_evals_option_l(capsys, files, words):
    measures = [word for name in WANTED for word in ("-m", name)]
    paths = (files / "qrels.txt", files / "one.run")
    code, out, _ = call(capsys, *words.split(), *measures, "-q", *paths)
    assert code == 0
    assert out == as_trec_eval(RUN, per_topic=True, level=2)
    assert out != as_trec_eval(RUN, per_topic=True)


def test_topics_that_a_run_lacks_count_as_with_trec_evals_option_c(capsys, files, write):
    lacking = write("lacking.run", "2 Q0 c 1 1 x\n")
    words = (files / "qrels.txt", lacking, "-m", "map", "-q", "--format", "trec_eval", "--quiet")
    _, out, _ = call(capsys, "evaluate", *words)
    assert [line.split("\t")[1:] for line in out.splitlines()] == [
        ["1", "0.0000"],
        ["10", "0.0000"],
        ["2", "1.0000"],
        ["all", "0.3333"],
    ]
    _, out, _ = call(capsys, "evaluate", *words, "--missing", "skip")
    assert [line.split("\t")[1:] for line in out.splitlines()] == [
        ["2", "1.0000"],
        ["all", "1.0000"],
    ]
    assert "omit --no-relevant skip" in refused(capsys, "evaluate", *words, "--no-relevant", "skip")


def test_the_official_measures_begin_with_the_run_and_the_number_of_topics(capsys, files):
    words = (files / "qrels.txt", files / "one.run", "--format", "trec_eval")
    _, out, _ = call(capsys, "evaluate", *words)
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0] == ["runid                 ", "all", "one"]
    assert lines[1] == ["num_q                 ", "all", "3"]
    found = {name.strip(): value for name, _, value in lines}
    logs = np.log([0.5, 1 / 3, 1.0])
    assert found["gm_map"] == f"{np.exp(logs.mean()):.4f}"
    assert list(found)[-9:] == [f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]


def test_what_evaluate_prints_is_read_again(capsys, files):
    runs = (files / "one.run", files / "two.run")
    words = (files / "qrels.txt", *runs, "-m", "map", "-m", "RBP", "-q", "--format", "trec_eval")
    _, out, _ = call(capsys, "evaluate", *words, "-o", files / "both.eval")
    assert out == ""
    scores = sr.read_scores(files / "both.eval")
    ours = sr.evaluate(list(runs), files / "qrels.txt", ["AP", "RBP"])
    assert (scores.measures, scores.runs) == (("map", "RBP"), ("one", "two"))
    expected = ours.select(topics=scores.topics).values
    np.testing.assert_allclose(scores.values, expected, atol=0.00005)


def test_counts_are_whole_and_summed():
    scores = sr.Scores(
        measures=["NumRet", "IPrec@0.1"],
        runs=["a"],
        topics=["2", "10"],
        values=[[[5, 7]], [[0.5, 1.0]]],
    )
    text = trec_eval_text(scores, per_topic=False, official=False)
    assert text == "num_ret               \tall\t12\niprec_at_recall_0.10  \tall\t0.7500\n"
