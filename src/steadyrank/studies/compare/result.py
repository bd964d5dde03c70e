"""What `compare` returns: one family of decisions about pairs, and what follows for runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from steadyrank.errors import unknown_name
from steadyrank.notebook import MOST_ROWS, Framed, frame_of, shown_by
from steadyrank.stats.pairs.decisions import OwnDecisions, Placed
from steadyrank.stats.pairs.effects import EffectSizes, carried
from steadyrank.stats.pairs.family import FamilyAudit
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.stats.pairs.topic_design import TopicDesign
from steadyrank.studies.compare import wording

if TYPE_CHECKING:
    import pandas as pd

    from steadyrank.studies.compare.testing import Segments

Test = Literal[
    "t",
    "welch",
    "wilcoxon",
    "sign",
    "randomization",
    "bootstrap",
    "tukey",
    "randomized-tukey",
    "mixed",
]
Correction = Literal["none", "holm", "bh", "bonferroni", "maxt"]
Mode = Literal["sound", "paper"]

ROWS_AT_ONCE = 10_000
"""Pairs whose rows are made at a time."""

SIGNED_STATISTICS = ("t", "welch", "randomization", "bootstrap", "mixed")
"""Tests whose statistic has the sign of the difference; other tests count or rank."""


class Lead(NamedTuple):
    """The best run against the next, by the comparisons of the next run alone."""

    first: int
    second: int
    difference: float
    interval: np.ndarray
    """[2]; NaN where a limit is not bounded. It excludes 0 exactly where `significant`, that is
    where the next run could not be first."""
    significant: bool
    pair: int
    """Position of the two among the pairs."""


class LeaderFragility(NamedTuple):
    """The fewest topics without which the rival has the first place."""

    n: int
    rival: str
    topics: list[str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeFigures:
    """The judges of a result, and what they add to the errors of its differences."""

    names: tuple[str, ...] = ()
    """Empty where it is not known who graded."""
    fixed: bool = False
    """Whether tests are about these judges alone; otherwise judges are random, and the test is
    "mixed"."""
    ratio: float = math.nan
    """Error with random judges over the error with fixed judges."""
    narrow: float = math.nan
    """Error with twice as many judges over the error with these judges."""
    lacking: dict[str, list[str]] = field(default_factory=dict)
    """System to the judges who have not graded it; its pairs are compared by the others."""
    alone: str = ""
    """The only judge of the first pair that shares a single judge; empty without such a pair."""
    shared: np.ndarray = field(default_factory=lambda: np.empty(0, int))
    """[pair]: number of judges that both systems share; empty with fewer than two judges."""
    standard_error: np.ndarray | None = None
    """[pair]: of the differences, with random topics and judges; None with fewer than two."""
    standard_error_fixed: np.ndarray | None = None
    """[pair]: of the differences, over topics alone."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.compare.view:compare_text")
