"""`compare`: who beats whom, how surely, by how much.

For every author before a submission: paired tests of all pairs of runs, or of all runs
against a baseline, corrected for their number, with intervals, effect sizes, groups that
cannot be told apart, and the smallest difference that these topics could have shown.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.order import order_by_name, scores_in_order
from steadyrank.data.scores import Scores, mean_of_present, position
from steadyrank.errors import InputError, SteadyrankWarning, unknown_name
from steadyrank.stats.corrections import adjust
from steadyrank.stats.effects import EffectSizes, effect_sizes
from steadyrank.stats.groups import compact_letters, rank_intervals
from steadyrank.stats.intervals import bootstrap_intervals, t_intervals
from steadyrank.stats.paired import paired_t, sign_test, wilcoxon
from steadyrank.stats.power import smallest_difference
from steadyrank.stats.resampled import randomization, studentized_bootstrap
from steadyrank.stats.result import PairTests, all_pairs
from steadyrank.stats.tukey import randomized_tukey, tukey_hsd

if TYPE_CHECKING:
    import pandas as pd

Test = Literal["t", "wilcoxon", "sign", "randomization", "bootstrap", "tukey", "randomized-tukey"]
Correction = Literal["none", "holm", "bh", "bonferroni"]
IntervalKind = Literal["t", "percentile", "bca", "studentized"]
Mode = Literal["sound", "paper"]
Alternative = Literal["two-sided", "greater"]

SIMULTANEOUS = ("tukey", "randomized-tukey")
"""Tests whose p-values hold for all pairs at once: correcting them again would be too strict."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompareResult:
    """What `compare` found: arrays with one entry a pair, and one a run."""

    measure: str
    test: Test
    correction: Correction
    alpha: float
    mode: Mode
    baseline: str | None
    runs: tuple[str, ...]
    n_topics: int
    n_dropped: int
    """Topics left out of every pair because some run lacks them (the Tukey tests)."""
    method: str
    n_samples: int | None
    seed: int
    pairs: np.ndarray
    """[pair, 2]: positions of the two runs."""
    n: np.ndarray
    difference: np.ndarray
    interval: np.ndarray
    """[pair, 2]"""
    interval_kind: str
    statistic: np.ndarray
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    significant: np.ndarray
    effects: EffectSizes
    smallest_difference: np.ndarray
    """The mean difference that a paired t test of these topics detects with 80 % power."""
    flag: np.ndarray
    mean: np.ndarray
    """One for each run."""
    rank_interval: np.ndarray
    """[run, 2]"""
    n_different: np.ndarray
    """How many other runs each run is told apart from."""
    letters: tuple[str, ...]
    """Runs that share a letter are not told apart; empty with a baseline, or where it would
    take more than the alphabet."""

    @property
    def significant_share(self) -> float:
        """Share of the pairs that differ significantly."""
        return float(np.mean(self.significant)) if len(self.significant) else float("nan")

    @property
    def family(self) -> str:
        """In words, which p-values were corrected together."""
        kind = "all pairs" if self.baseline is None else f"all runs against {self.baseline}"
        return f"{len(self.pairs)} comparisons, {kind}"

    def caption(self) -> str:
        """What a table of this result must say: test, correction, alpha, n, seed, version."""
        resampled = f", {self.n_samples} samples, seed {self.seed}" if self.n_samples else ""
        dropped = f" ({self.n_dropped} dropped)" if self.n_dropped else ""
        correction = "" if self.test in SIMULTANEOUS else f", correction {self.correction}"
        return (
            f"{self.measure}, {self.test} test ({self.method}{resampled}){correction} over "
            f"{self.family}; alpha {self.alpha:g}; {self.n_topics} topics{dropped}; "
            f"steadyrank {__version__}."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row a pair."""
        import pandas as pd

        return pd.DataFrame(list(self.rows()))

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary a pair, with the keys that the JSON output has."""
        first, second = self.pairs.T
        return [
            {
                "a": self.runs[a],
                "b": self.runs[b],
                "n": int(self.n[p]),
                "mean_a": float(self.mean[a]),
                "mean_b": float(self.mean[b]),
                "difference": float(self.difference[p]),
                "interval": [float(bound) for bound in self.interval[p]],
                "statistic": float(self.statistic[p]),
                "pvalue": float(self.pvalue[p]),
                "pvalue_adjusted": float(self.pvalue_adjusted[p]),
                "significant": bool(self.significant[p]),
                "effect_size": float(self.effects.paired_d[p]),
                "effect_reading": str(self.effects.reading[p]),
                "hedges_g": float(self.effects.hedges_g[p]),
                "cliffs_delta": float(self.effects.cliffs_delta[p]),
                "wins": int(self.effects.wins[p]),
                "ties": int(self.effects.ties[p]),
                "losses": int(self.effects.losses[p]),
                "smallest_difference": float(self.smallest_difference[p]),
                "flag": str(self.flag[p]),
            }
            for p, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
        ]

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False, float_format="{:.4g}".format))


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

    `test`: Student's paired t, Wilcoxon's signed ranks, the sign test, Fisher's
    randomization, the studentized bootstrap (Jayasinghe et al. 2015, Algorithm 1), Tukey's
    HSD on the two-way layout runs + topics, or its randomized form. `correction` is Holm's
    unless given, and none for the Tukey tests, which are simultaneous by themselves.
    `alternative="greater"` makes the bootstrap one-sided, first run above second, as its
    paper lists it; the other tests are two-sided. `mode="paper"` gives resampling p-values
    as count / B and recentres the bootstrap by the mean of its means; "sound" as
    (1 + count) / (1 + B) and by the sample mean.

    The tests speak of other topics from the same population, not of other documents,
    judgments or runs.

    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    >>> result = sr.compare(scores, test="randomization", n_samples=1000)
    >>> len(result.pairs), result.correction
    (3, 'holm')
    """
    seed = seed_from(rng)
    name = _check(scores, measure, test, correction, alpha, baseline, interval, mode, n_samples)
    if alternative != "two-sided" and (alternative != "greater" or test != "bootstrap"):
        raise InputError(f"alternative {alternative!r}: only the bootstrap test takes 'greater'")
    scores = scores_in_order(scores)
    matrix = scores.matrix(name)
    pairs = _pairs(scores, baseline)
    used, dropped = _used_topics(matrix, test)
    tests, intervals, kind = _run_test(
        used, pairs, names=scores.runs, test=test, interval=interval, alpha=alpha, mode=mode,
        alternative=alternative, n_samples=n_samples, jobs=jobs, seed=seed,
    )  # fmt: skip
    chosen = correction or ("none" if test in SIMULTANEOUS else "holm")
    _warn_if_too_few_samples(test, chosen, mode, alpha, len(pairs), tests.n_samples)
    adjusted = adjust(tests.pvalue, chosen)
    significant = np.nan_to_num(adjusted, nan=1.0) < alpha
    effects = effect_sizes(used, pairs)
    means = mean_of_present(matrix)
    return CompareResult(
        measure=name,
        test=test,
        correction=chosen,
        alpha=alpha,
        mode=mode,
        baseline=baseline,
        runs=scores.runs,
        n_topics=matrix.shape[1],
        n_dropped=dropped,
        method=tests.method,
        n_samples=tests.n_samples,
        seed=seed,
        pairs=pairs,
        n=tests.n,
        difference=tests.difference,
        interval=intervals,
        interval_kind=kind,
        statistic=tests.statistic,
        pvalue=tests.pvalue,
        pvalue_adjusted=adjusted,
        significant=significant,
        effects=effects,
        smallest_difference=smallest_difference(effects.sd, tests.n, alpha=alpha),
        flag=tests.flag,
        mean=means,
        rank_interval=rank_intervals(matrix, level=1 - alpha, seed=seed),
        n_different=np.bincount(pairs[significant].ravel(), minlength=len(means)),
        letters=_letters(pairs, significant, means) if baseline is None else (),
    )


def _check(
    scores: Scores, measure: Any, test: Any, correction: Any, alpha: Any, baseline: Any,
    interval: Any, mode: Any, n_samples: Any,
) -> str:  # fmt: skip
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
    interval: IntervalKind | None,
    alpha: float,
    mode: Mode,
    alternative: Alternative,
    n_samples: int,
    jobs: int | None,
    seed: int,
) -> tuple[PairTests, np.ndarray, str]:
    """The test's results, the intervals of the differences, and of which kind these are."""
    level = 1 - alpha
    if test == "tukey" and interval is None:
        tukey = tukey_hsd(matrix, pairs, level=level)
        return tukey.tests, tukey.intervals, "simultaneous (Tukey)"
    simple: dict[str, Callable[..., PairTests]] = {
        "t": paired_t,
        "wilcoxon": wilcoxon,
        "sign": sign_test,
        "tukey": lambda scores, pairs: tukey_hsd(scores, pairs, level=level).tests,
    }
    resampled: dict[str, Callable[..., PairTests]] = {
        "randomization": randomization,
        "bootstrap": functools.partial(studentized_bootstrap, alternative=alternative),
        "randomized-tukey": functools.partial(_tukey_by_name, names),
    }
    if test in simple:
        tests = simple[test](matrix, pairs)
    else:
        tests = resampled[test](matrix, pairs, n_samples=n_samples, seed=seed, mode=mode, jobs=jobs)
    kind = interval or ("studentized" if test == "bootstrap" else "t")
    if kind == "t":
        return tests, t_intervals(matrix, pairs, level=level).limits, kind
    found = bootstrap_intervals(
        matrix, pairs, kind=kind, level=level, n_samples=n_samples, seed=seed, jobs=jobs
    )
    return tests, found.limits, f"{kind} bootstrap"


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


