"""Kernels that a second process compiles: found by the first one, never needed by it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from steadyrank.compute import ahead

KERNELS = """
import numpy as np
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
"""

COMMAND = """
import sys
from steadyrank.compute import ahead
ahead._processors = lambda: 2
import made_kernels
rehearsal = ahead.Rehearsal("made_kernels:" + sys.argv[1], frozenset({"made_kernels"}))
ahead.compile_ahead([rehearsal])
assert made_kernels.count(5) == 5
print(sum(made_kernels.count.stats.cache_hits.values()))
print(len(made_kernels.one_more.overloads))
"""


@pytest.fixture
def printed(tmp_path):
    """What the command prints, with an empty cache, when its helper has a function to call."""
    (tmp_path / "made_kernels.py").write_text(KERNELS)

    def run(function):
        environment = {
            **os.environ,
            "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)]),
        }
        words = [sys.executable, "-c", COMMAND, function]
        made = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        assert made.stderr == ""
        return made.stdout.split()

    return run


def test_a_rehearsed_kernel_is_loaded_and_not_compiled(printed):
    assert printed("rehearse") == ["1", "0"]


@pytest.mark.parametrize("function", ["fail", "missing"])
def test_a_rehearsal_that_fails_leaves_the_kernel_to_whoever_needs_it(printed, function):
    # One compilation of the part serves its first call, with the constant 0, and all others.
    assert printed(function) == ["0", "1"]


def test_one_processor_compiles_alone(monkeypatch):
    monkeypatch.setattr(ahead, "_processors", lambda: 1)
    monkeypatch.setattr(subprocess, "Popen", pytest.fail)
    ahead.compile_ahead([ahead.Rehearsal("nowhere:nothing", frozenset())])
    assert not ahead.wait_for("nowhere")


def test_no_process_is_not_an_error(monkeypatch):
    monkeypatch.setattr(ahead, "_processors", lambda: 2)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    ahead.compile_ahead([ahead.Rehearsal("nowhere:nothing", frozenset())])
    assert not ahead.wait_for("nowhere")


REHEARSED = """
import gc
from steadyrank.compute import ahead
ahead._processors = lambda: 1
from numba.core.registry import CPUDispatcher
from steadyrank.measures.rehearsal import SCORING, score_two_documents
from steadyrank.studies.simulate.rehearsal import (
    SAMPLING, SIMULATING, sample_one_document, simulate_two_topics
)
import steadyrank as sr

modules = SCORING.modules | SAMPLING.modules | SIMULATING.modules

def known():
    kernels = [thing for thing in gc.get_objects() if isinstance(thing, CPUDispatcher)]
    return {
        (kernel.py_func.__qualname__, types)
        for kernel in kernels
        if kernel.py_func.__module__ in modules
        for types in kernel.overloads
    }

score_two_documents()
sample_one_document()
simulate_two_topics()
rehearsed = known()
assert len(rehearsed) >= 10, rehearsed
sr.evaluate(["run.txt"], "qrels.txt")
sr.simulate(["run.txt", "other.txt"], "qrels.txt", n_samples=64, name_from="file", rng=1)
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
