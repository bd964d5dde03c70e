"""The measures, with their parameters and cutoffs, and their names in other tools.

The module `names` parses and combines them; the kernels contain the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Cutoff = Literal["required", "optional", "none", "one", "recall"]
Value = int | float | bool | str | tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of measure, such as nDCG: its parameters and its cutoff."""

    parameters: Mapping[str, Value | None]
    """Names and default values."""
    cutoff: Cutoff = "optional"
    """What may follow the @: a rank, nothing, only rank 1, or a level of recall."""
    says: str
    is_count: bool = False
    """Whether it counts documents, so that scores may exceed 1."""


_CONDENSED: dict[str, Value | None] = {"judged_only": False}
_REL: dict[str, Value | None] = {"rel": 1, **_CONDENSED}
_GAINS: dict[str, Value | None] = {"gains": None, **_CONDENSED}
_SAKAI: dict[str, Value | None] = {"beta": 1.0, "rel": 1, **_GAINS}
_RBP: dict[str, Value | None] = {"p": 0.8, "rel": 1, "graded": False, "max_rel": None}
_RBP |= {"residual": False, **_CONDENSED}


def _kind(
    says: str, cutoff: Cutoff, parameters: Mapping[str, Value | None] = _REL, **more: bool
) -> Kind:
    return Kind(says=says, cutoff=cutoff, parameters=parameters, **more)


KINDS: Mapping[str, Kind] = {
    "AP": _kind("average precision", "optional"),
    "nDCG": _kind("normalized discounted cumulative gain", "optional", {"dcg": "log2", **_GAINS}),
    "P": _kind("precision", "required"),
    "R": _kind("recall", "required"),
    "Rprec": _kind("precision at rank R", "none"),
    "RR": _kind("reciprocal rank", "optional"),
    "RBP": _kind("rank-biased precision", "optional", _RBP),
    "ERR": _kind("expected reciprocal rank", "optional", {"max_rel": None, **_CONDENSED}),
    "nERR": _kind("ERR over that of the ideal list", "optional", {"max_rel": None, **_CONDENSED}),
    "Q": _kind("Sakai's Q-measure", "optional", _SAKAI),
    "Pplus": _kind("Sakai's P+", "optional", _SAKAI),
    "nG": _kind("normalized gain of the first document", "one", _GAINS),
    "Twist": _kind("twist of the relative position", "none"),
    "Success": _kind("any relevant document", "required"),
    "Judged": _kind("share of judged documents", "optional", {}),
    "Bpref": _kind("binary preference", "none"),
    "infAP": _kind("inferred average precision", "none"),
    "IPrec": _kind("interpolated precision", "recall", {"recall": None, **_REL}),
    "SetP": _kind(
        "precision of the whole result", "none", {"rel": 1, "relative": False, **_CONDENSED}
    ),
    "SetR": _kind("recall of the whole result", "none"),
    "SetF": _kind("harmonic mean of SetP and SetR", "none", {"rel": 1, "beta": 1.0, **_CONDENSED}),
    "SetAP": _kind("product of SetP and SetR", "none"),
    "NumRet": _kind("documents retrieved", "none", {"rel": None, **_CONDENSED}, is_count=True),
    "NumRel": _kind("relevant documents judged", "none", {"rel": 1}, is_count=True),
    "NumRelRet": _kind("relevant documents retrieved", "none", {"rel": 1}, is_count=True),
    "Compat": _kind(
        "rank-biased overlap with the ideal list",
        "none",
        {"p": 0.95, "normalize": True, **_CONDENSED},
    ),
}

_SPELLINGS = {
    "AP": "map map_cut average_precision",
    "nDCG": "ndcg_cut",
    "nDCG(dcg='exp-log2')": "ndcg_burges",
    "P": "precision",
    "R": "recall",
    "Rprec": "r_precision r-precision r-prec r_prec",
    "RR": "recip_rank mrr reciprocal_rank",
    "Success": "success hit_rate",
    "IPrec": "iprec_at_recall",
    "SetP": "set_p",
    "SetP(relative=True)": "set_relative_p setrelp",
    "SetR": "set_recall",
    "SetF": "set_f f1",
    "SetAP": "set_map",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
    "Pplus": "p+ p_plus",
    "Compat": "compatibility",
}
OTHER_NAMES = {name: ours for ours, names in _SPELLINGS.items() for name in names.split()}
"""Names of trec_eval, ranx and ir_measures, in small letters."""

_OF_SUBTOPICS = "alpha_dcg alpha_ndcg err_ia nerr_ia ap_ia map_ia p_ia strecall nrbp nnrbp"
_PER_SUBTOPIC = (
    "it requires judgments per subtopic, which qrels of four columns lack; compute it "
    "elsewhere and give its scores"
)
_WHOLE_TRACK = "it is a figure over all topics together, and a study requires one score per topic"
_FAMILY = "of its family there are RBP, ERR and nDCG; compute it elsewhere and give its scores"

NOT_COMPUTED = {
    **dict.fromkeys(_OF_SUBTOPICS.split(), _PER_SUBTOPIC),
    **dict.fromkeys(("gm_map", "gmap", "gm_bpref", "num_q", "numq"), _WHOLE_TRACK),
    **dict.fromkeys(("inst", "insq", "bpm", "sdcg", "nerr8", "nerr9", "nerr10", "nerr11"), _FAMILY),
    "11pt_avg": "trec_eval calls it obsolete; use AP, or IPrec@0.1 and so on",
    "hits": "some tools count relevant documents (NumRelRet), others check for any (Success@k)",
    "accuracy": "use Success@1, or register a function of your own",
}
"""Measures of other tools that steadyrank does not compute, with the reason."""


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def is_whole(value: object) -> bool:
    """Return whether a value is an integer, and not True or False."""
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
"""Parameter to a description of its values, and a function that checks them."""
