"""Disks that are full, folders that vanish or cannot be written to, streams that are closed.

Each is told in one line with its exit code, and no file is left half-written.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import steadyrank as sr
from bench.faults.trials import write_inputs
from steadyrank.cli import run
from steadyrank.cli.output import emit
from steadyrank.compute.files import write_whole
from steadyrank.compute.stores import Store
from steadyrank.studies.simulate import blocks as sample_blocks

resource = pytest.importorskip("resource")

SYSTEMS = (
    *("--stop-lists", "none,lucene", "--lexical", "none", "--models", "BM25,PL2", "--depth", "20"),
)
SHARDS = ("--shards", "6", "--csi", "2", "--partitions", "1", "--sample", "20%", "--depth", "20")

COMMANDS = {
    "evaluate": ("{data}/qrels.txt", "{data}/runs"),
    "compare": ("{data}/qrels.txt", "{data}/runs"),
    "simulate": ("{data}/qrels.txt", "{data}/runs", "--samples", "50"),
    "topics": ("{data}/qrels.txt", "{data}/runs", "--trials", "20"),
    "agree": ("{data}/qrels.txt", "{data}/runs", "-m", "AP", "-m", "P@10", "--samples", "5"),
    "stability": ("{data}/qrels.txt", "{data}/runs"),
    "plan": ("--variance", "0.04", "--minimum-difference", "0.1", "--systems", "10"),
    "pools": (
        *("{data}/qrels.txt", "{data}/runs", "--run-info", "{data}/run-info.csv", "--trials", "2"),
    ),
    "instances": (
        *("{data}/qrels.txt", "{data}/runs", "--system-from", "^(team[0-9]+)", "--a", "team1"),
        *("--b", "team2", "--samples", "50", "--no-posterior"),
    ),
    "grid": ("{data}/collection", *SYSTEMS, "-m", "AP"),
    "shard": ("{data}/collection", *SHARDS, "-m", "AP"),
    "report": ("--scores", "{data}/ap.csv", "--samples", "10"),
}

WRITES = [
    *((name, "-o", "result.json") for name in COMMANDS if name != "report"),
    *(
        (name, "--plot", "figure.svg")
        for name in ("simulate", "topics", "agree", "pools", "instances")
    ),
    ("simulate", "--store", "store"),
    *((name, "--out", "made") for name in ("grid", "shard")),
    *((name, "--scores", "scores.csv") for name in ("grid", "shard")),
    ("grid", "--scores", "scores.parquet"),
    ("evaluate", "-o", "scores.parquet"),
    ("report", "--out", "page.html"),
]
"""Every way in which a command writes."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_inputs(folder)
    scores = sr.evaluate([folder / "runs"], folder / "complete-qrels.txt", "AP")
    sr.write_scores(scores.select(runs=scores.runs[:3]), folder / "ap.csv")
    return folder


def words(name, data, *more):
    given = [word.format(data=data) for word in COMMANDS[name]]
    return [name, *given, "--quiet", *map(str, more)]


@contextlib.contextmanager
def room_for(size):
    """No file may grow beyond so many bytes: what a full disk does, without one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # Python would keep half files
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        sys.dont_write_bytecode = written
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def told(capsys):
    """The one line on stderr."""
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("steadyrank: ")
    return line


@pytest.mark.parametrize(("name", "option", "file"), WRITES)
def test_a_full_disk_is_told_and_leaves_nothing(
    capsys, data, tmp_path, drawn_nowhere, name, option, file
):
    warm = tmp_path / "warm"  # machine code of kernels must have been kept
    warm.mkdir()
    assert run(words(name, data, option, warm / file)) == 0
    shutil.rmtree(warm)
    capsys.readouterr()
    command = words(name, data, option, tmp_path / file)
    with room_for(16):
        assert run(command) == 1
    line = told(capsys)
    assert str(tmp_path / file) in line
    assert "too large" in line
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("name", "option", "file"),
    [
        ("evaluate", "-o", "result.json"),
        ("agree", "--plot", "figure.svg"),
        ("grid", "--scores", "scores.csv"),
        ("shard", "--scores", "scores.parquet"),
    ],
)
def test_a_disk_that_fills_up_spares_what_was_there(capsys, data, tmp_path, name, option, file):
    """Once with room, once without: all files are as the first command left them."""
    command = words(name, data, option, tmp_path / file)
    assert run(command) == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    capsys.readouterr()
    with room_for(16):
        assert run(command) == 1
    told(capsys)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_was_stored_before_the_disk_was_full_is_taken_up(capsys, data, tmp_path, monkeypatch):
    command = words("simulate", data, "--samples", "1500", "--store", tmp_path / "s")
    save, saved = Store.save, []

    def full_later(self, name, arrays):
        if len(saved) == 2:
            raise OSError(28, "No space left on device", name)
        saved.append(name)
        save(self, name, arrays)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "save", full_later)
        assert run(command) == 1
    assert "No space left" in told(capsys)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "s").glob("*.block")}
    assert len(kept) == 2
    assert run(command) == 0
    resumed = capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert run(words("simulate", data, "--samples", "1500")) == 0
    assert capsys.readouterr().out == resumed


@pytest.mark.parametrize(
    ("name", "option", "file"),
    [
        ("compare", "-o", "result.json"),
        ("evaluate", "-o", "scores.parquet"),
        ("agree", "--plot", "figure.svg"),
        ("simulate", "--store", "store"),
        ("grid", "--out", "made"),
        ("shard", "--out", "made"),
        ("shard", "--scores", "scores.csv"),
    ],
)
def test_a_folder_that_vanishes_is_the_machines_failure(
    capsys, data, tmp_path, monkeypatch, name, option, file
):
    from steadyrank.compute import files, stores
    from steadyrank_lab.retrieval.makers import runs

    place = tmp_path / "place"
    place.mkdir()
    check = files.check_still_there

    def vanished(folder):
        shutil.rmtree(place, ignore_errors=True)
        check(folder)

    for module in (files, stores, runs):
        monkeypatch.setattr(module, "check_still_there", vanished)
    assert run(words(name, data, option, place / file)) == 1
    assert "vanished since the work began" in told(capsys)
    assert not place.exists()


@pytest.mark.parametrize(("name", "option", "file"), WRITES)
def test_a_read_only_folder_is_told_before_the_work(
    capsys, data, tmp_path, monkeypatch, name, option, file
):
    """For root everything is writable, so the system's answers are imitated."""

    access = os.access

    def refuse(*arguments, **options):
        raise OSError(30, "Read-only file system", str(tmp_path / file))

    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    assert run(words(name, data, option, tmp_path / file)) == 1
    line = told(capsys)
    if option in ("-o", "--plot", "--scores"):
        assert "nothing can be written into the folder" in line
    assert str(tmp_path) in line
    assert list(tmp_path.iterdir()) == []


