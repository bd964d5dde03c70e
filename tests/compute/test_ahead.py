"""Kernels that a second process compiles: found by the first one, never needed by it."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time

import pytest

from steadyrank.compute import ahead

KERNELS = """
import os
from steadyrank.compute.kernels import kernel, part

@part
def one_more(x):
    return x + 1

@kernel
def count(n):
    total = 0
    for i in range(n):
        total = one_more(total)
    return total

def rehearse():
    count(1)

def fail():
    raise ValueError

def die():
    os.kill(os.getpid(), 9)

def chatter():
    print("rehearsing", flush=True)
    os.write(2, b"rehearsing")
    count(1)
"""

COMMAND = """
import sys, time
from steadyrank.compute import ahead
ahead._processors = lambda: 2
if sys.argv[2] == "spawn":
    ahead._can_fork = lambda: False
import made_kernels
rehearsal = ahead.Rehearsal("made_kernels:" + sys.argv[1], frozenset({"made_kernels"}))
ahead.compile_ahead([rehearsal])
[(programme, [helper])] = ahead._UNDER_WAY
while programme.states[0] == ahead.FREE and helper.is_alive():
    time.sleep(0.01)
assert made_kernels.count(5) == 5
print(sum(made_kernels.count.stats.cache_hits.values()))
print(len(made_kernels.one_more.overloads))
"""


@pytest.fixture
def printed(tmp_path):
    """What the command prints, with an empty cache, when its helper has a function to call."""
    (tmp_path / "made_kernels.py").write_text(KERNELS)

    def run(function, how="fork"):
        environment = {
            **os.environ,
            "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)]),
        }
        words = [sys.executable, "-c", COMMAND, function, how]
        made = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        assert made.stderr == ""
        return made.stdout.split()

    return run


@pytest.mark.parametrize("how", ["fork", "spawn"])
@pytest.mark.parametrize("function", ["rehearse", "chatter"])
def test_a_rehearsed_kernel_is_loaded_and_not_compiled(printed, function, how):
    assert printed(function, how) == ["1", "0"]


@pytest.mark.parametrize("function", ["fail", "missing", "die"])
def test_a_rehearsal_that_fails_leaves_the_kernel_to_whoever_needs_it(printed, function):
    # One compilation of the part serves its first call, with the constant 0, and all others.
    assert printed(function) == ["0", "1"]


NOTHING = ahead.Rehearsal("nowhere:nothing", frozenset({"nowhere"}))


@pytest.fixture
def second_process(monkeypatch):
    """Two processors, one thread, and nothing under way."""
    monkeypatch.setattr(ahead, "_UNDER_WAY", [])
    monkeypatch.setattr(ahead, "_processors", lambda: 2)
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    return monkeypatch


@pytest.mark.parametrize(
    ("owner", "name", "number"), [(ahead, "_processors", 1), (threading, "active_count", 2)]
)
def test_one_processor_or_more_threads_compile_alone(second_process, owner, name, number):
    second_process.setattr(owner, name, lambda: number)
    second_process.setattr(os, "fork", pytest.fail)
    ahead.compile_ahead([NOTHING])
    assert not list(ahead.glances("nowhere"))


def test_no_process_is_not_an_error(second_process):
    def refuse():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    second_process.setattr(os, "fork", refuse)
    ahead.compile_ahead([NOTHING])
    assert not list(ahead.glances("nowhere"))


class Helper:
    """A second process that is still alive for so many looks at it."""

    def __init__(self, looks):
        self.looks = looks

    def is_alive(self):
        self.looks -= 1
        return self.looks >= 0


@pytest.mark.parametrize(
    ("state", "looks", "expected"),
    [(ahead.FREE, 9, 0), (ahead.TAKEN, 0, 1), (ahead.TAKEN, 2, 3), (ahead.OVER, 9, 1)],
)
def test_only_what_has_begun_is_waited_for(monkeypatch, state, looks, expected):
    programme = ahead._Programme((NOTHING,), [state])
    monkeypatch.setattr(ahead, "_UNDER_WAY", [(programme, [Helper(looks)])])
    monkeypatch.setattr(ahead, "GLANCE", 0.0)
    assert len(list(ahead.glances("nowhere"))) == expected
    assert not programme.takes(0, ahead.TAKEN)
    assert not list(ahead.glances("elsewhere"))


def test_what_the_first_process_took_itself_is_never_waited_for(monkeypatch):
    """A kernel of a module is followed by its parts, of the same module."""
    programme = ahead._Programme((NOTHING,), [ahead.FREE])
    monkeypatch.setattr(ahead, "_UNDER_WAY", [(programme, [Helper(10**6)])])
    monkeypatch.setattr(time, "sleep", pytest.fail)
    assert not list(ahead.glances("nowhere"))
    assert len(list(ahead.glances("nowhere"))) == 1


def test_of_several_helpers_the_one_that_rehearses_is_waited_for(monkeypatch):
    programme = ahead._Programme((NOTHING,), [ahead.TAKEN + 1])
    monkeypatch.setattr(ahead, "_UNDER_WAY", [(programme, [Helper(10**6), Helper(2)])])
    monkeypatch.setattr(ahead, "GLANCE", 0.0)
    assert len(list(ahead.glances("nowhere"))) == 3


@pytest.mark.parametrize(("n_processors", "expected"), [(2, 1), (3, 2), (64, 3)])
def test_one_processor_is_left_to_the_first_process(second_process, n_processors, expected):
    second_process.setattr(ahead, "_processors", lambda: n_processors)
    second_process.setattr(multiprocessing.get_context("fork").Process, "start", lambda self: None)
    second_process.setattr(ahead, "_can_fork", lambda: True)
    ahead.compile_ahead([NOTHING] * 5)
    [(programme, helpers)] = ahead._UNDER_WAY
    assert len(helpers) == expected
    assert list(programme.states) == [ahead.FREE] * 5


def test_patience_ends(monkeypatch):
    programme = ahead._Programme((NOTHING,), [ahead.TAKEN])
    monkeypatch.setattr(ahead, "_UNDER_WAY", [(programme, [Helper(10**6)])])
    monkeypatch.setattr(ahead, "PATIENCE", -1.0)
    assert not list(ahead.glances("nowhere"))


REHEARSED = """
import gc, importlib
from steadyrank.compute import ahead
ahead._processors = lambda: 1
from numba.core.registry import CPUDispatcher
from steadyrank.cli.rehearsals import of_demo, of_evaluate, of_simulate
import steadyrank as sr

