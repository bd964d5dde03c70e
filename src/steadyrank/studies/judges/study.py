"""`judges`: would other judges change it?

For collections judged by language models, and by people on some topics: the ranking by the model's
judgments corrected by people's, with intervals and rank sets; and an audit of the model. Two groups
of people are compared in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack, get_args

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.order import order_by_name
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.runs import ReadingOptions, read_runs
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, arg, check_choice, check_pattern, warn
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import Missing, NoRelevant, Ties
from steadyrank.stats.inputs import check_samples
from steadyrank.stats.judges import agreement, corrected
from steadyrank.stats.judges.agreement import AgreementInterval, Worth
from steadyrank.stats.judges.corrected import About, JudgedScores, RunRanking
from steadyrank.stats.ranks.correlation import bootstrap_tau_interval
from steadyrank.stats.run_means import best_first
from steadyrank.studies import judge_scores as given
from steadyrank.studies.judge_scores import AuditSettings, JudgeInput
from steadyrank.studies.judges.result import (
    Confusion,
    JudgeResult,
    JudgesResult,
    Kin,
    PlanRow,
    TauOfRuns,
    names_of,
    share_of,
)
from steadyrank.words import pvalue_words

DEFAULT_MEASURE = "nDCG@10"

RARE = 0.01
"""Probability below which a warning says that people's topics are not a random sample."""

NOT_FOLLOWED = corrected.Weight(value=0.0, is_estimated=False)


@data_first
def judges(
    runs: Any,
    human: Any,
    judges: Mapping[str, Any] | None = None,
    measure: str | None = None,
    *,
    about: About = "other",
    kin: str | None = None,
    kin_near: bool = False,
    top: int | None = None,
    width: float = 0.1,
    minimum_difference: float = 0.05,
    power: float = 0.8,
    alpha: float = 0.05,
    n_samples: int = 10_000,
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    ties: Ties = "trec_eval",
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
    **reading_options: Unpack[ReadingOptions],
) -> JudgesResult:
    r"""Correct the judgments of language models, or of other judges, by those of people.

    People judge n topics; a judge judges these and N further topics. A run's corrected mean is
    \(\lambda\) times the judge's mean over its further topics plus the mean over people's topics of
    (people's score minus \(\lambda\) times the judge's). One \(\lambda\) is estimated for all runs;
    it is 0 for an uninformative judge. Intervals are valid whatever the judge's errors are: a
    better judge makes them narrower.

    Parameters
    ----------
    runs : object
        As `evaluate` takes them; or the `Scores` of runs by people.
    human : object
        People's judgments, as `evaluate` takes them; or, with `Scores`, `{name: Scores}` of the
        judges.
    judges : mapping, optional
        `{name: judgments}`. A judge must have judged all topics that people did.
    measure : str, optional
        By default nDCG@10, or the only measure of `Scores`.
    about : str
        "other": other topics from the same population. "these": the topics that the judges judged,
        of which people judged a sample.
    kin : str, optional
        Regular expression: runs whose names match were made with the same kind of model as the
        judge.
    kin_near : bool
        Compare kin only with runs whose mean by people is within the range of the kin's.
    top : int, optional
        Also report tau of this many of the best runs by people.
    width : float
        Width of a difference's interval that is planned for.
    minimum_difference : float
        Difference that a planned test is to find.
    power : float
        Power of the planned test.
    alpha : float
        Error rate of each ranking's family of all pairs; intervals have level 1 - alpha.
    n_samples : int
        Number of sign flips.
    missing, no_relevant, ties : str
        As in `evaluate`.
    jobs, scheduler, progress : optional
        As in `evaluate`.
    rng : int, Generator or None
        Seed.
    **reading_options : optional
        `name_from`, `duplicates`, `run_info`, `team_from`, `system_from` and `names`, as in
        `read_runs`.

    Returns
    -------
    JudgesResult
        `of(name)` has a judge's corrected ranking, its ranking alone, its audit and its worth;
        `human` the ranking by people alone.

    Notes
    -----
    People's topics are assumed to be a random sample of all topics; a warning says where the
    judge's scores contradict this. About "these" T topics, the estimate is \(\lambda\) times the
    judge's mean over all of them plus the mean over people's topics of (people's score minus
    \(\lambda\) times the judge's), with the variance of a sample without replacement and n - 2
    degrees of freedom; several judges share the topics that all of them judged. The ranking by the
    judge alone, its worth by correlation and the plan are about other topics.

    The correction requires judgments by people. It does not repair a measure, and it says nothing
    about documents that nobody judged. Topics on which some run has no score are left out.

    References
    ----------
    - Angelopoulos, Duchi & Zrnic (2023). PPI++: efficient prediction-powered inference.
      arXiv:2311.01453
    - Mogstad, Romano, Shaikh & Wilhelm (2024). Inference for ranks with applications to mobility
      across neighbourhoods and academic achievement across countries. Review of Economic Studies.
      doi:10.1093/restud/rdad006

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=4, runs_per_team=1, n_topics=40, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP")
    >>> people = scores.select(topics=scores.topics[::4])
    >>> result = sr.judges(people, {"copy": scores}, n_samples=500)
    >>> round(result.of("copy").worth.correlation, 3), result.of("copy").n_judge_topics
    (1.0, 30)
    """
    seed = seed_from(rng)
    check_choice("population", about, get_args(About))
    check_samples(n_samples)
    settings = AuditSettings(
        kin=kin,
        kin_near=kin_near,
        top=top,
        width=width,
        minimum_difference=minimum_difference,
        power=power,
        alpha=alpha,
    )
    people: Qrels | None = None
    if isinstance(runs, Scores):
        if judges is not None or not isinstance(human, Mapping):
            raise InputError("with scores of people, give a mapping of names to judges' scores")
        scores, inputs = given.scores_of_judges(runs, human, measure)
    else:
        if not isinstance(judges, Mapping) or not judges:
            raise InputError('no judge was given: give judges={"name": judgments}')
        scores, people, inputs = given.evaluate_judges(
            read_runs(runs, **reading_options),
            human,
            judges,
            measure=measure or DEFAULT_MEASURE,
            missing=missing,
            no_relevant=no_relevant,
            ties=ties,
            jobs=jobs,
            scheduler=scheduler,
            progress=progress,
        )
    return judge_scores(
        scores,
        inputs,
        settings,
        about=about,
        people=people,
        n_samples=n_samples,
        jobs=jobs,
        seed=seed,
    )


