"""Lin & Hauptmann (SIGIR 2005) made again: when do two experiments contradict each other?

Table 1 with the variances of the data at hand, paired and not; what follows from the printed ones;
the error rate (eq. 8) beside disjoint topic sets; the exponential law (eq. 9); its derivation by
Williams' approximation of the normal distribution, as it must be and as eq. 12 prints it (eq. 13).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from steadyrank._version import __version__
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError
from steadyrank.present.page import PageFigure
from steadyrank.present.plot_style import COLOURS, label, legend
from steadyrank.present.table import Table
from steadyrank.stats.planning.reversal import approximate_error_rate, error_rate
from steadyrank.studies.topics.levels import TopicLevel
from steadyrank.studies.topics.result import TopicsResult
from steadyrank.studies.topics.study import topics
from steadyrank_lab.papers.data import PaperData, without_empty
from steadyrank_lab.papers.model import (
    Claim,
    Part,
    Reproduction,
    Work,
    blank_figure,
    claim,
    exhibit,
    increases,
    page_figure,
    page_table,
    result_figure,
    scientific,
    share_claim,
)

REFERENCE = (
    "W.-H. Lin and A. Hauptmann: Revisiting the effect of topic set size on retrieval error. "
    "SIGIR 2005."
)

PRINTED = {
    0.01: {"TREC-3": 0.000464, "TREC-6": 0.000783},
    0.02: {"TREC-3": 0.000294, "TREC-6": 0.000814},
    0.03: {"TREC-3": 0.000434, "TREC-6": 0.000684},
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
    scores = data.scores(("AP",), **work.threads)
    results = {
        name: topics(_collection(scores, name), n_trials=trials, rng=work.seed, **work.threads)
        for name in scores.measures
    }
    return Reproduction(
        paper="lin2005",
        reference=REFERENCE,
        data=data.words,
        exhibits=(_table_1(results), _equation_8(results), _equation_9(results), equation_13()),
        settings={
            "collections": {
                name: f"{len(result.runs)} runs, {result.n_topics} topics"
                for name, result in results.items()
            },
            "splits": trials,
            "steadyrank": __version__,
        },
    )


def _collection(scores: Scores, name: str) -> Scores:
    """The runs and topics that a column of Table 1 stands for."""
    usable = without_empty(scores, name)
    if len(usable.runs) < 2 or len(usable.topics) < 4:
        raise InputError(
            f"{name}: lin2005 holds disjoint sets of topics against each other, which takes at "
            f"least 2 runs and 4 topics, got {len(usable.runs)} and {len(usable.topics)}"
        )
    return usable


def _levels(result: TopicsResult) -> list[TopicLevel]:
    return [level for level in result.levels if round(level.low, 2) in PRINTED]


def _name(level: TopicLevel) -> str:
    return f"{level.low:.2f}–{level.high:.2f}" if level.high < math.inf else f"≥ {level.low:.2f}"


def _at_fifty(result: TopicsResult, variance: float) -> float:
    """A variance of the mean difference, as it would be on 50 topics."""
    return variance * result.n_topics / TOPICS


@exhibit("table-1", "Variances of the mean difference, by its level")
def _table_1(results: Results) -> Iterator[Part]:
    yield _variance_table(results)
    caption = (
        "What the printed variances mean: error rate by eq. 8, difference in the middle of a level"
    )
    rows = [(f"{low + 0.005:.3f}", *rates) for low, rates in _rates_of_printed().items()]
    yield page_table("table-1-rates", caption, ("difference", *PRINTED[0.01]), rows)
    yield from printed_claims()
    for name, result in results.items():
        yield from _variance_claims(name, result)
    if len(results) > 1:
        yield _two_collections(*list(results.items())[:2])
    yield (
        "The paper does not say how Table 1 was estimated. By eq. 3, which takes the two runs of a "
        "pair for independent, variances come out several times too large; the mean over the pairs "
        "of a level of var(a − b) / n, the variance of runs that share their topics, gives the "
        "printed size. So the table is of paired differences, against eq. 3. Figures here are "
        "brought to 50 topics, as many as TREC-3 and TREC-6 have."
    )
    yield {"topics": dict(results)}


def _variance_table(results: Results) -> Table:
    rows: list[tuple[object, ...]] = []
    for place, (low, printed) in enumerate(PRINTED.items()):
        level_name = f"{low:.2f}–{low + 0.01:.2f}"
        for name, result in results.items():
            level = _levels(result)[place]
            both = (level.variance, level.variance_independent)
            here = (scientific(_at_fifty(result, variance)) for variance in both)
            rows.append((level_name, name, level.pairs, *here, None))
        rows += [(level_name, name, None, None, None, scientific(v)) for name, v in printed.items()]
    return page_table(
        "table-1",
        f"Variance of the difference of two mean scores on {TOPICS} topics",
        ("difference", "collection", "pairs", "paired", "by eq. 3", "printed"),
        rows,
    )


def _rates_of_printed() -> dict[float, list[float]]:
    """Error rates by eq. 8 in the middle of each level, from the printed variances."""
    return {
        low: error_rate(low + 0.005, list(printed.values()), 1.0).tolist()
        for low, printed in PRINTED.items()
    }


def printed_claims() -> list[Claim]:
    """What must agree within the printed Table 1."""
    larger = [printed["TREC-6"] > printed["TREC-3"] for printed in PRINTED.values()]
    higher = [rates[1] > rates[0] for rates in _rates_of_printed().values()]
    return [
        share_claim("Printed variances are larger in TREC-6 than in TREC-3", larger, of="levels"),
        share_claim("So error rates by eq. 8 are higher in TREC-6", higher, of="levels"),
    ]


def _variance_claims(name: str, result: TopicsResult) -> Iterator[Claim]:
    printed = _log_mean([value for row in PRINTED.values() for value in row.values()])
    levels = [level for level in _levels(result) if level.pairs]
    paired, independent = (
        _log_mean([_at_fifty(result, getattr(level, key)) for level in levels])
        for key in ("variance", "variance_independent")
    )
    yield claim(
        f"{name}: paired variances are nearer to the printed ones than those of eq. 3",
        abs(paired - printed) < abs(independent - printed) if levels else None,
        f"geometric means: paired {math.exp(paired):.2e}, eq. 3 {math.exp(independent):.2e}, "
        f"printed {math.exp(printed):.2e}"
        if levels
        else "",
    )
    yield share_claim(
        f"{name}: independence (eq. 3) overstates the variance",
        [level.variance_independent > level.variance for level in levels],
        of="levels",
    )


def _log_mean(values: Sequence[float]) -> float:
    with np.errstate(divide="ignore"):
        return float(np.mean(np.log(values))) if values else math.nan


def _two_collections(one: tuple[str, TopicsResult], other: tuple[str, TopicsResult]) -> Claim:
    """Where eq. 8 has more reversals, so have splits: what TREC-6 was to TREC-3."""
    first, second = one[1], other[1]
    shared = sorted(set(first.sizes) & set(second.sizes))
    places = [result.sizes.index(shared[-1]) for result in (first, second)] if shared else []
    agrees, rates = [], []
    for both in zip(_levels(first), _levels(second), strict=True):
        known = [_known(level)[s] and level.pairs for level, s in zip(both, places, strict=False)]
        if len(known) < 2 or not all(known):
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
    size = f" of {shared[-1]} topics" if shared else ""
    text = f"{one[0]} and {other[0]}: splits{size} are reversed more where eq. 8 says so"
    return share_claim(text, agrees, "; ".join(rates), of="levels")


@exhibit("equation-8", "Error rates by theory and by disjoint sets of topics")
def _equation_8(results: Results) -> Iterator[Part]:
    for number, (name, result) in enumerate(results.items(), 1):
        mark = f"-{number}" if len(results) > 1 else ""
        known = _known_rates(result)
        yield _rates_table(f"equation-8{mark}", name, known)
        caption = f"{name}: reversals in disjoint sets of topics, with theory"
        yield result_figure(f"equation-8-figure{mark}", caption, result, "error_rate")
        yield from _rate_claims(name, known)
    yield (
        "Eq. 8 is about a pair whose true difference is known. Splits sort pairs by the difference "
        "that their first set happened to show, which is partly luck; so at small sizes splits "
        "reverse more often than eq. 8 says. The predictive rate counts the luck of both sets, but "
        "takes large and small true differences for equally likely: where systems are much alike, "
        "it is too low as well."
    )


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
    text = f"{name}: more topics, fewer reversals"
    yield share_claim(text, _falls(known, "level"), of="levels")
    text = f"{name}: larger differences, fewer reversals"
    yield share_claim(text, _falls(known, "topics"), of="sizes")
    several = known[known.groupby("level")["topics"].transform("size") > 1]
    theory, predictive = (_distance(several, kind) for kind in ("error_rate", "predictive"))
    distances = f"mean distance {theory:.3f}, of the predictive rate {predictive:.3f}"
    yield claim(
        f"{name}: eq. 8 of observed differences gives the rates of splits (within .02)",
        None if math.isnan(theory) else theory <= 0.02,
        "" if math.isnan(theory) else distances,
    )


def _falls(known: pd.DataFrame, by: str) -> list[bool]:
    """Whether rates fall within each level or size; not where no pair is ever reversed."""
    outcomes = [increases((-rates).tolist()) for _, rates in known.groupby(by)["empirical"]]
    return [outcome for outcome in outcomes if outcome is not None]


def _distance(known: pd.DataFrame, kind: str) -> float:
    """Of rates by theory from those of the splits: mean over levels and sizes, by their pairs."""
    there = known.dropna(subset=[kind])
    gaps = there["count"] * (there["empirical"] - there[kind]).abs()
    return float(gaps.sum() / there["count"].sum()) if len(there) else math.nan


@exhibit("equation-9", "Reversals decay exponentially with topics")
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
        yield share_claim(
            f"{name}: the exponential law fits the splits (residuals within .02)",
            [off <= 0.02 for off in residuals],
            f"largest {max(residuals):.4f}" if residuals else "",
            of="levels",
        )
        yield share_claim(
            f"{name}: the law's first parameter is 1/2, as eq. 13 has it (within .05)",
            [abs(b1 - 0.5) <= 0.05 for b1 in first],
            f"between {min(first):.2f} and {max(first):.2f}" if first else "",
            of="levels",
        )
    header = ("collection", "difference", "b1", "b2", "root mean square residual")
    caption = "b1 exp(−b2 n) fitted to the rates of reversals"
    yield page_table("equation-9", caption, header, rows)
    yield (
        "That eq. 9 fits follows from eq. 13 only for pairs of one difference and variance, and "
        "then b1 is 1/2. A level of observed differences mixes pairs, and with more topics their "
        "true differences come nearer to the observed, so the fitted b1 need not be 1/2."
    )


@exhibit("equation-13", "Why the decay is exponential")
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
    yield claim(
        f"Eq. 13 is within {LARGEST_GAP} of eq. 8",
        gap <= LARGEST_GAP,
        f"largest distance {gap:.5f}",
    )
    yield claim(
        "Eq. 13 follows from Williams' approximation",
        np.allclose(derived, approximate, rtol=0, atol=1e-12),
        "erf(x) ≈ sqrt(1 − exp(−4x²/π))",
    )
    yield claim(
        "Eq. 13 follows from eq. 12 as printed",
        np.allclose(misprinted, approximate, rtol=0, atol=1e-12),
        f"off by up to {float(np.max(np.abs(misprinted - approximate))):.3f}",
    )
    within = bool((exact >= 0).all() and (exact <= 0.5).all())
    yield claim("Error rates lie between 0 and 1/2", within)
    yield (
        "Eq. 12 prints 2x²/π where Williams has 4x²/π; eq. 13 rests on the latter. Where rates are "
        "tiny eq. 13 is too small by orders of magnitude, which matters to nobody."
    )
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
    alt = (
        "Error rate against the difference in standard errors, from one half down to zero: eq. 8 "
        "and eq. 13 almost coincide, the curve from eq. 12 as printed lies above them."
    )
    return page_figure("equation-13-figure", "Eq. 8 and its approximation", figure, alt=alt)
