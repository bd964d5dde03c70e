"""How many topics, and how many instances of a non-deterministic system?

For anyone who plans a comparison that must generalise to other topics and other instances
(Jayasinghe et al. 2015, doi:10.1016/j.ipm.2015.06.005): the power of the two-way random and the
nested test, exact for normal effects, from variances of a pilot; the cheapest design; and where one
of topics and instances cannot make up for too few of the other, that it cannot. `settling` says the
same of a comparison that is undecided: more topics, more instances, or neither alone?
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.errors import InputError
from steadyrank.notebook import Exhibit, Framed, shown_by
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.instances.mixed_tests import harmonic_mean
from steadyrank.stats.instances.power import Claim, Design, InstanceTest, InstanceVariances

if TYPE_CHECKING:
    import pandas as pd


SLACK = 0.03
"""How far the topics by the rough power may be above the exact ones, with two more allowed."""

POWER = 0.8
"""Chance with which numbers of topics or instances must settle a question."""

MOST = 1_000_000
"""Topics or instances beyond which the answer is that no number will do."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class PowerTable(Exhibit):
    """Power of a test at numbers of topics and instances."""

    topics: tuple[int, ...]
    instances: tuple[int, ...]
    power: np.ndarray
    """[number of topics, number of instances]"""
    limit: np.ndarray
    """[number of topics]: that no number of instances exceeds."""

    def caption(self) -> str:
        """What the figures are."""
        return "Power by numbers of topics (rows) and instances; inf: the limit of any number."

    def to_frame(self) -> pd.DataFrame:
        """One row a number of topics, one column a number of instances, and their limit."""
        import pandas as pd

        frame = pd.DataFrame(self.power, index=list(self.topics), columns=list(self.instances))
        frame.index.name, frame.columns.name = "topics", "instances"
        frame[math.inf] = self.limit
        return frame


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("studies.instances.view:plan_text")
class InstancePlan(Framed):
    """The cheapest numbers of topics and instances for a power, or why there are none.

    Examples
    --------
    >>> import steadyrank as sr
    >>> pilot = {"instance": 0.02**2, "system_topic": 0.08**2, "residual": 0.06**2}
    >>> plan = sr.plan_instances(pilot, difference=0.03, cost_per_instance=5)
    >>> plan.topics, plan.instances, plan.reached
    (91, 11, True)
    """

    test: InstanceTest
    """The claim, at which true difference, and the variances."""
    target: float
    """The power that was asked for."""
    cost_per_topic: float
    cost_per_instance: float
    given_topics: int | None
    given_instances: int | None
    most_topics: int
    most_instances: int
    topics: int | None
    """None where the power cannot be reached."""
    instances: int | None
    """Of each system that varies."""
    power: float
    """At `topics` and `instances`; where they are None, the most that what is given can reach."""
    cost: float
    fewest_topics: int | None
    """With fewer no number of instances suffices; None if more than `most_topics`."""
    fewest_instances: int | None
    """With fewer no number of topics suffices; None if more than `most_instances`."""

    @property
    def reached(self) -> bool:
        """Whether the topics and instances have the power that was asked for."""
        return self.topics is not None and self.power >= self.target

    def table(self, n_topics: Sequence[int], n_instances: Sequence[int]) -> PowerTable:
        """The same test's power at other numbers of topics and instances."""
        for size in (*n_topics, *n_instances):
            _check_sizes(**{"a table's topics and instances": size})
        return PowerTable(
            topics=tuple(n_topics),
            instances=tuple(n_instances),
            power=np.array([[self.test.power(n, m) for m in n_instances] for n in n_topics]),
            limit=np.array([self.test.topic_limit(n) for n in n_topics]),
        )

    def caption(self) -> str:
        """The answer in a sentence."""
        return self.words()[0]

    def rows(self) -> list[dict[str, Any]]:
        """The one row: the sizes, their power and cost, and the fewest that can suffice."""
        keys = ("topics", "instances", "power", "target", "cost", "fewest_topics")
        return [{key: getattr(self, key) for key in (*keys, "fewest_instances")}]

    def words(self) -> list[str]:
        """The plan in sentences: what it takes, and what cannot be made up for."""
        return [*_answer(self), *_floors(self)]


