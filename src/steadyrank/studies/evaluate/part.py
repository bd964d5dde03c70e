"""How a report shows the leaderboard: with the decisions about all pairs of runs."""

from __future__ import annotations

from dataclasses import replace

from steadyrank.data.scores import Scores
from steadyrank.studies.evaluate.view import VIEW, Evaluated
from steadyrank.studies.part import Body, Findings, part_of

_VIEWED = part_of(VIEW, tables=["leaderboard"])


def _body(scores: Scores, findings: Findings) -> Body:
    return _VIEWED.body(
        Evaluated(scores=scores, comparison=findings.results["compare"][0]), findings
    )


PART = replace(_VIEWED, body=_body)
