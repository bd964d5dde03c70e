"""`holes`: would complete judgments change the table?

Runs that were not pooled retrieve unjudged documents. Counting these as not relevant lowers the
scores of such runs, leaving them out raises them. `holes` computes bounds over all completions of
the judgments (`measures.holes.bounds` has the proofs), estimates by a prior that is fitted on
judged documents and checked by hiding some, and the documents to judge next.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack, get_args

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.run_files import judgments_of
from steadyrank.data.read.runs import ReadingOptions
from steadyrank.errors import InputError, arg, check_choice, check_count, warn
from steadyrank.measures.arguments import data_first
from steadyrank.measures.holes.bounds import Ask, Bounds, documents_to_judge, find_bounds
from steadyrank.measures.holes.lists import (
    HoledMeasure,
    Lists,
    Missing,
    by_document,
    joined_qrels,
    make_rankings,
    parse_holed,
    read_lists,
)
from steadyrank.measures.names import Measure
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import picked, rows_of
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.studies.holes.completions import (
    FEWEST_RUNS,
    Completions,
    Rehearsal,
    draw_completions,
    rehearse,
)
from steadyrank.studies.holes.fragility import DECIDED, JudgmentFragility, judgment_fragility
from steadyrank.studies.holes.prior import Prior, PriorCheck, check_prior, make_pool
from steadyrank.words import by_number, counted

SURE = 0.95
"""A pair is settled if this share of the completions agrees on its order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HolesRun:
    """One run with its mean scores over topics."""

    run: str
    unjudged_share: float
    """Share of its documents within the cutoff that are unjudged, over all topics."""
    score: float
    """Score that counts unjudged documents as not relevant."""
    lowest: float
    """Lowest score over all completions."""
    highest: float
    judged_only: float
    """Score of the ranking without unjudged documents."""
    imputed: float | None = None
    """Mean score over completions drawn from the prior."""
    imputed_interval: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HolesPair:
    """Two runs; differences are first minus second."""

    a: str
    b: str
    difference: float
    lowest: float
    highest: float
    decided: bool
    """Whether no completion makes the other run better or equally good."""
    bounds: Literal["exact", "outer"]
    """"exact" if completions attain both bounds, else "outer"."""
    pvalue: float
    """p-value of the uncorrected paired t test; unjudged documents count as not relevant."""
    difference_imputed: float | None = None
    sign_share: float | None = None
    """Share of the drawn completions in which a is above b."""
    pvalue_imputed: float | None = None
    """p-value of this test over drawn completions, by Rubin's rules."""
    fragility: JudgmentFragility | None = None
    """Known for P, RBP, SetP, NumRelRet, nDCG, nG, R, SetR and AP if one run leads."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.holes.view:VIEW.text")
class HolesResult(Framed):
    """The result of `holes`: bounds and estimates per run, and decided pairs.

    Examples
    --------
    >>> import steadyrank as sr
    >>> qrels = sr.qrels_from_dict({"301": {"d1": 1, "d2": 0}})
    >>> runs = {"old": {"301": {"d1": 2.0, "d2": 1.0}}, "new": {"301": {"d3": 2.0, "d1": 1.0}}}
    >>> result = sr.holes(runs, qrels, measure="P@2", n_samples=0)
    >>> result.n_holes, result.n_decided, len(result.pairs)
    (1, 0, 1)
    """

    measure: str
    bounds: Literal["exact", "outer"]
    """"exact" if completions attain all bounds of runs and pairs, else "outer"."""
    run_bounds: Literal["exact", "outer"]
    """"exact" if completions attain all bounds of runs, else "outer"."""
    n_topics: int
    n_judged: int
    """Number of judgments."""
    n_holes: int
    """Number of unjudged documents, counted per topic, that some run ranks within the cutoff."""
    top_grade: int
    runs: tuple[HolesRun, ...]
    pairs: tuple[HolesPair, ...]
    prior: PriorCheck
    rehearsal: Rehearsal
    """Check of the intervals on runs whose judgments are complete."""
    n_samples: int
    confidence: float
    ask: tuple[Ask, ...] = ()
    seed: int

    def caption(self) -> str:
        """Return sizes, bounds and completions, for captions."""
        drawn = f"; {self.n_samples:,} completions, seed {self.seed}" if self.n_samples else ""
        return (
            f"{self.measure} of {counted(len(self.runs), 'run')} on "
            f"{counted(self.n_topics, 'topic')}; {self.run_bounds} bounds over grades 0 to "
            f"{self.top_grade} of unjudged documents{drawn}; steadyrank {__version__}."
        )

    @property
    def interval_warning(self) -> str:
        """A clause that says why the imputed intervals are unchecked, if they are."""
        if not self.n_samples or self.rehearsal.n_scores:
            return ""
        n = self.n_fully_judged
        why = f"{n} of {FEWEST_RUNS} required runs {by_number(n, 'is', 'are')} fully judged"
        why = "too few documents can be hidden" if n >= FEWEST_RUNS else why
        return f"the imputed intervals are unchecked and may be far too short: {why}"

    @property
    def n_fully_judged(self) -> int:
        """Number of runs without unjudged documents within the cutoff."""
        return sum(row.unjudged_share == 0.0 for row in self.runs)

    @property
    def n_decided(self) -> int:
        """Number of pairs whose order no completion changes."""
        return sum(pair.decided for pair in self.pairs)

    @property
    def leader_pair(self) -> HolesPair | None:
        """The leader and the rival that the fewest grade changes raise to its level or above."""
        leader = max(self.runs, key=lambda row: row.score).run
        found = [
            (pair.fragility.n, abs(pair.difference), place)
            for place, pair in enumerate(self.pairs)
            if pair.fragility and leader in (pair.a, pair.b)
        ]
        return self.pairs[min(found)[-1]] if found else None

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per run, best score first."""
        return [
            {
                **picked(row, "run unjudged_share score lowest highest judged_only imputed"),
                "imputed_low": row.imputed_interval and row.imputed_interval.low,
                "imputed_high": row.imputed_interval and row.imputed_interval.high,
            }
            for row in sorted(self.runs, key=lambda row: -row.score)
        ]


