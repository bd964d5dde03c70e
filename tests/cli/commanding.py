"""Calling a command as people do, in this process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from steadyrank.cli import run


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Return the exit code, what was printed, and what was told on stderr."""
    code = run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Return the one line on stderr of a command that refuses its arguments with code 2."""
    code, out, err = call(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    return err


def answered(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    """Return the JSON that a command prints, which tells nothing on stderr."""
    code, out, err = call(capsys, *arguments)
    assert (code, err) == (0, "")
    return json.loads(out)
