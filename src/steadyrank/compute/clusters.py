"""Tasks on a Dask cluster, and one error for all the ways in which Dask reports its loss.

Dask's own executor reads a task's state after it has fetched the result. A scheduler that leaves in
between changes that state, and the result is taken for an error, or never reported.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, Future
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from steadyrank._version import __version__
from steadyrank.errors import InputError, MachineError

PATIENCE = 10
"""Seconds to wait for a scheduler, and for its first worker."""

LONGEST = 12
"""Seconds for each answer: Dask itself waits for ever for one who is there, but silent."""

_LOGGERS = ("distributed", "distributed.client", "distributed.gc", "tornado.application", "asyncio")
"""Loggers that Dask sends to stderr, and those of its event loop."""


class Cluster(Executor):
    """An executor over a Dask client; a lost cluster is a `MachineError` of each unfinished task.

    All is done in the client's event loop, where Dask reads its tasks when the connection breaks.
    """

    def __init__(self, client: Any, address: str, **options: Any):
        self._client = client
        self._loop = client.loop
        self._address = address
        self._options = {**options, "pure": False}  # no other client has a task's key

    def submit(self, function: Any, /, *args: Any, **options: Any) -> Future[Any]:
        """Run a task on the cluster; the future has a result or an error in any case."""
        future: Future[Any] = Future()
        if self._client.status == "closed":
            future.set_exception(self._lost("it stopped answering"))
        else:
            self._loop.add_callback(self._settle, future, function, args, options)
        return future

    def share(self, value: Any) -> Any:
        """`value` as an argument of many tasks: sent once, and sent again if it is lost."""
        try:
            return self._client.sync(self._keep, value)
        except Exception as error:
            raise self._failure(error, None) from None

    async def _keep(self, value: Any) -> Any:
        return self._client.submit(_itself, value, **self._options)

    async def _settle(self, future: Future[Any], function: Any, args: Any, options: Any) -> None:
        there: Any = None
        answer, failure = None, None
        try:
            there = self._client.submit(
                run_by_version, installed(), function, *args, **options, **self._options
            )
            # Cancels a task that is no longer wanted, and frees the memory of a finished one.
            future.add_done_callback(lambda _: there.release())
            answer = await self._client.gather(there, asynchronous=True)
        except BaseException as error:  # An event loop that ends cancels its coroutines.
            failure = self._failure(error, there)
        if not future.set_running_or_notify_cancel():
            return
        if failure is None:
            future.set_result(answer)
        else:
            future.set_exception(failure)

    def _failure(self, error: BaseException, there: Any) -> BaseException:
        """What a task itself raised, or else the loss of the cluster."""
        own = self._client.status == "running" if there is None else there.status == "error"
        if own and not _is_of_dask(error):
            return error
        return self._lost(_in_words(error))

    def _lost(self, how: str) -> MachineError:
        return MachineError(
            f"the Dask cluster at {self._address} was lost ({how}): start it again and repeat "
            "the command; blocks that are in a store are kept"
        )


def run_by_version(
    versions: Mapping[str, str], function: Any, /, *args: Any, **options: Any
) -> Any:
    """Run a task, unless this worker joined later than the others and has another steadyrank."""
    _check_versions(worker_name(), installed(), versions)
    return function(*args, **options)


@cache
def installed() -> dict[str, str]:
    """What the digits of a result depend on: versions, and a digest of the package's sources."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    sources = {"steadyrank": __version__, "sources of steadyrank": digest.hexdigest()[:12]}
    return sources | {name: version(name) for name in ("numpy", "scipy", "numba")}


def worker_name() -> str:
    """The worker that runs this code, as an error names it; else this process."""
    try:
        return f"the worker {_distributed().get_worker().address}"
    except (ValueError, MachineError):
        return "another process"


def _check_versions(worker: str, theirs: Mapping[str, str], ours: Mapping[str, str]) -> None:
    """Refuse a worker that has another version, or another checkout of the same."""
    for name, known in ours.items():
        if theirs.get(name) != known:
            raise MachineError(
                f"{worker} has {name} {theirs.get(name)}, and this process {known}: install the "
                "same version everywhere"
            )


def _check_workers(client: Any, address: str) -> None:
    """Refuse a cluster without workers, or with a worker of other versions."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise MachineError(
            f"the Dask scheduler at {address} has no workers after {PATIENCE} seconds: start some "
            f"with `dask worker {address}`"
        ) from None
    for worker, theirs in client.run(installed, on_error="return").items():
        if isinstance(theirs, OSError) or _is_of_dask(theirs):
            continue  # It left meanwhile; every task checks the worker that runs it.
        if isinstance(theirs, BaseException):
            raise MachineError(
                f"the worker {worker} cannot import steadyrank ({_in_words(theirs)}): install "
                f"steadyrank {__version__} there"
            )
        _check_versions(f"the worker {worker}", theirs, installed())


def _in_words(error: BaseException) -> str:
    if isinstance(error, CancelledError):
        return "it stopped answering"
    try:
        return " ".join(str(error).split()) or "it stopped answering"
    except Exception:  # Some of Dask's errors cannot be described once the cluster is gone.
        return type(error).__name__


def _is_of_dask(thing: object) -> bool:
    return type(thing).__module__.partition(".")[0] == "distributed"


def _itself(value: Any) -> Any:
    return value


@contextlib.contextmanager
def connected(scheduler: str) -> Iterator[Cluster]:
    """Connect to the cluster at an address while the block of code runs."""
    with _without_logs_of_dask():
        client = _in_time(scheduler, partial(_client_of, scheduler))
        try:
            _in_time(scheduler, partial(_check_workers, client, scheduler))
            yield Cluster(client, scheduler)
        finally:
            # The results are here, or the error is known: an error while closing changes neither.
            with contextlib.suppress(Exception):
                client.close()


def over_client_of(executor: Executor) -> Executor:
    """Return an executor of the caller; a `Cluster` over the same client if it is Dask's own."""
    client = getattr(executor, "_client", None)
    if client is None or not _is_of_dask(executor):
        return executor
    address = getattr(client.scheduler, "address", "its address")
    return Cluster(client, address, **getattr(executor, "_kwargs", {}))


def _client_of(scheduler: str) -> Any:
    try:
        return _distributed().Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except Exception as error:  # of whatever kind: certificates, another protocol, another Dask
        raise InputError(
            f"no Dask scheduler answers at {scheduler!r}: {_in_words(error)}", code="place"
        ) from None


def _in_time(scheduler: str, ask: Callable[[], Any]) -> Any:
    """Return Dask's answer from a thread that is abandoned after LONGEST seconds."""
    answer: Future[Any] = Future()

    def settle() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=settle, daemon=True).start()
    try:
        return answer.result(LONGEST)
    except TimeoutError:
        if answer.done():
            raise
        raise InputError(
            f"the Dask cluster at {scheduler!r} does not answer after {LONGEST} seconds: is this "
            "the port of a scheduler, does it run, and do its workers?",
            code="place",
        ) from None


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise MachineError(
            "a scheduler requires the package distributed: pip install 'steadyrank[dask]'"
        ) from None


@contextlib.contextmanager
def _without_logs_of_dask() -> Iterator[None]:
    """Keep Dask's logs of a loss out of stderr: one error reports it."""
    _distributed()  # sets the levels of its loggers when it is imported
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
