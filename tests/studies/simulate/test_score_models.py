"""Kernels of scores, against scipy and against drawing and sorting."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from plain_sampler import average_precision, width
from test_sampler import UNRETRIEVED, run_and_qrels

import steadyrank as sr
from bench import score_models
from steadyrank.measures.names import parse_measure
from steadyrank.studies.simulate import profiles as profile_kernels
from steadyrank.studies.simulate.measures import make_gain
from steadyrank.studies.simulate.profiles import joined_bins, score_profiles
from steadyrank.studies.simulate.sampler_kernels import sample_cells
from steadyrank.studies.simulate.statistics import error_rate

ROOTS = {5: 5**0.5, 6: 6**0.5, 3: 3**0.5}
KERNELS = {
    "gaussian": scipy.stats.norm(),
    "epanechnikov": scipy.stats.beta(2, 2, -ROOTS[5], 2 * ROOTS[5]),
    "triangular": scipy.stats.triang(0.5, -ROOTS[6], 2 * ROOTS[6]),
    "uniform": scipy.stats.uniform(-ROOTS[3], 2 * ROOTS[3]),
}
N_SAMPLES = 4000


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_has_variance_1_and_scipy_s_survival_function(kernel):
    z = np.arange(-9 * 512, 9 * 512 + 2) / 512
    assert KERNELS[kernel].var() == pytest.approx(1.0)
    np.testing.assert_allclose(
        profile_kernels.SURVIVAL[kernel], KERNELS[kernel].sf(z), atol=1e-14, rtol=0
    )


def drawn(relevant, others, rng, options):
    """One average precision from scores that were drawn and sorted."""
    n = min(rng.poisson(len(relevant)), len(relevant) + len(others))
    n_others = len(relevant) + len(others) - n
    noise = KERNELS[options["kernel"]].rvs
    hits = rng.choice(relevant, n) + width(relevant) * noise(n, random_state=rng)
    rest = rng.choice(others, n_others) + width(others) * noise(n_others, random_state=rng)
    order = np.argsort(-np.concatenate([hits, rest]))
    return average_precision(np.flatnonzero(order < n) + 1, max(len(relevant) + UNRETRIEVED, n))


MODELS = [{"model": "kde", "kernel": kernel} for kernel in KERNELS]


@pytest.mark.parametrize("options", MODELS, ids=lambda options: [*options.values()][1])
@pytest.mark.parametrize(("n_relevant", "apart"), [(4, 2.0), (30, 1.0)])
def test_equal_in_law_to_drawing_and_sorting(options, n_relevant, apart):
    """Means and deviations within 4.5 standard errors; a false alarm in 1e-5 of runs."""
    rng = np.random.default_rng([n_relevant, len(str(options))])
    relevant = rng.normal(4.0 + apart, 1.0, n_relevant)
    others = rng.gamma(3.0, 0.8, 150 - n_relevant)
    only, qrels = run_and_qrels(relevant, others)
    cells = score_profiles([only], qrels, topics=["1"], **options).cells
    gain = make_gain(parse_measure("AP"), "judged", cells)
    ours = np.empty((1, 40_000))
    sample_cells(*joined_bins(cells), 0, np.uint64(3), 0, gain, ours)
    plain = np.array([drawn(relevant, others, rng, options) for _ in range(N_SAMPLES)])
    error = np.sqrt(ours.var() / ours.size + plain.var() / N_SAMPLES)
    assert abs(ours.mean() - plain.mean()) < 4.5 * error
    spread = np.sqrt(scipy.stats.kurtosis(plain, fisher=False) - 1) / 2 / np.sqrt(N_SAMPLES)
    assert ours.std() / plain.std() == pytest.approx(1.0, abs=4.5 * spread + 0.01)


@pytest.mark.filterwarnings("ignore:1 run (gives all|has scores that)")
def test_a_class_too_small_or_constant_to_fit_is_bootstrapped():
    """One relevant document, others of one score, none relevant, ties: all values are defined."""
    cells = {
        "one relevant": ([2.0], [1.0, 0.5, 0.1]),
        "others of one score": ([2.0, 1.5], [1.0, 1.0, 1.0]),
        "all of one score": ([1.0, 1.0], [1.0, 1.0]),
        "no others": ([2.0, 1.0], []),
        "none relevant": ([], [2.0, 1.0]),
    }
    for name, (relevant, others) in cells.items():
        only, qrels = run_and_qrels(np.array(relevant), np.array(others))
        result = sr.simulate([only], qrels, model="kde", n_samples=300, rng=1)
        assert result.plain == (name != "none relevant"), name
        assert np.isfinite(result.simulated).all(), name
        assert (result.simulated.max() > 0) == (name != "none relevant"), name


def test_shared_documents_have_no_kernels():
    track = sr.simulated_track(n_teams=2, runs_per_team=1, n_topics=4, depth=20, pool_depth=20)
    data = track.runs, track.complete
    with pytest.raises(sr.InputError, match="model kde draws the scores of a single run"):
        sr.simulate(*data, model="kde", documents="shared")
    with pytest.raises(sr.InputError, match="kernel uniform belongs to model kde"):
        sr.simulate(*data, kernel="uniform")
    with pytest.raises(sr.InputError, match="kernel"):
        sr.simulate(*data, model="kde", kernel="cosine")


@pytest.mark.parametrize(("n_bins", "bin_width"), [(21, 0.01), (7, 0.005), (3, 0.1), (40, 0.02)])
def test_bins_of_any_number_and_width_are_a_histogram(n_bins, bin_width):
    rng = np.random.default_rng(2)
    raw, simulated = rng.random(6) * 0.3, rng.random((50, 6)) * 0.3
    found = error_rate(raw, simulated, n_bins=n_bins, bin_width=bin_width)
    a, b = np.triu_indices(6, 1)
    gaps, wrong = simulated[:, a] - simulated[:, b], raw[a] - raw[b]
    edges = np.append(np.arange(n_bins) * bin_width, np.inf)
    np.testing.assert_allclose(found.low, edges[:-1], rtol=1e-12)
    assert found.count.tolist() == np.histogram(np.abs(gaps), edges)[0].tolist()
    errors = np.histogram(np.abs(gaps)[gaps * wrong < 0], edges)[0]
    assert found.errors.tolist() == errors.tolist()


def test_scores_in_percent_fall_into_the_bins_of_the_same_scores():
    rng = np.random.default_rng(3)
    raw, simulated = rng.random(5), rng.random((40, 5)).round(2)
    usual = error_rate(raw, simulated)
    percent = error_rate(100 * raw, 100 * simulated, bin_width=1.0)
    assert percent.count.tolist() == usual.count.tolist()
    np.testing.assert_allclose(percent.low, 100 * usual.low)


def test_the_models_come_near_the_error_rates_of_fresh_collections():
    """Two tracks; of 24, densities are .009 away (spread runs), shared documents .024."""
    figures = score_models.table("spread", n_trials=2)
    assert figures["fresh collections"]["overall"][0] > 0.03
    assert figures["kde, uniform"]["distance"][0] < 0.03
