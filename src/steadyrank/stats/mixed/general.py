"""The likelihood of a linear mixed model on any layout, balanced or not.

For anyone who has missing cells or unequal numbers of instances. The covariance of the rows is V =
s I + sum of v_k Z_k Z_k' with a column of Z_k for each group of a term. Rows enter the likelihood
only through the products of the columns of Z, of the fixed effects X and of the response y with
each other: counts and totals, summed once. After that the cost of an evaluation does not depend on
the number of rows.

Effects are eliminated in two steps, both by Woodbury's (s I + Z v Z')^-1 = (I - Z (s/v + Z'Z)^-1
Z') / s. First those of the term with the most groups, such as the cells of systems and topics: no
row is in two of its groups, so Z'Z is diagonal and there is nothing to factor, nor is the square
matrix of its effects ever made. Then those of all others, the core, by one Cholesky factor. If the
largest term's groups lie within those of another, such as cells within topics, its effects are
eliminated in the same way before the core, for the deviance alone: samplers ask often for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from steadyrank.stats.mixed.search import Point, Slopes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelRows:
    """One entry a row: response, compact group labels of each random term, and the contrast."""

    response: np.ndarray
    labels: tuple[np.ndarray, ...]
    """For each term a label from 0 to its size - 1."""
    sizes: tuple[int, ...]
    first: np.ndarray | None
    """Whether the row belongs to the first of two systems; None without a contrast."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowTables:
    """Counts and totals of the rows: all that the likelihood depends on.

    Z_1 are the effects of the largest term, and the columns R the core's effects, the fixed effects
    X and the response y.
    """

    n: int
    n_terms: int
    n_fixed: int
    largest: int
    """The term with the most groups; 0 where there is none."""
    counts: np.ndarray
    """The diagonal of Z_1'Z_1."""
    totals: np.ndarray
    """Z_1'R, [group, column]."""
    gram: np.ndarray
    """R'R, [column, column]."""
    core_term: np.ndarray
    """The term of each effect of the core."""
    within: np.ndarray
    """[term, other]: whether each group of a term lies within one of the other."""
    group_sizes: tuple[np.ndarray, ...]
    """Rows of each group, term by term."""
    middle: int
    """The core's term within whose groups those of the largest lie; -1 where there is none."""
    parent: np.ndarray
    """Of each group of the largest term, the group of the middle one that holds it."""

    @property
    def saturable(self) -> bool:
        """Whether there are as many effects as rows, or more."""
        return sum(map(len, self.group_sizes)) + self.n_fixed >= self.n

    def point(self, variances: np.ndarray, reml: bool) -> Point:
        """Deviance and estimates at these variances."""
        if self.middle < 0:
            return _point(self, _solved(self, variances, whole=False), reml)
        return _point(self, _without_middle(self, variances), reml)

    def slopes(self, variances: np.ndarray, reml: bool) -> Slopes:
        """The same with first and second derivatives.

        With C = Z'PZ: d/dv_k = tr C_kk - |u_k|², u = Z'Py, and for REML
        d²/dv_k dv_l = 2 u_k'C_kl u_l - |C_kl|²; ML has V^-1 for P in trace and norm.
        """
        solved = _solved(self, variances, whole=True)
        point, p, c = _point(self, solved, reml), self.n_fixed, len(self.core_term)
        own = (self.core_term[:, None] == np.arange(self.n_terms)).astype(np.float64)
        diagonal, reach, above, below = _effects(self, variances, solved)
        cross, inner = above[:, :c], below[:, :c]
        plain = _Effects(diagonal, reach, cross, inner, own, self.largest)
        first, rest = above[:, c : c + p], below[:, c : c + p]
        spread = np.linalg.cholesky(point.covariance)
        within = _Effects(
            diagonal,
            np.concatenate([reach, (first @ spread).T]),
            cross - first @ point.covariance @ rest.T,
            inner - rest @ point.covariance @ rest.T,
            own,
            self.largest,
        )
        trace, norms = (within if reml else plain).traces_and_norms()
        pulls = [
            np.column_stack([each[:, c:] @ np.append(-point.estimates, 1.0), each[:, c : c + p]])
            for each in (above, below)
        ]
        # u_k' C_kl w_l of each pair of terms and of columns u, w, [term, term, u, w].
        actions = within.actions(*pulls)
        mixed, leverage = actions[:, :, 0, 0], actions[:, :, 1:, 1:]
        left = float(solved.products[p, p] - solved.products[:p, p] @ point.estimates)
        trace, norms = _with_residual(variances, trace, norms, self.n - p * reml)
        # Sums over the effects of each term of products of columns, [term, column, column].
        sums = np.einsum("qk,qi,qj->kij", own, pulls[1], pulls[1])
        if self.n_terms:
            sums[self.largest] += pulls[0].T @ pulls[0]
        squares, mixed = _with_residual(variances, sums[:, 0, 0], mixed, left)
        inside = sums[:, 1:, 1:]
        over = solved.products[:p, :p] - np.tensordot(variances[:-1], inside, 1)
        inside = np.concatenate([inside, over[None] / variances[-1]])
        return Slopes(
            point=point,
            gradient=trace - squares,
            fisher=norms,
            hessian=2.0 * mixed - norms,
            covariance_slopes=point.covariance @ inside @ point.covariance,
            leverage=_leverage_with_residual(variances, leverage),
        )


