"""Components by moments: matrices as large as the scores, mean squares, many judges."""

from __future__ import annotations

import time

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.data.facets import facet_cube
from steadyrank.stats.facets import components
from steadyrank.stats.facets.components import MOMENTS, graded_components, terms_of

AXES = "stajd"


@pytest.fixture
def by_moments(monkeypatch):
    monkeypatch.setattr(components, "MOST_BYTES", 0)


def written_out(scores, terms):
    """The equations of Gao and Owen from indicator matrices of the groups."""
    there = ~np.isnan(scores.ravel())
    index = np.indices(scores.shape).reshape(5, -1)[:, there]
    y = scores.ravel()[there]
    y = y - y.mean()

    def indicator(key):
        chosen = np.array([index[AXES.index(axis)] for axis in key]).reshape(len(key), len(y))
        _, code = np.unique(chosen, axis=1, return_inverse=True)
        return np.eye(code.max() + 1)[code.ravel()]

    z = {name: indicator(key) for name, key in terms.items()}
    total = np.ones((len(y), 1))

    def projector(block):
        return block / block.sum(axis=0) @ block.T

    forms = [projector(block) - projector(total) for block in z.values()]
    left = [[np.trace(block.T @ form @ block) for block in z.values()] for form in forms]
    return np.linalg.solve(left, [y @ form @ y for form in forms])


@pytest.mark.parametrize("shape", [(4, 6, 1, 3, 1), (3, 5, 2, 3, 1), (3, 4, 2, 2, 2)])
def test_moments_are_those_written_out(by_moments, shape):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=shape) + rng.normal(size=(shape[0], 1, 1, shape[3], 1))
    scores[rng.random(shape) < 0.25] = np.nan
    terms = terms_of(shape)[0]
    found = graded_components(scores)
    assert found.method == MOMENTS
    np.testing.assert_allclose(list(found.raw.values()), written_out(scores, terms), atol=1e-9)


def test_moments_of_complete_scores_are_the_mean_squares():
    scores = np.random.default_rng(2).normal(size=(4, 6, 1, 3, 1))
    expected = graded_components(scores).raw
    found, _ = components._by_moments(scores, terms_of(scores.shape)[0], 0)
    assert found == pytest.approx(expected, abs=1e-12)


def test_components_without_equations_are_left_out(by_moments):
    scores = np.full((3, 6, 1, 6, 1), np.nan)
    for topic in range(6):  # one judge for each topic
        scores[:, topic, 0, topic, 0] = np.random.default_rng(topic).normal(size=3)
    assert "topic:judge" in graded_components(scores).unidentified


@pytest.mark.parametrize("n_judges", [300, 3000])
def test_many_judges_with_gaps_take_memory_as_their_grades(n_judges):
    scores = sr.simulated_facets(
        n_systems=5, n_topics=20, n_judges=n_judges, missing=0.5, rng=n_judges
    )
    start = time.perf_counter()
    found = graded_components(facet_cube(scores, "grade").values)
    assert time.perf_counter() - start < 20
    assert found.method == MOMENTS
    assert found.variance["judge"] == pytest.approx(0.36, rel=0.3)
    assert found.variance["system:judge"] == pytest.approx(0.06, rel=0.4)
