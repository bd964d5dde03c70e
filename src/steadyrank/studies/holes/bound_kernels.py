"""The largest difference of two rankings over all completions of one topic.

Entries of a ranking are its open holes in the order of documents, with their weights. A document
that both rankings have gets one grade, and counts with the difference of its weights. All pairs of
a call have the same second ranking: its weights are laid out by document once per topic, so that a
pair costs one pass over the holes of the first. Holes of the second ranking alone only lower a
difference, and need to be looked at only where even the largest difference is below 0: there they
can still lengthen the ideal list. What is smallest is what is largest with the rankings exchanged.
`bounds` has the proofs.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import inlined, kernel, part

MOST_STEPS = 100
"""Of an iteration that ends, in exact arithmetic, after a few."""


@part
def longest_cell(blocks):
    """The most entries that a cell has."""
    longest = 0
    for c in range(len(blocks) - 1):
        longest = max(longest, blocks[c + 1] - blocks[c])
    return longest


@part
def _lay_out(documents, values, entry, end, start, out):
    """Write the values of a ranking's holes to the places of their documents in the topic."""
    for i in range(entry, end):
        out[documents[i] - start] = values[i]


@part
def _clear(documents, entry, end, start, out):
    """Write 0 where `_lay_out` wrote."""
    for i in range(entry, end):
        out[documents[i] - start] = 0.0


@part
def _gains(documents, first, entry, end, start, other, out):
    """Write first - other for each hole of the first ranking where it is above 0: how many."""
    n = 0
    for i in range(entry, end):
        difference = first[i] - other[documents[i] - start]
        # Written whether it counts or not: without a branch the loop runs at full speed.
        out[n] = difference
        n += difference > 0.0
    return n


@part
def _merge(documents, first, second, a, a_end, b, b_end, out):
    """Write first - second for each document that either ranking has, and count them."""
    n = 0
    while a < a_end or b < b_end:
        if b >= b_end or (a < a_end and documents[a] < documents[b]):
            out[n] = first[a]
            a += 1
        elif a >= a_end or documents[b] < documents[a]:
            out[n] = -second[b]
            b += 1
        else:
            out[n] = first[a] - second[b]
            a += 1
            b += 1
        n += 1
    return n


@inlined
def _ideal(sums, n):
    """The normaliser of n documents of gain 1."""
    if len(sums) == 0:
        return float(n)
    return sums[min(n, len(sums) - 1)]


@part
def _choices(differences, n, n_others, worth, counts):
    """What the best j documents are worth together, for every j; differences ascend.

    `n_others` documents that neither ranking has are worth 0: taken all or none, between those
    worth more and those worth less. Returns how many choices there are.
    """
    worth[0] = 0.0
    counts[0] = 0
    j = 0
    others_due = n_others > 0
    i = n - 1
    while i >= 0 or others_due:
        j += 1
        if others_due and (i < 0 or differences[i] <= 0.0):
            worth[j] = worth[j - 1]
            counts[j] = counts[j - 1] + n_others
            others_due = False
        else:
            worth[j] = worth[j - 1] + differences[i]
            counts[j] = counts[j - 1] + 1
            i -= 1
    return j + 1


@part
def _best_grades(rate, n_choices, worth, counts, steps, above, sums, least, work):
    """Grades that maximise numerator - rate × normaliser: what they add to the two.

    Documents of grade g and above are the first so many, for each g, and the more the lower g.
    Going down from the highest grade, work[0, j] is the best value where at most choice j has been
    taken so far, work[1, j] and work[2, j] its numerator and normaliser.
    """
    for j in range(n_choices):
        work[0, j] = work[1, j] = work[2, j] = 0.0
    for g in range(len(steps) - 1, -1, -1):
        best, top, bottom = -np.inf, 0.0, 0.0
        for j in range(n_choices):
            if work[0, j] > best:
                best, top, bottom = work[0, j], work[1, j], work[2, j]
            gained = steps[g] * worth[j]
            ideal = steps[g] * _ideal(sums, above[g] + counts[j])
            work[0, j] = best + gained - rate * ideal
            work[1, j] = top + gained
            work[2, j] = bottom + ideal
    best = least
    for j in range(least, n_choices):
        if work[0, j] > work[0, best]:
            best = j
    return work[1, best], work[2, best]


@part
def largest_ratio(judged, differences, n, n_others, steps, above, sums, worth, counts, work):
    """The largest (judged + gained) / normaliser over all completions: Dinkelbach's iteration.

    Differences ascend.
    """
    n_choices = _choices(differences, n, n_others, worth, counts)
    if len(steps) == 0:
        return 0.0
    if above[0] == 0 and n_choices == 1:
        return 0.0  # Nothing is relevant, and nothing can be.
    # Without a relevant document the score is 0; then the others have one at least.
    least = 1 if above[0] == 0 else 0
    top, ideal = _best_grades(0.0, n_choices, worth, counts, steps, above, sums, least, work)
    rate = (judged + top) / ideal
    for _ in range(MOST_STEPS):
        top, ideal = _best_grades(rate, n_choices, worth, counts, steps, above, sums, least, work)
        better = (judged + top) / ideal
        if better <= rate:
            break
        rate = better
    return max(rate, 0.0) if least else rate


