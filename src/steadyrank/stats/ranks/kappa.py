"""How far two judges agree beyond chance: Cohen's kappa.

For judgments of the same documents by two people, or by one person twice.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from steadyrank.errors import InputError, check_choice

Weights = Literal["none", "linear", "quadratic"]
_POWER = {"none": 0, "linear": 1, "quadratic": 2}


def cohen_kappa(first: Any, second: Any, *, weights: Weights = "none") -> float:
    r"""Cohen's kappa of two judges' grades of the same documents, in the same order.

    \(\kappa = 1 - \sum_{ij} w_{ij} o_{ij} / \sum_{ij} w_{ij} e_{ij}\), with the observed counts
    \(o\) and those expected of independent judges \(e\). 1 is perfect, 0 is chance. It says nothing
    of whether either judge is right, and it is low where one grade is rare even though the judges
    seldom differ. NaN where both gave one and the same grade throughout.

    Parameters
    ----------
    first, second : array_like
        Grades by each judge.
    weights : str
        \(w_{ij} = 1\) where the grades differ ("none"), \(|i - j|\) ("linear") or \((i - j)^2\)
        ("quadratic"), the steps between the grades that occur.

    Notes
    -----
    Cohen (1960), doi:10.1177/001316446002000104; weighted: Cohen (1968), doi:10.1037/h0026256.

    Examples
    --------
    >>> round(cohen_kappa([0, 0, 1, 2, 2], [0, 1, 1, 2, 1]), 3)
    0.444
    """
    grades = np.asarray(first), np.asarray(second)
    if grades[0].ndim != 1 or grades[0].shape != grades[1].shape or not len(grades[0]):
        raise InputError("two lists of grades of the same documents are needed, of one length")
    check_choice("weights", weights, _POWER)
    levels, places = np.unique(np.concatenate(grades), return_inverse=True)
    rows, columns = np.split(places.reshape(-1), 2)
    observed = np.zeros((len(levels), len(levels)))
    np.add.at(observed, (rows, columns), 1)
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / len(rows)
    steps = np.abs(np.subtract.outer(np.arange(len(levels)), np.arange(len(levels))))
    weight = np.where(steps > 0, np.power(steps, float(_POWER[weights])), 0.0)
    chance = float((weight * expected).sum())
    return 1.0 - float((weight * observed).sum()) / chance if chance > 0 else float("nan")
