"""One new collection for all runs: against repeated documents that `evaluate` scores."""

from __future__ import annotations

import math
import warnings

import numba
import numpy as np
import pytest
from plain_collections import SHARES, counts_of, hashes_of, plain_values
from scipy.stats import poisson

import steadyrank as sr
from bench import documents
from steadyrank.compute.executors import workers
from steadyrank.measures.names import parse_measure
from steadyrank.measures.scoring import prepare
from steadyrank.studies.simulate.blocks import SharedDocuments, topic_keys
from steadyrank.studies.simulate.shared_lists import documents_needed, draw_counts, shared_lists

MEASURES = (
    "AP",
    "AP@5",
    "AP(rel=2)",
    "nDCG",
    "nDCG@10",
    "nDCG(dcg='exp-log2')@3",
    "nDCG(gains=(0,0,1,5))@10",
    "P@5",
    "P(rel=3)@5",
    "R@5",
    "Rprec",
    "RR",
    "RR@2",
    "RBP(p=0.9)",
    "RBP(graded=True)@7",
    "ERR",
    "ERR@10",
    "nERR@5",
    "Q",
    "Q(beta=0.5,rel=2)@10",
    "Pplus",
    "nG@1",
    "IPrec@0.5",
    "Success@3",
)
SEED, N_SAMPLES = 3, 70
"""One chunk of 64 samples and a bit."""


def ranking(rng, documents, n, *, decimals=9):
    return {
        str(doc): float(score)
        for doc, score in zip(
            rng.permutation(documents)[:n], rng.normal(size=n).round(decimals), strict=True
        )
    }


def odd_topics():
    """Runs and judgments with ties, unequal depths, unretrieved and unjudged documents.

    Topic 4 has no relevant document, all documents of topic 5 are relevant, in topic 6 runs hold
    one document each, and in 7 no run finds anything.
    """
    rng = np.random.default_rng(1)
    documents = [f"d{i}" for i in range(30)]
    depths = {"1": 20, "2": 12, "3": 25, "4": 8, "5": 10, "6": 1, "7": 5}
    runs = {
        name: {t: ranking(rng, documents, n, decimals=decimals) for t, n in depths.items()}
        for name, decimals in (("plain", 9), ("tied", 0), ("other", 9))
    }
    runs["flat"] = {t: dict.fromkeys(own, 1.0) for t, own in runs["plain"].items()}
    runs["twin"] = runs["tied"]
    runs["short"] = {t: dict(list(runs["plain"][t].items())[:3]) for t in "123"}
    judged = [*documents[:20], "u1", "u2"]
    grades = {
        t: {str(doc): int(g) for doc, g in zip(rng.permutation(judged), found, strict=True)}
        for t, found in (
            *((t, rng.integers(-1, 4, len(judged))) for t in "123"),
            ("4", np.zeros(len(judged), int)),
        )
    }
    grades["5"] = {doc: 1 + i % 3 for i, doc in enumerate(documents)}
    grades["6"] = dict.fromkeys(documents[:15], 1)
    grades["7"] = {"u1": 2}
    return runs, grades


