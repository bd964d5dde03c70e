"""What `judges` found, drawn: three rankings beside each other, the judge's grades and its bias."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from steadyrank.errors import InputError
from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot
from steadyrank.present.svg import tell
from steadyrank.stats.judges.agreement import FEWEST, topics_factor
from steadyrank.stats.judges.ranking import RunRanking
from steadyrank.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.judges.result import JudgeResult, JudgesResult

SIZES = 60
"""Numbers of topics at which a curve is drawn."""


def draw_ranks(result: JudgesResult, ax: Axes, *, judge: str | None = None) -> None:
    """The ranks that each run may have: by people alone, after correction, by the judge alone."""
    one = result.of(judge)
    order = one.corrected.order
    rankings = {
        f"people alone, {counted(len(result.topics), 'topic')}": result.human,
        f"{style.shortened(one.judge)}, corrected by people": one.corrected,
        f"{style.shortened(one.judge)} alone, as if by people": one.alone,
    }
    for place, (words, ranking) in enumerate(rankings.items()):
        _rank_lines(result, ax, ranking, order, place, words)
    style.name_rows(ax, [result.runs[i] for i in order])
    style.whole_numbers(ax)
    ax.set_xlim(0.5, len(order) + 0.5)
    style.label(
        ax,
        # One clause per line: a label wider than its axes would be cut off.
        x=f"rank by mean {result.measure} (dot),\nand possible ranks (line),\nwith "
        f"{1 - result.alpha:.0%} confidence for each; of the judge\nalone only if it judges as "
        "people do",
    )
    style.legend_above(ax, ncols=1)


def _rank_lines(
    result: JudgesResult, ax: Axes, ranking: RunRanking, order: list[int], place: int, words: str
) -> None:
    rows = np.arange(len(order)) + 0.26 * (place - 1)
    low, high = ranking.rank_set[order].T
    ranks = ranking.rank[order]
    arms = np.stack([ranks - low, high - ranks])
    texts = [
        f"{result.runs[run]}, {words}: rank {rank}, {first} to {last}"
        for run, rank, first, last in zip(order, ranks, low, high, strict=True)
    ]
    looks = {"markersize": 3, "elinewidth": 1.6, "label": words}
    style.row_bars(ax, ranks, rows, arms, texts, place=place, **looks)


def draw_means(result: JudgesResult, ax: Axes, *, judge: str | None = None) -> None:
    """Each run's mean by the judge against that by people, on the topics of both."""
    one = result.of(judge)
    people, of_judge = result.human.mean, one.on_human_topics.mean
    for place, (words, rows) in enumerate(_by_kin(one, result.runs).items()):
        texts = [f"{result.runs[i]}: people {people[i]:.4f}, judge {of_judge[i]:.4f}" for i in rows]
        looks = {"alpha": 0.8, "label": words, **style.look(place)}
        style.dots(ax, people[rows], of_judge[rows], texts, **looks)
    ends = np.array([people.min(), people.max()])
    ax.plot(ends, ends, color=style.QUIET, linewidth=1.0, label="no bias")
    words = f"the same bias for all, {one.bias.mean:+.3f}"
    ax.plot(ends, ends + one.bias.mean, **style.DASHED, label=words)
    tau = one.tau
    style.label(
        ax,
        x=f"mean {result.measure} by people, {counted(len(result.topics), 'topic')}",
        y=f"by {style.shortened(one.judge)},\n"
        f"same topics (tau {tau.tau:.2f} [{tau.low:.2f}, {tau.high:.2f}])",
    )
    style.legend(ax)


def _by_kin(judge: JudgeResult, runs: Sequence[str] | np.ndarray) -> dict[str, np.ndarray]:
    is_kin = np.isin(runs, judge.kin.runs if judge.kin else ())
    kinds = {"runs": np.flatnonzero(~is_kin), "kin of the judge": np.flatnonzero(is_kin)}
    return {words: rows for words, rows in kinds.items() if len(rows)}


def draw_confusion(result: JudgesResult, ax: Axes, *, judge: str | None = None) -> None:
    """The grades that people and the judge gave to the same documents, by rows."""
    one = result.of(judge)
    confusion = one.confusion
    if confusion is None:
        raise InputError("scores were given instead of judgments: there are no grades to compare")
    totals = confusion.counts.sum(axis=1, keepdims=True)
    share = np.where(totals > 0, confusion.counts / np.maximum(totals, 1.0), np.nan)
    grades = [str(grade) for grade in confusion.grades]
    texts = [
        f"people {a}, judge {b}: {confusion.counts[i, j]:,.0f} documents ({share[i, j]:.0%})"
        for i, a in enumerate(grades)
        for j, b in enumerate(grades)
    ]
    style.heat(ax, share, low=0.0, high=1.0, texts=texts, bar="share of people's grade")
    written = [
        f"{n:,.0f}\n{part:.0%}" for n, part in zip(confusion.counts.flat, share.flat, strict=True)
    ]
    style.write_in_cells(ax, share, written, fontsize="small")
    style.name_columns(ax, grades)
    ax.tick_params(axis="x", labelrotation=0)
    style.name_rows(ax, grades)
    kappa = confusion.coefficients["kappa"]
    words = f"\n(kappa {kappa.value:.2f})" if kappa else "\n(scales differ)"
    style.label(ax, x=f"grade by {style.shortened(one.judge)}{words}", y="grade by people")


