"""What `topics` found: the answer in words, who would keep his place, error rates by difference."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from steadyrank.data.read.csv_cells import frame_csv
from steadyrank.present.cells import name, number, titled, without_empty
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import Cell, Table, with_words
from steadyrank.studies.topics.levels import TopicLevel
from steadyrank.studies.topics.result import TopicsResult
from steadyrank.studies.topics.sentences import needed_figure
from steadyrank.words import MISSING, by_number, percent

MOST_PAIRS = 45
"""Pairs that a terminal, LaTeX or Markdown table lists."""

REVERSED = (
    "Reversed: the probability that a replication on as many other topics reverses the order, "
    "corrected for how the two were selected among all runs."
)
NEEDED = (
    "Topics needed: for {test}, by the pair's own paired variance and observed difference, with "
    "its 95% interval; only the lower end where the true difference may be 0."
)
THEORY = (
    "Error rate: how often two experiments contradict each other if the observed difference were "
    "the true one (eq. 8 of Lin and Hauptmann, paired variance); independent: the same as if each "
    "run had topics of its own; approximate: eq. 13. An observed difference is not the true one: "
    "quote the probability of a reversal."
)


def topics_json(result: TopicsResult) -> dict[str, Any]:
    """The promised keys, and what else there is."""
    return {
        "n_topics": result.n_topics,
        "pairs": result.rows(),
        "levels": [_level_json(result, level) for level in result.levels],
        **picked(result, "measure n_complete n_dropped n_clusters"),
        "weighted": result.is_weighted,
        "trials": result.n_trials,
        **picked(
            result, "binning target alpha beta comparisons comparison_alpha baseline seed leaders"
        ),
        "answer": answer_sentences(result),
        "runs": [
            {"run": run, "mean": mean}
            for run, mean in zip(result.runs, result.mean.tolist(), strict=True)
        ],
    }


def _level_json(result: TopicsResult, level: TopicLevel) -> dict[str, Any]:
    keys, fit = ("b1", "b2", "method", "residuals"), level.fit
    return {
        **picked(level, "low high pairs variance variance_independent"),
        "sizes": result.sizes,
        **level.curves,
        "fit": {key: getattr(fit, key, None) for key in keys},
        "extrapolation": {"sizes": result.further_sizes, "rate": fit.rate if fit else None},
    }


def topics_text(
    result: TopicsResult, form: str, *, levels: bool = False, digits: int = 4, **looks: Any
) -> str:
    """The result in one of the output formats; CSV holds the pairs, or with `levels` the curves."""
    if form == "json":
        return to_json(topics_json(result))
    if form == "csv":
        return frame_csv(result.to_frame("levels" if levels else "pairs"))
    answer, notes = answer_sentences(result), _notes(result)
    # Without notes a blank line still ends the text.
    return with_words(answer, _tables(result, digits), notes or [""], form, **looks)


def answer_sentences(result: TopicsResult) -> list[str]:
    """What the study says, for somebody who reads no further."""
    known = result.expected_reversal[~np.isnan(result.expected_reversal)]
    answer = [result.sentence()]
    if len(known) > 1:
        answer.append(
            f"Of {len(known):,} pairs, {(known > result.target).sum()} would be reversed more than "
            f"{percent(result.target)} of the time."
        )
    return answer


def _notes(result: TopicsResult) -> list[str]:
    """What a reader of the figures must know, and what the data did to them."""
    notes = []
    if any(level.fit for level in result.levels):
        notes.append(
            "Fit: b1 exp(-b2 n) through the empirical rates. Beyond the sizes of the splits "
            "it is an extrapolation, usually too low, and no valid interval for it is known."
        )
    if result.n_clusters is not None:
        notes.append(
            "Variances are cluster-robust, and splits keep clusters whole. Numbers of topics "
            "refer to clusters of the present mean size."
        )
    if result.n_dropped:
        notes.append(
            f"{result.n_dropped} of {result.n_topics} topics "
            f"{by_number(result.n_dropped, 'lacks', 'lack')} scores of some run: omitted from "
            "the splits, and from each pair that lacks "
            f"{by_number(result.n_dropped, 'it', 'them')}."
        )
    return notes


def _tables(result: TopicsResult, digits: int) -> list[Table]:
    if result.baseline is not None:
        tables = [_baseline_table(result, digits)]
    else:
        tables = [_leaderboard(result, digits)]
        if len(result.pairs) <= MOST_PAIRS:
            tables.append(_pairs_table(result, digits))
    last = last_split(result)
    if any(level.pairs or level.reversed[last] for level in result.levels):
        tables.append(_levels_table(result))
    return tables


def _leaderboard(result: TopicsResult, digits: int) -> Table:
    """Runs by mean, each with what other topics may do to its lead over the next."""
    order, rows = result.order, []
    for run, _, lead, row in neighbours(result):
        mean = number(result.mean[run], f".{digits}f")
        rows.append([name(result.runs[run]), mean, number(lead, f".{digits}f"), *_outlook(row)])
    last = number(result.mean[order[-1]], f".{digits}f")
    rows.append([name(result.runs[order[-1]]), last, *[Cell("")] * (1 + len(OUTLOOK))])
    header = ["run", result.measure, "lead over next", *OUTLOOK]
    caption = f"{result.caption()} {REVERSED} {needed_caption(result)}"
    return Table(header=header, rows=rows, best=frozenset({(0, 1)}), caption=caption)


def neighbours(result: TopicsResult) -> Iterator[tuple[int, int, float, dict[str, Any]]]:
    """Each run and the next below it, by their positions, the first one's lead, and their row."""
    for run, following in itertools.pairwise(result.order):
        (row,) = result.rows([result.pair(run, following)])
        lead = row["difference"] if row["a"] == result.runs[run] else -row["difference"]
        yield run, following, lead, row


