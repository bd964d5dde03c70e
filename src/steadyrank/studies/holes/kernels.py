"""Completions in compiled code: ideal lists, drawn grades, and what a grade changes."""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import kernel


@kernel
def draw_grades(x, coefficients, topics, runs, topic, owner, uniform, out):
    """The highest grade whose chance to be reached is above a uniform number, for each hole."""
    n_grades, n_features = coefficients.shape
    for i in range(len(uniform)):
        reach = 1.0
        out[i] = 0
        for g in range(n_grades):
            logit = topics[topic[i]] + runs[owner[i]] if g == 0 else 0.0
            for k in range(n_features):
                logit += coefficients[g, k] * x[g, i, k]
            reach /= 1.0 + np.exp(-logit)
            if uniform[i] >= reach:
                break
            out[i] = g + 1


@kernel
def sum_changes(blocks, runs, weights, undecided):
    """Per document, the sum of |weight in a - weight in b| over undecided pairs of runs."""
    n_runs = len(undecided)
    sums = np.zeros(len(blocks) - 1)
    of_run = np.zeros(n_runs)
    for i in range(len(sums)):
        for e in range(blocks[i], blocks[i + 1]):
            of_run[runs[e]] = weights[e]
        for e in range(blocks[i], blocks[i + 1]):
            a = runs[e]
            for b in range(n_runs):
                # A pair of which both runs have the document is met twice.
                share = 1.0 if of_run[b] == 0.0 else 0.5
                if undecided[a, b]:
                    sums[i] += share * abs(of_run[a] - of_run[b])
        for e in range(blocks[i], blocks[i + 1]):
            of_run[runs[e]] = 0.0
    return sums
