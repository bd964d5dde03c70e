"""Names that are not UTF-8, as old collections have them: one rule shows and writes them all."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.data.write import is_formula
from steadyrank.visible import restored

NAMES = ("caf\udce9", "=c\u202emd", "b")
BYTES = [name.encode("utf-8", "surrogateescape") for name in NAMES]
STUDIES = {
    "evaluate": [],
    "compare": [],
    "topics": ["--trials", "20"],
    "simulate": ["--samples", "20"],
    "stability": [],
    "holes": ["--samples", "10"],
    "check": [],
}


@pytest.fixture
def track(write, tmp_path):
    rng = np.random.default_rng(1)
    topics = [b"t\xe9", *(b"t%d" % number for number in range(7))]
    judged = [b"%s 0 d%d %d\n" % (topic, d, d % 3 == 0) for topic in topics for d in range(12)]
    qrels = write("qrels.txt", b"".join(judged))
    for place, name in enumerate(BYTES):
        lines = [
            b"%s Q0 d%d 0 %.2f %s\n" % (topic, d, 9 - score / 7, name)
            for topic in topics
            for score, d in enumerate(rng.permutation(12))
        ]
        write(f"runs/{place}.run", b"".join(lines))
    return [str(qrels), str(tmp_path / "runs")]


@pytest.mark.parametrize(
    ("command", "form"),
    [
        *((command, "csv") for command in STUDIES),
        *(("compare", form) for form in ("txt", "json", "md", "tex", "html")),
    ],
)
def test_every_study_writes_names_that_are_not_utf8_as_text(track, tmp_path, command, form):
    out = tmp_path / f"result.{form}"
    assert run([command, *track, *STUDIES[command], "-o", str(out), "--quiet"]) == 0
    text = out.read_bytes().decode("utf-8")
    assert "\u202e" not in text
    if form == "json":
        assert command == "stability" or repr(NAMES[0]) in str(json.loads(text))
    elif form == "csv" and command != "stability":
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        assert NAMES[0] in map(restored, cells)
        assert rf"'{NAMES[1]}" in map(restored, cells)
        assert not any(map(is_formula, cells))


def test_report_and_its_page_show_names_that_are_not_utf8(track, tmp_path):
    out = tmp_path / "report.html"
    assert run(["report", *track, "--out", str(out), "--budget", "5s", "--quiet"]) == 0
    assert r"caf\xe9" in out.read_bytes().decode("utf-8")


@pytest.mark.parametrize("name", ["scores.parquet", "scores.csv"])
def test_scores_under_names_that_are_not_utf8_are_read_back(tmp_path, name):
    names = (
        *NAMES,
        r"caf\xe9",
        r"a\\xe9",
        *("\\\udce9", "n\x85n", "\udc85", "tab\tand\nline", "\x1b"),
    )
    values = np.arange(len(names), dtype=float)[None, :, None] / 10
    scores = sr.Scores(measures=["AP"], runs=names, topics=["t\udce9"], values=values)
    sr.write_scores(scores, tmp_path / name)
    again = sr.read_scores(tmp_path / name)
    assert (again.runs, again.topics) == (names, ("t\udce9",))
    assert "\udce9" in "".join(again.to_frame()["run"])
    if name.endswith(".csv"):
        (tmp_path / name).read_bytes().decode("utf-8")


def test_information_about_runs_is_guarded_and_read_back(tmp_path):
    from steadyrank.data.read.run_info import read_rows
    from steadyrank.data.write import write_info

    path = tmp_path / "run-info.csv"
    write_info(path, "run", NAMES, {"team": ["=x", "\x1b", "a,b"]})
    text = path.read_bytes().decode("utf-8")
    assert not any(is_formula(cell) for row in csv.reader(io.StringIO(text)) for cell in row)
    assert [row["team"] for row in read_rows(path, "run").values()] == ["=x", "\x1b", "a,b"]
    assert tuple(read_rows(path, "run")) == NAMES
