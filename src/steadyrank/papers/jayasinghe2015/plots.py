"""What can go wrong with non-deterministic systems, drawn.

Figures 2, 3, 4, 7, 9, 10 and 11 of Jayasinghe et al. (IP&M 2015) on their simulation or on the
user's data; levels of tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.errors import check_choice, unknown_name
from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot
from steadyrank.present.svg import tell
from steadyrank.studies.instances.plots import boxes_size, draw_boxes, draw_spread, topics_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.papers.jayasinghe2015.agreement import MethodPvalues, PoolPvalues
    from steadyrank.papers.jayasinghe2015.levels import ErrorRates
    from steadyrank.papers.jayasinghe2015.pitfalls import (
        Contradictions,
        EquivalenceIntervals,
        InstanceSpread,
        SingleInstanceShares,
    )


def draw_shares(result: SingleInstanceShares, ax: Axes) -> None:
    """Share of significant instances over mean and spread of the instance effect: Figure 2."""
    import matplotlib as mpl

    shades = mpl.colormaps["cividis"].resampled(style.SHADES)
    looks: dict[str, Any] = {"cmap": shades, "vmin": 0, "vmax": 1, "shading": "nearest"}
    grid = ax.pcolormesh(result.spreads, result.means, result.share, **looks)
    words = "mean {:g}, sd {:g}: {:.1%} ± {:.1%} of the instances"
    tell(grid, [words.format(*row) for row in result.to_frame().itertuples(index=False)])
    ax.grid(visible=False)
    ax.figure.colorbar(grid, ax=ax, label=f"instances significant at {result.alpha:g}")
    style.label(ax, x="standard deviation of the instance effect", y="mean of the instance effect")


def draw_intervals(result: EquivalenceIntervals, ax: Axes) -> None:
    """Intervals of a difference that is 0 against topics, with the margin: Figure 3."""
    ax.fill_between(result.sizes, result.low, result.high, color=style.COLOURS[0], alpha=0.3, lw=0)
    for margin in (-result.delta, result.delta):
        words = f"margin ±{result.delta:g}" if margin > 0 else None
        ax.axhline(margin, color=style.COLOURS[1], linestyle="--", lw=1, label=words)
    ax.axhline(0, color=style.QUIET, lw=0.8)
    style.label(ax, x="topics", y=f"{100 * result.confidence:g}% interval of the difference")
    style.legend(ax)


def draw_agreement(
    result: MethodPvalues, ax: Axes, *, first: str | None = None, second: str | None = None
) -> None:
    """p-values of two tests against each other: Figures 4 and 11.

    Of the paper's two tests of all instances unless others are named.
    """
    x, y = first or _method(result, "mixed_paper", 0), second or _method(result, "bootstrap", 1)
    ax.plot([0, 1], [0, 1], color=style.QUIET, lw=0.8)
    looks: dict[str, Any] = {"marker": ".", "markersize": 3, "color": style.COLOURS[0]}
    texts = [
        f"comparison {i + 1}: {x} {p:.4f}, {y} {q:.4f}".replace("_", " ")
        for i, (p, q) in enumerate(zip(result.of(x), result.of(y), strict=True))
    ]
    style.dots(ax, result.of(x), result.of(y), texts, alpha=0.5, **looks)
    style.label(ax, x=f"p, {x.replace('_', ' ')}", y=f"p, {y.replace('_', ' ')}")


def _method(result: MethodPvalues, wanted: str, otherwise: int) -> str:
    return wanted if wanted in result.methods else result.methods[otherwise]


def draw_descending(result: MethodPvalues, ax: Axes) -> None:
    """Each test's p-values from the largest down: Figure 10."""
    styles = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
    # There are as many lines as tests, and as many styles.
    curves = zip(result.methods, result.descending(), style.COLOURS, styles, strict=False)
    for method, values, colour, dashes in curves:
        words = method.replace("_", " ")
        looks: Any = {"color": colour, "linestyle": dashes}
        (line,) = ax.plot(range(1, len(values) + 1), values, label=words, linewidth=1.3, **looks)
        tell(line, [words])
    ax.set_ylim(0, 1)
    style.label(ax, x="comparisons, by p", y="p")
    style.legend(ax)


