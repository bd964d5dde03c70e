"""`sr.battles`: decisions of a plain loop over its parts, and what it does with odd battles."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import steadyrank as sr
from steadyrank.stats.pairs.max_t import max_t


def battles(*rows, **columns):
    a, b, outcome = zip(*rows, strict=True)
    return sr.Battles.from_rows(a, b, outcome, **columns)


def drawn(**how):
    return sr.simulated_battles(**{"n_models": 4, "n_prompts": 60, "rng": 3, **how})


def test_errors_of_pairs_are_those_of_a_generalised_linear_model_with_clusters():
    found = drawn(position=0.4)
    result = sr.battles(found)
    rows = np.arange(len(found))
    x = np.zeros((len(found), 5))
    x[rows, found.a], x[rows, found.b], x[:, 4] = 1.0, -1.0, 1.0
    prompts, names = found.codes("prompt")
    cov = {"groups": prompts, "use_correction": False}
    glm = sm.GLM(found.outcome, x[:, 1:], family=sm.families.Binomial())
    other = glm.fit(cov_type="cluster", cov_kwds=cov, tol=1e-12)
    own = other.cov_params()[:3, :3] * len(names) / (len(names) - 1)
    np.testing.assert_allclose(result.difference[:3], -other.params[:3], atol=1e-7)
    np.testing.assert_allclose(result.difference_error[:3], np.sqrt(np.diag(own)), rtol=1e-6)
    last = np.sqrt(own[0, 0] + own[1, 1] - 2 * own[0, 1])
    np.testing.assert_allclose(result.difference_error[3], last, rtol=1e-6)
    plain = glm.fit(tol=1e-12).bse[:3]
    np.testing.assert_allclose(result.difference_error_independent[:3], plain, rtol=1e-6)
    assert result.position.estimate == pytest.approx(other.params[3], abs=1e-7)


def test_decisions_are_those_of_max_t_on_pseudo_values():
    result = sr.battles(drawn(spread=0.3), n_samples=999, rng=5)
    plain = max_t(result.values, result.pairs, n_samples=999, seed=5)
    assert result.pvalue_adjusted.tolist() == plain.pvalue.tolist()
    wins = (plain.pvalue <= 0.05) & (result.difference != 0.0)
    assert result.significant.tolist() == wins.tolist()
    np.testing.assert_allclose(result.values.mean(axis=1), result.strength, atol=1e-9)
    excludes = ~((result.interval[:, 0] <= 0.0) & (result.interval[:, 1] >= 0.0))
    assert excludes.tolist() == result.significant.tolist()


def test_own_ranks_lie_inside_those_that_hold_at_once():
    for seed in range(5):
        result = sr.battles(drawn(n_models=6, n_prompts=25, spread=0.5, rng=seed), n_samples=499)
        own, together = result.rank_set, result.rank_set_simultaneous
        assert (own[:, 0] >= together[:, 0]).all()
        assert (own[:, 1] <= together[:, 1]).all()
        assert (np.diff(result.tier[result.order]) >= 0).all()


def test_the_order_of_rows_and_of_sides_changes_nothing():
    found = drawn(tie_share=0.2, position=0.5)
    mixed = np.random.default_rng(0).permutation(len(found))
    first, second = sr.battles(found), sr.battles(found.take(mixed))
    np.testing.assert_allclose(first.strength, second.strength, atol=1e-9)
    np.testing.assert_allclose(first.pvalue_adjusted, second.pvalue_adjusted, atol=1e-12)
    turned = sr.Battles(
        models=found.models, a=found.b, b=found.a, outcome=1 - found.outcome, prompt=found.prompt
    )
    third = sr.battles(turned)
    np.testing.assert_allclose(first.strength, third.strength, atol=1e-9)
    assert first.position.estimate == pytest.approx(-third.position.estimate)


def test_repeated_battles_on_a_prompt_are_no_new_evidence():
    found = drawn()
    again = found.take(np.tile(np.arange(len(found)), 5))
    once, five = sr.battles(found), sr.battles(again)
    np.testing.assert_allclose(once.difference_error, five.difference_error, rtol=1e-9)
    np.testing.assert_allclose(
        once.difference_error_independent, np.sqrt(5) * five.difference_error_independent, rtol=1e-6
    )
    assert five.design_ratio == pytest.approx(np.sqrt(5) * once.design_ratio, rel=1e-6)


def test_judges_that_judged_everything_are_a_panel():
    found = drawn(n_judges=5, judge_sd=1.0, spread=0.4, position=0.3)
    result = sr.battles(found)
    assert (result.judging, result.by_judges) == ("panel", ", by these five judges")
    others = result.other_judges
    assert (others.standard_error >= result.difference_error - 1e-12).all()
    assert others.standard_error.mean() > 1.5 * result.difference_error.mean()
    assert (others.could_be_first >= result.could_be_first).all()
    assert (others.rank_set[:, 0] <= result.rank_set[:, 0]).all()
    assert not (others.significant & ~result.significant).any()
    assert sr.battles(found, fixed="judge").other_judges is None
    by_judge = np.array([one.strength for one in result.by_judge])
    np.testing.assert_allclose(by_judge.mean(axis=0), result.strength, atol=0.25)


def test_many_voters_are_a_second_way_of_clustering():
    found = drawn(n_prompts=100)
    voters = [f"v{k % 30}" for k in range(len(found))]
    voted = sr.Battles.from_rows(
        [found.models[i] for i in found.a],
        [found.models[i] for i in found.b],
        found.outcome,
        prompt=found.prompt,
        judge=voters,
    )
    result = sr.battles(voted)
    assert (result.judging, result.drawn) == ("voters", "30 voters and 100 prompts")
    assert sr.battles(voted, cluster="prompt").drawn == "100 prompts"
    assert sr.battles(voted, cluster="voter").drawn == "30 voters"
    assert result.by_judges == ""


def test_a_control_removes_what_it_explains():
    rng = np.random.default_rng(2)
    n, longer = 4000, rng.normal(0.0, 1.0, 4000)
    # x writes more and is no better: judges prefer the longer answer.
    first = rng.random(n) < 0.5
    length_x, length_y = np.exp(5.0 + 0.5 + longer), np.exp(np.full(n, 5.0))
    won = rng.random(n) < 1 / (1 + np.exp(-(np.log1p(length_x) - np.log1p(length_y))))
    sides = np.where(first[:, None], [["x", "y"]], [["y", "x"]])
    lengths = np.where(first, length_x, length_y), np.where(first, length_y, length_x)
    found = sr.Battles.from_rows(
        *sides.T,
        np.where(first, won, ~won).astype(float),
        prompt=[str(k % 200) for k in range(n)],
        covariates={"length": lengths},
    )
    plain, controlled = sr.battles(found), sr.battles(found, control="length")
    x = plain.runs.index("x")
    assert plain.strength[x] > 0.1
    assert abs(controlled.strength[x]) < 0.1
    (effect,) = controlled.controls
    assert effect.estimate > 10 * effect.standard_error
    assert effect.moved == pytest.approx(
        controlled.strength[controlled.runs.index(effect.run)]
        - plain.strength[plain.runs.index(effect.run)]
    )
    told = {one["id"]: one["values"] for one in plain.to_dict()["findings"]}
    first = [found.runs[found.order[0]] for found in (plain, controlled)]
    expected = {"leader": first[1], "otherwise": first[0]} if first[0] != first[1] else None
    assert told.get("battles.controls_leader") == expected
    with pytest.raises(sr.UnknownNameError, match="length"):
        sr.battles(found, control="lengt")


def test_davidson_has_ties_of_its_own():
    found = drawn(tie_share=0.3)
    half, own = sr.battles(found), sr.battles(found, ties="davidson")
    # The share of wins, ties as half of one, is what both fit.
    np.testing.assert_allclose(half.win_rate, own.win_rate, atol=0.01)
    assert (np.abs(own.strength) > np.abs(half.strength)).all()
    assert half.turned["ties"] == 0.0


def test_a_baseline_is_one_family():
    result = sr.battles(drawn(), baseline="m2")
    assert len(result.pairs) == 3
    assert {result.runs[b] for _, b in result.pairs} == {"m2"}
    rows = result.run_rows()
    assert [row["rank_set"] for row in rows] == [None] * 4
    assert "significantly beat m2" in result.summary()


@pytest.mark.parametrize(
    ("rows", "columns", "said"),
    [
        (
            [("x", "y", 1), ("y", "x", 0), ("y", "x", 1), ("u", "v", 1)] * 3,
            {"prompt": [*"aabb"] * 3},
            "battles do not connect all models: the largest group, 2 models, is ranked without",
        ),
        ([("x", "y", 1), ("y", "x", 0)] * 6, {"prompt": [*"aabbcc"] * 2}, "x never lost and y"),
        ([("x", "y", 1), ("y", "x", 1)] * 6, {}, "no prompts are named"),
        (
            [("x", "y", 1), ("y", "x", 1)] * 3,
            {"prompt": [*"abcdef"], "judge": [*"uvwxyz"]},
            "each prompt has one battle, and each voter one vote",
        ),
        (
            [("x", "y", 1), ("y", "x", 1)] * 6,
            {"prompt": [*"aabbcc"] * 2, "judge": [*"abcdefghijkl"]},
            "each of 12 voters has one vote",
        ),
        ([("x", "y", 1), ("x", "y", 0)] * 6, {"prompt": [*"aabbcc"] * 2}, "in both orders"),
        ([("x", "y", 1), ("y", "x", 1)] * 6, {}, "given position, some pairs always end alike"),
    ],
)
def test_what_was_done_with_odd_battles_is_one_line(rows, columns, said):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sr.battles(battles(*rows, **columns), n_samples=99)
    lines = [str(one.message) for one in told]
    assert sum(said in line for line in lines) == 1, lines
    assert all("\n" not in line for line in lines)


def test_a_group_that_is_left_out_is_named():
    rows = [("x", "y", 1), ("y", "x", 1), ("y", "x", 0), ("x", "y", 0), ("u", "v", 1)] * 3
    with pytest.warns(sr.SteadyrankWarning, match="connect"):
        result = sr.battles(battles(*rows, prompt=[*"aabbc"] * 3))
    assert (result.runs, result.others, result.n_battles) == (("x", "y"), (("u", "v"),), 12)
    assert result.to_dict()["connected"] is False


def test_the_next_battles_are_for_the_undecided_and_on_prompts_that_they_lack():
    found = drawn(n_models=3, n_prompts=40, strengths=[1.0, 1.0, -3.0])
    kept = ~((found.a != 2) & (found.b != 2) & (np.arange(len(found)) % 40 < 20))
    result = sr.battles(found.take(np.flatnonzero(kept)), next_battles=10)
    pairs = [{a, b} for a, b, _ in result.next_battles]
    assert pairs.count({"m1", "m2"}) >= 8
    prompts = [prompt for a, b, prompt in result.next_battles if {a, b} == {"m1", "m2"}]
    fought = {
        prompt
        for a, b, prompt in zip(found.a, found.b, found.prompt, strict=True)
        if kept[0] is None and {a, b} == {0, 1}
    }
    assert not fought & {*prompts}
    assert len({*prompts} - {""}) == len([p for p in prompts if p])


def test_frames_and_other_names_of_columns(tmp_path):
    votes = ["model_a", "x", "model_b", "y", None] * 4
    frame = pd.DataFrame({"left": [*"xy"] * 10, "right": [*"yx"] * 10, "vote": votes})
    names = {"model_a": "left", "model_b": "right", "winner": "vote"}
    with (
        pytest.warns(sr.SteadyrankWarning, match="no prompts"),
        pytest.warns(sr.SteadyrankWarning, match="4 battles with no winner left out"),
    ):
        result = sr.battles(frame, columns=names)
    assert result.n_battles == 16
    frame.to_parquet(tmp_path / "v.parquet")
    with (
        pytest.warns(sr.SteadyrankWarning, match="no prompts"),
        pytest.warns(sr.SteadyrankWarning, match=r"v\.parquet: 4 battles with no winner left out"),
    ):
        again = sr.battles(tmp_path / "v.parquet", columns=names)
    assert again.strength.tolist() == result.strength.tolist()
    with pytest.raises(sr.InputError, match="no column 'votes'"):
        sr.battles(frame, columns={**names, "winner": "votes"})


def test_a_result_is_shown_everywhere(tmp_path):
    result = sr.battles(drawn(n_judges=3, tie_share=0.1), next_battles=3)
    found = result.to_dict()
    assert found["n_battles"] == result.n_battles
    assert {"run", "strength", "win_rate", "rank_set", "could_be_first", "tier", "battles"} <= {
        *found["runs"][0]
    }
    assert result.to_csv().splitlines()[0] == "model_a,model_b,prompt"
    assert "Bradley–Terry" in result.describe()
    for kind in ("ranks", "matrix"):
        sr.plot(result, kind=kind).savefig(tmp_path / f"{kind}.svg")
    assert "m1" in result.to_latex()
    assert "<table" in result._repr_html_()


def test_a_report_has_the_battles_and_their_bars(tmp_path):
    rng = np.random.default_rng(0)
    found = drawn(n_judges=3, tie_share=0.1, position=0.2)
    lengths = tuple(rng.integers(100, 2000, len(found)).astype(float) for _ in "ab")
    held = sr.Battles(
        models=found.models,
        a=found.a,
        b=found.b,
        outcome=found.outcome,
        prompt=found.prompt,
        judge=found.judge,
        covariates={"length": lengths},
    )
    result = sr.report(held, out=tmp_path / "r.html", budget="1s")
    assert list(result.results) == ["battles"]
    bars = [bar.about for bar in result.page.first.bars]
    assert sorted(bars) == [
        "Other judges",
        "Other prompts",
        "Ties otherwise",
        "Without position and length",
    ]
    assert result.page.subtitle == "2,160 battles of 4 models on 60 prompts by 3 judges"
    assert result.left_out["compare"] == "requires scores; battles of pairs of models were given"


def test_simulated_battles_have_the_design_that_is_asked_for():
    assert len(sr.simulated_battles(4, 10)) == 120
    star = sr.simulated_battles(4, 10, design="star")
    assert len(star) == 60
    assert ((star.a == 0) | (star.b == 0)).all()
    assert len(sr.simulated_battles(4, 10, design="sparse", n_judges=2)) == 80
    found = sr.simulated_battles(3, 4000, strengths=[0.5, 0.0, -0.5], prompt_sd=0.0, rng=1)
    np.testing.assert_allclose(sr.battles(found, n_samples=19).strength, [0.5, 0, -0.5], atol=0.05)
    with pytest.raises(sr.InputError, match="strengths has 2 entries for 3 models"):
        sr.simulated_battles(3, 10, strengths=[1.0, 2.0])


@pytest.mark.slow
@pytest.mark.parametrize("design", ["full", "star", "sparse"])
def test_the_level_of_all_pairs_and_the_coverage_hold(design):
    """Six equal models, 40 prompts, 200 experiments: .08 is exceeded by chance in 3% at .05."""
    any_claim = covered = position = 0
    for seed in range(200):
        found = sr.simulated_battles(
            6, 40, strengths=[0.0] * 6, design=design, prompt_sd=1.0, rng=seed
        )
        result = sr.battles(found, n_samples=299, rng=seed)
        any_claim += bool(result.significant.any())
        t = np.abs(result.difference[0]) / result.difference_error[0]
        position += bool(result.position is not None and result.position.pvalue <= 0.05)
        covered += bool(t <= 2.0227)  # Student's quantile on 39 degrees of freedom
    assert any_claim <= 0.08 * 200
    assert position <= 0.08 * 200
    assert covered >= 0.92 * 200
