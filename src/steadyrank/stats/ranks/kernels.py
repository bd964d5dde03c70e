"""Numbers of systems above a system in two rankings: the inner loops of tau and tau_AP.

One ranking is read from the top, while a bit set holds the positions in the other ranking of the
systems read so far. The number of bits below a position is the number of systems that precede it in
both. A cumulative count for every word of bits makes that a single look-up for any number of
systems. Rankings with ties are read one tie group at a time.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import WORD, count_ones, inlined, kernel, part

LANES = 8
"""The number of cumulative counts is a multiple of this, for vector instructions."""


def _workspace(n: int) -> tuple[np.ndarray, ...]:
    """Return memory for the bit set, its counts, and the credits in two rankings of n systems.

    It is allocated outside of the kernels: one that allocates arrays takes longer to load.
    """
    # Positions are 0 to n, n included: a tie group may end there.
    n_words = ((n >> 6) // LANES + 1) * LANES
    bits, counts = np.empty(n_words, np.uint64), np.empty(n_words, np.int32)
    return bits, counts, np.empty(n, np.int64), np.empty(n, np.int64)


@inlined
def _insert(bits, counts, position):
    own = position >> 6
    bits[own] |= WORD(1) << WORD(position & 63)
    for word in range(len(counts)):
        counts[word] += np.int32(word > own)


@inlined
def _below(bits, counts, position):
    """Return how many of the inserted positions are smaller than `position`."""
    word = position >> 6
    lower = (WORD(1) << WORD(position & 63)) - WORD(1)
    return counts[word] + np.int64(count_ones(bits[word] & lower))


@part
def _tie_groups(row, order, first, stop):
    """Write the bounds of the tie group of each position of `order`; return tied pairs."""
    n, tied, start = len(order), 0, 0
    while start < n:
        end = start + 1
        while end < n and row[order[end]] == row[order[start]]:
            end += 1
        for k in range(start, end):
            first[k], stop[k] = start, end
        tied += (end - start) * (end - start - 1) // 2
        start = end
    return tied


@part
def _walk_untied(positions, work):
    """As `_walk`, for rankings without ties: twice as fast."""
    bits, counts, here, there = work
    concordant = 0
    for k in range(len(positions)):
        position = positions[k]
        above = _below(bits, counts, position)
        _insert(bits, counts, position)
        concordant += above
        here[k] = 2 * above
        there[position] = 2 * above
    return concordant


@part
def _walk_groups(positions, stop, other_first, other_stop, share, work):
    bits, counts, here, there = work
    n, concordant, tied_there, start = len(positions), 0, 0, 0
    for k in range(n):
        here[k] = 0
        there[k] = 0
    while start < n:
        end = stop[start]
        split = share if end - start > 1 else 0
        for k in range(start, end):
            top, bottom = other_first[positions[k]], other_stop[positions[k]]
            above = _below(bits, counts, top)
            tied = _below(bits, counts, bottom) - above if bottom - top > 1 else 0
            concordant += above
            tied_there += tied
            here[start] += 2 * above + share * tied
            there[top] += (2 - split) * above
        for k in range(start, end):
            _insert(bits, counts, positions[k])
        if split:
            for k in range(start, end):
                top = other_first[positions[k]]
                there[top] += _below(bits, counts, top)
        start = end
    return concordant, tied_there


@part
def _walk(positions, tied, stop, other_first, other_stop, share, work):
    """Count pairs in the same strict order in both rankings, and pairs tied only in the other.

    `positions` are those in the other ranking, in the order of this one; `tied` is 0 if neither
    ranking has ties. The last two arrays of `work` receive the credit for tau_AP of each tie group
    of this and of the other ranking, at its first position. A system's credit is twice the number
    of systems above it in both rankings, plus `share` (0 or 1) for each system above it in one
    ranking and tied with it in the other. Credits are integers, so that sums are exact.
    """
    for word in range(len(work[0])):
        work[0][word] = 0
        work[1][word] = 0
    if tied == 0:
        return _walk_untied(positions, work), 0
    return _walk_groups(positions, stop, other_first, other_stop, share, work)


@part
def _tau_b(concordant, tied_there, n, tied, other_tied):
    total = n * (n - 1) // 2
    untied, other_untied = total - tied, total - other_tied
    difference = 2 * concordant - (untied - tied_there)
    # One root of the product, not a product of roots: perfect agreement is exactly 1.
    return difference / np.sqrt(float(untied) * float(other_untied))


@part
def _weights(stop, share, weight):
    """Write the weight of credit in each tie group; return credit among ties, and the divisor.

    With `share`, tied systems take each rank of their group equally often, and half of the
    tied systems above are in order. Without, they all have the first rank of their group.
    """
    n, among, start = len(stop), 0.0, 0
    while start < n:
        end = stop[start]
        for k in range(start, end):
            weight[k] = 0.0
        for k in range(max(start, 1), end if share else start + 1):
            weight[start] += 1.0 / k
            if share:
                among += (k - start) / k
        if share:
            weight[start] /= end - start
        start = end
    return among, n - 1 if share or n == 0 else n - stop[0]


@part
def _tau_ap(credit, weight, among, divisor):
    """Return tau_AP from the credits of each tie group; NaN if no system is above another."""
    if divisor <= 0:
        return np.nan
    total = among
    for k in range(len(credit)):
        total += weight[k] * credit[k]
    return min(1.0, total / divisor - 1.0)


def taus_against(
    reference: np.ndarray, samples: np.ndarray, orders: np.ndarray, taus: np.ndarray
) -> np.ndarray:
    """Write tau-b of each row of `samples` with the reference, which is sorted.

    Returns counts [sample, 4]: concordant pairs, pairs tied only in the reference, and tied pairs
    of the sample and of the reference. `orders` sort the samples.
    """
    n, counts = len(reference), np.empty((len(samples), 4), np.int64)
    groups = np.empty((4, n), np.int64)
    _taus_against(reference, samples, orders, np.arange(n), groups, _workspace(n), taus, counts)
    return counts


@kernel
def _taus_against(reference, samples, orders, numbers, groups, work, taus, counts):
    first, stop, own_first, own_stop = groups[0], groups[1], groups[2], groups[3]
    tied = _tie_groups(reference, numbers, first, stop)
    for b in range(len(samples)):
        own_tied = _tie_groups(samples[b], orders[b], own_first, own_stop)
        concordant, tied_there = _walk(orders[b], own_tied + tied, own_stop, first, stop, 0, work)
        taus[b] = _tau_b(concordant, tied_there, len(reference), own_tied, tied)
        counts[b, 0], counts[b, 1], counts[b, 2], counts[b, 3] = (
            concordant,
            tied_there,
            own_tied,
            tied,
        )


def pair_correlations(
    values: np.ndarray,
    orders: np.ndarray,
    share: int,
    tau: np.ndarray,
    forward: np.ndarray,
    backward: np.ndarray,
) -> None:
    """Write tau-b and both directions of tau_AP of all pairs of measures in each sample.

    values and orders [sample, measure, system], orders from the best down; results
    [sample, pair]. In `forward` the pair's first measure is the estimate.
    """
    _, n_measures, n = values.shape
    groups, whole = np.empty((3, n_measures, n), np.int64), np.empty((2, n_measures), np.int64)
    weight, among = np.empty((n_measures, n)), np.empty(n_measures)
    positions, work = np.empty(n, np.int64), _workspace(n)
    results = (tau, forward, backward)
    _pair_correlations(
        values, orders, share, groups, whole, weight, among, positions, work, results
    )


@kernel
def _pair_correlations(
    values, orders, share, groups, whole, weight, among, positions, work, results
):
    n_samples, n_measures, n = values.shape
    first, stop, place = groups[0], groups[1], groups[2]
    tied, divisor = whole[0], whole[1]
    tau, forward, backward = results
    for b in range(n_samples):
        for i in range(n_measures):
            tied[i] = _tie_groups(values[b, i], orders[b, i], first[i], stop[i])
            among[i], divisor[i] = _weights(stop[i], share, weight[i])
            for k in range(n):
                place[i, orders[b, i, k]] = k
        pair = 0
        for i in range(n_measures):
            for j in range(i + 1, n_measures):
                for k in range(n):
                    positions[k] = place[j, orders[b, i, k]]
                concordant, tied_there = _walk(
                    positions, tied[i] + tied[j], stop[i], first[j], stop[j], share, work
                )
                tau[b, pair] = _tau_b(concordant, tied_there, n, tied[i], tied[j])
                forward[b, pair] = _tau_ap(work[2], weight[i], among[i], divisor[i])
                backward[b, pair] = _tau_ap(work[3], weight[j], among[j], divisor[j])
                pair += 1
