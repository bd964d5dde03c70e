"""The likelihood of a linear mixed model on any layout, balanced or not.

For anyone who has missing cells or unequal numbers of instances. The rows are summed once into
tables of counts and totals; after that the cost of an evaluation does not depend on their number.
Effects that meet only within a block, as a topic and its cells, are eliminated block by block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from steadyrank.stats.mixed.search import Point, Slopes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """One entry a row: response, compact group labels of each random term, and the contrast."""

    response: np.ndarray
    labels: tuple[np.ndarray, ...]
    """For each term a label from 0 to its size - 1."""
    sizes: tuple[int, ...]
    first: np.ndarray | None
    """Whether the row belongs to the first of two systems; None without a contrast."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tables:
    """Counts and totals of the rows: all that the likelihood depends on.

    The random effects Z fall into two parts. Those of the blocks, Z_A, occur together only within
    a block; the others, Z_C, are the core. The columns R of a table are the core's effects, the
    fixed effects X and the response y.
    """

    n: int
    n_terms: int
    n_fixed: int
    counts: np.ndarray
    """Z_A'Z_A, [block, slot, slot]; a slot belongs to one term, and may be empty in a block."""
    totals: np.ndarray
    """Z_A'R, [block, slot, column]."""
    gram: np.ndarray
    """R'R, [column, column]."""
    slot_term: np.ndarray
    core_term: np.ndarray
    within: np.ndarray
    """[term, other]: whether each group of a term lies within one of the other."""
    group_sizes: tuple[np.ndarray, ...]
    """Rows of each group, term by term."""

    @property
    def saturable(self) -> bool:
        """Whether there are as many effects as rows, or more."""
        return sum(map(len, self.group_sizes)) + self.n_fixed >= self.n

    def point(self, variances: np.ndarray, reml: bool) -> Point:
        """Deviance and estimates at these variances."""
        reduced = _without_blocks(self, variances)
        return _point(self, _without_core(self, reduced, whole=False), reml)

    def slopes(self, variances: np.ndarray, reml: bool) -> Slopes:
        """The same with first and second derivatives.

        With C = Z'PZ: d/dv_k = tr C_kk - |u_k|², u = Z'Py, and for REML
        d²/dv_k dv_l = 2 u_k'C_kl u_l - |C_kl|²; ML has V^-1 for P in trace and norm.
        """
        reduced = _without_blocks(self, variances)
        solved = _without_core(self, reduced, whole=True)
        point = _point(self, solved, reml)
        p = self.n_fixed
        plain = _effects(self, reduced, solved)
        within = _projected(plain, point.covariance)
        trace, norms = _traces(self, within if reml else plain)
        residual = plain.fixed @ np.append(-point.estimates, 1.0)
        pulls = np.concatenate([residual[:, None], plain.fixed[:, :p]], axis=1)
        actions = _actions(self, within, pulls)
        squares = np.array([part @ part for part in _by_term(self, residual)])
        mixed, leverage = actions[:, :, 0, 0], actions[:, :, 1:, 1:]
        rest = float(solved.products[p, p] - solved.products[:p, p] @ point.estimates)
        trace, norms = _with_residual(variances, trace, norms, self.n - p * reml)
        squares, mixed = _with_residual(variances, squares, mixed, rest)
        own = [part.T @ part for part in _by_term(self, plain.fixed[:, :p])]
        left = solved.products[:p, :p] - sum(
            v * product for v, product in zip(variances, own, strict=False)
        )
        inside = np.stack([*own, left / variances[-1]])
        return Slopes(
            point=point,
            gradient=trace - squares,
            fisher=norms,
            hessian=2.0 * mixed - norms,
            covariance_slopes=point.covariance @ inside @ point.covariance,
            leverage=_leverage_with_residual(variances, leverage),
        )


