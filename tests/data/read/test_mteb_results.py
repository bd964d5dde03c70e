"""A folder of MTEB results: revisions, splits and subsets as their repository has them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import steadyrank as sr


def write(folder, model, revision, task, splits):
    path = folder / model / revision / f"{task}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    scores = {
        split: [{"hf_subset": name, "main_score": value} for name, value in subsets.items()]
        for split, subsets in splits.items()
    }
    path.write_text(json.dumps({"task_name": task, "scores": scores}))


@pytest.fixture
def folder(tmp_path):
    test = {"test": {"default": 0.5}, "dev": {"default": 0.9}}
    write(tmp_path, "org__one", "abc", "NQ", test)
    write(tmp_path, "org__one", "abc", "STS", {"test": {"en": 0.8, "de": 0.4}})
    write(tmp_path, "org__one", "external", "NQ", {"test": {"default": 0.1}})
    write(tmp_path, "org__one", "external", "FiQA", {"test": {"default": 0.3}})
    write(tmp_path, "org__two", "def", "NQ", {"test": {"default": 0.6}})
    write(tmp_path, "org__two", "def", "FiQA", {"test": {"default": 0.2}})
    write(tmp_path, "org__two", "def", "STS", {"test": {"en": 0.7}})
    (tmp_path / "org__one" / "abc" / "model_meta.json").write_text("{}")
    return tmp_path


def test_scores_are_those_of_the_test_split_by_the_first_revision(folder):
    with pytest.warns(sr.SteadyrankWarning, match="STS: models have different subsets.*en"):
        table = sr.read_leaderboard(folder)
    assert (table.runs, table.datasets) == (("org/one", "org/two"), ("FiQA", "NQ", "STS"))
    assert table.values.tolist() == [[0.3, 0.5, 0.8], [0.2, 0.6, 0.7]]


def test_a_file_of_another_task_is_refused(folder):
    path = folder / "org__two" / "def" / "NQ.json"
    path.write_text(path.read_text().replace('"NQ"', '"FiQA"'))
    with pytest.raises(sr.InputError, match=r"NQ\.json: MTEB results: .*'FiQA'"):
        sr.read_leaderboard(folder)


def test_a_clone_of_the_repository_is_found(folder, tmp_path_factory):
    clone = tmp_path_factory.mktemp("clone")
    folder.rename(clone / "results")
    (clone / "paths.json").write_text("{}")
    with pytest.warns(sr.SteadyrankWarning, match="models have different subsets|paths.json"):
        assert sr.read_leaderboard(clone).runs == ("org/one", "org/two")


@pytest.mark.parametrize("other", ["dev", "validation", "train"])
def test_another_split_than_that_of_most_models_is_missing(tmp_path, other):
    for model, split in (("a", "test"), ("b", "test"), ("c", other)):
        write(tmp_path, model, "r", "T", {split: {"default": 0.5}})
        write(tmp_path, model, "r", "U", {other: {"default": 0.25}})
    message = "T: 1 model lacks the split 'test', and therefore the task: c"
    with pytest.warns(sr.SteadyrankWarning, match=message) as told:
        table = sr.read_leaderboard(tmp_path)
    assert len(told) == 1
    np.testing.assert_equal(table.values, [[0.5, 0.25], [0.5, 0.25], [np.nan, 0.25]])


def test_what_is_no_result_is_refused(tmp_path):
    with pytest.raises(sr.InputError, match="no MTEB results"):
        sr.read_leaderboard(tmp_path)
    write(tmp_path, "a", "r", "T", {"test": {"default": 0.5}})
    (tmp_path / "a" / "r" / "U.json").write_text('{"test": {}}')
    with pytest.warns(sr.SteadyrankWarning, match=r"1 file holds no scores: U\.json"):
        sr.read_leaderboard(tmp_path)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ('[{"main_score": 0.5}, {"main_score": 0.25}]', "two scores of subset 'default': keep one"),
        ('[{"main_score": Infinity}]', "expected a score as main_score, got inf"),
        ('[{"main_score": 1%s}]' % ("0" * 400), "expected a score as main_score, got 1000"),
        ('[{"main_score": 0.5, "main_score": 0.25}]', "'main_score' occurs twice in one object"),
    ],
)
def test_odd_scores_are_refused(tmp_path, entries, message):
    write(tmp_path, "a", "r", "T", {"test": {"default": 0.5}})
    (tmp_path / "a" / "r" / "U.json").write_text(
        f'{{"task_name": "U", "scores": {{"test": {entries}}}}}'
    )
    with pytest.raises(sr.FormatError) as raised:
        sr.read_leaderboard(tmp_path)
    assert message in str(raised.value)


def test_a_score_that_is_not_a_number_is_missing_as_null_is(tmp_path):
    write(tmp_path, "a", "r", "T", {"test": {"default": 0.5}})
    write(tmp_path, "b", "r", "T", {"test": {"default": 0.25}})
    write(tmp_path, "b", "r", "U", {"test": {"default": 0.75}})
    write(tmp_path, "a", "r", "U", {"test": {"default": float("nan"), "de": None}})
    write(tmp_path, "a", "r", "V", {"test": {"default": None}})
    with pytest.warns(
        sr.SteadyrankWarning, match="omitted for lack of subsets that all models have: V"
    ):
        table = sr.read_leaderboard(tmp_path)
    assert table.datasets == ("T", "U")
    np.testing.assert_equal(table.values, [[0.5, np.nan], [0.25, 0.75]])
