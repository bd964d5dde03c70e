"""Rankings against plain Python, and against sorting all scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plain_search as plain
import pytest

import steadyrank as sr
from steadyrank.data.run import build_run
from steadyrank.errors import InputError, UnknownNameError
from steadyrank.measures.scoring import find_judged_documents
from steadyrank_lab.retrieval.engine.index import Index, build_index
from steadyrank_lab.retrieval.engine.models import MODELS, parse_model, spelled_model
from steadyrank_lab.retrieval.engine.search import find_wanted, order_documents, search, search_all
from steadyrank_lab.retrieval.engine.word_counts import count_words


@pytest.fixture(scope="module")
def texts():
    return plain.random_texts(np.random.default_rng(1), 150)


@pytest.fixture(scope="module")
def topics():
    return plain.random_topics(np.random.default_rng(2), 12)


@pytest.fixture(scope="module")
def index(texts, topics):
    return build_index(count_words(texts), topics)


def made_index(n_documents, dfs, rng, longest=300, names=None):
    """An index of random postings, one topic that asks for all its units."""
    document = [np.sort(rng.choice(n_documents, df, replace=False)) for df in dfs]
    lengths = rng.integers(1, longest, n_documents) + 50.0
    count = [np.minimum(rng.geometric(0.3, df), 40) for df in dfs]
    names = names or [f"d{i:06d}" for i in rng.permutation(n_documents)]
    return Index(
        documents=tuple(names),
        lengths=lengths,
        tokens=float(lengths.sum()),
        units=tuple(f"u{u}" for u in range(len(dfs))),
        starts=np.concatenate([[0], np.cumsum(dfs)]).astype(np.int64),
        document=np.concatenate(document).astype(np.int32),
        count=np.concatenate(count).astype(np.int32),
        df=np.array(dfs, float),
        cf=np.array([each.sum() for each in count], float),
        topics=("1",),
        queries=(np.arange(len(dfs)),),
    )


def all_scores(index, model):
    """Scores of all documents of the first topic, NaN where nothing matches."""
    unit = np.repeat(np.arange(len(index.df)), np.diff(index.starts))
    postings = {
        "tf": index.count,
        "dl": index.lengths[index.document],
        "df": index.df[unit],
        "cf": index.cf[unit],
    }
    added = plain.weigh(model, postings, n_documents=len(index.documents), tokens=index.tokens)
    scores = np.full(len(index.documents), np.nan)
    scores[index.document] = 0.0
    np.add.at(scores, index.document, added)
    return scores


def expected_order(index, scores, depth):
    matched = np.flatnonzero(~np.isnan(scores))
    rounded = scores.astype(np.float32)
    key = [(rounded[d], index.documents[d].encode()) for d in matched]
    best = sorted(range(len(matched)), key=key.__getitem__, reverse=True)[:depth]
    return [(index.documents[matched[i]], float(key[i][0])) for i in best]


@pytest.mark.parametrize("model", MODELS)
def test_every_model_ranks_as_plain_python_does(texts, topics, index, model):
    run = search(index, model)
    assert run.name == model
    for topic, query in topics.items():
        assert run.ranking(topic) == plain.rank(texts, query, model)


def test_models_together_and_one_by_one_give_the_same_bytes(index):
    together = list(search_all(index, list(MODELS)))
    for model, ranking in zip(MODELS, together, strict=True):
        alone, several = search(index, model), ranking.to_run(model)
        assert alone.topics == several.topics
        assert alone.scores.tobytes() == several.scores.tobytes()
        assert alone.documents.hashes.tobytes() == several.documents.hashes.tobytes()


@pytest.mark.parametrize("depth", [1, 10, 700, 1500, 100_000])
def test_the_best_of_many_documents(depth):
    rng = np.random.default_rng(depth)
    index = made_index(20_000, [9_000, 14_000, 3_000, 40, 1], rng)
    models = ["BM25", "PL2", "DFIZ", "DirichletLM", "InB2"]
    for model, ranking in zip(models, search_all(index, models, depth=depth), strict=True):
        scores = all_scores(index, model)
        assert ranking.to_run("r").ranking("1") == expected_order(index, scores, depth)


@pytest.mark.parametrize("model", ["PL2", "BM25", "DFIZ"])
def test_equal_scores_stand_in_the_order_of_ids(model):
    # All documents have the same length and count, so that ids alone decide, as bytes. The
    # one score is above zero by PL2, below by BM25, and exactly zero by DFIZ.
    names = [f"d{i}" for i in range(3_000)] + ["D1", "é", "z", "d", "d1\udcff"]
    rng = np.random.default_rng(3)
    index = made_index(len(names), [len(names)], rng, names=[str(n) for n in names])
    index.count[:] = 1
    index.lengths[:] = 60
    index.cf[:] = len(names)
    index = replace(index, tokens=60.0 * len(names))
    run = search(index, model, depth=1200)
    found = [name for name, _ in run.ranking("1")]
    order = sorted(names, key=lambda name: name.encode("utf-8", "surrogateescape"), reverse=True)
    assert found == order[:1200]
    (score,) = set(run.scores.tolist())
    assert np.sign(score) == {"PL2": 1, "BM25": -1, "DFIZ": 0}[model]


def test_a_run_is_in_the_order_that_reading_it_gives(index):
    run = search(index, "LGD", depth=40)
    again = build_run(
        run.name,
        list(run.topics),
        run.blocks[:-1],
        run.documents.take(np.arange(len(run))),
        run.scores.copy(),
    )
    assert again.documents.to_list() == run.documents.to_list()
    assert np.array_equal(run.scores, run.scores.astype(np.float32))


def test_documents_are_ranked_whatever_the_sign_of_their_scores():
    # "common" is in most documents: its weight by BM25 is negative. Zero is a score, too.
    texts = {"a": "common rare", "b": "common", "c": "common", "d": "other"}
    index = build_index(count_words(texts), {"1": "common", "2": "nothing", "3": "rare common"})
    run = search(index, "BM25")
    assert run.topics == ("1", "3")  # no document has "nothing"
    assert [name for name, _ in run.ranking("1")] == ["a", "c", "b"]
    assert all(score < 0 for _, score in run.ranking("1"))
    dfiz = search(index, "DFIZ").ranking("1")
    assert [name for name, _ in dfiz] == ["c", "b", "a"]
    assert dfiz == plain.rank(texts, "common", "DFIZ")


def test_parameters_count(texts, topics, index):
    usual, other = search(index, "BM25"), search(index, "BM25(b=0.1)")
    assert usual.scores.tolist() != other.scores.tolist()
    assert search(index, parse_model("bm25(b=0.75)")).scores.tolist() == usual.scores.tolist()
    odd = parse_model("BM25(k1=1.2345678901234567)")
    assert parse_model(spelled_model(odd)).parameters == odd.parameters


@pytest.mark.parametrize("depth", [3, 1000])
@pytest.mark.parametrize("relevant_only", [True, False])
def test_judged_documents_are_found_without_sorting(index, texts, topics, depth, relevant_only):
    rng = np.random.default_rng(4)
    judgments = {
        topic: {name: int(rng.integers(-1, 3)) for name in rng.choice([*texts, "nowhere"], 60)}
        for topic in [*list(topics)[:9], "unknown"]
    }
    qrels = sr.qrels_from_dict(judgments)
    order = order_documents(index.documents)
    wanted = find_wanted(qrels, index.topics, order, relevant_only=relevant_only)
    for ranking in search_all(index, list(MODELS), depth=depth, order=order):
        found = ranking.judged(wanted)
        expected = find_judged_documents(ranking.to_run("r"), qrels, relevant_only=relevant_only)
        for column in ("blocks", "ranks", "rows", "lengths"):
            assert np.array_equal(getattr(found, column), getattr(expected, column)), column


def test_topics_without_documents_have_no_length():
    index = build_index(count_words({"a": "x", "b": "y"}), {"1": "z", "2": "y"})
    order = order_documents(index.documents)
    wanted = find_wanted(sr.qrels_from_dict({"1": {"a": 1}, "2": {"b": 1}}), index.topics, order)
    (ranking,) = search_all(index, ["BM25"], order=order)
    assert ranking.judged(wanted).lengths.tolist() == [-1, 1]


def test_ids_are_ordered_as_bytes():
    names = ["b", "é", "a", "aa", "a\udcff", "B"]
    order = order_documents(names)
    by_place = sorted(range(len(names)), key=order.rank.tolist().__getitem__)
    assert [names[i] for i in by_place] == ["B", "a", "aa", "a\udcff", "b", "é"]
    assert order.ids.to_list() == [names[i] for i in by_place]


def test_bad_input_is_refused(index):
    for depth in (0, -5, 2.5):
        with pytest.raises(InputError, match="depth must be a whole number of at least 1"):
            search(index, depth=depth)
    with pytest.raises(UnknownNameError, match="did you mean 'BM25'"):
        search(index, "BM52")