def sampled(runs, grades, measure, n_samples=N_SAMPLES, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        return sr.simulate(
            [sr.run_from_dict(run, name=name) for name, run in runs.items()],
            sr.qrels_from_dict(grades),
            measure=measure,
            n_samples=n_samples,
            rng=SEED,
            **options,
        )


def cell_values(runs, grades, measure, n_samples=N_SAMPLES, **options):
    """[run, topic, sample] as the study draws them."""
    qrels = sr.qrels_from_dict(grades)
    recipe = prepare(parse_measure(measure), qrels.max_grade)
    named = [sr.run_from_dict(run, name=name) for name, run in runs.items()]
    lists = shared_lists(named, qrels, recipe, topics=sorted(grades), **options)
    source = SharedDocuments(lists.lists, recipe, topic_keys(SEED, sorted(grades)))
    values = np.empty((len(runs) * len(grades), n_samples))
    with workers(jobs=1) as pool:
        source.fill(values, 0, pool)
    return values.reshape(len(runs), len(grades), n_samples)[lists.notes.given]


@pytest.fixture(scope="module")
def repeated_documents():
    """Of some samples, the values [measure, run, topic] by `evaluate`."""
    samples = (0, 1, 31, 32, 63, 64, 69)
    return {sample: plain_values(*odd_topics(), MEASURES, SEED, sample) for sample in samples}


@pytest.mark.parametrize("measure", MEASURES)
def test_every_value_is_that_of_the_repeated_documents(measure, repeated_documents):
    """To the last bit: the same counts, the same ties, and `evaluate` on what they make."""
    runs, grades = odd_topics()
    ours = cell_values(runs, grades, measure, n_samples=N_SAMPLES)
    for sample, theirs in repeated_documents.items():
        np.testing.assert_array_equal(ours[:, :, sample], theirs[MEASURES.index(measure)])


@pytest.mark.parametrize(
    "options", [{"depth": 4}, {"depth": 40}, {"score_source": "rank"}], ids=str
)
@pytest.mark.parametrize("measure", ["AP", "nDCG@10"])
def test_depth_and_source_of_scores(measure, options):
    runs, grades = odd_topics()
    ours = cell_values(runs, grades, measure, **options)
    for sample in range(0, N_SAMPLES, 9):
        (theirs,) = plain_values(runs, grades, [measure], SEED, sample, **options)
        np.testing.assert_array_equal(ours[:, :, sample], theirs)


def test_means_are_those_of_the_cells():
    runs, grades = odd_topics()
    ours = cell_values(runs, grades, "AP")
    found = sampled(runs, grades, "AP")
    np.testing.assert_allclose(found.simulated, ours.mean(axis=1).T, rtol=1e-12)
    np.testing.assert_allclose(found.cell_mean, ours.mean(axis=2), rtol=1e-9, atol=1e-12)


def few_documents():
    """Topics of four documents: every hundredth collection holds each of them once."""
    rng = np.random.default_rng(8)
    documents = ["a", "b", "c", "d"]
    topics = [str(t) for t in range(1, 13)]
    runs = {name: {t: ranking(rng, documents, 4) for t in topics} for name in ("one", "two")}
    grades = {
        t: dict(zip(documents, rng.permutation([3, 2, 1, 0]).tolist(), strict=True)) for t in topics
    }
    return runs, grades


@pytest.mark.parametrize("measure", MEASURES)
def test_with_every_document_once_the_value_is_the_raw_one(measure):
    """To the last bit, wherever a collection happens to be the real one."""
    runs, grades = few_documents()
    ours = cell_values(runs, grades, measure, n_samples=1024)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        scores = sr.evaluate(
            [sr.run_from_dict(run, name=name) for name, run in runs.items()],
            sr.qrels_from_dict(grades),
            [measure],
        )
    topics = sorted(grades)
    codes = hashes_of(["a", "b", "c", "d"]).values()
    n_alike = 0
    for t, key in enumerate(topic_keys(SEED, topics)):
        counts = np.stack([counts_of(key, code, np.arange(1024)) for code in codes])
        real = np.flatnonzero((counts == 1).all(axis=0))
        n_alike += len(real)
        theirs = scores.values[0, :, scores.topics.index(topics[t])]
        assert (ours[:, t, real] == theirs[:, None]).all()
    assert n_alike > 50


def test_counts_are_poisson():
    """Shares to 32 bits; and 100,000 of them from the stream pass a chi-squared test.

    The statistic of 8 classes is below 33 in all but one stream of 30,000.
    """
    assert SHARES.tolist() == [
        round(2**32 * share) for share in poisson.cdf(np.arange(12), 1).tolist()
    ]
    keys = np.random.default_rng(5).integers(2**64, size=500, dtype=np.uint64)
    counts = np.concatenate([counts_of(key, ~key, np.arange(200)) for key in keys])
    expected = poisson.pmf(np.arange(8), 1) * len(counts)
    expected[-1] += poisson.sf(7, 1) * len(counts)
    observed = np.bincount(np.minimum(counts, 7), minlength=8)
    assert ((observed - expected) ** 2 / expected).sum() < 33


def test_counts_of_the_kernel_are_those_of_the_stream():
    """Of documents with many copies, too, which the first shares do not tell apart."""
    codes = np.random.default_rng(6).integers(2**64, size=3000, dtype=np.uint64)
    key, counts = np.uint64(77), np.empty(len(codes) * 64, np.uint8)

    @numba.njit
    def draw(key, codes, first, counts):
        for number in range(len(codes)):
            draw_counts(key, codes[number], first, counts, number * 64)

    draw(key, codes, 128, counts)
    expected = np.stack([counts_of(key, code, np.arange(128, 192)) for code in codes])
    np.testing.assert_array_equal(counts.reshape(-1, 64), expected)
    assert counts.max() >= 7


@pytest.mark.parametrize("depth", ["retrieved", 150, 1000])
def test_sums_of_a_long_ranking_are_those_of_repeated_documents(depth):
    """Gaps of 0 to 24 documents between relevant ones; sums in the order of ranks, bit for bit."""
    at = np.cumsum(np.arange(1, 26))
    documents = [f"d{i}" for i in range(at[-1] + 10)]
    runs = {"a": {"1": {doc: -float(i) for i, doc in enumerate(documents)}}}
    grades = {"1": {documents[i]: 1 + i % 3 for i in at}}
    gains = np.array([grades["1"].get(doc, 0) for doc in documents])
    key = topic_keys(SEED, ["1"])[0]
    codes = hashes_of(documents)
    counts = np.stack([counts_of(key, codes[doc], np.arange(200)) for doc in documents])
    assert counts[at].max() > 4
    measured = {
        measure: cell_values(runs, grades, measure, n_samples=200, depth=depth)[0, 0]
        for measure in ("AP", "AP@100", "nDCG", "nDCG@30")
    }
    for sample, copies in enumerate(counts.T):
        ideal = sorted(np.repeat(gains[at], copies[at]).tolist(), reverse=True)
        ranked = np.repeat(gains, copies)[: len(documents) if depth == "retrieved" else depth]
        for measure, values in measured.items():
            cutoff = int(measure.partition("@")[2] or len(ranked) + len(ideal))
            assert values[sample] == plain_ratio(measure, ranked[:cutoff], ideal, cutoff)


def plain_ratio(measure, ranked, ideal, cutoff):
    """AP or nDCG of a list of gains, term by term from the top."""
    ranks = (np.flatnonzero(ranked) + 1).tolist()
    if measure.startswith("AP"):
        return in_order((n + 1) / rank for n, rank in enumerate(ranks)) / len(ideal)
    dcg = in_order(int(ranked[rank - 1]) / math.log2(rank + 1) for rank in ranks)
    return dcg / in_order(gain / math.log2(n + 2) for n, gain in enumerate(ideal[:cutoff]))


def in_order(terms):
    """Their sum; that of Python 3.12 and above corrects its rounding."""
    total = 0.0
    for term in terms:
        total += term
    return total


def test_a_run_does_not_depend_on_the_others():
    runs, grades = odd_topics()
    together = sampled(runs, grades, "nDCG@10")
    for name in ("tied", "short"):
        alone = sampled({name: runs[name]}, grades, "nDCG@10")
        place = together.runs.index(name)
        np.testing.assert_array_equal(alone.simulated[:, 0], together.simulated[:, place])


def test_a_topic_does_not_depend_on_the_others():
    runs, grades = odd_topics()
    few = {topic: grades[topic] for topic in ("2", "3")}
    whole, part = sampled(runs, grades, "AP"), sampled(runs, few, "AP")
    np.testing.assert_array_equal(part.cell_mean, whole.cell_mean[:, 1:3])


def test_runs_of_the_same_documents_in_the_same_order_never_differ():
    runs, grades = odd_topics()
    found = sampled(runs, grades, "AP")
    twins = [found.runs.index(name) for name in ("tied", "twin")]
    one, other = found.simulated[:, twins].T
    np.testing.assert_array_equal(one, other)
    assert found.rank_share[twins[0]].tolist() == found.rank_share[twins[1]].tolist()


def test_topics_that_lose_their_relevant_documents_are_counted():
    """R = 1: no relevant document in exp(-1) of the collections, within 4.5 standard errors."""
    runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "x": 1.0}}}
    found = sampled(runs, {"1": {"x": 1}, "2": {"x": 0}}, "AP", n_samples=4000)
    share = found.without_relevant / 4000
    assert share == pytest.approx(np.exp(-1), abs=4.5 * np.sqrt(0.37 * 0.63 / 4000))
    assert (found.simulated[:, 0] == 0).mean() == pytest.approx(share)


