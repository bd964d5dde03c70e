"""Corrections against R's p.adjust (golden) and statsmodels, and their properties."""

from __future__ import annotations

import numpy as np
import pytest
from golden_cases import golden
from hypothesis import given
from hypothesis import strategies as st
from plain_tables import refused
from statsmodels.stats.multitest import multipletests

from steadyrank.stats.pairs.decisions import METHODS, adjust

CASE = golden("p_adjust")
families = st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=40)


def numbers(values):
    return np.array([np.nan if value is None else value for value in values])


@pytest.mark.parametrize("method", ["bonferroni", "holm", "bh"])
def test_adjusted_as_by_r(method):
    found = adjust(numbers(CASE["inputs"]["p"]), method)
    np.testing.assert_allclose(found, numbers(CASE["expected"][method]), atol=CASE["tolerance"])


@pytest.mark.parametrize(
    ("method", "theirs"), [("bonferroni", "bonferroni"), ("holm", "holm"), ("bh", "fdr_bh")]
)
@pytest.mark.parametrize("size", [1, 2, 17, 500])
def test_adjusted_as_by_statsmodels(method, theirs, size):
    p = np.random.default_rng(size).random(size) ** 3
    np.testing.assert_allclose(adjust(p, method), multipletests(p, method=theirs)[1], rtol=1e-12)


@given(families, st.sampled_from(sorted(METHODS)))
def test_never_below_the_raw_value_and_in_the_same_order(values, method):
    p = np.array(values, dtype=float)
    found = adjust(p, method)
    assert np.array_equal(np.isnan(found), np.isnan(p))
    kept = ~np.isnan(p)
    assert np.all(found[kept] >= p[kept])
    assert np.all(found[kept] <= 1)
    order = np.argsort(p[kept], kind="stable")
    assert np.all(np.diff(found[kept][order]) >= 0)


@given(families, st.sampled_from(sorted(METHODS)), st.randoms(use_true_random=False))
def test_the_order_of_the_family_does_not_matter(values, method, random):
    order = list(range(len(values)))
    random.shuffle(order)
    p = np.array(values, dtype=float)
    assert np.array_equal(adjust(p[order], method), adjust(p, method)[order], equal_nan=True)


@given(families)
def test_holm_is_never_stricter_than_bonferroni_nor_bh_than_holm(values):
    bonferroni, holm, bh = (adjust(values, name) for name in ("bonferroni", "holm", "bh"))
    assert np.all((holm <= bonferroni) | np.isnan(holm))
    assert np.all((bh <= holm * (1 + 1e-12)) | np.isnan(bh))


def test_missing_values_do_not_count_and_the_input_is_kept():
    p = np.array([[0.01, np.nan], [0.02, np.nan]])
    np.testing.assert_allclose(adjust(p, "bonferroni"), [[0.02, np.nan], [0.04, np.nan]])
    assert p[0, 0] == 0.01
    assert np.isnan(adjust([np.nan, np.nan], "holm")).all()
    assert adjust([], "bh").shape == (0,)


def test_wrong_input_is_refused():
    refused("did you mean 'holm'", adjust, [0.1], "hollm")
    refused("between 0 and 1, got 1.5", adjust, [0.1, 1.5], "none")
