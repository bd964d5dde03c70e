"""`components`: ANOVA of a grid of runs against known effects, statsmodels and other routes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from plain_tables import words

import steadyrank as sr
from steadyrank.stats.anova.balanced import anova
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tukey import tukey_hsd
from steadyrank.studies.components.view import VIEW

LEVELS = {
    "stop_list": ("none", "smart"),
    "stemmer": ("none", "porter", "lovins"),
    "model": ("bm25", "pl2", "lm", "dph"),
}
N_TOPICS = 12


def notes_of(result):
    return VIEW.json([result])["notes"]


def make_scores(copies=1):
    """A full grid: the stemmer adds most, the model less, the stop list nothing."""
    rng = np.random.default_rng(0)
    cells = [cell for cell in product(*LEVELS.values()) for _ in range(copies)]
    topics = rng.uniform(0.2, 0.6, N_TOPICS)
    gains = {"porter": 0.1, "lovins": 0.05, "pl2": 0.03, "dph": 0.02}
    values = [
        topics + sum(gains.get(level, 0.0) for level in cell) + rng.normal(0, 0.05, N_TOPICS)
        for cell in cells
    ]
    return sr.Scores(
        measures=("AP",),
        runs=["-".join(cell) + f"-{i}" for i, cell in enumerate(cells)],
        topics=[f"t{i}" for i in range(N_TOPICS)],
        values=np.array(values)[None],
        run_info={name: [cell[i] for cell in cells] for i, name in enumerate(LEVELS)},
    )


@pytest.fixture(scope="module")
def scores():
    return make_scores()


@pytest.fixture(scope="module")
def result(scores):
    return sr.components(scores, factors=list(LEVELS))


@pytest.fixture(scope="module")
def published(scores):
    return sr.components(scores, factors=list(LEVELS), mode="paper")


def test_tests_speak_of_other_topics_unless_the_published_ones_are_asked_for(scores, result):
    """Against interactions with topics by default; one residual in mode paper, or by its strata."""
    assert (result.mode, result.strata) == ("sound", "topic")
    assert result.anova.source("stemmer").tested_against == "error(topic:stemmer)"
    assert "for other topics" in notes_of(result)[0]
    for options in ({"mode": "paper"}, {"strata": "none"}):
        found = sr.components(scores, factors=list(LEVELS), **options)
        assert found.strata == "none"
        assert found.anova.source("stemmer").tested_against == "error"
        assert "for these topics only" in notes_of(found)[0]
    both = sr.components(scores, factors=list(LEVELS), mode="paper", strata="topic")
    assert both.anova.source("stemmer").pvalue == result.anova.source("stemmer").pvalue


def test_the_table_is_that_of_the_grid_laid_out(scores, published):
    result = published
    grid = scores.values[0].reshape(2, 3, 4, N_TOPICS)
    assert [line.source for line in result.anova.sources] == words(
        "topic stop_list stemmer model stop_list:stemmer stop_list:model stemmer:model "
        "stop_list:stemmer:model error total"
    )
    names = [line.source for line in result.anova.sources[1:8]]
    expected = anova(grid, factors=[*LEVELS, "topic"], effects=names, block="topic")
    for line in expected.sources:
        assert result.anova.source(line.source).ss == pytest.approx(line.ss)
    assert [line.df for line in result.anova.sources] == [11, 1, 2, 3, 2, 3, 6, 6, 253, 287]
    assert (result.n_runs, result.n_replicates, result.n_topics) == (24, 1, 12)


def test_statsmodels_is_a_witness(scores, published):
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    frame = scores.to_frame().merge(pd.DataFrame({"run": scores.runs, **scores.run_info}))
    model = "value ~ C(topic) + C(stop_list) * C(stemmer) * C(model)"
    expected = anova_lm(ols(model, frame).fit(), typ=2)
    for line in published.anova.sources[:-2]:
        other = ":".join(f"C({name})" for name in line.source.split(":"))
        assert line.ss == pytest.approx(expected["sum_sq"][other])
        assert line.statistic == pytest.approx(expected["F"][other])
        assert line.pvalue == pytest.approx(expected["PR(>F)"][other], rel=1e-6)


def test_effects_come_out_as_they_were_put_in(result):
    sizes = [result.anova.source(name).omega_squared for name in ("stemmer", "model", "stop_list")]
    assert sizes[0] > 0.14 > sizes[1] > 0.01 > sizes[2]
    assert [level for level, _ in result.ordered_levels("stemmer")] == ["porter", "lovins", "none"]
    stemmers = result.main_effects["stemmer"]
    assert stemmers.significant.all()
    assert stemmers.difference[0] == pytest.approx(-0.1, abs=0.02)  # none - porter
    assert not result.main_effects["stop_list"].significant.any()


def test_findings_name_the_largest_effect_and_the_best_levels(result):
    said = VIEW.findings([result])
    assert [finding.id.removeprefix("components.") for finding in said] == words(
        "largest best.stemmer interaction best.model best.stop_list"
    )
    largest, best = said[0].values, said[1].values
    assert (largest["component"], largest["measure"]) == ("stemmer", "AP")
    assert largest["omega_squared"] == {
        name: result.anova.source(name).omega_squared for name in ("stemmer", "model", "stop_list")
    }
    assert (best["level"], best["n_others"], best["n_significantly_worse"]) == ("porter", 2, 2)
    assert best["mean"] == result.ordered_levels("stemmer")[0][1]


def test_components_that_interact_are_named():
    scores = make_scores()
    values = scores.values.copy()
    both = [run.startswith("smart-porter") for run in scores.runs]
    values[0, both] += 0.1
    found = sr.components(replace(scores, values=values), factors=list(LEVELS))
    (said,) = [each for each in VIEW.findings([found]) if each.id == "components.interaction"]
    size = found.anova.source("stop_list:stemmer").omega_squared
    assert said.values["omega_squared"]["stop_list:stemmer"] == size > 0.01


def test_the_order_of_runs_does_not_matter(result):
    rng = np.random.default_rng(5)
    scores = make_scores()
    order = rng.permutation(24)
    mixed = scores.select(runs=[scores.runs[i] for i in order])
    found = sr.components(mixed, factors=list(LEVELS))
    for line in result.anova.sources:
        assert found.anova.source(line.source).ss == pytest.approx(line.ss, rel=1e-9)
    assert dict(found.ordered_levels("model")) == pytest.approx(
        dict(result.ordered_levels("model"))
    )


def test_one_factor_is_the_two_way_layout_of_runs(scores):
    few = scores.select(runs=[run for run in scores.runs if run.startswith("none-none")])
    found = sr.components(few, factors="model")
    expected = tukey_hsd(few.matrix(), all_pairs(4))
    table = anova(few.matrix(), factors=("run", "topic"), effects=("run",), block="topic")
    line = found.anova.source("model")
    assert line.statistic == pytest.approx(table.source("run").statistic)
    np.testing.assert_allclose(found.main_effects["model"].pvalue, expected.pvalue, rtol=1e-7)
    for strata in ("none", "topic"):
        other = sr.components(few, factors="model", strata=strata).anova.source("model")
        assert other.pvalue == pytest.approx(line.pvalue)


def test_strata_speak_of_other_topics(scores):
    """Each factor alone, over the means of the others, against topics."""
    found = sr.components(scores, factors=list(LEVELS), strata="topic")
    grid = scores.values[0].reshape(2, 3, 4, N_TOPICS)
    for axis, name in enumerate(LEVELS):
        means = grid.mean(axis=tuple(i for i in range(3) if i != axis))
        table = anova(means, factors=[name, "topic"], effects=[name], block="topic")
        line = found.anova.source(name)
        assert line.statistic == pytest.approx(table.source(name).statistic)
        assert line.tested_against == f"error(topic:{name})"
    full = found.anova.source("stop_list:stemmer:model")
    assert full.tested_against == "error"
    assert found.anova.source("error").df == 6 * 11


def test_runs_alike_in_all_factors_are_replicates():
    scores = make_scores(copies=2)
    found = sr.components(scores, factors=list(LEVELS), mode="paper")
    assert found.n_replicates == 2
    assert found.anova.source("error").df == 2 * 24 * 12 - 1 - 23 - 11
    by_topic = sr.components(scores, factors=list(LEVELS), strata="topic").anova
    full = by_topic.source("stop_list:stemmer:model")
    assert full.tested_against == "error(topic:stop_list:stemmer:model)"
    fewer = sr.components(make_scores(), factors=["stop_list", "stemmer"])
    assert fewer.n_replicates == 4


def test_incomplete_topics_are_left_out_and_counted(scores):
    values = scores.values.copy()
    values[0, 3, 5] = np.nan
    with pytest.warns(sr.SteadyrankWarning, match="1 of 12 topics is left out"):
        found = sr.components(replace(scores, values=values), factors=list(LEVELS))
    assert (found.n_topics, found.n_dropped) == (11, 1)
    values[0, 0, 1:] = np.nan
    with pytest.raises(sr.InputError, match="at least 2 topics that every run has, got 1 of 12"):
        sr.components(replace(scores, values=values), factors=list(LEVELS))


def test_an_incomplete_grid_is_refused_by_name(scores):
    lacking = scores.select(runs=scores.runs[:-1])
    with pytest.raises(sr.InputError) as told:
        sr.components(lacking, factors=list(LEVELS))
    message = str(told.value)
    assert "unbalanced: 1 of 24 combinations" in message
    assert "stop_list=smart, stemmer=lovins, model=dph, 0 instead of 1" in message
    assert "order of the effects" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factors": ["model", "model"]}, "each once, got model, model"),
        ({"factors": ["models"]}, "unknown factor 'models': did you mean 'model'"),
        ({"strata": "topics"}, "did you mean 'topic'"),
        ({"measure": "nDCG"}, "unknown measure 'nDCG'"),
        ({"confidence": 0.0}, "confidence must lie strictly between"),
    ],
)
def test_wrong_input_is_refused_by_name(scores, options, message):
    with pytest.raises(sr.InputError, match=message):
        sr.components(scores, **{"factors": list(LEVELS), **options})


def test_runs_must_say_what_they_are_made_of(scores):
    with pytest.raises(sr.InputError, match="there is no information about the runs"):
        sr.components(replace(scores, run_info={}), factors="model")
    same = scores.with_run_info(track=["web"] * 24)
    with pytest.raises(sr.InputError, match=r"every run has the same track \('web'\)"):
        sr.components(same, factors=["model", "track"])
    clash = scores.with_run_info(topic=list(scores.run_info["model"]))
    with pytest.raises(sr.InputError, match="cannot be named 'topic'"):
        sr.components(clash, factors="topic")
