"""Draw how many documents of each kind fall into the bins of two kernel densities.

64 samples side by side, by the laws and the plan of `density_laws`.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, part, trailing_zeros
from steadyrank.compute.random_kernels import GOLDEN, mixed_bits
from steadyrank.studies.simulate.sampler_kernels import (
    SIDE_BY_SIDE,
    add_to,
    complete_others,
    law_of,
    outcome,
    outcomes,
    thin_relevant,
    word_of,
)
from steadyrank.studies.simulate.sampler_laws import HALF

MOST_TURNS = 1_000_000
"""Turns after which a sample has no top: never reached, but a ranking must not be too deep."""


@inlined
def count_exceeded(halves, shares, start, counts, position):
    """Add to 64 counts how many of four shares of 2**32 each of 64 random numbers exceeds.

    The shares are entries of an array of uint32 from `start` on, in order. The answer is 0 unless
    one of the numbers exceeds them all.
    """
    first, at, most = WORD(start), WORD(position), np.uint32(0)
    a, b = shares[first], shares[first + WORD(1)]
    c, d = shares[first + WORD(2)], shares[first + WORD(3)]
    for k in range(64):
        half = halves[k]
        exceeded = np.uint32(half > a) + np.uint32(half > b) + np.uint32(half > c)
        counts[at + WORD(k)] += np.uint32(exceeded + np.uint32(half > d))
        most = max(most, half)
    return WORD(most > d)


@inlined
def which_exceed(counts, position, limit):
    """Which of 64 numbers of uint32 from `position` on exceed a limit: one bit each."""
    at, bits = WORD(position), WORD(0)
    for k in range(64):
        bits |= WORD(counts[at + WORD(k)] > limit) << WORD(k)
    return bits


@part
def _draw_row(halves, entries, table, law, counts, row):
    """One count for each of the samples side by side, from half a word each."""
    at, bits, n_shares = law
    if bits > 0:
        outcomes(halves, entries, table, law, counts, row)
        return
    for lane in range(SIDE_BY_SIDE):
        counts[WORD(row) + WORD(lane)] = HALF(0)
    for i in range(0, n_shares, 4):
        if count_exceeded(halves, table, at + i, counts, row) == WORD(0):
            break


@inlined
def _count(half, table, law):
    """One count from half a word."""
    at, bits, n_shares = law
    if bits > 0:
        return outcome(half, table, law)
    n = 0
    while n < n_shares and half > table[at + n]:
        n += 1
    return n


@inlined
def draw_words(keys, step, halves, uppers):
    """Both halves of one word of every sample's stream."""
    by = WORD(step) * GOLDEN
    for lane in range(SIDE_BY_SIDE):
        word = mixed_bits(keys[lane] + by)
        halves[lane] = HALF(word)
        uppers[lane] = HALF(word >> WORD(32))


@part
def draw_counts(lanes, deep, bins, key, first, laws, plan):
    """First counts of every bin of every sample, from replicate `first` on."""
    for lane in range(SIDE_BY_SIDE):
        lanes.keys[lane] = mixed_bits(key + WORD(first + lane + 1) * GOLDEN)
        lanes.steps[lane] = bins + 3
        lanes.n_relevant[lane] = lanes.n_others[lane] = deep.sums[lane] = HALF(0)
    top = plan.first_deep if plan.first_deep >= 0 else bins + 1
    for i in range(bins + 1):
        row = i * SIDE_BY_SIDE
        draw_words(lanes.keys, i + 1, lanes.halves, lanes.uppers)
        relevant, others = law_of(laws.relevant, i), law_of(laws.others, i)
        _draw_row(lanes.halves, lanes.entries, laws.table, relevant, lanes.relevant, row)
        _draw_row(lanes.uppers, lanes.entries, laws.table, others, lanes.others, row)
        add_to(lanes.n_others if i < top else deep.sums, lanes.others, row)
        if i < bins:
            add_to(lanes.n_relevant, lanes.relevant, row)


@part
def _redraw_top(lanes, lane, laws, plan):
    """Draw the other documents of one sample's top again."""
    total = 0
    step = lanes.steps[lane]
    for i in range(plan.first_deep):
        half = HALF(word_of(lanes.keys[lane], step + i))
        drawn = _count(half, laws.table, law_of(laws.others, i))
        lanes.others[i * SIDE_BY_SIDE + lane] = drawn
        total += drawn
    lanes.n_others[lane] = total
    lanes.steps[lane] = step + plan.first_deep


