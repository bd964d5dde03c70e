"""How a report shows single topics, from the hardest on."""

from __future__ import annotations

from dataclasses import replace

from steadyrank.studies.evaluate.view import HARDEST, Evaluated
from steadyrank.studies.part import Body, Findings, part_of

_VIEWED = part_of(HARDEST)


def _body(result: None, findings: Findings) -> Body:
    return _VIEWED.body(Evaluated(scores=findings.material.scores), findings)


PART = replace(_VIEWED, body=_body)
