"""The `shard` command as people and programs call it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from commanding import call

import steadyrank as sr

DESIGN = (
    *("--shards", 4, "--sample-rate", "10%,0.4", "--cluster-samples", 2, "--partitions", 2),
    *("--csi", 3, "--sample", "0.3", "--top-shards", 2),
)


@pytest.fixture
def corpus(write):
    rng = np.random.default_rng(2)
    words = [f"word{i}" for i in range(30)]
    lines = [
        json.dumps({"id": f"d{i:03d}", "text": " ".join(rng.choice(words, 12))}) for i in range(100)
    ]
    write("corpus/topics.tsv", "1\tword1 word2 word3\n2\tword4 word5 word6\n3\tword7 word8\n")
    judged = [f"{t} 0 d{i:03d} 1\n" for t in (1, 2, 3) for i in rng.choice(100, 9, replace=False)]
    write("corpus/qrels.txt", "".join(judged))
    return write("corpus/docs.jsonl", "\n".join(lines) + "\n").parent


def test_instances_reads_the_folder_as_it_is(capsys, corpus, tmp_path):
    out = tmp_path / "shards"
    code, shown, err = call(capsys, "shard", corpus, "--out", out, *DESIGN)
    assert (code, err) == (0, "")
    assert "25 runs on 3 topics and 100 documents" in shown
    lines = (out / "run-info.csv").read_text().splitlines()
    assert lines[:3] == [
        "run,system,rate,sample,partition,csi",
        "exhaustive,exhaustive,,,,",
        "topical_r0.1_s1_p1_c1,topical,0.1,1,1,1",
    ]
    assert len(lines) == 26
    assert len(list((out / "runs").glob("*.run"))) == 25
    code, shown, err = call(
        capsys,
        *("instances", corpus / "qrels.txt", out / "runs", "--run-info"),
        out / "run-info.csv",
        *("-m", "AP", "--a", "topical", "--b", "exhaustive", "--instance-factors"),
        *("sample,partition,csi", "--quiet", "--format", "json"),
    )
    assert (code, err) == (0, "")
    assert json.loads(shown)["n_instances"] == {"a": 24, "b": 1}


def test_scores_are_summed_up_by_rate(capsys, corpus, tmp_path):
    file = tmp_path / "s.parquet"
    code, shown, err = call(
        capsys, "shard", corpus, *DESIGN, "-m", "AP", "--scores", file, "--seed", 5
    )
    assert (code, err) == (0, "")
    scores = sr.read_scores(file)
    direct = sr.shard(
        corpus,
        shards=4,
        sample_rate=[0.1, 0.4],
        cluster_samples=2,
        partitions=2,
        csi=3,
        cluster_share=0.3,
        top_shards=2,
        measures="AP",
        rng=5,
    )
    assert np.array_equal(scores.values, direct.values)
    rows = [line.split() for line in shown.splitlines()[2:5]]
    assert [row[:3] for row in rows] == [
        ["exhaustive", "–", "1"],
        ["topical", "0.1", "12"],
        ["topical", "0.4", "12"],
    ]
    means = scores.mean()[0, np.array(scores.run_info["rate"]) == "0.4"]
    assert rows[2][3:] == [f"{means.mean():.4f}", f"{means.std(ddof=1):.4f}"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to make"),
        (("-m", "AP", "--shards", 40, "--sample", 0.1), "cannot make 40 shards: cluster at least"),
        (("-m", "AP", "--shards", 200), "100 documents cannot make 200 shards: make fewer"),
        (("-m", "AP", "--sample-rate", "lots"), "'lots' is not a share such as 0.1 or 10%"),
        (("-m", "AP", "--sample", "1,2"), "'1,2' is not a share"),
        (("-m", "AP", "--store", "kept"), "--store was removed in 1.1; repeat the command"),
        (
            ("-m", "AP", "--sample-rate", "0"),
            "--sample-rate must be above 0 and at most 1, got 0.0",
        ),
        (("-m", "AP", "--shards", 3, "--top-shards", 4), "cannot search 4 of 3 shards"),
        (
            ("-m", "AP", "--shards", 3, "--sample", 0.1, "--top-shards", 1, "--model", "BM52"),
            "did you mean 'BM25'?",
        ),
    ],
)
def test_mistakes_are_told_in_one_line(capsys, corpus, arguments, message):
    code, shown, err = call(capsys, "shard", corpus, *arguments)
    assert (code, shown) == (2, "")
    assert message in err
    assert err.count("\n") == 1
