"""The specification of a mixed model, and its likelihood.

One class represents every layout: crossed and nested terms, labelled rows or whole arrays, complete
or with missing cells. It checks its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.errors import InputError, arg, bad_value, check_choice
from steadyrank.stats.mixed.balanced import LayoutStrata, strata_of
from steadyrank.stats.mixed.general import ModelRows, RowTables, tables_of
from steadyrank.stats.pairs.result import NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE, tiny_of

RESIDUAL = "residual"
"""The name of the error term among the variances."""

Term = ArrayLike | tuple[ArrayLike, ...] | str | tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MixedModel:
    """y = X b + sum of Z_k u_k + e, with u_k ~ N(0, s_k² I) and e ~ N(0, s_e² I).

    `random` names the random intercepts. There are two ways to pass the data:

    - rows: `response` has one entry per row, and a term is an array of labels, or a tuple of such
      arrays for the groups that they form together; `fixed` is true for rows of the first system.
    - an array: `axes` names the axes of `response`, and a term is an axis or a tuple of axes;
      `fixed` is an axis of length two, whose first entry is the first system.

    Missing responses are NaN. With `fixed` the coefficients are the second system's mean and the
    difference first minus second; without, the mean alone.

    >>> y = np.random.default_rng(0).random((2, 5, 20))
    >>> terms = {"topic": "topic", "cell": ("system", "topic"), "instance": ("system", "instance")}
    >>> MixedModel(y, axes=("system", "instance", "topic"), random=terms, fixed="system").groups
    {'topic': 20, 'cell': 40, 'instance': 10}
    """

    response: np.ndarray
    random: Mapping[str, Term] = field(kw_only=True)
    fixed: ArrayLike | str | None = field(default=None, kw_only=True)
    axes: tuple[str, ...] | None = field(default=None, kw_only=True)
    rows: ModelRows = field(init=False, repr=False)
    """The rows that have a response."""

    def __post_init__(self) -> None:
        response = np.asarray(self.response, dtype=np.float64)
        if np.isinf(response).any():
            raise InputError("response holds an infinite value: mark missing ones as NaN")
        if RESIDUAL in self.random:
            raise InputError(f"{RESIDUAL!r} is the name of the error term: rename the random term")
        object.__setattr__(self, "response", response)
        if self.axes is not None:
            object.__setattr__(self, "axes", tuple(self.axes))
            _check_axes(self)
        object.__setattr__(self, "rows", _rows_of(self))

    @property
    def groups(self) -> dict[str, int]:
        """Number of groups of each random term."""
        return dict(zip(self.random, self.rows.sizes, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResponseScale:
    """Location and standard deviation of the response about the fixed effects."""

    n: int
    means: np.ndarray
    """Means of the first and the second system, or of all rows."""
    centre: float
    spread: float
    tiny: float
    """Largest spread that counts as 0."""
    flag: str
    """Why there is no likelihood, or ""."""


def scale_of(model: MixedModel) -> ResponseScale:
    """Return means and spread of the response, with a flag if these determine the result."""
    rows = model.rows
    values = rows.response
    if rows.first is None:
        means = np.array([values.mean() if len(values) else np.nan])
        off = values - means[0]
    else:
        means = np.array([values[rows.first].mean(), values[~rows.first].mean()])
        off = values - np.where(rows.first, *means)
    n, p = values.size, means.size
    spread = float(np.sqrt((off * off).sum() / max(n - p, 1)))
    tiny = tiny_of(values)
    flag = ""
    if n <= p:
        flag = TOO_FEW
    elif spread <= tiny:
        alike = abs(means[0] - (means[1] if p == 2 else 0.0)) <= tiny
        flag = NO_DIFFERENCE if alike else ZERO_VARIANCE
    centre = float(means.mean())
    return ResponseScale(n=n, means=means, centre=centre, spread=spread, tiny=tiny, flag=flag)


def likelihood_of(model: MixedModel, scale: ResponseScale) -> LayoutStrata | RowTables:
    """Return the likelihood of the centred and scaled response: strata if balanced, else tables."""
    rows = replace(model.rows, response=(model.rows.response - scale.centre) / scale.spread)
    return strata_of(rows, scale.tiny / scale.spread) or tables_of(rows)


def _check_axes(model: MixedModel) -> None:
    axes = model.axes or ()
    if len(axes) != model.response.ndim or len(set(axes)) != len(axes):
        raise bad_value(
            "axes", f"name the {model.response.ndim} axes of the response, each once", axes
        )
    axis = _fixed_axis(model)
    if axis is not None and model.response.shape[axis] != 2:
        raise InputError(
            f"the fixed axis {axes[axis]!r} must hold two systems, got {model.response.shape[axis]}"
        )
    for term in model.random.values():
        _axes_of(model, term)


def _fixed_axis(model: MixedModel) -> int | None:
    if model.fixed is None:
        return None
    if not isinstance(model.fixed, str):
        raise InputError("with axes, fixed must be the name of an axis")
    return _axes_of(model, model.fixed)[0]


def _axes_of(model: MixedModel, term: Term) -> tuple[int, ...]:
    """Return the positions of the axes of a term."""
    axes = list(model.axes or ())
    names = (term,) if isinstance(term, str) else term
    if not isinstance(names, tuple):
        raise InputError("with axes, a random term must be the name of an axis or a tuple of them")
    for name in names:
        check_choice("axis", name, axes)
    return tuple(axes.index(str(name)) for name in names)


def _rows_of(model: MixedModel) -> ModelRows:
    """Return labelled rows, without those whose response is missing."""
    present = ~np.isnan(model.response).reshape(-1)
    response = model.response.reshape(-1)[present]
    first: np.ndarray | None
    if model.axes is None:
        if model.response.ndim != 1:
            raise InputError("a response of several dimensions requires axes that name them")
        columns = [_labels(name, term, len(present)) for name, term in model.random.items()]
        first = _first(model.fixed, len(present))
    else:
        shape, axis = model.response.shape, _fixed_axis(model)
        index = np.indices(shape).reshape(len(shape), -1)
        columns = []
        for term in model.random.values():
            chosen = _axes_of(model, term)
            cells = np.ravel_multi_index(
                tuple(index[k] for k in chosen), tuple(shape[k] for k in chosen)
            )
            columns.append(np.asarray(cells))
        first = None if axis is None else index[axis] == 0
    if first is not None:
        first = first[present]
        if first.all() or not first.any():
            raise InputError("both systems require a response that is not missing")
    compact = [_compact(labels[present]) for labels in columns]
    return ModelRows(
        response=response,
        labels=tuple(labels for labels, _ in compact),
        sizes=tuple(size for _, size in compact),
        first=first,
    )


def _first(fixed: object, n: int) -> np.ndarray | None:
    if fixed is None:
        return None
    first = np.asarray(fixed)
    if first.shape != (n,) or first.dtype != np.bool_:
        raise InputError(
            f"{arg('fixed')} must be true or false for each of the {n} rows, true for the first "
            f"system; got {first.dtype} of shape {first.shape}"
        )
    return first


def _labels(name: str, term: Term, n: int) -> np.ndarray:
    """Return one integer per row for the groups that the factors of a term form together."""
    factors: Sequence[ArrayLike] = term if isinstance(term, tuple) else (term,)
    joint = np.zeros(n, np.int64)
    for factor in factors:
        labels = np.asarray(factor)
        if labels.shape != (n,) or labels.dtype.kind == "f":
            raise InputError(
                f"random term {name!r} must hold a label, not a float, for each of the {n} rows;"
                f" got {labels.dtype} of shape {labels.shape}"
            )
        own, size = _compact(labels)
        joint = _compact(joint * size + own)[0]
    return joint


def _compact(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Return labels as 0, 1, … in their order, and their number; dense labels are not sorted."""
    if labels.size and labels.dtype.kind in "iu":
        low, high = int(labels.min()), int(labels.max())
        if high - low < 4 * labels.size + 1024:
            shifted = labels.astype(np.int64) - low
            seen = np.bincount(shifted) > 0
            if seen.all():
                return shifted, len(seen)
            return (np.cumsum(seen) - 1)[shifted], int(seen.sum())
    values, inverse = np.unique(labels, return_inverse=True)
    return inverse.reshape(-1).astype(np.int64), len(values)
