"""Scores in the format of trec_eval, for scripts that read its output.

Names, columns, digits, and the order of measures and topics are those of trec_eval. Measures that
trec_eval does not have come last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np

from steadyrank.data.scores import Scores

_ORDER = (
    *("num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *("iprec_at_recall", "P", "recall", "infAP", "ndcg", "ndcg_cut", "map_cut", "success"),
    *("set_P", "set_recall", "set_F"),
)
"""The order of trec_eval's measures."""

_NAMES = {
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
    "AP": "map",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "RR": "recip_rank",
    "infAP": "infAP",
    "nDCG": "ndcg",
    "SetP": "set_P",
    "SetR": "set_recall",
    "SetF": "set_F",
}
_NAMES_WITH_CUTOFF = {
    "P": "P",
    "R": "recall",
    "nDCG": "ndcg_cut",
    "AP": "map_cut",
    "Success": "success",
}
_COUNTS = ("num_ret", "num_rel", "num_rel_ret")
_LEAST_AP = 0.00001
"""Smallest AP in trec_eval's geometric mean."""

OFFICIAL_MEASURES = (
    *("NumRet", "NumRel", "NumRelRet", "AP", "Rprec", "Bpref", "RR"),
    *(f"IPrec@{tenth / 10}" for tenth in range(11)),
    *(f"P@{depth}" for depth in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
)
"""The default measures of trec_eval."""


def trec_eval_name(measure: str) -> str:
    """Return trec_eval's name of a measure, or ours if trec_eval does not have it.

    >>> [trec_eval_name(name) for name in ("AP", "nDCG@10", "IPrec@0.1", "RBP", "AP(rel=2)")]
    ['map', 'ndcg_cut_10', 'iprec_at_recall_0.10', 'RBP', 'AP(rel=2)']
    """
    name, at, cutoff = measure.partition("@")
    if not at:
        return _NAMES.get(name, measure)
    if name == "IPrec":
        return f"iprec_at_recall_{float(cutoff):.2f}"
    return f"{_NAMES_WITH_CUTOFF[name]}_{cutoff}" if name in _NAMES_WITH_CUTOFF else measure


def trec_eval_text(scores: Scores, *, per_topic: bool, official: bool) -> str:
    """Return what trec_eval prints for each run; topics without a score are left out.

    `per_topic` adds every topic before the summary, as `trec_eval -q` does. `official` adds the
    run's name, the number of topics and the geometric mean, as trec_eval does by default.
    """
    with_name = official or len(scores.runs) > 1
    return "".join(
        line
        for place in range(len(scores.runs))
        for line in _run_lines(scores, place, per_topic, official, with_name)
    )


def _run_lines(
    scores: Scores, place: int, per_topic: bool, official: bool, with_name: bool
) -> Iterator[str]:
    names = [trec_eval_name(measure) for measure in scores.measures]
    order = sorted(range(len(names)), key=lambda m: _turn(names[m]))
    values = scores.values[:, place]
    present = np.flatnonzero(~np.isnan(values).all(axis=0)).tolist()
    # trec_eval sorts topics by their bytes.
    present.sort(key=lambda t: scores.topics[t].encode("utf-8", "surrogateescape"))
    if per_topic:
        for t in present:
            yield from (_line(names[m], scores.topics[t], float(values[m, t])) for m in order)
    if with_name:
        yield f"{'runid':<22}\tall\t{scores.runs[place]}\n"
    if official:
        yield f"{'num_q':<22}\tall\t{len(present)}\n"
    for m in order:
        yield _line(names[m], "all", _summary(names[m], values[m, present]))
        if official and names[m] == "map":
            logs = [math.log(max(value, _LEAST_AP)) for value in values[m, present].tolist()]
            yield _line("gm_map", "all", math.exp(sum(logs) / max(1, len(logs))))


def _turn(name: str) -> tuple[int, float, str]:
    match = re.fullmatch(r"(\w+?)_([\d.]+)", name)
    base, cutoff = (match[1], float(match[2])) if match else (name, 0.0)
    return (_ORDER.index(base), cutoff, "") if base in _ORDER else (len(_ORDER), 0.0, name)


def _line(name: str, topic: str, value: float) -> str:
    shown = f"{value:.0f}" if name in _COUNTS else f"{value:6.4f}"
    return f"{name:<22}\t{topic}\t{shown}\n"


def _summary(name: str, values: np.ndarray) -> float:
    """Return the sum of counts or the mean of scores, added up in trec_eval's order."""
    total = 0.0
    for value in values.tolist():
        total += value
    return total if name in _COUNTS else total / max(1, len(values))