@data_first
def holes(
    runs: Any,
    qrels: Any,
    measure: str | Measure = "nDCG@10",
    *,
    more: Any = None,
    n_samples: int = 1000,
    confidence: float = 0.95,
    ask: int = 0,
    missing: Missing = "zero",
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    reading: Progress | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
    **reading_options: Unpack[ReadingOptions],
) -> HolesResult:
    """Bound and impute the effect of unjudged documents on scores and differences.

    Parameters
    ----------
    runs, qrels : object
        As in `evaluate`.
    measure : str or Measure
        P@k, R@k, AP, nDCG, RR, RBP, ERR, Success@k, nG@1, SetP, SetR, NumRelRet, nERR,
        Q, SetF or SetAP.
    more : object, optional
        Further judgments that are added to `qrels`; both must agree on common documents.
    n_samples : int
        Number of completions drawn from the prior; 0 omits imputation.
    confidence : float
        Level of the imputed intervals.
    ask : int
        Number of documents to list whose judgment would settle most.
    missing : str
        A judged topic that a run lacks scores 0 ("zero"), or is an "error".
    jobs, scheduler, executor : optional
        As in `evaluate`.
    reading, progress : callable, optional
        Called with (finished, total) runs read and blocks of completions.
    rng : int, Generator or None
        Seed of the completions.
    **reading_options : optional
        `name_from`, `duplicates`, `run_info`, `team_from`, `system_from` and `names`, as in
        `read_runs`.

    Returns
    -------
    HolesResult
        For each run the score, its lowest and highest values over all completions, the score over
        judged documents only and the imputed score; for each pair whether its order is decided; and
        the documents to judge next.

    Notes
    -----
    A completion assigns a grade, from 0 to the largest of the judgments, to every unjudged document
    that some run retrieves for a judged topic; documents that no run retrieves are not relevant.
    The bounds are the smallest and the largest mean score, or difference, over all completions.
    Topics without relevant documents score 0. Imputation draws grades for the documents within the
    cutoff from a prior that is first checked on judged documents, and pools the completions by
    Rubin's rules.

    References
    ----------
    - Moffat & Zobel (2008). Rank-biased precision for measurement of retrieval effectiveness. ACM
      TOIS. doi:10.1145/1416950.1416952
    - Barnard & Rubin (1999). Small-sample degrees of freedom with multiple imputation. Biometrika.
      doi:10.1093/biomet/86.4.948
    - Carterette, Allan & Sitaraman (2006). Minimal test collections for retrieval evaluation.
      SIGIR. doi:10.1145/1148170.1148219

    Examples
    --------
    >>> import steadyrank as sr
    >>> qrels = sr.qrels_from_dict({"301": {"d1": 1, "d2": 0}})
    >>> runs = {"old": {"301": {"d1": 2.0, "d2": 1.0}}, "new": {"301": {"d3": 2.0, "d1": 1.0}}}
    >>> result = sr.holes(runs, qrels, measure="P@2", n_samples=0)
    >>> [(row.run, row.score, row.lowest, row.highest) for row in result.runs]
    [('old', 0.5, 0.5, 0.5), ('new', 0.5, 0.5, 1.0)]
    >>> result.pairs[0].lowest, result.pairs[0].highest, result.pairs[0].decided
    (-0.5, 0.0, False)
    """
    seed = seed_from(rng)
    check_count("n_samples", n_samples, least=0)
    check_count("ask", ask, least=0)
    if n_samples == 1:
        raise InputError(
            f"{arg('n_samples')} must be 0 or at least 2: a single completion has no spread"
        )
    check_choice("way to treat missing topics", missing, get_args(Missing))
    check_open_unit("confidence", confidence)
    judged = judgments_of(qrels)
    if more is not None:
        judged = joined_qrels(judged, judgments_of(more))
    if len(judged) == 0:
        raise InputError("the qrels hold no judgments")
    judged = by_document(judged)
    holed = parse_holed(measure, judged.max_grade)
    lists = read_lists(
        runs,
        judged,
        depth=holed.depth,
        missing=missing,
        jobs=jobs,
        scheduler=scheduler,
        executor=executor,
        progress=reading,
        **reading_options,
    )
    rankings = make_rankings(lists, holed.top_grade)
    pairs = all_pairs(len(lists.runs))
    pool, unjudged = make_pool(lists)
    prior, check = check_prior(pool, unjudged, lists, holed.top_grade)
    drawn: Completions | None = None
    rehearsal = Rehearsal()
    if prior is not None and n_samples:
        drawn = draw_completions(
            rankings,
            holed.recipe,
            prior,
            unjudged,
            n_samples=n_samples,
            jobs=jobs,
            progress=progress,
            seed=seed,
        )
        rehearsal = rehearse(lists, holed, confidence=confidence, jobs=jobs, seed=seed)
        drawn = replace(drawn, scale=rehearsal.scale)
    elif n_samples and lists.n_open:
        warn(f"nothing is imputed: the prior was rejected, as {check.failure}", stacklevel=3)
    found = find_bounds(rankings, holed, pairs, jobs=jobs)
    as_judged, no_grades = rankings.judged(), np.empty(0, np.int32)
    scores = as_judged.scores(holed.recipe, no_grades)
    means = scores.mean(axis=1)
    condensed = as_judged.scores(holed.condensed, no_grades)
    fragile = judgment_fragility(rankings, holed, pairs, np.subtract(*means[pairs.T]), jobs=jobs)
    pair_rows = _pair_rows(lists.runs, scores, pairs, found, drawn, fragile)
    result = HolesResult(
        measure=str(holed.measure),
        bounds=_kind(holed.has_exact_runs and bool(found.pair_is_exact.all())),
        run_bounds=_kind(holed.has_exact_runs),
        n_topics=lists.n_topics,
        n_judged=len(judged),
        n_holes=lists.n_open,
        top_grade=holed.top_grade,
        runs=_run_rows(lists, scores, condensed, found, drawn, confidence),
        pairs=pair_rows,
        prior=check,
        rehearsal=rehearsal,
        n_samples=0 if drawn is None else n_samples,
        confidence=confidence,
        ask=_asked(lists, holed, pair_rows, prior, ask) if ask else (),
        seed=seed,
    )
    if result.interval_warning:
        warn(result.interval_warning, stacklevel=3)
    return result


