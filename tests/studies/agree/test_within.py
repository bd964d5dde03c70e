"""Correlations within the levels of a component, against `agree` on each level and statsmodels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from test_agree import make_scores

import steadyrank as sr

SIZES = {"topic_sizes": [6, 15], "system_sizes": [5, 8, 20], "n_samples": 12}


def scores_with(n_systems=36, odd=0.0, seed=0):
    """Systems of three stemmers and two stop lists; one stemmer's order differs by measure."""
    scores = make_scores(n_systems, 25, seed)
    stemmer = [("none", "porter", "lovins")[i % 3] for i in range(n_systems)]
    values = scores.values.copy()
    noise = np.random.default_rng(seed + 1).normal(0, odd, values.shape[:2])
    values[:, 0::3] += noise[:, 0::3, None]
    info = {"stemmer": stemmer, "stop_list": ["a" if i % 2 else "b" for i in range(n_systems)]}
    return sr.Scores(
        measures=scores.measures,
        runs=scores.runs,
        topics=scores.topics,
        values=values,
        run_info=info,
    )


@pytest.fixture(scope="module")
def result():
    return sr.agree(scores_with(), **SIZES, n_interval_samples=0, factors=["stemmer"], rng=2)


def test_a_level_is_the_study_of_its_systems_alone(result):
    (found,) = result.components
    scores = scores_with()
    assert found.system_sizes == (5, 8)
    for k, level in enumerate(found.levels):
        names = np.array(scores.runs)[np.array(scores.run_info["stemmer"]) == level]
        alone = sr.agree(
            scores.select(runs=list(names)),
            topic_sizes=[6, 15],
            system_sizes=[5, 8],
            n_samples=12,
            n_interval_samples=0,
            rng=2,
        )
        np.testing.assert_array_equal(found.tau[:, k], alone.tau)
        np.testing.assert_array_equal(found.tau_ap[:, k], alone.tau_ap)
        assert found.mean("tau")[k] == pytest.approx(alone.tau.mean())


def test_the_anova_is_statsmodels_with_the_component_as_a_factor(result):
    """statsmodels 0.15, ordinary least squares, sums of squares of type II (balanced)."""
    smf = pytest.importorskip("statsmodels.formula.api")
    from statsmodels.stats.anova import anova_lm

    (found,) = result.components
    axes = np.indices(found.tau.shape).reshape(5, -1)
    names = ["pair", "stemmer", "topics", "systems", "subject"]
    table = pd.DataFrame(dict(zip(names, axes, strict=True)) | {"tau": found.tau.ravel()})
    mains = [f"C({name})" for name in names[:4]]
    fit = smf.ols(f"tau ~ C(subject) + ({' + '.join(mains)})**2", table).fit()
    want = anova_lm(fit, typ=2)
    own = found.anovas["tau"]
    for source, row in {
        "stemmer": "C(stemmer)",
        "measure_pair:stemmer": "C(pair):C(stemmer)",
        "stemmer:topic_size": "C(stemmer):C(topics)",
        "error": "Residual",
    }.items():
        line = own.source(source)
        assert (line.ss, line.df) == pytest.approx(want.loc[row, ["sum_sq", "df"]].tolist())
    f = want.loc["C(stemmer)", "F"]
    n, df = len(table), want.loc["C(stemmer)", "df"]
    omega = max(0.0, df * (f - 1) / (df * (f - 1) + n))
    assert own.source("stemmer").omega_squared == pytest.approx(omega)


def test_a_component_that_changes_agreement_is_told_from_one_that_does_not():
    """Noise of its own on every measure in one stemmer only; stop lists are dealt at random."""
    found = sr.agree(
        scores_with(odd=0.4), **SIZES, n_interval_samples=0, factors=["stemmer", "stop_list"]
    )
    stemmer, stop_list = found.components
    assert stemmer.pvalue("tau") == pytest.approx(1 / 20)
    assert stemmer.mean("tau")[stemmer.levels.index("none")] < stemmer.mean("tau").max() - 0.1
    assert stop_list.pvalue("tau") > 1 / 20
    effects = found.component_effects()
    assert effects[0]["omega_squared"] > 2 * effects[0]["omega_squared_random"]


