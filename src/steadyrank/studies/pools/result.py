"""The results of `pools`: variances without teams and topics, pool bias, similarity of rankings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from steadyrank._version import __version__
from steadyrank.errors import InputError, unknown_name
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import picked
from steadyrank.stats.interval import Interval
from steadyrank.stats.planning.demands import Demands
from steadyrank.stats.ranks.correlation import TauInterval
from steadyrank.studies.pools.trials import Trial
from steadyrank.words import counted

Mode = Literal["sound", "paper"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOut:
    """The variance of one measure with k teams left out and a number of pilot topics."""

    measure: str
    k: int
    pilot_topics: int
    variances: tuple[float, ...]
    """V_E of each trial; NaN if it cannot be estimated."""
    topics_left: tuple[int, ...]
    """Number of topics of each trial on which the remaining runs score."""
    mean: float
    extent: tuple[float, float] | None
    """Smallest and largest variance of the trials, a range and not a confidence interval."""
    interval: Interval | None
    """The paper's Student interval for the mean over trials. None for a single trial and in sound
    mode, since trials over sets of the same teams are not independent samples."""
    quantiles: dict[str, float]
    """Quantiles of the trials."""
    is_exhaustive: bool
    """Whether the trials are all sets of k teams."""
    difference_variances: tuple[float, ...]
    """95th percentile, over pairs of runs, of the variance of differences, for each trial."""
    difference_mean: float
    paired_variances: tuple[float, ...]
    """Half the mean variance of differences over pairs of runs, for each trial; NaN for one run."""
    topics_needed: int | None = None
    """Topics for the mean; None without a minimum difference or width."""
    topics_extent: tuple[int | None, int | None] | None = None
    """Fewest and most topics of the trials."""
    topics_interval: tuple[int | None, int | None] | None = None
    """Topics for both ends of the paper's interval; None for an end that is not above 0."""
    topics_each: tuple[int | None, ...] = ()
    """Topics for each trial."""
    difference_topics: int | None = None
    """Topics for half of `difference_mean`: a difference varies twice as much as a score."""

    def row(self) -> dict[str, Any]:
        """Return the keys of the JSON output."""
        return picked(
            self,
            "measure k pilot_topics variances mean interval range=extent quantiles topics_needed "
            "topics_needed_range=topics_extent topics_needed_interval=topics_interval "
            "topics_needed_each=topics_each topics_left exhaustive=is_exhaustive "
            "difference_variances difference_mean difference_topics_needed=difference_topics "
            "paired_variances",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The best estimate, with all teams and all topics on which some run scores."""

    measure: str
    variance: float
    variance_interval: Interval
    """Chi-square interval for other topics."""
    n_topics: int
    topics_needed: int | None
    topics_interval: Interval | None
    """Topics for both ends of the interval of the variance."""
    difference_variance: float
    """95th percentile over the pairs of runs."""
    difference_topics: int | None
    first_miss: dict[int, int | None]
    """Smallest k whose interval misses the variance, by the number of pilot topics, as in the
    paper. Empty in sound mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolBias:
    """The effect of documents that only a run's team contributed to the pool on its score."""

    run: str
    team: str
    measure: str
    score: float
    """Mean over topics."""
    score_without: float
    """Mean over topics without the team's unique documents in the judgments."""
    unique: int
    """Number of judged documents that no other team has within pool depth."""
    unique_relevant: int

    @property
    def change(self) -> float:
        """score_without - score."""
        return self.score_without - self.score


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSimilarity:
    """The correlation of the rankings of runs by two measures."""

    measure_a: str
    measure_b: str
    tau: float
    published: TauInterval | None
    """Interval of the paper, with the standard error of unrelated rankings."""
    bootstrap: TauInterval
    """Interval over topics."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.pools.view:VIEW.text")
class PoolsResult(Framed):
    """The result of `pools`: variances without k teams, pool bias and similarity of rankings.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=2, n_topics=20, depth=50, pool_depth=10)
    >>> result = sr.pools(track.runs, track.qrels, measures="nDCG@10")
    >>> result.ks, result.cell("nDCG@10", 1).is_exhaustive
    ((1, 2), True)
    """

    measures: tuple[str, ...]
    teams: tuple[str, ...]
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    pool_depth: int
    n_trials: int
    ks: tuple[int, ...]
    pilot_topics: tuple[int, ...]
    confidence: float
    seed: int
    mode: Mode
    """"paper" has the paper's intervals over trials, "sound" only ranges."""
    demands: Demands | None
    n_judgments: int
    n_orphans: int
    """Number of judgments that no team contributed within pool depth; they are always kept."""
    n_unique: int
    """Number of judgments that only one team contributed."""
    references: tuple[Reference, ...]
    leave_out: tuple[LeaveOut, ...]
    drawn: tuple[Trial, ...]
    """The trials, k = 0 first."""
    bias: tuple[PoolBias, ...]
    similarity: tuple[RankSimilarity, ...]

    def cell(self, measure: str, k: int, pilot_topics: int | None = None) -> LeaveOut:
        """Return the estimates of one measure and k, by default with the most pilot topics."""
        size = max(self.pilot_topics) if pilot_topics is None else pilot_topics
        for row in self.leave_out:
            if (row.measure, row.k, row.pilot_topics) == (str(measure), k, size):
                return row
        if str(measure) not in self.measures:
            raise unknown_name("measure", str(measure), self.measures)
        raise InputError(f"there is no estimate of k = {k} with {size} pilot topics")

    def caption(self) -> str:
        """Return sizes and seed, for captions."""
        return (
            f"{counted(len(self.runs), 'run')} of {counted(len(self.teams), 'team')}, "
            f"{counted(len(self.topics), 'topic')}, pool depth {self.pool_depth}, "
            f"{counted(self.n_trials, 'trial')}, seed {self.seed}; "
            f"steadyrank {__version__}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per measure, k and number of pilot topics, as in the JSON output."""
        return [row.row() for row in self.leave_out]
