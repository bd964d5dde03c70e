"""The `topics` command as people and programs call it."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from commanding import call, refused

import steadyrank as sr
from steadyrank.cli.topics import parse_sizes
from steadyrank.errors import InputError

PAIR_KEYS = {
    *("a", "b", "difference", "variance_a", "variance_b", "covariance", "error_rate"),
    *("error_rate_independent", "approximation", "predictive"),
}
LEVEL_KEYS = {
    *("low", "high", "pairs", "variance", "variance_independent", "sizes", "error_rate"),
    *("approximation", "empirical", "fit"),
}


def wide(n_runs=5, n_topics=40, seed=0):
    rng = np.random.default_rng(seed)
    topics = rng.beta(1, 3, n_topics)
    values = np.clip(
        topics + 0.03 * np.arange(n_runs)[:, None] + rng.normal(0, 0.1, (n_runs, n_topics)), 0, 1
    )
    lines = ["topic," + ",".join(f"run{i}" for i in range(n_runs))]
    lines += [f"{t}," + ",".join(map(str, column)) for t, column in enumerate(values.T)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def scores(write):
    return write("scores.csv", wide())


def test_json_has_the_promised_keys_and_no_nan(capsys, scores):
    code, out, err = call(
        capsys,
        "topics",
        "--scores",
        scores,
        *("-m", "AP", "--trials", "100", "--format", "json", "--quiet"),
    )
    assert (code, err) == (0, "")
    assert "NaN" not in out
    assert "Infinity" not in out
    shown = json.loads(out)
    assert (shown["n_topics"], shown["measure"], shown["trials"]) == (40, "AP", 100)
    assert len(shown["pairs"]) == 10
    assert all(set(row) >= PAIR_KEYS for row in shown["pairs"])
    assert (shown["alpha"], shown["beta"], shown["comparisons"]) == (0.05, 0.2, 10)
    for row in shown["pairs"]:
        low, high = row["topics_needed_interval"]
        assert (row["topics_needed"] is None) == (high is None)
        assert high is None or low <= row["topics_needed"] <= high
    assert len(shown["levels"]) == 21
    for level in shown["levels"]:
        assert set(level) >= LEVEL_KEYS
        assert level["sizes"] == [4, 8, 12, 16, 20]
        assert all(len(level[key]) == 5 for key in ("error_rate", "approximation", "empirical"))
        assert set(level["fit"]) >= {"b1", "b2"}
        assert set(level["extrapolation"]) == {"sizes", "rate"}, "no band is known to hold"
    assert shown["levels"][-1]["high"] is None
    assert [level["low"] for level in shown["levels"][:4]] == [0.0, 0.01, 0.02, 0.03]
    assert any(level["fit"]["b1"] for level in shown["levels"])


def test_json_is_the_librarys_result(capsys, scores):
    _, out, _ = call(
        capsys,
        "topics",
        "--scores",
        scores,
        *("--trials", "60", "--seed", "3", "--sizes", "3,9", "--alpha", ".01"),
        *("--binning", "both", "--format", "json"),
    )
    shown = json.loads(out)
    result = sr.topics(
        sr.read_scores(scores), n_trials=60, rng=3, sizes=[3, 9], binning="both", alpha=0.01
    )
    rows = [
        row | {"topics_needed_interval": list(row["topics_needed_interval"])}
        for row in result.told()
    ]
    assert shown["pairs"] == rows
    for level, expected in zip(shown["levels"], result.levels, strict=True):
        assert level["count"] == expected.count.tolist()
        rates = [None if np.isnan(rate) else rate for rate in expected.empirical]
        assert level["empirical"] == rates
    assert " ".join(shown["answer"][:2]).startswith(result.sentence())
    assert [finding["text"] for finding in shown["findings"]] == shown["answer"]
    assert shown["findings"][0]["id"] == "topics.reversal"


def test_csv_holds_pairs_or_levels(capsys, scores):
    options = ("topics", "--scores", scores, "--trials", "20", "--format", "csv")
    _, out, _ = call(capsys, *options)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 10
    assert set(rows[0]) >= PAIR_KEYS
    _, out, _ = call(capsys, *options, "--levels")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 21 * 5
    assert set(rows[0]) >= {"low", "high", "size", "empirical", "error_rate", "fitted"}


def test_missing_scores_are_told_unless_quiet(capsys, write):
    lines = wide().splitlines()
    cells = lines[5].split(",")
    lines[5] = ",".join([*cells[:2], "", *cells[3:]])
    path = write("missing.csv", "\n".join(lines) + "\n")
    code, out, err = call(capsys, "topics", "--scores", path, "--trials", "20")
    assert code == 0
    assert err == (
        "steadyrank: warning: 1 of 40 topics lacks scores of some run: the splits omit it\n"
    )
    assert "40 topics (1 omitted from the splits)" in out
    _, again, err = call(capsys, "topics", "--scores", path, "--trials", "20", "--quiet")
    assert (again, err) == (out, "")


def test_the_plot_shows_the_result(scores):
    result = sr.topics(sr.read_scores(scores), n_trials=100)
    (ax,) = sr.plot(result).axes
    points = [container.lines[0].get_ydata() for container in ax.containers]
    assert len(points) == 4
    np.testing.assert_array_equal(points[0], result.levels[1].empirical)
    np.testing.assert_array_equal(points[1], result.levels[2].empirical)
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == [
        "0.01–0.02",
        "0.02–0.03",
    ]


def test_sizes_are_lists_with_ellipses():
    assert parse_sizes("5, 10,20", 100) == [5, 10, 20]
    assert parse_sizes("5,10,…,30,50", 100) == [5, 10, 15, 20, 25, 30, 50]
    assert parse_sizes("5,10,...", 27) == [5, 10, 15, 20, 25]
    assert parse_sizes("5,10,…", 8) == [5, 10]
    for text in ("5,…,20", "…", "10,5,…", "5,x", "5,,6", "", "5,10,…,…"):
        with pytest.raises(InputError, match="--sizes"):
            parse_sizes(text, 50)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sizes", "5,ten"), "--sizes: 'ten' is not a number of topics"),
        (("--sizes", "0,5"), "sizes must be whole numbers of at least 1"),
        (("--trials", "0"), "0 is not in the range"),
        (("--target", "0.2"), "--target was removed in 1.1"),
        (("--baseline", "run1"), "--baseline was removed in 1.1"),
        (("qrels", "run"), "either QRELS RUN... or scores, not both"),
    ],
)
def test_bad_input_is_one_line_and_code_2(capsys, scores, arguments, message):
    assert message in refused(capsys, "topics", "--scores", scores, *arguments)


def test_one_measure_at_a_time(capsys, write):
    rows = [f"{m},{r},{t},0.{t}" for m in ("AP", "RR") for r in "ab" for t in range(4)]
    path = write("long.csv", "measure,run,topic,value\n" + "\n".join(rows) + "\n")
    assert "name one of the measures AP, RR" in refused(capsys, "topics", "--scores", path)
    code, out, _ = call(capsys, "topics", "--scores", path, "-m", "RR", "--format", "json")
    assert code == 0
    assert json.loads(out)["pairs"][0]["flag"] == "no_difference"
