"""Sections about the runs as they are: leaderboard, pairs, topics one by one, the files.

Each takes what a study found and returns what the page shows of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.measures.check import DEPTHS, CheckResult
from steadyrank.present.cells import (
    MOST_CELLS,
    drilldown,
    name,
    number,
    percent,
    pvalue,
    span,
    table,
    whole,
)
from steadyrank.present.page import PageFigure, Section
from steadyrank.present.table import Cell, Table
from steadyrank.reporting.headline import first_words, standing, verdict_words
from steadyrank.reporting.texts import TEXTS
from steadyrank.stats.run_means import adjusted_means
from steadyrank.stats.selection import expected_means, intervals_as_picked
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.plotting import figure
from steadyrank.words import MOST_NAMES, counted, number_word, some

MOST_PAIRS = 500
"""Pairs of runs that a table lists."""

TOP = 10
"""Runs whose pairs are all listed."""

MOST_DOTS = 2000
"""Dots of a figure."""


def section(
    study: str,
    *,
    answer: Iterable[str] = (),
    figures: Iterable[PageFigure] = (),
    tables: Iterable[Table] = (),
    warnings: Iterable[str] = (),
    notes: Iterable[str] = (),
) -> Section:
    """A section with the words that belong to its study; `notes` say more about what it means."""
    text = TEXTS[study]
    return Section(
        id=study,
        title=text.title,
        question=text.question,
        answer=tuple(answer),
        means=" ".join([text.means, *notes]),
        means_not=text.means_not,
        figures=tuple(figures),
        tables=tuple(tables),
        warnings=tuple(warnings),
    )


def left_out(study: str, why_not: str) -> Section:
    """A section that says why there is nothing to show."""
    text = TEXTS[study]
    return Section(id=study, title=text.title, question=text.question, why_not=why_not)


def leaderboard(scores: Scores, result: CompareResult, warnings: Sequence[str] = ()) -> Section:
    """All runs by their mean, with intervals, the ranks they may have, and groups."""
    figures = figure("ranks", "The ranks that each run may have.", result, "ranks")
    shown = scores.select(runs=result.runs)
    figures += figure(
        "means", "Means with intervals over topics, for one run at a time.", shown, "means"
    )
    if scores.values[0].size <= MOST_CELLS:
        figures += figure("scores", "Every run on every topic.", scores, "heatmap")
    answer = [verdict_words(result, len(scores.runs)), *_group_words(result), first_words(result)]
    return section(
        "evaluate",
        answer=answer,
        figures=figures,
        tables=[_leaderboard_table(scores, result)],
        warnings=warnings,
    )


def _group_words(result: CompareResult) -> list[str]:
    """The whole group, where the verdict names only some of it."""
    found = standing(result)
    if len(found.group) <= MOST_NAMES + 2:
        return []
    return [f"Not significantly worse than {found.leader}: {some(found.group[1:], 10)}."]


def _leaderboard_table(scores: Scores, result: CompareResult) -> Table:
    measure = scores.measures[0]
    matrix = scores.matrix(measure)
    means = np.stack([adjusted_means(scores.matrix(each)) for each in scores.measures])
    ranks = rankdata(-np.nan_to_num(means[0], nan=-np.inf), method="min").astype(int)
    known = expected_means(matrix)
    intervals, expected = intervals_as_picked(matrix, 1 - result.alpha, known), known.mean
    compared = {run: i for i, run in enumerate(result.runs)}
    with_letters = bool(result.letters)
    rows = []
    for run in np.argsort(ranks, kind="stable").tolist():
        i = compared.get(scores.runs[run])
        own = [number(means[0, run]), span(intervals[run]), number(expected[run])]
        others = [number(mean) for mean in means[1:, run]]
        cells = _place_cells(result, i, with_letters)
        rows.append([whole(ranks[run]), name(scores.runs[run]), *own, *cells, *others])
    groups = ["group"] if with_letters else []
    sure = f"{1 - result.alpha:.0%} interval"
    first = ["", "run", measure, sure, "expected", "ranks", "differs from"]
    header = [*first, *groups, *scores.measures[1:]]
    caption = (
        f"Runs by mean {measure} over {counted(matrix.shape[1], 'topic', form=',')}. The interval "
        "is for one run at a time. Expected: the mean to expect on new topics, since the best of "
        "many runs is partly the luckiest; the interval allows for that. Ranks: those that the run "
        f"may have, {result.rank_words()}. Differs from: how many of the other runs differ "
        "significantly. "
    )
    if with_letters:
        caption += "Group: runs that share a letter are statistically indistinguishable."
    if result.n_missing:
        caption += f" {result.gaps()}"
    if len(result.runs) < len(scores.runs):
        caption += f" Compared pair by pair: the best {len(result.runs):,}."
    return table("leaderboard", caption.strip(), header, rows)


def _place_cells(result: CompareResult, i: int | None, with_letters: bool) -> list[Cell]:
    if i is None:
        return [Cell("–")] * (2 + with_letters)
    low, high = result.rank_set[i].tolist()
    letters = [name(result.letters[i])] if with_letters else []
    return [Cell(f"{low} to {high}", f"{low} to {high}"), whole(result.n_different[i]), *letters]


def pairs(results: Sequence[CompareResult], warnings: Sequence[str] = ()) -> Section:
    """The pairs that matter most, and how many each measure tells apart."""
    main = results[0]
    figures = []
    if len(main.runs) > 2:
        against_best = "Every run against the best."
        figures += figure("against-best", against_best, main, "intervals")
        figures += figure("p-values", "p-values of all pairs, largest first.", main, "asl")
    if len(main.runs) ** 2 <= MOST_CELLS and len(main.runs) > 2:
        figures += figure("pairs-map", "p-values of all pairs of runs.", main, "heatmap")
    elif 2 < len(main.pairs) <= MOST_DOTS:
        figures += figure("differences", "Which differences are significant.", main, "differences")
    return section(
        "compare",
        answer=_pairs_answer(main),
        figures=figures,
        tables=[_pairs_table(main), _power_table(results)],
        warnings=warnings,
    )


def _pairs_answer(result: CompareResult) -> list[str]:
    found = int(result.significant.sum())
    total = len(result.pairs)
    by = f"significantly by mean {result.measure}"
    if total == 1:
        said = [f"The two runs {'differ' if found else 'do not differ'} {by}."]
    elif not found:
        said = [f"None of the {total:,} pairs differs {by}."]
    else:
        share = f"{found:,} of {total:,} pairs ({result.significant_share:.0%})"
        said = [f"{share} {'differs' if found == 1 else 'differ'} {by}."]
    smallest = float(np.nanmedian(result.smallest_difference)) if total else math.nan
    if math.isfinite(smallest):
        said.append(
            f"With these {counted(result.n_topics, 'topic', form=',')} and "
            f"{counted(total, 'comparison', form=',')} a t test finds a difference of "
            f"{smallest:.3f} with power 0.8 (median over pairs)."
        )
    return said


def _pairs_table(result: CompareResult) -> Table:
    """All pairs of the best runs, and the best run's with all others."""
    order = np.argsort(-np.nan_to_num(result.mean, nan=-np.inf), kind="stable")
    rank = np.argsort(order)
    low, high = np.sort(rank[result.pairs], axis=1).T
    listed = (
        np.flatnonzero((high < TOP) | (low == 0)) if len(low) > MOST_PAIRS else np.arange(len(low))
    )
    listed = listed[np.lexsort((high[listed], low[listed]))]
    rows = [_pair_row(result, int(p), rank) for p in listed[:MOST_PAIRS]]
    left = len(low) - len(rows)
    cut = (
        f" Listed are the pairs of the best {TOP} runs and those of the best with others; "
        f"{left:,} pairs are left out, which steadyrank compare lists."
        if left
        else ""
    )
    caption = (
        f"{result.caption()} * significant. Intervals: {result.interval_kind}. d: mean difference "
        "over the standard deviation of the topics' differences. Wins, ties and losses are "
        f"topics.{cut}"
    )
    header = [
        "better",
        "other",
        "difference",
        f"{1 - result.alpha:.0%} interval",
        "p",
        "p corrected",
        "d",
        "wins",
        "ties",
        "losses",
    ]
    return table("pairs", caption, header, rows)


