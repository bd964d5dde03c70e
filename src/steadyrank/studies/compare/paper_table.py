"""The table of a paper: runs down, measures across, with marks of significance.

With a baseline, daggers mark the means that differ from its mean; without one, raised letters name
the runs that a run is significantly better than.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steadyrank._version import __version__
from steadyrank.present.cells import name
from steadyrank.present.table import Cell, Table
from steadyrank.stats.pairs.decisions import ALPHABET
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.wording import (
    correction_words,
    gaps_words,
    instances_words,
    row_name,
    test_words,
    topics_words,
)
from steadyrank.words import counted, figure, listed, typeset

BETTER, WORSE = "†", "‡"


def paper_table(results: Sequence[CompareResult], *, digits: int = 4) -> Table:
    """Return the runs, best first by the first measure, with their means on each measure."""
    first = results[0]
    order, letters = first.order, {}
    if first.baseline is None and len(first.runs) <= len(ALPHABET):
        letters = {run: ALPHABET[place] for place, run in enumerate(order)}
    names = [
        [*([name(letters[row])] if letters else []), name(row_name(first, row))] for row in order
    ]
    columns = [[_mean(result, row, digits) for row in order] for result in results]
    n_names = len(names[0])
    best = set()
    for start, result in enumerate(results, start=n_names):
        # Rounded, so that means that print alike are marked alike.
        means = [round(float(result.mean[row]), digits) for row in order]
        known = [mean for mean in means if mean == mean]
        top = (min if result.lower_is_better else max)(known, default=None)
        best |= {(i, start) for i, mean in enumerate(means) if mean == top}
    return Table(
        header=[*[""] * (n_names - 1), first.row_word, *(result.measure for result in results)],
        rows=[[*names[i], *(column[i] for column in columns)] for i in range(len(order))],
        best=frozenset(best),
        marks={
            (i, start): mark
            for start, result in enumerate(results, start=n_names)
            for i, mark in enumerate(_marks(result, order, letters))
            if mark
        },
        n_names=n_names,
        label="tab:compare",
        caption=paper_caption(results),
    )


def _mean(result: CompareResult, row: int, digits: int) -> Cell:
    """Return a mean, with the standard deviation over a system's instances if there are several."""
    text = figure(result.mean[row], f"z.{digits}f")
    if result.n_instances and result.n_instances[row] > 1:
        text += f" ± {result.instance_sd[row]:.{digits}f}"
    return Cell(typeset(text), float(result.mean[row]))


def _marks(result: CompareResult, order: Sequence[int], letters: dict[int, str]) -> list[str]:
    """Return a dagger, the letters of the runs beaten, or with too many runs their number."""
    signs = np.where(result.significant, np.sign(result.gain), 0).astype(int)
    if result.baseline is not None:
        daggers = {1: BETTER, -1: WORSE, 0: ""}
        of_run = {int(a): daggers[sign] for a, sign in zip(result.pairs[:, 0], signs, strict=True)}
        return [of_run.get(row, "") for row in order]
    if not letters:
        return [str(n) if n else "" for n in result.n_better[order].tolist()]
    beaten: dict[int, list[str]] = {row: [] for row in order}
    for (a, b), sign in zip(result.pairs.tolist(), signs, strict=True):
        if sign:
            beaten[a if sign > 0 else b].append(letters[b if sign > 0 else a])
    return ["".join(sorted(beaten[row])) for row in order]


def paper_caption(results: Sequence[CompareResult]) -> str:
    """Return the caption: test, correction, family, alpha, topics, and the meaning of marks."""
    first = results[0]
    lower = [result.measure for result in results if result.lower_is_better]
    instances = instances_words(first).capitalize()
    sentences = [
        f"Mean {listed([result.measure for result in results])} of "
        f"{counted(len(first.runs), first.row_word)} over {_topics_words(results)}.",
        f"{instances}: mean ± standard deviation over instances." if instances else "",
        _mark_words(results),
        f"Bold: {'best' if lower else 'highest'} mean.",
        f"Lower is better: {listed(lower)}." if lower else "",
        gaps_words(max(results, key=lambda result: result.n_missing)),
        f"steadyrank {__version__}.",
    ]
    return " ".join(filter(None, sentences))


def _topics_words(results: Sequence[CompareResult]) -> str:
    """Return how many topics means are over and how many are dropped, by measure if these vary."""
    words = {}
    for result in results:
        dropped = f" ({result.n_dropped} dropped, which a {result.row_word} lacks)"
        words[result.measure] = topics_words(result, dropped * bool(result.n_dropped))
    if len(set(words.values())) == 1:
        return words[results[0].measure]
    return listed([f"{text} by {measure}" for measure, text in words.items()])


def _mark_words(results: Sequence[CompareResult]) -> str:
    """Return the meaning of the marks, with the test, its correction and family, and alpha."""
    first, rows = results[0], f"{results[0].row_word}s"
    per_measure = " per measure" if len(results) > 1 else ""
    how = test_words(first)
    if first.n_comparisons > 1 or per_measure:
        how += f"; {correction_words(first, per_measure)}"
    how = f"({how}; alpha {first.alpha:g})"
    if not any(result.significant.any() for result in results):
        if first.baseline is None:
            return f"No two {rows} differ significantly {how}."
        return f"No {first.row_word} differs significantly from {first.baseline} {how}."
    if first.baseline is None:
        what = f"numbers: how many {rows} are"
        if len(first.runs) <= len(ALPHABET):
            what = f"letters: {rows} that are"
        return f"Raised {what} significantly worse {how}."
    marks = {mark for result in results for mark in _marks(result, result.order, {})}
    words = {BETTER: "significantly better", WORSE: "significantly worse"}
    said = ", ".join(f"{mark} {text}" for mark, text in words.items() if mark in marks)
    return f"{said} than {first.baseline} {how}."
