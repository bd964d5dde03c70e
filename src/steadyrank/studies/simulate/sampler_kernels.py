"""Draw rankings of other document collections without ever sorting a score.

A cell, one run on one topic, is a row of bins from the top of the ranking down. In bin i the
number of relevant documents is Poisson(w_i), the numbers of other documents are multinomial
over the bins and the tail below the last one. That is all that a binary measure needs, and
it is equal in distribution to drawing every score and sorting.

The multinomial counts begin as Poisson counts with a mean somewhat below their due. Given
its total a Poisson sample is as good as independent draws, so what is missing is added by
independent draws; a total too large is drawn again, the relevant documents staying as they
are, since a ranking with many of them must not be redrawn more often than others.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import WORD, high_product, inlined, kernel, part
from steadyrank.compute.random_kernels import GOLDEN, mixed_bits
from steadyrank.studies.simulate.sampler_laws import (
    HALF,
    KEPT_ENTRIES,
    SHARES,
    columns_at_most,
    make_laws,
    make_room,
    total_weight,
)
from steadyrank.studies.simulate.score_bins import JUDGED, POISSON, Cells, Gain

SIDE_BY_SIDE = 64
"""Samples of a cell that are drawn together: their counts stay in the fastest cache."""

MARGIN = 0.9
"""How far, in square roots of the depth, the Poisson counts' mean stays below their due."""

WORDS = 32
"""Random words of one sample that are made together."""

REDRAWS = 8
"""Overshoots of one sample after which its documents are drawn one by one."""


class Lanes(NamedTuple):
    """Samples side by side; counts of bin i are entries i * SIDE_BY_SIDE on."""

    keys: np.ndarray
    steps: np.ndarray
    relevant: np.ndarray
    others: np.ndarray
    n_relevant: np.ndarray
    n_others: np.ndarray
    above_relevant: np.ndarray
    above_others: np.ndarray
    values: np.ndarray
    halves: np.ndarray
    uppers: np.ndarray
    entries: np.ndarray
    first: np.ndarray
    last: np.ndarray
    growth: np.ndarray


@inlined
def outcomes(halves, entries, table, law, out, row):
    """One outcome of a law for each of the samples side by side, from half a word each.

    Two loops, since a processor looks up one by one and compares many at a time.
    """
    at, bits, low = law
    shift = HALF(32 - bits)
    rest = (HALF(1) << shift) - HALF(1)
    alias = (HALF(1) << HALF(bits)) - HALF(1)
    for i in range(SIDE_BY_SIDE):
        entries[i] = table[WORD(at) + WORD(halves[i] >> shift)]
    for i in range(SIDE_BY_SIDE):
        half, entry = halves[i], entries[i]
        own = HALF(half & rest) < HALF(entry >> HALF(bits))
        out[WORD(row) + WORD(i)] = HALF(low) + (HALF(half >> shift) if own else HALF(entry & alias))


@inlined
def outcome(half, table, law):
    """One outcome of a law from half a random word."""
    at, bits, low = law
    shift = HALF(32 - bits)
    column = HALF(half >> shift)
    entry = table[WORD(at) + WORD(column)]
    own = HALF(half & HALF((HALF(1) << shift) - HALF(1))) < HALF(entry >> HALF(bits))
    return np.int64(low) + np.int64(column if own else HALF(entry & HALF((1 << bits) - 1)))


@inlined
def word_of(key, step):
    """A random word of a sample's stream."""
    return mixed_bits(key + WORD(step) * GOLDEN)


@inlined
def number_below(word, n):
    """A number from 0 to n - 1, all equally likely."""
    return np.int64(high_product(word, WORD(n)))


@part
def redraw_others(lanes, lane, bins, laws):
    """Draw one sample's Poisson counts again; their total."""
    total = 0
    step = lanes.steps[lane]
    for i in range(bins + 1):
        half = HALF(word_of(lanes.keys[lane], step + i))
        drawn = outcome(half, laws.table, law_of(laws.others, i))
        lanes.others[i * SIDE_BY_SIDE + lane] = drawn
        total += drawn
    lanes.steps[lane] = step + bins + 1
    return total


@inlined
def law_of(rows, row):
    """One of the laws that `Laws` holds."""
    return rows[row, 0], rows[row, 1], rows[row, 2]


