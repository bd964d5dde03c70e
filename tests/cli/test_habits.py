"""Second guesses, typed as they come: each works, or the error says what to type."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commanding import answered, call, refused

import steadyrank as sr
from steadyrank.stats.planning.needed_topics import needed_topics
from steadyrank.stats.planning.variance import pair_df

pytestmark = pytest.mark.filterwarnings("ignore:.*no relevant document")


@pytest.fixture(scope="module")
def track(tmp_path_factory):
    """Six runs of three teams on thirty topics, with scores by two measures."""
    root = tmp_path_factory.mktemp("track")
    made = sr.simulated_track(n_teams=3, runs_per_team=2, n_topics=30, depth=30, pool_depth=15)
    made.write(root)
    sr.write_scores(sr.evaluate(made.runs, made.qrels, ["AP", "P@10"]), root / "scores.csv")
    return root


@pytest.fixture(autouse=True)
def at_home(track, monkeypatch):
    monkeypatch.chdir(track)


# plan


def test_a_pilot_alone_is_planned_for_its_first_two_runs_and_a_grid(capsys):
    shown = answered(capsys, "plan", "qrels.txt", "runs", "--json", "--quiet")
    scores = sr.evaluate("runs", "qrels.txt", "nDCG@10")
    order = np.argsort(-scores.mean()[0])
    apart = np.subtract(*scores.matrix()[order[:2]])
    first, *grid = shown["differences"]
    assert (first["a"], first["b"]) == tuple(scores.runs[run] for run in order[:2])
    assert first["difference"] == pytest.approx(apart.mean())
    found = needed_topics(
        apart.mean(),
        apart.var(ddof=1),
        len(apart),
        variance_df=pair_df(apart[None])[0],
        corrected=True,
    )
    assert (first["topics"], first["topics_assured"]) == (found.topics, found.assured)
    assert (shown["method"], shown["paired"], shown["given_topics"]) == ("ttest", True, 30)
    assert len(grid) >= 3
    for row in grid:
        asked = sr.plan(scores, method="ttest", minimum_difference=row["difference"]).plans[0]
        assert (row["topics"], row["a"]) == (asked.topics, None)
        assert row["topics_interval"] == list(asked.topics_interval)
    assert shown["findings"][0]["id"] == "plan.first_two"
    assert f"{first['topics_assured']:,} topics will do" in shown["findings"][0]["text"]


def test_csv_of_a_pilot_alone_has_a_row_per_difference(capsys):
    _, out, _ = call(capsys, "plan", "--scores", "scores.csv", "--csv", "--quiet")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["measure"] for row in rows} == {"AP", "P@10"}
    assert all(int(row["topics"]) >= 2 for row in rows)
    frame = sr.plan("scores.csv").to_frame()
    assert [row["topics"] for row in rows] == frame["topics"].astype(str).tolist()


def test_anova_and_intervals_of_a_pilot_alone(capsys):
    _, out, _ = call(capsys, "plan", "--scores", "scores.csv", "--method", "anova", "--json")
    assert (json.loads(out)["systems"], json.loads(out)["differences"]) == (6, [])
    code, out, _ = call(capsys, "plan", "--scores", "scores.csv", "--method", "interval")
    assert code == 0
    assert out.startswith("30 topics make intervals of AP differences ")


def test_runs_that_tie_and_single_runs_have_a_grid_alone():
    scores = sr.read_scores("scores.csv")
    one = sr.plan(scores.select(runs=scores.runs[0]), measure="AP", paired=False)
    assert all(row.runs is None for row in one.differences)
    values = np.repeat(scores.select(measures="AP").values[:, :2], 2, axis=1)
    alike = sr.Scores(measures=["AP"], runs=list("abcd"), topics=scores.topics, values=values)
    assert all(row.runs is None for row in sr.plan(alike).differences)


# formats and results


@pytest.mark.parametrize("form", ["csv", "json", "latex", "markdown"])
def test_short_forms_are_the_formats(capsys, form):
    words = ("compare", "--scores", "scores.csv", "-m", "AP")
    _, short, _ = call(capsys, *words, f"--{form}")
    assert short == call(capsys, *words, "--format", form)[1] != ""
    assert call(capsys, *words, f"--{form}", "--format", form)[1] == short
    err = refused(capsys, *words, f"--{form}", "--format", "html")
    assert f"--{form} and --format html name different formats: keep one" in err


def test_frames_are_compared(track):
    long = pd.read_csv("scores.csv")
    expected = sr.compare(sr.read_scores("scores.csv"), measure="AP")
    for given in (long, "scores.csv", track / "scores.csv"):
        found = sr.compare(given, measure="AP")
        np.testing.assert_array_equal(found.pvalue, expected.pvalue)
    wide = long[long.measure == "AP"].pivot(index="topic", columns="run", values="value")
    for frame in (wide, wide.reset_index(), wide.rename_axis("qid").reset_index()):
        np.testing.assert_array_equal(sr.compare(frame).pvalue, expected.pvalue)
    with pytest.raises(sr.InputError, match="expected a column"):
        sr.compare(pd.DataFrame({"qid": ["1"], "docno": ["d"], "score": [1.0]}))


def test_results_have_csv_and_a_summary(track, capsys):
    result = sr.compare("scores.csv", measure="AP")
    words = ("compare", "--scores", "scores.csv", "-m", "AP")
    assert result.to_csv() == call(capsys, *words, "--csv")[1]
    assert result.to_csv(track / "pairs.csv") is None
    assert (track / "pairs.csv").read_text() == result.to_csv()
    printed = call(capsys, *words)[1]
    assert printed.startswith(result.summary())
    assert 1 <= result.summary().count("\n") + 1 <= 3
    scores = sr.evaluate("runs", "qrels.txt", "AP")
    assert pd.read_csv(io.StringIO(scores.to_csv())).columns.tolist()[0] == "measure"
    assert "AP" in scores.summary()


# scores


def test_scores_are_shown_by_evaluate(capsys):
    code, out, _ = call(capsys, "evaluate", "--scores", "scores.csv", "-m", "AP", "--csv")
    assert code == 0
    frame = pd.read_csv(io.StringIO(out))
    kept = pd.read_csv("scores.csv")
    assert frame["value"].tolist() == kept[kept.measure == "AP"]["value"].tolist()
    err = refused(capsys, "evaluate", "--scores", "scores.csv", "--format", "trec_eval")
    assert "give QRELS RUN..., not scores" in err


# answers first


# near misses


def test_a_limit_that_is_not_bounded_is_a_dash():
    from steadyrank.present.view import Col, TableSpec, make_table

    spec = TableSpec(
        id="t", rows=lambda ends: [{"interval": ends}], columns=(Col("interval", form="change"),)
    )

    def shown(*ends):
        return make_table(spec, ends).rows[0][0].text

    assert shown(math.nan, 0.2181) == "[–, +0.2181]"
    assert shown(-0.2181, math.nan) == "[−0.2181, –]"
    assert shown(math.nan, math.nan) == "–"
    assert make_table(spec, (math.nan, 0.2181)).caption == ""


def test_the_measure_by_default_is_told_with_the_reason(capsys):
    code, _, err = call(capsys, "compare", "qrels.txt", "runs")
    assert code == 0
    assert err.endswith("nDCG@10, as the judgments are graded; -m names other measures\n")
    for more in (["-m", "nDCG@10"], ["--quiet"]):
        assert "as the judgments" not in call(capsys, "compare", "qrels.txt", "runs", *more)[2]


def test_one_level_for_all_binary_measures(capsys):
    code, out, _ = call(capsys, "evaluate", "qrels.txt", "runs", "--rel", "2")
    assert code == 0
    assert out.splitlines()[0].split() == ["run", "nDCG@10", "AP(rel=2)", "P(rel=2)@10"]
    assert "relevant: grade 2 and above" in out
    code, out, err = call(capsys, "evaluate", "qrels.txt", "runs", "-m", "AP")
    assert "relevant: grade 1 and above" in out
    assert "AP counts grade 1 as relevant: for grade 2 write AP(rel=2), or give --rel N" in err
    code, out, _ = call(capsys, "simulate", "qrels.txt", "runs", "--rel", "2", "--samples", "9")
    assert (code, "AP(rel=2)" in out) == (0, True)
    sides = sorted(map(str, Path("runs").iterdir()))[:2]
    code, out, _ = call(capsys, "gate", "qrels.txt", *sides, "-m", "AP=.5", "--rel", "2")
    assert "AP(rel=2)" in out
    err = refused(capsys, "compare", "--scores", "scores.csv", "--rel", "2")
    assert "--rel is about judgments, and scores were given: omit it" in err
