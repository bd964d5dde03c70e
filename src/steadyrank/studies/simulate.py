"""`simulate`: would another document collection change the table?

For whoever ranks runs by a mean score: documents are a sample too. Each run's scores of
relevant and of other documents are resampled per topic, collection by collection, and the
rankings and tests are compared with the real ones (Yang, Zhang & Song, SIGIR 2018,
doi:10.1145/3209978.3210122). Runs are simulated independently of each other, as there.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from steadyrank._version import __version__
from steadyrank._wording import by_number, counted
from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, block_stream, seed_from
from steadyrank.compute.stores import open_store
from steadyrank.data.foreign import runs_and_files
from steadyrank.data.order import judgments_of
from steadyrank.data.qrels import Qrels
from steadyrank.data.reading import (
    MEMORY,
    RunOptions,
    check_names,
    warn_oddities,
)
from steadyrank.errors import InputError, SteadyrankWarning, unknown_name
from steadyrank.measures.names import Measure, parse_measure
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.paired import paired_t
from steadyrank.stats.result import all_pairs
from steadyrank.studies.cells import Gain
from steadyrank.studies.collection_statistics import (
    CollectionCorrelation,
    ErrorRate,
    SignificanceRates,
    rank_intervals_of,
)
from steadyrank.studies.sample_blocks import Study
from steadyrank.studies.score_profiles import (
    Bandwidth,
    Model,
    ScoreProfiles,
    ScoreSource,
    score_profiles,
)
from steadyrank.studies.simulated_gains import (
    Denominator,
    check_simulated_measure,
    make_gain,
    raw_values,
)
from steadyrank.studies.simulation_summary import in_given_order, summarise, summarise_on_gpu

Device = Literal["cpu", "cuda"]
Missing = Literal["zero", "error"]
NoRelevant = Literal["zero", "skip"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimulateResult:
    """What `simulate` found. A sample is one simulated collection, in which every run and topic
    has been drawn anew.
    """

    measure: str
    model: Model
    n_samples: int
    depth: Literal["retrieved"] | int
    bandwidth: Bandwidth | float
    denominator: Denominator
    score_source: ScoreSource
    device: Device
    seed: int
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    raw: np.ndarray
    """[run, topic]: the measure of the rankings as they are, with binary gains."""
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
    """[run, rank]: share of the samples in which a run has a rank."""
    rank_interval: np.ndarray
    """[run, 2]: ranks between which a run is in 95 % of the samples."""
    none_relevant: int
    """Cells without a relevant document retrieved: they score 0 in every sample."""
    plain: int
    """Cells whose scores a kernel density could not smooth in both classes."""
    truncated: int
    """Draws of a cell with more relevant documents than its ranking is deep."""

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

    def __repr__(self) -> str:
        tau = self.rank_correlation
        return (
            f"<SimulateResult: {self.measure} of {len(self.runs)} runs on {len(self.topics)} "
            f"topics in {self.n_samples} simulated collections; tau {tau.mean:.3f} "
            f"[{tau.interval[0]:.3f}, {tau.interval[1]:.3f}], error rate "
            f"{self.error_rate.overall:.3f}>"
        )

    @property
    def raw_significant_share(self) -> float:
        """Share of the pairs that the t-test tells apart on the rankings as they are."""
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
        """[run]: share of the samples in which a run is among the top k."""
        if not 1 <= k <= len(self.runs):
            raise InputError(f"k must be from 1 to {len(self.runs)}, the number of runs, got {k}")
        return np.asarray(self.rank_share[:, :k].sum(axis=1))

    def caption(self) -> str:
        """What a table of this result must say."""
        model = "bootstrap" if self.model == "bootstrap" else f"KDE, bandwidth {self.bandwidth}"
        return (
            f"{self.measure}, {self.n_samples} simulated collections ({model}), depth "
            f"{self.depth}, denominator {self.denominator}, seed {self.seed}; "
            f"{len(self.topics)} topics; steadyrank {__version__}."
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

    def to_frame(self) -> Any:
        """One row a run, as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False, float_format="{:.4g}".format))


