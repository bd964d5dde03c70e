"""The built-in collection: its topics and judgments, the demo's runs on it, and its use by name."""

import hashlib
import json
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.data.track import shipped as track
from steadyrank.data.track.shipped import shipped_runs
from steadyrank.stats.ranks.correlation import bootstrap_tau_interval
from steadyrank_lab import make_demo
from steadyrank_lab.retrieval.builtin import collection as builtin
from steadyrank_lab.retrieval.engine.collections import read_collection
from steadyrank_lab.retrieval.makers.runs import collection_topics, load_judgments


def test_the_manifest_is_that_of_the_documents(builtin_collection):
    manifest, documents = builtin_collection.manifest, builtin_collection.documents
    digest = hashlib.blake2b(json.dumps(documents).encode(), digest_size=16).hexdigest()
    assert digest == manifest["digest"]
    assert sum(manifest["documents"].values()) == len(documents)
    assert manifest["versions"].keys() == manifest["documents"].keys()
    tops = Counter(name.partition(".")[0] for name in documents)
    assert {name: tops[name] for name in manifest["documents"] if name != "python"} == {
        name: number for name, number in manifest["documents"].items() if name != "python"
    }
    assert list(documents) == sorted(documents)


def test_the_track_of_the_demo_is_what_is_searched(builtin_runs, builtin_instances):
    searched, shipped = (*builtin_runs, *builtin_instances), shipped_runs()
    assert [run.name for run in shipped] == [run.name for run in searched]
    for mine, theirs in zip(shipped, searched, strict=True):
        assert mine.topics == theirs.topics
        assert mine.info == {**dict.fromkeys(mine.info, ""), **theirs.info}
        for topic in mine.topics:
            pairs = list(zip(mine.ranking(topic)[:100], theirs.ranking(topic), strict=True))
            assert [a for (a, _), _ in pairs] == [b for _, (b, _) in pairs]
            assert max(abs(a - b) for (_, a), (_, b) in pairs) < 0.02


def test_packed_runs_come_back(tmp_path, monkeypatch):
    shipped = shipped_runs()
    make_demo.pack_runs(shipped, shipped[0].topics, tmp_path / "packed")
    monkeypatch.setattr(track, "PACKED", tmp_path / "packed")
    for mine, theirs in zip(track.shipped_runs(), shipped, strict=True):
        assert mine.scores.tolist() == theirs.scores.tolist()
        assert mine.documents.to_list() == theirs.documents.to_list()


def test_topics_are_complete():
    needs = builtin.builtin_needs()
    assert len(needs) >= 50
    assert len({need.id for need in needs}) == len(needs)
    assert len({need.title for need in needs}) == len(needs)
    for need in needs:
        assert all((need.title.strip(), need.description.strip(), need.relevant.strip()))
        assert need.kind in ("single", "several", "many")
        assert need.id.split() == [need.id]


def test_topics_are_titles_or_other_fields():
    need = builtin.builtin_needs()[0]
    assert collection_topics("builtin", None)[need.id] == need.title
    both = builtin.builtin_topics(["title", "relevant"])
    assert both[need.id] == f"{need.title} {need.relevant}"


def test_it_is_a_collection_by_name(builtin_collection):
    found = {document.id: document.text for document in read_collection("builtin")}
    assert found == builtin_collection.documents
    assert len(found) == 11738


def test_a_folder_of_the_same_name_is_reached_by_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "builtin"
    folder.mkdir()
    (folder / "docs.jsonl").write_text('{"id": "own", "text": "my own text"}\n')
    assert [document.id for document in read_collection("./builtin")] == ["own"]
    assert [document.id for document in read_collection(Path("builtin"))] == ["own"]
    (folder / "qrels.txt").write_text("9 0 own 1\n")
    assert load_judgments("./builtin", None).topics == ("9",)
    assert len(load_judgments("builtin", None).topics) == 60


