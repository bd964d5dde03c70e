"""The card of a leaderboard over many datasets: who leads, and how many could be first."""

from __future__ import annotations

from steadyrank.present.page import Card, Fact
from steadyrank.studies.datasets.result import DatasetsResult
from steadyrank.studies.datasets.view import VIEW
from steadyrank.words import counted

CAUTIONS = "gaps too_few"
FACTS = {
    "Could be first": "first",
    "Pairs": "pairs",
    "Types of datasets": "types_alike",
    "The two best": "pair needed posterior",
    "Single datasets": "influence leader",
}
"""What a line of the card is about, and the findings that it says."""


def make_dataset_card(result: DatasetsResult) -> Card:
    """What `datasets` says, on one screen; `page` adds the picture."""
    found = {finding.id: finding.text for finding in VIEW.findings(result)}

    def texts(names: str) -> list[str]:
        ids = [f"datasets.{name}" for name in names.split()]
        return [found[id] for id in ids if id in found]

    return Card(
        verdict=dataset_verdict(result),
        cautions=tuple(texts(CAUTIONS)),
        facts=tuple(
            Fact(about=about, text=" ".join(said))
            for about, names in FACTS.items()
            if (said := texts(names))
        ),
    )


def dataset_verdict(result: DatasetsResult) -> str:
    """Who leads, and how many could, in at most 25 words."""
    leader, firsts, total = result.runs[result.order[0]], result.first_names(), len(result.runs)
    over = f"{result.aggregate_words} over {counted(len(result.datasets), 'dataset')}"
    if len(firsts) == 1:
        who = f"no other of the {total:,} runs"
    elif len(firsts) == total:
        who = f"any of the {total:,} runs"
    else:
        who = f"{len(firsts):,} of the {total:,} runs"
    return f"{leader} leads by {over}; {who} could be first."
