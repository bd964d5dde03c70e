"""What stands in front of a section because several studies say it together.

The leaderboard opens with what the tests of all pairs say, the plan with what it takes to tell the
leader from its rivals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steadyrank.present.cells import name, number, pvalue, table
from steadyrank.present.table import Table
from steadyrank.reporting.headline import (
    leaderboard_sentences,
    settling_words,
    standing,
    topics_to_settle,
)
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.part import Body, Drawing
from steadyrank.studies.topics.result import TopicsResult
from steadyrank.studies.topics.view import needed_caption, needed_cell
from steadyrank.words import counted

MOST_SETTLED = 25
"""Rivals of the leader that a table lists."""


def combined(results: Mapping[str, Any]) -> dict[str, Body]:
    """By the study in whose section it stands first; nothing where runs were not compared."""
    if "compare" not in results:
        return {}
    compared: CompareResult = results["compare"][0]
    topics: TopicsResult | None = results.get("topics")
    settling = settling_words(results)
    return {
        "evaluate": Body(
            answer=leaderboard_sentences(compared, len(results["evaluate"].runs)),
            figures=(_first_drawing(compared),),
        ),
        "plan": Body(
            answer=(settling,) if settling else (),
            tables=()
            if topics is None or not standing(compared).rivals
            else (_settle_table(compared, topics),),
        ),
    }


def _first_drawing(compared: CompareResult) -> Drawing:
    """Ranks by the tests of all pairs; with a baseline, differences from it."""
    if compared.baseline is None:
        return Drawing("ranks", "Possible ranks of each run.", compared, "ranks")
    return Drawing("baseline", "Every run compared with the baseline.", compared, "intervals")


def _settle_table(compared: CompareResult, topics: TopicsResult) -> Table:
    """The leader against its rivals: those from whom it does not differ significantly."""
    ranks = standing(compared)
    rivals = ranks.rivals
    corrected = {
        frozenset(pair): float(p)
        for pair, p in zip(compared.pairs.tolist(), compared.pvalue_adjusted, strict=True)
    }
    places = {run: i for i, run in enumerate(compared.runs)}
    rows = []
    for run in rivals[:MOST_SETTLED]:
        p = corrected[frozenset((places[ranks.reference], places[run]))]
        gap = float(compared.mean[places[ranks.reference]] - compared.mean[places[run]])
        needed = needed_cell(topics_to_settle(topics, ranks.reference, run))
        rows.append([name(ranks.reference), name(run), number(gap), pvalue(p), needed])
    caption = f"{needed_caption(topics)} There are {topics.n_topics} topics."
    left = len(rivals) - len(rows)
    if left > 0:
        more = counted(left, "more run is", "more runs are")
        caption += f" {more} not significantly different from {ranks.reference}."
    who = "leader" if compared.baseline is None else "baseline"
    return table("settle", caption, [who, "rival", "lead", "p", "topics needed"], rows)
