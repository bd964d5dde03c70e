"""Correlations among measures: on all data, on samples, and within components of systems.

The h-th draw of topics belongs to (topic size, h), the h-th draw of systems to (system size, h)
(Ferro 2018, section 2). Draws are without replacement, the same for all pairs of measures. As all
samples are from the same topics and systems, F and p measure the number of samples; effect sizes do
not, and their intervals come from resampled data sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, Unpack

import numpy as np

from steadyrank.compute.executors import Machine, map_shared
from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.data.scores import mean_of_present
from steadyrank.errors import InputError, check_choice, warn
from steadyrank.stats.anova.balanced import Anova, anova, crossed_strata, without_tests
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.result import CONSTANT
from steadyrank.stats.ranks.correlation import AP_TIES, correlations
from steadyrank.stats.ranks.kernels import pair_correlations

Coefficient = Literal["tau", "tau_ap"]
Reference = Literal["both", "first", "second"]
Mode = Literal["sound", "paper"]
Strata = Literal["none", "sample", "subject"]

TOPIC_SIZES = (10, 20, 30, 40, 50, 60, 70)
SYSTEM_SIZES = (10, 20, 50, 75, 100, 125, 150, 200, 250, 500)
"""The paper's sizes."""

SAMPLES = 25
"""Samples of one topic size in a task: their means are one matrix product."""

DRAWS = 4
"""Samples of each size per resampled data set. Two samples show how much samples of one data set
differ; two pairs also show how much their variances differ."""

RESAMPLES = 100
"""Default number of resampled data sets: three seconds for nine measures of 4,284 systems."""


