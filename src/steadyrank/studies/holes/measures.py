"""Which measures `holes` bounds, and how: what a document at a rank is worth, and over what.

Most measures are a sum over the ranking, (sum of weight × gain) / normaliser. Without a normaliser
they are *linear*; where it is that of the topic, the same for all runs, they are *shared*. The
others are *first* (the first relevant document decides), AP, ERR, and *other* ones that grow with
every grade of the ranking and fall with every grade of the ideal list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from steadyrank.errors import InputError
from steadyrank.measures.names import Measure, parse_measure
from steadyrank.measures.scoring import Recipe, prepare

Family = Literal["linear", "shared", "first", "AP", "ERR", "other"]

FAMILIES: dict[str, Family] = {
    "P": "linear",
    "RBP": "linear",
    "SetP": "linear",
    "NumRelRet": "linear",
    "Judged": "linear",
    "nDCG": "shared",
    "R": "shared",
    "SetR": "shared",
    "nG": "shared",
    "RR": "first",
    "Success": "first",
    "AP": "AP",
    "ERR": "ERR",
    "nERR": "other",
    "Q": "other",
    "SetF": "other",
    "SetAP": "other",
}

EXACT = ("linear", "shared", "first")
"""Families whose bounds are attained by some completion, of runs and of pairs."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HoledMeasure:
    """A measure, made ready for one set of judgments and all their completions."""

    measure: Measure
    recipe: Recipe
    condensed: Recipe
    """The same measure of judged documents alone."""
    family: Family
    top_grade: int
    """The largest that a completion gives."""

    @property
    def is_exact(self) -> bool:
        """Whether bounds are attained, rather than never passed."""
        return self.family in EXACT

    @property
    def has_exact_runs(self) -> bool:
        """Whether the bounds of runs are attained."""
        return self.family != "other"

    @property
    def depth(self) -> int:
        """Ranks that it looks at."""
        return int(self.recipe.cutoff)

    @property
    def gains(self) -> np.ndarray:
        """[grade]: what a document of the ranking counts, times its weight."""
        grades = np.arange(self.top_grade + 1)
        if self.measure.name == "Judged":
            return np.ones(len(grades))
        counted = grades >= self._level
        if self.measure.name in ("nDCG", "nG", "RBP", "ERR"):
            return np.where(counted, self.recipe.gain[: len(grades)], 0.0)
        return counted.astype(np.float64)

    @property
    def _level(self) -> int:
        """The lowest grade that is relevant; counts keep it elsewhere than other measures."""
        level = self.measure.parameter("rel")
        return level if isinstance(level, int) else 1

    def weights(self, ranks: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """What each document of a ranking weighs, by its rank and the length of its ranking."""
        name, inside = self.measure.name, ranks <= self.depth
        if name == "P":
            weights = np.full(len(ranks), 1.0 / self.depth)
        elif name == "Judged":
            weights = 1.0 / np.minimum(lengths, self.depth)
        elif name == "SetP":
            weights = 1.0 / lengths
        elif name == "RBP":
            p = self.recipe.parameter
            weights = (1.0 - p) * p ** (ranks - 1.0)
        elif name in ("nDCG", "nG"):
            weights = 1.0 / np.log2(ranks + 1.0)
        elif name in ("RR", "ERR", "AP", "nERR", "Q"):
            weights = 1.0 / ranks
        else:
            weights = np.ones(len(ranks))
        return np.where(inside, weights, 0.0)

    def ideal_sums(self, n_documents: int) -> np.ndarray:
        """[n]: the normaliser of n documents of gain 1; empty where it is n itself."""
        if self.measure.name not in ("nDCG", "nG"):
            return np.empty(0)
        most = min(self.depth, n_documents)
        return np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(most) + 2.0))])


def parse_holed(measure: str | Measure, max_grade: int) -> HoledMeasure:
    """The measure of a study, or an error that says which there are."""
    parsed = parse_measure(measure)
    if parsed.parameter("judged_only"):
        raise InputError(
            f"{parsed}: holes computes scores over judged documents anyway: remove judged_only"
        )
    if parsed.name not in FAMILIES or parsed.parameter("relative"):
        raise InputError(
            f"{parsed} has no bounds over missing judgments: choose from {', '.join(FAMILIES)}"
        )
    if max_grade < 1:
        raise InputError(
            "no judged document is relevant, so there is no grade to assign to unjudged ones"
        )
    plain = parsed.name in ("Judged", "NumRelRet")
    condensed = parsed if plain else parsed(judged_only=True)
    return HoledMeasure(
        measure=parsed,
        recipe=prepare(parsed, max_grade),
        condensed=prepare(condensed, max_grade),
        family=FAMILIES[parsed.name],
        top_grade=max_grade,
    )
