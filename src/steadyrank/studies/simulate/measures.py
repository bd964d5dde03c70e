"""The measures that can be simulated, and how they sum over the relevant documents of a ranking.

Shared documents keep their grades, so their measures are those of `evaluate`. A document drawn for
one run is relevant or not and has no grade, so its measures are binary; nDCG with gains of 0 and 1
differs from nDCG and has a different name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from steadyrank.data.qrels import Qrels
from steadyrank.errors import InputError, arg, check_choice
from steadyrank.measures.names import Measure, check_parameter, parse_measure
from steadyrank.studies.simulate.sampler_kernels import JUDGED, POISSON, SAMPLED, Cells, Gain
from steadyrank.words import listed

Denominator = Literal["judged", "sampled", "poisson"]
MEASURES = ("AP", "P", "R", "RR", "nDCG", "RBP", "Success")

SHARED_MEASURES = (
    *("AP", "nDCG", "P", "R", "Rprec", "RR", "RBP", "ERR", "nERR", "Q", "nG", "IPrec", "Success"),
    "Pplus",
)
"""Measures that depend only on the ranks and grades of relevant documents."""

_BASES = {"judged": JUDGED, "sampled": SAMPLED, "poisson": POISSON}


def simulated_name(measure: Measure, level: int, qrels: Qrels) -> str:
    """Return the name of what is simulated for independent runs with these judgments.

    Only nDCG depends on grades; it is a ratio, so a single grade does not matter.
    """
    gainful = qrels.grades[qrels.grades > 0]
    one_grade = len(gainful) == 0 or bool(level <= gainful.min() == gainful.max())
    is_itself = measure.name != "nDCG" or one_grade
    return str(measure) if is_itself else f"binary {measure} (grade ≥ {level})"


def _measure_and_level(
    measure: str | Measure, rel: int | None, known: Sequence[str]
) -> tuple[Measure, Any]:
    """Return a measure, and its lowest relevant grade if one is named."""
    parsed = parse_measure(measure)
    named = dict(parsed.parameters).get("rel")
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
                f"{parsed} cannot be simulated: the simulation does not use unjudged documents; "
                f"write {parsed.name} without {key}"
            )
    return parsed, level


def parse_shared(measure: str | Measure, rel: int | None = None) -> Measure:
    """Return the measure to simulate with shared documents, as `evaluate` computes it."""
    parsed, level = _measure_and_level(measure, rel, SHARED_MEASURES)
    if level is None:
        return parsed
    if "rel" not in parsed.kind.parameters:
        raise InputError(
            f"{parsed} takes no rel: shared documents keep their grades; "
            f"{arg('documents', 'independent')} simulates its binary version"
        )
    return parsed(rel=level)


def parse_simulated(measure: str | Measure, rel: int | None = None) -> tuple[Measure, int]:
    """Return the measure to simulate for independent runs and its lowest relevant grade."""
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
    return parsed, level or 1


def make_gain(
    measure: Measure, denominator: Denominator, cells: Cells, *, longest: int = 0
) -> Gain:
    """Return the tables of one measure for every cell and for rankings of `longest` documents.

    `denominator` is the recall base of AP, R@k and nDCG: the relevant documents of the judgments,
    or of the sample if more ("judged"), of the sample ("sampled"), or of the sample plus a Poisson
    number of those that were not retrieved ("poisson").
    """
    check_choice("denominator", denominator, get_args(Denominator))
    deepest = max(longest, int(cells.depth.max(initial=0)))
    judged = int(cells.judged.max(initial=0))
    worth = _worth(measure, deepest + 1)
    first_only, is_ap = measure.name in ("RR", "Success"), measure.name == "AP"
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
    """Return the contribution of a relevant document at each rank from 0 on."""
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
    """Return the factor of a sum for each recall base from 0 on."""
    base = np.arange(largest + 1)
    if measure.name in ("AP", "R"):
        return np.where(base > 0, 1.0 / np.maximum(base, 1), 0.0)
    if measure.name == "nDCG":
        ideal = np.cumsum(_worth(measure, largest))
        return np.where(base > 0, 1.0 / np.maximum(ideal, 1.0), 0.0)
    return np.ones(largest + 1)


def raw_values(ranks: np.ndarray, blocks: np.ndarray, judged: np.ndarray, gain: Gain) -> np.ndarray:
    """Return the measure of the observed rankings, whose relevant documents are at `ranks`."""
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
