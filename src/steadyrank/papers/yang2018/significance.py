"""Table 1 of Yang, Zhang & Song (SIGIR 2018), and what its last two rows count.

The printed figures, and those at hand beside them. Two places where the paper's words and its
algorithms part: what PCT(ASL < 0.05) counts, and what Algorithm 4 estimates as it is printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from steadyrank.papers.model import Claim, Exhibit, claim, listed, page_figure, page_table
from steadyrank.present.page import PageFigure
from steadyrank.present.table import Table
from steadyrank.studies.simulate.profiles import Model
from steadyrank.studies.simulate.study import SimulateResult


class Printed(NamedTuple):
    """One column of Table 1."""

    correlation: float
    rare_share: float
    """PCT(ASL < 0.05)."""
    estimated_difference: float


TABLE_1: Mapping[str, Mapping[Model, Printed]] = {
    "Robust 2004": {
        "bootstrap": Printed(0.9176, 0.1041, 0.3955),
        "kde": Printed(0.8088, 0.0896, 0.3273),
    },
    "Adhoc 1999": {
        "bootstrap": Printed(0.8509, 0.1783, 0.4135),
        "kde": Printed(0.8121, 0.1756, 0.4111),
    },
}

SIZES = {"Robust 2004": (110, 249), "Adhoc 1999": (129, 50)}
"""Runs and topics of the paper's collections."""

RAW_SHARE = 0.8148
"""Of Robust 2004: pairs that the t test tells apart on the runs as they are (section 4.2.4)."""

TOLERANCE = Printed(0.01, 0.01, 0.02)
"""How near the figures of the paper's own runs must come: Monte Carlo error, and what it leaves
open (bandwidth, ties, the denominator of AP)."""

TOO_NEAR = 0.001
"""A difference between models that leaves their order open."""

MODELS: Mapping[Model, str] = {"bootstrap": "BST", "kde": "KDE"}
RARE, RELIABLE = 0.05, 0.95

Simulations = Mapping[Model, SimulateResult]
"""What was simulated, by model."""

READING = (
    "Algorithm 3 counts how often the t test rejects over simulated collections. That is a rate "
    "of rejection, near 1 for runs that clearly differ, and PCT(ASL < 0.05), the share of pairs "
    "whose rate is below 0.05, counts the pairs that are almost never significant. The text takes "
    "the rate for a p-value (which Sakai's bootstrap ASL is, from which the name comes), and so "
    "sets the pairs that rarely differ in simulated collections beside those that do differ in "
    "the real one. Its conclusion that other documents upset significance tests rests on that."
)


def table_1(results: Simulations) -> Exhibit:
    """Rank correlation, PCT and estimated difference, here and as printed."""
    here = {
        model: Printed(
            result.rank_correlation.mean,
            result.significance.rarely_share,
            result.significance.estimated_difference,
        )
        for model, result in results.items()
    }
    raw = results["bootstrap"].raw_significant_share
    return Exhibit(
        id="table-1",
        title="Rank correlation, share of ASL < 0.05, and estimated difference",
        tables=(_columns(here, raw),),
        claims=(
            *_order_claims(here["bootstrap"], here["kde"]),
            claim(
                "Far more pairs are significant on the raw scores than PCT counts (twice or more).",
                raw > 2 * max(figures.rare_share for figures in here.values()),
                f"{raw:.4f} against {listed((figures.rare_share for figures in here.values()), 4)}",
            ),
            printed_shares_are_counts(),
            _own_figures(results["bootstrap"], here),
        ),
        explanation="The text and the table write ACL for ASL. " + READING,
    )


def _columns(here: Mapping[Model, Printed], raw: float) -> Table:
    columns = {"here": here} | {f"{name}, printed": column for name, column in TABLE_1.items()}
    rows: list[tuple[Any, ...]] = [
        (label, *(column[model][k] for column in columns.values() for model in MODELS))
        for k, label in enumerate(("KRCC", "PCT(ASL < 0.05)", "ED"))
    ]
    rows.append(("significant on the raw scores", raw, raw, RAW_SHARE, RAW_SHARE, None, None))
    header = ("", *(f"{name}, {model}" for name in columns for model in MODELS.values()))
    return page_table("table-1", "Table 1", header, rows)


