"""Tests of all pairs of runs, and of each run's pairs, by the largest t under sign flips.

For leaderboards with thousands of pairs, in which no claim should be false. The correction takes
the dependence between the tests of all pairs into account, which Holm's does not, so that it finds
more at the same error rate (Romano & Wolf 2005, doi:10.1111/j.1468-0262.2005.00615.x; Mogstad,
Romano, Shaikh & Wilhelm 2024, doi:10.1093/restud/rdad006).

**The flips.** If two runs are equal, both signs of their difference on a topic are equally likely.
So the signs of whole topics are flipped, the same for all runs, t is computed again for all pairs,
and the largest t is recorded. Over thousands of sign patterns these maxima are the null
distribution: a pair is rejected if few patterns reach its observed t. A pattern and its negative
both count, since hypotheses are one-sided.

**The steps.** A rejected hypothesis is removed, and the others are compared with the largest t of
the remaining ones. Only the observed direction of a pair can be rejected; the other never is, and
remains in all steps. With pairs sorted by their observed t, the maxima of all steps come from one
pass through the pairs, from the smallest t up (`kernels.step_counts`).

**Two levels.** In the family of *all pairs* all claims hold together. A run's *own* family, its
pairs with the others in both directions, gives the possible ranks of this one run. A claim about a
run by all pairs is also a claim of its own family: this is a part of the larger family, so that at
every step its largest t is at most as large. Therefore rank sets by own families are contained in
those by all pairs, and no run that is significantly worse than another could be first.

**The work.** Signs do not change the sum of squares S of n centred differences. So t depends on a
pattern only through the signed sum: with r = sum / sqrt(n S), t = r sqrt((n - 1) / (1 - r²)), which
increases with r, so that r replaces t. The signed sum of a pair is the difference of those of its
runs, which one matrix product gives for all runs and patterns; no array [pattern, pair] is made. If
pairs lack topics, or units differ in weight, statistics must first be made comparable, and the
array is made for some patterns at a time.

The observed statistic is the corrected t of `steadyrank.stats.pairs.corrected_t`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Unpack

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from steadyrank.data.scores import mean_of_present
from steadyrank.errors import InputError
from steadyrank.stats.inputs import check_open_unit, check_samples, checked
from steadyrank.stats.pairs import kernels
from steadyrank.stats.pairs.corrected_t import (
    corrected_t,
    corrected_widths,
    skewness_of_mean,
    variance_floor,
)
from steadyrank.stats.pairs.result import CONSTANT, all_pairs, tiny_of
from steadyrank.stats.pairs.sign_flips import USUAL, Flips, Taken, order_statistic, over_patterns
from steadyrank.stats.pairs.tests import differences, moments, slices
from steadyrank.stats.pairs.topic_design import Units

VALUES_AT_ONCE, PATTERNS_AT_ONCE, PAIRS_AT_ONCE = 1 << 20, 64, 1 << 14
"""Numbers in memory at a time: statistics of one thread (8 MiB); patterns for which one thread
holds the sums of all runs; pairs with the differences of their units."""

FEWEST_SHARED = 5
"""Fewest topics that a tested pair shares: four have only 16 sign patterns, too few for .05."""

GRID = 4096
"""Number of points of the tables of normal quantiles; any increasing table is valid."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MaxT:
    """Decisions about many pairs at both levels: arrays with one entry per pair."""

    pvalue: np.ndarray
    """Adjusted for the whole family, stepdown."""
    own: np.ndarray
    """[pair, 2]: p-values adjusted for the own family of the pair's first and second run."""
    critical: np.ndarray
    """Critical value of the corrected t in the first step of the whole family."""
    width: np.ndarray
    """[pair, 2]: distances from a difference down and up to its limits, which hold for the whole
    family. The limit towards 0 of a pair that a later step rejects is that of its step."""
    lead_width: np.ndarray
    """[lead, 2]: distances to the limits of each pair of `leads`, at the step that decides it in
    the own family of its second run."""
    n_patterns: int
    """Number of all sign patterns if `exact`, otherwise of drawn ones, which count with their
    negatives; 0 for a single pair, which is tested by Student's law."""
    exact: bool

    @property
    def least_pvalue(self) -> float:
        """Smallest possible p-value, given the number of patterns."""
        total = self.n_patterns if self.exact else 2 * self.n_patterns
        return 1.0 / (1.0 + total) if total else 0.0


