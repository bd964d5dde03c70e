"""Tied documents: expectations against enumeration, simulation, closed forms.

The measures are written out again here, once for lists and once for matrices of orders,
from their definitions and without anything of the package.
"""

# numpy 2.4.6 draws the data.

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from plain_tables import words

from steadyrank.data.qrels import qrels_from_dict
from steadyrank.data.run import run_from_dict
from steadyrank.errors import InputError
from steadyrank.measures import names
from steadyrank.measures.names import parse_measure
from steadyrank.measures.scoring import find_judged_documents, prepare, score_topics
from steadyrank.measures.ties import expected_scores, has_expectation

TOP = 3
"""The largest grade of every collection here."""

ENDLESS = 10**9


# --- the measures of one list: `ranked` are grades by rank (None: unjudged), `judged` all grades


def is_relevant(grade, rel):
    return grade is not None and grade >= rel


def value(grade, gains, rel=1):
    return gains[grade] if is_relevant(grade, rel) else 0.0


def relevant_ranks(ranked, rel, k):
    return [r for r, grade in enumerate(ranked, 1) if is_relevant(grade, rel) and r <= k]


def average_precision(ranked, judged, rel=1, k=ENDLESS):
    ranks = relevant_ranks(ranked, rel, k)
    return sum(n / r for n, r in enumerate(ranks, 1)) / sum(g >= rel for g in judged)


def precision(ranked, judged, k, rel=1):
    return len(relevant_ranks(ranked, rel, k)) / k


def recall(ranked, judged, k, rel=1):
    return len(relevant_ranks(ranked, rel, k)) / sum(g >= rel for g in judged)


def r_precision(ranked, judged, rel=1):
    return precision(ranked, judged, sum(g >= rel for g in judged), rel)


def success(ranked, judged, k, rel=1):
    return float(bool(relevant_ranks(ranked, rel, k)))


def reciprocal_rank(ranked, judged, rel=1, k=ENDLESS):
    return max((1 / r for r in relevant_ranks(ranked, rel, k)), default=0.0)


def judged_share(ranked, judged, k=ENDLESS):
    return sum(g is not None for g in ranked[:k]) / len(ranked[:k])


def ndcg(ranked, judged, gains=(0, 1, 2, 3), k=ENDLESS):
    def dcg(grades):
        return sum(value(g, gains) / math.log2(r + 1) for r, g in enumerate(grades[:k], 1))

    best = dcg(sorted(judged, reverse=True))
    return dcg(ranked) / best if best else 0.0


def normalized_gain(ranked, judged, gains=(0, 1, 2, 3)):
    best = value(max(judged), gains)
    return value(ranked[0], gains) / best if best else 0.0


def rank_biased_precision(ranked, judged, p=0.8, gains=(0, 1, 1, 1), rel=1, k=ENDLESS):
    return sum(
        (1 - p) * p ** (r - 1) * value(g, gains, rel) for r, g in enumerate(ranked, 1) if r <= k
    )


def err(ranked, judged, top=TOP, k=ENDLESS):
    stops = [(2 ** max(g or 0, 0) - 1) / 2**top for g in ranked[:k]]
    return sum(p / r * math.prod(1 - q for q in stops[: r - 1]) for r, p in enumerate(stops, 1))


def normalized_err(ranked, judged, k=ENDLESS):
    return err(ranked, judged, k=k) / err(sorted(judged, reverse=True), judged, k=k)


def q_measure(ranked, judged, beta=1.0, gains=(0, 1, 2, 3), rel=1, k=ENDLESS):
    ideal = sorted(judged, reverse=True)
    total = 0.0
    for n, r in enumerate(relevant_ranks(ranked, rel, k), 1):
        gained = sum(value(g, gains, rel) for g in ranked[:r])
        total += (n + beta * gained) / (r + beta * sum(value(g, gains, rel) for g in ideal[:r]))
    return total / min(sum(g >= rel for g in judged), k)


def binary_preference(ranked, judged, rel=1):
    n_relevant = sum(g >= rel for g in judged)
    n_other = sum(0 <= g < rel for g in judged)
    total, above = 0.0, 0
    for grade in ranked:
        if is_relevant(grade, rel):
            total += 1 - min(above, n_relevant) / min(n_other, n_relevant) if above else 1
        else:
            above += grade is not None and grade >= 0
    return total / n_relevant


def residual(ranked, judged, p=0.8, k=ENDLESS):
    """What the unjudged documents and all beyond the list would weigh."""
    unjudged = [r for r, g in enumerate(ranked[:k], 1) if g is None or g < 0]
    return sum((1 - p) * p ** (r - 1) for r in unjudged) + p ** len(ranked[:k])


