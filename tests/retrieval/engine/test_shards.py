"""Selective search against plain Python, step by step, and what it shows on topical text."""

from __future__ import annotations

import csv
import math
from collections import Counter

import numpy as np
import plain_search as plain
import pytest

import steadyrank as sr
from steadyrank.compute.random import block_stream
from steadyrank.errors import InputError, SteadyrankWarning, UnknownNameError
from steadyrank_lab.retrieval.engine.shards import (
    Partition,
    central_sample,
    draw_sample,
    make_vectors,
    random_shards,
    topical_shards,
)
from steadyrank_lab.retrieval.engine.word_counts import count_words

K = 5
DESIGN = {
    "shards": K,
    "sample_rate": [0.1, 0.3],
    "cluster_samples": 2,
    "partitions": 2,
    "csi": 3,
    "cluster_share": 0.2,
    "top_shards": 2,
    "csi_depth": 10,
    "stop_list": "none",
    "lexical": "none",
    "rng": 3,
}


def topical_texts(rng, n_documents, n_subjects=6):
    """Documents of a few subjects: half of their words are a subject's own."""
    texts, subject_of = {}, {}
    for i in range(n_documents):
        subject = int(rng.integers(n_subjects))
        own = [f"s{subject}w{w}" for w in rng.zipf(1.6, 15) % 40]
        common = [f"c{w}" for w in rng.zipf(1.3, 15) % 60]
        texts[f"d{i:04d}"] = " ".join(rng.permutation([*own, *common]))
        subject_of[f"d{i:04d}"] = subject
    return texts, subject_of


@pytest.fixture(scope="module")
def collection():
    return topical_texts(np.random.default_rng(7), 240)


@pytest.fixture(scope="module")
def texts(collection):
    return collection[0]


@pytest.fixture(scope="module")
def topics():
    return {"1": "s1w1 s1w2 c1", "2": "s3w1 s3w4 s3w4", "3": "c2 s0w3 s5w1", "4": "s2w30"}


@pytest.fixture(scope="module")
def qrels(texts, topics):
    judged = {
        topic: {d: 1 for d, text in texts.items() if set(query.split()[:2]) <= set(text.split())}
        for topic, query in topics.items()
    }
    return {topic: found or {"d0000": 1} for topic, found in judged.items()}


# k-means


def plain_vectors(texts):
    bags = {name: Counter(text.split()) for name, text in texts.items()}
    df = Counter(word for bag in bags.values() for word in bag)
    weighted = {}
    for name, bag in bags.items():
        raw = {w: (1 + math.log(c)) * math.log(len(texts) / df[w]) for w, c in bag.items()}
        norm = math.sqrt(sum(value**2 for value in raw.values()))
        weighted[name] = {w: value / norm for w, value in raw.items()}
    return weighted


def plain_centroid(members):
    total = Counter()
    for vector in members:
        for word, value in vector.items():
            total[word] += value
    norm = math.hypot(*total.values())
    return {word: value / norm for word, value in total.items()}


@pytest.mark.parametrize("partition", [0, 1])
def test_k_means_is_that_of_plain_python(texts, partition):
    names = list(texts)
    vectors = plain_vectors(texts)
    sample = draw_sample(len(names), 0.15, seed=4, sample=1)
    waiting = block_stream(4, "partitions of sample 1", partition).permutation(sample).tolist()
    groups = [[i] for i in waiting[:K]]
    waiting = waiting[K:] + waiting[:K]

    def nearest(document, centroids):
        vector = vectors[names[document]]
        return int(
            np.argmax([sum(v * c.get(w, 0.0) for w, v in vector.items()) for c in centroids])
        )

    for _ in range(3):
        centroids = [plain_centroid([vectors[names[i]] for i in g]) for g in groups]
        groups = [[] for _ in range(K)]
        for i in sample:
            groups[nearest(i, centroids)].append(i)
        groups = [group or [waiting.pop(0)] for group in groups]
    centroids = [plain_centroid([vectors[names[i]] for i in g]) for g in groups]
    expected = [nearest(i, centroids) for i in range(len(names))]
    made = topical_shards(
        make_vectors(count_words(texts)),
        n_shards=K,
        sample_share=0.15,
        iterations=3,
        seed=4,
        sample=1,
        partition=partition,
    )
    assert made.shard_of.tolist() == expected


def test_empty_clusters_start_again_from_the_sample():
    # All documents of the sample are alike, so that one cluster takes them all at each turn.
    texts = {f"d{i}": "same words here" for i in range(40)} | {"x": "something else"}
    vectors = make_vectors(count_words(texts))
    made = topical_shards(vectors, n_shards=4, sample_share=0.5, seed=1)
    assert made.sizes.sum() == 41
    assert made.sizes.max() >= 40


