"""Yang, Zhang & Song (SIGIR 2018) again: does another sample of documents change the comparison?

Figures 1 and 2 and Table 1 on the given runs, with the printed figures. Two places where
the paper's words and its algorithms part: what PCT(ASL < 0.05) counts (Algorithm 3), and what
Algorithm 4 estimates as it is printed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from steadyrank.compute.executors import Progress
from steadyrank.present.page import PageFigure
from steadyrank.present.plot_style import COLOURS, QUIET, label, legend
from steadyrank.present.table import Table
from steadyrank.studies.plotting import plot
from steadyrank.studies.simulate.profiles import Model
from steadyrank.studies.simulate.study import SimulateResult, simulate
from steadyrank_lab.papers.data import PaperData
from steadyrank_lab.papers.model import (
    Claim,
    Part,
    Reproduction,
    Sheet,
    Work,
    above,
    blank_figure,
    listed,
    page_figure,
    page_table,
    result_figure,
    simulated,
)

SHEET = Sheet("yang2018")

FIRST = 7
"""Bins in which the text has BST's error rate above KDE's."""


class Figures(NamedTuple):
    """One column of Table 1."""

    correlation: float
    rare_share: float
    """PCT(ASL < 0.05)."""
    estimated_difference: float


MODELS: Mapping[Model, str] = {"bootstrap": "BST", "kde": "KDE"}
COLLECTIONS = ("Robust 2004", "Adhoc 1999")
TABLE_1: Mapping[str, Mapping[Model, Figures]] = {
    name: {model: Figures(*SHEET.words[name][model]) for model in MODELS} for name in COLLECTIONS
}
RUNS: dict[str, int] = {name: SHEET.words[name]["runs"] for name in COLLECTIONS}
"""Runs of the paper's collections."""

RAW_SHARE: float = SHEET.words["Robust 2004"]["raw"]
"""Share of pairs of runs in Robust 2004 that differ significantly by the t test (section 4.2.4)."""

RARE, RELIABLE = 0.05, 0.95

Simulations = Mapping[Model, SimulateResult]
"""What was simulated, by model."""


def yang2018(data: PaperData, work: Work) -> Reproduction:
    """Every figure and table of the paper, on runs with judgments.

    Simulated rankings are as deep as the deepest given one: 1000 documents, as in the paper.
    """
    settings: dict[str, Any] = {
        "measure": "AP",
        "n_samples": work.number(small=200, full=10_000),
        "depth": max(int(np.diff(run.blocks).max(initial=1)) for run in data.runs),
        "documents": "independent",
        "bandwidth": "scott",
        "denominator": "judged",
        "score_source": "score",
    }
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
        )
        for place, model in enumerate(MODELS)
    }
    made = (figure_1(results), figure_2(results), table_1(results))
    algorithms = (algorithm_3(results["bootstrap"]), algorithm_4(results))
    return SHEET.reproduction(data.words, (*made, *algorithms), **settings)


def _part(progress: Progress | None, place: int, parts: int) -> Progress | None:
    """Progress of one of several equal parts of the work."""
    if progress is None:
        return None
    return lambda done, total: progress(place * total + done, parts * total)


@SHEET.exhibit("figure-1")
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
    alike = 0.8 < spread[1] / spread[0] < 1.25
    yield SHEET.claim("figure-1.spread", alike, f"mean sd {listed(spread, 4)}")
    halved = f"lower half {listed(low, 4)}; upper half {listed(top, 4)}"
    yield SHEET.claim("figure-1.small", (low < top).all(), halved)
    yield SHEET.claim("figure-1.nearer", mean[0] < mean[1], f"mean distance {listed(mean, 4)}")


