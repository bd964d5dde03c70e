"""The restricted likelihood of graded answers with gaps, at a cost that large layouts can bear.

Scores of a cell, one system on one topic, are at most answers × judges × draws; cells share effects
through their topic and their system alone, and these are vectors with one entry per judge. So the
effects are eliminated in three steps: of the scores within a cell, of which cells with the same
gaps share one small matrix; of the judges' vectors of each topic; and of those of the systems
together, the only matrix that grows. Nothing of the size of the rows squared is ever made.

Derivatives are exact, and the second ones those of average information, y'P V_k P V_l P y, the mean
of the observed and the expected (Gilmour, Thompson & Cullis 1995, doi:10.2307/2533274).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from steadyrank.stats.mixed.search import Point, Slopes

CELL = ("system:topic", "answer", "system:topic:judge", "answer:judge")
"""Terms whose groups lie within one cell; the residual is another."""
TOPIC = ("topic", "topic:judge")
SYSTEM = ("system", "judge", "system:judge")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FacetLikelihood:
    """Scores [system, topic, place in the cell], centred, 0 where missing."""

    terms: tuple[str, ...]
    """In the order of the variances, the residual's last."""
    values: np.ndarray
    pattern: np.ndarray
    """[system, topic]: which of the patterns of present scores a cell has."""
    present: np.ndarray
    """[pattern, place]."""
    same: Mapping[str, np.ndarray]
    """Of each term within cells, [place, place]: whether two scores share a group of it."""
    judge: np.ndarray
    """[place, judge]: whether a score is the judge's."""
    n: int

    @property
    def n_terms(self) -> int:
        """Random terms; there is one more variance, the residual's."""
        return len(self.terms) - 1

    @property
    def saturable(self) -> bool:
        """Never: terms that the layout does not identify are not among these."""
        return False

    def point(self, variances: np.ndarray, reml: bool) -> Point:
        """Deviance and the mean at these variances."""
        return self._point(_Eliminated.of(self, variances))

    def _point(self, at: _Eliminated) -> Point:
        value = at.log_det + float(np.log(at.weight)) + at.squares
        value += (self.n - 1) * float(np.log(2.0 * np.pi))
        covariance = np.array([[1.0 / at.weight]])
        return Point(value=value, estimates=np.array([at.mean]), covariance=covariance)

    def slopes(self, variances: np.ndarray, reml: bool) -> Slopes:
        """The same with derivatives; both second ones are average information."""
        at = _Eliminated.of(self, variances)
        pulled = at.projected(self.values[None])[0]
        moved = np.stack([self._spread(term, pulled) for term in self.terms])
        squares = np.array([float((pulled * each).sum()) for each in moved])
        traces = self._traces(at)
        again = at.projected(moved)
        flat = moved.reshape(len(moved), -1)
        information = flat @ again.reshape(len(again), -1).T
        k = len(self.terms)
        return Slopes(
            point=self._point(at),
            gradient=traces - squares,
            fisher=information,
            hessian=information,
            covariance_slopes=np.zeros((k, 1, 1)),
            leverage=np.zeros((k, k, 1, 1)),
        )

    def _spread(self, term: str, rows: np.ndarray) -> np.ndarray:
        """V_k times rows [system, topic, place]: every row becomes the sum over its group."""
        there = self.present[self.pattern]
        if term in self.same:
            return np.asarray((rows @ self.same[term]) * there)
        by_judge = rows @ self.judge
        axis = {"topic": 0, "topic:judge": 0, "system": 1, "system:judge": 1, "judge": (0, 1)}[term]
        total = by_judge.sum(axis=axis, keepdims=True)
        if term in ("topic", "system"):
            total = np.broadcast_to(total.sum(axis=-1, keepdims=True), total.shape)
        return np.asarray((np.broadcast_to(total, by_judge.shape) @ self.judge.T) * there)

    def _traces(self, at: _Eliminated) -> np.ndarray:
        """The trace of P V_k of each term."""
        traces = dict.fromkeys(self.terms, 0.0)
        # [pattern, judge, judge]: the uncertainty of what cells share with others, summed.
        shared = np.zeros((len(self.present), *at.within.shape[1:]))
        np.add.at(shared, self.pattern.ravel(), at.uncertainty().reshape(-1, *at.within.shape[1:]))
        counts = np.bincount(self.pattern.ravel(), minlength=len(self.present))
        for term, same in self.same.items():
            own = np.einsum("pij,ji->p", at.inverse, same)
            reach = at.reach @ same @ at.reach.swapaxes(-1, -2)
            traces[term] = float(counts @ own - (reach * shared).sum())
        topic = at.topic_information()
        system = at.system_information()
        n_systems, n_judges = self.values.shape[0], self.judge.shape[1]
        blocks = system.reshape(n_systems, n_judges, n_systems, n_judges)
        sums = {
            "topic": topic.sum(),
            "topic:judge": np.trace(topic, axis1=-2, axis2=-1).sum(),
            "system": np.einsum("sasb->", blocks),
            "system:judge": np.trace(system),
            "judge": np.einsum("saqa->", blocks),
        }
        traces |= {term: float(sums[term]) for term in self.terms if term in sums}
        return np.array([traces[term] for term in self.terms])


