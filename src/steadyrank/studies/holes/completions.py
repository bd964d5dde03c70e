"""Completions drawn from the prior, and what they say of runs and pairs.

Every hole is drawn once and counts for all runs that have it. Coefficients of the prior, and how
far topics and runs lie off it, are drawn for each completion. Tests are combined by Rubin's rules
("Multiple Imputation for Nonresponse in Surveys", 1987): T = W + (1 + 1/B) × between, with the
degrees of freedom of Barnard & Rubin (Biometrika 86(4), 1999, doi:10.1093/biomet/86.4.948).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from steadyrank.compute.executors import Progress, map_in_order, workers
from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.measures.scoring import Recipe
from steadyrank.stats.pairs.result import CONSTANT
from steadyrank.studies.holes import kernels
from steadyrank.studies.holes.evidence import Pool
from steadyrank.studies.holes.prior import Prior
from steadyrank.studies.holes.scoring import Rankings

BLOCK = 20
"""Completions that share a stream of random numbers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Completions:
    """What completions say of runs and pairs."""

    means: np.ndarray
    """[completion, run]: over topics."""
    within: np.ndarray
    """[run, run]: variance of the mean difference within a completion, mean over completions."""
    n_topics: int
    scale: float = 1.0
    """How much further imputed scores lie off than completions lie apart."""

    def intervals(self, confidence: float) -> np.ndarray:
        """[run, 2]: between which the mean score lies in so many completions, times the scale."""
        tail = (1.0 - confidence) / 2.0
        ends, mean = np.quantile(self.means, [tail, 1.0 - tail], axis=0), self.means.mean(axis=0)
        return np.asarray((mean + self.scale * (ends - mean)).T)

    def sign_share(self, pairs: np.ndarray) -> np.ndarray:
        """[pair]: share of the completions in which the first is above the second; ties half."""
        a, b = (self.means[:, runs] for runs in pairs.T)
        return np.asarray(((a > b) + 0.5 * (a == b)).mean(axis=0))

    def pvalues(self, pairs: np.ndarray) -> np.ndarray:
        """[pair]: of the paired t test, by Rubin's rules."""
        a, b = pairs.T
        return rubin_pvalues(
            self.means[:, a] - self.means[:, b], self.within[a, b], self.n_topics, self.scale
        )


def rubin_pvalues(
    estimates: np.ndarray, within: np.ndarray, n: int, scale: float = 1.0
) -> np.ndarray:
    """Two-sided p of estimates [completion, pair] with variances `within` and n - 1 df each.

    The variance between completions is taken `scale`² times as large.
    """
    n_completions = len(estimates)
    between = scale**2 * (1.0 + 1.0 / n_completions) * estimates.var(axis=0, ddof=1)
    mean, total = estimates.mean(axis=0), within + between
    with np.errstate(divide="ignore", invalid="ignore"):
        missing = between / total
        observed = n / (n + 2.0) * (n - 1.0) * (1.0 - missing)
        df = 1.0 / (missing**2 / (n_completions - 1.0) + 1.0 / observed)
        p = np.minimum(1.0, 2.0 * stdtr(df, -np.abs(mean) / np.sqrt(total)))
    same = total <= CONSTANT**2
    return np.where(same, np.where(np.abs(mean) <= CONSTANT, 1.0, 0.0), p)


def draw_completions(
    rankings: Rankings,
    recipe: Recipe,
    prior: Prior,
    holes: Pool,
    x: np.ndarray,
    *,
    n_samples: int,
    jobs: int | None = None,
    progress: Progress | None = None,
    seed: int = 0,
) -> Completions:
    """Draw grades for all open holes, `n_samples` times, and score all runs."""
    n_runs, n_topics = rankings.lists.lengths.shape
    countable = rankings if recipe.needs_all else rankings.countable()

    def block(part: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
        number, first, stop = part
        stream = block_stream(seed, "holes", number)
        means, within = np.empty((stop - first, n_runs)), np.zeros((n_runs, n_runs))
        for row in means:
            grades = draw_grades(prior, holes, x, (n_runs, n_topics), stream)
            scores = countable.scores(recipe, grades)
            row[:] = scores.mean(axis=1)
            within += _variances_of_differences(scores)
        return means, within

    with workers(jobs=jobs) as threads:
        parts = map_in_order(block, blocks_of(n_samples, BLOCK), threads, progress=progress)
    return Completions(
        means=np.concatenate([means for means, _ in parts]),
        within=np.sum([within for _, within in parts], axis=0) / n_samples,
        n_topics=n_topics,
    )


def draw_grades(
    prior: Prior, holes: Pool, x: np.ndarray, shape: tuple[int, int], stream: np.random.Generator
) -> np.ndarray:
    """One completion: the grades of all open holes."""
    n_runs, n_topics = shape
    normals = stream.standard_normal(prior.coefficients.shape)
    coefficients = prior.coefficients + np.einsum("gij,gj->gi", prior.roots, normals)
    # A logit that varies pulls chances towards 1/2: a steeper one keeps their means, to 1%.
    coefficients[0] *= np.sqrt(1.0 + 0.346 * (prior.topic_spread**2 + 2.0 * prior.run_spread**2))
    topics = prior.topic_spread * stream.standard_normal(n_topics)
    # Runs with holes may together be unlike those whose documents were judged.
    runs = prior.run_spread * (stream.standard_normal(n_runs) + stream.standard_normal())
    # Not known, but for its sign: that nobody else found a document never speaks for it.
    factor = prior.factor(stream.random())
    uniform = stream.random(x.shape[1]) / factor if factor > 0.0 else np.ones(x.shape[1])
    grades = np.empty(x.shape[1], np.int32)
    kernels.draw_grades(x, coefficients, topics, runs, holes.topic, holes.owner, uniform, grades)
    return grades


def _variances_of_differences(scores: np.ndarray) -> np.ndarray:
    """[run, run]: variance of the mean difference over topics."""
    n = scores.shape[1]
    centred = scores - scores.mean(axis=1, keepdims=True)
    gram = centred @ centred.T
    squares = np.diag(gram)
    spread = np.maximum(squares[:, None] + squares[None, :] - 2.0 * gram, 0.0)
    return np.asarray(spread / (n * max(n - 1, 1)))