def plan_instances(
    components: Mapping[str, float],
    *,
    difference: float | None = None,
    delta: float | None = None,
    claim: Claim | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    cost_per_topic: float = 1.0,
    cost_per_instance: float = 1.0,
    design: Design = "crossed",
    n_topics: int | None = None,
    n_instances: int | None = None,
    most_topics: int = 10_000,
    most_instances: int = 1_000,
) -> InstancePlan:
    """The cheapest numbers of topics N and instances M with which a test has the power asked for.

    Parameters
    ----------
    components : mapping of str to float
        Variances: of `instance`, of system × topic (`system_topic`: for a deterministic baseline
        that of the differences' topic effects) and of the `residual`.
    difference : float, optional
        The true difference to find by the two-sided test at alpha; of a claim about `delta` the
        true difference, 0 unless given.
    delta : float, optional
        Margin of the claim.
    claim : str, optional
        With `delta`, "equivalent" (the default: both one-sided tests at alpha) or "non_inferior".
    alpha, power : float
        Level of the test, and its power.
    cost_per_topic, cost_per_instance : float
        Cost is N cost_per_topic + the number of instances, of both systems if nested, times
        cost_per_instance.
    design : str
        "crossed" (against a deterministic system: variance of the mean s_a²/M + s_u²/N + s_e²/(M
        N)) or "nested" (two systems with M instances each: twice that).
    n_topics, n_instances : int, optional
        Give one of them, and only the other is sought.
    most_topics, most_instances : int
        How far to look.

    Returns
    -------
    InstancePlan
        Topics, instances, power and cost; `table()` has the power of other designs, `words()`
        sentences.

    Notes
    -----
    Assumes normal effects, and that the variances are those of the future: estimates from few
    instances are far off (`stats.mixed.fit.component_intervals`), so plan with a larger one too.
    Claims about other instances require at least two.

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> pilot = {"instance": 0.02**2, "system_topic": 0.08**2, "residual": 0.06**2}
    >>> plan = plan_instances(pilot, difference=0.03, cost_per_instance=5)
    >>> plan.topics, plan.instances, round(plan.power, 3), plan.fewest_topics
    (91, 11, 0.8, 58)
    >>> plan_instances(pilot, difference=0.03, n_topics=50).words()[0]
    'With 50 topics no number of instances reaches power 0.8: it stays below 0.74.'
    """
    test = InstanceTest(
        variances=InstanceVariances.of(components),
        design=design,
        claim=claim or ("different" if delta is None else "equivalent"),
        difference=_true_difference(difference, delta),
        delta=delta,
        alpha=alpha,
    )
    check_open_unit("power", power)
    costs = (cost_per_topic, cost_per_instance)
    if min(costs) < 0.0 or max(costs) == 0.0 or not all(map(math.isfinite, costs)):
        raise InputError(f"costs must be numbers of at least 0, and one above 0, got {costs}")
    _check_sizes(topics=n_topics, instances=n_instances)
    _check_sizes(most_topics=most_topics, most_instances=most_instances)
    plan = InstancePlan(
        test=test,
        target=power,
        cost_per_topic=cost_per_topic,
        cost_per_instance=cost_per_instance,
        given_topics=n_topics,
        given_instances=n_instances,
        most_topics=most_topics,
        most_instances=most_instances,
        topics=None,
        instances=None,
        power=math.nan,
        cost=math.nan,
        fewest_topics=fewest_enough(lambda n: test.topic_limit(n) >= power, 2, most_topics),
        fewest_instances=fewest_enough(
            lambda m: test.instance_limit(m) >= power, 2, most_instances
        ),
    )
    sizes = _sizes(plan)
    if sizes is None:
        return replace(plan, power=_within_reach(plan))
    cost = _cost(plan, *sizes)
    return replace(plan, topics=sizes[0], instances=sizes[1], power=test.power(*sizes), cost=cost)


def _cost(plan: InstancePlan, topics: int, instances: int) -> float:
    return topics * plan.cost_per_topic + instances * plan.cost_per_instance * plan.test.systems


def _sizes(plan: InstancePlan) -> tuple[int, int] | None:
    """The cheapest topics and instances; those that are given stay as they are."""
    power, n, m = plan.test.power, plan.given_topics, plan.given_instances
    if n is not None and m is not None:
        return n, m
    if plan.fewest_topics is None or plan.fewest_instances is None:
        return None
    if n is not None:
        found = fewest_enough(lambda m: power(n, m) >= plan.target, 2, plan.most_instances)
        return None if found is None else (n, found)
    if m is not None:
        found = fewest_enough(lambda n: power(n, m) >= plan.target, 2, plan.most_topics)
        return None if found is None else (found, m)
    return _cheapest(plan, plan.fewest_topics, plan.fewest_instances)


def _cheapest(plan: InstancePlan, least: int, instances: int) -> tuple[int, int] | None:
    """Exact wherever, by the rough power, a number of instances could be the cheapest."""
    found: list[tuple[float, int, int]] = []
    rough = _rough_designs(plan, least, instances)
    for n, m in sorted(rough, key=lambda design: _cost(plan, *design)):
        hoped = max(least, math.floor((1.0 - SLACK) * n) - 2)
        if found and _cost(plan, hoped, m) > min(found)[0]:
            continue
        enough = partial(_suffices, plan.test.power, plan.target, m)
        fewest = fewest_enough(enough, 2, plan.most_topics, near=n)
        if fewest is not None:
            found.append((_cost(plan, fewest, m), m, fewest))
    return (min(found)[2], min(found)[1]) if found else None


def _rough_designs(plan: InstancePlan, least: int, instances: int) -> list[tuple[int, int]]:
    """Topics and instances by the rough power: more instances never need more topics."""
    sizes, topics = [], plan.most_topics
    for m in range(instances, plan.most_instances + 1):
        enough = partial(_suffices, plan.test.rough_power, plan.target, m)
        topics = fewest_enough(enough, least, topics, near=topics) or topics
        sizes.append((topics, m))
        if topics <= least and len(sizes) > 1 and sizes[-2][0] <= least:
            break
    return sizes


