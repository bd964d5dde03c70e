"""How `agree` is shown: what it says, its tables and figures, for every output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.present.anova import ANOVA, anova_lines, effect_word, source_words
from steadyrank.present.json import picked
from steadyrank.present.view import Col, FigureSpec, Finding, Row, TableSpec, View, Words
from steadyrank.stats.anova.balanced import Anova
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.run_means import adjusted_means, share_turned
from steadyrank.studies.agree.correlations import SYSTEM_SIZES, TOPIC_SIZES
from steadyrank.studies.agree.result import AgreeResult
from steadyrank.studies.agree.study import agree
from steadyrank.studies.material import Material
from steadyrank.studies.part import Findings, Front, Job, Samples, part_of
from steadyrank.words import counted, interval, listed, swap_words

ALMOST_ALIKE, ALIKE = 0.9, 0.8
"""Smallest tau of two rankings that are equivalent, and not noticeably different (Voorhees 2001).
"""

EFFECTS = {
    "measure_pair": "which measures are compared",
    "topic_size": "the number of topics",
    "system_size": "the number of systems",
}

AGAINST = {
    "none": "one residual",
    "sample": "errors among and within samples",
    "subject": "interactions with the subject",
}


def findings(result: AgreeResult) -> list[Finding]:
    """Return which measures rank alike, and what their agreement depends on."""
    said = [_nearest(result), *_odd(result), *_trend(result)]
    if result.anova is not None:
        said += _effects(result, result.anova)
    said += _components(result)
    return [*said, _coefficients(result)]


def _nearest(result: AgreeResult) -> Finding:
    tau = result.likeness.tau[tuple(result.pairs.T)]
    best = int(np.argmax(tau))
    a, b = _pair(result, best)
    alike = f"rank the {counted(result.n_systems, 'run')} almost alike"
    text = f"{a} and {b} {alike}: tau = {tau[best]:.2f}."
    if tau[best] < ALMOST_ALIKE:
        text = f"No two measures {alike}; closest are {a} and {b}, tau = {tau[best]:.2f}."
    return Finding("agree.nearest", text, {"measures": [a, b], "tau": float(tau[best])})


def _odd(result: AgreeResult) -> list[Finding]:
    """Return the measure farthest from its nearest neighbour, of three or more."""
    if len(result.measures) < 3:
        return []
    odd = min(_likeness_rows(result), key=lambda row: float(row["tau"]))
    name, other, tau = odd["measure"], odd["nearest"], odd["tau"]
    text = f"{name} differs most: its closest measure is {other}, tau = {tau:.2f}."
    if tau >= ALIKE:
        text = f"Even {name}, which differs most, is close to {other}: tau = {tau:.2f}."
    return [Finding("agree.odd", text, {"measure": name, "nearest": other, "tau": tau})]


def _trend(result: AgreeResult) -> list[Finding]:
    sizes = result.topic_sizes
    if len(sizes) < 2:
        return []
    means = mean_of_present(np.moveaxis(result.samples, 1, 0).reshape(len(sizes), -1))
    few, many = (int(pick(sizes)) for pick in (np.argmin, np.argmax))
    symbol = "tau" if result.coefficient == "tau" else "tau_AP"
    first, last = (f"{means[place]:.2f}" for place in (few, many))
    moves = f"{'rises' if means[many] > means[few] else 'falls'} from {first} to {last}"
    return [
        Finding(
            "agree.trend",
            f"From {sizes[few]} to {sizes[many]} topics, mean {symbol} "
            f"{moves if first != last else f'stays at {first}'}.",
            {
                "coefficient": result.coefficient,
                "topics": [sizes[few], sizes[many]],
                "mean": [float(means[few]), float(means[many])],
            },
        )
    ]


def _effects(result: AgreeResult, table: Anova) -> list[Finding]:
    """Return the largest main effect, and the effects whose intervals include 0."""
    sizes = {name: table.source(name).omega_squared for name in EFFECTS if table.source(name).df}
    if not sizes:
        return []
    most, limits = max(sizes, key=lambda name: sizes[name]), result.limits
    ends = f" {interval(limits[most], '.3f')}" if most in limits else ""
    text = (
        f"Agreement depends most on {EFFECTS[most]}: omega² = {sizes[most]:.3f}{ends} "
        f"({effect_word(sizes[most])})."
    )
    said = [
        Finding("agree.effects", text, {"omega_squared": sizes, "omega_squared_interval": limits})
    ]
    unshown = [name for name in sizes if limits.get(name, (1.0,))[0] <= 0.0]
    if unshown:
        names = listed([source_words(name) for name in unshown], "or")
        text = f"Beyond these topics and runs, no effect of {names} is shown."
        said.append(Finding("agree.unshown", text, {"effects": unshown}))
    return said


def _components(result: AgreeResult) -> list[Finding]:
    """Return the component whose levels differ most in how measures agree."""
    rows = result.component_effects()
    if not rows:
        return []
    most = max(rows, key=lambda row: float(row["omega_squared"]))
    name, size, chance = (most[key] for key in ("component", "omega_squared", "pvalue_random"))
    text = (
        f"Of the components, {source_words(name)} changes agreement most: omega² = {size:.3f}, "
        f"p = {chance:.2g} against random levels."
    )
    return [Finding("agree.components", text, most)]


def _coefficients(result: AgreeResult) -> Finding:
    """Compare tau and tau_AP; a single pair of measures has no order to compare."""
    tau, tau_ap = (float(np.mean(means)) for means in result.marginal.values())
    text = f"Over all sizes, mean tau is {tau:.2f} and mean tau_AP {tau_ap:.2f}"
    if len(result.pairs) > 1:
        swaps = counted(len(result.swaps), "pair") if len(result.swaps) else "no pairs"
        text += f"; they order {swaps} of measure pairs differently"
    return Finding(
        "agree.coefficients",
        f"{text}.",
        {"tau": tau, "tau_ap": tau_ap, "rmse": result.rmse, "n_swaps": len(result.swaps)},
    )


def _pair(result: AgreeResult, pair: int) -> list[str]:
    return [result.measures[i] for i in result.pairs[pair]]


def _likeness_rows(result: AgreeResult) -> list[dict[str, Any]]:
    """Return the measures in the order of the dendrogram, with their nearest measure."""
    like = result.likeness
    others = np.where(np.eye(len(result.measures), dtype=bool), -np.inf, like.tau)
    return [
        {
            "measure": result.measures[i],
            "nearest": result.measures[j],
            "tau": float(like.tau[i, j]),
            "tau_ap": float(like.tau_ap[i, j]),
        }
        for i, j in zip(like.order, others.argmax(axis=1)[like.order], strict=True)
    ]


def _with_all_data(result: AgreeResult, rows: Sequence[Row]) -> list[dict[str, Any]]:
    tau = result.likeness.tau
    pairs = [result.pair(row["measure_a"], row["measure_b"]) for row in rows]
    return [
        {**row, "pair": result.pair_name(p), "tau_all": float(tau[tuple(result.pairs[p])])}
        for row, p in zip(rows, pairs, strict=True)
    ]


def _notes(result: AgreeResult) -> list[str]:
    if result.anova is None:
        return []
    note = "No tests: all samples share topics and systems (docs/agree.md)."
    if result.mode == "paper":
        against = AGAINST[result.strata]
        note = f"Tests: against {against}, as if samples were independent (docs/agree.md)."
    elif result.n_interval_samples:
        resamples = f"{result.n_interval_samples} resamples of topics and systems"
        note = f"Intervals: {resamples}; no tests (docs/agree.md)."
    return [note]


LIKENESS = TableSpec(
    id="measure-tau",
    rows=_likeness_rows,
    columns=(
        Col("measure", form="name"),
        Col("nearest", form="name"),
        Col("tau"),
        Col("tau_ap", "tau_AP"),
    ),
    caption="All {n_systems:,} runs and {n_topics:,} topics, similar measures in adjacent rows.",
)
TABLE = TableSpec(
    id="measure-anova",
    # CSV holds the cells if there is no ANOVA.
    rows=lambda result: result.anova_rows() or result.cells(),
    shown=anova_lines,
    columns=ANOVA,
    caption=lambda result: " ".join([result.caption(), *_notes(result)]),
    when=lambda result: result.anova is not None,
)
PAIRS = TableSpec(
    id="measure-pairs",
    rows=lambda result: result.ranking(),
    shown=_with_all_data,
    columns=(
        Col("pair", form="name"),
        Col("rank_tau", "rank by tau", "d"),
        Col("tau", "mean tau"),
        Col("rank_tau_ap", "rank by tau_AP", "d"),
        Col("tau_ap", "mean tau_AP"),
        Col("tau_all", "tau on all"),
    ),
    caption="Pairs of measures: means over all sizes and samples, and tau on all topics and "
    "systems. RMSE of the centred means: {rmse:.4f}.",
    printed=lambda result: 45,
)
EFFECT_OF = TableSpec(
    id="measure-components",
    rows=lambda result: result.component_effects(),
    columns=(
        Col("component", form="name"),
        Col("levels", form="d"),
        Col("omega_squared", "omega²", ".3f"),
        Col("omega_squared_pair", "× measure pair", ".3f"),
        Col("omega_squared_random", "random levels", ".3f"),
        Col("pvalue_random", "p", ".2f"),
    ),
    caption="Measures correlated within each level of a component: its omega², that of its "
    "interaction with the pair, and that of random levels (docs/agree.md).",
)
LEVELS = TableSpec(
    id="measure-levels",
    rows=lambda result: result.component_rows(),
    columns=(
        Col("component", form="name"),
        Col("level", form="name"),
        Col("systems", form="count"),
        Col("mean", "mean correlation"),
    ),
    caption="Mean over pairs of measures, sizes and samples, among the systems of each level.",
)


def fields(result: AgreeResult) -> dict[str, Any]:
    """Return the fields of the JSON output."""
    names = [result.measures[i] for i in result.likeness.order]
    levels = result.component_rows()
    return {
        **picked(result, "coefficient measures"),
        "cells": result.cells(),
        "anova": result.anova_rows(),
        "ranking": result.ranking(),
        "rmse": result.rmse,
        "anovas": {key: result.anova_rows(key) for key in result.anovas},
        **picked(result, "mode strata n_resamples=n_interval_samples"),
        "swaps": [[_pair(result, p) for p in swap] for swap in result.swaps.tolist()],
        "likeness": {**picked(result.likeness, "tau tau_ap"), "dendrogram_order": names},
        **picked(result, "topic_sizes system_sizes n_samples level=confidence"),
        **picked(result, "reference ties n_topics n_systems n_dropped seed"),
        "components": [
            {
                **row,
                "system_sizes": one.system_sizes,
                "levels": [level for level in levels if level["component"] == one.component],
                "anova": one.anovas[result.coefficient].rows(),  # type: ignore[union-attr]
            }
            for row in result.component_effects()
            for one in result.components
            if one.component == row["component"]
        ],
        "answer": [finding.text for finding in findings(result)],
        "notes": _notes(result),
    }


VIEW = View(
    words=Words(
        title="Other measures",
        question="Do the measures agree about the ranking?",
        means=(
            "Kendall's tau compares two rankings: 1 is the same order, 0 no relation. Samples of "
            "topics and runs of several sizes show how many are required before agreement stops "
            "growing. Intervals of omega squared are about other topics and runs."
        ),
        means_not=(
            "Measures that agree may both miss what users care about; measures that differ may "
            "both be right about different things. All samples are drawn from the same topics and "
            "runs, and drawing more of them says no more about others, so there are no p-values."
        ),
    ),
    findings=findings,
    tables=(LIKENESS, TABLE, PAIRS, EFFECT_OF, LEVELS),
    csv=TABLE.id,
    fields=fields,
    figure=FigureSpec(
        id="measure-likeness", caption="How similarly the measures rank the runs.", kind="measures"
    ),
)


LEAST_RANKED = 5
"""Smallest number of runs for which a correlation of rankings is informative."""


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
    """Return the usual sizes below n, or one half and three quarters of n."""
    fitting = [size for size in usual if size < n]
    return fitting if len(fitting) > 1 else sorted({max(least, n // 2), max(least, 3 * n // 4)})


def _front(result: AgreeResult, findings: Findings) -> Front:
    scores = findings.material.scores
    share, n = swap_share(scores), len(scores.measures)
    by = f"Under another of the {n} measures" if n > 2 else f"By {scores.measures[-1]}"
    text = f"{by} {swap_words(share, len(scores.runs))}."
    return Front(swap=Finding("agree.swap", text, {"share": share}))


def swap_share(scores: Scores) -> float:
    """Return the share of pairs that another measure reverses, mean over the other measures."""
    a, b = all_pairs(len(scores.runs)).T
    means = (adjusted_means(scores.matrix(measure)) for measure in scores.measures)
    first, *others = (each[a] - each[b] for each in means)
    return float(mean_of_present(np.array([share_turned(first, other) for other in others])))


PART = part_of(
    VIEW,
    run=_run,
    why_not=_why_not,
    samples=Samples(noun="samples of each size", fast=100, full=1000),
    front=_front,
    varies="Other measures",
    examine=lambda material: "-m twice" if len(material.scores.measures) < 2 else "",
)