def test_documents_that_share_no_word_with_the_sample_are_spread():
    texts = {f"d{i}": f"only{i} once{i}" for i in range(2000)}
    made = topical_shards(make_vectors(count_words(texts)), n_shards=4, sample_share=0.01, seed=2)
    others = made.sizes - np.bincount(
        made.shard_of[draw_sample(2000, 0.01, seed=2, sample=0)], minlength=4
    )
    # 1980 documents over 4 shards: within five standard deviations of a quarter.
    assert np.abs(others - 495).max() < 5 * math.sqrt(1980 * 0.25 * 0.75)


def test_topical_shards_hold_one_subject_each(collection):
    texts, subject_of = collection
    subjects = np.array([subject_of[name] for name in texts])
    vectors = make_vectors(count_words(texts))
    topical = topical_shards(vectors, n_shards=12, sample_share=0.5, seed=0)
    at_random = random_shards(len(texts), n_shards=12, seed=0)

    def purity(partition):
        tables = [np.bincount(subjects[partition.shard_of == s]) for s in range(12)]
        return sum(table.max(initial=0) for table in tables) / len(texts)

    assert purity(topical) > 0.9
    assert purity(at_random) < 0.5
    assert set(at_random.sizes.tolist()) == {20}


def test_stop_words_do_not_count(texts):
    with_them = {name: text + " the of and" * 5 for name, text in texts.items()}
    stopped = make_vectors(count_words(with_them), without={"the", "of", "and"})
    plainly = make_vectors(count_words(texts))
    np.testing.assert_array_equal(stopped.toarray(), plainly.toarray())
    shards = [topical_shards(v, n_shards=K, sample_share=0.2) for v in (stopped, plainly)]
    assert np.array_equal(shards[0].shard_of, shards[1].shard_of)


# central samples


def test_a_central_sample_has_its_rate_of_every_shard_and_at_least_one():
    partition = Partition(
        shard_of=np.repeat(np.arange(5), [300, 40, 3, 0, 1]).astype(np.int32), n_shards=5
    )
    csi = central_sample(partition, rate=0.1, seed=1, csi=4)
    assert csi.sizes.tolist() == [30, 4, 1, 0, 1]
    taken = np.bincount(partition.shard_of[csi.member], minlength=5)
    assert taken.tolist() == csi.sizes.tolist()
    larger = central_sample(partition, rate=0.5, seed=1, csi=4)
    assert larger.sizes.tolist() == [150, 20, 2, 0, 1]
    assert (larger.member >= csi.member).all()
    others = [
        central_sample(partition, rate=0.1, **{"seed": 1, "csi": 4, key: 2}).member.tolist()
        for key in ("seed", "sample", "partition", "csi")
    ]
    assert all(other != csi.member.tolist() for other in others)


def test_every_document_is_sampled_as_often_as_any_other():
    partition = Partition(shard_of=(np.arange(60) % 3).astype(np.int32), n_shards=3)
    times = sum(
        central_sample(partition, rate=0.25, seed=5, csi=c).member.astype(int) for c in range(2000)
    )
    # Binomial(2000, 1/4), 60 documents: six standard deviations, false alarm below 1e-6.
    assert np.abs(times - 500).max() < 6 * math.sqrt(2000 * 0.25 * 0.75)


# whole instances


def plain_instance(texts, topics, shard_of, member, *, top, csi_depth, depth, decay=None, first=0):
    """The run of an instance as nested loops: {topic: [(document, score)]}."""
    shards = sorted(set(shard_of.values()))
    members = {s: [d for d in texts if shard_of[d] == s] for s in shards}
    sampled = [d for d in texts if member[d]]
    run = {}
    for topic, query in topics.items():
        best = plain.rank(texts, query, only=sampled)
        votes, firsts = Counter(), {}
        for position, (document, score) in enumerate(best[:csi_depth]):
            vote = 1 if decay is None else score * decay ** -(position + first)
            if vote >= 1e-4:
                votes[shard_of[document]] += vote
                firsts.setdefault(shard_of[document], position)
        worth = {
            s: n * len(members[s]) / sum(d in members[s] for d in sampled) for s, n in votes.items()
        }
        worth = worth if decay is None else votes
        chosen = sorted(worth, key=lambda s: (-worth[s], firsts[s]))[:top]
        merged = [pair for s in chosen for pair in plain.rank(texts, query, only=members[s])]
        merged.sort(key=lambda pair: (pair[1], pair[0].encode()), reverse=True)
        if merged:
            run[topic] = merged[:depth]
    return run


