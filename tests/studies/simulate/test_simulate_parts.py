"""Parts of a study for job arrays: one store, any order, at once, and the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.studies.simulate.view import PART_VIEW

N_SAMPLES = 2_500  # five blocks


@pytest.fixture(scope="module")
def track():
    return sr.simulated_track(n_teams=3, runs_per_team=2, n_topics=15, depth=60, pool_depth=30)


@pytest.fixture(scope="module")
def files(track, tmp_path_factory):
    """Judgments and runs in files, as arguments of the command."""
    folder = tmp_path_factory.mktemp("track")
    sr.write_qrels(track.qrels, folder / "qrels.txt")
    for one in track.runs:
        sr.write_run(one, folder / f"{one.name}.run")
    names = [str(path) for path in sorted(folder.glob("*.run"))]
    return [str(folder / "qrels.txt"), *names, "--samples", str(N_SAMPLES)]


def study(track, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        return sr.simulate(track.runs, track.qrels, **{"n_samples": N_SAMPLES, **options})


def printed(capsys, *arguments):
    capsys.readouterr()
    assert run(["simulate", *arguments, "--quiet"]) == 0
    return capsys.readouterr().out


def test_parts_in_any_order_add_up_to_the_same_bytes(files, tmp_path, capsys):
    store = ["--store", str(tmp_path / "store")]
    left = []
    for part in ("3/3", "1/3", "2/3"):
        found = json.loads(printed(capsys, *files, *store, "--part", part, "--json"))
        assert found["n_computed"] == len(range(int(part[0]) - 1, 5, 3))
        left.append(found["n_left"])
    assert left == [4, 2, 0]
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()}
    together = printed(capsys, *files, *store, "--json")
    assert together == printed(capsys, *files, "--json")
    assert before == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()}


def test_what_no_part_has_computed_is_computed_when_adding_up(track, tmp_path):
    first = study(track, store=tmp_path, part=(1, 4))
    assert first == sr.SimulatePart(part=1, n_parts=4, n_blocks=5, n_computed=2, n_kept=0, n_left=3)
    again = study(track, store=tmp_path, part=(1, 4))
    assert (again.n_computed, again.n_kept) == (0, 2)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.block")}
    whole, added = study(track), study(track, store=tmp_path)
    np.testing.assert_array_equal(added.simulated, whole.simulated)
    np.testing.assert_array_equal(added.cell_sd, whole.cell_sd)
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
    assert len(list(tmp_path.glob("*.block"))) == 5


def test_two_parts_at_once_on_one_store(files, tmp_path, capsys):
    store = ["--store", str(tmp_path / "store")]
    command = [sys.executable, "-m", "steadyrank", "simulate", *files, *store, "--quiet"]
    parts = [
        subprocess.Popen([*command, "--part", part, "--json"], stdout=subprocess.PIPE, text=True)
        for part in ("1/2", "2/2", "2/2")
    ]
    found = [json.loads(part.communicate(timeout=300)[0]) for part in parts]
    assert [part.returncode for part in parts] == [0, 0, 0]
    assert min(part["n_left"] for part in found) == 0
    assert printed(capsys, *files, *store, "--json") == printed(capsys, *files, "--json")


def test_more_parts_than_blocks(track, tmp_path):
    idle = study(track, store=tmp_path, part=(20, 20))
    assert (idle.n_computed, idle.n_kept, idle.n_left) == (0, 0, 5)
    seen = []
    study(track, store=tmp_path, part=(5, 20), progress=lambda *far: seen.append(far))
    assert seen == [(1, 1)]


def test_what_a_part_says(files, tmp_path, capsys):
    store = ["--store", str(tmp_path)]
    first, *_ = printed(capsys, *files, *store, "--part", "1/2").splitlines()
    assert first == "Part 1 of 2: 3 blocks computed, 0 kept; 2 of 5 blocks left."
    assert "all blocks are there" in printed(capsys, *files, *store, "--part", "2/2")
    rows = printed(capsys, *files, *store, "--part", "2/2", "--csv").splitlines()
    assert rows == ["part,n_parts,n_blocks,n_computed,n_kept,n_left", "2,2,5,0,2,0"]
    part = sr.SimulatePart(part=1, n_parts=2, n_blocks=5, n_computed=3, n_kept=0, n_left=2)
    assert str(part) == PART_VIEW.text(part, "table").rstrip("\n")
    assert part.to_frame().shape == (1, 6)


@pytest.mark.parametrize("part", [(0, 2), (3, 2), (1.0, 2), "1/2", (1, 2, 3)])
def test_parts_that_are_none(track, tmp_path, part):
    with pytest.raises(sr.InputError, match=r"number parts from 1|part must be two whole numbers"):
        study(track, store=tmp_path / "store", part=part)
    assert not (tmp_path / "store").exists()
    with pytest.raises(sr.InputError, match="part requires a store"):
        study(track, part=(1, 2))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--part", "1/2"], "--part requires --store DIR"),
        (["--part", "3-20", "--store", "{}"], "'3-20' is not a part: write I/N, such as 3/20"),
        (["--part", "3/2", "--store", "{}"], "part 3 of 2: number parts from 1 to 2"),
        (["--part", "1/2", "--store", "{}", "--plot", "{}.svg"], "omit --plot"),
    ],
)
def test_the_command_refuses_in_one_line(files, tmp_path, capsys, arguments, said):
    options = [one.format(tmp_path / "store") for one in arguments]
    assert run(["simulate", *files, *options]) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert (out, err.count("\n")) == ("", 1)
