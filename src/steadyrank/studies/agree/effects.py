"""What drives the correlation of measures: effect sizes, and how far other data would move them.

For `studies.agree.study`. The samples of a study are drawn from one and the same topics and
systems. More samples make their mean steadier and add no information about other topics and
systems, so F and p, which take samples for independent observations, measure how many samples were
drawn. Effect sizes do not; their intervals come from resampled topics and systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from steadyrank.data.scores import mean_of_present
from steadyrank.stats.anova.balanced import Anova, Power, anova, crossed_strata, without_tests
from steadyrank.stats.interval import Interval
from steadyrank.studies.agree.samples import MeasureSamples

Coefficient = Literal["tau", "tau_ap"]
Reference = Literal["both", "first", "second"]
Mode = Literal["sound", "paper"]
Strata = Literal["none", "sample", "subject"]

FACTORS = ("measure_pair", "topic_size", "system_size", "subject")
"""The axes of correlations, in this order."""

STRATA: Mapping[str, Sequence[str]] = {
    "none": (),
    "sample": ("topic_size:system_size:subject",),
    "subject": tuple(crossed_strata("subject", FACTORS[:3])),
}

DEFAULT_STRATA: Mapping[Mode, Strata] = {"sound": "subject", "paper": "none"}


def effects_table(
    samples: np.ndarray, mode: Mode, strata: Strata, power: Power | None
) -> Anova | None:
    """The table of all correlations, without F and p in mode sound; None where there can be none.

    Strata say what F is taken against, and change nothing else.
    """
    # A single cell has subjects and nothing else, hence no error.
    if np.isnan(samples).any() or samples[..., 0].size == 1:
        return None
    if mode == "sound":
        return without_tests(anova(samples, factors=FACTORS, block="subject"))
    return anova(samples, factors=FACTORS, block="subject", strata=STRATA[strata], power=power)


def by_coefficient(
    correlations: MeasureSamples, reference: Reference
) -> dict[Coefficient, np.ndarray]:
    """Both coefficients; tau_AP with the reference asked for, the estimate is the other measure."""
    first, second = correlations.tau_ap_first, correlations.tau_ap_second
    directed = {"first": second, "second": first, "both": 0.5 * (first + second)}
    return {"tau": correlations.tau, "tau_ap": directed[reference]}


def effect_intervals(
    correlations: MeasureSamples,
    reference: Reference,
    anovas: Mapping[Coefficient, Anova | None],
    level: float,
) -> dict[Coefficient, dict[str, Interval]]:
    """Of each coefficient, effect to the interval of its omega squared; empty without resamples."""
    intervals: dict[Coefficient, dict[str, Interval]] = {name: {} for name in anovas}
    if correlations.resampled is None:
        return intervals
    samples = by_coefficient(correlations, reference)
    resampled = by_coefficient(correlations.resampled, reference)
    for name, table in anovas.items():
        if table is not None:
            intervals[name] = omega_squared_intervals(table, samples[name], resampled[name], level)
    return intervals


def omega_squared_intervals(
    table: Anova, samples: np.ndarray, resampled: np.ndarray, level: float
) -> dict[str, Interval]:
    """Effect to the interval of its omega squared over other topics and systems.

    `samples` is [pair, topic size, system size, sample], `resampled` has the same correlations on
    resampled data sets, [pair, topic size, system size, resample, draw].

    What is to be held: omega squared of the cells' means over all data sets of as many topics and
    systems, with the mean error within a data set. It is 0 if pairs (or sizes) do not differ in
    the population, however many samples are drawn.

    Systems drawn twice tie, and topics drawn twice leave fewer of them; both shift the correlations
    of resampled data. Hence only deviations from the resamples' mean are used: they are added to
    the effects found, and so is the deviation of the error's mean square, as a factor. What the few
    draws of a resample add to its deviation, beyond what the study's own samples do, is taken out.

    The upper end is the percentile of omega squared so resampled. An effect is a sum of squares,
    so resampling always adds to it, as drawing the data did: the lower end is as far below omega
    squared as the upper end is above (at least 0). The error of the lower percentile is thus
    avoided, which excludes 0 where nothing differs. Resampling two factors at once counts their
    interaction thrice (Owen 2007, doi:10.1214/07-AOAS122), so intervals are rather wide.
    """
    # The mean of its cell over all resamples and draws stands for what does not exist.
    means = mean_of_present(resampled.reshape(*resampled.shape[:3], -1))[..., None, None]
    whole = np.where(np.isnan(resampled), means, resampled)
    n_samples = samples.shape[-1]
    differences = _centred(whole[..., 0::2] - whole[..., 1::2])
    squares = (differences**2).sum(axis=(0, 1, 2))
    error = table.source("error").ms
    if not squares.sum() > 0.0 or not error > 0.0:
        return {}
    errors = error * np.exp(_deviations(squares / squares.mean(), n_samples / 2))
    drawn, limits = _effects(whole), {}
    for name, effect in _effects(samples.mean(axis=-1)).items():
        line = table.source(name)
        if np.isnan(line.omega_squared):
            continue
        moved = effect[..., None] + _deviations(drawn[name], n_samples)
        surplus = (moved**2).mean(axis=(0, 1, 2)) - line.df * errors / table.n
        shares = np.maximum(surplus, 0.0) / (np.maximum(surplus, 0.0) + errors)
        high = max(float(np.quantile(shares, 0.5 + 0.5 * level)), line.omega_squared)
        limits[name] = Interval(max(0.0, 2.0 * line.omega_squared - high), high)
    return limits


def _centred(values: np.ndarray) -> np.ndarray:
    return np.asarray(values - values.mean(axis=(0, 1, 2), keepdims=True))


def _effects(cells: np.ndarray) -> dict[str, np.ndarray]:
    """Main effects and two-way interactions of the first three axes; averaged axes stay, as 1."""
    centred = _centred(cells)
    mains = [
        centred.mean(axis=tuple(other for other in range(3) if other != axis), keepdims=True)
        for axis in range(3)
    ]
    effects = dict(zip(FACTORS, mains, strict=False))
    for a, b in combinations(range(3), 2):
        both = centred.mean(axis=3 - a - b, keepdims=True)
        effects[f"{FACTORS[a]}:{FACTORS[b]}"] = both - mains[a] - mains[b]
    return effects


def _deviations(drawn: np.ndarray, n_samples: float) -> np.ndarray:
    """[..., resample]: deviations of the resamples' means, as of so many samples from each.

    `drawn` is [..., resample, draw]. The variance among means of few draws has a part that is due
    to the draws; it is made as small as the mean of `n_samples` would have it.
    """
    n_resamples, n_draws = drawn.shape[-2:]
    means = drawn.mean(axis=-1)
    deviations = means - means.mean(axis=-1, keepdims=True)
    total = float((deviations**2).sum()) / (n_resamples - 1)
    within = float(drawn.var(axis=-1, ddof=1).mean(axis=-1).sum()) / n_draws
    if not total > 0.0:
        return np.asarray(deviations)
    wanted = max(0.0, total - within) + within * n_draws / n_samples
    return np.asarray(deviations * np.sqrt(min(1.0, wanted / total)))