def tables_of(rows: ModelRows) -> RowTables:
    """Sum the rows into tables."""
    n, n_terms = len(rows.response), len(rows.sizes)
    largest = int(np.argmax(rows.sizes)) if n_terms else 0
    core = [k for k in range(n_terms) if k != largest]
    fixed = [np.ones(n)] if rows.first is None else [np.ones(n), rows.first.astype(np.float64)]
    columns = np.stack([*fixed, rows.response])
    groups = list(zip(rows.labels, rows.sizes, strict=True))
    sums = [
        np.stack([np.bincount(labels, column, minlength=size) for column in columns], axis=1)
        for labels, size in groups
    ]
    gram = np.block(
        [
            *[[*(_table(rows, k, other) for other in core), sums[k]] for k in core],
            [*(sums[k].T for k in core), columns @ columns.T],
        ]
    )
    counts, totals = np.zeros(0), np.zeros((0, len(gram)))
    if n_terms:
        counts = np.bincount(rows.labels[largest], minlength=rows.sizes[largest]).astype(np.float64)
        totals = np.hstack([*(_table(rows, largest, other) for other in core), sums[largest]])
    within = [
        [parents(own, other, size) is not None for other in rows.labels] for own, size in groups
    ]
    outer = [k for k in core if within[largest][k] and rows.sizes[k] > 1]
    middle = max(outer, key=lambda k: rows.sizes[k], default=-1)
    held = (
        parents(rows.labels[largest], rows.labels[middle], rows.sizes[largest]) if outer else None
    )
    return RowTables(
        n=n,
        n_terms=n_terms,
        n_fixed=len(fixed),
        largest=largest,
        counts=counts,
        totals=totals,
        gram=gram,
        core_term=np.repeat(np.array(core, np.int64), [rows.sizes[k] for k in core]),
        within=np.array(within, dtype=bool).reshape(n_terms, n_terms),
        group_sizes=tuple(np.bincount(labels, minlength=size) for labels, size in groups),
        middle=middle,
        parent=np.zeros(0, np.int64) if held is None else held,
    )


def parents(fine: np.ndarray, coarse: np.ndarray, size: int) -> np.ndarray | None:
    """The coarse group that holds each fine group, or None where one reaches into several."""
    parent = np.zeros(size, np.int64)
    parent[fine] = coarse
    return parent if np.array_equal(parent[fine], coarse) else None


