"""Draw rankings of other document collections without sorting scores.

A cell, one run on one topic, is a sequence of bins from the top of the ranking down. In bin i the
number of relevant documents is Poisson(w_i), and the numbers of other documents are multinomial
over the bins and the tail below the last one. A binary measure needs no more, and the result is
equal in distribution to drawing every score and sorting.

**Counts.** A Poisson count is a look-up (`sampler_laws`), a multinomial one is not; given their
total, independent Poisson counts are multinomial. So the others begin as Poisson counts with a mean
somewhat below their number, and the missing ones are added one by one, each in a random bin. If
there are too many, all others are drawn again. The relevant documents are kept: a ranking with many
of them must not be redrawn more often than one with few.

**Order.** In most bins all others are above the relevant documents. In a mingled bin the order of
the two kinds is random: one number says how many others are above a single relevant document;
several are ordered one by one.

**Tilt.** The order in a bin of kernel densities is not quite random, since relevant documents tend
to be higher or lower than others. The topmost share p of the others is level with a share
p + tilt · p · (1 - p) of the relevant documents. A relevant document among m others is then below j
of them with probability (1 + tilt · (m - 2j) / (m + 2)) / (m + 1). This is a uniform draw that is
sometimes reversed: if it is on the wrong side of the middle, with a probability proportional to its
distance. Several documents are reversed together: the law of each is exact, their joint law to
first order.

**Values.** A measure is a sum over relevant documents that depends on the numbers of relevant and
other documents above each (`Gain`). Every sample keeps these two numbers while the bins are
processed from the top down.

Most loops process 64 samples at a time. Random word n of a sample is word n of the sample's stream
(`mixed_bits`): words 1 to bins + 1 are for the first counts, the following ones for anything
else (`steps` is the next one).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from steadyrank.compute.kernels import (
    GOLDEN,
    WORD,
    high_product,
    inlined,
    kernel,
    mixed_bits,
    part,
    specialised,
    trailing_zeros,
)
from steadyrank.studies.simulate.sampler_laws import (
    HALF,
    columns_at_most,
    make_laws,
    make_room,
    total_weight,
)

SIDE_BY_SIDE = 64
"""Samples of a cell that are drawn together: their counts fit into the fastest cache."""

MARGIN = 0.9
"""Distance, in square roots of the depth, of the Poisson counts' mean below their number."""

SHARES = 256
"""Poisson means of others are multiples of 1 / SHARES of their weights."""

WORDS = 32
"""Random words of one sample that are made together."""

REDRAWS = 8
"""Overshoots of one sample after which its documents are drawn one by one."""

PLACES = 1 << 32
"""Steps of a sample's stream for places in tilted bins: far from all others."""

MOST_TILTED = 8
"""More relevant documents of one sample in one bin are too rare to need a tilt."""

JUDGED, SAMPLED, POISSON = 0, 1, 2
"""Recall bases: how the number of relevant documents in a simulated collection is determined."""


class Cells(NamedTuple):
    """Cells and their bins: cell c has bins starts[c] to starts[c + 1]."""

    starts: np.ndarray
    relevant: np.ndarray
    """Expected number of relevant documents in a bin."""
    others: np.ndarray
    """Weight of the other documents in a bin: above its relevant ones, or among them."""
    mingled: np.ndarray
    """Whether the order of a bin's documents of both kinds is random."""
    tail: np.ndarray
    """Weight of the other documents below a cell's last bin."""
    n_relevant: np.ndarray
    depth: np.ndarray
    judged: np.ndarray
    """Number of relevant documents in the judgments, R."""


class Gain(NamedTuple):
    """A binary measure as a sum over the relevant documents of a ranking.

    Below A relevant and B other documents, `a` consecutive relevant documents contribute
    per_relevant · a + (per_other · B + constant) · (F(A + a + B) - F(A + B)), with F = `cumulated`.
    """

    cumulated: np.ndarray
    per_relevant: float
    per_other: float
    constant: float
    first_only: bool
    """Whether only the first relevant document counts; its value is then cumulated[rank]."""
    scale: np.ndarray
    base: int