def _kind(is_exact: bool) -> Literal["exact", "outer"]:
    return "exact" if is_exact else "outer"


def _run_rows(
    lists: Lists,
    scores: np.ndarray,
    condensed: np.ndarray,
    bounds: Bounds,
    drawn: Completions | None,
    confidence: float,
) -> tuple[HolesRun, ...]:
    columns: dict[str, Any] = {
        "run": lists.runs,
        "unjudged_share": lists.unjudged_share,
        "score": scores.mean(axis=1),
        "lowest": bounds.lowest,
        "highest": bounds.highest,
        "judged_only": condensed.mean(axis=1),
    }
    if drawn is not None:
        # A widened interval may exceed the bounds of all completions.
        ends = np.clip(drawn.intervals(confidence), bounds.lowest[:, None], bounds.highest[:, None])
        intervals = [Interval(*both) for both in ends.tolist()]
        columns |= {"imputed": drawn.means.mean(axis=0), "imputed_interval": intervals}
    return tuple(HolesRun(**row) for row in rows_of(columns))


def _pair_rows(
    runs: tuple[str, ...],
    scores: np.ndarray,
    pairs: np.ndarray,
    bounds: Bounds,
    drawn: Completions | None,
    fragile: Sequence[JudgmentFragility | None],
) -> tuple[HolesPair, ...]:
    if not len(pairs):
        return ()
    (first, second), means = pairs.T, scores.mean(axis=1)
    low, high = bounds.pair_lowest, bounds.pair_highest
    columns: dict[str, Any] = {
        "a": [runs[run] for run in first],
        "b": [runs[run] for run in second],
        "difference": means[first] - means[second],
        "lowest": low,
        "highest": high,
        "decided": (low > DECIDED) | (high < -DECIDED),
        "bounds": [_kind(is_exact) for is_exact in bounds.pair_is_exact],
        "pvalue": paired_t(scores, pairs).pvalue,
        "fragility": fragile,
    }
    if drawn is not None:
        imputed = drawn.means.mean(axis=0)
        columns["difference_imputed"] = imputed[first] - imputed[second]
        columns |= {"sign_share": drawn.sign_share(pairs), "pvalue_imputed": drawn.pvalues(pairs)}
    return tuple(HolesPair(**row) for row in rows_of(columns))


def _asked(
    lists: Lists, measure: HoledMeasure, pairs: tuple[HolesPair, ...], prior: Prior | None, n: int
) -> tuple[Ask, ...]:
    """Return documents to judge for the pairs that are not settled, or else not decided."""
    is_open = np.array([not pair.decided for pair in pairs], bool)
    share = np.array([0.5 if pair.sign_share is None else pair.sign_share for pair in pairs])
    unsettled = is_open & (share > 1.0 - SURE) & (share < SURE)
    a, b = all_pairs(len(lists.runs))[unsettled if unsettled.any() else is_open].T
    undecided = np.zeros((len(lists.runs), len(lists.runs)), bool)
    undecided[a, b] = undecided[b, a] = True
    # Without a prior, grades are most uncertain.
    reach = np.full((lists.n_open, measure.top_grade), 0.5)
    if prior is not None:
        factor = np.mean([prior.factor(ratio) for ratio in np.linspace(0.005, 0.995, 100)])
        reach = factor * prior.reach(prior.x)
    return documents_to_judge(lists, measure, undecided, reach, n)
