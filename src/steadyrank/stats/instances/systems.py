"""Which runs are instances of which system, and the shared topics of two systems.

`run_info` names the system of each run; the runs of a system are its instances. A sweep groups the
runs by a setting instead, such as a sampling rate. Instances may lack topics, and may come from
nested draws (a sample, a partition of it, …) that run information names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steadyrank.data.order import natural_key
from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.errors import InputError, arg, check_choice, unknown_column, warn
from steadyrank.words import counted

Groups = dict[str, list[int]]
"""Name of a system, or of a setting, to the positions of its runs."""

NOT_FACTORS = ("system", "team")
"""Columns of run information that are not factors of instances."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class System:
    """A system's instances on the topics that a comparison uses."""

    name: str
    runs: tuple[str, ...]
    scores: np.ndarray  # [instance, topic], NaN where missing
    factors: Mapping[str, tuple[str, ...]]
    """Column of run information to its value for each instance."""

    @property
    def mean(self) -> float:
        """Mean of the instances' means."""
        return float(self.instance_means.mean())

    @property
    def instance_means(self) -> np.ndarray:
        """Mean over the topics that each instance has."""
        return mean_of_present(self.scores)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SystemPair:
    """Two systems on the topics that both have."""

    a: System
    b: System
    topics: tuple[str, ...]
    n_dropped: int
    """Number of topics that one of the systems lacks in every instance."""

    @property
    def design(self) -> Literal["crossed", "nested"]:
        """ "crossed" if one system has a single run, otherwise "nested"."""
        return "nested" if min(len(self.a.runs), len(self.b.runs)) > 1 else "crossed"

    @property
    def varied(self) -> System:
        """The system whose instances are crossed with the other's single run."""
        return self.b if len(self.b.runs) > 1 else self.a

    def differences(self) -> np.ndarray:
        """Return a - b, [instance, topic]; only if one of them is a single run."""
        return np.asarray(self.a.scores - self.b.scores)

    @property
    def n_missing(self) -> int:
        """Number of cells without a score."""
        return int(np.isnan(self.a.scores).sum() + np.isnan(self.b.scores).sum())

    @property
    def balanced(self) -> bool:
        """Whether no score is missing and, if nested, both have the same number of instances."""
        equal = self.design == "crossed" or len(self.a.runs) == len(self.b.runs)
        return equal and self.n_missing == 0


def systems_of(scores: Scores) -> Groups:
    """Return the systems and their runs, sorted by name; a run without a system is a system."""
    if "system" not in scores.run_info:
        raise InputError(
            "it is not known which runs are instances of which system: give run information with "
            f"a column system ({arg('run_info=')}), or a pattern that finds it in the runs' names "
            f"({arg('system_from=')})"
        )
    groups: Groups = {}
    for place, (run, system) in enumerate(zip(scores.runs, scores.run_info["system"], strict=True)):
        groups.setdefault(system or run, []).append(place)
    return {system: _by_name(scores, places) for system, places in groups.items()}


def _by_name(scores: Scores, places: Iterable[int]) -> list[int]:
    """Return runs sorted by name, because random numbers are assigned by position."""
    return sorted(places, key=lambda place: natural_key(scores.runs[place]))


def settings_of(scores: Scores, factor: str, *, among: Iterable[int]) -> Groups:
    """Return the runs `among` these by their value of a column, smallest first; drop others."""
    column = _column(scores, factor)
    by_value: Groups = {}
    for place in among:
        if column[place]:
            by_value.setdefault(column[place], []).append(place)
    order = sorted(by_value, key=lambda value: setting_number(factor, value))
    return {value: _by_name(scores, by_value[value]) for value in order}


def check_one_system(scores: Scores, setting: str, places: Iterable[int]) -> None:
    """Raise an error if the runs of a setting are not instances of one system."""
    systems = dict.fromkeys(scores.run_info["system"][place] for place in places)
    if len(systems) > 1:
        raise InputError(
            f"{setting} has runs of several systems ({', '.join(systems)}): name one ({arg('a=')})"
        )


def setting_number(factor: str, value: str) -> float:
    """Return a setting as a number; it may end with a percent sign.

    >>> setting_number("rate", "0.5%")
    0.5
    """
    try:
        number = float(value.strip().removesuffix("%"))
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise InputError(
            f"sweep over {factor}: {value!r} is not a number, and without an order there is no "
            "smallest setting"
        )
    return number


def group_named(name: str, groups: Groups) -> list[int]:
    """Return the runs of a system; raise an error that suggests names if there is none."""
    check_choice("system", name, groups)
    return groups[name]


def pair_of(
    scores: Scores,
    measure: str,
    *,
    a: tuple[str, Sequence[int]],
    b: tuple[str, Sequence[int]],
    factors: Sequence[str] = (),
) -> SystemPair:
    """Return two named groups of runs on the topics that both have."""
    matrix = scores.matrix(measure)
    present = [~np.isnan(matrix[list(places)]) for _, places in (a, b)]
    shared = present[0].any(axis=0) & present[1].any(axis=0)
    if shared.sum() < 2:
        raise InputError(
            f"{a[0]} and {b[0]} share {counted(int(shared.sum()), 'topic')} with a {measure}: "
            "a comparison requires at least two"
        )
    columns = {factor: _column(scores, factor) for factor in factors}
    systems = []
    for (name, places), seen in zip((a, b), present, strict=True):
        kept = [place for place, row in zip(places, seen, strict=True) if row[shared].any()]
        systems.append(
            System(
                name=name,
                runs=tuple(scores.runs[place] for place in kept),
                scores=matrix[kept][:, shared],
                factors={
                    factor: tuple(column[place] for place in kept)
                    for factor, column in columns.items()
                },
            )
        )
    topics = tuple(topic for topic, keep in zip(scores.topics, shared, strict=True) if keep)
    return SystemPair(
        a=systems[0], b=systems[1], topics=topics, n_dropped=len(shared) - len(topics)
    )


def warn_about_structure(
    scores: Scores,
    groups: Groups,
    *,
    ignored: Iterable[str] = (),
    remedy: str = f"name them, largest first ({arg('instance_factors=')})",
) -> None:
    """Warn of columns that divide a system's instances into fewer groups than instances."""
    skipped = {*NOT_FACTORS, *ignored}
    for name, places in groups.items():
        split = {
            column: len({values[place] for place in places})
            for column, values in scores.run_info.items()
            if column not in skipped
        }
        shared = [column for column, size in split.items() if 1 < size < len(places)]
        if shared:
            columns = ", ".join(f"{column} ({split[column]} values)" for column in shared)
            warn(
                f"the {len(places)} instances of {name} share values of {columns}: if these are "
                f"nested draws, the effective number of instances is far smaller; {remedy}",
                stacklevel=5,
            )
            return


def _column(scores: Scores, name: str) -> tuple[str, ...]:
    if name not in scores.run_info:
        raise unknown_column(name, "run information", scores.run_info)
    return scores.run_info[name]
