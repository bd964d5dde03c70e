"""Exact bounds of pairs of AP and ERR where two rankings have few holes: all of them are tried.

AP is a matter of relevant or not. ERR is linear in the chance to stop at any one document, the
others being given, and so is a difference of two: it is largest where every hole is either not
relevant or of the top grade. So 2^holes completions settle a topic.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import kernel, part


@part
def _number_holes(rows, entry, end, n_judged, start, number, n):
    """Give each hole of a ranking that has no number yet the next one: how many have one now."""
    for i in range(entry, end):
        hole = rows[i] - n_judged - start
        if hole >= 0 and number[hole] < 0:
            number[hole] = n
            n += 1
    return n


@part
def _forget_holes(rows, entry, end, n_judged, start, number):
    for i in range(entry, end):
        hole = rows[i] - n_judged - start
        if hole >= 0:
            number[hole] = -1


@kernel
def count_holes(blocks, rows, n_judged, hole_blocks, n_cell_holes, pairs, most, out):
    """out[pair, topic]: holes that either ranking has; of one alone, where these exceed `most`."""
    n_topics = len(hole_blocks) - 1
    number = np.full(hole_blocks[-1] + 1, -1)
    for p in range(len(pairs)):
        for t in range(n_topics):
            a, b = pairs[p, 0] * n_topics + t, pairs[p, 1] * n_topics + t
            n, start = 0, hole_blocks[t]
            out[p, t] = max(n_cell_holes[a], n_cell_holes[b])
            if out[p, t] > most:
                continue
            for c in (a, b):
                n = _number_holes(rows, blocks[c], blocks[c + 1], n_judged, start, number, n)
            for c in (a, b):
                _forget_holes(rows, blocks[c], blocks[c + 1], n_judged, start, number)
            out[p, t] = n


@part
def _precision_sum(ranks, rows, entry, end, n_judged, start, number, chosen):
    """The sum over relevant documents of relevant ones so far / rank; judged entries all are."""
    total, seen = 0.0, 0
    for i in range(entry, end):
        hole = rows[i] - n_judged - start
        if hole < 0 or (chosen >> number[hole]) & 1:
            seen += 1
            total += seen / ranks[i]
    return total


@part
def _expected_reciprocal(ranks, rows, gains, entry, end, n_judged, start, number, chosen, top):
    """ERR with chances to stop `gains` at judged documents, and `top` at the chosen holes."""
    total, reach = 0.0, 1.0
    for i in range(entry, end):
        hole = rows[i] - n_judged - start
        stop = gains[i] if hole < 0 else top * ((chosen >> number[hole]) & 1)
        total += reach * stop / ranks[i]
        reach *= 1.0 - stop
    return total


@part
def _count_bits(word):
    n = 0
    while word:
        n += word & 1
        word >>= 1
    return n


@kernel
def try_all(
    blocks,
    ranks,
    rows,
    gains,
    n_judged,
    hole_blocks,
    pairs,
    counts,
    most,
    n_holes,
    relevant,
    top,
    is_ratio,
    out,
):
    """Lower out[pair, topic] to the largest difference, where at most `most` holes matter.

    Entries are relevant judged documents and holes by rank; counts are those of `count_holes`;
    relevant [topic] is R without holes, n_holes [topic] counts holes that neither ranking has too.
    """
    n_topics = len(hole_blocks) - 1
    number = np.full(hole_blocks[-1] + 1, -1)
    for p in range(len(pairs)):
        for t in range(n_topics):
            if counts[p, t] > most:
                continue
            a, b = pairs[p, 0] * n_topics + t, pairs[p, 1] * n_topics + t
            n, start = 0, hole_blocks[t]
            for c in (a, b):
                n = _number_holes(rows, blocks[c], blocks[c + 1], n_judged, start, number, n)
            largest = -np.inf
            for chosen in range(1 << n):
                if is_ratio:
                    value = _precision_sum(
                        ranks, rows, blocks[a], blocks[a + 1], n_judged, start, number, chosen
                    ) - _precision_sum(
                        ranks, rows, blocks[b], blocks[b + 1], n_judged, start, number, chosen
                    )
                    # Holes that neither has lengthen the list of relevant documents: no gain
                    # where the difference is above 0, and the more the better where it is below.
                    ideal = relevant[t] + _count_bits(chosen)
                    if value < 0.0:
                        ideal += n_holes[t] - n
                    value = value / ideal if ideal > 0 else 0.0
                else:
                    value = _expected_reciprocal(
                        ranks,
                        rows,
                        gains,
                        blocks[a],
                        blocks[a + 1],
                        n_judged,
                        start,
                        number,
                        chosen,
                        top,
                    ) - _expected_reciprocal(
                        ranks,
                        rows,
                        gains,
                        blocks[b],
                        blocks[b + 1],
                        n_judged,
                        start,
                        number,
                        chosen,
                        top,
                    )
                largest = max(largest, value)
            out[p, t] = min(out[p, t], largest)
            for c in (a, b):
                _forget_holes(rows, blocks[c], blocks[c + 1], n_judged, start, number)
