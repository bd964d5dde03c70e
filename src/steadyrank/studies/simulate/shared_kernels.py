"""Score the same new collection for every run: each document has one count, seen by all.

A run's ranking is its own with every document repeated as often as it is in the collection. For
each document with a gain the walk says what stands above it, in all samples side by side; here the
copies get their ranks and the lists their values, by the kernels of `evaluate`. AP and nDCG need
no lists: `shared_sums`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, part, specialised
from steadyrank.measures import kernels as measures
from steadyrank.measures.scoring import KERNELS
from steadyrank.studies.simulate.shared_counts import (
    MOST_COPIES,
    SIDE_BY_SIDE,
    Lists,
    Scratch,
    draw_topic,
    walk,
)
from steadyrank.studies.simulate.shared_sums import ADDENDS, summing
from steadyrank.studies.simulate.shared_ties import grade_of, order_tied

AT_ONCE = 4
"""Copies that are written without asking how many there are: few documents have more."""


@part
def _add_tied(n_tied, lane, above, scratch):
    """Write the ranks of tied documents with a gain."""
    n = np.int64(scratch.n_listed[lane])
    for i in range(n_tied):
        if scratch.tied[i] > 0:
            scratch.ranks[n] = above + i + 1
            scratch.grades[n] = scratch.tied[i]
            n += 1
    scratch.n_listed[lane] = n


@inlined
def _add_copies(row, before, grade, scratch):
    """Write the ranks of all copies of one document, in every sample."""
    counts, above, n_listed = scratch.counts, scratch.before, scratch.n_listed
    ranks, grades = scratch.ranks, scratch.grades
    for lane in range(SIDE_BY_SIDE):
        n = WORD(n_listed[lane])
        copies = WORD(counts[WORD(row) + WORD(lane)])
        first = above[WORD(before) + WORD(lane)] + np.int32(1)
        # How many copies there are is a coin's toss, which a branch would often guess wrong.
        for copy in range(AT_ONCE):
            ranks[n + WORD(copy)] = first + np.int32(copy)
        for copy in range(AT_ONCE):
            grades[n + WORD(copy)] = grade
        if copies > WORD(AT_ONCE):
            for copy in range(AT_ONCE, copies):
                ranks[n + WORD(copy)] = first + np.int32(copy)
                grades[n + WORD(copy)] = grade
        n_listed[lane] = n + copies


@part
def unfold(lists, cell, topic, key, first, n_events, scratch):
    """Write ranks and grades of the documents with a gain in every sample, one after the other.

    Those of a sample begin at its multiple of `room` and end at `n_listed`.
    """
    for lane in range(SIDE_BY_SIDE):
        scratch.n_listed[lane] = lane * scratch.room[0]
    for e in range(n_events):
        event = lists.events[cell] + e
        place = lists.starts[cell] + lists.at[event]
        before = e * SIDE_BY_SIDE
        if lists.size[event] == 1:
            number = lists.places[place]
            grade = grade_of(lists, topic, number)
            _add_copies(number * SIDE_BY_SIDE, before, np.int32(grade), scratch)
        else:
            for lane in range(SIDE_BY_SIDE):
                n_tied = order_tied(
                    lists, topic, place, lists.size[event], key, first + lane, lane, scratch
                )
                _add_tied(n_tied, lane, scratch.before[before + lane], scratch)


@inlined
def _end_of(lane, begin, depth, scratch):
    """Where the ranks of a sample end that its ranking is deep enough for."""
    end = np.int64(scratch.n_listed[lane])
    while end > begin and scratch.ranks[end - 1] > depth:
        end -= 1
    return end


@part
def make_ideal(lists, topic, scratch):
    """Write the grades of each sample's ideal ranking: of all its documents with a gain.

    Those of a sample begin at its multiple of `room` and are `n_ideal`; as many have room among
    the ranks.
    """
    n_ideal, counts = scratch.n_ideal, scratch.counts
    low, high = lists.ideal[topic], lists.ideal[topic + 1]
    n_ideal[:] = 0
    for number in range(high - low):
        for lane in range(SIDE_BY_SIDE):
            n_ideal[lane] += counts[number * SIDE_BY_SIDE + lane]
    room = AT_ONCE
    for lane in range(SIDE_BY_SIDE):
        room = max(room, n_ideal[lane] + AT_ONCE)
        n_ideal[lane] = 0
    scratch.room[0] = room
    for number in range(high - low):
        grade = lists.grades[low + number]
        for lane in range(SIDE_BY_SIDE):
            copies = WORD(counts[WORD(number * SIDE_BY_SIDE + lane)])
            n = WORD(lane * room + n_ideal[lane])
            for copy in range(AT_ONCE):
                scratch.ideal[n + WORD(copy)] = grade
            for copy in range(AT_ONCE, copies):
                scratch.ideal[n + WORD(copy)] = grade
            n_ideal[lane] += np.int64(copies)


def make_scratch(lists: Lists) -> Scratch:
    """Memory for any cell of these lists."""
    most_documents, most_events, most_ideal = (
        int(np.diff(bounds).max(initial=0))
        for bounds in (lists.documents, lists.events, lists.ideal)
    )
    widest = int(lists.size.max(initial=0))
    room = MOST_COPIES * max(most_ideal, 1) + AT_ONCE
    counts = np.empty((most_documents + 1) * SIDE_BY_SIDE, np.uint8)
    counts[most_documents * SIDE_BY_SIDE :] = 0
    return Scratch(
        counts,
        np.empty(SIDE_BY_SIDE, np.int32),
        np.empty(SIDE_BY_SIDE, np.int32),
        np.empty(SIDE_BY_SIDE),
        np.empty(max(1, most_events) * SIDE_BY_SIDE, np.int32),
        np.zeros(1, np.int64),
        np.empty(SIDE_BY_SIDE * room, np.int32),
        np.empty(SIDE_BY_SIDE * room, np.int32),
        np.empty(SIDE_BY_SIDE, np.uint64),
        np.empty(SIDE_BY_SIDE * room, np.int32),
        np.empty(SIDE_BY_SIDE, np.int64),
        np.empty(SIDE_BY_SIDE),
        np.empty(MOST_COPIES * widest + 1, np.uint64),
        np.empty(MOST_COPIES * widest + 1, np.int32),
    )


@part
def _as_it_is(ideal, gain, level, cutoff):
    """What a measure is divided by that is no ratio to something all runs share."""
    return 1.0


@part
def _relevant(ideal, gain, level, cutoff):
    return float(measures.n_relevant(ideal, level))


@part
def _ideal_dcg(ideal, gain, level, cutoff):
    return measures.ideal_dcg(ideal, gain, cutoff)


@part
def _ideal_err(ideal, gain, level, cutoff):
    return measures.ideal_err(ideal, gain, cutoff)


IDEALS = {"AP": _relevant, "nDCG": _ideal_dcg, "nERR": _ideal_err}
"""What a measure divides by that is a figure of the collection: all runs share it."""

NUMERATORS = {"nERR": measures.expected_reciprocal_rank}
"""What is divided by it, where `shared_sums` does not add it up."""


@functools.cache
def shared_kernel(measure: str) -> Any:
    """The compiled sampler of one measure: summed up, or by the kernel that `evaluate` uses."""
    name = measure.replace(" ", "_")
    if measure in ADDENDS:
        score = summing(measure)
    else:
        of_list = NUMERATORS.get(measure, KERNELS[measure])
        score = specialised(_score_each, f"score_each_{name}", how=part, of_list=of_list)
    of_ideal = IDEALS.get(measure, _as_it_is)
    return specialised(_sample_lists, f"sample_{name}", score=score, of_ideal=of_ideal)


def _score_each(lists, cell, topic, key, first, scoring, scratch):
    """Score one run's ranking in 64 samples from `first` on, one after the other."""
    depth, cutoff = lists.depth[cell], scoring.cutoff
    n_events = walk(lists, cell, min(depth, cutoff), scratch)
    unfold(lists, cell, topic, key, first, n_events, scratch)
    for lane in range(SIDE_BY_SIDE):
        if scratch.n_ideal[lane] == 0:
            continue  # No kernel knows a topic without relevant documents.
        begin = lane * scratch.room[0]
        end = _end_of(lane, begin, depth, scratch)
        scratch.total[lane] = of_list(  # noqa: F821
            scratch.ranks[begin:end],
            scratch.grades[begin:end],
            depth,
            scratch.ideal[begin : begin + scratch.n_ideal[lane]],
            scoring.gain,
            scoring.level,
            cutoff,
            scoring.parameter,
        )