Leads = Sequence[tuple[int, int]]
"""Pairs of a run and a lower one, such as the best two, for `MaxT.lead_width`."""


def max_t(
    scores: np.ndarray,
    pairs: np.ndarray,
    *,
    careful: bool = True,
    floor: np.ndarray | None = None,
    leads: Leads = (),
    **flips: Unpack[Flips],
) -> MaxT:
    """Adjust the p-values of paired t tests by the largest studentized statistic of the family.

    Every pair's differences are centred, the signs of whole topics are flipped, and t is computed
    again, with its standard error. The observed corrected t (with `careful=False` Student's t) is
    compared with the largest over the family. Hypotheses are one-sided for every ordered pair, so
    that a rejection states the direction; p = (1 + count) / (1 + patterns).

    `pairs` are the family, and `alpha` is its error rate, for limits. `floor` is the
    `variance_floor` of each pair's differences; by default that of all pairs of the runs. If scores
    are missing, pairs differ in their degrees of freedom; their t are then compared by the normal
    quantiles of the same tail probability. Pairs that share fewer than five topics are not tested.
    Two runs are a single pair: their corrected t has Student's quantile, and no floor.
    """
    scores, pairs = checked(scores, pairs)
    return _decide(_of_scores(scores, pairs, floor, careful=careful), pairs, leads, flips, careful)


def floor_of(scores: np.ndarray) -> float:
    """Return the variance floor of runs [run, topic], from all of their pairs."""
    return variance_floor(np.square(moments(scores, all_pairs(len(scores))).sd))


def unit_floor(units: Units) -> float:
    """Return the variance floor of units, from all pairs of runs."""
    errors = unit_errors(units, all_pairs(len(units.sums)))
    return variance_floor(np.square(errors) * units.n_draws)


def unit_errors(units: Units, pairs: np.ndarray) -> np.ndarray:
    """Return standard errors of the differences of pairs, without a floor."""
    return _spread_of_pairs(units, units.sums, pairs)[1]


def unit_max_t(
    units: Units,
    pairs: np.ndarray,
    *,
    careful: bool = True,
    is_centred: bool = True,
    floor: np.ndarray | None = None,
    estimate: tuple[np.ndarray, np.ndarray] | None = None,
    df: np.ndarray | None = None,
    places: np.ndarray | None = None,
    leads: Leads = (),
    **flips: Unpack[Flips],
) -> MaxT:
    """Return `max_t` of units, which may differ in weight or come in strata.

    With values v of the units of a stratum and shares s of them in its weights, its mean is M = sum
    v, with the linearised variance m/(m - 1) sum (v - M s)² of its m units; strata add up. A flip
    changes M and the cross product of v and s, both sums over signed units, and does not change sum
    v²: two matrix products suffice for t of all pairs and patterns.

    Scores are complete, and the `floor` is for variances of the mean differences, times the number
    of draws. For few and unequal clusters differences must not be centred first (`is_centred`):
    residuals about an estimated mean are too small then (10 clusters of 1 to 11 topics, five equal
    runs: level .10 for .05). `estimate` are mean differences of all pairs and their standard
    errors, with `df` degrees of freedom, if not those of the units; `places` is the position of
    each unit's sign in a pattern, by default that of the unit.
    """
    pairs, value = np.ascontiguousarray(pairs), units.value
    if min(units.sizes) < 2:
        raise InputError("resampling requires at least two units, got one")
    values = units.residual if is_centred else units.sums
    squares, errors, skewness = _spread_of_pairs(units, values, pairs)
    difference = value[pairs[:, 0]] - value[pairs[:, 1]]
    # Standard errors up to this are only rounding.
    least = tiny_of(difference)
    if is_centred:
        squares[:, errors <= least] = 0.0
    if estimate is not None:
        difference, errors = estimate
    n = np.full(len(pairs), units.n_draws) if df is None else df + 1.0
    if floor is None and careful:
        own = np.square(errors) * n if estimate is not None else None
        level = unit_floor(units) if own is None else variance_floor(own)
        floor = np.full(len(pairs), level)
    added = np.zeros(len(pairs)) if floor is None else floor / ((n - 1.0) * n)
    squares[0] += added
    observed = Observed(
        **_corrected(difference, np.where(errors <= least, 0.0, errors), skewness, n, added, floor),
        tested=np.ones(len(pairs), bool),
        scaled=lambda t: t,
        to_t=lambda limit: np.full(len(pairs), limit),
        flipped=_flipped_units(units, values, squares, places),
        n_runs=len(value),
        n_signs=units.sums.shape[1],
    )
    return _decide(observed, pairs, leads, flips, careful)


