"""The inner loops of the paired tests: ranks, sign flips, resamples, counted for many pairs.

Statistics of many pairs under thousands of sign patterns or resamples are counted, never stored: a
matrix product gives the sums of all runs, the sum of a pair is the difference of two of these, and
the kernels count how often it reaches the observed one.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import WORD, high_product, kernel

CANCELLED = 1e-3
"""Below this share of G_ii + G_jj, a variance from the Gram matrix has lost too many digits."""

NOTHING = 1e-12
"""Share of a sum of squares below which a remainder is only rounding."""


@kernel
def standard_errors(centred, gram, out):
    """Write the standard errors of the mean differences of all pairs to out [replicate, pair].

    centred [replicate, run, topic]; gram, its products [replicate, run, run].
    """
    n_replicates, n_runs, n_topics = centred.shape
    for b in range(n_replicates):
        pair = 0
        for i in range(n_runs):
            for j in range(i + 1, n_runs):
                total = gram[b, i, i] + gram[b, j, j]
                squares = total - 2.0 * gram[b, i, j]
                if squares <= CANCELLED * total:
                    squares = 0.0
                    for k in range(n_topics):
                        d = centred[b, i, k] - centred[b, j, k]
                        squares += d * d
                out[b, pair] = np.sqrt(squares / (n_topics * (n_topics - 1.0)))
                pair += 1


@kernel
def signed_ranks(z, tolerance, exact_up_to, w_plus, n_nonzero, ties, pvalue):
    """Write Wilcoxon's W+ of each row of differences, and its exact p if few are non-zero.

    Values closer than the tolerance are tied. `ties` receives the sum of t^3 - t; `pvalue` is
    not changed for rows with more than `exact_up_to` non-zero differences.
    """
    n_pairs, n_topics = z.shape
    sizes = np.empty(n_topics)
    positive = np.empty(n_topics, np.bool_)
    doubled = np.empty(n_topics, np.int64)
    ways = np.empty(exact_up_to * (exact_up_to + 1) // 2 + 1)
    for p in range(n_pairs):
        n = 0
        for k in range(n_topics):
            if abs(z[p, k]) > tolerance[p]:
                sizes[n] = abs(z[p, k])
                positive[n] = z[p, k] > 0
                n += 1
        order = np.argsort(sizes[:n])
        ties[p] = _double_ranks(sizes[:n][order], tolerance[p], doubled)
        twice_w = 0
        for k in range(n):
            if positive[order[k]]:
                twice_w += doubled[k]
        w_plus[p], n_nonzero[p] = twice_w / 2, n
        if n <= exact_up_to:
            limit = min(twice_w, n * (n + 1) - twice_w)
            pvalue[p] = min(1.0, 2.0 * _lower_tail(doubled[:n], limit, ways))


@kernel
def signed_rank_limits(z, tolerance, exact_up_to, alpha, quantile, limits):
    """Write the limits of the pseudomedian of each row's non-zero values at which the test rejects.

    `quantile` is the normal quantile of 1 - alpha / 2, for more than `exact_up_to` values.
    """
    n_pairs, n_topics = z.shape
    values = np.empty(n_topics)
    doubled = np.empty(n_topics, np.int64)
    ways = np.empty(exact_up_to * (exact_up_to + 1) + 1)
    for p in range(n_pairs):
        n = 0
        for k in range(n_topics):
            if abs(z[p, k]) > tolerance[p]:
                values[n] = z[p, k]
                n += 1
        tie_sum = _double_ranks(np.sort(np.abs(values[:n])), tolerance[p], doubled)
        if n <= exact_up_to:
            most = _rejected_sum(doubled[:n], alpha, ways)
        else:
            spread = np.sqrt(n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tie_sum / 48.0)
            most = np.floor(n * (n + 1.0) / 4.0 - 0.5 - quantile * spread)
        limits[p, 0], limits[p, 1] = -np.inf, np.inf
        if n > 0 and most >= 0.0:
            ordered = np.sort(values[:n])
            limits[p, 0] = _walsh_average(ordered, int(most) + 1)
            limits[p, 1] = -_walsh_average(-ordered[::-1], int(most) + 1)


@kernel
def _double_ranks(sizes, tolerance, doubled):
    """Write twice the mid-ranks of sorted sizes; return the sum of t^3 - t over ties."""
    n, first, tie_sum = len(sizes), 0, 0.0
    while first < n:
        stop = first + 1
        while stop < n and sizes[stop] - sizes[stop - 1] <= tolerance:
            stop += 1
        count = float(stop - first)
        tie_sum += count * count * count - count
        doubled[first:stop] = first + 1 + stop
        first = stop
    return tie_sum


@kernel
def _count_ways(doubled, limit, ways):
    """Write how many subsets of the ranks have each sum up to the limit."""
    ways[: limit + 1] = 0.0
    ways[0] = 1.0
    for rank in doubled:
        for total in range(limit, rank - 1, -1):
            ways[total] += ways[total - rank]


@kernel
def _rejected_sum(doubled, alpha, ways):
    """Return the largest rank sum w with 2 P(W <= w) <= alpha, rounded down; -1 if none."""
    total = 0
    for rank in doubled:
        total += rank
    _count_ways(doubled, total, ways)
    chance, last = 0.0, -1
    for twice in range(total + 1):
        chance += ways[twice] / 2.0 ** len(doubled)
        if 2.0 * chance > alpha * (1.0 + 1e-12):
            break
        last = twice
    return np.floor(last / 2.0) if last >= 0 else -1.0


@kernel
def _walsh_average(ordered, rank):
    """Return the rank-th smallest mean of two sorted values; each is also paired with itself."""
    low, high = ordered[0], ordered[-1]
    close = 1e-15 * max(abs(low), abs(high))
    if _means_up_to(ordered, low) >= rank:
        return low
    while True:
        middle = low + 0.5 * (high - low)
        if middle <= low or middle >= high or high - low <= close:
            return high
        if _means_up_to(ordered, middle) >= rank:
            high = middle
        else:
            low = middle


@kernel
def _means_up_to(ordered, value):
    """Return how many means of two sorted values are at most `value`, in one pass."""
    count, other = 0, len(ordered) - 1
    for i in range(len(ordered)):
        while other >= i and 0.5 * (ordered[i] + ordered[other]) > value:
            other -= 1
        if other < i:
            break
        count += other - i + 1
    return count


@kernel
def _lower_tail(doubled, limit, ways):
    """Return P(2 W+ <= limit) for random signs, by counting the subsets of each sum."""
    _count_ways(doubled, limit, ways)
    return ways[: limit + 1].sum() / 2.0 ** len(doubled)


@kernel
def count_run_differences(sums, pairs, limit, counts):
    """Count how often |sums[i, b] - sums[j, b]| reaches the limit of the pair (i, j), over b."""
    for p in range(len(pairs)):
        first, second, bound = sums[pairs[p, 0]], sums[pairs[p, 1]], limit[p]
        count = 0
        for b in range(sums.shape[1]):
            count += abs(first[b] - second[b]) >= bound
        counts[p] += count


@kernel
def count_extreme(values, limit, two_sided, counts):
    """Count how often values[b, p], or its size if two-sided, reaches the limit of p, over b."""
    for b in range(values.shape[0]):
        for p in range(values.shape[1]):
            value = abs(values[b, p]) if two_sided else values[b, p]
            counts[p] += value >= limit[p]


@kernel
def topic_weights(drawn, weights):
    """Write how often each topic was drawn in each row of draws."""
    weights[:] = 0.0
    for b in range(drawn.shape[0]):
        for k in range(drawn.shape[1]):
            weights[b, drawn[b, k]] += 1.0


@kernel
def resampled_t(sums, squares, cross, along, total, spread, n, shift, largest):
    """Turn sums [replicate, pair] of the residuals of drawn units into t*, in place.

    With e the residuals and s the shares of the n units that a replicate draws, `squares` are the
    sums of e², `along` times `cross` those of e s, `total` [replicate] those of s and `spread`
    those of s². The mean of a resample is m = sum(e) / sum(s), and its variance
    n / (n - 1) sum (e - m s)² / sum(s)². For plain topics, with a share of 1/n, this is Student's.
    A resample without variance has t* = ±inf, or 0 if its mean is 0.
    """
    for b in range(sums.shape[0]):
        inverse = 1.0 / total[b]
        for p in range(sums.shape[1]):
            mean = sums[b, p] * inverse
            left = squares[b, p] + mean * (mean * spread[b] - 2.0 * along * cross[b, p])
            centre = mean - shift[p]
            t = centre * total[b] * np.sqrt((n - 1.0) / (n * left))
            # Largest rounding error of equal terms.
            least = 1e-12 * largest[p]
            if left <= 1e-12 * squares[b, p] or left * n <= least * least:
                t = 0.0 if abs(centre) <= least else np.copysign(np.inf, centre)
            sums[b, p] = t


@kernel
def unit_statistics(sums, cross, pairs, squares, spread, out):
    """Write t of each pair (i, j) under each sign pattern b, with the standard error recomputed.

    `sums` [stratum, run, pattern] are sums of the units' signed values v; `cross` are sums of
    v f s, with s the share of a unit and f = m / (m - 1) for the m units of its stratum; `squares`
    [stratum, pair] are f sum v² of the pairs, which do not depend on signs, and `spread` [stratum]
    is f sum s². A stratum's mean M has the variance f sum (v - M s)², here multiplied out. t is
    infinite if a pattern gives a difference without variance, and 0 if both are 0.
    """
    n_strata, _, n_patterns = sums.shape
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        most = 0.0
        for k in range(n_strata):
            most += squares[k, p]
        for b in range(n_patterns):
            total, variance = 0.0, 0.0
            for k in range(n_strata):
                mean = sums[k, i, b] - sums[k, j, b]
                along = cross[k, i, b] - cross[k, j, b]
                total += mean
                variance += squares[k, p] - 2.0 * mean * along + mean * mean * spread[k]
            if most <= 0.0:
                out[p, b] = 0.0
            elif variance <= NOTHING * most:
                out[p, b] = np.copysign(np.inf, total) if total * total > NOTHING * most else 0.0
            else:
                out[p, b] = total / np.sqrt(variance)


@kernel
def signed_differences(sums, pairs, weight, out):
    """Write (sums[i, b] - sums[j, b]) weight for each pair (i, j) and sign pattern b."""
    for p in range(pairs.shape[0]):
        first, second = sums[pairs[p, 0]], sums[pairs[p, 1]]
        for b in range(sums.shape[1]):
            out[p, b] = (first[b] - second[b]) * weight[p]


@kernel
def look_up(values, row, table, out):
    """Map values [pair, pattern] in [-1, 1] by the pair's row of a table on an equidistant grid."""
    last = table.shape[1] - 1
    for p in range(values.shape[0]):
        heights = table[row[p]]
        for b in range(values.shape[1]):
            place = min(abs(values[p, b]), 1.0) * last
            below = min(int(place), last - 1)
            low, high = heights[below], heights[below + 1]
            size = low + (high - low) * (place - below)
            out[p, b] = size if values[p, b] >= 0.0 else -size


