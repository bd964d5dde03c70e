"""The panel of a page that compares any two runs: its data for the script.

The page computes nothing: each statement about a pair is a text that is stored once for all pairs
that share it, and sentences are templates for such texts. Scores on topics are rounded as shown,
so that the difference on a topic is that of two numbers on the page.
"""

from __future__ import annotations

import base64
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from steadyrank.present.table import escape_latex
from steadyrank.visible import visible
from steadyrank.words import MISSING, figure, pvalue_words, roughly, typeset

DIGITS = 4
"""Number of decimals of scores on topics."""

_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """A line about a pair: its title, and a template with fields of the panel."""

    about: str
    template: str


@dataclass(slots=True, kw_only=True, eq=False)
class PairPanel:
    """Texts about every pair of runs, and the scores of every run on every topic.

    One study creates it, others add rows.
    """

    names: tuple[str, ...]
    """Names of the runs, best first; pairs are in this order, the better run first."""
    measure: str
    topics: tuple[str, ...]
    scores: np.ndarray
    """[run, topic]; NaN where missing."""
    fields: dict[str, list[str]] = field(default_factory=dict)
    """Name of a field to its text for each pair; texts may be templates."""
    rows: list[PairRow] = field(default_factory=list)
    sentence: str
    """Template of the sentence to copy; {a} and {b} are the two runs."""
    latex: str
    omitted: str = ""
    """Sentence about the runs that cannot be selected, if any."""
    units: Sequence[int] = ()
    """[topic]: the cluster of each topic, which is dropped as a whole; empty for single topics."""

    def add(self, about: str, template: str, **texts: Sequence[str]) -> None:
        """Append a row with its fields, which have a text for each pair."""
        self.fields |= {key: list(values) for key, values in texts.items()}
        self.rows.append(PairRow(about=about, template=template))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Both runs of every pair, the better one first."""
        return list(itertools.combinations(self.names, 2))

    def aligned(self, runs: Sequence[str], pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return each pair's place among a result's pairs, or -1, and the sign of differences."""
        return aligned_pairs(self.names, runs, pairs)

    def place(self, a: int, b: int) -> int:
        """Return the place of a pair, given the positions of its runs, the better one first."""
        return a * (2 * len(self.names) - a - 1) // 2 + b - a - 1

    def text(self, template: str, a: int, b: int) -> str:
        """Fill a template for two runs, as the page does."""
        names = {"a": self.names[a], "b": self.names[b]}
        pair = self.place(a, b)

        def put(match: re.Match[str]) -> str:
            key = match[1]
            if key in names:
                return names[key]
            return _PLACE.sub(put, self.fields[key][pair]) if key in self.fields else match[0]

        return _PLACE.sub(put, template)


def aligned_pairs(
    order: Sequence[str], runs: Sequence[str], pairs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the pairs of `order` among `pairs` of `runs`, and their signs.

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


def packed(panel: PairPanel, shown: Mapping[str, str]) -> dict[str, Any]:
    """Return the panel for the page's script; `shown` has the names as shown."""
    return {
        "names": [visible(name) for name in panel.names],
        "shown": [visible(shown.get(name, name)) for name in panel.names],
        "latex": [escape_latex(visible(name)) for name in panel.names],
        "measure": visible(panel.measure),
        "topics": [visible(topic) for topic in panel.topics],
        "scores": whole_numbers(panel.scores),
        "digits": DIGITS,
        "units": [*panel.units],
        "fields": {key: _coded(texts) for key, texts in panel.fields.items()},
        "rows": [[visible(row.about), visible(row.template)] for row in panel.rows],
        "sentence": panel.sentence,
        "latexSentence": panel.latex,
    }


def _coded(texts: Sequence[str]) -> dict[str, Any]:
    """Return each text once, and the code of each pair's text, of equally many bytes in base64."""
    known = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    if len(known) == 1:
        return {"texts": [visible(texts[0])]}
    kind = next(kind for kind in ("<u1", "<u2", "<u4") if len(known) <= 256 ** int(kind[2]))
    codes = np.array([known[text] for text in texts], kind)
    packed = base64.b64encode(codes.tobytes()).decode()
    return {"texts": [visible(text) for text in known], "codes": packed}


def whole_numbers(scores: np.ndarray) -> list[int | None]:
    """Return scores, row by row, as whole numbers of the last decimal that is shown.

    >>> whole_numbers(np.array([[0.25, np.nan]]))
    [2500, None]
    """
    shown = np.rint(np.asarray(scores, np.float64).ravel() * 10**DIGITS)
    return [int(unit) if math.isfinite(unit) else None for unit in shown.tolist()]


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
