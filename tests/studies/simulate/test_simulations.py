"""What `simulate` found in words and tables, from a result whose figures are known."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.studies.simulate.statistics import (
    CollectionCorrelation,
    ErrorRate,
    SignificanceRates,
)
from steadyrank.studies.simulate.view import VIEW, findings

RUNS = ("50%_of", "good", "poor", "b\udce9d")
RAW = np.array([[0.2, 0.4], [0.5, 0.7], [0.1, 0.1], [0.3, 0.1]])
NAN = float("nan")


def make_errors(**changed):
    count, errors = np.zeros(21, np.int64), np.zeros(21, np.int64)
    count[[0, 1, 19, 20]] = 10, 6, 20_000, 8
    errors[[0, 1, 19]] = 10, 3, 1
    with np.errstate(invalid="ignore"):
        rate = errors / count
    known = {
        "low": np.arange(21) / 100,
        "high": np.append(np.arange(1, 21) / 100, np.inf),
        "count": count,
        "errors": errors,
        "rate": rate,
        "rate_error": np.where(count, 0.125, NAN),
        "ties": 0,
        "overall": 13 / 24,
    }
    return ErrorRate(**{**known, **changed})


def make_result(**changed):
    """Four runs, two topics, four samples: run 1 always wins, run 2 is always last."""
    shares = np.zeros((4, 4))
    shares[1, 0] = shares[2, 3] = 1.0
    shares[0, 1] = shares[3, 2] = 0.75
    shares[0, 2] = shares[3, 1] = 0.25
    known = {
        "measure": "AP",
        "mode": "paper",
        "model": "bootstrap",
        "n_samples": 4,
        "depth": "retrieved",
        "bandwidth": "scott",
        "denominator": "judged",
        "score_source": "score",
        "seed": 9,
        "runs": RUNS,
        "topics": ("1", "2"),
        "raw": RAW,
        "cell_mean": RAW + 0.01,
        "cell_sd": np.full((4, 2), 0.05),
        "simulated": RAW.mean(axis=1) + np.array([[-0.01], [0.01], [-0.01], [0.01]]),
        "rank_correlation": CollectionCorrelation(
            mean=0.9166,
            mean_error=0.048,
            sd=0.096,
            interval=(0.8333, 1.0),
            quantiles={"0.025": 0.8333, "0.975": 1.0},
            taus=np.ones(4),
        ),
        "error_rate": make_errors(),
        "significance": SignificanceRates(
            alpha=0.05,
            critical=12.7,
            rate=np.array([0.0, 0.25, 1.0, 1.0, 0.5, 0.04]),
            rate_error=np.zeros(6),
            rarely_share=2 / 6,
            reliably_share=2 / 6,
            estimated_difference=0.5,
            estimated_difference_recentred=0.02,
            difference_quantiles={"0.5": 0.1},
            recentred_quantiles={"0.5": 0.01},
        ),
        "raw_pvalue": np.array([0.2, 0.04, 0.01, 0.001, NAN, 0.5]),
        "rank_share": shares,
        "rank_interval": np.array([[2, 3], [1, 1], [4, 4], [2, 3]]),
        "none_relevant": 0,
        "plain": 0,
        "truncated": 0,
    }
    return sr.SimulateResult(**{**known, **changed})


def said(result):
    """Text and values of the findings by id, each of which stands there once."""
    found = findings(result)
    assert len({finding.id for finding in found}) == len(found)
    return {finding.id: finding for finding in found}


def test_the_answer_comes_first_and_in_words():
    made = make_result()
    found = said(made)
    assert list(found) == ["simulate.tau", "simulate.error_rate", "simulate.tests"]
    texts = [finding.text for finding in found.values()]
    assert VIEW.text(made, "table").splitlines()[:3] == texts
    assert texts[0] == (
        "In 4 simulated collections the ranking by AP has a mean Kendall's tau of 0.92 "
        "[0.83, 1.00] with the observed one."
    )
    assert found["simulate.tau"].values["interval"] == (0.8333, 1.0)
    assert found["simulate.error_rate"].values == {"rate": 13 / 24}
    # Significant here: 3 of 6 pairs; they agree with 0.25, 1 and 1 of the samples, the others
    # with 1, 0.5 and 0.96: 4.71 of 6.
    values = found["simulate.tests"].values
    assert (values["significant"], values["agreement"]) == (0.5, pytest.approx(4.71 / 6))
    assert max(map(len, texts)) <= 115


def test_the_leaderboard_has_the_best_run_first():
    text = VIEW.text(make_result(), "markdown")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert rows[0] == "| run | AP | simulated | sd | rank | rank interval | P(top 1) | P(top 3) |"
    assert rows[2] == r"| good | **0.6000** | 0.6000 | 0.0115 | 1 | \[1, 1\] | 1.000 | 1.000 |"
    assert rows[3] == r"| 50%\_of | 0.3000 | 0.3000 | 0.0115 | 2 | \[2, 3\] | 0.000 | 1.000 |"
    assert rows[5].startswith("| poor | 0.1000 |")
    assert rows[5].endswith(r"| 4 | \[4, 4\] | 0.000 | 0.000 |")


def test_error_rates_leave_empty_bins_out_and_show_no_spread_where_it_says_nothing():
    text = VIEW.text(make_result(), "markdown").split("| difference | comparisons")[1]
    rows = [line for line in text.splitlines() if line.startswith("| 0.")]
    assert rows == [
        "| 0.00–0.01 | 10 | 10 | 1.0000 |",
        "| 0.01–0.02 | 6 | 3 | 0.5000 ± 0.1250 |",
        r"| 0.19–0.20 | 20,000 | 1 | \< 0.0001 |",
        "| 0.20 or more | 8 | 0 | 0.0000 |",
    ]


def test_what_the_data_did_is_counted():
    found = said(make_result(none_relevant=2, plain=3, truncated=5))
    texts = [finding.text for finding in found.values()][3:]
    assert [text.split()[0] for text in texts] == ["2", "3", "5"]
    assert found["simulate.truncated"].values == {"count": 5}


def test_neighbours_are_those_of_the_observed_ranking():
    (table,) = VIEW.made(make_result(), only=["documents-neighbours"])
    # The paper's figures predict no second collection, so that there is no order to keep in it.
    # Nor share runs their documents, so that there is no document noise of a pair.
    assert table.header == ["better", "next", "difference", "significant"]
    shared = replace(make_result(), documents="shared")
    (table,) = VIEW.made(shared, only=["documents-neighbours"])
    assert table.header == ["better", "next", "difference", "significant", "document noise"]
    rows = [[cell.text for cell in row] for row in table.rows]
    assert rows == [
        ["good", "50%_of", "0.3000", "0.0%", "–"],
        ["50%_of", RUNS[3], "0.1000", "100.0%", "0.0%"],
        [RUNS[3], "poor", "0.1000", "4.0%", "0.0%"],
    ]


def test_json_is_strict_and_complete():
    made = make_result()
    text = VIEW.text(made, "json")
    found = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert found["error_rate"][20] == {
        "low": 0.2,
        "high": None,
        "count": 8,
        "errors": 0,
        "rate": 0.0,
        "rate_error": 0.125,
    }
    assert found["error_rate"][5]["rate"] is None
    assert found["top_probability"] == {"1": [0, 1, 0, 0], "3": [1, 1, 0, 1]}
    assert found["pairs"][4] == {
        "a": "good",
        "b": RUNS[3],
        "raw_difference": pytest.approx(0.4),
        "simulated_difference": pytest.approx(0.4),
        "rate": 0.5,
        "rate_error": 0.0,
        "raw_pvalue": None,
        "document_share": 0.0,
    }
    assert found["rank"] == [2, 1, 4, 3]
    assert found["significance"]["mean_rate"] == pytest.approx(2.79 / 6)
    assert list(VIEW.json(made))[:5] == ["model", "measure", "n_samples", "depth", "seed"]


def test_csv_has_its_columns():
    header, first, *_ = VIEW.text(make_result(), "csv").splitlines()
    assert header == "run,raw_mean,simulated_mean,simulated_sd,rank,rank_low,rank_high,top_1,top_3"
    assert first.startswith("good,0.6,")


def test_runs_that_all_score_the_same_have_no_ranking_to_keep():
    tau = replace(make_result().rank_correlation, mean=NAN, interval=(NAN, NAN))
    text = VIEW.text(make_result(rank_correlation=tau), "table")
    assert "There is no ranking to compare" in text
    assert "nan" not in text
