"""What `simulate` found, drawn: would another document collection change the table?

Figures 1 and 2 of Yang, Zhang & Song (SIGIR 2018), ranks and means of the runs, and what the
paper's Table 1 sums up: rank correlations, and how often pairs are significant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.errors import unknown_name
from steadyrank.present.figures import Plot
from steadyrank.present.plot_style import (
    COLOURS,
    QUIET,
    dots,
    draw_rank_rows,
    error_bars,
    fixed,
    label,
    legend,
    longest_name,
    look,
    name_rows,
    shortened,
    with_rows,
)
from steadyrank.present.svg import tell
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.simulate.statistics import RARELY, RELIABLY
from steadyrank.words import decimals_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.simulate.study import SimulateResult


def draw_error_rate(result: SimulateResult, ax: Axes) -> None:
    """Error rate against the simulated difference, with Monte Carlo standard errors: Figure 2."""
    bins = result.error_rate
    width = bins.low[1] - bins.low[0]
    below = np.minimum(bins.rate_error, bins.rate)
    columns = bins.low, bins.high, bins.errors, bins.count, bins.rate
    form = decimals_for(width)
    texts = [
        f"difference {low:{form}} to {high:{form}}: {wrong:,} of {count:,} pairs in reverse order, "
        f"rate {rate:.4f}"
        for low, high, wrong, count, rate in zip(*columns, strict=True)
    ]
    error_bars(
        ax,
        bins.low + width / 2,
        bins.rate,
        texts,
        yerr=np.stack([below, bins.rate_error]),
        label=_model(result),
        linewidth=1.2,
        capsize=2,
        clip_on=False,
        **look(len(ax.containers)),
    )
    named = bins.low[: -1 : max(1, len(bins.low) // 4)]
    # The last bin has no upper end, and stands where it would if it had one.
    ax.set_xticks(
        np.append(named, bins.low[-1] + width / 2),
        labels=[*(f"{low:{form}}" for low in named), f"≥ {bins.low[-1]:{form}}"],
    )
    ax.set_xlim(0, bins.low[-1] + 1.5 * width)
    ax.set_ylim(bottom=0, auto=True)  # a second result may reach higher
    label(ax, x=f"difference in mean {result.measure} between two runs in a simulated collection")
    label(ax, y="error rate")
    legend(ax, fontsize="medium")


def _model(result: SimulateResult) -> str:
    if result.documents == "shared":
        return "shared documents"
    return result.model_name()


def draw_topics(result: SimulateResult, ax: Axes, *, run: str | None = None) -> None:
    """One run's simulated means ± one standard deviation against its raw values: Figure 1."""
    if run is None:
        run = result.runs[int(np.argmax(result.raw_mean))]
    if run not in result.runs:
        raise unknown_name("run", run, result.runs)
    r = result.runs.index(run)
    if not ax.containers:
        ax.axline((0, 0), slope=1, color=QUIET, linewidth=0.8)
    spread = np.nan_to_num(result.cell_sd[r])  # one sample has no spread to draw
    columns = result.topics, result.raw[r], result.cell_mean[r], spread
    texts = [
        f"topic {topic}: {raw:.4f}, simulated {mean:.4f} ± {sd:.4f}"
        for topic, raw, mean, sd in zip(*columns, strict=True)
    ]
    style = {"linestyle": "none", "label": _model(result), **look(len(ax.containers))}
    error_bars(ax, result.raw[r], result.cell_mean[r], texts, yerr=spread, **style)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    label(ax, x=f"{result.measure} of {shortened(run, longest_name(ax))} on a topic")
    label(ax, y=f"simulated {result.measure}, mean ± sd")
    if len(ax.containers) > 1:
        legend(ax, loc="upper left")


def draw_ranks(result: SimulateResult, ax: Axes) -> None:
    """Each run's rank as it is, and between which ranks it is in 95 % of other collections."""
    rows = result.rows()
    ranks, low, high = (
        np.array([row[key] for row in rows]) for key in ("rank", "rank_low", "rank_high")
    )
    names = [row["run"] for row in rows]
    where = "simulated collections" if result.prediction is None else "second collections"
    what = f"rank by {result.measure} (dot),\nand in 95% of {where} (line)"
    draw_rank_rows(ax, names, ranks, low, high, place=len(ax.containers), what=what)


def draw_means(result: SimulateResult, ax: Axes) -> None:
    """Each run's mean as it is, and its mean over simulated collections ± one deviation."""
    rows = result.rows()
    place = np.arange(len(rows))
    raw, mean, sd = (
        np.array([row[key] for row in rows])
        for key in ("raw_mean", "simulated_mean", "simulated_sd")
    )
    texts = [
        f"{row['run']}: {row['raw_mean']:.4f}, simulated {row['simulated_mean']:.4f} "
        f"± {row['simulated_sd']:.4f}"
        for row in rows
    ]
    style = {"linestyle": "none", "elinewidth": 1.5, "label": "simulated, ± sd", **look(0)}
    error_bars(ax, mean, place, texts, xerr=np.nan_to_num(sd), **style)
    ticks = {"marker": "|", "color": COLOURS[-1], "markersize": 9, "label": "observed"}
    dots(ax, raw, place, texts, **ticks)
    name_rows(ax, [row["run"] for row in rows])
    label(ax, x=f"mean {result.measure}")
    legend(ax)


