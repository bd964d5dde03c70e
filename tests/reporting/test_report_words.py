"""The answer in words: each case that a leaderboard can be in, and its grammar."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.present.pair_panel import PairPanel
from steadyrank.studies.compare.page import LEADERBOARD
from steadyrank.studies.material import Material, Settings
from steadyrank.studies.part import Findings
from steadyrank.studies.simulate.view import PART as SIMULATE
from steadyrank.words import roughly


def scores_of(*means, noise=0.05, n_topics=30, names=None, measures=("AP",), seed=0):
    """Runs whose means are as given, exactly, with independent noise around topics' difficulty."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0, 0.1, n_topics)
    values = rng.normal(0, noise, (len(means), n_topics))
    values += np.array(means)[:, None] - values.mean(axis=1, keepdims=True)
    values += difficulty - difficulty.mean()
    runs = names or [chr(65 + place) for place in range(len(means))]
    return sr.Scores(
        measures=measures,
        runs=runs,
        topics=range(n_topics),
        values=np.repeat(values[None], len(measures), axis=0),
    )


def compared(*means, **options):
    return sr.compare(scores_of(*means, **options), measure="AP")


def findings_of(scores, **results):
    return Findings(
        material=Material(scores=scores, settings=Settings()),
        results=results,
        why_not={},
        warnings={},
    )


def test_the_best_of_many_is_expected_to_do_less_well():
    """The leaderboard says how well, beside the mean by which it was picked."""
    rng = np.random.default_rng(7)
    scores = scores_of(*(0.5 + rng.normal(0, 0.05, 20)), noise=0.3)
    result = sr.compare(scores)
    body = LEADERBOARD.body(scores, findings_of(scores, compare=(result,)))
    (board,) = body.tables
    column = list(board.header).index("expected")
    leader, expected = result.order[0], float(board.rows[0][column].value)
    assert expected == pytest.approx(result.expected_mean[leader])
    assert expected < result.mean[leader] - 0.002


def simulated(share, measure="AP"):
    """As much of a simulation as the words need: how likely the first run is above the second."""
    above = np.array([[np.nan, share], [1 - share, np.nan]])
    return SimpleNamespace(runs=("A", "B"), above=above, measure=measure, n_samples=100)


def panel_of(scores):
    return PairPanel(
        names=scores.runs,
        measure="AP",
        topics=scores.topics,
        scores=scores.values[0],
        sentence="",
        latex="",
    )


def test_chances_say_of_what_they_are():
    """Other topics, or a second document collection and by which measure."""
    scores = scores_of(0.52, 0.50, noise=0.04)
    topics = sr.topics(scores, n_trials=10)
    (reversal, *_) = topics.of_pair()
    assert reversal.values["expected_reversal"] == pytest.approx(topics.expected_reversal[0])
    likely = roughly(topics.expected_reversal[0])
    assert reversal.text == f"On 30 new topics, A falls below B with probability {likely}."
    for measure in ("AP", "P@10"):
        panel = panel_of(scores)
        SIMULATE.of_two(panel, simulated(0.97, measure), findings_of(scores))
        (row,) = panel.rows
        assert row.about == f"In other documents (by {measure})"
        assert panel.text(row.template, 0, 1) == (
            "A is above B with probability 97% in a second document collection"
        )


def row_of(topics, a, b):
    (row,) = topics.told([topics.pair(*(topics.runs.index(run) for run in (a, b)))])
    return row


def test_topics_to_settle_have_the_power_they_promise():
    """Against a simulation of 4,000 tests: power 0.8 within 0.03, 4.7 of its standard errors.

    Student's limit plus what the corrected test allows for, G (2 c² + 1) / 6 standard errors.
    """
    scores = scores_of(0.53, 0.50, noise=0.05)
    topics = sr.topics(scores, n_trials=10, alpha=0.005)
    row = row_of(topics, "A", "B")
    n = row["topics_needed"]
    sd = float(np.sqrt(topics.variances.variance[0]))
    z = np.random.default_rng(1).normal(0.03, sd, (4000, n))
    t = z.mean(axis=1) / (z.std(axis=1, ddof=1) / np.sqrt(n))
    from scipy.stats import t as student

    c, off = student.ppf(1 - 0.005 / 2, n - 1), z - z.mean(axis=1, keepdims=True)
    skewness = (off**3).sum(axis=1) / (off**2).sum(axis=1) ** 1.5
    against = 2 * np.sqrt(6 * (n - 2) / (n * (n + 1) * (n + 3))) - np.sign(t) * skewness
    limit = c + np.maximum(0, against) * (2 * c * c + 1) / 6
    assert (np.abs(t) > limit).mean() == pytest.approx(0.8, abs=0.03)
    assert row_of(topics, "B", "A") == row


def needed_of(topics):
    return [one for one in topics.of_pair() if one.id == "topics.needed"]


def test_what_settles_a_tie_is_said_with_its_assumption():
    scores = scores_of(0.51, 0.505, 0.50, 0.2, noise=0.05)
    topics = sr.topics(scores, n_trials=10)
    (said,), row = needed_of(topics), row_of(topics, "A", "B")
    assert said.values["topics_needed_interval"] == row["topics_needed_interval"]
    assert "power 0.8 at alpha 0.05 over 6 comparisons" in said.text
    assert said.text.endswith(f"requires {row['topics_assured']:,} topics (80% assurance).")
    assert needed_of(sr.topics(scores_of(0.9, 0.3), n_trials=10)) == []


def test_a_pair_that_only_the_correction_keeps_together_is_planned_at_the_corrected_level():
    rng = np.random.default_rng(3)
    close = [0.6, 0.6 - 0.036] + [0.2 + 0.001 * k for k in range(38)]
    scores = scores_of(
        *close,
        noise=0.042,
        n_topics=25,
        names=[f"r{k}" for k in range(40)],
        seed=int(rng.integers(100)),
    )
    result, topics = sr.compare(scores), sr.topics(scores, n_trials=10)
    row, (said,) = row_of(topics, "r0", "r1"), needed_of(topics)
    assert not result.significant[0]
    assert row["topics_needed"] > 25, "the number alone would be below what there is"
    low, high = row["topics_needed_interval"]
    assert low < row["topics_needed"] < high
    assert said.values["topics_needed"] == row["topics_needed"]
    assert said.text.endswith(
        f"over 780 comparisons requires {row['topics_assured']} topics (80% assurance)."
    )


def systems_of(systems):
    scores = scores_of(0.80, 0.79, 0.30, 0.31, names=["a1", "a2", "b1", "b2"])
    return scores.with_run_info(system=list(systems))
