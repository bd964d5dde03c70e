"""`simulate`: would another document collection change the table?

For whoever ranks runs by a mean score: documents are a sample too. Each run's scores of
relevant and of other documents are resampled per topic, collection by collection, and the
rankings and tests are compared with the real ones (Yang, Zhang & Song, SIGIR 2018,
doi:10.1145/3209978.3210122). Runs are simulated independently of each other, as there.
Simulated documents have no grades: where a measure needs them, its binary version is simulated,
under a name that says so.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, Literal, Unpack, get_args

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, block_stream, seed_from
from steadyrank.compute.stores import open_store
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.qrels import judgments_of
from steadyrank.data.read.runs import ReadingOptions, read_runs
from steadyrank.errors import InputError, check_choice, warn
from steadyrank.measures.evaluate import NoRelevant, report_missing
from steadyrank.measures.names import Measure
from steadyrank.measures.scoring import prepare
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.studies.simulate.blocks import Study
from steadyrank.studies.simulate.measures import Denominator, make_gain, parse_simulated, raw_values
from steadyrank.studies.simulate.profiles import (
    Bandwidth,
    Model,
    ScoreProfiles,
    ScoreSource,
    score_profiles,
)
from steadyrank.studies.simulate.result import Depth, Device, Mode, SimulateResult, grades_words
from steadyrank.studies.simulate.sampling import in_given_order, summarise, summarise_on_gpu
from steadyrank.studies.simulate.score_bins import Gain
from steadyrank.studies.simulate.statistics import rank_intervals_of
from steadyrank.words import by_number, counted

__all__ = ["DEFAULTS", "SimulateResult", "simulate"]

DEFAULTS: Mapping[Mode, tuple[Depth, Denominator]] = {
    "sound": ("retrieved", "poisson"),
    "paper": (1000, "judged"),
}
"""Depth and denominator of each mode: the paper's rankings have 1000 documents, and its figures
are those of the judged relevant documents; with these, simulated means are too low."""

MOST_NAMES = 3
"""Runs that a warning names."""

Missing = Literal["zero", "error"]


def simulate(
    runs: Any,
    qrels: Any,
    *,
    measure: str | Measure = "AP",
    rel: int | None = None,
    mode: Mode = "sound",
    model: Model = "bootstrap",
    n_samples: int = 10_000,
    depth: Depth | None = None,
    bandwidth: Bandwidth | float = "scott",
    denominator: Denominator | None = None,
    score_source: ScoreSource = "score",
    alpha: float = 0.05,
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    device: Device = "cpu",
    store: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    reading: Progress | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
    **reading_options: Unpack[ReadingOptions],
) -> SimulateResult:
    """Simulate other document collections and compare their tables with the real one.

    In a simulated collection the number of relevant documents that a run retrieves on a topic is
    Poisson, with the real number as its mean; their scores, and those of the other documents, are
    drawn from the run's own on that topic. Documents of equal score stand in random order.

    Parameters
    ----------
    runs, qrels : object
        As `evaluate` takes them.
    measure : str or Measure
        AP, P@k, R@k, RR, RBP, Success@k or nDCG.
    rel : int, optional
        Simulated documents of this grade and above, 1 unless given, are relevant, and have no
        grades. nDCG is another measure then, unless the judgments have but one grade of relevant
        documents: the result calls it "binary nDCG@10 (grade ≥ 1)", and a warning counts the pairs
        of runs that nDCG@10 orders otherwise.
    mode : str
        "sound" takes the denominator "poisson" and the depth "retrieved", "paper" the paper's
        "judged" and 1000; what is given takes precedence.
    model : str
        Scores are drawn with replacement ("bootstrap"), or from Gaussian kernel densities ("kde").
    n_samples : int
        Simulated collections.
    depth : int or "retrieved", optional
        Documents of a ranking: a fixed number, or as many as were retrieved.
    bandwidth : str or float
        Of the kernel densities: "scott", "silverman", "robust" or a number.
    denominator : str, optional
        The number of relevant documents that AP, R@k and nDCG divide by: sampled + Poisson(R -
        retrieved) ("poisson"), max(R, sampled) ("judged"), or "sampled".
    score_source : str
        "rank" takes ranks for scores, for runs whose scores are constant or ranks in disguise.
    alpha : float
        Level of the t tests in each collection.
    missing, no_relevant : str
        As in `evaluate`.
    device : str
        "cpu", or "cuda", which has numbers of its own.
    store : path, optional
        Folder that keeps finished blocks of samples: the same call again takes up where it stopped.
    jobs, scheduler, executor : optional
        As in `evaluate`.
    reading, progress : callable, optional
        Are given (finished, total) runs read and blocks of samples done.
    rng : int, Generator or None
        Seed; the same numbers for any `jobs`, `scheduler` or `executor`, and any order of runs and
        topics.
    **reading_options : optional
        `name_from`, `duplicates`, `run_info`, `team_from` and `system_from`, as in `read_runs`.

    Returns
    -------
    SimulateResult
        Simulated means, ranks, error rates and significance, beside the real ones.

    Notes
    -----
    Says nothing about other topics, and treats runs as independent although they share documents,
    which overstates how much their differences vary.

    References
    ----------
    - Yang, Zhang & Song (2018). A study of per-topic variance on system comparison. SIGIR.
      doi:10.1145/3209978.3210122

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> result = sr.simulate(track.runs, track.qrels, no_relevant="skip", n_samples=500)
    >>> result.simulated.shape, round(result.rank_correlation.mean, 1)
    ((500, 3), 0.9)
    """
    seed = seed_from(rng)
    asked = parse_simulated(measure, rel)
    _check(n_samples, alpha, missing, no_relevant, device, mode)
    depth = DEFAULTS[mode][0] if depth is None else depth
    denominator = DEFAULTS[mode][1] if denominator is None else denominator
    to_read = read_runs(runs, **reading_options)
    judged = judgments_of(qrels)
    is_itself = asked.is_itself(judged)
    topics = _topics(judged, asked.level, no_relevant)
    profiles = score_profiles(
        to_read,
        judged,
        topics=topics,
        level=asked.level,
        model=model,
        depth=depth,
        bandwidth=bandwidth,
        score_source=score_source,
        graded=None if is_itself else prepare(asked.measure, judged.max_grade),
        jobs=jobs,
        progress=reading,
    )
    to_read.check_headers([profiles.runs[place] for place in profiles.given])
    _report(profiles, missing)
    gain = make_gain(asked.measure, denominator, profiles.cells, longest=profiles.longest)
    study = Study(
        cells=profiles.cells,
        gain=gain,
        raw=_raw(profiles, gain),
        key=block_stream(seed, "simulated collections", 0).integers(2**64, dtype=np.uint64),
        n_samples=n_samples,
    )
    settings = {
        "study": "simulate",
        "version": __version__,
        "seed": seed,
        "measure": str(asked.measure),
        "rel": asked.level,
        "depth": depth,
        "denominator": denominator,
        "device": device,
        "block": study.block,
        "data": _fingerprint(profiles),
    }
    kept = None if store is None else open_store(store, settings)
    if device == "cuda":
        summary = summarise_on_gpu(study, kept, alpha=alpha, progress=progress)
    else:
        summary = summarise(
            study,
            kept,
            alpha=alpha,
            jobs=jobs,
            scheduler=scheduler,
            executor=executor,
            progress=progress,
        )
    given = profiles.given
    summary, raw = in_given_order(summary, given), study.raw[given]
    graded = profiles.graded
    result = SimulateResult(
        measure=asked.name_on(judged),
        graded_measure=None if is_itself else str(asked.measure),
        graded_mean=None if graded is None else graded.mean(axis=1)[given],
        mode=mode,
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
        cell_mean=raw + summary.shift / n_samples,
        cell_sd=_deviation(summary.shift, summary.squares, n_samples),
        simulated=summary.means,
        rank_correlation=summary.correlation,
        error_rate=summary.errors,
        significance=summary.rates,
        raw_pvalue=paired_t(raw, all_pairs(len(raw))).pvalue,
        rank_share=summary.rank_share,
        rank_interval=rank_intervals_of(summary.rank_share),
        none_relevant=profiles.none_relevant,
        plain=profiles.plain,
        truncated=summary.truncated,
    )
    order = result.graded_order
    if order is not None and order.n_reversed:
        warn(grades_words(result), stacklevel=3)
    return result


def _check(
    n_samples: int, alpha: float, missing: str, no_relevant: str, device: str, mode: str
) -> None:
    if not isinstance(n_samples, (int, np.integer)) or not 1 <= n_samples < 2**31:
        raise InputError(f"n_samples must be a whole number from 1 on, got {n_samples!r}")
    check_open_unit("alpha", alpha)
    check_choice("way to treat missing topics", missing, get_args(Missing))
    check_choice(
        "way to treat topics without relevant documents", no_relevant, get_args(NoRelevant)
    )
    check_choice("device", device, get_args(Device))
    check_choice("mode", mode, get_args(Mode))


def _topics(qrels: Qrels, level: int, no_relevant: NoRelevant) -> tuple[str, ...]:
    has_relevant = qrels.best_grades >= level
    if not has_relevant.any():
        raise InputError(f"no topic of the qrels has a relevant document (grade {level} or above)")
    without = int((~has_relevant).sum())
    if without:
        zero = by_number(without, "it scores", "they score") + " 0"
        done = "left out" if no_relevant == "skip" else zero
        have = by_number(without, "has", "have")
        warn(f"{without} of {len(qrels.topics)} topics {have} no relevant document: {done}")
    if no_relevant == "zero":
        return qrels.topics
    return tuple(topic for topic, keep in zip(qrels.topics, has_relevant, strict=True) if keep)


def _report(profiles: ScoreProfiles, missing: Missing) -> None:
    """Say, in counts, what was done about files that do not quite fit together."""
    n_topics = len(profiles.topics)
    if (profiles.missing == n_topics).all():
        raise InputError(
            "no run has any topic of the qrels: do the topic ids look alike "
            f"(qrels: {profiles.topics[0]!r})?"
        )
    names = (run.name for run in profiles.runs)
    lacking = zip(names, profiles.missing.tolist(), strict=True)
    report_missing(lacking, n_topics, missing, may_skip=False)
    if profiles.constant:
        warn(
            f"{counted(len(profiles.constant), 'run gives', 'runs give')} all documents of a topic "
            f"one score, first {profiles.constant[0]!r}: their order is random here; "
            'take ranks for scores with score_source="rank"'
        )
    if profiles.rank_like:
        have = counted(len(profiles.rank_like), "run has", "runs have")
        warn(
            f"{have} scores that are ranks in disguise ({_some(profiles.rank_like)}), which say in "
            "what order documents stand and nothing else: take ranks for scores with "
            'score_source="rank", or leave these runs out'
        )


def _some(names: Sequence[str]) -> str:
    first, left = ", ".join(names[:MOST_NAMES]), len(names) - MOST_NAMES
    return first if left <= 0 else f"{first} and {counted(left, 'other')}"


def _raw(profiles: ScoreProfiles, gain: Gain) -> np.ndarray:
    judged = profiles.cells.judged[: len(profiles.topics)]
    runs = zip(profiles.ranks, profiles.blocks, strict=True)
    return np.stack([raw_values(ranks, blocks, judged, gain) for ranks, blocks in runs])


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
