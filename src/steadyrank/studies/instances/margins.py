"""What would settle an undecided comparison: more topics, more instances, or neither alone?

From the variances of a comparison: the smallest numbers of topics, and of instances, with which
non-inferiority (or its contrary) or equivalence is likely to be shown. Topics cannot average
instances away, nor instances topics: each has a floor, and then only more of both will do.
"""

from __future__ import annotations

from dataclasses import dataclass

from steadyrank.stats.instances.mixed_tests import harmonic_mean
from steadyrank.stats.instances.power import Claim, Design, InstanceTest, InstanceVariances
from steadyrank.studies.instances.planning import fewest_enough

POWER = 0.8
"""Chance with which numbers of topics or instances must settle a question."""

MOST = 1_000_000
"""Topics or instances beyond which the answer is that no number will do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Sizes of a comparison, and the variances that its mean difference rests on."""

    design: Design
    topics: int
    instances: tuple[int, ...]
    """Of each system that varies; (1,) for two single runs, which the residual then tells apart."""
    variances: InstanceVariances


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """How many more topics, or instances of each system that varies, settle a claim."""

    topics: int | None
    """None: no number of topics does."""
    instances: int | None
    """None: no number of instances does, or there is one only and their spread is unknown."""
    power: float


def settling(
    layout: Layout,
    claim: Claim,
    *,
    difference: float,
    delta: float,
    alpha: float,
    power: float = POWER,
) -> Settling:
    """The fewest more topics, and the fewest more instances, with which a claim is settled.

    With chance `power`, taking the difference and the variances as they were estimated; a
    difference below -delta settles non-inferiority by showing the contrary. Unequal numbers of
    instances count by their harmonic mean.

    >>> seen = InstanceVariances(instance=0.01**2, system_topic=0.05**2, residual=0.02**2)
    >>> layout = Layout(design="crossed", topics=50, instances=(10,), variances=seen)
    >>> settling(layout, "non_inferior", difference=0.0, delta=0.015, alpha=0.05)
    Settling(topics=50, instances=None, power=0.8)
    """
    if claim == "non_inferior" and difference == -delta:
        return Settling(topics=None, instances=None, power=power)
    if claim == "non_inferior" and difference < -delta:
        # Shown to be below -delta: the mirror image, about the margin, of shown to be above.
        difference = -2.0 * delta - difference
    test = InstanceTest(
        variances=layout.variances,
        design=layout.design,
        claim=claim,
        difference=difference,
        delta=delta,
        alpha=alpha,
    )
    n, sizes = layout.topics, layout.instances
    if max(sizes) == 1:
        more = fewest_enough(lambda k: test.topic_limit(n + k) >= power, 1, MOST)
        return Settling(topics=more, instances=None, power=power)
    m = harmonic_mean(sizes)
    return Settling(
        topics=fewest_enough(lambda k: _power(test, n + k, m) >= power, 1, MOST),
        instances=fewest_enough(
            lambda k: _power(test, n, harmonic_mean([size + k for size in sizes])) >= power, 1, MOST
        ),
        power=power,
    )


def _power(test: InstanceTest, topics: int, instances: float) -> float:
    return test.power(topics, instances)  # type: ignore[arg-type]
