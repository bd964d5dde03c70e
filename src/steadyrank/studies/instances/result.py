"""The results of `instances`: one comparison of two systems, or a table of many.

Both record sizes, method, seed and levels, and have rows with the keys of the JSON output. A
comparison keeps the scores by instance and topic for its figures.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from steadyrank._version import __version__
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import picked
from steadyrank.stats.instances.equivalence import EquivalenceTest, Verdict, verdict_of
from steadyrank.stats.instances.mixed_tests import Inflation
from steadyrank.stats.instances.systems import SystemPair
from steadyrank.stats.interval import Interval, t_limits
from steadyrank.stats.mixed.posterior import Posterior
from steadyrank.words import counted

Mode = Literal["sound", "paper"]

MARGIN_ADJUSTED = "pvalue_equivalence_adjusted pvalue_non_inferiority_adjusted"


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyMember:
    """The p-values of one comparison, corrected for all comparisons of its table."""

    size: int
    pvalue_adjusted: float
    pvalue_equivalence_adjusted: float
    pvalue_non_inferiority_adjusted: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
@shown_by("studies.instances.view:VIEW.text", listed=True)
class InstancesResult(Framed):
    """The comparison of two systems; the difference is a - b.

    In a table of several comparisons, the decision is corrected for multiple comparisons, and the
    intervals are simultaneous.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(
    ...     n_teams=2, runs_per_team=1, n_instances=5, n_topics=20, depth=50, pool_depth=25
    ... )
    >>> scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    >>> result = sr.instances(scores, a="team1-s1", b="team2-s1", posterior=False)
    >>> result.a, result.b, result.n_topics == len(scores.topics)
    ('team1-s1', 'team2-s1', True)
    """

    measure: str
    pair: SystemPair
    """The scores of both systems, by instance and topic."""
    mode: Mode
    alpha: float
    difference: float
    """The mixed model's estimate."""
    standard_error: float
    df: float
    interval: Interval
    """Interval of level 1 - alpha, or 1 - alpha / comparisons in a table; in paper mode by the
    paper's test."""
    effect_size: float
    """Difference over the residual standard deviation."""
    effect_size_paired: float
    """Mean over standard deviation of the topics' differences, averaged over instances."""
    pvalue: dict[str, float]
    """p by `mixed`, `mixed_paper`, `bootstrap` and `two_way_bootstrap`; NaN where not defined."""
    pvalue_error: dict[str, float]
    """Monte Carlo standard errors of the sampled p-values."""
    variance: dict[str, float]
    """Variances of instance, topic, system_topic and residual by the mixed model; NaN where not
    identified."""
    variance_interval: dict[str, Interval]
    """Profile likelihood intervals of level 1 - alpha."""
    factor_variance: dict[str, float]
    """Variance of each instance factor, within the one before it."""
    inflation: Inflation | None
    posterior: Posterior | None
    equivalence: EquivalenceTest
    flag: str
    """"" or why figures are not ordinary numbers: see `stats.pairs.result` and `two_way`."""
    df_method: str
    """Method of `df`: "satterthwaite", "kenward-roger" below five instances, or "exact" (paired
    t)."""
    method: str
    n_samples: int
    samples_per_instance: int
    seed: int
    family: FamilyMember | None = None
    """The comparison's adjusted p-values in a table; None for a single pair."""

    @property
    def a(self) -> str:
        """The first system."""
        return self.pair.a.name

    @property
    def b(self) -> str:
        """The second system."""
        return self.pair.b.name

    @property
    def design(self) -> Literal["crossed", "nested"]:
        """Instances of one system against a single run, or each system with its own."""
        return self.pair.design

    @property
    def n_topics(self) -> int:
        """Topics that both systems have."""
        return len(self.pair.topics)

    @property
    def n_instances(self) -> dict[str, int]:
        """Numbers of instances of a and of b."""
        return {"a": len(self.pair.a.runs), "b": len(self.pair.b.runs)}

    @property
    def one_instance(self) -> bool:
        """Whether both systems are single runs."""
        return max(self.n_instances.values()) == 1

    @property
    def headline_pvalue(self) -> float:
        """The p-value that decides, by the mixed model or in paper mode by the paper's test."""
        paper = self.pvalue["mixed_paper"]
        return paper if self.mode == "paper" and not np.isnan(paper) else self.pvalue["mixed"]

    @property
    def pvalue_adjusted(self) -> float:
        """`headline_pvalue`, corrected for the other comparisons of a table."""
        return self.headline_pvalue if self.family is None else self.family.pvalue_adjusted

    @property
    def significant(self) -> bool:
        """Whether the difference is significant at alpha, in a table after correction."""
        return bool(self.pvalue_adjusted < self.alpha)

    @property
    def beyond_margin(self) -> int:
        """1 if a is shown to be better by the margin or more, -1 if worse by more, else 0.

        The interval has level 1 - 2 alpha, or 1 - 2 alpha / comparisons in a table.
        """
        size = 1 if self.family is None else self.family.size
        level = 1.0 - 2.0 * self.alpha / size
        low, high = t_limits(self.difference, self.standard_error, self.df, level)
        return int(low >= self.equivalence.delta) - int(high < -self.equivalence.delta)

    @property
    def variance_share(self) -> dict[str, float]:
        """Shares of the variance of differences, from which topics' difficulty cancels."""
        parts = {k: v for k, v in self.variance.items() if k != "topic" and not np.isnan(v)}
        total = sum(parts.values())
        return {k: v / total for k, v in parts.items()} if total > 0.0 else {}

    @property
    def hpd(self) -> Interval | None:
        """Shortest interval of the posterior."""
        return None if self.posterior is None else Interval(*self.posterior.hpd[-1].tolist())

    @property
    def hpd_verdict(self) -> Verdict | None:
        """Verdict of the shortest interval on the margin."""
        return None if self.hpd is None else verdict_of(self.hpd, self.equivalence.delta)

    def caption(self) -> str:
        """Return the caption of a table: sizes, method, alpha, seed, version."""
        sizes = f"{self.n_instances['a']} and {self.n_instances['b']} instances"
        dropped = f" ({self.pair.n_dropped} dropped)" if self.pair.n_dropped else ""
        missing = f", {self.pair.n_missing} cells missing" if self.pair.n_missing else ""
        return (
            f"{self.measure}, {self.a} − {self.b}: {sizes} × {self.n_topics} topics{dropped}"
            f"{missing}; {self.method}; alpha {self.alpha:g}; seed {self.seed}; "
            f"steadyrank {__version__}."
        )

    def row(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        posterior = self.posterior
        return {
            **picked(
                self,
                "a b measure design n_topics n_instances difference interval effect_size "
                "effect_size_paired pvalue variance",
            ),
            "posterior": None
            if posterior is None
            else {
                "mean": float(posterior.mean[-1]),
                "hpd": self.hpd,
                "level": posterior.confidence,
                "pvalue": float(posterior.pvalue[-1]),
                "converged": posterior.converged,
                "n_draws": posterior.n_draws,
            },
            "equivalence": {
                **asdict(self.equivalence),
                **({} if self.family is None else picked(self.family, MARGIN_ADJUSTED)),
                "hpd_verdict": self.hpd_verdict,
            },
            "mean_a": self.pair.a.mean,
            "mean_b": self.pair.b.mean,
            **picked(
                self,
                "standard_error df df_method significant alpha mode pvalue_error "
                "variance_interval variance_share factor_variance",
            ),
            "inflation": None if self.inflation is None else asdict(self.inflation),
            "n_dropped": self.pair.n_dropped,
            "n_missing": self.pair.n_missing,
            **picked(self, "flag method n_samples samples_per_instance seed"),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return the row as a list."""
        return [self.row()]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
@shown_by("studies.instances.view:VIEW.text", listed=True)
class InstancesTable(Framed):
    """The comparisons of several pairs of systems, or of the settings of a sweep.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(
    ...     n_teams=2, runs_per_team=1, n_instances=5, n_topics=20, depth=50, pool_depth=25
    ... )
    >>> scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    >>> table = sr.instances(scores, b="team2-s1", posterior=False)
    >>> [(pair.a, pair.b) for pair in table.comparisons]
    [('team1-s1', 'team2-s1')]
    """

    measure: str
    baseline: str | None
    """The second system of all pairs, if it is the same."""
    sweep: str | None
    """The column whose settings were compared with the baseline."""
    settings: tuple[str, ...] | None
    """One for each comparison, smallest first."""
    comparisons: tuple[InstancesResult, ...]
    """Decided by p-values corrected for all comparisons, with simultaneous intervals."""
    alpha: float
    delta: float
    mode: Mode
    margin_correction: str
    """Correction of equivalence and non-inferiority: "holm"; in a sweep "fixed sequence", from the
    largest setting down, or in paper mode "none"."""

    @property
    def pvalue_adjusted(self) -> np.ndarray:
        """Adjusted p-values of the differences, by Holm's method over all comparisons."""
        return np.array([comparison.pvalue_adjusted for comparison in self.comparisons])

    @property
    def significant(self) -> np.ndarray:
        """Whether each difference is significant after correction."""
        return np.array([comparison.significant for comparison in self.comparisons])

    @property
    def smallest_non_inferior(self) -> str | None:
        """The smallest setting of a sweep that is not worse than the baseline by delta.

        Settings are tested from the largest down to the first that fails, which keeps the
        probability of any false claim at alpha. In paper mode any setting counts.
        """
        if self.settings is None:
            return None
        passing = [comparison.equivalence.non_inferior for comparison in self.comparisons]
        if self.mode == "sound":
            passing = np.logical_and.accumulate(passing[::-1])[::-1].tolist()
        return self.settings[passing.index(True)] if True in passing else None

    def caption(self) -> str:
        """Return the caption of a table: comparisons, method, correction, margin, seed, version."""
        kind = "all pairs" if self.baseline is None else f"against {self.baseline}"
        test = f"mixed model{' of Jayasinghe et al. 2015' if self.mode == 'paper' else ''}"
        if len(self.comparisons) > 1:
            margin = {
                "holm": "",
                "fixed sequence": ", margin from the largest setting down",
                "none": ", margin without correction",
            }[self.margin_correction]
            test += f", Holm{margin}; intervals: Bonferroni"
        return (
            f"{self.measure}, {counted(len(self.comparisons), 'comparison')}, {kind}; {test}; "
            f"alpha {self.alpha:g}; margin {self.delta:g}; {self.comparisons[0].n_topics} topics; "
            f"seed {self.comparisons[0].seed}; steadyrank {__version__}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per comparison, with the keys of the JSON output."""
        settings = self.settings or (None,) * len(self.comparisons)
        return [
            comparison.row() | {"setting": setting, "pvalue_adjusted": comparison.pvalue_adjusted}
            for comparison, setting in zip(self.comparisons, settings, strict=True)
        ]
