"""The section of a report that leads: all runs by their mean, with ranks and groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from steadyrank.data.scores import Scores
from steadyrank.present.cells import MOST_CELLS, name, number, span, table, whole
from steadyrank.present.table import Cell, Table
from steadyrank.stats.run_means import adjusted_means, expected_means, intervals_as_picked, ranks_of
from steadyrank.studies.part import Body, Drawing, Findings, Part
from steadyrank.words import counted


class Comparison(Protocol):
    """What tests of all pairs say of the runs, as far as the leaderboard shows it."""

    runs: tuple[str, ...]
    alpha: float
    letters: tuple[str, ...]
    rank_set: np.ndarray
    baseline: str | None
    pairs: np.ndarray
    significant: np.ndarray
    difference: np.ndarray

    @property
    def n_different(self) -> np.ndarray:
        """Of each run, the others that differ significantly."""

    def rank_words(self) -> str:
        """How sure the ranks are."""


def _body(scores: Scores, findings: Findings) -> Body:
    """All runs by their mean, with intervals, the ranks they may have, and groups."""
    comparison: Comparison = findings.results["compare"][0]
    compared = scores.select(runs=comparison.runs)
    caption = "Means with intervals over topics, for one run at a time."
    figures = [Drawing("means", caption, compared, "means")]
    if scores.values[0].size <= MOST_CELLS:
        figures.append(Drawing("scores", "Every run on every topic.", scores, "heatmap"))
    return Body(figures=tuple(figures), tables=(_leaderboard_table(scores, comparison),))


def _leaderboard_table(scores: Scores, result: Comparison) -> Table:
    measure = scores.measures[0]
    matrix = scores.matrix(measure)
    means = np.stack([adjusted_means(values) for values in scores.values])
    ranks = ranks_of(means[0])
    known = expected_means(matrix)
    intervals, expected = intervals_as_picked(matrix, 1 - result.alpha, known), known.mean
    compared = {run: i for i, run in enumerate(result.runs)}
    with_letters = bool(result.letters)
    teams = [str(team) for team in scores.run_info.get("team", [])]
    with_teams = any(teams)
    rows = []
    for run in np.argsort(ranks, kind="stable").tolist():
        i = compared.get(scores.runs[run])
        own = [number(means[0, run]), span(intervals[run]), number(expected[run])]
        others = [number(mean) for mean in means[1:, run]]
        cells = _place_cells(result, i, with_letters)
        team = [name(teams[run])] if with_teams else []
        rows.append([whole(ranks[run]), name(scores.runs[run]), *team, *own, *cells, *others])
    groups = ["group"] if with_letters else []
    sure = f"{1 - result.alpha:.0%} interval"
    who = ["", "run", *(["team"] if with_teams else [])]
    against = "differs from" if result.baseline is None else "against the baseline"
    first = [*who, measure, sure, "expected", "ranks", against]
    header = [*first, *groups, *scores.measures[1:]]
    caption = (
        f"Runs by mean {measure} over {counted(matrix.shape[1], 'topic', form=',')}. The "
        "interval is for one run at a time. Expected: the mean to expect on new topics, since "
        "the best of many runs is partly the luckiest; the interval is corrected for that. "
        f"Ranks: those that the run may have, {result.rank_words()}. {_against_words(result)} "
    )
    if with_letters:
        caption += "Group: runs that share a letter are statistically indistinguishable."
    if len(result.runs) < len(scores.runs):
        caption += f" Compared pair by pair: the best {len(result.runs):,}."
    made = table("leaderboard", caption.strip(), header, rows)
    return replace(made, picks=1, filter_by=2 if with_teams else None)


def _place_cells(result: Comparison, i: int | None, with_letters: bool) -> list[Cell]:
    if i is None:
        return [Cell("–")] * (2 + with_letters)
    low, high = result.rank_set[i].tolist()
    letters = [name(result.letters[i])] if with_letters else []
    against = whole(result.n_different[i])
    if result.baseline is not None:
        against = name(_against_baseline(result, i))
    return [Cell(f"{low} to {high}", f"{low} to {high}"), against, *letters]


def _against_words(result: Comparison) -> str:
    if result.baseline is None:
        return "Differs from: how many of the other runs differ significantly."
    than = f"significantly better or worse than {result.baseline}"
    return f"Against the baseline: whether a run is {than}."


def _against_baseline(result: Comparison, run: int) -> str:
    """What the test of a run with the baseline, the second of each pair, decided."""
    places = np.flatnonzero(result.pairs[:, 0] == run)
    if not len(places):
        return "baseline"
    if not result.significant[places[0]]:
        return "not different"
    return "better" if result.difference[places[0]] > 0 else "worse"


PART = Part(
    title="Leaderboard",
    question="Who leads, and who might?",
    means=(
        "Runs are ordered by their mean over topics. Every two runs, or every run and the "
        "baseline, are compared by a paired test, corrected for all comparisons together; letters, "
        "marks, intervals of differences and ranks all express these decisions. A run could be "
        "first if no run is significantly better."
    ),
    means_not=(
        "Intervals of two means that overlap do not make two runs equal: topics are hard or "
        "easy for all runs together, which the paired tests take into account and the "
        "intervals do not. Sharing a letter does not prove equality. The leader was selected "
        "by the very scores from which its mean is computed, so less is expected of it "
        "on new topics."
    ),
    body=_body,
)