def _sample_lists(lists, keys, first_item, last_item, first, scoring, scratch, out):
    """Fill out[cell, sample - first] for some items: topics, each cut into 64 samples at a time.

    The measure is the ratio of what the globals `score` and `of_ideal` compute. Returns how many
    topics had no relevant document in a sample; they score 0.
    """
    n_cells, n_samples = out.shape
    n_topics = len(lists.documents) - 1
    n_chunks = -(-n_samples // SIDE_BY_SIDE)
    best = scratch.best
    without = 0
    for item in range(first_item, last_item):
        topic, done = item // n_chunks, item % n_chunks * SIDE_BY_SIDE
        key, start = keys[topic], first + done
        draw_topic(lists, topic, key, start, scratch)
        make_ideal(lists, topic, scratch)
        lanes = min(SIDE_BY_SIDE, n_samples - done)
        for lane in range(lanes):
            begin = lane * scratch.room[0]
            ideal = scratch.ideal[begin : begin + scratch.n_ideal[lane]]
            best[lane] = 0.0
            if len(ideal) > 0:
                best[lane] = of_ideal(ideal, scoring.gain, scoring.level, scoring.cutoff)  # noqa: F821
            without += len(ideal) == 0 and lists.ideal[topic] < lists.ideal[topic + 1]
        for cell in range(topic, n_cells, n_topics):
            score(lists, cell, topic, key, start, scoring, scratch)  # noqa: F821
            for lane in range(lanes):
                divisor = best[lane]
                out[cell, done + lane] = scratch.total[lane] / divisor if divisor != 0.0 else 0.0
    return without
