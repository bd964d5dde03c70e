"""Which runs are statistically indistinguishable: compact letters.

Two runs share a letter exactly if they are not significantly different.
"""

from __future__ import annotations

import numpy as np

MOST_GROUPS = 500
"""Groups on the way to the answer; some patterns make them grow without end."""

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def compact_letters(different: np.ndarray, order: np.ndarray) -> list[str] | None:
    """Letters such that runs share one exactly if they are not significantly different.

    None where that takes more groups than there are letters, as with many runs.

    `different` is a symmetric boolean matrix of runs, `order` the runs from the best down.
    Insert-absorb: start with one group of all; every significant pair splits each group
    that holds both; groups inside others are dropped. Piepho, "An algorithm for a
    letter-based representation of all-pairwise comparisons", Journal of Computational and
    Graphical Statistics 13(2), 2004, doi:10.1198/1061860043515.

    >>> different = np.zeros((3, 3), bool)
    >>> different[0, 2] = different[2, 0] = True
    >>> compact_letters(different, np.arange(3))
    ['a', 'ab', 'b']
    """
    n_runs = len(different)
    groups = [(1 << n_runs) - 1]
    # By rank, groups are nearly intervals and stay few on the way; the answer is the same.
    ranked = different[np.ix_(order, order)]
    for i, j in np.argwhere(np.triu(ranked)).tolist():
        pair = 1 << i | 1 << j
        split = {g ^ 1 << member for g in groups if g & pair == pair for member in (i, j)}
        groups = _absorbed([g for g in groups if g & pair != pair], split)
        if len(groups) > MOST_GROUPS:
            return None
    if len(groups) > len(ALPHABET):
        return None
    letters = [""] * n_runs
    members = sorted([place for place in range(n_runs) if group >> place & 1] for group in groups)
    for letter, group in zip(ALPHABET, members, strict=False):
        for place in group:
            letters[int(order[place])] += letter
    return letters


def _absorbed(kept: list[int], new: set[int]) -> list[int]:
    """The groups that no other group contains; only new ones can be contained.

    A group is the bits of its runs, which makes containing one operation.
    """
    result = list(kept)
    for group in sorted(new, key=int.bit_count, reverse=True):
        for other in result:
            if group & other == group:
                break
        else:
            result.append(group)
    return result
