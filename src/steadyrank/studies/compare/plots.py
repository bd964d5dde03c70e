"""What `compare` found, drawn: who beats whom, how surely, by how much.

All runs against one, with intervals and topic by topic; p-values against differences, sorted
p-values (the curves of Sakai, SIGIR 2006), rank intervals; which tests hold their level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.data.scores import position
from steadyrank.errors import InputError
from steadyrank.present import plot_style as style
from steadyrank.present.cells import signed_interval
from steadyrank.present.figures import Plot
from steadyrank.present.svg import tell
from steadyrank.stats.pairs.decisions import turned
from steadyrank.stats.run_means import best_first
from steadyrank.studies.compare.segment_plots import (
    DECISIONS,
    draw_rows,
    draw_segments,
    segments_size,
    segments_words,
    table_plot,
)
from steadyrank.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.compare.audit import AuditResult
    from steadyrank.studies.compare.result import CompareResult

FEW_POINTS = 400
"""Sorted p-values that are drawn as points too."""

SPREAD = 0.7
"""Of the dots of a row: the share of its height."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Against:
    """The comparisons of all runs with one, the best run first."""

    reference: int
    others: list[int]
    pairs: np.ndarray
    sign: np.ndarray
    """1 where the other run is the first of its pair, so that differences are to the reference."""


def _against(result: CompareResult, run: str | None, order: Sequence[int] | None) -> _Against:
    """With `run`, or the baseline, or else the best run; in the `order` of runs, if it is given."""
    order = [int(place) for place in (best_first(result.mean) if order is None else order)]
    reference = run or result.baseline or result.runs[best_first(result.mean)[0]]
    one = position(reference, result.runs, "run")
    if result.baseline not in (None, reference):
        raise InputError(f"all runs were compared with {result.baseline}, not with {reference}")
    places = {
        int(r): p for p, pair in enumerate(result.pairs) for r in pair if one in pair and r != one
    }
    others = [place for place in order if place in places]
    pairs = np.array([places[place] for place in others])
    sign = np.where(result.pairs[pairs, 1] == one, 1.0, -1.0)
    return _Against(reference=one, others=others, pairs=pairs, sign=sign)


def draw_intervals(
    result: CompareResult, ax: Axes, *, run: str | None = None, order: Sequence[int] | None = None
) -> None:
    """Differences of all runs to one, with their intervals, the best run first.

    To the baseline or, without one, to the best run; or to `run`.
    """
    against = _against(result, run, order)
    pairs, others = against.pairs, against.others
    reference = result.runs[against.reference]
    difference = against.sign * result.difference[pairs]
    ends = turned(result.interval[pairs], against.sign)
    texts = [
        f"{result.runs[other]} − {reference}: {difference[i]:+.4f} "
        f"{signed_interval(ends[i], '+.4f').text}, p {result.pvalue_adjusted[pairs[i]]:.3g}"
        for i, other in enumerate(others)
    ]
    draw_rows(ax, difference, ends, result.significant[pairs], texts)
    style.name_rows(ax, [result.runs[r] for r in others])
    name = style.shortened(reference, style.longest_name(ax))
    style.label(
        ax,
        x=f"mean {result.measure} less that of {name},\n"
        f"{1 - result.alpha:.0%} intervals ({result.interval_kind})",
    )
    style.legend_above(ax)


def draw_topics(
    result: CompareResult, ax: Axes, *, run: str | None = None, order: Sequence[int] | None = None
) -> None:
    """Differences by topic of all runs to one: a dot per topic, a line at the mean.

    Of a single pair, a bar per topic, from the largest gain to the largest loss.
    """
    against = _against(result, run, order)
    if len(against.others) == 1:
        _draw_bars(result, against, ax)
        return
    reference = result.runs[against.reference]
    means = against.sign * result.difference[against.pairs]
    for row, other in enumerate(against.others):
        gaps = result.scores[other] - result.scores[against.reference]
        shared = np.flatnonzero(~np.isnan(gaps))
        # Spread by the golden ratio: neighbours lie apart, and the same figure is the same bytes.
        heights = row + SPREAD * ((0.618034 * np.arange(len(shared))) % 1.0 - 0.5)
        ax.plot(
            gaps[shared],
            heights,
            linestyle="none",
            marker="o",
            markersize=2.2,
            markeredgewidth=0.0,
            alpha=0.55,
            color=style.COLOURS[int(result.significant[against.pairs[row]])],
        )
    significant = result.significant[against.pairs]
    for k, (decided, words) in enumerate(DECISIONS):
        rows = np.flatnonzero(significant == decided)
        if len(rows):
            texts = [_mean_text(result, against, int(row)) for row in rows]
            looks = {"marker": "|", "markersize": 9, "markeredgewidth": 1.8}
            looks |= {"color": style.COLOURS[k], "label": f"mean, {words}"}
            style.dots(ax, means[rows], rows, texts, **looks)
    ax.axvline(0.0, color=style.QUIET, linewidth=0.8)
    style.name_rows(ax, [result.runs[r] for r in against.others])
    than = style.shortened(reference, style.longest_name(ax))
    style.label(ax, x=f"{result.measure} less that of {than},\ntopic by topic")
    style.legend_above(ax)


