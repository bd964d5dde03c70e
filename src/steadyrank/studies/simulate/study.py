"""`simulate`: would another document collection change the table?

Documents are a sample, as topics are. They are resampled by topic, and the rankings and tests of
each simulated collection are compared with the observed ones (Yang, Zhang & Song, SIGIR 2018).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, Literal, Unpack, get_args, overload

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.compute.stores import open_store
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.run_files import judgments_of
from steadyrank.data.read.runs import ReadingOptions, read_runs
from steadyrank.errors import InputError, arg, bad_value, check_choice, check_count, warn
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import NoRelevant, report_missing
from steadyrank.measures.names import Measure
from steadyrank.measures.scoring import prepare
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.pairs.difference_bins import MOST_BINS, N_BINS, WIDTH, check_width
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.studies.simulate.blocks import (
    fill_store,
    in_given_order,
    independent_sampling,
    shared_sampling,
    summarise,
)
from steadyrank.studies.simulate.measures import Denominator, parse_shared, parse_simulated
from steadyrank.studies.simulate.profiles import (
    Bandwidth,
    Depth,
    KernelName,
    Model,
    RunNotes,
    ScoreSource,
    check_drawing,
    score_profiles,
)
from steadyrank.studies.simulate.result import Documents, Mode, SimulatePart, SimulateResult
from steadyrank.studies.simulate.shared_lists import shared_lists
from steadyrank.studies.simulate.statistics import predict, rank_intervals_of
from steadyrank.words import by_number, counted

__all__ = ["SimulatePart", "SimulateResult", "simulate"]

DEFAULT_DEPTH: Mapping[Mode, Depth] = {"sound": "retrieved", "paper": 1000}
"""The paper's rankings have 1000 documents."""

DEFAULT_DENOMINATOR: Mapping[Mode, Denominator] = {"sound": "poisson", "paper": "judged"}
"""Denominators of independent runs. The paper uses "judged", whose means are too low."""

Missing = Literal["zero", "error"]


@overload
def simulate(
    runs: Any, qrels: Any, measure: str | Measure = ..., *, part: None = None, **options: Any
) -> SimulateResult: ...


@overload
def simulate(
    runs: Any, qrels: Any, measure: str | Measure = ..., *, part: tuple[int, int], **options: Any
) -> SimulatePart: ...