def condensed(reference):
    """The measure of what is left of a list without unjudged documents."""

    def of(ranked, judged, **options):
        kept = [grade for grade in ranked if grade is not None and grade >= 0]
        return reference(kept, judged, **options) if kept else 0.0

    return of


GRADED = (0, 1 / 3, 2 / 3, 1)
REFERENCES = {
    "AP": average_precision,
    "AP@3": partial(average_precision, k=3),
    "AP(rel=2)": partial(average_precision, rel=2),
    "AP(rel=2)@4": partial(average_precision, rel=2, k=4),
    "P@1": partial(precision, k=1),
    "P@3": partial(precision, k=3),
    "P(rel=2)@5": partial(precision, k=5, rel=2),
    "P@20": partial(precision, k=20),
    "R@2": partial(recall, k=2),
    "R(rel=3)@4": partial(recall, k=4, rel=3),
    "Rprec": r_precision,
    "Rprec(rel=2)": partial(r_precision, rel=2),
    "RR": reciprocal_rank,
    "RR@2": partial(reciprocal_rank, k=2),
    "RR(rel=2)@4": partial(reciprocal_rank, rel=2, k=4),
    "Success@1": partial(success, k=1),
    "Success@3": partial(success, k=3),
    "Success(rel=2)@4": partial(success, k=4, rel=2),
    "nDCG": ndcg,
    "nDCG@3": partial(ndcg, k=3),
    "nDCG(dcg='exp-log2')@4": partial(ndcg, gains=(0, 1, 3, 7), k=4),
    "nDCG(gains=(0,0,1,5))@5": partial(ndcg, gains=(0, 0, 1, 5), k=5),
    "RBP": rank_biased_precision,
    "RBP(p=0.5)@3": partial(rank_biased_precision, p=0.5, k=3),
    "RBP(graded=True)": partial(rank_biased_precision, gains=GRADED),
    "RBP(p=0.95,rel=2,graded=True)@5": partial(
        rank_biased_precision, p=0.95, gains=GRADED, rel=2, k=5
    ),
    "ERR": err,
    "ERR@3": partial(err, k=3),
    "ERR(max_rel=5)@4": partial(err, top=5, k=4),
    "nERR@3": partial(normalized_err, k=3),
    "Q": q_measure,
    "Q@3": partial(q_measure, k=3),
    "Q(beta=10,rel=2,gains=(0,1,1,4))@4": partial(
        q_measure, beta=10, rel=2, gains=(0, 1, 1, 4), k=4
    ),
    "nG@1": normalized_gain,
    "nG(gains=(0,0,1,5))@1": partial(normalized_gain, gains=(0, 0, 1, 5)),
    "Judged": judged_share,
    "Judged@3": partial(judged_share, k=3),
    "AP(judged_only=True)": condensed(average_precision),
    "AP(rel=2,judged_only=True)": condensed(partial(average_precision, rel=2)),
    "P(judged_only=True)@3": condensed(partial(precision, k=3)),
    "RR(judged_only=True)": condensed(reciprocal_rank),
    "nDCG(judged_only=True)@4": condensed(partial(ndcg, k=4)),
    "ERR(judged_only=True)": condensed(err),
    "Q(judged_only=True)@4": condensed(partial(q_measure, k=4)),
    "RBP(residual=True)": residual,
    "RBP(p=0.5,residual=True)@3": partial(residual, p=0.5, k=3),
    "Bpref": binary_preference,
    "Bpref(rel=2)": partial(binary_preference, rel=2),
    "Bpref(judged_only=True)": condensed(binary_preference),
}
OF_SETS = ("SetP", "SetR", "SetF", "SetAP", "NumRet", "NumRel", "NumRelRet")
NO_EXPECTATION = ("Pplus", "Twist", "infAP", "IPrec@0.4", "Compat")


# --- collections


def recipes_of(measures, qrels):
    return [prepare(parse_measure(measure), qrels.max_grade) for measure in measures]


def collection(topics):
    """A run and qrels from {topic: ([(score, grade), ...], grades of what the run missed)}.

    A last topic, which the run lacks, sees to it that the largest grade is 3.
    """
    rankings, judgments = {}, {}
    for topic, (documents, missed) in topics.items():
        rankings[topic] = {f"d{i}": float(score) for i, (score, _) in enumerate(documents)}
        judgments[topic] = {f"m{i}": grade for i, grade in enumerate(missed)}
        judgments[topic] |= {f"d{i}": g for i, (_, g) in enumerate(documents) if g is not None}
        if not judgments[topic]:
            judgments[topic] = {"other": 0}
    judgments["missing"] = {"d0": TOP}
    return run_from_dict(rankings, name="run"), qrels_from_dict(judgments)


