"""What `components` found: which component matters, and which of its choices differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from steadyrank.present.anova import anova_figure, anova_table, power_note, sized, source_words
from steadyrank.present.cells import interval, name
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import Table, exact_table, render, with_words
from steadyrank.studies.components.study import ComponentsResult
from steadyrank.words import listed

MOST_LEVELS = 45
"""Levels of a factor that a table lists."""


def components_json(results: Sequence[ComponentsResult]) -> dict[str, Any]:
    """The promised keys of one measure; of several, a list of such objects."""
    if len(results) > 1:
        return {"studies": [components_json([result]) for result in results]}
    result = results[0]
    return {
        **picked(result, "measure factors type_three"),
        "anova": result.anova.rows(),
        "main_effects": [_main_json(result, name) for name in result.factors],
        **picked(result, "levels n_runs n_replicates n_topics n_dropped mode strata"),
        "level": result.confidence,
        "power_convention": result.anova.power,
        "answer": components_sentences(result),
        "notes": components_notes(result),
    }


def _main_json(result: ComponentsResult, factor: str) -> dict[str, Any]:
    effect, levels = result.main_effects[factor], result.levels[factor]
    return {
        "factor": factor,
        "levels": [
            {
                "level": level,
                "mean": float(mean),
                "interval": [float(mean - effect.half_width), float(mean + effect.half_width)],
            }
            for level, mean in zip(levels, effect.means, strict=True)
        ],
        "pairs": [
            {
                "a": levels[a],
                "b": levels[b],
                "difference": float(effect.difference[p]),
                "interval": effect.interval[p],
                "statistic": float(effect.statistic[p]),
                "pvalue": float(effect.pvalue[p]),
                "significant": bool(effect.significant[p]),
            }
            for p, (a, b) in enumerate(effect.pairs.tolist())
        ],
    }


def components_text(
    results: Sequence[ComponentsResult], form: str, *, digits: int = 4, **looks: Any
) -> str:
    """The results in one of the output formats; CSV holds the lines of the ANOVA tables."""
    if form == "json":
        return to_json(components_json(results))
    if form == "csv":
        return render(
            exact_table([{"measure": r.measure, **row} for r in results for row in r.rows()]), "csv"
        )
    parts = []
    for result in results:
        tables = [anova_table(result.anova, result.caption(), digits)]
        tables += [_levels_table(result, name, digits) for name in result.factors]
        answer, notes = components_sentences(result), components_notes(result)
        parts.append(with_words(answer, tables, notes, form, **looks))
    return "\n".join(parts)


def components_sentences(result: ComponentsResult) -> list[str]:
    """Which component matters most, and which of its choices is best."""
    lines = sorted((result.anova.source(n) for n in result.factors), key=lambda x: -x.omega_squared)
    sizes = [f"{source_words(line.source)} ({sized(line)})" for line in lines]
    sentences = [f"What matters for {result.measure}: {listed(sizes)}; in brackets omega²."]
    words = [
        f"{source_words(line.source)} ({sized(line)})"
        for line in result.anova.sources
        if ":" in line.source and line.df and line.omega_squared >= 0.01
    ]
    if words:
        sentences.append(f"Components interact: {listed(words)}.")
    return sentences + [_best_sentence(result, line.source) for line in lines]


def _best_sentence(result: ComponentsResult, factor: str) -> str:
    ordered, effect = result.ordered_levels(factor), result.main_effects[factor]
    with_best = (effect.pairs == np.argmax(effect.means)).any(axis=1)
    n_others, n_worse = len(ordered) - 1, int(effect.significant[with_best].sum())
    others = ordered[1][0] if n_others == 1 else f"{n_worse or 'any'} of the {n_others} others"
    better = "significantly better than" if n_worse else "not significantly better than"
    return (
        f"Best {source_words(factor)}: {ordered[0][0]} (mean {ordered[0][1]:.4f}), {better} "
        f"{others}."
    )


def components_notes(result: ComponentsResult) -> list[str]:
    """What a reader of the tables must know."""
    remedy = "" if result.type_three else " For other topics use strata topic."
    tested = (
        "Effects are tested against one residual, as published: that is about these topics."
        f"{remedy}"
        if result.strata == "none"
        else "Each effect is tested against its interaction with topics: that is about other "
        "topics. Effect sizes are based on all errors together."
    )
    return [tested, *power_note(result.anova)]


def levels_caption(result: ComponentsResult) -> str:
    """What the means of a factor's levels and their intervals say."""
    return (
        f"Means over all other components and topics. Two levels differ by Tukey's HSD "
        f"({result.confidence:.0%}) where their intervals do not overlap."
    )


def _levels_table(result: ComponentsResult, factor: str, digits: int) -> Table:
    """A factor's levels by mean, with intervals that do not overlap where two levels differ."""
    half = result.main_effects[factor].half_width
    rows = [
        [
            name(level),
            anova_figure(mean, digits),
            interval((mean - half, mean + half), f",.{digits}f"),
        ]
        for level, mean in result.ordered_levels(factor)[:MOST_LEVELS]
    ]
    caption = levels_caption(result)
    if result.type_three:
        caption += " In unbalanced data they may differ although their intervals overlap."
    header = [source_words(factor), result.measure, "interval"]
    return Table(header=header, rows=rows, best=frozenset({(0, 1)}), caption=caption)
