"""Which measures there are: their parameters and cutoffs, and their names in other tools.

`names` has the algebra over them; the formulas are in the kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Value = int | float | bool | str | tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a measure's name stands for: which parameters it takes, and of which cutoff."""

    parameters: Mapping[str, Value | None]
    cutoff: Literal["required", "optional", "none", "one", "recall"] = "optional"
    """What stands after the @: a rank, nothing, rank 1 alone, or a level of recall."""
    says: str
    is_count: bool = False
    """Whether it counts documents, and hence goes beyond 1."""


_CONDENSED: dict[str, Value | None] = {"judged_only": False}
_REL: dict[str, Value | None] = {"rel": 1, **_CONDENSED}
_GAINS: dict[str, Value | None] = {"gains": None, **_CONDENSED}

KINDS: Mapping[str, Kind] = {
    "AP": Kind(parameters=_REL, says="average precision"),
    "nDCG": Kind(
        parameters={"dcg": "log2", **_GAINS}, says="normalized discounted cumulative gain"
    ),
    "P": Kind(parameters=_REL, cutoff="required", says="precision"),
    "R": Kind(parameters=_REL, cutoff="required", says="recall"),
    "Rprec": Kind(parameters=_REL, cutoff="none", says="precision at rank R"),
    "RR": Kind(parameters=_REL, says="reciprocal rank"),
    "RBP": Kind(
        parameters={
            "p": 0.8,
            "rel": 1,
            "graded": False,
            "max_rel": None,
            "residual": False,
            **_CONDENSED,
        },
        says="rank-biased precision",
    ),
    "ERR": Kind(parameters={"max_rel": None, **_CONDENSED}, says="expected reciprocal rank"),
    "nERR": Kind(
        parameters={"max_rel": None, **_CONDENSED}, says="ERR over that of the ideal list"
    ),
    "Q": Kind(parameters={"beta": 1.0, "rel": 1, **_GAINS}, says="Sakai's Q-measure"),
    "Pplus": Kind(parameters={"beta": 1.0, "rel": 1, **_GAINS}, says="Sakai's P+"),
    "nG": Kind(parameters=_GAINS, cutoff="one", says="normalized gain of the first document"),
    "Twist": Kind(parameters=_REL, cutoff="none", says="twist of the relative position"),
    "Success": Kind(parameters=_REL, cutoff="required", says="any relevant document"),
    "Judged": Kind(parameters={}, says="share of judged documents"),
    "Bpref": Kind(parameters=_REL, cutoff="none", says="binary preference"),
    "infAP": Kind(parameters=_REL, cutoff="none", says="inferred average precision"),
    "IPrec": Kind(
        parameters={"recall": None, **_REL}, cutoff="recall", says="interpolated precision"
    ),
    "SetP": Kind(
        parameters={"rel": 1, "relative": False, **_CONDENSED},
        cutoff="none",
        says="precision of the whole result",
    ),
    "SetR": Kind(parameters=_REL, cutoff="none", says="recall of the whole result"),
    "SetF": Kind(
        parameters={"rel": 1, "beta": 1.0, **_CONDENSED},
        cutoff="none",
        says="harmonic mean of SetP and SetR",
    ),
    "SetAP": Kind(parameters=_REL, cutoff="none", says="product of SetP and SetR"),
    "NumRet": Kind(
        parameters={"rel": None, **_CONDENSED},
        cutoff="none",
        says="documents retrieved",
        is_count=True,
    ),
    "NumRel": Kind(
        parameters={"rel": 1}, cutoff="none", says="relevant documents judged", is_count=True
    ),
    "NumRelRet": Kind(
        parameters={"rel": 1}, cutoff="none", says="relevant documents retrieved", is_count=True
    ),
    "Compat": Kind(
        parameters={"p": 0.95, "normalize": True, **_CONDENSED},
        cutoff="none",
        says="rank-biased overlap with the ideal list",
    ),
}

OTHER_NAMES = {
    # trec_eval
    "map": "AP",
    "map_cut": "AP",
    "ndcg_cut": "nDCG",
    "recall": "R",
    "recip_rank": "RR",
    "success": "Success",
    "iprec_at_recall": "IPrec",
    "set_p": "SetP",
    "set_recall": "SetR",
    "set_f": "SetF",
    "set_map": "SetAP",
    "set_relative_p": "SetP(relative=True)",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    # ir_measures
    "setrelp": "SetP(relative=True)",
    # ranx and others
    "precision": "P",
    "r_precision": "Rprec",
    "r-precision": "Rprec",
    "r-prec": "Rprec",
    "r_prec": "Rprec",
    "mrr": "RR",
    "reciprocal_rank": "RR",
    "hit_rate": "Success",
    "ndcg_burges": "nDCG(dcg='exp-log2')",
    "p+": "Pplus",
    "p_plus": "Pplus",
    "average_precision": "AP",
    "f1": "SetF",
    "compatibility": "Compat",
}
"""Names of other tools, in small letters."""

_PER_SUBTOPIC = (
    "it requires judgments per subtopic, which qrels of four columns lack; compute it "
    "elsewhere and give its scores"
)
_WHOLE_TRACK = "it is a figure over all topics together, and a study requires one score per topic"
_FAMILY = "of its family there are RBP, ERR and nDCG; compute it elsewhere and give its scores"

NOT_COMPUTED = {
    **dict.fromkeys(
        (
            "alpha_dcg",
            "alpha_ndcg",
            "err_ia",
            "nerr_ia",
            "ap_ia",
            "map_ia",
            "p_ia",
            "strecall",
            "nrbp",
            "nnrbp",
        ),
        _PER_SUBTOPIC,
    ),
    **dict.fromkeys(("gm_map", "gmap", "gm_bpref", "num_q", "numq"), _WHOLE_TRACK),
    **dict.fromkeys(("inst", "insq", "bpm", "sdcg", "nerr8", "nerr9", "nerr10", "nerr11"), _FAMILY),
    "11pt_avg": "trec_eval calls it obsolete; use AP, or IPrec@0.1 and so on",
    "hits": "some tools count relevant documents (NumRelRet), others check for any (Success@k)",
    "accuracy": "use Success@1, or register a function of your own",
}
"""Measures that users of other tools know and that steadyrank leaves out, with the reason."""


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def is_whole(value: object) -> bool:
    """Whether a value is an integer, and not True or False."""
    return isinstance(value, int) and not isinstance(value, bool)


RULES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(
        ("rel", "max_rel"), ("a grade of at least 1", lambda v: is_whole(v) and 1 <= v <= 1000)
    ),
    "p": ("a number between 0 and 1", lambda v: _is_number(v) and 0 < v < 1),
    "beta": ("a number of at least 0", lambda v: _is_number(v) and 0 <= v < float("inf")),
    "recall": ("a number from 0 to 1", lambda v: _is_number(v) and 0 <= v <= 1),
    **dict.fromkeys(
        ("graded", "judged_only", "relative", "residual", "normalize"),
        ("True or False", lambda v: isinstance(v, bool)),
    ),
    "dcg": ("'log2' or 'exp-log2'", lambda v: v in ("log2", "exp-log2")),
    "gains": (
        "one gain per grade from grade 0, worth 0, upward, such as (0,1,3)",
        lambda v: (
            isinstance(v, tuple)
            and len(v) >= 2
            and v[0] == 0
            and all(_is_number(g) and 0 <= g < float("inf") for g in v)
            and all(a <= b for a, b in zip(v, v[1:], strict=False))
        ),
    ),
}
"""What each parameter takes, in words and as a check."""
