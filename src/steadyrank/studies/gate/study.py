"""`gate`: may this change ship?

A test of non-inferiority and a test of inferiority use the same intervals: the candidate passes,
fails, or the data are not sufficient to decide.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.runs import ReadingOptions
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import Scores, cluster_codes, plain_value
from steadyrank.errors import InputError, arg, bad_value, check_number
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import Missing, NoRelevant, Ties
from steadyrank.measures.names import Measure
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.betting import SequentialDifference
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.stats.pairs.topic_design import MeanDifference, unseen_share
from steadyrank.stats.planning.needed_topics import needed_topics
from steadyrank.studies.gate.fits import (
    Fit,
    Look,
    MeasureHoles,
    Part,
    look_at,
    losses_of,
    lower_levels,
    make_parts,
    means_of,
    outlier_of,
    pvalues_of,
    rebuilt_rows,
)
from steadyrank.studies.gate.history import recorded
from steadyrank.studies.gate.inputs import Pair, read_pair
from steadyrank.studies.gate.result import GateResult, GateRow, Verdict
from steadyrank.words import counted

FEWEST = 10
"""A gate requires at least this many topics."""

POWER = 0.8
"""Power with which the topics needed would settle an open verdict."""


@data_first
def gate(
    baseline: Any,
    candidate: Any,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] | Mapping[str, float | None] | None = None,
    *,
    margin: float | None = None,
    by: str | None = None,
    alpha: float = 0.05,
    guard_breakage: bool = False,
    rebuild: bool = False,
    sequential: bool = False,
    history: PathLike | None = None,
    publish: Callable[[GateResult], object] | None = None,
    topic_info: PathLike | None = None,
    cluster_from: str | None = None,
    missing: Missing = "error",
    no_relevant: NoRelevant = "zero",
    ties: Ties = "trec_eval",
    jobs: int | None = None,
    rng: Rng = 0,
    **reading_options: Unpack[ReadingOptions],
) -> GateResult:
    """Decide whether a candidate is no worse than a baseline by more than a margin.

    The verdict is "pass" if the lower limit of candidate - baseline is above -margin on every
    measure; "fail" if on some measure, or in some segment, the candidate is significantly worse
    and its difference is beyond the margin; "holes" if the verdict depends on how many unjudged
    documents are relevant; and otherwise "cannot tell".

    Parameters
    ----------
    baseline, candidate : object
        A run each (a file, a `Run`, anything that `as_run` takes), or the scores of a run
        (`Scores`, or a file that `read_scores` takes, as of `evaluate -o`, `trec_eval -q`,
        `_rank_eval`, Inspect or lm-eval-harness). The scores of a baseline must come from the same
        judgments and settings. A folder or a list per side, or `Scores` with one system in their
        run information, holds the runs of a system that varies; repeated answers to a topic are
        averaged.
    qrels : object, optional
        A file, `Qrels`, or anything that `as_qrels` takes; not needed for two sets of scores. With
        `Battles`, or a file of battles, baseline and candidate are the names of two models, and the
        measure is the share of the battles between them that each wins.
    measures : str, Measure, iterable or mapping
        All of them must pass. `{"nDCG@10": 0.01, "AP": 0.02}` gives each a margin. By default
        nDCG@10, or the only measure that the scores have.
    margin : float, optional
        Acceptable loss on measures without a margin; 0 or more.
    by : str, optional
        Column of the topics' information that divides them into segments, which must not fail.
    alpha : float
        Probability of passing a candidate that is worse by the margin, and of failing one that is
        not worse.
    guard_breakage : bool
        Add one topic with the lowest possible difference, from the highest score in the data to 0,
        to the lower limits. A change that ruins a few queries outside these topics then rarely
        passes.
    rebuild : bool
        Decide instead whether the candidate is a rebuild of the same system: the baseline has
        several builds, and the candidate passes if its mean is within their prediction interval.
    sequential : bool
        Take topics one by one, in a random order or by a column `order` of their information, with
        limits that hold at every look (bets on bounded differences): the gate may be repeated as
        topics are judged, and stopped when it is decided.
    history : path, optional
        Folder that keeps one line per gate, and the difference from its first baseline.
    publish : callable, optional
        Called with the result before the gate is recorded; if it raises, no gate is recorded.
    topic_info, cluster_from : optional
        As in `evaluate`. Clusters widen intervals, weights make means weighted.
    missing, no_relevant, ties : str
        As in `evaluate`, except that by default a run that lacks topics is an error.
    jobs : int, optional
        Number of threads.
    rng : int, Generator or None
        Seed of drawn grades, and of the order of topics with `sequential`.
    **reading_options : optional
        `name_from`, `duplicates`, `names`, as in `read_runs`.

    Returns
    -------
    GateResult
        The verdict, and the difference with its limits per measure and segment; `exit_code()` is
        the exit code of the command.

    Notes
    -----
    Limits are one-sided, each at level alpha: mean ± t s with Student's t, corrected for skewness
    as in `compare`, and cluster-robust standard errors s; with several runs per side, those of the
    mixed model, as in `instances`. Requiring every measure to pass needs no correction (an
    intersection-union test). Fails are corrected together by Holm's method, and so are the passes
    of segments. A segment that cannot tell does not keep the candidate from passing.

    The verdict is about other topics of the same population, not about other documents. Failing
    tests whether the candidate is worse at all; that its loss exceeds the margin is an estimate.

    Unjudged documents count as not relevant in all figures. A verdict is certain if it is the same
    between the bounds `lowest` and `highest`, over all grades that they could have. Otherwise
    grades are drawn from a logistic law of a document's best rank, fitted on judged documents, with
    its probabilities times 0, 0.1, 0.3 and 1 (`sweep`); the verdict is "holes" if these disagree.

    References
    ----------
    - Berger (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics.
      doi:10.1080/00401706.1982.10487790
    - Johnson (1978). Modified t tests and confidence intervals for asymmetrical populations. JASA.
      doi:10.1080/01621459.1978.10480051
    - Waudby-Smith & Ramdas (2024). Estimating means of bounded random variables by betting. JRSS B.
      doi:10.1093/jrsssb/qkad009
    - Pustejovsky & Tipton (2018). Small-sample methods for cluster-robust variance estimation and
      hypothesis testing in fixed effects models. JBES. doi:10.1080/07350015.2016.1247004

    Examples
    --------
    >>> import numpy as np
    >>> import steadyrank as sr
    >>> rng = np.random.default_rng(0)
    >>> before = rng.random((1, 1, 400))
    >>> after = before + rng.normal(0, 0.05, before.shape)
    >>> topics = [str(topic) for topic in range(400)]
    >>> old = sr.Scores(measures=["AP"], runs=["old"], topics=topics, values=before)
    >>> new = sr.Scores(measures=["AP"], runs=["new"], topics=topics, values=after)
    >>> result = sr.gate(old, new, measures="AP", margin=0.01)
    >>> result.verdict, result.exit_code()
    ('pass', 0)
    """
    if not 0.0 < check_number("alpha", alpha) < 0.5:
        raise bad_value("alpha", "lie between 0 and 0.5", alpha)
    own_margins = isinstance(measures, Mapping) and any(m is not None for m in measures.values())
    if rebuild and (margin is not None or own_margins):
        raise InputError(f"rebuild takes its tolerance from the builds: omit {arg('margin=')}")
    margins = _margins(measures, 0.0 if rebuild else margin)
    seed = seed_from(rng)
    pair = read_pair(
        baseline,
        candidate,
        qrels,
        measures=None if measures is None else list(margins),
        topic_info=topic_info,
        cluster_from=cluster_from,
        settings={"missing": missing, "no_relevant": no_relevant, "ties": ties},
        jobs=jobs,
        reading=reading_options,
    )
    by_name = dict(zip(pair.scores.measures, margins.values(), strict=True))
    _check_margins(pair, by_name)
    _check_design(pair, rebuild=rebuild, sequential=sequential, guard_breakage=guard_breakage)
    parts = make_parts(
        pair,
        by_name,
        by=by,
        guards_breakage=guard_breakage,
        order=_order(pair.scores, seed) if sequential else None,
        alpha=alpha,
    )
    if rebuild:
        rows = rebuilt_rows(parts, alpha)
        _check_enough(rows, [row.n_topics for row in rows])
        draws = [float(row.n_topics) for row in rows]
    else:
        fits = [part.fit(part.scores[1] - part.scores[0]) for part in parts]
        _check_enough(parts, [fit.observed.n_topics for fit in fits])
        looks = look_at(parts, fits, pair.holes, alpha=alpha, seed=seed)
        pvalues = (column.tolist() for column in pvalues_of(parts, fits))
        every = zip(parts, fits, looks, *pvalues, lower_levels(parts, fits, alpha), strict=True)
        tail = alpha / max(1, sum(part.segment is not None for part in parts))
        rows = [_row(*one, tail=tail, holes=pair.holes.get(one[0].measure)) for one in every]
        draws = [fit.observed.draws for fit in fits]
    clusters = cluster_codes(pair.scores)
    result = GateResult(
        verdict=_overall(rows),
        alpha=alpha,
        baseline=pair.scores.runs[0],
        candidate=pair.scores.runs[1],
        measures=tuple(row for row in rows if row.segment is None),
        segments=tuple(row for row in rows if row.segment is not None),
        by=by,
        n_topics=len(pair.scores.topics),
        n_clusters=None if clusters is None else int(clusters.max(initial=-1)) + 1,
        is_weighted="weight" in pair.scores.topic_info,
        rare_breakage=unseen_share(min(draws[: len(by_name)]), alpha),
        guards_breakage=guard_breakage,
        is_ranking_lost=pair.is_ranking_lost,
        judges=pair.judges,
        n_runs=pair.n_runs,
        is_rebuild=rebuild,
        seed=seed if sequential else None,
    )
    kept = contextlib.nullcontext() if history is None else recorded(history, pair, result)
    with kept as gates:
        result = replace(result, history=gates)
        if publish is not None:
            publish(result)
    return result


def _margins(measures: Any, margin: float | None) -> dict[str, float]:
    measures = "each measure" if measures is None else measures
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    if not isinstance(measures, Mapping):
        measures = dict.fromkeys(map(str, measures))
    if not measures:
        raise InputError("no measures were named")
    margins = {}
    for name, own in measures.items():
        value = margin if own is None else own
        if value is None:
            raise InputError(
                f"{name} requires {arg('margin')}, the loss that you are willing to accept, "
                "such as 0.01"
            )
        if not 0.0 <= check_number("margin", value) < math.inf:
            raise InputError(
                f"{arg('margin')} must be a number of at least 0, got {value} for {name}"
            )
        margins[str(name)] = float(value)
    return margins


def _check_design(pair: Pair, *, rebuild: bool, sequential: bool, guard_breakage: bool) -> None:
    with_design = {"cluster", "weight"} & set(pair.scores.topic_info)
    several = pair.varies and not rebuild
    if with_design and (several or sequential or rebuild):
        way = "rebuild" if rebuild else "sequential" if sequential else "a side with several runs"
        raise InputError(f"{way} takes topics as they are: omit clusters and weights of topics")
    if rebuild and (pair.n_runs[0] < 2 or pair.n_runs[1] != 1):
        first, second = pair.n_runs
        raise InputError(
            "rebuild requires at least 2 builds as the baseline and one as the candidate, got "
            f"{first} and {second}: give a folder of builds, and the new one"
        )
    if not sequential:
        return
    if rebuild or several or guard_breakage:
        other = "rebuild" if rebuild else "guard_breakage" if guard_breakage else "several runs"
        raise InputError(f"sequential cannot be combined with {other}: omit one")
    values = pair.scores.values
    if (values < 0.0).any() or (values > 1.0).any():
        worst = float(values[(values < 0.0) | (values > 1.0)][0])
        raise InputError(f"sequential requires scores between 0 and 1, got {worst:g}: rescale them")


def _order(scores: Scores, seed: int) -> np.ndarray:
    """Return the place of each topic: by a column `order`, else at random.

    The random order depends only on the seed and the topic's name: topics that are judged later
    come between others, unless they are judged in that order.
    """
    if "order" in scores.topic_info:
        texts = scores.topic_info["order"]
        places = np.array([math.nan if (n := plain_value(text)) is None else n for text in texts])
        if np.isnan(places).any() or len(np.unique(places)) < len(places):
            raise InputError("the column order of the topics must hold a different number for each")
        return places
    keys = [
        hashlib.sha256(f"{seed}/{topic}".encode(errors="surrogatepass")).digest()
        for topic in scores.topics
    ]
    return np.argsort(np.argsort(np.array(keys, object)))


def _check_enough(rows: Sequence[Part | GateRow], sizes: Sequence[int]) -> None:
    """Raise an error for a measure with too few topics; segments may have few."""
    for row, n in zip(rows, sizes, strict=True):
        if row.segment is None and n < FEWEST:
            raise InputError(
                f"{row.measure}: both have scores on {counted(n, 'topic')}, and a gate requires "
                f"at least {FEWEST}: judge more topics"
            )


def _check_margins(pair: Pair, margins: Mapping[str, float]) -> None:
    """Raise an error for a margin that no loss could exceed."""
    for name, margin in margins.items():
        values = pair.scores.matrix(name)
        if margin >= 1.0 and not (values < 0.0).any() and not (values > 1.0).any():
            raise InputError(
                f"a margin of {margin:g} excludes no loss of {name}, which lies between 0 and 1: "
                "give one below 1"
            )


def _overall(rows: Sequence[GateRow]) -> Verdict:
    """Return the verdict of the gate: any row may fail it, every measure must pass."""
    if any(row.verdict == "fail" for row in rows):
        return "fail"
    of_measures = {row.verdict for row in rows if row.segment is None}
    if "cannot tell" in of_measures:
        return "cannot tell"
    return "holes" if any(row.verdict == "holes" for row in rows) else "pass"


def _row(
    part: Part,
    both: Fit,
    look: Look,
    pvalue_pass: float,
    pvalue_fail: float,
    lower_level: float,
    *,
    tail: float,
    holes: MeasureHoles | None,
) -> GateRow:
    """Return one row; `tail` is the level of the upper limit of a segment."""
    baseline, candidate = means_of(part)
    fit, verdict = both.observed, look.verdict
    bounded = None if part.lowest is None else holes
    is_open = verdict == "holes"
    upper = fit.interval(part.alpha if part.segment is None else tail).high
    row = GateRow(
        measure=part.measure,
        margin=part.margin,
        segment=part.segment,
        n_topics=fit.n_topics,
        n_clusters=fit.n_clusters,
        effective_topics=fit.effective_topics,
        design_effect=fit.design_effect,
        baseline=baseline,
        candidate=candidate,
        difference=fit.mean,
        interval=Interval(both.guarded.interval(lower_level).low, upper),
        pvalue_pass=pvalue_pass,
        pvalue_fail=pvalue_fail,
        verdict=verdict,
        topics_needed=_topics_needed(part, fit) if verdict == "cannot tell" else None,
        lowest=None if bounded is None else part.mean_at(0.0),
        highest=None if bounded is None else part.mean_at(1.0),
        bounds=None if bounded is None else "exact" if bounded.is_exact else "outer",
        n_unjudged=None if bounded is None or part.segment is not None else bounded.n_unjudged,
        unjudged=None if holes is None else look.how,
        unjudged_share=None if holes is None else holes.share,
        is_certain=None if bounded is None else look.is_certain,
        sweep=look.sweep,
        judge_first=holes.to_judge() if holes and part.segment is None and is_open else (),
        losses=losses_of(part),
        outlier=outlier_of(part),
        decided_after=_decided_after(part, fit, verdict, pvalue_pass, pvalue_fail),
        method=fit.method,
    )
    return row.with_sign_of_file() if part.lower_is_better else row


def _decided_after(
    part: Part, fit: MeanDifference, verdict: Verdict, passed: float, failed: float
) -> int | None:
    """Return the number of topics, in their order, after which the verdict was reached."""
    if not isinstance(fit, SequentialDifference) or verdict not in ("pass", "fail"):
        return None
    # The family's correction lowers the level of one test as much as it raises p.
    if verdict == "pass":
        raised = passed / max(fit.pvalue_above(-part.margin), 1e-300)
        return fit.first_above(-part.margin, part.alpha / max(raised, 1.0)) or fit.n_topics
    raised = failed / max(fit.pvalue_below(0.0), 1e-300)
    return fit.first_below(0.0, part.alpha / max(raised, 1.0), -part.margin) or fit.n_topics


def _topics_needed(part: Part, fit: MeanDifference) -> int | None:
    """Return the topics that would settle the verdict if the observed difference is the true one.

    A better candidate is assumed to be equal. Below -margin, a loss has to be significant; above,
    a loss beyond the margin has to be excluded.
    """
    is_loss = fit.mean < -part.margin
    gap = -fit.mean if is_loss else min(fit.mean, 0.0) + part.margin
    if fit.flag == TOO_FEW or not gap > 0.0 or part.order is not None or fit.method == "mixed":
        return None
    unseen = 0.0
    if fit.flag or (part.guards_breakage and not is_loss):
        # Enough topics to leave no more breakage unseen than the gap allows for.
        room = fit.room(-1.0 if is_loss else 1.0)
        unseen = 0.0 if gap >= room else math.log(part.alpha) / math.log1p(-gap / room)
        unseen *= fit.n_topics / fit.draws
    if fit.flag:
        return math.ceil(unseen)
    # fit.variance * n is the variance of one topic without clusters and weights.
    needed = needed_topics(
        gap, fit.variance * fit.n_topics, fit.n_topics, alpha=2.0 * part.alpha, beta=1.0 - POWER
    )
    topics = float(needed.topics) + unseen
    return math.ceil(topics) if math.isfinite(topics) else None
