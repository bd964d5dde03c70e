"""Sections about what might have been drawn otherwise: documents, topics; and what would settle it.

Each takes what a study found and returns what the page shows of it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present.cells import name, number, percent, pvalue, span, table, whole
from steadyrank.present.page import Cell, PageTable, Section
from steadyrank.reporting.headline import counted, documents_share, standing, topics_to_settle
from steadyrank.reporting.runs_sections import MOST_DOTS, section
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.plan.study import PlanResult
from steadyrank.studies.plan.tables import plan_notes, stability_notes
from steadyrank.studies.plotting import figure
from steadyrank.studies.simulate.measures import parse_simulated
from steadyrank.studies.simulate.result import grades_words
from steadyrank.studies.simulate.study import SimulateResult
from steadyrank.studies.simulate.tables import answer_sentences as simulation_sentences
from steadyrank.studies.stability.study import StabilityResult
from steadyrank.studies.topics.sentences import needed_figure
from steadyrank.studies.topics.study import TopicsResult
from steadyrank.studies.topics.tables import REVERSED, needed_caption
from steadyrank.studies.topics.tables import answer_sentences as topic_sentences
from steadyrank.words import counted as counted_as
from steadyrank.words import level_words

MOST_SETTLED = 25
"""Rivals of the leader that a table lists."""

MOST_PAIRS = 200


def documents(result: SimulateResult, *, measure: str, warnings: Sequence[str] = ()) -> Section:
    """Who keeps his place when documents are drawn anew."""
    figures = [
        *figure("document-ranks", "Ranks in simulated collections.", result, "ranks"),
        *figure(
            "document-errors",
            "How often a simulated difference is the wrong way round, by its size.",
            result,
            "error_rate",
        ),
        *figure("document-tau", "How alike simulated collections rank the runs.", result, "tau"),
        *figure("document-topics", "The best run on each topic, simulated.", result, "topics"),
    ]
    said = [
        *simulation_sentences(result),
        f"{counted(result.n_samples, 'collection')} {'was' if result.n_samples == 1 else 'were'} "
        "simulated.",
    ]
    if measure not in (result.measure, result.graded_measure):
        # The first sentence says what was found, and stands alone where findings are listed.
        said.insert(1, f"By {result.measure}: {_no_simulation_words(measure)}.")
    return section(
        "simulate",
        answer=said,
        figures=figures,
        tables=[_simulated_table(result), _kept_table(result)],
        # What the answer says already is not repeated.
        warnings=[warning for warning in warnings if warning != grades_words(result)],
    )


def _no_simulation_words(measure: str) -> str:
    """Why the measure that ranks the runs is not the one that was simulated."""
    try:
        parse_simulated(measure)
    except InputError:
        return f"{measure} cannot be simulated"
    return f"{measure} needs grades, which simulated documents do not have"


def _simulated_table(result: SimulateResult) -> PageTable:
    rows = [
        [
            whole(row["rank"]),
            name(row["run"]),
            number(row["raw_mean"]),
            number(row["simulated_mean"]),
            number(row["simulated_sd"]),
            Cell(f"{row['rank_low']} to {row['rank_high']}"),
            percent(row["top_1"]),
            percent(row["top_3"]),
        ]
        for row in result.rows()
    ]
    header = [
        "",
        "run",
        result.measure,
        "simulated mean",
        "simulated sd",
        "rank interval",
        "chance of first",
        "of the top three",
    ]
    caption = f"{result.caption()} Rank interval: in 95% of the simulated collections."
    return table("simulated", caption, header, rows)


def _kept_table(result: SimulateResult) -> PageTable:
    """Neighbours in the table: how often they keep their order."""
    order = np.argsort(-result.raw_mean, kind="stable").tolist()
    place = {tuple(pair): p for p, pair in enumerate(all_pairs(len(order)).tolist())}
    rows = []
    for a, b in itertools.pairwise(order):
        share = documents_share(result, result.runs[a], result.runs[b])
        p = place[min(a, b), max(a, b)]
        rows.append(
            [
                name(result.runs[a]),
                name(result.runs[b]),
                number(float(result.raw_mean[a] - result.raw_mean[b])),
                percent(math.nan if share is None else share),
                percent(float(result.significance.rate[p])),
            ]
        )
    caption = (
        f"Neighbours in the real ranking by {result.measure}: share of the simulated collections "
        "that keep their order (ties count half), and in which a paired t test tells them apart."
    )
    header = ["better", "next", "difference", "order kept", "told apart"]
    return table("documents-neighbours", caption, header, rows, most=MOST_PAIRS)


def topics_section(result: TopicsResult, warnings: Sequence[str] = ()) -> Section:
    """What a second experiment may do to neighbours in the table."""
    figures = figure(
        "topic-errors",
        "Reversals against the number of topics, by the size of the difference.",
        result,
        "error_rate",
    )
    if len(result.pairs) <= MOST_DOTS:
        figures += figure(
            "topic-pairs",
            "Every pair: its difference, and how likely other topics reverse it.",
            result,
            "pairs",
        )
    figures += figure(
        "topic-variances",
        "Variance of differences, paired and as if runs had topics of their own.",
        result,
        "variances",
    )
    return section(
        "topics",
        answer=topic_sentences(result),
        figures=figures,
        tables=[_neighbours_table(result), _levels_table(result)],
        warnings=warnings,
    )


def _neighbours_table(result: TopicsResult) -> PageTable:
    rows = []
    for place, (a, b) in enumerate(itertools.pairwise(result.order), start=1):
        (row,) = result.rows([result.pair(a, b)])
        lead = row["difference"] if row["a"] == result.runs[a] else -row["difference"]
        rows.append(
            [
                whole(place),
                name(result.runs[a]),
                name(result.runs[b]),
                number(lead),
                percent(row["predictive"]),
                percent(row["expected_reversal"]),
                percent(row["predictive_limit"]),
                percent(row["error_rate"]),
                needed_cell(row),
            ]
        )
    header = [
        "",
        "run",
        "next",
        "lead",
        "reversed",
        "as picked",
        "by endless topics",
        "error rate",
        "topics needed",
    ]
    caption = (
        f"{result.caption()} {REVERSED} As picked: the same, allowing for the two having been "
        "picked among all runs by these scores, by empirical Bayes. By endless topics: the first "
        "rate if the second experiment had any number of topics; no number brings it lower. Error "
        "rate: how often two experiments "
        "contradict each other if the observed difference were the true one. "
        f"{needed_caption(result)}"
    )
    return table("topic-neighbours", caption, header, rows)


def needed_cell(row: Mapping[str, Any]) -> Cell:
    """The topics that a pair requires, with their interval; sorts by the number or its bound."""
    low = row["topics_needed_interval"][0]
    known = row["topics_needed"] if row["topics_needed"] is not None else low
    return Cell(needed_figure(row), known)


def _levels_table(result: TopicsResult) -> PageTable:
    measured = [s for s in range(len(result.sizes)) if any(v.count[s] for v in result.levels)]
    last = measured[-1] if measured else len(result.sizes) - 1
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
        f"By the size of the difference, with {counted(size, 'topic')}: the predictive rate, and "
        f"how often two disjoint sets of {size} of these topics contradicted each other in "
        f"{counted(result.n_trials, 'split')}, with its Monte Carlo error."
    )
    header = ["difference", "pairs", "reversed", "in splits", "±"]
    return table("topic-levels", caption, header, rows)


def plan_section(
    result: PlanResult,
    compared: CompareResult,
    topics: TopicsResult | None,
    *,
    settling: str = "",
    warnings: Sequence[str] = (),
) -> Section:
    """Topics to tell the leader from its rivals, and by measure for a difference that matters."""
    said = [settling] if settling else []
    said.append(_plan_words(result))
    tables = [_plan_table(result)]
    if topics is not None:
        tables.insert(0, _settle_table(compared, topics))
    return section(
        "plan",
        answer=said,
        figures=figure("plan-curves", "What the number of topics depends on.", result, "curves"),
        tables=tables,
        warnings=warnings,
        notes=plan_notes(result),
    )


def _plan_words(result: PlanResult) -> str:
    """The topics for a difference that matters, whichever two runs have it."""
    demands, first = result.demands, result.plans[0]
    level = level_words(demands.alpha, demands.comparisons)
    low, high = first.topics_interval or (first.topics, first.topics)
    return (
        f"To find a difference of {demands.minimum_difference:g} mean {first.measure} between two "
        f"runs with power {1 - demands.beta:g} at {level} requires "
        f"{counted(first.topics, 'topic')} ({result.confidence:.0%} interval {low:,} to {high:,})."
    )


def _settle_table(compared: CompareResult, topics: TopicsResult) -> PageTable:
    """The leader against its rivals, or against the next where there are none."""
    found = standing(compared)
    rivals = list(found.group[1:]) or [found.runner_up]
    corrected = {
        frozenset(pair): float(p)
        for pair, p in zip(compared.pairs.tolist(), compared.pvalue_adjusted, strict=True)
    }
    places = {run: i for i, run in enumerate(compared.runs)}
    rows = []
    for run in rivals[:MOST_SETTLED]:
        p = corrected[frozenset((places[found.leader], places[run]))]
        gap = float(compared.mean[places[found.leader]] - compared.mean[places[run]])
        needed = needed_cell(topics_to_settle(topics, found.leader, run))
        rows.append([name(found.leader), name(run), number(gap), pvalue(p), needed])
    caption = f"{needed_caption(topics)} There are {topics.n_topics} topics."
    left = len(rivals) - len(rows)
    if left > 0:
        more = counted_as(left, "more run is", "more runs are")
        caption += f" {more} not significantly different from the leader."
    return table("settle", caption, ["leader", "rival", "lead", "p", "topics needed"], rows)


def _plan_table(result: PlanResult) -> PageTable:
    rows = [
        [
            name(plan.measure),
            number(plan.difference_variance),
            whole(plan.topics),
            span(plan.topics_interval, ",.0f"),
            number(plan.power, ".3f"),
            whole(plan.pilot.n_topics if plan.pilot else None),
            number(_smallest(result, plan.difference_variance, plan.pilot)),
        ]
        for plan in result.plans
    ]
    caption = (
        f"{result.caption()} Variance: of the differences of two runs, mean over pairs. Shown by "
        f"these: the smallest difference that the topics at hand show with power "
        f"{1 - result.demands.beta:g}."
    )
    sure = f"{result.confidence:.0%} interval"
    header = [
        "measure",
        "variance of differences",
        "topics",
        sure,
        "power",
        "topics at hand",
        "shown by these",
    ]
    return table("plan-measures", caption, header, rows)


def _smallest(result: PlanResult, variance: float, pilot: object) -> float:
    n = getattr(pilot, "n_topics", 0)
    return result.demands.smallest_difference(variance / 2.0, n) if n > 1 else math.nan


def stability_section(results: Sequence[StabilityResult], warnings: Sequence[str] = ()) -> Section:
    """How well these topics, and other numbers of them, rank and measure systems."""
    main = results[0]
    return section(
        "stability",
        answer=stability_notes(main),
        figures=figure(
            "stability-curves", "E rho² and Phi against the number of topics.", main, "coefficients"
        ),
        tables=[_stability_table(results), _influence_table(results), _d_study_table(main)],
        warnings=warnings,
    )


def _stability_table(results: Sequence[StabilityResult]) -> PageTable:
    highest = max(needed.level for needed in results[0].topics_needed)
    parts = list(results[0].variance_share)
    rows = []
    for result in results:
        found = result.coefficients[0]
        needed = next(each for each in result.topics_needed if each.level == highest)
        rows.append(
            [
                name(result.measure),
                *(percent(result.variance_share.get(part, math.nan)) for part in parts),
                number(found.e_rho2, ".3f"),
                span(found.e_rho2_interval, ".3f"),
                number(found.phi, ".3f"),
                span(found.phi_interval, ".3f"),
                whole(needed.e_rho2),
                whole(needed.phi),
            ]
        )
    sure = f"{results[0].confidence:.0%} interval"
    of_parts = [f"variance: {part.replace('_', ' × ')}" for part in parts]
    header = [
        "measure",
        *of_parts,
        "E rho²",
        sure,
        "Phi",
        sure,
        f"topics for E rho² {highest:g}",
        f"for Phi {highest:g}",
    ]
    return table("stability-measures", results[0].caption(), header, rows)


def _influence_table(results: Sequence[StabilityResult]) -> PageTable:
    """How far the coefficients rest on single systems, and those of the leading group."""
    rows = []
    for result in results:
        left, group = result.leave_one_out, result.leading_group
        rows.append(
            [
                name(result.measure),
                number(result.e_rho2, ".3f"),
                span(left.e_rho2 if left else None, ".3f"),
                name(left.system if left else "–"),
                number(left.e_rho2_without if left else math.nan, ".3f"),
                whole(len(group.systems) if group else None),
                number(group.e_rho2 if group else math.nan, ".3f"),
                number(group.phi if group else math.nan, ".3f"),
            ]
        )
    caption = (
        "Does one system carry the coefficient? E rho² without each system in turn, and without "
        "the one whose absence changes it most; and E rho² and Phi of the leading group, the "
        "better half of the systems by mean, at most 20."
    )
    header = [
        "measure",
        "E rho²",
        "without each",
        "most by",
        "E rho² without it",
        "leading group",
        "its E rho²",
        "its Phi",
    ]
    return table("stability-influence", caption, header, rows)


def _d_study_table(result: StabilityResult) -> PageTable:
    with_instances = any(found.instances is not None for found in result.coefficients)
    rows = [
        [
            whole(found.topics),
            *([number(found.instances or math.nan, "g")] if with_instances else []),
            number(found.e_rho2, ".3f"),
            span(found.e_rho2_interval, ".3f"),
            number(found.phi, ".3f"),
            span(found.phi_interval, ".3f"),
        ]
        for found in result.coefficients
    ]
    sure = f"{result.confidence:.0%} interval"
    header = ["topics", *(["instances"] if with_instances else []), "E rho²", sure, "Phi", sure]
    caption = f"D-study of {result.measure}: other numbers of topics."
    return table("d-study", caption, header, rows)
