"""Draw rankings from kernel densities: `sampler_kernels` with bins whose order is tilted.

The Poisson means of a density's bins are not whole numbers, so that hardly two cells would share a
table. Each mean is rounded down to one that cells share, and what the bins of a cell then lack is
drawn together: a Poisson number of documents that fall into the bins by their remainders. The sum
of both has the law that the exact means have.

In a bin of m others a relevant document stands below j of them with probability
(1 + tilt · (m - 2j) / (m + 2)) / (m + 1). That is an even draw, turned upside down now and then.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, lean_kernel, part
from steadyrank.compute.random_kernels import GOLDEN, mixed_bits
from steadyrank.studies.simulate.sampler_kernels import (
    MARGIN,
    REDRAWS,
    SIDE_BY_SIDE,
    Lanes,
    add_one,
    complete_others,
    draw,
    law_of,
    mingle,
    outcome,
    recall_base,
    redraw_others,
    thin_relevant,
    word_of,
)
from steadyrank.studies.simulate.sampler_laws import (
    HALF,
    KEPT_ENTRIES,
    SHARES,
    Laws,
    Spare,
    columns_at_most,
    make_shared_laws,
    total_weight,
)
from steadyrank.studies.simulate.score_bins import POISSON, Cells, Gain

PLACES = 1 << 32
"""Steps of a sample's stream from which the places within bins come: far from all others."""

MOST_MARKS = 4
"""Relevant documents of a bin that are put in order at once; more are too rare to need a tilt."""


class Order(NamedTuple):
    """Of the samples side by side: documents within a bin."""

    before: np.ndarray
    """Other documents of the bin above its relevant ones."""
    several: np.ndarray
    """Samples with several relevant documents among others."""
    marks: np.ndarray
    """Of one sample: others above each relevant document."""


@inlined
def _add_some(lanes, lane, n, counts, sums, table, places):
    """Add n documents to one sample, each wherever it falls."""
    for _ in range(n):
        place = outcome(HALF(word_of(lanes.keys[lane], lanes.steps[lane])), table, places)
        lanes.steps[lane] += 1
        counts[place * SIDE_BY_SIDE + lane] += HALF(1)
        sums[lane] += HALF(1)


@part
def _add_spares(lanes, laws, spare):
    """Add to every sample's first counts what rounding left out."""
    n_relevant, n_others = law_of(spare.laws, 0), law_of(spare.laws, 2)
    hit_places, rest_places = law_of(spare.laws, 1), law_of(spare.laws, 3)
    for lane in range(SIDE_BY_SIDE):
        word = word_of(lanes.keys[lane], lanes.steps[lane])
        lanes.steps[lane] += 1
        hits = outcome(HALF(word), laws.table, n_relevant)
        rest = outcome(HALF(word >> WORD(32)), laws.table, n_others)
        _add_some(lanes, lane, hits, lanes.relevant, lanes.n_relevant, laws.table, hit_places)
        _add_some(lanes, lane, rest, lanes.others, lanes.n_others, laws.table, rest_places)


@part
def _redraw(lanes, lane, bins, laws, spare):
    """Draw one sample's other documents again."""
    lanes.n_others[lane] = redraw_others(lanes, lane, bins, laws)
    word = word_of(lanes.keys[lane], lanes.steps[lane])
    lanes.steps[lane] += 1
    rest = outcome(HALF(word), laws.table, law_of(spare.laws, 2))
    places = law_of(spare.laws, 3)
    _add_some(lanes, lane, rest, lanes.others, lanes.n_others, laws.table, places)


@part
def _settle_others(lanes, lane, bins, room, laws, spare):
    """Make one sample's other documents exactly `room`."""
    redraws = 0
    while lanes.n_others[lane] > room and redraws < REDRAWS:
        _redraw(lanes, lane, bins, laws, spare)
        redraws += 1
    if lanes.n_others[lane] > room:
        for i in range(bins + 1):
            lanes.others[i * SIDE_BY_SIDE + lane] = 0
        lanes.n_others[lane] = 0
    missing = room - np.int64(lanes.n_others[lane])
    complete_others(lanes, lane, missing, laws.table, law_of(spare.laws, 4))


