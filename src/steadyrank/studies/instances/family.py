"""What many comparisons in one table may claim together: corrected for their number.

For anyone who compares several systems at once. Eight systems that are all worse by the margin
would hold a false "not worse" in every fourth table, each claim being tested by itself.
Differences, equivalences and non-inferiorities are a family each; a sweep, whose settings have an
order, tests the margin from the largest setting down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from steadyrank.stats.pairs.corrections import adjust
from steadyrank.studies.instances.result import FamilyMember, InstancesResult, Mode

MarginCorrection = Literal["holm", "fixed sequence", "none"]


def margin_correction(mode: Mode, *, is_sweep: bool) -> MarginCorrection:
    """How equivalence and non-inferiority are corrected: the paper takes each setting by itself."""
    if not is_sweep:
        return "holm"
    return "fixed sequence" if mode == "sound" else "none"


def adjusted_in_sequence(pvalues: Sequence[float]) -> np.ndarray:
    """Adjusted p-values of hypotheses tested from the last to the first, until one is not rejected.

    The largest of a p-value and those tested before it: rejecting where this is below alpha bounds
    the chance of any false claim by alpha, the order being fixed in advance. NaN stops the tests.

    >>> adjusted_in_sequence([0.01, 0.2, 0.03]).tolist()
    [0.2, 0.2, 0.03]
    """
    adjusted: np.ndarray = np.maximum.accumulate(np.asarray(pvalues, float)[::-1])[::-1]
    return adjusted


def as_family(
    results: Sequence[InstancesResult], *, correction: MarginCorrection
) -> list[InstancesResult]:
    """The comparisons of one table, each with its adjusted p-values and what they decide."""
    tests = [result.equivalence for result in results]
    difference = adjust([result.headline_pvalue for result in results])
    equivalence = _adjusted([test.pvalue_equivalence for test in tests], correction)
    inferiority = _adjusted([test.pvalue_non_inferiority for test in tests], correction)
    columns = (difference.tolist(), equivalence.tolist(), inferiority.tolist())
    members = [
        FamilyMember(
            size=len(results),
            pvalue_adjusted=row[0],
            pvalue_equivalence_adjusted=row[1],
            pvalue_non_inferiority_adjusted=row[2],
        )
        for row in zip(*columns, strict=True)
    ]
    return [_decided(*row) for row in zip(results, members, strict=True)]


def _adjusted(pvalues: list[float], correction: MarginCorrection) -> np.ndarray:
    if correction == "fixed sequence":
        return adjusted_in_sequence(pvalues)
    return adjust(pvalues, correction)


def _decided(result: InstancesResult, member: FamilyMember) -> InstancesResult:
    test = replace(
        result.equivalence,
        equivalent=member.pvalue_equivalence_adjusted < result.alpha,
        non_inferior=member.pvalue_non_inferiority_adjusted < result.alpha,
    )
    return replace(result, family=member, equivalence=test)
