"""Which measures a simulated ranking can have, and how they sum over its relevant documents.

A document that all runs share keeps its grade, and every measure is what it is. A document drawn
for one run is relevant or not: it has no grade and no name. So the measures are the binary ones;
nDCG with gains of 0 and 1 is another measure than nDCG, and has another name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from steadyrank.data.qrels import Qrels
from steadyrank.errors import InputError, arg, check_choice
from steadyrank.measures.names import Measure, check_parameter, parse_measure, split_parameter
from steadyrank.studies.simulate.sampler_kernels import JUDGED, POISSON, SAMPLED, Cells, Gain
from steadyrank.words import listed

Denominator = Literal["judged", "sampled", "poisson"]
MEASURES = ("AP", "P", "R", "RR", "nDCG", "RBP", "Success")

GRADED = ("nDCG",)
"""Those of MEASURES that look at grades."""

_BASES = {"judged": JUDGED, "sampled": SAMPLED, "poisson": POISSON}


@dataclass(frozen=True, slots=True)
class SimulatedMeasure:
    """A measure that was asked for, and from which grade on a document is relevant to it."""

    measure: Measure
    level: int

    def is_itself(self, qrels: Qrels) -> bool:
        """Whether its binary version is the measure itself, always or on these judgments.

        With a single grade of relevant documents their gains are equal, and nDCG is a ratio.
        """
        if self.measure.name not in GRADED:
            return True
        gainful = qrels.grades[qrels.grades > 0]
        return len(gainful) == 0 or bool(self.level <= gainful.min() == gainful.max())

    def name_on(self, qrels: Qrels) -> str:
        """What is simulated with these judgments, by its name."""
        name = str(self.measure)
        return name if self.is_itself(qrels) else f"binary {name} (grade ≥ {self.level})"


SHARED_MEASURES = (
    *("AP", "nDCG", "P", "R", "Rprec", "RR", "RBP", "ERR", "nERR", "Q", "nG", "IPrec", "Success"),
    "Pplus",
)
"""Those whose value depends on where relevant documents stand, and on nothing else."""


def _measure_and_level(
    measure: str | Measure, rel: int | None, known: Sequence[str]
) -> tuple[Measure, Any]:
    """A measure without its lowest relevant grade, and that grade, from its name or from `rel`.

    The parser knows no rel of nDCG, which is not a binary measure anywhere else.
    """
    bare, named = split_parameter(str(measure), "rel")
    parsed = parse_measure(bare)
    level = named if rel is None else check_parameter(parsed.name, "rel", rel)
    if named not in (None, level):
        raise InputError(f"{measure} and rel={rel} contradict each other: give one of them")
    if parsed.name not in known:
        raise InputError(
            f"{parsed} cannot be simulated: it depends on more than the ranks of relevant "
            f"documents; try {listed(known, 'or')}"
        )
    for key in ("judged_only", "residual"):
        if parsed.parameter(key):
            raise InputError(
                f"{parsed} cannot be simulated: unjudged documents play no part in the "
                f"simulation; write {parsed.name} without {key}"
            )
    return parsed, level


def parse_shared(measure: str | Measure, rel: int | None = None) -> Measure:
    """The measure to simulate of shared documents, as `evaluate` computes it.

    >>> parse_shared("nDCG@10"), parse_shared("AP", rel=2)
    (nDCG@10, AP(rel=2))
    """
    parsed, level = _measure_and_level(measure, rel, SHARED_MEASURES)
    if level is None:
        return parsed
    if "rel" not in parsed.kind.parameters:
        raise InputError(
            f"{parsed} takes no rel: shared documents keep their grades; "
            f"{arg('documents', 'independent')} simulates its binary version"
        )
    return parsed(rel=level)


def parse_simulated(measure: str | Measure, rel: int | None = None) -> SimulatedMeasure:
    """The measure to simulate; `rel`, or `rel=` in its name, is the lowest relevant grade.

    >>> parse_simulated("nDCG(rel=2)@10"), parse_simulated("AP", rel=2).measure
    (SimulatedMeasure(measure=nDCG@10, level=2), AP(rel=2))
    """
    parsed, level = _measure_and_level(measure, rel, MEASURES)
    if level is not None and "rel" in parsed.kind.parameters:
        parsed = parsed(rel=level)
    if parsed.name == "AP" and parsed.cutoff is not None:
        raise InputError(f"{parsed} cannot be simulated: write AP without a cutoff")
    if parsed.parameter("gains") is not None or parsed.parameter("graded"):
        raise InputError(
            f"{parsed} cannot be simulated: simulated documents are either relevant or not, "
            f"so the gains are 0 and 1; write {parsed.name} without gains"
        )
    return SimulatedMeasure(parsed, level if isinstance(level, int) else 1)


def make_gain(
    measure: Measure, denominator: Denominator, cells: Cells, *, longest: int = 0
) -> Gain:
    """The tables of one measure, long enough for every cell and for rankings of `longest`.

    `denominator` is the number of relevant documents that a simulated collection is taken to
    hold, the recall base of AP, R@k and nDCG: those of the judgments, or of the sample if
    more ("judged"), those of the sample ("sampled"), or those and a Poisson number of the
    ones that were not retrieved ("poisson").
    """
    check_choice("denominator", denominator, get_args(Denominator))
    deepest = max(longest, int(cells.depth.max(initial=0)))
    judged = int(cells.judged.max(initial=0))
    worth = _worth(measure, deepest + 1)
    first_only = measure.name in ("RR", "Success")
    is_ap = measure.name == "AP"
    return Gain(
        cumulated=worth if first_only else np.cumsum(worth),
        per_relevant=1.0 if is_ap else 0.0,
        per_other=-1.0 if is_ap else 0.0,
        constant=0.0 if is_ap else 1.0,
        first_only=first_only,
        scale=_scale(measure, deepest + 2 * judged + 16 * int(judged**0.5) + 64),
        base=_BASES[denominator],
    )


def _worth(measure: Measure, deepest: int) -> np.ndarray:
    """What a relevant document at each rank, from 0 on, adds."""
    rank = np.arange(deepest + 1)
    worth: np.ndarray = np.zeros(deepest + 1)
    if measure.name in ("AP", "RR"):
        worth[1:] = 1.0 / rank[1:]
    elif measure.name == "nDCG":
        worth[1:] = 1.0 / np.log2(rank[1:] + 1.0)
    elif measure.name == "RBP":
        p: Any = measure.parameter("p")
        worth[1:] = (1.0 - p) * p ** (rank[1:] - 1.0)
    elif measure.name == "P":
        worth[1:] = 1.0 / (measure.cutoff or 1)
    else:
        worth[1:] = 1.0
    if measure.cutoff is not None:
        worth[measure.cutoff + 1 :] = 0.0
    return worth


def _scale(measure: Measure, largest: int) -> np.ndarray:
    """What a sum is multiplied by, for each recall base from 0 on."""
    base = np.arange(largest + 1)
    if measure.name in ("AP", "R"):
        return np.where(base > 0, 1.0 / np.maximum(base, 1), 0.0)
    if measure.name == "nDCG":
        ideal = np.cumsum(_worth(measure, largest))
        return np.where(base > 0, 1.0 / np.maximum(ideal, 1.0), 0.0)
    return np.ones(largest + 1)


def raw_values(ranks: np.ndarray, blocks: np.ndarray, judged: np.ndarray, gain: Gain) -> np.ndarray:
    """The measure of the rankings as they are: relevant documents at `ranks`, topic by topic."""
    retrieved = np.diff(blocks)
    number = np.arange(len(ranks)) - np.repeat(blocks[:-1], retrieved) + 1
    if gain.first_only:
        worth = np.where(number == 1, gain.cumulated[ranks], 0.0)
    else:
        growth = gain.cumulated[ranks] - gain.cumulated[ranks - 1]
        worth = gain.per_relevant + (gain.per_other * (ranks - number) + gain.constant) * growth
    totals = np.bincount(
        np.repeat(np.arange(len(retrieved)), retrieved), worth, minlength=len(retrieved)
    )
    base = retrieved if gain.base == SAMPLED else np.maximum(judged, retrieved)
    return np.asarray(totals * gain.scale[base])
