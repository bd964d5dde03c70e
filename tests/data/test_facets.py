"""Judges, answers and draws on their way in: long tables, frames, logs, names, judgments."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import steadyrank as sr
from steadyrank.data.facets import (
    averaged_facets,
    averaged_together,
    facet_cube,
    facets_of,
    scores_by_judges,
    tidy_judges,
)
from steadyrank.errors import FormatError, InputError


def long_frame(scores):
    """The long table with its facets as columns."""
    frame = scores.to_frame()
    about = {
        name: dict(zip(scores.runs, own, strict=True)) for name, own in scores.run_info.items()
    }
    for name in ("judge", "answer", "draw"):
        if name in about:
            frame[name] = frame["run"].map(about[name])
    frame["run"] = frame["run"].map(about["system"])
    return frame


@pytest.fixture(scope="module")
def graded():
    return sr.simulated_facets(
        n_systems=3, n_topics=6, n_judges=2, n_answers=2, n_draws=2, missing=0.1, rng=1
    )


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_long_tables_keep_their_facets(tmp_path, graded, form):
    frame = long_frame(graded).dropna()
    path = tmp_path / f"grades.{form}"
    if form == "csv":
        frame.to_csv(path, index=False)
    elif form == "parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    read = sr.read_scores(path)
    assert facets_of(read) == ("judge", "answer", "draw")
    expected, found = (facet_cube(one, "grade") for one in (graded, read))
    order = [found.systems.index(name) for name in expected.systems]
    topics = [found.topics.index(name) for name in expected.topics]
    np.testing.assert_allclose(found.values[order][:, topics], expected.values, rtol=1e-12)


def test_studies_without_facets_take_means(graded):
    means = averaged_facets(graded)
    assert means.runs == ("s1", "s2", "s3")
    complete = sr.simulated_facets(n_systems=3, n_topics=6, n_judges=2, n_answers=2, rng=1)
    cube = facet_cube(complete, "grade").values
    np.testing.assert_allclose(averaged_facets(complete).values[0], cube.mean(axis=(2, 3, 4)))
    assert sr.topics(graded).runs == means.runs


def test_what_a_severe_judge_left_out_is_no_gain():
    """A system without grades of the severe judge keeps its place."""
    scores = sr.simulated_facets(
        n_systems=4,
        n_topics=50,
        n_judges=3,
        means=[3, 3.5, 4, 4.5],
        components=dict.fromkeys(("system:topic", "system:judge", "topic:judge", "residual"), 0.01)
        | dict.fromkeys(("answer", "system:topic:judge", "answer:judge"), 0.0),
        rng=2,
    )
    values = scores.values.copy()
    severe = int(np.argmin(values[0].reshape(4, 3, -1).mean(axis=(0, 2))))
    place = scores.runs.index(f"s1/j{severe + 1}")
    values[0, place, :25] = np.nan
    gapped = sr.Scores(
        measures=scores.measures,
        runs=scores.runs,
        topics=scores.topics,
        values=values,
        run_info=scores.run_info,
    )
    before, after = (averaged_facets(one).mean()[0, 0] for one in (scores, gapped))
    assert after == pytest.approx(before, abs=0.02)
    assert np.nanmean(values[0].reshape(4, -1)[0]) > before + 0.05


def test_answers_with_ids_of_their_own_count_within_topics():
    rows = [
        {"measure": "m", "run": run, "topic": topic, "answer": f"{run}-{topic}-{k}", "value": k}
        for run in "ab"
        for topic in ("1", "2")
        for k in range(3)
    ]
    read = sr.compare(pd.DataFrame(rows))
    assert read.runs == ("a", "b")
    assert read.scores.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_an_empty_judge_is_refused_and_an_empty_answer_is_one(tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text("measure,run,topic,judge,value\nm,a,1,x,1\nm,a,1,,2\n")
    with pytest.raises(FormatError, match=r"grades.csv:3: expected a name as judge"):
        sr.read_scores(path)
    path.write_text("measure,run,topic,answer,value\nm,a,1,,1\nm,a,1,yes,2\n")
    assert sr.read_scores(path).runs == ("a/1", "a/2")


def test_the_same_grade_twice_is_refused(tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text("measure,run,topic,judge,value\nm,a,1,x,1\nm,a,1,x,2\n")
    with pytest.raises(FormatError, match="a second value for m / a/x / 1"):
        sr.read_scores(path)


def test_repeated_samples_of_lm_eval_are_answers(tmp_path):
    path = tmp_path / "samples.jsonl"
    rows = [
        {"doc_id": k, "metrics": ["acc"], "acc": value, "filter": "none"}
        for k, values in enumerate(((1, 0), (1, 1)))
        for value in values
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    scores = sr.read_scores(path)
    assert facets_of(scores) == ("answer",)
    assert averaged_facets(scores).values[0].tolist() == [[0.5, 1.0]]


def test_runs_by_several_judges():
    track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    by_judge = {
        name: sr.evaluate(track.runs, qrels, "nDCG@10", no_relevant="skip")
        for name, qrels in (("pool", track.qrels), ("all", track.complete))
    }
    scores = scores_by_judges(by_judge)
    cube = facet_cube(scores, "nDCG@10")
    assert (cube.judges, len(cube.systems)) == (("all", "pool"), 3)
    np.testing.assert_array_equal(
        cube.values[:, :, 0, 0, 0], by_judge["all"].select(topics=cube.topics).matrix()
    )


def test_means_with_gaps_are_those_of_the_levels():
    scores = sr.simulated_facets(n_systems=4, n_topics=8, n_judges=4, missing=0.2, rng=3)
    cube = facet_cube(scores, "grade")
    np.testing.assert_allclose(cube.matrix.mean(axis=1), cube.levels.means, atol=1e-9)


def judged(rows):
    """Scores of rows of run, judge and grades by topic."""
    return sr.Scores(
        measures=["m"],
        runs=[f"{run}/{judge}" for run, judge, _ in rows],
        topics=range(len(rows[0][2])),
        values=[[grades for _, _, grades in rows]],
        run_info={"system": [row[0] for row in rows], "judge": [row[1] for row in rows]},
    )


def test_judges_that_differ_in_case_or_spacing_are_one():
    nan = float("nan")
    rows = [("a", "GPT 4", [1, nan, nan]), ("a", "gpt4", [nan, 2, 3]), ("b", "gpt4", [1, 2, 1])]
    with pytest.warns(sr.SteadyrankWarning, match="judges 'GPT 4' and 'gpt4' are one"):
        found = tidy_judges(judged(rows))
    assert found.runs == ("a/GPT 4", "b/gpt4")
    assert found.run_info["judge"] == ("GPT 4", "GPT 4")
    assert found.values[0].tolist() == [[1, 2, 3], [1, 2, 1]]
    both = [("a", "GPT", [1, 2, 3]), ("a", "gpt", [1, 1, 3])]
    with (
        pytest.warns(sr.SteadyrankWarning),
        pytest.raises(InputError, match="a/GPT and a/gpt hold grades of the same answers"),
    ):
        tidy_judges(judged(both))


def test_judgments_given_twice_are_one_judge():
    own = [[1, 2, 3], [2, 2, 4]]
    rows = [(run, judge, own[run == "b"]) for judge in "xyz" for run in "ab"]
    rows += [("a", "w", [1, 1, 2]), ("b", "w", [2, 2, 4])]
    with pytest.warns(sr.SteadyrankWarning, match="count as one: y is x"):
        result = sr.compare(judged(rows))
    assert result.judges == ("w", "x")


def test_null_is_no_judge(tmp_path):
    rows = [
        {"measure": "m", "run": run, "topic": str(t), "judge": None, "value": t + (run == "b")}
        for run in "ab"
        for t in range(4)
    ]
    path = tmp_path / "grades.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert facets_of(sr.read_scores(path)) == ()
    rows[0]["judge"] = "gpt"
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(FormatError, match=r"grades.jsonl:2: expected a name as judge"):
        sr.read_scores(path)


def test_sides_are_averaged_over_the_judges_that_both_have():
    """A candidate graded by the lenient judge alone is not better for that."""
    old = judged([("m", "severe", [1, 2, 1, 2]), ("m", "lenient", [3, 4, 3, 4])])
    new = judged([("m", "lenient", [2, 4, 3, 3])])
    with pytest.warns(sr.SteadyrankWarning, match="left out: severe"):
        baseline, candidate = averaged_together(baseline=old, candidate=new)
    assert (baseline.runs, candidate.runs) == (("m",), ("m",))
    assert baseline.values[0, 0].tolist() == [3, 4, 3, 4]
    assert candidate.values[0, 0].tolist() == [2, 4, 3, 3]
    other = judged([("m", "third", [2, 4, 3, 3])])
    with pytest.raises(InputError, match="no judge graded both"):
        averaged_together(baseline=old, candidate=other)
    plain = sr.Scores(measures=["m"], runs=["m"], topics=range(4), values=[[[1, 2, 3, 4]]])
    with pytest.raises(InputError, match="the candidate has no column judge"):
        averaged_together(baseline=old, candidate=plain)


def test_scores_to_be_read_lie_on_the_scale_and_have_the_means_of_the_levels():
    scores = sr.simulated_facets(n_systems=4, n_topics=30, n_judges=4, missing=0.3, rng=3)
    levels = facet_cube(scores, "grade").levels
    shown = averaged_facets(scores, shown=True)
    np.testing.assert_allclose(shown.values[0].mean(axis=1), levels.means, atol=1e-9)
    cells = facet_cube(scores, "grade").cells
    whole = ~np.isnan(cells).any(axis=(0, 2))
    np.testing.assert_allclose(shown.values[0][:, whole], cells[:, whole].mean(axis=2))
