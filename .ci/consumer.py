"""A program that uses steadyrank: `.ci/newcomer` runs its author's mypy --strict on it.

If the installed package brought no types (py.typed), every `assert_type` and every unused
`type: ignore` below would be an error.
"""

from __future__ import annotations

from typing import assert_type

import steadyrank as sr

qrels = sr.qrels_from_dict({"q1": {"d1": 1}, "q2": {"d2": 1}})
runs = [sr.run_from_dict({"q1": {"d1": 2.0}, "q2": {"d1": 1.0}}, name=name) for name in "ab"]

scores = sr.evaluate(runs, qrels, ["AP"])
assert_type(scores, sr.Scores)
assert_type(scores.runs, tuple[str, ...])


def interval_of(result: sr.CompareResult) -> str:
    """A result is a type of its own."""
    assert_type(result.measure, str)
    return f"{result.measure}, alpha {result.alpha}"


sr.compare(scores, alpha="small")  # type: ignore[arg-type]
sr.compare(scores, meazure="AP")  # type: ignore[call-arg]
print(sr.no_such_name)  # type: ignore[attr-defined]
