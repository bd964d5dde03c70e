"""Between which ranks could a run be, whatever its missing scores are?

Every missing score may be anything between the lowest and the highest score of its dataset. Nothing
is assumed about why scores are missing, and nothing is random here.
"""

from __future__ import annotations

import numpy as np

from steadyrank.stats.run_means import SAME_MEAN


def completion_values(scores: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """[run, 2]: the lowest and the highest weighted mean over all completions.

    >>> scores = np.array([[1.0, np.nan], [0.0, 0.5], [0.5, 0.1]])
    >>> completion_values(scores, np.full(2, 0.5)).tolist()
    [[0.55, 0.75], [0.25, 0.25], [0.3, 0.3]]
    """
    ends = [np.nanmin(scores, axis=0), np.nanmax(scores, axis=0)]
    return np.stack([np.where(np.isnan(scores), end, scores) @ weight for end in ends], axis=1)


def completion_ranks(scores: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """[run, 2]: the best and the worst rank of each run over all completions; exact.

    A run is best placed with its own missing scores at their highest and all others' at their
    lowest: completions of different runs do not depend on each other.

    >>> scores = np.array([[1.0, np.nan], [0.0, 1.8], [0.5, 0.1]])
    >>> completion_ranks(scores, np.full(2, 0.5)).tolist()
    [[1, 2], [1, 2], [3, 3]]
    """
    low, high = completion_values(scores, weight).T
    surely_above = low[None, :] > high[:, None] + SAME_MEAN
    maybe_above = high[None, :] > low[:, None] + SAME_MEAN
    np.fill_diagonal(maybe_above, False)
    return np.stack([1 + surely_above.sum(axis=1), 1 + maybe_above.sum(axis=1)], axis=1)
