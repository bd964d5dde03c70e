"""Segments of the topics in `compare`: one family over all of them, and the test across them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.studies.compare.view import VIEW, segments


def segment_scores(sizes=(20, 20, 15), n_runs=3, seed=0, measures=("AP",), names=None):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    values = rng.uniform(0.2, 0.7, (1, 1, n)) + rng.normal(0, 0.08, (len(measures), n_runs, n))
    values[:, 0, : sizes[0]] += 0.2
    names = names or [f"kind{s}" for s in range(len(sizes))]
    return sr.Scores(
        measures=measures,
        runs=[f"run{r}" for r in range(n_runs)],
        topics=[f"q{t}" for t in range(n)],
        values=values,
    ).with_topic_info(kind=np.repeat(names, sizes))


def test_all_pairs_of_all_segments_are_one_family():
    scores = segment_scores()
    result = sr.compare(scores, by="kind")
    parts = result.segments.results
    assert [part.segment for part in parts] == ["kind0", "kind1", "kind2"]
    assert [part.n_topics for part in parts] == [20, 20, 15]
    pvalues, adjusted = [], []
    for part, start in zip(parts, (0, 20, 40), strict=True):
        for p, (a, b) in enumerate(part.pairs):
            z = scores.matrix()[:, start : start + part.n_topics]
            assert part.pvalue[p] == pytest.approx(stats.ttest_rel(z[a], z[b]).pvalue)
        pvalues += part.pvalue.tolist()
        adjusted += part.pvalue_adjusted.tolist()
        low, high = part.interval.T
        assert ((low > 0) | (high < 0)).tolist() == part.significant.tolist()
        assert part.family == "9 comparisons, all pairs in 3 segments"
    assert adjusted == pytest.approx(adjust(pvalues, "holm"))
    assert result.correction == "maxt"
    plain = sr.compare(scores)
    assert result.pvalue_adjusted.tolist() == plain.pvalue_adjusted.tolist()


def test_the_test_across_segments_finds_the_one_that_is_different():
    result = sr.compare(segment_scores(), by="kind")
    assert result.segments.interaction.pvalue_of_any <= 0.001
    rows = {(row["run"], row["segment"]): row for row in result.segments.interaction_rows()}
    assert rows["run0", "kind0"]["deviation"] > 0.08
    assert rows["run0", "kind0"]["pvalue_adjusted"] <= 0.001
    found = segments(result)
    assert (found.values["run"], found.values["segment"]) == ("run0", "kind0")
    assert found.values["deviation"] == rows["run0", "kind0"]["deviation"]
    assert found.text.startswith("The differences depend on kind (segment × run, 3 segments: p")
    assert str(result).startswith(found.text)


def test_equal_segments_show_no_dependence():
    scores = segment_scores(seed=4)
    values = scores.values.copy()
    values[:, 0, :20] -= 0.2
    same = sr.Scores(
        measures=scores.measures,
        runs=scores.runs,
        topics=scores.topics,
        values=values,
        topic_info=scores.topic_info,
    )
    assert "No dependence of the differences on kind is shown" in str(sr.compare(same, by="kind"))


def test_rows_by_run_and_system_stay_what_they_were():
    scores = segment_scores().with_run_info(system=["x", "x", "y"])
    assert sr.compare(scores, by="run").segments is None
    assert sr.compare(scores, by="system").row_word == "system"
    # Segments compare runs.
    assert sr.compare(scores, by="kind").row_word == "run"
    with pytest.raises(
        sr.UnknownNameError, match="there is no column '[^']+' in the topic information"
    ):
        sr.compare(scores, by="kinds-of")
    with pytest.raises(sr.UnknownNameError, match="did you mean 'kind'"):
        sr.compare(scores, by="kin")


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "randomization", "bootstrap"])
def test_other_tests_have_segments_too(test):
    result = sr.compare(segment_scores(), by="kind", test=test, n_samples=499)
    for part in result.segments.results:
        low, high = part.interval.T
        assert ((low > 0) | (high < 0)).tolist() == part.significant.tolist()


def test_tests_of_one_table_are_refused():
    with pytest.raises(sr.InputError, match="test tukey is simultaneous for the pairs of one seg"):
        sr.compare(segment_scores(), by="kind", test="tukey")


@pytest.mark.parametrize(
    "sizes", [(20, 1), (1, 1, 30), (3, 2, 2), tuple([6] * 40)], ids=["one", "ones", "few", "40"]
)
def test_small_and_many_segments_break_nothing(sizes):
    names = [f"a segment with a name of sixty characters, number {s:>6} ..." for s in range(40)]
    scores = segment_scores(sizes=sizes, names=names[: len(sizes)])
    result = sr.compare(scores, by="kind")
    for form in ("to_latex", "to_markdown", "to_html"):
        assert names[0][:20] in getattr(result, form)()
    assert len(result.to_frame()) == 3 * (1 + len(sizes))
    text = str(result)
    if min(sizes) == 1:
        assert "Not tested, with fewer than two topics" in text
        tested = [size for size in sizes if size > 1]
        assert f"{3 * len(tested)} comparisons, all pairs" in text
    if len(sizes) == 40:
        assert "CSV and JSON list all 120 comparisons" in text
        (table,) = VIEW.made([result], only=["segment-pairs"])
        assert len(table.rows) == 40, "the two best in each segment"
    if max(sizes) < 5 or sizes == (20, 1):
        assert "cannot be tested" in text


def test_a_baseline_keeps_its_direction():
    result = sr.compare(segment_scores(), by="kind", baseline="run1")
    assert result.segments.results[0].family == "6 comparisons, all runs against run1 in 3 segments"
    assert "run1" in str(result)
    frame = result.to_frame()
    assert set(frame["b"]) == {"run1"}
    assert frame["segment"].tolist() == [""] * 2 + ["kind0"] * 2 + ["kind1"] * 2 + ["kind2"] * 2


def test_clusters_within_segments_are_drawn_whole():
    scores = segment_scores(sizes=(24, 24))
    clustered = scores.with_topic_info(cluster=[t // 3 for t in range(48)])
    result = sr.compare(clustered, by="kind")
    assert [part.n_clusters for part in result.segments.results] == [8, 8]
    assert segments(result).values["segments"] == ["kind0", "kind1"]


def test_several_measures_have_their_segments_each():
    table = sr.compare(segment_scores(measures=("AP", "RR")), by="kind")
    assert [len(result.segments.results) for result in table.results] == [3, 3]
    assert len(table.to_frame()) == 2 * 3 * 4


def test_the_command_in_every_format(tmp_path, capsys):
    scores = segment_scores()
    path, info = tmp_path / "ap.csv", tmp_path / "topics.csv"
    sr.write_scores(scores, path)
    rows = zip(scores.topics, scores.topic_info["kind"], strict=True)
    info.write_text("topic,self\n" + "".join(f"{t},{k}\n" for t, k in rows))
    base = ["compare", "--scores", str(path), "--topic-info", str(info), "--by", "self"]
    assert run([*base, "--format", "json", "--plot", str(tmp_path / "f.svg")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["by"] == "self"
    assert [part["segment"] for part in printed["segments"]] == ["kind0", "kind1", "kind2"]
    assert printed["interaction"]["pvalue"] <= 0.001
    assert "<svg" in (tmp_path / "f.svg").read_text()
    for form, word in (
        ("csv", "kind2"),
        ("latex", "tab:segments"),
        ("markdown", "| kind1 |"),
        ("table", "p adjusted"),
    ):
        assert run([*base, "--format", form]) == 0
        assert word in capsys.readouterr().out
    assert run([*base[:-1], "nothing"]) == 2
    assert "there is no column 'nothing' in the topic information" in capsys.readouterr().err
