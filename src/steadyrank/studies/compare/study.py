"""`compare`: who beats whom, how surely, by how much.

For every author before a submission: paired tests of all pairs of runs, or of all runs
against a baseline, corrected for their number; and, from the same decisions, intervals, groups of
statistically indistinguishable runs and the ranks that each run may have.
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
from steadyrank.data.read.run_info import describe_topics
from steadyrank.data.read.run_names import run_called
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
from steadyrank.measures.names import Measure
from steadyrank.measures.scored import scores_of
from steadyrank.stats.instances.mixed_tests import has_instances
from steadyrank.stats.instances.systems import Groups, systems_of, warn_about_structure
from steadyrank.studies.compare.correcting import CompareSettings
from steadyrank.studies.compare.orientation import with_sign_of_file
from steadyrank.studies.compare.result import (
    Alternative,
    CompareResult,
    CompareTable,
    Correction,
    Mode,
    Test,
)
from steadyrank.studies.compare.testing import (
    check_segments,
    compared,
    fixes_judges,
    rows_of,
    topic_design,
    with_segments,
)

CLUSTERED_TESTS = ("t", "randomization", "bootstrap")
"""Those that clustered or weighted topics have."""

ROWS = ("run", "system")
"""What a row of the table may be; `by` may also name a column of the topics' information."""


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
    alternative: Alternative = "two-sided",
    mode: Mode = "sound",
    n_samples: int = 10_000,
    jobs: int | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
) -> CompareResult | CompareTable:
    """Test all pairs of runs, or all runs against a `baseline`, on one measure or several.

    Marks, intervals and letters come from one family of decisions about all pairs. Rank sets, tiers
    and the runs that could be first come from each run's own comparisons, which contain those
    decisions. The tests are about other topics from the same population, not other documents,
    judgments or runs.

    Parameters
    ----------
    scores, qrels : Scores, or runs and judgments
        Runs and judgments as `evaluate` takes them.
    measures : str, Measure or iterable of them, optional
        Compare on these; all of the scores by default, or of runs AP, nDCG@10 where judgments are
        graded. Of several measures the result is a `CompareTable`.
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
        which are simultaneous by themselves, else "holm".
    alpha : float
        Error rate of each measure's family of comparisons.
    baseline : str, optional
        Compare every run with this one only.
    by : str, optional
        "system" has one row per system, the runs of one (`run_info["system"]`) being its instances;
        "run" one row per run. By default "system" where a system has several runs. Any other name
        is a column of the topics' information: the runs are also compared in each of its segments.
    fixed : str or sequence of str
        "judge" makes tests about these judges alone. By default three or more judges, of scores
        that have some (`run_info["judge"]`), are a sample of judges, and fewer are fixed.
    topic_info : path, optional
        What is known about the topics: a CSV with a column `topic` and any of `cluster`, `weight`
        and segments; beside `Scores.topic_info`, over which it takes precedence.
    cluster_from : str, optional
        A regular expression; a topic's cluster is its first group, searched in the topic's name.
    alternative : str
        "greater" makes the bootstrap one-sided, first run above second, as its paper lists it.
    mode : str
        "paper" gives resampling p-values as count / B and recentres the bootstrap by the mean of
        its means; "sound" as (1 + count) / (1 + B) and by the sample mean.
    n_samples : int
        Of the resampling tests and of the max-t correction.
    jobs : int, optional
        Threads.
    progress : callable, optional
        Is given (finished, total) blocks of sign patterns of the max-t correction.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    CompareResult or CompareTable
        Of one measure a `CompareResult`: a row per pair with difference, interval, p-value before
        and after correction and effect size, and per run its rank set and letters. Of several
        measures a `CompareTable` of them.

    Notes
    -----
    Where scores are missing, runs are ranked by least-squares means of the model run + topic, and
    every two runs are compared on the topics that both have. A test in favour of the run with
    the lower mean is not counted as a decision. Where all scores are 0 or 1, as those of Success@k,
    `binary` has McNemar's exact test and Wilson's and Tango's intervals, beside the requested test.

    With d the differences of two runs on n topics, the t test compares t = mean(d) sqrt(n) / sd(d)
    with Student's distribution on n - 1 degrees of freedom. Max-t flips the sign of whole topics,
    the same for all runs, after centring each run, and compares every |t| with the distribution of
    the largest one, stepdown. Variances then have a floor, four topics on which two runs differ as
    the most alike tenth of all pairs do, and |t| is corrected for a skewness against the claim that
    is two standard errors worse than the sample's. Two runs alone have the same correction, no
    floor, and Student's distribution.

    Where topics have clusters (variations of one need, turns of one session), these are what was
    drawn: variances are cluster-robust (CR1, or CR2 with Bell and McCaffrey's degrees of freedom
    where clusters are few or unequal), and sign flips and bootstrap draw whole clusters. Where
    topics have weights, means and differences are weighted. Tests are then "t", "randomization" or
    "bootstrap".

    Grades by several judges are levels of systems by judge and effects of topics, by least squares
    over all of them, so that judges need not have graded the same answers. Three or more judges are
    a sample, and what they add to the variance of a difference is learned from all systems.

    With segments, the result's `segments` has the comparisons in each of them, which are corrected
    together, all pairs in all segments as one family (by Holm unless another correction than
    "maxt" is named), and the test whether the runs' leads depend on the segment.

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
        alternative=alternative,
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
    """One result per measure of the scores."""
    lower = [scores.lower_is_better(measure) for measure in scores.measures]
    results = _compared(scores.oriented(), settings, by)
    return tuple(
        with_sign_of_file(result) if is_lower else result
        for result, is_lower in zip(results, lower, strict=True)
    )


def _compared(
    scores: Scores, settings: CompareSettings, by: str | None
) -> tuple[CompareResult, ...]:
    """Return one result per measure of scores where higher is better."""
    rows, column = _rows_and_segments(scores, by)
    scores = of_some_weight(scores)
    scores, settings = _graded(scores, rows, column, settings)
    groups = None if facets_of(scores) else _systems(scores, rows)
    if settings.test == "mixed" and facets_of(scores):
        pass  # the judges are what is random
    elif groups is not None:
        settings = _by_model(settings, "systems with several runs have instances", 'by="run"')
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
    check_segments(settings)
    return tuple(with_segments(result, scores, column, settings) for result in results)


def _rows_and_segments(scores: Scores, by: str | None) -> tuple[str | None, str | None]:
    """What a row is, and the column of the topics that cuts them into segments; None for either."""
    if by in (None, *ROWS):
        return by, None
    if by not in scores.topic_info:
        raise unknown_column(str(by), "topic information", scores.topic_info, instead=ROWS)
    return "run", by


def _graded(
    scores: Scores, rows: str | None, column: str | None, settings: CompareSettings
) -> tuple[Scores, CompareSettings]:
    """Scores with judges, if there are several; means over answers and a single judge else.

    Where the judges are a sample, the test is the one that holds for them.
    """
    for name in settings.fixed:
        check_choice("facet that can be fixed", name, ("judge",))
    facets = facets_of(scores)
    cubes = [facet_cube(scores, measure) for measure in scores.measures if "judge" in facets]
    n_judges = sorted(len(cube.judges) for cube in cubes) or [1]
    if rows == "run" and column is None:
        # Every run by itself, whoever judged it, as asked.
        kept = {name: own for name, own in scores.run_info.items() if name not in FACETS}
        return replace(scores, run_info=kept), settings
    if n_judges[-1] < 2:
        if settings.fixed:
            raise InputError("the scores have no several judges to be fixed: omit fixed")
        is_known = "judge" in facets and settings.test != "mixed" and column is None
        return (scores if is_known else averaged_facets(scores)), settings
    is_fixed = fixes_judges(n_judges[0], settings)
    if settings.test == "mixed" and (is_fixed or column is not None):
        raise InputError("test mixed takes judges as a sample: omit fixed, or use test t")
    if column is not None:
        if not is_fixed:
            warn("segments are compared for these judges alone, not for others like them")
        return averaged_facets(scores), settings
    if not is_fixed:
        return scores, _by_model(settings, "three or more judges are a sample", 'fixed="judge"')
    settings = replace(settings, fixed=("judge",))
    if topic_design(scores).is_plain and any(is_uneven(cube.cells) for cube in cubes):
        return scores, _by_model(settings, "judges graded different answers", "complete grades")
    return scores, settings


def _systems(scores: Scores, rows: str | None) -> Groups | None:
    """The systems and their runs; None where rows are runs."""
    is_by_system = rows == "system" or (rows is None and has_instances(scores))
    return systems_of(scores) if is_by_system else None


def _by_model(settings: CompareSettings, why: str, instead: str) -> CompareSettings:
    """The settings with the mixed model, which is the one test that holds there."""
    if settings.test not in ("t", "mixed"):
        raise InputError(
            f"test {settings.test} compares runs: {why}, compared by a mixed model (test mixed); "
            f"or take {instead}"
        )
    if settings.correction == "maxt":
        raise InputError(f"{why}, and have no correction maxt: take {instead}")
    return replace(settings, test="mixed")


def _check(scores: Scores, names: tuple[str, ...], settings: CompareSettings) -> None:
    """Validate everything."""
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
    _check_test(settings)
    if len(names) < 2:
        raise InputError("a comparison requires at least two runs")
    if settings.baseline is not None:
        position(settings.baseline, names, "run")


def _check_test(settings: CompareSettings) -> None:
    """Refuse what does not go with the test."""
    test = settings.test
    if settings.correction == "maxt" and test not in ("t", "mixed"):
        raise InputError(
            "correction maxt flips the signs of paired t statistics: use test t, or "
            f"correction holm with test {test}"
        )
    if settings.alternative != "two-sided" and (
        settings.alternative != "greater" or test != "bootstrap"
    ):
        raise InputError(
            f"alternative {settings.alternative!r}: only the bootstrap test takes 'greater'"
        )


def _check_clustered(settings: CompareSettings, *, is_by_system: bool, has_gaps: bool) -> None:
    """Refuse what takes topics for independent draws that count the same."""
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