def _table(rows: ModelRows, k: int, other: int) -> np.ndarray:
    """How many rows each group of one term shares with each of another."""
    shape = (rows.sizes[k], rows.sizes[other])
    cells = rows.labels[k] * shape[1] + rows.labels[other]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Solved:
    """[X y]' V^-1 [X y], and what the elimination of the core leaves for derivatives."""

    products: np.ndarray
    log_det: float
    reduced: np.ndarray
    """R' V_1^-1 R, where V_1 = s I + v_1 Z_1 Z_1' leaves out the core."""
    root: np.ndarray
    """Square roots of the variances of the core's effects."""
    lower: np.ndarray
    """L, with L L' = I + root Z_C' V_1^-1 Z_C root."""
    lever: np.ndarray
    """L^-1 root Z_C' V_1^-1 R, for all columns R or for X and y alone."""


def _scale(tables: RowTables, variances: np.ndarray) -> np.ndarray:
    """s + v_1 n of the groups of the largest term: Z_1' V_1^-1 is Z_1' over these."""
    own = variances[tables.largest] if tables.n_terms else 0.0
    return np.asarray(variances[-1] + own * tables.counts)


def _solved(tables: RowTables, variances: np.ndarray, *, whole: bool) -> _Solved:
    residual, scale, c = variances[-1], _scale(tables, variances), len(tables.core_term)
    own = variances[tables.largest] if tables.n_terms else 0.0
    weighted = np.sqrt(own / scale)[:, None] * tables.totals
    reduced = (tables.gram - weighted.T @ weighted) / residual
    log_det = tables.n * np.log(residual) + np.log(scale / residual).sum()
    root = np.sqrt(variances[tables.core_term])
    return _core_eliminated(reduced, root, log_det, 0 if whole else c)


def _core_eliminated(reduced: np.ndarray, root: np.ndarray, log_det: float, first: int) -> _Solved:
    """What is left without the core, with the lever of the columns from the `first` on."""
    c = len(root)
    dense = np.outer(root, root) * reduced[:c, :c]
    dense[np.diag_indices(c)] += 1.0
    lower = np.linalg.cholesky(dense)
    lever = _forward(lower, root[:, None] * reduced[:c, first:])
    outer = lever[:, c - first :]
    return _Solved(
        products=reduced[c:, c:] - outer.T @ outer,
        log_det=float(log_det + 2.0 * np.log(np.diag(lower)).sum()),
        reduced=reduced,
        root=root,
        lower=lower,
        lever=lever,
    )


def _without_middle(tables: RowTables, variances: np.ndarray) -> _Solved:
    """As `_solved` for X and y alone, the middle term eliminated before the core.

    Of the products of columns only those of the middle term with itself, which are diagonal after
    the first step, and with the few other columns are made.
    """
    residual, scale = variances[-1], _scale(tables, variances)
    own = tables.core_term == tables.middle
    few = np.append(np.flatnonzero(~own), np.arange(len(own), len(tables.gram)))
    inner = np.flatnonzero(own)
    weight = variances[tables.largest] / scale
    columns = tables.totals[:, few]
    # Sums over the groups within each group of the middle term, one column after the other.
    met = (weight * tables.counts)[:, None] * np.column_stack([tables.counts, columns])
    sums = np.stack(
        [np.bincount(tables.parent, column, minlength=len(inner)) for column in met.T], axis=1
    )
    diagonal = (tables.gram[inner, inner] - sums[:, 0]) / residual
    across = (tables.gram[np.ix_(inner, few)] - sums[:, 1:]) / residual
    reduced = (tables.gram[np.ix_(few, few)] - columns.T @ (weight[:, None] * columns)) / residual
    spread = 1.0 + variances[tables.middle] * diagonal
    reduced -= across.T @ ((variances[tables.middle] / spread)[:, None] * across)
    log_det = tables.n * np.log(residual) + np.log(scale / residual).sum() + np.log(spread).sum()
    root = np.sqrt(variances[tables.core_term[~own]])
    return _core_eliminated(reduced, root, log_det, len(root))


def _forward(lower: np.ndarray, right: np.ndarray) -> np.ndarray:
    """L^-1 right; SciPy refuses an empty L."""
    if not right.size:
        return right
    return np.asarray(solve_triangular(lower, right, lower=True, check_finite=False))


