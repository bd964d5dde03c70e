"""What the studies of a report know of every two runs, for the panel in which two are picked.

One study opens the panel, others add lines to it. Every text is made from a result, in the words of
the study's own tables; the page puts them together and computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from steadyrank.present.pair_panel import PairPanel, PairRow
from steadyrank.words import MISSING, figure, pvalue_words, roughly, typeset


@dataclass(slots=True, kw_only=True, eq=False)
class TwoRuns:
    """Fields and rows of the panel as they are collected, study by study."""

    order: list[str]
    """The runs that can be picked, best first; pairs are all pairs of them in that order."""
    measure: str
    topics: tuple[str, ...]
    scores: np.ndarray
    """[run, topic], in this order."""
    sentence: str
    """Template of what is copied as a sentence."""
    latex: str
    omitted: str = ""
    """Which runs cannot be picked, in a sentence, if any."""
    units: Sequence[int] = ()
    fields: dict[str, list[str]] = field(default_factory=dict)
    rows: list[PairRow] = field(default_factory=list)

    def add(self, about: str, template: str, **texts: Sequence[str]) -> None:
        """A row with its fields."""
        self.fields |= {key: list(values) for key, values in texts.items()}
        self.rows.append(PairRow(about=about, template=template))

    @property
    def names(self) -> list[tuple[str, str]]:
        """Both runs of every pair, the better one first."""
        return [(a, b) for i, a in enumerate(self.order) for b in self.order[i + 1 :]]

    def aligned(self, runs: Sequence[str], pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each pair of the panel its place among a result's pairs, or -1, and its direction."""
        return aligned_pairs(self.order, runs, pairs)

    def panel(self) -> PairPanel:
        """As the page takes it."""
        return PairPanel(
            names=tuple(self.order),
            measure=self.measure,
            topics=self.topics,
            scores=self.scores,
            fields=self.fields,
            rows=tuple(self.rows),
            sentence=self.sentence,
            latex=self.latex,
            omitted=self.omitted,
            units=self.units,
        )


def aligned_pairs(
    order: Sequence[str], runs: Sequence[str], pairs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where the pairs of runs in `order` stand among `pairs` of `runs`, and with which sign.

    >>> place, sign = aligned_pairs(["b", "a"], ["a", "b"], np.array([[0, 1]]))
    >>> place.tolist(), sign.tolist()
    ([0], [-1.0])
    """
    n = len(order)
    position = {run: i for i, run in enumerate(order)}
    where = np.array([position.get(run, -1) for run in runs])
    place, sign = np.full((n, n), -1), np.ones((n, n))
    first, second = where[np.asarray(pairs).reshape(-1, 2)].T
    known = np.flatnonzero((first >= 0) & (second >= 0))
    low, high = np.minimum(first, second)[known], np.maximum(first, second)[known]
    place[low, high] = known
    sign[low, high] = np.where(first[known] < second[known], 1.0, -1.0)
    upper = np.triu_indices(n, 1)
    return place[upper], sign[upper]


def values_at(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The values of the panel's pairs; NaN of those that a study does not have."""
    chosen: np.ndarray = np.asarray(values, float)[np.maximum(place, 0)]
    chosen[place < 0] = np.nan
    return chosen


def decided(significant: np.ndarray, pvalues: np.ndarray, place: np.ndarray) -> list[str]:
    """Whether a pair is significant, with its corrected p-value."""
    words = np.where(values_at(significant, place) == 1, "significant", "not significant")
    texts = pvalue_texts(values_at(pvalues, place))
    return [f"{word} ({p})" for word, p in zip(words.tolist(), texts, strict=True)]


def signed_texts(values: np.ndarray, form: str = "+.4f") -> list[str]:
    """Numbers with a proper minus."""
    return [_signed(value, form) for value in values.tolist()]


def _signed(value: float, form: str) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    # What is rounded to nothing has no sign.
    return typeset(figure(value, form.replace("+", "+z")))


def pvalue_texts(values: np.ndarray) -> list[str]:
    """p-values in words."""
    return [f"p {MISSING}" if math.isnan(p) else pvalue_words(p) for p in values.tolist()]


def forecast_texts(values: np.ndarray) -> list[str]:
    """Shares that are known to a point or two."""
    return [MISSING if math.isnan(rate) else roughly(rate) for rate in values.tolist()]


def count_texts(values: np.ndarray) -> list[str]:
    """Whole numbers."""
    return [MISSING if math.isnan(count) else f"{count:,.0f}" for count in values.tolist()]
