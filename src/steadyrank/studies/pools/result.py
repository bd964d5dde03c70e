"""What `pools` finds: variances with teams and topics left out, what runs owe to their own teams.

Each part of the result has its own class; `PoolsResult` holds them and says what was asked for.
"""

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
    """The variance of one measure, with k teams left out and so many pilot topics."""

    measure: str
    k: int
    pilot_topics: int
    variances: tuple[float, ...]
    """V_E of each trial; NaN where it left nothing to estimate it from."""
    topics_left: tuple[int, ...]
    """Topics of each trial: fewer where the remaining runs fail on all others."""
    mean: float
    extent: tuple[float, float] | None
    """The smallest and the largest of the trials, a range and no confidence interval."""
    interval: Interval | None
    """The paper's: Student's, for the mean over trials. None for a single trial and in sound mode,
    since trials over sets of the same teams are no independent samples."""
    quantiles: dict[str, float]
    """Of the trials."""
    is_exhaustive: bool
    """Whether the trials are all sets of k teams."""
    difference_variances: tuple[float, ...]
    """The 95th percentile, over pairs of runs, of the variance of differences, of each trial."""
    difference_mean: float
    paired_variances: tuple[float, ...]
    """Of each trial half the variance of differences, mean over pairs of runs; NaN for one run."""
    topics_needed: int | None = None
    """By the mean; None where no minimum difference or width was asked for."""
    topics_extent: tuple[int | None, int | None] | None = None
    """The fewest and the most topics by a trial."""
    topics_interval: tuple[int | None, int | None] | None = None
    """At both ends of the paper's interval; None at an end that is no variance."""
    topics_each: tuple[int | None, ...] = ()
    """By each trial."""
    difference_topics: int | None = None
    """By half of `difference_mean`: a difference varies twice as much as a score."""

    def row(self) -> dict[str, Any]:
        """The keys of the JSON output."""
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
    """The best estimate: all teams and all topics on which some run scores."""

    measure: str
    variance: float
    variance_interval: Interval
    """Chi-square, for other topics."""
    n_topics: int
    topics_needed: int | None
    topics_interval: Interval | None
    """Topics at both ends of the interval of the variance that they rest on."""
    difference_variance: float
    """The 95th percentile over the pairs of runs."""
    difference_topics: int | None
    first_miss: dict[int, int | None]
    """The paper's: for each number of pilot topics, the smallest k whose interval misses the
    variance. Empty in sound mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolBias:
    """What a run owes to the documents that only its team brought into the pool."""

    run: str
    team: str
    measure: str
    score: float
    """Mean over topics."""
    score_without: float
    """The same by judgments without the team's unique documents."""
    unique: int
    """Judged documents that no other team has within pool depth."""
    unique_relevant: int

    @property
    def change(self) -> float:
        """The score without them less the score."""
        return self.score_without - self.score


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSimilarity:
    """How far two measures rank the runs alike."""

    measure_a: str
    measure_b: str
    tau: float
    published: TauInterval | None
    """As the paper has it: its standard error is that of unrelated rankings."""
    bootstrap: TauInterval
    """Had the topics been others."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.pools.view:VIEW.text")
class PoolsResult(Framed):
    """What `pools` found: variances without k teams, pool bias and similarity of rankings.

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
    """"paper" has the paper's intervals over trials, "sound" ranges alone."""
    demands: Demands | None
    n_judgments: int
    n_orphans: int
    """Judgments that nobody contributed within pool depth: they always stay."""
    n_unique: int
    """Judgments that one team alone contributed."""
    references: tuple[Reference, ...]
    leave_out: tuple[LeaveOut, ...]
    drawn: tuple[Trial, ...]
    """The trials, k = 0 first."""
    bias: tuple[PoolBias, ...]
    similarity: tuple[RankSimilarity, ...]

    def cell(self, measure: str, k: int, pilot_topics: int | None = None) -> LeaveOut:
        """The estimates of one measure and k; of the most pilot topics by default."""
        size = max(self.pilot_topics) if pilot_topics is None else pilot_topics
        for row in self.leave_out:
            if (row.measure, row.k, row.pilot_topics) == (str(measure), k, size):
                return row
        if str(measure) not in self.measures:
            raise unknown_name("measure", str(measure), self.measures)
        raise InputError(f"there is no estimate of k = {k} with {size} pilot topics")

    def caption(self) -> str:
        """What a table of this result must say."""
        return (
            f"{counted(len(self.runs), 'run')} of {counted(len(self.teams), 'team')}, "
            f"{counted(len(self.topics), 'topic')}, pool depth {self.pool_depth}, "
            f"{counted(self.n_trials, 'trial')}, seed {self.seed}; "
            f"steadyrank {__version__}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary a measure, k and number of pilot topics, as in the JSON output."""
        return [row.row() for row in self.leave_out]
