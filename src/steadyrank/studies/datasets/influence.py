"""Which datasets carry the ranking: the leaderboard without each of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steadyrank.data.leaderboard import Leaderboard
from steadyrank.stats.datasets.aggregates import Aggregate, AggregateColumns, type_weights
from steadyrank.stats.ranks.correlation import kendall_tau
from steadyrank.stats.run_means import adjusted_means, best_first


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """The ranking without one dataset."""

    dataset: str
    tau: float
    """Kendall's, between the ranking with and without it."""
    leader: str
    """Who is first without it."""


def influences(
    used: Leaderboard, columns: AggregateColumns, aggregate: Aggregate, value: np.ndarray
) -> tuple[Influence, ...]:
    """The ranking without each dataset, the most different one first."""
    if len(used.datasets) < 3:
        return ()
    rows = []
    for k, name in enumerate(used.datasets):
        kept = np.delete(np.arange(len(used.datasets)), k)
        without = _values_of(columns.values[:, kept], used, kept, aggregate)
        leader = used.runs[int(best_first(without)[0])]
        tau = kendall_tau(value, without).value if not np.isnan(without).any() else math.nan
        rows.append(Influence(dataset=name, tau=float(tau), leader=leader))
    return tuple(sorted(rows, key=lambda row: (math.isnan(row.tau), row.tau)))


def _values_of(
    values: np.ndarray, used: Leaderboard, kept: np.ndarray, aggregate: Aggregate
) -> np.ndarray:
    """Values of the runs over some of the datasets."""
    if np.isnan(values).any():
        return adjusted_means(values)
    if aggregate != "mean-of-types":
        return np.asarray(values.mean(axis=1))
    return np.asarray(values @ type_weights([used.types[k] for k in kept], len(kept)))
