"""`agree`: do the measures agree, and from how many topics and systems on?

For whoever reports several measures, or proposes one: rankings of systems by two measures are
correlated on samples of topics and systems of many sizes, and an analysis of variance says what
drives the correlation: which measures, how many topics, how many systems (Ferro, IIR 2018; TOIS
36(2), 2017).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from scipy import special

from steadyrank._version import __version__
from steadyrank._wording import by_number
from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.order import scores_in_order
from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.errors import InputError, SteadyrankWarning, unknown_name
from steadyrank.stats.anova import Anova, Power, anova, crossed_strata
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.result import all_pairs
from steadyrank.studies.measure_likeness import MeasureLikeness, measure_likeness
from steadyrank.studies.measure_samples import (
    SYSTEM_SIZES,
    TOPIC_SIZES,
    MeasureSamples,
    fitting_sizes,
    sample_correlations,
    shown,
)

if TYPE_CHECKING:
    import pandas as pd

Coefficient = Literal["tau", "tau_ap"]
Reference = Literal["both", "first", "second"]
Strata = Literal["none", "sample", "subject"]

FACTORS = ("measure_pair", "topic_size", "system_size", "subject")
"""The axes of correlations, in this order."""

STRATA: Mapping[str, Sequence[str]] = {
    "none": (),
    "sample": ("topic_size:system_size:subject",),
    "subject": tuple(crossed_strata("subject", FACTORS[:3])),
}

NOTES: Mapping[str, str] = {
    "none": "F and p are the paper's: everything is tested against one residual, although the "
    "pairs of measures of a sample share its data and the sizes share draws. Trust the effect "
    "sizes, or take strata subject for tests.",
    "sample": "Sizes are tested among samples, pairs of measures within them; samples of several "
    "sizes still share draws. Effect sizes rest on all errors together.",
    "subject": "Each effect is tested against its interaction with the subject, the one unit that "
    "is drawn anew; with very unequal spreads such tests reject a little too often. Effect sizes "
    "rest on all errors together.",
}
"""What F and p mean, by the strata of the analysis."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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
    level: float
    strata: Strata
    seed: int
    tau: np.ndarray
    """[pair, topic size, system size, sample]"""
    tau_ap: np.ndarray
    """[pair, topic size, system size, sample]"""
    anovas: Mapping[Coefficient, Anova | None]
    """The table of each coefficient; None where some correlation does not exist, or where one pair
    of measures at one combination of sizes leaves nothing to compare."""
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
    def note(self) -> str:
        """What F and p of the tables mean."""
        return NOTES[self.strata]

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
        return mean_of_present(samples), _intervals(samples, self.level)

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

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False, float_format="{:.4g}".format))


COEFFICIENTS: Mapping[str, str] = {"tau": "Kendall's tau", "tau_ap": "AP correlation tau_AP"}


def agree(
    scores: Scores,
    *,
    topic_sizes: Sequence[int] | None = None,
    system_sizes: Sequence[int] | None = None,
    n_samples: int = 100,
    coefficient: Coefficient = "tau",
    measures: Iterable[str] | None = None,
    level: float = 0.95,
    reference: Reference = "both",
    ties: str = "a",
    strata: Strata = "none",
    power: Power | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
) -> AgreeResult:
    """Correlate all pairs of measures on samples of topics and systems, and analyse the variance.

    For every topic size and system size `n_samples` samples of each are drawn without
    replacement; the h-th draw of topics meets the h-th draw of systems of every size, and all
    pairs of measures see the same draws. In a sample two measures rank the systems by mean score;
    tau-b and tau_AP of the two rankings are always both computed, and `coefficient` is the one
    that tables show. Sizes default to the paper's, cut to what the data have.

    tau_AP is the mean of both directions, or has the first or the second measure of a pair as
    its `reference`; `ties` as in `steadyrank.stats.correlation.tau_ap`. `level` is that of the
    intervals of means over samples.

    The ANOVA (eq. 1) has samples as subjects, main effects and two-way interactions of measure
    pair, topic size and system size. The paper tests everything against one residual
    (`strata="none"`), although the pairs of a sample share its data, and system sizes share the
    draws of topics: read its p-values as descriptive. "sample" tests sizes among samples and
    pairs within them; "subject" tests each effect against its interaction with the subject, the
    one unit that is drawn anew. Effect sizes are the same for all. `power` adds observed power.

    Topics that some system lacks on some measure are left out.

    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=10, runs_per_team=2, n_topics=30, depth=100)
    >>> scores = sr.evaluate(track.runs, track.complete, ["AP", "nDCG@10", "P@10"])
    >>> result = sr.agree(scores, topic_sizes=[5, 20], system_sizes=[5, 15], n_samples=20)
    >>> result.tau.shape, [line.df for line in result.anova.sources]
    ((3, 2, 2, 20), [19, 2, 1, 1, 2, 2, 1, 211, 239])
    """
    seed = seed_from(rng)
    _check(n_samples, level, coefficient, reference, strata)
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
    found = sample_correlations(
        values, **sizes, n_samples=n_samples, ties=ties, seed=seed, jobs=jobs,
        scheduler=scheduler, executor=executor, progress=progress,
    )  # fmt: skip
    samples: dict[Coefficient, np.ndarray] = {
        "tau": found.tau,
        "tau_ap": _directed(found, reference),
    }
    pairs = all_pairs(n_measures)
    _warn_undefined(samples[coefficient], coefficient, pairs, chosen.measures)
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
        level=level,
        strata=strata,
        seed=seed,
        tau=samples["tau"],
        tau_ap=samples["tau_ap"],
        anovas={name: _anova(each, strata, power) for name, each in samples.items()},
        likeness=likeness,
    )


def _check(n_samples: Any, level: float, coefficient: Any, reference: Any, strata: Any) -> None:
    for what, value, choices in (
        ("coefficient", coefficient, get_args(Coefficient)),
        ("reference", reference, get_args(Reference)),
        ("kind of strata", strata, get_args(Strata)),
    ):
        if value not in choices:
            raise unknown_name(what, str(value), choices)
    if not isinstance(n_samples, (int, np.integer)) or n_samples < 2:
        raise InputError(f"n_samples must be a whole number from 2 on, got {n_samples!r}")
    check_open_unit("level", level)


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


def _directed(found: MeasureSamples, reference: Reference) -> np.ndarray:
    """tau_AP with the reference asked for: the estimate is the other measure."""
    if reference == "first":
        return found.tau_ap_second
    if reference == "second":
        return found.tau_ap_first
    return np.asarray(0.5 * (found.tau_ap_first + found.tau_ap_second))


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


def _anova(samples: np.ndarray, strata: Strata, power: Power | None) -> Anova | None:
    # A single cell has subjects and nothing else, hence no error.
    if np.isnan(samples).any() or samples[..., 0].size == 1:
        return None
    return anova(samples, factors=FACTORS, block="subject", strata=STRATA[strata], power=power)


def _intervals(samples: np.ndarray, level: float) -> np.ndarray:
    """t intervals of means over the last axis, [..., 2]; NaN below two samples."""
    mean = mean_of_present(samples)
    n = (~np.isnan(samples)).sum(axis=-1)
    square = np.nansum((samples - mean[..., None]) ** 2, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(square / (n - 1) / n)
        half = special.stdtrit(n - 1.0, 0.5 + 0.5 * level) * error
    return np.stack([mean - half, mean + half], axis=-1)


def _warn(message: str) -> None:
    warnings.warn(message, SteadyrankWarning, stacklevel=4)
