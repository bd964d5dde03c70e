"""The executors that docs/scale.md shows, where they are installed: the same bytes as threads."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import steadyrank as sr

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


def snippet(package: str) -> str:
    """The script on the page that imports the package."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (found,) = [block for block in blocks if f"from {package}" in block]
    return found


@pytest.fixture
def folder(tmp_path):
    track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=12, depth=50, pool_depth=25)
    relevant = [t for t in track.qrels.topics if max(track.qrels.judgments(t).values()) > 0]
    kept = {topic: track.qrels.judgments(topic) for topic in relevant}
    sr.write_qrels(sr.qrels_from_dict(kept), tmp_path / "qrels.txt")
    (tmp_path / "runs").mkdir()
    for run in track.runs:
        sr.write_run(run, tmp_path / "runs" / f"{run.name}.run")
    return tmp_path


def printed(command: list[str], folder: Path) -> str:
    found = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.parametrize("package", ["loky", "mpi4py", "dask_jobqueue"])
def test_an_executor_elsewhere_gives_the_same_table(package, folder):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    launcher = [sys.executable]
    if package == "mpi4py":
        mpiexec = shutil.which("mpiexec") or pytest.skip("there is no mpiexec")
        launcher = [mpiexec, "-n", "2", sys.executable, "-m", "mpi4py.futures"]
    code = snippet(package)
    # Where there is no queue, dask-jobqueue's own stand-in for one.
    code = code.replace("dask_jobqueue import SLURM", "dask_jobqueue.local import Local")
    (folder / "study.py").write_text(code.replace("SLURMCluster", "LocalCluster"), "utf-8")
    plain = 'import steadyrank as sr\nprint(sr.simulate("runs/", "qrels.txt", n_samples=1000))\n'
    (folder / "plain.py").write_text(plain, "utf-8")
    there = printed([*launcher, "study.py"], folder)
    assert there == printed([sys.executable, "plain.py"], folder) != ""
