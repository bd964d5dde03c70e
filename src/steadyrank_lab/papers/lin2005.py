"""Reproduction of Lin & Hauptmann (SIGIR 2005): when do two experiments contradict each other?

Table 1 has the variances of the given data, paired and not, and what follows from the printed ones.
The error rate (eq. 8) is compared with disjoint topic sets, to which the exponential law (eq. 9)
is fitted. Eq. 13 is derived by Williams' approximation of the normal distribution, as it must be
and as eq. 12 prints it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from steadyrank.data.scores import Scores
from steadyrank.present.page import PageFigure
from steadyrank.present.plot_style import COLOURS, label, legend
from steadyrank.present.table import Table
from steadyrank.stats.planning.reversal import approximate_error_rate, error_rate
from steadyrank.studies.topics.levels import TopicLevel
from steadyrank.studies.topics.study import TopicsResult, topics
from steadyrank_lab.papers.data import PaperData
from steadyrank_lab.papers.model import (
    Claim,
    Part,
    Reproduction,
    Sheet,
    Work,
    blank_figure,
    increases,
    page_figure,
    page_table,
    result_figure,
    scientific,
)

SHEET = Sheet("lin2005")

LEVELS = (0.01, 0.02, 0.03)
PRINTED: dict[str, dict[float, float]] = {
    name: dict(zip(LEVELS, variances, strict=True))
    for name, variances in SHEET.words["table-1"]["printed"].items()
}
"""Table 1: variances of the difference of two MAPs, by the level of the difference."""

TOPICS = 50
"""Topics of TREC-3 and of TREC-6; a variance of means goes with their number."""

ENOUGH = 200
"""Pairs in splits from which on an empirical rate counts as known."""

LARGEST_GAP = 0.0058
"""Between eq. 8 and eq. 13."""

Results = Mapping[str, TopicsResult]
"""What `topics` found on each collection."""


def lin2005(data: PaperData, work: Work) -> Reproduction:
    """Table 1, eq. 8 with experiment, eq. 9 with its fits, eqs. 12 and 13."""
    trials = work.number(small=50, full=1000)
    scores = data.scores
    assert scores is not None
    results = {
        name: topics(_collection(scores, name), n_trials=trials, rng=work.seed, **work.threads)
        for name in scores.measures
    }
    return SHEET.reproduction(
        data.words,
        (_table_1(results), _equation_8(results), _equation_9(results), equation_13()),
        collections={
            name: f"{len(result.runs)} runs, {result.n_topics} topics"
            for name, result in results.items()
        },
        splits=trials,
    )


def _collection(scores: Scores, measure: str) -> Scores:
    """Return one measure's scores, without the runs and topics that have none of it."""
    there = ~np.isnan(scores.matrix(measure))
    return scores.select(
        measures=measure,
        runs=[scores.runs[k] for k in np.flatnonzero(there.any(axis=1))],
        topics=[scores.topics[k] for k in np.flatnonzero(there.any(axis=0))],
    )


def _levels(result: TopicsResult) -> list[TopicLevel]:
    return [level for level in result.levels if round(level.low, 2) in LEVELS]


def _name(level: TopicLevel) -> str:
    return f"{level.low:.2f}–{level.high:.2f}" if level.high < math.inf else f"≥ {level.low:.2f}"


def _at_fifty(result: TopicsResult, variance: float) -> float:
    """Return a variance of the mean difference, as it would be on 50 topics."""
    return variance * result.n_topics / TOPICS


@SHEET.exhibit("table-1")
def _table_1(results: Results) -> Iterator[Part]:
    yield _variance_table(results)
    caption = (
        "What the printed variances mean: error rate by eq. 8, difference in the middle of a level"
    )
    rows = [(f"{low + 0.005:.3f}", *rates) for low, rates in _rates_of_printed().items()]
    yield page_table("table-1-rates", caption, ("difference", *PRINTED), rows)
    yield from printed_claims()
    for name, result in results.items():
        yield from _variance_claims(name, result)
    yield _two_collections(*results.items())
    yield {"topics": dict(results)}


def _variance_table(results: Results) -> Table:
    rows: list[tuple[object, ...]] = []
    for place, low in enumerate(LEVELS):
        level_name = f"{low:.2f}–{low + 0.01:.2f}"
        for name, result in results.items():
            level = _levels(result)[place]
            both = (level.variance, level.variance_independent)
            here = (scientific(_at_fifty(result, variance)) for variance in both)
            rows.append((level_name, name, level.pairs, *here, None))
        rows += [
            (level_name, name, None, None, None, scientific(printed[low]))
            for name, printed in PRINTED.items()
        ]
    return page_table(
        "table-1",
        f"Variance of the difference of two mean scores on {TOPICS} topics",
        ("difference", "collection", "pairs", "paired", "by eq. 3", "printed"),
        rows,
    )


