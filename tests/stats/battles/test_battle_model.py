"""Strengths of models, against other implementations, closed forms and known truths."""

import numpy as np
import pytest
import statsmodels.api as sm
from plain_tables import refused

from steadyrank.data.battles import connected
from steadyrank.stats.battles.estimate import circles
from steadyrank.stats.battles.model import (
    Design,
    fit,
    is_identified,
    is_separated,
    judged_values,
    judges_everything,
    next_pairs,
    pseudo_values,
    win_rates,
)


def design(a, b, outcome, covariates=None, n_models=None):
    a, b = np.asarray(a), np.asarray(b)
    z = np.empty((len(a), 0)) if covariates is None else np.asarray(covariates, float)
    m = n_models or int(max(a.max(), b.max())) + 1
    return Design(n_models=m, a=a, b=b, outcome=np.asarray(outcome, float), covariates=z)


def drawn(seed=0, n=1200, m=6, n_prompts=40, ties=0.0, first=0.4):
    rng = np.random.default_rng(seed)
    strength = np.linspace(-1.0, 1.0, m)
    a = rng.integers(0, m, n)
    b = (a + rng.integers(1, m, n)) % m
    prompt = rng.integers(0, n_prompts, n)
    easy = rng.normal(0.0, 0.7, (n_prompts, m))[prompt]
    rows = np.arange(n)
    odds = strength[a] - strength[b] + first + easy[rows, a] - easy[rows, b]
    outcome = (rng.random(n) < 1.0 / (1.0 + np.exp(-odds))).astype(float)
    outcome[rng.random(n) < ties] = 0.5
    return design(a, b, outcome, np.column_stack([np.ones(n), rng.normal(size=n)])), prompt


def dense(d):
    x = np.zeros((len(d.a), d.x.shape[1]))
    rows = np.arange(len(d.a))
    x[rows, d.a], x[rows, d.b] = 1.0, -1.0
    x[:, d.n_models :] = d.covariates
    return x


def test_two_models_have_the_log_odds_of_their_battles():
    found = fit(design([0] * 10, [1] * 10, [1] * 7 + [0] * 3))
    np.testing.assert_allclose(found.strength[0] - found.strength[1], np.log(7 / 3), atol=1e-9)
    np.testing.assert_allclose(found.strength.sum(), 0.0, atol=1e-12)
    np.testing.assert_allclose(win_rates(found.strength), [0.7, 0.3], atol=1e-9)


def test_three_models_by_hand():
    # Each pair fought four times, 3:1 around the circle's line: by symmetry of the scores, model 0
    # won 6 of 8, model 1 won 4 and model 2 won 2, so the strengths are (x, 0, -x).
    a, b = [0] * 8 + [1] * 4, [1] * 4 + [2] * 4 + [2] * 4
    found = fit(design(a, b, [1, 1, 1, 0] * 3))
    x = found.strength[0]
    np.testing.assert_allclose(found.strength, [x, 0.0, -x], atol=1e-9)
    won = 4 / (1 + np.exp(-x)) + 4 / (1 + np.exp(-2 * x))
    np.testing.assert_allclose(won, 6.0, atol=1e-8)


@pytest.mark.parametrize("ties", [0.0, 0.2])
def test_half_wins_equal_a_generalised_linear_model_with_clusters(ties):
    d, prompt = drawn(ties=ties)
    found = fit(d)
    x = np.delete(dense(d), 0, axis=1)  # model 0 has strength 0 there
    glm = sm.GLM(d.outcome, x, family=sm.families.Binomial())
    cov = {"groups": prompt, "use_correction": False}
    other = glm.fit(cov_type="cluster", cov_kwds=cov, tol=1e-12)
    ours = found.strength - found.strength[0]
    np.testing.assert_allclose(ours[1:], other.params[: d.n_models - 1], atol=1e-7)
    np.testing.assert_allclose(found.coefficient, other.params[d.n_models - 1 :], atol=1e-7)
    covariance = found.covariance(prompt)
    n = prompt.max() + 1
    against_0 = covariance[1:6, 1:6] - covariance[1:6, :1] - covariance[:1, 1:6] + covariance[0, 0]
    theirs = np.asarray(other.cov_params()) * n / (n - 1)
    np.testing.assert_allclose(against_0, theirs[:5, :5], rtol=1e-6)
    np.testing.assert_allclose(covariance[6:, 6:], theirs[5:, 5:], rtol=1e-6)


