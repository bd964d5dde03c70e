"""Which factors explain the variation? Analysis of variance of balanced factorial designs.

For factors (measures, sizes, components of a system) that are crossed with blocks (samples,
topics). Sums of squares are computed from marginal means. Tables have effect sizes as well as
p-values, since with many observations everything is significant (Ferro 2018; Ferro and Silvello
2018). Tukey's honest differences show which levels of a factor differ, for all pairs together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from math import prod
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from steadyrank.errors import InputError, check_choice, unknown_name
from steadyrank.notebook import Framed, shown_by
from steadyrank.stats.anova.parts import (
    DEPENDS,
    Amount,
    Axes,
    Split,
    closed_family,
    decompose,
    proper_parts,
    split_total,
)
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.pairs import studentized_range
from steadyrank.stats.pairs.result import ZERO_VARIANCE, all_pairs
from steadyrank.stats.planning.design import f_power

Power = Literal["observed", "omega"]
"""Noncentrality of an observed power: df F, or max(0, df (F - 1)), which omega squared implies."""

ROUNDING = 16.0 * float(np.finfo(np.float64).eps)
"""A spread of at most this times the largest absolute value is only rounding."""

NAN = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnovaSource:
    """One line of the table; NaN where a column does not apply to the source."""

    source: str
    ss: float
    df: int
    ms: float
    statistic: float = NAN
    """F, the mean square over that of `tested_against`."""
    pvalue: float = NAN
    tested_against: str = ""
    """The source that is its error; "" without one."""
    omega_squared: float = NAN
    """df (F - 1) / (df (F - 1) + N), at least 0: partial omega squared, the share of the variance
    without all other effects."""
    omega_squared_raw: float = NAN
    """`omega_squared` before it is limited to 0: negative if F < 1."""
    overall_omega_squared: float = NAN
    """(SS - df MSE) / (SS total + MSE), at least 0: the share of the total variance."""
    eta_squared: float = NAN
    """SS / SS total."""
    partial_eta_squared: float = NAN
    """SS / (SS + SS error)."""

    def row(self) -> dict[str, Any]:
        """Return the line with the keys of the JSON output."""
        keys = (
            "source ss df ms f pvalue omega_squared power omega_squared_raw overall_omega_squared "
            "eta_squared partial_eta_squared tested_against"
        )
        # Observed power restates p: `observed_power` has both conventions.
        row = asdict(self) | {"f": self.statistic, "power": None}
        row["tested_against"] = self.tested_against or None
        return {key: row[key] for key in keys.split()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class Anova(Framed):
    """An ANOVA table: the effects in their order, the errors, and the total."""

    sources: tuple[AnovaSource, ...]
    n: int
    mean: float
    means: Mapping[str, np.ndarray]
    """Effect to the means of its cells, one axis per factor in the order of the data."""
    flag: str
    """"", or "zero_variance" if the error is only rounding: F is infinite or 0."""

    def source(self, name: str) -> AnovaSource:
        """Return the line of that name."""
        for line in self.sources:
            if line.source == name:
                return line
        raise unknown_name("source", name, [line.source for line in self.sources])

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per source, with the keys of the JSON output."""
        return [line.row() for line in self.sources]

    def caption(self) -> str:
        """Return a line with the number of observations and the mean."""
        return f"Analysis of variance of {self.n:,} observations, mean {self.mean:.4g}."


def anova(
    values: ArrayLike,
    *,
    factors: Sequence[str | None],
    effects: Sequence[str] | None = None,
    block: str | None = None,
    strata: Sequence[str] = (),
) -> Anova:
    """Return the ANOVA of a balanced design, from an array with one axis per factor.

    `factors` names the axes; None denotes replicates. `effects` are factors and interactions such
    as "a:b" (by default, all main effects and two-way interactions of the factors other than the
    block). `block` is a main effect without an effect size. `strata` are terms whose units have
    separate errors, as in R's `Error()`: an effect is tested within the smallest stratum that
    contains it, or else against the remaining error; effect sizes use the sum of all errors.
    Reference: Rutherford 2011, ANOVA and ANCOVA: a GLM approach, 2nd edition.
    """
    array = _checked(values, factors)
    terms = _named_effects(factors, effects, block)
    layers = {name: _axes(name, factors) for name in strata}
    # A stratum of single observations is the remaining error.
    layers = {
        name: axes
        for name, axes in layers.items()
        if prod(array.shape[axis] for axis in axes) < array.size
    }
    parts = decompose(array, closed_family([*terms.values(), *layers.values()]))
    rounding = ROUNDING * max(float(array.max()), -float(array.min()))
    split = split_total(parts, terms, layers, array.shape, rounding)
    if split.error.df < 1:
        raise InputError(
            f"no degrees of freedom are left for the error with {', '.join(terms)}: omit an "
            "effect, or add replicates"
        )
    return Anova(
        sources=table_lines(split, block),
        n=array.size,
        mean=parts.mean,
        means={name: parts.cell_means(axes) for name, axes in terms.items()},
        flag="" if split.error.ss > 0.0 else ZERO_VARIANCE,
    )