def _rates_of_printed() -> dict[float, list[float]]:
    """Error rates by eq. 8 in the middle of each level, from the printed variances."""
    return {
        low: error_rate(low + 0.005, [one[low] for one in PRINTED.values()], 1.0).tolist()
        for low in LEVELS
    }


def printed_claims() -> list[Claim]:
    """Return what must agree within the printed Table 1."""
    larger = [PRINTED["TREC-6"][low] > PRINTED["TREC-3"][low] for low in LEVELS]
    higher = [rates[1] > rates[0] for rates in _rates_of_printed().values()]
    return [
        SHEET.share_claim("table-1.larger", larger, of="levels"),
        SHEET.share_claim("table-1.higher", higher, of="levels"),
    ]


def _variance_claims(name: str, result: TopicsResult) -> Iterator[Claim]:
    printed = _log_mean([value for column in PRINTED.values() for value in column.values()])
    levels = [level for level in _levels(result) if level.pairs]
    paired, independent = (
        _log_mean([_at_fifty(result, getattr(level, key)) for level in levels])
        for key in ("variance", "variance_independent")
    )
    nearer = abs(paired - printed) < abs(independent - printed)
    told = (
        f"geometric means: paired {math.exp(paired):.2e}, eq. 3 {math.exp(independent):.2e}, "
        f"printed {math.exp(printed):.2e}"
    )
    known = (nearer, told) if levels else (None, "")
    yield SHEET.claim("table-1.paired", *known, name=name)
    above = [level.variance_independent > level.variance for level in levels]
    yield SHEET.share_claim("table-1.independence", above, of="levels", name=name)


def _log_mean(values: Sequence[float]) -> float:
    with np.errstate(divide="ignore"):
        return float(np.mean(np.log(values))) if values else math.nan


def _two_collections(one: tuple[str, TopicsResult], other: tuple[str, TopicsResult]) -> Claim:
    """Return where eq. 8 has more reversals, so have splits: what TREC-6 was to TREC-3."""
    results = [one[1], other[1]]
    shared = max(set(results[0].sizes) & set(results[1].sizes))
    places = [result.sizes.index(shared) for result in results]
    agrees, rates = [], []
    for both in zip(*map(_levels, results), strict=True):
        if not all(_known(level)[s] for level, s in zip(both, places, strict=True)):
            continue
        theory, splits = (
            [float(getattr(level, key)[s]) for level, s in zip(both, places, strict=True)]
            for key in ("error_rate", "empirical")
        )
        agrees.append((theory[0] < theory[1]) == (splits[0] < splits[1]))
        rates.append(
            f"{_name(both[0])}: eq. 8 {theory[0]:.3f} and {theory[1]:.3f}, splits "
            f"{splits[0]:.3f} and {splits[1]:.3f}"
        )
    names = {"name": f"{one[0]} and {other[0]}", "size": f" of {shared} topics"}
    return SHEET.share_claim("table-1.two", agrees, "; ".join(rates), of="levels", **names)


@SHEET.exhibit("equation-8")
def _equation_8(results: Results) -> Iterator[Part]:
    for number, (name, result) in enumerate(results.items(), 1):
        known = _known_rates(result)
        yield _rates_table(f"equation-8-{number}", name, known)
        caption = f"{name}: reversals in disjoint sets of topics, with theory"
        yield result_figure(f"equation-8-figure-{number}", caption, result, "error_rate")
        yield from _rate_claims(name, known)


def _known(level: TopicLevel) -> np.ndarray:
    return np.asarray((level.count >= ENOUGH) & ~np.isnan(level.empirical))


def _known_rates(result: TopicsResult) -> pd.DataFrame:
    """Rates of reversals by theory and in splits, one row per level and size with enough pairs."""
    parts = (
        pd.DataFrame({"level": _name(level), "topics": result.sizes, **level.curves})[_known(level)]
        for level in result.levels
    )
    return pd.concat(parts, ignore_index=True)


def _rates_table(name: str, collection: str, known: pd.DataFrame) -> Table:
    columns = ("level", "topics", "count", "empirical", "error_rate", "approximation", "predictive")
    return page_table(
        name,
        f"{collection}: reversals by level of the difference and topics in each set",
        ("difference", "topics", "pairs in splits", "reversed", "eq. 8", "eq. 13", "predictive"),
        known[[*columns]].itertuples(index=False),
    )


def _rate_claims(name: str, known: pd.DataFrame) -> Iterator[Claim]:
    falls = _falls(known, "level")
    yield SHEET.share_claim("equation-8.topics", falls, of="levels", name=name)
    falls = _falls(known, "topics")
    yield SHEET.share_claim("equation-8.differences", falls, of="sizes", name=name)
    several = known[known.groupby("level")["topics"].transform("size") > 1]
    theory, predictive = (_distance(several, kind) for kind in ("error_rate", "predictive"))
    distances = f"mean distance {theory:.3f}, of the predictive rate {predictive:.3f}"
    decided = (None, "") if math.isnan(theory) else (theory <= 0.02, distances)
    yield SHEET.claim("equation-8.rates", *decided, name=name)


