"""The product of word counts and a map from words to units, formed for the units asked for."""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import WORD, lean_kernel, trailing_zeros


@lean_kernel
def weighted_lengths(starts, word, count, weight, lengths):
    """Units of each document; `weight` is how many a word stands for, 0 where it is stopped."""
    for document in range(len(starts) - 1):
        length = 0
        for pair in range(starts[document], starts[document + 1]):
            length += count[pair] * weight[word[pair]]
        lengths[document] = length


@lean_kernel
def merge_postings(
    word_starts,
    document,
    count,
    unit_starts,
    unit_word,
    times,
    sums,
    marks,
    starts,
    documents,
    counts,
):
    """The postings of each unit, from those of its words.

    Entry e says that a unit occurs times[e] times in the word unit_word[e]. `sums` (one for each
    document) and `marks` (one bit for each document) start as zeros and end so: a set bit says
    that the document has the unit, and the bits in order give the documents in order.
    """
    end = 0
    for unit in range(len(unit_starts) - 1):
        for entry in range(unit_starts[unit], unit_starts[unit + 1]):
            word = unit_word[entry]
            for posting in range(word_starts[word], word_starts[word + 1]):
                number = np.int64(document[posting])
                sums[number] += count[posting] * times[entry]
                marks[number >> 6] |= WORD(1) << WORD(number & 63)
        if unit_starts[unit] < unit_starts[unit + 1]:
            for block in range(len(marks)):
                bits = marks[block]
                marks[block] = WORD(0)
                while bits != WORD(0):
                    number = 64 * block + np.int64(trailing_zeros(bits))
                    bits &= bits - WORD(1)
                    documents[end] = number
                    counts[end] = sums[number]
                    sums[number] = 0
                    end += 1
        starts[unit + 1] = end