@part
def _settle(lanes, bins, depth, has_others, laws, spare):
    """Make every sample's ranking as deep as it is; how many had too many relevant documents."""
    truncated = 0
    for lane in range(SIDE_BY_SIDE):
        excess = np.int64(lanes.n_relevant[lane]) - depth
        if excess > 0:
            truncated += 1
            thin_relevant(lanes, lane, bins, excess)
        room = depth - np.int64(lanes.n_relevant[lane]) if has_others else 0
        _settle_others(lanes, lane, bins, room, laws, spare)
    return truncated


@inlined
def _insert(half, others, low, middle, high, n):
    """Put one more document anywhere among some others and n relevant documents.

    How many others are above it: its slot, less the relevant documents above that.
    """
    slot = np.int64((WORD(half) * WORD(others + n + 1)) >> WORD(32))
    return slot - (low < slot) - (middle + 1 < slot) - (high + 2 < slot)


@inlined
def _put_in_order(first, second, relevant, others, marks):
    """Write how many others are above each of two to four relevant documents, without branches."""
    away = np.int64(1) << 40
    low = _insert(HALF(first), others, away, away, away, 0)
    middle = _insert(HALF(first >> WORD(32)), others, low, away, away, 1)
    low, middle = min(low, middle), max(low, middle)
    third = _insert(HALF(second), others, low, middle, away, 2)
    third = third if relevant > 2 else away
    low, third = min(low, third), max(low, third)
    middle, high = min(middle, third), max(middle, third)
    fourth = _insert(HALF(second >> WORD(32)), others, low, middle, high, 3)
    fourth = fourth if relevant > 3 else away
    low, fourth = min(low, fourth), max(low, fourth)
    middle, fourth = min(middle, fourth), max(middle, fourth)
    marks[0], marks[1] = low, middle
    marks[2], marks[3] = min(high, fourth), max(high, fourth)


@inlined
def _order_few(lanes, lane, place, marks, tilt, gain):
    """Put two to four relevant documents of a bin in order and add what they are worth.

    The law of each is right to all orders of the tilt, their joint law to the first.
    """
    relevant, others = np.int64(lanes.relevant[place]), np.int64(lanes.others[place])
    key, step = lanes.keys[lane], lanes.steps[lane]
    first, second = word_of(key, step), word_of(key, step + 1)
    lanes.steps[lane] = step + 2
    _put_in_order(first, second, relevant, others, marks)
    ranks = relevant * (relevant + 1) // 2
    for i in range(relevant):
        ranks += marks[i]
    lean = tilt * (relevant - 2.0 * ranks / (others + relevant + 1.0))
    rest = HALF(WORD(HALF(first)) * WORD(others + 1))
    turned = np.float64(rest) < -lean * 2.0**32
    top = np.int64(lanes.above_relevant[lane]) + (relevant - 1 if turned else 0)
    higher = np.int64(lanes.above_others[lane]) + (others if turned else 0)
    step = -1 if turned else 1
    for i in range(relevant):
        add_one(lanes, lane, top + step * i, higher + step * marks[i], gain)
    lanes.above_relevant[lane] += lanes.relevant[place]
    lanes.above_others[lane] += lanes.others[place]
    lanes.relevant[place] = lanes.others[place] = 0


@inlined
def _draw_places(lanes, i):
    """Random halves for bin i, which is even, and for the next."""
    keys, halves, uppers = lanes.keys, lanes.halves, lanes.uppers
    step = WORD(PLACES + i) * GOLDEN
    for lane in range(SIDE_BY_SIDE):
        word = mixed_bits(keys[lane] + step)
        halves[lane] = HALF(word)
        uppers[lane] = HALF(word >> WORD(32))


@inlined
def _order_one(others, row, halves, before, tilt):
    """How many others of a bin stand above its only relevant document, in every sample."""
    for lane in range(SIDE_BY_SIDE):
        here = others[WORD(row) + WORD(lane)]
        product = WORD(halves[lane]) * WORD(here + HALF(1))
        place, rest = HALF(product >> WORD(32)), HALF(product)
        size = np.float64(np.int32(here))
        lean = tilt * (size - 2.0 * np.int32(place)) / (size + 2.0)
        turned = np.float64(rest) < -lean * 2.0**32
        before[lane] = here - place if turned else place


