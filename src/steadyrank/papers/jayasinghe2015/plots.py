"""What can go wrong with non-deterministic systems, drawn; and the curves of plans.

Figures 2, 3, 4, 7, 9, 10 and 11 of Jayasinghe et al. (IP&M 2015) on their simulation or on the
user's data; levels and power of tests by numbers of topics and instances.
`steadyrank.studies.plotting` lists the drawings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyrank.errors import unknown_name
from steadyrank.present.figures import Plot
from steadyrank.present.plot_style import (
    COLOURS,
    QUIET,
    SHADES,
    Drawing,
    fixed,
    label,
    legend,
    look,
    name_rows,
    rows_height,
    shown_lines,
)
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
    from steadyrank.studies.instances.planning import InstancePlan, PowerTable
    from steadyrank.studies.plan.measures import PlanCurve

POWER_STEPS = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Numbers of instances at which an `InstancePlan`'s power is drawn, as far as its own goes."""


def draw_shares(result: SingleInstanceShares, ax: Axes) -> None:
    """Share of significant instances over mean and spread of the instance effect: Figure 2."""
    import matplotlib as mpl

    grid = ax.pcolormesh(
        result.spreads,
        result.means,
        result.share,
        cmap=mpl.colormaps["cividis"].resampled(SHADES),
        vmin=0,
        vmax=1,
        shading="nearest",
    )
    tell(
        grid,
        [
            f"mean {mean:g}, sd {spread:g}: {share:.1%} ± {error:.1%} of the instances"
            for mean, row, errors in zip(
                result.means, result.share, result.share_error, strict=True
            )
            for spread, share, error in zip(result.spreads, row, errors, strict=True)
        ],
    )
    ax.grid(visible=False)
    ax.figure.colorbar(grid, ax=ax, label=f"instances significant at {result.alpha:g}")
    label(ax, x="standard deviation of the instance effect", y="mean of the instance effect")


def draw_intervals(result: EquivalenceIntervals, ax: Axes) -> None:
    """Intervals of a difference that is 0 against topics, with the margin: Figure 3."""
    ax.fill_between(result.sizes, result.low, result.high, color=COLOURS[0], alpha=0.3, lw=0)
    for margin in (-result.delta, result.delta):
        words = f"margin ±{result.delta:g}" if margin > 0 else None
        ax.axhline(margin, color=COLOURS[1], linestyle="--", lw=1, label=words)
    ax.axhline(0, color=QUIET, lw=0.8)
    label(ax, x="topics", y=f"{100 * result.confidence:g}% interval of the difference")
    legend(ax)


def draw_agreement(
    result: MethodPvalues, ax: Axes, *, first: str | None = None, second: str | None = None
) -> None:
    """p-values of two tests against each other: Figures 4 and 11.

    Of the paper's two tests of all instances unless others are named.
    """
    x, y = first or _method(result, "mixed_paper", 0), second or _method(result, "bootstrap", 1)
    ax.plot([0, 1], [0, 1], color=QUIET, lw=0.8)
    (dots,) = ax.plot(result.of(x), result.of(y), ".", markersize=3, color=COLOURS[0], alpha=0.5)
    tell(
        dots,
        [
            f"comparison {i + 1}: {x} {p:.4f}, {y} {q:.4f}".replace("_", " ")
            for i, (p, q) in enumerate(zip(result.of(x), result.of(y), strict=True))
        ],
    )
    label(ax, x=f"p, {x.replace('_', ' ')}", y=f"p, {y.replace('_', ' ')}")


def _method(result: MethodPvalues, wanted: str, otherwise: int) -> str:
    return wanted if wanted in result.methods else result.methods[otherwise]


def draw_descending(result: MethodPvalues, ax: Axes) -> None:
    """Each test's p-values from the largest down: Figure 10."""
    styles = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
    for place, (method, values) in enumerate(zip(result.methods, result.descending(), strict=True)):
        words = method.replace("_", " ")
        (line,) = ax.plot(
            np.arange(1, len(values) + 1),
            values,
            label=words,
            linewidth=1.3,
            color=COLOURS[place % len(COLOURS)],
            linestyle=styles[place % len(styles)],
        )
        tell(line, [words])
    ax.set_ylim(0, 1)
    label(ax, x="comparisons, by p", y="p")
    legend(ax)


