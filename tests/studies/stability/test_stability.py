"""`stability`: the G-study and D-study of a collection, for people and programs."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from golden_cases import golden

import steadyrank as sr
from steadyrank.data.track.simulated import TrackModel
from steadyrank.stats.anova.gstudy import nested_components, variance_components
from steadyrank.studies.stability.view import VIEW

stability_json, stability_text = VIEW.json, VIEW.text

CASE = golden("gtheory_crossed")


def scores_of(matrix, **info):
    matrix = np.asarray(matrix, float)
    return sr.Scores(
        measures=["AP"],
        runs=[f"run{i}" for i in range(len(matrix))],
        topics=[str(t) for t in range(matrix.shape[1])],
        values=[matrix],
        run_info=info,
    )


@pytest.fixture
def reference():
    return scores_of(np.array(CASE["inputs"]["scores"]).T)


def test_the_case_of_r(reference):
    result = sr.stability(reference, n_topics=[50])
    expected, close = CASE["expected"], CASE["tolerance"]
    assert isinstance(result, sr.StabilityResult)
    assert result.components.variance == pytest.approx(expected["variance"], abs=close)
    assert result.e_rho2 == pytest.approx(expected["e_rho2_at"]["n12"], abs=close)
    assert result.phi == pytest.approx(expected["phi_at"]["n12"], abs=close)
    assert [found.topics for found in result.coefficients] == [12, 50]
    assert result.coefficients[1].e_rho2 == pytest.approx(expected["e_rho2_at"]["n50"], abs=close)
    needed = {each.level: each for each in result.topics_needed}
    assert list(needed) == [0.8, 0.9, 0.95]
    assert needed[0.95].e_rho2 == expected["topics_for_e_rho2_0.95"]
    assert needed[0.95].phi == expected["topics_for_phi_0.95"]
    for each in needed.values():
        assert each.e_rho2_interval[0] <= each.e_rho2 <= each.e_rho2_interval[1]
        assert each.phi_interval[0] <= each.phi <= each.phi_interval[1]


def test_levels_and_numbers_of_topics_undo_each_other(reference):
    result = sr.stability(reference, levels=[0.9])
    again = sr.stability(
        reference, n_topics=[result.topics_needed[0].phi, result.topics_needed[0].phi - 1]
    )
    _, enough, short = again.coefficients
    assert enough.phi >= 0.9 > short.phi


def test_data_that_cannot_be_split_are_refused():
    with pytest.raises(sr.InputError, match="at least 2 systems, 2 topics"):
        sr.stability(scores_of([[0.1, 0.2, 0.3]]))
    with pytest.raises(sr.InputError, match="at least 2 systems, 2 topics"):
        sr.stability(scores_of([[0.1], [0.2]]))
    with pytest.raises(sr.InputError, match="every score is the same"):
        sr.stability(scores_of(np.full((3, 4), 0.3)))


def test_systems_that_do_not_differ_need_endless_topics():
    with pytest.warns(sr.SteadyrankWarning, match="negative estimates count as 0: system"):
        result = sr.stability(scores_of([[0.2, 0.8] * 4, [0.8, 0.2] * 4]))
    assert result.components.raw["system"] < 0
    assert result.topics_needed[0].e_rho2 == math.inf
    text = stability_text([result], "table")
    assert re.search(r"0\.8 +none", text)
    assert "counts as 0" in text
    shown = json.loads(stability_text([result], "json"))
    assert shown["topics_needed"][0]["e_rho2"] is None
    assert shown["variance"]["system"] == 0
    assert shown["variance_raw"]["system"] < 0


def test_text_and_json(reference):
    result = sr.stability(reference, n_topics=[50])
    shown = stability_json([result])
    assert list(shown)[:4] == ["variance", "e_rho2", "phi", "topics_needed"]
    assert list(shown["topics_needed"][0])[:3] == ["level", "e_rho2", "phi"]
    assert shown["d_study"][1]["topics"] == 50
    assert sum(result.variance_share.values()) == pytest.approx(1)
    (said,) = shown["findings"]
    assert (said["id"], said["values"]["e_rho2"]) == ("stability.coefficients", shown["e_rho2"])
    assert result.to_frame()["topics"].tolist() == [12, 50]


def test_one_broken_run_carries_the_coefficient():
    """Twenty close runs and a broken one: nearly all of E rho² is that one's."""
    rng = np.random.default_rng(5)
    runs = 0.4 + rng.normal(0, 0.1, 30) + rng.normal(0, 0.08, (21, 30))
    runs[20] = rng.uniform(0, 0.01, 30)
    result = sr.stability(scores_of(runs))
    left = result.leave_one_out
    assert result.e_rho2 > 0.9
    assert left.system == "run20"
    assert left.carried
    assert left.e_rho2_without == left.e_rho2[0] < 0.5
    assert "depends on one system: without run20" in stability_text([result], "table")
    # Without it no run stands out: nothing carries what is left.
    rest = sr.stability(scores_of(0.02 * np.arange(20)[:, None] + runs[:20]))
    assert not rest.leave_one_out.carried
    assert "depends on one system" not in stability_text([rest], "table")


