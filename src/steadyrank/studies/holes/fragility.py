"""The fewest judgments that undo a lead if their grades are changed.

A change affects one topic. There the difference of two runs is N / I: N is the sum over documents
of gain × (weight in the first ranking minus weight in the second), I that of the ideal list, 1 for
measures without one.

**Linear** (P, RBP, SetP, NumRelRet): changes do not affect each other. Each document has one grade
that lowers the lead most, so the documents that lower it most are the fewest: *exact*.

**nDCG, nG, R, SetR** (I depends on grades) and **AP** (a document's weight depends on the relevant
ones above and below it): the change that lowers the lead most is made, and the effects of the
others on its topic are computed again. The documents found undo the lead, but fewer may suffice: an
*upper* bound. Changing a document of AP at rank r, with i relevant ones above it, changes the sum
of precisions by (i + 1) / r and by 1 / rank of each relevant one below it.

Only judged documents that one of the two runs ranks within the cutoff are changed; others have no
grade, or count only in the ideal list. The set of grades and their gains stay the same.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from steadyrank.compute.executors import map_in_order, workers
from steadyrank.compute.kernels import inlined, kernel, part
from steadyrank.measures.holes.lists import HoledMeasure, Rankings

DECIDED = 1e-12
"""A bound this close to 0 may be a rounding error and does not decide a pair."""

MOST_NAMED = 20
"""Most changes that are listed; of more, only the number is kept."""


class GradeChange(NamedTuple):
    """A changed judgment."""

    topic: str
    document: str
    before: int
    after: int


class JudgmentFragility(NamedTuple):
    """The fewest judgments that undo the lead of a pair if they are changed."""

    n: int
    kind: Literal["exact", "upper"]
    """"upper" if fewer judgments may suffice."""
    documents: tuple[GradeChange, ...]
    """Changes, the most effective first; empty if there are more than 20."""


class _Book(NamedTuple):
    """The judged documents of rankings within the cutoff, by rank, with weights and gains."""

    blocks: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    gains: np.ndarray
    """[grade]"""
    sums: np.ndarray
    """[n]: sum of an ideal list of n documents of gain 1; empty for measures without one."""
    is_ap: bool


class _State(NamedTuple):
    """Changed grades, and the next change of each topic."""

    grades: np.ndarray
    """[judgment]"""
    worth: np.ndarray
    """[judgment]: weight in the first ranking minus weight in the second."""
    above: np.ndarray
    """[topic, grade]: number of documents of this grade and above."""
    difference: np.ndarray
    """[topic]"""
    effect: np.ndarray
    """[topic]: amount by which the best change, of `row` to `grade`, lowers the lead."""
    row: np.ndarray
    grade: np.ndarray


def judgment_fragility(
    rankings: Rankings,
    measure: HoledMeasure,
    pairs: np.ndarray,
    difference: np.ndarray,
    *,
    jobs: int | None = None,
) -> list[JudgmentFragility | None]:
    """Return the fewest grade changes that undo the lead of each pair, given its mean difference.

    They are None without a lead, and for measures of other families.
    """
    if measure.family not in ("linear", "shared", "AP") or measure.measure.name == "Judged":
        return [None] * len(pairs)
    book, fresh, n_topics = _book(rankings, measure), _state(rankings), rankings.lists.n_topics
    longest = int(np.diff(book.blocks[::n_topics]).max(initial=0))

    def found(place: int) -> JudgmentFragility | None:
        state, steps = _State(*map(np.copy, fresh)), np.empty((2, 4 * longest), np.int64)
        (a, b), lead = pairs[place], np.sign(difference[place])
        n = _undo_lead(book, state, a, b, lead, DECIDED * n_topics, steps)
        return _named(rankings, measure, steps[:, :n]) if n > 0 else None

    with workers(jobs=jobs) as threads:
        return map_in_order(found, range(len(pairs)), threads)


def _book(rankings: Rankings, measure: HoledMeasure) -> _Book:
    lists = rankings.lists
    entries = lists.judged.only(lists.judged.ranks <= measure.depth)
    weights = measure.weights(entries.ranks, lists.lengths.ravel()[entries.cells])
    sums = np.empty(0)
    if measure.family != "linear":
        most = int(lists.qrels.sizes.max(initial=1))
        sums = measure.ideal_sums(most)
        sums = sums if len(sums) else np.arange(most + 1.0)
    rows = entries.rows.astype(np.int64)
    return _Book(entries.blocks, rows, weights, measure.gains, sums, measure.family == "AP")


def _state(rankings: Rankings) -> _State:
    qrels = rankings.lists.qrels
    counts = np.column_stack([qrels.sizes, rankings.n_graded])  # the column of grade 0 is unused
    above = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1].copy()
    grades = np.maximum(qrels.grades, 0).astype(np.int64)
    figures, places = np.zeros((2, len(above))), np.zeros((2, len(above)), np.int64)
    return _State(grades, np.zeros(len(grades)), above, *figures, *places)


def _named(rankings: Rankings, measure: HoledMeasure, steps: np.ndarray) -> JudgmentFragility:
    qrels = rankings.lists.qrels
    last = dict(zip(*steps.tolist(), strict=True))
    # A document that returned to its grade was not changed.
    changed = {row: to for row, to in last.items() if to != max(int(qrels.grades[row]), 0)}
    is_exact = measure.family == "linear" or len(changed) == 1
    rows = [*changed] if len(changed) <= MOST_NAMED else []
    topics = np.searchsorted(qrels.blocks, rows, side="right") - 1
    documents = tuple(
        GradeChange(qrels.topics[t], qrels.documents[row], int(qrels.grades[row]), changed[row])
        for t, row in zip(topics, rows, strict=True)
    )
    return JudgmentFragility(len(changed), "exact" if is_exact else "upper", documents)


@part
def _lay_out(book, state, cell, sign):
    """Add each document's weight in one ranking; return the sum over the relevant ones."""
    first, last = book.blocks[cell], book.blocks[cell + 1]
    above = 0
    for i in range(first, last):
        above += book.gains[state.grades[book.rows[i]]] > 0.0
    below, total = 0.0, 0.0
    for i in range(last - 1, first - 1, -1):
        row, worth = book.rows[i], book.weights[i]
        gain = book.gains[state.grades[row]]
        if book.is_ap:  # weights are 1 / rank, gains 0 or 1
            above -= gain > 0.0
            worth = (above + 1) * book.weights[i]
        total += gain * worth
        state.worth[row] += sign * (worth + below)
        if book.is_ap:
            below += gain * book.weights[i]
    return sign * total


