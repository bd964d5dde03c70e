"""What must hold between measures, whatever the list: limits, special cases, equalities."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from plain_tables import words

import steadyrank as sr

EXACT = {"rel": 0, "abs": 1e-12}

# Every kind of measure, with its cutoffs and parameters where they change the arithmetic.
MEASURES = words(
    """
    AP AP(rel=2) AP@5 nDCG nDCG@5 nDCG(dcg='exp-log2')@5 nDCG(gains=(0,1,3,7))@10 P@5 R@5 Rprec
    RR RR@5 RBP RBP(p=0.95)@5 RBP(graded=True) ERR ERR(max_rel=5)@5 nERR nERR@5 Q Q(beta=10)@5
    Q(gains=(0,1,3,7)) Pplus Pplus@5 nG@1 Twist Twist(rel=2) Success@5
    """
)

PERFECT_WHEN_IDEAL = words(
    """
    AP AP(rel=2) nDCG nDCG@3 nDCG(dcg='exp-log2') nDCG(gains=(0,1,3,7))@3 R@1000 Rprec RR nERR
    nERR@3 Q Q@3 Q(beta=5,rel=2) Q(gains=(0,1,3,7))@10 Pplus Pplus@3 nG@1 nG(gains=(0,1,3,7))@1
    Twist Twist(rel=2) Success@1 Judged
    """
)


def evaluate(rankings, judgments, measures, **options):
    """Scores [measure, topic] of one run, without the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        run = sr.run_from_dict(rankings, name="run")
        return sr.evaluate(run, sr.qrels_from_dict(judgments), measures, **options).values[:, 0]


def topics(seed, grades, n_topics=120):
    """Random rankings of judged and unjudged documents; every topic has a document of the
    largest grade."""
    rng = np.random.default_rng(seed)
    judgments, rankings = {}, {}
    for topic in map(str, range(n_topics)):
        n_judged = int(rng.integers(1, 20))
        judgments[topic] = {f"d{i}": int(rng.choice(grades)) for i in range(n_judged)}
        judgments[topic]["d0"] = max(grades)
        documents = [*judgments[topic], *(f"u{i}" for i in range(rng.integers(0, 20)))]
        depth = int(rng.integers(1, len(documents) + 1))
        order = rng.permutation(len(documents))[:depth]
        rankings[topic] = {documents[i]: -float(rank) for rank, i in enumerate(order)}
    return rankings, judgments


GRADED = topics(1, [-2, 0, 0, 1, 2, 3])
BINARY = topics(2, [0, 0, 1])


def ideal_ranking(judgments):
    """Every judged document, best grade first."""
    return {
        topic: {
            document: -float(rank)
            for rank, document in enumerate(sorted(grades, key=grades.get, reverse=True))
        }
        for topic, grades in judgments.items()
    }


def relevant_of(judgments, level=1):
    return np.array([sum(g >= level for g in grades.values()) for grades in judgments.values()])


def test_q_with_beta_0_on_binary_judgments_is_ap():
    q, q_at_5, ap, ap_at_5 = evaluate(*BINARY, ["Q(beta=0)", "Q(beta=0)@5", "AP", "AP@5"])
    assert q == pytest.approx(ap, **EXACT)
    relevant = relevant_of(BINARY[1])
    assert q_at_5 * np.minimum(relevant, 5) == pytest.approx(ap_at_5 * relevant, **EXACT)


def test_pplus_is_q_when_everything_relevant_is_found_and_the_best_comes_last():
    # One document of grade 3, below all others: it is the preferred rank, so that P+
    # averages the same blended ratios over the same R documents.
    rng = np.random.default_rng(3)
    judgments, rankings = {}, {}
    for topic in map(str, range(60)):
        lesser = {f"d{i}": int(rng.integers(1, 3)) for i in range(rng.integers(0, 12))}
        judgments[topic] = {**lesser, "best": 3, "bad": 0}
        documents = [*lesser, "bad", *(f"u{i}" for i in range(rng.integers(0, 12)))]
        order = [*rng.permutation(documents).tolist(), "best", "u-last"]
        rankings[topic] = {document: -float(rank) for rank, document in enumerate(order)}
    names = ["Pplus", "Q", "Pplus(gains=(0,1,3,7))", "Q(gains=(0,1,3,7))"]
    pplus, q, pplus_gains, q_gains = evaluate(rankings, judgments, names)
    assert pplus == pytest.approx(q, **EXACT)
    assert pplus_gains == pytest.approx(q_gains, **EXACT)
    assert len(set(q.round(6).tolist())) > 20


@pytest.mark.parametrize("measure", PERFECT_WHEN_IDEAL)
def test_the_ideal_list_scores_1(measure):
    _, judgments = GRADED
    scores = evaluate(ideal_ranking(judgments), judgments, measure)
    assert scores == pytest.approx(np.ones_like(scores), **EXACT)


@pytest.mark.parametrize("measure", ["AP", "nDCG@5", "RBP(graded=True)", "ERR", "nERR@5", "Q"])
def test_no_list_beats_the_ideal_one(measure):
    rankings, judgments = GRADED
    best = evaluate(ideal_ranking(judgments), judgments, measure)
    assert (evaluate(rankings, judgments, measure) <= best + 1e-12).all()


@pytest.mark.parametrize("k", [1, 3, 10, 100])
@pytest.mark.parametrize("level", [1, 2])
def test_precision_times_k_is_recall_times_r(k, level):
    precision, recall, success = evaluate(
        *GRADED, [f"P(rel={level})@{k}", f"R(rel={level})@{k}", f"Success(rel={level})@{k}"]
    )
    assert precision * k == pytest.approx(recall * relevant_of(GRADED[1], level), **EXACT)
    assert np.array_equal(success, precision > 0)