@inlined
def _most_relevant(relevant, row):
    """The most relevant documents that a sample has in a bin."""
    most = HALF(0)
    for lane in range(SIDE_BY_SIDE):
        most = max(most, relevant[WORD(row) + WORD(lane)])
    return most


@inlined
def _pass_by(above_others, others, row):
    """Go below a bin in which no sample has a relevant document."""
    for lane in range(SIDE_BY_SIDE):
        above_others[lane] += others[WORD(row) + WORD(lane)]


@inlined
def _find_several(lanes, row, several):
    """Write the samples with several relevant documents among others; how many there are."""
    n = 0
    for lane in range(SIDE_BY_SIDE):
        several[n] = lane
        n += (lanes.relevant[row + lane] > 1) & (lanes.others[row + lane] > 0)
    return n


@inlined
def _add_bin(lanes, row, before, gain):
    """Add what one bin's relevant documents, in a row below some others, are worth."""
    relevant, others, values = lanes.relevant, lanes.others, lanes.values
    above_relevant, above_others = lanes.above_relevant, lanes.above_others
    first, last, growth = lanes.first, lanes.last, lanes.growth
    for lane in range(SIDE_BY_SIDE):
        first[lane] = above_relevant[lane] + above_others[lane] + before[lane]
        last[lane] = first[lane] + relevant[WORD(row) + WORD(lane)]
    for lane in range(SIDE_BY_SIDE):
        growth[lane] = gain.cumulated[WORD(last[lane])] - gain.cumulated[WORD(first[lane])]
    per_relevant, per_other, constant = gain.per_relevant, gain.per_other, gain.constant
    for lane in range(SIDE_BY_SIDE):
        place = WORD(row) + WORD(lane)
        weight = per_other * np.int32(above_others[lane] + before[lane]) + constant
        values[lane] += per_relevant * np.int32(relevant[place]) + weight * growth[lane]
        above_relevant[lane] += relevant[place]
        above_others[lane] += others[place]


@part
def _add_first(lanes, row, before, gain):
    """Note what the first relevant document is worth, in the samples that find it in this bin."""
    for lane in range(SIDE_BY_SIDE):
        if lanes.relevant[row + lane] > 0:
            if lanes.above_relevant[lane] == 0:
                lanes.values[lane] = gain.cumulated[lanes.above_others[lane] + before[lane] + 1]
            lanes.above_relevant[lane] += lanes.relevant[row + lane]
        lanes.above_others[lane] += lanes.others[row + lane]


@part
def _add_up(lanes, order, bins, mingled, tilt, gain):
    """Every sample's value, before it is divided by its recall base."""
    before = order.before
    for lane in range(SIDE_BY_SIDE):
        lanes.above_relevant[lane] = lanes.above_others[lane] = 0
        lanes.values[lane] = 0.0
    for i in range(bins):
        row = i * SIDE_BY_SIDE
        if i % 2 == 0:
            _draw_places(lanes, i)
        most = _most_relevant(lanes.relevant, row)
        if most == 0:
            _pass_by(lanes.above_others, lanes.others, row)
            continue
        if mingled[i]:
            n_several = _find_several(lanes, row, order.several) if most > 1 else 0
            for j in range(n_several):
                lane = order.several[j]
                if lanes.relevant[row + lane] <= MOST_MARKS:
                    _order_few(lanes, lane, row + lane, order.marks, tilt[i], gain)
                else:
                    mingle(lanes, lane, row + lane, gain)
            halves = lanes.uppers if i % 2 else lanes.halves
            _order_one(lanes.others, row, halves, before, tilt[i])
        else:
            for lane in range(SIDE_BY_SIDE):
                before[lane] = lanes.others[row + lane]
        if gain.first_only:
            _add_first(lanes, row, before, gain)
        else:
            _add_bin(lanes, row, before, gain)


