"""What `compare` found, drawn: who beats whom, how surely, by how much.

All runs against one, with intervals and topic by topic; rank intervals; which tests hold their
level; segments of the topics, or several measures, in panels beside one another.
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
from steadyrank.present.figures import Plot
from steadyrank.present.svg import tell
from steadyrank.stats.pairs.decisions import turned
from steadyrank.studies.compare.findings import segments as segments_finding
from steadyrank.studies.compare.result import better_first
from steadyrank.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.compare.audit import AuditResult
    from steadyrank.studies.compare.result import CompareResult, CompareTable

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


MOST_ROWS = 40
"""Rows of a figure; of more, only the first pair of the leaderboard is drawn."""

DECISIONS = ((False, "not significant"), (True, "significant"))
"""Each has a colour and a shape, and its words in a legend."""


def draw_rows(
    ax: Axes, middle: np.ndarray, ends: np.ndarray, significant: np.ndarray, texts: Sequence[str]
) -> None:
    """Differences with their intervals [row, 2], about a line at 0."""
    for k, (decided, words) in enumerate(DECISIONS):
        rows = np.flatnonzero(significant == decided)
        if len(rows):
            arms = ((ends - middle[:, None])[rows] * [-1.0, 1.0]).T
            arms = np.maximum(np.where(np.isfinite(arms), arms, 0.0), 0.0)
            told = [texts[row] for row in rows.tolist()]
            style.row_bars(ax, middle[rows], rows, arms, told, place=k, label=words)
    ax.axvline(0.0, color=style.QUIET, linewidth=0.8)


def draw_segments(result: CompareResult, ax: Axes) -> None:
    """Differences in each segment with their intervals, below those on all topics.

    Of the best run to the others, or of all runs to the baseline; of the first such pair alone
    where these are too many.
    """
    rows = _rows(result)
    middle = np.array([row["difference"] for row in rows])
    ends = np.array([row["interval"] for row in rows], float)
    significant = np.array([row["significant"] for row in rows])
    draw_rows(ax, middle, ends, significant, [_text(row) for row in rows])
    style.name_rows(ax, _names(rows, style.longest_name(ax)))
    style.label(ax, x=_axis(result, rows, style.longest_name(ax)))
    style.legend_above(ax)


def segments_size(result: CompareResult) -> tuple[float, float]:
    """Inches."""
    return 6.4, style.rows_height(len(_rows(result)), least=1.5)


def segments_words(result: CompareResult) -> str:
    """What the figure shows."""
    segments = segments_finding(result)
    if result.segments is None or segments is None:
        return f"Differences in mean {result.measure} on all topics, with intervals."
    return (
        f"Differences in mean {result.measure} on all topics and in each of "
        f"{len(result.segments.names)} segments by {result.segments.by}, with intervals. "
        f"{segments.text}"
    )


def _rows(result: CompareResult) -> list[dict[str, Any]]:
    """What is drawn, row by row: all topics, then each segment."""
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


def _text(row: dict[str, Any]) -> str:
    return (
        f"{row['segment']}: {row['a']} − {row['b']} {row['difference']:+.4f} "
        f"{signed_interval(row['interval'], '+.4f').text}, p {row['pvalue_adjusted']:.3g}"
    )


NAMES_WIDTH, PANEL_WIDTH, NARROW_PANEL = 1.2, 1.35, 2.6
"""Inches that names need beside panels, that a panel with rows needs, and that any other does."""

LOWEST_PANEL = 0.65
"""Share of its height that a panel keeps when it is narrow."""

LETTERS_PER_INCH = 11.0
"""Of the words below all panels."""

PAD = 14
"""Points between a panel's title and its axes, where a legend may stand."""


def _draw_panels(table: CompareTable, ax: Axes, draw: Callable[..., None], **options: Any) -> None:
    """One panel per measure, with the runs in the same rows: by the first measure.

    Words that hold for all panels stand once, below and above them.
    """
    order = table.results[0].order
    reference = options.pop("run", None) or _reference(table)
    figure: Any = ax.get_figure()
    n, across = len(table.results), _across(len(table.results), figure.get_figwidth())
    several = style.panels(ax, n, across=across)
    for panel, result in zip(several, table.results, strict=True):
        draw(result, panel, run=reference, order=order, **options)
        panel.locator_params(axis="x", nbins=5)
        explained = panel.get_legend()
        if explained is not None:
            explained.remove()
    words = several[0].get_xlabel().replace(table.results[0].measure, "score")
    words = textwrap.fill(words, int(LETTERS_PER_INCH * figure.get_figwidth()))
    for panel, result in zip(several, table.results, strict=True):
        style.label(panel, x=result.measure)
    figure.supxlabel(words, fontsize="medium", parse_math=False)
    _figure_legend(figure, several)


def _figure_legend(figure: Any, several: Sequence[Axes]) -> None:
    """What colours mean, once for all panels, whichever has them."""
    known: dict[str, Any] = {}
    for panel in several:
        handles, labels = panel.get_legend_handles_labels()
        known |= dict(zip(labels, handles, strict=True))
    figure.legend(
        known.values(),
        known.keys(),
        loc="outside upper right",
        ncols=2,
        frameon=False,
        fontsize="small",
    )


def _across(n: int, width: float) -> int:
    """How many panels stand beside each other: in a column of a paper, below each other."""
    return min(n, max(1, int((width - NAMES_WIDTH) / PANEL_WIDTH)))


def _reference(table: CompareTable) -> str:
    first = table.results[0]
    return first.baseline or first.runs[first.order[0]]


def _draw_beside(table: CompareTable, ax: Axes, draw: Callable[..., None], **options: Any) -> None:
    figure: Any = ax.get_figure()
    across = 2 if figure.get_figwidth() >= 2 * NARROW_PANEL else 1
    several = style.panels(ax, len(table.results), across=across, sharey=False)
    for panel, result in zip(several, table.results, strict=True):
        draw(result, panel, **options)
        panel.set_title(result.measure, fontsize="medium", parse_math=False, pad=PAD)


def table_plot(one: Plot, name: str) -> Plot:
    """A kind of plot of one measure, for several."""
    in_rows = name in ("intervals", "topics")
    draw = _draw_panels if in_rows else _draw_beside

    def size(table: CompareTable) -> tuple[float, float]:
        width, height = one.size(table.results[0])
        n = len(table.results)
        if in_rows:
            return 1.6 + 2.3 * n, height + 0.5
        return width * min(n, 2), (height + 0.3) * math.ceil(n / 2)

    def height(table: CompareTable, width: float) -> float:
        first, n = table.results[0], len(table.results)
        if in_rows:
            rows = one.height(first, width) if one.height is not None else one.size(first)[1]
            return rows * math.ceil(n / _across(n, width))
        wide, high = one.size(first)
        across = 2 if width >= 2 * NARROW_PANEL else 1
        one_width = width / across
        scaled = high * max(one_width / wide, LOWEST_PANEL)
        rows = one.height(first, one_width) if one.height else scaled
        return (rows + 0.3) * math.ceil(n / across)

    return Plot(
        lambda table, ax, **options: draw(table, ax, one.draw, **options),
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