@pytest.mark.parametrize("missing", [False, True])
def test_systems_left_out_are_left_out(missing):
    """Against a G-study of the remaining runs, on the topics that all runs have."""
    rng = np.random.default_rng(6)
    matrix = rng.random((9, 14)) + 3 * rng.random(14) + 0.05 * np.arange(9)[:, None]
    if missing:
        matrix[4, 3] = np.nan
    kept = matrix[:, ~np.isnan(matrix).any(axis=0)]
    result = sr.stability(scores_of(matrix))
    n = kept.shape[1]
    without = [variance_components(np.delete(kept, i, axis=0)) for i in range(9)]
    e_rho2, phi = [g.e_rho2(n) for g in without], [g.phi(n) for g in without]
    left = result.leave_one_out
    assert left.e_rho2 == pytest.approx((min(e_rho2), max(e_rho2)), rel=1e-9)
    assert left.phi == pytest.approx((min(phi), max(phi)), rel=1e-9)
    worst = int(np.argmax(np.abs(np.array(e_rho2) - result.e_rho2)))
    assert left.system == f"run{worst}"
    assert left.e_rho2_without == pytest.approx(e_rho2[worst], rel=1e-9)


def test_few_systems_have_none_to_leave_out():
    rng = np.random.default_rng(7)
    for m in (3, 4):
        matrix = rng.random((m, 10)) + 3 * rng.random(10) + np.arange(m)[:, None]
        assert (sr.stability(scores_of(matrix)).leave_one_out is None) == (m == 3)


# Systems with instances.


def matrix_of(m=4, n=12, k=3, seed=0):
    """Scores [run, topic] of m systems with k runs each, all kinds of effects."""
    rng = np.random.default_rng(seed)
    parts = [(m, 1, 1), (1, 1, n), (m, k, 1), (m, 1, n), (m, k, n)]
    sds = [0.1, 0.15, 0.03, 0.05, 0.03]
    cube = sum(rng.normal(0, sd, shape) for sd, shape in zip(sds, parts, strict=True))
    return cube.reshape(m * k, n)


SYSTEMS = [f"s{i // 3}" for i in range(12)]


@pytest.fixture
def nested():
    return scores_of(matrix_of(), system=SYSTEMS)


def test_runs_of_a_system_are_its_instances(nested):
    result = sr.stability(nested, n_topics=[50])
    expected = nested_components(nested.matrix(), SYSTEMS)
    assert result.components == expected
    assert result.instances == (3, 1, 2, 5, 10)
    designs = [(found.topics, found.instances) for found in result.coefficients]
    assert designs == [(n, k) for n in (12, 50) for k in (3, 1, 2, 5, 10)]
    for found in result.coefficients:
        assert found.e_rho2 == expected.e_rho2(found.topics, found.instances)
        assert found.phi_interval[0] <= found.phi <= found.phi_interval[1]
    assert (result.e_rho2, result.phi) == (expected.e_rho2(12, 3), expected.phi(12, 3))
    needed = {(each.level, each.instances): each for each in result.topics_needed}
    assert len(needed) == 15
    assert needed[0.9, 2].e_rho2 == expected.topics_for_e_rho2(0.9, 2)
    assert needed[0.9, 1].e_rho2 >= needed[0.9, 2].e_rho2 >= needed[0.9, 5].e_rho2
    assert result.d_study([50], [2]) == (result.coefficients[7],)


def test_runs_of_one_system_are_refused():
    with pytest.raises(sr.InputError, match="all 12 runs are of one system, one"):
        sr.stability(scores_of(matrix_of(), system=["one"] * 12))


def test_numbers_of_instances_are_checked(nested):
    with pytest.raises(sr.InputError, match="instances must be whole numbers of at least 1, got 0"):
        sr.stability(nested, n_instances=[0])
    with pytest.raises(sr.InputError, match="require systems with several runs each"):
        sr.stability(scores_of(matrix_of()), n_instances=[3])


