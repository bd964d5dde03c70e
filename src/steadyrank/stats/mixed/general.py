"""The likelihood of a linear mixed model on any layout, balanced or not.

The covariance of the rows is V = s I + sum of v_k Z_k Z_k' with a column of Z_k for each group of a
term. Effects are eliminated in three steps, all by Woodbury's formula. First the *inner* term, the
one with the most groups, such as the cells of systems and topics: each row has one, so its matrix
is diagonal. Then the *outer* term, whose groups contain those of the inner one, such as topics:
given these, its matrix is diagonal as well. Last all others, the *core*, by one Cholesky factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from scipy.linalg import solve_triangular

from steadyrank.stats.mixed.search import Point, Slopes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelRows:
    """One entry per row: response, compact group labels of each random term, and the contrast."""

    response: np.ndarray
    labels: tuple[np.ndarray, ...]
    """For each term a label from 0 to its size - 1."""
    sizes: tuple[int, ...]
    first: np.ndarray | None
    """Whether the row belongs to the first of two systems; None without a contrast."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowTables:
    """Counts and totals of the rows, on which the likelihood depends.

    Z_1 are the effects of the inner term; the columns R are the core's effects, the fixed effects X
    and the response y.
    """

    n: int
    n_terms: int
    n_fixed: int
    inner: int
    """Inner term; -1 without random terms."""
    outer: int
    """Outer term; -1 without one, which then counts as one group without variance."""
    counts: np.ndarray
    """The diagonal of Z_1'Z_1."""
    totals: np.ndarray
    """Z_1'R, [group, column]."""
    gram: np.ndarray
    """R'R, [column, column]."""
    parent: np.ndarray
    """The outer group of each inner group."""
    nest: scipy.sparse.csr_array
    """`parent` as a matrix of ones, [outer group, inner group]."""
    alike: np.ndarray
    """[2, number]: pairs of inner groups of the same outer group, each also with itself."""
    own: np.ndarray  # [effect, term]: the term of each effect, ordered inner, outer, core
    within: np.ndarray
    """[term, other]: whether each group of a term is contained in one of the other."""
    group_sizes: tuple[np.ndarray, ...]
    """Number of rows of each group, term by term."""

    @property
    def saturable(self) -> bool:
        """Whether there are at least as many effects as rows."""
        return sum(map(len, self.group_sizes)) + self.n_fixed >= self.n

    def point(self, variances: np.ndarray) -> Point:
        """Return deviance and estimates at these variances."""
        return _point(self, _solved(self, variances))

    def slopes(self, variances: np.ndarray) -> Slopes:
        """Return deviance and estimates with first and second derivatives.

        With C = Z'PZ: d/dv_k = tr C_kk - |u_k|², u = Z'Py, and
        d²/dv_k dv_l = 2 u_k'C_kl u_l - |C_kl|².
        """
        solved, p = _solved(self, variances), self.n_fixed
        point = _point(self, solved)
        plain, fixed, rest = _effects(self, solved)
        spread = np.linalg.cholesky(point.covariance)
        n_below = plain.reach.shape[1]
        within = plain._replace(
            reach=np.concatenate([plain.reach, (fixed[:n_below] @ spread).T]),
            cross=plain.cross - fixed @ point.covariance @ fixed[n_below:].T,
        )
        trace, norms = within.traces_and_norms()
        pulls = np.column_stack([rest - fixed @ point.estimates, fixed])
        # u_k' C_kl w_l for each pair of terms and of columns u, w, [term, term, u, w].
        split = (self.own[:, :, None] * pulls[:, None, :]).reshape(len(pulls), -1)
        shape = (self.n_terms, p + 1) * 2
        actions = (split.T @ within.times(split)).reshape(shape).transpose(0, 2, 1, 3)
        left = float(solved.products[p, p] - solved.products[:p, p] @ point.estimates)
        # Sums over the effects of each term of products of columns, [term, column, column].
        sums = np.einsum("qk,qi,qj->kij", self.own, pulls, pulls)
        gradient, norms = _with_residual(variances, trace, norms, self.n - p)
        squares, mixed = _with_residual(variances, sums[:, 0, 0], actions[:, :, 0, 0], left)
        inside = sums[:, 1:, 1:]
        # As X'P = 0, a row of leverages times the variances sums to 0.
        nothing = np.zeros_like(inside)
        _, leverage = _with_residual(variances, nothing, actions[:, :, 1:, 1:], np.zeros((p, p)))
        over = solved.products[:p, :p] - np.tensordot(variances[:-1], inside, 1)
        inside = np.concatenate([inside, over[None] / variances[-1]])
        return Slopes(
            point=point,
            gradient=gradient - squares,
            fisher=norms,
            hessian=2.0 * mixed - norms,
            covariance_slopes=point.covariance @ inside @ point.covariance,
            leverage=leverage,
        )