def _point(tables: RowTables, solved: _Solved, reml: bool) -> Point:
    p = tables.n_fixed
    information, cross = solved.products[:p, :p], solved.products[:p, p]
    covariance = np.linalg.inv(information)
    estimates = covariance @ cross
    value = solved.log_det + float(solved.products[p, p] - cross @ estimates)
    value += (tables.n - p * reml) * float(np.log(2.0 * np.pi))
    if reml:
        value += float(np.linalg.slogdet(information)[1])
    return Point(value=value, estimates=estimates, covariance=covariance)


def _effects(
    tables: RowTables, variances: np.ndarray, solved: _Solved
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Z' V^-1 [Z X y]: of the largest term diag(d) - R'R with itself; its rows; the core's rows."""
    c, scale = len(tables.core_term), _scale(tables, variances)
    met = tables.totals / scale[:, None]
    reach = _forward(solved.lower, (met[:, :c] * solved.root).T)
    above = met - reach.T @ solved.lever
    below = solved.reduced[:c] - solved.lever[:, :c].T @ solved.lever
    return tables.counts / scale, reach, above, below


class _Effects(NamedTuple):
    """C = Z'V^-1Z or Z'PZ; of the largest term's effects with each other diag(d) - U'U, unmade."""

    diagonal: np.ndarray
    reach: np.ndarray
    """U, [row, effect of the largest term]."""
    cross: np.ndarray
    """[effect of the largest term, effect of the core]."""
    inner: np.ndarray
    own: np.ndarray
    """[effect of the core, term]: which term it is of."""
    largest: int

    def traces_and_norms(self) -> tuple[np.ndarray, np.ndarray]:
        """tr C_kk of each term, and |C_kl|² of each two."""
        trace, norms = self.own.T @ np.diag(self.inner), self.own.T @ self.inner**2 @ self.own
        if len(trace):
            taken, k = (self.reach**2).sum(axis=0), self.largest
            beside = (self.cross**2).sum(axis=0) @ self.own
            norms[k] += beside
            norms[:, k] += beside
            norms[k, k] += self.diagonal @ (self.diagonal - 2.0 * taken)
            norms[k, k] += ((self.reach @ self.reach.T) ** 2).sum()
            trace[k] += (self.diagonal - taken).sum()
        return trace, norms

    def actions(self, first: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """u_k' C_kl w_l of columns of the largest term's effects and of the core's."""
        n_terms, p = self.own.shape[1], first.shape[1]
        split = (self.own[:, :, None] * rest[:, None, :]).reshape(len(rest), n_terms * p)
        made = (split.T @ self.inner @ split).reshape(n_terms, p, n_terms, p)
        if n_terms:
            beside = (first.T @ self.cross @ split).reshape(p, n_terms, p)
            made[self.largest] += beside
            made[:, :, self.largest] += beside.transpose(1, 2, 0)
            reached = self.reach @ first
            made[self.largest, :, self.largest] += first.T @ (self.diagonal[:, None] * first)
            made[self.largest, :, self.largest] -= reached.T @ reached
        return np.asarray(made.transpose(0, 2, 1, 3))


def _leverage_with_residual(variances: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Append the residual's entries, which follow from P X = 0 and V = sum of v_k V_k."""
    v, residual = variances[:-1], variances[-1]
    square = np.zeros((len(variances), len(variances), *pair.shape[2:]))
    square[:-1, :-1] = pair
    square[:-1, -1] = -np.einsum("l,klij->kij", v, pair) / residual
    square[-1, :-1] = -np.einsum("k,klij->lij", v, pair) / residual
    square[-1, -1] = -np.einsum("k,kij->ij", v, square[:-1, -1]) / residual
    return square


def _with_residual(
    variances: np.ndarray, single: np.ndarray, pair: np.ndarray, total: float
) -> tuple[np.ndarray, np.ndarray]:
    """Append the residual's entries, which follow from P V P = P and V = sum of v_k V_k."""
    v, residual = variances[:-1], variances[-1]
    last = (total - v @ single) / residual
    cross = (single - pair @ v) / residual
    corner = (last - v @ cross) / residual
    square = np.block([[pair, cross[:, None]], [cross[None, :], np.array([[corner]])]])
    return np.append(single, last), square
