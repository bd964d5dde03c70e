"""The card of a leaderboard over many datasets: who leads, and how many could be first."""

from __future__ import annotations

from steadyrank.present.page import Card, Fact
from steadyrank.studies.datasets.result import AGGREGATES, DatasetsResult
from steadyrank.studies.datasets.sentences import (
    alike_words,
    few_words,
    gap_words,
    influence_words,
    pair_words,
    share_words,
)
from steadyrank.words import counted


def make_dataset_card(result: DatasetsResult) -> Card:
    """What `datasets` says, on one screen; `page` adds the picture."""
    said = {
        "Could be first": result.first_words(),
        "Pairs": share_words(result),
        "Types of datasets": alike_words(result),
        "The two best": "" if result.pair is None else pair_words(result.pair),
        "Single datasets": influence_words(result),
    }
    return Card(
        verdict=dataset_verdict(result),
        cautions=tuple(filter(None, [gap_words(result), few_words(result)])),
        facts=tuple(Fact(about=about, text=text) for about, text in said.items() if text),
    )


def dataset_verdict(result: DatasetsResult) -> str:
    """Who leads, and how many could, in at most 25 words."""
    leader, firsts, total = result.runs[result.order[0]], result.first_names(), len(result.runs)
    over = f"{AGGREGATES[result.aggregate]} over {counted(len(result.datasets), 'dataset')}"
    if len(firsts) == 1:
        who = f"no other of the {total:,} runs"
    elif len(firsts) == total:
        who = f"any of the {total:,} runs"
    else:
        who = f"{len(firsts):,} of the {total:,} runs"
    return f"{leader} leads by {over}; {who} could be first."
