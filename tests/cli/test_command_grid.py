"""The `grid` command as people and programs call it."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from commanding import call

import steadyrank as sr

FEW = ("--stop-lists", "none,lucene", "--lexical", "none,porter", "--models", "BM25,PL2")
RUNS = [
    f"{s}_{u}_{m}" for s in ("none", "lucene") for u in ("none", "porter") for m in ("BM25", "PL2")
]

SHARDS = {"grid": (), "shard": ("--shards", 2, "--sample", "0.5", "--top-shards", 1)}


@pytest.fixture
def corpus(write):
    rng = np.random.default_rng(1)
    words = [
        *("the", "river", "rivers", "of", "a", "bank", "banks", "run", "running", "sea", "old"),
        "bridge",
    ]
    lines = [
        json.dumps({"id": f"d{i}", "title": "", "text": " ".join(rng.choice(words, 8))})
        for i in range(40)
    ]
    write("corpus/topics.tsv", "1\trunning rivers\n2\tthe old bridge\n")
    judged = [f"{t} 0 d{i} {int(rng.integers(0, 2))}\n" for t in (1, 2) for i in range(0, 40, 2)]
    write("corpus/qrels.txt", "".join(judged))
    return write("corpus/docs.jsonl", "\n".join(lines) + "\n").parent


def test_runs_and_run_information_go_into_a_folder(capsys, corpus, tmp_path):
    out = tmp_path / "grid"
    code, shown, err = call(capsys, "grid", corpus, "--out", out, *FEW)
    assert (code, err) == (0, "")
    assert "8 runs on 2 topics and 40 documents" in shown
    assert sorted(path.name for path in (out / "runs").iterdir()) == sorted(
        f"{name}.run" for name in RUNS
    )
    assert (out / "run-info.csv").read_text().splitlines()[:2] == [
        "run,stop_list,lexical,model",
        "none_none_BM25,none,none,BM25",
    ]
    code, shown, err = call(capsys, "grid", corpus, "--out", out, *FEW, "--format", "json")
    assert json.loads(shown) == {
        "runs": [
            dict(
                zip(("run", "stop_list", "lexical", "model"), (name, *name.split("_")), strict=True)
            )
            for name in RUNS
        ],
        "out": str(out),
    }
    assert "0 of them made now" in call(capsys, "grid", corpus, "--out", out, *FEW)[1]


def test_the_folder_is_read_by_evaluate_and_components(capsys, corpus, tmp_path):
    call(capsys, "grid", corpus, "--out", tmp_path / "grid", *FEW)
    info = ("--run-info", tmp_path / "grid" / "run-info.csv")
    code, shown, _ = call(
        capsys,
        *("evaluate", corpus / "qrels.txt", tmp_path / "grid" / "runs", "-m", "AP"),
        *info,
        "--format",
        "json",
    )
    evaluated = json.loads(shown)
    code, shown, err = call(capsys, "grid", corpus, "-m", "AP", *FEW, "--format", "json")
    assert (code, err) == (0, "")
    means = {row["run"]: row["mean"]["AP"] for row in json.loads(shown)["runs"]}
    assert means == evaluated["mean"]["AP"]
    assert evaluated["run_info"]["stop_list"].count("lucene") == 4


def test_scores_without_runs(capsys, corpus, tmp_path):
    code, shown, err = call(
        capsys, "grid", corpus, *FEW, "-m", "AP", "-m", "P@5", "--scores", tmp_path / "s.parquet"
    )
    assert (code, err) == (0, "")
    scores = sr.read_scores(tmp_path / "s.parquet")
    assert (list(scores.runs), scores.measures) == (RUNS, ("AP", "P@5"))
    assert scores.run_info["model"] == ("BM25", "PL2") * 4
    best = RUNS[int(np.argmax(scores.mean()[0]))]
    assert shown.splitlines()[0].split() == ["stop_list", "lexical", "model", "AP", "P@5"]
    assert shown.splitlines()[2].split()[:3] == best.split("_")
    assert f"{scores.mean()[0].max():.4f}" in shown.splitlines()[2]
    call(capsys, "grid", corpus, *FEW, "-m", "AP", "--scores", tmp_path / "s.csv")
    again = sr.read_scores(tmp_path / "s.csv")
    assert np.array_equal(again.matrix("AP"), scores.matrix("AP"))
    info = (tmp_path / "s.run-info.csv").read_text().splitlines()
    assert info[1] == "none_none_BM25,none,none,BM25"


def test_everything_can_be_named(capsys, corpus, write):
    stop_list = write("mine.txt", "old\n")
    topics = write("t.tsv", "7\told rivers\n")
    qrels = write("q.txt", "7 0 d3 1\n7 0 d5 1\n")
    code, shown, err = call(
        capsys,
        *("grid", corpus / "docs.jsonl", "--topics", topics, "--qrels", qrels),
        *("--stop-lists", stop_list),
        *("--lexical", "porter", "--models", "BM25(k1=0.9,b=0.4)", "--models", "DPH", "--depth"),
        *(5, "--format", "csv"),
    )
    assert (code, err) == (0, "")
    names = [row["run"] for row in csv.DictReader(io.StringIO(shown))]
    assert names == ["mine_porter_BM25(k1=0.9,b=0.4)", "mine_porter_DPH"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to make: name a folder for the runs (--out DIR)"),
        (("-m", "AP", "--models", "BM52"), "did you mean 'BM25'?"),
        (("-m", "AP", "--lexical", "3grams"), "unknown lexical unit '3grams'"),
        (("-m", "AP", "--stop-lists", "lucen"), "did you mean 'lucene'?"),
        (("-m", "APX"), "unknown measure"),
        (("--scores", "nowhere/s.csv"), "the folder nowhere does not exist"),
        (("--scores", "s.xlsx"), "scores are written as .csv or .parquet"),
        (("--qrels", "missing.txt"), "missing.txt: no such file"),
        (("-m", "AP", "--topics", "missing.tsv"), "missing.tsv: no such file"),
    ],
)
def test_mistakes_are_told_in_one_line(capsys, corpus, monkeypatch, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, shown, err = call(capsys, "grid", corpus, *arguments)
    assert (code, shown) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.glob("s.*"))


@pytest.mark.parametrize(
    "wanted", [("--out", "out"), ("-m", "AP"), ("--topics", "t.tsv", "-m", "AP")]
)
@pytest.mark.parametrize("command", ["grid", "shard"])
def test_a_collection_that_is_not_there(capsys, write, monkeypatch, tmp_path, command, wanted):
    monkeypatch.chdir(tmp_path)
    write("t.tsv", "1\trivers\n")
    assert call(capsys, command, "nofolder", *wanted) == (
        2,
        "",
        "steadyrank: nofolder: no such file\n",
    )
    code, _, err = call(capsys, command, "no*.jsonl", *wanted)
    assert (code, err) == (2, "steadyrank: no*.jsonl: no file matches\n")
    assert [path.name for path in tmp_path.iterdir()] == ["t.tsv"]


@pytest.mark.parametrize("command", ["grid", "shard"])
def test_a_collection_alone_lacks_topics_and_judgments(capsys, corpus, tmp_path, command):
    documents = corpus / "docs.jsonl"
    _, _, err = call(capsys, command, documents, "--out", tmp_path / "out")
    assert err.startswith("steadyrank: name the topics (--topics FILE)")
    topics = ("--topics", corpus / "topics.tsv")
    _, _, err = call(capsys, command, documents, *topics, "-m", "AP", *SHARDS[command])
    assert err.startswith("steadyrank: name the judgments (--qrels FILE)")