def judge_scores(
    human: Scores,
    inputs: list[JudgeInput],
    settings: AuditSettings,
    *,
    about: About = "other",
    people: Qrels | None,
    n_samples: int,
    jobs: int | None,
    seed: int,
) -> JudgesResult:
    """Return the result from the scores of one measure by people and by each judge."""
    given.check_runs(human, inputs, settings)
    topics, n_dropped = given.complete_topics(human, inputs)
    runs = tuple(human.runs[r] for r in order_by_name(human.runs))
    options: Any = {"alpha": settings.alpha, "n_samples": n_samples, "seed": seed, "jobs": jobs}
    shared, population = given.shared_topics(inputs) if about == "these" else None, None
    every = [given.aligned(human, judge, topics, shared) for judge in inputs]
    if about == "these":
        population = every[0].scores.n + every[0].scores.n_more
        if not every[0].scores.n_more:
            raise InputError(
                "people judged all topics that the judges judged, so about these nothing is left "
                f"to estimate: choose {arg('about', 'other')}"
            )
    by_people = human.select(runs=runs, topics=topics).values[0]
    ranking = _plain_ranking(by_people, population, **options)
    results = []
    for judge, data in zip(inputs, every, strict=True):
        confusion = None
        if people is not None and judge.qrels is not None:
            confusion = confusion_of(judge.name, people, judge.qrels, topics, settings.confidence)
        results.append(
            JudgeResult(
                judge=judge.name,
                n_judge_topics=data.scores.n_more,
                n_dropped=data.n_dropped,
                confusion=confusion,
                **audited(judge.name, data.scores, runs, settings, seed=seed, jobs=jobs),
                **_on_human_topics(data.scores, ranking, population, **options),
                **_corrected(data.scores, ranking, data.places, about, **options),
            )
        )
    return JudgesResult(
        measure=human.measures[0],
        alpha=settings.alpha,
        population=population,
        runs=runs,
        topics=topics,
        n_dropped=n_dropped,
        human=ranking,
        judges=tuple(results),
        power=settings.power,
        n_samples=n_samples,
        seed=seed,
    )