@inlined
def complete_others(lanes, lane, missing, table, places):
    """Add `missing` other documents to one sample, each wherever its score falls."""
    while missing > 0:
        # As many words as fit, needed or not: a loop of fixed length has no odd end.
        key = lanes.keys[lane] + WORD(lanes.steps[lane]) * GOLDEN
        for i in range(WORDS):
            word = mixed_bits(key + WORD(i) * GOLDEN)
            lanes.halves[i] = HALF(word)
            lanes.halves[WORDS + i] = HALF(word >> WORD(32))
        for i in range(min(missing, 2 * WORDS)):
            place = outcome(lanes.halves[i], table, places)
            lanes.others[WORD(place) * WORD(SIDE_BY_SIDE) + WORD(lane)] += HALF(1)
        missing -= 2 * WORDS
        lanes.steps[lane] += WORDS


@inlined
def _settle_others(lanes, lane, bins, room, laws, places):
    """Make one sample's other documents exactly `room`."""
    total = np.int64(lanes.n_others[lane])
    redraws = 0
    while total > room and redraws < REDRAWS:
        total = redraw_others(lanes, lane, bins, laws)
        redraws += 1
    if total > room:
        for i in range(bins + 1):
            lanes.others[i * SIDE_BY_SIDE + lane] = 0
        total = 0
    complete_others(lanes, lane, room - total, laws.table, places)


@part
def thin_relevant(lanes, lane, bins, excess):
    """Drop `excess` of one sample's relevant documents, each equally likely."""
    for _ in range(excess):
        place = number_below(
            word_of(lanes.keys[lane], lanes.steps[lane]), np.int64(lanes.n_relevant[lane])
        )
        lanes.steps[lane] += 1
        i = 0
        while place >= lanes.relevant[i * SIDE_BY_SIDE + lane]:
            place -= lanes.relevant[i * SIDE_BY_SIDE + lane]
            i += 1
        lanes.relevant[i * SIDE_BY_SIDE + lane] -= HALF(1)
        lanes.n_relevant[lane] -= HALF(1)


@inlined
def _mingle_one(lanes, lane, place, gain):
    """Put a bin's only relevant document anywhere among its others: the most frequent case."""
    others = np.int64(lanes.others[place])
    before = number_below(word_of(lanes.keys[lane], lanes.steps[lane]), others + 1)
    lanes.steps[lane] += 1
    above, higher = np.int64(lanes.above_relevant[lane]), np.int64(lanes.above_others[lane])
    add_one(lanes, lane, above, higher + before, gain)
    lanes.above_relevant[lane] = above + 1
    lanes.above_others[lane] = higher + others
    lanes.relevant[place] = 0
    lanes.others[place] = 0


@part
def mingle(lanes, lane, place, gain):
    """Put one sample's documents of a bin in random order and add what they are worth."""
    relevant, others = np.int64(lanes.relevant[place]), np.int64(lanes.others[place])
    above = np.int64(lanes.above_relevant[lane])
    below = np.int64(lanes.above_others[lane]) + others
    while relevant > 0:
        while others > 0:
            drawn = number_below(word_of(lanes.keys[lane], lanes.steps[lane]), relevant + others)
            lanes.steps[lane] += 1
            if drawn < relevant:
                break
            others -= 1
        add_one(lanes, lane, above, below - others, gain)
        above += 1
        relevant -= 1
    lanes.above_relevant[lane] = above
    lanes.above_others[lane] = below
    lanes.relevant[place] = 0
    lanes.others[place] = 0


@inlined
def add_one(lanes, lane, above, others, gain):
    """Add what one relevant document below `above` relevant and `others` other ones is worth."""
    if gain.first_only:
        if above == 0:
            lanes.values[lane] = gain.cumulated[others + 1]
    else:
        step = gain.cumulated[above + others + 1] - gain.cumulated[above + others]
        weight = gain.per_other * others + gain.constant
        lanes.values[lane] += gain.per_relevant + weight * step


@part
def _add_first(lanes, row, gain):
    """Note what the first relevant document is worth, in the samples that find it in this bin."""
    for lane in range(SIDE_BY_SIDE):
        lanes.above_others[lane] += lanes.others[row + lane]
        if lanes.relevant[row + lane] > 0:
            if lanes.above_relevant[lane] == 0:
                lanes.values[lane] = gain.cumulated[lanes.above_others[lane] + 1]
            lanes.above_relevant[lane] += lanes.relevant[row + lane]


