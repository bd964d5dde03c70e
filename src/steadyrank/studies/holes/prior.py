"""How likely a hole is to be relevant: a prior fitted on judged documents.

A logistic regression for each grade, given that a document has the grade below, turns the features
of `evidence` into chances. `prior_check` says whether these hold, and how far they may be too high.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.studies.holes.evidence import Evidence, Pool, features

RIDGE = 0.1
"""Prior precision of coefficients, which keeps them finite where grades are separable."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prior:
    """Chances of grades, given features."""

    coefficients: np.ndarray
    """[grade from 1 on, feature]: of having it, given the grade below."""
    roots: np.ndarray
    """[grade from 1 on, feature, feature]: times standard normals, how coefficients vary."""
    topic_spread: float = 0.0
    """How far the documents of a topic lie together above or below, as a logit; the same for a run.
    """
    run_spread: float = 0.0
    found_share: float = 0.0
    """Share of the hidden documents that are judged because somebody else found them."""

    def factor(self, ratio: float) -> float:
        """What the chances of holes are multiplied by, if a document that nobody else found is
        `ratio` times as likely to be relevant as one that somebody did.

        Hidden documents are a mixture of the two: their chances are the factor's unit.
        """
        mixture = ratio + self.found_share * (1.0 - ratio)
        return ratio / mixture if mixture > 0.0 else 1.0

    def reach(self, x: np.ndarray) -> np.ndarray:
        """[document, grade from 1 on]: chance of that grade or a higher one."""
        logits = np.einsum("gik,gk->ig", x, self.coefficients)
        return np.asarray(np.cumprod(1.0 / (1.0 + np.exp(-logits)), axis=1))


def fit_prior(training: Pool, evidence: Evidence, top_grade: int) -> Prior:
    """Logistic regressions by Newton's method; their spread allows for topics as clusters."""
    x = features(training, evidence, inside=True)
    fits = []
    for grade in range(1, top_grade + 1):
        asked = training.grade >= grade - 1
        fits.append(
            _fit(x[grade - 1, asked], training.grade[asked] >= grade, training.topic[asked])
        )
    coefficients, roots = (np.stack(column) for column in zip(*fits, strict=True))
    return Prior(coefficients=coefficients, roots=roots)


def _fit(x: np.ndarray, reached: np.ndarray, topic: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients, and a root of their covariance."""
    beta = np.zeros(x.shape[1])
    penalty = RIDGE * np.eye(len(beta))
    for _ in range(50):
        chance = 1.0 / (1.0 + np.exp(-np.clip(x @ beta, -30.0, 30.0)))
        information = (x * (chance * (1.0 - chance))[:, None]).T @ x + penalty
        step = np.linalg.solve(information, x.T @ (reached - chance) - penalty @ beta)
        beta += step
        if np.abs(step).max() < 1e-9:
            break
    sums = np.zeros((int(topic.max(initial=-1)) + 1, len(beta)))
    np.add.at(sums, topic, x * (reached - chance)[:, None])
    bread = np.linalg.inv(information)
    # Topics as clusters, or independent documents where that is wider.
    covariance = bread @ (sums.T @ sums + penalty) @ bread
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2.0)
    return beta, vectors * np.sqrt(np.maximum(values, 0.0))