def without_tests(table: Anova) -> Anova:
    """Return the table without F and p, for observations that are not independent."""
    bare = (replace(own, statistic=NAN, pvalue=NAN, tested_against="") for own in table.sources)
    return replace(table, sources=tuple(bare))


def crossed_strata(unit: str, factors: Sequence[str]) -> list[str]:
    """Return the strata that test every effect against its interaction with `unit`.

    R's `Error(unit / (a * b))`.

    >>> crossed_strata("topic", ["a", "b"])
    ['topic', 'topic:a', 'topic:b', 'topic:a:b']
    """
    sizes = range(len(factors) + 1)
    return [":".join([unit, *some]) for size in sizes for some in combinations(factors, size)]


def observed_power(
    statistic: float, df: int, df_error: int, *, convention: Power = "observed"
) -> float:
    """Return the probability of another significant F if the true effect were the observed one.

    P(F' > F(.95; df, df_error)), F' noncentral with lambda = df F ("observed") or
    max(0, df (F - 1)) ("omega", less biased). It is a function of the p-value (Hoenig and Heisey
    2001, doi:10.1198/000313001300339897).

    >>> round(observed_power(2.0079, 54, 195399, convention="omega"), 4)
    0.9862
    """
    check_choice("convention of power", convention, get_args(Power))
    if np.isinf(statistic):
        return 1.0
    shift = statistic if convention == "observed" else max(0.0, statistic - 1.0)
    return float(f_power(df * shift, df, df_error))


def _checked(values: ArrayLike, factors: Sequence[str | None]) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != len(factors) or not array.size:
        raise InputError(
            f"{len(factors)} factors need an array of as many axes, none empty, got shape "
            f"{array.shape}"
        )
    names = [name for name in factors if name is not None]
    for name in names:
        if names.count(name) > 1 or not name or ":" in name or name in ("error", "total"):
            raise InputError(
                f"the factor name {name!r} cannot be used: names must differ, hold no colon, and "
                "not be 'error' or 'total'"
            )
    wrong = ~np.isfinite(array)
    if wrong.any():
        first = np.argwhere(wrong)[0].tolist()
        cell = ", ".join(f"{n or 'replicate'} {i}" for n, i in zip(factors, first, strict=True))
        raise InputError(
            f"unbalanced: {int(wrong.sum())} of {array.size} observations have no number "
            f"(first: {cell}, counted from 0); {DEPENDS}: omit the levels that lack "
            "observations"
        )
    return array


def _named_effects(
    factors: Sequence[str | None], effects: Sequence[str] | None, block: str | None
) -> dict[str, Axes]:
    """Return effects by name, the block first; an interaction requires all terms in it."""
    names = [name for name in factors if name is not None]
    if effects is None:
        inner = [name for name in names if name != block]
        effects = [*inner, *(":".join(pair) for pair in combinations(inner, 2))]
    asked = [*([] if block is None else [block]), *effects]
    terms = {name: _axes(name, factors) for name in asked}
    if not terms or len(set(terms.values())) < len(asked):
        raise InputError(f"name at least one effect, each once, got {', '.join(asked) or 'none'}")
    for name, axes in terms.items():
        for part in proper_parts(axes):
            if part not in terms.values():
                needed = ":".join(str(factors[axis]) for axis in sorted(part))
                raise InputError(f"{name} requires {needed} in the model: add it, or omit {name}")
    return terms


def _axes(term: str, factors: Sequence[str | None]) -> Axes:
    for name in term.split(":"):
        if name not in factors:
            raise unknown_name("factor", name, [known for known in factors if known is not None])
    return frozenset(factors.index(name) for name in term.split(":"))


