"""Correlations among measures: on all data, on samples of them, and what drives these.

For `studies.agree.study` (Ferro 2018, section 2). The h-th draw of topics belongs to (topic size,
h), the h-th draw of systems to (system size, h), both without replacement and the same for all
pairs of measures. Neither depends on which other sizes or how many samples are asked for.

All samples are of the same topics and systems: more of them make their mean steadier and add no
information about others, so F and p, which take samples for independent observations, measure how
many were drawn. Effect sizes do not; their intervals come from data sets resampled from these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, Unpack

import numpy as np

from steadyrank.compute.executors import Machine, map_shared
from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.data.scores import mean_of_present
from steadyrank.errors import InputError, check_choice, warn
from steadyrank.stats.anova.balanced import Anova, Power, anova, crossed_strata, without_tests
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs import studentized_range as studentized
from steadyrank.stats.pairs.result import CONSTANT, TOO_FEW
from steadyrank.stats.pairs.tukey import two_way_anova
from steadyrank.stats.ranks.correlation import AP_TIES, correlations
from steadyrank.stats.ranks.kernels import pair_correlations

TOPIC_SIZES = (10, 20, 30, 40, 50, 60, 70)
SYSTEM_SIZES = (10, 20, 50, 75, 100, 125, 150, 200, 250, 500)
"""The paper's sizes."""

SAMPLES = 25
"""Samples of one topic size that a task takes: their means are one product of matrices."""


DRAWS = 4
"""Samples of every size from each resampled data set. Two would show how far samples of one data
set differ; two pairs also show how far their variances do."""

RESAMPLES = 100
"""Resampled data sets unless more are asked for: with `DRAWS` samples of each they cost as much as
400 samples, some three seconds for nine measures of 4,284 systems."""

Task = tuple[int, int, int]
"""Position of a topic size, first sample, and the one after the last."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasureSamples:
    """Correlations of all pairs of measures, [pair, topic size, system size, sample]."""

    tau: np.ndarray
    tau_ap_first: np.ndarray
    """The pair's first measure is the estimate, its second the reference."""
    tau_ap_second: np.ndarray
    resampled: MeasureSamples | None = None
    """The same on resampled topics and systems, [pair, topic size, system size, resample, draw]."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Study:
    """All that a task needs but its number."""

    values: np.ndarray
    """[measure, system, topic], complete."""
    topic_draws: tuple[np.ndarray, ...]
    """For each size [sample, topic]."""
    system_draws: tuple[np.ndarray, ...]
    ties: str
    resolution: np.ndarray
    """[measure]: mean scores that differ by less tie."""


def resolutions(values: np.ndarray) -> np.ndarray:
    """1e-12 of each measure's largest absolute score, [measure]; 1 where there is none."""
    largest = np.abs(values).max(axis=(1, 2), initial=0.0)
    return np.where(largest > 0.0, CONSTANT * largest, 1.0)


def draws(kind: str, n: int, size: int, n_samples: int, seed: int) -> np.ndarray:
    """[sample, size]: which of n topics or systems each sample holds, in ascending order.

    >>> draws("topics", 5, 2, 3, 0).shape, draws("topics", 5, 5, 1, 0).tolist()
    ((3, 2), [[0, 1, 2, 3, 4]])
    """
    streams = (block_stream(seed, f"agree, {size} {kind}", h) for h in range(n_samples))
    return np.sort([stream.permutation(n)[:size] for stream in streams], axis=1)


def resampled_draws(kind: str, n: int, size: int, n_resamples: int, seed: int) -> np.ndarray:
    """[resample × draw, size]: what each sample of a resampled data set holds.

    Resample b draws as many topics or systems as there are, with replacement, the same for all
    sizes. Its samples are drawn without replacement; what it has twice may be there twice.

    >>> resampled_draws("topics", 5, 2, 3, 0).shape
    (12, 2)
    """
    streams = (block_stream(seed, f"agree, resampled {kind}", b) for b in range(n_resamples))
    members = np.array([stream.integers(n, size=n) for stream in streams])
    places = draws(f"places of resampled {kind}", n, size, n_resamples * DRAWS, seed)
    return np.sort(np.take_along_axis(np.repeat(members, DRAWS, axis=0), places, axis=1), axis=1)