def _baseline_table(result: TopicsResult, digits: int) -> Table:
    by_run = {row["a"]: row for row in result.rows()}
    rows = []
    for place in result.order:
        run, mean = result.runs[place], number(result.mean[place], f".{digits}f")
        if run == result.baseline:
            rows.append([name(f"{run} (baseline)"), mean, *[Cell("")] * (4 + len(OUTLOOK))])
        else:
            rows.append([name(run), mean, *_figures(by_run[run], digits)])
    header = ["run", result.measure, *_pair_header("difference")]
    caption = f"{result.caption()} {REVERSED} {needed_caption(result)} {THEORY}"
    return Table(header=header, rows=rows, best=frozenset({(0, 1)}), caption=caption)


def _pairs_table(result: TopicsResult, digits: int) -> Table:
    pairs = sorted(result.rows(), key=lambda row: -np.nan_to_num(row["expected_reversal"], nan=2.0))
    rows = [[name(row["a"]), name(row["b"]), *_figures(row, digits)] for row in pairs]
    header = ["a", "b", *_pair_header("a − b")]
    return Table(header=header, rows=rows, n_names=2, caption=THEORY)


def needed_caption(result: TopicsResult) -> str:
    """What the numbers of topics are for."""
    return NEEDED.format(test=result.test_words())


OUTLOOK = ("reversed", "topics needed")


def _pair_header(difference: str) -> list[str]:
    return [difference, *OUTLOOK, "error rate", "independent", "approximate"]


def _figures(row: dict[str, Any], digits: int) -> list[Cell]:
    rates = (row[key] for key in ("error_rate", "error_rate_independent", "approximation"))
    return [number(row["difference"], f"+.{digits}f"), *_outlook(row), *map(_rate, rates)]


def _outlook(row: dict[str, Any]) -> list[Cell]:
    """The probability of a reversal, and the topics that show the difference."""
    return [_rate(row["expected_reversal"]), needed_cell(row)]


def needed_cell(row: Mapping[str, Any]) -> Cell:
    """The topics that a pair requires, with their interval; sorts by the number or its bound."""
    low = row["topics_needed_interval"][0]
    known = row["topics_needed"] if row["topics_needed"] is not None else low
    return Cell(needed_figure(row), 0 if row["significant"] else known)


def _levels_table(result: TopicsResult) -> Table:
    """Levels with a pair or a reversal: variances, the rates of the largest splits, and the fit."""
    last = last_split(result)
    size = result.sizes[last]
    header, rows = titled(
        {
            "difference": name(level.name),
            "pairs": number(level.pairs, "d"),
            "variance": number(1e4 * level.variance, ".2f"),
            "independent": number(1e4 * level.variance_independent, ".2f"),
            f"error rate at {size}": _rate(level.error_rate[last]),
            f"reversed at {size}": _rate(level.predictive[last]),
            f"empirical at {size}": _with_error(level.empirical[last], level.empirical_error[last]),
            **_fit_figures(level, result.further_sizes[:2]),
        }
        for level in result.levels
        if level.pairs or level.reversed[last]
    )
    header, rows = without_empty(header, rows)
    caption = (
        "By the absolute difference of two means. Variances are of a mean difference over all "
        "topics, ×1e-4, mean over the pairs, paired and as if independent. Error rate and "
        f"reversed: mean over the pairs, with {size} topics. Empirical: how often two disjoint "
        f"sets of {size} of these topics contradict each other, by the difference in the first, "
        "± its Monte Carlo error."
    )
    return Table(header=header, rows=rows, caption=caption)


def last_split(result: TopicsResult) -> int:
    """The place of the largest size that has splits; of the largest where none has."""
    places = range(len(result.sizes))
    measured = [s for s in places if any(level.count[s] for level in result.levels)]
    return measured[-1] if measured else places[-1]


def _fit_figures(level: TopicLevel, further: Sequence[int]) -> dict[str, Cell]:
    titles, fit = ["b1", "b2", *(f"fit at {size}" for size in further)], level.fit
    if fit is None:
        return dict.fromkeys(titles, Cell(MISSING))
    cells = [number(fit.b1, ".3f"), number(fit.b2), *map(_rate, fit.rate[:2].tolist())]
    return dict(zip(titles, cells, strict=True))


def _with_error(rate: float, error: float) -> Cell:
    if math.isnan(rate) or math.isnan(error) or error == 0.0:
        return _rate(rate)
    return Cell(f"{_rate(rate).text} ± {error:.3f}", rate)


def _rate(rate: float) -> Cell:
    return Cell("< 0.001", rate) if 0.0 < rate < 0.001 else number(rate, ".3f")