class Lanes(NamedTuple):
    """64 samples; counts of bin i are SIDE_BY_SIDE entries from i * SIDE_BY_SIDE on."""

    keys: np.ndarray
    steps: np.ndarray
    relevant: np.ndarray
    others: np.ndarray
    n_relevant: np.ndarray
    n_others: np.ndarray
    """Number of other documents of a sample, as first drawn."""
    above_relevant: np.ndarray
    """Documents above the current bin."""
    above_others: np.ndarray
    before: np.ndarray
    """Number of others of a mingled bin above its relevant document."""
    values: np.ndarray
    halves: np.ndarray
    """From here on: memory that loops pass to the next loop."""
    uppers: np.ndarray
    entries: np.ndarray
    higher: np.ndarray
    first: np.ndarray
    last: np.ndarray
    growth: np.ndarray


@inlined
def _outcomes(halves, entries, table, law, out, row):
    """Draw one outcome of a law for each of 64 samples, from half a word each."""
    at, bits, low = law
    # Two loops, since a processor looks up one by one, but compares many at a time.
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
def _outcome(half, table, law):
    """Draw one outcome of a law from half a random word."""
    at, bits, low = law
    shift = HALF(32 - bits)
    column = HALF(half >> shift)
    entry = table[WORD(at) + WORD(column)]
    own = HALF(half & HALF((HALF(1) << shift) - HALF(1))) < HALF(entry >> HALF(bits))
    return np.int64(low) + np.int64(column if own else HALF(entry & HALF((1 << bits) - 1)))


@inlined
def _law_of(rows, row):
    return rows[row, 0], rows[row, 1], rows[row, 2]


@inlined
def _next_word(lanes, lane):
    word = mixed_bits(lanes.keys[lane] + WORD(lanes.steps[lane]) * GOLDEN)
    lanes.steps[lane] += 1
    return word


@inlined
def _number_below(word, n):
    """Return a number from 0 to n - 1, all equally likely."""
    return np.int64(high_product(word, WORD(n)))


@inlined
def _add_to(sums, counts, row):
    for lane in range(SIDE_BY_SIDE):
        sums[lane] += counts[WORD(row) + WORD(lane)]


@part
def _draw_counts(lanes, bins, key, first, laws):
    """Draw the first counts of every bin of every sample, from replicate `first` on."""
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
        _outcomes(halves, lanes.entries, laws.table, _law_of(laws.relevant, i), lanes.relevant, row)
        _outcomes(uppers, lanes.entries, laws.table, _law_of(laws.others, i), lanes.others, row)
        _add_to(lanes.n_others, lanes.others, row)
        if i < bins:  # The last row holds relevant documents that were not retrieved.
            _add_to(lanes.n_relevant, lanes.relevant, row)


@part
def _redraw_others(lanes, lane, bins, laws):
    """Draw one sample's Poisson counts again; return their total."""
    total = 0
    for i in range(bins + 1):
        drawn = _outcome(HALF(_next_word(lanes, lane)), laws.table, _law_of(laws.others, i))
        lanes.others[i * SIDE_BY_SIDE + lane] = drawn
        total += drawn
    return total


@inlined
def _complete_others(lanes, lane, missing, table, places):
    """Add `missing` other documents to one sample, each in a random bin."""
    while missing > 0:
        # Always WORDS words, since a loop of fixed length is faster.
        key = lanes.keys[lane] + WORD(lanes.steps[lane]) * GOLDEN
        for i in range(WORDS):
            word = mixed_bits(key + WORD(i) * GOLDEN)
            lanes.halves[i] = HALF(word)
            lanes.halves[WORDS + i] = HALF(word >> WORD(32))
        for i in range(min(missing, 2 * WORDS)):
            place = _outcome(lanes.halves[i], table, places)
            lanes.others[WORD(place) * WORD(SIDE_BY_SIDE) + WORD(lane)] += HALF(1)
        missing -= 2 * WORDS
        lanes.steps[lane] += WORDS


@inlined
def _settle_others(lanes, lane, bins, room, laws, places):
    """Adjust the number of one sample's other documents to `room`."""
    total = np.int64(lanes.n_others[lane])
    redraws = 0
    while total > room and redraws < REDRAWS:
        total = _redraw_others(lanes, lane, bins, laws)
        redraws += 1
    if total > room:
        # With many relevant documents, or a short ranking, Poisson counts never fit.
        for i in range(bins + 1):
            lanes.others[i * SIDE_BY_SIDE + lane] = 0
        total = 0
    _complete_others(lanes, lane, room - total, laws.table, places)


