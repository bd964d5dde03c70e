"""The built-in collection: topics, judgments, the demo's runs, instances, and its use by name."""

import hashlib
import json
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.cli import run as run_command
from steadyrank.data.track import shipped as track
from steadyrank.data.track.shipped import shipped_runs
from steadyrank.stats.ranks.correlation import bootstrap_tau_interval
from steadyrank_lab import make_demo
from steadyrank_lab.retrieval.builtin import runs as instances
from steadyrank_lab.retrieval.engine.collections import read_collection
from steadyrank_lab.retrieval.makers.runs import load_judgments


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
    assert run_command(["grid", "builtin", "--out", str(out), *arguments, "--format", "json"]) == 0
    assert [row["run"] for row in json.loads(capsys.readouterr().out)["runs"]] == ["none_none_BM25"]
    assert (out / "runs" / "none_none_BM25.run").is_file()
    scored = [*arguments, "-m", "AP", "--format", "json"]
    assert run_command(["grid", "builtin", *scored]) == 0
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


def ranking(run: sr.Run, topic: str) -> list[str]:
    return [document for document, _ in run.ranking(topic)]


def test_four_instances_of_two_systems(builtin_instances):
    systems = Counter(run.info["system"] for run in builtin_instances)
    assert systems == {"okapi_8_shards": 4, "okapi_14_shards": 4}
    assert [run.name for run in builtin_instances][:2] == ["okapi_8_shards_1", "okapi_8_shards_2"]
    assert {run.info["shards"] for run in builtin_instances} == {"8", "14"}
    assert len({run.name for run in builtin_instances}) == 8


def test_they_are_exhaustive_search_with_documents_left_out(builtin_instances):
    """okapi_long to any depth holds every list, in its order: scores do not depend on shards."""
    whole = next(run for run in sr.builtin_runs(depth=20_000) if run.name == "okapi_long")
    for run in builtin_instances[::3]:
        for topic in whole.topics[::7]:
            place = {name: k for k, name in enumerate(ranking(whole, topic))}
            places = [place[name] for name in ranking(run, topic)]
            assert places == sorted(places)
            assert len(places) == 100


def test_all_shards_are_the_whole_collection(monkeypatch, builtin_runs):
    monkeypatch.setattr(instances, "SEARCHED", (instances.SHARDS,))
    every = np.ones((60, instances.SHARDS), bool)
    monkeypatch.setattr(instances, "choose_shards", lambda *shards, **depths: every)
    monkeypatch.setattr(instances, "N_INSTANCES", 1)
    (run,) = sr.builtin_instances(depth=100)
    whole = next(run for run in builtin_runs if run.name == "okapi_long")
    for topic in whole.topics:
        assert ranking(run, topic) == ranking(whole, topic)


def test_more_shards_are_better_and_instances_differ(builtin_instances, builtin_collection):
    scores = sr.evaluate(builtin_instances, builtin_collection.qrels, "nDCG@10").mean()[0]
    assert scores[4:].mean() > scores[:4].mean() > 0.4
    assert len(np.unique(scores.round(6))) == 8


def test_topics_have_an_origin(builtin_collection):
    info = builtin_collection.topic_info
    assert sorted(info) == ["area", "kind", "origin"]
    assert not any("" in column for column in info.values())
    assert Counter(info["origin"]) == {"standard": 37, "scientific": 23}
    assert len(info["origin"]) == len(builtin_collection.topics)
    origins = zip(info["area"], info["origin"], strict=True)
    areas = {area for area, origin in origins if origin == "scientific"}
    assert areas == {"arrays", "plots", "science", "statistics", "tables"}
