"""From the scores of one ranking to bins of relevant and other documents.

For the bootstrap only the order of the two kinds matters: a bin is a row of relevant
documents with no other between them, below the others since the last bin. Documents of both
kinds that share a score make a bin of their own, whose order is random.

For kernel densities the scores' range is halved until what a piece holds of both kinds is
little enough for its order to be random too.
"""

from __future__ import annotations

import math

import numpy as np

from steadyrank.compute.kernels import inlined, kernel, part, specialised

NUMBER, SCOTT, SILVERMAN, ROBUST = 0, 1, 2, 3
RULES = {"scott": SCOTT, "silverman": SILVERMAN, "robust": ROBUST}

FINENESS = 0.02
"""A piece is halved while (relevant · others) / (1 + rank) expected in it exceed this."""

MOST_PIECES = 4096
DEEPEST = 64
REACH = 9.0
"""Standard deviations beyond which a Gaussian holds nothing."""

_STEPS = 512
_grid = np.arange(-int(REACH) * _STEPS, int(REACH) * _STEPS + 2) / _STEPS
SURVIVAL = np.array([0.5 * math.erfc(z / math.sqrt(2.0)) for z in _grid])
"""P(N(0, 1) > z) in steps of 1 / _STEPS."""
DENSITY = np.exp(-0.5 * _grid**2) / math.sqrt(2.0 * math.pi)
"""The density of N(0, 1) at the same places."""

TERMS = 10
"""Powers of the distance from its cluster's middle, half a bandwidth at most, that a score has in
its share above a point: what they leave out is below 1e-8."""


@part
def _make_clusters(values, width, middles, moments):
    """Gather values in order into clusters that are one bandwidth wide; how many there are.

    moments[c, k] is the sum of u^k / k! over the values of cluster c, u being their distance from
    its middle in bandwidths.
    """
    n = -1
    for value in values:
        if n < 0 or (middles[n] - value) / width > 0.5:
            n += 1
            middles[n] = value - 0.5 * width
            for k in range(TERMS + 1):
                moments[n, k] = 0.0
        u = (value - middles[n]) / width
        power = 1.0
        for k in range(TERMS + 1):
            moments[n, k] += power
            power *= u / (k + 1.0)
    return n + 1


@inlined
def _near(z, moments):
    """The expected number above a point that is z bandwidths above the middle of a cluster.

    The Taylor series of the normal survival function: its derivatives are Hermite's polynomials
    times the density.
    """
    place = (z + REACH) * _STEPS
    i = np.int64(place)
    rest = place - i
    survival = SURVIVAL[i] * (1.0 - rest) + SURVIVAL[i + 1] * rest
    density = DENSITY[i] * (1.0 - rest) + DENSITY[i + 1] * rest
    before, here, series = 0.0, 1.0, 0.0
    for k in range(1, TERMS + 1):
        series += moments[k] * here
        before, here = here, z * here - (k - 1.0) * before
    return moments[0] * survival + density * series


@part
def _number_above(x, width, middles, moments, n):
    """How many documents of a kernel density are expected above x."""
    total = 0.0
    for c in range(n):
        z = (x - middles[c]) / width
        if z >= REACH:
            break
        total += moments[c, 0] if z <= -REACH else _near(z, moments[c])
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
    """The width of a Gaussian kernel density of values in order, 0 where it cannot smooth."""
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
def _pieces(hits, rest, hit_width, rest_width, scratch, relevant, others, mingled, bins):
    """Write the bins of two kernel densities from `bins` on; the next free bin.

    The stack holds the pieces still to do, the highest on top: their lower ends with the
    relevant and other documents expected above those.
    """
    stack, middles, moments = scratch
    n_hits, n_rest = len(hits), len(rest)
    hit_middles, hit_moments = middles[:n_hits], moments[:n_hits]
    rest_middles, rest_moments = middles[n_hits:], moments[n_hits:]
    hit_clusters = _make_clusters(hits, hit_width, hit_middles, hit_moments)
    rest_clusters = _make_clusters(rest, rest_width, rest_middles, rest_moments)
    high = max(hits[0] + REACH * hit_width, rest[0] + REACH * rest_width)
    low = min(hits[-1] - REACH * hit_width, rest[-1] - REACH * rest_width)
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
            stack[top, 1] = _number_above(middle, hit_width, hit_middles, hit_moments, hit_clusters)
            stack[top, 2] = _number_above(
                middle, rest_width, rest_middles, rest_moments, rest_clusters
            )
    return bins


@part
def _one_point(hits, rest, hit_width, rest_width, scratch, relevant, others, mingled, bins):
    """The bins of a density and of documents that all share one score; next bin and tail."""
    _, middles, moments = scratch
    if hit_width == 0.0:
        clusters = _make_clusters(rest, rest_width, middles, moments)
        above = _number_above(hits[0], rest_width, middles, moments, clusters)
        relevant[bins], others[bins], mingled[bins] = len(hits), above, False
        return bins + 1, len(rest) - above
    clusters = _make_clusters(hits, hit_width, middles, moments)
    above = _number_above(rest[0], hit_width, middles, moments, clusters)
    relevant[bins], others[bins], mingled[bins] = above, 0.0, False
    relevant[bins + 1], others[bins + 1] = len(hits) - above, len(rest)
    mingled[bins + 1] = False
    return bins + 2, 0.0


@part
def _exact_bins(scores, hits, rest, is_relevant, rule, number, scratch, out, bins):
    """Write the bins of one topic for the bootstrap; the next free bin, the tail, and False."""
    bins, tail = _tied_groups(scores, is_relevant, out[0], out[1], out[2], bins)
    return bins, tail, False


@part
def _smooth_bins(scores, hits, rest, is_relevant, rule, number, scratch, out, bins):
    """Write the bins of one topic for densities; next free bin, tail, and whether it is plain."""
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
            hits, rest, hit_width, rest_width, scratch, relevant, others, mingled, bins
        )
    else:
        bins = _pieces(hits, rest, hit_width, rest_width, scratch, relevant, others, mingled, bins)
    return bins, tail, plain


def _profile_topics(
    scores, starts, stops, blocks, ranks, rule, number, is_relevant, apart, scratch, out, of_topics
):
    """Write the bins of every topic, by the global `topic_bins`, and how many there are in all.

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
            bins, tails[t], plain[t] = topic_bins(  # noqa: F821
                here, hits, rest, marks, rule, number, scratch, out, bins
            )
        ends[t] = bins
    return bins


_bootstrap_run = specialised(_profile_topics, "bootstrap_run", topic_bins=_exact_bins)
_density_run = specialised(_profile_topics, "density_run", topic_bins=_smooth_bins)


def profile_run(
    scores: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    blocks: np.ndarray,
    ranks: np.ndarray,
    rule: int,
    number: float,
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
    clusters = longest if smooth else 0
    scratch = (np.empty((DEEPEST, 3)), np.empty(clusters), np.empty((clusters, TERMS + 1)))
    marks, apart = np.empty(longest, np.bool_), np.empty(longest)
    kernel = _density_run if smooth else _bootstrap_run
    bins = kernel(
        scores, starts, stops, blocks, ranks, rule, number, marks, apart, scratch, out, of_topics
    )
    ends, tails, plain = of_topics
    return ends, *(column[:bins].copy() for column in out), tails, plain
