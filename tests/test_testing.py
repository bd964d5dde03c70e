"""`steadyrank.testing`: the verdict of a gate as an assertion."""

from __future__ import annotations

import numpy as np
import pytest

import steadyrank as sr
from steadyrank import testing
from steadyrank.testing import assert_no_loss

QRELS = {f"q{t}": {"d0": 1, "d1": 0, "d2": 0} for t in range(40)}


def ranked(*places):
    """Runs whose relevant document stands at these ranks in turn."""
    orders = [["d1", "d2"] for _ in QRELS]
    for k, order in enumerate(orders):
        order.insert(places[k % len(places)] - 1, "d0")
    return {
        t: dict(zip(o, (3.0, 2.0, 1.0), strict=True)) for t, o in zip(QRELS, orders, strict=True)
    }


def test_no_loss_is_the_gate_that_passed():
    assert testing.__all__ == ["assert_no_loss"]
    result = assert_no_loss({"old": ranked(1)}, {"new": ranked(1)}, QRELS, measures="RR")
    assert (result.verdict, result.measures[0].margin) == ("pass", 0.01)


def test_a_loss_says_which_topics():
    with pytest.raises(
        AssertionError, match=r"^FAIL: RR −0\.2500 .* a loss beyond 0\.05 is shown"
    ) as told:
        assert_no_loss({"old": ranked(1)}, {"new": ranked(1, 2)}, QRELS, margin=0.05, measures="RR")
    assert "RR, topic q1: 1.0000 to 0.5000" in str(told.value)


def test_an_open_verdict_is_a_loss_unless_said_otherwise():
    values = np.random.default_rng(0).uniform(0.2, 0.8, (2, 15))
    old, new = (
        sr.Scores(measures=["AP"], runs=[name], topics=range(15), values=[[row]])
        for name, row in zip("ab", values, strict=True)
    )
    with pytest.raises(AssertionError, match="^CANNOT TELL"):
        assert_no_loss(old, new)
    assert assert_no_loss(old, new, unsure="pass").verdict == "cannot tell"
    with pytest.raises(sr.InputError, match="same run"):
        assert_no_loss(old, old)
