"""Posterior draws against quadrature, Student's t and each other; chains against arviz and coda."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from golden_cases import golden
from mixed_layouts import of_array
from plain_tables import refused
from scipy import stats

from steadyrank.stats.mixed import posterior as module
from steadyrank.stats.mixed.fit import NO_RESIDUAL, MixedModel, fit
from steadyrank.stats.mixed.posterior import posterior
from steadyrank.stats.mixed.sampling import (
    Surrogate,
    effective_sample_size,
    hpd_interval,
    split_rhat,
)
from steadyrank.stats.pairs.result import NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE

NESTED = {"topic": "topic", "system_topic": ("system", "topic"), "instance": ("system", "instance")}


def nested_model(instances, topics, *, missing=0.0, sds=(0.2, 0.05, 0.02, 0.06), seed=0):
    rng = np.random.default_rng(seed)
    shapes = [(1, 1, topics), (2, 1, topics), (2, instances, 1), (2, instances, topics)]
    values = sum(sd * rng.normal(size=shape) for sd, shape in zip(sds, shapes, strict=True))
    values[rng.random(values.shape) < missing] = np.nan
    axes = ("system", "instance", "topic")
    return of_array(values, axes=axes, random=NESTED, fixed="system")


def one_way_model(missing):
    """Two systems on seven topics, three rows each: one random term."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(1, 1, 7)) + rng.normal(0.4, 0.8, (2, 3, 7))
    if missing:
        values[0, :2, :2] = values[1, 1, 3:] = np.nan
    axes = ("system", "row", "topic")
    return of_array(values, axes=axes, random={"topic": "topic"}, fixed="system")


def autoregressive(correlation, shape, seed=0):
    noise = np.random.default_rng(seed).normal(size=shape)
    for t in range(1, shape[1]):
        noise[:, t] += correlation * noise[:, t - 1]
    return noise


def test_shortest_interval_as_by_coda():
    case = golden("hpd_interval")
    draws, want = case["inputs"]["draws"], case["expected"]
    assert hpd_interval(draws) == pytest.approx(want["hpd95"], abs=case["tolerance"])
    assert hpd_interval(draws, confidence=0.9) == pytest.approx(
        want["hpd90"], abs=case["tolerance"]
    )


def test_shortest_interval_of_a_normal_law():
    """Its ends are near those of the law; the band is 5 times their spread in such samples."""
    draws = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    assert hpd_interval(draws, confidence=0.9) == pytest.approx((-1.645, 1.645), abs=0.02)
    skewed = stats.expon.ppf((np.arange(20_000) + 0.5) / 20_000)
    assert hpd_interval(skewed, confidence=0.9) == pytest.approx((0.0, np.log(10)), abs=0.002)
    assert np.isnan(hpd_interval([0.0, np.nan, 1.0])).all()


CHAINS = {
    "independent": np.random.default_rng(0).normal(size=(4, 1000)),
    "sticky": autoregressive(0.9, (4, 1000)),
    "alternating": autoregressive(-0.6, (4, 500)),
    "heavy": np.random.default_rng(1).standard_cauchy((4, 400)),
    "apart": np.random.default_rng(2).normal(size=(4, 300)) + np.arange(4)[:, None],
    "wider": np.random.default_rng(3).normal(size=(4, 301)) * np.arange(1, 5)[:, None],
    "tied": np.random.default_rng(4).integers(0, 3, (2, 200)).astype(float),
    "short": np.random.default_rng(5).normal(size=(3, 9)),
    "one": autoregressive(0.5, (1, 800)),
}


