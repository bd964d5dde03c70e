"""Rejections of each test in many simulated data sets.

For `trials`: functions of (data, levels, seed) that say, for every level, which trials are
rejected. Data hold the trials along their first axis. Where the product tests one matrix at a time
and too slowly, many are tested by the same formula, which `test_levels` compares with the product.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from bench.levels.null_data import MARGIN
from steadyrank.stats.anova.balanced import anova
from steadyrank.stats.datasets import friedman
from steadyrank.stats.instances.bootstrap import algorithm_two, two_way_bootstrap
from steadyrank.stats.instances.equivalence import EquivalenceTest, equivalence_test
from steadyrank.stats.judges.agreement import KinTest, favours_kin, welch_pvalue
from steadyrank.stats.judges.corrected import (
    JudgedScores,
    RunRanking,
    corrected_parts,
    rank_runs,
    shared_weight,
)
from steadyrank.stats.mixed.fit import MixedModel, fit
from steadyrank.stats.mixed.posterior import posterior
from steadyrank.stats.pairs import studentized_range as studentized
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.stats.pairs.max_t import max_t
from steadyrank.stats.pairs.result import PairTests, all_pairs
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.stats.pairs.topic_design import MeanDifference, mean_difference
from steadyrank.stats.pairs.tukey import randomized_tukey
from steadyrank.studies.agree.correlations import FACTORS, STRATA, sample_correlations
from steadyrank.studies.holes.completions import rubin_pvalues
from steadyrank.studies.instances.result import InstancesTable
from steadyrank_lab.papers.jayasinghe2015.pvalues import (
    means_and_errors,
    nested_pvalues,
    t_pvalues,
    two_way_pvalues,
)

SAMPLES = 1000
"""Samples of resampling tests: p is a multiple of 1 / 1001."""

SAMPLES_PER_INSTANCE = 200
COMPONENTS = ("a", "b")

AGREE_SAMPLES = 100
"""Default number of samples of `agree`."""
Rejects = Callable[[Any, Sequence[float], int], np.ndarray]


def below(pvalues: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """Return whether each p-value is below each level [level, trial]."""
    return np.asarray(pvalues) < np.asarray(levels)[:, None]


def one_by_one(pvalue: Callable[[Any, int], float]) -> Rejects:
    """Return a function that tests each trial's data with a different seed."""

    def rejects(data: Any, levels: Sequence[float], seed: int) -> np.ndarray:
        trials = zip(*data, strict=True) if isinstance(data, tuple) else data
        return below(np.array([pvalue(d, 1000 * seed + k) for k, d in enumerate(trials)]), levels)

    return rejects


N_COMPLETIONS = 20
HOLES = 0.5
"""Standard deviation of the completions of a cell, relative to the scores'."""


def over_completions(data: Any, levels: Sequence[float], seed: int) -> np.ndarray:
    """Return rejections by Rubin's rules of scores with drawn completions.

    The scores that are not known also have the spread of the completions.
    """
    rng = np.random.default_rng(seed)
    difference = data[:, 0] - data[:, 1]
    spread = HOLES * difference.std(axis=1, keepdims=True)
    noise = rng.standard_normal((N_COMPLETIONS, *difference.shape)) * spread
    # The truth is one of the completions: the draws have the same distribution.
    drawn = difference + noise
    n = difference.shape[1]
    within = (drawn.var(axis=2, ddof=1) / n).mean(axis=0)
    return below(rubin_pvalues(drawn.mean(axis=2), within, n), levels)


def _tested(
    test: Callable[..., PairTests], scores: np.ndarray, seed: int, options: dict[str, Any]
) -> np.ndarray:
    """Return p-values [trial, pair] of all pairs of runs."""
    n_trials, n_runs, n_topics = scores.shape
    every = all_pairs(n_runs)
    chosen = every + n_runs * np.arange(n_trials)[:, None, None]
    if options.pop("sampled", False):
        options |= {"n_samples": SAMPLES, "seed": seed, "jobs": 1}
    found = test(scores.reshape(-1, n_topics), chosen.reshape(-1, 2), **options)
    return found.pvalue.reshape(n_trials, len(every))


