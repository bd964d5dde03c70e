"""A report that was killed is taken up where it stopped, and comes out the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import steadyrank as sr
from steadyrank.cli import run


def test_killed_and_run_again_it_gives_the_same_bytes(tmp_path, monkeypatch, capsys, drawn_nowhere):
    """kill -9 while samples are stored: nothing half-written, and the rest is done later."""
    track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=26, depth=40, pool_depth=20)
    track.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    given = ["report", "complete-qrels.txt", "runs", "-m", "AP", "--samples", "20000", "--quiet"]
    command = [sys.executable, "-m", "steadyrank", *given, "--out", "a.html", "--store", "store"]
    store, page = tmp_path / "store", tmp_path / "a.html"
    running = subprocess.Popen(command, env={**os.environ, "NUMBA_NUM_THREADS": "1"})
    deadline = time.monotonic() + 120
    while len(kept := list(store.glob("simulate/*.block"))) < 2:
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert not page.exists()
    first = {path: path.stat().st_mtime_ns for path in kept}
    assert run([*given, "--out", "a.html", "--store", "store"]) == 0
    assert all(path.stat().st_mtime_ns == made for path, made in first.items())
    resumed = capsys.readouterr().out
    assert run([*given, "--out", "b.html"]) == 0
    assert page.read_bytes() == (tmp_path / "b.html").read_bytes()
    assert capsys.readouterr().out == resumed.replace("a.html", "b.html")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
