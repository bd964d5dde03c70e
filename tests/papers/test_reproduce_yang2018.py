"""Yang et al. (2018), reproduced: exhibits, verdicts, and the arithmetic of the printed figures."""

import numpy as np
import pytest
import scipy.stats
from exhibiting import check_verdicts, exhibit, values

import steadyrank as sr
from steadyrank_lab.papers import yang2018 as exhibits
from steadyrank_lab.papers.data import PaperData
from steadyrank_lab.papers.model import Work
from steadyrank_lab.papers.yang2018 import (
    RAW_SHARE,
    TABLE_1,
    n_pairs,
    printed_shares_are_counts,
    yang2018,
)

SAMPLES = 300

VERDICTS = {
    "figure-1": (True, True, True),
    # BST is not above KDE in the first bins, as the text has it: its KRCC is the higher one.
    "figure-2": (True, True, False, True),
    # The models are within the Monte Carlo error of KRCC and ED.
    "table-1": (None, ..., None, True, True, True, None),
    "algorithm-3": (False, True, False),
    "algorithm-4": (True, True, False),
}


@pytest.fixture(scope="module")
def track():
    return sr.simulated_track(n_teams=8, runs_per_team=2, n_topics=30, depth=200, pool_depth=100)


@pytest.fixture(scope="module")
def data(track):
    return PaperData(words="a small track", runs=track.runs, qrels=track.complete)


@pytest.fixture(scope="module")
def simulated(track):
    options = {"n_samples": SAMPLES, "depth": 200, "rng": 3, "jobs": 1}
    return {
        model: sr.simulate(track.runs, track.complete, model=model, denominator="judged", **options)
        for model in ("bootstrap", "kde")
    }


@pytest.fixture(scope="module")
def found(data):
    return yang2018(data, Work(budget=SAMPLES, seed=3, jobs=1))


def test_ids_are_unique_and_figures_are_svg(found):
    assert [each.id for each in found.exhibits] == list(VERDICTS)
    assert (found.data, found.settings["n_samples"]) == ("a small track", SAMPLES)
    tables = [table.id for each in found.exhibits for table in each.tables]
    figures = [figure for each in found.exhibits for figure in each.figures]
    ids = tables + [figure.id for figure in figures]
    assert len(set(tables)) == len(tables)
    assert len(figures) == 4
    assert len({figure.id for figure in figures}) == 4
    assert all(ids)
    assert all(figure.svg.startswith("<svg") and figure.alt for figure in figures)


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts_are_those_expected(found, name):
    check_verdicts(exhibit(found, name).claims, VERDICTS[name])


def test_table_1_is_what_simulate_gives(found, simulated):
    rows = values(exhibit(found, "table-1").tables[0])
    for place, result in enumerate(simulated.values(), start=1):
        assert rows[0][place] == result.rank_correlation.mean
        assert rows[1][place] == np.mean(result.significance.rate < 0.05)
        assert rows[2][place] == result.significance.estimated_difference
        assert rows[3][place] == result.raw_significant_share


def test_table_1_has_the_printed_figures(found):
    rows = values(exhibit(found, "table-1").tables[0])
    assert rows[0][3:7] == [0.9176, 0.8088, 0.8509, 0.8121]
    assert rows[1][3:7] == [0.1041, 0.0896, 0.1783, 0.1756]
    assert rows[2][3:7] == [0.3955, 0.3273, 0.4135, 0.4111]
    assert rows[3][3:5] == [0.8148, 0.8148]


def test_bins_hold_every_comparison_once(found):
    rows = values(exhibit(found, "figure-2").tables[0])
    assert len(rows) == 21
    for column in (1, 3):
        assert sum(row[column] for row in rows) == n_pairs(16) * SAMPLES


def test_swapped_pairs_by_scipy(found, simulated):
    result = simulated["bootstrap"]
    taus = [scipy.stats.kendalltau(result.raw_mean, each).statistic for each in result.simulated]
    rows = values(exhibit(found, "figure-2").tables[0])
    wrong = sum(row[1] * row[2] for row in rows if row[2] is not None)
    assert wrong / (n_pairs(16) * SAMPLES) == pytest.approx((1 - np.mean(taus)) / 2, abs=1e-12)


def test_printed_shares_are_whole_numbers_of_pairs(monkeypatch):
    assert n_pairs(110) == 110 * 109 * 0.5 == 5995
    assert n_pairs(129) == 8256
    found = printed_shares_are_counts()
    assert found.holds
    assert "0.8148 = 4885 of 5,995" in found.detail
    assert "0.1041 = 624 of 5,995" in found.detail
    assert "0.1756 = 1450 of 8,256" in found.detail
    monkeypatch.setattr(exhibits, "RAW_SHARE", 0.8149)
    assert printed_shares_are_counts().holds is False


def test_the_printed_figures_agree_with_the_reading_of_pct():
    # Pairs that are rarely significant are among those that are not significant at all.
    assert TABLE_1["Robust 2004"]["bootstrap"].rare_share <= 1 - RAW_SHARE
    for printed in TABLE_1.values():
        assert printed["bootstrap"].correlation > printed["kde"].correlation > 0.8
        assert printed["bootstrap"].rare_share > printed["kde"].rare_share
        assert printed["bootstrap"].estimated_difference > printed["kde"].estimated_difference


def test_progress_ends_at_its_total_and_jobs_change_nothing(data):
    seen = []
    one = yang2018(data, Work(budget=20, seed=1, jobs=1, progress=lambda *done: seen.append(done)))
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]
    assert yang2018(data, Work(budget=20, seed=1, jobs=2)) == one
