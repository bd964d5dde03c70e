"""Stores that were damaged, mixed up, or made by others; two processes in one store."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bench.faults.trials import contents, write_inputs
from steadyrank.cli import run
from steadyrank.compute import stores
from steadyrank.compute.stores import SETTINGS, open_store
from steadyrank.errors import InputError


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_inputs(folder)
    return folder


def simulate(data, store, *more):
    files = [str(data / "qrels.txt"), str(data / "runs")]
    command = ["simulate", *files, "--samples", "600", "--quiet", "--store", str(store)]
    return run([*command, *map(str, more)])


@pytest.fixture(scope="module")
def kept(data, tmp_path_factory):
    """A finished study's store: two blocks."""
    store = tmp_path_factory.mktemp("kept") / "store"
    assert simulate(data, store) == 0
    return store


def cut(path):
    path.write_bytes(path.read_bytes()[:-7])


def emptied(path):
    path.write_bytes(b"")


def flipped(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def another_block(path):
    shutil.copy(path.with_name("samples-000001.block"), path)


@pytest.mark.parametrize("damage", [cut, emptied, flipped, another_block])
def test_a_damaged_block_is_refused_by_name(capsys, data, kept, tmp_path, damage):
    store = tmp_path / "store"
    shutil.copytree(kept, store)
    damage(store / "samples-000000.block")
    capsys.readouterr()
    assert simulate(data, store) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{store / 'samples-000000.block'}: its checksum does not match" in line
    (store / "samples-000000.block").unlink()
    assert simulate(data, store) == 0
    assert contents(store) == contents(kept)


def test_a_block_of_another_study_is_refused(capsys, data, kept, tmp_path):
    other = tmp_path / "other"
    assert simulate(data, other, "--seed", 1) == 0
    (other / "samples-000000.block").unlink()
    shutil.copy(kept / "samples-000000.block", other)
    capsys.readouterr()
    assert simulate(data, other, "--seed", 1) == 2
    assert "written by another study" in capsys.readouterr().err
    # Nor does it help to say that these settings made it.
    shutil.copy(kept / SETTINGS, other)
    (other / "samples-000000.block").unlink()
    assert simulate(data, other) == 2
    assert "samples-000001.block: its checksum does not match" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text[: len(text) // 2], "does not hold the settings of a store"),
        (lambda text: "", "does not hold the settings of a store"),
        (lambda text: text.replace("store 2", "store 1"), "is not a store of this version"),
        (lambda text: json.dumps({**json.loads(text), "version": "0.0.1"}), 'version: "0.0.1"'),
        (lambda text: json.dumps({**json.loads(text), "seed": 9}), "seed: 9 there, 0 here"),
    ],
)
def test_other_settings_are_refused(capsys, data, kept, tmp_path, change, told):
    store = tmp_path / "store"
    shutil.copytree(kept, store)
    (store / SETTINGS).write_text(change((store / SETTINGS).read_text()))
    before = contents(store)
    capsys.readouterr()
    assert simulate(data, store) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert contents(store) == before


def test_two_processes_in_one_store(data, kept, tmp_path, capsys):
    command = [
        *(sys.executable, "-m", "steadyrank", "simulate"),
        str(data / "qrels.txt"),
        str(data / "runs"),
        *("--samples", "600", "--quiet", "--store", "store"),
    ]
    both = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    printed = {process.communicate(timeout=600)[0] for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert simulate(data, kept) == 0
    assert printed == {capsys.readouterr().out}
    assert contents(tmp_path / "store") == contents(kept)


def test_of_many_that_open_a_new_store_at_once_one_wins(tmp_path, monkeypatch):
    """All see an empty folder, then write; those with other settings than the first give up."""
    at_once, check = threading.Barrier(6, timeout=600), stores._check_empty

    def all_together(path):
        check(path)
        at_once.wait()

    monkeypatch.setattr(stores, "_check_empty", all_together)

    def open_one(number):
        try:
            return open_store(tmp_path / "s", {"seed": number % 2})
        except InputError:
            return None

    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(open_one, range(6)))
    won = json.loads((tmp_path / "s" / SETTINGS).read_text())["seed"]
    assert [store is not None for store in found] == [number % 2 == won for number in range(6)]


def test_where_there_are_no_links_the_last_settings_stay(tmp_path, monkeypatch):
    def unsupported(*arguments, **options):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", unsupported)
    open_store(tmp_path / "s", {"seed": 1}).save("one", {"x": np.arange(3)})
    assert open_store(tmp_path / "s", {"seed": 1}).load("one") is not None
    with pytest.raises(InputError, match="seed"):
        open_store(tmp_path / "s", {"seed": 2})
