"""Measures for incomplete judgments: Bpref and inferred AP.

Their signature is that of `measures.kernels`, with all documents of the pool in `ranks` and
`grades`. A grade of 0 or above is a judgment; a negative one says that a document was in the pool
and was not judged, as in trec_eval.
"""

from __future__ import annotations

from steadyrank.compute.kernels import inlined, part
from steadyrank.measures.kernels import n_relevant

_EPSILON = 0.00001
"""trec_eval's, which keeps the estimated precision defined above the first judged document."""


@inlined
def n_judged_other(ideal, level):
    """How many documents were judged and are not relevant."""
    count = 0
    for i in range(len(ideal)):
        count += 0 <= ideal[i] < level
    return count


@part
def binary_preference(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """Bpref = (1/R) sum over relevant documents of 1 - min(others above, R) / min(N, R).

    N documents were judged and are not relevant; others above are those of them that stand higher.
    Buckley & Voorhees, SIGIR 2004, doi:10.1145/1008992.1009000, as trec_eval corrected it.
    """
    relevant = n_relevant(ideal, level)
    most = min(n_judged_other(ideal, level), relevant)
    above = 0
    total = 0.0
    for i in range(len(ranks)):
        if grades[i] >= level:
            total += 1.0 - min(above, relevant) / most if above > 0 else 1.0
        elif grades[i] >= 0:
            above += 1
    return total / relevant


@part
def inferred_ap(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """infAP = AP with the precision at a relevant document inferred from those judged above it.

    Of the documents above rank k, those outside the pool are not relevant; those of the pool are
    relevant in the proportion of the judged ones. Yilmaz & Aslam, CIKM 2006,
    doi:10.1145/1183614.1183633.
    """
    total = 0.0
    found = 0
    other = 0
    unjudged = 0
    for i in range(len(ranks)):
        if grades[i] >= level:
            rank = float(ranks[i])
            pooled = found + other + unjudged
            share = (found + _EPSILON) / (found + other + 2.0 * _EPSILON)
            total += 1.0 / rank + pooled / rank * share
            found += 1
        elif grades[i] >= 0:
            other += 1
        else:
            unjudged += 1
    return total / n_relevant(ideal, level)