def test_expectation_of_precision_in_closed_form():
    """P@1 of a relevant document above another: it is first unless it is not drawn."""
    runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "x": 1.0}}}
    found = sampled(runs, {"1": {"x": 1}}, "P@1", n_samples=20_000)
    present = 1 - np.exp(-1)
    error = 4.5 * np.sqrt(0.25 / 20_000)
    assert found.simulated_mean[0] == pytest.approx(present, abs=error)
    assert found.simulated_mean[1] == pytest.approx(present * np.exp(-1), abs=error)


def test_documents_that_fill_a_cutoff():
    """Fewer copies than the cutoff among so many documents are rarer than 2^-64."""
    for cutoff in (1, 10, 100, 1000):
        needed = documents_needed(cutoff)
        assert poisson.cdf(cutoff - 1, needed) < 2.0**-64 <= poisson.cdf(cutoff - 1, needed - 1)


@pytest.mark.slow
def test_shared_documents_vary_as_fresh_collections_do():
    """On four tracks of known truth (`bench.documents`; 40 tracks give .95 ± .007 and 1.22 ± .01).

    The spread of a track has a standard deviation of .05 (.07 for independent runs): the bands are
    four standard errors wide and more on either side.
    """
    found = documents.table(10, 4)["AP"]
    shared, independent = found["shared"], found["independent"]
    assert 0.85 < shared["spread of differences"][0] < 1.05
    assert 1.07 < independent["spread of differences"][0] < 1.37
    assert abs(shared["bias"][0]) < 0.006
    assert shared["tau"][0] > independent["tau"][0]
    assert shared["difference holds expected"][0] > 0.8


def test_defaults_and_what_they_depend_on():
    runs, grades = odd_topics()
    few = {"n_samples": 5}
    assert sampled(runs, grades, "AP", **few).documents == "shared"
    for options in ({"mode": "paper"}, {"model": "kde"}, {"denominator": "poisson"}):
        assert sampled(runs, grades, "AP", **few, **options).documents == "independent"
    found = sampled(runs, grades, "nDCG@10", **few)
    assert (found.measure, found.denominator) == ("nDCG@10", None)
    assert "documents shared by all runs" in found.caption()
    given = sampled(runs, grades, "AP", mode="paper", documents="shared", **few)
    assert (given.documents, given.depth) == ("shared", 1000)