def test_davidson_maximises_its_likelihood():
    from scipy.optimize import minimize

    d, prompt = drawn(n=400, m=4, ties=0.25)
    found = fit(d, "davidson")
    x = dense(d)

    def loss(parameters):
        half, log_nu = 0.5 * (x @ parameters[:-1]), parameters[-1]
        total = np.log(np.exp(half) + np.exp(-half) + np.exp(log_nu))
        said = np.select([d.outcome == 1, d.outcome == 0], [half, -half], log_nu)
        return (total - said).sum() + parameters[: d.n_models].sum() ** 2

    other = minimize(loss, np.zeros(d.x.shape[1] + 1), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(
        [*found.strength, *found.coefficient, found.log_nu], other.x, atol=2e-5
    )
    # Its influences by prompt are those of leaving a prompt out, to first order.
    n = prompt.max() + 1
    influence = found.influences(prompt)
    for one in range(3):
        kept = prompt != one
        without = fit(design(d.a[kept], d.b[kept], d.outcome[kept], d.covariates[kept]), "davidson")
        moved = found.strength - without.strength
        assert np.corrcoef(moved, influence[one, :4])[0, 1] > 0.95
    np.testing.assert_allclose(
        found.covariance(prompt), n / (n - 1) * influence.T @ influence, rtol=1e-8, atol=1e-12
    )


def test_a_model_that_never_loses_has_a_finite_strength():
    d = design([0, 0, 0, 1, 1, 2], [1, 2, 2, 2, 2, 1], [1, 1, 1, 1, 0, 0.5])
    assert is_separated(d)
    found = fit(d)
    assert found.is_penalised
    assert 1.0 < found.strength[0] < 5.0
    refused("half wins", fit, d, "davidson")


def test_firth_of_two_models_adds_half_a_win_to_each():
    # Of one pair, Firth's penalty is Jeffreys' prior: (wins + .5) / (battles + 1).
    found = fit(design([0] * 6, [1] * 6, [1] * 6))
    np.testing.assert_allclose(found.strength[0] - found.strength[1], np.log(6.5 / 0.5), atol=1e-6)


def test_pseudo_values_have_the_strengths_and_the_sandwich():
    d, prompt = drawn(ties=0.1)
    found = fit(d)
    pseudo = pseudo_values(found, prompt)
    n = prompt.max() + 1
    np.testing.assert_allclose(pseudo.values.mean(axis=1), found.strength, atol=1e-9)
    made = np.cov(pseudo.values) / n
    np.testing.assert_allclose(made, found.covariance(prompt)[:6, :6], rtol=1e-8, atol=1e-12)


def test_prompts_beyond_the_limit_are_put_together(monkeypatch):
    d, prompt = drawn(n_prompts=300)
    found = fit(d)
    monkeypatch.setattr("steadyrank.stats.battles.model.MOST_UNITS", 50)
    pseudo = pseudo_values(found, prompt)
    assert pseudo.values.shape == (6, 50)
    assert pseudo.n_clusters == 300
    covariance = found.covariance(prompt)[:6, :6]
    np.testing.assert_allclose(np.cov(pseudo.values) / 50, covariance, rtol=1e-6, atol=1e-10)


def test_two_ways_of_clustering_add_up():
    d, prompt = drawn()
    found = fit(d)
    voters = np.random.default_rng(3).integers(0, 25, len(d.a))
    pseudo = pseudo_values(found, prompt, voters)
    both = np.unique(prompt * 25 + voters, return_inverse=True)[1]
    parts = [found.covariance(one)[:6, :6] for one in (prompt, voters, both)]
    own = pseudo.covariance[:6, :6]
    np.testing.assert_allclose(own, parts[0] + parts[1] - parts[2], atol=1e-10)
    made = np.cov(pseudo.values) / pseudo.values.shape[1]
    np.testing.assert_allclose(made, own, atol=1e-10)
    assert pseudo.n_clusters == 25


def test_values_by_judge_average_to_the_strengths():
    d, prompt = drawn()
    found = fit(d)
    judges = np.random.default_rng(3).integers(0, 3, len(d.a))
    cells = judged_values(found, prompt, judges)
    assert cells.shape == (6, 3, 40)
    np.testing.assert_allclose(cells.mean(axis=(1, 2)), found.strength, atol=1e-9)
    by_prompt = pseudo_values(found, prompt).values
    np.testing.assert_allclose(cells.mean(axis=1), by_prompt, atol=1e-9)


def test_judges_judge_everything_if_they_judge_all_pairs_on_all_prompts():
    a, b = np.tile([0, 0, 1], 10), np.tile([1, 2, 2], 10)
    prompts = np.repeat(np.arange(10), 3)
    both = np.tile(np.arange(30), 2)
    found = fit(design(a[both], b[both], np.arange(60) % 2))
    judges = np.repeat([0, 1], 30)
    assert judges_everything(found, prompts[both], judges)
    # One judge compares other pairs than the other one, on the same prompts.
    kept = (judges == 0) == (a[both] == 0)
    found = fit(design(a[both][kept], b[both][kept], np.arange(60)[kept] % 3 == 0))
    assert not judges_everything(found, prompts[both][kept], judges[kept])


def test_what_battles_cannot_tell():
    groups = connected(np.array([0, 2, 2]), np.array([1, 3, 4]), 5)
    assert [group.tolist() for group in groups] == [[2, 3, 4], [0, 1]]
    refused("connect", fit, design([0, 2], [1, 3], [1, 1]))
    one_order = design([0] * 4, [1] * 4, [1, 1, 0, 0], np.ones((4, 1)))
    assert not is_identified(one_order)
    both_orders = design([0, 0, 1, 1], [1, 1, 0, 0], [1, 0, 1, 1], np.ones((4, 1)))
    assert is_identified(both_orders)


def test_the_next_battles_are_between_the_undecided():
    d, _ = drawn(n=300)
    found = fit(d)
    chosen = next_pairs(found, np.array([[5, 4]]), 10)
    direct = sum({*pair} == {4, 5} for pair in chosen)
    assert direct >= 8
    firsts = [pair[0] for pair in chosen if {*pair} == {4, 5}]
    assert abs(firsts.count(4) - firsts.count(5)) <= 1


def test_the_first_of_the_next_battles_lowers_the_variance_most():
    d, _ = drawn(n=300, m=4)
    found = fit(d)
    wanted = np.array([[3, 2], [3, 1]])
    first = next_pairs(found, wanted, 1)[0]
    rows = np.zeros((2, d.n_models))
    rows[[0, 1], wanted[:, 0]], rows[[0, 1], wanted[:, 1]] = 1.0, -1.0

    def variance(pair):
        x = np.zeros(d.n_models)
        x[pair[0]], x[pair[1]] = 1.0, -1.0
        p = 1.0 / (1.0 + np.exp(-(found.strength[pair[0]] - found.strength[pair[1]])))
        information = np.linalg.pinv(found.inverse[:4, :4]) + p * (1 - p) * np.outer(x, x)
        return np.trace(rows @ np.linalg.pinv(information) @ rows.T)

    pairs = [(i, j) for i in range(4) for j in range(i)]
    assert {*first} == {*min(pairs, key=variance)}


def test_circles_are_found_and_compared_with_simulations():
    rng = np.random.default_rng(1)
    fought = np.array([[0, 20, 0], [0, 0, 20], [20, 0, 0]])
    even = np.full((3, 3), 0.5)
    found = circles(0.8 * fought, fought, even, rng=rng)
    assert found.intransitive_triples == 1
    # Of three fair majorities, 2 of 8 make a circle; ties of 10 to 10 make fewer.
    assert 0.1 < found.expected < 0.25
    line = np.array([[0, 18, 18], [0, 0, 18], [0, 0, 0]])
    found = circles(line, np.triu(np.full((3, 3), 20), 1), line / 20, rng=rng)
    assert found.intransitive_triples == 0
    assert found.pvalue == 1.0


def test_of_balanced_battles_davidson_ranks_as_points_do():
    """Davidson (1970): two points for a win and one for a tie give the same ranking."""
    rng = np.random.default_rng(5)
    pairs = np.stack(np.triu_indices(5, 1), axis=1)
    for _ in range(5):
        a, b = np.repeat(pairs, 9, axis=0).T
        d = design(a, b, rng.choice([0.0, 0.5, 1.0], len(a), p=[0.35, 0.2, 0.45]))
        points = np.bincount(a, d.outcome, 5) + np.bincount(b, 1.0 - d.outcome, 5)
        found = fit(d, "davidson").strength
        assert (
            np.sign(np.subtract.outer(points, points)).astype(int)
            == np.sign(np.round(np.subtract.outer(found, found), 9)).astype(int)
        ).all()
