"""`agree`: do the measures agree, and from how many topics and systems on?

For whoever reports several measures, or proposes one: rankings of systems by two measures are
correlated on samples of topics and systems of many sizes, and an analysis of variance says what
drives the correlation: which measures, how many topics, how many systems (Ferro, IIR 2018; TOIS
36(2), 2017). Effect sizes have intervals over other topics and systems.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from scipy import special

from steadyrank._version import __version__
from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.order import scores_in_order
from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.errors import InputError, SteadyrankWarning, unknown_name
from steadyrank.notebook import shown_by
from steadyrank.stats.anova.balanced import Anova, Power
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.agree.effects import (
    DEFAULT_STRATA,
    Coefficient,
    Mode,
    Reference,
    Strata,
    by_coefficient,
    effect_intervals,
    effects_table,
    note_of,
)
from steadyrank.studies.agree.likeness import MeasureLikeness, measure_likeness
from steadyrank.studies.agree.samples import (
    RESAMPLES,
    SYSTEM_SIZES,
    TOPIC_SIZES,
    fitting_sizes,
    sample_correlations,
    shown,
)
from steadyrank.words import by_number

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.agree.tables:agree_text")
class AgreeResult:
    """What `agree` found: correlations on samples, and what drives them."""

    coefficient: Coefficient
    measures: tuple[str, ...]
    pairs: np.ndarray
    """[pair, 2]: positions of two measures."""
    topic_sizes: tuple[int, ...]
    system_sizes: tuple[int, ...]
    n_samples: int
    n_topics: int
    n_systems: int
    n_dropped: int
    """Topics left out because some system lacks a score there."""
    reference: Reference
    ties: str
    confidence: float
    mode: Mode
    strata: Strata
    """What F is taken against, in mode paper."""
    n_resamples: int
    """Resamples of topics and systems behind the intervals of effect sizes."""
    seed: int
    tau: np.ndarray
    """[pair, topic size, system size, sample]"""
    tau_ap: np.ndarray
    """[pair, topic size, system size, sample]"""
    anovas: Mapping[Coefficient, Anova | None]
    """The table of each coefficient; None where some correlation does not exist, or where one pair
    of measures at one combination of sizes leaves nothing to compare. F and p in mode paper."""
    omega_squared_intervals: Mapping[Coefficient, Mapping[str, Interval]]
    """Of each coefficient, effect to the interval of its omega squared over other topics and
    systems; empty in mode paper."""
    likeness: MeasureLikeness
    """The measures on all systems and topics."""

    @property
    def samples(self) -> np.ndarray:
        """Correlations by the chosen coefficient."""
        return self.tau if self.coefficient == "tau" else self.tau_ap

    @property
    def anova(self) -> Anova | None:
        """The table of the chosen coefficient."""
        return self.anovas[self.coefficient]

    @property
    def limits(self) -> Mapping[str, Interval]:
        """Effect to the interval of its omega squared, of the chosen coefficient."""
        return self.omega_squared_intervals[self.coefficient]

    @property
    def note(self) -> str:
        """What the tests or the intervals of the tables mean."""
        return note_of(self.mode, self.strata, self.n_resamples)

    def anova_rows(self, coefficient: Coefficient | None = None) -> list[dict[str, Any]]:
        """One dictionary per source: the table with the intervals of omega squared."""
        chosen = self.coefficient if coefficient is None else coefficient
        table, limits = self.anovas[chosen], self.omega_squared_intervals[chosen]
        if table is None:
            return []
        return [
            {**row, "omega_squared_interval": _listed(limits.get(row["source"]))}
            for row in table.rows()
        ]

    @property
    def mean(self) -> np.ndarray:
        """[pair, topic size, system size]: mean over the samples."""
        return self.means_and_intervals(self.coefficient)[0]

    @property
    def interval(self) -> np.ndarray:
        """[pair, topic size, system size, 2]: t interval of the mean over the samples."""
        return self.means_and_intervals(self.coefficient)[1]

    def means_and_intervals(self, coefficient: Coefficient) -> tuple[np.ndarray, np.ndarray]:
        """`mean` and `interval` of either coefficient."""
        samples = self.tau if coefficient == "tau" else self.tau_ap
        return mean_of_present(samples), _intervals(samples, self.confidence)

    def pair(self, measure_a: str, measure_b: str) -> int:
        """The position of a pair of measures, in either order."""
        for name in (measure_a, measure_b):
            if name not in self.measures:
                raise unknown_name("measure", name, self.measures)
        wanted = sorted(self.measures.index(name) for name in (measure_a, measure_b))
        if wanted[0] == wanted[1]:
            raise InputError(f"a pair needs two measures, got {measure_a!r} twice")
        return int(np.flatnonzero((self.pairs == wanted).all(axis=1))[0])

    def pair_name(self, pair: int) -> str:
        """The two measures of a pair, in words."""
        a, b = self.pairs[pair]
        return f"{self.measures[a]} – {self.measures[b]}"

    @property
    def marginal(self) -> dict[Coefficient, np.ndarray]:
        """[pair]: mean over all sizes and samples, by each coefficient."""
        return {
            "tau": mean_of_present(self.tau.reshape(len(self.pairs), -1)),
            "tau_ap": mean_of_present(self.tau_ap.reshape(len(self.pairs), -1)),
        }

    @property
    def rmse(self) -> float:
        """Root mean square difference of the pairs' marginal means by both coefficients, each
        centred around zero."""
        gaps = [means - means.mean() for means in self.marginal.values()]
        return float(np.sqrt(np.mean((gaps[0] - gaps[1]) ** 2)))

    @property
    def swaps(self) -> np.ndarray:
        """[swap, 2]: pairs of measures that the two coefficients put in opposite orders."""
        tau, tau_ap = self.marginal.values()
        one, other = all_pairs(len(self.pairs)).T
        opposite = (tau[one] - tau[other]) * (tau_ap[one] - tau_ap[other]) < 0.0
        return np.asarray(np.stack([one, other], axis=1)[opposite])

    def ranking(self) -> list[dict[str, Any]]:
        """Pairs of measures by their marginal tau, with their ranks by both coefficients."""
        means = self.marginal
        ranks = {
            key: np.argsort(np.argsort(-each, kind="stable")) + 1 for key, each in means.items()
        }
        return [
            {
                "measure_a": self.measures[self.pairs[p, 0]],
                "measure_b": self.measures[self.pairs[p, 1]],
                "tau": float(means["tau"][p]),
                "tau_ap": float(means["tau_ap"][p]),
                "rank_tau": int(ranks["tau"][p]),
                "rank_tau_ap": int(ranks["tau_ap"][p]),
            }
            for p in np.argsort(ranks["tau"]).tolist()
        ]

    def cells(self) -> list[dict[str, Any]]:
        """One dictionary a pair of measures and combination of sizes."""
        mean, interval = self.mean, self.interval
        return [
            {
                "measure_a": self.measures[a],
                "measure_b": self.measures[b],
                "topics": topics,
                "systems": systems,
                "mean": float(mean[p, t, s]),
                "interval": [float(bound) for bound in interval[p, t, s]],
            }
            for p, (a, b) in enumerate(self.pairs.tolist())
            for t, topics in enumerate(self.topic_sizes)
            for s, systems in enumerate(self.system_sizes)
        ]

    def caption(self) -> str:
        """What a table of this result must say."""
        dropped = f" ({self.n_dropped} dropped)" if self.n_dropped else ""
        return (
            f"{COEFFICIENTS[self.coefficient]} of {len(self.measures)} measures; "
            f"{self.n_samples} samples of {shown(self.topic_sizes)} of {self.n_topics} topics"
            f"{dropped} and {shown(self.system_sizes)} of {self.n_systems} systems, without "
            f"replacement; seed {self.seed}; steadyrank {__version__}."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row a cell."""
        import pandas as pd

        frame = pd.DataFrame(self.cells())
        limits = np.array(frame.pop("interval").tolist()).reshape(-1, 2)
        return frame.assign(interval_low=limits[:, 0], interval_high=limits[:, 1])

    def __repr__(self) -> str:
        return (
            f"<AgreeResult: {self.coefficient} of {len(self.pairs)} pairs of measures at "
            f"{len(self.topic_sizes)} topic and {len(self.system_sizes)} system sizes, "
            f"{self.n_samples} samples; mean {mean_of_present(self.samples.ravel()):.3f}>"
        )


