"""`compare`: which runs are significantly better than which, and by how much.

For every author before a submission: paired tests of all pairs of runs, or of all runs against a
baseline, corrected for their number; and, from the same decisions, intervals, groups of
statistically indistinguishable runs and the possible ranks of each run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.facets import FACETS, averaged_facets, facet_cube, facets_of
from steadyrank.data.levels import is_uneven
from steadyrank.data.order import scores_in_order
from steadyrank.data.read.run_info import describe_topics, run_called
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import Scores, of_some_weight, position
from steadyrank.errors import (
    InputError,
    arg,
    bad_value,
    check_choice,
    check_count,
    check_number,
    unknown_column,
    unknown_name,
    warn,
)
from steadyrank.guesses import SAME_VALUES
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import scores_of
from steadyrank.measures.names import Measure
from steadyrank.stats.instances.mixed_tests import has_instances
from steadyrank.stats.instances.systems import systems_of, warn_about_structure
from steadyrank.studies.compare.correcting import CompareSettings
from steadyrank.studies.compare.result import (
    CompareResult,
    CompareTable,
    Correction,
    Mode,
    Test,
    with_sign_of_file,
)
from steadyrank.studies.compare.testing import (
    compared,
    fixes_judges,
    rows_of,
    topic_design,
    with_segments,
)
from steadyrank.studies.compare.wording import CLUSTERED_TESTS

ROWS = ("run", "system")
"""Kinds of rows; `by` may also name a column of the topics' information."""


