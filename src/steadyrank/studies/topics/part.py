"""How a report runs `topics`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steadyrank.present.page import Tile
from steadyrank.present.view import Finding
from steadyrank.stats.instances.mixed_tests import has_instances
from steadyrank.stats.planning.needed_topics import MOST_SHOWN
from steadyrank.stats.planning.swaps import share_of
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.studies.part import Findings, Front, Job, Samples, part_of
from steadyrank.studies.topics.result import ASSURED, TopicsResult, needed_figure
from steadyrank.studies.topics.study import topics
from steadyrank.studies.topics.view import VIEW
from steadyrank.studies.two_runs import TwoRuns, forecast_texts, values_at
from steadyrank.words import MISSING, roughly, swap_words


def _run(job: Job) -> TopicsResult:
    return topics(
        job.material.compared,
        measure=job.material.measure,
        n_trials=job.n_samples,
        alpha=job.material.settings.alpha,
        comparisons=job.n_comparisons,
        decided=job.decided,
        progress=job.machine.progress("splits of topics"),
        **job.common,
    )


def _front(result: TopicsResult, findings: Findings) -> Front:
    """The share of pairs that other topics reverse, and the topics that separate the first two."""
    share = share_of(result.expected_reversal, result.variances.difference)
    turned = swap_words(share, len(result.runs), said=roughly)
    text = f"On {result.n_topics:,} other topics {turned}."
    # Of systems with several runs, the first two runs are not what the page compares, and with
    # several judges topics alone may separate nothing.
    material = findings.material
    is_more = has_instances(material.scores) or material.n_levels("judge") > 1
    tiles = [] if is_more else _needed_tile(result, findings.material.settings.baseline)
    return Front(swap=Finding("topics.swap", text, {"share": share}), tiles=tuple(tiles))


def _needed_tile(result: TopicsResult, baseline: str | None) -> list[Tile]:
    """For the first two; with a baseline, for the best run and it, as all else on the page."""
    first, second = result.leaders
    second = second if baseline in (None, first, second) else str(baseline)
    (row,) = result.told([result.pair(*map(result.runs.index, (first, second)))])
    if row["significant"] or not (row["topics_assured"] or MOST_SHOWN) < MOST_SHOWN:
        return []
    keys = "a b topics_needed topics_needed_interval topics_assured"
    names = "first from second" if baseline is None else f"{first} from {second}"
    return [
        Tile(
            id="topics.needed",
            figure=needed_figure(row),
            text=f"topics to separate {names} ({ASSURED}); there are {result.n_topics:,}",
            values={key: row[key] for key in keys.split()},
        )
    ]


REVERSED = "a replication on as many other topics reverses it with probability {reversed}"
NO_ORDER = "the means are equal: there is no order to reverse"


def _of_two(panel: TwoRuns, result: TopicsResult, findings: Findings) -> None:
    place, _ = panel.aligned(result.runs, result.pairs)
    rows = result.told()
    equal = [p >= 0 and abs(rows[p]["difference"]) <= SAME_MEAN for p in place.tolist()]
    panel.add(
        "On other topics",
        "{repeated}",
        repeated=[NO_ORDER if same else REVERSED for same in equal],
        reversed=forecast_texts(values_at(result.expected_reversal, place)),
    )
    panel.add(
        "Topics needed",
        "{needed}",
        needed=[MISSING if p < 0 else _needed(result, rows[p]) for p in place.tolist()],
    )


def _needed(result: TopicsResult, row: Mapping[str, Any]) -> str:
    if row["significant"]:
        return "none: these topics show the difference"
    return f"{needed_figure(row)} for {result.test_words()}; there are {result.n_topics:,}"


PART = part_of(
    VIEW,
    run=_run,
    samples=Samples(noun="splits", fast=1000, full=10_000),
    front=_front,
    varies="Other topics",
    of_two=_of_two,
)
