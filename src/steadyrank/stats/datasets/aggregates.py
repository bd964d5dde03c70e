"""How a leaderboard makes one number of many datasets: means, means of types, Borda, wins.

Each is a weighted mean over datasets of a column of numbers, so that one machinery of flips serves
them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steadyrank.errors import InputError
from steadyrank.stats.ranks.tied import average_ranks

Aggregate = Literal["mean", "mean-of-types", "borda", "wins"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """What is averaged: a run's value is the sum of weight x column over datasets."""

    values: np.ndarray
    """[run, dataset], NaN where a run has none."""
    weight: np.ndarray
    """One per dataset; they sum to 1."""


def columns_of(scores: np.ndarray, aggregate: Aggregate, types: Sequence[str] = ()) -> Columns:
    """The numbers and weights of an aggregate of scores [run, dataset].

    Parameters
    ----------
    scores : [run, dataset], NaN where missing
    aggregate : str
        "mean"; "mean-of-types", every type of datasets weighing the same; "borda", points m -
        average rank among m runs; "wins", the share of the other runs beaten, ties by half.
    types : sequence of str
        One per dataset, for "mean-of-types".

    >>> columns_of(np.array([[0.9, 0.2], [0.8, 0.2], [0.1, 0.1]]), "borda").values.tolist()
    [[2.0, 1.5], [1.0, 1.5], [0.0, 0.0]]
    """
    n_datasets = scores.shape[1]
    weight = np.full(n_datasets, 1.0 / n_datasets)
    if aggregate == "mean-of-types":
        weight = type_weights(types, n_datasets)
    if aggregate == "borda":
        return Columns(values=borda_points(scores), weight=weight)
    if aggregate == "wins":
        present = (~np.isnan(scores)).sum(axis=0)
        beaten = borda_points(scores) - (len(scores) - present)
        return Columns(values=beaten / np.maximum(present - 1.0, 1.0), weight=weight)
    return Columns(values=scores, weight=weight)


def type_weights(types: Sequence[str], n_datasets: int) -> np.ndarray:
    """Weights of datasets such that every type weighs the same.

    >>> type_weights(["a", "a", "b"], 3).tolist()
    [0.25, 0.25, 0.5]
    """
    if len(types) != n_datasets:
        raise InputError(
            "a mean of types requires the type of every dataset: add a column type, or give types="
        )
    _, code, size = np.unique(list(types), return_inverse=True, return_counts=True)
    return np.asarray(1.0 / (len(size) * size[code]))


def borda_points(scores: np.ndarray) -> np.ndarray:
    """Points [run, dataset]: m - average rank, m being all runs; NaN where a score is missing.

    The m of MTEB: who is absent from a dataset counts as one of those that all others beat there.
    """
    points = np.full(scores.shape, np.nan)
    for column, out in zip(scores.T, points.T, strict=True):
        present = ~np.isnan(column)
        out[present] = len(scores) - average_ranks(-column[present])
    return points
