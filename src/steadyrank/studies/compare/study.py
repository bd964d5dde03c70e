"""`compare`: who beats whom, how surely, by how much.

For every author before a submission: paired tests of all pairs of runs, or of all runs
against a baseline, corrected for their number; and, from the same decisions, intervals, groups of
statistically indistinguishable runs and the ranks that each run may have.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from scipy.special import stdtr

from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.order import order_by_name, scores_in_order
from steadyrank.data.scores import Scores, of_scores, position
from steadyrank.errors import InputError, SteadyrankWarning, unknown_name
from steadyrank.stats.inputs import pair_moments
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.binary import binary_pairs
from steadyrank.stats.pairs.corrections import adjust
from steadyrank.stats.pairs.effects import effect_sizes
from steadyrank.stats.pairs.letters import compact_letters
from steadyrank.stats.pairs.max_t import MaxT, max_t
from steadyrank.stats.pairs.resampled import randomization, studentized_bootstrap
from steadyrank.stats.pairs.result import PairTests, all_pairs
from steadyrank.stats.pairs.tests import differences, paired_t, sign_test, wilcoxon
from steadyrank.stats.pairs.tukey import randomized_tukey, tukey_hsd
from steadyrank.stats.planning.power import smallest_difference
from steadyrank.stats.run_means import adjusted_means, connected_runs, ranks_of
from steadyrank.stats.selection import expected_means, intervals_as_picked
from steadyrank.studies.compare.intervals import Alternative, IntervalKind, pair_intervals
from steadyrank.studies.compare.result import SIMULTANEOUS, CompareResult, Correction, Mode, Test

if TYPE_CHECKING:
    pass

AGAINST_MEANS = "against_means"
"""Flag of a pair whose test speaks for the run with the lower mean: nothing is claimed."""


@of_scores
def compare(
    scores: Scores,
    *,
    measure: str | None = None,
    test: Test = "t",
    correction: Correction | None = None,
    alpha: float = 0.05,
    baseline: str | None = None,
    interval: IntervalKind | None = None,
    alternative: Alternative = "two-sided",
    mode: Mode = "sound",
    n_samples: int = 10_000,
    jobs: int | None = None,
    rng: Rng = 0,
) -> CompareResult:
    """Test all pairs of runs, or all runs against a `baseline`, on one measure.

    Marks, intervals, letters and rank sets of the result come from one family of decisions. The
    tests speak of other topics from the same population, not of other documents, judgments
    or runs.

    Parameters
    ----------
    scores : Scores
    measure : str, optional
        Needed where there are several.
    test : str
        "t" (Student's paired t), "wilcoxon" (signed ranks), "sign", "randomization" (Fisher's sign
        flips), "bootstrap" (studentized; Jayasinghe et al. 2015, Algorithm 1), "tukey" (HSD on the
        two-way layout runs + topics) or "randomized-tukey".
    correction : str, optional
        "maxt" (studentized sign flips of all pairs together, stepdown; for the t test), "holm",
        "bonferroni", "bh" or "none". By default "maxt" for the t tests of all pairs of three or
        more runs, "none" for the Tukey tests, which are simultaneous by themselves, else "holm".
    alpha : float
        Error rate of the whole family.
    baseline : str, optional
        Compare every run with this one only.
    interval : str, optional
        "t", "percentile", "bca" or "studentized" in place of the interval that belongs to the
        test: Student's or max-t bands, Hodges and Lehmann's for "wilcoxon", the median's for
        "sign", the inverted test for "randomization" and "bootstrap", the simultaneous one for the
        Tukey tests.
    alternative : str
        "greater" makes the bootstrap one-sided, first run above second, as its paper lists it.
    mode : str
        "paper" gives resampling p-values as count / B and recentres the bootstrap by the mean of
        its means; "sound" as (1 + count) / (1 + B) and by the sample mean.
    n_samples : int
        Of the resampling tests and of the max-t correction.
    jobs : int, optional
        Threads.
    rng : int, Generator or None
        Seed.

    Notes
    -----
    Where scores are missing, runs are ranked by least-squares means of the model run + topic, and
    every two runs are compared on the topics that both have. A test that speaks for the run with
    the lower mean is not counted as a decision. Where all scores are 0 or 1, as those of Success@k,
    `binary` has McNemar's exact test and Wilson's and Tango's intervals, beside the test asked for.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    >>> result = sr.compare(scores)
    >>> len(result.pairs), result.correction, result.rank_set.tolist()
    (3, 'maxt', [[1, 1], [2, 3], [2, 3]])
    """
    seed = seed_from(rng)
    name = _check(scores, measure, test, correction, alpha, baseline, interval, mode, n_samples)
    if alternative != "two-sided" and (alternative != "greater" or test != "bootstrap"):
        raise InputError(f"alternative {alternative!r}: only the bootstrap test takes 'greater'")
    scores = scores_in_order(scores)
    matrix, n_dropped = _used_topics(scores.matrix(name), test)
    pairs = _pairs(scores, baseline)
    chosen = correction or default_correction(test, baseline, len(pairs))
    tests = _run_test(
        matrix,
        pairs,
        names=scores.runs,
        test=test,
        alpha=alpha,
        mode=mode,
        alternative=alternative,
        n_samples=n_samples,
        jobs=jobs,
        seed=seed,
    )
    _warn_if_too_few_samples(test, chosen, mode, alpha, len(pairs), tests.n_samples)
    means = adjusted_means(matrix)
    _warn_if_unlinked(matrix, scores.runs)
    together: MaxT | None = None
    if chosen == "maxt":
        together = max_t(matrix, pairs, alpha=alpha, n_samples=n_samples, seed=seed, jobs=jobs)
        _warn_if_too_few_topics(together, matrix.shape[1], alpha)
    adjusted = adjust(tests.pvalue, chosen) if together is None else together.pvalue
    claimed = decisions.claims(tests, pairs, adjusted, means, alpha)
    level = _comparison_alpha(tests, chosen, alpha, together, test)
    limits, kind = pair_intervals(
        matrix,
        pairs,
        tests,
        test=test,
        kind=interval,
        correction=chosen,
        level=level,
        together=together,
        alternative=alternative,
        n_samples=n_samples,
        jobs=jobs,
        seed=seed,
    )
    if interval is None:
        limits = decisions.agreeing_intervals(limits, claimed)
    effects = effect_sizes(matrix, pairs)
    wins = decisions.beaten(len(means), pairs, claimed)
    expected = expected_means(matrix)
    return CompareResult(
        measure=name,
        test=test,
        correction=chosen,
        alpha=alpha,
        mode=mode,
        baseline=baseline,
        runs=scores.runs,
        n_topics=len(scores.topics),
        n_dropped=n_dropped,
        n_missing=int(np.isnan(matrix).sum()),
        method=_method(tests, together),
        n_samples=tests.n_samples if together is None else together.n_patterns,
        seed=seed,
        pairs=pairs,
        n=tests.n,
        pair_means=_pair_means(matrix, pairs),
        difference=tests.difference,
        interval=limits,
        interval_kind=kind,
        comparison_alpha=level,
        statistic=tests.statistic,
        pvalue=tests.pvalue,
        pvalue_adjusted=adjusted,
        significant=claimed != 0,
        effects=effects,
        smallest_difference=_smallest(effects.sd, tests.n, level),
        flag=_flags(tests, adjusted, claimed, alpha),
        mean=means,
        mean_interval=intervals_as_picked(matrix, 1 - alpha, expected),
        expected_mean=expected.mean,
        rank=ranks_of(means),
        rank_set=decisions.rank_sets(wins),
        letters=_letters(wins, means) if baseline is None else (),
        binary=binary_pairs(matrix, pairs, alpha=alpha, correction=chosen),
    )


def default_correction(test: str, baseline: str | None, n_pairs: int) -> Correction:
    """What suits the test and the family."""
    if test in SIMULTANEOUS:
        return "none"
    return "maxt" if test == "t" and baseline is None and n_pairs > 1 else "holm"


def _check(
    scores: Scores,
    measure: Any,
    test: Any,
    correction: Any,
    alpha: Any,
    baseline: Any,
    interval: Any,
    mode: Any,
    n_samples: Any,
) -> str:
    """Validate everything; return the measure's name."""
    for what, value, choices in (
        ("test", test, get_args(Test)),
        ("correction", correction, (None, *get_args(Correction))),
        ("kind of interval", interval, (None, *get_args(IntervalKind))),
        ("mode", mode, get_args(Mode)),
    ):
        if value not in choices:
            raise unknown_name(what, str(value), [choice for choice in choices if choice])
    if not 0 < alpha < 1:
        raise InputError(f"alpha is a number between 0 and 1, got {alpha!r}")
    if n_samples < 1:
        raise InputError(f"n_samples must be at least 1, got {n_samples!r}")
    if correction == "maxt" and test != "t":
        raise InputError(
            f"correction maxt flips the signs of paired t statistics: take test t, or correction "
            f"holm with test {test}"
        )
    if len(scores.runs) < 2:
        raise InputError("comparing needs at least two runs")
    if baseline is not None:
        position(baseline, scores.runs, "run")
    if measure is None:
        scores.matrix()
        return scores.measures[0]
    position(str(measure), scores.measures, "measure")
    return str(measure)