@SHEET.exhibit("figure-2")
def figure_2(results: Simulations) -> Iterator[Part]:
    """Yield the error rate in 21 bins of the simulated difference."""
    rates = [result.error_rate for result in results.values()]
    rows = [
        (f"{low:.2f}", *(figure for rate in rates for figure in (rate.count[k], rate.rate[k])))
        for k, low in enumerate(rates[0].low)
    ]
    columns = (f"{name}, {what}" for name in MODELS.values() for what in ("count", "rate"))
    caption = "Comparisons of two runs in a collection, and the share in the wrong order"
    figure = plot(results["bootstrap"], kind="error_rate")
    plot(results["kde"], kind="error_rate", ax=figure.axes[0])
    drawn = "Error rate by bins of the simulated difference, with Monte Carlo standard errors"
    yield page_figure("figure-2", drawn, figure)
    yield page_table("figure-2-data", caption, ("from", *columns), rows)
    yield _falls(results)
    last = np.concatenate([rate.rate[-FIRST:] for rate in rates])
    most = np.nanmax(last)
    yield SHEET.claim("figure-2.last", most < 0.02, f"at most {most:.4f}")
    one, two = (rate.rate[:FIRST] for rate in rates)
    yield SHEET.claim(
        "figure-2.first",
        (one > two).all(),
        f"in {int((one > two).sum())} of {FIRST} bins; BST {listed(one)}; KDE {listed(two)}",
    )
    # The share of swapped pairs, from the bins and from tau.
    pairs = [(r.error_rate.overall, (1 - r.rank_correlation.mean) / 2) for r in results.values()]
    follows = max(abs(one - two) for one, two in pairs) < 0.002
    yield SHEET.claim("figure-2.overall", follows, "; ".join(listed(pair, 4) for pair in pairs))
    near = [r.error_rate.count[:3].sum() / r.error_rate.count.sum() for r in results.values()]
    yield f"Here the first three bins hold shares of {listed(near, 2)}."


def _falls(results: Simulations) -> Claim:
    steps, ends = [], []
    for model, result in results.items():
        rate = result.error_rate
        known = np.flatnonzero(rate.count > 0)
        error = rate.rate_error[known]
        rise = np.diff(rate.rate[known]) - 3 * np.hypot(error[1:], error[:-1])
        steps.append(rise.max(initial=-1.0))
        ends.append(f"{MODELS[model]} {rate.rate[0]:.3f} to {rate.rate[known[-1]]:.3f}")
    return SHEET.claim("figure-2.falls", max(steps) <= 1e-12, "; ".join(ends))


@SHEET.exhibit("table-1")
def table_1(results: Simulations) -> Iterator[Part]:
    """Rank correlation, PCT and estimated difference, here and as printed."""
    here = {
        model: Figures(
            result.rank_correlation.mean,
            result.significance.rarely_share,
            result.significance.estimated_difference,
        )
        for model, result in results.items()
    }
    raw = results["bootstrap"].raw_significant_share
    rare = [figures.rare_share for figures in here.values()]
    errors = {model: monte_carlo_errors(result) for model, result in results.items()}
    yield _columns(here, errors, raw)
    yield from _order_claims(here, errors)
    yield SHEET.claim("table-1.raw", raw > 2 * max(rare), f"{raw:.4f} against {listed(rare, 4)}")
    yield printed_shares_are_counts()
    yield SHEET.claim("table-1.printed", None, "These are other runs and topics.")
    yield SHEET.words["reading"]


def monte_carlo_errors(result: SimulateResult) -> Figures:
    """Standard errors of a column of Table 1, as other seeds would show them.

    For PCT each pair is counted with the probability that its rate of rejection, simulated again,
    is below 0.05; pairs are taken for independent.
    """
    rates = result.significance
    with np.errstate(divide="ignore", invalid="ignore"):
        counted = special.ndtr((RARE - rates.rate) / rates.rate_error)
    share = np.sqrt(np.nansum(counted * (1 - counted))) / len(counted)
    difference = rates.estimated_difference_error
    return Figures(result.rank_correlation.mean_error, float(share), difference)


def _columns(here: Mapping[Model, Figures], errors: Mapping[Model, Figures], raw: float) -> Table:
    columns = {"here": here} | {f"{name}, printed": column for name, column in TABLE_1.items()}
    columns |= {"error": errors}
    rows: list[tuple[Any, ...]] = [
        (label, *(column[model][k] for column in columns.values() for model in MODELS))
        for k, label in enumerate(("KRCC", "PCT(ASL < 0.05)", "ED"))
    ]
    printed = (RAW_SHARE, RAW_SHARE, None, None)
    rows.append(("significant on the raw scores", raw, raw, *printed, None, None))
    header = ("", *(f"{name}, {model}" for name in columns for model in MODELS.values()))
    caption = "Table 1, with Monte Carlo standard errors"
    return page_table("table-1", caption, header, rows)