def table_lines(split: Split, block: str | None) -> tuple[AnovaSource, ...]:
    """Return lines of effects, of errors with degrees of freedom, and of the total."""
    lines = [_line(name, split, is_block=name == block) for name in split.effects]
    ends = [
        AnovaSource(source=name, ss=error.ss, df=error.df, ms=error.ms)
        for name, error in split.errors.items()
        if error.df
    ]
    total = AnovaSource(source="total", ss=split.total.ss, df=split.total.df, ms=NAN)
    return (*lines, *ends, total)


def _line(name: str, split: Split, *, is_block: bool) -> AnovaSource:
    effect, against = split.effects[name], split.home[name]
    fields: dict[str, Any] = {"source": name, "ss": effect.ss, "df": effect.df, "ms": effect.ms}
    if effect.df and split.errors[against].df:
        error = split.errors[against]
        f = _ratio(effect.ms, error.ms)
        pvalue = float(special.fdtrc(effect.df, error.df, f)) if np.isfinite(f) else 0.0
        fields |= {"statistic": f, "pvalue": pvalue, "tested_against": against}
    if effect.df and not is_block:
        fields |= _effect_sizes(effect, split)
    return AnovaSource(**fields)


def _ratio(numerator: float, denominator: float) -> float:
    if denominator > 0.0:
        return numerator / denominator
    return float("inf") if numerator > 0.0 else 0.0


def _effect_sizes(effect: Amount, split: Split) -> dict[str, Any]:
    error, total = split.error, split.total
    surplus = effect.ss - effect.df * error.ms
    # df (F - 1) / (df (F - 1) + N), both multiplied by the mean square of the error.
    raw = _share(surplus, surplus + (total.df + 1) * error.ms)
    return {
        "omega_squared": max(0.0, raw),
        "omega_squared_raw": raw,
        "overall_omega_squared": max(0.0, _share(surplus, total.ss + error.ms)),
        "eta_squared": _share(effect.ss, total.ss),
        "partial_eta_squared": _share(effect.ss, effect.ss + error.ss),
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MainEffect:
    """The levels of one factor, and Tukey's honest differences between them."""

    factor: str
    means: np.ndarray
    n: int
    pairs: np.ndarray  # [pair, 2]: positions of two levels
    difference: np.ndarray
    interval: np.ndarray
    """[pair, 2]: intervals of differences, which hold for all pairs together."""
    statistic: np.ndarray
    pvalue: np.ndarray
    confidence: float
    half_width: float
    """Half width of intervals around the means; two levels differ if theirs do not overlap."""

    @property
    def significant(self) -> np.ndarray:
        """[pair]: whether the levels differ, with this confidence for all pairs together."""
        return np.asarray(self.pvalue < 1.0 - self.confidence)


def tukey_main_effect(table: Anova, factor: str, *, confidence: float = 0.95) -> MainEffect:
    """Return Tukey's test of all pairs of levels of a factor, by the error of its F.

    q = |difference of two level means| / sqrt(MS(error) / n), n observations per level; p is the
    probability that the studentised range of k means with the error's degrees of freedom exceeds q.
    Without error, means that differ by more than rounding differ significantly.

    Reference: Tukey 1949, doi:10.2307/3001913; Hochberg and Tamhane 1987.
    """
    check_open_unit("confidence", confidence)
    mains = {name: means for name, means in table.means.items() if ":" not in name}
    check_choice("main effect", factor, mains)
    means, against = mains[factor], table.source(factor).tested_against
    pairs, n = all_pairs(means.size), table.n // means.size
    difference = means[pairs[:, 0]] - means[pairs[:, 1]]
    statistic = pvalue = np.full(difference.shape, NAN)
    width = NAN
    if against and len(pairs):
        error = table.source(against)
        scale = float(np.sqrt(error.ms / n))
        width = scale
        if scale > 0.0:
            statistic = np.abs(difference) / scale
            pvalue = studentized_range.survival_many(statistic, means.size, error.df)
            width *= studentized_range.critical_value(1.0 - confidence, means.size, error.df)
        else:
            differs = np.abs(difference) > ROUNDING * np.abs(means).max()
            statistic, pvalue = np.where(differs, np.inf, 0.0), np.where(differs, 0.0, 1.0)
    return MainEffect(
        factor=factor,
        means=means,
        n=n,
        pairs=pairs,
        difference=difference,
        interval=np.stack([difference - width, difference + width], axis=1),
        statistic=statistic,
        pvalue=pvalue,
        confidence=confidence,
        half_width=width / 2.0,
    )
