"""The `judges` command as people and programs call it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from commanding import answered, call, refused

import steadyrank as sr

PROMISED = {
    *("judge", "lambda", "kappa", "kappa_weighted", "tau", "tau_interval", "tau_top", "bias_mean"),
    *("bias_sd", "unconfirmed_share", "opposite_share", "topics_factor", "kin", "runs", "pairs"),
}
RUN_KEYS = {
    *("run", "human_mean", "judge_mean", "corrected_mean", "interval", "rank", "rank_set"),
    "could_be_first",
}
PAIR_KEYS = {"a", "b", "difference", "interval", "pvalue", "pvalue_adjusted", "significant"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A track as files; people judged every third topic, the judge gives one grade more or less."""
    root = tmp_path_factory.mktemp("track")
    track = sr.simulated_track(n_teams=3, runs_per_team=2, n_topics=30, depth=30, pool_depth=30)
    track.write(root)
    lines = [line.split() for line in (root / "qrels.txt").read_text().splitlines()]
    people = [line for line in lines if int(line[0]) % 3 == 0]
    judged = [
        [*line[:3], str(max(0, min(2, int(line[3]) + (place % 7 == 0) - (place % 5 == 0))))]
        for place, line in enumerate(lines)
    ]
    binary = [[*line[:3], str(int(int(line[3]) > 0))] for line in lines]
    for name, rows in (("people", people), ("model", judged), ("binary", binary)):
        (root / f"{name}.qrels").write_text("".join(f"{' '.join(row)}\n" for row in rows))
    return root


@pytest.fixture(scope="module")
def files(folder):
    return (folder / "people.qrels", folder / "runs", "--judge", f"model={folder}/model.qrels")


def test_json_has_the_promised_keys(capsys, files):
    shown = answered(
        capsys,
        "judges",
        *files,
        *("-m", "nDCG@10", "--kin", "^team1", "--top", "3", "--samples", "200"),
        *("--quiet", "--format", "json"),
    )
    assert (shown["measure"], shown["alpha"]) == ("nDCG@10", 0.05)
    assert (shown["n_human_topics"], shown["n_judge_topics"]) == (10, 20)
    (judge,) = shown["judges"]
    assert set(judge) >= PROMISED
    assert {"pattern", "runs", "difference", "interval", "pvalue"} <= set(judge["kin"])
    assert judge["kin"]["runs"] == ["team1-s1", "team1-s2"]
    assert len(judge["runs"]) == 6
    assert all(set(row) >= RUN_KEYS for row in judge["runs"])
    assert len(judge["pairs"]) == 15
    assert all(set(row) >= PAIR_KEYS for row in judge["pairs"])


def test_scores_made_elsewhere_give_the_same(capsys, folder, files, tmp_path):
    paths = {}
    for name in ("people", "model"):
        code, *_ = call(
            capsys,
            "evaluate",
            *(folder / f"{name}.qrels", folder / "runs", "-m", "AP", "--quiet"),
            *("--format", "csv", "-o", tmp_path / f"{name}.csv"),
        )
        assert code == 0
        paths[name] = tmp_path / f"{name}.csv"
    options = ("--samples", "99", "--quiet", "--format", "json")
    _, by_runs, _ = call(capsys, "judges", *files, "-m", "AP", *options)
    code, by_scores, err = call(
        capsys,
        "judges",
        *("--scores", paths["people"], "--judge-scores", f"model={paths['model']}", *options),
    )
    assert (code, err) == (0, "")
    first, second = (json.loads(out)["judges"][0] for out in (by_runs, by_scores))
    assert second["lambda"] == pytest.approx(first["lambda"], rel=1e-9)
    assert second["kappa"] is None
    for one, other in zip(first["pairs"], second["pairs"], strict=True):
        assert other["difference"] == pytest.approx(one["difference"], abs=1e-9)


def test_scores_of_a_measure_named_with_its_file(capsys, tmp_path):
    rng = np.random.default_rng(1)
    values = rng.random((1, 3, 20))
    for name, n in (("people", 8), ("model", 20)):
        scores = sr.Scores(
            measures=["clicks"], runs=list("abc"), topics=range(n), values=values[..., :n]
        )
        sr.write_scores(scores, tmp_path / f"{name}.csv", wide=True)
    shown = answered(
        capsys,
        "judges",
        *("-m", f"clicks={tmp_path}/people.csv"),
        *("--judge-scores", f"model={tmp_path}/model.csv"),
        *("--samples", "99", "--quiet", "--format", "json"),
    )
    assert (shown["measure"], shown["n_judge_topics"]) == ("clicks", 12)


BAD = {
    "no judge": (("{p}", "{r}"), "no judge was given: give --judge NAME=QRELS"),
    "no name": (("{p}", "{r}", "--judge", "=model.qrels"), "write NAME=FILE"),
    "no file": (("{p}", "{r}", "--judge", "no.qrels"), "no.qrels: no such file"),
    "twice": (("{p}", "{r}", "--judge", "m={m}", "--judge", "m={m}"), "two judges are named 'm'"),
    "measures": (("{p}", "{r}", "--judge", "m={m}", "-m", "AP", "-m", "RR"), "one measure"),
    "lacks topics": (("{m}", "{r}", "--judge", "m={p}"), "lacks 20 of the 30 topics"),
    "scores": (("{p}", "{r}", "--judge-scores", "m={m}"), "--judge-scores requires --scores FILE"),
    "kin": (("{p}", "{r}", "--judge", "m={m}", "--kin", "xyz"), "matches none of the 6 runs"),
    "top": (("{p}", "{r}", "--judge", "m={m}", "--top", "99"), "--top must lie between 2"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_exit_2(capsys, folder, name):
    words, message = BAD[name]
    places = {"p": folder / "people.qrels", "r": folder / "runs", "m": folder / "model.qrels"}
    assert message in refused(capsys, "judges", *(w.format(**places) for w in words), "--quiet")


def test_the_report_takes_judges(capsys, files, folder, tmp_path, drawn_nowhere):
    page = tmp_path / "report.html"
    code, out, err = call(
        capsys,
        "report",
        *files,
        *("-m", "nDCG@10", "--samples", "20", "--out", page, "--quiet", "--format", "json"),
    )
    assert code == 0, err
    shown = json.loads(out)
    assert "judges" in shown["studies"]
    assert f"--judge model={folder}/model.qrels" in shown["command"]
    assert "Would other judges change it?" in page.read_text("utf-8")
