"""From the scores of one ranking to bins of relevant and other documents.

For the bootstrap only the order of the two kinds matters: a bin is a row of relevant
documents with no other between them, below the others since the last bin. Documents of both
kinds that share a score make a bin of their own, whose order is random.

For kernel densities the scores' range is halved until what a piece holds of both kinds is
little enough for its order to be random too. Neighbouring pieces are then joined to one bin, as
time goes with the number of bins, while one number, the bin's tilt, says how much higher its
relevant documents stand than its others (`sampler_kernels`).
"""

from __future__ import annotations

import math

import numpy as np

from steadyrank.compute.kernels import kernel, part
from steadyrank.studies.simulate.sampler_kernels import Cells
from steadyrank.studies.simulate.sampler_laws import total_weight

NUMBER, SCOTT, SILVERMAN, ROBUST = 0, 1, 2, 3
RULES = {"scott": SCOTT, "silverman": SILVERMAN, "robust": ROBUST}

FINENESS = 0.02
"""A piece is halved while (relevant · others) / (1 + rank) expected in it exceed this."""

MOST_PIECES = 4096
DEEPEST = 64
REACH = 9.0
"""Standard deviations beyond which a Gaussian holds nothing."""

TOLERANCE = 0.002
"""How far (relevant · others) / (1 + rank) of a bin may depart from its tilted law.

The mean number of others above a relevant document is right however large this is.
"""

MOST_TILT = 0.5
MOST_RELEVANT = 1.5
"""Expected in a bin that is joined: several that are drawn there have to be put in order."""

FEW_OTHERS = 0.1
"""With fewer others in a bin, the relevant ones are hardly ever put in order."""

_STEPS = 512
_grid = np.arange(-int(REACH) * _STEPS, int(REACH) * _STEPS + 2) / _STEPS


def _bounded(reach: float) -> np.ndarray:
    """The grid in units of where a kernel of bounded support ends."""
    return np.clip(_grid / reach, -1.0, 1.0)


_u, _v = _bounded(math.sqrt(5.0)), _bounded(math.sqrt(6.0))
SURVIVAL = {
    "gaussian": np.array([0.5 * math.erfc(z / math.sqrt(2.0)) for z in _grid]),
    "epanechnikov": (2.0 - 3.0 * _u + _u**3) / 4.0,
    "triangular": np.where(_v > 0.0, (1.0 - _v) ** 2, 2.0 - (1.0 + _v) ** 2) / 2.0,
    "uniform": (1.0 - _bounded(math.sqrt(3.0))) / 2.0,
}
"""What of each kernel, of variance 1, lies above z, in steps of 1 / _STEPS."""


@part
def _number_above(x, width, values, survival):
    """How many documents of the density of values in order are expected above x."""
    total = 0.0
    for value in values:
        z = (x - value) / width
        if z >= REACH:
            break
        if z <= -REACH:
            total += 1.0
        else:
            place = (z + REACH) * _STEPS
            i = np.int64(place)
            total += survival[i] + (place - i) * (survival[i + 1] - survival[i])
    return total


@part
def _tied_groups(scores, is_relevant, relevant, others, mingled, bins):
    """Write the bins of one ranking from `bins` on; the next free bin, and the tail."""
    gap = 0.0
    open_bin = False
    i, n = 0, len(scores)
    while i < n:
        stop = i
        hits = 0
        while stop < n and scores[stop] == scores[i]:
            hits += is_relevant[stop]
            stop += 1
        rest = stop - i - hits
        if hits > 0 and rest > 0:
            if gap > 0.0:
                relevant[bins], others[bins], mingled[bins] = 0.0, gap, False
                bins += 1
            relevant[bins], others[bins], mingled[bins] = hits, rest, True
            bins += 1
            gap, open_bin = 0.0, False
        elif hits > 0 and open_bin:
            relevant[bins - 1] += hits
        elif hits > 0:
            relevant[bins], others[bins], mingled[bins] = hits, gap, False
            bins += 1
            gap, open_bin = 0.0, True
        else:
            gap += rest
            open_bin = False
        i = stop
    return bins, gap


