"""Everything that is known of every two runs, packed for a page on which two of them are picked.

A page computes nothing: each statement about a pair is a text that was written here, kept once
however many pairs share it, and sentences are templates into which such texts are put. Of topics
there are the scores of each run as they are shown, so that the difference on a topic is that of two
numbers on the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present.latex import escape_latex
from steadyrank.present.packing import packed_codes, packed_numbers
from steadyrank.visible import visible

DIGITS = 4
"""Decimals of scores on topics."""

_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """A line about a pair: what it is about, and a template with fields of the panel."""

    about: str
    template: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairPanel:
    """Two runs out of many: texts about every pair, and the scores of every run on every topic."""

    names: tuple[str, ...]
    """Best first; pairs are all pairs of them, in that order, the better run first."""
    measure: str
    topics: tuple[str, ...]
    scores: np.ndarray
    """[run, topic]; NaN where missing."""
    fields: Mapping[str, Sequence[str]]
    """Name of a field to its text for each pair. Texts may be templates themselves."""
    rows: tuple[PairRow, ...]
    sentence: str
    """Template of what is copied as a sentence; {a} and {b} are the two runs."""
    latex: str
    omitted: str = ""
    """Which runs cannot be picked, in a sentence, if any."""
    units: Sequence[int] = ()
    """[topic]: what is dropped together where a lead is carried; empty for single topics."""

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
