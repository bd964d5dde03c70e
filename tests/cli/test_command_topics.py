"""The `topics` command as people and programs call it."""

from __future__ import annotations

import csv
import io
import json
from xml.etree import ElementTree

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


@pytest.mark.parametrize("form", ["table", "csv", "json", "latex", "markdown"])
def test_jobs_change_no_byte_of_any_format(capsys, scores, form):
    options = ("topics", "--scores", scores, "--trials", "90", "--format", form, "--quiet")
    shown = [call(capsys, *options, "--jobs", jobs) for jobs in (1, 2, 3)]
    assert shown[0] == shown[1] == shown[2]
    assert shown[0][0] == 0


def test_a_table_starts_with_the_leaders_in_plain_words(capsys, scores):
    code, out, _ = call(capsys, "topics", "--scores", scores, "-m", "AP", "--trials", "50")
    assert code == 0
    first, second, third = out.splitlines()[:3]
    assert first.startswith("On 40 new topics, run4 falls below run3 with probability ")
    assert second.startswith("Showing its lead with power 0.8 at alpha 0.05 over 10 comparisons")
    assert " of 10 pairs would be reversed" in third
    for part in ("lead", "topics needed", "independent", "empirical at 20", "fit at 40"):
        assert part in out
    assert "0.00–0.01" in out
    assert "AP, 40 topics, 50 splits, seed 0" in out


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


def test_latex_and_markdown_paste(capsys, scores):
    _, out, _ = call(capsys, "topics", "--scores", scores, "--trials", "20", "--format", "latex")
    assert out.startswith(r"\begin{table}")
    assert out.count(r"\end{table}") == 3
    assert r"\caption{On 40 new topics, run4 falls below run3" in out
    assert out.isascii()
    _, out, _ = call(capsys, "topics", "--scores", scores, "--trials", "20", "--format", "markdown")
    assert "| a | b | a − b | reversed |" in out


def test_a_baseline_restricts_the_pairs(capsys, scores):
    options = ("topics", "--scores", scores, "--trials", "20", "--baseline", "run1")
    shown = json.loads(call(capsys, *options, "--format", "json")[1])
    assert [(row["a"], row["b"]) for row in shown["pairs"]] == [
        (f"run{i}", "run1") for i in (0, 2, 3, 4)
    ]
    assert sum(level["pairs"] for level in shown["levels"]) == 10
    _, out, _ = call(capsys, *options)
    assert "run1 (baseline)" in out
    assert out.startswith("On 40 new topics, run4 falls below run1 with")


def test_many_pairs_make_only_the_leaderboard(capsys, write):
    path = write("many.csv", wide(n_runs=12))
    _, out, _ = call(capsys, "topics", "--scores", path, "--trials", "20")
    assert "topics needed" in out
    assert "a − b" not in out


def test_runs_are_evaluated(capsys, write):
    qrels = write("qrels", "".join(f"{t} 0 d{t} 1\n" for t in range(30)))
    lines = {name: [] for name in "ab"}
    for name, step in (("a", 2), ("b", 3)):
        for t in range(30):
            order = ["x", f"d{t}"] if t % step else [f"d{t}", "x"]
            lines[name] += [f"{t} Q0 {d} {r} {9 - r} {name}\n" for r, d in enumerate(order)]
    files = [write(f"{name}.run", "".join(text)) for name, text in lines.items()]
    options = ("-m", "P@1", "--format", "json", "--quiet")
    code, out, err = call(capsys, "topics", qrels, *files, *options)
    assert (code, err) == (0, "")
    (pair,) = json.loads(out)["pairs"]
    assert pair["difference"] == pytest.approx(1 / 2 - 1 / 3)
    assert json.loads(out)["measure"] == "P@1"


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


def test_the_plot_is_drawn(capsys, scores, tmp_path):
    options = ("topics", "--scores", scores, "-m", "AP", "--trials", "100", "--quiet")
    code, _, err = call(capsys, *options, "--plot", tmp_path / "rates.svg")
    assert (code, err) == (0, "")
    texts = "".join(ElementTree.parse(tmp_path / "rates.svg").getroot().itertext())
    for shown in ("topics in each of two sets", "reversals by mean AP", "0.02–0.03", "predictive"):
        assert shown in texts
    before = (tmp_path / "rates.svg").read_bytes()
    call(capsys, *options, "--plot", tmp_path / "rates.svg", "--jobs", "1")
    assert (tmp_path / "rates.svg").read_bytes() == before


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


def test_an_odd_result_is_drawn_too():
    base = np.random.default_rng(0).random(12)
    values = np.stack([base, base, base + 0.3])
    odd = sr.Scores(
        measures=("AP",), runs=("a", "b", "$c_{"), topics=list("abcdefghijkl"), values=values[None]
    )
    figure = sr.plot(sr.topics(odd, n_trials=10, sizes=[3, 6, 20]))
    assert len(figure.axes[0].containers) == 2


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
        (("--baseline", "rum1"), "did you mean 'run1'"),
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