def draw_tau(result: SimulateResult, ax: Axes) -> None:
    """Rank correlations of other collections with the real one: their distribution."""
    correlation = result.tau
    other = "simulated" if result.prediction is None else "second"
    taus = correlation.taus[~np.isnan(correlation.taus)]
    # Tau has as many values as there are pairs to turn: no more bins than that.
    step = 4.0 / max(len(result.runs) * (len(result.runs) - 1), 4)
    low = taus.min(initial=1.0)
    n_bins = int(np.clip(np.ceil((1.0 - low) / step), 1, 40))
    style = look(len(ax.containers))["color"]
    counts, edges, bars = ax.hist(
        taus,
        bins=n_bins,
        range=(low - step / 2, 1.0 + step / 2),
        color=style,
        alpha=0.6,
        weights=np.full(len(taus), 1.0 / max(len(taus), 1)),
        label=f"{_model(result)}: mean {correlation.mean:.3f}",
    )
    shares = zip(edges[:-1], edges[1:], np.asarray(counts), strict=True)
    tell(bars, [f"tau {a:.3f} to {b:.3f}: {s:.1%} of {other} collections" for a, b, s in shares])
    ax.axvline(correlation.mean, color=style, linewidth=1.5)
    for end in correlation.interval:
        ax.axvline(end, color=style, linewidth=1.0, linestyle="--")
    label(
        ax, x=f"tau between a {other} collection's ranking by {result.measure} and the observed one"
    )
    label(ax, y=f"share of {other} collections")
    legend(ax, loc="upper left")


def draw_significance(result: SimulateResult, ax: Axes) -> None:
    """How often the t-test tells each pair apart, pairs by that rate: the paper's ASL.

    Colours say what the test decides on the rankings as they are.
    """
    rates = result.significance
    raw = np.nan_to_num(result.raw_pvalue, nan=1.0) < rates.alpha
    order = np.argsort(-rates.rate, kind="stable")
    place = np.arange(1, len(order) + 1)
    names = [f"{result.runs[a]} – {result.runs[b]}" for a, b in all_pairs(len(result.runs))]
    for k, (decided, words) in enumerate(((True, "significant"), (False, "not significant"))):
        chosen = np.flatnonzero(raw[order] == decided)
        texts = [
            f"{names[p]}: significant in {rates.rate[p]:.1%} of collections, p "
            f"{result.raw_pvalue[p]:.3g} as observed"
            for p in order[chosen]
        ]
        style = {"markersize": 3, "label": f"{words} as observed", **look(k)}
        dots(ax, place[chosen], rates.rate[order[chosen]], texts, **style)
    line: dict[str, Any] = {"color": QUIET, "linewidth": 1.0}
    rarely = f"rarely: {rates.rarely_share:.1%} of the pairs below"
    ax.axhline(RARELY, linestyle=":", label=rarely, **line)
    reliably = f"reliably: {rates.reliably_share:.1%} of the pairs above"
    ax.axhline(RELIABLY, linestyle="--", label=reliably, **line)
    ax.set_ylim(-0.03, 1.03)
    label(ax, x="pairs of runs, most often significant first")
    label(ax, y=f"collections with p < {rates.alpha:g} by {result.measure}")
    legend(ax)


PLOTS = {
    "SimulateResult": {
        "error_rate": Plot(
            draw_error_rate,
            fixed(6.4, 4.0),
            "Error rate of the order of two runs in {n_samples:,} simulated collections against "
            "their difference in mean {measure}, falling from {error_rate.rate[0]:.2f} for the "
            "smallest differences.",
        ),
        "ranks": Plot(
            draw_ranks,
            with_rows("runs"),
            "Ranks of {n_runs} runs by {measure}, best first, with 95% intervals over other "
            "collections.",
        ),
        "topics": Plot(
            draw_topics,
            fixed(4.9, 4.8),
            "Simulated {measure} of one run on {n_topics} topics, mean and standard deviation, "
            "against the observed one, with a diagonal.",
        ),
        "means": Plot(
            draw_means,
            with_rows("runs"),
            "Observed mean {measure} of {n_runs} runs, with mean and standard deviation over "
            "simulated collections.",
        ),
        "tau": Plot(
            draw_tau,
            fixed(6.0, 3.8),
            "Histogram of the rank correlation between the rankings of other collections and the "
            "observed one, with mean {tau.mean:.3f}.",
        ),
        "significance": Plot(
            draw_significance,
            fixed(6.4, 4.2),
            "Share of simulated collections in which each pair of runs differs significantly, "
            "pairs sorted: {significance.reliably_share:.0%} of them reliably, "
            "{significance.rarely_share:.0%} rarely.",
        ),
    }
}
