"""Testing all pairs of runs: steadyrank against scipy and ranx.

    pip install -e '.[bench]' && python -m bench.compare

110 runs × 249 topics, the size of TREC 2004 Robust: 5,995 pairs. Peers that would take
hours are timed on a sample of their work and scaled up; the table says so. Everything runs in
this process on one core (BLAS too), and the ratio is of CPU time.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

from bench._timing import report, seconds
from steadyrank.stats.pairs.resampled import randomization, studentized_bootstrap
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import _from_products, means_and_errors, paired_t

warnings.simplefilter("ignore")

N_RUNS, N_TOPICS, B = 110, 249, 10_000
PAIRS = all_pairs(N_RUNS)


def make_scores(n: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    topics = rng.beta(1, 3, N_TOPICS)
    noise = rng.normal(0, 0.1, (n, N_RUNS, N_TOPICS))
    return np.clip(topics + 0.1 * rng.random((N_RUNS, 1)) + noise, 0, 1)


def replicated_t(n_replicates: int) -> None:
    values = make_scores(n_replicates)
    first, second = PAIRS.T
    errors = np.empty((10, len(PAIRS)))

    def all_t() -> None:
        for start in range(0, n_replicates, 10):
            means = means_and_errors(values[start : start + 10], errors)
            (means[:, first] - means[:, second]) / errors[: len(means)]

    all_t()
    ours = seconds(all_t) / n_replicates * B
    one = values[0]
    vectorised = seconds(lambda: stats.ttest_rel(one[first], one[second], axis=1)) * B
    some = PAIRS[:: len(PAIRS) // 200]
    loop = seconds(lambda: [stats.ttest_rel(one[a], one[b]) for a, b in some], 1)
    report(
        f"paired t of {len(PAIRS)} pairs in {B} matrices (from {n_replicates})",
        ours,
        {
            "scipy ttest_rel, vectorised over pairs (from 1 matrix)": vectorised,
            f"scipy ttest_rel, a loop (from {len(some)} pairs)": loop / len(some) * len(PAIRS) * B,
        },
    )


def randomization_test(scores: np.ndarray) -> None:
    import ranx.statistical_tests as ranx_tests

    randomization(scores, PAIRS, n_samples=300, jobs=1)
    ours = seconds(lambda: randomization(scores, PAIRS, n_samples=B, jobs=1))
    z = scores[0] - scores[1]

    def with_scipy() -> object:
        return stats.permutation_test(
            (z,),
            lambda x, axis: x.mean(axis=axis),
            permutation_type="samples",
            n_resamples=B,
            vectorized=True,
            batch=1000,
        )

    fisher = ranx_tests.fisher_randomization_test
    fisher(scores[0], scores[1], n_permutations=10, max_p=0.05)
    theirs = seconds(lambda: fisher(scores[0], scores[1], n_permutations=B, max_p=0.05), 1)
    report(
        f"randomization of {len(PAIRS)} pairs, {B} samples",
        ours,
        {
            "scipy permutation_test (from 1 pair)": seconds(with_scipy) * len(PAIRS),
            "ranx fisher_randomization_test (from 1 pair)": theirs * len(PAIRS),
        },
    )


def bootstrap_test(scores: np.ndarray) -> None:
    studentized_bootstrap(scores, PAIRS, n_samples=300, jobs=1)
    ours = seconds(lambda: studentized_bootstrap(scores, PAIRS, n_samples=B, jobs=1), 1)
    z = scores[0] - scores[1]

    def studentized(x: np.ndarray, axis: int) -> np.ndarray:
        return x.mean(axis=axis) / (x.std(axis=axis, ddof=1) / np.sqrt(x.shape[axis]))

    def with_scipy() -> object:
        return stats.bootstrap(
            (z - z.mean(),),
            studentized,
            n_resamples=B,
            vectorized=True,
            batch=1000,
            method="percentile",
        )

    report(
        f"studentized bootstrap of {len(PAIRS)} pairs, {B} samples",
        ours,
        {"scipy bootstrap of t (from 1 pair)": seconds(with_scipy) * len(PAIRS)},
    )


def audit(n_trials: int = 2000) -> None:
    """Return the p-values of unrelated pairs of runs, by scipy in a loop."""
    rng = np.random.default_rng(1)
    runs = rng.beta(1, 3, (2 * n_trials, 50))
    pairs = np.arange(2 * n_trials).reshape(-1, 2)
    complete = np.ones(len(runs), bool)

    def with_scipy() -> object:
        return [stats.ttest_rel(a, b).pvalue for a, b in zip(runs[::2], runs[1::2], strict=True)]

    report(
        f"paired t of {n_trials} pairs without a run in common",
        seconds(lambda: paired_t(runs, pairs)),
        {
            "from a product of all runs": seconds(lambda: _from_products(runs, complete, pairs)),
            "scipy ttest_rel": seconds(with_scipy, 1),
        },
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicates", type=int, default=300)
    with threadpool_limits(1):
        scores = make_scores(1)[0]
        paired_t(scores, PAIRS)
        print(f"paired t of {len(PAIRS)} pairs: {seconds(lambda: paired_t(scores, PAIRS)):.3g} s")
        replicated_t(parser.parse_args().replicates)
        randomization_test(scores)
        bootstrap_test(scores)
        audit()


if __name__ == "__main__":
    main()
