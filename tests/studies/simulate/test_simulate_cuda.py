"""The GPU draws from the same law as the processors, reproducibly. Needs CuPy and a GPU."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.errors import MachineError, SteadyrankWarning
from steadyrank.measures.names import parse_measure
from steadyrank.studies.simulate.measures import make_gain
from steadyrank.studies.simulate.profiles import score_profiles
from steadyrank.studies.simulate.sampler_kernels import sample_cells


def has_gpu() -> bool:
    from steadyrank.compute.gpu import cupy

    try:
        cupy()
    except MachineError:
        return False
    return True


needs_gpu = pytest.mark.skipif(not has_gpu(), reason="no GPU that CuPy can use")


@pytest.fixture(scope="module")
def track():
    return sr.simulated_track(n_teams=5, runs_per_team=4, n_topics=50, depth=300, pool_depth=50)


@pytest.fixture(scope="module")
def tied(track):
    """Runs with groups of tied documents, and one whose scores are all the same."""
    rounded = [
        sr.run_from_dict(
            {
                topic: {document: round(score, digits) for document, score in run.ranking(topic)}
                for topic in run.topics
            },
            name=f"{run.name} to {digits}",
        )
        for run, digits in zip(track.runs[:4], (0, 1, 1, -9), strict=True)
    ]
    return [*track.runs[:6], *rounded]


SHARED = [
    "AP",
    "nDCG@10",
    "nDCG",
    "P@10",
    "R@20",
    "Rprec",
    "RR",
    "RBP(p=0.8)",
    "ERR@20",
    "nERR@20",
    "Q",
    "Q@10",
    "nG@1",
    "IPrec@0.1",
    "Success@5",
    "AP(rel=2)",
]


@needs_gpu
@pytest.mark.parametrize("measure", SHARED)
def test_shared_documents_are_the_processors_to_the_last_bit(track, tied, measure):
    from steadyrank.compute.executors import workers
    from steadyrank.measures.scoring import prepare
    from steadyrank.studies.simulate.cuda import DeviceLists, sample_shared
    from steadyrank.studies.simulate.shared_lists import shared_lists
    from steadyrank.studies.simulate.sources import shared_setup

    recipe, topics = prepare(parse_measure(measure), track.qrels.max_grade), track.qrels.topics
    found = shared_lists(tied, track.qrels, recipe, topics=topics)
    setup = shared_setup(found, recipe, topics, seed=3)
    here = np.empty((setup.raw.size, 300))
    with workers(jobs=None) as pool:
        odd = setup.source.fill(here, 128, pool)
    there, without = sample_shared(DeviceLists(setup.source), 128, 300)
    np.testing.assert_array_equal(there.get().T, here)
    assert int(without.get()[0]) == odd


@needs_gpu
def test_counts_that_do_not_fit_are_drawn_group_by_group(track, monkeypatch):
    from steadyrank.studies.simulate import cuda

    options = {"documents": "shared", "device": "cuda", "n_samples": 200}
    whole = study(track, **options)
    monkeypatch.setattr(cuda, "COUNTS", 100_000)
    assert study(track, **options).simulated.tobytes() == whole.simulated.tobytes()


def study(track, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteadyrankWarning)
        return sr.simulate(track.runs, track.qrels, **{"n_samples": 2000, **options})


@needs_gpu
@pytest.mark.parametrize("model", ["bootstrap", "kde"])
@pytest.mark.parametrize("measure", ["AP", "RR", "nDCG@10", "P@10", "R@20"])
@pytest.mark.parametrize("denominator", ["poisson", "judged"])
def test_a_thousand_cells_agree_in_mean_and_deviation(track, model, measure, denominator):
    """Every cell's means within 4.5 standard errors: 7e-3 false alarms a thousand cells.

    Together the squared deviations are chi-square: within 6 of its standard deviations.
    """
    from steadyrank.studies.simulate.cuda import sample_on_device, upload

    profiles = score_profiles(track.runs, track.qrels, topics=track.qrels.topics, model=model)
    gain = make_gain(parse_measure(measure), denominator, profiles.cells)
    n_samples = 20_000
    here = np.empty((1000, n_samples))
    sample_cells(profiles.cells, 0, np.uint64(1), 0, gain, here)
    there, _ = sample_on_device(upload(profiles.cells, gain), np.uint64(1), 0, n_samples)
    there = there.get().T[:1000]
    error = np.sqrt((here.var(axis=1) + there.var(axis=1)) / n_samples)
    off = here.mean(axis=1) - there.mean(axis=1)
    assert not off[error == 0].any()
    z = off[error > 0] / error[error > 0]
    assert np.abs(z).max() < 4.5
    assert abs((z**2).sum() - len(z)) < 6 * math.sqrt(2 * len(z))
    assert there.var(axis=1).sum() / here.var(axis=1).sum() == pytest.approx(1, abs=0.005)


@needs_gpu
@pytest.mark.parametrize("options", [{}, {"denominator": "judged"}, {"mode": "paper"}])
def test_the_study_agrees(track, options):
    here, there = study(track, **options), study(track, device="cuda", **options)
    np.testing.assert_array_equal(here.raw, there.raw)
    assert there.rank_correlation.mean == pytest.approx(here.rank_correlation.mean, abs=0.01)
    np.testing.assert_allclose(there.significance.rate, here.significance.rate, atol=0.08)
    np.testing.assert_allclose(there.error_rate.overall, here.error_rate.overall, atol=0.01)
    np.testing.assert_allclose(there.rank_share, here.rank_share, atol=0.08)
    np.testing.assert_allclose(there.rank_share.sum(axis=1), 1.0)


@needs_gpu
def test_statistics_on_the_device_are_those_of_the_host(track):
    from steadyrank.studies.simulate.statistics import error_rate, rank_correlation, rank_shares

    # Of shared documents, shares of ranks are those of a predicted collection, on the host.
    result = study(track, device="cuda", documents="independent")
    errors = error_rate(result.raw_mean, result.simulated)
    assert errors.count.tolist() == result.error_rate.count.tolist()
    assert errors.errors.tolist() == result.error_rate.errors.tolist()
    taus = rank_correlation(result.raw_mean, result.simulated).taus
    np.testing.assert_allclose(result.rank_correlation.taus, taus, atol=1e-12)
    np.testing.assert_allclose(result.rank_share, rank_shares(result.simulated), atol=1e-12)


@needs_gpu
def test_the_same_seed_gives_the_same_bytes(track, tmp_path):
    one = study(track, device="cuda")
    for again in (
        study(track, device="cuda"),
        study(track, device="cuda", store=tmp_path / "store"),
        study(track, device="cuda", store=tmp_path / "store"),
    ):
        assert again.simulated.tobytes() == one.simulated.tobytes()
        assert again.significance.rate.tobytes() == one.significance.rate.tobytes()
        assert again.cell_sd.tobytes() == one.cell_sd.tobytes()


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
def test_without_a_gpu_the_error_says_what_to_install(track):
    with pytest.raises(MachineError, match="cuda"):
        study(track, device="cuda", n_samples=10)
