"""Directions of measures, by their names and by hand, as part of scores.

What the user or a file says counts first. Names are compared whole, so that `cost` is found in
neither `cost_awareness` nor `forecost`; most measures are higher-is-better.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from steadyrank.errors import InputError, arg, check_choice, unknown_name, warn
from steadyrank.words import some

Direction = Literal["higher", "lower", "neither", "unknown"]
"""Better if higher; better if lower; no measure of quality; open until somebody says it."""

_LOWER = re.compile(
    r"edit_distance|levenshtein_distance|((word|byte)_)?perplexity|bits_per_byte|wer|cer|ter"
    r"|mae|mse|rmse|mape|(log_)?loss|nll|brier(_score)?|ece(_.*_bin)?|noise_sensitivity"
    r"|expected_max_toxicity|max_toxicity_probability|toxic_frac|(.*_)?(latency|runtime|cost)"
    r"|evaluation_time|kg_co2_emissions"
)
_UNKNOWN = re.compile("bias|toxicity|hallucination|misuse")
_NEITHER = re.compile(
    r"num_.*|.*_tokens|(.*_)?length|batch_size|finish_reason_.*|prompt_truncated|max_prob"
    r"|nauc_.*|sample_len"
)


def direction_of(measure: str) -> Direction:
    """Return which way a measure of this name is better."""
    bare = re.sub(r"\(.*\)", "", measure).rpartition("/")[2]
    name = re.sub(r"[\s-]+", "_", re.split("[,@]", bare)[0].strip().lower())
    ways: dict[Direction, re.Pattern[str]]
    ways = {"lower": _LOWER, "neither": _NEITHER, "unknown": _UNKNOWN}
    return next((way for way, names in ways.items() if names.fullmatch(name)), "higher")


def checked_directions(names: Iterable[str], given: Mapping[str, str]) -> dict[str, Direction]:
    """Return the direction of each name: the given one, or that of the name."""
    if not isinstance(given, Mapping):
        raise InputError(f"directions must map measures to directions, got {given!r}")
    for way in given.values():
        check_choice("direction", way, get_args(Direction))
    return {name: given[name] if name in given else direction_of(name) for name in names}  # type: ignore[misc]


def set_by_hand(
    directions: Mapping[str, Direction],
    lower: str | Iterable[str],
    higher: str | Iterable[str],
    kind: str = "measure",
) -> dict[str, Direction]:
    """Return the directions with those replaced that the user gives; each name must be there."""
    ways = {"lower": lower, "higher": higher}
    made = dict(directions)
    named: set[str] = set()
    for way, names in ways.items():
        for name in [names] if isinstance(names, str) else map(str, names):
            if name not in made:
                raise unknown_name(kind, name, made)
            if name in named and made[name] != way:
                raise InputError(f"{name} was given as lower and as higher is better: choose one")
            made[name] = way  # type: ignore[assignment]
            named.add(name)
    return made


def is_lower(name: str, direction: str) -> bool:
    """Whether lower is better; an error where the name has no direction to rank by."""
    if direction in ("higher", "lower"):
        return direction == "lower"
    both = f"give {arg('lower_is_better=')} or {arg('higher_is_better=')}"
    if direction == "unknown":
        raise InputError(f"direction of {name} unknown: {both}")
    raise InputError(f"{name} is neither better if higher nor if lower: to rank by it, {both}")


def one_direction(directions: Mapping[str, str], what: str = "measures") -> Direction:
    """Return the direction that all have; an error that names two of opposite directions."""
    ways = {is_lower(name, way): name for name, way in reversed([*directions.items()])}
    if len(ways) > 1:
        raise InputError(
            f"{ways[False]} is better if higher, {ways[True]} if lower: {what} of opposite "
            "directions cannot be averaged; give those of one direction"
        )
    return "lower" if True in ways else "higher"


def rankable(directions: Mapping[str, str]) -> list[str]:
    """Return the names that can be ranked by; a warning names the others, an error if none can."""
    kept = [name for name, way in directions.items() if way in ("higher", "lower")]
    why = {"neither": "no measures of quality", "unknown": "of unknown direction"}
    groups = {
        words: [name for name, way in directions.items() if way == kind]
        for kind, words in why.items()
    }
    if not kept and directions:
        is_lower(*next(iter(directions.items())))
    if said := [f"{some(own)} ({words})" for words, own in groups.items() if own]:
        both = f"{arg('lower_is_better=')} or {arg('higher_is_better=')}"
        warn(f"left out of rankings: {'; '.join(said)}: {both} includes them")
    return kept
