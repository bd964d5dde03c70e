"""Streams in place of files, for every input of every command: pipes, FIFOs, standard input."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import lzma
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest

import steadyrank as sr
from bench.faults.trials import write_inputs
from steadyrank.cli import run
from steadyrank.data.read.streams import forget_streams

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")

SOURCE = Path(sr.__file__).parents[1]

SEVERAL = ("team1-s1", "team1-s2", "team2-s1", "team2-s2", "team3-s1", "team3-s2")
RUNS = tuple(f"runs/{name}.run" for name in SEVERAL)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_inputs(folder)
    with contextlib.chdir(folder):
        assert run(["evaluate", "qrels.txt", *RUNS, "-o", "scores.csv", "-m", "AP", "--quiet"]) == 0
    cells = [f"{name},d{d},{place * d % 5}" for place, name in enumerate(SEVERAL) for d in range(8)]
    (folder / "table.csv").write_text("\n".join(["run,dataset,value", *cells]) + "\n")
    types = [f"d{d},t{d % 2}" for d in range(8)]
    (folder / "types.csv").write_text("\n".join(["dataset,type", *types]) + "\n")
    return folder


@pytest.fixture
def printed(data, monkeypatch, capfd):
    """What a command prints, in the folder of the data; it ends well and says nothing else."""
    monkeypatch.chdir(data)

    def call(arguments):
        assert run([*arguments, "--quiet"]) == 0, capfd.readouterr().err
        result, messages = capfd.readouterr()
        assert messages == ""
        return result

    return call


def zstd(content):
    return pa.compress(content, "zstd", asbytes=True)


PACKINGS = {"plain": bytes, "gzip": gzip.compress, "xz": lzma.compress, "zstd": zstd}


@contextlib.contextmanager
def piped(path, pack=bytes):
    """The name of a pipe that gives a file's content, as `<(command)` does."""
    end, into = os.pipe()
    writer = threading.Thread(target=write_into, args=(into, pack(Path(path).read_bytes())))
    writer.start()
    yield f"/dev/fd/{end}"
    os.close(end)
    writer.join()


def write_into(pipe, content):
    with contextlib.suppress(BrokenPipeError), open(pipe, "wb") as stream:
        stream.write(content)


@contextlib.contextmanager
def from_pipes(arguments, pack=gzip.compress):
    """The arguments with a pipe in place of every file."""
    with contextlib.ExitStack() as pipes:
        given = []
        for argument in arguments:
            before, equals, name = argument.rpartition("=")
            if Path(name).is_file():
                name = pipes.enter_context(piped(name, pack))
            given.append(before + equals + name)
        yield given


PAIR = ("runs/team1-s1.run", "runs/team2-s1.run")
PLANNED = ("--minimum-difference", "0.1", "--systems", "4")
SEARCHED = ("--topics", "collection/topics.tsv", "--qrels", "collection/qrels.txt")
COMMANDS = [
    ("evaluate", "qrels.txt", *RUNS, "--run-info", "run-info.csv"),
    ("compare", "qrels.txt", *RUNS),
    ("compare", "-m", "AP=scores.csv"),
    ("simulate", "qrels.txt", *PAIR, "--samples", "20"),
    ("topics", "--scores", "scores.csv"),
    ("agree", "qrels.txt", *RUNS, "-m", "AP", "-m", "nDCG", "--samples", "4"),
    ("plan", "--scores", "scores.csv", *PLANNED),
    ("stability", "qrels.txt", *RUNS),
    ("pools", "qrels.txt", *RUNS, "--run-info", "run-info.csv", "--trials", "2", *PLANNED),
    ("check", "qrels.txt", *RUNS),
    ("judges", "qrels.txt", *RUNS, "--judge", "other=complete-qrels.txt"),
    ("datasets", "table.csv", "--datasets", "types.csv"),
    ("holes", "qrels.txt", *PAIR),
    ("gate", "qrels.txt", *PAIR, "--margin", "0.9"),
    ("grid", "collection/docs.jsonl", *SEARCHED, "--models", "BM25"),
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_every_input_of_every_command_may_be_a_pipe(printed, arguments):
    expected = printed(arguments)
    with from_pipes(arguments) as given:
        assert printed(given) == expected


@pytest.mark.parametrize("pack", PACKINGS.values(), ids=PACKINGS)
def test_pipes_may_be_packed_in_any_way(printed, pack):
    arguments = ("evaluate", "qrels.txt", *PAIR)
    expected = printed(arguments)
    with from_pipes(arguments, pack) as given:
        assert printed(given) == expected


def test_pages_know_the_content_of_pipes(printed, tmp_path, drawn_nowhere):
    """The hashes that a page lists are those of the files."""
    with from_pipes(["report", "qrels.txt", *PAIR], bytes) as given:
        printed([*given, "--out", str(tmp_path / "page.html"), "--budget", "1s"])
    page = (tmp_path / "page.html").read_text()
    for path in ("qrels.txt", *PAIR):
        assert hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12] in page


def test_defects_in_pipes_have_their_line(data, capfd, tmp_path):
    lines = (data / PAIR[0]).read_text().splitlines()
    (tmp_path / "broken.run").write_text("\n".join([*lines[:7], "only three fields", *lines[7:]]))
    with piped(tmp_path / "broken.run", gzip.compress) as name:
        assert run(["evaluate", str(data / "qrels.txt"), name]) == 2
        [message] = capfd.readouterr().err.splitlines()
        assert message.startswith(f"steadyrank: {name}:8: expected 6 fields")


def test_standard_input_has_two_names(data):
    arguments = ["evaluate", "qrels.txt", *PAIR, "--quiet"]
    results = []
    for name in ("-", "/dev/stdin"):
        given = [name if argument == PAIR[1] else argument for argument in arguments]
        called = subprocess.run(
            [sys.executable, "-m", "steadyrank", *given],
            cwd=data,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            input=lzma.compress((data / PAIR[1]).read_bytes()),
            capture_output=True,
            check=False,
        )
        assert (called.returncode, called.stderr) == (0, b"")
        results.append(called.stdout)
    assert results[0] == results[1] != b""


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "-", "-"),
        ("evaluate", "-", "/dev/stdin"),
        ("evaluate", "qrels.txt", "-", "--run-info", "-"),
        ("compare", "-m", "AP=-", "-m", "nDCG=-"),
        ("datasets", "--collection", "a=-,runs", "--collection", "b=qrels.txt,-"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_two_inputs_from_standard_input_are_refused(data, monkeypatch, capfd, arguments):
    monkeypatch.chdir(data)
    assert run([*arguments]) == 2
    assert capfd.readouterr().err == (
        "steadyrank: two inputs cannot both come from stdin: save one of them to a file\n"
    )


def test_a_stream_goes_to_other_processes_as_a_run(data):
    with piped(data / PAIR[0]) as name:
        source = sr.read_runs(name).sources[0].for_elsewhere()
        assert pickle.loads(pickle.dumps(source)).read().name == "team1-s1"
    forget_streams()
