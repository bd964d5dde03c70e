"""The restricted likelihood of graded answers with missing scores, for large layouts.

Cells, of one system on one topic, share effects only through their topic and their system, and
these effects are vectors with one entry per judge. Effects are eliminated in three steps: those
within a cell, with one small matrix for all cells with the same missing scores; the vectors of each
topic; and the vectors of all systems together. First derivatives are exact; second ones are the
average information, y'P V_k P V_l P y (Gilmour, Thompson & Cullis 1995, doi:10.2307/2533274).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from steadyrank.stats.mixed.search import Point, Slopes

SUMMED = {"topic": 0, "topic:judge": 0, "system": 1, "system:judge": 1, "judge": (0, 1)}
"""Terms that cells share, and the axes of cells [system, topic] over which their groups extend."""


class FacetLikelihood:
    """Likelihood of centred scores [system, topic, answer, judge, draw], NaN where missing.

    `terms` are in the order of the variances, the residual last.
    """

    saturable = False  # the terms are identified by the layout

    def __init__(self, values: np.ndarray, terms: tuple[str, ...]) -> None:
        flat = values.reshape(*values.shape[:2], -1)
        there = ~np.isnan(flat)
        self.terms, self.n_terms, self.n = terms, len(terms) - 1, int(there.sum())
        self.values = np.nan_to_num(flat)
        # Patterns of present scores [pattern, place], and the pattern of each cell.
        self.present, pattern = np.unique(
            there.reshape(-1, flat.shape[2]), axis=0, return_inverse=True
        )
        self.pattern = pattern.reshape(flat.shape[:2])
        answer, judge, draw = (index.ravel() for index in np.indices(values.shape[2:]))
        alike = {
            key: own[:, None] == own for key, own in zip("ajd", (answer, judge, draw), strict=True)
        }
        groups = {
            "system:topic": np.ones_like(alike["a"]),
            "answer": alike["a"],
            "system:topic:judge": alike["j"],
            "answer:judge": alike["a"] & alike["j"],
            "residual": alike["a"] & alike["j"] & alike["d"],
        }
        # For each term within cells, [place, place]: whether two scores are in the same group.
        self.same = {name: groups[name].astype(float) for name in terms if name in groups}
        self.judge = (judge[:, None] == np.arange(values.shape[3])).astype(float)

    def point(self, variances: np.ndarray) -> Point:
        """Return the deviance and the mean at these variances."""
        return _Eliminated(self, variances).point()

    def slopes(self, variances: np.ndarray) -> Slopes:
        """Return deviance, mean and derivatives; both second ones are average information."""
        at = _Eliminated(self, variances)
        pulled = at.projected(self.values[None])[0]
        moved = np.stack([self._spread(term, pulled) for term in self.terms])
        squares = np.array([float((pulled * each).sum()) for each in moved])
        k = len(moved)
        information = moved.reshape(k, -1) @ at.projected(moved).reshape(k, -1).T
        return Slopes(
            point=at.point(),
            gradient=at.traces() - squares,
            fisher=information,
            hessian=information,
            covariance_slopes=np.zeros((k, 1, 1)),
            leverage=np.zeros((k, k, 1, 1)),
        )

    def _spread(self, term: str, rows: np.ndarray) -> np.ndarray:
        """Return V_k times rows [system, topic, place]: the sum over each row's group."""
        there = self.present[self.pattern]
        if term in self.same:
            return np.asarray((rows @ self.same[term]) * there)
        by_judge = rows @ self.judge
        total = by_judge.sum(axis=SUMMED[term], keepdims=True)
        if term in ("topic", "system"):
            total = np.broadcast_to(total.sum(axis=-1, keepdims=True), total.shape)
        return np.asarray((np.broadcast_to(total, by_judge.shape) @ self.judge.T) * there)


