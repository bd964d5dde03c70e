"""AP and ERR, in which a document counts by those above it: runs' bounds, and documents' shares.

A document's share of the score, a unit of gain, lies between a least and a most, whatever the other
documents are; the kernels of `bound_kernels` bound differences by them.
"""

from __future__ import annotations

from steadyrank.compute.kernels import kernel, part


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
