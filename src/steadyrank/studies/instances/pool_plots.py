"""Single instances, and pools of them, drawn: Figures 7 and 9 to 11 of Jayasinghe et al. 2015.

On the scores of a result of `instances`, or of frames, as the paper's own exhibits have them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pandas as pd

from steadyrank.errors import InputError
from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot
from steadyrank.present.svg import tell
from steadyrank.studies.instances.pools import (
    POOL_SIZES,
    contradictions,
    method_pvalues,
    pool_pvalues,
    resampled_pools,
)
from steadyrank.words import some

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.instances.result import InstancesResult, InstancesTable

    Result = InstancesResult | InstancesTable

PANELS = 4
"""Comparisons whose pools are drawn side by side, at most."""

POOLS = 10
"""Of each size and comparison, in figures of many tests."""


class AgainstRun(NamedTuple):
    """A system that varies, and a single run on the same topics."""

    name: str
    scores: np.ndarray
    """[instance, topic]"""
    baseline: np.ndarray


def comparisons_of(result: Result) -> tuple[InstancesResult, ...]:
    """Those of a table, or the one that the result is."""
    several: tuple[InstancesResult, ...] | None = getattr(result, "comparisons", None)
    return several or (cast("InstancesResult", result),)


def _against_runs(result: Result) -> list[AgainstRun]:
    found = []
    for one in comparisons_of(result):
        varied, single = one.pair.a, one.pair.b
        if len(varied.runs) == 1:
            varied, single = single, varied
        if len(single.runs) == 1 < len(varied.runs):
            found.append(AgainstRun(varied.name, varied.scores, single.scores[0]))
    if not found:
        raise InputError(
            "this figure compares instances with a deterministic system: name one that has a "
            "single run as b"
        )
    return found


def draw_contradictions(result: Result, ax: Axes) -> None:
    """How many instances are significantly better, or worse, than a single run, each alone."""
    level = comparisons_of(result)[0].alpha
    tables = [
        contradictions({one.name: one.scores}, one.baseline, alphas=[level])
        for one in _against_runs(result)
    ]
    contradictions_on(ax, pd.concat(tables, ignore_index=True))


def draw_pools(result: Result, ax: Axes) -> None:
    """p-values of pools of instances against their number; a panel per comparison."""
    first = comparisons_of(result)[0]
    test = "mixed_paper" if first.mode == "paper" else "mixed"
    every = _against_runs(result)
    chosen = sorted({round(k) for k in np.linspace(0, len(every) - 1, PANELS)})
    for panel, k in zip(style.panels(ax, len(chosen), across=2), chosen, strict=True):
        one = every[k]
        sizes = [size for size in POOL_SIZES if size <= len(one.scores)]
        found = pool_pvalues(one.scores, one.baseline, sizes=sizes, n_pools=50, rng=first.seed)
        pools_on(panel, found, test=test)
        panel.set_title(style.shown(one.name), fontsize="medium", parse_math=False)


def draw_sorted(result: Result, ax: Axes) -> None:
    """p-values of five tests on pools of every comparison, each from the largest down."""
    descending_on(ax, _tested(result, ax))


def draw_agreement(result: Result, ax: Axes) -> None:
    """p-values of the paper's two tests on the same pools, against each other."""
    agreement_on(ax, _tested(result, ax))


def _tested(result: Result, ax: Axes) -> pd.DataFrame:
    """Every test on pools of every comparison, which the title names."""
    names = some([one.name for one in _against_runs(result)], 2)
    ax.set_title(style.shown(f"pools of {names}"), fontsize="medium", parse_math=False)
    every, seed = _against_runs(result), comparisons_of(result)[0].seed
    most = min(len(one.scores) for one in every)
    pools = resampled_pools(
        [(one.scores, one.baseline) for one in every],
        sizes=[size for size in POOL_SIZES if size <= min(most, 20)],
        n_pools=POOLS,
        seed=seed,
    )
    return method_pvalues(pools, rng=seed)


def agreement_on(
    ax: Axes, pvalues: pd.DataFrame, *, first: str = "mixed_paper", second: str = "bootstrap"
) -> None:
    """p-values of two tests against each other: Figures 4 and 11."""
    x, y = (test.replace("_", " ") for test in (first, second))
    ax.plot([0, 1], [0, 1], color=style.QUIET, lw=0.8)
    looks: dict[str, Any] = {"marker": ".", "markersize": 3, "color": style.COLOURS[0]}
    texts = [
        f"comparison {i}: {x} {p:.4f}, {y} {q:.4f}"
        for i, (p, q) in enumerate(zip(pvalues[first], pvalues[second], strict=True), 1)
    ]
    style.dots(ax, pvalues[first], pvalues[second], texts, alpha=0.5, **looks)
    style.label(ax, x=f"p, {x}", y=f"p, {y}")


