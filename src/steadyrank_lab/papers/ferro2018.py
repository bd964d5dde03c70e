"""Reproduction of Ferro (IIR 2018; TOIS 36(2), 2017).

Do topics or systems affect the correlation of measures, and do tau and tau_AP say the same?

Tables 1 and 2 are ANOVA tables whose printed columns follow from each other. This is checked to the
last digit, and the same analysis is done on the given data. Figures 1 and 2 are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

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
from steadyrank_lab.papers.data import PaperData
from steadyrank_lab.papers.model import (
    Claim,
    Exhibit,
    Part,
    Reproduction,
    Sheet,
    Work,
    above,
    cell,
    increases,
    page_table,
    result_figure,
    simulated,
)

SHEET = Sheet("ferro2018")

FEW_SYSTEMS = 100
"""Number of systems up to which the paper sees a transient in Figure 1."""

MEASURES, SAMPLES = 8, 100
CONVENTIONS: tuple[Power, ...] = ("observed", "omega")
"""Definitions of observed power."""

N = 28 * len(TOPIC_SIZES) * len(SYSTEM_SIZES) * SAMPLES
"""Observations behind the printed tables: pairs of measures × sizes × samples."""

HALF = 0.00005
"""Half of the last printed digit."""

SYMBOLS: dict[Coefficient, str] = {"tau": "tau", "tau_ap": "tau_AP"}
WORDS = ("pair", "topics", "systems")
"""Names of the main effects in the claims."""


class Printed(NamedTuple):
    """A line of Table 1 or 2 as printed; what it does not print is None."""

    source: str
    ss: float
    df: int
    ms: float | None = None
    f: float | None = None
    pvalue: float | None = None
    omega_squared: float | None = None
    power: float | None = None


TABLES: dict[Coefficient, tuple[Printed, ...]] = {
    name: tuple(Printed(*line) for line in SHEET.words[name]["printed"]) for name in SYMBOLS
}
"""Tables 1 (tau) and 2 (tau_AP)."""


def ferro2018(data: PaperData, work: Work) -> Reproduction:
    """Figures 1 and 2, Tables 1 and 2."""
    n_samples = work.number(small=20, full=SAMPLES)
    assert data.scores is not None
    result = agree(
        data.scores,
        topic_sizes=[size for size in TOPIC_SIZES if size < len(data.scores.topics)],
        system_sizes=[size for size in SYSTEM_SIZES if size < len(data.scores.runs)],
        n_samples=n_samples,
        mode="paper",
        rng=work.seed,
        **work.threads,
    )
    tables = (_table_exhibit(result, number) for number in (1, 2))
    return SHEET.reproduction(
        data.words,
        (_figure_1(result), *tables, _figure_2(result)),
        measures=list(result.measures),
        samples=n_samples,
        **{"topic sizes": list(result.topic_sizes), "system sizes": list(result.system_sizes)},
    )


@SHEET.exhibit("figure-1")
def _figure_1(result: AgreeResult) -> Iterator[Part]:
    pair = result.pair("AP", "nDCG@20")
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
    yield from _transient_claims(result, pair)
    yield {"agree": result}


def _trend_claims(means: dict[Coefficient, np.ndarray]) -> Iterator[Claim]:
    for key, symbol in SYMBOLS.items():
        by_topics, by_systems = (np.nanmean(means[key], axis=axis) for axis in (1, 0))
        ends = f"{by_topics[0]:.3f} to {by_topics[-1]:.3f}"
        yield SHEET.claim("figure-1.rises", increases(by_topics), ends, symbol=symbol)
        spans = [float(np.ptp(curve)) for curve in (by_topics, by_systems)]
        told = f"spans of the means: topics {spans[0]:.3f}, systems {spans[1]:.3f}"
        yield SHEET.claim("figure-1.moves", spans[0] > spans[1], told, symbol=symbol)


def _width_claims(widths: dict[Coefficient, np.ndarray]) -> Iterator[Claim]:
    shares = []
    for what, axis in (("topics", 1), ("systems", 0)):
        means = {symbol: np.nanmean(widths[key], axis=axis) for key, symbol in SYMBOLS.items()}
        falls = [increases(-mean) for mean in means.values()]
        told = "; ".join(f"{s} {mean[0]:.3f} to {mean[-1]:.3f}" for s, mean in means.items())
        holds = None if None in falls else all(falls)
        yield SHEET.claim("figure-1.narrow", holds, told, what=what)
        shares.append([float(mean[-1] / mean[0]) for mean in means.values()])
    tau, tau_ap = (float(np.nanmean(widths[key])) for key in SYMBOLS)
    yield SHEET.claim("figure-1.tau", tau < tau_ap, f"mean widths {tau:.4f} and {tau_ap:.4f}")
    told = "; ".join(f"to {tau:.3f} and {other:.3f} of the widest" for tau, other in shares)
    yield SHEET.claim("figure-1.faster", all(tau < other for tau, other in shares), told)


def _transient_claims(result: AgreeResult, pair: int) -> Iterator[Claim]:
    """Yield claims about the first 100 systems and about more; means are over topics."""
    sizes = np.array(result.system_sizes)
    for (key, symbol), beginning in zip(SYMBOLS.items(), ("transient", "falls"), strict=True):
        by_sample = np.nanmean(getattr(result, key)[pair], axis=0)
        mean, error = by_sample.mean(axis=1), by_sample.std(axis=1, ddof=1)
        error /= math.sqrt(by_sample.shape[1])
        late, early = (
            np.flatnonzero(part) for part in (sizes >= FEW_SYSTEMS, sizes <= FEW_SYSTEMS)
        )
        names: dict[str, Any] = {"few": FEW_SYSTEMS, "symbol": symbol}
        ends = late[np.argmin(mean[late])], late[np.argmax(mean[late])]
        holds, told = _moves(sizes, mean, error, ends, more_than=0.01)
        calm = None if holds is None else not holds
        yield SHEET.claim("figure-1.constant", calm, told, **names)
        ends = (early[0], early[-1]) if beginning == "transient" else (early[1], early[0])
        yield SHEET.claim(f"figure-1.{beginning}", *_moves(sizes, mean, error, ends), **names)


def _moves(
    sizes: np.ndarray,
    mean: np.ndarray,
    error: np.ndarray,
    ends: tuple[int, int],
    *,
    more_than: float = 0.0,
) -> tuple[bool | None, str]:
    """Return whether the mean is larger at the second of two places, and by how much."""
    first, last = ends
    move, off = float(mean[last] - mean[first]), math.hypot(error[first], error[last])
    told = f"{simulated(move, off)} more with {sizes[last]} systems than with {sizes[first]}"
    return above(move, more_than, off), told


def _table_exhibit(result: AgreeResult, number: int) -> Exhibit:
    """Return an ANOVA table of the data, the printed one, and what follows from its columns."""
    coefficient: Coefficient = "tau" if number == 1 else "tau_ap"
    made = SHEET.made(coefficient, _table_parts(result, coefficient, number))
    claims = (replace(one, id=f"table-{number}.{one.id.split('.')[1]}") for one in made.claims)
    return replace(made, id=f"table-{number}", claims=tuple(claims))


def _table_parts(result: AgreeResult, coefficient: Coefficient, number: int) -> Iterator[Part]:
    own = result.anovas[coefficient]
    assert own is not None
    yield _own_table(number, result, coefficient, own)
    yield printed_table(number, coefficient)
    yield from printed_claims(coefficient)
    yield from _effect_claims(result, coefficient, own)
    yield SHEET.words["table"]["note"]
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
    caption = f"Analysis of variance of {SYMBOLS[coefficient]}, these data"
    columns = ("source", "SS", "DF", "F", "p", "omega²", "printed omega²")
    header = (*columns, "F by subject", "p by subject")
    return page_table(f"table-{number}-here", caption, header, rows)


def _effect_claims(result: AgreeResult, coefficient: Coefficient, own: Anova) -> Iterator[Claim]:
    names = ("measure_pair", "topic_size", "system_size")
    sizes = {name: own.source(name).omega_squared for name in names}
    pair, topics, systems = sizes.values()
    lines = {line.source: line for line in TABLES[coefficient]}
    crossed = ("measure_pair:topic_size", "topic_size:system_size")
    both = own.source("measure_pair:system_size")
    printed = {
        **{key: lines[name].omega_squared for key, name in zip(WORDS, names, strict=True)},
        "interaction": lines[both.source].f,
        "others": " and ".join(str(lines[name].f) for name in crossed),
    }
    largest = ", ".join(f"{source_words(name)} {size:.4f}" for name, size in sizes.items())
    others = [own.source(name) for name in crossed]
    decided: tuple[tuple[str, bool | None, str], ...] = (
        ("largest", pair > max(topics, systems), largest),
        ("topics", topics > systems, largest),
        ("large", topics >= 0.14, f"{topics:.4f}"),
        ("negligible", systems < 0.01, f"{systems:.4f}"),
        ("insignificant", both.pvalue > 0.05, f"F {both.statistic:.3f}"),
        (
            "interactions",
            all(line.pvalue < 0.05 for line in others),
            "F " + " and ".join(f"{line.statistic:.3f}" for line in others),
        ),
    )
    other = result.anovas["tau"]
    if coefficient == "tau_ap" and other is not None:
        tau = {name: other.source(name).omega_squared for name in names}
        told = {name: f"omega² {sizes[name]:.4f} and {tau[name]:.4f}" for name in names}
        alike = {name: abs(sizes[name] - tau[name]) <= 0.05 for name in names}
        decided += (
            ("sensitive", systems > tau["system_size"], told["system_size"]),
            ("alike", alike["measure_pair"], told["measure_pair"]),
            ("same", alike["topic_size"], told["topic_size"]),
        )
    for id, holds, told_here in decided:
        yield SHEET.claim(f"table.{id}", holds, told_here, **printed)


@SHEET.exhibit("figure-2")
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
    yield {"rmse": result.rmse, "swaps": len(result.swaps)}


def _ranking_claims(result: AgreeResult, rows: Sequence[dict[str, Any]]) -> Iterator[Claim]:
    moves = [abs(row["rank_tau"] - row["rank_tau_ap"]) for row in rows]
    spread = float(np.std([row["tau"] for row in rows]))
    swaps = len(result.swaps)
    rmse, total = result.rmse, len(rows) * (len(rows) - 1) // 2
    for id, holds, told in (
        ("offset", rmse < 0.5 * spread, f"RMSE {rmse:.4f}; sd {spread:.4f}"),
        ("few", swaps <= 0.1 * total, f"{swaps} of {total}"),
        ("neighbours", max(moves) <= 1, f"largest move {max(moves)} places"),
    ):
        yield SHEET.claim(f"figure-2.{id}", holds, told)


def pvalue_cell(value: float | None) -> Cell:
    """Return a p-value as ANOVA tables show it."""
    if value is None or np.isnan(value):
        return cell(None)
    if value == 0.0:
        return Cell("< 1e-300", value)
    return Cell(f"{value:.4f}" if value >= 1e-4 else f"{value:.2e}", value)


def printed_table(number: int, coefficient: Coefficient) -> Table:
    """Return the printed columns and those that follow from its sums of squares."""
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
    """Yield what must agree within the printed table itself."""
    lines = TABLES[coefficient]
    error, total, effects = lines[-2], lines[-1], lines[:-2]
    tested = [line for line in effects if line.omega_squared is not None]
    with_ms = [line for line in lines if line.ms is not None]
    parts = abs(sum(line.ss for line in lines[:-1]) - total.ss)
    yield _lines_claim("DF", lines, _df_agree(lines))
    yield SHEET.claim("table.SS", parts <= 9 * HALF, f"off by {parts:.4f}")
    agree = [abs(e.ss / e.df - (e.ms or 0.0)) <= HALF * (1.0 + 1.0 / e.df) for e in with_ms]
    yield _lines_claim("MS", with_ms, agree)
    yield _lines_claim("F", effects, [_f_agrees(line, error) for line in effects])
    yield _lines_claim("p", effects, [_p_agrees(line, error) for line in effects])
    agree = [abs(omega_squared(line) - (line.omega_squared or 0.0)) <= HALF for line in tested]
    yield _lines_claim("omega", tested, agree)
    # By the nearer of two definitions.
    agree = [
        min(abs(power - (line.power or 0.0)) for power in _powers(line.f or 0.0, line, error))
        <= HALF
        for line in tested
    ]
    yield _lines_claim("power", tested, agree)


def _lines_claim(column: str, lines: Sequence[Printed], agree: Sequence[bool]) -> Claim:
    """Return a claim about lines of a table, which names those that do not agree."""
    off = [source_words(line.source) for line, ok in zip(lines, agree, strict=True) if not ok]
    told = f"not {in_words(off)}" if off else ""
    return SHEET.share_claim(f"table.{column}", agree, told, of="lines")


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
