"""Claims of intervals and their coverage: settings, trials, tallies.

`python -m bench.coverage` measures every interval that steadyrank prints or returns, and
docs/coverage.md summarises it; the tests measure with fewer trials, and see that none is missing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from bench.coverage.worlds import quiet

CONFIDENCE = 0.999
"""Confidence of the exact binomial interval around a measured coverage."""

Ends = Mapping[str, tuple[object, object, object]]
"""{claim: (low, high, truth)}; numbers, or arrays with an entry per interval."""

Trial = Callable[[np.random.Generator], Ends]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Population and sizes of the data of a trial."""

    world: str
    topics: int = 0
    systems: int = 0
    instances: int = 0
    datasets: int = 0
    more: str = ""

    def __str__(self) -> str:
        sizes = {"systems": self.systems, "topics": self.topics, "instances": self.instances}
        sizes["datasets"] = self.datasets
        parts = [f"{size} {what}" for what, size in sizes.items() if size]
        return ", ".join([self.world, *parts, *([self.more] if self.more else [])])


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An interval, the quantity that it should cover, and its place in the JSON of a study."""

    interval: str
    study: str
    truth: str
    fields: tuple[str, ...] = ()
    """Place in the JSON; empty if only pages, plots or the library have it."""
    nominal: float = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Trials of one or several claims."""

    prepare: Callable[[Setting, bool], Trial]
    """Returns the population of a setting, large or small."""
    settings: tuple[Setting, ...]
    claims: Mapping[str, Claim]
    share: float = 1.0
    """Share of the requested trials; smaller for slow trials."""
    batch: int = 1
    """Number of intervals per trial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Number of intervals of a claim that covered the truth in a setting."""

    claim: Claim
    setting: Setting
    trials: int
    covered: int
    width: float
    """Median width."""

    @property
    def coverage(self) -> float:
        """Return the share of the intervals that covered the truth."""
        return self.covered / self.trials

    @property
    def limits(self) -> tuple[float, float]:
        """Return the exact binomial interval of the coverage."""
        found = stats.binomtest(self.covered, self.trials)
        low, high = found.proportion_ci(CONFIDENCE, method="exact")
        return float(low), float(high)

    @property
    def verdict(self) -> str:
        """Return whether the nominal level is within these limits, above or below."""
        low, high = self.limits
        if low <= self.claim.nominal <= high:
            return "holds"
        return "short" if high < self.claim.nominal else "wide"


def measure(
    name: str, experiment: Experiment, setting: Setting, *, trials: int, full: bool
) -> list[Tally]:
    """Run the trials of a setting; the random numbers depend on the names only.

    Trials in which there is no interval are left out, and claims that a setting has not.
    """
    rng = np.random.default_rng([zlib.crc32(f"{name}, {setting}".encode())])
    calls = max(1, round(trials * experiment.share / experiment.batch))
    with quiet():
        trial = experiment.prepare(setting, full)
        found = [trial(rng) for _ in range(calls)]
    return [
        _tally(claim, setting, [ends[key] for ends in found])
        for key, claim in experiment.claims.items()
        if key in found[0]
    ]


def _tally(claim: Claim, setting: Setting, found: list[tuple[object, object, object]]) -> Tally:
    low, high, truth = (
        np.concatenate([np.atleast_1d(end) for end in ends]).astype(np.float64)
        for ends in zip(*found, strict=True)
    )
    known = ~np.isnan(low + high)
    low, high, truth = low[known], high[known], truth[known]
    # An end that rounding moved is still that end.
    tiny = 1e-12 * np.maximum(1.0, np.nan_to_num(np.abs(truth), posinf=0.0))
    held = (low - tiny <= truth) & (truth <= high + tiny)
    with np.errstate(invalid="ignore"):
        width = np.where(low == high, 0.0, high - low)
    return Tally(
        claim=claim,
        setting=setting,
        trials=len(held),
        covered=int(held.sum()),
        width=float(np.median(width)),
    )


def settings(
    sizes: str, *, world: str = "track", instances: int = 0, more: str = ""
) -> tuple[Setting, ...]:
    """Return settings from words such as "5x25 20x25" (systems, topics) or "25" (topics)."""
    found = []
    for size in sizes.split():
        *systems, topics = (int(part) for part in size.split("x"))
        found.append(
            Setting(
                world=world,
                topics=topics,
                systems=systems[0] if systems else 0,
                instances=instances,
                more=more,
            )
        )
    return tuple(found)


def seed_of(rng: np.random.Generator) -> int:
    """Return a seed for a routine that draws random numbers."""
    return int(rng.integers(2**31))