@part
def _middle_deviation(values):
    """The median absolute deviation of values in order, by walking out from their middle."""
    n = len(values)
    left = (n - 1) // 2
    right = left + 1
    middle = 0.5 * (values[left] + values[n // 2])
    before = here = 0.0
    for _ in range(n // 2 + 1):
        before = here
        if right == n or (left >= 0 and abs(values[left] - middle) <= abs(values[right] - middle)):
            here = abs(values[left] - middle)
            left -= 1
        else:
            here = abs(values[right] - middle)
            right += 1
    return here if n % 2 else 0.5 * (before + here)


@part
def _deviation(values):
    mean = squares = 0.0
    for value in values:
        mean += value / len(values)
    for value in values:
        squares += (value - mean) ** 2
    return math.sqrt(squares / (len(values) - 1.0))


@kernel
def bandwidth_of(values, rule, number):
    """The kernels' standard deviation in a density of values in order, 0 where it cannot smooth."""
    n = len(values)
    if n < 2:
        return 0.0
    reach = abs(values[0] - values[n - 1])
    if reach == 0.0 or not math.isfinite(reach):
        return 0.0
    if rule == NUMBER:
        return number
    if rule == ROBUST:
        spread = _middle_deviation(values) / 0.6745
        return (spread if spread > 0.0 else reach) * (4.0 / (3.0 * n)) ** 0.2
    return _deviation(values) * (n if rule == SCOTT else 0.75 * n) ** -0.2


@part
def _split(scores, is_relevant, hits, rest):
    """The scores of relevant and of other documents, each in order."""
    n_hits = n_rest = 0
    for i in range(len(scores)):
        if is_relevant[i]:
            hits[n_hits] = scores[i]
            n_hits += 1
        else:
            rest[n_rest] = scores[i]
            n_rest += 1


@part
def _fine_enough(hits, rest, rank):
    return hits * rest <= FINENESS * (1.0 + rank)


@part
def _pieces(hits, rest, hit_width, rest_width, survival, stack, relevant, others, mingled, bins):
    """Write the bins of two densities from `bins` on; the next free bin.

    The stack holds the pieces still to do, the highest on top: their lower ends with the
    relevant and other documents expected above those.
    """
    n_hits, n_rest = len(hits), len(rest)
    hit_reach, rest_reach = REACH * hit_width, REACH * rest_width
    high = max(hits[0] + hit_reach, rest[0] + rest_reach)
    low = min(hits[-1] - hit_reach, rest[-1] - rest_reach)
    stack[0, 0], stack[0, 1], stack[0, 2] = low, n_hits, n_rest
    top, hits_above, rest_above = 0, 0.0, 0.0
    first = bins
    while top >= 0:
        here, there = stack[top, 1] - hits_above, stack[top, 2] - rest_above
        middle = 0.5 * (high + stack[top, 0])
        if (
            _fine_enough(here, there, hits_above + rest_above)
            or top + 1 >= DEEPEST
            or bins - first >= MOST_PIECES - DEEPEST
            or not stack[top, 0] < middle < high
        ):
            relevant[bins], others[bins], mingled[bins] = here, there, True
            bins += 1
            high, hits_above, rest_above = stack[top, 0], stack[top, 1], stack[top, 2]
            top -= 1
        else:
            top += 1
            stack[top, 0] = middle
            stack[top, 1] = _number_above(middle, hit_width, hits, survival)
            stack[top, 2] = _number_above(middle, rest_width, rest, survival)
    return bins


@part
def _one_point(hits, rest, hit_width, rest_width, survival, relevant, others, mingled, bins):
    """The bins of a density and of documents that all share one score; next bin and tail."""
    if hit_width == 0.0:
        above = _number_above(hits[0], rest_width, rest, survival)
        relevant[bins], others[bins], mingled[bins] = len(hits), above, False
        return bins + 1, len(rest) - above
    above = _number_above(rest[0], hit_width, hits, survival)
    relevant[bins], others[bins], mingled[bins] = above, 0.0, False
    relevant[bins + 1], others[bins + 1] = len(hits) - above, len(rest)
    mingled[bins + 1] = False
    return bins + 2, 0.0


@part
def _topic_bins(scores, hits, rest, is_relevant, rule, number, survival, stack, out, bins):
    """Write the bins of one topic; next free bin, tail, and whether a class is not smooth."""
    relevant, others, mingled = out
    hit_width = bandwidth_of(hits, rule, number)
    rest_width = bandwidth_of(rest, rule, number)
    plain = hit_width == 0.0 or rest_width == 0.0
    finite = math.isfinite(scores[0]) and math.isfinite(scores[-1])
    tail = 0.0
    if not finite or len(rest) == 0 or (hit_width == 0.0 and rest_width == 0.0):
        bins, tail = _tied_groups(scores, is_relevant, relevant, others, mingled, bins)
    elif plain:
        bins, tail = _one_point(
            hits, rest, hit_width, rest_width, survival, relevant, others, mingled, bins
        )
    else:
        bins = _pieces(
            hits, rest, hit_width, rest_width, survival, stack, relevant, others, mingled, bins
        )
    return bins, tail, plain


@kernel
def _profile_topics(
    scores,
    starts,
    stops,
    blocks,
    ranks,
    rule,
    number,
    survival,
    is_relevant,
    apart,
    stack,
    out,
    of_topics,
):
    """Write the bins of every topic, and how many there are in all.

    `of_topics` takes where each topic's bins end, its tail, and whether it is plain.
    """
    ends, tails, plain = of_topics
    bins = 0
    for t in range(len(starts)):
        here = scores[starts[t] : stops[t]]
        n_hits = blocks[t + 1] - blocks[t]
        marks = is_relevant[: len(here)]
        for i in range(len(here)):
            marks[i] = False
        for i in range(blocks[t], blocks[t + 1]):
            marks[ranks[i] - 1] = True
        hits, rest = apart[:n_hits], apart[n_hits : len(here)]
        _split(here, marks, hits, rest)
        if n_hits == 0:
            tails[t], plain[t] = len(rest), False
        else:
            bins, tails[t], plain[t] = _topic_bins(
                here, hits, rest, marks, rule, number, survival, stack, out, bins
            )
        ends[t] = bins
    return bins


def profile_run(
    scores: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    blocks: np.ndarray,
    ranks: np.ndarray,
    rule: int,
    number: float,
    kernel_name: str = "gaussian",
) -> tuple[np.ndarray, ...]:
    """Bins of every topic of one run: their ends, and relevant, others, mingled; tails; plain.

    Topic t is rows starts[t] to stops[t] of `scores`, best first, with its relevant documents
    at ranks[blocks[t]] to ranks[blocks[t + 1]]. `plain` says where a density was asked for and
    could not be had in both classes.
    """
    n_topics, longest = len(starts), int((stops - starts).max(initial=0))
    smooth = rule != NUMBER or number > 0.0
    room = 2 * len(ranks) + n_topics + (n_topics * MOST_PIECES if smooth else 0)
    out = (np.empty(room), np.empty(room), np.empty(room, np.bool_))
    of_topics = (np.empty(n_topics, np.int64), np.empty(n_topics), np.empty(n_topics, np.bool_))
    stack = np.empty((DEEPEST, 3))
    marks, apart = np.empty(longest, np.bool_), np.empty(longest)
    given = scores, starts, stops, blocks, ranks, rule, number, SURVIVAL[kernel_name]
    bins = _profile_topics(*given, marks, apart, stack, out, of_topics)
    ends, tails, plain = of_topics
    plain &= smooth
    return ends, *(column[:bins].copy() for column in out), tails, plain


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