@inlined
def _add_bin(lanes, row, gain):
    """Add what one bin's relevant documents are worth to every sample."""
    relevant, others = lanes.relevant, lanes.others
    above_relevant, above_others = lanes.above_relevant, lanes.above_others
    first, last, growth, values = lanes.first, lanes.last, lanes.growth, lanes.values
    for lane in range(SIDE_BY_SIDE):
        place = WORD(row) + WORD(lane)
        above_others[lane] += others[place]
        first[lane] = above_relevant[lane] + above_others[lane]
        above_relevant[lane] += relevant[place]
        last[lane] = above_relevant[lane] + above_others[lane]
    for lane in range(SIDE_BY_SIDE):
        growth[lane] = gain.cumulated[WORD(last[lane])] - gain.cumulated[WORD(first[lane])]
    per_relevant, per_other, constant = gain.per_relevant, gain.per_other, gain.constant
    for lane in range(SIDE_BY_SIDE):
        weight = per_other * np.int32(above_others[lane]) + constant
        here = np.int32(relevant[WORD(row) + WORD(lane)])
        values[lane] += per_relevant * here + weight * growth[lane]


@part
def draw(lanes, bins, key, first, laws):
    """First counts of every bin of every sample, from replicate `first` on."""
    keys, halves, uppers = lanes.keys, lanes.halves, lanes.uppers
    for lane in range(SIDE_BY_SIDE):
        keys[lane] = mixed_bits(key + WORD(first + lane + 1) * GOLDEN)
        lanes.steps[lane] = bins + 2
        lanes.n_relevant[lane] = lanes.n_others[lane] = 0
    for i in range(bins + 1):
        row = i * SIDE_BY_SIDE
        step = WORD(i + 1) * GOLDEN
        for lane in range(SIDE_BY_SIDE):
            word = mixed_bits(keys[lane] + step)
            halves[lane] = HALF(word)
            uppers[lane] = HALF(word >> WORD(32))
        outcomes(halves, lanes.entries, laws.table, law_of(laws.relevant, i), lanes.relevant, row)
        outcomes(uppers, lanes.entries, laws.table, law_of(laws.others, i), lanes.others, row)
        add_to(lanes.n_others, lanes.others, row)
        if i < bins:
            add_to(lanes.n_relevant, lanes.relevant, row)


@inlined
def add_to(sums, counts, row):
    """Add a row of counts to sums."""
    for lane in range(SIDE_BY_SIDE):
        sums[lane] += counts[WORD(row) + WORD(lane)]


@part
def _settle(lanes, bins, depth, has_others, laws, places):
    """Make every sample's ranking as deep as it is; how many had too many relevant documents."""
    truncated = 0
    for lane in range(SIDE_BY_SIDE):
        excess = np.int64(lanes.n_relevant[lane]) - depth
        if excess > 0:
            truncated += 1
            thin_relevant(lanes, lane, bins, excess)
        room = depth - np.int64(lanes.n_relevant[lane]) if has_others else 0
        _settle_others(lanes, lane, bins, room, laws, places)
    return truncated


@part
def _add_up(lanes, bins, mingled, gain):
    """Every sample's value, before it is divided by its recall base."""
    for lane in range(SIDE_BY_SIDE):
        lanes.above_relevant[lane] = lanes.above_others[lane] = 0
        lanes.values[lane] = 0.0
    for i in range(bins):
        row = i * SIDE_BY_SIDE
        if mingled[i]:
            for lane in range(SIDE_BY_SIDE):
                relevant = lanes.relevant[row + lane]
                if relevant > 0 and lanes.others[row + lane] > 0:
                    if relevant == 1:
                        _mingle_one(lanes, lane, row + lane, gain)
                    else:
                        mingle(lanes, lane, row + lane, gain)
        if gain.first_only:
            _add_first(lanes, row, gain)
        else:
            _add_bin(lanes, row, gain)


@inlined
def recall_base(lanes, lane, bins, judged, base):
    """How many relevant documents a sample's collection holds."""
    sampled = np.int64(lanes.n_relevant[lane])
    if base == JUDGED:
        return max(judged, sampled)
    if base == POISSON:
        return sampled + np.int64(lanes.relevant[bins * SIDE_BY_SIDE + lane])
    return sampled