def _listed(limits: Interval | None) -> list[float] | None:
    return None if limits is None else list(limits)


LEAST_RESAMPLES = 20
"""Fewer have no percentile to speak of."""

COEFFICIENTS: Mapping[str, str] = {"tau": "Kendall's tau", "tau_ap": "AP correlation tau_AP"}


def agree(
    scores: Scores,
    *,
    topic_sizes: Sequence[int] | None = None,
    system_sizes: Sequence[int] | None = None,
    n_samples: int = 100,
    coefficient: Coefficient = "tau",
    measures: Iterable[str] | None = None,
    confidence: float = 0.95,
    reference: Reference = "both",
    ties: str = "a",
    mode: Mode = "sound",
    strata: Strata | None = None,
    power: Power | None = None,
    n_resamples: int = RESAMPLES,
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
) -> AgreeResult:
    """Correlate all pairs of measures on samples of topics and systems, and analyse the variance.

    For every topic size and system size samples of each are drawn without replacement; the h-th
    draw of topics meets the h-th draw of systems of every size, and all pairs of measures see the
    same draws. In a sample two measures rank the systems by mean score; tau-b and tau_AP of the two
    rankings are always both computed.

    Parameters
    ----------
    scores : Scores
    topic_sizes, system_sizes : sequence of int, optional
        Those of the paper, cut to what the data have, unless given.
    n_samples : int
        Draws of each size.
    coefficient : str
        What tables show: "tau" or "tau_ap".
    measures : iterable of str, optional
        Those to correlate; all unless given.
    confidence : float
        Of the intervals of means over samples.
    reference : str
        tau_AP has the "first" or the "second" measure of a pair as its reference, or is the mean of
        "both" directions.
    ties : str
        As in `tau_ap`.
    mode : str
        "sound" gives effect sizes with intervals and no F or p; "paper" the published F and p,
        without intervals.
    strata : str, optional
        What F is taken against in mode "paper": one residual ("none", as published), samples for
        the sizes ("sample"), or each effect's interaction with the subject ("subject"). None of
        them makes the samples independent data.
    power : str, optional
        Adds observed power, "observed" or "omega".
    n_resamples : int
        Resamples of topics and systems behind the intervals of effect sizes; 0 for none.
    jobs, scheduler, executor : optional
        Threads; the address of a Dask scheduler; or any `concurrent.futures.Executor`.
    progress : callable, optional
        Is given (finished, total) blocks of samples.
    rng : int, Generator or None
        Seed.

    Notes
    -----
    The ANOVA (eq. 1) has samples as subjects, main effects and two-way interactions of measure
    pair, topic size and system size. All samples are of the same topics and systems, so more of
    them add no information: F and p grow more extreme with `n_samples` whatever the data are.
    Topics that some system lacks on some measure are left out.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=10, runs_per_team=2, n_topics=30, depth=100)
    >>> scores = sr.evaluate(track.runs, track.complete, ["AP", "nDCG@10", "P@10"])
    >>> result = sr.agree(scores, topic_sizes=[5, 20], system_sizes=[5, 15], n_samples=20)
    >>> result.tau.shape, [line.df for line in result.anova.sources]
    ((3, 2, 2, 20), [19, 2, 1, 1, 2, 2, 1, 211, 239])
    >>> low, high = result.omega_squared_intervals["tau"]["measure_pair"]
    >>> low <= result.anova.source("measure_pair").omega_squared <= high
    True
    """
    seed = seed_from(rng)
    _check(n_samples, n_resamples, confidence)
    _check_choices(coefficient, reference, mode, strata, power)
    chosen = scores_in_order(
        scores if measures is None else scores.select(measures=measures), runs=True
    )
    values, n_dropped = _complete(chosen)
    n_measures, n_systems, n_topics = values.shape
    sizes = {
        "topic_sizes": fitting_sizes("topic", topic_sizes, TOPIC_SIZES, n_topics, 1),
        "system_sizes": fitting_sizes("system", system_sizes, SYSTEM_SIZES, n_systems, 2),
    }
    likeness = measure_likeness(values, ties=ties)
    _check_order(likeness, chosen.measures)
    pairs = all_pairs(n_measures)
    single = len(pairs) * len(sizes["topic_sizes"]) * len(sizes["system_sizes"]) == 1
    n_resamples = 0 if mode == "paper" or single else n_resamples
    correlations = sample_correlations(
        values,
        **sizes,
        n_samples=n_samples,
        n_resamples=n_resamples,
        ties=ties,
        seed=seed,
        jobs=jobs,
        scheduler=scheduler,
        executor=executor,
        progress=progress,
    )
    samples = by_coefficient(correlations, reference)
    _warn_undefined(samples[coefficient], coefficient, pairs, chosen.measures)
    strata = strata or DEFAULT_STRATA[mode]
    anovas = {name: effects_table(each, mode, strata, power) for name, each in samples.items()}
    return AgreeResult(
        coefficient=coefficient,
        measures=chosen.measures,
        pairs=pairs,
        **sizes,
        n_samples=n_samples,
        n_topics=n_topics,
        n_systems=n_systems,
        n_dropped=n_dropped,
        reference=reference,
        ties=ties,
        confidence=confidence,
        mode=mode,
        strata=strata,
        n_resamples=n_resamples,
        seed=seed,
        tau=samples["tau"],
        tau_ap=samples["tau_ap"],
        anovas=anovas,
        omega_squared_intervals=effect_intervals(correlations, reference, anovas, confidence),
        likeness=likeness,
    )


