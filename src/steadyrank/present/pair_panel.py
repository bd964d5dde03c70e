"""Everything that is known of every two runs, packed for a page on which two of them are picked.

A page computes nothing: each statement about a pair is a text that was written here, kept once
however many pairs share it, and sentences are templates into which such texts are put. Of topics
there are the scores of each run as they are shown, so that the difference on a topic is that of two
numbers on the page.
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

from steadyrank.errors import InputError
from steadyrank.present.table import escape_latex
from steadyrank.visible import visible

DIGITS = 4
"""Decimals of scores on topics."""

_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """A line about a pair: what it is about, and a template with fields of the panel."""

    about: str
    template: str


@dataclass(slots=True, kw_only=True, eq=False)
class PairPanel:
    """Two runs out of many: texts about every pair, and the scores of every run on every topic.

    One study opens it, others add rows.
    """

    names: tuple[str, ...]
    """Best first; pairs are all pairs of them, in that order, the better run first."""
    measure: str
    topics: tuple[str, ...]
    scores: np.ndarray
    """[run, topic]; NaN where missing."""
    fields: dict[str, list[str]] = field(default_factory=dict)
    """Name of a field to its text for each pair. Texts may be templates themselves."""
    rows: list[PairRow] = field(default_factory=list)
    sentence: str
    """Template of what is copied as a sentence; {a} and {b} are the two runs."""
    latex: str
    omitted: str = ""
    """Which runs cannot be picked, in a sentence, if any."""
    units: Sequence[int] = ()
    """[topic]: what is dropped together where a lead is carried; empty for single topics."""

    def add(self, about: str, template: str, **texts: Sequence[str]) -> None:
        """Append a row with its fields, which have a text for each pair."""
        self.fields |= {key: list(values) for key, values in texts.items()}
        self.rows.append(PairRow(about=about, template=template))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Both runs of every pair, the better one first."""
        return list(itertools.combinations(self.names, 2))

    def aligned(self, runs: Sequence[str], pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each pair of the panel its place among a result's pairs, or -1, and its direction."""
        return aligned_pairs(self.names, runs, pairs)

    def place(self, a: int, b: int) -> int:
        """Which of the pairs two runs, by their positions, are, the better one first."""
        return a * (2 * len(self.names) - a - 1) // 2 + b - a - 1

    def text(self, template: str, a: int, b: int) -> str:
        """A template filled for two runs, as the page does it."""
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


def packed(panel: PairPanel, shown: Mapping[str, str]) -> dict[str, Any]:
    """The panel as the page's script reads it; `shown` has what stands for names."""
    n_pairs = len(panel.names) * (len(panel.names) - 1) // 2
    for key, texts in panel.fields.items():
        if len(texts) != n_pairs:
            raise InputError(f"field {key!r} has {len(texts)} texts for {n_pairs} pairs")
    return {
        "names": [visible(name) for name in panel.names],
        "shown": [visible(shown.get(name, name)) for name in panel.names],
        "latex": [escape_latex(visible(name)) for name in panel.names],
        "measure": visible(panel.measure),
        "topics": [visible(topic) for topic in panel.topics],
        "scores": packed_numbers(panel.scores, DIGITS),
        "units": [*panel.units],
        "fields": {key: _coded(texts) for key, texts in panel.fields.items()},
        "rows": [[visible(row.about), visible(row.template)] for row in panel.rows],
        "sentence": panel.sentence,
        "latexSentence": panel.latex,
    }


def _coded(texts: Sequence[str]) -> dict[str, Any]:
    """Each text once, and which of them every pair has, in as few bytes as will do."""
    known = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    if len(known) == 1:
        return {"texts": [visible(texts[0])]}
    codes = np.array([known[text] for text in texts])
    return {"texts": [visible(text) for text in known], **packed_codes(codes, len(known))}


def packed_codes(codes: np.ndarray, n_codes: int) -> dict[str, Any]:
    """Whole numbers below `n_codes`, in as few bytes each as will do; there are up to 2**32.

    >>> packed_codes(np.array([0, 1, 255]), 256)
    {'bytes': 1, 'codes': 'AAH/'}
    """
    width = next(width for width in (1, 2, 4) if n_codes <= 256**width)
    written = np.asarray(codes).astype(f"<u{width}").tobytes()
    return {"bytes": width, "codes": base64.b64encode(written).decode()}


def packed_numbers(values: np.ndarray, digits: int) -> dict[str, Any]:
    """Numbers, row after row, to so many decimals: as codes above the least, 0 where missing.

    Numbers of too wide a range are written out.

    >>> packed_numbers(np.array([[0.25, np.nan], [0.5, 0.25]]), 2)
    {'digits': 2, 'least': 25, 'bytes': 1, 'codes': 'AQAaAQ=='}
    >>> packed_numbers(np.array([[0.5, 1e30]]), 1)
    {'digits': 1, 'values': [0.5, 1e+30]}
    """
    flat = np.asarray(values, np.float64).ravel()
    known = np.isfinite(flat)
    if not _fit(flat[known], digits):
        written = [value if math.isfinite(value) else None for value in flat.tolist()]
        return {"digits": digits, "values": written}
    units = np.rint(flat[known] * 10**digits)
    least = int(units.min()) if len(units) else 0
    codes = np.zeros(len(flat), np.int64)
    codes[known] = units.astype(np.int64) - least + 1
    return {"digits": digits, "least": least, **packed_codes(codes, int(codes.max(initial=0)) + 1)}


def _fit(values: np.ndarray, digits: int) -> bool:
    """Whether whole numbers of four bytes, counted from the least, can stand for the numbers."""
    if not len(values):
        return True
    return bool(np.abs(values).max() < 2.0**52 / 10**digits) and bool(
        values.max() - values.min() < (2**32 - 3) / 10**digits
    )