class CompareResult(Placed, Framed):
    """The comparison of runs on one measure: arrays with one entry per pair, and per run.

    `significant`, `letters` and `interval` express one family of decisions, about all pairs;
    `rank_set`, `could_be_first`, `tier` and `lead` those of each run's own comparisons.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    >>> result = sr.compare(scores)
    >>> result.pairs.tolist(), result.significant.tolist()
    ([[0, 1], [0, 2], [1, 2]], [True, True, False])
    >>> result.to_frame().shape[0]
    3
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
    """Number of topics left out of every pair because some run lacks them (the Tukey tests)."""
    n_missing: int
    """Number of missing scores among those used."""
    exact: bool
    """Whether the samples are all sign patterns."""
    n_samples: int | None
    seed: int
    pairs: np.ndarray
    """[pair, 2]: positions of the two runs."""
    n: np.ndarray
    """[pair]: number of topics that both runs have."""
    pair_means: np.ndarray
    """[pair, 2]: means of the two runs over these topics."""
    difference: np.ndarray
    interval: np.ndarray
    """[pair, 2]; 0 lies outside exactly where `significant`. A limit is NaN where the tests do not
    bound it, or where it exceeds the largest difference that the measure allows."""
    interval_kind: str
    comparison_alpha: float
    """Level of a single comparison at the first step of the correction."""
    statistic: np.ndarray
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    significant: np.ndarray
    """[pair]: whether the run with the higher mean is shown to be better."""
    effects: EffectSizes
    smallest_difference: np.ndarray
    """[pair]: the mean difference that a paired t test of these topics at `comparison_alpha`
    detects with 80 % power."""
    flag: np.ndarray
    mean: np.ndarray
    """[run]: mean over topics; the least-squares mean where scores are missing."""
    mean_interval: np.ndarray
    """[run, 2]: interval of each mean by Student's t, for one run at a time, widened for the
    selection of the leader (`intervals_as_picked`)."""
    expected_mean: np.ndarray
    """[run]: mean expected on new topics, given that these topics selected the leader
    (`expected_means`)."""
    rank: np.ndarray
    """[run]: rank by mean; equal means share the better rank."""
    order: list[int]
    """Positions of the runs, best mean first; equal means by name, runs without scores last."""
    own: OwnDecisions | None
    """Rank sets and tiers by each run's own comparisons; None with a baseline, whose rivals are
    not compared with each other."""
    lead: Lead | None
    """The best run and the next; None with a baseline."""
    rank_set_simultaneous: np.ndarray
    """[run, 2]: ranks of all runs simultaneously, by the decisions about all pairs."""
    letters: tuple[str, ...]
    """[run]: runs that share a letter are not significantly different; empty with a baseline, or
    where the alphabet does not suffice."""
    topics: tuple[str, ...]
    """Topics that the tests use."""
    scores: np.ndarray
    """[run, topic]: the scores that were compared; means over instances where rows are systems."""
    design: TopicDesign
    """How topics are clustered and weighted."""
    fragility: np.ndarray
    """[pair]: the fewest topics, or clusters, without which the lead is gone; -1 without a lead
    (`carrying_topics` names them)."""
    n_comparisons: int
    """Number of comparisons corrected together, including those of other segments."""
    segment: str | None = None
    """The segment that the topics are from; None for all topics."""
    n_segments: int = 1
    """Number of segments whose comparisons were corrected together."""
    segments: Segments | None = None
    """The comparisons in each segment of the topics, where `by` names a column of them."""
    n_instances: tuple[int, ...] = ()
    """[run]: number of runs per system (systems only); the test is then "mixed"."""
    instance_sd: np.ndarray = field(default_factory=lambda: np.empty(0))
    """[run]: standard deviation of the means of a system's runs; NaN for a single run."""
    lower_is_better: bool = False
    """Whether the run with the lower mean is the better one. Means, differences and intervals have
    the sign of the scores; ranks, wins and decisions say which run is better."""
    judging: JudgeFigures = field(default_factory=JudgeFigures)
    design_effect: float = math.nan
    """Variance of a difference over that of independent topics, over all pairs; NaN without
    clusters."""
    audit: FamilyAudit | None = None
    """How often such decisions are false on these scores, where a report counted it."""

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges, where these are known; `runs` are then systems."""
        return self.judging.names

    @property
    def judges_fixed(self) -> bool:
        """Whether tests are about these judges alone."""
        return self.judging.fixed

    @property
    def standard_error(self) -> np.ndarray | None:
        """[pair]: errors of the differences with random judges; None with fewer than two."""
        return self.judging.standard_error

    @property
    def standard_error_fixed(self) -> np.ndarray | None:
        """[pair]: errors of the differences over topics alone; None with fewer than two judges."""
        return self.judging.standard_error_fixed

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters of topics; None where topics are not clustered."""
        return self.design.n_clusters

    @property
    def effective_topics(self) -> float | None:
        """(sum of weights)² / sum of squared weights; None where topics are not weighted."""
        return self.design.effective_topics

    @property
    def units(self) -> str:
        """What was drawn: "topics" or "clusters"."""
        return self.design.noun

    @property
    def significant_share(self) -> float:
        """Share of the pairs that differ significantly."""
        return float(np.mean(self.significant)) if len(self.significant) else float("nan")

    @property
    def gain(self) -> np.ndarray:
        """[pair]: by how much the first run is better; negative where it is worse."""
        return -self.difference if self.lower_is_better else self.difference

    @property
    def best_words(self) -> str:
        """Return "highest mean", or "lowest mean" where lower is better."""
        return "lowest mean" if self.lower_is_better else "highest mean"

    @property
    def lower_words(self) -> str:
        """Return " (lower is better)" where it is; else an empty string."""
        return " (lower is better)" if self.lower_is_better else ""

    @property
    def n_better(self) -> np.ndarray:
        """[run]: number of runs that it is significantly better than, among all pairs."""
        signs = np.where(self.significant, np.sign(self.gain), 0.0)
        winners = np.where(signs > 0, *self.pairs.T)[signs != 0.0]
        return np.bincount(winners, minlength=len(self.runs))

    @property
    def is_familywise(self) -> bool:
        """Whether all decisions are right simultaneously with confidence 1 - alpha."""
        corrected = self.correction in ("holm", "bonferroni", "maxt")
        return corrected or self.test in wording.SIMULTANEOUS or self.n_comparisons == 1

    @property
    def row_word(self) -> str:
        """Return "system" where rows are systems with instances or judges, else "run"."""
        return "system" if self.n_instances or self.judges else "run"

    @property
    def family(self) -> str:
        """In words, which p-values were corrected together."""
        return wording.family_words(self)

    @property
    def is_corrected(self) -> bool:
        """Whether p-values were adjusted for other comparisons."""
        return self.correction != "none" and self.n_comparisons > 1

    @property
    def is_corrected_t(self) -> bool:
        """Whether the test is the t test corrected for skewness, with a variance floor."""
        return self.test == "t" and self.correction == "maxt" and self.mode == "sound"

    def caption(self) -> str:
        """Return the caption of a table: test, correction, alpha, numbers, seed, version."""
        return wording.caption(self)

    def to_frame(self) -> pd.DataFrame:
        """Return the pairs as a frame, followed by those of segments."""
        return frame_of(self.frame_rows())

    def frame_rows(self) -> Iterator[dict[str, Any]]:
        """Yield one dictionary per pair, and per pair in each segment."""
        if self.segments is None:
            return self.each_row()
        parts = [("", self), *((own.segment, own) for own in self.segments.results)]
        return ({"segment": name, **row} for name, own in parts for row in own.each_row())

    def pair_of(self, a: int, b: int) -> int:
        """Return the position of the pair of two runs."""
        both = (np.sort(self.pairs, axis=1) == sorted((a, b))).all(axis=1)
        return int(np.flatnonzero(both)[0])

    def carrying_topics(self, pair: int) -> list[str]:
        """Return the topics without which a pair's lead is gone, those that count most first."""
        a, b = self.pairs[pair]
        design = self.design
        units = carried(self.scores[a] - self.scores[b], design.weights, design.clusters).units
        if design.clusters is None:
            return [self.topics[unit] for unit in units]
        topics = np.array(self.topics, object)
        return [str(topic) for unit in units for topic in topics[design.clusters == unit]]

    def leader_fragility(self) -> LeaderFragility | None:
        """Return the fewest topics without which another run leads; None without a lead."""
        leader = self.order[0]
        with_leader = (self.pairs == leader).any(axis=1) & (self.fragility > 0)
        if self.baseline is not None or not with_leader.any():
            return None
        pair = int(np.flatnonzero(with_leader)[np.argmin(self.fragility[with_leader])])
        a, b = self.pairs[pair].tolist()
        rival = self.runs[b if a == leader else a]
        return LeaderFragility(int(self.fragility[pair]), rival, self.carrying_topics(pair))

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per pair, with the keys of the JSON output."""
        return list(self.each_row())

    def each_row(
        self, places: Sequence[int] | np.ndarray | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows one at a time; `places` are the positions of the pairs wanted.

        A list of millions of rows takes more memory than the result.
        """
        names = np.array(self.runs, object)
        columns = self._columns()
        chosen = np.arange(len(self.pairs)) if places is None else np.asarray(places, int)
        for start in range(0, len(chosen), ROWS_AT_ONCE):
            part = chosen[start : start + ROWS_AT_ONCE]
            values = [column[part].tolist() for column in columns.values()]
            for row in zip(*names[self.pairs[part]].T.tolist(), *values, strict=True):
                yield dict(zip(("a", "b", *columns), row, strict=True))

    def _columns(self) -> dict[str, np.ndarray]:
        """Return the columns of the pairs, without the names of the runs."""
        carriers = self.fragility.astype(object)
        carriers[self.fragility <= 0] = None
        columns = {
            "n": self.n,
            "mean_a": self.pair_means[:, 0],
            "mean_b": self.pair_means[:, 1],
            "difference": self.difference,
            "interval": self.interval,
            "lower_cut": np.isnan(self.interval[:, 0]) & (self.flag != TOO_FEW),
            "upper_cut": np.isnan(self.interval[:, 1]) & (self.flag != TOO_FEW),
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "significant": self.significant,
            "effect_size": self.effects.paired_d,
            "wins": self.effects.wins,
            "ties": self.effects.ties,
            "losses": self.effects.losses,
            "smallest_difference": self.smallest_difference,
            "flag": self.flag,
            "fragility": carriers,
        }
        if self.standard_error is not None and self.standard_error_fixed is not None:
            columns["standard_error"] = self.standard_error
            columns["standard_error_fixed"] = self.standard_error_fixed
            columns["n_judges"] = self.judging.shared
        return columns

    def run_rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per run, with the keys of the JSON output."""
        found = self.leader_fragility()
        rows = []
        for i, run in enumerate(self.runs):
            row = {
                "run": run,
                "mean": float(self.mean[i]),
                "interval": self.mean_interval[i].tolist(),
                "expected_mean": float(self.expected_mean[i]),
                **self.place_row(i),
                "fragility": found._asdict() if found and i == self.order[0] else None,
            }
            if self.n_instances:
                row |= {"instances": self.n_instances[i], "sd": float(self.instance_sd[i])}
            rows.append(row)
        return rows

    def _repr_html_(self) -> str:
        """Return what `print` shows, as HTML; `to_html` is the table of a paper."""
        return self._text("html", most_rows=MOST_ROWS, paper=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.compare.view:compare_text")
class CompareTable(Framed):
    """The comparisons of the same runs by the same test on several measures.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, ["AP", "P@10"], no_relevant="skip")
    >>> table = sr.compare(scores)
    >>> table.measures, table["P@10"].test
    (('AP', 'P@10'), 't')
    """

    results: tuple[CompareResult, ...]
    """One per measure; the comparisons of each are corrected together."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures, in the order of the columns."""
        return tuple(result.measure for result in self.results)

    def __getitem__(self, measure: str) -> CompareResult:
        """Return the result of one measure."""
        for result in self.results:
            if result.measure == measure:
                return result
        raise unknown_name("measure", str(measure), self.measures)

    @property
    def first_result(self) -> CompareResult:
        """The result of the measure that ranks the runs, which figures show."""
        return self.results[0]

    def caption(self) -> str:
        """Return the caption of the table of a paper: test, correction, alpha, topics, marks."""
        from steadyrank.studies.compare.paper_table import paper_caption

        return paper_caption(self.results)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per measure and pair."""
        return list(self.frame_rows())

    def frame_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows one at a time."""
        return (
            {"measure": result.measure, **row}
            for result in self.results
            for row in result.frame_rows()
        )


def with_sign_of_file(result: CompareResult) -> CompareResult:
    """Return the result of negated scores as one of the scores; decisions and ranks stay."""
    effects, segments, lead = result.effects, result.segments, result.lead
    if segments is not None:
        test = segments.interaction
        segments = replace(
            segments,
            results=tuple(map(with_sign_of_file, segments.results)),
            interaction=replace(test, deviation=-test.deviation, statistic=-test.statistic),
        )
    if lead is not None:
        lead = lead._replace(difference=-lead.difference, interval=-lead.interval[::-1])
    is_signed = result.test in SIGNED_STATISTICS
    return replace(
        result,
        lower_is_better=True,
        pair_means=-result.pair_means,
        difference=-result.difference,
        interval=-result.interval[:, ::-1],
        statistic=-result.statistic if is_signed else result.statistic,
        effects=replace(effects, paired_d=-effects.paired_d),
        mean=-result.mean,
        mean_interval=-result.mean_interval[:, ::-1],
        expected_mean=-result.expected_mean,
        scores=-result.scores,
        lead=lead,
        segments=segments,
    )
