"""Bins of the difference of two runs, and counts over every pair in every simulated collection."""

from __future__ import annotations

import math

import numpy as np

from steadyrank.compute.kernels import kernel, part
from steadyrank.errors import bad_value, check_number

N_BINS = 21
WIDTH = 0.01
MOST_BINS = 1000
ROUNDED = 0.5e-9
"""Half of the ninth decimal of |d| / width: .03 belongs to [.03, .04), whatever its last bit."""


def check_width(name: str, width: float) -> float:
    """The width of bins: positive, and not so small that rounding decides."""
    if not 1e-9 <= check_number(name, width) < math.inf:
        raise bad_value(name, "be a number above 0, at least 1e-9", width)
    return float(width)


def bin_starts(n_bins: int, width: float) -> np.ndarray:
    """Where each bin begins, as one would write it.

    >>> bin_starts(4, 0.1).tolist()
    [0.0, 0.1, 0.2, 0.3]
    """
    return np.array([float(f"{k * width:.12g}") for k in range(n_bins)])


@kernel
def count_errors(raw, means, width, counts, errors, zeros):
    """Bins of |difference| of all pairs in each replicate: how many, and how many reversed.

    means [replicate, run]; counts and errors [replicate, bin]; zeros [replicate].
    """
    n_replicates, n_runs = means.shape
    last = counts.shape[1] - 1.0
    for b in range(n_replicates):
        for i in range(n_runs):
            for j in range(i + 1, n_runs):
                d = means[b, i] - means[b, j]
                place = np.int64(min(last, abs(d) / width + ROUNDED))
                counts[b, place] += 1
                errors[b, place] += (raw[i] - raw[j]) * d < 0.0
                zeros[b] += d == 0.0


@part
def _kth_largest(values, k):
    """The k-th largest value, by Hoare's selection; the values change places."""
    low, high, place = 0, len(values) - 1, k - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return values[place]


def pair_rates(
    means: np.ndarray,
    errors: np.ndarray,
    pairs: np.ndarray,
    first: int,
    critical: float,
    k: int,
    centre: np.ndarray,
    rates: np.ndarray,
    least: np.ndarray,
) -> None:
    """How often each pair is significant, and the difference that goes with the k-th largest |t|.

    means [run, replicate], errors [pair, replicate] of pairs first to first + len(errors).
    least[0] takes the differences as they are, least[1] those less `centre`.
    """
    # Made here: a kernel that makes arrays takes longer to load.
    room = np.empty((3, means.shape[1]))
    _pair_rates(means, errors, pairs, first, critical, k, centre, room, rates, least)


@kernel
def _pair_rates(means, errors, pairs, first, critical, k, centre, room, rates, least):
    n_samples = means.shape[1]
    t, sizes, d = room[0], room[1], room[2]
    for p in range(first, first + len(errors)):
        own = errors[p - first]
        a, b = means[pairs[p, 0]], means[pairs[p, 1]]
        for recentred in range(2):
            off = centre[p] if recentred else 0.0
            above = 0
            for i in range(n_samples):
                d[i] = abs(a[i] - b[i] - off)
                if d[i] <= 1e-12:
                    d[i] = 0.0
                t[i] = d[i] / own[i] if d[i] > 0.0 else 0.0
                above += t[i] > critical
            if not recentred:
                rates[p] = above / n_samples
            for i in range(n_samples):
                sizes[i] = t[i]
            threshold = _kth_largest(sizes, k)
            for i in range(n_samples):
                if t[i] == threshold:
                    least[recentred, p] = d[i]
                    break


@kernel
def shifted_sums(values, raw, shift, squares):
    """Sums over each row of values [cell, sample] less its raw value, and of their squares."""
    for cell in range(len(values)):
        total = total_squares = 0.0
        for value in values[cell]:
            off = value - raw[cell]
            total += off
            total_squares += off * off
        shift[cell] = total
        squares[cell] = total_squares


@kernel
def difference_variances(values, pairs, out):
    """Variances of the differences of pairs of rows, one by one.

    Products of matrices would depend on threads and on the order of the rows.
    """
    n = values.shape[1]
    for p in range(len(pairs)):
        a, b = values[pairs[p, 0]], values[pairs[p, 1]]
        total = squares = 0.0
        for i in range(n):
            total += a[i] - b[i]
        mean = total / n
        for i in range(n):
            squares += (a[i] - b[i] - mean) ** 2
        out[p] = squares / (n - 1.0)
