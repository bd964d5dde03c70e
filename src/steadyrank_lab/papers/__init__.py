"""Experiments of one paper, for whoever wants to try them: the rest of the papers is `reproduce`.

Jayasinghe et al. (2015) show what goes wrong when one instance stands for a system whose answers
vary; `steadyrank.instances` is what to use instead. Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    from steadyrank_lab.papers.jayasinghe2015 import instance_tests, pitfalls, pools

    homes = (pools, pitfalls, instance_tests)
    return next(getattr(home, name) for home in homes if hasattr(home, name))


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from steadyrank_lab.papers.jayasinghe2015.instance_tests import error_rates
    from steadyrank_lab.papers.jayasinghe2015.pitfalls import (
        equivalence_intervals,
        instance_spread,
        paper_comparisons,
        single_instance_shares,
    )
    from steadyrank_lab.papers.jayasinghe2015.pools import (
        contradictions,
        method_pvalues,
        pool_pvalues,
    )
