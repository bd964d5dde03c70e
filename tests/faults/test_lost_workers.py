"""Clusters that lose workers, gain some, or go away: the same bytes, or one clear error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from fault_trials import contents, write_inputs

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.render.pool_tables import pools_text
from steadyrank.workflows import report_sections, report_sources, report_steadiness

distributed = pytest.importorskip("distributed")

GRID = {"stop_lists": ["none", "lucene"], "lexical": ["none", "porter", "5grams"], "depth": 30}
SHARDS = {"shards": 6, "csi": 3, "partitions": 3, "cluster_samples": 1, "cluster_share": 0.2,
          "depth": 30}  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_inputs(folder)
    return folder


@pytest.fixture(scope="module")
def cluster():
    """Two workers in processes of their own; a nanny starts another one where one has died."""
    import dask

    forked = {"distributed.worker.multiprocessing-method": "forkserver"}  # they import once
    with (
        dask.config.set(forked),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0",
            memory_limit=None,
        ) as cluster,
    ):  # fmt: skip
        yield cluster


def evaluated(data, out, **options):
    """As `instances` and `compare` do before anything else, which they do here."""
    return (sr.evaluate([data / "runs"], data / "qrels.txt", "AP", **options).values,)


def simulated(data, out, **options):
    found = sr.simulate(
        [data / "runs"], data / "qrels.txt", n_samples=3000, no_relevant="skip", store=out,
        **options,
    )  # fmt: skip
    return found.simulated, found.cell_sd, found.significance.rate


def agreed(data, out, **options):
    scores = sr.evaluate([data / "runs"], data / "qrels.txt", ["AP", "P@10", "nDCG"])
    found = sr.agree(scores, topic_sizes=[5, 10, 20], system_sizes=[4, 8], n_samples=100, **options)
    return found.tau, found.tau_ap


def pooled(data, out, **options):
    found = sr.pools(
        [data / "runs"], data / "qrels.txt", run_info=data / "run-info.csv", trials=30, **options
    )
    return (pools_text(found, "json"),)


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
            victim = next(iter(cluster.workers.values()))
            killed.append(victim.pid)
            os.kill(victim.pid, signal.SIGKILL)

    return progress, killed


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
def test_a_report_that_loses_a_worker_is_the_same_page(data, cluster, tmp_path, monkeypatch):
    for module in (report_sections, report_sources, report_steadiness):
        monkeypatch.setattr(module, "figure", lambda *args, **options: [])  # slow, not at issue
    progress, killed = kill_one(cluster)

    def in_the_middle(what, done, total):
        if what == "simulated collections":
            progress(done, total)

    def page(name, **options):
        sr.report(
            [data / "runs"], data / "qrels.txt", run_info=data / "run-info.csv",
            measures=["AP", "P@10"], n_samples=1200, out=tmp_path / name, **options,
        )  # fmt: skip
        return (tmp_path / name).read_bytes()

    there = page("there.html", scheduler=cluster.scheduler_address, progress=in_the_middle)
    assert killed
    assert there == page("here.html", jobs=1)


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
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


def test_what_dask_logs_stays_out_of_stderr_from_its_import_on(cluster):
    code = f"""
import logging
from steadyrank.compute.executors import workers
with workers(scheduler={cluster.scheduler_address!r}) as pool:
    print(pool.submit(abs, -1).result())
    for name in ("distributed", "distributed.client", "distributed.core", "tornado.application"):
        logging.getLogger(name).error("lost")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_no_scheduler_is_the_callers_mistake(capsys, data, monkeypatch):
    monkeypatch.setattr("steadyrank.compute.clusters.PATIENCE", "1s")
    files = [str(data / "qrels.txt"), str(data / "runs")]
    assert run(["pools", *files, "--scheduler", "tcp://127.0.0.1:9", "--quiet"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no Dask scheduler answers" in line
