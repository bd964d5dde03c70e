"""Texts about any two runs, for the panel in which two runs are picked.

One study makes the panel, others add lines to it. The texts come from the studies' results; the
page combines them and computes nothing.
"""

from __future__ import annotations

import math

import numpy as np

from steadyrank.words import MISSING, figure, pvalue_words, roughly, typeset


def values_at(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the values of the panel's pairs; NaN for pairs that a study does not have."""
    chosen: np.ndarray = np.asarray(values, float)[np.maximum(place, 0)]
    chosen[place < 0] = np.nan
    return chosen


def decided(significant: np.ndarray, pvalues: np.ndarray, place: np.ndarray) -> list[str]:
    """Say whether each pair is significant, with its corrected p-value."""
    words = np.where(values_at(significant, place) == 1, "significant", "not significant")
    texts = pvalue_texts(values_at(pvalues, place))
    return [f"{word} ({p})" for word, p in zip(words.tolist(), texts, strict=True)]


def signed_texts(values: np.ndarray, form: str = "+.4f") -> list[str]:
    """Return numbers with a minus sign; a number that is rounded to 0 has no sign."""
    infinite = {math.inf: "∞", -math.inf: "−∞"}
    form = form.replace("+", "+z")
    return [infinite.get(value) or typeset(figure(value, form)) for value in values.tolist()]


def pvalue_texts(values: np.ndarray) -> list[str]:
    """Return p-values in words."""
    return [f"p {MISSING}" if math.isnan(p) else pvalue_words(p) for p in values.tolist()]


def forecast_texts(values: np.ndarray) -> list[str]:
    """Return forecast shares, rounded."""
    return [MISSING if math.isnan(rate) else roughly(rate) for rate in values.tolist()]


def count_texts(values: np.ndarray) -> list[str]:
    """Return whole numbers."""
    return [MISSING if math.isnan(count) else f"{count:,.0f}" for count in values.tolist()]
