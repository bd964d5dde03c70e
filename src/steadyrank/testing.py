"""Assertions about search quality, for a test suite: `from steadyrank.testing import …`."""

from __future__ import annotations

from typing import Any

from steadyrank.studies.gate.result import GateResult, OnHoles, Unsure
from steadyrank.studies.gate.study import gate
from steadyrank.studies.gate.view import VIEW

__all__ = ["assert_no_loss"]


def assert_no_loss(
    old: Any,
    new: Any,
    qrels: Any = None,
    *,
    margin: float | None = None,
    unsure: Unsure = "fail",
    on_holes: OnHoles = "fail",
    **options: Any,
) -> GateResult:
    """Raise an `AssertionError` unless the new system passes a gate against the old one.

    Parameters
    ----------
    old, new : object
        Runs or scores, as in `steadyrank.gate`.
    qrels : object, optional
        Judgments; not needed for two sets of scores.
    margin : float
        The acceptable loss on measures without a margin in `measures`; 0.01 by default, and none
        for `rebuild=True`, where the builds determine the tolerance.
    unsure, on_holes : str
        How to treat the verdicts "cannot tell" and "holes": "fail" raises, "pass" does not, unless
        the new system is significantly worse.
    **options : optional
        Options of `steadyrank.gate`, such as `measures={"nDCG@10": 0.01, "AP": 0.02}`.

    Returns
    -------
    GateResult
        The result of the gate.

    Notes
    -----
    The message of the `AssertionError` has the verdict, its reasons, and the topics with the
    largest losses.

    Examples
    --------
    >>> import steadyrank as sr
    >>> from steadyrank.testing import assert_no_loss
    >>> old, new = (
    ...     sr.Scores(measures=["AP"], runs=[name], topics=range(12), values=[[values]])
    ...     for name, values in (("old", [0.1, 0.2, 0.4] * 4), ("new", [0.2, 0.3, 0.4] * 4))
    ... )
    >>> assert_no_loss(old, new, margin=0.05).verdict
    'pass'
    >>> assert_no_loss(new, old, margin=0.02)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AssertionError: FAIL: AP −0.0667 (limits −0.0942 to −0.0319): worse, by more than the ...
    """
    if margin is None and not options.get("rebuild"):
        margin = 0.01
    result = gate(old, new, qrels, margin=margin, **options)
    if result.exit_code(unsure, on_holes):
        lost = [
            f"  {row.measure}, topic {loss.topic}: {loss.baseline:.4f} to {loss.candidate:.4f}"
            for row in result.measures
            for loss in row.losses
        ]
        raise AssertionError("\n".join([f.text for f in VIEW.findings(result)] + lost))
    return result
