"""The scores of a run as bins: the cells that `sampler_kernels` draws.

For each run and topic the scores of relevant and other documents become bins from the top of the
ranking down (Yang, Zhang & Song 2018, section 3.1).

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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from steadyrank.compute.kernels import kernel, part
from steadyrank.data.order import order_by_name, places_by_name
from steadyrank.data.qrels import JudgedRun, Qrels
from steadyrank.data.read.runs import header_of, read_runs
from steadyrank.data.run import Run
from steadyrank.errors import InputError, bad_value, check_choice
from steadyrank.measures.scoring import find_judged_documents
from steadyrank.studies.simulate.sampler_kernels import Cells
from steadyrank.studies.simulate.sampler_laws import total_weight

Model = Literal["bootstrap", "kde"]
KernelName = Literal["gaussian", "epanechnikov", "triangular", "uniform"]
Bandwidth = Literal["scott", "silverman", "robust"]
ScoreSource = Literal["score", "rank"]
Depth = Literal["retrieved"] | int

LARGEST_DEPTH = 10_000_000
MOST_BINS = 60_000
"""A place in a table has 16 bits."""

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
    """Write the bins of two densities from `bins` on; return the next free bin."""
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


def _profile_run(
    scores: np.ndarray,
    rows: tuple[np.ndarray, np.ndarray],
    relevant: tuple[np.ndarray, np.ndarray],
    rule: int,
    number: float,
    kernel_name: str,
) -> tuple[np.ndarray, ...]:
    """Return ends of each topic's bins, bins (relevant, others, mingled), tails, which are plain.

    `rows` and `relevant` are as in `_profile_topics`. In a plain topic one class at least could not
    be smoothed.
    """
    (starts, stops), (_, ranks) = rows, relevant
    n_topics, longest = len(starts), int((stops - starts).max(initial=0))
    smooth = rule != NUMBER or number > 0.0
    room = 2 * len(ranks) + n_topics + (n_topics * MOST_PIECES if smooth else 0)
    out = (np.empty(room), np.empty(room), np.empty(room, np.bool_))
    ends, tails, plain = np.empty(n_topics, np.int64), np.empty(n_topics), np.empty(n_topics, bool)
    scratch = np.empty(longest, np.bool_), np.empty(longest), np.empty((DEEPEST, 3))
    given = scores, rows, relevant, rule, number, SURVIVAL[kernel_name], scratch
    bins = _profile_topics(*given, out, (ends, tails, plain))
    return ends, *(column[:bins].copy() for column in out), tails, plain & smooth


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
    """Write the bins of one cell, with `scale` documents per weight; return the next free bin."""
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunNotes:
    """The runs of a simulation, sorted by name, and what was unusual about them."""

    runs: tuple[Run, ...]
    given: np.ndarray
    """Places of the runs in the order in which they were given."""
    missing: np.ndarray
    """[run]: number of topics that a run lacks."""
    none_relevant: int
    constant: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreProfiles:
    """The cells of a simulation, [run, topic] row by row; runs are sorted by name."""

    cells: Cells
    notes: RunNotes
    ranks: tuple[np.ndarray, ...]
    """Ranks of the relevant documents of each run, topic after topic."""
    blocks: tuple[np.ndarray, ...]
    longest: int
    plain: int


def score_profiles(
    runs: Any,
    qrels: Qrels,
    *,
    topics: Sequence[str],
    level: int = 1,
    model: Model = "bootstrap",
    depth: Depth = "retrieved",
    bandwidth: Bandwidth | float = "scott",
    kernel: KernelName = "gaussian",
    score_source: ScoreSource = "score",
    **machine: Any,
) -> ScoreProfiles:
    """Return the cells of every run on every topic of `topics`; `machine`: `jobs`, `progress`."""
    check_drawing(model, depth, bandwidth, kernel, score_source)
    wanted = np.array([qrels.position[topic] for topic in topics], np.int64)
    rule, number = NUMBER, 0.0
    if model == "kde" and isinstance(bandwidth, str):
        rule = RULES[bandwidth]
    elif model == "kde":
        number = float(bandwidth)
    by_score = score_source == "score"

    def one(run: Run) -> _RunProfile:
        starts, stops = rows = topic_rows(run, topics)
        judged = find_judged_documents(run, qrels, relevant_only=level >= 1)
        blocks, ranks, _ = relevant_ranks(judged, qrels, wanted, level)
        first = np.repeat(run.blocks[:-1], np.diff(run.blocks))
        # -1 for the first document of each topic, -2 for the second, and so on
        scores = run.scores if by_score else first - np.arange(len(run.scores)) - 1.0
        return _RunProfile(
            header_of(run),
            stops - starts,
            np.diff(blocks),
            by_score and is_constant(run.scores, starts, stops),
            blocks,
            ranks,
            *_profile_run(scores, rows, (blocks, ranks), rule, number, kernel),
        )

    parts, notes = in_order_of_names(read_runs(runs).map(one, **machine))
    owner = np.repeat(np.arange(len(qrels.topics)), np.diff(qrels.blocks))
    judged = np.bincount(owner[qrels.grades >= level], minlength=len(qrels.topics))[wanted]
    lengths = np.concatenate([part.lengths for part in parts])
    offsets = np.concatenate([[0], np.cumsum([len(part.relevant) for part in parts])])
    ends = [part.ends + offset for part, offset in zip(parts, offsets[:-1], strict=True)]
    starts = np.concatenate([[0], *ends])
    if len(starts) > 1 and int(np.diff(starts).max()) > MOST_BINS:
        raise InputError(
            f"a topic has more than {MOST_BINS} relevant documents with different scores: cut "
            "the runs to fewer documents"
        )
    cells = Cells(
        starts=starts,
        relevant=np.concatenate([part.relevant for part in parts]),
        others=np.concatenate([part.others for part in parts]),
        mingled=np.concatenate([part.mingled for part in parts]),
        tail=np.concatenate([part.tails for part in parts]),
        n_relevant=np.concatenate([part.n_relevant for part in parts]),
        depth=lengths if depth == "retrieved" else np.full(len(lengths), depth),
        judged=np.tile(judged, len(parts)),
    )
    return ScoreProfiles(
        cells=cells,
        notes=notes,
        ranks=tuple(part.ranks for part in parts),
        blocks=tuple(part.blocks for part in parts),
        longest=int(lengths.max(initial=0)),
        plain=int(sum(part.plain.sum() for part in parts)),
    )


class _RunProfile(NamedTuple):
    run: Run
    lengths: np.ndarray
    n_relevant: np.ndarray
    constant: bool
    blocks: np.ndarray
    ranks: np.ndarray
    ends: np.ndarray
    relevant: np.ndarray
    others: np.ndarray
    mingled: np.ndarray
    tails: np.ndarray
    plain: np.ndarray


def topic_rows(run: Run, topics: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last row of each topic in the run; no rows for a topic it lacks."""
    places = {topic: t for t, topic in enumerate(run.topics)}
    at = np.array([places.get(topic, -1) for topic in topics], np.int64)
    here = at >= 0
    return np.where(here, run.blocks[at], 0), np.where(here, run.blocks[at + 1], 0)


