"""What steadyrank must not do to the machine of whoever gives it a file."""

from __future__ import annotations

import ast
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import steadyrank
from steadyrank.compute.files import whole_file

SOURCE = Path(steadyrank.__file__).parent
PROJECT = Path(__file__).parents[1] / "pyproject.toml"

FORBIDDEN = {
    "files that run when read": {
        "pickle",
        "cPickle",
        "_pickle",
        "dill",
        "cloudpickle",
        "joblib",
        "shelve",
        "marshal",
        "yaml",
    },
    "archives": {"tarfile", "zipfile", "zipimport"},
    "the network": {
        "socket",
        "ssl",
        "http",
        "urllib.request",
        "urllib3",
        "requests",
        "ftplib",
        "smtplib",
        "asyncio",
        "xmlrpc",
        "webbrowser",
    },
    "other programs": {"subprocess", "pty", "ctypes", "multiprocessing"},
}
CALLS = {
    "eval",
    "exec",
    "__import__",
    "mktemp",
    "unpack_archive",
    "extractall",
    "read_pickle",
    "system",
    "popen",
}


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "id", "") or getattr(node.func, "attr", "")


@pytest.fixture(scope="module")
def nodes() -> list[tuple[Path, ast.AST]]:
    """What the sources consist of, as far as it is looked at here, and in which file."""
    sources = sorted(SOURCE.rglob("*.py"))
    assert len(sources) > 50
    return [
        (path, node)
        for path in sources
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Call, ast.Attribute))
    ]


ALLOWED = {("form.py", "zipfile"), ("demo.py", "subprocess")}
"""Inspect's logs are zip archives, of which single members are read up to a size; the demo starts
Python to compile kernels in a second process."""


@pytest.mark.parametrize("why", FORBIDDEN)
def test_no_module_imports(nodes, why):
    names = FORBIDDEN[why]
    found = [
        f"{path.name}:{node.lineno}: {name}"
        for path, node in nodes
        for name in imported(node)
        if (name in names or name.partition(".")[0] in names) and (path.name, name) not in ALLOWED
    ]
    assert found == []


CHECKED_BEFORE = ("stores.py", "savez")
"""NumPy 1.26 takes the option for an array, so stores refuse objects themselves: test_stores.py."""


def test_no_module_runs_text_or_loads_pickles(nodes):
    found = []
    for path, node in nodes:
        name = called(node)
        bare = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if name in CALLS and (bare or name not in ("system",)):
            found.append(f"{path.name}:{node.lineno}: {name}")
        if name in ("load", "save", "savez", "savez_compressed") and ast.unparse(
            node.func
        ).startswith(("np.", "numpy.")):
            given = {key.arg: ast.unparse(key.value) for key in node.keywords}
            if given.get("allow_pickle") != "False" and (path.name, name) != CHECKED_BEFORE:
                found.append(f"{path.name}:{node.lineno}: {name} that may hold pickles")
    assert found == []


COMMANDS = """
evaluate qrels runs -m AP --format csv -o scores.csv
check qrels runs
compare --scores scores.csv
stability --scores scores.csv
plan --variance 0.1 --minimum-difference 0.1 --systems 3
topics --scores scores.csv --trials 5 --plot topics.svg
evaluate qrels runs -m AP -o scores.parquet
compare --scores scores.parquet --format json
doctor
"""

GUARDED = """
import sys

def watch(event, arguments):
    if event.startswith(("socket.", "urllib.", "http.", "ftplib.", "smtplib.", "pickle.",
                         "os.system", "subprocess.", "os.exec", "os.posix_spawn", "webbrowser.")):
        # Numba keeps machine code as pickles in a folder that is the user's own; asking for
        # the machine's name opens nothing.
        if event in ("pickle.find_class", "socket.gethostname"):
            return
        if event == "subprocess.Popen" and arguments[0] == "uname":
            return  # how Python finds out the processor's name
        raise SystemExit(f"FORBIDDEN {event} {arguments}")

from steadyrank.cli import run
import numba, matplotlib, pyarrow.parquet, scipy.stats, pandas  # what they do on import is theirs
sys.addaudithook(watch)
for line in sys.stdin.read().strip().splitlines():
    code = run([*line.split(), "--quiet"])
    if code:
        raise SystemExit(f"{line}: {code}")
"""


def test_commands_open_no_connection_and_start_no_program(tmp_path):
    (tmp_path / "runs").mkdir()
    for name in "abc":
        found = [(t, ord(name) + (t + d) % 7, d) for t in range(1, 8) for d in (1, 2)]
        lines = [f"{topic} Q0 d{document} 1 {score} {name}\n" for topic, document, score in found]
        (tmp_path / "runs" / name).write_text("".join(lines))
    judged = [f"{t} 0 d{d} {d * t % 2}\n" for t in range(1, 8) for d in range(96, 108)]
    (tmp_path / "qrels").write_text("".join(judged))
    done = subprocess.run(
        [sys.executable, "-c", GUARDED],
        input=COMMANDS,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_NUM_THREADS": "1", "MPLBACKEND": "Agg"},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "topics.svg").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_temporary_files_are_private(tmp_path, monkeypatch):
    with whole_file(tmp_path / "result") as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
        temporary.write_text("x")
    from steadyrank.cli import _keep_traceback

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    log = Path(_keep_traceback().removeprefix("details in "))
    assert log.parent == tmp_path
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a script for POSIX systems")
@pytest.mark.parametrize("versions", ["lowest", "newest"])
def test_versions_of_dependencies_hold(versions):
    """Every dependency in its lowest and its newest version: doctor, demo, a smoke test."""
    script = PROJECT.parent / ".ci" / "bounds"
    # What it installs is too much for the memory that other tests write to.
    environment = {key: value for key, value in os.environ.items() if key != "TMPDIR"}
    done = subprocess.run(
        [script, versions], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith(f"{versions} versions: ")