def _pairs(scores: Scores, baseline: str | None) -> np.ndarray:
    """All pairs, or every other run (first) with the baseline (second)."""
    if baseline is None:
        return all_pairs(len(scores.runs))
    base = position(baseline, scores.runs, "run")
    return np.array([(run, base) for run in range(len(scores.runs)) if run != base])


def _used_topics(matrix: np.ndarray, test: str) -> tuple[np.ndarray, int]:
    """The topics that the test uses, and how many were dropped for all runs."""
    if test not in SIMULTANEOUS:
        return matrix, 0
    complete = ~np.isnan(matrix).any(axis=0)
    return np.ascontiguousarray(matrix[:, complete]), int((~complete).sum())


def _run_test(
    matrix: np.ndarray,
    pairs: np.ndarray,
    *,
    names: Sequence[str],
    test: Test,
    alpha: float,
    mode: Mode,
    alternative: Alternative,
    n_samples: int,
    jobs: int | None,
    seed: int,
) -> PairTests:
    simple: dict[str, Callable[..., PairTests]] = {
        "t": paired_t,
        "wilcoxon": wilcoxon,
        "sign": sign_test,
        "tukey": functools.partial(_tukey, alpha=alpha),
    }
    if test in simple:
        return simple[test](matrix, pairs)
    resampled: dict[str, Callable[..., PairTests]] = {
        "randomization": randomization,
        "bootstrap": functools.partial(studentized_bootstrap, alternative=alternative),
        "randomized-tukey": functools.partial(_tukey_by_name, names, confidence=1 - alpha),
    }
    return resampled[test](matrix, pairs, n_samples=n_samples, seed=seed, mode=mode, jobs=jobs)


