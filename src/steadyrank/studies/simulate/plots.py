"""Figures of `simulate`: Figures 1 and 2 of Yang, Zhang & Song (SIGIR 2018), and ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyrank.errors import unknown_name
from steadyrank.present.figures import Plot
from steadyrank.present.plot_style import (
    QUIET,
    draw_rank_rows,
    error_bars,
    fixed,
    label,
    legend,
    longest_name,
    look,
    shortened,
    with_rows,
)
from steadyrank.words import decimals_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.simulate.study import SimulateResult


def draw_error_rate(result: SimulateResult, ax: Axes) -> None:
    """Draw error rates by the simulated difference, with Monte Carlo standard errors: Figure 2."""
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
    # The last bin has no upper end and is drawn as wide as the others.
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
    return "shared documents" if result.documents == "shared" else result.model_name()


def draw_topics(result: SimulateResult, ax: Axes, *, run: str | None = None) -> None:
    """Draw one run's simulated means ± one standard deviation by topic: Figure 1."""
    if run is None:
        run = result.runs[int(np.argmax(result.raw_mean))]
    if run not in result.runs:
        raise unknown_name("run", run, result.runs)
    r = result.runs.index(run)
    if not ax.containers:
        ax.axline((0, 0), slope=1, color=QUIET, linewidth=0.8)
    spread = np.nan_to_num(result.cell_sd[r])  # NaN for a single sample
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
    """Draw each run's observed rank and its interval over other collections."""
    rows = result.rows()
    ranks, low, high = (
        np.array([row[key] for row in rows]) for key in ("rank", "rank_low", "rank_high")
    )
    names = [row["run"] for row in rows]
    where = "simulated collections" if result.prediction is None else "second collections"
    what = f"rank by {result.measure} (dot),\nand in 95% of {where} (line)"
    draw_rank_rows(ax, names, ranks, low, high, place=len(ax.containers), what=what)


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
    }
}
