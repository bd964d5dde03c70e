"""The inner loops of flips with weights: one studentized statistic per pair and pattern."""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import lean_kernel

NOTHING = 1e-12
"""Share of the squares below which what is left of them is rounding."""


@lean_kernel
def weighted_statistics(sums, cross, pairs, squares, weights, out):
    """t of each pair under each sign pattern, numerator and standard error recomputed.

    `sums` [pattern, run]: of signed residuals; `cross` the same, each times its unit's weight;
    `squares` one per pair: of the residuals; `weights`: the sum of squared weights.
    """
    for b in range(sums.shape[0]):
        for p in range(pairs.shape[0]):
            i, j = pairs[p, 0], pairs[p, 1]
            mean = sums[b, i] - sums[b, j]
            left = squares[p] - 2.0 * mean * (cross[b, i] - cross[b, j]) + mean * mean * weights
            if squares[p] <= 0.0:
                out[b, p] = 0.0
            elif left <= NOTHING * squares[p]:
                out[b, p] = np.copysign(np.inf, mean) if mean != 0.0 else 0.0
            else:
                out[b, p] = mean / np.sqrt(left)


@lean_kernel
def topic_statistics(sums, pairs, squares, sizes, weight, out):
    """t of each pair under each sign pattern of topics, datasets being strata.

    `sums` [pattern, dataset, run]: of signed centred scores; `squares` [dataset, pair]: of the
    centred differences; `weight` one per dataset: that of its mean.
    """
    for b in range(sums.shape[0]):
        for p in range(pairs.shape[0]):
            i, j = pairs[p, 0], pairs[p, 1]
            total, variance, most = 0.0, 0.0, 0.0
            for k in range(sums.shape[1]):
                n = sizes[k]
                mean = (sums[b, k, i] - sums[b, k, j]) / n
                total += weight[k] * mean
                scale = weight[k] * weight[k] / (n * (n - 1.0))
                variance += scale * (squares[k, p] - n * mean * mean)
                most += scale * squares[k, p]
            if most <= 0.0:
                out[b, p] = 0.0
            elif variance <= NOTHING * most:
                out[b, p] = np.copysign(np.inf, total) if total != 0.0 else 0.0
            else:
                out[b, p] = total / np.sqrt(variance)
