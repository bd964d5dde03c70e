"""What `agree` found: the answer in words, the ANOVA table, and measures by likeness."""

from __future__ import annotations

from typing import Any

import numpy as np

from steadyrank.data.scores import mean_of_present
from steadyrank.present.anova import anova_figure, anova_table, effects_table, power_note, sized
from steadyrank.present.cells import name, number, titled
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import Cell, Table, exact_table, render, with_words
from steadyrank.stats.anova.balanced import Anova
from steadyrank.studies.agree.result import AgreeResult
from steadyrank.words import counted, figure, listed

MOST_PAIRS = 45
"""Pairs of measures that a table lists."""

ALMOST_ALIKE, ALIKE = 0.9, 0.8
"""From which tau on two rankings are held to be equivalent, or at least not noticeably different
(Voorhees 2001)."""


def agree_json(result: AgreeResult) -> dict[str, Any]:
    """The promised keys, and what else there is."""
    like = result.likeness
    names = [result.measures[i] for i in like.order]
    return {
        **picked(result, "coefficient measures"),
        "cells": result.cells(),
        "anova": result.anova_rows(),
        "ranking": result.ranking(),
        "rmse": result.rmse,
        "anovas": {key: result.anova_rows(key) for key in result.anovas},
        "power_convention": result.anova.power if result.anova else None,
        **picked(result, "mode strata"),
        "n_resamples": result.n_interval_samples,
        "swaps": [[_pair(result, p) for p in swap] for swap in result.swaps.tolist()],
        "likeness": {
            "tau": like.tau,
            "tau_ap": like.tau_ap,
            "dendrogram_order": names,
            "linkage": like.linkage,
            **{
                key: dict(zip(result.measures, getattr(like, key).tolist(), strict=True))
                for key in ("discriminative_power", "needed_difference")
            },
            "alpha": like.alpha,
        },
        **picked(result, "topic_sizes system_sizes n_samples"),
        "level": result.confidence,
        **picked(result, "reference ties n_topics n_systems n_dropped seed"),
        "answer": agree_sentences(result),
        "notes": agree_notes(result),
    }


def _pair(result: AgreeResult, pair: int) -> list[str]:
    return [result.measures[i] for i in result.pairs[pair]]


def agree_text(
    result: AgreeResult, form: str, *, rows: str = "anova", digits: int = 4, **looks: Any
) -> str:
    """The result in one of the output formats; CSV holds `rows`: anova, cells or ranking.

    One size of topics and of systems leaves no ANOVA: CSV then holds the cells.
    """
    if form == "json":
        return to_json(agree_json(result))
    if form == "csv":
        found = result.anova_rows() if rows == "anova" else getattr(result, rows)()
        return render(exact_table(found or result.cells()), "csv")
    tables = [_likeness_table(result, digits), _ranking_table(result, digits)]
    if result.anova is not None and result.mode == "paper":
        tables.insert(0, anova_table(result.anova, result.caption(), digits))
    elif result.anova is not None:
        tables.insert(0, effects_table(result.anova, result.limits, result.caption(), digits))
    return with_words(agree_sentences(result), tables, agree_notes(result), form, **looks)


def agree_sentences(result: AgreeResult) -> list[str]:
    """What the study says, for somebody who reads no further."""
    sentences = [_nearest_sentence(result), *_odd_sentence(result)]
    if result.anova is not None:
        sentences += _effects_sentence(result, result.anova)
    sentences += _trend_sentence(result)
    return [*sentences, _coefficients_sentence(result)]


def _coefficients_sentence(result: AgreeResult) -> str:
    """How far tau and tau_AP say the same; one pair of measures has no order to compare."""
    tau, tau_ap = (float(np.mean(means)) for means in result.marginal.values())
    means = f"Over all sizes the mean tau is {tau:.2f} and the mean tau_AP {tau_ap:.2f}"
    if len(result.pairs) < 2:
        return f"{means}."
    swaps = counted(len(result.swaps), "pair") if len(result.swaps) else "no pairs"
    return (
        f"{means}; beyond that offset they differ by {result.rmse:.3f} (root mean square) and put "
        f"{swaps} of pairs of measures in opposite orders."
    )


EFFECTS = {
    "measure_pair": "which measures they are",
    "topic_size": "the number of topics",
    "system_size": "the number of systems",
}

CAUSES = EFFECTS | {"measure_pair": "the choice of measures"}


def _effects_sentence(result: AgreeResult, table: Anova) -> list[str]:
    """How large the main effects are; which of them other topics and systems need not show."""
    present = [name for name in EFFECTS if table.source(name).df]
    if not present:
        return []
    limits = result.limits
    sizes = [
        f"{EFFECTS[name]} ({sized(table.source(name))}{_between(limits.get(name))})"
        for name in present
    ]
    what = f"omega² and its {result.confidence:.0%} interval" if limits else "omega²"
    sentences = [f"Effects on how far two measures agree: {listed(sizes)}; in brackets {what}."]
    unshown = [CAUSES[name] for name in present if limits.get(name, (1.0,))[0] <= 0.0]
    if unshown:
        sentences.append(
            f"These data do not show that {listed(unshown, 'or')} matters beyond these topics and "
            "systems."
        )
    return sentences


