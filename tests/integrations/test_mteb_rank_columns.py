"""Rank columns by NumPy alone are those of `datasets`."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import steadyrank as sr
from integrations.mteb_rank_columns.rank_columns import Pairs, rank_columns
from tests.integrations.readme import ROOT, failures_of


def leaderboard(seed, n_models, n_tasks, lead=0.03):
    """Scores of models of different quality, with skewed noise."""
    rng = np.random.default_rng(seed)
    quality = lead * rng.normal(size=(n_models, 1))
    return 0.5 + quality + 0.04 * rng.standard_exponential((n_models, n_tasks))


def ours(scores, **options):
    table = pd.DataFrame(scores, index=[f"model{i:03}" for i in range(len(scores))])
    table.columns = [f"task{k:02}" for k in range(scores.shape[1])]
    return sr.datasets(table, **options)


def in_our_order(result, better, worse, pvalue):
    """Of p-values of pairs in any order those of the pairs of a result."""
    place = {frozenset(pair): k for k, pair in enumerate(zip(better, worse, strict=True))}
    return pvalue[[place[frozenset(pair)] for pair in result.pairs.tolist()]]


def test_the_readme_runs():
    assert failures_of("mteb_rank_columns") == 0


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
@pytest.mark.parametrize(
    ("seed", "n_models", "n_tasks"), [(1, 6, 9), (2, 20, 12), (3, 12, 15), (4, 3, 2), (5, 9, 7)]
)
def test_columns_are_those_of_datasets(seed, n_models, n_tasks):
    scores = leaderboard(seed, n_models, n_tasks)
    expected, columns = ours(scores), rank_columns(scores)
    assert expected.exact
    np.testing.assert_array_equal(columns["rank"], expected.rank)
    np.testing.assert_array_equal(columns["rank_low"], expected.rank_set[:, 0])
    np.testing.assert_array_equal(columns["rank_high"], expected.rank_set[:, 1])
    np.testing.assert_array_equal(columns["tier"], expected.tier)
    pvalue = in_our_order(expected, *Pairs(scores, 10_000, 0).together())
    np.testing.assert_allclose(pvalue, expected.pvalue_adjusted, rtol=0, atol=1e-12)


def test_something_is_decided_in_these_tables():
    assert rank_columns(leaderboard(2, 20, 12))["tier"].max() > 1
    assert rank_columns(leaderboard(3, 12, 15))["rank_low"].max() > 1


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
def test_equal_models_and_constant_differences():
    scores = leaderboard(6, 1, 10) + np.array([[0.0], [0.0], [0.1]])
    expected, columns = ours(scores), rank_columns(scores)
    assert columns["rank"].tolist() == expected.rank.tolist() == [2, 2, 1]
    np.testing.assert_array_equal(
        np.stack([columns["rank_low"], columns["rank_high"]], axis=1), expected.rank_set
    )


def test_random_patterns_agree_within_their_error():
    scores = leaderboard(7, 15, 30, lead=0.01)
    expected = ours(scores).pvalue_adjusted
    result = ours(scores)
    pvalue = in_our_order(result, *Pairs(scores, 10_000, 1).together())
    # Two samples of 10,000 patterns; 105 dependent pairs at 5 standard errors: below 1e-4.
    # A share of 0 or 1 that was counted has an error, too.
    share = np.clip((pvalue + expected) / 2, 1e-4, 1 - 1e-4)
    error = np.sqrt(2 * share * (1 - share) / 10_000)
    assert (np.abs(pvalue - expected) <= 5 * error + 1e-4).all()
    assert ((expected > 0.01) & (expected < 0.5)).any()


def test_numpy_is_all_it_takes():
    code = (
        "import sys; import integrations.mteb_rank_columns.rank_columns as r;"
        "assert not {'steadyrank', 'scipy', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT.parent)


def test_gaps_are_refused():
    with pytest.raises(ValueError, match="complete table"):
        rank_columns(np.array([[0.1, np.nan], [0.2, 0.3]]))
