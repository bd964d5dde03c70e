"""The `reproduce` command as people and programs call it."""

from __future__ import annotations

import json

import pytest
from commanding import call, refused

from steadyrank_lab.cli.reproduce import PAPERS as LISTED


def test_json_and_the_folder_say_the_same(capsys, tmp_path):
    out = tmp_path / "made"
    options = ("--budget", "small", "--seed", "4", "--out", out, "--quiet", "--format", "json")
    code, text, err = call(capsys, "reproduce", "lin2005", *options)
    assert (code, err) == (0, "")
    shown = json.loads(text)
    kept = json.loads((out / "claims.json").read_text())
    assert "index.html" in kept.pop("files")
    assert shown == kept
    assert shown["claims"]["do_not_hold"] > 0, "a finding, not a failure"
    assert (shown["settings"]["seed"], shown["settings"]["splits"]) == (4, 50)
    command = "steadyrank reproduce lin2005 --budget small --seed 4 --out DIR"
    assert command in (out / "index.html").read_text()


def test_claims_are_wrapped(capsys):
    code, text, err = call(capsys, "reproduce", "sakai2016", "--budget", "small", "--quiet")
    assert (code, err) == (0, "")
    assert "figure-1" in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("sakai2106",), "unknown paper 'sakai2106': did you mean 'sakai2016'?"),
        (("lin2005", "--scores", "s.csv"), "each exhibit of --json names the command"),
        (("lin2005", "--all"), "--all makes every paper: omit PAPER"),
        (("lin2005", "-o", "nowhere/claims.csv"), "the folder nowhere does not exist"),
    ],
)
def test_bad_usage_is_told_in_one_line(capsys, arguments, told):
    code, text, err = call(capsys, "reproduce", *arguments)
    assert (code, text) == (2, "")
    assert told in err
    assert err.count("\n") == 1


def test_the_papers_are_listed_one_line_each(capsys):
    code, text, err = call(capsys, "reproduce")
    assert (code, err) == (0, "")
    for name, (published, question) in LISTED.items():
        (line,) = [line for line in text.splitlines() if line.strip().startswith(name)]
        assert published in line
        assert question in line
    _, text, _ = call(capsys, "reproduce", "--json")
    assert [row["paper"] for row in json.loads(text)["papers"]] == list(LISTED)


def test_a_folder_of_others_is_refused_before_any_work(capsys, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    err = refused(capsys, "reproduce", "lin2005", "--out", tmp_path)
    assert "holds other files" in err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