def _letters(pairs: np.ndarray, significant: np.ndarray, means: np.ndarray) -> tuple[str, ...]:
    different = np.zeros((len(means), len(means)), bool)
    for (a, b), differs in zip(pairs, significant, strict=True):
        different[a, b] = different[b, a] = differs
    order = np.argsort(-np.nan_to_num(means, nan=-np.inf), kind="stable")
    return tuple(compact_letters(different, order) or ())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DiscriminativePower:
    """How well a measure tells the runs apart: Sakai's curve of sorted p-values."""

    measure: str
    share: float
    """Share of the pairs whose p-value is below alpha."""
    needed_difference: float
    """The smallest mean difference above which every pair was significant."""
    pvalues: np.ndarray
    """p-values of all pairs, from the largest down."""
    seed: int = 0


def discriminative_power(
    scores: Scores,
    *,
    measures: Sequence[str] | None = None,
    test: Test = "randomized-tukey",
    alpha: float = 0.05,
    n_samples: int = 10_000,
    jobs: int | None = None,
    rng: Rng = 0,
) -> list[DiscriminativePower]:
    """Compare measures by how many pairs of the same runs on the same topics they separate.

    A measure that separates more is more sensitive, not more right. Uncorrected p-values,
    or the simultaneous ones of a Tukey test. Sakai, "Evaluating evaluation metrics based on
    the bootstrap", SIGIR 2006, doi:10.1145/1148170.1148261.
    """
    seed = seed_from(rng)
    found = []
    for measure in measures or scores.measures:
        result = compare(
            scores, measure=measure, test=test, correction="none", alpha=alpha,
            n_samples=n_samples, jobs=jobs, rng=seed,
        )  # fmt: skip
        missed = np.abs(result.difference[~result.significant])
        found.append(
            DiscriminativePower(
                measure=result.measure,
                share=result.significant_share,
                needed_difference=float(missed.max(initial=0.0)),
                pvalues=np.sort(result.pvalue)[::-1],
                seed=seed,
            )
        )
    return found
