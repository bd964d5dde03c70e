"""Arguments of the wrong kind are errors of ours, which say what to give instead."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.cli import run

RUNS = [
    sr.run_from_dict(
        {str(t): {f"d{i}": float((i * k + t) % 7) for i in range(6)} for t in range(8)}, name=name
    )
    for k, name in ((1, "a"), (3, "b"))
]
QRELS = sr.qrels_from_dict({str(t): {f"d{i}": i % 2 for i in range(6)} for t in range(8)})
TABLE = sr.Scores(
    measures=["AP"],
    runs=["a", "b", "c"],
    topics=[str(t) for t in range(20)],
    values=np.random.default_rng(1).random((1, 3, 20)),
)
CALLS = {
    "compare": lambda **options: sr.compare(TABLE, **options),
    "topics": lambda **options: sr.topics(TABLE, **options),
    "stability": lambda **options: sr.stability(TABLE, **options),
    "instances": lambda **options: sr.instances(TABLE, **options),
    "plan": lambda **options: sr.plan(TABLE, minimum_difference=0.1, systems=3, **options),
    "evaluate": lambda **options: sr.evaluate(RUNS, QRELS, **options),
    "check": lambda **options: sr.check(RUNS, QRELS, **options),
    "simulate": lambda **options: sr.simulate(RUNS, QRELS, **options),
    "holes": lambda **options: sr.holes(RUNS, QRELS, **options),
    "pools": lambda **options: sr.pools(RUNS, QRELS, **options),
    "judges": lambda **options: sr.judges(RUNS, QRELS, {"x": QRELS}, **options),
    "gate": lambda **options: sr.gate(*RUNS, QRELS, **{"margin": 0.1, **options}),
    "report": lambda **options: sr.report(RUNS, QRELS, **options),
}
NUMBERS = {"alpha": "0.05", "confidence": "0.95", "delta": "0.01", "margin": "0.1"}
BOUND = {
    "alpha": ("compare", "topics", "plan", "simulate", "instances", "gate", "judges", "pools"),
    "confidence": ("stability", "plan", "holes", "pools"),
    "delta": ("instances",),
    "margin": ("gate",),
}


@pytest.mark.parametrize(
    ("function", "key"), [(function, key) for key, names in BOUND.items() for function in names]
)
def test_a_number_as_text_is_refused_with_the_remedy(function, key):
    message = f"^{key} must be a number, got '{NUMBERS[key]}': give a number such as 0.05$"
    with pytest.raises(sr.InputError, match=message):
        CALLS[function](**{key: NUMBERS[key]})


@pytest.mark.parametrize(
    "function", ["compare", "topics", "evaluate", "check", "simulate", "holes", "pools", "judges"]
)
def test_jobs_as_text_are_refused(function):
    with pytest.raises(sr.InputError, match="jobs must be a whole number of at least 1, got '2'"):
        CALLS[function](jobs="2")


@pytest.mark.parametrize("function", ["evaluate", "check", "holes", "pools"])
def test_what_is_no_executor_is_refused(function):
    with pytest.raises(sr.InputError, match="executor must be a .*, got 2: for threads give jobs="):
        CALLS[function](executor=2)


@pytest.mark.parametrize("function", ["compare", "instances", "judges"])
def test_samples_as_text_are_refused(function):
    with pytest.raises(sr.InputError, match="n_samples must be a whole number of at least 1"):
        CALLS[function](n_samples="10")


@pytest.mark.parametrize("function", ["compare", "topics"])
def test_a_baseline_by_its_place_is_refused(function):
    with pytest.raises(sr.UnknownNameError, match="unknown run '0'.*: choose from a, b, c"):
        CALLS[function](baseline=0)


@pytest.mark.parametrize("function", ["topics", "stability", "instances"])
def test_a_measure_that_is_no_name_is_refused(function):
    with pytest.raises(sr.InputError, match="expected a measure's name, got 0"):
        CALLS[function](measure=0)


@pytest.mark.parametrize("function", CALLS)
def test_an_unknown_keyword_is_that_of_the_function_called(function):
    with pytest.raises(TypeError, match=rf"^{function}\(\) got an unexpected .* 'nonsense'$"):
        CALLS[function](nonsense=1)


def test_runs_that_share_no_topic_are_two_runs():
    nan = np.nan
    values = [[[0.1, 0.2, 0.3, nan, nan, nan], [nan, nan, nan, 0.2, 0.1, 0.3]]]
    scores = sr.Scores(measures=["AP"], runs=["a", "b"], topics=list("123456"), values=values)
    with pytest.warns(sr.SteadyrankWarning, match="^a shares no topic with b, not even through"):
        sr.compare(scores)


def test_of_identical_runs_no_detectable_difference_is_named():
    from steadyrank.studies.compare.findings import findings

    values = np.tile(np.linspace(0.1, 0.9, 12), (1, 2, 1))
    scores = sr.Scores(
        measures=["AP"], runs=["a", "b"], topics=list(map(str, range(12))), values=values
    )
    result = sr.compare(scores)
    assert "compare.detectable" not in {finding.id for finding in findings([result])}
    assert "Detectable" not in str(result)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_device_is_named(tmp_path, capsys):
    sr.write_scores(TABLE, tmp_path / "scores.csv")
    assert run(["compare", "--scores", str(tmp_path / "scores.csv"), "-o", "/dev/full"]) == 1
    assert capsys.readouterr().err == "steadyrank: /dev/full: No space left on device\n"
