"""What a sampler of rankings takes: cells of bins, and a measure as tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

JUDGED, SAMPLED, POISSON = 0, 1, 2
"""What the number of relevant documents in a simulated collection is taken to be."""


class Cells(NamedTuple):
    """Cells and their bins: cell c owns bins starts[c] to starts[c + 1]."""

    starts: np.ndarray
    relevant: np.ndarray
    """Expected relevant documents in a bin."""
    others: np.ndarray
    """Weight of the other documents in a bin: above its relevant ones, or among them."""
    mingled: np.ndarray
    """Whether a bin's documents of both kinds stand in random order."""
    tail: np.ndarray
    """Weight of the other documents below a cell's last bin."""
    n_relevant: np.ndarray
    depth: np.ndarray
    judged: np.ndarray
    """Relevant documents among the judgments, R."""


class Gain(NamedTuple):
    """A binary measure as a sum over the relevant documents of a ranking.

    With A relevant and B other documents above them, a relevant documents in a row are worth
    per_relevant · a + (per_other · B + constant) · (F(A + a + B) - F(A + B)), F being
    `cumulated`.
    """

    cumulated: np.ndarray
    per_relevant: float
    per_other: float
    constant: float
    first_only: bool
    """Whether only the first relevant document counts; cumulated[rank] is then its worth."""
    scale: np.ndarray
    """The factor for each recall base."""
    base: int
    """JUDGED, SAMPLED or POISSON."""