Samples = dict[Coefficient, np.ndarray]
"""Correlations of all pairs of measures, [pair, topic size, system size, sample]; on resampled
topics and systems [pair, topic size, system size, resample, draw]."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Study:
    """What all tasks share."""

    values: np.ndarray  # [measure, system, topic], complete
    topic_draws: tuple[np.ndarray, ...]  # [sample, topic], per size
    system_draws: tuple[np.ndarray, ...]
    ties: str
    resolution: np.ndarray
    """[measure]: smallest difference of two mean scores that is not a tie."""


def resolutions(values: np.ndarray) -> np.ndarray:
    """Return 1e-12 of the largest absolute score of each measure; 1 where all scores are 0."""
    largest = np.abs(values).max(axis=(1, 2), initial=0.0)
    return np.where(largest > 0.0, CONSTANT * largest, 1.0)


def draws(kind: str, n: int, size: int, n_samples: int, seed: int) -> np.ndarray:
    """Return the members of each sample, [sample, size], in ascending order."""
    streams = (block_stream(seed, f"agree, {size} {kind}", h) for h in range(n_samples))
    return np.sort([stream.permutation(n)[:size] for stream in streams], axis=1)


def resampled_draws(kind: str, n: int, size: int, n_resamples: int, seed: int) -> np.ndarray:
    """Return the members of each sample of the resampled data sets, [resample × draw, size].

    Resample b has n topics or systems drawn with replacement, the same for all sizes; samples are
    drawn without replacement from these.
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
    reference: Reference = "both",
    seed: int = 0,
    **machine: Unpack[Machine],
) -> tuple[Samples, Samples | None]:
    """Draw topics and systems, and correlate the rankings by mean score of all pairs of measures.

    `values` is [measure, system, topic] without missing scores. Means that agree to 1e-12 of the
    measure's largest score tie. `n_resamples` data sets of the same size are drawn with
    replacement, and `DRAWS` samples of each size from each.
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
    # The study's own samples are cut as they would be without resamples.
    parts = [(first, stop) for _, first, stop in blocks_of(n_samples, SAMPLES)]
    parts += [
        (n_samples + first, n_samples + stop)
        for _, first, stop in blocks_of(DRAWS * n_resamples, SAMPLES)
    ]
    tasks = [(t, first, stop) for t in range(len(topic_sizes)) for first, stop in parts]
    blocks = map_shared(_correlate, study, tasks, **machine)
    n_pairs = n_measures * (n_measures - 1) // 2
    gathered = np.empty((3, n_pairs, len(topic_sizes), len(system_sizes), n_drawn))
    for (t, first, stop), block in zip(tasks, blocks, strict=True):
        gathered[:, :, t, :, first:stop] = block.transpose(0, 3, 1, 2)
    own, rest = np.split(gathered, [n_samples], axis=-1)
    if not n_resamples:
        return _by_coefficient(own, reference), None
    more = rest.reshape(*rest.shape[:-1], n_resamples, DRAWS)
    return _by_coefficient(own, reference), _by_coefficient(more, reference)


def _by_coefficient(correlations: np.ndarray, reference: Reference) -> Samples:
    """Return both coefficients, tau_AP with this measure of each pair as the reference."""
    tau, first_estimated, second_estimated = np.ascontiguousarray(correlations)
    both = 0.5 * (first_estimated + second_estimated)
    directed = {"first": second_estimated, "second": first_estimated, "both": both}
    return {"tau": tau, "tau_ap": directed[reference]}


def _correlate(study: _Study, task: tuple[int, int, int]) -> np.ndarray:
    """Return tau and tau_AP in both directions, [3, system size, sample, pair].

    A task is the position of a topic size, the first sample, and the one after the last.
    """
    size, first, stop = task
    n_measures = len(study.values)
    scores = _negated_totals(study, study.topic_draws[size][first:stop])
    n_pairs = n_measures * (n_measures - 1) // 2
    taus = np.empty((3, len(study.system_draws), stop - first, n_pairs))
    for s, drawn in enumerate(study.system_draws):
        subset = np.empty((stop - first, n_measures, drawn.shape[1]))
        for matrix, systems, out in zip(scores, drawn[first:stop], subset, strict=True):
            # Any other mode than "clip" makes NumPy buffer the output.
            matrix.take(systems, axis=1, out=out, mode="clip")
        pair_correlations(subset, subset.argsort(axis=-1), int(study.ties == "a"), *taus[:, s])
    return taus


def _negated_totals(study: _Study, drawn: np.ndarray) -> np.ndarray:
    """Return minus the sums over the drawn topics, [sample, measure, system], best first.

    They are in units of `resolution`, rounded: equal means must tie although their sums were
    rounded differently.
    """
    n_measures, n_systems, n_topics = study.values.shape
    weights = np.zeros((len(drawn), n_topics))
    # A resampled topic that was drawn twice counts twice.
    np.subtract.at(weights, (np.arange(len(drawn))[:, None], drawn), 1.0)
    totals = weights @ study.values.reshape(-1, n_topics).T
    scaled = totals.reshape(-1, n_measures, n_systems)
    scaled *= 1.0 / (study.resolution[:, None] * drawn.shape[1])
    return np.asarray(np.round(scaled, out=scaled))


def fitting_sizes(
    what: str, sizes: Sequence[int] | None, default: tuple[int, ...], n: int, least: int
) -> tuple[int, ...]:
    """Return the given sizes, checked, or the paper's sizes below n."""
    if sizes is not None:
        return _checked_sizes(what, list(sizes), n, least)
    fitting = tuple(size for size in default if size < n) or (n,)
    if fitting != default:
        usual, few = (", ".join(map(str, some)) for some in (default, fitting))
        warn(
            f"there are {n} {what}s: of the usual {what} sizes {usual} only {few} fit"
            if fitting != (n,)
            else f"there are only {n} {what}s: every sample takes them all"
        )
    return fitting


