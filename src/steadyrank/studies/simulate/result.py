"""What `simulate` found, as a result that says which measure it is about."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from steadyrank._version import __version__
from steadyrank.errors import bad_value
from steadyrank.notebook import Framed, shown_by
from steadyrank.stats.pairs.difference_bins import difference_variances
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.ranks.correlation import kendall_tau
from steadyrank.stats.run_means import other_first
from steadyrank.studies.simulate.measures import Denominator
from steadyrank.studies.simulate.prediction import Prediction
from steadyrank.studies.simulate.profiles import Bandwidth, Depth, KernelName, Model, ScoreSource
from steadyrank.studies.simulate.statistics import (
    CollectionCorrelation,
    ErrorRate,
    SignificanceRates,
)
from steadyrank.words import counted

NO_SPREAD = 1e-14
"""A variance of differences that is rounding."""

Device = Literal["cpu"]
Documents = Literal["shared", "independent"]
Mode = Literal["sound", "paper"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedOrder:
    """The order of the runs by a graded measure, held against that by its binary version."""

    measure: str
    """The graded one."""
    tau: float
    """Kendall's tau-b between the two orders."""
    n_pairs: int
    n_reversed: int
    """Pairs of runs that the two measures order the opposite way."""
    leader: str
    """First by the graded measure."""
    binary_leader: str

    @property
    def is_same_leader(self) -> bool:
        """Whether one run is first by both measures."""
        return self.leader == self.binary_leader


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("studies.simulate.view:PART_VIEW.text")
class SimulatePart(Framed):
    """What one part of a study has put into its store: blocks of simulated collections.

    Examples
    --------
    >>> import tempfile
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> folder = tempfile.mkdtemp()
    >>> options = {"no_relevant": "skip", "n_samples": 1000, "store": folder}
    >>> sr.simulate(track.runs, track.qrels, part=(1, 2), **options).n_left
    1
    >>> sr.simulate(track.runs, track.qrels, part=(2, 2), **options).n_left
    0
    >>> result = sr.simulate(track.runs, track.qrels, **options)  # adds up, computes nothing
    """

    part: int
    n_parts: int
    n_blocks: int
    """Of the whole study."""
    n_computed: int
    """By this part, now."""
    n_kept: int
    """Blocks of this part that the store had."""
    n_left: int
    """Blocks that the store lacks still, of all parts."""

    def rows(self) -> list[dict[str, Any]]:
        """One row."""
        return [asdict(self)]

    def caption(self) -> str:
        """Which part it is."""
        return f"part {self.part:,} of {self.n_parts:,}, blocks of simulated collections"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.simulate.view:VIEW.text")
