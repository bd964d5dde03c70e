"""The arithmetic of balanced designs: layouts, and orthogonal parts of the data.

Data with one axis per factor are decomposed into the effects of every factor and interaction,
crossed or nested, and the rest; all sums of squares of balanced layouts are computed here. Effects
are marginal means of the remainder after earlier effects (`sweep`), without a design matrix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod, sqrt
from typing import Any

import numpy as np

from steadyrank.errors import InputError

Axes = frozenset[int]
"""A term of the model: the axes of its factors."""

CROSSED: tuple[Axes, Axes] = (frozenset({-2}), frozenset({-1}))
"""The terms of two crossed factors in centred data: rows and columns; the rest is the error."""

DEPENDS = "sums of squares would depend on the order of the effects"
"""Why unbalanced data are an error."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BalancedLayout:
    """Levels of the factors, and positions of the observations of a balanced design."""

    levels: Mapping[str, tuple[str, ...]]
    """Factor to its levels, in the order of appearance."""
    index: np.ndarray
    """Positions of observations: one axis per factor, and a last one for replicates."""


def balanced_layout(columns: Mapping[str, Sequence[Any]]) -> BalancedLayout:
    """Return the layout of observations: `values[layout.index]` is the argument of `anova`.

    `columns` has, for each factor, the level of every observation. An error names a combination of
    levels that is not as frequent as others.
    """
    named = {name: [str(level) for level in column] for name, column in columns.items()}
    lengths = {name: len(column) for name, column in named.items()}
    if len(set(lengths.values())) != 1 or 0 in lengths.values():
        raise InputError(f"factors need columns of one length, at least 1, got {lengths or 'none'}")
    levels = {name: tuple(dict.fromkeys(column)) for name, column in named.items()}
    _check_balance(levels, Counter(zip(*named.values(), strict=True)))
    shape = tuple(map(len, levels.values()))
    places = []
    for name, column in named.items():
        place = {level: i for i, level in enumerate(levels[name])}
        places.append(np.array([place[level] for level in column]))
    order = np.argsort(np.ravel_multi_index(tuple(places), shape), kind="stable")
    return BalancedLayout(levels=levels, index=order.reshape(*shape, -1))


