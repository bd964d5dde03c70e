"""Flips of two independent parts: the t of every pair under every pattern of signs."""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import lean_kernel


@lean_kernel
def two_part_t(own, further, pairs, own_squares, further_squares, n, n_more, tiny, out):
    """t of (own[b, i] - own[b, j]) / n + (further[b, i] - further[b, j]) / n_more for each pair.

    `own` and `further` are sums of signed centred scores, [pattern, run]; the squares those of the
    centred differences, which no flip changes. Numerator and standard error are both of the
    pattern: infinite where a pattern leaves a difference without spread, 0 where it leaves neither.
    """
    own_scale, further_scale = 1.0 / (n * (n - 1.0)), 1.0 / (n_more * (n_more - 1.0))
    for b in range(own.shape[0]):
        for p in range(pairs.shape[0]):
            i, j = pairs[p, 0], pairs[p, 1]
            first = own[b, i] - own[b, j]
            second = further[b, i] - further[b, j]
            variance = (own_squares[p] - first * first / n) * own_scale + (
                further_squares[p] - second * second / n_more
            ) * further_scale
            mean = first / n + second / n_more
            if variance > tiny[p]:
                out[b, p] = mean / np.sqrt(variance)
            else:
                out[b, p] = np.copysign(np.inf, mean) if mean * mean > tiny[p] else 0.0