@part
def _thin_relevant(lanes, lane, bins, excess):
    """Drop `excess` of one sample's relevant documents, each equally likely."""
    for _ in range(excess):
        place = _number_below(_next_word(lanes, lane), np.int64(lanes.n_relevant[lane]))
        i = 0
        while place >= lanes.relevant[i * SIDE_BY_SIDE + lane]:
            place -= lanes.relevant[i * SIDE_BY_SIDE + lane]
            i += 1
        lanes.relevant[i * SIDE_BY_SIDE + lane] -= HALF(1)
        lanes.n_relevant[lane] -= HALF(1)


@part
def _settle(lanes, bins, depth, has_others, laws, places):
    """Cut or fill every sample's ranking to its depth; count those with too many relevant ones."""
    truncated = 0
    for lane in range(SIDE_BY_SIDE):
        excess = np.int64(lanes.n_relevant[lane]) - depth
        if excess > 0:
            truncated += 1
            _thin_relevant(lanes, lane, bins, excess)
        room = depth - np.int64(lanes.n_relevant[lane]) if has_others else 0
        _settle_others(lanes, lane, bins, room, laws, places)
    return truncated


@inlined
def _add_one(lanes, lane, above, others, gain):
    """Add the contribution of one document below `above` relevant and `others` other ones."""
    if gain.first_only:
        if above == 0:
            lanes.values[lane] = gain.cumulated[others + 1]
    else:
        rank = WORD(above + others)
        step = gain.cumulated[rank + WORD(1)] - gain.cumulated[rank]
        weight = gain.per_other * others + gain.constant
        lanes.values[lane] += gain.per_relevant + weight * step


@inlined
def _empty_bin(lanes, lane, place):
    """Count one sample's documents of a bin as above what follows, once they are added."""
    lanes.above_relevant[lane] += lanes.relevant[place]
    lanes.above_others[lane] += lanes.others[place]
    lanes.relevant[place] = lanes.others[place] = lanes.before[lane] = 0


@part
def _mingle(lanes, lane, place, gain):
    """Put one sample's documents of a bin in random order and add their contributions."""
    relevant, others = np.int64(lanes.relevant[place]), np.int64(lanes.others[place])
    above = np.int64(lanes.above_relevant[lane])
    below = np.int64(lanes.above_others[lane]) + others
    while relevant > 0:
        # The next document is relevant with probability relevant / (relevant + others).
        while others > 0:
            if _number_below(_next_word(lanes, lane), relevant + others) < relevant:
                break
            others -= 1
        _add_one(lanes, lane, above, below - others, gain)
        above += 1
        relevant -= 1
    _empty_bin(lanes, lane, place)


@part
def _place_evenly(lanes, row, tilt, gain):
    """Write into `before` how many others of a bin are above its only relevant document."""
    for lane in range(SIDE_BY_SIDE):
        relevant, others = lanes.relevant[row + lane], lanes.others[row + lane]
        lanes.before[lane] = 0
        if relevant > 0 and others > 0:
            if relevant == 1:
                slot = _number_below(_next_word(lanes, lane), np.int64(others) + 1)
                lanes.before[lane] = slot
            else:
                _mingle(lanes, lane, row + lane, gain)


@inlined
def _order_several(lanes, lane, place, tilt, gain):
    """`_mingle` for several documents of a tilted bin, with one random word for each."""
    n, others = np.int64(lanes.relevant[place]), np.int64(lanes.others[place])
    key = lanes.keys[lane] + WORD(lanes.steps[lane]) * GOLDEN
    lanes.steps[lane] += n + 1
    # A document takes any slot among the others and the documents before it. Two are ordered
    # without a branch, which would be predicted wrongly half of the time.
    first = _number_below(mixed_bits(key), others + 1)
    second = _number_below(mixed_bits(key + GOLDEN), others + 2)
    second -= second > first
    marks = lanes.entries  # others above each document, ascending
    marks[0], marks[1] = min(first, second), max(first, second)
    ranks = first + second + 3
    for i in range(2, n):
        # Above its slot are the first k documents, and others.
        slot = _number_below(mixed_bits(key + WORD(i) * GOLDEN), others + i + 1)
        k = i
        while k > 0 and np.int64(marks[k - 1]) + k - 1 >= slot:
            marks[k] = marks[k - 1]
            k -= 1
        marks[k] = slot - k
        ranks += slot - k + i + 1
    slots = others + n + 1
    chance = np.float64(mixed_bits(key + WORD(n) * GOLDEN)) * 2.0**-64
    is_turned = chance * slots < tilt * np.float64(2 * ranks - n * slots)
    above, higher = np.int64(lanes.above_relevant[lane]), np.int64(lanes.above_others[lane])
    for i in range(n):
        mark = np.int64(marks[WORD(n - 1 - i if is_turned else i)])
        _add_one(lanes, lane, above + i, higher + (others - mark if is_turned else mark), gain)
    _empty_bin(lanes, lane, place)


