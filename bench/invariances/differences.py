"""Differences of two results as JSON, with and without the order of runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Json = Any


def by_name(value: Json, runs: Sequence[str] = (), test: str = "") -> Json:
    """Return JSON with lists of runs and pairs keyed by names."""
    if isinstance(value, dict):
        if isinstance(value.get("runs"), list) and all(isinstance(r, str) for r in value["runs"]):
            runs = value["runs"]
        test = value.get("test", test)
        return {key: by_name(item, runs, test) for key, item in value.items()}
    if not isinstance(value, list) or not value:
        return value
    if isinstance(value[0], dict):
        keys = [_key(item) for item in value]
        named = [by_name(_mirrored(item, test), runs, test) for item in value]
        return named if None in keys else dict(zip(keys, named, strict=True))
    if all(isinstance(item, str) for item in value):
        return sorted(value)
    named = [by_name(item, runs, test) for item in value]
    return dict(zip(runs, named, strict=True)) if len(value) == len(runs) else named


def _key(item: Json) -> str | None:
    names = [item[key] for key in ("run", "factor", "level", "a", "b") if key in item]
    if not names or not all(isinstance(name, str) for name in names):
        return None
    return " ".join([*sorted(names), str(item.get("measure", ""))])


NEGATED = (
    "difference",
    "raw_difference",
    "simulated_difference",
    "difference_imputed",
    "effect_size",
)
SWAPPED = (("a", "b"), ("mean_a", "mean_b"), ("variance_a", "variance_b"), ("wins", "losses"))
STATISTICS: Mapping[str, Callable[[Json], float]] = {
    **dict.fromkeys(("t", "mixed", "randomization", "bootstrap"), lambda pair: -pair["statistic"]),
    "sign": lambda pair: float(pair["losses"]),
    # The sum of the ranks of all differences that are not 0, less those above it.
    "wilcoxon": lambda pair: math.comb(pair["wins"] + pair["losses"] + 1, 2) - pair["statistic"],
}
"""Return the statistic of a pair with its runs exchanged."""


def _mirrored(pair: Json, test: str) -> Json:
    """Return a pair with the smaller name first, with changed signs of a - b."""
    if not isinstance(pair.get("b"), str) or pair["a"] < pair["b"]:
        return pair
    found = dict(pair)
    for key in NEGATED:
        if pair.get(key) is not None:
            found[key] = -pair[key]
    for one, other in SWAPPED:
        if one in pair:
            found[one], found[other] = pair[other], pair[one]
    if pair.get("interval"):
        ends = reversed(pair["interval"])
        found["interval"] = [None if end is None else -end for end in ends]
    if "lowest" in pair:
        found["lowest"], found["highest"] = -pair["highest"], -pair["lowest"]
    if pair.get("sign_share") is not None:
        found["sign_share"] = 1.0 - pair["sign_share"]
    if test in STATISTICS and pair.get("statistic") is not None:
        found["statistic"] = STATISTICS[test](pair)
    return found


def first_difference(one: Json, other: Json, rounded: float = 0.0, path: str = "") -> str | None:
    """Return the first difference of two JSON values with both figures, or None.

    `rounded` is how far numbers may be apart, relatively, or absolutely below 1.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        if list(one) != list(other) and (rounded == 0.0 or one.keys() != other.keys()):
            return f"{path}: keys {list(one)} and {list(other)}"
        parts = ((f"{path}.{key}", one[key], other[key]) for key in one)
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{path}: {len(one)} and {len(other)} entries"
        parts = ((f"{path}[{i}]", *pair) for i, pair in enumerate(zip(one, other, strict=True)))
    else:
        return None if _alike(one, other, rounded) else f"{path}: {one!r} and {other!r}"
    found = (first_difference(a, b, rounded, where) for where, a, b in parts)
    return next((each for each in found if each is not None), None)


def _alike(one: Json, other: Json, rounded: float) -> bool:
    if one == other and type(one) is type(other):
        return True
    numbers = all(isinstance(each, float) for each in (one, other))
    return numbers and abs(one - other) <= rounded * max(1.0, abs(one), abs(other))


def largest_difference(one: Json, other: Json) -> float:
    """Return the largest difference of numbers as in `first_difference`; 0 for the same bytes.

    Infinite where anything but numbers differs.
    """
    if first_difference(one, other) is None:
        return 0.0
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) / max(1.0, abs(one), abs(other))
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return max((largest_difference(one[key], other[key]) for key in one), default=0.0)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return max(largest_difference(a, b) for a, b in zip(one, other, strict=True))
    return math.inf