def _plain_ranking(scores: np.ndarray, population: int | None = None, **options: Any) -> RunRanking:
    """Return the ranking by judgments without correction, for a finite population if given."""
    nothing = scores[:, :0]
    parts = corrected.CorrectedParts(residual=scores, followed=nothing, weight=NOT_FOLLOWED)
    if population is not None:
        more = np.zeros((len(scores), population - scores.shape[1]))
        plain = JudgedScores(human=scores, judge=scores, more=more)
        parts = corrected.parts_of_these(plain, NOT_FOLLOWED)
    return corrected.rank_runs(parts, places=np.arange(scores.shape[1]), **options)


def _on_human_topics(
    scores: JudgedScores, human: RunRanking, population: int | None, **options: Any
) -> dict[str, Any]:
    """Compare the judge's decisions on people's topics with people's."""
    ranking = _plain_ranking(scores.judge, population, **options)
    return {
        "on_human_topics": ranking,
        "unconfirmed_share": share_of(human.claimed != ranking.claimed, ranking.significant),
        "opposite_share": share_of(
            np.sign(human.difference) == -np.sign(ranking.difference), ranking.significant
        ),
    }


def _corrected(
    scores: JudgedScores, human: RunRanking, places: np.ndarray, about: About, **options: Any
) -> dict[str, Any]:
    """Return the rankings by the judge alone and corrected, and how their decisions differ."""
    weight = corrected.shared_weight(scores, about)
    parts = (corrected.corrected_parts if about == "other" else corrected.parts_of_these)(
        scores, weight
    )
    # Topics are in the order of their names, whoever judged them.
    alone = _plain_ranking(scores.everything[:, np.argsort(places)], **options)
    after = corrected.rank_runs(parts, places=places, **options)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = after.half_width / human.half_width
    known = ratio[np.isfinite(ratio)]
    return {
        "weight": weight,
        "alone": alone,
        "corrected": after,
        "lost_share": share_of(after.claimed != alone.claimed, alone.significant),
        "reversed_share": share_of(
            np.sign(after.difference) == -np.sign(alone.difference), alone.significant
        ),
        "width_ratio": float(np.median(known)) if known.size else float("nan"),
        "n_wider": int((known > 1.0).sum()),
        "largest_width_ratio": float(known.max(initial=0.0)) if known.size else float("nan"),
    }


def confusion_of(
    judge: str, people: Qrels, judged: Qrels, topics: tuple[str, ...], confidence: float
) -> Confusion:
    """Return counts of the grades of documents judged by both, and coefficients of agreement."""
    grades = []
    for topic in topics:
        mine, theirs = people.judgments(topic), judged.judgments(topic)
        shared = [document for document in mine if document in theirs]
        grades.append(np.array([[by[name] for name in shared] for by in (mine, theirs)], int))
    levels = np.unique(np.concatenate([both.ravel() for both in grades]))
    counts = np.stack([agreement.confusion_counts(both[0], both[1], levels) for both in grades])
    is_relevant = [both > 0 for both in grades]
    binary = np.array([False, True])
    relevant = np.stack(
        [agreement.confusion_counts(both[0], both[1], binary) for both in is_relevant]
    )
    same_scale = people.max_grade == judged.max_grade
    if not same_scale:
        warn(
            f"judge {judge} grades up to {judged.max_grade}, people up to {people.max_grade}: the "
            "scales differ, so coefficients of grades are omitted"
        )
    coefficients: dict[str, AgreementInterval | None] = dict.fromkeys(agreement.COEFFICIENTS)
    if same_scale:
        for name, coefficient in agreement.COEFFICIENTS.items():
            coefficients[name] = agreement.agreement_over_topics(
                counts, coefficient, confidence=confidence
            )
    coefficients["kappa_relevant"] = agreement.agreement_over_topics(
        relevant, agreement.kappa_of_counts, confidence=confidence
    )
    return Confusion(
        grades=tuple(levels.tolist()),
        counts=counts.sum(axis=0),
        n_documents=int(counts.sum()),
        same_scale=same_scale,
        coefficients=coefficients,
    )