def tables_of(rows: ModelRows) -> RowTables:
    """Return the tables of the rows."""
    n, n_terms = len(rows.response), len(rows.sizes)
    groups = list(zip(rows.labels, rows.sizes, strict=True))
    within = np.array(
        [[parents(own, other, size) is not None for other in rows.labels] for own, size in groups],
        dtype=bool,
    ).reshape(n_terms, n_terms)
    inner = int(np.argmax(rows.sizes)) if n_terms else -1
    around = [k for k in range(n_terms) if k != inner and within[inner, k] and rows.sizes[k] > 1]
    outer = max(around, key=lambda k: rows.sizes[k], default=-1)
    core = [k for k in range(n_terms) if k not in (inner, outer)]
    fixed = [np.ones(n)] if rows.first is None else [np.ones(n), rows.first.astype(np.float64)]
    plain = scipy.sparse.csr_array(np.stack([*fixed, rows.response], axis=1))
    columns = scipy.sparse.hstack([*(_indicators(*groups[k]) for k in core), plain], format="csr")
    labels, size = groups[inner] if n_terms else (np.zeros(n, np.int64), 0)
    of_inner = _indicators(labels, size) if n_terms else scipy.sparse.csr_array((n, 0))
    parent = np.zeros(size, np.int64)
    if outer >= 0:
        parent[labels] = rows.labels[outer]
    nest = _indicators(parent, rows.sizes[outer] if outer >= 0 else 1).T.tocsr()
    alike = (nest.T @ nest).tocoo() if outer >= 0 else scipy.sparse.eye_array(size, format="coo")
    terms = [inner] * size + [outer] * nest.shape[0]
    terms += [k for k in core for _ in range(rows.sizes[k])]
    return RowTables(
        n=n,
        n_terms=n_terms,
        n_fixed=len(fixed),
        inner=inner,
        outer=outer,
        counts=np.bincount(labels, minlength=size)[:size].astype(np.float64),
        totals=(of_inner.T @ columns).toarray(),
        gram=(columns.T @ columns).toarray(),
        parent=parent,
        nest=nest,
        alike=np.stack([alike.row, alike.col]),
        own=(np.array(terms)[:, None] == np.arange(n_terms)).astype(np.float64),
        within=within,
        group_sizes=tuple(np.bincount(labels, minlength=size) for labels, size in groups),
    )


def parents(fine: np.ndarray, coarse: np.ndarray, size: int) -> np.ndarray | None:
    """Return the coarse group of each fine group, or None if one is in several."""
    parent = np.zeros(size, np.int64)
    parent[fine] = coarse
    return parent if np.array_equal(parent[fine], coarse) else None


def _indicators(labels: np.ndarray, size: int) -> scipy.sparse.csr_array:
    """Return Z of a term: a row for each label, with 1 in the column of its group."""
    n = len(labels)
    entries = (np.ones(n), labels, np.arange(n + 1))
    return scipy.sparse.csr_array(entries, shape=(n, size))


class _Solved(NamedTuple):
    """[X y]' V^-1 [X y], and intermediate results of the elimination for derivatives."""

    products: np.ndarray
    log_det: float
    weight: np.ndarray
    """n / (s + v_1 n) for each inner group of n rows."""
    total: np.ndarray
    """Sum A of the weights in each outer group."""
    shared: np.ndarray
    """v_2 / (1 + v_2 A) for each outer group."""
    met: np.ndarray
    """Z_1' V_1^-1 R, where V_1 is V without the core."""
    reduced: np.ndarray
    """R' V_1^-1 R."""
    root: np.ndarray
    """Square roots of the variances of the core's effects."""
    lower: np.ndarray
    """L, with L L' = I + root Z_C' V_1^-1 Z_C root."""
    lever: np.ndarray
    """L^-1 root Z_C' V_1^-1 R."""


def _solved(tables: RowTables, variances: np.ndarray) -> _Solved:
    residual, c = variances[-1], len(tables.gram) - tables.n_fixed - 1
    own, around = np.append(variances[:-1], 0.0)[[tables.inner, tables.outer]]
    scale = residual + own * tables.counts
    weight = tables.counts / scale
    total = tables.nest @ weight
    shared = around / (1.0 + around * total)
    part = tables.totals / scale[:, None]
    by_outer = tables.nest @ part
    met = part - weight[:, None] * (shared[:, None] * by_outer)[tables.parent]
    reduced = (tables.gram - tables.totals.T @ (own * part)) / residual
    reduced -= by_outer.T @ (shared[:, None] * by_outer)
    root = np.sqrt(tables.own[len(tables.own) - c :] @ variances[:-1])
    lower = np.linalg.cholesky(np.eye(c) + np.outer(root, root) * reduced[:c, :c])
    lever = _forward(lower, root[:, None] * reduced[:c])
    products = reduced[c:, c:] - lever[:, c:].T @ lever[:, c:]
    log_det = tables.n * np.log(residual) + np.log(scale / residual).sum()
    log_det += np.log1p(around * total).sum() + 2.0 * np.log(np.diag(lower)).sum()
    return _Solved(
        products, float(log_det), weight, total, shared, met, reduced, root, lower, lever
    )


