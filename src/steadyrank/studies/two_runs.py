"""Texts about every two runs, for the panel in which two are picked.

One study opens the panel, others add lines to it. Every text is made from a result, in the words of
the study's own tables; the page puts them together and computes nothing.
"""

from __future__ import annotations

import math

import numpy as np

from steadyrank.words import MISSING, figure, pvalue_words, roughly, typeset


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