def sample_correlations(
    values: np.ndarray,
    *,
    topic_sizes: Sequence[int],
    system_sizes: Sequence[int],
    n_samples: int,
    n_resamples: int = 0,
    ties: str = "a",
    seed: int = 0,
    **machine: Unpack[Machine],
) -> MeasureSamples:
    """Draw topics and systems, and correlate the rankings by mean score of all pairs of measures.

    `values` is [measure, system, topic] without missing scores. Means that agree to 1e-12 of the
    measure's largest score tie. The result does not depend on who computes which part.

    `n_resamples` data sets of as many topics and systems are drawn with replacement besides, and
    `DRAWS` samples of every size from each. A system that is there twice ties with itself, which
    tau-b leaves out of account.
    """
    check_choice("treatment of ties", ties, AP_TIES)
    n_measures, n_systems, n_topics = values.shape

    def all_draws(kind: str, n: int, sizes: Sequence[int]) -> tuple[np.ndarray, ...]:
        drawn = [draws(kind, n, size, n_samples, seed) for size in sizes]
        if n_resamples:
            more = [resampled_draws(kind, n, size, n_resamples, seed) for size in sizes]
            drawn = [np.concatenate(both) for both in zip(drawn, more, strict=True)]
        return tuple(drawn)

    study = _Study(
        values=values,
        topic_draws=all_draws("topics", n_topics, topic_sizes),
        system_draws=all_draws("systems", n_systems, system_sizes),
        ties=ties,
        resolution=resolutions(values),
    )
    n_drawn = n_samples + DRAWS * n_resamples
    # Blocks of samples are cut as they would be without resamples.
    parts = [(first, stop) for _, first, stop in blocks_of(n_samples, SAMPLES)]
    parts += [
        (n_samples + first, n_samples + stop)
        for _, first, stop in blocks_of(DRAWS * n_resamples, SAMPLES)
    ]
    tasks = [(t, first, stop) for t in range(len(topic_sizes)) for first, stop in parts]
    blocks = map_shared(_one, study, tasks, **machine)
    n_pairs = n_measures * (n_measures - 1) // 2
    gathered = np.empty((3, n_pairs, len(topic_sizes), len(system_sizes), n_drawn))
    for (t, first, stop), block in zip(tasks, blocks, strict=True):
        gathered[:, :, t, :, first:stop] = block.transpose(0, 3, 1, 2)
    own, rest = np.split(gathered, [n_samples], axis=-1)
    more = rest.reshape(*rest.shape[:-1], n_resamples, DRAWS)
    return _named(own, _named(more) if n_resamples else None)


def _named(arrays: np.ndarray, resampled: MeasureSamples | None = None) -> MeasureSamples:
    tau, first, second = np.ascontiguousarray(arrays)
    return MeasureSamples(tau=tau, tau_ap_first=first, tau_ap_second=second, resampled=resampled)


def _one(study: _Study, task: Task) -> np.ndarray:
    """tau and tau_AP in both directions, [3, system size, sample, pair], of some samples."""
    size, first, stop = task
    n_measures = len(study.values)
    scores = _negated_totals(study, study.topic_draws[size][first:stop])
    n_pairs = n_measures * (n_measures - 1) // 2
    taus = np.empty((3, len(study.system_draws), stop - first, n_pairs))
    for s, drawn in enumerate(study.system_draws):
        subset = np.empty((stop - first, n_measures, drawn.shape[1]))
        for matrix, systems, out in zip(scores, drawn[first:stop], subset, strict=True):
            # Without "clip" NumPy takes into a buffer first.
            matrix.take(systems, axis=1, out=out, mode="clip")
        pair_correlations(subset, subset.argsort(axis=-1), int(study.ties == "a"), *taus[:, s])
    return taus


def _negated_totals(study: _Study, drawn: np.ndarray) -> np.ndarray:
    """Minus the sums over the topics drawn, [sample, measure, system], so that they sort from
    the best down; in steps too fine to matter."""
    n_measures, n_systems, n_topics = study.values.shape
    weights = np.zeros((len(drawn), n_topics))
    # Of resampled topics, one that was drawn twice counts twice.
    np.subtract.at(weights, (np.arange(len(drawn))[:, None], drawn), 1.0)
    totals = weights @ study.values.reshape(-1, n_topics).T
    scaled = totals.reshape(-1, n_measures, n_systems)
    # Equal means must tie although their sums were rounded differently.
    scaled *= 1.0 / (study.resolution[:, None] * drawn.shape[1])
    return np.asarray(np.round(scaled, out=scaled))


def fitting_sizes(
    what: str, sizes: Sequence[int] | None, default: tuple[int, ...], n: int, least: int
) -> tuple[int, ...]:
    """The sizes asked for, checked; or those of the paper that leave something to draw from."""
    if sizes is not None:
        return _check_sizes(what, list(sizes), n, least)
    fitting = tuple(size for size in default if size < n) or (n,)
    if fitting != default:
        usual, few = (", ".join(map(str, some)) for some in (default, fitting))
        warn(
            f"there are {n} {what}s: of the usual {what} sizes {usual} only {few} fit"
            if fitting != (n,)
            else f"there are only {n} {what}s: every sample takes them all"
        )
    return fitting