def _tukey(matrix: np.ndarray, pairs: np.ndarray, *, alpha: float) -> PairTests:
    tukey = tukey_hsd(matrix, pairs, confidence=1 - alpha)
    half_width = 0.5 * (tukey.intervals[:, 1] - tukey.intervals[:, 0])
    return replace(tukey.tests, half_width=half_width)


def _comparison_alpha(
    tests: PairTests, correction: str, alpha: float, together: MaxT | None, test: str
) -> float:
    """The level of one comparison alone; 0 where no difference could be significant."""
    if together is not None:
        usable = tests.n > 1
        if not usable.any() or np.isinf(together.critical[usable][0]):
            return 0.0
        level = float(2.0 * stdtr(tests.n[usable][0] - 1.0, -together.critical[usable][0]))
        return level if level < 1.0 else alpha  # no two runs differ at all: nothing to correct
    # Tukey's tests hold for all pairs of the runs: Bonferroni's level does, too.
    return decisions.comparison_alpha(
        tests.pvalue, "bonferroni" if test in SIMULTANEOUS else correction, alpha
    )


def _smallest(sd: np.ndarray, n: np.ndarray, level: float) -> np.ndarray:
    if level <= 0.0:
        return np.full(len(sd), np.inf)
    return smallest_difference(sd, n, alpha=level)


