"""Measures that are objects of ir_measures (and hence of PyTerrier), as ours."""

from __future__ import annotations

from typing import Any

from steadyrank.errors import InputError


def is_foreign(measure: object) -> bool:
    """Whether it looks like a measure of ir_measures, without importing that."""
    return all(hasattr(measure, name) for name in ("NAME", "params", "AT_PARAM"))


def foreign_text(measure: Any) -> str:
    """The name of a measure of ir_measures in our spelling, to be parsed.

    >>> from types import SimpleNamespace
    >>> foreign_text(SimpleNamespace(NAME="P", params={"rel": 2, "cutoff": 5}, AT_PARAM="cutoff"))
    'P(rel=2)@5'
    """
    if measure.NAME is None:
        raise InputError(f"{measure!r} is a function of ir_measures: register_measure takes it")
    parameters = dict(measure.params)
    at = parameters.pop(measure.AT_PARAM, None)
    if "gains" in parameters:
        parameters["gains"] = _gains(parameters["gains"], measure)
    inside = ",".join(f"{key}={value!r}" for key, value in parameters.items())
    name = f"{measure.NAME}({inside})" if inside else str(measure.NAME)
    return name if at is None else f"{name}@{at}"


def _gains(gains: dict[int, float], measure: Any) -> tuple[float, ...]:
    """Gains by grade as one gain per grade from 0 on; a grade that is not named is worth itself."""
    if min(gains, default=0) < 0:
        raise InputError(f"{measure!r}: negative grades are worth 0: omit them from gains")
    return tuple(gains.get(grade, grade) for grade in range(max(gains, default=0) + 1))