@pytest.fixture(scope="module")
def arviz():
    """Imported where it is needed: it takes longer than these tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # once a day, of its own successor
        import arviz
    return arviz


@pytest.mark.parametrize("name", CHAINS)
def test_chains_as_by_arviz(name, arviz):
    # arviz 0.23.4
    chains = CHAINS[name]
    if len(chains) > 1:  # one chain, cut in two, is too little for them
        theirs = float(arviz.rhat(chains, method="rank"))
        assert split_rhat(chains) == pytest.approx(theirs, rel=1e-10)
    theirs = float(arviz.ess(chains, method="bulk"))
    assert effective_sample_size(chains) == pytest.approx(theirs, rel=1e-8)


def test_chains_without_spread_or_draws():
    assert effective_sample_size(np.ones((4, 50))) == 200
    assert np.isnan(split_rhat(np.ones((4, 50))))
    assert np.isnan(split_rhat(np.ones((4, 3))))
    assert np.isnan(effective_sample_size(np.arange(8.0).reshape(4, 2)))
    refused(r"\[chain, draw\]", split_rhat, np.ones(5))


def test_without_random_terms_the_posterior_is_students_t():
    """Kolmogorov's distance of 4,000 nearly independent draws exceeds 0.035 once in 10,000."""
    values = np.random.default_rng(1).normal(0.3, 1.0, 12)
    found = posterior(MixedModel(values, random={}))
    law = stats.t(11, values.mean(), values.std(ddof=1) / np.sqrt(12))
    assert stats.kstest(found.draws.reshape(-1), law.cdf).statistic < 0.035
    assert found.mean[0] == pytest.approx(values.mean(), rel=1e-12)
    assert found.pvalue[0] == pytest.approx(2 * min(law.cdf(0), law.sf(0)), abs=0.004)
    # s² is scaled inverse chi², with 11 degrees of freedom.
    ratio = 11 * values.var(ddof=1) / found.deviation_draws.reshape(-1) ** 2
    assert stats.kstest(ratio, stats.chi2(11).cdf).statistic < 0.035


def test_of_two_groups_the_posterior_is_students_t_too():
    values, first = np.random.default_rng(2).normal(size=14), np.arange(14) < 5
    found = posterior(MixedModel(values, random={}, fixed=first))
    test = fit(MixedModel(values, random={}, fixed=first))
    law = stats.t(12, test.estimates[1], test.standard_errors[1])
    assert stats.kstest(found.draws[:, :, 1].reshape(-1), law.cdf).statistic < 0.035
    assert found.pvalue[1] == pytest.approx(test.pvalue[1], abs=0.01)


def quadrature(model):
    """The posterior of one random term's model on a grid of (s, log s_e), from all rows.

    Returns a cumulative distribution function of the difference and of s.
    """
    present = ~np.isnan(model.response)
    y = model.response[present]
    system, _, topic = (index[present] for index in np.indices((2, 3, 7)).reshape(3, -1))
    x = np.stack([np.ones(len(y)), system == 0], axis=1)
    scale = y.std(ddof=1)
    angles = np.linspace(0.0, np.pi / 2, 401)
    s = np.tan((angles[1:] + angles[:-1]) / 2) * scale  # cells of equal prior mass
    log_e = np.linspace(np.log(scale) - 2.0, np.log(scale) + 1.5, 301)
    # The rows' covariance is s² (topic = topic') + s_e² I: one set of axes for the whole grid.
    shared, axes = np.linalg.eigh((topic[:, None] == topic).astype(float))
    spread = s[:, None, None] ** 2 * shared + np.exp(2 * log_e)[:, None]
    x, y = axes.T @ x, axes.T @ y
    covariance = np.linalg.inv(np.einsum("ijk,kp,kq->ijpq", 1 / spread, x, x))
    b = np.einsum("ijpq,kq,k,ijk->ijp", covariance, x, y, 1 / spread, optimize=True)
    off = y - b @ x.T
    log_weight = -0.5 * (np.log(spread) + off**2 / spread).sum(axis=2)
    log_weight += 0.5 * np.linalg.slogdet(covariance)[1]
    mean, sd = b[:, :, 1], np.sqrt(covariance[:, :, 1, 1])
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    edges = np.append(0.0, np.cumsum(weight.sum(axis=1)))

    def of_difference(values):
        return np.array([(weight * stats.norm.cdf((v - mean) / sd)).sum() for v in values])

    def of_deviation(values):
        return np.interp(np.arctan(np.asarray(values) / scale), angles, edges)

    return of_difference, of_deviation


def distance(cumulative, draws):
    """Largest distance to the draws' distribution at their quantiles."""
    levels = np.arange(0.01, 1.0, 0.01)
    return np.abs(cumulative(np.quantile(draws, levels)) - levels).max()


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
def test_draws_follow_the_posterior_by_quadrature(missing):
    """4,000 draws: the distance exceeds 0.035 once in 10,000."""
    model = one_way_model(missing)
    of_difference, of_deviation = quadrature(model)
    found = posterior(model)
    assert found.converged
    assert found.acceptance > 0.98
    assert distance(of_difference, found.draws[:, :, 1]) < 0.035
    assert distance(of_deviation, found.deviation_draws[:, :, 0]) < 0.035
    below = of_difference([0.0])[0]
    assert found.pvalue[1] == pytest.approx(2 * min(below, 1 - below), abs=0.01)


