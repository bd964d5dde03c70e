"""Type III tables against our own balanced table, and against model comparison in numpy."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest
from plain_tables import words
from scipy import stats

from steadyrank.errors import InputError, MachineError
from steadyrank.stats.anova.balanced import anova, tukey_main_effect
from steadyrank.stats.anova.unbalanced import type_three

EFFECTS = ["a", "b", "a:b"]
KEYS = words(
    """
    ss df ms statistic pvalue omega_squared omega_squared_raw overall_omega_squared eta_squared
    partial_eta_squared power
    """
)


def long(shape, rng):
    """Values of a full grid, and the level of every observation."""
    cells = list(product(*map(range, shape)))
    columns = {name: [cell[i] for cell in cells] for i, name in enumerate(["a", "b", "topic"])}
    return rng.random(len(cells)) + np.array(columns["a"]) / 5, columns


def unbalanced(rng):
    """Unequal replicates of all combinations of 2 x 3 levels, on 4 topics."""
    values, columns = long((2, 3, 4), rng)
    times = rng.integers(1, 4, values.size)
    chosen = rng.permutation(np.repeat(np.arange(values.size), times))[3:]
    columns = {name: [column[i] for i in chosen] for name, column in columns.items()}
    return values[chosen] + rng.random(chosen.size) / 3, columns


def sum_coded(column):
    levels = list(dict.fromkeys(column))
    coding = np.vstack([np.eye(len(levels) - 1), -np.ones(len(levels) - 1)])
    return coding[[levels.index(level) for level in column]]


def blocks_of(columns):
    coded = {name: sum_coded(column) for name, column in columns.items()}
    both = coded["a"][:, :, None] * coded["b"][:, None, :]
    coded["a:b"] = both.reshape(len(both), -1)
    return coded


def rss(values, parts):
    design = np.column_stack([np.ones(values.size), *parts])
    rest = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return float(rest @ rest), values.size - design.shape[1]


def test_balanced_data_give_the_balanced_table():
    values, columns = long((2, 3, 5), np.random.default_rng(1))
    array = values.reshape(2, 3, 5)
    expected = anova(
        array, factors=["a", "b", "topic"], effects=EFFECTS, block="topic", power="observed"
    )
    found, mains = type_three(values, columns, effects=EFFECTS, block="topic", power="observed")
    assert [x.source for x in found.sources] == [x.source for x in expected.sources]
    for one, other in zip(found.sources, expected.sources, strict=True):
        for key in KEYS:
            assert getattr(one, key) == pytest.approx(
                getattr(other, key), rel=1e-8, abs=1e-8, nan_ok=True
            ), (one.source, key)
    for name in ["topic", *EFFECTS]:
        np.testing.assert_allclose(found.means[name], expected.means[name], rtol=1e-8)
    for name in "ab":
        tukey = tukey_main_effect(expected, name)
        for key in ["difference", "interval", "statistic", "pvalue", "half_width", "n"]:
            np.testing.assert_allclose(
                getattr(mains[name], key), getattr(tukey, key), rtol=1e-8, atol=1e-8
            )


@pytest.mark.parametrize("seed", range(3))
def test_unbalanced_sums_are_what_the_model_loses_without_the_effect(seed):
    values, columns = unbalanced(np.random.default_rng(seed))
    coded = blocks_of(columns)
    full, df_error = rss(values, coded.values())
    table, _ = type_three(values, columns, effects=EFFECTS, block="topic")
    assert table.source("error").ss == pytest.approx(full, rel=1e-9)
    assert table.source("error").df == df_error
    for name in ["topic", *EFFECTS]:
        reduced, df = rss(values, [part for other, part in coded.items() if other != name])
        line = table.source(name)
        assert line.ss == pytest.approx(reduced - full, rel=1e-8, abs=1e-10)
        assert line.df == df - df_error
        f = (reduced - full) / line.df / (full / df_error)
        assert line.pvalue == pytest.approx(stats.f.sf(f, line.df, df_error), rel=1e-7)
    # The data are unbalanced enough for the sums not to add up.
    total = table.source("total").ss
    assert abs(sum(line.ss for line in table.sources[:-1]) - total) > 1e-3 * total


def test_two_levels_have_the_root_of_two_f():
    values, columns = unbalanced(np.random.default_rng(5))
    table, mains = type_three(values, columns, effects=EFFECTS, block="topic")
    line = table.source("a")
    assert mains["a"].statistic[0] == pytest.approx(np.sqrt(2 * line.statistic), rel=1e-8)
    assert mains["a"].pvalue[0] == pytest.approx(line.pvalue, rel=1e-5)


def test_a_missing_combination_that_an_interaction_needs_is_refused():
    values, columns = long((2, 3, 4), np.random.default_rng(2))
    kept = [i for i in range(values.size) if (columns["a"][i], columns["b"][i]) != (0, 0)]
    part = {name: [column[i] for i in kept] for name, column in columns.items()}
    with pytest.raises(InputError, match="interactions of fewer factors"):
        type_three(values[kept], part, effects=EFFECTS, block="topic")
    table, _ = type_three(values[kept], part, effects=["a", "b"], block="topic")
    assert [line.df for line in table.sources] == [3, 1, 2, 13, 19]


def test_without_statsmodels_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.formula.api", None)
    with pytest.raises(MachineError, match=r"pip install 'steadyrank\[unbalanced\]'"):
        type_three([1.0, 2.0], {"a": ["x", "y"]}, effects=["a"], block=None)
