"""Every measure of one ranked list, one small kernel each.

All share one signature:

- `ranks`, `grades`: ranks (from 1, ascending) and grades of its documents of grade 1 and
  above (of all judged documents, if the measure or `judged_only` depends on the others);
- `length`: number of documents in the list;
- `ideal`: the grades of all judged documents of the topic, best first;
- `gain`: gain[g] is the gain of a document of grade g (0 for negative grades);
- `level`: the lowest grade that counts as relevant;
- `cutoff`: only ranks up to it count;
- `parameter`: the constant of the measure, if it has one.

Kernels are not called for topics without relevant documents, except Judged and counts; the
`parameter` of a count is the lowest grade that it counts. A grade of 0 or above is a judgment; for
Bpref and infAP a negative grade says that a document was in the pool and was not judged, as in
trec_eval.
"""

from __future__ import annotations

import math

from steadyrank.compute.kernels import inlined, part


@inlined
def worth(gain, grade):
    """Return the gain of a grade; that of a negative grade is 0."""
    return gain[grade] if grade >= 0 else 0.0


@inlined
def n_relevant(ideal, level):
    """Return R, the number of relevant judged documents."""
    count = 0
    while count < len(ideal) and ideal[count] >= level:
        count += 1
    return count


@inlined
def n_found(ranks, grades, level, cutoff):
    """Return the number of relevant documents at ranks up to `cutoff`."""
    count = 0
    for i in range(len(ranks)):
        if ranks[i] > cutoff:
            break
        count += grades[i] >= level
    return count


@inlined
def ideal_dcg(ideal, gain, cutoff):
    """Return the DCG of the ideal list, for nDCG."""
    total = 0.0
    for i in range(min(len(ideal), cutoff)):
        value = worth(gain, ideal[i])
        if value == 0.0:
            break
        total += value / math.log2(i + 2.0)
    return total


@inlined
def ideal_err(ideal, gain, cutoff):
    """Return the ERR of the ideal list, for nERR."""
    total = 0.0
    go_on = 1.0
    for i in range(min(len(ideal), cutoff)):
        stop = worth(gain, ideal[i])
        total += go_on * stop / (i + 1)
        go_on *= 1.0 - stop
    return total