def _pair_means(matrix: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Means [pair, 2] of both runs over the topics that both have."""
    means = np.empty((len(pairs), 2))
    for part, z, _ in differences(matrix, pairs):
        for side in (0, 1):
            shared = np.where(np.isnan(z), np.nan, matrix[pairs[part, side]])
            means[part, side] = pair_moments(shared)[1]
    return means


def _flags(tests: PairTests, adjusted: np.ndarray, claimed: np.ndarray, alpha: float) -> np.ndarray:
    """The flags of the tests, and where a test speaks for the run with the lower mean."""
    against = (np.nan_to_num(adjusted, nan=1.0) <= alpha) & (claimed == 0)
    return np.where((tests.flag == "") & against, AGAINST_MEANS, tests.flag)


def _method(tests: PairTests, together: MaxT | None) -> str:
    if together is None:
        return tests.method
    patterns = "all sign patterns" if together.exact else "studentized sign flips"
    return f"{tests.method}; {patterns}, stepdown"


def _tukey_by_name(
    names: Sequence[str], matrix: np.ndarray, pairs: np.ndarray, **options: Any
) -> PairTests:
    """With runs by name: what a permutation does must not depend on the order they came in."""
    order = order_by_name(names)
    return randomized_tukey(matrix[order], np.argsort(order)[pairs], **options)


def _warn_if_too_few_samples(
    test: str, correction: str, mode: str, alpha: float, family: int, n_samples: int | None
) -> None:
    """A resampled p-value is 1 / (1 + B) or more, or, by count / B, 0 where no sample counted."""
    if n_samples is None or test in SIMULTANEOUS or correction not in ("holm", "bonferroni"):
        return
    if family / (1 + n_samples) < alpha:
        return
    problem = (
        "cannot give p-values small enough"
        if mode == "sound"
        else "give p-values of 0, which pass any correction, or none that are small enough,"
    )
    warnings.warn(
        f"{n_samples} samples {problem} for {correction} over {family} comparisons: take more than "
        f"{math.ceil(family / alpha)} samples, correction bh, or randomized-tukey",
        SteadyrankWarning,
        stacklevel=3,
    )


def _warn_if_too_few_topics(together: MaxT, n_topics: int, alpha: float) -> None:
    if 1.0 / (1.0 + together.n_patterns) > alpha:
        warnings.warn(
            f"{n_topics} topics have only {together.n_patterns} sign patterns: no difference can "
            f"be significant at alpha {alpha:g}; correction holm has no such limit, but assumes "
            "normal differences",
            SteadyrankWarning,
            stacklevel=3,
        )


def _warn_if_unlinked(matrix: np.ndarray, runs: Sequence[str]) -> None:
    if not np.isnan(matrix).any():
        return
    groups = connected_runs(matrix)
    if len(groups) > 1:
        smallest = min(groups, key=len)
        warnings.warn(
            f"{runs[smallest[0]]} shares no topic with {runs[max(groups, key=len)[0]]}, not even "
            f"through other runs: the order of such runs is that of different topics, and nothing "
            "is claimed about them",
            SteadyrankWarning,
            stacklevel=3,
        )


def _letters(wins: np.ndarray, means: np.ndarray) -> tuple[str, ...]:
    order = np.argsort(-np.nan_to_num(means, nan=-np.inf), kind="stable")
    return tuple(compact_letters(wins | wins.T, order) or ())