@data_first  # type: ignore[misc]  # the overloads say what comes back, not what goes in
def simulate(
    runs: Any,
    qrels: Any,
    measure: str | Measure = "AP",
    *,
    rel: int | None = None,
    documents: Documents | None = None,
    mode: Mode = "sound",
    model: Model = "bootstrap",
    n_samples: int = 10_000,
    depth: Depth | None = None,
    bandwidth: Bandwidth | float = "scott",
    kernel: KernelName = "gaussian",
    denominator: Denominator | None = None,
    score_source: ScoreSource = "score",
    alpha: float = 0.05,
    n_bins: int = N_BINS,
    bin_width: float = WIDTH,
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    store: str | os.PathLike[str] | None = None,
    part: tuple[int, int] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    reading: Progress | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
    **reading_options: Unpack[ReadingOptions],
) -> SimulateResult | SimulatePart:
    """Simulate other document collections and compare their tables with the observed one.

    In a simulated collection every document that a run retrieved or a judge found relevant occurs
    Poisson(1) times, the same number for all runs. Each run ranks it as it ranked the observed one,
    with the copies of a document next to each other, and to the same depth. Documents of equal
    score are in random order, the same for all runs.

    Parameters
    ----------
    runs, qrels : object
        As in `evaluate`.
    measure : str or Measure
        AP, nDCG, P@k, R@k, Rprec, RR, RBP, ERR, nERR, Q, Pplus, nG@1, IPrec or Success@k, as
        `evaluate` computes it; for independent runs AP, P@k, R@k, RR, RBP, Success@k or nDCG.
    rel : int, optional
        Lowest relevant grade, 1 unless given. Documents of independent runs have no other grades.
        Their nDCG therefore differs from nDCG unless all relevant documents have one grade: the
        result calls it "binary nDCG@10 (grade ≥ 1)".
    documents : str, optional
        "shared": all runs rank the same new collection. "independent", as in the paper: for each
        run the number of relevant documents is Poisson with the observed number as its mean, and
        all scores are drawn from those of the run on that topic. The default is "independent" with
        `mode="paper"`, a `denominator` or a `model` of scores, and otherwise "shared".
    mode : str
        Defaults: "sound" uses the depth "retrieved" and the denominator "poisson", "paper"
        independent documents, the depth 1000 and the denominator "judged".
    model : str
        "bootstrap" draws documents with replacement, "kde" scores from kernel densities.
    n_samples : int
        Number of simulated collections.
    depth : int or "retrieved", optional
        Documents of a ranking: a fixed number, or as many as were retrieved. A ranking of shared
        documents may hold fewer.
    bandwidth : str or float
        Bandwidth of kernel densities: "scott", "silverman", "robust" or a number, the standard
        deviation of the kernel for any shape.
    kernel : str
        Kernel of kernel densities: "gaussian", "epanechnikov", "triangular" or "uniform".
    denominator : str, optional
        Number of relevant documents that AP, R@k and nDCG of independent runs are divided by:
        sampled + Poisson(R - retrieved) ("poisson"), max(R, sampled) ("judged"), or "sampled".
    score_source : str
        "rank" uses ranks instead of scores, for runs whose scores are constant: documents of equal
        score keep the order of the run.
    alpha : float
        Level of the t tests in each collection.
    n_bins, bin_width : int, float
        Bins of the error rate; the last one has no upper end.
    missing, no_relevant : str
        As in `evaluate`.
    store : path, optional
        Folder that keeps finished blocks of samples: the same call continues where it stopped.
    part : (int, int), optional
        (3, 20): compute the third of twenty shares of the blocks into the store, and no result. The
        same call without `part` computes the missing blocks and the result.
    jobs, scheduler, executor : optional
        As in `evaluate`.
    reading, progress : callable, optional
        Called with (finished, total) runs read and blocks of samples.
    rng : int, Generator or None
        Seed. Results do not depend on `jobs`, `scheduler`, `executor` or the order of runs and
        topics.
    **reading_options : optional
        `name_from`, `duplicates`, `run_info`, `team_from`, `system_from` and `names`, as in
        `read_runs`.

    Returns
    -------
    SimulateResult
        Simulated and observed means, error rates and significance; with shared documents and
        `mode="sound"`, `prediction` and the ranks are those of a second collection. With `part` a
        `SimulatePart`, which says how many blocks are left.

    Notes
    -----
    `predict` has the formula of a second collection. The result does not apply to other topics.
    Independent documents overstate the variance of differences, since runs share documents.

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
    ((500, 3), 1.0)
    """
    seed = seed_from(rng)
    _check(n_samples, alpha, missing, no_relevant, mode)
    check_part(part, store)
    if not 2 <= check_count("n_bins", n_bins) <= MOST_BINS:
        raise bad_value("n_bins", f"lie between 2 and {MOST_BINS}", n_bins)
    check_width("bin_width", bin_width)
    documents = _documents(documents, mode, model, denominator)
    depth = DEFAULT_DEPTH[mode] if depth is None else depth
    check_drawing(model, depth, bandwidth, kernel, score_source)
    to_read = read_runs(runs, **reading_options)
    judged = judgments_of(qrels)
    common: Any = {"depth": depth, "score_source": score_source, "jobs": jobs, "progress": reading}
    if documents == "shared":
        kept = parse_shared(measure, rel)
        recipe = prepare(kept, judged.max_grade)
        level = recipe.level
        topics = _topics(judged, level, no_relevant)
        lists = shared_lists(to_read, judged, recipe, topics=topics, **common)
        study = shared_sampling(lists, recipe, topics, seed, n_samples=n_samples)
    else:
        denominator = denominator or DEFAULT_DENOMINATOR[mode]
        kept, level = asked = parse_simulated(measure, rel)
        topics = _topics(judged, level, no_relevant)
        profiles = score_profiles(
            to_read,
            judged,
            topics=topics,
            level=level,
            model=model,
            bandwidth=bandwidth,
            kernel=kernel,
            **common,
        )
        study = independent_sampling(
            profiles,
            asked,
            judged,
            topics,
            seed,
            denominator=denominator,
            is_smooth=model != "bootstrap",
            n_samples=n_samples,
        )
    notes, given = study.notes, study.notes.given
    to_read.check_headers([notes.runs[place] for place in given])
    _report(notes, topics, missing)
    settings = {
        "study": "simulate",
        "version": __version__,
        "seed": seed,
        "documents": documents,
        "measure": str(kept),
        "rel": level,
        "depth": depth,
        "denominator": denominator,
        "block": study.block,
        "data": study.fingerprint,
    }
    opened = None if store is None else open_store(store, settings)
    machine: Any = {"jobs": jobs, "scheduler": scheduler, "executor": executor}
    if part is not None and opened is not None:
        return fill_store(study, opened, part, progress=progress, **machine)
    bins: Any = {"n_bins": n_bins, "bin_width": bin_width}
    found = summarise(study, opened, alpha=alpha, progress=progress, **bins, **machine)
    is_shared, odd = documents == "shared", found.pop("odd")
    if is_shared and mode == "sound":
        prediction = predict(study.raw.mean(axis=1), found["simulated"], seed=seed, jobs=jobs)
        found |= {"prediction": prediction, "rank_share": prediction.rank_share}
    found, raw = in_given_order(found, given), study.raw[given]
    return SimulateResult(
        measure=study.measure,
        documents=documents,
        mode=mode,
        model=model,
        n_samples=n_samples,
        depth=depth,
        bandwidth=bandwidth,
        kernel=kernel,
        denominator=denominator,
        score_source=score_source,
        seed=seed,
        runs=tuple(notes.runs[place].name for place in given),
        topics=tuple(topics),
        raw=raw,
        raw_pvalue=paired_t(raw, all_pairs(len(raw))).pvalue,
        rank_interval=rank_intervals_of(found["rank_share"]),
        none_relevant=notes.none_relevant,
        without_relevant=odd if is_shared else 0,
        plain=study.plain,
        truncated=0 if is_shared else odd,
        **found,
    )


