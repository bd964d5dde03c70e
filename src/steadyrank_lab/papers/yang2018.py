"""Yang, Zhang & Song (SIGIR 2018) again: does another sample of documents change the comparison?

Figures 1 and 2 and Table 1 on the runs at hand, the printed figures beside them. Two places where
the paper's words and its algorithms part: what PCT(ASL < 0.05) counts (Algorithm 3), and what
Algorithm 4 estimates as it is printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.present.page import PageFigure
from steadyrank.present.plot_style import COLOURS, QUIET, label, legend
from steadyrank.present.table import Table
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.studies.plotting import plot
from steadyrank.studies.simulate.profiles import Model
from steadyrank.studies.simulate.study import SimulateResult, simulate
from steadyrank_lab.papers.data import PaperData
from steadyrank_lab.papers.model import (
    Claim,
    Exhibit,
    Part,
    Reproduction,
    Work,
    blank_figure,
    claim,
    exhibit,
    listed,
    page_figure,
    page_table,
    result_figure,
)

REFERENCE = (
    "M. Yang, P. Zhang & D. Song: A study of per-topic variance on system comparison. "
    "SIGIR 2018, 1181–1184. doi:10.1145/3209978.3210122"
)

FIRST = 7
"""Bins in which the text has BST's error rate above KDE's."""


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


def yang2018(data: PaperData, work: Work) -> Reproduction:
    """Every figure and table of the paper, on runs with judgments.

    From scores alone only the share of significant pairs can be had. Simulated rankings are as
    deep as the deepest one at hand: 1000 documents, as in the paper, for most runs of TREC.
    """
    if data.runs is None:
        scores = data.scores(("AP",))
        measure = data.measures[0] if data.measures else scores.measures[0]
        return _reproduction(data, raw_share(scores.matrix(measure)), measure=measure)
    settings: dict[str, Any] = {
        "measure": data.measures[0] if data.measures else "AP",
        "n_samples": work.number(small=200, full=10_000),
        "depth": max(int(np.diff(run.blocks).max(initial=1)) for run in data.runs),
        "documents": "independent",
        "bandwidth": "scott",
        "denominator": "judged",
    }
    # How the user wants topics treated that lack relevant documents.
    kept = {key: value for key, value in data.scoring.items() if key == "no_relevant"}
    results: dict[Model, SimulateResult] = {
        model: simulate(
            data.runs,
            data.qrels,
            mode="paper",
            model=model,
            jobs=work.jobs,
            progress=_part(work.progress, place, len(MODELS)),
            rng=work.seed,
            **settings,
            **kept,
        )
        for place, model in enumerate(MODELS)
    }
    made = (figure_1(results), figure_2(results), table_1(results))
    algorithms = (algorithm_3(results["bootstrap"]), algorithm_4(results))
    return _reproduction(data, *made, *algorithms, **settings)


def _reproduction(data: PaperData, *exhibits: Exhibit, **settings: object) -> Reproduction:
    return Reproduction(
        paper="yang2018", reference=REFERENCE, data=data.words, exhibits=exhibits, settings=settings
    )


def _part(progress: Progress | None, place: int, parts: int) -> Progress | None:
    """Progress of one of several equal parts of the work."""
    if progress is None:
        return None
    return lambda done, total: progress(place * total + done, parts * total)


@exhibit("figure-1", "Simulated against raw scores, topic by topic, of one run")
def figure_1(results: Simulations) -> Iterator[Part]:
    """Simulated scores against raw ones: of the best run drawn, of all runs in numbers."""
    best = results["bootstrap"]
    run, high = best.runs[int(np.argmax(best.raw_mean))], best.raw > np.median(best.raw)
    rows = []
    for model, result in results.items():
        caption = f"{MODELS[model]}: {run}, mean ± sd of simulated scores"
        yield result_figure(f"figure-1-{model}", caption, result, "topics", run=run)
        off = np.abs(result.cell_mean - result.raw)
        halves = (float(off[part].mean()) if part.any() else np.nan for part in (~high, high))
        rows.append((MODELS[model], float(off.mean()), *halves, float(result.cell_sd.mean())))
    header = ("model", "mean distance", "lower half of raw scores", "upper half", "mean sd")
    caption = "Distance of simulated from raw scores, and their spread, over all runs and topics"
    yield page_table("figure-1-data", caption, header, rows)
    _, mean, low, top, spread = (np.array(column) for column in zip(*rows, strict=True))
    yield claim(
        "The standard deviations of both models are alike (within a quarter).",
        0.8 < spread[1] / spread[0] < 1.25,
        f"mean sd {listed(spread, 4)}",
    )
    yield claim(
        "Simulated scores are nearer to the raw ones where these are small.",
        (low < top).all(),
        f"lower half {listed(low, 4)}; upper half {listed(top, 4)}",
    )
    yield claim(
        "BST comes nearer to the raw scores than KDE.",
        mean[0] < mean[1],
        f"mean distance {listed(mean, 4)}",
    )
    yield (
        "The paper draws one run of Robust 2004 without naming it; this is the best run at hand. "
        "The claims go by all runs."
    )


@exhibit("figure-2", "Error rate by the size of the simulated difference")
def figure_2(results: Simulations) -> Iterator[Part]:
    """The error rate in 21 bins of the simulated difference."""
    rates = [result.error_rate for result in results.values()]
    rows = [
        (f"{low:.2f}", *(figure for rate in rates for figure in (rate.count[k], rate.rate[k])))
        for k, low in enumerate(rates[0].low)
    ]
    columns = (f"{name}, {what}" for name in MODELS.values() for what in ("count", "rate"))
    caption = "Comparisons of two runs in a collection, and the share in the wrong order"
    yield _error_figure(results)
    yield page_table("figure-2-data", caption, ("from", *columns), rows)
    yield _falls(results)
    last = np.concatenate([rate.rate[-FIRST:] for rate in rates])
    known = last[~np.isnan(last)]
    yield claim(
        "The error rate is close to 0 in the last seven bins (below 0.02).",
        known.max() < 0.02 if len(known) else None,
        f"at most {known.max():.4f}" if len(known) else "no pair is so far apart",
    )
    one, two = (rate.rate[:FIRST] for rate in rates)
    yield claim(
        "BST has the higher error rate in the first seven bins (printed for Robust 2004).",
        None if np.isnan(one + two).any() else (one > two).all(),
        f"in {int((one > two).sum())} of {FIRST} bins; BST {listed(one)}; KDE {listed(two)}",
    )
    # The share of swapped pairs, from the bins and from tau.
    pairs = [(r.error_rate.overall, (1 - r.rank_correlation.mean) / 2) for r in results.values()]
    yield claim(
        "Over all bins the error rate is (1 − KRCC) / 2, as it must be where nothing ties.",
        max(abs(one - two) for one, two in pairs) < 0.002,
        "; ".join(listed(pair, 4) for pair in pairs),
    )
    yield _figure_2_words(results)


def _error_figure(results: Simulations) -> PageFigure:
    figure = plot(results["bootstrap"], kind="error_rate")
    plot(results["kde"], kind="error_rate", ax=figure.axes[0])
    first, last = (
        ", ".join(f"{MODELS[m]} {float(r.error_rate.rate[k]):.3f}" for m, r in results.items())
        for k in (0, 10)
    )
    alt = f"Error rates that fall with the difference: {first} below 0.01; {last} at 0.1."
    caption = "Error rate by bins of the simulated difference, with Monte Carlo standard errors"
    return page_figure("figure-2", caption, figure, alt=alt)


def _falls(results: Simulations) -> Claim:
    steps, ends = [], []
    for model, result in results.items():
        rate = result.error_rate
        known = np.flatnonzero(rate.count > 0)
        error = rate.rate_error[known]
        rise = np.diff(rate.rate[known]) - 3 * np.hypot(error[1:], error[:-1])
        steps.append(rise.max(initial=-1.0))
        ends.append(f"{MODELS[model]} {rate.rate[0]:.3f} to {rate.rate[known[-1]]:.3f}")
    return claim(
        "The error rate falls from bin to bin (up to three Monte Carlo standard errors).",
        max(steps) <= 1e-12,
        "; ".join(ends),
    )


def _figure_2_words(results: Simulations) -> str:
    implied = "; ".join(
        f"{name} {' and '.join(f'{(1 - printed[m].correlation) / 2:.3f}' for m in MODELS)}"
        for name, printed in TABLE_1.items()
    )
    near = [r.error_rate.count[:3].sum() / r.error_rate.count.sum() for r in results.values()]
    return (
        "The paper bins by d_i; a negative one would have no bin, so bins are of |d_i|. A "
        "comparison is wrong where the pair is discordant, so the rate over all bins follows from "
        f"Table 1's KRCC, for BST and KDE: {implied}. By these figures BST swaps fewer pairs, "
        "although the text has its rates higher in the first seven bins and both near 0 beyond. "
        "Both can be true only if KDE moves so many more pairs into the small bins that these "
        f"outweigh its lower rates; here the first three bins hold shares of {listed(near, 2)}."
    )


@exhibit("table-1", "Rank correlation, share of ASL < 0.05, and estimated difference")
def table_1(results: Simulations) -> Iterator[Part]:
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
    rare = [figures.rare_share for figures in here.values()]
    yield _columns(here, raw)
    yield from _order_claims(here["bootstrap"], here["kde"])
    yield claim(
        "Far more pairs are significant on the raw scores than PCT counts (twice or more).",
        raw > 2 * max(rare),
        f"{raw:.4f} against {listed(rare, 4)}",
    )
    yield printed_shares_are_counts()
    yield _own_figures(results["bootstrap"], here)
    yield f"The text and the table write ACL for ASL. {READING}"


def _columns(here: Mapping[Model, Printed], raw: float) -> Table:
    columns = {"here": here} | {f"{name}, printed": column for name, column in TABLE_1.items()}
    rows: list[tuple[Any, ...]] = [
        (label, *(column[model][k] for column in columns.values() for model in MODELS))
        for k, label in enumerate(("KRCC", "PCT(ASL < 0.05)", "ED"))
    ]
    rows.append(("significant on the raw scores", raw, raw, RAW_SHARE, RAW_SHARE, None, None))
    header = ("", *(f"{name}, {model}" for name in columns for model in MODELS.values()))
    return page_table("table-1", "Table 1", header, rows)


def _order_claims(one: Printed, two: Printed) -> Iterator[Claim]:
    for name, a, b in zip(("KRCC", "PCT", "ED"), one, two, strict=True):
        larger = None if abs(a - b) < TOO_NEAR else a > b
        yield claim(f"{name} is larger for BST than for KDE.", larger, f"{a:.4f} and {b:.4f}")
    least = min(one.correlation, two.correlation)
    yield claim("Every KRCC is above 0.8.", least > 0.8, f"at least {least:.4f}")


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
    text = "Each printed share is a whole number of the collection's pairs."
    return claim(text, all(fits), "; ".join(counts))


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


@exhibit("algorithm-3", "What PCT(ASL < 0.05) counts")
def algorithm_3(result: SimulateResult) -> Iterator[Part]:
    """What PCT(ASL < 0.05) counts."""
    rates, raw, stays = result.significance, result.raw_significant_share, result.decision_agreement
    significant = np.nan_to_num(result.raw_pvalue, nan=1.0) < rates.alpha
    rare, mean = rates.rate < RARE, rates.rate.mean()
    also = int((significant & rare).sum())
    rows = [
        ("significant on the raw scores", raw),
        ("mean rate of significance (mean ASL)", mean),
        ("rate below 0.05: the paper's PCT", rates.rarely_share),
        ("rate of 0.95 or more", rates.reliably_share),
        ("decisions as on the raw scores, over pairs and collections", stays),
    ]
    yield _rate_figure(rates.rate, significant)
    yield page_table("algorithm-3-data", "Significance of pairs, BST", ("", "share"), rows)
    yield claim(
        "The pairs with ASL < 0.05 differ significantly, as the text has it.",
        also > 0.5 * rare.sum() if rare.any() else None,
        f"of {int(rare.sum())} such pairs, {also} are significant on the raw scores",
    )
    yield claim(
        "They are pairs without a significant difference: PCT is at most 1 − the raw share (as "
        "printed, 0.1041 against 1 − 0.8148 = 0.1852).",
        rates.rarely_share <= 1 - raw,
        f"{rates.rarely_share:.4f} and {1 - raw:.4f}",
    )
    yield claim(
        "Other documents upset significance tests (most decisions change).",
        stays < 0.5,
        f"{stays:.3f} of all decisions stay; the mean rate is {mean:.3f}, the raw share {raw:.3f}",
    )
    yield READING


def _rate_figure(rate: np.ndarray, significant: np.ndarray) -> PageFigure:
    figure, ax = blank_figure(5.6, 3.6)
    ax.axvspan(0, RARE, color=QUIET, alpha=0.3, lw=0, label="counted by PCT(ASL < 0.05)")
    ax.hist(
        [rate[significant], rate[~significant]],
        bins=np.linspace(0, 1, 21).tolist(),
        stacked=True,
        color=list(COLOURS[:2]),
        label=["significant on the raw scores", "not significant"],
    )
    label(ax, x="share of simulated collections in which a pair is significant", y="pairs of runs")
    legend(ax)
    alt = (
        f"{len(rate)} pairs of runs by their rate of significance: {int((rate < RARE).sum())} "
        f"below 0.05, {int((rate >= RELIABLE).sum())} at 0.95 or above."
    )
    caption = "How often pairs of runs are significant in simulated collections, BST"
    return page_figure("algorithm-3", caption, figure, alt=alt)


@exhibit("algorithm-4", "What the estimated difference estimates")
def algorithm_4(results: Simulations) -> Iterator[Part]:
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
    columns = ("as printed", "largest gap of simulated means", "recentred")
    last = "largest raw gap of a pair not reliably significant"
    raw_gap = float(np.ptp(results["bootstrap"].raw_mean))
    caption = f"Estimated difference; the largest gap of raw means is {raw_gap:.4f}"
    yield page_table("algorithm-4", caption, ("model", *columns, last), rows)
    _, printed, gap, recentred, undecided = (np.array(column) for column in zip(*rows, strict=True))
    yield claim(
        "As printed, ED is about the largest gap between two runs' means (0.75 to 1.5 of it).",
        ((printed > 0.75 * gap) & (printed < 1.5 * gap)).all(),
        f"ratios {listed(printed / gap, 2)}",
    )
    yield claim(
        "Recentred, in the spirit of Sakai's test, ED is less than half of that.",
        (recentred < 0.5 * printed).all(),
        f"{listed(recentred, 4)} against {listed(printed, 4)}",
    )
    yield claim(
        "A difference as large as ED is needed for reliable significance.",
        (undecided >= printed).any(),
        f"every pair further apart than {undecided.max():.4f} is significant in 95% of the "
        f"simulated collections or more; ED is {listed(printed, 4)}",
    )
    yield (
        "The listing takes, for each pair, the sample whose |t| is the B·α-th largest and keeps "
        "its mean difference; ED is the largest of them all. Nothing is recentred, so the pair of "
        "the best and the worst run decides, and ED says how far apart these are. It writes z_i "
        "where it collects and d_i where it maximises; both mean the absolute mean difference. "
        "Recentred, each pair's mean difference is taken off first: then ED is a difference that "
        "other documents alone can make between two equal runs."
    )


def _undecided_gap(result: SimulateResult) -> float:
    """The largest raw difference of a pair that is not reliably significant."""
    first, second = np.triu_indices(len(result.runs), 1)
    gaps = np.abs(result.raw_mean[first] - result.raw_mean[second])
    return float(gaps[result.significance.rate < RELIABLE].max(initial=0.0))


@exhibit("table-1", "Share of pairs that are significant on the raw scores")
def raw_share(matrix: np.ndarray) -> Iterator[Part]:
    """What scores alone can tell: the share of pairs that the t test tells apart."""
    pvalue = paired_t(matrix, all_pairs(len(matrix))).pvalue
    share = float((np.nan_to_num(pvalue, nan=1.0) < 0.05).mean())
    own = own_collection(*matrix.shape) == "Robust 2004"
    rows = [("significant on the raw scores", share, RAW_SHARE)]
    caption = "Significant pairs, two-sided paired t test at 0.05"
    yield page_table("table-1", caption, ("", "here", "Robust 2004, printed"), rows)
    yield claim(
        "On Robust 2004 the share is the printed one, to four digits.",
        round(share, 4) == RAW_SHARE if own else None,
        f"{share:.4f} of {n_pairs(len(matrix)):,} pairs",
    )
    yield printed_shares_are_counts()
    yield (
        "The simulations resample the scores of documents: give runs and judgments for the other "
        "figures."
    )
