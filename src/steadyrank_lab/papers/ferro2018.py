"""Ferro (IIR 2018; TOIS 36(2), 2017) made again: do topics or systems move the correlation of
measures, and do tau and tau_AP tell the same?

Tables 1 and 2 are ANOVA tables whose printed columns follow from each other; this is checked to the
last digit, and the same analysis is done on the data at hand. Figures 1 and 2 are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from steadyrank._version import __version__
from steadyrank.errors import InputError
from steadyrank.present.anova import source_words
from steadyrank.present.table import Cell, Table
from steadyrank.stats.anova.balanced import Anova, Power, anova, observed_power
from steadyrank.studies.agree.correlations import (
    FACTORS,
    STRATA,
    SYSTEM_SIZES,
    TOPIC_SIZES,
    Coefficient,
)
from steadyrank.studies.agree.result import AgreeResult
from steadyrank.studies.agree.study import agree
from steadyrank.words import listed as in_words
from steadyrank.words import pvalue
from steadyrank_lab.papers.data import GRID_MEASURES, PaperData
from steadyrank_lab.papers.model import (
    Claim,
    Exhibit,
    Part,
    Reproduction,
    Work,
    cell,
    claim,
    exhibit,
    exhibit_of,
    increases,
    listed,
    page_table,
    result_figure,
    share_claim,
)

REFERENCE = (
    "N. Ferro: How topic and system size affect the correlation among evaluation measures. "
    "IIR 2018; extended abstract of: What does affect the correlation among evaluation measures? "
    "ACM TOIS 36(2), 2017."
)

PRINTED_RMSE = 0.0242
"""Figure 2."""

FEW_SYSTEMS = 100
"""Up to about so many systems the paper sees a transient in Figure 1."""

MEASURES, SAMPLES = 8, 100
CONVENTIONS: tuple[Power, ...] = ("observed", "omega")
"""Of observed power."""

N = 28 * len(TOPIC_SIZES) * len(SYSTEM_SIZES) * SAMPLES
"""Observations behind the printed tables: pairs of measures × sizes × samples."""

HALF = 0.00005
"""Half of the last printed digit."""

SYMBOLS: dict[Coefficient, str] = {"tau": "tau", "tau_ap": "tau_AP"}


class Printed(NamedTuple):
    """A line of Table 1 or 2 as printed; None where it prints nothing."""

    source: str
    ss: float
    df: int
    ms: float | None = None
    f: float | None = None
    pvalue: float | None = None
    omega_squared: float | None = None
    power: float | None = None


TABLES: dict[Coefficient, tuple[Printed, ...]] = {
    "tau": (
        Printed("subject", 55.8432, 99, 0.5641, 99.6711, 0.0),
        Printed("measure_pair", 1666.5150, 27, 61.7228, 10906.3664, 0.0, 0.6004, 1.0),
        Printed("topic_size", 418.7689, 6, 69.7948, 12332.6910, 0.0, 0.2740, 1.0),
        Printed("system_size", 2.3875, 9, 0.2653, 46.8753, 3.64e-85, 0.0021, 0.9999),
        Printed("measure_pair:topic_size", 33.1886, 162, 0.2049, 36.2001, 0.0, 0.0283, 1.0),
        Printed("measure_pair:system_size", 0.9346, 243, 0.0038, 0.6796, 1.0, 0.0, 0.8043),
        Printed("topic_size:system_size", 0.6136, 54, 0.0114, 2.0079, 1.69e-05, 0.0002, 0.5137),
        Printed("error", 1105.8283, 195399, 0.0057),
        Printed("total", 3284.0798, 195999),
    ),
    "tau_ap": (
        Printed("subject", 71.0670, 99, 0.7178, 86.7603, 0.0),
        Printed("measure_pair", 2536.3318, 27, 93.9382, 11353.5200, 0.0, 0.6100, 1.0),
        Printed("topic_size", 612.0528, 6, 102.0088, 12328.9432, 0.0, 0.2740, 1.0),
        Printed("system_size", 12.0979, 9, 1.3442, 162.4638, 4.20e-308, 0.0074, 1.0),
        Printed("measure_pair:topic_size", 26.9371, 162, 0.1662, 20.0967, 0.0, 0.0155, 1.0),
        Printed("measure_pair:system_size", 1.2495, 243, 0.0051, 0.6214, 1.0, 0.0, 0.7467),
        Printed("topic_size:system_size", 0.8735, 54, 0.0162, 1.9550, 3.44e-05, 0.0002, 0.4966),
        Printed("error", 1616.7174, 195399, 0.0083),
        Printed("total", 4877.3271, 195999),
    ),
}
"""Tables 1 (tau) and 2 (tau_AP)."""

PRINT_NOTES: dict[Coefficient, str] = {
    "tau": "Two of the printed figures would follow if they were cut off instead of rounded: the "
    "omega² of topic size × system size is .00028 and the p of system size 3.648e-85. The p of "
    "topic size × system size computes to 1.62e-05 where 1.69e-05 is printed.",
    "tau_ap": "Two of the printed figures would follow if they were cut off instead of rounded: "
    "the omega² of topic size × system size is .00026 and the MS of measure pair × topic size "
    ".16628.",
}

POWER_NOTE = (
    "The printed power is not observed power: neither of its two usual definitions gives it, nor "
    "does any other that was tried. As observed power only restates p, nothing is lost."
)

STRATA_NOTE = (
    "The pairs of measures of a sample share its data and all sizes share draws, so errors are not "
    "independent (hence F < 1 of measure pair × system size). The last two columns use each "
    "effect's interaction with the subject as its error. Neither p is about other topics and "
    "systems: all samples are of the same ones, and more samples make both smaller. Read effect "
    "sizes, and take mode sound of agree for their intervals."
)


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


@exhibit("figure-1", "Correlation against the number of systems, by number of topics")
def _figure_1(result: AgreeResult) -> Iterator[Part]:
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
    caption = (
        f"{names[0]} and {names[1]}: mean correlation over {result.n_samples} samples, and the "
        f"width of its {result.confidence:.0%} interval"
    )
    header = ("topics", "systems", "tau", "width", "tau_AP", "width")
    yield page_table("figure-1-data", caption, header, rows)
    caption = f"{names[0]} against {names[1]}"
    yield result_figure("figure-1", caption, result, "sizes", pair=names)
    yield from _trend_claims(means)
    yield from _width_claims(widths)
    yield from _transient_claims(result, means)
    yield (
        "The paper draws AP against nDCG@20 on another grid of systems, so levels differ and only "
        "shapes can agree. The h-th draw of topics meets the h-th draw of systems, of every size."
    )
    yield {"agree": result}


def _pair_of_figure_1(result: AgreeResult) -> int:
    """AP and nDCG@20 however they are spelled, or else the first pair."""
    plain = ["".join(c for c in name.lower() if c.isalnum()) for name in result.measures]
    if "ap" in plain and "ndcg20" in plain:
        return result.pair(*(result.measures[plain.index(name)] for name in ("ap", "ndcg20")))
    return 0


def _trend_claims(means: dict[Coefficient, np.ndarray]) -> Iterator[Claim]:
    for key, symbol in SYMBOLS.items():
        by_topics, by_systems = (np.nanmean(means[key], axis=axis) for axis in (1, 0))
        detail = f"{by_topics[0]:.3f} to {by_topics[-1]:.3f}"
        yield claim(f"Mean {symbol} rises with topics", increases(by_topics), detail)
        spans = [float(np.ptp(curve)) for curve in (by_topics, by_systems)]
        yield claim(
            f"Topics move {symbol} more than systems do",
            spans[0] > spans[1],
            f"spans of the means: topics {spans[0]:.3f}, systems {spans[1]:.3f}",
        )


def _width_claims(widths: dict[Coefficient, np.ndarray]) -> Iterator[Claim]:
    for what, axis in (("topics", 1), ("systems", 0)):
        means = {symbol: np.nanmean(widths[key], axis=axis) for key, symbol in SYMBOLS.items()}
        falls = [increases(-mean) for mean in means.values()]
        widest = "; ".join(f"{s} {mean[0]:.3f} to {mean[-1]:.3f}" for s, mean in means.items())
        holds = None if None in falls else all(falls)
        yield claim(f"Intervals narrow with more {what}", holds, widest)
    tau, tau_ap = (float(np.nanmean(widths[key])) for key in SYMBOLS)
    detail = f"mean widths {tau:.4f} and {tau_ap:.4f}"
    yield claim("tau has narrower intervals than tau_AP", tau < tau_ap, detail)


def _transient_claims(result: AgreeResult, means: dict[Coefficient, np.ndarray]) -> Iterator[Claim]:
    """What the paper sees before about 100 systems, and the calm after."""
    sizes = np.array(result.system_sizes)
    for key, symbol in SYMBOLS.items():
        curve = np.nanmean(means[key], axis=0)[sizes >= FEW_SYSTEMS]
        text = f"From {FEW_SYSTEMS} systems on {symbol} is nearly constant (within 0.01)"
        known = len(curve) > 1
        detail = f"between {curve.min():.4f} and {curve.max():.4f}" if known else ""
        yield claim(text, np.ptp(curve) <= 0.01 if known else None, detail)
    tau, tau_ap = (np.nanmean(means[key], axis=0)[sizes <= FEW_SYSTEMS] for key in SYMBOLS)
    known = len(tau) > 1
    rise, fall = (tau[-1] > tau[0], tau_ap[1] < tau_ap[0]) if known else (None, None)
    text = f"Up to {FEW_SYSTEMS} systems tau rises slightly"
    yield claim(text, rise, listed(tau, 4) if known else "")
    text = "With the first systems added tau_AP falls"
    yield claim(text, fall, listed(tau_ap, 4) if known else "")


def _table_exhibit(result: AgreeResult, coefficient: Coefficient) -> Exhibit:
    """An ANOVA table of the data at hand, the printed one, and what follows from its columns."""
    number = 1 if coefficient == "tau" else 2
    title = f"What moves {SYMBOLS[coefficient]}, analysis of variance"
    return exhibit_of(f"table-{number}", title, _table_parts(result, coefficient, number))


def _table_parts(result: AgreeResult, coefficient: Coefficient, number: int) -> Iterator[Part]:
    own = result.anovas[coefficient]
    if own is not None:
        yield _own_table(number, result, coefficient, own)
    yield printed_table(number, coefficient)
    yield from printed_claims(coefficient)
    if own is not None:
        yield from _effect_claims(result, coefficient, own)
    yield f"{PRINT_NOTES[coefficient]} {POWER_NOTE} {STRATA_NOTE}"
    yield {"anova": own}


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
    caption = f"Analysis of variance of {SYMBOLS[coefficient]}, data at hand"
    columns = ("source", "SS", "DF", "F", "p", "omega²", "printed omega²")
    header = (*columns, "F by subject", "p by subject")
    return page_table(f"table-{number}-here", caption, header, rows)


def _effect_claims(result: AgreeResult, coefficient: Coefficient, own: Anova) -> Iterator[Claim]:
    names = ("measure_pair", "topic_size", "system_size")
    sizes = {name: own.source(name).omega_squared for name in names}
    pair, topics, systems = sizes.values()
    largest = ", ".join(f"{source_words(name)} {size:.4f}" for name, size in sizes.items())
    both = own.source("measure_pair:system_size")
    text = "The pair of measures is the largest effect"
    yield claim(text, pair > max(topics, systems), largest)
    yield claim("Topic size is a larger effect than system size", topics > systems, largest)
    text = "Topic size is a large effect (omega² of at least .14)"
    yield claim(text, topics >= 0.14, f"{topics:.4f}")
    yield claim("System size is negligible (omega² below .01)", systems < 0.01, f"{systems:.4f}")
    text = "Measure pair × system size is not significant"
    yield claim(text, both.pvalue > 0.05 if both.df else None, f"F {both.statistic:.3f}")
    other = result.anovas["tau"]
    if coefficient == "tau_ap" and other is not None:
        tau = {name: other.source(name).omega_squared for name in names}
        yield claim(
            "System size matters more to tau_AP than to tau",
            systems > tau["system_size"],
            f"omega² {systems:.4f} and {tau['system_size']:.4f}",
        )
        yield claim(
            "The pair of measures matters alike to both (within .05)",
            abs(pair - tau["measure_pair"]) <= 0.05,
            f"omega² {pair:.4f} and {tau['measure_pair']:.4f}",
        )


@exhibit("figure-2", "Do tau and tau_AP rank pairs of measures alike?")
def _figure_2(result: AgreeResult) -> Iterator[Part]:
    ranking = result.ranking()
    keys = ("tau", "rank_tau", "tau_ap", "rank_tau_ap")
    rows = [
        (f"{row['measure_a']} – {row['measure_b']}", *(row[key] for key in keys)) for row in ranking
    ]
    caption = "Pairs of measures by mean correlation over all sizes and samples"
    header = ("pair", "tau", "rank", "tau_AP", "rank by tau_AP")
    yield page_table("figure-2-data", caption, header, rows)
    yield result_figure("figure-2", "Pairs of measures, means centred", result, "pairs")
    yield from _ranking_claims(result, ranking)
    yield f"Printed: {PRINTED_RMSE} as root mean square distance of the centred curves."
    yield {"rmse": result.rmse, "swaps": len(result.swaps)}


def _ranking_claims(result: AgreeResult, rows: Sequence[dict[str, Any]]) -> Iterator[Claim]:
    moves = [abs(row["rank_tau"] - row["rank_tau_ap"]) for row in rows]
    spread = float(np.std([row["tau"] for row in rows]))
    swaps, several = len(result.swaps), len(rows) > 1
    yield claim(
        "Beyond an offset the coefficients hardly differ (RMSE below half the pairs' sd)",
        result.rmse < 0.5 * spread if several else None,
        f"RMSE {result.rmse:.4f}, printed {PRINTED_RMSE}; sd {spread:.4f}",
    )
    yield claim(
        "Few pairs change places (at most one in ten)",
        swaps <= 0.1 * len(rows) * (len(rows) - 1) / 2 if several else None,
        f"{swaps} of {len(rows) * (len(rows) - 1) // 2}",
    )
    yield claim(
        "Only neighbours change places",
        max(moves) <= 1 if several else None,
        f"largest move {max(moves)} places",
    )


def pvalue_cell(value: float | None) -> Cell:
    """A p-value as ANOVA tables show it."""
    if value is None or np.isnan(value):
        return cell(None)
    small = 0.0 < value < 1e-300  # where the printed tables still give digits
    return Cell(f"{value:.2e}" if small else pvalue(value, orders=True, missing=""), value)


def printed_table(number: int, coefficient: Coefficient) -> Table:
    """The printed columns beside those that follow from its sums of squares."""
    error = TABLES[coefficient][-2]
    rows: list[tuple[Any, ...]] = []
    for line in TABLES[coefficient]:
        if line.f is None:
            rows.append((source_words(line.source), line.ss, line.df, *[None] * 9))
            continue
        f = recomputed_f(line, error)[1]
        tested = line.omega_squared is not None
        rows.append(
            (
                source_words(line.source),
                line.ss,
                line.df,
                line.f,
                f,
                pvalue_cell(line.pvalue) if line.pvalue else Cell("0.0000", 0.0),
                pvalue_cell(_tail(f, line.df, error.df)),
                line.omega_squared,
                omega_squared(line) if tested else None,
                line.power,
                *(_powers(f, line, error) if tested else (None, None)),
            )
        )
    twice = (f"{name}{mark}" for name in ("F", "p", "omega²") for mark in (" printed", ""))
    header = ("source", "SS", "DF", *twice, "power printed", "by df F", "by df (F − 1)")
    caption = "The printed table, and what follows from its sums of squares"
    return page_table(f"table-{number}-printed", caption, header, rows)


def recomputed_f(line: Printed, error: Printed) -> tuple[float, float, float]:
    """F from sums of squares: the lowest that rounding allows, the nearest, the highest."""
    low, middle, high = (
        (line.ss + sign * HALF) / line.df / ((error.ss - sign * HALF) / error.df)
        for sign in (-1, 0, 1)
    )
    return low, middle, high


def omega_squared(line: Printed) -> float:
    """df (F - 1) / (df (F - 1) + N) from the printed F, at least 0."""
    surplus = line.df * ((line.f or 0.0) - 1.0)
    return max(0.0, surplus / (surplus + N))


def printed_claims(coefficient: Coefficient) -> Iterator[Claim]:
    """What must agree within the printed table itself."""
    lines = TABLES[coefficient]
    error, total, effects = lines[-2], lines[-1], lines[:-2]
    tested = [line for line in effects if line.omega_squared is not None]
    with_ms = [line for line in lines if line.ms is not None]
    parts = abs(sum(line.ss for line in lines[:-1]) - total.ss)
    yield _lines_claim("Printed DF are those of the design", lines, _df_agree(lines))
    yield claim("Printed SS add up to their total", parts <= 9 * HALF, f"off by {parts:.4f}")
    agree = [abs(e.ss / e.df - (e.ms or 0.0)) <= HALF * (1.0 + 1.0 / e.df) for e in with_ms]
    yield _lines_claim("Printed MS follow from SS and DF", with_ms, agree)
    agree = [_f_agrees(line, error) for line in effects]
    yield _lines_claim("Printed F follow from SS and DF", effects, agree)
    agree = [_p_agrees(line, error) for line in effects]
    yield _lines_claim("Printed p follow from F", effects, agree)
    agree = [abs(omega_squared(line) - (line.omega_squared or 0.0)) <= HALF for line in tested]
    yield _lines_claim("Printed omega² follow from F", tested, agree)
    # By the nearer of two definitions.
    agree = [
        min(abs(power - (line.power or 0.0)) for power in _powers(line.f or 0.0, line, error))
        <= HALF
        for line in tested
    ]
    yield _lines_claim("The printed power is an observed power", tested, agree)


def _lines_claim(text: str, lines: Sequence[Printed], agree: Sequence[bool]) -> Claim:
    """A claim about lines of a table, which names those that do not agree."""
    off = [source_words(line.source) for line, ok in zip(lines, agree, strict=True) if not ok]
    return share_claim(text, agree, f"not {in_words(off)}" if off else "", of="lines")


def _df_agree(lines: Sequence[Printed]) -> list[bool]:
    one = {
        "subject": SAMPLES - 1,
        "measure_pair": MEASURES * (MEASURES - 1) // 2 - 1,
        "topic_size": len(TOPIC_SIZES) - 1,
        "system_size": len(SYSTEM_SIZES) - 1,
    }
    expected = [int(np.prod([one[name] for name in line.source.split(":")])) for line in lines[:-2]]
    expected += [N - 1 - sum(expected), N - 1]
    return [line.df == df for line, df in zip(lines, expected, strict=True)]


def _f_agrees(line: Printed, error: Printed) -> bool:
    low, _, high = recomputed_f(line, error)
    return low - HALF <= (line.f or 0.0) <= high + HALF


def _p_agrees(line: Printed, error: Printed) -> bool:
    """Within what the rounding of sums of squares allows; printed as 0 is below all others."""
    printed = line.pvalue or 0.0
    low, _, high = recomputed_f(line, error)
    most, least = (_tail(f, line.df, error.df) for f in (low, high))
    if printed == 0.0:
        return least < 1e-300
    half = HALF if printed > 1e-3 else 0.005 * 10.0 ** np.floor(np.log10(printed))
    return bool(least - half <= printed <= most + half)


def _tail(f: float, df: int, df_error: int) -> float:
    return float(special.fdtrc(df, df_error, f))


def _powers(f: float, line: Printed, error: Printed) -> list[float]:
    return [observed_power(f, line.df, error.df, convention=by) for by in CONVENTIONS]
