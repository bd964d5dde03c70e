"""Measures of a result as a set, whatever its order, and counts.

Their signature is that of `measures.kernels`. Counts are given the lowest grade that they count in
`parameter`: they make sense where nothing is relevant, too, and such topics reach them.
"""

from __future__ import annotations

from steadyrank.compute.kernels import part
from steadyrank.measures.kernels import n_found, n_relevant


@part
def set_precision(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """SetP = relevant retrieved / retrieved."""
    return n_found(ranks, grades, level, cutoff) / length if length > 0 else 0.0


@part
def relative_set_precision(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """SetP(relative=True) = SetP over the largest that so many documents can have."""
    largest = min(length, n_relevant(ideal, level))
    return n_found(ranks, grades, level, cutoff) / largest if largest > 0 else 0.0


@part
def set_recall(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """SetR = relevant retrieved / R."""
    return n_found(ranks, grades, level, cutoff) / n_relevant(ideal, level)


@part
def set_f(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """SetF = (beta + 1) P R / (beta P + R), beta = `parameter` as trec_eval has it, not squared."""
    found = n_found(ranks, grades, level, cutoff)
    if found == 0:
        return 0.0
    p = found / length
    r = found / n_relevant(ideal, level)
    return (parameter + 1.0) * p * r / (parameter * p + r)


@part
def set_average_precision(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """SetAP = SetP SetR."""
    if length == 0:
        return 0.0
    found = n_found(ranks, grades, level, cutoff)
    return found / length * (found / n_relevant(ideal, level))


@part
def n_retrieved(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """NumRet: how many documents were retrieved."""
    return float(length)


@part
def n_relevant_retrieved(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """NumRelRet: how many relevant documents were retrieved."""
    return float(n_found(ranks, grades, parameter, cutoff))


@part
def n_judged_relevant(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """NumRel = R, whatever was retrieved."""
    return float(n_relevant(ideal, parameter))
