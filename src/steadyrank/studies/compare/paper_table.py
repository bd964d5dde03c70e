"""The table of a paper: runs down, measures across, with marks of significance.

With a baseline, daggers mark the means that differ from its mean; without one, raised letters name
the runs that a run is significantly better than.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np

from steadyrank._version import __version__
from steadyrank.errors import InputError, check_choice
from steadyrank.present.cells import name, pvalue, signed, signed_interval
from steadyrank.present.table import Cell, Table
from steadyrank.stats.pairs.decisions import ALPHABET
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.wording import (
    correction_words,
    few_words,
    gaps_words,
    instances_words,
    row_name,
    test_words,
    topics_words,
)
from steadyrank.words import counted, figure, listed, typeset

Show = Literal["interval", "sd", "p", "d"]
"""Figures that can be shown in addition to the means."""

BETTER, WORSE = "†", "‡"
LABEL = "tab:compare"


def paper_table(
    results: Sequence[CompareResult],
    *,
    digits: int = 4,
    show: Sequence[str] = (),
    underline_second: bool = False,
    label: str = LABEL,
) -> Table:
    """Return the runs, best first by the first measure, with their means on each measure.

    Parameters
    ----------
    results : sequence of CompareResult
        One per measure, of the same runs.
    digits : int
        Decimals.
    show : sequence of str
        Any of "interval", "sd", "p" and "d": intervals of the differences to the baseline, or of
        the means without one; standard deviations over topics, or over the instances of systems;
        adjusted p-values and effect sizes against the baseline.
    underline_second : bool
        Whether to underline the second highest mean.
    label : str
        Label of the table in LaTeX.
    """
    first = results[0]
    for item in show:
        check_choice("figure to show", item, get_args(Show))
        if item in ("p", "d") and first.baseline is None:
            raise InputError(f"show {item} shows differences from a baseline: name one")
    shown = tuple(item for item in get_args(Show) if item in show)
    order, letters = first.order, {}
    if first.baseline is None and len(first.runs) <= len(ALPHABET):
        letters = {run: ALPHABET[place] for place, run in enumerate(order)}
    columns = [_columns(result, order, shown, digits) for result in results]
    names = [
        [*([name(letters[row])] if letters else []), name(row_name(first, row))] for row in order
    ]
    n_names, extra = len(names[0]), _extra(first, shown)
    above, measures = [""] * (n_names - 1) + [first.row_word], [one.measure for one in results]
    starts = [n_names + place * len(columns[0]) for place in range(len(results))]
    # Rounded, so that means that print alike are marked alike.
    means = [[round(float(result.mean[row]), digits) for row in order] for result in results]
    return Table(
        header=[*above, *(["mean", *extra] * len(results) if extra else measures)],
        # Measures have a heading above their columns where each has several.
        groups=[(result.measure, len(columns[0])) for result in results] if extra else [],
        rows=[
            [*names[i], *(column[i] for measure in columns for column in measure)]
            for i in range(len(order))
        ],
        best=_places(results, means, starts, 0),
        second=_places(results, means, starts, 1) if underline_second else frozenset(),
        marks={
            (i, start): mark
            for start, result in zip(starts, results, strict=True)
            for i, mark in enumerate(_marks(result, order, letters))
            if mark
        },
        n_names=n_names,
        label=label,
        caption=paper_caption(results, shown, underline_second=underline_second),
    )


def _extra(first: CompareResult, shown: Sequence[str]) -> list[str]:
    level = f"{1 - first.alpha:.0%} interval"
    difference = [] if first.baseline is None else ["difference"]
    words = {"interval": [*difference, level], "p": ["p"], "d": ["d"]}
    return [text for item in shown for text in words.get(item, [])]


def _columns(
    result: CompareResult, order: Sequence[int], shown: Sequence[str], digits: int
) -> list[list[Cell]]:
    """Return the cells of a measure, column by column: means, then what `shown` adds."""
    spread, means = _spreads(result, shown), []
    for row in order:
        text = figure(result.mean[row], f"z.{digits}f")
        text += "" if np.isnan(spread[row]) else f" ± {spread[row]:.{digits}f}"
        means.append(Cell(typeset(text), float(result.mean[row])))
    columns = [means]
    for item in shown:
        if item == "interval" and result.baseline is None:
            ends = [result.mean_interval[row].tolist() for row in order]
            columns.append([signed_interval(each, f"z.{digits}f") for each in ends])
        else:
            columns += _beside(result, order, item, digits)
    return columns


def _beside(
    result: CompareResult, order: Sequence[int], item: str, digits: int
) -> list[list[Cell]]:
    """Return columns about the differences to the baseline; its row has empty cells."""
    form = f"+z.{digits}f"
    known = np.where(result.flag == TOO_FEW, np.nan, result.difference)
    cells: dict[str, list[Callable[[int], Cell]]] = {
        "interval": [
            lambda pair: signed(float(known[pair]), form),
            lambda pair: signed_interval(result.interval[pair].tolist(), form),
        ],
        "p": [lambda pair: pvalue(float(result.pvalue_adjusted[pair]))],
        "d": [lambda pair: signed(float(result.effects.paired_d[pair]), "+z.2f")],
    }
    of_run = {int(a): pair for pair, a in enumerate(result.pairs[:, 0])}
    pairs = [None if result.baseline is None else of_run.get(row) for row in order]
    return [
        [Cell("") if pair is None else cell(pair) for pair in pairs] for cell in cells.get(item, [])
    ]


def _spreads(result: CompareResult, shown: Sequence[str]) -> np.ndarray:
    """Return standard deviations over systems' instances or, if `shown`, over topics; else NaN."""
    if result.n_instances:
        return result.instance_sd
    if "sd" not in shown:
        return np.full(len(result.runs), np.nan)
    enough = (~np.isnan(result.scores)).sum(axis=1) > 1
    spread = np.full(len(result.runs), np.nan)
    spread[enough] = np.nanstd(result.scores[enough], axis=1, ddof=1)
    return spread