def _order_claims(one: Printed, two: Printed) -> list[Claim]:
    """BST before KDE in every row, and high rank correlations."""
    names = ("KRCC", "PCT", "ED")
    larger = [
        claim(
            f"{name} is larger for BST than for KDE.",
            None if abs(a - b) < TOO_NEAR else a > b,
            f"{a:.4f} and {b:.4f}",
        )
        for name, a, b in zip(names, one, two, strict=True)
    ]
    least = min(one.correlation, two.correlation)
    return [*larger, claim("Every KRCC is above 0.8.", least > 0.8, f"at least {least:.4f}")]


def n_pairs(runs: int) -> int:
    """Comparisons of so many runs."""
    return runs * (runs - 1) // 2


def printed_shares_are_counts() -> Claim:
    """Whether the printed shares can be shares of so many pairs, to four decimals."""
    shares = [(name, p.rare_share) for name, column in TABLE_1.items() for p in column.values()]
    shares.append(("Robust 2004", RAW_SHARE))
    fits, counts = [], []
    for name, share in shares:
        pairs = n_pairs(SIZES[name][0])
        count = round(share * pairs)
        fits.append(round(count / pairs, 4) == share)
        counts.append(f"{share:.4f} = {count} of {pairs:,}")
    return claim(
        "Each printed share is a whole number of the collection's pairs.",
        all(fits),
        "; ".join(counts),
    )


def own_collection(runs: int, topics: int) -> str | None:
    """The paper's collection of this size."""
    return next((name for name, size in SIZES.items() if size == (runs, topics)), None)


def _own_figures(result: SimulateResult, here: Mapping[Model, Printed]) -> Claim:
    text = "On the paper's own runs the printed figures come out."
    name = own_collection(len(result.runs), len(result.topics))
    if name is None:
        return claim(text, None, "These are other runs and topics.")
    off = np.abs([np.subtract(here[model], TABLE_1[name][model]) for model in MODELS])
    raw = name != "Robust 2004" or round(result.raw_significant_share, 4) == RAW_SHARE
    return claim(
        text,
        raw and (off <= TOLERANCE).all(),
        f"{name}: KRCC, PCT and ED off by at most {listed(off.max(axis=0), 4)}",
    )


def algorithm_3(result: SimulateResult) -> Exhibit:
    """What PCT(ASL < 0.05) counts."""
    rates, raw = result.significance, result.raw_significant_share
    significant = np.nan_to_num(result.raw_pvalue, nan=1.0) < rates.alpha
    rare = rates.rate < RARE
    also, mean, stays = (
        int((significant & rare).sum()),
        rates.rate.mean(),
        result.decision_agreement,
    )
    rows = [
        ("significant on the raw scores", raw),
        ("mean rate of significance (mean ASL)", mean),
        ("rate below 0.05: the paper's PCT", rates.rarely_share),
        ("rate of 0.95 or more", rates.reliably_share),
        ("decisions as on the raw scores, over pairs and collections", stays),
    ]
    return Exhibit(
        id="algorithm-3",
        title="What PCT(ASL < 0.05) counts",
        figures=(_rate_figure(rates.rate, significant),),
        tables=(page_table("algorithm-3-data", "Significance of pairs, BST", ("", "share"), rows),),
        claims=(
            claim(
                "The pairs with ASL < 0.05 differ significantly, as the text has it.",
                also > 0.5 * rare.sum() if rare.any() else None,
                f"of {int(rare.sum())} such pairs, {also} are significant on the raw scores",
            ),
            claim(
                "They are pairs without a significant difference: PCT is at most 1 − the raw share "
                "(as printed, 0.1041 against 1 − 0.8148 = 0.1852).",
                rates.rarely_share <= 1 - raw,
                f"{rates.rarely_share:.4f} and {1 - raw:.4f}",
            ),
            claim(
                "Other documents upset significance tests (most decisions change).",
                stays < 0.5,
                f"{stays:.3f} of all decisions stay; the mean rate is {mean:.3f}, the raw share "
                f"{raw:.3f}",
            ),
        ),
        explanation=READING,
    )


