"""What comes of a task when its cluster goes away in the worst moment: an answer or one error."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import gc
import threading
import time

import pytest
from plain_tables import refused

import steadyrank as sr
from steadyrank.compute.executors import map_in_order, shared, workers

distributed = pytest.importorskip("distributed")

LONG = 600
"""Seconds after which a task is taken never to end."""
LOST = r"^the Dask cluster at \S+ was lost \([^\n]+\): start it again[^\n]+kept$"


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture(params=["scheduler", "executor"])
def opened(request, cluster):
    """Opens the cluster by its address, and by the executor of a client that the caller has."""

    @contextlib.contextmanager
    def by_executor():
        with (
            distributed.Client(cluster, set_as_default=False) as client,
            workers(executor=client.get_executor()) as pool,
        ):
            yield pool

    if request.param == "executor":
        return by_executor
    return lambda: workers(scheduler=cluster.scheduler_address)


@pytest.fixture
def gathering(monkeypatch):
    """Has something done with a client when a result has arrived, but nobody has it yet."""
    arrives = distributed.Client._gather

    def then(happens):
        async def gather(client, futures, **options):
            answer = await arrives(client, futures, **options)
            happens(client)
            return answer

        monkeypatch.setattr(distributed.Client, "_gather", gather)

    return then


def raising(error):
    def raise_it(*args, **options):
        raise error

    return raise_it


def lose_state(how):
    """What Dask does with all tasks of a client when workers or the scheduler leave."""

    def lose(client):
        for state in client.futures.values():
            getattr(state, how)()

    return lose


@pytest.mark.parametrize("how", ["reset", "retry", "lose", "cancel"])
def test_a_result_that_has_arrived_counts_whatever_state_its_task_falls_into(
    opened, gathering, how, capfd
):
    gathering(lose_state(how))
    with opened() as pool:
        assert pool.submit(abs, -1).result(LONG) == 1
        assert pool.submit(divmod, 7, 2).result(LONG) == (3, 1)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "error",
    [
        distributed.comm.CommClosedError("in <TCP (closed)>: Stream is closed"),
        OSError("Timed out trying to connect to tcp://127.0.0.1:9\nafter 30 s"),
        TimeoutError(),
        AttributeError("'NoneType' object has no attribute 'gather'"),
        KeyError("abs-0"),
        concurrent.futures.CancelledError("abs-0 cancelled\nPlease re-run your work."),
        distributed.scheduler.KilledWorker("abs-0", None, 3),
        asyncio.CancelledError(),
    ],
    ids=lambda error: f"{type(error).__module__.partition('.')[0]}.{type(error).__name__}",
)
def test_a_result_that_cannot_be_fetched_is_the_loss_of_the_cluster(
    opened, gathering, error, capfd
):
    gathering(raising(error))
    with opened() as pool, pytest.raises(sr.MachineError, match=LOST):
        pool.submit(abs, -1).result(LONG)
    gc.collect(1)  # what this test has left, not all that others have made
    assert capfd.readouterr().err == ""


def test_a_connection_that_breaks_while_a_result_arrives(opened, gathering, cluster, capfd):
    """The scheduler hangs up on clients; they lose their tasks, and find it again."""
    gathering(lambda client: client.scheduler_comm.comm.abort())
    gate = threading.Event()
    with opened() as pool:
        first, second = pool.submit(abs, -1), pool.submit(wait_for, shared(pool, GateOf(gate)))
        assert first.result(LONG) == 1
        refused(LOST, second.result, LONG, error=sr.MachineError)
    gate.set()
    assert capfd.readouterr().err == ""


class GateOf:
    """An event that workers of this process share."""

    def __init__(self, gate):
        self.number = id(gate)
        GATES[self.number] = gate


GATES = {}


def wait_for(gate):
    return GATES[gate.number].wait(LONG)


def test_tasks_given_to_a_client_that_has_closed_itself(opened, capfd):
    """As it does when it has tried long enough to find its scheduler again."""
    with opened() as pool:
        pool._client.sync(pool._client._close)
        refused(LOST, map_in_order, abs, [-1, -2], pool, error=sr.MachineError)
        refused(LOST, shared, pool, 1, error=sr.MachineError)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("error", [TimeoutError("timed out after 20 s."), AssertionError()])
def test_a_client_that_cannot_be_closed_spoils_no_result(cluster, monkeypatch, error, capfd):
    closes = distributed.Client.close
    with monkeypatch.context() as patch, workers(scheduler=cluster.scheduler_address) as pool:
        client = pool._client
        patch.setattr(distributed.Client, "close", raising(error))
        assert map_in_order(abs, [-1, -2], pool) == [1, 2]
        patch.setattr(distributed.Client, "close", raising(error))
    closes(client)
    assert capfd.readouterr().err == ""


def test_errors_of_tasks_stay_what_they_are(opened, tmp_path):
    with opened() as pool:
        with pytest.raises(FileNotFoundError, match="nowhere"):
            pool.submit(open, tmp_path / "nowhere").result(LONG)
        with pytest.raises(ZeroDivisionError):
            map_in_order(divide, [2, 1, 0], pool)
        refused("serialize", pool.submit(abs, threading.Lock()).result, LONG, error=TypeError)


def divide(number):
    return 1 / number


def test_a_cancelled_task_is_taken_from_the_cluster(opened, cluster):
    gate, before = threading.Event(), set(cluster.scheduler.tasks)
    with opened() as pool:
        running = pool.submit(wait_for, GateOf(gate))
        waiting = [pool.submit(wait_for, GateOf(gate)) for _ in range(3)]
        assert all(future.cancel() for future in waiting)
        gate.set()
        assert running.result(LONG)
        assert map_in_order(abs, [-1], pool) == [1]
        del running
        until = time.monotonic() + LONG
        while set(cluster.scheduler.tasks) - before and time.monotonic() < until:
            time.sleep(0.01)
        assert set(cluster.scheduler.tasks) <= before