def _mean_text(result: CompareResult, against: _Against, row: int) -> str:
    pair = against.pairs[row]
    return (
        f"{result.runs[against.others[row]]} − {result.runs[against.reference]}: "
        f"{against.sign[row] * result.difference[pair]:+.4f} on {result.n[pair]} topics, "
        f"p {result.pvalue_adjusted[pair]:.3g}"
    )


def _draw_bars(result: CompareResult, against: _Against, ax: Axes) -> None:
    gaps = result.scores[against.others[0]] - result.scores[against.reference]
    shared = np.flatnonzero(~np.isnan(gaps))
    order = shared[np.argsort(-gaps[shared], kind="stable")]
    colours = [style.COLOURS[0] if gaps[topic] >= 0 else style.COLOURS[1] for topic in order]
    bars = ax.bar(np.arange(len(order)), gaps[order], width=0.9, color=colours)
    tell(bars, [f"topic {result.topics[topic]}: {gaps[topic]:+.4f}" for topic in order])
    mean = float(against.sign[0] * result.difference[against.pairs[0]])
    ax.axhline(mean, **style.DASHED, label=f"mean {mean:+.4f}")
    ax.axhline(0.0, color=style.QUIET, linewidth=0.8)
    other, reference = (
        style.shortened(result.runs[place], style.longest_name(ax))
        for place in (against.others[0], against.reference)
    )
    style.label(
        ax, x="topics, largest gain first", y=f"{result.measure}: {other}\nless {reference}"
    )
    style.legend(ax)


def draw_differences(result: CompareResult, ax: Axes) -> None:
    """p-values of all pairs against their differences: from which size on is one significant?"""
    size = np.abs(result.difference)
    for k, (decided, words) in enumerate(DECISIONS):
        chosen = np.flatnonzero(result.significant == decided)
        texts = [_pair_text(result, p) for p in chosen]
        looks = {"markersize": 3.5, "alpha": 0.7, "clip_on": False, **style.look(k)}
        words = f"{words}: {len(chosen):,}"
        style.dots(ax, size[chosen], result.pvalue_adjusted[chosen], texts, label=words, **looks)
    ax.axhline(result.alpha, **style.DASHED)
    known = result.smallest_difference[~np.isnan(result.smallest_difference)]
    typical = float(np.median(known)) if len(known) else math.nan
    if np.isfinite(typical):
        looks = {"color": style.QUIET, "linewidth": 1.0, "linestyle": ":"}
        ax.axvline(typical, label="detected with power 0.8", **looks)
    style.pvalue_axis(ax)
    ax.set_xlim(left=0)
    style.label(ax, x=f"difference of mean {result.measure}", y=f"p ({_corrected(result)})")
    style.legend(ax)


def _corrected(result: CompareResult) -> str:
    names = {
        "bh": "Benjamini-Hochberg",
        "maxt": "max-t",
        "holm": "Holm",
        "bonferroni": "Bonferroni",
    }
    correction = names.get(result.correction)
    return f"{result.test} test, {correction}" if correction else f"{result.test} test"


def _pair_text(result: CompareResult, pair: Any) -> str:
    a, b = (result.runs[r] for r in result.pairs[pair])
    return f"{a} − {b}: {result.difference[pair]:+.4f}, p {result.pvalue_adjusted[pair]:.3g}"


def draw_asl(result: CompareResult, ax: Axes) -> None:
    """Achieved significance levels of all pairs from the largest down, corrected ones dashed."""
    order = np.argsort(-np.nan_to_num(result.pvalue, nan=1.0), kind="stable")
    texts = [f"{_pair_text(result, p)} ({result.pvalue[p]:.3g} uncorrected)" for p in order]
    words = f"{result.measure}, {result.test} test"
    looks = style.look(len([line for line in ax.lines if line.get_linestyle() == "-"]))
    few = len(order) <= FEW_POINTS
    places = np.arange(1, len(order) + 1)
    (line,) = ax.plot(
        places,
        result.pvalue[order],
        linewidth=1.2,
        markersize=3,
        label=words,
        clip_on=False,
        color=looks["color"],
        marker=looks["marker"] if few else "",
    )
    tell(line, texts if few else [words])
    if result.correction != "none":
        adjusted = -np.sort(-result.pvalue_adjusted)
        dashed = {"linewidth": 1.2, "linestyle": "--", "color": looks["color"]}
        ax.plot(places, adjusted, label=f"corrected ({result.correction})", **dashed)
    level = f"alpha {result.alpha:g}"
    if level not in [line.get_label() for line in ax.lines]:
        ax.axhline(result.alpha, color=style.QUIET, linewidth=1.0, linestyle=":", label=level)
    style.pvalue_axis(ax)
    ax.set_xlim(left=0)
    style.label(ax, x="pairs of runs, largest p first", y="achieved significance level (p)")
    style.legend(ax)


