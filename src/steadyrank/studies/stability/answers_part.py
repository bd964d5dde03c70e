"""How a report says what other answers of the same systems would change."""

from __future__ import annotations

from steadyrank.present.view import Finding, View, Words
from steadyrank.studies.part import part_of
from steadyrank.studies.stability.facets_view import Results
from steadyrank.studies.stability.judges_part import how_of


def findings(results: Results) -> list[Finding]:
    """The answers' share of a difference."""
    share, n = results[0].difference_shares["answers"], results[0].components.sizes.answers
    text = f"{share:.0%} of the variance of a difference is due to single answers ({n:.3g} each)."
    return [Finding("stability.answers", text, {"share": share, "answers": n})]


VIEW = View(
    words=Words(
        title="Answers",
        question="How much of a difference is due to single answers?",
        means="Answers of one system to one topic are a sample of those it could have given.",
        means_not="One answer per topic cannot show how answers vary: topics hold both.",
    ),
    findings=findings,
    tables=(),
    fields=lambda results: {},
)

PART = part_of(VIEW, **how_of("answer"))