def gate(pvalue: Callable[[MeanDifference], float]) -> Rejects:
    """Return rejections of one of a gate's two tests, on differences with clusters."""

    def one(data: tuple[np.ndarray, np.ndarray], seed: int) -> float:
        return pvalue(mean_difference(data[0], clusters=data[1]))

    return one_by_one(one)


def pairs(test: Callable[..., PairTests], **options: Any) -> Rejects:
    """Return rejections of a test of two runs."""

    def rejects(scores: np.ndarray, levels: Sequence[float], seed: int) -> np.ndarray:
        return below(_tested(test, scores, seed, dict(options))[:, 0], levels)

    return rejects


def family(test: Callable[..., PairTests], correction: str, **options: Any) -> Rejects:
    """Return whether a corrected test of all pairs makes any claim."""

    def rejects(scores: np.ndarray, levels: Sequence[float], seed: int) -> np.ndarray:
        found = _tested(test, scores, seed, dict(options))
        return below(np.array([adjust(p, correction).min() for p in found]), levels)

    return rejects


def _max_t(scores: np.ndarray, seed: int) -> np.ndarray:
    """Return adjusted p-values [trial, pair] of all pairs."""
    pairs = all_pairs(scores.shape[1])
    return np.array(
        [
            max_t(each, pairs, n_samples=SAMPLES, seed=seed + trial, jobs=1).pvalue
            for trial, each in enumerate(scores)
        ]
    )


def max_t_family(scores: np.ndarray, levels: Sequence[float], seed: int) -> np.ndarray:
    """Return whether max-t of all pairs makes any claim."""
    return below(_max_t(scores, seed).min(axis=1), levels)


JUDGE_BIAS = 0.05
"""Difference by which a judge favours each run over the next."""


def _corrected(data: tuple[np.ndarray, ...], seed: int) -> RunRanking:
    human, judge, more = data
    bias = JUDGE_BIAS * np.arange(len(human))[:, None]
    scores = JudgedScores(human=human, judge=judge + bias, more=more + bias)
    n_topics = scores.n + scores.n_more
    return rank_runs(
        corrected_parts(scores, shared_weight(scores)),
        places=np.arange(n_topics),
        alpha=0.05,
        n_samples=SAMPLES,
        seed=seed,
        jobs=1,
    )


corrected_pair = one_by_one(lambda data, seed: float(_corrected(data, seed).pvalue[0]))
"""Return rejections for the first two runs, after correction by people."""
corrected_family = one_by_one(
    lambda data, seed: float(_corrected(data, seed).pvalue_adjusted.min())
)
"""Return whether any pair is claimed after correction by people."""


def _kin(data: tuple[np.ndarray, ...], seed: int) -> KinTest:
    return favours_kin(data[0], data[1], np.array([0, 1]), np.arange(2, len(data[0])))


kin_over_topics = one_by_one(lambda data, seed: _kin(data, seed).pvalue)
sample_of_topics = one_by_one(
    lambda data, seed: welch_pvalue(data[1].mean(axis=0), data[2].mean(axis=0))
)


def max_t_false_claim(scores: np.ndarray, levels: Sequence[float], seed: int) -> np.ndarray:
    """Return whether max-t makes a false claim if some runs differ."""
    null = _is_null(scores.shape[1])
    return below(_max_t(scores, seed)[:, null].min(axis=1), levels)


def _is_null(n_runs: int) -> np.ndarray:
    """Return the pairs of `some_better` that are equal."""
    return np.asarray(all_pairs(n_runs).max(axis=1) < n_runs - 2)


def no_false_claim(scores: np.ndarray, levels: Sequence[float], seed: int) -> np.ndarray:
    """Return whether Holm's correction makes a false claim if some runs differ."""
    adjusted = np.array([adjust(p, "holm") for p in _tested(paired_t, scores, seed, {})])
    return below(adjusted[:, _is_null(scores.shape[1])].min(axis=1), levels)


def bh_false_share(scores: np.ndarray, levels: Sequence[float], seed: int) -> np.ndarray:
    """Return whether a random claim by Benjamini and Hochberg is false.

    With none made it is not. Its chance is the expected share of false claims, so that the
    binomial interval holds for that share.
    """
    adjusted = np.array([adjust(p, "bh") for p in _tested(paired_t, scores, seed, {})])
    claimed = below(adjusted.ravel(), levels).reshape(len(levels), *adjusted.shape)
    false = claimed[..., _is_null(scores.shape[1])].sum(axis=-1)
    drawn = np.random.default_rng(seed).random(len(scores))
    return np.asarray(drawn < false / np.maximum(1, claimed.sum(axis=-1)))


