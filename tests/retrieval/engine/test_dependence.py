"""Sequential and full dependence: by hand, and against loops over all windows."""

from __future__ import annotations

from itertools import combinations
from math import log2

import numpy as np
import plain_search as plain
import pytest

import steadyrank as sr
from steadyrank.errors import InputError
from steadyrank_lab.retrieval.engine.index import build_index
from steadyrank_lab.retrieval.engine.models import parse_model
from steadyrank_lab.retrieval.engine.search import search
from steadyrank_lab.retrieval.engine.word_counts import count_words


def scores(texts, query, model, **options):
    index = build_index(count_words(texts), {"1": query}, positions=True, **options)
    return dict(search(index, model).ranking("1"))


def test_by_hand():
    texts = {"a": "white house rose garden", "b": "house white rose", "c": "garden"}
    # 8 tokens. white and house: cf 2; "white house" in a row: a alone; within 8 words: a and b.
    found = scores(texts, "white house", "SDM(mu=10)")
    terms = 0.8 * 2 * log2(1 + 8 / (10 * 2)) + 0.1 * log2(1 + 8 / (10 * 2))
    length = 0.8 * 2 + 0.1 + 0.1
    assert found == pytest.approx(
        {
            "a": terms + 0.1 * log2(1 + 8 / (10 * 1)) + length * log2(10 / 14),
            "b": terms + length * log2(10 / 13),
        },
        rel=1e-6,
    )
    # With two terms, all sets are pairs of neighbours.
    assert scores(texts, "white house", "FDM(mu=10)") == found
    # With one word between them they are no neighbours in the text, but within the window.
    assert scores(texts, "white rose", "SDM(ordered=.5)")["a"] == pytest.approx(
        scores(texts, "white rose", "SDM(ordered=.1)")["a"] + 0.4 * log2(2500 / 2504), rel=1e-6
    )


def test_full_dependence_has_more_sets():
    # "a … c" are no neighbours in the topic: only FDM counts their windows, 1 by 12 words.
    texts = {"1": "a b c", "2": "a x x x x x x x x c b", "3": "b"}
    weights = "(terms=0,ordered=0,unordered=1,mu=1)"
    # SDM: {a, b} and {b, c} within 8; FDM: also {a, c} within 8, {a, b, c} within 12.
    once, length = log2(1 + 15 / 1), log2(1 / 4)
    twice = log2(1 + 15 / 2)
    assert scores(texts, "a b c", f"SDM{weights}")["1"] == pytest.approx(
        once + twice + 2 * length, rel=1e-6
    )
    assert scores(texts, "a b c", f"FDM{weights}")["1"] == pytest.approx(
        once + twice + once + twice + 4 * length, rel=1e-6
    )


def plain_scores(texts, query, full, most=5, mu=2500.0):
    """The models from their definition, a loop over all windows."""
    words = {name: text.split() for name, text in texts.items()}
    tokens = sum(map(len, words.values()))
    query = query.split()
    cliques = [(0.8, lambda w, q=q: w.count(q)) for q in query]
    sets = []
    for size in range(2, (most if full else 2) + 1):
        for i in range(len(query) - size + 1):
            row = query[i : i + size]
            cliques.append(
                (0.1, lambda w, row=row: sum(w[j : j + len(row)] == row for j in range(len(w))))
            )
            sets.append(frozenset(row))
    if full:
        sets = [
            frozenset(some)
            for size in range(2, most + 1)
            for some in combinations(sorted(set(query)), size)
        ]
    for some in dict.fromkeys(each for each in sets if len(each) > 1):
        width = 4 * len(some)
        cliques.append(
            (
                0.1,
                lambda w, some=some, width=width: sum(
                    w[j] in some and some <= set(w[max(0, j - width + 1) : j + 1])
                    for j in range(len(w))
                ),
            )
        )
    out = {name: 0.0 for name, text in words.items() if set(query) & set(text)}
    for weight, count in cliques:
        tf = {name: count(text) for name, text in words.items()}
        total = sum(tf.values())
        for name in out if total else ():
            length = log2(mu / (len(words[name]) + mu))
            out[name] += weight * (log2(1 + tf[name] * tokens / (mu * total)) + length)
    return out


@pytest.mark.parametrize("model", ["SDM", "FDM", "FDM(most=3)"])
def test_against_loops_over_all_windows(model):
    rng = np.random.default_rng(8)
    texts = plain.random_texts(rng, 60, n_words=12)
    for query in plain.random_topics(rng, 6, n_words=12, length=4).values():
        most = int(parse_model(model).parameters.get("most", 2))
        expected = plain_scores(texts, query, full=model.startswith("FDM"), most=most)
        assert scores(texts, query, model) == pytest.approx(expected, rel=1e-6)


def test_positions_are_those_of_the_words_that_remain():
    texts = {"a": "bank of england", "b": "england bank"}
    found = scores(texts, "bank of england", "SDM(terms=0)", stop_list="lucene")
    assert found["a"] > found["b"]


def test_grids_and_instances_rank_by_them(tmp_path):
    rng = np.random.default_rng(9)
    texts = plain.random_texts(rng, 80, n_words=15)
    topics = {"1": "w1 w2 w3", "2": "w4 w1"}
    qrels = {topic: dict.fromkeys(list(texts)[::7], 1) for topic in topics}
    made = {"stop_lists": "none", "lexical": ["none", "4grams"], "models": ["SDM", "fdm", "BM25"]}
    grid = sr.grid(texts, topics, qrels=qrels, measures="AP", **made)
    assert grid.runs[:3] == ("none_none_SDM", "none_none_FDM", "none_none_BM25")
    assert len(set(grid.mean()[0][:3].tolist())) == 3
    design = {"shards": 3, "cluster_share": 0.5, "csi": 2, "partitions": 1, "cluster_samples": 1}
    design |= {"stop_list": "none", "lexical": "none", "model": "FDM"}
    scored = sr.shard(
        texts, topics, qrels=qrels, measures="AP", top_shards=3, sample_rate=1.0, **design
    )
    assert scored.values[0, 0].tolist() == grid.values[0, 1].tolist()
    assert (scored.values == scored.values[:, :1]).all()


def test_without_positions_they_are_refused():
    index = build_index(count_words({"a": "x y"}), {"1": "x y"})
    with pytest.raises(InputError, match="positions"):
        search(index, "SDM")
