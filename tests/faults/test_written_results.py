"""What is written: modes, read-only files, stdout by its name, and what spreadsheets see."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.compute.files import write_whole
from steadyrank.compute.stores import open_store
from steadyrank.data.read.datasets import read_topics

SOURCE = Path(sr.__file__).parents[1]


@pytest.fixture
def scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"AP,{name},{topic},0.{topic}{len(name)}" for name in ("a", "bb") for topic in range(5)]
    Path("scores.csv").write_text("\n".join(["measure,run,topic,value", *rows]) + "\n")
    return ["compare", "--scores", "scores.csv", "--quiet"]


@pytest.mark.parametrize("mode", [0o640, 0o600, 0o664])
def test_a_file_that_is_replaced_keeps_its_mode(scores, mode):
    Path("result.json").write_text("before")
    Path("result.json").chmod(mode)
    assert run([*scores, "-o", "result.json"]) == 0
    assert stat.S_IMODE(Path("result.json").stat().st_mode) == mode
    assert json.loads(Path("result.json").read_text())["measure"] == "AP"


def test_a_file_that_is_read_only_is_refused_before_the_work(scores, capfd):
    Path("result.json").write_text("before")
    Path("result.json").chmod(0o444)
    assert run([*scores, "-o", "result.json"]) == 1
    assert capfd.readouterr().err == (
        "steadyrank: result.json: the file is read-only: make it writable, or name another file\n"
    )
    assert Path("result.json").read_text() == "before"
    with pytest.raises(sr.MachineError, match="read-only"):
        write_whole("result.json", "after")


def test_a_dash_is_stdout(scores, capfd):
    assert run(scores) == 0
    expected = capfd.readouterr().out
    assert run([*scores, "-o", "-"]) == 0
    assert capfd.readouterr().out == expected
    assert not Path("-").exists()


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="stdout has no name here")
def test_stdout_by_its_name_can_be_appended_to(scores):
    command = [sys.executable, "-m", "steadyrank", *scores]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    expected = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
    with open("log.txt", "ab") as log:
        log.write(b"before\n")
        log.flush()
        subprocess.run([*command, "-o", "/dev/stdout"], env=environment, stdout=log, check=True)
    assert Path("log.txt").read_bytes() == b"before\n" + expected


def test_two_processes_may_write_one_result_at_once(scores):
    command = [sys.executable, "-m", "steadyrank", *scores, "-o", "result.json"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    assert run([*scores, "-o", "alone.json"]) == 0
    processes = [subprocess.Popen(command, env=environment) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert Path("result.json").read_bytes() == Path("alone.json").read_bytes()
    assert sorted(path.name for path in Path().iterdir()) == [
        "alone.json",
        "result.json",
        "scores.csv",
    ]


@pytest.mark.parametrize(
    "settings",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"format": ' + b"9" * 5_000 + b"}"],
    ids=["empty", "cut", "list", "null", "binary", "nested", "digits"],
)
def test_damaged_settings_of_a_store_are_an_input_error(tmp_path, settings):
    open_store(tmp_path / "store", {"seed": 0})
    (tmp_path / "store" / "settings.json").write_bytes(settings)
    with pytest.raises(sr.InputError, match="name another folder"):
        open_store(tmp_path / "store", {"seed": 0})


def test_scores_beyond_all_measures_are_refused_by_reports(scores, capfd):
    text = Path("scores.csv").read_text().replace("0.01", "1e308").replace("AP,", "clicks,")
    Path("scores.csv").write_text(text)
    words = [word if word != "AP" else "clicks" for word in scores[1:]]
    assert run(["report", *words, "--out", "page.html"]) == 2
    assert "a score is beyond" in capfd.readouterr().err
    assert not Path("page.html").exists()


def test_a_carriage_return_that_would_join_two_topics_is_refused(tmp_path):
    (tmp_path / "topics.tsv").write_bytes(b"1\tcrime\n2\tfish\r3\tbirds\n")
    with pytest.raises(sr.InputError, match=r"topics.tsv:2: a carriage return inside a line"):
        read_topics(tmp_path / "topics.tsv")