@part
def _sample_cell(cells, tilt, cell, key, first, gain, laws, spare, lanes, order, out):
    """Fill `out` with replicates from `first` on of one cell; how many were truncated."""
    start, stop = cells.starts[cell], cells.starts[cell + 1]
    bins, depth = stop - start, cells.depth[cell]
    relevant, others = cells.relevant[start:stop], cells.others[start:stop]
    n_relevant, tail = cells.n_relevant[cell], cells.tail[cell]
    total = total_weight(others, tail)
    unretrieved = max(0.0, cells.judged[cell] - n_relevant) if gain.base == POISSON else 0.0
    mean = max(0.0, depth - n_relevant - MARGIN * math.sqrt(depth))
    share = mean / total if total > 0.0 else 0.0
    make_shared_laws(relevant, others, tail, share, unretrieved, laws, spare, KEPT_ENTRIES)
    truncated = 0
    for done in range(0, len(out), SIDE_BY_SIDE):
        draw(lanes, bins, key, first + done, laws)
        _add_spares(lanes, laws, spare)
        truncated += _settle(lanes, bins, depth, total > 0.0, laws, spare)
        _add_up(lanes, order, bins, cells.mingled[start:stop], tilt[start:stop], gain)
        for lane in range(min(SIDE_BY_SIDE, len(out) - done)):
            base = recall_base(lanes, lane, bins, cells.judged[cell], gain.base)
            out[done + lane] = lanes.values[lane] * gain.scale[base]
    return truncated


@lean_kernel
def _sample_cells(cells, tilt, first_cell, key, first, gain, laws, spare, lanes, order, out):
    truncated = 0
    for cell in range(first_cell, first_cell + len(out)):
        row = out[cell - first_cell]
        if cells.n_relevant[cell] == 0:
            row[:] = 0.0
            continue
        cell_key = mixed_bits(WORD(key) ^ mixed_bits(WORD(cell + 1) * GOLDEN))
        truncated += _sample_cell(
            cells, tilt, cell, cell_key, first, gain, laws, spare, lanes, order, row
        )
    return truncated


def sample_densities(
    cells: Cells,
    tilt: np.ndarray,
    first_cell: int,
    key: np.uint64,
    first: int,
    gain: Gain,
    out: np.ndarray,
) -> int:
    """`sampler_kernels.sample_cells` for the bins of kernel densities, each with its tilt."""
    bins = slice(first_cell, first_cell + len(out))
    most = int(np.diff(cells.starts)[bins].max(initial=0)) + 1
    deepest = int(cells.depth[bins].max(initial=0))
    largest = int(cells.judged[bins].max(initial=0)) + deepest
    # Tables grow with the square root of their mean, which is concave.
    own = 2 * most * (int(columns_at_most.py_func(largest / most)) + 2)
    room = own + 4 * int(columns_at_most.py_func(largest)) + 8 * most
    laws = Laws(
        np.empty(KEPT_ENTRIES + room, HALF),
        np.empty((most, 3), np.int64),
        np.empty((most, 3), np.int64),
        np.full((SHARES + 1, 1024, 3), -1, np.int32),
        np.zeros(1, np.int64),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
    )
    spare = Spare(np.empty(most), np.empty(most), np.empty((5, 3), np.int64))
    side, counts = SIDE_BY_SIDE, most * SIDE_BY_SIDE
    lanes = Lanes(
        np.empty(side, np.uint64),
        np.empty(side, np.int64),
        np.empty(counts, HALF),
        np.empty(counts, HALF),
        np.empty(side, HALF),
        np.empty(side, HALF),
        np.empty(side, HALF),
        np.empty(side, HALF),
        np.empty(side),
        np.empty(side, HALF),
        np.empty(side, HALF),
        np.empty(side, HALF),
        np.empty(side, HALF),
        np.empty(side, HALF),
        np.empty(side),
    )
    order = Order(
        np.empty(side, HALF), np.empty(side + 1, np.int64), np.empty(MOST_MARKS, np.int64)
    )
    return int(
        _sample_cells(cells, tilt, first_cell, key, first, gain, laws, spare, lanes, order, out)
    )
