"""`Battles`: the object itself, whatever it was read from."""

from __future__ import annotations

import numpy as np
import pytest

import steadyrank as sr

ROWS = {
    "a": ["x", "y", "x", "z"],
    "b": ["y", "x", "z", "x"],
    "outcome": [1, 0.5, 0, 1],
    "prompt": ["1", "1", "2", "2"],
    "judge": ["p", "q", "p", "q"],
    "covariates": {"length": ([1, 2, 3, 4], [4, 3, 2, 1])},
}


def _battles(**changed):
    own = ROWS | changed
    return sr.Battles.from_rows(own.pop("a"), own.pop("b"), own.pop("outcome"), **own)


def test_win_rates_count_both_sides_and_half_of_a_tie():
    battles = _battles()
    assert battles.models == ("x", "y", "z")
    # x: won 1, tied .5, lost to z twice; y: lost, tied; z: won both.
    np.testing.assert_allclose(battles.win_rates(), [1.5 / 4, 0.5 / 2, 1.0])
    assert repr(battles) == "<Battles: 4 battles of 3 models on 2 prompts by 2 judges>"


def test_a_part_keeps_models_and_columns():
    part = _battles().take(np.array([True, False, False, True]))
    assert part.models == ("x", "y", "z")
    assert part.prompt == ("1", "2")
    assert part.covariates["length"][0].tolist() == [1, 4]
    frame = part.to_frame()
    assert frame.columns.tolist() == [
        *("model_a", "model_b", "outcome", "prompt", "judge", "length_a", "length_b")
    ]
    assert np.isnan(_battles().take(np.array([0])).win_rates()[2])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"outcome": [1, 2, 0, 1]}, "1 \\(a won\\)"),
        ({"outcome": [1, np.nan, 0, 1]}, "1 \\(a won\\)"),
        ({"b": ["x", "x", "z", "x"]}, "'x' with itself"),
        ({"prompt": ["1"]}, "prompt has 1 entries for 4 battles"),
        ({"covariates": {"length": ([1], [2])}}, "length has 1 entries"),
    ],
)
def test_what_is_no_battle_is_refused(changed, said):
    with pytest.raises(sr.InputError, match=said):
        _battles(**changed)


def test_columns_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        _battles().outcome[0] = 0.5