@part
def _largest_mean(judged, differences, n, n_relevant):
    """The same where each relevant document adds 1 to the normaliser, and all differences are
    above 0: those above the rate are relevant, so nothing needs to be sorted.

    As the rate rises, documents drop out for good.
    """
    if n_relevant == 0:
        largest = 0.0
        for i in range(n):
            largest = max(largest, differences[i])
        return largest
    total = judged
    for i in range(n):
        total += differences[i]
    rate = total / (n_relevant + n)
    while True:
        kept, total = 0, judged
        for i in range(n):
            difference = differences[i]
            differences[kept] = difference
            if difference > rate:
                kept += 1
                total += difference
        if kept == n:
            return rate
        n = kept
        rate = max(rate, total / (n_relevant + n))


@kernel
def ratio_bounds(
    blocks,
    documents,
    most,
    least,
    judged_most,
    judged_least,
    hole_blocks,
    pairs,
    n_holes,
    steps,
    above,
    sums,
    out,
):
    """Write the largest difference of each pair on each topic to out[pair, topic].

    Holes count at their `most` in the first ranking, at their `least` in the second; so do the
    sums of the judged documents [cell]. above [topic, step] is how many judged documents have the
    grade that a step leads to.
    """
    n_topics = len(hole_blocks) - 1
    size = 2 * longest_cell(blocks) + 2
    differences, worth, work = np.empty(size), np.empty(size), np.empty((3, size))
    counts = np.empty(size, np.int64)
    other = np.zeros(longest_cell(hole_blocks))
    counted = len(sums) == 0 and len(steps) == 1
    top_gain = steps.sum()
    for t in range(n_topics):
        b, start = pairs[0, 1] * n_topics + t, hole_blocks[t]
        _lay_out(documents, least, blocks[b], blocks[b + 1], start, other)
        for p in range(len(pairs)):
            a = pairs[p, 0] * n_topics + t
            judged = judged_most[a] - judged_least[b]
            n = _gains(documents, most, blocks[a], blocks[a + 1], start, other, differences)
            if judged + top_gain * differences[:n].sum() < 0.0:
                n = _merge(
                    documents,
                    most,
                    least,
                    blocks[a],
                    blocks[a + 1],
                    blocks[b],
                    blocks[b + 1],
                    differences,
                )
                n_others = n_holes[t] - n
            elif counted:
                out[p, t] = _largest_mean(judged, differences, n, above[t, 0])
                continue
            else:
                n_others = 0
            differences[:n].sort()
            out[p, t] = largest_ratio(
                judged, differences, n, n_others, steps, above[t], sums, worth, counts, work
            )
        _clear(documents, blocks[b], blocks[b + 1], start, other)


@kernel
def ratio_run_bounds(blocks, weights, judged, n_holes, steps, above, sums, out):
    """The largest score out[run, topic]: each ranking against none."""
    size = longest_cell(blocks) + 2
    differences, worth, work = np.empty(size), np.empty(size), np.empty((3, size))
    counts = np.empty(size, np.int64)
    n_runs, n_topics = out.shape
    for r in range(n_runs):
        for t in range(n_topics):
            c = r * n_topics + t
            n = blocks[c + 1] - blocks[c]
            differences[:n] = weights[blocks[c] : blocks[c + 1]]
            differences[:n].sort()
            out[r, t] = largest_ratio(
                judged[c],
                differences,
                n,
                n_holes[t] - n,
                steps,
                above[t],
                sums,
                worth,
                counts,
                work,
            )


@kernel
def linear_bounds(
    blocks, documents, most, least, judged_most, judged_least, hole_blocks, pairs, gain, out
):
    """The largest differences out[pair, topic]: the holes that favour the first, all of `gain`."""
    n_topics = len(hole_blocks) - 1
    other = np.zeros(longest_cell(hole_blocks))
    for t in range(n_topics):
        b, start = pairs[0, 1] * n_topics + t, hole_blocks[t]
        _lay_out(documents, least, blocks[b], blocks[b + 1], start, other)
        for p in range(len(pairs)):
            a = pairs[p, 0] * n_topics + t
            gained = 0.0
            for i in range(blocks[a], blocks[a + 1]):
                gained += max(most[i] - other[documents[i] - start], 0.0)
            out[p, t] = judged_most[a] - judged_least[b] + gain * gained
        _clear(documents, blocks[b], blocks[b + 1], start, other)


@kernel
def first_bounds(blocks, documents, values, judged, hole_blocks, pairs, out):
    """The largest differences out[pair, topic] where one relevant document decides.

    values are what a ranking scores if this hole is its first relevant document, judged [cell]
    what it scores by the judged ones.
    """
    n_topics = len(hole_blocks) - 1
    other = np.zeros(longest_cell(hole_blocks))
    for t in range(n_topics):
        b, start = pairs[0, 1] * n_topics + t, hole_blocks[t]
        _lay_out(documents, values, blocks[b], blocks[b + 1], start, other)
        for p in range(len(pairs)):
            a = pairs[p, 0] * n_topics + t
            largest = judged[a] - judged[b]
            for i in range(blocks[a], blocks[a + 1]):
                if values[i] > judged[a]:
                    against = max(judged[b], other[documents[i] - start])
                    largest = max(largest, values[i] - against)
            out[p, t] = largest
        _clear(documents, blocks[b], blocks[b + 1], start, other)