class SimulateResult(Framed):
    """What `simulate` found; a sample is one simulated collection, with every run and topic.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> result = sr.simulate(track.runs, track.qrels, no_relevant="skip", n_samples=500)
    >>> result.measure, result.simulated.shape, result.top_probability(3).tolist()
    ('AP', (500, 3), [1.0, 1.0, 1.0])
    """

    measure: str
    """What was simulated: "binary nDCG@10 (grade ≥ 1)" is not nDCG@10."""
    graded_measure: str | None = None
    """The measure that was asked for, where its binary version was simulated instead."""
    graded_mean: np.ndarray | None = None
    """[run]: mean of the graded measure over the same topics of the rankings as they are."""
    documents: Documents = "independent"
    """Whether all runs rank the same new documents, or each its own."""
    mode: Mode = "sound"
    model: Model
    n_samples: int
    depth: Depth
    bandwidth: Bandwidth | float
    kernel: KernelName = "gaussian"
    denominator: Denominator | None
    """Of independent runs; shared documents carry their own recall base."""
    score_source: ScoreSource
    device: Device
    seed: int
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    raw: np.ndarray
    """[run, topic]: the simulated measure of the rankings as they are."""
    cell_mean: np.ndarray
    """[run, topic]: mean over the samples."""
    cell_sd: np.ndarray
    """[run, topic]: standard deviation over the samples, the per-topic variance's root."""
    simulated: np.ndarray
    """[sample, run]: mean over the topics."""
    rank_correlation: CollectionCorrelation
    error_rate: ErrorRate
    significance: SignificanceRates
    raw_pvalue: np.ndarray
    """[pair]: the paired t-test on the rankings as they are."""
    rank_share: np.ndarray
    """[run, rank]: probability of a rank in a second collection; without a prediction, the share of
    the samples."""
    rank_interval: np.ndarray
    """[run, 2]: the middle 95 % of these ranks."""
    prediction: Prediction | None = None
    """What a second collection would show; None of independent runs and of `mode="paper"`."""
    none_relevant: int
    """Cells without a relevant document retrieved: they score 0 in every sample."""
    without_relevant: int = 0
    """Topics, over all samples, whose shared documents held no relevant one: they score 0."""
    plain: int
    """Cells with a class of documents too small or constant to smooth: it is bootstrapped."""
    truncated: int
    """Draws of a cell with more relevant documents than its ranking is deep."""
    top: int | None = None
    """The K of "probability of top K" that is shown; three unless given."""

    @property
    def raw_mean(self) -> np.ndarray:
        """[run]: mean over the topics of the rankings as they are."""
        return np.asarray(self.raw.mean(axis=1))

    @property
    def simulated_mean(self) -> np.ndarray:
        """[run]: mean over topics and samples."""
        return np.asarray(self.simulated.mean(axis=0))

    @property
    def simulated_sd(self) -> np.ndarray:
        """[run]: standard deviation of the mean over topics, over the samples."""
        if self.n_samples < 2:
            return np.full(len(self.runs), np.nan)
        return np.asarray(self.simulated.std(axis=0, ddof=1))

    @property
    def tau(self) -> CollectionCorrelation:
        """Of the observed ranking with that of a second collection, or of the samples."""
        return self.rank_correlation if self.prediction is None else self.prediction.tau

    @property
    def above(self) -> np.ndarray:
        """[run, run]: probability that one is above the other in a second collection.

        Ties count half; NaN where the observed means are equal, and without a prediction.
        """
        shares = np.full((len(self.runs), len(self.runs)), np.nan)
        if self.prediction is not None:
            first, second = all_pairs(len(self.runs)).T
            kept, swap = 1.0 - self.prediction.swap, self.prediction.swap
            is_ahead = self.raw_mean[first] > self.raw_mean[second]
            shares[first, second] = np.where(is_ahead, kept, swap)
            shares[second, first] = np.where(is_ahead, swap, kept)
        return shares

    @property
    def document_share(self) -> np.ndarray:
        """[pair]: which share of a difference's variance over topics is due to the documents.

        Topics have documents of their own, so that the mean difference over N topics has 1 / N of
        their mean noise as its variance over collections: N times that, over the variance of the
        observed differences by topic. It may exceed 1 by chance; NaN where these do not vary.
        """
        if len(self.runs) < 2 or self.n_samples < 2 or len(self.topics) < 2:
            return np.full(len(self.raw_pvalue), np.nan)
        pairs = all_pairs(len(self.runs))
        noise, observed = np.empty((2, len(pairs)))
        difference_variances(np.ascontiguousarray(self.simulated.T), pairs, noise)
        difference_variances(np.ascontiguousarray(self.raw), pairs, observed)
        noise *= len(self.topics)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(observed > NO_SPREAD, noise / observed, np.nan)

    @property
    def other_first(self) -> str | None:
        """Who is first by simulated means, where no run is first by these and as observed."""
        run = other_first(self.raw_mean, self.simulated_mean)
        return None if run is None else self.runs[run]

    @property
    def graded_order(self) -> GradedOrder | None:
        """How the graded measure orders the runs as they are; None if none was replaced."""
        if self.graded_measure is None or self.graded_mean is None:
            return None
        # Equal means of other summands differ in their last digits: no order.
        binary_mean, graded_mean = self.raw_mean.round(12), self.graded_mean.round(12)
        tau = kendall_tau(binary_mean, graded_mean)
        binary, graded = _leaders(binary_mean), _leaders(graded_mean)
        same = sorted(binary & graded)
        return GradedOrder(
            measure=self.graded_measure,
            tau=tau.value,
            n_pairs=len(self.raw_pvalue),
            n_reversed=0 if tau.counts is None else tau.counts.discordant,
            leader=self.runs[same[0] if same else min(graded)],
            binary_leader=self.runs[same[0] if same else min(binary)],
        )

    @property
    def raw_significant_share(self) -> float:
        """Share of the pairs that differ by the t test on the rankings as they are."""
        alpha = self.significance.alpha
        significant = np.nan_to_num(self.raw_pvalue, nan=1.0) < alpha
        return float(significant.mean()) if len(significant) else float("nan")

    @property
    def decision_agreement(self) -> float:
        """How often, over pairs and samples, the t-test decides as on the rankings as they are."""
        significant = np.nan_to_num(self.raw_pvalue, nan=1.0) < self.significance.alpha
        rate = self.significance.rate
        agree = np.where(significant, rate, 1 - rate)
        return float(agree.mean()) if len(agree) else float("nan")

    def top_probability(self, k: int) -> np.ndarray:
        """[run]: probability to be among the top k, by `rank_share`."""
        if not 1 <= k <= len(self.runs):
            raise bad_value("k", f"lie between 1 and {len(self.runs)}, the number of runs", k)
        return np.asarray(self.rank_share[:, :k].sum(axis=1))

    def model_name(self, of_width: str = "") -> str:
        """How scores of independent runs are drawn; `of_width` stands before the bandwidth."""
        kernel = "" if self.kernel == "gaussian" else f"{self.kernel} kernel, "
        smooth = f"KDE, {kernel}{of_width}{self.bandwidth}"
        return smooth if self.model == "kde" else self.model

    def caption(self) -> str:
        """What a table of this result must say."""
        drawn = (
            "documents shared by all runs"
            if self.documents == "shared"
            else f"independent runs, {self.model_name('bandwidth ')}"
        )
        base = "" if self.denominator is None else f", denominator {self.denominator}"
        return (
            f"{self.measure}, {self.n_samples:,} simulated collections ({drawn}), depth "
            f"{self.depth}{base}, seed {self.seed}; "
            f"{counted(len(self.topics), 'topic')}; steadyrank {__version__}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary a run, best raw mean first."""
        order = np.argsort(-self.raw_mean, kind="stable")
        raw, mean, sd = self.raw_mean, self.simulated_mean, self.simulated_sd
        first, three = self.top_probability(1), self.top_probability(min(3, len(self.runs)))
        return [
            {
                "run": self.runs[r],
                "raw_mean": float(raw[r]),
                "simulated_mean": float(mean[r]),
                "simulated_sd": float(sd[r]),
                "rank": place + 1,
                "rank_low": int(self.rank_interval[r, 0]),
                "rank_high": int(self.rank_interval[r, 1]),
                "top_1": float(first[r]),
                "top_3": float(three[r]),
            }
            for place, r in enumerate(order.tolist())
        ]


def grades_words(result: SimulateResult) -> list[str]:
    """That a binary version was simulated, and how the measure itself orders the runs.

    Nothing where the measure was simulated as it is.
    """
    order = result.graded_order
    if order is None:
        return []
    said = f"{result.measure} was simulated, not {order.measure}"
    if not order.n_pairs:
        return [said]
    if not order.n_reversed:
        return [f"{said}, which ranks the runs in the same order"]
    pairs = f"{order.n_reversed} of {counted(order.n_pairs, 'pair')}"
    said = f"{said}, which orders {pairs} of runs differently"
    if order.is_same_leader:
        return [said]
    return [said, f"{order.binary_leader} is first here, {order.leader} by {order.measure}"]


def _leaders(mean: np.ndarray) -> set[int]:
    return set(np.flatnonzero(mean == mean.max()).tolist())
