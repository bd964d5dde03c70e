"""What Windows and macOS do differently, as far as it can be tried on Linux.

Modules and functions that they lack, locks of Windows, text in other encodings and with other line
ends, processes that are spawned and not forked, and paths of which Windows allows 259 characters.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.compute import files, kernel_cache

LACKING = """
import multiprocessing, os, platform, signal, subprocess, sys, types  # these ask for Windows

for module in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[module] = None
for name in ("fork", "geteuid", "getuid", "sched_getaffinity", "posix_fallocate", "sysconf",
             "mkfifo", "getppid"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("pthread_kill", "SIGKILL", "SIGHUP", "SIGPIPE"):
    if hasattr(signal, name):
        delattr(signal, name)

log = []
windows = types.ModuleType("msvcrt")
windows.LK_LOCK, windows.LK_UNLCK = 1, 0
windows.locking = lambda file, mode, size: log.append((mode, size))
sys.modules["msvcrt"] = windows
"""
"""A Python without what Windows has not; `msvcrt` notes what is asked of it."""

RUN = """
from steadyrank import cli
codes = [cli.run(line.split()) for line in {commands!r}]
print("codes", codes, "locks", log)
"""

PAIR = "qrels.txt runs/team1-s1.run runs/team2-s1.run"
COMMANDS = [
    *("evaluate qrels.txt runs -o out.csv", "compare qrels.txt runs -o out.json --samples 99"),
    *(f"gate {PAIR} --margin 0.3 --history past", f"gate {PAIR} --margin 0.3 --history past"),
    "simulate qrels.txt runs --samples 20 --store kept",
    "simulate qrels.txt runs --samples 20 --store kept",
    *("report qrels.txt runs -o page.html --budget 1s", "doctor"),
]


@pytest.fixture
def track(tmp_path):
    made = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=15, depth=50, pool_depth=25)
    made.write(tmp_path)
    return tmp_path


def python(code, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


def test_commands_do_without_what_windows_lacks(track):
    done = python(LACKING + RUN.format(commands=COMMANDS), track)
    assert done.returncode == 0, done.stderr
    codes, _, locks = done.stdout.rpartition("codes ")[2].partition(" locks ")
    allowed = [{0}, {0}, {0, 3, 4}, {0, 3, 4}, {0}, {0}, {0}, {0}]
    assert all(code in right for code, right in zip(json.loads(codes), allowed, strict=True)), (
        done.stderr
    )
    taken = [mode for mode, _ in eval(locks)]
    assert taken.count(1) == taken.count(0) >= 2  # every lock is freed
    lines = (track / "past" / "history.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 2
    assert (track / "page.html").stat().st_size > 10_000


def test_a_lock_of_windows_is_waited_for_and_freed(tmp_path, monkeypatch):
    """msvcrt gives up after ten seconds, with an error; whoever waits asks again."""
    import types

    asked = []

    def locking(file, mode, size):
        asked.append(mode)
        if asked == [1]:
            raise OSError(36, "Resource deadlock avoided")

    windows = types.SimpleNamespace(LK_LOCK=1, LK_UNLCK=0, locking=locking)
    monkeypatch.setattr(files, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    with files.locked(tmp_path / "lock"):
        assert asked == [1, 1]
    assert asked == [1, 1, 0]


# paths


def test_a_home_of_kernels_whose_paths_would_be_too_long_is_passed_over(tmp_path, monkeypatch):
    near, deep = tmp_path / "near", tmp_path / ("deep" * 30)
    monkeypatch.setattr(kernel_cache, "_places", lambda: iter([deep, near]))
    home = kernel_cache._home.__wrapped__
    assert home("") == deep / "steadyrank-kernels"
    monkeypatch.setattr(kernel_cache, "LONGEST_HOME", len(str(near)) + 40)
    assert home("") == near / "steadyrank-kernels"


def test_kernels_that_threads_declare_at_once_share_one_home(tmp_path, monkeypatch):
    """While one is declared, Numba's folder is that kernel's own: others must not ask for it."""
    monkeypatch.setattr(kernel_cache._config, "CACHE_DIR", str(tmp_path))
    homes, others, declare = [], [], kernel_cache.numba.njit

    def note(k):
        homes.append(Path(kernel_cache.compiled(_maker(k), nogil=True).stats.cache_path))

    def slow(*args, **options):
        if not others:
            others.append(threading.Thread(target=note, args=(1,)))
            others[0].start()
            time.sleep(0.2)
        return declare(*args, **options)

    monkeypatch.setattr(kernel_cache.numba, "njit", slow)
    note(0)
    others[0].join()
    assert str(tmp_path) == kernel_cache._config.CACHE_DIR
    assert [home.parts.count("steadyrank-kernels") for home in homes] == [1, 1]


def _maker(k):
    def added(x):
        return x + k

    added.__qualname__ = f"added_{k}"
    return added


# text


def test_no_text_depends_on_the_encoding_of_the_system(track):
    """Windows' own is cp1252: whatever opens text must say that it is UTF-8."""
    (track / "names.csv").write_text("team1-s1,Größe\n", "utf-8")
    code = """
import warnings
warnings.filterwarnings("error", category=EncodingWarning, module=r"steadyrank\\.")
warnings.simplefilter = lambda *given, **options: None  # with which the command silences others
log = []
"""
    commands = [
        *COMMANDS,
        *("check qrels.txt runs", "compare --scores out.csv --samples 99"),
        *("report qrels.txt runs -o page.html --budget 1s --names names.csv", "grid --help"),
    ]
    done = python(code + RUN.format(commands=commands), track, PYTHONWARNDEFAULTENCODING="1")
    codes = json.loads(done.stdout.rpartition("codes ")[2].partition(" locks ")[0])
    assert set(codes) <= {0, 3, 4}, done.stderr


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "cp437"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["Western Windows", "a console of Windows", "no locale"],
)
def test_tables_reach_narrow_encodings(track, environment):
    ranking = sr.read_run(track / "runs" / "team1-s1.run")
    sr.write_run(ranking.rename("日本-é"), track / "runs" / "team9.run")
    done = subprocess.run(
        [sys.executable, "-m", "steadyrank", "compare", "qrels.txt", "runs", "--samples", "99"],
        cwd=track,
        env={**os.environ, **environment},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert b"team2-s1" in done.stdout
    assert b"Traceback" not in done.stderr


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "byte-order mark"])
def test_line_ends_of_windows_change_nothing(track, tmp_path_factory, mark):
    expected = sr.evaluate(
        track / "runs", track / "qrels.txt", "nDCG@10", run_info=track / "run-info.csv"
    )
    sr.write_scores(expected, track / "scores.csv")
    other = tmp_path_factory.mktemp("windows")
    (other / "runs").mkdir()
    for path in [*track.glob("runs/*"), *track.glob("*.txt"), *track.glob("*.csv")]:
        text = path.read_bytes().replace(b"\n", b"\r\n")
        (other / path.relative_to(track)).write_bytes(mark + text)
    found = sr.evaluate(
        other / "runs", other / "qrels.txt", "nDCG@10", run_info=other / "run-info.csv"
    )
    np.testing.assert_array_equal(found.values, expected.values)
    assert found.run_info == expected.run_info
    read = sr.read_scores(other / "scores.csv")
    np.testing.assert_array_equal(read.values, sr.read_scores(track / "scores.csv").values)
    judged = sr.evaluate(other / "qrels.txt", other / "runs", "nDCG@10")
    np.testing.assert_array_equal(judged.values, expected.values)


# processes


def test_studies_work_in_processes_that_are_spawned(track):
    """Windows and macOS do not fork: what a study hands over must be imported and pickled."""
    runs, qrels = track / "runs", track / "qrels.txt"
    here = sr.evaluate(runs, qrels, "AP")
    options = {"n_samples": 20, "rng": 1}
    expected = sr.simulate(runs, qrels, "AP", **options).to_frame()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        there = sr.evaluate(runs, qrels, "AP", executor=processes)
        simulated = sr.simulate(runs, qrels, "AP", executor=processes, **options).to_frame()
        compared = processes.submit(sr.compare, here, "AP", n_samples=99).result()
    np.testing.assert_array_equal(there.values, here.values)
    assert simulated.equals(expected)
    assert str(compared) == str(sr.compare(here, "AP", n_samples=99))