def _falls(known: pd.DataFrame, by: str) -> list[bool]:
    """Return whether rates fall within each level or size; not where no pair is ever reversed."""
    outcomes = [increases((-rates).tolist()) for _, rates in known.groupby(by)["empirical"]]
    return [outcome for outcome in outcomes if outcome is not None]


def _distance(known: pd.DataFrame, kind: str) -> float:
    """Return the mean distance of theory from splits over levels and sizes, weighted by pairs."""
    there = known.dropna(subset=[kind])
    gaps = there["count"] * (there["empirical"] - there[kind]).abs()
    return float(gaps.sum() / there["count"].sum()) if len(there) else math.nan


@SHEET.exhibit("equation-9")
def _equation_9(results: Results) -> Iterator[Part]:
    rows = []
    for name, result in results.items():
        fitted = [
            (level, level.fit)
            for level in result.levels
            if level.fit is not None and _known(level).sum() > 2
        ]
        residuals = [
            float(np.sqrt(np.nanmean(fit.residuals[_known(level)] ** 2))) for level, fit in fitted
        ]
        first = [fit.b1 for _, fit in fitted]
        for (level, fit), off in zip(fitted, residuals, strict=True):
            rows.append((name, _name(level), fit.b1, fit.b2, off))
        yield SHEET.share_claim(
            "equation-9.fits",
            [off <= 0.02 for off in residuals],
            f"largest {max(residuals):.4f}" if residuals else "",
            of="levels",
            name=name,
        )
        yield SHEET.share_claim(
            "equation-9.half",
            [abs(b1 - 0.5) <= 0.05 for b1 in first],
            f"between {min(first):.2f} and {max(first):.2f}" if first else "",
            of="levels",
            name=name,
        )
    header = ("collection", "difference", "b1", "b2", "root mean square residual")
    caption = "b1 exp(−b2 n) fitted to the rates of reversals"
    yield page_table("equation-9", caption, header, rows)


@SHEET.exhibit("equation-13")
def equation_13() -> Iterator[Part]:
    """Eq. 13 and its derivation, with eq. 12 as it is printed and as it must be."""
    z = np.arange(0.0, 4.001, 0.01)
    exact, approximate = error_rate(z, 1.0, 1.0), approximate_error_rate(z, 1.0, 1.0)
    derived, misprinted = rate_by_williams(z, 2.0 / math.pi), rate_by_williams(z, 1.0 / math.pi)
    gap = float(np.max(np.abs(exact - approximate)))
    tabled = np.isin(np.round(z, 2), (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0))
    rows = np.stack([z, exact, approximate, derived, misprinted], axis=1)[tabled].tolist()
    header = ("z", "eq. 8", "eq. 13", "from eq. 12 corrected", "from eq. 12 as printed")
    caption = "Error rates at a difference of z standard errors"
    yield page_table("equation-13", caption, header, rows)
    yield _curves(z, exact, approximate, misprinted)
    near = gap <= LARGEST_GAP
    yield SHEET.claim("equation-13.near", near, f"largest distance {gap:.5f}")
    for id, rates, told in (
        ("williams", derived, "erf(x) ≈ sqrt(1 − exp(−4x²/π)); "),
        ("printed", misprinted, ""),
    ):
        off = float(np.max(np.abs(rates - approximate)))
        told += f"off by up to {off:.3f}"
        yield SHEET.claim(f"equation-13.{id}", off < 1e-12, told)
    within = bool((exact >= 0).all() and (exact <= 0.5).all())
    ends = f"between {exact.min():.4f} and {exact.max():.4f}"
    yield SHEET.claim("equation-13.range", within, ends)
    yield {"z": z, "eq. 8": exact, "eq. 13": approximate, "eq. 12": derived}


def rate_by_williams(z: np.ndarray, factor: float) -> np.ndarray:
    """2 p (1 - p) with p = Phi(-z) by (1 + sqrt(1 - exp(-factor z²))) / 2 for Phi(z).

    >>> rate_by_williams(np.array([0.0, 1.0]), 2 / math.pi).round(4).tolist()
    [0.5, 0.2645]
    """
    right = 0.5 * (1.0 + np.sqrt(-np.expm1(-factor * z**2)))
    return np.asarray(2.0 * right * (1.0 - right))


def _curves(z: np.ndarray, *curves: np.ndarray) -> PageFigure:
    figure, ax = blank_figure(6.4, 3.6)
    names = ("eq. 8", "eq. 13", "from eq. 12 as printed")
    looks = zip(curves, names, COLOURS, ("-", "--", ":"), strict=False)
    for curve, name, colour, dashes in looks:
        ax.plot(z, curve, label=name, color=colour, linestyle=dashes, linewidth=1.4)
    label(ax, x="difference in standard errors", y="error rate")
    ax.set_xlim(0, 4)
    ax.set_ylim(0, 0.52)
    legend(ax)
    return page_figure("equation-13-figure", "Eq. 8 and its approximation", figure)
