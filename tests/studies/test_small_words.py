"""Numbers in the words and tables of every study: singular, separated, without idle digits."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import steadyrank as sr

NOUNS = (
    "topics|runs|systems|pairs|comparisons|splits|samples|trials|teams|measures|instances|levels"
)
ONE_OF_MANY = re.compile(rf"(?<![\d,.–-])1 ({NOUNS})\b")
UNSEPARATED = re.compile(rf"\b\d{{4,}} (?:simulated |judged )?({NOUNS}|collections|documents)\b")
ABSURD = re.compile(r"\d{1,3}(,\d{3}){2,}")
NO_PVALUE = re.compile(r"\bp (= |, )?0\.0000\b")


def cube(name):
    """Two runs, a near-tie, gaps, or a track of some size."""
    draw = np.random.default_rng(8)
    base = draw.beta(2, 3, 40)
    runs = {
        "two": np.stack([base, base + 0.1 + draw.normal(0, 0.02, 40)]),
        "tie": np.stack([base, base + draw.normal(0, 0.05, 40), base + 1e-5 * draw.normal(1, 40)]),
        "gaps": base + draw.normal(0, 0.1, (4, 40)),
        "many": base + draw.normal(0, 0.1, (12, 40)) + np.linspace(0, 0.4, 12)[:, None],
    }[name]
    if name == "gaps":
        runs[1, :5] = runs[2, 30:] = np.nan
    names = [f"run{i}" for i in range(len(runs))]
    kinds = {"kind": ["a", "b"] * (len(runs) // 2) + ["a"] * (len(runs) % 2)}
    return sr.Scores(
        measures=["AP"],
        runs=names,
        topics=range(40),
        values=[runs],
        run_info={"system": names, **kinds},
    )


def results(name):
    scores = cube(name)
    two = sr.Scores(
        measures=["AP", "RR"],
        runs=scores.runs,
        topics=scores.topics,
        values=np.concatenate([scores.values, scores.values[:, :, ::-1]]),
    )
    yield sr.compare(scores)
    yield sr.compare(scores, baseline="run0")
    yield sr.compare(two)
    yield sr.topics(scores, n_trials=1)
    yield sr.topics(scores, n_trials=1500)
    yield sr.stability(scores, n_topics=[1, 2000, 10])
    yield sr.plan(scores, minimum_difference=1e-5, systems=2)
    yield sr.plan(scores, minimum_difference=0.1, systems=3)
    yield sr.agree(two, topic_sizes=[5, 15], system_sizes=[len(scores.runs)], n_samples=5)
    yield sr.instances(scores, b="run0", posterior=False, n_samples=50)
    yield sr.audit_tests(scores, n_trials=1500)
    if name in ("two", "many"):
        yield sr.components(scores, factors="kind")


@pytest.mark.parametrize("name", ["two", "tie", "gaps", "many"])
def test_numbers_read_well(name, monkeypatch):
    monkeypatch.setattr("steadyrank.studies.compare.audit.RESAMPLES", 50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        for result in results(name):
            kind = type(result).__name__
            for text in (str(result), result.to_markdown(), repr(result)):
                for pattern in (ONE_OF_MANY, UNSEPARATED, ABSURD, NO_PVALUE):
                    found = pattern.search(text)
                    assert found is None, (
                        kind,
                        text[max(0, found.start() - 60) : found.end() + 60],
                    )


def test_a_d_study_counts_up():
    shown = str(sr.stability(cube("many"), n_topics=[100, 20]))
    sizes = [int(size) for size in re.findall(r"^ (\d+) +0\.\d+ +\[", shown, re.MULTILINE)]
    assert sizes == [20, 40, 100]
