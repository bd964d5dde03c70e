"""Figures of one paper, for whoever wants to draw them: the rest of the papers is `reproduce`.

Jayasinghe et al. (2015) show what goes wrong when one instance stands for a system whose answers
vary; `steadyrank.instances` is what to use instead. Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = [
    "Contradictions",
    "EquivalenceIntervals",
    "ErrorRates",
    "InstanceSpread",
    "MethodPvalues",
    "PoolPvalues",
    "SingleInstanceShares",
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
    from steadyrank.papers.jayasinghe2015 import agreement, levels, pitfalls

    homes = (pitfalls, levels, agreement)
    home = next(module for module in homes if hasattr(module, name))
    return getattr(home, name)


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from steadyrank.papers.jayasinghe2015.agreement import (
        MethodPvalues,
        PoolPvalues,
        method_pvalues,
        paper_comparisons,
        pool_pvalues,
    )
    from steadyrank.papers.jayasinghe2015.levels import ErrorRates, error_rates
    from steadyrank.papers.jayasinghe2015.pitfalls import (
        Contradictions,
        EquivalenceIntervals,
        InstanceSpread,
        SingleInstanceShares,
        contradictions,
        equivalence_intervals,
        instance_spread,
        single_instance_shares,
    )
