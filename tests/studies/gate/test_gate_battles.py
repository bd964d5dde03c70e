"""`gate` of two models of an arena: shares of wins with prompts as units."""

from __future__ import annotations

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.cli import run


def duel(**how):
    return sr.simulated_battles(
        2, **{"n_prompts": 60, "strengths": [0.4, 0.0], "prompt_sd": 0.5, **how}
    )


def test_the_share_of_wins_is_that_of_the_battles():
    found = duel(rng=1)
    result = sr.gate("m2", "m1", found, margin=0.05)
    row = result.measures[0]
    # Both orders on every prompt: the expected share is the observed one.
    assert row.measure == "win rate"
    assert row.candidate == pytest.approx(found.win_rates()[0], abs=1e-3)
    assert row.baseline + row.candidate == pytest.approx(1.0)
    assert result.n_topics == 60


def test_limits_are_those_of_the_mean_over_prompts():
    found = duel(n_prompts=400, rng=2)
    row = sr.gate("m2", "m1", found, margin=0.05).measures[0]
    first = np.where(found.a == 0, found.outcome, 1.0 - found.outcome)
    codes, names = found.codes("prompt")
    by_prompt = 2.0 * np.bincount(codes, first) / np.bincount(codes) - 1.0
    half = 1.65 * by_prompt.std(ddof=1) / np.sqrt(len(names))
    low, high = row.interval
    assert (high - low) / 2 == pytest.approx(half, rel=0.05)


@pytest.mark.parametrize(
    ("strength", "verdict", "code"),
    [(1.0, "pass", 0), (-1.0, "fail", 3), (-0.05, "cannot tell", 4)],
)
def test_verdicts_and_exit_codes(tmp_path, capsys, strength, verdict, code):
    found = duel(strengths=[strength, 0.0], rng=3)
    assert sr.gate("m2", "m1", found, margin=0.05).verdict == verdict
    frame = found.to_frame()
    frame["winner"] = frame.pop("outcome").map({1.0: "model_a", 0.0: "model_b"})
    frame.to_csv(tmp_path / "b.csv", index=False)
    given = ["gate", tmp_path / "b.csv", "m2", "m1", "--margin", ".05", "--quiet"]
    assert run(list(map(str, given))) == code
    assert "win rate" in capsys.readouterr().out


def test_third_models_tell_two_apart():
    star = sr.simulated_battles(3, 80, design="star", strengths=[0.0, 1.0, -1.0], rng=4)
    assert sr.gate("m3", "m2", star, margin=0.05).verdict == "pass"


def test_equal_models_fail_rarely():
    """60 experiments at .05: more than 9 failures occur in 0.1%."""
    worse = sum(
        sr.gate("m1", "m2", duel(strengths=[0.0, 0.0], rng=seed), margin=0.0).verdict == "fail"
        for seed in range(60)
    )
    assert worse <= 9


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(sr.UnknownNameError, match="unknown model 'm9'"):
        sr.gate("m9", "m1", duel(), margin=0.05)
    apart = sr.Battles.from_rows([*"xxuu"] * 5, [*"yyvv"] * 5, [1, 0, 1, 0] * 5)
    with (
        pytest.warns(sr.SteadyrankWarning),
        pytest.raises(sr.InputError, match="do not connect x and u"),
    ):
        sr.gate("x", "u", apart, margin=0.05)