def tables_of(rows: Rows) -> Tables:
    """Sum the rows into tables, with the blocks that make later evaluations cheapest."""
    holders: Holders = [
        [parents(labels, other, size) for other in rows.labels]
        for labels, size in zip(rows.labels, rows.sizes, strict=True)
    ]
    members = _cheapest_blocks(rows, holders)
    core = [k for k in range(len(rows.sizes)) if k not in members]
    fixed = [np.ones(len(rows.response))]
    if rows.first is not None:
        fixed.append(rows.first.astype(np.float64))
    columns = np.stack([*fixed, rows.response])
    starts = np.cumsum([0, *(rows.sizes[k] for k in core)])
    spans = {k: slice(starts[i], starts[i + 1]) for i, k in enumerate(core)}
    counts, totals, slot_term = _block_tables(rows, (members, holders), spans, columns)
    return Tables(
        n=len(rows.response),
        n_terms=len(rows.sizes),
        n_fixed=len(fixed),
        counts=counts,
        totals=totals,
        gram=_core_gram(rows, spans, columns),
        slot_term=slot_term,
        core_term=np.repeat(np.array(core, np.int64), np.diff(starts)),
        within=np.array(
            [holder is not None for row in holders for holder in row], dtype=bool
        ).reshape(len(rows.sizes), len(rows.sizes)),
        group_sizes=tuple(
            np.bincount(labels, minlength=size)
            for labels, size in zip(rows.labels, rows.sizes, strict=True)
        ),
    )


def parents(fine: np.ndarray, coarse: np.ndarray, size: int) -> np.ndarray | None:
    """The coarse group that holds each fine group, or None where one reaches into several."""
    parent = np.zeros(size, np.int64)
    parent[fine] = coarse
    return parent if np.array_equal(parent[fine], coarse) else None


Holders = list[list[np.ndarray | None]]
"""[term][other]: the group of the other that holds each group of the term, if one does."""


def _cheapest_blocks(rows: Rows, holders: Holders) -> list[int]:
    """A term, alone or with the terms nested in it, such that elimination costs least."""
    best, members = np.inf, []
    for top, blocks in enumerate(rows.sizes):
        width, inside = 1, [top]
        for k in range(len(rows.sizes)):
            holder = holders[k][top] if k != top else None
            if holder is not None:
                width += int(np.bincount(holder).max())
                inside.append(k)
        for chosen, slots in (([top], 1), (inside, width)):
            core = float(sum(rows.sizes) - sum(rows.sizes[k] for k in chosen)) + 3.0
            cost = float(blocks) * slots * (slots**2 + core**2) + core**3
            if cost < best:
                best, members = cost, chosen
    return members


