"""Which components of systems change the correlation among measures? Ferro 2018, future work.

Measures are correlated among the systems that share a level of a component (a stemmer, say), for
every level, on the same topics. If the stemmer matters for how measures agree, levels differ. But
any two sets of systems differ: so the systems are also dealt to levels at random, and what levels
explain then is what chance explains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.compute.random import block_stream
from steadyrank.data.scores import mean_of_present
from steadyrank.errors import InputError
from steadyrank.stats.anova.balanced import Anova, Power
from steadyrank.studies.agree.correlations import (
    FACTORS,
    Coefficient,
    Mode,
    Reference,
    Strata,
    by_coefficient,
    effects_table,
    sample_correlations,
)

LEAST_SYSTEMS = 3
"""Of a level: two have no correlation but 1 and -1."""

DEALT = 19
"""Times that systems are dealt to levels at random: a largest share is one of 20."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComponentAgreement:
    """Correlations among measures within the levels of one component."""

    component: str
    levels: tuple[str, ...]
    n_systems: tuple[int, ...]
    """Of each level."""
    system_sizes: tuple[int, ...]
    """Sampled of every level: those asked for that the smallest has."""
    tau: np.ndarray
    """[pair, level, topic size, system size, sample]"""
    tau_ap: np.ndarray
    anovas: Mapping[Coefficient, Anova | None]
    """With the component, and its interactions; None where some correlation does not exist."""
    dealt: Mapping[Coefficient, np.ndarray]
    """[time]: omega squared of the component where systems were dealt to its levels at random."""

    def mean(self, coefficient: Coefficient) -> np.ndarray:
        """[level]: over pairs of measures, sizes and samples."""
        samples = np.moveaxis(self.tau if coefficient == "tau" else self.tau_ap, 1, 0)
        return mean_of_present(samples.reshape(len(self.levels), -1))

    def pvalue(self, coefficient: Coefficient) -> float:
        """Of omega squared among those of random levels; NaN without a table."""
        table, dealt = self.anovas[coefficient], self.dealt[coefficient]
        if table is None or not len(dealt):
            return float("nan")
        found = table.source(self.component).omega_squared
        return float((1 + np.count_nonzero(dealt >= found)) / (1 + len(dealt)))


def component_agreement(
    values: np.ndarray,
    component: str,
    labels: list[str],
    *,
    system_sizes: tuple[int, ...],
    reference: Reference,
    mode: Mode,
    strata: Strata,
    power: Power | None,
    seed: int,
    **drawing: Any,
) -> ComponentAgreement:
    """Correlate measures within each level of a component, [measure, system, topic] as given.

    Systems without a level are left out.
    """
    if component in FACTORS:
        raise InputError(f"a factor cannot be named {component!r}, which the ANOVA has: rename it")
    levels = tuple(dict.fromkeys(filter(None, labels)))
    values = values[:, [bool(label) for label in labels]]
    codes = np.array([levels.index(label) for label in labels if label])
    counts = np.bincount(codes)
    smallest = int(counts.min())
    sizes = tuple(size for size in system_sizes if LEAST_SYSTEMS <= size <= smallest)
    drawing |= {"system_sizes": sizes or (smallest,), "seed": seed}
    factors = (FACTORS[0], component, *FACTORS[1:])

    def within(codes: np.ndarray) -> dict[Coefficient, np.ndarray]:
        found = [
            by_coefficient(sample_correlations(values[:, codes == k], **drawing), reference)
            for k in range(len(levels))
        ]
        return {key: np.stack([one[key] for one in found], axis=1) for key in found[0]}

    samples = within(codes)
    streams = (block_stream(seed, f"agree, {component} at random", k) for k in range(DEALT))
    shuffled = [within(stream.permutation(codes)) for stream in streams]
    dealt: dict[Coefficient, np.ndarray] = {}
    for key in samples:
        tables = [
            effects_table(drawn[key], "sound", "subject", None, factors) for drawn in shuffled
        ]
        known = [table.source(component).omega_squared for table in tables if table is not None]
        dealt[key] = np.array(known)
    return ComponentAgreement(
        component=component,
        levels=levels,
        n_systems=tuple(counts.tolist()),
        system_sizes=drawing["system_sizes"],
        tau=samples["tau"],
        tau_ap=samples["tau_ap"],
        anovas={
            key: effects_table(drawn, mode, strata, power, factors)
            for key, drawn in samples.items()
        },
        dealt=dealt,
    )
