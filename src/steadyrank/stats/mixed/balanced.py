"""The likelihood of a linear mixed model on a balanced layout, a function of a few mean squares.

If all groupings are even and orthogonal, as with every instance on every topic, the covariance of
the rows has one eigenvalue for each stratum of the layout, a known sum of variances (Nelder 1965,
doi:10.1098/rspa.1965.0012), which the stratum's mean square estimates. REML then has a closed form,
and the cost of an evaluation is proportional to the number of strata.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.stats.mixed.general import ModelRows, parents
from steadyrank.stats.mixed.search import Optimum, Point, Slopes, maximise

LARGEST_TABLE = 64
"""Largest number of cells per row in a table of two terms; balanced layouts need fewer."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LayoutStrata:
    """Sums of squares of the layout's strata, and the coefficients of variances in expectations.

    The eigenvalue of a stratum is `loads` times the variances, residual last. Fixed effects have
    separate strata, whose eigenvalues times `fixed_shapes` add up to the estimates' covariance.
    """

    n: int
    squares: np.ndarray
    df: np.ndarray
    loads: np.ndarray  # [stratum, variance]
    estimates: np.ndarray
    fixed_loads: np.ndarray  # [fixed effect, variance]
    fixed_shapes: np.ndarray  # [fixed effect, coefficient, coefficient]
    log_det: float
    """log |X'X|."""

    @property
    def n_terms(self) -> int:
        """Number of random terms."""
        return int(self.loads.shape[1]) - 1

    @property
    def saturable(self) -> bool:
        """Always false: a term in the last stratum is confounded with the residual."""
        return False

    def point(self, variances: np.ndarray) -> Point:
        """Return deviance and estimates at these variances."""
        spread, fixed = self.loads @ variances, self.fixed_loads @ variances
        value = float(self.df @ np.log(spread) + (self.squares / spread).sum()) + self.log_det
        value += (self.n - len(fixed)) * float(np.log(2.0 * np.pi))
        covariance = np.tensordot(fixed, self.fixed_shapes, 1)
        return Point(value=value, estimates=self.estimates, covariance=covariance)

    def slopes(self, variances: np.ndarray) -> Slopes:
        """Return deviance and estimates with first and second derivatives."""
        loads = self.loads
        spread = loads @ variances
        known, observed = self.df / spread**2, self.squares / spread**3
        return Slopes(
            point=self.point(variances),
            gradient=loads.T @ (known * spread - observed * spread),
            fisher=(loads.T * known) @ loads,
            hessian=(loads.T * (2.0 * observed - known)) @ loads,
            covariance_slopes=np.tensordot(self.fixed_loads.T, self.fixed_shapes, 1),
            # Each fixed effect is in one stratum, from which P removes it.
            leverage=np.zeros((*2 * loads.shape[1:], *self.fixed_shapes.shape[1:])),
        )


def strata_of(rows: ModelRows, negligible: float) -> LayoutStrata | None:
    """Return the strata of labelled rows, or None if the layout is not balanced.

    Mean squares of at most `negligible`² count as 0.
    """
    lattice = _Lattice(len(rows.response))
    lattice.add(np.zeros(len(rows.response), np.int64), 1)
    if rows.first is not None:
        # The first system's rows are group 0, as on the axis of an array.
        lattice.add(1 - rows.first.astype(np.int64), 2)
    terms = [lattice.add(*term) for term in zip(rows.labels, rows.sizes, strict=True)]
    if not lattice.balanced:
        return None
    rest, effects = rows.response, [np.empty(0)] * len(lattice.sizes)
    for part in np.argsort(lattice.sizes, kind="stable").tolist():
        labels, size = lattice.labels[part], lattice.sizes[part]
        effects[part] = np.bincount(labels, rest, minlength=size) * (size / len(rest))
        rest = rest - effects[part][labels]
    n, sizes, coarser = len(rest), lattice.sizes, lattice.coarser()
    fixed = None if rows.first is None else 1
    df = np.zeros(len(sizes), np.int64)
    for part in np.argsort(sizes, kind="stable").tolist():
        df[part] = sizes[part] - df[coarser[part]].sum()
    squares = np.array([n / len(effect) * float(effect @ effect) for effect in effects])
    loads = np.ones((len(sizes), len(terms) + 1))
    for column, term in enumerate(terms):
        loads[:, column] = np.where(coarser[term], n / sizes[term], 0.0)
    known = [0] if fixed is None else [0, fixed]
    mine = np.setdiff1d(np.flatnonzero(df > 0), known)
    squares = np.append(squares[mine], float((rest * rest).sum()))
    loads_with_rest = np.vstack([loads[mine], np.append(np.zeros(len(terms)), 1.0)])
    dfs = np.append(df[mine], n - df.sum()).astype(np.float64)
    squares[squares <= negligible**2 * dfs] = 0.0
    real = dfs > 0
    estimates, shapes, log_det = _fixed_effects(
        n, effects[0], None if fixed is None else effects[fixed]
    )
    return LayoutStrata(
        n=n,
        squares=squares[real],
        df=dfs[real],
        loads=loads_with_rest[real],
        estimates=estimates,
        fixed_loads=loads[known],
        fixed_shapes=shapes,
        log_det=log_det,
    )


