"""Bins of differences of two runs, and counts over all pairs in all simulated collections."""

from __future__ import annotations

import math

import numpy as np

from steadyrank.compute.kernels import kernel, part
from steadyrank.errors import bad_value, check_number

N_BINS = 21
WIDTH = 0.01
MOST_BINS = 1000
ROUNDED = 0.5e-9
"""Half of the ninth decimal of |d| / width: .03 belongs to [.03, .04) despite rounding."""


def check_width(name: str, width: float) -> float:
    """Return a valid width of bins: positive, and larger than rounding errors."""
    if not 1e-9 <= check_number(name, width) < math.inf:
        raise bad_value(name, "be a number above 0, at least 1e-9", width)
    return float(width)


def bin_starts(n_bins: int, width: float) -> np.ndarray:
    """Return the start of each bin as a short decimal number.

    >>> bin_starts(4, 0.1).tolist()
    [0.0, 0.1, 0.2, 0.3]
    """
    return np.array([float(f"{k * width:.12g}") for k in range(n_bins)])


@kernel
def count_errors(raw, means, width, counts, errors, zeros):
    """Count pairs, and reversed pairs, by bin of |difference| in each replicate.

    means [replicate, run]; counts and errors [replicate, bin]; zeros [replicate] counts ties.
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
    """Return the k-th largest value, by Hoare's selection; reorders the values."""
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
    """Write how often each pair is significant, and the difference at the k-th largest |t|.

    means [run, replicate], errors [pair, replicate] of pairs first to first + len(errors).
    least[0] is for the differences, least[1] for the differences minus `centre`.
    """
    # Allocated here: a kernel that allocates arrays takes longer to load.
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
    """Write sums over each row of values [cell, sample] minus its raw value, and of squares."""
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
    """Write the variances of the differences of pairs of rows, computed one by one.

    Rounding of matrix products would depend on threads and on the order of the rows.
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