def test_rprec_is_precision_and_recall_at_r():
    relevant = relevant_of(GRADED[1])
    ranks = sorted(set(relevant.tolist()))
    rprec, *others = evaluate(
        *GRADED, ["Rprec", *(f"P@{r}" for r in ranks), *(f"R@{r}" for r in ranks)]
    )
    precision, recall = others[: len(ranks)], others[len(ranks) :]
    for t, r in enumerate(relevant):
        assert precision[ranks.index(r)][t] == pytest.approx(rprec[t], **EXACT)
        assert recall[ranks.index(r)][t] == pytest.approx(rprec[t], **EXACT)


@pytest.mark.parametrize("name", ["AP", "nDCG", "RR", "RBP", "ERR", "nERR", "Q", "Pplus", "Judged"])
def test_a_cutoff_below_the_list_changes_nothing(name):
    whole, cut = evaluate(*GRADED, [name, f"{name}@1000"])
    assert whole == pytest.approx(cut, **EXACT)


def test_ways_to_say_the_same_gains():
    pairs = {
        "nDCG(gains=(0,1,2,3))": "nDCG",
        "nDCG(gains=(0,1,3,7))@5": "nDCG(dcg='exp-log2')@5",
        "Q(gains=(0,1,2,3))": "Q",
        "Q(beta=1)": "Q",
        "Pplus(gains=(0,1,2,3))": "Pplus",
        "nG(gains=(0,1,2,3))@1": "nG@1",
        "RBP(p=0.8)": "RBP",
        "ERR(max_rel=3)": "ERR",
        "RBP(graded=True,max_rel=3)": "RBP(graded=True)",
    }
    for one_way, other_way in pairs.items():
        one, other = evaluate(*GRADED, [one_way, other_way])
        assert one == pytest.approx(other, **EXACT), one_way


def test_on_binary_judgments_graded_measures_are_the_binary_ones():
    graded, plain = evaluate(*BINARY, ["RBP(graded=True)", "RBP"])
    assert graded == pytest.approx(plain, **EXACT)
    linear, exponential = evaluate(*BINARY, ["nDCG", "nDCG(dcg='exp-log2')"])
    assert linear == pytest.approx(exponential, **EXACT)


@pytest.mark.parametrize("level", [2, 3])
def test_a_higher_level_is_the_same_as_judging_by_it(level):
    rankings, judgments = GRADED
    strict = {
        topic: {document: int(grade >= level) for document, grade in grades.items()}
        for topic, grades in judgments.items()
    }
    names = ["AP{}", "AP{}@5", "P{}@5", "R{}@5", "Rprec{}", "RR{}", "RBP{}", "Success{}@3"]
    at_level = evaluate(rankings, judgments, [n.format(f"(rel={level})") for n in names])
    assert at_level == pytest.approx(evaluate(rankings, strict, [n.format("") for n in names]))


def test_err_of_a_single_grade_is_worked_out_by_hand():
    # Largest grade 1: every relevant document stops half of those who still look, so that
    # two of them in a row give 1/2 + 1/2 * 1/2 * 1/2.
    judgments = {"1": {"a": 1, "b": 1, "c": 0}}
    rankings = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
    assert evaluate(rankings, judgments, "ERR").item() == pytest.approx(5 / 8, **EXACT)


BARREN = {"zeros": {"a": 0, "b": 0}, "negative": {"a": -1, "b": -2}, "mixed": {"a": -1, "b": 0}}


@pytest.mark.parametrize("measure", MEASURES)
def test_a_topic_without_relevant_documents_scores_zero_or_nothing(measure):
    judgments = {**BARREN, "fine": {"a": 3}}
    rankings = {topic: {"a": 2.0, "u": 1.0} for topic in judgments}
    zero = evaluate(rankings, judgments, measure)[0]
    skip = evaluate(rankings, judgments, measure, no_relevant="skip")[0]
    assert zero[1:].tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(skip[1:]).all()
    assert zero[0] == skip[0] > 0  # topics stand by name, "fine" first


@pytest.mark.parametrize("no_relevant", ["zero", "skip"])
def test_judged_does_not_ask_whether_anything_is_relevant(no_relevant):
    rankings = {topic: {"a": 2.0, "u": 1.0} for topic in BARREN}
    scores = evaluate(rankings, BARREN, ["Judged@1", "Judged"], no_relevant=no_relevant)
    assert scores.tolist() == [[1.0] * 3, [0.5] * 3]


def test_a_level_that_a_topic_does_not_reach_leaves_it_without_relevant_documents():
    judgments = {"high": {"a": 2}, "low": {"a": 1}}
    rankings = {topic: {"a": 1.0} for topic in judgments}
    names = ["AP(rel=2)", "Q(rel=2)", "Twist(rel=2)"]
    assert evaluate(rankings, judgments, names).tolist() == [[1.0, 0.0]] * 3
    skip = evaluate(rankings, judgments, names, no_relevant="skip")
    assert np.array_equal(skip, [[1.0, np.nan]] * 3, equal_nan=True)


def test_a_topic_without_any_judgment_has_no_relevant_documents():
    judgments = {"1": {"a": 1}, "2": {}}
    rankings = {topic: {"a": 1.0} for topic in judgments}
    assert evaluate(rankings, judgments, ["AP", "Judged"]).tolist() == [[1.0, 0.0]] * 2


@pytest.mark.parametrize("measure", ["ERR", "nERR", "nDCG(dcg='exp-log2')"])
def test_a_grade_too_large_to_be_an_exponent_is_refused(measure):
    with pytest.raises(sr.InputError):
        evaluate({"1": {"a": 1.0}}, {"1": {"a": 1100}}, measure)