def likelihood_of_scores(values: np.ndarray, terms: tuple[str, ...]) -> FacetLikelihood:
    """Of scores [system, topic, answer, judge, draw], NaN where missing; the residual last."""
    n_systems, n_topics, n_answers, n_judges, n_draws = values.shape
    flat = values.reshape(n_systems, n_topics, -1)
    present, pattern = np.unique(
        ~np.isnan(flat).reshape(n_systems * n_topics, -1), axis=0, return_inverse=True
    )
    answer, judge, draw = (index.ravel() for index in np.indices((n_answers, n_judges, n_draws)))
    alike = {name: own[:, None] == own for name, own in (("a", answer), ("j", judge), ("d", draw))}
    groups = {
        "system:topic": np.ones((len(answer), len(answer)), bool),
        "answer": alike["a"],
        "system:topic:judge": alike["j"],
        "answer:judge": alike["a"] & alike["j"],
        "residual": alike["a"] & alike["j"] & alike["d"],
    }
    return FacetLikelihood(
        terms=terms,
        values=np.nan_to_num(flat),
        pattern=pattern.reshape(n_systems, n_topics),
        present=present,
        same={name: groups[name].astype(float) for name in terms if name in groups},
        judge=(judge[:, None] == np.arange(n_judges)).astype(float),
        n=int((~np.isnan(flat)).sum()),
    )


def _root(diagonal: float, everywhere: float, size: int) -> np.ndarray:
    """The symmetric root of diagonal I + everywhere J, of this size; exact at 0."""
    low, high = np.sqrt(diagonal), np.sqrt(diagonal + size * everywhere)
    return np.asarray(low * np.eye(size) + (high - low) / size)