@pytest.mark.parametrize("kind", ["topical", "random"])
@pytest.mark.parametrize(("decay", "first"), [(None, 0), (50.0, 0), (50.0, 1), (1.5, 0)])
def test_instances_are_those_of_plain_python(tmp_path, texts, topics, kind, decay, first):
    options = {**DESIGN, "random_shards": kind == "random"}
    if decay is not None:
        options |= {"selection": "rank-s", "decay": decay, "first_exponent": first}
    sr.write_shards(texts, topics, out=tmp_path, depth=20, **options)
    vectors = make_vectors(count_words(texts))
    for sample, partition, rate, csi in [(0, 0, 0.1, 0), (1, 1, 0.3, 2), (0, 1, 0.1, 1)]:
        numbers = {"seed": 3, "sample": sample, "partition": partition}
        if kind == "random":
            made = random_shards(len(texts), n_shards=K, **numbers)
        else:
            made = topical_shards(vectors, n_shards=K, sample_share=0.2, **numbers)
        # Ids ascend in this collection, so that documents are in the order of their ids.
        drawn = central_sample(made, rate=rate, csi=csi, **numbers)
        name = f"{kind}_r{rate}_s{sample + 1}_p{partition + 1}_c{csi + 1}"
        run = sr.read_run(tmp_path / "runs" / f"{name}.run")
        expected = plain_instance(
            texts,
            topics,
            dict(zip(texts, made.shard_of.tolist(), strict=True)),
            dict(zip(texts, drawn.member.tolist(), strict=True)),
            top=2,
            csi_depth=10,
            depth=20,
            decay=decay,
            first=first,
        )
        assert {topic: run.ranking(topic) for topic in run.topics} == expected


def test_exhaustive_search_is_search(tmp_path, texts, topics):
    sr.write_shards(texts, topics, out=tmp_path, depth=30, model="PL2", **DESIGN)
    run = sr.read_run(tmp_path / "runs" / "exhaustive.run")
    for topic in run.topics:
        assert run.ranking(topic) == plain.rank(texts, topics[topic], "PL2")[:30]


def test_all_shards_and_a_full_sample_make_exhaustive_search(texts, topics, qrels):
    scores = sr.shard(
        texts,
        topics,
        qrels=qrels,
        measures=["AP", "nDCG@10"],
        **{**DESIGN, "top_shards": K, "csi_depth": 1000, "sample_rate": 1.0},
    )
    assert (scores.values == scores.values[:, :1]).all()


def test_scores_are_those_of_the_runs_in_files(tmp_path, texts, topics, qrels):
    measures = ["AP", "P@5", "nDCG@10", "Judged@10"]
    options = {**DESIGN, "depth": 25}
    with pytest.warns(SteadyrankWarning, match="find nothing for judged topics"):
        scores = sr.shard(texts, topics, qrels=qrels, measures=measures, out=tmp_path, **options)
    with pytest.warns(SteadyrankWarning):
        again = sr.evaluate(
            tmp_path / "runs", qrels, measures, run_info=tmp_path / "run-info.csv"
        ).select(runs=scores.runs)
    assert np.array_equal(scores.values, again.values)
    assert scores.run_info == again.run_info
    assert len(set(scores.mean()[0].tolist())) > 3