def best_of_strata(strata: LayoutStrata, free: np.ndarray) -> Optimum:
    """Return the REML estimates in closed form: eigenvalues are mean squares.

    If a component would be negative, a search finds the components that remain positive, and strata
    whose eigenvalues then agree are pooled.
    """
    exact = _pooled(strata, free)
    if exact is not None and (exact.variances[free[:-1]] > 0.0).all():
        return exact
    optimum = maximise(strata, free)
    exact = _pooled(strata, np.flatnonzero(optimum.variances > 0.0))
    if exact is None or (exact.variances < 0.0).any():
        return optimum
    return exact


def _pooled(strata: LayoutStrata, inside: np.ndarray) -> Optimum | None:
    """Return the stationary point with these components, if as many eigenvalues differ."""
    loads, group = np.unique(strata.loads[:, inside], axis=0, return_inverse=True)
    if len(loads) != len(inside) or np.linalg.matrix_rank(loads) < len(inside):
        return None
    group = group.reshape(-1)
    df = np.bincount(group, strata.df)
    mean_squares = np.bincount(group, strata.squares) / df
    back = np.linalg.inv(loads)
    variances = np.zeros(strata.loads.shape[1])
    variances[inside] = back @ mean_squares
    variances[-1] = max(variances[-1], 0.0)
    uncertainty = np.full((len(variances), len(variances)), np.nan)
    uncertainty[np.ix_(inside, inside)] = (back * (2.0 * mean_squares**2 / df)) @ back.T
    covariance = np.tensordot(strata.fixed_loads @ variances, strata.fixed_shapes, 1)
    bounded = bool((strata.loads @ variances > 0.0).all())
    return Optimum(
        variances=variances,
        uncertainty=uncertainty,
        value=strata.point(variances).value if bounded else -np.inf,
        bounded=bounded,
        estimates=strata.estimates,
        covariance=covariance,
        covariance_slopes=np.tensordot(strata.fixed_loads.T, strata.fixed_shapes, 1),
        converged=True,
    )


def _fixed_effects(
    n: int, mean: np.ndarray, contrast: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return estimates, shapes of their covariance and log |X'X| from the effects of two strata.

    The grand mean m has variance eigenvalue / n, the difference d has 4 eigenvalue / n of the other
    stratum, and the second system's mean is m - d / 2.
    """
    if contrast is None:
        return mean, np.full((1, 1, 1), 1.0 / n), float(np.log(n))
    difference = contrast[0] - contrast[1]
    shapes = np.array([[[1.0, 0.0], [0.0, 0.0]], [[1.0, -2.0], [-2.0, 4.0]]]) / n
    estimates = np.array([mean[0] - difference / 2.0, difference])
    return estimates, shapes, float(2.0 * np.log(n / 2.0))


def _refines(fine: tuple[np.ndarray, int], coarse: tuple[np.ndarray, int]) -> bool:
    """Return whether each group of a grouping (labels, size) is contained in one of another."""
    (inner, n_inner), (outer, n_outer) = fine, coarse
    return n_outer == 1 or (n_inner % n_outer == 0 and parents(inner, outer, n_inner) is not None)


class _Lattice:
    """Groupings of the rows, with the finest common coarsening of any two.

    It is `balanced` as long as every grouping is even and any two are orthogonal.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.labels: list[np.ndarray] = []
        self.sizes: list[int] = []
        self.balanced = True
        self._order: list[list[bool]] = []

    def coarser(self) -> np.ndarray:
        """Return [a, b]: whether each group of a is contained in one of b."""
        return np.array(self._order)

    def add(self, labels: np.ndarray, size: int) -> int:
        """Return the index of this grouping, which is added unless there is an equal one."""
        if not self.balanced or not self._is_even(labels, size):
            self.balanced = False
            return -1
        groupings = list(zip(self.labels, self.sizes, strict=True))
        below = [_refines((labels, size), other) for other in groupings]
        above = [_refines(other, (labels, size)) for other in groupings]
        for k, same in enumerate(zip(below, above, strict=True)):
            if all(same):
                return k
        mine = len(self.sizes)
        self.labels.append(labels)
        self.sizes.append(size)
        for row, held in zip(self._order, above, strict=True):
            row.append(held)
        self._order.append([*below, True])
        for k in range(mine):
            if self.balanced and not below[k] and not above[k]:
                self._add_join(k, mine)
        return mine

    def _is_even(self, labels: np.ndarray, size: int) -> bool:
        if self.n % size:
            return False
        return bool((np.bincount(labels, minlength=size) == self.n // size).all())

    def _add_join(self, a: int, b: int) -> None:
        """Add the common coarsening of two groupings; not `balanced` if they are not orthogonal."""
        shape = (self.sizes[a], self.sizes[b])
        if shape[0] * shape[1] > LARGEST_TABLE * self.n:
            self.balanced = False
            return
        cells = np.bincount(
            self.labels[a] * shape[1] + self.labels[b], minlength=shape[0] * shape[1]
        )
        table = cells.reshape(shape)
        met = table > 0
        heads, example, join = np.unique(met.argmax(axis=1), return_index=True, return_inverse=True)
        one_count = table[met].min() == table.max()
        self.balanced = bool(one_count and np.array_equal(met, met[example][join]))
        if self.balanced:
            self.add(join[self.labels[a]], len(heads))