def _one_pair(observed: Observed, pairs: np.ndarray, leads: Leads, alpha: float) -> MaxT:
    """Test a single pair by the corrected t and Student's law, without flips."""
    df = observed.n - 1.0
    critical = stdtrit(df, 1.0 - 0.5 * alpha)
    pvalue = 2.0 * stdtr(df, -observed.size)
    pvalue = np.where(observed.tested & ~np.isnan(observed.size), pvalue, 1.0)
    width = observed.widths(critical)
    return MaxT(
        pvalue=pvalue,
        own=np.repeat(pvalue[:, None], 2, axis=1),
        critical=critical,
        width=width,
        lead_width=np.array(
            [width[0] if first == pairs[0, 0] else width[0, ::-1] for first, _ in leads]
        ).reshape(-1, 2),
        n_patterns=0,
        exact=False,
    )


def max_t_level(n: np.ndarray, critical: np.ndarray, alpha: float) -> float:
    """Return the level of a single t test with the critical value of a family; 0 without one."""
    usable = n > 1
    if not usable.any() or np.isinf(critical[usable][0]):
        return 0.0
    level = float(2.0 * stdtr(n[usable][0] - 1.0, -critical[usable][0]))
    return level if level < 1.0 else alpha  # no two runs differ at all: nothing to correct


@dataclass(frozen=True, slots=True, eq=False)
class FlippedStatistics:
    """Flipped statistics of a family's pairs, the better run first.

    The statistic of a pair is the difference of two rows of values [row, pattern], times a weight.
    """

    rows: np.ndarray
    """[pair, 2]"""
    weight: np.ndarray
    values: Callable[[np.ndarray], Iterator[np.ndarray]]
    """Yields values for signs [pattern, unit], some patterns at a time, in their order."""