def draw_topics(rng, n_topics, longest, n_scores):
    grades = np.array([None, None, -1, 0, 1, 1, 2, 3], object)
    topics = {}
    for t in range(n_topics):
        size = rng.integers(1, longest + 1)
        scores = rng.integers(0, rng.integers(1, n_scores + 1), size)
        documents = list(zip(scores.tolist(), rng.choice(grades, size), strict=True))
        topics[str(t)] = (documents, rng.integers(-1, 4, rng.integers(0, 4)).tolist())
    return topics


def sizes_of_orders(documents):
    """Every order that respects the scores, as grades by rank, with its number of ways."""
    groups = {}
    for score, grade in sorted(documents, key=lambda document: -document[0]):
        groups.setdefault(score, []).append(grade)
    ways = [Counter(itertools.permutations(group)) for group in groups.values()]
    orders = Counter()
    for picked in itertools.product(*(count.items() for count in ways)):
        orders[sum((order for order, _ in picked), ())] += math.prod(n for _, n in picked)
    return orders


@pytest.fixture(scope="module")
def small():
    """250 lists of up to 7 documents, enumerated: (run, qrels, topics, {topic: orders})."""
    rng = np.random.default_rng(1)
    topics = draw_topics(rng, 250, 7, 4)
    run, qrels = collection(topics)
    return (
        run,
        qrels,
        topics,
        {t: sizes_of_orders(documents) for t, (documents, _) in topics.items()},
    )


def enumerate_scores(small, reference, needed):
    """Mean, smallest and largest score of each topic over all its orders; NaN where R = 0."""
    _, qrels, topics, orders = small
    rows = np.full((3, len(topics)), np.nan)
    for t, topic in enumerate(topics):
        judged = list(qrels.judgments(topic).values())
        if max(judged) < needed:
            continue
        scores = np.array([reference(list(order), judged) for order in orders[topic]])
        ways = np.array(list(orders[topic].values()))
        rows[:, t] = scores @ ways / ways.sum(), scores.min(), scores.max()
    return rows


# --- (a) enumeration


@pytest.mark.parametrize("measure", REFERENCES)
def test_every_order_of_small_lists(small, measure):
    run, qrels, *_ = small
    of_any_topic = measure.startswith("Judged") or "residual" in measure
    needed = -9 if of_any_topic else parse_measure(measure).parameter("rel") or 1
    mean, smallest, largest = enumerate_scores(small, REFERENCES[measure], needed)
    recipes = recipes_of([measure], qrels)
    expected = expected_scores(run, qrels, recipes, missing=-5.0, no_relevant=np.nan)
    np.testing.assert_allclose(expected[0, :-1], mean, rtol=0, atol=1e-12)
    assert expected[0, -1] == (1.0 if "residual" in measure else -5.0)
    assert np.isnan(mean).sum() < len(mean) - 100
    assert (largest - smallest > 0.01).sum() > 10 or measure in ("P@20", "Judged")


def test_all_measures_are_tested():
    tested = {parse_measure(measure).name for measure in REFERENCES} | {*OF_SETS}
    assert tested == {name for name in names.KINDS if has_expectation(names.Measure(name))}
    others = {parse_measure(measure).name for measure in NO_EXPECTATION}
    assert tested | others == set(names.KINDS)


# --- (b) simulation


def matrix_scores(grades, judged):
    """Scores [measure, order] of a matrix of grades [order, rank], unjudged ones as 0."""
    ranks = np.arange(1, grades.shape[1] + 1)
    ideal = np.sort(judged)[::-1]
    relevant = grades >= 1
    n_relevant = (judged >= 1).sum()
    precisions = relevant.cumsum(1) / ranks
    first = np.where(relevant.any(1), relevant.argmax(1) + 1, np.inf)
    discount = 1 / np.log2(ranks + 1)
    stops = (2.0**grades - 1) / 2**TOP
    reach = np.cumprod(1 - stops, axis=1) / (1 - stops)
    best = np.concatenate([ideal, np.zeros(len(ranks))])[: len(ranks)].cumsum()
    ratios = (relevant.cumsum(1) + grades.cumsum(1)) / (ranks + best)
    best_dcg = (ideal[:150] / np.log2(np.arange(2, len(ideal[:150]) + 2))).sum()
    return {
        "AP": (precisions * relevant).sum(1) / n_relevant,
        "AP@150": (precisions * relevant)[:, :150].sum(1) / n_relevant,
        "AP(rel=3)": (((grades >= 3).cumsum(1) / ranks) * (grades >= 3)).sum(1)
        / (judged >= 3).sum(),
        "P@150": precisions[:, 149],
        "R@100": relevant[:, :100].sum(1) / n_relevant,
        "Rprec": precisions[:, n_relevant - 1],
        "RR": 1 / first,
        "RR@10": np.where(first <= 10, 1 / first, 0.0),
        "Success@5": (first <= 5).astype(float),
        "nDCG@150": (grades * discount)[:, :150].sum(1) / best_dcg,
        "RBP(p=0.95)": (0.05 * 0.95 ** (ranks - 1) * relevant).sum(1),
        "ERR": (reach * stops / ranks).sum(1),
        "ERR@20": (reach * stops / ranks)[:, :20].sum(1),
        "Q": (ratios * relevant).sum(1) / n_relevant,
    }


