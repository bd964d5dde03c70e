"""Slow references, written from the definitions over a dense list, agree with every kernel.

A list is its grades in rank order, None where nobody judged the document; `judged` holds
all grades of the topic. Nothing here is shared with the package, or clever.
"""

from __future__ import annotations

import math
import warnings
from itertools import accumulate

import numpy as np
import pytest
from golden_cases import golden

import steadyrank as sr


def evaluate(rankings, judgments, measure):
    """Scores of one run as {topic: score}, without the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        run = sr.run_from_dict(rankings, name="run")
        scores = sr.evaluate(run, sr.qrels_from_dict(judgments), measure)
    return dict(zip(scores.topics, scores.values[0, 0].tolist(), strict=True))


def gain_of(grade, level, gains=None):
    if grade is None or grade < max(level, 0):
        return 0.0
    return float(gains[grade]) if gains else float(grade)


def ideal_of(judged):
    return sorted(judged, reverse=True)


def slow_err(listed, judged, *, k, max_rel):
    total, looking = 0.0, 1.0
    for rank, grade in enumerate(listed[:k], start=1):
        stop = (2 ** max(grade or 0, 0) - 1) / 2**max_rel
        total += looking * stop / rank
        looking *= 1 - stop
    return total


def slow_nerr(listed, judged, *, k, max_rel):
    best = slow_err(ideal_of(judged), judged, k=k, max_rel=max_rel)
    return slow_err(listed, judged, k=k, max_rel=max_rel) / best


def slow_rbp(listed, judged, *, p, level, top=None):
    total = 0.0
    for rank, grade in enumerate(listed, start=1):
        if grade is not None and grade >= level:
            total += p ** (rank - 1) * (grade / top if top else 1.0)
    return (1 - p) * total


def slow_ng(listed, judged, *, gains):
    first = listed[0] if listed else None
    return gain_of(first, 0, gains) / gain_of(max(judged), 0, gains)


def slow_blended_ratios(listed, judged, *, beta, level, gains):
    """(rank, grade, BR) of every relevant document."""
    rows = []
    ideal = ideal_of(judged)
    for rank, grade in enumerate(listed, start=1):
        if grade is None or grade < level:
            continue
        found = sum(1 for g in listed[:rank] if g is not None and g >= level)
        cumulated = sum(gain_of(g, level, gains) for g in listed[:rank])
        best = sum(gain_of(g, level, gains) for g in ideal[:rank])
        rows.append((rank, grade, (found + beta * cumulated) / (rank + beta * best)))
    return rows


def slow_q(listed, judged, *, beta, level, gains, k):
    rows = slow_blended_ratios(listed, judged, beta=beta, level=level, gains=gains)
    relevant = sum(1 for grade in judged if grade >= level)
    return sum(ratio for rank, _, ratio in rows if rank <= k) / min(relevant, k)


def slow_pplus(listed, judged, *, beta, level, gains, k):
    rows = slow_blended_ratios(listed, judged, beta=beta, level=level, gains=gains)
    rows = [row for row in rows if row[0] <= k]
    if not rows:
        return 0.0
    highest = max(grade for _, grade, _ in rows)
    preferred = min(rank for rank, grade, _ in rows if grade == highest)
    ratios = [ratio for rank, _, ratio in rows if rank <= preferred]
    return sum(ratios) / len(ratios)


NON_RELEVANT = "non-relevant"


def relative_positions(labels, ideal, n_relevant):
    """How far each document stands from the ranks that its label occupies in the ideal list."""
    interval = {NON_RELEVANT: (n_relevant + 1, math.inf)}
    for label in set(ideal) - {NON_RELEVANT}:
        ranks = [rank for rank, other in enumerate(ideal, start=1) if other == label]
        interval[label] = (min(ranks), max(ranks))
    positions = []
    for rank, label in enumerate(labels, start=1):
        low, high = interval[label]
        if low <= rank <= high:
            positions.append(0)
        else:
            positions.append(rank - high if rank > high else rank - low)
    return positions


def slow_twist(listed, judged, *, level):
    def label(grade):
        return NON_RELEVANT if grade is None or grade < level else grade

    ideal = [label(grade) for grade in ideal_of(judged)]
    n_relevant = sum(1 for entry in ideal if entry != NON_RELEVANT)
    labels = [label(grade) for grade in listed]
    if all(entry == NON_RELEVANT for entry in labels):
        return 0.0
    labels += [NON_RELEVANT] * (n_relevant - len(labels))
    positions = relative_positions(labels, ideal, n_relevant)
    cumulated = list(accumulate(positions))
    turns = [
        rank
        for rank, (here, there) in enumerate(zip(cumulated, cumulated[1:], strict=False), start=1)
        if (here > 0) != (there > 0)
    ]
    if turns:
        recovery = n_relevant / max(n_relevant, turns[0])
    else:
        recovery = 1.0 if all(value == 0 for value in cumulated) else 0.0
    worst = relative_positions(ideal[::-1], ideal, n_relevant)
    kept = []
    for sign in (1, -1):
        moved = sum(abs(position) for position in positions if position * sign > 0)
        at_worst = sum(abs(position) for position in worst if position * sign > 0)
        if moved == 0:
            kept.append(1.0)
        else:
            kept.append(0.0 if at_worst == 0 else min(1.0, max(0.0, 1 - moved / at_worst)))
    space = 2 * kept[0] * kept[1] / sum(kept) if sum(kept) else 0.0
    return (recovery + space) / 2


def random_lists(seed, n_topics=250):
    """Topics of every shape: short and long lists, few and many judged, one grade or many."""
    rng = np.random.default_rng(seed)
    dense, judged, rankings, judgments = {}, {}, {}, {}
    for t in range(n_topics):
        topic = str(t)
        n_judged, length = int(rng.integers(1, 25)), int(rng.integers(1, 40))
        grades = rng.choice([-2, 0, 1, 2, 3, 4][: rng.integers(3, 7)], n_judged).tolist()
        grades[0] = max(grades[0], 1) if t else 4  # the largest of all is 4
        pool = [*range(n_judged), *range(1000, 1000 + rng.integers(0, 30))]
        documents = rng.permutation(pool)[:length].tolist()
        judged[topic] = grades
        dense[topic] = [grades[d] if d < 1000 else None for d in documents]
        judgments[topic] = {f"d{d}": grade for d, grade in enumerate(grades)}
        rankings[topic] = {f"d{d}": -float(rank) for rank, d in enumerate(documents)}
    return dense, judged, rankings, judgments


INFINITE = 10**9
CURVED = (0, 1, 3, 3, 7.5)

REFERENCES = [
    ("ERR", slow_err, {"k": INFINITE, "max_rel": 4}),
    ("ERR@5", slow_err, {"k": 5, "max_rel": 4}),
    ("ERR(max_rel=6)@20", slow_err, {"k": 20, "max_rel": 6}),
    ("nERR", slow_nerr, {"k": INFINITE, "max_rel": 4}),
    ("nERR@3", slow_nerr, {"k": 3, "max_rel": 4}),
    ("nERR(max_rel=5)@10", slow_nerr, {"k": 10, "max_rel": 5}),
    ("nG@1", slow_ng, {"gains": None}),
    ("nG(gains=(0,1,3,3,7.5))@1", slow_ng, {"gains": CURVED}),
    ("RBP", slow_rbp, {"p": 0.8, "level": 1}),
    ("RBP(p=0.5,rel=3)", slow_rbp, {"p": 0.5, "level": 3}),
    ("RBP(p=0.95,graded=True)", slow_rbp, {"p": 0.95, "level": 1, "top": 4}),
    ("RBP(p=0.8,rel=2,graded=True,max_rel=5)", slow_rbp, {"p": 0.8, "level": 2, "top": 5}),
    ("Twist", slow_twist, {"level": 1}),
    ("Twist(rel=2)", slow_twist, {"level": 2}),
    ("Twist(rel=4)", slow_twist, {"level": 4}),
]
for _name, _reference in (("Q", slow_q), ("Pplus", slow_pplus)):
    for _inside, _options in (
        ("", {"beta": 1, "level": 1, "gains": None}),
        ("(beta=10,rel=2)", {"beta": 10, "level": 2, "gains": None}),
        ("(beta=0)", {"beta": 0, "level": 1, "gains": None}),
        ("(beta=0.3,gains=(0,1,3,3,7.5))", {"beta": 0.3, "level": 1, "gains": CURVED}),
        ("(rel=3,gains=(0,1,3,3,7.5))", {"beta": 1, "level": 3, "gains": CURVED}),
    ):
        REFERENCES.append((f"{_name}{_inside}", _reference, {**_options, "k": INFINITE}))
        REFERENCES.append((f"{_name}{_inside}@7", _reference, {**_options, "k": 7}))


@pytest.fixture(scope="module")
def lists():
    return random_lists(2016)


@pytest.mark.parametrize(
    ("name", "reference", "options"), REFERENCES, ids=[case[0] for case in REFERENCES]
)
def test_a_slow_reference_over_the_dense_list_agrees(name, reference, options, lists):
    dense, judged, rankings, judgments = lists
    scores = evaluate(rankings, judgments, name)
    level = options.get("level", 1)
    expected = {
        topic: reference(dense[topic], judged[topic], **options)
        if max(judged[topic]) >= level
        else 0.0
        for topic in judgments
    }
    assert scores == pytest.approx(expected, rel=0, abs=1e-12)
    assert len({round(score, 6) for score in expected.values()}) >= 5


def test_twist_of_a_list_shorter_than_r_is_that_of_the_padded_list():
    # R = 3 and the list holds one relevant document: ranks 2 and 3 are padded with
    # non-relevant ones, which belong at 4 and beyond: RP = 0, -2, -1, CRP = 0, -2, -3.
    # Never positive, never back at 0: recovery 0. Reversed ideal list (0 1 1 1): RP =
    # -3, 0, 0, 1, so b = max(0, 1 - 3/3) = 0 and f = 1 - 0/1 = 1: harmonic mean 0.
    judgments = {"1": {"a": 1, "b": 1, "c": 1, "n": 0}}
    assert evaluate({"1": {"a": 1.0}}, judgments, "Twist") == {"1": 0.0}
    # With both others at the end, one rank late each: RP = 0, -2, 0, 1, CRP = 0, -2, -2, -1.
    # Never positive: recovery 0; f = 1 - 1/1 = 0 again.
    late = {"1": {"a": 9.0, "n": 8.0, "b": 7.0, "c": 6.0}}
    assert evaluate(late, judgments, "Twist") == {"1": 0.0}
    # Against four non-relevant judged documents the worst list costs more: reversed ideal
    # (0 0 0 0 1 1 1): RP = -3, -2, -1, 0, 2, 3, 4. Now f = 1 - 1/9, b = 1 - 2/6.
    judgments["1"].update({"o": 0, "p": 0, "q": 0})
    f, b = 8 / 9, 2 / 3
    assert evaluate(late, judgments, "Twist")["1"] == pytest.approx(f * b / (f + b), abs=1e-12)


# Hand-sized ranked lists whose scores were worked out from the definitions.

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