def draw_contradictions(result: Contradictions, ax: Axes, *, level: float | None = None) -> None:
    """Instances significantly better and worse than the baseline, by system: Figure 7.

    At all levels, the strictest darkest; or at one.
    """
    if level is not None and level not in result.alphas:
        raise unknown_name("level", f"{level:g}", [f"{each:g}" for each in result.alphas])
    chosen = [k for k in np.argsort(result.alphas)[::-1] if level in (None, result.alphas[k])]
    rows = np.arange(len(result.systems))
    for shade, k in enumerate(chosen):
        alpha = (shade + 1) / len(chosen)
        for sign, counts, colour, words in (
            (1, result.better, COLOURS[0], "better"),
            (-1, result.worse, COLOURS[1], "worse"),
        ):
            bars = ax.barh(
                rows,
                sign * counts[:, k],
                color=colour,
                alpha=alpha,
                height=0.7,
                hatch="" if sign > 0 else "//",
                edgecolor="white",
                label=f"{words}, p < {result.alphas[k]:g}",
            )
            tell(
                bars,
                [
                    f"{name}: {count} of {n} instances {words} at {result.alphas[k]:g}"
                    for name, count, n in zip(
                        result.systems, counts[:, k], result.n_instances, strict=True
                    )
                ],
            )
    ax.axvline(0, color=QUIET, lw=0.8)
    name_rows(ax, result.systems)
    ax.xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    label(ax, x="instances significantly worse (left) and better (right)")
    legend(ax, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)


def draw_pools(result: PoolPvalues, ax: Axes, *, method: str | None = None) -> None:
    """p-values of resampled pools against their number of instances: Figure 9."""
    if method is not None and method not in result.methods:
        raise unknown_name("method", method, result.methods)
    place = 0 if method is None else result.methods.index(method)
    values = [pool[~np.isnan(pool)] for pool in result.pvalues[place]]
    ax.boxplot(
        values,
        tick_labels=[str(size) for size in result.sizes],
        flierprops={"markersize": 3},
        medianprops={"color": COLOURS[0]},
    )
    if not np.isnan(result.whole[place]):
        ax.axhline(
            result.whole[place], color=COLOURS[1], linestyle="--", lw=1, label="all instances"
        )
        legend(ax)
    ax.set_ylim(0, 1)
    label(ax, x="instances in a pool", y=f"p, {result.methods[place].replace('_', ' ')}")


def draw_levels(result: ErrorRates, ax: Axes) -> None:
    """How often each test of instances rejects, with Monte Carlo errors, and what is exact."""
    place = np.arange(len(result.tests))
    bars = ax.errorbar(
        result.rate,
        place,
        xerr=2 * result.rate_error,
        linestyle="none",
        markersize=5,
        capsize=2,
        elinewidth=1.0,
        label="simulated, ± 2 errors",
        **look(0),
    )
    tell(
        bars,
        [
            f"{test}: {rate:.4f} ± {error:.4f}".replace("_", " ")
            for test, rate, error in zip(result.tests, result.rate, result.rate_error, strict=True)
        ],
    )
    if not np.isnan(result.exact).all():
        ax.plot(result.exact, place, "|", color=COLOURS[-1], markersize=10, label="exact")
    ax.axvline(
        result.alpha, color=QUIET, linewidth=1.0, linestyle="--", label=f"alpha {result.alpha:g}"
    )
    name_rows(ax, [test.replace("_", " ") for test in result.tests])
    ax.set_xlim(left=0)
    kind = "no difference" if result.difference == 0 else f"a difference of {result.difference:g}"
    label(
        ax,
        x=f"share of rejections with {kind}\n"
        f"({result.n_instances} instances, {result.n_topics} topics)",
    )
    legend(ax)


