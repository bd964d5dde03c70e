"""The provenance of a report's numbers.

It has the files with their hashes, versions, settings and samples, but no date, host or folder, so
that the same data give the same page everywhere.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from steadyrank._version import __version__
from steadyrank.present.cells import name, table, whole
from steadyrank.present.table import Cell, Table
from steadyrank.reporting.budget import ReportPlan, duration
from steadyrank.studies.material import Material
from steadyrank.studies.part import Findings
from steadyrank.studies.registry import studies_by_turn

PACKAGES = ("numpy", "scipy", "numba", "matplotlib")

_SHOWN_FILES = 10


def provenance(plan: ReportPlan, findings: Findings) -> tuple[Table, ...]:
    """Return tables of files, samples, settings and versions."""
    material = findings.material
    files = [
        [name(file.role), name(file.path), whole(file.size), name(file.sha256)]
        for file in material.files
    ]
    tables = [
        _samples_table(plan, findings.why_not),
        _settings_table(material, plan),
        _versions_table(),
    ]
    if files:
        header = ["", "file", "bytes", "SHA-256"]
        files_table = table("files-read", "Input files.", header, files, shown=_SHOWN_FILES)
        tables.insert(0, files_table)
    return tuple(tables)


def with_names_alone(material: Material) -> Material:
    """Return the material with files without folders."""
    files = tuple(replace(file, path=Path(file.path).name) for file in material.files)
    settings = material.settings
    reading = replace(settings.reading, run_info=_name_of(settings.reading.run_info))
    topic_info = _name_of(settings.topic_info)
    settings = replace(settings, reading=reading, topic_info=topic_info)
    return replace(material, files=files, settings=settings)


def _name_of(path: Any) -> Any:
    return Path(path).name if _is_path(path) else path


def without_folders(command: str) -> str:
    """Remove the folders of files in a command, which then works in a single folder.

    >>> without_folders("steadyrank report /a/qrels.txt 'b/*.run' --judge x=c/d.txt -m P@10")
    "steadyrank report qrels.txt '*.run' --judge x=d.txt -m P@10"
    """
    return shlex.join(map(_name_alone, shlex.split(command)))


def _name_alone(word: str) -> str:
    """Remove the folder of a file, alone or after NAME=; regular expressions stay."""
    head, equals, path = word.rpartition("=")
    is_file = ("/" in path or os.sep in path) and not re.search(r"[\^()$]", path)
    return f"{head}{equals}{Path(path).name}" if is_file else word


def _samples_table(plan: ReportPlan, why_not: Mapping[str, str]) -> Table:
    rows = [
        [
            name(study.name),
            name(study.part.title),
            name("left out" if study.name in why_not else plan.drawn(study) or "no sampling"),
        ]
        for study in studies_by_turn()
    ]
    caption = (
        "Numbers of samples as given."
        if plan.given
        else f"Numbers of samples for a budget of {duration(plan.budget)}; they depend only on the "
        "data and the budget."
    )
    return table("samples", caption, ["study", "section", "samples"], rows)


def _settings_table(material: Material, plan: ReportPlan) -> Table:
    settings: dict[str, Any] = {
        "measures": ", ".join(material.scores.measures),
        "runs": len(material.scores.runs),
        f"{material.unit}s": len(material.scores.topics),
        "budget": duration(plan.budget),
        **{key.replace("_", " "): value for key, value in material.settings.flat().items()},
    }
    rows = [[name(key), Cell(_shown(value))] for key, value in settings.items()]
    return table("settings", "Settings.", ["setting", "value"], rows, shown=50)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "not given" if value is None else str(value)  # "none" is a correction


def _versions_table() -> Table:
    versions = {
        "steadyrank": __version__,
        "Python": platform.python_version(),
        **{package: importlib.metadata.version(package) for package in PACKAGES},
    }
    rows = [[name(package), name(version)] for package, version in versions.items()]
    return table("versions", "Versions.", ["package", "version"], rows)


def _is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))