@data_first
def compare(
    scores: Any,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    measure: str | None = None,
    test: Test = "t",
    correction: Correction | None = None,
    alpha: float = 0.05,
    baseline: str | None = None,
    by: str | None = None,
    fixed: str | Sequence[str] = (),
    topic_info: PathLike | None = None,
    cluster_from: str | None = None,
    mode: Mode = "sound",
    n_samples: int = 10_000,
    jobs: int | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
) -> CompareResult | CompareTable:
    """Test all pairs of runs, or all runs against a `baseline`, on one measure or several.

    Marks, intervals and letters come from one family of decisions about all pairs. Rank sets, tiers
    and the runs that could be first come from each run's own comparisons, which contain those
    decisions. A rank set holds for its run alone: the leader's set may be [1, 1] while the set of
    another run begins at 1. The tests are about other topics from the same population, not other
    documents, judgments or runs.

    Parameters
    ----------
    scores, qrels : Scores, or runs and judgments
        Runs and judgments as `evaluate` takes them.
    measures : str, Measure or iterable of them, optional
        Compare on these; by default all measures of the scores, or for runs AP, and nDCG@10 where
        judgments are graded.
    measure : str, optional
        Compare on this measure alone.
    test : str
        "t" (paired t, corrected for skewness by "maxt", Student's with any other correction and
        with mode "paper"), "wilcoxon" (signed ranks), "sign", "randomization" (Fisher's sign
        flips), "bootstrap" (studentized; Jayasinghe et al. 2015, Algorithm 1), "tukey" (HSD on the
        two-way layout runs + topics) or "randomized-tukey"; "welch" is not paired, for runs that
        were measured on different topics. Systems with several runs are compared by "mixed", a
        model with random topics and instances.
    correction : str, optional
        "maxt" (studentized sign flips of all pairs together, stepdown; for the t test), "holm",
        "bonferroni", "bh" or "none". By default "maxt" for t tests, "none" for the Tukey tests,
        which are simultaneous without a correction, and "holm" for the others.
    alpha : float
        Error rate of each measure's family of comparisons.
    baseline : str, optional
        Compare every run with this one only.
    by : str, optional
        "system" gives one row per system, whose runs (`run_info["system"]`) are its instances;
        "run" one row per run. By default "system" where a system has several runs. Any other name
        is a column of the topics' information: the runs are also compared in each of its segments.
    fixed : str or sequence of str
        "judge" makes tests about these judges alone. By default three or more judges
        (`run_info["judge"]`) are a sample of judges, and fewer are fixed.
    topic_info : path, optional
        A CSV with a column `topic` and any of `cluster`, `weight` and segments; it takes precedence
        over `Scores.topic_info`.
    cluster_from : str, optional
        A regular expression; a topic's cluster is its first group, searched in the topic's name.
    mode : str
        "paper" gives resampling p-values as count / B and recentres the bootstrap by the mean of
        its means; "sound" as (1 + count) / (1 + B) and by the sample mean.
    n_samples : int
        Number of samples of the resampling tests and of the max-t correction.
    jobs : int, optional
        Threads.
    progress : callable, optional
        Called with (finished, total) blocks of sign patterns of the max-t correction.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    CompareResult or CompareTable
        For one measure a `CompareResult`: a row per pair with difference, interval, p-value before
        and after correction and effect size, and per run its rank set and letters. For several
        measures a `CompareTable` of such results.

    Notes
    -----
    Where scores are missing, runs are ranked by least-squares means of the model run + topic, and
    every two runs are compared on the topics that both have. A test in favour of the run with
    the lower mean is not counted as a decision. For scores of 0 and 1, as those of Success@k, the
    test "sign" is McNemar's exact test.

    With d the differences of two runs on n topics, the t test compares t = mean(d) sqrt(n) / sd(d)
    with Student's distribution on n - 1 degrees of freedom. Max-t flips the sign of whole topics,
    the same for all runs, after centring each run, and compares every |t| with the distribution of
    the largest one, stepdown. Variances then have a floor, four topics on which two runs differ as
    the most alike tenth of all pairs do, and |t| is corrected for a skewness against the claim that
    is two standard errors worse than the sample's. Two runs alone have the same correction, no
    floor, and Student's distribution.

    Where topics have clusters (variations of one need, turns of one session), variances are
    cluster-robust (CR1, or CR2 with Bell and McCaffrey's degrees of freedom where clusters are few
    or unequal), and sign flips and bootstrap draw whole clusters. Where topics have weights, means
    and differences are weighted. The test is then "t", "randomization" or "bootstrap".

    Grades by several judges are fitted by least squares with a level per system and judge and an
    effect per topic, so that judges need not have graded the same answers. Three or more judges are
    a sample, and their contribution to the variance of a difference is estimated from all systems.

    With segments, the result's `segments` has the comparisons in each of them, all corrected as one
    family (by Holm unless another correction than "maxt" is named), and the test whether the runs'
    leads depend on the segment.

    References
    ----------
    - Carterette (2012). Multiple testing in statistical analysis of systems-based information
      retrieval experiments. ACM TOIS. doi:10.1145/2094072.2094076
    - Romano & Wolf (2005). Exact and approximate stepdown methods for multiple hypothesis testing.
      JASA. doi:10.1198/016214504000000539
    - Mogstad, Romano, Shaikh & Wilhelm (2024). Inference for ranks with applications to mobility
      across neighbourhoods and academic achievement across countries. Review of Economic Studies.
      doi:10.1093/restud/rdad006

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    >>> result = sr.compare(scores)
    >>> len(result.pairs), result.correction, result.rank_set.tolist()
    (3, 'maxt', [[1, 1], [2, 3], [2, 3]])
    """
    asked = measures if measure is None else str(measure)
    scores = scores_of(scores, qrels, asked, jobs=jobs, has_facets=True)
    settings = CompareSettings(
        test=SAME_VALUES["--test"].get(test, test),  # type: ignore[arg-type]
        correction=correction,
        alpha=alpha,
        baseline=run_called(baseline, scores),
        mode=mode,
        fixed=(fixed,) if isinstance(fixed, str) else tuple(fixed),
        n_samples=n_samples,
        jobs=jobs,
        seed=seed_from(rng),
        progress=progress,
    )
    scores = scores.ranked() if asked is None else scores
    scores = describe_topics(scores, topic_info=topic_info, cluster_from=cluster_from)
    results = compare_each(scores, settings, by=by)
    return results[0] if len(results) == 1 else CompareTable(results=results)


def compare_each(
    scores: Scores, settings: CompareSettings, *, by: str | None = None
) -> tuple[CompareResult, ...]:
    """Return one result per measure of the scores."""
    return tuple(
        with_sign_of_file(result) if scores.lower_is_better(result.measure) else result
        for result in _compared(scores.oriented(), settings, by)
    )


def _compared(
    scores: Scores, settings: CompareSettings, by: str | None
) -> tuple[CompareResult, ...]:
    """Return one result per measure of scores where higher is better."""
    column = None if by in (None, *ROWS) else by
    if column is not None and column not in scores.topic_info:
        raise unknown_column(column, "topic information", scores.topic_info, instead=ROWS)
    rows = by if column is None else "run"
    scores = of_some_weight(scores)
    scores, settings = _graded(scores, rows, column, settings)
    is_by_system = rows == "system" or (rows is None and has_instances(scores))
    groups = systems_of(scores) if is_by_system and not facets_of(scores) else None
    if settings.test == "mixed" and facets_of(scores):
        pass  # judges are random
    elif groups is not None:
        settings = _by_model(settings, "systems with several runs have instances", arg("by", "run"))
        remedy = "then use instances, which takes them as instance factors"
        warn_about_structure(scores, groups, remedy=remedy)
    elif settings.test == "mixed":
        raise InputError("test mixed compares systems with several runs, not runs: use test t")
    _check(scores, rows_of(scores, groups), settings)
    if not topic_design(scores).is_plain:
        has_gaps = bool(np.isnan(scores.values).any())
        by_model = settings.test == "mixed"
        _check_clustered(settings, is_by_system=by_model, has_gaps=has_gaps)
    scores = scores_in_order(scores)
    results = compared(scores, scores.measures, settings, groups)
    if column is None:
        return tuple(results)
    return tuple(with_segments(result, scores, column, settings) for result in results)