def _order_claims(
    here: Mapping[Model, Figures], errors: Mapping[Model, Figures]
) -> Iterator[Claim]:
    for place, name in enumerate(("KRCC", "PCT", "ED")):
        one, two = (here[model][place] for model in MODELS)
        off = [errors[model][place] for model in MODELS]
        printed = (f"{c['bootstrap'][place]}, {c['kde'][place]}" for c in TABLE_1.values())
        yield SHEET.claim(
            f"table-1.{name}",
            above(one, two, math.hypot(*off)) if one != two else None,
            f"{simulated(one, off[0])} and {simulated(two, off[1])}",
            published="; ".join(printed),
        )
    least = min(MODELS, key=lambda model: here[model].correlation)
    known = here[least].correlation, errors[least].correlation
    yield SHEET.claim("table-1.high", above(known[0], 0.8, known[1]), simulated(*known))


def n_pairs(runs: int) -> int:
    """Return the number of pairs of runs."""
    return runs * (runs - 1) // 2


def printed_shares_are_counts() -> Claim:
    """Return whether the printed shares can be shares of these pairs, to four decimals."""
    shares = [(name, p.rare_share) for name, column in TABLE_1.items() for p in column.values()]
    shares.append(("Robust 2004", RAW_SHARE))
    fits, counts = [], []
    for name, share in shares:
        pairs = n_pairs(RUNS[name])
        count = round(share * pairs)
        fits.append(round(count / pairs, 4) == share)
        counts.append(f"{share:.4f} = {count} of {pairs:,}")
    return SHEET.claim("table-1.counts", all(fits), "; ".join(counts))


@SHEET.exhibit("algorithm-3")
def algorithm_3(result: SimulateResult) -> Iterator[Part]:
    """Yield what PCT(ASL < 0.05) counts."""
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
    yield SHEET.claim(
        "algorithm-3.differ",
        also > 0.5 * rare.sum() if rare.any() else None,
        f"of {int(rare.sum())} such pairs, {also} are significant on the raw scores",
    )
    told = f"{rates.rarely_share:.4f} and {1 - raw:.4f}"
    yield SHEET.claim("algorithm-3.rest", rates.rarely_share <= 1 - raw, told)
    told = (
        f"{stays:.3f} of all decisions stay; the mean rate is {mean:.3f}, the raw share {raw:.3f}"
    )
    yield SHEET.claim("algorithm-3.upset", stays < 0.5, told)
    yield SHEET.words["reading"]


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
    caption = "How often pairs of runs are significant in simulated collections, BST"
    return page_figure("algorithm-3", caption, figure)


@SHEET.exhibit("algorithm-4")
def algorithm_4(results: Simulations) -> Iterator[Part]:
    """Yield what the estimated difference estimates."""
    rows = [
        (
            MODELS[model],
            result.significance.estimated_difference,
            result.significance.estimated_difference_error,
            float(np.ptp(result.simulated_mean)),
            result.significance.estimated_difference_recentred,
            _undecided_gap(result),
        )
        for model, result in results.items()
    ]
    columns = ("as printed", "its error", "largest gap of simulated means", "recentred")
    last = "largest raw gap of a pair not reliably significant"
    raw_gap = float(np.ptp(results["bootstrap"].raw_mean))
    caption = f"Estimated difference; the largest gap of raw means is {raw_gap:.4f}"
    yield page_table("algorithm-4", caption, ("model", *columns, last), rows)
    _, printed, error, gap, recentred, undecided = (np.array(x) for x in zip(*rows, strict=True))
    near = ((printed > 0.75 * gap) & (printed < 1.5 * gap)).all()
    yield SHEET.claim("algorithm-4.gap", near, f"ratios {listed(printed / gap, 2)}")
    told = ", ".join(simulated(*one) for one in zip(printed, error, strict=True))
    less = (recentred < 0.5 * printed).all()
    yield SHEET.claim("algorithm-4.recentred", less, f"{listed(recentred, 4)} against {told}")
    yield SHEET.claim(
        "algorithm-4.needed",
        (undecided >= printed).any(),
        f"every pair further apart than {undecided.max():.4f} is significant in 95% of the "
        f"simulated collections or more; ED is {told}",
    )


def _undecided_gap(result: SimulateResult) -> float:
    """Return the largest raw difference of a pair that is not reliably significant."""
    first, second = np.triu_indices(len(result.runs), 1)
    gaps = np.abs(result.raw_mean[first] - result.raw_mean[second])
    return float(gaps[result.significance.rate < RELIABLE].max(initial=0.0))