def test_negative_components_are_warned_of():
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 0.1, (12, 10))
    noise -= noise.mean(axis=1, keepdims=True)
    scores = scores_of(noise + np.repeat(np.arange(4), 3)[:, None], system=SYSTEMS)
    with pytest.warns(sr.SteadyrankWarning, match=r"AP: negative estimates count as 0: .*instance"):
        result = sr.stability(scores)
    assert result.components.raw["instance"] < 0
    assert result.components.variance["instance"] == 0
    shown = json.loads(stability_text([result], "json"))
    assert shown["variance_raw"]["instance"] < 0 == shown["variance"]["instance"]


# The simulated track: normal effects of known variances behind every score.

N_TRACKS = 60


def tracks(**sizes):
    small = {"depth": 5, "pool_depth": 1, "n_candidates": 24, "n_topics": 15}
    return [sr.simulated_track(**small, **sizes, rng=seed) for seed in range(N_TRACKS)]


def g_study(track):
    """The components found in signals; without the D-study's grid, which costs more."""
    options = {} if track.truth.design.n_instances == 1 else {"n_instances": []}
    return sr.stability(signals(track), levels=[], **options).components.raw


def signals(track):
    """The sum of effects of every run on every topic, as scores."""
    truth = track.truth
    return sr.Scores(
        measures=["signal"],
        runs=[run.name for run in track.runs],
        topics=truth.topics,
        values=[truth.signals],
        run_info={"system": [run.info["system"] for run in track.runs]},
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:signal. negative estimates")
@pytest.mark.parametrize("instances", [1, 3])
def test_the_tracks_components_are_recovered(instances):
    # A team of one system is a system. Means of 60 tracks against the model's variances; the
    # spread of the tracks gives standard errors, and t with 59 degrees of freedom leaves 4.2 of
    # them once in 11,000: 8 components, a false alarm with one seed in 1,400.
    model = TrackModel()
    truth, crossed = {"system": model.team + model.system, "topic": model.topic}, model.team_topic
    crossed += model.system_topic
    if instances == 1:
        truth["residual"] = crossed
    else:
        truth |= {"system_topic": crossed, "instance": model.instance}
        truth["residual"] = model.instance_topic
    found = [g_study(track) for track in tracks(n_teams=8, runs_per_team=1, n_instances=instances)]
    for name, value in truth.items():
        each = np.array([raw[name] for raw in found])
        error = each.std(ddof=1) / math.sqrt(N_TRACKS)
        assert abs(each.mean() - value) < 4.2 * error
        assert error < 0.12 * value or name == "instance"


def test_systems_of_a_team_are_alike_and_count_so():
    # Two systems of each of four teams: of the variance between 8 systems, teams take off their
    # covariance within pairs, 1 / 7 of the team's variance. Band as above: one seed in 11,000.
    model = TrackModel()
    expected = model.system + model.team * (1 - 1 / 7)
    found = [
        g_study(track)["system"] for track in tracks(n_teams=4, runs_per_team=2, n_instances=1)
    ]
    assert abs(np.mean(found) - expected) < 4.2 * np.std(found, ddof=1) / math.sqrt(N_TRACKS)


@pytest.mark.slow
def test_systems_expected_average_precision_varies_as_stability_says():
    # From 30 topics: the system component of AP against the variance of means over 400 others.
    # 16 tracks; t with 15 degrees of freedom leaves 4.5 standard errors once in 2,400.
    off, sizes = [], []
    for seed in range(16):
        design = {"n_teams": 10, "runs_per_team": 1, "n_topics": 430, "n_instances": 2}
        track = sr.simulated_track(**design, depth=60, pool_depth=5, rng=seed)
        scores = sr.evaluate(track.runs, track.complete, "AP")
        few = scores.select(topics=scores.topics[:30])
        found = sr.stability(few, levels=[], n_instances=[]).components.raw
        means = scores.values[0, :, 30:].mean(axis=1).reshape(10, 2).mean(axis=1)
        expected = means.var(ddof=1)
        off.append(found["system"] - expected)
        sizes.append(expected)
    error = np.std(off, ddof=1) / 4
    assert abs(np.mean(off)) < 4.5 * error
    assert error < 0.2 * np.mean(sizes)


def test_a_system_is_left_out_with_all_its_instances(nested):
    result = sr.stability(nested, levels=[0.9])
    systems = nested.run_info["system"]
    without = {}
    for name in dict.fromkeys(systems):
        kept = [run for run, own in zip(nested.runs, systems, strict=True) if own != name]
        g = sr.stability(nested.select(runs=kept), levels=[0.9]).components
        without[name] = g.e_rho2(12, 3)
    left = result.leave_one_out
    assert left.e_rho2 == pytest.approx((min(without.values()), max(without.values())))
    assert left.e_rho2_without == pytest.approx(without[left.system])