def _graded(
    scores: Scores, rows: str | None, column: str | None, settings: CompareSettings
) -> tuple[Scores, CompareSettings]:
    """Return scores with their judges if these are several, else means, and the test for these."""
    for name in settings.fixed:
        check_choice("facet that can be fixed", name, ("judge",))
    facets = facets_of(scores)
    cubes = [facet_cube(scores, measure) for measure in scores.measures if "judge" in facets]
    n_judges = sorted(len(cube.judges) for cube in cubes) or [1]
    if rows == "run" and column is None:
        # As requested, one row per run, whoever judged it.
        kept = {name: own for name, own in scores.run_info.items() if name not in FACETS}
        return replace(scores, run_info=kept), settings
    if n_judges[-1] < 2:
        if settings.fixed:
            raise InputError(
                f"{arg('fixed', 'judge')} requires at least two judges; these scores have one"
            )
        is_known = "judge" in facets and settings.test != "mixed" and column is None
        return (scores if is_known else averaged_facets(scores)), settings
    is_fixed = fixes_judges(n_judges[0], settings)
    if settings.test == "mixed" and (is_fixed or column is not None):
        raise InputError("test mixed treats judges as a sample: omit fixed, or use test t")
    if column is not None:
        if not is_fixed:
            warn("segments are compared by these judges alone, not by a sample of judges")
        return averaged_facets(scores), settings
    if not is_fixed:
        fixed = arg("fixed", "judge")
        return scores, _by_model(settings, "three or more judges are a sample", fixed)
    settings = replace(settings, fixed=("judge",))
    if topic_design(scores).is_plain and any(is_uneven(cube.cells) for cube in cubes):
        return scores, _by_model(settings, "judges graded different answers", "complete grades")
    return scores, settings


def _by_model(settings: CompareSettings, why: str, instead: str) -> CompareSettings:
    """Return the settings with the mixed model, the one test that is valid there."""
    if settings.test not in ("t", "mixed"):
        raise InputError(
            f"test {settings.test} compares runs: {why}, which require test mixed; or use {instead}"
        )
    if settings.correction == "maxt":
        raise InputError(f"{why}, which correction maxt does not support: use {instead}")
    return replace(settings, test="mixed")


def _check(scores: Scores, names: tuple[str, ...], settings: CompareSettings) -> None:
    """Raise an error where a setting, or a combination of them, is not possible."""
    for what, value, choices in (
        ("test", settings.test, get_args(Test)),
        ("correction", settings.correction, (None, *get_args(Correction))),
        ("mode", settings.mode, get_args(Mode)),
    ):
        if value not in choices:
            raise unknown_name(what, str(value), [choice for choice in choices if choice])
    if not 0 < check_number("alpha", settings.alpha) < 1:
        raise bad_value("alpha", "be a number between 0 and 1", settings.alpha)
    check_count("n_samples", settings.n_samples)
    if settings.correction == "maxt" and settings.test not in ("t", "mixed"):
        raise InputError(
            "correction maxt flips the signs of paired t statistics: use test t, or "
            f"correction holm with test {settings.test}"
        )
    if len(names) < 2:
        raise InputError("a comparison requires at least two runs")
    if settings.baseline is not None:
        position(settings.baseline, names, "run")


def _check_clustered(settings: CompareSettings, *, is_by_system: bool, has_gaps: bool) -> None:
    """Raise an error for methods that require independent topics of equal weight."""
    what = "clustered or weighted topics"
    if is_by_system:
        raise InputError(
            "systems with several runs or judges are compared by a mixed model, which has no "
            f"{what}: compare run by run with {arg('by', 'run')}, or with fixed judges"
        )
    if settings.test not in CLUSTERED_TESTS:
        raise InputError(
            f"test {settings.test} has no {what}: choose from {', '.join(CLUSTERED_TESTS)}"
        )
    if settings.mode == "paper":
        raise InputError(f"mode paper resamples single topics and does not support {what}: omit it")
    if has_gaps and (settings.test != "t" or settings.correction == "maxt"):
        which = "correction maxt" if settings.test == "t" else f"test {settings.test}"
        raise InputError(
            f"{which} of {what} requires a score of every run on every topic: use test t with "
            f"correction holm, or {arg('missing', 'zero')}"
        )