@part
def precision_sum(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """Sum over relevant ranks r of (relevant in the top r) / r."""
    total = 0.0
    found = 0
    for i in range(len(ranks)):
        if ranks[i] > cutoff:
            break
        if grades[i] >= level:
            found += 1
            total += found / ranks[i]
    return total


@part
def average_precision(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """AP = (1/R) sum over relevant ranks r of (relevant in the top r) / r."""
    total = precision_sum(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    return total / n_relevant(ideal, level)


@part
def precision(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """P@k = relevant in the top k / k, however short the list."""
    return n_found(ranks, grades, level, cutoff) / cutoff


@part
def recall(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """R@k = relevant in the top k / R."""
    return n_found(ranks, grades, level, cutoff) / n_relevant(ideal, level)


@part
def r_precision(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """Rprec = precision at rank R."""
    relevant = n_relevant(ideal, level)
    return n_found(ranks, grades, level, relevant) / relevant


@part
def success(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """Success@k = 1 if the top k hold a relevant document, else 0."""
    return 1.0 if n_found(ranks, grades, level, cutoff) > 0 else 0.0


@part
def reciprocal_rank(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """RR = 1 / the rank of the first relevant document."""
    for i in range(len(ranks)):
        if ranks[i] > cutoff:
            break
        if grades[i] >= level:
            return 1.0 / ranks[i]
    return 0.0


@part
def judged_share(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """Judged@k = judged documents in the top k / documents in the top k (ir_measures)."""
    count = 0
    for i in range(len(ranks)):
        count += ranks[i] <= cutoff
    depth = min(length, cutoff)
    return count / depth if depth > 0 else 0.0


@part
def dcg(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """DCG = sum of gain / log2(rank + 1).

    Jarvelin & Kekalainen, TOIS 20(4), 2002, doi:10.1145/582415.582418, with the
    discount of Burges et al., ICML 2005, doi:10.1145/1102351.1102363.
    """
    total = 0.0
    for i in range(len(ranks)):
        if ranks[i] > cutoff:
            break
        value = worth(gain, grades[i])
        if value != 0.0:
            total += value / math.log2(ranks[i] + 1.0)
    return total


@part
def ndcg(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """nDCG = DCG / DCG of the ideal list."""
    best = ideal_dcg(ideal, gain, cutoff)
    if best == 0.0:
        return 0.0
    return dcg(ranks, grades, length, ideal, gain, level, cutoff, parameter) / best


@part
def normalized_gain(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """nG@1 = gain of the first document / gain of the best judged one."""
    best = worth(gain, ideal[0])
    if best == 0.0 or len(ranks) == 0 or ranks[0] > 1:
        return 0.0
    return worth(gain, grades[0]) / best


@part
def rank_biased_precision(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """RBP = (1 - p) sum over ranks of p^(rank - 1) gain, p = `parameter`.

    Moffat & Zobel, TOIS 27(1), 2008, doi:10.1145/1416950.1416952.
    """
    total = 0.0
    for i in range(len(ranks)):
        if ranks[i] > cutoff:
            break
        if grades[i] >= level:
            total += worth(gain, grades[i]) * parameter ** (ranks[i] - 1.0)
    return (1.0 - parameter) * total


@part
def rbp_residual(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """RBP(residual=True) = increase of RBP if all unjudged documents were relevant.

    (1 - p) sum over unjudged ranks of p^(rank - 1), plus p^k for the ranks beyond the k retrieved:
    together 1 minus the weight of the judged documents (of grade 0 and above).
    """
    weight = 0.0
    for i in range(len(ranks)):
        if ranks[i] > cutoff:
            break
        if grades[i] >= 0:
            weight += parameter ** (ranks[i] - 1.0)
    return 1.0 - (1.0 - parameter) * weight


@part
def expected_reciprocal_rank(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """ERR = sum over ranks of (1/r) p_r prod_{i<r} (1 - p_i), p = gain[grade] the chance to stop.

    Chapelle, Metzler, Zhang & Grinspan, CIKM 2009, doi:10.1145/1645953.1646033.
    """
    total = 0.0
    go_on = 1.0
    for i in range(len(ranks)):
        if ranks[i] > cutoff:
            break
        stop = worth(gain, grades[i])
        total += go_on * stop / ranks[i]
        go_on *= 1.0 - stop
    return total


@part
def normalized_err(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """nERR@k = ERR@k / ERR@k of the ideal list."""
    best = ideal_err(ideal, gain, cutoff)
    if best == 0.0:
        return 0.0
    err = expected_reciprocal_rank(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    return err / best


@inlined
def _blended(ranks, grades, ideal, gain, level, cutoff, beta):
    """Return sum and number of the blended ratios at the relevant ranks up to `cutoff`.

    BR(r) = (C(r) + beta cg(r)) / (r + beta cg*(r)): relevant documents and gain
    cumulated over the top r, against r and the gain of the ideal top r.
    """
    total = 0.0
    found = 0
    gained = 0.0
    best = 0.0
    reached = 0
    for i in range(len(ranks)):
        if ranks[i] > cutoff:
            break
        if grades[i] < level:
            continue
        found += 1
        gained += worth(gain, grades[i])
        while reached < ranks[i] and reached < len(ideal) and ideal[reached] >= level:
            best += worth(gain, ideal[reached])
            reached += 1
        total += (found + beta * gained) / (ranks[i] + beta * best)
    return total, found


@part
def q_measure(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """Q@k = sum of blended ratios at relevant ranks / min(R, k), beta = `parameter`.

    Sakai, "On the reliability of information retrieval metrics based on graded
    relevance", IP&M 43(2), 2007, doi:10.1016/j.ipm.2006.07.020.
    """
    total, _ = _blended(ranks, grades, ideal, gain, level, cutoff, parameter)
    return total / min(n_relevant(ideal, level), cutoff)


@part
def p_plus(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """P+ = mean blended ratio over relevant ranks up to the preferred rank.

    The preferred rank is the topmost one that holds the list's highest grade.
    Sakai, AIRS 2006, doi:10.1007/11880592_29.
    """
    preferred = 0
    highest = level - 1
    for i in range(len(ranks)):
        if ranks[i] > cutoff:
            break
        if grades[i] > highest:
            highest = grades[i]
            preferred = ranks[i]
    if preferred == 0:
        return 0.0
    total, found = _blended(ranks, grades, ideal, gain, level, preferred, parameter)
    return total / found


@part
def interpolated_precision(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """IPrec@r = the largest precision at any rank where recall is r = `parameter` or more.

    The recall is reached at relevant document floor(r R + 0.9), as in trec_eval 9.
    """
    relevant = n_relevant(ideal, level)
    needed = int(parameter * relevant + 0.9)
    best = 0.0
    found = 0
    for i in range(len(ranks)):
        if grades[i] >= level:
            found += 1
            if found >= needed:
                best = max(best, found / ranks[i])
    return best


_EPSILON = 0.00001
"""trec_eval's constant, which keeps the inferred precision defined above any judged document."""


@inlined
def n_judged_other(ideal, level):
    """Return N, the number of judged documents that are not relevant."""
    count = 0
    for i in range(len(ideal)):
        count += 0 <= ideal[i] < level
    return count


@part
def binary_preference(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """Bpref = (1/R) sum over relevant documents of 1 - min(others above, R) / min(N, R).

    N is the number of judged non-relevant documents; others above are those of them at better
    ranks. Buckley & Voorhees, SIGIR 2004, doi:10.1145/1008992.1009000, as trec_eval corrected it.
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

    Documents above rank k that are outside the pool count as not relevant; pooled ones count as
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


@part
def set_precision(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """SetP = relevant retrieved / retrieved."""
    return n_found(ranks, grades, level, cutoff) / length if length > 0 else 0.0


@part
def relative_set_precision(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """SetP(relative=True) = SetP over its maximum for a list of this length."""
    largest = min(length, n_relevant(ideal, level))
    return n_found(ranks, grades, level, cutoff) / largest if largest > 0 else 0.0


@part
def set_recall(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """SetR = relevant retrieved / R."""
    return n_found(ranks, grades, level, cutoff) / n_relevant(ideal, level)


@part
def set_f(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """SetF = (beta + 1) P R / (beta P + R); beta = `parameter` is not squared, as in trec_eval."""
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
    """NumRet = number of documents retrieved."""
    return float(length)


@part
def n_relevant_retrieved(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """NumRelRet = number of relevant documents retrieved."""
    return float(n_found(ranks, grades, parameter, cutoff))


@part
def n_judged_relevant(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """NumRel = R, whichever documents were retrieved."""
    return float(n_relevant(ideal, parameter))
