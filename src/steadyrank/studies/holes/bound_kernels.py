"""The largest difference of two rankings over all completions of one topic.

Entries of a ranking are its open holes in the order of documents, with their weights, so that two
rankings are merged in one pass: a document that both have gets one grade, and counts with the
difference of its weights. What is smallest is what is largest with the rankings exchanged.
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
    """The largest (judged + gained) / normaliser over all completions: Dinkelbach's iteration."""
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


@kernel
def shared_bounds(
    blocks, documents, weights, judged, pairs, n_topics, n_holes, steps, above, sums, total
):
    """Add the largest difference of each pair, topic by topic, to total[pair].

    judged [cell] are numerators, above [topic, step] how many judged documents have the grade that
    a step leads to.
    """
    size = 2 * longest_cell(blocks) + 2
    differences, worth, work = np.empty(size), np.empty(size), np.empty((3, size))
    counts = np.empty(size, np.int64)
    for p in range(len(pairs)):
        for t in range(n_topics):
            a, b = pairs[p, 0] * n_topics + t, pairs[p, 1] * n_topics + t
            n = _merge(
                documents,
                weights,
                weights,
                blocks[a],
                blocks[a + 1],
                blocks[b],
                blocks[b + 1],
                differences,
            )
            differences[:n].sort()
            total[p] += largest_ratio(
                judged[a] - judged[b],
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
def shared_run_bounds(blocks, documents, weights, judged, n_holes, steps, above, sums, out):
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
def linear_bounds(blocks, documents, weights, judged, pairs, n_topics, gain, total):
    """Add the largest difference of each pair: the holes that favour the first, all of `gain`."""
    differences = np.empty(2 * longest_cell(blocks) + 1)
    for p in range(len(pairs)):
        for t in range(n_topics):
            a, b = pairs[p, 0] * n_topics + t, pairs[p, 1] * n_topics + t
            n = _merge(
                documents,
                weights,
                weights,
                blocks[a],
                blocks[a + 1],
                blocks[b],
                blocks[b + 1],
                differences,
            )
            largest = judged[a] - judged[b]
            for i in range(n):
                largest += max(differences[i], 0.0) * gain
            total[p] += largest


@kernel
def first_bounds(blocks, documents, values, judged, pairs, n_topics, total):
    """Add the largest difference of each pair where one relevant document decides.

    values are what a ranking scores if this hole is its first relevant document, judged [cell]
    what it scores by the judged ones.
    """
    for p in range(len(pairs)):
        for t in range(n_topics):
            one, other = pairs[p, 0] * n_topics + t, pairs[p, 1] * n_topics + t
            largest = judged[one] - judged[other]
            b, b_end = blocks[other], blocks[other + 1]
            for a in range(blocks[one], blocks[one + 1]):
                while b < b_end and documents[b] < documents[a]:
                    b += 1
                against = judged[other]
                if b < b_end and documents[b] == documents[a]:
                    against = max(against, values[b])
                if values[a] > judged[one]:
                    largest = max(largest, values[a] - against)
            total[p] += largest


@kernel
def product_bounds(
    blocks,
    documents,
    most,
    least,
    judged_blocks,
    judged_rows,
    judged_most,
    judged_least,
    pairs,
    n_topics,
    n_holes,
    steps,
    above,
    sums,
    is_ratio,
    total,
):
    """Add a figure that the difference of no pair exceeds, where documents count by those above.

    A document's share of the score, a unit of gain, lies between `least` and `most`, whatever the
    others are: in the first ranking it is taken at its most, in the second at its least.
    """
    size = 2 * max(longest_cell(blocks), longest_cell(judged_blocks)) + 2
    differences, worth, work = np.empty(size), np.empty(size), np.empty((3, size))
    counts = np.empty(size, np.int64)
    for p in range(len(pairs)):
        for t in range(n_topics):
            a, b = pairs[p, 0] * n_topics + t, pairs[p, 1] * n_topics + t
            n = _merge(
                judged_rows,
                judged_most,
                judged_least,
                judged_blocks[a],
                judged_blocks[a + 1],
                judged_blocks[b],
                judged_blocks[b + 1],
                differences,
            )
            base = differences[:n].sum()
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
            if is_ratio:
                differences[:n].sort()
                total[p] += largest_ratio(
                    base, differences, n, n_holes[t] - n, steps, above[t], sums, worth, counts, work
                )
            else:
                for i in range(n):
                    base += max(differences[i], 0.0) * steps[0]
                total[p] += base


@kernel
def average_precision_bounds(blocks, ranks, judged_blocks, judged_ranks, relevant, n_outside, out):
    """AP of each cell where the choice of relevant holes makes it smallest, and largest.

    Relevant judged documents are at judged_ranks, `relevant` is R, n_outside the holes of the topic
    that do not stand in the ranking. out [2, cell].
    """
    for c in range(len(blocks) - 1):
        holes = ranks[blocks[c] : blocks[c + 1]]
        known = judged_ranks[judged_blocks[c] : judged_blocks[c + 1]]
        total = 0.0
        below = 0.0
        for i in range(len(known)):
            total += (i + 1.0) / known[i]
            below += 1.0 / known[i]
        out[0, c] = _smallest_precision(holes, known, total, relevant[c], n_outside[c])
        out[1, c] = _largest_precision(holes, known, total, below, relevant[c])


@part
def _largest_precision(holes, known, total, below, relevant):
    """Holes become relevant from the top: each adds its precision, and one above all below it."""
    largest = total / relevant if relevant > 0 else 0.0
    above = 0
    for j in range(len(holes)):
        while above < len(known) and known[above] < holes[j]:
            below -= 1.0 / known[above]
            above += 1
        total += (above + j + 1.0) / holes[j] + below
        largest = max(largest, total / (relevant + j + 1))
    return largest


@part
def _smallest_precision(holes, known, total, relevant, n_outside):
    """Holes outside become relevant, and those of the ranking from the bottom."""
    relevant += n_outside
    smallest = total / relevant if relevant > 0 else 0.0
    below = 0.0
    last = len(known)
    for j in range(len(holes)):
        hole = holes[len(holes) - 1 - j]
        while last > 0 and known[last - 1] > hole:
            last -= 1
            below += 1.0 / known[last]
        total += (last + 1.0) / hole + below
        below += 1.0 / hole
        smallest = min(smallest, total / (relevant + j + 1))
    return smallest


@kernel
def precision_shares(blocks, ranks, judged_blocks, judged_ranks, least, most, j_least, j_most):
    """The precision at each document if it is relevant: the least and the most it can be."""
    for c in range(len(blocks) - 1):
        i, j = blocks[c], judged_blocks[c]
        known, holes = 0, 0
        while i < blocks[c + 1] or j < judged_blocks[c + 1]:
            if j >= judged_blocks[c + 1] or (i < blocks[c + 1] and ranks[i] < judged_ranks[j]):
                least[i] = (known + 1.0) / ranks[i]
                holes += 1
                most[i] = (known + holes) / ranks[i]
                i += 1
            else:
                known += 1
                j_least[j] = known / judged_ranks[j]
                j_most[j] = (known + holes) / judged_ranks[j]
                j += 1


@kernel
def stopping_shares(
    blocks, ranks, judged_blocks, judged_ranks, stop, top, least, most, j_least, j_most
):
    """ERR's chance to reach a document, over its rank: the least and the most it can be.

    stop [judged] is the chance to stop at a judged document, whose share includes it, and `top`
    the largest at a hole.
    """
    for c in range(len(blocks) - 1):
        i, j = blocks[c], judged_blocks[c]
        surely, hardly = 1.0, 1.0
        while i < blocks[c + 1] or j < judged_blocks[c + 1]:
            if j >= judged_blocks[c + 1] or (i < blocks[c + 1] and ranks[i] < judged_ranks[j]):
                least[i] = hardly / ranks[i]
                most[i] = surely / ranks[i]
                hardly *= 1.0 - top
                i += 1
            else:
                j_least[j] = hardly * stop[j] / judged_ranks[j]
                j_most[j] = surely * stop[j] / judged_ranks[j]
                hardly *= 1.0 - stop[j]
                surely *= 1.0 - stop[j]
                j += 1
