"""Figures of `compare`.

All runs against one, with intervals or topic by topic; possible ranks; rejection rates of the
tests; segments of the topics; and several measures in adjacent panels.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.data.scores import position
from steadyrank.errors import InputError
from steadyrank.present import plot_style as style
from steadyrank.present.cells import signed_interval
from steadyrank.present.figures import Plot, tell
from steadyrank.stats.pairs.decisions import turned
from steadyrank.studies.compare.findings import segments as segments_finding
from steadyrank.studies.compare.result import better_first
from steadyrank.studies.compare.wording import rank_words
from steadyrank.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.compare.audit import AuditResult
    from steadyrank.studies.compare.result import CompareResult, CompareTable

SPREAD = 0.7
"""Share of a row's height over which its dots are spread."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Against:
    """The comparisons of all runs with one run, the best run first."""

    reference: int
    others: list[int]
    pairs: np.ndarray
    sign: np.ndarray
    """1 where the other run is the first of its pair, else -1."""


def _against(result: CompareResult, run: str | None, order: Sequence[int] | None) -> _Against:
    """Return the comparisons with `run`, by default with the baseline or the best run."""
    order = [int(place) for place in (result.order if order is None else order)]
    reference = run or result.baseline or result.runs[result.order[0]]
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
    """Draw the differences of all runs to `run`, with their intervals, the best run first.

    By default they are to the baseline or, without one, to the best run.
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
    """Draw the differences of all runs to `run` by topic: a dot per topic, a line at the mean.

    A single pair has a bar per topic, from the largest gain to the largest loss.
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
        # The golden ratio separates neighbours, and gives the same figure each time.
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


def draw_ranks(result: CompareResult, ax: Axes, *, top: int | None = None) -> None:
    """Draw each run's rank by its mean and its possible ranks, for the best `top` runs if given."""
    order = result.order[:top]
    letters = [f"  ({text})" for text in result.letters] or [""] * len(result.runs)
    names = [result.runs[r] + letters[r] for r in order]
    low, high = result.rank_set[order].T
    # One clause per line: a label wider than its axes would be cut off.
    clauses = [
        f"rank by mean {result.measure} (dot),",
        "and possible ranks (line),",
        rank_words(result),
        *(["runs that share a letter are indistinguishable"] if result.letters else []),
    ]
    style.draw_rank_rows(
        ax, names, result.rank[order], low, high, place=len(ax.containers), what="\n".join(clauses)
    )