def _pair_row(result: CompareResult, p: int, rank: np.ndarray) -> list[Cell]:
    """A pair with the better run first."""
    a, b = result.pairs[p].tolist()
    sign = 1.0 if rank[a] < rank[b] else -1.0
    if sign < 0:
        a, b = b, a
    ends = sorted((sign * result.interval[p]).tolist())
    gap = number(sign * float(result.difference[p]), "+.4f")
    if result.significant[p]:
        gap = Cell(f"{gap.text} *", gap.value)
    wins, losses = int(result.effects.wins[p]), int(result.effects.losses[p])
    if sign < 0:
        wins, losses = losses, wins
    return [
        name(result.runs[a]),
        name(result.runs[b]),
        gap,
        span(ends, "+.4f"),
        pvalue(float(result.pvalue[p])),
        pvalue(float(result.pvalue_adjusted[p])),
        number(sign * float(result.effects.paired_d[p]), "+.2f"),
        whole(wins),
        whole(int(result.effects.ties[p])),
        whole(losses),
    ]


def _power_table(results: Sequence[CompareResult]) -> Table:
    rows = []
    for result in sorted(results, key=lambda each: -each.significant_share):
        alone = np.nan_to_num(result.pvalue, nan=1.0) <= result.alpha
        missed = np.abs(result.difference[~result.significant])
        rows.append(
            [
                name(result.measure),
                percent(result.significant_share),
                percent(float(alone.mean())),
                number(float(np.nanmax(missed, initial=0.0))),
            ]
        )
    caption = (
        "Discriminative power: share of the pairs that differ significantly by each measure, "
        "corrected for their number (one family per measure) and uncorrected, and the largest "
        "mean difference that was not significant."
    )
    header = ["measure", "significant pairs", "uncorrected", "largest difference missed"]
    return table("discriminative-power", caption, header, rows)