def draw_ranks(result: CompareResult, ax: Axes, *, top: int | None = None) -> None:
    """Each run's rank by its mean, and the ranks that the tests of all pairs leave to it.

    With `top`, of the best so many.
    """
    order = result.order[:top]
    letters = [f"  ({text})" for text in result.letters] or [""] * len(result.runs)
    names = [result.runs[r] + letters[r] for r in order]
    low, high = result.rank_set[order].T
    # One clause per line: a label wider than its axes would be cut off.
    clauses = [
        f"rank by mean {result.measure} (dot),",
        "and possible ranks (line),",
        result.rank_words(),
        *(["runs that share a letter are indistinguishable"] if result.letters else []),
    ]
    style.draw_rank_rows(
        ax, names, result.rank[order], low, high, place=len(ax.containers), what="\n".join(clauses)
    )


def draw_audit(result: AuditResult, ax: Axes) -> None:
    """How often each test rejects with and without a difference, with Monte Carlo errors."""
    worlds = (
        ("exchangeable", "no difference, runs exchangeable"),
        ("equal_means", "equal means, skewness kept"),
        ("power", "runs as they are (observed power)"),
    )
    place = np.arange(len(result.tests))
    for k, (world, words) in enumerate(worlds):
        rate, error = np.array([getattr(test, world) for test in result.tests]).T
        texts = [
            f"{test.test}, {words}: {share:.4f} ± {off:.4f}"
            for test, share, off in zip(result.tests, rate, error, strict=True)
        ]
        looks = {"markersize": 5, "capsize": 2, "elinewidth": 1.0, "label": words}
        style.row_bars(ax, rate, place + 0.2 * (k - 1), 2 * error, texts, place=k, **looks)
    ax.axvline(result.alpha, **style.DASHED, label=f"alpha {result.alpha:g}")
    style.name_rows(ax, [test.test for test in result.tests])
    ax.set_xlim(left=0)
    style.label(
        ax,
        x=f"share of {result.n_trials:,} trials that a test rejects, ± 2 errors\n"
        f"({result.measure}, {result.n_topics} topics)",
    )
    style.legend_above(ax, loc="lower center")


_rows_size = style.with_rows("runs", least=1.5)


def _topics_size(result: CompareResult) -> tuple[float, float]:
    return (6.4, 3.6) if len(result.runs) == 2 else _rows_size(result)


def _best(result: CompareResult) -> str:
    return result.runs[int(np.nanargmax(result.mean))]


PLOTS = {
    "CompareResult": {
        "intervals": Plot(
            draw_intervals,
            _rows_size,
            lambda result: (
                f"Differences in mean {result.measure} of "
                f"{counted(len(result.runs) - 1, 'run')} to "
                f"{result.baseline or _best(result)} with intervals, significant ones in another "
                "colour and shape."
            ),
            style.height_of_rows(_rows_size),
        ),
        "topics": Plot(
            draw_topics,
            _topics_size,
            lambda result: (
                f"Differences in {result.measure} on each of "
                f"{counted(len(result.topics), 'topic')} between "
                f"{counted(len(result.runs) - 1, 'run')} and "
                f"{result.baseline or _best(result)}, with their means."
            ),
            style.height_of_rows(_topics_size),
        ),
        "differences": Plot(
            draw_differences,
            style.fixed(6.0, 4.2),
            "The p-values of {n_pairs:,} pairs of runs against their difference in mean "
            "{measure}; {significant_share:.0%} are significant.",
        ),
        "asl": Plot(
            draw_asl,
            style.fixed(6.0, 4.2),
            "The p-values of {n_pairs:,} pairs of runs by {measure} from the largest down, with "
            "and without correction, and the level {alpha:g}.",
        ),
        "ranks": Plot(
            draw_ranks,
            _rows_size,
            lambda result: (
                f"Ranks of {len(result.runs)} runs by mean {result.measure}, and the ranks that "
                f"the tests of all pairs leave to each; {_best(result)} is first."
            ),
            style.height_of_rows(_rows_size),
        ),
        "segments": Plot(
            draw_segments, segments_size, segments_words, style.height_of_rows(segments_size)
        ),
    },
    "AuditResult": {
        "rates": Plot(
            draw_audit,
            style.fixed(6.4, 4.0),
            "How often {n_tests} tests reject without a difference, where {alpha:g} is promised, "
            "and how often with the differences that there are.",
        )
    },
}
"""Class of a result to its kinds of plot, the default first."""

PLOTS["CompareTable"] = {
    kind: table_plot(PLOTS["CompareResult"][kind], kind)
    for kind in ("intervals", "topics", "segments")
}
