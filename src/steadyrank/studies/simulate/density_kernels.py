"""Draw rankings from kernel densities: `sampler_kernels` with bins whose order is tilted.

In a bin of m others a relevant document stands below j of them with probability
(1 + tilt · (m - 2j) / (m + 2)) / (m + 1). That is an even draw, turned upside down now and then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, kernel, part, trailing_zeros
from steadyrank.studies.simulate.density_counts import draw_counts, draw_words, settle, which_exceed
from steadyrank.studies.simulate.density_laws import entries_needed, make_deep, make_plan
from steadyrank.studies.simulate.density_order import (
    FEW,
    MANY,
    Groups,
    add_group,
    make_groups,
    work_through,
    work_through_rest,
)
from steadyrank.studies.simulate.density_vectors import order_one
from steadyrank.studies.simulate.sampler_kernels import (
    SIDE_BY_SIDE,
    cell_key,
    make_lanes,
    mingle,
    recall_base,
)
from steadyrank.studies.simulate.sampler_laws import HALF, make_room
from steadyrank.studies.simulate.score_bins import POISSON, Cells, Gain

PLACES = 1 << 32
"""Steps of a sample's stream from which the places within bins come: far from all others."""


class Order(NamedTuple):
    """The relevant documents of a bin."""

    few: Groups
    many: Groups
    """Those of the samples that have several among others."""
    higher: np.ndarray
    """Of the samples side by side: others above those that are in a row."""
    kept: np.ndarray
    """How many these are."""


@inlined
def _go_below(above, counts, row):
    """Let the documents of a bin be above what follows."""
    for lane in range(SIDE_BY_SIDE):
        above[lane] += counts[WORD(row) + WORD(lane)]


@inlined
def _add_bin(lanes, higher, kept, gain):
    """Add what one bin's relevant documents, in a row below some others, are worth."""
    values, above = lanes.values, lanes.above_relevant
    first, last, growth = lanes.first, lanes.last, lanes.growth
    for lane in range(SIDE_BY_SIDE):
        first[lane] = above[lane] + higher[lane]
        last[lane] = above[lane] + higher[lane] + kept[lane]
    for lane in range(SIDE_BY_SIDE):
        growth[lane] = gain.cumulated[WORD(last[lane])] - gain.cumulated[WORD(first[lane])]
    per_relevant, per_other, constant = gain.per_relevant, gain.per_other, gain.constant
    for lane in range(SIDE_BY_SIDE):
        weight = per_other * np.int32(higher[lane]) + constant
        values[lane] += per_relevant * np.int32(kept[lane]) + weight * growth[lane]


@part
def _add_first(lanes, higher, kept, gain):
    """Note what the first relevant document is worth, in the samples that find it in this bin."""
    for lane in range(SIDE_BY_SIDE):
        if kept[lane] > 0 and lanes.above_relevant[lane] == 0:
            lanes.values[lane] = gain.cumulated[np.int64(higher[lane]) + 1]


@inlined
def _take_out_several(lanes, order, row, gain):
    """Collect the samples that have several relevant documents of a bin among others."""
    which = which_exceed(lanes.relevant, row, HALF(1)) & which_exceed(lanes.others, row, HALF(0))
    while which != WORD(0):
        lane = trailing_zeros(which)
        which &= which - WORD(1)
        place = WORD(row) + lane
        if lanes.relevant[place] <= FEW:
            add_group(order.few, lanes, lane, place)
        elif lanes.relevant[place] <= MANY:
            add_group(order.many, lanes, lane, place)
        else:
            mingle(lanes, np.int64(lane), np.int64(place), gain)


@inlined
def _keep_order(lanes, row, higher, kept):
    """The relevant documents of a bin that stand below all its others."""
    for lane in range(SIDE_BY_SIDE):
        higher[lane] = lanes.above_others[lane] + lanes.others[row + lane]
        kept[lane] = lanes.relevant[row + lane]


