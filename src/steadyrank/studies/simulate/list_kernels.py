"""What of a run's rankings matters to simulated collections, and documents as numbers."""

from __future__ import annotations

from steadyrank.compute.kernels import WORD, kernel, part
from steadyrank.compute.random_kernels import mixed_bits


@part
def _group(scores, start, stop, at):
    """First and last place of the documents that share the score of place `at`."""
    low, high = at, at + 1
    while low > start and scores[low - 1] == scores[at]:
        low -= 1
    while high < stop and scores[high] == scores[at]:
        high += 1
    return low, high


@kernel
def outline(
    scores, starts, stops, blocks, ranks, grades, horizon, by_score, kept, events, at, size
):
    """How many documents of each topic are kept, and where those with a gain stand among them.

    A group of tied documents is one event if it matters in which order they stand. kept and the
    bounds of events, which begin with a 0, are by topic; the number of events is returned.
    """
    n = 0
    for t in range(len(starts)):
        start, stop = starts[t], stops[t]
        end = start
        for i in range(blocks[t], blocks[t + 1]):
            place = start + ranks[i] - 1
            if place < end:
                continue  # It belongs to the group before.
            low, high = place, place + 1
            if by_score:
                low, high = _group(scores, start, stop, place)
            if low - start >= horizon:
                break
            is_mixed = False
            for j in range(low, high):
                # Relevant documents of one grade may stand in any order.
                k = i + j - low
                same = low == place and k < blocks[t + 1] and start + ranks[k] - 1 == j
                is_mixed |= not (same and grades[k] == grades[i])
            if is_mixed:
                at[n], size[n] = low - start, high - low
                n += 1
            else:
                for j in range(low, high):
                    at[n], size[n] = j - start, 1
                    n += 1
            end = high
        kept[t] = end - start
        events[t + 1] = n
    return n


@kernel
def gather(hashes, starts, kept, out):
    """Write the hashes of the documents that are kept, topic after topic."""
    n = 0
    for t in range(len(starts)):
        for i in range(starts[t], starts[t] + kept[t]):
            out[n] = hashes[i]
            n += 1


@kernel
def number_documents(hashes, slots, numbers, n_known, places):
    """Write the number of each document into `places`; how many there are by now.

    `slots` holds the hashes that have a number; a hash of 64 bits stands for its document, since
    in a topic of a million documents two share one with a chance below one in ten millions.
    """
    mask = WORD(len(slots) - 1)
    for i in range(len(hashes)):
        slot = mixed_bits(hashes[i]) & mask
        while numbers[slot] >= 0 and slots[slot] != hashes[i]:
            slot = (slot + WORD(1)) & mask
        if numbers[slot] < 0:
            slots[slot] = hashes[i]
            numbers[slot] = n_known
            n_known += 1
        places[i] = numbers[slot]
    return n_known