def test_the_command_knows_it_by_name(tmp_path, capsys):
    arguments = ["--stop-lists", "none", "--lexical", "none", "--models", "BM25", "--quiet"]
    out = tmp_path / "runs"
    assert run(["grid", "builtin", "--out", str(out), *arguments, "--format", "json"]) == 0
    assert [row["run"] for row in json.loads(capsys.readouterr().out)["runs"]] == ["none_none_BM25"]
    assert (out / "runs" / "none_none_BM25.run").is_file()
    scored = [*arguments, "-m", "AP", "--format", "json"]
    assert run(["grid", "builtin", *scored]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["mean"]["AP"] > 0.2


@pytest.fixture(scope="module")
def grades(builtin_collection):
    """Of each pair of topic and document that two judges saw, the grades of both."""
    first, second = builtin_collection.qrels, builtin_collection.second_qrels
    return np.array(
        [
            (first.judgments(topic)[name], grade)
            for topic in second.topics
            for name, grade in second.judgments(topic).items()
        ]
    )


def test_all_judged_documents_are_there(builtin_collection):
    for qrels in (builtin_collection.qrels, builtin_collection.second_qrels):
        for topic in qrels.topics:
            assert qrels.judgments(topic).keys() <= builtin_collection.documents.keys()


def test_topics_have_enough_relevant_documents(builtin_collection):
    assert set(builtin_collection.qrels.topics) == builtin_collection.topics.keys()
    grades = [
        builtin_collection.qrels.judgments(topic).values()
        for topic in builtin_collection.qrels.topics
    ]
    assert sum(sum(grade > 0 for grade in each) >= 3 for each in grades) >= 30
    assert {grade for each in grades for grade in each} == {0, 1, 2}


def test_topics_are_not_taken_from_documents(builtin_collection):
    texts = [" ".join(text.lower().split()) for text in builtin_collection.documents.values()]
    for need in builtin_collection.needs:
        assert not any(need.description.lower() in text for text in texts)


def test_the_pool_is_judged(builtin_collection, builtin_runs):
    assert len(builtin_runs) >= 12
    assert len({run.info["team"] for run in builtin_runs}) >= 5
    scores = sr.evaluate(builtin_runs, builtin_collection.qrels, ["Judged@10"])
    assert scores.values.mean() == 1.0


def test_the_best_system_is_far_above_the_worst_and_chance_near_0(builtin_collection, builtin_runs):
    rng = np.random.default_rng(0)
    names = sorted(builtin_collection.documents)
    drawn = {
        topic: {names[d]: float(-r) for r, d in enumerate(rng.permutation(len(names))[:100])}
        for topic in builtin_collection.topics
    }
    chance = sr.run_from_dict(drawn, name="chance")
    scores = sr.evaluate([*builtin_runs, chance], builtin_collection.qrels, ["nDCG@10"])
    means = dict(zip(scores.runs, scores.values[0].mean(axis=1), strict=True))
    assert means.pop("chance") < 0.01
    assert max(means.values()) > 2 * min(means.values()) > 0.2


def test_two_judges_agree(grades):
    assert len(grades) >= 300
    first, second = grades.T
    assert sr.cohen_kappa(first, second) > 0.8
    assert sr.cohen_kappa(first > 0, second > 0) > 0.8


def test_what_disagreements_do_to_the_ranking(builtin_collection, builtin_runs):
    """On what both judges saw, where each disagreement weighs most, and with it replaced."""
    second = {
        topic: builtin_collection.second_qrels.judgments(topic)
        for topic in builtin_collection.topics
    }
    first = {
        topic: {name: builtin_collection.qrels.judgments(topic)[name] for name in grades}
        for topic, grades in second.items()
    }
    replaced = {
        topic: builtin_collection.qrels.judgments(topic) | second[topic]
        for topic in builtin_collection.topics
    }
    seen = [_ap(builtin_runs, judgments) for judgments in (first, second)]
    whole = [_ap(builtin_runs, builtin_collection.qrels), _ap(builtin_runs, replaced)]
    for pair, least in ((seen, 0.75), (whole, 0.9)):
        interval = bootstrap_tau_interval(*pair, n_samples=500)
        assert interval.high >= interval.tau >= least
        assert interval.low > 0.6


def _ap(runs, judgments):
    qrels = sr.qrels_from_dict(judgments) if isinstance(judgments, dict) else judgments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what both saw, some topics have nothing relevant
        return sr.evaluate(runs, qrels, ["AP"], no_relevant="skip").values[0]
