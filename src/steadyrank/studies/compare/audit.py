"""`compare --audit`: which test keeps its level on *your* scores?

The user's matrix is the population. Pairs of runs are drawn, and topics with replacement, under two
null hypotheses; each test is applied to each sample, and its rejections are counted. A second count
is of false claims by the whole family of comparisons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.compute.random import Rng, block_stream, seed_from
from steadyrank.data.order import scores_in_order
from steadyrank.data.scores import measure_of, position
from steadyrank.errors import InputError
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import scores_of
from steadyrank.notebook import Exhibit, shown_by
from steadyrank.stats.pairs.family import FamilyAudit, audit_family, family_of
from steadyrank.stats.pairs.resampled import randomization, studentized_bootstrap
from steadyrank.stats.pairs.result import PairTests, all_pairs, pairs_with
from steadyrank.stats.pairs.tests import paired_t, sign_test, wilcoxon
from steadyrank.studies.compare.correcting import CompareSettings, default_correction
from steadyrank.studies.compare.result import CompareResult, Correction
from steadyrank.words import counted

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 1000
"""Number of samples of a resampling test within a trial; p-values are multiples of 1/1001."""

_TESTS: dict[str, Callable[..., PairTests]] = {
    "t": paired_t,
    "wilcoxon": wilcoxon,
    "sign": sign_test,
    "randomization": randomization,
    "bootstrap": studentized_bootstrap,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TestAudit:
    """How often a test rejects, with the Monte Carlo standard error of each rate."""

    test: str
    exchangeable: tuple[float, float]
    """Rate and error where runs are exchangeable within every topic, the null of every test."""
    equal_means: tuple[float, float]
    """Rate and error where means are equal but differences keep their skewness."""


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("studies.compare.view:audit_text")
class AuditResult(Exhibit):
    """The result of `audit_tests`: how often each test rejects with and without a difference.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    >>> result = sr.audit_tests(scores, n_trials=20)
    >>> rate, error = result.tests[0].exchangeable
    >>> result.tests[0].test, 0.0 <= rate <= 1.0
    ('t', True)
    """

    measure: str
    alpha: float
    n_topics: int
    n_trials: int
    seed: int
    tests: tuple[TestAudit, ...]
    correction: str
    """Correction of the family of t tests."""
    family: FamilyAudit
    """False claims among all pairs, or all runs against a baseline, under three truths."""

    def caption(self) -> str:
        """Return the caption: measure, numbers of trials and topics, alpha, seed."""
        return (
            f"{self.measure}, {counted(self.n_trials, 'trial')} at "
            f"{counted(self.n_topics, 'topic')}, alpha {self.alpha:g}; seed {self.seed}"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per test: its rates, and the Monte Carlo error of each."""
        import pandas as pd

        names = ("exchangeable", "exchangeable_error", "equal_means", "equal_means_error")
        rows = [(row.test, *row.exchangeable, *row.equal_means) for row in self.tests]
        return pd.DataFrame(rows, columns=["test", *names])


