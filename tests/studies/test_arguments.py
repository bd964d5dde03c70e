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
WRONG = {
    ("alpha", "0.05", "alpha must be a number, got '0.05': give a number such as 0.05"): (
        "compare topics plan simulate instances gate judges pools"
    ),
    ("confidence", "0.95", "confidence must be a number, got '0.95'"): "stability plan holes pools",
    ("delta", "0.01", "delta must be a number, got '0.01'"): "instances",
    ("margin", "0.1", "margin must be a number, got '0.1'"): "gate",
    ("jobs", "2", "jobs must be a whole number of at least 1, got '2'"): (
        "compare topics evaluate check simulate holes pools judges"
    ),
    ("executor", 2, "executor must be a .*, got 2: for threads give jobs="): (
        "evaluate check holes pools"
    ),
    ("n_samples", "10", "n_samples must be a whole number of at least 1"): (
        "compare instances judges"
    ),
    ("baseline", 0, "unknown run '0'.*: choose from a, b, c"): "compare",
    ("measure", 0, "expected a measure's name, got 0"): "topics stability instances",
}
"""Keyword, value and message, and the functions that refuse it."""


@pytest.mark.parametrize(
    ("function", "wrong"),
    [(name, wrong) for wrong, names in WRONG.items() for name in names.split()],
)
def test_arguments_of_the_wrong_kind_are_refused_with_the_remedy(function, wrong):
    key, value, message = wrong
    with pytest.raises(sr.InputError, match=f"^{message}"):
        CALLS[function](**{key: value})


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
