"""What no run and no judgments, however odd, may change about a score."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steadyrank as sr

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pytrec_eval  # pytrec-eval-terrier 0.5.11

reproducible = settings(max_examples=150, deadline=None, derandomize=True)

TREC_EVAL = {
    "AP": "map",
    "AP@3": "map_cut_3",
    "nDCG": "ndcg",
    "nDCG@1": "ndcg_cut_1",
    "nDCG@5": "ndcg_cut_5",
    "P@1": "P_1",
    "P@5": "P_5",
    "R@5": "recall_5",
    "Rprec": "Rprec",
    "RR": "recip_rank",
    "Success@1": "success_1",
    "Success@5": "success_5",
    "SetR": "set_recall",
    "IPrec@0.0": "iprec_at_recall_0.00",
    "IPrec@0.3": "iprec_at_recall_0.30",
    "infAP": "infAP",
}

LENGTH_MATTERS = {"SetP": "set_P", "SetF": "set_F", "SetAP": "set_map", "NumRelRet": "num_rel_ret"}

# pytrec_eval's own bpref is not asked for: on some of these collections it reads where it must
# not, and dies. test_witnesses has it.
BLIND_TO_JUDGED = [
    *TREC_EVAL,
    *("Bpref", "nDCG(dcg='exp-log2')@5", "nDCG(gains=(0,1,3,3,9))", "RR@3", "RBP"),
    *("RBP(p=0.95,rel=2,graded=True)", "ERR", "ERR(max_rel=6)@3", "nERR@3", "nERR", "Q"),
    *("Q(beta=0)@3", "Q(gains=(0,1,3,3,9))", "Pplus", "Pplus(rel=2)@3", "nG@1", "Twist"),
    *("Twist(rel=2)", "AP(rel=3)"),
]

EVERY_MEASURE = [
    *BLIND_TO_JUDGED,
    *("SetP", "SetP(relative=True)", "SetF(beta=2)", "SetAP", "Compat"),
    *("Compat(p=0.5)", "AP(judged_only=True)", "nDCG(judged_only=True)@3"),
    *("Twist(judged_only=True)", "Compat(judged_only=True)", "RBP(residual=True)", "Judged"),
    "Judged@3",
]
COUNTS = ["NumRet", "NumRet(rel=2)", "NumRet(judged_only=True)", "NumRel", "NumRelRet"]

# Prefixes of one another, numbers that sort otherwise as text, one to four bytes a character.
DOCUMENTS = ["a", "ab", "d1", "d10", "d9", "D9", "é", "漢", "𝄞", "~", "0", "-"]

# The last three are one number in 32 bits, and so are the smallest and 0.
SCORES = [-2.0, -1e-60, 0.0, 1e30, 0.1, 0.1 + 1e-12, 0.1 - 1e-12]

TOPICS = ["1", "2", "3", "4"]

some_grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-3, 4), max_size=10)
some_ranking = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from(SCORES), max_size=12)


@st.composite
def collections(draw):
    """A run and judgments as dictionaries, with at least one topic in common.

    Every topic has a judgment that is not negative: pytrec_eval does not survive others.
    """
    judgments = {
        topic: {**draw(some_grades), "judged": draw(st.integers(0, 4))} for topic in TOPICS
    }
    present = draw(st.sets(st.sampled_from([*TOPICS, "unjudged"])))
    return {topic: draw(some_ranking) for topic in sorted(present | {"1"})}, judgments


def evaluate(rankings, judgments, measures, **options):
    """Scores [measure, topic] of one run, without the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        run = sr.run_from_dict(rankings, name="run")
        return sr.evaluate(run, sr.qrels_from_dict(judgments), measures, **options).values[:, 0]


def shuffled(draw, mapping):
    return dict(draw(st.permutations(list(mapping.items()))))