def test_run_information_is_what_instances_reads(tmp_path, texts, topics, qrels):
    result = sr.write_shards(texts, topics, out=tmp_path, **DESIGN)
    with open(tmp_path / "run-info.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows == result.rows()
    assert list(rows[0]) == ["run", "system", "rate", "sample", "partition", "csi"]
    assert list(rows[0].values()) == ["exhaustive", "exhaustive", "", "", "", ""]
    assert list(rows[-1].values()) == ["topical_r0.3_s2_p2_c3", "topical", "0.3", "2", "2", "3"]
    assert len(rows) == 1 + 2 * 2 * 2 * 3
    with pytest.warns(SteadyrankWarning, match="lacks? judged topics"):
        scores = sr.evaluate(tmp_path / "runs", qrels, "AP", run_info=tmp_path / "run-info.csv")
    table = sr.instances(
        scores,
        sweep="rate",
        a="topical",
        b="exhaustive",
        posterior=False,
        n_samples=100,
        instance_factors=["sample", "partition", "csi"],
    )
    assert table.settings == ("0.1", "0.3")


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_the_same_bytes_everywhere_and_after_a_stop(tmp_path, texts, topics, elsewhere):
    options = DESIGN
    sr.write_shards(texts, topics, out=tmp_path / "a", jobs=1, **options)
    sr.write_shards(texts, topics, out=tmp_path / "b", jobs=2, **options)
    sr.write_shards(texts, topics, out=tmp_path / "c", executor=elsewhere, **options)
    gone = [*(tmp_path / "c" / "runs").iterdir()][::4]
    for path in gone:
        path.unlink()
    assert sr.write_shards(texts, topics, out=tmp_path / "c", **options).written == len(gone)
    assert contents(tmp_path / "a") == contents(tmp_path / "b") == contents(tmp_path / "c")


def test_an_instance_depends_on_its_numbers_alone(texts, topics, qrels):
    def scored(**change):
        with pytest.warns(SteadyrankWarning):
            found = sr.shard(texts, topics, qrels=qrels, measures="AP", **{**DESIGN, **change})
        return dict(zip(found.runs, found.matrix().tolist(), strict=True))

    usual = scored()
    for change in (
        {"sample_rate": [0.3, 0.5]},
        {"csi": 5},
        {"cluster_samples": 1},
        {"partitions": 4},
    ):
        other = scored(**change)
        common = usual.keys() & other.keys()
        assert len(common) >= 13
        assert all(usual[name] == other[name] for name in common)
    other = scored(rng=4)
    assert sum(usual[name] != other[name] for name in usual) > len(usual) // 2


def mixed_texts(rng, n_documents, n_subjects):
    """Documents of one subject with words of another."""
    texts = {}
    for i in range(n_documents):
        one, other = rng.choice(n_subjects, 2, replace=False)
        words = [f"s{one}w{w}" for w in rng.zipf(1.4, 9) % 30]
        words += [f"s{other}w{w}" for w in rng.zipf(1.4, 6) % 30]
        texts[f"d{i}"] = " ".join([*words, *(f"c{w}" for w in rng.zipf(1.3, 15) % 60)])
    return texts


def test_what_selective_search_shows():
    # Topics ask for four words of a subject; documents with three of them are relevant.
    rng = np.random.default_rng(9)
    texts = mixed_texts(rng, 3000, 25)
    bags = {name: set(text.split()) for name, text in texts.items()}
    topics, qrels = {}, {}
    for s in range(25):
        words = [f"s{s}w{w}" for w in rng.choice(np.arange(1, 10), 4, replace=False)]
        topics[str(s)] = " ".join([*words, "c1"])
        qrels[str(s)] = {d: 1 for d, bag in bags.items() if len(bag & {*words}) > 2}
    options = {
        "shards": 30,
        "cluster_share": 0.1,
        "sample_rate": [0.02, 0.1, 0.5],
        "top_shards": 2,
        "cluster_samples": 2,
        "partitions": 4,
        "csi": 8,
        "stop_list": "none",
        "lexical": "none",
        "csi_depth": 20,
        "qrels": qrels,
        "measures": "AP",
    }
    topical, random = (
        sr.shard(texts, topics, random_shards=kind, **options) for kind in (False, True)
    )

    def by_rate(scores):
        rates = np.array(scores.run_info["rate"])
        return [scores.mean()[0, rates == rate] for rate in ("0.02", "0.1", "0.5")]

    # 64 instances a rate: larger central samples choose better shards, and differ less.
    few, some, many = by_rate(topical)
    assert few.mean() < some.mean() < many.mean()
    assert few.std() > many.std()
    for kind, contrast in zip(by_rate(topical), by_rate(random), strict=True):
        assert kind.mean() > 2 * contrast.mean()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"shards": 0}, InputError, "shards must be a whole number of at least 1, got 0"),
        ({"shards": 2.5}, InputError, "shards must be a whole number"),
        ({"shards": 500}, InputError, "240 documents cannot make 500 shards"),
        ({"shards": 60}, InputError, "a sample of 48 documents .0.2 of 240. cannot make 60"),
        ({"top_shards": 6}, InputError, "cannot search 6 of 5 shards"),
        ({"sample_rate": 0.0}, InputError, "sample_rate must be above 0"),
        ({"sample_rate": 1.5}, InputError, "at most 1, got 1.5"),
        ({"sample_rate": []}, InputError, "at least one sample_rate"),
        ({"sample_rate": [0.1, 0.1]}, InputError, "each once"),
        ({"csi": 0}, InputError, "csi must be a whole number"),
        ({"stop_list": "lucen"}, UnknownNameError, "did you mean 'lucene'"),
        ({"lexical": "portr"}, UnknownNameError, "did you mean 'porter'"),
        ({"model": "BM52"}, UnknownNameError, "did you mean 'BM25'"),
        ({"depth": 0}, InputError, "depth must be"),
        ({"selection": "cori"}, UnknownNameError, "choose from redde, rank-s"),
        ({"decay": 1.0}, InputError, "decay"),
        ({"first_exponent": 2}, InputError, "first_exponent"),
    ],
)
def test_bad_designs_are_refused_before_anything_is_written(
    tmp_path, texts, topics, change, error, message
):
    with pytest.raises(error, match=message):
        sr.write_shards(texts, topics, out=tmp_path / "out", **{**DESIGN, **change})
    assert not (tmp_path / "out").exists()
