"""The sentences, tables and figures of `components`, and its part of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from steadyrank.data.scores import Scores
from steadyrank.present.anova import ANOVA, anova_lines, effect_word, source_words
from steadyrank.present.json import picked
from steadyrank.present.view import Col, FigureSpec, Finding, TableSpec, View, Words
from steadyrank.studies.components.study import ComponentsResult, components, n_replicates_of
from steadyrank.studies.material import Material, named_systems
from steadyrank.studies.part import Findings, Job, part_of
from steadyrank.words import by_number, counted, listed

Results = Sequence[ComponentsResult]

INTERACTS = 0.01
"""Smallest omega squared, a small effect, at which components are said to interact."""


def findings(results: Results) -> list[Finding]:
    """Return the largest effect, interactions and the best levels by the first measure."""
    result = results[0]
    by_size = sorted(result.factors, key=lambda name: -result.anova.source(name).omega_squared)
    first, *others = [_best(result, name) for name in by_size]
    return [_largest(result, by_size), first, *_interactions(result), *others]


def _largest(result: ComponentsResult, by_size: Sequence[str]) -> Finding:
    sizes = {name: result.anova.source(name).omega_squared for name in by_size}
    name, size = by_size[0], sizes[by_size[0]]
    start = "The" if len(sizes) == 1 else f"Of {len(sizes)} components, the largest"
    return Finding(
        "components.largest",
        f"{start} effect on {result.measure} is that of {source_words(name)}: "
        f"omega² = {size:.3f} ({effect_word(size)}).",
        {"measure": result.measure, "component": name, "omega_squared": sizes},
    )


def _best(result: ComponentsResult, factor: str) -> Finding:
    effect, (level, mean) = result.main_effects[factor], result.ordered_levels(factor)[0]
    best = result.levels[factor].index(level)
    with_best = (effect.pairs == best).any(axis=1)
    n_others, n_worse = len(effect.means) - 1, int(effect.significant[with_best].sum())
    others = f"{n_worse} of {n_others} others" if n_worse else "any other"
    return Finding(
        f"components.best.{factor}",
        f"Best {source_words(factor)}: {level} (mean {mean:.4f}), {'' if n_worse else 'not '}"
        f"significantly better than {'the other' if n_others == 1 else others}.",
        {"level": level, "mean": mean, "n_others": n_others, "n_significantly_worse": n_worse},
    )


def _interactions(result: ComponentsResult) -> list[Finding]:
    sizes = {
        line.source: line.omega_squared
        for line in result.anova.sources
        if ":" in line.source and line.df and line.omega_squared >= INTERACTS
    }
    return [
        Finding(
            "components.interaction",
            f"The largest interaction is {source_words(source)}: omega² = {size:.3f} "
            f"({effect_word(size)}).",
            {"omega_squared": sizes},
        )
        for source, size in sorted(sizes.items(), key=lambda item: -item[1])[:1]
    ]


def _level_rows(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "measure": result.measure,
            "component": source_words(factor),
            "level": level,
            "mean": mean,
            "interval": (mean - half_width, mean + half_width),
        }
        for result in results
        for factor in result.factors
        for half_width in [result.main_effects[factor].half_width]
        for level, mean in result.ordered_levels(factor)
    ]


def _anova_caption(results: Results) -> str:
    of_all = replace(results[0], measure=listed([result.measure for result in results]))
    return f"{of_all.caption()} {AGAINST[results[0].strata]}"


AGAINST = {
    "topic": "Tests: against interactions with topics, for other topics (docs/components.md).",
    "none": "Tests: against one residual, for these topics only (docs/components.md).",
}


MEASURE = Col("measure", form="name", when=lambda results: len(results) > 1)

TABLE = TableSpec(
    id="component-anova",
    rows=lambda results: [{"measure": one.measure, **row} for one in results for row in one.rows()],
    shown=anova_lines,
    columns=(MEASURE, *ANOVA),
    caption=_anova_caption,
)
LEVELS = TableSpec(
    id="component-levels",
    rows=_level_rows,
    columns=(
        MEASURE,
        Col("component", form="name"),
        Col("level", form="name"),
        Col("mean"),
        Col("interval", "HSD interval"),
    ),
    caption=lambda results: (
        "Means over all other components and topics, the best first. Levels differ by Tukey's HSD "
        f"({results[0].confidence:.0%}) where their intervals do not overlap."
    ),
    printed=lambda results: 100,
)


def fields(results: Results) -> dict[str, Any]:
    """Return the JSON fields of one measure; for several measures a list of such objects."""
    if len(results) > 1:
        return {"studies": [VIEW.json([result]) for result in results]}
    result = results[0]
    return {
        **picked(result, "measure factors"),
        "anova": result.rows(),
        "main_effects": [_main_effect(result, name) for name in result.factors],
        **picked(result, "levels n_runs n_replicates n_topics n_dropped mode strata"),
        "level": result.confidence,
        "answer": [finding.text for finding in findings(results)],
        "notes": [AGAINST[result.strata]],
    }


PAIR_KEYS = ("difference", "interval", "statistic", "pvalue", "significant")


def _main_effect(result: ComponentsResult, factor: str) -> dict[str, Any]:
    effect, levels = result.main_effects[factor], result.levels[factor]
    half = effect.half_width
    return {
        "factor": factor,
        "levels": [
            {"level": level, "mean": mean, "interval": [mean - half, mean + half]}
            for level, mean in zip(levels, effect.means.tolist(), strict=True)
        ],
        "pairs": [
            {"a": levels[a], "b": levels[b]} | {key: getattr(effect, key)[p] for key in PAIR_KEYS}
            for p, (a, b) in enumerate(effect.pairs.tolist())
        ],
    }


VIEW = View(
    words=Words(
        title="Components",
        question="Which component of the systems matters?",
        means=(
            "Omega squared is the share of the variance that a component explains when all others "
            "are removed: by convention 0.14 is large, 0.06 medium and 0.01 small."
        ),
        means_not=(
            "Where components interact, no single choice is best on its own. Nothing is said "
            "about components that were not varied."
        ),
    ),
    findings=findings,
    tables=(TABLE, LEVELS),
    fields=fields,
    figure=FigureSpec(
        id="component-effects",
        caption="What each component explains.",
        kind="effects",
        of=lambda results: results[0],
    ),
)


MOST_FACTORS = 4

NOT_COMPONENTS = ("team", "system", "topic")


def _why_not(material: Material) -> str:
    scores = material.scores
    if _grid(material)[1]:
        return ""
    candidates = [name for name in scores.run_info if _is_component(scores, name)]
    if candidates:
        return (
            f"the columns {', '.join(candidates)} do not make a full grid: every combination "
            "must occur equally often"
        )
    return (
        "the components of the runs are not known: give --run-info with columns such as "
        "stemmer and model"
    )


def _grid(material: Material) -> tuple[Scores, tuple[str, ...]]:
    """Return the runs that make a full grid, and its columns: all runs, or those of one column."""
    scores = material.scores
    factors = material.settings.factors or grid_factors(scores)
    if factors:
        return scores, factors
    for column in scores.run_info.values():
        made = [run for run, value in zip(scores.runs, column, strict=True) if value]
        if 4 <= len(made) < len(scores.runs):
            some = scores.select(runs=made)
            factors = grid_factors(some)
            if factors:
                return some, factors
    return scores, ()


def grid_factors(scores: Scores) -> tuple[str, ...]:
    """Return the columns that make the largest full grid of components; empty without a grid.

    Columns that vary among the instances of a system describe instances, not components.
    """
    columns = [name for name in scores.run_info if _is_component(scores, name)]
    if not columns:
        return ()
    # A single column out of several would be confounded with those left out.
    for size in range(min(len(columns), MOST_FACTORS), min(len(columns), 2) - 1, -1):
        for chosen in combinations(columns, size):
            if n_replicates_of([scores.run_info[name] for name in chosen]):
                return chosen
    return ()


def _is_component(scores: Scores, name: str) -> bool:
    column = scores.run_info[name]
    if name in NOT_COMPONENTS or "" in column or not 2 <= len(set(column)) < len(column):
        return False
    groups = named_systems(scores).values()
    return all(len({column[place] for place in places}) == 1 for places in groups)


def _run(job: Job) -> ComponentsResult:
    scores, factors = _grid(job.material)
    return components(scores, factors=factors, measure=job.material.measure)


def _others_note(result: ComponentsResult, findings: Findings) -> list[str]:
    others = len(findings.material.scores.runs) - result.n_runs
    if not others:
        return []
    lacking = f"{counted(others, 'run')} of which the run information gives no"
    return [f"{lacking} {listed(result.factors)} {by_number(others, 'is', 'are')} left out."]


PART = part_of(
    VIEW, run=_run, why_not=_why_not, subject_of=lambda result: [result], notes=_others_note
)