@pytest.mark.slow
def test_a_poor_stand_in_is_corrected(monkeypatch):
    """The law of the draws must not depend on what proposes them, only how many are accepted."""
    model = one_way_model(True)
    of_difference, of_deviation = quadrature(model)
    fitted = module.fitted_surrogate

    def worse(*args):
        good = fitted(*args)
        layout = good.layout * np.array([0.6, 0.5])
        return Surrogate(
            layout=layout, loads=good.loads, prior_scale=good.prior_scale, widths=good.widths
        )

    monkeypatch.setattr(module, "fitted_surrogate", worse)
    found = posterior(model)
    assert found.acceptance < 0.9
    assert found.converged
    assert distance(of_difference, found.draws[:, :, 1]) < 0.035
    assert distance(of_deviation, found.deviation_draws[:, :, 0]) < 0.035


@pytest.mark.slow
def test_a_missing_cell_hardly_changes_the_posterior():
    """Strata and corrected tables sample the same law: 5 Monte Carlo standard errors apart."""
    whole = nested_model(6, 20)
    values = whole.response.reshape(2, 6, 20).copy()
    values[0, 0, 0] = np.nan
    axes = ("system", "instance", "topic")
    holed = posterior(of_array(values, axes=axes, random=NESTED, fixed="system"))
    found = posterior(whole)
    assert (found.acceptance, holed.acceptance > 0.98) == (1.0, True)
    assert holed.sd[1] == pytest.approx(found.sd[1], rel=0.08)
    ours, others = (np.median(each.deviation_draws, axis=(0, 1)) for each in (found, holed))
    assert others == pytest.approx(ours, rel=0.08)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_four_thousand_draws_are_worth_three_thousand(missing):
    found = posterior(nested_model(8, 30, missing=missing))
    assert found.n_draws == 4000
    assert found.converged
    assert min(found.bulk_ess.values()) > 3000
    assert max(found.rhat.values()) < 1.01
    assert set(found.rhat) == {"second", "difference", *NESTED, "residual"}
    assert found.hpd[1] == pytest.approx(hpd_interval(found.draws[:, :, 1]))
    test = fit(nested_model(8, 30, missing=missing))
    assert found.mean == pytest.approx(test.estimates, abs=0.1 * test.standard_errors.min())
    assert found.sd[1] == pytest.approx(test.standard_errors[1], rel=0.25)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_same_seed_same_draws(missing):
    model = nested_model(3, 8, missing=missing)
    first, again = (posterior(model, seed=5, n_draws=400, target_ess=100, jobs=j) for j in (1, 2))
    assert first.draws.tobytes() == again.draws.tobytes()
    assert first.deviation_draws.tobytes() == again.deviation_draws.tobytes()
    other = posterior(model, seed=6, n_draws=400, target_ess=100)
    assert not np.isin(other.draws, first.draws).any()


def test_draws_are_extended_until_they_suffice():
    model = nested_model(3, 8)
    short, long = (posterior(model, n_draws=1000, target_ess=ess) for ess in (500, 2500))
    assert short.n_draws == 1000
    assert 3000 <= long.n_draws <= 4000
    np.testing.assert_array_equal(short.draws[:, :, 1], long.draws[:, :250, 1])
    never = posterior(model, n_draws=100, target_ess=1e9)
    assert never.n_draws == 800


def test_two_instances_say_little_about_instances():
    found = posterior(nested_model(2, 30))
    place = found.components.index("instance")
    low, high = hpd_interval(found.deviation_draws[:, :, place])
    assert found.converged
    assert low < 0.02 < high
    assert high > 0.08


def test_what_cannot_be_sampled():
    axes = ("system", "instance", "topic")

    def of(values):
        return posterior(of_array(values, axes=axes, random=NESTED, fixed="system"))

    values = np.full((2, 3, 4), 0.5)
    same = of(values)
    assert (same.flag, same.converged) == (NO_DIFFERENCE, True)
    assert same.hpd[1].tolist() == [0.0, 0.0]
    assert same.pvalue[1] == 1.0
    values[0] = 0.7
    apart = of(values)
    assert apart.flag == ZERO_VARIANCE
    assert apart.mean == pytest.approx([0.5, 0.2])
    assert apart.pvalue[1] == 0.0
    assert of(values[:, :1, :1]).flag == TOO_FEW
    alike = of(np.repeat(np.random.default_rng(0).random((2, 1, 5)), 3, axis=1))
    assert (alike.flag, alike.converged) == (NO_RESIDUAL, False)
    assert np.isnan(alike.mean).all()
    one = of(np.random.default_rng(0).random((2, 1, 8)))
    assert one.components == ("topic", "residual")
    refused("n_draws must be at least 100", posterior, nested_model(2, 3), n_draws=50)
