"""Lexical units: what a word becomes in an index, its stem or the n-grams within it.

Stems or n-grams, not both, as in the grid of points (Ferro & Silvello, 2016). An index needs only
the units that topics use, so that of the map from words to units only that part is kept.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steadyrank.errors import unknown_name
from steadyrank.retrieval.engine.stemmers import STEMMERS, stem_words

GRAM_SIZES = range(4, 11)
UNITS = (*STEMMERS, *(f"{size}grams" for size in GRAM_SIZES))
"""Every lexical unit by name."""

_GRAMS = re.compile("([0-9]+)grams")


def units_of(words: Sequence[str], unit: str) -> list[Sequence[str]]:
    """For each word, the units that stand for it, in order; of stems there is one each.

    n-grams do not cross words; a word shorter than n stands for itself.

    >>> [list(units) for units in units_of(["river", "bank"], "4grams")]
    [['rive', 'iver'], ['bank']]
    >>> [list(units) for units in units_of(["rivers", "sea"], "porter")]
    [['river'], ['sea']]
    """
    size = gram_size(unit)
    if size is None:
        return [(stem,) for stem in stem_words(words, unit)]
    return [[word[i : i + size] for i in range(max(len(word) - size, 0) + 1)] for word in words]


def gram_size(unit: str) -> int | None:
    """The n of n-grams, None for stems; an error if there is no such unit."""
    if unit not in UNITS:
        raise unknown_name("lexical unit", unit, UNITS)
    grams = _GRAMS.fullmatch(unit)
    return None if grams is None else int(grams[1])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitMap:
    """Which words of a collection have the units that topics' words have.

    Entry e says that word[e] has unit[e] (ascending), times[e] times. `total` is how many units
    each word has in all, those included that topics lack. `of_topics` has the units of the topics'
    own words, as often as they have them.
    """

    units: tuple[str, ...]
    unit: np.ndarray
    word: np.ndarray
    times: np.ndarray
    total: np.ndarray
    of_topics: Mapping[str, tuple[int, ...]]


@functools.lru_cache(maxsize=len(UNITS))
def map_units(words: tuple[str, ...], topic_words: frozenset[str], unit: str) -> UnitMap:
    """The units of a collection's words, as far as topics of these words can use them."""
    query_words = sorted(topic_words)
    asked_units = units_of(query_words, unit)
    units = sorted({form for group in asked_units for form in group})
    place = {form: i for i, form in enumerate(units)}
    size = gram_size(unit)
    if size is None:
        code = np.array([place.get(stem, -1) for stem in stem_words(words, unit)], np.int64)
        word = np.flatnonzero(code >= 0)
        code, total = code[word], np.ones(len(words), np.int32)
    else:
        word, code = _gram_entries(words, size, place)
        lengths = np.fromiter(map(len, words), np.int32, len(words))
        total = np.maximum(lengths - size, 0) + 1
    # One number for each entry of unit and word: sorted, and repeated entries counted.
    entries, times = np.unique(code * max(len(words), 1) + word, return_counts=True)
    return UnitMap(
        units=tuple(units),
        unit=entries // max(len(words), 1),
        word=entries % max(len(words), 1),
        times=times.astype(np.int32),
        total=total,
        of_topics={
            word: tuple(place[form] for form in group)
            for word, group in zip(query_words, asked_units, strict=True)
        },
    )


def _gram_entries(
    words: Sequence[str], size: int, place: Mapping[str, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Every n-gram that is in `place`: its word's number and its own."""
    places = [
        (w, place[gram])
        for w, word in enumerate(words)
        for i in range(max(len(word) - size, 0) + 1)
        if (gram := word[i : i + size]) in place
    ]
    entries = np.array(places, np.int64).reshape(-1, 2)
    return entries[:, 0], entries[:, 1]
