"""Commands that are killed, and what they leave; `bench.faults` tries all of them, often."""

from __future__ import annotations

import os
import random
import time

import pytest

from bench.faults.trials import try_killing, unfinished_in, write_inputs
from steadyrank.compute.files import STALE, UNFINISHED, is_unfinished, sweep, write_whole
from steadyrank.compute.stores import open_store
from steadyrank.data.read.sources import find_files


@pytest.mark.slow
def test_killed_twice_and_run_again_everything_has_the_same_bytes(tmp_path):
    """Of the commands that keep what is finished and write files, the quickest."""
    case = "shard --out --scores"
    write_inputs(tmp_path)
    tally = try_killing(case, tmp_path, tmp_path / "work", kills=2, chance=random.Random(5))
    assert tally.kills == 2
    assert tally.different == []


def litter(folder, age):
    """What a process that was killed while it wrote leaves."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f".settings.json.a1b2c3d4{UNFINISHED}"
    path.write_bytes(b"half of it")
    path.chmod(0o600)
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def test_an_unfinished_file_is_private_and_beside_its_place(tmp_path, monkeypatch):
    seen = []

    def look(handle):
        seen.extend((path, path.stat().st_mode & 0o777) for path in unfinished_in(tmp_path))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", look)
    with pytest.raises(OSError, match="result.json"):
        write_whole(tmp_path / "result.json", "{}")
    ((path, mode),) = seen
    assert (path.parent, mode) == (tmp_path, 0o600)
    assert list(tmp_path.iterdir()) == []


def test_what_the_killed_left_does_not_make_a_new_store_a_foreign_folder(tmp_path):
    left = litter(tmp_path / "store", 1.0)
    open_store(tmp_path / "store", {"seed": 1})
    assert left.exists(), "its process may be alive"
    litter(tmp_path / "track" / "runs", 1.0)
    write_inputs(tmp_path / "track")
    assert not any(is_unfinished(path.name) for path in find_files(tmp_path / "track" / "runs"))


def test_what_was_left_long_ago_is_swept_away(tmp_path):
    old, new = litter(tmp_path / "a", STALE + 60), litter(tmp_path / "b", STALE - 60)
    mine = tmp_path / "a" / ".mine"
    mine.write_text("not ours")
    os.utime(mine, (0, 0))
    sweep(tmp_path / "a")
    sweep(tmp_path / "b")
    sweep(tmp_path / "nowhere")
    assert (old.exists(), new.exists(), mine.exists()) == (False, True, True)
