"""Random effects against R's metafor and statsmodels, and in corners that neither has."""

from __future__ import annotations

import math

import numpy as np
import pytest
from golden_cases import golden_case
from plain_tables import close
from statsmodels.stats.meta_analysis import combine_effects

from steadyrank import InputError
from steadyrank.stats.datasets import _reml, next_dataset, random_effects

INPUTS, EXPECTED, TOLERANCE = golden_case("random_effects")


@pytest.mark.parametrize("name", INPUTS)
def test_figures_are_those_of_metafor(name):
    found = random_effects(INPUTS[name]["difference"], INPUTS[name]["error"])
    expected = EXPECTED[name]
    close(found, expected, "difference=mean error=se", rel=TOLERANCE)
    assert found.tau2 == pytest.approx(expected["tau2"], rel=TOLERANCE, abs=1e-15)
    assert found.i2 == pytest.approx(expected["i2"], rel=TOLERANCE, abs=1e-12)
    assert (found.q, found.q_pvalue) == pytest.approx((expected["q"], expected["q_pvalue"]))
    assert found.interval == pytest.approx(tuple(expected["interval"]), rel=TOLERANCE)
    assert found.prediction == pytest.approx(tuple(expected["prediction"]), rel=TOLERANCE)


@pytest.mark.parametrize("name", INPUTS)
def test_heterogeneity_is_that_of_statsmodels(name):
    d, s = (np.array(INPUTS[name][key]) for key in ("difference", "error"))
    peer = combine_effects(d, s**2, method_re="iterated", use_t=True)
    found = random_effects(d, s)
    assert found.q == pytest.approx(float(peer.q))
    if found.tau2 == 0.0:
        assert found.difference == pytest.approx(float(peer.mean_effect_re))
        assert found.error == pytest.approx(float(peer.sd_eff_w_re_hksj))


def test_reml_is_the_highest_likelihood():
    rng = np.random.default_rng(5)
    for _ in range(20):
        v = rng.uniform(0.01, 1.0, 7)
        d = rng.normal(0.0, np.sqrt(v + rng.choice([0.0, 0.5])))

        def likelihood(tau2, d=d, v=v):
            w = 1.0 / (tau2 + v)
            mean = w @ d / w.sum()
            return np.log(w).sum() - np.log(w.sum()) - w @ (d - mean) ** 2

        grid = np.linspace(0.0, 10.0, 4001)
        best = max(likelihood(tau2) for tau2 in grid)
        assert likelihood(_reml(d, v)) >= best - 1e-9


def test_errors_of_zero_and_equal_differences_are_answered():
    found = random_effects([0.1, 0.3, 0.2], [0.0, 0.0, 0.1])
    assert math.isfinite(found.difference)
    assert found.tau2 > 0.0
    same = random_effects([0.2, 0.2, 0.2], [0.1, 0.1, 0.1])
    assert (same.difference, same.tau2, same.q) == pytest.approx((0.2, 0.0, 0.0))
    assert math.isnan(random_effects([0.1, 0.2], [0.1, 0.1]).prediction.low)


@pytest.mark.parametrize(
    ("difference", "error"), [([0.1], [0.1]), ([0.1, 0.2], [0.1]), ([0.1, np.nan], [0.1, 0.1])]
)
def test_what_is_no_sample_is_refused(difference, error):
    with pytest.raises(InputError):
        random_effects(difference, error)


def test_the_next_dataset_is_held_as_often_as_promised():
    """Exact for normal differences: 95 % ± 5 standard errors of 4,000 trials."""
    draws = np.random.default_rng(2).normal(0.3, 1.0, (4000, 11))
    held = [low <= row[-1] <= high for row in draws for low, high in [next_dataset(row[:-1])]]
    assert abs(np.mean(held) - 0.95) < 5 * math.sqrt(0.95 * 0.05 / 4000)