def _check_balance(levels: Mapping[str, tuple[str, ...]], counts: Counter[Any]) -> None:
    n_cells, most = prod(map(len, levels.values())), max(counts.values())
    short = n_cells - sum(count == most for count in counts.values())
    if not short:
        return
    odd = next(cell for cell in product(*levels.values()) if counts[cell] < most)
    named = ", ".join(f"{name}={level}" for name, level in zip(levels, odd, strict=True))
    raise InputError(
        f"unbalanced: {short} of {n_cells} combinations of {', '.join(levels)} occur less often "
        f"than others (first: {named}, {counts[odd]} instead of {most}); {DEPENDS}: omit levels "
        "until every combination occurs equally often"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """Orthogonal parts of the data: effects of every term of a closed family, and the rest."""

    mean: float
    effects: Mapping[Axes, np.ndarray]
    """e(S) = mean(S) - sum of e(R) over R within S; axes outside S have length 1."""
    ss: Mapping[Axes, float]
    ss_total: float
    ss_rest: float

    def cell_means(self, axes: Axes) -> np.ndarray:
        """Return the mean of each cell of a term, one axis per factor."""
        inner = [effect for part, effect in self.effects.items() if part <= axes]
        table = self.mean + sum(inner[1:], inner[0])
        return np.asarray(table.squeeze(tuple(sorted(set(range(table.ndim)) - axes))))


def closed_family(terms: Sequence[Axes]) -> list[Axes]:
    """Return the terms and all terms contained in them, small ones first."""
    family = {part for term in terms for part in [*proper_parts(term), term]}
    return sorted(family, key=lambda axes: (len(axes), sorted(axes)))


def proper_parts(axes: Axes) -> list[Axes]:
    """Return the terms contained in an interaction.

    >>> [sorted(part) for part in proper_parts(frozenset({0, 2}))]
    [[0], [2]]
    """
    ordered = sorted(axes)
    return [frozenset(some) for size in range(1, len(axes)) for some in combinations(ordered, size)]


def decompose(array: np.ndarray, family: Sequence[Axes]) -> Parts:
    """Decompose an array into the effects of a closed family of terms and the rest.

    The squares of the rest are summed directly, since a difference would lose digits.
    """
    mean = float(array.mean())
    centred = array - mean
    # For large values with a small variance, the first mean is inexact.
    offset = float(centred.mean())
    centred -= offset
    effects, rest = sweep(centred, family)
    sums = [
        float(np.square(each).sum()) * (array.size // each.size)
        for each in (*effects, rest, centred)
    ]
    return Parts(
        mean=mean + offset,
        effects=dict(zip(family, effects, strict=True)),
        ss=dict(zip(family, sums, strict=False)),
        ss_total=sums[-1],
        ss_rest=sums[-2],
    )


def sweep(values: np.ndarray, terms: Sequence[Axes]) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the orthogonal parts of a balanced array: effects of each term in turn, and the rest.

    A term's effects are the means, over all axes that it lacks, of the remainder after the previous
    terms. Small terms come first, and with two terms also the term of their common axes, except the
    mean if it is 0. If axes count from the end, those before them are samples.
    """
    factors = {axis for term in terms for axis in term}
    every = range(-values.ndim, 0) if min(factors, default=0) >= 0 else range(min(factors), 0)
    effects, rest = [], values
    for term in terms:
        over = tuple(axis for axis in every if axis not in term and axis + values.ndim not in term)
        effects.append(rest.mean(axis=over, keepdims=True) if over else rest)
        rest = rest - effects[-1]
    return effects, rest


def sums_of_squares(values: np.ndarray, terms: Sequence[Axes]) -> list[np.ndarray]:
    """Return sums of squares of each term and of the rest, [sample, …]; axes count from the end."""
    effects, rest = sweep(values, terms)
    axes = tuple(range(min(axis for term in terms for axis in term), 0))
    cells = prod(values.shape[axis] for axis in axes)
    return [
        np.square(each).sum(axis=axes) * (cells / prod(each.shape[axis] for axis in axes))
        for each in (*effects, rest)
    ]


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum of squares and its degrees of freedom."""

    ss: float
    df: int

    @classmethod
    def rounded(cls, ss: float, df: int, tiny: float) -> Amount:
        """Return the amount; 0 where the root mean square is at most `tiny`, the rounding error."""
        return cls(ss if df and sqrt(ss / df) > tiny else 0.0, df)

    @property
    def ms(self) -> float:
        """Mean square; NaN without degrees of freedom."""
        return self.ss / self.df if self.df else float("nan")


@dataclass(frozen=True, slots=True)
class Split:
    """The total, divided among the effects and the error of each stratum."""

    effects: Mapping[str, Amount]
    home: Mapping[str, str]
    errors: Mapping[str, Amount]
    error: Amount
    total: Amount


def split_total(
    parts: Parts,
    terms: Mapping[str, Axes],
    layers: Mapping[str, Axes],
    shape: tuple[int, ...],
    rounding: float,
) -> Split:
    """Assign every part of the data to its effect, or to the error of its stratum."""
    n, taken = prod(shape), set(terms.values())
    dfs = {axes: prod(shape[axis] - 1 for axis in axes) for axes in parts.ss}
    errors = {f"error({name})": Amount(0.0, 0) for name in layers}
    errors["error"] = Amount(parts.ss_rest, n - 1 - sum(dfs.values()))
    for axes, ss in parts.ss.items():
        if axes not in taken:
            name = _stratum(axes, layers)
            errors[name] = Amount(errors[name].ss + ss, errors[name].df + dfs[axes])
    errors = {name: Amount.rounded(own.ss, own.df, rounding) for name, own in errors.items()}
    return Split(
        effects={
            name: Amount.rounded(parts.ss[axes], dfs[axes], rounding)
            for name, axes in terms.items()
        },
        home={name: _stratum(axes, layers) for name, axes in terms.items()},
        errors=errors,
        error=Amount(
            sum(error.ss for error in errors.values()), sum(error.df for error in errors.values())
        ),
        total=Amount(parts.ss_total, n - 1),
    )


def _stratum(axes: Axes, layers: Mapping[str, Axes]) -> str:
    """Return the error of the smallest stratum that contains a term; the first of several."""
    holding = [name for name, layer in layers.items() if axes <= layer]
    return f"error({min(holding, key=lambda name: len(layers[name]))})" if holding else "error"