def _solved(root: np.ndarray, information: np.ndarray) -> tuple[np.ndarray, float]:
    """(G^-1 + information)^-1 with G = root root', which may be singular, and log |I + G inf|."""
    inner = np.eye(root.shape[-1]) + root @ information @ root
    return np.asarray(root @ np.linalg.solve(inner, np.broadcast_to(root, inner.shape))), float(
        np.linalg.slogdet(inner)[1].sum()
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Eliminated:
    """What is left of the rows, cells before topics before systems, at given variances."""

    of_cells: FacetLikelihood
    inverse: np.ndarray
    """[pattern, place, place]: of the covariance within a cell; 0 where a score is missing."""
    reach: np.ndarray
    """[pattern, judge, place]: the same, summed over the scores of each judge."""
    within: np.ndarray
    """[pattern, judge, judge]: the same, summed on both sides."""
    cells: np.ndarray
    """[topic, system, judge, judge]: `within` of each cell."""
    by_topic: np.ndarray
    """[topic, judge, judge]: the covariance of a topic's vector, its system's being known."""
    system: np.ndarray
    """[system × judge, twice]: information about the systems' vectors, topics eliminated."""
    by_system: np.ndarray
    """Their covariance, the mean being known."""
    ones: np.ndarray
    """Information about the mean, by system and judge, all but the mean eliminated."""
    weight: float
    """X'V^-1X."""
    mean: float
    squares: float
    """y'Py."""
    log_det: float

    @classmethod
    def of(cls, own: FacetLikelihood, variances: np.ndarray) -> _Eliminated:
        v = dict(zip(own.terms, variances.tolist(), strict=True))
        covariance = sum(v[term] * same for term, same in own.same.items())
        there = own.present[:, :, None] & own.present[:, None, :]
        places = np.eye(covariance.shape[-1])
        whole = np.where(there, covariance, places)
        inverse = np.where(there, np.linalg.inv(whole), 0.0)
        reach = own.judge.T @ inverse
        within = reach @ own.judge
        counts = np.bincount(own.pattern.ravel(), minlength=len(own.present))
        log_det = float(counts @ np.linalg.slogdet(whole)[1])
        n_systems, n_judges = own.values.shape[0], own.judge.shape[1]
        cells = within[own.pattern.T]
        root = _root(v.get("topic:judge", 0.0), v.get("topic", 0.0), n_judges)
        by_topic, more = _solved(root, cells.sum(axis=1))
        log_det += more
        size = n_systems * n_judges
        stacked = cells.reshape(len(cells), size, n_judges)
        # One product over all topics at once: [system × judge, topic × judge].
        left = (stacked @ by_topic).transpose(1, 0, 2).reshape(size, -1)
        system = -left @ stacked.transpose(1, 0, 2).reshape(size, -1).T
        blocks = system.reshape(n_systems, n_judges, n_systems, n_judges)
        each = np.arange(n_systems)
        blocks[each, :, each, :] += cells.sum(axis=0)
        by_system, more = _solved(_system_root(v, n_systems, n_judges), system)
        log_det += more
        ones = system.sum(axis=1)
        ones = ones - system @ (by_system @ ones)
        made = cls(
            of_cells=own,
            inverse=inverse,
            reach=reach,
            within=within,
            cells=cells,
            by_topic=by_topic,
            system=system,
            by_system=by_system,
            ones=ones,
            weight=float(ones.sum()),
            mean=0.0,
            squares=0.0,
            log_det=log_det,
        )
        return made._with_response()

    def _with_response(self) -> _Eliminated:
        y = self.of_cells.values
        mean = float(self._shared(self._pulls(y[None]))[1][0])
        projected = self.projected(y[None])[0]
        return replace(self, mean=mean, squares=float((y * projected).sum()))

    def _pulls(self, rows: np.ndarray) -> np.ndarray:
        """[column, topic, system, judge]: the scores of each cell, weighted, by judge."""
        by_cell = self.reach[self.of_cells.pattern]
        return np.asarray(np.einsum("stjm,kstm->ktsj", by_cell, rows, optimize=True))

    def _shared(self, pulls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of each column: what cells share with others, [column, topic, system, judge]; means."""
        k, n, s, j = pulls.shape
        topic = pulls.sum(axis=2)
        stacked = self.cells.reshape(n, s * j, j)
        via = np.einsum("tij,ktj->kti", self.by_topic, topic)
        system = pulls.sum(axis=1).reshape(k, -1) - np.einsum("tij,ktj->ki", stacked, via)
        inside = system @ self.by_system
        means = (system.sum(axis=1) - inside @ self.system.sum(axis=1)) / self.weight
        # The mean shifts all systems' vectors; what they follow of it is taken off again.
        follow = self.by_system @ self.system.sum(axis=1)
        effects = inside + means[:, None] * (1.0 - follow)
        left = topic - np.einsum("tij,ki->ktj", stacked, effects)
        own = np.einsum("tij,ktj->kti", self.by_topic, left)
        return own[:, :, None, :] + effects.reshape(k, 1, s, j), means

    def projected(self, rows: np.ndarray) -> np.ndarray:
        """P times columns [column, system, topic, place]."""
        shared, _ = self._shared(self._pulls(rows))
        pattern = self.of_cells.pattern
        own = np.einsum("stmq,kstq->kstm", self.inverse[pattern], rows, optimize=True)
        return np.asarray(
            own - np.einsum("stjm,ktsj->kstm", self.reach[pattern], shared, optimize=True)
        )

    def _of_systems(self) -> np.ndarray:
        """Covariance of the systems' vectors with the mean, given the scores."""
        off = 1.0 - self.by_system @ self.system.sum(axis=1)
        return np.asarray(self.by_system + np.outer(off, off) / self.weight)

    def _met(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each topic's sum over systems: with systems [topic, judge, system × judge]; itself."""
        n, s, j, _ = self.cells.shape
        stacked = self.cells.reshape(n, s * j, j)
        with_systems = np.einsum("tij,ik->tjk", stacked, self._of_systems(), optimize=True)
        return with_systems, with_systems @ stacked

    def uncertainty(self) -> np.ndarray:
        """[system, topic, judge, judge]: covariance of what a cell shares with others."""
        n, s, j, _ = self.cells.shape
        met, own = self._met()
        blocks = self._of_systems().reshape(s, j, s, j)
        each = np.arange(s)
        diagonal = blocks[each, :, each, :]
        cross = (self.by_topic @ met).reshape(n, j, s, j).transpose(0, 2, 1, 3)
        of_topic = self.by_topic + self.by_topic @ own @ self.by_topic
        made = of_topic[:, None] + diagonal[None] - cross - cross.swapaxes(-1, -2)
        return np.asarray(made.swapaxes(0, 1))

    def topic_information(self) -> np.ndarray:
        """Z'PZ of each topic's vector, [topic, judge, judge]."""
        total = self.cells.sum(axis=1)
        left = np.eye(total.shape[-1]) - total @ self.by_topic
        return np.asarray(left @ total - left @ self._met()[1] @ left.swapaxes(-1, -2))

    def system_information(self) -> np.ndarray:
        """Z'PZ of all systems' vectors."""
        return np.asarray(self.system - self.system @ self._of_systems() @ self.system)


def _system_root(v: Mapping[str, float], n_systems: int, n_judges: int) -> np.ndarray:
    """The symmetric root of the covariance of the systems' vectors with the judges' effects."""
    own, each, all_ = (v.get(name, 0.0) for name in ("system:judge", "system", "judge"))
    mean_s, mean_j = (np.full((size, size), 1.0 / size) for size in (n_systems, n_judges))
    other_s, other_j = np.eye(n_systems) - mean_s, np.eye(n_judges) - mean_j
    parts = (
        (other_s, other_j, own),
        (other_s, mean_j, own + n_judges * each),
        (mean_s, other_j, own + n_systems * all_),
        (mean_s, mean_j, own + n_judges * each + n_systems * all_),
    )
    return np.asarray(sum(np.sqrt(value) * np.kron(left, right) for left, right, value in parts))
