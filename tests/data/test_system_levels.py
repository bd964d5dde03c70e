"""Levels of systems by judge: designs written out, a jackknife that refits, layouts without any."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from steadyrank.data.levels import Additive, check_separable, is_uneven, layout_of, levels_of
from steadyrank.errors import InputError


def fitted(cells, topics):
    """mu [system, judge] by least squares on a design written out, and the topics' effects."""
    m, n, judges = cells.shape
    rows, y = [], []
    for a, j, g in itertools.product(range(m), topics, range(judges)):
        if not np.isnan(cells[a, j, g]):
            row = np.zeros(n + m * judges)
            row[[j, n + a * judges + g]] = 1.0
            rows.append(row)
            y.append(cells[a, j, g])
    solved = np.linalg.lstsq(np.array(rows), np.array(y), rcond=None)[0]
    return solved[n:].reshape(m, judges), solved[list(topics)]


def made(gaps, seed=1, shape=(4, 12, 3)):
    rng = np.random.default_rng(seed)
    m, n, judges = shape
    cells = (
        rng.normal(size=shape) + rng.normal(size=(m, 1, judges)) + 2 * rng.normal(size=(1, n, 1))
    )
    cells[rng.random(shape) < gaps] = np.nan
    return cells


@pytest.mark.parametrize("gaps", [0.0, 0.3, 0.45])
def test_levels_and_their_jackknife_are_those_of_a_design_written_out(gaps):
    cells = made(gaps)
    n = cells.shape[1]
    levels = levels_of(cells)
    mu, topic = fitted(cells, range(n))
    np.testing.assert_allclose(levels.mu, mu + topic.mean(), atol=1e-9)
    without = []
    for j in range(n):
        own, others = fitted(cells, [i for i in range(n) if i != j])
        without.append(own + others.mean())
    moved = np.array(without) - np.mean(without, axis=0)
    np.testing.assert_allclose(levels.moved, moved, atol=1e-9)


@pytest.mark.parametrize("dense", [0, 2000])
def test_large_layouts_are_solved_without_a_matrix(monkeypatch, dense):
    monkeypatch.setattr("steadyrank.data.levels.DENSE", dense)
    cells = made(0.4, seed=2)
    mu, topic = fitted(cells, range(12))
    np.testing.assert_allclose(levels_of(cells).mu, mu + topic.mean(), atol=1e-8)


def test_complete_tables_have_plain_means():
    cells = made(0.0)
    levels = levels_of(cells)
    assert not is_uneven(cells)
    np.testing.assert_allclose(levels.mu, cells.mean(axis=1))
    np.testing.assert_allclose(levels.means, cells.mean(axis=(1, 2)))
    np.testing.assert_allclose(levels.pseudo_values, cells.mean(axis=2))


def test_pseudo_values_have_the_error_of_the_levels():
    cells = made(0.3)
    levels = levels_of(cells)
    assert is_uneven(cells)
    difference = levels.pseudo_values[0] - levels.pseudo_values[1]
    d = levels.mu[0] - levels.mu[1]
    shift = (levels.moved[:, 0] - levels.moved[:, 1]).mean(axis=1)
    assert difference.mean() == pytest.approx(d.mean())
    assert difference.var(ddof=1) / 12 == pytest.approx(11 / 12 * (shift**2).sum())


@pytest.mark.parametrize("gaps", [0.0, 0.4])
def test_the_additive_model_is_least_squares(gaps):
    rng = np.random.default_rng(5)
    kept = rng.random((5, 4)) >= gaps
    levels = np.where(kept, rng.normal(size=(5, 4)), 0.0)
    design = np.array([[*np.eye(5)[a], *np.eye(4)[g]] for a, g in np.argwhere(kept)])
    hat = design @ np.linalg.pinv(design)
    fit = Additive(kept)
    residuals = levels[kept] - hat @ levels[kept]
    np.testing.assert_allclose(fit.residuals(levels[None])[0][kept], residuals, atol=1e-12)
    np.testing.assert_allclose(fit.free[kept], 1.0 - np.diag(hat), atol=1e-12)
    assert fit.df == pytest.approx((1.0 - np.diag(hat)).sum())


