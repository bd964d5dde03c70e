"""Convert the scores of one ranking to bins of relevant and other documents.

For the bootstrap only the order of the two kinds matters: a bin holds the other documents since the
last bin and, below them, a sequence of relevant documents. Documents of both kinds that share a
score are a separate bin in random order.

For kernel densities the range of scores is halved until a piece holds so few documents of both
kinds that their order can be random. Neighbouring pieces are then joined to one bin, since time
grows with the number of bins; the tilt of a bin says how much higher its relevant documents are
than its others (`sampler_kernels`).
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
"""A piece is halved while its expected (relevant · others) / (1 + rank) exceeds this."""

MOST_PIECES = 4096
DEEPEST = 64
REACH = 9.0
"""Number of standard deviations beyond which a Gaussian is 0."""

TOLERANCE = 0.002
"""Most that (relevant · others) / (1 + rank) of a bin may differ from its tilted law.

The mean number of others above a relevant document is exact for any tolerance.
"""

MOST_TILT = 0.5
MOST_RELEVANT = 1.5
"""Most relevant documents expected in a joined bin: several in one bin must be ordered."""

FEW_OTHERS = 0.1
"""With fewer others in a bin, its relevant documents rarely need ordering."""

_STEPS = 512
_grid = np.arange(-int(REACH) * _STEPS, int(REACH) * _STEPS + 2) / _STEPS


_u, _v, _w = (np.clip(_grid / math.sqrt(n), -1.0, 1.0) for n in (5.0, 6.0, 3.0))
SURVIVAL = {
    "gaussian": np.array([0.5 * math.erfc(z / math.sqrt(2.0)) for z in _grid]),
    "epanechnikov": (2.0 - 3.0 * _u + _u**3) / 4.0,
    "triangular": np.where(_v > 0.0, (1.0 - _v) ** 2, 2.0 - (1.0 + _v) ** 2) / 2.0,
    "uniform": (1.0 - _w) / 2.0,
}
"""Share of each kernel of variance 1 above z, in steps of 1 / _STEPS."""


@part
def _number_above(x, width, values, survival):
    """Return the expected number of documents above x; `values` are sorted."""
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
def _tied_groups(scores, is_relevant, out, bins):
    """Write the bins of one ranking from `bins` on; return the next free bin and the tail."""
    relevant, others, mingled = out
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
    """Return the median absolute deviation of sorted values, searched outward from the middle."""
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
    """Return the standard deviation of the kernels for sorted values; 0 if they are constant."""
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
def _pieces(hits, rest, hit_width, rest_width, survival, stack, out, bins):
    """Write the bins of two densities from `bins` on; return the next free bin.

    The stack holds the remaining pieces, the highest on top: their lower ends, and the relevant
    and other documents expected above these.
    """
    relevant, others, mingled = out
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
            here * there <= FINENESS * (1.0 + hits_above + rest_above)
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
def _one_point(hits, rest, hit_width, rest_width, survival, out, bins):
    """Write the bins of a density and of documents that share one score; return next bin, tail."""
    relevant, others, mingled = out
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
    """Write the bins of one topic; return the next free bin, the tail, and if a class is plain."""
    hit_width = bandwidth_of(hits, rule, number)
    rest_width = bandwidth_of(rest, rule, number)
    plain = hit_width == 0.0 or rest_width == 0.0
    finite = math.isfinite(scores[0]) and math.isfinite(scores[-1])
    tail = 0.0
    if not finite or len(rest) == 0 or (hit_width == 0.0 and rest_width == 0.0):
        bins, tail = _tied_groups(scores, is_relevant, out, bins)
    elif plain:
        bins, tail = _one_point(hits, rest, hit_width, rest_width, survival, out, bins)
    else:
        bins = _pieces(hits, rest, hit_width, rest_width, survival, stack, out, bins)
    return bins, tail, plain


@kernel
def _profile_topics(scores, rows, relevant, rule, number, survival, scratch, out, of_topics):
    """Write the bins of every topic; return the number of bins.

    `rows` holds the first and last row of each topic, `relevant` the blocks of topics and the ranks
    in them. `of_topics` takes where each topic's bins end, its tail, and whether it is plain.
    """
    (starts, stops), (blocks, ranks), (is_relevant, apart, stack) = rows, relevant, scratch
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
        hits_so_far = 0
        for i in range(len(here)):
            if marks[i]:
                hits[hits_so_far] = here[i]
                hits_so_far += 1
            else:
                rest[i - hits_so_far] = here[i]
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
    """Return the ends of each topic's bins, the bins (relevant, others, mingled), tails, plain.

    Topic t is rows starts[t] to stops[t] of `scores`, best first, with its relevant documents
    at ranks[blocks[t]] to ranks[blocks[t + 1]]. `plain` marks the topics in which one class at
    least could not be smoothed.
    """
    n_topics, longest = len(starts), int((stops - starts).max(initial=0))
    smooth = rule != NUMBER or number > 0.0
    room = 2 * len(ranks) + n_topics + (n_topics * MOST_PIECES if smooth else 0)
    out = (np.empty(room), np.empty(room), np.empty(room, np.bool_))
    of_topics = (np.empty(n_topics, np.int64), np.empty(n_topics), np.empty(n_topics, np.bool_))
    scratch = np.empty(longest, np.bool_), np.empty(longest), np.empty((DEEPEST, 3))
    given = scores, (starts, stops), (blocks, ranks), rule, number, SURVIVAL[kernel_name]
    bins = _profile_topics(*given, scratch, out, of_topics)
    ends, tails, plain = of_topics
    plain &= smooth
    return ends, *(column[:bins].copy() for column in out), tails, plain


@part
def _tilt(relevant, others, hits, rest):
    """Return the tilt of some pieces, and the largest deviation of their shares from it."""
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
    """Return whether some pieces can be one bin, and its tilt."""
    product = hits * rest * scale / (1.0 + rank)
    if product <= TOLERANCE:
        return True, 0.0
    if hits > MOST_RELEVANT and rest * scale > FEW_OTHERS:
        return False, 0.0
    tilt, farthest = _tilt(relevant, others, hits, rest)
    return abs(tilt) <= MOST_TILT and product * farthest <= TOLERANCE, tilt


@part
def _join_cell(relevant, others, mingled, scale, out, tilts, first):
    """Write the bins of one cell from `first` on; return the next free bin.

    The number of other documents of a sample is `scale` times the sum of the weights.
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
    """Write the bins of all cells and where the bins of each cell end; return their number."""
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
    """Join the pieces of kernel densities to fewer bins; return these and the tilt of each."""
    n_pieces, ends = len(cells.relevant), np.empty(len(cells.tail), np.int64)
    out = (np.empty(n_pieces), np.empty(n_pieces), np.empty(n_pieces, np.bool_))
    tilts = np.empty(n_pieces)
    bins = _join_cells(cells, ends, out, tilts)
    relevant, others, mingled = (column[:bins].copy() for column in out)
    joined = cells._replace(
        starts=np.concatenate([[0], ends]), relevant=relevant, others=others, mingled=mingled
    )
    return joined, tilts[:bins].copy()
