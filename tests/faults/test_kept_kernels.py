"""Machine code that could not be kept, was damaged, or belongs to other sources."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest
from numba.core.caching import IndexDataCacheFile

import steadyrank
from steadyrank.compute import kernel_cache

SOURCE = """
from steadyrank.compute.kernels import kernel
@kernel
def step(x):
    return x + {by}
@kernel
def twice(x):
    return step(step(x))
"""


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Writes a module of two kernels, one compiled into the other, and imports it anew."""

    def load(by):
        path = tmp_path / "made_kernels.py"
        path.write_text(SOURCE.format(by=by))
        kernel_cache._folder.cache_clear()
        spec = importlib.util.spec_from_file_location("made_kernels", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "made_kernels", module)
        spec.loader.exec_module(module)
        return module

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return load


def test_killed_between_index_and_code_the_next_process_does_not_run_old_code(sources, monkeypatch):
    assert sources(1).twice(0) == 2

    def killed(self, name, *rest):
        raise KeyboardInterrupt

    for by, moment in ((10, "_save_data"), (100, "_save_index")):
        module = sources(by)
        with monkeypatch.context() as patch:
            patch.setattr(IndexDataCacheFile, moment, killed)
            with pytest.raises(KeyboardInterrupt):
                module.twice(0)
        assert sources(by).twice(0) == 2 * by


def test_kept_code_is_used_and_old_code_goes(sources, tmp_path, monkeypatch):
    monkeypatch.setitem(kernel_cache.FOLDERS_KEPT, "own", 2)
    assert sources(1).twice(0) == 2
    again = sources(1)
    assert kernel_cache.is_kept(again.twice)
    assert again.twice(0) == 2
    assert again.twice.stats.cache_hits
    assert sources(1).twice(0.5) == 2.5
    kept = set(tmp_path.rglob("*twice*.nbc"))
    assert len(kept) == 2
    assert sources(10).twice(0) == 20
    assert sources(100).twice(0) == 200
    left = set(tmp_path.rglob("*twice*.nbc"))
    assert len(left) == 2
    assert not left & kept


def test_killed_before_the_checksum_is_written_code_is_compiled_again(sources, tmp_path):
    assert sources(1).twice(0) == 2
    [noted] = tmp_path.rglob("*.twice.sum")
    noted.unlink()
    again = sources(1)
    assert not kernel_cache.is_kept(again.twice)
    assert again.twice(0) == 2


def emptied(content):
    return b""


def halved(content):
    return content[: len(content) // 2]


def flipped(content):
    return bytes(
        byte ^ (4 if place == len(content) // 2 else 0) for place, byte in enumerate(content)
    )


@pytest.mark.parametrize("damage", [emptied, halved, flipped])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_damaged_code_is_noticed_before_it_is_loaded(sources, tmp_path, kind, damage):
    """A flipped bit in machine code would crash the process, or change its results."""
    module = sources(1)
    assert (module.twice(0), module.step(0.5)) == (2, 1.5)
    for path in tmp_path.rglob(f"*.twice-*.{kind}"):
        path.write_bytes(damage(path.read_bytes()))
    again = sources(1)
    assert again.twice(0) == 2
    assert not again.twice.stats.cache_hits
    assert again.step(0.5) == 1.5
    assert again.step.stats.cache_hits
    later = sources(1)
    assert later.twice(0) == 2
    assert later.twice.stats.cache_hits


def test_a_full_disk_does_not_stop_kernels(sources, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=4096))
    kernel_cache._home.cache_clear()
    module = sources(1)
    assert module.twice(0) == 2
    assert not kernel_cache.is_kept(module.twice)
    kernel_cache._home.cache_clear()


def test_processes_that_keep_the_same_code_at_once(tmp_path):
    (tmp_path / "made_kernels.py").write_text(SOURCE.format(by=3))
    call = (
        "from made_kernels import twice; "
        "print(twice(1), twice(0.5), sum(twice.stats.cache_hits.values()))"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(steadyrank.__file__).parents[1])])
    command = [sys.executable, "-c", call]
    options = {"env": {**os.environ, "PYTHONPATH": path}, "stdout": subprocess.PIPE, "text": True}
    at_once = [subprocess.Popen(command, **options) for _ in range(3)]
    printed = [process.communicate(timeout=600)[0].split() for process in at_once]
    assert [process.returncode for process in at_once] == [0, 0, 0]
    assert [words[:2] for words in printed] == [["7", "6.5"]] * 3
    later = subprocess.run(command, **options, check=True)
    assert later.stdout.split() == ["7", "6.5", "2"]