def test_random_levels_are_right_about_nothing():
    """Where levels mean nothing p is uniform on 20 values: the mean of 12 within 4 errors."""
    pvalues = []
    for seed in range(12):
        scores = scores_with(24, seed=seed + 5)
        found = sr.agree(
            scores,
            topic_sizes=[12],
            system_sizes=[8],
            n_samples=6,
            n_interval_samples=0,
            factors="stop_list",
            rng=seed,
        )
        pvalues.append(found.components[0].pvalue("tau"))
    assert np.mean(pvalues) == pytest.approx(0.525, abs=4 * 0.288 / 12**0.5)


def test_mode_paper_tests_the_component(result):
    paper = sr.agree(scores_with(), **SIZES, mode="paper", factors="stemmer", rng=2)
    line = paper.components[0].anovas["tau"].source("stemmer")
    assert 0 <= line.pvalue <= 1
    assert np.isnan(result.components[0].anovas["tau"].source("stemmer").pvalue)
    strict = sr.agree(
        scores_with(), **SIZES, mode="paper", strata="subject", factors="stemmer", rng=2
    )
    line = strict.components[0].anovas["tau"].source("stemmer")
    assert line.tested_against == "error(subject:stemmer)"


def test_factors_that_cannot_be_used_are_refused():
    scores = scores_with(6)
    sizes = {"topic_sizes": [5], "system_sizes": [3], "n_samples": 3}
    with pytest.raises(sr.InputError, match="groups the levels, .*, or use stop_list"):
        sr.agree(scores, **sizes, factors="stemmer")
    with pytest.raises(sr.InputError, match="factor"):
        sr.agree(scores, **sizes, factors="stemer")
    with pytest.warns(sr.SteadyrankWarning, match="levels of stemmer have 3 systems: it is left"):
        found = sr.agree(scores, **sizes, factors=["stemmer", "stop_list"])
    assert [one.component for one in found.components] == ["stop_list"]


def test_runs_without_a_level_are_left_out_and_told():
    """Runs of unknown or rare stemmers change nothing within the levels of the others."""
    whole, sizes = scores_with(), {**SIZES, "n_interval_samples": 0}
    stemmer = list(whole.run_info["stemmer"])
    stemmer[0], stemmer[1], stemmer[4] = "", "rare", "rare"
    with pytest.warns(sr.SteadyrankWarning, match="1 of 36 runs have no stemmer|fewer than 3 runs"):
        (found,) = sr.agree(
            whole.with_run_info(stemmer=stemmer), **sizes, factors="stemmer"
        ).components
    some = [run for k, run in enumerate(whole.runs) if k not in (0, 1, 4)]
    (other,) = sr.agree(whole.select(runs=some), **sizes, factors="stemmer").components
    assert dict(zip(found.levels, found.n_systems, strict=True)) == {
        "lovins": 12,
        "none": 11,
        "porter": 10,
    }
    assert dict(zip(found.levels, found.mean("tau"), strict=True)) == pytest.approx(
        dict(zip(other.levels, other.mean("tau"), strict=True))
    )


def test_factors_come_from_names():
    plain = scores_with()
    columns = zip(plain.run_info["stemmer"], plain.run_info["stop_list"], strict=True)
    runs = tuple(f"{stemmer}_{stop}-{k}" for k, (stemmer, stop) in enumerate(columns))
    named = replace(plain, runs=runs, run_info={})
    found = sr.agree(named, **SIZES, n_interval_samples=0, factors_from="stemmer_stop-…")
    assert [one.component for one in found.components] == ["stemmer", "stop"]