def test_simulated_orders_of_large_groups():
    """5 standard errors: a wrong alarm in 6e-7 of comparisons, 8e-6 for all 14 of them."""
    rng = np.random.default_rng(2)
    scores = np.concatenate([np.full(300, 90.0), np.repeat(np.arange(50.0, 0.0, -1.0), 4)])
    grades = rng.choice([0, 0, 0, 0, 0, 0, 0, 1, 2, 3], 500)
    run, qrels = collection({"1": (list(zip(scores, grades.tolist(), strict=True)), [1, 2, 3])})
    # Sorting by score and a random number is a uniform order within every group.
    shuffled = np.argsort(rng.random((4000, 500)) - scores, axis=1)
    simulated = matrix_scores(grades[shuffled], np.append(grades, [1, 2, 3]))
    expected = expected_scores(run, qrels, recipes_of(simulated, qrels))[:, 0]
    values = np.array(list(simulated.values()))
    error = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    assert (error > 1e-6).all()
    np.testing.assert_array_less(np.abs(values.mean(axis=1) - expected) / error, 5.0)


# --- (c) no ties


def test_without_ties_it_is_the_score():
    rng = np.random.default_rng(3)
    topics = draw_topics(rng, 40, 60, 1)
    topics = {
        topic: ([(s, g) for s, (_, g) in zip(rng.permutation(99), d, strict=False)], missed)
        for topic, (d, missed) in topics.items()
    }
    run, qrels = collection(topics)
    recipes = recipes_of([*REFERENCES, *OF_SETS], qrels)
    options = {"missing": 0.25, "no_relevant": 0.5}
    plain = score_topics(find_judged_documents(run, qrels), qrels, recipes, **options)
    expected = expected_scores(run, qrels, recipes, **options)
    np.testing.assert_allclose(expected, plain, rtol=1e-12, atol=1e-12)


# --- (e) long lists