@part
def _place_tilted(lanes, row, tilt, gain):
    """`_place_evenly` for a tilted bin, all samples at a time."""
    keys, relevant, others, before = lanes.keys, lanes.relevant, lanes.others, lanes.before
    step, lean = WORD(PLACES + row) * GOLDEN, tilt * 2.0**32
    several = WORD(0)  # a bit for each sample
    for lane in range(SIDE_BY_SIDE):
        place = WORD(row) + WORD(lane)
        here = others[place]
        # The upper half of (half a word times the number of slots) is the slot, the lower random.
        product = (mixed_bits(keys[lane] + step) >> WORD(32)) * WORD(here + HALF(1))
        slot, rest = HALF(product >> WORD(32)), HALF(product)
        below = HALF(here - slot)
        off = np.float64(np.int32(slot) - np.int32(below))
        is_turned = np.float64(rest) * np.float64(np.int32(here) + 2) < lean * off
        before[lane] = below if is_turned else slot
        several |= WORD((relevant[place] > HALF(1)) & (here > HALF(0))) << WORD(lane)
    while several != WORD(0):
        lane = trailing_zeros(several)
        several &= several - WORD(1)
        place = WORD(row) + lane
        if relevant[place] <= MOST_TILTED:
            _order_several(lanes, lane, place, tilt, gain)
        else:
            _mingle(lanes, np.int64(lane), np.int64(place), gain)


@part
def _add_first(lanes, row, before, gain):
    """Add the contribution of the first relevant document in the samples that have it here."""
    for lane in range(SIDE_BY_SIDE):
        if lanes.relevant[row + lane] > 0 and lanes.above_relevant[lane] == 0:
            lanes.values[lane] = gain.cumulated[lanes.above_others[lane] + before[lane] + 1]
        lanes.above_relevant[lane] += lanes.relevant[row + lane]
        lanes.above_others[lane] += lanes.others[row + lane]


@inlined
def _add_bin(lanes, row, before, gain):
    """Add the contributions of one bin's relevant documents, all below `before` of its others."""
    relevant, others = lanes.relevant, lanes.others
    above_relevant, above_others, higher = lanes.above_relevant, lanes.above_others, lanes.higher
    first, last, growth, values = lanes.first, lanes.last, lanes.growth, lanes.values
    for lane in range(SIDE_BY_SIDE):
        place = WORD(row) + WORD(lane)
        higher[lane] = above_others[lane] + before[lane]
        first[lane] = above_relevant[lane] + higher[lane]
        above_relevant[lane] += relevant[place]
        above_others[lane] += others[place]
        last[lane] = above_relevant[lane] + higher[lane]
    for lane in range(SIDE_BY_SIDE):
        growth[lane] = gain.cumulated[WORD(last[lane])] - gain.cumulated[WORD(first[lane])]
    per_relevant, per_other, constant = gain.per_relevant, gain.per_other, gain.constant
    for lane in range(SIDE_BY_SIDE):
        weight = per_other * np.int32(higher[lane]) + constant
        here = np.int32(relevant[WORD(row) + WORD(lane)])
        values[lane] += per_relevant * here + weight * growth[lane]


def _add_up(lanes, bins, mingled, tilt, gain):
    """Compute every sample's value before the division by the recall base.

    The global `place_in_bin` draws the place of a relevant document in a mingled bin.
    """
    for lane in range(SIDE_BY_SIDE):
        lanes.above_relevant[lane] = lanes.above_others[lane] = 0
        lanes.values[lane] = 0.0
    for i in range(bins):
        row = i * SIDE_BY_SIDE
        before = lanes.others[row : row + SIDE_BY_SIDE]
        if mingled[i]:
            place_in_bin(lanes, row, tilt[i], gain)  # noqa: F821
            before = lanes.before
        if gain.first_only:
            _add_first(lanes, row, before, gain)
        else:
            _add_bin(lanes, row, before, gain)


