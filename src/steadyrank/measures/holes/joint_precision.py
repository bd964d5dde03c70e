"""Bounds of the difference of two rankings in AP on one topic, both with the same grades.

A document d has u_d = 1 / rank in the first ranking and v_d in the second, 0 if it is not there.
The sum S of precisions of a ranking is the sum of min(u_i, u_j) over the unordered pairs i <= j of
relevant documents, since the lower one of a pair counts the other. So with
a_ij = min(u_i, u_j) - min(v_i, v_j) the difference of two S is the sum of a_ij over relevant pairs:
a constant over the judged ones, l_d for a relevant hole d with itself and with the judged ones, and
a_de for two relevant holes, half of it for either.

If n holes are relevant, a hole has n - 1 partners, whose a_de are at most its n - 1 largest, with
the sum T_d(n - 1): it adds at most c_d(n) = l_d + T_d(n - 1) / 2. The sum of the n largest c_d(n)
is a bound (Gilmore 1962, Lawler 1963, for the quadratic assignment problem); all n are tried. If
the rankings are the same, every a_ij is 0, and so is the bound.
"""

from __future__ import annotations

import numpy as np

MOST_HOLES = 2048
"""Largest number of holes of a topic; a matrix of their pairs is sorted."""

N_FIRST = 16
"""How many numbers of relevant holes are tried first, to rule out most of the others."""


def joint_limit(known: np.ndarray, holes: np.ndarray, n_relevant: int, n_others: int) -> float:
    """Return an upper bound of first - second over all completions.

    `known` [2, relevant judged document] and `holes` [2, hole] are u and v of the documents in
    either ranking. `n_relevant` is the number of all relevant judged documents, `n_others` that of
    the holes in neither ranking, which can only increase the number of relevant documents.
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
    # For any mu, the n largest sum to at most n mu plus all excess over mu; tight near the n-th.
    mu = np.interp(counts, first, least)
    above = worth - mu[:, None]
    most = counts * mu + np.maximum(above, 0.0, out=above).sum(axis=1)
    rest = counts[_ratio(judged + most, n_relevant + counts, n_others) > best]
    if not len(rest):
        return best
    sums, _ = _sums_of_largest(worth, rest)
    return max(best, float(_ratio(judged + sums, n_relevant + rest, n_others).max()))


def _worth(known: np.ndarray, holes: np.ndarray) -> np.ndarray:
    """Return [n - 1, hole]: the most that a hole adds if n holes are relevant."""
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
    """Return a_ij of each document i of the first [2, document] and each j of the second."""
    shared: np.ndarray = np.minimum.outer(first[0], second[0])
    shared -= np.minimum.outer(first[1], second[1])
    return shared


def _sums_of_largest(worth: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of the n largest entries of row n - 1 for each n, and the n-th largest."""
    rows = np.sort(worth[counts - 1], axis=1)
    least = rows[np.arange(len(rows)), len(worth) - counts]
    rows *= np.arange(len(worth)) >= len(worth) - counts[:, None]
    return rows.sum(axis=1), least


def _ratio(sums: np.ndarray, lengths: np.ndarray, n_others: int) -> np.ndarray:
    """Divide by the number of relevant documents; for a negative sum by the largest possible."""
    lengths = lengths + np.where(sums < 0.0, n_others, 0)
    return np.asarray(np.divide(sums, lengths, out=np.zeros(len(sums)), where=lengths > 0))
