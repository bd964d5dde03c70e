"""Tolerances hold for one more build, on simulated builds and, where it is installed, on HNSW."""

from __future__ import annotations

import numpy as np
import pytest

import steadyrank as sr
from integrations.hnsw_tolerances.tolerances import tolerance
from tests.integrations.readme import ROOT, failures_of


def test_the_readme_runs():
    assert failures_of("hnsw_tolerances") == 0


def test_every_folder_is_in_the_list():
    listed = (ROOT / "README.md").read_text()
    folders = sorted(path.parent.name for path in ROOT.glob("*/README.md"))
    assert len(folders) == 5
    assert all(f"[{folder}]({folder}/README.md)" in listed for folder in folders)


@pytest.mark.parametrize(("k", "confidence"), [(3, 0.95), (5, 0.99), (10, 0.9)])
def test_a_further_build_lies_within_the_limits_as_often_as_stated(k, confidence):
    n, rng = 4000, np.random.default_rng(k)
    scores = rng.normal(0.64, 0.002, (n, k + 1))
    held = sum(new in tolerance(builds, confidence=confidence) for *builds, new in scores)
    # Five standard errors of a share: a false alarm has probability below 1e-6.
    assert abs(held / n - confidence) < 5 * np.sqrt(confidence * (1 - confidence) / n)


def test_limits_of_many_checks_hold_together():
    one = tolerance([0.1, 0.2, 0.4], confidence=0.95)
    assert tolerance([0.1, 0.2, 0.4], confidence=0.8, n_checks=4) == pytest.approx(one)
    assert tolerance([0.5, 0.5, 0.5]) == (0.5, 0.5)
    with pytest.raises(ValueError, match="at least two builds"):
        tolerance([0.5])


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(11)
    return rng.normal(size=(1500, 24)).astype(np.float32), rng.normal(size=(60, 24))


def nearest(vectors, queries, candidates=None, depth=10):
    """{query: {document: score}} by inner product, among the candidates of each query."""
    found = {}
    for q, query in enumerate(queries):
        ids = np.arange(len(vectors)) if candidates is None else candidates[q]
        scores = vectors[ids] @ query
        best = np.argsort(-scores)[:depth]
        found[f"q{q}"] = {f"d{ids[i]}": float(scores[i]) for i in best}
    return found


def approximate(vectors, queries, seed, n_tables=6, n_bits=5):
    """One build of an approximate index: random hyperplanes, the buckets of several tables."""
    rng = np.random.default_rng(seed)
    planes = rng.normal(size=(n_tables, vectors.shape[1], n_bits))
    bits = 1 << np.arange(n_bits)
    documents, asked = ((x @ planes > 0) @ bits for x in (vectors, queries))
    hits = (documents[:, None, :] == asked[:, :, None]).any(axis=0)
    return nearest(vectors, queries, [np.flatnonzero(row) for row in hits])


def scores_of(runs, qrels):
    """nDCG@10 of each build."""
    builds = {f"build{i}": run for i, run in enumerate(runs)}
    return sr.evaluate(builds, qrels, "nDCG@10").mean()[0].tolist()


def test_a_broken_build_is_seen_and_good_ones_pass(vectors):
    documents, queries = vectors
    exact = nearest(documents, queries)
    qrels = {q: dict.fromkeys(ranked, 1) for q, ranked in exact.items()}
    good = [approximate(documents, queries, seed) for seed in range(30)]
    broken = approximate(documents, queries, 99, n_tables=4)
    *scores, lost = scores_of([*good, broken], qrels)
    limits = tolerance(scores[:20], confidence=0.99)
    assert np.std(scores) > 0.0
    assert all(score in limits for score in scores[20:])
    assert lost not in limits


def test_builds_of_hnswlib(vectors):
    hnswlib = pytest.importorskip("hnswlib")
    documents, queries = vectors
    exact = nearest(documents, queries)
    qrels = {q: dict.fromkeys(ranked, 1) for q, ranked in exact.items()}
    runs = []
    for seed in range(6):
        index = hnswlib.Index(space="ip", dim=documents.shape[1])
        index.init_index(len(documents), M=4, ef_construction=10, random_seed=seed)
        index.add_items(documents, np.arange(len(documents)))
        index.set_ef(10)
        labels, _ = index.knn_query(queries, k=10)
        runs.append(nearest(documents, queries, labels.astype(int)))
    *builds, new = scores_of(runs, qrels)
    assert new in tolerance(builds, confidence=0.999)