def _places(
    results: Sequence[CompareResult],
    means: Sequence[Sequence[float]],
    starts: Sequence[int],
    place: int,
) -> frozenset[tuple[int, int]]:
    """Return the cells with the best (0) or second best (1) mean of each measure."""
    cells = set()
    for result, start, column in zip(results, starts, means, strict=True):
        known = {mean for mean in column if not np.isnan(mean)}
        values = sorted(known, reverse=not result.lower_is_better)
        if place < len(values):
            cells |= {(i, start) for i, mean in enumerate(column) if mean == values[place]}
    return frozenset(cells)


def _marks(result: CompareResult, order: Sequence[int], letters: dict[int, str]) -> list[str]:
    """Return a dagger, the letters of the runs beaten, or with too many runs their number."""
    beaten: dict[int, list[int]] = {row: [] for row in order}
    lost: set[int] = set()
    for pair in np.flatnonzero(result.significant).tolist():
        a, b = result.pairs[pair].tolist()
        winner, loser = (a, b) if result.rank[a] < result.rank[b] else (b, a)
        beaten[winner].append(loser)
        lost.add(loser)
    if result.baseline is not None:
        base = result.runs.index(result.baseline)
        better = {row for row in order if row != base and beaten[row]}
        return [BETTER if row in better else WORSE if row in lost - {base} else "" for row in order]
    if letters:
        return ["".join(sorted(letters[loser] for loser in beaten[row])) for row in order]
    return [str(len(beaten[row])) if beaten[row] else "" for row in order]


def paper_caption(
    results: Sequence[CompareResult], shown: Sequence[str] = (), *, underline_second: bool = False
) -> str:
    """Return the caption: test, correction, family, alpha, topics, and the meaning of marks."""
    first = results[0]
    measures = listed([result.measure for result in results])
    lower = [result.measure for result in results if result.lower_is_better]
    best = "best mean" if lower else "highest mean"
    sentences = [
        f"Mean {measures} of {counted(len(first.runs), first.row_word)} over "
        f"{_topics_words(results)}.",
        _spread_words(first, shown),
        _mark_words(results),
        _beside_words(first, shown),
        f"Bold: {best}.",
        f"Underlined: second {best}." if underline_second else "",
        f"Lower is better: {listed(lower)}." if lower else "",
        gaps_words(max(results, key=lambda result: result.n_missing)),
        few_words(first) if first.baseline is not None and _extra(first, shown) else "",
        f"steadyrank {__version__}.",
    ]
    return " ".join(filter(None, sentences))


def _topics_words(results: Sequence[CompareResult]) -> str:
    """Return how many topics means are over and how many are dropped, by measure if these vary."""
    first, numbers = results[0], {result.n_dropped for result in results}
    if len({result.n_topics for result in results}) > 1:
        return listed([f"{topics_words(result)} by {result.measure}" for result in results])
    dropped = ""
    if len(numbers) > 1:
        parts = listed([f"{result.n_dropped} by {result.measure}" for result in results])
        dropped = f" (dropped, as a {first.row_word} lacks them: {parts})"
    elif first.n_dropped:
        dropped = f" ({first.n_dropped} dropped, which a {first.row_word} lacks)"
    return topics_words(first, dropped)


def _spread_words(first: CompareResult, shown: Sequence[str]) -> str:
    if first.n_instances:
        return f"{instances_words(first).capitalize()}: mean ± standard deviation over instances."
    return "±: standard deviation over topics." if "sd" in shown else ""


def _mark_words(results: Sequence[CompareResult]) -> str:
    first = results[0]
    how = f"({_test_words(results)})"
    rows = f"{first.row_word}s"
    if not any(result.significant.any() for result in results):
        if first.baseline is None:
            return f"No two {rows} differ significantly {how}."
        return f"No {first.row_word} differs significantly from {first.baseline} {how}."
    if first.baseline is None:
        what = (
            f"letters: {rows} that are"
            if len(first.runs) <= len(ALPHABET)
            else f"numbers: how many {rows} are"
        )
        return f"Raised {what} significantly worse {how}."
    marks = {mark for result in results for mark in _marks(result, result.order, {})}
    words = {BETTER: "significantly better", WORSE: "significantly worse"}
    said = ", ".join(f"{mark} {text}" for mark, text in words.items() if mark in marks)
    return f"{said} than {first.baseline} {how}."


def _test_words(results: Sequence[CompareResult]) -> str:
    """Return the test, its correction and family, and alpha."""
    first = results[0]
    parts = [test_words(first)]
    per_measure = " per measure" if len(results) > 1 else ""
    if first.n_comparisons > 1 or per_measure:
        parts.append(correction_words(first, per_measure))
    parts.append(f"alpha {first.alpha:g}")
    return "; ".join(parts)


def _beside_words(first: CompareResult, shown: Sequence[str]) -> str:
    said = []
    if "interval" in shown:
        of = (
            f"of the mean, one {first.row_word} at a time"
            if first.baseline is None
            else f"of the difference to {first.baseline}, {first.interval_kind}"
        )
        said.append(f"Intervals: {of}.")
    if "p" in shown and first.is_corrected:
        said.append("p: adjusted.")
    if "d" in shown:
        said.append("d: mean difference over the standard deviation of the topics' differences.")
    return " ".join(said)
