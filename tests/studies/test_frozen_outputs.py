"""What other programs read stays: headers of CSV and keys of JSON, of every study command.

JSON may gain keys, CSV none. `STEADYRANK_FREEZE=1 pytest -n0 tests/studies/test_frozen_outputs.py`
writes the kept file anew, for a change that is meant.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from test_coverage import SHOWN, data  # noqa: F401 a fixture

from steadyrank.cli import run

KEPT = Path(__file__).parents[1] / "golden" / "outputs.json"


def keys_of(value, path=""):
    """Paths of all keys, whatever stands in lists counting once."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{path}.{key}"
            yield from keys_of(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from keys_of(item, f"{path}[]")


def printed(capsys, arguments, form):
    capsys.readouterr()
    assert run([*arguments, "--format", form, "--quiet"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("place", range(len(SHOWN)), ids=lambda k: f"{k}-{SHOWN[k][0]}")
def test_headers_and_keys_are_as_kept(place, data, capsys):  # noqa: F811
    arguments = [part.format(data=data) for part in SHOWN[place]]
    has_csv = "--audit" not in arguments
    found = {
        "json": sorted(set(keys_of(json.loads(printed(capsys, arguments, "json"))))),
        "csv": printed(capsys, arguments, "csv").partition("\n")[0] if has_csv else None,
    }
    name = f"{place} {' '.join(SHOWN[place])}"
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    if os.environ.get("STEADYRANK_FREEZE"):
        kept[name] = found
        KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    assert not set(kept[name]["json"]) - set(found["json"]), "keys that other programs read"
    assert found["csv"] == kept[name]["csv"]
