"""Which measures say the same thing about these systems, on all the data there are.

For `studies.agree.study`: correlations of all pairs of measures, an order in which measures
that rank alike stand together, and how many pairs of systems each measure tells apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.stats.pairs import studentized_range as studentized
from steadyrank.stats.pairs.result import CONSTANT, TOO_FEW
from steadyrank.stats.pairs.tukey import two_way_anova
from steadyrank.stats.ranks.correlation import correlations
from steadyrank.studies.agree.samples import resolutions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasureLikeness:
    """How alike measures are, on all systems and topics."""

    tau: np.ndarray
    """[measure, measure]: tau-b between rankings by mean score."""
    tau_ap: np.ndarray
    """[measure, measure]: mean of both directions."""
    linkage: np.ndarray
    """[measures - 1, 4]: average linkage by 1 - tau, as SciPy has it."""
    order: np.ndarray
    """Measures as the dendrogram's leaves, the most alike side by side."""
    discriminative_power: np.ndarray
    """[measure]: share of the pairs of systems that differ by Tukey's HSD."""
    needed_difference: np.ndarray
    """[measure]: the mean difference above which it does."""
    alpha: float


def measure_likeness(
    values: np.ndarray, *, ties: str = "a", alpha: float = 0.05
) -> MeasureLikeness:
    """Compare measures on complete scores [measure, system, topic].

    tau is NaN for a measure that gives every system the same mean. Discriminative power is
    Sakai's, by Tukey's HSD on the two-way layout: a measure that separates more is more
    sensitive, not more right.

    Reference: Sakai 2006, doi:10.1145/1148170.1148261.
    """
    means = np.round(values.mean(axis=2) / resolutions(values)[:, None])
    tau = correlations(means, coefficient="tau")
    linkage, order = _dendrogram(tau)
    power = np.array([_power(matrix, alpha) for matrix in values])
    return MeasureLikeness(
        tau=tau,
        tau_ap=correlations(means, coefficient="tau_ap", ties=ties),
        linkage=linkage,
        order=order,
        discriminative_power=power[:, 0],
        needed_difference=power[:, 1],
        alpha=alpha,
    )


def _dendrogram(tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if np.isnan(tau).any():
        return np.full((len(tau) - 1, 4), np.nan), np.arange(len(tau))
    from scipy.cluster import hierarchy

    # Rounding must not decide between equal distances.
    distance = np.round(1.0 - tau[np.triu_indices(len(tau), 1)], 12)
    linkage = hierarchy.linkage(np.maximum(distance, 0.0), "average", optimal_ordering=True)
    return linkage, np.asarray(hierarchy.leaves_list(linkage), dtype=np.int64)


def _power(matrix: np.ndarray, alpha: float) -> tuple[float, float]:
    """Share of the pairs of systems [system, topic] told apart, and from which difference on."""
    table = two_way_anova(matrix)
    if table.flag == TOO_FEW:
        return float("nan"), float("nan")
    needed = CONSTANT * max(1.0, float(np.abs(matrix).max()))
    if not table.flag:
        critical = studentized.critical_value(alpha, table.n_runs, table.error.df)
        needed = critical * float(np.sqrt(table.error.ms / table.n_topics))
    means = np.sort(matrix.mean(axis=1))
    # Of sorted means, those beyond the needed difference are a tail: no pair is looked at.
    apart = means.size - np.searchsorted(means, means + needed, side="right")
    return float(apart.sum() / (means.size * (means.size - 1) / 2)), needed
