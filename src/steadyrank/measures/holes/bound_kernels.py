"""The largest difference of two rankings over all completions of the judgments, topic by topic.

`bounds` has the proofs; this module computes the bounds. A ranking is a row of open holes in the
order of documents, with the weight of each. A document in both rankings has one grade, and counts
with the difference of its weights. The smallest difference is the largest one with the rankings
exchanged; a single run is paired with a run that retrieves nothing.

**One pass per pair.** All pairs of a call have the same second ranking. Its weights are written to
an array by document once per topic, so that a pair costs one pass over the holes of the first
(`_bound_pairs`). Holes that only the second ranking has can only lower a difference, so they are
skipped, unless the largest difference is below 0: then they can raise it by lengthening the ideal
list. Functions that are called for every pair are inlined: passing tuples of arrays to them would
cost as much as the pass.

**Sums** (`_largest_sum`): every hole that favours the first ranking gets the top grade. **First
relevant document** (`_largest_first`): one hole, or none, is relevant, and all are tried.

**Ratios** (`_largest_ratio`): Dinkelbach's iteration. At a given rate, the grades that maximise
numerator - rate × normaliser come from the sums of the j largest differences, for every j: one pass
over grades and j (`_best_grades`). Their ratio is the next rate, until it no longer rises. Where
each relevant document adds 1 to the normaliser, the documents above the rate are those that are
relevant, so nothing needs to be sorted, and none that drops out comes back (`_largest_mean`).

**AP and ERR**: the weight of a document depends on those above it. It has a smallest and a largest
value over all completions, and these bound the differences. If a pair has few holes on a topic, all
their completions are tried instead (`try_all`). AP depends only on which documents are relevant;
ERR, and so a difference of two, is linear in the probability to stop at any one document given the
others, so it is largest if every hole is either not relevant or of the top grade. So 2^holes
completions suffice for a topic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import inlined, kernel, part, specialised

MOST_STEPS = 100
"""Limit of an iteration that ends, in exact arithmetic, after a few steps."""


class HoleWeights(NamedTuple):
    """The open holes of all rankings: those of cell run * n_topics + topic begin at its block.

    Holes and judged documents count with their largest weight in the first ranking of a pair, and
    with their smallest in the second.
    """

    blocks: np.ndarray
    documents: np.ndarray
    """Numbers of the holes, ascending in each cell."""
    most: np.ndarray
    least: np.ndarray
    judged_most: np.ndarray
    """[cell]: weight of all judged documents together."""
    judged_least: np.ndarray
    hole_blocks: np.ndarray
    """[topic + 1]: where the numbers of a topic's holes begin."""


class Normaliser(NamedTuple):
    """The ideal lists, by which scores are divided."""

    n_holes: np.ndarray
    """[topic]: number of holes of all runs, at any rank."""
    steps: np.ndarray
    """Positive increments of gain between grades."""
    above: np.ndarray
    """[topic, step]: number of judged documents with the gain of a step."""
    sums: np.ndarray
    """[n]: the normaliser of n documents of gain 1; empty if it is n itself."""
    top_gain: float


class Room(NamedTuple):
    """Scratch memory for the holes of two rankings."""

    differences: np.ndarray
    worth: np.ndarray
    counts: np.ndarray
    work: np.ndarray


@part
def _longest(blocks):
    longest = 0
    for c in range(len(blocks) - 1):
        longest = max(longest, blocks[c + 1] - blocks[c])
    return longest


def _bound_pairs(holes, how, pairs, out):
    """Write the largest first - second of each pair, which share the second, to out[pair, topic].

    The global `largest` computes one difference; its argument `how` depends on the measure.
    """
    n_topics = len(holes.hole_blocks) - 1
    size = 2 * _longest(holes.blocks) + 2
    counts = np.empty(size, np.int64)
    room = Room(np.empty(size), np.empty(size), counts, np.empty((3, size)))
    other = np.zeros(_longest(holes.hole_blocks))
    for t in range(n_topics):
        b, start = pairs[0, 1] * n_topics + t, holes.hole_blocks[t]
        for i in range(holes.blocks[b], holes.blocks[b + 1]):
            other[holes.documents[i] - start] = holes.least[i]
        for p in range(len(pairs)):
            a = pairs[p, 0] * n_topics + t
            out[p, t] = largest(holes, how, a, b, t, other, room)  # noqa: F821
        for i in range(holes.blocks[b], holes.blocks[b + 1]):
            other[holes.documents[i] - start] = 0.0