def test_shares_of_topics_are_those_of_the_normal_equations():
    cells = made(0.4, seed=3)
    levels = levels_of(cells)
    there = ~np.isnan(cells.transpose(1, 0, 2).reshape(12, 12))
    parts = [np.diag(o.astype(float)) - np.outer(o, o) / o.sum() for o in there]
    inverse = np.linalg.pinv(sum(parts))
    w = np.zeros((2, 12))
    w[0, :3], w[1, 3:6] = 1 / 3, 1 / 3
    z = inverse @ (w[0] - w[1])
    expected = [z @ part @ z for part in parts]
    np.testing.assert_allclose(levels.influences(w)([0], [1])[0], expected, atol=1e-9)


def test_levels_are_linked_through_topics_that_others_graded():
    """x graded a on topics 0-2 and b on 3-5: y, who graded both everywhere, links these."""
    cells = np.full((2, 6, 2), np.nan)
    rng = np.random.default_rng(4)
    cells[:, :, 1] = rng.normal(size=(2, 6))
    cells[0, :3, 0], cells[1, 3:, 0] = rng.normal(size=3), rng.normal(size=3)
    assert levels_of(cells).kept.all()
    check_separable(levels_of(cells), "ab", "xy")


def told(cells, systems="ab", judges=("gpt", "claude")):
    with pytest.raises(InputError, match="systems and judges cannot be separated") as error:
        check_separable(levels_of(cells), systems, judges)
    return str(error.value)


def test_what_cannot_be_separated_is_refused():
    cells = np.full((2, 6, 2), np.nan)
    cells[0, :, 0] = cells[1, :, 1] = np.arange(6.0)
    assert "a was graded by gpt only, b by claude only. Have one judge grade both." in told(cells)
    cells[1, :, 1], cells[0, 3:, 0], cells[1, 3:, 0] = np.nan, np.nan, np.arange(3.0)
    assert "fewer than 2 topics link the grades of a and b by gpt" in told(cells)
    cells[0, 3, 0] = 1.0  # one topic is not enough: without it nothing would be known
    assert "fewer than 2 topics link the grades of a and b by gpt" in told(cells)
    cells[0, 4, 0] = 2.0
    check_separable(levels_of(cells), "ab", ("gpt", "claude"))


def test_topics_and_levels_that_say_nothing_are_left_out():
    there = np.ones((5, 4), bool)
    there[0] = [True, False, False, False]
    there[2:, 3] = False  # a level of one topic
    layout = layout_of(there, 2)
    assert layout.topic.tolist() == [1, 2, 3, 4]
    assert layout.kept.tolist() == [[True, False], [True, False]]


def test_groups_that_hang_on_one_topic_are_compared_within():
    """Judges x and y share topic 2 alone: each compares both systems on topics of its own."""
    cells = np.full((2, 5, 2), np.nan)
    rng = np.random.default_rng(6)
    cells[:, :3, 0], cells[:, 2:, 1] = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    levels = levels_of(cells)
    assert levels.kept.all()
    d = np.nanmean(cells[0] - cells[1], axis=0)
    np.testing.assert_allclose(levels.mu[0] - levels.mu[1], d)
    for g in range(2):
        own = cells[0, :, g] - cells[1, :, g]
        own = own[~np.isnan(own)]
        without = [(own.sum() - x) / (len(own) - 1) for x in own]
        shift = levels.moved[:, 0, g] - levels.moved[:, 1, g]
        assert (
            sorted(np.diff(np.sort(shift[np.abs(shift) > 0])))
            == pytest.approx(sorted(np.diff(np.sort(without))), abs=1e-9)
            or len(np.unique(shift.round(12))) >= 3
        )
