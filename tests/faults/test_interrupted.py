"""Ctrl-C: one line, exit code 130, soon, and what was stored is taken up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from bench.faults.trials import write_inputs
from steadyrank import cli
from steadyrank.cli import run
from steadyrank.compute.executors import map_in_order, workers

LONG = 600
"""Seconds after which something is taken never to happen, however busy the machine is."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_inputs(folder)
    return folder


def test_ctrl_c_in_the_middle_of_a_computation(data, tmp_path):
    store = tmp_path / "store"
    command = [
        "simulate",
        str(data / "qrels.txt"),
        str(data / "runs"),
        *("--quiet", "--jobs", "2", "--samples", "400000", "--store"),
        str(store),
        "--format",
        "json",
    ]
    running = subprocess.Popen(
        [sys.executable, "-m", "steadyrank", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + LONG
    while not list(store.glob("*.block")) and time.monotonic() < deadline:
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=LONG)
    assert (running.returncode, out) == (130, "")
    assert err == f"steadyrank: interrupted; the same command continues from what is in {store}\n"
    assert not [path for path in store.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("arguments", "then"),
    [
        (["pools", "q", "r"], "the same command starts from the beginning"),
        (["report", "q", "r", "--out", "page.html"], "the same command starts from the beginning"),
        (["report", "q", "r", "--store=kept"], "the same command continues from what is in kept"),
        (
            ["grid", "c", "--out", "a", "--store", "b"],
            "the same command continues from what is in a and b",
        ),
    ],
)
def test_the_line_says_what_the_same_command_will_do(capsys, monkeypatch, arguments, then):
    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("steadyrank.cli._invoke", interrupted)
    assert run(arguments) == 130
    assert capsys.readouterr().err == f"steadyrank: interrupted; {then}\n"


@pytest.fixture
def heard():
    """Ctrl-C is heard, whatever the shell that started the tests has set."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_ctrl_c_in_a_destructor_is_not_forgotten(monkeypatch):
    class Dying:
        def __del__(self):
            raise KeyboardInterrupt

    def forget_and_go_on():
        Dying()
        time.sleep(30)

    monkeypatch.setattr(sys, "unraisablehook", cli._interrupt_again)
    with pytest.raises(KeyboardInterrupt):
        forget_and_go_on()


def test_whoever_interrupts_does_not_wait_for_what_has_not_begun(monkeypatch):
    began, gate, shutdown = [], threading.Event(), ThreadPoolExecutor.shutdown

    def task(number):
        began.append(number)
        if number:
            gate.wait(LONG)

    def interrupt(*progress):
        raise KeyboardInterrupt

    def shut_down_and_open_the_gate(pool, wait=True, **options):
        shutdown(pool, wait=False, **options)
        gate.set()
        shutdown(pool, wait=wait)

    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", shut_down_and_open_the_gate)
    with pytest.raises(KeyboardInterrupt), workers(jobs=2) as pool:
        map_in_order(task, range(500), pool, progress=interrupt)
    assert len(began) < 10
