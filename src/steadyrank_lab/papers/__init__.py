"""Experiments of one paper to try; `reproduce` makes the rest of the papers again.

Jayasinghe et al. (2015) show what goes wrong if one instance represents a system whose answers
vary; `steadyrank.instances` is what to use instead. Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steadyrank_lab.papers.jayasinghe2015.experiments import (
        contradictions,
        equivalence_intervals,
        error_rates,
        instance_spread,
        method_pvalues,
        paper_comparisons,
        pool_pvalues,
        single_instance_shares,
    )

__all__ = [
    "contradictions",
    "equivalence_intervals",
    "error_rates",
    "instance_spread",
    "method_pvalues",
    "paper_comparisons",
    "pool_pvalues",
    "single_instance_shares",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'steadyrank.papers' has no attribute {name!r}")
    from steadyrank_lab.papers.jayasinghe2015 import experiments

    return getattr(experiments, name)


def __dir__() -> list[str]:
    return __all__
