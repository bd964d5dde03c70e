"""Independent tasks on threads, or on whatever executor the caller brings.

Results come back in the order of the tasks, so nothing downstream can depend
on which thread was faster.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any, TypedDict, TypeVar

from threadpoolctl import ThreadpoolController

from steadyrank.compute.clusters import Cluster, connected, over_client_of
from steadyrank.errors import arg, bad_value, check_count

Task = TypeVar("Task")
Answer = TypeVar("Answer")

Progress = Callable[[int, int], None]
"""Called with (finished, total) each time a task ends."""


def default_jobs() -> int:
    """The number of processors that this process may use."""
    there_is = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if there_is else os.cpu_count() or 1


@contextlib.contextmanager
def workers(
    *, jobs: int | None = None, scheduler: str | None = None, executor: Executor | None = None
) -> Iterator[Executor]:
    """The caller's executor, a Dask cluster's at `scheduler`, or `jobs` threads of this process."""
    if executor is not None:
        if not hasattr(executor, "submit"):
            what = "be a concurrent.futures.Executor"
            raise bad_value("executor", what, executor, f"for threads give {arg('jobs=')}")
        yield over_client_of(executor)
        return
    if scheduler is not None:
        with connected(scheduler) as cluster:
            yield cluster
        return
    if jobs is not None:
        check_count("jobs", jobs)
    if (jobs or default_jobs()) == 1:
        yield _Here()
        return
    threads = ThreadPoolExecutor(jobs or default_jobs())
    try:
        yield threads
    except BaseException:
        # After Ctrl-C no further task starts.
        threads.shutdown(cancel_futures=True)
        raise
    threads.shutdown()


class _Here(Executor):
    """Runs each task when it is submitted: another thread would only add to the work."""

    def submit(self, function: Any, /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **options))
        except Exception as error:
            future.set_exception(error)
        return future


def map_in_order(
    function: Callable[[Task], Answer],
    tasks: Iterable[Task],
    executor: Executor,
    *,
    progress: Progress | None = None,
) -> list[Answer]:
    """`[function(task) for task in tasks]`, in parallel; the first failure stops the rest."""
    whole = list(tasks)
    return list(_in_order(function, whole, executor, progress, ahead=len(whole)))


def stream_in_order(
    function: Callable[[Task], Answer],
    tasks: Sequence[Task],
    executor: Executor,
    *,
    progress: Progress | None = None,
) -> Iterator[Answer]:
    """As `map_in_order`, one answer at a time: no more are made ahead than there are processors."""
    return _in_order(function, tasks, executor, progress, ahead=default_jobs() + 1)


def _in_order(
    function: Callable[[Task], Answer],
    tasks: Sequence[Task],
    executor: Executor,
    progress: Progress | None,
    *,
    ahead: int,
) -> Iterator[Answer]:
    """Answers in the order of the tasks, of which `ahead` are submitted before they are needed.

    If several tasks fail, the error of the first task is raised, whatever the timing.
    """
    waiting: deque[Future[Answer]] = deque()
    coming = iter(tasks)
    try:
        for finished in range(1, len(tasks) + 1):
            # What runs where it is submitted is not begun before it is needed.
            wanted = 1 if isinstance(executor, _Here) else ahead - len(waiting)
            waiting.extend(executor.submit(function, task) for task in islice(coming, wanted))
            yield waiting.popleft().result()
            if progress is not None:
                progress(finished, len(tasks))
    finally:
        for future in waiting:
            future.cancel()


def as_finished(
    function: Callable[[Any, Task], Answer], value: Any, tasks: Iterable[Task], executor: Executor
) -> Iterator[tuple[Task, Answer]]:
    """(task, function(value, task)) as they are done, a limited number at a time.

    Answers are handed on and let go, so that memory does not grow with the number of tasks.
    """
    there = shared(executor, value)
    waiting: dict[Future[Answer], Task] = {}
    try:
        for task in tasks:
            waiting[executor.submit(function, there, task)] = task
            if len(waiting) >= 64:
                wait(waiting, return_when=FIRST_COMPLETED)
            for future in [future for future in waiting if future.done()]:
                yield waiting.pop(future), future.result()
        while waiting:
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(future), future.result()
    finally:
        for future in waiting:
            future.cancel()


@functools.lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Looked for where modules have been imported since: that takes longer than many a fit."""
    return ThreadpoolController()


def one_blas_thread() -> contextlib.AbstractContextManager[object]:
    """Limit BLAS to one thread, in this process, while a block of code runs."""
    limit: contextlib.AbstractContextManager[object]
    limit = _libraries(len(sys.modules)).limit(limits=1, user_api="blas")
    return limit


class Machine(TypedDict, total=False):
    """Who works, and who is told how far the work is."""

    jobs: int | None
    scheduler: str | None
    executor: Executor | None
    progress: Progress | None


def map_shared(
    function: Callable[[Any, Task], Answer],
    value: Any,
    tasks: Iterable[Task],
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Answer]:
    """`[function(value, task) for task in tasks]` by workers, each of which gets `value` once.

    BLAS has one thread everywhere: how it splits a product may change the last bits.
    """
    with workers(jobs=jobs, scheduler=scheduler, executor=executor) as pool, one_blas_thread():
        there = shared(pool, value)
        # This limit does not hold elsewhere; here, the first task to end must not lift it.
        elsewhere = is_elsewhere(pool)
        jobs_of_pool = [(function, there, task, elsewhere) for task in tasks]
        return map_in_order(_call, jobs_of_pool, pool, progress=progress)


def _call(job: tuple[Callable[[Any, Any], Answer], Any, Any, bool]) -> Answer:
    function, value, task, is_limited = job
    with one_blas_thread() if is_limited else contextlib.nullcontext():
        return function(value, task)


def shared(executor: Executor, value: Any) -> Any:
    """`value` as an argument of many tasks: on a cluster it is sent once, and again if lost."""
    return executor.share(value) if isinstance(executor, Cluster) else value


def is_elsewhere(executor: Executor) -> bool:
    """Whether an executor runs its tasks outside this process, as far as one can tell."""
    return not isinstance(executor, (_Here, ThreadPoolExecutor))
