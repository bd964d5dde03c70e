"""Expectations of measures that do not look at the order: the measures themselves.

The signature is that of `measures.ties.kernels`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steadyrank.compute.kernels import part, specialised
from steadyrank.measures import set_kernels


def _whatever_the_order(
    firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch
):
    """The global `measure` of a set: documents may stand anywhere in their groups."""
    return measure(  # noqa: F821
        firsts, grades, length, ideal, gain, level, cutoff, parameter
    )


def _expectation(name: str, of: Callable[..., Any]) -> Any:
    return specialised(_whatever_the_order, f"expected_{name}", how=part, measure=of)


set_precision = _expectation("set_precision", set_kernels.set_precision)
relative_set_precision = _expectation("relative_set_precision", set_kernels.relative_set_precision)
set_recall = _expectation("set_recall", set_kernels.set_recall)
set_f = _expectation("set_f", set_kernels.set_f)
set_average_precision = _expectation("set_average_precision", set_kernels.set_average_precision)
n_retrieved = _expectation("n_retrieved", set_kernels.n_retrieved)
n_relevant_retrieved = _expectation("n_relevant_retrieved", set_kernels.n_relevant_retrieved)
n_judged_relevant = _expectation("n_judged_relevant", set_kernels.n_judged_relevant)