rehearsals = [*of_evaluate(), *of_demo(["AP"]), *of_simulate("AP"), *of_demo(["nDCG@10", "AP"])]
modules = frozenset().union(*(rehearsal.modules for rehearsal in rehearsals))

def known():
    kernels = [thing for thing in gc.get_objects() if isinstance(thing, CPUDispatcher)]
    return {
        (kernel.py_func.__module__, kernel.py_func.__qualname__, types)
        for kernel in kernels
        if kernel.py_func.__module__ in modules
        for types in kernel.overloads
    }

for rehearsal in rehearsals:
    module, function = rehearsal.function.split(":")
    getattr(importlib.import_module(module), function)(*rehearsal.arguments)
rehearsed = known()
assert len(rehearsed) >= 10, rehearsed
scores = sr.evaluate(["run.txt", "other.txt"], "qrels.txt", name_from="file")
for measure in ("AP", "nDCG@10"):
    named = {"measure": measure, "name_from": "file"}
    sr.holes(["run.txt", "other.txt"], "qrels.txt", **named)
    sr.simulate(["run.txt", "other.txt"], "qrels.txt", n_samples=64, rng=1, **named)
sr.topics(scores, measure="AP", n_trials=9)
print(known() - rehearsed)
"""


def test_rehearsals_call_kernels_as_commands_do(tmp_path):
    """Another type of an argument would be compiled once more: nothing wrong, but slow."""
    with open(tmp_path / "qrels.txt", "w") as qrels:
        qrels.writelines(f"{t} 0 d{d} {d % 2}\n" for t in range(3) for d in range(4))
    for name in ("run", "other"):
        with open(tmp_path / f"{name}.txt", "w") as run:
            run.writelines(f"{t} Q0 d{d} {d} {9 - d} x\n" for t in range(3) for d in range(5))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    words = [sys.executable, "-W", "ignore", "-c", REHEARSED]
    made = subprocess.run(
        words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert made.stdout == "set()\n"
