"""Calling a command as people do, in this process."""

from __future__ import annotations

import pytest

from steadyrank.cli import run


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, what was printed, and what was told on stderr.

    No word of an extra that a machine lacks: what is told must be the same on all.
    """
    code = run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    told = captured.err.splitlines(keepends=True)
    return code, captured.out, "".join(line for line in told if "krovetz is omitted" not in line)
