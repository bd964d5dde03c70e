"""Helpers that many tests share."""

from __future__ import annotations

import atexit
import gc
import gzip
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest


def _folder_for_now() -> str:
    folder = tempfile.mkdtemp(prefix="steadyrank-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _have_a_home() -> None:
    """Other packages write into the home; where nobody can, they get one for the time being."""
    with suppress(RuntimeError):
        if os.access(Path.home(), os.W_OK):
            return
    os.environ["HOME"] = os.environ["USERPROFILE"] = _folder_for_now()


def _write_into_memory() -> None:
    """Tests write many thousands of small files, for which a disk takes longer than the tests."""
    memory = Path("/dev/shm")
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK):
        return
    if shutil.disk_usage(memory).free > 2**31:
        # pytest keeps what failing tests wrote; the rest, of examples and of Dask, goes at the end.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))
        tempfile.tempdir = str(memory)
        os.environ["TMPDIR"] = tempfile.tempdir = _folder_for_now()


_write_into_memory()
_have_a_home()

# Where bytecode is not kept, each of the many commands that tests start compiles the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Every processor has a worker of its own: threads of BLAS would only wait for one another, busily.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What is imported and collected stays; to look through it for garbage again and again takes longer
# than to collect it.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 100)  # not after every 700 objects: the command does so too


LONGEST = ("test_release.py", "test_supply.py", "test_tools.py", "test_pages.py")


def pytest_collection_modifyitems(items):
    """Put the files of the longest checks first, so that no worker waits for them at the end."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write text or bytes into a file of a temporary folder, packed if its name ends in .gz."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file


@pytest.fixture(scope="session")
def least_seconds() -> Callable[..., float]:
    """Least processor seconds of a call in this thread: a wall clock also times the neighbours."""

    def measure(call: Callable[[], object], attempts: int = 5) -> float:
        seconds = []
        for _ in range(attempts):
            start = time.thread_time()
            call()
            seconds.append(time.thread_time() - start)
        return min(seconds)

    return measure


_watched: list[Counter[str]] = []


def _note_opening(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _watched:
        _watched[-1][str(arguments[0])] += 1


@contextmanager
def _counted_openings() -> Iterator[Counter[str]]:
    _watched.append(Counter())
    try:
        yield _watched[-1]
    finally:
        _watched.pop()


@pytest.fixture(scope="session")
def opened_files() -> Callable[[], AbstractContextManager[Counter[str]]]:
    """Counts how often each file is opened in a block, by Python's own audit events."""
    sys.addaudithook(_note_opening)
    return _counted_openings


class Elsewhere(Executor):
    """Runs tasks as another machine would: all that goes there and back is pickled."""

    def __init__(self):
        self.tasks = 0

    def submit(self, function, /, *arguments, **options):
        self.tasks += 1
        future = Future()
        function, arguments, options = pickle.loads(pickle.dumps((function, arguments, options)))
        try:
            future.set_result(pickle.loads(pickle.dumps(function(*arguments, **options))))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture
def elsewhere() -> Elsewhere:
    """An executor that counts its tasks and shares no memory with this process."""
    return Elsewhere()


@pytest.fixture(scope="session", autouse=True)
def _one_thread_each() -> Iterator[None]:
    """Every processor has a worker already; tests of threads, and commands, take as many as usual.

    Threads that do not find a processor wait for one another, and more so the more there are.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("steadyrank.compute.executors.default_jobs", lambda: 1)
        yield


@pytest.fixture(scope="session")
def forked_workers() -> Callable[[], AbstractContextManager[object]]:
    """Within it, the worker processes of a Dask cluster begin with all that they would import."""
    dask = pytest.importorskip("dask")
    utils = pytest.importorskip("distributed.utils")

    def forked() -> AbstractContextManager[object]:
        return dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})

    with forked():
        utils.get_mp_context().set_forkserver_preload(["distributed", "steadyrank.reporting.run"])
    return forked


@pytest.fixture(autouse=True)
def _no_progress_of_slow_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is shown after some seconds; tests of what a command tells must not wait for it."""
    monkeypatch.setattr("steadyrank.cli.output.PATIENCE", 1e6)


@pytest.fixture
def drawn_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave figures out of reports where they are not at issue: they take most of the time."""
    monkeypatch.setattr("steadyrank.reporting.page.figure", lambda *args, **options: [])


@pytest.fixture
def drawn_only(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Leave figures out of reports but those whose ids begin so."""
    from steadyrank.reporting import page

    draw = page.figure

    def leave_out(beginning: str) -> None:
        def figure(id: str, *args: object, **options: object) -> list[object]:
            return draw(id, *args, **options) if id.startswith(beginning) else []

        monkeypatch.setattr(page, "figure", figure)

    return leave_out


@pytest.fixture(scope="session")
def builtin_collection():
    """The collection that comes with steadyrank, as installed here."""
    import steadyrank as sr

    return sr.builtin_collection()


@pytest.fixture(scope="session")
def builtin_runs():
    """The runs that its judgments were pooled from, not as deep."""
    import steadyrank as sr

    return sr.builtin_runs(depth=100)


@pytest.fixture(scope="session")
def builtin_instances():
    """The instances of selective search on it, not as deep either."""
    import steadyrank as sr

    return sr.builtin_instances(depth=100)