def _check_sizes(what: str, sizes: Sequence[int], n: int, least: int) -> tuple[int, ...]:
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < least:
            raise InputError(
                f"{what} sizes must be whole numbers of at least {least}, got {size!r}"
            )
        if size > n:
            raise InputError(
                f"{what} size {size} exceeds the {n} {what}s of the data: choose sizes up to {n}"
            )
    if not sizes or len(set(sizes)) < len(sizes):
        given = ", ".join(map(str, sizes)) or "none"
        raise InputError(f"give at least one {what} size, each once, got {given}")
    return tuple(int(size) for size in sizes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasureLikeness:
    """How alike measures are, on all systems and topics."""

    tau: np.ndarray
    """[measure, measure]: tau-b between rankings by mean score."""
    tau_ap: np.ndarray
    """[measure, measure]: mean of both directions."""
    linkage: np.ndarray
    """[measures - 1, 4]: average linkage by 1 - tau, as SciPy has it."""
    order: np.ndarray
    """Measures as the dendrogram's leaves, the most alike side by side."""
    discriminative_power: np.ndarray
    """[measure]: share of the pairs of systems that differ by Tukey's HSD."""
    needed_difference: np.ndarray
    """[measure]: the mean difference above which it does."""
    alpha: float


def measure_likeness(
    values: np.ndarray, *, ties: str = "a", alpha: float = 0.05
) -> MeasureLikeness:
    """Compare measures on complete scores [measure, system, topic].

    tau is NaN for a measure that gives every system the same mean. Discriminative power is
    Sakai's, by Tukey's HSD on the two-way layout: a measure that separates more is more
    sensitive, not more right.

    Reference: Sakai 2006, doi:10.1145/1148170.1148261.
    """
    means = np.round(values.mean(axis=2) / resolutions(values)[:, None])
    tau = correlations(means, coefficient="tau")
    linkage, order = _dendrogram(tau)
    power = np.array([_power(matrix, alpha) for matrix in values])
    return MeasureLikeness(
        tau=tau,
        tau_ap=correlations(means, coefficient="tau_ap", ties=ties),
        linkage=linkage,
        order=order,
        discriminative_power=power[:, 0],
        needed_difference=power[:, 1],
        alpha=alpha,
    )


def _dendrogram(tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if np.isnan(tau).any():
        return np.full((len(tau) - 1, 4), np.nan), np.arange(len(tau))
    from scipy.cluster import hierarchy

    # Rounding must not decide between equal distances.
    distance = np.round(1.0 - tau[np.triu_indices(len(tau), 1)], 12)
    linkage = hierarchy.linkage(np.maximum(distance, 0.0), "average", optimal_ordering=True)
    return linkage, np.asarray(hierarchy.leaves_list(linkage), dtype=np.int64)


def _power(matrix: np.ndarray, alpha: float) -> tuple[float, float]:
    """Share of the pairs of systems [system, topic] told apart, and from which difference on."""
    table = two_way_anova(matrix)
    if table.flag == TOO_FEW:
        return float("nan"), float("nan")
    needed = CONSTANT * max(1.0, float(np.abs(matrix).max()))
    if not table.flag:
        critical = studentized.critical_value(alpha, table.n_runs, table.error.df)
        needed = critical * float(np.sqrt(table.error.ms / table.n_topics))
    means = np.sort(matrix.mean(axis=1))
    # Of sorted means, those beyond the needed difference are a tail: no pair is looked at.
    apart = means.size - np.searchsorted(means, means + needed, side="right")
    return float(apart.sum() / (means.size * (means.size - 1) / 2)), needed


Coefficient = Literal["tau", "tau_ap"]
Reference = Literal["both", "first", "second"]
Mode = Literal["sound", "paper"]
Strata = Literal["none", "sample", "subject"]

FACTORS = ("measure_pair", "topic_size", "system_size", "subject")
"""The axes of correlations, in this order."""


def strata_of(factors: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Kind of strata to the terms with errors of their own; the last factor is the subject."""
    *crossed, subject = factors
    return {
        "none": (),
        "sample": (":".join([*crossed[1:], subject]),),
        "subject": tuple(crossed_strata(subject, crossed)),
    }


STRATA = strata_of(FACTORS)

DEFAULT_STRATA: Mapping[Mode, Strata] = {"sound": "subject", "paper": "none"}


def effects_table(
    samples: np.ndarray,
    mode: Mode,
    strata: Strata,
    power: Power | None,
    factors: Sequence[str] = FACTORS,
) -> Anova | None:
    """The table of all correlations, without F and p in mode sound; None where there can be none.

    Strata say what F is taken against, and change nothing else.
    """
    # A single cell has subjects and nothing else, hence no error.
    if np.isnan(samples).any() or samples[..., 0].size == 1:
        return None
    if mode == "sound":
        return without_tests(anova(samples, factors=factors, block="subject"))
    errors = strata_of(factors)[strata]
    return anova(samples, factors=factors, block="subject", strata=errors, power=power)


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
