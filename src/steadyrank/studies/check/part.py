"""How a report shows `check`, whose result it has from reading the files."""

from __future__ import annotations

from steadyrank.studies.check.view import VIEW
from steadyrank.studies.material import NO_RUNS
from steadyrank.studies.part import part_of

PART = part_of(
    VIEW,
    why_not=lambda material: (
        "" if material.runs is not None else f"{NO_RUNS}: there are no files of runs to check"
    ),
)
