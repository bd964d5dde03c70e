"""What `compare` returns: one family of decisions about pairs, and what follows for runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from steadyrank._version import __version__
from steadyrank.notebook import shown_by
from steadyrank.stats.pairs.binary import BinaryPairs
from steadyrank.stats.pairs.effects import EffectSizes
from steadyrank.stats.run_means import best_first

if TYPE_CHECKING:
    import pandas as pd

Test = Literal["t", "wilcoxon", "sign", "randomization", "bootstrap", "tukey", "randomized-tukey"]
Correction = Literal["none", "holm", "bh", "bonferroni", "maxt"]
Mode = Literal["sound", "paper"]

SIMULTANEOUS = ("tukey", "randomized-tukey")
"""Tests whose p-values hold for all pairs at once: correcting them again would be too strict."""

CORRECTIONS = {
    "none": "no correction",
    "holm": "Holm's correction",
    "bh": "Benjamini and Hochberg's correction",
    "bonferroni": "Bonferroni's correction",
    "maxt": "max-t correction",
}
"""How sentences name them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.compare.tables:compare_text")
class CompareResult:
    """What `compare` found: arrays with one entry per pair, and per run.

    `significant`, `rank_set`, `letters` and `interval` tell one and the same family of decisions.
    """

    measure: str
    test: Test
    correction: Correction
    alpha: float
    mode: Mode
    baseline: str | None
    runs: tuple[str, ...]
    n_topics: int
    n_dropped: int
    """Topics left out of every pair because some run lacks them (the Tukey tests)."""
    n_missing: int
    """Scores that are missing among those used: 0 unless runs lack topics."""
    method: str
    n_samples: int | None
    seed: int
    pairs: np.ndarray
    """[pair, 2]: positions of the two runs."""
    n: np.ndarray
    """Topics that both runs of a pair have."""
    pair_means: np.ndarray
    """[pair, 2]: means of the two runs over these topics."""
    difference: np.ndarray
    interval: np.ndarray
    """[pair, 2]; 0 lies outside exactly where `significant`, unless a kind was asked for."""
    interval_kind: str
    comparison_alpha: float
    """The level of a single comparison that the correction's first step amounts to."""
    statistic: np.ndarray
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    significant: np.ndarray
    """Whether the run with the higher mean is shown to be better."""
    effects: EffectSizes
    smallest_difference: np.ndarray
    """The mean difference that a paired t test of these topics at `comparison_alpha` detects
    with 80 % power."""
    flag: np.ndarray
    mean: np.ndarray
    """One per run: the mean over topics; the least-squares mean where scores are missing."""
    mean_interval: np.ndarray
    """[run, 2]: of each mean, for one run at a time: Student's, widened by what having been picked
    may have done to it (`intervals_as_picked`)."""
    expected_mean: np.ndarray
    """The mean expected on new topics, given that these picked the leader: `expected_means`."""
    rank: np.ndarray
    """By mean; equal means share the better rank."""
    rank_set: np.ndarray
    """[run, 2]: the best and the worst rank that the decisions leave to each run."""
    letters: tuple[str, ...]
    """Runs that share a letter are not significantly different; empty with a baseline, or where
    it would take more than the alphabet."""
    binary: BinaryPairs | None = None
    """McNemar's test and intervals of shares, where all scores are 0 or 1; nothing else here
    depends on it."""

    @property
    def significant_share(self) -> float:
        """Share of the pairs that differ significantly."""
        return float(np.mean(self.significant)) if len(self.significant) else float("nan")

    @property
    def could_be_first(self) -> np.ndarray:
        """Whether no run is shown to be better, one per run."""
        return np.asarray(self.rank_set[:, 0] == 1)

    @property
    def n_different(self) -> np.ndarray:
        """How many other runs each run differs from significantly."""
        return np.bincount(self.pairs[self.significant].ravel(), minlength=len(self.runs))

    @property
    def order(self) -> list[int]:
        """Positions of the runs, best mean first; runs without scores last."""
        return [int(run) for run in best_first(self.mean)]

    @property
    def is_familywise(self) -> bool:
        """Whether all decisions are right at once with confidence 1 - alpha."""
        corrected = self.correction in ("holm", "bonferroni", "maxt")
        return corrected or self.test in SIMULTANEOUS or len(self.pairs) == 1

    @property
    def family(self) -> str:
        """In words, which p-values were corrected together."""
        kind = "all pairs" if self.baseline is None else f"all runs against {self.baseline}"
        comparisons = "comparison" if len(self.pairs) == 1 else "comparisons"
        return f"{len(self.pairs):,} {comparisons}, {kind}"

    def gaps(self) -> str:
        """What missing scores mean for ranks and tests; empty where none is missing."""
        if not self.n_missing:
            return ""
        total = len(self.runs) * self.n_topics
        return (
            f"{self.n_missing:,} of {total:,} scores are missing: runs are ranked by least-squares "
            "means, which adjust for the topics that a run lacks, and every two runs are compared "
            "on the topics that both have."
        )

    def rank_words(self) -> str:
        """What the rank sets mean, given how decisions were corrected."""
        if self.is_familywise:
            return f"all at once with {1 - self.alpha:.0%} confidence"
        if self.correction == "bh":
            return "by decisions of which a share of alpha is wrong on average"
        return "by uncorrected decisions, hence too narrow"

    def caption(self) -> str:
        """What a table of this result must say: test, correction, alpha, n, seed, version."""
        resampled = f", {self.n_samples:,} samples, seed {self.seed}" if self.n_samples else ""
        dropped = f" ({self.n_dropped} dropped)" if self.n_dropped else ""
        is_corrected = self.test not in SIMULTANEOUS and len(self.pairs) > 1
        correction = f", {CORRECTIONS[self.correction]}" if is_corrected else ""
        gaps = f" {self.gaps()}" if self.n_missing else ""
        return (
            f"{self.measure}, {self.test} test ({self.method}{resampled}){correction} over "
            f"{self.family}; alpha {self.alpha:g}; {self.n_topics} topics{dropped}; "
            f"steadyrank {__version__}.{gaps}"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per pair."""
        import pandas as pd

        return pd.DataFrame(list(self.rows()))

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per pair, with the keys that the JSON output has."""
        first, second = self.pairs.T
        return [
            {
                "a": self.runs[a],
                "b": self.runs[b],
                "n": int(self.n[p]),
                "mean_a": float(self.pair_means[p, 0]),
                "mean_b": float(self.pair_means[p, 1]),
                "difference": float(self.difference[p]),
                "interval": [float(bound) for bound in self.interval[p]],
                "statistic": float(self.statistic[p]),
                "pvalue": float(self.pvalue[p]),
                "pvalue_adjusted": float(self.pvalue_adjusted[p]),
                "significant": bool(self.significant[p]),
                "effect_size": float(self.effects.paired_d[p]),
                "effect_reading": str(self.effects.reading[p]),
                "hedges_g": float(self.effects.hedges_g[p]),
                "cliffs_delta": float(self.effects.cliffs_delta[p]),
                "wins": int(self.effects.wins[p]),
                "ties": int(self.effects.ties[p]),
                "losses": int(self.effects.losses[p]),
                "smallest_difference": float(self.smallest_difference[p]),
                "flag": str(self.flag[p]),
                **({} if self.binary is None else self.binary.pair_row(p)),
            }
            for p, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
        ]

    def run_rows(self) -> list[dict[str, Any]]:
        """One dictionary per run, with the keys that the JSON output has."""
        return [
            {
                "run": run,
                "mean": float(self.mean[i]),
                "interval": [float(bound) for bound in self.mean_interval[i]],
                "expected_mean": float(self.expected_mean[i]),
                "rank": int(self.rank[i]),
                "rank_set": [int(end) for end in self.rank_set[i]],
                "could_be_first": bool(self.could_be_first[i]),
                "group": self.letters[i] if self.letters else None,
                **({} if self.binary is None else self.binary.run_row(i)),
            }
            for i, run in enumerate(self.runs)
        ]