def draw_audit(result: AuditResult, ax: Axes) -> None:
    """Draw how often each test rejects with and without a difference, with Monte Carlo errors."""
    worlds = (
        ("exchangeable", "no difference, runs exchangeable"),
        ("equal_means", "equal means, skewness kept"),
        ("power", "runs as observed (observed power)"),
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


MOST_ROWS = 40
"""Largest number of rows of a figure; with more, only the leaderboard's first pair is drawn."""

DECISIONS = ((False, "not significant"), (True, "significant"))
"""Decisions and their words in a legend; each has a colour and a shape."""


def draw_rows(
    ax: Axes, middle: np.ndarray, ends: np.ndarray, significant: np.ndarray, texts: Sequence[str]
) -> None:
    """Draw differences with their intervals [row, 2], and a line at 0."""
    for k, (decided, words) in enumerate(DECISIONS):
        rows = np.flatnonzero(significant == decided)
        if len(rows):
            arms = ((ends - middle[:, None])[rows] * [-1.0, 1.0]).T
            arms = np.maximum(np.where(np.isfinite(arms), arms, 0.0), 0.0)
            told = [texts[row] for row in rows.tolist()]
            style.row_bars(ax, middle[rows], rows, arms, told, place=k, label=words)
    ax.axvline(0.0, color=style.QUIET, linewidth=0.8)


def draw_segments(result: CompareResult, ax: Axes) -> None:
    """Draw the differences in each segment with their intervals, below those on all topics.

    They are those of the best run to the others, or of all runs to the baseline; with too many
    rows, those of the first such pair alone.
    """
    rows = _segment_rows(result)
    middle = np.array([row["difference"] for row in rows])
    ends = np.array([row["interval"] for row in rows], float)
    significant = np.array([row["significant"] for row in rows])
    texts = [
        f"{row['segment']}: {row['a']} − {row['b']} {row['difference']:+.4f} "
        f"{signed_interval(row['interval'], '+.4f').text}, p {row['pvalue_adjusted']:.3g}"
        for row in rows
    ]
    draw_rows(ax, middle, ends, significant, texts)
    style.name_rows(ax, _names(rows, style.longest_name(ax)))
    style.label(ax, x=_axis(result, rows, style.longest_name(ax)))
    style.legend_above(ax)


def _segments_size(result: CompareResult) -> tuple[float, float]:
    return 6.4, style.rows_height(len(_segment_rows(result)), least=1.5)


def _segments_words(result: CompareResult) -> str:
    segments = segments_finding(result)
    if result.segments is None or segments is None:
        return f"Differences in mean {result.measure} on all topics, with intervals."
    return (
        f"Differences in mean {result.measure} on all topics and in each of "
        f"{len(result.segments.names)} segments by {result.segments.by}, with intervals. "
        f"{segments.text}"
    )


def _segment_rows(result: CompareResult) -> list[dict[str, Any]]:
    """Return the rows of the figure: all topics, then each segment."""
    best = result.runs[result.order[0]]
    parts = [("all topics", result)]
    if result.segments is not None:
        parts += [(own.segment or "", own) for own in result.segments.results]
    rows = [
        row | {"segment": segment}
        for segment, own in parts
        for row in better_first(own, result)
        if result.baseline is not None or row["a"] == best
    ]
    if len(rows) > MOST_ROWS:
        pair = (rows[0]["a"], rows[0]["b"])
        rows = [row for row in rows if (row["a"], row["b"]) == pair]
    return rows


def _names(rows: list[dict[str, Any]], longest: int) -> list[str]:
    if len({(row["a"], row["b"]) for row in rows}) == 1:
        return [row["segment"] for row in rows]
    half = max(6, longest // 2 - 1)
    other = "b" if len({row["a"] for row in rows}) == 1 else "a"
    return [
        f"{style.shortened(row['segment'], half)}: {style.shortened(row[other], half)}"
        for row in rows
    ]


def _axis(result: CompareResult, rows: list[dict[str, Any]], longest: int) -> str:
    names = {side: {row[side] for row in rows} for side in ("a", "b")}
    a, b = (
        style.shortened(next(iter(names[side])), longest) if len(names[side]) == 1 else "the run"
        for side in ("a", "b")
    )
    return (
        f"mean {result.measure} of {a}\nless that of {b},\n{1 - result.alpha:.0%} intervals (all "
        "segments are one family)"
    )


NAMES_WIDTH, PANEL_WIDTH = 1.2, 1.35
"""Inches that the names require, and each panel."""

LETTERS_PER_INCH = 11.0
"""Letters of the words below all panels."""


def _across(n: int, width: float) -> int:
    """Return the number of panels in a row, which in a column of a paper is 1."""
    return min(n, max(1, int((width - NAMES_WIDTH) / PANEL_WIDTH)))


def _draw_panels(table: CompareTable, ax: Axes, draw: Callable[..., None], **options: Any) -> None:
    """Draw a panel per measure, with the runs in the order of the first measure.

    Words and colours that all panels share are explained once, below and above them.
    """
    figure: Any = ax.get_figure()
    first, width = table.results[0], figure.get_figwidth()
    reference = options.pop("run", None) or first.baseline or first.runs[first.order[0]]
    several = style.panels(ax, len(table.results), across=_across(len(table.results), width))
    known: dict[str, Any] = {}
    for panel, result in zip(several, table.results, strict=True):
        draw(result, panel, run=reference, order=first.order, **options)
        panel.locator_params(axis="x", nbins=5)
        handles, labels = panel.get_legend_handles_labels()
        known |= dict(zip(labels, handles, strict=True))
        explained = panel.get_legend()
        if explained is not None:
            explained.remove()
    words = several[0].get_xlabel().replace(first.measure, "score")
    for panel, result in zip(several, table.results, strict=True):
        style.label(panel, x=result.measure)
    words = textwrap.fill(words, int(LETTERS_PER_INCH * width))
    figure.supxlabel(words, fontsize="medium", parse_math=False)
    looks: Any = {"loc": "outside upper right", "frameon": False, "fontsize": "small"}
    figure.legend(known.values(), known.keys(), ncols=2, **looks)


def _of_table(one: Plot) -> Plot:
    """Return the plot of several measures for a plot of one."""

    def size(table: CompareTable) -> tuple[float, float]:
        return 1.6 + 2.3 * len(table.results), one.size(table.results[0])[1] + 0.5

    def height(table: CompareTable, width: float) -> float:
        first, n = table.results[0], len(table.results)
        rows = one.size(first)[1] if one.height is None else one.height(first, width)
        return rows * math.ceil(n / _across(n, width))

    return Plot(
        lambda table, ax, **options: _draw_panels(table, ax, one.draw, **options),
        size,
        lambda table: " ".join(one.alt(result) for result in table.results),
        height,
    )


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
            draw_segments, _segments_size, _segments_words, style.height_of_rows(_segments_size)
        ),
    },
    "AuditResult": {
        "rates": Plot(
            draw_audit,
            style.fixed(6.4, 4.0),
            "How often {n_tests} tests of level {alpha:g} reject without a difference, and with "
            "the observed differences.",
        )
    },
}
"""Class of a result to its kinds of plot, the default first."""

PLOTS["CompareTable"] = {
    kind: _of_table(PLOTS["CompareResult"][kind]) for kind in ("intervals", "topics")
}
