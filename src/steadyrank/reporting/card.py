"""The card on top of a report: one sentence, and what must be known before it is passed on.

All that it says is taken from the results of the studies. The verdict has at most 25 words and
names at most two runs; the others are a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steadyrank.data.scores import Scores
from steadyrank.present.page import Card, Fact
from steadyrank.reporting.headline import (
    Standing,
    are_one_system,
    below_words,
    best_means,
    files_words,
    measures_words,
    other_first_words,
    reversal_words,
    settling_words,
    standing,
)
from steadyrank.reporting.limits import limit_words
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.view import findings, significant
from steadyrank.studies.instances.study import InstancesTable
from steadyrank.studies.instances.view import systems_words
from steadyrank.words import listed, number_word

MOST_NAMES = 2
"""Runs that a verdict names."""

MOST_WORDS = 25
"""Of a verdict, each name counted as one."""


def make_card(results: Mapping[str, Any]) -> Card:
    """The card of a report about runs; `page` adds the picture."""
    main: CompareResult = results["compare"][0]
    scores: Scores = results["evaluate"]
    found = {finding.id: finding.text for finding in findings(results["compare"])}
    of_runs = verdict(main, len(scores.runs))
    systems: InstancesTable | None = results.get("instances")
    said = {
        "Single runs": "" if systems is None else of_runs,
        "Could be first": found["compare.first"],
        "First otherwise": other_first_words(results),
        "Chance of a reversal": _reversal(results),
        "What these topics resolve": " ".join(
            filter(None, [found.get("compare.detectable"), settling_words(results)])
        ),
        "What limits it most": limit_words(results),
        "Measures": measures_words(scores),
    }
    return Card(
        verdict=of_runs if systems is None else systems_words(systems, tested=False),
        cautions=tuple(
            filter(
                None,
                [
                    files_words(results.get("check")),
                    *(found.get(f"compare.{caution}") for caution in ("gaps", "audit")),
                ],
            )
        ),
        facts=tuple(Fact(about=about, text=text) for about, text in said.items() if text),
    )


def _reversal(results: Mapping[str, Any]) -> str:
    if are_one_system(results):
        return ""
    main: CompareResult = results["compare"][0]
    return reversal_words(main, results.get("simulate"), results.get("topics"))


def verdict(result: CompareResult, n_runs: int = 0) -> str:
    """Who leads, and how many of the others are significantly worse, in at most 25 words.

    `n_runs`: how many there are, where only the best were compared.
    """
    ranks = standing(result)
    if result.baseline is not None:
        return significant(result).text
    among = f" (best {len(result.runs):,} of {n_runs:,} runs)" if n_runs > len(result.runs) else ""
    return f"{_verdict(result, ranks)}{among}."


def _verdict(result: CompareResult, ranks: Standing) -> str:
    first, others, by = best_means(result, ranks), len(ranks.order) - 1, f"mean {result.measure}"
    if len(first) == others + 1:
        return f"{_few(first)} have the same {by}"
    if len(first) > 1:
        return f"{_few(first)} share the best {by}; {below_words(result, first)}"
    if others == 1 and len(ranks.group) == 1:
        return f"{ranks.leader} is significantly better than {ranks.runner_up} by {by}"
    lead, equals = f"{ranks.leader} leads by {by}", len(ranks.group) - 1
    if equals == 0:
        return f"{lead} and is significantly better than all {number_word(others)} others"
    if equals == 1:
        whom = ranks.group[1]
    elif equals == others:
        whom = f"any of the {number_word(others)} others"
    else:
        whom = f"{number_word(equals)} of the {number_word(others)} others"
    return f"{lead}, but is not significantly better than {whom}"


def _few(names: Sequence[str]) -> str:
    """Names while they are few, else their number."""
    if len(names) <= MOST_NAMES:
        return listed(names)
    return f"{number_word(len(names)).capitalize()} runs"