@reproducible
@given(collections(), st.integers(1, 4))
def test_pytrec_eval_agrees_in_32_bits(collection, level):
    rankings, judgments = collection
    evaluator = pytrec_eval.RelevanceEvaluator(
        judgments, {*TREC_EVAL.values(), *LENGTH_MATTERS.values()}, relevance_level=level
    )
    theirs = evaluator.evaluate(rankings)
    names = [
        name if name.startswith("nDCG") else "@".join([f"{head}(rel={level})", *tail])
        for name in (*TREC_EVAL, *LENGTH_MATTERS)
        for head, *tail in [name.split("@")]
    ]
    expected = [
        [theirs[topic][witness] if topic in theirs else 0.0 for topic in judgments]
        for witness in (*TREC_EVAL.values(), *LENGTH_MATTERS.values())
    ]
    scores = evaluate(rankings, judgments, names, ties="float32")
    # Of an empty ranking trec_eval's interpolated precision is 0 / 0.
    assert scores == pytest.approx(np.nan_to_num(expected), rel=0, abs=1e-9)


@reproducible
@given(st.data(), collections(), st.sampled_from(["trec_eval", "float32"]))
def test_the_order_of_the_input_changes_nothing(data, collection, ties):
    rankings, judgments = collection
    before = evaluate(rankings, judgments, [*EVERY_MEASURE, *COUNTS], ties=ties)
    other_rankings = {
        topic: shuffled(data.draw, documents)
        for topic, documents in shuffled(data.draw, rankings).items()
    }
    other_judgments = {
        topic: shuffled(data.draw, documents)
        for topic, documents in shuffled(data.draw, judgments).items()
    }
    after = evaluate(other_rankings, other_judgments, [*EVERY_MEASURE, *COUNTS], ties=ties)
    assert after.tobytes() == before.tobytes()


@reproducible
@given(collections())
def test_scores_stay_between_0_and_1(collection):
    scores = evaluate(*collection, EVERY_MEASURE)
    assert scores.min() >= 0.0
    assert scores.max() <= 1.0 + 1e-12


@reproducible
@given(collections(), st.integers(1, 30))
def test_unjudged_documents_at_the_end_change_nothing_but_judged(collection, n):
    rankings, judgments = collection
    longer = {
        topic: {**documents, **{f"unknown{i}": -10.0 - i for i in range(n)}}
        for topic, documents in rankings.items()
    }
    before = evaluate(rankings, judgments, BLIND_TO_JUDGED)
    assert evaluate(longer, judgments, BLIND_TO_JUDGED).tobytes() == before.tobytes()
    assert (evaluate(longer, judgments, "Judged") <= evaluate(rankings, judgments, "Judged")).all()


@reproducible
@given(
    collections(),
    st.lists(
        st.floats(allow_nan=False), min_size=len(SCORES), max_size=len(SCORES), unique=True
    ).map(sorted),
)
def test_only_the_order_of_the_scores_counts(collection, others):
    rankings, judgments = collection
    transform = dict(zip(sorted(SCORES), others, strict=True))
    moved = {
        topic: {document: transform[score] for document, score in documents.items()}
        for topic, documents in rankings.items()
    }
    before = evaluate(rankings, judgments, [*EVERY_MEASURE, *COUNTS])
    assert evaluate(moved, judgments, [*EVERY_MEASURE, *COUNTS]).tobytes() == before.tobytes()


@reproducible
@given(collections(), st.sampled_from(TOPICS))
def test_topics_do_not_touch_one_another(collection, topic):
    rankings, judgments = collection
    together = evaluate(rankings, judgments, EVERY_MEASURE)[:, TOPICS.index(topic)]
    alone = {topic: rankings.get(topic, {}), "largest": {}}
    # The largest grade of the file is part of ERR and of graded RBP, so it stays.
    largest = {"any": max(max(grades.values()) for grades in judgments.values())}
    kept = evaluate(alone, {topic: judgments[topic], "largest": largest}, EVERY_MEASURE)[:, 0]
    assert kept.tobytes() == together.tobytes()


@reproducible
@given(collections())
def test_topics_left_out_are_those_that_are_missing_or_barren(collection):
    rankings, judgments = collection
    scores = evaluate(rankings, judgments, ["AP", "Judged"], missing="skip", no_relevant="skip")
    barren = [max(grades.values()) < 1 for grades in judgments.values()]
    lacking = [topic not in rankings for topic in judgments]
    assert np.isnan(scores[0]).tolist() == [a or b for a, b in zip(barren, lacking, strict=True)]
    assert np.isnan(scores[1]).tolist() == lacking
