"""The demo: a track as files, a report on it, and the three findings that are printed."""

import json
import shlex

import pytest

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.errors import InputError
from steadyrank.reporting.demo import compile_ahead, demo


def test_it_writes_a_track_and_a_report_and_prints_the_answer(tmp_path, capsys, drawn_nowhere):
    out = tmp_path / "demo"
    assert run(["demo", "--out", str(out), "--budget", "1s", "--quiet"]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[0].startswith("okapi_long leads")
    assert lines[1].startswith("okapi_long 0.")
    assert f"The page: {out / 'report.html'}" in lines
    assert said.err == ""
    page = (out / "report.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "okapi_long" in page
    assert "Other teams" in page  # there are teams, so pools had what it needs
    again = next(line for line in lines if line.startswith("Again: ")).removeprefix("Again: ")
    words = shlex.split(again)
    assert words[:2] == ["steadyrank", "report"]
    words[words.index("--out") + 1] = str(tmp_path / "again.html")
    assert run([*words[1:], "--quiet"]) == 0
    assert (tmp_path / "again.html").read_bytes() == (out / "report.html").read_bytes()


def test_data_only_writes_files_that_other_commands_read(tmp_path, capsys):
    out = tmp_path / "track"
    assert run(["demo", "--out", str(out), "--data-only", "--quiet"]) == 0
    written = ["qrels.txt", "run-info.csv", "runs", "second-judge.txt", "topic-info.csv"]
    assert sorted(path.name for path in out.iterdir()) == written
    capsys.readouterr()
    files = [str(out / "qrels.txt"), str(out / "runs")]
    info = ["--run-info", str(out / "run-info.csv")]
    assert run(["evaluate", *files, *info, "-m", "AP", "--format", "json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["runs"]) == 26
    runs = sr.read_runs(out / "runs", run_info=out / "run-info.csv")
    assert len({each.info["team"] for each in runs}) == 7
    assert {each.info["model"] for each in runs} >= {"BM25", "PL2"}
    assert {each.info["system"] for each in runs} == {"", "okapi_8_shards", "okapi_14_shards"}
    segments = ["--topic-info", str(out / "topic-info.csv"), "--cluster-from", "(.)"]
    asked = ["plan", *files, "-m", "AP", "--minimum-difference", "0.1", "--systems", "5"]
    assert run([*asked, *segments, "--format", "json", "--quiet"]) == 0


@pytest.mark.slow
def test_every_study_of_one_collection_has_an_answer(tmp_path):
    out = tmp_path / "demo"
    result = demo(out=out, budget="30s", measures=["nDCG@10", "AP"])
    assert list(result.left_out) == ["datasets", "graders", "answers", "battles"]
    assert result.results["components"].factors == ("shards",)
    assert result.results["components"].n_runs == 8
    compared = result.results["instances"].comparisons
    assert {"okapi_8_shards", "okapi_14_shards"} <= {one.a for one in compared} | {
        one.b for one in compared
    }
    assert [judge.judge for judge in result.results["judges"].judges] == ["second"]
    assert result.results["judges"].of("second").confusion.n_documents > 400
    page = (out / "report.html").read_text("utf-8")
    assert "18 runs of which the run information gives no shards are left out." in page


def test_a_simulated_track_keeps_its_truth(tmp_path):
    assert demo(out=tmp_path / "track", data="simulated", data_only=True, rng=3) is None
    assert (tmp_path / "track" / "truth.json").is_file()
    assert len(list((tmp_path / "track" / "runs").iterdir())) == 60


def test_what_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="name a folder"):
        demo(out=tmp_path / "file", data_only=True)
    with pytest.raises(InputError, match="simulated"):
        demo(out=tmp_path / "x", data="simulate")
    (tmp_path / "used" / "runs").mkdir(parents=True)
    (tmp_path / "used" / "runs" / "mine.run").write_text("1 Q0 d 1 1.0 mine\n")
    with pytest.raises(InputError, match="mine.run"):
        demo(out=tmp_path / "used", data_only=True)
    assert [path.name for path in (tmp_path / "used").rglob("*.run")] == ["mine.run"]


@pytest.mark.filterwarnings("ignore:the imputed intervals are unchecked")
def test_a_second_process_compiles_what_the_report_needs_late():
    """It runs on the shipped files, and compiles nothing here, where all kernels are kept."""
    compile_ahead(["nDCG@10", "AP"])