def relevant_ranks(
    judged: JudgedRun, qrels: Qrels, wanted: np.ndarray, level: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return blocks of the wanted topics, and ranks and grades of documents from `level` on."""
    grades = qrels.grades[judged.rows]
    owner = np.repeat(np.arange(len(qrels.topics)), np.diff(judged.blocks))
    place = np.full(len(qrels.topics), -1, np.int64)
    place[wanted] = np.arange(len(wanted))
    keep = (grades >= level) & (place[owner] >= 0)
    # The order of the wanted topics may differ from that of the judgments.
    slot = place[owner[keep]]
    counts = np.bincount(slot, minlength=len(wanted))
    blocks = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    order = np.argsort(slot, kind="stable")
    return blocks, judged.ranks[keep][order].astype(np.int64), grades[keep][order]


def is_constant(scores: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> bool:
    """Whether all documents of each topic have the same score."""
    several = stops - starts > 1
    firsts, lasts = scores[starts[several]], scores[stops[several] - 1]
    return bool(several.any() and (firsts == lasts).all())


def in_order_of_names(given: Sequence[Any]) -> tuple[list[Any], RunNotes]:
    """Return the parts of all runs, sorted by name, and the notes on the runs."""
    names = [part.run.name for part in given]
    parts = [given[place] for place in order_by_name(names)]
    notes = RunNotes(
        runs=tuple(part.run for part in parts),
        given=places_by_name(names),
        missing=np.array([int((part.lengths == 0).sum()) for part in parts]),
        none_relevant=int(sum((part.n_relevant == 0).sum() for part in parts)),
        constant=tuple(part.run.name for part in parts if part.constant),
    )
    return parts, notes


def check_drawing(
    model: str, depth: str | int, bandwidth: str | float, kernel: str, score_source: str
) -> None:
    """Raise an error for invalid ways to draw scores."""
    check_choice("model", model, get_args(Model))
    check_choice("kernel", kernel, get_args(KernelName))
    if kernel != "gaussian" and model != "kde":
        raise InputError(f"kernel {kernel} belongs to model kde: choose that, or omit it")
    check_choice("score source", score_source, get_args(ScoreSource))
    if isinstance(bandwidth, str):
        check_choice("bandwidth", bandwidth, get_args(Bandwidth))
    elif not (np.isfinite(bandwidth) and bandwidth >= 0):
        raise InputError(f"a bandwidth must be a number of at least 0, got {bandwidth}")
    whole = isinstance(depth, int) and not isinstance(depth, bool)
    if depth != "retrieved" and not (whole and 1 <= int(depth) <= LARGEST_DEPTH):
        raise bad_value(
            "depth", f"be 'retrieved' or a whole number from 1 to {LARGEST_DEPTH}", depth
        )
