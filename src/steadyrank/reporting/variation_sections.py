"""Sections about where the runs come from: measures, instances, components and teams.

Each takes what a study found and returns what the page shows of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from steadyrank.present.anova import effect_word, source_words
from steadyrank.present.cells import name, number, percent, pvalue, span, table, whole
from steadyrank.present.page import Cell, PageTable, Section
from steadyrank.reporting.headline import counted, systems_words
from steadyrank.reporting.runs_sections import section
from steadyrank.stats.anova.balanced import Anova
from steadyrank.studies.agree.study import AgreeResult
from steadyrank.studies.agree.tables import agree_notes, agree_sentences
from steadyrank.studies.components.study import ComponentsResult
from steadyrank.studies.components.tables import components_notes, components_sentences
from steadyrank.studies.instances.study import InstancesTable
from steadyrank.studies.instances.tables import margin
from steadyrank.studies.plotting import figure
from steadyrank.studies.pools.result import PoolsResult
from steadyrank.studies.pools.tables import answer_sentences as pool_sentences
from steadyrank.studies.pools.tables import pools_notes


def measures_section(result: AgreeResult, warnings: Sequence[str] = ()) -> Section:
    """Which measures rank alike, and what that depends on."""
    figures = figure(
        "measure-likeness", "How alike the measures rank the runs.", result, "measures"
    )
    figures += figure(
        "measure-sizes",
        "Agreement of the first pair of measures by numbers of topics and runs.",
        result,
        "sizes",
    )
    tables = [_likeness_table(result), _ranking_table(result)]
    if result.anova is not None:
        figures += figure("measure-effects", "What the agreement depends on.", result, "effects")
        tables.append(_effects_table(result, result.anova))
    return section(
        "agree",
        answer=agree_sentences(result),
        figures=figures,
        tables=tables,
        warnings=warnings,
        notes=agree_notes(result),
    )


def _likeness_table(result: AgreeResult) -> PageTable:
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
        f"{counted(result.n_topics, 'topic')}; pairs of runs told apart by Tukey's HSD at "
        f"{like.alpha:g}, and the difference that this takes."
    )
    header = ["measure", *result.measures, "told apart", "difference needed"]
    return table("measure-tau", caption, header, rows)


def _ranking_table(result: AgreeResult) -> PageTable:
    rows = [
        [
            name(f"{row['measure_a']}, {row['measure_b']}"),
            number(row["tau"], ".3f"),
            number(row["tau_ap"], ".3f"),
        ]
        for row in result.ranking()
    ]
    caption = "Pairs of measures, mean over all sizes and samples of topics and runs."
    return table("measure-pairs", caption, ["measures", "tau", "tau_AP"], rows)


def _effects_table(result: AgreeResult, found: Anova) -> PageTable:
    """Effect sizes with intervals, and no tests: the samples are all of the same data."""
    rows = [
        [
            name(source_words(line.source)),
            number(line.omega_squared),
            span(result.limits.get(line.source)),
            Cell(effect_word(line.omega_squared)),
        ]
        for line in found.sources
        if not math.isnan(line.omega_squared)
    ]
    header = ["source", "omega squared", f"{result.confidence:.0%} interval", "effect"]
    caption = (
        f"{result.caption()} Intervals: {result.n_resamples} resamples of topics and runs; one "
        "that begins at 0 is compatible with no effect."
    )
    return table("measure-anova", caption, header, rows)


def _anova_table(id: str, caption: str, found: Anova) -> PageTable:
    rows = [
        [
            name(source_words(line.source)),
            number(line.ss),
            whole(line.df),
            number(line.ms),
            number(line.statistic, ",.2f"),
            pvalue(line.pvalue),
            number(line.omega_squared),
            Cell("" if math.isnan(line.omega_squared) else effect_word(line.omega_squared)),
        ]
        for line in found.sources
    ]
    header = ["source", "SS", "DF", "MS", "F", "p", "omega squared", "effect"]
    return table(id, caption, header, rows)


def instances_section(result: InstancesTable, warnings: Sequence[str] = ()) -> Section:
    """The best systems pair by pair, over topics and instances."""
    figures = figure("instance-margin", "Differences of systems and the margin.", result, "margin")
    figures += figure("instance-means", "Means of the instances.", result, "means")
    answer = [systems_words(result), *result.words()]
    best = (
        result.comparisons[int(np.nanargmin(result.pvalue_adjusted))]
        if not np.isnan(result.pvalue_adjusted).all()
        else result.comparisons[0]
    )
    answer += best.words()[:1]
    return section(
        "instances",
        answer=dict.fromkeys(answer),
        figures=figures,
        tables=[_instances_table(result), _variance_table(result)],
        warnings=warnings,
    )


def _instances_table(result: InstancesTable) -> PageTable:
    rows = []
    for found in result.comparisons:
        gap, sizes = number(found.difference, "+.4f"), found.n_instances
        rows.append(
            [
                name(found.a),
                name(found.b),
                Cell(f"{sizes['a']}/{sizes['b']}"),
                Cell(f"{gap.text} *", gap.value) if found.significant else gap,
                span(found.interval, "+.4f"),
                pvalue(found.headline_pvalue),
                pvalue(found.pvalue_adjusted),
                pvalue(found.pvalue["two_way_bootstrap"]),
                span(found.hpd, "+.4f"),
                name(margin(found)),
            ]
        )
    level = f"{1 - result.alpha:.0%}"
    header = [
        "a",
        "b",
        "instances",
        "difference",
        f"{level} interval",
        "p",
        "p corrected",
        "p, two-way bootstrap",
        f"{level} HPD",
        f"margin {result.delta:g}",
    ]
    caption = (
        f"{result.caption()} * significant after correction. p, two-way bootstrap and HPD are of "
        "each comparison alone."
    )
    return table("instance-pairs", caption, header, rows)


def _variance_table(result: InstancesTable) -> PageTable:
    parts = ("system_topic", "instance", "residual")
    rows = [
        [
            name(f"{found.a} − {found.b}"),
            *(percent(found.variance_share.get(part, math.nan)) for part in parts),
        ]
        for found in result.comparisons
    ]
    caption = "What makes the differences vary: shares of the variance."
    header = ["systems", "system × topic", "instances", "residual"]
    return table("instance-variances", caption, header, rows)


def components_section(result: ComponentsResult, warnings: Sequence[str] = ()) -> Section:
    """Which component matters, and which of its choices differ."""
    figures = figure("component-effects", "What each component explains.", result, "effects")
    tables = [_anova_table("component-anova", result.caption(), result.anova)]
    for place, factor in enumerate(result.factors):
        words = source_words(factor)
        figures += figure(
            f"component-{place}", f"Levels of {words}.", result, "levels", factor=factor
        )
        tables.append(_factor_table(result, factor, f"component-levels-{place}"))
    return section(
        "components",
        answer=components_sentences(result),
        figures=figures,
        tables=tables,
        warnings=warnings,
        notes=components_notes(result),
    )


def _factor_table(result: ComponentsResult, factor: str, id: str) -> PageTable:
    half = result.main_effects[factor].half_width
    rows = [
        [name(level), number(mean), span((mean - half, mean + half))]
        for level, mean in result.ordered_levels(factor)
    ]
    caption = (
        f"Means over all other components and topics. Two levels differ by Tukey's HSD "
        f"({result.confidence:.0%}) where their intervals do not overlap."
    )
    return table(id, caption, [source_words(factor), result.measure, "interval"], rows)


def pools_section(result: PoolsResult, warnings: Sequence[str] = ()) -> Section:
    """What leaving teams out does to the variance, and what runs owe to their own teams."""
    measure = result.measures[0]
    figures = [
        *figure(
            "pool-variance", "Variance with teams left out.", result, "variance", measure=measure
        ),
        *figure(
            "pool-bias",
            "What runs owe to documents that only their team found.",
            result,
            "bias",
            measure=measure,
        ),
    ]
    return section(
        "pools",
        answer=pool_sentences(result),
        figures=figures,
        tables=[_leave_out_table(result), _bias_table(result)],
        warnings=warnings,
        notes=pools_notes(result),
    )


def _leave_out_table(result: PoolsResult) -> PageTable:
    rows = []
    variances = {reference.measure: reference.variance for reference in result.references}
    for cell in result.leave_out:
        ratios = cell.extent and [end / variances[cell.measure] for end in cell.extent]
        rows.append(
            [
                name(cell.measure),
                whole(cell.k),
                whole(len(cell.variances)),
                number(cell.mean),
                span(cell.extent),
                span(ratios, ".2f"),
            ]
        )
    caption = (
        f"{result.caption()} Variance (V_E): mean and range of the trials, and the range over the "
        "variance by all teams, with which topics to build grow in proportion."
    )
    header = ["measure", "teams left out", "trials", "variance", "range", "over that by all teams"]
    return table("leave-teams-out", caption, header, rows, shown=16)


def _bias_table(result: PoolsResult) -> PageTable:
    rows = [
        [
            name(row.run),
            name(row.team),
            name(row.measure),
            number(row.score),
            number(row.change, "+.4f"),
            whole(row.unique),
            whole(row.unique_relevant),
        ]
        for row in sorted(result.bias, key=lambda row: -abs(np.nan_to_num(row.change)))
        if row.measure == result.measures[0]
    ]
    caption = (
        "Mean scores, and their change without the documents that only the run's team brought "
        "into the pool."
    )
    header = ["run", "team", "measure", "score", "change", "unique documents", "relevant"]
    return table("pool-bias-runs", caption, header, rows)
