"""How a report shows `check`, whose result it has from reading the files."""

from __future__ import annotations

from steadyrank.measures.check import CheckResult
from steadyrank.present.view import Finding
from steadyrank.studies.check.view import VIEW
from steadyrank.studies.material import NO_RUNS
from steadyrank.studies.part import Findings, Front, part_of
from steadyrank.words import number_word


def _front(result: CheckResult, findings: Findings) -> Front:
    wrong = [found for found in result.findings if found.level == "wrong"]
    if not wrong:
        return Front()
    more = "" if len(wrong) == 1 else f" (and {number_word(len(wrong) - 1)} more)"
    text = f"Results may be wrong: {wrong[0].where}: {wrong[0].what}{more}."
    return Front(cautions=(Finding("check.wrong", text, {"n_wrong": len(wrong)}),))


PART = part_of(
    VIEW,
    run=lambda job: job.material.check,
    is_read=True,
    front=_front,
    why_not=lambda material: (
        "" if material.runs is not None else f"{NO_RUNS}: there are no files of runs to check"
    ),
)