def test_devices_are_written_to_and_links_followed(tmp_path):
    before = Path(os.devnull).stat()
    write_whole(os.devnull, "nothing")
    assert Path(os.devnull).stat().st_ino == before.st_ino
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "folder" / "result.json")
    with pytest.raises(sr.InputError, match="does not exist"):
        write_whole(link, "x")
    (tmp_path / "folder").mkdir()
    write_whole(link, "x")
    assert link.is_symlink()
    assert (tmp_path / "folder" / "result.json").read_text() == "x"
    write_whole(tmp_path / ("é" * 120), "long names too")


def test_room_for_large_studies_is_taken_at_once(data, tmp_path, monkeypatch):
    """A file in memory on a disk that fills up later would end the process by a signal."""
    monkeypatch.setattr(sample_blocks, "IN_MEMORY", 0)
    with room_for(16), pytest.raises(sr.MachineError, match="TMPDIR"):
        sr.simulate([data / "runs"], data / "complete-qrels.txt", n_samples=20)


def in_a_shell(line):
    done = subprocess.run(
        ["bash", "-c", line.replace("steadyrank", f"'{sys.executable}' -m steadyrank", 1)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    return done.returncode, done.stdout, done.stderr


PLAN = " ".join(("steadyrank", "plan", *COMMANDS["plan"]))
CLOSED = "steadyrank: stdout is closed: name a file for the result with -o\n"
FULL = "steadyrank: stdout: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"export PYTHONUNBUFFERED=; {PLAN} > /dev/full", (1, "", FULL)),
        (f"export PYTHONUNBUFFERED=1; {PLAN} > /dev/full", (1, "", FULL)),
        (f"{PLAN} >&-", (1, "", CLOSED)),
        (f"{PLAN} -o /dev/null >&-", (0, "", "")),
        (f"exec 3> >(exec true); wait $!; {PLAN} >&3", (1, "", "")),
    ],
)
def test_streams_that_fail(line, expected):
    assert in_a_shell(line) == expected


def test_unbuffered_what_the_system_does_not_take_at_once_is_not_dropped(monkeypatch):
    class Slow(io.RawIOBase):
        taken = b""

        def writable(self):
            return True

        def write(self, data):
            self.taken += bytes(data[:10])
            return min(10, len(data))

    raw = Slow()
    stream = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    emit("é" * 100 + "\n", None)
    assert raw.taken == ("é" * 100 + os.linesep).encode()


@pytest.mark.parametrize("stderr", ["full", "closed"])
def test_a_log_that_cannot_be_written_does_not_stop_the_work(capsys, monkeypatch, data, stderr):
    qrels, run_file = data / "qrels.txt", data / "runs" / "team1-s1.run"
    command = ["evaluate", str(qrels), str(run_file), "--format", "csv"]
    monkeypatch.setattr("steadyrank.cli.output.PATIENCE", 0.0)
    assert run(command) == 0
    expected = capsys.readouterr().out
    if stderr == "closed":
        monkeypatch.setattr(sys, "stderr", None)
    elif not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    else:
        monkeypatch.setattr(sys, "stderr", open("/dev/full", "w"))  # noqa: SIM115
    with something_to_tell(monkeypatch):
        assert run(command) == 0
    with contextlib.suppress(OSError):
        sys.stderr.close()
    assert capsys.readouterr().out == expected


@contextlib.contextmanager
def something_to_tell(monkeypatch):
    """Something to tell."""
    from steadyrank.measures import evaluate as module

    original = module.evaluate

    def warning(*args, **options):
        warnings.warn("something odd", sr.SteadyrankWarning, stacklevel=2)
        return original(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(module, "evaluate", warning)
        yield