def _between(limits: tuple[float, float] | None) -> str:
    return "" if limits is None else f", {limits[0]:.3f} to {limits[1]:.3f}"


def _nearest_sentence(result: AgreeResult) -> str:
    tau = result.likeness.tau[tuple(result.pairs.T)]
    best = int(np.argmax(tau))
    a, b = _pair(result, best)
    systems = f"these {result.n_systems:,} systems"
    if tau[best] >= ALMOST_ALIKE:
        return f"{a} and {b} rank {systems} almost alike, {tau[best]:.2f}."
    return (
        f"No two measures rank {systems} almost alike; the closest are {a} and {b}, "
        f"{tau[best]:.2f}."
    )


def _odd_sentence(result: AgreeResult) -> list[str]:
    """The measure that is farthest from its nearest neighbour, if there are others."""
    if len(result.measures) < 3:
        return []
    others = _tau_of_others(result)
    nearest = others.max(axis=1)
    odd = int(np.argmin(nearest))
    name, other = result.measures[odd], result.measures[int(np.argmax(others[odd]))]
    if nearest[odd] >= ALIKE:
        return [
            f"Even {name}, the odd one out, ranks them much as {other} does, {nearest[odd]:.2f}."
        ]
    return [f"{name} ranks differently: the closest to it is {other}, {nearest[odd]:.2f}."]


def _tau_of_others(result: AgreeResult) -> np.ndarray:
    """[measure, measure]: tau, and minus infinity of a measure with itself."""
    same = np.eye(len(result.measures), dtype=bool)
    return np.where(same, -np.inf, result.likeness.tau)


def _trend_sentence(result: AgreeResult) -> list[str]:
    if len(result.topic_sizes) < 2:
        return []
    samples = np.moveaxis(result.samples, 1, 0).reshape(len(result.topic_sizes), -1)
    mean = mean_of_present(samples)
    few, many = np.argmin(result.topic_sizes), np.argmax(result.topic_sizes)
    symbol = "tau" if result.coefficient == "tau" else "tau_AP"
    return [
        f"The mean {symbol} is {mean[few]:.2f} with {result.topic_sizes[few]} topics and "
        f"{mean[many]:.2f} with {result.topic_sizes[many]}."
    ]


def agree_notes(result: AgreeResult) -> list[str]:
    """What a reader of the tables must know."""
    notes = [result.note] if result.anova is not None else []
    return notes + power_note(
        result.anova, "The power column printed in the paper follows from neither convention."
    )


def _likeness_table(result: AgreeResult, digits: int) -> Table:
    """Measures in the order of the dendrogram, with their nearest and what they tell apart."""
    like = result.likeness
    others = _tau_of_others(result)
    power = like.discriminative_power.tolist()
    header, rows = titled(
        {
            "measure": name(result.measures[i]),
            "nearest": name(result.measures[j]),
            "tau": anova_figure(float(others[i, j]), digits),
            "tau_AP": anova_figure(float(like.tau_ap[i, j]), digits),
            "pairs that differ": Cell(figure(power[i], ".1%", missing=""), power[i]),
            "difference": anova_figure(float(like.needed_difference[i]), digits),
        }
        for i, j in zip(like.order, others.argmax(axis=1)[like.order], strict=True)
    )
    caption = (
        f"All {result.n_systems:,} systems and {result.n_topics} topics, measures that rank alike "
        f"side by side. Pairs that differ: share of the pairs of systems that differ significantly "
        f"by Tukey's HSD at {like.alpha:g}, which takes the difference of means in the last column."
    )
    return Table(header=header, rows=rows, caption=caption, n_names=2)


def _ranking_table(result: AgreeResult, digits: int) -> Table:
    """Pairs of measures by mean tau, with their ranks by tau_AP: Figure 2."""
    pairs = result.ranking()
    header, rows = titled(
        {
            "pair": name(f"{row['measure_a']} – {row['measure_b']}"),
            "rank by tau": number(row["rank_tau"], "d"),
            "tau": anova_figure(row["tau"], digits),
            "rank by tau_AP": number(row["rank_tau_ap"], "d"),
            "tau_AP": anova_figure(row["tau_ap"], digits),
        }
        for row in pairs[:MOST_PAIRS]
    )
    more = f" The first {MOST_PAIRS} of {len(pairs)}." if len(pairs) > MOST_PAIRS else ""
    caption = (
        f"Pairs of measures by their means over all sizes and samples.{more} RMSE of the centred "
        f"means {result.rmse:.{digits}f}."
    )
    return Table(header=header, rows=rows, caption=caption)