@inlined
def _ideal(book, n, grade):
    """Return a grade's contribution to the ideal list if n documents reach it."""
    return (book.gains[grade] - book.gains[grade - 1]) * book.sums[min(n, len(book.sums) - 1)]


@part
def _look_at(book, state, a, b, t, lead):
    """Write the difference on a topic, and the change that lowers the lead most."""
    gains, above, n_topics = book.gains, state.above, len(state.effect)
    cells, has_ideal = (a * n_topics + t, b * n_topics + t), len(book.sums) > 0
    for cell in cells:
        for i in range(book.blocks[cell], book.blocks[cell + 1]):
            state.worth[book.rows[i]] = 0.0
    numerator = _lay_out(book, state, cells[0], 1.0) + _lay_out(book, state, cells[1], -1.0)
    ideal = 0.0 if has_ideal else 1.0
    if has_ideal:
        for grade in range(1, len(gains)):
            ideal += _ideal(book, above[t, grade], grade)
    now = numerator / ideal if ideal > 0.0 else 0.0
    state.difference[t] = now
    state.effect[t] = 0.0
    for cell in cells:
        for i in range(book.blocks[cell], book.blocks[cell + 1]):
            row = book.rows[i]
            own = state.grades[row]
            for by in (1, -1):
                changed, grade = ideal, own + by
                while 0 <= grade < len(gains):
                    if has_ideal:
                        step = max(grade, grade - by)
                        changed += _ideal(book, above[t, step] + by, step)
                        changed -= _ideal(book, above[t, step], step)
                    then = numerator + state.worth[row] * (gains[grade] - gains[own])
                    lowered = lead * (now - (then / changed if changed > 0.0 else 0.0))
                    # Ties: the nearest grade, and the first judged document of either run.
                    ties = lowered == state.effect[t] > 0.0 and row < state.row[t]
                    if lowered > state.effect[t] or ties:
                        state.effect[t] = lowered
                        state.row[t] = row
                        state.grade[t] = grade
                    grade += by


@kernel
def _undo_lead(book, state, a, b, lead, tolerance, steps):
    """Change grades until the lead is gone; return the number of changes, -1 if none helps.

    Rows and grades of the changes are written to `steps` [2, change].
    """
    for t in range(len(state.effect)):
        _look_at(book, state, a, b, t, lead)
    n = 0
    while lead * state.difference.sum() > tolerance:
        t = int(np.argmax(state.effect))
        if n == steps.shape[1] or not state.effect[t] > 0.0:
            return -1
        row, grade = state.row[t], state.grade[t]
        own = state.grades[row]
        for g in range(min(own, grade) + 1, max(own, grade) + 1):
            state.above[t, g] += 1 if grade > own else -1
        state.grades[row] = grade
        steps[0, n] = row
        steps[1, n] = grade
        _look_at(book, state, a, b, t, lead)
        n += 1
    return n