def descending_on(ax: Axes, pvalues: pd.DataFrame) -> None:
    """Each test's p-values from the largest down: Figure 10.

    The lower the curve, the more a test finds; tests that exceed their level have low curves too.
    """
    styles = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
    for test, colour, dashes in zip(pvalues, style.COLOURS, styles, strict=False):
        words = str(test).replace("_", " ")
        values = -np.sort(-pvalues[test].to_numpy())
        looks: Any = {"color": colour, "linestyle": dashes}
        (line,) = ax.plot(range(1, len(values) + 1), values, label=words, linewidth=1.3, **looks)
        tell(line, [words])
    ax.set_ylim(0, 1)
    style.label(ax, x="comparisons, by p", y="p")
    style.legend(ax)


def contradictions_on(ax: Axes, counts: pd.DataFrame) -> None:
    """Instances significantly better and worse than the baseline at one level: Figure 7."""
    at, rows = counts["alpha"].iloc[0], np.arange(len(counts))
    for place, (sign, words, hatch) in enumerate(((1, "better", ""), (-1, "worse", "//"))):
        looks: dict[str, Any] = {"color": style.COLOURS[place], "alpha": 1.0, "height": 0.7}
        looks |= {"hatch": hatch, "edgecolor": "white", "label": f"{words}, p < {at:g}"}
        bars = ax.barh(rows, sign * counts[words], **looks)
        found = zip(counts["system"], counts[words], counts["instances"], strict=True)
        tell(bars, [f"{name}: {i} of {n} instances {words} at {at:g}" for name, i, n in found])
    ax.axvline(0, color=style.QUIET, lw=0.8)
    if not counts[["better", "worse"]].to_numpy().any():  # nothing to take the axis from
        ax.set_xlim(-counts["instances"].max(), counts["instances"].max())
    style.name_rows(ax, counts["system"].tolist())
    ax.xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    style.label(ax, x="instances significantly worse (left) and better (right)")
    style.legend_above(ax, loc="lower center")


def pools_on(ax: Axes, pools: pd.DataFrame, *, test: str) -> None:
    """p-values of resampled pools against their number of instances: Figure 9."""
    boxes = {str(size): pool[test].dropna() for size, pool in pools.groupby("instances")}
    looks: Any = {"flierprops": {"markersize": 3}, "medianprops": {"color": style.COLOURS[0]}}
    drawn = ax.boxplot(list(boxes.values()), tick_labels=list(boxes), **looks)
    for line, (size, values) in zip(drawn["medians"], boxes.items(), strict=True):
        ends = f"from {values.min():.4f} to {values.max():.4f}"
        tell(line, [f"{size} instances: median p {values.median():.4f}, {ends}"])
    whole = pools.attrs["all_instances"][test]
    if not np.isnan(whole):
        ax.axhline(whole, color=style.COLOURS[1], linestyle="--", lw=1, label="all instances")
        style.legend(ax)
    ax.set_ylim(0, 1)
    style.label(ax, x="instances in a pool", y=f"p, {test.replace('_', ' ')}")


def _panels_size(result: Result) -> tuple[float, float]:
    n = len(comparisons_of(result))
    return (7.4 if n > 1 else 4.2), (6.2 if n > 2 else 3.6)


def _words(text: str) -> Callable[[Result], str]:
    return lambda result: f"{text}, by {comparisons_of(result)[0].measure}."


POOL_KINDS = {
    "contradictions": Plot(
        draw_contradictions,
        lambda r: (6.0, style.rows_height(len(comparisons_of(r)), least=1.6, each=0.32)),
        _words(
            "Bars of how many instances of each system are significantly better, to the right, and "
            "worse, to the left, than a single run"
        ),
    ),
    "pools": Plot(
        draw_pools,
        _panels_size,
        _words("Boxes of p-values of resampled pools against the number of instances in a pool"),
    ),
    "sorted": Plot(
        draw_sorted,
        style.fixed(5.6, 4.0),
        _words("The p-values of five tests on pools of instances, each from the largest down"),
    ),
    "agreement": Plot(
        draw_agreement,
        style.fixed(4.6, 4.4),
        _words("The p-values of two tests on pools of instances against each other"),
    ),
}
"""Kinds of plot of comparisons with a deterministic system."""
