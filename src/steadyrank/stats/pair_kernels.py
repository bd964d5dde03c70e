"""The inner loops of the paired tests: ranks, sign flips, resamples, counted for many pairs."""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import kernel, lean_kernel

CANCELLED = 1e-3
"""Below this share of G_ii + G_jj, a variance from the Gram matrix has lost too many digits."""

RESTART = 1024
"""Sign flips after which the running sum is taken afresh, so that rounding cannot add up."""


@lean_kernel
def standard_errors(centred, gram, out):
    """Of the mean difference of all pairs in each replicate: centred [replicate, run, topic],
    gram its products [replicate, run, run], out [replicate, pair].
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
def replicate_t(means, errors, out):
    """Paired t of all pairs in each replicate; 0 for an identical pair: it is not significant."""
    n_replicates, n_runs = means.shape
    for b in range(n_replicates):
        pair = 0
        for i in range(n_runs):
            for j in range(i + 1, n_runs):
                difference = means[b, i] - means[b, j]
                alike = abs(difference) <= 1e-12
                out[b, pair] = 0.0 if alike else difference / errors[b, pair]
                pair += 1


@kernel
def signed_ranks(z, tolerance, exact_up_to, w_plus, n_nonzero, ties, pvalue):
    """Wilcoxon's W+ of each row of differences, and its exact p where few enough are non-zero.

    Values closer than the tolerance are tied. `ties` receives the sum of t^3 - t; `pvalue` is
    left alone where the normal approximation is due.
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
        first, twice_w, tie_sum = 0, 0, 0.0
        while first < n:
            stop = first + 1
            while stop < n and sizes[order[stop]] - sizes[order[stop - 1]] <= tolerance[p]:
                stop += 1
            count = float(stop - first)
            tie_sum += count * count * count - count
            for k in range(first, stop):
                doubled[k] = first + 1 + stop
                if positive[order[k]]:
                    twice_w += doubled[k]
            first = stop
        w_plus[p], n_nonzero[p], ties[p] = twice_w / 2, n, tie_sum
        if n <= exact_up_to:
            limit = min(twice_w, n * (n + 1) - twice_w)
            pvalue[p] = min(1.0, 2.0 * _lower_tail(doubled[:n], limit, ways))


@kernel
def _lower_tail(doubled, limit, ways):
    """P(2 W+ <= limit) when every sign is a fair coin, by counting the subsets of each sum."""
    ways[: limit + 1] = 0.0
    ways[0] = 1.0
    for rank in doubled:
        for total in range(limit, rank - 1, -1):
            ways[total] += ways[total - rank]
    return ways[: limit + 1].sum() / 2.0 ** len(doubled)


@kernel
def exact_flips(z, tolerance, pvalue):
    """Share of all sign flips of each row whose |sum| reaches the observed one."""
    n_pairs, n_topics = z.shape
    kept = np.empty(n_topics)
    for p in range(n_pairs):
        n, observed, size = 0, 0.0, 0.0
        for k in range(n_topics):
            if abs(z[p, k]) > tolerance[p]:
                kept[n] = z[p, k]
                observed += z[p, k]
                size += abs(z[p, k])
                n += 1
        if n == 0:
            pvalue[p] = 1.0
            continue
        limit = abs(observed) - max(tolerance[p], 1e-12 * size)
        # The last sign stays: flipping all signs keeps |sum|.
        flips = 1 << (n - 1)
        count, total = 0, observed
        for step in range(flips):
            gray = step ^ (step >> 1)
            if step % RESTART == 0:
                total = 0.0
                for k in range(n):
                    total += -kept[k] if (gray >> k) & 1 else kept[k]
            else:
                bit = 0
                while not (step >> bit) & 1:
                    bit += 1
                total += -2.0 * kept[bit] if (gray >> bit) & 1 else 2.0 * kept[bit]
            if abs(total) >= limit:
                count += 1
        pvalue[p] = count / flips


@lean_kernel
def count_run_differences(sums, pairs, limit, counts):
    """How often |sums[i, b] - sums[j, b]| reaches the limit of the pair (i, j), over b."""
    for p in range(len(pairs)):
        first, second, bound = sums[pairs[p, 0]], sums[pairs[p, 1]], limit[p]
        count = 0
        for b in range(sums.shape[1]):
            count += abs(first[b] - second[b]) >= bound
        counts[p] += count


@lean_kernel
def count_extreme(values, limit, two_sided, counts):
    """How often values[b, p], or its size if two-sided, reaches the limit of p, over b."""
    for b in range(values.shape[0]):
        for p in range(values.shape[1]):
            value = abs(values[b, p]) if two_sided else values[b, p]
            counts[p] += value >= limit[p]


@lean_kernel
def topic_weights(drawn, weights):
    """How often each topic was drawn, in each row of draws."""
    weights[:] = 0.0
    for b in range(drawn.shape[0]):
        for k in range(drawn.shape[1]):
            weights[b, drawn[b, k]] += 1.0


@lean_kernel
def resampled_t(sums, squares, n, shift, largest):
    """Turn sums of resampled centred differences into t*, in place; `squares` are their squares'.

    A resample without variance has t* = ±inf, or 0 if its mean is 0 too.
    """
    for b in range(sums.shape[0]):
        for p in range(sums.shape[1]):
            mean = sums[b, p] / n
            spread = squares[b, p] - n * mean * mean
            centre = mean - shift[p]
            t = centre * np.sqrt(n * (n - 1.0) / spread)
            if spread <= 1e-12 * squares[b, p] or spread <= n * (1e-12 * largest[p]) ** 2:
                t = 0.0 if abs(centre) <= 1e-12 * largest[p] else np.copysign(np.inf, centre)
            sums[b, p] = t
