"""Other people's programs agree with every measure they share, topic by topic.

They run live on generated collections: heavy ties, graded and negative judgments,
missing and unjudged topics, rankings of unequal depth. Where one of them is wrong, a
small test pins the answer worked out by hand, and its comment says what is gotten there.
"""

# Witnesses: pytrec-eval-terrier 0.5.11 (trec_eval 9), ir-measures 0.4.3 with its copies of
# gdeval.pl 1.2a and MS MARCO's evaluation script. numpy 2.4.6 draws the data.

from __future__ import annotations

import math
import shutil
import warnings

import numpy as np
import pytest

import steadyrank as sr

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import ir_measures
    import pytrec_eval

TOLERANCE, EXACT = 1e-9, 1e-12

needs_perl = pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script")


def evaluate(rankings, judgments, measures, **options):
    """Scores as {measure: {topic: score}} of one run, without the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        scores = sr.evaluate(
            sr.run_from_dict(rankings, name="run"),
            sr.qrels_from_dict(judgments),
            measures,
            **options,
        )
    rows = scores.values[:, 0, :].tolist()
    return {
        measure: dict(zip(scores.topics, row, strict=True))
        for measure, row in zip(scores.measures, rows, strict=True)
    }


def one(rankings, judgments, measure, **options):
    """The only score of one topic."""
    (scores,) = evaluate(rankings, judgments, measure, **options).values()
    (score,) = scores.values()
    return score


# Ids that are prefixes of one another, sort differently as numbers, or need several bytes.
DOCUMENTS = [f"{stem}{i}" for i in range(60) for stem in ("d", "d0", "D-", "é", "漢", "𝄞")]
PLAIN = [f"{stem}{i}" for i in range(180) for stem in ("d", "D-")]


def judge(rng, documents, n_topics):
    """Grades from -3 to 4 for up to 90 documents a topic; every fifth topic has none above 0.

    One grade is never negative: a topic with negative grades alone kills pytrec_eval.
    """
    judgments = {}
    for t in range(n_topics):
        grades = [-3, -2, -1, 0] if t % 5 == 4 else [-3, -2, -1, 0, 0, 0, 1, 1, 2, 3, 4]
        picked = rng.permutation(len(documents))[: rng.integers(1, 90)]
        judgments[str(t)] = {documents[i]: int(rng.choice(grades)) for i in picked}
        judgments[str(t)][documents[picked[0]]] = int(rng.integers(0, 2)) * (t % 5 != 4)
    return judgments


def retrieve(rng, documents, n_topics, draw_scores):
    """Rankings of 1 to 360 documents, without every seventh topic, with two nobody judged."""
    rankings = {}
    for t in rng.permutation(n_topics + 2):
        depth = int(rng.choice([1, 3, 20, len(documents)]))
        picked = [documents[i] for i in rng.permutation(len(documents))[:depth]]
        if t % 7 != 6:
            rankings[str(t)] = dict(zip(picked, draw_scores(rng, depth), strict=True))
    return rankings


def tied_scores(rng, n):
    """Eight distinct values that 32 bits hold exactly."""
    return (rng.integers(-3, 5, n) / 8).tolist()


def nearly_tied_scores(rng, n):
    """Values that differ only beyond the precision of 32 bits."""
    return (rng.integers(1, 5, n) / 10 + rng.integers(0, 50, n) * 1e-12).tolist()


def distinct_scores(rng, n):
    """No ties at all."""
    return (rng.permutation(n) / 4).tolist()


def collection(seed, draw_scores, documents=DOCUMENTS, n_topics=35):
    rng = np.random.default_rng(seed)
    return retrieve(rng, documents, n_topics, draw_scores), judge(rng, documents, n_topics)


# Our name, with the parameters' place marked, and trec_eval's.
TREC_EVAL = {
    "AP{}": "map",
    "AP{}@1": "map_cut_1",
    "AP{}@15": "map_cut_15",
    "P{}@1": "P_1",
    "P{}@5": "P_5",
    "P{}@100": "P_100",
    "R{}@5": "recall_5",
    "R{}@200": "recall_200",
    "Rprec{}": "Rprec",
    "RR{}": "recip_rank",
    "Success{}@1": "success_1",
    "Success{}@10": "success_10",
    "nDCG": "ndcg",
    "nDCG@1": "ndcg_cut_1",
    "nDCG@10": "ndcg_cut_10",
    "nDCG@100": "ndcg_cut_100",
}


def with_level(name, level):
    return name.format("" if level == 1 else f"(rel={level})")


def compare_with_pytrec_eval(rankings, judgments, level, **options):
    evaluator = pytrec_eval.RelevanceEvaluator(
        judgments, set(TREC_EVAL.values()), relevance_level=level
    )
    theirs = evaluator.evaluate(rankings)
    assert set(theirs) == set(rankings) & set(judgments)
    names = {with_level(ours, level): witness for ours, witness in TREC_EVAL.items()}
    scores = evaluate(rankings, judgments, list(names), **options)
    assert list(scores) == list(names)
    for name, witness in names.items():
        assert set(scores[name]) == set(judgments)
        for topic, score in scores[name].items():
            expected = theirs[topic][witness] if topic in theirs else 0.0
            assert score == pytest.approx(expected, rel=0, abs=TOLERANCE), (name, topic)


@pytest.mark.parametrize("level", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_pytrec_eval_agrees_on_scores_that_tie_exactly(seed, level):
    compare_with_pytrec_eval(*collection(seed, tied_scores), level, ties="trec_eval")


@pytest.mark.parametrize("level", [1, 3])
@pytest.mark.parametrize("seed", range(3, 6))
def test_pytrec_eval_agrees_in_32_bits_on_scores_that_differ_beyond(seed, level):
    rankings, judgments = collection(seed, nearly_tied_scores)
    compare_with_pytrec_eval(rankings, judgments, level, ties="float32")
    names = ["AP", "RR", "nDCG"]
    in_full = evaluate(rankings, judgments, names)
    assert in_full != evaluate(rankings, judgments, names, ties="float32")


def test_topics_that_pytrec_eval_leaves_out_score_zero_or_nothing():
    rankings, judgments = collection(7, tied_scores)
    lacking = {topic for topic in judgments if topic not in rankings}
    fruitful = {topic for topic, grades in judgments.items() if max(grades.values()) > 0}
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, {"map", "ndcg_cut_10"})
    assert not lacking & set(evaluator.evaluate(rankings))
    zero = evaluate(rankings, judgments, ["AP", "nDCG@10"])
    skip = evaluate(rankings, judgments, ["AP", "nDCG@10"], missing="skip")
    assert lacking & fruitful
    for measure in zero:
        assert all(zero[measure][topic] == 0.0 for topic in lacking)
        assert {t for t, score in skip[measure].items() if math.isnan(score)} == lacking & fruitful
        present = set(judgments) - lacking
        assert all(zero[measure][topic] == skip[measure][topic] for topic in present)


def ask_ir_measures(measure, rankings, judgments, provider=ir_measures.pytrec_eval):
    """One measure a call: several at once can spoil one another (see below)."""
    return {
        metric.query_id: metric.value
        for metric in provider.iter_calc([measure], judgments, rankings)
        if metric.query_id in judgments
    }


def ir_measures_cases():
    m = ir_measures
    yield "AP", m.AP
    yield "AP(rel=2)", m.AP(rel=2)
    yield "AP(rel=2)@20", m.AP(rel=2) @ 20
    yield "nDCG", m.nDCG
    yield "nDCG@10", m.nDCG @ 10
    yield "P(rel=2)@5", m.P(rel=2) @ 5
    yield "R@10", m.R @ 10
    yield "R(rel=3)@10", m.R(rel=3) @ 10
    yield "Rprec(rel=2)", m.Rprec(rel=2)
    yield "RR(rel=2)", m.RR(rel=2)
    yield "Success(rel=2)@3", m.Success(rel=2) @ 3
    yield "nDCG(gains=(0,1,3,3,10))", m.nDCG(gains={0: 0, 1: 1, 2: 3, 3: 3, 4: 10})
    yield "nDCG(gains=(0,1,3,3,10))@5", m.nDCG(gains={0: 0, 1: 1, 2: 3, 3: 3, 4: 10}) @ 5
    # 2^grade - 1, which ir_measures leaves to gdeval, to full precision.
    yield "nDCG(dcg='exp-log2')", m.nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7, 4: 15})
    yield "nDCG(dcg='exp-log2')@10", m.nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7, 4: 15}) @ 10


@pytest.mark.parametrize(("ours", "theirs"), list(ir_measures_cases()), ids=str)
def test_ir_measures_agrees(ours, theirs):
    for seed in (11, 12):
        rankings, judgments = collection(seed, tied_scores)
        expected = ask_ir_measures(theirs, rankings, judgments)
        scores = evaluate(rankings, judgments, ours)[ours]
        assert scores == pytest.approx(expected, rel=0, abs=TOLERANCE)


def untied_cases():
    m = ir_measures
    for k in (1, 3, 10, 1000):
        yield pytest.param(m.RR @ k, m.msmarco, id=f"RR@{k}")
        yield pytest.param(m.RR(rel=2) @ k, m.msmarco, id=f"RR(rel=2)@{k}")
        yield pytest.param(m.Judged @ k, m.judged, id=f"Judged@{k}")
    yield pytest.param(m.Judged, m.judged, id="Judged")


@pytest.mark.parametrize(("measure", "provider"), list(untied_cases()))
def test_ir_measures_own_providers_agree_where_no_scores_tie(measure, provider):
    for seed in (21, 22):
        rankings, judgments = collection(seed, distinct_scores)
        expected = ask_ir_measures(measure, rankings, judgments, provider)
        scores = evaluate(rankings, judgments, str(measure))[str(measure)]
        assert scores == pytest.approx(expected, rel=0, abs=TOLERANCE)


@needs_perl
@pytest.mark.parametrize("k", [1, 5, 20, 1000])
def test_gdeval_agrees_to_the_five_digits_it_prints(k):
    rankings, judgments = collection(31, tied_scores, PLAIN)
    for ours, theirs in (
        (f"nDCG(dcg='exp-log2')@{k}", ir_measures.nDCG(dcg="exp-log2") @ k),
        (f"ERR(max_rel=4)@{k}", ir_measures.ERR @ k),
    ):
        expected = ask_ir_measures(theirs, rankings, judgments, ir_measures.gdeval)
        scores = evaluate(rankings, judgments, ours)[ours]
        assert scores == pytest.approx(expected, rel=0, abs=5e-6 + TOLERANCE)


# Where a witness is wrong, or differs.


def test_scores_are_compared_in_64_bits():
    # pytrec_eval keeps scores as 32-bit floats, in which 16777217 = 16777216: the tie goes
    # to the higher id and it answers RR = 0.5. trec_eval itself keeps doubles now.
    rankings, judgments = {"1": {"a": 16777217.0, "b": 16777216.0}}, {"1": {"a": 1}}
    assert one(rankings, judgments, "RR") == 1.0
    assert one(rankings, judgments, "RR", ties="float32") == 0.5


@pytest.mark.parametrize("grade", [-1, -2, -5])
def test_a_topic_with_negative_grades_alone_scores_zero(grade):
    # pytrec_eval sizes its table of grades by the topic's largest: below -1 it overwrites
    # memory and dies, at -1 nDCG reads the table of an earlier topic, and may never return.
    judgments = {"1": {"a": 3, "b": 1}, "2": {"a": grade}}
    rankings = {"1": {"b": 2.0, "a": 1.0}, "2": {"a": 2.0, "b": 1.0}}
    scores = evaluate(rankings, judgments, ["AP", "nDCG", "P@1", "ERR", "Judged@1"])
    assert scores["AP"] == {"1": 1.0, "2": 0.0}
    expected = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert scores["nDCG"] == {"1": pytest.approx(expected), "2": 0.0}
    assert scores["P@1"] == {"1": 1.0, "2": 0.0}
    assert scores["ERR"] == {"1": pytest.approx(1 / 8 + 7 / 8 * 7 / 8 / 2), "2": 0.0}
    assert scores["Judged@1"] == {"1": 1.0, "2": 1.0}


def test_the_mean_is_over_every_judged_topic():
    # pytrec_eval leaves topic 2 out, so that the mean of what it returns is 1.
    rankings, judgments = {"1": {"a": 1.0}}, {"1": {"a": 1}, "2": {"b": 1}}
    assert evaluate(rankings, judgments, "AP")["AP"] == {"1": 1.0, "2": 0.0}


def test_tied_documents_stand_by_id_descending_in_every_measure():
    # ir_measures' own providers sort ties by id ascending, unlike trec_eval: it answers
    # Judged@1 = 1 and RR@10 = 1, beside RR = 1/3 from pytrec_eval.
    rankings, judgments = {"1": {"a": 1.0, "b": 1.0, "c": 1.0}}, {"1": {"a": 1, "b": 0}}
    assert one(rankings, judgments, "Judged@1") == 0.0
    assert one(rankings, judgments, "Judged@2") == 0.5
    assert one(rankings, judgments, "RR@10") == pytest.approx(1 / 3)
    assert one(rankings, judgments, "RR@2") == 0.0
    assert one(rankings, judgments, "RR") == pytest.approx(1 / 3)


def test_an_empty_ranking_scores_zero():
    # ir_measures' Judged divides by the length of the ranking: ZeroDivisionError.
    rankings, judgments = {"1": {}, "2": {"b": 1.0}}, {"1": {"a": 1}, "2": {"b": 1}}
    scores = evaluate(rankings, judgments, ["Judged@3", "Judged", "AP"])
    assert all(row == {"1": 0.0, "2": 1.0} for row in scores.values())


def test_measures_asked_for_together_do_not_touch_one_another():
    # ir_measures puts nDCG@3 into the call made for the gains, where both have one name:
    # asked for [nDCG(gains)@3, nDCG@3] it answers 0 and the other's 0.5869.
    judgments = {"1": {"a": 2, "b": 1, "c": -1}}
    rankings = {"1": {"c": 3.0, "b": 2.0, "a": 1.0}}
    scores = evaluate(rankings, judgments, ["nDCG(gains=(0,1,3))@3", "nDCG@3"])
    second, third = 1 / math.log2(3), 1 / 2
    assert scores["nDCG(gains=(0,1,3))@3"]["1"] == pytest.approx(
        (second + 3 * third) / (3 + second), abs=1e-12
    )
    assert scores["nDCG@3"]["1"] == pytest.approx((second + 2 * third) / (2 + second), abs=1e-12)


def test_topic_ids_are_taken_whole():
    # gdeval cuts ids at the last "-" and compares numbers: it merges x-1 with y-1 and 01
    # with 1, so ir_measures answers 0 for both of the former; q1 is a format error.
    judgments = {topic: {"a": 1} for topic in ("x-1", "01", "q1")}
    judgments |= {topic: {"b": 1} for topic in ("y-1", "1")}
    rankings = {topic: {"a": 2.0, "b": 1.0} for topic in judgments}
    second = pytest.approx(1 / math.log2(3), abs=1e-12)
    expected = {"x-1": 1.0, "01": 1.0, "q1": 1.0, "y-1": second, "1": second}
    assert evaluate(rankings, judgments, "nDCG(dcg='exp-log2')@10") == {
        "nDCG(dcg='exp-log2')@10": expected
    }


def test_any_grade_may_be_the_largest():
    # gdeval refuses grades above 4, and its ERR fixes the largest at 4 even where the file
    # has none above 1: ERR@10 = 1/16 instead of 1/2 for a relevant document at the top.
    assert one({"1": {"a": 1.0}}, {"1": {"a": 1}}, "ERR@10") == 0.5
    assert one({"1": {"a": 1.0}}, {"1": {"a": 1}}, "ERR(max_rel=4)@10") == 1 / 16
    judgments = {"1": {"a": 6, "b": 5}}
    rankings = {"1": {"b": 2.0, "a": 1.0}}
    expected = (31 + 63 / math.log2(3)) / (63 + 31 / math.log2(3))
    assert one(rankings, judgments, "nDCG(dcg='exp-log2')@10") == pytest.approx(expected)
    assert one(rankings, judgments, "ERR@10") == pytest.approx(31 / 64 + 33 / 64 * 63 / 64 / 2)


def test_scores_are_not_rounded():
    # gdeval prints five decimals: 0.63093.
    score = one({"1": {"b": 2.0, "a": 1.0}}, {"1": {"a": 1}}, "nDCG(dcg='exp-log2')@10")
    assert score == pytest.approx(1 / math.log2(3), rel=0, abs=1e-15)


# Measures of sets, of incomplete judgments and of condensed lists. The collections hold what breaks
# programs: topics without relevant or without other judged documents, rankings of one document,
# rankings that share no document with the judgments.

POOL = [f"{stem}{i}" for i in range(40) for stem in ("d", "D-", "é")]


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


SETS = {
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
def test_trec_eval_agrees_on_sets_and_condensed_lists(seed, level, condensed):
    rankings, judgments = odd_collection(seed)
    theirs = {topic: {} for topic in judgments}
    # bpref alone: among others it was seen to kill pytrec_eval.
    for witnesses in ({"bpref"}, set(SETS.values()) - {"bpref"}):
        evaluator = pytrec_eval.RelevanceEvaluator(
            judgments, witnesses, relevance_level=level, judged_docs_only_flag=int(condensed)
        )
        for topic, scores in evaluator.evaluate(rankings).items():
            theirs[topic] |= scores
    measures = [with_parameters(name, level, condensed) for name in SETS]
    scores = evaluate(rankings, judgments, measures)
    for measure, witness in zip(measures, SETS.values(), strict=True):
        for topic, score in scores[str(measure)].items():
            expected = theirs[topic][witness]
            if math.isnan(expected):
                # trec_eval divides 0 by 0 where no document is left: see below.
                assert measure.name == "IPrec"
                assert condensed
                expected = 0.0
            assert score == pytest.approx(expected, rel=0, abs=EXACT), (str(measure), topic)


def set_cases():
    m = ir_measures
    for name in ("Bpref", "infAP", "SetP", "SetR", "SetF", "SetAP", "NumRet", "NumRel"):
        yield getattr(m, name)
    yield from (m.Bpref(rel=2), m.infAP(rel=2), m.NumRelRet, m.NumRet(rel=2), m.SetRelP)
    yield from (m.SetF(beta=0.5), m.SetF(beta=2.0, rel=2), m.SetP(rel=2, judged_only=True))
    yield from (m.IPrec @ 0.1, m.IPrec(rel=2) @ 0.5, m.IPrec @ 1.0)
    yield from (m.AP(judged_only=True), m.nDCG(judged_only=True) @ 10, m.R(judged_only=True) @ 5)
    yield from (m.Rprec(judged_only=True, rel=2), m.RR(judged_only=True), m.SetR(rel=3))
    yield m.nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7}, judged_only=True) @ 5


@pytest.mark.parametrize("measure", list(set_cases()), ids=str)
def test_ir_measures_agrees_on_sets_and_condensed_lists(measure):
    for seed in (11, 12):
        rankings, judgments = odd_collection(seed)
        theirs = ask_ir_measures(measure, rankings, judgments)
        (scores,) = evaluate(rankings, judgments, [measure]).values()
        assert scores == pytest.approx(theirs, rel=0, abs=EXACT)


@pytest.mark.parametrize("measure", ["Compat", "Compat(p=0.8)"])
def test_ir_measures_agrees_on_compatibility_where_no_scores_tie(measure):
    theirs = ir_measures.parse_measure(measure)
    for seed in (21, 22):
        rng = np.random.default_rng(seed)
        rankings, judgments = odd_collection(seed)
        for ranking in rankings.values():
            ranking.update(zip(ranking, rng.permutation(len(ranking)) + 1.0, strict=True))
        expected = ask_ir_measures(theirs, rankings, judgments, ir_measures.compat)
        (scores,) = evaluate(rankings, judgments, measure).values()
        assert scores == pytest.approx(expected, rel=0, abs=EXACT)


ONE_TOPIC = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}


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
    exact = ("ERR", "ERR@5", "nERR@5", "RBP", "RBP(graded=True)", "Q", "Pplus", "nG@1")
    for name in (*exact, "Twist", "Compat"):
        measure = sr.parse_measure(name)
        (condensed,) = evaluate(rankings, judgments, [measure(judged_only=True)]).values()
        (plain,) = evaluate(kept, judgments, [measure]).values()
        assert condensed == (plain if name in exact else pytest.approx(plain, abs=EXACT))


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
