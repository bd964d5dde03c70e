"""Versions of what steadyrank depends on, as a constraints file: the bounds', or those installed.

python .ci/pins.py lowest > .ci/constraints/lowest.txt      after a bound has changed
python .ci/pins.py installed                                which `.ci/bounds latest` keeps
"""

from __future__ import annotations

import platform
import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
EXTRAS = ("dask", "ir")
"""Those that need no compiler."""


def bounds() -> list[str]:
    """The direct dependencies with their lower bounds, `numpy>=1.26`."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *(need for name in EXTRAS for need in extras[name])]


def lowest() -> str:
    """Each dependency in the lowest version that is allowed."""
    pins = [need.replace(">=", "==") for need in bounds()]
    return _file("The lowest versions that pyproject.toml allows", pins)


def installed() -> str:
    """Each dependency in the version that is here."""
    names = [re.split(r"[^\w-]", need)[0] for need in bounds()]
    pins = [f"{name}=={version(name)}" for name in names]
    return _file(
        f"The newest versions that were tried, with Python {platform.python_version()}", pins
    )


def _file(title: str, pins: list[str]) -> str:
    return "\n".join([f"# {title}: .ci/pins.py.", *sorted(pins, key=str.lower), ""])


if __name__ == "__main__":
    sys.stdout.write({"lowest": lowest, "installed": installed}[sys.argv[1]]())
