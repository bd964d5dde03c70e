"""Ferro (IIR 2018; TOIS 36(2), 2017) made again: do topics or systems move the correlation of
measures, and do tau and tau_AP tell the same?

Tables 1 and 2 are ANOVA tables whose printed columns follow from each other; this is checked to the
last digit, and the same analysis is done on the data at hand. Figures 1 and 2 are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from steadyrank._version import __version__
from steadyrank.errors import InputError
from steadyrank.papers.data import GRID_MEASURES, PaperData
from steadyrank.papers.ferro2018.printed import (
    POWER_NOTE,
    PRINT_NOTES,
    SAMPLES,
    STRATA_NOTE,
    SYMBOLS,
    TABLES,
    printed_claims,
    printed_table,
    pvalue_cell,
)
from steadyrank.papers.model import Claim, Exhibit, Reproduction, Work
from steadyrank.papers.parts import claim, increases, listed, page_table, result_figure
from steadyrank.present.anova import source_words
from steadyrank.present.table import Table
from steadyrank.stats.anova.balanced import Anova, anova
from steadyrank.studies.agree.correlations import (
    FACTORS,
    STRATA,
    SYSTEM_SIZES,
    TOPIC_SIZES,
    Coefficient,
)
from steadyrank.studies.agree.result import AgreeResult
from steadyrank.studies.agree.study import agree

REFERENCE = (
    "N. Ferro: How topic and system size affect the correlation among evaluation measures. "
    "IIR 2018; extended abstract of: What does affect the correlation among evaluation measures? "
    "ACM TOIS 36(2), 2017."
)

PRINTED_RMSE = 0.0242
"""Figure 2."""

FEW_SYSTEMS = 100
"""Up to about so many systems the paper sees a transient in Figure 1."""


def ferro2018(data: PaperData, work: Work) -> Reproduction:
    """Figures 1 and 2, Tables 1 and 2."""
    scores = data.scores(GRID_MEASURES, **work.threads)
    n_samples = work.number(small=20, full=SAMPLES)
    if len(scores.measures) < 2:
        raise InputError(
            "ferro2018 correlates measures: give at least two, such as -m AP=ap.csv -m P=p.csv"
        )
    result = agree(
        scores,
        topic_sizes=_fitting(TOPIC_SIZES, len(scores.topics)),
        system_sizes=_fitting(SYSTEM_SIZES, len(scores.runs)),
        n_samples=n_samples,
        mode="paper",
        rng=work.seed,
        **work.threads,
    )
    return Reproduction(
        paper="ferro2018",
        reference=REFERENCE,
        data=data.words,
        exhibits=(
            _figure_1(result),
            _table_exhibit(result, "tau"),
            _table_exhibit(result, "tau_ap"),
            _figure_2(result),
        ),
        settings={
            "measures": list(result.measures),
            "topic sizes": list(result.topic_sizes),
            "system sizes": list(result.system_sizes),
            "samples": n_samples,
            "steadyrank": __version__,
        },
    )


def _fitting(sizes: Sequence[int], n: int) -> list[int]:
    """The paper's sizes that leave something to draw from; quarters of what there is, if none do.

    >>> _fitting((10, 20, 30), 25), _fitting((10, 20), 9)
    ([10, 20], [2, 4, 6])
    """
    smaller = [size for size in sizes if size < n]
    return smaller if len(smaller) > 1 else sorted({max(2, n * part // 4) for part in (1, 2, 3)})


def _figure_1(result: AgreeResult) -> Exhibit:
    pair = _pair_of_figure_1(result)
    names = [result.measures[i] for i in result.pairs[pair]]
    means, widths = {}, {}
    for key in SYMBOLS:
        mean, ends = (figures[pair] for figures in result.means_and_intervals(key))
        means[key], widths[key] = mean, ends[..., 1] - ends[..., 0]
    rows = [
        (topics, systems, *(figures[key][t, s] for key in SYMBOLS for figures in (means, widths)))
        for t, topics in enumerate(result.topic_sizes)
        for s, systems in enumerate(result.system_sizes)
    ]
    level = f"{result.confidence:.0%}"
    table = page_table(
        "figure-1-data",
        f"{names[0]} and {names[1]}: mean correlation over {result.n_samples} samples, and the "
        f"width of its {level} interval",
        ("topics", "systems", "tau", "width", "tau_AP", "width"),
        rows,
    )
    figure = result_figure(
        "figure-1", f"{names[0]} against {names[1]}", result, "sizes", pair=names
    )
    return Exhibit(
        id="figure-1",
        title="Correlation against the number of systems, by number of topics",
        tables=(table,),
        figures=(figure,),
        claims=(*_trend_claims(means), *_width_claims(widths), *_transient_claims(result, means)),
        explanation=(
            "The paper draws AP against nDCG@20 on another grid of systems, so levels differ and "
            "only shapes can agree. The h-th draw of topics meets the h-th draw of systems, of "
            "every size."
        ),
        results={"agree": result},
    )


def _pair_of_figure_1(result: AgreeResult) -> int:
    """AP and nDCG@20 however they are spelled, or else the first pair."""
    plain = ["".join(c for c in name.lower() if c.isalnum()) for name in result.measures]
    if "ap" in plain and "ndcg20" in plain:
        return result.pair(*(result.measures[plain.index(name)] for name in ("ap", "ndcg20")))
    return 0


def _trend_claims(means: dict[Coefficient, np.ndarray]) -> list[Claim]:
    claims = []
    for key, symbol in SYMBOLS.items():
        by_topics, by_systems = (np.nanmean(means[key], axis=axis) for axis in (1, 0))
        detail = f"{by_topics[0]:.3f} to {by_topics[-1]:.3f}"
        claims.append(claim(f"Mean {symbol} rises with topics", increases(by_topics), detail))
        spans = [float(np.ptp(curve)) for curve in (by_topics, by_systems)]
        claims.append(
            claim(
                f"Topics move {symbol} more than systems do",
                spans[0] > spans[1],
                f"spans of the means: topics {spans[0]:.3f}, systems {spans[1]:.3f}",
            )
        )
    return claims


def _width_claims(widths: dict[Coefficient, np.ndarray]) -> list[Claim]:
    claims = []
    for what, axis in (("topics", 1), ("systems", 0)):
        means = {symbol: np.nanmean(widths[key], axis=axis) for key, symbol in SYMBOLS.items()}
        falls = [increases(-mean) for mean in means.values()]
        widest = "; ".join(f"{s} {mean[0]:.3f} to {mean[-1]:.3f}" for s, mean in means.items())
        holds = None if None in falls else all(falls)
        claims.append(claim(f"Intervals narrow with more {what}", holds, widest))
    tau, tau_ap = (float(np.nanmean(widths[key])) for key in SYMBOLS)
    return [
        *claims,
        claim(
            "tau has narrower intervals than tau_AP",
            tau < tau_ap,
            f"mean widths {tau:.4f} and {tau_ap:.4f}",
        ),
    ]


def _transient_claims(result: AgreeResult, means: dict[Coefficient, np.ndarray]) -> list[Claim]:
    """What the paper sees before about 100 systems, and the calm after."""
    sizes = np.array(result.system_sizes)
    late = sizes >= FEW_SYSTEMS
    claims = []
    for key, symbol in SYMBOLS.items():
        curve = np.nanmean(means[key], axis=0)[late]
        text = f"From {FEW_SYSTEMS} systems on {symbol} is nearly constant (within 0.01)"
        known = len(curve) > 1
        detail = f"between {curve.min():.4f} and {curve.max():.4f}" if known else ""
        claims.append(claim(text, np.ptp(curve) <= 0.01 if known else None, detail))
    tau, tau_ap = (np.nanmean(means[key], axis=0)[sizes <= FEW_SYSTEMS] for key in SYMBOLS)
    known = len(tau) > 1
    rise, fall = (tau[-1] > tau[0], tau_ap[1] < tau_ap[0]) if known else (None, None)
    return [
        *claims,
        claim(
            f"Up to {FEW_SYSTEMS} systems tau rises slightly", rise, listed(tau, 4) if known else ""
        ),
        claim(
            "With the first systems added tau_AP falls", fall, listed(tau_ap, 4) if known else ""
        ),
    ]


def _table_exhibit(result: AgreeResult, coefficient: Coefficient) -> Exhibit:
    """An ANOVA table of the data at hand, the printed one, and what follows from its columns."""
    number = 1 if coefficient == "tau" else 2
    anova = result.anovas[coefficient]
    tables = [printed_table(number, coefficient)]
    claims = [*printed_claims(coefficient)]
    if anova is not None:
        tables.insert(0, _own_table(number, result, coefficient, anova))
        claims += _effect_claims(result, coefficient, anova)
    return Exhibit(
        id=f"table-{number}",
        title=f"What moves {SYMBOLS[coefficient]}, analysis of variance",
        tables=tuple(tables),
        claims=tuple(claims),
        explanation=f"{PRINT_NOTES[coefficient]} {POWER_NOTE} {STRATA_NOTE}",
        results={"anova": anova},
    )


def _own_table(number: int, result: AgreeResult, coefficient: Coefficient, own: Anova) -> Table:
    samples = result.tau if coefficient == "tau" else result.tau_ap
    sound = anova(samples, factors=FACTORS, block="subject", strata=STRATA["subject"])
    printed = {line.source: line for line in TABLES[coefficient]}
    by_source = {line.source: line for line in sound.sources}
    rows = []
    for line in own.sources:
        strict = by_source.get(line.source)
        tested = strict is not None and bool(strict.tested_against) and line.source != "subject"
        rows.append(
            (
                source_words(line.source),
                line.ss,
                line.df,
                line.statistic,
                pvalue_cell(line.pvalue),
                line.omega_squared,
                printed[line.source].omega_squared,
                strict.statistic if tested and strict else None,
                pvalue_cell(strict.pvalue) if tested and strict else None,
            )
        )
    return page_table(
        f"table-{number}-here",
        f"Analysis of variance of {SYMBOLS[coefficient]}, data at hand",
        (
            "source",
            "SS",
            "DF",
            "F",
            "p",
            "omega²",
            "printed omega²",
            "F by subject",
            "p by subject",
        ),
        rows,
    )


def _effect_claims(result: AgreeResult, coefficient: Coefficient, anova: Anova) -> list[Claim]:
    """The order and size of the effects."""
    names = ("measure_pair", "topic_size", "system_size")
    sizes = {name: anova.source(name).omega_squared for name in names}
    pair, topics, systems = sizes.values()
    largest = ", ".join(f"{source_words(name)} {size:.4f}" for name, size in sizes.items())
    both = anova.source("measure_pair:system_size")
    claims = [
        claim("The pair of measures is the largest effect", pair > max(topics, systems), largest),
        claim("Topic size is a larger effect than system size", topics > systems, largest),
        claim(
            "Topic size is a large effect (omega² of at least .14)", topics >= 0.14, f"{topics:.4f}"
        ),
        claim("System size is negligible (omega² below .01)", systems < 0.01, f"{systems:.4f}"),
        claim(
            "Measure pair × system size is not significant",
            both.pvalue > 0.05 if both.df else None,
            f"F {both.statistic:.3f}",
        ),
    ]
    other = result.anovas["tau"]
    if coefficient == "tau_ap" and other is not None:
        tau = {name: other.source(name).omega_squared for name in names}
        claims += [
            claim(
                "System size matters more to tau_AP than to tau",
                systems > tau["system_size"],
                f"omega² {systems:.4f} and {tau['system_size']:.4f}",
            ),
            claim(
                "The pair of measures matters alike to both (within .05)",
                abs(pair - tau["measure_pair"]) <= 0.05,
                f"omega² {pair:.4f} and {tau['measure_pair']:.4f}",
            ),
        ]
    return claims


def _figure_2(result: AgreeResult) -> Exhibit:
    rows = result.ranking()
    table = page_table(
        "figure-2-data",
        "Pairs of measures by mean correlation over all sizes and samples",
        ("pair", "tau", "rank", "tau_AP", "rank by tau_AP"),
        [
            (
                f"{row['measure_a']} – {row['measure_b']}",
                row["tau"],
                row["rank_tau"],
                row["tau_ap"],
                row["rank_tau_ap"],
            )
            for row in rows
        ],
    )
    figure = result_figure("figure-2", "Pairs of measures, means centred", result, "pairs")
    return Exhibit(
        id="figure-2",
        title="Do tau and tau_AP rank pairs of measures alike?",
        tables=(table,),
        figures=(figure,),
        claims=tuple(_ranking_claims(result, rows)),
        explanation=f"Printed: {PRINTED_RMSE} as root mean square distance of the centred curves.",
        results={"rmse": result.rmse, "swaps": len(result.swaps)},
    )


def _ranking_claims(result: AgreeResult, rows: Sequence[dict[str, Any]]) -> list[Claim]:
    moves = [abs(row["rank_tau"] - row["rank_tau_ap"]) for row in rows]
    spread = float(np.std([row["tau"] for row in rows]))
    swaps, several = len(result.swaps), len(rows) > 1
    return [
        claim(
            "Beyond an offset the coefficients hardly differ (RMSE below half the pairs' sd)",
            result.rmse < 0.5 * spread if several else None,
            f"RMSE {result.rmse:.4f}, printed {PRINTED_RMSE}; sd {spread:.4f}",
        ),
        claim(
            "Few pairs change places (at most one in ten)",
            swaps <= 0.1 * len(rows) * (len(rows) - 1) / 2 if several else None,
            f"{swaps} of {len(rows) * (len(rows) - 1) // 2}",
        ),
        claim(
            "Only neighbours change places",
            max(moves) <= 1 if several else None,
            f"largest move {max(moves)} places",
        ),
    ]
