"""Levels of systems by judge, where judges graded different answers.

A plain mean over judges makes a system better for being graded by a lenient one. So the grades of
system a by judge g on topic j are t_j + mu_ag, fitted by least squares over the whole layout: what
two systems differ by according to one judge may come through topics that others graded. Each topic
is left out once (jackknife), which gives the covariance of all levels without assuming that errors
are alike, and the topics' pseudo-values, of which paired tests may be made. On complete tables the
levels are the means over topics and the pseudo-values the means over judges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from steadyrank.errors import InputError
from steadyrank.words import some

FEWEST_TOPICS = 2
"""Topics that a system needs by a judge: its level must be known without any one of them."""

MOST_STEPS, SETTLED = 2000, 1e-11
"""Share of the first residual at which conjugate gradients stop."""

DENSE, SPARSE = 2000, 0.2
"""Levels up to which the matrix of their normal equations is kept; beyond, the share of graded
cells of a topic below which only these are multiplied."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """Groups of cells that remain linked without any single topic: their levels are comparable."""

    there: np.ndarray
    """[row, cell], 0 or 1: a row is a topic, or its part in one group; a cell system and judge."""
    topic: np.ndarray
    """Row sums."""
    group: np.ndarray
    """Group of each cell; -1 if its grades carry no information."""
    kept: np.ndarray
    """[system, judge]: those that the judge compares with others."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Levels:
    """Least-squares levels [system, judge] and what they are without each topic."""

    mu: np.ndarray
    """[system, judge]: the grade expected on an average topic; NaN where it is not known."""
    moved: np.ndarray
    """[topic, system, judge]: the level without the topic, less the mean of these; 0 for NaN."""
    layout: Layout
    given: np.ndarray
    """[system, judge]: whether there are grades at all."""

    @property
    def kept(self) -> np.ndarray:
        """[system, judge]: whether the level is known."""
        return self.layout.kept

    @property
    def shrink(self) -> float:
        """(n - 1) / n, which makes sums of squares of `moved` variances."""
        return (len(self.moved) - 1.0) / len(self.moved)

    @cached_property
    def additive(self) -> Additive:
        """The model system + judge of the known levels."""
        return Additive(self.kept)

    @cached_property
    def means(self) -> np.ndarray:
        """Level of each system by the model system + judge; the mean if all judges graded all."""
        return np.asarray(self.additive.means(np.nan_to_num(self.mu)[None])[0])

    @cached_property
    def pseudo_values(self) -> np.ndarray:
        """[system, topic]: their mean is the system's, and their spread gives its error."""
        moved = self.additive.means(self.moved)
        return np.asarray(self.means[:, None] - (len(moved) - 1.0) * (moved - moved.mean(axis=0)).T)

    def shared(self, pairs: np.ndarray) -> np.ndarray:
        """[pair, judge]: who compares the two systems."""
        return np.asarray(self.kept[pairs[:, 0]] & self.kept[pairs[:, 1]])

    def influences(self, weights: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """A function of rows a and b of `weights` [row, cell], giving shares [pair, topic].

        Those of the variance of the difference of two weighted sums of levels, if all errors were
        alike.
        """
        own = self.layout
        normal = _Normal(own.there)
        solved = normal.solve(_centred(weights, own.group))

        def shares(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            z = solved[a] - solved[b]
            rows = (z * z) @ normal.rows.T - (z @ normal.rows.T) ** 2 / normal.sizes
            return _by_topic(rows, own.topic, len(self.moved))

        return shares


class Additive:
    """Least squares of levels [system, judge] on system + judge, over those that are known."""

    def __init__(self, kept: np.ndarray) -> None:
        self.kept = there = kept.astype(float)
        self.per_judge = np.maximum(there.sum(axis=0), 1.0)
        laplacian = np.diag(there.sum(axis=1)) - (there / self.per_judge) @ there.T
        self.inverse = np.linalg.pinv(laplacian, rcond=1e-10, hermitian=True)
        self.used = kept.any(axis=0)
        _, parts = scipy.sparse.csgraph.connected_components(laplacian < 0.0)
        self.part = np.where(kept.any(axis=1), parts, -1)

    @property
    def df(self) -> float:
        """Degrees of freedom of the residuals."""
        n_parts = len(np.unique(self.part[self.part >= 0]))
        rank = (self.part >= 0).sum() + self.used.sum() - n_parts
        return float(self.kept.sum() - rank)

    def systems(self, levels: np.ndarray) -> np.ndarray:
        """Effects of systems [row, system] of levels [row, system, judge], 0 where not known."""
        by_judge = levels.sum(axis=1) / self.per_judge
        right = levels.sum(axis=2) - by_judge @ self.kept.T
        return np.asarray(right @ self.inverse)

    def means(self, levels: np.ndarray) -> np.ndarray:
        """[row, system]: the effects of systems, with the mean effect of the judges."""
        system = self.systems(levels)
        judge = (levels.sum(axis=1) - system @ self.kept) / self.per_judge
        own = judge[:, self.used].sum(axis=1, keepdims=True) / max(1, self.used.sum())
        return np.asarray(system + own)

    def residuals(self, levels: np.ndarray) -> np.ndarray:
        """[row, system, judge]; 0 where not known."""
        rest = (levels - self.systems(levels)[:, :, None]) * self.kept
        return np.asarray(rest - rest.sum(axis=1, keepdims=True) / self.per_judge * self.kept)

    @cached_property
    def free(self) -> np.ndarray:
        """[system, judge]: what of each level is left in its residual, the projector's diagonal."""
        share = self.kept / self.per_judge
        spread = self.inverse @ share
        own = np.diag(self.inverse)[:, None] - 2.0 * spread + (share * spread).sum(axis=0)
        return np.asarray(self.kept * (1.0 - 1.0 / self.per_judge - own))


def is_uneven(cells: np.ndarray) -> bool:
    """Whether some judge graded some system on a topic, and not another: [system, topic, judge]."""
    there = ~np.isnan(cells)
    some_system, some_judge = there.any(axis=0), there.any(axis=2)
    return bool((some_system[None] & some_judge[:, :, None] & ~there).any()) or bool(
        (some_system != some_system.any(axis=1, keepdims=True)).any()
    )


def levels_of(cells: np.ndarray) -> Levels:
    """The levels of scores [system, topic, judge]; at least two topics are required."""
    m, n, n_judges = cells.shape
    flat = cells.transpose(1, 0, 2).reshape(n, m * n_judges)
    layout = layout_of(~np.isnan(flat), m)
    there = layout.there
    normal = _Normal(there)
    values = np.nan_to_num(flat)[layout.topic]
    centred = there * (values - (there * values).sum(axis=1, keepdims=True) / normal.sizes[:, None])
    mu = normal.solve(centred.sum(axis=0)[None])[0]
    error = centred - there * (mu - (there @ mu / normal.sizes)[:, None])
    moved = normal.solve(-error, without=True)
    # The mean topic is part of a level: it differs between groups, and moves without a topic.
    own = ((there * values).sum(axis=1) - there @ mu) / normal.sizes
    shifted = _shifts(layout, n, own, moved, normal.sizes)
    mean_topic = np.array([own[rows].mean() for rows in _rows_of_groups(layout)] or [0.0])
    known = layout.group >= 0
    mu = np.where(known, mu + mean_topic[layout.group], np.nan)
    by_topic = _by_topic(moved.T, layout.topic, n).T
    by_topic += np.where(known, shifted[:, layout.group], 0.0)
    by_topic -= by_topic.mean(axis=0)
    kept = layout.kept.ravel()
    return Levels(
        mu=np.where(kept, mu, np.nan).reshape(m, n_judges),
        moved=np.where(kept, by_topic, 0.0).reshape(n, m, n_judges),
        layout=layout,
        given=~np.isnan(cells).all(axis=1),
    )


def check_separable(levels: Levels, systems: Sequence[str], judges: Sequence[str]) -> None:
    """Refuse systems that no judge compares, not even through other systems."""
    part = levels.additive.part
    if len(systems) == 1 and not levels.kept.any():
        raise InputError(
            f"{systems[0]} has no grades by one judge on {FEWEST_TOPICS} linked topics"
        )
    for b in range(1, len(systems)):
        a = 0
        if part[a] == part[b] >= 0:
            continue
        both = levels.given[a] & levels.given[b]
        first, second = systems[a], systems[b]
        if both.any():
            judge = judges[int(np.argmax(both))]
            raise InputError(
                f"systems and judges cannot be separated: fewer than {FEWEST_TOPICS} topics link "
                f"the grades of {first} and {second} by {judge}. Have {judge} grade both on more "
                "topics."
            )
        raise InputError(
            f"systems and judges cannot be separated: {first} was graded by "
            f"{_judges_of(levels.given[a], judges)} only, {second} by "
            f"{_judges_of(levels.given[b], judges)} only. Have one judge grade both."
        )


def _judges_of(given: np.ndarray, judges: Sequence[str]) -> str:
    return some([judges[place] for place in np.flatnonzero(given).tolist()] or ["nobody"], 3)


def _rows_of_groups(layout: Layout) -> list[np.ndarray]:
    of_row = layout.group[layout.there.argmax(axis=1)] if len(layout.there) else np.empty(0, int)
    n_groups = int(layout.group.max(initial=-1)) + 1
    return [np.flatnonzero(of_row == group) for group in range(n_groups)]


def _shifts(
    layout: Layout, n: int, own: np.ndarray, moved: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """[topic, group]: what the mean of the group's topics does without each topic."""
    groups = _rows_of_groups(layout)
    shifted = np.zeros((n, max(1, len(groups))))
    for group, rows in enumerate(groups):
        n = len(rows)
        # Effects of all the other topics, once one is gone and the levels have moved.
        at = own[rows] - moved[rows] @ (layout.there[rows] / sizes[rows, None]).T
        without = (at.sum(axis=1) - np.diag(at)) / (n - 1)
        shifted[layout.topic[rows], group] = without - own[rows].mean()
    return shifted


def layout_of(there: np.ndarray, n_systems: int) -> Layout:
    """What of cells [topic, cell] can be compared."""
    there = there.copy()
    while True:
        alone = there & (there.sum(axis=1) < 2)[:, None]  # such a topic says nothing
        few = there & (there.sum(axis=0) < FEWEST_TOPICS)
        if not (alone | few).any():
            break
        there &= ~(alone | few)
    marks = np.stack([_linked(there), *(_linked(there, j) for j in _linking(there))])
    _, group = np.unique(marks, axis=1, return_inverse=True)
    group = group.ravel()
    counts = np.bincount(group)
    group = np.where(there.any(axis=0) & (counts[group] > 1), group, -1)
    used = np.unique(group[group >= 0])
    group = np.where(group >= 0, np.searchsorted(used, group), -1)
    rows, topic = [], []
    for place in range(len(used)):
        part = there & (group == place)
        at = np.flatnonzero(part.sum(axis=1) > 1)
        rows.append(part[at].astype(float))
        topic.append(at)
    stacked = np.concatenate(rows) if rows else np.zeros((0, there.shape[1]))
    by_judge = group.reshape(n_systems, -1)
    kept = np.stack([_largest(own) for own in by_judge.T], axis=1)
    return Layout(
        there=stacked,
        topic=np.concatenate(topic) if topic else np.zeros(0, int),
        group=group,
        kept=kept & (kept.sum(axis=0) >= min(2, n_systems)),
    )


def _largest(groups: np.ndarray) -> np.ndarray:
    known = groups[groups >= 0]
    if not len(known):
        return np.zeros(len(groups), bool)
    return np.asarray(groups == np.bincount(known).argmax())


def _linked(there: np.ndarray, without: int | None = None) -> np.ndarray:
    if without is not None:
        there = np.delete(there, without, axis=0)
    n, p = there.shape
    graph = scipy.sparse.coo_array(scipy.sparse.coo_array(there))
    edges = (graph.row, graph.col + n)
    both = scipy.sparse.coo_array((np.ones(graph.nnz, bool), edges), shape=(n + p, n + p))
    return np.asarray(scipy.sparse.csgraph.connected_components(both, directed=False)[1][n:])


def _linking(there: np.ndarray) -> list[int]:
    """A few topics that link all that is linked: no other topic can be the only link."""
    group, chosen = np.arange(there.shape[1]), []
    for topic in np.argsort(-there.sum(axis=1), kind="stable").tolist():
        met = np.unique(group[there[topic]])
        if len(met) > 1:
            chosen.append(topic)
            group[np.isin(group, met)] = met[0]
    return chosen


class _Normal:
    """Normal equations of levels, topics eliminated: N = sum of diag(o) - o o' / k over rows o."""

    def __init__(self, there: np.ndarray) -> None:
        self.there, self.sizes = there, there.sum(axis=1)
        is_sparse = there.size > 0 and there.mean() < SPARSE
        self.rows: Any = scipy.sparse.csr_array(there) if is_sparse else there
        self.counts = there.sum(axis=0)
        self.matrix = None
        if there.shape[1] <= DENSE:
            self.matrix = np.diag(self.counts) - (there / self.sizes[:, None]).T @ there

    def _times(self, x: np.ndarray, without: bool) -> np.ndarray:
        """N times each row; `without`: row i of x with row i of the layout left out."""
        if self.matrix is not None:
            made = x @ self.matrix
        else:
            made = x * self.counts - (x @ self.rows.T / self.sizes) @ self.rows
        if without:
            own = (x * self.there).sum(axis=1) / self.sizes
            made -= self.there * (x - own[:, None])
        return np.asarray(made)

    def solve(self, right: np.ndarray, without: bool = False) -> np.ndarray:
        """Solve each row by conjugate gradients, scaled by counts; rows sum to 0 in each group."""
        scale = 1.0 / np.maximum(self.counts, 1.0)
        x, rest = np.zeros_like(right), right.copy()
        ahead = rest * scale
        size = (rest * ahead).sum(axis=1)
        enough = SETTLED**2 * size
        for _ in range(MOST_STEPS):
            if (size <= enough).all():
                break
            pushed = self._times(ahead, without)
            bend = (ahead * pushed).sum(axis=1)
            step = np.where(
                (size > enough) & (bend > 0.0), size / np.where(bend > 0, bend, 1.0), 0.0
            )
            x += step[:, None] * ahead
            rest -= step[:, None] * pushed
            smaller = (rest * rest * scale).sum(axis=1)
            ahead = rest * scale + (smaller / np.where(size > 0, size, 1.0))[:, None] * ahead
            size = smaller
        return x


def _centred(weights: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Weights [row, cell] that sum to 0 in each group of cells; 0 where nothing is known."""
    made = np.where(group >= 0, weights, 0.0)
    for place in range(int(group.max(initial=-1)) + 1):
        made[:, group == place] -= made[:, group == place].mean(axis=1, keepdims=True)
    return np.asarray(made)


def _by_topic(values: np.ndarray, topic: np.ndarray, n: int) -> np.ndarray:
    made = np.zeros((n, *values.shape[:-1]))
    np.add.at(made, topic, np.moveaxis(values, -1, 0))
    return np.moveaxis(made, 0, -1)
