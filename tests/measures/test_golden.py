"""Hand-sized ranked lists whose scores were worked out from the definitions."""

from __future__ import annotations

import pytest
from golden_cases import golden

import steadyrank as sr

GOLDEN = golden("measures")

OUR_NAMES = {
    "nG@1 (gains 0,1,3)": "nG(gains=(0,1,3))@1",
    "Q(beta=1, gains 0,1,3)@10": "Q(beta=1,gains=(0,1,3))@10",
    "Pplus (gains 0,1,3)": "Pplus(gains=(0,1,3))",
    "RBP(p=.8, graded, max grade 2)": "RBP(p=0.8,graded=True,max_rel=2)",
}


def build(labels, judged):
    """A run with these grades in rank order, and qrels with that many documents per grade."""
    left = {int(grade): count for grade, count in judged.items()}
    judgments, ranking = {}, {}
    for rank, grade in enumerate(labels, start=1):
        document = f"retrieved-{rank}"
        ranking[document] = -float(rank)
        if left.get(grade, 0) > 0:
            judgments[document] = grade
            left[grade] -= 1
        else:
            assert grade == 0, "only a label 0 may stand for an unjudged document"
    for grade, count in left.items():
        judgments.update({f"missed-{grade}-{i}": grade for i in range(count)})
    return sr.run_from_dict({"1": ranking}, name="run"), sr.qrels_from_dict({"1": judgments})


@pytest.mark.parametrize(
    "case", GOLDEN["cases"], ids=lambda case: "".join(map(str, case["labels"]))
)
def test_golden_lists_score_as_worked_out(case):
    run, qrels = build(case["labels"], case["judged"])
    names = [OUR_NAMES.get(name, name) for name in case["expected"]]
    scores = sr.evaluate(run, qrels, names).values[:, 0, 0]
    expected = list(case["expected"].values())
    assert scores.tolist() == pytest.approx(expected, rel=0, abs=GOLDEN["tolerance"])


def test_the_golden_file_covers_every_graded_measure():
    named = {sr.parse_measure(OUR_NAMES.get(n, n)).name for n in GOLDEN["cases"][0]["expected"]}
    assert named >= {"AP", "nDCG", "nG", "Q", "Pplus", "ERR", "nERR", "RBP", "Twist"}
    assert len(GOLDEN["cases"]) >= 5
