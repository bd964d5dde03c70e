"""Short files of these tests are read in the way that long ones are."""

from __future__ import annotations

import pytest

from steadyrank.data.read import tables


@pytest.fixture(autouse=True)
def arrow_reads_short_files(monkeypatch):
    monkeypatch.setattr(tables, "ARROW_FROM", 0)