@kernel
def step_counts(values, rows, weight, observed, members, starts, skip, counts, largest):
    """Stepdown in many families: count how often the largest statistic reaches each observed one.

    The statistic of pair p under pattern b is (values[i, b] - values[j, b]) weight[p], with i and j
    its `rows`, for the hypothesis that the first run of the pair is not better. Its negative is for
    the other direction, which is never rejected and so is part of every step. Under the negative of
    a pattern, which counts as a pattern, the two are exchanged. `observed` descends with p.

    Family f has the pairs `members[starts[f] : starts[f + 1]]`, in this order, of which the first
    `skip` are already rejected: only their other direction is part of the step. The counts are
    added to `counts` [member], and `largest` [2, pattern] receives the maximum of the first
    family's remaining hypotheses for each pattern and for its negative.

    The loop runs over pairs, all patterns of a pair at once, and holds only the largest statistics
    so far.
    """
    n_patterns = values.shape[1]
    scratch = np.empty((2, n_patterns))
    for f in range(len(starts) - 1):
        most = largest if f == 0 else scratch
        plus, minus = most[0], most[1]
        plus[:] = 0.0
        minus[:] = 0.0
        first = starts[f] + skip
        for k in range(starts[f], starts[f + 1]):
            p = members[k]
            better, worse = values[rows[p, 0]], values[rows[p, 1]]
            for b in range(n_patterns):
                value = (better[b] - worse[b]) * weight[p]
                minus[b] = value if value > minus[b] else minus[b]
                plus[b] = -value if -value > plus[b] else plus[b]
        for k in range(starts[f + 1] - 1, first - 1, -1):
            p = members[k]
            better, worse, bound = values[rows[p, 0]], values[rows[p, 1]], observed[p]
            reached = 0
            for b in range(n_patterns):
                value = (better[b] - worse[b]) * weight[p]
                up = value if value > plus[b] else plus[b]
                down = -value if -value > minus[b] else minus[b]
                plus[b], minus[b] = up, down
                reached += (up >= bound) + (down >= bound)
            counts[k] += reached


@kernel
def permuted_ranges(by_topic, words, ranges):
    """Write the range of the runs' sums after shuffling every topic to ranges [replicate].

    `by_topic` is [topic, run]; `words` [replicate, topic, run - 1] holds one random word for each
    step of a Fisher-Yates shuffle, mapped to 0..j by the upper half of word times (j + 1): the bias
    is below runs / 2^64.
    """
    n_topics, n_runs = by_topic.shape
    sums = np.empty(n_runs)
    dealt = np.empty(n_runs)
    for replicate in range(ranges.size):
        sums[:] = 0.0
        for topic in range(n_topics):
            dealt[:] = by_topic[topic]
            for j in range(n_runs - 1, 0, -1):
                chosen = np.int64(high_product(words[replicate, topic, j - 1], WORD(j + 1)))
                sums[j] += dealt[chosen]
                dealt[chosen] = dealt[j]
            sums[0] += dealt[0]
        ranges[replicate] = sums.max() - sums.min()
