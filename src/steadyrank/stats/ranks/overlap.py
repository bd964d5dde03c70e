"""How much do the tops of two rankings share? Rank-biased overlap, with ties.

For rankings of different items or lengths, which no correlation can compare; the top weighs
most (Webber, Moffat and Zobel 2010).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.errors import check_choice
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.ranks import kernels
from steadyrank.stats.ranks.correlation import RankCorrelation, check_array, pair_of

EMPTY_RANKING = "empty_ranking"
OVERLAP_TIES = ("a", "b", "w")


def rbo(a: ArrayLike, b: ArrayLike, *, p: float = 0.9, ties: str = "a") -> RankCorrelation:
    """Rank-biased overlap, extrapolated beyond the ranks that are seen.

    (1 - p) sum over depths d of p^(d - 1) A(d), where A(d) is the share of their d best items that
    both rankings have in common.

    Parameters
    ----------
    a, b : array_like
        Scores of the same items, NaN where a ranking does not hold the item, so that rankings may
        differ in items and in length.
    p : float
        The nearer to 1, the deeper it looks. Do not compare values of different p.
    ties : str
        An item tied over ranks t to u counts (d - t + 1)/(u - t + 1) at depth d < u, its chance to
        be among the first d; c are those parts in both rankings. "a", not known orders: A = sum(c_a
        c_b)/d, the mean over all orders of tied items. "b", the same, and equal rankings with ties
        reach 1: sum(c_a c_b)/sqrt(sum c_a^2 sum c_b^2). "w", truly equal: an item counts whole from
        rank t on, A = 2 sum(c_a c_b)/(sum c_a + sum c_b).

    Returns
    -------
    RankCorrelation
        A number between 0 and 1, with how it was computed.

    Notes
    -----
    Below the end of the shorter ranking its unseen items are taken to agree as at that end; with
    ties there, "a" is no longer exactly a mean over orders. NaN with a flag where a ranking is
    empty.

    References
    ----------
    - Webber, Moffat & Zobel (2010). A similarity measure for indefinite rankings. ACM TOIS.
      doi:10.1145/1852102.1852106
    - Corsi & Urbano (2024). The treatment of ties in rank-biased overlap. SIGIR. arXiv:2406.07121

    Examples
    --------
    >>> round(rbo([4, 3, 2, 1], [3, 4, 2, 1]).value, 4), round(rbo([4, 3, 2], [4, 3, 2]).value, 4)
    (0.9, 1.0)
    """
    check_open_unit("p", p)
    check_choice("treatment of ties", ties, OVERLAP_TIES)
    rows = pair_of(check_array("a", a, 1), check_array("b", b, 1))
    rows = rows[:, ~np.isnan(rows).all(axis=0)]
    rows = rows[np.argsort((~np.isnan(rows)).sum(axis=1), kind="stable")]
    short, long = (~np.isnan(rows)).sum(axis=1).tolist()
    return RankCorrelation(
        value=_extrapolated(rows, short, long, p, ties) if short else float("nan"),
        n=rows.shape[1],
        method=f"rank-biased overlap, extrapolated, p = {p}, ties {ties!r}",
        flag="" if short else EMPTY_RANKING,
    )


def _extrapolated(rows: np.ndarray, short: int, long: int, p: float, ties: str) -> float:
    """Rank-biased overlap of two rankings [2, item], the shorter first."""
    overlap, visible, own = np.zeros(long), np.zeros(long), np.zeros((2, long))
    first, stop = _tie_bounds(rows, long)
    kernels.overlaps(first, stop, short, ties == "w", overlap, own, visible)
    depth = np.arange(1.0, long + 1.0)
    own[0, short:] = depth[short:]
    at_end = _agreement(overlap, own, depth, ties)[short - 1]
    unseen = np.maximum(depth - short, 0.0) * at_end * visible
    agreement = _agreement(overlap + unseen, own, depth, ties)
    beyond = (overlap[-1] + (long - short) * at_end) / long
    return float((1.0 - p) / p * (agreement @ p**depth) + beyond * p**long)


def _agreement(overlap: np.ndarray, own: np.ndarray, depth: np.ndarray, ties: str) -> np.ndarray:
    """A(d) from the overlap of two rankings and of each with itself."""
    scales = {"a": depth, "b": np.sqrt(own[0] * own[1]), "w": 0.5 * (own[0] + own[1])}
    return np.asarray(overlap / scales[ties])


def _tie_bounds(rows: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each item's tie group begins and ends, [2, item]; missing items lie below `depth`."""
    first, stop = np.full(rows.shape, depth), np.full(rows.shape, depth + 1)
    for row, scores in enumerate(-rows):
        ranked = ~np.isnan(scores)
        ordered = np.sort(scores[ranked])
        first[row, ranked] = np.searchsorted(ordered, scores[ranked], side="left")
        stop[row, ranked] = np.searchsorted(ordered, scores[ranked], side="right")
    return first, stop