@inlined
def _largest_sum(holes, gain, a, b, t, other, room):
    start, gained = holes.hole_blocks[t], 0.0
    for i in range(holes.blocks[a], holes.blocks[a + 1]):
        gained += max(holes.most[i] - other[holes.documents[i] - start], 0.0)
    return holes.judged_most[a] - holes.judged_least[b] + gain * gained


@inlined
def _largest_first(holes, nothing, a, b, t, other, room):
    """The weight of a hole is the score of a ranking whose first relevant document it is."""
    judged, against = holes.judged_most[a], holes.judged_least[b]
    start, best = holes.hole_blocks[t], judged - against
    for i in range(holes.blocks[a], holes.blocks[a + 1]):
        if holes.most[i] > judged:
            best = max(best, holes.most[i] - max(against, other[holes.documents[i] - start]))
    return best


@inlined
def _gains(holes, a, start, other, out):
    """Write the positive differences first - other of the first ranking's holes; count and sum."""
    n, total = 0, 0.0
    for i in range(holes.blocks[a], holes.blocks[a + 1]):
        difference = holes.most[i] - other[holes.documents[i] - start]
        # Every difference is written, and overwritten unless positive: the loop has no branch.
        out[n] = difference
        n += difference > 0.0
        total += max(difference, 0.0)
    return n, total


@part
def _merge(holes, a, b, out):
    """Write first - second for each document in either ranking, and return their number."""
    documents, n = holes.documents, 0
    i, i_end = holes.blocks[a], holes.blocks[a + 1]
    j, j_end = holes.blocks[b], holes.blocks[b + 1]
    while i < i_end or j < j_end:
        in_first = j >= j_end or (i < i_end and documents[i] <= documents[j])
        in_second = i >= i_end or (j < j_end and documents[j] <= documents[i])
        out[n] = (holes.most[i] if in_first else 0.0) - (holes.least[j] if in_second else 0.0)
        i += in_first
        j += in_second
        n += 1
    return n


@inlined
def _ideal(sums, n):
    """Return the normaliser of n documents of gain 1."""
    if len(sums) == 0:
        return float(n)
    return sums[min(n, len(sums) - 1)]


@inlined
def _choices(room, n, n_others):
    """Write the total worth of the best j documents for every j; return the number of choices."""
    differences, worth, counts = room.differences, room.worth, room.counts
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
def _best_grades(rate, n_choices, least, ideal, t, room):
    """Find the grades that maximise numerator - rate × normaliser; return what they add to both.

    For each g, the documents of grade g and above are the best j_g, and j_g increases as g falls:
    work[0, j] is the largest value with at most choice j so far, work[1:, j] its two parts.
    """
    work, steps = room.work, ideal.steps
    for j in range(n_choices):
        work[0, j] = work[1, j] = work[2, j] = 0.0
    for g in range(len(steps) - 1, -1, -1):
        best, top, bottom = -np.inf, 0.0, 0.0
        for j in range(n_choices):
            if work[0, j] > best:
                best, top, bottom = work[0, j], work[1, j], work[2, j]
            gained = steps[g] * room.worth[j]
            added = steps[g] * _ideal(ideal.sums, ideal.above[t, g] + room.counts[j])
            work[0, j] = best + gained - rate * added
            work[1, j] = top + gained
            work[2, j] = bottom + added
    best = least
    for j in range(least, n_choices):
        if work[0, j] > work[0, best]:
            best = j
    return work[1, best], work[2, best]


@inlined
def _dinkelbach(judged, n, n_others, ideal, t, room):
    """Return the largest (judged + gained) / normaliser over all completions."""
    n_choices = _choices(room, n, n_others)
    if len(ideal.steps) == 0:
        return 0.0
    if ideal.above[t, 0] == 0 and n_choices == 1:
        return 0.0  # no document can be relevant
    # Without a relevant document the score is 0; all other completions have at least one.
    least = 1 if ideal.above[t, 0] == 0 else 0
    top, bottom = _best_grades(0.0, n_choices, least, ideal, t, room)
    rate = (judged + top) / bottom
    for _ in range(MOST_STEPS):
        top, bottom = _best_grades(rate, n_choices, least, ideal, t, room)
        better = (judged + top) / bottom
        if better <= rate:
            break
        rate = better
    return max(rate, 0.0) if least else rate