class Layout(NamedTuple):
    """Two-way layout runs × topics of each trial, for F and Tukey's tests."""

    means: np.ndarray
    """Means [trial, run]."""
    error: np.ndarray
    """Residual mean square of runs + topics."""
    df: int
    n: int
    """Number of observations per mean."""

    @classmethod
    def of(cls, scores: np.ndarray) -> Layout:
        """Return the layout of scores [trial, run, topic]."""
        _, n_runs, n = scores.shape
        means = scores.mean(axis=2)
        rest = scores - means[:, :, None]
        rest -= rest.mean(axis=1, keepdims=True)
        df = (n_runs - 1) * (n - 1)
        return cls(means, np.square(rest).sum(axis=(1, 2)) / df, df, n)

    def f_pvalues(self) -> np.ndarray:
        f = self.n * self.means.var(axis=1, ddof=1) / self.error
        return np.asarray(special.fdtrc(self.means.shape[1] - 1, self.df, f))

    def tukey_rejects(self, levels: Sequence[float]) -> np.ndarray:
        """Return whether the largest difference is significant [level, trial]."""
        q = np.ptp(self.means, axis=1) / np.sqrt(self.error / self.n)
        limits = [critical_range(level, self.means.shape[1], self.df) for level in levels]
        return np.asarray(q > np.array(limits)[:, None])


critical_range = functools.cache(studentized.critical_value)


def tukey_range(scores: np.ndarray, levels: Sequence[float], seed: int) -> np.ndarray:
    return Layout.of(scores).tukey_rejects(levels)


def run_f(scores: np.ndarray, levels: Sequence[float], seed: int) -> np.ndarray:
    return below(Layout.of(scores).f_pvalues(), levels)


@one_by_one
def friedman_of_runs(scores: np.ndarray, seed: int) -> float:
    """Return rejections of Friedman's test of all runs."""
    return friedman(scores).pvalue


@one_by_one
def randomized_range(scores: np.ndarray, seed: int) -> float:
    found = randomized_tukey(scores, all_pairs(len(scores)), n_samples=SAMPLES, seed=seed, jobs=1)
    return float(found.pvalue.min())


def component_layout(scores: np.ndarray, strata: str) -> Layout:
    """Return the component b of grids [trial, a, b, topic] with its error.

    Its interaction with topics, or what runs + topics leave of all runs.
    """
    by_level = Layout.of(scores.mean(axis=1))._replace(n=scores.shape[1] * scores.shape[3])
    if strata == "topic":
        return by_level._replace(error=scores.shape[1] * by_level.error)
    whole = Layout.of(scores.reshape(len(scores), -1, scores.shape[3]))
    return by_level._replace(error=whole.error, df=whole.df)


def components_f(strata: str) -> Rejects:
    """Return rejections by F of the component with three levels."""
    return lambda scores, levels, seed: below(component_layout(scores, strata).f_pvalues(), levels)


def components_tukey(strata: str) -> Rejects:
    """Return whether Tukey's test finds any pair of the three levels."""
    return lambda scores, levels, seed: component_layout(scores, strata).tukey_rejects(levels)