def simulate(
    runs: Any,
    qrels: Any,
    *,
    measure: str | Measure = "AP",
    model: Model = "bootstrap",
    n_samples: int = 10_000,
    depth: Literal["retrieved"] | int = "retrieved",
    bandwidth: Bandwidth | float = "scott",
    denominator: Denominator = "judged",
    score_source: ScoreSource = "score",
    alpha: float = 0.05,
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    options: RunOptions | None = None,
    device: Device = "cpu",
    store: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    reading: Progress | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
) -> SimulateResult:
    """Simulate other document collections and compare their tables with the real one.

    In a simulated collection the number of relevant documents that a run retrieves on a topic
    is Poisson, with the real number as its mean; their scores, and those of the other
    documents, are drawn from the run's own on that topic: with replacement
    (`model="bootstrap"`), or from Gaussian kernel densities ("kde") of a `bandwidth`. The
    ranking has as many documents as were retrieved, or a fixed `depth`. Documents of equal
    score stand in random order. Measures are binary: AP, P@k, R@k, RR, nDCG, RBP, Success@k.

    `denominator` is the number of relevant documents that AP, R@k and nDCG divide by:
    max(R, sampled) ("judged"), "sampled", or sampled + Poisson(R - retrieved) ("poisson").
    `score_source="rank"` takes ranks for scores, for runs whose scores mean nothing.

    Says nothing about other topics, and treats runs as independent although they share
    documents, which overstates how much their differences vary.

    `reading` is told how many runs have been read, `progress` how many blocks of samples are
    done. `store` names a folder that keeps finished blocks of samples: the same call again takes up
    where it stopped. The same `rng` gives the same numbers for any `jobs`, `scheduler` or
    `executor`, and any order of runs and topics; `device="cuda"` has numbers of its own.

    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> result = sr.simulate(track.runs, track.qrels, no_relevant="skip", n_samples=500)
    >>> result.simulated.shape, round(result.rank_correlation.mean, 1)
    ((500, 3), 0.9)
    """
    seed = seed_from(rng)
    parsed = parse_measure(measure)
    check_simulated_measure(parsed)
    _check(n_samples, alpha, missing, no_relevant, device)
    judged = judgments_of(qrels)
    level = _level(parsed)
    topics = _topics(judged, level, no_relevant)
    profiles = score_profiles(
        runs_and_files(runs), judged, topics=topics, options=options, level=level, model=model,
        depth=depth, bandwidth=bandwidth, score_source=score_source, jobs=jobs,
        progress=reading,
    )  # fmt: skip
    _report(profiles, missing, score_source)
    gain = make_gain(parsed, denominator, profiles.cells, longest=profiles.longest)
    study = Study(
        cells=profiles.cells,
        gain=gain,
        raw=_raw(profiles, gain),
        key=block_stream(seed, "simulated collections", 0).integers(2**64, dtype=np.uint64),
        n_samples=n_samples,
    )
    settings = {
        "study": "simulate", "version": __version__, "seed": seed, "measure": str(parsed),
        "denominator": denominator, "device": device, "block": study.block,
        "data": _fingerprint(profiles),
    }  # fmt: skip
    kept = None if store is None else open_store(store, settings)
    if device == "cuda":
        found = summarise_on_gpu(study, kept, alpha=alpha, progress=progress)
    else:
        found = summarise(
            study, kept, alpha=alpha, jobs=jobs, scheduler=scheduler, executor=executor,
            progress=progress,
        )  # fmt: skip
    given = profiles.given
    found, raw = in_given_order(found, given), study.raw[given]
    return SimulateResult(
        measure=str(parsed),
        model=model,
        n_samples=n_samples,
        depth=depth,
        bandwidth=bandwidth,
        denominator=denominator,
        score_source=score_source,
        device=device,
        seed=seed,
        runs=tuple(profiles.runs[place].name for place in given),
        topics=tuple(topics),
        raw=raw,
        cell_mean=raw + found.shift / n_samples,
        cell_sd=_deviation(found.shift, found.squares, n_samples),
        simulated=found.means,
        rank_correlation=found.correlation,
        error_rate=found.errors,
        significance=found.rates,
        raw_pvalue=paired_t(raw, all_pairs(len(raw))).pvalue,
        rank_share=found.rank_share,
        rank_interval=rank_intervals_of(found.rank_share),
        none_relevant=profiles.none_relevant,
        plain=profiles.plain,
        truncated=found.truncated,
    )


