"""What the command takes stays: every option of every command, its names, choices, default, type.

New options are allowed. `STEADYRANK_FREEZE=1 pytest -n0 tests/cli/test_frozen_help.py` writes the
kept file anew, for a change that is meant.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
import pytest

from steadyrank.cli import commands, group
from steadyrank.cli.command import OutputFile

KEPT = Path(__file__).parents[1] / "golden" / "options.json"
ALWAYS = ("--help", "--version")
TYPE_KEYS = ("choices", "min", "max", "min_open", "max_open", "exists", "file_okay", "dir_okay")


def plain(value):
    """A default as JSON has it; None for none, which Click says in several ways."""
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value] or None
    return value if isinstance(value, (str, int, float)) and value is not False else None


def described(parameter):
    info = parameter.to_info_dict()
    kind = info["type"]
    about = {
        "names": [*info["opts"], *info["secondary_opts"]],
        "type": {"kind": kind["name"], **{key: kind[key] for key in TYPE_KEYS if key in kind}},
        "default": plain(parameter.default),
        "multiple": info.get("multiple", False),
        "values": info["nargs"],
        "required": info["required"],
        "is_flag": info.get("is_flag", False),
        "is_hidden": info.get("hidden", False),
        "is_written": isinstance(parameter.type, OutputFile),
        "metavar": parameter.metavar,
    }
    # As they are after JSON, which has no tuples.
    return json.loads(
        json.dumps({key: value for key, value in about.items() if value is not False})
    )


def options_of(command):
    """What a command takes, by its longest name."""
    taken = [described(parameter) for parameter in command.params]
    return {max(one["names"], key=len): one for one in taken if not {*one["names"]} & {*ALWAYS}}


def command_of(name):
    return group.get_command(click.Context(group), name)


def write(kept):
    """One line per option, for whoever reads the change."""
    lines = [
        f'"{command}": {{\n' + ",\n".join(f'"{name}": {json.dumps(o)}' for name, o in taken.items())
        for command, taken in sorted(kept.items())
    ]
    KEPT.write_text("{\n" + "\n},\n".join(lines) + "\n}\n}\n", "utf-8")


@pytest.mark.parametrize("name", commands())
def test_options_are_as_kept(name):
    found = options_of(command_of(name))
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    if os.environ.get("STEADYRANK_FREEZE"):
        kept[name] = found
        write(kept)
    for option, about in kept[name].items():
        assert found.get(option) == about, f"{name} {option}"


def test_no_command_has_gone():
    assert set(json.loads(KEPT.read_text("utf-8"))) == set(commands())
