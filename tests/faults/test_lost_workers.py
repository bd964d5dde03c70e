"""Clusters that lose workers, gain some, or go away: the same bytes, or one clear error."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import steadyrank as sr
from bench.faults.trials import contents, write_inputs
from steadyrank.cli import run
from steadyrank.compute.clusters import Cluster
from steadyrank.studies.pools.view import VIEW as POOLS

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow  # most of it waiting

LONG = 600
"""Seconds after which something is taken never to happen, however busy the machine is."""

GRID = {"stop_lists": ["none", "lucene"], "lexical": ["none", "porter", "5grams"], "depth": 30}
SHARDS = {
    "shards": 6,
    "csi": 3,
    "partitions": 3,
    "cluster_samples": 1,
    "cluster_share": 0.2,
    "depth": 30,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_inputs(folder)
    return folder


@pytest.fixture(scope="module")
def cluster(forked_workers):
    """Two workers in processes of their own; a nanny starts another one where one has died."""
    with (
        forked_workers(),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=None,
        ) as cluster,
    ):
        yield cluster


def evaluated(data, out, **options):
    """As `instances` and `compare` do before anything else, which they do here."""
    return (sr.evaluate([data / "runs"], data / "qrels.txt", "AP", **options).values,)


def simulated(data, out, **options):
    found = sr.simulate(
        [data / "runs"],
        data / "qrels.txt",
        n_samples=3000,
        no_relevant="skip",
        store=out,
        **options,
    )
    return found.simulated, found.cell_sd, found.significance.rate


def agreed(data, out, **options):
    scores = sr.evaluate([data / "runs"], data / "qrels.txt", ["AP", "P@10", "nDCG"])
    found = sr.agree(scores, topic_sizes=[5, 10, 20], system_sizes=[4, 8], n_samples=100, **options)
    return found.tau, found.tau_ap


def pooled(data, out, **options):
    found = sr.pools(
        [data / "runs"], data / "qrels.txt", run_info=data / "run-info.csv", n_trials=30, **options
    )
    return (POOLS.text(found, "json"),)


def gridded(data, out, **options):
    return (sr.grid(data / "collection", measures="AP", out=out, **GRID, **options).values,)


def sharded(data, out, **options):
    return (sr.shard(data / "collection", measures="AP", out=out, **SHARDS, **options).values,)


STUDIES = [evaluated, agreed, pooled, gridded, sharded]
"""`simulate` has a test of its own beside its other ones."""


def kill_one(cluster):
    """What kills a worker when the first task is done, and who was killed."""
    killed = []

    def progress(done, total):
        if not killed and done < total:
            killed.append(kill_a_worker(cluster))

    return progress, killed


def kill_a_worker(cluster):
    """One that runs: who was killed by the test before may not have a successor yet, and a nanny
    whose worker dies while it starts gives up. It also takes a moment to see that one has died.
    """
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        for nanny in cluster.workers.values():
            if nanny.process and nanny.process.status == distributed.Status.running and nanny.pid:
                victim = nanny.pid
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                    return victim
        time.sleep(0.01)
    raise TimeoutError("no worker runs")


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
@pytest.mark.parametrize("study", STUDIES)
def test_a_worker_that_dies_and_one_that_joins_change_nothing(data, cluster, tmp_path, study):
    progress, killed = kill_one(cluster)
    there = study(data, tmp_path / "there", scheduler=cluster.scheduler_address, progress=progress)
    assert killed
    here = study(data, tmp_path / "here", jobs=1)
    for found, expected in zip(there, here, strict=True):
        np.testing.assert_array_equal(found, expected)
    if (tmp_path / "here").exists():
        assert contents(tmp_path / "there") == contents(tmp_path / "here")


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
def test_a_report_that_loses_a_worker_is_the_same_page(data, cluster, tmp_path, drawn_nowhere):
    progress, killed = kill_one(cluster)

    def in_the_middle(what, done, total):
        if what == "simulated collections":
            progress(done, total)

    def page(name, **options):
        sr.report(
            [data / "runs"],
            data / "qrels.txt",
            run_info=data / "run-info.csv",
            measures=["AP", "P@10"],
            n_samples=1200,
            out=tmp_path / name,
            **options,
        )
        return (tmp_path / name).read_bytes()

    there = page("there.html", scheduler=cluster.scheduler_address, progress=in_the_middle)
    assert killed
    assert there == page("here.html", jobs=1)


@pytest.fixture
def slow_tasks(monkeypatch):
    """All tasks but the first take their time, so that a scheduler that goes away when the first
    is done takes some of them with it.
    """
    submit, number = Cluster.submit, itertools.count()

    def submit_slowly(self, *task):
        return submit(self, after_a_while, 0.5 if next(number) else 0, *task)

    monkeypatch.setattr(Cluster, "submit", submit_slowly)


def after_a_while(seconds, function, *args):
    time.sleep(seconds)
    return function(*args)


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
@pytest.mark.usefixtures("slow_tasks")
@pytest.mark.parametrize("study", [evaluated, simulated, pooled])
def test_a_scheduler_that_goes_away_is_one_error_and_what_is_stored_stays(
    data, tmp_path, study, capfd
):
    store = tmp_path / "store"
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:

        def leave(done, total):
            cluster.close()

        with pytest.raises(sr.MachineError, match="was lost.*start it again"):
            study(data, store, scheduler=cluster.scheduler_address, progress=leave)
    assert capfd.readouterr().err == ""
    if study is simulated:
        kept = contents(store)
        assert len(kept) > 1
        resumed, undisturbed = study(data, store, jobs=1), study(data, None, jobs=1)
        assert kept.items() <= contents(store).items()
        for found, expected in zip(resumed, undisturbed, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_command_whose_cluster_is_killed_says_so_in_one_line(data, tmp_path, how):
    """Both are processes of their own, and connected as two machines are."""
    store = tmp_path / "store"
    with started("-c", CLUSTER) as cluster:
        address = cluster.stdout.readline().strip()
        command = [
            "simulate",
            data / "qrels.txt",
            data / "runs",
            *("--samples", "400000", "--quiet", "--store"),
            store,
            "--scheduler",
            address,
        ]
        with started("-m", "steadyrank", *command) as running:
            until = time.monotonic() + LONG
            while not list(store.glob("*.block")) and time.monotonic() < until:
                assert running.poll() is None
                time.sleep(0.02)
            cluster.send_signal(how)
            out, err = running.communicate(timeout=LONG)
    assert (running.returncode, out) == (1, "")
    (line,) = err.splitlines()
    assert line.startswith(f"steadyrank: the Dask cluster at {address} was lost (")
    assert line.endswith("repeat the command; blocks that are in a store are kept")
    assert list(store.glob("*.block"))


@contextlib.contextmanager
def started(*words):
    """A Python of its own; it is gone in the end."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, *map(str, words)], text=True, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


CLUSTER = """
import sys
import distributed
with distributed.LocalCluster(
    n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", protocol="tcp"
) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()  # until whoever has started it is gone
"""


def test_no_scheduler_is_the_callers_mistake(capsys, data, monkeypatch):
    monkeypatch.setattr("steadyrank.compute.clusters.PATIENCE", 1)
    files = [str(data / "qrels.txt"), str(data / "runs")]
    assert run(["pools", *files, "--scheduler", "tcp://127.0.0.1:9", "--quiet"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no Dask scheduler answers" in line
