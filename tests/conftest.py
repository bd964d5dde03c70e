"""Helpers that many tests share."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest


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


@pytest.fixture(autouse=True)
def _no_progress_of_slow_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is shown after some seconds; tests of what a command tells must not wait for it."""
    monkeypatch.setattr("steadyrank.cli.output.PATIENCE", 1e6)


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
