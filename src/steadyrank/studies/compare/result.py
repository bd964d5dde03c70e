"""What `compare` returns: one family of decisions about pairs, and what follows for runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from steadyrank._version import __version__
from steadyrank.errors import unknown_name
from steadyrank.notebook import MOST_ROWS, Framed, frame_of, shown_by
from steadyrank.stats.facets.pairs import FEWEST_JUDGES, METHOD, METHOD_FIXED
from steadyrank.stats.pairs.decisions import OwnDecisions
from steadyrank.stats.pairs.effects import EffectSizes
from steadyrank.stats.pairs.family_audit import FamilyAudit
from steadyrank.stats.pairs.fragility import carried
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.stats.pairs.tests import BinaryPairs
from steadyrank.stats.pairs.topic_design import TopicDesign
from steadyrank.words import MISSING, counted, listed, weighted_words

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
Alternative = Literal["two-sided", "greater"]

ROWS_AT_ONCE = 10_000
"""Pairs whose figures become Python's numbers at a time."""

SIMULTANEOUS = ("tukey", "randomized-tukey")
"""Tests whose p-values hold for all pairs at once: correcting them again would be too strict."""

CORRECTIONS = {
    "none": "no correction",
    "holm": "Holm's correction",
    "bh": "Benjamini and Hochberg's correction",
    "bonferroni": "Bonferroni's correction",
    "maxt": "max-t correction by sign flips",
}
"""How sentences name them."""

TESTS = {
    "t": "Student's paired t test",
    "welch": "Welch's t test of two samples",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    "randomization": "paired randomisation test",
    "bootstrap": "studentized bootstrap test",
    "tukey": "Tukey's HSD test",
    "randomized-tukey": "randomised Tukey HSD test",
    "mixed": "mixed model with random topics and instances",
}
"""How captions name them."""

DRAWN_TESTS = {
    "t": "paired t test with robust standard errors over {}",
    "randomization": "paired randomisation test of {}",
    "bootstrap": "studentized bootstrap test of {}",
}
"""The same where whole clusters, or topics with weights, are what was drawn."""


class Lead(NamedTuple):
    """The best run against the next, by the comparisons of the next run alone."""

    first: int
    second: int
    difference: float
    interval: np.ndarray
    """[2]; NaN where a limit is not bounded. 0 lies outside exactly where `significant`, that is
    where the next run could not be first."""
    significant: bool
    pair: int
    """Place of the two among the pairs."""