def _rate_figure(rate: np.ndarray, significant: np.ndarray) -> PageFigure:
    from matplotlib.figure import Figure

    from steadyrank.present.plot_style import COLOURS, QUIET, legend, tidy

    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    ax = figure.add_subplot()
    tidy(ax)
    ax.axvspan(0, RARE, color=QUIET, alpha=0.3, lw=0, label="counted by PCT(ASL < 0.05)")
    ax.hist(
        [rate[significant], rate[~significant]],
        bins=np.linspace(0, 1, 21).tolist(),
        stacked=True,
        color=list(COLOURS[:2]),
        label=["significant on the raw scores", "not significant"],
    )
    ax.set_xlabel("share of simulated collections in which a pair is significant")
    ax.set_ylabel("pairs of runs")
    legend(ax)
    alt = (
        f"{len(rate)} pairs of runs by their rate of significance: {int((rate < RARE).sum())} "
        f"below 0.05, {int((rate >= RELIABLE).sum())} at 0.95 or above."
    )
    caption = "How often pairs of runs are significant in simulated collections, BST"
    return page_figure("algorithm-3", caption, figure, alt=alt)


def algorithm_4(results: Simulations) -> Exhibit:
    """What the estimated difference estimates."""
    rows = [
        (
            MODELS[model],
            result.significance.estimated_difference,
            float(np.ptp(result.simulated_mean)),
            result.significance.estimated_difference_recentred,
            _undecided_gap(result),
        )
        for model, result in results.items()
    ]
    _, printed, gap, recentred, undecided = (np.array(column) for column in zip(*rows, strict=True))
    raw_gap = float(np.ptp(results["bootstrap"].raw_mean))
    header = (
        "model",
        "as printed",
        "largest gap of simulated means",
        "recentred",
        "largest raw gap of a pair not reliably significant",
    )
    caption = f"Estimated difference; the largest gap of raw means is {raw_gap:.4f}"
    return Exhibit(
        id="algorithm-4",
        title="What the estimated difference estimates",
        tables=(page_table("algorithm-4", caption, header, rows),),
        claims=(
            claim(
                "As printed, ED is about the largest gap between two runs' means (0.75 to 1.5 of "
                "it).",
                ((printed > 0.75 * gap) & (printed < 1.5 * gap)).all(),
                f"ratios {listed(printed / gap, 2)}",
            ),
            claim(
                "Recentred, in the spirit of Sakai's test, ED is less than half of that.",
                (recentred < 0.5 * printed).all(),
                f"{listed(recentred, 4)} against {listed(printed, 4)}",
            ),
            claim(
                "A difference as large as ED is needed for reliable significance.",
                (undecided >= printed).any(),
                f"every pair further apart than {undecided.max():.4f} is significant in 95% of the "
                f"simulated collections or more; ED is {listed(printed, 4)}",
            ),
        ),
        explanation="The listing takes, for each pair, the sample whose |t| is the B·α-th largest "
        "and keeps its mean difference; ED is the largest of them all. Nothing is recentred, so "
        "the pair of the best and the worst run decides, and ED says how far apart these are. It "
        "writes z_i where it collects and d_i where it maximises; both mean the absolute mean "
        "difference. Recentred, each pair's mean difference is taken off first: then ED is a "
        "difference that other documents alone can make between two equal runs.",
    )


def _undecided_gap(result: SimulateResult) -> float:
    """The largest raw difference of a pair that is not reliably significant."""
    first, second = np.triu_indices(len(result.runs), 1)
    gaps = np.abs(result.raw_mean[first] - result.raw_mean[second])
    return float(gaps[result.significance.rate < RELIABLE].max(initial=0.0))


def raw_share(matrix: np.ndarray) -> Exhibit:
    """What scores alone can tell: the share of pairs that the t test tells apart."""
    from steadyrank.stats.pairs.result import all_pairs
    from steadyrank.stats.pairs.tests import paired_t

    pvalue = paired_t(matrix, all_pairs(len(matrix))).pvalue
    share = float((np.nan_to_num(pvalue, nan=1.0) < 0.05).mean())
    own = own_collection(*matrix.shape) == "Robust 2004"
    rows = [("significant on the raw scores", share, RAW_SHARE)]
    header = ("", "here", "Robust 2004, printed")
    caption = "Significant pairs, two-sided paired t test at 0.05"
    return Exhibit(
        id="table-1",
        title="Share of pairs that are significant on the raw scores",
        tables=(page_table("table-1", caption, header, rows),),
        claims=(
            claim(
                "On Robust 2004 the share is the printed one, to four digits.",
                round(share, 4) == RAW_SHARE if own else None,
                f"{share:.4f} of {n_pairs(len(matrix)):,} pairs",
            ),
            printed_shares_are_counts(),
        ),
        explanation="The simulations resample the scores of documents: give runs and judgments "
        "for the other figures.",
    )