def _block_tables(
    rows: Rows, choice: tuple[list[int], Holders], spans: dict[int, slice], columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts, totals and the term of each slot; without random terms one empty slot."""
    members, holders = choice
    if not members:
        return np.zeros((1, 1, 1)), np.zeros((1, 1, len(columns))), np.array([-1])
    slots, slot_term = _slots(rows, members, holders)
    blocks, width = rows.sizes[members[0]], len(slot_term)
    c = max((span.stop for span in spans.values()), default=0)
    totals = np.zeros((blocks * width, c + len(columns)))
    counts = np.zeros(blocks * width * width)
    for k in members:
        label = slots[k][rows.labels[k]]
        totals[:, c:] += _sums(label, blocks * width, columns)
        for other, span in spans.items():
            totals[slots[k], span] = _table(rows, k, other)
        for other in members:
            beside = slots[other][rows.labels[other]] % width
            counts += np.bincount(label * width + beside, minlength=counts.size)
    shape = (blocks, width, -1)
    return counts.reshape(shape), totals.reshape(shape), slot_term


def _slots(
    rows: Rows, members: list[int], holders: Holders
) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """For each term the place, block * width + slot, of its groups, and the term of each slot."""
    inside: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    slot_term: list[int] = []
    for k in members:
        holder = holders[k][members[0]]
        if holder is None:
            raise ValueError("the terms of a block must be nested in its first")
        order = np.argsort(holder, kind="stable")
        within = np.bincount(holder, minlength=rows.sizes[members[0]])
        rank = np.empty(len(holder), np.int64)
        rank[order] = np.arange(len(holder)) - np.repeat(np.cumsum(within) - within, within)
        inside[k] = (holder, rank + len(slot_term))
        slot_term += [k] * int(within.max())
    width = len(slot_term)
    return {k: block * width + slot for k, (block, slot) in inside.items()}, np.array(slot_term)


def _core_gram(rows: Rows, spans: dict[int, slice], columns: np.ndarray) -> np.ndarray:
    c = max((span.stop for span in spans.values()), default=0)
    gram = np.zeros((c + len(columns), c + len(columns)))
    gram[c:, c:] = columns @ columns.T
    for k, span in spans.items():
        gram[span, c:] = _sums(rows.labels[k], rows.sizes[k], columns)
        gram[c:, span] = gram[span, c:].T
        for other, beside in spans.items():
            gram[span, beside] = _table(rows, k, other)
    return gram


def _table(rows: Rows, k: int, other: int) -> np.ndarray:
    """How many rows each group of one term shares with each of another."""
    shape = (rows.sizes[k], rows.sizes[other])
    cells = rows.labels[k] * shape[1] + rows.labels[other]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def _sums(labels: np.ndarray, size: int, columns: np.ndarray) -> np.ndarray:
    return np.stack([np.bincount(labels, column, minlength=size) for column in columns], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Reduced:
    """Products R' V_A^-1 R, where V_A = s_e² I + Z_A diag(v) Z_A' leaves out the core."""

    variances: np.ndarray
    half: np.ndarray
    """[block, slot, slot]: V_A^-1 = (I - Z_A half'half Z_A') / s_e²."""
    weighted: np.ndarray
    """half Z_A'R."""
    products: np.ndarray
    log_det: float


def _without_blocks(tables: Tables, variances: np.ndarray) -> _Reduced:
    residual = variances[-1]
    root = np.sqrt(np.append(variances[:-1], 0.0)[tables.slot_term] / residual)
    factor = np.eye(len(root)) + np.outer(root, root) * tables.counts
    lower = np.linalg.cholesky(factor)
    half = np.linalg.inv(lower) * root
    weighted = half @ tables.totals
    flat = weighted.reshape(-1, len(tables.gram))
    log_det = 2.0 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum()
    return _Reduced(
        variances=variances,
        half=half,
        weighted=weighted,
        products=(tables.gram - flat.T @ flat) / residual,
        log_det=float(log_det + tables.n * np.log(residual)),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Solved:
    """[X y]' V^-1 [X y] after the core: D = I + root Z_C' V_A^-1 Z_C root = L L'."""

    root: np.ndarray
    lower: np.ndarray
    lever: np.ndarray
    """L^-1 root Z_C' V_A^-1 R, for all columns R or for X and y alone."""
    products: np.ndarray
    log_det: float


def _without_core(tables: Tables, reduced: _Reduced, *, whole: bool) -> _Solved:
    c = len(tables.core_term)
    root = np.sqrt(reduced.variances[tables.core_term])
    dense = np.outer(root, root) * reduced.products[:c, :c]
    dense[np.diag_indices(c)] += 1.0
    lower = np.linalg.cholesky(dense)
    lever = _forward(lower, root[:, None] * reduced.products[:c, 0 if whole else c :])
    outer = lever[:, c * whole :]
    return _Solved(
        root=root,
        lower=lower,
        lever=lever,
        products=reduced.products[c:, c:] - outer.T @ outer,
        log_det=reduced.log_det + 2.0 * float(np.log(np.diag(lower)).sum()),
    )


def _forward(lower: np.ndarray, right: np.ndarray) -> np.ndarray:
    """L^-1 right; SciPy refuses an empty L."""
    if not right.size:
        return right
    return np.asarray(solve_triangular(lower, right, lower=True, check_finite=False))


def _point(tables: Tables, solved: _Solved, reml: bool) -> Point:
    p = tables.n_fixed
    information, cross = solved.products[:p, :p], solved.products[:p, p]
    covariance = np.linalg.inv(information)
    estimates = covariance @ cross
    value = solved.log_det + float(solved.products[p, p] - cross @ estimates)
    value += (tables.n - p * reml) * float(np.log(2.0 * np.pi))
    if reml:
        value += float(np.linalg.slogdet(information)[1])
    return Point(value=value, estimates=estimates, covariance=covariance)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Effects:
    """Z' V^-1 Z in parts; its block part is `blocks` - `reach` `reach`', never formed."""

    blocks: np.ndarray
    """[block, slot, slot]."""
    reach: np.ndarray
    """[block * slot, …]."""
    across: np.ndarray
    """[block * slot, core]."""
    dense: np.ndarray
    """[core, core]."""
    fixed: np.ndarray
    """Z' V^-1 [X y], the block part's rows first."""


def _effects(tables: Tables, reduced: _Reduced, solved: _Solved) -> _Effects:
    c, residual = len(tables.core_term), reduced.variances[-1]
    seen = reduced.half @ tables.counts
    own = (tables.counts - seen.transpose(0, 2, 1) @ seen) / residual
    met = (tables.totals - seen.transpose(0, 2, 1) @ reduced.weighted) / residual
    met = met.reshape(-1, len(tables.gram))
    reach = _forward(solved.lower, (met[:, :c] * solved.root).T).T
    above = met - reach @ solved.lever
    below = reduced.products[:c] - solved.lever[:, :c].T @ solved.lever
    return _Effects(
        blocks=own,
        reach=reach,
        across=above[:, :c],
        dense=below[:, :c],
        fixed=np.concatenate([above[:, c:], below[:, c:]]),
    )


def _projected(plain: _Effects, covariance: np.ndarray) -> _Effects:
    """Z'PZ from Z'V^-1Z: the part that the fixed effects take is removed."""
    shift = plain.fixed[:, :-1] @ np.linalg.cholesky(covariance)
    above, below = shift[: len(plain.reach)], shift[len(plain.reach) :]
    return _Effects(
        blocks=plain.blocks,
        reach=np.concatenate([plain.reach, above], axis=1),
        across=plain.across - above @ below.T,
        dense=plain.dense - below @ below.T,
        fixed=plain.fixed,
    )


def _traces(tables: Tables, effects: _Effects) -> tuple[np.ndarray, np.ndarray]:
    """Trace of each term's own part, and the squared norm of the part of each pair of terms."""
    terms = np.arange(tables.n_terms)[:, None]
    in_slot = (tables.slot_term == terms).astype(np.float64)
    in_core = (tables.core_term == terms).astype(np.float64)
    blocks, width = tables.counts.shape[:2]
    reach = effects.reach.reshape(blocks, width, -1)
    overlap = reach @ reach.transpose(0, 2, 1)
    diagonal = np.einsum("bii->i", effects.blocks - overlap)
    trace = in_slot @ diagonal + in_core @ np.diag(effects.dense)
    cells = (effects.blocks * (effects.blocks - 2.0 * overlap)).sum(axis=0)
    between = (effects.across**2).reshape(blocks, width, -1).sum(axis=0)
    beside = in_slot @ between @ in_core.T
    norms = in_slot @ cells @ in_slot.T + beside + beside.T
    norms += in_core @ effects.dense**2 @ in_core.T
    parts = [reach[:, tables.slot_term == k] for k in range(tables.n_terms)]
    grams = [np.tensordot(part, part, ((0, 1), (0, 1))) for part in parts]
    norms += np.array([[(a * b).sum() for b in grams] for a in grams]).reshape(norms.shape)
    return trace, norms


def _actions(tables: Tables, effects: _Effects, pulls: np.ndarray) -> np.ndarray:
    """u_k' C_kl w_l of each pair of terms and of columns u, w of `pulls`, [term, term, u, w]."""
    blocks, width = tables.counts.shape[:2]
    term = np.concatenate([np.tile(tables.slot_term, blocks), tables.core_term])
    own = term[:, None] == np.arange(tables.n_terms)
    split = (own[:, :, None] * pulls[:, None, :]).reshape(len(pulls), -1)
    above, below = split[: blocks * width], split[blocks * width :]
    moved = (effects.blocks @ above.reshape(blocks, width, -1)).reshape(above.shape)
    moved += effects.across @ below - effects.reach @ (effects.reach.T @ above)
    mixed = above.T @ moved + below.T @ (effects.across.T @ above + effects.dense @ below)
    shape = (tables.n_terms, pulls.shape[1])
    return np.asarray(mixed.reshape(*shape, *shape).transpose(0, 2, 1, 3))


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


def _by_term(tables: Tables, matrix: np.ndarray) -> list[np.ndarray]:
    """The rows of a matrix over all effects, term by term."""
    term = np.concatenate([np.tile(tables.slot_term, len(tables.counts)), tables.core_term])
    return [matrix[term == k] for k in range(tables.n_terms)]