def _check(n_samples: Any, n_resamples: Any, confidence: float) -> None:
    if not isinstance(n_samples, (int, np.integer)) or n_samples < 2:
        raise InputError(f"n_samples must be a whole number from 2 on, got {n_samples!r}")
    if not isinstance(n_resamples, (int, np.integer)) or 0 != n_resamples < LEAST_RESAMPLES:
        raise InputError(
            f"n_resamples must be a whole number from {LEAST_RESAMPLES} on, or 0 for no "
            f"intervals, got {n_resamples!r}"
        )
    check_open_unit("confidence", confidence)


def _check_choices(coefficient: Any, reference: Any, mode: Any, strata: Any, power: Any) -> None:
    for what, value, choices in (
        ("coefficient", coefficient, get_args(Coefficient)),
        ("reference", reference, get_args(Reference)),
        ("mode", mode, get_args(Mode)),
        ("kind of strata", strata or "none", get_args(Strata)),
    ):
        if value not in choices:
            raise unknown_name(what, str(value), choices)
    if mode == "sound" and power is not None:
        raise InputError('power restates p, which mode="sound" does not give: take mode="paper"')
    if mode == "sound" and strata not in (None, DEFAULT_STRATA[mode]):
        _warn(f"strata {strata} choose among the F tests of mode paper; mode sound makes no tests")