def _checked_sizes(what: str, sizes: Sequence[int], n: int, least: int) -> tuple[int, ...]:
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
    """Similarity of the rankings by all measures, on all systems and topics."""

    tau: np.ndarray  # [measure, measure]: tau-b between rankings by mean score
    tau_ap: np.ndarray  # [measure, measure]: mean of both directions
    order: np.ndarray
    """Measures in the order of a dendrogram (average linkage by 1 - tau): similar ones adjacent."""


def measure_likeness(values: np.ndarray, *, ties: str = "a") -> MeasureLikeness:
    """Compare measures on complete scores [measure, system, topic].

    tau is NaN for a measure that gives every system the same mean.
    """
    means = np.round(values.mean(axis=2) / resolutions(values)[:, None])
    tau, order = correlations(means, coefficient="tau"), np.arange(len(means))
    if not np.isnan(tau).any():
        from scipy.cluster import hierarchy

        # Rounding must not decide between equal distances.
        distance = np.maximum(np.round(1.0 - tau[np.triu_indices(len(tau), 1)], 12), 0.0)
        linkage = hierarchy.linkage(distance, "average", optimal_ordering=True)
        order = np.asarray(hierarchy.leaves_list(linkage), dtype=np.int64)
    return MeasureLikeness(
        tau=tau, tau_ap=correlations(means, coefficient="tau_ap", ties=ties), order=order
    )


FACTORS = ("measure_pair", "topic_size", "system_size", "subject")
"""Axes of the correlations, in this order."""