def draw_plan(result: PlanCurve, ax: Axes) -> None:
    """Topics, or with given topics the power, against what the curve was asked for."""
    power = result.against == "topics"
    for place, measure in enumerate(result.measures):
        values = (result.power if power else result.topics)[place]
        (line,) = ax.plot(
            result.values, values, markersize=4, linewidth=1.2, label=measure, **look(place)
        )
        line.set_markevery(max(1, len(values) // 15))
        tell(line, [measure])
    ax.set_ylim(bottom=0)
    label(ax, x=result.against.replace("_", " "), y="power" if power else "topics")
    if len(result.measures) > 1:
        legend(ax)


def draw_power(result: PowerTable, ax: Axes, *, target: float | None = None) -> None:
    """Power against instances, a line a number of topics; dotted, what no number exceeds."""
    for place, topics in enumerate(result.topics):
        style = look(place)
        (line,) = ax.plot(
            result.instances,
            result.power[place],
            markersize=4,
            linewidth=1.2,
            label=f"{topics:,} topics",
            **style,
        )
        tell(
            line,
            [
                f"{topics:,} topics, {m:,} instances: power {power:.3f}"
                for m, power in zip(result.instances, result.power[place], strict=True)
            ],
        )
        ax.axhline(result.limit[place], color=style["color"], linewidth=0.8, linestyle=":")
    if target is not None:
        ax.axhline(target, color=QUIET, linewidth=1.0, linestyle="--", label=f"power {target:g}")
    ax.set_xscale("log")
    ax.set_xticks(result.instances, labels=[f"{m:,}" for m in result.instances])
    ax.minorticks_off()
    ax.set_ylim(0, 1.02)
    label(ax, x="instances", y="power")
    legend(ax)


def draw_instance_plan(result: InstancePlan, ax: Axes) -> None:
    """Power around the cheapest numbers of topics and instances, which have a ring."""
    topics = result.topics or result.given_topics or result.most_topics
    instances = result.instances or result.given_instances or result.most_instances
    around = sorted({max(2, round(topics * share)) for share in (0.5, 1.0, 2.0)})
    steps = [m for m in POWER_STEPS if m <= 4 * instances] or list(POWER_STEPS[:3])
    draw_power(result.table(around, sorted({*steps, instances})), ax, target=result.target)
    if result.topics is not None and result.instances is not None:
        (ring,) = ax.plot(
            [instances],
            [result.power],
            "o",
            markersize=11,
            markerfacecolor="none",
            color=COLOURS[-1],
            label="cheapest",
        )
        tell(ring, [f"{topics:,} topics and {instances:,} instances: power {result.power:.3f}"])
    steps = sorted({*steps, instances})
    # Numbers beside the chosen one would touch it.
    named = [m for m in steps if m == instances or not 0.7 < m / instances < 1.4]
    ax.set_xticks(named, labels=[f"{m:,}" for m in named])
    ax.set_title(
        shown_lines(result.words()[0].replace(" to ", " to\n", 1)),
        fontsize="small",
        parse_math=False,
    )
    legend(ax)


def _rows_size(n: int) -> tuple[float, float]:
    return 6.0, rows_height(n, least=1.6, each=0.32)


def draw_spread_means(result: InstanceSpread, ax: Axes) -> None:
    """Means of the instances of each system as boxes and points: Figure 6."""
    texts = [
        [f"{name}, instance {i + 1}: {mean:.4f}" for i, mean in enumerate(means)]
        for name, means in zip(result.systems, result.means, strict=True)
    ]
    draw_boxes(ax, result.systems, result.means, texts)
    label(ax, x="system or setting", y="mean score of an instance")


def draw_spread_topics(result: InstanceSpread, ax: Axes, *, system: str | None = None) -> None:
    """One system's scores on each topic over its instances: Figure 8."""
    name = result.systems[0] if system is None else system
    if name not in result.systems:
        raise unknown_name("system", name, result.systems)
    spread = result.topics[result.systems.index(name)].T
    draw_spread(ax, spread, [str(t + 1) for t in range(spread.shape[1])])
    label(ax, x=f"topics by the median of {name}", y="score of an instance")


SPREAD_DRAWINGS: dict[str, Drawing] = {
    "means": (draw_spread_means, lambda result: boxes_size(len(result.systems))),
    "topics": (draw_spread_topics, lambda result: topics_size(result.topics.shape[1])),
}
"""The same of an `InstanceSpread`."""

PITFALL_DRAWINGS: dict[str, dict[str, Drawing]] = {
    "SingleInstanceShares": {"shares": (draw_shares, fixed(5.6, 4.4))},
    "EquivalenceIntervals": {"intervals": (draw_intervals, fixed(5.6, 3.6))},
    "MethodPvalues": {
        "agreement": (draw_agreement, fixed(4.6, 4.4)),
        "descending": (draw_descending, fixed(5.6, 4.0)),
    },
    "Contradictions": {
        "directions": (draw_contradictions, lambda result: _rows_size(len(result.systems)))
    },
    "InstanceSpread": SPREAD_DRAWINGS,
    "PoolPvalues": {"pools": (draw_pools, fixed(5.6, 4.0))},
    "ErrorRates": {"rates": (draw_levels, lambda result: _rows_size(len(result.tests)))},
    "PlanCurve": {"curve": (draw_plan, fixed(5.6, 4.0))},
    "PowerTable": {"power": (draw_power, fixed(5.6, 4.0))},
    "InstancePlan": {"power": (draw_instance_plan, fixed(6.0, 4.6))},
}
"""Class of a result to its kinds of plot, the default first."""


PLOTS = {
    name: {kind: Plot(*drawing) for kind, drawing in kinds.items()}
    for name, kinds in PITFALL_DRAWINGS.items()
}
"""Class of a result to its kinds of plot, the default first."""
