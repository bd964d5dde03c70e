"""How a report says what other answers of the same systems would change."""

from __future__ import annotations

from collections.abc import Sequence

from steadyrank.present.view import Finding, View, Words
from steadyrank.studies.material import Material
from steadyrank.studies.part import Findings, Front, part_of
from steadyrank.studies.stability.facets import FacetsResult
from steadyrank.studies.stability.judges_part import cost, run_facets, swap_front


def _why_not(material: Material) -> str:
    several = material.n_levels("answer") > 1
    return "" if several else "every system answered each topic once: let them answer again"


def findings(results: Sequence[FacetsResult]) -> list[Finding]:
    """The answers' share of a difference."""
    result = results[0]
    share = result.difference_shares["answers"]
    n = result.components.sizes.answers
    text = f"{share:.0%} of the variance of a difference is due to single answers ({n:.3g} each)."
    return [Finding("stability.answers", text, {"share": share, "answers": n})]


VIEW = View(
    words=Words(
        title="Answers",
        question="How much of a difference is due to single answers?",
        means=(
            "Answers of one system to one topic are a sample of those it could have given; the "
            "bar is about as many other answers, on these topics and by these judges."
        ),
        means_not="One answer per topic cannot show how answers vary: topics hold both.",
    ),
    findings=findings,
    tables=(),
    fields=lambda results: {},
)


def _front(results: tuple[FacetsResult, ...], findings: Findings) -> Front:
    return swap_front(results, "answers", "With as many other answers")


PART = part_of(
    VIEW, run=run_facets, why_not=_why_not, cost=cost, front=_front, varies="Other answers"
)
