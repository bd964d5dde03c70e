"""The result of `agree`: correlations of measures on samples of topics and systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank._version import __version__
from steadyrank.data.scores import mean_of_present
from steadyrank.errors import InputError, check_choice
from steadyrank.notebook import Framed, shown_by
from steadyrank.stats.anova.balanced import Anova
from steadyrank.stats.interval import Interval, t_intervals
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.agree.correlations import (
    Coefficient,
    ComponentAgreement,
    MeasureLikeness,
    Mode,
    Reference,
    Strata,
)

COEFFICIENTS: Mapping[str, str] = {"tau": "Kendall's tau", "tau_ap": "AP correlation tau_AP"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.agree.view:VIEW.text")
class AgreeResult(Framed):
    """The result of `agree`: correlations on samples, and what drives them.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=10, runs_per_team=2, n_topics=30, depth=100)
    >>> scores = sr.evaluate(track.runs, track.complete, ["AP", "P@10"])
    >>> result = sr.agree(scores, topic_sizes=[5, 20], system_sizes=[5, 15], n_samples=20)
    >>> result.measures, result.tau.shape
    (('AP', 'P@10'), (1, 2, 2, 20))
    """

    coefficient: Coefficient
    measures: tuple[str, ...]
    pairs: np.ndarray
    """[pair, 2]: positions of the two measures."""
    topic_sizes: tuple[int, ...]
    system_sizes: tuple[int, ...]
    n_samples: int
    n_topics: int
    n_systems: int
    n_dropped: int
    """Number of topics left out because some system has no score there."""
    reference: Reference
    ties: str
    confidence: float
    mode: Mode
    strata: Strata
    """Errors that F is taken against, in mode paper."""
    n_interval_samples: int
    """Number of resamples of topics and systems for the intervals of effect sizes."""
    seed: int
    tau: np.ndarray
    """[pair, topic size, system size, sample]"""
    tau_ap: np.ndarray
    """[pair, topic size, system size, sample]"""
    anovas: Mapping[Coefficient, Anova | None]
    """ANOVA per coefficient (F and p in mode paper); None if some correlation does not exist, or
    for a single pair of measures at a single combination of sizes."""
    omega_squared_intervals: Mapping[Coefficient, Mapping[str, Interval]]
    """Intervals of omega squared over other topics and systems, by coefficient and effect; empty in
    mode paper."""
    likeness: MeasureLikeness
    """Similarity of the measures on all systems and topics."""
    components: tuple[ComponentAgreement, ...] = ()
    """Correlations among systems that share a level of a component, per factor."""

    @property
    def samples(self) -> np.ndarray:
        """Correlations by the chosen coefficient."""
        return self.tau if self.coefficient == "tau" else self.tau_ap

    @property
    def anova(self) -> Anova | None:
        """ANOVA of the chosen coefficient."""
        return self.anovas[self.coefficient]

    @property
    def limits(self) -> Mapping[str, Interval]:
        """Intervals of omega squared by effect, of the chosen coefficient."""
        return self.omega_squared_intervals[self.coefficient]

    def anova_rows(self, coefficient: Coefficient | None = None) -> list[dict[str, Any]]:
        """Return one dictionary per source of the ANOVA, with intervals of omega squared."""
        chosen = self.coefficient if coefficient is None else coefficient
        table, limits = self.anovas[chosen], self.omega_squared_intervals[chosen]
        if table is None:
            return []
        return [
            {**row, "omega_squared_interval": limits.get(row["source"])} for row in table.rows()
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
        """Return `mean` and `interval` of a coefficient."""
        samples = self.tau if coefficient == "tau" else self.tau_ap
        return mean_of_present(samples), _intervals(samples, self.confidence)

    def pair(self, measure_a: str, measure_b: str) -> int:
        """Return the position of a pair of measures, given in either order."""
        for name in (measure_a, measure_b):
            check_choice("measure", name, self.measures)
        wanted = sorted(self.measures.index(name) for name in (measure_a, measure_b))
        if wanted[0] == wanted[1]:
            raise InputError(f"a pair requires two measures, got {measure_a!r} twice")
        return int(np.flatnonzero((self.pairs == wanted).all(axis=1))[0])

    def pair_name(self, pair: int) -> str:
        """Return the names of the two measures of a pair as one text."""
        a, b = self.pairs[pair]
        return f"{self.measures[a]} – {self.measures[b]}"

    @property
    def marginal(self) -> dict[Coefficient, np.ndarray]:
        """[pair]: mean over all sizes and samples, by coefficient."""
        return {
            "tau": mean_of_present(self.tau.reshape(len(self.pairs), -1)),
            "tau_ap": mean_of_present(self.tau_ap.reshape(len(self.pairs), -1)),
        }

    @property
    def rmse(self) -> float:
        """Root mean square difference of the two coefficients' centred marginal means."""
        gaps = [means - means.mean() for means in self.marginal.values()]
        return float(np.sqrt(np.mean((gaps[0] - gaps[1]) ** 2)))

    @property
    def swaps(self) -> np.ndarray:
        """[swap, 2]: pairs of measure pairs that the two coefficients order differently."""
        tau, tau_ap = self.marginal.values()
        one, other = all_pairs(len(self.pairs)).T
        opposite = (tau[one] - tau[other]) * (tau_ap[one] - tau_ap[other]) < 0.0
        return np.asarray(np.stack([one, other], axis=1)[opposite])

    def ranking(self) -> list[dict[str, Any]]:
        """Return the measure pairs by marginal tau, with their ranks by both coefficients."""
        means = self.marginal
        ranks = {key: np.argsort(np.argsort(-m, kind="stable")) + 1 for key, m in means.items()}
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
        """Return one dictionary per pair of measures and combination of sizes."""
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
        """Return the caption of a table: coefficient, samples, sizes, seed and version."""
        dropped = f" ({self.n_dropped} dropped)" if self.n_dropped else ""
        topics, systems = (_first_and_last(s) for s in (self.topic_sizes, self.system_sizes))
        return (
            f"{COEFFICIENTS[self.coefficient]} of {len(self.measures)} measures; "
            f"{self.n_samples:,} samples of {topics} of {self.n_topics} topics{dropped} and "
            f"{systems} of {self.n_systems} systems; seed {self.seed}; steadyrank {__version__}."
        )

    def component_rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per level of each component, as in JSON."""
        return [
            {"component": one.component, "level": level, "systems": n, "mean": float(mean)}
            for one in self.components
            for level, n, mean in zip(
                one.levels, one.n_systems, one.mean(self.coefficient), strict=True
            )
        ]

    def component_effects(self) -> list[dict[str, Any]]:
        """Return one dictionary per component: omega squared, observed and with random levels."""
        rows = []
        for one in self.components:
            table = one.anovas[self.coefficient]
            if table is None:
                continue
            pair = f"measure_pair:{one.component}"
            dealt = one.dealt[self.coefficient]
            rows.append(
                {
                    "component": one.component,
                    "levels": len(one.levels),
                    "omega_squared": table.source(one.component).omega_squared,
                    "omega_squared_pair": table.source(pair).omega_squared,
                    "omega_squared_random": float(dealt.mean()) if len(dealt) else float("nan"),
                    "pvalue_random": one.pvalue(self.coefficient),
                }
            )
        return rows

    def rows(self) -> list[dict[str, Any]]:
        """Return `cells`."""
        return self.cells()


def _first_and_last(sizes: tuple[int, ...]) -> str:
    shown = [*sizes[:2], "…", sizes[-1]] if len(sizes) > 4 else sizes
    return ", ".join(map(str, shown))


def _intervals(samples: np.ndarray, confidence: float) -> np.ndarray:
    mean = mean_of_present(samples)
    n = (~np.isnan(samples)).sum(axis=-1)
    square = np.nansum((samples - mean[..., None]) ** 2, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(square / (n - 1) / n)
        return t_intervals(mean, error, n - 1.0, confidence)
