"""The result of `topics`: error rates of every pair of runs, and of levels of the difference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from steadyrank._version import __version__
from steadyrank.data.scores import position
from steadyrank.errors import InputError, check_choice
from steadyrank.notebook import Exhibit, frame_of, shown_by
from steadyrank.present.json import picked, rows_of
from steadyrank.present.view import Finding
from steadyrank.stats.pairs.result import NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE
from steadyrank.stats.planning.needed_topics import NeededTopics
from steadyrank.stats.planning.reversal import PairVariances
from steadyrank.stats.planning.variance import ASSURANCE, SKEWED
from steadyrank.studies.topics.levels import Binning, TopicLevel
from steadyrank.words import MISSING, counted, level_words, roughly, size

if TYPE_CHECKING:
    import pandas as pd


CONFIDENCE = 0.95
"""Level of the intervals of numbers of topics."""

ASSURED = f"{ASSURANCE:.0%} assurance"

_MOMENTS = "difference variance_a variance_b covariance variance"
_RATES = (
    "error_rate error_rate_independent approximation predictive predictive_limit expected_reversal"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.topics.view:VIEW.text")
class TopicsResult(Exhibit):
    """The result of `topics`: arrays with one entry per pair, and levels of the difference.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP")
    >>> result = sr.topics(scores, n_trials=100)
    >>> result.pairs.tolist(), result.n_topics
    ([[0, 1], [0, 2], [1, 2]], 20)
    """

    measure: str
    runs: tuple[str, ...]
    mean: np.ndarray
    n_topics: int
    n_complete: int
    """Number of topics that every run has; splits use only these."""
    n_clusters: int | None
    """Number of clusters of these topics; None if they are not clustered."""
    is_weighted: bool
    n_trials: int
    target: float
    """Rate of reversals above which pairs are counted."""
    alpha: float
    beta: float
    comparisons: int
    """Number of comparisons for which `alpha` holds."""
    comparison_alpha: float
    """Level of a single comparison, for which numbers of topics are computed."""
    binning: Binning
    baseline: str | None
    seed: int
    pairs: np.ndarray
    """[pair, 2]: positions of the two runs."""
    variances: PairVariances
    error_rate: np.ndarray
    error_rate_independent: np.ndarray
    approximation: np.ndarray
    predictive: np.ndarray
    predictive_limit: np.ndarray
    """Predictive rate of a second experiment with unlimited topics, the lowest one."""
    expected_reversal: np.ndarray
    """Probability that as many other topics reverse a pair, calibrated on all pairs of the table
    (`steadyrank.stats.planning.reversal`)."""
    needed: NeededTopics
    """Topics for a paired t test at `comparison_alpha` with power 1 - beta, and 95% intervals."""
    significant: np.ndarray
    """Whether a pair differs significantly already, so that no further topics are needed."""
    sizes: tuple[int, ...]
    further_sizes: tuple[int, ...]
    """Sizes to which the fits are extrapolated."""
    levels: tuple[TopicLevel, ...]
    lower_is_better: bool = False

    @property
    def n_dropped(self) -> int:
        """Number of topics that splits leave out because some run lacks them."""
        return self.n_topics - self.n_complete

    @property
    def order(self) -> list[int]:
        """Positions of the runs, best mean first."""
        gains = -self.mean if self.lower_is_better else self.mean
        best_first = np.argsort(-np.nan_to_num(gains, nan=-np.inf), kind="stable")
        return [int(run) for run in best_first]

    @property
    def leaders(self) -> tuple[str, str]:
        """The best run and the second, or the baseline if it is neither."""
        first, second = (self.runs[run] for run in self.order[:2])
        return first, second if self.baseline in (None, first, second) else str(self.baseline)

    def sentence(self, a: str | None = None, b: str | None = None) -> str:
        """Return in words whether other topics reverse two runs, by default the leaders."""
        return " ".join(finding.text for finding in self.of_pair(a, b))

    def of_pair(self, a: str | None = None, b: str | None = None) -> list[Finding]:
        """Return whether other topics reverse two runs, and how many would show the difference."""
        names = (a or self.leaders[0], b or self.leaders[1])
        one, other = (position(name, self.runs, "run") for name in names)
        place = self.pair(one, other)
        (row,) = self.told([place])
        keys = "a b n difference expected_reversal significant topics_needed topics_needed_interval"
        values = {key: row[key] for key in [*keys.split(), "topics_assured"]}
        first, second, gap, n = (row[key] for key in ("a", "b", "difference", "n"))
        if row["flag"] == TOO_FEW:
            text = f"{first} and {second} share {counted(n, 'topic')}: too few for an estimate."
            return [Finding("topics.too_few", text, values)]
        if row["flag"] == NO_DIFFERENCE or gap == 0.0:
            text = f"{first} and {second} have the same mean {self.measure} on {n} topics."
            return [Finding("topics.no_order", text, values)]
        if (gap < 0) != self.lower_is_better:
            first, second = second, first
        if row["flag"] == ZERO_VARIANCE:
            text = f"{first} leads {second} by {abs(gap):.4f} on every topic."
            return [Finding("topics.reversal", text, values)]
        chance = roughly(row["expected_reversal"])
        text = f"On {n} new topics, {first} falls below {second} with probability {chance}."
        said = [Finding("topics.reversal", text, values)]
        if not row["significant"]:
            text = f"Showing its lead with {self.level_words()} requires {needed_words(row)}."
            said.append(Finding("topics.needed", text, values))
            skewness = float(self.variances.skewness[place])
            if abs(skewness) > SKEWED:
                text = f"Their differences are skewed ({skewness:.1f}): topics may be too few."
                said.append(Finding("topics.skewed", text, {"skewness": skewness}))
        return said

    def test_words(self) -> str:
        """Return the test for which numbers of topics are computed."""
        kind = "paired" if self.n_clusters is None else "cluster-robust"
        return f"a {kind} t test with {self.level_words()}"

    def level_words(self) -> str:
        """Return power and level of that test."""
        return f"power {1.0 - self.beta:g} at {level_words(self.alpha, self.comparisons)}"

    def pair(self, one: int, other: int) -> int:
        """Return the place of the pair of two runs, given by their positions in either order."""
        first, second = min(one, other), max(one, other)
        if first != second and self.baseline is None:
            return first * (2 * len(self.runs) - first - 1) // 2 + second - first - 1
        places = np.flatnonzero((np.sort(self.pairs, axis=1) == (first, second)).all(axis=1))
        if not len(places):
            names = f"{self.runs[one]!r} and {self.runs[other]!r}"
            raise InputError(f"{names} are not a pair of this result")
        return int(places[0])

    def caption(self) -> str:
        """Return the measure and the sizes, for captions."""
        dropped = f" ({self.n_dropped} omitted from the splits)" if self.n_dropped else ""
        return (
            f"{self.measure}, {counted(self.n_topics, 'topic')}{dropped}{self.design_words()}, "
            f"{counted(self.n_trials, 'split')}, seed "
            f"{self.seed}; steadyrank {__version__}."
        )

    def design_words(self) -> str:
        """Return how topics are clustered and weighted, if they are."""
        clusters = "" if self.n_clusters is None else f" in {counted(self.n_clusters, 'cluster')}"
        weights = ", weighted" if self.is_weighted else ""
        alike = " (other topics alike)" if clusters or weights else ""
        return f"{clusters}{weights}{alike}"

    def rows(self, which: Sequence[int] | slice = slice(None)) -> list[dict[str, Any]]:
        """Return one row per pair, with the keys of the JSON output."""
        first, second = self.pairs[which].T
        # Without an upper limit, the number at the observed difference is meaningless.
        top = self.needed.high[which]
        known = np.where(np.isfinite(top), self.needed.topics[which], np.nan)
        needed, low, high = (
            [int(size) if math.isfinite(size) else None for size in sizes.tolist()]
            for sizes in (known, self.needed.low[which], top)
        )
        return rows_of(
            {
                "a": [self.runs[run] for run in first],
                "b": [self.runs[run] for run in second],
                "n": self.variances.n[which],
                "mean_a": self.mean[first],
                "mean_b": self.mean[second],
                **{key: x[which] for key, x in picked(self.variances, _MOMENTS).items()},
                **{key: rate[which] for key, rate in picked(self, _RATES).items()},
                "significant": self.significant[which],
                "topics_needed": needed,
                "topics_needed_interval": list(zip(low, high, strict=True)),
                "flag": self.variances.flag[which],
            }
        )

    def told(self, which: Sequence[int] | slice = slice(None)) -> list[dict[str, Any]]:
        """Return these rows with the assured number of topics, which CSV does not have."""
        assured = [
            int(n) if math.isfinite(n) else None for n in self.needed.assured[which].tolist()
        ]
        return [
            row | {"topics_assured": n} for row, n in zip(self.rows(which), assured, strict=True)
        ]

    def curves(self) -> list[dict[str, Any]]:
        """Return one row per level and size: the curves of the figure."""
        return [
            {
                **picked(level, "low high pairs"),
                "size": size,
                **{key: curve[s].item() for key, curve in level.curves.items()},
                "fitted": level.fit.b1 * math.exp(-level.fit.b2 * size) if level.fit else math.nan,
            }
            for level in self.levels
            for s, size in enumerate(self.sizes)
        ]

    def to_frame(self, kind: Literal["pairs", "levels"] = "pairs") -> pd.DataFrame:
        """Return one row per pair, or one row per level and size."""
        check_choice("kind of frame", kind, ("pairs", "levels"))
        return frame_of(self.curves() if kind == "levels" else self.rows())


def needed_words(row: Mapping[str, Any]) -> str:
    """Return the topics that a pair requires in words.

    >>> needed_words({"topics_assured": 811}), needed_words({"topics_assured": None})
    ('811 topics (80% assurance)', 'no number of topics')
    """
    needed = row["topics_assured"]
    return "no number of topics" if needed is None else f"{size(needed)} topics ({ASSURED})"


def needed_figure(row: Mapping[str, Any]) -> str:
    """Return the topics that a pair requires for a cell of a table.

    >>> row = {"flag": "", "significant": False, "topics_assured": 811}
    >>> needed_figure(row), needed_figure(row | {"topics_assured": None})
    ('811', 'none')
    """
    if row["significant"]:
        return "significant"
    if row["topics_assured"] is None:
        return MISSING if row["flag"] == TOO_FEW else "none"
    return size(row["topics_assured"])
