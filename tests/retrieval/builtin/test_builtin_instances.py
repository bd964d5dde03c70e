"""Instances of selective search on the built-in collection, and what is known of its topics."""

from __future__ import annotations

from collections import Counter

import numpy as np

import steadyrank as sr
from steadyrank_lab.retrieval.builtin import runs as instances


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
