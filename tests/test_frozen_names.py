"""What a program written for this major version may use: public names, parameters and fields.

New names, keyword parameters and fields are allowed. `STEADYRANK_FREEZE=1 pytest -n0
tests/test_frozen_names.py` writes the kept file afresh, for a change that is meant.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
from pathlib import Path

import pytest

import steadyrank

KEPT = Path(__file__).parent / "golden" / "names.json"
ROOMS = {"steadyrank": steadyrank}
STARS = {inspect.Parameter.KEYWORD_ONLY: "* ", inspect.Parameter.VAR_KEYWORD: "** "}


def parameters_of(function) -> list[str]:
    """As a caller meets them: `name`, or `name=default`, behind `*` where only by keyword."""
    shown = []
    for parameter in inspect.signature(function).parameters.values():
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        shown.append(f"{STARS.get(parameter.kind, '')}{parameter.name}{default}")
    return shown


def described(value) -> dict[str, list[str]]:
    """What may be used of a public name."""
    if inspect.isclass(value):
        members = [name for name in dir(value) if not name.startswith("_")]
        own = value.__dataclass_fields__ if dataclasses.is_dataclass(value) else ()
        return {"members": sorted({*members, *own} - set(dir(Exception)))}
    return {"parameters": parameters_of(value)} if inspect.isfunction(value) else {}


def found() -> dict[str, dict[str, list[str]]]:
    return {
        f"{room}.{name}": described(getattr(module, name))
        for room, module in ROOMS.items()
        for name in module.__all__
    }


def positional(parameters: list[str]) -> list[str]:
    return [parameter for parameter in parameters if not parameter.startswith("*")]


def gone(before: list[str], now: list[str]) -> set[str]:
    """What a caller may miss; that a keyword may be given by place as well breaks nobody."""
    return {part for part in before if not {part, part.removeprefix("* ")} & set(now)}


@pytest.fixture(scope="module")
def kept():
    if os.environ.get("STEADYRANK_FREEZE"):
        KEPT.write_text(json.dumps(found(), indent=1, sort_keys=True) + "\n", "utf-8")
    return json.loads(KEPT.read_text("utf-8"))


def test_no_public_name_parameter_or_field_has_gone(kept):
    now = found()
    assert not set(kept) - set(now), "names that other programs use"
    for name, before in kept.items():
        for kind, parts in before.items():
            assert not gone(parts, now[name][kind]), (name, "what other programs use")


def test_what_is_given_by_place_keeps_its_place(kept):
    now = found()
    for name, before in kept.items():
        by_place = positional(before.get("parameters", []))
        assert positional(now[name].get("parameters", []))[: len(by_place)] == by_place, name


def test_a_new_parameter_is_optional(kept):
    now = found()
    for name, before in kept.items():
        new = set(now[name].get("parameters", [])) - set(before.get("parameters", []))
        assert all("=" in parameter or parameter.startswith("** ") for parameter in new), name


def test_the_check_sees_what_breaks():
    def before(scores, *, measure=None): ...

    def after(scores, other, *, size): ...

    def compatible(scores, measure=None, **options): ...

    assert parameters_of(before) == ["scores", "* measure=None"]
    assert parameters_of(compatible) == ["scores", "measure=None", "** options"]
    assert gone(parameters_of(before), parameters_of(after)) == {"* measure=None"}
    assert not gone(parameters_of(before), parameters_of(compatible))
    assert gone(parameters_of(compatible), parameters_of(before))
    assert positional(parameters_of(after)) == ["scores", "other"]
