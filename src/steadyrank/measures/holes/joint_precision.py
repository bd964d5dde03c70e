"""Between what the difference of two rankings in AP must lie: the grade of a document is shared.

Of one topic. A document d has u_d = 1 / rank in the first ranking and v_d in the second, 0 where it
is not there. The sum S of precisions of a ranking is the sum of min(u_i, u_j) over the unordered
pairs i <= j of relevant documents, as the lower one of a pair counts the other. So with
a_ij = min(u_i, u_j) - min(v_i, v_j) the difference of two S is the sum of a_ij over relevant pairs:
a constant over the judged ones, l_d for a relevant hole d with itself and with the judged ones, and
a_de for two relevant holes, half of it for either.

If n holes are relevant, a hole has n - 1 partners, whose a_de are at most its n - 1 largest, with
the sum T_d(n - 1): it adds at most c_d(n) = l_d + T_d(n - 1) / 2. The n largest c_d(n) bound it
(Gilmore 1962, Lawler 1963, for the quadratic assignment problem); all n are tried. Where the
rankings are the same every a_ij is 0, and so is the bound.
"""

from __future__ import annotations

import numpy as np

MOST_HOLES = 2048
"""Of a topic; a matrix of their pairs is sorted."""

N_FIRST = 16
"""Numbers of relevant holes that are tried first, to leave out most of the others."""


def joint_limit(known: np.ndarray, holes: np.ndarray, n_relevant: int, n_others: int) -> float:
    """The highest first - second that a completion may have.

    `known` [2, relevant judged document] and `holes` [2, hole] are u and v of the documents that
    one of the rankings has, `n_relevant` all relevant judged documents, `n_others` the holes that
    neither ranking has: they only lengthen the list of relevant documents.
    """
    n = holes.shape[1]
    judged = float(_shared(known, known)[np.triu_indices(known.shape[1])].sum())
    best = float(_ratio(np.array([judged]), np.array([n_relevant]), n_others)[0])
    if n == 0:
        return best
    worth = _worth(known, holes)
    counts = np.arange(1, n + 1)
    spread = np.concatenate([np.geomspace(1, n, N_FIRST), np.linspace(1, n, N_FIRST)])
    first = np.unique(spread.astype(np.int64))
    sums, least = _sums_of_largest(worth, first)
    best = max(best, float(_ratio(judged + sums, n_relevant + first, n_others).max()))
    # The n largest are at most n mu and what lies above mu, for any mu: near the n-th, hardly more.
    mu = np.interp(counts, first, least)
    above = worth - mu[:, None]
    most = counts * mu + np.maximum(above, 0.0, out=above).sum(axis=1)
    rest = counts[_ratio(judged + most, n_relevant + counts, n_others) > best]
    if not len(rest):
        return best
    sums, _ = _sums_of_largest(worth, rest)
    return max(best, float(_ratio(judged + sums, n_relevant + rest, n_others).max()))


def _worth(known: np.ndarray, holes: np.ndarray) -> np.ndarray:
    """[n - 1, hole]: the most that a hole adds where n are relevant."""
    n = holes.shape[1]
    shared = _shared(holes, holes)
    partners = shared.ravel()[1:].reshape(n - 1, n + 1)[:, :-1] if n > 1 else shared[:, :0]
    partners = partners.reshape(n, n - 1)  # without the diagonal
    partners.sort(axis=1)
    worth = np.zeros((n, n))
    np.cumsum(partners[:, ::-1].T, axis=0, out=worth[1:])
    worth *= 0.5
    worth += holes[0] - holes[1] + _shared(holes, known).sum(axis=1)
    return worth


def _shared(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """a_ij of each document of the first [2, document] with each of the second."""
    shared: np.ndarray = np.minimum.outer(first[0], second[0])
    shared -= np.minimum.outer(first[1], second[1])
    return shared


def _sums_of_largest(worth: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the rows of `worth` for so many holes: the sum of the largest, and the least of them."""
    rows = np.sort(worth[counts - 1], axis=1)
    least = rows[np.arange(len(rows)), len(worth) - counts]
    rows *= np.arange(len(worth)) >= len(worth) - counts[:, None]
    return rows.sum(axis=1), least


def _ratio(sums: np.ndarray, lengths: np.ndarray, n_others: int) -> np.ndarray:
    """Over the relevant documents; a negative sum is best over as many as there can be."""
    lengths = lengths + np.where(sums < 0.0, n_others, 0)
    return np.asarray(np.divide(sums, lengths, out=np.zeros(len(sums)), where=lengths > 0))
