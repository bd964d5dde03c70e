"""Measures of sets, of incomplete judgments and of condensed lists, beside other people's programs.

The collections hold what breaks programs: negative grades, unjudged documents, ties, topics
without relevant or without other judged documents, rankings of one document, rankings that share
no document with the judgments. Differences that remain are pinned one by one.
"""

# Witnesses: pytrec-eval-terrier 0.5.11 (trec_eval 9), ir-measures 0.4.3. numpy 2.4.6 draws.

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import steadyrank as sr

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import ir_measures
    import pytrec_eval

TOLERANCE = 1e-12
POOL = [f"{stem}{i}" for i in range(40) for stem in ("d", "D-", "é")]


def evaluate(rankings, judgments, measures, **options):
    """Scores as {measure: {topic: score}} of one run, without the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        run = sr.run_from_dict(rankings, name="run")
        scores = sr.evaluate(run, sr.qrels_from_dict(judgments), measures, **options)
    rows = scores.values[:, 0, :].tolist()
    return {
        measure: dict(zip(scores.topics, row, strict=True))
        for measure, row in zip(scores.measures, rows, strict=True)
    }


def judgments_of_a_topic(rng, kind):
    grades = {
        "mixed": [-2, -1, 0, 0, 1, 1, 2, 3],
        "none relevant": [-1, 0],
        "all relevant": [1, 2, 3],
        "relevant and unjudged": [-1, 1],
    }[kind]
    picked = rng.permutation(len(POOL))[: rng.integers(1, 60)]
    judged = {POOL[i]: int(rng.choice(grades)) for i in picked}
    # A topic with negative grades alone kills pytrec_eval.
    judged[POOL[picked[0]]] = max(grades[-1], 0)
    return judged


def odd_collection(seed, n_topics=60):
    """A run and judgments; scores take eight values, all above 0 and exact in 32 bits."""
    rng = np.random.default_rng(seed)
    kinds = ["mixed", "mixed", "none relevant", "all relevant", "relevant and unjudged"]
    judgments = {str(t): judgments_of_a_topic(rng, kinds[t % 5]) for t in range(n_topics)}
    rankings = {}
    for t in range(n_topics):
        depth = int(rng.choice([1, 2, 10, len(POOL)]))
        names = [f"x{i}" for i in range(20)] if t % 7 == 3 else POOL  # nothing in common
        picked = rng.permutation(len(names))[:depth]
        scores = rng.integers(1, 9, len(picked)) / 8
        rankings[str(t)] = dict(zip((names[i] for i in picked), scores.tolist(), strict=True))
    return rankings, judgments


TREC_EVAL = {
    "AP": "map",
    "AP@5": "map_cut_5",
    "P@5": "P_5",
    "R@10": "recall_10",
    "Rprec": "Rprec",
    "RR": "recip_rank",
    "Success@5": "success_5",
    "nDCG": "ndcg",
    "nDCG@10": "ndcg_cut_10",
    "Bpref": "bpref",
    "infAP": "infAP",
    "SetP": "set_P",
    "SetR": "set_recall",
    "SetF": "set_F",
    "SetAP": "set_map",
    "SetP(relative=True)": "set_relative_P",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
    **{f"IPrec@{r / 10}": f"iprec_at_recall_{r / 10:.2f}" for r in range(11)},
    "IPrec@0.05": "iprec_at_recall_0.05",
    "IPrec@0.33": "iprec_at_recall_0.33",
}


def with_parameters(name, level, condensed):
    measure = sr.parse_measure(name)
    if level > 1 and "rel" in measure.kind.parameters and measure.name != "NumRet":
        measure = measure(rel=level)
    if condensed and "judged_only" in measure.kind.parameters:
        measure = measure(judged_only=True)
    return measure


@pytest.mark.parametrize("condensed", [False, True], ids=["all", "judged_only"])
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_trec_eval_agrees_on_every_topic(seed, level, condensed):
    rankings, judgments = odd_collection(seed)
    theirs = {topic: {} for topic in judgments}
    # bpref alone: among others it was seen to kill pytrec_eval.
    for witnesses in ({"bpref"}, set(TREC_EVAL.values()) - {"bpref"}):
        evaluator = pytrec_eval.RelevanceEvaluator(
            judgments, witnesses, relevance_level=level, judged_docs_only_flag=int(condensed)
        )
        for topic, scores in evaluator.evaluate(rankings).items():
            theirs[topic] |= scores
    measures = [with_parameters(name, level, condensed) for name in TREC_EVAL]
    scores = evaluate(rankings, judgments, measures)
    for measure, witness in zip(measures, TREC_EVAL.values(), strict=True):
        for topic, score in scores[str(measure)].items():
            expected = theirs[topic][witness]
            if math.isnan(expected):
                # trec_eval divides 0 by 0 where no document is left: see below.
                assert measure.name == "IPrec"
                assert condensed
                expected = 0.0
            assert score == pytest.approx(expected, rel=0, abs=TOLERANCE), (str(measure), topic)


def ir_measures_cases():
    m = ir_measures
    for name in ("Bpref", "infAP", "SetP", "SetR", "SetF", "SetAP", "NumRet", "NumRel"):
        yield getattr(m, name)
    yield from (m.Bpref(rel=2), m.infAP(rel=2), m.NumRelRet, m.NumRet(rel=2), m.SetRelP)
    yield from (m.SetF(beta=0.5), m.SetF(beta=2.0, rel=2), m.SetP(rel=2, judged_only=True))
    yield from (m.IPrec @ 0.1, m.IPrec(rel=2) @ 0.5, m.IPrec @ 1.0)
    yield from (m.AP(judged_only=True), m.nDCG(judged_only=True) @ 10, m.R(judged_only=True) @ 5)
    yield from (m.Rprec(judged_only=True, rel=2), m.RR(judged_only=True), m.SetR(rel=3))
    yield m.nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7}, judged_only=True) @ 5


@pytest.mark.parametrize("measure", list(ir_measures_cases()), ids=str)
def test_ir_measures_agrees_on_every_topic(measure):
    for seed in (11, 12):
        rankings, judgments = odd_collection(seed)
        theirs = {
            metric.query_id: metric.value
            for metric in ir_measures.pytrec_eval.iter_calc([measure], judgments, rankings)
        }
        (scores,) = evaluate(rankings, judgments, [measure]).values()
        assert scores == pytest.approx(theirs, rel=0, abs=TOLERANCE)


@pytest.mark.parametrize("measure", ["Compat", "Compat(p=0.8)"])
def test_ir_measures_agrees_on_compatibility_where_no_scores_tie(measure):
    theirs = ir_measures.parse_measure(measure)
    for seed in (21, 22):
        rng = np.random.default_rng(seed)
        rankings, judgments = odd_collection(seed)
        for ranking in rankings.values():
            ranking.update(zip(ranking, rng.permutation(len(ranking)) + 1.0, strict=True))
        expected = {
            metric.query_id: metric.value
            for metric in ir_measures.compat.iter_calc([theirs], judgments, rankings)
        }
        (scores,) = evaluate(rankings, judgments, measure).values()
        assert scores == pytest.approx(expected, rel=0, abs=TOLERANCE)


def test_the_collections_hold_what_they_claim():
    rankings, judgments = odd_collection(0)
    best = [max(grades.values()) for grades in judgments.values()]
    worst = [min(grades.values()) for grades in judgments.values()]
    assert min(best) == 0
    assert max(worst) >= 1, "nothing judged non-relevant"
    assert min(worst) == -2
    assert {len(ranking) for ranking in rankings.values()} >= {1, 2, 10, len(POOL)}
    assert any(not set(rankings[topic]) & set(judgments[topic]) for topic in judgments)
    assert any(len(set(ranking.values())) < len(ranking) for ranking in rankings.values())


# Where a witness is wrong, or differs.

ONE_TOPIC = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}


def one(rankings, judgments, measure, **options):
    (scores,) = evaluate(rankings, judgments, measure, **options).values()
    (score,) = scores.values()
    return score


def test_interpolated_precision_of_a_list_without_judged_documents_is_zero():
    # trec_eval -J divides 0 by 0: nan.
    assert one(ONE_TOPIC, {"1": {"z": 1}}, "IPrec(judged_only=True)@0.0") == 0.0


def test_levels_of_recall_are_not_rounded():
    # ir_measures writes two decimals into trec_eval's name: it answers for 0.14, 3/4.
    judgments = {"1": {f"r{i}": 1 for i in range(8)}}
    rankings = {"1": {"r0": 9.0, "x": 8.0, "r1": 7.0, "r2": 6.0}}
    assert one(rankings, judgments, "IPrec@0.135") == 1.0
    assert one(rankings, judgments, "IPrec@0.14") == 3 / 4


def test_relevant_documents_of_a_topic_that_the_run_lacks_are_counted():
    # As trec_eval -c; ir_measures answers 0.
    judgments = {"1": {"a": 1}, "2": {"b": 1, "c": 2}}
    scores = evaluate(ONE_TOPIC, judgments, ["NumRel", "NumRet", "NumRelRet"], missing="skip")
    assert scores["NumRel"] == {"1": 1.0, "2": 2.0}
    assert scores["NumRet"]["1"] == 3.0
    assert math.isnan(scores["NumRet"]["2"])


def test_counts_are_known_where_nothing_is_relevant():
    scores = evaluate(
        ONE_TOPIC, {"1": {"a": 0}}, ["NumRet", "NumRelRet", "SetP"], no_relevant="skip"
    )
    assert scores["NumRet"]["1"] == 3.0
    assert scores["NumRelRet"]["1"] == 0.0
    assert math.isnan(scores["SetP"]["1"])


def test_compatibility_ranks_tied_documents_as_trec_eval_does():
    # ir_measures' ranking has ties by id ascending: it answers 1 for the same run.
    rankings = {"1": {"a": 1.0, "b": 1.0}}
    assert one(rankings, {"1": {"a": 1}}, "Compat(p=0.5)") == pytest.approx(
        (0.5 * 0.5) / (1 + 0.5 * 0.5)
    )


def test_compatibility_knows_which_documents_were_retrieved_whatever_their_scores():
    # ir_measures takes an unretrieved document for one of score 0, above those of negative
    # score: it answers 1/6 for a single relevant document on top.
    rankings = {"1": {"a": -1.0, "b": -2.0}}
    assert one(rankings, {"1": {"z": 1, "a": 1}}, "Compat(p=0.5)") == pytest.approx(
        (1 + 0.5 * 0.5) / 1.5
    )


def test_condensed_lists_leave_negative_grades_out():
    """As trec_eval -J: in the pool, and never judged."""
    judgments = {"1": {"a": -1, "b": 0, "c": 1}}
    assert one(ONE_TOPIC, judgments, "RR(judged_only=True)") == 1 / 2
    assert one(ONE_TOPIC, judgments, "NumRet(judged_only=True)") == 2.0


def test_measures_without_a_witness_score_condensed_lists_as_they_score_lists():
    """ERR, RBP, Q, P+, nG, Twist and Compat of a list from which the unjudged were taken."""
    rankings, judgments = odd_collection(5)
    kept = {
        topic: {d: s for d, s in ranking.items() if judgments[topic].get(d, -1) >= 0}
        for topic, ranking in rankings.items()
    }
    kept = {topic: ranking or {"nobody": 1.0} for topic, ranking in kept.items()}
    for name in ("ERR", "ERR@5", "nERR@5", "RBP", "RBP(graded=True)", "Q", "Pplus", "nG@1"):
        measure = sr.parse_measure(name)
        (condensed,) = evaluate(rankings, judgments, [measure(judged_only=True)]).values()
        (plain,) = evaluate(kept, judgments, [measure]).values()
        assert condensed == plain
    for name in ("Twist", "Compat"):
        measure = sr.parse_measure(name)
        (condensed,) = evaluate(rankings, judgments, [measure(judged_only=True)]).values()
        (plain,) = evaluate(kept, judgments, [measure]).values()
        assert condensed == pytest.approx(plain, abs=TOLERANCE)


@pytest.mark.parametrize("p", [0.5, 0.8, 0.95])
def test_the_residual_of_rbp_is_what_all_unjudged_documents_would_add(p):
    """Moffat & Zobel's definition, on a list whose unjudged documents are made relevant.

    trec_eval 10 has rbp_resid with p = 0.9 alone, and 0 where every document is judged.
    """
    rankings, judgments = odd_collection(6)
    binary = {
        t: {d: min(g, 1) for d, g in grades.items() if g >= 0} | {"elsewhere": 1}
        for t, grades in judgments.items()
    }
    filled = {t: dict.fromkeys(rankings[t], 1) | grades for t, grades in binary.items()}
    (low,) = evaluate(rankings, binary, f"RBP(p={p})").values()
    (high,) = evaluate(rankings, filled, f"RBP(p={p})").values()
    (residual,) = evaluate(rankings, judgments, f"RBP(p={p},residual=True)").values()
    for topic, ranking in rankings.items():
        beyond = p ** len(ranking)
        assert residual[topic] == pytest.approx(high[topic] - low[topic] + beyond, abs=1e-12)


def test_the_residual_of_a_topic_that_the_run_lacks_is_1():
    judgments = {"1": {"a": 0}, "2": {"b": 1}}
    scores = evaluate({"1": {"a": 1.0}}, judgments, "RBP(residual=True)", missing="skip")
    assert scores == {"RBP(residual=True)": {"1": pytest.approx(0.8), "2": 1.0}}
