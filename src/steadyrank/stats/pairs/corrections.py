"""When many pairs are tested at once: p-values adjusted for the size of the family.

For anyone who tests more than one pair of runs. Bonferroni and Holm bound the chance of any false
claim (Holm is never worse); Benjamini-Hochberg bounds the expected share of false claims.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.errors import InputError, check_choice


def adjust(pvalues: ArrayLike, method: str = "holm") -> np.ndarray:
    """Adjusted p-values, in the shape and order given; NaN stays NaN and is not counted.

    With m p-values sorted upwards, p_(1) to p_(m):

    - `none`: p
    - `bonferroni`: min(1, m p)
    - `holm`: max over j <= i of min(1, (m - j + 1) p_(j))
    - `bh`: min over j >= i of min(1, m p_(j) / j)

    Reject where the adjusted value is below the error rate. Bonferroni and Holm hold under any
    dependence; BH under independence or positive regression dependence, which all pairs of
    the same runs satisfy only roughly. Do not use `bh` where one false claim is one too many, nor
    any of them on p-values that are already simultaneous (Tukey's). The whole array is one family.

    References: Holm, Scandinavian Journal of Statistics 6(2), 1979,
    https://www.jstor.org/stable/4615733; Benjamini and Hochberg 1995,
    doi:10.1111/j.2517-6161.1995.tb02031.x.

    >>> adjust([0.01, 0.04, float("nan"), 0.03], "holm").tolist()
    [0.03, 0.06, nan, 0.06]
    """
    check_choice("correction", method, METHODS)
    values = np.array(pvalues, dtype=np.float64)
    present = ~np.isnan(values)
    family = values[present]
    if np.any((family < 0.0) | (family > 1.0)):
        wrong = family[(family < 0.0) | (family > 1.0)][0]
        raise InputError(f"a p-value must lie between 0 and 1, got {wrong}")
    if family.size:
        values[present] = METHODS[method](family)
    return values


def _holm(p: np.ndarray) -> np.ndarray:
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return _unsorted(np.minimum(1.0, stepped), order)


def _bh(p: np.ndarray) -> np.ndarray:
    order = np.argsort(-p, kind="stable")
    # The factor first: m / rank is never below 1, so that rounding cannot lower a p-value.
    stepped = np.minimum.accumulate(p[order] * (p.size / np.arange(p.size, 0, -1)))
    return _unsorted(np.minimum(1.0, stepped), order)


def _unsorted(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    back = np.empty_like(values)
    back[order] = values
    return back


METHODS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda p: p,
    "bonferroni": lambda p: np.minimum(1.0, p * p.size),
    "holm": _holm,
    "bh": _bh,
}
"""Name of each correction and what it does to a family without missing values."""
