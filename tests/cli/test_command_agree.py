"""The `agree` command as people and programs call it."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from commanding import answered, call, refused

import steadyrank as sr

SIZES = ("--topic-sizes", "4,10", "--system-sizes", "3,6,9", "--samples", "8")


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(4)
    quality = rng.random((12, 1)) + rng.random((12, 15))
    values = quality + np.array([0.1, 0.2, 10.0])[:, None, None] * rng.random((3, 12, 15))
    return sr.Scores(
        measures=("AP", "nDCG", "ERR@20"),
        runs=[f"r{i}" for i in range(12)],
        topics=[f"t{i}" for i in range(15)],
        values=values / 12,
    )


@pytest.fixture
def long(tmp_path, scores):
    path = tmp_path / "scores.csv"
    sr.write_scores(scores, path)
    return path


def test_json_has_the_promised_keys_and_the_librarys_numbers(capsys, long, scores):
    shown = answered(
        capsys, "agree", "--scores", long, *SIZES, "--format", "json", "--seed", 5, "--quiet"
    )
    expected = sr.agree(scores, topic_sizes=[4, 10], system_sizes=[3, 6, 9], n_samples=8, rng=5)
    assert list(shown)[:6] == ["coefficient", "measures", "cells", "anova", "ranking", "rmse"]
    assert shown["coefficient"] == "tau"
    assert shown["measures"] == ["AP", "nDCG", "ERR@20"]
    assert shown["cells"] == expected.cells()
    assert set(shown["cells"][0]) == {
        *("measure_a", "measure_b", "topics", "systems", "mean", "interval")
    }
    assert [row["source"] for row in shown["anova"]] == [
        *("subject", "measure_pair", "topic_size", "system_size", "measure_pair:topic_size"),
        *("measure_pair:system_size", "topic_size:system_size", "error", "total"),
    ]
    for row, line in zip(shown["anova"], expected.anova.sources, strict=True):
        assert list(row)[:8] == [
            *("source", "ss", "df", "ms", "f", "pvalue", "omega_squared", "power")
        ]
        assert (row["ss"], row["df"]) == (line.ss, line.df)
        assert (row["f"], row["pvalue"], row["power"]) == (None, None, None)
        interval = expected.limits.get(line.source)
        assert row["omega_squared_interval"] == (None if interval is None else list(interval))
    assert sum(row["omega_squared_interval"] is not None for row in shown["anova"]) == 6
    assert (shown["mode"], shown["strata"], shown["n_resamples"]) == ("sound", "subject", 100)
    assert shown["anova"][0]["omega_squared"] is None
    assert shown["anova"][-1]["f"] is None
    assert list(shown["ranking"][0])[:4] == ["measure_a", "measure_b", "tau", "tau_ap"]
    assert shown["rmse"] == expected.rmse
    assert shown["notes"] == [
        "Intervals: 100 resamples of topics and systems; no tests (docs/agree.md)."
    ]
    assert shown["likeness"]["dendrogram_order"] in (
        ["ERR@20", "AP", "nDCG"],
        ["ERR@20", "nDCG", "AP"],
    )


def test_the_published_table_is_laid_out_as_the_papers(capsys, long):
    _, out, _ = call(capsys, "agree", "--scores", long, *SIZES, "--mode", "paper")
    lines = out.splitlines()
    header = next(line for line in lines if "SS" in line)
    assert header.split() == ["source", "SS", "DF", "MS", "F", "p", "omega²", "effect"]
    assert any(line.startswith(" measure pair × topic size") for line in lines)
    assert "ERR@20 differs most" in out
    assert "the 12 runs" in out


def test_csv_holds_the_table(capsys, long):
    _, out, _ = call(capsys, "agree", "--scores", long, *SIZES, "--format", "csv")
    found = list(csv.DictReader(io.StringIO(out)))
    assert (len(found), found[0]["source"]) == (9, "subject")
    assert found[0]["omega_squared"] == found[0]["omega_squared_interval_low"] == ""
    low, high = (float(found[1][f"omega_squared_interval_{end}"]) for end in ("low", "high"))
    assert low <= float(found[1]["omega_squared"]) <= high


@pytest.mark.parametrize("drawing", ["sizes", "pairs", "measures"])
def test_figures_are_written(capsys, long, tmp_path, drawing):
    target = tmp_path / f"{drawing}.svg"
    options = ("--plot", target, "--figure", drawing, "--pair", "nDCG", "ERR@20")
    code, _, err = call(capsys, "agree", "--scores", long, *SIZES, *options, "--quiet")
    assert (code, err) == (0, "")
    text = target.read_text("utf-8")
    assert text.startswith("<?xml")
    assert "ERR@20" in text


def test_defaults_are_cut_with_a_warning(capsys, long):
    code, out, err = call(capsys, "agree", "--scores", long, "--samples", 2, "--format", "json")
    assert code == 0
    assert json.loads(out)["topic_sizes"] == [10]
    assert "warning: there are 15 topics: of the usual topic sizes" in err
    assert "warning: there are 12 systems" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--topic-sizes", "10,20"), "topic size 20 exceeds the 15 topics of the data"),
        (("--system-sizes", "10,x"), "--system-sizes 10,x: give whole numbers separated by commas"),
        (("--samples", "1"), "'--samples'"),
        (("-m", "AP"), "at least two measures, got AP"),
        (("--pair", "AP", "ERR"), "unknown measure 'ERR'"),
        (("--coefficient", "rho"), "'--coefficient'"),
        (("--power", "omega"), "--power was removed in 1.1; it restates p"),
        (("--rows", "cells"), "--rows was removed in 1.1; use --json"),
        (("--resamples", "7"), "--resamples must be a whole number of at least 20"),
    ],
)
def test_bad_input_is_one_line_and_code_2(capsys, long, arguments, message):
    sizes = [] if "sizes" in arguments[0] else ["--topic-sizes", "5"]
    assert message in refused(capsys, "agree", "--scores", long, *sizes, *arguments, "--quiet")