class LeaderFragility(NamedTuple):
    """How little the first place rests on: without so many topics, the rival has it."""

    n: int
    rival: str
    topics: list[str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.compare.view:compare_text")
class CompareResult(Framed):
    """What `compare` found on one measure: arrays with one entry per pair, and per run.

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
    """[pair, 2]; 0 lies outside exactly where `significant`. NaN is a limit that the tests do not
    bound, or one beyond the largest difference that the measure allows."""
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
    order: list[int]
    """Positions of the runs, best mean first; equal means by name, runs without scores last."""
    own: OwnDecisions | None
    """What each run's own comparisons decide about it; None with a baseline, whose rivals are not
    compared with each other."""
    lead: Lead | None
    """The best run and the next; None with a baseline."""
    rank_set_simultaneous: np.ndarray
    """[run, 2]: the ranks that the decisions about all pairs leave to the runs, all at once."""
    letters: tuple[str, ...]
    """Runs that share a letter are not significantly different; empty with a baseline, or where
    it would take more than the alphabet."""
    topics: tuple[str, ...]
    """Those that the tests use."""
    scores: np.ndarray
    """[run, topic]: what was compared; of systems the means over their instances."""
    design: TopicDesign
    """How topics are clustered and weighted."""
    fragility: np.ndarray
    """Of each pair, the fewest topics, or clusters, without which the lead is gone; -1 without a
    lead (`carrying_topics` names them)."""
    n_comparisons: int
    """How many were corrected together, those of other segments among them."""
    segment: str | None = None
    """The segment that the topics are from; None where they are all."""
    n_segments: int = 1
    """Over how many segments comparisons were corrected together."""
    segments: Segments | None = None
    """The comparisons in each segment of the topics, where a column of these was named."""
    n_instances: tuple[int, ...] = ()
    """Of systems: how many runs each has. Then `runs` are systems, and tests are `mixed`."""
    instance_sd: np.ndarray = field(default_factory=lambda: np.empty(0))
    """Of systems: standard deviation of the means of the instances; NaN of a single run."""
    lower_is_better: bool = False
    """Whether the run with the lower mean is the better one. Means, differences and intervals have
    the sign of the scores; ranks, wins and decisions say which run is better."""
    judges: tuple[str, ...] = ()
    """Those who graded, where it is known. Then `runs` are systems."""
    judges_fixed: bool = False
    """Whether tests are about these judges alone; else judges are random, and tests `mixed`."""
    judges_ratio: float = math.nan
    """How many times the error over topics alone the error is with judges random."""
    judges_narrow: float = math.nan
    """Errors with twice as many judges, as a share of those here."""
    judges_lacking: dict[str, list[str]] = field(default_factory=dict)
    """By system, the judges who have not graded it: its pairs are by the others."""
    judge_alone: str = ""
    """The judge of the first pair that shares one judge, where there is such a pair."""
    n_judges: np.ndarray = field(default_factory=lambda: np.empty(0, int))
    """Of each pair, the judges that both systems share, where there are several."""
    standard_error: np.ndarray | None = None
    """Of each difference, topics and judges random, where there are several judges."""
    standard_error_fixed: np.ndarray | None = None
    """The same with judges fixed: over topics alone."""
    n_clusters: int | None = None
    """Of the topics; None where these are not clustered. Tests draw whole clusters then."""
    design_effect: float = math.nan
    """How many times the variance of a difference is that of independent topics, over all pairs."""
    effective_topics: float | None = None
    """(sum of weights)² / sum of squared weights; None where topics are not weighted. Means and
    differences are weighted then."""
    audit: FamilyAudit | None = None
    """How often decisions like these claim something between equal runs, where a report asked."""
    binary: BinaryPairs | None = None
    """McNemar's test and intervals of shares, where all scores are 0 or 1; nothing else here
    depends on it."""

    @property
    def significant_share(self) -> float:
        """Share of the pairs that differ significantly."""
        return float(np.mean(self.significant)) if len(self.significant) else float("nan")

    @property
    def gain(self) -> np.ndarray:
        """By how much the first run of each pair is better; negative where it is worse."""
        return -self.difference if self.lower_is_better else self.difference

    @property
    def best_words(self) -> str:
        """What the best run has: "highest mean" or "lowest mean"."""
        return "lowest mean" if self.lower_is_better else "highest mean"

    @property
    def lower_words(self) -> str:
        """That lower is better, behind the measure's name; empty where higher is."""
        return " (lower is better)" if self.lower_is_better else ""

    @property
    def n_better(self) -> np.ndarray:
        """How many other runs each run is significantly better than, of all pairs together."""
        signs = np.where(self.significant, np.sign(self.gain), 0.0)
        winners = np.where(signs > 0, *self.pairs.T)[signs != 0.0]
        return np.bincount(winners, minlength=len(self.runs))

    @property
    def n_different(self) -> np.ndarray:
        """How many other runs each run differs from significantly."""
        return np.bincount(self.pairs[self.significant].ravel(), minlength=len(self.runs))

    @property
    def rank_set(self) -> np.ndarray:
        """[run, 2]: the ranks that its own comparisons leave to each run; 0 with a baseline."""
        return np.zeros((len(self.runs), 2), int) if self.own is None else self.own.rank_set

    @property
    def could_be_first(self) -> np.ndarray:
        """Which runs' rank sets begin at 1; none with a baseline."""
        return np.asarray(self.rank_set[:, 0] == 1)

    @property
    def tier(self) -> np.ndarray:
        """1 for the best run and those down to the last that it does not beat, and so on."""
        return np.zeros(len(self.runs), int) if self.own is None else self.own.tier

    @property
    def is_familywise(self) -> bool:
        """Whether all decisions are right at once with confidence 1 - alpha."""
        corrected = self.correction in ("holm", "bonferroni", "maxt")
        return corrected or self.test in SIMULTANEOUS or self.n_comparisons == 1

    @property
    def row_word(self) -> str:
        """What a row of the table is: a run, or a system with its instances."""
        return "system" if self.n_instances or self.judges else "run"

    @property
    def family(self) -> str:
        """In words, which p-values were corrected together."""
        return self.family_words()

    def family_words(self, per: str = "") -> str:
        """The family, where there is one `per` something else."""
        enough = " with enough topics" if (self.flag == TOO_FEW).any() else ""
        rows = f"all {self.row_word}s{enough} against {self.baseline}"
        kind = f"all pairs{enough}" if self.baseline is None else rows
        over = f" in {self.n_segments} segments" if self.n_segments > 1 else ""
        return f"{counted(self.n_comparisons, 'comparison', form=',')}{per}, {kind}{over}"

    @property
    def is_corrected(self) -> bool:
        """Whether p-values were adjusted for other comparisons."""
        return self.correction != "none" and self.n_comparisons > 1

    @property
    def is_corrected_t(self) -> bool:
        """Whether pairs have the t that is corrected for skewness, with a variance floor."""
        return self.test == "t" and self.correction == "maxt" and self.mode == "sound"

    @property
    def method_fields(self) -> dict[str, str]:
        """What was done, as in JSON; two methods never share it."""
        return {
            "test": self.test,
            "statistic": self.test_words(),
            "correction": self.correction,
            "family": self.family,
            "mode": self.mode,
        }

    def test_words(self) -> str:
        """The test, as captions name it, and its alternative."""
        if self.test == "mixed" and self.judges:
            return METHOD_FIXED if self.judges_fixed else METHOD
        if self.test in (*SIMULTANEOUS, "mixed"):
            return TESTS[self.test] + self._samples()
        sides = "one-sided" if "greater" in self.method else "two-sided"
        name, of_units = TESTS[self.test], ""
        if self.n_clusters is not None or self.effective_topics is not None:
            drawn = "weighted topics" if self.n_clusters is None else "clusters"
            name, of_units = DRAWN_TESTS[self.test].format(drawn), f" over {drawn}"
        if self.is_corrected_t:
            floor = " and a variance floor" if len(self.runs) > 2 else ""
            return f"paired t test{of_units} with skewness-corrected limits{floor}"
        return f"{name}, {sides}{self._samples()}"

    def tested_words(self) -> str:
        """The test and its correction, in short."""
        name = "corrected t" if self.is_corrected_t else TESTS[self.test]
        if not self.is_corrected:
            return name
        corrected = "max-t" if self.correction == "maxt" else CORRECTIONS[self.correction]
        return f"{name}, {corrected} over {counted(self.n_comparisons, 'comparison', form=',')}"

    def topics_words(self, dropped: str = "") -> str:
        """How many topics, in how many clusters, and what their weights leave of them."""
        clusters = "" if self.n_clusters is None else f" in {counted(self.n_clusters, 'cluster')}"
        weights = weighted_words(self.effective_topics)
        return f"{counted(self.n_topics, 'topic')}{dropped}{clusters}{weights}"

    def correction_words(self, per: str = "") -> str:
        """The correction over its family, and what it draws."""
        if self.test in SIMULTANEOUS:
            kind = "all pairs" if self.baseline is None else f"all {self.row_word}s"
            return f"simultaneous for {kind}{per}"
        if self.n_comparisons <= 1:
            return f"{self.family_words(per)}, uncorrected"
        drawn = self._drawn() if self.correction == "maxt" else ""
        return f"{CORRECTIONS[self.correction]} over {self.family_words(per)}{drawn}"

    def _samples(self) -> str:
        return "" if self.correction == "maxt" else self._drawn()

    def _drawn(self) -> str:
        """How many samples the test or the correction draws, and from which seed."""
        if self.n_samples and "all sign patterns" in self.method:
            return f", all {self.n_samples:,} sign patterns"
        return f", {self.n_samples:,} samples, seed {self.seed}" if self.n_samples else ""

    def instances_words(self) -> str:
        """How many runs the systems have; empty where rows are runs.

        Numbers of instances that differ stand beside the names.
        """
        if not self.n_instances:
            return ""
        sizes = sorted(set(self.n_instances))
        if len(sizes) == 1:
            return counted(sizes[0], "instance") + " per system"
        return f"{sizes[0]} to {sizes[-1]} instances per system"

    @property
    def by_judges(self) -> str:
        """Whose view it is, where so few graded that it is nobody else's: " by gpt alone"."""
        few = 0 < len(self.judges) < FEWEST_JUDGES
        return f" by {listed(self.judges)} alone" if few else ""

    def judges_words(self) -> str:
        """How many judges graded, and whether these are a sample."""
        if len(self.judges) == 1:
            return f"judge {self.judges[0]} alone"
        # A sample of judges is in the name of the model.
        how = ", fixed" if self.judges_fixed else ""
        return f"{counted(len(self.judges), 'judge')}{how}"

    def row_name(self, row: int) -> str:
        """A name in a table; that it is the baseline, and of how many runs, where that varies."""
        said = ["baseline"] if self.runs[row] == self.baseline else []
        if len(set(self.n_instances)) > 1:
            said.append(counted(self.n_instances[row], "run"))
        return f"{self.runs[row]} ({', '.join(said)})" if said else self.runs[row]

    def few_words(self) -> str:
        """What a dash stands for in place of a difference; empty where there is none."""
        return f"{MISSING}: too few topics." if (self.flag == TOO_FEW).any() else ""

    def gaps(self) -> str:
        """What missing scores mean for ranks and tests; empty where none is missing."""
        if not self.n_missing:
            return ""
        total = (sum(self.n_instances) or len(self.runs)) * self.n_topics * max(1, len(self.judges))
        if len(self.judges) > 1:
            return (
                f"{self.n_missing:,} of {total:,} grades are missing: what a judge's level adds to "
                "a system is estimated over all topics and removed."
            )
        meant = f"{self.row_word}s are ranked by least-squares means, pairs tested on shared topics"
        if self.test == "welch":
            meant = "each run has topics of its own"
        return f"{self.n_missing:,} of {total:,} scores are missing: {meant}."

    def rank_words(self) -> str:
        """What the rank sets mean, given how own comparisons were corrected."""
        if self.is_familywise:
            return f"{1 - self.alpha:.0%} confidence for each {self.row_word}"
        if self.correction == "bh":
            return "by decisions of which at most a share of alpha is expected to be wrong"
        return "by uncorrected decisions, hence too narrow"

    def caption(self) -> str:
        """What a table of this result must say: test, correction, alpha, n, seed, version."""
        dropped = f" ({self.n_dropped} dropped)" if self.n_dropped else ""
        more = f"; {self.instances_words()}" if self.n_instances else ""
        more += f"; {self.judges_words()}" if self.judges else ""
        if not math.isnan(self.design_effect):
            more += f"; design effect {self.design_effect:.2f}"
        how = f"{self.test_words()}, {self.correction_words()}"
        if self.is_corrected_t and self.n_comparisons > 1:
            # The paragraph for a paper has it in full; a caption has two lines.
            how = f"corrected t, max-t over {self.family}{self._drawn()}"
        n = f"{self.topics_words(dropped)}{more}; steadyrank {__version__}"
        return f"{self.measure}: {how}; alpha {self.alpha:g}; {n}."

    def to_frame(self) -> pd.DataFrame:
        """The pairs as a frame, those in segments below the others, which have none."""
        return frame_of(self.frame_rows())

    def frame_rows(self) -> Iterator[dict[str, Any]]:
        """One dictionary per pair and, where there are segments, per pair in each of them."""
        if self.segments is None:
            return self.each_row()
        parts = [("", self), *((own.segment, own) for own in self.segments.results)]
        return ({"segment": name, **row} for name, own in parts for row in own.each_row())

    def carrying_topics(self, pair: int) -> list[str]:
        """The topics without which a pair's lead is gone, those that count most first."""
        a, b = self.pairs[pair]
        design = self.design
        units = carried(self.scores[a] - self.scores[b], design.weights, design.clusters).units
        if design.clusters is None:
            return [self.topics[unit] for unit in units]
        topics = np.array(self.topics, object)
        return [str(topic) for unit in units for topic in topics[design.clusters == unit]]

    def leader_fragility(self) -> LeaderFragility | None:
        """The fewest topics without which another run is above the leader; None without a lead."""
        leader = self.order[0]
        with_leader = (self.pairs == leader).any(axis=1) & (self.fragility > 0)
        if self.baseline is not None or not with_leader.any():
            return None
        pair = int(np.flatnonzero(with_leader)[np.argmin(self.fragility[with_leader])])
        a, b = self.pairs[pair].tolist()
        rival = self.runs[b if a == leader else a]
        return LeaderFragility(int(self.fragility[pair]), rival, self.carrying_topics(pair))

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per pair, with the keys that the JSON output has."""
        return list(self.each_row())

    def each_row(
        self, places: Sequence[int] | np.ndarray | None = None
    ) -> Iterator[dict[str, Any]]:
        """As `rows`, one at a time: millions of them take more memory than the result itself.

        `places`: of these pairs only.
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
        """What the row of a pair has, beside its runs: one entry per pair."""
        carriers = self.fragility.astype(object)
        carriers[self.fragility <= 0] = None
        return {
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
            "effect_reading": self.effects.reading,
            "hedges_g": self.effects.hedges_g,
            "cliffs_delta": self.effects.cliffs_delta,
            "wins": self.effects.wins,
            "ties": self.effects.ties,
            "losses": self.effects.losses,
            "smallest_difference": self.smallest_difference,
            "flag": self.flag,
            "fragility": carriers,
            **self._errors(),
            **({} if self.binary is None else self.binary.pair_columns()),
        }

    def _errors(self) -> dict[str, np.ndarray]:
        """Standard errors, where several judges make two of them."""
        if self.standard_error is None or self.standard_error_fixed is None:
            return {}
        return {
            "standard_error": self.standard_error,
            "standard_error_fixed": self.standard_error_fixed,
            "n_judges": self.n_judges,
        }

    def run_rows(self) -> list[dict[str, Any]]:
        """One dictionary per run, with the keys that the JSON output has."""
        found = self.leader_fragility()
        fragile = None if found is None else found._asdict()
        return [
            {
                "run": run,
                "mean": float(self.mean[i]),
                "interval": [float(bound) for bound in self.mean_interval[i]],
                "expected_mean": float(self.expected_mean[i]),
                "rank": int(self.rank[i]),
                **self._places(i),
                "group": self.letters[i] if self.letters else None,
                "fragility": fragile if i == self.order[0] else None,
                **self._instances(i),
                **({} if self.binary is None else self.binary.run_row(i)),
            }
            for i, run in enumerate(self.runs)
        ]

    def _repr_html_(self) -> str:
        """What `print` shows; the table of a paper is `to_html`."""
        return self._text("html", most_rows=MOST_ROWS, paper=False)

    def _places(self, row: int) -> dict[str, Any]:
        """Where a run may stand; None with a baseline."""
        keys = ("rank_set", "rank_set_simultaneous", "could_be_first", "tier")
        if self.own is None:
            return dict.fromkeys(keys)
        ranks = (self.rank_set[row], self.rank_set_simultaneous[row])
        sets = [[int(end) for end in ends] for ends in ranks]
        could = bool(self.could_be_first[row])
        return dict(zip(keys, (*sets, could, int(self.tier[row]) or None), strict=True))

    def _instances(self, row: int) -> dict[str, Any]:
        """Of a system: how many runs it has, and how far their means lie apart."""
        if not self.n_instances:
            return {}
        return {"instances": self.n_instances[row], "sd": float(self.instance_sd[row])}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.compare.view:compare_text")
class CompareTable(Framed):
    """What `compare` found on several measures, with the same test of the same runs.

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
    """One per measure; the comparisons of each were corrected together."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Their names, in the order of the columns."""
        return tuple(result.measure for result in self.results)

    def __getitem__(self, measure: str) -> CompareResult:
        """The result of one measure."""
        for result in self.results:
            if result.measure == measure:
                return result
        raise unknown_name("measure", str(measure), self.measures)

    def caption(self) -> str:
        """Test, correction, family, alpha, number of topics, version."""
        first = self.results[0]
        return (
            f"{listed(self.measures)} of {counted(len(first.runs), first.row_word)}: "
            f"{first.test_words()}, {first.correction_words(' per measure')}; "
            f"alpha {first.alpha:g}; {first.topics_words()}; steadyrank {__version__}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per measure and pair."""
        return list(self.frame_rows())

    def frame_rows(self) -> Iterator[dict[str, Any]]:
        """As `rows`, one at a time."""
        return (
            {"measure": result.measure, **row}
            for result in self.results
            for row in result.frame_rows()
        )


def better_first(
    result: CompareResult,
    leaderboard: CompareResult | None = None,
    places: Sequence[int] | np.ndarray | None = None,
) -> list[dict[str, Any]]:
    """The rows of the pairs in the order of the leaderboard, each with the higher mean as a.

    The leaderboard is the result's own or, for a segment, that of all topics. Against a baseline
    every row stays the way round that it is. `places`: of these pairs only.
    """
    whole = leaderboard or result
    place = {whole.runs[run]: i for i, run in enumerate(whole.order)}
    rows = [
        _turned(row) if whole.baseline is None and place[row["a"]] > place[row["b"]] else row
        for row in result.each_row(places)
    ]
    return sorted(rows, key=lambda row: (place[row["a"]], place[row["b"]]))


def _turned(row: dict[str, Any]) -> dict[str, Any]:
    """The row of the same pair the other way round: difference = a - b in both."""
    swapped = {"a": "b", "mean_a": "mean_b", "wins": "losses", "only_a": "only_b"}
    swapped |= {"lower_cut": "upper_cut"}
    swapped |= {b: a for a, b in swapped.items()}
    turned = {swapped.get(key, key): value for key, value in row.items()}
    for key in ("difference", "effect_size"):
        turned[key] = -row[key]
    for key in row.keys() & {"interval", "score_interval"}:
        low, high = row[key]
        turned[key] = [-high, -low]
    return turned