def strata_of(factors: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the terms with separate errors per kind of strata; the subject is the last factor."""
    *crossed, subject = factors
    return {
        "none": (),
        "sample": (":".join([*crossed[1:], subject]),),
        "subject": tuple(crossed_strata(subject, crossed)),
    }


STRATA = strata_of(FACTORS)

DEFAULT_STRATA: Mapping[Mode, Strata] = {"sound": "subject", "paper": "none"}


def effects_table(
    samples: np.ndarray, mode: Mode, strata: Strata, factors: Sequence[str] = FACTORS
) -> Anova | None:
    """Return the ANOVA of all correlations, without F and p in mode sound.

    None if some correlation does not exist or there is a single cell. Strata are the errors that F
    is taken against.
    """
    if np.isnan(samples).any() or samples[..., 0].size == 1:
        return None
    if mode == "sound":
        return without_tests(anova(samples, factors=factors, block="subject"))
    errors = strata_of(factors)[strata]
    return anova(samples, factors=factors, block="subject", strata=errors)


def effect_intervals(
    samples: Samples,
    resampled: Samples | None,
    anovas: Mapping[Coefficient, Anova | None],
    level: float,
) -> dict[Coefficient, dict[str, Interval]]:
    """Return the intervals of omega squared by coefficient and effect; empty without resamples."""
    intervals: dict[Coefficient, dict[str, Interval]] = {name: {} for name in anovas}
    for name, table in anovas.items():
        if table is not None and resampled is not None:
            intervals[name] = omega_squared_intervals(table, samples[name], resampled[name], level)
    return intervals


def omega_squared_intervals(
    table: Anova, samples: np.ndarray, resampled: np.ndarray, level: float
) -> dict[str, Interval]:
    """Return the interval of each effect's omega squared over other topics and systems.

    `samples` is [pair, topic size, system size, sample], `resampled` [pair, topic size, system
    size, resample, draw]. Duplicates shift the correlations of resampled data, so only deviations
    from the resamples' mean are used: they are added to the observed effects, and the error's mean
    square is multiplied by its deviation. The variance that few draws of a resample add, beyond
    that of the study's samples, is removed.

    The upper end is a percentile; the lower end is as far below omega squared (at least 0), since
    resampling always adds to a sum of squares. Resampling two factors at once counts their
    interaction three times (Owen 2007, doi:10.1214/07-AOAS122): intervals are rather wide.
    """
    # The mean of its cell replaces a correlation that does not exist.
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
    """Return main effects and two-way interactions of the first three axes; averaged axes stay."""
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
    """Return the deviations of the resamples' means, [..., resample], as if of `n_samples` draws.

    The variance among means of few draws has a part that is due to the draws.
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


LEAST_SYSTEMS = 3
"""Smallest number of systems of a level: two have only correlations of 1 and -1."""

DEALT = 19
"""Random assignments of systems to levels: the smallest p is 1 / 20."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComponentAgreement:
    """Correlations among measures within the levels of one component.

    Any two sets of systems differ, so systems are also assigned to levels at random: what levels
    explain then is due to chance (future work of Ferro 2018).
    """

    component: str
    levels: tuple[str, ...]
    n_systems: tuple[int, ...]
    system_sizes: tuple[int, ...]
    """Sizes sampled from every level: the given sizes that the smallest level has."""
    tau: np.ndarray  # [pair, level, topic size, system size, sample]
    tau_ap: np.ndarray
    anovas: Mapping[Coefficient, Anova | None]
    """ANOVA with the component as a factor; None where some correlation does not exist."""
    dealt: Mapping[Coefficient, np.ndarray]
    """[assignment]: omega squared of the component where systems have random levels."""

    def mean(self, coefficient: Coefficient) -> np.ndarray:
        """Return the mean per level, over pairs of measures, sizes and samples."""
        samples = np.moveaxis(self.tau if coefficient == "tau" else self.tau_ap, 1, 0)
        return mean_of_present(samples.reshape(len(self.levels), -1))

    def pvalue(self, coefficient: Coefficient) -> float:
        """Return p of omega squared among those of random levels; NaN without an ANOVA."""
        table, dealt = self.anovas[coefficient], self.dealt[coefficient]
        if table is None or not len(dealt):
            return float("nan")
        found = table.source(self.component).omega_squared
        return float((1 + np.count_nonzero(dealt >= found)) / (1 + len(dealt)))


def component_agreement(
    values: np.ndarray,
    component: str,
    labels: list[str],
    *,
    system_sizes: tuple[int, ...],
    mode: Mode,
    strata: Strata,
    seed: int,
    **drawing: Any,
) -> ComponentAgreement:
    """Correlate measures within each level of a component; `values` is [measure, system, topic].

    Systems without a level are left out.
    """
    if component in FACTORS:
        raise InputError(f"a factor cannot be named {component!r}, which the ANOVA has: rename it")
    levels = tuple(dict.fromkeys(filter(None, labels)))
    values = values[:, [bool(label) for label in labels]]
    codes = np.array([levels.index(label) for label in labels if label])
    counts = np.bincount(codes)
    smallest = int(counts.min())
    sizes = tuple(size for size in system_sizes if LEAST_SYSTEMS <= size <= smallest)
    drawing |= {"system_sizes": sizes or (smallest,), "seed": seed}
    factors = (FACTORS[0], component, *FACTORS[1:])

    def within(codes: np.ndarray) -> Samples:
        n_levels = range(len(levels))
        found = [sample_correlations(values[:, codes == k], **drawing)[0] for k in n_levels]
        return {key: np.stack([one[key] for one in found], axis=1) for key in found[0]}

    samples = within(codes)
    streams = (block_stream(seed, f"agree, {component} at random", k) for k in range(DEALT))
    shuffled = [within(stream.permutation(codes)) for stream in streams]
    dealt: dict[Coefficient, np.ndarray] = {}
    for key in samples:
        tables = [effects_table(drawn[key], "sound", "subject", factors) for drawn in shuffled]
        known = [table.source(component).omega_squared for table in tables if table is not None]
        dealt[key] = np.array(known)
    return ComponentAgreement(
        component=component,
        levels=levels,
        n_systems=tuple(counts.tolist()),
        system_sizes=drawing["system_sizes"],
        tau=samples["tau"],
        tau_ap=samples["tau_ap"],
        anovas={key: effects_table(drawn, mode, strata, factors) for key, drawn in samples.items()},
        dealt=dealt,
    )