def draw_contradictions(result: Contradictions, ax: Axes, *, level: float | None = None) -> None:
    """Instances significantly better and worse than the baseline, by system: Figure 7.

    At all levels, the strictest darkest; or at one.
    """
    if level is not None and level not in result.alphas:
        raise unknown_name("level", f"{level:g}", [f"{alpha:g}" for alpha in result.alphas])
    chosen = [k for k in np.argsort(result.alphas)[::-1] if level in (None, result.alphas[k])]
    rows = np.arange(len(result.systems))
    directions = ((1, result.better, "better", ""), (-1, result.worse, "worse", "//"))
    for shade, k in enumerate(chosen, 1):
        at = result.alphas[k]
        for place, (sign, counts, words, hatch) in enumerate(directions):
            looks: dict[str, Any] = {"color": style.COLOURS[place], "alpha": shade / len(chosen)}
            looks |= {"height": 0.7, "hatch": hatch, "edgecolor": "white"}
            label = f"{words}, p < {at:g}"
            bars = ax.barh(rows, sign * counts[:, k], label=label, **looks)
            found = zip(result.systems, counts[:, k], result.n_instances, strict=True)
            texts = [f"{name}: {i} of {n} instances {words} at {at:g}" for name, i, n in found]
            tell(bars, texts)
    ax.axvline(0, color=style.QUIET, lw=0.8)
    style.name_rows(ax, result.systems)
    ax.xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    style.label(ax, x="instances significantly worse (left) and better (right)")
    style.legend_above(ax, loc="lower center")


def draw_pools(result: PoolPvalues, ax: Axes, *, method: str | None = None) -> None:
    """p-values of resampled pools against their number of instances: Figure 9."""
    if method is not None and method not in result.methods:
        raise unknown_name("method", method, result.methods)
    place = 0 if method is None else result.methods.index(method)
    values = [pool[~np.isnan(pool)] for pool in result.pvalues[place]]
    looks: Any = {"flierprops": {"markersize": 3}, "medianprops": {"color": style.COLOURS[0]}}
    ax.boxplot(values, tick_labels=list(map(str, result.sizes)), **looks)
    whole = result.whole[place]
    if not np.isnan(whole):
        ax.axhline(whole, color=style.COLOURS[1], linestyle="--", lw=1, label="all instances")
        style.legend(ax)
    ax.set_ylim(0, 1)
    style.label(ax, x="instances in a pool", y=f"p, {result.methods[place].replace('_', ' ')}")


def draw_levels(result: ErrorRates, ax: Axes) -> None:
    """How often each test of instances rejects, with Monte Carlo errors, and what is exact."""
    place = np.arange(len(result.tests))
    texts = [
        f"{test}: {rate:.4f} ± {error:.4f}".replace("_", " ")
        for test, rate, error in zip(result.tests, result.rate, result.rate_error, strict=True)
    ]
    looks = {"markersize": 5, "capsize": 2, "elinewidth": 1.0, "label": "simulated, ± 2 errors"}
    style.row_bars(ax, result.rate, place, 2 * result.rate_error, texts, place=0, **looks)
    if not np.isnan(result.exact).all():
        ax.plot(result.exact, place, "|", color=style.COLOURS[-1], markersize=10, label="exact")
    ax.axvline(result.alpha, **style.DASHED, label=f"alpha {result.alpha:g}")
    style.name_rows(ax, [test.replace("_", " ") for test in result.tests])
    ax.set_xlim(left=0)
    kind = "no difference" if result.difference == 0 else f"a difference of {result.difference:g}"
    sizes = f"({result.n_instances} instances, {result.n_topics} topics)"
    style.label(ax, x=f"share of rejections with {kind}\n{sizes}")
    style.legend(ax)