def _check(n_samples: int, alpha: float, missing: str, no_relevant: str, device: str) -> None:
    if not isinstance(n_samples, (int, np.integer)) or not 1 <= n_samples < 2**31:
        raise InputError(f"n_samples must be a whole number from 1 on, got {n_samples!r}")
    check_open_unit("alpha", alpha)
    for what, value, choices in (
        ("way to treat missing topics", missing, get_args(Missing)),
        ("way to treat topics without relevant documents", no_relevant, get_args(NoRelevant)),
        ("device", device, get_args(Device)),
    ):
        if value not in choices:
            raise unknown_name(what, value, choices)


def _level(measure: Measure) -> int:
    level = measure.parameter("rel")
    return level if isinstance(level, int) else 1


def _topics(qrels: Qrels, level: int, no_relevant: NoRelevant) -> tuple[str, ...]:
    """The topics to simulate."""
    fruitful = qrels.best_grades >= level
    if not fruitful.any():
        raise InputError(f"no topic of the qrels has a relevant document (grade {level} or above)")
    barren = int((~fruitful).sum())
    if barren:
        zero = by_number(barren, "it scores", "they score") + " 0"
        done = "left out" if no_relevant == "skip" else zero
        have = by_number(barren, "has", "have")
        _warn(f"{barren} of {len(qrels.topics)} topics {have} no relevant document: {done}")
    if no_relevant == "zero":
        return qrels.topics
    return tuple(topic for topic, keep in zip(qrels.topics, fruitful, strict=True) if keep)


def _report(profiles: ScoreProfiles, missing: Missing, score_source: ScoreSource) -> None:
    """Say, in counts, what was done about files that do not quite fit together."""
    runs = profiles.runs
    check_names([run.name for run in runs], [run.source or Path(MEMORY) for run in runs])
    warn_oddities([run for run in runs if run.source is not None])
    lacking = np.flatnonzero(profiles.missing)
    if len(lacking) == len(runs) and (profiles.missing == len(profiles.topics)).all():
        raise InputError(
            "no run has any topic of the qrels: do the topic ids look alike "
            f"(qrels: {profiles.topics[0]!r})?"
        )
    if len(lacking):
        who = counted(len(lacking), "run lacks", "runs lack")
        first = runs[lacking[0]].name
        count = f"{first!r} lacks {profiles.missing[lacking[0]]} of {len(profiles.topics)}"
        if missing == "error":
            raise InputError(
                f"{who} judged topics ({count}): "
                f"complete {by_number(len(lacking), 'it', 'them')}, or choose missing zero"
            )
        score = by_number(len(lacking), "it scores", "they score")
        _warn(f"{who} judged topics ({count}): {score} 0 there")
    if profiles.constant:
        _warn(
            f"{counted(len(profiles.constant), 'run gives', 'runs give')} all documents of a topic "
            f"one score, first {profiles.constant[0]!r}: their order is random here; "
            "take ranks for scores with score-source rank"
        )


def _warn(message: str) -> None:
    warnings.warn(message, SteadyrankWarning, stacklevel=3)


def _raw(profiles: ScoreProfiles, gain: Gain) -> np.ndarray:
    judged = profiles.cells.judged[: len(profiles.topics)]
    each = zip(profiles.ranks, profiles.blocks, strict=True)
    return np.stack([raw_values(ranks, blocks, judged, gain) for ranks, blocks in each])


def _fingerprint(profiles: ScoreProfiles) -> str:
    """A digest of all that the samples depend on."""
    digest = hashlib.blake2b(digest_size=16)
    for column in profiles.cells:
        digest.update(np.ascontiguousarray(column).tobytes())
    digest.update("\0".join([*(run.name for run in profiles.runs), *profiles.topics]).encode())
    return digest.hexdigest()


def _deviation(shift: np.ndarray, squares: np.ndarray, n: int) -> np.ndarray:
    """Standard deviations from sums of differences from the raw value, and of their squares."""
    if n < 2:
        return np.full(shift.shape, np.nan)
    return np.sqrt(np.maximum(squares - shift**2 / n, 0.0) / (n - 1))
