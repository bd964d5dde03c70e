"""Judges and answers on the command line: files, names of runs, judgments, and what is refused."""

from __future__ import annotations

import json

import pytest
from commanding import call, refused

import steadyrank as sr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graded")
    scores = sr.simulated_facets(n_systems=4, n_topics=15, n_judges=3, n_answers=2, rng=1)
    frame = scores.to_frame()
    about = dict(zip(scores.runs, zip(*scores.run_info.values(), strict=True), strict=True))
    for place, name in enumerate(scores.run_info):
        frame[name] = [about[run][place] for run in frame["run"]]
    frame.drop(columns=["judge", "answer", "system"]).to_csv(folder / "plain.csv", index=False)
    frame["run"] = frame["system"]
    frame.drop(columns=["system"]).to_csv(folder / "graded.csv", index=False)
    track = sr.simulated_track(
        n_teams=3, runs_per_team=1, n_topics=12, depth=30, pool_depth=20, rng=1
    )
    track.write(folder / "track")
    text = (folder / "track" / "qrels.txt").read_text()
    for judge, flipped in (("severe", " 1\n"), ("mild", " 2\n")):
        (folder / f"{judge}.qrels").write_text(text.replace(flipped, " 0\n"))
    return folder


def printed(capsys, *arguments):
    code, out, err = call(capsys, *arguments, "--format", "json", "--quiet")
    assert code == 0, err
    return json.loads(out)


def test_facets_are_the_columns_of_a_long_table(folder, capsys):
    columns = printed(capsys, "stability", "--scores", folder / "graded.csv")
    assert columns["facets"] == ["judge", "answer"]
    told = printed(
        capsys, "stability", "--scores", folder / "graded.csv", "--facets", "judge,answer"
    )
    assert told == columns


def test_judgments_of_several_judges_are_a_facet(folder, capsys):
    runs, qrels = folder / "track" / "runs", folder / "track" / "qrels.txt"
    judges = [
        word for name in ("severe", "mild") for word in ("--judge", f"{name}={folder / name}.qrels")
    ]
    found = printed(capsys, "compare", qrels, runs, *judges, "-m", "nDCG@10")
    assert found["judges"] == ["mild", "qrels", "severe"]
    assert found["judges_fixed"] is False
    alone = printed(capsys, "compare", runs, *judges, "-m", "nDCG@10")
    assert alone["judges"] == ["mild", "severe"]
    assert alone["judges_fixed"] is True
    fixed = printed(capsys, "compare", qrels, runs, *judges, "-m", "nDCG@10", "--fixed", "judge")
    assert fixed["test"] == "t"
    assert printed(capsys, "stability", runs, *judges, "-m", "AP")["facets"] == ["judge"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("stability", "--cost", "grade"), "--cost grade: write NAME=COST"),
        (("stability", "--cost", "grade=1", "--target", ".1"), "costs are of topic, answer, judge"),
        (("stability", "--target", "0"), "target must be a standard error above 0"),
        (("stability", "--facets", "judges"), "unknown facet 'judges': did you mean 'judge'?"),
        (("compare", "--judge", "a=b.qrels"), "--judge requires QRELS RUN..."),
        (("compare", "--test", "wilcoxon"), "three or more judges are a sample"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(folder, capsys, arguments, said):
    command, *more = arguments
    assert said in refused(capsys, command, "--scores", folder / "graded.csv", *more)


def test_one_judge_is_no_facet(folder, capsys):
    runs = folder / "track" / "runs"
    err = refused(capsys, "compare", runs, "--judge", folder / "mild.qrels", "-m", "AP")
    assert "judgments of at least two judges" in err
