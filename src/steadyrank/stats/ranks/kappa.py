"""How far two judges agree beyond chance: Cohen's kappa, Gwet's AC1.

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

    Returns
    -------
    float
        1 for perfect agreement, 0 for that expected by chance.

    Notes
    -----
    kappa = (p_o - p_e) / (1 - p_e), where p_o is the observed share of agreement and p_e that of
    two judges who grade independently of each other, each with their own distribution of grades;
    with weights, disagreements count by the distance between the two grades.

    References
    ----------
    - Cohen (1960). A coefficient of agreement for nominal scales. Educational and Psychological
      Measurement. doi:10.1177/001316446002000104
    - Cohen (1968). Weighted kappa: nominal scale agreement with provision for scaled disagreement
      or partial credit. Psychological Bulletin. doi:10.1037/h0026256

    Examples
    --------
    >>> round(cohen_kappa([0, 0, 1, 2, 2], [0, 1, 1, 2, 1]), 3)
    0.444
    """
    grades = np.asarray(first), np.asarray(second)
    if grades[0].ndim != 1 or grades[0].shape != grades[1].shape or not len(grades[0]):
        raise InputError("expected two lists of grades of the same documents, of equal length")
    check_choice("weights", weights, _POWER)
    return float(kappa_of_counts(confusion_counts(*grades), weights))


def confusion_counts(
    first: np.ndarray, second: np.ndarray, levels: np.ndarray | None = None
) -> np.ndarray:
    """How often each grade of the first judge (rows) met each of the second, over the levels.

    >>> confusion_counts(np.array([0, 0, 2]), np.array([0, 2, 2])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    if levels is None:
        levels = np.unique(np.concatenate([first, second]))
    counts = np.zeros((len(levels), len(levels)))
    np.add.at(counts, (np.searchsorted(levels, first), np.searchsorted(levels, second)), 1)
    return counts


def kappa_of_counts(counts: np.ndarray, weights: Weights = "none") -> np.ndarray:
    """Cohen's kappa of counts [..., grade, grade]; NaN where both gave one grade throughout."""
    n = counts.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = counts.sum(axis=-1)[..., :, None] * counts.sum(axis=-2)[..., None, :]
        expected = expected / n[..., None, None]
    steps = np.abs(np.subtract.outer(*[np.arange(counts.shape[-1])] * 2))
    weight = np.where(steps > 0, np.power(steps, float(_POWER[weights])), 0.0)
    chance = np.nan_to_num((weight * expected).sum(axis=(-2, -1)))
    kappa = np.full(np.shape(chance), np.nan)
    np.divide((weight * counts).sum(axis=(-2, -1)), chance, out=kappa, where=chance > 0)
    return np.asarray(1.0 - kappa)


def ac1_of_counts(counts: np.ndarray) -> np.ndarray:
    r"""Gwet's AC1 of counts [..., grade, grade]: agreement that does not collapse on rare grades.

    \((p_a - p_e) / (1 - p_e)\) with the share \(p_a\) of equal grades and
    \(p_e = \sum_k \pi_k (1 - \pi_k) / (q - 1)\), \(\pi_k\) the mean share of grade k of both
    judges, q grades (Gwet 2008, doi:10.1348/000711006X126600). NaN for fewer than two grades.

    >>> ac1_of_counts(np.array([[118.0, 5.0], [2.0, 0.0]])).round(4).item()
    0.9408
    """
    n, q = counts.sum(axis=(-2, -1)), counts.shape[-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        agreed = np.trace(counts, axis1=-2, axis2=-1) / n
        share = (counts.sum(axis=-1) + counts.sum(axis=-2)) / (2.0 * n[..., None])
        chance = (share * (1.0 - share)).sum(axis=-1) / (q - 1.0)
        return np.asarray((agreed - chance) / (1.0 - chance))