def hardest(scores: Scores) -> Section:
    """Topics from the hardest on; each opens to its runs."""
    measure = scores.measures[0]
    matrix = scores.matrix(measure)
    by_topic, by_run = mean_of_present(matrix.T), adjusted_means(matrix)
    order = np.argsort(np.nan_to_num(by_topic, nan=np.inf), kind="stable")[:1000]
    runs = np.argsort(-np.nan_to_num(by_run, nan=-np.inf), kind="stable")
    behind, hidden = drilldown(
        [scores.runs[run] for run in runs], matrix[np.ix_(runs, order)].T, "Runs on topic {row}"
    )
    rows = [_topic_row(scores, matrix[:, topic], int(topic)) for topic in order]
    caption = f"{measure} by topic, hardest first; open a row to see its runs."
    if len(order) < matrix.shape[1]:
        caption += f" The {len(order):,} hardest of {matrix.shape[1]:,} topics."
    if hidden:
        caption += f" Of the runs, the best {len(behind.names):,}; {hidden:,} are left out."
    header = ["topic", "mean", "sd over runs", "lowest", "highest", "best run", "runs at 0"]
    return section(
        "hardest",
        answer=_topics_answer(scores, matrix),
        tables=[table("hardest-topics", caption, header, rows, drilldown=behind, shown=15)],
    )


def _topic_row(scores: Scores, column: np.ndarray, topic: int) -> list[Cell]:
    known = column[~np.isnan(column)]
    if not len(known):
        return [name(scores.topics[topic]), *[Cell("–")] * 6]
    best = int(np.nanargmax(column))
    ties = int((known == known.max()).sum()) - 1
    more = f" and {ties} more" if ties else ""
    sd = float(known.std(ddof=1)) if len(known) > 1 else math.nan
    return [
        name(scores.topics[topic]),
        number(float(known.mean())),
        number(sd),
        number(float(known.min())),
        number(float(known.max())),
        name(scores.runs[best] + more),
        whole(int((known == 0.0).sum())),
    ]


def _topics_answer(scores: Scores, matrix: np.ndarray) -> list[str]:
    by_topic = mean_of_present(matrix.T)
    if np.isnan(by_topic).all():
        return []
    low, high = int(np.nanargmin(by_topic)), int(np.nanargmax(by_topic))
    said = [
        f"The hardest topic is {scores.topics[low]} (mean {by_topic[low]:.3f}), the easiest "
        f"{scores.topics[high]} ({by_topic[high]:.3f})."
    ]
    dead = int((np.nan_to_num(matrix, nan=0.0) == 0.0).all(axis=0).sum())
    if dead:
        said.append(
            f"On {counted(dead, 'topic', form=',')} every run scores 0: "
            f"{'it separates' if dead == 1 else 'they separate'} nothing."
        )
    return said


def the_files(result: CheckResult, warnings: Sequence[str] = ()) -> Section:
    """What is wrong or odd with the files."""
    wrong = sum(finding.level == "wrong" for finding in result.findings)
    odd = len(result.findings) - wrong
    said = (
        f"{number_word(wrong).capitalize()} thing{'' if wrong == 1 else 's'} would make results "
        if wrong
        else "Nothing would make results "
    )
    tail = f"{counted(odd, 'thing is', 'things are', form=',')} odd" if odd else "nothing is odd"
    said += f"wrong; {tail}."
    tables = []
    if result.findings:
        rows = [[name(f.level), name(f.where), name(f.what)] for f in result.findings]
        tables.append(table("findings", "What was found.", ["", "where", "what"], rows))
    tables.append(_runs_table(result))
    return section("check", answer=[said], tables=tables, warnings=warnings)


def _runs_table(result: CheckResult) -> Table:
    rows = [_check_row(row) for row in result.runs]
    caption = (
        f"{result.n_judgments:,} judgments of {counted(result.n_topics, 'topic', form=',')}. "
        "Judged: share of judged documents among the first. Tied: share of documents whose score "
        "another document of the topic has too."
    )
    header = [
        "run",
        "topics",
        "missing",
        "not judged",
        "fewest documents",
        "most",
        *(f"judged@{depth}" for depth in DEPTHS),
        "tied",
    ]
    return table("runs-checked", caption, header, rows, shown=10)


def _check_row(row: Any) -> list[Cell]:
    counts = (row.topics, row.missing, row.unknown, row.shallowest, row.deepest)
    return [
        name(row.run),
        *(whole(count) for count in counts),
        *(percent(share) for share in row.judged),
        percent(row.tied),
    ]