@data_first
def audit_tests(
    scores: Any,
    qrels: Any = None,
    measure: str | None = None,
    *,
    correction: Correction | None = None,
    baseline: str | None = None,
    n_topics: int | None = None,
    alpha: float = 0.05,
    n_trials: int = 2000,
    jobs: int | None = None,
    rng: Rng = 0,
) -> AuditResult:
    """Estimate the type I error of each test on these scores, and of the family.

    A rate in `exchangeable` above alpha by more than two errors means that the test exceeds its
    level even under its null hypothesis; in `equal_means`, that skewed differences mislead it.
    Rates below alpha are due to discreteness (sign test) or to a conservative test. The rates hold
    for this population of topics and these pairs of runs.

    Parameters
    ----------
    scores, qrels : Scores, or runs and judgments
        Runs and judgments as `evaluate` takes them.
    measure : str, optional
        Required where the scores have several; for runs AP by default, or nDCG@10 if graded.
    correction, baseline : str, optional
        Correction and baseline of the family of t tests, as in `compare`.
    n_topics : int, optional
        Number of topics drawn in each trial; by default that of the scores.
    alpha : float
        Level of the tests.
    n_trials : int
        Number of trials, each with a pair of runs and a sample of topics.
    jobs, rng : optional
        Threads; a seed, a `Generator` or None.

    Returns
    -------
    AuditResult
        Per test, how often it rejects where runs are exchangeable and where means are equal, each
        with its Monte Carlo error; and `family`, the false claims among all comparisons.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    >>> [row.test for row in sr.audit_tests(scores, n_trials=20).tests]
    ['t', 'wilcoxon', 'sign', 'randomization', 'bootstrap']
    """
    seed = seed_from(rng)
    scores = scores_of(scores, qrels, measure)
    scores = scores_in_order(scores, runs=True)
    chosen_measure = measure_of(scores, measure)
    matrix = scores.select(measures=chosen_measure).oriented().matrix()
    complete = matrix[:, ~np.isnan(matrix).any(axis=0)]
    if len(complete) < 2 or complete.shape[1] < 2:
        raise InputError("an audit requires at least two runs and two topics that all runs have")
    size = complete.shape[1] if n_topics is None else n_topics
    if size < 2 or n_trials < 1:
        raise InputError(f"an audit requires two topics and one trial, got {size} and {n_trials}")
    base = None if baseline is None else position(baseline, scores.runs, "run")
    pairs = all_pairs(len(complete)) if base is None else pairs_with(len(complete), base)
    chosen = correction or default_correction("t", len(pairs), "sound")
    stream, centred = block_stream(seed, "audit", 0), complete - complete.mean(axis=1)[:, None]
    differences = _draw(complete, size, n_trials, stream)
    flips = stream.integers(0, 2, differences.shape) * 2 - 1
    worlds = {
        "exchangeable": differences * flips,
        "equal_means": _draw(centred, size, n_trials, block_stream(seed, "audit", 1)),
    }
    return AuditResult(
        measure=chosen_measure,
        alpha=alpha,
        n_topics=size,
        n_trials=n_trials,
        seed=seed,
        tests=tuple(
            TestAudit(
                test=test, **{name: _rate(test, z, alpha, seed) for name, z in worlds.items()}
            )
            for test in _TESTS
        ),
        correction=chosen,
        family=audit_family(
            complete,
            pairs,
            correction=chosen,
            tier=None
            if base is not None
            else family_of(complete, scores.runs, alpha=alpha, seed=seed).tier,
            alpha=alpha,
            n_topics=size,
            seed=seed,
            jobs=jobs,
        ),
    )


def audited(result: CompareResult, settings: CompareSettings) -> CompareResult:
    """Add the audit of the family of t tests to a result of independent topics."""
    complete = result.scores[:, ~np.isnan(result.scores).any(axis=0)]
    if result.test != "t" or not result.design.is_plain or min(complete.shape) < 2:
        return result
    audit = audit_family(
        complete,
        result.pairs,
        correction=result.correction,
        tier=None if result.own is None else result.tier,
        # Only `--audit` counts claims among equal runs, which no track has.
        asks_all=False,
        alpha=result.alpha,
        seed=result.seed,
        jobs=settings.jobs,
    )
    return replace(result, audit=audit)


def _draw(matrix: np.ndarray, size: int, n_trials: int, stream: np.random.Generator) -> np.ndarray:
    """Return differences [trial, topic] of two random runs on topics drawn with replacement."""
    first = stream.integers(0, len(matrix), n_trials)
    second = (first + stream.integers(1, len(matrix), n_trials)) % len(matrix)
    topics = stream.integers(0, matrix.shape[1], (n_trials, size))
    return np.asarray(matrix[first[:, None], topics] - matrix[second[:, None], topics])


def _rate(test: str, differences: np.ndarray, alpha: float, seed: int) -> tuple[float, float]:
    """Return the share of trials whose p-value is below alpha, and its standard error."""
    n_trials, size = differences.shape
    matrix = np.zeros((2 * n_trials, size))
    matrix[::2] = differences
    pairs = np.arange(2 * n_trials).reshape(-1, 2)
    resampled = test in ("randomization", "bootstrap")
    options = {"n_samples": RESAMPLES, "seed": seed} if resampled else {}
    pvalues = _TESTS[test](matrix, pairs, **options).pvalue
    rate = float(np.mean(np.nan_to_num(pvalues, nan=1.0) < alpha))
    return rate, float(np.sqrt(rate * (1 - rate) / n_trials))
