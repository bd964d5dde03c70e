"""The `reproduce` command as people and programs call it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from commanding import call, refused

import steadyrank as sr
from steadyrank_lab.cli.reproduce import PAPERS as LISTED


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Scores of six runs on twenty topics, topics in rows and runs in rows."""
    root = tmp_path_factory.mktemp("scores")
    rng = np.random.default_rng(0)
    values = rng.uniform(0.1, 0.5, 20) + rng.normal(0.0, 0.05, (6, 20)).clip(-0.1, 0.1)
    scores = sr.Scores(
        measures=("AP",), runs=tuple("abcdef"), topics=range(20), values=values[None]
    )
    sr.write_scores(scores, root / "wide.csv", wide=True)
    turned = [",".join(["run", *scores.topics])]
    turned += [
        ",".join([run, *map(repr, row)])
        for run, row in zip(scores.runs, values.tolist(), strict=True)
    ]
    (root / "turned.csv").write_text("\n".join(turned) + "\n")
    return root


def test_json_and_the_folder_say_the_same(capsys, files, tmp_path):
    out = tmp_path / "made"
    options = ("--scores", files / "wide.csv", "-m", "AP", "--samples", "10", "--seed", "4")
    code, text, err = call(
        capsys, "reproduce", "lin2005", *options, "--out", out, "--quiet", "--format", "json"
    )
    assert (code, err) == (0, "")
    shown = json.loads(text)
    kept = json.loads((out / "claims.json").read_text())
    assert "index.html" in kept.pop("files")
    assert shown == kept
    assert shown["claims"]["do_not_hold"] > 0, "a finding, not a failure"
    assert (shown["settings"]["seed"], shown["settings"]["splits"]) == (4, 10)
    page = (out / "index.html").read_text()
    command = (
        f"steadyrank reproduce lin2005 --scores {files / 'wide.csv'} --measure AP --samples 10"
    )
    assert f"{command} --seed 4 --out DIR" in page


def test_runs_with_teams(capsys, tmp_path):
    track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=12, depth=20, pool_depth=10)
    track.write(tmp_path)
    given = (tmp_path / "qrels.txt", tmp_path / "runs", "--run-info", tmp_path / "run-info.csv")
    code, text, err = call(
        capsys,
        "reproduce",
        "sakai2016",
        *given,
        *("-m", "AP", "-m", "P@5", "--samples", "2", "--quiet"),
    )
    assert (code, err) == (0, "")
    assert "figure-1" in text
    assert "Data: 3 runs on 12 judged topics." in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100, "long claims are wrapped"
    lines = [line for line in text.splitlines() if line.startswith((" figure-2", "figure-2"))]
    assert lines
    assert all("pools" not in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("sakai2106",), "unknown paper 'sakai2106': did you mean 'sakai2016'?"),
        (("lin2005", "qrels.txt"), "qrels.txt: no such file"),
        (("lin2005", "--team-from", "(a)"), "--team-from describes runs"),
        (("lin2005", "q.txt", "a.run", "--scores", "s.csv"), "either QRELS RUN... or scores"),
        (("lin2005", "-o", "nowhere/claims.csv"), "the folder nowhere does not exist"),
        (("lin2005", "--samples", "1"), "--samples"),
    ],
)
def test_bad_usage_is_told_in_one_line(capsys, arguments, told):
    code, text, err = call(capsys, "reproduce", *arguments)
    assert (code, text) == (2, "")
    assert told in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [(), ("--list",), ("lin2005", "--list")])
def test_the_papers_are_listed_one_line_each(capsys, arguments):
    code, text, err = call(capsys, "reproduce", *arguments)
    assert (code, err) == (0, "")
    for name, (published, question) in LISTED.items():
        (line,) = [line for line in text.splitlines() if line.strip().startswith(name)]
        assert published in line
        assert question in line
    _, text, _ = call(capsys, "reproduce", *arguments, "--json")
    assert [row["paper"] for row in json.loads(text)["papers"]] == list(LISTED)


def test_a_folder_of_others_is_refused_before_any_work(capsys, files, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    err = refused(capsys, "reproduce", "lin2005", "--scores", files / "wide.csv", "--out", tmp_path)
    assert "holds other files" in err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
