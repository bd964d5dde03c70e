"""A store keeps blocks whole, refuses other settings, and notices damage."""

from __future__ import annotations

import io
import json
import os
import pickle

import numpy as np
import pytest
from plain_tables import refused

from steadyrank.compute.stores import SETTINGS, open_store
from steadyrank.errors import InputError


def test_what_was_saved_is_loaded(tmp_path):
    store = open_store(tmp_path / "a" / "b", {"seed": 1})
    block = {"x": np.arange(6.0).reshape(2, 3), "n": np.array(3)}
    assert store.load("one") is None
    store.save("one", block)
    again = open_store(tmp_path / "a" / "b", {"seed": 1}).load("one")
    assert again is not None
    np.testing.assert_array_equal(again["x"], block["x"])
    assert again["n"] == 3
    assert again.keys() == block.keys()


def test_other_settings_are_refused_by_name(tmp_path):
    open_store(tmp_path / "s", {"seed": 1, "measure": "AP"})
    with pytest.raises(InputError, match="seed: 1 there, 2 here.*another folder"):
        open_store(tmp_path / "s", {"seed": 2, "measure": "AP"})
    refused("measure", open_store, tmp_path / "s", {"seed": 1})


def test_damage_is_noticed(tmp_path):
    store = open_store(tmp_path / "s", {})
    store.save("one", {"x": np.arange(100)})
    path = tmp_path / "s" / "one.block"
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    path.write_bytes(bytes(data))
    refused("checksum.*delete it", store.load, "one")
    path.write_bytes(b"")
    refused("checksum", store.load, "one")


def test_foreign_folders_are_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    refused("neither empty nor a store", open_store, tmp_path, {})
    refused("folder", open_store, tmp_path / "notes.txt", {})
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / SETTINGS).write_text("not json")
    refused("another folder", open_store, tmp_path / "other", {})
    (tmp_path / "other" / SETTINGS).write_text(json.dumps({"format": "something else"}))
    refused("another folder", open_store, tmp_path / "other", {})


def test_nothing_pickled_is_written(tmp_path):
    store = open_store(tmp_path / "s", {})
    refused("pickle", store.save, "one", {"x": np.array([{}], dtype=object)}, error=ValueError)


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return os.mkdir, (str(self.place),)


@pytest.mark.parametrize("packed", [True, False])
def test_a_forged_block_runs_nothing(tmp_path, packed):
    """Whoever can write a store can give a block a valid checksum, but no code to run."""
    store, sprung = open_store(tmp_path / "s", {}), tmp_path / "sprung"
    buffer = io.BytesIO()
    trap = np.array([Trap(sprung)], dtype=object)
    if packed:
        np.savez(buffer, x=trap)
    else:
        pickle.dump(Trap(sprung), buffer)
    data = buffer.getvalue()
    (store.folder / "one.block").write_bytes(store._checksum("one", data) + data)
    refused(r"one\.block: holds something other than arrays", store.load, "one")
    assert not sprung.exists()
    pickle.loads(pickle.dumps(Trap(sprung)))
    assert sprung.exists(), "the trap works"