def test_a_constant_run_of_100_000_documents(least_seconds):
    n, m = 100_000, 40
    documents = [(0.0, 1 if i % (n // m) == 0 else None) for i in range(n)]
    run, qrels = collection({"1": (documents, [])})
    measures = words(
        """
        AP RR RR@5 P@10 R@1000 Rprec Success@10 nDCG RBP(p=0.99) ERR(max_rel=3) Q(beta=0)
        Judged@10
        """
    )
    recipes = recipes_of(measures, qrels)
    expected = dict(zip(measures, expected_scores(run, qrels, recipes)[:, 0], strict=True))
    assert least_seconds(lambda: expected_scores(run, qrels, recipes)) < 1.0
    harmonic = math.fsum(1 / j for j in range(1, n + 1))
    # Chances that the first relevant document is the j-th, in rational numbers.
    chances = [Fraction(m * math.comb(n - j, m - 1), m * math.comb(n, m)) for j in range(1, 6)]
    dcg = math.fsum(1 / math.log2(j + 1) for j in range(1, n + 1))
    best = math.fsum(1 / math.log2(j + 1) for j in range(1, m + 1))
    known = {
        # The sum over ranks of m/n (1 + (j-1)(m-1)/(n-1)) / j, over m.
        "AP": (m - 1) / (n - 1) * (1 - harmonic / n) + harmonic / n,
        "RR@5": float(sum(chance / j for j, chance in enumerate(chances, 1))),
        "P@10": m / n,
        "R@1000": 1000 / n,
        "Rprec": m / n,
        "Success@10": float(1 - Fraction(math.comb(n - m, 10), math.comb(n, 10))),
        "nDCG": m / n * dcg / best,
        "RBP(p=0.99)": m / n,
        "Judged@10": m / n,
    }
    known["Q(beta=0)"] = known["AP"]
    for measure, score in known.items():
        assert expected[measure] == pytest.approx(score, rel=1e-11, abs=0), measure


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 100_000])
def test_one_relevant_document_in_a_constant_run(n):
    """It takes each rank with chance 1/n: closed forms down to tiny chances, in full digits."""
    run, qrels = collection({"1": ([(7.0, 3)] + [(7.0, None)] * (n - 1), [])})
    measures = ["RR", "AP", "Success@1", "ERR", "RBP(p=0.999999)@1", "nG@1"]
    expected = expected_scores(run, qrels, recipes_of(measures, qrels))[:, 0]
    mean = math.fsum(1 / j for j in range(1, n + 1)) / n
    known = [mean, mean, 1 / n, 7 / 8 * mean, 1e-6 / n, 1 / n]
    np.testing.assert_allclose(expected, known, rtol=1e-10, atol=0)


def expected_err_by_draws(n, m, p):
    """ERR of m documents of stopping chance p among n in random order, drawn rank by rank.

    going[i]: the chance to have gone past i relevant documents and the rest of the rank.
    """
    going = np.zeros(m + 1)
    going[0] = 1.0
    drawn = np.arange(m + 1)
    total = 0.0
    for rank in range(1, n + 1):
        left = n - rank + 1
        relevant = going * (m - drawn) / left
        other = going * np.maximum(left - (m - drawn), 0) / left
        total += p * relevant.sum() / rank
        going = other
        going[1:] += (1 - p) * relevant[:-1]
    return total


@pytest.mark.parametrize(("n", "m", "grade"), [(3000, 1500, 1), (3000, 40, 3), (2000, 1990, 2)])
def test_err_of_one_large_group(n, m, grade):
    run, qrels = collection({"1": ([(0.0, grade)] * m + [(0.0, None)] * (n - m), [])})
    expected = expected_scores(run, qrels, recipes_of(["ERR"], qrels))[0, 0]
    known = expected_err_by_draws(n, m, (2**grade - 1) / 2**TOP)
    assert expected == pytest.approx(known, rel=1e-12)


def test_many_relevant_documents_in_one_large_group():
    """Where all documents have grade 3, every order is the same one."""
    run, qrels = collection({"1": ([(0.0, 3)] * 20_000, [])})
    measures = ["AP", "RR", "Success@3", "nDCG", "ERR", "nERR@20", "Q", "RBP"]
    recipes = recipes_of(measures, qrels)
    plain = score_topics(find_judged_documents(run, qrels), qrels, recipes)
    np.testing.assert_allclose(expected_scores(run, qrels, recipes), plain, rtol=1e-12)


# --- what counts as a tie, and what is left


def test_infinities_and_zeros_tie():
    run, qrels = collection(
        {"1": ([(math.inf, 1), (math.inf, None), (0.0, 1), (-0.0, None), (-math.inf, 1)], [])}
    )
    recipes = recipes_of(["P@1", "P@3", "RR"], qrels)
    np.testing.assert_allclose(expected_scores(run, qrels, recipes)[:, 0], [0.5, 0.5, 0.75])


def test_equal_scores_of_two_topics_do_not_tie():
    run, qrels = collection({"1": ([(1, 1)], []), "2": ([(1, None), (0, 1)], []), "3": ([], [1])})
    assert expected_scores(run, qrels, recipes_of(["RR"], qrels)).tolist() == [[1, 0.5, 0, 0]]


def test_topics_in_another_order():
    rng = np.random.default_rng(4)
    topics = draw_topics(rng, 20, 30, 5)
    run, qrels = collection(topics)
    other, _ = collection(dict(reversed(topics.items())))
    recipes = recipes_of(REFERENCES, qrels)
    found, again = (expected_scores(one, qrels, recipes) for one in (run, other))
    np.testing.assert_array_equal(found, again)


@pytest.mark.parametrize(
    "measure", ["Pplus", "Pplus@10", "Twist", "infAP", "IPrec@0.1", "Compat", "MyOwnTied"]
)
def test_measures_without_expectation_say_so(measure, monkeypatch):
    monkeypatch.setattr(names, "OWN_FUNCTIONS", {"MyOwnTied": lambda ranked, judged: 0.5})
    run, qrels = collection({"1": ([(1, 1), (1, 0)], [])})
    assert not has_expectation(parse_measure(measure))
    with pytest.raises(InputError, match=rf"^{measure} has no known expectation.*ties=.trec_eval"):
        expected_scores(run, qrels, recipes_of(["AP", measure], qrels))
