"""What the tests of a comparison share: the settings of a call, and tests not yet corrected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.stats.instances.systems import Groups
from steadyrank.stats.pairs.result import PairTests
from steadyrank.stats.pairs.topic_design import PLAIN, TopicDesign, Units, cluster_sums
from steadyrank.studies.compare.result import (
    Alternative,
    Correction,
    Family,
    IntervalKind,
    Mode,
    Test,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareSettings:
    """What all comparisons of one call have in common."""

    test: Test = "t"
    correction: Correction | None = None
    alpha: float = 0.05
    baseline: str | None = None
    interval: IntervalKind | None = None
    alternative: Alternative = "two-sided"
    mode: Mode = "sound"
    family: Family = "measure"
    n_samples: int = 10_000
    jobs: int | None = None
    seed: int = 0
    progress: Progress | None = None
    """Called with the numbers of finished and of all blocks of sign patterns of the correction."""
    asks_for_first: bool = True
    """Whether to find out which runs could be the best, which takes flips under any test."""

    @property
    def resampling(self) -> dict[str, Any]:
        """How resampling tests and intervals draw."""
        return {"n_samples": self.n_samples, "seed": self.seed, "jobs": self.jobs}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tested:
    """The tests of one measure, not yet corrected."""

    measure: str
    segment: str | None = None
    """The segment that the topics are from; None where they are all."""
    rows: tuple[str, ...]
    """Runs, or systems."""
    topics: tuple[str, ...]
    matrix: np.ndarray
    """Scores [row, topic] that the tests use."""
    n_topics: int
    n_dropped: int
    pairs: np.ndarray
    tests: PairTests
    instances: np.ndarray | None = None
    """Scores [run, topic] of the systems' instances."""
    groups: Groups | None = None
    design: TopicDesign = PLAIN

    @property
    def units(self) -> Units | None:
        """What is drawn where topics are clustered or weighted; None where a score is missing."""
        return None if np.isnan(self.matrix).any() else cluster_sums(self.matrix, self.design)

    @property
    def is_flipped(self) -> bool:
        """Whether signs can be flipped: of clusters, those of two or more that are complete."""
        return self.design.is_plain or (self.n_units > 1 and not np.isnan(self.matrix).any())

    @property
    def n_drawn(self) -> np.ndarray:
        """Of each pair: the clusters, or the topics, that are drawn."""
        if self.design.is_plain or np.isnan(self.matrix).any():
            return self.tests.n
        return np.full(len(self.pairs), self.n_units)

    @property
    def n_units(self) -> int:
        """Clusters, or topics where these are not clustered."""
        return self.design.n_clusters or self.matrix.shape[1]