@part
def _largest_mean(judged, differences, n, n_relevant):
    """Return the largest ratio if each relevant document adds 1 to the normaliser.

    All differences are positive. Documents whose difference exceeds the rate are relevant; as the
    rate rises, documents are removed and never return.
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


@part
def _sort(values, n):
    """Sort the first n values (Shell's method): a part cannot call Numba's sort."""
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            value, j = values[i], i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 2


@inlined
def _largest_ratio(holes, ideal, a, b, t, other, room):
    judged = holes.judged_most[a] - holes.judged_least[b]
    n, gained = _gains(holes, a, holes.hole_blocks[t], other, room.differences)
    n_others = 0
    if judged + ideal.top_gain * gained < 0.0:
        # Negative in every completion: a longer ideal list brings it closer to 0.
        n = _merge(holes, a, b, room.differences)
        n_others = ideal.n_holes[t] - n
    elif len(ideal.sums) == 0 and len(ideal.steps) == 1:
        return _largest_mean(judged, room.differences, n, ideal.above[t, 0])
    _sort(room.differences, n)
    return _dinkelbach(judged, n, n_others, ideal, t, room)


linear_bounds = specialised(_bound_pairs, "linear_bounds", how=kernel, largest=_largest_sum)
first_bounds = specialised(_bound_pairs, "first_bounds", how=kernel, largest=_largest_first)
ratio_bounds = specialised(_bound_pairs, "ratio_bounds", how=kernel, largest=_largest_ratio)


@kernel
def average_precision_bounds(blocks, ranks, judged_blocks, judged_ranks, relevant, n_outside, out):
    """Write the smallest and the largest AP of each cell to out [2, cell]."""
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
    """Make holes relevant from the top: each adds its precision, and raises those below it."""
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
    """Make the holes outside the ranking relevant, then those in it from the bottom."""
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
def document_shares(open_holes, judged, top, is_ap, of_holes, of_judged):
    """Write the least and the most [2, document] that each document can add to AP · R or to ERR.

    For AP this is the precision at the document, if relevant; for ERR the probability to reach it,
    over its rank. `judged` has the probability to stop at a document, which its share includes;
    `top` is the largest probability to stop at a hole.
    """
    (blocks, ranks), (judged_blocks, judged_ranks, stop) = open_holes, judged
    for c in range(len(blocks) - 1):
        i, j = blocks[c], judged_blocks[c]
        known = holes = 0
        surely = hardly = 1.0
        while i < blocks[c + 1] or j < judged_blocks[c + 1]:
            if j >= judged_blocks[c + 1] or (i < blocks[c + 1] and ranks[i] < judged_ranks[j]):
                holes += 1
                low, high = (known + 1.0, float(known + holes)) if is_ap else (hardly, surely)
                of_holes[0, i], of_holes[1, i] = low / ranks[i], high / ranks[i]
                hardly *= 1.0 - top
                i += 1
            else:
                known += 1
                low, high = hardly * stop[j], surely * stop[j]
                if is_ap:
                    low, high = float(known), float(known + holes)
                of_judged[0, j], of_judged[1, j] = low / judged_ranks[j], high / judged_ranks[j]
                hardly *= 1.0 - stop[j]
                surely *= 1.0 - stop[j]
                j += 1


class FewHoles(NamedTuple):
    """Documents by rank, for trying all completions of pairs and topics with few holes.

    Entries of a cell are its relevant judged documents and its open holes, by rank.
    """

    blocks: np.ndarray
    ranks: np.ndarray
    holes: np.ndarray
    """Number of the hole; negative for a judged document."""
    gains: np.ndarray
    hole_blocks: np.ndarray
    n_cell_holes: np.ndarray
    n_holes: np.ndarray
    """[topic]: number of holes of all runs, at any rank."""
    relevant: np.ndarray
    """[topic]: number of relevant judged documents."""
    top: float
    """Gain of the top grade."""
    is_ap: bool
    most: int
    """Largest number of holes that counts as few."""


@part
def _number_holes(few, cell, start, number, n):
    """Number the holes of a ranking that have no number yet; return how many are numbered."""
    for i in range(few.blocks[cell], few.blocks[cell + 1]):
        hole = few.holes[i] - start
        if hole >= 0 and number[hole] < 0:
            number[hole] = n
            n += 1
    return n


@inlined
def _value(few, cell, start, number, chosen):
    """Return ERR, or AP times the number of relevant documents, with the chosen holes relevant."""
    total, seen, reach = 0.0, 0, 1.0
    for i in range(few.blocks[cell], few.blocks[cell + 1]):
        hole = few.holes[i] - start
        gain = few.gains[i] if hole < 0 else few.top * ((chosen >> number[hole]) & 1)
        if not few.is_ap:
            total += reach * gain / few.ranks[i]
            reach *= 1.0 - gain
        elif gain > 0.0:
            seen += 1
            total += seen / few.ranks[i]
    return total


@part
def _largest_of_all(few, a, b, t, number, n):
    """Return the largest difference over all choices of n holes."""
    start, largest = few.hole_blocks[t], -np.inf
    for chosen in range(1 << n):
        value = _value(few, a, start, number, chosen) - _value(few, b, start, number, chosen)
        if few.is_ap:
            n_relevant = few.relevant[t]
            for k in range(n):
                n_relevant += (chosen >> k) & 1
            # Relevant holes in neither ranking increase the divisor: none of them if the
            # difference is positive, all of them if it is negative.
            if value < 0.0:
                n_relevant += few.n_holes[t] - n
            value = value / n_relevant if n_relevant > 0 else 0.0
        largest = max(largest, value)
    return largest


@kernel
def try_all(few, pairs, counts, out):
    """Lower out[pair, topic] to the largest difference if the two rankings have few holes."""
    n_topics = len(few.hole_blocks) - 1
    number = np.full(few.hole_blocks[-1] + 1, -1)
    for p in range(len(pairs)):
        for t in range(n_topics):
            a, b, start = pairs[p, 0] * n_topics + t, pairs[p, 1] * n_topics + t, few.hole_blocks[t]
            counts[p, t] = max(few.n_cell_holes[a], few.n_cell_holes[b])
            if counts[p, t] <= few.most:
                n = _number_holes(few, b, start, number, _number_holes(few, a, start, number, 0))
                counts[p, t] = n
                if n <= few.most and len(out) > 0:
                    out[p, t] = min(out[p, t], _largest_of_all(few, a, b, t, number, n))
                for hole in range(few.hole_blocks[t + 1] - start):
                    number[hole] = -1


@kernel
def try_favoured(few, pairs, out):
    """Write the difference in AP if the holes that the first ranking has higher are relevant."""
    n_topics = len(few.hole_blocks) - 1
    ranks = np.zeros((2, few.hole_blocks[-1] + 1))
    for p in range(len(pairs)):
        for t in range(n_topics):
            for side in range(2):
                cell = pairs[p, side] * n_topics + t
                for i in range(few.blocks[cell], few.blocks[cell + 1]):
                    if few.holes[i] >= 0:
                        ranks[side, few.holes[i]] = 1.0 / few.ranks[i]
            total, n_relevant = 0.0, few.relevant[t]
            for side in range(2):
                cell, seen = pairs[p, side] * n_topics + t, 0
                for i in range(few.blocks[cell], few.blocks[cell + 1]):
                    hole = few.holes[i]
                    if hole < 0 or ranks[0, hole] > ranks[1, hole]:
                        seen += 1
                        total += (1.0 - 2.0 * side) * seen / few.ranks[i]
                        n_relevant += hole >= 0 and side == 0
            out[p, t] = total / n_relevant if n_relevant > 0 else 0.0
            for hole in range(few.hole_blocks[t], few.hole_blocks[t + 1]):
                ranks[0, hole] = ranks[1, hole] = 0.0


@kernel
def sum_changes(blocks, runs, weights, undecided):
    """Return for each document the sum of |weight in a - weight in b| over undecided pairs."""
    n_runs = len(undecided)
    sums = np.zeros(len(blocks) - 1)
    of_run = np.zeros(n_runs)
    for i in range(len(sums)):
        for e in range(blocks[i], blocks[i + 1]):
            of_run[runs[e]] = weights[e]
        for e in range(blocks[i], blocks[i + 1]):
            a = runs[e]
            for b in range(n_runs):
                # A pair whose runs both have the document occurs twice.
                share = 1.0 if of_run[b] == 0.0 else 0.5
                if undecided[a, b]:
                    sums[i] += share * abs(of_run[a] - of_run[b])
        for e in range(blocks[i], blocks[i + 1]):
            of_run[runs[e]] = 0.0
    return sums
