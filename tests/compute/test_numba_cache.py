"""Kernels on a Numba whose inside is not the one that was tested: slower perhaps, never wrong."""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numba
import pytest
from numba.core import caching

from steadyrank.compute import numba_cache

SOURCE = """
import numpy as np
from steadyrank.compute.kernels import inlined, kernel, lean_kernel, part, specialised

@inlined
def half(x):
    return x / 2

@part
def step(x):
    return half(x) + 1

@lean_kernel
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

INSIDE_CHANGED = """
import sys, types
from numba.core import caching, cpu
without = {name: value for name, value in vars(caching).items() if name != "IndexDataCacheFile"}
sys.modules["numba.core.caching"] = types.ModuleType("numba.core.caching")
vars(sys.modules["numba.core.caching"]).update(without)
for base in cpu.CPUTargetOptions.__mro__:
    if "_nrt" in vars(base):
        del base._nrt

from steadyrank.compute import numba_cache
assert numba_cache.UNCOUNTED == {}
import made_kernels
assert made_kernels.filled(4).tolist() == [1.0, 1.5, 2.0, 2.5]
assert made_kernels.halved(3) == 1.5
print(type(made_kernels.filled._cache._cache_file).__name__, made_kernels.filled.stats.cache_hits)
"""


@pytest.fixture
def load(tmp_path):
    """Imports a module of kernels of every kind, as another process would."""
    path = tmp_path / "made_kernels.py"
    path.write_text(SOURCE)

    def load_anew():
        spec = importlib.util.spec_from_file_location("made_kernels", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load_anew


def file_of(module):
    return module.filled._cache._cache_file


def test_the_numba_that_is_installed_has_been_tested(load):
    first, last = numba_cache.TESTED
    installed = tuple(int(n) for n in metadata.version("numba").split(".")[:2])
    assert first <= installed <= last
    assert isinstance(file_of(load()), numba_cache.KeptCode)
    assert numba_cache.UNCOUNTED == {"_nrt": False}
    assert numba_cache.NO_ENTRANCE == {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@pytest.mark.parametrize("version", ["0.60.9", "0.69.0dev0+12.gabc", "1.0", "unknown"])
def test_another_version_keeps_code_by_its_own_means(load, monkeypatch, version):
    monkeypatch.setattr(numba, "__version__", version)
    module = load()
    assert type(file_of(module)) is caching.IndexDataCacheFile
    assert module.filled(4).tolist() == EXPECTED
    again = load()
    assert numba_cache.is_kept(again.filled)
    assert again.filled(4).tolist() == EXPECTED
    assert again.filled.stats.cache_hits


class InMemory:
    """A cache's file of another Numba: the same public side, another inside."""

    def __init__(self, cache_path, filename_base, source_stamp):
        self.kept = {}

    def save(self, key, data):
        self.kept[key] = data

    def load(self, key):
        return self.kept.get(key)


def test_a_file_with_another_inside_is_left_alone(load, monkeypatch):
    monkeypatch.setattr(caching, "IndexDataCacheFile", InMemory)
    module = load()
    assert module.filled(4).tolist() == EXPECTED
    assert module.halved(3) == 1.5
    assert list(file_of(module).kept)
    assert not numba_cache.is_kept(module.filled)


@pytest.mark.parametrize("gone", ["steadyrank.compute.numba_cache\nGone", "steadyrank.gone\nGone"])
def test_an_index_that_names_what_has_been_renamed_is_written_anew(load, gone):
    file = file_of(module := load())
    assert module.filled(4).tolist() == EXPECTED
    content = pickle.dumps(numba.__version__) + f"c{gone}\n.".encode()
    Path(file._index_path).write_bytes(content)
    Path(file._index_path + numba_cache._SUM).write_text(numba_cache._checksum(content))
    assert load().filled(4).tolist() == EXPECTED
    again = load()
    assert again.filled(4).tolist() == EXPECTED
    assert again.filled.stats.cache_hits


@pytest.mark.parametrize("name", ["_open_for_write", "_dump", "_data_path", "load"])
def test_a_part_that_is_missing_is_noticed(load, name, monkeypatch):
    cache = load().filled._cache
    assert numba_cache._as_tested(cache)
    monkeypatch.delattr(caching.IndexDataCacheFile, name)
    assert not numba_cache._as_tested(cache)


COMPILER = """
import sys
import numba, numpy as np
from steadyrank.compute.numba_cache import load_compiler
load_compiler()
print("numba.np.arraymath" in sys.modules, "scipy.linalg" in sys.modules)
print(numba.njit(lambda a: np.dot(a, a))(np.ones(3)), "scipy.linalg" in sys.modules)
"""


def test_linear_algebra_is_imported_for_whom_uses_it():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    words = [sys.executable, "-c", COMPILER]
    made = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert made.stdout.splitlines() == ["True False", "3.0 True"]


def test_without_a_cache_there_is_nothing_to_keep():
    assert not numba_cache._as_tested(numba.njit(lambda x: x)._cache)
    assert not numba_cache._as_tested(None)


def test_kernels_run_where_names_are_gone_when_they_are_imported(load, tmp_path):
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)]),
    }
    for hits in ("Counter()", "Counter({"):
        made = subprocess.run(
            [sys.executable, "-c", INSIDE_CHANGED], env=environment, capture_output=True, text=True
        )
        assert made.returncode == 0, made.stderr
        assert made.stdout.startswith(f"IndexDataCacheFile {hits}")