@part
def poisson_share(total, depth, n_relevant):
    """The Poisson counts' mean as a share of the weights, in SHARES, rounded down."""
    mean = depth - n_relevant - MARGIN * math.sqrt(depth)
    return np.int64(max(0.0, mean) / total * SHARES) if total > 0.0 else 0


@part
def _sample_cell(cells, cell, key, first, gain, laws, lanes, limit, out):
    """Fill `out` with replicates from `first` on of one cell; how many were truncated."""
    start, stop = cells.starts[cell], cells.starts[cell + 1]
    bins, depth = stop - start, cells.depth[cell]
    relevant, others = cells.relevant[start:stop], cells.others[start:stop]
    n_relevant, tail = cells.n_relevant[cell], cells.tail[cell]
    total = total_weight(others, tail)
    unretrieved = max(0.0, cells.judged[cell] - n_relevant) if gain.base == POISSON else 0.0
    share = poisson_share(total, depth, n_relevant)
    places = make_laws(relevant, others, tail, share, unretrieved, laws, limit)
    truncated = 0
    for done in range(0, len(out), SIDE_BY_SIDE):
        draw(lanes, bins, key, first + done, laws)
        truncated += _settle(lanes, bins, depth, total > 0.0, laws, places)
        _add_up(lanes, bins, cells.mingled[start:stop], gain)
        for lane in range(min(SIDE_BY_SIDE, len(out) - done)):
            base = recall_base(lanes, lane, bins, cells.judged[cell], gain.base)
            out[done + lane] = lanes.values[lane] * gain.scale[base]
    return truncated


@kernel
def _room(cells, first, last):
    """The most bins of a cell, and the most entries that its own tables need."""
    most, largest = 1, 0
    for cell in range(first, last):
        start, stop = cells.starts[cell], cells.starts[cell + 1]
        most = max(most, stop - start + 1)
        entries = 2 * (stop - start + 1)
        entries += columns_at_most(cells.judged[cell]) + columns_at_most(cells.depth[cell])
        total = max(total_weight(cells.others[start:stop], cells.tail[cell]), 1e-300)
        for i in range(start, stop):
            entries += columns_at_most(cells.relevant[i])
            entries += columns_at_most(cells.depth[cell] * cells.others[i] / total)
        largest = max(largest, entries)
    return most, largest


def make_lanes(most: int) -> Lanes:
    """Room for samples with at most so many bins, the tail being one."""
    side, counts = SIDE_BY_SIDE, most * SIDE_BY_SIDE
    return Lanes(
        keys=np.empty(side, np.uint64),
        steps=np.empty(side, np.int64),
        relevant=np.empty(counts, HALF),
        others=np.empty(counts, HALF),
        n_relevant=np.empty(side, HALF),
        n_others=np.empty(side, HALF),
        above_relevant=np.empty(side, HALF),
        above_others=np.empty(side, HALF),
        values=np.empty(side),
        halves=np.empty(side, HALF),
        uppers=np.empty(side, HALF),
        entries=np.empty(side, HALF),
        first=np.empty(side, HALF),
        last=np.empty(side, HALF),
        growth=np.empty(side),
    )


@inlined
def cell_key(key, cell):
    """Of the random words of one cell."""
    return mixed_bits(WORD(key) ^ mixed_bits(WORD(cell + 1) * GOLDEN))


@kernel
def _sample_cells(cells, first_cell, key, first, gain, laws, lanes, out):
    truncated = 0
    for cell in range(first_cell, first_cell + len(out)):
        row = out[cell - first_cell]
        if cells.n_relevant[cell] == 0:
            row[:] = 0.0
            continue
        truncated += _sample_cell(
            cells, cell, cell_key(key, cell), first, gain, laws, lanes, KEPT_ENTRIES, row
        )
    return truncated


def sample_cells(
    cells: Cells, first_cell: int, key: np.uint64, first: int, gain: Gain, out: np.ndarray
) -> int:
    """Fill out[cell - first_cell, replicate - first] with the measure of simulated rankings.

    The value of replicate b of cell c depends on `key`, c and b alone. Returns how many
    samples had more relevant documents than their ranking is deep.
    """
    most, entries = _room(cells, first_cell, first_cell + len(out))
    laws = make_room(most, entries, max(entries, 2 * most))
    return int(_sample_cells(cells, first_cell, key, first, gain, laws, make_lanes(most), out))
