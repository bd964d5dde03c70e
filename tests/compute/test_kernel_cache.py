"""Where machine code is kept: by the sources behind it, in a folder of ours, and nowhere else."""

from __future__ import annotations

import ast
import importlib.util
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest
from numba.core.dispatcher import Dispatcher

import steadyrank
from steadyrank.compute import kernel_cache

SOURCE = """
import numpy as np
from steadyrank.compute.kernels import inlined, kernel, part, specialised

@inlined
def half(x):
    return x / 2

@part
def step(x):
    return half(x) + 1

@kernel
def fill(out):
    for i in range(len(out)):
        out[i] = step(out[i])

@kernel
def filled(n):
    out = np.arange(n) * 1.0
    fill(out)
    return out

def template(x):
    return operation(x)

halved = specialised(template, "halved", operation=half)
"""
EXPECTED = [1.0, 1.5, 2.0, 2.5]


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Imports a module of kernels of every kind, as another process would."""
    path = tmp_path / "made_kernels.py"

    def load_anew(source=SOURCE):
        path.write_text(source)
        kernel_cache._folder.cache_clear()
        spec = importlib.util.spec_from_file_location("made_kernels", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "made_kernels", module)
        spec.loader.exec_module(module)
        return module

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    return load_anew


def folders(tmp_path):
    return [path for path in (tmp_path / "kept" / "steadyrank-kernels").iterdir() if path.is_dir()]


def test_kernels_of_every_kind_are_compiled_and_kept(load):
    module = load()
    assert not kernel_cache.is_kept(module.filled)
    assert module.filled(4).tolist() == EXPECTED
    assert module.halved(3) == 1.5
    assert module.step(3) == 2.5  # a part is a plain function in Python
    again = load()
    assert kernel_cache.is_kept(again.filled)
    assert again.filled(4).tolist() == EXPECTED
    assert sum(again.filled.stats.cache_hits.values()) == 1


def test_all_kernels_of_the_packages_have_one_folder():
    """Other folders would be those of users, and remove each other."""
    names = {"steadyrank", "steadyrank_lab"}
    modules = [
        module.name
        for name in names
        for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}.")
        if not module.name.endswith("__main__")
    ]
    kernels = [
        value
        for module in modules
        for value in vars(importlib.import_module(module)).values()
        if isinstance(value, Dispatcher) and value.__module__.partition(".")[0] in names
    ]
    assert len(kernels) > 40
    assert {kernel_cache._foreign(kernel.py_func) for kernel in kernels} == {frozenset()}


def test_of_former_folders_the_last_ones_stay(load, tmp_path, monkeypatch):
    monkeypatch.setitem(kernel_cache.FOLDERS_KEPT, "own", 2)
    for by in (1, 10, 100):
        module = load(SOURCE.replace("+ 1", f"+ {by}"))
        assert module.filled(2).tolist() == [by, by + 0.5]
    assert len(folders(tmp_path)) == 2
    back = load(SOURCE.replace("+ 1", "+ 10"))
    assert back.filled(2).tolist() == [10, 10.5]
    assert back.filled.stats.cache_hits


def test_settings_of_numba_are_as_they_were_and_other_functions_lie_where_they_did(load, tmp_path):
    given = numba.config.CACHE_DIR
    load().filled(1)
    assert given == numba.config.CACHE_DIR == str(tmp_path / "kept")
    own = numba.njit(cache=True)(lambda x: x + 1)
    assert Path(own.stats.cache_path).parent == tmp_path / "kept"


def test_kernels_use_constants_of_sources_that_the_digest_has():
    """A constant of another module would be compiled in, and kept when it has changed."""
    package = Path(steadyrank.__file__).parent
    defining, wrong = [], []
    for path in [*package.rglob("*.py"), *package.with_name("steadyrank_lab").rglob("*.py")]:
        if kernel_cache.DEFINES in path.read_bytes():
            defining.append(".".join(path.relative_to(package.parent).with_suffix("").parts))
    for module in defining:
        tree = ast.parse(package.parent.joinpath(*module.split(".")).with_suffix(".py").read_text())
        elsewhere = {
            alias.asname or alias.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("steadyrank")
            for alias in node.names
            if not {node.module, f"{node.module}.{alias.name}"} & {*defining}
        }
        for node in tree.body:
            marks = getattr(node, "decorator_list", [])
            if any(
                isinstance(m, ast.Name) and m.id in ("kernel", "part", "inlined") for m in marks
            ):
                used = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
                wrong += [f"{module}.{node.name}: {name}" for name in used & elsewhere]
    assert len(defining) > 20
    assert wrong == []


DRAWN = """
import numpy as np
from steadyrank.stats.instances.kernels import drawn_positions, words_of
n = words_of(30)
words, positions = np.empty(16 * n, np.uint64), np.empty(16 * n, np.uint64)
drawn_positions(1, 0, 0, 30, n, words, positions)
print(int(positions.sum()), sum(drawn_positions.stats.cache_hits.values()))
"""


def test_a_change_in_a_part_of_another_module_compiles_its_callers_anew(tmp_path):
    """Also where size and time of the changed file stay what they were."""
    package = tmp_path / "steadyrank"
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(steadyrank.__file__).parent, package, ignore=leave)
    part = package / "compute" / "kernels.py"
    source = part.read_text()
    assert "WORD(27)" in source

    def draw():
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        words = [sys.executable, "-c", DRAWN]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split()

    first, times = draw(), part.stat()
    assert first[1] == "0"
    part.write_text(source.replace("WORD(27)", "WORD(26)"))
    os.utime(part, ns=(times.st_atime_ns, times.st_mtime_ns))
    changed = draw()
    assert changed[0] != first[0]
    assert changed[1] == "0"
    part.write_text(source)
    assert draw() == [first[0], "1"]


@pytest.fixture
def homes(tmp_path, monkeypatch):
    """A package and a user's cache folder instead of the real ones."""
    for name in ("package", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(kernel_cache, "PACKAGE", tmp_path / "package")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    yield lambda given="": kernel_cache._home.__wrapped__(given)
    (tmp_path / "package").chmod(0o755)


def test_code_lies_where_numba_was_told_else_beside_the_sources(homes, tmp_path):
    assert homes() == tmp_path / "package" / "__pycache__" / "steadyrank-kernels"
    assert homes(str(tmp_path / "told")) == tmp_path / "told" / "steadyrank-kernels"


def test_code_lies_in_the_users_cache_where_the_package_cannot_be_written(homes, tmp_path):
    (tmp_path / "package" / "__pycache__").write_text("a file in its place")
    assert homes() == tmp_path / "home" / "steadyrank-kernels"
    (tmp_path / "home" / "steadyrank-kernels").rmdir()
    (tmp_path / "home" / "steadyrank-kernels").write_text("here too")
    assert homes() is None


def test_where_no_home_is_known_nothing_is_kept(homes, tmp_path, monkeypatch):
    (tmp_path / "package" / "__pycache__").write_text("a file in its place")
    monkeypatch.delenv("XDG_CACHE_HOME")

    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    assert homes() is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no owners here")
def test_code_is_not_kept_where_others_could_change_it(homes, tmp_path):
    (tmp_path / "package" / "__pycache__").mkdir()
    (tmp_path / "package" / "__pycache__").chmod(0o777)
    assert homes() == tmp_path / "home" / "steadyrank-kernels"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no owners here")
@pytest.mark.parametrize(
    ("name", "group", "members", "is_kept"),
    [
        ("me", 7, [], True),
        ("me", 7, ["me"], True),
        ("me", 7, ["me", "eve"], False),
        ("staff", 7, [], False),
        ("me", 8, [], False),
    ],
)
def test_a_group_may_write_where_it_is_the_users_alone(
    homes, tmp_path, monkeypatch, name, group, members, is_kept
):
    import grp
    import pwd

    own = tmp_path / "package" / "__pycache__"
    own.mkdir()
    own.chmod(0o775)
    user = SimpleNamespace(pw_name="me", pw_gid=group)
    found = SimpleNamespace(gr_name=name, gr_gid=7, gr_mem=members)
    monkeypatch.setattr(pwd, "getpwuid", lambda user_id: user)
    monkeypatch.setattr(grp, "getgrgid", lambda group_id: found)
    home = own if is_kept else tmp_path / "home"
    assert homes() == home / "steadyrank-kernels"