def _rows_size(n: int) -> tuple[float, float]:
    return 6.0, style.rows_height(n, least=1.6, each=0.32)


def draw_spread_means(result: InstanceSpread, ax: Axes) -> None:
    """Means of the instances of each system as boxes and points: Figure 6."""
    texts = [
        [f"{name}, instance {i + 1}: {mean:.4f}" for i, mean in enumerate(means)]
        for name, means in zip(result.systems, result.means, strict=True)
    ]
    draw_boxes(ax, result.systems, result.means, texts)
    style.label(ax, x="system or setting", y="mean score of an instance")


def draw_spread_topics(result: InstanceSpread, ax: Axes, *, system: str | None = None) -> None:
    """One system's scores on each topic over its instances: Figure 8."""
    name = result.systems[0] if system is None else system
    check_choice("system", name, result.systems)
    spread = result.topics[result.systems.index(name)].T
    draw_spread(ax, spread, [str(t + 1) for t in range(spread.shape[1])])
    style.label(ax, x=f"topics by the median of {name}", y="score of an instance")


PLOTS = {
    "SingleInstanceShares": {
        "shares": Plot(
            draw_shares,
            style.fixed(5.6, 4.4),
            lambda result: (
                "Heat map of the share of instances that differ significantly from a baseline, "
                "over mean and deviation of the instance effect, from "
                f"{float(result.share.min()):.0%} to {float(result.share.max()):.0%}."
            ),
        )
    },
    "EquivalenceIntervals": {
        "intervals": Plot(
            draw_intervals,
            style.fixed(5.6, 3.6),
            lambda result: (
                "Intervals of a difference that is zero against the number of topics, narrowing "
                f"towards the margin {result.delta:g}: {float(result.inside.mean()):.0%} lie "
                "within it."
            ),
        )
    },
    "MethodPvalues": {
        "agreement": Plot(
            draw_agreement,
            style.fixed(4.6, 4.4),
            lambda result: (
                f"The p-values of two tests on {result.pvalues.shape[1]:,} comparisons against "
                "each other, with a diagonal."
            ),
        ),
        "descending": Plot(
            draw_descending,
            style.fixed(5.6, 4.0),
            lambda result: (
                f"The p-values of {len(result.methods)} tests on {result.pvalues.shape[1]:,} "
                "comparisons, each from the largest down."
            ),
        ),
    },
    "Contradictions": {
        "directions": Plot(
            draw_contradictions,
            lambda result: _rows_size(len(result.systems)),
            lambda result: (
                f"Bars of how many instances of {len(result.systems)} systems are significantly "
                "better, to the right, and worse, to the left, than a baseline."
            ),
        )
    },
    "InstanceSpread": {
        "means": Plot(
            draw_spread_means,
            lambda result: boxes_size(len(result.systems)),
            lambda result: (
                f"Mean scores of the instances of {len(result.systems)} systems as points and "
                "boxes."
            ),
        ),
        "topics": Plot(
            draw_spread_topics,
            lambda result: topics_size(result.topics.shape[1]),
            lambda result: (
                "Range, quartiles and median over one system's instances on each of "
                f"{result.topics.shape[1]} topics, by median."
            ),
        ),
    },
    "PoolPvalues": {
        "pools": Plot(
            draw_pools,
            style.fixed(5.6, 4.0),
            lambda result: (
                f"Boxes of p-values of {result.pvalues.shape[2]} resampled pools against the "
                "number of instances in a pool: the more instances, the less they scatter."
            ),
        )
    },
    "ErrorRates": {
        "rates": Plot(
            draw_levels,
            lambda result: _rows_size(len(result.tests)),
            lambda result: (
                f"How often {len(result.tests)} tests of instances reject, with errors, beside the "
                f"level {result.alpha:g}."
            ),
        )
    },
}
"""Class of a result to its kinds of plot, the default first."""