def draw_bias(result: JudgesResult, ax: Axes, *, judge: str | None = None) -> None:
    """The judge's mean less people's for each run, with intervals, best run by people on top."""
    one = result.of(judge)
    order = result.human.order
    for place, (words, rows) in enumerate(_by_kin(one, np.array(result.runs)[order]).items()):
        runs = [order[row] for row in rows]
        bias, ends = one.bias.by_run[runs], one.bias.interval[runs]
        arms = np.stack([bias - ends[:, 0], ends[:, 1] - bias])
        texts = [
            f"{result.runs[run]}: {value:+.4f} [{low:+.4f}, {high:+.4f}]"
            for run, value, (low, high) in zip(runs, bias, ends, strict=True)
        ]
        style.row_bars(ax, bias, rows, arms, texts, place=place, elinewidth=1.2, label=words)
    ax.axvline(0.0, color=style.QUIET, linewidth=0.8)
    words = f"mean over runs, {one.bias.mean:+.3f}"
    ax.axvline(one.bias.mean, **style.DASHED, label=words)
    style.name_rows(ax, [result.runs[run] for run in order])
    style.label(
        ax,
        x=f"mean {result.measure} by\n{style.shortened(one.judge)}\nless that by people, "
        f"{1 - result.alpha:.0%} intervals\nover topics, one run at a time",
    )
    style.legend_above(ax)


def draw_topics(result: JudgesResult, ax: Axes, *, judge: str | None = None) -> None:
    """How wide the interval of a difference is, against the topics that people judge."""
    one = result.of(judge)
    n_judged = len(result.topics) + one.n_judge_topics
    most = max(2 * n_judged, 50)
    sizes = np.unique(np.geomspace(FEWEST, most, SIZES).round().astype(int))
    kinds = {
        "people alone": 0.0,
        f"with {style.shortened(one.judge)}, {n_judged:,} topics": n_judged,
        "had it judged infinitely many": math.inf,
    }
    for place, (words, judged) in enumerate(kinds.items()):
        widths = np.array([_width(one, int(n), judged, 1.0 - result.alpha) for n in sizes])
        looks = style.look(place)
        (line,) = ax.plot(sizes, widths, linewidth=1.5, color=looks["color"], label=words)
        tell(line, [words])
    now = len(result.topics)
    ax.axvline(now, color=style.QUIET, linewidth=1.0, linestyle=":", label=f"now: {now:,} topics")
    ax.set_ylim(bottom=0)
    style.label(
        ax,
        x="topics that people judge",
        y=f"width of the {1 - result.alpha:.0%} interval\n"
        f"of a typical difference in {result.measure}",
    )
    style.legend(ax)


def _width(judge: JudgeResult, n: int, n_judged: float, confidence: float) -> float:
    """With the judge, at most what people alone have: a useless one is not followed."""
    alone = 2.0 * float(stdtrit(n - 1.0, 0.5 + 0.5 * confidence)) * judge.worth.sd / math.sqrt(n)
    n_more = max(0.0, n_judged - n)
    if not n_more:
        return alone
    error = judge.worth.sd * math.sqrt((n - 1.0) / (n * (n - 2.0)))
    error /= math.sqrt(topics_factor(judge.worth.correlation, n, n_more))
    return min(alone, 2.0 * float(stdtrit(n - 2.0, 0.5 + 0.5 * confidence)) * error)


def _confusion_size(result: JudgesResult) -> tuple[float, float]:
    confusion = result.judges[0].confusion
    n = len(confusion.grades) if confusion else 2
    return 2.4 + 0.75 * n, 1.4 + 0.6 * n


PLOTS = {
    "JudgesResult": {
        "ranks": Plot(
            draw_ranks,
            style.with_rows("runs", least=2.2, each=0.26),
            "Possible ranks of {n_runs} runs by people alone, by a judge corrected by people, and "
            "by the judge alone.",
        ),
        "means": Plot(
            draw_means,
            style.fixed(5.6, 4.6),
            "Mean {measure} of {n_runs} runs by a judge against that by people, beside the lines "
            "of no bias and of the same bias for all runs.",
        ),
        "confusion": Plot(
            draw_confusion,
            _confusion_size,
            "Heat map of how many documents of each of people's grades a judge gave each grade.",
        ),
        "bias": Plot(
            draw_bias,
            style.with_rows("runs", least=1.9),
            "The judge's mean {measure} less people's for {n_runs} runs, with intervals over "
            "topics.",
        ),
        "topics": Plot(
            draw_topics,
            style.fixed(6.0, 4.2),
            "Width of the interval of a difference against the topics that people judge, without "
            "and with a judge.",
        ),
    }
}
"""Class of a result to its kinds of plot, the default first."""