def _forward(lower: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return L^-1 right; SciPy does not accept an empty L."""
    if not right.size:
        return right
    return np.asarray(solve_triangular(lower, right, lower=True, check_finite=False))


def _point(tables: RowTables, solved: _Solved) -> Point:
    p = tables.n_fixed
    information, cross = solved.products[:p, :p], solved.products[:p, p]
    covariance = np.linalg.inv(information)
    estimates = covariance @ cross
    value = solved.log_det + float(solved.products[p, p] - cross @ estimates)
    value += (tables.n - p) * float(np.log(2.0 * np.pi))
    value += float(np.linalg.slogdet(information)[1])
    return Point(value=value, estimates=estimates, covariance=covariance)


class _Effects(NamedTuple):
    """C = Z'V^-1Z or Z'PZ, for inner and outer effects as S - U'U, which is not computed."""

    sparse: scipy.sparse.coo_array
    """S, which is 0 between different outer groups."""
    reach: np.ndarray
    """U, [row, inner or outer effect]."""
    cross: np.ndarray  # [effect, effect of the core]
    own: np.ndarray  # [effect, term]

    def traces_and_norms(self) -> tuple[np.ndarray, np.ndarray]:
        """Return tr C_kk of each term, and |C_kl|² of each two."""
        n_below = self.reach.shape[1]
        below, core, square = self.own[:n_below], self.own[n_below:], self.cross**2
        mixed = below.T @ square[:n_below] @ core
        norms = core.T @ square[n_below:] @ core + mixed + mixed.T
        i, j, value = self.sparse.row, self.sparse.col, self.sparse.data
        met = np.einsum("ui,ui->i", self.reach[:, i], self.reach[:, j])
        entries = scipy.sparse.coo_array((value * (value - 2.0 * met), (i, j)), self.sparse.shape)
        norms += below.T @ (entries @ below)
        grams = [(self.reach * who) @ self.reach.T for who in below.T]
        norms += np.array([[(a * b).sum() for a in grams] for b in grams]).reshape(norms.shape)
        diagonal = self.sparse.diagonal() - (self.reach**2).sum(axis=0)
        return below.T @ diagonal + core.T @ np.diag(self.cross[n_below:]), norms

    def times(self, columns: np.ndarray) -> np.ndarray:
        """Return C times columns [effect, column]."""
        n_below = self.reach.shape[1]
        below, core = columns[:n_below], columns[n_below:]
        products = np.asarray(self.cross @ core)
        products[:n_below] += self.sparse @ below - self.reach.T @ (self.reach @ below)
        products[n_below:] += self.cross[:n_below].T @ below
        return products


def _effects(tables: RowTables, at: _Solved) -> tuple[_Effects, np.ndarray, np.ndarray]:
    """Return Z' V^-1 Z, Z' V^-1 X and Z' V^-1 y."""
    (i, j), parent, weight, total = tables.alike, tables.parent, at.weight, at.total
    c, n_inner, n_below = len(at.root), len(weight), len(weight) + len(total)
    reach = _forward(at.lower, at.root[:, None] * at.met[:, :c].T).reshape(c, n_inner)
    above = at.met - reach.T @ at.lever
    core = at.reduced[:c] - at.lever[:, :c].T @ at.lever
    rows = np.concatenate([above, tables.nest @ above, core])
    alone = np.where(i == j, weight[i], 0.0) - weight[i] * (at.shared[parent] * weight)[j]
    # 1 / (1 + v_2 A): the factor of a weight given the outer group's effect.
    left = 1.0 - at.shared * total
    inner, outer, both = np.arange(n_inner), n_inner + parent, weight * left[parent]
    each = np.arange(n_inner, n_below)
    values = np.concatenate([alone, both, both, total * left])
    places = np.concatenate([i, inner, outer, each]), np.concatenate([j, outer, inner, each])
    sparse = scipy.sparse.coo_array((values, places), shape=(n_below, n_below))
    reach = np.concatenate([reach, reach @ tables.nest.T], axis=1)
    return _Effects(sparse, reach, rows[:, :c], tables.own), rows[:, c:-1], rows[:, -1]


def _with_residual(
    variances: np.ndarray, single: np.ndarray, pair: np.ndarray, total: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Append the residual's entries, which follow from P V P = P and V = sum of v_k V_k."""
    v, residual = variances[:-1], variances[-1]
    last = (total - np.tensordot(v, single, 1)) / residual
    right = (single - np.einsum("kl...,l->k...", pair, v)) / residual
    below = (single - np.einsum("kl...,k->l...", pair, v)) / residual
    corner = (last - np.tensordot(v, right, 1)) / residual
    upper = np.concatenate([pair, right[:, None]], axis=1)
    lower = np.concatenate([below, np.asarray(corner)[None]])
    return np.append(single, last[None], 0), np.append(upper, lower[None], 0)
