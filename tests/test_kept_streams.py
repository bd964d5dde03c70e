"""What a seed stands for: random numbers may change with a minor version, but never unnoticed.

A failure here is a changed stream, or a changed method. If it is meant: a line in CHANGELOG.md
under "Figures that differ", then `STEADYRANK_FREEZE=1 pytest -n0 tests/test_kept_streams.py`.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import steadyrank as sr

KEPT = Path(__file__).parent / "golden" / "streams.json"
NAMES = ["r1", "r2", "r3", "r4"]


@pytest.fixture(scope="module")
def track():
    return sr.simulated_track(
        n_teams=4, runs_per_team=1, n_topics=12, depth=20, pool_depth=10, rng=7
    )


@pytest.fixture(scope="module")
def scores():
    values = np.random.default_rng(3).beta(1, 2, (2, 4, 20))
    topics = [f"t{place}" for place in range(20)]
    return sr.Scores(values=values, measures=["AP", "RR"], runs=NAMES, topics=topics)


def simulated(track, scores):
    return sr.simulate(track.runs, track.qrels, measure="AP", n_samples=64, rng=5).simulated_mean


def simulated_independently(track, scores):
    result = sr.simulate(
        track.runs, track.qrels, measure="AP", n_samples=64, documents="independent", rng=5
    )
    return result.simulated_mean


def flipped(track, scores):
    found = sr.compare(scores, measure="AP", test="randomization", n_samples=999, rng=5)
    return found.to_frame()["pvalue"]


def studentized(track, scores):
    found = sr.compare(scores, measure="AP", test="bootstrap", n_samples=999, rng=5)
    return found.to_frame()["pvalue"]


def family(track, scores):
    found = sr.compare(scores, measure="AP", correction="maxt", n_samples=999, rng=5)
    return found.to_frame()["pvalue_adjusted"]


def agreed(track, scores):
    found = sr.agree(scores, topic_sizes=[5, 10], system_sizes=[3], n_samples=16, rng=5)
    return found.to_frame()["mean"]


def tracked(track, scores):
    return sr.evaluate(track.runs, track.qrels, ["AP"], no_relevant="skip").mean()[0]


@pytest.mark.parametrize(
    "study",
    [tracked, simulated, simulated_independently, flipped, studentized, family, agreed],
    ids=lambda study: study.__name__,
)
def test_a_seed_stands_for_the_numbers_that_it_stood_for(study, track, scores):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        numbers = [round(float(number), 9) for number in study(track, scores)]
    assert len(numbers) > 1
    assert len(set(numbers)) > 1
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    if os.environ.get("STEADYRANK_FREEZE"):
        kept[study.__name__] = numbers
        KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    # Other platforms round the last digits of sums differently; another stream moves the second.
    np.testing.assert_allclose(numbers, kept[study.__name__], rtol=1e-7, atol=1e-9)
