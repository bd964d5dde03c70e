"""From fine pieces of two kernel densities to few bins, in each of which order is nearly random.

A piece is so fine that the order of its documents hardly matters. Neighbours are joined while one
number, the tilt, says how much higher the relevant documents of the bin stand than its others: of
the topmost share p of the others, the relevant ones that are higher hold p + tilt · p · (1 - p).
The number of others above a relevant document then has a law that is linear in it.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import kernel, part
from steadyrank.studies.simulate.sampler_laws import total_weight
from steadyrank.studies.simulate.score_bins import Cells

TOLERANCE = 0.002
"""How far (relevant · others) / (1 + rank) of a bin may depart from its tilted law.

The mean number of others above a relevant document is right however large this is.
"""

MOST_TILT = 0.5
MOST_RELEVANT = 2.0
"""Expected in a bin that is joined: several that are drawn there have to be put in order."""

FEW_OTHERS = 0.1
"""With fewer others in a bin, the relevant ones are hardly ever put in order."""


@part
def _tilt(relevant, others, hits, rest):
    """The tilt of some pieces, and how far their shares depart from it at most."""
    above = below = inside = 0.0
    for i in range(len(relevant)):
        inside += others[i] / rest * (above + 0.5 * relevant[i] / hits)
        above += relevant[i] / hits
    tilt = 6.0 * (inside - 0.5)
    above = farthest = 0.0
    for i in range(len(relevant)):
        above += relevant[i] / hits
        below += others[i] / rest
        farthest = max(farthest, abs(above - below - tilt * below * (1.0 - below)))
    return tilt, farthest


@part
def _joined(relevant, others, hits, rest, rank, scale):
    """Whether some pieces make one bin, and its tilt."""
    product = hits * rest * scale / (1.0 + rank)
    if product <= TOLERANCE:
        return True, 0.0
    if hits > MOST_RELEVANT and rest * scale > FEW_OTHERS:
        return False, 0.0
    tilt, farthest = _tilt(relevant, others, hits, rest)
    return abs(tilt) <= MOST_TILT and product * farthest <= TOLERANCE, tilt


@part
def _join_cell(relevant, others, mingled, scale, out, tilts, first):
    """Write the bins of one cell from `first` on; the next free bin.

    A sample has `scale` times as many other documents as the weights sum to.
    """
    rank = 0.0
    start, n = 0, len(relevant)
    while start < n:
        hits, rest, tilt = relevant[start], others[start], 0.0
        stop = start + 1
        while stop < n and mingled[start] and mingled[stop]:
            more_hits, more_rest = hits + relevant[stop], rest + others[stop]
            pieces = slice(start, stop + 1)
            good, more_tilt = _joined(
                relevant[pieces], others[pieces], more_hits, more_rest, rank, scale
            )
            if not good:
                break
            hits, rest, tilt = more_hits, more_rest, more_tilt
            stop += 1
        out[0][first], out[1][first], out[2][first] = hits, rest, mingled[start]
        tilts[first] = tilt
        rank += hits + rest * scale
        first += 1
        start = stop
    return first


@kernel
def _join_cells(cells, ends, out, tilts):
    """Write the bins of all cells, and where each cell's end."""
    bins = 0
    for cell in range(len(ends)):
        start, stop = cells.starts[cell], cells.starts[cell + 1]
        total = total_weight(cells.others[start:stop], cells.tail[cell])
        n_others = max(0, cells.depth[cell] - cells.n_relevant[cell])
        bins = _join_cell(
            cells.relevant[start:stop],
            cells.others[start:stop],
            cells.mingled[start:stop],
            n_others / total if total > 0.0 else 0.0,
            out,
            tilts,
            bins,
        )
        ends[cell] = bins
    return bins


def joined_bins(cells: Cells) -> tuple[Cells, np.ndarray]:
    """The pieces of kernel densities as fewer bins, and the tilt of each."""
    n_pieces, ends = len(cells.relevant), np.empty(len(cells.tail), np.int64)
    out = (np.empty(n_pieces), np.empty(n_pieces), np.empty(n_pieces, np.bool_))
    tilts = np.empty(n_pieces)
    bins = _join_cells(cells, ends, out, tilts)
    relevant, others, mingled = (column[:bins].copy() for column in out)
    joined = cells._replace(
        starts=np.concatenate([[0], ends]), relevant=relevant, others=others, mingled=mingled
    )
    return joined, tilts[:bins].copy()
