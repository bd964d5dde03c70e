"""Which factors explain the variation in an unbalanced design? Type III tables.

For a grid of systems with missing combinations or unequal replicates. The sum of squares of an
effect is the increase of the residual if only that effect is omitted, so the order of effects does
not matter; but sums of squares do not add up to the total.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.errors import InputError, MachineError
from steadyrank.stats.anova.balanced import (
    ROUNDING,
    Anova,
    MainEffect,
    Power,
    check_observations,
    compared_levels,
    named_effects,
    table_lines,
)
from steadyrank.stats.anova.parts import Amount, Axes, Split
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.pairs.result import ZERO_VARIANCE, all_pairs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fitted:
    """A least-squares fit with sum contrasts; level i of axis j is the code i of column fj."""

    values: np.ndarray
    codes: np.ndarray
    """[axis, observation]."""
    names: tuple[str, ...]
    terms: Mapping[str, Axes]
    model: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(code.max()) + 1 for code in self.codes)


def type_three(
    values: ArrayLike,
    columns: Mapping[str, Sequence[Any]],
    *,
    effects: Sequence[str],
    block: str | None,
    power: Power | None = None,
    confidence: float = 0.95,
) -> tuple[Anova, dict[str, MainEffect]]:
    """Return the type III ANOVA, and Tukey-Kramer tests of every factor except the block.

    `values` are observations, and `columns` their levels of every factor. SS(effect) = RSS(model
    without the effect's sum-coded columns) - RSS(model). `means` are least-squares means: means of
    fitted values over all combinations of levels, each counted once, in the order in which levels
    appear. Effect sizes are computed as for balanced data, with the total around the mean; shares
    of the total do not add up to 1. q = |difference of least-squares means| / (its standard error /
    sqrt 2). Intervals around means are half as wide as the widest interval of a difference: levels
    whose intervals do not overlap differ, but some that differ may overlap. `n` is that of the
    rarest level.

    Assumes additive effects and independent normal errors of one variance. A combination without
    observations is an error if an interaction requires it. Requires the package statsmodels.

    Reference: Searle 1987, Linear models for unbalanced data; Kramer 1956, Biometrics 12.

    >>> table, mains = type_three([1, 2, 4, 2, 4], {"a": list("xxxyy"), "topic": [1, 2, 3, 1, 2]},
    ...                           effects=["a"], block="topic")
    >>> [(line.source, line.df, round(line.ss, 3)) for line in table.sources]
    [('topic', 2, 6.417), ('a', 1, 2.25), ('error', 1, 0.25), ('total', 4, 7.2)]
    >>> mains["a"].difference.round(3).tolist(), mains["a"].statistic.round(3).tolist()
    ([-1.5], [4.243])
    """
    check_open_unit("confidence", confidence)
    fitted = _fit(values, columns, effects, block)
    table = _table(fitted, block, power)
    mains = [name for name in table.means if ":" not in name and name != block]
    return table, {name: _tukey_kramer(fitted, table, name, confidence) for name in mains}


def _fit(
    values: ArrayLike,
    columns: Mapping[str, Sequence[Any]],
    effects: Sequence[str],
    block: str | None,
) -> _Fitted:
    try:
        from statsmodels.formula.api import ols
    except ImportError:
        raise MachineError(
            "unbalanced data require the package statsmodels: pip install 'steadyrank[unbalanced]'"
        ) from None
    array = np.asarray(values, dtype=np.float64)
    lengths = {name: len(column) for name, column in columns.items()}
    if array.ndim != 1 or not array.size or set(lengths.values()) != {array.size}:
        raise InputError(
            f"values and columns need one length, at least 1, got shape {array.shape} and "
            f"{lengths or 'no columns'}"
        )
    names = tuple(columns)
    # Names and numbers are checked as for arrays with one axis per factor.
    check_observations(array.reshape(-1, *[1] * (len(names) - 1)), names)
    terms = named_effects(names, effects, block)
    codes = np.stack([_codes(name, column) for name, column in columns.items()])
    factors = [[f"C(f{axis}, Sum)" for axis in sorted(axes)] for axes in terms.values()]
    formula = "y ~ " + " + ".join(map(":".join, factors))
    model = ols(formula, data=_frame(codes, codes, array))
    _check_estimable(model.exog, terms)
    return _Fitted(values=array, codes=codes, names=names, terms=terms, model=model.fit())


def _codes(name: str, column: Sequence[Any]) -> np.ndarray:
    place = {level: i for i, level in enumerate(dict.fromkeys(map(str, column)))}
    if len(place) < 2:
        raise InputError(f"every observation has the same {name}: omit the factor")
    return np.array([place[str(level)] for level in column])


def _frame(codes: np.ndarray, known: np.ndarray, values: np.ndarray | None = None) -> pd.DataFrame:
    """Return codes as categories, so that levels keep their order."""
    import pandas as pd

    data: dict[str, Any] = {} if values is None else {"y": values}
    for axis, code in enumerate(codes):
        data[f"f{axis}"] = pd.Categorical(code, categories=list(range(int(known[axis].max()) + 1)))
    return pd.DataFrame(data)


def _check_estimable(design: np.ndarray, terms: Mapping[str, Axes]) -> None:
    n, width = design.shape
    if np.linalg.matrix_rank(design) < width:
        raise InputError(
            f"not all of {', '.join(terms)} can be estimated: required combinations of levels "
            "are missing; include only interactions of fewer factors, or omit levels"
        )
    if n <= width:
        raise InputError(
            f"no degrees of freedom are left for the error with {', '.join(terms)}: omit an "
            "effect, or add replicates"
        )


def _table(fitted: _Fitted, block: str | None, power: Power | None) -> Anova:
    split = _split(fitted)
    return Anova(
        sources=table_lines(split, block, power),
        n=fitted.values.size,
        mean=float(fitted.values.mean()),
        means=_means(fitted),
        power=power,
        flag="" if split.error.ss > 0.0 else ZERO_VARIANCE,
    )


def _split(fitted: _Fitted) -> Split:
    from statsmodels.stats.anova import anova_lm

    table = anova_lm(fitted.model, typ=3)
    amounts = {
        frozenset(map(int, re.findall(r"f(\d+)", str(row)))): Amount(float(ss), round(df))
        for row, ss, df in zip(table.index, table["sum_sq"], table["df"], strict=True)
        if str(row).startswith("C(")
    }
    rounding = ROUNDING * float(np.abs(fitted.values).max())
    df = round(fitted.model.df_resid)
    rest = float(fitted.model.ssr)
    error = Amount(0.0 if rest <= df * rounding**2 else rest, df)
    spread = fitted.values - fitted.values.mean()
    return Split(
        effects={name: amounts[axes] for name, axes in fitted.terms.items()},
        home=dict.fromkeys(fitted.terms, "error"),
        errors={"error": error},
        error=error,
        total=Amount(float(spread @ spread), fitted.values.size - 1),
    )


def _means(fitted: _Fitted) -> dict[str, np.ndarray]:
    """Return least-squares means of every term: averages of fitted values on the full grid."""
    shape = fitted.shape
    grid = np.indices(shape).reshape(len(shape), -1)
    cells = np.asarray(fitted.model.predict(_frame(grid, fitted.codes))).reshape(shape)
    everything = set(range(len(shape)))
    return {
        name: np.asarray(cells.mean(axis=tuple(sorted(everything - axes))))
        for name, axes in fitted.terms.items()
    }


def _tukey_kramer(fitted: _Fitted, table: Anova, factor: str, confidence: float) -> MainEffect:
    means, error = table.means[factor], table.source("error")
    scale = _standard_errors(fitted, factor, all_pairs(means.size)) / np.sqrt(2.0)
    return compared_levels(
        factor,
        means,
        n=int(np.bincount(fitted.codes[fitted.names.index(factor)]).min()),
        scale=scale if error.ms > 0.0 else np.zeros_like(scale),
        df=error.df,
        confidence=confidence,
    )


def _standard_errors(fitted: _Fitted, factor: str, pairs: np.ndarray) -> np.ndarray:
    """Return standard errors of differences of least-squares means, from main effects only."""
    axis = fitted.names.index(factor)
    n_levels = int(fitted.codes[axis].max()) + 1
    names = list(fitted.model.params.index)
    own = [i for i, name in enumerate(names) if re.fullmatch(rf"C\(f{axis},[^:]*", name)]
    covariance = np.asarray(fitted.model.cov_params())[np.ix_(own, own)]
    # By sum contrasts the last level's effect is minus the sum of the others.
    coding = np.vstack([np.eye(n_levels - 1), -np.ones(n_levels - 1)])
    contrast = coding[pairs[:, 0]] - coding[pairs[:, 1]]
    return np.asarray(np.sqrt(np.einsum("pi,ij,pj->p", contrast, covariance, contrast)))
