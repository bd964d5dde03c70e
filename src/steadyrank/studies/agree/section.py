"""The section of a report about other measures: do they agree about the ranking?"""

from __future__ import annotations

import math

import numpy as np

from steadyrank.present.anova import effect_word, source_words
from steadyrank.present.cells import name, number, percent, span, table, titled
from steadyrank.present.table import Cell, Table
from steadyrank.stats.anova.balanced import Anova
from steadyrank.studies.agree.result import AgreeResult
from steadyrank.studies.agree.samples import DRAWS, RESAMPLES, SYSTEM_SIZES, TOPIC_SIZES
from steadyrank.studies.agree.study import agree
from steadyrank.studies.agree.tables import agree_notes, agree_sentences
from steadyrank.studies.material import Material
from steadyrank.studies.part import Body, Cost, Drawing, Findings, Job, Part, Shape
from steadyrank.words import counted

LEAST_RANKED = 5
"""Runs from which on a correlation of rankings says something."""


def _why_not(material: Material) -> str:
    scores = material.scores
    if len(scores.measures) < 2:
        return "one measure only: name a second with -m"
    if len(scores.runs) < LEAST_RANKED:
        return (
            f"{len(scores.runs)} runs only: rankings of fewer than {LEAST_RANKED} runs hardly "
            "show whether two measures agree"
        )
    return ""


def _cost(shape: Shape) -> Cost:
    measure_pairs = math.comb(shape.n_measures, 2)
    sampled = 2e-4 + 4e-7 * measure_pairs * min(shape.n_runs, 2000)
    return Cost(
        fixed=0.1 + RESAMPLES * DRAWS * sampled,
        per_sample=sampled,
        least=10,
        most=1000,
        noun="samples of each size",
    )


def _run(job: Job) -> AgreeResult:
    scores = job.material.scores
    complete = int((~np.isnan(scores.values).any(axis=(0, 1))).sum())
    return agree(
        scores,
        n_samples=job.n_samples,
        topic_sizes=_sizes(TOPIC_SIZES, complete, 1),
        system_sizes=_sizes(SYSTEM_SIZES, len(scores.runs), 2),
        progress=job.machine.progress("samples of topics and runs"),
        scheduler=job.machine.scheduler,
        **job.common,
    )


def _sizes(usual: tuple[int, ...], n: int, least: int) -> list[int]:
    """The usual sizes that leave something to draw from, or halves of what there is."""
    fitting = [size for size in usual if size < n]
    return fitting if len(fitting) > 1 else sorted({max(least, n // 2), max(least, 3 * n // 4)})


def _body(result: AgreeResult, findings: Findings) -> Body:
    by_size = "Agreement of the first pair of measures by numbers of topics and runs."
    figures = [
        Drawing(
            "measure-likeness", "How similarly the measures rank the runs.", result, "measures"
        ),
        Drawing("measure-sizes", by_size, result, "sizes"),
    ]
    tables = [_likeness_table(result), _ranking_table(result)]
    if result.anova is not None:
        depends = "What the agreement depends on."
        figures.append(Drawing("measure-effects", depends, result, "effects"))
        tables.append(_effects_table(result, result.anova))
    return Body(
        answer=tuple(agree_sentences(result)),
        figures=tuple(figures),
        tables=tuple(tables),
        notes=tuple(agree_notes(result)),
    )


def _likeness_table(result: AgreeResult) -> Table:
    like = result.likeness
    rows = [
        [
            name(result.measures[i]),
            *(number(float(like.tau[i, j]), ".3f") for j in range(len(result.measures))),
            percent(float(like.discriminative_power[i])),
            number(float(like.needed_difference[i])),
        ]
        for i in range(len(result.measures))
    ]
    caption = (
        f"Kendall's tau between rankings of all {result.n_systems:,} runs on "
        f"{counted(result.n_topics, 'topic', form=',')}; share of the pairs of runs that "
        f"differ by Tukey's HSD at alpha {like.alpha:g}, and the difference that this "
        "requires."
    )
    header = ["measure", *result.measures, "pairs that differ", "difference needed"]
    return table("measure-tau", caption, header, rows)


def _ranking_table(result: AgreeResult) -> Table:
    rows = [
        {
            "measures": name(f"{row['measure_a']}, {row['measure_b']}"),
            "tau": number(row["tau"], ".3f"),
            "tau_AP": number(row["tau_ap"], ".3f"),
        }
        for row in result.ranking()
    ]
    caption = "Pairs of measures, mean over all sizes and samples of topics and runs."
    return table("measure-pairs", caption, *titled(rows))


def _effects_table(result: AgreeResult, anova: Anova) -> Table:
    """Effect sizes with intervals, and no tests: the samples are all of the same data."""
    rows = [
        [
            name(source_words(line.source)),
            number(line.omega_squared),
            span(result.limits.get(line.source)),
            Cell(effect_word(line.omega_squared)),
        ]
        for line in anova.sources
        if not math.isnan(line.omega_squared)
    ]
    header = ["source", "omega squared", f"{result.confidence:.0%} interval", "effect"]
    caption = (
        f"{result.caption()} Intervals: {result.n_interval_samples} resamples of topics and runs; "
        "one that begins at 0 is compatible with no effect."
    )
    return table("measure-anova", caption, header, rows)


PART = Part(
    title="Other measures",
    question="Do the measures agree about the ranking?",
    means=(
        "Kendall's tau compares two rankings: 1 is the same order, 0 no relation. Samples of "
        "topics and runs of several sizes show how many are required before agreement stops "
        "growing. Intervals of omega squared show how far it could differ with other topics "
        "and runs."
    ),
    means_not=(
        "Measures that agree may both miss what users care about; measures that differ may "
        "both be right about different things. All samples are drawn from the same topics and "
        "runs, and drawing more of them says no more about others, so there are no p-values."
    ),
    body=_body,
    run=_run,
    why_not=_why_not,
    cost=_cost,
)
