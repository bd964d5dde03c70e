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
        AssertionError, match=r"^FAIL: RR −0\.2500 .* worse, by more than the margin of 0\.05"
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


def test_what_an_open_verdict_means_is_one_of_two():
    runs = {"old": ranked(1)}, {"new": ranked(1)}
    with pytest.raises(sr.InputError, match="unknown value of unsure 'ignore'"):
        assert_no_loss(*runs, QRELS, measures="RR", unsure="ignore")
    with pytest.raises(sr.InputError, match="unknown value of on_holes 'no'"):
        assert_no_loss(*runs, QRELS, measures="RR", on_holes="no")


def test_a_rebuild_needs_no_margin():
    builds = [sr.run_from_dict(ranked(*places), name=f"b{i}") for i, places in enumerate(BUILDS)]
    again = sr.run_from_dict(ranked(1, 2, 2, 1, 1), name="new")
    result = assert_no_loss(builds, again, QRELS, measures="RR", rebuild=True)
    assert (result.verdict, result.is_rebuild) == ("pass", True)
    with pytest.raises(sr.InputError, match="omit margin="):
        assert_no_loss(builds, again, QRELS, measures="RR", rebuild=True, margin=0.02)


BUILDS = ((1, 2, 1), (1, 1, 2, 2), (2, 1, 1, 1))


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
def test_holes_are_a_loss_unless_said_otherwise():
    old = {t: {"new": 3.0, "d0": 2.0, "d1": 1.0} for t in QRELS}
    new = {t: {"d0": 3.0, "d1": 2.0, "new": 1.0} for t in QRELS}
    options = {"measures": "P@2", "margin": 0.01, "unjudged": "bounded"}
    with pytest.raises(AssertionError, match="^HOLES"):
        assert_no_loss({"a": old}, {"b": new}, QRELS, **options)
    with pytest.raises(AssertionError, match="^HOLES"):
        assert_no_loss({"a": old}, {"b": new}, QRELS, unsure="pass", **options)
    kept = assert_no_loss({"a": old}, {"b": new}, QRELS, on_holes="pass", **options)
    assert kept.verdict == "holes"
