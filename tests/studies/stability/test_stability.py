"""`stability`: the G-study and D-study of a collection, for people and programs."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from golden_cases import golden

import steadyrank as sr
from steadyrank.stats.anova.gstudy import variance_components
from steadyrank.studies.stability.view import VIEW

stability_json, stability_text = VIEW.json, VIEW.text

CASE = golden("gtheory_crossed")


def scores_of(matrix, measures=("AP",)):
    matrix = np.asarray(matrix, float)
    return sr.Scores(
        measures=measures,
        runs=[f"run{i}" for i in range(len(matrix))],
        topics=[str(t) for t in range(matrix.shape[1])],
        values=[matrix] * len(measures),
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


def test_one_of_several_measures(reference):
    double = scores_of(reference.matrix(), measures=("AP", "P@10"))
    with pytest.raises(sr.InputError, match="name one of the measures AP, P@10"):
        sr.stability(double)
    with pytest.raises(sr.UnknownNameError, match="unknown measure 'APP'"):
        sr.stability(double, measure="APP")
    assert sr.stability(double, measure="P@10").measure == "P@10"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": [1.0]}, "level must lie strictly between 0 and 1"),
        ({"levels": ["high"]}, "level must be a number"),
        ({"n_topics": [0]}, "topics must be whole numbers of at least 1"),
        ({"n_topics": [2.5]}, "topics must be whole numbers of at least 1"),
        ({"confidence": 95}, "confidence must lie strictly between 0 and 1"),
    ],
)
def test_nonsense_is_refused(reference, options, message):
    with pytest.raises(sr.InputError, match=message):
        sr.stability(reference, **options)


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
    assert "8 systems × 12 topics, both random" in stability_text([result], "table")
    assert len(stability_text([result], "csv").splitlines()) == 3
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
    said = stability_text([result], "table")
    assert "E rho² depends on one system: without run20 it is 0." in said
    assert "without each system" in said
    shown = stability_json([result])
    assert shown["leave_one_out"]["system"] == "run20"
    assert shown["leave_one_out"]["carried"]
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