@inlined
def _chance(room, n_top, table, plan):
    """Of being kept, for the top of a sample that leaves so many documents to deep bins."""
    place = np.int64(room) - np.int64(n_top) - plan.lowest
    return table[WORD(plan.acceptance) + WORD(min(max(place, 0), plan.size - 1))]


@part
def _redraw_until_accepted(lanes, lane, depth, laws, plan):
    """Draw the top of one sample, which was not accepted, until it is."""
    room = depth - np.int64(lanes.n_relevant[lane])
    for _ in range(MOST_TURNS):
        _redraw_top(lanes, lane, laws, plan)
        half = HALF(word_of(lanes.keys[lane], lanes.steps[lane]))
        lanes.steps[lane] += 1
        if half < _chance(room, lanes.n_others[lane], laws.table, plan):
            return
    for i in range(plan.first_deep):
        lanes.others[i * SIDE_BY_SIDE + lane] = 0
    lanes.n_others[lane] = 0


@part
def _settle_top(lanes, depth, laws, plan):
    """Draw the top of each sample until it is accepted."""
    for lane in range(SIDE_BY_SIDE):
        room = depth - np.int64(lanes.n_relevant[lane])
        chance = _chance(room, lanes.n_others[lane], laws.table, plan)
        lanes.entries[lane] = HALF(lanes.halves[lane] >= chance)
    rejected = which_exceed(lanes.entries, 0, HALF(0))
    while rejected != WORD(0):
        _redraw_until_accepted(lanes, np.int64(trailing_zeros(rejected)), depth, laws, plan)
        rejected &= rejected - WORD(1)


@inlined
def _settle_row(others, row, sums, deep, share, lack):
    """Make one deep bin's counts those of samples that are as deep as they are."""
    ends, drifts, dithers, rooms = deep.ends, deep.drifts, deep.dithers, deep.rooms
    for lane in range(SIDE_BY_SIDE):
        sums[lane] += others[WORD(row) + WORD(lane)]
        end = np.float64(np.int32(sums[lane])) + (lack + share * drifts[lane] + dithers[lane])
        whole = np.int32(min(max(end, ends[lane]), rooms[lane]))
        others[WORD(row) + WORD(lane)] = HALF(whole - np.int32(ends[lane]))
        ends[lane] = np.float64(whole)


@part
def _settle_deep(lanes, deep, bins, depth, plan):
    """Spread what deep bins lack, or have too much, over them in proportion."""
    for lane in range(SIDE_BY_SIDE):
        room = depth - np.int64(lanes.n_relevant[lane]) - np.int64(lanes.n_others[lane])
        deep.rooms[lane] = np.float64(max(0, room))
        deep.drifts[lane] = deep.rooms[lane] - np.float64(deep.sums[lane]) - deep.lacks[bins]
        deep.dithers[lane] = np.float64(lanes.uppers[lane]) * 2.0**-32
        deep.ends[lane] = 0.0
        deep.sums[lane] = HALF(0)
    for i in range(plan.first_deep, bins):
        row = i * SIDE_BY_SIDE
        _settle_row(lanes.others, row, deep.sums, deep, deep.share[i], deep.lacks[i])


@part
def settle(lanes, deep, bins, depth, laws, plan):
    """Make every sample's ranking as deep as it is; how many had too many relevant documents."""
    truncated = 0
    too_many = which_exceed(lanes.n_relevant, 0, HALF(depth))
    while too_many != WORD(0):
        lane = np.int64(trailing_zeros(too_many))
        thin_relevant(lanes, lane, bins, np.int64(lanes.n_relevant[lane]) - depth)
        too_many &= too_many - WORD(1)
        truncated += 1
    if plan.first_deep < 0:
        for lane in range(SIDE_BY_SIDE):
            room = depth - np.int64(lanes.n_relevant[lane]) if plan.has_others else 0
            complete_others(lanes, lane, room, laws.table, plan.places)
        return truncated
    draw_words(lanes.keys, bins + 2, lanes.halves, lanes.uppers)
    if plan.first_deep > 0:
        _settle_top(lanes, depth, laws, plan)
    _settle_deep(lanes, deep, bins, depth, plan)
    return truncated
