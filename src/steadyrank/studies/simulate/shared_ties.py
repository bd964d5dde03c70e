"""Copies of tied documents in a random order that all runs share."""

from __future__ import annotations

from steadyrank.compute.kernels import WORD, inlined, part
from steadyrank.compute.random_kernels import GOLDEN, mixed_bits
from steadyrank.studies.simulate.shared_counts import SIDE_BY_SIDE, stream_of

_TIE = WORD(0x6A09E667F3BCC909)
"""Tells the words that order tied documents from those that count them."""


@inlined
def grade_of(lists, topic, number):
    """The grade of a document of a topic, 0 if it has no gain."""
    at = lists.ideal[topic] + number
    return lists.grades[at] if at < lists.ideal[topic + 1] else 0


@part
def order_tied(lists, topic, place, size, key, sample, lane, scratch):
    """Write the grades of all copies of tied documents in their order; how many they are.

    The documents are those at `size` places from `place` on.
    """
    n_tied = 0
    for i in range(place, place + size):
        number = lists.places[i]
        stream = stream_of(key, lists.hashes[lists.documents[topic] + number] ^ _TIE)
        for copy in range(scratch.counts[number * SIDE_BY_SIDE + lane]):
            word = WORD(sample * 16 + copy + 1)
            scratch.keys[n_tied] = mixed_bits(stream + word * GOLDEN)
            scratch.tied[n_tied] = grade_of(lists, topic, number)
            n_tied += 1
    _sort_tied(scratch.keys, scratch.tied, n_tied)
    return n_tied


@part
def _sort_tied(keys, grades, n):
    """Order copies by their keys (Shell's method): groups are small, or few."""
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            key, grade = keys[i], grades[i]
            j = i
            while j >= gap and keys[j - gap] > key:
                keys[j], grades[j] = keys[j - gap], grades[j - gap]
                j -= gap
            keys[j], grades[j] = key, grade
        gap //= 2
