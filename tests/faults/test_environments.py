"""Odd environments: the command does its work all the same, or says in one line what it lacks."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import steadyrank
from bench.faults.trials import write_inputs
from steadyrank.compute.kernel_cache import _is_ours

SOURCE = Path(steadyrank.__file__).parents[1]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_inputs(folder)
    return folder


def call(folder, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "steadyrank", *arguments, "--quiet"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
        capture_output=True,
        check=False,
    )


def test_kernels_say_that_they_need_a_compiler(data):
    called = call(data, "evaluate", "qrels.txt", "runs", NUMBA_DISABLE_JIT="1")
    assert called.returncode == 1
    [line] = called.stderr.decode().splitlines()
    assert line.endswith("which NUMBA_DISABLE_JIT turns off: unset that variable")


@pytest.mark.slow
def test_figures_depend_on_nobodys_matplotlibrc(data, tmp_path):
    settings = "text.usetex: True\naxes.facecolor: red\nfont.size: 30\nbackend: nowhere\n"
    (tmp_path / "matplotlibrc").write_text(settings)
    drawn = []
    for environment in ({}, {"MATPLOTLIBRC": str(tmp_path)}, {"MPLBACKEND": "module://nowhere"}):
        path = tmp_path / "figure.svg"
        drawing = ("--trials", "10", "--plot", str(path))
        called = call(data, "topics", "qrels.txt", "runs", *drawing, **environment)
        assert (called.returncode, called.stderr) == (0, b"")
        drawn.append(path.read_bytes())
    assert drawn[0] == drawn[1] == drawn[2]


def test_machine_code_is_not_taken_from_where_the_current_folder_says(data, tmp_path):
    pytest.importorskip("yaml")
    cache = tmp_path / "cache"
    (data / ".numba_config.yaml").write_text(f"cache_dir: {cache}\n")
    try:
        assert call(data, "evaluate", "qrels.txt", "runs").returncode == 0
    finally:
        (data / ".numba_config.yaml").unlink()
    assert not cache.exists()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no owners here")
def test_machine_code_of_others_is_left_alone(tmp_path, monkeypatch):
    assert _is_ours(tmp_path)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert not _is_ours(shared)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: foreign.stat().st_uid + 1)
    if foreign.stat().st_uid:
        assert not _is_ours(foreign)


@pytest.mark.skipif(sys.platform != "linux", reason="no limit on address space here")
@pytest.mark.parametrize("kilobytes", [400_000, 500_000, 700_000])
def test_little_address_space_is_told_beforehand(data, kilobytes):
    command = [sys.executable, "-m", "steadyrank", "evaluate", "qrels.txt", "runs"]
    called = subprocess.run(
        ["sh", "-c", f'ulimit -v {kilobytes} && exec "$@"', "sh", *command],
        cwd=data,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=False,
    )
    assert called.returncode == 1
    [line] = called.stderr.decode().splitlines()
    assert line.startswith(f"steadyrank: ulimit -v leaves {round(kilobytes * 1.024 / 1000)} MB of")


NO_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]


@pytest.fixture
def ordinary(tmp_path):
    """A command without the rights of root, whose home nobody can write into."""
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o555)
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root can write everywhere, and setpriv is not there")
    yield NO_RIGHTS if os.geteuid() == 0 else [], home
    home.chmod(0o755)


@pytest.fixture(scope="module")
def compared(data):
    return call(data, "compare", "qrels.txt", "runs", "--format", "json").stdout


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no rights of this kind here")
@pytest.mark.parametrize("home", ["read-only", "missing"])
def test_a_home_is_not_needed(data, compared, tmp_path, ordinary, home):
    """Beside a locale that has no letters, a far time zone, and a folder with odd letters."""
    prefix, folder = ordinary
    place = tmp_path / "a folder with \N{LATIN SMALL LETTER U WITH DIAERESIS}"
    place.mkdir()
    command = [sys.executable, "-m", "steadyrank", "compare", "qrels.txt", "runs"]
    files = ["-o", str(place / "result.json"), "--plot", str(place / "figure.svg")]
    called = subprocess.run(
        [*prefix, "sh", "-c", 'umask 077 && exec "$@"', "sh", *command, *files],
        cwd=data,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SOURCE),
            "HOME": str(folder if home == "read-only" else tmp_path / "nowhere"),
            # With LC_ALL Python itself would not start in an environment with odd letters.
            "LC_ALL" if sys.prefix.isascii() else "LANG": "C",
            "TZ": "Asia/Kathmandu",
            # Which instructions BLAS takes decides about last digits.
            **{key: value for key, value in os.environ.items() if key.startswith("OPENBLAS_")},
        },
        capture_output=True,
        check=False,
    )
    assert (called.returncode, called.stdout) == (0, b"")
    # Kernels that had to be compiled are worth a line; matplotlib's caches are not.
    lines = called.stderr.decode().splitlines()
    assert all(line.startswith("steadyrank: ") for line in lines), lines
    assert (place / "result.json").read_bytes() == compared
    assert stat.S_IMODE((place / "figure.svg").stat().st_mode) == 0o600


def test_a_backend_that_matplotlib_lacks_is_an_error_of_the_input_in_python():
    code = "import steadyrank as sr\nfrom steadyrank.present.figures import load_matplotlib\n"
    code += "try:\n    load_matplotlib()\nexcept sr.InputError as error:\n    print(error)"
    environment = {**os.environ, "MPLBACKEND": "nonsense"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert "matplotlib cannot be loaded (Key backend: 'nonsense'" in done.stdout
    assert done.stdout.endswith("unset MPLBACKEND\n")
