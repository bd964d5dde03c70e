"""The results of `simulate`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from steadyrank._version import __version__
from steadyrank.errors import bad_value
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import rows_of
from steadyrank.stats.pairs.difference_bins import difference_variances
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.run_means import other_first
from steadyrank.studies.simulate.measures import Denominator
from steadyrank.studies.simulate.profiles import Bandwidth, Depth, KernelName, Model, ScoreSource
from steadyrank.studies.simulate.statistics import (
    CollectionCorrelation,
    ErrorRate,
    Prediction,
    SignificanceRates,
    mean_of,
)
from steadyrank.words import counted

NO_SPREAD = 1e-14
"""A smaller variance of differences is a rounding error."""

TOPS = (1, 3)

Documents = Literal["shared", "independent"]
Mode = Literal["sound", "paper"]


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("studies.simulate.view:PART_VIEW.text")
class SimulatePart(Framed):
    """Blocks of simulated collections that one part of a study added to its store.

    Examples
    --------
    >>> import tempfile
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> options = {"no_relevant": "skip", "n_samples": 1000, "store": tempfile.mkdtemp()}
    >>> [sr.simulate(track.runs, track.qrels, part=(i, 2), **options).n_left for i in (1, 2)]
    [1, 0]
    """

    part: int
    n_parts: int
    n_blocks: int
    """Number of blocks of the whole study."""
    n_computed: int
    """Number of blocks that this call computed."""
    n_kept: int
    """Number of blocks of this part that were in the store."""
    n_left: int
    """Number of blocks of all parts that the store lacks."""

    def rows(self) -> list[dict[str, Any]]:
        """Return one row."""
        return [asdict(self)]

    def caption(self) -> str:
        """Return the number of the part."""
        return f"part {self.part:,} of {self.n_parts:,}, blocks of simulated collections"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.simulate.view:VIEW.text")
class SimulateResult(Framed):
    """The result of `simulate`; a sample is one simulated collection, with all runs and topics.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> result = sr.simulate(track.runs, track.qrels, no_relevant="skip", n_samples=500)
    >>> result.measure, result.simulated.shape, result.top_probability(3).tolist()
    ('AP', (500, 3), [1.0, 1.0, 1.0])
    """

    measure: str
    """Simulated measure, such as "binary nDCG@10 (grade ≥ 1)", which is not nDCG@10."""
    documents: Documents = "independent"
    """Whether all runs rank the same new documents, or documents are drawn for each run."""
    mode: Mode = "sound"
    model: Model
    n_samples: int
    depth: Depth
    bandwidth: Bandwidth | float
    kernel: KernelName = "gaussian"
    denominator: Denominator | None
    """Denominator of independent runs; shared documents have a recall base in each collection."""
    score_source: ScoreSource
    seed: int
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    raw: np.ndarray
    """[run, topic]: observed scores."""
    cell_mean: np.ndarray
    """[run, topic]: mean over samples."""
    cell_sd: np.ndarray
    """[run, topic]: standard deviation over samples."""
    simulated: np.ndarray
    """[sample, run]: mean over topics."""
    rank_correlation: CollectionCorrelation
    error_rate: ErrorRate
    significance: SignificanceRates
    raw_pvalue: np.ndarray
    """[pair]: p-value of the paired t test of the observed scores."""
    rank_share: np.ndarray
    """[run, rank]: probability of a rank in a second collection, or its share of the samples if
    there is no prediction."""
    rank_interval: np.ndarray
    """[run, 2]: interval that holds the middle 95% of these ranks."""
    prediction: Prediction | None = None
    """Prediction of a second collection; None for independent runs and `mode="paper"`."""
    none_relevant: int
    """Number of cells that retrieved no relevant document: they score 0 in every sample."""
    without_relevant: int = 0
    """Number of topics, over all samples, without a relevant document: they score 0."""
    plain: int
    """Number of cells with a class too small or too constant to smooth: it is bootstrapped."""
    truncated: int
    """Number of draws of a cell with more relevant documents than its ranking is deep."""

    @property
    def tops(self) -> list[int]:
        """The K of the probabilities that are shown."""
        return [k for k in TOPS if k == 1 or k < len(self.runs)]

    @property
    def raw_mean(self) -> np.ndarray:
        """[run]: observed mean over topics."""
        return np.asarray(self.raw.mean(axis=1))

    @property
    def simulated_mean(self) -> np.ndarray:
        """[run]: mean over topics and samples."""
        return np.asarray(self.simulated.mean(axis=0))

    @property
    def simulated_sd(self) -> np.ndarray:
        """[run]: standard deviation of the mean over samples."""
        if self.n_samples < 2:
            return np.full(len(self.runs), np.nan)
        return np.asarray(self.simulated.std(axis=0, ddof=1))

    @property
    def tau(self) -> CollectionCorrelation:
        """Correlation of the observed ranking with a second one, or with the samples."""
        return self.rank_correlation if self.prediction is None else self.prediction.tau

    @property
    def above(self) -> np.ndarray:
        """[run, run]: probability that the first is above the second in a second collection.

        Ties count half; NaN if the observed means are equal or there is no prediction.
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
        """[pair]: share of the variance of differences over topics that is due to the documents.

        It is N times the variance of the mean difference over collections, divided by the variance
        of the observed differences over the N topics, since documents are resampled by topic. It
        may exceed 1 by chance, and is NaN if the differences do not vary.
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
        """First run by simulated means if no run is first by these and by observed means."""
        run = other_first(self.raw_mean, self.simulated_mean)
        return None if run is None else self.runs[run]

    @property
    def raw_significant_share(self) -> float:
        """Share of the pairs that differ significantly by the t test of the observed scores."""
        return mean_of(np.nan_to_num(self.raw_pvalue, nan=1.0) < self.significance.alpha)

    @property
    def decision_agreement(self) -> float:
        """Share of pairs and samples whose t test decides as that of the observed scores."""
        significant = np.nan_to_num(self.raw_pvalue, nan=1.0) < self.significance.alpha
        rate = self.significance.rate
        return mean_of(np.where(significant, rate, 1 - rate))

    def top_probability(self, k: int) -> np.ndarray:
        """[run]: probability of being among the top k, by `rank_share`."""
        if not 1 <= k <= len(self.runs):
            raise bad_value("k", f"lie between 1 and {len(self.runs)}, the number of runs", k)
        return np.asarray(self.rank_share[:, :k].sum(axis=1))

    def model_name(self, of_width: str = "") -> str:
        """Return how scores of independent runs are drawn; `of_width` precedes the bandwidth."""
        kernel = "" if self.kernel == "gaussian" else f"{self.kernel} kernel, "
        smooth = f"KDE, {kernel}{of_width}{self.bandwidth}"
        return smooth if self.model == "kde" else self.model

    def caption(self) -> str:
        """Return the method and the sizes, for captions."""
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
        """Return one row per run, best observed mean first."""
        order = np.argsort(-self.raw_mean, kind="stable")
        return rows_of(
            {
                "run": [self.runs[run] for run in order],
                "raw_mean": self.raw_mean[order],
                "simulated_mean": self.simulated_mean[order],
                "simulated_sd": self.simulated_sd[order],
                "rank": range(1, len(order) + 1),
                "rank_low": self.rank_interval[order, 0],
                "rank_high": self.rank_interval[order, 1],
                **{f"top_{k}": self.top_probability(k)[order] for k in self.tops},
            }
        )