def _complete(scores: Scores) -> tuple[np.ndarray, int]:
    """Scores of topics that every system has on every measure, and how many were dropped."""
    if len(scores.measures) < 2:
        raise InputError(
            f"agreement needs at least two measures, got {', '.join(scores.measures) or 'none'}"
        )
    if len(scores.runs) < 2:
        raise InputError(f"agreement needs at least two systems, got {len(scores.runs)}")
    there = ~np.isnan(scores.values).any(axis=(0, 1))
    dropped = int((~there).sum())
    if dropped == len(there):
        raise InputError("no topic has a score of every system on every measure")
    if dropped:
        _warn(
            f"{dropped} of {len(there)} topics {by_number(dropped, 'is', 'are')} left out: some "
            "system has no score there on some measure"
        )
    return np.ascontiguousarray(scores.values[:, :, there]), dropped


def _check_order(likeness: MeasureLikeness, measures: Sequence[str]) -> None:
    flat = np.isnan(np.diag(likeness.tau))
    if flat.any():
        name = measures[int(np.argmax(flat))]
        raise InputError(f"{name} gives every system the same mean: there is no ranking to compare")


def _warn_undefined(
    samples: np.ndarray, coefficient: str, pairs: np.ndarray, measures: Sequence[str]
) -> None:
    """Tell where a measure ties all systems of a draw, so that there is nothing to correlate."""
    lost = np.isnan(samples)
    if not lost.any():
        return
    by_measure = np.bincount(pairs.ravel(), np.repeat(lost.sum(axis=(1, 2, 3)), 2))
    _warn(
        f"{int(lost.sum())} of {lost.size} correlations {coefficient} do not exist, as a measure "
        f"(most often {measures[int(np.argmax(by_measure))]}) gives all systems drawn one mean; "
        "means leave them out and there is no ANOVA: take larger sizes, or leave the measure out"
    )


def _intervals(samples: np.ndarray, confidence: float) -> np.ndarray:
    """t intervals of means over the last axis, [..., 2]; NaN below two samples."""
    mean = mean_of_present(samples)
    n = (~np.isnan(samples)).sum(axis=-1)
    square = np.nansum((samples - mean[..., None]) ** 2, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(square / (n - 1) / n)
        half = special.stdtrit(n - 1.0, 0.5 + 0.5 * confidence) * error
    return np.stack([mean - half, mean + half], axis=-1)


def _warn(message: str) -> None:
    warnings.warn(message, SteadyrankWarning, stacklevel=4)