def _suffices(
    power: Callable[[int, int], float], target: float, instances: int, topics: int
) -> bool:
    return power(topics, instances) >= target


def fewest_enough(
    enough: Callable[[int], bool], low: int, high: int, *, near: int | None = None
) -> int | None:
    """The smallest number from low to high that is enough, if more is never less.

    Looked for in growing steps from `near`, or from low, and by bisection between the last two.
    """
    place, step = low if near is None else near, 1
    if enough(place):
        while place > low and enough(max(place - step, low)):
            place, step = max(place - step, low), 2 * step
        low, high = max(place - step + 1, low), place
    elif place == high or not enough(high):
        return None
    else:
        while not enough(min(place + step, high)):
            place, step = min(place + step, high), 2 * step
        low, high = place + 1, min(place + step, high)
    return low + bisect_left(range(low, high), True, key=enough)


def _within_reach(plan: InstancePlan) -> float:
    """The power that cannot be exceeded with what is given."""
    if plan.given_topics is not None:
        return plan.test.topic_limit(plan.given_topics)
    if plan.given_instances is not None:
        return plan.test.instance_limit(plan.given_instances)
    return plan.test.power(plan.most_topics, plan.most_instances)


def _answer(plan: InstancePlan) -> list[str]:
    goal = f"power {plan.target:g}"
    claim = _claim_words(plan.test)
    if plan.topics is not None and plan.instances is not None:
        sizes = f"{plan.topics:,} topics and {_instances(plan, plan.instances)}"
        if plan.given_topics is not None and plan.given_instances is not None:
            verdict = f"{'enough' if plan.reached else 'too few'} for {plan.target:g}"
            return [f"{sizes} have power {plan.power:.2f} to {claim}: {verdict}."]
        cheapest = plan.given_topics is None and plan.given_instances is None
        how = f", at the least cost, {plan.cost:,g}" if cheapest else ""
        return [f"{sizes} reach {goal} to {claim} ({plan.power:.3f}){how}."]
    below = f"it stays below {math.ceil(100.0 * plan.power) / 100.0:.2f}"
    if plan.given_topics is not None:
        given = f"{plan.given_topics:,} topics"
        return [_alone(plan, given, "instances", plan.most_instances, below)]
    if plan.given_instances is not None:
        given = _instances(plan, plan.given_instances)
        return [_alone(plan, given, "topics", plan.most_topics, below)]
    return [
        f"No design of up to {plan.most_topics:,} topics and "
        f"{_instances(plan, plan.most_instances)} reaches {goal} to {claim}: {below}."
    ]


def _alone(plan: InstancePlan, given: str, sought: str, most: int, below: str) -> str:
    """That what is given cannot be made up for, or only by very many."""
    if plan.power < plan.target:
        return f"With {given} no number of {sought} reaches power {plan.target:g}: {below}."
    return f"With {given} it takes more than {most:,} {sought} to reach power {plan.target:g}."


def _floors(plan: InstancePlan) -> list[str]:
    """How few topics, and instances, nothing can make up for."""
    said = []
    for fewest, most, noun, other in (
        (plan.fewest_topics, plan.most_topics, "topics", "instances"),
        (plan.fewest_instances, plan.most_instances, "instances", "topics"),
    ):
        if fewest is None:
            said.append(f"Even {most:,} {noun} are too few, whatever the number of {other}.")
        elif fewest > 2:
            said.append(f"With fewer than {fewest:,} {noun} no number of {other} suffices.")
    return said


def _claim_words(test: InstanceTest) -> str:
    if test.claim == "different":
        return f"find a difference of {test.difference:g}"
    shown = "equivalence within" if test.claim == "equivalent" else "non-inferiority by"
    if test.difference == 0.0:
        return f"show {shown} {test.delta:g}"
    return f"show {shown} {test.delta:g} where the difference is {test.difference:g}"


def _instances(plan: InstancePlan, number: int) -> str:
    of_each = " of each system" if plan.test.design == "nested" else ""
    return f"{number:,} instances{of_each}"


def _true_difference(difference: float | None, delta: float | None) -> float:
    if difference is None and delta is None:
        raise InputError("give the difference that must be found, or the margin delta")
    if delta is None and difference == 0.0:
        raise InputError("no number of topics finds a difference of 0: give a margin delta instead")
    return float(difference or 0.0)


def _check_sizes(**sizes: int | None) -> None:
    for name, size in sizes.items():
        if size is not None and size < 2:
            raise InputError(f"{name} must be at least 2 for claims about others, got {size}")


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
    m: Any = harmonic_mean(sizes)  # not a whole number

    def by_topics(more: int) -> bool:
        if max(sizes) == 1:
            return test.topic_limit(n + more) >= power
        return test.power(n + more, m) >= power

    def by_instances(more: int) -> bool:
        m: Any = harmonic_mean([size + more for size in sizes])
        return test.power(n, m) >= power

    return Settling(
        topics=fewest_enough(by_topics, 1, MOST),
        instances=None if max(sizes) == 1 else fewest_enough(by_instances, 1, MOST),
        power=power,
    )