def _of_values(
    n_pairs: int,
    sums: Callable[[np.ndarray], tuple[np.ndarray, ...]],
    statistics: Callable[..., None],
) -> FlippedStatistics:
    """Return statistics that are written to an array [pair, pattern], from `sums` of patterns.

    Sums are computed for a whole block of patterns, because the last bits of a product may depend
    on its number of rows. Every pair has one row, from which a row of zeros is subtracted.
    """

    def values(signs: np.ndarray) -> Iterator[np.ndarray]:
        arrays = sums(signs)
        for part in slices(len(signs), max(1, VALUES_AT_ONCE // max(1, n_pairs))):
            by_pair = np.zeros((n_pairs + 1, part.stop - part.start))
            statistics(*(array[part] for array in arrays), by_pair[:-1])
            yield by_pair

    rows = np.stack([np.arange(n_pairs), np.full(n_pairs, n_pairs)], axis=1)
    return FlippedStatistics(rows, np.ones(n_pairs), values)


Flipped = Callable[[np.ndarray, np.ndarray], FlippedStatistics]
"""Function of pairs, the better run first, and of their positions among all pairs."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observed:
    """The observed statistics of each pair, and how to compute flipped ones."""

    difference: np.ndarray
    error: np.ndarray
    """Standard error of the difference, with the floor."""
    skewness: np.ndarray | None
    """Skewness of the mean difference; None for Student's t."""
    n: np.ndarray
    """Number of draws of each difference."""
    size: np.ndarray
    """Corrected t; infinite for a difference without error, NaN if both are 0."""
    tested: np.ndarray
    scaled: Callable[[np.ndarray], np.ndarray]
    """Makes `size` comparable with flipped statistics."""
    to_t: Callable[[float], np.ndarray]
    """Converts a comparable limit to the t of every pair."""
    flipped: Flipped
    n_runs: int
    n_signs: int

    def widths(self, critical: np.ndarray) -> np.ndarray:
        """Return [pair, 2]: distances from each difference down and up to its limits."""
        widths = corrected_widths(critical, self.error, self.skewness, self.n)
        widths[~self.tested] = np.inf
        return widths


def _corrected(
    difference: np.ndarray,
    error: np.ndarray,
    skewness: np.ndarray,
    n: np.ndarray,
    added: np.ndarray,
    floor: np.ndarray | None,
) -> dict[str, Any]:
    """Return differences, errors and skewness, with `added` by a floor to the variance."""
    widened = np.sqrt(np.square(error) + added)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = difference / widened
        skewness = np.where(widened > 0.0, skewness * (error / widened) ** 3, 0.0)
    # Without error t is infinite, or NaN for a difference of 0.
    none = np.abs(difference) <= tiny_of(difference)
    t[(widened == 0.0) & none] = np.nan
    return {
        "difference": difference,
        "error": widened,
        "skewness": None if floor is None else skewness,
        "n": n,
        "size": np.abs(t) if floor is None else corrected_t(t, skewness, n),
    }


def _decide(
    observed: Observed, pairs: np.ndarray, leads: Leads, flips: Flips, careful: bool
) -> MaxT:
    """Compare each observed statistic with the largest of it and lower ones, in all patterns."""
    check_samples(flips.get("n_samples", USUAL))
    alpha, n_pairs = check_open_unit("alpha", flips.get("alpha", 0.05)), len(pairs)
    if observed.n_runs == 2 and careful:
        return _one_pair(observed, pairs, leads, alpha)
    walk = _walk(observed, pairs, flips)
    place, ordered = walk.place, walk.ordered
    turned = observed.difference[place] < 0.0
    families = _families(ordered, observed.n_runs)
    taken = walk.count(families.members, families.starts)
    stepped = _stepped(taken.pvalue, families.starts)
    pvalue, own = np.ones(n_pairs), np.ones((n_pairs, 2))
    pvalue[place] = stepped[: len(place)]
    sides = families.by_side(stepped)
    own[place] = np.where(turned[:, None], sides[:, ::-1], sides)
    first, at_step = walk.limits(np.arange(len(place)), np.concatenate(taken.kept, axis=1))
    critical = observed.to_t(first)
    return MaxT(
        pvalue=pvalue,
        own=own,
        critical=critical,
        width=observed.widths(walk.step_criticals(critical, at_step, pvalue <= alpha)),
        lead_width=np.array([walk.lead_width(lead) for lead in leads]).reshape(-1, 2),
        n_patterns=taken.n_patterns,
        exact=taken.exact,
    )


def max_t_pvalues(
    scores: np.ndarray, pairs: np.ndarray, *, careful: bool = True, **flips: Unpack[Flips]
) -> np.ndarray:
    """Return only the adjusted p-values of `max_t`, in a third of its time."""
    observed = _of_scores(scores, pairs, None, careful=careful)
    if len(scores) == 2 and careful:
        return _one_pair(observed, pairs, (), flips.get("alpha", 0.05)).pvalue
    walk = _walk(observed, pairs, flips)
    n_tested, pvalue = len(walk.place), np.ones(len(pairs))
    starts = np.array([0, n_tested])
    pvalue[walk.place] = _stepped(walk.count(np.arange(n_tested), starts).pvalue, starts)
    return pvalue


def _walk(observed: Observed, pairs: np.ndarray, flips: Flips) -> _Walk:
    scaled = np.where(observed.tested, observed.scaled(observed.size), np.nan)
    tested = np.flatnonzero(~np.isnan(scaled))
    place = tested[np.argsort(-scaled[tested], kind="stable")]
    turned = observed.difference[place] < 0.0
    ordered = np.where(turned[:, None], pairs[place][:, ::-1], pairs[place])
    return _Walk(
        family=observed,
        pairs=pairs,
        place=place,
        ordered=ordered,
        statistics=observed.flipped(np.ascontiguousarray(ordered), place),
        # A flip that ties with the observed statistic counts, despite rounding.
        observed=scaled[place] * (1.0 - CONSTANT),
        flips=flips,
    )


class _Families(NamedTuple):
    """All pairs, then those of each run: positions of pairs from the largest statistic down."""

    members: np.ndarray
    starts: np.ndarray
    order: np.ndarray
    """2 × pair + side of each member of the runs' families."""

    def by_side(self, values: np.ndarray) -> np.ndarray:
        """Return [pair, 2]: members' values in the families of the better and the worse run."""
        sides = np.empty(len(self.order))
        sides[self.order] = values[len(values) - len(self.order) :]
        return sides.reshape(-1, 2)


def _families(ordered: np.ndarray, n_runs: int) -> _Families:
    n_pairs, run = len(ordered), ordered.ravel()
    order = np.argsort(run, kind="stable")
    ends = n_pairs + np.cumsum(np.bincount(run, minlength=n_runs))
    members = np.concatenate([np.arange(n_pairs), order // 2])
    return _Families(members, np.concatenate([[0, n_pairs], ends]), order)


def _stepped(pvalue: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the p-values of a stepdown: in each family none is below an earlier one."""
    for first, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        np.maximum.accumulate(pvalue[first:stop], out=pvalue[first:stop])
    return np.asarray(np.minimum(1.0, pvalue))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Walk:
    """The tested pairs from the largest statistic down, for stepdowns over all patterns."""

    family: Observed
    pairs: np.ndarray
    place: np.ndarray
    """Positions of the tested pairs in `pairs`."""
    ordered: np.ndarray
    """The tested pairs, with the better run first."""
    statistics: FlippedStatistics
    observed: np.ndarray
    """Comparable statistics of the tested pairs."""
    flips: Flips

    def count(
        self, members: np.ndarray, starts: np.ndarray, skip: int = 0, *, is_silent: bool = False
    ) -> Taken:
        """Count how often the largest statistic reaches each member; keep the first family's."""
        rows, weight = self.statistics.rows, self.statistics.weight

        def counted(signs: np.ndarray, counts: np.ndarray) -> np.ndarray:
            largest = []
            for values in self.statistics.values(signs):
                largest.append(np.empty((2, values.shape[1])))
                kernels.step_counts(
                    values, rows, weight, self.observed, members, starts, skip, counts, largest[-1]
                )
            return np.concatenate(largest, axis=1)

        flips: Flips = {**self.flips, "progress": None} if is_silent else self.flips
        size, n_pairs = len(members), len(self.pairs)
        return over_patterns(self.family.n_signs, counted, size, n_pairs=n_pairs, flips=flips)

    def limits(
        self, members: np.ndarray, largest: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        """Return the limit of a family's first step, and of the step that decides each member.

        `largest` are the largest statistics of the first step, if already computed.
        """
        alpha, observed = self.flips.get("alpha", 0.05), self.observed[members]
        starts, at_step = np.array([0, len(members)]), np.empty(len(members))
        first, decided = None, 0
        while True:
            if largest is None:
                taken = self.count(members, starts, decided, is_silent=True)
                largest = np.concatenate(taken.kept, axis=1)
            limit = order_statistic(largest.ravel(), alpha)
            first = limit if first is None else first
            rejected = decided + int(np.searchsorted(-observed[decided:], -limit))
            at_step[decided:] = limit
            if rejected in (decided, len(members)):
                return first, at_step
            decided, largest = rejected, None

    def step_criticals(
        self, critical: np.ndarray, at_step: np.ndarray, is_claimed: np.ndarray
    ) -> np.ndarray:
        """Return [pair, 2]: critical t of the first step; towards 0 of a claim that of its step."""
        sides, family = np.stack([critical, critical], axis=1), self.family
        for limit in np.unique(at_step):
            pairs = self.place[at_step == limit]
            pairs = pairs[is_claimed[pairs]]
            side = np.where(family.difference[pairs] < 0.0, 1, 0)
            sides[pairs, side] = family.to_t(limit)[pairs]
        return sides

    def lead_width(self, lead: tuple[int, int]) -> np.ndarray:
        """Return the distances to the limits of the pair `lead` in its second run's own family."""
        members = np.flatnonzero((self.ordered == lead[1]).any(axis=1))
        (pair,) = np.flatnonzero((np.sort(self.pairs, axis=1) == sorted(lead)).all(axis=1))
        at = np.flatnonzero(self.place[members] == pair)
        if not len(at):
            return np.full(2, 0.0 if self.family.tested[pair] else np.inf)
        _, at_step = self.limits(members)
        widths = self.family.widths(self.family.to_t(at_step[at[0]]))[pair]
        return np.asarray(widths if self.pairs[pair, 0] == lead[0] else widths[::-1])


def _flipped_units(
    units: Units, values: np.ndarray, squares: np.ndarray, places: np.ndarray | None
) -> Flipped:
    """Return the function that computes the statistics of pairs from the signs of units."""
    ends, factor = np.cumsum(units.sizes)[:-1], units.factor
    weighted = values * units.share * np.repeat(factor, units.sizes)
    spread = factor * units.by_stratum(np.square(units.share))
    by_stratum = [np.split(rows, ends, axis=1) for rows in (values, weighted)]

    def sums(signs: np.ndarray) -> tuple[np.ndarray, ...]:
        parts = np.split(signs if places is None else signs[:, places], ends, axis=1)
        return tuple(
            np.stack([part @ own.T for part, own in zip(parts, columns, strict=True)], axis=1)
            for columns in by_stratum
        )

    def flipped(ordered: np.ndarray, rows: np.ndarray) -> FlippedStatistics:
        own = np.ascontiguousarray(squares[:, rows])

        def statistics(first: np.ndarray, second: np.ndarray, out: np.ndarray) -> None:
            by_run = (np.ascontiguousarray(each.transpose(1, 2, 0)) for each in (first, second))
            kernels.unit_statistics(*by_run, ordered, own, spread, out)

        return _of_values(len(ordered), sums, statistics)

    return flipped


def _spread_of_pairs(
    units: Units, values: np.ndarray, pairs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return squares [stratum, pair] of the values' differences; errors and skewness of means.

    They are computed from differences, because products of values would cancel.
    """
    factor, residual = units.factor[:, None], units.residual
    squares = np.empty((len(units.sizes), len(pairs)))
    errors, skewness = np.empty((2, len(pairs)))
    for part in slices(len(pairs), PAIRS_AT_ONCE):
        first, second = pairs[part].T
        off = residual[first] - residual[second]
        own = factor * units.by_stratum(np.square(off)).T
        errors[part], skewness[part] = np.sqrt(own.sum(axis=0)), skewness_of_mean(off)
        squares[:, part] = factor * units.by_stratum(np.square(values[first] - values[second])).T
    return squares, errors, skewness


def _of_scores(
    scores: np.ndarray, pairs: np.ndarray, floor: np.ndarray | None, *, careful: bool
) -> Observed:
    """Return the observed statistics of pairs of scores that may lack topics."""
    found = moments(scores, pairs)
    if floor is None and careful:
        is_all = 2 * len(pairs) == len(scores) * (len(scores) - 1)
        level = variance_floor(np.square(found.sd)) if is_all else floor_of(scores)
        floor = np.full(len(pairs), level)
    n = np.maximum(found.n.astype(np.float64), 1.0)
    added = np.zeros(len(pairs)) if floor is None else floor / (np.maximum(n - 1.0, 1.0) * n)
    figures = _corrected(found.mean, found.standard_error, found.skewness, n, added, floor)
    tested = (found.n >= FEWEST_SHARED) | ((found.n == scores.shape[1]) & (found.n > 1))
    # r = sum / sqrt(n S), of which the standard error is sqrt(S / (n (n - 1))).
    with np.errstate(divide="ignore"):
        weight = np.where(
            figures["error"] > 0.0, 1.0 / (figures["error"] * n * np.sqrt(n - 1.0)), 0.0
        )
    gaps = _Gaps(
        scores=scores,
        centred=np.nan_to_num(scores - mean_of_present(scores)[:, None]).T,
        mean=found.mean,
        n=found.n,
        weight=weight,
        scale=_scale(found.n[tested], scores.shape[1]),
    )
    return Observed(
        **figures,
        tested=tested,
        scaled=lambda t: gaps.scale.of_t(t, found.n),
        to_t=lambda limit: gaps.scale.to_t(limit, found.n),
        flipped=gaps.flipped,
        n_runs=len(scores),
        n_signs=scores.shape[1],
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _RScale:
    """Makes r = |sum of signed differences| / sqrt(n sum of squares) comparable between pairs.

    With equal numbers of topics r itself is comparable; t = r sqrt((n - 1) / (1 - r²)).
    """

    sizes: np.ndarray
    """Numbers of topics that occur; empty if all pairs have the same."""
    table: np.ndarray
    """[size, GRID]: normal quantiles on an equidistant grid of r from 0 to 1."""
    n: int
    """The number of topics of all pairs, if they have the same."""

    def of_t(self, t: np.ndarray, n: np.ndarray) -> np.ndarray:
        """Return the comparable value of the t of pairs with n topics; infinite if t is."""
        with np.errstate(invalid="ignore"):
            r = t / np.sqrt(np.maximum(n - 1.0, 1.0) + np.square(t))
        if len(self.sizes):
            known = np.flatnonzero(np.isin(n, self.sizes) & ~np.isnan(r))
            looked_up = r[known][:, None]
            place = np.searchsorted(self.sizes, n[known])
            kernels.look_up(looked_up, place, self.table, looked_up)
            r[known] = looked_up[:, 0]
        return np.where(np.isinf(t), np.inf, r)

    def to_t(self, value: float, n: np.ndarray) -> np.ndarray:
        """Return the t of pairs with n topics for a comparable value."""
        # r is 1, up to rounding, if a pattern makes all differences equal.
        if math.isinf(value) or (not len(self.sizes) and value * value >= 1.0):
            return np.full(len(n), np.inf)
        df = np.maximum(n - 1.0, 1.0)
        if not len(self.sizes):
            return np.full(len(n), value * math.sqrt((self.n - 1.0) / (1.0 - value * value)))
        return np.asarray(-stdtrit(df, ndtr(-value)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Gaps:
    """Data for the flipped statistics of pairs that may lack topics."""

    scores: np.ndarray
    centred: np.ndarray
    """[topic, run], 0 where missing."""
    mean: np.ndarray
    n: np.ndarray
    weight: np.ndarray
    """1 / sqrt(n sum of squares) of the centred differences; 0 without variance."""
    scale: _RScale

    def flipped(self, pairs: np.ndarray, rows: np.ndarray) -> FlippedStatistics:
        """Return the statistics of these pairs, whose better run is first, `rows` of all."""
        n, weight, scale = self.n[rows], self.weight[rows], self.scale
        gaps = np.flatnonzero(n < len(self.centred))
        if not len(gaps) and not len(scale.sizes):
            return FlippedStatistics(pairs, weight, self._sums)
        mean, place = np.abs(self.mean[rows]), np.searchsorted(scale.sizes, n)
        own = _gap_differences(self.scores, pairs[gaps], mean[gaps], weight[gaps])

        def statistics(sums: np.ndarray, signs: np.ndarray, values: np.ndarray) -> None:
            kernels.signed_differences(np.ascontiguousarray(sums.T), pairs, weight, values)
            if len(gaps):
                values[gaps] = (signs @ own).T
            if len(scale.sizes):
                kernels.look_up(values, place, scale.table, values)

        return _of_values(len(pairs), lambda signs: (signs @ self.centred, signs), statistics)

    def _sums(self, signs: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the runs' signed sums; complete pairs need no array of all statistics."""
        sums = signs @ self.centred
        for part in slices(len(signs), PATTERNS_AT_ONCE):
            yield np.ascontiguousarray(sums[part].T)


def _scale(n: np.ndarray, n_topics: int) -> _RScale:
    sizes = np.unique(n)
    if len(sizes) <= 1:
        only = int(sizes[0]) if len(sizes) else n_topics
        return _RScale(sizes=np.zeros(0, np.int64), table=np.zeros((0, 0)), n=only)
    return _RScale(sizes=sizes, table=np.stack([_quantiles(int(size)) for size in sizes]), n=0)


@lru_cache(maxsize=256)
def _quantiles(n: int) -> np.ndarray:
    """Return normal quantiles for n topics on the grid of r."""
    r = np.arange(GRID) / (GRID - 1.0)
    # The last point would be infinite; a slightly smaller r takes its place.
    inner = np.minimum(r, 1.0 - 0.5 / GRID)
    t = inner * np.sqrt((n - 1.0) / (1.0 - np.square(inner)))
    return np.asarray(-ndtri(stdtr(n - 1.0, -t)))


def _gap_differences(
    scores: np.ndarray, pairs: np.ndarray, mean: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Return weighted centred differences of pairs that lack topics, 0 where missing."""
    z = np.empty((scores.shape[1], len(pairs)))
    for part, off, _ in differences(scores, pairs):
        z[:, part] = ((off - mean[part, None]) * weight[part, None]).T
    return np.nan_to_num(z, copy=False)
