"""What judging costs: documents per topic, for each measure, and assessors' hours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steadyrank.data.scores import position
from steadyrank.errors import InputError
from steadyrank.stats.planning.demands import check_positive


def documents_to_judge(
    measures: Sequence[str],
    *,
    systems: int,
    minutes_per_document: Any = None,
    documents_per_topic: Any = None,
    pool_depth: Any = None,
) -> dict[str, float]:
    """Documents per topic by measure; empty without a budget.

    One number for all measures, or one for each. A pool of that depth holds at most systems ×
    depth documents, if no two systems return the same.
    """
    if documents_per_topic is not None and pool_depth is not None:
        raise InputError("give either the documents per topic or a pool depth, not both")
    given, what, factor = documents_per_topic, "documents per topic", 1
    if pool_depth is not None:
        given, what, factor = pool_depth, "pool depth", systems
    if (given is None) != (minutes_per_document is None):
        raise InputError(
            "a budget requires minutes per document and documents per topic (or a pool "
            "depth): give both"
        )
    if given is None:
        return {}
    check_positive("minutes per document", minutes_per_document)
    by_measure = given if isinstance(given, Mapping) else dict.fromkeys(measures, given)
    for name in by_measure:
        position(str(name), tuple(measures), "measure")
    missing = [name for name in measures if name not in by_measure]
    if missing:
        raise InputError(f"no {what} for {', '.join(missing)}: give one for each measure")
    return {name: factor * check_positive(what, by_measure[name]) for name in measures}