@part
def _add_up(lanes, order, bins, mingled, tilt, gain, steps):
    """Every sample's value, before it is divided by its recall base."""
    few, many, higher, kept = order
    for lane in range(SIDE_BY_SIDE):
        lanes.above_relevant[lane] = lanes.above_others[lane] = 0
        lanes.values[lane] = few.values[lane] = many.values[lane] = 0.0
    for i in range(bins):
        row = i * SIDE_BY_SIDE
        if i % 2 == 0:
            draw_words(lanes.keys, PLACES + i, lanes.halves, lanes.uppers)
        if which_exceed(lanes.relevant, row, HALF(0)) == WORD(0):
            _go_below(lanes.above_others, lanes.others, row)
            continue
        if mingled[i]:
            _take_out_several(lanes, order, row, gain)
            if few.n[0] >= SIDE_BY_SIDE:
                work_through(few, SIDE_BY_SIDE, lanes, tilt, gain, steps)
            if many.n[0] >= SIDE_BY_SIDE:
                work_through(many, SIDE_BY_SIDE, lanes, tilt, gain, steps)
            halves, above = lanes.uppers if i % 2 else lanes.halves, lanes.above_others
            order_one(lanes.relevant, lanes.others, row, halves, above, tilt[i], higher, kept)
        else:
            _keep_order(lanes, row, higher, kept)
        if gain.first_only:
            _add_first(lanes, higher, kept, gain)
        else:
            _add_bin(lanes, higher, kept, gain)
        _go_below(lanes.above_relevant, lanes.relevant, row)
        _go_below(lanes.above_others, lanes.others, row)
    work_through_rest(few, lanes, tilt, gain, steps)
    work_through_rest(many, lanes, tilt, gain, steps)


@part
def _plan_of(cells, cell, gain, laws, deep):
    """The laws of a cell, and how its other documents are drawn."""
    start, stop = cells.starts[cell], cells.starts[cell + 1]
    relevant, others = cells.relevant[start:stop], cells.others[start:stop]
    n_relevant, judged = cells.n_relevant[cell], cells.judged[cell]
    unretrieved = max(0.0, judged - n_relevant) if gain.base == POISSON else 0.0
    tail, depth = cells.tail[cell], cells.depth[cell]
    return make_plan(relevant, others, tail, depth, n_relevant, unretrieved, laws, deep)


@inlined
def _write_values(lanes, order, bins, judged, gain, out):
    """Divide the values of the first samples by their recall bases."""
    for lane in range(min(SIDE_BY_SIDE, len(out))):
        base = recall_base(lanes, lane, bins, judged, gain.base)
        several = order.few.values[lane] + order.many.values[lane]
        out[lane] = (lanes.values[lane] + several) * gain.scale[base]


@kernel
def _sample_cells(cells, tilt, first_cell, key, first, gain, steps, laws, deep, lanes, order, out):
    # What one function more would hold, all its parts would be compiled with once more.
    truncated = 0
    for cell in range(first_cell, first_cell + len(out)):
        row = out[cell - first_cell]
        if cells.n_relevant[cell] == 0:
            row[:] = 0.0
            continue
        start, stop = cells.starts[cell], cells.starts[cell + 1]
        bins, depth, own = stop - start, cells.depth[cell], cell_key(key, cell)
        plan = _plan_of(cells, cell, gain, laws, deep)
        for done in range(0, len(row), SIDE_BY_SIDE):
            draw_counts(lanes, deep, bins, own, first + done, laws, plan)
            truncated += settle(lanes, deep, bins, depth, laws, plan)
            _add_up(lanes, order, bins, cells.mingled[start:stop], tilt[start:stop], gain, steps)
            _write_values(lanes, order, bins, cells.judged[cell], gain, row[done:])
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
    entries = entries_needed(most, int(cells.judged[bins].max(initial=0)) + deepest)
    steps = np.diff(gain.cumulated)
    laws, deep, lanes = make_room(most, entries, entries), make_deep(most), make_lanes(most)
    order = Order(make_groups(FEW), make_groups(MANY), *np.zeros((2, SIDE_BY_SIDE), HALF))
    return int(
        _sample_cells(
            cells, tilt, first_cell, key, first, gain, steps, laws, deep, lanes, order, out
        )
    )
