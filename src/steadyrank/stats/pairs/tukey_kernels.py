"""The inner loop of the randomised Tukey test: scores of each topic dealt afresh to the runs."""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import WORD, high_product, kernel


@kernel
def permuted_ranges(by_topic, words, ranges):
    """Largest minus smallest run sum after shuffling every topic, for each replicate.

    `by_topic` is [topic, run]; `words` [replicate, topic, run - 1] holds one random word for each
    step of a Fisher-Yates shuffle, taken to 0..j by the upper half of word times (j + 1): biased
    by less than runs / 2^64. `ranges` [replicate] is written to.
    """
    n_topics, n_runs = by_topic.shape
    sums = np.empty(n_runs)
    dealt = np.empty(n_runs)
    for replicate in range(ranges.size):
        sums[:] = 0.0
        for topic in range(n_topics):
            dealt[:] = by_topic[topic]
            for j in range(n_runs - 1, 0, -1):
                chosen = np.int64(high_product(words[replicate, topic, j - 1], WORD(j + 1)))
                sums[j] += dealt[chosen]
                dealt[chosen] = dealt[j]
            sums[0] += dealt[0]
        ranges[replicate] = sums.max() - sums.min()