def audited(
    judge: str,
    scores: JudgedScores,
    runs: tuple[str, ...],
    settings: AuditSettings,
    *,
    seed: int,
    jobs: int | None,
) -> dict[str, Any]:
    """Compare a judge's scores with people's; return fields of `JudgeResult`."""
    if not np.ptp(scores.everything, axis=0).any():
        warn(
            f"judge {judge} gives all runs the same score on every topic: people's judgments "
            "are used alone"
        )
    own, others = scores.judge.mean(axis=0), scores.more.mean(axis=0)
    pvalue = agreement.welch_pvalue(own, others)
    if pvalue < RARE:
        warn(
            f"by judge {judge}, runs score {own.mean():.3f} on the topics that people judged and "
            f"{others.mean():.3f} on the others ({pvalue_words(pvalue)}): people's topics do not "
            "look like a random sample, without which the correction is not valid"
        )
    worth = agreement.worth_of(scores.human, scores.judge, confidence=settings.confidence)
    return {
        "taus": taus_of(scores, settings.top, confidence=settings.confidence, seed=seed, jobs=jobs),
        "bias": agreement.bias_of_runs(scores.human, scores.judge, confidence=settings.confidence),
        "worth": worth,
        "kin": None if settings.kin is None else kin_of(scores, runs, settings),
        "plan": plan_of(worth, scores.n + scores.n_more, settings),
        "pvalue_of_sample": pvalue,
    }


def taus_of(
    scores: JudgedScores, top: int | None, *, confidence: float, seed: int, jobs: int | None
) -> tuple[TauOfRuns, ...]:
    """Return tau and tau_AP of the runs' means by people and judge: all, best half, best `top`."""
    order, n_runs = best_first(scores.human.mean(axis=1)), len(scores.human)
    chosen = {"all": n_runs, "best half": (n_runs + 1) // 2}
    if top is not None:
        chosen[f"best {top}"] = top
    options: Any = {"confidence": confidence, "seed": seed, "jobs": jobs}
    taus = []
    for words, size in chosen.items():
        rows = np.sort(order[:size])
        both = scores.judge[rows], scores.human[rows]
        tau, tau_ap = (
            bootstrap_tau_interval(*both, coefficient=coefficient, **options)
            for coefficient in ("tau", "tau_ap")
        )
        taus.append(TauOfRuns(runs=words, tau=tau, tau_ap=tau_ap))
    return tuple(taus)


def kin_of(scores: JudgedScores, runs: tuple[str, ...], settings: AuditSettings) -> Kin:
    """Test whether a judge favours the runs that match, against others or those about as good."""
    pattern = settings.kin or ""
    found = check_pattern("kin", pattern)
    kin = np.array([found.search(run) is not None for run in runs])
    if not kin.any() or kin.all():
        raise InputError(
            f"kin {pattern!r} matches {'all' if kin.all() else 'none'} of the {len(runs)} runs: "
            "it must match some of them"
        )
    others = ~kin
    if settings.kin_near:
        means = scores.human.mean(axis=1)
        others &= (means >= means[kin].min()) & (means <= means[kin].max())
        if not others.any():
            raise InputError(
                f"no other run has a mean within the range of those that match kin {pattern!r}: "
                f"omit {arg('kin_near')}"
            )
    return Kin(
        pattern=pattern,
        runs=tuple(names_of(runs, kin)),
        others=tuple(names_of(runs, others)),
        near=settings.kin_near,
        test=agreement.favours_kin(
            scores.human,
            scores.judge,
            np.flatnonzero(kin),
            np.flatnonzero(others),
            confidence=settings.confidence,
        ),
    )


def plan_of(worth: Worth, n_judged: int, settings: AuditSettings) -> tuple[PlanRow, ...]:
    """Return the topics of people for an interval of this width, and for a test of this power."""
    width, difference = settings.width, settings.minimum_difference
    options: Any = {"alpha": settings.alpha, "power": settings.power, "n_judged": n_judged}
    for_power = agreement.topics_for_power(worth, difference, **options)
    for_width = agreement.topics_for_width(
        worth, width, n_judged=n_judged, confidence=settings.confidence
    )
    return (
        PlanRow(goal="width", value=width, topics=for_width),
        PlanRow(goal="difference", value=difference, topics=for_power),
    )