def check_part(part: Any, store: Any) -> None:
    """Raise an error unless `part` is (i, n) and there is a store for its blocks."""
    if part is None:
        return
    is_pair = isinstance(part, (tuple, list)) and len(part) == 2
    if not is_pair or not all(type(number) is int for number in part):
        raise bad_value("part", "be two whole numbers, such as (3, 20)", part)
    if not 1 <= part[0] <= part[1]:
        raise InputError(f"part {part[0]} of {part[1]}: number parts from 1 to {part[1]}")
    if store is None:
        raise InputError("part requires a store, the folder that all parts put their blocks into")


def _documents(
    documents: Documents | None, mode: Mode, model: Model, denominator: Denominator | None
) -> Documents:
    """Return how documents are drawn: shared, unless other options require independent runs."""
    if documents is None:
        separate = mode == "paper" or model != "bootstrap" or denominator is not None
        documents = "independent" if separate else "shared"
    check_choice("way to draw documents", documents, get_args(Documents))
    if documents == "independent":
        return documents
    if model != "bootstrap":
        raise InputError(
            f"model {model} draws the scores of a single run, which shared documents do not "
            f"allow: choose {arg('model', 'bootstrap')} or {arg('documents', 'independent')}"
        )
    if denominator is not None:
        raise InputError(
            "with shared documents the recall base is the relevant documents of each collection: "
            f"omit denominator, or choose {arg('documents', 'independent')}"
        )
    return documents


def _check(n_samples: int, alpha: float, missing: str, no_relevant: str, mode: str) -> None:
    if not isinstance(n_samples, (int, np.integer)) or not 1 <= n_samples < 2**31:
        raise bad_value("n_samples", "be a whole number of at least 1", n_samples)
    check_open_unit("alpha", alpha)
    check_choice("way to treat missing topics", missing, get_args(Missing))
    check_choice(
        "way to treat topics without relevant documents", no_relevant, get_args(NoRelevant)
    )
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


def _report(notes: RunNotes, topics: Sequence[str], missing: Missing) -> None:
    """Warn about missing topics and constant scores."""
    n_topics = len(topics)
    if (notes.missing == n_topics).all():
        raise InputError(
            f"no run has any topic of the qrels: do the topic ids match (qrels: {topics[0]!r})?"
        )
    names = (run.name for run in notes.runs)
    lacking = zip(names, notes.missing.tolist(), strict=True)
    report_missing(lacking, n_topics, missing, may_skip=False)
    if notes.constant:
        warn(
            f"{counted(len(notes.constant), 'run gives', 'runs give')} all documents of a topic "
            f"the same score (first {notes.constant[0]!r}): their order is random; use ranks "
            f"instead of scores with {arg('score_source', 'rank')}"
        )
