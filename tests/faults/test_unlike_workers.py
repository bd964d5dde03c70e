"""Clusters whose workers lack files, the package or its version: one line, never other scores."""

from __future__ import annotations

import contextlib
import gzip
import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import steadyrank as sr
from bench.faults.trials import write_inputs
from steadyrank.cli import run
from steadyrank.compute import clusters

distributed = pytest.importorskip("distributed")

PACKAGE = Path(sr.__file__).parent


@pytest.fixture
def data(tmp_path, monkeypatch):
    folder = tmp_path / "client"
    folder.mkdir()
    write_inputs(folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def scheduler():
    with distributed.LocalCluster(
        n_workers=0, protocol="tcp", host="127.0.0.1", dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@contextlib.contextmanager
def worker(scheduler, folder, package=None):
    """A worker process in a folder of its own, with a package of its own where one is given."""
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(package or PACKAGE.parent)}
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--no-nanny"]
    process = subprocess.Popen(
        [*command, "--no-dashboard", "--nthreads", "1"],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with distributed.Client(scheduler, set_as_default=False) as client:
        client.wait_for_workers(1, timeout=600)
    try:
        yield
    finally:
        process.kill()
        process.wait()
        with distributed.Client(scheduler, set_as_default=False) as client:
            while client.scheduler_info()["workers"]:
                time.sleep(0.05)


def evaluate(scheduler, capsys):
    code = run(["evaluate", "qrels.txt", "runs", "-m", "AP", "--scheduler", scheduler, "--quiet"])
    out, err = capsys.readouterr()
    return code, out, err


def test_relative_names_are_those_of_the_client(data, scheduler, tmp_path, capsys):
    """A worker in a folder with other runs of the same names read those, without a word."""
    elsewhere = tmp_path / "worker"
    shutil.copytree(data / "runs", elsewhere / "runs")
    for path in (elsewhere / "runs").iterdir():
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    assert run(["evaluate", "qrels.txt", "runs", "-m", "AP", "--quiet"]) == 0
    here = capsys.readouterr().out
    with worker(scheduler, elsewhere):
        assert evaluate(scheduler, capsys) == (0, here, "")


def test_the_limit_of_input_holds_there_too(data, scheduler, tmp_path, capsys):
    for path in (data / "runs").iterdir():
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    with worker(scheduler, tmp_path / "worker"):
        words = ["evaluate", "qrels.txt", "runs", "-m", "AP", "--scheduler", scheduler, "--quiet"]
        assert run([*words, "--max-input", "55kB"]) == 2
        assert "unfolds to more than 55 kB" in capsys.readouterr().err
        # The next command, which sets no limit, has none there.
        assert run(words) == 0


def test_a_file_that_differs_there_is_refused(data, scheduler, tmp_path, capsys, monkeypatch):
    """The worker sees one path, another content: as on machines without a common disk."""
    known = sr.data.read.runs._digest
    monkeypatch.setattr(sr.data.read.runs, "_digest", lambda path: known(path)[::-1])
    with worker(scheduler, tmp_path / "worker"):
        code, out, err = evaluate(scheduler, capsys)
    assert (code, out) == (1, "")
    assert "has another file of that name: give all workers the same files" in err
    assert len(err.splitlines()) == 1


def test_a_file_that_is_not_there_is_named(data, scheduler, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Path, "absolute", lambda path: Path("/nowhere") / path.name)
    with worker(scheduler, tmp_path / "worker"):
        code, out, err = evaluate(scheduler, capsys)
    assert (code, out) == (1, "")
    assert "does not see this file: put the runs where all workers can read them" in err


def test_a_worker_of_another_version_is_refused(data, scheduler, tmp_path, capsys):
    other = tmp_path / "other"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, other / "steadyrank", ignore=ignored)
    (other / "steadyrank" / "_version.py").write_text('__version__ = "0.0.1"\n')
    with worker(scheduler, tmp_path / "worker", other):
        code, out, err = evaluate(scheduler, capsys)
    assert (code, out) == (1, "")
    assert f"has steadyrank 0.0.1, and this process {sr.__version__}: install the same" in err


def test_a_worker_without_the_package_is_named(data, scheduler, tmp_path, capsys):
    broken = tmp_path / "broken" / "steadyrank"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('nothing here')\n")
    with worker(scheduler, tmp_path / "worker", broken.parent):
        code, out, err = evaluate(scheduler, capsys)
    assert (code, out) == (1, "")
    assert "cannot import steadyrank" in err
    assert "tcp://" in err
    assert len(err.splitlines()) == 1


def test_a_cluster_without_workers_is_told_of_soon(data, scheduler, capsys, monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 0.5)
    code, out, err = evaluate(scheduler, capsys)
    assert (code, out) == (1, "")
    assert "has no workers after 0.5 seconds: start some with `dask worker" in err


def test_a_worker_that_joins_later_is_checked_too():
    assert clusters.run_by_version(clusters.installed(), max, 2, 3) == 3
    for package in ("steadyrank", "numpy", "scipy", "numba"):
        ours = {**clusters.installed(), package: "0.0.1"}
        with pytest.raises(sr.MachineError, match=rf"has {package} .* install the same version"):
            clusters.run_by_version(ours, max, 2, 3)


def test_another_checkout_of_the_same_version_is_refused(data, scheduler, tmp_path, capsys):
    """All AP were halved, without a word."""
    other = tmp_path / "other"
    shutil.copytree(PACKAGE, other / "steadyrank", ignore=shutil.ignore_patterns("__pycache__"))
    kernels = other / "steadyrank" / "measures" / "kernels.py"
    kernels.write_text(kernels.read_text() + "\nCHANGED = True\n")
    with worker(scheduler, tmp_path / "worker", other):
        code, out, err = evaluate(scheduler, capsys)
    assert (code, out) == (1, "")
    assert "has sources of steadyrank " in err
    assert len(err.splitlines()) == 1


@contextlib.contextmanager
def silent_port():
    """As a scheduler that was stopped: the system takes the connection, and nobody answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"


@contextlib.contextmanager
def port_of_a_page():
    """As that of a dashboard, which speaks HTTP."""
    answers = http.server.BaseHTTPRequestHandler
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("port", [silent_port, port_of_a_page])
def test_a_cluster_that_does_not_answer_is_told_of_soon(data, capsys, monkeypatch, port):
    assert clusters.LONGEST + clusters.PATIENCE < 30
    monkeypatch.setattr(clusters, "LONGEST", 1)
    with port() as address:
        code, out, err = evaluate(address, capsys)
    assert (code, out) == (2, "")
    assert "does not answer after 1 seconds: is this the port of a scheduler" in err
    assert len(err.splitlines()) == 1
