"""The section of a report about other topics: would they change the table?"""

from __future__ import annotations

import math

from steadyrank.present.cells import name, number, percent, table, titled, whole
from steadyrank.present.table import Table
from steadyrank.studies.part import MOST_DOTS, Body, Cost, Drawing, Findings, Job, Part, Shape
from steadyrank.studies.topics.result import TopicsResult
from steadyrank.studies.topics.study import default_sizes, topics
from steadyrank.studies.topics.tables import (
    REVERSED,
    answer_sentences,
    last_split,
    needed_caption,
    needed_cell,
    neighbours,
)
from steadyrank.words import counted


def _cost(shape: Shape) -> Cost:
    n_sizes = len(default_sizes(shape.n_topics))
    return Cost(
        fixed=0.05 + 2e-7 * shape.n_pairs * shape.n_topics,
        per_sample=2e-5 + 1e-9 * shape.n_pairs * n_sizes,
        least=100,
        most=10_000,
        noun="splits",
        is_free=True,
    )


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


def _body(result: TopicsResult, findings: Findings) -> Body:
    reversals = "Reversals against the number of topics, by the size of the difference."
    every_pair = "Every pair: its difference, and the probability that other topics reverse it."
    variances = "Variance of differences, paired and as if each run had its own topics."
    figures = [Drawing("topic-errors", reversals, result, "error_rate")]
    if len(result.pairs) <= MOST_DOTS:
        figures.append(Drawing("topic-pairs", every_pair, result, "pairs"))
    figures.append(Drawing("topic-variances", variances, result, "variances"))
    return Body(
        answer=tuple(answer_sentences(result)),
        figures=tuple(figures),
        tables=(_neighbours_table(result), _levels_table(result)),
    )


def _neighbours_table(result: TopicsResult) -> Table:
    rows = [
        {
            "": whole(place),
            "run": name(result.runs[a]),
            "next": name(result.runs[b]),
            "lead": number(lead),
            "reversed": percent(row["expected_reversal"]),
            "error rate": percent(row["error_rate"]),
            "topics needed": needed_cell(row),
        }
        for place, (a, b, lead, row) in enumerate(neighbours(result), start=1)
    ]
    caption = (
        f"{result.caption()} {REVERSED} Error rate: how often two experiments contradict each "
        "other if the observed difference were the true one. "
        f"{needed_caption(result)}"
    )
    return table("topic-neighbours", caption, *titled(rows))


def _levels_table(result: TopicsResult) -> Table:
    last = last_split(result)
    size = result.sizes[last]
    rows = [
        [
            name(
                f"{level.low:.2f} to {level.high:.2f}"
                if math.isfinite(level.high)
                else f"{level.low:.2f} and above"
            ),
            whole(level.pairs),
            percent(float(level.predictive[last])),
            percent(float(level.empirical[last])),
            percent(float(level.empirical_error[last])),
        ]
        for level in result.levels
        if level.pairs or level.reversed.any()
    ]
    caption = (
        f"By the size of the difference, with {counted(size, 'topic', form=',')}: the predictive "
        f"rate, and how often two disjoint sets of {size} of these topics contradicted each other "
        f"in {counted(result.n_trials, 'split', form=',')}, with its Monte Carlo error."
    )
    header = ["difference", "pairs", "reversed", "in splits", "±"]
    return table("topic-levels", caption, header, rows)


PART = Part(
    title="Other topics",
    question="Would other topics change the table?",
    means=(
        "The probability that a replication, on as many other topics from the same population, "
        "reverses the order of two runs, given the difference that was observed. It allows for how "
        "the two were selected: the best of many runs are partly the luckiest."
    ),
    means_not="This section says nothing about other documents or judgments.",
    body=_body,
    run=_run,
    cost=_cost,
)