class _Eliminated:
    """The elimination of effects at given variances: within cells, then topics, then systems.

    `inverse` [pattern, place, place] is the inverse covariance within a cell, 0 for missing scores;
    `reach` [pattern, judge, place] are its sums over the scores of each judge, and `cells`
    [topic, system, judge, judge] the sums on both sides. `by_topic` is the covariance of a topic's
    vector given those of the systems, and `by_system` that of the systems' given the mean; `system`
    is the information about the systems' vectors with topics eliminated.
    """

    def __init__(self, own: FacetLikelihood, variances: np.ndarray) -> None:
        self.own = own
        v = dict(zip(own.terms, variances.tolist(), strict=True))
        there = own.present[:, :, None] & own.present[:, None, :]
        covariance = sum(v[term] * same for term, same in own.same.items())
        whole = np.where(there, covariance, np.eye(there.shape[-1]))
        self.inverse = np.where(there, np.linalg.inv(whole), 0.0)
        self.reach = own.judge.T @ self.inverse
        self.counts = np.bincount(own.pattern.ravel(), minlength=len(own.present))
        self.log_det = float(self.counts @ np.linalg.slogdet(whole)[1])
        self.cells = (self.reach @ own.judge)[own.pattern.T]
        n, s, j, _ = self.cells.shape
        root = _root({"": v.get("topic:judge", 0.0), "j": v.get("topic", 0.0)}, 1, j)
        self.by_topic = self._eliminate(root, self.cells.sum(axis=1))
        self.stacked = self.cells.reshape(n, s * j, j)
        # One product over all topics at once: [system × judge, topic × judge].
        left, right = (
            each.transpose(1, 0, 2).reshape(s * j, -1)
            for each in (self.stacked @ self.by_topic, self.stacked)
        )
        self.system = -left @ right.T
        each = np.arange(s)
        self.system.reshape(s, j, s, j)[each, :, each, :] += self.cells.sum(axis=0)
        shared = {"": "system:judge", "j": "system", "s": "judge"}
        root = _root({axis: v.get(name, 0.0) for axis, name in shared.items()}, s, j)
        self.by_system = self._eliminate(root, self.system)
        # The mean shifts all systems' vectors; `follow` is the part that they absorb.
        self.ones = self.system.sum(axis=1)
        self.follow = self.by_system @ self.ones
        self.weight = float(self.ones.sum() - self.ones @ self.follow)

    def _eliminate(self, root: np.ndarray, information: np.ndarray) -> np.ndarray:
        """Return (G^-1 + information)^-1 for G = root root', maybe singular; update log |V|."""
        inner = np.eye(root.shape[-1]) + root @ information @ root
        self.log_det += float(np.linalg.slogdet(inner)[1].sum())
        return np.asarray(root @ np.linalg.solve(inner, np.broadcast_to(root, inner.shape)))

    def point(self) -> Point:
        """Return the deviance, and the mean by generalised least squares."""
        y = self.own.values
        squares = float((y * self.projected(y[None])[0]).sum())
        value = self.log_det + float(np.log(self.weight)) + squares
        value += (self.own.n - 1) * float(np.log(2.0 * np.pi))
        covariance = np.array([[1.0 / self.weight]])
        return Point(value=value, estimates=self._shared(y[None])[1], covariance=covariance)

    def _shared(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return effects of topics and systems [column, topic, system, judge]; means of columns."""
        by_cell = self.reach[self.own.pattern]
        pulls = np.einsum("stjm,kstm->ktsj", by_cell, rows, optimize=True)
        k, _, s, j = pulls.shape
        topic = pulls.sum(axis=2)
        via = np.einsum("tij,ktj->kti", self.by_topic, topic)
        system = pulls.sum(axis=1).reshape(k, -1) - np.einsum("tij,ktj->ki", self.stacked, via)
        inside = system @ self.by_system
        means = (system.sum(axis=1) - inside @ self.ones) / self.weight
        effects = inside + means[:, None] * (1.0 - self.follow)
        left = topic - np.einsum("tij,ki->ktj", self.stacked, effects)
        own = np.einsum("tij,ktj->kti", self.by_topic, left)
        return own[:, :, None, :] + effects.reshape(k, 1, s, j), means

    def projected(self, rows: np.ndarray) -> np.ndarray:
        """Return P times columns [column, system, topic, place]."""
        pattern, shared = self.own.pattern, self._shared(rows)[0]
        own = np.einsum("stmq,kstq->kstm", self.inverse[pattern], rows, optimize=True)
        taken = np.einsum("stjm,ktsj->kstm", self.reach[pattern], shared, optimize=True)
        return np.asarray(own - taken)

    def traces(self) -> np.ndarray:
        """Return the trace of P V_k of each term, from Z'PZ of cells, topics and systems."""
        own = self.own
        n, s, j, _ = self.cells.shape
        off = 1.0 - self.follow
        spread = self.by_system + np.outer(off, off) / self.weight
        # Covariances of each topic's sum over systems with the systems' vectors, and its variance.
        met = np.einsum("tij,ik->tjk", self.stacked, spread, optimize=True)
        sums = met @ self.stacked
        each = np.arange(s)
        cross = (self.by_topic @ met).reshape(n, j, s, j).transpose(0, 2, 1, 3)
        of_topic = self.by_topic + self.by_topic @ sums @ self.by_topic
        shared = of_topic[:, None] + spread.reshape(s, j, s, j)[each, :, each, :]
        shared = (shared - cross - cross.swapaxes(-1, -2)).swapaxes(0, 1)
        by_pattern = np.zeros((len(own.present), j, j))
        np.add.at(by_pattern, own.pattern.ravel(), shared.reshape(-1, j, j))
        total = self.cells.sum(axis=1)
        left = np.eye(j) - total @ self.by_topic
        topic = left @ total - left @ sums @ left.swapaxes(-1, -2)
        system = self.system - self.system @ spread @ self.system
        blocks = system.reshape(s, j, s, j)
        found = {
            "topic": topic.sum(),
            "topic:judge": np.trace(topic, axis1=-2, axis2=-1).sum(),
            "system": np.einsum("sasb->", blocks),
            "system:judge": np.trace(system),
            "judge": np.einsum("saqa->", blocks),
        }
        for term, same in own.same.items():
            reached = self.reach @ same @ self.reach.swapaxes(-1, -2)
            alone = self.counts @ np.einsum("pij,ji->p", self.inverse, same)
            found[term] = alone - (reached * by_pattern).sum()
        return np.array([float(found[term]) for term in own.terms])


def _root(v: Mapping[str, float], n_systems: int, n_judges: int) -> np.ndarray:
    """Return the symmetric root of v[""] I + v["j"] (same system) + v["s"] (same judge)."""
    mean_s, mean_j = (np.full((size, size), 1.0 / size) for size in (n_systems, n_judges))
    by_judge, by_system = n_judges * v["j"], n_systems * v.get("s", 0.0)
    parts = (
        (np.eye(n_systems) - mean_s, np.eye(n_judges) - mean_j, v[""]),
        (np.eye(n_systems) - mean_s, mean_j, v[""] + by_judge),
        (mean_s, np.eye(n_judges) - mean_j, v[""] + by_system),
        (mean_s, mean_j, v[""] + by_judge + by_system),
    )
    return np.asarray(sum(np.sqrt(value) * np.kron(left, right) for left, right, value in parts))