def agreement(effect: str, strata: str) -> Rejects:
    """Return rejections by F of an effect on correlations, as in `agree --mode paper`."""

    def pvalue(scores: np.ndarray, seed: int) -> float:
        n_systems, n_topics = scores.shape[1:]
        found = sample_correlations(
            scores,
            topic_sizes=(n_topics // 5, n_topics // 2),
            system_sizes=(n_systems // 4, n_systems // 2),
            n_samples=AGREE_SAMPLES,
            seed=seed,
            jobs=1,
        )
        table = anova(found[0]["tau"], factors=FACTORS, block="subject", strata=STRATA[strata])
        return table.source(effect).pvalue

    return one_by_one(pvalue)


Systems = tuple[np.ndarray, np.ndarray]
"""Scores of two systems [trial, instance, topic]; one instance for one run."""


def mixed(systems: Systems, levels: Sequence[float], seed: int) -> np.ndarray:
    """Return rejections by the closed forms of balanced layouts."""
    first, second = systems
    if second.shape[1] == 1:
        return below(two_way_pvalues(first - second), levels)
    return below(nested_pvalues(first, second), levels)


def mixed_paper(systems: Systems, levels: Sequence[float], seed: int) -> np.ndarray:
    """Return rejections by the paper's test on observations less one."""
    first, second = systems
    df = 2.0 * first[0].size - 1.0
    if second.shape[1] == 1:
        return below(t_pvalues((first - second).mean(axis=1), df=df), levels)
    return below(nested_pvalues(first, second, df=df), levels)


def _mixed_model(d: np.ndarray) -> MixedModel:
    instance, topic = np.indices(d.shape).reshape(2, -1)
    return MixedModel(d.ravel(), random={"instance": instance, "topic": topic})


@one_by_one
def missing_cells(systems: Systems, seed: int) -> float:
    """Return rejections by REML with a tenth of the cells missing."""
    d = systems[0] - systems[1]
    gaps = np.random.default_rng(seed).random(d.shape) < 0.1
    return float(fit(_mixed_model(np.where(gaps, np.nan, d))).pvalue[-1])


@one_by_one
def posterior_p(systems: Systems, seed: int) -> float:
    model = _mixed_model(systems[0] - systems[1])
    return float(posterior(model, n_draws=1000, target_ess=400.0, seed=seed, jobs=1).pvalue[-1])


@one_by_one
def two_way(systems: Systems, seed: int) -> float:
    return two_way_bootstrap(*systems, n_samples=SAMPLES, seed=seed, jobs=1).pvalue


@one_by_one
def algorithm_two_p(systems: Systems, seed: int) -> float:
    differences = systems[0] - systems[1]
    return algorithm_two(differences, n_samples=SAMPLES_PER_INSTANCE, seed=seed, jobs=1).pvalue


def _margin_tests(z: np.ndarray, alpha: float = 0.05) -> list[EquivalenceTest]:
    """Return rejections of equivalence tests of differences [trial, topic]."""
    mean, error = means_and_errors(z)
    return [
        equivalence_test(float(m), float(e), df=z.shape[1] - 1, delta=MARGIN, alpha=alpha)
        for m, e in zip(mean, error, strict=True)
    ]


def non_inferiority(scores: np.ndarray, levels: Sequence[float], seed: int) -> np.ndarray:
    found = _margin_tests(scores[:, 0] - scores[:, 1] - MARGIN)
    return below(np.array([test.pvalue_non_inferiority for test in found]), levels)


def equivalence(scores: np.ndarray, levels: Sequence[float], seed: int) -> np.ndarray:
    found = _margin_tests(scores[:, 0] - scores[:, 1] + MARGIN)
    return below(np.array([test.pvalue_equivalence for test in found]), levels)


def margin_table(claim: str) -> Rejects:
    """Return whether any system at the margin is claimed to be not worse or equivalent."""
    margin = MARGIN if claim == "pvalue_equivalence" else -MARGIN

    def rejects(scores: np.ndarray, levels: Sequence[float], seed: int) -> np.ndarray:
        gaps = scores[:, 1:] - scores[:, :1] + margin
        tests = [_margin_tests(gaps[:, k]) for k in range(gaps.shape[1])]
        tables = np.array([[getattr(test, claim) for test in system] for system in tests]).T
        return below(np.array([adjust(p, "holm").min() for p in tables]), levels)

    return rejects


def sweep(mode: str) -> Rejects:
    """Return whether any setting that is worse by the margin is claimed to be not worse."""

    def rejects(scores: np.ndarray, levels: Sequence[float], seed: int) -> np.ndarray:
        settings = scores[:, 1:] - scores[:, :1] - MARGIN
        return np.array(
            [
                [_passes(mode, each) for each in zip(*columns, strict=True)]
                for columns in (
                    [_margin_tests(settings[:, k], level) for k in range(settings.shape[1])]
                    for level in levels
                )
            ]
        )

    return rejects


def _passes(mode: str, tests: Sequence[EquivalenceTest]) -> bool:
    """Return the smallest setting by the rule of the result's property."""
    rule: Any = InstancesTable.smallest_non_inferior
    found = [SimpleNamespace(equivalence=test) for test in tests]
    table = SimpleNamespace(settings=range(len(tests)), comparisons=found, mode=mode)
    return rule.fget(table) is not None