@inlined
def _recall_base(lanes, lane, bins, judged, base):
    """Return the number of relevant documents in a sample's collection."""
    sampled = np.int64(lanes.n_relevant[lane])
    if base == JUDGED:
        return max(judged, sampled)
    if base == POISSON:
        return sampled + np.int64(lanes.relevant[bins * SIDE_BY_SIDE + lane])
    return sampled


@part
def _cell_laws(cells, cell, gain, laws):
    """Write the laws of a cell's counts; return the law of the bin of a single other document."""
    start, stop = cells.starts[cell], cells.starts[cell + 1]
    others, tail = cells.others[start:stop], cells.tail[cell]
    n_relevant, depth = cells.n_relevant[cell], cells.depth[cell]
    unretrieved = max(0.0, cells.judged[cell] - n_relevant) if gain.base == POISSON else 0.0
    total = total_weight(others, tail)
    mean = max(0.0, depth - n_relevant - MARGIN * math.sqrt(depth))
    share = np.int64(mean / total * SHARES) / SHARES if total > 0.0 else 0.0
    relevant = cells.relevant[start:stop]
    return make_laws(relevant, others, tail, share, unretrieved, laws), total > 0.0


def _sample_cells(cells, tilt, first_cell, key, first, gain, laws, lanes, out):
    # This is one function, since each further one would compile everything that it calls again.
    truncated = 0
    for cell in range(first_cell, first_cell + len(out)):
        row = out[cell - first_cell]
        if cells.n_relevant[cell] == 0:
            row[:] = 0.0
            continue
        start, stop = cells.starts[cell], cells.starts[cell + 1]
        bins, judged = stop - start, cells.judged[cell]
        cell_key = mixed_bits(WORD(key) ^ mixed_bits(WORD(cell + 1) * GOLDEN))
        places, has_others = _cell_laws(cells, cell, gain, laws)
        for done in range(0, len(row), SIDE_BY_SIDE):
            _draw_counts(lanes, bins, cell_key, first + done, laws)
            truncated += _settle(lanes, bins, cells.depth[cell], has_others, laws, places)
            add_up(lanes, bins, cells.mingled[start:stop], tilt[start:stop], gain)  # noqa: F821
            for lane in range(min(SIDE_BY_SIDE, len(row) - done)):
                base = _recall_base(lanes, lane, bins, judged, gain.base)
                row[done + lane] = lanes.values[lane] * gain.scale[base]
    return truncated


def _sampler(name: str, place_in_bin: Any) -> Any:
    """Return the compiled sampler that orders mingled bins by `place_in_bin`."""
    add_up = specialised(_add_up, f"add_up_{name}", how=part, place_in_bin=place_in_bin)
    return specialised(_sample_cells, f"sample_{name}", add_up=add_up)


_sample_evenly = _sampler("evenly", _place_evenly)
_sample_tilted = _sampler("tilted", _place_tilted)


@kernel
def _room(cells, first, last):
    """Return the most bins of a cell, and the most entries of the tables of a cell."""
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


def _make_lanes(most: int) -> Lanes:
    """Return memory for samples with at most `most` bins, including the tail."""
    other = {"keys": np.uint64, "steps": np.int64, "values": np.float64, "growth": np.float64}
    bins = {"relevant": most, "others": most}
    return Lanes(
        *(
            np.empty(bins.get(name, 1) * SIDE_BY_SIDE, other.get(name, HALF))
            for name in Lanes._fields
        )
    )


def sample_cells(
    cells: Cells,
    tilt: np.ndarray | None,
    first_cell: int,
    key: np.uint64,
    first: int,
    gain: Gain,
    out: np.ndarray,
) -> int:
    """Fill out[cell - first_cell, replicate - first] with the measure of simulated rankings.

    `tilt` is that of each bin of kernel densities. The value of replicate b of cell c depends only
    on `key`, c and b. Return how many samples had more relevant documents than their ranking is
    deep.
    """
    sample = _sample_evenly if tilt is None else _sample_tilted
    tilts = np.zeros(len(cells.relevant)) if tilt is None else tilt
    most, entries = _room(cells, first_cell, first_cell + len(out))
    laws, lanes = make_room(most, entries), _make_lanes(most)
    return int(sample(cells, tilts, first_cell, key, first, gain, laws, lanes, out))
